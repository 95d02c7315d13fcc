/* A classifier of two kinds of rows: gradient boosting of regression trees over histogram bins,
 * logistic loss. The same rows give the same trees, whatever the number of threads. */
#ifndef DPL_EVALUATE_BOOST_H
#define DPL_EVALUATE_BOOST_H

#include "base/base.h"

enum { DPL_BOOST_BINS = 255, DPL_BOOST_DEPTH_MAX = 8 };

struct dpl_boost_options {
    size_t trees;    /* 100 */
    int depth;       /* 5, at most DPL_BOOST_DEPTH_MAX */
    size_t leaf_min; /* rows in a leaf at least, 20 */
    double rate;     /* 0.1 */
};

struct dpl_boost;

struct dpl_boost_options dpl_boost_defaults(void);
/* `x` is (n, columns), finite; `label` 0 or 1, both present. Caller frees with dpl_boost_free. */
enum dpl_status dpl_boost_fit(struct dpl_run *run, const float *x, const uint8_t *label, size_t n,
                              size_t columns, const struct dpl_boost_options *options,
                              struct dpl_boost **boost);
/* Log odds of label 1. */
double dpl_boost_score(const struct dpl_boost *boost, const float *row);
void dpl_boost_free(struct dpl_boost *boost);

/* The chance that a row of label 1 scores above one of label 0, ties counting half; NAN when one
 * kind is missing. */
enum dpl_status dpl_auc(struct dpl_run *run, const double *score, const uint8_t *label, size_t n,
                        double *auc);

#endif
