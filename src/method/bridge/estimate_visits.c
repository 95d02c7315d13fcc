/* Visits by hour and place.
 *
 * A place's visits of all hours together are known from squares (estimate_squares.c) and, with
 * more noise, from the sums of the watches, which are shrunk in. Times the watches' totals they are
 * the prior of the table by watch, which refines it level by level (estimate_levels.c); hours
 * follow from it (estimate_watches.c). */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

/* Visits of each place, all hours together, out (K); sums (K) of the watches. */
static void pool_visits(const struct dpl_places *places, const struct dpl_bridge_tables *tables,
                        double *sums, double *out) {
    const struct dpl_table *measured = &tables->watch_visits;
    dpl_add_rows(measured->value, places->W, places->K, 1, sums);
    for (size_t k = 0; k < places->K; k++)
        out[k] = fmax(tables->visits.value[k], VISITS_OF_PLACE_LEAST);
    dpl_shrink_all(sums, out, places->K, measured->sigma * sqrt((double)places->W), NULL);
}

/* Pooled visits (K), times how many each watch has: out (W, K). total (W) is room. */
static void prior_of_watches(const struct dpl_places *places, const double *measured,
                             const double *pooled, double *total, double *out) {
    size_t K = places->K, W = places->W;
    double all = 0;
    dpl_add_columns(pooled, 1, K, &all);
    dpl_add_columns(measured, W, K, total);
    for (size_t w = 0; w < W; w++) total[w] = fmax(total[w], 1);
    dpl_scale_to(total, W, all);
    for (size_t w = 0; w < W; w++) dpl_add_rows(pooled, 1, K, total[w] / all, out + w * K);
}

enum dpl_status dpl_visits_estimate(struct dpl_run *run, const struct dpl_places *places,
                                    const struct dpl_bridge_tables *tables, double *pooled,
                                    double *out) {
    const size_t K = places->K, H = places->H, W = places->W;
    const struct dpl_measured measured = {
        .rows = W, .cells = tables->watch_visits.value, .cells_sigma = tables->watch_visits.sigma};
    double *watches, *hours, *volumes, *room;
    void *block = DPL_BLOCK(run, DPL_PIECE(watches, W * K), DPL_PIECE(hours, H),
                            DPL_PIECE(volumes, H), DPL_PIECE(room, K + 2 * W));
    enum dpl_status status;
    if (!block) return DPL_SYSTEM;
    pool_visits(places, tables, room, pooled);
    prior_of_watches(places, measured.cells, pooled, room + K, watches);
    DPL_GO(dpl_refine(run, places, &measured, watches));
    dpl_flows_hours(places, tables, hours);
    dpl_watches_spread(places, watches, hours, room, out);
    dpl_add_columns(out, H, K, volumes);
    dpl_rake(out, H, K, volumes, pooled, room);
done:
    dpl_free(block);
    return status;
}
