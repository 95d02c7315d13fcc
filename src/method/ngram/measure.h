/* The exploration tree of Ngram: which grams are worth a noised count, found while they are noised.
 *
 * A node is a gram; it holds a histogram over the symbol that comes next, and noise according to
 * its part of the budget. What exceeds the noise gets a child, until the noise would swallow
 * it or n_max is reached. docs/BASELINES.md, "Ngram".
 *
 * PRIVACY: this is what sees trips. All that leaves is dpl_grams, made of counts that the filter
 * has noised. */
#ifndef DPL_METHOD_NGRAM_MEASURE_H
#define DPL_METHOD_NGRAM_MEASURE_H

#include "method/ngram/grams.h"
#include "fit/units.h"
#include "noise/filter.h"
#include "noise/threshold.h"

enum { DPL_NGRAM_LONGEST = 5 /* n_max: symbols of the longest gram that is counted */ };

/* Trips as symbols, one behind the other, each cut to length_max cells and with the terminator
 * behind it. */
struct dpl_sequences {
    size_t n_symbols; /* A: cells; the terminator is A */
    size_t n, n_trips;
    uint16_t *symbol; /* (n) */
};
/* PRIVACY: cutting is what bounds a trip to length_max walks. Free with dpl_sequences_free. */
enum dpl_status dpl_sequences_make(struct dpl_run *run, const struct dpl_units *units,
                                   size_t n_trips, size_t n_symbols, size_t length_max,
                                   struct dpl_sequences *sequences);
void dpl_sequences_free(struct dpl_sequences *sequences);

/* One node, for whoever wants to look: the model, which keeps its noised counts, and tests. */
struct dpl_ngram_view {
    uint32_t node, parent; /* numbers of the filter; parent of the root: DPL_FILTER_NO_NODE */
    int32_t symbol;        /* the last of its gram; -1 for the root */
    int level, height;
    uint32_t markov; /* its Markov parent */
    uint64_t part;
    double theta, count;    /* count: of its gram in its parent, consistent */
    const double *noised;   /* (A + 1) */
    const double *released; /* (A + 1) consistent histogram */
};
typedef void dpl_ngram_look(void *user, const struct dpl_ngram_view *view);

/* Grows the tree over the sequences of all parts (n_parts) and gives its grams, counts rounded
 * down. `longest`: the most symbols that the
 * grams will ever have (room for an extension). `look` may be NULL; it is called by one thread at a
 * time only if the run has one thread. Caller frees with dpl_grams_free. */
enum dpl_status dpl_ngram_explore(struct dpl_run *run, const struct dpl_sequences *sequences,
                                  size_t n_parts, struct dpl_filter *filter, size_t longest,
                                  struct dpl_grams *grams, dpl_ngram_look *look, void *user);

#endif
