/* Parts of a count, cleaned shards and units cut into parts, each by itself: what is written is
 * read, what does not fit is refused, and a count in parts is the count. Whole fits in rounds are
 * in rounds_test, every method's tables in parts in count_test. */
#include "counted.h"
#include "fit_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleaned.h"
#include "fit/counts.h"
#include "fit/shard.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

enum { BINS = 5, HASH = 16, PLAN_DIGITS = DPL_DIGEST_HEX - 1, TRIPS = 11, USERS = 4, VISITS = 3 };
static const int64_t MOST = (int64_t)1 << 42;
static const float SLOT_M = 2600; // east and north of the corner: of no cell with a small number

static struct dpl_view view_of(struct dpl_bytes bytes) {
    return (struct dpl_view){bytes.data, bytes.n};
}

/* The same bytes with one text of the header replaced by one as long, under a right hash. */
static struct dpl_bytes edited(struct dpl_bytes bytes, const char *from, const char *to) {
    struct dpl_bytes copy = {malloc(bytes.n), bytes.n};
    assert_non_null(copy.data);
    memcpy(copy.data, bytes.data, bytes.n);
    char *at = memmem(copy.data, copy.n, from, strlen(from));
    if (!at) fail_msg("no %s", from);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    uint8_t *hash = (uint8_t *)copy.data + copy.n - HASH;
    const struct dpl_key key = dpl_hash(copy.data, copy.n - HASH, 0);
    for (size_t i = 0; i < HASH / 2; i++) {
        hash[i] = (uint8_t)(key.hi >> (8 * i));
        hash[HASH / 2 + i] = (uint8_t)(key.lo >> (8 * i));
    }
    return copy;
}

/* ---- sums ---- */

/* What a worker says of its shard; `shard` makes it its own. */
static struct dpl_shard_facts facts_of(uint64_t shard) {
    struct dpl_shard_facts facts = {
        .units = 10 + shard,
        .recordings = 20 + shard,
        .elsewhere = 2 * (20 + shard),
        .trips_read = 30,
        .selected = shard == 1,
        .identity = {.rows = 40, .sum = {1, 2, 3, shard}, .n_sketch = 1}};
    facts.identity.sketch[0] = 7 + shard;
    facts.reading.settled = true;
    strcpy(facts.reading.format, "csv"), strcpy(facts.reading.separator, ",");
    for (size_t i = 0; i < sizeof facts.reading.column / sizeof *facts.reading.column; i++)
        snprintf(facts.reading.column[i], sizeof facts.reading.column[i], "c%zu", i);
    for (int i = 0; i < DPL_DROPS; i++) facts.trips_dropped[i] = 100 + i;
    return facts;
}

static struct dpl_exact *vector(struct dpl_run *run, const struct dpl_exact_options *about,
                                double value) {
    struct dpl_exact *exact;
    assert_ok(run, dpl_exact_new(run, about, &exact));
    for (size_t i = 0; i < about->n; i++)
        assert_ok(run, dpl_exact_add(run, exact, &(struct dpl_entry){i, value + (double)i}, 1));
    return exact;
}

static const struct dpl_exact_options VISITED = {BINS, DPL_NORM_L2, 16, 2},
                                      LONG = {1, DPL_NORM_L1, 8, 0};

/* The part of a shard of three, with two tables. */
static struct dpl_bytes part_of(struct dpl_run *run, uint32_t shard) {
    const struct dpl_shard_facts facts = facts_of(shard);
    struct dpl_sums *sums;
    struct dpl_bytes bytes = {0};
    char plan[DPL_DIGEST_HEX] = "";
    memset(plan, 'a', PLAN_DIGITS);
    assert_ok(run, dpl_sums_of_shard(run, plan, 2, shard, 3, &facts, &sums));
    struct dpl_exact *visits = vector(run, &VISITED, 1 + shard), *lengths = vector(run, &LONG, 2);
    assert_ok(run, dpl_sums_put(run, sums, "visits", &visits));
    assert_ok(run, dpl_sums_put(run, sums, "lengths", &lengths));
    assert_true(!visits && !lengths);
    assert_ok(run, dpl_sums_make(run, sums, &bytes));
    dpl_sums_free(sums);
    return bytes;
}

static void add(struct dpl_run *run, struct dpl_sums *sums, uint32_t shard) {
    struct dpl_bytes part = part_of(run, shard);
    assert_ok(run, dpl_sums_add(run, sums, "part", view_of(part)));
    dpl_bytes_free(&part);
}

static void says(struct dpl_run *run, enum dpl_status status, enum dpl_status expected,
                 const char *part) {
    if (status != expected || !strstr(dpl_run_message(run), part))
        fail_msg("%d instead of %d, '%s' wanted: %s", (int)status, (int)expected, part,
                 dpl_run_message(run));
    dpl_run_begin(run);
}

/* Parts of a fit make one, in any order, and merged parts are parts again. */
static void parts_add_up(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_sums *sums, *again;
    struct dpl_bytes merged = {0}, twice = {0};
    assert_ok(run, dpl_sums_new(run, &sums));
    says(run, dpl_sums_check_whole(run, sums), DPL_USAGE, "there are no parts");
    says(run, dpl_sums_make(run, sums, &merged), DPL_USAGE, "there are no parts to merge");
    add(run, sums, 2);
    says(run, dpl_sums_check_whole(run, sums), DPL_REFUSED,
         "2 of 3 shards are missing, the first is 1/3");
    assert_int_equal(sums->facts.reading.settled, true);
    add(run, sums, 0);
    says(run, dpl_sums_check_whole(run, sums), DPL_REFUSED,
         "1 of 3 shards are missing, the first is 2/3");
    assert_ok(run, dpl_sums_make(run, sums, &merged));
    assert_ok(run, dpl_sums_new(run, &again));
    assert_ok(run, dpl_sums_add(run, again, "merged", view_of(merged)));
    assert_ok(run, dpl_sums_make(run, again, &twice));
    assert_int_equal(twice.n, merged.n);
    assert_memory_equal(twice.data, merged.data, merged.n);
    assert_false(again->facts.selected);
    add(run, again, 1);
    assert_ok(run, dpl_sums_check_whole(run, again));
    const struct dpl_shard_facts *facts = &again->facts;
    assert_int_equal(again->round, 2);
    assert_int_equal(facts->units, 33);
    assert_int_equal(facts->recordings, 63);
    assert_int_equal(facts->elsewhere, 126);
    assert_int_equal(facts->trips_read, 90);
    assert_true(facts->selected && facts->reading.settled);
    assert_string_equal(facts->reading.column[1], "c1");
    for (int i = 0; i < DPL_DROPS; i++) assert_int_equal(facts->trips_dropped[i], 300 + 3 * i);
    assert_int_equal(facts->identity.rows, 120);
    assert_int_equal(facts->identity.n_sketch, 3);
    assert_int_equal(facts->identity.sketch[2], 9);
    assert_true(facts->identity.sum[1] == 6 && facts->identity.sum[3] == 3);
    assert_int_equal(dpl_sums_lost(again), 0); // each worker left the others' recordings
    again->facts.elsewhere--;
    assert_int_equal(dpl_sums_lost(again), 125);
    struct dpl_exact *visits = dpl_sums_take(again, "visits");
    assert_null(dpl_sums_take(again, "visits"));
    assert_null(dpl_sums_take(again, "visit"));
    assert_int_equal(dpl_exact_units(visits), 3 * BINS);
    for (size_t i = 0; i < BINS; i++) assert_true(counted_value(visits, i) == 6 + 3 * (double)i);
    dpl_exact_free(visits);
    dpl_bytes_free(&merged), dpl_bytes_free(&twice);
    dpl_sums_free(sums), dpl_sums_free(again);
    dpl_run_free(run);
}

/* Layouts that differ are no layout; a part without one is as good. */
static void readings_are_compared(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } EDITS[] = {{"\"csv\"", "\"cs2\""},
                 {"\"c0\"", "\"d0\""},
                 {"\"separator\":\",\"", "\"separator\":\";\""}};
    struct dpl_run *run = test_run(1);
    struct dpl_bytes one = part_of(run, 0), two = part_of(run, 1);
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        struct dpl_sums *sums;
        struct dpl_bytes other = edited(two, EDITS[i].from, EDITS[i].to);
        assert_ok(run, dpl_sums_new(run, &sums));
        assert_ok(run, dpl_sums_add(run, sums, "one", view_of(one)));
        assert_ok(run, dpl_sums_add(run, sums, "other", view_of(other)));
        assert_false(sums->facts.reading.settled);
        dpl_sums_free(sums);
        free(other.data);
    }
    dpl_bytes_free(&one), dpl_bytes_free(&two);
    dpl_run_free(run);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        enum dpl_status status;
        const char *says;
    } CASES[] = {
        {"\"have\":[[1,1]]", "\"have\":[[2,2]]", DPL_OK, ""},
        {"\"have\":[[1,1]]", "\"have\":[[0,0]]", DPL_REFUSED, "shard 1/3 is there twice"},
        {"\"have\":[[1,1]]", "\"have\":[[0,1]]", DPL_REFUSED, "shard 1/3 is there twice"},
        {"\"have\":[[1,1]]", "\"have\":[[1,3]]", DPL_BAD_DATA, "its header is damaged"},
        {"\"have\":[[1,1]]", "\"have\":[[2,1]]", DPL_BAD_DATA, "its header is damaged"},
        {"\"have\":[[1,1]]", "\"have\":[[1]]  ", DPL_BAD_DATA, "its header is damaged"},
        {"\"have\":[[1,1]]", "\"have\":[]     ", DPL_BAD_DATA, "it is of no shard"},
        {"\"shards\":3", "\"shards\":4", DPL_REFUSED, "it is one of 4 shards"},
        {"\"shards\":3", "\"shards\":0", DPL_BAD_DATA, "its header is damaged"},
        {"\"round\":2", "\"round\":3", DPL_REFUSED, "it is of round 3"},
        {"\"plan\":\"a", "\"plan\":\"b", DPL_REFUSED, "another plan"},
        {"\"plan\":\"a", "\"plan\":\" ", DPL_REFUSED, "another plan"},
        {"\"version\":\"0.", "\"version\":\"9.", DPL_REFUSED, "need the same version"},
        {"\"name\":\"visits\"", "\"name\":\"visitz\"", DPL_REFUSED, "its table 'visitz' is not"},
        {"\"sensitivity\":16.0", "\"sensitivity\":17.0", DPL_REFUSED, "its table 'visits' is not"},
        {"\"places\":2", "\"places\":3", DPL_REFUSED, "its table 'visits' is not"},
        {"\"l1\":true", "\"l1\":null", DPL_REFUSED, "its table 'lengths' is not"},
        {"\"n\":5", "\"n\":4", DPL_REFUSED, "its table 'visits' is not"},
        {"\"n\":5", "\"n\":9", DPL_BAD_DATA, "its tables are damaged"},
        // One unit cannot have added what five have.
        {"\"places\":2,\"units\":5", "\"places\":2,\"units\":0", DPL_BAD_DATA, "so few units"},
        {"\"recordings\":21", "\"recordings\":-1", DPL_BAD_DATA, "its facts are damaged"},
        {"\"elsewhere\"", "\"elsewherf\"", DPL_BAD_DATA, "elsewhere"},
        {"\"dropped\":[100,", "\"dropped\":[    ", DPL_BAD_DATA, "its facts are damaged"},
        {"\"separator\"", "\"separatof\"", DPL_BAD_DATA, "its facts are damaged"},
        {"\"sum\":\"", "\"sun\":\"", DPL_BAD_DATA, "its sum over the rows is damaged"},
        {"\"tables\":[", "\"tablez\":[", DPL_BAD_DATA, "its header is damaged"}};
    struct dpl_run *run = test_run(1);
    struct dpl_bytes one = part_of(run, 0), two = part_of(run, 1);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct dpl_sums *sums;
        struct dpl_bytes other = edited(two, CASES[i].from, CASES[i].to);
        assert_ok(run, dpl_sums_new(run, &sums));
        assert_ok(run, dpl_sums_add(run, sums, "one", view_of(one)));
        enum dpl_status status = dpl_sums_add(run, sums, "other", view_of(other));
        if (status != CASES[i].status || !strstr(dpl_run_message(run), CASES[i].says))
            fail_msg("%s: %d, %s", CASES[i].to, (int)status, dpl_run_message(run));
        dpl_run_begin(run);
        dpl_sums_free(sums);
        free(other.data);
    }
    dpl_bytes_free(&one), dpl_bytes_free(&two);
    dpl_run_free(run);
}

/* A part of a table less, or of none: not the sums of the others. */
static void all_tables_are_there(void **state) {
    (void)state;
    const struct dpl_shard_facts facts = facts_of(1);
    struct dpl_run *run = test_run(1);
    struct dpl_sums *sums, *few;
    struct dpl_bytes bytes = {0};
    char plan[DPL_DIGEST_HEX] = "";
    memset(plan, 'a', PLAN_DIGITS);
    for (int tables = 0; tables < 2; tables++) {
        assert_ok(run, dpl_sums_of_shard(run, plan, 2, 1, 3, &facts, &few));
        struct dpl_exact *visits = vector(run, &VISITED, 1);
        if (tables) assert_ok(run, dpl_sums_put(run, few, "visits", &visits));
        dpl_exact_free(visits);
        assert_ok(run, dpl_sums_make(run, few, &bytes));
        assert_ok(run, dpl_sums_new(run, &sums));
        add(run, sums, 0);
        says(run, dpl_sums_add(run, sums, "few", view_of(bytes)), DPL_BAD_DATA,
             "its tables are damaged");
        dpl_sums_free(sums), dpl_sums_free(few);
        dpl_bytes_free(&bytes);
    }
    dpl_run_free(run);
}

static void a_round_has_so_many_tables(void **state) {
    (void)state;
    const struct dpl_shard_facts facts = facts_of(0);
    struct dpl_run *run = test_run(1);
    struct dpl_sums *sums;
    char plan[DPL_DIGEST_HEX] = "", name[DPL_EVENT_NAME];
    memset(plan, 'a', PLAN_DIGITS);
    assert_ok(run, dpl_sums_of_shard(run, plan, 1, 0, 1, &facts, &sums));
    for (int i = 0; i <= DPL_COUNTS_TABLES; i++) {
        struct dpl_exact *table = vector(run, &LONG, 1);
        snprintf(name, sizeof name, "t%d", i);
        enum dpl_status status = dpl_sums_put(run, sums, name, &table);
        assert_int_equal(status, i < DPL_COUNTS_TABLES ? DPL_OK : DPL_USAGE);
        dpl_exact_free(table);
    }
    struct dpl_sums *read;
    struct dpl_bytes bytes = {0};
    assert_ok(run, dpl_sums_make(run, sums, &bytes));
    assert_ok(run, dpl_sums_new(run, &read));
    assert_ok(run, dpl_sums_add(run, read, "the only one", view_of(bytes)));
    assert_ok(run, dpl_sums_check_whole(run, read));
    assert_int_equal(read->n_tables, DPL_COUNTS_TABLES);
    dpl_sums_free(read), dpl_sums_free(sums);
    dpl_bytes_free(&bytes);
    dpl_run_free(run);
}

/* What a worker may say is below 2^42, so that no sum over shards is beyond 64 bits. */
static void facts_have_limits(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (int over = 0; over < 2; over++) {
        struct dpl_shard_facts facts = facts_of(0), read;
        facts.trips_read = facts.trips_dropped[DPL_DROPS - 1] = MOST - 1 + over;
        facts.reading.settled = false;
        json_t *object = dpl_shard_facts_to_json(&facts);
        enum dpl_status status = dpl_shard_facts_from_json(run, "part", object, &read);
        assert_int_equal(status, over ? DPL_BAD_DATA : DPL_OK);
        if (!over) assert_int_equal(read.trips_dropped[DPL_DROPS - 1], MOST - 1);
        if (!over) assert_false(read.reading.settled);
        json_decref(object);
        dpl_run_begin(run);
    }
    dpl_run_free(run);
}

/* Each column of the layout, and nothing behind the last. */
static void layouts_are_told_whole(void **state) {
    (void)state;
    const struct dpl_shard_facts facts = facts_of(0);
    json_t *object = dpl_shard_facts_to_json(&facts),
           *columns = json_object_get(json_object_get(object, "reading"), "columns");
    const size_t n = sizeof facts.reading.column / sizeof *facts.reading.column;
    assert_int_equal(json_array_size(columns), n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(json_string_value(json_array_get(columns, i)), facts.reading.column[i]);
    json_decref(object);
}

/* ---- files ---- */

static void parts_are_their_owners(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    char path[512];
    struct stat info;
    struct dpl_bytes part = part_of(run, 0), read = {0};
    snprintf(path, sizeof path, "%s", test_path(directory, "a.part"));
    assert_ok(run, dpl_part_check(run, path, false));
    assert_ok(run, dpl_part_write(run, view_of(part), path, false));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_ok(run, dpl_part_read(run, path, &read));
    assert_int_equal(read.n, part.n);
    assert_memory_equal(read.data, part.data, part.n);
    assert_int_not_equal(dpl_part_write(run, view_of(part), path, false), DPL_OK);
    assert_int_not_equal(dpl_part_check(run, path, false), DPL_OK);
    assert_ok(run, dpl_part_check(run, path, true));
    assert_ok(run, dpl_part_write(run, view_of(part), path, true));
    test_file(directory, "a.part", "the year's accounts", 19);
    assert_int_not_equal(dpl_part_write(run, view_of(part), path, true), DPL_OK);
    dpl_bytes_free(&part), dpl_bytes_free(&read);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* ---- shards ---- */

struct scene {
    struct dpl_run *run;
    struct dpl_task *task;
    struct dpl_shard shard;
};

/* Cleaned trips of a plan, of shard 2/5: some of users, one of none. */
static void open_scene(struct scene *scene, bool positions) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_grid grid;
    char *text;
    *scene = (struct scene){.run = test_run(1)};
    options.budget.unit = DPL_UNIT_USER, options.budget.trips_max = 2;
    assert_ok(scene->run, dpl_area_preset(scene->run, "simulated", &area));
    assert_ok(scene->run, dpl_option_shared(scene->run, &read, &area, &options, &text));
    assert_ok(scene->run, dpl_task_new(scene->run, "test", text, &scene->task));
    strcpy(scene->task->id, "0123456789abcdef0123456789abcdef");
    dpl_text_free(text);
    scene->shard = (struct dpl_shard){.index = 1, .shards = 5, .facts = facts_of(1)};
    strcpy(scene->shard.id, scene->task->id);
    assert_ok(scene->run, dpl_grid_make(scene->run, &area, &grid));
    assert_ok(scene->run, dpl_cleaned_new(scene->run, &grid, &scene->shard.trips));
    struct dpl_cleaned *trips = scene->shard.trips;
    for (int t = 0; t < TRIPS; t++) {
        const int32_t cell[VISITS] = {t, t + 1, dpl_grid_cells(&grid) - 1};
        const struct dpl_position position[VISITS] = {
            {SLOT_M + (float)t, SLOT_M}, {SLOT_M, SLOT_M}, {SLOT_M, SLOT_M + 1}};
        const struct dpl_cleaned_trip trip = {.cell = cell,
                                              .n_visits = VISITS,
                                              .utc_s = 1741003200 + t,
                                              .user = t % (USERS + 1) - 1,
                                              .period = (uint8_t)(t % 24),
                                              .position = positions ? position : NULL};
        assert_ok(scene->run, dpl_cleaned_append(scene->run, trips, &trip));
        const struct dpl_trip_ends ends = {{1, 2, 3}, {4, (float)t, 6}};
        if (positions) assert_ok(scene->run, dpl_cleaned_append_ends(scene->run, trips, ends));
    }
    trips->n_users = USERS, trips->has_time = true;
}

static void close_scene(struct scene *scene) {
    dpl_shard_free(&scene->shard);
    dpl_task_free(scene->task);
    dpl_run_free(scene->run);
}

static struct dpl_bytes bytes_of(struct scene *scene) {
    struct dpl_bytes bytes = {0};
    assert_ok(scene->run, dpl_shard_make(scene->run, &scene->shard, &bytes));
    return bytes;
}

static void shards_are_read_as_written(void **state) {
    (void)state;
    for (int positions = 0; positions < 2; positions++) {
        struct scene scene;
        struct dpl_shard read = {0};
        open_scene(&scene, positions);
        struct dpl_bytes bytes = bytes_of(&scene), again = {0};
        assert_ok(scene.run, dpl_shard_load(scene.run, scene.task, view_of(bytes), &read));
        assert_int_equal(read.index, 1);
        assert_int_equal(read.shards, 5);
        assert_string_equal(read.id, scene.task->id);
        assert_int_equal(read.facts.recordings, 21);
        assert_int_equal(read.trips->n_users, USERS);
        assert_true(read.trips->has_time);
        assert_same_trips(read.trips, scene.shard.trips);
        assert_int_equal(read.trips->position != NULL, positions);
        assert_int_equal(read.trips->ends != NULL, positions);
        assert_ok(scene.run, dpl_shard_make(scene.run, &read, &again));
        assert_int_equal(again.n, bytes.n);
        assert_memory_equal(again.data, bytes.data, bytes.n);
        dpl_shard_free(&read);
        dpl_bytes_free(&bytes), dpl_bytes_free(&again);
        close_scene(&scene);
    }
}

/* PRIVACY: a user or a cell that there is not would be written behind what is counted into. */
static void hostile_shards_are_refused(void **state) {
    (void)state;
    enum { FIRST, LAST, USER, NO_USERS, TOO_LOW, CELL, NEGATIVE, PERIOD, FALLS, CASES };
    for (int what = 0; what < CASES; what++) {
        struct scene scene;
        struct dpl_shard read = {0};
        open_scene(&scene, false);
        struct dpl_cleaned *trips = scene.shard.trips;
        if (what == FIRST) trips->start[0] = 1;
        if (what == LAST) trips->start[TRIPS]--;
        if (what == USER) trips->user[TRIPS - 1] = USERS;
        if (what == NO_USERS) trips->n_users = 0;
        for (size_t i = 0; what == NO_USERS && i < TRIPS; i++) trips->user[i] = 0;
        if (what == TOO_LOW) trips->user[0] = -2;
        if (what == CELL) trips->cell[TRIPS * VISITS - 1]++;
        if (what == NEGATIVE) trips->cell[0] = -1;
        if (what == PERIOD) trips->period[TRIPS - 1] = 24;
        if (what == FALLS) trips->start[2] = trips->start[3] + 1;
        struct dpl_bytes bytes = bytes_of(&scene);
        enum dpl_status status = dpl_shard_load(scene.run, scene.task, view_of(bytes), &read);
        if (status != DPL_BAD_DATA) fail_msg("case %d is taken", what);
        dpl_shard_free(&read);
        dpl_bytes_free(&bytes);
        close_scene(&scene);
    }
}

static void headers_of_shards_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        enum dpl_status status;
    } EDITS[] = {{"\"index\":1", "\"index\":4", DPL_OK},
                 {"\"index\":1", "\"index\":5", DPL_USAGE},
                 {"\"shards\":5", "\"shards\":0", DPL_USAGE},
                 {"\"trips\":11,", "\"trips\":12,", DPL_BAD_DATA},
                 {"\"trips\":11,", "\"trips\":-1,", DPL_BAD_DATA},
                 {"\"visits\":33", "\"visits\":32", DPL_BAD_DATA},
                 {"\"users\":4,\"timed\":true,\"positions\":false",
                  "\"users\":2000000,\"timed\":true,\"positio\":1", DPL_BAD_DATA},
                 {"\"users\":4", "\"users\":3", DPL_BAD_DATA},
                 {"\"id\":\"0", "\"id\":\"1", DPL_REFUSED},
                 {"\"version\":\"0.", "\"version\":\"9.", DPL_REFUSED},
                 {"\"facts\"", "\"facto\"", DPL_BAD_DATA}};
    struct scene scene;
    open_scene(&scene, false);
    struct dpl_bytes bytes = bytes_of(&scene);
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        struct dpl_shard read = {0};
        struct dpl_bytes other = edited(bytes, EDITS[i].from, EDITS[i].to);
        dpl_run_begin(scene.run);
        enum dpl_status status = dpl_shard_load(scene.run, scene.task, view_of(other), &read);
        if (status != EDITS[i].status)
            fail_msg("%s: %d, %s", EDITS[i].to, (int)status, dpl_run_message(scene.run));
        dpl_shard_free(&read);
        free(other.data);
    }
    dpl_bytes_free(&bytes);
    close_scene(&scene);
}

static void there_are_so_many_shards(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    assert_ok(run, dpl_shard_check(run, 0, 1));
    assert_ok(run, dpl_shard_check(run, DPL_SHARDS_MOST - 1, DPL_SHARDS_MOST));
    says(run, dpl_shard_check(run, 0, 0), DPL_USAGE, "there is no shard 1/0");
    says(run, dpl_shard_check(run, 3, 3), DPL_USAGE, "there is no shard 4/3");
    says(run, dpl_shard_check(run, 0, DPL_SHARDS_MOST + 1), DPL_USAGE, "there is no shard 1/");
    dpl_run_free(run);
}

/* PRIVACY: a shard in another's place is there twice. */
static void a_shard_is_itself(void **state) {
    (void)state;
    struct scene scene;
    struct stat info;
    char *directory = test_directory();
    char path[512];
    snprintf(path, sizeof path, "%s", test_path(directory, "a.cleaned"));
    open_scene(&scene, true);
    assert_ok(scene.run, dpl_shard_save(scene.run, &scene.shard, path));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    for (uint32_t index = 0; index < 3; index++)
        for (uint32_t shards = 4; shards < 6; shards++) {
            struct dpl_shard read = {0};
            const bool same = index == 1 && shards == 5;
            dpl_run_begin(scene.run);
            enum dpl_status status =
                dpl_shard_open(scene.run, scene.task, path, index, shards, &read);
            assert_int_equal(status, same ? DPL_OK : DPL_REFUSED);
            dpl_shard_free(&read);
        }
    test_directory_remove(directory);
    close_scene(&scene);
}

/* Of the first round: how many users there are, and how many trips name none. */
static void users_are_counted(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_sums *counts;
    open_scene(&scene, false);
    scene.task->number = 1;
    memset(scene.task->digest, 'd', PLAN_DIGITS);
    assert_ok(scene.run, dpl_shard_count(scene.run, scene.task, &scene.shard, &counts));
    assert_int_equal(counts->facts.units, USERS);
    assert_int_equal(counts->facts.trips_dropped[DPL_DROP_NO_USER], 3);
    assert_int_equal(counts->n_tables, 0);
    assert_int_equal(counts->round, 1);
    assert_string_equal(counts->plan, scene.task->digest);
    assert_int_equal(counts->shards, 5);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(counts->have[i], i == 1);
    dpl_sums_free(counts);
    close_scene(&scene);
}

/* ---- units in parts ---- */

/* The counts of all parts, by a counting function. */
static struct dpl_exact *count_in_parts(struct scene *scene, enum dpl_unit unit, size_t n,
                                        size_t bins, dpl_counting *count) {
    static const struct dpl_cut CUT = {0};
    const struct dpl_question question = {
        .name = "test",
        .shape = dpl_shape1(bins),
        .count = count,
        .about = &CUT,
        .event = {.kind = DPL_EVENT_GAUSSIAN, .sensitivity = 100}};
    struct dpl_parts parts = {0};
    struct dpl_exact *sum = NULL;
    assert_ok(scene->run, dpl_parts_make(scene->run, scene->shard.trips, unit, 2, n, &parts));
    assert_int_equal(parts.n_units, unit == DPL_UNIT_USER ? USERS : TRIPS);
    assert_ok(scene->run, dpl_count_all(scene->run, &question, 1, &parts, &sum));
    dpl_parts_free(&parts);
    return sum;
}

/* Two trips of each user count, all of trips: one in the bin of its length, one in all, one in the
 * cell of each visit. */
static void a_count_in_parts_is_the_count(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, true);
    const size_t cells = (size_t)dpl_grid_cells(&scene.shard.trips->grid);
    for (int user = 0; user < 2; user++) {
        const enum dpl_unit unit = user ? DPL_UNIT_USER : DPL_UNIT_TRIP;
        const double trips = user ? 2 * USERS : TRIPS;
        for (size_t n = 1; n < 6; n++) {
            struct dpl_exact *all = count_in_parts(&scene, unit, n, 1, dpl_count_trips),
                             *lengths = count_in_parts(&scene, unit, n, DPL_LENGTH_BINS,
                                                       dpl_count_lengths),
                             *visits = count_in_parts(&scene, unit, n, cells, dpl_count_visits);
            double sum = 0;
            assert_true(counted_value(all, 0) == trips);
            for (size_t i = 0; i < DPL_LENGTH_BINS; i++)
                assert_true(counted_value(lengths, i) == (i == dpl_length_bin(VISITS) ? trips : 0));
            for (size_t i = 0; i < cells; i++) sum += counted_value(visits, i);
            assert_true(sum == VISITS * trips);
            assert_true(counted_value(visits, cells - 1) == trips);
            if (!user) assert_true(counted_value(visits, 0) == 1);
            dpl_exact_free(all), dpl_exact_free(lengths), dpl_exact_free(visits);
        }
    }
    close_scene(&scene);
}

/* Counts the first part, and no other. */
static enum dpl_status count_once(struct dpl_run *run, const void *about,
                                  const struct dpl_part *part, struct dpl_exact *exact) {
    int *calls = (int *)(uintptr_t)about;
    if (++*calls > 1) return dpl_fail(run, DPL_SYSTEM, "the disk is gone");
    return dpl_count_trips(run, about, part, exact);
}

/* PRIVACY: what could not be counted is no sum of the rest. */
static void a_part_that_fails_fails_all(void **state) {
    (void)state;
    struct scene scene;
    struct dpl_parts parts = {0};
    struct dpl_exact *sum[2] = {NULL};
    int calls = 0;
    const struct dpl_question question = {.name = "test",
                                          .shape = dpl_shape1(1),
                                          .count = count_once,
                                          .about = &calls,
                                          .event = {.kind = DPL_EVENT_GAUSSIAN, .sensitivity = 1}};
    open_scene(&scene, false);
    assert_ok(scene.run, dpl_parts_make(scene.run, scene.shard.trips, DPL_UNIT_TRIP, 1, 3, &parts));
    assert_int_equal(dpl_count_all(scene.run, &question, 1, &parts, sum), DPL_SYSTEM);
    assert_null(sum[0]);
    assert_int_equal(calls, 2);
    dpl_parts_free(&parts);
    close_scene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(readings_are_compared),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(all_tables_are_there),
        cmocka_unit_test(a_round_has_so_many_tables),
        cmocka_unit_test(facts_have_limits),
        cmocka_unit_test(layouts_are_told_whole),
        cmocka_unit_test(parts_are_their_owners),
        cmocka_unit_test(shards_are_read_as_written),
        cmocka_unit_test(hostile_shards_are_refused),
        cmocka_unit_test(headers_of_shards_are_checked),
        cmocka_unit_test(there_are_so_many_shards),
        cmocka_unit_test(a_shard_is_itself),
        cmocka_unit_test(users_are_counted),
        cmocka_unit_test(a_count_in_parts_is_the_count),
        cmocka_unit_test(a_part_that_fails_fails_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
