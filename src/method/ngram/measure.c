/* Growing the tree, a level at a time.
 *
 *     walks: one for each visit of each trip, at the node that spells the symbols from there on
 *
 *     level l:  each part sorts its walks by node
 *               -> each node, by any thread: the next symbols counted in all parts, noised,
 *                  released, made consistent
 *               -> children of what exceeds the noise
 *               -> each walk goes on to the child of its next symbol, or ends
 *
 * Invariants
 *  - PRIVACY: exact counts are in a struct dpl_bins, which is opaque, one per thread, and wiped
 * when the filter has noised it. What comes after is post-processing.
 *  - A walk passes one node a level, on one path; there are at most length_max a trip: what
 *    noise/filter.h asks for.
 *  - `struct walks` is private and belongs to one part; `struct tree` holds released numbers only.
 *  - A node's noise follows from its number, numbers from released counts: any number of threads
 * and of parts gives the same bits.
 *  - Suffixes of a node's gram have lower levels, so that a Markov parent is complete, and stays
 *    where it is, when it is asked.
 * Cost: nodes * (A + 1) draws of noise; a few passes over the visits per level; 6 bytes for each
 * bin above zero. */
#include "method/ngram/measure.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROOT = 0 };

struct node {
    uint32_t parent, first_child, n_children;
    uint32_t link,
        markov; // longest proper suffix that has a node; the first of those that has a released bin
    uint16_t symbol; // last of its gram
    uint8_t level, height;
    int worker;            // whose row it is
    size_t row, n_row;     // bins above 0 of its consistent histogram
    size_t found, n_found; // bins that may get a child, with their noised counts
    double count;          // of its gram, in its parent's consistent histogram
    double p_max;          // largest probability among its released bins; 0: there is none
};

/* Rows and finds of one level, of one thread: a level that is done is read by all threads, and must
 * not move when the next one grows. */
struct pool {
    uint16_t *symbol, *found_symbol;
    float *value, *found_value;
    size_t n, n_found, symbol_capacity, value_capacity, found_symbol_capacity, found_value_capacity;
};

struct worker {
    struct pool pool[DPL_NGRAM_LONGEST]; // by level
    struct dpl_random *random;
    struct dpl_bins *bins;               // PRIVATE: the counts of one node
    double *noised, *histogram, *markov; // (A + 1)
    bool *released;                      // (A + 1)
};

// PRIVATE: the walks of one part.
struct walks {
    const struct dpl_sequences *sequences;
    uint32_t *at;   // (n) node of each walk
    uint32_t *walk; // (n) where its first symbol is
    size_t n;
    uint32_t *order; // (n) walks sorted by node
    size_t *first;   // (nodes of the level + 1) into order
};

struct tree {
    struct dpl_filter *filter;
    size_t A;
    struct node *node;
    size_t n, capacity;
    struct walks *part; // (n_parts)
    size_t n_parts;
    struct worker *worker;
    int n_workers;
    dpl_ngram_look *look;
    void *user;
};

/* ---- trips as symbols ---- */

enum dpl_status dpl_sequences_make(struct dpl_run *run, const struct dpl_units *units,
                                   size_t n_trips, size_t n_symbols, size_t length_max,
                                   struct dpl_sequences *made) {
    struct dpl_sequences sequences = {.n_symbols = n_symbols, .n_trips = n_trips};
    if (n_symbols >= UINT16_MAX)
        return dpl_fail(run, DPL_USAGE,
                        "Ngram can tell %d cells apart, not %zu (a lower `fit.coverage` or a "
                        "larger `area.cell_m`)",
                        UINT16_MAX - 1, n_symbols);
    size_t room = n_trips + (n_trips > 0 ? units->trip_start[n_trips] - units->trip_start[0] : 0);
    if (room >= UINT32_MAX) // a limit of the machine, like its memory: docs/PRIVACY.md
        return dpl_fail(run, DPL_USAGE, "Ngram can count 2^32 visits, and there are more");
    sequences.symbol = dpl_alloc(run, room, sizeof *sequences.symbol);
    if (!sequences.symbol) return DPL_SYSTEM;
    for (size_t t = 0; t < n_trips; t++) {
        size_t begin = units->trip_start[t], n = units->trip_start[t + 1] - begin;
        if (n > length_max) n = length_max;
        for (size_t v = 0; v < n; v++)
            sequences.symbol[sequences.n++] = (uint16_t)units->cell[begin + v];
        sequences.symbol[sequences.n++] = (uint16_t)n_symbols;
    }
    *made = sequences;
    return DPL_OK;
}

void dpl_sequences_free(struct dpl_sequences *sequences) {
    dpl_free(sequences->symbol);
    *sequences = (struct dpl_sequences){0};
}

/* ---- thresholds and heights ---- */

/* One bin of noise alone is expected above it: P(noise > theta) = 1 / (A + 1). */
static double threshold(const struct tree *tree, uint32_t node) {
    double scale = dpl_filter_scale(tree->filter, node), bins = (double)tree->A + 1;
    return scale *
           (dpl_filter_laplace(tree->filter) ? log(bins / 2) : dpl_normal_quantile(1 - 1 / bins));
}

/* How many levels it takes until a count is expected to fall to theta, when each keeps p_max of it;
 * 0: no child. */
static int child_height(double theta, double count, double p_max, int most) {
    if (!(p_max > 0 && p_max < 1)) return most;
    if (!(theta > 0)) return most; // no noise: no count is too low
    double height = ceil(log(theta / count) / log(p_max));
    return !(height >= 1) ? 0 : height < most ? (int)height : most;
}

/* ---- finding nodes ---- */

static uint32_t find_child(const struct tree *tree, uint32_t node, uint16_t symbol) {
    uint32_t low = tree->node[node].first_child, end = low + tree->node[node].n_children,
             high = end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (tree->node[middle].symbol < symbol)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && tree->node[low].symbol == symbol ? low : DPL_FILTER_NO_NODE;
}

/* The suffixes of g.x are those of g with x behind them, and () at last. */
static uint32_t find_link(const struct tree *tree, uint32_t parent, uint16_t symbol) {
    for (uint32_t at = parent; at != ROOT;) {
        at = tree->node[at].link;
        uint32_t child = find_child(tree, at, symbol);
        if (child != DPL_FILTER_NO_NODE) return child;
    }
    return ROOT;
}

static uint32_t find_markov(const struct tree *tree, uint32_t link) {
    while (link != ROOT && !(tree->node[link].p_max > 0)) link = tree->node[link].link;
    return link;
}

static const struct pool *pool_of(const struct tree *tree, const struct node *node) {
    return &tree->worker[node->worker].pool[node->level];
}

/* ---- one node ---- */

static enum dpl_status put_row(struct dpl_run *run, struct pool *pool, uint16_t symbol,
                               double value) {
    DPL_TRY(
        dpl_grow(run, &pool->symbol, &pool->symbol_capacity, pool->n + 1, sizeof *pool->symbol));
    DPL_TRY(dpl_grow(run, &pool->value, &pool->value_capacity, pool->n + 1, sizeof *pool->value));
    pool->symbol[pool->n] = symbol;
    pool->value[pool->n++] = (float)value;
    return DPL_OK;
}

static enum dpl_status put_found(struct dpl_run *run, struct pool *pool, uint16_t symbol,
                                 double value) {
    DPL_TRY(dpl_grow(run, &pool->found_symbol, &pool->found_symbol_capacity, pool->n_found + 1,
                     sizeof *pool->found_symbol));
    DPL_TRY(dpl_grow(run, &pool->found_value, &pool->found_value_capacity, pool->n_found + 1,
                     sizeof *pool->found_value));
    pool->found_symbol[pool->n_found] = symbol;
    pool->found_value[pool->n_found++] = (float)value;
    return DPL_OK;
}

/* The next symbols of a part's walks at node v; `begin` is the first node of the level. */
static void count_node(const struct tree *tree, const struct walks *walks, uint32_t begin,
                       uint32_t v, struct dpl_bins *bins) {
    const uint16_t *symbol = walks->sequences->symbol + tree->node[v].level;
    for (size_t i = walks->first[v - begin]; i < walks->first[v - begin + 1]; i++)
        dpl_bins_add(bins, symbol[walks->walk[walks->order[i]]]);
}

/* PRIVACY: the only place where exact counts meet anything, and that is noise. */
static enum dpl_status count_and_noise(struct dpl_run *run, struct tree *tree,
                                       struct worker *worker, uint32_t begin, uint32_t v) {
    for (size_t i = 0; i < tree->n_parts; i++)
        count_node(tree, &tree->part[i], begin, v, worker->bins);
    return dpl_filter_noise(run, tree->filter, worker->random, v, worker->bins, worker->noised);
}

/* Which bins are released: all at the root and at leaves, what exceeds theta elsewhere. Fills
 * released and histogram (0 where not). */
static enum dpl_status release_bins(struct dpl_run *run, struct tree *tree, struct worker *worker,
                                    uint32_t v) {
    struct node *node = &tree->node[v];
    struct pool *pool = &worker->pool[node->level];
    bool all = v == ROOT || node->height <= 1;
    double theta = all ? -INFINITY : threshold(tree, v), sum = 0, most = 0;
    if (v == ROOT) worker->noised[tree->A] = 0; // nothing begins with the end
    node->found = pool->n_found;
    for (size_t i = 0; i <= tree->A; i++) {
        double value = fmax(worker->noised[i], 0);
        worker->released[i] = worker->noised[i] > theta;
        worker->histogram[i] = worker->released[i] ? value : 0;
        sum += worker->histogram[i];
        most = fmax(most, worker->histogram[i]);
        bool grows = worker->released[i] && i < tree->A && node->height > 1 && value > 0;
        if (grows) DPL_TRY(put_found(run, pool, (uint16_t)i, value));
    }
    node->n_found = pool->n_found - node->found;
    node->p_max = sum > 0 ? most / sum : 0;
    return DPL_OK;
}

/* The consistent histogram of a node, spread out. */
static void spread_row(const struct tree *tree, const struct node *node, double *into) {
    const struct pool *pool = pool_of(tree, node);
    memset(into, 0, (tree->A + 1) * sizeof *into);
    for (size_t i = node->row; i < node->row + node->n_row; i++)
        into[pool->symbol[i]] = (double)pool->value[i];
}

/* Guesses for the bins that were not released: by the Markov parent, or evenly what the parent's
 * count leaves. */
static void fill_in(const struct tree *tree, struct worker *worker, const struct node *node) {
    double released = 0, of_markov = 0, missing = 0;
    if (node->markov != ROOT) spread_row(tree, &tree->node[node->markov], worker->markov);
    for (size_t i = 0; i <= tree->A; i++) {
        if (!worker->released[i])
            missing++;
        else
            released += worker->histogram[i],
                of_markov += node->markov != ROOT ? worker->markov[i] : 0;
    }
    bool by_markov = node->markov != ROOT && of_markov > 0;
    double even = missing > 0 ? fmax((node->count - released) / missing, 0) : 0,
           times = of_markov > 0 ? released / of_markov : 1;
    for (size_t i = 0; i <= tree->A; i++)
        if (!worker->released[i])
            worker->histogram[i] = by_markov ? worker->markov[i] * times : even;
}

static void make_consistent(const struct tree *tree, struct worker *worker, uint32_t v) {
    const struct node *node = &tree->node[v];
    double sum = 0;
    if (v == ROOT) return;
    fill_in(tree, worker, node);
    for (size_t i = 0; i <= tree->A; i++) sum += worker->histogram[i];
    double times = sum > 0 ? node->count / sum : 0;
    for (size_t i = 0; i <= tree->A; i++) worker->histogram[i] *= times;
}

/* The last level is nobody's Markov parent: only what will be a gram is kept of it. */
static enum dpl_status keep_row(struct dpl_run *run, struct tree *tree, struct worker *worker,
                                uint32_t v) {
    struct node *node = &tree->node[v];
    struct pool *pool = &worker->pool[node->level];
    double least = node->level + 1 == DPL_NGRAM_LONGEST ? 1 : 0;
    node->worker = (int)(worker - tree->worker);
    node->row = pool->n;
    for (size_t i = 0; i <= tree->A; i++)
        if (worker->histogram[i] > 0 && worker->histogram[i] >= least)
            DPL_TRY(put_row(run, pool, (uint16_t)i, worker->histogram[i]));
    node->n_row = pool->n - node->row;
    return DPL_OK;
}

static void show(struct tree *tree, const struct worker *worker, uint32_t v) {
    const struct node *node = &tree->node[v];
    uint64_t above = dpl_filter_left(tree->filter, v == ROOT ? DPL_FILTER_NO_NODE : node->parent);
    const struct dpl_ngram_view view = {.node = v,
                                        .parent = v == ROOT ? DPL_FILTER_NO_NODE : node->parent,
                                        .symbol = v == ROOT ? -1 : node->symbol,
                                        .level = node->level,
                                        .height = node->height,
                                        .markov = node->markov,
                                        .part = above - dpl_filter_left(tree->filter, v),
                                        .theta = threshold(tree, v),
                                        .count = node->count,
                                        .noised = worker->noised,
                                        .released = worker->histogram};
    tree->look(tree->user, &view);
}

static enum dpl_status do_node(struct dpl_run *run, struct tree *tree, struct worker *worker,
                               uint32_t begin, uint32_t v) {
    DPL_TRY(count_and_noise(run, tree, worker, begin, v));
    DPL_TRY(release_bins(run, tree, worker, v));
    make_consistent(tree, worker, v);
    if (tree->look) show(tree, worker, v);
    return keep_row(run, tree, worker, v);
}

/* ---- a level ---- */

/* Walks of nodes begin ... end-1, sorted by node. */
static enum dpl_status sort_walks(struct dpl_run *run, struct walks *walks, uint32_t begin,
                                  uint32_t end) {
    size_t *first = dpl_alloc(run, (size_t)(end - begin) + 1, sizeof *first);
    if (!first) return DPL_SYSTEM;
    for (size_t i = 0; i < walks->n; i++) first[walks->at[i] - begin + 1]++;
    for (uint32_t v = begin; v < end; v++) first[v - begin + 1] += first[v - begin];
    for (size_t i = walks->n; i-- > 0;)
        walks->order[--first[walks->at[i] - begin + 1]] = (uint32_t)i;
    for (uint32_t v = begin; v < end; v++) first[v - begin] = first[v - begin + 1];
    first[end - begin] = walks->n;
    dpl_free(walks->first);
    walks->first = first;
    return DPL_OK;
}

static enum dpl_status do_level(struct dpl_run *run, struct tree *tree, uint32_t begin,
                                uint32_t end) {
    _Atomic int failed = DPL_OK;
    uint64_t trips = 0;
    for (size_t i = 0; i < tree->n_parts; i++) DPL_TRY(sort_walks(run, &tree->part[i], begin, end));
    for (size_t i = 0; i < tree->n_parts; i++) trips += tree->part[i].sequences->n_trips;
    DPL_TRY(dpl_filter_level(run, tree->filter, begin, end));
#pragma omp parallel for num_threads(tree->n_workers) schedule(dynamic, 8)
    for (uint32_t v = begin; v < end; v++) {
        if (failed) continue;
        enum dpl_status status = dpl_check_interrupt(run);
        if (status == DPL_OK)
            status = do_node(run, tree, &tree->worker[omp_get_thread_num()], begin, v);
        if (status != DPL_OK) failed = (int)status;
    }
    DPL_TRY((enum dpl_status)failed);
    return dpl_filter_level_end(run, tree->filter, trips);
}

static double row_value(const struct tree *tree, const struct node *node, uint16_t symbol) {
    const struct pool *pool = pool_of(tree, node);
    size_t low = node->row, high = node->row + node->n_row;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pool->symbol[middle] < symbol)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->row + node->n_row && pool->symbol[low] == symbol ? (double)pool->value[low]
                                                                        : 0;
}

/* PRIVACY: which children there are, and their parts, follow from noised counts and parts above. */
static enum dpl_status grow_child(struct dpl_run *run, struct tree *tree, uint32_t v, double theta,
                                  uint16_t symbol, double noised) {
    struct node child = {.parent = v,
                         .symbol = symbol,
                         .level = (uint8_t)(tree->node[v].level + 1),
                         .link = find_link(tree, v, symbol)};
    child.markov = find_markov(tree, child.link);
    child.height = (uint8_t)child_height(theta, noised, tree->node[child.markov].p_max,
                                         DPL_NGRAM_LONGEST - child.level);
    child.count = row_value(tree, &tree->node[v], symbol);
    uint64_t part = child.height > 0 ? dpl_filter_left(tree->filter, v) / child.height : 0;
    if (part == 0) return DPL_OK;
    uint32_t number;
    DPL_TRY(dpl_grow(run, &tree->node, &tree->capacity, tree->n + 1, sizeof *tree->node));
    DPL_TRY(dpl_filter_grow(run, tree->filter, v, part, &number));
    if (tree->node[v].n_children++ == 0) tree->node[v].first_child = number;
    tree->node[tree->n++] = child;
    return DPL_OK;
}

static enum dpl_status grow_level(struct dpl_run *run, struct tree *tree, uint32_t begin,
                                  uint32_t end) {
    for (uint32_t v = begin; v < end; v++) {
        if (tree->node[v].n_found == 0) continue;
        double theta = threshold(tree, v);
        const struct pool *pool = pool_of(tree, &tree->node[v]);
        size_t from = tree->node[v].found, to = from + tree->node[v].n_found;
        for (size_t i = from; i < to; i++)
            DPL_TRY(grow_child(run, tree, v, theta, pool->found_symbol[i],
                               (double)pool->found_value[i]));
    }
    return DPL_OK;
}

/* Each walk goes on to the child of its next symbol; those that find none end. */
static void move_walks(const struct tree *tree, struct walks *walks) {
    size_t kept = 0;
    for (size_t i = 0; i < walks->n; i++) {
        uint16_t symbol = walks->sequences->symbol[walks->walk[i] + tree->node[walks->at[i]].level];
        uint32_t child =
            symbol == tree->A ? DPL_FILTER_NO_NODE : find_child(tree, walks->at[i], symbol);
        if (child == DPL_FILTER_NO_NODE) continue;
        walks->walk[kept] = walks->walk[i];
        walks->at[kept++] = child;
    }
    walks->n = kept;
}

/* ---- the whole ---- */

static void free_tree(struct tree *tree) {
    for (int i = 0; tree->worker && i < tree->n_workers; i++) {
        struct worker *worker = &tree->worker[i];
        for (int l = 0; l < DPL_NGRAM_LONGEST; l++) {
            struct pool *pool = &worker->pool[l];
            dpl_free(pool->symbol), dpl_free(pool->value), dpl_free(pool->found_symbol),
                dpl_free(pool->found_value);
        }
        dpl_free(worker->noised), dpl_free(worker->histogram), dpl_free(worker->markov),
            dpl_free(worker->released);
        dpl_bins_free(worker->bins);
        dpl_random_free(worker->random);
    }
    for (size_t i = 0; tree->part && i < tree->n_parts; i++) {
        struct walks *walks = &tree->part[i];
        dpl_free(walks->at), dpl_free(walks->walk), dpl_free(walks->order), dpl_free(walks->first);
    }
    dpl_free(tree->worker), dpl_free(tree->node), dpl_free(tree->part);
}

static enum dpl_status make_workers(struct dpl_run *run, struct tree *tree) {
    size_t bins = tree->A + 1;
    tree->n_workers = dpl_run_threads(run);
    tree->worker = dpl_alloc(run, (size_t)tree->n_workers, sizeof *tree->worker);
    if (!tree->worker) return DPL_SYSTEM;
    for (int i = 0; i < tree->n_workers; i++) {
        struct worker *worker = &tree->worker[i];
        worker->noised = dpl_alloc(run, bins, sizeof *worker->noised);
        worker->histogram = dpl_alloc(run, bins, sizeof *worker->histogram);
        worker->markov = dpl_alloc(run, bins, sizeof *worker->markov);
        worker->released = dpl_alloc(run, bins, sizeof *worker->released);
        if (!worker->noised || !worker->histogram || !worker->markov || !worker->released)
            return DPL_SYSTEM;
        DPL_TRY(dpl_bins_new(run, tree->filter, &worker->bins));
        DPL_TRY(dpl_filter_random(run, tree->filter, &worker->random));
    }
    return DPL_OK;
}

/* A walk from each visit, at the root. */
static enum dpl_status begin_walks(struct dpl_run *run, size_t A,
                                   const struct dpl_sequences *sequences, struct walks *walks) {
    size_t n = sequences->n - sequences->n_trips;
    walks->sequences = sequences;
    walks->at = dpl_alloc(run, n, sizeof *walks->at);
    walks->walk = dpl_alloc(run, n, sizeof *walks->walk);
    walks->order = dpl_alloc(run, n, sizeof *walks->order);
    if (!walks->at || !walks->walk || !walks->order) return DPL_SYSTEM;
    for (size_t i = 0; i < sequences->n; i++)
        if (sequences->symbol[i] != A) walks->walk[walks->n++] = (uint32_t)i;
    return DPL_OK;
}

/* The root takes a share of 1 / n_max. */
static enum dpl_status grow_root(struct dpl_run *run, struct tree *tree) {
    uint32_t root;
    DPL_TRY(dpl_grow(run, &tree->node, &tree->capacity, 1, sizeof *tree->node));
    DPL_TRY(dpl_filter_grow(run, tree->filter, DPL_FILTER_NO_NODE,
                            DPL_FILTER_WHOLE / DPL_NGRAM_LONGEST, &root));
    tree->node[tree->n++] = (struct node){.height = DPL_NGRAM_LONGEST};
    return DPL_OK;
}

/* Grams of one symbol more than those of `node_of`: what their nodes' histograms hold, rounded
 * down. node_of becomes theirs. */
static enum dpl_status gather(struct dpl_run *run, const struct tree *tree, struct dpl_grams *grams,
                              uint32_t **node_of) {
    struct dpl_gram_list list = {0};
    size_t n = grams->table[grams->length].n, capacity = 0;
    uint32_t *below = NULL;
    enum dpl_status status = DPL_OK;
    for (size_t g = 0; g < n; g++) {
        uint32_t v = (*node_of)[g];
        if (v == DPL_FILTER_NO_NODE) continue;
        const struct node *node = &tree->node[v];
        const struct pool *pool = pool_of(tree, node);
        for (size_t i = node->row; i < node->row + node->n_row; i++) {
            double count = floor((double)pool->value[i]);
            if (count < 1) continue;
            DPL_GO(dpl_grow(run, &below, &capacity, list.n + 1, sizeof *below));
            below[list.n] = pool->symbol[i] == tree->A ? DPL_FILTER_NO_NODE
                                                       : find_child(tree, v, pool->symbol[i]);
            DPL_GO(dpl_gram_put(run, &list, (int32_t)g, pool->symbol[i],
                                (int64_t)fmin(count, 0x1p60)));
        }
    }
    DPL_GO(dpl_grams_add(run, grams, &list));
    dpl_free(*node_of);
    *node_of = below;
    below = NULL;
done:
    dpl_free(below);
    dpl_gram_list_free(&list);
    return status;
}

static enum dpl_status gather_all(struct dpl_run *run, const struct tree *tree,
                                  struct dpl_grams *grams) {
    enum dpl_status status = DPL_OK;
    uint32_t *node_of = dpl_alloc(run, 1, sizeof *node_of); // the empty gram is the root
    if (!node_of) return DPL_SYSTEM;
    for (size_t length = 0; length < DPL_NGRAM_LONGEST; length++) {
        DPL_GO(gather(run, tree, grams, &node_of));
        if (grams->length == length) break; // none of that length
    }
done:
    dpl_free(node_of);
    return status;
}

static enum dpl_status grow_tree(struct dpl_run *run, struct tree *tree) {
    DPL_TRY(grow_root(run, tree));
    for (uint32_t begin = 0, end = 1; begin < end;) {
        DPL_TRY(do_level(run, tree, begin, end));
        DPL_TRY(grow_level(run, tree, begin, end));
        for (size_t i = 0; i < tree->n_parts; i++) move_walks(tree, &tree->part[i]);
        begin = end;
        end = (uint32_t)tree->n;
    }
    return DPL_OK;
}

enum dpl_status dpl_ngram_explore(struct dpl_run *run, const struct dpl_sequences *sequences,
                                  size_t n_parts, struct dpl_filter *filter, size_t longest,
                                  struct dpl_grams *grams, dpl_ngram_look *look, void *user) {
    struct tree tree = {.filter = filter,
                        .A = dpl_filter_bins(filter) - 1,
                        .n_parts = n_parts,
                        .look = look,
                        .user = user};
    struct dpl_grams made = {0};
    enum dpl_status status;
    DPL_GO(make_workers(run, &tree));
    tree.part = dpl_alloc(run, n_parts, sizeof *tree.part);
    if (!tree.part) status = DPL_SYSTEM;
    for (size_t i = 0; status == DPL_OK && i < n_parts; i++)
        status = begin_walks(run, tree.A, &sequences[i], &tree.part[i]);
    if (status != DPL_OK) goto done;
    DPL_GO(grow_tree(run, &tree));
    dpl_note(run, "%zu sequences of cells are counted", tree.n);
    DPL_GO(dpl_grams_new(run, (int32_t)tree.A,
                         longest < DPL_NGRAM_LONGEST ? DPL_NGRAM_LONGEST : longest, &made));
    DPL_GO(gather_all(run, &tree, &made));
    *grams = made;
    made = (struct dpl_grams){0};
done:
    dpl_grams_free(&made);
    free_tree(&tree);
    return status;
}
