/* Ngram: what a trip can move, the tree against an oracle, trees and grams worked by hand, and what
 * comes out. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "method/ngram/measure.h"

/* ---- trips and trees for tests ---- */

enum { MOST_TRIPS = 3000, MOST_VISITS = 60000, MOST_BINS = 16, MOST_NODES = 4000 };

struct town {
    size_t n_trips;
    size_t start[MOST_TRIPS + 1];
    int32_t cell[MOST_VISITS];
};

static void add_trip(struct town *town, const int32_t *cell, size_t n) {
    size_t at = town->start[town->n_trips];
    assert_true(town->n_trips < MOST_TRIPS && at + n <= MOST_VISITS);
    memcpy(town->cell + at, cell, n * sizeof *cell);
    town->start[++town->n_trips] = at + n;
}

/* Trips as text: "abc" visits cells 0, 1, 2. */
static void add_text(struct town *town, const char *text, int times) {
    int32_t cell[16];
    for (size_t i = 0; text[i]; i++) cell[i] = text[i] - 'a';
    while (times-- > 0) add_trip(town, cell, strlen(text));
}

/* A few habits and some noise, so that trees have shape. */
static void add_random(struct town *town, size_t trips, size_t A, uint64_t *seed) {
    for (size_t t = 0; t < trips; t++) {
        int32_t cell[12];
        size_t n = 2 + test_random(seed) % 11;
        cell[0] = (int32_t)(test_random(seed) % A);
        for (size_t v = 1; v < n; v++)
            cell[v] = test_random(seed) % 5
                          ? (int32_t)(((size_t)cell[v - 1] + 1 + test_random(seed) % 2) % A)
                          : (int32_t)(test_random(seed) % A);
        add_trip(town, cell, n);
    }
}

struct seen {
    struct dpl_ngram_view view;
    double noised[MOST_BINS], released[MOST_BINS];
};
struct trace {
    size_t A, n;
    struct seen *node; /* (MOST_NODES) by number */
};

static void look(void *user, const struct dpl_ngram_view *view) {
    struct trace *trace = user;
    assert_true(view->node < MOST_NODES);
    struct seen *seen = &trace->node[view->node];
    seen->view = *view;
    for (size_t i = 0; i <= trace->A; i++)
        seen->noised[i] = view->noised[i], seen->released[i] = view->released[i];
    if (view->node >= trace->n) trace->n = view->node + 1;
}

static struct trace trace_new(size_t A) {
    return (struct trace){.A = A, .node = calloc(MOST_NODES, sizeof(struct seen))};
}

/* sigma 0: no noise. */
static void explore(struct dpl_run *run, const struct town *town, size_t A, size_t length_max,
                    enum dpl_event_kind kind, double sigma, uint64_t key, struct trace *trace,
                    struct dpl_grams *grams) {
    struct dpl_secret secret;
    struct dpl_filter *filter;
    struct dpl_sequences sequences;
    const struct dpl_units units = {
        .n_units = town->n_trips, .trip_start = town->start, .cell = town->cell};
    const struct dpl_event event = {.name = "tree",
                                    .kind = kind,
                                    .sigma = sigma,
                                    .sensitivity = (double)length_max,
                                    .rate = 1,
                                    .steps = 1};
    assert_ok(run, dpl_secret_from_seed(run, key, &secret));
    assert_ok(run,
              dpl_filter_open(run, &secret, &event, (struct dpl_stream_id){DPL_PURPOSE_TEST, 0, 0},
                              !(sigma > 0), A + 1, &filter));
    assert_ok(run, dpl_sequences_make(run, &units, town->n_trips, A, length_max, &sequences));
    assert_ok(run, dpl_ngram_explore(run, &sequences, 1, filter, length_max, grams,
                                     trace ? look : NULL, trace));
    dpl_sequences_free(&sequences);
    dpl_filter_close(filter);
}

/* ---- sensitivity ---- */

/* A trip that tries to weigh as much as it can. */
static size_t hostile_trip(int how, size_t A, uint64_t *seed, int32_t *cell) {
    static const size_t LENGTHS[] = {2, 7, 8, 9, 200};
    size_t n = LENGTHS[test_random(seed) % 5];
    for (size_t v = 0; v < n; v++)
        cell[v] = how == 0   ? 0
                  : how == 1 ? (int32_t)(v % 2)
                  : how == 2 ? (int32_t)(v % A)
                             : (int32_t)(test_random(seed) % A);
    return n;
}

/* Two data sets that differ in one trip, the same noise: as long as the trees are alike, what
 * differs is that trip's exact share. With q_g the part of node g and c_g what the trip adds there,
 * sum c_g q_g <= L_max and sum |c_g|_2^2 q_g <= L_max^2, of the whole. */
static void one_trip_moves_the_tree_within_the_budget(void **state) {
    (void)state;
    enum { A = 6, LENGTH_MAX = 8 };
    struct dpl_run *run = test_run(1);
    struct town *town = calloc(1, sizeof *town);
    struct trace without = trace_new(A), with = trace_new(A);
    uint64_t seed = 11;
    size_t below_root = 0, full = 0;
    for (size_t round = 0; round < test_soak(60); round++) {
        enum dpl_event_kind kind = round % 2 ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN;
        struct dpl_grams grams;
        int32_t cell[200];
        town->n_trips = 0;
        add_random(town, 400, A, &seed);
        without.n = with.n = 0;
        explore(run, town, A, LENGTH_MAX, kind, 0.2, round, &without, &grams),
            dpl_grams_free(&grams);
        add_trip(town, cell, hostile_trip((int)(round / 2 % 4), A, &seed, cell));
        explore(run, town, A, LENGTH_MAX, kind, 0.2, round, &with, &grams), dpl_grams_free(&grams);
        double l1 = 0, l2 = 0;
        for (size_t v = 0; v < without.n && v < with.n; v++) {
            const struct dpl_ngram_view *a = &without.node[v].view, *b = &with.node[v].view;
            if (a->parent != b->parent || a->symbol != b->symbol || a->part != b->part) break;
            double part = (double)a->part / (double)DPL_FILTER_WHOLE, sum = 0;
            for (size_t i = 0; i <= A; i++) {
                if (v == 0 && i == A) continue; // forced to 0
                double moved = fabs(with.node[v].noised[i] - without.node[v].noised[i]);
                sum += moved;
            }
            l1 += sum * part, l2 += sum * sum * part;
            below_root += v > 0 && sum > 0;
        }
        if (l1 > LENGTH_MAX * (1 + 1e-9))
            fail_msg("a trip costs %g of %d (Laplace)", l1, LENGTH_MAX);
        if (l2 > LENGTH_MAX * LENGTH_MAX * (1 + 1e-9))
            fail_msg("a trip costs %g of %d (Gaussian)", l2, LENGTH_MAX * LENGTH_MAX);
        full += l1 > 0.5 * LENGTH_MAX;
    }
    assert_true(below_root > 20 &&
                full > 0); // the test does look into the tree, and trips do come near the bound
    free(without.node), free(with.node), free(town);
    dpl_run_free(run);
}

static size_t gram_of(const struct trace *trace, uint32_t v, int32_t gram[DPL_NGRAM_LONGEST]) {
    size_t n = (size_t)trace->node[v].view.level;
    for (size_t i = n; i > 0; i--, v = trace->node[v].view.parent)
        gram[i - 1] = trace->node[v].view.symbol;
    return n;
}

/* How often the gram stands in the first `most` visits with something behind it, the end of the
 * trip included: what the node counts. */
static size_t times_in(const int32_t *gram, size_t n, const int32_t *cell, size_t visits) {
    size_t times = 0;
    for (size_t at = 0; at + n <= visits && at < visits; at++)
        times += !memcmp(cell + at, gram, n * sizeof *gram);
    return times;
}

/* The same bound for any trip on any tree, counted by an oracle that knows grams only. */
static void no_trip_can_overspend_any_tree(void **state) {
    (void)state;
    enum { A = 5, LENGTH_MAX = 10 };
    struct dpl_run *run = test_run(1);
    struct town *town = calloc(1, sizeof *town);
    struct trace trace = trace_new(A);
    uint64_t seed = 12;
    for (size_t round = 0; round < test_soak(20); round++) {
        struct dpl_grams grams;
        town->n_trips = 0, trace.n = 0;
        add_random(town, 1500, A, &seed);
        explore(run, town, A, LENGTH_MAX, round % 2 ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN,
                0.1 + 0.2 * (double)(round % 3), round, &trace, &grams);
        dpl_grams_free(&grams);
        for (int how = 0; how < 40; how++) {
            int32_t cell[200], gram[DPL_NGRAM_LONGEST];
            size_t visits = hostile_trip(how % 4, A, &seed, cell);
            if (visits > LENGTH_MAX) visits = LENGTH_MAX;
            double l1 = 0, l2 = 0;
            for (uint32_t v = 0; v < trace.n; v++) {
                double c = (double)times_in(gram, gram_of(&trace, v, gram), cell, visits),
                       part = (double)trace.node[v].view.part / (double)DPL_FILTER_WHOLE;
                l1 += c * part, l2 += c * c * part;
            }
            assert_true(l1 <= LENGTH_MAX * (1 + 1e-9) &&
                        l2 <= LENGTH_MAX * LENGTH_MAX * (1 + 1e-9));
        }
    }
    free(trace.node), free(town);
    dpl_run_free(run);
}

/* ---- the tree against an oracle ---- */

static uint32_t find_gram(const struct trace *trace, const int32_t *gram, size_t n) {
    for (uint32_t v = 0; v < trace->n; v++) {
        int32_t other[DPL_NGRAM_LONGEST];
        if (gram_of(trace, v, other) == n && !memcmp(other, gram, n * sizeof *gram)) return v;
    }
    return DPL_FILTER_NO_NODE;
}

static bool all_released(const struct seen *seen) {
    return seen->view.level == 0 || seen->view.height <= 1;
}

/* Noised counts of released bins: their sum, and the largest. */
static double released_sum(const struct trace *trace, const struct seen *seen, double *most) {
    double sum = 0;
    *most = 0;
    for (size_t i = 0; i <= trace->A; i++) {
        bool out = all_released(seen) ? seen->noised[i] > 0 : seen->noised[i] > seen->view.theta;
        if (!out || (seen->view.level == 0 && i == trace->A)) continue;
        sum += seen->noised[i];
        *most = fmax(*most, seen->noised[i]);
    }
    return sum;
}

static uint32_t markov_of(const struct trace *trace, uint32_t v) {
    int32_t gram[DPL_NGRAM_LONGEST];
    size_t n = gram_of(trace, v, gram);
    for (size_t skip = 1; skip < n; skip++) {
        uint32_t found = find_gram(trace, gram + skip, n - skip);
        double most;
        if (found != DPL_FILTER_NO_NODE && released_sum(trace, &trace->node[found], &most) > 0)
            return found;
    }
    return 0;
}

static int height_of(const struct trace *trace, const struct seen *parent, double count,
                     uint32_t markov, int level) {
    double most, sum = released_sum(trace, &trace->node[markov], &most),
                 p = sum > 0 ? most / sum : 1;
    double height =
        p < 1 ? ceil(log(parent->view.theta / count) / log(p)) : DPL_NGRAM_LONGEST - level;
    return height < 1                           ? 0
           : height < DPL_NGRAM_LONGEST - level ? (int)height
                                                : DPL_NGRAM_LONGEST - level;
}

static void check_node(const struct trace *trace, uint32_t v, bool laplace, double sigma,
                       double length_max) {
    const struct seen *seen = &trace->node[v], *parent = v ? &trace->node[seen->view.parent] : NULL;
    double part = (double)seen->view.part / (double)DPL_FILTER_WHOLE, bins = (double)trace->A + 1;
    double theta = laplace ? length_max * log(bins / 2) * sigma / part
                           : length_max * sigma / sqrt(part) * dpl_normal_quantile(1 - 1 / bins);
    assert_near(seen->view.theta, theta, 1e-6 * theta);
    if (!parent) {
        assert_true(seen->view.part == DPL_FILTER_WHOLE / DPL_NGRAM_LONGEST &&
                    seen->view.height == DPL_NGRAM_LONGEST);
        return;
    }
    double noised = parent->noised[seen->view.symbol], sum = 0;
    uint64_t above = 0;
    for (uint32_t at = seen->view.parent; at != DPL_FILTER_NO_NODE;
         at = trace->node[at].view.parent)
        above += trace->node[at].view.part;
    assert_true(seen->view.level == parent->view.level + 1 && parent->view.height > 1);
    assert_true(parent->view.level == 0 || noised > parent->view.theta);
    assert_int_equal(seen->view.markov, markov_of(trace, v));
    assert_int_equal(seen->view.height,
                     height_of(trace, parent, noised, seen->view.markov, seen->view.level));
    assert_true(seen->view.part == (DPL_FILTER_WHOLE - above) / (uint64_t)seen->view.height);
    assert_near(seen->view.count, parent->released[seen->view.symbol],
                1e-6 * seen->view.count + 1e-9);
    for (size_t i = 0; i <= trace->A; i++) {
        sum += seen->released[i];
        if (all_released(seen) && !(seen->noised[i] > 0)) assert_true(!(seen->released[i] > 0));
    }
    if (sum > 0) assert_near(sum, seen->view.count, 1e-6 * seen->view.count);
}

static void trees_follow_the_rules(void **state) {
    (void)state;
    enum { A = 8, LENGTH_MAX = 9 };
    struct dpl_run *run = test_run(1);
    struct town *town = calloc(1, sizeof *town);
    struct trace trace = trace_new(A);
    uint64_t seed = 13;
    for (size_t round = 0; round < test_soak(8); round++) {
        bool laplace = round % 2;
        double sigma = round < 4 ? 0.3 : 1;
        struct dpl_grams grams;
        town->n_trips = 0, trace.n = 0;
        add_random(town, 2500, A, &seed);
        explore(run, town, A, LENGTH_MAX, laplace ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN, sigma,
                round, &trace, &grams);
        assert_true(trace.n > A);
        size_t due = 1;
        for (uint32_t v = 0; v < trace.n; v++) {
            const struct seen *seen = &trace.node[v];
            int32_t gram[DPL_NGRAM_LONGEST + 1];
            check_node(&trace, v, laplace, sigma, LENGTH_MAX);
            if (seen->view.height <= 1) continue;
            for (size_t i = 0; i < A; i++) { // and every bin that is due a child has one
                if (!(seen->noised[i] > 0) || (v > 0 && !(seen->noised[i] > seen->view.theta)))
                    continue;
                size_t n = gram_of(&trace, v, gram);
                uint32_t markov = 0;
                gram[n] = (int32_t)i;
                double most;
                for (size_t skip = 1; skip <= n && markov == 0; skip++) {
                    uint32_t found = find_gram(&trace, gram + skip, n + 1 - skip);
                    if (found != DPL_FILTER_NO_NODE &&
                        released_sum(&trace, &trace.node[found], &most) > 0)
                        markov = found;
                }
                int height = height_of(&trace, seen, seen->noised[i], markov, seen->view.level + 1);
                assert_true((find_gram(&trace, gram, n + 1) != DPL_FILTER_NO_NODE) == (height > 0));
                due += height > 0;
            }
        }
        assert_int_equal(due, trace.n);
        dpl_grams_free(&grams);
    }
    free(trace.node), free(town);
    dpl_run_free(run);
}

/* How often `symbol` follows the gram in all trips, cut to length_max; the terminator follows where
 * a trip ends. */
static double follows(const struct town *town, size_t length_max, const int32_t *gram, size_t n,
                      int32_t symbol, int32_t terminator) {
    double times = 0;
    for (size_t t = 0; t < town->n_trips; t++) {
        const int32_t *cell = town->cell + town->start[t];
        size_t visits = town->start[t + 1] - town->start[t];
        if (visits > length_max) visits = length_max;
        for (size_t at = 0; at + n <= visits && at < visits; at++)
            times += !memcmp(cell + at, gram, n * sizeof *gram) &&
                     symbol == (at + n < visits ? cell[at + n] : terminator);
    }
    return times;
}

/* What is released is the true count of each gram plus noise of the node's own scale: against
 * counting by brute force. */
static void counts_are_noised_as_their_parts_say(void **state) {
    (void)state;
    enum { A = 6, LENGTH_MAX = 8 };
    static const double SIGMA = 0.2;
    struct dpl_run *run = test_run(1);
    struct town *town = calloc(1, sizeof *town);
    struct trace trace = trace_new(A);
    struct dpl_grams grams;
    uint64_t seed = 16;
    add_random(town, 800, A, &seed);
    for (int laplace = 0; laplace < 2; laplace++) {
        double squares = 0, sum = 0, n = 0;
        trace.n = 0;
        explore(run, town, A, LENGTH_MAX, laplace ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN, SIGMA,
                3, &trace, &grams);
        dpl_grams_free(&grams);
        for (uint32_t v = 0; v < trace.n; v++) {
            int32_t gram[DPL_NGRAM_LONGEST];
            size_t length = gram_of(&trace, v, gram);
            double part = (double)trace.node[v].view.part / (double)DPL_FILTER_WHOLE,
                   scale = LENGTH_MAX * SIGMA / (laplace ? part / sqrt(2) : sqrt(part));
            for (int32_t i = 0; i <= A - (v == 0); i++, n++) {
                double noise =
                    (trace.node[v].noised[i] - follows(town, LENGTH_MAX, gram, length, i, A)) /
                    scale;
                squares += noise * noise, sum += noise;
            }
        }
        assert_true(n > 300);
        assert_near(squares / n, 1,
                    5 * sqrt((laplace ? 5 : 2) / n)); // by the fourth moments, five deviations
        assert_near(sum / n, 0, 5 / sqrt(n));
    }
    free(trace.node), free(town);
    dpl_run_free(run);
}

static void quantiles_are_known_ones(void **state) {
    (void)state;
    assert_near(dpl_normal_quantile(0.5), 0, 1e-12);
    assert_near(dpl_normal_quantile(0.975), 1.959963984540054, 1e-12);
    assert_near(dpl_normal_quantile(1 - 1 / 401.0), 2.8077, 1e-3);
}

/* ---- by hand ---- */

/* The count of a gram such as "ab" or "ab." (the end), 0: not kept. */
static int64_t count_of(const struct dpl_grams *grams, const char *text) {
    int32_t gram = 0;
    for (size_t i = 0; text[i]; i++) {
        gram = dpl_gram_find(grams, i, gram, text[i] == '.' ? grams->terminator : text[i] - 'a');
        if (gram < 0) return 0;
    }
    return grams->table[strlen(text)].count[gram];
}

static int64_t trips_like(const struct dpl_gram_trips *trips, const char *text) {
    int64_t times = 0;
    for (size_t t = 0; t < trips->n; t++) {
        size_t n = (size_t)(trips->start[t + 1] - trips->start[t]), alike = n == strlen(text);
        for (size_t v = 0; alike && v < n; v++)
            alike = trips->cell[trips->start[t] + (int32_t)v] == text[v] - 'a';
        times += alike ? trips->count[t] : 0;
    }
    return times;
}

/* Three trips ab and one ba, without noise. Counts: a 4, b 4; after a: b 3, end 1; after b: a 1,
 * end 3; after ab: end 3; after ba: end 1. Consistency at ab: released is the end (3); b's
 * histogram says a 1, end 3, so a is guessed 3 * 1/3 = 1; scaled to 3: a 0.75, end 2.25. At ba: a's
 * histogram says b 3, end 1: b 3; scaled to 1: b 0.75, end 0.25. So the one gram of three is ab., 2
 * times; nothing is left to join. Taken apart: ab 3 times leaves a 1, b 1; ba once leaves none: the
 * trips as they were. */
static void a_tree_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct town *town = calloc(1, sizeof *town);
    struct trace trace = trace_new(2);
    struct dpl_grams grams;
    struct dpl_gram_trips trips;
    add_text(town, "ab", 3), add_text(town, "ba", 1);
    explore(run, town, 2, 6, DPL_EVENT_GAUSSIAN, 0, 0, &trace, &grams);
    assert_int_equal(trace.n, 5); // (), a, b, ab, ba
    static const double NOISED[5][3] = {{4, 4, 0}, {0, 3, 1}, {1, 0, 3}, {0, 0, 3}, {0, 0, 1}};
    static const double RELEASED[5][3] = {
        {4, 4, 0}, {0, 3, 1}, {1, 0, 3}, {0.75, 0, 2.25}, {0, 0.75, 0.25}};
    for (size_t v = 0; v < 5; v++)
        for (size_t i = 0; i < 3; i++) {
            assert_near(trace.node[v].noised[i], NOISED[v][i], 0);
            assert_near(trace.node[v].released[i], RELEASED[v][i], 1e-6);
        }
    assert_int_equal(grams.length, 3);
    assert_int_equal(grams.table[1].n + grams.table[2].n + grams.table[3].n, 2 + 4 + 1);
    assert_int_equal(count_of(&grams, "ab"), 3);
    assert_int_equal(count_of(&grams, "a."), 1);
    assert_int_equal(count_of(&grams, "ab."), 2);
    assert_ok(run, dpl_grams_extend(run, &grams, 6));
    assert_int_equal(grams.length, 3);
    assert_ok(run, dpl_grams_synthesise(run, &grams, 6, &trips));
    assert_int_equal(trips.total, 4);
    assert_int_equal(trips_like(&trips, "ab"), 3);
    assert_int_equal(trips_like(&trips, "ba"), 1);
    dpl_gram_trips_free(&trips);
    dpl_grams_free(&grams);
    free(trace.node), free(town);
    dpl_run_free(run);
}

static void put_grams(struct dpl_run *run, struct dpl_grams *grams, const char *const *text,
                      const int64_t *count, size_t n) {
    struct dpl_gram_list list = {0};
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(text[i]);
        int32_t prefix = 0;
        for (size_t j = 0; j + 1 < length; j++)
            prefix = dpl_gram_find(grams, j, prefix, text[i][j] - 'a');
        assert_true(prefix >= 0);
        assert_ok(run, dpl_gram_put(run, &list, prefix,
                                    text[i][length - 1] == '.' ? grams->terminator
                                                               : text[i][length - 1] - 'a',
                                    count[i]));
    }
    assert_ok(run, dpl_grams_add(run, grams, &list));
}

/* a 10, b 8, c 6; ab 8, bc 6, b. 2, ca 3.
 * Joined: abc = 8*6/8 = 6, ab. = 8*2/8 = 2, bca = 6*3/6 = 3, cab = 3*8/10 = 2.4 -> 2. Again: abca =
 * 6*3/6 = 3, bcab = 3*2/3 = 2, cabc = 2*6/8 -> 1, cab. = 2*2/8 -> none. Four symbols are as long as
 * trips get. Taken apart: abca 3 times (a 4, b 5, c 3, ab 5, bc 3, ca 0, abc 3, bca 0); bcab and
 * cabc would take ca below 0; abc 3 times (a 1, b 2, c 0, ab 2, bc 0); ab twice would take a below
 * 0. */
static void extension_and_synthesis_by_hand(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_grams grams;
    struct dpl_gram_trips trips;
    assert_ok(run, dpl_grams_new(run, 3, 5, &grams));
    put_grams(run, &grams, (const char *[]){"a", "b", "c"}, (int64_t[]){10, 8, 6}, 3);
    put_grams(run, &grams, (const char *[]){"ab", "bc", "b.", "ca"}, (int64_t[]){8, 6, 2, 3}, 4);
    assert_ok(run, dpl_grams_extend(run, &grams, 4));
    assert_int_equal(grams.length, 4);
    static const struct {
        const char *gram;
        int64_t count;
    } EXPECTED[] = {{"abc", 6},  {"ab.", 2},  {"bca", 3},  {"cab", 2},
                    {"abca", 3}, {"bcab", 2}, {"cabc", 1}, {"cab.", 0}};
    for (size_t i = 0; i < sizeof EXPECTED / sizeof *EXPECTED; i++)
        assert_int_equal(count_of(&grams, EXPECTED[i].gram), EXPECTED[i].count);
    assert_int_equal(grams.table[3].n, 4);
    assert_int_equal(grams.table[4].n, 3);
    assert_ok(run, dpl_grams_synthesise(run, &grams, 4, &trips));
    assert_int_equal(trips.total, 6);
    assert_int_equal(trips_like(&trips, "abca"), 3);
    assert_int_equal(trips_like(&trips, "abc"), 3);
    assert_int_equal(count_of(&grams, "a"), 1); // what is left
    assert_int_equal(count_of(&grams, "b"), 2);
    assert_int_equal(count_of(&grams, "ab"), 2);
    assert_int_equal(count_of(&grams, "ca"), 0);
    dpl_gram_trips_free(&trips);
    dpl_grams_free(&grams);
    dpl_run_free(run);
}

/* Without noise, grams are the true ones as long as nothing is guessed: against counting by brute
 * force. */
static void bare_counts_are_true(void **state) {
    (void)state;
    enum { A = 4 };
    struct dpl_run *run = test_run(2);
    struct town *town = calloc(1, sizeof *town);
    struct dpl_grams grams;
    uint64_t seed = 14;
    add_random(town, 300, A, &seed);
    explore(run, town, A, 20, DPL_EVENT_LAPLACE, 0, 0, NULL, &grams);
    for (int32_t a = 0; a < A; a++) {
        size_t times = 0, ends = 0;
        for (size_t t = 0; t < town->n_trips; t++) {
            const int32_t *cell = town->cell + town->start[t];
            size_t n = town->start[t + 1] - town->start[t];
            times += times_in(&a, 1, cell, n);
            ends += cell[n - 1] == a;
        }
        int32_t gram = dpl_gram_find(&grams, 0, 0, a), end = dpl_gram_find(&grams, 1, gram, A);
        assert_int_equal(grams.table[1].count[gram], times);
        assert_int_equal(end < 0 ? 0 : grams.table[2].count[end], ends);
    }
    dpl_grams_free(&grams);
    free(town);
    dpl_run_free(run);
}

/* Grams do not depend on who noised which node: trees large enough that rows are read while others
 * are written. */
static void any_number_of_threads_gives_the_same_grams(void **state) {
    (void)state;
    enum { A = 14 };
    struct town *town = calloc(1, sizeof *town);
    uint64_t seed = 15;
    add_random(town, 2500, A, &seed);
    for (size_t round = 0; round < test_soak(4); round++) {
        struct dpl_grams grams[2];
        for (int i = 0; i < 2; i++) {
            struct dpl_run *run = test_run(i ? 4 : 1);
            explore(run, town, A, 12, round % 2 ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN, 0.02,
                    round, NULL, &grams[i]);
            dpl_run_free(run);
        }
        assert_int_equal(grams[0].length, grams[1].length);
        for (size_t l = 1; l <= grams[0].length; l++) {
            const struct dpl_gram_table *a = &grams[0].table[l], *b = &grams[1].table[l];
            assert_int_equal(a->n, b->n);
            assert_memory_equal(a->prefix, b->prefix, a->n * sizeof *a->prefix);
            assert_memory_equal(a->last, b->last, a->n * sizeof *a->last);
            assert_memory_equal(a->count, b->count, a->n * sizeof *a->count);
        }
        assert_true(grams[0].table[3].n > 500);
        dpl_grams_free(&grams[0]), dpl_grams_free(&grams[1]);
    }
    free(town);
}

/* Whichever allocation fails: a sentence, and nothing is leaked (the sanitizers look). */
static void survives_every_failing_allocation(void **state) {
    (void)state;
    struct town *town = calloc(1, sizeof *town);
    enum dpl_status status = DPL_SYSTEM;
    add_text(town, "abcab", 3), add_text(town, "bca", 2);
    const struct dpl_units units = {
        .n_units = town->n_trips, .trip_start = town->start, .cell = town->cell};
    const struct dpl_event event = {.name = "tree",
                                    .kind = DPL_EVENT_LAPLACE,
                                    .sigma = 0.02,
                                    .sensitivity = 6,
                                    .rate = 1,
                                    .steps = 1};
    for (long n = 1; status != DPL_OK; n++) {
        struct dpl_run *run = test_run(1);
        struct dpl_secret secret;
        struct dpl_filter *filter = NULL;
        struct dpl_sequences sequences = {0};
        struct dpl_grams grams = {0};
        struct dpl_gram_trips trips = {0};
        assert_ok(run, dpl_secret_from_seed(run, 1, &secret));
        dpl_run_fail_allocation(run, n);
        status = dpl_filter_open(run, &secret, &event,
                                 (struct dpl_stream_id){DPL_PURPOSE_TEST, 0, 0}, false, 4, &filter);
        if (status == DPL_OK)
            status = dpl_sequences_make(run, &units, town->n_trips, 3, 6, &sequences);
        if (status == DPL_OK)
            status = dpl_ngram_explore(run, &sequences, 1, filter, 6, &grams, NULL, NULL);
        if (status == DPL_OK) status = dpl_grams_extend(run, &grams, 6);
        if (status == DPL_OK) status = dpl_grams_synthesise(run, &grams, 6, &trips);
        assert_true(status == DPL_OK ? trips.total > 0
                                     : status == DPL_SYSTEM && dpl_run_message(run)[0]);
        dpl_gram_trips_free(&trips), dpl_grams_free(&grams), dpl_sequences_free(&sequences),
            dpl_filter_close(filter);
        dpl_run_free(run);
        assert_true(n < 1000);
    }
    free(town);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_trip_moves_the_tree_within_the_budget),
        cmocka_unit_test(no_trip_can_overspend_any_tree),
        cmocka_unit_test(trees_follow_the_rules),
        cmocka_unit_test(counts_are_noised_as_their_parts_say),
        cmocka_unit_test(quantiles_are_known_ones),
        cmocka_unit_test(a_tree_by_hand),
        cmocka_unit_test(extension_and_synthesis_by_hand),
        cmocka_unit_test(bare_counts_are_true),
        cmocka_unit_test(any_number_of_threads_gives_the_same_grams),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
