/* The resume matrix: a fit is stopped, one member of one option struct is changed, and the fit is
 * gone on with. Where the member shapes the result it is refused; where it does not, the released
 * bytes are those of the unchanged fit. The members are read off include/dploc.h, so that a new one
 * fails here until src/fit/binding.c lists it and a case below changes it. */
#include "fit_bench.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fit/binding.h"
#include "model/model.h"

enum { TRIPS = 300, MEMBERS_MAX = 128, NAME_ROOM = 64 };

/* ---- the members, as the header has them ---- */

struct members {
    char name[MEMBERS_MAX][2 * NAME_ROOM]; /* "dpl_area.cell_m" */
    size_t n;
};

static struct bytes read_header(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s", __FILE__);
    char *slash = strrchr(path, '/');
    assert_non_null(slash);
    snprintf(slash, sizeof path - (size_t)(slash - path), "/../include/%s", name);
    return read_all(path, "");
}

static void blank_comments(char *text) {
    for (char *begin; (begin = strstr(text, "/*"));) {
        char *end = strstr(begin, "*/");
        assert_non_null(end);
        memset(begin, ' ', (size_t)(end + 2 - begin));
    }
}

/* The last word before a ',', ';' or '[' is a member's name; "const char *a, *b;" has two. */
static void add_members(struct members *members, const char *owner, const char *body,
                        const char *end) {
    char word[NAME_ROOM] = "";
    bool named = false; // by a '[' already: what follows up to the next name is its length
    for (; body < end; body++) {
        size_t length =
            strspn(body, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        if (length && !named) snprintf(word, sizeof word, "%.*s", (int)length, body);
        if (length) body += length;
        if (*body == '[') named = true;
        if (*body != ',' && *body != ';') continue;
        assert_true(members->n < MEMBERS_MAX && word[0]);
        snprintf(members->name[members->n++], 2 * NAME_ROOM, "%s.%s", owner, word);
        named = false;
    }
}

static void read_members(struct members *members) {
    static const struct {
        const char *header, *owner;
    } OWNERS[] = {{"dploc.h", "dpl_fit_options"},
                  {"dploc.h", "dpl_budget"},
                  {"dploc.h", "dpl_area"},
                  {"dploc_data.h", "dpl_read_options"}};
    members->n = 0;
    for (size_t i = 0; i < sizeof OWNERS / sizeof *OWNERS; i++) {
        struct bytes header = read_header(OWNERS[i].header);
        char start[NAME_ROOM], *text = (char *)header.data;
        blank_comments(text);
        snprintf(start, sizeof start, "\nstruct %s {", OWNERS[i].owner);
        char *body = strstr(text, start);
        assert_non_null(body);
        body += strlen(start);
        add_members(members, OWNERS[i].owner, body, strstr(body, "};"));
        free(header.data);
    }
}

static const struct dpl_option_member *listed(const char *name) {
    const struct dpl_option_member *member;
    char here[2 * NAME_ROOM];
    for (size_t i = 0; (member = dpl_option_member(i)); i++) {
        snprintf(here, sizeof here, "%s.%s", member->owner, member->name);
        if (!strcmp(here, name)) return member;
    }
    return NULL;
}

static void every_member_of_every_option_struct_is_listed(void **state) {
    (void)state;
    struct members members;
    size_t n_listed = 0;
    read_members(&members);
    assert_true(members.n > 40);
    for (size_t i = 0; i < members.n; i++)
        if (!listed(members.name[i]))
            fail_msg("%s is neither bound to the checkpoint nor listed as free, with a reason, in "
                     "src/fit/binding.c",
                     members.name[i]);
    while (dpl_option_member(n_listed)) n_listed++;
    assert_int_equal(n_listed, members.n);
}

/* ---- the matrix ---- */

#define AS_IS (void)b
#define SOLVED                                                                                     \
    b->options.sigmas = NULL, b->options.budget.epsilon = 200, b->options.accept_weak = true
#define USER_UNIT b->options.budget.unit = DPL_UNIT_USER, b->options.budget.trips_max = 5
#define OTHER DPL_REFUSED, "other options"
#define SAME DPL_OK, ""

/* owner, member, how the first run differs from the bench, what --resume changes, what follows.
 * Changes of reading are such that the trips stay the same: the member itself is bound. */
#define CASES(X)                                                                                   \
    X(dpl_fit_options, struct_size, AS_IS,                                                         \
      b->options.struct_size = offsetof(struct dpl_fit_options, hold_out), SAME)                   \
    X(dpl_area, struct_size, AS_IS, b->area.struct_size = 0, DPL_USAGE, "do not say their size")   \
    X(dpl_read_options, struct_size, AS_IS,                                                        \
      b->read.struct_size = offsetof(struct dpl_read_options, memory_bytes), SAME)                 \
    X(dpl_fit_options, method, SOLVED, b->options.method = "bridge", OTHER)                        \
    X(dpl_fit_options, mechanism, (b->options.method = "ngram", SOLVED),                           \
      b->options.mechanism = "laplace", OTHER)                                                     \
    X(dpl_fit_options, budget, AS_IS, b->options.budget.delta = 1e-7, OTHER)                       \
    X(dpl_fit_options, trips_as_cut, AS_IS, b->options.trips_as_cut = true, OTHER)                 \
    X(dpl_fit_options, accept_weak, AS_IS, b->options.accept_weak = true, OTHER)                   \
    X(dpl_fit_options, size, AS_IS, b->options.size = TRIPS + 1, OTHER)                            \
    X(dpl_fit_options, coverage, AS_IS, b->options.coverage = 0.9, OTHER)                          \
    X(dpl_fit_options, kl_weight, AS_IS, b->options.kl_weight = 2, OTHER)                          \
    X(dpl_fit_options, no_destination, AS_IS, b->options.no_destination = true, OTHER)             \
    X(dpl_fit_options, shares, SOLVED, b->options.shares = "ti=0.4", OTHER)                        \
    X(dpl_fit_options, as_published, (b->options.method = "ngram", SOLVED),                        \
      b->options.as_published = true, OTHER)                                                       \
    X(dpl_fit_options, sglt_form, (b->options.method = "sglt", SOLVED),                            \
      b->options.sglt_form = "deniable", OTHER)                                                    \
    X(dpl_fit_options, keep, (b->options.method = "sglt", SOLVED), b->options.keep = "sequence",   \
      OTHER)                                                                                       \
    X(dpl_fit_options, sigmas, AS_IS, b->options.sigmas = "topk=0.2,ti=0.8,tpg=0.9", OTHER)        \
    X(dpl_fit_options, roads, AS_IS, b->options.roads = b->city, DPL_USAGE, "belongs to")          \
    X(dpl_fit_options, travel, AS_IS, b->options.travel = DPL_TRAVEL_BIKE, OTHER)                  \
    X(dpl_fit_options, hold_out, AS_IS, b->options.hold_out = 0.1, DPL_USAGE, "cannot be resumed") \
    X(dpl_fit_options, insecure_seed, b->options.budget.insecure_seed = true,                      \
      b->options.insecure_seed = 43, OTHER)                                                        \
    X(dpl_fit_options, ledger, AS_IS, b->options.ledger = b->ledger, OTHER)                        \
    X(dpl_fit_options, dataset, b->options.ledger = b->ledger, b->options.dataset = "city", OTHER) \
    X(dpl_fit_options, new_data, b->options.ledger = b->ledger, b->options.new_data = true, SAME)  \
    X(dpl_fit_options, total_epsilon, b->options.ledger = b->ledger,                               \
      b->options.total_epsilon = 1e9, SAME)                                                        \
    X(dpl_fit_options, total_delta, b->options.ledger = b->ledger, b->options.total_delta = 0.5,   \
      SAME)                                                                                        \
    X(dpl_fit_options, checkpoint, AS_IS, move_checkpoint(b), SAME)                                \
    X(dpl_fit_options, checkpoint_s, AS_IS, b->options.checkpoint_s = 0, SAME)                     \
    X(dpl_fit_options, resume, AS_IS, b->options.resume = false, DPL_REFUSED, "`fit.resume`")      \
    X(dpl_fit_options, restart, AS_IS, b->options.restart = true, DPL_USAGE, "exclude each other") \
    X(dpl_fit_options, show_private_loss, AS_IS, b->options.show_private_loss = true, SAME)        \
    X(dpl_fit_options, memory_mb, AS_IS, b->options.memory_mb = 5000, SAME)                        \
    X(dpl_budget, epsilon, AS_IS, b->options.budget.epsilon = 2, OTHER)                            \
    X(dpl_budget, delta, AS_IS, b->options.budget.delta = 2e-8, OTHER)                             \
    X(dpl_budget, size_share, AS_IS, b->options.budget.size_share = 0.03, OTHER)                   \
    X(dpl_budget, unit, b->options.budget.trips_max = 1, b->options.budget.unit = DPL_UNIT_USER,   \
      OTHER)                                                                                       \
    X(dpl_budget, trips_max, USER_UNIT, b->options.budget.trips_max = 6, OTHER)                    \
    X(dpl_budget, insecure_seed, b->options.budget.insecure_seed = true,                           \
      b->options.budget.insecure_seed = false, OTHER)                                              \
    X(dpl_area, south_deg, AS_IS, b->area.south_deg = nextafter(b->area.south_deg, 90), OTHER)     \
    X(dpl_area, west_deg, AS_IS, b->area.west_deg = nextafter(b->area.west_deg, 90), OTHER)        \
    X(dpl_area, north_deg, AS_IS, b->area.north_deg = nextafter(b->area.north_deg, 0), OTHER)      \
    X(dpl_area, east_deg, AS_IS, b->area.east_deg = nextafter(b->area.east_deg, 0), OTHER)         \
    X(dpl_area, cell_m, AS_IS, b->area.cell_m = 1501, OTHER)                                       \
    X(dpl_area, speed_limit_kmh, AS_IS, b->area.speed_limit_kmh = 151, OTHER)                      \
    X(dpl_area, slot_s, AS_IS, b->area.slot_s = 61, OTHER)                                         \
    X(dpl_area, periods, AS_IS, b->area.periods = 12, OTHER)                                       \
    X(dpl_area, zone, AS_IS, strcpy(b->area.zone, "Europe/Lisbon"), OTHER)                         \
    X(dpl_read_options, format, AS_IS, b->read.format = "csv", OTHER)                              \
    X(dpl_read_options, trip_column, AS_IS, b->read.trip_column = "trip_id", OTHER)                \
    X(dpl_read_options, user_column, AS_IS, b->read.user_column = "user_id", OTHER)                \
    X(dpl_read_options, time_column, AS_IS, b->read.time_column = "timestamp", OTHER)              \
    X(dpl_read_options, lat_column, AS_IS, b->read.lat_column = "lat", OTHER)                      \
    X(dpl_read_options, lon_column, AS_IS, b->read.lon_column = "lon", OTHER)                      \
    X(dpl_read_options, date_column, AS_IS, b->read.date_column = "trip_id", OTHER)                \
    X(dpl_read_options, time_format, AS_IS, b->read.time_format = "%s", OTHER)                     \
    X(dpl_read_options, coordinates, AS_IS, b->read.coordinates = "degrees", OTHER)                \
    X(dpl_read_options, columns, AS_IS, b->read.columns = "trip,user,time,lat,lon", OTHER)         \
    X(dpl_read_options, separator, AS_IS, b->read.separator = ",", OTHER)                          \
    X(dpl_read_options, guess, AS_IS, b->read.guess = true, DPL_USAGE, "guessing")                 \
    X(dpl_read_options, time_unit, AS_IS, b->read.time_unit = "s", OTHER)                          \
    X(dpl_read_options, zone, AS_IS, b->read.zone = "Europe/Lisbon", OTHER)                        \
    X(dpl_read_options, position_phase_s, AS_IS, b->read.position_phase_s = 1, OTHER)              \
    X(dpl_read_options, own_phase, AS_IS, b->read.own_phase = !b->read.own_phase, SAME)            \
    X(dpl_read_options, keep_too_fast, AS_IS, b->read.keep_too_fast = true, OTHER)                 \
    X(dpl_read_options, gap_limit_s, AS_IS, b->read.gap_limit_s = 301, OTHER)                      \
    X(dpl_read_options, drop_points, AS_IS, b->read.drop_points = true, OTHER)                     \
    X(dpl_read_options, hold_out, AS_IS, b->read.hold_out.share = 0.5, DPL_REFUSED, "data")        \
    X(dpl_read_options, positions, AS_IS, b->read.positions = true, OTHER)                         \
    X(dpl_read_options, strict, AS_IS, b->read.strict = true, OTHER)                               \
    X(dpl_read_options, time_optional, AS_IS, b->read.time_optional = true, DPL_USAGE,             \
      "time_optional")                                                                             \
    X(dpl_read_options, need_trips, AS_IS, b->read.need_trips = !b->read.need_trips, SAME)         \
    X(dpl_read_options, need_users, AS_IS, b->read.need_users = true, SAME)                        \
    X(dpl_read_options, dates, AS_IS, b->read.dates = "1990-01-01..2099-12-31", OTHER)             \
    X(dpl_read_options, memory_bytes, AS_IS, b->read.memory_bytes = 1 << 20, SAME)

static void move_checkpoint(struct bench *b) {
    char old[PATH_ROOM];
    strcpy(old, b->checkpoint);
    place(b, b->checkpoint, "elsewhere");
    assert_int_equal(rename(old, b->checkpoint), 0);
}

struct change {
    const char *member;
    void (*prepare)(struct bench *b), (*change)(struct bench *b);
    enum dpl_status status;
    const char *message; /* a part of it */
};

#define FUNCTIONS(owner, member, first, then, ...)                                                 \
    static void prepare_##owner##_##member(struct bench *b) { first; }                             \
    static void change_##owner##_##member(struct bench *b) { then; }
CASES(FUNCTIONS)
#define ROW(owner, member, first, then, ...)                                                       \
    {#owner "." #member, prepare_##owner##_##member, change_##owner##_##member, __VA_ARGS__},
static const struct change MATRIX[] = {CASES(ROW)};
enum { N_CASES = sizeof MATRIX / sizeof *MATRIX };

/* A released file says that it is private exactly when the key of its noise was a secret. */
static void assert_watermark(const struct bench *bench, bool insecure) {
    struct dpl_run *run = test_run(1);
    struct dpl_verdict verdict;
    struct dpl_model *model;
    struct released released = read_released(bench);
    for (int i = 0; i < RELEASED_FILES; i++) {
        const struct bytes *file = &released.file[i];
        if (!memmem(file->data, file->length, "NOT PRIVATE", 11) == insecure)
            fail_msg("'%s' does not say that a seed gave its noise, or says so of a secret",
                     RELEASED[i]);
    }
    for (int i = 1; i < RELEASED_FILES; i++) {
        json_t *root =
            json_loadb((const char *)released.file[i].data, released.file[i].length, 0, NULL);
        assert_int_equal(json_is_true(json_object_get(root, "private")), !insecure);
        json_decref(root);
    }
    assert_ok(run, dpl_model_read(run, bench->model, &model));
    assert_int_equal(model->not_private, insecure);
    assert_ok(run, dpl_model_verify(run, bench->model, &verdict));
    assert_int_equal(verdict.valid, !insecure);
    dpl_model_free(model);
    free_released(&released);
    dpl_run_free(run);
}

static void resume_unchanged(struct bench *bench, struct released *released) {
    bench->options.resume = true;
    fit_ok(bench);
    assert_watermark(bench, bench->options.budget.insecure_seed);
    *released = read_released(bench);
}

static void run_case(const struct change *change) {
    struct bench bench;
    struct released unchanged, changed;
    set_up(&bench, TRIPS);
    bench.options.budget.insecure_seed = false;
    change->prepare(&bench);
    interrupt_at(&bench, "cells stand out of the noise");
    struct bytes checkpoint = read_all(bench.checkpoint, "");
    resume_unchanged(&bench, &unchanged);
    test_file(bench.directory, "m.dploc.checkpoint", checkpoint.data, checkpoint.length);
    change->change(&bench);
    if (change->status != DPL_OK) {
        assert_fails(&bench, change->status, change->message);
    } else {
        fit_ok(&bench);
        assert_watermark(&bench, bench.options.budget.insecure_seed);
        changed = read_released(&bench);
        assert_same(&unchanged, &changed);
        free_released(&changed);
    }
    free(checkpoint.data);
    free_released(&unchanged);
    tear_down(&bench);
}

static const struct change *case_of(const char *member) {
    for (size_t i = 0; i < N_CASES; i++)
        if (!strcmp(MATRIX[i].member, member)) return &MATRIX[i];
    return NULL;
}

static void a_changed_option_is_refused_or_changes_nothing(void **state) {
    (void)state;
    struct members members;
    read_members(&members);
    for (size_t i = 0; i < members.n; i++) {
        const struct change *change = case_of(members.name[i]);
        if (!change)
            fail_msg("no case changes %s between a stop and `fit.resume`", members.name[i]);
        print_message("%s\n", change->member);
        run_case(change);
    }
    assert_int_equal(N_CASES, members.n);
}

/* ---- the same trips in another order ---- */

/* The city with each two trips that follow one another as one user's, who begins both at once; the
 * second before the first if they are turned. */
static void write_pairs(const struct bench *bench, const struct rows *rows, bool turned) {
    size_t n = 0, *first = calloc(rows->n + 1, sizeof *first);
    for (size_t i = 0; i < rows->n; i++)
        if (i == 0 || rows->trip[i] != rows->trip[i - 1]) first[n++] = i;
    first[n] = rows->n, n -= n % 2;
    FILE *file = fopen(bench->city, "w");
    assert_non_null(file);
    fprintf(file, "trip_id,user_id,timestamp,lat,lon\n");
    for (size_t k = 0; k < n; k++) {
        const size_t trip = turned ? k ^ 1 : k;
        const int64_t later_s = rows->time[first[trip]] - rows->time[first[trip & ~(size_t)1]];
        for (size_t i = first[trip]; i < first[trip + 1]; i++)
            fprintf(file, "%zu,%zu,%lld,%.6f,%.6f\n", trip, trip / 2,
                    (long long)(rows->time[i] - later_s), rows->lat[i], rows->lon[i]);
    }
    fclose(file);
    free(first);
}

/* PRIVACY: where the order of trips shapes what is released, it is bound as they are. */
static void another_order_is_refused_or_changes_nothing(void **state) {
    (void)state;
    for (int user = 0; user < 2; user++) {
        struct bench bench;
        struct released unchanged, changed;
        set_up(&bench, TRIPS);
        struct rows rows = read_rows(bench.city);
        write_pairs(&bench, &rows, false);
        bench.options.budget.insecure_seed = false;
        if (user) {
            bench.options.method = "bridge", bench.options.sigmas = NULL;
            bench.options.budget.unit = DPL_UNIT_USER, bench.options.budget.epsilon = 50;
            bench.options.budget.trips_max = 1;
        }
        interrupt_at(&bench, user ? "places for the" : "cells stand out of the noise");
        struct bytes checkpoint = read_all(bench.checkpoint, "");
        resume_unchanged(&bench, &unchanged);
        test_file(bench.directory, "m.dploc.checkpoint", checkpoint.data, checkpoint.length);
        write_pairs(&bench, &rows, true);
        if (user) {
            fit_ok(&bench);
            changed = read_released(&bench);
            assert_same(&unchanged, &changed);
            free_released(&changed);
        } else {
            assert_fails(&bench, DPL_REFUSED, "other data");
        }
        free(checkpoint.data);
        free_released(&unchanged);
        free_rows(&rows);
        tear_down(&bench);
    }
}

/* The other way round: what was secret cannot be gone on with as if it came from a seed. */
static void secret_noise_does_not_become_seeded(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    bench.options.budget.insecure_seed = false;
    interrupt_at(&bench, "cells stand out of the noise");
    bench.options.resume = true;
    bench.options.budget.insecure_seed = true;
    assert_fails(&bench, DPL_REFUSED, "other options");
    tear_down(&bench);
}

static void a_released_file_is_private_exactly_when_its_key_was_secret(void **state) {
    (void)state;
    struct bench bench;
    for (int insecure = 0; insecure < 2; insecure++)
        for (int declared = 0; declared < 2; declared++) {
            set_up(&bench, TRIPS);
            bench.options.budget.insecure_seed = insecure;
            if (!declared) bench.options.size = 0;
            fit_ok(&bench);
            assert_watermark(&bench, insecure);
            tear_down(&bench);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_of_every_option_struct_is_listed),
        cmocka_unit_test(a_changed_option_is_refused_or_changes_nothing),
        cmocka_unit_test(another_order_is_refused_or_changes_nothing),
        cmocka_unit_test(secret_noise_does_not_become_seeded),
        cmocka_unit_test(a_released_file_is_private_exactly_when_its_key_was_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
