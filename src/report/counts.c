/* Visits by square and period, trips by length and by period: three tables of whole numbers. */
#include "report/gather.h"

/* Together these keep the map below 2 MB however fine the grid is and however many sets there are.
 */
enum { MAP_SQUARES = 4000, MAP_NUMBERS = 300000, LENGTHS = 400 };

static void write_row(struct island *island, const int64_t *count, size_t n) {
    dpl_island_open(island, '[');
    for (size_t i = 0; i < n; i++) dpl_island_whole(island, count[i]);
    dpl_island_close(island, ']');
}

/* A trip's visits all count in the period that holds most of them, as in the measures. */
static void count_visits(const struct dpl_cleaned *trips, const struct blocks *blocks,
                         int64_t *count) {
    for (size_t i = 0; i < trips->n_trips; i++)
        for (size_t v = trips->start[i]; v < trips->start[i + 1]; v++)
            count[(size_t)trips->period[i] * blocks->n +
                  (size_t)dpl_blocks_of(blocks, &trips->grid, trips->cell[v])]++;
}

enum dpl_status dpl_gather_map(const struct gather *gather, struct island *island) {
    size_t periods = (size_t)gather->set[0]->grid.area.periods,
           n_synthetic = gather->n_sets - gather->has_real,
           most = MAP_NUMBERS / (periods * (n_synthetic + 1)); // with and without real trips alike
    struct blocks blocks = {0};
    int64_t *count = NULL;
    enum dpl_status status;
    DPL_GO(dpl_blocks_make(gather, most < MAP_SQUARES ? most : MAP_SQUARES, &blocks));
    dpl_island_key(island, "map");
    dpl_island_open(island, '{');
    dpl_blocks_write(&blocks, island);
    dpl_island_key(island, "visits"); // (sets, periods, squares)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++) {
        dpl_free(count);
        count = dpl_alloc(gather->run, periods * blocks.n, sizeof *count);
        if (!count) {
            status = DPL_SYSTEM;
            goto done;
        }
        count_visits(gather->set[s], &blocks, count);
        dpl_island_open(island, '[');
        for (size_t p = 0; p < periods; p++) write_row(island, count + p * blocks.n, blocks.n);
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
done:
    dpl_free(count);
    dpl_blocks_free(&blocks);
    return status;
}

enum dpl_status dpl_gather_lengths(const struct gather *gather, struct island *island) {
    dpl_island_key(island, "lengths"); // (sets, visits - 1); what is longer counts in the last
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++) {
        const struct dpl_cleaned *trips = gather->set[s];
        int64_t count[LENGTHS] = {0};
        size_t used = 0;
        for (size_t i = 0; i < trips->n_trips; i++) {
            size_t length = trips->start[i + 1] - trips->start[i],
                   bin = length < LENGTHS ? length : LENGTHS;
            count[bin - 1]++;
            used = bin > used ? bin : used;
        }
        write_row(island, count, used);
    }
    dpl_island_close(island, ']');
    return DPL_OK;
}

enum dpl_status dpl_gather_hours(const struct gather *gather, struct island *island) {
    dpl_island_key(island, "hours"); // (sets, periods)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++) {
        const struct dpl_cleaned *trips = gather->set[s];
        int64_t count[DPL_MAX_PERIODS] = {0};
        for (size_t i = 0; i < trips->n_trips; i++) count[trips->period[i]]++;
        write_row(island, count, (size_t)trips->grid.area.periods);
    }
    dpl_island_close(island, ']');
    return DPL_OK;
}
