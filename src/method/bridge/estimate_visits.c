/* Visits by hour and cell.
 *
 * Two tables tell of them: `topk`, with little noise, of all hours together, where the counts of
 * cells that were not chosen go to the chosen cell that stands for them; and `visits` by hour.
 * Joined by their variances they give each cell's total; hours' totals times cells' totals are the
 * prior by hour, refined level by level (estimate_levels.c). */
#include <math.h>

#include "method/bridge/bridge.h"

static void pool(const struct dpl_places *places, const struct dpl_bridge_tables *tables,
                 double *pooled) {
    double by_hour = tables->hour_visits.sigma * tables->hour_visits.sigma * (double)places->H;
    dpl_add_rows(tables->hour_visits.value, places->H, places->K, 1, pooled);
    for (size_t k = 0; k < places->K; k++) {
        double by_cells = tables->visits.sigma * tables->visits.sigma * tables->visits_cells[k];
        double w = by_hour > 0 ? by_hour / (by_hour + by_cells) : 0;
        pooled[k] = fmax(w * tables->visits.value[k] + (1 - w) * pooled[k], 1);
    }
}

enum dpl_status dpl_visits_estimate(struct dpl_run *run, const struct dpl_places *places,
                                    const struct dpl_bridge_tables *tables, double *pooled,
                                    double *out) {
    size_t K = places->K, H = places->H;
    double *hours, *room, total = 0;
    void *block = DPL_BLOCK(run, DPL_PIECE(hours, H), DPL_PIECE(room, K));
    if (!block) return DPL_SYSTEM;
    pool(places, tables, pooled);
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
