/* The accountant: FFT, log moments, loss grids, the golden rows, oracles that share no code with
 * it, properties, bad input.
 *
 * Oracles. One step of either direction has a closed form (a threshold on the noise); two and three
 * steps are integrals of that form over the first steps' noise, done by plain quadrature without
 * any grid of losses; the q = 1 Gaussian and k-fold randomised response are exact sums. None of
 * them tilts, transforms or discretises losses.
 */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/fft.h"
#include "account/loss.h"
#include "account/pld.h"

/* ---- FFT ---- */

static void fft_agrees_with_the_direct_sum(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    enum { N = 256 };
    struct dpl_complex x[N], y[N];
    struct dpl_fft fft;
    uint64_t random = 3;
    assert_ok(run, dpl_fft_make(run, N, &fft));
    double total = 0;
    for (size_t i = 0; i < N; i++) {
        x[i] = y[i] =
            (struct dpl_complex){test_uniform(&random) - 0.5, test_uniform(&random) - 0.5};
        total += hypot(x[i].re, x[i].im);
    }
    dpl_fft_forward(&fft, y);
    for (size_t j = 0; j < N; j++) {
        double re = 0, im = 0;
        for (size_t i = 0; i < N; i++) {
            double angle = -2 * M_PI * (double)(i * j % N) / N;
            re += x[i].re * cos(angle) - x[i].im * sin(angle);
            im += x[i].re * sin(angle) + x[i].im * cos(angle);
        }
        const struct dpl_complex got = y[dpl_fft_slot(&fft, j)];
        assert_true(hypot(got.re - re, got.im - im) < 2 * dpl_fft_error(&fft) * total);
    }
    dpl_fft_inverse(&fft, y);
    for (size_t i = 0; i < N; i++)
        assert_true(hypot(y[i].re / N - x[i].re, y[i].im / N - x[i].im) < 1e-15 * 20);
    dpl_fft_free(&fft);
    dpl_run_free(run);
}

static void fft_sizes_and_impulses(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (size_t n = 2; n <= 1 << 14; n *= 2) {
        struct dpl_fft fft;
        struct dpl_complex *x = calloc(n, sizeof *x);
        assert_ok(run, dpl_fft_make(run, n, &fft));
        const size_t at = n / 2 + n / 4;
        x[at].re = 1;
        dpl_fft_forward(&fft, x);
        for (size_t j = 0; j < n; j++) {
            const double angle = -2 * M_PI * (double)(at * j % n) / (double)n;
            const struct dpl_complex got = x[dpl_fft_slot(&fft, j)];
            assert_true(hypot(got.re - cos(angle), got.im - sin(angle)) <
                        dpl_fft_error(&fft) + 1e-15);
        }
        dpl_fft_free(&fft);
        free(x);
    }
    dpl_run_free(run);
}

/* ---- golden ---- */

static FILE *open_golden(const char *name) {
    char path[4096], line[4096];
    snprintf(path, sizeof path, "%.*s/golden/%s", (int)(strrchr(__FILE__, '/') - __FILE__),
             __FILE__, name);
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s cannot be opened", path);
    assert_non_null(fgets(line, sizeof line, file));
    return file;
}

static void golden_one_step_rdp(void **state) {
    (void)state;
    FILE *file = open_golden("rdp_one_step.csv");
    double q, sigma, order, want;
    int rows = 0;
    for (; fscanf(file, "%lf,%lf,%lf,%lf", &q, &sigma, &order, &want) == 4; rows++) {
        const double got = dpl_rdp_divergence(q, sigma, order);
        if (!(fabs(got / want - 1) < 1e-9))
            fail_msg("q %g sigma %g order %g: %.17g instead of %.17g", q, sigma, order, got, want);
    }
    assert_int_equal(rows, 144);
    fclose(file);
}

enum {
    GOLDEN_FIELDS = 25,
    DELTA = 2,
    FIRST = 3,
    RDP_GOOGLE = 12,
    RDP_EXACT = 14,
    PRV_LOW = 19,
    REFERENCE = 24
};

static void check_golden_row(struct dpl_run *run, const double *field) {
    struct dpl_event events[3];
    size_t n = 0;
    struct dpl_bound bound;
    for (int i = 0; i < 3; i++) {
        const double *f = field + FIRST + 3 * i;
        if (!isnan(f[0]))
            events[n++] = (struct dpl_event){
                .kind = DPL_EVENT_POISSON, .rate = f[0], .sigma = f[1], .steps = (int64_t)f[2]};
    }
    assert_ok(run, dpl_account(run, events, n, field[DELTA], &bound));
    const double reference = field[REFERENCE], most = fmax(field[RDP_EXACT], field[RDP_GOOGLE]);
    if (!(bound.epsilon_pld >= reference * (1 - 1e-3) - 1e-4 &&
          bound.epsilon_pld <= reference * 1.01 + 1e-3) ||
        bound.epsilon_pld < field[PRV_LOW])
        fail_msg("row %g: PLD %.9g, reference %.9g", field[0], bound.epsilon_pld, reference);
    if (!(bound.epsilon_rdp >= field[RDP_EXACT] - 1e-3 && bound.epsilon_rdp <= most + 1e-3))
        fail_msg("row %g: RDP %.9g, reference %.9g", field[0], bound.epsilon_rdp, field[RDP_EXACT]);
    assert_true(bound.epsilon <= bound.epsilon_pld && bound.epsilon <= bound.epsilon_rdp);
}

static void golden_compositions(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    FILE *file = open_golden("accountant.csv");
    char line[4096];
    int rows = 0;
    for (; fgets(line, sizeof line, file); rows++) {
        double field[GOLDEN_FIELDS];
        char *rest = line, *text;
        for (int i = 0; i < GOLDEN_FIELDS && (text = strsep(&rest, ",\n")); i++)
            field[i] = *text ? atof(text) : NAN;
        check_golden_row(run, field);
    }
    assert_int_equal(rows, 45);
    fclose(file);
    dpl_run_free(run);
}

/* ---- oracles ---- */

static double upper(double x) { return 0.5 * erfc(x / sqrt(2)); }

static double oracle_loss(double q, double sigma, double x) {
    return log1p(q * expm1((2 * x - 1) / (2 * sigma * sigma)));
}

/* delta of one step at any real epsilon: remove is Q(L > e) - e^e P(L > e), add P(L < -e) - e^e Q(L
 * < -e). */
static double one_step_delta(double q, double sigma, int direction, double epsilon) {
    const double loss = direction * epsilon,
                 y = expm1(loss) + q; // L = loss where rate e^{(2x-1)/2 sigma^2} = y
    if (y <= 0) return direction > 0 ? -expm1(epsilon) : 0;
    const double x = 0.5 + sigma * sigma * log(y / q);
    if (direction > 0) return q * upper((x - 1) / sigma) - y * upper(x / sigma);
    return upper(-x / sigma) -
           exp(epsilon) * ((1 - q) * upper(-x / sigma) + q * upper((1 - x) / sigma));
}

/* Of T steps: the average of that of T-1 steps over the first step's noise, trapezoidal rule. */
static double steps_delta(double q, double sigma, int direction, int steps, double epsilon,
                          int nodes) {
    if (steps == 1) return one_step_delta(q, sigma, direction, epsilon);
    const double low = -9 * sigma, high = (direction > 0 ? 1 : 0) + 9 * sigma,
                 step = (high - low) / nodes;
    double sum = 0;
    for (int i = 0; i <= nodes; i++) {
        const double x = low + i * step,
                     p = exp(-x * x / (2 * sigma * sigma)) / (sigma * sqrt(2 * M_PI)),
                     loss = oracle_loss(q, sigma, x);
        const double density = direction > 0 ? p * exp(loss) : p;
        sum += density * step *
               steps_delta(q, sigma, direction, steps - 1, epsilon - direction * loss, nodes);
    }
    return sum;
}

static double oracle_epsilon(double q, double sigma, int direction, int steps, double delta,
                             int nodes) {
    double low = 0, high = 200;
    if (steps_delta(q, sigma, direction, steps, 0, nodes) <= delta) return 0;
    for (int i = 0; i < (steps > 2 ? 24 : 60); i++) {
        double middle = (low + high) / 2;
        if (steps_delta(q, sigma, direction, steps, middle, nodes) > delta)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void check_steps(struct dpl_run *run, double q, double sigma, int steps, double delta,
                        int nodes) {
    const struct dpl_part part = {DPL_PART_POISSON, q, sigma, steps};
    double epsilon, direction[2];
    assert_ok(run, dpl_pld_epsilon(run, &(struct dpl_parts){&part, 1}, delta, direction, &epsilon));
    for (int d = 0; d < 2;
         d++) { // never below; close where it decides, and otherwise at most what decides
        const double want = oracle_epsilon(q, sigma, d ? -1 : 1, steps, delta, nodes);
        const bool below = direction[d]<want *(1 - 1e-7) - 1e-14, above = direction[d]> fmax(
                               want * 1.003, d ? direction[0] : 0) +
                           1e-9;
        if (below || above)
            fail_msg("q %g sigma %g steps %d delta %g %s: %.9g, oracle %.9g", q, sigma, steps,
                     delta, d ? "add" : "remove", direction[d], want);
    }
    assert_true(epsilon >= direction[0] && epsilon >= direction[1] &&
                epsilon <= fmax(direction[0], direction[1]) * 1.001);
}

static void one_step_in_both_directions(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const double q[] = {1e-7, 1e-3, 0.3, 0.9, 0.999}, sigma[] = {0.3, 0.7, 30},
                 delta[] = {1e-3, 1e-7, 1e-15};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 3; j++)
            for (size_t k = 0; k < 3; k++) check_steps(run, q[i], sigma[j], 1, delta[k], 0);
    dpl_run_free(run);
}

static void a_few_steps_in_both_directions(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    check_steps(run, 0.1, 1, 2, 1e-5, 1500);
    check_steps(run, 0.01, 0.6, 2, 1e-9, 3000);
    check_steps(run, 0.7, 2, 2, 1e-12, 1500);
    check_steps(run, 0.3, 0.8, 3, 1e-6, 300);
    check_steps(run, 0.9, 1.5, 3, 1e-3, 200);
    dpl_run_free(run);
}

static void the_gaussian_by_either_road(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (double sigma = 0.3; sigma < 120; sigma *= 2.7)
        for (double delta = 1e-3; delta > 1e-16; delta *= 1e-4) {
            const struct dpl_part part = {DPL_PART_GAUSSIAN, 1, sigma, 1};
            const double exact = dpl_gaussian_epsilon(sigma, delta), mu = 1 / sigma;
            double pld;
            // the textbook form, where it has digits
            if (delta > 1e-8) {
                const double got =
                    upper(exact / mu - mu / 2) - exp(exact) * upper(exact / mu + mu / 2);
                assert_true(exact == 0 ? got <= delta : fabs(got / delta - 1) < 1e-5);
            }
            assert_ok(run, dpl_pld_epsilon(run, &(struct dpl_parts){&part, 1}, delta, NULL, &pld));
            if (!(pld >= exact && pld <= exact * 1.001 + 1e-12))
                fail_msg("sigma %g delta %g: PLD %.9g, exact %.9g", sigma, delta, pld, exact);
        }
    dpl_run_free(run);
}

/* Far out in the tail a series stands for the integral; the textbook form still has digits there.
 */
static void a_gaussian_with_hardly_any_noise(void **state) {
    (void)state;
    for (double sigma = 0.06; sigma > 0.04; sigma -= 0.005)
        for (double delta = 1e-3; delta > 1e-9; delta *= 1e-2) {
            const double epsilon = dpl_gaussian_epsilon(sigma, delta), mu = 1 / sigma,
                         got = upper(epsilon / mu - mu / 2) -
                               exp(epsilon) * upper(epsilon / mu + mu / 2);
            if (!(fabs(got / delta - 1) < 1e-5))
                fail_msg("sigma %g delta %g: delta of %.9g is %.9g", sigma, delta, epsilon, got);
        }
}

/* k-fold randomised response, summed as it is. */
static double response_delta(double e, int k, double epsilon) {
    double delta = 0;
    for (int j = 0; j <= k; j++) { // j of the k answers speak against
        const double loss = (k - 2 * j) * e, log_p = -(k - j) * log1p(exp(-e)) - j * log1p(exp(e)) +
                                                     lgamma(k + 1) - lgamma(j + 1) -
                                                     lgamma(k - j + 1);
        if (loss > epsilon) delta += exp(log_p) * -expm1(epsilon - loss);
    }
    return delta;
}

static void laplace_events_compose_as_randomised_response(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_event events[40];
    for (int k = 1; k <= 40; k += 13) {
        struct dpl_bound bound;
        for (int i = 0; i < k; i++)
            events[i] = (struct dpl_event){.kind = DPL_EVENT_LAPLACE, .sigma = 5};
        assert_ok(run, dpl_account(run, events, (size_t)k, 1e-6, &bound));
        if (!(response_delta(0.2, k, bound.epsilon) <= 1e-6 * (1 + 1e-9)))
            fail_msg("%d: %.12g (%.12g %.12g)", k, response_delta(0.2, k, bound.epsilon),
                     bound.epsilon, bound.epsilon_rdp);
        assert_true(response_delta(0.2, k, bound.epsilon * 0.999) > 1e-6);
        assert_true(bound.epsilon <= 0.2 * k * (1 + 1e-8));
    }
    dpl_run_free(run);
}

/* ---- the grid ---- */

static double grid_delta(const struct dpl_loss_grid *grid, int direction, double epsilon) {
    double delta = direction > 0 ? grid->remove_infinite : grid->add_infinite;
    for (size_t k = 0; k < grid->n; k++) {
        const double at = (double)(grid->first + (int64_t)k) * grid->h, loss = direction * at;
        const double mass = grid->weight[k] * exp(direction > 0 ? fmin(at, 0) : -fmax(at, 0));
        if (loss > epsilon) delta += mass * -expm1(epsilon - loss);
    }
    return delta;
}

static void a_loss_grid_is_pessimistic_and_loses_nothing(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const double q[] = {1e-5, 0.01, 0.5, 0.99}, sigma[] = {0.4, 1, 10};
    for (size_t i = 0; i < 12; i++) {
        const struct dpl_part part = {DPL_PART_POISSON, q[i / 3], sigma[i % 3], 1};
        const double h = part.rate * sqrt(expm1(1 / (part.sigma * part.sigma))) / 10;
        struct dpl_loss_grid grid;
        assert_ok(run, dpl_loss_grid_make(run, &part, h, 1e-14, &grid));
        double p = grid.add_infinite, r = grid.remove_infinite;
        for (size_t k = 0; k < grid.n; k++) {
            const double at = (double)(grid.first + (int64_t)k) * h;
            assert_true(grid.weight[k] >= 0);
            p += grid.weight[k] * exp(-fmax(at, 0));
            r += grid.weight[k] * exp(fmin(at, 0));
        }
        if (!(fabs(p - 1) < 1e-12 && fabs(r - 1) < 1e-12))
            fail_msg("q %g sigma %g: sums %g %g from 1, error %g", part.rate, part.sigma, p - 1,
                     r - 1, grid.error);
        for (double epsilon = 0; epsilon < 8 * h; epsilon += h / 3)
            for (int d = -1; d <= 1; d += 2) {
                const double exact = one_step_delta(part.rate, part.sigma, d, epsilon),
                             got = grid_delta(&grid, d, epsilon);
                assert_true(got >= exact * (1 - 1e-9) - 1e-16);
                assert_true(got <= one_step_delta(part.rate, part.sigma, d, epsilon - h) + 1e-13);
            }
        dpl_free(grid.weight);
    }
    dpl_run_free(run);
}

/* ---- properties ---- */

static double poisson_epsilon(struct dpl_run *run, double q, double sigma, double steps,
                              double delta) {
    const struct dpl_event event = {
        .kind = DPL_EVENT_POISSON, .rate = q, .sigma = sigma, .steps = (int64_t)steps};
    struct dpl_bound bound;
    assert_ok(run, dpl_account(run, &event, 1, delta, &bound));
    assert_true(bound.epsilon >= 0 && bound.epsilon < INFINITY);
    return bound.epsilon;
}

static double log_uniform(uint64_t *random, double low, double high) {
    return low * pow(high / low, test_uniform(random));
}

static void epsilon_is_monotone(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t random = 20;
    for (size_t i = 0; i < test_soak(5); i++) {
        const double q = log_uniform(&random, 1e-7, 0.7), sigma = log_uniform(&random, 0.3, 100),
                     steps = floor(log_uniform(&random, 1, 1e8));
        const double delta = log_uniform(&random, 1e-15, 1e-3),
                     more = 1 + 0.4 * test_uniform(&random), slack = 1 + 5e-3;
        const double here = poisson_epsilon(run, q, sigma, steps, delta);
        const double other[4] = {poisson_epsilon(run, q * more, sigma, steps, delta),
                                 poisson_epsilon(run, q, sigma / more, steps, delta),
                                 poisson_epsilon(run, q, sigma, ceil(steps * more), delta),
                                 poisson_epsilon(run, q, sigma, steps, delta / more)};
        for (int k = 0; k < 4; k++)
            if (!(here <= other[k] * slack))
                fail_msg("q %g sigma %g steps %g delta %g more %g: %g, then %g (%d)", q, sigma,
                         steps, delta, more, here, other[k], k);
    }
    dpl_run_free(run);
}

static void order_and_splitting_do_not_matter(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event a = {.kind = DPL_EVENT_GAUSSIAN, .sigma = 6},
                           b = {.kind = DPL_EVENT_POISSON,
                                .sigma = 1.1,
                                .rate = 0.01,
                                .steps = 900},
                           c = {.kind = DPL_EVENT_POISSON, .sigma = 2, .rate = 0.1, .steps = 30},
                           d = {.kind = DPL_EVENT_LAPLACE, .sigma = 20};
    struct dpl_event b1 = b, b2 = b, b3 = b;
    struct dpl_bound whole, turned, split, nearly;
    b1.steps = 300, b2.steps = 600;
    b3.steps = 600, b3.sigma = 1.1 + 1e-9; // not merged: composed as a part of its own
    assert_ok(run, dpl_account(run, (struct dpl_event[]){a, b, c, d}, 4, 1e-7, &whole));
    assert_ok(run, dpl_account(run, (struct dpl_event[]){d, c, b, a}, 4, 1e-7, &turned));
    assert_ok(run, dpl_account(run, (struct dpl_event[]){b2, a, c, b1, d}, 5, 1e-7, &split));
    assert_ok(run, dpl_account(run, (struct dpl_event[]){b3, a, c, b1, d}, 5, 1e-7, &nearly));
    assert_true(whole.epsilon == turned.epsilon && whole.epsilon == split.epsilon);
    assert_true(fabs(nearly.epsilon / whole.epsilon - 1) < 1e-3);
    dpl_run_free(run);
}

static void gaussians_are_one_gaussian(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event many[] = {
        {.kind = DPL_EVENT_GAUSSIAN, .sigma = 2},
        {.kind = DPL_EVENT_GAUSSIAN, .sigma = 3},
        {.kind = DPL_EVENT_POISSON, .sigma = 12, .rate = 1, .steps = 4}};
    struct dpl_bound bound;
    assert_ok(run, dpl_account(run, many, 3, 1e-6, &bound));
    assert_int_equal(bound.kind, DPL_BOUND_GAUSSIAN);
    assert_true(
        fabs(bound.epsilon / dpl_gaussian_epsilon(1 / sqrt(1.0 / 4 + 1.0 / 9 + 4.0 / 144), 1e-6) -
             1) < 1e-12);
    dpl_run_free(run);
}

static void pld_is_mostly_the_lesser_bound(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t random = 77;
    size_t lesser = 0, n = test_soak(6);
    for (size_t i = 0; i < n; i++) {
        const struct dpl_event event = {.kind = DPL_EVENT_POISSON,
                                        .rate = log_uniform(&random, 1e-6, 0.9),
                                        .sigma = log_uniform(&random, 0.4, 50),
                                        .steps = (int64_t)log_uniform(&random, 1, 1e6)};
        struct dpl_bound bound;
        assert_ok(run, dpl_account(run, &event, 1, log_uniform(&random, 1e-12, 1e-4), &bound));
        lesser += bound.epsilon_pld <= bound.epsilon_rdp * 1.0001;
    }
    assert_true(lesser * 6 >= n * 5);
    dpl_run_free(run);
}

static void the_curve_is_the_bound_at_each_delta(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event event = {
        .kind = DPL_EVENT_POISSON, .sigma = 1.2, .rate = 0.02, .steps = 500};
    const double delta[] = {1e-4, 1e-8, 1e-12};
    double epsilon[3];
    assert_ok(run, dpl_account_profile(run, &event, 1, delta, 3, epsilon));
    for (int i = 0; i < 3; i++)
        assert_true(epsilon[i] == poisson_epsilon(run, 0.02, 1.2, 500, delta[i]));
    assert_true(epsilon[0] < epsilon[1] && epsilon[1] < epsilon[2]);
    dpl_run_free(run);
}

/* ---- the facts of the paper ---- */

static bool near(double got, double want) { return fabs(got / want - 1) < 5e-3; }

static void the_papers_settings(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const struct {
        const char *data;
        double corrected[3], rdp[3], pld[3], alone[3][3];
    } FACT[] = {
        {"porto",
         {1.447, 2.945, 4.813},
         {1.224, 2.581, 4.178},
         {1.131, 2.397, 3.453},
         {{1.074, 0.225, 0.206}, {2.293, 0.416, 0.416}, {2.775, 1.032, 2.185}}},
        {"geolife",
         {1.704, 3.409, 7.937},
         {1.419, 2.956, 7.046},
         {1.296, 2.713, 6.132},
         {{0.946, 0.589, 0.539}, {2.045, 1.130, 1.130}, {2.483, 2.837, 4.868}}},
    };
    for (size_t d = 0; d < 2; d++) {
        struct dpl_paper_row rows[DPL_PAPER_ROWS];
        int64_t trips;
        assert_ok(run, dpl_account_paper(run, FACT[d].data, &trips, rows));
        for (int r = 0; r < 3; r++) {
            assert_true(near(rows[r].corrected, FACT[d].corrected[r]));
            assert_true(near(rows[r].bound.epsilon_rdp, FACT[d].rdp[r]));
            assert_true(near(rows[r].bound.epsilon_pld, FACT[d].pld[r]));
            assert_true(rows[r].printed < rows[r].bound.epsilon); // as printed it is no bound
            for (int i = 0; i < 3; i++) {
                struct dpl_bound alone;
                assert_ok(run, dpl_account(run, &rows[r].events[i], 1, rows[r].delta, &alone));
                assert_true(near(alone.epsilon, FACT[d].alone[r][i]));
            }
        }
    }
    struct dpl_paper_row rows[DPL_PAPER_ROWS];
    int64_t trips;
    assert_int_equal(dpl_account_paper(run, "paris", &trips, rows), DPL_USAGE);
    dpl_run_free(run);
}

static void the_noise_that_a_target_needs(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const struct {
        double batch, epsilon, sigma[3];
    } FACT[] = {{200, 1, {19.1, 0.858, 0.749}}, {4096, 2, {9.94, 1.55, 1.25}},
                {200, 5, {6.17, 0.546, 0.508}}, {200, 0.5, {34.9, 1.27, 1.05}},
                {200, 2, {12.1, 0.691, 0.622}}, {4096, 0.5, {34.8, 4.91, 3.78}},
                {4096, 1, {18.5, 2.67, 2.09}},  {4096, 5, {4.70, 0.913, 0.790}}};
    const size_t all = sizeof FACT / sizeof *FACT, n = test_soak(2) < all ? test_soak(2) : all;
    const double trips = 450000, share[] = {0.05, 0.35, 0.6};
    for (size_t i = 0; i < n; i++) {
        const struct dpl_event training = {.kind = DPL_EVENT_POISSON,
                                           .rate = FACT[i].batch / trips,
                                           .steps = (int64_t)ceil(15 * trips / FACT[i].batch)};
        struct dpl_event events[] = {{.kind = DPL_EVENT_GAUSSIAN}, training, training};
        struct dpl_bound bound;
        assert_ok(run, dpl_account_solve(run, events, share, 3, FACT[i].epsilon, 1 / trips));
        for (int k = 0; k < 3; k++)
            if (!near(events[k].sigma, FACT[i].sigma[k]))
                fail_msg("batch %g epsilon %g: sigma %d is %g", FACT[i].batch, FACT[i].epsilon, k,
                         events[k].sigma);
        assert_ok(run, dpl_account(run, events, 3, 1 / trips, &bound));
        assert_true(bound.epsilon <= FACT[i].epsilon && bound.epsilon >= FACT[i].epsilon * 0.999);
    }
    dpl_run_free(run);
}

static void solving_keeps_what_has_no_share(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_event events[] = {{.kind = DPL_EVENT_GAUSSIAN, .sigma = 8},
                                 {.kind = DPL_EVENT_GAUSSIAN},
                                 {.kind = DPL_EVENT_LAPLACE}};
    struct dpl_bound bound;
    assert_ok(run, dpl_account_solve(run, events, (double[]){0, 3, 1}, 3, 2, 1e-6));
    assert_true(events[0].sigma == 8 && events[1].sigma > 0 &&
                fabs(events[2].sigma / events[1].sigma / sqrt(3) - 1) < 1e-12);
    assert_ok(run, dpl_account(run, events, 3, 1e-6, &bound));
    assert_true(bound.epsilon <= 2 && bound.epsilon >= 2 * 0.999);
    events[0].sigma = 0.5; // alone above the target
    assert_int_equal(dpl_account_solve(run, events, (double[]){0, 3, 1}, 3, 2, 1e-6), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "cannot be met"));
    dpl_run_free(run);
}

/* ---- ends and bad input ---- */

static void nothing_costs_nothing_and_no_noise_costs_all(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_event event = {.kind = DPL_EVENT_POISSON, .sigma = 1, .rate = 0.1, .steps = 0};
    struct dpl_bound bound;
    assert_ok(run, dpl_account(run, &event, 1, 1e-6, &bound));
    assert_true(bound.epsilon == 0 && bound.kind == DPL_BOUND_NONE);
    assert_ok(run, dpl_account(run, NULL, 0, 1e-6, &bound));
    assert_true(bound.epsilon == 0);
    event.steps = 3, event.sigma = 0;
    assert_ok(run, dpl_account(run, &event, 1, 1e-6, &bound));
    assert_true(bound.epsilon == INFINITY);
    event = (struct dpl_event){.kind = DPL_EVENT_LAPLACE};
    assert_ok(run, dpl_account(run, &event, 1, 1e-6, &bound));
    assert_true(bound.epsilon == INFINITY);
    // far out: an answer or INFINITY, never less than what a part of it costs
    event = (struct dpl_event){
        .kind = DPL_EVENT_POISSON, .sigma = 1, .rate = 1e-3, .steps = (int64_t)1 << 53};
    assert_ok(run, dpl_account(run, &event, 1, 1e-6, &bound));
    assert_true(bound.epsilon > poisson_epsilon(run, 1e-3, 1, 1e8, 1e-6));
    event = (struct dpl_event){.kind = DPL_EVENT_POISSON, .sigma = 1e-3, .rate = 0.01, .steps = 2};
    assert_ok(run, dpl_account(run, &event, 1, 1e-300, &bound));
    assert_true(bound.epsilon > 5e5);
    dpl_run_free(run);
}

static void bad_events_are_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event good = {.kind = DPL_EVENT_POISSON, .sigma = 1, .rate = 0.1, .steps = 5};
    const double deltas[] = {0, 1, -1, NAN, INFINITY}, sigmas[] = {-1, NAN, INFINITY},
                 rates[] = {0, -0.1, 1.1, NAN};
    struct dpl_bound bound = {.epsilon = 42};
    double epsilon = 42;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(dpl_account(run, &good, 1, deltas[i], &bound), DPL_USAGE);
        assert_int_equal(dpl_account_profile(run, &good, 1, &deltas[i], 1, &epsilon), DPL_USAGE);
    }
    for (int i = 0; i < 7; i++) {
        struct dpl_event event = good;
        if (i < 3)
            event.sigma = sigmas[i];
        else
            event.rate = rates[i - 3];
        assert_int_equal(dpl_account(run, &event, 1, 1e-6, &bound), DPL_USAGE);
        assert_true(strlen(dpl_run_message(run)) > 20);
    }
    struct dpl_event event = good;
    event.steps = -1;
    assert_int_equal(dpl_account(run, &event, 1, 1e-6, &bound), DPL_USAGE);
    event.steps = ((int64_t)1 << 53) + 1;
    assert_int_equal(dpl_account(run, &event, 1, 1e-6, &bound), DPL_USAGE);
    assert_true(bound.epsilon == 42 && epsilon == 42); // untouched on failure
    event = good;
    const double targets[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 4; i++)
        assert_int_equal(dpl_account_solve(run, &event, &(double){1}, 1, targets[i], 1e-6),
                         DPL_USAGE);
    assert_int_equal(dpl_account_solve(run, &event, &(double){0}, 1, 1, 1e-6), DPL_USAGE);
    assert_int_equal(dpl_account_solve(run, &event, &(double){-1}, 1, 1, 1e-6), DPL_USAGE);
    event.steps = 0;
    assert_int_equal(dpl_account_solve(run, &event, &(double){1}, 1, 1, 1e-6), DPL_USAGE);
    dpl_run_free(run);
}

static void any_allocation_may_fail(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_event events[] = {
        {.kind = DPL_EVENT_POISSON, .sigma = 2, .rate = 0.5, .steps = 10},
        {.kind = DPL_EVENT_GAUSSIAN, .sigma = 3}};
    struct dpl_bound bound;
    long before = dpl_run_allocations(run);
    assert_ok(run, dpl_account(run, events, 2, 1e-6, &bound));
    const long n = dpl_run_allocations(run) - before;
    for (long i = 1; i <= n; i++) {
        dpl_run_fail_allocation(run, i);
        assert_int_equal(dpl_account(run, events, 2, 1e-6, &bound), DPL_SYSTEM);
    }
    dpl_run_fail_allocation(run, 0);
    dpl_run_interrupt(run);
    assert_int_equal(dpl_account(run, events, 2, 1e-6, &bound), DPL_INTERRUPTED);
    dpl_run_free(run);
}

/* A hostile certificate must not hang the verifier: next to no noise, any number of steps. */
static void hardly_any_noise_is_answered_too(void **state) {
    (void)state;
    static const struct dpl_event EVENTS[] = {
        {.kind = DPL_EVENT_POISSON, .sigma = 0.01, .rate = 0.9, .steps = (int64_t)1 << 53},
        {.kind = DPL_EVENT_POISSON, .sigma = 0.001, .rate = 0.02, .steps = 300},
        {.kind = DPL_EVENT_POISSON, .sigma = 0.05, .rate = 1e-6, .steps = 1000000},
        {.kind = DPL_EVENT_GAUSSIAN, .sigma = 1e-4},
    };
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS; i++) {
        struct dpl_bound bound;
        assert_ok(run, dpl_account(run, &EVENTS[i], 1, 1e-8, &bound));
        assert_true(bound.epsilon > 10);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        // Quick ones first: what is wrong shows soon.
        cmocka_unit_test(golden_one_step_rdp),
        cmocka_unit_test(fft_sizes_and_impulses),
        cmocka_unit_test(fft_agrees_with_the_direct_sum),
        cmocka_unit_test(gaussians_are_one_gaussian),
        cmocka_unit_test(a_gaussian_with_hardly_any_noise),
        cmocka_unit_test(bad_events_are_refused),
        cmocka_unit_test(laplace_events_compose_as_randomised_response),
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(the_curve_is_the_bound_at_each_delta),
        cmocka_unit_test(pld_is_mostly_the_lesser_bound),
        cmocka_unit_test(order_and_splitting_do_not_matter),
        cmocka_unit_test(the_gaussian_by_either_road),
        cmocka_unit_test(solving_keeps_what_has_no_share),
        cmocka_unit_test(hardly_any_noise_is_answered_too),
        cmocka_unit_test(a_loss_grid_is_pessimistic_and_loses_nothing),
        cmocka_unit_test(nothing_costs_nothing_and_no_noise_costs_all),
        cmocka_unit_test(a_few_steps_in_both_directions),
        cmocka_unit_test(the_papers_settings),
        cmocka_unit_test(the_noise_that_a_target_needs),
        cmocka_unit_test(golden_compositions),
        cmocka_unit_test(epsilon_is_monotone),
        cmocka_unit_test(one_step_in_both_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
