/* A privacy filter: the budget of one event, spent on a tree of histograms whose shape follows from
 * what was released of it.
 *
 *     dpl_filter_open(run, &secret, &event, id, false, n_bins, &filter);
 *     dpl_filter_grow(run, filter, DPL_FILTER_NO_NODE, part, &root);
 *     for each walk at the root: dpl_bins_add(bins, bin);
 *     dpl_filter_noise(run, filter, random, root, bins, noised);
 *     dpl_filter_grow(run, filter, root, part, &child);       as the noised counts suggest
 *
 * PRIVACY: what the caller owes. A unit is at most s = event.sensitivity walks; a walk goes down
 * one path from the root and adds 1 to one bin of each node that it passes. With c_g walks of the
 * unit through node g, and a part q_g of the whole for g,
 *
 *     Laplace of scale   s sigma / q_g:          the cost is  sum_g c_g q_g / (s sigma) (c_g: the
 * L1 norm of what g gets) Gaussian of        s sigma / sqrt(q_g):    the cost is  sum_g c_g^2 q_g /
 * (2 s^2 sigma^2)    (c_g: at least the L2 norm)
 *
 * in epsilon and in zCDP. The parts of a path sum to at most 1, so that sum_g c_g q_g = sum over
 * walks of their path's sum <= s, and sum_g c_g^2 q_g <= s sum_g c_g q_g <= s^2. Hence the tree
 * costs at most 1/sigma, or 1/(2 sigma^2), which is what the event says; and this holds for each
 * outcome of the noise. A bound on the sum of what adaptively chosen mechanisms cost, that holds
 * always, is what a privacy filter needs: pure epsilon adds up (Rogers et al. 2016), and Gaussian
 * mechanisms compose to one of the summed mu^2 also when each is chosen by what came before (Smith
 * and Thakurta 2022), with mu^2 = 2 rho. docs/BASELINES.md has it at length.
 *
 * Parts are whole numbers of 2^-40, so that the sums are exact. */
#ifndef DPL_NOISE_FILTER_H
#define DPL_NOISE_FILTER_H

#include "noise/lattice.h"

#define DPL_FILTER_WHOLE ((uint64_t)1 << 40)
#define DPL_FILTER_NO_NODE UINT32_MAX
/* Noised counts are in these steps. */
#define DPL_FILTER_STEP 0x1p-16

struct dpl_filter;

/* PRIVATE: the exact histogram of one node, in whole numbers; opaque. Only dpl_filter_noise gets
 * numbers out of it, and wipes it. */
struct dpl_bins;
/* For histograms of n_bins. DPL_REFUSED when this secret has noised (id.purpose, id.a) before.
 * `bare`: no noise, for an event whose sigma is 0. Free with dpl_filter_close. */
enum dpl_status dpl_filter_open(struct dpl_run *run, struct dpl_secret *secret,
                                const struct dpl_event *event, struct dpl_stream_id id, bool bare,
                                size_t n_bins, struct dpl_filter **filter);
void dpl_filter_close(struct dpl_filter *filter);
/* A node below `parent`, or the root. Nodes count from 0. DPL_REFUSED when the part is 0, more than
 * is left there, or there is a root. */
enum dpl_status dpl_filter_grow(struct dpl_run *run, struct dpl_filter *filter, uint32_t parent,
                                uint64_t part, uint32_t *node);
/* What nodes below this one may still share; of DPL_FILTER_NO_NODE: the whole. */
uint64_t dpl_filter_left(const struct dpl_filter *filter, uint32_t node);
/* Standard deviation (Gaussian) or scale (Laplace) of the node's noise, in counts. */
double dpl_filter_scale(const struct dpl_filter *filter, uint32_t node);
bool dpl_filter_laplace(const struct dpl_filter *filter);
/* A cipher for one thread; free with dpl_random_free. */
enum dpl_status dpl_filter_random(struct dpl_run *run, const struct dpl_filter *filter,
                                  struct dpl_random **random);
/* All zero, for nodes of this filter. Free with dpl_bins_free. */
enum dpl_status dpl_bins_new(struct dpl_run *run, const struct dpl_filter *filter,
                             struct dpl_bins **bins);
void dpl_bins_free(struct dpl_bins *bins);
/* One walk more in a bin, 0 ... n_bins-1. */
void dpl_bins_add(struct dpl_bins *bins, size_t bin);
/* The node's counts with noise, noised (n_bins), in multiples of DPL_FILTER_STEP; the bins are all
 * zero afterwards, also on failure. Once a node; by any thread, several at a time. The noise
 * follows from the node's number. */
enum dpl_status dpl_filter_noise(struct dpl_run *run, struct dpl_filter *filter,
                                 struct dpl_random *random, uint32_t node, struct dpl_bins *bins,
                                 double *noised);

/* Histograms have that many bins. */
size_t dpl_filter_bins(const struct dpl_filter *filter);

/* ---- levels: trees that are grown in rounds ----
 *
 * Nodes are noised level by level. In a fit in rounds (fit/rounds.h) the counts of a level come
 * from many machines: a source says of each level where its counts are.
 *
 *     known     noised in an earlier round: dpl_filter_noise hands the old numbers out
 *     counted   a worker: dpl_filter_noise keeps the counts, unnoised, for dpl_filter_level_end
 *     summed    the driver: the counts of all machines, to be noised now
 */
struct dpl_filter_source {
    void *context;
    /* Noised rows of the nodes 0 ... n_known-1, (n_known, n_bins); borrowed. */
    const double *known;
    size_t n_known;
    bool counts; /* a worker: levels that are not known are counted */
    /* Worker: takes the counts of a level; driver: gives their sum, of that many numbers. Either
     * may return a status that ends the tree here. */
    enum dpl_status (*give)(void *context, struct dpl_exact **counts);
    enum dpl_status (*take)(void *context, const struct dpl_exact_options *about,
                            struct dpl_exact **sum);
    /* Driver: sees every row that was noised, known ones included, by any thread. */
    void (*keep)(void *context, uint32_t node, const double *noised);
};
/* Before the first level. Without a source all levels are counted and noised here. */
void dpl_filter_attach(struct dpl_filter *filter, struct dpl_filter_source source);
/* Around the calls of dpl_filter_noise for the nodes begin ... end-1; `units` is how many units the
 * counts are of. */
enum dpl_status dpl_filter_level(struct dpl_run *run, struct dpl_filter *filter, uint32_t begin,
                                 uint32_t end);
enum dpl_status dpl_filter_level_end(struct dpl_run *run, struct dpl_filter *filter,
                                     uint64_t units);

#endif
