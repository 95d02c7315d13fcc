/* Trips on a small grid, and how far one more unit moves a table: for the tests of every method
 * that counts. */
#ifndef DPL_TEST_COUNTED_H
#define DPL_TEST_COUNTED_H

#include "support.h"

#include "fit/count.h"

enum { COUNTED_LONGEST = 1000 }; /* visits of the longest hostile trip */

struct counted {
    struct dpl_grid grid; /* of the simulated city */
    struct dpl_zone *zone;
    struct dpl_cleaned *trips;
};
void counted_open(struct dpl_run *run, double cell_m, struct counted *counted);
void counted_close(struct counted *counted);
/* user -1: none. */
void counted_add(struct dpl_run *run, struct counted *counted, const int32_t *cell, size_t n,
                 int32_t user);
/* 1 to 1000 visits: all in one cell (how 0), to and fro between two corners (1), a slow walk (2) or
 * anywhere (3 and more). cell has room for COUNTED_LONGEST. */
size_t counted_hostile(const struct dpl_grid *grid, int how, uint64_t *seed, int32_t *cell);

/* A table as a question, with the norm and the sensitivity of one trip. */
struct counted_table {
    const char *name;
    dpl_counting *count;
    const void *about;
    size_t n;
    double l2, l1;
};
/* The exact counts of all trips; users as units if they are to be. Free with dpl_exact_free. */
struct dpl_exact *counted_count(struct dpl_run *run, const struct counted *counted,
                                const struct counted_table *table, enum dpl_norm norm,
                                enum dpl_unit unit);
/* Entry i of the exact counts. */
double counted_value(const struct dpl_exact *exact, size_t i);
/* PRIVACY: data sets that differ in one unit, a hostile one: none of the tables moves by more than
 * its sensitivity, in either norm, and some move. With users the sensitivity is that of three
 * trips.
 */
void counted_neighbours(struct dpl_run *run, double cell_m, const struct counted_table *tables,
                        size_t n_tables, enum dpl_unit unit, size_t rounds);

#endif
