/* Trips that keep the sequence of their clusters: a walk of the aggregate mobility through states
 * (run, cell of the run's cluster), left to right.
 *
 *     B_0(last, l) = 1
 *     B_r(j, l) = sum over l' of p(l' | l) (B_{r-1}(j, l') in cluster j, B_{r-1}(j+1, l') in j+1)
 *
 * Two runs in a row are of different clusters, so that a cell tells which it is in. B depends on
 * the steps that are left, not on the length: one table a sequence. PAPER: drawn in place of the
 * single most likely path. Cost: steps * runs * cells of a cluster * window for each sequence. */
#include "method/sglt/sequence.h"
#include "sample/drawing.h"

enum { BITS = 5, ATTEMPTS = 50 };

struct dpl_sglt_ahead {
    const struct dpl_sglt_parts *parts;
    size_t window;
    int32_t *to;                         /* (cells, window) */
    int32_t *place;                      /* (cells) among those of its cluster */
    int32_t *member;                     /* (cells) by cluster */
    size_t first[DPL_SGLT_CLUSTERS + 1]; /* into `member` */
    size_t *steps;                       /* (n) of the longest trip of a sequence */
    size_t *at;                          /* (n + 1) into `chance` */
    float *chance;                       /* of a sequence (steps + 1, width of all its runs) */
    double *sums;                        /* (n) of the sequences' chances */
};

/* ---- keys ---- */

bool dpl_sglt_sequence_key(size_t part, const int32_t *cell, size_t n, const int32_t *cluster,
                           uint64_t *key) {
    uint64_t made = 1; // marks where the clusters begin
    size_t runs = 0;
    for (size_t v = 0; v < n; v++) {
        if (v > 0 && cluster[cell[v]] == cluster[cell[v - 1]]) continue;
        if (runs++ == DPL_SGLT_RUNS) return false;
        made = made << BITS | (uint64_t)cluster[cell[v]];
    }
    *key = (made * DPL_SGLT_LENGTHS + dpl_sglt_length_bin(n)) * DPL_SGLT_PARTS + part;
    return true;
}

struct dpl_sglt_sequence dpl_sglt_sequence_of(uint64_t key) {
    struct dpl_sglt_sequence made = {.part = (int32_t)(key % DPL_SGLT_PARTS),
                                     .length_bin =
                                         (int32_t)(key / DPL_SGLT_PARTS % DPL_SGLT_LENGTHS)};
    uint64_t rest = key / DPL_SGLT_PARTS / DPL_SGLT_LENGTHS;
    for (uint64_t left = rest; left > 1; left >>= BITS) made.runs++;
    for (int32_t r = made.runs - 1; r >= 0; r--, rest >>= BITS)
        made.cluster[r] = (int32_t)(rest % (1 << BITS));
    return made;
}

/* ---- what is ahead ---- */

static size_t size_of(const struct dpl_sglt_ahead *ahead, int32_t cluster) {
    return ahead->first[cluster + 1] - ahead->first[cluster];
}

/* Where a run's cells begin in a row of `chance`; of the run behind the last: their number. */
static size_t offset(const struct dpl_sglt_ahead *ahead, const struct dpl_sglt_sequence *sequence,
                     size_t run) {
    size_t sum = 0;
    for (size_t r = 0; r < run; r++) sum += size_of(ahead, sequence->cluster[r]);
    return sum;
}

/* What a state of the walk is worth in a row of `chance`: run `at`, or the next one, or nothing. */
struct state {
    const struct dpl_sglt_ahead *ahead;
    const struct dpl_sglt_sequence *sequence;
    const float *row;
    size_t run, here, next; /* offsets of the run and of the next */
};

static struct state state_of(const struct dpl_sglt_ahead *ahead, size_t s, size_t run,
                             size_t steps) {
    const struct dpl_sglt_sequence *sequence = &ahead->parts->sequence[s];
    size_t width = offset(ahead, sequence, (size_t)sequence->runs);
    return (struct state){ahead,
                          sequence,
                          ahead->chance + ahead->at[s] + steps * width,
                          run,
                          offset(ahead, sequence, run),
                          offset(ahead, sequence, run + 1)};
}

static float worth(const struct state *state, int32_t cell) {
    int32_t cluster = state->ahead->parts->cluster[cell];
    size_t place = (size_t)state->ahead->place[cell], run = state->run;
    if (cluster == state->sequence->cluster[run]) return state->row[state->here + place];
    bool on =
        run + 1 < (size_t)state->sequence->runs && cluster == state->sequence->cluster[run + 1];
    return on ? state->row[state->next + place] : 0;
}

static float step_back(const struct state *state, int32_t cell) {
    const struct dpl_sglt_ahead *ahead = state->ahead;
    const float *chance = ahead->parts->moves + (size_t)cell * ahead->window;
    const int32_t *to = ahead->to + (size_t)cell * ahead->window;
    float sum = 0;
    for (size_t w = 0; w < ahead->window; w++)
        if (to[w] >= 0) sum += chance[w] * worth(state, to[w]);
    return sum;
}

static void sweep(const struct dpl_sglt_ahead *ahead, size_t s) {
    const struct dpl_sglt_sequence *sequence = &ahead->parts->sequence[s];
    size_t runs = (size_t)sequence->runs, width = offset(ahead, sequence, runs);
    float *chance = ahead->chance + ahead->at[s];
    for (size_t i = 0; i < width; i++) chance[i] = i >= offset(ahead, sequence, runs - 1);
    for (size_t r = 1; r <= ahead->steps[s]; r++)
        for (size_t run = 0, i = 0; run < runs; run++) {
            const struct state after = state_of(ahead, s, run, r - 1);
            const int32_t *member = ahead->member + ahead->first[sequence->cluster[run]];
            for (size_t m = 0; m < size_of(ahead, sequence->cluster[run]); m++, i++)
                chance[r * width + i] = step_back(&after, member[m]);
        }
}

/* The longest trip of a bin that the model draws; as many visits as there are runs at least. */
static size_t longest(const struct dpl_sglt_parts *parts,
                      const struct dpl_sglt_sequence *sequence) {
    size_t most = (size_t)sequence->runs;
    for (size_t n = 2; n <= parts->length_max; n++)
        if (dpl_sglt_length_bin(n) == (size_t)sequence->length_bin && n > most) most = n;
    return most;
}

static enum dpl_status make_tables(struct dpl_run *run, struct dpl_sglt_ahead *ahead) {
    const struct dpl_sglt_parts *parts = ahead->parts;
    for (size_t s = 0; s < parts->n_sequences; s++) {
        const struct dpl_sglt_sequence *sequence = &parts->sequence[s];
        ahead->steps[s] = longest(parts, sequence) - 1;
        ahead->at[s + 1] =
            ahead->at[s] + (ahead->steps[s] + 1) * offset(ahead, sequence, (size_t)sequence->runs);
    }
    ahead->chance = dpl_alloc(run, ahead->at[parts->n_sequences], sizeof *ahead->chance);
    if (!ahead->chance) return DPL_SYSTEM;
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(dynamic)
    for (size_t s = 0; s < parts->n_sequences; s++) sweep(ahead, s);
    return DPL_OK;
}

enum dpl_status dpl_sglt_ahead_new(struct dpl_run *run, const struct dpl_sglt_parts *parts,
                                   struct dpl_sglt_ahead **made) {
    size_t cells = (size_t)dpl_grid_cells(parts->grid), n = parts->n_sequences;
    struct dpl_sglt_ahead *ahead = dpl_alloc(run, 1, sizeof *ahead);
    if (!ahead) return DPL_SYSTEM;
    *ahead = (struct dpl_sglt_ahead){.parts = parts, .window = dpl_sglt_window(parts->grid)};
    ahead->to = dpl_alloc(run, cells * ahead->window, sizeof *ahead->to);
    ahead->place = dpl_alloc(run, cells, sizeof *ahead->place);
    ahead->member = dpl_alloc(run, cells, sizeof *ahead->member);
    ahead->steps = dpl_alloc(run, n, sizeof *ahead->steps);
    ahead->at = dpl_alloc(run, n + 1, sizeof *ahead->at);
    ahead->sums = dpl_alloc(run, n, sizeof *ahead->sums);
    bool whole =
        ahead->to && ahead->place && ahead->member && ahead->steps && ahead->at && ahead->sums;
    enum dpl_status status = whole ? DPL_OK : DPL_SYSTEM;
    if (whole) {
        dpl_sglt_ways(parts->grid, ahead->to);
        dpl_sglt_list_members(parts->cluster, cells, ahead->member, ahead->place, ahead->first);
        dpl_sum_up(parts->sequence_chance, n, ahead->sums);
        status = make_tables(run, ahead);
    }
    if (status != DPL_OK) {
        dpl_sglt_ahead_free(ahead);
        return status;
    }
    *made = ahead;
    return DPL_OK;
}

void dpl_sglt_ahead_free(struct dpl_sglt_ahead *ahead) {
    if (!ahead) return;
    dpl_free(ahead->to), dpl_free(ahead->place), dpl_free(ahead->member);
    dpl_free(ahead->steps), dpl_free(ahead->at), dpl_free(ahead->chance), dpl_free(ahead->sums);
    dpl_free(ahead);
}

double dpl_sglt_finishes(const struct dpl_sglt_ahead *ahead, size_t s, size_t run, size_t steps,
                         int32_t cell) {
    const struct state state = state_of(ahead, s, run, steps);
    bool here = ahead->parts->cluster[cell] == state.sequence->cluster[run];
    return here ? (double)worth(&state, cell) : 0;
}

/* ---- drawing ---- */

/* The first cell: by the starts of the part, any of the cluster where none is known; -1: nobody can
 * go on from there. */
static int32_t draw_start(const struct dpl_sglt_ahead *ahead, const struct state *state,
                          struct dpl_stream *stream) {
    const struct dpl_sglt_parts *parts = ahead->parts;
    const int32_t *member = ahead->member + ahead->first[state->sequence->cluster[0]];
    const float *starts =
        parts->starts + (size_t)state->sequence->part * (size_t)dpl_grid_cells(parts->grid);
    size_t n = size_of(ahead, state->sequence->cluster[0]);
    double draw = dpl_stream_uniform(stream);
    for (int known = 1; known >= 0; known--) {
        double sum = 0, left;
        for (size_t m = 0; m < n; m++)
            sum += (known ? (double)starts[member[m]] : 1) * (double)state->row[m];
        left = draw * sum;
        for (size_t m = 0; m < n && sum > 0; m++)
            if ((left -= (known ? (double)starts[member[m]] : 1) * (double)state->row[m]) < 0)
                return member[m];
    }
    return -1;
}

static int32_t draw_step(const struct state *state, int32_t at, struct dpl_stream *stream) {
    const struct dpl_sglt_ahead *ahead = state->ahead;
    const float *chance = ahead->parts->moves + (size_t)at * ahead->window;
    const int32_t *to = ahead->to + (size_t)at * ahead->window;
    double sums[DPL_SGLT_WINDOW_MOST], sum = 0;
    for (size_t w = 0; w < ahead->window; w++)
        sums[w] = sum += to[w] < 0 ? 0 : (double)(chance[w] * worth(state, to[w]));
    return sum > 0 ? to[dpl_draw_from(sums, ahead->window, stream)] : at;
}

size_t dpl_sglt_sequence_draw(const struct dpl_sglt_ahead *ahead, struct dpl_stream *stream,
                              int32_t *cell) {
    const struct dpl_sglt_parts *parts = ahead->parts;
    struct state state = {0};
    size_t s = 0, n = 2;
    cell[0] = -1;
    for (int i = 0; cell[0] < 0 && i < ATTEMPTS; i++) {
        s = dpl_draw_from(ahead->sums, parts->n_sequences, stream);
        const struct dpl_sglt_sequence *sequence = &parts->sequence[s];
        n = dpl_sglt_draw_length(parts, (size_t)sequence->length_bin, stream);
        if (n < (size_t)sequence->runs) n = (size_t)sequence->runs;
        state = state_of(ahead, s, 0, n - 1);
        cell[0] = draw_start(ahead, &state, stream);
    }
    bool possible = cell[0] >= 0;
    if (!possible) cell[0] = 0;
    for (size_t v = 1; v < n; v++) {
        state = state_of(ahead, s, state.run, n - 1 - v);
        cell[v] = possible ? draw_step(&state, cell[v - 1], stream) : 0;
        if (possible && parts->cluster[cell[v]] != state.sequence->cluster[state.run]) state.run++;
    }
    return n;
}
