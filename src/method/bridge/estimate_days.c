/* Trips by weekday and period of the day.
 *
 * A weekday's total stands out of the noise, or next to nothing is left of it: data of Mondays
 * alone gives Mondays. Those that stand out are shrunk to their mean by how much they differ beyond
 * their noise: with the many trips of a user, noise on a total is worth some hundred trips.
Weekdays' ' totals times periods' totals are the prior by both, which the
 * counts correct where they exceed their noise (estimate.c). */
#include <math.h>

#include "base/date.h"
#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

/* days (DPL_WEEKDAYS): noisy totals before, estimates after. */
static void estimate_totals(double sigma, double *days) {
    double noisy[DPL_WEEKDAYS], prior[DPL_WEEKDAYS], mean = 0;
    size_t at[DPL_WEEKDAYS], n = 0;
    for (size_t d = 0; d < DPL_WEEKDAYS; d++) {
        if (days[d] > CLEAR_NOISES * sigma) at[n] = d, noisy[n] = days[d], mean += days[d], n++;
        days[d] = dpl_beyond_noise(days[d], sigma);
    }
    for (size_t i = 0; i < n; i++) prior[i] = mean / (double)n;
    dpl_shrink_all(noisy, prior, n, sigma, NULL);
    for (size_t i = 0; i < n; i++) days[at[i]] = prior[i];
}

enum dpl_status dpl_weekdays_estimate(struct dpl_run *run, const struct dpl_places *places,
                                      const struct dpl_table *measured, float *out) {
    size_t H = places->H;
    double *periods, *values, days[DPL_WEEKDAYS] = {0}, total = 0,
                              day_sigma = measured->sigma * sqrt((double)H);
    void *block = DPL_BLOCK(run, DPL_PIECE(periods, H), DPL_PIECE(values, DPL_WEEKDAYS * H));
    if (!block) return DPL_SYSTEM;
    dpl_add_columns(measured->value, DPL_WEEKDAYS, H, days);
    dpl_add_rows(measured->value, DPL_WEEKDAYS, H, 1, periods);
    estimate_totals(day_sigma, days);
    for (size_t d = 0; d < DPL_WEEKDAYS; d++) total += days[d];
    for (size_t h = 0; h < H; h++) periods[h] = fmax(periods[h], 1);
    dpl_scale_to(periods, H, 1);
    for (size_t i = 0; i < DPL_WEEKDAYS * H; i++) values[i] = days[i / H] * periods[i % H];
    dpl_shrink_all(measured->value, values, DPL_WEEKDAYS * H, measured->sigma, NULL);
    for (size_t d = 0; d < DPL_WEEKDAYS; d++) dpl_scale_to(values + d * H, H, days[d]);
    for (size_t i = 0; i < DPL_WEEKDAYS * H; i++) out[i] = (float)(values[i] / total);
    dpl_free(block);
    return DPL_OK;
}
