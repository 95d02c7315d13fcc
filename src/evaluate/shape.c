/* The two-sample test: how well a classifier that sees the shape of a trip, and neither its place
 * nor its time nor its number of points, tells real trips from synthetic ones.
 *
 *     real --random order--> A | B       value: A against S; floor: A against B,
 *     synthetic -----------> S           and A against B read half a slot later
 *
 * 10,000 trips a side, half to train and half to test, mean of the splits. 15 m of Gaussian blur on
 * every position of both sides keep GPS error and rounding from deciding. */
#include "evaluate/shape.h"

#include <math.h>
#include <stdlib.h>

#include "evaluate/boost.h"
#include "evaluate/table.h"

enum { SIDE_MAX = 10000, SIDE_MIN = 40, COMPARISONS = 3 };

/* ---- features ---- */

static float share_of(size_t part, size_t all) { return all ? (float)part / (float)all : 0; }

static void turn_features(const struct dpl_track *track, double *scratch, float features[3]) {
    double sum = 0;
    size_t n = 0, sharp = 0;
    for (size_t i = 1; i + 1 < track->n; i++) {
        double turn_deg = dpl_track_turn_deg(track, i);
        if (turn_deg < 0) continue;
        sum += scratch[n++] = turn_deg;
        sharp += turn_deg > 90;
    }
    features[0] = n ? (float)(sum / (double)n) : 0;
    features[1] = share_of(sharp, n);
    features[2] = n ? (float)dpl_quantile(scratch, n, .9) : 0;
}

static void step_features(const struct dpl_track *track, double slot_s, double *scratch,
                          float speeds[4], float changes[3]) {
    static const double SHARES[4] = {.1, .5, .9, 1};
    double sum_m = 0, most_m = 0;
    size_t n = track->n - 1, short_steps = 0;
    for (size_t i = 0; i < n; i++) {
        double step_m = dpl_track_step_m(track, i),
               change_m = i ? fabs(step_m - dpl_track_step_m(track, i - 1)) : 0;
        scratch[i] = step_m / slot_s * 3.6;
        short_steps += step_m < 50;
        sum_m += change_m;
        most_m = fmax(most_m, change_m);
    }
    for (size_t q = 0; q < 4; q++) speeds[q] = (float)dpl_quantile(scratch, n, SHARES[q]);
    changes[0] = share_of(short_steps, n);
    changes[1] = (float)(sum_m / (double)(n - 1));
    changes[2] = (float)most_m;
}

void dpl_shape_features(const struct dpl_track *track, double slot_s, double *scratch,
                        float features[DPL_SHAPE_FEATURES]) {
    double path_m = dpl_track_path_m(track), straight_m = dpl_track_straight_m(track);
    features[0] = (float)(path_m / 1000);
    features[1] = (float)(straight_m / 1000);
    features[2] = (float)(path_m / fmax(straight_m, 100));
    step_features(track, slot_s, scratch, features + 3, features + 10);
    turn_features(track, scratch, features + 7);
    features[13] = (float)dpl_track_gyration_m(track);
    features[14] = (float)dpl_track_step_m(track, 0);
    features[15] = (float)dpl_track_step_m(track, track->n - 2);
}

void dpl_shape_blur(const struct dpl_position *from, size_t n, double blur_m, uint64_t key,
                    struct dpl_position *to) {
    for (size_t i = 0; i < n; i++) {
        uint64_t a = dpl_mix64(key + 2 * i), b = dpl_mix64(key + 2 * i + 1);
        double radius = blur_m * sqrt(-2 * log(((double)(a >> 11) + 1) * 0x1p-53)),
               angle = (double)(b >> 11) * 0x1p-52 * acos(-1);
        to[i] = (struct dpl_position){(float)((double)from[i].x_m + radius * cos(angle)),
                                      (float)((double)from[i].y_m + radius * sin(angle))};
    }
}

/* ---- samples ---- */

/* Which track of a trip is taken. */
typedef struct dpl_track track_function(const struct dpl_cleaned *, size_t);

/* Some trips of one set, and which of their tracks. */
struct sample {
    const struct dpl_cleaned *trips;
    track_function *track;
    uint32_t *trip; /* (n) */
    size_t n;
};

/* Takes up to n trips with enough positions, beginning at order[*at]. */
static void take(struct sample *sample, size_t n, const uint32_t *order, size_t n_order,
                 size_t *at) {
    for (sample->n = 0; sample->n < n && *at < n_order; ++*at)
        if (sample->track(sample->trips, order[*at]).n >= DPL_SHAPE_POINTS_MIN)
            sample->trip[sample->n++] = order[*at];
}

static size_t usable(const struct dpl_cleaned *trips, track_function *track) {
    size_t n = 0;
    for (size_t i = 0; i < trips->n_trips; i++) n += track(trips, i).n >= DPL_SHAPE_POINTS_MIN;
    return n;
}

/* The samples of one split: A, then what it is compared with: S, B, and B later. */
struct split {
    struct sample a, other[COMPARISONS];
};

struct test {
    const struct dpl_cleaned *real, *synthetic;
    double blur_m;
    uint64_t seed;
    size_t n, splits; /* trips a side */
    bool has_later;
    uint32_t *memory; /* (splits, 1 + COMPARISONS, n) */
    struct split *split;
    double *auc; /* (splits, COMPARISONS) */
};

static enum dpl_status draw_samples(struct dpl_run *run, struct test *t) {
    size_t n_real = t->real->n_trips, n_synthetic = t->synthetic->n_trips,
           most = n_real > n_synthetic ? n_real : n_synthetic;
    uint32_t *order = dpl_alloc(run, most, sizeof *order), *memory = t->memory;
    if (!order) return DPL_SYSTEM;
    for (size_t s = 0; s < t->splits; s++) {
        struct split *split = &t->split[s];
        split->a = (struct sample){t->real, dpl_track_of, memory, 0};
        for (size_t c = 0; c < COMPARISONS; c++)
            split->other[c] =
                (struct sample){c ? t->real : t->synthetic, c == 2 ? dpl_track_later : dpl_track_of,
                                memory + (c + 1) * t->n, 0};
        memory += (1 + COMPARISONS) * t->n;
        size_t at = 0, after;
        dpl_shuffle(order, n_real, n_real, t->seed, 1000 + 2 * s);
        take(&split->a, t->n, order, n_real, &at);
        after = at;
        take(&split->other[1], t->n, order, n_real, &at);
        if (t->has_later) take(&split->other[2], t->n, order, n_real, &after);
        at = 0;
        dpl_shuffle(order, n_synthetic, n_synthetic, t->seed, 1001 + 2 * s);
        take(&split->other[0], t->n, order, n_synthetic, &at);
    }
    dpl_free(order);
    return DPL_OK;
}

/* ---- one comparison ---- */

static size_t longest_track(const struct sample *sample) {
    size_t longest = 0;
    for (size_t i = 0; i < sample->n; i++) {
        size_t n = sample->track(sample->trips, sample->trip[i]).n;
        longest = n > longest ? n : longest;
    }
    return longest;
}

static enum dpl_status sample_features(struct dpl_run *run, const struct test *t,
                                       const struct sample *sample, uint64_t key, float *x) {
    size_t longest = longest_track(sample);
    struct dpl_position *blurred = dpl_alloc(run, longest, sizeof *blurred);
    double *scratch = dpl_alloc(run, longest, sizeof *scratch);
    enum dpl_status status = blurred && scratch ? DPL_OK : DPL_SYSTEM;
    for (size_t i = 0; status == DPL_OK && i < sample->n; i++) {
        struct dpl_track track = sample->track(sample->trips, sample->trip[i]);
        if (t->blur_m > 0) {
            dpl_shape_blur(track.at, track.n, t->blur_m, dpl_mix64(key + sample->trip[i]), blurred);
            track.at = blurred;
        }
        dpl_shape_features(&track, t->real->grid.area.slot_s, scratch, x + i * DPL_SHAPE_FEATURES);
    }
    dpl_free(blurred);
    dpl_free(scratch);
    return status;
}

/* Trains on the first half of the rows, tests on the rest. */
static enum dpl_status train_and_test(struct dpl_run *run, const float *x, const uint8_t *label,
                                      size_t n, double *auc) {
    struct dpl_boost_options options = dpl_boost_defaults();
    struct dpl_boost *boost = NULL;
    size_t half = n / 2;
    double *score = dpl_alloc(run, n - half, sizeof *score);
    if (!score) return DPL_SYSTEM;
    enum dpl_status status =
        dpl_boost_fit(run, x, label, half, DPL_SHAPE_FEATURES, &options, &boost);
    for (size_t i = half; status == DPL_OK && i < n; i++)
        score[i - half] = dpl_boost_score(boost, x + i * DPL_SHAPE_FEATURES);
    if (status == DPL_OK) status = dpl_auc(run, score, label + half, n - half, auc);
    dpl_boost_free(boost);
    dpl_free(score);
    return status;
}

/* Rows: the training halves of both sides, then their testing halves. */
static enum dpl_status compare_shapes(struct dpl_run *run, const struct test *t,
                                      const struct sample *a, const struct sample *b, uint64_t key,
                                      double *auc) {
    size_t n = a->n < b->n ? a->n : b->n, half = n / 2, rest = n - half;
    if (n < SIDE_MIN) return DPL_OK;
    const struct sample *const side[2] = {a, b};
    float *x = dpl_alloc(run, 2 * n * DPL_SHAPE_FEATURES, sizeof *x);
    uint8_t *label = dpl_alloc(run, 2 * n, sizeof *label);
    enum dpl_status status = x && label ? DPL_OK : DPL_SYSTEM;
    for (size_t s = 0; status == DPL_OK && s < 2; s++) {
        struct sample train = *side[s], test = *side[s];
        train.n = half, test.n = rest, test.trip += half;
        size_t at = s * half, test_at = 2 * half + s * rest;
        for (size_t i = 0; i < half; i++) label[at + i] = (uint8_t)s;
        for (size_t i = 0; i < rest; i++) label[test_at + i] = (uint8_t)s;
        status = sample_features(run, t, &train, key + s, x + at * DPL_SHAPE_FEATURES);
        if (status == DPL_OK)
            status = sample_features(run, t, &test, key + s, x + test_at * DPL_SHAPE_FEATURES);
    }
    if (status == DPL_OK) status = train_and_test(run, x, label, 2 * n, auc);
    dpl_free(x);
    dpl_free(label);
    return status;
}

/* ---- the study ---- */

static enum dpl_status compare_all(struct dpl_run *run, struct test *t) {
    enum dpl_status status = DPL_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(dpl_run_threads(run))
    for (size_t job = 0; job < t->splits * COMPARISONS; job++) {
        const struct split *split = &t->split[job / COMPARISONS];
        enum dpl_status mine = dpl_check_interrupt(run);
        if (mine == DPL_OK)
            mine = compare_shapes(run, t, &split->a, &split->other[job % COMPARISONS],
                                  dpl_mix64(t->seed) + 2 * job, &t->auc[job]);
        if (mine != DPL_OK) {
#pragma omp atomic write
            status = mine;
        }
    }
    return status;
}

static double mean_auc(const struct test *t, size_t comparison) {
    double sum = 0;
    for (size_t s = 0; s < t->splits; s++) sum += t->auc[s * COMPARISONS + comparison];
    return sum / (double)t->splits;
}

static void choose_size(struct test *t) {
    size_t real = usable(t->real, dpl_track_of) / 2, synthetic = usable(t->synthetic, dpl_track_of);
    t->n = SIDE_MAX;
    if (real < t->n) t->n = real;
    if (synthetic < t->n) t->n = synthetic;
}

enum dpl_status dpl_study_shape(struct dpl_run *run, const struct dpl_study *study, double *value,
                                double *floor) {
    struct test t = {.real = study->real->source,
                     .synthetic = study->synthetic->source,
                     .blur_m = study->options->blur_m,
                     .seed = study->options->seed,
                     .splits = (size_t)study->options->splits,
                     .has_later = study->real->source->later != NULL};
    enum dpl_status status = DPL_SYSTEM;
    choose_size(&t);
    t.memory = dpl_alloc(run, t.splits * (1 + COMPARISONS) * t.n, sizeof *t.memory);
    t.split = dpl_alloc(run, t.splits, sizeof *t.split);
    t.auc = dpl_alloc(run, t.splits * COMPARISONS, sizeof *t.auc);
    if (!t.memory || !t.split || !t.auc) goto done;
    for (size_t i = 0; i < t.splits * COMPARISONS; i++) t.auc[i] = NAN;
    DPL_GO(draw_samples(run, &t));
    DPL_GO(compare_all(run, &t));
    value[0] = value[1] = mean_auc(&t, 0);
    floor[0] = mean_auc(&t, 1);
    floor[1] = mean_auc(&t, 2);
done:
    dpl_free(t.memory);
    dpl_free(t.split);
    dpl_free(t.auc);
    return status;
}
