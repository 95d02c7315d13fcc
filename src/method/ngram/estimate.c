/* Extension and synthesis of Ngram. See grams.h; docs/BASELINES.md has the algorithm and a worked
 * example.
 *
 * Invariants
 *  - first[g] ... first[g+1]-1 of the next table are the grams that begin with g: tables are sorted
 * by prefix.
 *  - Whatever happens here is a function of released counts.
 * Cost: linear in the grams made by joining; length^2 for each gram that is tried as a trip. */
#include "method/ngram/grams.h"

#include <math.h>

static const int64_t MOST_GRAMS = INT32_MAX / 2;

enum dpl_status dpl_grams_new(struct dpl_run *run, int32_t terminator, size_t longest,
                              struct dpl_grams *grams) {
    struct dpl_grams made = {.terminator = terminator, .capacity = longest + 1};
    made.table = dpl_alloc(run, made.capacity, sizeof *made.table);
    if (!made.table) return DPL_SYSTEM;
    made.table[0].n = 1;
    made.table[0].count = dpl_alloc(run, 1, sizeof *made.table->count);
    *grams = made; // to be freed in any case
    return made.table[0].count ? DPL_OK : DPL_SYSTEM;
}

void dpl_grams_free(struct dpl_grams *grams) {
    for (size_t i = 0; grams->table && i < grams->capacity; i++) {
        struct dpl_gram_table *table = &grams->table[i];
        dpl_free(table->prefix), dpl_free(table->suffix), dpl_free(table->last),
            dpl_free(table->count), dpl_free(table->first);
    }
    dpl_free(grams->table);
    *grams = (struct dpl_grams){0};
}

/* ---- tables ---- */

enum dpl_status dpl_gram_put(struct dpl_run *run, struct dpl_gram_list *list, int32_t prefix,
                             int32_t last, int64_t count) {
    size_t need = list->n + 1;
    if ((int64_t)need > MOST_GRAMS)
        return dpl_fail(run, DPL_SYSTEM, "more than %lld grams of one length",
                        (long long)MOST_GRAMS);
    DPL_TRY(dpl_grow(run, &list->prefix, &list->prefix_capacity, need, sizeof *list->prefix));
    DPL_TRY(dpl_grow(run, &list->last, &list->last_capacity, need, sizeof *list->last));
    DPL_TRY(dpl_grow(run, &list->count, &list->count_capacity, need, sizeof *list->count));
    list->prefix[list->n] = prefix;
    list->last[list->n] = last;
    list->count[list->n++] = count;
    return DPL_OK;
}

void dpl_gram_list_free(struct dpl_gram_list *list) {
    dpl_free(list->prefix), dpl_free(list->last), dpl_free(list->count);
    *list = (struct dpl_gram_list){0};
}

int32_t dpl_gram_find(const struct dpl_grams *grams, size_t length, int32_t gram, int32_t symbol) {
    const struct dpl_gram_table *table = &grams->table[length];
    if (gram < 0 || !table->first) return -1;
    const int32_t *last = table[1].last;
    const int32_t end = table->first[gram + 1];
    int32_t low = table->first[gram], high = end;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (last[middle] < symbol)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && last[low] == symbol ? low : -1;
}

/* The suffix of p.x is (suffix of p).x. */
static void link_suffixes(struct dpl_grams *grams, size_t length) {
    const struct dpl_gram_table *before = &grams->table[length - 1];
    struct dpl_gram_table *table = &grams->table[length];
    for (size_t i = 0; i < table->n; i++)
        table->suffix[i] = length == 1
                               ? 0
                               : dpl_gram_find(grams, length - 2, before->suffix[table->prefix[i]],
                                               table->last[i]);
}

static enum dpl_status index_prefixes(struct dpl_run *run, struct dpl_gram_table *before,
                                      const struct dpl_gram_table *table) {
    before->first = dpl_alloc(run, before->n + 1, sizeof *before->first);
    if (!before->first) return DPL_SYSTEM;
    for (size_t i = 0; i < table->n; i++) before->first[table->prefix[i] + 1]++;
    for (size_t i = 0; i < before->n; i++) before->first[i + 1] += before->first[i];
    return DPL_OK;
}

enum dpl_status dpl_grams_add(struct dpl_run *run, struct dpl_grams *grams,
                              struct dpl_gram_list *list) {
    if (list->n == 0) return DPL_OK;
    if (grams->length + 1 == grams->capacity)
        return dpl_fail(run, DPL_USAGE, "grams of %zu symbols are too long", grams->capacity);
    size_t length = grams->length + 1;
    struct dpl_gram_table *table = &grams->table[length];
    *table = (struct dpl_gram_table){
        .n = list->n, .prefix = list->prefix, .last = list->last, .count = list->count};
    *list = (struct dpl_gram_list){0};
    table->suffix = dpl_alloc(run, table->n, sizeof *table->suffix);
    if (!table->suffix) return DPL_SYSTEM;
    DPL_TRY(index_prefixes(run, &grams->table[length - 1], table));
    link_suffixes(grams, length);
    for (size_t i = 0; length == 1 && i < table->n; i++)
        grams->table[0].count[0] += table->count[i];
    grams->length = length;
    return DPL_OK;
}

/* ---- extension ---- */

/* ab and bc make abc, as often as c follows b: c(ab) c(bc) / c(b). */
static enum dpl_status join(struct dpl_run *run, const struct dpl_grams *grams,
                            struct dpl_gram_list *list) {
    const struct dpl_gram_table *table = &grams->table[grams->length], *before = table - 1;
    for (size_t i = 0; i < table->n; i++) {
        int32_t common = table->suffix[i];
        if (common < 0) continue;
        for (int32_t j = before->first[common]; j < before->first[common + 1]; j++) {
            double count = floor((double)table->count[i] * (double)table->count[j] /
                                 (double)before->count[common]);
            if (count >= 1)
                DPL_TRY(dpl_gram_put(run, list, (int32_t)i, table->last[j], (int64_t)count));
        }
    }
    return DPL_OK;
}

enum dpl_status dpl_grams_extend(struct dpl_run *run, struct dpl_grams *grams, size_t length_max) {
    while (grams->length > 0 && grams->length < length_max && grams->table[grams->length].n > 1) {
        size_t before = grams->length;
        struct dpl_gram_list list = {0};
        enum dpl_status status = dpl_check_interrupt(run);
        if (status == DPL_OK) status = join(run, grams, &list);
        if (status == DPL_OK) status = dpl_grams_add(run, grams, &list);
        dpl_gram_list_free(&list);
        DPL_TRY(status);
        if (grams->length == before) break;
    }
    return DPL_OK;
}

/* ---- synthesis ---- */

/* All grams within a gram, by length and place: row l has n - l + 1. Row 0 is not filled. */
struct pyramid {
    int32_t *gram; /* (room) row of length l begins at l * stride */
    size_t stride;
};

/* False when one of them was not kept. */
static bool look_within(const struct dpl_grams *grams, size_t length, int32_t gram,
                        struct pyramid *pyramid) {
    pyramid->gram[length * pyramid->stride] = gram;
    for (size_t l = length; l > 1; l--) {
        const struct dpl_gram_table *table = &grams->table[l];
        const int32_t *row = pyramid->gram + l * pyramid->stride;
        int32_t *below = pyramid->gram + (l - 1) * pyramid->stride;
        for (size_t i = 0; i <= length - l; i++) {
            below[i] = table->prefix[row[i]]; // of neighbours, the suffix of the left is the prefix
                                              // of the right
            if (i == length - l) below[i + 1] = table->suffix[row[i]];
        }
        if (below[length - l + 1] < 0) return false;
    }
    return true;
}

/* Takes `times` away from all grams within; if one would fall below zero, gives it all back. */
static bool subtract(struct dpl_grams *grams, size_t length, const struct pyramid *pyramid,
                     int64_t times) {
    for (size_t l = length; l > 0; l--)
        for (size_t i = 0; i <= length - l; i++) {
            int64_t *count = &grams->table[l].count[pyramid->gram[l * pyramid->stride + i]];
            *count -= times;
            if (*count >= 0) continue;
            for (size_t back = l; back <= length; back++)
                for (size_t j = 0; j <= (back == l ? i : length - back); j++)
                    grams->table[back].count[pyramid->gram[back * pyramid->stride + j]] += times;
            return false;
        }
    return true;
}

static enum dpl_status put_trip(struct dpl_run *run, const struct dpl_grams *grams, size_t length,
                                const struct pyramid *pyramid, int64_t times,
                                struct dpl_gram_trips *trips) {
    if (trips->n_cells + length > INT32_MAX)
        return dpl_fail(run, DPL_SYSTEM, "more trips than a model can hold");
    DPL_TRY(
        dpl_grow(run, &trips->start, &trips->start_capacity, trips->n + 2, sizeof *trips->start));
    DPL_TRY(
        dpl_grow(run, &trips->count, &trips->count_capacity, trips->n + 1, sizeof *trips->count));
    DPL_TRY(dpl_grow(run, &trips->cell, &trips->cell_capacity, trips->n_cells + length,
                     sizeof *trips->cell));
    for (size_t i = 0; i < length; i++)
        trips->cell[trips->n_cells + i] = grams->table[1].last[pyramid->gram[pyramid->stride + i]];
    trips->start[trips->n] = (int32_t)trips->n_cells;
    trips->n_cells += length;
    trips->count[trips->n++] = (int32_t)(times < INT32_MAX ? times : INT32_MAX);
    trips->start[trips->n] = (int32_t)trips->n_cells;
    trips->total += times < INT32_MAX ? times : INT32_MAX;
    return DPL_OK;
}

/* PAPER: a gram of one cell is no trip here, as a trip has two visits at least; the description has
 * them written out, too. */
static enum dpl_status synthesise_length(struct dpl_run *run, struct dpl_grams *grams,
                                         size_t length, struct pyramid *pyramid,
                                         struct dpl_gram_trips *trips) {
    const struct dpl_gram_table *table = &grams->table[length];
    for (size_t i = 0; i < table->n; i++) {
        int64_t times = table->count[i];
        if (table->last[i] == grams->terminator || times < 1 ||
            !look_within(grams, length, (int32_t)i, pyramid))
            continue;
        if (subtract(grams, length, pyramid, times))
            DPL_TRY(put_trip(run, grams, length, pyramid, times, trips));
    }
    return DPL_OK;
}

enum dpl_status dpl_grams_synthesise(struct dpl_run *run, struct dpl_grams *grams,
                                     size_t length_max, struct dpl_gram_trips *trips) {
    enum dpl_status status = DPL_OK;
    struct dpl_gram_trips made = {0};
    struct pyramid pyramid = {.stride = grams->length + 1};
    pyramid.gram = dpl_alloc(run, pyramid.stride * pyramid.stride, sizeof *pyramid.gram);
    if (!pyramid.gram) return DPL_SYSTEM;
    for (size_t length = grams->length < length_max ? grams->length : length_max; length > 1;
         length--) {
        DPL_GO(dpl_check_interrupt(run));
        DPL_GO(synthesise_length(run, grams, length, &pyramid, &made));
    }
    *trips = made;
    made = (struct dpl_gram_trips){0};
done:
    dpl_gram_trips_free(&made);
    dpl_free(pyramid.gram);
    return status;
}

void dpl_gram_trips_free(struct dpl_gram_trips *trips) {
    dpl_free(trips->start), dpl_free(trips->cell), dpl_free(trips->count);
    *trips = (struct dpl_gram_trips){0};
}
