/* The counts of DPT.
 *
 * PRIVACY: a trip adds one weight for each of its moves (levels), its start (starts), its moves
 * that are no stays (headings) or its tokens (each order). With Gaussian noise the weight is min(1,
 * sqrt(20 / tokens)), so that few trips are longer than the clip; with Laplace noise it is one over
 * their number, an L1 norm of 1 at most. One dpl_exact_add a unit holds it to the sensitivity,
 * whatever the trip. */
#include <math.h>

#include "method/dpt/measure.h"

struct dpl_shape dpl_dpt_shape(const struct dpl_dpt_about *about) {
    const struct dpl_dpt_levels *levels = about->levels;
    size_t nodes = levels->first[levels->top + 1];
    switch (about->table) {
    case DPL_DPT_TABLE_LEVELS: return dpl_shape1((size_t)levels->top + 1);
    case DPL_DPT_TABLE_STARTS: return dpl_shape1(nodes);
    case DPL_DPT_TABLE_HEADINGS: return dpl_shape1(DPL_DPT_HEADINGS);
    default: return (struct dpl_shape){3, {nodes, dpl_dpt_rows(about->order), DPL_DPT_TOKENS}};
    }
}

/* The coordinate that a token adds to; SIZE_MAX: none. */
static size_t coordinate(const struct dpl_dpt_about *about, const struct dpl_dpt_state *state,
                         int token) {
    bool move = token < DPL_DPT_MOVES;
    size_t row;
    switch (about->table) {
    case DPL_DPT_TABLE_LEVELS: return move ? (size_t)state->at.level : SIZE_MAX;
    case DPL_DPT_TABLE_HEADINGS:
        return move && token != DPL_DPT_STAY ? (size_t)dpl_dpt_sector(state, token) : SIZE_MAX;
    default:
        row = dpl_dpt_row(about->levels, state, about->order);
        return row == SIZE_MAX ? SIZE_MAX : row * DPL_DPT_TOKENS + (size_t)token;
    }
}

static double weight_of(const struct dpl_dpt_about *about, size_t n) {
    static const double LIGHT = 20;
    return about->shares ? 1 / (double)n : fmin(1, sqrt(LIGHT / (double)n));
}

static enum dpl_status put_trip(struct dpl_run *run, const void *data,
                                const struct dpl_cleaned *trips, size_t trip,
                                struct dpl_entries *list) {
    const struct dpl_dpt_about *about = data;
    size_t first = list->n, n = dpl_trip_visits(trips, trip, about->length_max), tokens = 0;
    if (n == 0) return DPL_OK;
    struct dpl_dpt_reader reader = dpl_dpt_read(about->levels, trips->cell + trips->start[trip], n);
    if (about->table == DPL_DPT_TABLE_STARTS)
        return dpl_entries_put(run, list, dpl_dpt_node(about->levels, reader.state.at), 1);
    for (int token; (token = dpl_dpt_peek(&reader)) >= 0; dpl_dpt_take(&reader, token), tokens++) {
        size_t at = coordinate(about, &reader.state, token);
        if (at != SIZE_MAX) DPL_TRY(dpl_entries_put(run, list, at, 1));
    }
    // The same weight in the tables of all orders, so that a row sums to the entry that leads to
    // it.
    double weight =
        weight_of(about, about->table == DPL_DPT_TABLE_ORDER ? tokens : list->n - first);
    for (size_t i = first; i < list->n; i++) list->entry[i].value = weight;
    return DPL_OK;
}

enum dpl_status dpl_dpt_count(struct dpl_run *run, const void *about, const struct dpl_part *part,
                              struct dpl_exact *exact) {
    return dpl_count_units(run, about, part, put_trip, exact);
}
