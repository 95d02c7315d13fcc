/* How often one stands still and stands on, from the noised runs of steps that stand still.
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

/* Steps beyond the first of the runs of a bin, on the average. */
static double steps_beyond_first(size_t bin, double power) {
    double sum = 0;
    for (size_t steps = dpl_stop_bin_first(bin); steps < dpl_stop_bin_first(bin + 1); steps++)
        sum +=
            ((double)steps - 1) * (longer((double)steps - 1, power) - longer((double)steps, power));
    return sum / share_of_bin(bin, power);
}

double dpl_stops_standing_on(const struct dpl_table *stops) {
    double best = INFINITY, best_power = STOP_POWER, all = 0, steps = 0;
    for (double power = STOP_POWER_LEAST; power <= STOP_POWER_MOST; power += STOP_POWER_STEP) {
        double off, runs = fit_runs(stops, power, &off);
        if (off < best) best = off, best_power = power, all = runs;
    }
    for (size_t bin = 0; bin < DPL_STOP_BINS; bin++) {
        double law = all * share_of_bin(bin, best_power), doubt = STOP_LAW_DOUBT * law,
               noise = stops->sigma * stops->sigma,
               w = noise > 0 ? doubt * doubt / (doubt * doubt + noise) : 1;
        steps += fmax(law + w * (stops->value[bin] - law), 0) * steps_beyond_first(bin, best_power);
    }
    return steps;
}
