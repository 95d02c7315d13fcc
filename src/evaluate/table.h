/* The measures: one table, a row each, and the families of rows that are computed together.
 *
 * Three kinds of families:
 *   pair   compares two parts of equal size; evaluate.c draws the halves and takes means
 *   set    a figure of a whole data set: the value is the synthetic one's, the floor the real one's
 *   study  draws its own samples: the two-sample test, the tasks
 * A family writes the figures of its rows, which stand together in the table, in their order. */
#ifndef DPL_EVALUATE_TABLE_H
#define DPL_EVALUATE_TABLE_H

#include "evaluate/ready.h"

/* Pair families come first, the dearest of them first, so that the last to start are short. */
enum dpl_family {
    DPL_FAMILY_PEERS,
    DPL_FAMILY_MOBILITY,
    DPL_FAMILY_OD,
    DPL_FAMILY_ROUTE,
    DPL_FAMILY_OFF_TRACK,
    DPL_FAMILY_SETS,
    DPL_FAMILY_PATTERNS,
    DPL_FAMILY_DENSITY,
    DPL_FAMILY_MOTION,
    DPL_FAMILY_FLOWS,
    DPL_FAMILY_LENGTHS,
    DPL_FAMILY_SAMENESS,
    DPL_FAMILY_CLOCK,
    DPL_FAMILY_HOURS,
    DPL_PAIR_FAMILIES,
    DPL_FAMILY_SIZES = DPL_PAIR_FAMILIES,
    DPL_FAMILY_READING,
    DPL_FAMILY_POINTS,
    DPL_FAMILY_ROADS,
    DPL_FAMILY_DAYS,
    DPL_FAMILY_PEOPLE,
    DPL_SET_FAMILIES_END,
    DPL_FAMILY_SHAPE = DPL_SET_FAMILIES_END,
    DPL_FAMILY_TASKS,
    DPL_FAMILIES
};

enum {
    DPL_ROW_POOLED = 1,    /* no hourly figures */
    DPL_ROW_PAPER = 2,     /* under --paper-measures too */
    DPL_ROW_TIMES = 4,     /* needs times */
    DPL_ROW_POSITIONS = 8, /* needs positions */
    DPL_ROW_FACTS = 16,    /* needs to know what reading dropped */
    DPL_ROW_PEER = 32,     /* only under --peer-measures, or when named */
    DPL_ROW_ROADS = 64,    /* needs a map */
};

struct dpl_row {
    const char *name;
    enum dpl_family family;
    enum dpl_better better;
    unsigned flags;
    const char *meaning; /* one sentence */
};

enum { DPL_ROWS_MAX = 128 };

extern const struct dpl_row DPL_ROWS[];
extern const size_t DPL_N_ROWS;

/* The row of that name, DPL_N_ROWS if there is none. */
size_t dpl_row_of(const char *name);
/* The first row of a family. */
size_t dpl_family_first(enum dpl_family family);
/* Marks the rows that the comma-separated list names (NULL: all, the peers' if asked for);
 * DPL_USAGE for a name that is not there. */
enum dpl_status dpl_rows_choose(struct dpl_run *run, const char *only, bool peers,
                                bool chosen[DPL_ROWS_MAX]);
bool dpl_family_chosen(const bool chosen[DPL_ROWS_MAX], enum dpl_family family);

/* A whole data set. */
struct dpl_set {
    const struct dpl_cleaned *trips;
    const struct dpl_read_facts *facts; /* NULL: not known */
    const struct dpl_area *area;        /* the real trips': its speed limit is the rule */
    const struct dpl_roads *roads;      /* a map; NULL: none */
};

/* What a study may look at. `real` and `synthetic` are on the same cells, as is `test`. */
struct dpl_study {
    const struct dpl_eval_options *options;
    const struct dpl_ready *real, *synthetic;
    const struct dpl_ready *test; /* real trips that were not fitted on; NULL: a part of `real` */
};

/* `figures` has room for the family's rows; what cannot be measured stays NAN. */
enum dpl_status dpl_family_pair(struct dpl_run *run, enum dpl_family family,
                                const struct dpl_part *a, const struct dpl_part *b,
                                double *figures);
enum dpl_status dpl_family_set(struct dpl_run *run, enum dpl_family family,
                               const struct dpl_set *set, double *figures);
enum dpl_status dpl_family_study(struct dpl_run *run, enum dpl_family family,
                                 const struct dpl_study *study, double *value, double *floor);

/* ---- what the table calls, beside measures.h ---- */

enum dpl_status dpl_measure_off_track(struct dpl_run *run, const struct dpl_part *a,
                                      const struct dpl_part *b, double *share);
/* Jensen-Shannon distances of speed, turn, acceleration, path, duration, radius of gyration, first
 * and last step. */
enum dpl_status dpl_measure_motion(struct dpl_run *run, const struct dpl_part *a,
                                   const struct dpl_part *b, double *distance);
/* Total variation of the start minute within the hour, and of the weekday. */
enum dpl_status dpl_measure_clock(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *variation);
/* Common part of source-destination pairs, and of moves from cell to cell. */
enum dpl_status dpl_measure_flows(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *common);
/* What AdaTrace and its kin report. */
enum dpl_status dpl_measure_peers(struct dpl_run *run, const struct dpl_part *a,
                                  const struct dpl_part *b, double *figures);
/* What dp_mobility_report reports. */
enum dpl_status dpl_measure_mobility(struct dpl_run *run, const struct dpl_part *a,
                                     const struct dpl_part *b, double *figures);
enum dpl_status dpl_figures_sizes(struct dpl_run *run, const struct dpl_set *set, double *figures);
enum dpl_status dpl_figures_reading(struct dpl_run *run, const struct dpl_set *set,
                                    double *figures);
enum dpl_status dpl_figures_points(struct dpl_run *run, const struct dpl_set *set, double *figures);
enum dpl_status dpl_figures_roads(struct dpl_run *run, const struct dpl_set *set, double *figures);
enum dpl_status dpl_figures_days(struct dpl_run *run, const struct dpl_set *set, double *figures);
enum dpl_status dpl_figures_people(struct dpl_run *run, const struct dpl_set *set, double *figures);
enum dpl_status dpl_study_shape(struct dpl_run *run, const struct dpl_study *study, double *value,
                                double *floor);
enum dpl_status dpl_study_tasks(struct dpl_run *run, const struct dpl_study *study, double *value,
                                double *floor);

#endif
