/* DPT (after He, Cormode, Machanavajjhala, Procopiuc, Srivastava, PVLDB 8(11), 2015): what its fit
 * and its synthesis have in common. All of it is public, or made of released numbers.
 * PAPER?: the paper itself could not be consulted; idea by its abstract, details ours.
 *
 * One grid cannot carry all speeds. So there are several: level m has cells of 2^m cells of the
 * public grid along a side, up to the level in which nobody can skip a neighbour in one slot. Each
 * step of a trip is a move to one of the 3 x 3 neighbours in the finest level where it is one; in
 * between the trip changes level without moving.
 *
 *     level 2  +---------------+        START(1, .) MOVE(east) UP MOVE(north) DOWN(2) MOVE(stay)
 * END level 1  +-------+-------+ level 0  +---+---+---+---+        nodes: all cells of level 0,
 * then of level 1, ...
 *
 * Table j of the model (2 <= j <= order) has a row of token counts for each node and each sequence
 * of the j - 2 moves before, which all were made in this level since the trip came there. */
#ifndef DPL_METHOD_DPT_DPT_H
#define DPL_METHOD_DPT_DPT_H

#include "sample/generator.h"

/* Tokens: nine moves, row by row from the south-west, then the rest. */
enum {
    DPL_DPT_MOVES = 9,
    DPL_DPT_STAY = 4,
    DPL_DPT_UP = 9,
    DPL_DPT_DOWN = 10, /* to one of four children, row by row from the south-west */
    DPL_DPT_CHILDREN = 4,
    DPL_DPT_END = 14,
    DPL_DPT_TOKENS = 15
};
enum {
    DPL_DPT_LEVELS = 16, /* at most */
    DPL_DPT_ORDER = 3,   /* tokens of the longest gram */
    DPL_DPT_ORDER_MOST = 6,
    DPL_DPT_AHEAD = 3,   /* steps that must fit a finer level before a trip goes there */
    DPL_DPT_BACK = 6,    /* moves that the direction looks back */
    DPL_DPT_SECTORS = 8, /* of 45 degrees, the first straight on */
    DPL_DPT_HEADINGS = 9 /* sectors, and no direction yet */
};

/* ---- levels ---- */

struct dpl_dpt_levels {
    int32_t rows, columns;            /* of the public grid */
    int top;                          /* the coarsest level */
    bool kept[DPL_DPT_LEVELS];        /* level 0 and the top always */
    size_t first[DPL_DPT_LEVELS + 1]; /* node of each level's first cell; at top + 1 their number */
};
/* All levels that the speed limit asks for, all kept. */
struct dpl_dpt_levels dpl_dpt_levels_make(const struct dpl_grid *grid);
/* Leaves out levels between 0 and the top: below 1 % of the moves, or with so few that the nodes
 * would hold noise. moves (top + 1): noised numbers of moves by level; `mass`: of all trips' tokens
 * in a table of that deviation. */
void dpl_dpt_levels_choose(const double *moves, double mass, double deviation,
                           struct dpl_dpt_levels *levels);

/* A cell of a level. */
struct dpl_dpt_at {
    int level;
    int32_t row, column;
};
struct dpl_dpt_at dpl_dpt_at(const struct dpl_dpt_levels *levels, int level, int32_t cell);
size_t dpl_dpt_node(const struct dpl_dpt_levels *levels, struct dpl_dpt_at at);
/* The place that a token leads to; false: it leads out of the box, or to no level. END leads to
 * where it is. A jump up skips levels that are left out; a jump down passes them child by child. */
bool dpl_dpt_apply(const struct dpl_dpt_levels *levels, int token, struct dpl_dpt_at *at);
/* Whether a trip may go on by this token there: what dpl_dpt_apply allows, and in a level that is
 * left out only jumps down. */
bool dpl_dpt_legal(const struct dpl_dpt_levels *levels, int token, struct dpl_dpt_at at);
/* The finest kept level in which a step between two cells of the grid is a move; the top when it is
 * none even there. */
int dpl_dpt_need(const struct dpl_dpt_levels *levels, int32_t from, int32_t to);

/* ---- the state of a trip ---- */

/* Where it is, and what it did last. */
struct dpl_dpt_state {
    struct dpl_dpt_at at;
    int moves;      /* in this level since the trip came there */
    size_t history; /* the last DPL_DPT_ORDER_MOST - 2 of them, the newest as the last digit */
    int32_t east[DPL_DPT_BACK],
        north[DPL_DPT_BACK]; /* the last moves that were no stays, in cells */
    int turns;               /* how many there were */
};
struct dpl_dpt_state dpl_dpt_begin(struct dpl_dpt_at at);
void dpl_dpt_advance(const struct dpl_dpt_levels *levels, int token, struct dpl_dpt_state *state);
/* Sector of a move that is no stay against the sum of the last moves; DPL_DPT_SECTORS: none. */
int dpl_dpt_sector(const struct dpl_dpt_state *state, int move);
/* 9^(order - 2): rows of a node in the table of that order. */
size_t dpl_dpt_rows(int order);
/* Row of the table of that order (2 and more) that the state reads; SIZE_MAX: too few moves. */
size_t dpl_dpt_row(const struct dpl_dpt_levels *levels, const struct dpl_dpt_state *state,
                   int order);

/* ---- a trip as tokens ---- */

/* Reads the tokens of a trip one by one; needs no memory. */
struct dpl_dpt_reader {
    const struct dpl_dpt_levels *levels;
    const int32_t *cell; /* (n) */
    size_t n, i;         /* i: the visit that the trip is at */
    int level;           /* of the step from there */
    bool settled, ended; /* that level is known; the trip is over */
    struct dpl_dpt_state state;
};
struct dpl_dpt_reader dpl_dpt_read(const struct dpl_dpt_levels *levels, const int32_t *cell,
                                   size_t n);
/* The next token, -1 after END; the state is then still that before the token. */
int dpl_dpt_peek(struct dpl_dpt_reader *reader);
/* Takes the token that was peeked at. */
void dpl_dpt_take(struct dpl_dpt_reader *reader, int token);

/* ---- from noised tables to a model ---- */

/* A noised table of one order. */
struct dpl_dpt_noised {
    const double *value; /* (nodes, rows, DPL_DPT_TOKENS) */
    double deviation;
    bool laplace;
};
/* Chances of tokens: chance[j] (nodes, rows, DPL_DPT_TOKENS) for j = 2 ... order, zero rows where
 * the walk has to take the next shorter context. */
void dpl_dpt_estimate(const struct dpl_dpt_levels *levels, int order,
                      const struct dpl_dpt_noised *noised, float *const *chance);

/* ---- drawing ---- */

/* What is released; all chances, but for the turns. */
struct dpl_dpt_parts {
    struct dpl_dpt_levels levels;
    int order;
    const float *starts;                               /* (nodes) */
    const float *order_chance[DPL_DPT_ORDER_MOST + 1]; /* [j], see dpl_dpt_estimate */
    const float *visits;                               /* (cells of the grid) */
    float turn[DPL_DPT_HEADINGS];                      /* weights of moves by sector */
};
struct dpl_dpt_walker;
/* `parts` must outlive it. Free with dpl_dpt_walker_free. */
enum dpl_status dpl_dpt_walker_new(struct dpl_run *run, const struct dpl_dpt_parts *parts,
                                   struct dpl_dpt_walker **walker);
void dpl_dpt_walker_free(struct dpl_dpt_walker *walker);
/* Weights of the tokens that may come next after that many visits; false: none has any. */
bool dpl_dpt_next(const struct dpl_dpt_walker *walker, const struct dpl_dpt_state *state,
                  size_t visits, double weight[DPL_DPT_TOKENS]);
/* A trip of 2 to length_max visits in cells of the grid. heading (DPL_DPT_HEADINGS): its moves by
 * sector are added there; NULL: not asked for. Returns the number of visits. */
size_t dpl_dpt_draw(const struct dpl_dpt_walker *walker, struct dpl_stream *stream,
                    size_t length_max, int32_t *cell, double *heading);
/* Sets parts->turn so that walks turn as often as the noised table `headings` says. */
enum dpl_status dpl_dpt_estimate_turns(struct dpl_run *run, const double *headings,
                                       size_t length_max, struct dpl_dpt_parts *parts);

#endif
