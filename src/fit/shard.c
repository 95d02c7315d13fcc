/* See shard.h.
 *
 * PRIVACY: a worker says nothing of what it reads (dpl_run_hush): reasons and counts are the
 * caller's to tell. It needs no key of any noise and has none. */
#include "fit/shard.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleaned.h"
#include "base/pattern.h"
#include "base/trips.h"
#include "clean/read.h"
#include "fit/fit.h"
#include "fit/rounds.h"

static const struct dpl_frame_kind KIND = {"dploc cleaned\n\n\n", "cleaned trips of a shard"};

/* ---- reading ---- */

/* Whether this round looks at where trips were: the number of units and lengths do not. */
static bool asks_positions(const struct dpl_task *task) {
    for (size_t i = 0; i < task->n_asks; i++)
        if (strcmp(task->ask[i], "size") != 0 && strcmp(task->ask[i], "lengths") != 0) return true;
    return false;
}

static enum dpl_status check_shard(struct dpl_run *run, uint32_t index, uint32_t shards) {
    if (shards >= 1 && shards <= DPL_SHARDS_MOST && index < shards) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "there is no shard %" PRIu64 "/%" PRIu32
                    ": they go from 1/S to S/S, and S is at "
                    "most %d",
                    (uint64_t)index + 1, shards, DPL_SHARDS_MOST);
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
    DPL_TRY(check_shard(run, index, shards));
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

void dpl_shard_free(struct dpl_shard *shard) {
    dpl_cleaned_free(shard->trips);
    *shard = (struct dpl_shard){0};
}

/* ---- as bytes ---- */

/* The columns as they stand in the file. */
static void view_columns(const struct dpl_cleaned *trips,
                         struct dpl_view view[DPL_CLEANED_COLUMNS]) {
    struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS];
    dpl_cleaned_columns(trips, column);
    for (int i = 0; i < DPL_CLEANED_COLUMNS; i++)
        view[i] = (struct dpl_view){column[i].data, column[i].bytes};
}

enum dpl_status dpl_shard_make(struct dpl_run *run, const struct dpl_shard *shard,
                               struct dpl_bytes *bytes) {
    const struct dpl_cleaned *trips = shard->trips;
    struct dpl_view column[DPL_CLEANED_COLUMNS];
    json_t *header = json_pack(
        "{s:b, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:b, s:b, s:o}", "not_private", 1, "version",
        dpl_version(), "id", shard->id, "index", (json_int_t)shard->index, "shards",
        (json_int_t)shard->shards, "trips", (json_int_t)trips->n_trips, "visits",
        (json_int_t)trips->n_visits, "users", (json_int_t)trips->n_users, "timed", trips->has_time,
        "positions", trips->position != NULL, "facts", dpl_shard_facts_to_json(&shard->facts));
    view_columns(trips, column);
    enum dpl_status status = dpl_frame_make(run, &KIND, header, column, DPL_CLEANED_COLUMNS, bytes);
    json_decref(header);
    return status;
}

static enum dpl_status damaged(struct dpl_run *run) {
    return dpl_fail(run, DPL_BAD_DATA, "the cleaned trips of a shard are damaged");
}

/* PRIVACY: what was cleaned for another fit may have been cut into other shards. */
static enum dpl_status check_header(struct dpl_run *run, json_t *header,
                                    const struct dpl_task *task) {
    const char *version, *id;
    DPL_TRY(dpl_text_from_json(run, "cleaned trips", header, "version", &version));
    DPL_TRY(dpl_text_from_json(run, "cleaned trips", header, "id", &id));
    if (strcmp(version, dpl_version()) != 0)
        return dpl_fail(run, DPL_REFUSED,
                        "these trips were cleaned by dploc %.32s, and this is %s: all machines of "
                        "one fit need the same version",
                        version, dpl_version());
    if (strcmp(id, task->id) != 0)
        return dpl_fail(run, DPL_REFUSED, "these trips were cleaned for another fit");
    return DPL_OK;
}

/* Starts rise to the number of visits, cells are of the grid, users and periods in their range. */
static bool columns_good(const struct dpl_cleaned *trips) {
    const int32_t cells = dpl_grid_cells(&trips->grid);
    bool good = trips->start[0] == 0 && trips->start[trips->n_trips] == trips->n_visits;
    for (size_t i = 0; good && i < trips->n_trips; i++)
        good = trips->start[i] <= trips->start[i + 1] && trips->user[i] >= -1 &&
               (trips->user[i] < 0 || (size_t)trips->user[i] < trips->n_users) &&
               trips->period[i] < trips->grid.area.periods;
    for (size_t v = 0; good && v < trips->n_visits; v++)
        good = trips->cell[v] >= 0 && trips->cell[v] < cells;
    return good;
}

static enum dpl_status take_columns(struct dpl_run *run, const struct dpl_frame *frame,
                                    size_t n_trips, size_t n_visits, bool positions,
                                    struct dpl_cleaned *trips) {
    struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS];
    size_t at = 0, whole = 0;
    DPL_TRY(dpl_cleaned_reserve(run, trips, n_trips, n_visits, positions));
    if (positions) DPL_TRY(dpl_cleaned_reserve_ends(run, trips, n_trips)); // kept together
    trips->n_trips = n_trips, trips->n_visits = n_visits;
    dpl_cleaned_columns(trips, column);
    for (int i = 0; i < DPL_CLEANED_COLUMNS; i++) whole += column[i].bytes;
    if (whole != frame->n_payload) return damaged(run);
    for (int i = 0; i < DPL_CLEANED_COLUMNS; at += column[i++].bytes)
        if (column[i].bytes) memcpy(column[i].data, frame->payload + at, column[i].bytes);
    return columns_good(trips) ? DPL_OK : damaged(run);
}

static enum dpl_status load_frame(struct dpl_run *run, const struct dpl_task *task,
                                  const struct dpl_frame *frame, struct dpl_shard *shard) {
    enum { INDEX, SHARDS, TRIPS, VISITS, USERS, N };
    static const char *const NAMES[N] = {"index", "shards", "trips", "visits", "users"};
    int64_t number[N];
    struct dpl_grid grid;
    DPL_TRY(check_header(run, frame->header, task));
    for (int i = 0; i < N; i++) {
        DPL_TRY(dpl_whole_from_json(run, "cleaned trips", frame->header, NAMES[i], &number[i]));
        if (number[i] < 0 || number[i] > (int64_t)frame->n_payload + DPL_SHARDS_MOST)
            return damaged(run);
    }
    shard->index = (uint32_t)number[INDEX], shard->shards = (uint32_t)number[SHARDS];
    DPL_TRY(check_shard(run, shard->index, shard->shards));
    DPL_TRY(dpl_shard_facts_from_json(run, "cleaned trips", json_object_get(frame->header, "facts"),
                                      &shard->facts));
    memcpy(shard->id, task->id, sizeof shard->id);
    DPL_TRY(dpl_grid_make(run, &task->set.area, &grid));
    DPL_TRY(dpl_cleaned_new(run, &grid, &shard->trips));
    shard->trips->n_users = (size_t)number[USERS];
    shard->trips->has_time = json_is_true(json_object_get(frame->header, "timed"));
    return take_columns(run, frame, (size_t)number[TRIPS], (size_t)number[VISITS],
                        json_is_true(json_object_get(frame->header, "positions")), shard->trips);
}

enum dpl_status dpl_shard_load(struct dpl_run *run, const struct dpl_task *task,
                               struct dpl_view bytes, struct dpl_shard *shard) {
    struct dpl_frame frame = {0};
    DPL_TRY(dpl_frame_open(run, &KIND, "cleaned trips", bytes, &frame));
    enum dpl_status status = load_frame(run, task, &frame, shard);
    dpl_frame_close(&frame);
    return status;
}

/* ---- in a file ---- */

enum dpl_status dpl_shard_save(struct dpl_run *run, const struct dpl_shard *shard,
                               const char *path) {
    struct dpl_bytes bytes = {0};
    DPL_TRY(dpl_shard_make(run, shard, &bytes));
    enum dpl_status status =
        dpl_bytes_write(run, path, KIND.magic, true, false, (struct dpl_view){bytes.data, bytes.n});
    dpl_bytes_free(&bytes);
    return status;
}

enum dpl_status dpl_shard_open(struct dpl_run *run, const struct dpl_task *task, const char *path,
                               uint32_t index, uint32_t shards, struct dpl_shard *shard) {
    struct dpl_bytes bytes = {0};
    DPL_TRY(dpl_bytes_read(run, path, &bytes));
    enum dpl_status status =
        dpl_shard_load(run, task, (struct dpl_view){bytes.data, bytes.n}, shard);
    dpl_bytes_free(&bytes);
    DPL_TRY(status);
    // PRIVACY: a shard that is counted in the place of another is there twice.
    if (shard->index == index && shard->shards == shards) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED,
                    "%s holds the cleaned trips of shard %" PRIu32 "/%" PRIu32
                    ", and shard %" PRIu32 "/%" PRIu32 " is to be counted: give each shard a file",
                    path, shard->index + 1, shard->shards, index + 1, shards);
}

/* ---- counting ---- */

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
