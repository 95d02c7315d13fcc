/* The rows of one shard, read and cleaned. See shard.h.
 *
 * PRIVACY: a worker says nothing of what it reads (dpl_run_hush): reasons and counts are the
 * caller's to tell. It needs no key of any noise and has none. */
#include <inttypes.h>
#include <string.h>

#include "base/pattern.h"
#include "base/trips.h"
#include "clean/read.h"
#include "fit/fit.h"
#include "fit/shard.h"

/* Whether this round looks at where trips were: the number of units and lengths do not. */
static bool asks_positions(const struct dpl_task *task) {
    for (size_t i = 0; i < task->n_asks; i++)
        if (strcmp(task->ask[i], "size") != 0 && strcmp(task->ask[i], "lengths") != 0) return true;
    return false;
}

static enum dpl_status read_rows(struct dpl_run *run, const struct dpl_task *task,
                                 struct dpl_trips *trips, struct dpl_shard_use use,
                                 struct dpl_shard *shard, struct dpl_read_facts **facts) {
    const struct dpl_fit_options *options = &task->set.fit;
    const struct dpl_method *method;
    struct ingest_identity wanted = {.shard = {.index = shard->index,
                                               .count = shard->shards,
                                               .by_user = options->budget.unit == DPL_UNIT_USER,
                                               .seed = dpl_task_seed(task)}};
    const struct dpl_room room = {use.memory_bytes, wanted.shard.by_user};
    struct dpl_read_options read = dpl_fit_reading(&task->set.read, options);
    // PRIVACY: as in a fit on one machine: no row decides how others are read.
    if (trips->read.guess || trips->read.time_optional)
        return dpl_fail(run, DPL_USAGE,
                        "trips for a count are opened as the plan says: without guessing, and with "
                        "times");
    DPL_TRY(dpl_method_find(run, options->method, &method));
    read.positions = method->positions && (!use.one_round || asks_positions(task));
    memcpy(wanted.key, task->key, sizeof wanted.key);
    dpl_run_hush(run, true);
    enum dpl_status status =
        dpl_clean_rows(run, trips, &read, &task->set.area, room, &wanted, &shard->trips, facts);
    dpl_run_hush(run, false);
    dpl_wipe(wanted.key, sizeof wanted.key);
    shard->facts.identity = wanted.found;
    shard->facts.selected = dpl_inputs_select(trips->inputs, trips->n_inputs);
    return status;
}

static void note_facts(const struct dpl_read_facts *facts, struct dpl_shard_facts *into) {
    into->recordings = (uint64_t)facts->recordings;
    into->elsewhere = (uint64_t)facts->elsewhere;
    into->trips_read = facts->trips_read;
    into->reading = facts->reading;
    memcpy(into->trips_dropped, facts->trips_dropped, sizeof into->trips_dropped);
}

/* Reasons and counts, never a value or a name. */
static void tell(struct dpl_run *run, const struct dpl_read_facts *facts) {
    dpl_note(run, "%" PRId64 " recordings are of this shard, %" PRId64 " of others",
             facts->recordings, facts->elsewhere);
    for (int i = 0; i < DPL_REJECTS; i++)
        if (facts->rows_rejected[i])
            dpl_note(run, "%" PRId64 " rows cannot be used: %s", facts->rows_rejected[i],
                     dpl_reject_name((enum dpl_reject)i));
    for (int i = 0; i < DPL_DROPS; i++)
        if (facts->trips_dropped[i])
            dpl_note(run, "%" PRId64 " trips are left out: %s", facts->trips_dropped[i],
                     dpl_drop_name((enum dpl_drop)i));
}

enum dpl_status dpl_shard_read(struct dpl_run *run, const struct dpl_task *task,
                               struct dpl_trips *trips, uint32_t index, uint32_t shards,
                               struct dpl_shard_use use, struct dpl_shard *shard) {
    struct dpl_read_facts *facts = NULL;
    DPL_TRY(dpl_shard_check(run, index, shards));
    shard->index = index, shard->shards = shards;
    memcpy(shard->id, task->id, sizeof shard->id);
    enum dpl_status status = read_rows(run, task, trips, use, shard, &facts);
    if (status == DPL_OK) {
        note_facts(facts, &shard->facts);
        tell(run, facts);
    }
    dpl_read_facts_free(facts);
    return status;
}
