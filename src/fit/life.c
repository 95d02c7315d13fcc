/* See life.h. Cost: a sort of each user's days. */
#include "fit/life.h"

#include <math.h>
#include <stdlib.h>

#include "base/cleaned.h"

static double metres(const struct dpl_instant *a, const struct dpl_instant *b) {
    return hypot((double)a->x_m - (double)b->x_m, (double)a->y_m - (double)b->y_m);
}

static void look_at_chain(const struct dpl_cleaned *trips, const size_t *trip, size_t n,
                          struct dpl_life *life) {
    for (size_t i = 1; i < n; i++) {
        struct dpl_instant last = dpl_cleaned_end(trips, trip[i - 1]),
                           next = dpl_cleaned_begin(trips, trip[i]);
        int64_t gap_s = next.utc_s - last.utc_s;
        size_t bin = dpl_gap_bin(gap_s) * DPL_REACHES + dpl_reach_bin(metres(&last, &next));
        life->chains[bin]++, life->n_transitions++;
        life->n_overlaps += gap_s < 0;
    }
}

/* The first trip of a day. */
struct day {
    int32_t cell;
    size_t at, trips; /* among the user's trips; how many that day */
};

static int by_cell(const void *a, const void *b) {
    const struct day *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The beginning of the first of the days that begin in the most frequent cell; day (n) is sorted.
 */
static size_t home_of(const struct day *day, size_t n) {
    size_t best = 0, most = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && day[end].cell == day[i].cell;) end++;
        if (end - i > most) most = end - i, best = day[i].at;
    }
    return best;
}

static size_t list_days(const struct dpl_cleaned *trips, const struct dpl_zone *zone,
                        const size_t *trip, size_t n, struct day *day) {
    size_t days = 0;
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        int64_t date = dpl_zone_day(zone, trips->utc_s[trip[i]]);
        if (date != last) day[days++] = (struct day){trips->cell[trips->start[trip[i]]], i, 0};
        day[days - 1].trips++;
        last = date;
    }
    return days;
}

enum dpl_status dpl_life_look(struct dpl_run *run, const struct dpl_cleaned *trips,
                              const struct dpl_zone *zone, const size_t *trip, size_t n,
                              struct dpl_life *life) {
    struct day *day = dpl_alloc(run, n, sizeof *day);
    if (!day) return DPL_SYSTEM;
    *life = (struct dpl_life){0};
    look_at_chain(trips, trip, n, life);
    life->n_days = list_days(trips, zone, trip, n, day);
    qsort(day, life->n_days, sizeof *day, by_cell);
    struct dpl_instant home = dpl_cleaned_begin(trips, trip[home_of(day, life->n_days)]);
    for (size_t i = 0; i < life->n_days; i++) {
        struct dpl_instant begin = dpl_cleaned_begin(trips, trip[day[i].at]);
        bool at_home = metres(&home, &begin) <= DPL_NEAR_M;
        life->days[(at_home ? DPL_DAY_BINS : 0) + dpl_day_bin(day[i].trips)]++;
    }
    dpl_free(day);
    return DPL_OK;
}
