/* Sweeps of the bridge, see walk.h.
 *
 * Invariants
 *  - B > 0 at a cell exactly when there is a way from it: what may not vanish is held at FLOOR or
 *    above, which also keeps denormal numbers away. The largest B is TOP: a fast walk down a
 *    motorway has a chance of 1e-40 of that of standing still, and below FLOOR trips get lost in
 *    the expectation, not in the drawing (tests/walk_test.c).
 *  - Cells that are more hops away than steps are left are skipped.
 *  - Stored heading by heading: a step into sector s always reads plane s, where neighbouring cells
 *    are neighbours in memory.
 * Cost: a sweep takes length_max * (81 K + edges) vectors of eight floats backward and twice that
 * forward, and holds length_max * 9 K of them. */
#include "method/bridge/walk.h"

#include <string.h>

#include "base/clones.h"

enum { LANES = DPL_LANES, S = DPL_SECTORS, Q = DPL_HEADINGS, CELL = DPL_HEADINGS * DPL_LANES };
static const float FLOOR = 1e-30f, TOP = 1e26f;
/* One float per destination of the batch. */
typedef float lanes
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t mask
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
#define INLINE                                                                                     \
    static inline                                                                                  \
        __attribute__((always_inline)) // into functions built twice, for the baseline and AVX2

void dpl_sweep_free(struct dpl_sweep *sweep) {
    if (!sweep) return;
    dpl_reverse_free(&sweep->back);
    dpl_free(sweep->block);
    dpl_free(sweep);
}

/* value = the larger of both, lane by lane. By address: a vector by value would be another ABI with
 * AVX than without. */
INLINE void lift(lanes *value, const lanes *other) {
    mask keep = *value > *other;
    *value = (lanes)((keep & (mask)*value) | (~keep & (mask)*other));
}

enum dpl_status dpl_sweep_new(struct dpl_run *run, const struct dpl_walk *walk, bool forward,
                              struct dpl_sweep **into) {
    struct dpl_sweep *sweep = dpl_alloc(run, 1, sizeof *sweep);
    size_t K = walk->K;
    enum dpl_status status = DPL_SYSTEM;
    if (!sweep) return DPL_SYSTEM;
    sweep->walk = walk;
    size_t forward_cells = forward ? K * CELL : 0, forward_lanes = forward ? K * LANES : 0;
    sweep->block = DPL_BLOCK(
        run, DPL_PIECE(sweep->B, walk->length_max * K * CELL),
        DPL_PIECE(sweep->scale, walk->length_max * LANES), DPL_PIECE(sweep->weight, walk->n_edges),
        DPL_PIECE(sweep->stay, K), DPL_PIECE(sweep->hops, K), DPL_PIECE(sweep->hops_one, K),
        DPL_PIECE(sweep->queue, K), DPL_PIECE(sweep->A[0], forward_cells),
        DPL_PIECE(sweep->A[1], forward_cells), DPL_PIECE(sweep->scaled, forward_lanes));
    if (!sweep->block) goto done;
    DPL_GO(dpl_edges_reverse(run, K, walk->start, walk->to, walk->n_edges, &sweep->back));
    *into = sweep;
    sweep = NULL;
done:
    dpl_sweep_free(sweep);
    return status;
}

/* ---- backward ---- */

static void set_daypart(struct dpl_sweep *sweep, size_t daypart) {
    const struct dpl_walk *walk = sweep->walk;
    const float *potential = walk->potential + daypart * walk->K;
    sweep->daypart = daypart;
    for (size_t e = 0; e < walk->n_edges; e++)
        sweep->weight[e] = walk->weight[e] * potential[walk->to[e]];
    for (size_t x = 0; x < walk->K; x++) sweep->stay[x] = walk->stay[x] * potential[x];
}

static void set_destinations(struct dpl_sweep *sweep, size_t first) {
    size_t K = sweep->walk->K;
    memset(sweep->hops, 0xFF, K * sizeof *sweep->hops);
    sweep->n = K - first < LANES ? K - first : LANES;
    for (size_t lane = 0; lane < sweep->n; lane++) {
        sweep->d[lane] = first + lane;
        dpl_edges_hops(&sweep->back, K, first + lane, sweep->hops_one, sweep->queue);
        for (size_t x = 0; x < K; x++)
            if (sweep->hops_one[x] < sweep->hops[x]) sweep->hops[x] = sweep->hops_one[x];
    }
}

/* sum[s] = over edges of x into sector s: weight * B. */
INLINE void sum_sectors(const struct dpl_sweep *sweep, const lanes *restrict before, size_t x,
                        lanes sum[S]) {
    const int32_t *start = sweep->walk->start + x * S, *to = sweep->walk->to;
    size_t K = sweep->walk->K;
    for (size_t s = 0; s < S; s++) {
        lanes total = {0};
        for (int32_t e = start[s]; e < start[s + 1]; e++)
            total += sweep->weight[e] * before[s * K + (size_t)to[e]];
        sum[s] = total;
    }
}

INLINE void backward_cell(const struct dpl_sweep *sweep, const lanes *restrict before,
                          lanes *restrict now, size_t x, lanes *largest) {
    const float *turn = sweep->walk->turn;
    size_t K = sweep->walk->K;
    lanes sum[S];
    sum_sectors(sweep, before, x, sum);
    for (size_t q = 0; q < Q; q++) {
        lanes total = sweep->stay[x] * before[q * K + x];
        for (size_t s = 0; s < S; s++) total += turn[q * S + s] * sum[s];
        lift(largest, &total);
        now[q * K + x] = total;
    }
}

INLINE void clear_cell(lanes *now, size_t K, size_t x) {
    for (size_t q = 0; q < Q; q++) now[q * K + x] = (lanes){0};
}

/* What is above 0 stays so. */
INLINE void rescale(lanes *values, size_t n, const lanes *scale) {
    const lanes floor = FLOOR - (lanes){0}, zero = {0};
    for (size_t i = 0; i < n; i++) {
        lanes scaled = values[i] * *scale;
        lift(&scaled, &floor);
        values[i] = (lanes)((values[i] > zero) & (mask)scaled);
    }
}

DPL_CLONES void dpl_sweep_backward(struct dpl_sweep *sweep, size_t daypart, size_t first) {
    const struct dpl_walk *walk = sweep->walk;
    size_t K = walk->K, slice = K * CELL;
    set_daypart(sweep, daypart);
    set_destinations(sweep, first);
    memset(sweep->B, 0, slice * sizeof *sweep->B);
    for (size_t lane = 0; lane < sweep->n; lane++)
        for (size_t q = 0; q < Q; q++) sweep->B[(q * K + sweep->d[lane]) * LANES + lane] = TOP;
    for (size_t r = 1; r < walk->length_max; r++) {
        const lanes *before = (const lanes *)(sweep->B + (r - 1) * slice);
        lanes *now = (lanes *)(sweep->B + r * slice), *scale = (lanes *)(sweep->scale + r * LANES),
              largest = {0};
        for (size_t x = 0; x < K; x++) {
            if (sweep->hops[x] > r)
                clear_cell(now, K, x);
            else
                backward_cell(sweep, before, now, x, &largest);
        }
        for (int j = 0; j < LANES; j++) (*scale)[j] = largest[j] > 0 ? TOP / largest[j] : 1;
        rescale(now, K * Q, scale);
    }
}

bool dpl_sweep_possible(const struct dpl_sweep *sweep, size_t lane, size_t s, size_t visits) {
    return sweep->B[(((visits - 1) * Q + DPL_NO_HEADING) * sweep->walk->K + s) * LANES + lane] > 0;
}

/* ---- forward ---- */

/* Trips begin with r steps left when they have r + 1 visits; `scaled` (K, LANES) is mass over what
 * of its lengths is possible. */
static void inject(const struct dpl_sweep *sweep, size_t r, const float *scaled, const uint8_t *bin,
                   const float *lengths, float weight, float *A, float *trips) {
    const struct dpl_walk *walk = sweep->walk;
    const float *B = sweep->B + r * walk->K * CELL;
    for (size_t x = 0; x < walk->K; x++) {
        if (sweep->hops[x] > r) continue;
        for (size_t j = 0; j < LANES; j++) {
            size_t at = (DPL_NO_HEADING * walk->K + x) * LANES + j;
            float chance = lengths[bin[x * LANES + j] * (walk->length_max + 1) + r + 1];
            if (!(B[at] > 0)) continue;
            A[at] += scaled[x * LANES + j] * chance * weight;
            trips[j] += scaled[x * LANES + j] * chance;
        }
    }
}

/* What one cell passes on. ratio (Q): A / B of the cell; steps and turns NULL: not counted. */
INLINE void forward_cell(const struct dpl_sweep *sweep, const lanes *restrict before, size_t x,
                         const lanes ratio[Q], lanes *restrict A, lanes *restrict steps,
                         lanes *restrict turns) {
    const struct dpl_walk *walk = sweep->walk;
    const int32_t *start = walk->start + x * S, *to = walk->to;
    size_t K = walk->K;
    for (size_t q = 0; q < Q; q++) A[q * K + x] += ratio[q] * sweep->stay[x] * before[q * K + x];
    for (size_t s = 0; s < S; s++) {
        lanes push = {0}, sum = {0};
        if (start[s] == start[s + 1]) continue;
        for (size_t q = 0; q < Q; q++) push += ratio[q] * walk->turn[q * S + s];
        for (int32_t e = start[s]; e < start[s + 1]; e++) {
            size_t at = s * K + (size_t)to[e];
            lanes g = sweep->weight[e] * before[at], f = push * g;
            A[at] += f;
            if (!steps) continue;
            sum += g;
            steps[e] += f;
        }
        if (!steps) continue;
        for (size_t q = 0; q < Q; q++)
            turns[q * S + s] += ratio[q] * sum; // times the turn's weight, which is left to the end
    }
}

/* All cells with r steps left: visits counted, and passed on to r - 1 unless r is 0. */
DPL_CLONES static void forward_step(const struct dpl_sweep *sweep, size_t r, const float *now,
                                    float *next, struct dpl_tally *tally) {
    size_t K = sweep->walk->K;
    const lanes *A = (const lanes *)now, *B = (const lanes *)(sweep->B + r * K * CELL),
                scale = *(const lanes *)(sweep->scale + r * LANES), floor = FLOOR - (lanes){0};
    for (size_t x = 0; x < K; x++) {
        lanes ratio[Q], visits = {0};
        float any = 0;
        if (sweep->hops[x] > r) continue;
        for (size_t q = 0; q < Q; q++) {
            lanes b = B[q * K + x];
            lift(&b, &floor);
            visits += A[q * K + x];
            ratio[q] = A[q * K + x] / b * scale;
        }
        ((lanes *)tally->visits)[x] += visits;
        for (int j = 0; j < LANES; j++) any += visits[j];
        if (r == 0 || !(any > FLOOR)) continue;
        if (tally->only_visits)
            forward_cell(sweep, B - K * Q, x, ratio, (lanes *)next, NULL, NULL);
        else
            forward_cell(sweep, B - K * Q, x, ratio, (lanes *)next, (lanes *)tally->steps,
                         (lanes *)tally->turns);
    }
}

/* Mass over the chance that its length is possible: scaled (K, LANES). */
static void scale_mass(const struct dpl_sweep *sweep, const float *mass, const uint8_t *bin,
                       const float *lengths, float *scaled) {
    const struct dpl_walk *walk = sweep->walk;
    for (size_t x = 0; x < walk->K; x++)
        for (size_t lane = 0; lane < LANES; lane++) {
            size_t at = x * LANES + lane;
            const float *chance = lengths + bin[at] * (walk->length_max + 1);
            float possible = 0;
            for (size_t l = 2; l <= walk->length_max; l++)
                if (dpl_sweep_possible(sweep, lane, x, l)) possible += chance[l];
            scaled[at] = possible > 0 ? mass[at] / possible : 0;
        }
}

void dpl_sweep_forward(struct dpl_sweep *sweep, const float *mass, const uint8_t *bin,
                       const float *lengths, const float *counts, struct dpl_tally *tally) {
    const struct dpl_walk *walk = sweep->walk;
    size_t slice = walk->K * CELL;
    float *now = sweep->A[0], *next = sweep->A[1];
    scale_mass(sweep, mass, bin, lengths, sweep->scaled);
    memset(now, 0, slice * sizeof *now);
    for (size_t r = walk->length_max - 1;; r--) {
        inject(sweep, r, sweep->scaled, bin, lengths, counts[r + 1], now,
               tally->lengths + (r + 1) * LANES);
        memset(next, 0, slice * sizeof *next);
        forward_step(sweep, r, now, next, tally);
        if (r == 0) return;
        float *swap = now;
        now = next, next = swap;
    }
}

/* ---- drawing ---- */

/* The weights of all next cells sum up to `total`; u of [0, total) picks one. The last possible one
 * is taken if rounding leaves some of u over. */
static double pick_step(const struct dpl_sweep *sweep, const float *B, size_t lane, double u,
                        size_t *x, size_t *q) {
    const struct dpl_walk *walk = sweep->walk;
    size_t from = *x, heading = *q;
    double total = (double)(sweep->stay[from] * B[(heading * walk->K + from) * LANES + lane]);
    bool found = total > u;
    for (size_t s = 0; s < S && !found; s++)
        for (int32_t e = walk->start[from * S + s]; e < walk->start[from * S + s + 1] && !found;
             e++) {
            double w = (double)(walk->turn[heading * S + s] * sweep->weight[e]) *
                       (double)B[(s * walk->K + (size_t)walk->to[e]) * LANES + lane];
            if (!(w > 0)) continue;
            total += w;
            *x = (size_t)walk->to[e], *q = s;
            found = total > u;
        }
    return total;
}

void dpl_sweep_draw(const struct dpl_sweep *sweep, size_t lane, size_t s, size_t visits,
                    struct dpl_stream *stream, int32_t *path) {
    size_t x = s, q = DPL_NO_HEADING;
    path[0] = (int32_t)s;
    for (size_t r = visits - 1; r > 0; r--) {
        const float *B = sweep->B + (r - 1) * sweep->walk->K * CELL;
        size_t last = x, heading = q;
        double total = pick_step(sweep, B, lane, __builtin_inf(), &last,
                                 &heading); // B itself may have been held at the floor
        pick_step(sweep, B, lane, dpl_stream_uniform(stream) * total, &x, &q);
        path[visits - r] = (int32_t)x;
    }
}
