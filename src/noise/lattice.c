/* Exact sums of bounded contributions.
 *
 * Invariants
 *  - The vector is a sum over units of lattice vectors, each with norm <= limit, checked in
 * integers after all rounding; so removing a unit moves it by at most the declared sensitivity,
 * exactly.
 *  - What a unit adds depends on that unit and the options alone.
 *  - |sum| < 2^62: the number of units is limited accordingly.
 *
 * Cost: linear in the entries of a unit, whatever n: duplicates are found through `slot`, which is
 * n words once (a vector that is only merged into has none). A unit of ten entries takes about 90
 * ns, one of a single entry a tenth of that: most units of most tables are such.
 */
#include <math.h>
#include <string.h>

#include "noise/lattice_inner.h"

enum { MOST_PLACES = 30 };
static const double MOST_STEPS = 0x1p36;

dpl_wide dpl_exact_norm(enum dpl_norm norm, const int64_t *steps, size_t n) {
    dpl_wide sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t magnitude = steps[i] < 0 ? 0 - (uint64_t)steps[i] : (uint64_t)steps[i];
        sum += norm == DPL_NORM_L2 ? (dpl_wide)magnitude * magnitude : magnitude;
    }
    return sum;
}

/* The largest whole number <= radius (L1) or radius^2 (L2), exactly; 1 <= radius <= 2^36. */
static dpl_wide limit_of(enum dpl_norm norm, double radius) {
    if (norm == DPL_NORM_L1) return (dpl_wide)radius;
    int exponent;
    dpl_wide mantissa = (dpl_wide)(frexp(radius, &exponent) * 0x1p53);
    return mantissa * mantissa >> 2 * (53 - exponent);
}

static enum dpl_status check(struct dpl_run *run, const struct dpl_exact_options *options) {
    if (options->n > INT32_MAX)
        return dpl_fail(run, DPL_USAGE, "a vector of %zu coordinates is too long (at most 2^31-1)",
                        options->n);
    if (options->places < 0 || options->places > MOST_PLACES)
        return dpl_fail(run, DPL_USAGE, "a lattice step of 2^-%d is not available (2^0 to 2^-%d)",
                        options->places, MOST_PLACES);
    double steps = ldexp(options->sensitivity, options->places);
    if (!(steps >= 1 && steps <= MOST_STEPS))
        return dpl_fail(
            run, DPL_USAGE,
            "a sensitivity of %g does not suit a lattice step of 2^-%d (from 1 to 2^36 steps)",
            options->sensitivity, options->places);
    return DPL_OK;
}

bool dpl_exact_options_same(const struct dpl_exact_options *a, const struct dpl_exact_options *b) {
    return a->n == b->n && a->norm == b->norm && a->sensitivity == b->sensitivity &&
           a->places == b->places;
}

enum dpl_status dpl_exact_new(struct dpl_run *run, const struct dpl_exact_options *options,
                              struct dpl_exact **exact) {
    DPL_TRY(check(run, options));
    struct dpl_exact *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    double radius = ldexp(options->sensitivity, options->places);
    made->options = *options;
    made->lattice = ldexp(1, options->places);
    made->limit = limit_of(options->norm, radius);
    made->most_units = (uint64_t)(0x1p62 / radius);
    made->sum = dpl_alloc(run, options->n, sizeof *made->sum);
    if (!made->sum) {
        dpl_exact_free(made);
        return DPL_SYSTEM;
    }
    *exact = made;
    return DPL_OK;
}

void dpl_exact_free(struct dpl_exact *exact) {
    if (!exact) return;
    dpl_free(exact->steps);
    dpl_free(exact->value);
    dpl_free(exact->index);
    dpl_free(exact->slot);
    dpl_free(exact->sum);
    dpl_free(exact);
}

/* ---- one unit ---- */

static enum dpl_status make_room(struct dpl_run *run, struct dpl_exact *exact, size_t n_entries) {
    size_t need = n_entries < exact->options.n ? n_entries : exact->options.n;
    if (!exact->slot) exact->slot = dpl_alloc(run, exact->options.n, sizeof *exact->slot);
    if (!exact->slot) return DPL_SYSTEM;
    if (need > exact->steps_capacity) { // the last of the three to grow
        DPL_TRY(dpl_grow(run, &exact->index, &exact->index_capacity, need, sizeof *exact->index));
        DPL_TRY(dpl_grow(run, &exact->value, &exact->value_capacity, need, sizeof *exact->value));
        DPL_TRY(dpl_grow(run, &exact->steps, &exact->steps_capacity, need, sizeof *exact->steps));
    }
    if (exact->units >= exact->most_units)
        return dpl_fail(
            run, DPL_USAGE,
            "more than %llu units do not fit into one vector; take a coarser lattice step",
            (unsigned long long)exact->most_units);
    return DPL_OK;
}

static void merge_entries(struct dpl_exact *exact, const struct dpl_entry *entries, size_t n) {
    size_t merged = exact->merged;
    for (size_t i = 0; i < n; i++) {
        uint32_t *slot = &exact->slot[entries[i].index];
        if (*slot == 0) {
            exact->index[merged] = entries[i].index;
            exact->value[merged] = entries[i].value;
            *slot = (uint32_t)++merged;
        } else {
            exact->value[*slot - 1] += entries[i].value;
        }
    }
    exact->merged = merged;
}

/* Whether the unit is shorter than the sensitivity beyond what rounding can hide, so that its exact
 * length need not be known. */
static bool surely_short(const struct dpl_exact *exact) {
    enum { MANY = 1 << 20 }; // of so many the sum's error is below 2^-32
    const double most = exact->options.sensitivity, below = 1 - 0x1p-20;
    const bool squared = exact->options.norm == DPL_NORM_L2;
    double sum = 0;
    for (size_t i = 0; i < exact->merged; i++)
        sum += squared ? exact->value[i] * exact->value[i] : fabs(exact->value[i]);
    return exact->merged < MANY && sum <= below * (squared ? most * most : most);
}

/* The length of the unit in doubles, safe from overflow; not finite when a value is not. */
static double length_of(const struct dpl_exact *exact) {
    double most = 0, sum = 0;
    if (exact->merged == 1) return fabs(exact->value[0]); // what the sums below come to
    for (size_t i = 0; i < exact->merged; i++) {
        if (!isfinite(exact->value[i])) return INFINITY;
        most = fmax(most, fabs(exact->value[i]));
    }
    if (most == 0) return 0;
    for (size_t i = 0; i < exact->merged; i++) {
        double part = fabs(exact->value[i]) / most;
        sum += exact->options.norm == DPL_NORM_L2 ? part * part : part;
    }
    return most * (exact->options.norm == DPL_NORM_L2 ? sqrt(sum) : sum);
}

/* Scales by `share`, rounds towards zero; whether the norm then holds, in integers. */
static bool quantise(struct dpl_exact *exact, double share) {
    const double lattice = exact->lattice, most = exact->options.sensitivity * lattice + 1;
    for (size_t i = 0; i < exact->merged; i++) {
        double steps = exact->value[i] * share * lattice;
        if (!(fabs(steps) < most)) return false;
        exact->steps[i] = (int64_t)steps; // towards zero
    }
    // PRIVACY: this comparison is the sensitivity. All that came before only made it likely to
    // hold.
    return dpl_exact_norm(exact->options.norm, exact->steps, exact->merged) <= exact->limit;
}

/* Rounding in doubles may leave the scaled unit a hair too long: then a little less, and at last
 * nothing. */
static bool clip(struct dpl_exact *exact) {
    double length = surely_short(exact) ? 0 : length_of(exact);
    if (!isfinite(length)) return false;
    double share = length > exact->options.sensitivity ? exact->options.sensitivity / length : 1;
    for (double less = 0x1p-46; less < 1; less *= 4) {
        if (quantise(exact, share)) return true;
        share *= 1 - less;
    }
    return false;
}

/* Adds the merged unit to the sum and forgets it. */
static void settle(struct dpl_exact *exact) {
    bool fits = clip(exact);
    if (exact->watch.see)
        exact->watch.see(exact->watch.context, exact->units, exact->index, exact->steps,
                         fits ? exact->merged : 0);
    for (size_t i = 0; i < exact->merged; i++) {
        if (fits) exact->sum[exact->index[i]] += exact->steps[i];
        exact->slot[exact->index[i]] = 0;
    }
    exact->merged = 0;
    exact->units++;
}

/* A unit of one entry, as most units of most tables are: what merging and settling come to, where
 * nothing is scaled. False: nothing was added. */
static bool settle_one(struct dpl_exact *exact, const struct dpl_entry *entry) {
    if (exact->watch.see || !(fabs(entry->value) <= exact->options.sensitivity)) return false;
    const int64_t steps = (int64_t)(entry->value * exact->lattice); // towards zero
    // PRIVACY: as in quantise, this comparison is the sensitivity.
    if (dpl_exact_norm(exact->options.norm, &steps, 1) > exact->limit) return false;
    exact->sum[entry->index] += steps;
    exact->units++;
    return true;
}

void dpl_exact_watch(struct dpl_exact *exact, struct dpl_exact_watch watch) {
    exact->watch = watch;
}

enum dpl_status dpl_exact_add(struct dpl_run *run, struct dpl_exact *exact,
                              const struct dpl_entry *entries, size_t n_entries) {
    for (size_t i = 0; i < n_entries; i++)
        if (entries[i].index >= exact->options.n)
            return dpl_fail(run, DPL_USAGE,
                            "a unit contributes to coordinate %zu of a vector that has %zu",
                            entries[i].index, exact->options.n);
    DPL_TRY(make_room(run, exact, n_entries));
    if (n_entries == 1 && settle_one(exact, entries)) return DPL_OK;
    merge_entries(exact, entries, n_entries);
    settle(exact);
    return DPL_OK;
}

enum dpl_status dpl_exact_add_dense(struct dpl_run *run, struct dpl_exact *exact,
                                    const double *values) {
    DPL_TRY(make_room(run, exact, exact->options.n));
    for (size_t i = 0; i < exact->options.n; i++)
        if (values[i] != 0) merge_entries(exact, &(struct dpl_entry){i, values[i]}, 1);
    settle(exact);
    return DPL_OK;
}

/* Room for that many units more. */
static enum dpl_status check_units(struct dpl_run *run, const struct dpl_exact *into,
                                   uint64_t units) {
    if (units <= into->most_units - into->units) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "more than %llu units do not fit into one vector; take a coarser lattice step",
                    (unsigned long long)into->most_units);
}

enum dpl_status dpl_exact_merge(struct dpl_run *run, struct dpl_exact *into,
                                const struct dpl_exact *from) {
    if (!dpl_exact_options_same(&into->options, &from->options))
        return dpl_fail(run, DPL_USAGE, "vectors with different options cannot be added up");
    // PRIVACY: what is watched cannot be released, not as a part of a sum either.
    if (from->watch.see && !into->watch.see)
        return dpl_fail(run, DPL_USAGE, "a vector that is watched cannot be added to another");
    DPL_TRY(check_units(run, into, from->units));
    for (size_t i = 0; i < into->options.n; i++) into->sum[i] += from->sum[i];
    into->units += from->units;
    return DPL_OK;
}

/* ---- sums that come from elsewhere ---- */

const struct dpl_exact_options *dpl_exact_about(const struct dpl_exact *exact) {
    return &exact->options;
}

uint64_t dpl_exact_units(const struct dpl_exact *exact) { return exact->units; }

const void *dpl_exact_bytes(const struct dpl_exact *exact) { return exact->sum; }

enum dpl_status dpl_exact_merge_bytes(struct dpl_run *run, struct dpl_exact *into, uint64_t units,
                                      const void *bytes) {
    const double radius = ldexp(into->options.sensitivity, into->options.places);
    const uint8_t *from = bytes; // not always aligned
    DPL_TRY(check_units(run, into, units));
    // PRIVACY: no coordinate of a unit is longer than the unit; this keeps the sum below 2^62, too.
    const int64_t most = (int64_t)((double)units * radius);
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < into->options.n; i++) {
        int64_t sum;
        memcpy(&sum, from + sizeof sum * i, sizeof sum);
        low = sum < low ? sum : low;
        high = sum > high ? sum : high;
    }
    if (low < -most || high > most)
        return dpl_fail(run, DPL_BAD_DATA, "a part holds sums that so few units cannot have");
    for (size_t i = 0; i < into->options.n; i++) {
        int64_t sum;
        memcpy(&sum, from + sizeof sum * i, sizeof sum);
        into->sum[i] += sum;
    }
    into->units += units;
    return DPL_OK;
}
