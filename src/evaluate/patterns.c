/* Frequent sequences and sets, exactly.
 *
 * Sequences. One pass over a data set numbers every pattern (a hash table over packed cells: 5
 * cells of at most 22 bits fit 128 bits, so keys are exact) and writes down each trip's distinct
 * patterns, the best supported first. Support in any part of the data is then one increment per
 * entry, and rare patterns are never looked at: floors over many random halves are cheap.
 *
 * Sets. A best-first search over sets, each extended only by later cells, so every set has one
 * parent. Support never grows when a cell is added and ties go to the smaller set, so a set ranks
 * after its parent: the first 200 sets to leave the queue are the first 200 there are. The supports
 * of all children of a set come from one pass over the trips that hold its rarest cell. At most 200
 * passes, whatever the data: a city where all trips agree has 2^n frequent sets, and is no slower.
 */
#include "evaluate/patterns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sequences ---- */

static int key_order(struct dpl_key a, struct dpl_key b) {
    if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
    return a.lo < b.lo ? -1 : a.lo > b.lo;
}

static struct dpl_key append_cell(struct dpl_key key, unsigned bits, int32_t cell) {
    key.hi = key.hi << bits | key.lo >> (64 - bits);
    key.lo = key.lo << bits | (uint64_t)(cell + 1);
    return key;
}

/* Of one cell in a key, which holds cells counted from 1: 0 is no cell. */
static unsigned bits_of(int32_t n_cells) {
    unsigned bits = 1;
    while ((int64_t)1 << bits <= n_cells) bits++;
    return bits;
}

size_t dpl_pattern_cells(struct dpl_key key, int32_t n_cells, int32_t cell[DPL_PATTERN_MAX]) {
    unsigned bits = bits_of(n_cells);
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    int32_t backwards[DPL_PATTERN_MAX];
    size_t n = 0;
    for (; n < DPL_PATTERN_MAX && (key.lo & mask); n++) {
        backwards[n] = (int32_t)(key.lo & mask) - 1;
        key.lo = key.lo >> bits | key.hi << (64 - bits);
        key.hi >>= bits;
    }
    for (size_t i = 0; i < n; i++) cell[i] = backwards[n - 1 - i];
    return n;
}

/* A bijection: the index takes its slot from the low bits. Only the empty key becomes the empty
 * key. */
static struct dpl_key mix(struct dpl_key key) {
    return (struct dpl_key){key.hi, dpl_mix64(key.lo + dpl_mix64(key.hi))};
}

struct numbering {
    struct dpl_index index;
    struct dpl_patterns *out;
    size_t key_capacity, pattern_capacity, last_capacity;
    uint32_t *last; /* (n_patterns) the trip that held it last, counted from 1 */
};

static enum dpl_status number_pattern(struct dpl_run *run, struct numbering *n, struct dpl_key key,
                                      uint32_t trip, size_t *used) {
    uint32_t number;
    bool fresh;
    DPL_TRY(dpl_index_put(run, &n->index, mix(key), &number, &fresh));
    if (fresh) {
        DPL_TRY(
            dpl_grow(run, &n->out->key, &n->key_capacity, (size_t)number + 1, sizeof *n->out->key));
        DPL_TRY(dpl_grow(run, &n->last, &n->last_capacity, (size_t)number + 1, sizeof *n->last));
        n->out->key[number] = key;
        n->last[number] = 0;
        n->out->n_patterns = (size_t)number + 1;
    }
    if (n->last[number] == trip + 1) return DPL_OK;
    n->last[number] = trip + 1;
    DPL_TRY(
        dpl_grow(run, &n->out->pattern, &n->pattern_capacity, *used + 1, sizeof *n->out->pattern));
    n->out->pattern[(*used)++] = number;
    return DPL_OK;
}

/* All runs that end at each cell: of the last five collapsed cells the last 2, 3, 4, 5. */
static enum dpl_status number_trip(struct dpl_run *run, struct numbering *n, const int32_t *cell,
                                   size_t n_visits, unsigned bits, uint32_t trip, size_t *used) {
    int32_t recent[DPL_PATTERN_MAX];
    size_t held = 0;
    for (size_t v = 0; v < n_visits; v++) {
        if (held && cell[v] == recent[held - 1]) continue;
        if (held == DPL_PATTERN_MAX) memmove(recent, recent + 1, --held * sizeof *recent);
        recent[held++] = cell[v];
        for (size_t length = DPL_PATTERN_MIN; length <= held; length++) {
            struct dpl_key key = {0, 0};
            for (size_t i = held - length; i < held; i++) key = append_cell(key, bits, recent[i]);
            DPL_TRY(number_pattern(run, n, key, trip, used));
        }
    }
    return DPL_OK;
}

struct ranked {
    uint32_t support, pattern;
};

static int most_supported_first(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->support != y->support) return x->support > y->support ? -1 : 1;
    return (x->pattern > y->pattern) - (x->pattern < y->pattern);
}

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Numbers the patterns anew, the most supported first, also within each trip: counting can then
 * stop early. */
static enum dpl_status renumber(struct dpl_run *run, struct dpl_patterns *patterns,
                                size_t n_trips) {
    size_t n = patterns->n_patterns, n_entries = patterns->start[n_trips];
    struct ranked *ranked = dpl_alloc(run, n, sizeof *ranked);
    uint32_t *fresh = dpl_alloc(run, n, sizeof *fresh);
    struct dpl_key *key = dpl_alloc(run, n, sizeof *key);
    enum dpl_status status = ranked && fresh && key ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) {
        for (size_t i = 0; i < n; i++) ranked[i].pattern = (uint32_t)i;
        for (size_t at = 0; at < n_entries; at++) ranked[patterns->pattern[at]].support++;
        qsort(ranked, n, sizeof *ranked, most_supported_first);
        for (size_t i = 0; i < n; i++)
            fresh[ranked[i].pattern] = (uint32_t)i, key[i] = patterns->key[ranked[i].pattern];
        for (size_t at = 0; at < n_entries; at++)
            patterns->pattern[at] = fresh[patterns->pattern[at]];
        for (size_t i = 0; i < n; i++)
            fresh[i] =
                ranked[i].support; // done with the new numbers: their supports take the place
        for (size_t i = 0; n && i < n_trips; i++)
            qsort(patterns->pattern + patterns->start[i],
                  patterns->start[i + 1] - patterns->start[i], sizeof *patterns->pattern,
                  compare_u32);
        dpl_free(patterns->key);
        patterns->key = key;
        patterns->support = fresh;
        key = NULL, fresh = NULL;
    }
    dpl_free(ranked);
    dpl_free(fresh);
    dpl_free(key);
    return status;
}

enum dpl_status dpl_patterns_make(struct dpl_run *run, const struct dpl_sequences *trips,
                                  struct dpl_patterns *patterns) {
    struct dpl_patterns made = {0};
    struct numbering n = {.out = &made};
    enum dpl_status status = DPL_SYSTEM;
    unsigned bits = bits_of(trips->n_cells);
    size_t used = 0;
    made.start = dpl_alloc(run, trips->n_trips + 1, sizeof *made.start);
    if (!made.start) goto done;
    for (size_t i = 0; i < trips->n_trips; i++) {
        size_t first = trips->start[i];
        DPL_GO(number_trip(run, &n, trips->cell + first, trips->start[i + 1] - first, bits,
                           (uint32_t)i, &used));
        made.start[i + 1] = used;
    }
    DPL_GO(renumber(run, &made, trips->n_trips));
    *patterns = made;
    made = (struct dpl_patterns){0};
done:
    dpl_index_free(&n.index);
    dpl_free(n.last);
    dpl_patterns_free(&made);
    return status;
}

void dpl_patterns_free(struct dpl_patterns *patterns) {
    dpl_free(patterns->key);
    dpl_free(patterns->support);
    dpl_free(patterns->start);
    dpl_free(patterns->pattern);
    *patterns = (struct dpl_patterns){0};
}

static void offer(struct dpl_top *top, uint32_t support, struct dpl_key key) {
    size_t at = top->n;
    if (at == DPL_TOP_PATTERNS) {
        uint32_t least = top->support[at - 1];
        if (support < least || (support == least && key_order(key, top->key[at - 1]) > 0)) return;
        at--;
    } else {
        top->n++;
    }
    for (; at > 0 && (support > top->support[at - 1] ||
                      (support == top->support[at - 1] && key_order(key, top->key[at - 1]) < 0));
         at--) {
        top->support[at] = top->support[at - 1];
        top->key[at] = top->key[at - 1];
    }
    top->support[at] = support;
    top->key[at] = key;
}

/* Adds the patterns from number `first` to before number `end`. */
static void count(const struct dpl_patterns *patterns, const uint32_t *trip, size_t n, size_t first,
                  size_t end, uint32_t *support) {
    for (size_t i = 0; i < n; i++) {
        const uint32_t *at = patterns->pattern + patterns->start[trip[i]],
                       *stop = patterns->pattern + patterns->start[trip[i] + 1];
        while (at < stop && *at < first) at++;
        for (; at < stop && *at < end; at++) support[*at]++;
    }
}

/* The first 200 patterns of the whole set have at least `least` support here, so whatever has less
 * than that in the whole set cannot be among the first 200 here: it need not be counted. */
void dpl_patterns_top(const struct dpl_patterns *patterns, const uint32_t *trip, size_t n,
                      uint32_t *support, struct dpl_top *top) {
    size_t first =
               patterns->n_patterns < DPL_TOP_PATTERNS ? patterns->n_patterns : DPL_TOP_PATTERNS,
           end = first;
    uint32_t least = UINT32_MAX;
    top->n = 0;
    if (first == 0) return; // nobody moves
    count(patterns, trip, n, 0, first, support);
    for (size_t i = 0; i < first; i++) least = support[i] < least ? support[i] : least;
    while (end < patterns->n_patterns && patterns->support[end] >= least) end++;
    count(patterns, trip, n, first, end, support);
    for (size_t i = 0; i < end; i++) {
        if (support[i]) offer(top, support[i], patterns->key[i]);
        support[i] = 0;
    }
}

double dpl_top_common(const struct dpl_top *a, const struct dpl_top *b, size_t n) {
    size_t n_a = a->n < n ? a->n : n, n_b = b->n < n ? b->n : n, common = 0;
    for (size_t i = 0; i < n_a; i++)
        for (size_t j = 0; j < n_b; j++) common += key_order(a->key[i], b->key[j]) == 0;
    return (double)common / (double)n;
}

/* ---- sets ---- */

struct set {
    uint32_t support;
    uint32_t size;
    int32_t
        item[DPL_SET_MAX]; /* ascending numbers of frequent cells, which ascend with the cells */
};

/* The trips of interest, reduced to their frequent cells ("items"), both ways round. */
struct items {
    size_t n_items, n_trips;
    int32_t *cell;      /* (n_items) */
    int32_t *item_of;   /* (n_cells) -1: not frequent */
    size_t *trip_start; /* (n_trips + 1) */
    int32_t *item;      /* items of each trip, ascending */
    size_t *item_start; /* (n_items + 1) */
    uint32_t *holder;   /* trips of each item, ascending */
    uint32_t *seen;     /* (n_cells) scratch: the trip that held the cell last, from 1 */
    uint32_t *support;  /* (n_cells) of cells; later of a set's children, by item */
    size_t item_capacity;
    struct set *queue; /* a heap, the best set at 0 */
    size_t n_queue, queue_capacity;
};

static void items_free(struct items *s) {
    void *const owned[] = {s->cell,   s->item_of, s->trip_start, s->item, s->item_start,
                           s->holder, s->seen,    s->support,    s->queue};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) dpl_free(owned[i]);
}

static void count_cells(struct items *s, const struct dpl_sequences *trips, const uint32_t *trip) {
    for (size_t i = 0; i < s->n_trips; i++)
        for (size_t v = trips->start[trip[i]]; v < trips->start[trip[i] + 1]; v++) {
            int32_t cell = trips->cell[v];
            if (s->seen[cell] == i + 1) continue;
            s->seen[cell] = (uint32_t)(i + 1);
            s->support[cell]++;
        }
}

static void sort_items(int32_t *item, size_t n) {
    for (size_t i = 1; i < n; i++) {
        int32_t moved = item[i];
        size_t at = i;
        for (; at > 0 && item[at - 1] > moved; at--) item[at] = item[at - 1];
        item[at] = moved;
    }
}

static enum dpl_status reduce_trips(struct dpl_run *run, struct items *s,
                                    const struct dpl_sequences *trips, const uint32_t *trip) {
    size_t used = 0;
    memset(s->seen, 0, (size_t)trips->n_cells * sizeof *s->seen);
    for (size_t i = 0; i < s->n_trips; i++) {
        size_t first = trips->start[trip[i]], end = trips->start[trip[i] + 1], begin = used;
        DPL_TRY(dpl_grow(run, &s->item, &s->item_capacity, used + (end - first), sizeof *s->item));
        for (size_t v = first; v < end; v++) {
            int32_t cell = trips->cell[v];
            if (s->item_of[cell] < 0 || s->seen[cell] == i + 1) continue;
            s->seen[cell] = (uint32_t)(i + 1);
            s->item[used++] = s->item_of[cell];
        }
        sort_items(s->item + begin, used - begin);
        s->trip_start[i + 1] = used;
    }
    return DPL_OK;
}

static void list_holders(struct items *s) {
    for (size_t i = 0; i < s->n_trips; i++)
        for (size_t at = s->trip_start[i]; at < s->trip_start[i + 1]; at++) {
            size_t *end = &s->item_start[s->item[at] + 1];
            s->holder[(*end)++] = (uint32_t)i;
        }
}

static enum dpl_status find_items(struct dpl_run *run, struct items *s,
                                  const struct dpl_sequences *trips, const uint32_t *trip,
                                  uint32_t least) {
    size_t n_cells = (size_t)trips->n_cells, held = 0;
    s->item_of = dpl_alloc(run, n_cells, sizeof *s->item_of);
    s->cell = dpl_alloc(run, n_cells, sizeof *s->cell);
    s->seen = dpl_alloc(run, n_cells, sizeof *s->seen);
    s->support = dpl_alloc(run, n_cells, sizeof *s->support);
    s->item_start = dpl_alloc(run, n_cells + 2, sizeof *s->item_start);
    s->trip_start = dpl_alloc(run, s->n_trips + 1, sizeof *s->trip_start);
    if (!s->item_of || !s->cell || !s->seen || !s->support || !s->item_start || !s->trip_start)
        return DPL_SYSTEM;
    count_cells(s, trips, trip);
    for (size_t cell = 0; cell < n_cells; cell++) {
        s->item_of[cell] = -1;
        if (s->support[cell] < least) continue;
        s->item_of[cell] = (int32_t)s->n_items;
        s->cell[s->n_items++] = (int32_t)cell;
        s->item_start[s->n_items] =
            held; // where the item begins for now; list_holders moves it to its end
        held += s->support[cell];
    }
    s->holder = dpl_alloc(run, held, sizeof *s->holder);
    if (!s->holder) return DPL_SYSTEM;
    DPL_TRY(reduce_trips(run, s, trips, trip));
    list_holders(s);
    return DPL_OK;
}

/* Negative when a ranks first: more support, fewer cells, lower cells. */
static int set_order(const struct set *a, const struct set *b) {
    if (a->support != b->support) return a->support > b->support ? -1 : 1;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    for (uint32_t i = 0; i < a->size; i++)
        if (a->item[i] != b->item[i]) return a->item[i] < b->item[i] ? -1 : 1;
    return 0;
}

static enum dpl_status push(struct dpl_run *run, struct items *s, struct set set) {
    DPL_TRY(dpl_grow(run, &s->queue, &s->queue_capacity, s->n_queue + 1, sizeof *s->queue));
    size_t at = s->n_queue++;
    for (; at > 0 && set_order(&set, &s->queue[(at - 1) / 2]) < 0; at = (at - 1) / 2)
        s->queue[at] = s->queue[(at - 1) / 2];
    s->queue[at] = set;
    return DPL_OK;
}

static struct set pop(struct items *s) {
    struct set best = s->queue[0], moved = s->queue[--s->n_queue];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= s->n_queue) break;
        if (child + 1 < s->n_queue && set_order(&s->queue[child + 1], &s->queue[child]) < 0)
            child++;
        if (set_order(&moved, &s->queue[child]) <= 0) break;
        s->queue[at] = s->queue[child];
        at = child;
    }
    if (s->n_queue) s->queue[at] = moved;
    return best;
}

/* Adds to the support of every later item of the trip, if the trip holds the set. */
static void count_children(struct items *s, const struct set *set, uint32_t trip) {
    const int32_t *item = s->item + s->trip_start[trip], *end = s->item + s->trip_start[trip + 1];
    uint32_t found = 0;
    for (; item < end && found < set->size; item++) {
        if (*item > set->item[found]) return;
        found += *item == set->item[found];
    }
    if (found < set->size) return;
    for (; item < end; item++) s->support[*item]++;
}

static enum dpl_status extend(struct dpl_run *run, struct items *s, const struct set *set,
                              uint32_t least) {
    size_t last = (size_t)set->item[set->size - 1], rarest = last;
    for (uint32_t i = 0; i < set->size; i++) {
        size_t item = (size_t)set->item[i];
        if (s->item_start[item + 1] - s->item_start[item] <
            s->item_start[rarest + 1] - s->item_start[rarest])
            rarest = item;
    }
    memset(s->support, 0, s->n_items * sizeof *s->support);
    for (size_t at = s->item_start[rarest]; at < s->item_start[rarest + 1]; at++)
        count_children(s, set, s->holder[at]);
    for (size_t item = last + 1; item < s->n_items; item++) {
        if (s->support[item] < least) continue;
        struct set child = *set;
        child.support = s->support[item];
        child.item[child.size++] = (int32_t)item;
        DPL_TRY(push(run, s, child));
    }
    return DPL_OK;
}

/* Cells do not fit a key exactly here (7 of 22 bits): a 128-bit hash of them names the set. */
static struct dpl_key set_key(const struct items *s, const struct set *set) {
    int32_t cell[DPL_SET_MAX];
    for (uint32_t i = 0; i < set->size; i++) cell[i] = s->cell[set->item[i]];
    return dpl_hash(cell, set->size * sizeof *cell, 0);
}

enum dpl_status dpl_sets_top(struct dpl_run *run, const struct dpl_sequences *trips,
                             const uint32_t *trip, size_t n, double share, struct dpl_top *top) {
    struct items s = {.n_trips = n};
    enum dpl_status status;
    uint32_t least =
        (uint32_t)ceil(share * (double)n - 1e-9); // 5 % of 40 is 2, whatever the rounding
    if (least < 1) least = 1;
    top->n = 0;
    DPL_GO(find_items(run, &s, trips, trip, least));
    for (size_t item = 0; item < s.n_items; item++)
        DPL_GO(push(
            run, &s,
            (struct set){.support = s.support[s.cell[item]], .size = 1, .item = {(int32_t)item}}));
    while (s.n_queue && top->n < DPL_TOP_PATTERNS) {
        struct set set = pop(&s);
        top->support[top->n] = set.support;
        top->key[top->n++] = set_key(&s, &set);
        if (set.size < DPL_SET_MAX) DPL_GO(extend(run, &s, &set, least));
    }
done:
    items_free(&s);
    return status;
}
