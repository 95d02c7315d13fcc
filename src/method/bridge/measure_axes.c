/* What the tables of `bridge` are counted by, in words and numbers for those who read them:
 * {"name": ..., "from": [where each of its bins begins], "of_cell": true if it counts parts of a
 * cell} an axis. All of it is public or released. */
#include <jansson.h>

#include "method/bridge/measure.h"

#include "base/json.h"

/* Where bin i of an axis begins; what has no such number is counted from 0. */
typedef double bin_start(const struct dpl_bridge_frame *frame, size_t i);

static double hour_start(const struct dpl_bridge_frame *frame, size_t i) {
    return 24.0 * (double)i / (double)frame->places->H;
}

static double part_start(const struct dpl_bridge_frame *frame, size_t i,
                         size_t (*part_of)(const struct dpl_places *places, size_t period)) {
    size_t period = 0;
    while (period < frame->places->H && part_of(frame->places, period) < i) period++;
    return hour_start(frame, period);
}

static double daypart_start(const struct dpl_bridge_frame *frame, size_t i) {
    return part_start(frame, i, dpl_places_daypart);
}

static double watch_start(const struct dpl_bridge_frame *frame, size_t i) {
    return part_start(frame, i, dpl_places_watch);
}

static double distance_start(const struct dpl_bridge_frame *frame, size_t i) {
    return (double)i * frame->places->bin_m;
}

static double group_start(const struct dpl_bridge_frame *frame, size_t i) {
    (void)frame;
    size_t visits = 2;
    while (dpl_length_group(visits) < i) visits++;
    return (double)visits;
}

static double speed_start(const struct dpl_bridge_frame *frame, size_t i) {
    const struct dpl_places *places = frame->places;
    size_t part = 0;
    while (part < DPL_MOTION_SPEED_STEPS && places->bands.speed_of[part] < i) part++;
    return (double)part / DPL_MOTION_SPEED_STEPS * places->grid.area.speed_limit_kmh;
}

static double stop_start(const struct dpl_bridge_frame *frame, size_t i) {
    (void)frame;
    return (double)dpl_stop_bin_first(i);
}

static const struct {
    const char *name;
    bin_start *start; /* NULL: a number or a cell */
} AXES[DPL_BRIDGE_AXES] = {
    [DPL_AXIS_HOUR] = {"hour", hour_start},
    [DPL_AXIS_CELL] = {"cell", NULL},
    [DPL_AXIS_ZONE] = {"zone", NULL},
    [DPL_AXIS_WATCH] = {"hour", watch_start},
    [DPL_AXIS_DAYPART] = {"daypart_from_hour", daypart_start},
    [DPL_AXIS_DISTANCE] = {"distance_from_m", distance_start},
    [DPL_AXIS_LENGTH_GROUP] = {"visits_from", group_start},
    [DPL_AXIS_NEAR] = {"step", NULL},
    [DPL_AXIS_HEADING] = {"heading", NULL},
    [DPL_AXIS_NEXT] = {"next", NULL},
    [DPL_AXIS_SPEED] = {"speed_from_kmh", speed_start},
    [DPL_AXIS_MOTION] = {"motion", NULL},
    [DPL_AXIS_STOP] = {"slots_from", stop_start},
    [DPL_AXIS_SIXTEENTH] = {"sixteenth", NULL},
    [DPL_AXIS_WEEKDAY] = {"weekday", NULL},
};

static json_t *axis_json(const struct dpl_bridge_frame *frame, enum dpl_bridge_axis axis,
                         size_t n) {
    json_t *object = json_pack("{s:s}", "name", AXES[axis].name ? AXES[axis].name : "number");
    json_t *from = object && AXES[axis].start ? json_array() : NULL;
    for (size_t i = 0; from && i < n; i++)
        dpl_json_append(&from, json_real(AXES[axis].start(frame, i)));
    if (AXES[axis].start) dpl_json_set(&object, "from", from);
    if (axis == DPL_AXIS_SIXTEENTH) dpl_json_set(&object, "of_cell", json_true());
    return object;
}

json_t *dpl_bridge_axes(enum dpl_bridge_table table, const struct dpl_bridge_frame *frame) {
    const struct dpl_shape shape = dpl_bridge_shape(table, frame);
    json_t *axes = json_array();
    for (int i = 0; axes && i < shape.rank; i++)
        dpl_json_append(&axes, axis_json(frame, dpl_bridge_specs[table].axis[i], shape.size[i]));
    return axes;
}
