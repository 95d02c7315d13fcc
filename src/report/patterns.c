/* The most frequent patterns of every set, as the measure fp_N counts them (evaluate/patterns.h):
 * on the cells with most of the visits of the first set, repeats collapsed, support in trips.
 * Listed are the SHOWN best of each set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/ready.h"
#include "report/gather.h"

enum { SHOWN = 20 };

struct listed {
    struct dpl_key *key; /* (n) */
    size_t n;
};

static bool same_key(struct dpl_key a, struct dpl_key b) { return a.hi == b.hi && a.lo == b.lo; }

/* Patterns of a data set are numbered by support: the first are the best. */
static void list_best(const struct dpl_patterns *patterns, struct listed *listed) {
    for (size_t i = 0; i < SHOWN && i < patterns->n_patterns; i++) {
        size_t at = 0;
        while (at < listed->n && !same_key(listed->key[at], patterns->key[i])) at++;
        if (at == listed->n) listed->key[listed->n++] = patterns->key[i];
    }
}

static uint32_t support_of(const struct dpl_patterns *patterns, struct dpl_key key) {
    for (size_t i = 0; i < patterns->n_patterns; i++)
        if (same_key(patterns->key[i], key)) return patterns->support[i];
    return 0;
}

static void write_cells(const struct dpl_cells *cells, struct dpl_key key, struct island *island) {
    int32_t number[DPL_PATTERN_MAX];
    size_t n = dpl_pattern_cells(key, cells->n_cells, number);
    dpl_island_open(island, '[');
    for (size_t i = 0; i < n; i++) dpl_island_whole(island, cells->grid_cell[number[i]]);
    dpl_island_close(island, ']');
}

static void write_patterns(const struct dpl_cells *cells, const struct dpl_ready *ready,
                           size_t n_sets, const struct listed *listed, struct island *island) {
    dpl_island_key(island, "patterns");
    dpl_island_open(island, '{');
    dpl_island_key(island, "cells"); // of the grid, in order
    dpl_island_open(island, '[');
    for (size_t i = 0; i < listed->n; i++) write_cells(cells, listed->key[i], island);
    dpl_island_close(island, ']');
    dpl_island_key(island, "support"); // (sets, patterns)
    dpl_island_open(island, '[');
    for (size_t s = 0; s < n_sets; s++) {
        dpl_island_open(island, '[');
        for (size_t i = 0; i < listed->n; i++)
            dpl_island_whole(island, support_of(&ready[s].patterns, listed->key[i]));
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
}

enum dpl_status dpl_gather_patterns(const struct gather *gather, double cell_share,
                                    struct island *island) {
    struct dpl_cells cells = {0};
    struct dpl_index same = {0};
    struct listed listed = {0};
    enum dpl_status status = DPL_SYSTEM;
    struct dpl_ready *ready = dpl_alloc(gather->run, gather->n_sets, sizeof *ready);
    listed.key = dpl_alloc(gather->run, gather->n_sets * SHOWN, sizeof *listed.key);
    if (!ready || !listed.key) goto done;
    DPL_GO(dpl_cells_most_visited(gather->run, gather->set[0], cell_share, &cells));
    for (size_t s = 0; s < gather->n_sets; s++) {
        DPL_GO(dpl_ready_make(gather->run, gather->set[s], &cells, INFINITY, &same, &ready[s]));
        list_best(&ready[s].patterns, &listed);
    }
    write_patterns(&cells, ready, gather->n_sets, &listed, island);
done:
    for (size_t s = 0; ready && s < gather->n_sets; s++) dpl_ready_free(&ready[s]);
    dpl_free(ready);
    dpl_free(listed.key);
    dpl_index_free(&same);
    dpl_cells_free(&cells);
    return status;
}
