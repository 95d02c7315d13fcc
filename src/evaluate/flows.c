/* Common part of commuters (CPC): the mass that two histograms of flows have in common,
 *
 *     2 sum min(a, b) / (sum a + sum b)
 *
 * on shares of each side's total, so that sets of different sizes can be compared: sum min(p, q).
 */
#include <math.h>

#include "evaluate/table.h"

/* Counts of flows of both sides, numbered as they are met. */
struct flow_counts {
    struct dpl_index index;
    uint32_t *count[2];
    size_t capacity[2];
    double total[2];
};

static enum dpl_status add_flow(struct dpl_run *run, struct flow_counts *flows, size_t side,
                                int32_t from, int32_t to) {
    uint32_t number;
    bool fresh;
    // The index takes keys for hashes: they must be mixed, and mixing is one to one.
    uint64_t packed = (uint64_t)from << 32 | (uint64_t)to;
    struct dpl_key key = {dpl_mix64(packed), dpl_mix64(~packed)};
    DPL_TRY(dpl_index_put(run, &flows->index, key, &number, &fresh));
    for (size_t s = 0; fresh && s < 2; s++) {
        DPL_TRY(dpl_grow(run, &flows->count[s], &flows->capacity[s], number + 1,
                         sizeof *flows->count[s]));
        flows->count[s][number] = 0;
    }
    flows->count[side][number]++;
    flows->total[side]++;
    return DPL_OK;
}

static enum dpl_status add_ends(struct dpl_run *run, struct flow_counts *flows, size_t side,
                                const int32_t *cell, size_t n) {
    return add_flow(run, flows, side, cell[0], cell[n - 1]);
}

static enum dpl_status add_moves(struct dpl_run *run, struct flow_counts *flows, size_t side,
                                 const int32_t *cell, size_t n) {
    for (size_t v = 1; v < n; v++)
        if (cell[v] != cell[v - 1]) DPL_TRY(add_flow(run, flows, side, cell[v - 1], cell[v]));
    return DPL_OK;
}

typedef enum dpl_status add_function(struct dpl_run *, struct flow_counts *, size_t,
                                     const int32_t *, size_t);

static enum dpl_status common_part(struct dpl_run *run, const struct dpl_part *const part[2],
                                   add_function *add, double *common) {
    struct flow_counts flows = {0};
    enum dpl_status status = DPL_OK;
    for (size_t side = 0; side < 2; side++) {
        const struct dpl_sequences *trips = &part[side]->ready->trips;
        for (size_t i = 0; i < part[side]->n; i++) {
            size_t first = trips->start[part[side]->trip[i]],
                   n = trips->start[part[side]->trip[i] + 1] - first;
            DPL_GO(add(run, &flows, side, trips->cell + first, n));
        }
    }
    if (flows.total[0] + flows.total[1] > 0) *common = 0;
    for (size_t f = 0; flows.total[0] * flows.total[1] > 0 && f < flows.index.count; f++)
        *common += fmin(flows.count[0][f] / flows.total[0], flows.count[1][f] / flows.total[1]);
done:
    dpl_index_free(&flows.index);
    dpl_free(flows.count[0]);
    dpl_free(flows.count[1]);
    return status;
}

enum dpl_status dpl_measure_flows(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *common) {
    const struct dpl_part *const part[2] = {a, b};
    DPL_TRY(common_part(run, part, add_ends, &common[0]));
    return common_part(run, part, add_moves, &common[1]);
}
