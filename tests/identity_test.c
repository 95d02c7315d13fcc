/* Which data set it is: the same rows are the same whatever holds them, other rows are others, and
 * how much two data sets share. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clean/clean.h"
#include "ingest/identity.h"
#include "ledger/datasets.h"

static const uint8_t KEY[32] = {1, 2, 3}, OTHER_KEY[32] = {1, 2, 4};

struct test_row {
    uint64_t trip, user;
    struct point point;
};

static const struct test_row ROW = {7, 3, {1741000000, 48.123456, -11.654321}};

/* n rows that follow from their numbers, from `first` on. */
static struct test_row numbered(uint64_t number) {
    uint64_t state = number * 2654435761u + 17;
    struct test_row row = ROW;
    row.trip = number / 20;
    row.user = number / 400;
    row.point.utc_s += (int64_t)(test_random(&state) % 10000000);
    row.point.lat_deg += test_uniform(&state) * 0.2;
    row.point.lon_deg += test_uniform(&state) * 0.2;
    return row;
}

static void add(struct identifier *identifier, const struct test_row *row) {
    dpl_identifier_name(identifier, (struct dpl_key){0, row->trip}, (struct dpl_key){0, row->user});
    dpl_identifier_add(identifier, &row->point);
}

static struct identifier *begin(struct dpl_run *run, const uint8_t key[32]) {
    struct identifier *identifier;
    struct ingest_identity wanted = {.found = {.rows = 0}};
    memcpy(wanted.key, key, sizeof wanted.key);
    assert_ok(run, dpl_identifier_new(run, &wanted, &identifier));
    return identifier;
}

static void end(struct dpl_run *run, struct identifier *identifier, struct dpl_identity *into) {
    assert_ok(run, dpl_identifier_end(run, identifier, into));
    dpl_identifier_free(identifier);
}

static struct dpl_identity *of_rows(const uint8_t key[32], const struct test_row *rows, size_t n) {
    static struct dpl_identity made[4];
    static int next;
    struct dpl_identity *identity = &made[next++ % 4];
    struct dpl_run *run = test_run(1);
    struct identifier *identifier = begin(run, key);
    memset(identity, 0, sizeof *identity);
    for (size_t i = 0; i < n; i++) add(identifier, &rows[i]);
    end(run, identifier, identity);
    dpl_run_free(run);
    return identity;
}

static struct dpl_identity *of_numbers(uint64_t first, size_t n) {
    struct test_row *rows = calloc(n, sizeof *rows);
    for (size_t i = 0; i < n; i++) rows[i] = numbered(first + i);
    struct dpl_identity *identity = of_rows(KEY, rows, n);
    free(rows);
    return identity;
}

static bool same_rows(const struct dpl_identity *a, const struct dpl_identity *b) {
    return a->rows == b->rows && !memcmp(a->sum, b->sum, sizeof a->sum);
}

static bool same_sketch(const struct dpl_identity *a, const struct dpl_identity *b) {
    return a->n_sketch == b->n_sketch &&
           !memcmp(a->sketch, b->sketch, a->n_sketch * sizeof *a->sketch);
}

/* ---- rows ---- */

static void order_and_parts_do_not_matter(void **state) {
    (void)state;
    enum { ROWS = 5000, PARTS = 3 };
    struct dpl_run *run = test_run(1);
    struct dpl_identity *whole = of_numbers(0, ROWS), parts = {0};
    struct identifier *identifier[PARTS];
    for (int i = 0; i < PARTS; i++) identifier[i] = begin(run, KEY);
    for (size_t i = ROWS; i-- > 0;) { // backwards, scattered over the parts
        struct test_row row = numbered(i);
        add(identifier[i * i % PARTS], &row);
    }
    for (int i = PARTS; i-- > 0;) end(run, identifier[i], &parts);
    assert_true(same_rows(whole, &parts) && same_sketch(whole, &parts));
    assert_int_equal(parts.n_sketch, DPL_SKETCH);
    for (size_t i = 1; i < DPL_SKETCH; i++) assert_true(parts.sketch[i - 1] < parts.sketch[i]);
    dpl_run_free(run);
}

static void every_member_of_a_row_matters(void **state) {
    (void)state;
    struct test_row row = ROW;
    struct dpl_identity truth = *of_rows(KEY, &row, 1);
    assert_int_equal(truth.rows, 1);
    row.point.lat_deg += 2e-7; // the same micro-degree
    assert_true(same_rows(&truth, of_rows(KEY, &row, 1)));
    assert_false(same_rows(&truth, of_rows(OTHER_KEY, &row, 1)));
    assert_false(same_sketch(&truth, of_rows(OTHER_KEY, &row, 1)));
#define OTHER_ROW(set, in_sketch)                                                                  \
    do {                                                                                           \
        row = ROW;                                                                                 \
        set;                                                                                       \
        assert_false(same_rows(&truth, of_rows(KEY, &row, 1)));                                    \
        assert_int_equal(same_sketch(&truth, of_rows(KEY, &row, 1)), !(in_sketch));                \
    } while (0)
    OTHER_ROW(row.trip++, false); // the sketch finds the same places under other names
    OTHER_ROW(row.user++, false);
    OTHER_ROW((row.trip = 3, row.user = 7), false);
    OTHER_ROW(row.point.utc_s++, true);
    OTHER_ROW(row.point.lat_deg += 1e-6, true);
    OTHER_ROW(row.point.lon_deg += 1e-6, true);
    OTHER_ROW(row.point.lat_deg = -row.point.lat_deg, true);
}

/* Twice is not once, nor never: exclusive or would forget pairs. */
static void a_row_counts_as_often_as_it_is_there(void **state) {
    (void)state;
    struct test_row a[4] = {ROW, ROW, numbered(1), numbered(1)}, b[4] = {ROW, ROW, ROW, ROW};
    assert_false(same_rows(of_rows(KEY, a, 4), of_rows(KEY, b, 4)));
    assert_false(same_rows(of_rows(KEY, a, 1), of_rows(KEY, a, 2)));
    assert_true(same_sketch(of_rows(KEY, a, 1), of_rows(KEY, a, 2)));
    struct test_row many[3 * DPL_SKETCH]; // more of one row than there is room for candidates
    for (size_t i = 0; i < 3 * DPL_SKETCH; i++) many[i] = ROW;
    assert_int_equal(of_rows(KEY, many, 3 * DPL_SKETCH)->n_sketch, 1);
}

/* ---- files ---- */

static struct dpl_identity of_file(const char *path, int threads) {
    struct dpl_read_options options = dpl_read_defaults();
    struct ingest_identity *identity = calloc(1, sizeof *identity);
    struct dpl_read_facts *facts = calloc(1, sizeof *facts);
    struct dpl_run *run = test_run(threads);
    memcpy(identity->key, KEY, sizeof KEY);
    assert_ok(run, dpl_ingest_read(run, &path, 1, &options, &DPL_INGEST_LIMITS, "UTC",
                                   &DPL_SINK_NOTHING, identity, facts));
    struct dpl_identity found = identity->found;
    assert_int_equal(found.rows, facts->rows);
    free(identity);
    free(facts);
    dpl_run_free(run);
    return found;
}

/* Every format, over more than one block; and rows that are scattered, so that they are read twice.
 */
static void threads_and_passes_do_not_matter(void **state) {
    (void)state;
    static const enum dpl_layout LAYOUTS[] = {DPL_LAYOUT_CSV, DPL_LAYOUT_CABSPOTTING,
                                              DPL_LAYOUT_GEOLIFE};
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof *LAYOUTS; i++) {
        struct dpl_simulate_options city = dpl_simulate_defaults();
        char name[16];
        city.trips = 4000;
        city.layout = LAYOUTS[i];
        snprintf(name, sizeof name, "city%zu", i);
        const char *path = test_path(directory, name);
        assert_ok(run, dpl_simulate(run, &city, path));
        struct dpl_identity one = of_file(path, 1), four = of_file(path, 4);
        assert_true(one.rows > 10000 && same_rows(&one, &four) && same_sketch(&one, &four));
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void scattered_rows_are_counted_once(void **state) {
    (void)state;
    static const char TIDY[] = "trip,time,lat,lon\n1,1741000000,48,11.5\n1,1741000020,48,11.5\n"
                               "2,1741000000,48,11.5\n2,1741000020,48,11.5\n",
                      SCATTERED[] = "trip,time,lat,lon\n1,1741000000,48,11.5\n"
                                    "2,1741000000,48,11.5\n1,1741000020,48,11.5\n"
                                    "2,1741000020,48,11.5\n";
    char *directory = test_directory();
    struct dpl_identity tidy = of_file(test_file(directory, "tidy.csv", TIDY, strlen(TIDY)), 1);
    struct dpl_identity scattered =
        of_file(test_file(directory, "scattered.csv", SCATTERED, strlen(SCATTERED)), 1);
    assert_int_equal(scattered.rows, 4);
    assert_true(same_rows(&tidy, &scattered) && same_sketch(&tidy, &scattered));
    test_directory_remove(directory);
}

/* ---- overlap ---- */

static double overlap(uint64_t first, size_t n, uint64_t other_first, size_t other_n) {
    return dpl_identity_overlap(of_numbers(first, n), of_numbers(other_first, other_n));
}

static void the_shared_part_of_the_smaller_is_estimated(void **state) {
    (void)state;
    enum { ROWS = 100000 };
    assert_near(overlap(0, ROWS, 0, ROWS), 1, 0);
    assert_near(overlap(0, ROWS, ROWS, ROWS), 0, 0);
    assert_near(overlap(0, ROWS, ROWS / 2, ROWS), 0.5, 0.1);
    assert_near(overlap(0, ROWS, 4 * ROWS / 10, ROWS), 0.6, 0.1);
    assert_near(overlap(0, ROWS, 100, ROWS / 100), 1, 0); // a hundredth of it
    assert_near(overlap(100, ROWS / 100, 0, ROWS), 1, 0);
    assert_near(overlap(0, 10, 5, 10), 0.5, 1e-12); // small ones are compared in full
    assert_near(overlap(0, 0, 5, 10), 0, 0);
}

static void a_data_line_holds_the_sketch(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    static const size_t SIZES[] = {0, 3, 5000};
    for (size_t i = 0; i < 3; i++) {
        struct dpl_identity *identity = of_numbers(9, SIZES[i]), back;
        json_t *line = dpl_data_to_json("ab", identity, true);
        assert_ok(run, dpl_data_from_json(run, "here", line, &back));
        assert_int_equal(back.rows, SIZES[i]);
        assert_true(same_sketch(identity, &back));
        json_object_set_new(line, "sketch", json_string("0123456789abcdefg"));
        assert_int_equal(dpl_data_from_json(run, "here", line, &back), DPL_BAD_DATA);
        dpl_run_begin(run);
        json_decref(line);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_parts_do_not_matter),
        cmocka_unit_test(every_member_of_a_row_matters),
        cmocka_unit_test(a_row_counts_as_often_as_it_is_there),
        cmocka_unit_test(threads_and_passes_do_not_matter),
        cmocka_unit_test(scattered_rows_are_counted_once),
        cmocka_unit_test(the_shared_part_of_the_smaller_is_estimated),
        cmocka_unit_test(a_data_line_holds_the_sketch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
