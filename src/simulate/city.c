/* The network and the land use of a made-up city.
 *
 * Streets are a lattice that was turned, bent by smooth noise and jittered. Every third or fourth
 * line is an arterial; the two axes and an eight-cornered ring are expressways, diagonals are
 * boulevards:
 *
 *          \   |   /          | = |  axes: arterial inside the ring, expressway outside
 *        +--=======--+        =      ring: expressway
 *        | \ | | | / |        \ /    boulevards
 *      ==|==-+-+-+-==|==~~    ~      river: crossed by expressways and some arterials only
 *        | / | | | \ |
 *        +--=======--+        side streets fill what is built up, less parks and a random tenth
 *
 * Outside the built-up area axes, boulevards and some country roads go on, to satellite towns, the
 * airport and lonely farms: cells that are visited now and then are part of the problem.
 * Only what can be reached from the centre is kept; every street goes both ways, so the network is
 * strongly connected. Land use is a weight per node: homes around the centre and in the satellites,
 * jobs in the centre and in business parks, night life in two quarters, shops in malls and along
 * sub-centres, hubs (station, airport). A heavy-tailed factor per node makes places unequal.
 *
 * 1400 to 2100 nodes; made in about 5 ms. */
#include <math.h>

#include "simulate/simulate.h"

enum { HALF = 46, SIDE = 2 * HALF + 1, MAX_DEGREE = 8, MAX_SPOTS = 4, N_AXES = 4 };

static const double FARM = 0.003; /* weight of a home outside the built-up area */
static const double INSET_M =
    600; /* streets keep this far from the edge of the box: GPS error stays inside */

/* A round place on the map. */
struct spot {
    double x_m, y_m, radius_m;
};

/* What one city number decides, and the lattice while the city is being made. */
struct plan {
    uint64_t key;
    double width_m, height_m, centre_x_m, centre_y_m, cosine, sine, spacing_m, radius_m;
    double river_offset_m;
    int period, phase_i, phase_j, ring;
    bool boulevard[2];
    struct spot park[MAX_SPOTS], town[MAX_SPOTS], business[MAX_SPOTS], night[2], mall[MAX_SPOTS],
        station, airport;
    int n_parks, n_towns, n_business, n_malls;
    double *x_m, *y_m; /* (SIDE * SIDE) lattice points */
    int32_t *id;       /* (SIDE * SIDE) node number, -1: none, -2: kept but not reached yet */
};

enum salt {
    SALT_WARP_X = 1,
    SALT_WARP_Y,
    SALT_JITTER,
    SALT_RIVER,
    SALT_BUILT,
    SALT_GAP,
    SALT_BRIDGE,
    SALT_WEIGHT
};

static double hash_signed(uint64_t key, int64_t a, int64_t b) {
    return 2 * dpl_sim_unit(dpl_sim_key(dpl_sim_key(key, (uint64_t)a), (uint64_t)b)) - 1;
}

/* Smooth noise in [-1, 1] with features of size 1. */
static double noise(uint64_t key, double x, double y) {
    double column = floor(x), row = floor(y), fx = x - column, fy = y - row;
    int64_t i = (int64_t)column, j = (int64_t)row;
    fx = fx * fx * (3 - 2 * fx), fy = fy * fy * (3 - 2 * fy);
    double south = hash_signed(key, i, j) * (1 - fx) + hash_signed(key, i + 1, j) * fx;
    double north = hash_signed(key, i, j + 1) * (1 - fx) + hash_signed(key, i + 1, j + 1) * fx;
    return south * (1 - fy) + north * fy;
}

static uint64_t salted(const struct plan *plan, enum salt salt) {
    return dpl_sim_key(plan->key, (uint64_t)salt);
}
static size_t at(int i, int j) { return (size_t)(i + HALF) * SIDE + (size_t)(j + HALF); }
static int larger(int a, int b) { return a > b ? a : b; }
static int size_of(int a) { return a < 0 ? -a : a; }
static double between(struct dpl_sim_stream *s, double low, double high) {
    return low + (high - low) * dpl_sim_uniform(s);
}
static int choose(struct dpl_sim_stream *s, int low, int high) {
    return low + (int)(dpl_sim_uniform(s) * (high - low + 1));
}

/* ---- the plan ---- */

/* From metres along the turned axes, counted from the centre, to metres of the box. */
static void turn(const struct plan *p, double u, double v, double *x, double *y) {
    *x = p->centre_x_m + u * p->cosine - v * p->sine;
    *y = p->centre_y_m + u * p->sine + v * p->cosine;
}

static struct spot spot_at(const struct plan *p, double u, double v, double radius_m) {
    struct spot spot = {.radius_m = radius_m};
    turn(p, u, v, &spot.x_m, &spot.y_m);
    return spot;
}

/* Somewhere in the disc between two distances of the centre. */
static struct spot spot_within(const struct plan *p, struct dpl_sim_stream *s, double near_m,
                               double far_m, double radius_m) {
    for (;;) {
        double u = between(s, -far_m, far_m), v = between(s, -far_m, far_m), square = u * u + v * v;
        if (square >= near_m * near_m && square <= far_m * far_m) return spot_at(p, u, v, radius_m);
    }
}

/* Somewhere on one of the four axes, so that an expressway leads there. */
static struct spot spot_on_axis(const struct plan *p, int axis, double distance_m,
                                double radius_m) {
    double u = axis == 0   ? distance_m
               : axis == 2 ? -distance_m
                           : 0,
           v = axis == 1   ? distance_m
               : axis == 3 ? -distance_m
                           : 0;
    return spot_at(p, u, v, radius_m);
}

static void plan_streets(struct plan *p, struct dpl_sim_stream *s) {
    double half_tangent = between(s, -0.2, 0.2), square = half_tangent * half_tangent;
    p->cosine = (1 - square) / (1 + square), p->sine = 2 * half_tangent / (1 + square);
    p->centre_x_m = p->width_m / 2 + between(s, -1000, 1000);
    p->centre_y_m = p->height_m / 2 + between(s, -1000, 1000);
    p->spacing_m = between(s, 250, 310);
    p->radius_m = between(s, 3800, 4400);
    p->ring = 2 * (int)(between(s, 0.55, 0.7) * p->radius_m / p->spacing_m / 2);
    p->period = choose(s, 3, 4);
    p->phase_i = choose(s, 0, p->period - 1), p->phase_j = choose(s, 0, p->period - 1);
    p->boulevard[0] = dpl_sim_uniform(s) < 0.8,
    p->boulevard[1] = !p->boulevard[0] || dpl_sim_uniform(s) < 0.5;
    p->river_offset_m = between(s, 500, 1500);
    if (dpl_sim_uniform(s) < 0.5) p->river_offset_m = -p->river_offset_m;
}

static void plan_places(struct plan *p, struct dpl_sim_stream *s) {
    double r = p->radius_m;
    p->n_parks = choose(s, 2, MAX_SPOTS);
    for (int i = 0; i < p->n_parks; i++)
        p->park[i] = spot_within(p, s, 900, r, between(s, 350, 750));
    int axis = choose(s, 0, N_AXES - 1);
    p->airport = spot_on_axis(p, axis, between(s, 7000, 8000), 500);
    p->n_towns = choose(s, 1, 3);
    for (int i = 0; i < p->n_towns;
         i++) { // one draw per statement: the order of arguments is the compiler's choice
        double radius_m = between(s, 700, 1100), distance_m = between(s, r + 1200, 7600);
        p->town[i] = spot_on_axis(p, (axis + 1 + i) % N_AXES, distance_m, radius_m);
    }
    p->n_business = choose(s, 2, 3);
    for (int i = 0; i < p->n_business; i++)
        p->business[i] = spot_within(p, s, 0.45 * r, 0.95 * r, between(s, 250, 450));
    p->night[0] = spot_within(p, s, 300, 900, 350);
    p->night[1] = spot_within(p, s, 1300, 2600, 300);
    p->n_malls = choose(s, 3, MAX_SPOTS);
    for (int i = 0; i < p->n_malls; i++)
        p->mall[i] = spot_within(p, s, 900, r, between(s, 200, 350));
    p->station = spot_within(p, s, 200, 800, 200);
}

/* ---- the lattice ---- */

static double river_side(const struct plan *p, double x, double y) {
    double dx = x - p->centre_x_m, dy = y - p->centre_y_m, u = dx * p->cosine + dy * p->sine,
           v = dy * p->cosine - dx * p->sine;
    return v - p->river_offset_m - 900 * noise(salted(p, SALT_RIVER), u / 2600, 0.5);
}

static double square_distance(double x, double y, const struct spot *spot) {
    return (x - spot->x_m) * (x - spot->x_m) + (y - spot->y_m) * (y - spot->y_m);
}

static bool inside(double x, double y, const struct spot *spot) {
    return square_distance(x, y, spot) < spot->radius_m * spot->radius_m;
}

static bool built_up(const struct plan *p, double x, double y) {
    for (int i = 0; i < p->n_parks; i++)
        if (inside(x, y, &p->park[i])) return false;
    for (int i = 0; i < p->n_towns; i++)
        if (inside(x, y, &p->town[i])) return true;
    if (inside(x, y, &p->airport)) return true;
    double dx = x - p->centre_x_m, dy = y - p->centre_y_m,
           edge = p->radius_m * (1 + 0.25 * noise(salted(p, SALT_BUILT), x / 2500, y / 2500));
    return dx * dx + dy * dy < edge * edge;
}

static bool on_ring(const struct plan *p, int i, int j) {
    int a = size_of(i), b = size_of(j), corner = p->ring + p->ring / 2;
    return (larger(a, b) == p->ring && a + b <= corner) ||
           (a + b == corner && larger(a, b) <= p->ring);
}

static bool on_boulevard(const struct plan *p, int i, int j) {
    return (p->boulevard[0] && i == j) || (p->boulevard[1] && i == -j);
}

/* Whether a line is one of those that recur with the period; the axes always are. */
static bool line_of(int index, int phase, int period) {
    return index == 0 || (index + phase + period * SIDE) % period == 0;
}

static bool kept(const struct plan *p, int i, int j) {
    double x = p->x_m[at(i, j)], y = p->y_m[at(i, j)], dx = x - p->centre_x_m,
           dy = y - p->centre_y_m;
    if (x < INSET_M || y < INSET_M || x > p->width_m - INSET_M || y > p->height_m - INSET_M)
        return false;
    if (i == 0 || j == 0 || on_ring(p, i, j) || on_boulevard(p, i, j) || built_up(p, x, y))
        return true;
    // Arterials cross parks; beyond the built-up area every other one goes on as a country road.
    int period = dx * dx + dy * dy < p->radius_m * p->radius_m ? p->period : 2 * p->period;
    return line_of(i, p->phase_i, period) || line_of(j, p->phase_j, period);
}

static void lay_lattice(struct plan *p) {
    for (int i = -HALF; i <= HALF; i++)
        for (int j = -HALF; j <= HALF; j++) {
            double x, y;
            turn(p, i * p->spacing_m, j * p->spacing_m, &x, &y);
            double bend_x = noise(salted(p, SALT_WARP_X), x / 3000, y / 3000),
                   bend_y = noise(salted(p, SALT_WARP_Y), x / 3000, y / 3000);
            p->x_m[at(i, j)] =
                x + 300 * bend_x + 45 * hash_signed(salted(p, SALT_JITTER), i, 2 * j);
            p->y_m[at(i, j)] =
                y + 300 * bend_y + 45 * hash_signed(salted(p, SALT_JITTER), i, 2 * j + 1);
        }
    for (int i = -HALF; i <= HALF; i++)
        for (int j = -HALF; j <= HALF; j++) p->id[at(i, j)] = kept(p, i, j) ? -2 : -1;
}

/* Whether a street leads from (i, j) to the neighbour (i + di, j + dj); its road and line if so. */
static bool street(const struct plan *p, int i, int j, int di, int dj, enum dpl_sim_road *road,
                   int32_t *line) {
    int k = i + di, l = j + dj;
    if (size_of(k) > HALF || size_of(l) > HALF || p->id[at(i, j)] == -1 || p->id[at(k, l)] == -1)
        return false;
    bool ring = on_ring(p, i, j) && on_ring(p, k, l);
    if (di && dj) {
        bool corner = ring && size_of(i) + size_of(j) == size_of(k) + size_of(l);
        bool diagonal = di == dj ? p->boulevard[0] && i == j : p->boulevard[1] && i == -j;
        if (!corner && !diagonal) return false;
        *road = corner ? DPL_SIM_EXPRESS : DPL_SIM_ARTERIAL;
        *line = corner ? 4 * SIDE : 4 * SIDE + 1 + (di == dj);
    } else {
        int index = di ? j : i;
        bool outer = index == 0 && larger(size_of(di ? i : j), size_of(di ? k : l)) > p->ring;
        ring = ring && larger(size_of(i), size_of(j)) == p->ring &&
               larger(size_of(k), size_of(l)) == p->ring;
        *road = ring || outer                                             ? DPL_SIM_EXPRESS
                : line_of(index, di ? p->phase_j : p->phase_i, p->period) ? DPL_SIM_ARTERIAL
                                                                          : DPL_SIM_SIDE;
        *line = ring ? 4 * SIDE : index + HALF + (di ? SIDE : 0);
    }
    uint64_t chance =
        dpl_sim_key(salted(p, SALT_GAP), (uint64_t)(at(i, j) + at(k, l)) * 16 +
                                             (uint64_t)(size_of(di) * 2 + size_of(dj)));
    if (*road == DPL_SIM_SIDE && chance % 10 == 0) return false; // blocks are not all alike
    size_t a = at(i, j), b = at(k, l);
    bool crosses =
        (river_side(p, p->x_m[a], p->y_m[a]) < 0) != (river_side(p, p->x_m[b], p->y_m[b]) < 0);
    if (!crosses || *road == DPL_SIM_EXPRESS) return true;
    return *road == DPL_SIM_ARTERIAL &&
           dpl_sim_key(salted(p, SALT_BRIDGE), (uint64_t)*line) % 5 < 3;
}

/* ---- nodes and edges ---- */

static const int STEP[MAX_DEGREE][2] = {{1, 0},  {1, 1},   {0, 1},  {-1, 1},
                                        {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};

/* Numbers what the centre reaches; `order` gets lattice places by node number. */
static int32_t reach_nodes(struct plan *p, int32_t *order) {
    int32_t count = 0;
    order[count] = (int32_t)at(0, 0);
    p->id[at(0, 0)] = count++;
    for (int32_t done = 0; done < count; done++) {
        int i = order[done] / SIDE - HALF, j = order[done] % SIDE - HALF;
        for (int d = 0; d < MAX_DEGREE; d++) {
            enum dpl_sim_road road;
            int32_t line;
            if (!street(p, i, j, STEP[d][0], STEP[d][1], &road, &line)) continue;
            size_t next = at(i + STEP[d][0], j + STEP[d][1]);
            if (p->id[next] != -2) continue;
            p->id[next] = count;
            order[count++] = (int32_t)next;
        }
    }
    return count;
}

/* Speeds with the waiting at crossings left out; how much the peak slows each kind of road. */
static const double FREE_KMH[DPL_SIM_ROADS] = {24, 38, 71}, SLOWED[DPL_SIM_ROADS] = {0.7, 1.1, 1.2};

static void fill_edge(const struct plan *p, const struct dpl_sim_city *city, int32_t from,
                      struct dpl_sim_edge *edge) {
    double dx = city->x_m[edge->to] - city->x_m[from], dy = city->y_m[edge->to] - city->y_m[from],
           length = sqrt(dx * dx + dy * dy);
    double rx = p->centre_x_m - city->x_m[from], ry = p->centre_y_m - city->y_m[from],
           radius = sqrt(rx * rx + ry * ry) + 1;
    double inward =
        (1 + (dx * rx + dy * ry) / (length * radius)) / 2; // 1: straight to the centre, 0: away
    double busy = SLOWED[edge->road] * (0.65 + 0.7 / (1 + radius * radius / (2000.0 * 2000.0)));
    edge->length_m = (float)length;
    edge->free_s = (float)(length * 3.6 / FREE_KMH[edge->road]);
    edge->k_in = (float)(busy * inward);
    edge->k_out = (float)(busy * (1 - inward));
}

static void fill_network(const struct plan *p, const int32_t *order, struct dpl_sim_city *city) {
    int32_t n = 0;
    for (int32_t node = 0; node < city->n_nodes; node++)
        city->x_m[node] = p->x_m[order[node]], city->y_m[node] = p->y_m[order[node]];
    for (int32_t node = 0; node < city->n_nodes; node++) {
        int i = order[node] / SIDE - HALF, j = order[node] % SIDE - HALF;
        city->first[node] = n;
        for (int d = 0; d < MAX_DEGREE; d++) {
            enum dpl_sim_road road;
            int32_t line;
            if (!street(p, i, j, STEP[d][0], STEP[d][1], &road, &line)) continue;
            struct dpl_sim_edge *edge = &city->edge[n++];
            *edge = (struct dpl_sim_edge){.to = p->id[at(i + STEP[d][0], j + STEP[d][1])],
                                          .road = (uint8_t)road,
                                          .line = line};
            fill_edge(p, city, node, edge);
        }
    }
    city->first[city->n_nodes] = city->n_edges = n;
    for (int32_t node = 0; node < city->n_nodes; node++)
        for (int32_t e = city->first[node]; e < city->first[node + 1]; e++)
            for (int32_t back = city->first[city->edge[e].to];
                 back < city->first[city->edge[e].to + 1]; back++)
                if (city->edge[back].to == node) city->edge[e].twin = back;
}

/* ---- land use ---- */

/* 1 in the middle, falling like the fourth power of the distance. */
static double bump(double x, double y, const struct spot *spot) {
    double ratio = square_distance(x, y, spot) / (spot->radius_m * spot->radius_m);
    return 1 / (1 + ratio * ratio);
}

static double weight_of(const struct plan *p, enum dpl_sim_kind kind, double x, double y) {
    struct spot core = {p->centre_x_m, p->centre_y_m, 900},
                city = {p->centre_x_m, p->centre_y_m, 0.62 * p->radius_m};
    double sum = 0;
    switch (kind) {
    case DPL_SIM_HOME:
        for (int i = 0; i < p->n_towns; i++) sum += 0.6 * bump(x, y, &p->town[i]);
        return built_up(p, x, y) ? sum + bump(x, y, &city) * (1 - 0.75 * bump(x, y, &core)) : FARM;
    case DPL_SIM_JOB:
        for (int i = 0; i < p->n_business; i++) sum += 1.4 * bump(x, y, &p->business[i]);
        return sum + 1.6 * bump(x, y, &core) + 0.04 * bump(x, y, &city);
    case DPL_SIM_SHOP:
        for (int i = 0; i < p->n_malls; i++) sum += 1.5 * bump(x, y, &p->mall[i]);
        return sum + 0.9 * bump(x, y, &core) + 0.08 * bump(x, y, &city);
    case DPL_SIM_NIGHT:
        return bump(x, y, &p->night[0]) + 0.7 * bump(x, y, &p->night[1]) +
               0.004 * bump(x, y, &city);
    case DPL_SIM_HUB: {
        double station = bump(x, y, &p->station), airport = bump(x, y, &p->airport);
        return (station > 0.5 ? station : 0) + (airport > 0.6 ? 0.5 * airport : 0);
    }
    case DPL_SIM_KINDS: break;
    }
    return 0;
}

static void fill_land_use(const struct plan *p, struct dpl_sim_city *city) {
    for (int kind = 0; kind < DPL_SIM_KINDS; kind++) {
        uint64_t total = 0, key = dpl_sim_key(salted(p, SALT_WEIGHT), (uint64_t)kind);
        for (int32_t node = 0; node < city->n_nodes; node++) {
            double u = dpl_sim_unit(dpl_sim_key(key, (uint64_t)node)) + 0.03,
                   tail = 0.01 / (u * u); // heavy-tailed: a few places are known to all
            total += 1 + (uint64_t)(1e9 * tail *
                                    weight_of(p, (enum dpl_sim_kind)kind, city->x_m[node],
                                              city->y_m[node]));
            city->reach[kind][node] = total;
        }
    }
}

int32_t dpl_sim_draw(const struct dpl_sim_city *city, enum dpl_sim_kind kind, uint64_t bits) {
    const uint64_t *reach = city->reach[kind];
    uint64_t target = bits % reach[city->n_nodes - 1];
    int32_t low = 0, high = city->n_nodes - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (reach[middle] > target)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double dpl_sim_distance_m(const struct dpl_sim_city *city, int32_t a, int32_t b) {
    double dx = city->x_m[a] - city->x_m[b], dy = city->y_m[a] - city->y_m[b];
    return sqrt(dx * dx + dy * dy);
}

/* ---- all of it ---- */

static enum dpl_status make_room(struct dpl_run *run, struct dpl_sim_city *city) {
    size_t nodes = (size_t)city->n_nodes;
    city->x_m = dpl_alloc(run, nodes, sizeof *city->x_m);
    city->y_m = dpl_alloc(run, nodes, sizeof *city->y_m);
    city->first = dpl_alloc(run, nodes + 1, sizeof *city->first);
    city->edge = dpl_alloc(run, nodes * MAX_DEGREE, sizeof *city->edge);
    if (!city->x_m || !city->y_m || !city->first || !city->edge) return DPL_SYSTEM;
    for (int kind = 0; kind < DPL_SIM_KINDS; kind++) {
        city->reach[kind] = dpl_alloc(run, nodes, sizeof *city->reach[kind]);
        if (!city->reach[kind]) return DPL_SYSTEM;
    }
    return DPL_OK;
}

enum dpl_status dpl_sim_city_make(struct dpl_run *run, uint64_t number, struct dpl_sim_city *city) {
    *city = (struct dpl_sim_city){0};
    struct dpl_area area = dpl_area_defaults();
    DPL_TRY(dpl_area_preset(run, "simulated", &area));
    DPL_TRY(dpl_grid_make(run, &area, &city->grid));
    DPL_TRY(dpl_zone_open(run, area.zone, &city->zone));

    enum dpl_status status = DPL_SYSTEM;
    struct plan plan = {.key = dpl_sim_key(0xC1B, number)};
    plan.width_m = (area.east_deg - area.west_deg) * city->grid.m_per_deg_lon;
    plan.height_m = (area.north_deg - area.south_deg) * city->grid.m_per_deg_lat;
    plan.x_m = dpl_alloc(run, SIDE * SIDE, sizeof *plan.x_m);
    plan.y_m = dpl_alloc(run, SIDE * SIDE, sizeof *plan.y_m);
    plan.id = dpl_alloc(run, SIDE * SIDE, sizeof *plan.id);
    int32_t *order = dpl_alloc(run, SIDE * SIDE, sizeof *order);
    if (!plan.x_m || !plan.y_m || !plan.id || !order) goto done;
    struct dpl_sim_stream stream = {.key = plan.key};
    plan_streets(&plan, &stream);
    plan_places(&plan, &stream);
    lay_lattice(&plan);
    city->n_nodes = reach_nodes(&plan, order);
    DPL_GO(make_room(run, city));
    fill_network(&plan, order, city);
    fill_land_use(&plan, city);
done:
    dpl_free(order);
    dpl_free(plan.id);
    dpl_free(plan.y_m);
    dpl_free(plan.x_m);
    return status;
}

void dpl_sim_city_free(struct dpl_sim_city *city) {
    for (int kind = 0; kind < DPL_SIM_KINDS; kind++) dpl_free(city->reach[kind]);
    dpl_free(city->edge);
    dpl_free(city->first);
    dpl_free(city->y_m);
    dpl_free(city->x_m);
    dpl_zone_free(city->zone);
    *city = (struct dpl_sim_city){0};
}
