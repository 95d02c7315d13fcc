/* How long trips take by how easily their way is made.
 *
 * A table says how many visits trips of each daypart and distance have. Were the length of a trip
 * drawn by that alone, trips along a motorway would take as long as those through narrow streets,
 * and the walk would have to idle or to hurry. So a length weighs
 *
 *      factor(daypart, distance, length) * ease(source, target, length)
 *
 * where the ease is the square root of the weight of all ways of that length (walk.h), without what
 * steps weigh on the average: half way between lengths that know nothing of the way and walks that
 * take as long as they like. The factors are calibrated so that the trips of every daypart and
 * distance have the lengths wanted: (wanted / expected)^power, round by round.
 *
 * Lengths by daypart are mostly the day's; how many visits a daypart has is known better. So what
 * is wanted of a daypart is tilted by a power of length until its visits are right, and all rows
 * together are brought back to the histogram of lengths, which is measured best.
 *
 * Invariant: rows of factors sum up to 1 or are as they were. Cost: P * distances * length_max. */
#include "method/bridge/ease.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "method/bridge/constants.h"

static double sum_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

static size_t count_rows(const struct dpl_eased *eased) { return eased->P * DPL_DISTANCE_BINS; }

enum dpl_status dpl_eased_new(struct dpl_run *run, size_t P, size_t length_max,
                              const float *lengths, const double *histogram,
                              struct dpl_eased *eased) {
    size_t n = P * DPL_DISTANCE_BINS * (length_max + 1);
    *eased = (struct dpl_eased){.P = P, .length_max = length_max};
    eased->block = DPL_BLOCK(run, DPL_PIECE(eased->wanted, n),
                             DPL_PIECE(eased->histogram, length_max + 1),
                             DPL_PIECE(eased->together, length_max + 1));
    if (!eased->block) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) eased->wanted[i] = (double)lengths[i];
    double all = fmax(sum_of(histogram, length_max + 1), 1e-9);
    for (size_t l = 0; l <= length_max; l++) eased->histogram[l] = histogram[l] / all;
    return DPL_OK;
}

void dpl_eased_free(struct dpl_eased *eased) {
    dpl_free(eased->block);
    *eased = (struct dpl_eased){0};
}

void dpl_eased_move(struct dpl_eased *eased, const double *powers, const double *got) {
    size_t n = eased->length_max + 1;
    memset(eased->together, 0, n * sizeof *eased->together);
    for (size_t row = 0; row < count_rows(eased); row++) {
        double *wanted = eased->wanted + row * n, power = powers[row / DPL_DISTANCE_BINS],
               trips = sum_of(got + row * n, n);
        for (size_t l = 2; l < n; l++) wanted[l] *= pow((double)l, power);
        double sum = sum_of(wanted, n);
        for (size_t l = 2; l < n && sum > 0; l++)
            eased->together[l] += trips * (wanted[l] /= sum);
    }
    double trips = sum_of(eased->together, n);
    for (size_t i = 0; i < count_rows(eased) * n; i++)
        if (eased->together[i % n] > 0)
            eased->wanted[i] *= eased->histogram[i % n] * trips / eased->together[i % n];
}

void dpl_eased_adjust(const struct dpl_eased *eased, const double *got, double power,
                      float *factors) {
    size_t n = eased->length_max + 1;
    for (size_t row = 0; row < count_rows(eased); row++) {
        const double *wanted = eased->wanted + row * n, *here = got + row * n;
        double wanted_all = sum_of(wanted, n), got_all = sum_of(here, n), sum = 0;
        float *factor = factors + row * n;
        if (!(wanted_all > 0) || !(got_all > 0)) continue;
        for (size_t l = 2; l < n; l++) {
            double ratio = (wanted[l] / wanted_all + LENGTH_SHARE_LEAST) /
                           (here[l] / got_all + LENGTH_SHARE_LEAST);
            factor[l] *= (float)pow(fmin(fmax(ratio, 1 / LENGTH_MOST), LENGTH_MOST), power);
            sum += (double)factor[l];
        }
        for (size_t l = 2; l < n && sum > 0; l++) factor[l] = (float)((double)factor[l] / sum);
    }
}

void dpl_eased_hand_on(const struct dpl_eased *day, const float *day_factors, size_t P,
                       float *factors) {
    size_t n = DPL_DISTANCE_BINS * (day->length_max + 1);
    for (size_t i = 0; i < P * n; i++)
        if (day->wanted[i % n] > 0)
            factors[i] *= (float)((double)day_factors[i % n] / day->wanted[i % n]);
}
