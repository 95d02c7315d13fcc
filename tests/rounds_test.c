/* Fits in rounds: the same bytes as on one machine for any number of shards, every method and both
 * units; and that everything which does not belong together is refused. */
#include "fit_bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fit/counts.h"
#include "fit/task.h"

enum { TRIPS = 900, ROUNDS_MOST = 20 };

/* A city and a fit of it that is begun. */
struct scene {
    struct bench bench;
    struct dpl_run *run;
};

static void open_scene(struct scene *scene, const char *method) {
    set_up(&scene->bench, TRIPS);
    scene->run = test_run(2);
    scene->bench.area.cell_m = 3000; // each fit is made four times
    struct dpl_fit_options *options = &scene->bench.options;
    options->method = method, options->sigmas = NULL;
    options->budget.epsilon = 8, options->budget.insecure_seed = true, options->insecure_seed = 5;
    options->checkpoint = NULL, options->size = 0;
}

static void close_scene(struct scene *scene) {
    dpl_run_free(scene->run);
    tear_down(&scene->bench);
}

/* The plan of a round, in one of four buffers. */
static const char *plan_of(struct scene *scene, int round) {
    static char path[4][PATH_ROOM];
    static int next;
    char name[32];
    snprintf(name, sizeof name, "round%d.plan", round);
    char *into = path[next++ % 4];
    place(&scene->bench, into, name);
    return into;
}

static enum dpl_status begin(struct scene *scene) {
    return dpl_rounds_begin(scene->run, &scene->bench.read, &scene->bench.area,
                            &scene->bench.options, plan_of(scene, 1), false);
}

static struct dpl_view view_of(struct dpl_bytes bytes) {
    return (struct dpl_view){bytes.data, bytes.n};
}

/* The part of one shard; `kept` (may be NULL): cleaned trips, made once and counted in all rounds.
 */
static struct dpl_bytes part_of(struct scene *scene, int round, const char *data, uint32_t index,
                                uint32_t of, struct dpl_bytes *kept) {
    struct dpl_task *task;
    struct dpl_trips *trips;
    struct dpl_bytes part = {0};
    assert_ok(scene->run, dpl_task_read(scene->run, plan_of(scene, round), &task));
    assert_int_equal(dpl_task_round(task), round);
    assert_ok(scene->run, dpl_trips_open(scene->run, &data, 1, dpl_task_reading(task), &trips));
    if (kept && !kept->data)
        assert_ok(scene->run, dpl_task_clean(scene->run, task, trips, index, of, kept));
    if (kept)
        assert_ok(scene->run, dpl_task_count(scene->run, task, view_of(*kept), &part));
    else
        assert_ok(scene->run, dpl_task_part(scene->run, task, trips, index, of, &part));
    dpl_trips_free(trips);
    dpl_task_free(task);
    return part;
}

static struct dpl_bytes merge(struct scene *scene, const struct dpl_bytes *part, size_t n) {
    struct dpl_sums *sums;
    struct dpl_bytes made = {0};
    assert_ok(scene->run, dpl_sums_new(scene->run, &sums));
    for (size_t i = n; i-- > 0;) // any order
        assert_ok(scene->run, dpl_sums_add(scene->run, sums, "a part", view_of(part[i])));
    assert_ok(scene->run, dpl_sums_make(scene->run, sums, &made));
    dpl_sums_free(sums);
    return made;
}

/* The sums of a round over all shards; `kept` (shards) as above. */
static struct dpl_bytes sums_of(struct scene *scene, int round, const char *data, uint32_t shards,
                                struct dpl_bytes *kept) {
    struct dpl_bytes part[16];
    assert_true(shards <= 16);
    for (uint32_t i = 0; i < shards; i++)
        part[i] = part_of(scene, round, data, i, shards, kept ? &kept[i] : NULL);
    struct dpl_bytes sums = merge(scene, part, shards);
    for (uint32_t i = 0; i < shards; i++) dpl_bytes_free(&part[i]);
    return sums;
}

static enum dpl_status go_on(struct scene *scene, int round, struct dpl_bytes sums, bool *done) {
    struct dpl_rounds_options options = dpl_rounds_defaults();
    options.overwrite = true;
    return dpl_rounds_continue(scene->run, plan_of(scene, round), view_of(sums), &options,
                               plan_of(scene, round + 1), done);
}

static void refused(struct scene *scene, enum dpl_status status, enum dpl_status expected,
                    const char *part) {
    if (status != expected || !strstr(dpl_run_message(scene->run), part))
        fail_msg("status %d, message '%s', expected %d and '%s'", (int)status,
                 dpl_run_message(scene->run), (int)expected, part);
    dpl_run_begin(scene->run);
}

/* Rounds to the end; the model is at plan_of(the number that is returned). */
static int go_to_the_end(struct scene *scene, uint32_t shards, bool keep) {
    struct dpl_bytes kept[16] = {{0}};
    bool done = false;
    int round = 0;
    assert_ok(scene->run, begin(scene));
    while (!done) {
        assert_true(++round < ROUNDS_MOST);
        struct dpl_bytes sums =
            sums_of(scene, round, scene->bench.city, shards, keep ? kept : NULL);
        assert_ok(scene->run, go_on(scene, round, sums, &done));
        dpl_bytes_free(&sums);
    }
    for (size_t i = 0; i < 16; i++) dpl_bytes_free(&kept[i]);
    return round + 1;
}

/* ---- the same bytes ---- */

static void assert_same_files(const char *a, const char *b, const char *what) {
    for (size_t i = 0; i < RELEASED_FILES; i++) {
        struct bytes x = read_all(a, RELEASED[i]), y = read_all(b, RELEASED[i]);
        if (x.length != y.length || memcmp(x.data, y.data, x.length) != 0)
            fail_msg("%s%s differs from one machine's: %s", b, RELEASED[i], what);
        free(x.data), free(y.data);
    }
}

static void remove_plans(struct scene *scene, int last) {
    char path[PATH_ROOM];
    for (int i = 1; i <= last; i++) unlink(plan_of(scene, i));
    for (size_t i = 0; i < RELEASED_FILES; i++) {
        snprintf(path, sizeof path, "%s%s", plan_of(scene, last), RELEASED[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s.PRIVATE.json", plan_of(scene, last));
    unlink(path);
    snprintf(path, sizeof path, "%s.key", plan_of(scene, 1));
    unlink(path);
}

static void any_number_of_shards_makes_the_same_model(void **state) {
    (void)state;
    static const struct {
        const char *method, *mechanism;
        enum dpl_unit unit;
        int64_t size;
        int rounds;
        bool chosen; // how many trips a user counts as
    } CASES[] = {{"bridge", "gaussian", DPL_UNIT_TRIP, 0, 4, false},
                 {"bridge", "gaussian", DPL_UNIT_USER, 0, 8, true},
                 {"bridge", "gaussian", DPL_UNIT_USER, 0, 8, false},
                 {"bridge", "gaussian", DPL_UNIT_TRIP, TRIPS, 3, false},
                 {"adatrace", "gaussian", DPL_UNIT_TRIP, 0, 0, false},
                 {"adatrace", "laplace", DPL_UNIT_TRIP, 0, 0, false},
                 {"dpt", "gaussian", DPL_UNIT_TRIP, TRIPS, 0, false},
                 {"privtrace", "gaussian", DPL_UNIT_TRIP, 0, 0, false},
                 {"ngram", "gaussian", DPL_UNIT_TRIP, 0, 0, false},
                 {"ngram", "laplace", DPL_UNIT_TRIP, 0, 0, false},
                 {"sglt", "gaussian", DPL_UNIT_TRIP, 0, 0, false},
                 {"ldptrace", "gaussian", DPL_UNIT_TRIP, 0, 0, false}};
    static const uint32_t SHARDS[] = {1, 2, 7};
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        struct scene scene;
        open_scene(&scene, CASES[c].method);
        struct dpl_fit_options *options = &scene.bench.options;
        options->mechanism = CASES[c].mechanism, options->size = CASES[c].size;
        options->budget.unit = CASES[c].unit;
        options->budget.trips_max = CASES[c].unit == DPL_UNIT_USER ? 5 : 1;
        if (CASES[c].chosen) options->budget.trips_max = 0;
        fit_ok(&scene.bench);
        for (size_t s = 0; s < sizeof SHARDS / sizeof *SHARDS; s++) {
            int last = go_to_the_end(&scene, SHARDS[s], s == 1);
            if (CASES[c].rounds) assert_int_equal(last - 1, CASES[c].rounds);
            assert_same_files(scene.bench.model, plan_of(&scene, last), CASES[c].method);
            assert_false(exists(scene.bench.checkpoint));
            remove_plans(&scene, last);
        }
        close_scene(&scene);
    }
}

/* A trip whose rows name one user after the other, with rows of another trip between them. */
static void append_shared_trip(const struct bench *bench, int users) {
    FILE *file = fopen(bench->city, "a");
    const struct dpl_area *area = &bench->area;
    const double lat = (area->south_deg + area->north_deg) / 2,
                 lon = (area->west_deg + area->east_deg) / 2;
    assert_non_null(file);
    for (int i = 0; i < 8 * users; i++)
        for (int trip = 0; trip < 2; trip++)
            fprintf(file, "%d,%d,%d,%.5f,%.5f\n", 888880 + trip, i % users, 1741000000 + 20 * i,
                    lat + 0.0005 * (i / 8), lon + 0.002 * trip);
    fclose(file);
}

/* PRIVACY: a row is its user's, whatever its trip: in one shard, and on one machine, too. */
static void a_trip_of_many_users_is_a_trip_of_each(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, "bridge");
    scene.bench.options.budget.unit = DPL_UNIT_USER, scene.bench.options.budget.trips_max = 5;
    append_shared_trip(&scene.bench, 12);
    fit_ok(&scene.bench);
    int last = go_to_the_end(&scene, 3, false);
    assert_same_files(scene.bench.model, plan_of(&scene, last), "trips of many users");
    close_scene(&scene);
}

/* With a ledger: its data set is the same, and what is charged, too. */
static void the_ledger_is_charged_as_on_one_machine(void **state) {
    (void)state;
    struct scene scene;
    char other[PATH_ROOM], key[2][PATH_ROOM + 8], *summary[2];
    open_scene(&scene, "adatrace");
    place(&scene.bench, other, "other.ledger");
    scene.bench.options.ledger = scene.bench.ledger;
    fit_ok(&scene.bench);
    snprintf(key[0], sizeof key[0], "%s.key", scene.bench.ledger);
    snprintf(key[1], sizeof key[1], "%s.key", other);
    struct bytes bytes = read_all(key[0], "");
    FILE *copy = fopen(key[1], "wb"); // the same key: the same fingerprint
    assert_int_equal(fwrite(bytes.data, 1, bytes.length, copy), bytes.length);
    fclose(copy), free(bytes.data);
    chmod(key[1], 0600);
    scene.bench.options.ledger = other;
    int last = go_to_the_end(&scene, 3, false);
    assert_same_files(scene.bench.model, plan_of(&scene, last), "with a ledger");
    const char *const paths[] = {scene.bench.ledger, other};
    for (int i = 0; i < 2; i++) {
        struct bytes lines = read_all(paths[i], "");
        summary[i] = strstr((char *)lines.data, "\"fingerprint\"");
        assert_non_null(summary[i]);
        summary[i] = strndup(summary[i], 90);
        free(lines.data);
    }
    assert_string_equal(summary[0], summary[1]);
    free(summary[0]), free(summary[1]);
    close_scene(&scene);
}

/* ---- what is refused ---- */

static enum dpl_status add_two(struct scene *scene, struct dpl_bytes a, struct dpl_bytes b) {
    struct dpl_sums *sums;
    assert_ok(scene->run, dpl_sums_new(scene->run, &sums));
    assert_ok(scene->run, dpl_sums_add(scene->run, sums, "first", view_of(a)));
    enum dpl_status status = dpl_sums_add(scene->run, sums, "second", view_of(b));
    dpl_sums_free(sums);
    return status;
}

/* A frame's bytes with one text of its header replaced by one as long, and its hash made right. */
static struct dpl_bytes edited(struct dpl_bytes bytes, const char *from, const char *to) {
    struct dpl_bytes copy = {malloc(bytes.n), bytes.n};
    memcpy(copy.data, bytes.data, bytes.n);
    char *at = memmem(copy.data, copy.n, from, strlen(from));
    assert_non_null(at);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    const struct dpl_key key = dpl_hash(copy.data, copy.n - 16, 0);
    for (size_t i = 0; i < 8; i++) {
        ((uint8_t *)copy.data)[copy.n - 16 + i] = (uint8_t)(key.hi >> (8 * i));
        ((uint8_t *)copy.data)[copy.n - 8 + i] = (uint8_t)(key.lo >> (8 * i));
    }
    return copy;
}

static void parts_that_do_not_fit_are_refused(void **state) {
    (void)state;
    struct scene scene, other;
    bool done;
    open_scene(&scene, "adatrace"), open_scene(&other, "adatrace");
    assert_ok(scene.run, begin(&scene));
    assert_ok(other.run, begin(&other));
    const char *city = scene.bench.city;
    struct dpl_bytes one = part_of(&scene, 1, city, 0, 2, NULL),
                     two = part_of(&scene, 1, city, 1, 2, NULL),
                     again = part_of(&scene, 1, city, 1, 2, NULL),
                     of_three = part_of(&scene, 1, city, 1, 3, NULL),
                     foreign = part_of(&other, 1, city, 1, 2, NULL), sums;
    // A task that is tried again makes the same bytes; both cannot be added.
    assert_int_equal(two.n, again.n);
    assert_memory_equal(two.data, again.data, two.n);
    refused(&scene, add_two(&scene, two, again), DPL_REFUSED, "shard 2/2 is there twice");
    refused(&scene, add_two(&scene, one, of_three), DPL_REFUSED, "one of 3 shards");
    refused(&scene, add_two(&scene, one, foreign), DPL_REFUSED, "another plan");
    struct dpl_bytes version = edited(two, "\"version\":\"0.", "\"version\":\"9.");
    refused(&scene, add_two(&scene, one, version), DPL_REFUSED, "same version");
    // A lost shard, and a whole sum for another plan.
    sums = merge(&scene, &one, 1);
    refused(&scene, go_on(&scene, 1, sums, &done), DPL_REFUSED,
            "1 of 2 shards are missing, the first is 2/2");
    dpl_bytes_free(&sums);
    sums = sums_of(&scene, 1, city, 2, NULL);
    refused(&other, go_on(&other, 1, sums, &done), DPL_REFUSED, "another plan");
    assert_ok(scene.run, go_on(&scene, 1, sums, &done));
    assert_false(done);
    // Parts of two rounds; and sums of the round before.
    struct dpl_bytes later = part_of(&scene, 2, city, 1, 2, NULL);
    refused(&scene, add_two(&scene, one, later), DPL_REFUSED, "of round 2");
    refused(&scene, go_on(&scene, 2, sums, &done), DPL_REFUSED,
            "another plan (they are of round 1");
    free(version.data);
    struct dpl_bytes *const all[] = {&one, &two, &again, &of_three, &foreign, &sums, &later};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dpl_bytes_free(all[i]);
    close_scene(&scene), close_scene(&other);
}

/* PRIVACY: the same noise on two sums gives away their difference. */
static void other_sums_and_other_data_are_refused(void **state) {
    (void)state;
    struct scene scene;
    bool done;
    open_scene(&scene, "adatrace");
    assert_ok(scene.run, begin(&scene));
    const char *city = scene.bench.city;
    struct dpl_bytes sums = sums_of(&scene, 1, city, 2, NULL);
    assert_ok(scene.run, go_on(&scene, 1, sums, &done));
    struct bytes plan = read_all(plan_of(&scene, 2), "");
    // The same sums again, counted in other shards: the same bytes for nothing.
    struct dpl_bytes same = sums_of(&scene, 1, city, 5, NULL);
    assert_ok(scene.run, go_on(&scene, 1, same, &done));
    struct bytes replayed = read_all(plan_of(&scene, 2), "");
    assert_int_equal(plan.length, replayed.length);
    assert_memory_equal(plan.data, replayed.data, plan.length);
    struct dpl_bytes second = sums_of(&scene, 2, city, 2, NULL);
    append_trip(&scene.bench, 0.2, 0.2, 30);
    struct dpl_bytes more = sums_of(&scene, 1, city, 2, NULL),
                     more_second = sums_of(&scene, 2, city, 2, NULL);
    refused(&scene, go_on(&scene, 1, more, &done), DPL_REFUSED, "other data");
    refused(&scene, go_on(&scene, 2, more_second, &done), DPL_REFUSED, "other data");
    // The same rows by their identity, but other sums: a table whose numbers were changed.
    struct dpl_sums *changed;
    assert_ok(scene.run, go_on(&scene, 2, second, &done));
    assert_ok(scene.run, dpl_sums_new(scene.run, &changed));
    assert_ok(scene.run, dpl_sums_add(scene.run, changed, "sums", view_of(second)));
    assert_true(changed->n_tables > 0);
    ((int64_t *)(uintptr_t)dpl_exact_bytes(changed->table[0].sum))[3] += 1;
    struct dpl_bytes forged = {0};
    assert_ok(scene.run, dpl_sums_make(scene.run, changed, &forged));
    refused(&scene, go_on(&scene, 2, forged, &done), DPL_REFUSED, "other sums");
    dpl_sums_free(changed);
    free(plan.data), free(replayed.data);
    struct dpl_bytes *const all[] = {&sums, &same, &second, &more, &more_second, &forged};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) dpl_bytes_free(all[i]);
    close_scene(&scene);
}

/* A plan whose released numbers were changed asks for other sums under the same noise. */
static void another_plan_than_the_one_written_is_refused(void **state) {
    (void)state;
    struct scene scene;
    bool done;
    open_scene(&scene, "adatrace");
    assert_ok(scene.run, begin(&scene));
    struct dpl_bytes sums = sums_of(&scene, 1, scene.bench.city, 1, NULL);
    assert_ok(scene.run, go_on(&scene, 1, sums, &done));
    struct bytes plan = read_all(plan_of(&scene, 2), "");
    char *units = strstr((char *)plan.data + 24, "\"units\":");
    assert_non_null(units);
    char from[16] = "", to[16] = "";
    memcpy(from, units, 10), memcpy(to, units, 10);
    to[8] = from[8] == '9' ? '8' : '9';
    struct dpl_bytes forged = edited((struct dpl_bytes){plan.data, plan.length}, from, to);
    FILE *file = fopen(plan_of(&scene, 2), "wb");
    assert_int_equal(fwrite(forged.data, 1, forged.n, file), forged.n);
    fclose(file);
    struct dpl_bytes second = sums_of(&scene, 2, scene.bench.city, 1, NULL);
    refused(&scene, go_on(&scene, 2, second, &done), DPL_REFUSED, "not the plan");
    free(forged.data), free(plan.data);
    dpl_bytes_free(&sums), dpl_bytes_free(&second);
    close_scene(&scene);
}

static void damage_is_found(void **state) {
    (void)state;
    struct scene scene;
    uint64_t seed = 3;
    open_scene(&scene, "adatrace");
    assert_ok(scene.run, begin(&scene));
    struct dpl_bytes part = part_of(&scene, 1, scene.bench.city, 0, 1, NULL);
    for (size_t i = 0; i < test_soak(200); i++) {
        struct dpl_sums *sums;
        size_t at = test_random(&seed) % part.n, cut = test_random(&seed) % part.n;
        assert_ok(scene.run, dpl_sums_new(scene.run, &sums));
        struct dpl_bytes shorter = {part.data, cut};
        const uint8_t change = (uint8_t)(1 + test_random(&seed) % 255);
        refused(&scene, dpl_sums_add(scene.run, sums, "x", view_of(shorter)), DPL_BAD_DATA, "x: ");
        ((uint8_t *)part.data)[at] ^= change;
        refused(&scene, dpl_sums_add(scene.run, sums, "x", view_of(part)), DPL_BAD_DATA, "x: ");
        ((uint8_t *)part.data)[at] ^= change;
        dpl_sums_free(sums);
    }
    dpl_bytes_free(&part);
    close_scene(&scene);
}

/* Numbers that add up to more than there are: each is refused before anything is added to it. */
static void counts_beyond_reason_are_refused(void **state) {
    (void)state;
    static const char FROM[] = "\"selected\":false,\"dropped\":[0,0,0,0,0,0]";
    static const char *const TO[] = {"\"dropped\":[900000000000000000,0,0,0,0,0]",
                                     "\"dropped\":[0,0,0,0,0,-90000000000000000]"};
    struct scene scene;
    open_scene(&scene, "adatrace");
    assert_ok(scene.run, begin(&scene));
    struct dpl_bytes one = part_of(&scene, 1, scene.bench.city, 0, 2, NULL),
                     two = part_of(&scene, 1, scene.bench.city, 1, 2, NULL);
    for (size_t i = 0; i < sizeof TO / sizeof *TO; i++) {
        struct dpl_bytes forged = edited(two, FROM, TO[i]);
        refused(&scene, add_two(&scene, one, forged), DPL_BAD_DATA, "its facts are damaged");
        free(forged.data);
    }
    dpl_bytes_free(&one), dpl_bytes_free(&two);
    close_scene(&scene);
}

static void what_needs_one_machine_says_so(void **state) {
    (void)state;
    struct scene scene;
    open_scene(&scene, "paper");
    refused(&scene, begin(&scene), DPL_USAGE, "one machine");
    scene.bench.options.method = "bridge", scene.bench.options.hold_out = 0.1;
    refused(&scene, begin(&scene), DPL_USAGE, "one machine");
    scene.bench.options.hold_out = 0, scene.bench.read.strict = true;
    refused(&scene, begin(&scene), DPL_USAGE, "logs of a cluster");
    scene.bench.read.strict = false;
    assert_ok(scene.run, begin(&scene));
    refused(&scene, begin(&scene), DPL_USAGE, "round1.plan"); // it is there
    unlink(plan_of(&scene, 1));
    refused(&scene, begin(&scene), DPL_REFUSED, "left this checkpoint");
    close_scene(&scene);
}

static void cleaned_trips_of_another_fit_are_refused(void **state) {
    (void)state;
    struct scene scene, other;
    struct dpl_bytes cleaned = {0}, part;
    struct dpl_task *task;
    open_scene(&scene, "adatrace"), open_scene(&other, "adatrace");
    assert_ok(scene.run, begin(&scene));
    assert_ok(other.run, begin(&other));
    part = part_of(&other, 1, other.bench.city, 0, 2, &cleaned);
    dpl_bytes_free(&part);
    assert_ok(scene.run, dpl_task_read(scene.run, plan_of(&scene, 1), &task));
    refused(&scene, dpl_task_count(scene.run, task, view_of(cleaned), &part), DPL_REFUSED,
            "another fit");
    dpl_task_free(task);
    dpl_bytes_free(&cleaned);
    close_scene(&scene), close_scene(&other);
}

/* PRIVACY: under another key the ledger would take the data for another data set. */
static void the_key_of_another_plan_is_refused(void **state) {
    (void)state;
    struct scene scene, other;
    struct dpl_task *task = NULL;
    open_scene(&scene, "adatrace"), open_scene(&other, "adatrace");
    assert_ok(scene.run, begin(&scene));
    assert_ok(other.run, begin(&other));
    struct bytes plan = read_all(plan_of(&scene, 1), ""),
                 own = read_all(plan_of(&scene, 1), ".key"),
                 foreign = read_all(plan_of(&other, 1), ".key");
    const struct dpl_view view = {plan.data, plan.length};
    assert_ok(scene.run,
              dpl_task_open(scene.run, view, (struct dpl_view){own.data, own.length}, &task));
    dpl_task_free(task);
    refused(&scene,
            dpl_task_open(scene.run, view, (struct dpl_view){foreign.data, foreign.length}, &task),
            DPL_REFUSED, "the key of another plan");
    free(plan.data), free(own.data), free(foreign.data);
    close_scene(&scene), close_scene(&other);
}

/* ---- units ---- */

/* All trips of one user taken away change the part of one shard, by at most the sensitivity; and a
 * worker that is given units of others does not count them. */
static void write_without_user(const char *from, const char *to, const char *user) {
    char line[512];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    while (fgets(line, sizeof line, in)) {
        char field[64] = "";
        sscanf(line, "%*[^,],%63[^,]", field);
        if (strcmp(field, user) != 0) fputs(line, out);
    }
    fclose(in), fclose(out);
}

/* The tables of a part, added up as what they are. */
static struct dpl_sums *tables_of(struct scene *scene, struct dpl_bytes part) {
    struct dpl_sums *sums;
    assert_ok(scene->run, dpl_sums_new(scene->run, &sums));
    assert_ok(scene->run, dpl_sums_add(scene->run, sums, "part", view_of(part)));
    return sums;
}

static double moved(const struct dpl_sums *a, const struct dpl_sums *b) {
    double worst = 0;
    assert_int_equal(a->n_tables, b->n_tables);
    for (size_t t = 0; t < a->n_tables; t++) {
        const struct dpl_exact_options *about = dpl_exact_about(a->table[t].sum);
        const int64_t *x = dpl_exact_bytes(a->table[t].sum), *y = dpl_exact_bytes(b->table[t].sum);
        double sum = 0;
        assert_true(dpl_exact_options_same(about, dpl_exact_about(b->table[t].sum)));
        for (size_t i = 0; i < about->n; i++) sum += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
        const double ratio = sum / (about->sensitivity * about->sensitivity * 0x1p32);
        if (ratio > worst) worst = ratio;
    }
    return worst;
}

static void a_user_moves_one_shard_by_its_sensitivity(void **state) {
    (void)state;
    enum { SHARDS = 3 };
    struct scene scene;
    char less[PATH_ROOM];
    bool done = false;
    open_scene(&scene, "bridge");
    scene.bench.options.budget.unit = DPL_UNIT_USER, scene.bench.options.budget.trips_max = 5;
    append_shared_trip(&scene.bench, 12);
    place(&scene.bench, less, "less.csv");
    write_without_user(scene.bench.city, less, "7");
    assert_ok(scene.run, begin(&scene));
    for (int round = 1; !done; round++) {
        int changed = 0;
        for (uint32_t i = 0; i < SHARDS; i++) {
            struct dpl_bytes a = part_of(&scene, round, scene.bench.city, i, SHARDS, NULL),
                             b = part_of(&scene, round, less, i, SHARDS, NULL);
            struct dpl_sums *x = tables_of(&scene, a), *y = tables_of(&scene, b);
            const double ratio = moved(x, y);
            changed += ratio > 0 || x->facts.units != y->facts.units;
            assert_true(ratio <= 1);
            assert_true(x->facts.units - y->facts.units <= 1);
            dpl_sums_free(x), dpl_sums_free(y);
            dpl_bytes_free(&a), dpl_bytes_free(&b);
        }
        assert_int_equal(changed, 1);
        struct dpl_bytes sums = sums_of(&scene, round, scene.bench.city, SHARDS, NULL);
        assert_ok(scene.run, go_on(&scene, round, sums, &done));
        dpl_bytes_free(&sums);
    }
    close_scene(&scene);
}

/* Every id is of exactly one shard, the one that the public call says. */
static void shards_are_those_of_the_ids(void **state) {
    (void)state;
    enum { SHARDS = 4 };
    struct scene scene;
    struct dpl_task *task;
    char less[PATH_ROOM];
    open_scene(&scene, "bridge");
    scene.bench.options.budget.unit = DPL_UNIT_USER, scene.bench.options.budget.trips_max = 5;
    place(&scene.bench, less, "less.csv");
    assert_ok(scene.run, begin(&scene));
    assert_ok(scene.run, dpl_task_read(scene.run, plan_of(&scene, 1), &task));
    assert_true(dpl_task_by_user(task));
    for (int user = 1; user < 6; user++) {
        char id[8];
        snprintf(id, sizeof id, "%d", user);
        write_without_user(scene.bench.city, less, id);
        const uint32_t of = dpl_task_shard(task, id, strlen(id), SHARDS);
        snprintf(id, sizeof id, " %d\t", user); // blanks around it are no part of an id
        assert_int_equal(dpl_task_shard(task, id, strlen(id), SHARDS), of);
        for (uint32_t i = 0; i < SHARDS; i++) {
            struct dpl_bytes a = part_of(&scene, 1, scene.bench.city, i, SHARDS, NULL),
                             b = part_of(&scene, 1, less, i, SHARDS, NULL);
            struct dpl_sums *x = tables_of(&scene, a), *y = tables_of(&scene, b);
            assert_int_equal(x->facts.recordings != y->facts.recordings, i == of);
            dpl_sums_free(x), dpl_sums_free(y);
            dpl_bytes_free(&a), dpl_bytes_free(&b);
        }
    }
    dpl_task_free(task);
    close_scene(&scene);
}

/* Parts, sums and the key are for their owner; the plan has nothing of the data and no key. */
static void private_files_are_private(void **state) {
    (void)state;
    struct scene scene;
    char path[PATH_ROOM + 8];
    struct stat info;
    open_scene(&scene, "adatrace");
    assert_ok(scene.run, begin(&scene));
    struct dpl_bytes part = part_of(&scene, 1, scene.bench.city, 0, 1, NULL);
    place(&scene.bench, path, "part");
    assert_ok(scene.run, dpl_part_write(scene.run, view_of(part), path, false));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_non_null(memmem(part.data, part.n, "{\"not_private\":true", 19));
    snprintf(path, sizeof path, "%s.key", plan_of(&scene, 1));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    struct bytes key = read_all(path, ""), plan = read_all(plan_of(&scene, 1), "");
    assert_null(memmem(plan.data, plan.length, key.data + key.length - 32, 32));
    assert_null(memmem(plan.data, plan.length, "insecure_seed=5", 15));
    free(key.data), free(plan.data);
    dpl_bytes_free(&part);
    close_scene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_shards_makes_the_same_model),
        cmocka_unit_test(a_trip_of_many_users_is_a_trip_of_each),
        cmocka_unit_test(the_ledger_is_charged_as_on_one_machine),
        cmocka_unit_test(parts_that_do_not_fit_are_refused),
        cmocka_unit_test(other_sums_and_other_data_are_refused),
        cmocka_unit_test(another_plan_than_the_one_written_is_refused),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(counts_beyond_reason_are_refused),
        cmocka_unit_test(what_needs_one_machine_says_so),
        cmocka_unit_test(cleaned_trips_of_another_fit_are_refused),
        cmocka_unit_test(the_key_of_another_plan_is_refused),
        cmocka_unit_test(a_user_moves_one_shard_by_its_sensitivity),
        cmocka_unit_test(shards_are_those_of_the_ids),
        cmocka_unit_test(private_files_are_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
