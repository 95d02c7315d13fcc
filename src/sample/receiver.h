/* The error of a receiver, as written points have it: its size is drawn for a trip, since some
 * receivers and streets are much worse than others; then it changes slowly. Public figures. */
#ifndef DPL_SAMPLE_RECEIVER_H
#define DPL_SAMPLE_RECEIVER_H

#include "base/base.h"
#include "base/random.h"

struct dpl_receiver {
    double size_m, kept; /* of this trip; what is left of an error at the next point */
    struct dpl_position error;
    bool begun;
};

/* Half of the trips have less than error_m each way; points are interval_s apart. */
struct dpl_receiver dpl_receiver_of(struct dpl_stream *stream, double error_m, double interval_s);
/* The error of the next point. */
struct dpl_position dpl_receiver_next(struct dpl_receiver *receiver, struct dpl_stream *stream);

#endif
