/* What `bridge` asks of the data. PRIVACY: the only files of the method that see trips are
 * measure.c and fit.c.
 *
 * One array, dpl_bridge_specs, says of every table its name, share of the budget, clip, shape, and
 * what one trip puts into it. Plan, preview, measurement, certificate and tests follow it. */
#ifndef DPL_METHOD_BRIDGE_MEASURE_H
#define DPL_METHOD_BRIDGE_MEASURE_H

#include <jansson.h>

#include "method/bridge/bridge.h"
#include "method/method.h"
#include "sample/motion.h"

/* The tables, in the order in which they are measured. */
enum dpl_bridge_table {
    DPL_BRIDGE_LENGTHS,
    DPL_BRIDGE_SQUARES, /* visits by squares, and two wider levels of them */
    DPL_BRIDGE_SQUARES_4,
    DPL_BRIDGE_SQUARES_16,
    DPL_BRIDGE_VISITS, /* this and all that follow: after the places are chosen */
    DPL_BRIDGE_SOURCES,
    DPL_BRIDGE_SOURCE_ZONES,
    DPL_BRIDGE_SOURCE_DAY,
    DPL_BRIDGE_DESTINATIONS,
    DPL_BRIDGE_DESTINATION_ZONES,
    DPL_BRIDGE_DESTINATION_DAY,
    DPL_BRIDGE_PAIRS,
    DPL_BRIDGE_ZONES,
    DPL_BRIDGE_DURATIONS,
    DPL_BRIDGE_STEPS,
    DPL_BRIDGE_TURNS,
    DPL_BRIDGE_SPEEDS,
    DPL_BRIDGE_MOTION,
    DPL_BRIDGE_STOPS,
    DPL_BRIDGE_FINE,
    DPL_BRIDGE_WEEKDAYS,
    DPL_BRIDGE_TABLES
};

/* What a table is counted by. */
enum dpl_bridge_axis {
    DPL_AXIS_NONE,
    DPL_AXIS_HOUR,
    DPL_AXIS_CELL,
    DPL_AXIS_ZONE,
    DPL_AXIS_DAYPART,
    DPL_AXIS_WATCH,        /* hours, or some together */
    DPL_AXIS_DISTANCE,     /* of source and destination */
    DPL_AXIS_LENGTH_GROUP, /* of the number of visits */
    DPL_AXIS_LENGTH_BIN,
    DPL_AXIS_NEAR, /* steps within the speed limit */
    DPL_AXIS_HEADING,
    DPL_AXIS_NEXT, /* a move, or to stay */
    DPL_AXIS_SPEED,
    DPL_AXIS_MOTION,
    DPL_AXIS_STOP,
    DPL_AXIS_SIXTEENTH, /* of a cell */
    DPL_AXIS_WEEKDAY,
    DPL_AXIS_GRID_ROW, /* of cells, then of squares of the two wider levels */
    DPL_AXIS_GRID_ROW_4,
    DPL_AXIS_GRID_ROW_16,
    DPL_AXIS_GRID_COLUMN,
    DPL_AXIS_GRID_COLUMN_4,
    DPL_AXIS_GRID_COLUMN_16,
    DPL_BRIDGE_AXES
};

/* What tables are counted in. Public or released. */
struct dpl_bridge_frame {
    const struct dpl_places *places;
    size_t length_max;
    struct dpl_motion_bins bins; /* of motions */
};

/* PRIVATE: one trip of at most length_max visits on the chosen cells. */
struct dpl_bridge_trip {
    const int32_t *cell;                 /* (n) */
    const struct dpl_position *position; /* (n) */
    size_t n, period, weekday;
};

struct dpl_bridge_spec {
    const char *name;
    double share, clip;
    enum dpl_bridge_axis axis[3];
    /* One of three says what a unit puts: counted before there are cells; the one coordinate that a
     * trip counts 1 in; or the list of what a trip adds. */
    dpl_counting *count;
    size_t (*entry)(const struct dpl_bridge_frame *frame, const struct dpl_bridge_trip *trip);
    enum dpl_status (*put)(struct dpl_run *run, const struct dpl_bridge_frame *frame,
                           const struct dpl_bridge_trip *trip, struct dpl_entries *list);
    bool per_visit; /* about one entry for each visit of a trip, for previews */
    size_t member;  /* where in struct dpl_bridge_tables its struct dpl_table is; 0: nowhere */
};
extern const struct dpl_bridge_spec dpl_bridge_specs[DPL_BRIDGE_TABLES];

struct dpl_shape dpl_bridge_shape(enum dpl_bridge_table table,
                                  const struct dpl_bridge_frame *frame);
/* What the table is counted by, for its readers; NULL: no memory. */
json_t *dpl_bridge_axes(enum dpl_bridge_table table, const struct dpl_bridge_frame *frame);
/* The table's place among the measured ones; not of DPL_BRIDGE_LENGTHS. */
struct dpl_table *dpl_bridge_member(struct dpl_bridge_tables *tables, enum dpl_bridge_table table);
/* For previews: about how much one coordinate of the table holds for that many trips in that many
 * cells; NAN: no idea. */
double dpl_bridge_expect(enum dpl_bridge_table table, const struct dpl_grid *grid, double trips,
                         double cells, double epsilon);

/* What the counting function of a table must know. Public. */
struct dpl_bridge_about {
    enum dpl_bridge_table table; /* DPL_BRIDGE_VISITS or later */
    const struct dpl_bridge_frame *frame;
};
/* Counts such a table over reduced trips; `about` is a struct dpl_bridge_about. */
dpl_counting dpl_bridge_count;

/* The longest trip that the noised histogram of lengths shows. */
int32_t dpl_bridge_length_max(const struct dpl_noised *lengths);

/* All measurements: fills the tables, the places and the model's cells, length_max and
 * trips_estimated. */
enum dpl_status dpl_bridge_measure(struct dpl_run *run, struct dpl_parts *parts,
                                   struct dpl_release *release, struct dpl_model *model,
                                   struct dpl_places **places, struct dpl_bridge_tables *tables);

#endif
