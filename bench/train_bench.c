/* Training at the paper's size, against what this machine could do at best: `name value unit goal
 * ok|MISSED`.
 *
 * 431,000 trips, batches of 200, 15 epochs of each net, scaled from SEGMENTS short runs of
 * SEGMENT_STEPS steps, of which the fastest counts, since other programs share the machine. The
 * ideal is
 *
 *     FLOP of the products / best rate of these very products, all cores
 *         + parameters * best time of a normal, all cores
 *
 * and privacy may cost 1.5 times the normals. Several threads can be timed on a quiet machine only:
 * a barrier waits for whom the system has put aside. The lines "one_thread_cpu" are processor time
 * of one thread, private and not, against the same ideal for one thread; they bear company. */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "method/paper/fit_nexthop.h"
#include "method/paper/fit_vae.h"
#include "method/paper/net/product.h"
#include "noise/gaussian.h"

enum { TRIPS = 431000, BATCH = 200, SEGMENT_STEPS = 4, PERIODS = 24, ROUNDS = 200 };

static int segments = 400;
static clockid_t clock_used = CLOCK_MONOTONIC;

static double now_s(void) { return clock_s(clock_used); }

static void report_of(const char *net, size_t cells, const char *what, double value,
                      const char *unit, double goal, bool higher_is_better) {
    char name[64];
    snprintf(name, sizeof name, "%s_%zu_%s", net, cells, what);
    if (goal <= 0)
        report(name, value, unit);
    else
        (higher_is_better ? report_at_least : report_at_most)(name, value, unit, goal);
}

/* ---- trips of 2 to 20 visits ---- */

struct city {
    struct dpl_units units;
    size_t *trip_start;
    int32_t *cell;
    uint8_t *period;
};

static bool city_make(size_t cells, struct city *city) {
    city->trip_start = malloc((TRIPS + 1) * sizeof *city->trip_start);
    city->cell = malloc((size_t)TRIPS * 20 * sizeof *city->cell);
    city->period = malloc(TRIPS);
    if (!city->trip_start || !city->cell || !city->period) return false;
    size_t visits = 0;
    for (size_t t = 0; t < TRIPS; t++) {
        uint64_t word = dpl_mix64(t + 1);
        city->trip_start[t] = visits;
        city->period[t] = (uint8_t)(word % PERIODS);
        for (size_t v = 0; v < 2 + (word >> 32) % 19; v++, visits++)
            city->cell[visits] = (int32_t)(dpl_mix64(visits) % cells);
    }
    city->trip_start[TRIPS] = visits;
    city->units =
        (struct dpl_units){TRIPS, NULL, city->trip_start, city->cell, NULL, city->period, NULL};
    return true;
}

static void city_free(struct city *city) {
    free(city->trip_start);
    free(city->cell);
    free(city->period);
}

/* ---- the ideal ---- */

/* Seconds for all products of one step with BATCH rows: forward and backward split by rows, weights
 * by panels. */
static double products_s(const struct dpl_net *net, int threads) {
    double total = 0;
    size_t half = BATCH / (size_t)threads;
    float *a = calloc(512 * 1200, sizeof *a), *b = calloc(1200 * 1200, sizeof *b),
          *c = calloc(2400 * 1200, sizeof *c);
    for (size_t t = 0; t < net->n_taps; t++) {
        const struct dpl_tap *tap = &net->tap[t];
        if (tap->kind != DPL_TAP_DENSE) continue;
        double best = INFINITY;
        for (int round = 0; round < ROUNDS; round++) {
            double begin = now_s();
#pragma omp parallel num_threads(threads)
            for (int repeat = 0; repeat < 4; repeat++) {
                float *own = c + 1200 * 600 * omp_get_thread_num();
                size_t panel = (tap->rows + (size_t)threads - 1) / (size_t)threads,
                       sa = dpl_stride(tap->rows), sd = dpl_stride(tap->columns);
                dpl_product('N', 'N', half, tap->columns, tap->rows, 1, a, sa, b, tap->columns, 0,
                            own, sd);
                dpl_product('N', 'T', half, tap->rows - 1, tap->columns, 1, a, sd, b, tap->columns,
                            0, own, sa);
                dpl_product('T', 'N', panel, tap->columns, BATCH, 1, a, sa, b, sd, 0, own,
                            tap->columns);
            }
            best = fmin(best, (now_s() - begin) / 4);
        }
        total += best;
    }
    free(a);
    free(b);
    free(c);
    return total;
}

static double flop(const struct dpl_net *net) {
    double sum = 0;
    for (size_t t = 0; t < net->n_taps; t++)
        if (net->tap[t].kind == DPL_TAP_DENSE)
            sum += 6.0 * BATCH * (double)net->tap[t].rows * (double)net->tap[t].columns;
    return sum;
}

/* Seconds for one normal per parameter. */
static double normals_s(struct dpl_run *run, const struct dpl_secret *secret, size_t n,
                        int threads) {
    double best = INFINITY;
    int64_t *vector = calloc(n, sizeof *vector);
    struct dpl_random *random[64];
    for (int i = 0; i < threads; i++)
        if (dpl_random_new(run, secret, &random[i]) != DPL_OK) exit(1);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        double begin = now_s();
#pragma omp parallel num_threads(threads)
        {
            size_t i = (size_t)omp_get_thread_num(), from = n * i / (size_t)threads,
                   to = n * (i + 1) / (size_t)threads;
            (void)dpl_gaussian_add(run, random[i],
                                   (struct dpl_stream_id){DPL_PURPOSE_TEST, round, 0}, from,
                                   vector + from, to - from, 0x1p26);
        }
        best = fmin(best, now_s() - begin);
    }
    for (int i = 0; i < threads; i++) dpl_random_free(random[i]);
    free(vector);
    return best;
}

/* ---- training ---- */

struct timing {
    double begin, best;
};

static enum dpl_status on_steps(void *user, const struct dpl_sgd_state *state,
                                const struct dpl_sgd_report *progress) {
    struct timing *timing = user;
    (void)state, (void)progress;
    double now = now_s();
    timing->best = fmin(timing->best, now - timing->begin);
    timing->begin = now;
    return DPL_OK;
}

/* Seconds per step, at best. */
static double train_s(struct dpl_run *run, struct dpl_net *net, struct dpl_sgd_options options,
                      const struct dpl_secret *secret, bool private) {
    struct dpl_sgd_state *state;
    struct timing timing = {.begin = now_s(), .best = INFINITY};
    options.event.steps = SEGMENT_STEPS * segments;
    options.event.sigma = 0.7;
    options.not_private = !private;
    options.report_every = SEGMENT_STEPS;
    if (dpl_sgd_state_new(run, net->n_parameters, &state) != DPL_OK) exit(1);
    net->initialise(net, 1, state->parameters);
    if (dpl_sgd_train(run, net, &options, secret, state, on_steps, &timing) != DPL_OK) {
        fprintf(stderr, "%s\n", dpl_run_message(run));
        exit(1);
    }
    dpl_sgd_state_free(state);
    return timing.best / SEGMENT_STEPS;
}

static struct dpl_run *run_of(int threads) {
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = threads;
    return dpl_run_new(&options);
}

static void bench_one_thread(const char *name, size_t cells, struct dpl_net *net,
                             struct dpl_sgd_options options, const struct dpl_secret *secret,
                             struct dpl_run *one) {
    clock_used = CLOCK_THREAD_CPUTIME_ID;
    double products = products_s(net, 1), normals = normals_s(one, secret, net->n_parameters, 1);
    double private = train_s(one, net, options, secret, true),
           open = train_s(one, net, options, secret, false);
    clock_used = CLOCK_MONOTONIC;
    report_of(name, cells, "one_thread_cpu_step", private * 1e6, "us", 0, false);
    report_of(name, cells, "one_thread_cpu_over_ideal", private / (products + normals), "x", 1.7,
              false);
    report_of(name, cells, "one_thread_cpu_privacy", (private - open) / normals, "x", 1.5, false);
}

static double bench_net(const char *name, size_t cells, struct dpl_net *net,
                        struct dpl_sgd_options options, const struct dpl_secret *secret) {
    struct dpl_run *all = run_of(0), *one = run_of(1);
    int threads = dpl_run_threads(all);
    double steps = 15.0 * TRIPS / BATCH;
    double products = products_s(net, threads),
           normals = normals_s(all, secret, net->n_parameters, threads);
    double private = train_s(all, net, options, secret, true),
           open = train_s(all, net, options, secret, false);
    double alone = train_s(one, net, options, secret, true), ideal = products + normals;
    report_of(name, cells, "parameters", (double)net->n_parameters, "", 0, false);
    report_of(name, cells, "products", flop(net) / products / 1e9, "GFLOP/s", 0, true);
    report_of(name, cells, "normal", normals / (double)net->n_parameters * 1e9, "ns", 0, false);
    report_of(name, cells, "step_ideal", ideal * 1e6, "us", 0, false);
    report_of(name, cells, "step", private * 1e6, "us", 0, false);
    report_of(name, cells, "step_not_private", open * 1e6, "us", 0, false);
    report_of(name, cells, "15_epochs", private * steps, "s", 0, false);
    report_of(name, cells, "over_ideal", private / ideal, "x", 1.7, false);
    report_of(name, cells, "privacy_over_normals", (private - open) / normals, "x", 1.5, false);
    if (threads > 1)
        report_of(name, cells, "one_thread_over_all", alone / private, "x", 0.85 * threads, true);
    bench_one_thread(name, cells, net, options, secret, one);
    dpl_run_free(all);
    dpl_run_free(one);
    return private * steps;
}

static void bench_cells(size_t cells, const struct dpl_secret *secret) {
    struct city city = {0};
    struct dpl_run *run = run_of(0);
    struct dpl_net *vae, *nexthop;
    struct dpl_vae_shape vae_shape = dpl_vae_paper(cells, PERIODS);
    struct dpl_nexthop_shape nexthop_shape = dpl_nexthop_paper(cells, PERIODS);
    if (!city_make(cells, &city) ||
        dpl_vae_new(run, &vae_shape, &city.units, 1, BATCH, &vae) != DPL_OK ||
        dpl_nexthop_new(run, &nexthop_shape, &city.units, 1, BATCH, &nexthop) != DPL_OK)
        exit(1);
    double total = bench_net("ti", cells, vae, dpl_vae_training(TRIPS), secret);
    total += bench_net("tpg", cells, nexthop, dpl_nexthop_training(TRIPS), secret);
    report_of("train", cells, "15_epochs_of_both", total, "s", 0, false);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double trips = (double)(city.trip_start[TRIPS] * sizeof *city.cell +
                            TRIPS * (sizeof *city.trip_start + 1)) /
                   1e6;
    report_of("train", cells, "peak_memory_beyond_trips", (double)usage.ru_maxrss / 1e3 - trips,
              "MB", 200, false);
    dpl_net_free(vae);
    dpl_net_free(nexthop);
    city_free(&city);
    dpl_run_free(run);
}

/* Without it, figures of several threads cannot be judged. */
static void print_load(void) {
    double load = NAN;
    (void)getloadavg(&load, 1);
    printf("# load average %.1f on %d cores\n", load, omp_get_num_procs());
}

/* train_bench [segments]: more segments, steadier figures. */
int main(int argc, char **argv) {
    if (argc > 1) segments = atoi(argv[1]) > 0 ? atoi(argv[1]) : segments;
    struct dpl_run *run = run_of(1);
    struct dpl_secret secret;
    char name[64];
    if (run == NULL || dpl_secret_from_seed(run, 1, &secret) != DPL_OK) return 1;
    printf("# %s, %d of %.0f steps of each net\n", dpl_product_name(name, sizeof name),
           SEGMENT_STEPS * segments, 15.0 * TRIPS / BATCH);
    print_load();
    bench_cells(238, &secret);
    bench_cells(550, &secret);
    print_load();
    dpl_run_free(run);
    return 0;
}
