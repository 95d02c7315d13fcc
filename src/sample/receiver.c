/* Errors of a receiver. See receiver.h. */
#include "sample/receiver.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
/* How far sizes differ from trip to trip (deviation of the logarithm), and how long errors last. */
static const double SIZES = 0.8, MEMORY_S = 300;

/* A normally distributed vector of deviation 1 each way. */
static struct dpl_position draw_normal(struct dpl_stream *stream) {
    double radius = sqrt(-2 * log(1 - dpl_stream_uniform(stream))),
           angle = 2 * PI * dpl_stream_uniform(stream);
    return (struct dpl_position){(float)(radius * cos(angle)), (float)(radius * sin(angle))};
}

struct dpl_receiver dpl_receiver_of(struct dpl_stream *stream, double error_m, double interval_s) {
    struct dpl_receiver receiver = {.size_m =
                                        error_m * exp(SIZES * (double)draw_normal(stream).x_m),
                                    .kept = exp(-interval_s / MEMORY_S)};
    receiver.error = draw_normal(stream);
    return receiver;
}

struct dpl_position dpl_receiver_next(struct dpl_receiver *receiver, struct dpl_stream *stream) {
    struct dpl_position *error = &receiver->error, more = draw_normal(stream);
    double kept = receiver->kept, size_m = receiver->size_m;
    if (receiver->begun) {
        error->x_m = (float)(kept * error->x_m + sqrt(1 - kept * kept) * more.x_m);
        error->y_m = (float)(kept * error->y_m + sqrt(1 - kept * kept) * more.y_m);
    }
    receiver->begun = true;
    return (struct dpl_position){(float)(size_m * error->x_m), (float)(size_m * error->y_m)};
}
