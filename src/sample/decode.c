/* Decoding.
 *
 * Places are whole millionths of a degree (0.1 m) from the start: what is written is exactly what
 * was drawn, and no rounding of decimals can move a point into the next cell or out of the box.
 *
 * Times: the trip's period is the one that holds most of its visits (that is how periods of real
 * trips are found), so the first visit is at a uniformly drawn second among those that keep it so.
 */
#include "sample/decode.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DAY_S = 86400, FIRST_YEAR = 1990, LAST_YEAR = 2099 };

/* ---- days ---- */

/* "2025-03-03" at text, exactly ten characters. */
static bool parse_date(const char *text, int64_t *day) {
    for (int i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? text[i] != '-' : !isdigit((unsigned char)text[i])) return false;
    long year = strtol(text, NULL, 10), month = strtol(text + 5, NULL, 10),
         date = strtol(text + 8, NULL, 10);
    int64_t back_year;
    int back_month, back_date;
    if (year < FIRST_YEAR || year > LAST_YEAR || month < 1 || month > 12 || date < 1 || date > 31)
        return false;
    *day = dpl_days_from_date(year, (int)month, (int)date);
    dpl_date_from_days(*day, &back_year, &back_month, &back_date);
    return back_month == month && back_date == date; // there is no 30 February
}

enum dpl_status dpl_days_parse(struct dpl_run *run, const char *text, int64_t *first_day,
                               int64_t *days) {
    int64_t first = 0, last = 0;
    size_t length = strlen(text);
    bool good = length >= 10 && parse_date(text, &first);
    last = first;
    if (good && length != 10)
        good = length == 22 && !memcmp(text + 10, "..", 2) && parse_date(text + 12, &last) &&
               first <= last;
    if (!good)
        return dpl_fail(run, DPL_USAGE,
                        "--date takes a day such as 2025-03-03 or days such as "
                        "2025-03-03..2025-03-09, from %d to %d, not '%.40s'",
                        FIRST_YEAR, LAST_YEAR, text);
    *first_day = first;
    *days = last - first + 1;
    return DPL_OK;
}

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

static struct dpl_place place_of(const struct dpl_grid *grid, int32_t cell) {
    const struct dpl_area *area = &grid->area;
    struct dpl_place box;
    double row = cell / grid->columns, column = cell % grid->columns;
    double tall = area->cell_m / grid->m_per_deg_lat * 1e6,
           wide = area->cell_m / grid->m_per_deg_lon * 1e6;
    double south = area->south_deg * 1e6, north = area->north_deg * 1e6,
           west = area->west_deg * 1e6, east = area->east_deg * 1e6;
    cover(south + row * tall, south + (row + 1) * tall, south, north, &box.south, &box.north);
    cover(west + column * wide, west + (column + 1) * wide, west, east, &box.west, &box.east);
    box.lat = clamp(rint(south + (row + 0.5) * tall), box.south, box.north);
    box.lng = clamp(rint(west + (column + 0.5) * wide), box.west, box.east);
    return box;
}

static enum dpl_status make_places(struct dpl_run *run, const struct dpl_model *model,
                                   const struct dpl_generator *generator, struct dpl_place **made) {
    bool own = generator != NULL && generator->place != NULL;
    size_t n = own ? generator->n_places : (size_t)model->n_cells;
    struct dpl_place *place = dpl_alloc(run, n, sizeof *place);
    if (place == NULL) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++)
        place[i] = own ? generator->place[i] : place_of(&model->grid, model->cell[i]);
    *made = place;
    return DPL_OK;
}

enum dpl_status dpl_decoder_new(struct dpl_run *run, const struct dpl_model *model,
                                const struct dpl_generator *generator, const char *date,
                                bool centre, struct dpl_decoder **decoder) {
    enum dpl_status status;
    struct dpl_decoder *made = dpl_alloc(run, 1, sizeof *made);
    if (made == NULL) return DPL_SYSTEM;
    made->area = model->grid.area;
    made->timed = model->has_time;
    made->centre = centre;
    DPL_GO(make_places(run, model, generator, &made->place));
    DPL_GO(dpl_days_parse(run, date, &made->first_day, &made->days));
    DPL_GO(dpl_zone_open(run, made->area.zone, &made->zone));
    *decoder = made;
    made = NULL;
done:
    dpl_decoder_free(made);
    return status;
}

void dpl_decoder_free(struct dpl_decoder *decoder) {
    if (decoder == NULL) return;
    dpl_zone_free(decoder->zone);
    dpl_free(decoder->place);
    dpl_free(decoder);
}

/* ---- a trip ---- */

int64_t dpl_latest_start_s(int64_t period_s, int slot_s, size_t n) {
    int64_t fit = (period_s + slot_s - 1) / slot_s, most = (int64_t)n / 2 + 1;
    int64_t latest = period_s - 1 - ((most < fit ? most : fit) - 1) * slot_s;
    return latest > 0 ? latest : 0;
}

static void draw_time(const struct dpl_decoder *decoder, struct dpl_stream *stream, size_t period,
                      struct dpl_visits *visits) {
    int64_t period_s = DAY_S / decoder->area.periods,
            latest_s = dpl_latest_start_s(period_s, visits->slot_s, visits->n);
    int64_t day = decoder->first_day + (int64_t)dpl_stream_below(stream, (uint64_t)decoder->days);
    int64_t second = (int64_t)dpl_stream_below(stream, (uint64_t)latest_s + 1);
    visits->utc_s =
        dpl_zone_utc_s(decoder->zone, day * DAY_S + (int64_t)period * period_s + second);
    visits->offset_s = dpl_zone_offset_s(decoder->zone, visits->utc_s);
    visits->offset_after_s =
        dpl_zone_offset_s(decoder->zone, visits->utc_s + (int64_t)(visits->n - 1) * visits->slot_s);
    visits->change_at = visits->n;
    if (visits->offset_after_s == visits->offset_s) return;
    for (size_t i = visits->n; i-- > 0;) // the clocks change under way
        if (dpl_zone_offset_s(decoder->zone, visits->utc_s + (int64_t)i * visits->slot_s) ==
            visits->offset_after_s)
            visits->change_at = i;
}

static int32_t draw_between(struct dpl_stream *stream, int32_t low, int32_t high) {
    return low + (int32_t)dpl_stream_below(stream, (uint64_t)((int64_t)high - low + 1));
}

void dpl_decode(const struct dpl_decoder *decoder, struct dpl_stream *stream, size_t period,
                const struct dpl_stay *stay, size_t n_stays, int32_t *lat_udeg, int32_t *lng_udeg,
                struct dpl_visits *visits) {
    size_t n = 0;
    for (size_t i = 0; i < n_stays; i++) {
        const struct dpl_place *box = &decoder->place[stay[i].cell];
        for (size_t end = n + stay[i].visits; n < end; n++) {
            lat_udeg[n] = decoder->centre ? box->lat : draw_between(stream, box->south, box->north);
            lng_udeg[n] = decoder->centre ? box->lng : draw_between(stream, box->west, box->east);
        }
    }
    *visits = (struct dpl_visits){.n = n,
                                  .lat_udeg = lat_udeg,
                                  .lng_udeg = lng_udeg,
                                  .timed = decoder->timed,
                                  .slot_s = decoder->area.slot_s};
    if (decoder->timed) draw_time(decoder, stream, period, visits);
}
