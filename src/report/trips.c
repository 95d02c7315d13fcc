/* A few synthetic trips, whole, to be drawn and animated. */
#include "base/zone.h"
#include "report/gather.h"

enum { VISITS_SHOWN = 240, VISITS_WISHED = 8, DAY_S = 86400 };

static size_t length_of(const struct dpl_cleaned *trips, size_t i) {
    return trips->start[i + 1] - trips->start[i];
}

/* The first trip of `i` ... `end`-1 that is long enough to look at; `i` itself when
 * there is none. */
static size_t choose(const struct dpl_cleaned *trips, size_t i, size_t end) {
    for (size_t j = i; j < end; j++)
        if (length_of(trips, j) >= VISITS_WISHED) return j;
    return i;
}

static void write_trip(const struct dpl_cleaned *trips, const struct dpl_zone *zone, size_t i,
                       struct island *island) {
    size_t first = trips->start[i], n = length_of(trips, i);
    int64_t local_s = trips->utc_s[i] + dpl_zone_offset_s(zone, trips->utc_s[i]);
    dpl_island_open(island, '{');
    if (trips->has_time)
        dpl_island_key(island, "start_s"),
            dpl_island_whole(island, ((local_s % DAY_S) + DAY_S) % DAY_S);
    dpl_island_key(island, "cells");
    dpl_island_open(island, '[');
    for (size_t v = first; v < first + (n < VISITS_SHOWN ? n : VISITS_SHOWN); v++)
        dpl_island_whole(island, trips->cell[v]);
    dpl_island_close(island, ']');
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

enum dpl_status dpl_gather_trips(const struct gather *gather, size_t n_shown,
                                 struct island *island) {
    struct dpl_zone *zone = NULL;
    DPL_TRY(dpl_zone_open(gather->run, gather->set[0]->grid.area.zone, &zone));
    dpl_island_key(island, "trips"); // (synthetic sets)
    dpl_island_open(island, '[');
    // PRIVACY: synthetic sets only; no trip of the real one is written, however this
    // page is marked.
    for (size_t s = gather->has_real ? 1 : 0; s < gather->n_sets; s++)
        write_set(gather->set[s], zone, n_shown, island);
    dpl_island_close(island, ']');
    dpl_zone_free(zone);
    return DPL_OK;
}
