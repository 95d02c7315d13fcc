/* Any bytes as one unit's part of a data set: they must not change how the rest is read. The first
 * byte chooses the format; the second the place, how often the unit's rows are there (which
 * scatters them), whether rows are identified, and whether one shard of two is read; the others are
 * the unit's. */
#include "fuzz.h"

#include <string.h>

#include "neighbours.h"

enum { TRIPS = 5, ROWS = 3, FIRST_S = 1741003200 };

/* What is read of a set: all as it is, with its identity, a shard with its identity. */
enum what { ALL, IDENTIFIED, SHARD, WHATS };

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
    setenv("TMPDIR", fuzz_folder(), 1); // what is sorted does not fit into memory
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

static struct outcome read_and_free(struct set *set, enum what what) {
    const struct trial trial = {.directory = directory(),
                                .limits = {.line_bytes = 300, .member_bytes = 2000},
                                .threads = 1,
                                .identify = what != ALL,
                                .shards = what == SHARD ? 2 : 0};
    struct outcome outcome = trial_read(&trial, set);
    set_free(set);
    return outcome;
}

static struct outcome read_with(enum shape shape, int place, const struct bytes *unit,
                                enum what what) {
    struct set set = {.shape = shape};
    if (shape_has_files(shape))
        make_files(&set, place, unit->text, unit->length);
    else
        make_table(&set, place, unit->text, unit->length);
    return read_and_free(&set, what);
}

static struct outcome read_alone(enum shape shape, const struct bytes *unit, enum what what) {
    struct set set = {.shape = shape};
    start(&set, shape == SHAPE_CAB ? "cabs/new_zz.txt" : "Data/999/Trajectory/zz.plt");
    if (!shape_has_files(shape)) bytes_print(&set.member[0].bytes, "%s", shape_header(shape));
    bytes_add(&set.member[0].bytes, unit->text, unit->length);
    return read_and_free(&set, what);
}

/* The set without a unit, of each shape: read once. */
static const struct outcome *without(enum shape shape, enum what what) {
    static const struct bytes NOTHING = {.text = ""};
    static struct outcome outcome[SHAPES][WHATS];
    static bool known[SHAPES][WHATS];
    if (!known[shape][what]) outcome[shape][what] = read_with(shape, -1, &NOTHING, what);
    known[shape][what] = true;
    return &outcome[shape][what];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static const int TIMES[] = {1, 1, 1, 1, 1, 1, 2, 8}; // mostly once, which is faster by far
    static const enum what WHAT[] = {ALL, ALL, IDENTIFIED, SHARD};
    if (length < 2) return 0;
    const enum shape shape = (enum shape)(bytes[0] % SHAPES);
    const int place = bytes[1] % (TRIPS + 1), way = bytes[1] / (TRIPS + 1), times = TIMES[way % 8];
    const enum what what = WHAT[way / 8 % 4];
    struct bytes unit = {0};
    for (int i = 0; i < times; i++) {
        bytes_add(&unit, bytes + 2, length - 2);
        bytes_add(&unit, "\n", 1);
    }
    const struct outcome *one = without(shape, what);
    struct outcome both = read_with(shape, place, &unit, what),
                   other = read_alone(shape, &unit, what);
    const char *wrong = outcome_compare(one, &other, &both);
    if (one->status != DPL_OK || *wrong) {
        fprintf(stderr, "%s: %s%s\n", SHAPE_NAMES[shape], one->message, wrong);
        abort();
    }
    outcome_free(&both), outcome_free(&other);
    free(unit.text);
    return 0;
}
