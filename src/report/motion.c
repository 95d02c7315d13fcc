/* How trips move and when they begin, as histograms: one row of whole numbers for each set.
 *
 * Motions are those of the points that were written (evaluate/track.h), resampled to the slot on
 * all sides alike. The bins are public numbers, the same for every data set; the last one holds all
 * that is larger. A set without points, or without times, has null in place of a row. */
#include <math.h>

#include "base/zone.h"
#include "evaluate/track.h"
#include "report/gather.h"

enum motion { SPEED, PATH, TURN, STOPS, STOPPED, WEEKDAY, MINUTE, MOTIONS };
enum { BINS_MAX = 80, HOUR_S = 3600, DAY_S = 86400, WEEKDAYS = 7, THURSDAY = 4 };

static const struct {
    const char *name;
    double width; /* of a bin, in the unit of the name */
    size_t bins;
    bool of_points; /* otherwise of the time at which a trip begins */
} HISTOGRAM[MOTIONS] = {
    [SPEED] = {"speed_kmh", 2.5, 64, true},      [PATH] = {"path_km", 0.5, 80, true},
    [TURN] = {"turn_deg", 5, 36, true},          [STOPS] = {"stops", 1, 11, true},
    [STOPPED] = {"stopped_min", 1, 61, true},    // of trips that stop
    [WEEKDAY] = {"weekday", 1, WEEKDAYS, false}, // from Sunday on
    [MINUTE] = {"start_minute", 1, 60, false},
};

struct counts {
    int64_t bin[MOTIONS][BINS_MAX];
};

static void tally(struct counts *counts, enum motion motion, double value) {
    size_t last = HISTOGRAM[motion].bins - 1;
    double bin = floor(value / HISTOGRAM[motion].width);
    counts->bin[motion][bin < (double)last ? (size_t)bin : last]++;
}

static void tally_points(const struct dpl_track *track, double slot_s, struct counts *counts) {
    double stopped_s = 0;
    for (size_t i = 0; i + 1 < track->n; i++) {
        double turn_deg = i ? dpl_track_turn_deg(track, i) : -1;
        tally(counts, SPEED, dpl_track_step_m(track, i) / slot_s * 3.6);
        if (turn_deg >= 0) tally(counts, TURN, turn_deg);
    }
    tally(counts, PATH, dpl_track_path_m(track) / 1000);
    size_t stops = dpl_track_stops(track, slot_s, &stopped_s);
    tally(counts, STOPS, (double)stops);
    if (stops) tally(counts, STOPPED, stopped_s / 60);
}

/* The rest of a division that is never negative. */
static int64_t rest(int64_t a, int64_t b) { return (a % b + b) % b; }

static void tally_start(int64_t local_s, struct counts *counts) {
    int64_t day = (local_s - rest(local_s, DAY_S)) / DAY_S; // 1970 began on a Thursday
    tally(counts, WEEKDAY, (double)rest(day + THURSDAY, WEEKDAYS));
    tally(counts, MINUTE, (double)(rest(local_s, HOUR_S) / 60));
}

static void count_set(const struct dpl_cleaned *trips, const struct dpl_zone *zone,
                      struct counts *counts) {
    for (size_t i = 0; i < trips->n_trips; i++) {
        struct dpl_track track = {0};
        if (trips->position) {
            track = dpl_track_of(trips, i);
            tally_points(&track, trips->grid.area.slot_s, counts);
        }
        if (trips->has_time)
            tally_start(trips->utc_s[i] + dpl_zone_offset_s(zone, trips->utc_s[i]), counts);
    }
}

static void write_row(const struct dpl_cleaned *trips, enum motion motion,
                      const struct counts *counts, struct island *island) {
    if (HISTOGRAM[motion].of_points ? !trips->position : !trips->has_time) {
        dpl_island_real(island, NAN);
        return;
    }
    dpl_island_open(island, '[');
    for (size_t b = 0; b < HISTOGRAM[motion].bins; b++)
        dpl_island_whole(island, counts->bin[motion][b]);
    dpl_island_close(island, ']');
}

static void write_motion(const struct gather *gather, enum motion motion,
                         const struct counts *counts, struct island *island) {
    dpl_island_key(island, HISTOGRAM[motion].name);
    dpl_island_open(island, '{');
    dpl_island_key(island, "width"), dpl_island_real(island, HISTOGRAM[motion].width);
    dpl_island_key(island, "count"); // (sets, bins)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++)
        write_row(gather->set[s], motion, &counts[s], island);
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
}

enum dpl_status dpl_gather_motion(const struct gather *gather, struct island *island) {
    struct dpl_zone *zone = NULL;
    struct counts *counts = dpl_alloc(gather->run, gather->n_sets, sizeof *counts);
    if (!counts) return DPL_SYSTEM;
    enum dpl_status status;
    DPL_GO(dpl_zone_open(gather->run, gather->set[0]->grid.area.zone, &zone));
    for (size_t s = 0; s < gather->n_sets; s++) count_set(gather->set[s], zone, &counts[s]);
    dpl_island_key(island, "motion");
    dpl_island_open(island, '{');
    for (int m = 0; m < MOTIONS; m++) write_motion(gather, (enum motion)m, counts, island);
    dpl_island_close(island, '}');
done:
    dpl_zone_free(zone);
    dpl_free(counts);
    return status;
}
