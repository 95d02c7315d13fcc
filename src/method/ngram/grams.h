/* Grams with counts, and the trips that they make: the part of Ngram that sees released counts
 * alone.
 *
 *     explore (tree.c) --> grams of 1 ... n_max symbols --extend--> up to L_max --synthesise-->
 * trips
 *
 * A gram of n symbols is a number in the table of that length. It names its first n-1 symbols
 * (prefix), its last n-1 (suffix), each by a number in the table before, and its last symbol. So
 * joining two grams, and finding all that lie within one, takes no search:
 *
 *     length 3        abc                 prefix of abc: ab, suffix: bc
 *     length 2      ab   bc
 *     length 1     a   b   c
 *     length 0          ()                one gram, which all of length 1 name
 */
#ifndef DPL_METHOD_NGRAM_GRAMS_H
#define DPL_METHOD_NGRAM_GRAMS_H

#include "base/base.h"

/* The grams of one length, in the order of their prefixes, then of their last symbols. */
struct dpl_gram_table {
    size_t n;
    int32_t *prefix; /* (n) */
    int32_t *suffix; /* (n) -1: was not kept */
    int32_t *last;   /* (n) the last symbol */
    int64_t *count;  /* (n) above 0 */
    int32_t *first;  /* (n + 1) first gram of the next length that begins with this one; NULL while
                        there is no next table */
};

struct dpl_grams {
    int32_t terminator;           /* the symbol that ends a trip; cells are below it */
    size_t length;                /* of the longest grams */
    struct dpl_gram_table *table; /* (capacity) by length; table[0] has the empty gram */
    size_t capacity; /* tables: one more than symbols of the longest gram that there is room for */
};

/* The empty gram alone, and room for grams of up to `longest` symbols. Free with dpl_grams_free,
 * also after a failure. */
enum dpl_status dpl_grams_new(struct dpl_run *run, int32_t terminator, size_t longest,
                              struct dpl_grams *grams);
void dpl_grams_free(struct dpl_grams *grams);

/* A table being filled: grams are put in order, prefixes rising, last symbols rising within one. */
struct dpl_gram_list {
    int32_t *prefix, *last;
    int64_t *count;
    size_t n, prefix_capacity, last_capacity, count_capacity;
};
enum dpl_status dpl_gram_put(struct dpl_run *run, struct dpl_gram_list *list, int32_t prefix,
                             int32_t last, int64_t count);
void dpl_gram_list_free(struct dpl_gram_list *list);
/* Makes the list the table of the next length; takes its arrays over. An empty list adds no length.
 */
enum dpl_status dpl_grams_add(struct dpl_run *run, struct dpl_grams *grams,
                              struct dpl_gram_list *list);

/* The number of `gram`.symbol (gram of that length), -1: not kept. */
int32_t dpl_gram_find(const struct dpl_grams *grams, size_t length, int32_t gram, int32_t symbol);

/* Joins the longest grams, as long as there is more than one and they are shorter than length_max.
 */
enum dpl_status dpl_grams_extend(struct dpl_run *run, struct dpl_grams *grams, size_t length_max);

/* Trips and how many of each. */
struct dpl_gram_trips {
    size_t n, n_cells;
    int64_t total;  /* sum of the counts */
    int32_t *start; /* (n + 1) */
    int32_t *cell;  /* (n_cells) */
    int32_t *count; /* (n) */
    size_t start_capacity, cell_capacity, count_capacity;
};
/* Takes the counts apart: what is left of them is not to be used. Trips of one visit, or of more
 * than length_max, are left out. Free with dpl_gram_trips_free. */
enum dpl_status dpl_grams_synthesise(struct dpl_run *run, struct dpl_grams *grams,
                                     size_t length_max, struct dpl_gram_trips *trips);
void dpl_gram_trips_free(struct dpl_gram_trips *trips);

#endif
