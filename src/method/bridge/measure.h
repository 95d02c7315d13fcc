/* What `bridge` asks of the data. PRIVACY: the only files of the method that see trips are
 * measure.c and bridge.c. */
#ifndef DPL_METHOD_BRIDGE_MEASURE_H
#define DPL_METHOD_BRIDGE_MEASURE_H

#include "method/bridge/bridge.h"
#include "method/method.h"
#include "sample/motion.h"

/* The mechanisms, in the order in which they are measured. */
enum dpl_bridge_mechanism {
    DPL_BRIDGE_LENGTHS,
    DPL_BRIDGE_TOPK,
    DPL_BRIDGE_VISITS,
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
    DPL_BRIDGE_MECHANISMS
};
extern const struct dpl_mechanism dpl_bridge_mechanisms[DPL_BRIDGE_MECHANISMS];

/* What the counting function of a table looks at. */
struct dpl_bridge_counted {
    enum dpl_bridge_mechanism table; /* from DPL_BRIDGE_VISITS on */
    const struct dpl_places *places;
    const struct dpl_units *units;
    size_t length_max;
    struct dpl_motion_bins bins; /* of motions */
};
/* Coordinates of such a table. */
struct dpl_shape dpl_bridge_table_shape(enum dpl_bridge_mechanism table,
                                        const struct dpl_places *places, size_t length_max,
                                        const struct dpl_motion_bins *bins);
/* Adds all units to the exact vector of the table; `counted` is a struct dpl_bridge_counted. */
enum dpl_status dpl_bridge_count(struct dpl_run *run, const void *counted, struct dpl_exact *exact);

/* The longest trip that the noised histogram of lengths shows. */
int32_t dpl_bridge_length_max(const struct dpl_noised *lengths);
/* Every cell to its nearest chosen one, however far: no trip is dropped. */
void dpl_bridge_project_all(const struct dpl_grid *grid, struct dpl_topk *topk);

/* All measurements: fills the tables, the places and the model's cells, length_max and
 * trips_estimated. */
enum dpl_status dpl_bridge_measure(struct dpl_run *run, const struct dpl_cleaned *trips,
                                   const struct dpl_kept *kept, struct dpl_release *release,
                                   struct dpl_model *model, struct dpl_places **places,
                                   struct dpl_bridge_tables *tables);

#endif
