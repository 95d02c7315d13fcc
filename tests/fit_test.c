/* The fit as a whole: what leaves, what is refused, what is resumed. All in one thread, because
 * some tests fork. */
#include "fit_bench.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fit/checkpoint.h"
#include "fit/fit.h"
#include "model/model.h"
#include "method/paper/fit_vae.h"

enum { TRIPS = 400 };

/* ---- what goes in ---- */

/* docs/METHOD.md, "A visit". */
static void all_methods_read_at_a_trips_phase_but_the_papers(void **state) {
    (void)state;
    const struct dpl_read_options read = dpl_read_defaults();
    struct dpl_fit_options options = dpl_fit_defaults();
    for (size_t i = 0; dpl_method_name(i); i++) {
        options.method = dpl_method_name(i);
        bool own_phase = strcmp(options.method, "paper") != 0;
        assert_true(dpl_fit_reading(&read, &options).own_phase == own_phase);
        assert_true(dpl_method_own_phase(options.method) == own_phase);
    }
}

/* ---- what leaves ---- */

static void the_same_key_gives_the_same_bytes(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    fit_ok(&bench);
    struct released first = read_released(&bench), again;
    assert_false(exists(bench.checkpoint)); // deleted with the model written
    fit_ok(&bench);
    again = read_released(&bench);
    assert_same(&first, &again);
    // A trip outside the box changes nothing at all.
    append_trip(&bench, 52.5, 13.4, 8);
    free_released(&again);
    fit_ok(&bench);
    again = read_released(&bench);
    assert_same(&first, &again);
    free_released(&first);
    free_released(&again);
    tear_down(&bench);
}

/* Takes out of a certificate what is noised, or follows from it; the rest must not depend on the
 * data. */
static json_t *strip_certificate(const struct bytes *text) {
    json_t *root = json_loadb((const char *)text->data, text->length, 0, NULL), *mechanism;
    size_t i;
    assert_non_null(root);
    json_object_del(root, "numbers");
    json_array_foreach(json_object_get(root, "mechanisms"), i, mechanism) {
        if (!strcmp(json_string_value(json_object_get(mechanism, "name")), "topk"))
            json_object_del(mechanism, "sensitivity"); // m * L_max
    }
    return root;
}

/* Digests of the model and the certificate follow from the noised numbers in them. */
static json_t *strip_manifest(const struct bytes *text) {
    json_t *root = json_loadb((const char *)text->data, text->length, 0, NULL);
    assert_int_equal(json_object_del(root, "sha256"), 0);
    assert_int_equal(json_object_del(root, "certificate_sha256"), 0);
    return root;
}

static json_t *model_metadata(const struct bytes *file) {
    uint64_t length = 0;
    for (int i = 0; i < 8; i++) length |= (uint64_t)file->data[i] << (8 * i);
    json_t *root = json_loadb((const char *)file->data + 8, length, 0, NULL),
           *metadata = json_incref(json_object_get(root, "__metadata__"));
    assert_non_null(metadata);
    static const char *const NOISED[] = {"length_max", "trips_estimated", "certificate",
                                         "sha256",     "header_sha256",   "noised"};
    for (size_t i = 0; i < sizeof NOISED / sizeof *NOISED; i++)
        json_object_del(metadata, NOISED[i]);
    // The tensors: cells, vae, nexthop, and the noised lengths and visits.
    assert_int_equal(json_object_size(root), 6);
    json_decref(root);
    return metadata;
}

static void neighbours_differ_in_noised_numbers_only(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    fit_ok(&bench);
    struct released d = read_released(&bench), e;
    append_trip(&bench, 48.0, 11.5, 30);
    fit_ok(&bench);
    e = read_released(&bench);
    json_t *x = strip_manifest(&d.file[2]), *y = strip_manifest(&e.file[2]);
    assert_true(json_equal(x, y));
    json_decref(x), json_decref(y);
    json_t *root = json_loadb((const char *)e.file[1].data, e.file[1].length, 0, NULL);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "numbers"), "trips_estimated")),
        TRIPS); // declared, not counted
    json_decref(root);
    x = strip_certificate(&d.file[1]), y = strip_certificate(&e.file[1]);
    assert_true(json_equal(x, y));
    json_decref(x), json_decref(y);
    x = model_metadata(&d.file[0]), y = model_metadata(&e.file[0]);
    assert_true(json_equal(x, y));
    json_decref(x), json_decref(y);
    struct bytes private = read_all(bench.model, ".PRIVATE.json");
    json_t *facts = json_loadb((const char *)private.data, private.length, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(facts, "trips_read")),
                     TRIPS + 1); // it is there, and nowhere else:
    static const char *const NEVER[] = {"city.csv",    "dropped", "trips_read", "rejected",
                                        "fingerprint", "loss",    "inputs"};
    for (int i = 0; i < 3; i++)
        for (size_t w = 0; w < sizeof NEVER / sizeof *NEVER; w++)
            if (memmem(e.file[i].data, e.file[i].length, NEVER[w], strlen(NEVER[w])))
                fail_msg("'%s' says %s", RELEASED[i], NEVER[w]);
    struct stat info;
    char path[PATH_ROOM + 32];
    snprintf(path, sizeof path, "%s.PRIVATE.json", bench.model);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_ptr_equal(strstr((char *)private.data, "\"not_private\": true"),
                     (char *)private.data + 4); // first of all
    json_decref(facts);
    free(private.data);
    free_released(&d);
    free_released(&e);
    tear_down(&bench);
}

static void what_is_not_private_says_so(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    for (int infinite = 0; infinite < 2; infinite++) {
        bench.options.budget.insecure_seed = !infinite;
        if (infinite) bench.options.budget.epsilon = INFINITY;
        fit_ok(&bench);
        struct released released = read_released(&bench);
        for (int i = 0; i < 3; i++)
            assert_non_null(
                memmem(released.file[i].data, released.file[i].length, "NOT PRIVATE", 11));
        free_released(&released);
        struct dpl_run *run = test_run(1);
        struct dpl_model *model;
        struct dpl_verdict verdict;
        assert_ok(run, dpl_model_read(run, bench.model, &model));
        assert_true(model->not_private);
        assert_ok(run, dpl_model_verify(run, bench.model, &verdict));
        assert_false(verdict.valid);
        dpl_model_free(model);
        dpl_run_free(run);
    }
    tear_down(&bench);
}

static void a_private_model_verifies(void **state) {
    (void)state;
    struct bench bench;
    struct dpl_verdict verdict;
    struct dpl_run *run = test_run(1);
    set_up(&bench, TRIPS);
    bench.options.budget.insecure_seed = false;
    bench.options.ledger = bench.ledger;
    fit_ok(&bench);
    struct released first = read_released(&bench), second;
    assert_ok(run, dpl_model_verify(run, bench.model, &verdict));
    if (!verdict.valid) fail_msg("%s", verdict.reasons[0]);
    assert_true(isfinite(verdict.epsilon) && verdict.epsilon > 1);
    fit_ok(
        &bench); // a second release of the same data: no noise in common, and the ledger has both
    second = read_released(&bench);
    assert_int_not_equal(memcmp(first.file[0].data + first.file[0].length / 2,
                                second.file[0].data + first.file[0].length / 2, 1000),
                         0);
    char *text;
    assert_ok(run, dpl_ledger_summary(run, bench.ledger, true, &text));
    json_t *summary = json_loads(text, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(summary, "releases")), 2);
    json_decref(summary);
    dpl_text_free(text);
    free_released(&first);
    free_released(&second);
    dpl_run_free(run);
    tear_down(&bench);
}

static void a_user_is_a_unit(void **state) {
    (void)state;
    struct bench bench;
    struct dpl_run *run = test_run(1);
    struct dpl_model *model;
    set_up(&bench, TRIPS);
    bench.options.budget.unit = DPL_UNIT_USER;
    bench.options.budget.trips_max = 5;
    bench.options.size = 0;
    bench.options.sigmas = "topk=0.05,ti=0.8,tpg=0.8";
    fit_ok(&bench);
    assert_ok(run, dpl_model_read(run, bench.model, &model));
    assert_true(model->per_user);
    json_t *mechanisms = json_object_get(model->certificate, "mechanisms"),
           *topk = json_array_get(mechanisms, 2);
    assert_int_equal(json_array_size(mechanisms), 6); // size, lengths, topk, ti, tpg, trips
    assert_near(json_number_value(json_object_get(topk, "sensitivity")), 5 * model->length_max,
                1e-9);
    dpl_model_free(model);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- what is refused ---- */

static void overspending_is_refused_before_any_noise(void **state) {
    (void)state;
    struct bench bench;
    struct dpl_run *run = test_run(1);
    char *text;
    set_up(&bench, TRIPS);
    bench.options.budget.insecure_seed = false;
    bench.options.sigmas = NULL;
    bench.options.ledger = bench.ledger;
    bench.options.total_epsilon = 0.5;
    for (int declared = 0; declared < 2; declared++) {
        bench.options.size = declared ? TRIPS : 0;
        assert_fails(&bench, DPL_REFUSED, "above its limit");
        assert_false(exists(bench.model));
        assert_false(exists(bench.checkpoint));
    }
    assert_ok(run, dpl_ledger_summary(run, bench.ledger, true, &text));
    json_t *summary = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(summary, "mechanisms")), 0);
    json_decref(summary);
    dpl_text_free(text);
    dpl_run_free(run);
    tear_down(&bench);
}

/* PRIVACY: no ledger, no release: a fit does not go on beside one that it cannot open. */
static void a_ledger_that_is_none_stops_the_fit(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, 300);
    bench.options.ledger = bench.directory;
    bench.options.budget.insecure_seed = false;
    assert_fails(&bench, DPL_SYSTEM, "cannot open the ledger");
    assert_false(exists(bench.model));
    test_file(bench.directory, "ledger", "the year's accounts\n", 20);
    bench.options.ledger = bench.ledger;
    assert_fails(&bench, DPL_REFUSED, "its .tip file is missing");
    assert_false(exists(bench.model));
    tear_down(&bench);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    const struct dpl_fit_options good = bench.options;
#define REFUSES(set, status, part)                                                                 \
    do {                                                                                           \
        bench.options = good;                                                                      \
        set;                                                                                       \
        assert_fails(&bench, status, part);                                                        \
    } while (0)
    REFUSES(bench.options.method = "magic", DPL_USAGE, "paper");
    REFUSES(bench.options.coverage = 1.5, DPL_USAGE, "`fit.coverage`");
    REFUSES(bench.options.coverage = NAN, DPL_USAGE, "`fit.coverage`");
    REFUSES(bench.options.sigmas = "topk=3.8", DPL_USAGE, "`fit.sigmas.ti`");
    REFUSES(bench.options.sigmas = "ti=1,tpg=1", DPL_USAGE, "`fit.sigmas.topk`");
    REFUSES(bench.options.shares = "nothing=1", DPL_USAGE, "nothing");
    REFUSES(bench.options.budget.epsilon = -1, DPL_USAGE, "`budget.epsilon`");
    REFUSES(bench.options.budget.delta = 0, DPL_USAGE, "`budget.delta`");
    REFUSES(bench.options.resume = true, DPL_USAGE, "no checkpoint");
    REFUSES(bench.options.sigmas = "topk=1000,ti=0.8,tpg=0.8", DPL_BAD_DATA, "K = 0");
    assert_false(exists(bench.checkpoint)); // what yields no model yields none on replay
    REFUSES((bench.options.resume = true, bench.options.checkpoint = NULL), DPL_USAGE,
            "`fit.checkpoint`");
    tear_down(&bench);
}

/* ---- stopping and going on ---- */

static void an_interrupted_fit_goes_on_with_the_same_bits(void **state) {
    (void)state;
    static const char *const PHASES[] = {"cells stand out of the noise", "starts and ends"};
    struct bench bench;
    struct stat info;
    set_up(&bench, TRIPS);
    fit_ok(&bench);
    struct released whole = read_released(&bench);
    for (int i = 0; i < 2; i++) {
        interrupt_at(&bench, PHASES[i]);
        assert_int_equal(stat(bench.checkpoint, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
        assert_fails(&bench, DPL_REFUSED,
                     "`fit.resume`"); // without a word it is neither gone on with nor thrown away
        bench.options.resume = true;
        fit_ok(&bench);
        bench.options.resume = false;
        assert_false(exists(bench.checkpoint));
        struct released resumed = read_released(&bench);
        assert_same(&whole, &resumed);
        free_released(&resumed);
    }
    free_released(&whole);
    tear_down(&bench);
}

static void a_checkpoint_fits_its_own_data_and_options_only(void **state) {
    (void)state;
    struct bench bench;
    set_up(&bench, TRIPS);
    interrupt_at(&bench, "starts and ends");
    struct bytes good = read_all(bench.checkpoint, ""), city = read_all(bench.city, "");
    bench.options.resume = true;
    const struct dpl_fit_options options = bench.options;
    bench.options.coverage = 0.9;
    assert_fails(&bench, DPL_REFUSED, "other options");
    bench.options = options;
    bench.options.budget.delta = 1e-7;
    assert_fails(&bench, DPL_REFUSED, "other options");
    bench.options = options;
    bench.area.cell_m = 1400;
    assert_fails(&bench, DPL_REFUSED, "other options");
    bench.area.cell_m = 1500;
    append_trip(&bench, 48.0, 11.5, 8);
    assert_fails(&bench, DPL_REFUSED, "other data");
    test_file(bench.directory, "city.csv", city.data, city.length);
    for (size_t i = 0; i < good.length; i += good.length / 97 + 1) { // any damage is noticed
        good.data[i] ^= 4;
        test_file(bench.directory, "m.dploc.checkpoint", good.data, good.length);
        assert_fails(&bench, DPL_REFUSED, "`fit.restart`");
        good.data[i] ^= 4;
    }
    test_file(bench.directory, "m.dploc.checkpoint", good.data, good.length / 2);
    assert_fails(&bench, DPL_REFUSED, "`fit.restart`");
    bench.options.resume = false;
    bench.options.restart = true; // thrown away: anything goes
    bench.options.coverage = 0.9;
    fit_ok(&bench);
    assert_false(exists(bench.checkpoint));
    free(good.data);
    free(city.data);
    tear_down(&bench);
}

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Runs the fit in a child that is killed after so many seconds; true when it came to its end
 * before. */
static bool run_and_kill(const struct bench *bench, double after_s) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct dpl_run *run = test_run(1);
        enum dpl_status status = fit_with(run, bench);
        if (status != DPL_OK) fprintf(stderr, "child: %s\n", dpl_run_message(run));
        _exit((int)status);
    }
    int status;
    pid_t ended = 0;
    for (double end_s = now_s() + after_s; ended == 0 && now_s() < end_s; usleep(1000))
        ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) {
        kill(child, SIGKILL);
        ended = waitpid(child, &status, 0);
    }
    assert_int_equal(ended, child);
    if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), DPL_OK);
    return WIFEXITED(status);
}

static void kills_do_not_show(void **state) {
    (void)state;
    struct bench bench;
    struct dpl_run *run = test_run(1);
    uint64_t random = 77;
    size_t kills = 0, resumes = 0;
    set_up(&bench, TRIPS);
    bench.options.ledger = bench.ledger;
    bench.options.checkpoint_s = 0;
    double begun_s = now_s();
    fit_ok(&bench);
    double whole_s = now_s() - begun_s;
    struct released whole = read_released(&bench);
    char *text;
    for (size_t round = 0; kills < test_soak(6) && round < 10 * test_soak(6); round++) {
        char files[4][PATH_ROOM];
        place(&bench, files[0], "ledger"), place(&bench, files[1], "ledger.tip"),
            place(&bench, files[2], "ledger.key"), place(&bench, files[3], "m.dploc");
        for (int i = 0; i < 4; i++) unlink(files[i]);
        bool done = false;
        for (int tries = 0; !done; tries++) {
            bench.options.resume = exists(bench.checkpoint);
            resumes += bench.options.resume;
            done = run_and_kill(&bench,
                                tries < 4 ? whole_s * test_uniform(&random) : 1000 * whole_s + 60);
            kills += !done;
            done =
                done || (exists(bench.model) && !exists(bench.checkpoint)); // killed on its way out
        }
        struct released resumed = read_released(&bench);
        assert_same(&whole, &resumed);
        free_released(&resumed);
        assert_false(exists(bench.checkpoint));
        assert_ok(run, dpl_ledger_summary(run, bench.ledger, true, &text));
        json_t *summary = json_loads(text, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(summary, "releases")),
                         1); // nothing was spent twice
        assert_int_equal(json_array_size(json_object_get(summary, "mechanisms")), 4);
        json_decref(summary);
        dpl_text_free(text);
    }
    print_message("%zu kills, %zu resumes\n", kills, resumes);
    free_released(&whole);
    dpl_run_free(run);
    tear_down(&bench);
}

/* ---- bad days ---- */

static enum dpl_status
with_small_files(rlim_t most, enum dpl_status (*call)(struct dpl_run *, const struct bench *),
                 struct dpl_run *run, const struct bench *bench) {
    struct rlimit old, tiny;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = old;
    tiny.rlim_cur = most;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    enum dpl_status status = call(run, bench);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    return status;
}

static void a_full_disk_leaves_the_old_files(void **state) {
    (void)state;
    struct bench bench;
    struct dpl_run *run = test_run(1);
    set_up(&bench, TRIPS);
    fit_ok(&bench);
    struct released old = read_released(&bench), now;
    bench.options.insecure_seed = 43;
    for (int memory_only = 0; memory_only < 2;
         memory_only++) { // no room for the checkpoint; for the model
        if (memory_only) bench.options.checkpoint = NULL;
        dpl_run_begin(run);
        assert_int_equal(with_small_files(memory_only ? 20000 : 100, fit_with, run, &bench),
                         DPL_SYSTEM);
        assert_non_null(strstr(dpl_run_message(run), memory_only ? "m.dploc" : "checkpoint"));
        struct bytes model = read_all(bench.model, "");
        assert_true(model.length == old.file[0].length &&
                    !memcmp(model.data, old.file[0].data, model.length));
        free(model.data);
    }
    fit_ok(&bench);
    now = read_released(&bench);
    assert_int_not_equal(memcmp(now.file[0].data, old.file[0].data, old.file[0].length), 0);
    free_released(&old);
    free_released(&now);
    dpl_run_free(run);
    tear_down(&bench);
}

static void failing_allocations_are_survived(void **state) {
    (void)state;
    struct bench bench;
    struct dpl_run *run = test_run(1);
    set_up(&bench, 200);
    long before = dpl_run_allocations(run);
    assert_ok(run, fit_with(run, &bench));
    long all = dpl_run_allocations(run) - before, step = all / (long)test_soak(40) + 1;
    for (long n = 1; n <= all; n += n < 20 ? 1 : step) {
        bench.options.restart = true;
        dpl_run_begin(run);
        dpl_run_fail_allocation(run, n);
        enum dpl_status status = fit_with(run, &bench);
        dpl_run_fail_allocation(run, 0);
        if (status != DPL_SYSTEM && status != DPL_OK)
            fail_msg("allocation %ld of %ld: status %d, %s", n, all, (int)status,
                     dpl_run_message(run));
        if (status != DPL_OK && !dpl_run_message(run)[0]) fail_msg("allocation %ld: no message", n);
    }
    dpl_run_free(run);
    tear_down(&bench);
}

/* Projection may leave no trip at all: training is then pure noise, and nothing breaks. */
static void no_units_train_on_noise(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const size_t none[1] = {0};
    const struct dpl_units units = {.n_units = 0, .trip_start = none};
    struct dpl_vae_shape shape = dpl_vae_paper(4, 24);
    struct dpl_sgd_options options = dpl_vae_training(300);
    struct dpl_net *net;
    struct dpl_sgd_state *training;
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 1, &secret));
    assert_ok(run, dpl_vae_new(run, &shape, &units, 1, options.batch, &net));
    assert_ok(run, dpl_sgd_state_new(run, net->n_parameters, &training));
    options.event.sigma = 1;
    options.event.steps = 5;
    assert_ok(run, dpl_sgd_train(run, net, &options, &secret, training, NULL, NULL));
    assert_true(training->parameters[0] > 0 || training->parameters[0] < 0);
    dpl_sgd_state_free(training);
    dpl_net_free(net);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_methods_read_at_a_trips_phase_but_the_papers),
        cmocka_unit_test(the_same_key_gives_the_same_bytes),
        cmocka_unit_test(neighbours_differ_in_noised_numbers_only),
        cmocka_unit_test(what_is_not_private_says_so),
        cmocka_unit_test(a_private_model_verifies),
        cmocka_unit_test(a_user_is_a_unit),
        cmocka_unit_test(overspending_is_refused_before_any_noise),
        cmocka_unit_test(a_ledger_that_is_none_stops_the_fit),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(an_interrupted_fit_goes_on_with_the_same_bits),
        cmocka_unit_test(a_checkpoint_fits_its_own_data_and_options_only),
        cmocka_unit_test(kills_do_not_show),
        cmocka_unit_test(a_full_disk_leaves_the_old_files),
        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(no_units_train_on_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
