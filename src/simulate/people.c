/* Who lives where, and what a day looks like.
 *
 * Residents have a home, a job, three favourite shops and three favourite bars, usual times of
 * leaving and coming back, a usual taste in routes and a device. A weekday is a chain of legs
 * (home, job, perhaps lunch, perhaps a shop on the way back, home, perhaps out in the evening); a
 * weekend has errands and later nights. A resident's device records only some of the legs: `count`
 * of them, at random. Cabs serve demand: the hour from a table, the kinds of both ends from another
 * one, so that mornings lead from homes to jobs, evenings back, and nights to and from the bars.
 *
 * Destinations thin out with distance d like 1 / (1 + (d/typical)^2): draw by land use, accept by
 * distance. One choice in five does not care about distance: that is the long tail of trips. */
#include "simulate/simulate.h"

enum { HOUR_S = 3600, DAY_S = 86400, MAX_PLAN = 16, TRIES = 24 };
enum salt { SALT_PERSON = 11, SALT_DAY };

static int32_t between_s(struct dpl_sim_stream *s, double low_h, double high_h) {
    return (int32_t)(HOUR_S * (low_h + (high_h - low_h) * dpl_sim_uniform(s)));
}

/* ---- places ---- */

/* The first node at least that far away, from a place on that depends on the stream. */
static int32_t any_far_node(const struct dpl_sim_city *city, int32_t from, double least_m,
                            struct dpl_sim_stream *s) {
    int32_t start = (int32_t)(dpl_sim_next(s) % (uint64_t)city->n_nodes);
    for (int32_t k = 0; k < city->n_nodes; k++) {
        int32_t node = (start + k) % city->n_nodes;
        if (dpl_sim_distance_m(city, from, node) >= least_m) return node;
    }
    return from ? 0 : 1; // not reached: the city is larger than any least_m
}

static int32_t draw_from(const struct dpl_sim_city *city, const struct dpl_sim_range *range,
                         enum dpl_sim_kind kind, int32_t from, struct dpl_sim_stream *s) {
    int32_t best = -1;
    bool anywhere = kind == DPL_SIM_HUB ||
                    dpl_sim_uniform(s) < 0.2; // the station and the airport are worth any way
    for (int try = 0; try < TRIES; try++) {
        int32_t node = dpl_sim_draw(city, kind, dpl_sim_next(s));
        double distance = dpl_sim_distance_m(city, from, node) / range->typical_m,
               chance = dpl_sim_uniform(s);
        if (distance * range->typical_m < range->least_m) continue;
        best = node;
        if (anywhere || chance * (1 + distance * distance) < 1) return node;
    }
    return best >= 0 ? best : any_far_node(city, from, range->least_m, s);
}

void dpl_sim_person_make(const struct dpl_sim_city *city, const struct dpl_sim_range *range,
                         uint64_t seed, int64_t user, bool cab, struct dpl_sim_person *person) {
    uint64_t key = dpl_sim_key(seed, (uint64_t)user);
    struct dpl_sim_stream s = {.key = dpl_sim_key(key, SALT_PERSON)};
    *person = (struct dpl_sim_person){.key = key, .cab = cab};
    person->home = dpl_sim_draw(city, DPL_SIM_HOME, dpl_sim_next(&s));
    person->job = draw_from(city, range, DPL_SIM_JOB, person->home, &s);
    for (int i = 0; i < DPL_SIM_FAVOURITES; i++) {
        person->shop[i] = draw_from(city, range, DPL_SIM_SHOP, person->home, &s);
        person->night[i] = draw_from(city, range, DPL_SIM_NIGHT, person->home, &s);
    }
    bool late = dpl_sim_uniform(&s) < 0.12; // shift work
    person->leave_s = (int32_t)(HOUR_S * ((late ? 12.5 : 7.8) + 0.65 * dpl_sim_bell(&s)));
    person->return_s = person->leave_s + (int32_t)(HOUR_S * (9.0 + 0.6 * dpl_sim_bell(&s)));
    person->pace = 1 + 0.06 * dpl_sim_bell(&s);
    person->taste = (uint8_t)(dpl_sim_next(&s) % DPL_SIM_TASTES);
    person->slow_device = dpl_sim_uniform(&s) < 0.5;
}

/* ---- a resident's day ---- */

struct day {
    struct dpl_sim_leg leg[MAX_PLAN];
    size_t count;
};

static void go(struct day *day, int32_t local_s, int32_t from, int32_t to) {
    if (from != to && day->count < MAX_PLAN)
        day->leg[day->count++] = (struct dpl_sim_leg){local_s, from, to};
}

static int32_t favourite(const int32_t *places, struct dpl_sim_stream *s) {
    double u = dpl_sim_uniform(s);
    return places[u < 0.6 ? 0 : u < 0.85 ? 1 : 2];
}

static void work_day(const struct dpl_sim_person *who, struct dpl_sim_stream *s, struct day *day) {
    int32_t out_s = who->leave_s + (int32_t)(600 * dpl_sim_bell(s)),
            back_s = who->return_s + (int32_t)(1200 * dpl_sim_bell(s));
    go(day, out_s, who->home, who->job);
    if (dpl_sim_uniform(s) < 0.12) {
        int32_t place = favourite(who->shop, s), noon_s = between_s(s, 11.8, 13.2);
        go(day, noon_s, who->job, place);
        go(day, noon_s + between_s(s, 0.6, 0.9), place, who->job);
    }
    if (dpl_sim_uniform(s) < 0.25) {
        int32_t place = favourite(who->shop, s);
        go(day, back_s, who->job, place);
        go(day, back_s + between_s(s, 0.5, 1.2), place, who->home);
    } else {
        go(day, back_s, who->job, who->home);
    }
}

static void errand(const struct dpl_sim_person *who, struct dpl_sim_stream *s, double from_h,
                   double to_h, struct day *day) {
    int32_t place = favourite(who->shop, s), out_s = between_s(s, from_h, to_h);
    go(day, out_s, who->home, place);
    go(day, out_s + between_s(s, 0.6, 2.2), place, who->home);
}

static void evening_out(const struct dpl_sim_person *who, struct dpl_sim_stream *s, double later_h,
                        struct day *day) {
    int32_t place = favourite(who->night, s), out_s = between_s(s, 19, 21.5 + later_h);
    go(day, out_s, who->home, place);
    if (dpl_sim_uniform(s) < 0.15) { // a second place
        int32_t other = who->night[2], on_s = out_s + between_s(s, 0.8, 1.6);
        go(day, on_s, place, other);
        if (other != place) place = other, out_s = on_s;
    }
    go(day, out_s + between_s(s, 1.8, 3.6 + later_h), place, who->home);
}

static void plan_day(const struct dpl_sim_person *who, int weekday, struct dpl_sim_stream *s,
                     struct day *day) {
    bool weekend = weekday >= 5, late = weekday == 4 || weekday == 5; // Friday and Saturday nights
    day->count = 0;
    if (!weekend && dpl_sim_uniform(s) < 0.9)
        work_day(who, s, day);
    else
        errand(who, s, 9, 16.5, day);
    if (weekend && dpl_sim_uniform(s) < 0.4) errand(who, s, 10, 18, day);
    if (dpl_sim_uniform(s) < (late ? 0.6 : 0.25)) evening_out(who, s, late ? 1.5 : 0, day);
}

/* Keeps a random choice of `count` legs; errands fill up what the plan does not have. */
static void resident_day(const struct dpl_sim_person *who, int weekday, size_t count,
                         struct dpl_sim_stream *s, struct dpl_sim_leg *leg) {
    struct day day;
    size_t made = 0;
    while (made < count) {
        if (made == 0)
            plan_day(who, weekday, s, &day);
        else
            day.count = 0, errand(who, s, 8, 20, &day);
        for (; day.count > 0 && made < count; made++) {
            size_t pick = (size_t)(dpl_sim_next(s) % day.count);
            leg[made] = day.leg[pick];
            day.leg[pick] = day.leg[--day.count];
        }
    }
}

/* ---- a cab's day ---- */

/* Demand by hour, in thousandths. */
static const uint16_t WEEKDAY[24] = {34, 24, 16, 10, 10, 16, 28, 46, 54, 46, 40, 40,
                                     42, 42, 40, 42, 48, 56, 60, 60, 56, 54, 50, 44};
static const uint16_t WEEKEND[24] = {62, 58, 44, 26, 14, 10, 10, 14, 22, 32, 38, 42,
                                     44, 44, 42, 42, 42, 46, 52, 56, 58, 62, 68, 72};

struct demand {
    uint8_t from, to, percent;
};

enum { N_DEMANDS = 6, N_PARTS = 5 };
/* What people want at night, in the morning, by day, in the evening, late. */
static const struct demand DEMAND[N_PARTS][N_DEMANDS] = {
    {{DPL_SIM_NIGHT, DPL_SIM_HOME, 66},
     {DPL_SIM_NIGHT, DPL_SIM_NIGHT, 10},
     {DPL_SIM_HOME, DPL_SIM_HUB, 8},
     {DPL_SIM_HUB, DPL_SIM_HOME, 8},
     {DPL_SIM_HOME, DPL_SIM_NIGHT, 4},
     {DPL_SIM_SHOP, DPL_SIM_HOME, 4}},
    {{DPL_SIM_HOME, DPL_SIM_JOB, 62},
     {DPL_SIM_HUB, DPL_SIM_JOB, 14},
     {DPL_SIM_HOME, DPL_SIM_HUB, 12},
     {DPL_SIM_HOME, DPL_SIM_SHOP, 6},
     {DPL_SIM_JOB, DPL_SIM_JOB, 4},
     {DPL_SIM_NIGHT, DPL_SIM_HOME, 2}},
    {{DPL_SIM_JOB, DPL_SIM_JOB, 24},
     {DPL_SIM_HOME, DPL_SIM_SHOP, 20},
     {DPL_SIM_SHOP, DPL_SIM_HOME, 22},
     {DPL_SIM_JOB, DPL_SIM_HUB, 10},
     {DPL_SIM_HUB, DPL_SIM_JOB, 10},
     {DPL_SIM_JOB, DPL_SIM_SHOP, 14}},
    {{DPL_SIM_JOB, DPL_SIM_HOME, 58},
     {DPL_SIM_JOB, DPL_SIM_HUB, 12},
     {DPL_SIM_SHOP, DPL_SIM_HOME, 14},
     {DPL_SIM_JOB, DPL_SIM_NIGHT, 8},
     {DPL_SIM_HUB, DPL_SIM_HOME, 6},
     {DPL_SIM_HOME, DPL_SIM_NIGHT, 2}},
    {{DPL_SIM_HOME, DPL_SIM_NIGHT, 46},
     {DPL_SIM_NIGHT, DPL_SIM_HOME, 20},
     {DPL_SIM_SHOP, DPL_SIM_HOME, 12},
     {DPL_SIM_HUB, DPL_SIM_HOME, 12},
     {DPL_SIM_JOB, DPL_SIM_HOME, 6},
     {DPL_SIM_NIGHT, DPL_SIM_NIGHT, 4}},
};

static int part_of_day(int hour, bool weekend) {
    if (hour < 5) return 0;
    if (hour < 10) return weekend ? 2 : 1;
    if (hour < 16) return 2;
    return hour < 19 ? (weekend ? 2 : 3) : 4;
}

static int draw_hour(const uint16_t *table, struct dpl_sim_stream *s) {
    int total = 0, hour = 0;
    for (int h = 0; h < 24; h++) total += table[h];
    int target = (int)(dpl_sim_uniform(s) * total);
    while (target >= table[hour]) target -= table[hour++];
    return hour;
}

static struct dpl_sim_leg cab_leg(const struct dpl_sim_city *city,
                                  const struct dpl_sim_range *range, int weekday,
                                  struct dpl_sim_stream *s) {
    // The first hours of Saturday and Sunday belong to the night before: the tables say so.
    bool weekend = weekday >= 5;
    int hour = draw_hour(weekend ? WEEKEND : WEEKDAY, s), left = (int)(dpl_sim_uniform(s) * 100),
        d = 0;
    const struct demand *demand = DEMAND[part_of_day(hour, weekend)];
    while (left >= demand[d].percent) left -= demand[d++].percent;
    struct dpl_sim_leg leg = {.local_s = hour * HOUR_S + (int)(dpl_sim_uniform(s) * HOUR_S)};
    leg.from = dpl_sim_draw(city, (enum dpl_sim_kind)demand[d].from, dpl_sim_next(s));
    leg.to = draw_from(city, range, (enum dpl_sim_kind)demand[d].to, leg.from, s);
    return leg;
}

/* ---- either ---- */

static void sort_legs(struct dpl_sim_leg *leg, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct dpl_sim_leg one = leg[i];
        size_t at = i;
        for (; at > 0 && leg[at - 1].local_s > one.local_s; at--) leg[at] = leg[at - 1];
        leg[at] = one;
    }
}

enum dpl_status dpl_sim_day(struct dpl_run *run, const struct dpl_sim_city *city,
                            const struct dpl_sim_range *range, const struct dpl_sim_person *person,
                            int day, int weekday, size_t count, struct dpl_sim_legs *legs) {
    struct dpl_sim_stream s = {.key =
                                   dpl_sim_key(dpl_sim_key(person->key, SALT_DAY), (uint64_t)day)};
    DPL_TRY(dpl_grow(run, &legs->leg, &legs->capacity, count, sizeof *legs->leg));
    legs->count = count;
    if (person->cab)
        for (size_t i = 0; i < count; i++) legs->leg[i] = cab_leg(city, range, weekday, &s);
    else
        resident_day(person, weekday, count, &s, legs->leg);
    sort_legs(legs->leg, count);
    for (size_t i = 0; i < count; i++) legs->leg[i].local_s += (int64_t)day * DAY_S;
    return DPL_OK;
}
