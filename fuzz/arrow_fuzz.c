/* Tables in memory whose parts contradict each other. The first bytes choose a table, the others
 * are changes to its chunks: lengths, offsets, missing pointers, offsets of texts, indices into
 * dictionaries, bits. How long a buffer is the interface does not say, so that no change makes a
 * column longer than its buffers are: nobody could notice that. */
#include <string.h>

#include "arrow_build.h"
#include "fuzz.h"

enum { ROWS = 40, CHANGES_MAX = 12, CHANGE = 4, VIEW = 16, VALUES = 7 };

static const char *const FORMATS[] = {"l", "u",       "U",    "vu", "@u", "@vu", "@l",
                                      "g", "tss:UTC", "tsm:", "S",  "i",  "@g",  "d:18,3"};
enum { N_FORMATS = sizeof FORMATS / sizeof *FORMATS };

static struct {
    const uint8_t *bytes;
    size_t n; /* changes of CHANGE bytes */
} changes;

/* Numbers that lengths and offsets must never be trusted with. */
static int64_t odd_number(uint8_t byte) {
    static const int64_t ODD[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 2, 1 << 20, 0};
    return byte < 6 ? ODD[byte] : byte % (ROWS + 8);
}

/* Fewer rows than there are, or a number that is none. */
static int64_t no_more_than(int64_t n, uint8_t byte) {
    int64_t number = odd_number(byte);
    return number < 0 || number <= n ? number : n;
}

/* Into the buffer behind the validity bits: offsets, views or indices; the last offset, where the
 * text ends, stays. */
static void change_values(struct ArrowArray *array, const uint8_t *change) {
    char *values = (char *)(uintptr_t)(array->buffers ? array->buffers[1] : NULL);
    if (!values || array->length < 1) return;
    size_t width = array->n_buffers == 4 ? VIEW : 4, row = change[2] % (size_t)array->length;
    int32_t number = (int32_t)odd_number(change[3]);
    memcpy(values + row * width + (change[1] & 0x30 ? 0 : width / 4), &number, sizeof number);
}

static void change_array(struct ArrowArray *array, const uint8_t *change) {
    switch (change[1] % 8) {
    case 0: array->length = no_more_than(array->length, change[2]); break;
    case 1:
        if (array->length >= 0) array->length -= array->length > 3 ? 3 : array->length;
        array->offset = no_more_than(3, change[2]);
        break;
    case 2: array->null_count = odd_number(change[2]); break;
    case 3: array->n_buffers = change[2] % 5; break;
    case 4:
        if (array->buffers) array->buffers[change[2] % 4] = NULL;
        break;
    case 5: array->buffers = change[2] & 1 ? NULL : array->buffers; break;
    case 6: array->dictionary = change[2] & 1 ? NULL : array->dictionary; break;
    default: change_values(array, change);
    }
}

static void change_chunk(struct ArrowArray *chunk, const uint8_t *change) {
    switch (change[1] % 6) {
    case 0: chunk->length = odd_number(change[2]); break;
    case 1: chunk->offset = odd_number(change[2]); break;
    case 2: chunk->null_count = odd_number(change[2]); break;
    case 3: chunk->n_buffers = odd_number(change[2]); break;
    case 4: chunk->n_children = no_more_than(chunk->n_children, change[2]); break;
    default: chunk->children = change[2] & 1 ? NULL : chunk->children;
    }
}

/* Lengths first, then values, then what makes an array another one: a column that was made shorter
 * after its values might end with one of them, and values of another kind need more room. */
enum turn { LENGTHS, IN_VALUES, OTHERS, TURNS };

static enum turn turn_of(const uint8_t *change) {
    const int kind = change[1] % 8;
    return change[0] % 6 == 5 || change[3] == 255 ? OTHERS
           : kind == VALUES                       ? IN_VALUES
           : kind < 3                             ? LENGTHS
                                                  : OTHERS;
}

static void apply(struct ArrowArray *chunk, const uint8_t *change) {
    const int64_t which = change[0] % 6;
    struct ArrowArray *child =
        chunk->children && which < chunk->n_children ? chunk->children[which] : NULL;
    if (which == 5)
        change_chunk(chunk, change);
    else if (child && change[3] == 255)
        chunk->children[which] = NULL;
    else if (child && child->dictionary && change[3] & 1)
        change_array(child->dictionary, change);
    else if (child)
        change_array(child, change);
}

static void damage(struct ArrowArray *chunk) {
    for (enum turn turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < changes.n; i++)
            if (turn_of(changes.bytes + i * CHANGE) == turn)
                apply(chunk, changes.bytes + i * CHANGE);
}

/* Trips of a few rows each; some values are none. */
static void make_rows(uint8_t seed, int64_t id[ROWS], int64_t time[ROWS], double lat[ROWS],
                      double lng[ROWS]) {
    for (int i = 0; i < ROWS; i++) {
        id[i] = i / 7 + seed % 3;
        time[i] = 1741000000 + i * 30;
        lat[i] = 47.98 + i * 1e-4, lng[i] = 11.5 + i * 1e-4;
    }
}

static void try_stream(struct ArrowArrayStream *stream, int mode) {
    struct dpl_run *run = fuzz_run();
    struct dpl_read_options options = dpl_read_defaults();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_trips *trips = NULL;
    struct dpl_cleaned *cleaned = NULL;
    options.strict = mode & 1;
    options.time_optional = mode & 2;
    if (dpl_area_preset(run, "simulated", &area) != DPL_OK) abort();
    enum dpl_status status = dpl_trips_from_arrow(run, stream, &options, &trips);
    if ((status == DPL_OK) != (trips != NULL) || stream->release) abort();
    if (status == DPL_OK) status = dpl_clean(run, trips, &area, &cleaned, NULL);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    for (size_t i = 0; cleaned && i < cleaned->n_visits; i++)
        if (cleaned->cell[i] < 0 || cleaned->cell[i] >= dpl_grid_cells(&cleaned->grid)) abort();
    dpl_cleaned_free(cleaned);
    dpl_trips_free(trips);
    dpl_run_free(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    int64_t id[ROWS], time[ROWS];
    double lat[ROWS], lng[ROWS];
    struct table_builder table = {0};
    uint8_t head[6] = {0};
    memcpy(head, bytes, length < sizeof head ? length : sizeof head);
    const size_t used = length < sizeof head ? length : sizeof head;
    changes.bytes = bytes + used;
    changes.n = (length - used) / CHANGE;
    if (changes.n > CHANGES_MAX) changes.n = CHANGES_MAX;
    make_rows(head[5], id, time, lat, lng);
    builder_whole(&table, "tid", FORMATS[head[0] % N_FORMATS], id, ROWS);
    builder_whole(&table, "uid", FORMATS[head[1] % N_FORMATS], id, ROWS);
    builder_time(&table, "datetime", FORMATS[head[2] % N_FORMATS], time, ROWS);
    if (head[4] & 1) builder_missing(&table, head[4] / 4 % ROWS);
    builder_real(&table, "lat", FORMATS[head[3] % N_FORMATS], lat, ROWS);
    builder_real(&table, "lng", FORMATS[head[3] / N_FORMATS % N_FORMATS], lng, ROWS);
    struct ArrowArrayStream stream = builder_stream(&table, head[4] & 2 ? 9 : 0);
    builder_damage(&stream, damage);
    try_stream(&stream, head[5] >> 6);
    return 0;
}
