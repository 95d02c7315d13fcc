/* The inside of struct dpl_run; for src/base alone. */
#ifndef DPL_BASE_RUN_H
#define DPL_BASE_RUN_H

#include <stdatomic.h>

#include "dploc.h"

enum { DPL_MESSAGE_SIZE = 1024 };

struct dpl_run {
    struct dpl_run_options options;
    int threads;
    atomic_bool interrupted;
    bool hushed; /* notes are not passed on */
    char message[DPL_MESSAGE_SIZE];
    struct dpl_progress progress;
    double phase_began_s, reported_s, epsilon;
    atomic_long allocations; /* asked for so far */
    atomic_long fail_at;     /* the allocation that fails, 0: none */
};

#endif
