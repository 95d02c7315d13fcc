/* Flows that visits contradict.
 *
 * How many trips begin and end in a zone is known with noise, and in thin data with much. Where
 * ends tell of more trips than the visits around them allow, no walk is right on both: potentials
 * can move where a trip spends its time, not how often somebody goes there. Visits know that
 * better, since a trip leaves many on its way. So the flows of each zone are tilted:
 *
 *     log tilt of a zone += power * log(wanted visits / expected visits of the zone)
 *     held within TILT_NOISES deviations of the noise of the trips that end there
 *     pairs (s, d) *= change of the tilt of the zone of s * change of that of d
 *
 * Without noise nothing is tilted. All trips together stay as many. PRIVACY: tables alone. */
#include <math.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

/* Sums by zone of shares of all: out (Z) from values (K). */
static void sum_zones(const struct dpl_places *places, const double *values, double *out) {
    double all = 0;
    for (size_t k = 0; k < places->K; k++) all += values[k];
    for (size_t k = 0; k < places->K; k++) out[places->zone[k]] += values[k] / all;
}

/* How far the logarithm of a zone's tilt may be from 0: what noise its trips may hold. */
static double tilt_most(double noise, double trips) {
    return fmin(TILT_NOISES * noise / (fmax(trips, 0) + noise + 1e-9), TILT_MOST);
}

/* Pairs by the factors of both zones, by (Z); their sum stays. */
static void scale_pairs(const struct dpl_places *places, const double *by, float *pooled) {
    size_t K = places->K;
    double before = 0, after = 0;
    for (size_t i = 0; i < K * K; i++) {
        before += (double)pooled[i];
        pooled[i] *= (float)(by[places->zone[i / K]] * by[places->zone[i % K]]);
        after += (double)pooled[i];
    }
    for (size_t i = 0; i < K * K && after > 0; i++) pooled[i] *= (float)(before / after);
}

enum dpl_status dpl_flows_tilt(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_bridge_tables *tables, const double *wanted,
                               const double *expected, const double *arrivals, double *tilt,
                               struct dpl_flows_made *made, double *changed) {
    double *want, *got, *ends, *by,
        trips = 0, noise = tables->destinations.zones.sigma * sqrt((double)places->H);
    size_t Z = places->Z;
    void *block =
        DPL_BLOCK(run, DPL_PIECE(want, Z), DPL_PIECE(got, Z), DPL_PIECE(ends, Z), DPL_PIECE(by, Z));
    if (!block) return DPL_SYSTEM;
    *changed = 0;
    for (size_t k = 0; k < places->K; k++) trips += arrivals[k];
    sum_zones(places, wanted, want), sum_zones(places, expected, got);
    sum_zones(places, arrivals, ends);
    for (size_t z = 0; z < Z; z++) {
        double most = tilt_most(noise, ends[z] * trips),
               next = tilt[z] + TILT_POWER * log((want[z] + TILT_DAMP) / (got[z] + TILT_DAMP));
        next = fmin(fmax(next, -most), most);
        by[z] = exp(next - tilt[z]);
        *changed += fabs(next - tilt[z]) * ends[z];
        tilt[z] = next;
    }
    if (*changed > 0) scale_pairs(places, by, made->pooled);
    dpl_free(block);
    return DPL_OK;
}
