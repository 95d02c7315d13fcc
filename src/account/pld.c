/* The composed privacy loss distribution, by FFT under an exponential tilt.
 *
 *     delta(epsilon) = sum over losses r > epsilon of (1 - e^{epsilon - r}) U(r),
 *
 * U the T-fold convolution of the steps' distributions on the grid (loss_grid.c), for the remove
 * and the add direction; the epsilon reported is the larger of the two. A plain FFT carries an
 * error of 1e-16 of the whole, which drowns delta = 1e-12. So each step is first tilted, U~(r) =
 * U(r) e^{tr} / M(t): the tilted sum has its bulk where epsilon is, and delta is read off it times
 * M(t)^T e^{-t epsilon}, a factor of delta's own size. t is the Chernoff bound's minimiser (a
 * saddle point), moved if epsilon turns out to lie elsewhere.
 *
 * Validity, term by term. What is returned is an upper bound because delta is compared with
 *     (sum over the window) (1 + error)^T + losses above the window + steps with infinite loss:
 *  - The grid's pair dominates the step's.
 *  - Wrapping adds probability to points of the window, never takes any. What is lost is what truly
 * lies above the window: bounded by Chernoff, M(s)^T e^{-s top} with the grid's own M, at the best
 * s.
 *  - A step with a loss cut off as rare counts as infinite: T times its probability goes to delta.
 *  - Rounding: each weight has a small relative error, whose average over T steps is taken off
 * delta. Each bin of a spectrum is off by at most eta, its T-th power by |F|^T ((1 + eta/|F|)^T -
 * 1); the sum of that over all bins, over N, bounds the error of every point and is added to every
 * point. For T = 1e8 all of it costs some 1e-5 of delta by estimate; beyond about 1e10 steps the
 * bound grows loose and at last INFINITY, never wrong, and Renyi's is the lesser one.
 *
 * The grid: h = s/20 with s = rate sqrt(e^{1/sigma^2} - 1), the spread of one step's likelihood
 * ratio, or wider where the window would not fit MAX_BINS. All widths give valid bounds, and the
 * excess falls like h^2: h is halved until that changes epsilon by less than a thousandth.
 *
 * Cost: a few ms at 2^16 bins (the paper's settings), about 0.3 s at MAX_BINS. Memory 48 bytes a
 * bin.
 */
#include "account/pld.h"

#include <float.h>
#include <math.h>

#include "account/fft.h"

enum {
    MIN_BINS = 1 << 12,
    MAX_BINS = 1 << 20,
    MAX_TILTS = 4,
    MAX_REFINEMENTS = 8,
    MAX_DESCENT = 60,
    PRECISE_PLAN = 1 << 17,
    COARSE_POINTS = 1 << 15
};

static const double RARE = 3e-4;         // of delta: probability of all the losses that are cut off
static const double ABOVE_WINDOW = 3e-4; // of delta: allowed above the window
static const double WRAPPED = 1e-6;      // of the tilted bulk: allowed beyond the bins
static const double GAIN = 1e-3;         // stop refining when epsilon falls by less
static const double LEAST = 1e-200; // below, what underflow has lost could be felt (find_epsilon)
static const double ROUND_UP = 1 + 1e-12;
static const double WIDEST_BIN =
    20; // a bin of e^20 in probability bounds nothing any more; much wider ones overflow

struct account {
    struct dpl_run *run;
    const struct dpl_parts *parts;
    double delta, rare;         // `rare`: per part, of all its steps
    struct dpl_loss_grid *grid; // (parts->n), all of the same h
    double *direction;          // (2) gets the epsilon of removing and of adding; may be NULL
};

/* ---- moments on the grid ---- */

/* Sums of tilted weights. */
struct tilted {
    double all, first, second; /* of mass, mass * loss, mass * loss^2 */
};

/* Points [from, to) of the grid, weight times e^{slope loss - top}. The exponential is taken once a
 * block, at its larger end, and multiplied on within it (a rounding each, inside the weights' error
 * bound): this is the inner loop of all planning. */
static void tilt_segment(const struct dpl_loss_grid *grid, size_t from, size_t to, double slope,
                         double top, int direction, struct dpl_complex *bins, size_t n,
                         struct tilted *sums) {
    enum { BLOCK = 32 };
    const double ratio = exp(-fabs(slope) * grid->h);
    for (size_t begin = from; begin < to; begin += BLOCK) {
        const size_t count = begin + BLOCK < to ? BLOCK : to - begin,
                     start = slope > 0 ? begin + count - 1 : begin;
        double factor = exp(slope * ((double)(grid->first + (int64_t)start) * grid->h) - top);
        for (size_t i = 0; i < count; i++, factor *= ratio) {
            const size_t k = slope > 0 ? start - i : start + i;
            const int64_t at = grid->first + (int64_t)k;
            const double loss = (double)at * grid->h, mass = grid->weight[k] * factor;
            sums->all += mass;
            sums->first += mass * loss;
            sums->second += mass * loss * loss;
            if (bins) bins[(size_t)(direction * at) & (n - 1)].re += mass;
        }
    }
}

/* The largest exponent slope * loss among points [from, to) that have any weight. */
static double top_exponent(const struct dpl_loss_grid *grid, size_t from, size_t to, double slope) {
    while (from < to && !(grid->weight[from] > 0)) from++;
    while (to > from && !(grid->weight[to - 1] > 0)) to--;
    if (from == to) return -INFINITY;
    const double first = (double)(grid->first + (int64_t)from) * grid->h,
                 last = (double)(grid->first + (int64_t)to - 1) * grid->h;
    return fmax(slope * first, slope * last);
}

/* The direction is +1 (remove) or -1 (add). The weights under its law, tilted by t: the log of
 * their sum, and mean and variance of the loss. Fills `bins` (n) with them, scaled to 1, when
 * given. */
static struct dpl_moment tilt_grid(const struct dpl_loss_grid *grid, int direction, double t,
                                   struct dpl_complex *bins, size_t n) {
    const double a =
        direction > 0 ? 1 + t
                      : -t; // in terms of P; weights count under P below 0, under Q from there on
    const size_t zero = grid->first >= 0                 ? 0
                        : (size_t)-grid->first < grid->n ? (size_t)-grid->first
                                                         : grid->n;
    const double top =
        fmax(top_exponent(grid, 0, zero, a), top_exponent(grid, zero, grid->n, a - 1));
    struct tilted sums = {0};
    tilt_segment(grid, 0, zero, a, top, direction, bins, n, &sums);
    tilt_segment(grid, zero, grid->n, a - 1, top, direction, bins, n, &sums);
    for (size_t k = 0; bins && k < n; k++) bins[k].re /= sums.all;
    const double mean = sums.first / sums.all;
    return (struct dpl_moment){top + log(sums.all), direction * mean,
                               fmax(sums.second / sums.all - mean * mean, 0)};
}

/* The whole composition's moment at tilt t. */
static struct dpl_moment moment_at(const struct account *account, int direction, double t) {
    struct dpl_moment total = {0};
    for (size_t i = 0; i < account->parts->n; i++) {
        const double steps = account->parts->part[i].steps;
        const struct dpl_moment one = tilt_grid(&account->grid[i], direction, t, NULL, 0);
        total.log += steps * one.log;
        total.mean += steps * one.mean;
        total.variance += steps * one.variance;
    }
    return total;
}

/* The least and the largest loss that all steps together can have on the grid. */
static void loss_ends(const struct account *account, int direction, double *least,
                      double *largest) {
    *least = *largest = 0;
    for (size_t i = 0; i < account->parts->n; i++) {
        const struct dpl_loss_grid *grid = &account->grid[i];
        const double steps = account->parts->part[i].steps, bottom = (double)grid->first,
                     top = bottom + (double)(grid->n - 1);
        *least += steps * grid->h * (direction > 0 ? bottom : -top);
        *largest += steps * grid->h * (direction > 0 ? top : -bottom);
    }
}

/* ---- where to look ---- */

/* The losses to look at, in one direction, and the tilts that serve. Kept from one grid to the next
 * finer one. */
struct window {
    double tilt;         /* whose bulk is looked at */
    double low, ceiling; /* all but a millionth of that bulk lies between: what the bins must hold,
                            lest it wrap */
    double top, above; /* the sum goes up to `top`; the probability (untilted) of losses above is at
                          most `above` */
    double chernoff;   /* a bound on epsilon without any FFT */
    double tilt_chernoff, tilt_top,
        tilt_ceiling; /* minimisers of Chernoff's bounds, to start from */
    double found;     /* epsilon on the last grid, NAN at first */
    double width;     /* what the bins of the last FFT had to hold; 0 if there was none */
};

/* Chernoff: under the law tilted by `base`, the least loss that is exceeded with probability
 * e^{-log_odds} at most; over further tilts from *t up or down by factors. */
static double descend(const struct account *account, int direction, double base, double log_odds,
                      double *t) {
    const double offset = log_odds - (base > 0 ? moment_at(account, direction, base).log : 0);
    double best = (moment_at(account, direction, base + *t).log + offset) / *t;
    for (int way = 0; way < 2; way++) {
        const double factor = way ? 1 / 1.5 : 1.5;
        bool moved = false;
        for (int i = 0; i < MAX_DESCENT; i++) {
            const double next =
                (moment_at(account, direction, base + *t * factor).log + offset) / (*t * factor);
            if (!(next < best)) break;
            best = next, *t *= factor, moved = true;
        }
        if (moved) break;
    }
    return best;
}

/* low and ceiling for the window's tilt; returns the bulk. */
static struct dpl_moment put_ends(const struct account *account, int direction,
                                  struct window *window) {
    const struct dpl_moment bulk = moment_at(account, direction, window->tilt);
    double least, largest;
    loss_ends(account, direction, &least, &largest);
    window->low = fmax(bulk.mean - 7.5 * sqrt(bulk.variance), least);
    window->ceiling = fmin(
        descend(account, direction, window->tilt, -log(WRAPPED), &window->tilt_ceiling), largest);
    window->width = fmax(window->top, window->ceiling) - window->low;
    return bulk;
}

/* The tilt whose mean loss is `loss`; 0 if that is below the mean. */
static double tilt_for(const struct account *account, int direction, double loss,
                       double tilt_high) {
    double low = 0, high = tilt_high;
    if (moment_at(account, direction, 0).mean >= loss) return 0;
    for (int i = 0; i < 10; i++) {
        double middle = (low + high) / 2;
        if (moment_at(account, direction, middle).mean < loss)
            low = middle;
        else
            high = middle;
    }
    return high;
}

static void plan_window(const struct account *account, int direction, struct window *window) {
    double least, largest, points = 0;
    loss_ends(account, direction, &least, &largest);
    for (size_t i = 0; i < account->parts->n; i++) points += (double)account->grid[i].n;
    window->width = 0;
    window->above = ABOVE_WINDOW * account->delta;
    window->chernoff = descend(account, direction, 0, -log(account->delta), &window->tilt_chernoff);
    window->top = descend(account, direction, 0, -log(window->above), &window->tilt_top);
    if (window->top >= largest) window->top = largest, window->above = 0;
    // A tilt of more than e^20 from point to point gains nothing, and the sums would underflow.
    const double most = fmin(window->tilt_chernoff, 20 / account->grid[0].h);
    if (isnan(window->found))
        window->tilt = most;
    else if (points < PRECISE_PLAN)
        window->tilt = tilt_for(account, direction, window->found, most); // else as before
}

/* The spread of a step that the grid has to resolve, the least over the parts that matter. */
static double step_spread(const struct account *account) {
    double total = 0, least = INFINITY, spread[2];
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < account->parts->n; i++) {
            const struct dpl_part *part = &account->parts->part[i];
            double x_low, x_high, inverse = 1 / (part->sigma * part->sigma);
            dpl_loss_range(part, account->rare / part->steps, &x_low, &x_high);
            spread[0] = part->kind == DPL_PART_POISSON
                            ? part->rate * sqrt(expm1(fmin(inverse, 600)))
                            : 1 / part->sigma;
            spread[1] = sqrt(dpl_part_moment_cut(part, 1, x_low, x_high).variance);
            const double s = fmin(spread[0], spread[1]), variance = part->steps * s * s;
            if (pass == 0)
                total += variance;
            else if (variance > 1e-3 * total)
                least = fmin(least, s);
        }
    return least;
}

/* ---- composition ---- */

/* The spectrum of the whole composition, in logarithm and phase; `slack` is the log of how much
 * rounding may have grown it. */
struct spectrum {
    struct dpl_fft fft;
    struct dpl_complex *bins;    /* (n) scratch, then the spectrum, then the points */
    double *log, *phase, *slack; /* (n) */
};

static void spectrum_free(struct spectrum *s) {
    dpl_fft_free(&s->fft);
    dpl_free(s->bins);
    dpl_free(s->log);
    dpl_free(s->phase);
    dpl_free(s->slack);
}

static enum dpl_status spectrum_make(struct dpl_run *run, size_t n, struct spectrum *s) {
    *s = (struct spectrum){0};
    DPL_TRY(dpl_fft_make(run, n, &s->fft));
    s->bins = dpl_alloc(run, n, sizeof *s->bins);
    s->log = dpl_alloc(run, n, sizeof *s->log);
    s->phase = dpl_alloc(run, n, sizeof *s->phase);
    s->slack = dpl_alloc(run, n, sizeof *s->slack);
    return s->bins && s->log && s->phase && s->slack ? DPL_OK : DPL_SYSTEM;
}

/* Multiplies the T-th power of one step's spectrum in. Bins below e^{-100} count as 0, and their
 * bound as slack. */
static void multiply_in(struct spectrum *s, double steps) {
    const double eta = dpl_fft_error(&s->fft) + 8 * DBL_EPSILON;
    dpl_fft_forward(&s->fft, s->bins);
    for (size_t j = 0; j < s->fft.n; j++) {
        if (s->log[j] == -INFINITY) continue;
        const double size = fmax(hypot(s->bins[j].re, s->bins[j].im), eta);
        const double log_bound = s->log[j] + s->slack[j] + steps * log(size + eta);
        if (log_bound < -100) {
            s->log[j] = -INFINITY;
            continue;
        }
        s->log[j] += steps * log(size);
        s->slack[j] += steps * log1p(2 * eta / size); // twice: size may have been lifted by eta
        s->phase[j] = remainder(
            s->phase[j] + remainder(steps * atan2(s->bins[j].im, s->bins[j].re), 2 * M_PI),
            2 * M_PI);
    }
}

/* From the spectrum to the points; returns a bound on the error of each. */
static double to_points(struct spectrum *s) {
    const double n = (double)s->fft.n, eta = dpl_fft_error(&s->fft) + 8 * DBL_EPSILON;
    double error = 0;
    for (size_t j = 0; j < s->fft.n; j++) {
        const double size = exp(s->log[j]);
        error += s->log[j] == -INFINITY ? 4e-44 : size * (expm1(s->slack[j]) + eta);
        s->bins[j] = size > 0
                         ? (struct dpl_complex){size * cos(s->phase[j]), size * sin(s->phase[j])}
                         : (struct dpl_complex){0};
    }
    dpl_fft_inverse(&s->fft, s->bins);
    for (size_t j = 0; j < s->fft.n; j++) s->bins[j].re = fmax(s->bins[j].re / n, 0);
    return error / n;
}

/* Goes down from the top of the window, keeping
 *     B = sum over losses r >= r_n of point(r) e^{-(1+t)(r - r_n)}  and  D = the same of (1 -
 * e^{-(r - r_n)}) e^{-t(r - r_n)}, so that delta(r_n) = e^{log_scale - t r_n} D, until delta is
 * reached; between points delta is linear in e^epsilon. Nothing is subtracted. NAN: delta is not
 * reached in the window, epsilon lies below it.
 *
 * PRIVACY: far below the bulk of the tilted law, its points and D underflow, and a comparison with
 * what delta asks for would be one of zeros. Underflow loses at most 1e-307 a point, 1e-300 of all
 * 2^21; so D is trusted while it is compared with LEAST or more, and the walk ends there: the loss
 * before is a bound, since delta was not reached down to it, and a lesser tilt may find a better
 * one. In particular 0 is returned only where the total variation was compared with delta. */
static double find_epsilon(const struct spectrum *s, double error, double h, double top, double t,
                           double log_scale, double delta) {
    const int64_t n = (int64_t)s->fft.n,
                  last = (int64_t)ceil(top / h); // up: none of the window may be missed
    const double decay = exp(-t * h), decay_b = exp(-(1 + t) * h), lift = -expm1(-h),
                 log_delta = log(delta);
    double d = 0, b = 0;
    for (int64_t k = last; k > last - n; k--) {
        const double loss = (double)k * h, b_here = decay_b * b, d_here = decay * (d + lift * b);
        const double want = exp(fmin(log_delta - log_scale + t * loss, 700));
        if (want < LEAST) return fmax(loss + h, 0);
        if (d_here > want) return fmax(loss + fmin(log1p((d_here - want) / b_here), h), 0);
        if (loss <= 0) return 0;
        d = d_here;
        b = b_here + s->bins[(size_t)k & (size_t)(n - 1)].re + error;
    }
    return NAN;
}

/* ---- one direction ---- */

/* What is left of delta for the window: without the losses above it, steps with infinite loss, and
 * the rounding of weights: T times the average relative error over the tilted weights, with a
 * margin. A grid that lost probability (it would underflow) leaves nothing. */
static double delta_left(const struct account *account, int direction,
                         const struct window *window) {
    const double margin = 8;
    double infinite = 0, error = 0;
    for (size_t i = 0; i < account->parts->n; i++) {
        const struct dpl_loss_grid *grid = &account->grid[i];
        const struct dpl_moment tilted = tilt_grid(grid, direction, window->tilt, NULL, 0);
        const double steps = account->parts->part[i].steps,
                     size = sqrt(tilted.variance + tilted.mean * tilted.mean);
        infinite += steps * (direction > 0 ? grid->remove_infinite : grid->add_infinite);
        error += steps * (grid->error + grid->edge_error * (grid->edge_rate + size));
        if (tilt_grid(grid, direction, 0, NULL, 0).log < -1e-9) return 0;
    }
    return (account->delta - infinite - window->above) * exp(-margin * error) * (1 - 1e-9);
}

static enum dpl_status tilted_epsilon(struct account *account, int direction,
                                      const struct window *window, double delta, double *epsilon) {
    struct spectrum s;
    size_t n = MIN_BINS;
    const double h = account->grid[0].h, want = window->width / h;
    double log_scale = 0;
    const bool single =
        account->parts->n == 1 &&
        account->parts->part[0].steps < 2; // nothing to convolve: the weights are the points
    while (((double)n < want && n < 2 * MAX_BINS) || (single && n < account->grid[0].n)) n *= 2;
    enum dpl_status status = spectrum_make(account->run, n, &s);
    for (size_t i = 0; status == DPL_OK && i < account->parts->n; i++) {
        for (size_t j = 0; j < n; j++) s.bins[j] = (struct dpl_complex){0};
        log_scale += account->parts->part[i].steps *
                     tilt_grid(&account->grid[i], direction, window->tilt, s.bins, n).log;
        if (!single) multiply_in(&s, account->parts->part[i].steps);
        status = dpl_check_interrupt(account->run);
    }
    if (status == DPL_OK) {
        const double error = single ? 0 : to_points(&s);
        *epsilon = find_epsilon(&s, error, h, window->top, window->tilt, log_scale, delta);
    }
    spectrum_free(&s);
    return status;
}

/* Least over tilts: the planned one, then one moved to where epsilon was found, while that is far
 * off the bulk. No FFT if Chernoff's bound already shows that epsilon is at most `enough`. */
static enum dpl_status direction_epsilon(struct account *account, int direction,
                                         struct window *plan, double enough, double *epsilon) {
    plan_window(account, direction, plan);
    struct window window = *plan;
    *epsilon = INFINITY;
    if (!(delta_left(account, direction, &window) > 0)) return DPL_OK;
    if (window.chernoff <= enough) {
        *epsilon = enough;
        return DPL_OK;
    }
    for (int i = 0; i < MAX_TILTS; i++) {
        double found;
        const struct dpl_moment bulk = put_ends(account, direction, &window);
        plan->width = fmax(plan->width, window.width);
        DPL_TRY(tilted_epsilon(account, direction, &window, delta_left(account, direction, &window),
                               &found));
        if (found < *epsilon) plan->found = *epsilon = found;
        const double at = isnan(found) ? window.low : found, spread = sqrt(bulk.variance);
        if (window.tilt <= 0 || (!isnan(found) && bulk.mean - found < 3 * spread)) break;
        window.tilt = tilt_for(account, direction, at + spread / 2, window.tilt);
    }
    return DPL_OK;
}

/* ---- the grid ---- */

static enum dpl_status make_grids(struct account *account, double h) {
    for (size_t i = 0; i < account->parts->n; i++) {
        const struct dpl_part *part = &account->parts->part[i];
        DPL_TRY(dpl_loss_grid_make(account->run, part, h, account->rare / part->steps,
                                   &account->grid[i]));
    }
    return DPL_OK;
}

static void free_grids(struct account *account) {
    for (size_t i = 0; i < account->parts->n; i++) {
        dpl_free(account->grid[i].weight);
        account->grid[i] = (struct dpl_loss_grid){0};
    }
}

/* window[0] and window[1], of remove and add, bring the tilts to start from and keep those found.
 */
static enum dpl_status epsilon_on_grid(struct account *account, struct window window[2], double h,
                                       double *epsilon) {
    double remove = INFINITY, add = INFINITY;
    enum dpl_status status = make_grids(account, h);
    if (status == DPL_OK) status = direction_epsilon(account, 1, &window[0], -1, &remove);
    if (status == DPL_OK)
        status = direction_epsilon(account, -1, &window[1], account->direction ? -1 : remove, &add);
    free_grids(account);
    if (account->direction) {
        account->direction[0] = fmin(account->direction[0], remove);
        account->direction[1] = fmin(account->direction[1], add);
    }
    *epsilon = fmax(remove, add); // PRIVACY: the worse of removing and adding the unit
    return status;
}

/* The loss range of the widest step. */
static double widest_step(const struct account *account) {
    double widest = 0;
    for (size_t i = 0; i < account->parts->n; i++) {
        const struct dpl_part *part = &account->parts->part[i];
        widest = fmax(widest, dpl_loss_width(part, account->rare / part->steps));
    }
    return widest;
}

/* A coarse grid to learn how wide the window is, then from twice the wanted width down to where it
 * stops to matter or to fit. */
static enum dpl_status refine(struct account *account, double *epsilon) {
    const double spread = step_spread(account), start = 1 / fmax(spread, 1e-15),
                 step_width = widest_step(account);
    const struct window blank = {
        .tilt_chernoff = start, .tilt_top = start, .tilt_ceiling = start, .found = NAN};
    struct window window[2] = {blank, blank};
    *epsilon = INFINITY;
    if (!(spread > 0 && isfinite(spread) && isfinite(step_width))) return DPL_OK;
    const double coarse = fmax(spread / 2, step_width / COARSE_POINTS);
    if (coarse > WIDEST_BIN)
        return DPL_OK; // hardly any noise: no bound from here, the Renyi bound answers
    enum dpl_status status = make_grids(account, coarse);
    if (status == DPL_OK) {
        plan_window(account, 1, &window[0]);
        put_ends(account, 1, &window[0]);
    }
    free_grids(account);
    if (status != DPL_OK) return status;
    double width = fmax(window[0].width, step_width);
    if (!isfinite(width)) return DPL_OK;
    double h = 2 * fmax(fmin(spread / 20, width / MIN_BINS), 2 * width / MAX_BINS);
    for (int i = 0; i < MAX_REFINEMENTS && 1.5 * h * MAX_BINS >= width; i++, h /= 2) {
        double here, before = *epsilon;
        DPL_TRY(dpl_check_interrupt(account->run));
        if (h > WIDEST_BIN) continue;
        DPL_TRY(epsilon_on_grid(account, window, h, &here));
        *epsilon = fmin(here, before);
        if (isfinite(before) && before - here <= GAIN * here) break;
        width = fmax(fmax(window[0].width, window[1].width), step_width);
    }
    return DPL_OK;
}

enum dpl_status dpl_pld_epsilon(struct dpl_run *run, const struct dpl_parts *parts, double delta,
                                double direction[2], double *epsilon) {
    struct account account = {.run = run,
                              .parts = parts,
                              .delta = delta,
                              .rare = RARE * delta / (double)parts->n,
                              .direction = direction};
    *epsilon = INFINITY;
    if (direction) direction[0] = direction[1] = INFINITY;
    for (size_t i = 0; i < parts->n; i++)
        if (account.rare / parts->part[i].steps < 1e-250)
            return DPL_OK; // such probabilities would underflow on the way
    account.grid = dpl_alloc(run, parts->n, sizeof *account.grid);
    if (!account.grid) return DPL_SYSTEM;
    enum dpl_status status = refine(&account, epsilon);
    dpl_free(account.grid);
    // Up, by more than the losses themselves were rounded.
    *epsilon *= ROUND_UP;
    if (direction) direction[0] *= ROUND_UP, direction[1] *= ROUND_UP;
    return status;
}
