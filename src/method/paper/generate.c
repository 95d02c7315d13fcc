/* Drawing trips from a model of the paper's method: sources, destinations and hours by the
 * autoencoder; trips that share destination and hour share a graph; then path, walk and looping,
 * trip by trip.
 *
 *     draw (s, d, t) of the round -> counting sort by (d, t) -> one graph per group that occurs ->
 * its trips
 *
 * Groups are spread over the threads, one graph per thread at a time. Graphs of many cells are
 * large, so that there are only as many threads on them as fit into GRAPHS_BYTES (K = 4000: 64 MB a
 * graph, two threads).
 */
#include "sample/groups.h"
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
    struct dpl_groups groups; // of trips by destination and hour
};

/* ---- a round ---- */

static size_t group_of(const struct dpl_generator *generator, size_t period, size_t destination) {
    const struct paper *self = (const struct paper *)generator;
    return destination * self->vae_shape.n_periods + period;
}

static void prepare(struct dpl_generator *generator, size_t g, int thread) {
    const struct paper *self = (const struct paper *)generator;
    dpl_graph_build(self->routes, (int32_t)(g / self->vae_shape.n_periods),
                    g % self->vae_shape.n_periods, self->worker[thread].graph);
}

static enum dpl_status draw_trip(struct dpl_run *run, struct dpl_generator *generator,
                                 struct dpl_round *round, size_t i, int thread) {
    const struct paper *self = (const struct paper *)generator;
    struct worker *worker = &self->worker[thread];
    struct dpl_stream stream;
    dpl_stream_open(
        &stream, worker->random,
        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first + i, DPL_SYNTHESIS_TRACE});
    size_t n = dpl_trace_trip(worker->graph, &self->neighbours, &self->trace,
                              self->groups.source[i], &stream, worker->path, worker->stay);
    DPL_TRY(dpl_stream_close(run, &stream));
    return dpl_round_put(run, round, thread, i, self->groups.period[i], worker->stay, n);
}

static enum dpl_status draw(struct dpl_run *run, struct dpl_generator *generator,
                            struct dpl_round *round) {
    static const struct dpl_grouping GROUPING = {group_of, prepare, draw_trip};
    struct paper *self = (struct paper *)generator;
    struct dpl_groups *groups = &self->groups;
    DPL_TRY(dpl_groups_room(run, groups, round->n_trips));
    DPL_TRY(dpl_vae_sample(run, &self->vae_shape, self->vae, self->vae_key, round->first,
                           round->n_trips, groups->source, groups->destination, groups->period));
    return dpl_groups_draw(run, groups, &GROUPING, generator, self->n_workers, round);
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
    dpl_groups_free(&self->groups);
    dpl_neighbours_free(&self->neighbours);
    dpl_routes_free(self->routes);
    dpl_free(self);
}

/* A size among the model's options, so that an edited file cannot make it absurd. */
static enum dpl_status read_size(struct dpl_run *run, const struct dpl_model *model,
                                 const char *name, size_t *size) {
    enum { LARGEST = 1 << 16 };
    json_t *value = json_object_get(model->options, name);
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > LARGEST)
        return dpl_fail(run, DPL_BAD_DATA,
                        "the model's option \"%s\" is missing or not a whole number from 1 to %d",
                        name, LARGEST);
    *size = (size_t)json_integer_value(value);
    return DPL_OK;
}

static enum dpl_status open_nets(struct dpl_run *run, const struct dpl_model *model,
                                 struct paper *self) {
    size_t K = (size_t)model->n_cells, P = (size_t)model->grid.area.periods;
    struct dpl_nexthop_shape nexthop = dpl_nexthop_paper(K, P);
    const float *parameters = NULL;
    nexthop.no_destination = json_is_true(json_object_get(model->options, "no-destination"));
    self->vae_shape = dpl_vae_paper(K, P);
    DPL_TRY(read_size(run, model, "vae_hidden", &self->vae_shape.hidden));
    DPL_TRY(read_size(run, model, "vae_latent", &self->vae_shape.latent));
    DPL_TRY(read_size(run, model, "nexthop_embedding", &nexthop.embedding));
    DPL_TRY(read_size(run, model, "nexthop_hidden", &nexthop.hidden));
    DPL_TRY(dpl_model_get(run, model, "vae", DPL_TENSOR_F32, 1,
                          (size_t[]){dpl_vae_parameters(&self->vae_shape)}, &self->vae));
    DPL_TRY(dpl_model_get(run, model, "nexthop", DPL_TENSOR_F32, 1,
                          (size_t[]){dpl_nexthop_parameters(&nexthop)}, &parameters));
    DPL_TRY(dpl_routes_open(run, &nexthop, parameters, &self->routes));
    size_t fit = GRAPHS_BYTES / dpl_graph_bytes(K, nexthop.hidden),
           threads = (size_t)dpl_run_threads(run);
    self->n_workers = (int)(fit < 1 ? 1 : fit < threads ? fit : threads);
    self->worker = dpl_alloc(run, (size_t)self->n_workers, sizeof *self->worker);
    if (self->worker == NULL) return DPL_SYSTEM;
    DPL_TRY(dpl_groups_new(run, K * P, &self->groups));
    for (int i = 0; i < self->n_workers; i++)
        DPL_TRY(dpl_graph_new(run, K, nexthop.hidden, &self->worker[i].graph));
    return dpl_neighbours_find(run, &model->grid, model->cell, K, &self->neighbours);
}

static enum dpl_status open_streams(struct dpl_run *run, const struct dpl_model *model,
                                    uint64_t seed, struct paper *self) {
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
    dpl_stream_open(&stream, self->worker[0].random,
                    (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 0, DPL_SYNTHESIS_KEYS});
    self->vae_key = dpl_stream_u64(&stream);
    status = dpl_stream_close(run, &stream);
done:
    dpl_secret_wipe(&secret);
    return status;
}

enum dpl_status dpl_paper_generator(struct dpl_run *run, const struct dpl_model *model,
                                    const struct dpl_draw_options *options,
                                    struct dpl_generator **generator) {
    enum dpl_status status;
    struct paper *self = dpl_alloc(run, 1, sizeof *self);
    if (self == NULL) return DPL_SYSTEM;
    self->generator = (struct dpl_generator){.draw = draw, .free = free_generator};
    self->trace = (struct dpl_trace_options){options->mh_steps, options->looping,
                                             (uint32_t)model->length_max};
    DPL_GO(dpl_generator_check_cells(run, model));
    DPL_GO(open_nets(run, model, self));
    DPL_GO(open_streams(run, model, options->seed, self));
    *generator = &self->generator;
    return DPL_OK;
done:
    free_generator(&self->generator);
    return status;
}
