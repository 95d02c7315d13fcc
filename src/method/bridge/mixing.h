/* Anderson mixing, see mixing.c. */
#ifndef DPL_METHOD_BRIDGE_MIXING_H
#define DPL_METHOD_BRIDGE_MIXING_H

#include "base/base.h"
#include "method/bridge/constants.h"

enum { DPL_MIXING_WINDOW = MIXING_WINDOW }; // rounds that are looked back upon

struct dpl_mixing {
    size_t n, rounds;     /* values; changes seen so far */
    bool seen;            /* whether there is a last round */
    const double *weight; /* (n) of each value's f; borrowed */
    double *room;
    double *dx[DPL_MIXING_WINDOW], *df[DPL_MIXING_WINDOW], *last_x,
        *last_f; /* (n) each, of `room` */
};
/* Free with dpl_mixing_free. */
enum dpl_status dpl_mixing_new(struct dpl_run *run, size_t n, const double *weight,
                               struct dpl_mixing *mixing);
void dpl_mixing_free(struct dpl_mixing *mixing);
/* Starts anew from the values that come next. */
void dpl_mixing_forget(struct dpl_mixing *mixing);
/* Moves x (n), which proposed the steps f (n), by pace * f and what the rounds before teach. */
void dpl_mixing_step(struct dpl_mixing *mixing, const double *f, double pace, double *x);

#endif
