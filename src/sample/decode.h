/* From stays in cells to places and times. docs/SAMPLING.md has the rules. */
#ifndef DPL_SAMPLE_DECODE_H
#define DPL_SAMPLE_DECODE_H

#include "base/zone.h"
#include "sample/calendar.h"
#include "sample/on_roads.h"
#include "write/writer.h"

/* How trips are written, of what the model leaves open. */
struct dpl_decode_options {
    const char *date; /* as dpl_days_parse reads it; NULL: as dpl_calendar_new settles it */
    enum dpl_points_kind points;
    int interval_s;     /* between two written points, a part of the slot; 0: the slot */
    double gps_error_m; /* of a receiver, added to every written point, 0: none */
    enum dpl_times times;
    const struct dpl_roads *roads; /* that trips follow, on the model's grid; NULL: none */
};

struct dpl_decoder {
    struct dpl_area area;
    bool timed;
    enum dpl_points_kind points;
    int interval_s;
    double gps_error_m, m_per_udeg_lat, m_per_udeg_lng;
    struct dpl_calendar calendar;
    enum dpl_times times;
    int32_t offset_s; /* local time less UTC when the first day begins */
    struct dpl_zone *zone;
    struct dpl_place *place; /* (K) what a cell covers: every such point lies in the box and in that
                                cell; or the generator's places */
    size_t n_places;
    struct dpl_placer *placer;     /* with DPL_POINTS_DRAWN */
    struct dpl_on_roads *on_roads; /* with roads */
};

/* What a square of that many cells' side, north and east of a cell, covers of the grid. */
struct dpl_place dpl_square_place(const struct dpl_grid *grid, int32_t cell, int32_t side);
/* What a cell of the grid covers. */
static inline struct dpl_place dpl_cell_place(const struct dpl_grid *grid, int32_t cell) {
    return dpl_square_place(grid, cell, 1);
}
/* The rectangles that stays of the generator (NULL: of the model) are in: *made (*n), freed by the
 * caller with dpl_free. */
enum dpl_status dpl_places_of(struct dpl_run *run, const struct dpl_model *model,
                              const struct dpl_generator *generator, struct dpl_place **made,
                              size_t *n);
/* For stays of that generator (NULL: in the model's cells; not with roads), which is borrowed, as
 * is the model. Free with dpl_decoder_free. */
enum dpl_status dpl_decoder_new(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_generator *generator,
                                const struct dpl_decode_options *options,
                                struct dpl_decoder **decoder);
void dpl_decoder_free(struct dpl_decoder *decoder);
/* Whether clocks change on one of the days that trips are drawn for. */
bool dpl_decoder_clocks_change(const struct dpl_decoder *decoder);

/* How far a step may go that is written in so many pieces: what the speed limit allows, less what
 * rounding to millionths of a degree may add to each. */
double dpl_written_reach_m(const struct dpl_area *area, int pieces);

/* Where a written point is, in metres from the box's corner. */
struct dpl_position dpl_decoder_position(const struct dpl_decoder *decoder, int32_t lat_udeg,
                                         int32_t lng_udeg);

/* Room for one trip, for one thread. */
struct dpl_decoded {
    uint16_t *place;               /* (visits) */
    struct dpl_position *position; /* (visits) */
    int32_t *lat_udeg, *lng_udeg;  /* (written points) */
    /* with roads: */
    int32_t *cell;   /* (visits) */
    double *along_m; /* (points of a slot) */
    struct route_scratch *route;
};
enum dpl_status dpl_decoded_new(struct dpl_run *run, const struct dpl_decoder *decoder,
                                size_t length_max, struct dpl_decoded *room);
void dpl_decoded_free(struct dpl_decoded *room);

/* Fills visits (but for tid and uid), which borrow from the room. */
enum dpl_status dpl_decode(const struct dpl_decoder *decoder, struct dpl_stream *stream,
                           size_t period, const struct dpl_stay *stay, size_t n_stays,
                           struct dpl_decoded *room, struct dpl_visits *visits);

#endif
