/* Drawing trips from a model of the method `bridge`.
 *
 *     hour, source, destination of each trip of the round
 *     -> counting sort by (daypart, eight targets of these)
 *     -> one sweep per group that occurs
 *     -> length and walk, trip by trip
 *
 * Hour, source and destination come from one number u through the cumulated flows, by distance,
 * hour, source. The u of trip i is frac(offset + i * golden ratio), a low-discrepancy sequence:
 * each u is uniform, but any run of n trips fills [0, 1) so evenly that counts stay within a few of
 * their expectation, where independent draws differ by its square root. Lengths are drawn likewise,
 * with another irrational step, so that they are even among the trips of any hour and distance,
 * too.
 *
 * Invariant: trip i is a function of model, seed and i: any round and any thread draws it alike.
 * Cost: a sweep per group, and length_max * edges of a cell per visit. */
#include <math.h>
#include <string.h>

#include "method/bridge/constants.h"
#include "method/bridge/dwell.h"
#include "method/bridge/walk.h"
#include "sample/decode.h"
#include "sample/groups.h"

struct worker {
    struct dpl_sweep *sweep;
    struct dpl_random *random;
    int32_t *path;         // (length_max)
    struct dpl_stay *stay; // (length_max)
};

struct bridge {
    struct dpl_generator generator; // first: a pointer to one is a pointer to the other
    struct dpl_places *places;
    struct dpl_flows flows; // borrowed from the model
    struct dpl_walk walk;   // likewise
    struct dpl_targets targets;
    uint8_t *band;            // (edges) what the walk points at
    struct dpl_motion motion; // likewise
    const float *lengths;     // (P, DPL_DISTANCE_BINS, length_max + 1)
    const float *pace;        // (K) of slow movers, else 0 (dwell.h)
    double *cumulated; // (DPL_DISTANCE_BINS * H * K + 1) trips up to each distance, hour and source
    uint64_t offset, length_offset;
    double tail_share, tail_power; // of trips as long as a walk gets, those that are longer, and
                                   // how fast they get fewer
    bool wide_cells;               // wider than slot_m
    double slot_m;                 // what a slot's way is at most, as it is written
    int n_workers;
    struct worker *worker;
    struct dpl_groups groups; // of trips by daypart and eight targets
};

/* ---- ends ---- */

/* The last i with cumulated[i] <= at that is not empty. */
static size_t find(const double *cumulated, size_t n, double at) {
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (cumulated[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void draw_ends(struct bridge *self, uint64_t trip, size_t i) {
    size_t K = self->walk.K, n = self->flows.H * DPL_DISTANCE_BINS * K, last = SIZE_MAX;
    double u = (double)((self->offset + trip * END_STRIDE) >> 11) * 0x1p-53 * self->cumulated[n];
    size_t row = find(self->cumulated, n, u), bin = row / K / self->flows.H,
           hour = row / K % self->flows.H, s = row % K;
    double left = u - self->cumulated[row];
    for (size_t d = 0; d < K; d++) {
        double flow = dpl_places_distance_bin(self->places, s, d) == bin
                          ? dpl_flow(&self->flows, hour, s, d)
                          : 0;
        if (!(flow > 0)) continue;
        last = d;
        left -= flow;
        if (left < 0) break;
    }
    self->groups.period[i] = (uint8_t)hour;
    self->groups.source[i] = (int32_t)s;
    self->groups.destination[i] = (int32_t)(last == SIZE_MAX ? s : last);
}

/* ---- a round ---- */

static size_t batches(const struct bridge *self) {
    return (self->targets.G + DPL_LANES - 1) / DPL_LANES;
}

static size_t group_of(const struct dpl_generator *generator, size_t period, size_t destination) {
    const struct bridge *self = (const struct bridge *)generator;
    return dpl_places_daypart(self->places, period) * batches(self) +
           (size_t)self->targets.of[destination] / DPL_LANES;
}

static void prepare(struct dpl_generator *generator, size_t g, int thread) {
    const struct bridge *self = (const struct bridge *)generator;
    dpl_sweep_backward(self->worker[thread].sweep, g / batches(self),
                       g % batches(self) * DPL_LANES);
}

/* Visits of a trip from s to d, by the chances of its distance among what is possible; 0: nothing
 * is. *within, 0 ... 1: where in the chance of that length it fell. */
static size_t draw_length(const struct bridge *self, const struct dpl_sweep *sweep, size_t s,
                          size_t d, uint64_t trip, double *within) {
    size_t L = self->walk.length_max, last = 0, lane = (size_t)self->targets.of[d] % DPL_LANES;
    const float *chance = self->lengths + (sweep->daypart * DPL_DISTANCE_BINS +
                                           dpl_places_distance_bin(self->places, s, d)) *
                                              (L + 1);
    double total = 0, u = (double)((self->length_offset + trip * LENGTH_STRIDE) >> 11) * 0x1p-53;
    for (size_t l = 2; l <= L; l++)
        if (dpl_sweep_possible(sweep, lane, s, l)) total += (double)chance[l];
    u *= total;
    for (size_t l = 2; l <= L; l++) {
        if (!dpl_sweep_possible(sweep, lane, s, l) || !(chance[l] > 0)) continue;
        last = l;
        u -= (double)chance[l];
        if (u < 0) break;
    }
    *within = last ? fmin(fmax(1 + u / (double)chance[last], 0), 1) : 1;
    return last;
}

/* How many visits a trip has beyond the longest walk: those longer still get fewer by a power of
 * length, up to the longest trip. at: 0 ... 1. */
static size_t draw_extra(const struct bridge *self, double at) {
    double longest = (double)self->walk.length_max + 0.5,
           beyond = pow((DPL_BRIDGE_LENGTH_MOST + 0.5) / longest, -self->tail_power);
    double extra = rint(longest * pow(1 - at * (1 - beyond), -1 / self->tail_power)) -
                   (double)self->walk.length_max;
    return (size_t)fmin(fmax(extra, 1), (double)(DPL_BRIDGE_LENGTH_MOST - self->walk.length_max));
}

/* Trips longer than any walk rest on their way: extra visits go to the stays by chance, in
 * proportion to their visits. */
static void rest(struct dpl_stream *stream, size_t extra, size_t visits, struct dpl_stay *stay) {
    for (; extra > 0; extra--) {
        size_t at = (size_t)(dpl_stream_uniform(stream) * (double)visits), i = 0;
        while (at >= stay[i].visits) at -= stay[i++].visits;
        stay[i].visits++;
        visits++;
    }
}

static size_t to_stays(const int32_t *path, size_t visits, struct dpl_stay *stay) {
    size_t n = 0;
    for (size_t v = 0; v < visits; v++) {
        if (n > 0 && stay[n - 1].cell == (uint16_t)path[v])
            stay[n - 1].visits++;
        else
            stay[n++] = (struct dpl_stay){(uint16_t)path[v], 1};
    }
    return n;
}

/* Of one cell's square, the point nearest to the centre of another cell. */
static void border(const struct dpl_places *places, size_t of, size_t to, double *x_m,
                   double *y_m) {
    double half_m = places->grid.area.cell_m / 2;
    *x_m = places->x_m[of] + fmin(fmax(places->x_m[to] - places->x_m[of], -half_m), half_m);
    *y_m = places->y_m[of] + fmin(fmax(places->y_m[to] - places->y_m[of], -half_m), half_m);
}

/* The fewest visits by which stay i gets from where it is entered to where it is left. */
static size_t visits_least(const struct bridge *self, const struct dpl_stay *stay, size_t n,
                           size_t i) {
    double in_x, in_y, out_x, out_y;
    if (i == 0 || i + 1 == n) return 1;
    border(self->places, stay[i].cell, stay[i - 1].cell, &in_x, &in_y);
    border(self->places, stay[i].cell, stay[i + 1].cell, &out_x, &out_y);
    return 1 + (size_t)ceil(hypot(out_x - in_x, out_y - in_y) / self->slot_m);
}

/* Where cells are wider than a slot's way, a walk may cross them too fast for any placement. Slow
 * crossings take visits from stays that have some to spare; where there are none the trip takes
 * longer, and ends early rather than exceed the longest trip. Returns how many stays are left. */
static size_t slow_down(const struct bridge *self, struct dpl_stay *stay, size_t n) {
    size_t lacking = 0, total = 0, i = 0;
    for (i = 0; i < n; i++) {
        size_t least = visits_least(self, stay, n, i);
        if (stay[i].visits < least) lacking += least - stay[i].visits;
    }
    for (i = 0; i < n; i++) {
        size_t least = visits_least(self, stay, n, i), has = stay[i].visits,
               spare = has > least ? has - least : 0, gives = spare < lacking ? spare : lacking;
        lacking -= gives;
        stay[i].visits = (uint16_t)((has > least ? has : least) - gives);
    }
    for (i = 0; i < n && total + stay[i].visits <= DPL_BRIDGE_LENGTH_MOST; i++)
        total += stay[i].visits;
    if (i < n && total < DPL_BRIDGE_LENGTH_MOST)
        stay[i++].visits = (uint16_t)(DPL_BRIDGE_LENGTH_MOST - total);
    return i;
}

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, size_t i, int thread) {
    const struct bridge *self = (const struct bridge *)generator;
    struct worker *worker = &self->worker[thread];
    int32_t d = self->groups.destination[i];
    size_t lane = (size_t)self->targets.of[d] % DPL_LANES, s = (size_t)self->groups.source[i];
    struct dpl_stream stream;
    double within;
    dpl_stream_open(
        &stream, worker->random,
        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first + i, DPL_SYNTHESIS_TRACE});
    size_t visits = draw_length(self, worker->sweep, s, (size_t)d, round->first + i, &within);
    if (visits > 0)
        dpl_sweep_draw(worker->sweep, lane, s, visits, &stream, worker->path);
    else
        worker->path[0] = worker->path[1] = d,
        visits = 2; // no way in this model: the trip stays where it was to end
    size_t n = to_stays(worker->path, visits, worker->stay);
    if (visits == self->walk.length_max && visits < DPL_BRIDGE_LENGTH_MOST &&
        within < self->tail_share)
        rest(&stream, draw_extra(self, within / self->tail_share), visits, worker->stay);
    if (n > 1)
        dpl_dwell_deal(self->places, self->pace, dpl_stream_uniform(&stream), worker->stay, n);
    if (self->wide_cells) n = slow_down(self, worker->stay, n);
    DPL_TRY(dpl_stream_close(run, &stream));
    return dpl_round_put(run, round, thread, i, self->groups.period[i], worker->stay, n);
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    static const struct dpl_grouping GROUPING = {group_of, prepare, draw_trip};
    struct bridge *self = (struct bridge *)generator;
    DPL_TRY(dpl_groups_room(run, &self->groups, round->n_trips));
#pragma omp parallel for num_threads(self->n_workers) schedule(static)
    for (size_t i = 0; i < round->n_trips; i++) draw_ends(self, round->first + i, i);
    return dpl_groups_draw(run, &self->groups, &GROUPING, generator, self->n_workers, round);
}

/* ---- from the model ---- */

static void free_generator(struct dpl_generator *generator) {
    struct bridge *self = (struct bridge *)generator;
    for (int i = 0; self->worker && i < self->n_workers; i++) {
        dpl_sweep_free(self->worker[i].sweep);
        dpl_random_free(self->worker[i].random);
        dpl_free(self->worker[i].path), dpl_free(self->worker[i].stay);
    }
    dpl_free(self->worker), dpl_free(self->cumulated), dpl_free(self->band);
    dpl_groups_free(&self->groups);
    dpl_targets_free(&self->targets);
    dpl_places_free(self->places);
    dpl_free(self);
}

/* A number among the model's options, so that an edited file cannot make it absurd. */
static enum dpl_status read_number(struct dpl_run *run, const struct dpl_model *model,
                                   const char *name, double least, double most, double *number) {
    json_t *value = json_object_get(model->options, name);
    *number = json_is_number(value) ? json_number_value(value) : NAN;
    if (!(*number >= least && *number <= most))
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's option \"%s\" is missing or not from %g to %g", name, least,
                        most);
    return DPL_OK;
}

/* A tensor of chances or factors: nothing negative, nothing infinite. */
static enum dpl_status get_positive(struct dpl_run *run, const struct dpl_model *model,
                                    const char *name, int rank, const size_t *shape,
                                    const float **data) {
    size_t n = 1;
    DPL_TRY(dpl_model_get(run, model, name, DPL_TENSOR_F32, rank, shape, data));
    for (int i = 0; i < rank; i++) n *= shape[i];
    for (size_t i = 0; i < n; i++)
        if (!((*data)[i] >= 0 && (*data)[i] < 1e30f))
            return dpl_fail(
                run, DPL_BAD_DATA,
                "the model's tensor \"%s\" holds a number that is negative or not finite", name);
    return DPL_OK;
}

static enum dpl_status get_edges(struct dpl_run *run, const struct dpl_model *model,
                                 struct bridge *self) {
    struct dpl_walk *walk = &self->walk;
    size_t rows = walk->K * DPL_MOVES;
    DPL_TRY(dpl_model_get(run, model, "bridge.edge_start", DPL_TENSOR_I32, 1, (size_t[]){rows + 1},
                          &walk->start));
    DPL_TRY(
        dpl_model_get(run, model, "bridge.edge_to", DPL_TENSOR_I32, 1, &walk->n_edges, &walk->to));
    bool good = walk->start[0] == 0 && walk->start[rows] == (int32_t)walk->n_edges;
    for (size_t i = 0; i < rows; i++) good = good && walk->start[i] <= walk->start[i + 1];
    for (size_t i = 0; i < walk->n_edges; i++)
        good = good && walk->to[i] >= 0 && (size_t)walk->to[i] < walk->K;
    return good ? DPL_OK
                : dpl_fail(run, DPL_BAD_DATA,
                           "the model's tensors \"bridge.edge_start\" and \"bridge.edge_to\" are "
                           "no list of steps between its cells");
}

static enum dpl_status find_bands(struct dpl_run *run, struct bridge *self) {
    struct dpl_walk *walk = &self->walk;
    walk->band = self->band = dpl_alloc(run, walk->n_edges, sizeof *self->band);
    if (!self->band) return DPL_SYSTEM;
    for (size_t x = 0; x < walk->K; x++)
        for (int32_t e = walk->start[x * DPL_MOVES]; e < walk->start[(x + 1) * DPL_MOVES]; e++)
            self->band[e] = (uint8_t)dpl_places_band(self->places, x, (size_t)walk->to[e]);
    return DPL_OK;
}

static enum dpl_status get_walk(struct dpl_run *run, const struct dpl_model *model,
                                struct bridge *self) {
    struct dpl_walk *walk = &self->walk;
    const struct dpl_places *places = self->places;
    double edges, longest;
    DPL_TRY(read_number(run, model, "bridge_edges", 0, INT32_MAX, &edges));
    DPL_TRY(read_number(run, model, "bridge_walk_max", 3, model->length_max, &longest));
    DPL_TRY(read_number(run, model, "bridge_tail_share", 0, 1, &self->tail_share));
    DPL_TRY(read_number(run, model, "bridge_tail_power", 0.1, 100, &self->tail_power));
    *walk = (struct dpl_walk){
        .K = places->K, .P = places->P, .n_edges = (size_t)edges, .length_max = (size_t)longest};
    DPL_TRY(get_edges(run, model, self));
    DPL_TRY(find_bands(run, self));
    DPL_TRY(get_positive(run, model, "bridge.edge_weight", 1, &walk->n_edges, &walk->weight));
    DPL_TRY(get_positive(run, model, "bridge.stay", 1, &walk->K, &walk->stay));
    DPL_TRY(get_positive(run, model, "bridge.pace", 1, &walk->K, &self->pace));
    DPL_TRY(get_positive(run, model, "bridge.turn", 2, (size_t[]){DPL_HEADINGS, DPL_NEXT},
                         &walk->turn));
    DPL_TRY(get_positive(run, model, "bridge.speed", 2, (size_t[]){walk->P, DPL_MOTION_SPEEDS},
                         &walk->speed));
    DPL_TRY(get_positive(run, model, "bridge.potential", 2, (size_t[]){walk->P, walk->K},
                         &walk->potential));
    DPL_TRY(get_positive(run, model, "bridge.terminal", 2, (size_t[]){walk->P, walk->K},
                         &walk->terminal));
    DPL_TRY(dpl_targets_read(run, model, walk->K, &self->targets));
    walk->targets = &self->targets;
    return get_positive(run, model, "bridge.lengths", 3,
                        (size_t[]){walk->P, DPL_DISTANCE_BINS, walk->length_max + 1},
                        &self->lengths);
}

/* The weights are borrowed from the model. */
static enum dpl_status get_motion(struct dpl_run *run, const struct dpl_model *model,
                                  struct bridge *self) {
    const float *weight, *fine;
    json_t *fine_bins = json_object_get(model->options, "bridge_fine_motion");
    if (!json_is_boolean(fine_bins))
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's option \"bridge_fine_motion\" is missing or neither true "
                        "nor false");
    self->motion.bins = dpl_motion_bins_make(json_is_true(fine_bins));
    size_t n = dpl_motion_size(&self->motion.bins);
    DPL_TRY(get_positive(run, model, "bridge.motion", 1, &n, &weight));
    DPL_TRY(
        get_positive(run, model, "bridge.fine", 2, (size_t[]){self->places->K, DPL_FINE}, &fine));
    self->motion.weight = weight, self->motion.fine = fine;
    self->generator.motion = &self->motion;
    return DPL_OK;
}

/* Flows by distance first: lengths hang on it, so that trips of one distance must lie side by side
 * for theirs to be drawn evenly. */
static enum dpl_status cumulate(struct dpl_run *run, struct bridge *self) {
    enum { BINS = DPL_DISTANCE_BINS };
    size_t K = self->flows.K, H = self->flows.H, n = H * BINS * K;
    self->cumulated = dpl_alloc(run, n + 1, sizeof *self->cumulated);
    if (!self->cumulated) return DPL_SYSTEM;
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(static)
    for (size_t h = 0; h < H; h++)
        for (size_t s = 0; s < K; s++)
            for (size_t d = 0; d < K; d++) {
                size_t bin = dpl_places_distance_bin(self->places, s, d);
                self->cumulated[(bin * H + h) * K + s + 1] += dpl_flow(&self->flows, h, s, d);
            }
    for (size_t row = 0; row < n; row++) self->cumulated[row + 1] += self->cumulated[row];
    if (!(self->cumulated[n] > 0 && isfinite(self->cumulated[n])))
        return dpl_fail(run, DPL_BAD_DATA, "the model's flows hold no trips");
    return DPL_OK;
}

static enum dpl_status get_flows(struct dpl_run *run, const struct dpl_model *model,
                                 struct bridge *self) {
    size_t K = self->places->K, Z = self->places->Z, H = self->places->H, P = self->places->P;
    const float *pooled, *zone_factor, *source_factor, *destination_factor;
    DPL_TRY(get_positive(run, model, "bridge.pairs", 2, (size_t[]){K, K}, &pooled));
    DPL_TRY(get_positive(run, model, "bridge.zones", 3, (size_t[]){P, Z, Z}, &zone_factor));
    DPL_TRY(get_positive(run, model, "bridge.sources", 2, (size_t[]){H, K}, &source_factor));
    DPL_TRY(
        get_positive(run, model, "bridge.destinations", 2, (size_t[]){H, K}, &destination_factor));
    self->flows = (struct dpl_flows){.K = K,
                                     .Z = Z,
                                     .H = H,
                                     .P = P,
                                     .zone = self->places->zone,
                                     .pooled = pooled,
                                     .zone_factor = zone_factor,
                                     .source_factor = source_factor,
                                     .destination_factor = destination_factor};
    return cumulate(run, self);
}

static enum dpl_status make_workers(struct dpl_run *run, const struct dpl_secret *secret,
                                    struct bridge *self) {
    self->n_workers = dpl_run_threads(run);
    self->worker = dpl_alloc(run, (size_t)self->n_workers, sizeof *self->worker);
    if (!self->worker) return DPL_SYSTEM;
    DPL_TRY(dpl_groups_new(run, self->walk.P * batches(self), &self->groups));
    for (int i = 0; i < self->n_workers; i++) {
        struct worker *worker = &self->worker[i];
        DPL_TRY(dpl_sweep_new(run, &self->walk, false, &worker->sweep));
        DPL_TRY(dpl_random_new(run, secret, &worker->random));
        worker->path = dpl_alloc(run, self->walk.length_max, sizeof *worker->path);
        worker->stay = dpl_alloc(run, self->walk.length_max, sizeof *worker->stay);
        if (!worker->path || !worker->stay) return DPL_SYSTEM;
    }
    struct dpl_stream stream;
    dpl_stream_open(&stream, self->worker[0].random,
                    (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 0, DPL_SYNTHESIS_KEYS});
    self->offset = dpl_stream_u64(&stream);
    self->length_offset = dpl_stream_u64(&stream);
    return dpl_stream_close(run, &stream);
}

enum dpl_status dpl_bridge_generator(struct dpl_run *run, const struct dpl_model *model,
                                     const struct dpl_draw_options *options,
                                     struct dpl_generator **generator) {
    struct dpl_secret secret;
    double dayparts, zone_m;
    enum dpl_status status;
    struct bridge *self = dpl_alloc(run, 1, sizeof *self);
    if (!self) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    DPL_GO(dpl_secret_from_seed(run, options->seed, &secret));
    DPL_GO(dpl_generator_check_cells(run, model));
    DPL_GO(read_number(run, model, "bridge_parts", 1, model->grid.area.periods, &dayparts));
    DPL_GO(read_number(run, model, "bridge_zone_m", model->grid.area.cell_m, 1e6, &zone_m));
    DPL_GO(dpl_places_new(run, &model->grid, model->cell, model->side, (size_t)model->n_cells,
                          (struct dpl_resolution){.dayparts = (size_t)dayparts, .zone_m = zone_m},
                          &self->places));
    if (model->length_max != DPL_BRIDGE_LENGTH_MOST) {
        status =
            dpl_fail(run, DPL_BAD_DATA,
                     "the model's longest trip has %d visits, not %d as the method bridge makes",
                     (int)model->length_max, DPL_BRIDGE_LENGTH_MOST);
        goto done;
    }
    double reach_m = dpl_places_reach_m(self->places);
    self->slot_m = fmin(LIMIT_SHARE * reach_m, dpl_written_reach_m(&model->grid.area, 1));
    self->wide_cells = self->places->step_limit_m > self->slot_m;
    DPL_GO(get_walk(run, model, self));
    DPL_GO(get_flows(run, model, self));
    DPL_GO(get_motion(run, model, self));
    DPL_GO(make_workers(run, &secret, self));
    dpl_secret_wipe(&secret);
    *generator = &self->generator;
    return DPL_OK;
done:
    dpl_secret_wipe(&secret);
    free_generator(&self->generator);
    return status;
}
