/* Events in words and JSON, and the rules every event must obey. Ledger and certificate share them.
 */
#ifndef DPL_ACCOUNT_EVENT_H
#define DPL_ACCOUNT_EVENT_H

#include <jansson.h>

#include "base/base.h"

const char *dpl_event_kind_name(enum dpl_event_kind kind);
/* Whether it costs a pure epsilon, 1 / sigma, and its sensitivity is an L1 norm. */
bool dpl_event_pure(const struct dpl_event *event);
bool dpl_event_kind_parse(const char *name, enum dpl_event_kind *kind);
/* What an event may be. DPL_EVENT_OPEN: as part of a charge, where the sensitivity may still be
 * open (0). DPL_EVENT_NOISELESS: of a release with an infinite epsilon, where sigma may be 0. */
enum { DPL_EVENT_STRICT = 0, DPL_EVENT_OPEN = 1, DPL_EVENT_NOISELESS = 2 };
/* Less noise protects nothing and more hides everything: outside, a number is a mistake. */
static const double DPL_SIGMA_LEAST = 0.01, DPL_SIGMA_MOST = 1e12;
/* Name, sigma and sensitivity from 0.01 to 1e12, rate from 2^-40 to 1, steps in 1 ... 2^53 (rate 1
 * and one step unless Poisson). A sentence with `where` in front otherwise. */
enum dpl_status dpl_event_check(struct dpl_run *run, const char *where,
                                const struct dpl_event *event, unsigned leave);
bool dpl_event_same(const struct dpl_event *a, const struct dpl_event *b);
/* name, kind, sensitivity, sigma, rate, steps. NULL when memory is short. */
json_t *dpl_event_to_json(const struct dpl_event *event);
/* Strict on those six members, blind to others; DPL_BAD_DATA with a sentence otherwise. */
enum dpl_status dpl_event_from_json(struct dpl_run *run, const char *where, json_t *object,
                                    unsigned leave, struct dpl_event *event);

/* Whether a is b to within `relative` of b. PRIVACY: an infinity is near itself alone: a finite
 * cost never passes for an infinite one. NaN is near nothing. */
bool dpl_near(double a, double b, double relative);
/* A finite or infinite number: JSON has no infinity, so that is the text "infinity". */
json_t *dpl_number_to_json(double number);
/* The member as such a number; DPL_BAD_DATA with a sentence when it is missing or anything else. */
enum dpl_status dpl_number_from_json(struct dpl_run *run, const char *where, json_t *object,
                                     const char *name, double *number);
enum dpl_status dpl_whole_from_json(struct dpl_run *run, const char *where, json_t *object,
                                    const char *name, int64_t *number);
/* Borrowed from the object. */
enum dpl_status dpl_text_from_json(struct dpl_run *run, const char *where, json_t *object,
                                   const char *name, const char **text);

#endif
