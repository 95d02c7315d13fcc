/* How trips move, from the noised tables of motions, stops and sixteenths of cells; and the weights
 * by which positions are drawn (sample/place.c) so that written trips move that way.
 *
 * The weights are ratios: with all of them 1 positions would be anywhere in their cells, and how
 * that moves is known by drawing. So trips are drawn from the finished model, their positions too,
 * what they do is counted, and each weight is multiplied by a power of wanted over counted, round
 * after round. Drawing needs no more than the model: all of it is post-processing. The key is
 * fixed, blocks of trips are fixed and added up in order: the same bits for any number of threads.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "method/bridge/constants.h"
#include "method/bridge/dwell.h"
#include "method/bridge/walk.h"
#include "sample/decode.h"

enum { BLOCKS = 16 };
static const uint64_t SEED = 1; // of trips that are never written

/* ---- what is wanted ---- */

/* Next to a step that stands still a turn means nothing. */
static bool stands(size_t a, size_t b) { return a == DPL_MOTION_STILL || b == DPL_MOTION_STILL; }

/* The mean of the pairs (S, S) of speeds around (a, b), the nearer and the more alike the more. */
static double mean_around(const double *pairs, size_t S, size_t a, size_t b) {
    double weights = 0, mean = 0;
    for (int da = -1; da <= 1; da++)
        for (int db = -1; db <= 1; db++) {
            size_t x = a + (size_t)da, y = b + (size_t)db;
            if (x >= S || y >= S) continue;
            double w = 1 / (1.0 + abs(da) + abs(db) - (da == db));
            weights += w, mean += w * pairs[x * S + y];
        }
    return mean / weights;
}

/* Pairs of speeds, all turns together: smoothed along both, then drawn to what was measured. */
static void pairs_of(const struct dpl_motion_bins *bins, const double *noisy, double sigma,
                     double *pairs) {
    size_t S = bins->speeds, T = bins->turns;
    double sum[DPL_MOTION_SPEEDS * DPL_MOTION_SPEEDS] = {0},
                                   summed[DPL_MOTION_SPEEDS * DPL_MOTION_SPEEDS];
    for (size_t a = 0; a < S; a++)
        for (size_t b = 0; b < S; b++) {
            bool still = stands(a, b);
            summed[a * S + b] = still ? 1 : (double)T;
            for (size_t t = 0; t < (still ? 1 : T); t++)
                sum[a * S + b] += noisy[(a * S + b) * T + t];
        }
    for (size_t a = 0; a < S; a++)
        for (size_t b = 0; b < S; b++) pairs[a * S + b] = fmax(mean_around(sum, S, a, b), 0.5);
    dpl_shrink_all(sum, pairs, S * S, sigma, summed);
    for (size_t i = 0; i < S * S; i++)
        pairs[i] = dpl_beyond_noise(pairs[i], sigma * sqrt(summed[i]));
}

/* wanted (dpl_motion_size), from the table and the stops. */
static void motions_wanted(const struct dpl_motion_bins *bins, const struct dpl_table *table,
                           const struct dpl_table *stops, double *wanted) {
    size_t S = bins->speeds, T = bins->turns;
    double pairs[DPL_MOTION_SPEEDS * DPL_MOTION_SPEEDS],
        turns[DPL_MOTION_SPEEDS * DPL_MOTION_TURNS] = {0};
    pairs_of(bins, table->value, table->sigma, pairs);
    for (size_t a = 0; a < S; a++)
        for (size_t b = 0; b < S; b++)
            if (!stands(a, b))
                dpl_add_rows(table->value + (a * S + b) * T, 1, T, 1, turns + (a < b ? a : b) * T);
    for (size_t row = 1; row < S; row++) {
        for (size_t t = 0; t < T; t++) turns[row * T + t] = fmax(turns[row * T + t], 0.5);
        dpl_scale_to(turns + row * T, T, 1);
    }
    for (size_t a = 0; a < S; a++)
        for (size_t b = 0; b < S; b++) {
            double *into = wanted + (a * S + b) * T, pair = pairs[a * S + b];
            const double *turn = turns + (a < b ? a : b) * T;
            for (size_t t = 0; t < T; t++)
                into[t] = !stands(a, b) ? pair * turn[t] : t == 0 ? pair : 0;
        }
    dpl_shrink_all(table->value, wanted, S * S * T, table->sigma, NULL);
    for (size_t a = 0; a < S; a++)
        for (size_t b = 0; b < S; b++)
            for (size_t t = 1; stands(a, b) && t < T; t++) wanted[(a * S + b) * T + t] = 0;
    dpl_stops_standing_on(stops, bins, wanted); // the pair that stands still twice
    for (size_t i = S * S * T; i < dpl_motion_size(bins); i++)
        wanted[i] = dpl_beyond_noise(table->value[i], table->sigma);
}

/* Sixteenths of cells, as ratios to their mean. */
static enum dpl_status weigh_sixteenths(struct dpl_run *run, const struct dpl_table *table,
                                        const double *within, size_t K, float *weight) {
    double *value = dpl_alloc(run, K * DPL_FINE, sizeof *value);
    if (!value) return DPL_SYSTEM;
    for (size_t k = 0; k < K; k++) {
        double sum = 0;
        for (size_t j = 0; j < DPL_FINE; j++) sum += table->value[k * DPL_FINE + j];
        for (size_t j = 0; j < DPL_FINE; j++)
            value[k * DPL_FINE + j] = fmax(sum, 1) * fmax(within[k * DPL_FINE + j], WITHIN_LEAST);
    }
    dpl_shrink_all(table->value, value, K * DPL_FINE, table->sigma, NULL);
    for (size_t k = 0; k < K; k++) {
        dpl_scale_to(value + k * DPL_FINE, DPL_FINE, DPL_FINE);
        for (size_t j = 0; j < DPL_FINE; j++)
            weight[k * DPL_FINE + j] = (float)fmax(value[k * DPL_FINE + j], SIXTEENTH_LEAST);
    }
    dpl_free(value);
    return DPL_OK;
}

/* ---- what is drawn ---- */

struct drawing {
    const struct dpl_grid *grid;
    const struct dpl_placer *placer;
    const struct dpl_motion_bins *bins;
    const struct dpl_round *round;
    const struct dpl_secret *secret;
    double full_visits;
    double *count; /* (BLOCKS, dpl_motion_size) */
};

static enum dpl_status draw_block(struct dpl_run *run, const struct drawing *all, size_t block) {
    uint16_t place[DPL_BRIDGE_LENGTH_MOST];
    struct dpl_position position[DPL_BRIDGE_LENGTH_MOST];
    struct dpl_random *random;
    size_t size = dpl_motion_size(all->bins);
    double reach_m = all->grid->area.speed_limit_kmh / 3.6 * all->grid->area.slot_s;
    enum dpl_status status = DPL_OK;
    memset(all->count + block * size, 0, size * sizeof *all->count);
    DPL_TRY(dpl_random_new(run, all->secret, &random));
    for (size_t i = block; i < all->round->n_trips && status == DPL_OK; i += BLOCKS) {
        struct dpl_stream stream;
        size_t n_stays, n = 0;
        const struct dpl_stay *stay = dpl_round_get(all->round, i, &n_stays);
        for (size_t s = 0; s < n_stays; s++)
            for (size_t v = 0; v < stay[s].visits; v++) place[n++] = stay[s].cell;
        dpl_stream_open(&stream, random,
                        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, i, DPL_SYNTHESIS_DECODE});
        dpl_place_trip(all->placer, &stream, place, n, position);
        status = dpl_stream_close(run, &stream);
        dpl_motion_count(all->bins, reach_m, position, n, dpl_visit_weight(all->full_visits, n),
                         all->count + block * size);
    }
    dpl_random_free(random);
    return status;
}

/* What the placed trips of the round do: count (dpl_motion_size), in its first row. */
static enum dpl_status draw_all(struct dpl_run *run, const struct drawing *all) {
    enum dpl_status status[BLOCKS];
    size_t size = dpl_motion_size(all->bins);
    DPL_TRY(dpl_check_interrupt(run));
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(dynamic, 1)
    for (size_t b = 0; b < BLOCKS; b++) status[b] = draw_block(run, all, b);
    for (size_t b = 0; b < BLOCKS; b++) DPL_TRY(status[b]);
    dpl_add_rows(all->count + size, BLOCKS - 1, size, 1, all->count);
    return DPL_OK;
}

/* Motions first to last - 1, by shares of their total. */
static void adjust_weights(size_t first, size_t last, const double *wanted, const double *count,
                           double power, float *weight) {
    double all_wanted = 0, all_count = 0;
    for (size_t i = first; i < last; i++) all_wanted += wanted[i], all_count += count[i];
    for (size_t i = first; i < last && all_wanted > 0; i++) {
        double ratio =
                   (wanted[i] / all_wanted * all_count + MOTION_DAMP) / (count[i] + MOTION_DAMP),
               adjusted = (double)weight[i] * pow(fmin(fmax(ratio, 0.1), 10), power);
        weight[i] = (float)fmin(fmax(adjusted, 1 / MOTION_WEIGHT_MOST), MOTION_WEIGHT_MOST);
    }
}

static void adjust_all(const struct dpl_motion_bins *bins, const double *wanted,
                       const double *count, double power, float *weight) {
    size_t ends = dpl_motion_first(bins, 0), last = dpl_motion_last(bins, 0);
    adjust_weights(0, ends, wanted, count, power, weight);
    adjust_weights(ends, last, wanted, count, power, weight);
    adjust_weights(last, dpl_motion_size(bins), wanted, count, power, weight);
}

/* As many trips as the data has, by its released number: a small set knows too little of motions
 * for more to pay. */
static size_t calibration_trips(const struct dpl_model *model) {
    if (!(model->trips_estimated > MOTION_TRIPS_LEAST)) return MOTION_TRIPS_LEAST;
    return model->trips_estimated < MOTION_TRIPS_MOST ? (size_t)model->trips_estimated
                                                      : MOTION_TRIPS_MOST;
}

/* Large steps lead there in a few rounds, but then to and fro: smaller ones settle. */
static double power_of_round(int round) {
    return round < MOTION_ROUNDS / 2 ? MOTION_POWER : MOTION_POWER * MOTION_SETTLING;
}

/* pace (K): to be found, or NULL. */
static enum dpl_status calibrate(struct dpl_run *run, const struct dpl_places *places,
                                 const struct dpl_model *model, const double *wanted,
                                 const struct dpl_motion *motion, float *weight, float *pace) {
    struct dpl_generator *generator = NULL;
    struct dpl_round *round = NULL;
    struct dpl_place *place = NULL;
    struct dpl_placer *placer = NULL;
    struct dpl_secret secret = {0};
    struct drawing all = {.grid = &model->grid,
                          .bins = &motion->bins,
                          .secret = &secret,
                          .full_visits = places->full_visits};
    size_t n_places, n_trips = calibration_trips(model);
    enum dpl_status status;
    DPL_GO(dpl_secret_from_seed(run, SEED, &secret));
    DPL_GO(dpl_bridge_generator(run, model, &(struct dpl_draw_options){.seed = SEED}, &generator));
    DPL_GO(dpl_round_new(run, n_trips, dpl_run_threads(run), n_trips * DPL_BRIDGE_LENGTH_MOST,
                         &round));
    dpl_round_begin(round, 0, n_trips);
    DPL_GO(generator->draw(run, generator, round));
    if (pace) { // draw again, with stays as long as they are going to be
        DPL_GO(dpl_dwell_fit(run, places, round, pace));
        dpl_round_begin(round, 0, n_trips);
        DPL_GO(generator->draw(run, generator, round));
    }
    DPL_GO(dpl_places_of(run, model, generator, &place, &n_places));
    DPL_GO(dpl_placer_new(run, &model->grid, place, n_places, motion,
                          dpl_written_reach_m(&model->grid.area, 1), &placer));
    all.placer = placer, all.round = round;
    all.count = dpl_alloc(run, BLOCKS * dpl_motion_size(&motion->bins), sizeof *all.count);
    if (!all.count) status = DPL_SYSTEM;
    for (int r = 0; r < MOTION_ROUNDS && status == DPL_OK; r++) {
        DPL_GO(draw_all(run, &all));
        adjust_all(&motion->bins, wanted, all.count, power_of_round(r), weight);
        dpl_placer_weigh(placer);
    }
done:
    dpl_free(all.count);
    dpl_placer_free(placer);
    dpl_free(place);
    dpl_round_free(round);
    if (generator) generator->free(generator);
    dpl_secret_wipe(&secret);
    return status;
}

enum dpl_status dpl_motion_fit(struct dpl_run *run, const struct dpl_places *places,
                               const struct dpl_bridge_tables *tables, bool slow,
                               struct dpl_model *model) {
    struct dpl_motion motion = {.bins = dpl_motion_bins_make(tables->fine_motion)};
    size_t K = (size_t)model->n_cells, size = dpl_motion_size(&motion.bins);
    float *weights, *sixteenths, *pace;
    enum dpl_status status;
    double *wanted = dpl_alloc(run, size, sizeof *wanted);
    if (!wanted) return DPL_SYSTEM;
    motions_wanted(&motion.bins, &tables->motion, &tables->stops, wanted);
    DPL_GO(dpl_model_add(run, model, "bridge.motion", DPL_TENSOR_F32, 1, &size, &weights));
    DPL_GO(dpl_model_add(run, model, "bridge.fine", DPL_TENSOR_F32, 2, (size_t[]){K, DPL_FINE},
                         &sixteenths));
    DPL_GO(dpl_model_add(run, model, "bridge.pace", DPL_TENSOR_F32, 1, &K, &pace));
    for (size_t i = 0; i < size; i++) weights[i] = 1;
    DPL_GO(weigh_sixteenths(run, &tables->fine, tables->within, K, sixteenths));
    motion.weight = weights, motion.fine = sixteenths;
    DPL_GO(calibrate(run, places, model, wanted, &motion, weights, slow ? pace : NULL));
done:
    dpl_free(wanted);
    return status;
}
