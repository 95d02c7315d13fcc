/* The Poisson sampler: sizes, inclusion, pairs, steps, and its tie to the event. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "noise/sampler.h"

static struct dpl_random *seeded(struct dpl_run *run, uint64_t seed) {
    struct dpl_secret secret;
    struct dpl_random *random;
    assert_ok(run, dpl_secret_from_seed(run, seed, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    return random;
}

static struct dpl_event poisson(double rate, int64_t steps) {
    return (struct dpl_event){
        .name = "train", .kind = DPL_EVENT_POISSON, .sigma = 1, .rate = rate, .steps = steps};
}

/* The figures by which a sampler is known. */
struct figures {
    double size_mean, size_variance; /* over steps */
    double inclusion_z;              /* chi-square of the units' counts */
    double neighbours;               /* mean number of neighbouring units both taken in a step */
    double kept;                     /* mean number of units taken in two steps in a row */
    bool empty;                      /* some batch was */
};

typedef void draw_batch(void *context, int64_t step, bool *taken);

enum { UNITS = 300 };

static struct figures measure(draw_batch *draw, void *context, int64_t steps) {
    struct figures f = {0};
    double count[UNITS] = {0}, square = 0;
    bool before[UNITS] = {0};
    for (int64_t step = 0; step < steps; step++) {
        bool taken[UNITS] = {0};
        draw(context, step, taken);
        double size = 0;
        for (size_t i = 0; i < UNITS; i++) {
            size += taken[i];
            count[i] += taken[i];
            f.neighbours += taken[i] && taken[(i + 1) % UNITS];
            f.kept += taken[i] && before[i];
        }
        memcpy(before, taken, sizeof before);
        f.size_mean += size;
        square += size * size;
        f.empty |= size == 0;
    }
    double n = (double)steps;
    f.inclusion_z = test_chi2(count, NULL, UNITS, f.size_mean);
    f.size_mean /= n;
    f.size_variance = square / n - f.size_mean * f.size_mean;
    f.neighbours /= n;
    f.kept /= n;
    return f;
}

/* Whether the figures are those of independent coins of chance q, at five deviations or so. */
static bool is_poisson(struct figures f, double q, double n) {
    double mean = UNITS * q, variance = mean * (1 - q), both = mean * q;
    return fabs(f.size_mean - mean) <= 5 * sqrt(variance / n) &&
           fabs(f.size_variance / variance - 1) <= 6 * sqrt(2 / n) && f.inclusion_z < 4.75 &&
           fabs(f.neighbours - both) <= 5 * sqrt(both * (1 + 3 * q) / n) + 1e-9 &&
           fabs(f.kept - both) <= 5 * sqrt(both * (1 + 3 * q) / n) + both / n;
}

struct ours {
    struct dpl_run *run;
    struct dpl_random *random;
    struct dpl_event event;
    struct dpl_batch batch;
};

static void draw_ours(void *context, int64_t step, bool *taken) {
    struct ours *ours = context;
    assert_ok(ours->run, dpl_sampler_draw(ours->run, ours->random, &ours->event, 0, step, UNITS,
                                          &ours->batch));
    for (size_t i = 0; i < ours->batch.n; i++) {
        assert_true(ours->batch.unit[i] < UNITS &&
                    (i == 0 || ours->batch.unit[i - 1] < ours->batch.unit[i]));
        taken[ours->batch.unit[i]] = true;
    }
}

static void units_are_independent_coins(void **state) {
    (void)state;
    struct ours ours = {.run = test_run(1)};
    ours.random = seeded(ours.run, 5);
    const double rates[] = {0.002, 0.03, 0.5, 0.97};
    for (size_t i = 0; i < 4; i++) {
        int64_t steps = (int64_t)test_soak(i < 2 ? 20000 : 3000);
        ours.event = poisson(rates[i], steps);
        struct figures f = measure(draw_ours, &ours, steps);
        assert_true(is_poisson(f, rates[i], (double)steps));
        assert_false(is_poisson(f, rates[i] * (rates[i] < 0.9 ? 1.1 : 1.01), (double)steps));
        if (i == 0) assert_true(f.empty);
    }
    dpl_batch_free(&ours.batch);
    dpl_random_free(ours.random);
    dpl_run_free(ours.run);
}

/* ---- mutants ---- */

/* A shuffled epoch cut into batches of equal size. */
static void draw_shuffled(void *context, int64_t step, bool *taken) {
    size_t *order = context, size = UNITS / 10;
    if (step % 10 == 0) {
        uint64_t seed = (uint64_t)step;
        for (size_t i = 0; i < UNITS; i++) order[i] = i;
        for (size_t i = UNITS; i-- > 1;) {
            size_t j = test_random(&seed) % (i + 1), other = order[j];
            order[j] = order[i];
            order[i] = other;
        }
    }
    for (size_t i = 0; i < size; i++) taken[order[(size_t)(step % 10) * size + i]] = true;
}

/* The same batch for two steps in a row. */
static void draw_twice(void *context, int64_t step, bool *taken) {
    draw_ours(context, step / 2, taken);
}

static void mutants_are_caught(void **state) {
    (void)state;
    size_t order[UNITS];
    assert_false(is_poisson(measure(draw_shuffled, order, 5000), 0.1, 5000));
    struct ours ours = {.run = test_run(1), .event = poisson(0.1, 5000)};
    ours.random = seeded(ours.run, 5);
    assert_true(is_poisson(measure(draw_ours, &ours, 5000), 0.1, 5000));
    assert_false(is_poisson(measure(draw_twice, &ours, 5000), 0.1, 5000));
    dpl_batch_free(&ours.batch);
    dpl_random_free(ours.random);
    dpl_run_free(ours.run);
}

/* ---- the rate ---- */

/* 1 - exp(-num/den) in long double: at most the rate, and no more than 1e-12 of it below. */
static void the_chance_never_exceeds_the_rate(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (size_t i = 0; i < test_soak(20000); i++) {
        double rate = i % 2 ? test_uniform(&seed) : pow(10, -12 * test_uniform(&seed));
        if (!(rate >= 0x1p-40 && rate < 1)) continue;
        uint64_t num, den;
        dpl_sampler_exponent(rate, &num, &den);
        assert_true(num > 0 && den > 0 && den <= (uint64_t)1 << 62);
        long double chance = -expm1l(-(long double)num / (long double)den);
        assert_true(chance <= rate);
        assert_true(chance >= rate * (1 - (rate >= 1e-6 ? 1e-12L : 0x1p-21L)));
    }
    uint64_t num, den;
    dpl_sampler_exponent(nextafter(1, 0), &num, &den);
    assert_true(-expm1l(-(long double)num / (long double)den) <= (long double)nextafter(1, 0));
}

static void steps_stand_alone(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 5), *other_key = seeded(run, 6);
    struct dpl_event event = poisson(0.01, 100);
    struct dpl_batch batch[4] = {{0}};
    for (int64_t step = 0; step < 100; step++)
        assert_ok(run, dpl_sampler_draw(run, random, &event, 0, step, 100000, &batch[0]));
    // The last step again, alone; then of another network, of another key.
    assert_ok(run, dpl_sampler_draw(run, random, &event, 0, 99, 100000, &batch[1]));
    assert_ok(run, dpl_sampler_draw(run, random, &event, 1, 99, 100000, &batch[2]));
    assert_ok(run, dpl_sampler_draw(run, other_key, &event, 0, 99, 100000, &batch[3]));
    assert_int_equal(batch[0].n, batch[1].n);
    assert_memory_equal(batch[0].unit, batch[1].unit, batch[0].n * sizeof(uint32_t));
    for (size_t i = 2; i < 4; i++)
        assert_true(batch[i].n != batch[0].n ||
                    memcmp(batch[i].unit, batch[0].unit, batch[0].n * sizeof(uint32_t)) != 0);
    // A unit more at the end changes nothing before it.
    assert_ok(run, dpl_sampler_draw(run, random, &event, 0, 99, 100001, &batch[2]));
    assert_true(batch[2].n >= batch[0].n && batch[2].n <= batch[0].n + 1);
    assert_memory_equal(batch[0].unit, batch[2].unit, batch[0].n * sizeof(uint32_t));
    for (size_t i = 0; i < 4; i++) dpl_batch_free(&batch[i]);
    dpl_random_free(other_key);
    dpl_random_free(random);
    dpl_run_free(run);
}

static void edges(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 5);
    struct dpl_batch batch = {0};
    struct dpl_event event = poisson(1, 5);
    assert_ok(run, dpl_sampler_draw(run, random, &event, 0, 4, 1000, &batch));
    assert_int_equal(batch.n, 1000);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(batch.unit[i], i);
    assert_ok(run, dpl_sampler_draw(run, random, &event, 0, 4, 0, &batch));
    assert_int_equal(batch.n, 0);
    event.rate = 0.5;
    assert_ok(run, dpl_sampler_draw(run, random, &event, 0, 4, 0, &batch));
    assert_int_equal(batch.n, 0);
    // Beyond what was accounted for.
    assert_int_equal(dpl_sampler_draw(run, random, &event, 0, 5, 10, &batch), DPL_REFUSED);
    assert_int_equal(dpl_sampler_draw(run, random, &event, 0, -1, 10, &batch), DPL_REFUSED);
    const double bad[] = {0, -0.1, 1.5, NAN};
    for (size_t i = 0; i < 4; i++) {
        event.rate = bad[i];
        assert_int_equal(dpl_sampler_draw(run, random, &event, 0, 0, 10, &batch), DPL_USAGE);
    }
    event = poisson(0.5, ((int64_t)1 << 40) + 1);
    assert_int_equal(dpl_sampler_draw(run, random, &event, 0, 0, 10, &batch), DPL_USAGE);
    event.kind = DPL_EVENT_GAUSSIAN;
    assert_int_equal(dpl_sampler_draw(run, random, &event, 0, 0, 10, &batch), DPL_USAGE);
    dpl_batch_free(&batch);
    dpl_random_free(random);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_independent_coins),
        cmocka_unit_test(mutants_are_caught),
        cmocka_unit_test(the_chance_never_exceeds_the_rate),
        cmocka_unit_test(steps_stand_alone),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
