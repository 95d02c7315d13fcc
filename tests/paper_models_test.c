/* The paper's nets: whole losses against finite differences of an independent double version,
 * folding, sampling, and whether they learn. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/paper/fit_nexthop.h"
#include "method/paper/fit_vae.h"

/* ---- a second version of both losses, in double, one row at a time ---- */

static double log_sum_exp(const double *z, size_t n) {
    double max = z[0], sum = 0;
    for (size_t i = 1; i < n; i++) max = fmax(max, z[i]);
    for (size_t i = 0; i < n; i++) sum += exp(z[i] - max);
    return max + log(sum);
}

/* z = w^T [x 1], w (n_in + 1, n_out) */
static void affine(const double *w, const double *x, size_t n_in, size_t n_out, bool relu,
                   double *z) {
    for (size_t j = 0; j < n_out; j++) {
        z[j] = w[n_in * n_out + j];
        for (size_t i = 0; i < n_in; i++) z[j] += w[i * n_out + j] * x[i];
        if (relu && z[j] < 0) z[j] = 0;
    }
}

static double nexthop_loss(const struct dpl_nexthop_shape *s, const double *p,
                           struct dpl_twogram g) {
    double x[64], h[64], z[64];
    size_t E = s->embedding;
    for (size_t i = 0; i < E; i++) {
        x[i] = p[(size_t)g.current * E + i];
        x[E + i] = p[(size_t)g.destination * E + i];
    }
    x[2 * E] = (double)g.period / (double)(s->n_periods - 1);
    const double *w1 = p + s->n_cells * E, *w2 = w1 + (2 * E + 2) * s->hidden;
    affine(w1, x, 2 * E + 1, s->hidden, true, h);
    affine(w2, h, s->hidden, s->n_cells, false, z);
    return log_sum_exp(z, s->n_cells) - z[g.next];
}

struct vae_row {
    size_t target[3];
    double noise[8];
};

/* Means and log variances of a row. */
static const double *vae_encode(const struct dpl_vae_shape *s, const double *p,
                                const struct vae_row *row, double *m) {
    size_t O = 2 * s->n_cells + s->n_periods;
    double x[64] = {0}, a[64];
    x[row->target[0]] = x[s->n_cells + row->target[1]] = x[2 * s->n_cells + row->target[2]] = 1;
    affine(p, x, O, s->hidden, true, a);
    p += (O + 1) * s->hidden;
    affine(p, a, s->hidden, 2 * s->latent, false, m);
    return p + (s->hidden + 1) * 2 * s->latent;
}

static double vae_loss(const struct dpl_vae_shape *s, const double *p, const struct vae_row *row) {
    size_t O = 2 * s->n_cells + s->n_periods, L = s->latent;
    double m[64], z[64], b[64], o[64], loss = 0;
    p = vae_encode(s, p, row, m);
    for (size_t j = 0; j < L; j++) {
        z[j] = m[j] + exp(m[L + j] / 2) * row->noise[j];
        loss += (double)s->kl_weight * (m[j] * m[j] + exp(m[L + j]) - 1 - m[L + j]) / 2 / (double)L;
    }
    affine(p, z, L, s->hidden, true, b);
    affine(p + (L + 1) * s->hidden, b, s->hidden, O, false, o);
    for (size_t h = 0; h < 3; h++) {
        double *head = o + h * s->n_cells;
        loss += (log_sum_exp(head, h < 2 ? s->n_cells : s->n_periods) - head[row->target[h]]) / 3;
    }
    return loss;
}

/* ---- gradients ---- */

static struct dpl_sgd *open_sgd(struct dpl_run *run, struct dpl_net *net) {
    struct dpl_sgd_options options = dpl_sgd_defaults();
    options.event = (struct dpl_event){
        .name = "test", .kind = DPL_EVENT_POISSON, .rate = 1, .steps = 1, .sensitivity = 1};
    options.batch = 1;
    options.not_private = true;
    struct dpl_secret secret;
    struct dpl_sgd *sgd;
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_sgd_new(run, net, &options, &secret, &sgd));
    return sgd;
}

static double *doubles(const float *x, size_t n) {
    double *y = calloc(n, sizeof *y);
    for (size_t i = 0; i < n; i++) y[i] = (double)x[i];
    return y;
}

/* One unit of two trips, five 2-grams: current = destination, a repeated destination, all rows
 * taken. */
static const size_t UNIT_START[] = {0, 2}, TRIP_START[] = {0, 4, 7};
static const int32_t CELL[] = {0, 3, 3, 1, 2, 1, 1};
static const uint8_t PERIOD[] = {2, 4};
static const struct dpl_units UNIT = {1, UNIT_START, TRIP_START, CELL, NULL, PERIOD, NULL};

static void nexthop_gradient_is_the_derivative_of_its_loss(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_nexthop_shape shape = {.n_cells = 4, .n_periods = 6, .embedding = 3, .hidden = 7};
    struct dpl_net *net;
    assert_ok(run, dpl_nexthop_new(run, &shape, &UNIT, 5, 1, &net));
    size_t d = net->n_parameters;
    float *parameters = calloc(d, sizeof *parameters);
    net->initialise(net, 8, parameters);
    for (size_t i = 0; i < shape.n_cells * shape.embedding; i++) parameters[i] *= 10;
    struct dpl_sgd *sgd = open_sgd(run, net);
    int64_t *sum = calloc(d, sizeof *sum);
    assert_ok(run, dpl_sgd_sum(sgd, parameters, 0, (const uint32_t[]){0}, 1, sum));
    double *p = doubles(parameters, d);
    assert_int_equal(dpl_unit_twograms(&UNIT, 0), 5);
    for (size_t i = 0; i < d; i++) {
        double difference = 0, kept = p[i];
        for (size_t g = 0; g < 5; g++) {
            p[i] = kept + 1e-5;
            difference += nexthop_loss(&shape, p, dpl_unit_twogram(&UNIT, 0, g)) / 5;
            p[i] = kept - 1e-5;
            difference -= nexthop_loss(&shape, p, dpl_unit_twogram(&UNIT, 0, g)) / 5;
        }
        p[i] = kept;
        assert_near((double)sum[i] * dpl_sgd_step_length(sgd), difference / 2e-5, 2e-6);
    }
    free(p);
    free(sum);
    free(parameters);
    dpl_sgd_free(sgd);
    dpl_net_free(net);
    dpl_run_free(run);
}

static void vae_gradient_is_the_derivative_of_its_loss(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_vae_shape shape = {
        .n_cells = 4, .n_periods = 6, .hidden = 7, .latent = 3, .kl_weight = 2};
    struct dpl_net *net;
    assert_ok(run, dpl_vae_new(run, &shape, &UNIT, 2, 1, &net));
    size_t d = net->n_parameters, L = shape.latent;
    float *parameters = calloc(d, sizeof *parameters);
    net->initialise(net, 11, parameters);
    struct dpl_sgd *sgd = open_sgd(run, net);
    int64_t *sum = calloc(d, sizeof *sum);
    assert_ok(run, dpl_sgd_sum(sgd, parameters, 0, (const uint32_t[]){0}, 1, sum));
    double *p = doubles(parameters, d), m[64];
    struct vae_row row[2] = {{.target = {0, 1, 2}}, {.target = {2, 1, 4}}};
    for (size_t r = 0; r < 2;
         r++) { // the noise, from the z that the decoder saw (its tap is the third)
        vae_encode(&shape, p, &row[r], m);
        const float *z = net->tap[2].a + r * dpl_stride(L + 1);
        for (size_t j = 0; j < L; j++) row[r].noise[j] = ((double)z[j] - m[j]) / exp(m[L + j] / 2);
        assert_true(fabs(row[r].noise[0]) > 1e-3); // there is some
    }
    for (size_t i = 0; i < d; i++) {
        double difference = 0, kept = p[i];
        for (size_t r = 0; r < 2; r++) {
            p[i] = kept + 1e-5;
            difference += vae_loss(&shape, p, &row[r]) / 2;
            p[i] = kept - 1e-5;
            difference -= vae_loss(&shape, p, &row[r]) / 2;
        }
        p[i] = kept;
        assert_near((double)sum[i] * dpl_sgd_step_length(sgd), difference / 2e-5, 2e-6);
    }
    free(p);
    free(sum);
    free(parameters);
    dpl_sgd_free(sgd);
    dpl_net_free(net);
    dpl_run_free(run);
}

static void folded_tables_give_the_same_probabilities(void **state) {
    (void)state;
    struct dpl_nexthop_shape shape = {.n_cells = 4, .n_periods = 6, .embedding = 3, .hidden = 7};
    size_t d = dpl_nexthop_parameters(&shape);
    float *parameters = calloc(d, sizeof *parameters), log_p[2][200 * 4];
    dpl_initial_uniform(4, d, 0.7f, parameters);
    double *p = doubles(parameters, d);
    int32_t current[200], destination[200];
    uint8_t period[200];
    uint64_t random = 3;
    for (size_t i = 0; i < 200; i++) {
        current[i] = (int32_t)(test_random(&random) % 4);
        destination[i] = (int32_t)(test_random(&random) % 4);
        period[i] = (uint8_t)(test_random(&random) % 6);
    }
    for (int threads = 1; threads <= 2; threads++) {
        struct dpl_run *run = test_run(threads);
        struct dpl_nexthop_folded folded;
        assert_ok(run, dpl_nexthop_fold(run, &shape, parameters, &folded));
        assert_ok(run, dpl_nexthop_evaluate(run, &folded, 200, current, destination, period,
                                            log_p[threads - 1]));
        dpl_nexthop_folded_free(&folded);
        dpl_run_free(run);
    }
    assert_memory_equal(log_p[0], log_p[1], sizeof log_p[0]);
    for (size_t i = 0; i < 200; i++)
        for (int32_t next = 0; next < 4; next++)
            assert_near(
                -nexthop_loss(&shape, p,
                              (struct dpl_twogram){current[i], next, destination[i], period[i]}),
                log_p[0][i * 4 + (size_t)next], 1e-5);
    free(p);
    free(parameters);
}

static void without_a_destination_all_are_alike(void **state) {
    (void)state;
    struct dpl_nexthop_shape shape = {
        .n_cells = 4, .n_periods = 6, .embedding = 3, .hidden = 7, .no_destination = true};
    struct dpl_run *run = test_run(1);
    struct dpl_nexthop_folded folded;
    size_t d = dpl_nexthop_parameters(&shape);
    float *parameters = calloc(d, sizeof *parameters), log_p[16 * 4];
    dpl_initial_uniform(4, d, 0.7f, parameters);
    double *p = doubles(parameters, d);
    int32_t current[16], destination[16];
    uint8_t period[16] = {0};
    for (int32_t i = 0; i < 16; i++) current[i] = i / 4, destination[i] = i % 4;
    assert_ok(run, dpl_nexthop_fold(run, &shape, parameters, &folded));
    assert_ok(run, dpl_nexthop_evaluate(run, &folded, 16, current, destination, period, log_p));
    for (size_t i = 0; i < 16; i++) {
        assert_memory_equal(log_p + i * 4, log_p + i / 4 * 16, 4 * sizeof *log_p);
        for (int32_t next = 0; next < 4; next++)
            assert_near(
                -nexthop_loss(&shape, p, (struct dpl_twogram){current[i], next, current[i], 0}),
                log_p[i * 4 + (size_t)next], 1e-5);
    }
    dpl_nexthop_folded_free(&folded);
    free(p);
    free(parameters);
    dpl_run_free(run);
}

static void choices_are_uniform_and_cover(void **state) {
    (void)state;
    size_t seen[7] = {0}, n = 70000;
    uint64_t random = 1;
    for (size_t i = 0; i < n; i++) seen[dpl_unit_choice(test_random(&random), 0, 1, 7)]++;
    for (size_t i = 0; i < 7; i++) assert_near(seen[i], n / 7, 5.5 * sqrt((double)n / 7));
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(dpl_unit_choice(test_random(&random), i, 7, 7), i);
    for (size_t i = 0; i < 3; i++)
        assert_true(dpl_unit_choice(test_random(&random), i, 3, 7) / 3 <= i);
}

/* ---- learning, on a city of SIDE x SIDE blocks where people walk towards where they go ---- */

static const double LEARNING_RATE = 0.5;
enum { SIDE = 6, CITY_CELLS = SIDE * SIDE, CITY_TRIPS = 6000, CITY_VISITS = 40 };

struct city {
    struct dpl_units units;
    size_t trip_start[CITY_TRIPS + 1];
    int32_t cell[CITY_TRIPS * CITY_VISITS];
    uint8_t period[CITY_TRIPS];
};

/* One step nearer to the destination along a random axis, a stay one time in ten. */
static int32_t walk(uint64_t *random, int32_t at, int32_t to) {
    int32_t dx = to % SIDE - at % SIDE, dy = to / SIDE - at / SIDE;
    if (test_uniform(random) < 0.1) return at;
    bool along_x = dy == 0 || (dx != 0 && test_random(random) % 2);
    if (along_x) return at + (dx > 0) - (dx < 0);
    return at + SIDE * ((dy > 0) - (dy < 0));
}

/* Morning trips start in the west and end anywhere; evening trips the other way round. */
static struct city *city_new(uint64_t seed) {
    struct city *city = calloc(1, sizeof *city);
    uint64_t random = seed;
    size_t visits = 0;
    for (size_t t = 0; t < CITY_TRIPS; t++) {
        bool morning = test_random(&random) % 3 > 0;
        int32_t west = (int32_t)(test_random(&random) % SIDE * SIDE + test_random(&random) % 2),
                any = (int32_t)(test_random(&random) % CITY_CELLS);
        int32_t at = morning ? west : any, to = morning ? any : west;
        city->period[t] = morning ? 8 : 18;
        city->cell[visits++] = at;
        for (size_t v = 1; v < CITY_VISITS && (at != to || v == 1); v++)
            city->cell[visits++] = at = walk(&random, at, to);
        city->trip_start[t + 1] = visits;
    }
    city->units = (struct dpl_units){CITY_TRIPS,   NULL, city->trip_start, city->cell, NULL,
                                     city->period, NULL};
    return city;
}

struct losses {
    double first, last;
};

static enum dpl_status keep_losses(void *user, const struct dpl_sgd_state *state,
                                   const struct dpl_sgd_report *report) {
    struct losses *losses = user;
    (void)state;
    if (losses->first == 0) losses->first = report->loss;
    losses->last = report->loss;
    return DPL_OK;
}

static struct dpl_sgd_state *learn(struct dpl_run *run, struct dpl_net *net,
                                   struct dpl_sgd_options *options, struct losses *losses) {
    struct dpl_secret secret;
    struct dpl_sgd_state *training;
    assert_ok(run, dpl_secret_from_seed(run, 6, &secret));
    assert_ok(run, dpl_sgd_state_new(run, net->n_parameters, &training));
    net->initialise(net, 7, training->parameters);
    options->want_loss = true;
    assert_ok(run, dpl_sgd_train(run, net, options, &secret, training, keep_losses, losses));
    return training;
}

/* Cross-entropy of the first-order table of `seen` (with one added everywhere) on the 2-grams of
 * `held`. */
static double table_loss(const struct city *seen, const struct city *held) {
    double count[CITY_CELLS][CITY_CELLS], total[CITY_CELLS], loss = 0, n = 0;
    for (size_t i = 0; i < CITY_CELLS; i++) {
        total[i] = CITY_CELLS * 0.01;
        for (size_t j = 0; j < CITY_CELLS; j++) count[i][j] = 0.01;
    }
    for (size_t u = 0; u < CITY_TRIPS; u++)
        for (size_t g = 0; g < dpl_unit_twograms(&seen->units, u); g++) {
            struct dpl_twogram two = dpl_unit_twogram(&seen->units, u, g);
            count[two.current][two.next] += 1;
            total[two.current] += 1;
        }
    for (size_t u = 0; u < CITY_TRIPS; u++)
        for (size_t g = 0; g < dpl_unit_twograms(&held->units, u); g++, n++) {
            struct dpl_twogram two = dpl_unit_twogram(&held->units, u, g);
            loss -= log(count[two.current][two.next] / total[two.current]);
        }
    return loss / n;
}

static double net_loss(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                       const float *parameters, const struct city *held) {
    size_t n = 0, most = held->trip_start[CITY_TRIPS];
    int32_t *current = calloc(most, sizeof *current),
            *destination = calloc(most, sizeof *destination), *next = calloc(most, sizeof *next);
    uint8_t *period = calloc(most, sizeof *period);
    for (size_t u = 0; u < CITY_TRIPS; u++)
        for (size_t g = 0; g < dpl_unit_twograms(&held->units, u); g++, n++) {
            struct dpl_twogram two = dpl_unit_twogram(&held->units, u, g);
            current[n] = two.current, destination[n] = two.destination, next[n] = two.next,
            period[n] = two.period;
        }
    float *log_p = calloc(n * shape->n_cells, sizeof *log_p);
    struct dpl_nexthop_folded folded;
    assert_ok(run, dpl_nexthop_fold(run, shape, parameters, &folded));
    assert_ok(run, dpl_nexthop_evaluate(run, &folded, n, current, destination, period, log_p));
    double loss = 0;
    for (size_t i = 0; i < n; i++)
        loss -= (double)log_p[i * shape->n_cells + (size_t)next[i]] / (double)n;
    dpl_nexthop_folded_free(&folded);
    free(log_p);
    free(current);
    free(destination);
    free(next);
    free(period);
    return loss;
}

/* The loss of a net that is trained in the same way and not told the destination: its examples must
 * not give it away. */
static double without_destination(struct dpl_run *run, struct city *seen, struct city *held) {
    struct dpl_nexthop_shape shape = dpl_nexthop_paper(CITY_CELLS, 24);
    struct dpl_sgd_options options = dpl_nexthop_training(CITY_TRIPS);
    struct losses losses = {0};
    struct dpl_net *net;
    shape.no_destination = true;
    options.event.steps = 1500;
    options.not_private = true;
    options.learning_rate = LEARNING_RATE;
    assert_ok(run, dpl_nexthop_new(run, &shape, &seen->units, 1, options.batch, &net));
    struct dpl_sgd_state *training = learn(run, net, &options, &losses);
    double loss = net_loss(run, &shape, training->parameters, held);
    dpl_sgd_state_free(training);
    dpl_net_free(net);
    return loss;
}

static void nexthop_learns_what_the_destination_tells(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct city *seen = city_new(1), *held = city_new(2);
    struct dpl_nexthop_shape shape = dpl_nexthop_paper(CITY_CELLS, 24);
    double table = table_loss(seen, held), loss[2];
    for (size_t private = 0; private < 2; private ++) {
        struct dpl_sgd_options options = dpl_nexthop_training(CITY_TRIPS);
        assert_near(options.event.rate, 200.0 / CITY_TRIPS, 1e-12);
        assert_int_equal(options.event.steps, 450);
        options.event.steps = 1500;
        options.not_private = private == 0;
        options.event.sigma = 0.6;
        options.learning_rate = LEARNING_RATE;
        struct dpl_net *net;
        struct losses losses = {0};
        assert_ok(run, dpl_nexthop_new(run, &shape, &seen->units, 1, options.batch, &net));
        struct dpl_sgd_state *training = learn(run, net, &options, &losses);
        assert_true(losses.last < 0.8 * losses.first);
        loss[private] = net_loss(run, &shape, training->parameters, held);
        dpl_sgd_state_free(training);
        dpl_net_free(net);
    }
    assert_true(loss[0] < 0.8 * table); // the table does not know where people go
    assert_true(without_destination(run, seen, held) > 1.1 * loss[0]);
    assert_true(loss[1] > loss[0] &&
                loss[1] < log(CITY_CELLS) / 2); // noise costs something, not everything
    free(seen);
    free(held);
    dpl_run_free(run);
}

static void vae_learns_starts_ends_and_hours(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct city *seen = city_new(1);
    struct dpl_vae_shape shape = dpl_vae_paper(CITY_CELLS, 24);
    struct dpl_sgd_options options = dpl_vae_training(CITY_TRIPS);
    options.event.steps = 1500;
    options.not_private = true;
    options.learning_rate = 0.5;
    struct dpl_net *net;
    struct losses losses = {0};
    assert_ok(run, dpl_vae_new(run, &shape, &seen->units, 1, options.batch, &net));
    struct dpl_sgd_state *training = learn(run, net, &options, &losses);
    assert_true(losses.last < 0.8 * losses.first);

    enum { N = 6000 };
    int32_t *source = calloc(N, sizeof *source), *destination = calloc(N, sizeof *destination);
    uint8_t *period = calloc(N, sizeof *period);
    assert_ok(run, dpl_vae_sample(run, &shape, training->parameters, 99, 0, N, source, destination,
                                  period));
    size_t evening = 0, morning = 0, from_west = 0;
    for (size_t i = 0; i < N; i++) {
        assert_true(source[i] >= 0 && source[i] < CITY_CELLS && destination[i] >= 0 &&
                    destination[i] < CITY_CELLS && period[i] < 24);
        morning += period[i] == 8;
        evening += period[i] == 18;
        from_west += period[i] == 8 && source[i] % SIDE < 2;
    }
    assert_near((double)morning / N, 2.0 / 3, 0.08);
    assert_near((double)evening / N, 1.0 / 3, 0.08);
    // All morning trips start in the two western columns; independent marginals would give 0.78, a
    // uniform draw 0.33.
    assert_true((double)from_west / (double)morning > 0.7);

    // Any piece of the sequence, by any number of threads, is the same.
    struct dpl_run *alone = test_run(2);
    int32_t piece[2][500];
    uint8_t hours[500];
    assert_ok(alone, dpl_vae_sample(alone, &shape, training->parameters, 99, 1234, 500, piece[0],
                                    piece[1], hours));
    assert_memory_equal(piece[0], source + 1234, sizeof piece[0]);
    assert_memory_equal(piece[1], destination + 1234, sizeof piece[1]);
    assert_memory_equal(hours, period + 1234, sizeof hours);
    dpl_run_free(alone);
    free(source);
    free(destination);
    free(period);
    dpl_sgd_state_free(training);
    dpl_net_free(net);
    free(seen);
    dpl_run_free(run);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_nexthop_shape shape = {.n_cells = 4, .n_periods = 6, .embedding = 3, .hidden = 7};
    struct dpl_vae_shape vae_shape = {
        .n_cells = 4, .n_periods = 6, .hidden = 7, .latent = 3, .kl_weight = 1};
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 6, &secret));
    bool succeeded = false;
    for (long n = 1; !succeeded; n++) {
        assert_true(n < 500);
        dpl_run_begin(run);
        dpl_run_fail_allocation(run, n);
        struct dpl_net *net = NULL, *vae_net = NULL;
        struct dpl_sgd_state *training = NULL;
        struct dpl_sgd_options options = dpl_nexthop_training(200);
        options.event.steps = 2;
        options.event.sigma = 1;
        enum dpl_status status = dpl_nexthop_new(run, &shape, &UNIT, 5, 1, &net);
        if (status == DPL_OK) status = dpl_vae_new(run, &vae_shape, &UNIT, 2, 1, &vae_net);
        if (status == DPL_OK) status = dpl_sgd_state_new(run, net->n_parameters, &training);
        if (status == DPL_OK)
            status = dpl_sgd_train(run, net, &options, &secret, training, NULL, NULL);
        succeeded = status == DPL_OK;
        if (!succeeded) assert_int_equal(status, DPL_SYSTEM);
        dpl_run_fail_allocation(run, 0);
        dpl_sgd_state_free(training);
        dpl_net_free(net);
        dpl_net_free(vae_net);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nexthop_gradient_is_the_derivative_of_its_loss),
        cmocka_unit_test(vae_gradient_is_the_derivative_of_its_loss),
        cmocka_unit_test(folded_tables_give_the_same_probabilities),
        cmocka_unit_test(without_a_destination_all_are_alike),
        cmocka_unit_test(choices_are_uniform_and_cover),
        cmocka_unit_test(nexthop_learns_what_the_destination_tells),
        cmocka_unit_test(vae_learns_starts_ends_and_hours),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
