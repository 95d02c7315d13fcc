/* Drawing positions.
 *
 * A site is updated by choosing among its position and seven others, in proportion to the density,
 * in one of two ways that both leave the density as it is:
 *
 *  - near: a point z is drawn around the position, the seven around z, by the same symmetric
 * kernel; so the eight could have stood in for each other, and the density alone decides. The
 * kernel is a fixed list of offsets of several scales that holds with each its opposite.
 *  - at large: the seven are independent draws, anywhere in the cell or right beside a neighbour in
 *    the same cell, which is how stops are found; each counts as density over chance to be drawn.
 *
 * Time: about 80 weights a visit and sweep, no logarithm, no angle. */
#include "sample/place.h"

#include <math.h>

enum { TRIES = 7, OFFSETS = 4096, OFFSET_BITS = 12, STRING_ROUNDS = 8, LARGE_EVERY = 3 };
static const double SCALE_M[] = {8, 20, 45, 100,
                                 200}; // deviations of the kernel, for cells of 500 m
enum { SCALES = sizeof SCALE_M / sizeof *SCALE_M };
static const double SCALE_CELL_M = 500;
static const float BESIDE = 0.35f; // chance to be drawn beside each neighbour in the same cell
static const double PI = 3.14159265358979323846;

struct box {
    float west, east, south, north; // metres
    float x, y;                     // centre
    float per_area;
    float per_part; // sixteenths a metre
};

enum { STANDING_MOST = 255 }; // steps in a row that stand still: more weigh as much

struct dpl_placer {
    struct dpl_motion motion;
    float log_standing[STANDING_MOST + 1]; // weight of so many steps in a row that stand still
    float reach, per_reach, beside_m, per_beside;
    double m_per_udeg_lat, m_per_udeg_lng, south_udeg, west_udeg;
    size_t n_places;
    struct dpl_place *place; // (n_places)
    struct box *box;         // (n_places)
    struct dpl_position offset[OFFSETS], disc[OFFSETS];
};

/* ---- setting up ---- */

/* A sequence that fills the unit square evenly: Gaussian offsets from it need no random numbers. */
static void even_point(size_t i, double *u, double *v) {
    *u = fmod(0.5 + (double)i * 0.7548776662466927, 1);
    *v = fmod(0.5 + (double)i * 0.5698402909980532, 1);
}

static void make_offsets(struct dpl_placer *placer, double cell_m) {
    for (size_t i = 0; i < OFFSETS; i += 2) {
        double u, v, scale = SCALE_M[i / 2 % SCALES] * fmin(cell_m / SCALE_CELL_M, 2);
        even_point(i / 2, &u, &v);
        double r = scale * sqrt(-2 * log(1 - u)), angle = 2 * PI * v;
        placer->offset[i] = (struct dpl_position){(float)(r * cos(angle)), (float)(r * sin(angle))};
        placer->offset[i + 1] =
            (struct dpl_position){-placer->offset[i].x_m, -placer->offset[i].y_m};
    }
    for (size_t i = 0; i < OFFSETS; i++) {
        double u, v;
        even_point(i, &u, &v);
        double r = (double)placer->beside_m * sqrt(u);
        placer->disc[i] =
            (struct dpl_position){(float)(r * cos(2 * PI * v)), (float)(r * sin(2 * PI * v))};
    }
}

/* The side of a square of 1, 2, 4, ... cells, of which at least one side is inside the grid by more
 * than half. */
static float side_of(const struct box *box, float cell_m) {
    float wide = fmaxf(box->east - box->west, box->north - box->south), side = cell_m;
    while (side + cell_m / 2 < wide) side *= 2;
    return side;
}

static struct box box_of(const struct dpl_placer *placer, const struct dpl_place *place,
                         float cell_m) {
    double lat = placer->m_per_udeg_lat, lng = placer->m_per_udeg_lng;
    struct box box = {.west = (float)((place->west - placer->west_udeg) * lng),
                      .east = (float)((place->east - placer->west_udeg) * lng),
                      .south = (float)((place->south - placer->south_udeg) * lat),
                      .north = (float)((place->north - placer->south_udeg) * lat),
                      .x = (float)((place->lng - placer->west_udeg) * lng),
                      .y = (float)((place->lat - placer->south_udeg) * lat)};
    box.per_part = DPL_FINE_SIDE / side_of(&box, cell_m);
    box.per_area = 1 / fmaxf((box.east - box.west) * (box.north - box.south), 1);
    return box;
}

/* The first step of a run weighs by the pair it makes with the step before. */
void dpl_placer_weigh(struct dpl_placer *placer) {
    const struct dpl_motion *motion = &placer->motion;
    for (size_t n = 2; n <= STANDING_MOST; n++)
        placer->log_standing[n] = placer->log_standing[n - 1] +
                                  logf(motion->weight[dpl_motion_standing(&motion->bins, n)]);
}

enum dpl_status dpl_placer_new(struct dpl_run *run, const struct dpl_grid *grid,
                               const struct dpl_place *place, size_t n_places,
                               const struct dpl_motion *motion, double reach_m,
                               struct dpl_placer **made) {
    struct dpl_placer *placer = dpl_alloc(run, 1, sizeof *placer);
    if (!placer) return DPL_SYSTEM;
    placer->motion = *motion;
    placer->n_places = n_places;
    double full_m = grid->area.speed_limit_kmh / 3.6 * grid->area.slot_s;
    placer->reach = (float)reach_m;
    placer->per_reach = (float)(1 / full_m);
    placer->beside_m = (float)(full_m / 100);
    placer->per_beside = 1 / (placer->beside_m * placer->beside_m * (float)PI);
    placer->m_per_udeg_lat = grid->m_per_deg_lat / 1e6;
    placer->m_per_udeg_lng = grid->m_per_deg_lon / 1e6;
    placer->south_udeg = grid->area.south_deg * 1e6;
    placer->west_udeg = grid->area.west_deg * 1e6;
    placer->place = dpl_alloc(run, n_places, sizeof *placer->place);
    placer->box = dpl_alloc(run, n_places, sizeof *placer->box);
    if (!placer->place || !placer->box) {
        dpl_placer_free(placer);
        return DPL_SYSTEM;
    }
    for (size_t i = 0; i < n_places; i++) {
        placer->place[i] = place[i];
        placer->box[i] = box_of(placer, &place[i], (float)grid->area.cell_m);
    }
    make_offsets(placer, grid->area.cell_m);
    dpl_placer_weigh(placer);
    *made = placer;
    return DPL_OK;
}

void dpl_placer_free(struct dpl_placer *placer) {
    if (!placer) return;
    dpl_free(placer->place), dpl_free(placer->box);
    dpl_free(placer);
}

void dpl_place_round(const struct dpl_placer *placer, uint16_t at, struct dpl_position position,
                     int32_t *lat_udeg, int32_t *lng_udeg) {
    const struct dpl_place *place = &placer->place[at];
    double lat = rint(placer->south_udeg + (double)position.y_m / placer->m_per_udeg_lat),
           lng = rint(placer->west_udeg + (double)position.x_m / placer->m_per_udeg_lng);
    *lat_udeg = (int32_t)fmin(fmax(lat, place->south), place->north);
    *lng_udeg = (int32_t)fmin(fmax(lng, place->west), place->east);
}

/* ---- the string ---- */

static float distance(struct dpl_position a, struct dpl_position b) {
    float x = a.x_m - b.x_m, y = a.y_m - b.y_m;
    return sqrtf(x * x + y * y);
}

static bool inside(const struct box *box, struct dpl_position p) {
    return p.x_m >= box->west && p.x_m <= box->east && p.y_m >= box->south && p.y_m <= box->north;
}

static struct dpl_position hold(const struct box *box, float x, float y) {
    return (struct dpl_position){fminf(fmaxf(x, box->west), box->east),
                                 fminf(fmaxf(y, box->south), box->north)};
}

/* Neither step at site i, moved to p, is beyond the reach, unless it was as long before. */
static bool in_reach(const struct dpl_placer *placer, const struct dpl_position *at, size_t i,
                     size_t n, struct dpl_position p) {
    for (int side = -1; side <= 1; side += 2) {
        if ((side < 0 && i == 0) || (side > 0 && i + 1 == n)) continue;
        struct dpl_position other = at[i + (size_t)side];
        float length = distance(p, other);
        if (length > placer->reach && length > distance(at[i], other)) return false;
    }
    return true;
}

/* As far towards p as the reach allows: sites within reach of both neighbours are convex. */
static void pull(const struct dpl_placer *placer, struct dpl_position *at, size_t i, size_t n,
                 struct dpl_position p) {
    for (int halving = 0; halving < 4; halving++) {
        if (in_reach(placer, at, i, n, p)) {
            at[i] = p;
            return;
        }
        p.x_m = (p.x_m + at[i].x_m) / 2, p.y_m = (p.y_m + at[i].y_m) / 2;
    }
}

/* The point of a cell that is nearest to the centre of another. */
static struct dpl_position border(const struct dpl_placer *placer, uint16_t of, uint16_t to) {
    return hold(&placer->box[of], placer->box[to].x, placer->box[to].y);
}

/* Cells wider than the reach: from border to border at even speed, and no farther than needed. */
static void along_borders(const struct dpl_placer *placer, const uint16_t *place, size_t n,
                          struct dpl_position *at) {
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && place[end] == place[first];) end++;
        struct dpl_position in = at[first], out = at[first]; // the centre, of a trip in one cell
        if (first > 0) in = out = border(placer, place[first], place[first - 1]);
        if (end < n) out = border(placer, place[first], place[end]);
        if (first == 0) in = out;
        for (size_t i = first; i < end; i++) {
            float part = end - first > 1 ? (float)(i - first) / (float)(end - first - 1) : 0;
            at[i] = (struct dpl_position){in.x_m + part * (out.x_m - in.x_m),
                                          in.y_m + part * (out.y_m - in.y_m)};
        }
    }
}

/* A way within the reach, if there is one: the centres, or along the borders. */
static void set_out(const struct dpl_placer *placer, const uint16_t *place, size_t n,
                    struct dpl_position *at) {
    bool wide = false;
    for (size_t i = 0; i < n; i++) {
        const struct box *box = &placer->box[place[i]];
        at[i] = (struct dpl_position){box->x, box->y};
        wide = wide || (i > 0 && distance(at[i - 1], at[i]) > placer->reach);
    }
    if (wide) along_borders(placer, place, n, at);
}

static void taut_string(const struct dpl_placer *placer, struct dpl_stream *stream,
                        const uint16_t *place, size_t n, struct dpl_position *at) {
    set_out(placer, place, n, at);
    for (size_t end = 0; end < 2; end++) {
        size_t i = end ? n - 1 : 0;
        const struct box *box = &placer->box[place[i]];
        float u = (float)dpl_stream_uniform(stream), v = (float)dpl_stream_uniform(stream);
        pull(placer, at, i, n,
             hold(box, box->west + u * (box->east - box->west),
                  box->south + v * (box->north - box->south)));
    }
    for (int round = 0; round < STRING_ROUNDS && n > 2; round++)
        for (size_t k = 1; k + 1 < n; k++) {
            size_t i = round % 2 ? n - 1 - k : k;
            pull(placer, at, i, n,
                 hold(&placer->box[place[i]], (at[i - 1].x_m + at[i + 1].x_m) / 2,
                      (at[i - 1].y_m + at[i + 1].y_m) / 2));
        }
}

/* ---- sweeps ---- */

/* What surrounds a site. */
struct site {
    const struct dpl_position *at;
    size_t i, n;
    const struct box *box;
    const float *fine;                // of its cell, NULL: none
    struct dpl_step before, after;    // the steps that end and begin one visit away
    size_t still_before, still_after; // steps in a row that stand still, up to and from those
    float most_before, most_after;    // metres
};

static float fine_weight(const struct site *site, struct dpl_position p) {
    if (!site->fine) return 1;
    int column = (int)((p.x_m - site->box->west) * site->box->per_part),
        row = (int)((p.y_m - site->box->south) * site->box->per_part);
    column = column < DPL_FINE_SIDE ? column : DPL_FINE_SIDE - 1;
    row = row < DPL_FINE_SIDE ? row : DPL_FINE_SIDE - 1;
    return site->fine[row * DPL_FINE_SIDE + column];
}

static bool stands(const struct dpl_step *step) { return step->speed == DPL_MOTION_STILL; }

/* Of two steps in a row. Both standing still is weighed with all that do so around them. */
static float pair_weight(const struct dpl_placer *placer, const struct dpl_step *a,
                         const struct dpl_step *b) {
    if (stands(a) && stands(b)) return 1;
    return placer->motion.weight[dpl_motion_of(&placer->motion.bins, a, b)];
}

static float log_standing(const struct dpl_placer *placer, size_t steps) {
    return placer->log_standing[steps < STANDING_MOST ? steps : STANDING_MOST];
}

/* What standing still before, after or on both sides of a site adds to those who stand around. */
static float standing_weight(const struct dpl_placer *placer, const struct site *site, bool in,
                             bool out) {
    size_t before = site->still_before, after = site->still_after;
    float apart = log_standing(placer, before) + log_standing(placer, after);
    if (in && out) return expf(log_standing(placer, before + 2 + after) - apart);
    return expf(log_standing(placer, before + in) + log_standing(placer, after + out) - apart);
}

/* The density as it depends on the position of one site; 0: not allowed. */
static float density(const struct dpl_placer *placer, const struct site *site,
                     struct dpl_position p) {
    const struct dpl_motion_bins *bins = &placer->motion.bins;
    const float *weight = placer->motion.weight;
    size_t i = site->i, n = site->n;
    struct dpl_step in = {0}, out = {0};
    float product;
    if (!inside(site->box, p)) return 0;
    if (i > 0) {
        in = dpl_motion_step(bins, placer->per_reach, site->at[i - 1], p);
        if (in.length_m > site->most_before) return 0;
    }
    if (i + 1 < n) {
        out = dpl_motion_step(bins, placer->per_reach, p, site->at[i + 1]);
        if (out.length_m > site->most_after) return 0;
    }
    product = fine_weight(site, p);
    if (i > 1) product *= pair_weight(placer, &site->before, &in);
    if (i == 1) product *= weight[dpl_motion_first(bins, in.speed)];
    if (i > 0 && i + 1 < n) product *= pair_weight(placer, &in, &out);
    if (i + 2 < n) product *= pair_weight(placer, &out, &site->after);
    if (i == 0) product *= weight[dpl_motion_first(bins, out.speed)];
    if (i + 2 == n) product *= weight[dpl_motion_last(bins, out.speed)];
    if (i + 1 == n) product *= weight[dpl_motion_last(bins, in.speed)];
    bool still_in = i > 0 && stands(&in), still_out = i + 1 < n && stands(&out);
    if (still_in || still_out) product *= standing_weight(placer, site, still_in, still_out);
    return product;
}

/* Steps in a row that stand still, the first from visit v, each by = 1 or -1 visits on. */
static size_t still_from(const struct dpl_placer *placer, const struct dpl_position *at, size_t v,
                         size_t n, int by) {
    size_t steps = 0;
    for (size_t next = v + (size_t)by; next < n; v = next, next += (size_t)by) {
        struct dpl_step step =
            dpl_motion_step(&placer->motion.bins, placer->per_reach, at[v], at[next]);
        if (!stands(&step)) break;
        steps++;
    }
    return steps;
}

static struct site site_of(const struct dpl_placer *placer, const struct dpl_position *at,
                           const uint16_t *place, size_t i, size_t n) {
    const struct dpl_motion *motion = &placer->motion;
    struct site site = {.at = at,
                        .i = i,
                        .n = n,
                        .box = &placer->box[place[i]],
                        .fine = motion->fine ? motion->fine + (size_t)place[i] * DPL_FINE : NULL};
    if (i > 1)
        site.before = dpl_motion_step(&motion->bins, placer->per_reach, at[i - 2], at[i - 1]);
    if (i + 2 < n)
        site.after = dpl_motion_step(&motion->bins, placer->per_reach, at[i + 1], at[i + 2]);
    if (i > 1 && stands(&site.before)) site.still_before = still_from(placer, at, i - 1, n, -1);
    if (i + 2 < n && stands(&site.after)) site.still_after = still_from(placer, at, i + 1, n, 1);
    // A step that the cells make too long may get shorter, not longer.
    if (i > 0) site.most_before = fmaxf(placer->reach, distance(at[i - 1], at[i]));
    if (i + 1 < n) site.most_after = fmaxf(placer->reach, distance(at[i], at[i + 1]));
    return site;
}

/* One of TRIES + 1, in proportion to weight; u of [0, 1). */
static size_t pick(const float *weight, float u) {
    float total = 0;
    for (size_t k = 0; k <= TRIES; k++) total += weight[k];
    u *= total;
    for (size_t k = 0; k < TRIES; k++) {
        u -= weight[k];
        if (u < 0) return k;
    }
    return weight[TRIES] > 0 ? TRIES : 0;
}

/* Offsets by twelve bits each: eight of them and a number of [0, 1) from two words. */
struct choices {
    uint16_t offset[TRIES + 1];
    float u;
};
static struct choices draw_choices(struct dpl_stream *stream) {
    uint64_t a = dpl_stream_u64(stream), b = dpl_stream_u64(stream);
    struct choices choices = {.u = (float)(a >> 40) * 0x1p-24f};
    for (int k = 0; k < 3; k++) choices.offset[k] = (a >> (k * OFFSET_BITS)) % OFFSETS;
    for (int k = 0; k < 5; k++) choices.offset[3 + k] = (b >> (k * OFFSET_BITS)) % OFFSETS;
    return choices;
}

static void update_near(const struct dpl_placer *placer, const struct site *site,
                        const struct choices *choices, struct dpl_position *at) {
    struct dpl_position p[TRIES + 1] = {*at}, z = *at;
    float weight[TRIES + 1] = {density(placer, site, *at)};
    z.x_m += placer->offset[choices->offset[TRIES]].x_m;
    z.y_m += placer->offset[choices->offset[TRIES]].y_m;
    for (size_t k = 1; k <= TRIES; k++) {
        struct dpl_position by = placer->offset[choices->offset[k - 1]];
        p[k] = (struct dpl_position){z.x_m + by.x_m, z.y_m + by.y_m};
        weight[k] = density(placer, site, p[k]);
    }
    *at = p[pick(weight, choices->u)];
}

/* Neighbours in the same cell, beside which a site may be drawn. */
struct beside {
    struct dpl_position at[2];
    int n;
};

static float chance_of(const struct dpl_placer *placer, const struct site *site,
                       const struct beside *beside, struct dpl_position p) {
    float chance = (1 - BESIDE * (float)beside->n) * site->box->per_area;
    for (int k = 0; k < beside->n; k++)
        if (distance(beside->at[k], p) <= placer->beside_m) chance += BESIDE * placer->per_beside;
    return chance;
}

static void update_at_large(const struct dpl_placer *placer, const struct site *site,
                            const struct beside *beside, const struct choices *choices,
                            struct dpl_stream *stream, struct dpl_position *at) {
    const struct box *box = site->box;
    struct dpl_position p[TRIES + 1] = {*at};
    float weight[TRIES + 1];
    for (size_t k = 1; k <= TRIES; k++) {
        uint64_t word = dpl_stream_u64(stream);
        float u = (float)(word & 0xFFFF) * 0x1p-16f;
        struct dpl_position by = placer->disc[choices->offset[k - 1]];
        int which = u < BESIDE ? 0 : u < 2 * BESIDE ? 1 : 2;
        if (which < beside->n)
            p[k] = (struct dpl_position){beside->at[which].x_m + by.x_m,
                                         beside->at[which].y_m + by.y_m};
        else
            p[k] = hold(box, box->west + (float)(word >> 40) * 0x1p-24f * (box->east - box->west),
                        box->south +
                            (float)(word >> 16 & 0xFFFFFF) * 0x1p-24f * (box->north - box->south));
    }
    for (size_t k = 0; k <= TRIES; k++)
        weight[k] = density(placer, site, p[k]) / chance_of(placer, site, beside, p[k]);
    *at = p[pick(weight, choices->u)];
}

static void update(const struct dpl_placer *placer, struct dpl_stream *stream,
                   const uint16_t *place, size_t i, size_t n, bool at_large,
                   struct dpl_position *at) {
    struct site site = site_of(placer, at, place, i, n);
    struct choices choices = draw_choices(stream);
    struct beside beside = {0};
    if (i > 0 && place[i - 1] == place[i]) beside.at[beside.n++] = at[i - 1];
    if (i + 1 < n && place[i + 1] == place[i]) beside.at[beside.n++] = at[i + 1];
    struct dpl_position p = at[i];
    if (at_large && beside.n > 0)
        update_at_large(placer, &site, &beside, &choices, stream, &p);
    else
        update_near(placer, &site, &choices, &p);
    at[i] = p;
}

void dpl_place_sweeps(const struct dpl_placer *placer, struct dpl_stream *stream,
                      const uint16_t *place, size_t n, int sweeps, struct dpl_position *at) {
    taut_string(placer, stream, place, n, at);
    for (int sweep = 0; sweep < sweeps; sweep++)
        for (size_t k = 0; k < n; k++)
            update(placer, stream, place, sweep % 2 ? n - 1 - k : k, n,
                   sweep % LARGE_EVERY == LARGE_EVERY - 1, at);
}

void dpl_place_trip(const struct dpl_placer *placer, struct dpl_stream *stream,
                    const uint16_t *place, size_t n, struct dpl_position *at) {
    dpl_place_sweeps(placer, stream, place, n, DPL_PLACE_SWEEPS, at);
}
