/* Bounded vectors: the declared sensitivity holds in integers for every unit, hostile ones
 * included; releases take what was accounted for and nothing else. */
#include "support.h"

#include <math.h>
#include <string.h>

#include "noise/lattice.h"
#include "noise/lattice_inner.h"

enum { CELLS = 200, MOST = 1000 };

struct unit {
    struct dpl_entry entry[MOST];
    size_t n;
};

static struct dpl_exact *make(struct dpl_run *run, size_t n, enum dpl_norm norm, double sensitivity,
                              int places) {
    struct dpl_exact *exact;
    assert_ok(
        run, dpl_exact_new(run, &(struct dpl_exact_options){n, norm, sensitivity, places}, &exact));
    return exact;
}

/* Units that try to count for more than one. */
static void hostile(struct unit *unit, size_t kind, uint64_t *seed) {
    static const double wild[] = {1e300, -1e300, 1e-300, 0, 5e-324, NAN, INFINITY, 0x1p52, -0.0};
    unit->n = kind == 1                ? 0
              : kind == 2              ? 1
              : kind == 3 || kind == 0 ? MOST
                                       : 1 + test_random(seed) % 60;
    for (size_t i = 0; i < unit->n; i++) {
        struct dpl_entry *entry = &unit->entry[i];
        entry->index = kind == 0 ? 7 : test_random(seed) % CELLS;
        entry->value = 1;
        if (kind == 4) entry->value = 2 * test_uniform(seed) - 1;
        if (kind == 5) entry->value = wild[test_random(seed) % 9];
        if (kind == 6)
            entry->value = ldexp(test_uniform(seed) - 0.5, (int)(test_random(seed) % 80) - 40);
        if (kind == 7)
            entry->index = test_random(seed) % 20 * 10, entry->value = 20; // 20 trips of one user
        if (kind == 8) entry->value = 1 / sqrt((double)unit->n);           // just about the limit
        if (kind == 9) entry->index = i, entry->value = i % 2 ? 1 : -1;
    }
}

/* floor((sensitivity * 2^places)^2) or floor(sensitivity * 2^places) for whole and half numbers of
 * steps. */
static double limit_squared(enum dpl_norm norm, double sensitivity, int places) {
    double radius = ldexp(sensitivity, places);
    return norm == DPL_NORM_L2 ? radius * radius : radius;
}

/* The property: sum(D with unit) - sum(D) has a norm within the limit, for random D. */
static void sensitivity_holds_for_neighbours(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct {
        enum dpl_norm norm;
        double sensitivity;
        int places;
    } how[] = {{DPL_NORM_L2, 1, 16}, {DPL_NORM_L1, 1, 16}, {DPL_NORM_L2, 0.3, 16},
               {DPL_NORM_L1, 20, 4}, {DPL_NORM_L2, 1, 0},  {DPL_NORM_L2, 63, 30}};
    uint64_t seed = 1;
    static struct unit unit;
    for (size_t round = 0; round < test_soak(1200); round++) {
        size_t k = round % 6;
        struct dpl_exact *exact = make(run, CELLS, how[k].norm, how[k].sensitivity, how[k].places);
        for (size_t i = 0; i < 5; i++) {
            hostile(&unit, test_random(&seed) % 10, &seed);
            assert_ok(run, dpl_exact_add(run, exact, unit.entry, unit.n));
        }
        int64_t before[CELLS], moved[CELLS];
        memcpy(before, exact->sum, sizeof before);
        hostile(&unit, round / 6 % 10, &seed);
        assert_ok(run, dpl_exact_add(run, exact, unit.entry, unit.n));
        for (size_t i = 0; i < CELLS; i++) moved[i] = exact->sum[i] - before[i];
        dpl_wide norm = dpl_exact_norm(how[k].norm, moved, CELLS);
        assert_true(norm <= exact->limit);
        assert_true((double)norm <= limit_squared(how[k].norm, how[k].sensitivity, how[k].places));
        dpl_exact_free(exact);
    }
    dpl_run_free(run);
}

/* What a unit adds does not depend on who was there before, and scaling loses little. */
static void a_unit_counts_alone_and_fully(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_exact *exact = make(run, CELLS, DPL_NORM_L2, 1, 16);
    struct dpl_entry one[] = {{3, 3}, {5, -1}, {3, 1}, {5, -2}}; // (4, -3) of length 5
    int64_t first[2];
    for (int64_t i = 1; i <= 3; i++) {
        assert_ok(run, dpl_exact_add(run, exact, one, 4));
        if (i == 1) first[0] = exact->sum[3], first[1] = exact->sum[5];
        assert_int_equal(exact->sum[3], i * first[0]);
        assert_int_equal(exact->sum[5], i * first[1]);
    }
    assert_true(first[0] >= (int64_t)(0.8 * 65536) - 1 && first[0] <= (int64_t)(0.8 * 65536));
    assert_true(first[1] <= -(int64_t)(0.6 * 65536) + 1 && first[1] >= -(int64_t)(0.6 * 65536));
    // Within the limit a lattice vector is taken as it is; one that is not finite not at all.
    struct dpl_entry small[] = {{0, 0.5}, {1, -0.25}}, wrong[] = {{0, 0.5}, {1, NAN}};
    assert_ok(run, dpl_exact_add(run, exact, small, 2));
    assert_ok(run, dpl_exact_add(run, exact, wrong, 2));
    assert_int_equal(exact->sum[0], 32768);
    assert_int_equal(exact->sum[1], -16384);
    // Exactly on the limit is within.
    struct dpl_entry full = {2, 1};
    assert_ok(run, dpl_exact_add(run, exact, &full, 1));
    assert_int_equal(exact->sum[2], 65536);
    dpl_exact_free(exact);
    dpl_run_free(run);
}

/* The integer comparison has the last word: under a tighter limit than the doubles know of, a unit
 * is shortened or left out. */
static void integers_decide(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (unsigned share = 1; share < 100; share += 7) {
        struct dpl_exact *exact = make(run, CELLS, DPL_NORM_L2, 1, 16);
        exact->limit = exact->limit * share / 100;
        struct dpl_entry full[] = {{2, 1}, {9, -1}, {2, 1}};
        assert_ok(run, dpl_exact_add(run, exact, full, 3));
        assert_true(dpl_exact_norm(DPL_NORM_L2, exact->sum, CELLS) <= exact->limit);
        memset(exact->sum, 0, CELLS * sizeof *exact->sum);
        assert_ok(run, dpl_exact_add(run, exact, &full[1], 1));
        assert_true(dpl_exact_norm(DPL_NORM_L2, exact->sum, CELLS) <= exact->limit);
        dpl_exact_free(exact);
    }
    dpl_run_free(run);
}

/* A unit of one entry takes a shorter way to the same sum: a second entry of 0 keeps it from it. */
static void one_entry_is_a_unit(void **state) {
    (void)state;
    static const double wild[] = {1, -1, 0.3, 1.0000001, -7, 0x1p-20, 1e300, -INFINITY, NAN};
    struct dpl_run *run = test_run(1);
    for (size_t norm = DPL_NORM_L1; norm <= DPL_NORM_L2; norm++) {
        struct dpl_exact *one = make(run, CELLS, (enum dpl_norm)norm, 1, 16),
                         *two = make(run, CELLS, (enum dpl_norm)norm, 1, 16);
        for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
            struct dpl_entry entry[] = {{i, wild[i]}, {i, 0}};
            assert_ok(run, dpl_exact_add(run, one, entry, 1));
            assert_ok(run, dpl_exact_add(run, two, entry, 2));
        }
        assert_int_equal(one->units, two->units);
        assert_memory_equal(one->sum, two->sum, CELLS * sizeof *one->sum);
        dpl_exact_free(one), dpl_exact_free(two);
    }
    dpl_run_free(run);
}

/* What is longer than the sensitivity, by however little, is scaled by its length; what is not is
 * taken as it is. */
static void only_the_long_are_scaled(void **state) {
    (void)state;
    enum { N = 12 };
    struct dpl_run *run = test_run(1);
    uint64_t seed = 11;
    for (int round = 0; round < 2000; round++) {
        const double lengths[] = {0.5, 1 - 1e-7, 1 + 1e-7, 1.5, 3}, wanted = lengths[round % 5];
        struct dpl_exact *exact = make(run, CELLS, DPL_NORM_L2, 1, 16);
        struct dpl_entry entry[N];
        double square = 0, share = fmin(1, 1 / wanted);
        for (size_t i = 0; i < N; i++) {
            entry[i] = (struct dpl_entry){i, 2 * test_uniform(&seed) - 1};
            square += entry[i].value * entry[i].value;
        }
        for (size_t i = 0; i < N; i++) entry[i].value *= wanted / sqrt(square);
        assert_ok(run, dpl_exact_add(run, exact, entry, N));
        for (size_t i = 0; i < N; i++) // rounding towards zero, and a hair of doubles
            assert_true(fabs(share * entry[i].value * 65536 - (double)exact->sum[i]) < 1 + 1e-6);
        dpl_exact_free(exact);
    }
    dpl_run_free(run);
}

/* Whole numbers, as counts are: nine cells once each, the largest of them 1. */
static void counts_are_scaled_by_their_length(void **state) {
    (void)state;
    enum { N = 9 };
    struct dpl_run *run = test_run(1);
    struct dpl_exact *exact = make(run, CELLS, DPL_NORM_L2, 1, 16);
    struct dpl_entry entry[N];
    for (size_t i = 0; i < N; i++) entry[i] = (struct dpl_entry){i, 1};
    assert_ok(run, dpl_exact_add(run, exact, entry, N));
    for (size_t i = 0; i < N; i++) assert_int_equal(exact->sum[i], 65536 / 3);
    dpl_exact_free(exact);
    dpl_run_free(run);
}

static void dense_is_sparse(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_exact *sparse = make(run, CELLS, DPL_NORM_L2, 2, 16),
                     *dense = make(run, CELLS, DPL_NORM_L2, 2, 16);
    struct dpl_exact *half = make(run, CELLS, DPL_NORM_L2, 2, 16);
    uint64_t seed = 3;
    for (size_t round = 0; round < 50; round++) {
        double values[CELLS] = {0};
        static struct unit unit;
        unit.n = 0;
        for (size_t i = 0; i < CELLS; i++)
            if (test_random(&seed) % 4 == 0)
                unit.entry[unit.n++] = (struct dpl_entry){i, values[i] = test_uniform(&seed)};
        assert_ok(run, dpl_exact_add(run, round % 2 ? sparse : half, unit.entry, unit.n));
        assert_ok(run, dpl_exact_add_dense(run, dense, values));
    }
    assert_ok(run, dpl_exact_merge(run, sparse, half));
    assert_int_equal(sparse->units, dense->units);
    assert_memory_equal(sparse->sum, dense->sum, CELLS * sizeof *dense->sum);
    struct dpl_exact *other = make(run, CELLS, DPL_NORM_L2, 1, 16);
    assert_int_equal(dpl_exact_merge(run, sparse, other), DPL_USAGE);
    dpl_exact_free(other);
    dpl_exact_free(half);
    dpl_exact_free(dense);
    dpl_exact_free(sparse);
    dpl_run_free(run);
}

static void senseless_vectors_are_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct dpl_exact_options bad[] = {
        {5, DPL_NORM_L2, 0, 16},
        {5, DPL_NORM_L2, -1, 16},
        {5, DPL_NORM_L2, NAN, 16},
        {5, DPL_NORM_L2, INFINITY, 16},
        {5, DPL_NORM_L2, 0.5, 0},
        {5, DPL_NORM_L2, 0x1p37, 0},
        {5, DPL_NORM_L2, 1, -1},
        {5, DPL_NORM_L2, 1, 31},
        {(size_t)1 << 32, DPL_NORM_L2, 1, 16},
    };
    struct dpl_exact *exact = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(dpl_exact_new(run, &bad[i], &exact), DPL_USAGE);
    assert_null(exact);
    exact = make(run, 5, DPL_NORM_L2, 1, 16);
    struct dpl_entry outside[] = {{1, 1}, {5, 1}};
    assert_int_equal(dpl_exact_add(run, exact, outside, 2), DPL_USAGE);
    for (size_t i = 0; i < 5; i++) assert_int_equal(exact->sum[i], 0);
    exact->units = exact->most_units;
    assert_int_equal(dpl_exact_add(run, exact, outside, 1), DPL_USAGE);
    dpl_exact_free(exact);
    dpl_run_free(run);
}

/* ---- releases ---- */

static struct dpl_event event_of(enum dpl_event_kind kind, double sigma, double sensitivity) {
    return (struct dpl_event){
        .name = "counts", .kind = kind, .sigma = sigma, .sensitivity = sensitivity};
}

static void noise_has_the_events_size(void **state) {
    (void)state;
    enum { N = 20000 };
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 4, &secret));
    for (uint64_t kind = 0; kind < 2; kind++) {
        struct dpl_exact *exact = make(run, N, kind ? DPL_NORM_L1 : DPL_NORM_L2, 2, 16);
        struct dpl_entry entry = {17, 2};
        for (size_t i = 0; i < 1000; i++) assert_ok(run, dpl_exact_add(run, exact, &entry, 1));
        struct dpl_event event = event_of(kind ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN, 3, 2);
        struct dpl_noised *noised = NULL;
        struct dpl_stream_id id = {DPL_PURPOSE_COUNTS, kind, 0};
        if (kind)
            assert_ok(run, dpl_laplace_release(run, &secret, &event, id, &exact, &noised));
        else
            assert_ok(run, dpl_gaussian_release(run, &secret, &event, id, &exact, &noised));
        assert_null(exact);
        assert_int_equal(dpl_noised_count(noised), N);
        double square = 0, deviation = kind ? 6 * sqrt(2) : 6;
        for (size_t i = 0; i < N; i++)
            if (i != 17) square += pow(dpl_noised_value(noised, i), 2);
        assert_true(fabs(square / (N * deviation * deviation) - 1) <=
                    5 * sqrt((kind ? 5.0 : 2.0) / N));
        assert_true(fabs(dpl_noised_deviation(noised) / deviation - 1) < 1e-9);
        assert_true(fabs(dpl_noised_value(noised, 17) - 2000) < 100);
        dpl_noised_free(noised);
    }
    dpl_run_free(run);
}

static void only_what_was_accounted_for(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 4, &secret));
    struct dpl_exact *exact = make(run, 10, DPL_NORM_L2, 1, 16),
                     *again = make(run, 10, DPL_NORM_L2, 1, 16);
    struct dpl_noised *noised = NULL;
    struct dpl_stream_id id = {DPL_PURPOSE_COUNTS, 0, 0};
    struct dpl_event right = event_of(DPL_EVENT_GAUSSIAN, 1, 1);
    struct dpl_event wrong[] = {event_of(DPL_EVENT_LAPLACE, 1, 1),
                                event_of(DPL_EVENT_GAUSSIAN, 1, 0.5)};
    const double bad[] = {0, -1, NAN, INFINITY, 1e300};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(dpl_gaussian_release(run, &secret, &wrong[i], id, &exact, &noised),
                         DPL_REFUSED);
    assert_int_equal(dpl_laplace_release(run, &secret, &right, id, &exact, &noised), DPL_REFUSED);
    // L1 mechanism on a vector whose L2 norm is bounded.
    assert_int_equal(dpl_laplace_release(run, &secret, &wrong[0], id, &exact, &noised),
                     DPL_REFUSED);
    for (size_t i = 0; i < 5; i++) {
        struct dpl_event event = event_of(DPL_EVENT_GAUSSIAN, bad[i], 1);
        struct dpl_stream_id other = {DPL_PURPOSE_COUNTS, 10 + i, 0};
        assert_int_equal(dpl_gaussian_release(run, &secret, &event, other, &exact, &noised),
                         DPL_USAGE);
    }
    assert_null(noised);
    assert_non_null(exact);
    for (size_t i = 0; i < 10; i++) assert_int_equal(exact->sum[i], 0);
    assert_ok(run, dpl_gaussian_release(run, &secret, &right, id, &exact, &noised));
    // The same noise a second time.
    struct dpl_noised *second = NULL;
    assert_int_equal(dpl_gaussian_release(run, &secret, &right, id, &again, &second), DPL_REFUSED);
    assert_null(second);
    dpl_noised_free(noised);
    dpl_exact_free(again);
    dpl_run_free(run);
}

/* Neighbours reach the same lattice: the same key gives outputs that differ by the exact
 * difference. */
static void neighbours_differ_by_the_unit_alone(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_noised *noised[2] = {NULL, NULL};
    uint64_t seed = 9;
    static struct unit units[20];
    for (size_t i = 0; i < 20; i++) hostile(&units[i], i % 10, &seed);
    int64_t exact_difference[CELLS];
    struct dpl_exact *exact[2];
    for (size_t d = 0; d < 2; d++) {
        exact[d] = make(run, CELLS, DPL_NORM_L2, 1, 16);
        for (size_t i = d; i < 20; i++)
            assert_ok(run, dpl_exact_add(run, exact[d], units[i].entry, units[i].n));
    }
    for (size_t i = 0; i < CELLS; i++) exact_difference[i] = exact[0]->sum[i] - exact[1]->sum[i];
    for (size_t d = 0; d < 2; d++) {
        struct dpl_secret secret;
        assert_ok(run, dpl_secret_from_seed(run, 4, &secret));
        struct dpl_event event = event_of(DPL_EVENT_GAUSSIAN, 10, 1);
        assert_ok(run, dpl_gaussian_release(run, &secret, &event,
                                            (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 0, 0},
                                            &exact[d], &noised[d]));
    }
    for (size_t i = 0; i < CELLS; i++)
        assert_true(ldexp(dpl_noised_value(noised[0], i) - dpl_noised_value(noised[1], i), 16) ==
                    (double)exact_difference[i]);
    dpl_noised_free(noised[0]);
    dpl_noised_free(noised[1]);
    dpl_run_free(run);
}

/* Sums from elsewhere: no more units than keep every coordinate below 2^62, and no sum that they
 * cannot have. */
static void sums_from_elsewhere_are_bounded(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_exact *exact = make(run, 2, DPL_NORM_L2, 1, 16);
    const uint64_t most = (uint64_t)1 << 46;
    assert_int_equal(exact->most_units, most);
    const int64_t largest = (int64_t)1 << 61, whole[2] = {largest, -largest}, one[2] = {0, -65536},
                  too_low[2] = {0, -65537}, too_high[2] = {65537, 0}, none[2] = {0, 0};
    assert_int_equal(dpl_exact_merge_bytes(run, exact, most + 1, none), DPL_USAGE);
    assert_ok(run, dpl_exact_merge_bytes(run, exact, most / 2, whole));
    assert_int_equal(dpl_exact_merge_bytes(run, exact, most / 2 + 1, none), DPL_USAGE);
    assert_int_equal(dpl_exact_merge_bytes(run, exact, 1, too_low), DPL_BAD_DATA);
    assert_int_equal(dpl_exact_merge_bytes(run, exact, 1, too_high), DPL_BAD_DATA);
    assert_ok(run, dpl_exact_merge_bytes(run, exact, 1, one));
    assert_ok(run, dpl_exact_merge_bytes(run, exact, most / 2 - 1, none));
    assert_int_equal(dpl_exact_merge_bytes(run, exact, 1, none), DPL_USAGE);
    assert_int_equal(exact->sum[0], largest);
    assert_int_equal(exact->sum[1], -largest - 65536);
    assert_int_equal(dpl_exact_units(exact), most);
    dpl_exact_free(exact);
    dpl_run_free(run);
}

/* A table that was released before is the same again, from its first number to its last; what
 * noise alone reaches is what its tail says. */
static void released_tables_come_again(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const double values[3] = {-2.5, 0, 7.25};
    for (int laplace = 0; laplace < 2; laplace++) {
        struct dpl_noised *noised = NULL;
        assert_ok(run, dpl_noised_again(run, values, 3, 16, 4, laplace, &noised));
        assert_int_equal(dpl_noised_count(noised), 3);
        for (size_t i = 0; i < 3; i++) assert_true(dpl_noised_value(noised, i) == values[i]);
        assert_true(dpl_noised_deviation(noised) == 4);
        // 3 exp(-t^2 / 32) = 0.01; 3/2 exp(-t sqrt(2) / 4) = 0.01
        double reach = dpl_noised_reach(noised, 0.01);
        assert_true(fabs(reach - (laplace ? 14.1722 : 13.5101)) < 1e-3);
        dpl_noised_free(noised);
    }
    dpl_run_free(run);
}

/* Every allocation fails once; nothing leaks and nothing is half done. */
static void memory_may_be_short(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_event event = event_of(DPL_EVENT_GAUSSIAN, 10, 1);
    for (long n = 1;; n++) {
        struct dpl_secret secret;
        struct dpl_exact *exact = NULL;
        struct dpl_noised *noised = NULL;
        struct dpl_entry entry = {3, 1};
        struct dpl_stream_id id = {DPL_PURPOSE_COUNTS, 0, 0};
        assert_ok(run, dpl_secret_from_seed(run, 4, &secret));
        dpl_run_fail_allocation(run, n);
        enum dpl_status status =
            dpl_exact_new(run, &(struct dpl_exact_options){10, DPL_NORM_L2, 1, 16}, &exact);
        if (status == DPL_OK) status = dpl_exact_add(run, exact, &entry, 1);
        if (status == DPL_OK)
            status = dpl_gaussian_release(run, &secret, &event, id, &exact, &noised);
        dpl_run_fail_allocation(run, 0);
        dpl_run_begin(run);
        dpl_exact_free(exact);
        dpl_noised_free(noised);
        if (status == DPL_OK) {
            assert_true(n > 6);
            break;
        }
        assert_int_equal(status, DPL_SYSTEM);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensitivity_holds_for_neighbours),
        cmocka_unit_test(a_unit_counts_alone_and_fully),
        cmocka_unit_test(integers_decide),
        cmocka_unit_test(one_entry_is_a_unit),
        cmocka_unit_test(only_the_long_are_scaled),
        cmocka_unit_test(counts_are_scaled_by_their_length),
        cmocka_unit_test(dense_is_sparse),
        cmocka_unit_test(senseless_vectors_are_refused),
        cmocka_unit_test(noise_has_the_events_size),
        cmocka_unit_test(only_what_was_accounted_for),
        cmocka_unit_test(neighbours_differ_by_the_unit_alone),
        cmocka_unit_test(sums_from_elsewhere_are_bounded),
        cmocka_unit_test(released_tables_come_again),
        cmocka_unit_test(memory_may_be_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
