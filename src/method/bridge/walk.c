/* Sweeps of the bridge, see walk.h.
 *
 * Invariants
 *  - B > 0 at a cell exactly when there is a way from it: what may not vanish is held at FLOOR or
 *    above, which also keeps denormal numbers away. The largest B is TOP: a fast walk down a
 *    motorway has a chance of 1e-40 of that of standing still.
 *  - What is drawn is what is expected, however small its chance (tests/walk_test.c): where B was
 *    held at FLOOR, trips are passed on by the sum that it stands for.
 *  - Cells that are more hops away than steps are left are skipped.
 *  - States are headings that a walk can have in a cell, no others: a heading needs a step that
 *    leads there by that move. About half of 17 where little is fast; so a slice of B, and what a
 *    sweep works on, stays within a processor's second cache.
 * Cost: per step left, a sweep takes for each cell the product of its headings and moves, and its
 * edges, in vectors of eight floats; forward twice that. It holds length_max * n_states of them. */
#include "method/bridge/walk.h"

#include <math.h>
#include <string.h>

#include "base/clones.h"
#include "base/underflow.h"

enum { LANES = DPL_LANES, M = DPL_MOVES, Q = DPL_HEADINGS, ABREAST = DPL_HEADINGS_ABREAST };
static const float FLOOR = 1e-24f, TOP = 1e30f;
/* Of a trip, forward: what is below is left out; over TOP it would be a denormal number. And of all
 * trips of a sweep, what a state is left out at, times the states. */
static const float CHANCE_LEAST = 1e-7f, SHARE_LEFT_OUT = 1e-5f;
static const float LENGTH_LEAST = 1e-6f; // the chance of a length that is left out
static const double SHARE_MOST = 1e36;   // of trips over B: room for the sum of some
/* One float per target of the batch. */
typedef float lanes
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t mask
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));
#define INLINE                                                                                     \
    static inline                                                                                  \
        __attribute__((always_inline)) // into functions built twice, for the baseline and AVX2

void dpl_sweep_free(struct dpl_sweep *sweep) {
    if (!sweep) return;
    dpl_reverse_free(&sweep->back);
    dpl_free(sweep->block), dpl_free(sweep->around), dpl_free(sweep->into);
    dpl_free(sweep);
}

/* value = the larger of both, lane by lane. By address: a vector by value would be another ABI with
 * AVX than without. */
INLINE void lift(lanes *value, const lanes *other) {
    mask keep = *value > *other;
    *value = (lanes)((keep & (mask)*value) | (~keep & (mask)*other));
}

INLINE bool is_any(const mask *lane) {
    int32_t any = 0;
    for (int j = 0; j < LANES; j++) any |= (*lane)[j];
    return any != 0;
}

static uint8_t rank_of(const struct dpl_around *around, size_t heading) {
    uint8_t j = 0;
    while (around->heading[j] != heading) j++;
    return j;
}

/* possible (K): a bit for every heading. One is possible where its move leads to, and there its
 * slow one after a stay. */
static void find_headings(const struct dpl_walk *walk, uint32_t *possible) {
    for (size_t x = 0; x < walk->K; x++) possible[x] = 1u << DPL_NO_HEADING;
    for (size_t row = 0; row < walk->K * M; row++)
        for (int32_t e = walk->start[row]; e < walk->start[row + 1]; e++)
            possible[walk->to[e]] |= 1u << row % M | 1u << dpl_rested(row % M);
}

/* Returns how many states there are. */
static size_t look_around(const struct dpl_walk *walk, const uint32_t *possible,
                          struct dpl_around *around) {
    size_t n_states = 0;
    for (size_t x = 0; x < walk->K; x++) {
        struct dpl_around *here = &around[x];
        here->first = (int32_t)n_states;
        for (size_t m = 0; m < M; m++)
            if (walk->start[x * M + m] < walk->start[x * M + m + 1])
                here->move[here->n_moves++] = (uint8_t)m;
        for (size_t q = 0; q < Q; q++)
            if (possible[x] >> q & 1) here->heading[here->n_headings++] = (uint8_t)q;
        for (size_t j = here->n_headings; j % ABREAST > 0; j++) here->heading[j] = DPL_NO_HEADING;
        for (size_t j = 0; j < (here->n_headings + ABREAST - 1u) / ABREAST * ABREAST; j++)
            here->rested[j] = rank_of(here, dpl_rested(here->heading[j]));
        n_states += here->n_headings;
    }
    return n_states;
}

/* States of the walk, and where its steps lead to. */
static enum dpl_status number_states(struct dpl_run *run, struct dpl_sweep *sweep) {
    const struct dpl_walk *walk = sweep->walk;
    uint32_t *possible = dpl_alloc(run, walk->K, sizeof *possible);
    sweep->around = dpl_alloc(run, walk->K, sizeof *sweep->around);
    sweep->into = dpl_alloc(run, walk->n_edges, sizeof *sweep->into);
    if (!possible || !sweep->around || !sweep->into) {
        dpl_free(possible);
        return DPL_SYSTEM;
    }
    find_headings(walk, possible);
    sweep->n_states = look_around(walk, possible, sweep->around);
    for (size_t row = 0; row < walk->K * M; row++)
        for (int32_t e = walk->start[row]; e < walk->start[row + 1]; e++) {
            const struct dpl_around *there = &sweep->around[walk->to[e]];
            sweep->into[e] = there->first + rank_of(there, row % M);
        }
    dpl_free(possible);
    return DPL_OK;
}

enum dpl_status dpl_sweep_new(struct dpl_run *run, const struct dpl_walk *walk, bool forward,
                              struct dpl_sweep **into) {
    struct dpl_sweep *sweep = dpl_alloc(run, 1, sizeof *sweep);
    size_t K = walk->K;
    enum dpl_status status = DPL_SYSTEM;
    if (!sweep) return DPL_SYSTEM;
    sweep->walk = walk;
    DPL_GO(number_states(run, sweep));
    size_t slice = sweep->n_states * LANES, forward_slice = forward ? slice : 0;
    sweep->block = DPL_BLOCK(
        run, DPL_PIECE(sweep->B, walk->length_max * slice),
        DPL_PIECE(sweep->scale, walk->length_max * LANES), DPL_PIECE(sweep->weight, walk->n_edges),
        DPL_PIECE(sweep->stay, K), DPL_PIECE(sweep->hops, K), DPL_PIECE(sweep->queue, K),
        DPL_PIECE(sweep->A[0], forward_slice), DPL_PIECE(sweep->A[1], forward_slice),
        DPL_PIECE(sweep->demand, forward ? K * DPL_DISTANCE_BINS : 0),
        DPL_PIECE(sweep->longer, forward ? DPL_DISTANCE_BINS * (walk->length_max + 1) : 0));
    status = DPL_SYSTEM;
    if (!sweep->block) goto done;
    DPL_GO(dpl_edges_reverse(run, K, walk->start, walk->to, walk->n_edges, &sweep->back));
    *into = sweep;
    sweep = NULL;
done:
    dpl_sweep_free(sweep);
    return status;
}

/* ---- backward ---- */

static void set_daypart(struct dpl_sweep *sweep, size_t daypart) {
    const struct dpl_walk *walk = sweep->walk;
    const float *potential = walk->potential + daypart * walk->K,
                *speed = walk->speed + daypart * DPL_MOTION_SPEEDS;
    sweep->daypart = daypart;
    for (size_t e = 0; e < walk->n_edges; e++)
        sweep->weight[e] = walk->weight[e] * speed[walk->band[e]] * potential[walk->to[e]];
    for (size_t x = 0; x < walk->K; x++) sweep->stay[x] = walk->stay[x] * speed[0] * potential[x];
}

/* B[0] is what the cells of each lane's target weigh, and 0 elsewhere. */
static void set_targets(struct dpl_sweep *sweep, size_t first) {
    const struct dpl_walk *walk = sweep->walk;
    const struct dpl_targets *targets = walk->targets;
    const float *terminal = walk->terminal + sweep->daypart * walk->K;
    size_t end = targets->G - first < LANES ? targets->G : first + LANES;
    const int32_t *cell = targets->cell + targets->start[first];
    dpl_edges_hops(&sweep->back, walk->K, cell,
                   (size_t)(targets->start[end] - targets->start[first]), sweep->hops,
                   sweep->queue);
    memset(sweep->B, 0, sweep->n_states * LANES * sizeof *sweep->B);
    for (; cell < targets->cell + targets->start[end]; cell++) {
        const struct dpl_around *there = &sweep->around[*cell];
        size_t lane = (size_t)targets->of[*cell] - first;
        for (size_t j = 0; j < there->n_headings; j++)
            sweep->B[((size_t)there->first + j) * LANES + lane] =
                terminal[*cell] > 0 ? fmaxf(TOP * terminal[*cell], FLOOR) : 0;
    }
}

/* sum[i] = over edges of x by its i-th move: weight * B. */
INLINE void sum_moves(const struct dpl_sweep *sweep, const lanes *restrict before, size_t x,
                      lanes sum[M]) {
    const struct dpl_around *around = &sweep->around[x];
    const int32_t *start = sweep->walk->start + x * M;
    for (size_t i = 0; i < around->n_moves; i++) {
        lanes total = {0};
        for (int32_t e = start[around->move[i]]; e < start[around->move[i] + 1]; e++)
            total += sweep->weight[e] * before[sweep->into[e]];
        sum[i] = total;
    }
}

INLINE void backward_cell(const struct dpl_sweep *sweep, const lanes *restrict before,
                          lanes *restrict now, size_t x, lanes *largest) {
    const struct dpl_around *around = &sweep->around[x];
    lanes sum[M];
    sum_moves(sweep, before, x, sum);
    before += around->first, now += around->first;
    for (size_t j = 0; j < around->n_headings; j += ABREAST) {
        const float *turn[ABREAST];
        lanes total[ABREAST];
        for (size_t k = 0; k < ABREAST; k++) {
            turn[k] = sweep->walk->turn + around->heading[j + k] * DPL_NEXT;
            total[k] = sweep->stay[x] * turn[k][DPL_STAY] * before[around->rested[j + k]];
        }
        for (size_t i = 0; i < around->n_moves; i++) {
            size_t m = around->move[i];
            for (size_t k = 0; k < ABREAST; k++) total[k] += turn[k][m] * sum[i];
        }
        for (size_t k = 0; k < ABREAST && j + k < around->n_headings; k++) {
            lift(largest, &total[k]);
            now[j + k] = total[k];
        }
    }
}

/* What is above 0 stays so. */
INLINE void rescale(lanes *values, size_t n, const lanes *scale) {
    const lanes floor = FLOOR - (lanes){0}, zero = {0};
    for (size_t i = 0; i < n; i++) {
        lanes scaled = values[i] * *scale;
        lift(&scaled, &floor);
        values[i] = (lanes)((values[i] > zero) & (mask)scaled);
    }
}

DPL_CLONES void dpl_sweep_backward(struct dpl_sweep *sweep, size_t daypart, size_t first) {
    const struct dpl_walk *walk = sweep->walk;
    size_t K = walk->K, slice = sweep->n_states * LANES;
    set_daypart(sweep, daypart);
    set_targets(sweep, first);
    sweep->n_demand = 0;
    for (size_t r = 1; r < walk->length_max; r++) {
        const lanes *before = (const lanes *)(sweep->B + (r - 1) * slice);
        lanes *now = (lanes *)(sweep->B + r * slice), *scale = (lanes *)(sweep->scale + r * LANES),
              largest = {0};
        for (size_t x = 0; x < K; x++) {
            if (sweep->hops[x] > r)
                memset(now + sweep->around[x].first, 0, sweep->around[x].n_headings * sizeof *now);
            else
                backward_cell(sweep, before, now, x, &largest);
        }
        for (int j = 0; j < LANES; j++) (*scale)[j] = largest[j] > 0 ? TOP / largest[j] : 1;
        rescale(now, sweep->n_states, scale);
    }
}

/* Where a walk begins in s: its last state, without a heading. */
INLINE size_t first_state(const struct dpl_sweep *sweep, size_t s) {
    return (size_t)sweep->around[s].first + sweep->around[s].n_headings - 1;
}

bool dpl_sweep_possible(const struct dpl_sweep *sweep, size_t lane, size_t s, size_t visits) {
    size_t at = (visits - 1) * sweep->n_states + first_state(sweep, s);
    return sweep->B[at * LANES + lane] > 0;
}

/* ---- forward ---- */

void dpl_sweep_demand(struct dpl_sweep *sweep, size_t s, size_t bin, const float trips[DPL_LANES]) {
    struct dpl_demand *demand = &sweep->demand[sweep->n_demand++];
    *demand = (struct dpl_demand){.state = (int32_t)first_state(sweep, s), .bin = (uint8_t)bin};
    memcpy(demand->trips, trips, sizeof demand->trips);
}

/* Trips over the chance that their length is possible. Where there is a way there is one with a
 * stay more: all lengths from the first possible one on are. */
static void scale_demand(struct dpl_sweep *sweep) {
    size_t L = sweep->walk->length_max, slice = sweep->n_states * LANES;
    for (size_t i = 0; i < sweep->n_demand; i++) {
        struct dpl_demand *demand = &sweep->demand[i];
        const float *longer = sweep->longer + demand->bin * (L + 1),
                    *B = sweep->B + (size_t)demand->state * LANES;
        for (size_t j = 0; j < LANES; j++) {
            size_t r = 1;
            if (!(demand->trips[j] > 0)) continue;
            while (r < L && !(B[r * slice + j] > 0)) r++;
            demand->trips[j] = r < L && longer[r + 1] > 0 ? demand->trips[j] / longer[r + 1] : 0;
        }
    }
}

static void sum_longer(struct dpl_sweep *sweep, const float *lengths) {
    size_t L = sweep->walk->length_max;
    for (size_t bin = 0; bin < DPL_DISTANCE_BINS; bin++) {
        double sum = 0;
        for (size_t l = L; l > 1; l--)
            sweep->longer[bin * (L + 1) + l] = (float)(sum += (double)lengths[bin * (L + 1) + l]);
    }
}

/* Trips begin with r steps left when they have r + 1 visits. */
DPL_CLONES static void inject(const struct dpl_sweep *sweep, size_t r, const float *lengths,
                              float weight, float *A, float *trips) {
    const lanes *B = (const lanes *)(sweep->B + r * sweep->n_states * LANES), zero = {0};
    const float *chance = lengths + r + 1;
    lanes all = {0};
    for (size_t i = 0; i < sweep->n_demand; i++) {
        const struct dpl_demand *demand = &sweep->demand[i];
        float here = chance[demand->bin * (sweep->walk->length_max + 1)];
        if (here < LENGTH_LEAST) continue;
        lanes b = B[demand->state], begin = *(const lanes *)demand->trips * here;
        mask possible = b > zero;
        begin = (lanes)(possible & (mask)begin);
        all += begin;
        b = (lanes)(possible & (mask)b) + (lanes)(~possible & (mask)(1 - zero));
        ((lanes *)A)[demand->state] += begin * weight / b;
    }
    *(lanes *)trips += all;
}

/* push[m]: the shares of all headings of x, times their turns into move m. Eight sums abreast. */
INLINE void push_moves(const struct dpl_sweep *sweep, size_t x, const lanes share[Q],
                       lanes push[M]) {
    const struct dpl_around *around = &sweep->around[x];
    for (size_t first = 0; first < M; first += DPL_SECTORS) {
        lanes sum[DPL_SECTORS] = {{0}};
        for (size_t j = 0; j < around->n_headings; j++) {
            const float *turn = sweep->walk->turn + around->heading[j] * DPL_NEXT + first;
            lanes r = share[j];
            for (size_t k = 0; k < DPL_SECTORS; k++) sum[k] += r * turn[k];
        }
        for (size_t k = 0; k < DPL_SECTORS; k++) push[first + k] = sum[k];
        if (around->n_moves == 0 || around->move[around->n_moves - 1] < DPL_SECTORS) return;
    }
}

/* What one cell passes on by moves: push (its moves), times weights. */
INLINE void forward_moves(const struct dpl_sweep *sweep, const lanes *restrict before, size_t x,
                          const lanes push[M], lanes *restrict next, lanes *restrict steps) {
    const struct dpl_around *around = &sweep->around[x];
    const int32_t *start = sweep->walk->start + x * M, *into = sweep->into;
    for (size_t i = 0; i < around->n_moves; i++) {
        size_t m = around->move[i];
        lanes by = push[m];
        if (steps)
            for (int32_t e = start[m]; e < start[m + 1]; e++) {
                lanes share = by * sweep->weight[e];
                next[into[e]] += share;
                steps[e] += share * before[into[e]];
            }
        else
            for (int32_t e = start[m]; e < start[m + 1]; e++)
                next[into[e]] += by * sweep->weight[e];
    }
}

/* Still to be multiplied by the turns' weights, which is left to the end. */
INLINE void count_turns(const struct dpl_sweep *sweep, const lanes *restrict before, size_t x,
                        const lanes share[Q], lanes *restrict turns) {
    const struct dpl_around *around = &sweep->around[x];
    lanes sum[M];
    sum_moves(sweep, before, x, sum);
    for (size_t j = 0; j < around->n_headings; j++) {
        lanes *row = turns + around->heading[j] * DPL_NEXT, r = share[j];
        for (size_t i = 0; i < around->n_moves; i++) row[around->move[i]] += r * sum[i];
    }
}

/* And by staying. */
INLINE void forward_stays(const struct dpl_sweep *sweep, const lanes *restrict before, size_t x,
                          const lanes share[Q], lanes *restrict next, lanes *restrict stays,
                          lanes *restrict turns) {
    const struct dpl_around *around = &sweep->around[x];
    for (size_t j = 0; j < around->n_headings; j++) {
        size_t q = around->heading[j], at = (size_t)around->first + around->rested[j];
        lanes unturned = share[j] * sweep->stay[x],
              passed = unturned * sweep->walk->turn[q * DPL_NEXT + DPL_STAY];
        next[at] += passed;
        if (stays) *stays += passed * before[at];
        if (turns && around->rested[j] != j)
            turns[q * DPL_NEXT + DPL_STAY] += unturned * before[at];
    }
}

/* The sum over all next states that the B of state j of x stands for, where B itself was held at
 * the floor. */
static double sum_next(const struct dpl_sweep *sweep, const float *before, size_t x, size_t j,
                       size_t lane) {
    const struct dpl_walk *walk = sweep->walk;
    const struct dpl_around *around = &sweep->around[x];
    const float *turn = walk->turn + around->heading[j] * DPL_NEXT;
    size_t rested = (size_t)around->first + around->rested[j];
    double sum = (double)(sweep->stay[x] * turn[DPL_STAY]) * (double)before[rested * LANES + lane];
    for (size_t m = 0; m < M; m++)
        for (int32_t e = walk->start[x * M + m]; e < walk->start[x * M + m + 1]; e++)
            sum += (double)(turn[m] * sweep->weight[e]) *
                   (double)before[(size_t)sweep->into[e] * LANES + lane];
    return sum;
}

/* Trips in a state whose B was held at the floor are passed on whole: share (LANES) is what the
 * weights of next states are multiplied by. */
static void pass_whole(const struct dpl_sweep *sweep, size_t r, size_t x, size_t j,
                       const float *trips, float *share) {
    const float *before = sweep->B + (r - 1) * sweep->n_states * LANES,
                *B = before + (sweep->n_states + (size_t)sweep->around[x].first + j) * LANES;
    for (size_t lane = 0; lane < LANES; lane++)
        if (share[lane] > 0 && B[lane] <= FLOOR)
            share[lane] =
                (float)fmin((double)trips[lane] / sum_next(sweep, before, x, j, lane), SHARE_MOST);
}

/* All states of x, of which one at least is held. */
static void pass_held(const struct dpl_sweep *sweep, size_t r, size_t x, const float *now,
                      lanes *share) {
    const struct dpl_around *around = &sweep->around[x];
    for (size_t j = 0; j < around->n_headings; j++) {
        size_t at = ((size_t)around->first + j) * LANES;
        const float *B = sweep->B + r * sweep->n_states * LANES + at;
        float trips[LANES];
        for (size_t lane = 0; lane < LANES; lane++) trips[lane] = now[at + lane] * B[lane];
        pass_whole(sweep, r, x, j, trips, (float *)&share[j]);
    }
}

/* What the next steps will read: B was written the other way round, and lies far away in memory. */
INLINE void fetch_early(const lanes *B, size_t n) {
    for (size_t i = 0; i < n; i += 2) __builtin_prefetch(B + i, 0, 2);
}

/* All cells with r steps left: visits counted, and passed on to r - 1 unless r is 0. `now` and
 * `next` are numbers of trips over B: where a trip goes from x is in proportion to B there, so that
 * what y gets of this is its weights alone, and B is read again only to count. */
DPL_CLONES static void forward_step(const struct dpl_sweep *sweep, size_t r, const float *now,
                                    float *next, struct dpl_tally *tally) {
    size_t K = sweep->walk->K, N = sweep->n_states;
    const lanes *A = (const lanes *)now, *B = (const lanes *)(sweep->B + r * N * LANES),
                scale = *(const lanes *)(sweep->scale + r * LANES),
                least = sweep->least - (lanes){0}, floor = FLOOR - (lanes){0};
    lanes *steps = (lanes *)tally->steps, *stays = steps ? (lanes *)tally->stays : NULL,
          *turns = steps ? (lanes *)tally->turns : NULL;
    for (size_t x = 0; x < K; x++) {
        const struct dpl_around *around = &sweep->around[x];
        lanes share[Q], push[M], visits = {0};
        mask held = {0}; // at the floor, with trips enough
        float any = 0;
        if (sweep->hops[x] > r) continue;
        if (r > 1) fetch_early(B - 2 * N + around->first, around->n_headings);
        for (size_t j = 0; j < around->n_headings; j++) {
            size_t at = (size_t)around->first + j;
            lanes trips = A[at] * B[at];
            mask enough = trips > least;
            visits += (lanes)(enough & (mask)trips);
            share[j] = (lanes)(enough & (mask)(A[at] * scale));
            held |= enough & (B[at] <= floor);
        }
        ((lanes *)tally->visits)[x] += visits;
        for (int j = 0; j < LANES; j++) any += visits[j];
        if (r == 0) tally->arrivals[x] += any;
        if (r == 0 || !(any > 0)) continue;
        if (is_any(&held)) pass_held(sweep, r, x, now, share);
        push_moves(sweep, x, share, push);
        forward_moves(sweep, B - N, x, push, (lanes *)next, steps);
        if (turns) count_turns(sweep, B - N, x, share, turns);
        forward_stays(sweep, B - N, x, share, (lanes *)next, stays, turns);
    }
}

/* So little in one state of one step that all of it together does not matter. */
static float least_for(const struct dpl_sweep *sweep) {
    float trips = 0;
    for (size_t i = 0; i < sweep->n_demand; i++)
        for (size_t j = 0; j < LANES; j++) trips += sweep->demand[i].trips[j];
    return fmaxf(CHANCE_LEAST, SHARE_LEFT_OUT * trips / (float)sweep->n_states);
}

void dpl_sweep_forward(struct dpl_sweep *sweep, const float *lengths, const float *counts,
                       struct dpl_tally *tally) {
    const struct dpl_walk *walk = sweep->walk;
    size_t slice = sweep->n_states * LANES;
    float *now = sweep->A[0], *next = sweep->A[1];
    uint64_t before = dpl_underflow_to_zero(); // of 1e-10 of a trip, most of what cells pass on
    sweep->least = least_for(sweep);
    sum_longer(sweep, lengths);
    scale_demand(sweep);
    memset(now, 0, slice * sizeof *now);
    for (size_t r = walk->length_max - 1;; r--) {
        inject(sweep, r, lengths, counts[r + 1], now, tally->lengths + (r + 1) * LANES);
        memset(next, 0, slice * sizeof *next);
        forward_step(sweep, r, now, next, tally);
        if (r == 0) break;
        float *swap = now;
        now = next, next = swap;
    }
    dpl_underflow_as(before);
}

/* ---- drawing ---- */

/* The weights of all next states sum up to `total`; u of [0, total) picks one, *state of the cell
 * *x. The last possible one is taken if rounding leaves some of u over. */
static double pick_step(const struct dpl_sweep *sweep, const float *B, size_t lane, double u,
                        size_t *x, size_t *state) {
    const struct dpl_walk *walk = sweep->walk;
    size_t from = *x;
    const struct dpl_around *around = &sweep->around[from];
    size_t j = *state - (size_t)around->first, rested = (size_t)around->first + around->rested[j];
    const float *turn = walk->turn + around->heading[j] * DPL_NEXT;
    double total = (double)(sweep->stay[from] * turn[DPL_STAY]) * (double)B[rested * LANES + lane];
    bool found = total > u;
    if (total > 0) *state = rested;
    for (size_t m = 0; m < M && !found; m++)
        for (int32_t e = walk->start[from * M + m]; e < walk->start[from * M + m + 1] && !found;
             e++) {
            size_t into = (size_t)sweep->into[e];
            double w = (double)(turn[m] * sweep->weight[e]) * (double)B[into * LANES + lane];
            if (!(w > 0)) continue;
            total += w;
            *x = (size_t)walk->to[e], *state = into;
            found = total > u;
        }
    return total;
}

void dpl_sweep_draw(const struct dpl_sweep *sweep, size_t lane, size_t s, size_t visits,
                    struct dpl_stream *stream, int32_t *path) {
    size_t x = s, state = first_state(sweep, s);
    path[0] = (int32_t)s;
    for (size_t r = visits - 1; r > 0; r--) {
        const float *B = sweep->B + (r - 1) * sweep->n_states * LANES;
        size_t last = x, last_state = state;
        double total = pick_step(sweep, B, lane, __builtin_inf(), &last,
                                 &last_state); // B itself may have been held at the floor
        pick_step(sweep, B, lane, dpl_stream_uniform(stream) * total, &x, &state);
        path[visits - r] = (int32_t)x;
    }
}
