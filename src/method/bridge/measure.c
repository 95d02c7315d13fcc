/* The measurements of `bridge`: eighteen vectors of counts, each a Gaussian mechanism on its own,
 * no sampling. Together they are one Gaussian event, whose noise the accountant knows exactly.
 *
 * PRIVACY: what a unit adds to a vector is a function of that unit and of numbers released before
 * (L_max, the cells), and dpl_exact_add holds it to clip * sqrt(m) for m trips of a unit. Trips are
 * cut at L_max and moved to the chosen cells first. A visit goes to its nearest chosen cell however
 * far that is: a limit would drop whole trips for one far visit, and where trips go outside of the
 * chosen cells the noise hides anyway. */
#include "method/bridge/measure.h"

#include <math.h>
#include <string.h>

/* Shares of the squared budget, chosen on the even cabs of the sf sample and on simulated cities.
 * PRIVACY: a trip makes one entry in sources, destinations, pairs, zones, durations: norm 1.
 * Visits, steps and turns of one trip are clipped: a trip of ten visits to ten cells has a norm of
 * about three, and more where it rests. */
const struct dpl_mechanism dpl_bridge_mechanisms[DPL_BRIDGE_MECHANISMS] = {
    [DPL_BRIDGE_LENGTHS] = {.name = "lengths",
                            .kind = DPL_EVENT_GAUSSIAN,
                            .share = 0.035,
                            .clip = 1,
                            .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_TOPK] = {.name = "topk",
                         .kind = DPL_EVENT_GAUSSIAN,
                         .share = 0.09,
                         .clip = 7,
                         .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_VISITS] = {.name = "visits",
                           .kind = DPL_EVENT_GAUSSIAN,
                           .share = 0.235,
                           .clip = 7,
                           .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_SOURCES] = {.name = "sources",
                            .kind = DPL_EVENT_GAUSSIAN,
                            .share = 0.08,
                            .clip = 1,
                            .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_SOURCE_ZONES] = {.name = "source_zones",
                                 .kind = DPL_EVENT_GAUSSIAN,
                                 .share = 0.06,
                                 .clip = 1,
                                 .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_SOURCE_DAY] = {.name = "source_day",
                               .kind = DPL_EVENT_GAUSSIAN,
                               .share = 0.02,
                               .clip = 1,
                               .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_DESTINATIONS] = {.name = "destinations",
                                 .kind = DPL_EVENT_GAUSSIAN,
                                 .share = 0.08,
                                 .clip = 1,
                                 .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_DESTINATION_ZONES] = {.name = "destination_zones",
                                      .kind = DPL_EVENT_GAUSSIAN,
                                      .share = 0.06,
                                      .clip = 1,
                                      .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_DESTINATION_DAY] = {.name = "destination_day",
                                    .kind = DPL_EVENT_GAUSSIAN,
                                    .share = 0.02,
                                    .clip = 1,
                                    .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_PAIRS] = {.name = "pairs",
                          .kind = DPL_EVENT_GAUSSIAN,
                          .share = 0.06,
                          .clip = 1,
                          .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_ZONES] = {.name = "zones",
                          .kind = DPL_EVENT_GAUSSIAN,
                          .share = 0.07,
                          .clip = 1,
                          .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_DURATIONS] = {.name = "durations",
                              .kind = DPL_EVENT_GAUSSIAN,
                              .share = 0.05,
                              .clip = 1,
                              .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_STEPS] = {.name = "steps",
                          .kind = DPL_EVENT_GAUSSIAN,
                          .share = 0.12,
                          .clip = 4,
                          .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_TURNS] = {.name = "turns",
                          .kind = DPL_EVENT_GAUSSIAN,
                          .share = 0.02,
                          .clip = 7,
                          .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_SPEEDS] = {.name = "speeds",
                           .kind = DPL_EVENT_GAUSSIAN,
                           .share = 0.01,
                           .clip = 7,
                           .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_MOTION] = {.name = "motion",
                           .kind = DPL_EVENT_GAUSSIAN,
                           .share = 0.03,
                           .clip = 6,
                           .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_STOPS] = {.name = "stops",
                          .kind = DPL_EVENT_GAUSSIAN,
                          .share = 0.005,
                          .clip = 3,
                          .growth = DPL_GROWTH_ROOT},
    [DPL_BRIDGE_FINE] = {.name = "fine",
                         .kind = DPL_EVENT_GAUSSIAN,
                         .share = 0.03,
                         .clip = 5,
                         .growth = DPL_GROWTH_ROOT},
};

/* ---- one unit ---- */

struct visited {
    const int32_t *cell;                 /* (n) */
    const struct dpl_position *position; /* (n) */
    size_t n, period;
};

static size_t groups_of(size_t length_max) { return dpl_length_group(length_max) + 1; }

static enum dpl_status put_visits(struct dpl_run *run, const struct dpl_places *places,
                                  const struct visited *trip, struct dpl_entries *list) {
    for (size_t v = 0; v < trip->n; v++)
        DPL_TRY(dpl_entries_put(run, list, trip->period * places->K + (size_t)trip->cell[v],
                                dpl_visit_weight(trip->n)));
    return DPL_OK;
}

/* Steps that stay are left to the visits; steps beyond the public limit come from gaps, and no walk
 * takes them. */
static enum dpl_status put_steps(struct dpl_run *run, const struct dpl_places *places,
                                 const struct visited *trip, struct dpl_entries *list) {
    for (size_t v = 1; v < trip->n; v++) {
        size_t step = dpl_places_step(places, (size_t)trip->cell[v - 1], (size_t)trip->cell[v]);
        if (step != SIZE_MAX) DPL_TRY(dpl_entries_put(run, list, step, dpl_visit_weight(trip->n)));
    }
    return DPL_OK;
}

static enum dpl_status put_turns(struct dpl_run *run, const struct dpl_places *places,
                                 const struct visited *trip, struct dpl_entries *list) {
    size_t heading = DPL_NO_HEADING;
    for (size_t v = 1; v < trip->n; v++) {
        if (trip->cell[v] == trip->cell[v - 1]) continue;
        size_t sector = dpl_places_sector(places, (size_t)trip->cell[v - 1], (size_t)trip->cell[v]);
        DPL_TRY(
            dpl_entries_put(run, list, heading * DPL_SECTORS + sector, dpl_visit_weight(trip->n)));
        heading = sector;
    }
    return DPL_OK;
}

/* How far apart the centres of two visits in a row are: what `steps` says, too, but with so few
 * entries that the far ones stand out of the noise. */
static enum dpl_status put_speeds(struct dpl_run *run, const struct dpl_places *places,
                                  const struct visited *trip, struct dpl_entries *list) {
    for (size_t v = 1; v < trip->n; v++) {
        size_t a = (size_t)trip->cell[v - 1], b = (size_t)trip->cell[v];
        if (a != b && dpl_places_step(places, a, b) == SIZE_MAX) continue;
        DPL_TRY(
            dpl_entries_put(run, list, dpl_places_band(places, a, b), dpl_visit_weight(trip->n)));
    }
    return DPL_OK;
}

/* Three visits in a row, and both ends. Standing still and standing on is left to the stops: a trip
 * that rests for hours would fill its norm with it. */
static enum dpl_status put_motion(struct dpl_run *run, const struct dpl_bridge_counted *counted,
                                  const struct visited *trip, struct dpl_entries *list) {
    const struct dpl_motion_bins *bins = &counted->bins;
    float per_reach = (float)(1 / dpl_places_reach_m(counted->places));
    double weight = dpl_visit_weight(trip->n);
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
static enum dpl_status put_stops(struct dpl_run *run, const struct dpl_bridge_counted *counted,
                                 const struct visited *trip, struct dpl_entries *list) {
    float per_reach = (float)(1 / dpl_places_reach_m(counted->places));
    size_t still = 0;
    for (size_t v = 1; v <= trip->n; v++) {
        bool stands = v < trip->n && dpl_motion_step(&counted->bins, per_reach,
                                                     trip->position[v - 1], trip->position[v])
                                             .speed == DPL_MOTION_STILL;
        if (!stands && still > 1)
            DPL_TRY(dpl_entries_put(run, list, dpl_stop_bin(still), dpl_visit_weight(trip->n)));
        still = stands ? still + 1 : 0;
    }
    return DPL_OK;
}

/* The sixteenth of its cell that each visit lies in; visits outside of the chosen cells are left
 * out. */
static enum dpl_status put_fine(struct dpl_run *run, const struct dpl_places *places,
                                const struct visited *trip, struct dpl_entries *list) {
    const struct dpl_grid *grid = &places->grid;
    double cell_m = grid->area.cell_m;
    for (size_t v = 0; v < trip->n; v++) {
        int32_t cell = places->cell[trip->cell[v]];
        double x = (double)trip->position[v].x_m / cell_m - cell % grid->columns,
               y = (double)trip->position[v].y_m / cell_m - cell / grid->columns;
        if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
        size_t column = x < 1 ? (size_t)(x * DPL_FINE_SIDE) : DPL_FINE_SIDE - 1,
               row = y < 1 ? (size_t)(y * DPL_FINE_SIDE) : DPL_FINE_SIDE - 1;
        DPL_TRY(dpl_entries_put(run, list,
                                (size_t)trip->cell[v] * DPL_FINE + row * DPL_FINE_SIDE + column,
                                dpl_visit_weight(trip->n)));
    }
    return DPL_OK;
}

static enum dpl_status put_trip(struct dpl_run *run, const struct dpl_bridge_counted *counted,
                                size_t groups, const struct visited *trip,
                                struct dpl_entries *list) {
    const struct dpl_places *places = counted->places;
    size_t K = places->K, Z = places->Z, s = (size_t)trip->cell[0],
           d = (size_t)trip->cell[trip->n - 1], part = dpl_places_part(places, trip->period);
    switch (counted->table) {
    case DPL_BRIDGE_VISITS: return put_visits(run, places, trip, list);
    case DPL_BRIDGE_SOURCES: return dpl_entries_put(run, list, trip->period * K + s, 1);
    case DPL_BRIDGE_SOURCE_ZONES:
        return dpl_entries_put(run, list, trip->period * Z + (size_t)places->zone[s], 1);
    case DPL_BRIDGE_SOURCE_DAY: return dpl_entries_put(run, list, s, 1);
    case DPL_BRIDGE_DESTINATIONS: return dpl_entries_put(run, list, trip->period * K + d, 1);
    case DPL_BRIDGE_DESTINATION_ZONES:
        return dpl_entries_put(run, list, trip->period * Z + (size_t)places->zone[d], 1);
    case DPL_BRIDGE_DESTINATION_DAY: return dpl_entries_put(run, list, d, 1);
    case DPL_BRIDGE_PAIRS: return dpl_entries_put(run, list, s * K + d, 1);
    case DPL_BRIDGE_ZONES:
        return dpl_entries_put(
            run, list, (part * Z + (size_t)places->zone[s]) * Z + (size_t)places->zone[d], 1);
    case DPL_BRIDGE_DURATIONS:
        return dpl_entries_put(run, list,
                               (part * DPL_DISTANCE_BINS + dpl_places_distance_bin(places, s, d)) *
                                       groups +
                                   dpl_length_group(trip->n),
                               1);
    case DPL_BRIDGE_STEPS: return put_steps(run, places, trip, list);
    case DPL_BRIDGE_TURNS: return put_turns(run, places, trip, list);
    case DPL_BRIDGE_SPEEDS: return put_speeds(run, places, trip, list);
    case DPL_BRIDGE_MOTION: return put_motion(run, counted, trip, list);
    case DPL_BRIDGE_STOPS: return put_stops(run, counted, trip, list);
    case DPL_BRIDGE_FINE: return put_fine(run, places, trip, list);
    default: return dpl_fail(run, DPL_USAGE, "this table is not counted here");
    }
}

struct dpl_shape dpl_bridge_table_shape(enum dpl_bridge_mechanism table,
                                        const struct dpl_places *places, size_t length_max,
                                        const struct dpl_motion_bins *bins) {
    size_t H = places->H, K = places->K, Z = places->Z, P = places->P;
    switch (table) {
    case DPL_BRIDGE_VISITS:
    case DPL_BRIDGE_SOURCES:
    case DPL_BRIDGE_DESTINATIONS: return dpl_shape2(H, K);
    case DPL_BRIDGE_SOURCE_ZONES:
    case DPL_BRIDGE_DESTINATION_ZONES: return dpl_shape2(H, Z);
    case DPL_BRIDGE_SOURCE_DAY:
    case DPL_BRIDGE_DESTINATION_DAY: return dpl_shape1(K);
    case DPL_BRIDGE_PAIRS: return dpl_shape2(K, K);
    case DPL_BRIDGE_ZONES: return (struct dpl_shape){3, {P, Z, Z}};
    case DPL_BRIDGE_DURATIONS:
        return (struct dpl_shape){3, {P, DPL_DISTANCE_BINS, groups_of(length_max)}};
    case DPL_BRIDGE_STEPS: return dpl_shape1(places->near_start[K * DPL_SECTORS]);
    case DPL_BRIDGE_TURNS: return dpl_shape2(DPL_HEADINGS, DPL_SECTORS);
    case DPL_BRIDGE_SPEEDS: return dpl_shape1(DPL_MOTION_SPEEDS);
    case DPL_BRIDGE_MOTION: return dpl_shape1(dpl_motion_size(bins));
    case DPL_BRIDGE_STOPS: return dpl_shape1(DPL_STOP_BINS);
    case DPL_BRIDGE_FINE: return dpl_shape2(K, DPL_FINE);
    default: return dpl_shape1(0);
    }
}

enum dpl_status dpl_bridge_count(struct dpl_run *run, const void *data, struct dpl_exact *exact) {
    const struct dpl_bridge_counted *counted = data;
    const struct dpl_units *units = counted->units;
    size_t groups = groups_of(counted->length_max);
    struct dpl_entries list = {0};
    enum dpl_status status = DPL_OK;
    for (size_t u = 0; u < units->n_units; u++) {
        size_t begin, end;
        list.n = 0;
        dpl_unit_trips(units, u, &begin, &end);
        for (size_t t = begin; t < end; t++) {
            const struct visited trip = {.cell = units->cell + units->trip_start[t],
                                         .position = units->position + units->trip_start[t],
                                         .n = units->trip_start[t + 1] - units->trip_start[t],
                                         .period = units->period[t]};
            DPL_GO(put_trip(run, counted, groups, &trip, &list));
        }
        DPL_GO(dpl_exact_add(run, exact, list.entry,
                             list.n)); // PRIVACY: the whole unit in one call, clipped there
    }
done:
    dpl_free(list.entry);
    return status;
}

/* ---- sizes ---- */

/* From the fullest bin on while bins stand out of the noise, or to the last that stands out
 * clearly: one bin that noise has emptied must not cut off all behind it. And no further than all
 * but a thousandth of trips. */
int32_t dpl_bridge_length_max(const struct dpl_noised *lengths) {
    static const double NOISE = 2.5, CLEAR = 3.5, PART = 0.999;
    double count[DPL_LENGTH_BINS], total = 0, sum = 0,
                                   least = NOISE * dpl_noised_deviation(lengths);
    size_t last = 0;
    for (size_t i = 0; i < DPL_LENGTH_BINS; i++) {
        count[i] = dpl_noised_value(lengths, i);
        if (count[i] > count[last]) last = i;
    }
    while (last + 1 < DPL_LENGTH_BINS && count[last + 1] > least) last++;
    for (size_t i = last; i < DPL_LENGTH_BINS; i++)
        if (count[i] > CLEAR / NOISE * least) last = i;
    for (size_t i = 0; i <= last; i++) total += fmax(count[i], 0);
    for (size_t i = 0; i <= last; i++) {
        sum += fmax(count[i], 0);
        if (sum >= PART * total) last = i;
    }
    int32_t longest = dpl_length_bin_top(last);
    return longest < 3 ? 3 : longest > DPL_BRIDGE_LENGTH_MOST ? DPL_BRIDGE_LENGTH_MOST : longest;
}

static enum dpl_status spread_lengths(struct dpl_run *run, const struct dpl_noised *noised,
                                      struct dpl_bridge_tables *tables) {
    double count[DPL_LENGTH_BINS];
    tables->lengths = dpl_alloc(run, tables->length_max + 1, sizeof *tables->lengths);
    tables->lengths_part = dpl_alloc(run, tables->length_max + 1, sizeof *tables->lengths_part);
    if (!tables->lengths || !tables->lengths_part) return DPL_SYSTEM;
    tables->lengths_sigma = dpl_noised_deviation(noised);
    for (size_t bin = 0; bin < DPL_LENGTH_BINS; bin++) count[bin] = dpl_noised_value(noised, bin);
    dpl_lengths_spread(count, tables);
    return DPL_OK;
}

static enum dpl_status measure_sizes(struct dpl_run *run, struct dpl_release *release,
                                     struct dpl_counted *counted, struct dpl_model *model,
                                     struct dpl_bridge_tables *tables) {
    struct dpl_noised *noised = NULL;
    DPL_TRY(dpl_release_measure(run, release, "lengths", 0, dpl_shape1(DPL_LENGTH_BINS),
                                dpl_count_lengths, counted, &noised));
    counted->length_max = dpl_bridge_length_max(noised);
    tables->length_max = (size_t)counted->length_max;
    model->length_max = DPL_BRIDGE_LENGTH_MOST;
    enum dpl_status status = spread_lengths(run, noised, tables);
    dpl_noised_free(noised);
    DPL_TRY(status);
    model->trips_estimated = dpl_plan_units(release->plan);
    if (model->per_user) {
        DPL_TRY(dpl_release_measure(run, release, "trips", 0, dpl_shape1(1), dpl_count_trips,
                                    counted, &noised));
        model->trips_estimated = (int64_t)fmin(fmax(1, rint(dpl_noised_value(noised, 0))), 0x1p40);
        dpl_noised_free(noised);
    }
    tables->trips = (double)(model->trips_estimated < 1 ? 1 : model->trips_estimated);
    return DPL_OK;
}

/* ---- cells ---- */

static int32_t nearest_of(const struct dpl_grid *grid, const struct dpl_topk *topk, int32_t cell) {
    int32_t best = 0;
    double best_m = INFINITY;
    for (int32_t k = 0; k < topk->n_cells; k++) {
        double m = dpl_grid_distance_m(grid, cell, topk->cell[k]);
        if (m < best_m) best_m = m, best = k;
    }
    return best;
}

void dpl_bridge_project_all(const struct dpl_grid *grid, struct dpl_topk *topk) {
    for (int32_t cell = 0; cell < dpl_grid_cells(grid); cell++)
        if (topk->nearest[cell] < 0) topk->nearest[cell] = nearest_of(grid, topk, cell);
}

/* Every cell of the grid counts for the chosen one that stands for it. */
static enum dpl_status sum_visits(struct dpl_run *run, const struct dpl_noised *noised,
                                  const struct dpl_topk *topk, size_t n_grid,
                                  struct dpl_bridge_tables *tables) {
    size_t K = (size_t)topk->n_cells;
    tables->visits = (struct dpl_table){
        .n = K, .sigma = dpl_noised_deviation(noised), .value = dpl_alloc(run, K, sizeof(double))};
    tables->visits_cells = dpl_alloc(run, K, sizeof *tables->visits_cells);
    if (!tables->visits.value || !tables->visits_cells) return DPL_SYSTEM;
    for (size_t cell = 0; cell < n_grid; cell++) {
        tables->visits.value[topk->nearest[cell]] += dpl_noised_value(noised, cell);
        tables->visits_cells[topk->nearest[cell]]++;
    }
    return DPL_OK;
}

/* Of the chosen cells: an empty one costs little, and each that is missed moves its visits away. */
static const double EMPTY_PART = 0.04;

static enum dpl_status choose_cells(struct dpl_run *run, struct dpl_release *release,
                                    struct dpl_counted *counted, struct dpl_model *model,
                                    struct dpl_topk *topk, struct dpl_bridge_tables *tables) {
    const struct dpl_grid *grid = &counted->trips->grid;
    struct dpl_noised *noised = NULL;
    enum dpl_status status;
    int32_t *cells;
    counted->weight = dpl_visit_weight;
    DPL_TRY(dpl_release_measure(run, release, "topk", 0,
                                dpl_shape2((size_t)grid->rows, (size_t)grid->columns),
                                dpl_count_visits, counted, &noised));
    DPL_GO(dpl_topk_choose_rated(run, grid, noised, release->options->coverage, EMPTY_PART, topk));
    dpl_bridge_project_all(grid, topk);
    DPL_GO(sum_visits(run, noised, topk, (size_t)dpl_grid_cells(grid), tables));
    DPL_GO(dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, (size_t[]){(size_t)topk->n_cells},
                         &cells));
    memcpy(cells, topk->cell, (size_t)topk->n_cells * sizeof *cells);
done:
    dpl_noised_free(noised);
    return status;
}

/* ---- tables ---- */

/* With several trips a unit, clipping leaves less than all trips: then the table is scaled to the
 * number of trips, and its noise. */
static void scale_table(double trips, struct dpl_table *table) {
    double sum = 0;
    for (size_t i = 0; i < table->n; i++) sum += table->value[i];
    double factor = sum > 0 ? fmin(fmax(trips / sum, 1), 50) : 1;
    for (size_t i = 0; i < table->n; i++) table->value[i] *= factor;
    table->sigma *= factor;
}

static enum dpl_status measure_table(struct dpl_run *run, struct dpl_release *release,
                                     struct dpl_bridge_counted *counted, double scale_to,
                                     struct dpl_table *table) {
    const char *name = dpl_bridge_mechanisms[counted->table].name;
    struct dpl_shape shape = dpl_bridge_table_shape(counted->table, counted->places,
                                                    counted->length_max, &counted->bins);
    size_t n = dpl_shape_size(shape);
    struct dpl_noised *noised = NULL;
    DPL_TRY(dpl_release_measure(run, release, name, 0, shape, dpl_bridge_count, counted, &noised));
    *table = (struct dpl_table){.n = n,
                                .sigma = dpl_noised_deviation(noised),
                                .value = dpl_alloc(run, n, sizeof *table->value)};
    for (size_t i = 0; table->value && i < n; i++) table->value[i] = dpl_noised_value(noised, i);
    dpl_noised_free(noised);
    if (!table->value) return DPL_SYSTEM;
    if (scale_to > 0) scale_table(scale_to, table);
    return DPL_OK;
}

static enum dpl_status measure_tables(struct dpl_run *run, struct dpl_release *release,
                                      const struct dpl_places *places,
                                      const struct dpl_units *units,
                                      const struct dpl_motion_bins *bins, bool per_user,
                                      struct dpl_bridge_tables *tables) {
    const struct {
        enum dpl_bridge_mechanism table;
        bool one_per_trip;
        struct dpl_table *into;
    } all[] = {
        {DPL_BRIDGE_VISITS, false, &tables->hour_visits},
        {DPL_BRIDGE_SOURCES, true, &tables->sources.cells},
        {DPL_BRIDGE_SOURCE_ZONES, true, &tables->sources.zones},
        {DPL_BRIDGE_SOURCE_DAY, true, &tables->sources.day},
        {DPL_BRIDGE_DESTINATIONS, true, &tables->destinations.cells},
        {DPL_BRIDGE_DESTINATION_ZONES, true, &tables->destinations.zones},
        {DPL_BRIDGE_DESTINATION_DAY, true, &tables->destinations.day},
        {DPL_BRIDGE_PAIRS, true, &tables->pairs},
        {DPL_BRIDGE_ZONES, true, &tables->zones},
        {DPL_BRIDGE_DURATIONS, true, &tables->durations},
        {DPL_BRIDGE_STEPS, false, &tables->steps},
        {DPL_BRIDGE_TURNS, false, &tables->turns},
        {DPL_BRIDGE_SPEEDS, false, &tables->speeds},
        {DPL_BRIDGE_MOTION, false, &tables->motion},
        {DPL_BRIDGE_STOPS, false, &tables->stops},
        {DPL_BRIDGE_FINE, false, &tables->fine},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct dpl_bridge_counted counted = {.table = all[i].table,
                                             .places = places,
                                             .units = units,
                                             .length_max = tables->length_max,
                                             .bins = *bins};
        DPL_TRY(dpl_check_interrupt(run));
        DPL_TRY(measure_table(run, release, &counted,
                              per_user && all[i].one_per_trip ? tables->trips : 0, all[i].into));
    }
    return DPL_OK;
}

/* A visit is the cell of where the trip is when its slot begins. PRIVACY: a rule of one trip alone.
 * *seen is a view of trips with cells of its own, which the caller frees. */
static enum dpl_status see_at_slots(struct dpl_run *run, const struct dpl_cleaned *trips,
                                    struct dpl_cleaned *seen) {
    *seen = *trips;
    seen->cell = dpl_alloc(run, trips->n_visits, sizeof *seen->cell);
    if (!seen->cell) return DPL_SYSTEM;
    for (size_t v = 0; v < trips->n_visits; v++)
        seen->cell[v] = dpl_grid_cell_of(&trips->grid, (double)trips->position[v].x_m,
                                         (double)trips->position[v].y_m);
    return DPL_OK;
}

enum dpl_status dpl_bridge_measure(struct dpl_run *run, const struct dpl_cleaned *cleaned,
                                   const struct dpl_kept *kept, struct dpl_release *release,
                                   struct dpl_model *model, struct dpl_places **places,
                                   struct dpl_bridge_tables *tables) {
    struct dpl_cleaned seen = {0};
    const struct dpl_cleaned *trips = &seen;
    struct dpl_counted counted = {.trips = trips, .kept = kept};
    struct dpl_topk topk = {0};
    struct dpl_reduced reduced = {0};
    enum dpl_status status;
    DPL_GO(see_at_slots(run, cleaned, &seen));
    DPL_GO(measure_sizes(run, release, &counted, model, tables));
    DPL_GO(choose_cells(run, release, &counted, model, &topk, tables));
    struct dpl_resolution resolution =
        dpl_resolution_for(&trips->grid.area, tables->trips, dpl_plan_epsilon(release->plan));
    DPL_GO(dpl_places_new(run, &trips->grid, topk.cell, (size_t)topk.n_cells, resolution, places));
    DPL_GO(dpl_reduce(run, trips, kept, counted.length_max, &topk, &reduced));
    tables->fine_motion = dpl_fine_motion_for(tables->trips, dpl_plan_epsilon(release->plan));
    struct dpl_motion_bins bins = dpl_motion_bins_make(tables->fine_motion);
    DPL_GO(measure_tables(run, release, *places, &reduced.units, &bins, model->per_user, tables));
    if (json_object_set_new(model->options, "bridge_parts",
                            json_integer((json_int_t)resolution.parts)) != 0 ||
        json_object_set_new(model->options, "bridge_zone_m", json_real(resolution.zone_m)) != 0 ||
        json_object_set_new(model->options, "bridge_fine_motion",
                            json_boolean(tables->fine_motion)) != 0 ||
        json_object_set_new(model->options, "bridge_walk_max", json_integer(counted.length_max)) !=
            0 ||
        json_object_set_new(model->options, "bridge_tail_share",
                            json_real(dpl_lengths_tail_share(tables))) != 0 ||
        json_object_set_new(model->options, "bridge_tail_power", json_real(tables->tail_power)) !=
            0)
        status = dpl_fail(run, DPL_SYSTEM, "out of memory");
done:
    dpl_free(seen.cell);
    dpl_reduced_free(&reduced);
    dpl_topk_free(&topk);
    return status;
}
