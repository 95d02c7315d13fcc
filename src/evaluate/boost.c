/* Gradient boosting over histogram bins.
 *
 * Each column is cut once into at most 255 bins of about equal size. A tree is grown level by
 * level: for every column and node the gradients are summed by bin, and the best cut of all is
 * taken,
 *
 *     gain = G_l^2 / H_l + G_r^2 / H_r - G^2 / H,
 *
 * with the sums G of gradients and H of second derivatives of the logistic loss. A leaf's step is
 * -rate * G / H. One fit runs in one thread, in the order of the rows: callers fit several at once.
 * The definitions (bins, gain, leaves) are those of scikit-learn's HistGradientBoostingClassifier
 * without early stopping, so that its figures can serve as oracle.
 *
 * Cost: trees * depth * n * columns additions. */
#include "evaluate/boost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double HESSIAN_MIN = 1e-3;

/* Heap order: the children of node i are 2i + 1 and 2i + 2. */
struct node {
    int32_t column;  /* -1: a leaf */
    float threshold; /* left when not above it */
    double step;
};

struct dpl_boost {
    size_t trees, nodes; /* nodes a tree */
    double base;
    struct node *node; /* (trees, nodes) */
};

struct dpl_boost_options dpl_boost_defaults(void) {
    return (struct dpl_boost_options){.trees = 100, .depth = 5, .leaf_min = 20, .rate = 0.1};
}

/* ---- bins ---- */

static int compare_float(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float midpoint(float a, float b) { return (float)(((double)a + (double)b) / 2); }

/* Where bins end, ascending; a value is in the first bin whose end it does not exceed. Returns how
 * many ends there are, one less than bins. Few distinct values: an end between each two. Many: the
 * quantiles. `sorted` is (n). */
static size_t find_ends(const float *sorted, size_t n, float ends[DPL_BOOST_BINS]) {
    size_t distinct = 1, n_ends = 0;
    for (size_t i = 1; i < n; i++) distinct += sorted[i] != sorted[i - 1];
    if (distinct <= DPL_BOOST_BINS) {
        for (size_t i = 1; i < n; i++)
            if (sorted[i] != sorted[i - 1]) ends[n_ends++] = midpoint(sorted[i - 1], sorted[i]);
        return n_ends;
    }
    for (size_t b = 1; b < DPL_BOOST_BINS; b++) {
        double place = (double)b / DPL_BOOST_BINS * (double)(n - 1);
        float end = midpoint(sorted[(size_t)floor(place)], sorted[(size_t)ceil(place)]);
        if (n_ends == 0 || end > ends[n_ends - 1]) ends[n_ends++] = end;
    }
    return n_ends;
}

static uint8_t bin_of(const float *ends, size_t n_ends, float value) {
    size_t low = 0, high = n_ends;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (value > ends[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)low;
}

/* ---- fitting ---- */

/* The best cut of one node by one column. */
struct cut {
    double gain, gradient, hessian; /* of the left side */
    int32_t column;
    uint8_t bin; /* the last on the left */
};

struct bin_sum {
    double gradient, hessian;
    uint32_t rows;
};

struct fitting {
    const struct dpl_boost_options *options;
    size_t n, columns;
    uint8_t *bin;                       /* (columns, n) */
    float *ends;                        /* (columns, DPL_BOOST_BINS) */
    size_t *n_ends;                     /* (columns) */
    double *score, *gradient, *hessian; /* (n) */
    uint32_t *row;                      /* (n) rows by node */
    uint32_t *scratch;                  /* (n) */
    size_t *first;   /* (nodes + 1) of a node's rows in `row`, for the level at hand */
    size_t *end;     /* (nodes) */
    struct cut *cut; /* (columns, nodes of a level) */
    double *sum;     /* (nodes, 2) gradient and hessian */
};

static void fitting_free(struct fitting *f) {
    void *const owned[] = {f->bin, f->ends,    f->n_ends, f->score, f->gradient, f->hessian,
                           f->row, f->scratch, f->first,  f->end,   f->cut,      f->sum};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) dpl_free(owned[i]);
}

static enum dpl_status make_bins(struct dpl_run *run, struct fitting *f, const float *x) {
    float *sorted = dpl_alloc(run, f->n, sizeof *sorted);
    if (!sorted) return DPL_SYSTEM;
    for (size_t c = 0; c < f->columns; c++) {
        float *ends = f->ends + c * DPL_BOOST_BINS;
        for (size_t i = 0; i < f->n; i++) sorted[i] = x[i * f->columns + c];
        qsort(sorted, f->n, sizeof *sorted, compare_float);
        f->n_ends[c] = find_ends(sorted, f->n, ends);
        for (size_t i = 0; i < f->n; i++)
            f->bin[c * f->n + i] = bin_of(ends, f->n_ends[c], x[i * f->columns + c]);
    }
    dpl_free(sorted);
    return DPL_OK;
}

static enum dpl_status fitting_new(struct dpl_run *run, struct fitting *f, size_t nodes) {
    size_t n = f->n;
    f->bin = dpl_alloc(run, f->columns * n, sizeof *f->bin);
    f->ends = dpl_alloc(run, f->columns * DPL_BOOST_BINS, sizeof *f->ends);
    f->n_ends = dpl_alloc(run, f->columns, sizeof *f->n_ends);
    f->score = dpl_alloc(run, n, sizeof *f->score);
    f->gradient = dpl_alloc(run, n, sizeof *f->gradient);
    f->hessian = dpl_alloc(run, n, sizeof *f->hessian);
    f->row = dpl_alloc(run, n, sizeof *f->row);
    f->scratch = dpl_alloc(run, n, sizeof *f->scratch);
    f->first = dpl_alloc(run, nodes + 1, sizeof *f->first);
    f->end = dpl_alloc(run, nodes, sizeof *f->end);
    f->cut = dpl_alloc(run, f->columns * nodes, sizeof *f->cut);
    f->sum = dpl_alloc(run, 2 * nodes, sizeof *f->sum);
    bool ok = f->bin && f->ends && f->n_ends && f->score && f->gradient && f->hessian && f->row &&
              f->scratch && f->first && f->end && f->cut && f->sum;
    return ok ? DPL_OK : DPL_SYSTEM;
}

static double part_gain(double gradient, double hessian) {
    return hessian > 0 ? gradient * gradient / hessian : 0;
}

static void sum_bins(const struct fitting *f, size_t column, size_t node, struct bin_sum *bins) {
    const uint8_t *bin = f->bin + column * f->n;
    memset(bins, 0, DPL_BOOST_BINS * sizeof *bins);
    for (size_t i = f->first[node]; i < f->end[node]; i++) {
        struct bin_sum *b = &bins[bin[f->row[i]]];
        b->gradient += f->gradient[f->row[i]];
        b->hessian += f->hessian[f->row[i]];
        b->rows++;
    }
}

static void find_cut(const struct fitting *f, size_t column, size_t node, struct cut *best) {
    struct bin_sum bins[DPL_BOOST_BINS];
    double gradient = f->sum[2 * node], hessian = f->sum[2 * node + 1],
           whole = part_gain(gradient, hessian);
    size_t rows = f->end[node] - f->first[node], left_rows = 0;
    struct cut cut = {0};
    *best = (struct cut){.gain = 0, .column = -1};
    if (rows < 2 * f->options->leaf_min) return;
    sum_bins(f, column, node, bins);
    for (size_t b = 0; b < f->n_ends[column]; b++) {
        left_rows += bins[b].rows;
        cut.gradient += bins[b].gradient;
        cut.hessian += bins[b].hessian;
        if (left_rows < f->options->leaf_min || cut.hessian < HESSIAN_MIN) continue;
        if (rows - left_rows < f->options->leaf_min || hessian - cut.hessian < HESSIAN_MIN) break;
        cut.gain = part_gain(cut.gradient, cut.hessian) +
                   part_gain(gradient - cut.gradient, hessian - cut.hessian) - whole;
        if (cut.gain > best->gain) {
            *best = cut;
            best->column = (int32_t)column;
            best->bin = (uint8_t)b;
        }
    }
}

/* Rows of the left child first, each side in its former order. */
static size_t part_rows(struct fitting *f, size_t node, const struct cut *cut) {
    const uint8_t *bin = f->bin + (size_t)cut->column * f->n;
    size_t left = f->first[node], right = 0;
    for (size_t i = f->first[node]; i < f->end[node]; i++) {
        uint32_t row = f->row[i];
        if (bin[row] <= cut->bin)
            f->row[left++] = row;
        else
            f->scratch[right++] = row;
    }
    memcpy(f->row + left, f->scratch, right * sizeof *f->row);
    return left;
}

static void make_leaf(struct fitting *f, size_t node, struct node *made) {
    double gradient = f->sum[2 * node], hessian = f->sum[2 * node + 1];
    made->column = -1;
    made->step = hessian > 0 ? -f->options->rate * gradient / hessian : 0;
    for (size_t i = f->first[node]; i < f->end[node]; i++) f->score[f->row[i]] += made->step;
}

static void split_node(struct fitting *f, size_t node, const struct cut *cut, struct node *tree) {
    size_t left = 2 * node + 1, right = left + 1, middle = part_rows(f, node, cut);
    tree[node].column = cut->column;
    tree[node].threshold = f->ends[(size_t)cut->column * DPL_BOOST_BINS + cut->bin];
    f->first[left] = f->first[node], f->end[left] = middle;
    f->first[right] = middle, f->end[right] = f->end[node];
    f->sum[2 * left] = cut->gradient, f->sum[2 * left + 1] = cut->hessian;
    f->sum[2 * right] = f->sum[2 * node] - cut->gradient;
    f->sum[2 * right + 1] = f->sum[2 * node + 1] - cut->hessian;
}

/* Splits the nodes of one level, or makes them leaves. */
static void grow_level(struct fitting *f, int level, struct node *tree) {
    size_t begin = ((size_t)1 << level) - 1, width = (size_t)1 << level;
    bool last = level == f->options->depth;
    for (size_t c = 0; c < f->columns; c++)
        for (size_t i = 0; !last && i < width; i++)
            find_cut(f, c, begin + i, &f->cut[c * width + i]);
    for (size_t i = 0; i < width; i++) {
        const struct cut *best = NULL;
        for (size_t c = 0; !last && c < f->columns; c++) {
            const struct cut *cut = &f->cut[c * width + i];
            if (cut->column >= 0 && (!best || cut->gain > best->gain)) best = cut;
        }
        if (best)
            split_node(f, begin + i, best, tree);
        else if (f->end[begin + i] > f->first[begin + i])
            make_leaf(f, begin + i, &tree[begin + i]);
    }
}

static void grow_tree(struct fitting *f, const uint8_t *label, size_t nodes, struct node *tree) {
    memset(f->first, 0, nodes * sizeof *f->first);
    memset(f->end, 0, nodes * sizeof *f->end);
    f->end[0] = f->n;
    f->sum[0] = f->sum[1] = 0;
    for (size_t i = 0; i < f->n; i++) {
        double chance = 1 / (1 + exp(-f->score[i]));
        f->row[i] = (uint32_t)i;
        f->sum[0] += f->gradient[i] = chance - label[i];
        f->sum[1] += f->hessian[i] = chance * (1 - chance);
    }
    for (size_t i = 0; i < nodes; i++) tree[i].column = -1;
    for (int level = 0; level <= f->options->depth; level++) grow_level(f, level, tree);
}

static double start_score(const uint8_t *label, size_t n) {
    double ones = 0;
    for (size_t i = 0; i < n; i++) ones += label[i];
    return log(ones / ((double)n - ones));
}

enum dpl_status dpl_boost_fit(struct dpl_run *run, const float *x, const uint8_t *label, size_t n,
                              size_t columns, const struct dpl_boost_options *options,
                              struct dpl_boost **boost) {
    size_t nodes = ((size_t)2 << options->depth) - 1;
    struct fitting f = {.options = options, .n = n, .columns = columns};
    struct dpl_boost *made = dpl_alloc(run, 1, sizeof *made);
    enum dpl_status status = DPL_SYSTEM;
    if (!made) return DPL_SYSTEM;
    *made = (struct dpl_boost){.trees = options->trees, .nodes = nodes};
    made->node = dpl_alloc(run, options->trees * nodes, sizeof *made->node);
    if (!made->node) goto done;
    DPL_GO(fitting_new(run, &f, nodes));
    DPL_GO(make_bins(run, &f, x));
    made->base = start_score(label, n);
    for (size_t i = 0; i < n; i++) f.score[i] = made->base;
    for (size_t t = 0; t < options->trees; t++) grow_tree(&f, label, nodes, made->node + t * nodes);
    *boost = made;
    made = NULL;
done:
    fitting_free(&f);
    dpl_boost_free(made);
    return status;
}

double dpl_boost_score(const struct dpl_boost *boost, const float *row) {
    double score = boost->base;
    for (size_t t = 0; t < boost->trees; t++) {
        const struct node *tree = boost->node + t * boost->nodes;
        size_t i = 0;
        while (tree[i].column >= 0) i = 2 * i + 1 + (row[tree[i].column] > tree[i].threshold);
        score += tree[i].step;
    }
    return score;
}

void dpl_boost_free(struct dpl_boost *boost) {
    if (!boost) return;
    dpl_free(boost->node);
    dpl_free(boost);
}

/* ---- how well scores tell two kinds apart ---- */

struct scored {
    double score;
    uint8_t label;
};

static int compare_scores(const void *a, const void *b) {
    const struct scored *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

enum dpl_status dpl_auc(struct dpl_run *run, const double *score, const uint8_t *label, size_t n,
                        double *auc) {
    struct scored *sorted = dpl_alloc(run, n, sizeof *sorted);
    if (!sorted) return DPL_SYSTEM;
    double ones = 0, rank_sum = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct scored){score[i], label[i]};
        ones += label[i];
    }
    qsort(sorted, n, sizeof *sorted, compare_scores);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end].score == sorted[i].score;) end++;
        for (size_t j = i; j < end; j++)
            if (sorted[j].label) rank_sum += (double)(i + end + 1) / 2; // mean rank of equal scores
    }
    double zeros = (double)n - ones;
    *auc = ones > 0 && zeros > 0 ? (rank_sum - ones * (ones + 1) / 2) / (ones * zeros) : NAN;
    dpl_free(sorted);
    return DPL_OK;
}
