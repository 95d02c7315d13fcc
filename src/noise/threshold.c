/* See threshold.h. The keys that occur are put in order and counted as a dense vector, by the same
 * code as any table; which they are, and how many, is forgotten with what stays below. */
#include "noise/threshold.h"

#include <math.h>
#include <stdlib.h>

enum { PLACES = 16 }; // the lattice step of all tables

struct dpl_unlisted {
    double sensitivity;
    size_t n_entries, n_units, entry_room, unit_room;
    struct dpl_entry *entry; /* (n_entries) `index` is the key */
    size_t *end;             /* (n_units) of a unit's entries */
};

double dpl_normal_quantile(double p) {
    double low = -40, high = 40;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* ---- the tally ---- */

enum dpl_status dpl_unlisted_new(struct dpl_run *run, double sensitivity,
                                 struct dpl_unlisted **tally) {
    *tally = dpl_alloc(run, 1, sizeof **tally);
    if (!*tally) return DPL_SYSTEM;
    (*tally)->sensitivity = sensitivity;
    return DPL_OK;
}

void dpl_unlisted_free(struct dpl_unlisted *tally) {
    if (!tally) return;
    dpl_free(tally->entry), dpl_free(tally->end);
    dpl_free(tally);
}

/* The m of threshold.h. A sensitivity of sqrt(m) may be a hair too small. */
static double most_keys(double sensitivity) {
    return fmax(floor(sensitivity * sensitivity * (1 + 0x1p-40)), 1);
}

enum dpl_status dpl_unlisted_add(struct dpl_run *run, struct dpl_unlisted *tally,
                                 const struct dpl_entry *entries, size_t n) {
    // PRIVACY: the clip shortens a unit of many keys, but leaves it all of them, and each may show.
    const double most = most_keys(tally->sensitivity);
    if ((double)n > most) n = (size_t)most;
    DPL_TRY(dpl_grow(run, &tally->entry, &tally->entry_room, tally->n_entries + n,
                     sizeof *tally->entry));
    DPL_TRY(dpl_grow(run, &tally->end, &tally->unit_room, tally->n_units + 1, sizeof *tally->end));
    for (size_t i = 0; i < n; i++) tally->entry[tally->n_entries++] = entries[i];
    tally->end[tally->n_units++] = tally->n_entries;
    return DPL_OK;
}

/* ---- the release ---- */

void dpl_keys_free(struct dpl_keys *keys) {
    dpl_free(keys->key), dpl_free(keys->count);
    *keys = (struct dpl_keys){0};
}

double dpl_threshold_of(const struct dpl_event *event) {
    double s = event->sensitivity;
    if (!(event->sigma > 0)) return 0;
    // One step more: the noise is rounded to the lattice.
    return s + s * event->sigma * -dpl_normal_quantile(event->rate / most_keys(s)) + 0x1p-16;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The keys that occur, each once, in rising order: key (n_entries). Returns how many. */
static size_t list_keys(const struct dpl_unlisted *tally, uint64_t *key) {
    size_t n = 0;
    for (size_t i = 0; i < tally->n_entries; i++) key[i] = tally->entry[i].index;
    qsort(key, tally->n_entries, sizeof *key, compare_keys);
    for (size_t i = 0; i < tally->n_entries; i++)
        if (n == 0 || key[n - 1] != key[i]) key[n++] = key[i];
    return n;
}

/* All units, with the places of their keys instead of the keys. */
static enum dpl_status count_keys(struct dpl_run *run, struct dpl_unlisted *tally,
                                  const uint64_t *key, size_t n, struct dpl_exact *exact) {
    for (size_t u = 0, i = 0; u < tally->n_units; u++) {
        size_t begin = i;
        for (; i < tally->end[u]; i++) {
            uint64_t wanted = tally->entry[i].index;
            const uint64_t *found = bsearch(&wanted, key, n, sizeof *key, compare_keys);
            tally->entry[i].index = (size_t)(found - key);
        }
        DPL_TRY(dpl_exact_add(run, exact, tally->entry + begin, i - begin));
    }
    return DPL_OK;
}

/* PRIVACY: what is not above the threshold leaves no trace. */
static enum dpl_status keep_above(struct dpl_run *run, const struct dpl_noised *noised,
                                  const uint64_t *key, size_t n, struct dpl_keys *keys) {
    keys->key = dpl_alloc(run, n, sizeof *keys->key);
    keys->count = dpl_alloc(run, n, sizeof *keys->count);
    if (!keys->key || !keys->count) return DPL_SYSTEM;
    for (size_t i = 0; i < n; i++) {
        if (!(dpl_noised_value(noised, i) > keys->threshold)) continue;
        keys->key[keys->n] = key[i];
        keys->count[keys->n++] = dpl_noised_value(noised, i);
    }
    return DPL_OK;
}

static enum dpl_status add_noise(struct dpl_run *run, struct dpl_secret *secret,
                                 struct dpl_event event, struct dpl_stream_id id,
                                 struct dpl_exact **exact, struct dpl_noised **noised) {
    if (event.kind != DPL_EVENT_THRESHOLD)
        return dpl_fail(run, DPL_REFUSED,
                        "event '%s' was accounted for as another mechanism than the one asked for",
                        event.name);
    if (!(event.sigma > 0)) return dpl_bare_release(run, &event, exact, noised);
    event.kind = DPL_EVENT_GAUSSIAN; // what the keys that others have, too, go through
    return dpl_gaussian_release(run, secret, &event, id, exact, noised);
}

enum dpl_status dpl_threshold_release(struct dpl_run *run, struct dpl_secret *secret,
                                      const struct dpl_event *event, struct dpl_stream_id id,
                                      struct dpl_unlisted **given, struct dpl_keys *keys) {
    struct dpl_unlisted *tally = *given;
    struct dpl_exact *exact = NULL;
    struct dpl_noised *noised = NULL;
    uint64_t *key = dpl_alloc(run, tally->n_entries, sizeof *key);
    enum dpl_status status = key ? DPL_OK : DPL_SYSTEM;
    *given = NULL;
    *keys = (struct dpl_keys){.threshold = dpl_threshold_of(event)};
    if (status != DPL_OK) goto done;
    size_t n = list_keys(tally, key);
    const struct dpl_exact_options about = {
        .n = n > 0 ? n : 1, DPL_NORM_L2, tally->sensitivity, PLACES};
    DPL_GO(dpl_exact_new(run, &about, &exact));
    DPL_GO(count_keys(run, tally, key, n, exact));
    DPL_GO(add_noise(run, secret, *event, id, &exact, &noised));
    DPL_GO(keep_above(run, noised, key, n, keys));
done:
    dpl_noised_free(noised), dpl_exact_free(exact);
    dpl_free(key), dpl_unlisted_free(tally);
    if (status != DPL_OK) dpl_keys_free(keys);
    return status;
}
