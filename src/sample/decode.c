/* Decoding.
 *
 * Places are whole millionths of a degree (0.1 m) from the start: what is written is exactly what
 * was drawn, and no rounding of decimals can move a point into the next cell or out of the box.
 *
 * Times: the trip's period is the one that holds most of its visits (that is how periods of real
 * trips are found), so the first visit is at a uniformly drawn second among those that keep it so,
 * which may lie before the period.
 */
#include "sample/decode.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/receiver.h"

enum { DAY_S = 86400 };

/* ---- cells ---- */

static int32_t clamp(double value, double low, double high) {
    return (int32_t)fmin(fmax(value, low), high);
}

/* The whole numbers within [low, high) or, at the far edge of the box, [low, high]; the nearest one
 * when there is none. */
static void cover(double low, double high, double box_low, double box_high, int32_t *first,
                  int32_t *last) {
    double from = ceil(fmax(low, box_low)), to = high > box_high ? floor(box_high) : ceil(high) - 1;
    // One further in on either side, where there is room: the grid computes in metres and may round
    // the other way.
    if (to - from >= 4) from++, to--;
    if (to < from) from = to = clamp(floor((low + high) / 2), ceil(box_low), floor(box_high));
    *first = (int32_t)from;
    *last = (int32_t)to;
}

struct dpl_place dpl_square_place(const struct dpl_grid *grid, int32_t cell, int32_t side) {
    const struct dpl_area *area = &grid->area;
    struct dpl_place box;
    double row = cell / grid->columns, column = cell % grid->columns;
    double top = fmin(row + side, grid->rows), right = fmin(column + side, grid->columns);
    double tall = area->cell_m / grid->m_per_deg_lat * 1e6,
           wide = area->cell_m / grid->m_per_deg_lon * 1e6;
    double south = area->south_deg * 1e6, north = area->north_deg * 1e6,
           west = area->west_deg * 1e6, east = area->east_deg * 1e6;
    cover(south + row * tall, south + top * tall, south, north, &box.south, &box.north);
    cover(west + column * wide, west + right * wide, west, east, &box.west, &box.east);
    box.lat = clamp(rint(south + (row + top) / 2 * tall), box.south, box.north);
    box.lng = clamp(rint(west + (column + right) / 2 * wide), box.west, box.east);
    return box;
}

enum dpl_status dpl_places_of(struct dpl_run *run, const struct dpl_model *model,
                              const struct dpl_generator *generator, struct dpl_place **made,
                              size_t *n) {
    bool own = generator != NULL && generator->place != NULL;
    *n = own ? generator->n_places : (size_t)model->n_cells;
    struct dpl_place *place = dpl_alloc(run, *n, sizeof *place);
    if (place == NULL) return DPL_SYSTEM;
    for (size_t i = 0; i < *n; i++)
        place[i] =
            own ? generator->place[i]
                : dpl_square_place(&model->grid, model->cell[i], model->side ? model->side[i] : 1);
    *made = place;
    return DPL_OK;
}

double dpl_written_reach_m(const struct dpl_area *area, int pieces) {
    static const double ROUNDING_M = 0.25; // of a piece: two ends, a tenth of a metre each way
    return area->speed_limit_kmh / 3.6 * area->slot_s - ROUNDING_M * pieces;
}

/* What a step may be long between two visits. */
static double reach_of(const struct dpl_decoder *decoder) {
    return dpl_written_reach_m(&decoder->area, decoder->area.slot_s / decoder->interval_s);
}

/* What draws positions, without roads and with them. */
static enum dpl_status make_placer(struct dpl_run *run, const struct dpl_model *model,
                                   struct dpl_generator *generator, const struct dpl_roads *roads,
                                   struct dpl_decoder *decoder) {
    bool measured = generator != NULL && generator->motion != NULL;
    struct dpl_motion motion = measured ? *generator->motion : dpl_motion_public();
    DPL_TRY(dpl_placer_new(run, &model->grid, decoder->place, decoder->n_places, &motion,
                           reach_of(decoder), &decoder->placer));
    if (roads == NULL) return DPL_OK;
    const bool own =
        generator != NULL && generator->place != NULL; // its places are not the model's
    DPL_TRY(dpl_on_roads_new(run, roads, own ? NULL : model->cell, own ? NULL : model->side,
                             decoder->n_places, &motion, reach_of(decoder), &decoder->on_roads));
    return dpl_on_roads_calibrate(run, decoder->on_roads, generator, (size_t)model->length_max,
                                  decoder->placer, decoder->gps_error_m);
}

/* Rounding must stay small beside a step of that many seconds. */
static enum dpl_status check_interval(struct dpl_run *run, const struct dpl_area *area,
                                      int interval_s) {
    static const double LEAST_M = 25;
    double m = area->speed_limit_kmh / 3.6 * interval_s;
    if (interval_s < 1 || area->slot_s % interval_s != 0)
        return dpl_fail(
            run, DPL_USAGE,
            "`sample.interval_s` %d does not divide the %d s between two visits of this model",
            interval_s, area->slot_s);
    if (m < LEAST_M && interval_s != area->slot_s)
        return dpl_fail(
            run, DPL_USAGE,
            "`sample.interval_s` %d is too short: at %g km/h, the speed limit, that is %g m "
            "(take an interval of at least %g m)",
            interval_s, area->speed_limit_kmh, m, LEAST_M);
    return DPL_OK;
}

/* Local time less UTC when that day begins. */
static int32_t midnight_offset_s(const struct dpl_decoder *decoder, int64_t day) {
    return dpl_zone_offset_s(decoder->zone, dpl_zone_utc_s(decoder->zone, day * DAY_S));
}

bool dpl_decoder_clocks_change(const struct dpl_decoder *decoder) {
    const struct dpl_days *days = &decoder->calendar.days;
    for (int64_t day = 1; day <= days->n; day++)
        if (midnight_offset_s(decoder, days->first + day) != decoder->offset_s) return true;
    return false;
}

enum dpl_status dpl_decoder_new(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_generator *generator,
                                const struct dpl_decode_options *options,
                                struct dpl_decoder **decoder) {
    enum dpl_status status;
    struct dpl_decoder *made = dpl_alloc(run, 1, sizeof *made);
    if (made == NULL) return DPL_SYSTEM;
    made->area = model->grid.area;
    made->timed = model->has_time;
    made->points = options->points;
    made->interval_s = options->interval_s > 0 ? options->interval_s : made->area.slot_s;
    made->gps_error_m = options->gps_error_m;
    made->times = options->times;
    made->m_per_udeg_lat = model->grid.m_per_deg_lat / 1e6;
    made->m_per_udeg_lng = model->grid.m_per_deg_lon / 1e6;
    DPL_GO(check_interval(run, &made->area, made->interval_s));
    DPL_GO(dpl_places_of(run, model, generator, &made->place, &made->n_places));
    DPL_GO(dpl_calendar_new(run, model, options->date, &made->calendar));
    DPL_GO(dpl_zone_open(run, made->area.zone, &made->zone));
    made->offset_s = midnight_offset_s(made, made->calendar.days.first);
    if (made->points == DPL_POINTS_DRAWN)
        DPL_GO(make_placer(run, model, generator, options->roads, made));
    *decoder = made;
    made = NULL;
done:
    dpl_decoder_free(made);
    return status;
}

void dpl_decoder_free(struct dpl_decoder *decoder) {
    if (decoder == NULL) return;
    dpl_on_roads_free(decoder->on_roads);
    dpl_placer_free(decoder->placer);
    dpl_calendar_free(&decoder->calendar);
    dpl_zone_free(decoder->zone);
    dpl_free(decoder->place);
    dpl_free(decoder);
}

struct dpl_position dpl_decoder_position(const struct dpl_decoder *decoder, int32_t lat_udeg,
                                         int32_t lng_udeg) {
    return (struct dpl_position){
        (float)((lng_udeg - decoder->area.west_deg * 1e6) * decoder->m_per_udeg_lng),
        (float)((lat_udeg - decoder->area.south_deg * 1e6) * decoder->m_per_udeg_lat)};
}

/* ---- a trip ---- */

static size_t pieces_of(const struct dpl_decoder *decoder) {
    return (size_t)(decoder->area.slot_s / decoder->interval_s);
}

enum dpl_status dpl_decoded_new(struct dpl_run *run, const struct dpl_decoder *decoder,
                                size_t length_max, struct dpl_decoded *room) {
    size_t points = length_max * pieces_of(decoder);
    *room = (struct dpl_decoded){0};
    room->place = dpl_alloc(run, length_max, sizeof *room->place);
    room->position = dpl_alloc(run, length_max, sizeof *room->position);
    room->lat_udeg = dpl_alloc(run, points, sizeof *room->lat_udeg);
    room->lng_udeg = dpl_alloc(run, points, sizeof *room->lng_udeg);
    room->cell = dpl_alloc(run, length_max, sizeof *room->cell);
    room->along_m = dpl_alloc(run, pieces_of(decoder), sizeof *room->along_m);
    enum dpl_status status = room->place && room->position && room->lat_udeg && room->lng_udeg &&
                                     room->cell && room->along_m
                                 ? DPL_OK
                                 : DPL_SYSTEM;
    if (status == DPL_OK && decoder->on_roads)
        status = dpl_on_roads_scratch(run, decoder->on_roads, &room->route);
    if (status != DPL_OK) dpl_decoded_free(room);
    return status;
}

void dpl_decoded_free(struct dpl_decoded *room) {
    dpl_free(room->place), dpl_free(room->position);
    dpl_free(room->lat_udeg), dpl_free(room->lng_udeg);
    dpl_free(room->cell), dpl_free(room->along_m);
    dpl_route_scratch_free(room->route);
    *room = (struct dpl_decoded){0};
}

/* The local second at which the trip begins: uniform among those from which most of its visits lie
 * in the period, by the rule that real trips' periods are found with; so also before the period.
 * Counted from the drawn day's midnight, and on that day. */
static int64_t draw_start_s(const struct dpl_decoder *decoder, struct dpl_stream *stream,
                            int64_t day, size_t period, size_t n) {
    enum { TRIES = 1000 };
    int64_t period_s = DAY_S / decoder->area.periods,
            before_s = (int64_t)(n - 1) * decoder->area.slot_s;
    if (before_s > DAY_S - period_s) before_s = DAY_S - period_s;
    for (int i = 0; i < TRIES; i++) {
        int64_t second = (int64_t)period * period_s - before_s +
                         (int64_t)dpl_stream_below(stream, (uint64_t)(before_s + period_s));
        int64_t local_s = day * DAY_S + (second + DAY_S) % DAY_S;
        if (dpl_zone_period(decoder->zone, &decoder->area, dpl_zone_utc_s(decoder->zone, local_s),
                            n) == period)
            return local_s;
    }
    return day * DAY_S + (int64_t)period * period_s; // no second would do, as when clocks change
}

static void draw_time(const struct dpl_decoder *decoder, struct dpl_stream *stream, size_t period,
                      size_t n_slots, struct dpl_visits *visits) {
    int64_t day = dpl_calendar_draw(&decoder->calendar, stream, period);
    visits->utc_s =
        dpl_zone_utc_s(decoder->zone, draw_start_s(decoder, stream, day, period, n_slots));
    visits->times = decoder->times;
    visits->change_at = visits->n;
    visits->offset_s = decoder->offset_s;
    if (decoder->times != DPL_TIMES_NAIVE) return; // one offset for the whole file
    visits->offset_s = dpl_zone_offset_s(decoder->zone, visits->utc_s);
    visits->offset_after_s =
        dpl_zone_offset_s(decoder->zone, visits->utc_s + (int64_t)(visits->n - 1) * visits->slot_s);
    if (visits->offset_after_s == visits->offset_s) return;
    for (size_t i = visits->n; i-- > 0;) // the clocks change under way
        if (dpl_zone_offset_s(decoder->zone, visits->utc_s + (int64_t)i * visits->slot_s) ==
            visits->offset_after_s)
            visits->change_at = i;
}

static int32_t draw_between(struct dpl_stream *stream, int32_t low, int32_t high) {
    return low + (int32_t)dpl_stream_below(stream, (uint64_t)((int64_t)high - low + 1));
}

/* Where each visit is, at the first point of its slot: every pieces-th of the room. */
static void draw_points(const struct dpl_decoder *decoder, struct dpl_stream *stream, size_t n,
                        struct dpl_decoded *room) {
    size_t pieces = pieces_of(decoder);
    if (decoder->points == DPL_POINTS_DRAWN)
        dpl_place_trip(decoder->placer, stream, room->place, n, room->position);
    for (size_t v = 0; v < n; v++) {
        const struct dpl_place *box = &decoder->place[room->place[v]];
        int32_t *lat = &room->lat_udeg[v * pieces], *lng = &room->lng_udeg[v * pieces];
        if (decoder->points == DPL_POINTS_DRAWN)
            dpl_place_round(decoder->placer, room->place[v], room->position[v], lat, lng);
        else if (decoder->points == DPL_POINTS_CENTRE)
            *lat = box->lat, *lng = box->lng;
        else
            *lat = draw_between(stream, box->south, box->north),
            *lng = draw_between(stream, box->west, box->east);
    }
}

/* Points between the visits, at even speed. */
static void fill_between(size_t pieces, size_t n, int32_t *udeg) {
    for (size_t v = 0; v + 1 < n; v++)
        for (size_t p = 1; p < pieces; p++) {
            double from = udeg[v * pieces], to = udeg[(v + 1) * pieces];
            udeg[v * pieces + p] = (int32_t)rint(from + (to - from) * (double)p / (double)pieces);
        }
}

/* The whole millionths of a degree nearest to a position, held to the box. */
static void round_to_box(const struct dpl_decoder *decoder, double x_m, double y_m,
                         int32_t *lat_udeg, int32_t *lng_udeg) {
    const struct dpl_area *area = &decoder->area;
    double south = area->south_deg * 1e6, west = area->west_deg * 1e6;
    *lat_udeg = clamp(rint(south + y_m / decoder->m_per_udeg_lat), ceil(south),
                      floor(area->north_deg * 1e6));
    *lng_udeg =
        clamp(rint(west + x_m / decoder->m_per_udeg_lng), ceil(west), floor(area->east_deg * 1e6));
}

/* All points of a trip along its route. */
static void follow(const struct dpl_decoder *decoder, const struct route *route,
                   struct dpl_decoded *room) {
    size_t pieces = pieces_of(decoder);
    for (size_t v = 0; v < route->n; v++) {
        bool last = v + 1 == route->n;
        room->along_m[0] = route->slot_m[v];
        if (!last) dpl_on_roads_between(route, v, pieces, reach_of(decoder), room->along_m);
        for (size_t p = 0; p < (last ? 1 : pieces); p++) {
            double x_m, y_m;
            dpl_route_at(route, room->along_m[p], &x_m, &y_m);
            round_to_box(decoder, x_m, y_m, &room->lat_udeg[v * pieces + p],
                         &room->lng_udeg[v * pieces + p]);
        }
    }
}

/* All points of a trip on roads; *found is false where roads lead nowhere in time, and nothing is
 * drawn. */
static enum dpl_status draw_on_roads(const struct dpl_decoder *decoder, struct dpl_stream *stream,
                                     size_t n, struct dpl_decoded *room, bool *found) {
    struct route route;
    uint64_t key = dpl_stream_u64(stream);
    dpl_place_trip(decoder->placer, stream, room->place, n, room->position);
    dpl_on_roads_cells(decoder->on_roads, room->place, room->position, n, room->cell);
    DPL_TRY(dpl_on_roads_trip(room->route, key, room->cell, room->position, n, &route, found));
    if (*found) follow(decoder, &route, room);
    return DPL_OK;
}

/* ---- the receiver's error ---- */

/* An error that leaves the point in its cell: turned round if it must be, none if that does not
 * help. */
static double hold(double at_m, double error_m, double cell_m) {
    static const double EDGE_M = 1; // written points are rounded
    double low_m = floor(at_m / cell_m) * cell_m + EDGE_M, high_m = low_m + cell_m - 2 * EDGE_M;
    if (at_m + error_m >= low_m && at_m + error_m <= high_m) return error_m;
    return at_m - error_m >= low_m && at_m - error_m <= high_m ? -error_m : 0;
}

/* An error of the receiver on every written point. Its size is drawn for the trip, since some
 * receivers and streets are much worse than others; then it changes slowly. From point to point it
 * changes by no more than keeps the step within the reach, and no point leaves its cell for it
 * (unless that step is at its limit) or the box: held to it, two points come no farther apart. */
static void add_errors(const struct dpl_decoder *decoder, struct dpl_stream *stream, size_t n,
                       int32_t *lat_udeg, int32_t *lng_udeg) {
    const struct dpl_area *area = &decoder->area;
    double lat_m = decoder->m_per_udeg_lat, lng_m = decoder->m_per_udeg_lng, x = 0, y = 0,
           pieces = (double)pieces_of(decoder),
           reach_m = dpl_written_reach_m(area, (int)pieces) / pieces;
    struct dpl_receiver receiver =
        dpl_receiver_of(stream, decoder->gps_error_m, decoder->interval_s);
    struct dpl_position last = {0};
    for (size_t i = 0; i < n; i++) {
        struct dpl_position at = dpl_decoder_position(decoder, lat_udeg[i], lng_udeg[i]),
                            error = dpl_receiver_next(&receiver, stream);
        double dx = hold(at.x_m, error.x_m, area->cell_m) - x,
               dy = hold(at.y_m, error.y_m, area->cell_m) - y,
               step_m = hypot(at.x_m - last.x_m, at.y_m - last.y_m),
               spare = i == 0 ? 1 : fmin((reach_m - step_m) / (hypot(dx, dy) + 1e-9), 1);
        x += dx * fmax(spare, 0), y += dy * fmax(spare, 0);
        last = at;
        lat_udeg[i] = clamp(rint(lat_udeg[i] + y / lat_m), ceil(area->south_deg * 1e6),
                            floor(area->north_deg * 1e6));
        lng_udeg[i] = clamp(rint(lng_udeg[i] + x / lng_m), ceil(area->west_deg * 1e6),
                            floor(area->east_deg * 1e6));
    }
}

enum dpl_status dpl_decode(const struct dpl_decoder *decoder, struct dpl_stream *stream,
                           size_t period, const struct dpl_stay *stay, size_t n_stays,
                           struct dpl_decoded *room, struct dpl_visits *visits) {
    size_t n = 0, pieces = pieces_of(decoder);
    bool found = false;
    for (size_t i = 0; i < n_stays; i++)
        for (size_t end = n + stay[i].visits; n < end; n++) room->place[n] = stay[i].cell;
    if (decoder->on_roads) DPL_TRY(draw_on_roads(decoder, stream, n, room, &found));
    if (!found) {
        draw_points(decoder, stream, n, room);
        fill_between(pieces, n, room->lat_udeg), fill_between(pieces, n, room->lng_udeg);
    }
    *visits = (struct dpl_visits){.n = (n - 1) * pieces + 1,
                                  .lat_udeg = room->lat_udeg,
                                  .lng_udeg = room->lng_udeg,
                                  .timed = decoder->timed,
                                  .slot_s = decoder->interval_s};
    if (decoder->gps_error_m > 0)
        add_errors(decoder, stream, visits->n, room->lat_udeg, room->lng_udeg);
    if (decoder->timed) draw_time(decoder, stream, period, n, visits);
    return DPL_OK;
}
