/* Trips by hour, source and destination.
 *
 *     ends by hour        visits -> zones -> cells -> zones by hour -> cells by hour, each level the prior of the next
 *     pairs, pooled       gravity (ends, and a curve of distance) -> zone pairs -> cell and zone -> cell pairs
 *     pairs by hour       pooled pairs, bent by factors of zone pairs by part of the day, fitted to the ends of the hour
 *
 * The result is kept as factors, since hours * K^2 numbers are too many for a large K. Time: hours * K^2 per round of
 * proportional fitting. */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"

enum { CURVE = 60, GRAVITY_ROUNDS = 30, HOUR_ROUNDS = 20 };
static const double CURVE_M = 500, FACTOR_MOST = 1e6;

/* ---- ends ---- */

void dpl_flows_hours(const struct dpl_places *places, const struct dpl_bridge_tables *tables, double *hours) {
    for (size_t h = 0; h < places->H; h++) {
        hours[h] = 0;
        for (size_t k = 0; k < places->K; k++) hours[h] += (tables->sources.value[h * places->K + k] + tables->destinations.value[h * places->K + k]) / 2;
        hours[h] = fmax(hours[h], 1);
    }
    dpl_scale_to(hours, places->H, tables->trips);
}

/* Bends values (n, K) so that their sums by zone (n, Z) are blends with the noisy ones. */
static enum dpl_status blend_zones(struct dpl_run *run, const struct dpl_places *places, const double *noisy, size_t n, double sigma, double *values) {
    size_t K = places->K, Z = places->Z;
    double *measured = dpl_alloc(run, n * Z, sizeof *measured), *prior = dpl_alloc(run, n * Z, sizeof *prior), *summed = dpl_alloc(run, n * Z, sizeof *summed);
    double *blended = dpl_alloc(run, n * Z, sizeof *blended);
    enum dpl_status status = measured && prior && summed && blended ? DPL_OK : DPL_SYSTEM;
    for (size_t i = 0; status == DPL_OK && i < n * K; i++) {
        size_t z = i / K * Z + (size_t)places->zone[i % K];
        measured[z] += noisy[i], prior[z] += values[i], summed[z]++;
    }
    if (status == DPL_OK) {
        memcpy(blended, prior, n * Z * sizeof *prior);
        dpl_blend_all(measured, blended, n * Z, sigma, summed);
        for (size_t i = 0; i < n * K; i++) {
            size_t z = i / K * Z + (size_t)places->zone[i % K];
            values[i] *= blended[z] / fmax(prior[z], 1e-9);
        }
    }
    dpl_free(blended), dpl_free(summed), dpl_free(prior), dpl_free(measured);
    return status;
}

enum dpl_status dpl_flows_ends(struct dpl_run *run, const struct dpl_places *places, const struct dpl_table *table, const double *visits, const double *hours,
                               double *out) {
    size_t K = places->K, H = places->H;
    double trips = 0, *pooled = dpl_alloc(run, K, sizeof *pooled), *noisy = dpl_alloc(run, K, sizeof *noisy);
    enum dpl_status status = pooled && noisy ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    for (size_t h = 0; h < H; h++) trips += hours[h];
    for (size_t i = 0; i < H * K; i++) noisy[i % K] += table->value[i];
    memcpy(pooled, visits, K * sizeof *pooled);
    dpl_scale_to(pooled, K, trips);
    DPL_GO(blend_zones(run, places, noisy, 1, table->sigma * sqrt((double)H), pooled));
    dpl_blend_all(noisy, pooled, K, table->sigma * sqrt((double)H), NULL);
    dpl_scale_to(pooled, K, trips);
    for (size_t i = 0; i < H * K; i++) out[i] = hours[i / K] * pooled[i % K] / trips;
    DPL_GO(blend_zones(run, places, table->value, H, table->sigma, out));
    dpl_blend_all(table->value, out, H * K, table->sigma, NULL);
    for (size_t h = 0; h < H; h++) dpl_scale_to(out + h * K, K, hours[h]);
done:
    dpl_free(noisy);
    dpl_free(pooled);
    return status;
}

/* ---- pooled pairs ---- */

static size_t curve_bin(const struct dpl_places *places, size_t s, size_t d) {
    double bin = dpl_places_distance_m(places, s, d) / CURVE_M;
    return bin < CURVE - 1 ? (size_t)bin : CURVE - 1;
}

static void fit_rows(double *pairs, size_t K, const double *sources) {
    for (size_t s = 0; s < K; s++) dpl_scale_to(pairs + s * K, K, sources[s]);
}

/* room (K). */
static void fit_columns(double *pairs, size_t K, const double *destinations, double *room) {
    memset(room, 0, K * sizeof *room);
    for (size_t i = 0; i < K * K; i++) room[i % K] += pairs[i];
    for (size_t d = 0; d < K; d++) room[d] = room[d] > 0 ? destinations[d] / room[d] : 0;
    for (size_t i = 0; i < K * K; i++) pairs[i] *= room[i % K];
}

/* Ends times a free curve of distance, fitted to the ends and to how many trips go how far. bin (K, K), room (K). */
static void gravity(const struct dpl_places *places, const struct dpl_table *measured, const double *sources, const double *destinations, double trips,
                    uint8_t *bin, double *room, double *pairs) {
    size_t K = places->K;
    double target[CURVE] = {0}, sum[CURVE];
    for (size_t i = 0; i < K * K; i++) {
        bin[i] = (uint8_t)curve_bin(places, i / K, i % K);
        target[bin[i]] += measured->value[i];
        pairs[i] = sources[i / K] * destinations[i % K] / trips;
    }
    for (size_t f = 0; f < CURVE; f++) target[f] = fmax(target[f], 0.5);
    dpl_scale_to(target, CURVE, trips);
    for (int round = 0; round < GRAVITY_ROUNDS; round++) {
        memset(sum, 0, sizeof sum);
        for (size_t i = 0; i < K * K; i++) sum[bin[i]] += pairs[i];
        for (size_t f = 0; f < CURVE; f++) sum[f] = target[f] / fmax(sum[f], 1e-9);
        for (size_t i = 0; i < K * K; i++) pairs[i] *= sum[bin[i]];
        fit_rows(pairs, K, sources);
        fit_columns(pairs, K, destinations, room);
    }
}

/* Zone pairs over all parts of the day. */
static enum dpl_status blend_zone_pairs(struct dpl_run *run, const struct dpl_places *places, const struct dpl_table *zones, double *pairs) {
    size_t K = places->K, Z = places->Z, P = places->P;
    double *noisy = dpl_alloc(run, Z * Z, sizeof *noisy), *prior = dpl_alloc(run, Z * Z, sizeof *prior), *blended = dpl_alloc(run, Z * Z, sizeof *blended);
    enum dpl_status status = noisy && prior && blended ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    for (size_t i = 0; i < P * Z * Z; i++) noisy[i % (Z * Z)] += zones->value[i];
    for (size_t i = 0; i < K * K; i++) prior[(size_t)places->zone[i / K] * Z + (size_t)places->zone[i % K]] += pairs[i];
    memcpy(blended, prior, Z * Z * sizeof *prior);
    dpl_blend_all(noisy, blended, Z * Z, zones->sigma * sqrt((double)P), NULL);
    for (size_t i = 0; i < K * K; i++) {
        size_t z = (size_t)places->zone[i / K] * Z + (size_t)places->zone[i % K];
        pairs[i] *= blended[z] / fmax(prior[z], 1e-9);
    }
done:
    dpl_free(blended), dpl_free(prior), dpl_free(noisy);
    return status;
}

/* A cell with all cells of a zone, as sources (by_source) or as destinations. */
static enum dpl_status blend_cell_zones(struct dpl_run *run, const struct dpl_places *places, const struct dpl_table *measured, bool by_source, double *pairs) {
    size_t K = places->K, Z = places->Z;
    double *noisy = dpl_alloc(run, K * Z, sizeof *noisy), *prior = dpl_alloc(run, K * Z, sizeof *prior), *blended = dpl_alloc(run, K * Z, sizeof *blended);
    double *summed = dpl_alloc(run, K * Z, sizeof *summed);
    enum dpl_status status = noisy && prior && blended && summed ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    for (size_t i = 0; i < K * K; i++) {
        size_t cell = by_source ? i / K : i % K, at = cell * Z + (size_t)places->zone[by_source ? i % K : i / K];
        noisy[at] += measured->value[i], prior[at] += pairs[i], summed[at]++;
    }
    memcpy(blended, prior, K * Z * sizeof *prior);
    dpl_blend_all(noisy, blended, K * Z, measured->sigma, summed);
    for (size_t i = 0; i < K * K; i++) {
        size_t cell = by_source ? i / K : i % K, at = cell * Z + (size_t)places->zone[by_source ? i % K : i / K];
        pairs[i] *= blended[at] / fmax(prior[at], 1e-9);
    }
done:
    dpl_free(summed), dpl_free(blended), dpl_free(prior), dpl_free(noisy);
    return status;
}

/* No trip where no walk can lead. */
static enum dpl_status drop_unreachable(struct dpl_run *run, const struct dpl_edges *edges, size_t K, size_t length_max, double *pairs) {
    struct dpl_reverse back = {0};
    uint16_t *hops = dpl_alloc(run, K, sizeof *hops);
    int32_t *queue = dpl_alloc(run, K, sizeof *queue);
    enum dpl_status status = hops && queue ? dpl_edges_reverse(run, K, edges->start, edges->to, edges->n, &back) : DPL_SYSTEM;
    for (size_t d = 0; status == DPL_OK && d < K; d++) {
        dpl_edges_hops(&back, K, d, hops, queue);
        for (size_t s = 0; s < K; s++)
            if (hops[s] > length_max - 1) pairs[s * K + d] = 0;
    }
    dpl_reverse_free(&back);
    dpl_free(queue);
    dpl_free(hops);
    return status;
}

static enum dpl_status estimate_pairs(struct dpl_run *run, const struct dpl_places *places, const struct dpl_bridge_tables *tables, const double *sources,
                                      const double *destinations, const struct dpl_edges *edges, double *pairs) {
    size_t K = places->K, H = places->H;
    double *ends = dpl_alloc(run, 3 * K, sizeof *ends);
    uint8_t *bin = dpl_alloc(run, K * K, sizeof *bin);
    enum dpl_status status = ends && bin ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    for (size_t i = 0; i < H * K; i++) ends[i % K] += sources[i], ends[K + i % K] += destinations[i];
    gravity(places, &tables->pairs, ends, ends + K, tables->trips, bin, ends + 2 * K, pairs);
    DPL_GO(blend_zone_pairs(run, places, &tables->zones, pairs));
    DPL_GO(blend_cell_zones(run, places, &tables->pairs, true, pairs));
    DPL_GO(blend_cell_zones(run, places, &tables->pairs, false, pairs));
    dpl_blend_all(tables->pairs.value, pairs, K * K, tables->pairs.sigma, NULL);
    DPL_GO(drop_unreachable(run, edges, K, tables->length_max, pairs));
    dpl_scale_to(pairs, K * K, tables->trips);
done:
    dpl_free(bin);
    dpl_free(ends);
    return status;
}

/* ---- pairs by hour ---- */

/* One row or column of factors so that the hour's trips add up to `ends`; the others stay. */
static void fit_hour_side(const struct dpl_flows_made *made, size_t hour, const double *ends, bool sources, double *sum) {
    const struct dpl_flows *flows = &made->flows;
    size_t K = flows->K, Z = flows->Z;
    const float *zone_factor = flows->zone_factor + hour * flows->P / flows->H * Z * Z;
    float *into = (sources ? made->source_factor : made->destination_factor) + hour * K;
    const float *other = (sources ? flows->destination_factor : flows->source_factor) + hour * K;
    memset(sum, 0, K * sizeof *sum);
    for (size_t s = 0; s < K; s++) {
        const float *pooled = flows->pooled + s * K, *factor = zone_factor + (size_t)flows->zone[s] * Z;
        for (size_t d = 0; d < K; d++) {
            double bent = (double)(pooled[d] * factor[flows->zone[d]]);
            if (sources) sum[s] += bent * (double)other[d];
            else sum[d] += bent * (double)other[s];
        }
    }
    // Where few pairs are left, ends can be out of reach of any factors: these then grow round by round, up to here.
    for (size_t k = 0; k < K; k++) into[k] = sum[k] > 0 ? (float)fmin(ends[k] / sum[k], FACTOR_MOST) : 0;
}

static enum dpl_status fit_hours(struct dpl_run *run, const struct dpl_flows_made *made, const double *sources, const double *destinations) {
    const struct dpl_flows *flows = &made->flows;
    size_t K = flows->K;
    double *sum = dpl_alloc(run, flows->H * K, sizeof *sum);
    if (!sum) return DPL_SYSTEM;
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(dynamic, 1)
    for (size_t h = 0; h < flows->H; h++)
        for (int round = 0; round < HOUR_ROUNDS; round++) {
            fit_hour_side(made, h, sources + h * K, true, sum + h * K);
            fit_hour_side(made, h, destinations + h * K, false, sum + h * K);
        }
    dpl_free(sum);
    return DPL_OK;
}

/* What the table of zone pairs by part says beyond ends and pooled pairs. */
static enum dpl_status bend_parts(struct dpl_run *run, const struct dpl_table *zones, struct dpl_flows_made *made) {
    const struct dpl_flows *flows = &made->flows;
    size_t K = flows->K, Z = flows->Z, n = flows->P * Z * Z;
    double *prior = dpl_alloc(run, n, sizeof *prior), *blended = dpl_alloc(run, n, sizeof *blended);
    enum dpl_status status = prior && blended ? DPL_OK : DPL_SYSTEM;
    for (size_t h = 0; status == DPL_OK && h < flows->H; h++)
        for (size_t i = 0; i < K * K; i++) {
            size_t pair = (h * flows->P / flows->H * Z + (size_t)flows->zone[i / K]) * Z + (size_t)flows->zone[i % K];
            prior[pair] += dpl_flow(flows, h, i / K, i % K);
        }
    if (status == DPL_OK) {
        memcpy(blended, prior, n * sizeof *prior);
        dpl_blend_all(zones->value, blended, n, zones->sigma, NULL);
        for (size_t i = 0; i < n; i++) made->zone_factor[i] = (float)(blended[i] / fmax(prior[i], 1e-9));
    }
    dpl_free(blended);
    dpl_free(prior);
    return status;
}

static enum dpl_status make_flows(struct dpl_run *run, const struct dpl_places *places, struct dpl_flows_made *made) {
    size_t K = places->K, Z = places->Z, H = places->H, P = places->P;
    made->pooled = dpl_alloc(run, K * K, sizeof *made->pooled);
    made->zone_factor = dpl_alloc(run, P * Z * Z, sizeof *made->zone_factor);
    made->source_factor = dpl_alloc(run, H * K, sizeof *made->source_factor);
    made->destination_factor = dpl_alloc(run, H * K, sizeof *made->destination_factor);
    if (!made->pooled || !made->zone_factor || !made->source_factor || !made->destination_factor) return DPL_SYSTEM;
    for (size_t i = 0; i < P * Z * Z; i++) made->zone_factor[i] = 1;
    for (size_t i = 0; i < H * K; i++) made->source_factor[i] = made->destination_factor[i] = 1;
    made->flows = (struct dpl_flows){.K = K, .Z = Z, .H = H, .P = P, .zone = places->zone, .pooled = made->pooled, .zone_factor = made->zone_factor,
                                     .source_factor = made->source_factor, .destination_factor = made->destination_factor};
    return DPL_OK;
}

enum dpl_status dpl_flows_estimate(struct dpl_run *run, const struct dpl_places *places, const struct dpl_bridge_tables *tables, const double *visits,
                                   const struct dpl_edges *edges, struct dpl_flows_made *made) {
    size_t K = places->K, H = places->H;
    double *sources = dpl_alloc(run, H * K, sizeof *sources), *destinations = dpl_alloc(run, H * K, sizeof *destinations);
    double *hours = dpl_alloc(run, H, sizeof *hours), *pairs = dpl_alloc(run, K * K, sizeof *pairs);
    enum dpl_status status = sources && destinations && hours && pairs ? make_flows(run, places, made) : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    dpl_flows_hours(places, tables, hours);
    DPL_GO(dpl_flows_ends(run, places, &tables->sources, visits, hours, sources));
    DPL_GO(dpl_flows_ends(run, places, &tables->destinations, visits, hours, destinations));
    DPL_GO(estimate_pairs(run, places, tables, sources, destinations, edges, pairs));
    for (size_t i = 0; i < K * K; i++) made->pooled[i] = (float)pairs[i];
    DPL_GO(fit_hours(run, made, sources, destinations));
    DPL_GO(bend_parts(run, &tables->zones, made));
    DPL_GO(fit_hours(run, made, sources, destinations));
done:
    dpl_free(pairs), dpl_free(hours), dpl_free(destinations), dpl_free(sources);
    return status;
}

void dpl_flows_free(struct dpl_flows_made *made) {
    dpl_free(made->pooled), dpl_free(made->zone_factor), dpl_free(made->source_factor), dpl_free(made->destination_factor);
    *made = (struct dpl_flows_made){0};
}
