/* DP-SGD: clipped sums against explicit gradients, neighbours, bits, updates, resuming, a one-step
 * audit. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/paper/fit_nexthop.h"
#include "method/paper/fit_vae.h"
#include "method/paper/net/train_arrange.h"
#include "method/paper/net/product.h"

/* ---- a net with one parameter, whose unit u has the gradient value[u] ---- */

struct toy {
    struct dpl_net net;
    const float *value; /* (n_units) */
    float a[48 * 16], delta[48 * 16];
};

static size_t toy_count(const struct dpl_net *net, size_t unit) {
    (void)unit;
    return net->max_rows;
}

static void toy_gather(struct dpl_net *net, size_t unit, uint64_t draw, size_t first,
                       size_t n_rows) {
    struct toy *toy = (struct toy *)net;
    (void)draw;
    for (size_t i = first; i < first + n_rows; i++) { // further rows have the opposite sign
        toy->a[i * 16] = 1;
        toy->delta[i * 16] = i == first ? toy->value[unit] : -toy->value[unit];
    }
}

static void toy_pass(struct dpl_net *net, const float *parameters, size_t first, size_t rows,
                     float *loss) {
    (void)net, (void)parameters;
    for (size_t i = 0; loss != NULL && i < rows; i++) loss[first + i] = 7;
}

static struct toy *toy_new(const float *value, size_t n_units) {
    struct toy *toy = calloc(1, sizeof *toy);
    toy->value = value;
    toy->net = (struct dpl_net){.n_parameters = 1,
                                .n_units = n_units,
                                .capacity = 48,
                                .max_rows = 1,
                                .n_taps = 1,
                                .count = toy_count,
                                .gather = toy_gather,
                                .pass = toy_pass,
                                .product = dpl_product};
    toy->net.tap[0] = (struct dpl_tap){.kind = DPL_TAP_DENSE,
                                       .rows = 1,
                                       .columns = 1,
                                       .a = toy->a,
                                       .delta = toy->delta,
                                       .delta_columns = 1};
    return toy;
}

static struct dpl_sgd_options poisson(double rate, int64_t steps, double clip, double sigma,
                                      double batch) {
    struct dpl_sgd_options options = dpl_sgd_defaults();
    options.event = (struct dpl_event){.name = "test",
                                       .kind = DPL_EVENT_POISSON,
                                       .rate = rate,
                                       .steps = steps,
                                       .sensitivity = clip,
                                       .sigma = sigma};
    options.batch = batch;
    options.learning_rate = 1;
    return options;
}

static struct dpl_secret seeded(struct dpl_run *run, uint64_t seed) {
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, seed, &secret));
    return secret;
}

/* ---- a random city of units with several trips each ---- */

enum { MOST_TRIPS = 4000, MOST_VISITS = 60000 };

struct city {
    struct dpl_units units;
    size_t unit_start[MOST_TRIPS + 1], trip_start[MOST_TRIPS + 1];
    int32_t cell[MOST_VISITS];
    uint8_t period[MOST_TRIPS];
};

static struct city *city_new(uint64_t seed, size_t n_units, size_t cells, size_t most_trips,
                             size_t most_visits) {
    struct city *city = calloc(1, sizeof *city);
    uint64_t random = seed;
    size_t trips = 0, visits = 0;
    for (size_t u = 0; u < n_units; u++) {
        size_t n = 1 + test_random(&random) % most_trips;
        for (size_t t = 0; t < n; t++, trips++) {
            size_t length = 2 + test_random(&random) % (most_visits - 1);
            for (size_t v = 0; v < length; v++)
                city->cell[visits++] = (int32_t)(test_random(&random) % cells);
            city->period[trips] = (uint8_t)(test_random(&random) % 24);
            city->trip_start[trips + 1] = visits;
        }
        city->unit_start[u + 1] = trips;
    }
    assert_true(trips < MOST_TRIPS && visits < MOST_VISITS);
    city->units = (struct dpl_units){
        n_units, city->unit_start, city->trip_start, city->cell, NULL, city->period, NULL};
    return city;
}

static struct dpl_net *nexthop(struct dpl_run *run, const struct city *city, size_t cells,
                               size_t rows) {
    struct dpl_nexthop_shape shape = {
        .n_cells = cells, .n_periods = 24, .embedding = 6, .hidden = 17};
    struct dpl_net *net = NULL;
    assert_ok(run, dpl_nexthop_new(run, &shape, &city->units, rows, 200, &net));
    return net;
}

static struct dpl_net *vae(struct dpl_run *run, const struct city *city, size_t cells,
                           size_t rows) {
    struct dpl_vae_shape shape = {
        .n_cells = cells, .n_periods = 24, .hidden = 13, .latent = 5, .kl_weight = 1};
    struct dpl_net *net = NULL;
    assert_ok(run, dpl_vae_new(run, &shape, &city->units, rows, 200, &net));
    return net;
}

static float *parameters_new(const struct dpl_net *net, uint64_t key, float factor) {
    float *parameters = calloc(net->n_parameters, sizeof *parameters);
    net->initialise(net, key, parameters);
    for (size_t i = 0; i < net->n_parameters; i++) parameters[i] *= factor;
    return parameters;
}

static double lattice_norm(const int64_t *a, const int64_t *b, size_t n, double step) {
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        long double d = (long double)a[i] - (b != NULL ? (long double)b[i] : 0);
        sum += d * d;
    }
    return (double)(sqrtl(sum) * (long double)step);
}

/* ---- clipping ---- */

/* The unit's own mean gradient, by the not private path, then clipped here; against the private
 * sum. */
static void check_clipped_sum(struct dpl_run *run, struct dpl_net *net, double clip, float factor) {
    struct dpl_secret secret = seeded(run, 1);
    struct dpl_sgd_options options = poisson(1, 1, clip, 1, 200), open = options;
    open.not_private = true;
    struct dpl_sgd *private, *raw;
    assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &private));
    assert_ok(run, dpl_sgd_new(run, net, &open, &secret, &raw));
    float *parameters = parameters_new(net, 9, factor);
    size_t d = net->n_parameters, clipped = 0;
    int64_t *gradient = calloc(d, sizeof *gradient), *sum = calloc(d, sizeof *sum);
    double *expected = calloc(d, sizeof *expected);
    uint32_t *unit = calloc(net->n_units, sizeof *unit);
    for (uint32_t u = 0; u < net->n_units; u++) {
        unit[u] = u;
        assert_ok(run, dpl_sgd_sum(raw, parameters, 0, &u, 1, gradient));
        double norm = lattice_norm(gradient, NULL, d, dpl_sgd_step_length(raw));
        double scale = (norm > clip ? clip / norm : 1) / (1 + 0x1p-8) * dpl_sgd_step_length(raw);
        for (size_t i = 0; i < d; i++) expected[i] += scale * (double)gradient[i];
        clipped += norm > clip;
        assert_ok(run, dpl_sgd_sum(private, parameters, 0, &u, 1, sum));
        assert_near(lattice_norm(sum, NULL, d, dpl_sgd_step_length(private)),
                    fmin(norm, clip) / (1 + 0x1p-8), 2e-6 * clip);
    }
    assert_ok(run, dpl_sgd_sum(private, parameters, 0, unit, net->n_units, sum));
    for (size_t i = 0; i < d; i++)
        assert_near((double)sum[i] * dpl_sgd_step_length(private), expected[i], 1e-5 * clip);
    assert_true(clipped > net->n_units / 4); // the clip was at work
    free(unit);
    free(expected);
    free(gradient);
    free(sum);
    free(parameters);
    dpl_sgd_free(private);
    dpl_sgd_free(raw);
}

/* Three cells: current = destination, and a destination repeated in several rows, are the rule. */
static void clipped_sums_are_those_of_explicit_gradients(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (size_t cells = 3; cells <= 20; cells += 17)
        for (size_t rows = 1; rows <= 8; rows += 7) {
            struct city *city = city_new(cells, 60, cells, rows == 1 ? 1 : 3, 9);
            struct dpl_net *net = nexthop(run, city, cells, rows);
            check_clipped_sum(run, net, 0.2, 2);
            dpl_net_free(net);
            net = vae(run, city, cells, rows);
            check_clipped_sum(run, net, 0.3, 1);
            dpl_net_free(net);
            free(city);
        }
    dpl_run_free(run);
}

static void a_long_trip_moves_the_sum_by_at_most_the_clip_norm(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const size_t trip_start[] = {0, 40};
    int32_t cell[40];
    for (size_t v = 0; v < 40; v++)
        cell[v] = v % 2 ? 3 : 1; // the same two 2-grams over and over: all rows point the same way
    struct city *city = calloc(1, sizeof *city);
    city->units = (struct dpl_units){1, NULL, trip_start, cell, NULL, (const uint8_t[]){7}, NULL};
    struct dpl_net *net = nexthop(run, city, 5, 39);
    struct dpl_secret secret = seeded(run, 1);
    struct dpl_sgd_options options = poisson(1, 1, 0.25, 1, 200);
    struct dpl_sgd *sgd;
    assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &sgd));
    float *parameters = parameters_new(net, 1, 1);
    int64_t *sum = calloc(net->n_parameters, sizeof *sum);
    assert_ok(run, dpl_sgd_sum(sgd, parameters, 0, (const uint32_t[]){0}, 1, sum));
    double norm = lattice_norm(sum, NULL, net->n_parameters, dpl_sgd_step_length(sgd));
    assert_true(norm <= 0.25 && norm > 0.24);
    free(sum);
    free(parameters);
    dpl_sgd_free(sgd);
    dpl_net_free(net);
    free(city);
    dpl_run_free(run);
}

/* From ordinary to absurd, with NaN or the largest float here and there. */
static void weights_of_hostile_sizes(uint64_t *random, const struct dpl_net *net,
                                     float *parameters) {
    net->initialise(net, test_random(random), parameters);
    float factor = powf(10, (float)(test_uniform(random) * (test_random(random) % 2 ? 30 : 3) - 1));
    for (size_t i = 0; i < net->n_parameters; i++) parameters[i] *= factor;
    size_t kind = test_random(random) % 4;
    for (size_t i = 0; kind == 0 && i < 3; i++)
        parameters[test_random(random) % net->n_parameters] = NAN;
    for (size_t i = 0; kind == 1 && i < 3; i++)
        parameters[test_random(random) % net->n_parameters] = 3e38f;
}

/* The city without one unit: the others move up. */
static struct city *city_without(const struct city *city, size_t gone) {
    struct city *made = calloc(1, sizeof *made);
    size_t trips = 0, visits = 0, units = 0;
    for (size_t u = 0; u < city->units.n_units; u++) {
        for (size_t t = city->unit_start[u]; u != gone && t < city->unit_start[u + 1]; t++) {
            for (size_t v = city->trip_start[t]; v < city->trip_start[t + 1]; v++)
                made->cell[visits++] = city->cell[v];
            made->period[trips] = city->period[t];
            made->trip_start[++trips] = visits;
        }
        if (u != gone) made->unit_start[++units] = trips;
    }
    made->units = (struct dpl_units){
        units, made->unit_start, made->trip_start, made->cell, NULL, made->period, NULL};
    return made;
}

typedef struct dpl_net *make_net(struct dpl_run *run, const struct city *city, size_t cells,
                                 size_t rows);

/* One data set and its net. */
struct side {
    struct dpl_net *net;
    struct dpl_sgd *sgd;
    struct dpl_sgd_lot lot[400];
    size_t n;
    int64_t *sum, *block; /* (n_parameters) over all lots; over those of one block */
};

static void side_open(struct dpl_run *run, struct side *side, struct dpl_net *net, double clip) {
    struct dpl_secret secret = seeded(run, 2);
    struct dpl_sgd_options options = poisson(1, 1000, clip, 1, 200);
    side->net = net;
    assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &side->sgd));
    side->sum = calloc(net->n_parameters, sizeof *side->sum);
    side->block = calloc(net->n_parameters, sizeof *side->block);
}

static void side_close(struct side *side) {
    free(side->sum);
    free(side->block);
    dpl_sgd_free(side->sgd);
    dpl_net_free(side->net);
}

/* Both sums; `of` is a lot of the block. */
static void side_sum(struct dpl_run *run, struct side *side, const float *parameters,
                     const struct dpl_sgd_lot *of) {
    struct dpl_sgd_lot inside[400];
    size_t n = 0;
    for (size_t i = 0; i < side->n; i++)
        if (dpl_sgd_block(side->sgd, &side->lot[i]) == dpl_sgd_block(side->sgd, of))
            inside[n++] = side->lot[i];
    assert_ok(run, dpl_sgd_sum_lots(side->sgd, parameters, side->lot, side->n, side->sum));
    assert_ok(run, dpl_sgd_sum_lots(side->sgd, parameters, inside, n, side->block));
}

/* The data without the unit of lot `gone`: all other units keep their randomness under their new
 * numbers. */
static struct dpl_sgd_lot take_out(const struct side *with, size_t gone, struct side *without) {
    const uint32_t unit = with->lot[gone].unit;
    without->n = 0;
    for (size_t i = 0; i < with->n; i++) {
        if (i == gone) continue;
        without->lot[without->n] = with->lot[i];
        without->lot[without->n++].unit -= with->lot[i].unit > unit;
    }
    return with->lot[gone];
}

static size_t rows_of(const struct side *side) {
    size_t rows = 0;
    for (size_t i = 0; i < side->n; i++) rows += side->net->count(side->net, side->lot[i].unit);
    return rows;
}

/* Takes one unit out of the data: the sum moves by what its block moves by, to the bit, and that is
 * at most the clip norm. How far, over the clip norm. */
static double check_removal(struct dpl_run *run, struct side *with, size_t gone,
                            struct side *without, const float *parameters, double clip) {
    const struct dpl_sgd_lot lot = take_out(with, gone, without);
    const size_t d = with->net->n_parameters;
    side_sum(run, with, parameters, &lot);
    side_sum(run, without, parameters, &lot);
    for (size_t i = 0; i < d; i++)
        assert_int_equal(with->sum[i] - without->sum[i], with->block[i] - without->block[i]);
    const double moved =
        lattice_norm(with->sum, without->sum, d, dpl_sgd_step_length(with->sgd)) / clip;
    assert_true(moved <= 1);
    return moved;
}

/* Lots of n different units with the randomness of that step; `crowd` of them share a block. */
static void draw_lots(struct dpl_run *run, struct side *side, int64_t step, size_t n,
                      size_t crowd) {
    side->n = n;
    for (size_t i = 0; i < n; i++) {
        const uint32_t unit = (uint32_t)(i * side->net->n_units / n);
        assert_ok(run, dpl_sgd_draw(side->sgd, step, unit, &side->lot[i]));
        if (i < crowd) side->lot[i].word >>= 40;
    }
}

/* With more than six rows a unit, a batch takes three waves or more. */
static void check_neighbours(struct dpl_run *run, make_net *make, size_t rows, size_t removals,
                             double clip, uint64_t seed) {
    uint64_t random = seed;
    struct city *city = city_new(7, 300, 25, rows == 1 ? 1 : rows == 6 ? 3 : 6, 12);
    struct side with, without;
    double largest = 0;
    side_open(run, &with, make(run, city, 25, rows), clip);
    float *parameters = calloc(with.net->n_parameters, sizeof *parameters);
    for (size_t i = 0; i < removals; i++) {
        const size_t n = rows > 6 ? 290 : 1 + test_random(&random) % 260,
                     gone = test_random(&random) % n;
        draw_lots(run, &with, (int64_t)i, n, 0);
        assert_true(rows <= 6 || rows_of(&with) > 2 * with.net->capacity);
        struct city *left = city_without(city, with.lot[gone].unit);
        side_open(run, &without, make(run, left, 25, rows), clip);
        for (int round = 0; round < 4; round++) {
            weights_of_hostile_sizes(&random, with.net, parameters);
            largest = fmax(largest, check_removal(run, &with, gone, &without, parameters, clip));
        }
        side_close(&without);
        free(left);
    }
    assert_true(largest > 0.9); // the bound was put to the test
    side_close(&with);
    free(parameters);
    free(city);
}

static void removing_a_unit_moves_the_sum_by_at_most_the_clip_norm(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    for (size_t rows = 1; rows <= 6; rows += 5) {
        check_neighbours(run, nexthop, rows, test_soak(10), 1.5, 21);
        check_neighbours(run, vae, rows, test_soak(10), 1, 22);
    }
    check_neighbours(run, nexthop, 24, test_soak(4), 1.5, 23); // in three waves or more
    dpl_run_free(run);
}

/* A block with far more units than was expected, around the number from which on each is summed by
 * itself: nothing is refused, and the bound holds on both sides and across. */
static void a_crowded_block_holds_the_bound_too(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct city *city = city_new(7, 300, 25, 3, 12);
    struct side with, without, alone;
    uint64_t random = 4;
    side_open(run, &with, nexthop(run, city, 25, 24), 1.5);
    side_open(run, &alone, nexthop(run, city, 25, 24), 1.5);
    float *parameters = calloc(with.net->n_parameters, sizeof *parameters);
    const size_t most = dpl_sgd_most_together(with.sgd);
    assert_true(most > 20 && most < 250);
    for (size_t crowd = most - 1; crowd <= most + 40; crowd += crowd < most + 2 ? 1 : 19)
        for (size_t round = 0; round < test_soak(1); round++) {
            weights_of_hostile_sizes(&random, with.net, parameters);
            draw_lots(run, &with, (int64_t)round, 290, crowd);
            const size_t gone = test_random(&random) % crowd;
            struct city *left = city_without(city, with.lot[gone].unit);
            side_open(run, &without, nexthop(run, left, 25, 24), 1.5);
            check_removal(run, &with, gone, &without, parameters, 1.5);
            // Far above, what goes is the unit's own sum.
            assert_ok(run, dpl_sgd_sum_lots(alone.sgd, parameters, &with.lot[gone], 1, alone.sum));
            for (size_t i = 0; crowd > most + 20 && i < with.net->n_parameters; i++)
                assert_int_equal(with.sum[i] - without.sum[i], alone.sum[i]);
            side_close(&without);
            free(left);
        }
    side_close(&with);
    side_close(&alone);
    free(parameters);
    free(city);
    dpl_run_free(run);
}

/* The limits of train_arrange.c for the shapes that occur, and that nothing is out of reach. */
static void the_most_units_of_a_block_follow_from_the_bound(void **state) {
    (void)state;
    const double half_slack = 1.0 / 257 / 2;
    for (size_t max_rows = 1; max_rows <= 1024; max_rows *= 4)
        for (double d = 1e3; d < 1e7; d *= 10) {
            struct dpl_cutting layout = {.capacity = 2048,
                                         .max_rows = max_rows,
                                         .weight = max_rows == 1 ? 1 : 8,
                                         .root_d = sqrt(d),
                                         .step = 0x1p-28};
            const size_t most = dpl_most_together(&layout), pieces = (max_rows + 63) / 64,
                         piece_rows = max_rows < 64 ? max_rows : 64;
            assert_true(dpl_unit_fits(&layout) && most > 0);
            assert_true(dpl_block_error(&layout, most + 1, piece_rows, (most + 1) * pieces) <
                        half_slack);
            for (size_t n = 1; n <= most; n++) {
                const size_t rows = dpl_chunk_rows(&layout, n), waves = 2 * n * max_rows / 2048 + 1,
                             chunks = n * max_rows / rows + (waves < n ? waves : n);
                assert_true(dpl_block_error(&layout, n, rows, chunks) < half_slack);
            }
        }
}

/* Blocks and choices are those of the streams, and not of where a unit stands. */
static void lots_are_independent(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const float value[2000] = {0};
    struct toy *toy = toy_new(value, 2000);
    struct dpl_secret secret = seeded(run, 3);
    struct dpl_sgd_options options = poisson(1, 4, 1, 1, 400);
    struct dpl_sgd *sgd;
    assert_ok(run, dpl_sgd_new(run, &toy->net, &options, &secret, &sgd));
    size_t same_block = 0, blocks = 0;
    double shared = 0;
    for (uint32_t unit = 0; unit < 2000; unit++) {
        struct dpl_sgd_lot lot[2];
        for (int64_t step = 0; step < 2; step++)
            assert_ok(run, dpl_sgd_draw(sgd, step, unit, &lot[step]));
        assert_true(lot[0].word != lot[1].word && lot[0].choice != lot[1].choice);
        same_block += dpl_sgd_block(sgd, &lot[0]) == dpl_sgd_block(sgd, &lot[1]);
        shared += __builtin_popcountll(lot[0].word ^ lot[0].choice) +
                  __builtin_popcountll(lot[0].choice ^ lot[1].choice);
        for (int s = 0; s < 2; s++)
            if (dpl_sgd_block(sgd, &lot[s]) >= blocks) blocks = dpl_sgd_block(sgd, &lot[s]) + 1;
    }
    assert_true(blocks == 4); // 400 units, at most 113 a block
    assert_near((double)same_block, 500, 5 * sqrt(2000 * 0.25 * 0.75));
    assert_near(shared, 2000 * 64, 5 * sqrt(2000 * 32));
    dpl_sgd_free(sgd);
    free(toy);
    dpl_run_free(run);
}

/* One and the same trip many times: every row of the workspace must hold the same bits, wherever it
 * stands and however many there are. Otherwise taking one away would touch the others. */
static void a_row_does_not_depend_on_its_place(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct city *city = calloc(1, sizeof *city);
    for (size_t i = 0; i < 201; i++) {
        city->trip_start[i + 1] = 2 * (i + 1);
        city->cell[2 * i] = 3;
        city->cell[2 * i + 1] = 11;
        city->period[i] = 13;
    }
    city->units =
        (struct dpl_units){201, NULL, city->trip_start, city->cell, NULL, city->period, NULL};
    struct dpl_net *net = nexthop(run, city, 30, 1);
    struct dpl_secret secret = seeded(run, 2);
    struct dpl_sgd_options options = poisson(1, 1, 1, 1, 200);
    struct dpl_sgd *sgd;
    assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &sgd));
    float *parameters = parameters_new(net, 1, 1), kept[8][64];
    int64_t *sum = calloc(net->n_parameters, sizeof *sum);
    uint32_t unit[201];
    for (uint32_t i = 0; i < 201; i++) unit[i] = i;
    for (size_t n = 1; n <= 201; n += 8) {
        assert_ok(run, dpl_sgd_sum(sgd, parameters, 0, unit, n, sum));
        for (size_t t = 0; t < net->n_taps; t++) {
            const struct dpl_tap *tap = &net->tap[t];
            if (n == 1) memcpy(kept[t], tap->delta, tap->delta_columns * sizeof(float));
            for (size_t i = 0; i < n; i++)
                assert_memory_equal(tap->delta + i * dpl_stride(tap->delta_columns), kept[t],
                                    tap->delta_columns * sizeof(float));
        }
    }
    free(sum);
    free(parameters);
    dpl_sgd_free(sgd);
    dpl_net_free(net);
    free(city);
    dpl_run_free(run);
}

/* Two rows that cancel to nothing, but would drown the block in rounding errors, are held by the
 * sum of their norms: 8 clip norms. */
static void rows_that_cancel_are_held_too(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const float value[] = {1e9f};
    struct toy *toy = toy_new(value, 1);
    toy->net.max_rows = 2;
    struct dpl_secret secret = seeded(run, 1);
    struct dpl_sgd_options options = poisson(1, 1, 3, 1, 10);
    struct dpl_sgd *sgd;
    assert_ok(run, dpl_sgd_new(run, &toy->net, &options, &secret, &sgd));
    int64_t sum;
    float parameter = 0;
    assert_ok(run, dpl_sgd_sum(sgd, &parameter, 0, (const uint32_t[]){0}, 1, &sum));
    assert_int_equal(sum, 0);
    assert_near(toy->delta[0], 4 * 3 / (1 + 0x1p-8), 1e-5);
    assert_near(toy->delta[16], -4 * 3 / (1 + 0x1p-8), 1e-5);
    dpl_sgd_free(sgd);
    free(toy);
    dpl_run_free(run);
}

static void rows_that_are_not_finite_are_zero(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const float value[] = {0.5f, NAN, INFINITY, -INFINITY, 1e30f, 0.25f};
    struct toy *toy = toy_new(value, 6);
    struct dpl_secret secret = seeded(run, 1);
    struct dpl_sgd_options options = poisson(1, 1, 1, 1, 10);
    struct dpl_sgd *sgd;
    assert_ok(run, dpl_sgd_new(run, &toy->net, &options, &secret, &sgd));
    int64_t sum;
    float parameter = 0;
    assert_ok(run, dpl_sgd_sum(sgd, &parameter, 0, (const uint32_t[]){0, 1, 2, 3, 4, 5}, 6, &sum));
    assert_near((double)sum * dpl_sgd_step_length(sgd), 0.75 / (1 + 0x1p-8), 1e-7);
    assert_ok(run, dpl_sgd_sum(sgd, &parameter, 0, NULL, 0, &sum)); // nobody
    assert_int_equal(sum, 0);
    dpl_sgd_free(sgd);
    free(toy);

    struct city *city = city_new(3, 50, 10, 1, 5);
    struct dpl_net *net = nexthop(run, city, 10, 1);
    options = poisson(1, 1, 1, 1, 50);
    assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &sgd));
    float *parameters = calloc(net->n_parameters, sizeof *parameters);
    for (size_t i = 0; i < net->n_parameters; i++) parameters[i] = NAN;
    int64_t *sums = calloc(net->n_parameters, sizeof *sums);
    assert_ok(run, dpl_sgd_sum(sgd, parameters, 0, (const uint32_t[]){0, 1, 2, 3}, 4, sums));
    for (size_t i = 0; i < net->n_parameters; i++) assert_int_equal(sums[i], 0);
    free(sums);
    free(parameters);
    dpl_sgd_free(sgd);
    dpl_net_free(net);
    free(city);
    dpl_run_free(run);
}

/* ---- bits ---- */

static void sums_have_the_same_bits_in_any_order_and_team(void **state) {
    (void)state;
    struct city *city = city_new(5, 600, 40, 3, 9);
    int64_t *kept = NULL;
    uint32_t unit[600];
    for (uint32_t i = 0; i < 600; i++) unit[i] = i;
    uint64_t random = 1;
    for (int threads = 1; threads <= 4; threads++) {
        struct dpl_run *run = test_run(threads);
        struct dpl_net *net = nexthop(run, city, 40, 3); // 1800 rows: several waves
        struct dpl_secret secret = seeded(run, 2);
        struct dpl_sgd_options options = poisson(1, 1, 1, 1, 600);
        struct dpl_sgd *sgd;
        assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &sgd));
        float *parameters = parameters_new(net, 5, 1);
        int64_t *sum = calloc(net->n_parameters, sizeof *sum);
        assert_ok(run, dpl_sgd_sum(sgd, parameters, 3, unit, 600, sum));
        if (kept == NULL) {
            kept = sum;
        } else {
            assert_memory_equal(sum, kept, net->n_parameters * sizeof *sum);
            free(sum);
        }
        for (size_t i = 599; i > 0; i--) {
            size_t j = test_random(&random) % (i + 1);
            uint32_t swap = unit[i];
            unit[i] = unit[j];
            unit[j] = swap;
        }
        free(parameters);
        dpl_sgd_free(sgd);
        dpl_net_free(net);
        dpl_run_free(run);
    }
    free(kept);
    free(city);
}

struct stop {
    int64_t at;
    struct dpl_sgd_state *copy;
};

/* Saves the state as a checkpoint would, and stops. */
static enum dpl_status stop_at(void *user, const struct dpl_sgd_state *state,
                               const struct dpl_sgd_report *report) {
    struct stop *stop = user;
    assert_int_equal(report->step, state->step);
    if (state->step != stop->at) return DPL_OK;
    stop->copy->step = state->step;
    memcpy(stop->copy->parameters, state->parameters, state->n_parameters * sizeof(float));
    return DPL_INTERRUPTED;
}

static void train_some(int threads, const struct city *city, const struct dpl_sgd_options *options,
                       int64_t stop_step, float *result) {
    struct dpl_run *run = test_run(threads);
    struct dpl_net *net = nexthop(run, city, 40, 2);
    struct dpl_secret secret = seeded(run, 4);
    struct dpl_sgd_state *training, *copy;
    assert_ok(run, dpl_sgd_state_new(run, net->n_parameters, &training));
    assert_ok(run, dpl_sgd_state_new(run, net->n_parameters, &copy));
    net->initialise(net, 3, training->parameters);
    struct stop stop = {.at = stop_step, .copy = copy};
    enum dpl_status status = dpl_sgd_train(run, net, options, &secret, training, stop_at, &stop);
    assert_int_equal(status, stop_step > 0 ? DPL_INTERRUPTED : DPL_OK);
    struct dpl_sgd_state *go_on = stop_step > 0 ? copy : training;
    if (stop_step > 0) assert_ok(run, dpl_sgd_train(run, net, options, &secret, go_on, NULL, NULL));
    assert_int_equal(go_on->step, options->event.steps);
    memcpy(result, go_on->parameters, net->n_parameters * sizeof *result);
    dpl_sgd_state_free(training);
    dpl_sgd_state_free(copy);
    dpl_net_free(net);
    dpl_run_free(run);
}

static void training_has_the_same_bits_in_any_team_and_when_resumed(void **state) {
    (void)state;
    struct city *city = city_new(5, 500, 40, 2, 9);
    struct dpl_nexthop_shape shape = {.n_cells = 40, .n_periods = 24, .embedding = 6, .hidden = 17};
    size_t n = dpl_nexthop_parameters(&shape);
    float *first = calloc(n, sizeof *first), *other = calloc(n, sizeof *other);
    for (int open = 0; open <= 1; open++) {
        struct dpl_sgd_options options = poisson(0.2, 60, 1, 0.8, 100);
        options.learning_rate = 0.05;
        options.report_every = 7;
        options.not_private = open == 1;
        train_some(1, city, &options, 0, first);
        for (size_t i = 0; i < n; i++) assert_true(isfinite(first[i]));
        train_some(2, city, &options, 0, other);
        assert_memory_equal(first, other, n * sizeof *first);
        train_some(2, city, &options, 42, other);
        assert_memory_equal(first, other, n * sizeof *first);
    }
    free(first);
    free(other);
    free(city);
}

/* ---- updates ---- */

/* One parameter, gradient 0.5 from each of 4 units, all in every batch, an expected batch of 8. */
static void a_step_is_the_rate_times_the_sum_over_the_expected_batch(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const float value[] = {0.5f, 0.5f, 0.5f, 0.5f};
    struct toy *toy = toy_new(value, 4);
    struct dpl_secret secret = seeded(run, 4);
    struct dpl_sgd_options options = poisson(1, 10, 1, 0, 8);
    struct dpl_sgd_state *training;
    options.not_private = true;
    options.learning_rate = 0.3;
    assert_ok(run, dpl_sgd_state_new(run, 1, &training));
    assert_ok(run, dpl_sgd_train(run, &toy->net, &options, &secret, training, NULL, NULL));
    assert_near((double)training->parameters[0], -10 * 0.3 * 4 * 0.5 / 8, 1e-5);
    dpl_sgd_state_free(training);
    free(toy);
    dpl_run_free(run);
}

/* Nobody there: every step is noise of sigma * C / batch, and steps do not share it. */
static void an_empty_batch_is_a_step_of_pure_noise(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct city *city = city_new(5, 10, 40, 1, 5);
    city->units.n_units = 0;
    struct dpl_net *net = nexthop(run, city, 40, 1);
    struct dpl_secret secret = seeded(run, 4);
    struct dpl_sgd_options options = poisson(0.5, 25, 3, 0.5, 10);
    struct dpl_sgd_state *training;
    assert_ok(run, dpl_sgd_state_new(run, net->n_parameters, &training));
    assert_ok(run, dpl_sgd_train(run, net, &options, &secret, training, NULL, NULL));
    double square = 0, n = (double)net->n_parameters, expected = 25 * 0.15 * 0.15;
    for (size_t i = 0; i < net->n_parameters; i++)
        square += (double)training->parameters[i] * (double)training->parameters[i];
    assert_near(square / n, expected, 5.5 * expected * sqrt(2 / n));
    dpl_sgd_state_free(training);
    dpl_net_free(net);
    free(city);
    dpl_run_free(run);
}

static void options_that_make_no_sense_are_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const float value[] = {1};
    struct toy *toy = toy_new(value, 1);
    struct dpl_secret secret = seeded(run, 4);
    const struct dpl_sgd_options good = poisson(0.5, 10, 1, 1, 1);
    struct dpl_sgd_options bad[8];
    for (size_t i = 0; i < 8; i++) bad[i] = good;
    bad[0].event.rate = 0;
    bad[1].event.rate = 1.5;
    bad[2].event.kind = DPL_EVENT_GAUSSIAN;
    bad[3].event.sensitivity = 0;
    bad[4].event.sigma = 0;
    bad[5].batch = 0;
    bad[6].report_every = 0;
    bad[7].learning_rate = NAN;
    struct dpl_sgd *sgd = NULL;
    for (size_t i = 0; i < 8; i++) {
        dpl_run_begin(run);
        assert_int_equal(dpl_sgd_new(run, &toy->net, &bad[i], &secret, &sgd), DPL_USAGE);
        assert_true(strlen(dpl_run_message(run)) > 10);
    }
    free(toy);
    dpl_run_free(run);
}

/* ---- the one-step audit ---- */

static double phi(double x) { return erfc(-x / sqrt(2)) / 2; }

/* The epsilon of one Gaussian release at this delta, closed form. */
static double gaussian_epsilon(double sigma, double delta) {
    double low = 0, high = 50;
    for (int i = 0; i < 200; i++) {
        double e = (low + high) / 2;
        if (phi(1 / (2 * sigma) - e * sigma) - exp(e) * phi(-1 / (2 * sigma) - e * sigma) > delta)
            low = e;
        else
            high = e;
    }
    return high;
}

struct audit {
    double *seen; /* (steps) the noisy sums */
    double before;
};

static enum dpl_status see(void *user, const struct dpl_sgd_state *state,
                           const struct dpl_sgd_report *report) {
    struct audit *audit = user;
    audit->seen[report->step - 1] = audit->before - (double)state->parameters[0];
    ((struct dpl_sgd_state *)(uintptr_t)state)->parameters[0] = 0; // every step starts alike
    audit->before = 0;
    return DPL_OK;
}

/* The noisy sums of many steps over n_units units whose gradient is far above the clip norm. */
static void audit_run(struct dpl_run *run, double sigma, size_t n_units, size_t steps,
                      uint64_t seed, double *seen) {
    static const float value[] = {100, 100};
    struct toy *toy = toy_new(value, n_units);
    struct dpl_secret secret = seeded(run, seed);
    struct dpl_sgd_options options = poisson(1, (int64_t)steps, 1, sigma, 1);
    options.report_every = 1;
    struct dpl_sgd_state *training;
    assert_ok(run, dpl_sgd_state_new(run, 1, &training));
    assert_ok(run, dpl_sgd_train(run, &toy->net, &options, &secret, training, see,
                                 &(struct audit){.seen = seen}));
    dpl_sgd_state_free(training);
    free(toy);
}

static size_t above(const double *x, size_t n, double threshold) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += x[i] > threshold;
    return count;
}

/* log((p - delta) / f), p and f pushed to the bad side by `z` standard deviations. */
static double audit_bound(double p, double f, double n, double delta, double z) {
    double low = p - z * sqrt(p * (1 - p) / n) - z * z / n,
           high = f + z * sqrt(f * (1 - f) / n) + z * z / n;
    return low > delta ? log((low - delta) / high) : 0;
}

static void one_step_leaks_what_is_claimed_and_no_more(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    size_t n = test_soak(60000);
    double *in = calloc(n, sizeof *in), *out = calloc(n, sizeof *out);
    const double sigma[] = {0.7, 1, 2}, delta = 1e-2;
    for (size_t s = 0; s < 3; s++) {
        double claim = gaussian_epsilon(sigma[s], delta), best = 0, threshold = 0;
        for (double t = -2; t < 6;
             t += 0.01) { // where the bound is best in theory, so the data does not choose it
            double bound =
                audit_bound(phi((1 - t) / sigma[s]), phi(-t / sigma[s]), (double)n, delta, 3);
            if (bound > best) best = bound, threshold = t;
        }
        audit_run(run, sigma[s], 2, n, 10 + s, in); // one unit more than
        audit_run(run, sigma[s], 1, n, 20 + s, out);
        double shift = 1 / (1 + 0x1p-8); // the unit that both have
        double p = (double)above(in, n, threshold + shift) / (double)n,
               f = (double)above(out, n, threshold + shift) / (double)n;
        double bound = audit_bound(p, f, (double)n, delta, 3);
        assert_true(bound <= claim);
        assert_true(bound >= 0.8 * claim);
    }
    free(in);
    free(out);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clipped_sums_are_those_of_explicit_gradients),
        cmocka_unit_test(a_long_trip_moves_the_sum_by_at_most_the_clip_norm),
        cmocka_unit_test(removing_a_unit_moves_the_sum_by_at_most_the_clip_norm),
        cmocka_unit_test(a_crowded_block_holds_the_bound_too),
        cmocka_unit_test(the_most_units_of_a_block_follow_from_the_bound),
        cmocka_unit_test(lots_are_independent),
        cmocka_unit_test(a_row_does_not_depend_on_its_place),
        cmocka_unit_test(rows_that_cancel_are_held_too),
        cmocka_unit_test(rows_that_are_not_finite_are_zero),
        cmocka_unit_test(sums_have_the_same_bits_in_any_order_and_team),
        cmocka_unit_test(training_has_the_same_bits_in_any_team_and_when_resumed),
        cmocka_unit_test(a_step_is_the_rate_times_the_sum_over_the_expected_batch),
        cmocka_unit_test(an_empty_batch_is_a_step_of_pure_noise),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(one_step_leaks_what_is_claimed_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
