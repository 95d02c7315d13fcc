/* The strongest flows: which places trips go between.
 *
 * A place is a district of a public map, or a square of several cells, so large that at most PLACES
 * of them are visited: between single cells most pairs have a trip or two, and a picture of them
 * shows nothing. Listed are the FLOWS strongest pairs of every set, the first set's first; a trip
 * that ends in the place where it began counts as staying, one with an end in no district as
 * outside. */
#include <stdlib.h>

#include "report/gather.h"

enum { PLACES = 256, FLOWS = 25 };

struct flows {
    const struct zones *zones; /* NULL: squares */
    struct blocks squares;
    size_t n;         /* places */
    int64_t *count;   /* (sets, n, n) */
    int64_t *outside; /* (sets) */
    uint32_t *listed; /* pairs, source * n + destination */
    size_t n_listed;
};

static int32_t place_of(const struct flows *flows, const struct dpl_grid *grid, int32_t cell) {
    if (flows->zones) return flows->zones->of_cell[cell];
    return dpl_blocks_of(&flows->squares, grid, cell);
}

static void count_pairs(const struct dpl_cleaned *trips, struct flows *flows, size_t set) {
    int64_t *count = flows->count + set * flows->n * flows->n;
    for (size_t i = 0; i < trips->n_trips; i++) {
        int32_t from = place_of(flows, &trips->grid, trips->cell[trips->start[i]]);
        int32_t to = place_of(flows, &trips->grid, trips->cell[trips->start[i + 1] - 1]);
        if (from < 0 || to < 0)
            flows->outside[set]++;
        else
            count[(size_t)from * flows->n + (size_t)to]++;
    }
}

static bool is_listed(const struct flows *flows, uint32_t pair) {
    for (size_t i = 0; i < flows->n_listed; i++)
        if (flows->listed[i] == pair) return true;
    return false;
}

/* The strongest pairs of one set, the lower pair on a tie, unless they are on the list already. */
static void list_strongest(struct flows *flows, const int64_t *count) {
    size_t n = flows->n;
    int64_t above = INT64_MAX;
    size_t last =
        0; // pairs are taken in the order of (count, pair): what comes after (above, last)
    for (int rank = 0; rank < FLOWS; rank++) {
        int64_t best = 0;
        size_t pair = 0;
        for (size_t i = 0; i < n * n; i++) {
            bool taken = count[i] > above || (count[i] == above && i <= last) || i / n == i % n;
            if (!taken && count[i] > best) best = count[i], pair = i;
        }
        if (best == 0) return;
        above = best, last = pair;
        if (!is_listed(flows, (uint32_t)pair)) flows->listed[flows->n_listed++] = (uint32_t)pair;
    }
}

static int64_t staying(const int64_t *count, size_t n) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += count[i * n + i];
    return sum;
}

static void write_flows(const struct gather *gather, const struct flows *flows,
                        struct island *island) {
    size_t n = flows->n;
    dpl_island_key(island, "flows");
    dpl_island_open(island, '{');
    if (flows->zones)
        dpl_zones_write(flows->zones, island);
    else
        dpl_blocks_write(&flows->squares, island);
    dpl_island_key(island, "pairs"); // source, destination: numbers of places
    dpl_island_open(island, '[');
    for (size_t i = 0; i < flows->n_listed; i++) {
        dpl_island_open(island, '[');
        dpl_island_whole(island, (int64_t)(flows->listed[i] / n));
        dpl_island_whole(island, (int64_t)(flows->listed[i] % n));
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
    dpl_island_key(island, "trips"); // (sets, pairs)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++) {
        dpl_island_open(island, '[');
        for (size_t i = 0; i < flows->n_listed; i++)
            dpl_island_whole(island, flows->count[s * n * n + flows->listed[i]]);
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
    dpl_island_key(island, "staying"); // (sets)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++)
        dpl_island_whole(island, staying(flows->count + s * n * n, n));
    dpl_island_close(island, ']');
    dpl_island_key(island, "outside"); // (sets)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < gather->n_sets; s++) dpl_island_whole(island, flows->outside[s]);
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
}

enum dpl_status dpl_gather_flows(const struct gather *gather, const struct zones *zones,
                                 struct island *island) {
    struct flows flows = {.zones = zones};
    enum dpl_status status = DPL_OK;
    if (!zones) DPL_GO(dpl_blocks_make(gather, PLACES, &flows.squares));
    size_t n = flows.n = zones ? zones->n : flows.squares.n;
    flows.outside = dpl_alloc(gather->run, gather->n_sets, sizeof *flows.outside);
    flows.count = dpl_alloc(gather->run, gather->n_sets * n * n, sizeof *flows.count);
    flows.listed = dpl_alloc(gather->run, gather->n_sets * FLOWS, sizeof *flows.listed);
    if (!flows.count || !flows.listed || !flows.outside) {
        status = DPL_SYSTEM;
        goto done;
    }
    for (size_t s = 0; s < gather->n_sets; s++) {
        count_pairs(gather->set[s], &flows, s);
        list_strongest(&flows, flows.count + s * n * n);
    }
    write_flows(gather, &flows, island);
done:
    dpl_free(flows.count);
    dpl_free(flows.listed);
    dpl_free(flows.outside);
    dpl_blocks_free(&flows.squares);
    return status;
}
