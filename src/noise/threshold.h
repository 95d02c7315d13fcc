/* Counts by key, where nobody could list the keys beforehand: a key is released only when its
 * noised count exceeds a threshold that one unit alone hardly ever reaches.
 *
 *     dpl_unlisted_new(run, sensitivity, &tally);
 *     for each unit: dpl_unlisted_add(run, tally, entries, n);    the index of an entry is its key
 *     dpl_threshold_release(run, &secret, &event, id, &tally, &keys);
 *
 * PRIVACY: let D' be D and one unit more. What it adds to keys of D costs what a Gaussian mechanism
 * of the event's sigma does. Its keys that D has not are shown with a chance of at most the event's
 * rate, and not at all of D: two mechanisms whose outcomes differ with that chance, (0, rate)-DP in
 * both directions. Their noise is independent, so that both together cost the Gaussian's epsilon at
 * delta - rate. With m keys of a unit (the first m; m = s^2, at least 1), each of a count of at
 * most s (by the clip):
 *
 *     sum over its keys of P(count + noise > tau)  <=  m P(noise > tau - s)  <=  rate
 */
#ifndef DPL_NOISE_THRESHOLD_H
#define DPL_NOISE_THRESHOLD_H

#include "noise/lattice.h"

/* The quantile of the standard normal distribution; 0 < p < 1. */
double dpl_normal_quantile(double p);

/* PRIVATE; opaque. */
struct dpl_unlisted;
/* Of units that add an L2 norm of at most `sensitivity`. Caller frees with dpl_unlisted_free, or
 * gives it to a release. */
enum dpl_status dpl_unlisted_new(struct dpl_run *run, double sensitivity,
                                 struct dpl_unlisted **tally);
void dpl_unlisted_free(struct dpl_unlisted *tally);
/* Everything that one unit adds, in one call; clipped as dpl_exact_add does, and its first m
 * entries alone. */
enum dpl_status dpl_unlisted_add(struct dpl_run *run, struct dpl_unlisted *tally,
                                 const struct dpl_entry *entries, size_t n);

/* Released: keys in rising order and their noised counts, all above the threshold. Free with
 * dpl_keys_free. */
struct dpl_keys {
    size_t n;
    uint64_t *key;
    double *count;
    double threshold;
};
void dpl_keys_free(struct dpl_keys *keys);
/* What a noised count must exceed; 0 of an event without noise. */
double dpl_threshold_of(const struct dpl_event *event);
/* A DPL_EVENT_THRESHOLD of the tally's sensitivity; of an event without noise all keys. Takes the
 * tally over: *tally is NULL afterwards. */
enum dpl_status dpl_threshold_release(struct dpl_run *run, struct dpl_secret *secret,
                                      const struct dpl_event *event, struct dpl_stream_id id,
                                      struct dpl_unlisted **tally, struct dpl_keys *keys);

#endif
