/* Trips by hour, source and destination, from the tables of ends, pairs, zone pairs and durations.
 *
 *     ends, pooled    visits -> blocks of zones -> zones -> cells (estimate_levels.c)
 *     ends by watch   pooled ends, modulated by the visits by watch -> blocks -> zones -> cells
 *     ends by hour    drawn between the watches -> blocks -> zones
 *     pairs, pooled   gravity (ends, and a curve of distance) -> zone pairs -> cell and zone
 *                     -> cell pairs
 *     pairs by hour   pooled pairs, modulated by zone pairs by daypart, fitted to the hour's ends
 *
 * Each arrow shrinks the next, finer table towards what came before (estimate.c). Shrunk counts are
 * never negative, which lifts what is small and noisy; so after each, the margins that are known
 * better are fitted again (iterative proportional fitting).
 *
 * Invariant: the result is kept as factors, since hours * K^2 numbers are too many for a large K.
 * Cost: hours * K^2 per round of fitting. */
#include <math.h>
#include <string.h>

#include "base/clones.h"
#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

enum { BINS = DPL_DISTANCE_BINS };

/* ---- ends ---- */

/* Posterior mean of a non-negative count given one Gaussian observation (truncated normal): above
 * zero always. Otherwise an hour whose few trips drown in noise would come out empty, which is
 * further from the truth than a few too many. */
static double truncated_normal_mean(double noisy, double sigma) {
    double t = noisy / sigma;
    if (!(sigma > 0) || t > 8) return noisy;
    if (t < -8) return -sigma / t;
    return noisy + sigma * exp(-t * t / 2) / sqrt(2 * acos(-1)) / (erfc(-t / sqrt(2)) / 2);
}

void dpl_flows_hours(const struct dpl_places *places, const struct dpl_bridge_tables *tables,
                     double *hours) {
    size_t Z = places->Z;
    const struct dpl_table *sources = &tables->sources.zones,
                           *destinations = &tables->destinations.zones;
    double sigma = sqrt((double)Z * (sources->sigma * sources->sigma +
                                     destinations->sigma * destinations->sigma)) /
                   2;
    for (size_t h = 0; h < places->H; h++) {
        double noisy = 0;
        for (size_t z = 0; z < Z; z++)
            noisy += (sources->value[h * Z + z] + destinations->value[h * Z + z]) / 2;
        hours[h] = fmax(truncated_normal_mean(noisy, sigma), 1);
    }
    dpl_scale_to(hours, places->H, tables->trips);
}

/* All hours together: the day's table and the sums of the hours', joined by their variances, refine
 * the visits. room (K + Z). */
static enum dpl_status pool_ends(struct dpl_run *run, const struct dpl_places *places,
                                 const struct dpl_ends *ends, double trips, double *room,
                                 double *pooled) {
    size_t K = places->K, Z = places->Z, H = places->H;
    double *cells = room, *zones = room + K, hours = (double)H;
    double by_day = ends->day.sigma * ends->day.sigma,
           by_hour = ends->cells.sigma * ends->cells.sigma * (double)places->W,
           w = by_hour > 0 ? by_hour / (by_hour + by_day) : 0;
    dpl_add_rows(ends->cells.value, places->W, K, 1 - w, cells);
    for (size_t k = 0; k < K; k++) cells[k] += w * ends->day.value[k];
    dpl_add_rows(ends->zones.value, H, Z, 1, zones);
    const struct dpl_measured measured = {.rows = 1,
                                          .cells = cells,
                                          .cells_sigma = sqrt(w > 0 ? w * by_day : by_hour),
                                          .zones = zones,
                                          .zones_sigma = ends->zones.sigma * sqrt(hours)};
    DPL_TRY(dpl_refine(run, places, &measured, pooled));
    dpl_scale_to(pooled, K, trips);
    return DPL_OK;
}

/* Pooled ends times watches, modulated by how the visits of a cell in that watch differ from the
 * rule, to a power. */
static void modulate_ends(const struct dpl_places *places, const double *pooled,
                          const double *watches, const double *modulation, double power,
                          double *out) {
    size_t K = places->K;
    for (size_t w = 0; w < places->W; w++) {
        for (size_t k = 0; k < K; k++)
            out[w * K + k] = pooled[k] * pow(modulation[w * K + k], power);
        dpl_scale_to(out + w * K, K, watches[w]);
    }
}

/* Busy hours of a cell are busy for its ends, too, more or less: the power is the one that the
 * table fits best. */
static void prior_ends(const struct dpl_places *places, const struct dpl_table *cells,
                       const double *pooled, const double *watches, const double *modulation,
                       double *out) {
    double best = INFINITY, power = 0;
    for (double at = 0; at <= MODULATION_MOST; at += MODULATION_STEP) {
        double off = 0;
        modulate_ends(places, pooled, watches, modulation, at, out);
        for (size_t i = 0; i < cells->n; i++)
            off += (out[i] - cells->value[i]) * (out[i] - cells->value[i]);
        if (off < best) best = off, power = at;
    }
    modulate_ends(places, pooled, watches, modulation, power, out);
}

/* visits (W, K) over the product of their margins; margins (W + K). */
static void find_modulation(const struct dpl_places *places, const double *visits, double *margins,
                            double *modulation) {
    size_t K = places->K, W = places->W;
    double *watches = margins, *cells = margins + W, total = 0;
    dpl_add_columns(visits, W, K, watches);
    dpl_add_rows(visits, W, K, 1, cells);
    for (size_t i = 0; i < W * K; i++) total += visits[i];
    for (size_t w = 0; w < W; w++)
        for (size_t k = 0; k < K; k++)
            modulation[w * K + k] =
                fmax(visits[w * K + k], 1e-9) * total / fmax(watches[w] * cells[k], 1e-9);
}

/* By watch: pooled ends (K), modulated as visits (H, K) are, refined by both tables; out (W, K). */
static enum dpl_status end_watches(struct dpl_run *run, const struct dpl_places *places,
                                   const struct dpl_ends *ends, const double *visits,
                                   const double *hours, const double *pooled, double *out) {
    size_t K = places->K, W = places->W, Z = places->Z;
    double *by_watch, *margins, *modulation, *trips, *zones,
        in_watch = (double)places->H / (double)W;
    void *block =
        DPL_BLOCK(run, DPL_PIECE(by_watch, W * K), DPL_PIECE(margins, W + K),
                  DPL_PIECE(modulation, W * K), DPL_PIECE(trips, W), DPL_PIECE(zones, W * Z));
    if (!block) return DPL_SYSTEM;
    dpl_watches_sum(places, visits, K, by_watch);
    dpl_watches_sum(places, hours, 1, trips);
    dpl_watches_sum(places, ends->zones.value, Z, zones);
    find_modulation(places, by_watch, margins, modulation);
    prior_ends(places, &ends->cells, pooled, trips, modulation, out);
    const struct dpl_measured measured = {.rows = W,
                                          .cells = ends->cells.value,
                                          .cells_sigma = ends->cells.sigma,
                                          .zones = zones,
                                          .zones_sigma = ends->zones.sigma * sqrt(in_watch)};
    enum dpl_status status = dpl_refine(run, places, &measured, out);
    dpl_free(block);
    return status;
}

enum dpl_status dpl_flows_ends(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_ends *ends, const double *visits,
                               const double *hours, double *out) {
    size_t K = places->K, H = places->H, W = places->W;
    const struct dpl_measured by_hour = {
        .rows = H, .zones = ends->zones.value, .zones_sigma = ends->zones.sigma};
    double trips = 0, *pooled, *room, *watches;
    enum dpl_status status;
    void *block = DPL_BLOCK(run, DPL_PIECE(pooled, K), DPL_PIECE(room, K + places->Z + 2 * W),
                            DPL_PIECE(watches, W * K));
    if (!block) return DPL_SYSTEM;
    for (size_t h = 0; h < H; h++) trips += hours[h];
    dpl_add_rows(visits, H, K, 1, pooled);
    dpl_scale_to(pooled, K, trips);
    DPL_GO(pool_ends(run, places, ends, trips, room, pooled));
    DPL_GO(end_watches(run, places, ends, visits, hours, pooled, watches));
    dpl_watches_spread(places, watches, hours, room, out);
    if (W < H) DPL_GO(dpl_refine(run, places, &by_hour, out));
    dpl_rake(out, H, K, hours, pooled, room);
done:
    dpl_free(block);
    return status;
}

/* ---- pooled pairs ---- */

static void fit_rows(double *pairs, size_t K, const double *sources) {
    for (size_t s = 0; s < K; s++) dpl_scale_to(pairs + s * K, K, sources[s]);
}

/* room (K). */
static void fit_columns(double *pairs, size_t K, const double *destinations, double *room) {
    memset(room, 0, K * sizeof *room);
    dpl_add_rows(pairs, K, K, 1, room);
    for (size_t d = 0; d < K; d++) room[d] = dpl_scale_of(destinations[d], room[d]);
    for (size_t s = 0; s < K; s++)
        for (size_t d = 0; d < K; d++) pairs[s * K + d] *= room[d];
}

/* How many trips go how far, by the table of lengths, which has the fewest bins to add up; expected
 * (BINS) without regard to distance. */
static void count_distances(const struct dpl_places *places, const struct dpl_table *durations,
                            double trips, const double *expected, double *counts) {
    double measured[BINS] = {0};
    size_t groups = durations->n / (places->P * BINS);
    for (size_t p = 0; p < places->P; p++)
        dpl_add_columns(durations->value + p * BINS * groups, BINS, groups, measured);
    memcpy(counts, expected, BINS * sizeof *counts);
    dpl_shrink_all(measured, counts, BINS, durations->sigma * sqrt((double)(places->P * groups)),
                   NULL);
    dpl_scale_to(counts, BINS, trips);
}

/* What pairs must add up to. */
struct margins {
    const double *sources, *destinations; /* (K) */
    double distances[BINS];
    const uint8_t *bin; /* (K, K) of distance */
    double *room;       /* (K) */
};

static enum dpl_status fit_margins(struct dpl_run *run, const struct margins *margins, size_t K,
                                   int rounds, double *pairs) {
    for (int round = 0; round < rounds; round++) {
        DPL_TRY(dpl_check_interrupt(run));
        double sum[BINS] = {0};
        for (size_t i = 0; i < K * K; i++) sum[margins->bin[i]] += pairs[i];
        for (size_t f = 0; f < BINS; f++) sum[f] = margins->distances[f] / fmax(sum[f], 1e-9);
        for (size_t i = 0; i < K * K; i++) pairs[i] *= sum[margins->bin[i]];
        fit_rows(pairs, K, margins->sources);
        fit_columns(pairs, K, margins->destinations, margins->room);
    }
    return dpl_check_interrupt(run);
}

/* Ends times a free curve of distance, fitted to the ends and to how many trips go how far. */
static enum dpl_status gravity(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_table *durations, double trips,
                               struct margins *margins, double *pairs) {
    size_t K = places->K;
    double expected[BINS] = {0};
    for (size_t s = 0; s < K; s++)
        for (size_t d = 0; d < K; d++) {
            double pair = pairs[s * K + d] = margins->sources[s] * margins->destinations[d] / trips;
            expected[margins->bin[s * K + d]] += pair;
        }
    count_distances(places, durations, trips, expected, margins->distances);
    return fit_margins(run, margins, K, GRAVITY_ROUNDS, pairs);
}

static size_t zone_pair(const struct dpl_places *places, size_t s, size_t d) {
    return (size_t)places->zone[s] * places->Z + (size_t)places->zone[d];
}

static void sum_zone_pairs(const struct dpl_places *places, const double *pairs, double *sums) {
    memset(sums, 0, places->Z * places->Z * sizeof *sums);
    for (size_t s = 0; s < places->K; s++)
        for (size_t d = 0; d < places->K; d++)
            sums[zone_pair(places, s, d)] += pairs[s * places->K + d];
}

/* Brings zone pairs to `wanted` (Z, Z); room (Z, Z). */
static void fit_zone_pairs(const struct dpl_places *places, const double *wanted, double *room,
                           double *pairs) {
    sum_zone_pairs(places, pairs, room);
    for (size_t s = 0; s < places->K; s++)
        for (size_t d = 0; d < places->K; d++) {
            size_t z = zone_pair(places, s, d);
            pairs[s * places->K + d] *= wanted[z] / fmax(room[z], 1e-9);
        }
}

/* Zone pairs over all dayparts: shrunk (Z, Z), noisy (Z, Z). */
static void shrink_zone_pairs(const struct dpl_places *places, const struct dpl_table *zones,
                              double *noisy, double *shrunk, double *pairs) {
    size_t Z = places->Z;
    dpl_add_rows(zones->value, places->P, Z * Z, 1, noisy);
    sum_zone_pairs(places, pairs, shrunk);
    dpl_shrink_all(noisy, shrunk, Z * Z, zones->sigma * sqrt((double)places->P), NULL);
    fit_zone_pairs(places, shrunk, noisy, pairs);
}

/* Of a source with its destination's zone, or of a destination with its source's. */
static size_t cell_zone(const struct dpl_places *places, bool by_source, size_t s, size_t d) {
    return by_source ? s * places->Z + (size_t)places->zone[d]
                     : d * places->Z + (size_t)places->zone[s];
}

/* A cell with all cells of a zone, as sources (by_source) or as destinations. */
static enum dpl_status shrink_cell_zones(struct dpl_run *run, const struct dpl_places *places,
                                         const struct dpl_table *measured, bool by_source,
                                         double *pairs) {
    size_t K = places->K, Z = places->Z;
    double *noisy, *prior, *shrunk, *summed;
    void *block = DPL_BLOCK(run, DPL_PIECE(noisy, K * Z), DPL_PIECE(prior, K * Z),
                            DPL_PIECE(shrunk, K * Z), DPL_PIECE(summed, K * Z));
    if (!block) return DPL_SYSTEM;
    for (size_t s = 0; s < K && !dpl_interrupted(run); s++)
        for (size_t d = 0; d < K; d++) {
            size_t at = cell_zone(places, by_source, s, d), i = s * K + d;
            noisy[at] += measured->value[i], prior[at] += pairs[i], summed[at]++;
        }
    memcpy(shrunk, prior, K * Z * sizeof *prior);
    dpl_shrink_all(noisy, shrunk, K * Z, measured->sigma, summed);
    for (size_t s = 0; s < K; s++)
        for (size_t d = 0; d < K; d++) {
            size_t at = cell_zone(places, by_source, s, d);
            pairs[s * K + d] *= shrunk[at] / fmax(prior[at], 1e-9);
        }
    dpl_free(block);
    return dpl_check_interrupt(run);
}

/* From every place to the middle one, the most steps; and from there to each, from (K). Where a way
 * by the middle is short enough for all there is one. hops, queue (K) are room. */
static size_t steps_by_middle(const struct dpl_reverse *back, const struct dpl_edges *edges,
                              size_t K, uint16_t *from, uint16_t *hops, int32_t *queue) {
    const int32_t middle = (int32_t)(K / 2);
    size_t most = 0;
    dpl_edges_hops(back, K, &middle, 1, hops, queue);
    for (size_t s = 0; s < K; s++) most = hops[s] > most ? hops[s] : most;
    dpl_edges_hops_from(edges, K, middle, from, queue);
    return most;
}

/* No trip where no walk can lead. */
static enum dpl_status drop_unreachable(struct dpl_run *run, const struct dpl_edges *edges,
                                        size_t K, size_t length_max, double *pairs) {
    struct dpl_reverse back = {0};
    uint16_t *hops, *from;
    int32_t *queue;
    void *block = DPL_BLOCK(run, DPL_PIECE(hops, K), DPL_PIECE(from, K), DPL_PIECE(queue, K));
    enum dpl_status status =
        block ? dpl_edges_reverse(run, K, edges->start, edges->to, edges->n, &back) : DPL_SYSTEM;
    size_t to_middle =
        status == DPL_OK ? steps_by_middle(&back, edges, K, from, hops, queue) : UINT16_MAX;
    for (size_t d = 0; status == DPL_OK && d < K; d++) {
        if (to_middle + from[d] < length_max) continue;
        dpl_edges_hops(&back, K, &(int32_t){(int32_t)d}, 1, hops, queue);
        for (size_t s = 0; s < K; s++)
            if (hops[s] > length_max - 1) pairs[s * K + d] = 0;
        status = dpl_check_interrupt(run);
    }
    dpl_reverse_free(&back);
    dpl_free(block);
    return status;
}

static enum dpl_status estimate_pairs(struct dpl_run *run, const struct dpl_places *places,
                                      const struct dpl_bridge_tables *tables, const double *sources,
                                      const double *destinations, const struct dpl_edges *edges,
                                      double *pairs) {
    size_t K = places->K, Z = places->Z, H = places->H;
    double *out_of, *into, *zones, *zone_room;
    struct margins margins = {.bin = places->distance_bin};
    enum dpl_status status;
    void *block =
        DPL_BLOCK(run, DPL_PIECE(out_of, K), DPL_PIECE(into, K), DPL_PIECE(margins.room, K),
                  DPL_PIECE(zones, Z * Z), DPL_PIECE(zone_room, Z * Z));
    if (!block) return DPL_SYSTEM;
    dpl_add_rows(sources, H, K, 1, out_of), dpl_add_rows(destinations, H, K, 1, into);
    margins.sources = out_of, margins.destinations = into;
    DPL_GO(gravity(run, places, &tables->durations, tables->trips, &margins, pairs));
    shrink_zone_pairs(places, &tables->zones, zone_room, zones, pairs);
    // Shrunk counts are held at zero or above, which lifts what is small and noisy: margins known
    // better set that right.
    DPL_GO(fit_margins(run, &margins, K, MARGIN_ROUNDS, pairs));
    sum_zone_pairs(places, pairs, zones);
    DPL_GO(shrink_cell_zones(run, places, &tables->pairs, true, pairs));
    DPL_GO(shrink_cell_zones(run, places, &tables->pairs, false, pairs));
    dpl_shrink_all(tables->pairs.value, pairs, K * K, tables->pairs.sigma, NULL);
    DPL_GO(drop_unreachable(run, edges, K, tables->length_max, pairs));
    fit_zone_pairs(places, zones, zone_room, pairs);
    DPL_GO(fit_margins(run, &margins, K, MARGIN_ROUNDS, pairs));
done:
    dpl_free(block);
    return status;
}

/* ---- pairs by hour ---- */

/* The hours first ... end-1, which share a daypart, and room: what of the pooled pairs of a source
 * is theirs (K), and sums by hour and destination (end - first, K). */
struct hours {
    size_t first, end;
    float *row;
    double *sum;
};

DPL_CLONES static double product(const float *a, const float *b, size_t n) {
    enum { ABREAST = 8 };
    double part[ABREAST] = {0}, sum = 0;
    size_t i = 0;
    for (; i + ABREAST <= n; i += ABREAST)
        for (size_t j = 0; j < ABREAST; j++) part[j] += (double)a[i + j] * (double)b[i + j];
    for (; i < n; i++) sum += (double)a[i] * (double)b[i];
    for (size_t j = 0; j < ABREAST; j++) sum += part[j];
    return sum;
}

DPL_CLONES static void add_times(const float *row, double times, size_t n, double *sum) {
    for (size_t i = 0; i < n; i++) sum[i] += (double)row[i] * times;
}

/* Where few pairs are left, ends can be out of reach of any factors: these then grow round by
 * round, up to FACTOR_MOST. Adds to *moved how many trips that changes. */
static float factor_for(double ends, double sum, float before, double *moved) {
    float factor = sum > 0 ? (float)fmin(ends / sum, FACTOR_MOST) : 0;
    *moved += fabs((double)factor - (double)before) * sum;
    return factor;
}

/* Factors so that the trips of every hour add up to its sources, then to its destinations. A source
 * is one row of the pairs, which is passed on to its destinations at once. Returns how many trips
 * that moved, as a share of all. */
static double fit_hours_once(const struct dpl_flows_made *made, const struct hours *hours,
                             const double *sources, const double *destinations) {
    const struct dpl_flows *flows = &made->flows;
    size_t K = flows->K, Z = flows->Z;
    const float *zone_factor = flows->zone_factor + hours->first * flows->P / flows->H * Z * Z;
    double moved = 0, all = 0;
    memset(hours->sum, 0, (hours->end - hours->first) * K * sizeof *hours->sum);
    for (size_t s = 0; s < K; s++) {
        const float *pooled = flows->pooled + s * K,
                    *factor = zone_factor + (size_t)flows->zone[s] * Z;
        for (size_t d = 0; d < K; d++) hours->row[d] = pooled[d] * factor[flows->zone[d]];
        for (size_t h = hours->first; h < hours->end; h++) {
            float *into = made->source_factor + h * K + s;
            double sum = product(hours->row, made->destination_factor + h * K, K);
            *into = factor_for(sources[h * K + s], sum, *into, &moved);
            all += sources[h * K + s];
            add_times(hours->row, (double)*into, K, hours->sum + (h - hours->first) * K);
        }
    }
    for (size_t h = hours->first; h < hours->end; h++)
        for (size_t d = 0; d < K; d++) {
            float *into = made->destination_factor + h * K + d;
            *into = factor_for(destinations[h * K + d], hours->sum[(h - hours->first) * K + d],
                               *into, &moved);
        }
    return moved / fmax(all, 1e-9);
}

static enum dpl_status fit_hours(struct dpl_run *run, const struct dpl_flows_made *made,
                                 const double *sources, const double *destinations) {
    const struct dpl_flows *flows = &made->flows;
    size_t K = flows->K, P = flows->P, H = flows->H;
    double *sum;
    float *row;
    void *block = DPL_BLOCK(run, DPL_PIECE(sum, H * K), DPL_PIECE(row, P * K));
    if (!block) return DPL_SYSTEM;
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(dynamic, 1)
    for (size_t p = 0; p < P; p++) {
        struct hours hours = {.first = (p * H + P - 1) / P, .end = ((p + 1) * H + P - 1) / P};
        hours.row = row + p * K, hours.sum = sum + hours.first * K;
        double moved = INFINITY;
        for (int round = 0; round < HOUR_ROUNDS && moved > HOURS_STILL && !dpl_interrupted(run);
             round++)
            moved = fit_hours_once(made, &hours, sources, destinations);
    }
    dpl_free(block);
    return dpl_check_interrupt(run);
}

/* Sums over dayparts as they were before: what is small and noisy was lifted. Both (dayparts, n).
 */
static void keep_totals(const double *before, size_t dayparts, size_t n, double *values) {
    for (size_t i = 0; i < n; i++) {
        double was = 0, is = 0;
        for (size_t p = 0; p < dayparts; p++) was += before[p * n + i], is += values[p * n + i];
        for (size_t p = 0; p < dayparts; p++) values[p * n + i] *= was / fmax(is, 1e-9);
    }
}

/* What the table of zone pairs by daypart says beyond ends and pooled pairs. */
static enum dpl_status modulate_dayparts(struct dpl_run *run, const struct dpl_table *zones,
                                         struct dpl_flows_made *made) {
    const struct dpl_flows *flows = &made->flows;
    size_t K = flows->K, Z = flows->Z, n = flows->P * Z * Z;
    double *prior, *shrunk;
    void *block = DPL_BLOCK(run, DPL_PIECE(prior, n), DPL_PIECE(shrunk, n));
    if (!block) return DPL_SYSTEM;
    for (size_t h = 0; h < flows->H && !dpl_interrupted(run); h++)
        for (size_t s = 0; s < K; s++)
            for (size_t d = 0; d < K; d++)
                prior[dpl_flow_zones(flows, h, s, d)] += dpl_flow(flows, h, s, d);
    memcpy(shrunk, prior, n * sizeof *prior);
    dpl_shrink_all(zones->value, shrunk, n, zones->sigma, NULL);
    keep_totals(prior, flows->P, Z * Z, shrunk);
    for (size_t i = 0; i < n; i++) made->zone_factor[i] = (float)(shrunk[i] / fmax(prior[i], 1e-9));
    dpl_free(block);
    return dpl_check_interrupt(run);
}

static enum dpl_status make_flows(struct dpl_run *run, const struct dpl_places *places,
                                  struct dpl_flows_made *made) {
    size_t K = places->K, Z = places->Z, H = places->H, P = places->P;
    made->block = DPL_BLOCK(
        run, DPL_PIECE(made->pooled, K * K), DPL_PIECE(made->zone_factor, P * Z * Z),
        DPL_PIECE(made->source_factor, H * K), DPL_PIECE(made->destination_factor, H * K));
    if (!made->block) return DPL_SYSTEM;
    for (size_t i = 0; i < P * Z * Z; i++) made->zone_factor[i] = 1;
    for (size_t i = 0; i < H * K; i++) made->source_factor[i] = made->destination_factor[i] = 1;
    made->flows = (struct dpl_flows){.K = K,
                                     .Z = Z,
                                     .H = H,
                                     .P = P,
                                     .zone = places->zone,
                                     .pooled = made->pooled,
                                     .zone_factor = made->zone_factor,
                                     .source_factor = made->source_factor,
                                     .destination_factor = made->destination_factor};
    return DPL_OK;
}

/* Fitting hours to their ends shifts how far trips go: pooled pairs are scaled so that all hours
 * together keep the pairs' distances. */
static enum dpl_status keep_distances(struct dpl_run *run, const struct dpl_places *places,
                                      const double *pairs, struct dpl_flows_made *made) {
    size_t K = places->K;
    double wanted[BINS] = {0}, got[BINS] = {0};
    for (size_t s = 0; s < K && !dpl_interrupted(run); s++)
        for (size_t d = 0; d < K; d++) {
            size_t bin = dpl_places_distance_bin(places, s, d);
            wanted[bin] += pairs[s * K + d];
            for (size_t h = 0; h < places->H; h++) got[bin] += dpl_flow(&made->flows, h, s, d);
        }
    for (size_t i = 0; i < K * K; i++) {
        size_t bin = places->distance_bin[i];
        made->pooled[i] *= (float)(wanted[bin] / fmax(got[bin], 1e-9));
    }
    return dpl_check_interrupt(run);
}

enum dpl_status dpl_flows_estimate(struct dpl_run *run, const struct dpl_places *places,
                                   const struct dpl_bridge_tables *tables, const double *visits,
                                   const struct dpl_edges *edges, struct dpl_flows_made *made) {
    size_t K = places->K, H = places->H;
    double *sources, *destinations, *hours, *pairs;
    enum dpl_status status;
    void *block = DPL_BLOCK(run, DPL_PIECE(sources, H * K), DPL_PIECE(destinations, H * K),
                            DPL_PIECE(hours, H), DPL_PIECE(pairs, K * K));
    if (!block) return DPL_SYSTEM;
    DPL_GO(make_flows(run, places, made));
    dpl_flows_hours(places, tables, hours);
    DPL_GO(dpl_flows_ends(run, places, &tables->sources, visits, hours, sources));
    DPL_GO(dpl_flows_ends(run, places, &tables->destinations, visits, hours, destinations));
    DPL_GO(estimate_pairs(run, places, tables, sources, destinations, edges, pairs));
    for (size_t i = 0; i < K * K; i++) made->pooled[i] = (float)pairs[i];
    DPL_GO(fit_hours(run, made, sources, destinations));
    DPL_GO(modulate_dayparts(run, &tables->zones, made));
    for (int round = 0; round < DISTANCE_ROUNDS; round++) {
        DPL_GO(fit_hours(run, made, sources, destinations));
        DPL_GO(keep_distances(run, places, pairs, made));
    }
    DPL_GO(fit_hours(run, made, sources, destinations));
done:
    dpl_free(block);
    return status;
}

void dpl_flows_free(struct dpl_flows_made *made) {
    dpl_free(made->block);
    *made = (struct dpl_flows_made){0};
}
