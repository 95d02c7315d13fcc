/* Drawing any number of trips from a model and writing them, in bounded memory. The public call is
 * dpl_sample. */
#ifndef DPL_SAMPLE_SAMPLE_H
#define DPL_SAMPLE_SAMPLE_H

#include "base/file.h"
#include "sample/decode.h"
#include "sample/diary.h"

/* A round is at most this many trips, of at most this many stays (4 bytes each). */
enum { DPL_ROUND_TRIPS = 1 << 20, DPL_ROUND_STAYS = 16 << 20 };

struct dpl_drawing {
    const struct dpl_writer *writer;
    struct dpl_sheet sheet;
    struct dpl_names names;
    const struct dpl_decoder *decoder;
    struct dpl_roads *roads; /* that trips follow; NULL: none */
    struct dpl_generator *generator;
    uint64_t seed;
    int64_t trips, users;     /* users 0: none */
    int64_t block, blocks;    /* which part of the trips is drawn; blocks 0: all */
    struct dpl_habits habits; /* of users */
    uint32_t length_max;
    size_t round_trips, round_stays;
};

/* Where what the writer makes of the trips goes, in order. */
struct dpl_outlet {
    void *state;
    enum dpl_status (*put)(void *state, const char *bytes, size_t length);
};

/* The header and all trips. */
enum dpl_status dpl_drawing_put(struct dpl_run *run, const struct dpl_drawing *sampling,
                                const struct dpl_outlet *outlet);
/* The same into the open file. */
enum dpl_status dpl_drawing_write(struct dpl_run *run, const struct dpl_drawing *sampling,
                                  struct dpl_file *file);
/* The same into a store of trips in memory; the drawing's writer is not used. */
enum dpl_status dpl_drawing_keep(struct dpl_run *run, const struct dpl_drawing *sampling,
                                 struct dpl_trips *trips);
/* Whether trips of that method, which have times or not, can be written so. */
enum dpl_status dpl_sample_check_times(struct dpl_run *run,
                                       const struct dpl_sample_options *options, const char *path,
                                       const char *method, bool has_time);
/* Whether the options make sense and the files may be written: call before fitting. */
enum dpl_status dpl_sample_check(struct dpl_run *run, const struct dpl_sample_options *options,
                                 const char *path);

#endif
