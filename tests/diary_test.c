/* Diaries: nobody is in two places at once, chains hold, homes are where days begin. */
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/diary.h"

enum { HOUR_S = 3600, DAY_S = 86400 };
static const double WIDTH_M = 12000, HEIGHT_M = 9000;

struct bench {
    struct dpl_run *run;
    struct dpl_random *random;
    struct dpl_errand *errand;
    size_t n;
};

static void open_bench(struct bench *b, size_t room) {
    struct dpl_secret secret;
    *b = (struct bench){.run = test_run(1), .errand = calloc(room, sizeof *b->errand)};
    assert_ok(b->run, dpl_secret_from_seed(b->run, 11, &secret));
    assert_ok(b->run, dpl_random_new(b->run, &secret, &b->random));
}

static void close_bench(struct bench *b) {
    free(b->errand);
    dpl_random_free(b->random);
    dpl_run_free(b->run);
}

static void make(struct bench *b, const struct dpl_habits *habits, size_t people,
                 struct dpl_diary *diary) {
    struct dpl_stream stream;
    dpl_stream_open(&stream, b->random, (struct dpl_stream_id){DPL_PURPOSE_TEST, 1, 0});
    assert_ok(b->run, dpl_diary_make(b->run, habits, b->errand, b->n, people, WIDTH_M, HEIGHT_M,
                                     &stream, diary));
    assert_ok(b->run, dpl_stream_close(b->run, &stream));
}

static void put(struct bench *b, int64_t begin_s, int64_t lasts_s, struct dpl_position from,
                struct dpl_position to) {
    b->errand[b->n++] = (struct dpl_errand){from, to, begin_s, begin_s + lasts_s, begin_s / DAY_S};
}

static double metres(struct dpl_position a, struct dpl_position b) {
    return hypot((double)a.x_m - (double)b.x_m, (double)a.y_m - (double)b.y_m);
}

/* What a diary is like. All trips are there once, by person and time, and none overlap. */
struct facts {
    double transitions, near, days, at_home, most_trips;
};

static void inspect(const struct bench *b, const struct dpl_diary *diary, struct facts *facts) {
    bool *seen = calloc(b->n + 1, 1);
    struct dpl_position home = {0, 0};
    double trips = 0;
    uint32_t who = UINT32_MAX;
    *facts = (struct facts){0};
    for (size_t i = 0; i < b->n; i++) {
        uint32_t trip = diary->order[i];
        const struct dpl_errand *now = &b->errand[trip],
                                *last = i ? &b->errand[diary->order[i - 1]] : NULL;
        assert_false(seen[trip]);
        seen[trip] = true;
        bool new = diary->person[trip] != who;
        if (new) {
            assert_int_equal(diary->person[trip], who + 1); // no number is left out
            who++, home = now->from, trips = 0;
        } else {
            assert_true(last && now->begin_s >= last->end_s);
            facts->transitions++;
            facts->near += metres(last->to, now->from) <= DPL_NEAR_M;
        }
        if (new || now->day != last->day) {
            facts->days++;
            facts->at_home += metres(home, now->from) <= DPL_NEAR_M;
        }
        facts->most_trips = fmax(facts->most_trips, ++trips);
    }
    assert_int_equal(who + 1, diary->n_people);
    free(seen);
}

static struct dpl_position anywhere(uint64_t *seed) {
    return (struct dpl_position){(float)(test_uniform(seed) * WIDTH_M),
                                 (float)(test_uniform(seed) * HEIGHT_M)};
}

/* ---- property ---- */

/* Few or many people, days, crowds at one place, trips of no length, trips of a day. */
static void nobody_is_in_two_places_at_once(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (size_t round = 0; round < test_soak(40); round++) {
        struct bench b;
        struct dpl_diary diary;
        struct facts facts;
        struct dpl_habits habits = {.near = test_uniform(&seed)};
        size_t n = test_random(&seed) % 3000,
               people = 1 + test_random(&seed) % (round % 2 ? 4 : 900);
        int64_t days = 1 + (int64_t)(test_random(&seed) % 9);
        bool crowd = round % 3 == 0;
        if (round % 4 == 0) habits.users[4] = habits.users[40] = 0.5, habits.mean_trips = 200;
        if (round % 5 == 0) habits.a_day[1] = 1, habits.mean_a_day = 2;
        if (round % 7 == 0) habits.knows_gaps = true, habits.gaps[2] = 1;
        open_bench(&b, n + 1);
        for (size_t i = 0; i < n; i++) {
            struct dpl_position here = {4000, 4000};
            put(&b, (int64_t)(test_random(&seed) % (uint64_t)(days * DAY_S)),
                (int64_t)(test_random(&seed) % (round % 6 == 0 ? DAY_S : 1800)),
                crowd ? here : anywhere(&seed), crowd ? here : anywhere(&seed));
        }
        make(&b, &habits, people, &diary);
        inspect(&b, &diary, &facts);
        if (crowd && facts.transitions > 0) assert_true(facts.near == facts.transitions);
        dpl_diary_free(&diary);
        close_bench(&b);
    }
}

/* ---- a town of commuters ---- */

enum { COMMUTERS = 400, WEEK = 5 };

static struct dpl_position around(struct dpl_position place, uint64_t *seed) {
    return (struct dpl_position){place.x_m + (float)(test_uniform(seed) - 0.5) * 100,
                                 place.y_m + (float)(test_uniform(seed) - 0.5) * 100};
}

/* From home to work and back, on five days, homes in 40 places and work in 8. */
static void commute(struct bench *b, uint64_t *seed) {
    struct dpl_position homes[40], works[8];
    for (size_t i = 0; i < 40; i++) homes[i] = anywhere(seed);
    for (size_t i = 0; i < 8; i++) works[i] = anywhere(seed);
    open_bench(b, 2 * COMMUTERS * WEEK);
    for (size_t person = 0; person < COMMUTERS; person++)
        for (int64_t day = 0; day < WEEK; day++) {
            int64_t out = day * DAY_S + 7 * HOUR_S + (int64_t)(test_random(seed) % 7200),
                    back = day * DAY_S + 16 * HOUR_S + (int64_t)(test_random(seed) % 7200);
            struct dpl_position home = homes[person % 40], work = works[person % 8];
            put(b, out, 900, around(home, seed), around(work, seed));
            put(b, back, 900, around(work, seed), around(home, seed));
        }
}

static void commuters_come_home(void **state) {
    (void)state;
    struct bench b;
    struct dpl_diary diary, again;
    struct facts facts;
    uint64_t seed = 9;
    struct dpl_habits habits = {.near = 1, .mean_trips = 10, .mean_a_day = 2};
    habits.users[dpl_user_bin(10)] = 1, habits.a_day[1] = 1;
    commute(&b, &seed);
    make(&b, &habits, COMMUTERS, &diary);
    inspect(&b, &diary, &facts);
    print_message("near %.3f, at home %.3f, people %zu\n", facts.near / facts.transitions,
                  facts.at_home / facts.days, diary.n_people);
    assert_true(facts.near > 0.95 * facts.transitions);
    assert_true(facts.at_home > 0.9 * facts.days);
    assert_in_range(diary.n_people, COMMUTERS * 9 / 10, COMMUTERS * 11 / 10);
    assert_true(facts.most_trips <= 14);
    make(&b, &habits, COMMUTERS, &again);
    assert_memory_equal(diary.person, again.person, b.n * sizeof *diary.person);
    dpl_diary_free(&diary), dpl_diary_free(&again);
    close_bench(&b);
}

/* Chains are broken as often as the model says, not as seldom as can be. */
static void chains_are_broken_as_often_as_said(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct bench b;
        struct dpl_diary diary;
        struct facts facts;
        uint64_t seed = 21;
        struct dpl_habits habits = {.near = i ? 0.8 : 1};
        open_bench(&b, 6000);
        for (size_t k = 0; k < 6000; k++)
            put(&b, (int64_t)(k * 60), 300, anywhere(&seed), anywhere(&seed));
        make(&b, &habits, 1500, &diary);
        inspect(&b, &diary, &facts);
        print_message("near %.3f of %.2f\n", facts.near / facts.transitions, habits.near);
        if (i)
            assert_near(facts.near / facts.transitions, 0.8, 0.05);
        else
            assert_true(facts.near > 0.9 * facts.transitions);
        dpl_diary_free(&diary);
        close_bench(&b);
    }
}

/* All trips at the same time: as many people as trips, whatever was asked for. */
static void there_are_enough_people(void **state) {
    (void)state;
    struct bench b;
    struct dpl_diary diary;
    struct facts facts;
    const struct dpl_habits habits = {.near = 1};
    open_bench(&b, 50);
    for (int i = 0; i < 50; i++)
        put(&b, 1000 + i, 100, (struct dpl_position){0, 0}, (struct dpl_position){0, 0});
    make(&b, &habits, 1, &diary);
    inspect(&b, &diary, &facts);
    assert_int_equal(diary.n_people, 50);
    dpl_diary_free(&diary);
    b.n = 0;
    make(&b, &habits, 1, &diary);
    assert_int_equal(diary.n_people, 0);
    dpl_diary_free(&diary);
    close_bench(&b);
}

/* ---- what a model says ---- */

static void habits_are_those_of_the_model(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_model *model;
    struct dpl_habits habits;
    float *users, *chains, *days;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    assert_ok(run, dpl_model_new(run, "bridge", &grid, &model));
    assert_ok(run, dpl_habits_read(run, model, &habits));
    assert_true(habits.near == 1 && habits.mean_trips == 0 && habits.mean_a_day == 0);
    assert_true(dpl_habits_kept(&habits, 20) == 0);
    assert_ok(run, dpl_model_add(run, model, DPL_MODEL_USERS, DPL_TENSOR_F32, 1,
                                 (size_t[]){DPL_USER_BINS}, &users));
    assert_ok(run, dpl_model_add(run, model, DPL_MODEL_CHAINS, DPL_TENSOR_F32, 2,
                                 (size_t[]){DPL_GAPS, DPL_REACHES}, &chains));
    assert_ok(run, dpl_model_add(run, model, DPL_MODEL_DAYS, DPL_TENSOR_F32, 2,
                                 (size_t[]){2, DPL_DAY_BINS}, &days));
    users[dpl_user_bin(4)] = 0.5f, users[dpl_user_bin(30)] = 0.5f;
    chains[2 * DPL_REACHES] = 0.5f, chains[4 * DPL_REACHES] = 0.25f;
    chains[4 * DPL_REACHES + 2] = 0.25f;
    days[1] = 0.5f, days[DPL_DAY_BINS + 3] = 0.5f;
    assert_ok(run, dpl_habits_read(run, model, &habits));
    assert_near(habits.mean_trips, 17, 1e-6);
    assert_near(dpl_habits_kept(&habits, 20), 12, 1e-6);
    assert_near(habits.near, 0.75, 1e-6);
    assert_near(habits.gaps[4], 0.5, 1e-6);
    assert_near(habits.mean_a_day, 3, 1e-6);
    chains[0] = -0.5f;
    assert_int_equal(dpl_habits_read(run, model, &habits), DPL_BAD_DATA);
    dpl_model_free(model);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_in_two_places_at_once),
        cmocka_unit_test(commuters_come_home),
        cmocka_unit_test(chains_are_broken_as_often_as_said),
        cmocka_unit_test(there_are_enough_people),
        cmocka_unit_test(habits_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
