/* Calibration: what the walk does in expectation is brought to what the tables say.
 *
 *     round:  sweep all targets in all dayparts, backward and forward
 *             -> the expected number of every step, turn, visit, arrival and length, exactly
 *             -> each weight *= (wanted / expected)^power
 *             -> flows that visits contradict are tilted, in a few rounds of the day (tilt.c)
 *
 *     phases          the day is   targets   adjusted
 *     of the day      one part     a third   steps, turns, speeds, potentials; flows are tilted
 *     the same        one part     all       steps, turns, speeds, potentials
 *     by daypart      P parts      all       steps, speeds, potentials, lengths of a daypart
 *     the last        P parts      all       potentials
 *
 * Powers are below 1 because steps, turns and visits overlap. Terminal weights are adjusted in all
 * rounds. While steps are far from right, sweeps to few targets tell as well where they are wrong,
 * for a third of the time; what they get wrong within a target the phases with all of them mend.
 * Anderson mixing (mixing.c) brings the potentials to where visits are right. What is wanted has
 * been estimated before, so that noise is not chased; expectations weigh trips by their length, as
 * the measurements do.
 *
 * Invariants
 *  - PRIVACY: sees tables, never data.
 *  - Blocks of batches are fixed and added up in order: the same bits for any number of threads.
 *  - The best state of a phase is kept, and is what comes out.
 *  - Trips by source and target are listed once, for as many rounds as the flows stay the same.
 * Cost: (day rounds + rounds * dayparts) * targets / 8 sweeps (walk.c), at most about WALK_WORK
 * multiplications where that is not fewer than the fewest rounds. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/clones.h"
#include "method/bridge/constants.h"
#include "method/bridge/mixing.h"
#include "method/bridge/walk.h"

enum { BLOCKS = 16, LANES = DPL_LANES, TURNS = DPL_HEADINGS * DPL_NEXT, BANDS = DPL_MOTION_SPEEDS };

/* Sums over all sweeps of a round. */
struct expected {
    double *visits;   /* (P, K) */
    double *arrivals; /* (P, K) */
    double *steps;    /* (n_edges) */
    double *speeds;   /* (P, BANDS) the same by length, and stays */
    double turns[TURNS];
    double *lengths; /* (length_max + 1) */
};

/* Of one thread: what a batch is counted in. */
struct scratch {
    void *room;         /* what the arrays point into */
    float *trips;       /* (K, DPL_DISTANCE_BINS, LANES) by source, to eight targets */
    float *to;          /* (K) from one source to each of their cells */
    double *factor;     /* (H, K) what each of their cells has, by hour */
    double *zone, *sum; /* (K) likewise: what its zone has; room */
    float *steps;       /* (n_edges, LANES) */
    float *visits;      /* (K, LANES) */
    float *arrivals;    /* (K) */
};

struct block {
    void *room; /* what the arrays point into */
    struct dpl_tally tally;
    struct scratch *scratch;    /* of the thread that sweeps it */
    double *visits, *arrivals;  /* (P, K) */
    double *steps;              /* (n_edges) */
    double *speeds;             /* (P, BANDS) */
    float stays[LANES], *turns; /* (TURNS, LANES) */
};

/* Trips from a source to eight targets at a distance. */
struct demand {
    float trips[LANES];
    int32_t source;
    uint8_t bin;
};

struct demand_list {
    size_t n;
    struct demand *demand;
};

/* Rounds of one kind. */
struct phase {
    size_t rounds, targets; /* at most that many targets */
    bool day;               /* the day as one part: turns are adjusted */
    bool tilts;             /* flows may be tilted */
    bool steps;             /* steps and speeds are adjusted; else they rest */
    bool last;
};

struct calibration {
    void *room; /* what the arrays point into */
    const struct dpl_places *places;
    const struct dpl_bridge_tables *tables;
    const struct dpl_edges *edges;
    const struct dpl_flows *flows;
    struct dpl_flows_made *made; /* the same, where they may be tilted */
    double *tilt;                /* (Z) so far */
    size_t tilt_round;           /* the first that may tilt them again */
    float *lengths;
    struct demand_list *demand; /* (P * batches) by daypart and eight targets */
    struct dpl_calibrated *weights;
    struct dpl_walk walk;
    int n_threads;
    struct dpl_sweep **sweep; /* (n_threads) */
    struct scratch *scratch;  /* (n_threads) */
    struct block block[BLOCKS];
    struct expected expected;
    double *wanted_visits;   /* (P, K) */
    double *wanted_arrivals; /* (P, K) */
    double *mixing_weights;  /* (P, K), then (P, BANDS) */
    double *mixed, *moves;   /* likewise: logarithms of potentials and speeds, and what this round
                                would add to them */
    struct dpl_mixing mixing;
    double pace; /* of all turning, 1 or less */
    double best_gap;
    struct dpl_calibrated best; /* the state with that gap */
    float *counts; /* (length_max + 1) what a trip of each length counts in the tables */
    double wanted_turns[TURNS];
    double *wanted_speeds;  /* (P, BANDS) */
    double *wanted_lengths; /* (length_max + 1) */
};

/* ---- a round of sweeps ---- */

static size_t batches_of(const struct calibration *all) {
    return (all->walk.targets->G + LANES - 1) / LANES;
}

/* The hours of a daypart of the flows or, where the day is one part, of all of them. */
static size_t first_hour(const struct dpl_flows *flows, size_t parts, size_t part) {
    return (part * flows->H + parts - 1) / parts;
}

/* What does not hang on the source of trips to `cell` (n) in the hours from ... to-1. */
static void gather_ends(const struct dpl_flows *flows, size_t from, size_t to, const int32_t *cell,
                        size_t n, double *factor) {
    for (size_t h = from; h < to; h++)
        for (size_t i = 0; i < n; i++)
            factor[(h - from) * n + i] =
                (double)flows->destination_factor[h * flows->K + (size_t)cell[i]];
}

/* Trips from s to these cells, into scratch->to. */
DPL_CLONES static void flow_to(const struct dpl_flows *flows, size_t from, size_t to, size_t s,
                               const int32_t *cell, size_t n, struct scratch *scratch) {
    const float *pooled = flows->pooled + s * flows->K;
    double *sum = scratch->sum;
    memset(sum, 0, n * sizeof *sum);
    for (size_t h = from; h < to; h++) {
        const double source = (double)flows->source_factor[h * flows->K + s],
                     *factor = scratch->factor + (h - from) * n;
        for (size_t i = 0; i < n; i++) sum[i] += source * factor[i];
    }
    for (size_t i = 0; i < n; i++)
        scratch->to[i] = (float)(sum[i] * (double)pooled[cell[i]] * scratch->zone[i]);
}

/* Those in the hours from ... to-1, by source and distance, added to scratch->trips. */
static void sum_hours(const struct calibration *all, size_t from, size_t to, size_t first,
                      size_t end, struct scratch *scratch) {
    const struct dpl_targets *targets = all->walk.targets;
    const struct dpl_flows *flows = all->flows;
    const int32_t *cell = targets->cell + targets->start[first];
    size_t K = all->places->K, n = (size_t)(targets->start[end] - targets->start[first]);
    gather_ends(flows, from, to, cell, n, scratch->factor);
    for (size_t s = 0; s < K; s++) {
        if (s == 0 || flows->zone[s] != flows->zone[s - 1])
            for (size_t i = 0; i < n; i++)
                scratch->zone[i] =
                    (double)flows->zone_factor[dpl_flow_zones(flows, from, s, (size_t)cell[i])];
        flow_to(flows, from, to, s, cell, n, scratch);
        for (size_t i = 0; i < n; i++) {
            size_t d = (size_t)cell[i], lane = (size_t)targets->of[d] - first,
                   at = s * DPL_DISTANCE_BINS + dpl_places_distance_bin(all->places, s, d);
            scratch->trips[at * LANES + lane] += scratch->to[i];
        }
    }
}

/* Trips to eight targets in a daypart, by source and distance. */
static void sum_demand(const struct calibration *all, size_t daypart, size_t first,
                       struct scratch *scratch) {
    const struct dpl_flows *flows = all->flows;
    size_t K = all->places->K, G = all->walk.targets->G,
           end = G - first < LANES ? G : first + LANES;
    memset(scratch->trips, 0, K * DPL_DISTANCE_BINS * LANES * sizeof *scratch->trips);
    for (size_t part = 0; part < flows->P; part++) {
        size_t from = first_hour(flows, flows->P, part), to = first_hour(flows, flows->P, part + 1);
        if (from < to && dpl_places_daypart(all->places, from) == daypart)
            sum_hours(all, from, to, first, end, scratch);
    }
}

/* Those of `trips` that are any, by distance: returns how many; out NULL: they are but counted. */
static size_t list_demand(const float *trips, size_t K, struct demand *out) {
    size_t n = 0;
    for (size_t bin = 0; bin < DPL_DISTANCE_BINS; bin++)
        for (size_t s = 0; s < K; s++) {
            const float *from = trips + (s * DPL_DISTANCE_BINS + bin) * LANES;
            float any = 0;
            for (size_t lane = 0; lane < LANES; lane++) any += from[lane];
            if (!(any > 0)) continue;
            if (out) {
                out[n] = (struct demand){.source = (int32_t)s, .bin = (uint8_t)bin};
                memcpy(out[n].trips, from, sizeof out[n].trips);
            }
            n++;
        }
    return n;
}

static enum dpl_status find_list(struct dpl_run *run, const struct calibration *all, size_t i,
                                 struct scratch *scratch) {
    struct demand_list *list = &all->demand[i];
    size_t P = all->places->P;
    sum_demand(all, i % P, i / P * LANES, scratch);
    list->n = list_demand(scratch->trips, all->places->K, NULL);
    if (!(list->demand = dpl_alloc(run, list->n, sizeof *list->demand))) return DPL_SYSTEM;
    list_demand(scratch->trips, all->places->K, list->demand);
    return DPL_OK;
}

static void forget_demand(struct calibration *all) {
    for (size_t i = 0; i < batches_of(all) * all->places->P; i++) {
        dpl_free(all->demand[i].demand);
        all->demand[i] = (struct demand_list){.n = 0};
    }
}

/* All trips, for as many rounds as the flows stay the same. */
static enum dpl_status find_demand(struct dpl_run *run, struct calibration *all) {
    size_t n = batches_of(all) * all->places->P;
    bool failed = false;
    forget_demand(all);
#pragma omp parallel for num_threads(all->n_threads) schedule(dynamic, 1) reduction(|| : failed)
    for (size_t i = 0; i < n; i++)
        failed = (!dpl_interrupted(run) &&
                  find_list(run, all, i, &all->scratch[omp_get_thread_num()]) != DPL_OK) ||
                 failed;
    DPL_TRY(dpl_check_interrupt(run));
    return failed ? DPL_SYSTEM : DPL_OK;
}

static void demand_batch(const struct calibration *all, size_t daypart, size_t first,
                         struct dpl_sweep *sweep) {
    const struct demand_list *list = &all->demand[first / LANES * all->places->P + daypart];
    for (size_t k = 0; k < list->n; k++)
        dpl_sweep_demand(sweep, (size_t)list->demand[k].source, list->demand[k].bin,
                         list->demand[k].trips);
}

static void add_lanes(const float *lanes, size_t n, double *sum) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < LANES; j++) sum[i] += (double)lanes[i * LANES + j];
}

/* What the steps of a batch come to, whatever the daypart, and by length in this one. */
static void add_steps(const struct calibration *all, size_t daypart, struct block *block) {
    double *speeds = block->speeds + daypart * BANDS;
    for (size_t e = 0; e < all->walk.n_edges; e++) {
        double sum = 0;
        add_lanes(block->tally.steps + e * LANES, 1, &sum);
        block->steps[e] += sum;
        speeds[all->walk.band[e]] += sum;
    }
    add_lanes(block->stays, 1, speeds);
}

static void sweep_batch(const struct calibration *all, size_t daypart, size_t first,
                        struct dpl_sweep *sweep, struct block *block) {
    size_t K = all->places->K;
    memset(block->tally.visits, 0, K * LANES * sizeof *block->tally.visits);
    memset(block->tally.arrivals, 0, K * sizeof *block->tally.arrivals);
    if (block->tally.steps)
        memset(block->tally.steps, 0, all->walk.n_edges * LANES * sizeof *block->tally.steps);
    memset(block->stays, 0, sizeof block->stays);
    dpl_sweep_backward(sweep, daypart, first);
    demand_batch(all, daypart, first, sweep);
    dpl_sweep_forward(sweep,
                      all->lengths + daypart * DPL_DISTANCE_BINS * (all->walk.length_max + 1),
                      all->counts, &block->tally);
    add_lanes(block->tally.visits, K, block->visits + daypart * K);
    for (size_t k = 0; k < K; k++)
        block->arrivals[daypart * K + k] += (double)block->tally.arrivals[k];
    if (block->tally.steps) add_steps(all, daypart, block);
}

static void sweep_block(struct dpl_run *run, const struct calibration *all, size_t b,
                        struct dpl_sweep *sweep, struct block *block) {
    size_t K = all->places->K, P = all->places->P, batches = batches_of(all);
    memset(block->steps, 0, all->walk.n_edges * sizeof *block->steps);
    memset(block->speeds, 0, P * BANDS * sizeof *block->speeds);
    memset(block->turns, 0, TURNS * LANES * sizeof *block->turns);
    memset(block->tally.lengths, 0,
           (all->walk.length_max + 1) * LANES * sizeof *block->tally.lengths);
    memset(block->visits, 0, P * K * sizeof *block->visits);
    memset(block->arrivals, 0, P * K * sizeof *block->arrivals);
    for (size_t i = b; i < batches * P && !dpl_interrupted(run); i += BLOCKS)
        sweep_batch(all, i % P, i / P * LANES, sweep, block);
}

/* Steps and turns cost a part of a round: they are counted where they are going to be adjusted. */
static enum dpl_status sweep_all(struct dpl_run *run, struct calibration *all, bool steps,
                                 bool turns) {
    size_t K = all->places->K, P = all->places->P, E = all->walk.n_edges;
    struct expected *expected = &all->expected;
    DPL_TRY(dpl_check_interrupt(run));
#pragma omp parallel for num_threads(all->n_threads) schedule(dynamic, 1)
    for (size_t b = 0; b < BLOCKS; b++) {
        struct block *block = &all->block[b];
        block->scratch = &all->scratch[omp_get_thread_num()];
        block->tally.visits = block->scratch->visits;
        block->tally.arrivals = block->scratch->arrivals;
        block->tally.steps = steps ? block->scratch->steps : NULL;
        block->tally.stays = block->stays, block->tally.turns = turns ? block->turns : NULL;
        sweep_block(run, all, b, all->sweep[omp_get_thread_num()], block);
        dpl_progress_add(run, 1);
    }
    DPL_TRY(dpl_check_interrupt(run)); // a block may be half done
    memset(expected->visits, 0, P * K * sizeof *expected->visits),
        memset(expected->steps, 0, E * sizeof *expected->steps);
    memset(expected->arrivals, 0, P * K * sizeof *expected->arrivals);
    memset(expected->turns, 0, sizeof expected->turns),
        memset(expected->speeds, 0, P * BANDS * sizeof *expected->speeds);
    memset(expected->lengths, 0, (all->walk.length_max + 1) * sizeof *expected->lengths);
    for (size_t b = 0; b < BLOCKS; b++) {
        const struct block *block = &all->block[b];
        dpl_add_rows(block->steps, 1, E, 1, expected->steps);
        dpl_add_rows(block->speeds, 1, P * BANDS, 1, expected->speeds);
        dpl_add_rows(block->visits, 1, P * K, 1, expected->visits);
        dpl_add_rows(block->arrivals, 1, P * K, 1, expected->arrivals);
        add_lanes(block->turns, TURNS, expected->turns);
        add_lanes(block->tally.lengths, all->walk.length_max + 1, expected->lengths);
    }
    for (size_t i = 0; i < TURNS; i++) expected->turns[i] *= (double)all->weights->turn[i];
    return DPL_OK;
}

/* ---- turning ---- */

static double sum_of(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    return sum;
}

/* By shares of the totals, held within most and 1 / most. */
static double adjust_by(double wanted, double expected, double most, double power) {
    return pow(fmin(fmax(wanted / (expected + 1e-12), 1 / most), most), power);
}

static void adjust_steps(struct calibration *all) {
    const double *wanted = all->edges->steps, *got = all->expected.steps;
    double wanted_all = sum_of(wanted, all->edges->n), got_all = sum_of(got, all->edges->n);
    for (size_t e = 0; e < all->edges->n; e++)
        all->weights->weight[e] *=
            (float)adjust_by(wanted[e] / wanted_all, got[e] / got_all, 2, all->pace * STEP_POWER);
}

/* Headings and stays that are not measured keep their weight. */
static void adjust_turns(struct calibration *all) {
    double wanted_all = sum_of(all->wanted_turns, TURNS),
           got_all = sum_of(all->expected.turns, TURNS);
    for (size_t i = 0; i < TURNS; i++)
        if (all->wanted_turns[i] > 0)
            all->weights->turn[i] *=
                (float)adjust_by(all->wanted_turns[i] / wanted_all,
                                 all->expected.turns[i] / got_all, 3, all->pace * TURN_POWER);
}

/* The cells of a target, `n` of them, in one daypart: their weights times (wanted / got)^power, of
 * which the largest is then 1. wanted, got, terminal (K). */
static void adjust_target(const int32_t *cell, size_t n, const double *wanted, const double *got,
                          double power, float *terminal) {
    double wanted_all = 1e-9, got_all = 1e-9;
    float most = 0;
    for (size_t i = 0; i < n; i++) wanted_all += wanted[cell[i]], got_all += got[cell[i]];
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)cell[i];
        terminal[k] *= (float)adjust_by(wanted[k] / wanted_all, got[k] / got_all, 3, power);
        most = fmaxf(most, terminal[k]);
    }
    for (size_t i = 0; i < n; i++)
        terminal[cell[i]] = fmaxf(terminal[cell[i]] / most, TERMINAL_LEAST);
}

static void adjust_terminals(struct calibration *all) {
    const struct dpl_targets *targets = all->walk.targets;
    size_t K = all->places->K;
    for (size_t p = 0; p < all->places->P; p++)
        for (size_t g = 0; g < targets->G; g++)
            adjust_target(targets->cell + targets->start[g],
                          (size_t)(targets->start[g + 1] - targets->start[g]),
                          all->wanted_arrivals + p * K, all->expected.arrivals + p * K,
                          all->pace * TERMINAL_POWER, all->weights->terminal + p * K);
}

/* Where rounds begin, a terminal weight is what is wanted there; what the rounds of the day have
 * made of it is handed on to the dayparts as a factor. */
static void start_terminals(struct calibration *all) {
    for (size_t i = 0; i < all->places->P * all->places->K; i++)
        all->weights->terminal[i] *= (float)(all->wanted_arrivals[i] + 1e-9);
    memcpy(all->expected.arrivals, all->wanted_arrivals,
           all->places->P * all->places->K * sizeof *all->wanted_arrivals);
    adjust_terminals(all); // to a largest of 1
}

static void end_terminals(struct calibration *all) {
    for (size_t i = 0; i < all->places->P * all->places->K; i++)
        all->weights->terminal[i] /= (float)(all->wanted_arrivals[i] + 1e-9);
}

/* By which power of length the trips of a daypart must get longer for its visits to be as many as
 * its share of all that is wanted. */
static double part_power(const struct calibration *all, size_t p) {
    size_t K = all->places->K, n = all->places->P * K;
    const double *wanted = all->wanted_visits, *got = all->expected.visits;
    return PART_LENGTH_POWER * log(adjust_by(sum_of(wanted + p * K, K) / sum_of(wanted, n),
                                             sum_of(got + p * K, K) / sum_of(got, n), 1.5, 1));
}

/* Every length by the same factor at all distances and, while `parts`, by a power of itself in each
 * daypart; rows sum up to 1 again. */
static void adjust_lengths(struct calibration *all, bool parts) {
    size_t n = all->walk.length_max + 1;
    const double *wanted = all->wanted_lengths, *got = all->expected.lengths;
    double wanted_all = sum_of(wanted, n), got_all = sum_of(got, n);
    for (size_t row = 0; row < all->places->P * DPL_DISTANCE_BINS; row++) {
        float *chance = all->lengths + row * n;
        double sum = 0, power = parts ? part_power(all, row / DPL_DISTANCE_BINS) : 0;
        for (size_t l = 2; l < n; l++)
            sum += (double)(chance[l] *= (float)(adjust_by(wanted[l] / wanted_all, got[l] / got_all,
                                                           2, LENGTH_POWER) *
                                                 pow((double)l, power)));
        for (size_t l = 2; l < n && sum > 0; l++) chance[l] = (float)((double)chance[l] / sum);
    }
}

/* How far what is expected is from what is wanted, as a share of all. */
static double gap_of(const double *wanted, const double *got, size_t n) {
    double wanted_all = sum_of(wanted, n), got_all = sum_of(got, n), gap = 0;
    for (size_t i = 0; i < n; i++) gap += fabs(wanted[i] / wanted_all - got[i] / got_all);
    return gap / 2;
}

static void copy_weights(const struct calibration *all, const struct dpl_calibrated *from,
                         struct dpl_calibrated *to) {
    size_t K = all->places->K;
    memcpy(to->weight, from->weight, all->edges->n * sizeof *to->weight);
    memcpy(to->turn, from->turn, TURNS * sizeof *to->turn);
    memcpy(to->speed, from->speed, all->places->P * BANDS * sizeof *to->speed);
    memcpy(to->potential, from->potential, all->places->P * K * sizeof *to->potential);
    memcpy(to->terminal, from->terminal, all->places->P * K * sizeof *to->terminal);
}

/* Where long trips spend their spare time depends on small differences, so that too long a step
 * diverges, faster every round. Keeps the best state; from a worse one goes back to it, and on at
 * half the pace. What counts is visits and, while they are adjusted, steps. True: went back. */
static bool keep_best(struct calibration *all, bool steps) {
    double gap = gap_of(all->wanted_visits, all->expected.visits, all->places->P * all->places->K);
    if (steps) gap += STEP_GAP * gap_of(all->edges->steps, all->expected.steps, all->edges->n);
    if (gap < all->best_gap) {
        all->best_gap = gap;
        copy_weights(all, all->weights, &all->best);
    }
    if (gap <= SWING * all->best_gap) return false;
    copy_weights(all, &all->best, all->weights);
    dpl_mixing_forget(&all->mixing);
    all->pace /= 2;
    return true;
}

/* What this round would add to the logarithms of the potentials: shares within each daypart, since
 * how many visits there are in all is for the lengths to say. */
static void move_potentials(const struct calibration *all, double *moves) {
    size_t K = all->places->K;
    for (size_t p = 0; p < all->places->P; p++) {
        const double *wanted = all->wanted_visits + p * K, *got = all->expected.visits + p * K;
        double wanted_all = sum_of(wanted, K), scale = wanted_all / sum_of(got, K),
               damp = fmax(all->tables->visits.sigma, VISITS_LEAST * wanted_all);
        for (size_t k = 0; k < K; k++)
            moves[p * K + k] = log(adjust_by(wanted[k] + damp, got[k] * scale + damp, 2, 1));
    }
}

/* Likewise of the speeds. */
static void move_speeds(const struct calibration *all, double *moves) {
    for (size_t p = 0; p < all->places->P; p++) {
        const double *wanted = all->wanted_speeds + p * BANDS,
                     *got = all->expected.speeds + p * BANDS;
        double wanted_all = sum_of(wanted, BANDS), scale = wanted_all / sum_of(got, BANDS),
               damp = VISITS_LEAST * wanted_all;
        for (size_t i = 0; i < BANDS; i++)
            moves[p * BANDS + i] =
                got[i] > 0 ? log(adjust_by(wanted[i] + damp, got[i] * scale + damp, 2, 1)) : 0;
    }
}

static void take_logarithms(const float *values, size_t n, double *logarithms) {
    for (size_t i = 0; i < n; i++) logarithms[i] = log((double)values[i]);
}

static void hold_within(const double *logarithms, size_t n, double least, double most,
                        float *values) {
    for (size_t i = 0; i < n; i++) values[i] = (float)fmin(fmax(exp(logarithms[i]), least), most);
}

/* Potentials and, unless these rest, speeds together: where a trip has time to be depends on how
 * fast it is. */
static void adjust_potentials(struct calibration *all, bool speeds) {
    size_t n = all->places->P * all->places->K, n_speeds = all->places->P * BANDS;
    memset(all->moves + n, 0, n_speeds * sizeof *all->moves);
    move_potentials(all, all->moves);
    if (speeds) move_speeds(all, all->moves + n);
    take_logarithms(all->weights->potential, n, all->mixed);
    take_logarithms(all->weights->speed, n_speeds, all->mixed + n);
    dpl_mixing_step(&all->mixing, all->moves, all->pace * VISIT_POWER, all->mixed);
    hold_within(all->mixed, n, POTENTIAL_LEAST, POTENTIAL_MOST, all->weights->potential);
    hold_within(all->mixed + n, n_speeds, SPEED_LEAST, SPEED_MOST, all->weights->speed);
}

/* ---- setting up ---- */

/* Trips from s at hour h, added to row (K); zone (K): the factors of the zones of s and of each
 * destination. */
DPL_CLONES static void add_flows(const struct dpl_flows *flows, size_t h, size_t s,
                                 const float *zone, double *row) {
    size_t K = flows->K;
    const float *pooled = flows->pooled + s * K, *factor = flows->destination_factor + h * K;
    const double source = (double)flows->source_factor[h * K + s];
    for (size_t d = 0; d < K; d++)
        row[d] += (double)pooled[d] * (double)zone[d] * source * (double)factor[d];
}

/* Trips by daypart and destination, out (P, K); zone (K) is room. */
static void sum_arrivals(const struct dpl_places *places, const struct dpl_flows *flows,
                         float *zone, double *out) {
    size_t K = places->K;
    memset(out, 0, places->P * K * sizeof *out);
    for (size_t h = 0; h < places->H; h++)
        for (size_t s = 0; s < K; s++) {
            for (size_t d = 0; d < K && (s == 0 || flows->zone[s] != flows->zone[s - 1]); d++)
                zone[d] = flows->zone_factor[dpl_flow_zones(flows, h, s, d)];
            add_flows(flows, h, s, zone, out + dpl_places_daypart(places, h) * K);
        }
}

static void set_counts(const struct calibration *all) {
    for (size_t l = 0; l <= all->walk.length_max; l++)
        all->counts[l] = (float)dpl_visit_weight(all->places->full_visits, l);
}

static void set_wanted(struct calibration *all, const double *hour_visits) {
    const struct dpl_places *places = all->places;
    const struct dpl_table *turns = &all->tables->turns;
    for (size_t i = 0; i < TURNS; i++) {
        size_t q = i / DPL_NEXT;
        bool measured = i % DPL_NEXT != DPL_STAY || dpl_rested(q) != q;
        all->wanted_turns[i] = measured ? fmax(turns->value[i], fmax(turns->sigma, 1)) : 0;
    }
    for (size_t p = 0; p < all->edges->P; p++)
        dpl_add_rows(all->edges->speeds + p * BANDS, 1, BANDS, 1,
                     all->wanted_speeds + p * places->P / all->edges->P * BANDS);
    for (size_t h = 0; h < places->H; h++)
        dpl_add_rows(hour_visits + h * places->K, 1, places->K, 1,
                     all->wanted_visits + dpl_places_daypart(places, h) * places->K);
    sum_arrivals(places, all->flows, all->scratch[0].to, all->wanted_arrivals);
    dpl_lengths_histogram(all->tables, all->wanted_lengths);
    set_counts(all);
}

/* Flows of the day are tilted once potentials have done what they can; then what was best so far
 * was of other flows. */
static enum dpl_status adjust_flows(struct dpl_run *run, struct calibration *all, size_t round) {
    double changed;
    if (round < all->tilt_round || round > TILT_LAST) return DPL_OK;
    all->tilt_round = round + TILT_EVERY;
    DPL_TRY(dpl_flows_tilt(run, all->places, all->tables, all->wanted_visits, all->expected.visits,
                           all->wanted_arrivals, all->tilt, all->made, &changed));
    if (changed == 0) return DPL_OK;
    sum_arrivals(all->places, all->flows, all->scratch[0].to, all->wanted_arrivals);
    DPL_TRY(find_demand(run, all));
    all->best_gap = INFINITY;
    if (changed < TILT_LEAST) return DPL_OK;
    dpl_mixing_forget(&all->mixing);
    all->pace = fmin(2 * all->pace, 1);
    return DPL_OK;
}

/* The weight of a residual in the mixing: its visits, more of them the farther out. */
static void set_mixing_weights(struct calibration *all) {
    const struct dpl_places *places = all->places;
    size_t K = places->K;
    double sum = sum_of(all->wanted_visits, places->P * K), x_m = 0, y_m = 0;
    for (size_t p = 0; p < places->P; p++)
        for (size_t k = 0; k < K; k++) {
            double share = all->wanted_visits[p * K + k] / sum;
            x_m += share * places->x_m[k], y_m += share * places->y_m[k];
        }
    for (size_t p = 0; p < places->P; p++)
        for (size_t k = 0; k < K; k++) {
            double far = hypot(places->x_m[k] - x_m, places->y_m[k] - y_m) / MIXING_DISTANCE_M;
            all->mixing_weights[p * K + k] = all->wanted_visits[p * K + k] * (1 + far * far);
        }
    for (size_t i = 0; i < places->P * BANDS; i++)
        all->mixing_weights[places->P * K + i] = SPEED_WEIGHT * all->wanted_speeds[i];
}

static enum dpl_status make_room_for_weights(struct dpl_run *run, const struct calibration *all,
                                             struct dpl_calibrated *weights) {
    size_t K = all->places->K;
    weights->block = DPL_BLOCK(run, DPL_PIECE(weights->weight, all->edges->n),
                               DPL_PIECE(weights->stay, K), DPL_PIECE(weights->turn, TURNS),
                               DPL_PIECE(weights->speed, all->places->P * BANDS),
                               DPL_PIECE(weights->potential, all->places->P * K),
                               DPL_PIECE(weights->terminal, all->places->P * K));
    return weights->block ? DPL_OK : DPL_SYSTEM;
}

static void set_weights(const struct calibration *all, const double *visits,
                        struct dpl_calibrated *weights) {
    size_t K = all->places->K;
    for (size_t x = 0; x < K; x++) {
        weights->stay[x] = (float)all->edges->stay[x];
        for (int32_t e = all->edges->start[x * DPL_MOVES];
             e < all->edges->start[(x + 1) * DPL_MOVES]; e++)
            weights->weight[e] = (float)(all->edges->steps[e] / visits[x]);
    }
    for (size_t i = 0; i < TURNS; i++) weights->turn[i] = 1;
    for (size_t i = 0; i < all->places->P * BANDS; i++) weights->speed[i] = 1;
    for (size_t i = 0; i < all->places->P * K; i++)
        weights->potential[i] = weights->terminal[i] = 1;
}

static enum dpl_status make_scratch(struct dpl_run *run, const struct calibration *all,
                                    struct scratch *scratch) {
    size_t K = all->places->K;
    scratch->room = DPL_BLOCK(
        run, DPL_PIECE(scratch->trips, K * DPL_DISTANCE_BINS * LANES), DPL_PIECE(scratch->to, K),
        DPL_PIECE(scratch->factor, all->places->H * K), DPL_PIECE(scratch->zone, K),
        DPL_PIECE(scratch->sum, K), DPL_PIECE(scratch->steps, all->edges->n * LANES),
        DPL_PIECE(scratch->visits, K * LANES), DPL_PIECE(scratch->arrivals, K));
    return scratch->room ? DPL_OK : DPL_SYSTEM;
}

static enum dpl_status make_block(struct dpl_run *run, const struct calibration *all,
                                  struct block *block) {
    size_t n = all->places->P * all->places->K;
    block->room =
        DPL_BLOCK(run, DPL_PIECE(block->visits, n), DPL_PIECE(block->arrivals, n),
                  DPL_PIECE(block->turns, TURNS * LANES), DPL_PIECE(block->steps, all->edges->n),
                  DPL_PIECE(block->speeds, all->places->P * BANDS),
                  DPL_PIECE(block->tally.lengths, (all->walk.length_max + 1) * LANES));
    return block->room ? DPL_OK : DPL_SYSTEM;
}

static enum dpl_status make_room(struct dpl_run *run, struct calibration *all) {
    size_t n = all->places->P * all->places->K, n_mixed = n + all->places->P * BANDS,
           E = all->edges->n, L = all->walk.length_max;
    all->room =
        DPL_BLOCK(run, DPL_PIECE(all->expected.visits, n), DPL_PIECE(all->expected.steps, E),
                  DPL_PIECE(all->expected.lengths, L + 1), DPL_PIECE(all->wanted_lengths, L + 1),
                  DPL_PIECE(all->expected.speeds, all->places->P * BANDS),
                  DPL_PIECE(all->wanted_speeds, all->places->P * BANDS),
                  DPL_PIECE(all->wanted_visits, n), DPL_PIECE(all->expected.arrivals, n),
                  DPL_PIECE(all->wanted_arrivals, n), DPL_PIECE(all->mixing_weights, n_mixed),
                  DPL_PIECE(all->mixed, n_mixed), DPL_PIECE(all->moves, n_mixed),
                  DPL_PIECE(all->counts, L + 1), DPL_PIECE(all->tilt, all->places->Z),
                  DPL_PIECE(all->demand, batches_of(all) * all->places->P),
                  DPL_PIECE(all->sweep, (size_t)all->n_threads),
                  DPL_PIECE(all->scratch, (size_t)all->n_threads));
    if (!all->room) return DPL_SYSTEM;
    DPL_TRY(dpl_mixing_new(run, n_mixed, all->mixing_weights, &all->mixing));
    for (int i = 0; i < all->n_threads; i++)
        DPL_TRY(dpl_sweep_new(run, &all->walk, true, &all->sweep[i]));
    for (int i = 0; i < all->n_threads; i++) DPL_TRY(make_scratch(run, all, &all->scratch[i]));
    for (size_t b = 0; b < BLOCKS; b++) DPL_TRY(make_block(run, all, &all->block[b]));
    return DPL_OK;
}

static void free_room(struct calibration *all) {
    for (size_t b = 0; b < BLOCKS; b++) {
        dpl_free(all->block[b].room);
        all->block[b] = (struct block){0};
    }
    for (int i = 0; all->room && i < all->n_threads; i++)
        dpl_sweep_free(all->sweep[i]), dpl_free(all->scratch[i].room);
    dpl_calibrated_free(&all->best);
    dpl_mixing_free(&all->mixing);
    if (all->room) forget_demand(all);
    dpl_free(all->room);
    all->room = NULL;
}

/* Rounds by daypart, fewer where one takes long. */
static size_t rounds_for(const struct calibration *all, size_t swept) {
    double K = (double)all->places->K, G = fmin(K, (double)swept),
           batch = (double)all->tables->length_max * (K * 2 * TURNS + 4 * (double)all->edges->n);
    return (size_t)fmin(fmax(WALK_ROUNDS_LEAST, WALK_WORK / (G * (double)all->places->P * batch)),
                        WALK_ROUNDS);
}

static void set_walk(struct calibration *all) {
    all->walk = (struct dpl_walk){.K = all->places->K,
                                  .P = all->places->P,
                                  .n_edges = all->edges->n,
                                  .length_max = all->tables->length_max,
                                  .start = all->edges->start,
                                  .to = all->edges->to,
                                  .band = all->edges->band,
                                  .weight = all->weights->weight,
                                  .stay = all->weights->stay,
                                  .turn = all->weights->turn,
                                  .speed = all->weights->speed,
                                  .potential = all->weights->potential,
                                  .targets = &all->weights->targets,
                                  .terminal = all->weights->terminal};
}

/* Rounds from the weights as they are; the gap, and what the mixing sees, are this phase's own. */
static enum dpl_status turn_all(struct dpl_run *run, struct calibration *all,
                                const double *hour_visits, const struct phase *phase) {
    enum dpl_status status;
    DPL_GO(make_room_for_weights(run, all, &all->best));
    set_walk(all);
    DPL_GO(make_room(run, all));
    set_wanted(all, hour_visits);
    set_mixing_weights(all);
    DPL_GO(find_demand(run, all));
    start_terminals(all);
    all->best_gap = INFINITY, all->pace = 1;
    // Who has time to spare can be anywhere: visits then say little about ends.
    all->tilt_round =
        phase->tilts && dpl_lengths_mean(all->tables) <= LONG_VISITS ? TILT_FIRST : SIZE_MAX;
    dpl_progress_begin(run, phase->day ? "calibrating the day" : "calibrating", "blocks",
                       (double)(phase->rounds * BLOCKS));
    for (size_t round = 0; round < phase->rounds; round++) {
        bool turns = phase->day || (phase->steps && round < PART_TURN_ROUNDS);
        DPL_GO(sweep_all(run, all, phase->steps, turns));
        adjust_lengths(all, phase->steps);
        if (keep_best(all, phase->steps)) {
            if (all->pace < PACE_LEAST) break;
            continue;
        }
        DPL_GO(adjust_flows(run, all, round));
        if (phase->steps) adjust_steps(all);
        if (turns) adjust_turns(all);
        adjust_terminals(all);
        adjust_potentials(all, phase->steps);
    }
    copy_weights(all, &all->best, all->weights);
    if (!phase->last) end_terminals(all);
    dpl_progress_end(run);
done:
    free_room(all);
    return status;
}

static enum dpl_status choose_targets(struct dpl_run *run, const struct calibration *all,
                                      size_t most) {
    size_t K = all->places->K, n = all->places->P * K;
    double *arrivals, *trips;
    float *zone;
    void *block = DPL_BLOCK(run, DPL_PIECE(arrivals, n), DPL_PIECE(trips, K), DPL_PIECE(zone, K));
    if (!block) return DPL_SYSTEM;
    dpl_targets_free(&all->weights->targets);
    sum_arrivals(all->places, all->flows, zone, arrivals);
    dpl_add_rows(arrivals, all->places->P, K, 1, trips);
    enum dpl_status status =
        dpl_targets_choose(run, all->places, trips, most, &all->weights->targets);
    dpl_free(block);
    return status;
}

static enum dpl_status run_phase(struct dpl_run *run, struct calibration *all,
                                 const double *hour_visits, const struct phase *phase) {
    if (phase->rounds == 0) return DPL_OK;
    DPL_TRY(choose_targets(run, all, phase->targets));
    return turn_all(run, all, hour_visits, phase);
}

/* The chances of lengths by distance, whatever the daypart: out (DPL_DISTANCE_BINS, length_max + 1)
 * from in (P, the same), by the trips of each daypart. */
static void pool_lengths(const struct dpl_places *places, const struct dpl_flows *flows, size_t n,
                         const float *in, double *trips, float *out) {
    size_t K = places->K, rows = places->P * DPL_DISTANCE_BINS;
    double all[DPL_DISTANCE_BINS] = {0};
    for (size_t h = 0; h < places->H; h++) {
        double *row = trips + dpl_places_daypart(places, h) * DPL_DISTANCE_BINS;
        for (size_t s = 0; s < K; s++)
            for (size_t d = 0; d < K; d++)
                row[dpl_places_distance_bin(places, s, d)] += dpl_flow(flows, h, s, d);
    }
    for (size_t row = 0; row < rows; row++) all[row % DPL_DISTANCE_BINS] += trips[row] + 1e-9;
    for (size_t row = 0; row < rows; row++) {
        size_t bin = row % DPL_DISTANCE_BINS;
        for (size_t l = 0; l < n; l++)
            out[bin * n + l] += (float)((trips[row] + 1e-9) / all[bin]) * in[row * n + l];
    }
}

/* The day as one part: steps, turns, and where potentials and speeds of all dayparts begin. */
static enum dpl_status calibrate_day(struct dpl_run *run, const struct calibration *parts,
                                     const double *hour_visits, const double *visits,
                                     size_t swept) {
    struct dpl_places places = *parts->places;
    struct calibration all = *parts;
    struct dpl_calibrated day = {0};
    size_t n = parts->tables->length_max + 1, K = places.K, P = places.P;
    double *trips;
    enum dpl_status status = DPL_SYSTEM;
    void *block = DPL_BLOCK(run, DPL_PIECE(all.lengths, DPL_DISTANCE_BINS * n),
                            DPL_PIECE(trips, P * DPL_DISTANCE_BINS));
    if (!block) return DPL_SYSTEM;
    pool_lengths(&places, parts->flows, n, parts->lengths, trips, all.lengths);
    places.P = 1;
    all.places = &places, all.weights = &day;
    DPL_GO(make_room_for_weights(run, &all, &day));
    set_weights(&all, visits, &day);
    const struct phase few = {.rounds = DAY_ROUNDS - DAY_FINE_ROUNDS,
                              .targets = (swept + FEWER_TARGETS - 1) / FEWER_TARGETS,
                              .day = true,
                              .tilts = true,
                              .steps = true},
                       fine = {
                           .rounds = DAY_FINE_ROUNDS, .targets = swept, .day = true, .steps = true};
    DPL_GO(run_phase(run, &all, hour_visits, &few));
    DPL_GO(run_phase(run, &all, hour_visits, &fine));
    copy_weights(&all, &day, parts->weights);
    memcpy(parts->weights->stay, day.stay, K * sizeof *day.stay);
    for (size_t p = 1; p < P; p++) {
        memcpy(parts->weights->speed + p * BANDS, day.speed, BANDS * sizeof *day.speed);
        memcpy(parts->weights->potential + p * K, day.potential, K * sizeof *day.potential);
        memcpy(parts->weights->terminal + p * K, day.terminal, K * sizeof *day.terminal);
    }
done:
    dpl_calibrated_free(&day);
    dpl_free(block);
    return status;
}

/* By daypart: steps in fewer than half of the rounds; then these rest. */
static enum dpl_status calibrate_parts(struct dpl_run *run, struct calibration *all,
                                       const double *hour_visits, size_t swept) {
    const size_t rounds = rounds_for(all, swept), early = rounds * STEP_ROUNDS / WALK_ROUNDS;
    const struct phase steps = {.rounds = early, .targets = swept, .steps = true},
                       rest = {.rounds = rounds - early, .targets = swept, .last = true};
    DPL_TRY(run_phase(run, all, hour_visits, &steps));
    return run_phase(run, all, hour_visits, &rest);
}

/* For drawing: a cell that is its own target has all of its trips, whatever its weight. */
static void norm_terminals(const struct dpl_targets *targets, size_t P, float *terminal) {
    const size_t K = (size_t)targets->start[targets->G];
    for (size_t i = 0; i < P * targets->G; i++) {
        const int32_t *cell = targets->cell + targets->start[i % targets->G],
                      *end = targets->cell + targets->start[i % targets->G + 1];
        float *of = terminal + i / targets->G * K, most = TERMINAL_LEAST;
        for (const int32_t *k = cell; k < end; k++) most = fmaxf(most, of[*k]);
        for (const int32_t *k = cell; k < end; k++) of[*k] = fmaxf(of[*k] / most, TERMINAL_LEAST);
    }
}

enum dpl_status dpl_calibrate(struct dpl_run *run, const struct dpl_places *places,
                              const struct dpl_bridge_tables *tables, const double *hour_visits,
                              const double *visits, const struct dpl_edges *edges,
                              struct dpl_flows_made *made, size_t swept, size_t drawn,
                              float *lengths, struct dpl_calibrated *weights) {
    struct calibration all = {.places = places,
                              .tables = tables,
                              .edges = edges,
                              .flows = &made->flows,
                              .made = made,
                              .lengths = lengths,
                              .weights = weights,
                              .n_threads = dpl_run_threads(run),
                              .pace = 1,
                              .best_gap = INFINITY};
    *weights = (struct dpl_calibrated){0};
    DPL_TRY(make_room_for_weights(run, &all, weights));
    DPL_TRY(calibrate_day(run, &all, hour_visits, visits, swept));
    DPL_TRY(calibrate_parts(run, &all, hour_visits, swept));
    DPL_TRY(choose_targets(run, &all, drawn));
    norm_terminals(&weights->targets, places->P, weights->terminal);
    return DPL_OK;
}

enum dpl_status dpl_walk_expect(struct dpl_run *run, const struct dpl_places *places,
                                const struct dpl_bridge_tables *tables,
                                const struct dpl_edges *edges, const struct dpl_flows *flows,
                                const float *lengths, const struct dpl_calibrated *weights,
                                double *visits, double *steps, double *by_length) {
    struct dpl_calibrated used = *weights;
    struct calibration all = {.places = places,
                              .tables = tables,
                              .edges = edges,
                              .flows = flows,
                              .lengths = (float *)lengths, // sweeps read them alone
                              .weights = &used,
                              .n_threads = dpl_run_threads(run)};
    enum dpl_status status;
    set_walk(&all);
    DPL_GO(make_room(run, &all));
    set_counts(&all);
    DPL_GO(find_demand(run, &all));
    dpl_progress_begin(run, "expecting", "blocks", BLOCKS);
    status = sweep_all(run, &all, true, true);
    dpl_progress_end(run);
    if (status != DPL_OK) goto done;
    memcpy(visits, all.expected.visits, places->P * places->K * sizeof *visits);
    memcpy(steps, all.expected.steps, edges->n * sizeof *steps);
    memcpy(by_length, all.expected.lengths, (all.walk.length_max + 1) * sizeof *by_length);
done:
    free_room(&all);
    return status;
}

void dpl_calibrated_free(struct dpl_calibrated *weights) {
    dpl_free(weights->block);
    dpl_targets_free(&weights->targets);
    *weights = (struct dpl_calibrated){0};
}
