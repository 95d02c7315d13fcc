/* DPT's synthesis: a start, then tokens from the longest context that was kept, until END.
 *
 * Invariant: a trip has 2 to length_max visits, all in cells of the grid, whatever the tables hold:
 * illegal tokens are never drawn, jumps in a row are limited, and where nothing can be drawn the
 * trip ends, or stays once if it has only begun.
 * Cost: at most `order` rows of 15 a token; memory for a number a node. */
#include "method/dpt/dpt.h"
#include "sample/drawing.h"

struct dpl_dpt_walker {
    const struct dpl_dpt_parts *parts;
    double *starts; /* (nodes) summed up */
    double *mass;   /* (nodes) visits within */
};

/* Base cells of a node. */
static double area_of(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at) {
    int32_t side = 1 << at.level, rows = levels->rows - at.row * side,
            columns = levels->columns - at.column * side;
    return (double)(rows < side ? rows : side) * (double)(columns < side ? columns : side);
}

static struct dpl_dpt_at place_of(const struct dpl_dpt_levels *levels, size_t node) {
    int level = 0;
    while (node >= levels->first[level + 1]) level++;
    size_t columns = ((size_t)(levels->columns - 1) >> level) + 1, at = node - levels->first[level];
    return (struct dpl_dpt_at){level, (int32_t)(at / columns), (int32_t)(at % columns)};
}

static void sum_visits(const struct dpl_dpt_parts *parts, double *mass) {
    const struct dpl_dpt_levels *levels = &parts->levels;
    for (int32_t cell = 0; cell < levels->rows * levels->columns; cell++)
        for (int m = 0; m <= levels->top; m++)
            mass[dpl_dpt_node(levels, dpl_dpt_at(levels, m, cell))] += (double)parts->visits[cell];
}

enum dpl_status dpl_dpt_walker_new(struct dpl_run *run, const struct dpl_dpt_parts *parts,
                                   struct dpl_dpt_walker **made) {
    size_t nodes = parts->levels.first[parts->levels.top + 1];
    struct dpl_dpt_walker *walker = dpl_alloc(run, 1, sizeof *walker);
    if (!walker) return DPL_SYSTEM;
    walker->parts = parts;
    walker->starts = dpl_alloc(run, nodes, sizeof *walker->starts);
    walker->mass = dpl_alloc(run, nodes, sizeof *walker->mass);
    if (!walker->starts || !walker->mass) {
        dpl_dpt_walker_free(walker);
        return DPL_SYSTEM;
    }
    dpl_sum_up(parts->starts, nodes, walker->starts);
    sum_visits(parts, walker->mass);
    *made = walker;
    return DPL_OK;
}

void dpl_dpt_walker_free(struct dpl_dpt_walker *walker) {
    if (!walker) return;
    dpl_free(walker->starts), dpl_free(walker->mass);
    dpl_free(walker);
}

/* A base cell of the node by the released visits; any, where there were none.
 * PAPER?: the original takes the centre. */
static int32_t settle(const struct dpl_dpt_walker *walker, struct dpl_dpt_at at,
                      struct dpl_stream *stream) {
    const struct dpl_dpt_levels *levels = &walker->parts->levels;
    while (at.level > 0) {
        double sums[DPL_DPT_CHILDREN], sum = 0;
        bool known = walker->mass[dpl_dpt_node(levels, at)] > 0;
        for (int c = 0; c < DPL_DPT_CHILDREN; c++) {
            struct dpl_dpt_at child = at;
            if (dpl_dpt_apply(levels, DPL_DPT_DOWN + c, &child))
                sum += known ? walker->mass[dpl_dpt_node(levels, child)] : area_of(levels, child);
            sums[c] = sum;
        }
        size_t child = dpl_draw_from(sums, DPL_DPT_CHILDREN, stream);
        dpl_dpt_apply(levels, DPL_DPT_DOWN + (int)child, &at);
    }
    return at.row * levels->columns + at.column;
}

bool dpl_dpt_next(const struct dpl_dpt_walker *walker, const struct dpl_dpt_state *state,
                  size_t visits, double weight[DPL_DPT_TOKENS]) {
    const struct dpl_dpt_parts *parts = walker->parts;
    for (int order = parts->order; order >= 2; order--) {
        size_t row = dpl_dpt_row(&parts->levels, state, order);
        double sum = 0;
        if (row == SIZE_MAX) continue;
        for (int t = 0; t < DPL_DPT_TOKENS; t++) {
            double chance = (double)parts->order_chance[order][row * DPL_DPT_TOKENS + (size_t)t];
            if (chance > 0 &&
                ((t == DPL_DPT_END && visits < 2) || !dpl_dpt_legal(&parts->levels, t, state->at)))
                chance = 0;
            if (chance > 0 && t < DPL_DPT_MOVES && t != DPL_DPT_STAY)
                chance *= (double)parts->turn[dpl_dpt_sector(state, t)];
            sum += weight[t] = chance;
        }
        if (sum > 0) return true;
    }
    return false;
}

static int draw_token(const struct dpl_dpt_walker *walker, const struct dpl_dpt_state *state,
                      size_t visits, struct dpl_stream *stream) {
    double weight[DPL_DPT_TOKENS];
    if (!dpl_dpt_next(walker, state, visits, weight)) return -1;
    for (int t = 1; t < DPL_DPT_TOKENS; t++) weight[t] += weight[t - 1];
    return (int)dpl_draw_from(weight, DPL_DPT_TOKENS, stream);
}

size_t dpl_dpt_draw(const struct dpl_dpt_walker *walker, struct dpl_stream *stream,
                    size_t length_max, int32_t *cell, double *heading) {
    const struct dpl_dpt_levels *levels = &walker->parts->levels;
    size_t nodes = levels->first[levels->top + 1], visits = 0;
    struct dpl_dpt_state state =
        dpl_dpt_begin(place_of(levels, dpl_draw_from(walker->starts, nodes, stream)));
    cell[visits++] = settle(walker, state.at, stream);
    for (int jumps = 0; visits < length_max;) {
        int token = jumps > 2 * levels->top ? -1 : draw_token(walker, &state, visits, stream);
        if (token == DPL_DPT_END || (token < 0 && visits >= 2)) break;
        bool move = token < DPL_DPT_MOVES; // or none: a stay
        if (heading && move && token >= 0 && token != DPL_DPT_STAY)
            heading[dpl_dpt_sector(&state, token)]++;
        if (token >= 0) dpl_dpt_advance(levels, token, &state);
        if (move) cell[visits++] = settle(walker, state.at, stream);
        jumps = move ? 0 : jumps + 1;
    }
    return visits;
}
