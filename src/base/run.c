/* The run: one message, the threads, whom to tell. See base.h for the rules. */
#include "base/base.h"

#include <errno.h>
#include <omp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/options.h"
#include "base/run.h"

enum { REPORT_EVERY_MS = 200 };

const char *dpl_version(void) { return DPL_VERSION; }

struct dpl_run_options dpl_run_defaults(void) {
    struct dpl_run_options options = {.struct_size = sizeof options};
    return options;
}

struct dpl_run *dpl_run_new(const struct dpl_run_options *options) {
    struct dpl_run *run = calloc(1, sizeof *run);
    if (!run) return NULL;
    run->options = dpl_run_defaults();
    if (dpl_options_take(run, "run", options, &run->options) != DPL_OK) {
        free(run);
        return NULL;
    }
    run->threads = run->options.threads > 0 ? run->options.threads : omp_get_num_procs();
    return run;
}

void dpl_run_free(struct dpl_run *run) { free(run); }

const char *dpl_run_message(const struct dpl_run *run) { return run->message; }

void dpl_run_interrupt(struct dpl_run *run) { atomic_store(&run->interrupted, true); }

int dpl_run_threads(const struct dpl_run *run) { return run->threads; }

void dpl_run_begin(struct dpl_run *run) { run->message[0] = '\0'; }

/* Appends to the message in an already locked region. */
static void message_set(struct dpl_run *run, const char *format, va_list arguments,
                        const char *reason) {
    if (run->message[0]) return; // the first failure is the cause, later ones are echoes
    int length = vsnprintf(run->message, sizeof run->message, format, arguments);
    if (reason && length >= 0 && (size_t)length < sizeof run->message)
        snprintf(run->message + length, sizeof run->message - (size_t)length, ": %s", reason);
}

enum dpl_status(dpl_fail)(struct dpl_run *run, enum dpl_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
#pragma omp critical(dpl_message)
    message_set(run, format, arguments, NULL);
    va_end(arguments);
    return status;
}

enum dpl_status(dpl_fail_errno)(struct dpl_run *run, enum dpl_status status, const char *format,
                                ...) {
    char reason[128];
    const char *text = strerror_r(errno, reason, sizeof reason); // the GNU form returns the text
    va_list arguments;
    va_start(arguments, format);
#pragma omp critical(dpl_message)
    message_set(run, format, arguments, text);
    va_end(arguments);
    return status;
}

void dpl_run_hush(struct dpl_run *run, bool hushed) { run->hushed = hushed; }

bool dpl_run_hushed(const struct dpl_run *run) { return run->hushed; }

void dpl_note(struct dpl_run *run, const char *format, ...) {
    if (!run->options.on_note || run->hushed) return;
    char sentence[DPL_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    run->options.on_note(run->options.user, sentence);
}

bool dpl_interrupted(struct dpl_run *run) {
    return atomic_load_explicit(&run->interrupted, memory_order_relaxed);
}

enum dpl_status dpl_check_interrupt(struct dpl_run *run) {
    if (!dpl_interrupted(run)) return DPL_OK;
    return dpl_fail(run, DPL_INTERRUPTED, "interrupted");
}

/* ---- progress ---- */

static double now_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void report(struct dpl_run *run, bool finished) {
    struct dpl_progress progress = run->progress;
    progress.seconds = now_s() - run->phase_began_s;
    progress.rate = progress.seconds > 0 ? progress.done / progress.seconds : 0;
    progress.seconds_left = -1;
    if (progress.total > 0 && progress.rate > 0) {
        double left = (progress.total - progress.done) / progress.rate;
        progress.seconds_left = left > 0 ? left : 0;
    }
    progress.epsilon = run->epsilon;
    progress.finished = finished;
    run->options.on_progress(run->options.user, &progress);
}

void dpl_progress_begin(struct dpl_run *run, const char *phase, const char *unit, double total) {
    run->progress = (struct dpl_progress){.phase = phase, .unit = unit, .total = total};
    run->phase_began_s = run->reported_s = now_s();
}

void dpl_progress_epsilon(struct dpl_run *run, double epsilon) { run->epsilon = epsilon; }

void dpl_progress_add(struct dpl_run *run, double done) {
#pragma omp critical(dpl_progress)
    {
        run->progress.done += done;
        if (run->options.on_progress) {
            double now = now_s();
            if (now - run->reported_s >= REPORT_EVERY_MS * 1e-3) {
                run->reported_s = now;
                report(run, false);
            }
        }
    }
}

void dpl_progress_end(struct dpl_run *run) {
    if (run->options.on_progress && run->progress.phase) report(run, true);
    run->progress = (struct dpl_progress){0};
}
