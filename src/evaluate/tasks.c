/* Tasks: train on synthetic trips, test on real ones that the training did not see, beside the same
 * trained on as many real trips. Four predictors that need no library:
 *
 *   next cell     counts by the two last cells; where those were never seen, by the last; else by
 * none destination   after the first third: prior by source times the cells passed (naive Bayes)
 *   travel time   median by source zone, destination zone and part of the day
 *   demand        starts by zone and hour, scaled to the tested number of trips
 *
 * The real trips are halved by unit: all trips of a user are on one side. Cost: sorting the moves
 * of the training trips, and n_cells for each tested destination. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/table.h"

enum task_figure {
    NEXT_HIT1,
    NEXT_HIT5,
    NEXT_MRR,
    NEXT_TO_HIT1,
    DESTINATION_HIT5,
    TRAVEL_MAE,
    TRAVEL_MAPE,
    DEMAND_WAPE,
    FIGURES
};

enum { GUESSES = 5, PARTS = 4, TESTED_DESTINATIONS = 5000, TESTED_MOVES = 200000 };
static const double ZONE_M = 2000;

/* ---- zones and parts of the day ---- */

struct zones {
    int32_t *of; /* (n_cells) */
    uint64_t n;
};

static enum dpl_status zones_make(struct dpl_run *run, const struct dpl_cells *cells,
                                  struct zones *zones) {
    int32_t side = (int32_t)ceil(ZONE_M / cells->grid.area.cell_m),
            across = cells->grid.columns / side + 1;
    zones->of = dpl_alloc(run, (size_t)cells->n_cells, sizeof *zones->of);
    if (!zones->of) return DPL_SYSTEM;
    for (int32_t c = 0; c < cells->n_cells; c++)
        zones->of[c] = cells->row[c] / side * across + cells->column[c] / side;
    zones->n = (uint64_t)across * (uint64_t)(cells->grid.rows / side + 1);
    return DPL_OK;
}

/* One trip on the compared cells. */
struct trip {
    const int32_t *cell;
    size_t n;
    uint8_t period;
};

static struct trip trip_of(const struct dpl_part *part, size_t i) {
    const struct dpl_sequences *trips = &part->ready->trips;
    size_t first = trips->start[part->trip[i]];
    return (struct trip){trips->cell + first, trips->start[part->trip[i] + 1] - first,
                         part->ready->period[part->trip[i]]};
}

/* ---- lists of counts by context ---- */

/* Keys (context, outcome) that were seen, sorted by context, then by count, the largest first. */
struct entry {
    uint64_t context;
    uint32_t outcome, count;
};

struct counts {
    struct entry *entry;
    size_t n, capacity;
};

static int by_outcome(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->context != y->context) return x->context > y->context ? 1 : -1;
    return (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

static int by_count(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->context != y->context) return x->context > y->context ? 1 : -1;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return (x->outcome > y->outcome) - (x->outcome < y->outcome);
}

static enum dpl_status counts_add(struct dpl_run *run, struct counts *counts, uint64_t context,
                                  uint32_t outcome) {
    DPL_TRY(dpl_grow(run, &counts->entry, &counts->capacity, counts->n + 1, sizeof *counts->entry));
    counts->entry[counts->n++] = (struct entry){context, outcome, 1};
    return DPL_OK;
}

/* Equal keys become one entry. */
static void counts_finish(struct counts *counts) {
    size_t kept = 0;
    if (counts->n) qsort(counts->entry, counts->n, sizeof *counts->entry, by_outcome);
    for (size_t i = 0; i < counts->n; i++) {
        if (kept && by_outcome(&counts->entry[kept - 1], &counts->entry[i]) == 0)
            counts->entry[kept - 1].count++;
        else
            counts->entry[kept++] = counts->entry[i];
    }
    counts->n = kept;
    if (kept) qsort(counts->entry, kept, sizeof *counts->entry, by_count);
}

/* The entries of one context. */
static const struct entry *counts_find(const struct counts *counts, uint64_t context, size_t *n) {
    size_t low = 0, high = counts->n, end;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (counts->entry[middle].context < context)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < counts->n && counts->entry[end].context == context;) end++;
    *n = end - low;
    return counts->entry + low;
}

/* ---- next cell ---- */

/* From the most telling context to none at all. */
enum level { BY_ZONE, BY_TWO, BY_ONE, BY_NONE, LEVELS };

struct next {
    struct counts level[LEVELS];
    uint64_t n_cells;
};

/* A move that is to be foretold. Repeats are collapsed, so that it is the next other cell. */
struct move {
    int32_t before, here, to; /* before: -1 at the start of a trip */
    int32_t zone;             /* of the destination */
};

static uint64_t context_of(const struct next *next, enum level level, const struct move *move) {
    switch (level) {
    case BY_ZONE: return (uint64_t)move->zone * next->n_cells + (uint64_t)move->here;
    case BY_TWO: return (uint64_t)(move->before + 1) * next->n_cells + (uint64_t)move->here;
    case BY_ONE: return (uint64_t)move->here;
    default: return 0;
    }
}

typedef enum dpl_status move_function(struct dpl_run *run, void *context, const struct move *move);

static enum dpl_status for_each_move(struct dpl_run *run, const struct dpl_part *part,
                                     const struct zones *zones, move_function *call,
                                     void *context) {
    for (size_t i = 0; i < part->n; i++) {
        struct trip trip = trip_of(part, i);
        struct move move = {-1, trip.cell[0], 0, zones->of[trip.cell[trip.n - 1]]};
        for (size_t v = 1; v < trip.n; v++) {
            if (trip.cell[v] == move.here) continue;
            move.to = trip.cell[v];
            DPL_TRY(call(run, context, &move));
            move.before = move.here, move.here = move.to;
        }
    }
    return DPL_OK;
}

static enum dpl_status learn_move(struct dpl_run *run, void *context, const struct move *move) {
    struct next *next = context;
    for (int level = 0; level < LEVELS; level++)
        DPL_TRY(counts_add(run, &next->level[level], context_of(next, (enum level)level, move),
                           (uint32_t)move->to));
    return DPL_OK;
}

static bool listed(const struct entry *entry, size_t n, uint32_t outcome) {
    for (size_t i = 0; i < n; i++)
        if (entry[i].outcome == outcome) return true;
    return false;
}

/* The place of the right cell in the list of guesses, from 1; 0: not in it. A level's guesses come
 * after those of the levels before it, and no cell twice. */
static size_t place_of(const struct next *next, enum level first, const struct move *move) {
    const struct entry *entry[LEVELS];
    size_t n[LEVELS], place = 0;
    for (int level = (int)first; level < LEVELS; level++) {
        entry[level] =
            counts_find(&next->level[level], context_of(next, (enum level)level, move), &n[level]);
        for (size_t i = 0; i < n[level]; i++) {
            bool seen = entry[level][i].outcome == (uint32_t)move->here;
            for (int above = (int)first; !seen && above < level; above++)
                seen = listed(entry[above], n[above], entry[level][i].outcome);
            if (seen) continue;
            place++;
            if (entry[level][i].outcome == (uint32_t)move->to) return place;
        }
    }
    return 0;
}

struct next_test {
    const struct next *next;
    size_t moves, hit1, hit5, to_hit1;
    double reciprocals;
};

static enum dpl_status test_move(struct dpl_run *run, void *context, const struct move *move) {
    (void)run;
    struct next_test *test = context;
    if (test->moves >= TESTED_MOVES) return DPL_OK;
    size_t place = place_of(test->next, BY_TWO, move);
    test->moves++;
    test->hit1 += place == 1;
    test->hit5 += place >= 1 && place <= GUESSES;
    test->reciprocals += place ? 1 / (double)place : 0;
    test->to_hit1 += place_of(test->next, BY_ZONE, move) == 1;
    return DPL_OK;
}

static enum dpl_status task_next(struct dpl_run *run, const struct dpl_part *train,
                                 const struct dpl_part *tested, const struct zones *zones,
                                 double *figures) {
    struct next next = {.n_cells = (uint64_t)train->ready->trips.n_cells};
    struct next_test test = {.next = &next};
    enum dpl_status status = for_each_move(run, train, zones, learn_move, &next);
    for (int level = 0; level < LEVELS; level++) counts_finish(&next.level[level]);
    if (status == DPL_OK) status = for_each_move(run, tested, zones, test_move, &test);
    if (status == DPL_OK && test.moves) {
        double moves = (double)test.moves;
        figures[NEXT_HIT1] = (double)test.hit1 / moves;
        figures[NEXT_HIT5] = (double)test.hit5 / moves;
        figures[NEXT_MRR] = test.reciprocals / moves;
        figures[NEXT_TO_HIT1] = (double)test.to_hit1 / moves;
    }
    for (int level = 0; level < LEVELS; level++) dpl_free(next.level[level].entry);
    return status;
}

/* ---- destination ---- */

/* Pseudo-counts: how many trips the fallback is worth. */
static const double PRIOR_TRIPS = 10;

struct destinations {
    size_t n_cells;
    struct counts by_source, by_passed; /* outcome: the destination */
    double *ends;                       /* (n_cells) trips that end there */
    double *sources;                    /* (n_cells) trips that start there */
    double *passed;                     /* (n_cells) trips that pass in their first third */
    double trips, all_passed;
};

/* The distinct cells of the first third; returns how many. */
static size_t first_third(const struct trip *trip, int32_t *cell) {
    size_t n = 0;
    for (size_t v = 0; v < (trip->n + 2) / 3; v++) {
        bool seen = false;
        for (size_t i = 0; i < n && !seen; i++) seen = cell[i] == trip->cell[v];
        if (!seen) cell[n++] = trip->cell[v];
    }
    return n;
}

static size_t longest_trip(const struct dpl_part *part) {
    size_t longest = 0;
    for (size_t i = 0; i < part->n; i++) {
        size_t n = trip_of(part, i).n;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static enum dpl_status learn_destinations(struct dpl_run *run, const struct dpl_part *train,
                                          int32_t *third, struct destinations *d) {
    for (size_t i = 0; i < train->n; i++) {
        struct trip trip = trip_of(train, i);
        int32_t source = trip.cell[0], end = trip.cell[trip.n - 1];
        DPL_TRY(counts_add(run, &d->by_source, (uint64_t)source, (uint32_t)end));
        size_t n = first_third(&trip, third);
        for (size_t k = 0; k < n; k++) {
            DPL_TRY(counts_add(run, &d->by_passed, (uint64_t)third[k], (uint32_t)end));
            d->passed[third[k]]++;
        }
        d->ends[end]++, d->sources[source]++, d->trips++;
        d->all_passed += (double)n;
    }
    counts_finish(&d->by_source);
    counts_finish(&d->by_passed);
    return DPL_OK;
}

/* log P(destination | source), up to nothing: shrunk to the share of all trips that end there. */
static void score_prior(const struct destinations *d, int32_t source, double *score) {
    size_t n;
    const struct entry *entry = counts_find(&d->by_source, (uint64_t)source, &n);
    for (size_t c = 0; c < d->n_cells; c++)
        score[c] = PRIOR_TRIPS * (d->ends[c] + 1 / (double)d->n_cells) / (d->trips + 1);
    for (size_t i = 0; i < n; i++) score[entry[i].outcome] += entry[i].count;
    for (size_t c = 0; c < d->n_cells; c++)
        score[c] = log(score[c] / (d->sources[source] + PRIOR_TRIPS));
}

/* Adds log P(passed | destination), shrunk to how often the cell is passed at all. */
static void score_passed(const struct destinations *d, int32_t passed, double *score) {
    size_t n;
    const struct entry *entry = counts_find(&d->by_passed, (uint64_t)passed, &n);
    double usual = PRIOR_TRIPS * (d->passed[passed] + 1) / (d->trips + (double)d->n_cells);
    for (size_t c = 0; c < d->n_cells; c++) score[c] += log(usual / (d->ends[c] + PRIOR_TRIPS));
    for (size_t i = 0; i < n; i++) score[entry[i].outcome] += log((usual + entry[i].count) / usual);
}

static bool among_best(const double *score, size_t n, int32_t right) {
    size_t better = 0;
    for (size_t c = 0; c < n; c++)
        better += score[c] > score[right] || (score[c] == score[right] && c < (size_t)right);
    return better < GUESSES;
}

static double test_destinations(const struct destinations *d, const struct dpl_part *tested,
                                int32_t *third, double *score) {
    size_t hits = 0, n = tested->n < TESTED_DESTINATIONS ? tested->n : TESTED_DESTINATIONS;
    for (size_t i = 0; i < n; i++) {
        struct trip trip = trip_of(tested, i);
        score_prior(d, trip.cell[0], score);
        size_t passed = first_third(&trip, third);
        for (size_t k = 0; k < passed; k++) score_passed(d, third[k], score);
        hits += among_best(score, d->n_cells, trip.cell[trip.n - 1]);
    }
    return n ? (double)hits / (double)n : NAN;
}

static enum dpl_status task_destination(struct dpl_run *run, const struct dpl_part *train,
                                        const struct dpl_part *tested, double *figure) {
    size_t n_cells = (size_t)train->ready->trips.n_cells, a = longest_trip(train),
           b = longest_trip(tested);
    struct destinations d = {.n_cells = n_cells};
    double *memory = dpl_alloc(run, 4 * n_cells, sizeof *memory);
    int32_t *third = dpl_alloc(run, a > b ? a : b, sizeof *third);
    enum dpl_status status = memory && third ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) {
        d.ends = memory, d.sources = memory + n_cells, d.passed = memory + 2 * n_cells;
        status = learn_destinations(run, train, third, &d);
    }
    if (status == DPL_OK) *figure = test_destinations(&d, tested, third, memory + 3 * n_cells);
    dpl_free(d.by_source.entry);
    dpl_free(d.by_passed.entry);
    dpl_free(memory);
    dpl_free(third);
    return status;
}

/* ---- travel time ---- */

/* Durations in slots by key, sorted, so that a key's median stands in the middle of its run. */
struct durations {
    uint64_t *packed; /* (n) key * 2^16 + slots */
    size_t n;
};

enum { SLOT_BITS = 16 };

static uint64_t travel_key(const struct trip *trip, const struct zones *zones, int periods,
                           bool with_part) {
    uint64_t from = (uint64_t)zones->of[trip->cell[0]],
             to = (uint64_t)zones->of[trip->cell[trip->n - 1]],
             part = with_part ? (uint64_t)(trip->period * PARTS / periods) + 1 : 0;
    return (from * zones->n + to) * (PARTS + 1) + part;
}

static uint64_t slots_of(const struct trip *trip) {
    size_t most = ((size_t)1 << SLOT_BITS) - 1;
    return trip->n - 1 < most ? trip->n - 1 : most;
}

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t lower_bound(const struct durations *d, uint64_t packed) {
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (d->packed[middle] < packed)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The median of a key's durations in slots, the lower one of two; false: none. */
static bool median_of(const struct durations *d, uint64_t key, uint64_t *slots) {
    size_t first = lower_bound(d, key << SLOT_BITS), end = lower_bound(d, (key + 1) << SLOT_BITS);
    if (first == end) return false;
    *slots = d->packed[first + (end - first - 1) / 2] & ((1u << SLOT_BITS) - 1);
    return true;
}

/* With the part of the day, without it, and last the median of all trips. */
static enum dpl_status learn_durations(struct dpl_run *run, const struct dpl_part *train,
                                       const struct zones *zones, struct durations *d,
                                       uint64_t *usual) {
    uint64_t *all = dpl_alloc(run, train->n, sizeof *all);
    d->packed = dpl_alloc(run, 2 * train->n, sizeof *d->packed);
    if (!all || !d->packed) {
        dpl_free(all);
        return DPL_SYSTEM;
    }
    for (size_t i = 0; i < train->n; i++) {
        struct trip trip = trip_of(train, i);
        for (int with_part = 0; with_part < 2; with_part++)
            d->packed[d->n++] = travel_key(&trip, zones, train->ready->periods, with_part)
                                    << SLOT_BITS |
                                slots_of(&trip);
        all[i] = slots_of(&trip);
    }
    qsort(d->packed, d->n, sizeof *d->packed, compare_u64);
    qsort(all, train->n, sizeof *all, compare_u64);
    *usual = train->n ? all[(train->n - 1) / 2] : 0;
    dpl_free(all);
    return DPL_OK;
}

static enum dpl_status task_travel(struct dpl_run *run, const struct dpl_part *train,
                                   const struct dpl_part *tested, const struct zones *zones,
                                   double *figures) {
    struct durations d = {0};
    uint64_t usual = 0, slots;
    double error_s = 0, relative = 0, slot_s = train->ready->cells->grid.area.slot_s;
    enum dpl_status status = learn_durations(run, train, zones, &d, &usual);
    for (size_t i = 0; status == DPL_OK && i < tested->n; i++) {
        struct trip trip = trip_of(tested, i);
        int periods = tested->ready->periods;
        if (!median_of(&d, travel_key(&trip, zones, periods, true), &slots) &&
            !median_of(&d, travel_key(&trip, zones, periods, false), &slots))
            slots = usual;
        double off = fabs((double)slots - (double)slots_of(&trip));
        error_s += off * slot_s;
        relative += off / fmax(1, (double)slots_of(&trip));
    }
    if (status == DPL_OK && tested->n) {
        figures[TRAVEL_MAE] = error_s / (double)tested->n;
        figures[TRAVEL_MAPE] = relative / (double)tested->n;
    }
    dpl_free(d.packed);
    return status;
}

/* ---- demand ---- */

static void count_starts(const struct dpl_part *part, const struct zones *zones, double *starts) {
    for (size_t i = 0; i < part->n; i++) {
        struct trip trip = trip_of(part, i);
        starts[(uint64_t)trip.period * zones->n + (uint64_t)zones->of[trip.cell[0]]]++;
    }
}

static enum dpl_status task_demand(struct dpl_run *run, const struct dpl_part *train,
                                   const struct dpl_part *tested, const struct zones *zones,
                                   double *figure) {
    size_t n = (size_t)zones->n * (size_t)train->ready->periods;
    double *starts = dpl_alloc(run, 2 * n, sizeof *starts), wrong = 0;
    if (!starts) return DPL_SYSTEM;
    count_starts(train, zones, starts);
    count_starts(tested, zones, starts + n);
    for (size_t i = 0; i < n; i++)
        wrong += fabs(starts[i] * (double)tested->n / (double)train->n - starts[n + i]);
    *figure = wrong / (double)tested->n;
    dpl_free(starts);
    return DPL_OK;
}

/* ---- one training and its test ---- */

static enum dpl_status do_tasks(struct dpl_run *run, const struct dpl_part *train,
                                const struct dpl_part *tested, double *figures) {
    struct zones zones = {0};
    enum dpl_status status = DPL_OK;
    if (train->n == 0 || tested->n == 0) return DPL_OK;
    DPL_GO(dpl_check_interrupt(run));
    DPL_GO(zones_make(run, train->ready->cells, &zones));
    DPL_GO(task_next(run, train, tested, &zones, figures));
    DPL_GO(task_destination(run, train, tested, &figures[DESTINATION_HIT5]));
    if (train->ready->has_time && tested->ready->has_time) {
        DPL_GO(task_travel(run, train, tested, &zones, figures));
        DPL_GO(task_demand(run, train, tested, &zones, &figures[DEMAND_WAPE]));
    }
done:
    dpl_free(zones.of);
    return status;
}

/* ---- splits ---- */

/* What is trained on and tested on in one split; `trip` lists are owned. */
struct task_split {
    struct dpl_part real, synthetic, tested;
    uint32_t *memory;
};

/* Which half a trip's unit is in: its user's, or its own when no user is named. */
static bool in_training(const struct dpl_ready *real, size_t trip, uint64_t key) {
    size_t origin = real->origin[trip];
    int32_t user = real->source->user[origin];
    uint64_t unit = user >= 0 ? (uint64_t)user * 2 + 1 : (uint64_t)origin * 2;
    return dpl_mix64(dpl_mix64(key) + unit) & 1;
}

static enum dpl_status make_split(struct dpl_run *run, const struct dpl_study *study, size_t s,
                                  struct task_split *split) {
    const struct dpl_ready *real = study->real, *test = study->test ? study->test : study->real;
    size_t n_real = real->trips.n_trips, n_synthetic = study->synthetic->trips.n_trips,
           n_test = test->trips.n_trips;
    size_t most = n_real > n_synthetic ? n_real : n_synthetic;
    most = most > n_test ? most : n_test;
    split->memory = dpl_alloc(run, n_real + n_test + most, sizeof *split->memory);
    if (!split->memory) return DPL_SYSTEM;
    uint32_t *train = split->memory, *tested = train + n_real, *drawn = tested + n_test;
    split->real = (struct dpl_part){real, train, 0};
    split->tested = (struct dpl_part){test, tested, 0};
    // In random order: where only some are tested, they are not those at the head of the file.
    dpl_shuffle(drawn, n_real, n_real, study->options->seed, 3000 + s);
    for (size_t i = 0; i < n_real; i++)
        if (study->test || in_training(real, drawn[i], study->options->seed + s))
            train[split->real.n++] = drawn[i];
        else
            tested[split->tested.n++] = drawn[i];
    if (study->test) {
        dpl_shuffle(tested, n_test, n_test, study->options->seed, 4000 + s);
        split->tested.n = n_test;
    }
    dpl_shuffle(drawn, n_synthetic, n_synthetic, study->options->seed, 2000 + s);
    size_t n = split->real.n < n_synthetic ? split->real.n : n_synthetic;
    split->synthetic = (struct dpl_part){study->synthetic, drawn, n};
    return DPL_OK;
}

static double mean_figure(const double *figures, size_t splits, size_t figure) {
    double sum = 0;
    for (size_t s = 0; s < splits; s++) sum += figures[2 * s * FIGURES + figure];
    return sum / (double)splits;
}

static enum dpl_status do_splits(struct dpl_run *run, const struct dpl_study *study,
                                 struct task_split *split, size_t splits, double *figures) {
    for (size_t i = 0; i < 2 * splits * FIGURES; i++) figures[i] = NAN;
    for (size_t s = 0; s < splits; s++) DPL_TRY(make_split(run, study, s, &split[s]));
    enum dpl_status status = DPL_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(dpl_run_threads(run))
    for (size_t job = 0; job < 2 * splits; job++) {
        const struct task_split *own = &split[job / 2];
        enum dpl_status mine = do_tasks(run, job % 2 ? &own->real : &own->synthetic, &own->tested,
                                        figures + job * FIGURES);
        if (mine != DPL_OK) {
#pragma omp atomic write
            status = mine;
        }
    }
    return status;
}

enum dpl_status dpl_study_tasks(struct dpl_run *run, const struct dpl_study *study, double *value,
                                double *floor) {
    size_t splits = study->test ? 1 : (size_t)study->options->splits;
    struct task_split *split = dpl_alloc(run, splits, sizeof *split);
    double *figures = dpl_alloc(run, 2 * splits * FIGURES, sizeof *figures);
    enum dpl_status status = split && figures ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) status = do_splits(run, study, split, splits, figures);
    for (size_t f = 0; status == DPL_OK && f < FIGURES; f++) {
        value[f] = mean_figure(figures, splits, f);
        floor[f] = mean_figure(figures + FIGURES, splits, f);
    }
    for (size_t s = 0; split && s < splits; s++) dpl_free(split[s].memory);
    dpl_free(split);
    dpl_free(figures);
    return status;
}
