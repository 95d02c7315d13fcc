/* Drawing trips from a model of the paper's method: sources, destinations and hours by the autoencoder; trips that share
 * destination and hour share a graph; then path, walk and looping, trip by trip.
 *
 *     draw (s, d, t) of the round -> counting sort by (d, t) -> one graph per group that occurs -> its trips
 *
 * Groups are spread over the threads, one graph per thread at a time. Graphs of many cells are large, so that there are
 * only as many threads on them as fit into GRAPHS_BYTES (K = 4000: 64 MB a graph, two threads).
 */
#include <omp.h>
#include <string.h>

#include "method/paper/trace.h"
#include "method/paper/vae_sample.h"

enum { GRAPHS_BYTES = 140 << 20 };

struct worker {
    struct dpl_graph *graph;
    struct dpl_random *random;
    int32_t *path;         // (length_max)
    struct dpl_stay *stay; // (length_max)
};

struct paper {
    struct dpl_generator generator; // first: a pointer to one is a pointer to the other
    struct dpl_vae_shape vae_shape;
    const float *vae;
    uint64_t vae_key;
    struct dpl_routes *routes;
    struct dpl_neighbours neighbours;
    struct dpl_trace_options trace;
    int n_workers;
    struct worker *worker;
    size_t capacity;                // trips that the columns have room for
    int32_t *source, *destination;  // (capacity)
    uint8_t *period;                // (capacity)
    uint32_t *order;                // (capacity) trips by group
    size_t *group;                  // (K * P + 1) where each group begins in `order`
};

/* ---- a round ---- */

static enum dpl_status make_room(struct dpl_run *run, struct paper *self, size_t n) {
    if (n <= self->capacity) return DPL_OK;
    dpl_free(self->source), dpl_free(self->destination), dpl_free(self->period), dpl_free(self->order);
    self->capacity = 0;
    self->source = dpl_alloc(run, n, sizeof *self->source);
    self->destination = dpl_alloc(run, n, sizeof *self->destination);
    self->period = dpl_alloc(run, n, sizeof *self->period);
    self->order = dpl_alloc(run, n, sizeof *self->order);
    if (self->source == NULL || self->destination == NULL || self->period == NULL || self->order == NULL) return DPL_SYSTEM;
    self->capacity = n;
    return DPL_OK;
}

static size_t group_of(const struct paper *self, size_t i) {
    return (size_t)self->destination[i] * self->vae_shape.n_periods + self->period[i];
}

/* order gets the round's trips by group, ascending within each. */
static void sort_by_group(struct paper *self, size_t n) {
    size_t groups = self->vae_shape.n_cells * self->vae_shape.n_periods;
    memset(self->group, 0, (groups + 1) * sizeof *self->group);
    for (size_t i = 0; i < n; i++) self->group[group_of(self, i) + 1]++;
    for (size_t g = 0; g < groups; g++) self->group[g + 1] += self->group[g];
    for (size_t i = 0; i < n; i++) self->order[self->group[group_of(self, i)]++] = (uint32_t)i;
    memmove(self->group + 1, self->group, groups * sizeof *self->group); // each begin has become its end
    self->group[0] = 0;
}

/* All trips of one group. */
static enum dpl_status draw_group(struct dpl_run *run, const struct paper *self, struct dpl_round *round, size_t g, int thread) {
    struct worker *worker = &self->worker[thread];
    size_t period = g % self->vae_shape.n_periods, begin = self->group[g], end = self->group[g + 1];
    dpl_graph_build(self->routes, (int32_t)(g / self->vae_shape.n_periods), period, worker->graph);
    for (size_t at = begin; at < end && !atomic_load_explicit(&round->full, memory_order_relaxed); at++) {
        size_t i = self->order[at];
        struct dpl_stream stream;
        dpl_stream_open(&stream, worker->random, (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first + i, DPL_SYNTHESIS_TRACE});
        size_t n = dpl_trace_trip(worker->graph, &self->neighbours, &self->trace, self->source[i], &stream, worker->path, worker->stay);
        DPL_TRY(dpl_stream_close(run, &stream));
        DPL_TRY(dpl_round_put(run, round, thread, i, period, worker->stay, n));
    }
    dpl_progress_add(run, (double)(end - begin));
    return DPL_OK;
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator, struct dpl_round *round) {
    struct paper *self = (struct paper *)generator;
    size_t groups = self->vae_shape.n_cells * self->vae_shape.n_periods;
    DPL_TRY(make_room(run, self, round->n_trips));
    DPL_TRY(dpl_vae_sample(run, &self->vae_shape, self->vae, self->vae_key, round->first, round->n_trips, self->source, self->destination,
                           self->period));
    sort_by_group(self, round->n_trips);
    _Atomic int failed = DPL_OK;
#pragma omp parallel for num_threads(self->n_workers) schedule(dynamic, 1)
    for (size_t g = 0; g < groups; g++) {
        if (self->group[g] == self->group[g + 1] || atomic_load(&failed) || atomic_load(&round->full)) continue;
        enum dpl_status status = dpl_check_interrupt(run);
        if (status == DPL_OK) status = draw_group(run, self, round, g, omp_get_thread_num());
        if (status != DPL_OK) atomic_store(&failed, (int)status);
    }
    return (enum dpl_status)atomic_load(&failed);
}

/* ---- from the model ---- */

static void free_generator(struct dpl_generator *generator) {
    struct paper *self = (struct paper *)generator;
    for (int i = 0; self->worker != NULL && i < self->n_workers; i++) {
        dpl_graph_free(self->worker[i].graph);
        dpl_random_free(self->worker[i].random);
        dpl_free(self->worker[i].path);
        dpl_free(self->worker[i].stay);
    }
    dpl_free(self->worker);
    dpl_free(self->group);
    dpl_free(self->source), dpl_free(self->destination), dpl_free(self->period), dpl_free(self->order);
    dpl_neighbours_free(&self->neighbours);
    dpl_routes_free(self->routes);
    dpl_free(self);
}

/* A size among the model's options, so that an edited file cannot make it absurd. */
static enum dpl_status read_size(struct dpl_run *run, const struct dpl_model *model, const char *name, size_t *size) {
    enum { LARGEST = 1 << 16 };
    json_t *value = json_object_get(model->options, name);
    if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > LARGEST)
        return dpl_fail(run, DPL_BAD_DATA, "the model's option \"%s\" is missing or not a whole number from 1 to %d", name, LARGEST);
    *size = (size_t)json_integer_value(value);
    return DPL_OK;
}

static enum dpl_status open_nets(struct dpl_run *run, const struct dpl_model *model, struct paper *self) {
    size_t K = (size_t)model->n_cells, P = (size_t)model->grid.area.periods;
    struct dpl_nexthop_shape nexthop = dpl_nexthop_paper(K, P);
    const float *parameters = NULL;
    nexthop.no_destination = json_is_true(json_object_get(model->options, "no-destination"));
    self->vae_shape = dpl_vae_paper(K, P);
    DPL_TRY(read_size(run, model, "vae_hidden", &self->vae_shape.hidden));
    DPL_TRY(read_size(run, model, "vae_latent", &self->vae_shape.latent));
    DPL_TRY(read_size(run, model, "nexthop_embedding", &nexthop.embedding));
    DPL_TRY(read_size(run, model, "nexthop_hidden", &nexthop.hidden));
    DPL_TRY(dpl_model_get(run, model, "vae", DPL_TENSOR_F32, 1, (size_t[]){dpl_vae_parameters(&self->vae_shape)}, &self->vae));
    DPL_TRY(dpl_model_get(run, model, "nexthop", DPL_TENSOR_F32, 1, (size_t[]){dpl_nexthop_parameters(&nexthop)}, &parameters));
    DPL_TRY(dpl_routes_open(run, &nexthop, parameters, &self->routes));
    size_t fit = GRAPHS_BYTES / dpl_graph_bytes(K, nexthop.hidden), threads = (size_t)dpl_run_threads(run);
    self->n_workers = (int)(fit < 1 ? 1 : fit < threads ? fit : threads);
    self->worker = dpl_alloc(run, (size_t)self->n_workers, sizeof *self->worker);
    self->group = dpl_alloc(run, K * P + 1, sizeof *self->group);
    if (self->worker == NULL || self->group == NULL) return DPL_SYSTEM;
    for (int i = 0; i < self->n_workers; i++) DPL_TRY(dpl_graph_new(run, K, nexthop.hidden, &self->worker[i].graph));
    return dpl_neighbours_find(run, &model->grid, model->cell, K, &self->neighbours);
}

static enum dpl_status open_streams(struct dpl_run *run, const struct dpl_model *model, uint64_t seed, struct paper *self) {
    struct dpl_secret secret;
    struct dpl_stream stream;
    enum dpl_status status;
    DPL_TRY(dpl_secret_from_seed(run, seed, &secret));
    for (int i = 0; i < self->n_workers; i++) {
        struct worker *worker = &self->worker[i];
        DPL_GO(dpl_random_new(run, &secret, &worker->random));
        worker->path = dpl_alloc(run, (size_t)model->length_max, sizeof *worker->path);
        worker->stay = dpl_alloc(run, (size_t)model->length_max, sizeof *worker->stay);
        status = worker->path != NULL && worker->stay != NULL ? DPL_OK : DPL_SYSTEM;
        if (status != DPL_OK) goto done;
    }
    dpl_stream_open(&stream, self->worker[0].random, (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 0, DPL_SYNTHESIS_KEYS});
    self->vae_key = dpl_stream_u64(&stream);
    status = dpl_stream_close(run, &stream);
done:
    dpl_secret_wipe(&secret);
    return status;
}

enum dpl_status dpl_paper_generator(struct dpl_run *run, const struct dpl_model *model, const struct dpl_draw_options *options,
                                    struct dpl_generator **generator) {
    enum dpl_status status;
    struct paper *self = dpl_alloc(run, 1, sizeof *self);
    if (self == NULL) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    self->trace = (struct dpl_trace_options){options->mh_steps, options->looping, (uint32_t)model->length_max};
    DPL_GO(open_nets(run, model, self));
    DPL_GO(open_streams(run, model, options->seed, self));
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
