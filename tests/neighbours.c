/* Sets as bytes, read and compared. See neighbours.h. */
#include "neighbours.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clean/clean.h"

const char *const SHAPE_NAMES[SHAPES] = {"csv",   "semicolon", "tracks",   "columns", "tab",
                                         "split", "blanks",    "adatrace", "porto",   "geojsonl",
                                         "od",    "cab",       "geolife"};

/* ---- bytes ---- */

static void *grown(void *memory, size_t size) {
    void *more = realloc(memory, size);
    if (!more) abort();
    return more;
}

void bytes_add(struct bytes *bytes, const void *text, size_t length) {
    if (bytes->length + length + 1 > bytes->capacity) {
        bytes->capacity = 2 * (bytes->length + length + 64);
        bytes->text = grown(bytes->text, bytes->capacity);
    }
    if (length) memcpy(bytes->text + bytes->length, text, length);
    bytes->length += length;
    bytes->text[bytes->length] = '\0';
}

void bytes_print(struct bytes *bytes, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof text) abort();
    bytes_add(bytes, text, (size_t)length);
}

void set_free(struct set *set) {
    for (size_t i = 0; i < set->n; i++) free(set->member[i].bytes.text);
    set->n = 0;
}

/* ---- shapes ---- */

bool shape_has_files(enum shape shape) { return shape == SHAPE_CAB || shape == SHAPE_GEOLIFE; }

const char *shape_header(enum shape shape) {
    static const char *const HEADERS[SHAPES] = {
        [SHAPE_CSV] = "tid,uid,datetime,lat,lng\n",
        [SHAPE_SEMICOLON] = "\xEF\xBB\xBFlongitude;latitude;note;user_id;trip_id;time\r\n",
        [SHAPE_TRACKS] = "uid,timestamp,lat,lon\n",
        [SHAPE_SPLIT] = "tid;uid;date;time;geometry\r",
        [SHAPE_BLANKS] = "tid  uid time lat lon\n",
        [SHAPE_PORTO] = "\"TRIP_ID\",\"TAXI_ID\",\"TIMESTAMP\",\"MISSING_DATA\",\"POLYLINE\"\n",
        [SHAPE_OD] = "ride_id,user_id,started_at,ended_at,start_lat,start_lng,end_lat,end_lng\n",
        [SHAPE_GEOLIFE] = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved "
                          "3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"};
    return HEADERS[shape] ? HEADERS[shape] : "";
}

static void clock_text(int64_t utc_s, const char *format, char text[32]) {
    time_t moment = (time_t)utc_s;
    struct tm parts;
    gmtime_r(&moment, &parts);
    strftime(text, 32, format, &parts);
}

/* 48.12345 -> "48,12345" */
static const char *with_comma(double value, char text[32]) {
    snprintf(text, 32, "%.5f", value);
    *strchr(text, '.') = ',';
    return text;
}

void shape_row(enum shape shape, struct bytes *into, const char *trip, const char *user,
               int64_t utc_s, double lat_deg, double lon_deg) {
    const long long s = utc_s;
    char when[32], lat[32], lon[32];
    switch (shape) {
    case SHAPE_CSV:
    case SHAPE_COLUMNS:
        bytes_print(into, "%s,%s,%lld,%.5f,%.5f\n", trip, user, s, lat_deg, lon_deg);
        break;
    case SHAPE_SEMICOLON:
        clock_text(utc_s, "%Y-%m-%dT%H:%M:%SZ", when);
        bytes_print(into, "%.5f;%.5f;;%s;%s;%s\r\n", lon_deg, lat_deg, user, trip, when);
        break;
    case SHAPE_TRACKS: bytes_print(into, "%s,%lld,%.5f,%.5f\n", user, s, lat_deg, lon_deg); break;
    case SHAPE_TAB:
        bytes_print(into, "%s\t%s\t%lld\t-\r-\t%.5f\t%.5f\n", user, trip, s, lon_deg, lat_deg);
        break;
    case SHAPE_SPLIT:
        clock_text(utc_s, "%d.%m.%Y;%H:%M:%S", when);
        bytes_print(into, "%s;%s;%s;POINT(%.5f %.5f)\r", trip, user, when, lon_deg, lat_deg);
        break;
    case SHAPE_BLANKS:
        clock_text(utc_s, "%Y%m%d%H%M%S", when);
        bytes_print(into, "%s %s  %s %s %s\n", trip, user, when, with_comma(lat_deg, lat),
                    with_comma(lon_deg, lon));
        break;
    case SHAPE_ADATRACE:
        bytes_print(into, "#%s:\n>0:%.5f,%.5f;%.5f,%.5f;\n", trip, lon_deg, lat_deg, lon_deg + 1e-4,
                    lat_deg + 1e-6 * (double)(s % 1000));
        break;
    case SHAPE_PORTO:
        bytes_print(into, "\"%s\",\"%s\",\"%lld\",\"False\",\"[[%.6f,%.6f],[%.6f,%.6f]", trip, user,
                    s, lon_deg, lat_deg, lon_deg + 1e-4, lat_deg);
        for (int i = 2; i < 9; i++)
            bytes_print(into, ",[%.6f,%.6f]", lon_deg + i * 1e-4, lat_deg + i * 1e-4);
        bytes_print(into, "]\"\n");
        break;
    case SHAPE_GEOJSONL:
        bytes_print(into,
                    "{\"type\":\"Feature\",\"properties\":{\"tid\":\"%s\",\"uid\":\"%s\"},"
                    "\"geometry\":{\"type\":\"LineString\",\"coordinates\":[[%.5f,%.5f,0,%lld],"
                    "[%.5f,%.5f,0,%lld]]}}\n",
                    trip, user, lon_deg, lat_deg, s, lon_deg + 1e-4, lat_deg, s + 70);
        break;
    case SHAPE_OD:
        clock_text(utc_s, "%Y-%m-%d %H:%M:%S", when);
        bytes_print(into, "%s,%s,%s,%lld,%.5f,%.5f,%.5f,%.5f\n", trip, user, when, s + 600, lat_deg,
                    lon_deg, lat_deg + 1e-4, lon_deg - 1e-4);
        break;
    case SHAPE_CAB: bytes_print(into, "%.5f %.5f 1 %lld\n", lat_deg, lon_deg, s); break;
    case SHAPE_GEOLIFE:
        clock_text(utc_s, "%Y-%m-%d,%H:%M:%S", when);
        bytes_print(into, "%.6f,%.6f,0,492,39744.1,%s\r\n", lat_deg, lon_deg, when);
        break;
    case SHAPES: break;
    }
}

static struct dpl_read_options shape_options(enum shape shape) {
    struct dpl_read_options options = dpl_read_defaults();
    options.memory_bytes = 4096; // the sorter goes through its file
    if (shape == SHAPE_COLUMNS) options.columns = "trip,user,time,lat,lon";
    if (shape == SHAPE_TAB) options.columns = "user,trip,time,-,lon,lat", options.separator = "tab";
    if (shape == SHAPE_GEOJSONL) options.format = "geojsonl";
    if (shape == SHAPE_OD) options.format = "od";
    if (shape == SHAPE_ADATRACE) options.format = "adatrace", options.time_optional = true;
    options.drop_points = shape == SHAPE_SPLIT;
    return options;
}

/* ---- the file that is read ---- */

static void add_tar_member(struct bytes *tar, const struct member *member) {
    unsigned char header[512] = {0};
    unsigned sum = 0;
    memcpy(header, member->name, strnlen(member->name, 99));
    snprintf((char *)header + 100, 8, "%07o", 0644u);
    snprintf((char *)header + 124, 12, "%011zo", member->bytes.length);
    header[156] = '0';
    memcpy(header + 257, "ustar\00000", 8);
    memset(header + 148, ' ', 8);
    for (size_t i = 0; i < sizeof header; i++) sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
    bytes_add(tar, header, sizeof header);
    bytes_add(tar, member->bytes.text, member->bytes.length);
    static const char ZEROS[1024];
    bytes_add(tar, ZEROS, (512 - member->bytes.length % 512) % 512);
}

static void write_set(const struct set *set, const char *path) {
    struct bytes tar = {0};
    const struct bytes *bytes = &set->member[0].bytes;
    if (shape_has_files(set->shape)) {
        static const char END[1024];
        for (size_t i = 0; i < set->n; i++) add_tar_member(&tar, &set->member[i]);
        bytes_add(&tar, END, sizeof END);
        bytes = &tar;
    }
    unlink(path); // a file that is made anew is not flushed, one that is truncated may be
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes->text, bytes->length) != (ssize_t)bytes->length) abort();
    close(fd);
    free(tar.text);
}

/* ---- a sink that listens while the cleaner works ---- */

struct hashes {
    uint64_t *hash;
    size_t n, room;
};

struct listener {
    const struct sink *cleaner;
    struct hashes heard;
};

struct listener_batch {
    void *inner;
    void (*free_inner)(void *batch);
    struct hashes heard;
};

static void hear(struct hashes *hashes, uint64_t hash) {
    if (hashes->n == hashes->room) {
        hashes->room = 2 * hashes->room + 64;
        hashes->hash = grown(hashes->hash, hashes->room * sizeof *hashes->hash);
    }
    hashes->hash[hashes->n++] = hash;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length) {
    struct dpl_key key = dpl_hash(bytes, length, hash);
    return key.hi ^ key.lo;
}

static enum dpl_status listener_new(void *state, void **batch) {
    struct listener *listener = state;
    struct listener_batch *made = calloc(1, sizeof *made);
    if (!made) abort();
    *batch = made;
    made->free_inner = listener->cleaner->batch_free;
    return listener->cleaner->batch_new(listener->cleaner->state, &made->inner);
}

static void listener_free(void *batch) {
    struct listener_batch *made = batch;
    if (made->inner) made->free_inner(made->inner);
    free(made->heard.hash);
    free(made);
}

static enum dpl_status listener_take(void *state, void *batch, const struct recording *r) {
    struct listener *listener = state;
    struct listener_batch *made = batch;
    uint64_t hash = mix(r->split * 2u + r->timed, &r->user, sizeof r->user);
    // A file without one good row is a recording without points: nothing that anyone sees.
    if (r->n) hear(&made->heard, mix(hash, r->points, r->n * sizeof *r->points));
    return listener->cleaner->take(listener->cleaner->state, made->inner, r);
}

static enum dpl_status listener_commit(void *state, void *batch) {
    struct listener *listener = state;
    struct listener_batch *made = batch;
    for (size_t i = 0; i < made->heard.n; i++) hear(&listener->heard, made->heard.hash[i]);
    made->heard.n = 0;
    return listener->cleaner->commit(listener->cleaner->state, made->inner);
}

static void listener_reset(void *state) {
    struct listener *listener = state;
    listener->heard.n = 0;
    listener->cleaner->reset(listener->cleaner->state);
}

/* ---- reading ---- */

static struct dpl_area small_area(void) {
    struct dpl_area area = dpl_area_defaults();
    area.south_deg = 48, area.north_deg = 48.2, area.west_deg = 11, area.east_deg = 11.3;
    strcpy(area.zone, "UTC");
    return area;
}

static int by_value(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static void sort_hashes(uint64_t *hash, size_t n) {
    if (n) qsort(hash, n, sizeof *hash, by_value);
}

static void take_trips(const struct dpl_cleaned *trips, struct outcome *outcome) {
    struct hashes hashes = {0};
    for (size_t i = 0; i < trips->n_trips; i++) {
        uint64_t hash = mix(trips->period[i], &trips->utc_s[i], sizeof trips->utc_s[i]);
        size_t n = trips->start[i + 1] - trips->start[i];
        hear(&hashes, mix(hash, trips->cell + trips->start[i], n * sizeof *trips->cell));
    }
    outcome->trip = hashes.hash, outcome->n_trips = hashes.n;
}

static void read_path(const struct trial *trial, const char *path, enum shape shape,
                      struct dpl_run *run, struct outcome *outcome) {
    struct dpl_read_options options = shape_options(shape);
    struct dpl_area area = small_area();
    struct dpl_grid grid;
    struct dpl_read_facts *facts = calloc(1, sizeof *facts);
    struct cleaner *cleaner = NULL;
    if (trial->time_unit) options.time_unit = trial->time_unit;
    if (!facts || dpl_grid_make(run, &area, &grid) ||
        dpl_cleaner_new(run, &grid, &options, facts, &cleaner))
        abort();
    struct listener listener = {.cleaner = dpl_cleaner_sink(cleaner)};
    struct ingest_identity identity = {.shard = {.count = trial->shards}};
    struct sink sink = {&listener,     listener_new,    listener_free,
                        listener_take, listener_commit, listener_reset};
    outcome->status = dpl_ingest_read(run, &path, 1, &options, &trial->limits, area.zone, &sink,
                                      &identity, facts);
    snprintf(outcome->message, sizeof outcome->message, "%s", dpl_run_message(run));
    struct dpl_cleaned *trips = dpl_cleaner_take_trips(cleaner);
    take_trips(trips, outcome);
    outcome->recording = listener.heard.hash, outcome->n_recordings = listener.heard.n;
    outcome->identity = identity.found;
    memcpy(outcome->rejected, facts->rows_rejected, sizeof outcome->rejected);
    outcome->files_skipped = facts->files_skipped;
    dpl_cleaned_free(trips);
    dpl_cleaner_free(cleaner);
    free(facts);
}

struct outcome trial_read(const struct trial *trial, const struct set *set) {
    struct outcome outcome = {0};
    char path[512];
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = trial->threads;
    struct dpl_run *run = dpl_run_new(&options);
    if (!run) abort();
    snprintf(path, sizeof path, "%s/set%s", trial->directory,
             shape_has_files(set->shape) ? ".tar" : ".csv");
    write_set(set, path);
    read_path(trial, path, set->shape, run, &outcome);
    sort_hashes(outcome.trip, outcome.n_trips);
    sort_hashes(outcome.recording, outcome.n_recordings);
    dpl_run_free(run);
    return outcome;
}

void outcome_free(struct outcome *outcome) {
    free(outcome->recording);
    free(outcome->trip);
    *outcome = (struct outcome){0};
}

/* Whether the sorted `both` holds what the sorted `one` and `other` hold together. */
static bool is_union(const uint64_t *one, size_t n_one, const uint64_t *other, size_t n_other,
                     const uint64_t *both, size_t n_both) {
    if (n_both != n_one + n_other) return false;
    size_t a = 0, b = 0;
    for (size_t i = 0; i < n_both; i++) {
        bool first = a < n_one && (b == n_other || one[a] <= other[b]);
        if (both[i] != (first ? one[a++] : other[b++])) return false;
    }
    return true;
}

/* PRIVACY: what the ledger knows a data set by is that of its units, too. */
static bool identities_add_up(const struct dpl_identity *one, const struct dpl_identity *other,
                              const struct dpl_identity *both) {
    struct dpl_identity sum = *one;
    dpl_identity_merge(&sum, other);
    return sum.rows == both->rows && sum.n_sketch == both->n_sketch &&
           !memcmp(sum.sum, both->sum, sizeof sum.sum) &&
           !memcmp(sum.sketch, both->sketch, sum.n_sketch * sizeof *sum.sketch);
}

const char *outcome_compare(const struct outcome *one, const struct outcome *other,
                            const struct outcome *both) {
    static const struct dpl_identity NONE;
    static char text[1024];
    if (one->status != both->status) {
        snprintf(text, sizeof text, "ends with %d instead of %d: %s", (int)both->status,
                 (int)one->status, both->message);
        return text;
    }
    if (other->status == DPL_SYSTEM) return "the unit alone is a failure of the system";
    bool usable = other->status == DPL_OK;
    size_t recordings = usable ? other->n_recordings : 0, trips = usable ? other->n_trips : 0;
    if (!is_union(one->recording, one->n_recordings, other->recording, recordings, both->recording,
                  both->n_recordings) ||
        !is_union(one->trip, one->n_trips, other->trip, trips, both->trip, both->n_trips)) {
        snprintf(text, sizeof text,
                 "%zu recordings and %zu trips, with the unit's %zu and %zu they are %zu and %zu",
                 one->n_recordings, one->n_trips, recordings, trips, both->n_recordings,
                 both->n_trips);
        return text;
    }
    if (one->status == DPL_OK &&
        !identities_add_up(&one->identity, usable ? &other->identity : &NONE, &both->identity))
        return "the rows are not those of the set and of the unit";
    return "";
}
