/* What the page shows, summed up from trips: aggregates over cells, hours, lengths and motions.
 * Each call writes one member of the island.
 *
 * A list of sets is the real one first, if there is one, then the synthetic ones; all lie on one
 * grid.
 *
 * PRIVACY: with a real set in the list the figures are NOT PRIVATE. Even then they are sums over
 * trips: no point, no id, no time of a real trip, unless the holder asks for some to be drawn
 * (dpl_gather_trips). Without one, only synthetic trips are read. */
#ifndef DPL_REPORT_GATHER_H
#define DPL_REPORT_GATHER_H

#include "report/zones.h"

struct gather {
    struct dpl_run *run;
    const struct dpl_cleaned *const *set; /* (n_sets) */
    size_t n_sets;
    bool has_real; /* set[0] is the real one */
};

/* Squares of `block` by `block` cells of the grid, and the number of each that is in use. */
struct blocks {
    int32_t block, columns, rows;
    size_t n;
    int32_t *place;  /* (n) which square: row * columns + column, ascending */
    int32_t *number; /* (columns * rows) -1: nobody goes there */
};

/* The finest squares (or nearly: large ones grow by an eighth) of which at most `most` are visited
 * by the synthetic sets, so that their size does not depend on the real one; unless that visits
 * more than three times as many. Caller frees with dpl_blocks_free. */
enum dpl_status dpl_blocks_make(const struct gather *gather, size_t most, struct blocks *blocks);
void dpl_blocks_free(struct blocks *blocks);
/* The number of the square that holds a cell. */
int32_t dpl_blocks_of(const struct blocks *blocks, const struct dpl_grid *grid, int32_t cell);
/* Members block, columns, rows and place of an open object. */
void dpl_blocks_write(const struct blocks *blocks, struct island *island);

enum dpl_status dpl_gather_map(const struct gather *gather,
                               struct island *island); /* visits by square and period */
enum dpl_status dpl_gather_lengths(const struct gather *gather,
                                   struct island *island); /* trips by number of visits */
enum dpl_status dpl_gather_hours(const struct gather *gather,
                                 struct island *island); /* trips by period */
/* The strongest source-destination pairs of places: of districts, or of squares if zones is NULL.
 */
enum dpl_status dpl_gather_flows(const struct gather *gather, const struct zones *zones,
                                 struct island *island);
enum dpl_status
dpl_gather_patterns(const struct gather *gather, double cell_share,
                    struct island *island); /* the most frequent sequences of cells */
/* Histograms of speeds, kilometres, turns, stops, weekdays and minutes. */
enum dpl_status dpl_gather_motion(const struct gather *gather, struct island *island);
/* A few whole trips of each synthetic set, by the points that were written; of the real one
 * n_real_shown, which is 0 unless the holder asked for them. */
enum dpl_status dpl_gather_trips(const struct gather *gather, size_t n_shown, size_t n_real_shown,
                                 struct island *island);

#endif
