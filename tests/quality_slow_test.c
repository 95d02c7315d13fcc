/* What the paper's nets learn of a made-up city, private and not: against tables that need no net.
 * Minutes long (label slow); the figures it prints stand in docs/METHOD.md. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleaned.h"
#include "evaluate/emd.h"
#include "method/method.h"
#include "method/paper/fit_nexthop.h"
#include "method/paper/fit_vae.h"

enum { TRAIN = 200000, HELD_OUT = 20000, DRAWN = 100000, PAIRS_MAX = 2000 };

static struct {
    struct dpl_run *run;
    struct dpl_cleaned *train, *held;
    struct dpl_model *private; /* epsilon 2; its cells and L_max are everybody's */
    struct dpl_topk topk;
    struct dpl_parts train_parts;
    struct dpl_kept kept_train, kept_held;
    struct dpl_reduced train_reduced, held_reduced;
    size_t k, periods;
} city;

/* ---- the city, split ---- */

static void append_from(const struct dpl_cleaned *all, size_t i, struct dpl_cleaned *into) {
    const struct dpl_cleaned_trip trip = {.cell = all->cell + all->start[i],
                                          .n_visits = all->start[i + 1] - all->start[i],
                                          .utc_s = all->utc_s[i],
                                          .user = all->user[i],
                                          .period = all->period[i]};
    assert_ok(city.run, dpl_cleaned_append(city.run, into, &trip));
}

static void read_city(void) {
    char *directory = test_directory();
    const char *path = test_path(directory, "city.csv");
    struct dpl_simulate_options options = dpl_simulate_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_cleaned *all;
    options.trips = TRAIN + HELD_OUT;
    assert_ok(city.run, dpl_simulate(city.run, &options, path));
    assert_ok(city.run, dpl_area_preset(city.run, "simulated", &area));
    assert_ok(city.run,
              dpl_cleaned_read(city.run, (const char *[]){path}, 1, &read, &area, &all, NULL));
    assert_ok(city.run, dpl_cleaned_new(city.run, &all->grid, &city.train));
    assert_ok(city.run, dpl_cleaned_new(city.run, &all->grid, &city.held));
    city.train->has_time = city.held->has_time = true;
    for (size_t i = 0; i < all->n_trips; i++)
        append_from(all, i, i % (TRAIN / HELD_OUT + 1) == 0 ? city.held : city.train);
    dpl_cleaned_free(all);
    test_directory_remove(directory);
}

static void fit_private(void) {
    struct dpl_fit_options options = dpl_fit_defaults();
    // dpl_fit would put these in; here the method is called by itself.
    options.coverage = dpl_method_paper.coverage;
    options.budget.trips_max = 1;
    struct dpl_mechanism ask[DPL_METHOD_MECHANISMS];
    struct dpl_release release = {0};
    const struct dpl_method *method;
    const struct dpl_identity identity = {0};
    size_t n;
    options.budget.epsilon = 2;
    options.budget.insecure_seed = true; // so that the figures are the same every time
    options.insecure_seed = 1;
    options.ledger = "none";
    assert_ok(city.run, dpl_method_find(city.run, "paper", &method));
    assert_ok(city.run, dpl_method_requests(city.run, method, &options, ask, &n));
    assert_ok(city.run, dpl_kept_make(city.run, city.train, DPL_UNIT_TRIP, 1, &city.kept_train));
    assert_ok(city.run,
              dpl_parts_make(city.run, city.train, DPL_UNIT_TRIP, 1, 1, &city.train_parts));
    assert_ok(city.run, dpl_kept_make(city.run, city.held, DPL_UNIT_TRIP, 1, &city.kept_held));
    assert_ok(city.run, dpl_release_open(city.run, &options, "", &identity, city.train, &release));
    assert_ok(city.run, dpl_release_plan(city.run, &release, ask, n, city.kept_train.n_units));
    assert_ok(city.run, dpl_model_new(city.run, "paper", &city.train->grid, &city.private));
    assert_ok(city.run, method->fit(city.run, &city.train_parts, &release, city.private));
    dpl_release_close(&release);
}

/* The private model's cells as a TOP-K. */
static void reduce_all(void) {
    const struct dpl_grid *grid = &city.train->grid;
    size_t n = (size_t)dpl_grid_cells(grid);
    struct dpl_exact *exact;
    struct dpl_noised *bare;
    const struct dpl_event event = {
        .name = "cells", .kind = DPL_EVENT_GAUSSIAN, .sensitivity = 1, .rate = 1, .steps = 1};
    assert_ok(city.run,
              dpl_exact_new(city.run,
                            &(struct dpl_exact_options){
                                .n = n, .norm = DPL_NORM_L2, .sensitivity = 1, .places = 16},
                            &exact));
    for (int32_t i = 0; i < city.private->n_cells; i++)
        assert_ok(city.run,
                  dpl_exact_add(
                      city.run, exact,
                      &(struct dpl_entry){.index = (size_t)city.private->cell[i], .value = 1}, 1));
    assert_ok(city.run, dpl_bare_release(city.run, &event, &exact, &bare));
    assert_ok(city.run, dpl_topk_choose(city.run, grid, bare, 1, &city.topk));
    dpl_noised_free(bare);
    assert_int_equal(city.topk.n_cells, city.private->n_cells);
    assert_ok(city.run, dpl_reduce(city.run, city.train, &city.kept_train, city.private->length_max,
                                   &city.topk, &city.train_reduced));
    assert_ok(city.run, dpl_reduce(city.run, city.held, &city.kept_held, city.private->length_max,
                                   &city.topk, &city.held_reduced));
}

static int set_up(void **state) {
    (void)state;
    city.run = test_run(0);
    read_city();
    fit_private();
    reduce_all();
    city.k = (size_t)city.private->n_cells;
    city.periods = (size_t)city.train->grid.area.periods;
    print_message("%zu trips to learn from, K = %zu, L_max = %d\n", city.train->n_trips, city.k,
                  city.private->length_max);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    dpl_reduced_free(&city.train_reduced);
    dpl_reduced_free(&city.held_reduced);
    dpl_topk_free(&city.topk);
    dpl_parts_free(&city.train_parts);
    dpl_kept_free(&city.kept_train);
    dpl_kept_free(&city.kept_held);
    dpl_model_free(city.private);
    dpl_cleaned_free(city.train);
    dpl_cleaned_free(city.held);
    dpl_run_free(city.run);
    return 0;
}

/* ---- non-private nets, trained as the paper's ---- */

static struct dpl_sgd_state *train_plain(struct dpl_net *net, struct dpl_sgd_options options,
                                         double rate) {
    struct dpl_sgd_state *training;
    struct dpl_secret secret;
    assert_ok(city.run, dpl_secret_from_seed(city.run, 3, &secret));
    assert_ok(city.run, dpl_sgd_state_new(city.run, net->n_parameters, &training));
    net->initialise(net, 17, training->parameters);
    options.not_private = true;
    options.learning_rate = rate;
    assert_ok(city.run, dpl_sgd_train(city.run, net, &options, &secret, training, NULL, NULL));
    return training;
}

/* ---- transitions ---- */

/* Mean of -log P over the 2-grams of the held-out trips, P from a table of log probabilities. */
static double table_entropy(const double *log_p, bool by_current) {
    double sum = 0;
    size_t n = 0;
    for (size_t u = 0; u < city.held_reduced.units.n_units; u++)
        for (size_t i = 0; i < dpl_unit_twograms(&city.held_reduced.units, u); i++, n++) {
            struct dpl_twogram gram = dpl_unit_twogram(&city.held_reduced.units, u, i);
            sum -= log_p[(by_current ? (size_t)gram.current * city.k : 0) + (size_t)gram.next];
        }
    return sum / (double)n;
}

/* Log probabilities of the next cell from the training trips' 2-grams, half a count added to each.
 */
static double *make_table(bool by_current) {
    size_t rows = by_current ? city.k : 1;
    double *table = calloc(rows * city.k, sizeof *table);
    for (size_t i = 0; i < rows * city.k; i++) table[i] = 0.5;
    for (size_t u = 0; u < city.train_reduced.units.n_units; u++)
        for (size_t i = 0; i < dpl_unit_twograms(&city.train_reduced.units, u); i++) {
            struct dpl_twogram gram = dpl_unit_twogram(&city.train_reduced.units, u, i);
            table[(by_current ? (size_t)gram.current * city.k : 0) + (size_t)gram.next]++;
        }
    for (size_t r = 0; r < rows; r++) {
        double total = 0;
        for (size_t i = 0; i < city.k; i++) total += table[r * city.k + i];
        for (size_t i = 0; i < city.k; i++)
            table[r * city.k + i] = log(table[r * city.k + i] / total);
    }
    return table;
}

static double net_entropy(const float *parameters) {
    enum { AT_ONCE = 4096 };
    const struct dpl_units *units = &city.held_reduced.units;
    const struct dpl_nexthop_shape shape = dpl_nexthop_paper(city.k, city.periods);
    struct dpl_nexthop_folded folded;
    int32_t current[AT_ONCE], destination[AT_ONCE], next[AT_ONCE];
    uint8_t period[AT_ONCE];
    float *log_p = calloc(AT_ONCE * city.k, sizeof *log_p);
    double sum = 0;
    size_t n = 0, have = 0;
    assert_ok(city.run, dpl_nexthop_fold(city.run, &shape, parameters, &folded));
    for (size_t u = 0; u <= units->n_units; u++) {
        size_t grams = u < units->n_units ? dpl_unit_twograms(units, u) : 0;
        if (u == units->n_units || have + grams > AT_ONCE) {
            assert_ok(city.run, dpl_nexthop_evaluate(city.run, &folded, have, current, destination,
                                                     period, log_p));
            for (size_t i = 0; i < have; i++) sum -= (double)log_p[i * city.k + (size_t)next[i]];
            n += have;
            have = 0;
        }
        for (size_t i = 0; i < grams; i++, have++) {
            struct dpl_twogram gram = dpl_unit_twogram(units, u, i);
            current[have] = gram.current, destination[have] = gram.destination,
            next[have] = gram.next, period[have] = gram.period;
        }
    }
    free(log_p);
    dpl_nexthop_folded_free(&folded);
    return sum / (double)n;
}

static void transitions_beat_tables(void **state) {
    (void)state;
    const struct dpl_nexthop_shape shape = dpl_nexthop_paper(city.k, city.periods);
    struct dpl_net *net;
    const float *private;
    size_t n = dpl_nexthop_parameters(&shape);
    assert_ok(city.run, dpl_nexthop_new(city.run, &shape, &city.train_reduced.units, 1, 200, &net));
    struct dpl_sgd_state *plain =
        train_plain(net, dpl_nexthop_training((double)city.train_reduced.units.n_units), 0.15);
    assert_ok(city.run,
              dpl_model_get(city.run, city.private, "nexthop", DPL_TENSOR_F32, 1, &n, &private));
    double *visits = make_table(false), *first_order = make_table(true);
    double h_visits = table_entropy(visits, false), h_first = table_entropy(first_order, true);
    double h_plain = net_entropy(plain->parameters), h_private = net_entropy(private);
    print_message("cross-entropy on held-out trips, nats: visit frequencies %.3f, first-order "
                  "table %.3f, net %.3f (%.1f %% below the table), "
                  "private net at epsilon 2 %.3f (%.0f %% of the way)\n",
                  h_visits, h_first, h_plain, 100 * (1 - h_plain / h_first), h_private,
                  100 * (h_visits - h_private) / (h_visits - h_plain));
    assert_true(h_plain <= 0.8 * h_first);
    assert_true(h_visits - h_private >= 0.5 * (h_visits - h_plain));
    free(visits);
    free(first_order);
    dpl_sgd_state_free(plain);
    dpl_net_free(net);
}

/* ---- starts and ends ---- */

struct trip_end {
    int32_t source, destination;
    uint8_t period;
};

/* Metres between two pairs' sources and their destinations, together. A pair is source * K +
 * destination. */
static void pair_row(const void *context, uint32_t from, const uint32_t *to, size_t n,
                     double *cost_m) {
    const uint32_t *pair = context;
    const struct dpl_grid *grid = &city.train->grid;
    const uint32_t k = (uint32_t)city.k, a = pair[from];
    for (size_t i = 0; i < n; i++) {
        const uint32_t b = pair[to[i]];
        cost_m[i] = dpl_grid_distance_m(grid, city.topk.cell[a / k], city.topk.cell[b / k]) +
                    dpl_grid_distance_m(grid, city.topk.cell[a % k], city.topk.cell[b % k]);
    }
}

static const int64_t *sort_counts;

static int by_count(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sort_counts[x] != sort_counts[y]) return sort_counts[x] > sort_counts[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* METRICS: a side keeps its most frequent pairs up to 80 % of its trips, at most PAIRS_MAX. */
static void keep_frequent(int64_t *count, size_t n_pairs) {
    uint32_t *order = calloc(n_pairs, sizeof *order);
    int64_t total = 0, sum = 0;
    for (size_t i = 0; i < n_pairs; i++) order[i] = (uint32_t)i, total += count[i];
    sort_counts = count;
    qsort(order, n_pairs, sizeof *order, by_count);
    for (size_t i = 0; i < n_pairs; i++) {
        bool keep = i < PAIRS_MAX && 10 * sum < 8 * total;
        sum += count[order[i]];
        if (!keep) count[order[i]] = 0;
    }
    free(order);
}

/* The earth mover's distance of the joint histograms of source and destination. */
static double pair_emd(const struct trip_end *a, const struct trip_end *b) {
    const size_t n_pairs = city.k * city.k;
    int64_t *count[2] = {calloc(n_pairs, sizeof(int64_t)), calloc(n_pairs, sizeof(int64_t))};
    uint32_t *pair = calloc(n_pairs, sizeof *pair);
    struct dpl_emd_solver solver = {0};
    size_t n = 0;
    double emd;
    for (size_t i = 0; i < DRAWN; i++) {
        count[0][(size_t)a[i].source * city.k + (size_t)a[i].destination]++;
        count[1][(size_t)b[i].source * city.k + (size_t)b[i].destination]++;
    }
    for (int side = 0; side < 2; side++) keep_frequent(count[side], n_pairs);
    for (size_t i = 0; i < n_pairs; i++) {
        if (!count[0][i] && !count[1][i]) continue;
        pair[n] = (uint32_t)i;
        count[0][n] = count[0][i], count[1][n] = count[1][i];
        n++;
    }
    const struct dpl_emd_ground ground = {.row = pair_row, .context = pair, .cost_max_m = 1e5};
    assert_ok(city.run, dpl_emd(city.run, &solver, count[0], count[1], n, &ground, &emd));
    dpl_emd_free(&solver);
    free(count[0]), free(count[1]), free(pair);
    return emd;
}

static struct trip_end end_of(const struct dpl_units *units, size_t trip) {
    return (struct trip_end){units->cell[units->trip_start[trip]],
                             units->cell[units->trip_start[trip + 1] - 1], units->period[trip]};
}

/* The Jensen-Shannon distance (base 2) of two histograms of periods. */
static double js_distance(const double *p, const double *q, size_t n) {
    double sum_p = 0, sum_q = 0, js = 0;
    for (size_t i = 0; i < n; i++) sum_p += p[i], sum_q += q[i];
    for (size_t i = 0; i < n; i++) {
        double a = p[i] / sum_p, b = q[i] / sum_q, m = (a + b) / 2;
        if (a > 0) js += a * log2(a / m) / 2;
        if (b > 0) js += b * log2(b / m) / 2;
    }
    return sqrt(fmax(0, js));
}

static void draw(const float *parameters, struct trip_end *trips, size_t n) {
    struct dpl_vae_shape shape = dpl_vae_paper(city.k, city.periods);
    int32_t *source = calloc(n, sizeof *source), *destination = calloc(n, sizeof *destination);
    uint8_t *period = calloc(n, 1);
    assert_ok(city.run,
              dpl_vae_sample(city.run, &shape, parameters, 99, 0, n, source, destination, period));
    for (size_t i = 0; i < n; i++)
        trips[i] = (struct trip_end){source[i], destination[i], period[i]};
    free(source), free(destination), free(period);
}

static void starts_and_ends_come_near(void **state) {
    (void)state;
    static struct trip_end real[DRAWN], other[DRAWN], drawn[DRAWN], private[DRAWN], uniform[DRAWN],
        marginal[DRAWN];
    const struct dpl_units *held = &city.held_reduced.units, *train = &city.train_reduced.units;
    const struct dpl_vae_shape shape = dpl_vae_paper(city.k, city.periods);
    struct dpl_net *net;
    const float *private_parameters;
    size_t n = dpl_vae_parameters(&shape);
    uint64_t random = 8;
    double hours[2][DPL_MAX_PERIODS] = {{0}}, private_hours[DPL_MAX_PERIODS] = {0};
    assert_ok(city.run, dpl_vae_new(city.run, &shape, train, 1, 200, &net));
    struct dpl_sgd_state *plain = train_plain(net, dpl_vae_training((double)train->n_units), 0.5);
    draw(plain->parameters, drawn, DRAWN);
    assert_ok(city.run, dpl_model_get(city.run, city.private, "vae", DPL_TENSOR_F32, 1, &n,
                                      &private_parameters));
    draw(private_parameters, private, DRAWN);
    for (size_t i = 0; i < DRAWN; i++) {
        real[i] = end_of(held, test_random(&random) % held->n_units);
        other[i] = end_of(train, test_random(&random) % train->n_units);
        uniform[i] = (struct trip_end){(int32_t)(test_random(&random) % city.k),
                                       (int32_t)(test_random(&random) % city.k), 0};
        marginal[i] =
            (struct trip_end){end_of(train, test_random(&random) % train->n_units).source,
                              end_of(train, test_random(&random) % train->n_units).destination, 0};
        hours[0][drawn[i].period]++;
        private_hours[private[i].period]++;
    }
    for (size_t i = 0; i < held->n_units; i++) hours[1][end_of(held, i).period]++;
    double vae = pair_emd(real, drawn), far = pair_emd(real, uniform),
           alone = pair_emd(real, marginal), floor = pair_emd(real, other);
    double js = js_distance(hours[0], hours[1], city.periods);
    print_message("source and destination, EMD from real trips: VAE %.0f m, uniform draw %.0f m "
                  "(%.0f %%), independent marginals %.0f m, private VAE at epsilon 2 "
                  "%.0f m, other real trips %.0f m\nhours, JS distance: VAE %.3f, private %.3f\n",
                  vae, far, 100 * vae / far, alone, pair_emd(real, private), floor, js,
                  js_distance(private_hours, hours[1], city.periods));
    assert_true(vae <= 0.4 * far);
    assert_true(js <= 0.1);
    dpl_sgd_state_free(plain);
    dpl_net_free(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transitions_beat_tables),
        cmocka_unit_test(starts_and_ends_come_near),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
