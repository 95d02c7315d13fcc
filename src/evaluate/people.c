/* What persons' trips look like one after the other: by the rules that a fit counts them with
 * (fit/life.h), over all transitions and days of all users together. */
#include "evaluate/table.h"
#include "fit/life.h"
#include "fit/sizes.h"

struct sums {
    double transitions, near, overlaps, days, at_home;
};

static void add_life(const struct dpl_life *life, struct sums *sums) {
    for (size_t gap = 0; gap < DPL_GAPS; gap++) sums->near += life->chains[gap * DPL_REACHES];
    for (size_t bin = DPL_DAY_BINS; bin < 2 * DPL_DAY_BINS; bin++) sums->at_home += life->days[bin];
    sums->transitions += (double)life->n_transitions;
    sums->overlaps += (double)life->n_overlaps;
    sums->days += (double)life->n_days;
}

static enum dpl_status add_users(struct dpl_run *run, const struct dpl_cleaned *trips,
                                 struct sums *sums) {
    struct dpl_kept kept = {0};
    struct dpl_zone *zone = NULL;
    struct dpl_life life;
    enum dpl_status status;
    DPL_GO(dpl_zone_open(run, trips->grid.area.zone, &zone));
    DPL_GO(dpl_kept_make(run, trips, DPL_UNIT_USER, 1, &kept));
    for (size_t u = 0; u < kept.n_units; u++) {
        size_t begin = kept.all_start[u], n = kept.all_start[u + 1] - begin;
        DPL_GO(dpl_life_look(run, trips, zone, kept.all + begin, n, &life));
        add_life(&life, sums);
    }
done:
    dpl_kept_free(&kept);
    dpl_zone_free(zone);
    return status;
}

enum dpl_status dpl_figures_people(struct dpl_run *run, const struct dpl_set *set,
                                   double *figures) {
    struct sums sums = {0};
    if (set->trips->n_users == 0) return DPL_OK;
    DPL_TRY(add_users(run, set->trips, &sums));
    if (sums.transitions > 0)
        figures[0] = sums.near / sums.transitions, figures[1] = sums.overlaps / sums.transitions;
    if (sums.days > 0) figures[2] = sums.at_home / sums.days;
    return DPL_OK;
}
