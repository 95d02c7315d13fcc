/* The measurements of `bridge`: twenty-one vectors of counts, each a Gaussian mechanism on its own,
 * no sampling. Together they are one Gaussian event, whose noise the accountant knows exactly.
 *
 *     lengths -> longest walk -> squares -> places, zones, dayparts -> all other tables
 *
 * Invariants
 *  - PRIVACY: what a unit adds to a table is a function of that unit and of numbers released before
 *    (L_max, the cells), and dpl_exact_add holds it to clip * sqrt(m) for m trips of a unit. Trips
 *    are cut at L_max and moved to the chosen cells first.
 *  - A visit goes to its nearest chosen cell however far that is: a limit would drop whole trips
 * for one far visit, and where trips go outside of the chosen cells the noise hides anyway. Cost: a
 * pass over the visits per table; memory for the largest, K * K. */
#include "method/bridge/measure.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/date.h"
#include "fit/choose.h"
#include "fit/people.h"
#include "method/bridge/constants.h"
#include "roads/seconds.h"

/* ---- the one coordinate of a trip ---- */

static size_t source(const struct dpl_bridge_trip *trip) { return (size_t)trip->cell[0]; }

static size_t destination(const struct dpl_bridge_trip *trip) {
    return (size_t)trip->cell[trip->n - 1];
}

static size_t zone(const struct dpl_bridge_frame *frame, size_t cell) {
    return (size_t)frame->places->zone[cell];
}

static size_t by_source(const struct dpl_bridge_frame *frame, const struct dpl_bridge_trip *trip) {
    return dpl_places_watch(frame->places, trip->period) * frame->places->K + source(trip);
}

static size_t by_source_zone(const struct dpl_bridge_frame *frame,
                             const struct dpl_bridge_trip *trip) {
    return trip->period * frame->places->Z + zone(frame, source(trip));
}

static size_t by_source_alone(const struct dpl_bridge_frame *frame,
                              const struct dpl_bridge_trip *trip) {
    (void)frame;
    return source(trip);
}

static size_t by_destination(const struct dpl_bridge_frame *frame,
                             const struct dpl_bridge_trip *trip) {
    return dpl_places_watch(frame->places, trip->period) * frame->places->K + destination(trip);
}

static size_t by_destination_zone(const struct dpl_bridge_frame *frame,
                                  const struct dpl_bridge_trip *trip) {
    return trip->period * frame->places->Z + zone(frame, destination(trip));
}

static size_t by_destination_alone(const struct dpl_bridge_frame *frame,
                                   const struct dpl_bridge_trip *trip) {
    (void)frame;
    return destination(trip);
}

static size_t by_pair(const struct dpl_bridge_frame *frame, const struct dpl_bridge_trip *trip) {
    return source(trip) * frame->places->K + destination(trip);
}

static size_t by_zone_pair(const struct dpl_bridge_frame *frame,
                           const struct dpl_bridge_trip *trip) {
    size_t daypart = dpl_places_daypart(frame->places, trip->period), Z = frame->places->Z;
    return (daypart * Z + zone(frame, source(trip))) * Z + zone(frame, destination(trip));
}

static size_t by_duration(const struct dpl_bridge_frame *frame,
                          const struct dpl_bridge_trip *trip) {
    size_t daypart = dpl_places_daypart(frame->places, trip->period),
           distance = dpl_places_distance_bin(frame->places, source(trip), destination(trip)),
           groups = dpl_length_group(frame->length_max) + 1;
    return (daypart * DPL_DISTANCE_BINS + distance) * groups + dpl_length_group(trip->n);
}

static size_t by_weekday(const struct dpl_bridge_frame *frame, const struct dpl_bridge_trip *trip) {
    return trip->weekday * frame->places->H + trip->period;
}

/* ---- what a trip adds, visit by visit ---- */

static double visit_weight(const struct dpl_bridge_frame *frame,
                           const struct dpl_bridge_trip *trip) {
    return dpl_visit_weight(frame->places->full_visits, trip->n);
}

static enum dpl_status put_visits(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                  const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const size_t row = dpl_places_watch(frame->places, trip->period) * frame->places->K;
    const double weight = visit_weight(frame, trip);
    for (size_t v = 0; v < trip->n; v++)
        DPL_TRY(dpl_entries_put(run, list, row + (size_t)trip->cell[v], weight));
    return DPL_OK;
}

/* Steps that stay are left to the visits; steps beyond the public limit come from gaps, and no walk
 * takes them. */
static enum dpl_status put_steps(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                 const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const double weight = visit_weight(frame, trip);
    for (size_t v = 1; v < trip->n; v++) {
        size_t step =
            dpl_places_step(frame->places, (size_t)trip->cell[v - 1], (size_t)trip->cell[v]);
        if (step != SIZE_MAX) DPL_TRY(dpl_entries_put(run, list, step, weight));
    }
    return DPL_OK;
}

/* Every move by the one before it, and every stay right after a fast move. Other stays are left to
 * the visits: a trip that rests for hours would fill its norm with them. */
static enum dpl_status put_turns(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                 const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const double weight = visit_weight(frame, trip);
    size_t heading = DPL_NO_HEADING;
    for (size_t v = 1; v < trip->n; v++) {
        size_t a = (size_t)trip->cell[v - 1], b = (size_t)trip->cell[v],
               next = a == b ? DPL_STAY : dpl_places_move(frame->places, a, b);
        if (a != b || dpl_rested(heading) != heading)
            DPL_TRY(dpl_entries_put(run, list, heading * DPL_NEXT + next, weight));
        heading = a == b ? dpl_rested(heading) : next;
    }
    return DPL_OK;
}

/* How far apart the centres of two visits in a row are, by daypart: what `steps` says, too, but
 * with so few entries that the far ones exceed the noise. */
static enum dpl_status put_speeds(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                  const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const struct dpl_places *places = frame->places;
    const size_t row = dpl_places_daypart(places, trip->period) * DPL_MOTION_SPEEDS;
    const double weight = visit_weight(frame, trip);
    for (size_t v = 1; v < trip->n; v++) {
        size_t a = (size_t)trip->cell[v - 1], b = (size_t)trip->cell[v];
        if (!dpl_places_within(places, a, b, places->step_limit_m)) continue;
        DPL_TRY(dpl_entries_put(run, list, row + dpl_places_band(places, a, b), weight));
    }
    return DPL_OK;
}

/* Three visits in a row, and both ends. Standing still and standing on is left to the stops: a trip
 * that rests for hours would fill its norm with it. */
static enum dpl_status put_motion(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                  const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const struct dpl_motion_bins *bins = &frame->bins;
    float per_reach = (float)(1 / dpl_places_reach_m(frame->places));
    double weight = visit_weight(frame, trip);
    struct dpl_step before = {0};
    for (size_t v = 1; v < trip->n; v++) {
        struct dpl_step step =
            dpl_motion_step(bins, per_reach, trip->position[v - 1], trip->position[v]);
        bool stop = v > 1 && before.speed == DPL_MOTION_STILL && step.speed == DPL_MOTION_STILL;
        size_t at =
            v == 1 ? dpl_motion_first(bins, step.speed) : dpl_motion_of(bins, &before, &step);
        if (!stop) DPL_TRY(dpl_entries_put(run, list, at, weight));
        before = step;
    }
    return dpl_entries_put(run, list, dpl_motion_last(bins, before.speed), weight);
}

/* Runs of steps that stand still, two or more: one entry each, by their number. */
static enum dpl_status put_stops(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                 const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    float per_reach = (float)(1 / dpl_places_reach_m(frame->places));
    size_t still = 0;
    for (size_t v = 1; v <= trip->n; v++) {
        bool stands = v < trip->n && dpl_motion_step(&frame->bins, per_reach, trip->position[v - 1],
                                                     trip->position[v])
                                             .speed == DPL_MOTION_STILL;
        if (!stands && still > 1)
            DPL_TRY(dpl_entries_put(run, list, dpl_stop_bin(still), visit_weight(frame, trip)));
        still = stands ? still + 1 : 0;
    }
    return DPL_OK;
}

/* The sixteenth of its place that each visit lies in. */
static enum dpl_status put_fine(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                                const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const struct dpl_places *places = frame->places;
    const struct dpl_grid *grid = &places->grid;
    const double cell_m = grid->area.cell_m, weight = visit_weight(frame, trip);
    for (size_t v = 0; v < trip->n; v++) {
        int32_t cell = places->cell[trip->cell[v]];
        double side = places->side[trip->cell[v]],
               x = ((double)trip->position[v].x_m / cell_m - cell % grid->columns) / side,
               y = ((double)trip->position[v].y_m / cell_m - cell / grid->columns) / side;
        if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
        size_t column = x < 1 ? (size_t)(x * DPL_FINE_SIDE) : DPL_FINE_SIDE - 1,
               row = y < 1 ? (size_t)(y * DPL_FINE_SIDE) : DPL_FINE_SIDE - 1;
        DPL_TRY(dpl_entries_put(
            run, list, (size_t)trip->cell[v] * DPL_FINE + row * DPL_FINE_SIDE + column, weight));
    }
    return DPL_OK;
}

/* ---- the tables ---- */

#define MEMBER(name) offsetof(struct dpl_bridge_tables, name)

/* Shares of the squared budget, normed to 1 by the plan; where they were tuned: constants.h.
 * PRIVACY: a trip makes one entry of 1 where `entry` is given, a norm of 1. The others are clipped:
 * a trip of ten visits to ten cells has a norm of about three, and more where it rests. */
const struct dpl_bridge_spec dpl_bridge_specs[DPL_BRIDGE_TABLES] = {
    [DPL_BRIDGE_LENGTHS] = {.name = "lengths",
                            .share = 0.035,
                            .clip = 1,
                            .axis = {DPL_AXIS_LENGTH_BIN},
                            .count = dpl_count_lengths},
    [DPL_BRIDGE_SQUARES] = {.name = "squares",
                            .share = 0.09,
                            .clip = 7,
                            .axis = {DPL_AXIS_GRID_ROW, DPL_AXIS_GRID_COLUMN},
                            .count = dpl_count_visits,
                            .per_visit = true,
                            .member = MEMBER(squares[0])},
    [DPL_BRIDGE_SQUARES_4] = {.name = "squares_4",
                              .share = 0.04,
                              .clip = 10,
                              .axis = {DPL_AXIS_GRID_ROW_4, DPL_AXIS_GRID_COLUMN_4},
                              .count = dpl_count_visits,
                              .per_visit = true,
                              .member = MEMBER(squares[1])},
    [DPL_BRIDGE_SQUARES_16] = {.name = "squares_16",
                               .share = 0.03,
                               .clip = 14,
                               .axis = {DPL_AXIS_GRID_ROW_16, DPL_AXIS_GRID_COLUMN_16},
                               .count = dpl_count_visits,
                               .per_visit = true,
                               .member = MEMBER(squares[2])},
    [DPL_BRIDGE_VISITS] = {.name = "visits",
                           .share = 0.235,
                           .clip = 5.5,
                           .axis = {DPL_AXIS_WATCH, DPL_AXIS_CELL},
                           .put = put_visits,
                           .per_visit = true,
                           .member = MEMBER(watch_visits)},
    [DPL_BRIDGE_SOURCES] = {.name = "sources",
                            .share = 0.08,
                            .clip = 1,
                            .axis = {DPL_AXIS_WATCH, DPL_AXIS_CELL},
                            .entry = by_source,
                            .member = MEMBER(sources.cells)},
    [DPL_BRIDGE_SOURCE_ZONES] = {.name = "source_zones",
                                 .share = 0.06,
                                 .clip = 1,
                                 .axis = {DPL_AXIS_HOUR, DPL_AXIS_ZONE},
                                 .entry = by_source_zone,
                                 .member = MEMBER(sources.zones)},
    [DPL_BRIDGE_SOURCE_DAY] = {.name = "source_day",
                               .share = 0.02,
                               .clip = 1,
                               .axis = {DPL_AXIS_CELL},
                               .entry = by_source_alone,
                               .member = MEMBER(sources.day)},
    [DPL_BRIDGE_DESTINATIONS] = {.name = "destinations",
                                 .share = 0.08,
                                 .clip = 1,
                                 .axis = {DPL_AXIS_WATCH, DPL_AXIS_CELL},
                                 .entry = by_destination,
                                 .member = MEMBER(destinations.cells)},
    [DPL_BRIDGE_DESTINATION_ZONES] = {.name = "destination_zones",
                                      .share = 0.06,
                                      .clip = 1,
                                      .axis = {DPL_AXIS_HOUR, DPL_AXIS_ZONE},
                                      .entry = by_destination_zone,
                                      .member = MEMBER(destinations.zones)},
    [DPL_BRIDGE_DESTINATION_DAY] = {.name = "destination_day",
                                    .share = 0.02,
                                    .clip = 1,
                                    .axis = {DPL_AXIS_CELL},
                                    .entry = by_destination_alone,
                                    .member = MEMBER(destinations.day)},
    [DPL_BRIDGE_PAIRS] = {.name = "pairs",
                          .share = 0.06,
                          .clip = 1,
                          .axis = {DPL_AXIS_CELL, DPL_AXIS_CELL},
                          .entry = by_pair,
                          .member = MEMBER(pairs)},
    [DPL_BRIDGE_ZONES] = {.name = "zones",
                          .share = 0.07,
                          .clip = 1,
                          .axis = {DPL_AXIS_DAYPART, DPL_AXIS_ZONE, DPL_AXIS_ZONE},
                          .entry = by_zone_pair,
                          .member = MEMBER(zones)},
    [DPL_BRIDGE_DURATIONS] = {.name = "durations",
                              .share = 0.05,
                              .clip = 1,
                              .axis = {DPL_AXIS_DAYPART, DPL_AXIS_DISTANCE, DPL_AXIS_LENGTH_GROUP},
                              .entry = by_duration,
                              .member = MEMBER(durations)},
    [DPL_BRIDGE_STEPS] = {.name = "steps",
                          .share = 0.12,
                          .clip = 4,
                          .axis = {DPL_AXIS_NEAR},
                          .put = put_steps,
                          .per_visit = true,
                          .member = MEMBER(steps)},
    [DPL_BRIDGE_TURNS] = {.name = "turns",
                          .share = 0.02,
                          .clip = 7,
                          .axis = {DPL_AXIS_HEADING, DPL_AXIS_NEXT},
                          .put = put_turns,
                          .per_visit = true,
                          .member = MEMBER(turns)},
    [DPL_BRIDGE_SPEEDS] = {.name = "speeds",
                           .share = 0.015,
                           .clip = 12,
                           .axis = {DPL_AXIS_DAYPART, DPL_AXIS_SPEED},
                           .put = put_speeds,
                           .per_visit = true,
                           .member = MEMBER(speeds)},
    [DPL_BRIDGE_MOTION] = {.name = "motion",
                           .share = 0.03,
                           .clip = 6,
                           .axis = {DPL_AXIS_MOTION},
                           .put = put_motion,
                           .per_visit = true,
                           .member = MEMBER(motion)},
    [DPL_BRIDGE_STOPS] = {.name = "stops",
                          .share = 0.005,
                          .clip = 3,
                          .axis = {DPL_AXIS_STOP},
                          .put = put_stops,
                          .member = MEMBER(stops)},
    [DPL_BRIDGE_FINE] = {.name = "fine",
                         .share = 0.03,
                         .clip = 5,
                         .axis = {DPL_AXIS_CELL, DPL_AXIS_SIXTEENTH},
                         .put = put_fine,
                         .per_visit = true,
                         .member = MEMBER(fine)},
    [DPL_BRIDGE_WEEKDAYS] = {.name = "weekday",
                             .share = 0.02,
                             .clip = 1,
                             .axis = {DPL_AXIS_WEEKDAY, DPL_AXIS_HOUR},
                             .entry = by_weekday,
                             .member = MEMBER(weekdays)},
};

static struct dpl_shape squares_shape(const struct dpl_grid *grid, size_t level) {
    int32_t side = dpl_square_side(level);
    return dpl_shape2((size_t)((grid->rows + side - 1) / side),
                      (size_t)((grid->columns + side - 1) / side));
}

/* Sizes that are known beforehand; the others are 0. */
static void public_sizes(const struct dpl_grid *grid, double size[DPL_BRIDGE_AXES]) {
    memset(size, 0, DPL_BRIDGE_AXES * sizeof *size);
    size[DPL_AXIS_HOUR] = grid->area.periods;
    for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) {
        struct dpl_shape shape = squares_shape(grid, level);
        size[DPL_AXIS_GRID_ROW + level] = (double)shape.size[0];
        size[DPL_AXIS_GRID_COLUMN + level] = (double)shape.size[1];
    }
    size[DPL_AXIS_DISTANCE] = DPL_DISTANCE_BINS, size[DPL_AXIS_LENGTH_BIN] = DPL_LENGTH_BINS;
    size[DPL_AXIS_HEADING] = DPL_HEADINGS, size[DPL_AXIS_NEXT] = DPL_NEXT;
    size[DPL_AXIS_SPEED] = DPL_MOTION_SPEEDS, size[DPL_AXIS_STOP] = DPL_STOP_BINS;
    size[DPL_AXIS_SIXTEENTH] = DPL_FINE, size[DPL_AXIS_WEEKDAY] = DPL_WEEKDAYS;
}

struct dpl_shape dpl_bridge_shape(enum dpl_bridge_table table,
                                  const struct dpl_bridge_frame *frame) {
    const struct dpl_bridge_spec *spec = &dpl_bridge_specs[table];
    const struct dpl_places *places = frame->places;
    struct dpl_shape shape = {0};
    double size[DPL_BRIDGE_AXES];
    public_sizes(&places->grid, size);
    size[DPL_AXIS_CELL] = (double)places->K, size[DPL_AXIS_ZONE] = (double)places->Z;
    size[DPL_AXIS_DAYPART] = (double)places->P, size[DPL_AXIS_WATCH] = (double)places->W;
    size[DPL_AXIS_LENGTH_GROUP] = (double)dpl_length_group(frame->length_max) + 1;
    size[DPL_AXIS_NEAR] = (double)places->near_start[places->K * DPL_SECTORS];
    size[DPL_AXIS_MOTION] = (double)dpl_motion_size(&frame->bins);
    for (; shape.rank < 3 && spec->axis[shape.rank]; shape.rank++)
        shape.size[shape.rank] = (size_t)size[spec->axis[shape.rank]];
    return shape;
}

double dpl_bridge_expect(enum dpl_bridge_table table, const struct dpl_grid *grid, double trips,
                         double cells, double epsilon) {
    static const double VISITS = 10; // of a trip
    const struct dpl_bridge_spec *spec = &dpl_bridge_specs[table];
    double size[DPL_BRIDGE_AXES], n = 1;
    public_sizes(grid, size);
    size[DPL_AXIS_CELL] = cells;
    size[DPL_AXIS_WATCH] = (double)dpl_resolution_for(&grid->area, trips, epsilon).watches;
    for (size_t i = 0; i < 3 && spec->axis[i]; i++) n *= size[spec->axis[i]];
    bool known = n > 0 && (spec->per_visit || !spec->put);
    return known ? trips * (spec->per_visit ? VISITS : 1) / n : NAN;
}

struct dpl_table *dpl_bridge_member(struct dpl_bridge_tables *tables, enum dpl_bridge_table table) {
    return (struct dpl_table *)(void *)((char *)tables + dpl_bridge_specs[table].member);
}

void dpl_bridge_tables_free(struct dpl_bridge_tables *tables) {
    for (int table = DPL_BRIDGE_SQUARES; table < DPL_BRIDGE_TABLES; table++)
        dpl_table_free(dpl_bridge_member(tables, (enum dpl_bridge_table)table));
    dpl_table_free(&tables->visits);
    dpl_free(tables->cell_visits), dpl_free(tables->place), dpl_free(tables->within);
    dpl_free(tables->lengths), dpl_free(tables->lengths_share), dpl_free(tables->road_seconds);
    *tables = (struct dpl_bridge_tables){0};
}

/* ---- counting ---- */

static enum dpl_status put_trip(struct dpl_run *run, const struct dpl_bridge_about *about,
                                const struct dpl_bridge_trip *trip, struct dpl_entries *list) {
    const struct dpl_bridge_spec *spec = &dpl_bridge_specs[about->table];
    if (spec->put) return spec->put(run, about->frame, trip, list);
    return dpl_entries_put(run, list, spec->entry(about->frame, trip), 1);
}

enum dpl_status dpl_bridge_count(struct dpl_run *run, const void *about,
                                 const struct dpl_part *part, struct dpl_exact *exact) {
    const struct dpl_units *units = &part->reduced.units;
    struct dpl_entries list = {0};
    enum dpl_status status = DPL_OK;
    for (size_t u = 0; u < units->n_units; u++) {
        size_t begin, end;
        list.n = 0;
        dpl_unit_trips(units, u, &begin, &end);
        for (size_t t = begin; t < end; t++) {
            const struct dpl_bridge_trip trip = {.cell = units->cell + units->trip_start[t],
                                                 .position = units->position + units->trip_start[t],
                                                 .n = units->trip_start[t + 1] -
                                                      units->trip_start[t],
                                                 .period = units->period[t],
                                                 .weekday = units->weekday[t]};
            DPL_GO(put_trip(run, about, &trip, &list));
        }
        DPL_GO(dpl_exact_add(run, exact, list.entry,
                             list.n)); // PRIVACY: the whole unit in one call, clipped there
    }
done:
    dpl_free(list.entry);
    return status;
}

/* ---- sizes ---- */

/* Beginning at the fullest bin, while bins exceed the noise, or to the last that exceeds it
 * clearly: one bin that noise has emptied must not cut off all behind it. And no further than all
 * but a thousandth of trips. */
int32_t dpl_bridge_length_max(const struct dpl_noised *lengths) {
    double count[DPL_LENGTH_BINS], total = 0, sum = 0,
                                   least = LENGTH_NOISES * dpl_noised_deviation(lengths);
    size_t last = 0;
    for (size_t i = 0; i < DPL_LENGTH_BINS; i++) {
        count[i] = dpl_noised_value(lengths, i);
        if (count[i] > count[last]) last = i;
    }
    while (last + 1 < DPL_LENGTH_BINS && count[last + 1] > least) last++;
    for (size_t i = last; i < DPL_LENGTH_BINS; i++)
        if (count[i] > LENGTH_NOISES_CLEAR / LENGTH_NOISES * least) last = i;
    for (size_t i = 0; i <= last; i++) total += fmax(count[i], 0);
    for (size_t i = 0; i <= last; i++) {
        sum += fmax(count[i], 0);
        if (sum >= LENGTH_QUANTILE_MOST * total) last = i;
    }
    int32_t longest = dpl_length_bin_top(last);
    return longest < 3 ? 3 : longest > DPL_BRIDGE_LENGTH_MOST ? DPL_BRIDGE_LENGTH_MOST : longest;
}

static enum dpl_status spread_lengths(struct dpl_run *run, const struct dpl_noised *noised,
                                      struct dpl_bridge_tables *tables) {
    double count[DPL_LENGTH_BINS];
    tables->lengths = dpl_alloc(run, tables->length_max + 1, sizeof *tables->lengths);
    tables->lengths_share = dpl_alloc(run, tables->length_max + 1, sizeof *tables->lengths_share);
    if (!tables->lengths || !tables->lengths_share) return DPL_SYSTEM;
    tables->lengths_sigma = dpl_noised_deviation(noised);
    for (size_t bin = 0; bin < DPL_LENGTH_BINS; bin++) count[bin] = dpl_noised_value(noised, bin);
    dpl_lengths_spread(count, tables);
    return DPL_OK;
}

/* "trips" counts a user as m of them at most: how many all are, and what tables that scale users
 * down leave of them. */
static void tell_all_trips(const struct dpl_crowd *crowd, double m, struct dpl_model *model,
                           struct dpl_bridge_tables *tables) {
    double capped = dpl_crowd_capped(crowd, m), trips = tables->trips;
    if (!(capped > 0)) return;
    model->trips_estimated = (int64_t)fmin(rint(trips * dpl_crowd_trips(crowd) / capped), 0x1p40);
    tables->trips = trips * dpl_crowd_counted(crowd, m) / capped;
}

static enum dpl_status measure_sizes(struct dpl_run *run, struct dpl_parts *parts,
                                     struct dpl_release *release, struct dpl_model *model,
                                     struct dpl_bridge_tables *tables) {
    const struct dpl_question lengths = {.name = dpl_bridge_specs[DPL_BRIDGE_LENGTHS].name,
                                         .shape = dpl_shape1(DPL_LENGTH_BINS),
                                         .count = dpl_count_lengths};
    struct dpl_noised *noised = NULL;
    struct dpl_crowd crowd = {0};
    if (model->per_user) DPL_TRY(dpl_people_users(run, release, parts, model, &crowd));
    DPL_TRY(dpl_release_measure(run, release, lengths, parts, &noised));
    tables->length_max = (size_t)dpl_bridge_length_max(noised);
    model->length_max = DPL_BRIDGE_LENGTH_MOST;
    enum dpl_status status = spread_lengths(run, noised, tables);
    dpl_noised_free(noised);
    DPL_TRY(status);
    DPL_TRY(dpl_choose_trips(run, release, parts, model));
    if (model->per_user) DPL_TRY(dpl_people_measure(run, release, parts, model));
    tables->trips = (double)(model->trips_estimated < 1 ? 1 : model->trips_estimated);
    const int64_t fixed = release->options->budget.trips_max, chosen = release->trips_max;
    if (model->per_user && fixed == 0) tell_all_trips(&crowd, (double)chosen, model, tables);
    tables->worth = tables->trips / sqrt((double)(fixed > 0 ? fixed : chosen));
    return DPL_OK;
}

/* ---- places ---- */

static double total(const struct dpl_table *table) {
    double sum = 0;
    for (size_t i = 0; i < table->n; i++) sum += table->value[i];
    return sum;
}

static void multiply(double factor, struct dpl_table *table) {
    for (size_t i = 0; i < table->n; i++) table->value[i] *= factor;
    table->sigma *= factor;
}

/* PRIVACY: filled from a noised vector. */
static enum dpl_status take_noised(struct dpl_run *run, const struct dpl_noised *noised,
                                   struct dpl_table *table) {
    size_t n = dpl_noised_count(noised);
    *table = (struct dpl_table){.n = n,
                                .sigma = dpl_noised_deviation(noised),
                                .value = dpl_alloc(run, n, sizeof *table->value)};
    if (!table->value) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) table->value[i] = dpl_noised_value(noised, i);
    return DPL_OK;
}

/* Where noised squares go, and what a visit counted in them. */
struct squares_taken {
    struct dpl_bridge_tables *tables;
    double scale;
};

static enum dpl_status take_squares(struct dpl_run *run, void *context, size_t level,
                                    const struct dpl_noised *noised) {
    const struct squares_taken *taken = context;
    struct dpl_table *table = &taken->tables->squares[level];
    DPL_TRY(take_noised(run, noised, table));
    multiply(1 / taken->scale, table);
    return DPL_OK;
}

/* All levels in one round. The less a visit counts, the more of a trip stays below the clip: where
 * trips are many, what clipping takes away is more than the noise that counting less lets grow. */
static enum dpl_status measure_squares(struct dpl_run *run, struct dpl_parts *parts,
                                       struct dpl_release *release, const struct dpl_grid *grid,
                                       const struct dpl_resolution *resolution,
                                       struct dpl_bridge_tables *tables) {
    const double scale = pow(SQUARES_SCALE, resolution->wealth);
    struct squares_taken taken = {.tables = tables, .scale = scale};
    struct dpl_cut cut[DPL_SQUARE_LEVELS];
    struct dpl_question question[DPL_SQUARE_LEVELS];
    for (size_t level = 0; level < DPL_SQUARE_LEVELS; level++) {
        cut[level] = (struct dpl_cut){.length_max = (int32_t)tables->length_max,
                                      .weight = dpl_visit_weight,
                                      .full_visits = resolution->full_visits,
                                      .scale = scale,
                                      .side = dpl_square_side(level)};
        question[level] =
            (struct dpl_question){.name = dpl_bridge_specs[DPL_BRIDGE_SQUARES + level].name,
                                  .shape = squares_shape(grid, level),
                                  .count = dpl_count_visits,
                                  .about = &cut[level]};
    }
    return dpl_release_measure_all(run, release, question, DPL_SQUARE_LEVELS, parts, take_squares,
                                   &taken);
}

/* Without visits that stand out of the noise all places would be made up. */
static enum dpl_status check_visits(struct dpl_run *run, const struct dpl_table *widest) {
    double sum = total(widest), noise = widest->sigma * sqrt((double)widest->n);
    if (sum > VISITS_NOISES * noise && sum >= 2) return DPL_OK;
    return dpl_fail(run, DPL_BAD_DATA,
                    "no visits stand out of the noise (%.0f are seen in the whole box, with noise "
                    "of %.0f); ask for a larger `budget.epsilon`, and see that the box is where "
                    "the trips are",
                    sum, noise);
}

static enum dpl_status sum_visits(struct dpl_run *run, const struct dpl_grid *grid,
                                  const struct dpl_squares *squares,
                                  struct dpl_bridge_tables *tables) {
    size_t K = squares->n, n_cells = dpl_squares_count(grid, 1);
    tables->visits = (struct dpl_table){
        .n = K, .sigma = tables->squares[0].sigma, .value = dpl_alloc(run, K, sizeof(double))};
    tables->within = dpl_alloc(run, K * DPL_FINE, sizeof *tables->within);
    tables->place = dpl_alloc(run, n_cells, sizeof *tables->place);
    if (!tables->visits.value || !tables->within || !tables->place) return DPL_SYSTEM;
    memcpy(tables->place, squares->of, n_cells * sizeof *tables->place);
    for (size_t cell = 0; cell < n_cells; cell++)
        tables->visits.value[squares->of[cell]] += tables->cell_visits[cell];
    dpl_squares_within(grid, squares, tables->cell_visits, tables->within);
    return DPL_OK;
}

/* The places as the model's, and every part's trips on them: each visit in the place that its cell
 * is a part of. */
static enum dpl_status move_to_places(struct dpl_run *run, const struct dpl_squares *squares,
                                      size_t length_max, struct dpl_parts *parts,
                                      struct dpl_model *model) {
    const struct dpl_topk all = {
        .n_cells = (int32_t)squares->n, .cell = squares->cell, .nearest = squares->of};
    int32_t *sides;
    DPL_TRY(dpl_choose_store(run, &all, model));
    DPL_TRY(dpl_model_add(run, model, "sides", DPL_TENSOR_I32, 1, &squares->n, &sides));
    memcpy(sides, squares->side, squares->n * sizeof *sides);
    return dpl_parts_reduce(run, parts, (int32_t)length_max, &all);
}

/* What is in each cell, once more, now that the places are chosen.
 *
 * PRIVACY: after the noise. Places, and so what is asked of the trips, do not depend on the map. */
static enum dpl_status use_roads(struct dpl_run *run, const struct dpl_model *model,
                                 struct dpl_bridge_tables *tables) {
    const struct dpl_grid *grid = &model->grid;
    const float *roads;
    if (!dpl_model_has(model, DPL_MODEL_ROADS)) return DPL_OK;
    DPL_TRY(dpl_model_get(run, model, DPL_MODEL_ROADS, DPL_TENSOR_F32, 2,
                          (size_t[]){(size_t)grid->rows, (size_t)grid->columns}, &roads));
    return dpl_squares_estimate(run, grid, tables->squares, roads, tables->cell_visits);
}

static enum dpl_status choose_places(struct dpl_run *run, struct dpl_parts *parts,
                                     struct dpl_release *release, struct dpl_model *model,
                                     const struct dpl_resolution *resolution,
                                     struct dpl_bridge_tables *tables) {
    const struct dpl_grid *grid = &model->grid;
    struct dpl_squares squares = {0};
    double *visits = dpl_alloc(run, dpl_squares_count(grid, 1), sizeof *visits);
    enum dpl_status status = DPL_SYSTEM;
    if (!(tables->cell_visits = visits)) return status;
    DPL_GO(measure_squares(run, parts, release, grid, resolution, tables));
    DPL_GO(check_visits(run, &tables->squares[DPL_SQUARE_LEVELS - 1]));
    DPL_GO(dpl_squares_estimate(run, grid, tables->squares, NULL, visits));
    DPL_GO(dpl_squares_choose(run, grid, visits, tables->squares[0].sigma,
                              dpl_step_limit_m(&grid->area), &squares));
    DPL_GO(dpl_squares_drop(run, grid, visits, (size_t)PLACES_MOST, &squares));
    DPL_GO(use_roads(run, model, tables));
    DPL_GO(sum_visits(run, grid, &squares, tables));
    DPL_GO(move_to_places(run, &squares, tables->length_max, parts, model));
done:
    dpl_squares_free(&squares);
    return status;
}

/* ---- tables ---- */

/* With several trips per unit, clipping leaves less than all trips: then the table is scaled to the
 * number of trips, and its noise. */
static void scale_table(double trips, struct dpl_table *table) {
    double sum = total(table), factor = sum > 0 ? fmin(fmax(trips / sum, 1), SCALE_MOST) : 1;
    multiply(factor, table);
}

/* Where noised tables go. */
struct taking {
    struct dpl_bridge_tables *tables;
    bool per_user;
};

static enum dpl_status take_table(struct dpl_run *run, void *context, size_t i,
                                  const struct dpl_noised *noised) {
    const struct taking *taking = context;
    const enum dpl_bridge_table which = (enum dpl_bridge_table)(DPL_BRIDGE_VISITS + i);
    struct dpl_table *table = dpl_bridge_member(taking->tables, which);
    DPL_TRY(take_noised(run, noised, table));
    if (taking->per_user && dpl_bridge_specs[which].entry)
        scale_table(taking->tables->trips, table);
    return DPL_OK;
}

/* None depends on another: they are one round. */
static enum dpl_status measure_tables(struct dpl_run *run, struct dpl_parts *parts,
                                      struct dpl_release *release,
                                      const struct dpl_bridge_frame *frame, bool per_user,
                                      struct dpl_bridge_tables *tables) {
    enum { N = DPL_BRIDGE_TABLES - DPL_BRIDGE_VISITS };
    struct taking taking = {tables, per_user};
    struct dpl_bridge_about about[N];
    struct dpl_question question[N];
    for (int i = 0; i < N; i++) {
        about[i] = (struct dpl_bridge_about){(enum dpl_bridge_table)(DPL_BRIDGE_VISITS + i), frame};
        question[i] = (struct dpl_question){.name = dpl_bridge_specs[about[i].table].name,
                                            .shape = dpl_bridge_shape(about[i].table, frame),
                                            .count = dpl_bridge_count,
                                            .about = &about[i],
                                            .axes = dpl_bridge_axes(about[i].table, frame)};
    }
    enum dpl_status status = DPL_OK;
    for (int i = 0; status == DPL_OK && i < N; i++)
        if (!question[i].axes) status = dpl_fail(run, DPL_SYSTEM, "out of memory");
    if (status == DPL_OK)
        status = dpl_release_measure_all(run, release, question, N, parts, take_table, &taking);
    for (int i = 0; i < N; i++) json_decref(question[i].axes);
    return status;
}

/* Visits by watch are clipped earlier than squares. Rich data scales them to the total of these, as
 * measured: estimates of squares are lifted where they are noise. In thin data the squares are
 * clipped nearly alike, and counts by watch, being noise for the most part, had better not grow. */
static void match_visits(double wealth, struct dpl_bridge_tables *tables) {
    double of_squares = total(&tables->squares[0]), of_watches = total(&tables->watch_visits),
           factor = of_watches > 0 ? fmin(fmax(of_squares / of_watches, 1), MATCH_MOST) : 1;
    multiply(pow(factor, wealth), &tables->watch_visits);
}

/* Seconds by road of every step: what the model has of them in a replay, else by the map.
 *
 * PRIVACY: a public map; which steps there are follows from the noised places. */
static enum dpl_status take_seconds(struct dpl_run *run, const struct dpl_release *release,
                                    const struct dpl_places *places, struct dpl_model *model,
                                    struct dpl_bridge_tables *tables) {
    size_t n = places->near_start[places->K * DPL_SECTORS];
    float *kept;
    if (!release->map && !dpl_model_has(model, DPL_MODEL_ROAD_SECONDS)) return DPL_OK;
    tables->road_seconds = dpl_alloc(run, n, sizeof *tables->road_seconds);
    if (!tables->road_seconds) return DPL_SYSTEM;
    if (!release->map) {
        const float *seconds;
        DPL_TRY(dpl_model_get(run, model, DPL_MODEL_ROAD_SECONDS, DPL_TENSOR_F32, 1, &n, &seconds));
        memcpy(tables->road_seconds, seconds, n * sizeof *seconds);
        return DPL_OK;
    }
    const struct dpl_roads_pairs pairs = {.n = places->K,
                                          .cell = places->cell,
                                          .side = places->side,
                                          .start = places->near_start,
                                          .stride = DPL_SECTORS,
                                          .to = places->near};
    DPL_TRY(dpl_roads_seconds(run, release->map, &pairs, ROAD_SLOTS_MOST * places->grid.area.slot_s,
                              tables->road_seconds));
    DPL_TRY(dpl_model_add(run, model, DPL_MODEL_ROAD_SECONDS, DPL_TENSOR_F32, 1, &n, &kept));
    memcpy(kept, tables->road_seconds, n * sizeof *kept);
    return DPL_OK;
}

/* What drawing must know of how the tables were made. */
static enum dpl_status store_options(struct dpl_run *run, struct dpl_resolution resolution,
                                     const struct dpl_bridge_tables *tables,
                                     struct dpl_model *model) {
    json_t *options =
        json_pack("{s:I, s:f, s:b, s:I, s:f, s:f}", "bridge_parts", (json_int_t)resolution.dayparts,
                  "bridge_zone_m", resolution.zone_m, "bridge_fine_motion", tables->fine_motion,
                  "bridge_walk_max", (json_int_t)tables->length_max, "bridge_tail_share",
                  dpl_lengths_tail_share(tables), "bridge_tail_power", tables->tail_power);
    int failed = !options || json_object_update(model->options, options) != 0;
    json_decref(options);
    return failed ? dpl_fail(run, DPL_SYSTEM, "out of memory") : DPL_OK;
}

enum dpl_status dpl_bridge_measure(struct dpl_run *run, struct dpl_parts *parts,
                                   struct dpl_release *release, struct dpl_model *model,
                                   struct dpl_places **places, struct dpl_bridge_tables *tables) {
    double epsilon = dpl_plan_epsilon(release->plan);
    DPL_TRY(measure_sizes(run, parts, release, model, tables));
    struct dpl_resolution resolution =
        dpl_resolution_for(&model->grid.area, tables->worth, epsilon);
    resolution.full_visits = dpl_full_visits_for(dpl_lengths_mean(tables));
    DPL_TRY(choose_places(run, parts, release, model, &resolution, tables));
    DPL_TRY(dpl_places_new(run, &model->grid, model->cell, model->side, (size_t)model->n_cells,
                           resolution, places));
    tables->fine_motion = dpl_fine_motion_for(tables->worth, epsilon);
    const struct dpl_bridge_frame frame = {.places = *places,
                                           .length_max = tables->length_max,
                                           .bins = dpl_motion_bins_make(tables->fine_motion)};
    DPL_TRY(measure_tables(run, parts, release, &frame, model->per_user, tables));
    match_visits(resolution.wealth, tables);
    DPL_TRY(take_seconds(run, release, *places, model, tables));
    return store_options(run, resolution, tables, model);
}
