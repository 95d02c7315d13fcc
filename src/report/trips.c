/* A few whole trips, by the points that were written, to be drawn and animated. */
#include <math.h>

#include "base/zone.h"
#include "report/gather.h"

enum { VISITS_SHOWN = 240, VISITS_WISHED = 8, DAY_S = 86400 };

static size_t length_of(const struct dpl_cleaned *trips, size_t i) {
    return trips->start[i + 1] - trips->start[i];
}

/* The first trip from `i` on, up to before `end`, that is long enough to look at; `i` itself when
 * there is none. */
static size_t choose(const struct dpl_cleaned *trips, size_t i, size_t end) {
    for (size_t j = i; j < end; j++)
        if (length_of(trips, j) >= VISITS_WISHED) return j;
    return i;
}

/* Where a visit was; the centre of its cell when points were not kept. */
static struct dpl_position position_of(const struct dpl_cleaned *trips, size_t v) {
    if (trips->position) return trips->position[v];
    const struct dpl_grid *grid = &trips->grid;
    return (struct dpl_position){
        (float)((trips->cell[v] % grid->columns + 0.5) * grid->area.cell_m),
        (float)((trips->cell[v] / grid->columns + 0.5) * grid->area.cell_m)};
}

/* Whole metres east and north of the box's corner, each point after the first as a step. */
static void write_points(const struct dpl_cleaned *trips, size_t i, struct island *island) {
    size_t first = trips->start[i], n = length_of(trips, i);
    int64_t x = 0, y = 0;
    dpl_island_key(island, "steps_m");
    dpl_island_open(island, '[');
    for (size_t v = first; v < first + (n < VISITS_SHOWN ? n : VISITS_SHOWN); v++) {
        struct dpl_position at = position_of(trips, v);
        int64_t next_x = llround(at.x_m), next_y = llround(at.y_m);
        dpl_island_whole(island, next_x - x), dpl_island_whole(island, next_y - y);
        x = next_x, y = next_y;
    }
    dpl_island_close(island, ']');
}

static void write_trip(const struct dpl_cleaned *trips, const struct dpl_zone *zone, size_t i,
                       struct island *island) {
    int64_t local_s = trips->utc_s[i] + dpl_zone_offset_s(zone, trips->utc_s[i]);
    dpl_island_open(island, '{');
    if (trips->has_time)
        dpl_island_key(island, "start_s"),
            dpl_island_whole(island, ((local_s % DAY_S) + DAY_S) % DAY_S);
    write_points(trips, i, island);
    dpl_island_close(island, '}');
}

/* Spread over the whole file, since files may be sorted by time. */
static void write_set(const struct dpl_cleaned *trips, const struct dpl_zone *zone, size_t n_shown,
                      struct island *island) {
    size_t n = trips->n_trips, shown = n_shown < n ? n_shown : n;
    dpl_island_open(island, '[');
    for (size_t k = 0; k < shown; k++)
        write_trip(trips, zone, choose(trips, k * n / shown, (k + 1) * n / shown), island);
    dpl_island_close(island, ']');
}

enum dpl_status dpl_gather_trips(const struct gather *gather, size_t n_shown, size_t n_real_shown,
                                 struct island *island) {
    struct dpl_zone *zone = NULL;
    DPL_TRY(dpl_zone_open(gather->run, gather->set[0]->grid.area.zone, &zone));
    dpl_island_key(island, "trips"); // (synthetic sets)
    dpl_island_open(island, '[');
    // PRIVACY: from the first synthetic set on; no trip of the real one is among these.
    for (size_t s = gather->has_real ? 1 : 0; s < gather->n_sets; s++)
        write_set(gather->set[s], zone, n_shown, island);
    dpl_island_close(island, ']');
    // PRIVACY: real points, by the holder's own wish, in a file that is marked NOT PRIVATE.
    if (gather->has_real && n_real_shown) {
        dpl_island_key(island, "real_trips");
        write_set(gather->set[0], zone, n_real_shown, island);
    }
    dpl_zone_free(zone);
    return DPL_OK;
}
