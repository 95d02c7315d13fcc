/* The method `sglt` (after Bindschaedler and Shokri 2016), made differentially private: seeds are
 * counted by what is kept of them, once, and any number of trips is drawn from the noised counts.
 * docs/BASELINES.md says what it does, and what its published notion is worth.
 *
 *     lengths -> L_max, lengths                     1 % of rho (2 % of epsilon)
 *     profile -> clusters of cells                 10 %
 *     moves   -> aggregate mobility                35 %
 *     starts  -> first cells by part of the day    14 %
 *     keys    -> seeds by part, ends and length    40 %
 *
 * PAPER: the published program takes all of this from raw data, tests each trip against the others'
 * and would tell which trip was the seed of which. */
#include <math.h>
#include <string.h>

#include "fit/choose.h"
#include "method/sglt/fit_deniable.h"
#include "method/sglt/measure.h"
#include "method/sglt/sequence.h"

static const struct dpl_asked ASKED[] = {{"lengths", 0.01, 0.02, 1, 1},
                                         {"profile", 0.10, 0.15, 4, DPL_SGLT_SHARES},
                                         {"moves", 0.35, 0.33, 4, 1},
                                         {"starts", 0.14, 0.12, 1, 1},
                                         {"keys", 0.40, 0.38, 1, 1}};

enum { ASKED_KEYS = 4 };
/* Of delta, for keys that one unit alone has. */
static const double THRESHOLD_SHARE = 0.1;

static bool keeps_sequence(const struct dpl_fit_options *options) {
    return !strcmp(options->keep, "sequence");
}

static enum dpl_status check_options(struct dpl_run *run, const struct dpl_fit_options *options) {
    if (!keeps_sequence(options) && strcmp(options->keep, "ends"))
        return dpl_fail(run, DPL_USAGE, "`fit.keep` takes ends or sequence, not '%.40s'",
                        options->keep);
    if (!dpl_method_deniable(options) && strcmp(options->sglt_form, "private"))
        return dpl_fail(run, DPL_USAGE, "`fit.sglt_form` takes private or deniable, not '%.40s'",
                        options->sglt_form);
    if (keeps_sequence(options) && dpl_mechanism_laplace(options))
        return dpl_fail(run, DPL_USAGE,
                        "`fit.keep` sequence has a threshold, which costs a part of delta; a "
                        "release with `fit.mechanism` laplace is pure and has none");
    if (dpl_method_deniable(options) &&
        (keeps_sequence(options) || options->budget.unit == DPL_UNIT_USER))
        return dpl_fail(run, DPL_USAGE,
                        "`fit.sglt_form` deniable takes single trips as seeds: neither "
                        "`budget.unit` user nor `fit.keep` sequence belong to it");
    return DPL_OK;
}

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    DPL_TRY(check_options(run, options));
    dpl_method_ask_all(options, ASKED, sizeof ASKED / sizeof *ASKED, ask, n);
    if (keeps_sequence(options)) {
        ask[ASKED_KEYS].kind = DPL_EVENT_THRESHOLD;
        ask[ASKED_KEYS].chance = THRESHOLD_SHARE * options->budget.delta;
    }
    // PRIVACY: NOT PRIVATE. Seeds stand for the keys, and nothing that they go through is noised.
    if (dpl_method_deniable(options)) --*n;
    for (size_t i = 0; dpl_method_deniable(options) && i < *n; i++) ask[i].bare = true;
    return DPL_OK;
}

/* Guesses for previews: trips of ten visits over a quarter of the cells, eight ways on from each.
 */
static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    static const double VISITS = 10, WAYS = 8;
    double trips = units * (double)options->budget.trips_max,
           cells = fmax(dpl_grid_cells(grid) / 4.0, 2);
    if (!strcmp(name, "lengths")) return trips / DPL_LENGTH_BINS;
    if (!strcmp(name, "trips")) return trips;
    if (!strcmp(name, "keys")) return trips / DPL_SGLT_KEYS;
    if (!strcmp(name, "moves"))
        return trips * (dpl_mechanism_laplace(options) ? 1 : VISITS) / cells / WAYS;
    return trips / cells / DPL_SGLT_PARTS;
}

/* The chances that a trip arrives in each cluster, and the tables. */
static double table_mb(const struct dpl_grid *grid, int threads) {
    static const double LONG = 100, ENTRY = 3 * sizeof(double) + 3 * sizeof(float);
    double cells = dpl_grid_cells(grid);
    (void)threads;
    return cells *
           (DPL_SGLT_CLUSTERS * LONG * sizeof(float) +
            ENTRY * ((double)dpl_sglt_window(grid) + DPL_SGLT_PARTS * DPL_SGLT_SHARES)) *
           1e-6;
}

/* ---- measuring ---- */

/* Whom is asked, and what every question is about. */
struct asking {
    struct dpl_parts *parts;
    struct dpl_release *release;
    const struct dpl_grid *grid;
    struct dpl_sglt_about about;
};

static enum dpl_status measure(struct dpl_run *run, const struct asking *asking, const char *name,
                               enum dpl_sglt_table table, struct dpl_values *values) {
    struct dpl_sglt_about about = asking->about;
    about.table = table;
    const struct dpl_question question = {.name = name,
                                          .shape = dpl_sglt_shape(asking->grid, table),
                                          .count = dpl_sglt_count,
                                          .about = &about};
    return dpl_measure_values(run, asking->release, question, asking->parts, values);
}

static enum dpl_status fit_clusters(struct dpl_run *run, struct asking *asking,
                                    struct dpl_model *model) {
    struct dpl_values profile = {0};
    int32_t *cluster;
    size_t clusters, cells = (size_t)dpl_grid_cells(asking->grid);
    enum dpl_status status;
    DPL_GO(measure(run, asking, "profile", DPL_SGLT_PROFILE, &profile));
    DPL_GO(dpl_model_add(run, model, "sglt.cluster", DPL_TENSOR_I32, 1, &cells, &cluster));
    DPL_GO(
        dpl_sglt_clusters(run, asking->grid, profile.value, profile.deviation, cluster, &clusters));
    asking->about.cluster = cluster;
    dpl_note(run, "%zu clusters of cells stand out of the noise", clusters);
    if (json_object_set_new(model->options, "sglt_clusters", json_integer((json_int_t)clusters)) !=
        0)
        status = dpl_fail(run, DPL_SYSTEM, "out of memory");
done:
    dpl_free(profile.value);
    return status;
}

static enum dpl_status fit_moves(struct dpl_run *run, const struct asking *asking,
                                 struct dpl_model *model) {
    struct dpl_values moves = {0};
    float *chance;
    enum dpl_status status;
    DPL_GO(measure(run, asking, "moves", DPL_SGLT_MOVES, &moves));
    DPL_GO(dpl_model_add(run, model, "sglt.moves", DPL_TENSOR_F32, 2,
                         dpl_sglt_shape(asking->grid, DPL_SGLT_MOVES).size, &chance));
    for (size_t i = 0, window = dpl_sglt_window(asking->grid); i < moves.n; i += window)
        dpl_fit_counts(moves.value + i, window);
    dpl_sglt_moves(asking->grid, moves.value, chance);
done:
    dpl_free(moves.value);
    return status;
}

/* A table of counts as chances that sum to 1. */
static enum dpl_status fit_counts(struct dpl_run *run, const struct asking *asking,
                                  const char *name, enum dpl_sglt_table table, const char *tensor,
                                  int rank, const size_t *shape, struct dpl_model *model) {
    struct dpl_values counts = {0};
    float *chance;
    enum dpl_status status;
    DPL_GO(measure(run, asking, name, table, &counts));
    DPL_GO(dpl_model_add(run, model, tensor, DPL_TENSOR_F32, rank, shape, &chance));
    if (!dpl_counts_to_chances(counts.value, counts.n, chance))
        status = dpl_fail(run, DPL_BAD_DATA,
                          "no '%s' exceed the noise; ask for a larger `budget.epsilon`, and see "
                          "that the box is where the trips are",
                          name);
done:
    dpl_free(counts.value);
    return status;
}

/* Sequences that enough trips have, and their chances. */
static enum dpl_status store_sequences(struct dpl_run *run, const struct dpl_keys *keys,
                                       struct dpl_model *model) {
    int32_t *row;
    float *chance;
    double sum = 0;
    DPL_TRY(dpl_model_add(run, model, "sglt.sequences", DPL_TENSOR_I32, 2,
                          (size_t[]){keys->n, DPL_SGLT_ROW}, &row));
    DPL_TRY(
        dpl_model_add(run, model, "sglt.sequence_chances", DPL_TENSOR_F32, 1, &keys->n, &chance));
    for (size_t i = 0; i < keys->n; i++) sum += keys->count[i];
    for (size_t i = 0; i < keys->n; i++) {
        const struct dpl_sglt_sequence sequence = dpl_sglt_sequence_of(keys->key[i]);
        memcpy(row + i * DPL_SGLT_ROW, &sequence, sizeof sequence);
        chance[i] = (float)(keys->count[i] / sum);
    }
    dpl_note(run,
             "%zu sequences have more than %.1f noised trips; they stand for about %.0f %% of all "
             "trips, and the others are not represented",
             keys->n, keys->threshold, fmin(100 * sum / (double)model->trips_estimated, 100));
    if (json_object_set_new(model->options, "sglt_sequences", json_integer((json_int_t)keys->n)) !=
        0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    return DPL_OK;
}

static enum dpl_status fit_sequences(struct dpl_run *run, const struct asking *asking,
                                     struct dpl_model *model) {
    struct dpl_keys keys = {0};
    DPL_TRY(dpl_release_keys(run, asking->release, "keys", dpl_sglt_put_sequence, &asking->about,
                             asking->parts, &keys));
    enum dpl_status status =
        keys.n > 0 ? store_sequences(run, &keys, model)
                   : dpl_fail(run, DPL_BAD_DATA,
                              "no sequence has more than %.1f noised trips; ask for a larger "
                              "`budget.epsilon`, larger cells (`area.cell_m`), or `fit.keep` ends",
                              keys.threshold);
    dpl_keys_free(&keys);
    return status;
}

/* Chances of lengths: those of a bin are alike. */
static enum dpl_status store_lengths(struct dpl_run *run, const double *counts,
                                     struct dpl_model *model) {
    size_t n = (size_t)model->length_max + 1;
    double sum = 0;
    float *chance;
    DPL_TRY(dpl_model_add(run, model, "sglt.lengths", DPL_TENSOR_F32, 1, &n, &chance));
    for (size_t l = 2; l < n; l++) {
        size_t bin = dpl_length_bin(l);
        int32_t first = bin > 0 ? dpl_length_bin_top(bin - 1) : 1;
        sum += counts[bin] / (dpl_length_bin_top(bin) - first);
        chance[l] = (float)(counts[bin] / (dpl_length_bin_top(bin) - first));
    }
    for (size_t l = 2; l < n && sum > 0; l++) chance[l] /= (float)sum;
    return DPL_OK;
}

static enum dpl_status fit_tables(struct dpl_run *run, struct asking *asking,
                                  struct dpl_model *model) {
    const struct dpl_fit_options *options = asking->release->options;
    DPL_TRY(fit_clusters(run, asking, model));
    DPL_TRY(fit_moves(run, asking, model));
    DPL_TRY(fit_counts(run, asking, "starts", DPL_SGLT_STARTS, "sglt.starts", 2,
                       dpl_sglt_shape(asking->grid, DPL_SGLT_STARTS).size, model));
    if (dpl_method_deniable(options))
        return dpl_sglt_fit_deniable(run, asking->parts, &asking->release->secret, model);
    if (keeps_sequence(options)) return fit_sequences(run, asking, model);
    return fit_counts(run, asking, "keys", DPL_SGLT_KEY_COUNTS, "sglt.keys", 1,
                      (size_t[]){DPL_SGLT_KEYS}, model);
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    double lengths[DPL_LENGTH_BINS];
    struct dpl_zone *zone;
    DPL_TRY(dpl_choose_trips(run, release, parts, model));
    DPL_TRY(dpl_choose_lengths(run, release, parts, model, lengths));
    DPL_TRY(dpl_choose_all_cells(run, model));
    DPL_TRY(dpl_generator_check_cells(run, model));
    DPL_TRY(store_lengths(run, lengths, model));
    DPL_TRY(dpl_zone_open(run, model->grid.area.zone, &zone));
    struct asking asking = {.parts = parts,
                            .release = release,
                            .grid = &model->grid,
                            .about = {.length_max = model->length_max,
                                      .shares = dpl_mechanism_laplace(release->options),
                                      .zone = zone}};
    enum dpl_status status = fit_tables(run, &asking, model);
    dpl_zone_free(zone);
    return status;
}

const struct dpl_method dpl_method_sglt = {.name = "sglt",
                                           .has_time = false,
                                           .has_laplace = true,
                                           .has_forms = true,
                                           .coverage = 1,
                                           .table_mb = table_mb,
                                           .plan = plan,
                                           .expect = expect,
                                           .fit = fit};
