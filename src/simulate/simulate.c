/* dploc simulate: who makes how many trips when, in blocks over the threads.
 *
 * Users are cut into blocks of about BLOCK_TRIPS trips by the options alone. A thread makes a block
 * with streams keyed by (seed, user, trip) and formats it into its own text; texts are written in
 * block order. So the bytes do not depend on the number of threads, and memory is the trees (at
 * most 16 per node of the network, about 2 KB each), plus one block per thread, whatever the number
 * of trips.
 *
 * A user's trips never overlap: each starts after the one before has ended and the way between the
 * two has been driven. */
#include <string.h>

#include "simulate/simulate.h"
#include "base/options.h"
#include "base/date.h"

enum { PATTERN = 16, BLOCK_TRIPS = 2000, DAY_S = 86400, MAX_DAYS = 1000, MAX_DATE_DAYS = 100000 };
enum { MAX_A_DAY_DRIVING = 30, MAX_A_DAY_WALKING = 12 };
enum salt { SALT_TRIP = 31, SALT_CALENDAR };

static const int64_t MAX_TRIPS = 1000000000, MAX_USERS = 100000000;
static const struct dpl_sim_range DRIVING = {1700, 850}, WALKING = {1900, 700};

/* How busy users are, by number modulo PATTERN; the busiest are cabs. */
enum { CAB = 10 };
static const uint8_t BUSY[PATTERN] = {3, 2, 4, 3, CAB, 3, 2, 3, 4, CAB, 3, 2, 3, 3, CAB, 4};

struct simulation {
    struct dpl_simulate_options options; /* users filled in */
    struct dpl_sim_range range;
    int64_t first_day; /* since 1970 */
    struct dpl_sim_city city;
    struct dpl_sim_router router;
    struct dpl_sim_output *output;
    int64_t block_users, n_blocks;
    int64_t n_fixes;
};

/* What a thread needs, reused from user to user. */
struct worker {
    struct dpl_sim_scratch scratch;
    struct dpl_sim_legs legs;
    struct dpl_sim_log log;
    struct dpl_sim_text text;
    uint32_t *a_day; /* (days) trips of the user on each day */
    int64_t n_fixes;
};

struct dpl_simulate_options dpl_simulate_defaults(void) {
    return (struct dpl_simulate_options){.struct_size = sizeof(struct dpl_simulate_options),
                                         .trips = 100000,
                                         .days = 28,
                                         .date = "2025-03-03",
                                         .seed = 1,
                                         .city = 1};
}

/* ---- options ---- */

/* How busy the users before `user` are together. */
static int64_t busy_before(int64_t user) {
    int64_t sum = 0, all = 0;
    for (int i = 0; i < PATTERN; i++) all += BUSY[i], sum += i < user % PATTERN ? BUSY[i] : 0;
    return user / PATTERN * all + sum;
}

/* The trips before those of `user`, all users together making exactly options.trips. */
static int64_t trips_before(const struct simulation *sim, int64_t user) {
    return sim->options.trips * busy_before(user) / busy_before(sim->options.users);
}

static enum dpl_status parse_date(struct dpl_run *run, const char *text, int64_t *day) {
    if (dpl_date_parse(text, '-', day) && !text[10] && *day >= 365 && *day < MAX_DATE_DAYS)
        return DPL_OK;
    return dpl_fail(run, DPL_USAGE, "'%.32s' is not a date from 1971 on (use YYYY-MM-DD)", text);
}

static enum dpl_status check_choices(struct dpl_run *run, const struct dpl_simulate_options *o) {
    if ((unsigned)o->layout > DPL_LAYOUT_GEOLIFE || (unsigned)o->sampling > DPL_SAMPLING_REGULAR ||
        (unsigned)o->pace > DPL_PACE_WALK)
        return dpl_fail(run, DPL_USAGE, "layout, sampling or pace is not one of the named values");
    if (o->dirty && o->layout != DPL_LAYOUT_CSV)
        return dpl_fail(run, DPL_USAGE, "dirty rows can be added to the csv layout only");
    return DPL_OK;
}

static enum dpl_status check_options(struct dpl_run *run, struct simulation *sim) {
    struct dpl_simulate_options *o = &sim->options;
    if (o->trips < 1 || o->trips > MAX_TRIPS)
        return dpl_fail(run, DPL_USAGE, "%lld trips are not between 1 and a thousand million",
                        (long long)o->trips);
    if (o->days < 1 || o->days > MAX_DAYS)
        return dpl_fail(run, DPL_USAGE, "%lld days are not between 1 and %d", (long long)o->days,
                        MAX_DAYS);
    DPL_TRY(check_choices(run, o));
    int64_t a_day = o->pace == DPL_PACE_WALK ? MAX_A_DAY_WALKING : MAX_A_DAY_DRIVING;
    if (o->users == 0) {
        // One per 40 trips in four weeks; more when the days are few.
        o->users = o->trips / 40 > 50 ? o->trips / 40 : 50;
        int64_t needed = o->trips / (a_day / 4 * o->days) + 1;
        if (o->users < needed) o->users = needed;
        if (o->users > o->trips) o->users = o->trips;
    }
    if (o->users < 1 || o->users > MAX_USERS)
        return dpl_fail(run, DPL_USAGE, "%lld users are not between 1 and a hundred million",
                        (long long)o->users);
    if (o->trips * CAB / busy_before(o->users) > a_day * o->days)
        return dpl_fail(run, DPL_USAGE,
                        "%lld trips in %lld days are more than %lld users can make (the busiest "
                        "make at most %lld a day); give more users or days",
                        (long long)o->trips, (long long)o->days, (long long)o->users,
                        (long long)a_day);
    DPL_TRY(parse_date(run, o->date ? o->date : "", &sim->first_day));
    if (o->layout == DPL_LAYOUT_PORTO && o->sampling == DPL_SAMPLING_IRREGULAR) {
        o->sampling = DPL_SAMPLING_REGULAR;
        dpl_note(run, "The Porto layout holds one point per 15 s, so the sampling is regular.");
    }
    sim->range = o->pace == DPL_PACE_WALK ? WALKING : DRIVING;
    return DPL_OK;
}

/* ---- one user ---- */

/* Spreads the user's trips over the days: fewer on weekends, more on Fridays. */
static void fill_calendar(const struct simulation *sim, const struct dpl_sim_person *person,
                          int64_t trips, uint32_t *a_day) {
    static const double ACTIVE[7] = {0.92, 0.94, 0.95, 0.96, 1, 0.85, 0.7};
    struct dpl_sim_stream s = {.key = dpl_sim_key(person->key, SALT_CALENDAR)};
    memset(a_day, 0, (size_t)sim->options.days * sizeof *a_day);
    while (trips > 0) {
        int64_t day = (int64_t)(dpl_sim_next(&s) % (uint64_t)sim->options.days);
        if (dpl_sim_uniform(&s) >= ACTIVE[(sim->first_day + day + 3) % 7]) continue;
        a_day[day]++;
        trips--;
    }
}

static enum dpl_status make_trip(struct dpl_run *run, struct simulation *sim,
                                 const struct dpl_sim_person *person, const struct dpl_sim_leg *leg,
                                 int32_t *here, struct worker *w) {
    struct dpl_sim_log *log = &w->log;
    struct dpl_sim_stream s = {
        .key = dpl_sim_key(dpl_sim_key(person->key, SALT_TRIP), (uint64_t)log->n_trips)};
    struct dpl_sim_trip trip = {
        .from = leg->from, .to = leg->to, .regular = sim->options.sampling == DPL_SAMPLING_REGULAR};
    trip.utc_s = dpl_zone_utc_s(sim->city.zone, sim->first_day * DAY_S + leg->local_s);
    if (log->n_trips > 0) {
        double way_mps = sim->options.pace == DPL_PACE_WALK ? 1.3 : 8;
        int64_t ready_s = log->fix[log->n_fixes - 1].utc_s + 120 +
                          (int64_t)(dpl_sim_distance_m(&sim->city, *here, leg->from) / way_mps);
        if (trip.utc_s < ready_s) trip.utc_s = ready_s + (int64_t)(dpl_sim_next(&s) % 60);
    }
    *here = leg->to;
    return dpl_sim_travel(run, &sim->router, person, &trip, &s, &w->scratch, log);
}

static enum dpl_status make_user(struct dpl_run *run, struct simulation *sim, int64_t user,
                                 struct worker *w) {
    struct dpl_sim_person person;
    int64_t before = trips_before(sim, user), trips = trips_before(sim, user + 1) - before;
    int32_t here = 0;
    w->log.user = user + 1;
    w->log.first_trip = before + 1;
    w->log.n_trips = w->log.n_fixes = 0;
    if (trips == 0) return DPL_OK;
    dpl_sim_person_make(&sim->city, &sim->range, sim->options.seed, user,
                        BUSY[user % PATTERN] == CAB, &person);
    fill_calendar(sim, &person, trips, w->a_day);
    for (int day = 0; day < sim->options.days; day++) {
        if (w->a_day[day] == 0) continue;
        int weekday = (int)((sim->first_day + day + 3) % 7);
        DPL_TRY(dpl_sim_day(run, &sim->city, &sim->range, &person, day, weekday, w->a_day[day],
                            &w->legs));
        for (size_t i = 0; i < w->legs.count; i++)
            DPL_TRY(make_trip(run, sim, &person, &w->legs.leg[i], &here, w));
    }
    w->n_fixes += (int64_t)w->log.n_fixes;
    return DPL_OK;
}

/* ---- blocks ---- */

static enum dpl_status make_block(struct dpl_run *run, struct simulation *sim, int64_t block,
                                  struct worker *w) {
    int64_t first = block * sim->block_users, end = first + sim->block_users;
    if (end > sim->options.users) end = sim->options.users;
    DPL_TRY(dpl_check_interrupt(run));
    for (int64_t user = first; user < end; user++) {
        DPL_TRY(make_user(run, sim, user, w));
        DPL_TRY(dpl_sim_output_add(sim->output, &w->log, &w->text));
    }
    dpl_progress_add(run, (double)(trips_before(sim, end) - trips_before(sim, first)));
    return DPL_OK;
}

static enum dpl_status worker_make(struct dpl_run *run, const struct simulation *sim,
                                   struct worker *w) {
    *w = (struct worker){0};
    w->a_day = dpl_alloc(run, (size_t)sim->options.days, sizeof *w->a_day);
    if (!w->a_day) return DPL_SYSTEM;
    return dpl_sim_scratch_make(run, &sim->city, &w->scratch);
}

static void worker_free(struct worker *w) {
    dpl_free(w->text.bytes);
    dpl_free(w->log.start);
    dpl_free(w->log.fix);
    dpl_free(w->legs.leg);
    dpl_free(w->a_day);
    dpl_sim_scratch_free(&w->scratch);
}

static enum dpl_status make_blocks(struct dpl_run *run, struct simulation *sim) {
    _Atomic int ended = DPL_OK;
    int64_t n_fixes = 0;
#pragma omp parallel num_threads(dpl_run_threads(run)) reduction(+ : n_fixes)
    {
        struct worker w;
        enum dpl_status status = worker_make(run, sim, &w);
        if (status != DPL_OK) ended = (int)status;
#pragma omp for ordered schedule(dynamic, 1)
        for (int64_t block = 0; block < sim->n_blocks; block++) {
            if (ended == DPL_OK) {
                enum dpl_status made = make_block(run, sim, block, &w);
                if (made != DPL_OK) ended = (int)made;
            }
#pragma omp ordered
            if (ended == DPL_OK) {
                enum dpl_status written = dpl_sim_output_write(sim->output, &w.text);
                if (written != DPL_OK) ended = (int)written;
            }
        }
        n_fixes += w.n_fixes;
        worker_free(&w);
    }
    sim->n_fixes = n_fixes;
    return (enum dpl_status)ended;
}

enum dpl_status dpl_simulate(struct dpl_run *run, const struct dpl_simulate_options *options,
                             const char *path) {
    struct simulation sim = {.options = dpl_simulate_defaults()};
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "simulate", options, &sim.options));
    DPL_TRY(check_options(run, &sim));
    sim.block_users = sim.options.users * BLOCK_TRIPS / sim.options.trips + 1;
    sim.n_blocks = (sim.options.users + sim.block_users - 1) / sim.block_users;

    enum dpl_status status;
    DPL_GO(dpl_sim_city_make(run, sim.options.city, &sim.city));
    DPL_GO(dpl_sim_output_open(run, &sim.options, path, sim.options.users,
                               &sim.output)); // early: a bad path should not cost a minute
    if (sim.options.roads_out)
        DPL_GO(dpl_sim_write_streets(run, &sim.city, sim.options.roads_out, sim.options.overwrite));
    DPL_GO(dpl_sim_router_make(run, &sim.city, sim.options.pace == DPL_PACE_WALK, &sim.router));
    dpl_progress_begin(run, "simulating", "trips", (double)sim.options.trips);
    status = make_blocks(run, &sim);
    dpl_progress_end(run);
    if (status == DPL_OK) {
        struct dpl_sim_output *output = sim.output;
        sim.output = NULL;
        status = dpl_sim_output_commit(output);
    }
done:
    dpl_sim_output_abort(sim.output);
    dpl_sim_router_free(&sim.router);
    dpl_sim_city_free(&sim.city);
    if (status == DPL_OK)
        dpl_note(run,
                 "Made %lld trips of %lld users with %lld points; read them with `dpl_area_preset` "
                 "simulated.",
                 (long long)sim.options.trips, (long long)sim.options.users,
                 (long long)sim.n_fixes);
    return status;
}
