/* How often one stands still and stands on, and for how long already, from the noised runs of steps
 * that stand still.
 *
 * Runs get rarer about as a power of their number of steps, and bin by bin the long ones drown in
 * the noise, where one bin of it would be as much standing as all short runs together. So a power
 * law is fitted to all bins by least squares, led by those that do not drown; each bin is drawn
 * from it to what was counted, as far as the law can be trusted beside the noise. */
#include <math.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

/* Runs of more than x steps, as a part of those of more than 1. */
static double longer(double steps, double power) { return pow(steps + 1, -power); }

static double share_of_bin(size_t bin, double power) {
    return longer((double)dpl_stop_bin_first(bin) - 1, power) -
           longer((double)dpl_stop_bin_first(bin + 1) - 1, power);
}

/* Runs of a law with that power, by weighted least squares; *off is how far it is from the counts,
 * and from the power that is usual. */
static double fit_runs(const struct dpl_table *stops, double power, double *off) {
    double both = 0, model = 0, self = 0, unusual = (power - STOP_POWER) / STOP_POWER_DOUBT;
    for (size_t bin = 0; bin < DPL_STOP_BINS; bin++) {
        double count = stops->value[bin], share = share_of_bin(bin, power),
               doubt = STOP_LAW_DOUBT / 2 * fmax(count, 0),
               weight = 1 / (stops->sigma * stops->sigma + doubt * doubt + 1e-9);
        both += weight * share * count, model += weight * share * share;
        self += weight * count * count;
    }
    double runs = fmax(both / model, 0);
    *off = self - 2 * runs * both + runs * runs * model + unusual * unusual;
    return runs;
}

/* Runs of a bin: all steps beyond their first, each by how many stand still before it. */
static void stand_on(const struct dpl_motion_bins *bins, size_t bin, double runs, double power,
                     double *standing) {
    double longer_runs = runs; // of at least `steps`
    for (size_t steps = 2; steps < dpl_stop_bin_first(bin + 1); steps++) {
        standing[dpl_motion_standing(bins, steps)] += longer_runs;
        if (steps < dpl_stop_bin_first(bin)) continue;
        double ending = longer((double)steps - 1, power) - longer((double)steps, power);
        longer_runs = fmax(longer_runs - runs * ending / share_of_bin(bin, power), 0);
    }
}

void dpl_stops_standing_on(const struct dpl_table *stops, const struct dpl_motion_bins *bins,
                           double *standing) {
    double best = INFINITY, best_power = STOP_POWER, all = 0;
    for (double power = STOP_POWER_LEAST; power <= STOP_POWER_MOST; power += STOP_POWER_STEP) {
        double off, runs = fit_runs(stops, power, &off);
        if (off < best) best = off, best_power = power, all = runs;
    }
    for (size_t i = 0; i < bins->turns; i++) standing[i] = 0;
    for (size_t bin = 0; bin < DPL_STOP_BINS; bin++) {
        double law = all * share_of_bin(bin, best_power), doubt = STOP_LAW_DOUBT * law,
               noise = stops->sigma * stops->sigma,
               w = noise > 0 ? doubt * doubt / (doubt * doubt + noise) : 1;
        stand_on(bins, bin, fmax(law + w * (stops->value[bin] - law), 0), best_power, standing);
    }
}
