/* Trips on roads. See on_roads.h. */
#include "sample/on_roads.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "roads/rules.h"
#include "sample/receiver.h"

enum { BLOCKS = 16, ROUNDS = 24, TRIPS = 3000, SEED = 1 }; // of trips that are never written
/* Of pairs of steps, of first and last ones, and of turns by the slower step. */
enum { S = DPL_MOTION_SPEEDS, T = DPL_MOTION_TURNS, PAIRS = S * S, ENDS = 2 * S, ROWS = 4 };
enum { TURNS = PAIRS + ENDS, COUNTS = TURNS + ROWS * T };
/* Bins of speed to rows of turns: standing still, up to 7, 14, 32 km/h and faster at 150 km/h. */
static const uint8_t ROW[S] = {ROUTE_NO_TURN, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3};
/* Where a route is too short for what its slots go without roads, no ratios make up for it, and all
 * that is slow falls to its bound. So standing still may fall farther than moving, and two slow
 * steps that make a stop together farther than others: what must be slow is then hardly a stop. */
static const double DAMP = 4, LOG_MOST = 5, LOG_TURN_MOST = 8, LOG_STILL_LEAST = -14,
                    LOG_SLOW_LEAST = -10;
/* Such ratios hardly change what must be slow, and so are far from where they end: they take wider
 * steps. */
static const double SLOW_STEP = 3;
enum { SLOW = 2 };                       // the last bin of steps of which two can make a stop
static const double MISSED_MOST = 0.028; // of the visits, so that 97 % are in their cells
/* Where the trip moves without roads it should not stand still on them: what is begun with. */
static const float LOG_STILL = -5;

struct dpl_on_roads {
    const struct dpl_roads *roads;
    const int32_t *cell, *side;  // (places), NULL: places are no squares; each is one cell
    struct dpl_motion_bins bins; // fine
    double full_m, reach_m;      // what the limit allows in a slot, and what of it is used
    double miss_s;               // what it costs a route to leave out a cell
    float *piece_weight;         // (pieces)
    float upper_mps[S];
    float log_ratio[COUNTS];
};

/* ---- setting up ---- */

/* Where bins of speeds end, as the table of bins has them. */
static void fill_ends(struct dpl_on_roads *on) {
    for (size_t i = 0; i <= DPL_MOTION_SPEED_STEPS; i++)
        on->upper_mps[on->bins.speed_of[i]] = (float)((double)(i + 1) / DPL_MOTION_SPEED_STEPS *
                                                      on->full_m / on->roads->grid.area.slot_s);
}

static int32_t side_of(const struct dpl_on_roads *on, size_t place) {
    return on->side ? on->side[place] : 1;
}

/* The middle of a piece as one of the parts that the model knows of its place. */
static size_t part_of(const struct dpl_on_roads *on, const struct roads_piece *piece,
                      size_t place) {
    const struct dpl_grid *grid = &on->roads->grid;
    const float *xy = on->roads->xy_m + 2 * (size_t)((piece->point + piece[1].point - 1) / 2);
    double cell_m = grid->area.cell_m, side = side_of(on, place),
           column = (xy[0] / cell_m - on->cell[place] % grid->columns) / side,
           row = (xy[1] / cell_m - on->cell[place] / grid->columns) / side;
    size_t x = (size_t)(fmin(fmax(column, 0), 0.999) * DPL_FINE_SIDE),
           y = (size_t)(fmin(fmax(row, 0), 0.999) * DPL_FINE_SIDE);
    return y * DPL_FINE_SIDE + x;
}

/* The n-th cell of a place, by rows, or -1: it is outside of the grid. */
static int32_t cell_of(const struct dpl_on_roads *on, size_t place, int32_t n) {
    const struct dpl_grid *grid = &on->roads->grid;
    int32_t side = side_of(on, place), row = on->cell[place] / grid->columns + n / side,
            column = on->cell[place] % grid->columns + n % side;
    return row < grid->rows && column < grid->columns ? row * grid->columns + column : -1;
}

static void weigh_parts(const struct dpl_on_roads *on, size_t place, const float *fine) {
    const struct dpl_roads *roads = on->roads;
    int32_t side = side_of(on, place);
    for (int32_t n = 0; n < side * side; n++) {
        int32_t cell = cell_of(on, place, n);
        if (cell < 0) continue;
        for (size_t p = roads->cell_first[cell]; p < roads->cell_first[cell + 1]; p++)
            on->piece_weight[p] *= fine[part_of(on, &roads->piece[p], place)];
    }
}

/* Where trips begin and end: by metres of road, their class, and the parts of places. */
static enum dpl_status weigh_pieces(struct dpl_run *run, struct dpl_on_roads *on, size_t n_places,
                                    const float *fine) {
    const struct dpl_roads *roads = on->roads;
    on->piece_weight = dpl_alloc(run, roads->n_pieces, sizeof *on->piece_weight);
    if (!on->piece_weight) return DPL_SYSTEM;
    for (size_t p = 0; p < roads->n_pieces; p++)
        on->piece_weight[p] =
            roads->piece[p].length_m * (float)dpl_roads_class_weight(roads->piece[p].class);
    for (size_t k = 0; on->cell && fine && k < n_places; k++)
        weigh_parts(on, k, fine + k * DPL_FINE);
    return DPL_OK;
}

enum dpl_status dpl_on_roads_new(struct dpl_run *run, const struct dpl_roads *roads,
                                 const int32_t *cell, const int32_t *side, size_t n_places,
                                 const struct dpl_motion *motion, double reach_m,
                                 struct dpl_on_roads **made) {
    const struct dpl_area *area = &roads->grid.area;
    struct dpl_on_roads *on = dpl_alloc(run, 1, sizeof *on);
    if (!on) return DPL_SYSTEM;
    on->roads = roads, on->cell = cell, on->side = side, on->reach_m = reach_m;
    on->miss_s = dpl_route_defaults().miss_s;
    on->full_m = area->speed_limit_kmh / 3.6 * area->slot_s;
    on->bins = dpl_motion_bins_make(true);
    fill_ends(on);
    enum dpl_status status = weigh_pieces(run, on, n_places, motion->fine);
    if (status == DPL_OK)
        *made = on;
    else
        dpl_on_roads_free(on);
    return status;
}

void dpl_on_roads_free(struct dpl_on_roads *on) {
    if (!on) return;
    dpl_free(on->piece_weight);
    dpl_free(on);
}

enum dpl_status dpl_on_roads_scratch(struct dpl_run *run, const struct dpl_on_roads *on,
                                     struct route_scratch **scratch) {
    const struct dpl_area *area = &on->roads->grid.area;
    const struct route_turns turns = {.n_rows = ROWS,
                                      .n_bins = T,
                                      .row = ROW,
                                      .bin = on->bins.turn_of,
                                      .n_parts = DPL_MOTION_TURN_STEPS,
                                      .log_ratio = on->log_ratio + TURNS};
    const struct route_motion motion = {.n_bins = S,
                                        .upper_mps = on->upper_mps,
                                        .log_next = on->log_ratio,
                                        .log_first = on->log_ratio + PAIRS,
                                        .log_last = on->log_ratio + PAIRS + S,
                                        .limit_mps = on->reach_m / area->slot_s,
                                        .slot_s = area->slot_s,
                                        .turns = &turns};
    struct route_options options = dpl_route_defaults();
    options.piece_weight = on->piece_weight, options.miss_s = on->miss_s;
    return dpl_route_scratch_new(run, on->roads, &motion, &options, scratch);
}

/* ---- a trip ---- */

static int32_t cell_at(const struct dpl_grid *grid, struct dpl_position at) {
    int32_t column = (int32_t)fmax(at.x_m / grid->area.cell_m, 0),
            row = (int32_t)fmax(at.y_m / grid->area.cell_m, 0);
    return (row < grid->rows ? row : grid->rows - 1) * grid->columns +
           (column < grid->columns ? column : grid->columns - 1);
}

static bool has_road(const struct dpl_roads *roads, int32_t cell) {
    return roads->cell_first[cell] < roads->cell_first[cell + 1];
}

/* Of a wide place: the cell of the position or, where that has no road, the nearest that has. */
static int32_t cell_within(const struct dpl_on_roads *on, size_t place, struct dpl_position at) {
    const struct dpl_grid *grid = &on->roads->grid;
    int32_t own = cell_at(grid, at), best = own, side = side_of(on, place);
    double best_m = INFINITY;
    for (int32_t n = 0; n < side * side && !has_road(on->roads, own); n++) {
        int32_t cell = cell_of(on, place, n);
        if (cell < 0 || !has_road(on->roads, cell)) continue;
        double away_m = dpl_grid_distance_m(grid, own, cell);
        if (away_m < best_m) best_m = away_m, best = cell;
    }
    return best;
}

void dpl_on_roads_cells(const struct dpl_on_roads *on, const uint16_t *place,
                        const struct dpl_position *position, size_t n, int32_t *cell) {
    for (size_t v = 0; v < n; v++) {
        if (!on->cell)
            cell[v] = cell_at(&on->roads->grid, position[v]);
        else if (side_of(on, place[v]) > 1)
            cell[v] = cell_within(on, place[v], position[v]);
        else
            cell[v] = on->cell[place[v]];
    }
}

enum dpl_status dpl_on_roads_trip(struct route_scratch *scratch, uint64_t key, const int32_t *cell,
                                  const struct dpl_position *guide, size_t n, struct route *route,
                                  bool *found) {
    DPL_TRY(dpl_route_trip(scratch, key, cell, guide, n, route));
    *found = route->fit == ROUTE_WITHIN || route->fit == ROUTE_WIDENED;
    return DPL_OK;
}

void dpl_on_roads_between(const struct route *route, size_t v, size_t n_pieces, double reach_m,
                          double *along_m) {
    double from_m = route->slot_m[v], step_m = route->slot_m[v + 1] - from_m,
           even_m = step_m / (double)n_pieces, longest_m = even_m, before_m = from_m;
    for (size_t p = 0; p < n_pieces; p++) {
        double next_m =
            dpl_route_metres_at(route, 1, (double)v + (double)(p + 1) / (double)n_pieces);
        along_m[p] = before_m;
        longest_m = fmax(longest_m, next_m - before_m);
        before_m = next_m;
    }
    // Where the smooth way is too fast, as much of the even one as it takes.
    double most_m = reach_m / (double)n_pieces, smooth = 1;
    if (longest_m > most_m) smooth = fmax((most_m - even_m) / (longest_m - even_m), 0);
    for (size_t p = 0; p < n_pieces; p++)
        along_m[p] = smooth * along_m[p] + (1 - smooth) * (from_m + even_m * (double)p);
}

/* ---- calibration ---- */

struct drawing {
    const struct dpl_on_roads *on;
    const struct dpl_placer *placer;
    const struct dpl_round *round;
    const struct dpl_secret *secret;
    size_t length_max;
    double gps_error_m;
    struct route_kept **kept; // (trips of the round) NULL: no route was found
    double *count;            // (BLOCKS, dpl_motion_size)
    size_t *visits, *missed;  // (BLOCKS) with a route, and those of them out of their cells
};

/* One thread's room. */
struct room {
    struct dpl_random *random;
    struct route_scratch *scratch;
    uint16_t *place;
    int32_t *cell;
    struct dpl_position *position;
};

static void room_free(struct room *room) {
    dpl_free(room->place), dpl_free(room->cell), dpl_free(room->position);
    dpl_route_scratch_free(room->scratch);
    dpl_random_free(room->random);
}

static enum dpl_status room_new(struct dpl_run *run, const struct drawing *all, struct room *room) {
    DPL_TRY(dpl_random_new(run, all->secret, &room->random));
    DPL_TRY(dpl_on_roads_scratch(run, all->on, &room->scratch));
    room->place = dpl_alloc(run, all->length_max, sizeof *room->place);
    room->cell = dpl_alloc(run, all->length_max, sizeof *room->cell);
    room->position = dpl_alloc(run, all->length_max, sizeof *room->position);
    return room->place && room->cell && room->position ? DPL_OK : DPL_SYSTEM;
}

/* How many visits are not in their cells. */
static size_t count_missed(const struct dpl_on_roads *on, const struct route *route,
                           const int32_t *cell) {
    size_t missed = 0;
    for (size_t v = 0; v < route->n; v++) {
        double x_m, y_m;
        dpl_route_at(route, route->slot_m[v], &x_m, &y_m);
        struct dpl_position at = {(float)x_m, (float)y_m};
        missed += cell_at(&on->roads->grid, at) != cell[v];
    }
    return missed;
}

/* Positions of a trip without roads, and its route, if there is one. */
static enum dpl_status lay_trip(struct dpl_run *run, const struct drawing *all, size_t trip,
                                struct room *room, double *count) {
    struct dpl_stream stream;
    struct route route;
    bool found = false;
    size_t n_stays, n = 0;
    const struct dpl_stay *stay = dpl_round_get(all->round, trip, &n_stays);
    for (size_t s = 0; s < n_stays; s++)
        for (size_t v = 0; v < stay[s].visits; v++) room->place[n++] = stay[s].cell;
    dpl_stream_open(&stream, room->random,
                    (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, trip, DPL_SYNTHESIS_DECODE});
    uint64_t key = dpl_stream_u64(&stream);
    dpl_place_trip(all->placer, &stream, room->place, n, room->position);
    DPL_TRY(dpl_stream_close(run, &stream));
    dpl_on_roads_cells(all->on, room->place, room->position, n, room->cell);
    DPL_TRY(dpl_on_roads_trip(room->scratch, key, room->cell, room->position, n, &route, &found));
    if (!found) return DPL_OK;
    all->visits[trip % BLOCKS] += n;
    all->missed[trip % BLOCKS] += count_missed(all->on, &route, room->cell);
    dpl_motion_count(&all->on->bins, all->on->full_m, room->position, n, 1, count);
    return dpl_route_keep(room->scratch, &route, &all->kept[trip]);
}

/* Times along a kept route, by the ratios of now; points as they would be written. */
static enum dpl_status time_trip(struct dpl_run *run, const struct drawing *all, size_t trip,
                                 struct room *room, double *count) {
    struct route route;
    struct dpl_stream stream;
    if (all->kept[trip] == NULL) return DPL_OK;
    dpl_stream_open(&stream, room->random,
                    (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, trip, DPL_SYNTHESIS_KEYS});
    struct dpl_receiver receiver =
        dpl_receiver_of(&stream, all->gps_error_m, all->on->roads->grid.area.slot_s);
    DPL_TRY(dpl_route_again(room->scratch, all->kept[trip], &route));
    for (size_t v = 0; v < route.n; v++) {
        double x_m, y_m;
        struct dpl_position error = dpl_receiver_next(&receiver, &stream);
        dpl_route_at(&route, route.slot_m[v], &x_m, &y_m);
        room->position[v] = (struct dpl_position){(float)x_m + error.x_m, (float)y_m + error.y_m};
    }
    dpl_motion_count(&all->on->bins, all->on->full_m, room->position, route.n, 1, count);
    return dpl_stream_close(run, &stream);
}

static enum dpl_status draw_block(struct dpl_run *run, const struct drawing *all, bool lay,
                                  size_t block) {
    struct room room = {0};
    double *count = all->count + block * dpl_motion_size(&all->on->bins);
    enum dpl_status status;
    memset(count, 0, dpl_motion_size(&all->on->bins) * sizeof *count);
    DPL_GO(room_new(run, all, &room));
    for (size_t i = block; i < all->round->n_trips; i += BLOCKS)
        DPL_GO(lay ? lay_trip(run, all, i, &room, count) : time_trip(run, all, i, &room, count));
done:
    room_free(&room);
    return status;
}

/* Adds a count of a motion to what is counted of its pair and of its turn, or of its end. */
static void add_motion(size_t motion, double count, double *sum) {
    if (motion >= PAIRS * T) {
        sum[motion - PAIRS * T + PAIRS] += count;
        return;
    }
    size_t pair = motion / T, in = pair / S, out = pair % S;
    uint8_t row = ROW[in < out ? in : out];
    sum[pair] += count;
    if (row != ROUTE_NO_TURN) sum[TURNS + (size_t)row * T + motion % T] += count;
}

/* What the trips of the round do without roads, which lays their routes, or along these: sum
 * (COUNTS). */
static enum dpl_status count_motions(struct dpl_run *run, const struct drawing *all, bool lay,
                                     double *sum) {
    enum dpl_status status[BLOCKS];
    size_t size = dpl_motion_size(&all->on->bins);
    DPL_TRY(dpl_check_interrupt(run));
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(dynamic, 1)
    for (size_t b = 0; b < BLOCKS; b++) status[b] = draw_block(run, all, lay, b);
    memset(sum, 0, COUNTS * sizeof *sum);
    for (size_t b = 0; b < BLOCKS; b++) {
        DPL_TRY(status[b]);
        for (size_t i = 0; i < size; i++) add_motion(i, all->count[b * size + i], sum);
    }
    return DPL_OK;
}

/* Routes for all trips. Where a map is so sparse that too many visits would miss their cells, no
 * route leaves one out. */
static enum dpl_status lay_routes(struct dpl_run *run, struct dpl_on_roads *on,
                                  const struct drawing *all, double *wanted) {
    size_t visits = 0, missed = 0;
    DPL_TRY(count_motions(run, all, true, wanted));
    for (size_t b = 0; b < BLOCKS; b++) visits += all->visits[b], missed += all->missed[b];
    if ((double)missed <= MISSED_MOST * (double)visits) return DPL_OK;
    for (size_t i = 0; i < TRIPS; i++) {
        dpl_route_kept_free(all->kept[i]);
        all->kept[i] = NULL;
    }
    on->miss_s = INFINITY;
    return count_motions(run, all, true, wanted);
}

bool dpl_on_roads_leaves_out(const struct dpl_on_roads *on) { return isfinite(on->miss_s); }

/* How far the logarithm of a ratio may rise. */
static double log_most(size_t i) { return i < TURNS ? LOG_MOST : LOG_TURN_MOST; }

/* How far it may fall. */
static double log_least(size_t i) {
    if (i >= TURNS) return -log_most(i);
    size_t in = i < PAIRS ? i / S : S, out = (i < PAIRS ? i : i - PAIRS) % S;
    if (in == 0 || out == 0) return LOG_STILL_LEAST;
    return in <= SLOW && out <= SLOW ? LOG_SLOW_LEAST : -LOG_MOST;
}

static void adjust(const double *wanted, const double *count, float *log_ratio) {
    for (size_t i = 0; i < COUNTS; i++) {
        double by = log((wanted[i] + DAMP) / (count[i] + DAMP));
        if (i < TURNS && log_least(i) <= LOG_SLOW_LEAST) by *= SLOW_STEP;
        log_ratio[i] = (float)fmin(fmax((double)log_ratio[i] + by, log_least(i)), log_most(i));
    }
}

static enum dpl_status calibrate(struct dpl_run *run, struct dpl_on_roads *on,
                                 const struct drawing *all) {
    double wanted[COUNTS], count[COUNTS];
    for (size_t i = 0; i < S; i++) on->log_ratio[i] = on->log_ratio[i * S] = LOG_STILL;
    DPL_TRY(lay_routes(run, on, all, wanted));
    for (int round = 0; round < ROUNDS; round++) {
        DPL_TRY(count_motions(run, all, false, count));
        adjust(wanted, count, on->log_ratio);
    }
    return DPL_OK;
}

enum dpl_status dpl_on_roads_calibrate(struct dpl_run *run, struct dpl_on_roads *on,
                                       struct dpl_generator *generator, size_t length_max,
                                       const struct dpl_placer *placer, double gps_error_m) {
    struct dpl_round *round = NULL;
    struct dpl_secret secret = {0};
    size_t visits[BLOCKS] = {0}, missed[BLOCKS] = {0};
    struct drawing all = {.on = on,
                          .visits = visits,
                          .missed = missed,
                          .placer = placer,
                          .secret = &secret,
                          .length_max = length_max,
                          .gps_error_m = gps_error_m};
    enum dpl_status status;
    DPL_GO(dpl_secret_from_seed(run, SEED, &secret));
    DPL_GO(dpl_round_new(run, TRIPS, dpl_run_threads(run), TRIPS * length_max, &round));
    dpl_round_begin(round, 0, TRIPS);
    DPL_GO(generator->draw(run, generator, round));
    all.round = round;
    all.count = dpl_alloc(run, BLOCKS * dpl_motion_size(&on->bins), sizeof *all.count);
    all.kept = dpl_alloc(run, TRIPS, sizeof(struct route_kept *));
    status = all.count && all.kept ? calibrate(run, on, &all) : DPL_SYSTEM;
done:
    for (size_t i = 0; all.kept && i < TRIPS; i++) dpl_route_kept_free(all.kept[i]);
    dpl_free(all.kept);
    dpl_free(all.count);
    dpl_round_free(round);
    dpl_secret_wipe(&secret);
    return status;
}
