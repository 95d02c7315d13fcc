/* The measures against cases worked by hand (those of docs/EVALUATION.md) and against slow, plain
 * oracles; then whole evaluations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleaned.h"
#include "evaluate/ready.h"
#include "support.h"

/* ---- small cities ---- */

static struct dpl_grid test_grid(struct dpl_run *run, int periods) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.periods = periods;
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

static struct dpl_cleaned *new_trips(struct dpl_run *run, int periods) {
    struct dpl_grid grid = test_grid(run, periods);
    struct dpl_cleaned *trips = NULL;
    assert_ok(run, dpl_cleaned_new(run, &grid, &trips));
    return trips;
}

/* Cells as letters: 'a' is cell 0, 'b' its eastern neighbour ...; capitals are one row north of the
 * small letters. */
static void add_word(struct dpl_run *run, struct dpl_cleaned *trips, int period, const char *word) {
    int32_t cell[64];
    size_t n = strlen(word);
    for (size_t i = 0; i < n; i++)
        cell[i] = word[i] >= 'a' ? word[i] - 'a' : trips->grid.columns + word[i] - 'A';
    assert_ok(
        run, dpl_cleaned_append(run, trips,
                                &(struct dpl_cleaned_trip){cell, n, 0, -1, (uint8_t)period, NULL}));
}

static struct dpl_cleaned *words(struct dpl_run *run, const char *const *word) {
    struct dpl_cleaned *trips = new_trips(run, 24);
    for (; *word; word++) add_word(run, trips, 8, *word);
    return trips;
}

/* Random walks inside a square of `side` cells whose south-west corner is (column, row). */
static struct dpl_cleaned *random_city(struct dpl_run *run, size_t n, int side, int column, int row,
                                       uint64_t seed) {
    struct dpl_cleaned *trips = new_trips(run, 24);
    for (size_t i = 0; i < n; i++) {
        int32_t cell[32];
        size_t length = 2 + test_random(&seed) % 8;
        int64_t x = (int64_t)(pow(test_uniform(&seed), 2) * side),
                y = (int64_t)(pow(test_uniform(&seed), 2) * side);
        for (size_t v = 0; v < length; v++) {
            cell[v] = (int32_t)((row + y) * trips->grid.columns + column + x);
            x = llabs(x + (int64_t)(test_random(&seed) % 3) - 1) % side;
            y = llabs(y + (int64_t)(test_random(&seed) % 3) - 1) % side;
        }
        uint8_t period = (uint8_t)(test_random(&seed) % 24);
        assert_ok(
            run, dpl_cleaned_append(run, trips,
                                    &(struct dpl_cleaned_trip){cell, length, 0, -1, period, NULL}));
    }
    return trips;
}

/* Two sets of trips, whole, on all the cells they visit. */
struct pair_of_sets {
    struct dpl_cells cells;
    struct dpl_index same;
    struct dpl_ready ready[2];
    uint32_t *order[2];
    struct dpl_part a, b;
};

static void make_pair(struct dpl_run *run, const struct dpl_cleaned *a, const struct dpl_cleaned *b,
                      struct pair_of_sets *p) {
    *p = (struct pair_of_sets){0};
    const struct dpl_cleaned *const set[2] = {a, b};
    int32_t *cell = dpl_alloc(run, a->n_visits + b->n_visits, sizeof *cell);
    memcpy(cell, a->cell, a->n_visits * sizeof *cell);
    memcpy(cell + a->n_visits, b->cell, b->n_visits * sizeof *cell);
    assert_ok(run, dpl_cells_given(run, &a->grid, cell, a->n_visits + b->n_visits, &p->cells));
    dpl_free(cell);
    for (size_t s = 0; s < 2; s++) {
        assert_ok(run, dpl_ready_make(run, set[s], &p->cells, INFINITY, &p->same, &p->ready[s]));
        p->order[s] = dpl_alloc(run, set[s]->n_trips, sizeof *p->order[s]);
        for (size_t i = 0; i < set[s]->n_trips; i++) p->order[s][i] = (uint32_t)i;
    }
    p->a = (struct dpl_part){&p->ready[0], p->order[0], a->n_trips};
    p->b = (struct dpl_part){&p->ready[1], p->order[1], b->n_trips};
}

static void free_pair(struct pair_of_sets *p) {
    for (size_t s = 0; s < 2; s++) {
        dpl_ready_free(&p->ready[s]);
        dpl_free(p->order[s]);
    }
    dpl_index_free(&p->same);
    dpl_cells_free(&p->cells);
}

static void pair_of_words(struct dpl_run *run, const char *const *a, const char *const *b,
                          struct pair_of_sets *p) {
    struct dpl_cleaned *set_a = words(run, a), *set_b = words(run, b);
    make_pair(run, set_a, set_b, p);
    dpl_cleaned_free(set_a);
    dpl_cleaned_free(set_b);
}

/* ---- the examples of the manual ---- */

static void trip_size_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct pair_of_sets p;
    double divergence;
    pair_of_words(run, (const char *const[]){"ab", "ab", "abc", "abc", NULL},
                  (const char *const[]){"ab", "bc", "cd", "de", NULL}, &p);
    assert_ok(run, dpl_measure_lengths(run, &p.a, &p.b, &divergence));
    assert_near(divergence, 0.3112781244591328, 1e-12);
    assert_near(sqrt(divergence), 0.557923045284, 1e-9);
    double back;
    assert_ok(run, dpl_measure_lengths(run, &p.b, &p.a, &back));
    assert_near(back, divergence, 1e-15);
    free_pair(&p);
    assert_near(dpl_jsd((uint64_t[]){1, 1}, 2, (uint64_t[]){2, 3}, 2), 1, 1e-12);
    assert_near(dpl_jsd((uint64_t[]){1, 2, 2}, 3, (uint64_t[]){2, 1, 2, 2, 2, 1}, 6), 0, 1e-12);
    assert_near(dpl_jsd(NULL, 0, (uint64_t[]){2}, 1), 1, 0);
    dpl_run_free(run);
}

static void patterns_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct pair_of_sets p;
    double common[DPL_N_TOPS];
    pair_of_words(run, (const char *const[]){"aabc", "abbc", "abcd", NULL},
                  (const char *const[]){"abcabc", "de", NULL}, &p);
    static uint32_t support[64];
    static struct dpl_top top;
    dpl_patterns_top(&p.ready[0].patterns, p.order[0], 3, support, &top);
    assert_int_equal(top.n, 6); // ab bc abc in all three; cd bcd abcd in one
    for (size_t i = 0; i < 3; i++) assert_int_equal(top.support[i], 3);
    for (size_t i = 3; i < 6; i++) assert_int_equal(top.support[i], 1);
    dpl_patterns_top(&p.ready[1].patterns, p.order[1], 2, support, &top);
    assert_int_equal(top.n, 12); // of abcabc: ab bc ca, abc bca cab, abca bcab cabc, abcab bcabc,
                                 // once each although ab is there twice; de
    for (size_t i = 0; i < top.n; i++) assert_int_equal(top.support[i], 1);
    assert_ok(run, dpl_measure_patterns(run, &p.a, &p.b, common));
    assert_near(common[0], 3 / 10.0, 1e-12); // ab bc abc: all three rank among b's first ten
    free_pair(&p);
    dpl_run_free(run);
}

static void sets_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct pair_of_sets p;
    double common[DPL_N_TOPS];
    // a: {a} 3 {b} 3 {ab} 3 {c} 2 {ac} {bc} {abc} 2: seven sets. b, the other way round: {a} {b}
    // {ab}. Order does not matter, so three are common.
    pair_of_words(run, (const char *const[]){"abc", "cba", "ab", NULL},
                  (const char *const[]){"ba", "bab", NULL}, &p);
    static struct dpl_top top;
    assert_ok(run, dpl_sets_top(run, &p.ready[0].trips, p.order[0], 3, 0.05, &top));
    assert_int_equal(top.n, 7);
    assert_int_equal(top.support[2], 3);
    assert_int_equal(top.support[3], 2);
    assert_ok(run, dpl_sets_top(run, &p.ready[0].trips, p.order[0], 3, 0.9, &top));
    assert_int_equal(top.n, 3);
    assert_ok(run, dpl_measure_sets(run, &p.a, &p.b, common));
    assert_near(common[0], 3 / 10.0, 1e-12);
    assert_near(common[4], 3 / 200.0, 1e-12);
    free_pair(&p);
    dpl_run_free(run);
}

static void density_and_flows_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct pair_of_sets p;
    double emd_m;
    pair_of_words(run, (const char *const[]){"aaab", NULL}, (const char *const[]){"abbb", NULL},
                  &p);
    assert_ok(run, dpl_measure_density(run, &p.a, &p.b, &emd_m));
    assert_near(emd_m, 250, 1e-9); // half the visits move by one cell of 500 m
    free_pair(&p);
    pair_of_words(run, (const char *const[]){"axb", "ab", NULL},
                  (const char *const[]){"ab", "abc", NULL}, &p);
    assert_ok(run, dpl_measure_od(run, &p.a, &p.b, &emd_m));
    assert_near(emd_m, 250, 1e-9); // half the trips end one cell further
    free_pair(&p);
    dpl_run_free(run);
}

static void routes_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct pair_of_sets p;
    struct dpl_route route;
    // a -> c three times by b, in b's set by B, one cell north; c -> e once, the same way.
    pair_of_words(run, (const char *const[]){"abc", "abc", "abc", "cde", NULL},
                  (const char *const[]){"aBc", "cde", "cde", NULL}, &p);
    assert_ok(run, dpl_measure_route(run, &p.a, &p.b, &route));
    assert_near(route.weighted_m, 375, 1e-9); // (3 * 500 + 1 * 0) / 4
    assert_near(route.plain_m, 250, 1e-9);    // (500 + 0) / 2
    assert_near(route.held_share, 1, 0);
    free_pair(&p);
    // Frequent pairs end at 80 %: four of five trips go a -> c, so c -> e is not asked for. A jump
    // stands half at its source, half at its end.
    pair_of_words(run, (const char *const[]){"abc", "abc", "abc", "abc", "cde", NULL},
                  (const char *const[]){"ac", "cde", NULL}, &p);
    assert_ok(run, dpl_measure_route(run, &p.a, &p.b, &route));
    assert_near(route.weighted_m, 500, 1e-9);
    assert_near(route.plain_m, 500, 1e-9);
    free_pair(&p);
    pair_of_words(run, (const char *const[]){"abc", "de", NULL}, (const char *const[]){"ab", NULL},
                  &p);
    assert_ok(run, dpl_measure_route(run, &p.a, &p.b, &route));
    assert_true(isnan(route.weighted_m) && isnan(route.plain_m));
    assert_near(route.held_share, 0, 0);
    free_pair(&p);
    dpl_run_free(run);
}

static void sameness_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct pair_of_sets p;
    struct dpl_sameness sameness;
    pair_of_words(run, (const char *const[]){"abc", "abbc", "de", "de", NULL},
                  (const char *const[]){"abc", "abc", "de", "ed", NULL}, &p);
    assert_ok(run, dpl_measure_sameness(run, &p.a, &p.b, p.same.count, &sameness));
    assert_near(sameness.verbatim_share, 0.75,
                0); // abc, de, de; abbc stays longer and is another trip
    assert_near(sameness.distinct_share, 0.75, 0);
    free_pair(&p);
    dpl_run_free(run);
}

/* ---- laws ---- */

static void identity_is_zero_and_one(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 400, 10, 2, 3, 1);
    struct pair_of_sets p;
    double value, common[DPL_N_TOPS];
    struct dpl_route route;
    make_pair(run, city, city, &p);
    assert_ok(run, dpl_measure_lengths(run, &p.a, &p.b, &value));
    assert_near(value, 0, 0);
    assert_ok(run, dpl_measure_hours(run, &p.a, &p.b, &value));
    assert_near(value, 0, 0);
    assert_ok(run, dpl_measure_density(run, &p.a, &p.b, &value));
    assert_near(value, 0, 0);
    assert_ok(run, dpl_measure_od(run, &p.a, &p.b, &value));
    assert_near(value, 0, 0);
    assert_ok(run, dpl_measure_route(run, &p.a, &p.b, &route));
    assert_near(route.weighted_m, 0, 0);
    assert_near(route.plain_m, 0, 0);
    assert_ok(run, dpl_measure_patterns(run, &p.a, &p.b, common));
    for (size_t i = 0; i < DPL_N_TOPS; i++) assert_near(common[i], 1, 0);
    assert_ok(run, dpl_measure_sets(run, &p.a, &p.b, common));
    assert_near(common[0], 1, 0);
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_run_free(run);
}

static void measures_are_symmetric(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 300, 10, 2, 3, 1),
                       *other = random_city(run, 200, 12, 4, 3, 2);
    struct pair_of_sets p;
    double there, back, common[DPL_N_TOPS], common_back[DPL_N_TOPS];
    make_pair(run, city, other, &p);
    assert_ok(run, dpl_measure_density(run, &p.a, &p.b, &there));
    assert_ok(run, dpl_measure_density(run, &p.b, &p.a, &back));
    assert_near(there, back, 1e-3);
    assert_true(there > 100);
    assert_ok(run, dpl_measure_od(run, &p.a, &p.b, &there));
    assert_ok(run, dpl_measure_od(run, &p.b, &p.a, &back));
    assert_near(there, back, 1e-3);
    assert_ok(run, dpl_measure_patterns(run, &p.a, &p.b, common));
    assert_ok(run, dpl_measure_patterns(run, &p.b, &p.a, common_back));
    for (size_t i = 0; i < DPL_N_TOPS; i++) assert_near(common[i], common_back[i], 0);
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_cleaned_free(other);
    dpl_run_free(run);
}

static void a_city_shifted_by_one_cell_is_one_cell_away(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 500, 12, 2, 3, 5),
                       *shifted = random_city(run, 500, 12, 3, 3, 5);
    struct pair_of_sets p;
    double emd_m;
    make_pair(run, city, shifted, &p);
    assert_ok(run, dpl_measure_density(run, &p.a, &p.b, &emd_m));
    assert_near(emd_m, 500, 1e-9);
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_cleaned_free(shifted);
    dpl_run_free(run);
}

/* ---- oracles for patterns, sets and the nearest cell ---- */

static size_t support_of_sequence(const struct dpl_cleaned *trips, const int32_t *wanted,
                                  size_t n_wanted) {
    size_t support = 0;
    for (size_t i = 0; i < trips->n_trips; i++) {
        int32_t collapsed[64];
        size_t n = 0;
        bool found = false;
        for (size_t v = trips->start[i]; v < trips->start[i + 1]; v++)
            if (!n || collapsed[n - 1] != trips->cell[v]) collapsed[n++] = trips->cell[v];
        for (size_t at = 0; at + n_wanted <= n; at++)
            found |= !memcmp(collapsed + at, wanted, n_wanted * sizeof *wanted);
        support += found;
    }
    return support;
}

static int descending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* Supports of all sequences over 3 x 3 cells, tried one by one. */
static void pattern_supports_equal_brute_force(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 60, 3, 1, 1, 7);
    struct pair_of_sets p;
    make_pair(run, city, city, &p);
    static uint32_t all[100000];
    size_t n = 0, power = 9;
    for (size_t length = 2; length <= 5; length++) {
        power *= 9;
        for (size_t code = 0; code < power; code++) {
            int32_t cell[5];
            bool distinct = true;
            for (size_t i = 0, rest = code; i < length; i++, rest /= 9) {
                cell[i] = p.cells.grid_cell[rest % 9];
                distinct &= !i || cell[i] != cell[i - 1];
            }
            size_t support = distinct ? support_of_sequence(city, cell, length) : 0;
            if (support) all[n++] = (uint32_t)support;
        }
    }
    qsort(all, n, sizeof *all, descending);
    uint32_t *support = dpl_alloc(run, p.ready[0].patterns.n_patterns, sizeof *support);
    static struct dpl_top top;
    assert_int_equal(p.cells.n_cells, 9);
    assert_int_equal(p.ready[0].patterns.n_patterns, n);
    dpl_patterns_top(&p.ready[0].patterns, p.order[0], city->n_trips, support, &top);
    assert_int_equal(top.n, n < 200 ? n : 200);
    assert_memory_equal(top.support, all, top.n * sizeof *all);
    for (size_t i = 0; i < n; i++) assert_int_equal(support[i], 0);
    dpl_free(support);
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_run_free(run);
}

/* Rare patterns are skipped when a part is counted; counting them all must give the same list. */
static void top_patterns_of_a_part_equal_a_full_count(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 1500, 5, 1, 1, 8);
    struct pair_of_sets p;
    make_pair(run, city, city, &p);
    const struct dpl_patterns *patterns = &p.ready[0].patterns;
    uint32_t *support = dpl_alloc(run, patterns->n_patterns, sizeof *support),
             *all = dpl_alloc(run, patterns->n_patterns, sizeof *all);
    for (uint64_t seed = 0; seed < test_soak(20); seed++) {
        static struct dpl_top top;
        size_t n = 60 + 40 * seed % 800;
        dpl_shuffle(p.order[0], city->n_trips, n, seed, 0);
        if (seed % 2) { // a part unlike the whole: trips that keep to one corner, where the
                        // patterns of all are rare
            n = 0;
            for (uint32_t i = 0; i < city->n_trips; i++)
                if (p.ready[0].cell[p.ready[0].start[i]] >= 12 + (int32_t)(seed / 2))
                    p.order[0][n++] = i;
        }
        memset(all, 0, patterns->n_patterns * sizeof *all);
        for (size_t i = 0; i < n; i++)
            for (size_t at = patterns->start[p.order[0][i]];
                 at < patterns->start[p.order[0][i] + 1]; at++)
                all[patterns->pattern[at]]++;
        qsort(all, patterns->n_patterns, sizeof *all, descending);
        dpl_patterns_top(patterns, p.order[0], n, support, &top);
        assert_true(top.n == 200 || all[top.n] == 0);
        assert_memory_equal(top.support, all, top.n * sizeof *all);
    }
    dpl_free(support);
    dpl_free(all);
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_run_free(run);
}

/* 210 patterns have support 4, half of it in the part; one has 3, all of it in the part, and so is
 * the first there. */
static void a_pattern_rare_in_all_may_lead_in_a_part(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *trips = new_trips(run, 24);
    for (int32_t i = 0; i < 4 * 210 + 3; i++) {
        int32_t pair = i < 4 * 210 ? i / 4 : 300;
        assert_ok(run,
                  dpl_cleaned_append(run, trips,
                                     &(struct dpl_cleaned_trip){(const int32_t[]){pair, pair + 1},
                                                                2, 0, -1, 0, NULL}));
    }
    struct pair_of_sets p;
    make_pair(run, trips, trips, &p);
    size_t n = 0;
    for (uint32_t i = 0; i < 4 * 210 + 3; i++)
        if (i % 2 || i >= 4 * 210) p.order[0][n++] = i;
    static uint32_t support[256];
    static struct dpl_top top;
    dpl_patterns_top(&p.ready[0].patterns, p.order[0], n, support, &top);
    assert_int_equal(top.support[0], 3);
    assert_int_equal(top.support[199], 2);
    free_pair(&p);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
}

/* A half holds each of its trips once, grouped by period; a limit per period keeps the first drawn.
 */
static void sides_hold_the_trips_drawn(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 500, 5, 1, 1, 13);
    struct pair_of_sets p;
    make_pair(run, city, city, &p);
    struct dpl_side side;
    assert_ok(run, dpl_side_new(run, &p.ready[0], 300, &side));
    dpl_shuffle(p.order[0], 500, 500, 1, 0);
    dpl_side_fill(&side, p.order[0], 300, SIZE_MAX);
    assert_int_equal(side.n, 300);
    bool seen[500] = {false};
    size_t total = 0;
    for (int period = 0; period < 24; period++) {
        struct dpl_part part = dpl_side_part(&side, period);
        for (size_t i = 0; i < part.n; i++) {
            assert_int_equal(city->period[part.trip[i]], period);
            assert_false(seen[part.trip[i]]);
            seen[part.trip[i]] = true;
        }
        total += part.n;
    }
    assert_int_equal(total, 300);
    for (size_t i = 0; i < 500; i++) assert_int_equal(seen[p.order[0][i]], i < 300);
    dpl_side_fill(&side, p.order[0], 300, 4);
    for (int period = 0; period < 24; period++) assert_true(dpl_side_part(&side, period).n <= 4);
    dpl_side_free(&side);
    // Another stream or seed draws another order.
    dpl_shuffle(p.order[1], 500, 500, 1, 1);
    assert_memory_not_equal(p.order[0], p.order[1], 500 * sizeof *p.order[0]);
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_run_free(run);
}

static void set_supports_equal_brute_force(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *city = random_city(run, 80, 3, 1, 1, 9);
    struct pair_of_sets p;
    make_pair(run, city, city, &p);
    for (int percent = 5; percent <= 50; percent += 15) {
        uint32_t all[512];
        size_t n = 0;
        for (unsigned set = 1; set < 512; set++) {
            uint32_t support = 0;
            if (__builtin_popcount(set) > DPL_SET_MAX) continue;
            for (size_t i = 0; i < city->n_trips; i++) {
                unsigned held = 0;
                for (size_t v = p.ready[0].start[i]; v < p.ready[0].start[i + 1]; v++)
                    held |= 1u << p.ready[0].cell[v];
                support += (held & set) == set;
            }
            if (support * 100 >= (uint32_t)percent * 80) all[n++] = support;
        }
        qsort(all, n, sizeof *all, descending);
        static struct dpl_top top;
        assert_ok(run, dpl_sets_top(run, &p.ready[0].trips, p.order[0], city->n_trips,
                                    percent / 100.0, &top));
        assert_int_equal(top.n, n < 200 ? n : 200);
        assert_memory_equal(top.support, all, top.n * sizeof *all);
    }
    free_pair(&p);
    dpl_cleaned_free(city);
    dpl_run_free(run);
}

/* 2^40 sets are frequent here; the search must not look at them all. */
static void a_city_of_one_route_ends(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *trips = new_trips(run, 24);
    int32_t cell[40];
    for (int32_t i = 0; i < 40; i++) cell[i] = i;
    for (size_t i = 0; i < 50; i++)
        assert_ok(run, dpl_cleaned_append(run, trips,
                                          &(struct dpl_cleaned_trip){cell, 40, 0, -1, 0, NULL}));
    struct pair_of_sets p;
    static struct dpl_top top;
    make_pair(run, trips, trips, &p);
    assert_ok(run, dpl_sets_top(run, &p.ready[0].trips, p.order[0], 50, 0.05, &top));
    assert_int_equal(top.n, 200);
    assert_int_equal(top.support[199], 50);
    free_pair(&p);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
}

static void the_nearest_cell_equals_brute_force(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grid grid = test_grid(run, 24);
    uint64_t random = 3;
    for (size_t round = 0; round < test_soak(20); round++) {
        int32_t given[12];
        size_t n = 1 + test_random(&random) % 12;
        struct dpl_cells cells;
        for (size_t i = 0; i < n; i++)
            given[i] = (int32_t)(test_random(&random) % (uint64_t)dpl_grid_cells(&grid));
        assert_ok(run, dpl_cells_given(run, &grid, given, n, &cells));
        for (int32_t cell = 0; cell < dpl_grid_cells(&grid); cell++) {
            int32_t best = 0;
            for (int32_t i = 1; i < cells.n_cells; i++)
                if (dpl_grid_distance_m(&grid, cell, cells.grid_cell[i]) <
                    dpl_grid_distance_m(&grid, cell, cells.grid_cell[best]))
                    best = i;
            assert_int_equal(dpl_cells_nearest(&cells, cell), best);
        }
        dpl_cells_free(&cells);
    }
    dpl_run_free(run);
}

static void most_visited_cells_hold_the_share(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *trips = words(run, (const char *const[]){"aaaa", "bbb", "cc", "d", NULL});
    struct dpl_cells cells;
    assert_ok(run, dpl_cells_most_visited(run, trips, 0.7, &cells));
    assert_int_equal(cells.n_cells, 2); // 7 of 10 visits
    dpl_cells_free(&cells);
    assert_ok(run, dpl_cells_most_visited(run, trips, 0.71, &cells));
    assert_int_equal(cells.n_cells, 3);
    dpl_cells_free(&cells);
    dpl_cleaned_free(trips);
    dpl_run_free(run);
}

/* ---- whole evaluations ---- */

static const struct dpl_measure *find(const struct dpl_evaluation *e, size_t k, const char *name,
                                      int scope) {
    const struct dpl_measure *m = dpl_evaluation_find(e, k, name, scope);
    if (!m) fail_msg("no measure %s, scope %d", name, scope);
    return m;
}

static struct dpl_evaluation *evaluate(struct dpl_run *run, const struct dpl_cleaned *real,
                                       const struct dpl_cleaned *synthetic,
                                       const struct dpl_eval_options *options) {
    struct dpl_evaluation *evaluation = NULL;
    struct dpl_eval_synthetic candidate = {.name = "candidate", .trips = synthetic};
    assert_ok(run, dpl_evaluate(run, real, &candidate, 1, options, &evaluation));
    return evaluation;
}

static void another_sample_of_the_city_scores_about_one(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_cleaned *real = random_city(run, 6000, 8, 2, 3, 11),
                       *twin = random_city(run, 6000, 8, 2, 3, 12);
    struct dpl_evaluation *e = evaluate(run, real, twin, NULL);
    static const char *const names[] = {"length_jsd_distance", "fp_50",         "fpset_10",
                                        "density_emd_m",       "od_emd_m",      "route_emd_m",
                                        "route_emd_plain_m",   "distinct_share"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double ratio = find(e, 0, names[i], DPL_SCOPE_POOLED)->ratio;
        if (!(ratio > 0.5 && ratio < 2)) fail_msg("%s: ratio %g", names[i], ratio);
    }
    assert_near(find(e, 0, "density_emd_m", DPL_SCOPE_HOURS)->ratio, 1, 0.3);
    assert_near(find(e, 0, "length_mean", DPL_SCOPE_POOLED)->ratio, 1, 0.05);
    assert_int_equal(e->synthetic[0].n_compared, 3000);
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_cleaned_free(twin);
    dpl_run_free(run);
}

static bool needs_times(const char *name) {
    struct dpl_measure_about about;
    for (size_t i = 0; dpl_measure_about(i, &about); i++)
        if (!strcmp(about.name, name)) return about.needs_times;
    fail_msg("%s is not in the table", name);
    return false;
}

/* Two evaluations that must agree to the last bit, scope by scope. */
static void assert_same_figures(const struct dpl_evaluation *a, const struct dpl_evaluation *b,
                                bool pooled_only) {
    for (size_t i = 0; i < a->synthetic[0].n_measures; i++) {
        const struct dpl_measure *m = &a->synthetic[0].measures[i],
                                 *other = dpl_evaluation_find(b, 0, m->name, m->scope);
        if (pooled_only && (m->scope != DPL_SCOPE_POOLED || needs_times(m->name))) continue;
        assert_non_null(other);
        if (memcmp(&m->value, &other->value, sizeof m->value) &&
            !(isnan(m->value) && isnan(other->value)))
            fail_msg("%s, scope %d: %.17g and %.17g", m->name, m->scope, m->value, other->value);
    }
}

static void threads_do_not_change_figures(void **state) {
    (void)state;
    struct dpl_run *one = test_run(1), *four = test_run(4);
    struct dpl_cleaned *real = random_city(one, 900, 8, 2, 3, 21),
                       *synthetic = random_city(one, 700, 9, 2, 3, 22);
    struct dpl_evaluation *a = evaluate(one, real, synthetic, NULL),
                          *b = evaluate(four, real, synthetic, NULL);
    assert_int_equal(a->synthetic[0].n_measures, b->synthetic[0].n_measures);
    assert_same_figures(a, b, false);
    struct dpl_eval_options options = dpl_eval_defaults();
    options.seed = 2;
    struct dpl_evaluation *c = evaluate(one, real, synthetic, &options);
    assert_true(find(a, 0, "density_emd_m", DPL_SCOPE_POOLED)->value !=
                find(c, 0, "density_emd_m", DPL_SCOPE_POOLED)->value);
    dpl_evaluation_free(a);
    dpl_evaluation_free(b);
    dpl_evaluation_free(c);
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
    dpl_run_free(one);
    dpl_run_free(four);
}

static void shuffled_hours_change_hourly_figures_only(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_cleaned *real = random_city(run, 2000, 8, 2, 3, 31),
                       *synthetic = random_city(run, 2000, 8, 2, 3, 32);
    for (size_t i = 0; i < real->n_trips; i++)
        real->period[i] = real->cell[real->start[i]] % 2 ? 8 : 17; // the hour tells the place
    for (size_t i = 0; i < synthetic->n_trips; i++)
        synthetic->period[i] = synthetic->cell[synthetic->start[i]] % 2 ? 8 : 17;
    struct dpl_evaluation *before = evaluate(run, real, synthetic, NULL);
    for (size_t i = 0; i < synthetic->n_trips; i++)
        synthetic->period[i] = 8 + 17 - synthetic->period[i];
    struct dpl_evaluation *after = evaluate(run, real, synthetic, NULL);
    assert_same_figures(before, after, true);
    assert_true(find(after, 0, "density_emd_m", DPL_SCOPE_HOURS)->value >
                1.5 * find(before, 0, "density_emd_m", DPL_SCOPE_HOURS)->value);
    assert_true(find(after, 0, "od_emd_m", DPL_SCOPE_HOURS)->value >
                find(before, 0, "od_emd_m", DPL_SCOPE_HOURS)->value);
    assert_true(isnan(find(after, 0, "density_emd_m", 3)->value)); // nobody travels at 3
    dpl_evaluation_free(before);
    dpl_evaluation_free(after);
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
    dpl_run_free(run);
}

static void an_hour_missing_on_one_side_counts_in_full(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *real = random_city(run, 400, 8, 2, 3, 41),
                       *synthetic = random_city(run, 400, 8, 2, 3, 42);
    for (size_t i = 0; i < real->n_trips; i++) real->period[i] = 8, synthetic->period[i] = 9;
    struct dpl_evaluation *e = evaluate(run, real, synthetic, NULL);
    assert_near(find(e, 0, "length_jsd_distance", 8)->value, 1, 0);
    assert_near(find(e, 0, "length_jsd_distance", 9)->value, 1, 0);
    assert_near(find(e, 0, "length_jsd_distance", DPL_SCOPE_HOURS)->value, 1, 0);
    assert_true(isnan(find(e, 0, "length_jsd_distance", 10)->value));
    assert_near(find(e, 0, "hour_jsd", DPL_SCOPE_POOLED)->value, 1, 0);
    assert_near(find(e, 0, "hour_jsd", DPL_SCOPE_POOLED)->floor, 0, 0);
    assert_true(isnan(find(e, 0, "hour_jsd", DPL_SCOPE_POOLED)->ratio));
    double density_m = find(e, 0, "density_emd_m", 8)->value,
           od_m = find(e, 0, "od_emd_m", 8)->value;
    assert_true(density_m >= 7 * 500 && density_m <= 7.01 * sqrt(2) * 500);
    assert_near(od_m, 2 * density_m, 1e-6);
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
    dpl_run_free(run);
}

static void trips_without_times_have_pooled_figures_only(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *real = random_city(run, 400, 8, 2, 3, 51),
                       *timeless = random_city(run, 400, 8, 2, 3, 52),
                       *timed = random_city(run, 150, 8, 2, 3, 53);
    timeless->has_time = false;
    memset(timeless->period, 0, timeless->n_trips);
    struct dpl_eval_synthetic candidates[2] = {{.name = "timeless", .trips = timeless},
                                               {.name = "timed", .trips = timed}};
    struct dpl_evaluation *e = NULL;
    assert_ok(run, dpl_evaluate(run, real, candidates, 2, NULL, &e));
    assert_null(dpl_evaluation_find(e, 0, "density_emd_m", DPL_SCOPE_HOURS));
    static const char *const timed_only[] = {"hour_jsd", "minute_tv", "travel_time_mae_s"};
    for (size_t i = 0; i < 3; i++) {
        assert_true(
            isnan(find(e, 0, timed_only[i], DPL_SCOPE_POOLED)->value)); // null, not left out
        assert_true(find(e, 1, timed_only[i], DPL_SCOPE_POOLED)->value >= 0);
    }
    assert_non_null(dpl_evaluation_find(e, 0, "density_emd_m", DPL_SCOPE_POOLED));
    assert_non_null(dpl_evaluation_find(e, 1, "density_emd_m", 23));
    assert_false(e->synthetic[0].has_hours);
    // Each is compared on its own size, against a floor of that size: smaller samples have the
    // larger floor.
    assert_int_equal(e->synthetic[0].n_compared, 200);
    assert_int_equal(e->synthetic[1].n_compared, 150);
    assert_true(find(e, 1, "density_emd_m", DPL_SCOPE_POOLED)->floor >
                find(e, 0, "density_emd_m", DPL_SCOPE_POOLED)->floor);
    // What is judged beside a set does not change its figures.
    struct dpl_evaluation *alone = evaluate(run, real, timed, NULL);
    assert_near(find(e, 1, "density_emd_m", DPL_SCOPE_HOURS)->value,
                find(alone, 0, "density_emd_m", DPL_SCOPE_HOURS)->value, 0);
    dpl_evaluation_free(alone);
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_cleaned_free(timeless);
    dpl_cleaned_free(timed);
    dpl_run_free(run);
}

static void disjoint_cities_and_single_trips(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *real = random_city(run, 300, 6, 0, 0, 61),
                       *far = random_city(run, 300, 6, 30, 30, 62),
                       *one = random_city(run, 1, 6, 0, 0, 63);
    struct dpl_evaluation *e = evaluate(run, real, far, NULL);
    assert_near(e->synthetic[0].outside_share, 1, 0);
    assert_near(find(e, 0, "verbatim_share", DPL_SCOPE_POOLED)->value, 0, 0);
    assert_near(find(e, 0, "fp_100", DPL_SCOPE_POOLED)->value, 0, 0);
    assert_true(find(e, 0, "density_emd_m", DPL_SCOPE_POOLED)->ratio > 5);
    dpl_evaluation_free(e);
    e = evaluate(run, real, one, NULL);
    assert_int_equal(e->synthetic[0].n_compared, 1);
    assert_true(find(e, 0, "density_emd_m", DPL_SCOPE_POOLED)->value > 0);
    dpl_evaluation_free(e);
    struct dpl_eval_synthetic candidate = {.name = "far", .trips = far};
    assert_int_equal(dpl_evaluate(run, one, &candidate, 1, NULL, &e), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "one trip"));
    struct dpl_cleaned *none = new_trips(run, 24), *coarse = new_trips(run, 12);
    candidate.trips = none;
    assert_int_equal(dpl_evaluate(run, real, &candidate, 1, NULL, &e), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "far holds no trips"));
    add_word(run, coarse, 0, "ab");
    candidate.trips = coarse;
    assert_int_equal(dpl_evaluate(run, real, &candidate, 1, NULL, &e), DPL_USAGE);
    add_word(run, none, 30, "ab");
    candidate.trips = none;
    assert_int_equal(dpl_evaluate(run, real, &candidate, 1, NULL, &e), DPL_BAD_DATA);
    assert_int_equal(dpl_evaluate(run, real, &candidate, 0, NULL, &e), DPL_USAGE);
    dpl_cleaned_free(none);
    dpl_cleaned_free(coarse);
    dpl_cleaned_free(real);
    dpl_cleaned_free(far);
    dpl_cleaned_free(one);
    dpl_run_free(run);
}

/* The same trips known to the last cell, or moved into one cell: the poorer model must look poorer.
 */
static void one_cell_scores_worse_than_two_hundred(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_cleaned *real = random_city(run, 3000, 15, 2, 3, 71),
                       *good = random_city(run, 3000, 15, 2, 3, 72),
                       *poor = random_city(run, 3000, 15, 2, 3, 72);
    for (size_t v = 0; v < poor->n_visits; v++) poor->cell[v] = good->cell[0];
    struct dpl_eval_synthetic candidates[2] = {{.name = "good", .trips = good},
                                               {.name = "poor", .trips = poor}};
    struct dpl_evaluation *e = NULL;
    assert_ok(run, dpl_evaluate(run, real, candidates, 2, NULL, &e));
    assert_true(e->n_cells > 150);
    static const char *const lower[] = {"density_emd_m", "od_emd_m"};
    for (size_t i = 0; i < 2; i++)
        assert_true(find(e, 1, lower[i], DPL_SCOPE_POOLED)->value >
                    5 * find(e, 0, lower[i], DPL_SCOPE_POOLED)->value);
    assert_true(find(e, 1, "fp_50", DPL_SCOPE_POOLED)->value <
                find(e, 0, "fp_50", DPL_SCOPE_POOLED)->value);
    assert_true(find(e, 1, "route_share", DPL_SCOPE_POOLED)->value <
                find(e, 0, "route_share", DPL_SCOPE_POOLED)->value);
    assert_true(find(e, 1, "distinct_share", DPL_SCOPE_POOLED)->ratio < 0.1);
    assert_true(e->synthetic[1].outside_share > 0.9 && e->synthetic[0].outside_share < 0.01);
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_cleaned_free(good);
    dpl_cleaned_free(poor);
    dpl_run_free(run);
}

static void jumps_and_lengths_are_those_of_the_whole_set(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    // 150 km/h for 60 s are 2500 m, and a cell's diagonal 707 m: six cells of 500 m are allowed,
    // seven are not.
    struct dpl_cleaned *real = words(run, (const char *const[]){"ag", "abc", "abc", "ab", NULL}),
                       *synthetic = words(run, (const char *const[]){"ah", "abcd", NULL});
    struct dpl_evaluation *e = evaluate(run, real, synthetic, NULL);
    assert_near(e->jump_share, 0, 0);
    assert_near(find(e, 0, "jump_share", DPL_SCOPE_POOLED)->value, 0.25, 0);
    assert_near(find(e, 0, "jump_share", DPL_SCOPE_POOLED)->floor, 0, 0);
    assert_near(find(e, 0, "length_mean", DPL_SCOPE_POOLED)->value, 3, 0);
    assert_near(find(e, 0, "length_mean", DPL_SCOPE_POOLED)->floor, 2.5, 0);
    assert_near(find(e, 0, "length_mean", DPL_SCOPE_POOLED)->ratio, 1.2, 1e-12);
    assert_near(find(e, 0, "length_sd", DPL_SCOPE_POOLED)->floor, 0.5, 1e-12);
    assert_near(find(e, 0, "length_mode", DPL_SCOPE_POOLED)->value, 2, 0);
    dpl_evaluation_free(e);
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
    dpl_run_free(run);
}

/* As the authors measure: only real trips near the model's cells count, so a model of few cells
 * looks good. */
static void paper_measures_project_and_sample(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_cleaned *real = random_city(run, 3000, 12, 2, 3, 81),
                       *synthetic = random_city(run, 3000, 4, 2, 3, 82);
    struct dpl_eval_options options = dpl_eval_defaults();
    struct dpl_evaluation *plain = evaluate(run, real, synthetic, &options);
    options.paper_measures = true;
    struct dpl_evaluation *paper = evaluate(run, real, synthetic, &options);
    assert_int_equal(paper->n_cells, 16);
    assert_null(dpl_evaluation_find(paper, 0, "density_emd_m", DPL_SCOPE_POOLED));
    assert_null(dpl_evaluation_find(paper, 0, "fp_10", DPL_SCOPE_HOURS));
    assert_non_null(dpl_evaluation_find(paper, 0, "fpset_10", DPL_SCOPE_HOURS));
    assert_true(find(paper, 0, "density_emd_m", DPL_SCOPE_HOURS)->value <
                find(plain, 0, "density_emd_m", DPL_SCOPE_HOURS)->value / 2);
    dpl_evaluation_free(plain);
    dpl_evaluation_free(paper);
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
    dpl_run_free(run);
}

static void every_failed_allocation_is_reported(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_cleaned *real = words(run, (const char *const[]){"abc", "abcd", "bcd", "aBc", NULL}),
                       *synthetic = words(run, (const char *const[]){"abc", "bcd", "cde", NULL});
    struct dpl_eval_synthetic candidate = {.name = "candidate", .trips = synthetic};
    struct dpl_eval_options options = dpl_eval_defaults();
    options.splits = 1;
    for (int paper = 0; paper < 2; paper++) {
        options.paper_measures = paper;
        for (long n = 1;; n++) {
            struct dpl_evaluation *e = NULL;
            dpl_run_fail_allocation(run, n);
            enum dpl_status status = dpl_evaluate(run, real, &candidate, 1, &options, &e);
            dpl_run_fail_allocation(run, 0);
            if (status == DPL_OK) {
                assert_true(n > 50);
                dpl_evaluation_free(e);
                break;
            }
            assert_int_equal(status, DPL_SYSTEM);
            assert_null(e);
            assert_non_null(strstr(dpl_run_message(run), "out of memory"));
        }
    }
    dpl_cleaned_free(real);
    dpl_cleaned_free(synthetic);
    dpl_run_free(run);
}

static void an_interrupt_ends_it(void **state) {
    (void)state;
    struct dpl_run *run = test_run(2);
    struct dpl_cleaned *real = random_city(run, 100, 8, 2, 3, 91);
    struct dpl_eval_synthetic candidate = {.name = "candidate", .trips = real};
    struct dpl_evaluation *e = NULL;
    dpl_run_interrupt(run);
    assert_int_equal(dpl_evaluate(run, real, &candidate, 1, NULL, &e), DPL_INTERRUPTED);
    assert_null(e);
    dpl_cleaned_free(real);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trip_size_by_hand),
        cmocka_unit_test(patterns_by_hand),
        cmocka_unit_test(sets_by_hand),
        cmocka_unit_test(density_and_flows_by_hand),
        cmocka_unit_test(routes_by_hand),
        cmocka_unit_test(sameness_by_hand),
        cmocka_unit_test(identity_is_zero_and_one),
        cmocka_unit_test(measures_are_symmetric),
        cmocka_unit_test(a_city_shifted_by_one_cell_is_one_cell_away),
        cmocka_unit_test(pattern_supports_equal_brute_force),
        cmocka_unit_test(top_patterns_of_a_part_equal_a_full_count),
        cmocka_unit_test(a_pattern_rare_in_all_may_lead_in_a_part),
        cmocka_unit_test(sides_hold_the_trips_drawn),
        cmocka_unit_test(set_supports_equal_brute_force),
        cmocka_unit_test(a_city_of_one_route_ends),
        cmocka_unit_test(the_nearest_cell_equals_brute_force),
        cmocka_unit_test(most_visited_cells_hold_the_share),
        cmocka_unit_test(another_sample_of_the_city_scores_about_one),
        cmocka_unit_test(threads_do_not_change_figures),
        cmocka_unit_test(shuffled_hours_change_hourly_figures_only),
        cmocka_unit_test(an_hour_missing_on_one_side_counts_in_full),
        cmocka_unit_test(trips_without_times_have_pooled_figures_only),
        cmocka_unit_test(disjoint_cities_and_single_trips),
        cmocka_unit_test(one_cell_scores_worse_than_two_hundred),
        cmocka_unit_test(jumps_and_lengths_are_those_of_the_whole_set),
        cmocka_unit_test(paper_measures_project_and_sample),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(an_interrupt_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
