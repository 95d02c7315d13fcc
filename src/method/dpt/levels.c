/* Levels, tokens, and a trip as tokens. See dpt.h.
 *
 * Invariant: the tokens of a trip lead from its first cell through all of its cells, each seen in
 * the level in use; but where a step is no move even in the top level (rounding at the speed limit)
 * the move goes to the nearest neighbour, and the trip goes on where it really is, as if it had
 * just come there.
 * Cost: O(levels) a step, no memory. */
#include <math.h>
#include <stdlib.h>

#include "method/dpt/dpt.h"

/* ---- levels ---- */

static int32_t side_of(int32_t n, int level) { return ((n - 1) >> level) + 1; }

struct dpl_dpt_levels dpl_dpt_levels_make(const struct dpl_grid *grid) {
    const struct dpl_area *area = &grid->area;
    struct dpl_dpt_levels levels = {.rows = grid->rows, .columns = grid->columns};
    double reach_m = area->speed_limit_kmh / 3.6 * area->slot_s, side_m = area->cell_m;
    for (; side_m < reach_m && levels.top < DPL_DPT_LEVELS - 1; side_m *= 2) levels.top++;
    for (int m = 0; m <= levels.top; m++) {
        size_t cells = (size_t)side_of(levels.rows, m) * (size_t)side_of(levels.columns, m);
        levels.kept[m] = true;
        levels.first[m + 1] = levels.first[m] + cells;
    }
    return levels;
}

void dpl_dpt_levels_choose(const double *moves, double mass, double deviation,
                           struct dpl_dpt_levels *levels) {
    static const double LEAST_PART = 0.01, SIGMAS = 0.25;
    double sum = 0;
    for (int m = 0; m <= levels->top; m++) sum += fmax(moves[m], 0);
    for (int m = 1; m < levels->top; m++) {
        double part = sum > 0 ? fmax(moves[m], 0) / sum : 0;
        double cells = (double)(levels->first[m + 1] - levels->first[m]);
        levels->kept[m] =
            part >= LEAST_PART && part * mass >= DPL_DPT_TOKENS * cells * deviation * SIGMAS;
    }
}

struct dpl_dpt_at dpl_dpt_at(const struct dpl_dpt_levels *levels, int level, int32_t cell) {
    return (struct dpl_dpt_at){level, cell / levels->columns >> level,
                               cell % levels->columns >> level};
}

size_t dpl_dpt_node(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at) {
    return levels->first[at.level] + (size_t)at.row * (size_t)side_of(levels->columns, at.level) +
           (size_t)at.column;
}

static bool inside(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at) {
    return at.row >= 0 && at.row < side_of(levels->rows, at.level) && at.column >= 0 &&
           at.column < side_of(levels->columns, at.level);
}

bool dpl_dpt_apply(const struct dpl_dpt_levels *levels, int token, struct dpl_dpt_at *at) {
    struct dpl_dpt_at to = *at;
    if (token < DPL_DPT_MOVES) {
        to.row += token / 3 - 1, to.column += token % 3 - 1;
    } else if (token == DPL_DPT_UP) {
        if (at->level == levels->top) return false;
        do to.level++, to.row >>= 1, to.column >>= 1;
        while (!levels->kept[to.level]); // the top is kept
    } else if (token < DPL_DPT_END) {
        int child = token - DPL_DPT_DOWN;
        if (at->level == 0) return false;
        to =
            (struct dpl_dpt_at){at->level - 1, at->row * 2 + child / 2, at->column * 2 + child % 2};
    }
    if (!inside(levels, to)) return false;
    *at = to;
    return true;
}

bool dpl_dpt_legal(const struct dpl_dpt_levels *levels, int token, struct dpl_dpt_at at) {
    bool down = token >= DPL_DPT_DOWN && token < DPL_DPT_END;
    return (down || levels->kept[at.level]) && dpl_dpt_apply(levels, token, &at);
}

static bool near(struct dpl_dpt_at a, struct dpl_dpt_at b) {
    return abs(a.row - b.row) <= 1 && abs(a.column - b.column) <= 1;
}

int dpl_dpt_need(const struct dpl_dpt_levels *levels, int32_t from, int32_t to) {
    for (int m = 0; m < levels->top; m++)
        if (levels->kept[m] && near(dpl_dpt_at(levels, m, from), dpl_dpt_at(levels, m, to)))
            return m;
    return levels->top;
}

/* ---- state ---- */

struct dpl_dpt_state dpl_dpt_begin(struct dpl_dpt_at at) {
    return (struct dpl_dpt_state){.at = at};
}

static void forget(struct dpl_dpt_state *state) { state->moves = 0, state->history = 0; }

static void remember_move(int move, struct dpl_dpt_state *state) {
    if (state->moves < DPL_DPT_ORDER_MOST) state->moves++;
    state->history =
        (state->history * DPL_DPT_MOVES + (size_t)move) % dpl_dpt_rows(DPL_DPT_ORDER_MOST);
    if (move == DPL_DPT_STAY) return;
    int slot = state->turns++ % DPL_DPT_BACK;
    state->east[slot] = (move % 3 - 1) * (1 << state->at.level);
    state->north[slot] = (move / 3 - 1) * (1 << state->at.level);
}

void dpl_dpt_advance(const struct dpl_dpt_levels *levels, int token, struct dpl_dpt_state *state) {
    if (!dpl_dpt_apply(levels, token, &state->at)) return;
    if (token < DPL_DPT_MOVES)
        remember_move(token, state);
    else
        forget(state);
}

int dpl_dpt_sector(const struct dpl_dpt_state *state, int move) {
    double x = move % 3 - 1, y = move / 3 - 1, east = 0, north = 0;
    for (int i = 0; i < DPL_DPT_BACK; i++) east += state->east[i], north += state->north[i];
    if (east == 0 && north == 0) return DPL_DPT_SECTORS;
    double angle = atan2(east * y - north * x, east * x + north * y);
    return (int)lrint(angle / (2 * M_PI) * DPL_DPT_SECTORS) & (DPL_DPT_SECTORS - 1);
}

size_t dpl_dpt_rows(int order) {
    size_t rows = 1;
    for (int j = 2; j < order; j++) rows *= DPL_DPT_MOVES;
    return rows;
}

size_t dpl_dpt_row(const struct dpl_dpt_levels *levels, const struct dpl_dpt_state *state,
                   int order) {
    size_t rows = dpl_dpt_rows(order);
    if (state->moves < order - 2) return SIZE_MAX;
    return dpl_dpt_node(levels, state->at) * rows + state->history % rows;
}

/* ---- reader ---- */

struct dpl_dpt_reader dpl_dpt_read(const struct dpl_dpt_levels *levels, const int32_t *cell,
                                   size_t n) {
    int level = n > 1 ? dpl_dpt_need(levels, cell[0], cell[1]) : 0;
    return (struct dpl_dpt_reader){.levels = levels,
                                   .cell = cell,
                                   .n = n,
                                   .level = level,
                                   .settled = true,
                                   .state = dpl_dpt_begin(dpl_dpt_at(levels, level, cell[0]))};
}

/* The level of the step from visit i: up at once, down when the next steps fit too. */
static int level_of(const struct dpl_dpt_reader *reader) {
    const int32_t *cell = reader->cell;
    size_t i = reader->i, last = reader->n - 1;
    int need = dpl_dpt_need(reader->levels, cell[i], cell[i + 1]), most = need;
    if (need > reader->level) return need;
    for (size_t s = i + 1; s < last && s < i + DPL_DPT_AHEAD; s++) {
        int later = dpl_dpt_need(reader->levels, cell[s], cell[s + 1]);
        if (later > most) most = later;
    }
    return most < reader->level ? most : reader->level;
}

static int clamp(int32_t difference) { return difference < 0 ? 0 : difference > 0 ? 2 : 1; }

int dpl_dpt_peek(struct dpl_dpt_reader *reader) {
    const struct dpl_dpt_levels *levels = reader->levels;
    struct dpl_dpt_at at = reader->state.at;
    if (reader->ended || reader->n == 0) return -1;
    if (reader->i + 1 >= reader->n) return DPL_DPT_END;
    if (!reader->settled) reader->level = level_of(reader), reader->settled = true;
    if (at.level < reader->level) return DPL_DPT_UP;
    if (at.level > reader->level) {
        struct dpl_dpt_at child = dpl_dpt_at(levels, at.level - 1, reader->cell[reader->i]);
        return DPL_DPT_DOWN + (child.row & 1) * 2 + (child.column & 1);
    }
    struct dpl_dpt_at to = dpl_dpt_at(levels, at.level, reader->cell[reader->i + 1]);
    return clamp(to.row - at.row) * 3 + clamp(to.column - at.column);
}

void dpl_dpt_take(struct dpl_dpt_reader *reader, int token) {
    const struct dpl_dpt_levels *levels = reader->levels;
    dpl_dpt_advance(levels, token, &reader->state);
    reader->ended = token == DPL_DPT_END;
    if (token >= DPL_DPT_MOVES) return;
    reader->i++;
    reader->settled = false;
    struct dpl_dpt_at real = dpl_dpt_at(levels, reader->state.at.level, reader->cell[reader->i]);
    if (real.row == reader->state.at.row && real.column == reader->state.at.column) return;
    reader->state.at = real; // too far for a move of the top level
    forget(&reader->state);
}
