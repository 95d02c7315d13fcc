/* See rounds.h. */
#include "fit/rounds.h"

#include <string.h>

static bool is_released(const struct dpl_rounds *rounds, const char *name) {
    return json_object_get(rounds->released->noised, name) != NULL;
}

static enum dpl_status take_released(struct dpl_run *run, const struct dpl_rounds *rounds,
                                     const struct dpl_question *question,
                                     struct dpl_noised **noised) {
    const struct dpl_shape *shape = &question->shape;
    json_t *about = json_object_get(rounds->released->noised, question->name);
    const char *kind = json_string_value(json_object_get(about, "kind"));
    char full[DPL_MODEL_NAME];
    const double *values;
    snprintf(full, sizeof full, "noised.%s", question->name);
    DPL_TRY(dpl_model_get(run, rounds->released, full, DPL_TENSOR_F64, shape->rank, shape->size,
                          &values));
    return dpl_noised_again(run, values, dpl_shape_size(*shape), DPL_COUNT_PLACES,
                            json_number_value(json_object_get(about, "deviation")),
                            kind && !strcmp(kind, "laplace"), noised);
}

/* PRIVACY: what was counted is what is asked now, to the sensitivity. */
static enum dpl_status check_sum(struct dpl_run *run, const char *name,
                                 const struct dpl_exact_options *asked,
                                 const struct dpl_exact *sum) {
    if (dpl_exact_options_same(asked, dpl_exact_about(sum))) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED, "the sums of '%s' are not what the plan asks for", name);
}

static enum dpl_status note_question(struct dpl_run *run, struct dpl_rounds *rounds,
                                     const char *name) {
    if (rounds->n_asks == DPL_COUNTS_TABLES)
        return dpl_fail(run, DPL_USAGE, "a round asks for at most %d tables", DPL_COUNTS_TABLES);
    snprintf(rounds->ask[rounds->n_asks++], DPL_EVENT_NAME, "%s", name);
    return DPL_OK;
}

bool dpl_rounds_counts(const struct dpl_rounds *rounds, const char *name) {
    return rounds->counting && !is_released(rounds, name);
}

enum dpl_status dpl_rounds_answer(struct dpl_run *run, struct dpl_rounds *rounds,
                                  const struct dpl_question *question, struct dpl_parts *parts,
                                  struct dpl_exact **sum, struct dpl_noised **noised) {
    if (is_released(rounds, question->name)) return take_released(run, rounds, question, noised);
    if (rounds->counting) {
        if (!*sum) DPL_TRY(dpl_count_all(run, question, 1, parts, sum));
        return dpl_sums_put(run, rounds->sums, question->name, sum);
    }
    const struct dpl_exact_options asked = dpl_question_vector(question);
    *sum = dpl_sums_take(rounds->sums, question->name);
    return *sum ? check_sum(run, question->name, &asked, *sum)
                : note_question(run, rounds, question->name);
}

enum dpl_status dpl_rounds_keep(struct dpl_run *run, struct dpl_rounds *rounds,
                                const struct dpl_question *question, json_t *about,
                                const struct dpl_noised *noised) {
    double *values;
    if (is_released(rounds, question->name)) {
        json_decref(about);
        return DPL_OK;
    }
    DPL_TRY(dpl_model_add_noised(run, rounds->released, question->name, question->shape.rank,
                                 question->shape.size, about, &values));
    for (size_t i = 0; i < dpl_noised_count(noised); i++) values[i] = dpl_noised_value(noised, i);
    return DPL_OK;
}

enum dpl_status dpl_rounds_end(struct dpl_rounds *rounds) {
    rounds->ended = true;
    return DPL_INTERRUPTED; // as if the user had stopped the fit: it frees what it holds
}

/* ---- trees ---- */

static const struct dpl_tensor *rows_of(const struct dpl_rounds *rounds, const char *name) {
    char full[DPL_MODEL_NAME];
    snprintf(full, sizeof full, "noised.%s", name);
    for (size_t i = 0; i < rounds->released->n_tensors; i++)
        if (!strcmp(rounds->released->tensor[i].name, full)) return &rounds->released->tensor[i];
    return NULL;
}

/* Worker: what was counted of a level. */
static enum dpl_status give_level(void *context, struct dpl_exact **counts) {
    struct dpl_rounds_tree *tree = context;
    DPL_TRY(dpl_sums_put(tree->run, tree->rounds->sums, tree->name, counts));
    return dpl_rounds_end(tree->rounds);
}

/* All rows so far, in place of those of the rounds before. */
static enum dpl_status store_rows(struct dpl_rounds_tree *tree) {
    double *values;
    const size_t shape[] = {tree->n, tree->n_bins};
    DPL_TRY(tree->status);
    dpl_model_drop_noised(tree->rounds->released, tree->name);
    if (tree->n == 0) return DPL_OK;
    DPL_TRY(dpl_model_add_noised(tree->run, tree->rounds->released, tree->name, 2, shape,
                                 json_object(), &values));
    memcpy(values, tree->row, tree->n * tree->n_bins * sizeof *values);
    return DPL_OK;
}

/* Driver: the sum of a level; or the tree ends here, and the next round counts it. */
static enum dpl_status take_level(void *context, const struct dpl_exact_options *about,
                                  struct dpl_exact **sum) {
    struct dpl_rounds_tree *tree = context;
    *sum = dpl_sums_take(tree->rounds->sums, tree->name);
    if (!*sum) {
        DPL_TRY(store_rows(tree));
        DPL_TRY(note_question(tree->run, tree->rounds, tree->name));
        return dpl_rounds_end(tree->rounds);
    }
    return check_sum(tree->run, tree->name, about, *sum);
}

static void keep_row(void *context, uint32_t node, const double *noised) {
    struct dpl_rounds_tree *tree = context;
#pragma omp critical(dpl_rounds_keep)
    {
        size_t need = (size_t)node + 1 > tree->n ? (size_t)node + 1 : tree->n;
        if (tree->status == DPL_OK)
            tree->status = dpl_grow(tree->run, &tree->row, &tree->capacity, need * tree->n_bins,
                                    sizeof *tree->row);
        if (tree->status == DPL_OK) {
            memcpy(tree->row + (size_t)node * tree->n_bins, noised, tree->n_bins * sizeof *noised);
            tree->n = need;
        }
    }
}

enum dpl_status dpl_rounds_plant(struct dpl_run *run, struct dpl_rounds *rounds, const char *name,
                                 struct dpl_filter *filter, struct dpl_rounds_tree *tree) {
    const size_t n_bins = dpl_filter_bins(filter);
    const struct dpl_tensor *known = rows_of(rounds, name);
    if (known && (known->rank != 2 || known->shape[1] != n_bins))
        return dpl_fail(run, DPL_BAD_DATA, "the plan's table '%s' has another shape", name);
    *tree = (struct dpl_rounds_tree){.run = run, .rounds = rounds, .name = name, .n_bins = n_bins};
    dpl_filter_attach(filter,
                      (struct dpl_filter_source){.context = tree,
                                                 .known = known ? known->data : NULL,
                                                 .n_known = known ? known->shape[0] : 0,
                                                 .counts = rounds->counting,
                                                 .give = give_level,
                                                 .take = rounds->counting ? NULL : take_level,
                                                 .keep = rounds->counting ? NULL : keep_row});
    return DPL_OK;
}

void dpl_rounds_tree_free(struct dpl_rounds_tree *tree) {
    dpl_free(tree->row);
    *tree = (struct dpl_rounds_tree){0};
}
