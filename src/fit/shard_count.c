/* What a round asks of one shard. See shard.h. */
#include <string.h>

#include "fit/fit.h"
#include "fit/rounds.h"
#include "fit/shard.h"

/* The method, up to the questions of this round. */
static enum dpl_status ask_method(struct dpl_run *run, const struct dpl_task *task,
                                  struct dpl_parts *parts, struct dpl_sums *counts) {
    struct dpl_rounds rounds = {.released = task->released, .sums = counts, .counting = true};
    struct dpl_release release = {.rounds = &rounds};
    struct dpl_fit_options options;
    struct dpl_fit *fit = NULL;
    enum dpl_status status;
    DPL_GO(dpl_fit_settle(run, &task->set.fit, &options));
    DPL_GO(dpl_fit_begin(run, NULL, &task->set.area, &options, &fit));
    release.options = &fit->options;
    DPL_GO(dpl_plan_from_json(run, "the plan", task->budget, &options.budget, fit->ask, fit->n_ask,
                              &release.plan));
    status = fit->method->fit(run, parts, &release, fit->model);
    if (status == DPL_INTERRUPTED && rounds.ended) status = DPL_OK;
done:
    dpl_plan_free(release.plan);
    dpl_fit_free(fit);
    return status;
}

enum dpl_status dpl_shard_count(struct dpl_run *run, const struct dpl_task *task,
                                struct dpl_shard *shard, struct dpl_sums **made) {
    const struct dpl_budget *budget = &task->set.fit.budget;
    struct dpl_parts parts = {0};
    struct dpl_sums *counts = NULL;
    enum dpl_status status;
    DPL_GO(dpl_parts_make(run, shard->trips, budget->unit, budget->trips_max, 1, &parts));
    shard->facts.units = parts.n_units;
    shard->facts.trips_dropped[DPL_DROP_NO_USER] = (int64_t)parts.n_no_user;
    DPL_GO(dpl_sums_of_shard(run, task->digest, task->number, shard->index, shard->shards,
                             &shard->facts, &counts));
    if (task->budget) DPL_GO(ask_method(run, task, &parts, counts));
    *made = counts;
    counts = NULL;
done:
    dpl_sums_free(counts);
    dpl_parts_free(&parts);
    return status;
}
