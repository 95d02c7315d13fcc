/* See counted.h. */
#include "counted.h"

#include <math.h>

#include "base/cleaned.h"
#include "noise/lattice_inner.h" // defines: struct dpl_exact

enum { TRIPS_OF_A_USER = 3, TABLES = 16 };

void counted_open(struct dpl_run *run, double cell_m, struct counted *counted) {
    struct dpl_area area = dpl_area_defaults();
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = cell_m;
    assert_ok(run, dpl_grid_make(run, &area, &counted->grid));
    assert_ok(run, dpl_zone_open(run, area.zone, &counted->zone));
    assert_ok(run, dpl_cleaned_new(run, &counted->grid, &counted->trips));
}

void counted_close(struct counted *counted) {
    dpl_zone_free(counted->zone);
    dpl_cleaned_free(counted->trips);
}

void counted_add(struct dpl_run *run, struct counted *counted, const int32_t *cell, size_t n,
                 int32_t user) {
    const struct dpl_cleaned_trip trip = {.cell = cell, .n_visits = n, .user = user};
    assert_ok(run, dpl_cleaned_append(run, counted->trips, &trip));
    if (user >= 0 && (size_t)user + 1 > counted->trips->n_users)
        counted->trips->n_users = (size_t)user + 1;
}

size_t counted_hostile(const struct dpl_grid *grid, int how, uint64_t *seed, int32_t *cell) {
    static const size_t LENGTHS[] = {1, 2, 3, 30, 31, COUNTED_LONGEST};
    size_t n = LENGTHS[test_random(seed) % 6];
    int32_t cells = dpl_grid_cells(grid);
    size_t from = test_random(seed) % (size_t)cells;
    for (size_t v = 0; v < n; v++) switch (how) {
        case 0: cell[v] = 0; break;
        case 1: cell[v] = (int32_t)(v % 2) * (cells - 1); break;
        case 2:
            cell[v] = (int32_t)((from + v + v / 2 * (size_t)grid->columns) % (size_t)cells);
            break;
        default: cell[v] = (int32_t)(test_random(seed) % (uint64_t)cells);
        }
    return n;
}

struct dpl_exact *counted_count(struct dpl_run *run, const struct counted *counted,
                                const struct counted_table *table, enum dpl_norm norm,
                                enum dpl_unit unit) {
    bool users = unit == DPL_UNIT_USER;
    double trip = norm == DPL_NORM_L1 ? table->l1 : table->l2, growth = !users ? 1
                                                                        : norm == DPL_NORM_L1
                                                                            ? TRIPS_OF_A_USER
                                                                            : sqrt(TRIPS_OF_A_USER);
    struct dpl_exact *exact;
    struct dpl_parts parts;
    assert_ok(
        run,
        dpl_exact_new(run, &(struct dpl_exact_options){table->n, norm, trip * growth, 16}, &exact));
    assert_ok(run,
              dpl_parts_make(run, counted->trips, unit, users ? TRIPS_OF_A_USER : 1, 1, &parts));
    assert_ok(run, table->count(run, table->about, &parts.part[0], exact));
    dpl_parts_free(&parts);
    return exact;
}

double counted_value(const struct dpl_exact *exact, size_t i) {
    return (double)exact->sum[i] / ldexp(1, exact->options.places);
}

static double moved_by(const struct dpl_exact *before, const struct dpl_exact *after) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < after->options.n; i++) {
        double moved = fabs(counted_value(after, i) - counted_value(before, i));
        sum += moved, squares += moved * moved;
    }
    return after->options.norm == DPL_NORM_L1 ? sum : sqrt(squares);
}

/* The counts with one unit more, against those before. Returns how far they moved. */
static double compare(struct dpl_run *run, const struct counted *counted,
                      const struct counted_table *table, enum dpl_unit unit, enum dpl_norm norm,
                      struct dpl_exact *before) {
    struct dpl_exact *after = counted_count(run, counted, table, norm, unit);
    double moved = moved_by(before, after);
    if (!(moved <= after->options.sensitivity))
        fail_msg("%s: one %s moves it by %.9g, not %.9g at most", table->name, dpl_unit_name(unit),
                 moved, after->options.sensitivity);
    dpl_exact_free(before), dpl_exact_free(after);
    return moved;
}

void counted_neighbours(struct dpl_run *run, double cell_m, const struct counted_table *tables,
                        size_t n_tables, enum dpl_unit unit, size_t rounds) {
    static int32_t cell[COUNTED_LONGEST];
    double most[TABLES] = {0};
    uint64_t seed = 4;
    for (size_t round = 0; round < rounds; round++) {
        struct counted counted;
        struct dpl_exact *before[TABLES][2];
        int32_t user = 0;
        counted_open(run, cell_m, &counted);
        for (size_t t = 0; t < 20; t++)
            counted_add(run, &counted, cell, counted_hostile(&counted.grid, t % 4, &seed, cell),
                        user = (int32_t)(t / TRIPS_OF_A_USER));
        for (size_t i = 0; i < n_tables; i++)
            for (int norm = 0; norm < 2; norm++)
                before[i][norm] = counted_count(run, &counted, &tables[i],
                                                norm ? DPL_NORM_L2 : DPL_NORM_L1, unit);
        for (int t = 0; t < (unit == DPL_UNIT_USER ? TRIPS_OF_A_USER : 1); t++)
            counted_add(run, &counted, cell,
                        counted_hostile(&counted.grid, (int)(round % 4), &seed, cell), user + 1);
        for (size_t i = 0; i < n_tables; i++)
            for (int norm = 0; norm < 2; norm++)
                most[i] = fmax(most[i], compare(run, &counted, &tables[i], unit,
                                                norm ? DPL_NORM_L2 : DPL_NORM_L1, before[i][norm]));
        counted_close(&counted);
    }
    for (size_t i = 0; i < n_tables; i++)
        if (!(most[i] > 0)) fail_msg("%s: no unit moves it", tables[i].name);
}
