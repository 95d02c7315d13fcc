/* How many visits a trip has, by daypart and distance.
 *
 *     histogram of lengths, smoothed     ┐
 *     lengths by distance, all dayparts  ┴> raked to both margins -> prior of each daypart
 *                                                                 -> shrunk towards it
 *
 * The table is measured in groups of lengths; within a group the histogram tells how they are
 * spread. Lengths beyond the longest walk follow a power law, whose power and size are fitted here.
 * Cost: dayparts * distances * groups, and the likelihoods of estimate.c. */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"
#include "model/length_bins.h"

enum { BINS = DPL_DISTANCE_BINS };

/* ---- from bins to lengths ---- */

static int32_t below_bin(size_t bin) { return bin > 0 ? dpl_length_bin_top(bin - 1) : 1; }

/* Trips with more than x visits: x + 1/2 to the minus power, which joins how many there are beyond
 * `from` and beyond `to`. */
static double power_of(double inside, double beyond, double from, double to) {
    double power = log((inside + beyond + 1) / (beyond + 1)) / log((to + 0.5) / (from + 0.5));
    return fmin(fmax(power, TAIL_POWER_LEAST), TAIL_POWER_MOST);
}

static double longer(double x, double power) { return pow(x + 0.5, -power); }

/* Trips beyond length_max: bin by bin they drown in the noise. A power law, fitted to all bins from
 * some way before length_max on by least squares, is led by those that do not, and says how many
 * there are beyond and how fast they get fewer; no more than their bins together allow, since
 * lengths may end at once. */
static void fit_tail(const double *count, struct dpl_bridge_tables *tables) {
    size_t first = dpl_length_bin((size_t)fmax(2, TAIL_FROM * (double)tables->length_max)),
           last = dpl_length_bin(tables->length_max);
    double best = INFINITY, all = 0, seen = 0, bins = 0,
           variance = tables->lengths_sigma * tables->lengths_sigma;
    for (size_t bin = 0; bin < DPL_LENGTH_BINS; bin++) {
        all += fmax(count[bin], 0);
        if (bin > last && below_bin(bin) < DPL_BRIDGE_LENGTH_MOST) seen += count[bin], bins++;
    }
    double most =
        fmin(fmax(seen, 0) + TAIL_DOUBT * tables->lengths_sigma * sqrt(bins), TAIL_MOST * all);
    for (double power = TAIL_POWER_LEAST; power <= TAIL_POWER_MOST; power += TAIL_POWER_STEP) {
        double both = 0, model = 0, self = 0;
        for (size_t bin = first; bin < DPL_LENGTH_BINS && below_bin(bin) < DPL_BRIDGE_LENGTH_MOST;
             bin++) {
            double expected =
                       longer(below_bin(bin), power) - longer(dpl_length_bin_top(bin), power),
                   weight = 1 / (variance + fmax(count[bin], 1));
            both += weight * expected * count[bin], model += weight * expected * expected,
                self += weight * count[bin] * count[bin];
        }
        double scale = fmax(both / model, 0), off = self - 2 * scale * both + scale * scale * model;
        if (!(off < best)) continue;
        best = off;
        tables->tail_power = power;
        tables->tail_trips = fmin(scale * (longer((double)tables->length_max, power) -
                                           longer(DPL_BRIDGE_LENGTH_MOST, power)),
                                  most);
    }
}

/* Bins of several lengths are spread by a power of length: evenly spread they would be steps, each
 * too low where it begins and too high where it ends. */
void dpl_lengths_spread(const double *count, struct dpl_bridge_tables *tables) {
    fit_tail(count, tables);
    double beyond = tables->tail_trips;
    for (size_t bin = dpl_length_bin(tables->length_max) + 1; bin-- > 0;) {
        double from = below_bin(bin), to = dpl_length_bin_top(bin), inside = fmax(count[bin], 0),
               power = power_of(inside, beyond, from, to);
        for (double l = fmax(from + 1, 2); l <= fmin(to, (double)tables->length_max); l++) {
            double share = (longer(l - 1, power) - longer(l, power)) /
                           (longer(from, power) - longer(to, power));
            tables->lengths[(size_t)l] = count[bin] * share,
            tables->lengths_share[(size_t)l] = share;
        }
        beyond += inside;
    }
}

/* ---- the histogram ---- */

/* Adds to out (n) the running mean of values (n), over lengths of 2 and more. */
static void add_running_mean(const double *values, size_t n, double *out) {
    for (size_t l = 2; l < n; l++) {
        size_t reach = 1 + l / 6;
        double sum = 0, weight = 0;
        for (size_t j = l > reach + 2 ? l - reach : 2; j <= l + reach && j < n; j++) {
            double off = (double)j - (double)l, w = exp(-2 * off * off / (double)(reach * reach));
            sum += w * values[j], weight += w;
        }
        out[l] += sum / weight;
    }
}

/* Shrunk towards its own running mean. Smoothing biases convex parts upward, and long lengths are
 * such a part: the residual is smoothed, too, and added (Tukey's twicing). */
void dpl_lengths_histogram(const struct dpl_bridge_tables *tables, double *out) {
    size_t n = tables->length_max + 1;
    double left[DPL_BRIDGE_LENGTH_MOST + 1] = {0}, noise[DPL_BRIDGE_LENGTH_MOST + 1];
    memset(out, 0, n * sizeof *out);
    add_running_mean(tables->lengths, n, out);
    for (size_t l = 2; l < n; l++) left[l] = tables->lengths[l] - out[l];
    add_running_mean(left, n, out);
    for (size_t l = 2; l < n; l++)
        out[l] = fmax(out[l], 0.1), noise[l] = tables->lengths_share[l] * tables->lengths_share[l];
    dpl_shrink_all(tables->lengths + 2, out + 2, n - 2, tables->lengths_sigma, noise + 2);
    out[n - 1] += tables->tail_trips;
}

double dpl_lengths_mean(const struct dpl_bridge_tables *tables) {
    double histogram[DPL_BRIDGE_LENGTH_MOST + 1], visits = 0, trips = 0;
    dpl_lengths_histogram(tables, histogram);
    for (size_t l = 2; l <= tables->length_max; l++)
        visits += (double)l * histogram[l], trips += histogram[l];
    return visits / trips; // no bin of the histogram is 0
}

double dpl_lengths_tail_share(const struct dpl_bridge_tables *tables) {
    double histogram[DPL_BRIDGE_LENGTH_MOST + 1];
    dpl_lengths_histogram(tables, histogram);
    return tables->tail_trips / histogram[tables->length_max];
}

/* Lengths by distance, neighbours averaged: pooled, out (BINS, G). bin_total (BINS), group_total
 * (G). */
static void smooth_pooled(const double *pooled, size_t G, double sigma, const double *bin_total,
                          const double *group_total, double trips, double *out) {
    for (size_t b = 0; b < BINS; b++)
        for (size_t g = 0; g < G; g++) {
            double sum = 0, weight = 0;
            for (int i = -1; i <= 1; i++)
                for (int j = -2; j <= 2; j++) {
                    long bin = (long)b + i, group = (long)g + j;
                    if (bin < 0 || bin >= BINS || group < 0 || group >= (long)G) continue;
                    double w = exp(-1.0 * i * i - 0.5 * j * j);
                    sum += w * fmax(pooled[(size_t)bin * G + (size_t)group], -2 * sigma),
                        weight += w;
                }
            out[b * G + g] = fmax(sum / weight, 0.02 * group_total[g] * bin_total[b] / trips);
        }
}

static void rake(double *pooled, size_t G, const double *bin_total, const double *group_total) {
    for (int round = 0; round < LENGTH_RAKE_ROUNDS; round++) {
        for (size_t b = 0; b < BINS; b++) dpl_scale_to(pooled + b * G, G, bin_total[b]);
        for (size_t g = 0; g < G; g++) {
            double sum = 0;
            for (size_t b = 0; b < BINS; b++) sum += pooled[b * G + g];
            for (size_t b = 0; b < BINS && sum > 0; b++) pooled[b * G + g] *= group_total[g] / sum;
        }
    }
}

/* by_daypart (P, BINS, G): the prior of each daypart is the pooled row, scaled to the daypart's
 * trips of that distance. */
static void shrink_dayparts(const struct dpl_table *table, const double *pooled, size_t P, size_t G,
                            double *by_daypart) {
    for (size_t p = 0; p < P; p++)
        for (size_t b = 0; b < BINS; b++) {
            const double *measured = table->value + (p * BINS + b) * G, *shape = pooled + b * G;
            double *into = by_daypart + (p * BINS + b) * G, trips = 0, sum = 0;
            for (size_t g = 0; g < G; g++) trips += measured[g], sum += shape[g];
            for (size_t g = 0; g < G; g++) into[g] = shape[g] * fmax(trips, 1) / fmax(sum, 1e-9);
        }
    dpl_shrink_all(table->value, by_daypart, P * BINS * G, table->sigma, NULL);
}

static void spread_groups(const double *by_daypart, const double *histogram,
                          const double *group_total, size_t rows, size_t G, size_t length_max,
                          float *out) {
    for (size_t row = 0; row < rows; row++) {
        double sum = 0;
        for (size_t g = 0; g < G; g++) sum += by_daypart[row * G + g];
        for (size_t l = 2; l <= length_max; l++) {
            size_t g = dpl_length_group(l);
            out[row * (length_max + 1) + l] =
                (float)(by_daypart[row * G + g] / sum * histogram[l] / group_total[g]);
        }
    }
}

enum dpl_status dpl_lengths_estimate(struct dpl_run *run, const struct dpl_places *places,
                                     const struct dpl_bridge_tables *tables, float *out) {
    size_t P = places->P, L = tables->length_max, G = dpl_length_group(L) + 1;
    double sigma = tables->durations.sigma * sqrt((double)P), bin_total[BINS] = {0};
    double *histogram, *group_total, *noisy, *pooled, *by_daypart;
    void *block = DPL_BLOCK(run, DPL_PIECE(histogram, L + 1), DPL_PIECE(group_total, G),
                            DPL_PIECE(noisy, BINS * G), DPL_PIECE(pooled, BINS * G),
                            DPL_PIECE(by_daypart, P * BINS * G));
    if (!block) return DPL_SYSTEM;
    dpl_lengths_histogram(tables, histogram);
    dpl_add_rows(tables->durations.value, P, BINS * G, 1, noisy);
    for (size_t l = 2; l <= L; l++) group_total[dpl_length_group(l)] += histogram[l];
    dpl_add_columns(noisy, BINS, G, bin_total);
    for (size_t b = 0; b < BINS; b++) bin_total[b] = fmax(bin_total[b], 3);
    smooth_pooled(noisy, G, sigma, bin_total, group_total, tables->trips, pooled);
    dpl_shrink_all(noisy, pooled, BINS * G, sigma, NULL);
    rake(pooled, G, bin_total, group_total);
    shrink_dayparts(&tables->durations, pooled, P, G, by_daypart);
    spread_groups(by_daypart, histogram, group_total, P * BINS, G, L, out);
    dpl_free(block);
    return DPL_OK;
}
