/* Trips by first and last state, so that what starts and ends is as measured: the calibration of
 * PrivTrace without a convex solver. Everything here is post-processing.
 *
 * The squared form of the published problem has the multiplicative update of Lee and Seung,
 *     x_ij <- x_ij (start_i + end_j) / (R_i + C_j),    R_i = sum_j w_ij x_ij,  C_j = sum_i w_ij
 * x_ij, which keeps x above 0 and never goes uphill; after each round x is scaled to the number of
 * trips. PAPER: w_ij is what a trip over a shortest way from i to j adds to its start's and end's
 * entry; the published program takes one over the way's states. States that no trip starts (or
 * ends) in by the settled table have no row (or column). Cost: 200 rounds of rows * columns; the
 * same bits with any number of threads. */
#include <math.h>

#include "method/privtrace/privtrace.h"

enum { ROUNDS = 200, BLOCKS = 32 };
static const float FEW = 0.8f; // trips: less is none

struct sums {
    double *row;    /* (rows) */
    double *column; /* (columns) */
    double *part;   /* (BLOCKS, columns) */
    int threads;
    double total[BLOCKS];
};

static size_t begin_of(size_t block, size_t rows) { return block * rows / BLOCKS; }

/* Row and column sums of scale * w * x. */
static void sum_up(const struct dpl_privtrace_ends *ends, const float *x, double scale,
                   struct sums *sums) {
    size_t columns = ends->columns;
#pragma omp parallel for num_threads(sums->threads) schedule(static)
    for (size_t b = 0; b < BLOCKS; b++) {
        double *part = sums->part + b * columns;
        for (size_t j = 0; j < columns; j++) part[j] = 0;
        for (size_t i = begin_of(b, ends->rows); i < begin_of(b + 1, ends->rows); i++) {
            const float *w = ends->w + i * columns, *at = x + i * columns;
            double row = 0;
            for (size_t j = 0; j < columns; j++) {
                double weight = scale * (double)(w[j] * at[j]);
                row += weight, part[j] += weight;
            }
            sums->row[i] = row;
        }
    }
    for (size_t j = 0; j < columns; j++) {
        sums->column[j] = 0;
        for (size_t b = 0; b < BLOCKS; b++) sums->column[j] += sums->part[b * columns + j];
    }
}

/* One round; returns the scale for the next. */
static double update(const struct dpl_privtrace_ends *ends, float *x, double scale,
                     struct sums *sums) {
    size_t columns = ends->columns;
    double total = 0;
    sum_up(ends, x, scale, sums);
#pragma omp parallel for num_threads(sums->threads) schedule(static)
    for (size_t b = 0; b < BLOCKS; b++) {
        sums->total[b] = 0;
        for (size_t i = begin_of(b, ends->rows); i < begin_of(b + 1, ends->rows); i++) {
            float *at = x + i * columns, start = (float)ends->start[i], row = (float)sums->row[i];
            for (size_t j = 0; j < columns; j++) {
                at[j] *= (float)scale * (start + (float)ends->end[j]) /
                         (row + (float)sums->column[j] + 1e-30f);
                sums->total[b] += (double)at[j];
            }
        }
    }
    for (size_t b = 0; b < BLOCKS; b++) total += sums->total[b];
    return total > 0 ? ends->trips / total : 0;
}

enum dpl_status dpl_privtrace_calibrate(struct dpl_run *run, const struct dpl_privtrace_ends *ends,
                                        float *x) {
    size_t n = ends->rows * ends->columns;
    struct sums sums = {.threads = dpl_run_threads(run)};
    double total = 0;
    void *block =
        DPL_BLOCK(run, DPL_PIECE(sums.row, ends->rows), DPL_PIECE(sums.column, ends->columns),
                  DPL_PIECE(sums.part, BLOCKS * ends->columns));
    if (!block) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) total += (double)(x[i] = ends->w[i]); // gravity
    double scale = total > 0 ? ends->trips / total : 0;
    for (int round = 0; round < ROUNDS; round++) scale = update(ends, x, scale, &sums);
    for (size_t i = 0; i < n; i++) x[i] *= (float)scale;
    dpl_free(block);
    return DPL_OK;
}

/* ---- the table ---- */

/* States that trips start in (rows) and end in (columns), with their weights. */
struct frame {
    size_t rows, columns;
    int32_t *row, *column;
    double *start, *end;
    int32_t *distance, *queue; /* (n) */
    bool *near;                /* (n) */
    int32_t *length;           /* (rows, columns) states of a shortest way */
    float *w, *x;              /* (rows, columns) */
    void *block, *table;
};

static enum dpl_status frame_new(struct dpl_run *run, const struct dpl_privtrace_states *states,
                                 const double *first, struct frame *frame) {
    size_t n = states->n;
    frame->block = DPL_BLOCK(run, DPL_PIECE(frame->row, n), DPL_PIECE(frame->column, n),
                             DPL_PIECE(frame->start, n), DPL_PIECE(frame->end, n),
                             DPL_PIECE(frame->distance, n), DPL_PIECE(frame->queue, n),
                             DPL_PIECE(frame->near, n));
    if (!frame->block) return DPL_SYSTEM;
    for (size_t s = 0; s < n; s++) {
        double end = first[dpl_privtrace_row(states, s) + dpl_privtrace_neighbours(states, s)];
        if (first[s] > 0)
            frame->row[frame->rows] = (int32_t)s, frame->start[frame->rows++] = first[s];
        if (end > 0) frame->column[frame->columns] = (int32_t)s, frame->end[frame->columns++] = end;
    }
    size_t size = frame->rows * frame->columns;
    frame->table = DPL_BLOCK(run, DPL_PIECE(frame->length, size), DPL_PIECE(frame->w, size),
                             DPL_PIECE(frame->x, size));
    return frame->table ? DPL_OK : DPL_SYSTEM;
}

/* States that moves from `from` were seen to lead to, and two neighbours further: as published,
 * pairs of ends beyond these are next to impossible. near (n), queue (n) are filled. */
static void find_seen(const struct dpl_privtrace_measured *measured, size_t from, bool *near,
                      int32_t *queue) {
    enum { FURTHER = 2 };
    const struct dpl_privtrace_states *states = measured->states;
    const double *row = measured->support + dpl_privtrace_row(states, from);
    size_t known = 0, done = 0;
    for (size_t s = 0; s < states->n; s++) near[s] = s == from;
    queue[known++] = (int32_t)from;
    for (size_t e = 0; e < dpl_privtrace_neighbours(states, from); e++) {
        int32_t to = states->to[states->first[from] + e];
        if (row[e] > 0 && !near[to]) near[to] = true, queue[known++] = to;
    }
    for (int round = 0; round < FURTHER; round++)
        for (size_t end = known; done < end; done++)
            for (size_t e = states->first[queue[done]]; e < states->first[queue[done] + 1]; e++)
                if (!near[states->to[e]])
                    near[states->to[e]] = true, queue[known++] = states->to[e];
}

static void find_lengths(const struct dpl_privtrace_measured *measured, struct frame *frame) {
    static const float IMPOSSIBLE = 100; // the published program's: one over a length of 0.01
    for (size_t i = 0; i < frame->rows; i++) {
        size_t from = (size_t)frame->row[i];
        dpl_privtrace_distances(measured->states, from, frame->distance, frame->queue);
        if (measured->support) find_seen(measured, from, frame->near, frame->queue);
        for (size_t j = 0; j < frame->columns; j++) {
            int32_t length = frame->distance[frame->column[j]];
            bool possible = !measured->support || frame->near[frame->column[j]];
            frame->length[i * frame->columns + j] = length;
            frame->w[i * frame->columns + j] =
                possible ? (float)dpl_privtrace_first_weight(measured->shares, (size_t)length)
                         : IMPOSSIBLE;
        }
    }
}

/* Few trips are none; then starts, and lengths by start, as chances. */
static void read_off(const struct frame *frame, size_t longest, float *starts, float *length) {
    double all = 0;
    for (size_t i = 0; i < frame->rows; i++) {
        size_t s = (size_t)frame->row[i];
        double sum = 0;
        for (size_t j = 0; j < frame->columns; j++) {
            float trips = frame->x[i * frame->columns + j];
            size_t states = (size_t)frame->length[i * frame->columns + j];
            if (trips < FEW) continue;
            length[s * (longest + 1) + (states < longest ? states : longest)] += trips;
            sum += (double)trips;
        }
        starts[s] = (float)sum, all += sum;
        for (size_t l = 0; l <= longest && sum > 0; l++)
            length[s * (longest + 1) + l] /= (float)sum;
    }
    for (size_t i = 0; i < frame->rows && all > 0; i++) starts[frame->row[i]] /= (float)all;
}

enum dpl_status dpl_privtrace_ends(struct dpl_run *run,
                                   const struct dpl_privtrace_measured *measured, size_t longest,
                                   float *starts, float *length) {
    struct frame frame = {0};
    enum dpl_status status;
    DPL_GO(frame_new(run, measured->states, measured->first, &frame));
    find_lengths(measured, &frame);
    const struct dpl_privtrace_ends ends = {.rows = frame.rows,
                                            .columns = frame.columns,
                                            .start = frame.start,
                                            .end = frame.end,
                                            .w = frame.w,
                                            .trips = measured->trips};
    DPL_GO(dpl_privtrace_calibrate(run, &ends, frame.x));
    read_off(&frame, longest, starts, length);
done:
    dpl_free(frame.table), dpl_free(frame.block);
    return status;
}
