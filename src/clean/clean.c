/* Recordings to trips: cut, check, put on the grid, one visit per time slot.
 *
 *   recording --cut--> pieces --check--> trips --slots--> visits --hour--> kept
 *              stays, gaps     box, speed,      most frequent cell, empty ones
 *                              gap              interpolated; or where the trip is at its phase
 *
 * What breaks the rules of box and speed is dropped with its trip, or, with `drop_points`, alone.
 *
 * PRIVACY: every rule is a function of one recording and of public numbers (box, cell, slot,
 * limits). No deduplication across recordings, no outliers by quantile: removing a trip changes no
 * other.
 *
 * Cost: linear in points, except that a slot with more than 32 points is sorted. The batch's
 * scratch memory is reused from trip to trip. */
#include "clean/clean.h"

#include "base/date.h"
#include "base/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GAP_MOST_S = 10800, STAY_LIMIT_S = 900, MIN_VISITS = 2, SMALL_SLOT = 32 };

/* A point on the plane of the grid. */
struct place {
    double x_m, y_m; /* from the south-west corner */
    int64_t utc_s;
    int32_t cell; /* -1: outside the box */
};

/* A trip that was kept, its visits being the next n_visits of the batch's cells. */
struct kept {
    struct dpl_key user;
    int64_t utc_s;
    size_t n_visits;
    uint8_t period;
    struct dpl_trip_ends ends;
};

struct batch {
    struct dpl_run *run;
    int64_t gap_limit_s; /* of the recording that is being cleaned */
    int32_t *cells;
    size_t n_cells, cells_capacity;
    /* (n_cells) as the cells, if they are kept: at each slot's instant, and a phase later */
    struct dpl_position *positions, *later;
    size_t positions_capacity, later_capacity;
    struct kept *kept;
    size_t n_kept, kept_capacity;
    int64_t dropped[DPL_DROPS], points_dropped, exchanged, trips_cut, too_fast_kept, held_out;
    bool untimed;
    struct place *places; /* scratch: the recording on the plane */
    size_t places_capacity;
    int32_t *sorted; /* scratch: cells of one crowded slot */
    size_t sorted_capacity;
};

struct cleaner {
    struct dpl_run *run;
    struct dpl_grid grid;
    struct dpl_zone *zone;
    double speed_limit_mps;
    int64_t gap_limit_s;
    bool keep_positions, own_phase, keep_too_fast, drop_points;
    struct dpl_hold_out hold_out;
    double phase_s;       /* 0: positions at each slot's instant only */
    struct dpl_days days; /* n 0: all */
    struct sink sink;
    struct dpl_cleaned *trips;
    struct dpl_index users;
    struct dpl_read_facts *facts;
};

const char *dpl_drop_name(enum dpl_drop reason) {
    static const char *const NAMES[DPL_DROPS] = {"outside_box", "too_fast", "gap",
                                                 "too_short",   "no_user",  "other_days"};
    return reason < DPL_DROPS ? NAMES[reason] : "";
}

/* ---- one trip ---- */

/* Whether one can get from the earlier place to the later one within the speed limit. */
static bool in_reach(const struct cleaner *cleaner, const struct place *from,
                     const struct place *to) {
    int64_t step_s = to->utc_s - from->utc_s;
    double dx = to->x_m - from->x_m, dy = to->y_m - from->y_m;
    // Stamps are whole seconds: two in the same second may be almost one apart.
    double reach_m = cleaner->speed_limit_mps * (double)(step_s > 1 ? step_s : 1);
    return dx * dx + dy * dy <= reach_m * reach_m;
}

/* Leaves out the places outside the box, then those that are not in reach of the last one kept. The
 * first kept is one from which the next or the one after is in reach: an outlier at the beginning
 * must not drop all that follows. Returns how many are left. */
static size_t leave_out_outliers(const struct cleaner *cleaner, struct place *places, size_t n) {
    size_t inside = 0, first = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        if (places[i].cell >= 0) places[inside++] = places[i];
    while (first + 1 < inside && !in_reach(cleaner, &places[first], &places[first + 1]) &&
           !(first + 2 < inside && in_reach(cleaner, &places[first], &places[first + 2])))
        first++;
    for (size_t i = first; i < inside; i++)
        if (!kept || in_reach(cleaner, &places[kept - 1], &places[i])) places[kept++] = places[i];
    return kept;
}

/* PRIVACY: the period is declared by the holder, and each trip is asked alone. */
static bool on_other_days(const struct cleaner *cleaner, int64_t utc_s) {
    if (cleaner->days.n == 0) return false;
    int64_t day = dpl_zone_day(cleaner->zone, utc_s) - cleaner->days.first;
    return day < 0 || day >= cleaner->days.n;
}

/* The first rule that a trip breaks, DPL_DROPS if none. A trip that is only too fast may be kept.
 */
static enum dpl_drop check_trip(const struct cleaner *cleaner, int64_t gap_limit_s,
                                const struct place *places, size_t n, bool *too_fast) {
    if (n > 0 && on_other_days(cleaner, places[0].utc_s)) return DPL_DROP_OTHER_DAYS;
    for (size_t i = 0; i < n; i++)
        if (places[i].cell < 0) return DPL_DROP_OUTSIDE_BOX;
    bool gap = false;
    for (size_t i = 1; i < n; i++) {
        *too_fast |= !in_reach(cleaner, &places[i - 1], &places[i]);
        gap |= places[i].utc_s - places[i - 1].utc_s >= gap_limit_s;
    }
    if (*too_fast && (gap || !cleaner->keep_too_fast)) return DPL_DROP_TOO_FAST;
    if (gap) return DPL_DROP_GAP;
    return n ? DPL_DROPS : DPL_DROP_TOO_SHORT;
}

static int by_cell(const void *a, const void *b) {
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* The most frequent cell of a crowded slot, first seen on a tie, by sorting. */
static enum dpl_status crowded_winner(struct batch *batch, const struct place *places, size_t n,
                                      int32_t *winner) {
    DPL_TRY(
        dpl_grow(batch->run, &batch->sorted, &batch->sorted_capacity, n, sizeof *batch->sorted));
    for (size_t i = 0; i < n; i++) batch->sorted[i] = places[i].cell;
    qsort(batch->sorted, n, sizeof *batch->sorted, by_cell);
    size_t most = 0;
    for (size_t i = 0, run = 0; i < n; i++) {
        run = i && batch->sorted[i] == batch->sorted[i - 1] ? run + 1 : 1;
        if (run > most) most = run;
    }
    for (size_t i = 0; i < n; i++) { // the first place whose cell reaches that count
        const int32_t *low = batch->sorted, *end = batch->sorted + n;
        size_t a = 0, b = n;
        while (a < b) {
            size_t middle = (a + b) / 2;
            if (low[middle] < places[i].cell)
                a = middle + 1;
            else
                b = middle;
        }
        if (low + a + most <= end && low[a + most - 1] == places[i].cell) {
            *winner = places[i].cell;
            break;
        }
    }
    return DPL_OK;
}

static enum dpl_status slot_winner(struct batch *batch, const struct place *places, size_t n,
                                   int32_t *winner) {
    if (n > SMALL_SLOT) return crowded_winner(batch, places, n, winner);
    size_t most = 0;
    for (size_t i = 0; i < n && n - i > most; i++) {
        size_t count = 0;
        for (size_t j = i; j < n; j++) count += places[j].cell == places[i].cell;
        if (count > most) most = count, *winner = places[i].cell;
    }
    return DPL_OK;
}

/* Where one was in the middle of an empty slot, on the straight line between the neighbours. */
static int32_t interpolated_cell(const struct dpl_grid *grid, const struct place *before,
                                 const struct place *after, int64_t slot_begin_s) {
    double middle_s = (double)(slot_begin_s - before->utc_s) + grid->area.slot_s / 2.0;
    double part = middle_s / (double)(after->utc_s - before->utc_s);
    return dpl_grid_cell_of(grid, before->x_m + part * (after->x_m - before->x_m),
                            before->y_m + part * (after->y_m - before->y_m));
}

/* One visit per slot, beginning at the first point; appended to the batch's cells. */
static enum dpl_status append_visits(const struct cleaner *cleaner, struct batch *batch,
                                     const struct place *places, size_t n, size_t *n_visits) {
    const int64_t slot_s = cleaner->grid.area.slot_s, begin_s = places[0].utc_s;
    size_t slots = (size_t)((places[n - 1].utc_s - begin_s) / slot_s) + 1, at = 0;
    DPL_TRY(dpl_grow(batch->run, &batch->cells, &batch->cells_capacity, batch->n_cells + slots,
                     sizeof *batch->cells));
    int32_t *cell = batch->cells + batch->n_cells;
    for (size_t slot = 0; slot < slots; slot++) {
        int64_t slot_begin_s = begin_s + (int64_t)slot * slot_s;
        size_t end = at;
        while (end < n && places[end].utc_s < slot_begin_s + slot_s) end++;
        if (end > at)
            DPL_TRY(slot_winner(batch, places + at, end - at, &cell[slot]));
        else
            cell[slot] =
                interpolated_cell(&cleaner->grid, &places[at - 1], &places[at], slot_begin_s);
        at = end;
    }
    *n_visits = slots;
    return DPL_OK;
}

/* How long after a slot begins a trip is looked at. */
struct phase {
    double usual_s, last_s; /* in the last slot, of which a trip fills a part */
};

/* When the trip is in its cell of a slot: the mean time of its points there, since the slot began;
 * the middle of a slot without points. `at`: the slot's first point, and then the next one's. */
static double time_in_cell_s(const struct place *places, size_t n, double slot_s, size_t slot,
                             int32_t cell, size_t *at) {
    double sum_s = 0, begin_s = (double)slot * slot_s;
    size_t points = 0;
    for (; *at < n; (*at)++) {
        double since_s = (double)(places[*at].utc_s - places[0].utc_s) - begin_s;
        if (since_s >= slot_s) break;
        if (places[*at].cell == cell) sum_s += since_s, points++;
    }
    return points ? sum_s / (double)points : slot_s / 2;
}

/* The trip's own phase: when, on the average, it is in its cell of a slot, but no later than it is
 * in its first one's. With points every few seconds that is the middle of the slots. With a point a
 * slot, the first of which is the trip's beginning, it is their beginning: then the steps, too,
 * begin where the trip does, and are one slot long. (docs/METHOD.md) */
static struct phase own_phase(const struct place *places, size_t n, double slot_s,
                              const int32_t *cell, size_t n_visits) {
    struct phase phase = {0};
    double inner_s = 0;
    for (size_t slot = 0, at = 0; slot < n_visits; slot++) {
        double in_cell_s = time_in_cell_s(places, n, slot_s, slot, cell[slot], &at);
        if (slot == 0)
            phase.usual_s = in_cell_s;
        else if (slot + 1 < n_visits)
            inner_s += in_cell_s;
        else
            phase.last_s = in_cell_s;
    }
    if (n_visits > 2) phase.usual_s = fmin(phase.usual_s, inner_s / (double)(n_visits - 2));
    phase.last_s = fmin(phase.last_s, phase.usual_s);
    return phase;
}

/* Where the trip is at that phase of each of its slots; NAN once it is over. */
static void find_positions(const struct place *places, size_t n, double slot_s, struct phase phase,
                           struct dpl_position *position, size_t n_visits) {
    for (size_t slot = 0, at = 0; slot < n_visits; slot++) {
        double phase_s = slot + 1 < n_visits ? phase.usual_s : phase.last_s;
        double now_s = phase_s + (double)slot * slot_s; // since the trip began
        while (at + 1 < n && (double)(places[at + 1].utc_s - places[0].utc_s) <= now_s) at++;
        const struct place *before = &places[at], *after = &places[at + 1 < n ? at + 1 : at];
        double since_s = now_s - (double)(before->utc_s - places[0].utc_s);
        double part =
            after->utc_s > before->utc_s ? since_s / (double)(after->utc_s - before->utc_s) : 0;
        bool over = at + 1 == n && since_s > 0;
        position[slot] = (struct dpl_position){
            over ? NAN : (float)(before->x_m + part * (after->x_m - before->x_m)),
            over ? NAN : (float)(before->y_m + part * (after->y_m - before->y_m))};
    }
}

/* Beside the trip's cells in the batch, which with `own_phase` become those of the positions. */
static enum dpl_status append_positions(const struct cleaner *cleaner, struct batch *batch,
                                        const struct place *places, size_t n, size_t n_visits) {
    size_t first = batch->n_cells;
    double slot_s = cleaner->grid.area.slot_s;
    DPL_TRY(dpl_grow(batch->run, &batch->positions, &batch->positions_capacity, first + n_visits,
                     sizeof *batch->positions));
    int32_t *cell = batch->cells + first;
    struct dpl_position *position = batch->positions + first;
    struct phase phase = {0};
    if (cleaner->own_phase) phase = own_phase(places, n, slot_s, cell, n_visits);
    find_positions(places, n, slot_s, phase, position, n_visits);
    for (size_t v = 0; cleaner->own_phase && v < n_visits; v++)
        cell[v] =
            dpl_grid_cell_of(&cleaner->grid, (double)position[v].x_m, (double)position[v].y_m);
    if (cleaner->phase_s <= 0) return DPL_OK;
    struct phase later = {phase.usual_s + cleaner->phase_s, phase.last_s + cleaner->phase_s};
    DPL_TRY(dpl_grow(batch->run, &batch->later, &batch->later_capacity, first + n_visits,
                     sizeof *batch->later));
    find_positions(places, n, slot_s, later, batch->later + first, n_visits);
    return DPL_OK;
}

static enum dpl_status keep_trip(struct batch *batch, const struct kept *trip) {
    DPL_TRY(dpl_grow(batch->run, &batch->kept, &batch->kept_capacity, batch->n_kept + 1,
                     sizeof *batch->kept));
    batch->kept[batch->n_kept++] = *trip;
    batch->n_cells += trip->n_visits;
    return DPL_OK;
}

static struct dpl_instant instant_of(const struct place *place) {
    return (struct dpl_instant){place->utc_s, (float)place->x_m, (float)place->y_m};
}

static struct dpl_trip_ends ends_of(const struct place *places, size_t n) {
    return (struct dpl_trip_ends){instant_of(&places[0]), instant_of(&places[n - 1])};
}

static enum dpl_status clean_trip(const struct cleaner *cleaner, struct batch *batch,
                                  struct dpl_key user, struct place *places, size_t n) {
    bool too_fast = false;
    size_t n_before = n;
    if (cleaner->drop_points) n = leave_out_outliers(cleaner, places, n);
    batch->points_dropped += (int64_t)(n_before - n);
    enum dpl_drop reason = check_trip(cleaner, batch->gap_limit_s, places, n, &too_fast);
    size_t n_visits = 0;
    if (reason == DPL_DROPS) {
        DPL_TRY(append_visits(cleaner, batch, places, n, &n_visits));
        if (n_visits < MIN_VISITS) reason = DPL_DROP_TOO_SHORT;
    }
    if (reason != DPL_DROPS) {
        batch->dropped[reason]++;
        return DPL_OK;
    }
    if (cleaner->keep_positions || cleaner->own_phase)
        DPL_TRY(append_positions(cleaner, batch, places, n, n_visits));
    batch->too_fast_kept += too_fast;
    struct kept trip = {
        user, places[0].utc_s, n_visits,
        dpl_zone_period(cleaner->zone, &cleaner->grid.area, places[0].utc_s, n_visits),
        ends_of(places, n)};
    return keep_trip(batch, &trip);
}

/* Without times every row is a position, one slot after the last; a phase has no meaning. */
static enum dpl_status append_rows(const struct cleaner *cleaner, struct batch *batch,
                                   const struct place *places, size_t n) {
    size_t first = batch->n_cells;
    DPL_TRY(dpl_grow(batch->run, &batch->positions, &batch->positions_capacity, first + n,
                     sizeof *batch->positions));
    if (cleaner->phase_s > 0)
        DPL_TRY(dpl_grow(batch->run, &batch->later, &batch->later_capacity, first + n,
                         sizeof *batch->later));
    for (size_t i = 0; i < n; i++) {
        batch->positions[first + i] =
            (struct dpl_position){(float)places[i].x_m, (float)places[i].y_m};
        if (cleaner->phase_s > 0) batch->later[first + i] = (struct dpl_position){NAN, NAN};
    }
    return DPL_OK;
}

/* Another program's output without times: every row is a visit. */
static enum dpl_status clean_untimed(const struct cleaner *cleaner, struct batch *batch,
                                     struct dpl_key user, const struct place *places, size_t n) {
    enum dpl_drop reason = n < MIN_VISITS ? DPL_DROP_TOO_SHORT : DPL_DROPS;
    for (size_t i = 0; i < n; i++)
        if (places[i].cell < 0) reason = DPL_DROP_OUTSIDE_BOX;
    batch->untimed = true;
    if (reason != DPL_DROPS) {
        batch->dropped[reason]++;
        return DPL_OK;
    }
    DPL_TRY(dpl_grow(batch->run, &batch->cells, &batch->cells_capacity, batch->n_cells + n,
                     sizeof *batch->cells));
    for (size_t i = 0; i < n; i++) batch->cells[batch->n_cells + i] = places[i].cell;
    if (cleaner->keep_positions) DPL_TRY(append_rows(cleaner, batch, places, n));
    return keep_trip(batch,
                     &(struct kept){.user = user, .n_visits = n, .ends = ends_of(places, n)});
}

/* ---- cutting a recording into trips ---- */

/* Squares of the grid's size over the whole plane, so that stays outside the box are seen too. */
static bool same_square(const struct dpl_grid *grid, const struct place *a, const struct place *b) {
    double cell_m = grid->area.cell_m;
    return floor(a->x_m / cell_m) == floor(b->x_m / cell_m) &&
           floor(a->y_m / cell_m) == floor(b->y_m / cell_m);
}

/* Cuts at stays: the trip ends with the stay's first point, the next begins with its last. */
static enum dpl_status cut_at_stays(const struct cleaner *cleaner, struct batch *batch,
                                    struct dpl_key user, struct place *places, size_t n) {
    size_t begin = 0;
    for (size_t i = 0; i < n;) {
        size_t last = i;
        while (last + 1 < n && same_square(&cleaner->grid, &places[i], &places[last + 1])) last++;
        if (places[last].utc_s - places[i].utc_s > STAY_LIMIT_S) {
            if (i > begin) {
                DPL_TRY(clean_trip(cleaner, batch, user, places + begin, i - begin + 1));
                batch->trips_cut++;
            }
            begin = last;
        }
        i = last + 1;
    }
    if (begin + 1 < n || begin == 0) {
        DPL_TRY(clean_trip(cleaner, batch, user, places + begin, n - begin));
        batch->trips_cut++;
    }
    return DPL_OK;
}

static enum dpl_status cut_at_gaps(const struct cleaner *cleaner, struct batch *batch,
                                   struct dpl_key user, struct place *places, size_t n) {
    for (size_t begin = 0; begin < n;) {
        size_t end = begin + 1;
        while (end < n && places[end].utc_s - places[end - 1].utc_s < cleaner->gap_limit_s) end++;
        DPL_TRY(cut_at_stays(cleaner, batch, user, places + begin, end - begin));
        begin = end;
    }
    return DPL_OK;
}

static bool in_box(const struct dpl_area *area, double lat_deg, double lon_deg) {
    return lat_deg >= area->south_deg && lat_deg <= area->north_deg && lon_deg >= area->west_deg &&
           lon_deg <= area->east_deg;
}

static enum dpl_status place_points(const struct cleaner *cleaner, struct batch *batch,
                                    const struct recording *r) {
    const struct dpl_area *area = &cleaner->grid.area;
    // One at least: places of a recording without points are pointed at, too.
    DPL_TRY(dpl_grow(batch->run, &batch->places, &batch->places_capacity, r->n ? r->n : 1,
                     sizeof *batch->places));
    for (size_t i = 0; i < r->n; i++) {
        const struct point *p = &r->points[i];
        struct place *place = &batch->places[i];
        place->x_m = (p->lon_deg - area->west_deg) * cleaner->grid.m_per_deg_lon;
        place->y_m = (p->lat_deg - area->south_deg) * cleaner->grid.m_per_deg_lat;
        place->utc_s = p->utc_s;
        bool inside = in_box(area, p->lat_deg, p->lon_deg);
        batch->exchanged += !inside && in_box(area, p->lon_deg, p->lat_deg);
        place->cell = inside ? dpl_grid_cell_of(&cleaner->grid, place->x_m, place->y_m) : -1;
    }
    return DPL_OK;
}

/* ---- units set aside ---- */

/* PRIVACY: decided by the unit's own recording and a secret key, before any rule looks at it:
 * adding or removing a unit changes no other's place. */
static enum dpl_status is_set_aside(const struct cleaner *cleaner, const struct recording *r,
                                    bool *aside) {
    const struct dpl_hold_out *hold_out = &cleaner->hold_out;
    struct {
        uint8_t key[sizeof hold_out->key];
        struct dpl_key user;
        int64_t utc_s;
        double lat_deg, lon_deg;
    } identity = {.user = r->user};
    uint8_t digest[DPL_DIGEST];
    uint64_t draw;
    bool known = r->user.hi | r->user.lo;
    memcpy(identity.key, hold_out->key, sizeof identity.key);
    if (r->n && !(hold_out->by_user && known)) {
        identity.utc_s = r->points[0].utc_s;
        identity.lat_deg = r->points[0].lat_deg, identity.lon_deg = r->points[0].lon_deg;
    }
    DPL_TRY(dpl_sha256(cleaner->run, &identity, sizeof identity, digest));
    dpl_wipe(&identity, sizeof identity);
    memcpy(&draw, digest, sizeof draw);
    *aside = (double)(draw >> 11) * 0x1p-53 < hold_out->share;
    return DPL_OK;
}

/* ---- the sink ---- */

static enum dpl_status batch_new(void *state, void **made) {
    struct cleaner *cleaner = state;
    struct batch *batch = dpl_alloc(cleaner->run, 1, sizeof *batch);
    if (!batch) return DPL_SYSTEM;
    batch->run = cleaner->run;
    *made = batch;
    return DPL_OK;
}

static void batch_free(void *state) {
    struct batch *batch = state;
    dpl_free(batch->cells);
    dpl_free(batch->positions);
    dpl_free(batch->later);
    dpl_free(batch->kept);
    dpl_free(batch->places);
    dpl_free(batch->sorted);
    dpl_free(batch);
}

static enum dpl_status take(void *state, void *into, const struct recording *r) {
    const struct cleaner *cleaner = state;
    struct batch *batch = into;
    bool aside = false;
    if (cleaner->hold_out.share > 0) DPL_TRY(is_set_aside(cleaner, r, &aside));
    if (aside != cleaner->hold_out.only) {
        batch->held_out++;
        return DPL_OK;
    }
    DPL_TRY(place_points(cleaner, batch, r));
    // Between two ends there is always silence; what is too long for a trip is dropped all the
    // same.
    batch->gap_limit_s = r->split == SPLIT_ENDS ? GAP_MOST_S : cleaner->gap_limit_s;
    if (r->timed && r->split == SPLIT_STAYS)
        return cut_at_stays(cleaner, batch, r->user, batch->places, r->n);
    if (r->timed && r->split == SPLIT_GAPS_AND_STAYS)
        return cut_at_gaps(cleaner, batch, r->user, batch->places, r->n);
    batch->trips_cut++;
    if (!r->timed) return clean_untimed(cleaner, batch, r->user, batch->places, r->n);
    return clean_trip(cleaner, batch, r->user, batch->places, r->n);
}

static void empty_batch(struct batch *batch) {
    batch->n_cells = batch->n_kept = 0;
    memset(batch->dropped, 0, sizeof batch->dropped);
    batch->trips_cut = batch->too_fast_kept = batch->held_out = batch->points_dropped = 0;
    batch->exchanged = 0;
}

static enum dpl_status commit(void *state, void *from) {
    struct cleaner *cleaner = state;
    struct batch *batch = from;
    const int32_t *cells = batch->cells;
    const struct dpl_position *positions = cleaner->keep_positions ? batch->positions : NULL,
                              *later = cleaner->phase_s > 0 ? batch->later : NULL;
    DPL_TRY(dpl_cleaned_reserve(cleaner->run, cleaner->trips, batch->n_kept, batch->n_cells,
                                cleaner->keep_positions));
    for (size_t i = 0; i < batch->n_kept; i++) {
        const struct kept *kept = &batch->kept[i];
        uint32_t user = UINT32_MAX;
        if (kept->user.hi | kept->user.lo)
            DPL_TRY(dpl_index_put(cleaner->run, &cleaner->users, kept->user, &user, NULL));
        if (user > INT32_MAX && user != UINT32_MAX)
            return dpl_fail(cleaner->run, DPL_BAD_DATA, "more than 2 billion users");
        struct dpl_cleaned_trip trip = {cells,        kept->n_visits,
                                        kept->utc_s,  user == UINT32_MAX ? -1 : (int32_t)user,
                                        kept->period, positions};
        DPL_TRY(dpl_cleaned_append(cleaner->run, cleaner->trips, &trip));
        if (later) DPL_TRY(dpl_cleaned_append_later(cleaner->run, cleaner->trips, later));
        if (positions) DPL_TRY(dpl_cleaned_append_ends(cleaner->run, cleaner->trips, kept->ends));
        cells += kept->n_visits;
        if (positions) positions += kept->n_visits;
        if (later) later += kept->n_visits;
    }
    for (int i = 0; i < DPL_DROPS; i++) cleaner->facts->trips_dropped[i] += batch->dropped[i];
    cleaner->facts->signs.points_exchanged += batch->exchanged;
    cleaner->facts->points_dropped += batch->points_dropped;
    cleaner->facts->trips_cut_into += batch->trips_cut;
    cleaner->facts->too_fast_kept += batch->too_fast_kept;
    cleaner->facts->held_out += batch->held_out;
    if (batch->untimed) cleaner->trips->has_time = false;
    empty_batch(batch);
    return dpl_cleaned_relieve(cleaner->run, cleaner->trips, false);
}

static void reset(void *state) {
    struct cleaner *cleaner = state;
    dpl_cleaned_clear(cleaner->trips);
    dpl_index_free(&cleaner->users);
}

enum dpl_status dpl_cleaner_new(struct dpl_run *run, const struct dpl_grid *grid,
                                const struct dpl_read_options *options,
                                struct dpl_read_facts *facts, struct cleaner **made) {
    if (options->gap_limit_s < 1 || options->gap_limit_s > GAP_MOST_S)
        return dpl_fail(run, DPL_USAGE, "`read.gap_limit_s` is from 1 second to %d minutes",
                        GAP_MOST_S / 60);
    struct dpl_days days = {0};
    if (options->dates) DPL_TRY(dpl_days_parse(run, "read.dates", options->dates, &days));
    struct cleaner *cleaner = dpl_alloc(run, 1, sizeof *cleaner);
    if (!cleaner) return DPL_SYSTEM;
    cleaner->run = run;
    cleaner->grid = *grid;
    cleaner->facts = facts;
    cleaner->keep_positions = options->positions, cleaner->own_phase = options->own_phase;
    cleaner->keep_too_fast = options->keep_too_fast;
    cleaner->drop_points = options->drop_points;
    cleaner->gap_limit_s = options->gap_limit_s;
    cleaner->hold_out = options->hold_out;
    cleaner->days = days;
    cleaner->phase_s = options->positions ? options->position_phase_s : 0;
    cleaner->speed_limit_mps = grid->area.speed_limit_kmh / 3.6;
    cleaner->sink = (struct sink){cleaner, batch_new, batch_free, take, commit, reset};
    enum dpl_status status = dpl_zone_open(run, grid->area.zone, &cleaner->zone);
    if (status == DPL_OK) status = dpl_cleaned_new(run, grid, &cleaner->trips);
    if (status == DPL_OK)
        *made = cleaner;
    else
        dpl_cleaner_free(cleaner);
    return status;
}

void dpl_cleaner_free(struct cleaner *cleaner) {
    if (!cleaner) return;
    dpl_cleaned_free(cleaner->trips);
    dpl_zone_free(cleaner->zone);
    dpl_index_free(&cleaner->users);
    dpl_free(cleaner);
}

const struct sink *dpl_cleaner_sink(struct cleaner *cleaner) { return &cleaner->sink; }

void dpl_cleaner_limit(struct cleaner *cleaner, size_t memory_bytes, bool by_user) {
    dpl_cleaned_limit(cleaner->trips, memory_bytes, by_user);
}

struct dpl_cleaned *dpl_cleaner_take_trips(struct cleaner *cleaner) {
    struct dpl_cleaned *trips = cleaner->trips;
    cleaner->trips = NULL;
    return trips;
}

/* ---- the sink that keeps nothing ---- */

static enum dpl_status nothing_new(void *state, void **batch) {
    (void)state;
    *batch = NULL;
    return DPL_OK;
}
static void nothing_free(void *batch) { (void)batch; }
static enum dpl_status nothing_take(void *state, void *batch, const struct recording *r) {
    (void)state, (void)batch, (void)r;
    return DPL_OK;
}
static enum dpl_status nothing_commit(void *state, void *batch) {
    (void)state, (void)batch;
    return DPL_OK;
}
static void nothing_reset(void *state) { (void)state; }

const struct sink DPL_SINK_NOTHING = {NULL,         nothing_new,    nothing_free,
                                      nothing_take, nothing_commit, nothing_reset};
