/* See filter.h.
 *
 * Invariants
 *  - left[v] = left[parent] - part[v] >= 0 in whole numbers: on every path the parts sum to at most
 * the whole.
 *  - Node v has the coordinates v * stride ... of one stream: no two nodes share noise, and none is
 * noised twice. Cost: 13 bytes per node, and the noise: 3 ns (Gaussian) or 100 ns (Laplace) per
 * bin. */
#include "noise/filter.h"

#include <math.h>
#include <string.h>

#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/lattice_inner.h"

enum { PLACES = 16, ALIGN = 64 };

struct dpl_filter {
    struct dpl_secret secret;
    struct dpl_event event;
    struct dpl_stream_id id;
    bool bare;
    size_t n_bins, stride;
    uint32_t n;
    uint64_t *left, *part; /* (n) */
    uint8_t *noised;       /* (n) */
    size_t left_capacity, part_capacity, noised_capacity;
    struct dpl_filter_source source;
    struct dpl_exact *level; /* counts of the nodes from `begin` on, not noised; NULL: none */
    uint32_t begin;
};

enum dpl_status dpl_filter_open(struct dpl_run *run, struct dpl_secret *secret,
                                const struct dpl_event *event, struct dpl_stream_id id, bool bare,
                                size_t n_bins, struct dpl_filter **made) {
    if (event->kind != DPL_EVENT_GAUSSIAN && event->kind != DPL_EVENT_LAPLACE)
        return dpl_fail(run, DPL_REFUSED,
                        "event '%s' was accounted for as another mechanism than the one asked for",
                        event->name);
    // PRIVACY: a plan has a sigma of 0 only for an infinite epsilon, which stamps every output NOT
    // PRIVATE.
    if (bare == (event->sigma > 0))
        return dpl_fail(run, DPL_REFUSED, "event '%s' was accounted for %s noise", event->name,
                        bare ? "with" : "without");
    if (!(event->sensitivity > 0) || id.b != 0)
        return dpl_fail(run, DPL_USAGE,
                        "event '%s' has no sensitivity, or its stream a second number",
                        event->name);
    if (!bare) DPL_TRY(dpl_secret_spend(run, secret, id));
    struct dpl_filter *filter = dpl_secret_alloc(run, sizeof *filter);
    if (!filter) return DPL_SYSTEM;
    *filter = (struct dpl_filter){.secret = *secret,
                                  .event = *event,
                                  .id = id,
                                  .bare = bare,
                                  .n_bins = n_bins,
                                  .stride = (n_bins + ALIGN - 1) / ALIGN * ALIGN};
    *made = filter;
    return DPL_OK;
}

void dpl_filter_close(struct dpl_filter *filter) {
    if (!filter) return;
    dpl_free(filter->left), dpl_free(filter->part), dpl_free(filter->noised);
    dpl_exact_free(filter->level);
    dpl_secret_free(filter, sizeof *filter);
}

size_t dpl_filter_bins(const struct dpl_filter *filter) { return filter->n_bins; }

uint64_t dpl_filter_left(const struct dpl_filter *filter, uint32_t node) {
    return node == DPL_FILTER_NO_NODE ? DPL_FILTER_WHOLE : filter->left[node];
}

enum dpl_status dpl_filter_grow(struct dpl_run *run, struct dpl_filter *filter, uint32_t parent,
                                uint64_t part, uint32_t *node) {
    if ((parent == DPL_FILTER_NO_NODE) != (filter->n == 0) ||
        (filter->n > 0 && parent >= filter->n) || filter->n == DPL_FILTER_NO_NODE)
        return dpl_fail(run, DPL_REFUSED,
                        "a tree has one root, and its other nodes grow from nodes that are there");
    // PRIVACY: this comparison is the filter.
    if (part == 0 || part > dpl_filter_left(filter, parent))
        return dpl_fail(run, DPL_REFUSED,
                        "event '%s': a node asks for more than is left of the budget on its path",
                        filter->event.name);
    DPL_TRY(dpl_grow(run, &filter->left, &filter->left_capacity, (size_t)filter->n + 1,
                     sizeof *filter->left));
    DPL_TRY(dpl_grow(run, &filter->part, &filter->part_capacity, (size_t)filter->n + 1,
                     sizeof *filter->part));
    DPL_TRY(dpl_grow(run, &filter->noised, &filter->noised_capacity, (size_t)filter->n + 1,
                     sizeof *filter->noised));
    filter->left[filter->n] = dpl_filter_left(filter, parent) - part;
    filter->part[filter->n] = part;
    filter->noised[filter->n] = 0;
    *node = filter->n++;
    return DPL_OK;
}

bool dpl_filter_laplace(const struct dpl_filter *filter) {
    return filter->event.kind == DPL_EVENT_LAPLACE;
}

/* Rounded up at each operation: never less noise than the part pays for. */
double dpl_filter_scale(const struct dpl_filter *filter, uint32_t node) {
    if (filter->bare) return 0;
    double whole = nextafter(filter->event.sigma * filter->event.sensitivity, INFINITY),
           times = (double)DPL_FILTER_WHOLE / (double)filter->part[node];
    times =
        nextafter(dpl_filter_laplace(filter) ? times : sqrt(nextafter(times, INFINITY)), INFINITY);
    return nextafter(whole * times, INFINITY);
}

enum dpl_status dpl_filter_random(struct dpl_run *run, const struct dpl_filter *filter,
                                  struct dpl_random **random) {
    return dpl_random_new(run, &filter->secret, random);
}

/* ---- histograms ---- */

struct dpl_bins {
    size_t n;
    int64_t *count; /* (n) */
};

enum dpl_status dpl_bins_new(struct dpl_run *run, const struct dpl_filter *filter,
                             struct dpl_bins **made) {
    struct dpl_bins *bins = dpl_alloc(run, 1, sizeof *bins);
    if (!bins) return DPL_SYSTEM;
    bins->n = filter->n_bins;
    bins->count = dpl_alloc(run, bins->n, sizeof *bins->count);
    if (!bins->count) {
        dpl_free(bins);
        return DPL_SYSTEM;
    }
    *made = bins;
    return DPL_OK;
}

void dpl_bins_free(struct dpl_bins *bins) {
    if (!bins) return;
    dpl_free(bins->count);
    dpl_free(bins);
}

void dpl_bins_add(struct dpl_bins *bins, size_t bin) { bins->count[bin]++; }

/* Counts (n_bins) become noised ones, in steps. */
static enum dpl_status add_noise(struct dpl_run *run, struct dpl_filter *filter,
                                 struct dpl_random *random, uint32_t node, int64_t *counts) {
    if (node >= filter->n || filter->noised[node])
        return dpl_fail(run, DPL_REFUSED, "event '%s': a node is noised once, and once only",
                        filter->event.name);
    filter->noised[node] = 1;
    for (size_t i = 0; i < filter->n_bins; i++) counts[i] *= (int64_t)1 << PLACES;
    if (filter->bare) return DPL_OK;
    double steps = ldexp(dpl_filter_scale(filter, node), PLACES);
    uint64_t first = (uint64_t)node * filter->stride, num, den;
    if (!dpl_filter_laplace(filter))
        return dpl_gaussian_add(run, random, filter->id, first, counts, filter->n_bins, steps);
    if (!dpl_laplace_ratio(steps, &num, &den))
        return dpl_fail(run, DPL_USAGE,
                        "event '%s' needs Laplace noise of %g lattice steps (from 2^-20 to 2^39)",
                        filter->event.name, steps);
    return dpl_laplace_add(run, random, filter->id, first, counts, filter->n_bins, num, den);
}

/* ---- levels ---- */

void dpl_filter_attach(struct dpl_filter *filter, struct dpl_filter_source source) {
    filter->source = source;
}

static bool is_known(const struct dpl_filter *filter, uint32_t node) {
    return node < filter->source.n_known;
}

enum dpl_status dpl_filter_level(struct dpl_run *run, struct dpl_filter *filter, uint32_t begin,
                                 uint32_t end) {
    const struct dpl_filter_source *source = &filter->source;
    const struct dpl_exact_options about = {.n = (size_t)(end - begin) * filter->n_bins,
                                            .norm = DPL_NORM_L1,
                                            .sensitivity = filter->event.sensitivity,
                                            .places = 0};
    filter->begin = begin;
    if ((!source->counts && !source->take) || is_known(filter, end - 1)) return DPL_OK;
    if (source->counts) return dpl_exact_new(run, &about, &filter->level);
    return source->take(source->context, &about, &filter->level);
}

enum dpl_status dpl_filter_level_end(struct dpl_run *run, struct dpl_filter *filter,
                                     uint64_t units) {
    (void)run;
    if (!filter->level) return DPL_OK;
    filter->level->units = units;
    enum dpl_status status = filter->source.counts
                                 ? filter->source.give(filter->source.context, &filter->level)
                                 : DPL_OK;
    dpl_exact_free(filter->level);
    filter->level = NULL;
    return status;
}

static int64_t *level_row(const struct dpl_filter *filter, uint32_t node) {
    return filter->level->sum + (size_t)(node - filter->begin) * filter->n_bins;
}

/* A worker keeps counts as they are. PRIVACY: into a vector that is as opaque as the bins. */
static void keep_counts(const struct dpl_filter *filter, uint32_t node,
                        const struct dpl_bins *bins) {
    memcpy(level_row(filter, node), bins->count, bins->n * sizeof *bins->count);
}

static enum dpl_status noise_bins(struct dpl_run *run, struct dpl_filter *filter,
                                  struct dpl_random *random, uint32_t node, struct dpl_bins *bins,
                                  double *noised) {
    for (size_t i = 0; filter->level && i < bins->n; i++)
        bins->count[i] += level_row(filter, node)[i];
    DPL_TRY(add_noise(run, filter, random, node, bins->count));
    for (size_t i = 0; i < bins->n; i++) noised[i] = (double)bins->count[i] * DPL_FILTER_STEP;
    return DPL_OK;
}

enum dpl_status dpl_filter_noise(struct dpl_run *run, struct dpl_filter *filter,
                                 struct dpl_random *random, uint32_t node, struct dpl_bins *bins,
                                 double *noised) {
    const struct dpl_filter_source *source = &filter->source;
    enum dpl_status status = DPL_OK;
    if (is_known(filter, node))
        memcpy(noised, source->known + (size_t)node * bins->n, bins->n * sizeof *noised);
    else if (source->counts)
        keep_counts(filter, node, bins), memset(noised, 0, bins->n * sizeof *noised);
    else
        status = noise_bins(run, filter, random, node, bins, noised);
    if (status == DPL_OK && source->keep) source->keep(source->context, node, noised);
    memset(bins->count, 0, bins->n * sizeof *bins->count);
    return status;
}
