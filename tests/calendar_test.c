/* On which days trips are: periods, weekdays of a model, and what is estimated from noised counts.
 */
#include "support.h"
#include "town.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "sample/calendar.h"

enum { PERIODS = 24, MONDAY = 0, SUNDAY = 6 };

/* ---- periods ---- */

static void weekdays_of_a_period_are_counted(void **state) {
    (void)state;
    for (int64_t first = -9; first < 9; first++)
        for (int64_t n = 1; n < 24; n++) {
            int64_t count[DPL_WEEKDAYS] = {0};
            for (int64_t day = first; day < first + n; day++) count[dpl_weekday(day)]++;
            for (int w = 0; w < DPL_WEEKDAYS; w++)
                assert_int_equal(dpl_days_of((struct dpl_days){first, n}, w), count[w]);
        }
    assert_int_equal(dpl_weekday(dpl_days_from_date(2025, 3, 3)), MONDAY);
    assert_int_equal(dpl_weekday(dpl_days_from_date(1969, 12, 28)), SUNDAY);
}

/* ---- calendars ---- */

struct bench {
    struct dpl_run *run;
    struct dpl_model *model;
    struct dpl_random *random;
    struct dpl_stream stream;
    float *shares; /* (DPL_WEEKDAYS, PERIODS) NULL: the model has none */
};

static void open_bench(struct bench *b, bool weekdays, const char *declared) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_secret secret;
    *b = (struct bench){.run = test_run(1)};
    assert_ok(b->run, dpl_area_preset(b->run, "simulated", &area));
    assert_ok(b->run, dpl_grid_make(b->run, &area, &grid));
    assert_ok(b->run, dpl_model_new(b->run, "bridge", &grid, &b->model));
    if (weekdays)
        assert_ok(b->run, dpl_model_add(b->run, b->model, DPL_MODEL_WEEKDAYS, DPL_TENSOR_F32, 2,
                                        (size_t[]){DPL_WEEKDAYS, PERIODS}, &b->shares));
    if (declared) json_object_set_new(b->model->options, "dates", json_string(declared));
    assert_ok(b->run, dpl_secret_from_seed(b->run, 5, &secret));
    assert_ok(b->run, dpl_random_new(b->run, &secret, &b->random));
    dpl_stream_open(&b->stream, b->random, (struct dpl_stream_id){DPL_PURPOSE_TEST, 0, 0});
}

static void close_bench(struct bench *b) {
    assert_ok(b->run, dpl_stream_close(b->run, &b->stream));
    dpl_random_free(b->random);
    dpl_model_free(b->model);
    dpl_run_free(b->run);
}

/* How often each day of the calendar is drawn: count (days.n). */
static void draw_days(struct bench *b, const struct dpl_calendar *calendar, size_t period,
                      size_t draws, size_t *count) {
    for (size_t i = 0; i < draws; i++) {
        int64_t day = dpl_calendar_draw(calendar, &b->stream, period) - calendar->days.first;
        assert_in_range(day, 0, calendar->days.n - 1);
        count[day]++;
    }
}

static void mondays_stay_mondays(void **state) {
    (void)state;
    struct bench b;
    struct dpl_calendar calendar;
    size_t count[21] = {0};
    open_bench(&b, true, NULL);
    for (size_t p = 0; p < PERIODS; p++) b.shares[MONDAY * PERIODS + p] = 1.0f / PERIODS;
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, NULL, &calendar));
    assert_true(calendar.typical && calendar.days.n == 7);
    assert_int_equal(dpl_weekday(calendar.days.first), MONDAY);
    draw_days(&b, &calendar, 8, 100, count);
    assert_int_equal(count[0], 100);
    dpl_calendar_free(&calendar);
    // Three weeks from a Wednesday on: three Mondays, each as often as the others.
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, "2025-03-05..2025-03-25", &calendar));
    assert_false(calendar.typical);
    size_t many[21] = {0};
    draw_days(&b, &calendar, 8, 3000, many);
    for (int64_t day = 0; day < 21; day++)
        assert_in_range(many[day], day % 7 == 5 ? 850 : 0, day % 7 == 5 ? 1150 : 0);
    dpl_calendar_free(&calendar);
    // None of them is a Monday: then on any.
    size_t few[2] = {0};
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, "2025-03-05..2025-03-06", &calendar));
    draw_days(&b, &calendar, 8, 1000, few);
    assert_in_range(few[0], 400, 600);
    dpl_calendar_free(&calendar);
    close_bench(&b);
}

/* Ten days from a Monday on: Monday to Wednesday twice. Trips of each hour have their weekdays. */
static void volume_follows_the_number_of_weekdays(void **state) {
    (void)state;
    struct bench b;
    struct dpl_calendar calendar;
    open_bench(&b, true, "2025-03-03..2025-03-12");
    for (size_t w = 0; w < DPL_WEEKDAYS; w++) {
        b.shares[w * PERIODS + 8] = w < 3 ? 0.2f : 0.05f; // rates of a day .1 and .05
        b.shares[w * PERIODS + 20] = w == SUNDAY ? 0.2f : 0;
    }
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, NULL, &calendar));
    assert_false(calendar.typical);
    assert_int_equal(calendar.days.n, 10);
    assert_near(calendar.volume, 1, 1e-6);
    size_t count[10] = {0}, late[10] = {0};
    draw_days(&b, &calendar, 8, 8000, count);
    for (int64_t day = 0; day < 10; day++) {
        double expected = 8000 * (day % 7 < 3 ? .1 : .05) / .8;
        assert_near((double)count[day], expected, 5 * sqrt(expected));
    }
    draw_days(&b, &calendar, 20, 50, late);
    assert_int_equal(late[SUNDAY], 50);
    dpl_calendar_free(&calendar);
    // A week and a day of it: Monday twice. (.1 * 4 + .05 * 4 + .2) of 1
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, "2025-04-07..2025-04-14", &calendar));
    assert_near(calendar.volume, .8, 1e-6);
    dpl_calendar_free(&calendar);
    close_bench(&b);
}

static void without_weekdays_all_days_are_alike(void **state) {
    (void)state;
    struct bench b;
    struct dpl_calendar calendar;
    open_bench(&b, false, "2025-03-03..2025-03-12");
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, NULL, &calendar));
    size_t count[10] = {0};
    draw_days(&b, &calendar, 3, 10000, count);
    for (int64_t day = 0; day < 10; day++) assert_in_range(count[day], 850, 1150);
    assert_near(calendar.volume, 1, 1e-9);
    dpl_calendar_free(&calendar);
    assert_ok(b.run, dpl_calendar_new(b.run, b.model, "2025-03-04..2025-03-08", &calendar));
    assert_near(calendar.volume, .5, 1e-9);
    dpl_calendar_free(&calendar);
    close_bench(&b);
}

static void edited_models_are_refused(void **state) {
    (void)state;
    struct bench b;
    struct dpl_calendar calendar = {0};
    open_bench(&b, true, "yesterday");
    assert_int_equal(dpl_calendar_new(b.run, b.model, NULL, &calendar), DPL_BAD_DATA);
    json_object_del(b.model->options, "dates");
    b.shares[5] = -1;
    assert_int_equal(dpl_calendar_new(b.run, b.model, NULL, &calendar), DPL_BAD_DATA);
    assert_null(calendar.upto);
    close_bench(&b);
}

/* ---- estimates ---- */

/* Counts of weekdays by the hour, with noise; *off: total variation of the estimated weekdays. */
static void estimate(const double *trips, double sigma, uint64_t seed, double *off) {
    struct dpl_run *run = test_run(1);
    struct dpl_places *places = town_new(run);
    size_t H = places->H;
    struct dpl_table table = {
        .n = DPL_WEEKDAYS * H, .sigma = sigma, .value = calloc(DPL_WEEKDAYS * H, sizeof(double))};
    float *out = calloc(table.n, sizeof *out);
    double all = 0, sum = 0;
    for (size_t w = 0; w < DPL_WEEKDAYS; w++) all += trips[w];
    for (size_t i = 0; i < table.n; i++)
        table.value[i] = trips[i / H] / (double)H + sigma * test_gauss(&seed);
    assert_ok(run, dpl_weekdays_estimate(run, places, &table, out));
    *off = 0;
    for (size_t w = 0; w < DPL_WEEKDAYS; w++) {
        double share = 0;
        for (size_t h = 0; h < H; h++) share += (double)out[w * H + h];
        *off += fabs(share - trips[w] / all) / 2;
        sum += share;
    }
    assert_near(sum, 1, 1e-4);
    free(out), free(table.value);
    dpl_places_free(places);
    dpl_run_free(run);
}

static void weekdays_are_estimated_beyond_noise(void **state) {
    (void)state;
    const double mondays[DPL_WEEKDAYS] = {20000}, working[DPL_WEEKDAYS] = {9e3, 9e3, 9e3, 9e3, 9e3},
                 uneven[DPL_WEEKDAYS] = {9e3, 8e3, 8e3, 9e3, 12e3, 15e3, 6e3};
    double off, sum = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        estimate(mondays, 40, seed, &off);
        assert_true(off < 0.05);
        sum += off;
        estimate(working, 100, seed, &off);
        assert_true(off < 0.05);
        estimate(uneven, 40, seed, &off);
        assert_true(off < 0.02);
    }
    assert_true(sum / 20 < 0.01); // noise of 196 a weekday: 6 of them would be 2 % of the trips
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weekdays_of_a_period_are_counted),
        cmocka_unit_test(mondays_stay_mondays),
        cmocka_unit_test(volume_follows_the_number_of_weekdays),
        cmocka_unit_test(without_weekdays_all_days_are_alike),
        cmocka_unit_test(edited_models_are_refused),
        cmocka_unit_test(weekdays_are_estimated_beyond_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
