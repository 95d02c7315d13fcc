#include "sample/groups.h"

#include <omp.h>
#include <string.h>

enum dpl_status dpl_groups_new(struct dpl_run *run, size_t n_groups, struct dpl_groups *groups) {
    *groups = (struct dpl_groups){.n_groups = n_groups,
                                  .begin = dpl_alloc(run, n_groups + 1, sizeof *groups->begin)};
    return groups->begin ? DPL_OK : DPL_SYSTEM;
}

static void free_trips(struct dpl_groups *groups) {
    dpl_free(groups->source), dpl_free(groups->destination), dpl_free(groups->period),
        dpl_free(groups->order);
    groups->capacity = 0;
}

void dpl_groups_free(struct dpl_groups *groups) {
    free_trips(groups);
    dpl_free(groups->begin);
    *groups = (struct dpl_groups){0};
}

enum dpl_status dpl_groups_room(struct dpl_run *run, struct dpl_groups *groups, size_t n) {
    if (n <= groups->capacity) return DPL_OK;
    free_trips(groups);
    groups->source = dpl_alloc(run, n, sizeof *groups->source);
    groups->destination = dpl_alloc(run, n, sizeof *groups->destination);
    groups->period = dpl_alloc(run, n, sizeof *groups->period);
    groups->order = dpl_alloc(run, n, sizeof *groups->order);
    if (!groups->source || !groups->destination || !groups->period || !groups->order)
        return DPL_SYSTEM;
    groups->capacity = n;
    return DPL_OK;
}

static size_t group_of(const struct dpl_groups *groups, const struct dpl_grouping *grouping,
                       const struct dpl_generator *generator, size_t i) {
    return grouping->group(generator, groups->period[i], (size_t)groups->destination[i]);
}

static void sort(struct dpl_groups *groups, const struct dpl_grouping *grouping,
                 const struct dpl_generator *generator, size_t n) {
    size_t *begin = groups->begin;
    memset(begin, 0, (groups->n_groups + 1) * sizeof *begin);
    for (size_t i = 0; i < n; i++) begin[group_of(groups, grouping, generator, i) + 1]++;
    for (size_t g = 0; g < groups->n_groups; g++) begin[g + 1] += begin[g];
    for (size_t i = 0; i < n; i++)
        groups->order[begin[group_of(groups, grouping, generator, i)]++] = (uint32_t)i;
    memmove(begin + 1, begin, groups->n_groups * sizeof *begin); // each begin has become its end
    begin[0] = 0;
}

static enum dpl_status draw_group(struct dpl_run *run, const struct dpl_groups *groups,
                                  const struct dpl_grouping *grouping,
                                  struct dpl_generator *generator, struct dpl_round *round,
                                  size_t g) {
    int thread = omp_get_thread_num();
    DPL_TRY(dpl_check_interrupt(run));
    grouping->prepare(generator, g, thread);
    for (size_t at = groups->begin[g];
         at < groups->begin[g + 1] && !atomic_load_explicit(&round->full, memory_order_relaxed);
         at++)
        DPL_TRY(grouping->draw(run, generator, round, groups->order[at], thread));
    dpl_progress_add(run, (double)(groups->begin[g + 1] - groups->begin[g]));
    return DPL_OK;
}

enum dpl_status dpl_groups_draw(struct dpl_run *run, struct dpl_groups *groups,
                                const struct dpl_grouping *grouping,
                                struct dpl_generator *generator, int n_threads,
                                struct dpl_round *round) {
    _Atomic int failed = DPL_OK;
    sort(groups, grouping, generator, round->n_trips);
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 1)
    for (size_t g = 0; g < groups->n_groups; g++) {
        if (groups->begin[g] == groups->begin[g + 1] || atomic_load(&failed) ||
            atomic_load(&round->full))
            continue;
        enum dpl_status status = draw_group(run, groups, grouping, generator, round, g);
        if (status != DPL_OK) atomic_store(&failed, (int)status);
    }
    return (enum dpl_status)atomic_load(&failed);
}
