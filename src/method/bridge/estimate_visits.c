/* Visits by hour and place.
 *
 * A place's visits of all hours together are known from squares (estimate_squares.c) and, with six
 * times the variance, from the sums of the hours, which are shrunk in. Times the hours' totals
 * they are the prior of the table by hour, which refines it level by level (estimate_levels.c). */
#include <math.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

enum dpl_status dpl_visits_estimate(struct dpl_run *run, const struct dpl_places *places,
                                    const struct dpl_bridge_tables *tables, double *pooled,
                                    double *out) {
    size_t K = places->K, H = places->H;
    double *hours, *room, total = 0;
    void *block = DPL_BLOCK(run, DPL_PIECE(hours, H), DPL_PIECE(room, K));
    if (!block) return DPL_SYSTEM;
    dpl_add_rows(tables->hour_visits.value, H, K, 1, room);
    for (size_t k = 0; k < K; k++) pooled[k] = fmax(tables->visits.value[k], VISITS_OF_PLACE_LEAST);
    dpl_shrink_all(room, pooled, K, tables->hour_visits.sigma * sqrt((double)H), NULL);
    for (size_t k = 0; k < K; k++) total += pooled[k];
    dpl_add_columns(tables->hour_visits.value, H, K, hours);
    for (size_t h = 0; h < H; h++) hours[h] = fmax(hours[h], 1);
    dpl_scale_to(hours, H, total);
    for (size_t h = 0; h < H; h++)
        for (size_t k = 0; k < K; k++) out[h * K + k] = hours[h] * pooled[k] / total;
    const struct dpl_measured measured = {
        .rows = H, .cells = tables->hour_visits.value, .cells_sigma = tables->hour_visits.sigma};
    enum dpl_status status = dpl_refine(run, places, &measured, out);
    if (status == DPL_OK) dpl_rake(out, H, K, hours, pooled, room);
    dpl_free(block);
    return status;
}
