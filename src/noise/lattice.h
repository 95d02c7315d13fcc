/* Fixed-point vectors of which one unit's share is bounded, and what becomes of them.
 *
 *     contributions of units --dpl_exact_add--> struct dpl_exact --release--> struct dpl_noised
 *
 * An exact vector is the only thing a mechanism takes, and a noised vector is made by mechanism.c
 * alone: a function that derives a public number from data takes a struct dpl_noised and cannot be
 * handed anything that was not noised.
 *
 *     struct dpl_exact *exact;
 *     dpl_exact_new(run, &(struct dpl_exact_options){n_cells, DPL_NORM_L2, 1.0, 16}, &exact);
 *     for each trip: dpl_exact_add(run, exact, entries, n_entries);
 *     struct dpl_noised *noised;
 *     dpl_gaussian_release(run, &secret, &event, id, &exact, &noised);
 */
#ifndef DPL_NOISE_LATTICE_H
#define DPL_NOISE_LATTICE_H

#include "base/random.h"

enum dpl_norm { DPL_NORM_L1, DPL_NORM_L2 };

struct dpl_exact_options {
    size_t n; /* coordinates, at most 2^31; public */
    enum dpl_norm norm;
    double sensitivity; /* no unit moves the vector further than this; sensitivity * 2^places from 1
                           to 2^36 */
    int places;         /* the lattice step is 2^-places; 0 ... 30, usually 16 */
};

bool dpl_exact_options_same(const struct dpl_exact_options *a, const struct dpl_exact_options *b);

struct dpl_exact;

/* An all-zero vector. Caller frees with dpl_exact_free, or gives it to a release. */
enum dpl_status dpl_exact_new(struct dpl_run *run, const struct dpl_exact_options *options,
                              struct dpl_exact **exact);
void dpl_exact_free(struct dpl_exact *exact);

struct dpl_entry {
    size_t index;
    double value;
};

/* Adds one unit: everything that unit contributes, in one call. Entries of one index are summed
 * first, then the whole is scaled down to the sensitivity if it is longer, rounded towards zero
 * onto the lattice, and its norm checked in integers. A unit with a number that is not finite
 * contributes nothing. DPL_USAGE for an index outside the vector. One thread at a time. */
enum dpl_status dpl_exact_add(struct dpl_run *run, struct dpl_exact *exact,
                              const struct dpl_entry *entries, size_t n_entries);
/* The same for a unit given as a whole vector; values (n). */
enum dpl_status dpl_exact_add_dense(struct dpl_run *run, struct dpl_exact *exact,
                                    const double *values);
/* Adds the units of `from`, which must have been made with the same options: for threads with a
 * vector each. */
enum dpl_status dpl_exact_merge(struct dpl_run *run, struct dpl_exact *into,
                                const struct dpl_exact *from);

/* ---- sums that come from elsewhere ---- */

/* What a vector was made with, how many units are in it, and its sum as n whole numbers of 8 bytes,
 * borrowed. PRIVACY: for parts' files alone (fit/counts.h), which only their owner can read. */
const struct dpl_exact_options *dpl_exact_about(const struct dpl_exact *exact);
uint64_t dpl_exact_units(const struct dpl_exact *exact);
const void *dpl_exact_bytes(const struct dpl_exact *exact);
/* Adds such a sum of that many units, `bytes` (8 n). DPL_BAD_DATA when so many units cannot have
 * made it. */
enum dpl_status dpl_exact_merge_bytes(struct dpl_run *run, struct dpl_exact *into, uint64_t units,
                                      const void *bytes);

/* For replays of a release alone (fit/replay.h): `see` gets what each unit adds from now on,
 * clipped, in lattice steps; units are numbered from 0 on. PRIVACY: a vector that is watched cannot
 * be released. */
struct dpl_exact_watch {
    void (*see)(void *context, uint64_t unit, const size_t *index, const int64_t *steps, size_t n);
    void *context;
};
void dpl_exact_watch(struct dpl_exact *exact, struct dpl_exact_watch watch);

/* ---- mechanisms ---- */

struct dpl_noised;

/* Gaussian noise of event->sigma times the sensitivity on each coordinate. The event must be a
 * DPL_EVENT_GAUSSIAN of the vector's sensitivity, the vector's norm L2. Takes the vector over:
 * *exact is NULL afterwards, since a vector noised twice costs twice. DPL_REFUSED when this secret
 * has noised (id.purpose, id.a) before; id.b is 0. Caller frees *noised with dpl_noised_free. */
enum dpl_status dpl_gaussian_release(struct dpl_run *run, struct dpl_secret *secret,
                                     const struct dpl_event *event, struct dpl_stream_id id,
                                     struct dpl_exact **exact, struct dpl_noised **noised);
/* Discrete Laplace noise of scale event->sigma times the sensitivity; DPL_EVENT_LAPLACE, norm L1.
 */
enum dpl_status dpl_laplace_release(struct dpl_run *run, struct dpl_secret *secret,
                                    const struct dpl_event *event, struct dpl_stream_id id,
                                    struct dpl_exact **exact, struct dpl_noised **noised);

/* Coordinates first ... first+n-1 of a vector are what every unit reports `reports` times: each
 * time one of them, or none (a dummy, which looks alike). */
struct dpl_local_section {
    size_t first, n;
    uint64_t reports;
};
/* Every unit noises its own reports (optimised unary encoding, local.c), so that nobody needs to be
 * trusted with them; the counts of all reports, made unbiased. DPL_EVENT_LOCAL, norm L1; the
 * sensitivity is the number of reports of a unit, the epsilon of a report its part of 1 / sigma.
 * A unit adds 1 for each report that is no dummy. */
enum dpl_status dpl_local_release(struct dpl_run *run, struct dpl_secret *secret,
                                  const struct dpl_event *event, struct dpl_stream_id id,
                                  const struct dpl_local_section *section, size_t n_sections,
                                  struct dpl_exact **exact, struct dpl_noised **noised);

/* Standard deviation of such a count that few units report, of that many reports of all units. */
double dpl_local_deviation(double reports, double epsilon);

/* Without noise, for --epsilon inf: DPL_REFUSED unless the event's sigma is 0. NOT PRIVATE. */
enum dpl_status dpl_bare_release(struct dpl_run *run, const struct dpl_event *event,
                                 struct dpl_exact **exact, struct dpl_noised **noised);

/* A table that was released before, as a model keeps it: values (n), multiples of 2^-places.
 * PRIVACY: for replays of a release; never for a vector that saw data. */
enum dpl_status dpl_noised_again(struct dpl_run *run, const double *values, size_t n, int places,
                                 double deviation, bool laplace, struct dpl_noised **noised);

void dpl_noised_free(struct dpl_noised *noised);
size_t dpl_noised_count(const struct dpl_noised *noised);
double dpl_noised_value(const struct dpl_noised *noised, size_t i);
/* Standard deviation of each coordinate's noise, in the vector's units. */
double dpl_noised_deviation(const struct dpl_noised *noised);
/* What noise alone exceeds anywhere in the vector with a chance of at most `risk`, in the vector's
 * units; 0 < risk <= 1/2. */
double dpl_noised_reach(const struct dpl_noised *noised, double risk);

#endif
