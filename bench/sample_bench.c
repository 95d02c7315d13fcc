/* Sampling from models of the size the paper had: trips a second and where the time goes. One line
 * a figure: name, value, unit, goal, ok or MISSED. Memory is measured by bench/sample_memory.sh,
 * for which `sample_bench FILE CELLS METRES` writes models. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "../tests/hand_model.h"
#include "method/paper/trace.h"
#include "method/paper/net/columns.h"

struct cost {
    double wall_s, processor_s;
};

static struct cost draw(struct dpl_run *run, const struct dpl_model *model, int64_t trips) {
    struct dpl_sample_options options = dpl_sample_defaults();
    options.trips = trips;
    options.seed = 1;
    options.to = "csv";
    options.overwrite = true;
    double begin = clock_s(CLOCK_MONOTONIC), processor = cpu_s();
    must(run, dpl_sample_write(run, model, &options, "sample_bench.csv"));
    return (struct cost){clock_s(CLOCK_MONOTONIC) - begin, cpu_s() - processor};
}

/* A graph's parts, on one thread, in milliseconds. */
static void parts(struct dpl_run *run, const struct dpl_model *model, const char *label) {
    enum { TIMES = 40 };
    struct dpl_nexthop_shape shape = dpl_nexthop_paper((size_t)model->n_cells, 24);
    struct dpl_routes *routes;
    struct dpl_graph *graph;
    const float *parameters;
    char name[64];
    must(run, dpl_model_get(run, model, "nexthop", DPL_TENSOR_F32, 1,
                            (size_t[]){dpl_nexthop_parameters(&shape)}, &parameters));
    must(run, dpl_routes_open(run, &shape, parameters, &routes));
    must(run, dpl_graph_new(run, shape.n_cells, shape.hidden, &graph));
    double begin = cpu_s();
    for (int i = 0; i < TIMES; i++)
        dpl_graph_build(routes, i % model->n_cells, (size_t)i % 24, graph);
    double all = cpu_s() - begin;
    begin = cpu_s();
    for (int i = 0; i < TIMES; i++) dpl_graph_solve(graph, i % model->n_cells);
    double solve = cpu_s() - begin;
    begin = cpu_s();
    for (int i = 0; i < TIMES; i++)
        dpl_columns_log_sum_exp(graph->logit, shape.n_cells, shape.n_cells, graph->norm,
                                graph->scratch);
    double softmax = cpu_s() - begin;
    snprintf(name, sizeof name, "graph_%s_product", label),
        report(name, (all - solve) / TIMES * 1e3, "ms");
    snprintf(name, sizeof name, "graph_%s_softmax", label),
        report(name, softmax / TIMES * 1e3, "ms");
    snprintf(name, sizeof name, "graph_%s_dijkstra", label),
        report(name, (solve - softmax) / TIMES * 1e3, "ms");
    dpl_graph_free(graph);
    dpl_routes_free(routes);
}

static void bench_cells(struct dpl_run *run, double cell_m, int32_t n_cells, const char *label,
                        double goal_s) {
    enum { TRIPS = 431000, FEW = 43100 };
    struct hand_options options = hand_defaults(n_cells);
    struct dpl_model *model;
    char name[64];
    must(run, hand_model(run, cell_m, &options, &model));
    struct cost few = draw(run, model, FEW), all = draw(run, model, TRIPS);
    // On a machine of its own both are the same; on a shared one only the processor time means
    // anything.
    snprintf(name, sizeof name, "sample_431k_%s_wall", label), report(name, all.wall_s, "s");
    snprintf(name, sizeof name, "sample_431k_%s", label),
        report_at_most(name, all.processor_s / 2, "s (cpu/2)", goal_s);
    snprintf(name, sizeof name, "sample_rate_%s", label),
        report(name, TRIPS / all.processor_s * 2, "trips/s");
    // Graphs are shared, so that ten times the trips take far less than ten times as long.
    snprintf(name, sizeof name, "per_trip_over_tenth_%s", label),
        report_at_most(name, all.processor_s / TRIPS / (few.processor_s / FEW), "times", 0.95);
    parts(run, model, label);
    dpl_model_free(model);
}

static void write_model(struct dpl_run *run, const char *path, int32_t n_cells, double cell_m) {
    struct hand_options options = hand_defaults(n_cells);
    struct dpl_model *model;
    must(run, hand_model(run, cell_m, &options, &model));
    must(run, dpl_model_write(run, model, path, true));
    dpl_model_free(model);
}

int main(int argc, char **argv) {
    struct dpl_run_options run_options = dpl_run_defaults();
    run_options.threads = 2;
    struct dpl_run *run = dpl_run_new(&run_options);
    if (argc == 4) {
        write_model(run, argv[1], (int32_t)strtol(argv[2], NULL, 10), strtod(argv[3], NULL));
    } else {
        bench_cells(run, 500, 238, "k238", 8);
        bench_cells(run, 500, 550, "k550", 30);
        remove("sample_bench.csv"), remove("sample_bench.csv.certificate.json"),
            remove("sample_bench.csv.manifest.json");
    }
    dpl_run_free(run);
    return 0;
}
