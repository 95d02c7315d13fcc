/* Units, lengths, visit counts, TOP-K, projection: declared sensitivities hold for hostile units,
 * and what follows from the noised vectors agrees with the plain definition. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "base/zone.h"
#include "fit/count.h"
#include "fit/sizes.h"
#include "noise/lattice_inner.h"

enum { PLACES = 16, HOSTILES = 7 };

static struct dpl_grid test_grid(struct dpl_run *run, double cell_m) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = cell_m;
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

static void append(struct dpl_run *run, struct dpl_cleaned *trips, int32_t user, int64_t utc_s,
                   const int32_t *cell, size_t n) {
    assert_ok(run,
              dpl_cleaned_append(
                  run, trips,
                  &(struct dpl_cleaned_trip){
                      .cell = cell, .n_visits = n, .utc_s = utc_s, .user = user, .period = 7}));
    if (user >= 0 && (size_t)user >= trips->n_users) trips->n_users = (size_t)user + 1;
}

/* A random walk's trips of users 0 ... n_users-1. */
static struct dpl_cleaned *random_trips(struct dpl_run *run, const struct dpl_grid *grid, size_t n,
                                        int32_t n_users, uint64_t *random) {
    struct dpl_cleaned *trips;
    int32_t cell[64];
    assert_ok(run, dpl_cleaned_new(run, grid, &trips));
    trips->has_time = true;
    for (size_t i = 0; i < n; i++) {
        size_t length = 2 + test_random(random) % 40;
        for (size_t v = 0; v < length; v++)
            cell[v] = (int32_t)(test_random(random) % (uint64_t)dpl_grid_cells(grid));
        append(run, trips, (int32_t)(test_random(random) % (uint64_t)n_users),
               1740000000 + (int64_t)(test_random(random) % 86400), cell, length);
    }
    return trips;
}

/* ---- neighbours ---- */

/* One more unit, user 9: as bad as it gets. */
static void append_hostile(struct dpl_run *run, struct dpl_cleaned *trips, int which) {
    static int32_t cell[10000];
    int32_t last = dpl_grid_cells(&trips->grid) - 1;
    size_t n_trips = which == 5 ? 20 : which == 6 ? 300 : 1, n = 2;
    for (size_t i = 0; i < 10000; i++) cell[i] = which == 3 ? (int32_t)(i % (size_t)(last + 1)) : 7;
    if (which == 0) n = 1000; // one cell, all day
    if (which == 1) n = 0;
    if (which == 2) n = 1;
    if (which == 3) n = 10000; // the longest
    if (which == 4) cell[0] = 0, cell[1] = last;
    if (which >= 5) n = 60;
    for (size_t i = 0; i < n_trips; i++)
        append(run, trips, 9, 1740000000 + (int64_t)(i * 977), cell, n);
}

static struct dpl_exact *count(struct dpl_run *run, const struct dpl_cleaned *trips,
                               enum dpl_unit unit, int64_t most, int32_t length_max,
                               dpl_counting *how, size_t n, double sensitivity) {
    struct dpl_parts parts;
    struct dpl_exact *exact;
    assert_ok(run, dpl_parts_make(run, trips, unit, most, 1, &parts));
    const struct dpl_cut cut = {.length_max = length_max};
    assert_ok(run, dpl_exact_new(run,
                                 &(struct dpl_exact_options){.n = n,
                                                             .norm = DPL_NORM_L2,
                                                             .sensitivity = sensitivity,
                                                             .places = PLACES},
                                 &exact));
    assert_ok(run, how(run, &cut, &parts.part[0], exact));
    dpl_parts_free(&parts);
    return exact;
}

/* The distance of two exact vectors, in their units, by plain arithmetic. */
static double distance(const struct dpl_exact *a, const struct dpl_exact *b) {
    long double sum = 0;
    for (size_t i = 0; i < a->options.n; i++) {
        long double step = (long double)(a->sum[i] - b->sum[i]);
        sum += step * step;
    }
    return (double)(sqrtl(sum) / (1 << PLACES));
}

static void one_unit_moves_no_vector_beyond_its_sensitivity(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = test_grid(run, 1000);
    uint64_t random = 11;
    for (int round = 0; round < (int)test_soak(3) * HOSTILES; round++)
        for (int user = 0; user < 2; user++) {
            uint64_t before = random;
            struct dpl_cleaned *d = random_trips(run, &grid, 50, 5, &random);
            random = before;
            struct dpl_cleaned *e = random_trips(run, &grid, 50, 5, &random);
            append_hostile(run, e, user ? round % HOSTILES : round % 5);
            enum dpl_unit unit = user ? DPL_UNIT_USER : DPL_UNIT_TRIP;
            int64_t m = user ? 20 : 1;
            int32_t length_max = (int32_t)(2 + test_random(&random) % 50);
            const struct {
                dpl_counting *how;
                size_t n;
                double sensitivity;
            } VECTORS[] = {
                {dpl_count_lengths, DPL_LENGTH_BINS, sqrt((double)m)},
                {dpl_count_trips, 1, (double)m},
                {dpl_count_visits, (size_t)dpl_grid_cells(&grid), (double)m * length_max}};
            for (size_t i = 0; i < 3; i++) {
                struct dpl_exact *x = count(run, d, unit, m, length_max, VECTORS[i].how,
                                            VECTORS[i].n, VECTORS[i].sensitivity);
                struct dpl_exact *y = count(run, e, unit, m, length_max, VECTORS[i].how,
                                            VECTORS[i].n, VECTORS[i].sensitivity);
                double moved = distance(x, y);
                if (moved > VECTORS[i].sensitivity * (1 + 1e-12))
                    fail_msg("vector %zu moved by %g > %g (hostile %d)", i, moved,
                             VECTORS[i].sensitivity, round % HOSTILES);
                if (i == 2 && !user && round % 5 == 0)
                    assert_near(moved, length_max, 1e-9); // one cell all day reaches the bound
                dpl_exact_free(x);
                dpl_exact_free(y);
            }
            dpl_cleaned_free(d);
            dpl_cleaned_free(e);
        }
    dpl_run_free(run);
}

/* ---- units ---- */

static void keeps_trips_by_their_own_content(void **state) {
    (void)state;
    enum { MOST = 4, USERS = 6 };
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = test_grid(run, 1000);
    uint64_t random = 5;
    struct dpl_cleaned *all = random_trips(run, &grid, 100, USERS, &random), *one;
    struct dpl_kept kept, alone;
    assert_ok(run, dpl_kept_make(run, all, DPL_UNIT_USER, MOST, &kept));
    assert_int_equal(kept.n_units, USERS);
    for (size_t u = 0; u < USERS; u++) {
        // The same user without the others, trips in reverse order: the same trips are kept.
        assert_ok(run, dpl_cleaned_new(run, &grid, &one));
        for (size_t i = all->n_trips; i-- > 0;)
            if (all->user[i] == (int32_t)u)
                append(run, one, 0, all->utc_s[i], all->cell + all->start[i],
                       all->start[i + 1] - all->start[i]);
        assert_ok(run, dpl_kept_make(run, one, DPL_UNIT_USER, MOST, &alone));
        assert_int_equal(alone.n_units, 1);
        assert_int_equal(alone.n_trips, MOST);
        assert_int_equal(kept.unit_start[u + 1] - kept.unit_start[u], MOST);
        for (size_t i = 0; i < MOST; i++) {
            size_t a = kept.trip[kept.unit_start[u] + i], b = alone.trip[i];
            assert_int_equal(all->user[a], u);
            assert_int_equal(all->utc_s[a], one->utc_s[b]);
            assert_memory_equal(all->cell + all->start[a], one->cell + one->start[b],
                                (one->start[b + 1] - one->start[b]) * sizeof(int32_t));
        }
        dpl_kept_free(&alone);
        dpl_cleaned_free(one);
    }
    dpl_kept_free(&kept);
    append(run, all, -1, 0, (int32_t[]){1, 2}, 2);
    assert_ok(run, dpl_kept_make(run, all, DPL_UNIT_USER, MOST, &kept)); // that trip is dropped
    assert_int_equal(kept.n_units, USERS);
    assert_int_equal(kept.n_no_user, 1);
    for (size_t i = 0; i < kept.n_trips; i++) assert_true(all->user[kept.trip[i]] >= 0);
    dpl_kept_free(&kept);
    assert_ok(run, dpl_kept_make(run, all, DPL_UNIT_TRIP, 1, &kept));
    assert_int_equal(kept.n_units, 101);
    dpl_kept_free(&kept);
    dpl_cleaned_free(all);
    dpl_run_free(run);
}

/* ---- lengths ---- */

static void length_bins_cover_all_lengths(void **state) {
    (void)state;
    assert_true(DPL_LENGTH_BINS < 50);
    for (size_t n = 2; n <= 32; n++) assert_int_equal(dpl_length_bin_top(dpl_length_bin(n)), n);
    for (size_t n = 3; n <= 3000; n++) {
        size_t bin = dpl_length_bin(n), before = dpl_length_bin(n - 1);
        assert_true(bin == before || bin == before + 1);
        assert_true((size_t)dpl_length_bin_top(bin) >= n || n > 1440);
        if (bin > 0 && n <= 1440) assert_true((size_t)dpl_length_bin_top(bin - 1) < n);
    }
    assert_int_equal(dpl_length_bin(1440), DPL_LENGTH_BINS - 2);
    assert_int_equal(dpl_length_bin(1441), DPL_LENGTH_BINS - 1);
    assert_int_equal(dpl_length_bin_top(DPL_LENGTH_BINS - 1), 1440);
}

static void fitted_counts_are_the_nearest(void **state) {
    (void)state;
    uint64_t random = 3;
    for (size_t round = 0; round < test_soak(200); round++) {
        double noisy[12], fitted[12], total = 0, sum = 0, lowered = -1;
        for (size_t i = 0; i < 12; i++)
            total += fitted[i] = noisy[i] = 20 * test_uniform(&random) - 8;
        dpl_fit_counts(fitted, 12);
        for (size_t i = 0; i < 12; i++) sum += fitted[i];
        if (total <= 0) {
            assert_near(sum, 0, 0);
            continue;
        }
        assert_near(sum, total, 1e-9);
        for (size_t i = 0; i < 12;
             i++) // optimality: all positive ones are lowered alike, the others by no more
            if (fitted[i] > 0) lowered = noisy[i] - fitted[i];
        for (size_t i = 0; i < 12; i++) {
            assert_true(fitted[i] >= 0);
            if (fitted[i] > 0)
                assert_near(noisy[i] - fitted[i], lowered, 1e-9);
            else
                assert_true(noisy[i] <= lowered + 1e-9);
        }
    }
}

/* A noised vector without noise. */
static struct dpl_noised *bare(struct dpl_run *run, const double *values, size_t n) {
    struct dpl_exact *exact;
    struct dpl_noised *noised;
    struct dpl_event event = {
        .name = "test", .kind = DPL_EVENT_GAUSSIAN, .sensitivity = 1 << 19, .rate = 1, .steps = 1};
    assert_ok(run, dpl_exact_new(run,
                                 &(struct dpl_exact_options){.n = n,
                                                             .norm = DPL_NORM_L2,
                                                             .sensitivity = event.sensitivity,
                                                             .places = PLACES},
                                 &exact));
    assert_ok(run, dpl_exact_add_dense(run, exact, values));
    event.sigma = 1;
    assert_int_equal(dpl_bare_release(run, &event, &exact, &noised),
                     DPL_REFUSED); // an event with noise is not released without
    dpl_run_begin(run);
    event.sigma = 0;
    assert_ok(run, dpl_bare_release(run, &event, &exact, &noised));
    assert_null(exact);
    return noised;
}

static void longest_trip_is_a_quantile(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    double count[DPL_LENGTH_BINS] = {0};
    count[dpl_length_bin(10)] = 940;
    count[dpl_length_bin(25)] = 20;
    count[dpl_length_bin(1000)] = 40;
    struct dpl_noised *noised = bare(run, count, DPL_LENGTH_BINS);
    assert_int_equal(dpl_length_max(run, noised), 25); // 94 % up to 10, 96 % up to 25
    dpl_noised_free(noised);
    count[dpl_length_bin(25)] = 0;
    count[dpl_length_bin(10)] = 600;
    noised = bare(run, count, DPL_LENGTH_BINS);
    assert_int_equal(dpl_length_max(run, noised), dpl_length_bin_top(dpl_length_bin(1000)));
    dpl_noised_free(noised);
    memset(count, 0, sizeof count);
    noised = bare(run, count, DPL_LENGTH_BINS);
    assert_int_equal(dpl_length_max(run, noised), 32); // nothing known
    dpl_noised_free(noised);
    dpl_run_free(run);
}

/* ---- TOP-K ---- */

static int falling(const void *a, const void *b) {
    const double *x = a, *y = b;
    return *x < *y ? 1 : *x > *y ? -1 : 0;
}

static void chooses_by_coverage_and_projects_to_the_nearest(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t random = 21;
    for (int round = 0; round < (int)test_soak(6); round++) {
        struct dpl_grid grid = test_grid(run, round % 2 ? 300 : 700);
        size_t n = (size_t)dpl_grid_cells(&grid);
        double *count = calloc(n, sizeof *count), *sorted = calloc(n, sizeof *sorted),
               coverage = 0.5 + 0.49 * test_uniform(&random), total = 0, sum = 0;
        struct dpl_topk topk;
        size_t k = 0;
        for (size_t i = 0; i < n; i++)
            total += count[i] =
                test_random(&random) % 30 ? 0 : (double)(1 + test_random(&random) % 100000);
        struct dpl_noised *noised = bare(run, count, n);
        assert_ok(run, dpl_topk_choose(run, &grid, noised, coverage, &topk));
        memcpy(sorted, count, n * sizeof *count);
        qsort(sorted, n, sizeof *sorted, falling);
        while (sum < coverage * total) sum += sorted[k++];
        assert_int_equal(topk.n_cells, k);
        for (size_t i = 0; i < k; i++)
            assert_true(count[topk.cell[i]] >= sorted[k - 1] &&
                        (i == 0 || topk.cell[i] > topk.cell[i - 1]));
        for (size_t cell = 0; cell < n; cell++) {
            double best = INFINITY;
            for (size_t i = 0; i < k; i++)
                best = fmin(best, dpl_grid_distance_m(&grid, (int32_t)cell, topk.cell[i]));
            if (best > 1000)
                assert_int_equal(topk.nearest[cell], -1);
            else
                assert_near(
                    dpl_grid_distance_m(&grid, (int32_t)cell, topk.cell[topk.nearest[cell]]), best,
                    1e-2);
        }
        dpl_topk_free(&topk);
        dpl_noised_free(noised);
        free(count);
        free(sorted);
    }
    dpl_run_free(run);
}

static void says_k_when_there_are_too_few(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = test_grid(run, 500);
    size_t n = (size_t)dpl_grid_cells(&grid);
    struct dpl_topk topk;
    struct dpl_secret secret;
    for (int busy = 0; busy < 3;
         busy++) { // pure noise stays below the threshold; cells far above it do not
        struct dpl_exact *exact;
        struct dpl_noised *noised;
        struct dpl_event event = {.name = "topk",
                                  .kind = DPL_EVENT_GAUSSIAN,
                                  .sigma = 20,
                                  .sensitivity = 50,
                                  .rate = 1,
                                  .steps = 1};
        assert_ok(run, dpl_exact_new(
                           run,
                           &(struct dpl_exact_options){
                               .n = n, .norm = DPL_NORM_L2, .sensitivity = 50, .places = PLACES},
                           &exact));
        for (int i = 0; i < busy; i++)
            for (int unit = 0; unit < 1000; unit++)
                assert_ok(
                    run,
                    dpl_exact_add(run, exact,
                                  &(struct dpl_entry){.index = (size_t)(700 + i), .value = 40}, 1));
        assert_ok(run, dpl_secret_from_seed(run, 4, &secret));
        assert_ok(
            run, dpl_gaussian_release(run, &secret, &event,
                                      (struct dpl_stream_id){DPL_PURPOSE_COUNTS, (uint64_t)busy, 0},
                                      &exact, &noised));
        dpl_run_begin(run);
        enum dpl_status status = dpl_topk_choose(run, &grid, noised, 0.95, &topk);
        assert_int_equal(status, busy < 2 ? DPL_BAD_DATA : DPL_OK);
        if (busy < 2) assert_non_null(strstr(dpl_run_message(run), busy ? "K = 1" : "K = 0"));
        if (busy == 2) {
            assert_int_equal(topk.n_cells, 2);
            assert_int_equal(topk.cell[0], 700);
            assert_int_equal(topk.cell[1], 701);
            dpl_topk_free(&topk);
        }
        dpl_noised_free(noised);
    }
    dpl_run_free(run);
}

/* 300 cells of three to eight times the noise among empty ones. The strict rule misses some; the
 * rated one takes more, and of what it takes about the given part is empty. */
static void rated_choice_holds_empty_cells_to_their_part(void **state) {
    (void)state;
    enum { BUSY = 300 };
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = test_grid(run, 300);
    size_t n = (size_t)dpl_grid_cells(&grid), empty = 0;
    struct dpl_exact *exact;
    struct dpl_noised *noised;
    struct dpl_secret secret;
    struct dpl_topk strict, rated;
    struct dpl_event event = {.name = "topk",
                              .kind = DPL_EVENT_GAUSSIAN,
                              .sigma = 10,
                              .sensitivity = 1,
                              .rate = 1,
                              .steps = 1};
    assert_true(n > 2000);
    assert_ok(run,
              dpl_exact_new(run,
                            &(struct dpl_exact_options){
                                .n = n, .norm = DPL_NORM_L2, .sensitivity = 1, .places = PLACES},
                            &exact));
    for (size_t i = 0; i < BUSY; i++)
        for (size_t unit = 0; unit < 30 + i / 6; unit++)
            assert_ok(
                run, dpl_exact_add(run, exact, &(struct dpl_entry){.index = 7 * i, .value = 1}, 1));
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_gaussian_release(run, &secret, &event,
                                        (struct dpl_stream_id){DPL_PURPOSE_COUNTS, 0, 0}, &exact,
                                        &noised));
    assert_ok(run, dpl_topk_choose_rated(run, &grid, noised, 1, 0, &strict));
    assert_ok(run, dpl_topk_choose_rated(run, &grid, noised, 1, 0.05, &rated));
    for (int32_t i = 0; i < rated.n_cells; i++)
        empty += rated.cell[i] % 7 != 0 || rated.cell[i] >= 7 * BUSY;
    assert_true(rated.n_cells > strict.n_cells + 20);
    assert_true(empty >= 1 && (double)empty <= 0.05 * (double)rated.n_cells + 12);
    dpl_topk_free(&strict), dpl_topk_free(&rated);
    dpl_noised_free(noised);
    dpl_run_free(run);
}

/* ---- reduced trips ---- */

static void truncates_first_then_projects(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = test_grid(run, 500);
    struct dpl_cleaned *trips;
    struct dpl_kept kept;
    struct dpl_reduced reduced;
    struct dpl_topk topk;
    size_t n = (size_t)dpl_grid_cells(&grid);
    double *count = calloc(n, sizeof *count);
    count[100] = count[101] = count[600] = 10;
    struct dpl_noised *noised = bare(run, count, n);
    assert_ok(run, dpl_topk_choose(run, &grid, noised, 1, &topk));
    assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
    trips->has_time = true;
    // 12:57 in Berlin: of six visits three are before 13:00, of the whole trip most are after.
    const int64_t start_s = 1741262220;
    append(run, trips, 0, start_s, (int32_t[]){100, 100, 101, 99, 100, 600, 600, 600}, 8);
    append(run, trips, 0, start_s, (int32_t[]){100, 101, 1300, 100}, 4); // a visit far from all
    append(run, trips, 1, start_s, (int32_t[]){100, 101, 100, 100, 100, 1300},
           6); // the same beyond the cut: kept
    append(run, trips, 2, start_s, (int32_t[]){1300, 1300}, 2);
    trips->period[0] = 13;
    assert_ok(run, dpl_kept_make(run, trips, DPL_UNIT_USER, 20, &kept));
    assert_ok(run, dpl_reduce(run, trips, &kept, 5, &topk, &reduced));
    assert_int_equal(reduced.n_trips, 2);
    assert_int_equal(reduced.units.n_units, 3);
    assert_int_equal(reduced.unit_start[1], 1);
    assert_int_equal(reduced.unit_start[2], 2);
    assert_int_equal(reduced.unit_start[3], 2);
    assert_int_equal(reduced.trip_start[1], 5);
    assert_memory_equal(reduced.cell, ((int32_t[]){0, 0, 1, 0, 0, 0, 1, 0, 0, 0}),
                        10 * sizeof(int32_t));
    struct dpl_twogram last = dpl_unit_twogram(&reduced.units, 0, 3);
    assert_int_equal(last.destination, 0); // not 600's: the trip ends where it was cut
    struct dpl_zone *zone;
    assert_ok(run, dpl_zone_open(run, grid.area.zone, &zone));
    assert_int_equal(reduced.period[0], dpl_zone_period(zone, &grid.area, start_s, 5));
    assert_int_equal(reduced.period[0], 12);
    dpl_zone_free(zone);
    dpl_reduced_free(&reduced);
    dpl_kept_free(&kept);
    dpl_cleaned_free(trips);
    dpl_topk_free(&topk);
    dpl_noised_free(noised);
    free(count);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_unit_moves_no_vector_beyond_its_sensitivity),
        cmocka_unit_test(keeps_trips_by_their_own_content),
        cmocka_unit_test(length_bins_cover_all_lengths),
        cmocka_unit_test(fitted_counts_are_the_nearest),
        cmocka_unit_test(longest_trip_is_a_quantile),
        cmocka_unit_test(chooses_by_coverage_and_projects_to_the_nearest),
        cmocka_unit_test(says_k_when_there_are_too_few),
        cmocka_unit_test(rated_choice_holds_empty_cells_to_their_part),
        cmocka_unit_test(truncates_first_then_projects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
