/* What the benchmarks share: clocks, the end after a failure, and the form of a figure's line,
 * which bench/run.sh looks for goals that were missed. */
#ifndef DPL_BENCH_BENCH_H
#define DPL_BENCH_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"

static inline double clock_s(clockid_t which) {
    struct timespec time;
    clock_gettime(which, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Processor time of all threads: on a shared machine the clock on the wall measures the neighbours.
 */
static inline double cpu_s(void) { return clock_s(CLOCK_PROCESS_CPUTIME_ID); }

/* A figure without a goal. */
static inline void report(const char *name, double value, const char *unit) {
    printf("%-36s %10.3f %-10s\n", name, value, unit);
    fflush(stdout);
}

static inline void report_goal(const char *name, double value, const char *unit, const char *sign,
                               double goal, bool ok) {
    printf("%-36s %10.3f %-10s goal %s %g %s\n", name, value, unit, sign, goal,
           ok ? "ok" : "MISSED");
    fflush(stdout);
}
static inline void report_at_most(const char *name, double value, const char *unit, double most) {
    report_goal(name, value, unit, "<=", most, value <= most);
}
static inline void report_at_least(const char *name, double value, const char *unit, double least) {
    report_goal(name, value, unit, ">=", least, value >= least);
}

static inline void must(struct dpl_run *run, enum dpl_status status) {
    if (status == DPL_OK) return;
    fprintf(stderr, "benchmark: %s\n", run ? dpl_run_message(run) : "out of memory");
    exit(1);
}

#endif
