/* SGLT's synthesis: a key, a length within its bin, a start in the source's cluster, and a bridge
 * of the aggregate mobility to the destination's.
 *
 * Backward chances B[c][r][l], that a walk from l is in cluster c after r steps, are shared by all
 * trips. A step is drawn with weight p(l' | l) B[c][r][l'], so that every trip that is begun
 * arrives. PAPER: drawn instead of the single most likely path, which would be a function of the
 * seed trip. Cost: clusters * length_max * cells * window once; a window a step. */
#include "method/sglt/sglt.h"
#include "sample/drawing.h"

enum { ATTEMPTS = 50 };

struct dpl_sglt_walker {
    const struct dpl_sglt_parts *parts;
    size_t cells, window;
    int32_t *to;    /* (cells, window) -1: nowhere */
    float *arrives; /* (clusters, length_max, cells) */
    double *keys;   /* (DPL_SGLT_KEYS) summed up */
};

static float *layer(const struct dpl_sglt_walker *walker, size_t cluster, size_t steps) {
    return walker->arrives + (cluster * walker->parts->length_max + steps) * walker->cells;
}

static void step_back(const struct dpl_sglt_walker *walker, const float *after, float *before) {
    for (size_t l = 0; l < walker->cells; l++) {
        const float *chance = walker->parts->moves + l * walker->window;
        const int32_t *to = walker->to + l * walker->window;
        float sum = 0;
        for (size_t w = 0; w < walker->window; w++)
            if (to[w] >= 0) sum += chance[w] * after[to[w]];
        before[l] = sum;
    }
}

static void sweep(int threads, const struct dpl_sglt_walker *walker) {
    const struct dpl_sglt_parts *parts = walker->parts;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t c = 0; c < parts->clusters; c++) {
        for (size_t l = 0; l < walker->cells; l++)
            layer(walker, c, 0)[l] = parts->cluster[l] == (int32_t)c;
        for (size_t r = 1; r < parts->length_max; r++)
            step_back(walker, layer(walker, c, r - 1), layer(walker, c, r));
    }
}

enum dpl_status dpl_sglt_walker_new(struct dpl_run *run, const struct dpl_sglt_parts *parts,
                                    struct dpl_sglt_walker **made) {
    struct dpl_sglt_walker *walker = dpl_alloc(run, 1, sizeof *walker);
    if (!walker) return DPL_SYSTEM;
    *walker = (struct dpl_sglt_walker){.parts = parts,
                                       .cells = (size_t)dpl_grid_cells(parts->grid),
                                       .window = dpl_sglt_window(parts->grid)};
    walker->to = dpl_alloc(run, walker->cells * walker->window, sizeof *walker->to);
    walker->keys = dpl_alloc(run, DPL_SGLT_KEYS, sizeof *walker->keys);
    walker->arrives = dpl_alloc(run, parts->clusters * parts->length_max * walker->cells,
                                sizeof *walker->arrives);
    if (!walker->to || !walker->keys || !walker->arrives) {
        dpl_sglt_walker_free(walker);
        return DPL_SYSTEM;
    }
    dpl_sglt_ways(parts->grid, walker->to);
    dpl_sum_up(parts->keys, DPL_SGLT_KEYS, walker->keys);
    sweep(dpl_run_threads(run), walker);
    *made = walker;
    return DPL_OK;
}

void dpl_sglt_walker_free(struct dpl_sglt_walker *walker) {
    if (!walker) return;
    dpl_free(walker->to), dpl_free(walker->keys), dpl_free(walker->arrives);
    dpl_free(walker);
}

double dpl_sglt_arrives(const struct dpl_sglt_walker *walker, size_t cluster, size_t steps,
                        int32_t cell) {
    return (double)layer(walker, cluster, steps)[cell];
}

size_t dpl_sglt_draw_length(const struct dpl_sglt_parts *parts, size_t bin,
                            struct dpl_stream *stream) {
    double sum = 0, draw = dpl_stream_uniform(stream);
    size_t first = 0;
    for (size_t n = 2; n <= parts->length_max; n++) {
        if (dpl_sglt_length_bin(n) != bin) continue;
        if (first == 0) first = n;
        sum += (double)parts->lengths[n];
    }
    draw *= sum;
    for (size_t n = 2; n <= parts->length_max && sum > 0; n++)
        if (dpl_sglt_length_bin(n) == bin && (draw -= (double)parts->lengths[n]) < 0) return n;
    return first > 0 ? first : parts->length_max;
}

/* The first cell: by the starts of the part in the source's cluster, if one can arrive from there;
 * any cell of the cluster where no start is known. -1: nobody can. */
static int32_t draw_start(const struct dpl_sglt_walker *walker, size_t part, int32_t source,
                          const float *arrives, struct dpl_stream *stream) {
    const struct dpl_sglt_parts *parts = walker->parts;
    const float *starts = parts->starts + part * walker->cells;
    double draw = dpl_stream_uniform(stream);
    for (int known = 1; known >= 0; known--) {
        double sum = 0, left;
        for (size_t l = 0; l < walker->cells; l++)
            if (parts->cluster[l] == source)
                sum += (known ? (double)starts[l] : 1) * (double)arrives[l];
        left = draw * sum;
        for (size_t l = 0; l < walker->cells && sum > 0; l++)
            if (parts->cluster[l] == source &&
                (left -= (known ? (double)starts[l] : 1) * (double)arrives[l]) < 0)
                return (int32_t)l;
    }
    return -1;
}

static int32_t draw_step(const struct dpl_sglt_walker *walker, int32_t at, const float *arrives,
                         struct dpl_stream *stream) {
    const float *chance = walker->parts->moves + (size_t)at * walker->window;
    const int32_t *to = walker->to + (size_t)at * walker->window;
    double sums[DPL_SGLT_WINDOW_MOST], sum = 0;
    for (size_t w = 0; w < walker->window; w++)
        sums[w] = sum += to[w] < 0 ? 0 : (double)(chance[w] * arrives[to[w]]);
    return sum > 0 ? to[dpl_draw_from(sums, walker->window, stream)] : at;
}

size_t dpl_sglt_draw(const struct dpl_sglt_walker *walker, struct dpl_stream *stream,
                     int32_t *cell) {
    size_t n = 2, destination = 0;
    int32_t at = -1;
    for (int i = 0; at < 0 && i < ATTEMPTS; i++) {
        size_t key = dpl_draw_from(walker->keys, DPL_SGLT_KEYS, stream),
               ends = key / DPL_SGLT_LENGTHS, part = ends / DPL_SGLT_CLUSTERS / DPL_SGLT_CLUSTERS;
        n = dpl_sglt_draw_length(walker->parts, key % DPL_SGLT_LENGTHS, stream);
        destination = ends % DPL_SGLT_CLUSTERS;
        if (destination < walker->parts->clusters)
            at = draw_start(walker, part, (int32_t)(ends / DPL_SGLT_CLUSTERS % DPL_SGLT_CLUSTERS),
                            layer(walker, destination, n - 1), stream);
    }
    cell[0] = at < 0 ? 0 : at;
    for (size_t v = 1; v < n; v++)
        cell[v] =
            at < 0 ? 0
                   : draw_step(walker, cell[v - 1], layer(walker, destination, n - 1 - v), stream);
    return n;
}
