/* See zones.h. A cell belongs to the district that holds its centre, as in `dploc tables`. */
#include "report/zones.h"

#include <math.h>

enum { MOST = 1024 }; // the table of pairs has so many rows and columns

/* Sums up where the centres of a district's cells are; the number of cells goes to `cells`. */
static void add_centre(const struct dpl_grid *grid, int32_t cell, double sum_m[2], size_t *cells) {
    sum_m[0] += (cell % grid->columns + 0.5) * grid->area.cell_m;
    sum_m[1] += (cell / grid->columns + 0.5) * grid->area.cell_m;
    ++*cells;
}

/* Keeps the districts that have cells, and numbers them anew. */
static void keep_used(const size_t *cells, size_t n_districts, struct zones *zones,
                      int32_t *number) {
    for (size_t i = 0; i < n_districts; i++) {
        number[i] = cells[i] ? (int32_t)zones->n : -1;
        if (!cells[i]) continue;
        for (size_t axis = 0; axis < 2; axis++)
            zones->middle_m[2 * zones->n + axis] = zones->middle_m[2 * i + axis] / (double)cells[i];
        zones->which[zones->n++] = (int32_t)i;
    }
}

static enum dpl_status check_number(struct dpl_run *run, const char *path, size_t n) {
    if (n == 0)
        return dpl_fail(run, DPL_BAD_DATA,
                        "%s: none of its districts holds the centre of a cell of the region", path);
    if (n > MOST)
        return dpl_fail(run, DPL_BAD_DATA,
                        "%s: %zu districts are in the region; a report's flows take up to %d (join "
                        "some of them)",
                        path, n, MOST);
    return DPL_OK;
}

static enum dpl_status give_cells(struct dpl_run *run, const struct dpl_grid *grid,
                                  struct zones *zones) {
    size_t n = dpl_districts_count(zones->districts), n_cells = (size_t)dpl_grid_cells(grid);
    size_t *cells = dpl_alloc(run, n, sizeof *cells);
    int32_t *number = dpl_alloc(run, n, sizeof *number);
    zones->which = dpl_alloc(run, n, sizeof *zones->which);
    zones->middle_m = dpl_alloc(run, 2 * n, sizeof *zones->middle_m);
    zones->of_cell = dpl_alloc(run, n_cells, sizeof *zones->of_cell);
    bool room = cells && number && zones->which && zones->middle_m && zones->of_cell;
    for (size_t i = 0; room && i < n_cells; i++) {
        int32_t at = dpl_districts_of_cell(zones->districts, grid, (int32_t)i);
        zones->of_cell[i] = at;
        if (at >= 0) add_centre(grid, (int32_t)i, &zones->middle_m[2 * at], &cells[at]);
    }
    if (room) keep_used(cells, n, zones, number);
    for (size_t i = 0; room && i < n_cells; i++)
        if (zones->of_cell[i] >= 0) zones->of_cell[i] = number[zones->of_cell[i]];
    dpl_free(number);
    dpl_free(cells);
    return room ? DPL_OK : DPL_SYSTEM;
}

enum dpl_status dpl_zones_read(struct dpl_run *run, const char *path, const struct dpl_grid *grid,
                               struct zones *zones) {
    struct zones made = {0};
    enum dpl_status status;
    DPL_GO(dpl_districts_read(run, path, &made.districts));
    DPL_GO(give_cells(run, grid, &made));
    DPL_GO(check_number(run, path, made.n));
    DPL_GO(dpl_basemap_outline(run, made.districts, grid, &made.outline));
    *zones = made;
    made = (struct zones){0};
done:
    dpl_zones_free(&made);
    return status;
}

void dpl_zones_free(struct zones *zones) {
    dpl_districts_free(zones->districts);
    dpl_basemap_free(&zones->outline);
    dpl_free(zones->which);
    dpl_free(zones->middle_m);
    dpl_free(zones->of_cell);
    *zones = (struct zones){0};
}

void dpl_zones_write(const struct zones *zones, struct island *island) {
    dpl_island_key(island, "districts");
    dpl_island_open(island, '[');
    for (size_t i = 0; i < zones->n; i++) {
        dpl_island_open(island, '[');
        dpl_island_text(island, dpl_districts_name(zones->districts, (size_t)zones->which[i]));
        for (size_t axis = 0; axis < 2; axis++)
            dpl_island_whole(island, llround(zones->middle_m[2 * i + axis]));
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
    dpl_island_key(island, "outlines");
    dpl_basemap_lines(&zones->outline, island);
}
