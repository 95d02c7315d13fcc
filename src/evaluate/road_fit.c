/* How well raw points lie on a map's roads, as they are and shifted: ingest -> roads. For the data
 * holder's eyes only: NOT PRIVATE. */
#include "ingest/ingest.h"
#include "roads/gcj.h"

enum { EVERY = 4 }; /* points looked at: the first of a recording, and every fourth after it */

struct counts {
    size_t points, near_15m, near_30m, unshifted_30m, shifted_30m;
};

struct fitting {
    struct dpl_run *run;
    const struct dpl_roads *roads;
    const struct dpl_grid *grid;
    struct counts all;
};

static enum dpl_status batch_new(void *state, void **batch) {
    struct fitting *f = state;
    *batch = dpl_alloc(f->run, 1, sizeof(struct counts));
    return *batch ? DPL_OK : DPL_SYSTEM;
}

static bool near(const struct dpl_roads *roads, double lat_deg, double lon_deg) {
    return dpl_roads_distance_m(roads, lat_deg, lon_deg) <= 30;
}

static void look_at(const struct dpl_roads *roads, const struct point *p, struct counts *counts) {
    double distance_m = dpl_roads_distance_m(roads, p->lat_deg, p->lon_deg);
    counts->points++;
    counts->near_15m += distance_m <= 15;
    counts->near_30m += distance_m <= 30;
    double lat_deg = p->lat_deg, lon_deg = p->lon_deg;
    dpl_gcj_unshift(&lat_deg, &lon_deg);
    counts->unshifted_30m += near(roads, lat_deg, lon_deg);
    lat_deg = p->lat_deg, lon_deg = p->lon_deg;
    dpl_gcj_shift(&lat_deg, &lon_deg);
    counts->shifted_30m += near(roads, lat_deg, lon_deg);
}

static enum dpl_status take(void *state, void *batch, const struct recording *recording) {
    const struct fitting *f = state;
    for (size_t i = 0; i < recording->n; i += EVERY) {
        const struct point *p = &recording->points[i];
        if (dpl_grid_cell_at(f->grid, p->lat_deg, p->lon_deg) >= 0) look_at(f->roads, p, batch);
    }
    return DPL_OK;
}

static enum dpl_status commit(void *state, void *batch) {
    struct counts *all = &((struct fitting *)state)->all, *more = batch;
    all->points += more->points;
    all->near_15m += more->near_15m;
    all->near_30m += more->near_30m;
    all->unshifted_30m += more->unshifted_30m;
    all->shifted_30m += more->shifted_30m;
    *more = (struct counts){0};
    return DPL_OK;
}

static void reset(void *state) { ((struct fitting *)state)->all = (struct counts){0}; }

enum dpl_status dpl_roads_fit(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                              const struct dpl_read_options *options, const struct dpl_area *area,
                              const struct dpl_roads *roads, struct dpl_roads_share *share) {
    struct dpl_grid grid;
    struct fitting f = {.run = run, .roads = roads, .grid = &grid};
    const struct sink sink = {&f, batch_new, dpl_free, take, commit, reset};
    dpl_run_begin(run);
    struct dpl_read_facts *facts = dpl_alloc(run, 1, sizeof *facts);
    if (!facts) return DPL_SYSTEM;
    enum dpl_status status;
    DPL_GO(dpl_grid_make(run, area, &grid));
    DPL_GO(dpl_ingest_read(run, inputs, n_inputs, options, &DPL_INGEST_LIMITS, area->zone, &sink,
                           NULL, facts));
    if (!f.all.points) {
        status = dpl_fail(run, DPL_BAD_DATA, "none of the points lies inside the region's box");
        goto done;
    }
    double n = (double)f.all.points;
    *share = (struct dpl_roads_share){f.all.points, (double)f.all.near_15m / n,
                                      (double)f.all.near_30m / n, (double)f.all.unshifted_30m / n,
                                      (double)f.all.shifted_30m / n};
done:
    dpl_free(facts);
    return status;
}
