/* DP-SGD: Poisson batches of units, clipped sums on a lattice, exactly rounded Gaussian noise, and
 * the update; for any net that can say where its rows' gradients enter the parameters.
 *
 *     struct dpl_net *net = ...;                     a model, e.g. dpl_nexthop_new()
 *     struct dpl_sgd_state *state;
 *     dpl_sgd_state_new(run, net->n_parameters, &state);
 *     net->initialise(net, key, state->parameters);
 *     dpl_sgd_train(run, net, &options, &secret, state, on_steps, user);
 *     ... state->parameters ...
 *
 * docs/TRAINING.md has the argument for every bound that is asserted here.
 */
#ifndef DPL_METHOD_PAPER_NET_TRAIN_DPSGD_H
#define DPL_METHOD_PAPER_NET_TRAIN_DPSGD_H

#include "base/base.h"
#include "base/random.h"             // defines: struct dpl_secret
#include "method/paper/net/layers.h" // defines: dpl_product_function

/* ---- a net, as training sees it ---- */

enum { DPL_MAX_TAPS = 8, DPL_MAX_SLOTS = 4 };

enum dpl_tap_kind {
    DPL_TAP_DENSE, /* a row's gradient is the outer product of a (rows) and delta (columns) */
    DPL_TAP_LOOKUP /* a row adds its delta, one run of columns per slot, to the table rows of its
                      slots */
};

/* Where gradients enter: one matrix of parameters (rows, columns) and what one pass leaves for it.
 * No two taps share parameters or delta. For a dense tap, rows includes the bias (a's last column
 * is 1). */
struct dpl_tap {
    enum dpl_tap_kind kind;
    size_t first;         /* its first parameter; taps follow each other without gaps */
    size_t rows, columns; /* of the parameters */
    float *a;             /* dense: (capacity, rows), stride dpl_stride(rows) */
    int32_t *index;       /* lookup: (capacity, slots), tight */
    size_t slots;
    size_t offset[DPL_MAX_SLOTS]; /* lookup: where in the delta row a slot's columns begin */
    float *delta;                 /* (capacity, delta_columns), stride dpl_stride(delta_columns) */
    size_t delta_columns;
};

/* A model embeds this as its first member. */
struct dpl_net {
    size_t n_parameters, n_units;
    size_t capacity; /* rows that fit at once, a multiple of DPL_PRODUCT_ROWS */
    size_t max_rows; /* a unit has at most so many rows; at most `capacity` */
    size_t n_taps;
    struct dpl_tap tap[DPL_MAX_TAPS];
    dpl_product_function *product; /* set by dpl_net_finish; pass() uses it */
    /* How many rows the unit brings: 0 ... max_rows. PRIVACY: a function of that unit alone. */
    size_t (*count)(const struct dpl_net *net, size_t unit);
    /* Fills the inputs of n_rows = count(unit) rows from `first` on. `draw` is the unit's
     * randomness of this step. PRIVACY: a function of (unit, draw) alone. */
    void (*gather)(struct dpl_net *net, size_t unit, uint64_t draw, size_t first, size_t n_rows);
    /* Forward and backward of rows first ... first+rows-1, a multiple of DPL_PRODUCT_ROWS: leaves a
     * and delta of every tap; loss (capacity) gets each row's loss unless it is NULL. PRIVACY: row
     * by row. */
    void (*pass)(struct dpl_net *net, const float *parameters, size_t first, size_t rows,
                 float *loss);
    void (*initialise)(const struct dpl_net *net, uint64_t key, float *parameters);
    void (*free)(struct dpl_net *net);
};

/* Rows that one pass() call takes at most, and that a unit may have at most. */
enum { DPL_PASS_ROWS = 144, DPL_MAX_UNIT_ROWS = 1024 };

/* Rows of workspace for a net that expects so many units a step: nearly all batches fit, and memory
 * stays bounded for large ones. */
size_t dpl_net_capacity(double batch, size_t max_rows);

/* A net without functions, of which each unit shows at most max_rows rows. */
struct dpl_net dpl_net_over(size_t n_units, size_t max_rows, double batch, size_t n_parameters);
/* Ends a constructor, after the taps are set: takes the library's product if it treats all rows
 * alike on this net's shapes, else the plain one, with a note; *into is then the net. When `status`
 * or that is not well, the net is freed. */
enum dpl_status dpl_net_finish(struct dpl_run *run, enum dpl_status status, struct dpl_net *net,
                               struct dpl_net **into);
void dpl_net_free(struct dpl_net *net); /* NULL is allowed */

/* ---- options and state ---- */

struct dpl_sgd_options {
    /* q, steps and noise: the very struct that the accountant read. kind must be DPL_EVENT_POISSON,
     * and sensitivity is the clip norm. */
    struct dpl_event event;
    bool not_private; /* epsilon = infinity: no clip, no noise, nothing that comes out is private */
    double batch;     /* the expected batch that sums are divided by; never the realised one */
    uint64_t network; /* tells the streams of two nets under one secret apart; below 16 */
    double learning_rate;
    int64_t report_every; /* steps between two calls of on_steps */
    bool want_loss;       /* the mean loss of the batches, for on_steps. NOT PRIVATE */
    const char *phase;    /* for progress; a string literal */
};

/* A learning rate of 0.1, a report every 256 steps. */
struct dpl_sgd_options dpl_sgd_defaults(void);
/* The paper's training: |B| = 200, 15 epochs of n_hat / |B| steps, plain SGD; of the event `name`
 * with that clip norm. The caller sets sigma, network and phase. */
struct dpl_sgd_options dpl_sgd_paper(const char *name, double clip, double n_hat);

/* All that changes from step to step. Saved and restored whole, training goes on bit-identically
 * (same build, kernel, secret, options and data). */
struct dpl_sgd_state {
    size_t n_parameters;
    int64_t step;      /* steps done */
    float *parameters; /* (n_parameters) */
};

/* Zeroed. Caller frees with dpl_sgd_state_free. */
enum dpl_status dpl_sgd_state_new(struct dpl_run *run, size_t n_parameters,
                                  struct dpl_sgd_state **state);
void dpl_sgd_state_free(struct dpl_sgd_state *state);

/* ---- training ---- */

struct dpl_sgd_report {
    int64_t step, steps;
    double loss; /* mean over the units of the last report_every batches; NaN unless want_loss. NOT
                    PRIVATE */
    size_t n_rows; /* that `loss` is the mean of. NOT PRIVATE */
};

/* Called every report_every steps and after the last one, in the calling thread: the place to save
 * a checkpoint. Anything but DPL_OK ends training with that status, the state being that of `step`.
 */
typedef enum dpl_status dpl_sgd_on_steps(void *user, const struct dpl_sgd_state *state,
                                         const struct dpl_sgd_report *report);

/* From state->step to the end. on_steps may be NULL. Ends early, with a state that can be gone on
 * from, when the run is interrupted. */
enum dpl_status dpl_sgd_train(struct dpl_run *run, struct dpl_net *net,
                              const struct dpl_sgd_options *options,
                              const struct dpl_secret *secret, struct dpl_sgd_state *state,
                              dpl_sgd_on_steps *on_steps, void *user);

/* ---- the pieces, for tests and audits ---- */

struct dpl_sgd;

enum dpl_status dpl_sgd_new(struct dpl_run *run, struct dpl_net *net,
                            const struct dpl_sgd_options *options, const struct dpl_secret *secret,
                            struct dpl_sgd **sgd);
void dpl_sgd_free(struct dpl_sgd *sgd);
/* A unit of a batch and its randomness of one step. */
struct dpl_sgd_lot {
    uint32_t unit;
    uint64_t word;   /* which block it is summed in, and where there */
    uint64_t choice; /* what it shows: `draw` of gather() */
};
enum dpl_status dpl_sgd_draw(struct dpl_sgd *sgd, int64_t step, uint32_t unit,
                             struct dpl_sgd_lot *lot);
/* The clipped sum over the given units (in any order) before noise, in lattice steps: sum
 * (n_parameters). */
enum dpl_status dpl_sgd_sum(struct dpl_sgd *sgd, const float *parameters, int64_t step,
                            const uint32_t *unit, size_t n_units, int64_t *sum);
/* The same with the randomness given: what neighbours have in common keeps it when a unit is taken
 * out of the data and the others move up. */
enum dpl_status dpl_sgd_sum_lots(struct dpl_sgd *sgd, const float *parameters,
                                 const struct dpl_sgd_lot *lot, size_t n, int64_t *sum);
/* The length of a lattice step. */
double dpl_sgd_step_length(const struct dpl_sgd *sgd);
/* A unit's block, and the most units of a block that are summed together. */
size_t dpl_sgd_block(const struct dpl_sgd *sgd, const struct dpl_sgd_lot *lot);
size_t dpl_sgd_most_together(const struct dpl_sgd *sgd);

#endif
