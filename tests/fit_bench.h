/* A small city and a fit of a tenth of a second, for the tests of fits as a whole. All in one
 * thread, because some tests fork. */
#ifndef DPL_TEST_FIT_BENCH_H
#define DPL_TEST_FIT_BENCH_H

#include "base/identity.h"
#include "support.h"

enum { PATH_ROOM = 512 };

/* A folder with a small city, and the options of a fit that takes a tenth of a second. */
struct bench {
    char *directory;
    char city[PATH_ROOM], model[PATH_ROOM], checkpoint[PATH_ROOM], ledger[PATH_ROOM];
    struct dpl_area area;
    struct dpl_read_options read;
    struct dpl_fit_options options;
};

/* Method paper, which has all there is to checkpoint; seeded noise, no ledger. */
void set_up(struct bench *bench, int64_t trips);
void tear_down(struct bench *bench);
/* The path of a file beside the city. */
void place(struct bench *bench, char *path, const char *name);
/* Fits and writes the model, over an old one. */
enum dpl_status fit_with(struct dpl_run *run, const struct bench *bench);
void fit_ok(const struct bench *bench);
/* `part` must be in the message. */
void assert_fails(const struct bench *bench, enum dpl_status expected, const char *part);
/* Stops the fit where the phase so named ends, or where a note begins so. */
void interrupt_at(const struct bench *bench, const char *phase);
/* Adds a trip: n points 20 s apart from (lat, lon) on. */
void append_trip(const struct bench *bench, double lat, double lon, int n);
bool exists(const char *path);

struct bytes {
    uint8_t *data;
    size_t length;
};
/* Of `path` with the ending; a zero stands behind the last. Free .data. */
struct bytes read_all(const char *path, const char *ending);

/* The city's rows as columns of numbers. */
struct rows {
    size_t n;
    int64_t *trip, *user, *time;
    double *lat, *lon;
};
/* Of a file trip_id,user_id,timestamp,lat,lon with whole-number ids and seconds. */
struct rows read_rows(const char *path);
void free_rows(struct rows *rows);
/* Which data set the trips are, under a fixed key. */
struct dpl_identity identity_of(struct dpl_run *run, struct dpl_trips *trips);

/* What may be published of a fit: model, certificate, manifest. */
enum { RELEASED_FILES = 3 };
extern const char *const RELEASED[RELEASED_FILES];
struct released {
    struct bytes file[RELEASED_FILES];
};
struct released read_released(const struct bench *bench);
void free_released(struct released *released);
void assert_same(const struct released *a, const struct released *b);

#endif
