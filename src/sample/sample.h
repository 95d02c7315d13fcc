/* Drawing any number of trips from a model and writing them, in bounded memory. The public call is
 * dpl_sample. */
#ifndef DPL_SAMPLE_SAMPLE_H
#define DPL_SAMPLE_SAMPLE_H

#include "base/file.h"
#include "sample/decode.h"

/* A round is at most this many trips, of at most this many stays (4 bytes each). */
enum { DPL_ROUND_TRIPS = 1 << 20, DPL_ROUND_STAYS = 16 << 20 };

struct dpl_drawing {
    const struct dpl_writer *writer;
    const struct dpl_decoder *decoder;
    struct dpl_generator *generator;
    uint64_t seed;
    int64_t trips, users; /* users 0: none */
    uint32_t length_max;
    size_t round_trips, round_stays;
};

/* The header and all trips, into the open file. */
enum dpl_status dpl_sample_write(struct dpl_run *run, const struct dpl_drawing *sampling,
                                 struct dpl_file *file);

#endif
