/* What a trip reports in LDPTrace.
 *
 * PRIVACY: the length of its path is one report; its start, its first L - 1 moves and its end (cell
 * L, if it goes on) are L + 1. A path that has fewer moves sends dummies for the others: they are
 * the reports of the mechanism for which nothing is added here (noise/local.c).
 * PAPER: the published program sends as many reports as the trip has moves, so that the server
 * learns its length exactly. */
#include "method/ldptrace/measure.h"

/* The cells of a path one after the other. */
struct path {
    const struct dpl_ldptrace_about *about;
    const int32_t *cell;
    size_t n, i; /* visits, and the one that is headed for */
    int32_t at;  /* -1: not begun */
};

/* The next cell, -1 after the last. */
static int32_t next_cell(struct path *path) {
    const int32_t *coarse = path->about->coarse;
    if (path->at < 0) return path->n > 0 ? path->at = coarse[path->cell[0]] : -1;
    while (path->i < path->n && coarse[path->cell[path->i]] == path->at) path->i++;
    if (path->i == path->n) return -1;
    return path->at = (int32_t)dpl_king_move(path->about->side, (size_t)path->at,
                                             (size_t)coarse[path->cell[path->i]]);
}

static struct path path_of(const struct dpl_ldptrace_about *about, const struct dpl_cleaned *trips,
                           size_t trip) {
    return (struct path){about, trips->cell + trips->start[trip], dpl_trip_visits(trips, trip, 0),
                         0, -1};
}

static enum dpl_status put_length(struct dpl_run *run, const void *data,
                                  const struct dpl_cleaned *trips, size_t trip,
                                  struct dpl_entries *list) {
    const struct dpl_ldptrace_about *about = data;
    struct path path = path_of(about, trips, trip);
    size_t n = 0, most = about->side * about->side;
    while (next_cell(&path) >= 0) n++;
    return n == 0 ? DPL_OK : dpl_entries_put(run, list, (n < most ? n : most) - 1, 1);
}

static enum dpl_status put_route(struct dpl_run *run, const void *data,
                                 const struct dpl_cleaned *trips, size_t trip,
                                 struct dpl_entries *list) {
    const struct dpl_ldptrace_about *about = data;
    struct path path = path_of(about, trips, trip);
    size_t cells = about->side * about->side, n = 1;
    int32_t at = next_cell(&path), next;
    if (at < 0) return DPL_OK;
    DPL_TRY(dpl_entries_put(run, list, (size_t)at, 1));
    for (; n < about->longest && (next = next_cell(&path)) >= 0; n++, at = next) {
        size_t way = dpl_ldptrace_way(about->side, (size_t)at, (size_t)next);
        DPL_TRY(dpl_entries_put(run, list, cells + (size_t)at * DPL_LDPTRACE_WAYS + way, 1));
    }
    return dpl_entries_put(run, list, cells + cells * DPL_LDPTRACE_WAYS + (size_t)at, 1);
}

enum dpl_status dpl_ldptrace_count_lengths(struct dpl_run *run, const void *about,
                                           const struct dpl_part *part, struct dpl_exact *exact) {
    return dpl_count_units(run, about, part, put_length, exact);
}
enum dpl_status dpl_ldptrace_count_routes(struct dpl_run *run, const void *about,
                                          const struct dpl_part *part, struct dpl_exact *exact) {
    return dpl_count_units(run, about, part, put_route, exact);
}
