/* DP-SGD (Abadi et al. 2016) with ghost norms: no per-unit gradient is ever formed.
 *
 * One step, in one persistent team of threads; a bar is a barrier:
 *
 *     gather inputs | forward, backward | norms, clip | per task: product, lattice, noise, update |
 *       by unit          by rows           by unit        by panel of parameters; one task more
 *                                                         draws the next step's batch
 *
 * A batch larger than the workspace goes through the first phases in waves, summing on the lattice.
 *
 * Invariants
 *  - Bits do not depend on the number of threads or the order in which units are given: rows do
 *    not see each other (dpl_product_rows_alike), units are sorted, panels are fixed when training
 *    starts, and lattice sums are integers.
 *  - PRIVACY: adding or removing one unit moves the lattice sum by at most the clip norm
 * (docs/TRAINING.md).
 *
 * Cost of a step of R rows and d parameters: three products of 2 R d FLOP, d normals, and about 0.5
 * ns per parameter for lattice and update.
 */
#include "method/paper/net/train_dpsgd.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "method/paper/net/train_arrange.h"
#include "method/paper/net/product.h"
#include "method/paper/net/vector.h"
#include "noise/gaussian.h"
#include "noise/sampler.h"

/* PRIVACY: the clip scale is divided by 1 + CLIP_SLACK; float and lattice errors stay below what
 * that leaves. */
#define CLIP_SLACK 0x1p-8
/* PRIVACY: the norms of a unit's rows add up to at most this many clip norms, which bounds the
 * error of summing rows that cancel. */
#define ROW_WEIGHT 8.0
/* Lattice steps per power of two below the clip norm: h = 2^floor(log2 C) / LATTICE. */
#define LATTICE 0x1p28
/* Rows with a larger number in them count as not finite; squares of it are far from overflow. */
#define FINITE_REACH 0x1p60f
/* Sums must stay below 2^51 lattice steps, so a batch has a limit; and without privacy, where
 * nothing is clipped, a unit has a far one. */
#define MOST_BATCH 0x1p20
#define NOT_PRIVATE_CLIP 0x1p10

enum { TASK_PARAMETERS = 6000, TASK_ROWS = 12 };

/* Rows row_begin ... row_end-1 of a tap's parameters: what one thread sums, noises and updates at a
 * time. */
struct task {
    const struct dpl_tap *tap;
    size_t row_begin, row_end;
};

/* What a thread has for itself. */
struct worker {
    struct dpl_random *random;
    float *panel; /* a task's float sums, then its gradient */
};

struct dpl_sgd {
    struct dpl_run *run;
    struct dpl_net *net;
    struct dpl_sgd_options options;
    struct dpl_cutting layout;
    double step_length; /* h */
    double sigma_steps; /* noise in lattice steps */
    int threads;
    struct worker *worker; /* (threads) */
    struct task *task;
    size_t n_tasks;
    int64_t *sum;                          /* (n_parameters) lattice */
    float *loss;                           /* (capacity) */
    struct dpl_arrangement arrangement[2]; /* of even and odd steps */
    struct dpl_batch batch;
    struct dpl_random *batch_random;
    double loss_sum;
    size_t loss_rows;
    atomic_int failure; /* enum dpl_status of the first that failed */
};

/* ---- the net ---- */

static enum dpl_status choose_product(struct dpl_run *run, struct dpl_net *net) {
    net->product = dpl_product;
    dpl_product_warn(run);
    for (size_t i = 0; i < net->n_taps; i++) {
        const struct dpl_tap *tap = &net->tap[i];
        if (tap->kind != DPL_TAP_DENSE) continue;
        bool forward, backward;
        DPL_TRY(dpl_product_rows_alike(run, 'N', DPL_PASS_ROWS, tap->columns, tap->rows, &forward));
        DPL_TRY(dpl_product_rows_alike(run, 'T', DPL_PASS_ROWS, tap->rows - 1, tap->columns,
                                       &backward));
        if (forward && backward) continue;
        char name[64];
        dpl_note(run,
                 "The matrix product (%s) treats rows differently by their place, which the "
                 "privacy promise cannot bear: using a plain loop, which is slower.",
                 dpl_product_name(name, sizeof name));
        net->product = dpl_product_plain;
        return DPL_OK;
    }
    return DPL_OK;
}

struct dpl_net dpl_net_over(size_t n_units, size_t max_rows, double batch, size_t n_parameters) {
    return (struct dpl_net){.n_parameters = n_parameters,
                            .n_units = n_units,
                            .max_rows = max_rows,
                            .capacity = dpl_net_capacity(batch, max_rows)};
}

enum dpl_status dpl_net_finish(struct dpl_run *run, enum dpl_status status, struct dpl_net *net,
                               struct dpl_net **into) {
    if (status == DPL_OK) status = choose_product(run, net);
    if (status == DPL_OK)
        *into = net;
    else
        dpl_net_free(net);
    return status;
}

size_t dpl_net_capacity(double batch, size_t max_rows) {
    double rows = (batch + 5 * sqrt(batch) + 1) * (double)max_rows;
    return dpl_padded_rows((size_t)fmax((double)max_rows, fmin(rows, 2048)));
}

void dpl_net_free(struct dpl_net *net) {
    if (net != NULL) net->free(net);
}

/* ---- options and state ---- */

struct dpl_sgd_options dpl_sgd_defaults(void) {
    return (struct dpl_sgd_options){.learning_rate = 0.1, .report_every = 256, .phase = "training"};
}

struct dpl_sgd_options dpl_sgd_paper(const char *name, double clip, double n_hat) {
    struct dpl_sgd_options options = dpl_sgd_defaults();
    options.batch = 200;
    options.event = (struct dpl_event){.kind = DPL_EVENT_POISSON,
                                       .sensitivity = clip,
                                       .rate = fmin(1, options.batch / n_hat),
                                       .steps = (int64_t)ceil(15 * n_hat / options.batch)};
    snprintf(options.event.name, sizeof options.event.name, "%s", name);
    return options;
}

enum dpl_status dpl_sgd_state_new(struct dpl_run *run, size_t n_parameters,
                                  struct dpl_sgd_state **state) {
    struct dpl_sgd_state *new = dpl_alloc(run, 1, sizeof *new);
    float *parameters = dpl_alloc(run, n_parameters, sizeof *parameters);
    if (new == NULL || parameters == NULL) {
        dpl_free(parameters);
        dpl_free(new);
        return DPL_SYSTEM;
    }
    *new = (struct dpl_sgd_state){.n_parameters = n_parameters, .parameters = parameters};
    *state = new;
    return DPL_OK;
}

void dpl_sgd_state_free(struct dpl_sgd_state *state) {
    if (state != NULL) dpl_free(state->parameters);
    dpl_free(state);
}

/* ---- setting up ---- */

static enum dpl_status check_options(struct dpl_run *run, const struct dpl_net *net,
                                     const struct dpl_sgd_options *options) {
    const struct dpl_event *event = &options->event;
    if (event->kind != DPL_EVENT_POISSON || event->steps < 0 ||
        !(event->rate > 0 && event->rate <= 1))
        return dpl_fail(
            run, DPL_USAGE,
            "training '%s' needs Poisson batches with a rate in (0, 1] and a number of steps",
            event->name);
    if (!(event->sensitivity > 0 && isfinite(event->sensitivity)))
        return dpl_fail(run, DPL_USAGE, "training '%s': the clip norm is %g; it must be positive",
                        event->name, event->sensitivity);
    if (!options->not_private && !(event->sigma > 0 && isfinite(event->sigma)))
        return dpl_fail(run, DPL_USAGE,
                        "training '%s': the noise multiplier is %g; it must be positive",
                        event->name, event->sigma);
    if (!(options->batch > 0 && options->batch <= MOST_BATCH))
        return dpl_fail(
            run, DPL_USAGE,
            "training '%s': the expected batch is %g; it must be positive and at most 2^20",
            event->name, options->batch);
    if (!isfinite(options->learning_rate) || options->report_every < 1 || options->network >= 16)
        return dpl_fail(run, DPL_USAGE,
                        "training '%s': learning rate %g, report every %lld steps: not possible",
                        event->name, options->learning_rate, (long long)options->report_every);
    if (net->max_rows < 1 || net->max_rows > net->capacity || net->capacity % DPL_PRODUCT_ROWS != 0)
        return dpl_fail(run, DPL_USAGE,
                        "training '%s': a unit of %zu rows does not fit into a workspace of %zu",
                        event->name, net->max_rows, net->capacity);
    return DPL_OK;
}

static size_t tap_parameters(const struct dpl_tap *tap) { return tap->rows * tap->columns; }

static size_t task_rows(const struct dpl_tap *tap) {
    size_t rows = TASK_PARAMETERS / tap->columns;
    return rows < TASK_ROWS ? TASK_ROWS : rows;
}

/* The fixed panels, equal within a tap. */
static enum dpl_status make_tasks(struct dpl_run *run, struct dpl_sgd *sgd) {
    size_t n = 0;
    for (size_t t = 0; t < sgd->net->n_taps; t++)
        n += sgd->net->tap[t].rows / task_rows(&sgd->net->tap[t]) + 1;
    sgd->task = dpl_alloc(run, n, sizeof *sgd->task);
    if (sgd->task == NULL) return DPL_SYSTEM;
    for (size_t t = 0; t < sgd->net->n_taps; t++) {
        const struct dpl_tap *tap = &sgd->net->tap[t];
        size_t pieces = (tap->rows + task_rows(tap) - 1) / task_rows(tap);
        for (size_t i = 0; i < pieces; i++)
            sgd->task[sgd->n_tasks++] = (struct task){.tap = tap,
                                                      .row_begin = tap->rows * i / pieces,
                                                      .row_end = tap->rows * (i + 1) / pieces};
    }
    return DPL_OK;
}

static size_t largest_task(const struct dpl_sgd *sgd) {
    size_t largest = 1;
    for (size_t i = 0; i < sgd->n_tasks; i++) {
        size_t n = (sgd->task[i].row_end - sgd->task[i].row_begin) * sgd->task[i].tap->columns;
        if (n > largest) largest = n;
    }
    return largest;
}

static enum dpl_status make_workers(struct dpl_run *run, struct dpl_sgd *sgd,
                                    const struct dpl_secret *secret) {
    sgd->worker = dpl_alloc(run, (size_t)sgd->threads, sizeof *sgd->worker);
    if (sgd->worker == NULL) return DPL_SYSTEM;
    for (int i = 0; i < sgd->threads; i++) {
        DPL_TRY(dpl_random_new(run, secret, &sgd->worker[i].random));
        sgd->worker[i].panel = dpl_alloc(run, largest_task(sgd), sizeof *sgd->worker[i].panel);
        if (sgd->worker[i].panel == NULL) return DPL_SYSTEM;
    }
    return dpl_random_new(run, secret, &sgd->batch_random);
}

static void set_lattice(struct dpl_sgd *sgd) {
    const struct dpl_net *net = sgd->net;
    double clip = sgd->options.event.sensitivity;
    size_t d = 0;
    for (size_t t = 0; t < net->n_taps; t++)
        if (net->tap[t].kind == DPL_TAP_DENSE) d += tap_parameters(&net->tap[t]);
    sgd->step_length = exp2(floor(log2(clip))) / LATTICE;
    // Rounded up, so that the noise is never below what the accountant was told.
    sgd->sigma_steps = nextafter(sgd->options.event.sigma * clip / sgd->step_length, INFINITY);
    double weight = net->max_rows == 1 ? 1 : ROW_WEIGHT;
    sgd->layout =
        (struct dpl_cutting){.n_blocks = dpl_block_count(sgd->options.batch, net->max_rows, weight),
                             .capacity = net->capacity,
                             .max_rows = net->max_rows,
                             .weight = weight,
                             .root_d = sqrt((double)d),
                             .step = sgd->step_length / clip};
    sgd->layout.most_together = dpl_most_together(&sgd->layout);
}

enum dpl_status dpl_sgd_new(struct dpl_run *run, struct dpl_net *net,
                            const struct dpl_sgd_options *options, const struct dpl_secret *secret,
                            struct dpl_sgd **out) {
    DPL_TRY(check_options(run, net, options));
    struct dpl_sgd *sgd = dpl_alloc(run, 1, sizeof *sgd);
    if (sgd == NULL) return DPL_SYSTEM;
    enum dpl_status status = DPL_SYSTEM;
    sgd->run = run;
    sgd->net = net;
    sgd->options = *options;
    sgd->threads = dpl_run_threads(run);
    set_lattice(sgd);
    if (!dpl_unit_fits(&sgd->layout)) {
        status = dpl_fail(run, DPL_USAGE,
                          "training '%s': sums over %zu parameters and %zu rows a unit are too "
                          "inexact for the privacy promise; use a smaller net",
                          options->event.name, net->n_parameters, net->max_rows);
        goto done;
    }
    sgd->sum = dpl_alloc(run, net->n_parameters, sizeof *sgd->sum);
    sgd->loss = dpl_alloc(run, net->capacity, sizeof *sgd->loss);
    if (sgd->sum == NULL || sgd->loss == NULL) goto done;
    DPL_GO(make_tasks(run, sgd));
    DPL_GO(make_workers(run, sgd, secret));
    *out = sgd;
    return DPL_OK;
done:
    dpl_sgd_free(sgd);
    return status;
}

void dpl_sgd_free(struct dpl_sgd *sgd) {
    if (sgd == NULL) return;
    for (int i = 0; sgd->worker != NULL && i < sgd->threads; i++) {
        dpl_random_free(sgd->worker[i].random);
        dpl_free(sgd->worker[i].panel);
    }
    dpl_random_free(sgd->batch_random);
    dpl_arrangement_free(&sgd->arrangement[0]);
    dpl_arrangement_free(&sgd->arrangement[1]);
    dpl_batch_free(&sgd->batch);
    dpl_free(sgd->worker);
    dpl_free(sgd->task);
    dpl_free(sgd->loss);
    dpl_free(sgd->sum);
    dpl_wipe(sgd, sizeof *sgd);
    dpl_free(sgd);
}

double dpl_sgd_step_length(const struct dpl_sgd *sgd) { return sgd->step_length; }

size_t dpl_sgd_block(const struct dpl_sgd *sgd, const struct dpl_sgd_lot *lot) {
    return dpl_block_of(lot->word, sgd->layout.n_blocks);
}

size_t dpl_sgd_most_together(const struct dpl_sgd *sgd) { return sgd->layout.most_together; }

static void set_failure(struct dpl_sgd *sgd, enum dpl_status status) {
    int none = DPL_OK;
    if (status != DPL_OK) atomic_compare_exchange_strong(&sgd->failure, &none, (int)status);
}

/* ---- batches ---- */

/* PRIVACY: block number `unit` of a secret stream of this step and net: independent of all other
 * units and steps as far as AES is. Which units share a block, and what a unit shows, is so the
 * same in distribution whatever place the unit has in the data, which an added or removed unit
 * shifts. */
enum dpl_status dpl_sgd_draw(struct dpl_sgd *sgd, int64_t step, uint32_t unit,
                             struct dpl_sgd_lot *lot) {
    uint64_t word[DPL_BLOCK_SIZE / sizeof(uint64_t)];
    const struct dpl_stream_id stream = {DPL_PURPOSE_CHOICE, (uint64_t)step, sgd->options.network};
    DPL_TRY(dpl_random_words(sgd->run, sgd->batch_random, stream, unit, 1, word));
    *lot = (struct dpl_sgd_lot){.unit = unit, .word = word[0], .choice = word[1]};
    return DPL_OK;
}

static struct dpl_member member_of(const struct dpl_sgd *sgd, const struct dpl_sgd_lot *lot) {
    return (struct dpl_member){.word = lot->word,
                               .choice = lot->choice,
                               .unit = lot->unit,
                               .n_rows = sgd->net->count(sgd->net, lot->unit)};
}

static enum dpl_status lay_out(struct dpl_sgd *sgd, int64_t step, const uint32_t *unit, size_t n,
                               struct dpl_arrangement *batch) {
    DPL_TRY(dpl_arrangement_reserve(sgd->run, batch, n));
    for (size_t i = 0; i < n; i++) {
        struct dpl_sgd_lot lot;
        DPL_TRY(dpl_sgd_draw(sgd, step, unit[i], &lot));
        batch->member[i] = member_of(sgd, &lot);
    }
    return dpl_arrange(sgd->run, batch, &sgd->layout);
}

/* ---- a step, by all threads of a team ---- */

struct team {
    struct dpl_sgd *sgd;
    int thread, threads;
};

/* This thread's share of n things. */
static void share(const struct team *team, size_t n, size_t *begin, size_t *end) {
    *begin = n * (size_t)team->thread / (size_t)team->threads;
    *end = n * (size_t)(team->thread + 1) / (size_t)team->threads;
}

static void gather(const struct team *team, const struct dpl_arrangement *batch,
                   const struct dpl_wave *wave) {
    struct dpl_sgd *sgd = team->sgd;
    size_t begin, end;
    share(team, wave->member_end - wave->member_begin, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const struct dpl_member *member = &batch->member[wave->member_begin + i];
        sgd->net->gather(sgd->net, member->unit, member->choice, member->first_row, member->n_rows);
    }
}

/* The padding rows behind the last hold whatever was there; nobody reads what comes out of them. */
static void pass(const struct team *team, const struct dpl_wave *wave, const float *parameters) {
    struct dpl_sgd *sgd = team->sgd;
    size_t begin, end;
    share(team, dpl_padded_rows(wave->rows) / DPL_PRODUCT_ROWS, &begin, &end);
    size_t most = DPL_PASS_ROWS / DPL_PRODUCT_ROWS, pieces = (end - begin + most - 1) / most;
    for (size_t i = 0; i < pieces; i++) {
        size_t from = begin + (end - begin) * i / pieces,
               to = begin + (end - begin) * (i + 1) / pieces;
        sgd->net->pass(sgd->net, parameters, from * DPL_PRODUCT_ROWS,
                       (to - from) * DPL_PRODUCT_ROWS, sgd->options.want_loss ? sgd->loss : NULL);
    }
}

/* ---- norms and clipping ---- */

static float *delta_row(const struct dpl_tap *tap, size_t row) {
    return tap->delta + row * dpl_stride(tap->delta_columns);
}

static float *a_row(const struct dpl_tap *tap, size_t row) {
    return tap->a + row * dpl_stride(tap->rows);
}

static bool row_is_finite(const struct dpl_net *net, size_t row) {
    for (size_t t = 0; t < net->n_taps; t++) {
        const struct dpl_tap *tap = &net->tap[t];
        if (tap->kind == DPL_TAP_DENSE &&
            !(dpl_vector_reach(a_row(tap, row), tap->rows) <= FINITE_REACH))
            return false;
        if (!(dpl_vector_reach(delta_row(tap, row), tap->delta_columns) <= FINITE_REACH))
            return false;
    }
    return true;
}

/* PRIVACY: set to zero, since zero times NaN is NaN and would reach the sum. */
static void zero_row(const struct dpl_net *net, size_t row) {
    for (size_t t = 0; t < net->n_taps; t++) {
        const struct dpl_tap *tap = &net->tap[t];
        if (tap->kind == DPL_TAP_DENSE) memset(a_row(tap, row), 0, tap->rows * sizeof(float));
        memset(delta_row(tap, row), 0, tap->delta_columns * sizeof(float));
    }
}

/* The inner product of two rows' gradients with respect to a table: slots that meet in a table row.
 */
static double lookup_inner(const struct dpl_tap *tap, size_t i, size_t j) {
    const int32_t *index_i = tap->index + i * tap->slots, *index_j = tap->index + j * tap->slots;
    double sum = 0;
    for (size_t s = 0; s < tap->slots; s++)
        for (size_t r = 0; r < tap->slots; r++)
            if (index_i[s] == index_j[r])
                sum += dpl_vector_dot(delta_row(tap, i) + tap->offset[s],
                                      delta_row(tap, j) + tap->offset[r], tap->columns);
    return sum;
}

/* The inner product of two rows' gradients with respect to all parameters, in double:
 * (a_i . a_j)(delta_i . delta_j) for a dense tap, its bias included as a column of ones. */
static double gradient_inner(const struct dpl_net *net, size_t i, size_t j) {
    double sum = 0;
    for (size_t t = 0; t < net->n_taps; t++) {
        const struct dpl_tap *tap = &net->tap[t];
        if (tap->kind == DPL_TAP_LOOKUP)
            sum += lookup_inner(tap, i, j);
        else
            sum += dpl_vector_dot(a_row(tap, i), a_row(tap, j), tap->rows) *
                   dpl_vector_dot(delta_row(tap, i), delta_row(tap, j), tap->delta_columns);
    }
    return sum;
}

/* What the unit's delta rows are multiplied by: 1 / rows for the mean, and the clip.
 * PRIVACY: min(1, C/|mean|, 8C/sum of |row|) / (1 + 2^-8); without privacy a far limit alone. */
static double clip_scale(const struct dpl_sgd *sgd, size_t first, size_t n) {
    const struct dpl_net *net = sgd->net;
    double mean = 1.0 / (double)n, square = 0, row_norms = 0, clip = sgd->options.event.sensitivity;
    for (size_t i = first; i < first + n; i++) {
        double own = gradient_inner(net, i, i);
        row_norms += mean * sqrt(own);
        square += own;
        for (size_t j = first; j < i && !sgd->options.not_private; j++)
            square += 2 * gradient_inner(net, i, j);
    }
    if (sgd->options.not_private)
        return row_norms > NOT_PRIVATE_CLIP * clip ? mean * NOT_PRIVATE_CLIP * clip / row_norms
                                                   : mean;
    double norm = mean * sqrt(fmax(square, 0)), scale = 1;
    if (norm > clip) scale = clip / norm;
    if (scale * row_norms > ROW_WEIGHT * clip) scale = ROW_WEIGHT * clip / row_norms;
    return mean * scale / (1 + CLIP_SLACK);
}

static void clip_unit(const struct dpl_sgd *sgd, size_t first, size_t n) {
    const struct dpl_net *net = sgd->net;
    for (size_t i = first; i < first + n; i++)
        if (!row_is_finite(net, i)) zero_row(net, i);
    float scale = (float)clip_scale(sgd, first, n);
    if (scale == 1) return;
    for (size_t t = 0; t < net->n_taps; t++)
        for (size_t i = first; i < first + n; i++)
            dpl_vector_scale(delta_row(&net->tap[t], i), net->tap[t].delta_columns, scale);
}

static void clip(const struct team *team, const struct dpl_arrangement *batch,
                 const struct dpl_wave *wave) {
    size_t begin, end;
    share(team, wave->member_end - wave->member_begin, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        const struct dpl_member *member = &batch->member[wave->member_begin + i];
        if (member->n_rows > 0) clip_unit(team->sgd, member->first_row, member->n_rows);
    }
}

/* NOT PRIVATE: summed in the order of rows by one thread, so that it has the same bits for any
 * number. */
static void sum_loss(struct dpl_sgd *sgd, const struct dpl_wave *wave) {
    if (!sgd->options.want_loss) return;
    for (size_t i = 0; i < wave->rows; i++) sgd->loss_sum += (double)sgd->loss[i];
    sgd->loss_rows += wave->rows;
}

/* ---- sums ---- */

/* Each chunk's float sum is rounded onto the lattice, and added there. */
static void sum_dense(const struct dpl_sgd *sgd, const struct task *task,
                      const struct dpl_arrangement *batch, const struct dpl_wave *wave, bool add,
                      float *panel, int64_t *sum) {
    const struct dpl_tap *tap = task->tap;
    size_t rows = task->row_end - task->row_begin, n = rows * tap->columns;
    for (size_t c = wave->chunk_begin; c < wave->chunk_end; c++, add = true) {
        const struct dpl_chunk *chunk = &batch->chunk[c];
        dpl_product('T', 'N', rows, tap->columns, chunk->rows, 1,
                    a_row(tap, chunk->first_row) + task->row_begin, dpl_stride(tap->rows),
                    delta_row(tap, chunk->first_row), dpl_stride(tap->delta_columns), 0, panel,
                    tap->columns);
        (add ? dpl_lattice_add : dpl_lattice_set)(panel, n, 1 / sgd->step_length, sum);
    }
    if (!add) memset(sum, 0, n * sizeof *sum);
}

/* Tables are hit by few rows: each hit is rounded onto the lattice by itself. */
static void sum_lookup(const struct dpl_sgd *sgd, const struct task *task,
                       const struct dpl_wave *wave, bool add, int64_t *sum) {
    const struct dpl_tap *tap = task->tap;
    if (!add) memset(sum, 0, (task->row_end - task->row_begin) * tap->columns * sizeof *sum);
    for (size_t i = 0; i < wave->rows; i++)
        for (size_t s = 0; s < tap->slots; s++) {
            size_t row = (size_t)tap->index[i * tap->slots + s];
            if (row < task->row_begin || row >= task->row_end) continue;
            dpl_lattice_add(delta_row(tap, i) + tap->offset[s], tap->columns, 1 / sgd->step_length,
                            sum + (row - task->row_begin) * tap->columns);
        }
}

/* ---- updates ---- */

/* PRIVACY: post-processing of the noisy sum. */
DPL_CLONES static void update(float *parameters, const float *gradient, size_t n, float rate) {
    for (size_t i = 0; i < n; i++) parameters[i] -= rate * gradient[i];
}

/* Noise and update of one task's parameters, whose sum is complete. */
static enum dpl_status finish(const struct dpl_sgd *sgd, struct worker *worker,
                              const struct task *task, int64_t step, struct dpl_sgd_state *state) {
    size_t first = task->tap->first + task->row_begin * task->tap->columns,
           n = (task->row_end - task->row_begin) * task->tap->columns;
    // PRIVACY: sigma * C on every coordinate of every step, an empty batch included; stream by
    // (step, network), so never reused.
    if (!sgd->options.not_private)
        DPL_TRY(dpl_gaussian_add(
            sgd->run, worker->random,
            (struct dpl_stream_id){DPL_PURPOSE_GRADIENT, (uint64_t)step, sgd->options.network},
            first, sgd->sum + first, n, sgd->sigma_steps));
    // PRIVACY: divided by the expected batch, which is public; the realised one is not.
    dpl_lattice_read(sgd->sum + first, n, sgd->step_length / sgd->options.batch, worker->panel);
    update(state->parameters + first, worker->panel, n, (float)sgd->options.learning_rate);
    return DPL_OK;
}

/* ---- the step ---- */

/* One step's numbers; state is NULL when only the sum is wanted. */
struct step {
    const struct dpl_arrangement *batch;
    struct dpl_arrangement *next; /* where the next batch goes; NULL: there is none */
    const float *parameters;
    int64_t number;
    struct dpl_sgd_state *state;
};

static enum dpl_status draw_batch(struct dpl_sgd *sgd, int64_t step, struct dpl_arrangement *batch);

static enum dpl_status do_task(const struct team *team, const struct step *step,
                               const struct dpl_wave *wave, size_t i) {
    struct dpl_sgd *sgd = team->sgd;
    const struct task *task = &sgd->task[i];
    struct worker *worker = &sgd->worker[team->thread];
    bool add = wave != step->batch->wave,
         last = wave + 1 == step->batch->wave + step->batch->n_waves;
    int64_t *sum = sgd->sum + task->tap->first + task->row_begin * task->tap->columns;
    if (task->tap->kind == DPL_TAP_LOOKUP)
        sum_lookup(sgd, task, wave, add, sum);
    else
        sum_dense(sgd, task, step->batch, wave, add, worker->panel, sum);
    return last && step->state != NULL ? finish(sgd, worker, task, step->number, step->state)
                                       : DPL_OK;
}

/* Called by every thread of the team, with the same step. */
static void do_step(const struct team *team, const struct step *step) {
    struct dpl_sgd *sgd = team->sgd;
    for (size_t w = 0; w < step->batch->n_waves; w++) {
        const struct dpl_wave *wave = &step->batch->wave[w];
        bool draws = step->next != NULL && w + 1 == step->batch->n_waves;
        gather(team, step->batch, wave);
#pragma omp barrier
        pass(team, wave, step->parameters);
#pragma omp barrier
        clip(team, step->batch, wave);
#pragma omp barrier
        if (team->thread == 0) sum_loss(sgd, wave);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < sgd->n_tasks + (draws ? 1 : 0); i++) {
            if (draws && i == 0)
                set_failure(sgd, draw_batch(sgd, step->number + 1, step->next));
            else
                set_failure(sgd, do_task(team, step, wave, i - (draws ? 1 : 0)));
        }
    }
}

static enum dpl_status sum_arranged(struct dpl_sgd *sgd, const float *parameters, int64_t *sum) {
    struct step one = {.batch = &sgd->arrangement[0], .parameters = parameters};
    atomic_store(&sgd->failure, DPL_OK);
#pragma omp parallel num_threads(sgd->threads)
    {
        struct team team = {
            .sgd = sgd, .thread = omp_get_thread_num(), .threads = omp_get_num_threads()};
        do_step(&team, &one);
    }
    memcpy(sum, sgd->sum, sgd->net->n_parameters * sizeof *sum);
    return (enum dpl_status)atomic_load(&sgd->failure);
}

enum dpl_status dpl_sgd_sum(struct dpl_sgd *sgd, const float *parameters, int64_t step,
                            const uint32_t *unit, size_t n_units, int64_t *sum) {
    DPL_TRY(lay_out(sgd, step, unit, n_units, &sgd->arrangement[0]));
    return sum_arranged(sgd, parameters, sum);
}

enum dpl_status dpl_sgd_sum_lots(struct dpl_sgd *sgd, const float *parameters,
                                 const struct dpl_sgd_lot *lot, size_t n, int64_t *sum) {
    struct dpl_arrangement *batch = &sgd->arrangement[0];
    DPL_TRY(dpl_arrangement_reserve(sgd->run, batch, n));
    for (size_t i = 0; i < n; i++) batch->member[i] = member_of(sgd, &lot[i]);
    DPL_TRY(dpl_arrange(sgd->run, batch, &sgd->layout));
    return sum_arranged(sgd, parameters, sum);
}

/* ---- training ---- */

/* PRIVACY: the sampler reads the same event that the accountant did, and a secret stream of this
 * step. */
static enum dpl_status draw_batch(struct dpl_sgd *sgd, int64_t step,
                                  struct dpl_arrangement *arrangement) {
    DPL_TRY(dpl_sampler_draw(sgd->run, sgd->batch_random, &sgd->options.event, sgd->options.network,
                             step, sgd->net->n_units, &sgd->batch));
    return lay_out(sgd, step, sgd->batch.unit, sgd->batch.n, arrangement);
}

/* Steps state->step ... end-1 in one parallel region. */
static enum dpl_status run_steps(struct dpl_sgd *sgd, struct dpl_sgd_state *state, int64_t end) {
    int64_t begin = state->step;
    DPL_TRY(draw_batch(sgd, begin, &sgd->arrangement[begin & 1]));
    atomic_store(&sgd->failure, DPL_OK);
#pragma omp parallel num_threads(sgd->threads)
    {
        struct team team = {
            .sgd = sgd, .thread = omp_get_thread_num(), .threads = omp_get_num_threads()};
        for (int64_t i = begin; i < end && atomic_load(&sgd->failure) == DPL_OK; i++) {
            struct step step = {.batch = &sgd->arrangement[i & 1],
                                .next = i + 1 < end ? &sgd->arrangement[(i + 1) & 1] : NULL,
                                .parameters = state->parameters,
                                .number = i,
                                .state = state};
            do_step(&team, &step);
            // All have left the last task; nobody reads it before the next barrier.
            if (team.thread == 0) state->step = i + 1;
        }
    }
    return (enum dpl_status)atomic_load(&sgd->failure);
}

static enum dpl_status report(struct dpl_sgd *sgd, const struct dpl_sgd_state *state,
                              dpl_sgd_on_steps *on_steps, void *user) {
    struct dpl_sgd_report report = {
        .step = state->step,
        .steps = sgd->options.event.steps,
        .n_rows = sgd->loss_rows,
        .loss = sgd->loss_rows > 0 ? sgd->loss_sum / (double)sgd->loss_rows : NAN};
    sgd->loss_sum = 0;
    sgd->loss_rows = 0;
    return on_steps != NULL ? on_steps(user, state, &report) : DPL_OK;
}

enum dpl_status dpl_sgd_train(struct dpl_run *run, struct dpl_net *net,
                              const struct dpl_sgd_options *options,
                              const struct dpl_secret *secret, struct dpl_sgd_state *state,
                              dpl_sgd_on_steps *on_steps, void *user) {
    struct dpl_sgd *sgd = NULL;
    DPL_TRY(dpl_sgd_new(run, net, options, secret, &sgd));
    enum dpl_status status = DPL_OK;
    dpl_progress_begin(run, options->phase, "steps", (double)(options->event.steps - state->step));
    while (state->step < options->event.steps) {
        DPL_GO(dpl_check_interrupt(run));
        int64_t left = options->event.steps - state->step,
                take = left < options->report_every ? left : options->report_every;
        DPL_GO(run_steps(sgd, state, state->step + take));
        dpl_progress_add(run, (double)take);
        DPL_GO(report(sgd, state, on_steps, user));
    }
done:
    dpl_progress_end(run);
    dpl_sgd_free(sgd);
    return status;
}
