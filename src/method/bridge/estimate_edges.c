/* The steps that walks may take, and how often they are taken.
 *
 * The prior of a step is what its offset on the grid and the visits at both ends say: three
 * margins, fitted in proportion. With a map that begins with steps that get fewer by a power of
 * what they take by road; the power is the one whose prior suits the noisy table best, so that a
 * map that says nothing of steps is not believed (power 0). The measured steps are shrunk in, which
 * lifts what is small and noisy: far steps, of which there are most. So the number of steps of each
 * length is then brought to a table of its own, `speeds`. Steps that hold next to nothing of their
 * cell's total are left out: they cost time in every sweep, and the noise of many empty ones would
 * add up. */
#include <math.h>
#include <string.h>

#include "method/bridge/bridge.h"
#include "method/bridge/constants.h"

/* Offsets between centres within the step limit, in whole cells. */
struct offsets {
    int32_t reach;        // cells
    size_t n;             // (2 reach + 1)^2
    double *target, *sum; // (n)
};

static size_t offset_of(const struct dpl_places *places, const struct offsets *offsets, size_t x,
                        size_t y) {
    double cell_m = places->grid.area.cell_m;
    long side = 2 * offsets->reach + 1, east = lround((places->x_m[y] - places->x_m[x]) / cell_m),
         north = lround((places->y_m[y] - places->y_m[x]) / cell_m);
    return (size_t)((north + offsets->reach) * side + east + offsets->reach);
}

/* prior (near) is fitted to the offsets and to `moves` (K) out of and into each cell; offset
 * (near), room (K). */
static void fit_prior(const struct dpl_places *places, const struct offsets *offsets,
                      const double *moves, const uint32_t *offset, double *room, double *prior) {
    size_t n = places->near_start[places->K * DPL_SECTORS];
    for (int round = 0; round < OFFSET_ROUNDS; round++) {
        memset(offsets->sum, 0, offsets->n * sizeof *offsets->sum);
        for (size_t i = 0; i < n; i++) offsets->sum[offset[i]] += prior[i];
        for (size_t i = 0; i < n; i++)
            prior[i] *= offsets->target[offset[i]] / fmax(offsets->sum[offset[i]], 1e-9);
        for (size_t x = 0; x < places->K; x++) {
            size_t begin = places->near_start[x * DPL_SECTORS],
                   end = places->near_start[(x + 1) * DPL_SECTORS];
            dpl_scale_to(prior + begin, end - begin, moves[x]);
        }
        memset(room, 0, places->K * sizeof *room);
        for (size_t i = 0; i < n; i++) room[places->near[i]] += prior[i];
        for (size_t i = 0; i < n; i++)
            prior[i] *= moves[places->near[i]] / fmax(room[places->near[i]], 1e-9);
    }
}

/* What steps begin with: seconds by road to the power -`power`. Where a place has no road there is
 * no way, which is as far as the longest that is looked for. */
static void begin_by_road(const struct dpl_places *places, const float *seconds, size_t n,
                          double power, double *prior) {
    for (size_t i = 0; i < n; i++) {
        double slots = (double)seconds[i] / places->grid.area.slot_s;
        bool known = slots > 0 && slots < ROAD_SLOTS_MOST;
        prior[i] = pow(known ? slots : ROAD_SLOTS_MOST, -power);
    }
}

/* The prior of the likeliest power; room (K), other (near). */
static void fit_by_road(const struct dpl_places *places, const struct offsets *offsets,
                        const struct dpl_table *steps, const float *seconds, const double *moves,
                        const uint32_t *offset, double *room, double *other, double *prior) {
    double most = -INFINITY;
    for (size_t p = 0; p < sizeof ROAD_STEP_POWERS / sizeof *ROAD_STEP_POWERS; p++) {
        begin_by_road(places, seconds, steps->n, ROAD_STEP_POWERS[p], other);
        fit_prior(places, offsets, moves, offset, room, other);
        double likely = dpl_prior_likelihood(steps->value, other, steps->n, steps->sigma) -
                        (p > 0 ? ROAD_STEP_CLEAR : 0);
        if (likely > most) most = likely, memcpy(prior, other, steps->n * sizeof *prior);
    }
}

static enum dpl_status make_prior(struct dpl_run *run, const struct dpl_places *places,
                                  const struct dpl_table *steps, const float *seconds,
                                  const double *visits, double *prior) {
    size_t K = places->K, n = steps->n;
    struct offsets offsets = {.reach =
                                  (int32_t)(places->step_limit_m / places->grid.area.cell_m) + 1};
    offsets.n = (size_t)(2 * offsets.reach + 1) * (size_t)(2 * offsets.reach + 1);
    uint32_t *offset;
    double *moves, *room, *other, total = 0;
    void *block = DPL_BLOCK(run, DPL_PIECE(offset, n), DPL_PIECE(moves, K), DPL_PIECE(room, K),
                            DPL_PIECE(other, seconds ? n : 0), DPL_PIECE(offsets.target, offsets.n),
                            DPL_PIECE(offsets.sum, offsets.n));
    if (!block) return DPL_SYSTEM;
    for (size_t x = 0; x < K; x++)
        for (size_t i = places->near_start[x * DPL_SECTORS];
             i < places->near_start[(x + 1) * DPL_SECTORS]; i++) {
            offset[i] = (uint32_t)offset_of(places, &offsets, x, (size_t)places->near[i]);
            offsets.target[offset[i]] += steps->value[i];
            prior[i] = 1;
        }
    for (size_t i = 0; i < offsets.n; i++)
        total += offsets.target[i] = fmax(offsets.target[i], 0.5);
    memcpy(moves, visits, K * sizeof *moves);
    dpl_scale_to(moves, K, total);
    if (seconds)
        fit_by_road(places, &offsets, steps, seconds, moves, offset, room, other, prior);
    else
        fit_prior(places, &offsets, moves, offset, room, prior);
    dpl_free(block);
    return DPL_OK;
}

size_t dpl_places_move(const struct dpl_places *places, size_t a, size_t b) {
    bool fast = !dpl_places_within(places, a, b, FAST_SHARE * dpl_places_reach_m(places));
    return dpl_places_sector(places, a, b) + (fast ? DPL_SECTORS : 0);
}

/* How many steps of each band there are: pooled (DPL_MOTION_SPEEDS); and by daypart, which differ
 * from the pooled ones as far as the table tells, speeds (P, DPL_MOTION_SPEEDS). */
static void estimate_speeds(const struct dpl_table *table, size_t P, double *pooled,
                            double *speeds) {
    double total = 0;
    memset(pooled, 0, DPL_MOTION_SPEEDS * sizeof *pooled);
    dpl_add_rows(table->value, P, DPL_MOTION_SPEEDS, 1, pooled);
    for (size_t band = 0; band < DPL_MOTION_SPEEDS; band++)
        total += pooled[band] = dpl_beyond_noise(pooled[band], table->sigma * sqrt((double)P));
    for (size_t p = 0; p < P; p++) {
        double all = 0;
        dpl_add_columns(table->value + p * DPL_MOTION_SPEEDS, 1, DPL_MOTION_SPEEDS, &all);
        for (size_t band = 0; band < DPL_MOTION_SPEEDS; band++)
            speeds[p * DPL_MOTION_SPEEDS + band] = pooled[band] * fmax(all, 1) / total;
    }
    dpl_shrink_all(table->value, speeds, P * DPL_MOTION_SPEEDS, table->sigma, NULL);
}

/* Brings the steps (n) of each band to its number. */
static void rake_bands(const double *bands, const uint8_t *band, size_t n, double *steps) {
    double sum[DPL_MOTION_SPEEDS] = {0};
    for (size_t i = 0; i < n; i++) sum[band[i]] += steps[i];
    for (size_t i = 0; i < n; i++)
        if (sum[band[i]] > 0) steps[i] *= bands[band[i]] / sum[band[i]];
}

/* The steps of one cell that are worth keeping. */
static void keep_steps(const struct dpl_places *places, size_t x, const double *steps,
                       const uint8_t *band, double visits, struct dpl_edges *edges) {
    double out = 0;
    for (size_t i = places->near_start[x * DPL_SECTORS];
         i < places->near_start[(x + 1) * DPL_SECTORS]; i++)
        out += steps[i];
    for (size_t move = 0; move < DPL_MOVES; move++) {
        size_t row = x * DPL_SECTORS + move % DPL_SECTORS;
        for (size_t i = places->near_start[row]; i < places->near_start[row + 1]; i++) {
            if (!(steps[i] > STEP_SHARE_LEAST * out) ||
                dpl_places_move(places, x, (size_t)places->near[i]) != move)
                continue;
            edges->to[edges->n] = places->near[i];
            edges->band[edges->n] = band[i];
            edges->steps[edges->n++] = steps[i];
        }
        edges->start[x * DPL_MOVES + move + 1] = (int32_t)edges->n;
    }
    edges->stay[x] = fmax(STAY_LEAST, 1 - out / visits);
}

enum dpl_status dpl_edges_estimate(struct dpl_run *run, const struct dpl_places *places,
                                   const struct dpl_bridge_tables *tables, const double *visits,
                                   struct dpl_edges *edges) {
    size_t n = tables->steps.n, K = places->K;
    double *prior, bands[DPL_MOTION_SPEEDS];
    uint8_t *band;
    enum dpl_status status = DPL_SYSTEM;
    void *block = DPL_BLOCK(run, DPL_PIECE(prior, n), DPL_PIECE(band, n));
    edges->block =
        DPL_BLOCK(run, DPL_PIECE(edges->start, K * DPL_MOVES + 1), DPL_PIECE(edges->to, n),
                  DPL_PIECE(edges->steps, n), DPL_PIECE(edges->band, n), DPL_PIECE(edges->stay, K),
                  DPL_PIECE(edges->speeds, places->P * DPL_MOTION_SPEEDS));
    if (!block || !edges->block) goto done;
    DPL_GO(make_prior(run, places, &tables->steps, tables->road_seconds, visits, prior));
    DPL_GO(dpl_check_interrupt(run));
    dpl_shrink_all(tables->steps.value, prior, n, tables->steps.sigma, NULL);
    for (size_t x = 0; x < K; x++)
        for (size_t i = places->near_start[x * DPL_SECTORS];
             i < places->near_start[(x + 1) * DPL_SECTORS]; i++)
            band[i] = (uint8_t)dpl_places_band(places, x, (size_t)places->near[i]);
    edges->P = places->P;
    estimate_speeds(&tables->speeds, places->P, bands, edges->speeds);
    rake_bands(bands, band, n, prior);
    for (size_t x = 0; x < K; x++) keep_steps(places, x, prior, band, visits[x], edges);
    rake_bands(bands, edges->band, edges->n, edges->steps);
done:
    dpl_free(block);
    return status;
}

void dpl_edges_free(struct dpl_edges *edges) {
    dpl_free(edges->block);
    *edges = (struct dpl_edges){0};
}

/* ---- hops ---- */

enum dpl_status dpl_edges_reverse(struct dpl_run *run, size_t n_cells, const int32_t *start,
                                  const int32_t *to, size_t n_edges, struct dpl_reverse *back) {
    back->start = dpl_alloc(run, n_cells + 2, sizeof *back->start);
    back->from = dpl_alloc(run, n_edges, sizeof *back->from);
    if (!back->start || !back->from) return DPL_SYSTEM;
    for (size_t i = 0; i < n_edges; i++) back->start[to[i] + 2]++;
    for (size_t k = 0; k < n_cells; k++) back->start[k + 2] += back->start[k + 1];
    for (size_t x = 0; x < n_cells; x++)
        for (int32_t i = start[x * DPL_MOVES]; i < start[(x + 1) * DPL_MOVES]; i++)
            back->from[back->start[to[i] + 1]++] = (int32_t)x;
    return DPL_OK;
}

void dpl_edges_hops(const struct dpl_reverse *back, size_t n_cells, const int32_t *to, size_t n_to,
                    uint16_t *hops, int32_t *queue) {
    size_t head = 0, tail = 0;
    for (size_t k = 0; k < n_cells; k++) hops[k] = UINT16_MAX;
    for (size_t i = 0; i < n_to; i++) hops[to[i]] = 0, queue[tail++] = to[i];
    while (head < tail) {
        int32_t y = queue[head++];
        for (int32_t i = back->start[y]; i < back->start[y + 1]; i++) {
            int32_t x = back->from[i];
            if (hops[x] != UINT16_MAX) continue;
            hops[x] = (uint16_t)(hops[y] + 1);
            queue[tail++] = x;
        }
    }
}

void dpl_edges_hops_from(const struct dpl_edges *edges, size_t n_cells, int32_t from,
                         uint16_t *hops, int32_t *queue) {
    size_t head = 0, tail = 0;
    for (size_t k = 0; k < n_cells; k++) hops[k] = UINT16_MAX;
    hops[from] = 0, queue[tail++] = from;
    while (head < tail) {
        size_t x = (size_t)queue[head++];
        for (int32_t e = edges->start[x * DPL_MOVES]; e < edges->start[(x + 1) * DPL_MOVES]; e++) {
            int32_t y = edges->to[e];
            if (hops[y] != UINT16_MAX) continue;
            hops[y] = (uint16_t)(hops[x] + 1);
            queue[tail++] = y;
        }
    }
}

void dpl_reverse_free(struct dpl_reverse *back) {
    dpl_free(back->start), dpl_free(back->from);
    *back = (struct dpl_reverse){0};
}
