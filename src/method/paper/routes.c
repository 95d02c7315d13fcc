/* Routing graphs.
 *
 * With the net's first layer folded into tables, all K x K logits of a graph are one product
 *
 *     logit (K next, K current) = output' (K, H + 1) * hidden (H + 1, K current)
 *
 * laid out so that the edges that *enter* a cell are contiguous: the reverse search settles y and
 * looks at all x at once, and softmax runs down the columns. log P = logit - norm is never stored:
 * the search subtracts as it goes, and no logarithm of a probability is ever taken.
 *
 * Dijkstra on a dense graph needs no queue: every round relaxes a row and finds the nearest open
 * cell in the same pass, K rounds of K. Weights are at least 0, so that a settled cell never
 * changes, and the tree has no cycle even where the weight is 0 (a cell's next was settled before
 * it).
 *
 * Cost of a graph: 2 K^2 (H + 1) FLOP for the product, K^2 exponentials, K^2 relaxations. At K =
 * 238 on one core about 0.3, 0.05 and 0.03 ms (bench/sample_bench.c).
 *
 * Same bits whatever the number of threads: a graph is one thread's, and the product is of the same
 * shape every time.
 */
#include "method/paper/routes.h"

#include <math.h>

#include "method/paper/net/columns.h"
#include "method/paper/net/product.h"

struct dpl_routes {
    struct dpl_nexthop_shape shape;
    float *from;   // (H, K) folded, transposed; one allocation with the rest
    float *to;     // (K, H)
    float *time;   // (H)
    float *output; // (K, H + 1) transposed
};

static void fill_tables(const struct dpl_nexthop_folded *folded, struct dpl_routes *routes) {
    size_t K = routes->shape.n_cells, H = routes->shape.hidden;
    for (size_t x = 0; x < K; x++)
        for (size_t j = 0; j < H; j++) {
            routes->from[j * K + x] = folded->from[x * H + j];
            routes->to[x * H + j] = folded->to[x * H + j];
        }
    for (size_t j = 0; j < H; j++) routes->time[j] = folded->time[j];
    for (size_t j = 0; j <= H; j++)
        for (size_t y = 0; y < K; y++) routes->output[y * (H + 1) + j] = folded->output[j * K + y];
}

enum dpl_status dpl_routes_open(struct dpl_run *run, const struct dpl_nexthop_shape *shape,
                                const float *parameters, struct dpl_routes **routes) {
    size_t K = shape->n_cells, H = shape->hidden;
    if (K < 1 || K > DPL_ROUTES_CELLS)
        return dpl_fail(run, DPL_BAD_DATA,
                        "routes on %zu cells do not fit into memory (1 to %d are possible; take "
                        "larger cells: `area.cell_m`)",
                        K, DPL_ROUTES_CELLS);
    struct dpl_nexthop_folded folded = {0};
    enum dpl_status status = DPL_SYSTEM;
    struct dpl_routes *made = dpl_alloc(run, 1, sizeof *made);
    float *block = dpl_alloc(run, 2 * K * H + H + K * (H + 1), sizeof *block);
    if (made == NULL || block == NULL) goto done;
    *made = (struct dpl_routes){.shape = *shape,
                                .from = block,
                                .to = block + K * H,
                                .time = block + 2 * K * H,
                                .output = block + 2 * K * H + H};
    block = NULL;
    DPL_GO(dpl_nexthop_fold(run, shape, parameters, &folded));
    fill_tables(&folded, made);
    *routes = made;
    made = NULL;
done:
    dpl_nexthop_folded_free(&folded);
    dpl_free(block);
    dpl_routes_free(made);
    return status;
}

void dpl_routes_free(struct dpl_routes *routes) {
    if (routes == NULL) return;
    dpl_free(routes->from);
    dpl_free(routes);
}

static size_t graph_floats(size_t K, size_t hidden) { return K * K + 6 * K + (hidden + 1) * K; }

size_t dpl_graph_bytes(size_t n_cells, size_t hidden) {
    return graph_floats(n_cells, hidden) * sizeof(float);
}

enum dpl_status dpl_graph_new(struct dpl_run *run, size_t n_cells, size_t hidden,
                              struct dpl_graph **graph) {
    size_t K = n_cells;
    struct dpl_graph *made = dpl_alloc(run, 1, sizeof *made);
    float *block = dpl_alloc(run, graph_floats(K, hidden) - K, sizeof *block);
    int32_t *next = dpl_alloc(run, K, sizeof *next);
    if (made == NULL || block == NULL || next == NULL) {
        dpl_free(next);
        dpl_free(block);
        dpl_free(made);
        return DPL_SYSTEM;
    }
    float *rest = block + K * K;
    *made = (struct dpl_graph){.n_cells = K,
                               .logit = block,
                               .norm = rest,
                               .distance = rest + K,
                               .closed = rest + 2 * K,
                               .scratch = rest + 3 * K,
                               .hidden = rest + 5 * K,
                               .next = next};
    for (size_t x = 0; x < K; x++) made->hidden[hidden * K + x] = 1; // the row that meets the bias
    *graph = made;
    return DPL_OK;
}

void dpl_graph_free(struct dpl_graph *graph) {
    if (graph == NULL) return;
    dpl_free(graph->next);
    dpl_free(graph->logit);
    dpl_free(graph);
}

void dpl_graph_solve(struct dpl_graph *graph, int32_t destination) {
    size_t K = graph->n_cells;
    dpl_columns_log_sum_exp(graph->logit, K, K, graph->norm, graph->scratch);
    graph->destination = destination;
    for (size_t x = 0; x < K; x++)
        graph->distance[x] = INFINITY, graph->closed[x] = 0, graph->next[x] = -1;
    graph->distance[destination] = 0;
    for (size_t y = (size_t)destination; y < K;) {
        graph->closed[y] = INFINITY;
        y = dpl_columns_relax(graph->logit + y * K, graph->norm, K, (int32_t)y, graph->distance[y],
                              graph->closed, graph->distance, graph->next);
    }
}

void dpl_graph_build(const struct dpl_routes *routes, int32_t destination, size_t period,
                     struct dpl_graph *graph) {
    size_t K = routes->shape.n_cells, H = routes->shape.hidden;
    const float *to = routes->to + (size_t)destination * H;
    float hour = dpl_nexthop_hour(&routes->shape, period);
    for (size_t j = 0; j < H; j++)
        dpl_columns_relu(routes->from + j * K, to[j] + hour * routes->time[j], K,
                         graph->hidden + j * K);
    dpl_product('N', 'N', K, K, H + 1, 1, routes->output, H + 1, graph->hidden, K, 0, graph->logit,
                K);
    dpl_graph_solve(graph, destination);
}
