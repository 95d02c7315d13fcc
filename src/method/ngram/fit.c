/* The method `ngram` (Chen, Acs, Castelluccia 2012): noised counts of the grams that exceed the
 * noise, joined into longer ones, taken apart into trips. docs/BASELINES.md says what it does, and
 * where it differs from the published program.
 *
 *     lengths -> L_max     one entry per trip
 *     topk    -> K cells   visits of a trip, clipped
 *     tree    -> grams     L_max walks a trip, through one privacy filter
 *
 * PAPER: L_max and the cells come from noised counts; the published program reads them off the
 * data. */
#include <math.h>
#include <string.h>

#include "fit/choose.h"
#include "fit/rounds.h"
#include "method/method.h"
#include "method/ngram/measure.h"

static enum dpl_status plan(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n) {
    static const struct dpl_asked ASKED[] = {
        {"lengths", 0.01, 0.02, 1, 1}, {"topk", 0.05, 0.25, 4, 10}, {"tree", 0.94, 0.73, 0, 0}};
    if (options->budget.unit != DPL_UNIT_TRIP)
        return dpl_fail(run, DPL_USAGE,
                        "the method ngram protects single trips: it counts all grams of a trip, "
                        "and for all trips of a user the noise would drown them "
                        "(`budget.unit` trip, or `fit.method` bridge)");
    for (*n = 0; *n < sizeof ASKED / sizeof *ASKED; ++*n)
        ask[*n] = dpl_method_ask(options, &ASKED[*n]);
    return DPL_OK;
}

/* Guesses for previews: trips of ten visits; the tree's first histogram. */
static double expect(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units) {
    static const double VISITS = 10;
    (void)options;
    if (!strcmp(name, "lengths")) return units / DPL_LENGTH_BINS;
    return units * VISITS / dpl_grid_cells(grid);
}

/* ---- the model ---- */

static enum dpl_status store(struct dpl_run *run, struct dpl_model *model, const char *name,
                             const int32_t *values, size_t n) {
    int32_t *into;
    DPL_TRY(dpl_model_add(run, model, name, DPL_TENSOR_I32, 1, &n, &into));
    memcpy(into, values, n * sizeof *into);
    return DPL_OK;
}

static enum dpl_status store_trips(struct dpl_run *run, struct dpl_model *model,
                                   const struct dpl_gram_trips *trips) {
    if (trips->n == 0)
        return dpl_fail(run, DPL_BAD_DATA,
                        "no trip of two visits exceeds the noise: Ngram needs more trips, a "
                        "larger `budget.epsilon` or a larger `area.cell_m`");
    if (json_object_set_new(model->options, "ngram_trips", json_integer((json_int_t)trips->n)) !=
            0 ||
        json_object_set_new(model->options, "ngram_visits",
                            json_integer((json_int_t)trips->n_cells)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    DPL_TRY(store(run, model, "ngram.start", trips->start, trips->n + 1));
    DPL_TRY(store(run, model, "ngram.count", trips->count, trips->n));
    DPL_TRY(store(run, model, "ngram.cell", trips->cell, trips->n_cells));
    // PAPER: as many as released counts make, not as many as there were.
    model->trips_estimated = trips->total < (int64_t)1 << 40 ? trips->total : (int64_t)1 << 40;
    return DPL_OK;
}

/* ---- the noised tree, for the model to keep ---- */

/* Nodes come from several threads in any order; a number that is skipped does not exist. */
struct kept_tree {
    struct dpl_run *run;
    const struct dpl_filter *filter;
    size_t bins, n; /* n: nodes */
    double *noised, *scale;
    int32_t *node; /* (n, 2) parent or -1, and the symbol that leads there from it or -1 */
    size_t noised_capacity, scale_capacity, node_capacity;
    enum dpl_status status;
};

static enum dpl_status keep_node(struct kept_tree *kept, const struct dpl_ngram_view *view) {
    size_t v = view->node, need = v + 1 > kept->n ? v + 1 : kept->n;
    DPL_TRY(dpl_grow(kept->run, &kept->noised, &kept->noised_capacity, need * kept->bins,
                     sizeof *kept->noised));
    DPL_TRY(dpl_grow(kept->run, &kept->scale, &kept->scale_capacity, need, sizeof *kept->scale));
    DPL_TRY(dpl_grow(kept->run, &kept->node, &kept->node_capacity, 2 * need, sizeof *kept->node));
    memcpy(kept->noised + v * kept->bins, view->noised, kept->bins * sizeof *kept->noised);
    kept->scale[v] = dpl_filter_scale(kept->filter, view->node);
    kept->node[2 * v] = view->parent == DPL_FILTER_NO_NODE ? -1 : (int32_t)view->parent;
    kept->node[2 * v + 1] = view->symbol;
    kept->n = need;
    return DPL_OK;
}

static void keep_look(void *user, const struct dpl_ngram_view *view) {
    struct kept_tree *kept = user;
#pragma omp critical(dpl_ngram_keep)
    if (kept->status == DPL_OK) kept->status = keep_node(kept, view);
}

/* As "noised.tree" (nodes, cells + 1), with "noised.tree_scale" and "noised.tree_node" beside it.
 */
static enum dpl_status store_tree(struct dpl_run *run, const struct kept_tree *kept,
                                  struct dpl_model *model) {
    double *noised, *scale;
    int32_t *node;
    size_t n = kept->n;
    DPL_TRY(kept->status);
    json_t *about =
        json_pack("{s:s, s:i}", "kind", dpl_filter_laplace(kept->filter) ? "laplace" : "gaussian",
                  "sensitivity", model->length_max);
    DPL_TRY(dpl_model_add_noised(run, model, "tree", 2, (size_t[]){n, kept->bins}, about, &noised));
    DPL_TRY(dpl_model_add(run, model, "noised.tree_scale", DPL_TENSOR_F64, 1, &n, &scale));
    DPL_TRY(
        dpl_model_add(run, model, "noised.tree_node", DPL_TENSOR_I32, 2, (size_t[]){n, 2}, &node));
    memcpy(noised, kept->noised, n * kept->bins * sizeof *noised);
    memcpy(scale, kept->scale, n * sizeof *scale);
    memcpy(node, kept->node, 2 * n * sizeof *node);
    return DPL_OK;
}

/* ---- the fit ---- */

static enum dpl_status explore(struct dpl_run *run, struct dpl_parts *parts,
                               struct dpl_release *release, struct dpl_model *model,
                               struct dpl_grams *grams) {
    struct dpl_filter *filter = NULL;
    struct dpl_rounds_tree tree = {0};
    const size_t length_max = (size_t)model->length_max, A = (size_t)model->n_cells;
    struct kept_tree kept = {.run = run, .bins = A + 1};
    struct dpl_sequences *sequences = dpl_alloc(run, parts->n, sizeof *sequences);
    enum dpl_status status = sequences ? DPL_OK : DPL_SYSTEM;
    // PRIVACY: sensitivity L_max, by which a trip is cut: that many walks.
    for (size_t i = 0; status == DPL_OK && i < parts->n; i++) {
        const struct dpl_reduced *reduced = &parts->part[i].reduced;
        status = dpl_part_open(run, parts, i);
        if (status == DPL_OK)
            status = dpl_sequences_make(run, &reduced->units, reduced->n_trips, A, length_max,
                                        &sequences[i]);
        dpl_part_close(parts, i);
    }
    if (status != DPL_OK) goto done;
    DPL_GO(dpl_release_filter(run, release, "tree", model->length_max, A + 1, &filter));
    if (release->rounds) DPL_GO(dpl_rounds_plant(run, release->rounds, "tree", filter, &tree));
    kept.filter = filter;
    DPL_GO(
        dpl_ngram_explore(run, sequences, parts->n, filter, length_max, grams, keep_look, &kept));
    DPL_GO(store_tree(run, &kept, model));
done:
    dpl_free(kept.noised), dpl_free(kept.scale), dpl_free(kept.node);
    dpl_filter_close(filter);
    dpl_rounds_tree_free(&tree);
    for (size_t i = 0; sequences && i < parts->n; i++) dpl_sequences_free(&sequences[i]);
    dpl_free(sequences);
    return status;
}

static enum dpl_status fit(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model) {
    struct dpl_grams grams = {0};
    struct dpl_gram_trips made = {0};
    enum dpl_status status;
    DPL_GO(dpl_choose_length(run, release, parts, model)); // PAPER: noised, as are the cells
    DPL_GO(dpl_choose_cells(run, release, parts, 0, model));
    dpl_choose_note(run, model, model->length_max);
    DPL_GO(explore(run, parts, release, model, &grams));
    DPL_GO(dpl_grams_extend(run, &grams, (size_t)model->length_max));
    DPL_GO(dpl_grams_synthesise(run, &grams, (size_t)model->length_max, &made));
    DPL_GO(store_trips(run, model, &made));
done:
    dpl_gram_trips_free(&made);
    dpl_grams_free(&grams);
    return status;
}

/* PAPER: the published program takes the longest trip and the set of cells from the data. */
static const char *const RAW[] = {"lengths", "topk", NULL};

const struct dpl_method dpl_method_ngram = {.name = "ngram",
                                            .has_time = false,
                                            .has_laplace = true,
                                            .raw = RAW,
                                            .coverage = 0.95,
                                            .plan = plan,
                                            .expect = expect,
                                            .fit = fit};
