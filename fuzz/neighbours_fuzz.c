/* Any bytes as one unit's part of a data set: they must not change how the rest is read. The first
 * byte chooses the format, the second the place, the others are the unit's. */
#include "fuzz.h"

#include <string.h>

#include "neighbours.h"

enum { TRIPS = 5, ROWS = 3, FIRST_S = 1741003200 };

/* Made once a process: the reader needs a file with a name. */
static char folder[64];

static void remove_folder(void) {
    char path[sizeof folder + 16];
    snprintf(path, sizeof path, "%s/set.tar", folder), unlink(path);
    snprintf(path, sizeof path, "%s/set.csv", folder), unlink(path);
    rmdir(folder);
}

static const char *directory(void) {
    if (folder[0]) return folder;
    snprintf(folder, sizeof folder, "%s/dploc-neighbours-XXXXXX", fuzz_folder());
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    return folder;
}

static void start(struct set *set, const char *name) {
    struct member *member = &set->member[set->n++];
    *member = (struct member){0};
    snprintf(member->name, sizeof member->name, "%s", name);
}

static void add_rows(enum shape shape, struct bytes *into, int trip) {
    char id[24], user[24];
    snprintf(id, sizeof id, "k9Qw3d%d", trip); // ids that no seed holds
    snprintf(user, sizeof user, "k9Qw3u%d", trip);
    for (int i = 0; i < ROWS; i++)
        shape_row(shape, into, id, user, FIRST_S + 9000 * trip + 60 * i, 48.1 + 1e-3 * i, 11.1);
}

/* The set with the unit at the given place (negative: without it). */
static void make_table(struct set *set, int place, const char *unit, size_t length) {
    start(set, "");
    struct bytes *bytes = &set->member[0].bytes;
    bytes_print(bytes, "%s", shape_header(set->shape));
    for (int trip = 0; trip <= TRIPS; trip++) {
        if (trip == place) bytes_add(bytes, unit, length);
        if (trip < TRIPS) add_rows(set->shape, bytes, trip);
    }
}

static void make_files(struct set *set, int place, const char *unit, size_t length) {
    bool cab = set->shape == SHAPE_CAB;
    for (int trip = 0; trip <= TRIPS; trip++) {
        char name[MEMBER_NAME];
        if (trip == place) {
            start(set, cab ? "cabs/new_zz.txt" : "Data/999/Trajectory/zz.plt");
            bytes_add(&set->member[set->n - 1].bytes, unit, length);
        }
        if (trip == TRIPS) continue;
        snprintf(name, sizeof name, cab ? "cabs/new_%d.txt" : "Data/%d/Trajectory/a.plt", trip);
        start(set, name);
        bytes_print(&set->member[set->n - 1].bytes, "%s", shape_header(set->shape));
        add_rows(set->shape, &set->member[set->n - 1].bytes, trip);
    }
}

static struct outcome read_and_free(struct set *set) {
    const struct trial trial = {.directory = directory(),
                                .limits = {.line_bytes = 300, .member_bytes = 2000},
                                .threads = 1};
    struct outcome outcome = trial_read(&trial, set);
    set_free(set);
    return outcome;
}

static struct outcome read_with(enum shape shape, int place, const char *unit, size_t length) {
    struct set set = {.shape = shape};
    if (shape_has_files(shape))
        make_files(&set, place, unit, length);
    else
        make_table(&set, place, unit, length);
    return read_and_free(&set);
}

static struct outcome read_alone(enum shape shape, const char *unit, size_t length) {
    struct set set = {.shape = shape};
    start(&set, shape == SHAPE_CAB ? "cabs/new_zz.txt" : "Data/999/Trajectory/zz.plt");
    if (!shape_has_files(shape)) bytes_print(&set.member[0].bytes, "%s", shape_header(shape));
    bytes_add(&set.member[0].bytes, unit, length);
    return read_and_free(&set);
}

/* The set without a unit, of each shape: read once. */
static const struct outcome *without(enum shape shape) {
    static struct outcome outcome[SHAPES];
    static bool known[SHAPES];
    if (!known[shape]) outcome[shape] = read_with(shape, -1, "", 0);
    known[shape] = true;
    return &outcome[shape];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (length < 2) return 0;
    const enum shape shape = (enum shape)(bytes[0] % SHAPES);
    struct bytes unit = {0};
    bytes_add(&unit, bytes + 2, length - 2);
    bytes_add(&unit, "\n", 1);
    const struct outcome *one = without(shape);
    struct outcome both = read_with(shape, bytes[1] % (TRIPS + 1), unit.text, unit.length),
                   other = read_alone(shape, unit.text, unit.length);
    const char *wrong = outcome_compare(one, &other, &both);
    if (one->status != DPL_OK || *wrong) {
        fprintf(stderr, "%s: %s%s\n", SHAPE_NAMES[shape], one->message, wrong);
        abort();
    }
    outcome_free(&both), outcome_free(&other);
    free(unit.text);
    return 0;
}
