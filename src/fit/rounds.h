/* A fit in rounds, as the release sees it: who answers a method's questions.
 *
 *     released before   the noised table of the plan                           worker, driver
 *     of this round     counted, and the method is left there                  worker
 *                       the sum of all parts, noised now                       driver
 *     of the next       noted for the next plan, and the method is left there  driver
 *
 * So a method is one sequence of questions, on one machine and on many. */
#ifndef DPL_FIT_ROUNDS_H
#define DPL_FIT_ROUNDS_H

#include "fit/counts.h"
#include "fit/release.h"

struct dpl_rounds {
    struct dpl_model *released; /* the noised tables so far; the driver adds those of this round */
    struct dpl_sums *sums;      /* worker: where counts go; driver: what is to be noised */
    bool counting;              /* a worker */
    bool ended;                 /* at questions that nothing answers yet */
    size_t n_asks;
    char ask[DPL_COUNTS_TABLES][DPL_EVENT_NAME]; /* driver: these questions */
};

/* ---- for release.c ---- */

/* Whether this is the machine and the round to count the table in. */
bool dpl_rounds_counts(const struct dpl_rounds *rounds, const char *name);
/* Answers a question that was asked (dpl_release_ask). *noised: it was released before. *sum: it is
 * to be noised. Neither: the caller ends the method with dpl_rounds_end after the questions that go
 * with it. *sum may hold what was counted already. */
enum dpl_status dpl_rounds_answer(struct dpl_run *run, struct dpl_rounds *rounds,
                                  const struct dpl_question *question, struct dpl_parts *parts,
                                  struct dpl_exact **sum, struct dpl_noised **noised);
/* Keeps a table that was noised now for the plans to come; `about` is stolen. */
enum dpl_status dpl_rounds_keep(struct dpl_run *run, struct dpl_rounds *rounds,
                                const struct dpl_question *question, json_t *about,
                                const struct dpl_noised *noised);
/* Makes the tree `name` grow in rounds: from the levels that were released, counted or noised as
 * tables are. `tree` must stay where it is while the filter is open; free with
 * dpl_rounds_tree_free. */
struct dpl_rounds_tree {
    struct dpl_run *run;
    struct dpl_rounds *rounds;
    const char *name;
    size_t n_bins, n; /* n: rows */
    double *row;      /* (n, n_bins) noised so far */
    size_t capacity;
    enum dpl_status status; /* of keeping them */
};
enum dpl_status dpl_rounds_plant(struct dpl_run *run, struct dpl_rounds *rounds, const char *name,
                                 struct dpl_filter *filter, struct dpl_rounds_tree *tree);
void dpl_rounds_tree_free(struct dpl_rounds_tree *tree);
/* A status that ends the method. */
enum dpl_status dpl_rounds_end(struct dpl_rounds *rounds);

#endif
