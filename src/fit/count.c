/* Parts of the cleaned trips, and the counts that every method has. See count.h.
 *
 * Invariants
 *  - A unit's entries go into one dpl_exact_add call, which clips them to the sensitivity as a
 *    whole: that the declared sensitivity holds does not depend on anything here.
 *  - What a part adds is a function of that part and of public numbers.
 * Cost: a pass over the trips per count; 4 bytes per visit for the cells at slot times. */
#include "fit/count.h"

#include <string.h>

#include "base/cleaned.h"

/* ---- parts ---- */

/* All trips of the units of `kept`, which are those from `begin` on of `from`. */
static enum dpl_status slice_all(struct dpl_run *run, const struct dpl_kept *from, size_t begin,
                                 struct dpl_kept *kept) {
    size_t first = from->all_start[begin], n = from->all_start[begin + kept->n_units] - first;
    kept->all_start = dpl_alloc(run, kept->n_units + 1, sizeof *kept->all_start);
    kept->all = dpl_alloc(run, n, sizeof *kept->all);
    if (!kept->all_start || !kept->all) return DPL_SYSTEM;
    for (size_t u = 0; u <= kept->n_units; u++)
        kept->all_start[u] = from->all_start[begin + u] - first;
    memcpy(kept->all, from->all + first, n * sizeof *kept->all);
    return DPL_OK;
}

/* The units begin ... end-1 of `all`. */
static enum dpl_status slice(struct dpl_run *run, const struct dpl_kept *all, size_t begin,
                             size_t end, struct dpl_kept *kept) {
    size_t first = dpl_kept_begin(all, begin);
    kept->n_units = end - begin;
    kept->n_trips = dpl_kept_begin(all, end) - first;
    kept->trip = dpl_alloc(run, kept->n_trips, sizeof *kept->trip);
    if (!kept->trip) return DPL_SYSTEM;
    for (size_t i = 0; i < kept->n_trips; i++) kept->trip[i] = dpl_kept_trip(all, first + i);
    if (!all->unit_start) return DPL_OK;
    kept->unit_start = dpl_alloc(run, kept->n_units + 1, sizeof *kept->unit_start);
    if (!kept->unit_start) return DPL_SYSTEM;
    for (size_t u = 0; u <= kept->n_units; u++)
        kept->unit_start[u] = all->unit_start[begin + u] - first;
    return slice_all(run, all, begin, kept);
}

/* ---- trips in a file ---- */

static enum dpl_status add_units(struct dpl_run *run, void *context,
                                 const struct dpl_cleaned *trips) {
    struct dpl_parts *parts = context;
    struct dpl_kept kept = {0};
    DPL_TRY(dpl_kept_make(run, trips, parts->unit, parts->trips_max, &kept));
    parts->n_units += kept.n_units, parts->n_no_user += kept.n_no_user;
    dpl_kept_free(&kept);
    return DPL_OK;
}

static enum dpl_status make_spilled(struct dpl_run *run, const struct dpl_cleaned *trips,
                                    enum dpl_unit unit, int64_t trips_max, struct dpl_parts *made) {
    struct dpl_parts parts = {
        .n = dpl_cleaned_parts(trips), .spilled = trips, .unit = unit, .trips_max = trips_max};
    parts.part = dpl_alloc(run, parts.n, sizeof *parts.part);
    if (!parts.part) return DPL_SYSTEM;
    enum dpl_status status = dpl_cleaned_each(run, trips, add_units, &parts);
    if (status == DPL_OK)
        *made = parts;
    else
        dpl_parts_free(&parts);
    return status;
}

/* ---- parts, wherever they are ---- */

enum dpl_status dpl_parts_make(struct dpl_run *run, const struct dpl_cleaned *trips,
                               enum dpl_unit unit, int64_t trips_max, size_t n,
                               struct dpl_parts *made) {
    struct dpl_kept all = {0};
    struct dpl_parts parts = {.n = n};
    enum dpl_status status;
    if (dpl_cleaned_spilled(trips)) return make_spilled(run, trips, unit, trips_max, made);
    DPL_GO(dpl_kept_make(run, trips, unit, trips_max, &all));
    parts.n_units = all.n_units, parts.n_no_user = all.n_no_user;
    parts.part = dpl_alloc(run, n, sizeof *parts.part);
    if (!parts.part) status = DPL_SYSTEM;
    for (size_t i = 0; status == DPL_OK && i < n; i++) {
        parts.part[i].trips = trips;
        if (n > 1)
            status = slice(run, &all, all.n_units * i / n, all.n_units * (i + 1) / n,
                           &parts.part[i].kept);
        else
            parts.part[i].kept = all, all = (struct dpl_kept){0};
    }
    if (status != DPL_OK) goto done;
    *made = parts;
    parts = (struct dpl_parts){0};
done:
    dpl_parts_free(&parts);
    dpl_kept_free(&all);
    return status;
}

static void empty_part(struct dpl_part *part) {
    dpl_kept_free(&part->kept);
    dpl_reduced_free(&part->reduced);
    dpl_cleaned_free(part->loaded);
    *part = (struct dpl_part){0};
}

void dpl_parts_free(struct dpl_parts *parts) {
    for (size_t i = 0; parts->part && i < parts->n; i++) empty_part(&parts->part[i]);
    dpl_free(parts->part);
    dpl_topk_free(&parts->topk);
    *parts = (struct dpl_parts){0};
}

static enum dpl_status copy_topk(struct dpl_run *run, const struct dpl_topk *from, size_t n_grid,
                                 struct dpl_topk *to) {
    const size_t K = (size_t)from->n_cells;
    dpl_topk_free(to);
    *to = (struct dpl_topk){.n_cells = from->n_cells,
                            .cell = dpl_alloc(run, K, sizeof *to->cell),
                            .nearest = dpl_alloc(run, n_grid, sizeof *to->nearest)};
    if (!to->cell || !to->nearest) return DPL_SYSTEM;
    memcpy(to->cell, from->cell, K * sizeof *to->cell);
    memcpy(to->nearest, from->nearest, n_grid * sizeof *to->nearest);
    return DPL_OK;
}

enum dpl_status dpl_parts_reduce(struct dpl_run *run, struct dpl_parts *parts, int32_t length_max,
                                 const struct dpl_topk *topk) {
    parts->length_max = length_max;
    if (parts->spilled)
        return copy_topk(run, topk, (size_t)dpl_grid_cells(&parts->spilled->grid), &parts->topk);
    for (size_t i = 0; i < parts->n; i++) {
        struct dpl_part *part = &parts->part[i];
        DPL_TRY(dpl_reduce(run, part->trips, &part->kept, length_max, topk, &part->reduced));
    }
    return DPL_OK;
}

enum dpl_status dpl_part_open(struct dpl_run *run, struct dpl_parts *parts, size_t i) {
    struct dpl_part *part = &parts->part[i];
    if (!parts->spilled) return DPL_OK;
    DPL_TRY(dpl_check_interrupt(run));
    DPL_TRY(dpl_cleaned_load(run, parts->spilled, i, &part->loaded));
    part->trips = part->loaded;
    DPL_TRY(dpl_kept_make(run, part->trips, parts->unit, parts->trips_max, &part->kept));
    if (parts->topk.n_cells == 0) return DPL_OK;
    return dpl_reduce(run, part->trips, &part->kept, parts->length_max, &parts->topk,
                      &part->reduced);
}

void dpl_part_close(struct dpl_parts *parts, size_t i) {
    if (parts->spilled) empty_part(&parts->part[i]);
}

/* ---- counting ---- */

struct dpl_exact_options dpl_question_vector(const struct dpl_question *question) {
    return (struct dpl_exact_options){.n = dpl_shape_size(question->shape),
                                      .norm = dpl_event_pure(&question->event) ? DPL_NORM_L1
                                                                               : DPL_NORM_L2,
                                      .sensitivity = question->event.sensitivity,
                                      .places = DPL_COUNT_PLACES};
}

enum dpl_status dpl_count(struct dpl_run *run, const struct dpl_question *question,
                          const struct dpl_part *part, struct dpl_exact **counts) {
    const struct dpl_exact_options vector = dpl_question_vector(question);
    struct dpl_exact *exact = NULL;
    DPL_TRY(dpl_exact_new(run, &vector, &exact));
    enum dpl_status status = question->count(run, question->about, part, exact);
    if (status == DPL_OK)
        *counts = exact;
    else
        dpl_exact_free(exact);
    return status;
}

static enum dpl_status add_part(struct dpl_run *run, const struct dpl_question *question,
                                const struct dpl_part *part, struct dpl_exact **sum) {
    struct dpl_exact *counts = NULL;
    if (!*sum) return dpl_count(run, question, part, sum);
    DPL_TRY(dpl_count(run, question, part, &counts));
    enum dpl_status status = dpl_exact_merge(run, *sum, counts);
    dpl_exact_free(counts);
    return status;
}

enum dpl_status dpl_count_all(struct dpl_run *run, const struct dpl_question *questions, size_t n,
                              struct dpl_parts *parts, struct dpl_exact **sums) {
    enum dpl_status status = DPL_OK;
    for (size_t q = 0; q < n; q++) sums[q] = NULL;
    for (size_t i = 0; status == DPL_OK && i < parts->n; i++) {
        status = dpl_part_open(run, parts, i);
        for (size_t q = 0; status == DPL_OK && q < n; q++)
            status = add_part(run, &questions[q], &parts->part[i], &sums[q]);
        dpl_part_close(parts, i);
    }
    for (size_t q = 0; status != DPL_OK && q < n; q++) {
        dpl_exact_free(sums[q]);
        sums[q] = NULL;
    }
    return status;
}

enum dpl_status dpl_units_each(struct dpl_run *run, const void *about, const struct dpl_part *part,
                               dpl_put_trip *put_one, dpl_take_unit *take, void *into) {
    const struct dpl_kept *kept = &part->kept;
    struct dpl_entries list = {0};
    enum dpl_status status = DPL_OK;
    for (size_t u = 0; u < kept->n_units; u++) {
        list.n = 0;
        for (size_t i = dpl_kept_begin(kept, u); i < dpl_kept_begin(kept, u + 1); i++)
            DPL_GO(put_one(run, about, part->trips, dpl_kept_trip(kept, i), &list));
        // PRIVACY: the whole unit in one call, clipped there.
        DPL_GO(take(run, into, list.entry, list.n));
    }
done:
    dpl_free(list.entry);
    return status;
}

static enum dpl_status add_exact(struct dpl_run *run, void *exact, const struct dpl_entry *entries,
                                 size_t n) {
    return dpl_exact_add(run, exact, entries, n);
}

enum dpl_status dpl_count_units(struct dpl_run *run, const void *about, const struct dpl_part *part,
                                dpl_put_trip *put_one, struct dpl_exact *exact) {
    return dpl_units_each(run, about, part, put_one, add_exact, exact);
}

/* ---- lengths, trips, visits ---- */

static enum dpl_status put_length(struct dpl_run *run, const void *cut,
                                  const struct dpl_cleaned *trips, size_t trip,
                                  struct dpl_entries *list) {
    (void)cut;
    return dpl_entries_put(run, list, dpl_length_bin(dpl_trip_visits(trips, trip, 0)), 1);
}

static enum dpl_status put_one_trip(struct dpl_run *run, const void *cut,
                                    const struct dpl_cleaned *trips, size_t trip,
                                    struct dpl_entries *list) {
    (void)cut, (void)trips, (void)trip;
    return dpl_entries_put(run, list, 0, 1);
}

/* The square of that many cells' side that a cell is in; rows of squares from the south. */
static size_t square_of(const struct dpl_grid *grid, int32_t cell, int32_t side) {
    int32_t across = (grid->columns + side - 1) / side;
    return (size_t)(cell / grid->columns / side * across + cell % grid->columns / side);
}

static enum dpl_status put_visits(struct dpl_run *run, const void *about,
                                  const struct dpl_cleaned *trips, size_t trip,
                                  struct dpl_entries *list) {
    const struct dpl_cut *cut = about;
    size_t begin = trips->start[trip], n = dpl_trip_visits(trips, trip, cut->length_max);
    double weight =
        (cut->weight ? cut->weight(cut->full_visits, n) : 1) * (cut->scale > 0 ? cut->scale : 1);
    int32_t side = cut->side > 0 ? cut->side : 1;
    for (size_t v = begin; v < begin + n; v++)
        DPL_TRY(dpl_entries_put(run, list, square_of(&trips->grid, trips->cell[v], side), weight));
    return DPL_OK;
}

enum dpl_status dpl_count_lengths(struct dpl_run *run, const void *cut, const struct dpl_part *part,
                                  struct dpl_exact *exact) {
    return dpl_count_units(run, cut, part, put_length, exact);
}
enum dpl_status dpl_count_trips(struct dpl_run *run, const void *cut, const struct dpl_part *part,
                                struct dpl_exact *exact) {
    return dpl_count_units(run, cut, part, put_one_trip, exact);
}
enum dpl_status dpl_count_visits(struct dpl_run *run, const void *cut, const struct dpl_part *part,
                                 struct dpl_exact *exact) {
    return dpl_count_units(run, cut, part, put_visits, exact);
}
