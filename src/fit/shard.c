/* Cleaned shards, as bytes and in files. See shard.h; shard_read.c makes them, shard_count.c counts
 * them. */
#include "fit/shard.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleaned.h"

static const struct dpl_frame_kind KIND = {"dploc cleaned\n\n\n", "cleaned trips of a shard"};

enum dpl_status dpl_shard_check(struct dpl_run *run, uint32_t index, uint32_t shards) {
    if (shards >= 1 && shards <= DPL_SHARDS_MOST && index < shards) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "there is no shard %" PRIu64 "/%" PRIu32
                    ": they go from 1/S to S/S, and S is at "
                    "most %d",
                    (uint64_t)index + 1, shards, DPL_SHARDS_MOST);
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
    DPL_TRY(dpl_shard_check(run, shard->index, shard->shards));
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
