/* The ledger: limits, data sets, edits, cuts, and crashes at every write and at random moments.
 *
 * This program defines pwrite, fsync and rename itself, and so stands between the library and the
 * disk: it can end the process at the n-th such call (a torn write included), and it keeps for
 * every file the bytes that a power failure would leave, which are those of the last fsync. */
#include "support.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"
#include "ledger/ledger.h"

enum { EVENTS = 4, RECORDS = 4096, IMAGE = 1 << 16 };

/* ---- between the library and the disk ---- */

static long calls, die_at; // die_at: the call that does not return, 0: none
static char image[IMAGE];  // the ledger as the last fsync left it on the disk
static size_t image_length;
static ino_t watched; // its inode, 0: no image is kept

static bool doomed(void) { return ++calls == die_at; }

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    if (doomed()) { // half of it arrives
        syscall(SYS_pwrite64, fd, bytes, length / 2, offset);
        _exit(9);
    }
    return (ssize_t)syscall(SYS_pwrite64, fd, bytes, length, offset);
}

int fsync(int fd) {
    if (doomed()) _exit(9);
    struct stat info;
    if (watched && fstat(fd, &info) == 0 && info.st_ino == watched) {
        ssize_t got = pread(fd, image, sizeof image, 0);
        image_length = got > 0 ? (size_t)got : 0;
    }
    return 0; // the test needs no durable disk, only the order of the calls
}

int rename(const char *from, const char *to) {
    if (doomed()) _exit(9);
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- set-up ---- */

static const struct dpl_identity DATA_SET = {.rows = 3, .sum = {1, 2, 3}},
                                 OTHER_DATA_SET = {.rows = 3, .sum = {1, 2, 4}};

static struct dpl_event events[EVENTS] = {
    {.name = "topk",
     .kind = DPL_EVENT_GAUSSIAN,
     .sigma = 12.5,
     .sensitivity = 4,
     .rate = 1,
     .steps = 1},
    {.name = "length",
     .kind = DPL_EVENT_GAUSSIAN,
     .sigma = 30,
     .sensitivity = 1,
     .rate = 1,
     .steps = 1},
    {.name = "train",
     .kind = DPL_EVENT_POISSON,
     .sigma = 0.9,
     .sensitivity = 3,
     .rate = 1.0 / 3000,
     .steps = 12345},
    {.name = "size",
     .kind = DPL_EVENT_LAPLACE,
     .sigma = 50,
     .sensitivity = 1,
     .rate = 1,
     .steps = 1},
};

struct place {
    struct dpl_run *run;
    char *directory;
    char path[512], tip[520];
};

static struct place setup(void) {
    struct place place = {.run = test_run(1), .directory = test_directory()};
    snprintf(place.path, sizeof place.path, "%s/l", place.directory);
    snprintf(place.tip, sizeof place.tip, "%s.tip", place.path);
    return place;
}

static void teardown(struct place *place) {
    dpl_run_free(place->run);
    test_directory_remove(place->directory);
}

static enum dpl_status open_with(struct place *place, double total_epsilon, double total_delta,
                                 const char *resume, struct dpl_ledger **ledger) {
    struct dpl_ledger_options options = dpl_ledger_defaults();
    options.total_epsilon = total_epsilon;
    options.total_delta = total_delta;
    options.resume = resume;
    return dpl_ledger_open(place->run, place->path, &DATA_SET, &options, ledger);
}

/* One whole release of all four events at (epsilon, delta). */
static void release(struct place *place, double epsilon, double delta) {
    struct dpl_ledger *ledger;
    assert_ok(place->run, open_with(place, 0, 0, NULL, &ledger));
    assert_ok(place->run, dpl_ledger_charge(ledger, "plan", epsilon, delta, events, EVENTS));
    for (int i = 0; i < EVENTS; i++)
        assert_ok(place->run, dpl_ledger_reserve(ledger, "plan", &events[i]));
    dpl_ledger_close(ledger);
}

static struct dpl_ledger_totals totals_of(struct place *place) {
    struct dpl_ledger *ledger;
    assert_ok(place->run, open_with(place, 0, 0, NULL, &ledger));
    struct dpl_ledger_totals totals = dpl_ledger_totals(ledger);
    dpl_ledger_close(ledger);
    return totals;
}

static enum dpl_status reopen(struct place *place) {
    struct dpl_ledger *ledger = NULL;
    enum dpl_status status = open_with(place, 0, 0, NULL, &ledger);
    dpl_ledger_close(ledger);
    return status;
}

static size_t slurp(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, room, file);
    fclose(file);
    assert_true(length < room);
    return length;
}

static void spit(const char *path, const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* ---- what is counted ---- */

static void releases_add_up(void **state) {
    (void)state;
    struct place place = setup();
    release(&place, 0.5, 1e-8);
    release(&place, 0.25, 2e-8);
    struct dpl_ledger_totals totals = totals_of(&place);
    assert_near(totals.epsilon, 0.75, 1e-12);
    assert_near(totals.delta * 1e8, 3, 1e-9);
    assert_int_equal(totals.releases, 2);
    assert_int_equal(totals.mechanisms, 2 * EVENTS);
    teardown(&place);
}

static void a_charge_without_noise_costs_nothing_and_with_one_mechanism_all(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 1, 1e-8, events, EVENTS));
    dpl_ledger_close(ledger);
    assert_near(totals_of(&place).epsilon, 0, 0);
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 1, 1e-8, events, EVENTS));
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[1]));
    dpl_ledger_close(ledger);
    assert_near(totals_of(&place).epsilon, 1, 0);
    teardown(&place);
}

static void overspending_is_refused_before_any_noise(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    release(&place, 0.8, 1e-8);
    assert_ok(place.run, open_with(&place, 1, 1e-7, NULL, &ledger));
    assert_int_equal(dpl_ledger_afford(ledger, 0.3, 1e-9), DPL_REFUSED);
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_afford(ledger, 0.2, 9e-8));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.21, 1e-9, events, EVENTS), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "above its limit"));
    assert_int_equal(dpl_ledger_reserve(ledger, "plan", &events[0]),
                     DPL_REFUSED); // and so no noise
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.1, 9.1e-8, events, EVENTS), DPL_REFUSED);
    dpl_ledger_close(ledger);
    assert_near(totals_of(&place).epsilon, 0.8, 0);
    // The limit stays in the ledger: forgetting the option does not lift it.
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.21, 1e-9, events, EVENTS), DPL_REFUSED);
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_charge(ledger, "size", 0.1, 0, events + 3, 1));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.11, 1e-9, events, EVENTS),
                     DPL_REFUSED); // parts of one release add up too
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.1, 1e-9, events,
                                           EVENTS)); // 0.8 + 0.1 + 0.1, whatever doubles say
    dpl_ledger_close(ledger);
    teardown(&place);
}

static void an_infinite_release_uses_the_data_set_up(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    struct dpl_event noiseless = events[0];
    noiseless.sigma = 0;
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 3, 1e-8, &noiseless, 1), DPL_BAD_DATA);
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", INFINITY, 1e-8, &noiseless, 1));
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &noiseless));
    dpl_ledger_close(ledger);
    assert_true(isinf(totals_of(&place).epsilon));
    assert_ok(place.run, open_with(&place, 1000, 0, NULL, &ledger));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.1, 1e-9, events, EVENTS), DPL_REFUSED);
    dpl_ledger_close(ledger);
    teardown(&place);
}

static void only_what_was_charged_can_be_reserved_and_once(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_int_equal(dpl_ledger_reserve(ledger, "plan", &events[0]), DPL_REFUSED);
    dpl_run_begin(place.run);
    struct dpl_event open_event = events[1];
    open_event.sensitivity = 0; // comes later, from a released number
    struct dpl_event charged[] = {events[0], open_event};
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 1, 1e-8, charged, 2));
    struct dpl_event less_noise = events[0];
    less_noise.sigma /= 2;
    assert_int_equal(dpl_ledger_reserve(ledger, "plan", &less_noise), DPL_REFUSED);
    assert_int_equal(dpl_ledger_reserve(ledger, "plan", &events[2]), DPL_REFUSED);
    assert_int_equal(dpl_ledger_reserve(ledger, "plan", &open_event), DPL_BAD_DATA);
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[0]));
    assert_int_equal(dpl_ledger_reserve(ledger, "plan", &events[0]), DPL_REFUSED);
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[1]));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 1, 1e-8, charged, 2), DPL_REFUSED);
    dpl_ledger_close(ledger);
    teardown(&place);
}

static void a_resumed_release_pays_once(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    char id[40];
    assert_ok(place.run, open_with(&place, 1, 0, NULL, &ledger));
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.9, 1e-8, events, EVENTS));
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[0]));
    snprintf(id, sizeof id, "%s", dpl_ledger_release(ledger));
    dpl_ledger_close(ledger);

    assert_ok(place.run, open_with(&place, 0, 0, id, &ledger));
    assert_ok(place.run, dpl_ledger_afford(ledger, 0.9, 1e-8));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.9, 1e-8, events, EVENTS - 1),
                     DPL_REFUSED); // other options
    dpl_run_begin(place.run);
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.9, 1e-8, events, EVENTS));
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[0]));
    assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[1]));
    dpl_ledger_close(ledger);
    struct dpl_ledger_totals totals = totals_of(&place);
    assert_near(totals.epsilon, 0.9, 0);
    assert_int_equal(totals.mechanisms, 2);
    assert_int_equal(totals.releases, 1);
    assert_int_equal(open_with(&place, 0, 0, "0123456789abcdef", &ledger), DPL_REFUSED);
    teardown(&place);
}

/* Stopped between its charge and its first noise; another release took the rest of the budget. */
static void a_release_that_comes_back_late_is_refused(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    char id[40];
    assert_ok(place.run, open_with(&place, 1, 0, NULL, &ledger));
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.6, 1e-8, events, EVENTS));
    snprintf(id, sizeof id, "%s", dpl_ledger_release(ledger));
    dpl_ledger_close(ledger);
    release(&place, 0.6, 1e-8);

    assert_ok(place.run, open_with(&place, 0, 0, id, &ledger));
    assert_int_equal(dpl_ledger_charge(ledger, "plan", 0.6, 1e-8, events, EVENTS), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "above its limit"));
    dpl_ledger_close(ledger);
    teardown(&place);
}

/* Stopped without privacy, gone on with as if with some, and the other way round. */
static void an_infinite_charge_is_not_a_finite_one(void **state) {
    (void)state;
    static const double EPSILON[] = {INFINITY, 2};
    for (int i = 0; i < 2; i++) {
        struct place place = setup();
        struct dpl_ledger *ledger;
        char id[40];
        assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
        assert_ok(place.run, dpl_ledger_charge(ledger, "plan", EPSILON[i], 1e-8, events, EVENTS));
        assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[0]));
        snprintf(id, sizeof id, "%s", dpl_ledger_release(ledger));
        dpl_ledger_close(ledger);
        assert_ok(place.run, open_with(&place, 0, 0, id, &ledger));
        assert_int_equal(dpl_ledger_charge(ledger, "plan", EPSILON[!i], 1e-8, events, EVENTS),
                         DPL_REFUSED);
        dpl_run_begin(place.run);
        assert_ok(place.run, dpl_ledger_charge(ledger, "plan", EPSILON[i], 1e-8, events, EVENTS));
        dpl_ledger_close(ledger);
        teardown(&place);
    }
}

static void another_data_set_or_unit_is_refused(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger = NULL;
    struct dpl_ledger_options options = dpl_ledger_defaults();
    release(&place, 1, 1e-8);
    assert_int_equal(dpl_ledger_open(place.run, place.path, &OTHER_DATA_SET, &options, &ledger),
                     DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "another data set"));
    options.unit = DPL_UNIT_USER;
    assert_int_equal(dpl_ledger_open(place.run, place.path, &DATA_SET, &options, &ledger),
                     DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "protect a user"));
    options.total_epsilon = NAN;
    assert_int_equal(dpl_ledger_open(place.run, place.path, &DATA_SET, &options, &ledger),
                     DPL_USAGE);
    options.total_epsilon = -1;
    assert_int_equal(dpl_ledger_open(place.run, place.path, &DATA_SET, &options, &ledger),
                     DPL_USAGE);
    options = dpl_ledger_defaults();
    const char *const names[] = {"", "caf\xe9"}; // no name, and no UTF-8
    for (size_t i = 0; i < 2; i++) {
        options.dataset = names[i];
        assert_int_equal(dpl_ledger_open(place.run, place.path, &DATA_SET, &options, &ledger),
                         DPL_USAGE);
    }
    assert_null(ledger);
    teardown(&place);
}

/* PRIVACY: an epsilon for one unit replaced and one for a unit added or removed have no sum. */
static void the_local_model_has_a_ledger_of_its_own(void **state) {
    (void)state;
    static const struct dpl_event EVENT[] = {{"size", DPL_EVENT_LAPLACE, 1, 10, 1, 1},
                                             {"routes", DPL_EVENT_LOCAL, 3, 2, 1, 1}};
    struct place place = setup();
    struct dpl_ledger *ledger = NULL;
    struct dpl_ledger_options options = dpl_ledger_defaults();
    options.local = true;
    for (int release = 0; release < 2; release++) {
        assert_ok(place.run, dpl_ledger_open(place.run, place.path, &DATA_SET, &options, &ledger));
        assert_ok(place.run, dpl_ledger_charge(ledger, "size", 0.1, 0, &EVENT[0], 1));
        assert_ok(place.run, dpl_ledger_reserve(ledger, "size", &EVENT[0]));
        assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.5, 0, &EVENT[1], 1));
        assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &EVENT[1]));
        dpl_ledger_close(ledger);
    }
    assert_int_equal(reopen(&place), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "replaced (the local model)"));
    teardown(&place);
    place = setup();
    release(&place, 1, 1e-8);
    assert_int_equal(dpl_ledger_open(place.run, place.path, &DATA_SET, &options, &ledger),
                     DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "one unit added or removed;"));
    assert_ok(place.run, reopen(&place));
    teardown(&place);
}

static void two_runs_at_once_are_refused(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    char *text = NULL;
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_int_equal(reopen(&place), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "another run"));
    assert_int_equal(dpl_ledger_summary(place.run, place.path, true, &text), DPL_REFUSED);
    dpl_ledger_close(ledger);
    assert_int_equal(reopen(&place), DPL_OK);
    teardown(&place);
}

/* ---- edits and cuts ---- */

static char content[IMAGE], changed[IMAGE];

static void any_edited_byte_is_detected(void **state) {
    (void)state;
    struct place place = setup();
    release(&place, 0.5, 1e-8);
    const char *files[] = {place.path, place.tip};
    for (int f = 0; f < 2; f++) {
        size_t length = slurp(files[f], content, sizeof content);
        int fd = open(files[f], O_WRONLY); // in place: rewriting a file whole waits for the disk
        for (size_t at = 0; at < length; at++) {
            size_t bit = at * 5 % 8;
            char edited = (char)(content[at] ^ (1 << bit));
            assert_int_equal(pwrite(fd, &edited, 1, (off_t)at), 1);
            if (reopen(&place) != DPL_REFUSED)
                fail_msg("%s: bit %zu of byte %zu was changed unnoticed", files[f], bit, at);
            assert_int_equal(pwrite(fd, &content[at], 1, (off_t)at), 1);
        }
        close(fd);
        assert_ok(place.run, reopen(&place));
    }
    teardown(&place);
}

static void any_cut_is_detected(void **state) {
    (void)state;
    struct place place = setup();
    release(&place, 0.5, 1e-8);
    const char *files[] = {place.path, place.tip};
    for (int f = 0; f < 2; f++) {
        size_t length = slurp(files[f], content, sizeof content);
        for (size_t keep = length; keep-- > 0;) {
            assert_int_equal(truncate(files[f], (off_t)keep), 0);
            if (reopen(&place) != DPL_REFUSED)
                fail_msg("%s: a cut to %zu of %zu bytes was not noticed", files[f], keep, length);
        }
        content[length] = '\n';
        spit(files[f], content, length + 1);
        assert_int_equal(reopen(&place), DPL_REFUSED);
        spit(files[f], content, length);
        assert_ok(place.run, reopen(&place));
    }
    assert_int_equal(unlink(place.tip), 0);
    assert_int_equal(reopen(&place), DPL_REFUSED);
    assert_non_null(strstr(dpl_run_message(place.run), "missing"));
    teardown(&place);
}

static void a_missing_ledger_with_its_tip_is_detected(void **state) {
    (void)state;
    struct place place = setup();
    release(&place, 0.5, 1e-8);
    assert_int_equal(unlink(place.path), 0);
    assert_int_equal(reopen(&place), DPL_REFUSED);
    teardown(&place);
}

static void swapped_lines_are_detected(void **state) {
    (void)state;
    struct place place = setup();
    release(&place, 0.5, 1e-8);
    size_t length = slurp(place.path, content, sizeof content), starts[16], n = 0;
    for (size_t at = 0; at < length; at++)
        if (at == 0 || content[at - 1] == '\n') starts[n++] = at;
    starts[n] = length;
    for (size_t a = 0; a + 1 < n; a++) { // lines a and a+1 change places; the length stays
        size_t first = starts[a + 1] - starts[a], second = starts[a + 2] - starts[a + 1];
        memcpy(changed, content, length);
        memcpy(changed + starts[a], content + starts[a + 1], second);
        memcpy(changed + starts[a] + second, content + starts[a], first);
        spit(place.path, changed, length);
        assert_int_equal(reopen(&place), DPL_REFUSED);
    }
    teardown(&place);
}

static void junk_is_refused(void **state) {
    (void)state;
    struct place place = setup();
    uint64_t random = 7;
    char *text = NULL;
    for (int round = 0; round < 50; round++) {
        size_t length = 1 + test_random(&random) % 300;
        for (size_t i = 0; i < length; i++) content[i] = (char)test_random(&random);
        spit(place.path, content, length);
        if (round % 2) spit(place.tip, content, length / 2);
        assert_int_equal(reopen(&place), DPL_REFUSED);
        assert_int_equal(dpl_ledger_summary(place.run, place.path, round % 3 == 0, &text),
                         DPL_REFUSED);
        assert_null(text);
    }
    teardown(&place);
}

/* ---- crashes ---- */

/* What a crashed process drew, in memory that outlives it. */
struct record {
    char release[40];
    int event;
};
struct records {
    _Atomic size_t n;
    struct record list[RECORDS];
};

/* Releases over and over; after each reservation the noise is "drawn", which a record remembers. */
static void spend(const char *path, struct records *records, size_t rounds) {
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_ledger_options options = dpl_ledger_defaults();
    for (size_t round = 0; round < rounds; round++) {
        struct dpl_ledger *ledger;
        if (dpl_ledger_open(run, path, &DATA_SET, &options, &ledger) != DPL_OK) _exit(2);
        if (dpl_ledger_charge(ledger, "plan", 0.5, 1e-8, events, EVENTS) != DPL_OK) _exit(3);
        for (int i = 0; i < EVENTS; i++) {
            if (dpl_ledger_reserve(ledger, "plan", &events[i]) != DPL_OK) _exit(4);
            struct record *record = &records->list[records->n];
            snprintf(record->release, sizeof record->release, "%s", dpl_ledger_release(ledger));
            record->event = i;
            records->n++;
            if (records->n == RECORDS) _exit(0);
        }
        dpl_ledger_close(ledger);
    }
    dpl_run_free(run);
    _exit(0);
}

static struct records *shared_records(void) {
    struct records *records =
        mmap(NULL, sizeof *records, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(records, MAP_FAILED);
    return records;
}

static void assert_covered(struct place *place, const struct records *records, size_t n) {
    struct dpl_ledger *ledger;
    assert_ok(place->run, open_with(place, 0, 0, NULL, &ledger));
    for (size_t i = 0; i < n; i++)
        if (!dpl_ledger_covers(ledger, records->list[i].release, &events[records->list[i].event]))
            fail_msg("noise of %s in release %s is not in the ledger",
                     events[records->list[i].event].name, records->list[i].release);
    dpl_ledger_close(ledger);
}

static void a_crash_at_any_write_leaves_a_ledger_that_covers_all_noise(void **state) {
    (void)state;
    struct records *records = shared_records();
    int status;
    for (long at = 1;; at++) {
        struct place place = setup();
        records->n = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            calls = 0;
            die_at = at;
            spend(place.path, records, 2);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        bool crashed = WIFEXITED(status) && WEXITSTATUS(status) == 9;
        if (!crashed) assert_int_equal(status, 0);
        assert_covered(&place, records, records->n);
        release(&place, 0.5, 1e-8); // and it can be written again
        assert_true(totals_of(&place).releases >= 1 + (records->n + EVENTS - 1) / EVENTS);
        teardown(&place);
        if (!crashed) {
            assert_true(at >
                        2 * 6 *
                            6); // header, charge and 4 reservations: six lines, over six calls each
            break;
        }
    }
    munmap(records, sizeof *records);
}

/* Keeps what it covers when opening itself is cut short as well. */
static void a_crash_while_completing_a_torn_line_is_harmless(void **state) {
    (void)state;
    struct records *records = shared_records();
    int status;
    for (long at = 21; at <= 30;
         at++) // ten calls a line: header, charge, and in here the first reservation
        for (long second = 1; second <= 7; second++) {
            struct place place = setup();
            records->n = 0;
            for (int life = 0; life < 2; life++) {
                pid_t child = fork();
                assert_true(child >= 0);
                if (child == 0) {
                    calls = 0;
                    die_at = life == 0 ? at : second;
                    spend(place.path, records, 1);
                }
                assert_int_equal(waitpid(child, &status, 0), child);
            }
            assert_covered(&place, records, records->n);
            teardown(&place);
        }
    munmap(records, sizeof *records);
}

static void killed_at_random_moments_it_covers_all_noise(void **state) {
    (void)state;
    struct place place = setup();
    struct records *records = shared_records();
    uint64_t random = 3;
    for (size_t round = 0; round < test_soak(200); round++) {
        size_t after = test_random(&random) % 6;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) spend(place.path, records, SIZE_MAX);
        while (records->n < after)
            usleep(50); // however slow the machine, some noise is drawn first
        usleep((useconds_t)(test_random(&random) % 1000));
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_covered(&place, records, records->n);
        records->n = 0;
        if (round % 20 == 19) { // opening reads all of it: start afresh before it gets long
            teardown(&place);
            place = setup();
        }
    }
    munmap(records, sizeof *records);
    teardown(&place);
}

static bool on_disk(const char *text) {
    return memmem(image, image_length, text, strlen(text)) != NULL;
}

/* A power failure keeps what was fsynced: the line must be there when reserve returns. */
static void a_reservation_is_flushed_before_it_returns(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger;
    struct stat info;
    char text[512];
    assert_ok(place.run, open_with(&place, 0, 0, NULL, &ledger));
    assert_int_equal(stat(place.path, &info), 0);
    watched = info.st_ino;
    image_length = 0;
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.5, 1e-8, events, EVENTS));
    assert_true(on_disk("\"type\":\"charge\""));
    for (int i = 0; i < EVENTS; i++) {
        snprintf(text, sizeof text, "\"part\":\"plan\",\"name\":\"%s\"", events[i].name);
        assert_false(on_disk(text));
        assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[i]));
        assert_true(on_disk(text));
    }
    watched = 0;
    dpl_ledger_close(ledger);
    teardown(&place);
}

/* ---- places and words ---- */

static void the_default_place_follows_from_the_rows_alone(void **state) {
    (void)state;
    struct place place = setup();
    char full[PATH_MAX], path[PATH_MAX + 64];
    uint8_t key[32], again[32];
    struct stat info;
    assert_non_null(realpath(place.directory, full));
    assert_int_equal(setenv("XDG_STATE_HOME", full, 1), 0);
    assert_ok(place.run, dpl_ledger_key(place.run, NULL, key));
    assert_ok(place.run, dpl_ledger_key(place.run, NULL, again));
    assert_memory_equal(key, again, sizeof key);
    snprintf(path, sizeof path, "%s/dploc/ledgers/key", full);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    struct dpl_ledger_options options = dpl_ledger_defaults();
    struct dpl_ledger *ledger;
    for (int i = 0; i < 2; i++) {
        assert_ok(place.run, dpl_ledger_open(place.run, NULL, &DATA_SET, &options, &ledger));
        assert_int_equal(dpl_ledger_totals(ledger).releases, i);
        assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 0.5, 1e-8, events, EVENTS));
        assert_ok(place.run, dpl_ledger_reserve(ledger, "plan", &events[0]));
        dpl_ledger_close(ledger);
    }
    teardown(&place);
}

/* RFC 4231, test case 1, its key of 20 bytes padded with zeros as HMAC itself does. */
static void the_fingerprint_is_hmac_sha256(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint8_t key[32] = {0}, digest[32];
    memset(key, 0x0b, 20);
    static const uint8_t EXPECTED[32] = {0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53,
                                         0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1, 0x2b,
                                         0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83, 0x3d, 0xa7,
                                         0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7};
    struct dpl_fingerprint *fingerprint;
    assert_ok(run, dpl_fingerprint_new(run, key, &fingerprint));
    assert_ok(run, dpl_fingerprint_add(fingerprint, "Hi There", 8));
    assert_ok(run, dpl_fingerprint_end(fingerprint, digest));
    assert_memory_equal(digest, EXPECTED, 32);
    dpl_fingerprint_free(fingerprint);
    dpl_run_free(run);
}

/* A limit that it has is not written again, and a release is known by its own name alone. */
static void what_it_knows_is_not_told_again(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger = NULL;
    struct stat before, after;
    release(&place, 1, 1e-8);
    assert_ok(place.run, open_with(&place, 5, 1e-6, NULL, &ledger));
    dpl_ledger_close(ledger);
    assert_int_equal(stat(place.path, &before), 0);
    assert_ok(place.run, open_with(&place, 5, 1e-6, NULL, &ledger));
    assert_int_equal(stat(place.path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_false(dpl_ledger_knows(ledger, dpl_ledger_release(ledger)));
    assert_int_equal(dpl_ledger_charge(ledger, "all", 1, 1, events, EVENTS), DPL_USAGE);
    assert_ok(place.run, dpl_ledger_charge(ledger, "plan", 1, 1e-8, events, EVENTS));
    assert_true(dpl_ledger_knows(ledger, dpl_ledger_release(ledger)));
    assert_false(dpl_ledger_knows(ledger, "0123456789abcdef0123456789abcdef"));
    dpl_ledger_close(ledger);
    assert_ok(place.run, open_with(&place, 5, 2e-6, NULL, &ledger));
    dpl_ledger_close(ledger);
    assert_int_equal(stat(place.path, &before), 0);
    assert_true(before.st_size > after.st_size);
    teardown(&place);
}

static void the_summary_says_what_was_spent(void **state) {
    (void)state;
    struct place place = setup();
    char *text = NULL;
    release(&place, 0.5, 1e-8);
    assert_ok(place.run, dpl_ledger_summary(place.run, place.path, false, &text));
    assert_non_null(strstr(text, "Spent by 1 release: epsilon 0.5, delta 1e-08"));
    assert_non_null(strstr(text, "12345 steps"));
    for (size_t i = 0; i < EVENTS; i++) assert_non_null(strstr(text, events[i].name));
    dpl_text_free(text);
    assert_ok(place.run, dpl_ledger_summary(place.run, place.path, true, &text));
    assert_non_null(strstr(text, "\"epsilon\": 0.5"));
    dpl_text_free(text);
    size_t length = slurp(place.path, content, sizeof content);
    assert_true(dpl_ledger_recognise(content, length));
    assert_false(dpl_ledger_recognise("{}", 2));
    content[2] = 'm'; // as long, and another beginning
    assert_false(dpl_ledger_recognise(content, length));
    assert_int_equal(dpl_ledger_summary(place.run, test_path(place.directory, "none"), true, &text),
                     DPL_BAD_DATA);
    teardown(&place);
}

static void running_out_of_memory_leaves_no_half_line(void **state) {
    (void)state;
    struct place place = setup();
    struct dpl_ledger *ledger = NULL;
    for (long n = 1; n < 200; n++) {
        dpl_run_fail_allocation(place.run, n);
        enum dpl_status status = open_with(&place, 0, 0, NULL, &ledger);
        if (status == DPL_OK) {
            status = dpl_ledger_charge(ledger, "plan", 0.5, 1e-8, events, EVENTS);
            if (status == DPL_OK) status = dpl_ledger_reserve(ledger, "plan", &events[0]);
            dpl_ledger_close(ledger);
        }
        dpl_run_fail_allocation(place.run, 0);
        assert_ok(place.run, reopen(&place));
        if (status == DPL_OK) break;
        assert_int_equal(status, DPL_SYSTEM);
        assert_true(n < 199);
    }
    teardown(&place);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_add_up),
        cmocka_unit_test(a_charge_without_noise_costs_nothing_and_with_one_mechanism_all),
        cmocka_unit_test(overspending_is_refused_before_any_noise),
        cmocka_unit_test(an_infinite_release_uses_the_data_set_up),
        cmocka_unit_test(only_what_was_charged_can_be_reserved_and_once),
        cmocka_unit_test(a_resumed_release_pays_once),
        cmocka_unit_test(a_release_that_comes_back_late_is_refused),
        cmocka_unit_test(an_infinite_charge_is_not_a_finite_one),
        cmocka_unit_test(another_data_set_or_unit_is_refused),
        cmocka_unit_test(the_local_model_has_a_ledger_of_its_own),
        cmocka_unit_test(two_runs_at_once_are_refused),
        cmocka_unit_test(any_edited_byte_is_detected),
        cmocka_unit_test(any_cut_is_detected),
        cmocka_unit_test(a_missing_ledger_with_its_tip_is_detected),
        cmocka_unit_test(swapped_lines_are_detected),
        cmocka_unit_test(junk_is_refused),
        cmocka_unit_test(a_crash_at_any_write_leaves_a_ledger_that_covers_all_noise),
        cmocka_unit_test(a_crash_while_completing_a_torn_line_is_harmless),
        cmocka_unit_test(killed_at_random_moments_it_covers_all_noise),
        cmocka_unit_test(a_reservation_is_flushed_before_it_returns),
        cmocka_unit_test(the_default_place_follows_from_the_rows_alone),
        cmocka_unit_test(the_fingerprint_is_hmac_sha256),
        cmocka_unit_test(what_it_knows_is_not_told_again),
        cmocka_unit_test(the_summary_says_what_was_spent),
        cmocka_unit_test(running_out_of_memory_leaves_no_half_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
