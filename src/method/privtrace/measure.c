/* The counts of PrivTrace.
 *
 * PRIVACY: a trip of l states adds, to `grid`, the share of its visits in each level-1 block; to
 * `first`, 1/(l+1) for each of its l-1 moves, its start and its end; to `second`, 1/l for each
 * state that is a guidepost: an L1 norm of 1 at most. With Gaussian noise the weights of the chains
 * are 1/sqrt(l+1) and 1/sqrt(l): an L2 norm of 1 unless moves repeat. One dpl_exact_add a unit
 * holds it to the sensitivity, whatever the trip.
 *
 * PAPER: int64 sums on a lattice; the published program adds up in 16-bit floats, which stand still
 * at 256 for weights of 1/12. Moves that nobody can make in a slot are not in the tables. */
#include "method/privtrace/measure.h"

/* A trip's states one after the other, without repeats. */
struct steps {
    const struct dpl_privtrace_states *states;
    const int32_t *cell;
    size_t n, i; /* visits, and the next to look at */
};

/* The next state, -1 after the last. */
static int32_t next_state(struct steps *steps) {
    while (steps->i < steps->n) {
        int32_t state = steps->states->state_of[steps->cell[steps->i]];
        bool repeated = steps->i > 0 && steps->states->state_of[steps->cell[steps->i - 1]] == state;
        steps->i++;
        if (!repeated) return state;
    }
    return -1;
}

static size_t count_states(struct steps steps) {
    size_t n = 0;
    while (next_state(&steps) >= 0) n++;
    return n;
}

static enum dpl_status put_grid(struct dpl_run *run, const struct dpl_privtrace_about *about,
                                const int32_t *cell, size_t n, struct dpl_entries *list) {
    for (size_t v = 0; v < n; v++)
        DPL_TRY(dpl_entries_put(run, list, (size_t)about->coarse[cell[v]], 1 / (double)n));
    return DPL_OK;
}

/* The entry of a move, of the start (from -1) or the end (to -1); SIZE_MAX: it is in no table. */
static size_t first_entry(const struct dpl_privtrace_states *states, int32_t from, int32_t to) {
    if (from < 0) return (size_t)to;
    size_t slot = to < 0 ? dpl_privtrace_neighbours(states, (size_t)from)
                         : dpl_privtrace_slot(states, (size_t)from, (size_t)to);
    return slot == SIZE_MAX ? SIZE_MAX : dpl_privtrace_row(states, (size_t)from) + slot;
}

static size_t second_entry(const struct dpl_privtrace_about *about, int32_t before, int32_t at,
                           int32_t after) {
    const struct dpl_privtrace_states *states = about->states;
    size_t begin = about->second_at[at], side = dpl_privtrace_neighbours(states, (size_t)at) + 1;
    if (begin == about->second_at[at + 1]) return SIZE_MAX;
    size_t row = before < 0 ? side - 1 : dpl_privtrace_slot(states, (size_t)at, (size_t)before),
           column = after < 0 ? side - 1 : dpl_privtrace_slot(states, (size_t)at, (size_t)after);
    return row == SIZE_MAX || column == SIZE_MAX ? SIZE_MAX : begin + row * side + column;
}

static enum dpl_status put_chain(struct dpl_run *run, const struct dpl_privtrace_about *about,
                                 struct steps steps, struct dpl_entries *list) {
    bool second = about->table == DPL_PRIVTRACE_SECOND;
    double weight = (second ? dpl_privtrace_second_weight
                            : dpl_privtrace_first_weight)(about->shares, count_states(steps));
    int32_t before = -1, at = -1, after;
    do {
        after = next_state(&steps);
        size_t entry = !second  ? first_entry(about->states, at, after)
                       : at < 0 ? SIZE_MAX
                                : second_entry(about, before, at, after);
        if (entry != SIZE_MAX) DPL_TRY(dpl_entries_put(run, list, entry, weight));
        before = at, at = after;
    } while (after >= 0);
    return DPL_OK;
}

static enum dpl_status put_trip(struct dpl_run *run, const void *data,
                                const struct dpl_cleaned *trips, size_t trip,
                                struct dpl_entries *list) {
    const struct dpl_privtrace_about *about = data;
    const int32_t *cell = trips->cell + trips->start[trip];
    size_t n = dpl_trip_visits(trips, trip, about->length_max);
    if (n == 0) return DPL_OK;
    if (about->table == DPL_PRIVTRACE_GRID) return put_grid(run, about, cell, n, list);
    return put_chain(run, about, (struct steps){about->states, cell, n, 0}, list);
}

enum dpl_status dpl_privtrace_count(struct dpl_run *run, const void *about,
                                    const struct dpl_part *part, struct dpl_exact *exact) {
    return dpl_count_units(run, about, part, put_trip, exact);
}
