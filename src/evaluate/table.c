/* The table of measures, and which function gives which rows. docs/EVALUATION.md defines each with
 * a worked example; a test holds the two lists together. */
#include "evaluate/table.h"

#include <math.h>
#include <string.h>

enum { POOLED_POINTS = DPL_ROW_POOLED | DPL_ROW_POSITIONS };

#define LOWER DPL_BETTER_LOWER
#define HIGHER DPL_BETTER_HIGHER
#define NEAR DPL_BETTER_NEAR_FLOOR

/* Rows of a family stand together, in the order in which its function writes them. */
const struct dpl_row DPL_ROWS[] = {
    {"length_jsd_distance", DPL_FAMILY_LENGTHS, LOWER, DPL_ROW_PAPER,
     "Jensen-Shannon distance of the number of visits a trip has."},
    {"length_jsd_divergence", DPL_FAMILY_LENGTHS, LOWER, 0,
     "Jensen-Shannon divergence (bits) of the number of visits a trip has."},
    {"fp_10", DPL_FAMILY_PATTERNS, HIGHER, 0,
     "Share of the 10 most frequent runs of 2 to 5 cells that both sides have."},
    {"fp_20", DPL_FAMILY_PATTERNS, HIGHER, 0, "The same for the 20 most frequent runs."},
    {"fp_50", DPL_FAMILY_PATTERNS, HIGHER, 0, "The same for the 50 most frequent runs."},
    {"fp_100", DPL_FAMILY_PATTERNS, HIGHER, 0, "The same for the 100 most frequent runs."},
    {"fp_200", DPL_FAMILY_PATTERNS, HIGHER, 0, "The same for the 200 most frequent runs."},
    {"fpset_10", DPL_FAMILY_SETS, HIGHER, DPL_ROW_PAPER,
     "Share of the 10 most frequent sets of cells that both sides have."},
    {"fpset_20", DPL_FAMILY_SETS, HIGHER, DPL_ROW_PAPER, "The same for the 20 most frequent sets."},
    {"fpset_50", DPL_FAMILY_SETS, HIGHER, DPL_ROW_PAPER, "The same for the 50 most frequent sets."},
    {"fpset_100", DPL_FAMILY_SETS, HIGHER, DPL_ROW_PAPER,
     "The same for the 100 most frequent sets."},
    {"fpset_200", DPL_FAMILY_SETS, HIGHER, DPL_ROW_PAPER,
     "The same for the 200 most frequent sets."},
    {"density_emd_m", DPL_FAMILY_DENSITY, LOWER, DPL_ROW_PAPER,
     "Metres that the visits of one side must move, on average, to lie as those of the other."},
    {"od_emd_m", DPL_FAMILY_OD, LOWER, DPL_ROW_PAPER,
     "Metres that first and last cells must move together for the flows to agree."},
    {"route_emd_m", DPL_FAMILY_ROUTE, LOWER, DPL_ROW_PAPER,
     "Metres that visits between the ends must move, by source-destination pair, weighted."},
    {"route_emd_plain_m", DPL_FAMILY_ROUTE, LOWER, DPL_ROW_PAPER,
     "The same as a plain mean over the pairs."},
    {"route_share", DPL_FAMILY_ROUTE, HIGHER, 0,
     "Share of the trips on frequent pairs whose pair the other side has, too."},
    {"hour_jsd", DPL_FAMILY_HOURS, LOWER, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Jensen-Shannon distance of the numbers of trips by hour of the day."},
    {"verbatim_share", DPL_FAMILY_SAMENESS, NEAR, DPL_ROW_POOLED,
     "Share of real trips that the other side holds visit for visit; a sanity check, no proof."},
    {"distinct_share", DPL_FAMILY_SAMENESS, NEAR, DPL_ROW_POOLED, "Distinct trips over trips."},
    {"od_cpc", DPL_FAMILY_FLOWS, HIGHER, 0,
     "Common part of the flows from first to last cell: 1 when all shares agree, 0 when none."},
    {"steps_cpc", DPL_FAMILY_FLOWS, HIGHER, 0, "Common part of the moves from cell to cell."},
    {"length_mean", DPL_FAMILY_SIZES, NEAR, DPL_ROW_POOLED | DPL_ROW_PAPER,
     "Mean number of visits a trip."},
    {"length_sd", DPL_FAMILY_SIZES, NEAR, DPL_ROW_POOLED | DPL_ROW_PAPER,
     "Standard deviation of the number of visits a trip."},
    {"length_mode", DPL_FAMILY_SIZES, NEAR, DPL_ROW_POOLED | DPL_ROW_PAPER,
     "Most frequent number of visits a trip."},
    {"jump_share", DPL_FAMILY_SIZES, LOWER, DPL_ROW_POOLED | DPL_ROW_PAPER,
     "Share of steps between cells too far apart for the speed limit."},
    {"too_fast_share", DPL_FAMILY_READING, LOWER, DPL_ROW_POOLED | DPL_ROW_FACTS,
     "Share of the file's trips that have a step over the speed limit, as cleaning counts them."},
    {"kept_share", DPL_FAMILY_READING, HIGHER, DPL_ROW_POOLED | DPL_ROW_FACTS,
     "Share of the file's trips that dploc's own cleaning keeps."},
    {"shape_auc", DPL_FAMILY_SHAPE, LOWER, POOLED_POINTS,
     "How well a classifier tells real from synthetic by a trip's shape alone: .5 not, 1 always."},
    {"shape_auc_phase", DPL_FAMILY_SHAPE, LOWER, POOLED_POINTS,
     "The same beside real trips read half a slot later: no goal may lie below that floor."},
    {"speed_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the speeds from slot to slot."},
    {"turn_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the turning angles."},
    {"accel_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the changes of speed."},
    {"path_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the lengths of trips in km."},
    {"duration_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the durations of trips."},
    {"gyration_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the radii of gyration."},
    {"first_step_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the lengths of first steps."},
    {"last_step_jsd", DPL_FAMILY_MOTION, LOWER, POOLED_POINTS,
     "Jensen-Shannon distance of the lengths of last steps."},
    {"speed_q50_kmh", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "Median speed from slot to slot."},
    {"speed_q90_kmh", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "90 % quantile of the speed."},
    {"speed_q99_kmh", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "99 % quantile of the speed."},
    {"path_km_mean", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "Mean length of a trip in km."},
    {"path_over_straight", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Kilometres travelled over kilometres from first to last point, all trips together."},
    {"turn_sharp_share", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Share of turns sharper than 90 degrees, between moves over 30 m."},
    {"turn_median_deg", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Median turning angle between moves over 30 m."},
    {"accel_q90_mps2", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "90 % quantile of the change of speed from slot to slot."},
    {"stops_per_trip", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Stops a trip: 2 minutes or more within 100 m."},
    {"stop_min_mean", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "Mean length of a stop in minutes."},
    {"duration_min_mean", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Mean duration of a trip in minutes, in whole slots."},
    {"gyration_km_mean", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Mean radius of gyration: how far a trip's points lie from their middle."},
    {"first_step_m", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "Mean length of the first step."},
    {"last_step_m", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS, "Mean length of the last step."},
    {"return_share", DPL_FAMILY_POINTS, NEAR, POOLED_POINTS,
     "Share of trips that come back to a cell they left."},
    {"road_share_15m", DPL_FAMILY_ROADS, NEAR, POOLED_POINTS | DPL_ROW_ROADS,
     "Share of points within 15 m of a road of the given map."},
    {"road_share_30m", DPL_FAMILY_ROADS, NEAR, POOLED_POINTS | DPL_ROW_ROADS,
     "Share of points within 30 m of a road of the given map."},
    {"off_track_share", DPL_FAMILY_OFF_TRACK, LOWER, POOLED_POINTS,
     "Share of points farther than 50 m from any point of as many real trips."},
    {"minute_tv", DPL_FAMILY_CLOCK, LOWER, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Total variation of the start minute within the hour."},
    {"weekday_tv", DPL_FAMILY_CLOCK, LOWER, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Total variation of the weekday."},
    {"trips_per_day", DPL_FAMILY_DAYS, NEAR, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Trips over local days that have any."},
    {"next_start_300m", DPL_FAMILY_PEOPLE, NEAR, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Share of a user's trips that begin within 300 m of where the last one ended."},
    {"overlap_share", DPL_FAMILY_PEOPLE, NEAR, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Share of a user's trips that begin before the last one has ended."},
    {"home_start_share", DPL_FAMILY_PEOPLE, NEAR, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Share of a user's days that begin within 300 m of where most of them do."},
    {"next_hit1", DPL_FAMILY_TASKS, HIGHER, DPL_ROW_POOLED,
     "How often the next cell is guessed, trained on synthetic trips, tested on real ones."},
    {"next_hit5", DPL_FAMILY_TASKS, HIGHER, DPL_ROW_POOLED,
     "How often the next cell is among five guesses."},
    {"next_mrr", DPL_FAMILY_TASKS, HIGHER, DPL_ROW_POOLED,
     "Mean of 1 over the place of the next cell in the list of guesses."},
    {"next_to_hit1", DPL_FAMILY_TASKS, HIGHER, DPL_ROW_POOLED,
     "How often the next cell is guessed when the destination's zone is known."},
    {"destination_hit5", DPL_FAMILY_TASKS, HIGHER, DPL_ROW_POOLED,
     "How often the last cell is among five guesses after the first third of a trip."},
    {"travel_time_mae_s", DPL_FAMILY_TASKS, LOWER, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Mean error, in seconds, of the travel time predicted from zones and part of the day."},
    {"travel_time_mape", DPL_FAMILY_TASKS, LOWER, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "The same error as a share of the travel time."},
    {"demand_wape", DPL_FAMILY_TASKS, LOWER, DPL_ROW_POOLED | DPL_ROW_TIMES,
     "Error of the predicted number of starts by zone and hour, over all starts."},
    {"peer_query_avre", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Mean relative error of 200 counts of trips that meet a circle."},
    {"peer_query_avre_coded", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "The same as AdaTrace codes it: a trip that stands still matches every circle."},
    {"peer_query_points_avre", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Mean relative error of 200 counts of points in a ninth of the box (LDPTrace)."},
    {"peer_tau_coded", DPL_FAMILY_PEERS, HIGHER, POOLED_POINTS | DPL_ROW_PEER,
     "Kendall's tau of 225 squares by trips, ties as AdaTrace codes them."},
    {"peer_tau_b", DPL_FAMILY_PEERS, HIGHER, POOLED_POINTS | DPL_ROW_PEER,
     "Kendall's tau-b of 225 squares by trips that pass them."},
    {"peer_fp_f1", DPL_FAMILY_PEERS, HIGHER, POOLED_POINTS | DPL_ROW_PEER,
     "Share of the 100 most frequent runs of 2 to 8 squares of 36 that both have."},
    {"peer_fp_avre", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Mean relative error of how often the real side's 100 most frequent runs occur."},
    {"peer_trip_jsd", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Divergence (nats) of first and last square of 36."},
    {"peer_diameter_jsd", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Divergence (nats) of the largest distance within a trip, 20 bins."},
    {"peer_diameter_jsd_coded", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "The same with bins from 0, values above the last one lost."},
    {"peer_length_jsd", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Divergence (nats) of the way travelled, 20 bins."},
    {"peer_length_jsd_coded", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "The same with bins from 0, values above the last one lost."},
    {"peer_density_jsd", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Divergence (nats) of points by square of 36."},
    {"peer_density16_jsd", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Divergence (nats) of points by square of 256."},
    {"peer_transition_jsd", DPL_FAMILY_PEERS, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Divergence (nats) of moves from square to square of 36."},
    {"peer_ndcg_5", DPL_FAMILY_PEERS, HIGHER, POOLED_POINTS | DPL_ROW_PEER,
     "Discounted gain of the 5 most visited squares of 256."},
    {"peer_ndcg_10", DPL_FAMILY_PEERS, HIGHER, POOLED_POINTS | DPL_ROW_PEER,
     "Discounted gain of the 10 most visited squares of 256."},
    {"dpmr_visits_emd_m", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Metres that first and last points must move to lie as the other side's."},
    {"dpmr_visits_emd_coded", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "The same as dp_mobility_report codes it: shares rounded to hundredths of a per cent."},
    {"dpmr_visits_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of what describes the ends per cell: mean, deviation, quartiles and so on."},
    {"dpmr_od_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Jensen-Shannon distance (nats) of trips from cell to cell."},
    {"dpmr_od_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of what describes the trips per pair of cells."},
    {"dpmr_jump_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Jensen-Shannon distance (nats) of the km from first to last point."},
    {"dpmr_jump_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of least, quartiles and largest of these km."},
    {"dpmr_time_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Jensen-Shannon distance (nats) of travel times, 5 minutes a bin."},
    {"dpmr_time_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Error of least, quartiles and largest travel time."},
    {"dpmr_days_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Jensen-Shannon distance (nats) of trips by date."},
    {"dpmr_weekdays_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Jensen-Shannon distance (nats) of trips by weekday."},
    {"dpmr_hours_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Jensen-Shannon distance (nats) of starts and ends by hour and weekend."},
    {"dpmr_windows_emd_m", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Metres that last points must move, mean of twelve windows of time."},
    {"dpmr_windows_emd_coded", DPL_FAMILY_MOBILITY, LOWER,
     POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES, "The same with shares rounded."},
    {"dpmr_user_trips_emd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Earth mover's distance of the number of trips a user."},
    {"dpmr_user_trips_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of least, quartiles and most trips a user."},
    {"dpmr_user_gap_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Jensen-Shannon distance (nats) of the hours between a user's trips."},
    {"dpmr_user_gap_smape", DPL_FAMILY_MOBILITY, LOWER,
     POOLED_POINTS | DPL_ROW_PEER | DPL_ROW_TIMES,
     "Error of least, quartiles and largest of these hours."},
    {"dpmr_gyration_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Jensen-Shannon distance (nats) of the users' radii of gyration."},
    {"dpmr_gyration_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of least, quartiles and largest radius of gyration."},
    {"dpmr_user_tiles_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Jensen-Shannon distance (nats) of the cells that a user starts or ends in."},
    {"dpmr_user_tiles_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of least, quartiles and most such cells."},
    {"dpmr_entropy_jsd", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Jensen-Shannon distance (nats) of the entropy of a user's cells."},
    {"dpmr_entropy_smape", DPL_FAMILY_MOBILITY, LOWER, POOLED_POINTS | DPL_ROW_PEER,
     "Error of least, quartiles and largest entropy."},
};
const size_t DPL_N_ROWS = sizeof DPL_ROWS / sizeof *DPL_ROWS;
_Static_assert(sizeof DPL_ROWS / sizeof *DPL_ROWS <= DPL_ROWS_MAX, "room for all rows");

/* ---- rows ---- */

size_t dpl_family_first(enum dpl_family family) {
    size_t row = 0;
    while (row < DPL_N_ROWS && DPL_ROWS[row].family != family) row++;
    return row;
}

static size_t find_row(const char *name, size_t length) {
    size_t row = 0;
    while (row < DPL_N_ROWS &&
           (strlen(DPL_ROWS[row].name) != length || strncmp(DPL_ROWS[row].name, name, length) != 0))
        row++;
    return row;
}

size_t dpl_row_of(const char *name) { return find_row(name, strlen(name)); }

enum dpl_status dpl_rows_choose(struct dpl_run *run, const char *only, bool peers,
                                bool chosen[DPL_ROWS_MAX]) {
    for (size_t row = 0; row < DPL_N_ROWS; row++)
        chosen[row] = !only && (peers || !(DPL_ROWS[row].flags & DPL_ROW_PEER));
    while (only && *only) {
        size_t length = strcspn(only, ","), row = find_row(only, length);
        if (row == DPL_N_ROWS)
            return dpl_fail(run, DPL_USAGE,
                            "there is no measure '%.*s' (`dpl_measure_about` names them all)",
                            (int)(length < 60 ? length : 60), only);
        chosen[row] = true;
        only += length + (only[length] == ',');
    }
    return DPL_OK;
}

bool dpl_family_chosen(const bool chosen[DPL_ROWS_MAX], enum dpl_family family) {
    for (size_t row = 0; row < DPL_N_ROWS; row++)
        if (chosen[row] && DPL_ROWS[row].family == family) return true;
    return false;
}

bool dpl_measure_about(size_t i, struct dpl_measure_about *about) {
    if (i >= DPL_N_ROWS) return false;
    const struct dpl_row *row = &DPL_ROWS[i];
    *about = (struct dpl_measure_about){row->name, row->meaning, row->better,
                                        (row->flags & DPL_ROW_TIMES) != 0,
                                        (row->flags & DPL_ROW_POSITIONS) != 0};
    return true;
}

/* ---- families ---- */

static enum dpl_status lengths(struct dpl_run *run, const struct dpl_part *a,
                               const struct dpl_part *b, double *figures) {
    DPL_TRY(dpl_measure_lengths(run, a, b, &figures[1]));
    figures[0] = sqrt(figures[1]);
    return DPL_OK;
}

static enum dpl_status hours(struct dpl_run *run, const struct dpl_part *a,
                             const struct dpl_part *b, double *figures) {
    double divergence;
    DPL_TRY(dpl_measure_hours(run, a, b, &divergence));
    figures[0] = sqrt(divergence);
    return DPL_OK;
}

static enum dpl_status routes(struct dpl_run *run, const struct dpl_part *a,
                              const struct dpl_part *b, double *figures) {
    struct dpl_route route;
    DPL_TRY(dpl_measure_route(run, a, b, &route));
    figures[0] = route.weighted_m, figures[1] = route.plain_m, figures[2] = route.held_share;
    return DPL_OK;
}

static enum dpl_status sameness(struct dpl_run *run, const struct dpl_part *a,
                                const struct dpl_part *b, double *figures) {
    struct dpl_sameness same;
    DPL_TRY(dpl_measure_sameness(run, a, b, a->ready->index->count, &same));
    figures[0] = same.verbatim_share, figures[1] = same.distinct_share;
    return DPL_OK;
}

enum dpl_status dpl_family_pair(struct dpl_run *run, enum dpl_family family,
                                const struct dpl_part *a, const struct dpl_part *b,
                                double *figures) {
    typedef enum dpl_status pair_function(struct dpl_run *, const struct dpl_part *,
                                          const struct dpl_part *, double *);
    static pair_function *const MEASURE[DPL_PAIR_FAMILIES] = {
        [DPL_FAMILY_PEERS] = dpl_measure_peers,
        [DPL_FAMILY_MOBILITY] = dpl_measure_mobility,
        [DPL_FAMILY_OD] = dpl_measure_od,
        [DPL_FAMILY_ROUTE] = routes,
        [DPL_FAMILY_OFF_TRACK] = dpl_measure_off_track,
        [DPL_FAMILY_SETS] = dpl_measure_sets,
        [DPL_FAMILY_PATTERNS] = dpl_measure_patterns,
        [DPL_FAMILY_DENSITY] = dpl_measure_density,
        [DPL_FAMILY_MOTION] = dpl_measure_motion,
        [DPL_FAMILY_FLOWS] = dpl_measure_flows,
        [DPL_FAMILY_LENGTHS] = lengths,
        [DPL_FAMILY_SAMENESS] = sameness,
        [DPL_FAMILY_CLOCK] = dpl_measure_clock,
        [DPL_FAMILY_HOURS] = hours,
    };
    return MEASURE[family](run, a, b, figures);
}

enum dpl_status dpl_family_set(struct dpl_run *run, enum dpl_family family,
                               const struct dpl_set *set, double *figures) {
    switch (family) {
    case DPL_FAMILY_SIZES: return dpl_figures_sizes(run, set, figures);
    case DPL_FAMILY_READING: return dpl_figures_reading(run, set, figures);
    case DPL_FAMILY_POINTS: return dpl_figures_points(run, set, figures);
    case DPL_FAMILY_ROADS: return dpl_figures_roads(run, set, figures);
    case DPL_FAMILY_PEOPLE: return dpl_figures_people(run, set, figures);
    default: return dpl_figures_days(run, set, figures);
    }
}

enum dpl_status dpl_family_study(struct dpl_run *run, enum dpl_family family,
                                 const struct dpl_study *study, double *value, double *floor) {
    return family == DPL_FAMILY_SHAPE ? dpl_study_shape(run, study, value, floor)
                                      : dpl_study_tasks(run, study, value, floor);
}
