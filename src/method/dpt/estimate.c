/* From DPT's noised tables to chances of tokens. Everything here is post-processing.
 *
 * A row of order j + 1 is kept when the entry of order j that leads to it (the move into its node)
 * stands out of the noise; otherwise the walk takes the shorter context. Rows of order 2 are always
 * kept. What a kept row should sum to is known twice, from that entry and from its own sum: the two
 * are weighed by their variances, and the row is moved to the nearest non-negative one with that
 * sum. Illegal tokens are zero from the start.
 * Cost: O(tokens log tokens) a row. */
#include <math.h>
#include <stdlib.h>

#include "method/dpt/dpt.h"

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x > y ? -1 : x < y;
}

/* The non-negative values nearest to `value` with that total: the same amount is taken from all,
 * negatives become 0. */
static void project(double *value, const bool *legal, double total) {
    double sorted[DPL_DPT_TOKENS], sum = 0, less = 0;
    size_t n = 0;
    for (int t = 0; t < DPL_DPT_TOKENS; t++)
        if (legal[t]) sorted[n++] = value[t];
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t i = 0; i < n; i++) {
        sum += sorted[i];
        double amount = (sum - total) / (double)(i + 1);
        if (sorted[i] - amount > 0) less = amount;
    }
    for (int t = 0; t < DPL_DPT_TOKENS; t++)
        value[t] = legal[t] && total > 0 ? fmax(value[t] - less, 0) : 0;
}

/* What one of a row's entries is expected to exceed by noise alone. */
static double threshold(const struct dpl_dpt_noised *noised) {
    static const double NORMAL = 1.5011; // exceeded with probability 1/15
    return noised->laplace ? noised->deviation / sqrt(2) * log(DPL_DPT_TOKENS / 2.0)
                           : noised->deviation * NORMAL;
}

/* What a row of order j + 1 should sum to, by its own sum and by the entry that leads to it. */
static double combine(double own, size_t n, const struct dpl_dpt_noised *at, double entry,
                      const struct dpl_dpt_noised *before) {
    double own_variance = (double)n * at->deviation * at->deviation,
           entry_variance = before->deviation * before->deviation;
    if (!(own_variance + entry_variance > 0)) return own;
    return (own * entry_variance + entry * own_variance) / (own_variance + entry_variance);
}

static size_t find_legal(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at,
                         bool legal[DPL_DPT_TOKENS]) {
    size_t n = 0;
    for (int t = 0; t < DPL_DPT_TOKENS; t++) n += legal[t] = dpl_dpt_legal(levels, t, at);
    return n;
}

static void store_row(const double *value, float *chance) {
    double sum = 0;
    for (int t = 0; t < DPL_DPT_TOKENS; t++) sum += value[t];
    for (int t = 0; t < DPL_DPT_TOKENS; t++) chance[t] = sum > 0 ? (float)(value[t] / sum) : 0;
}

/* The entry of the table before that leads to the row: the move from where it came. NULL: that is
 * outside of the box. */
static const double *entry_before(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at,
                                  size_t history, int order, const double *before) {
    size_t move = history % DPL_DPT_MOVES;
    if (!dpl_dpt_apply(levels, DPL_DPT_MOVES - 1 - (int)move, &at)) return NULL; // backwards
    size_t row = dpl_dpt_node(levels, at) * dpl_dpt_rows(order - 1) + history / DPL_DPT_MOVES;
    return before + row * DPL_DPT_TOKENS + move;
}

/* One row of the table of that order. */
static void estimate_row(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at, size_t history,
                         int order, const struct dpl_dpt_noised *noised, float *chance) {
    static const double STANDS_OUT = 4; // deviations of an entry of the row
    size_t row = dpl_dpt_node(levels, at) * dpl_dpt_rows(order) + history;
    double value[DPL_DPT_TOKENS], total = 0;
    bool legal[DPL_DPT_TOKENS];
    size_t n = find_legal(levels, at, legal);
    for (int t = 0; t < DPL_DPT_TOKENS; t++) {
        value[t] = noised[order].value[row * DPL_DPT_TOKENS + (size_t)t];
        if (legal[t]) total += value[t];
    }
    if (order > 2) {
        const struct dpl_dpt_noised *before = &noised[order - 1];
        const double *entry = entry_before(levels, at, history, order, before->value);
        if (!levels->kept[at.level] || !entry ||
            !(*entry > fmax(threshold(before), STANDS_OUT * noised[order].deviation)))
            return;
        total = combine(total, n, &noised[order], *entry, before);
    }
    project(value, legal, total);
    store_row(value, chance + row * DPL_DPT_TOKENS);
}

void dpl_dpt_estimate(const struct dpl_dpt_levels *levels, int order,
                      const struct dpl_dpt_noised *noised, float *const *chance) {
    for (int m = 0; m <= levels->top; m++)
        for (int32_t r = 0; r <= (levels->rows - 1) >> m; r++)
            for (int32_t c = 0; c <= (levels->columns - 1) >> m; c++)
                for (int j = 2; j <= order; j++)
                    for (size_t h = 0; h < dpl_dpt_rows(j); h++)
                        estimate_row(levels, (struct dpl_dpt_at){m, r, c}, h, j, noised, chance[j]);
}

/* ---- turns ---- */

enum { WALKS = 20000, ROUNDS = 2 };
static const double TURN_MOST = 8;
static const uint64_t SEED = 20150831; // public: what is drawn here is post-processing

/* Moves by sector of walks with the weights as they are. */
static enum dpl_status walk(struct dpl_run *run, const struct dpl_dpt_parts *parts,
                            struct dpl_random *random, uint64_t round, size_t length_max,
                            int32_t *cell, double *heading) {
    struct dpl_dpt_walker *walker = NULL;
    enum dpl_status status = dpl_dpt_walker_new(run, parts, &walker);
    for (uint64_t i = 0; status == DPL_OK && i < WALKS; i++) {
        struct dpl_stream stream;
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, i, round});
        dpl_dpt_draw(walker, &stream, length_max, cell, heading);
        status = dpl_stream_close(run, &stream);
    }
    dpl_dpt_walker_free(walker);
    return status;
}

/* PAPER?: the weights of the paper could not be found. These have the same role, with a measured
 * target: real moves by sector over those of walks. */
static void reweigh(const double *real, const double *walked, float *turn) {
    double sum_real = 0, sum_walked = 0;
    for (int s = 0; s < DPL_DPT_SECTORS; s++) sum_real += fmax(real[s], 0), sum_walked += walked[s];
    for (int s = 0; s < DPL_DPT_SECTORS && sum_real > 0 && sum_walked > 0; s++) {
        double wanted = fmax(real[s], 0) / sum_real, got = fmax(walked[s], 1) / sum_walked;
        turn[s] = (float)fmin(fmax((double)turn[s] * wanted / got, 1 / TURN_MOST), TURN_MOST);
    }
}

enum dpl_status dpl_dpt_estimate_turns(struct dpl_run *run, const double *headings,
                                       size_t length_max, struct dpl_dpt_parts *parts) {
    struct dpl_secret secret;
    struct dpl_random *random = NULL;
    enum dpl_status status;
    for (int s = 0; s < DPL_DPT_HEADINGS; s++) parts->turn[s] = 1;
    int32_t *cell = dpl_alloc(run, length_max, sizeof *cell);
    if (!cell) return DPL_SYSTEM;
    DPL_GO(dpl_secret_from_seed(run, SEED, &secret));
    DPL_GO(dpl_random_new(run, &secret, &random));
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double heading[DPL_DPT_HEADINGS] = {0};
        DPL_GO(walk(run, parts, random, round, length_max, cell, heading));
        reweigh(headings, heading, parts->turn);
    }
done:
    dpl_random_free(random);
    dpl_free(cell);
    return status;
}
