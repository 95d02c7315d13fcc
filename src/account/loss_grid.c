/* One step's privacy loss on a grid, pessimistically.
 *
 * A loss l between grid points a and b = a+h is moved onto both so that its probability under P and
 * under Q stay what they were: weights w_a + w_b = 1 and w_a e^a + w_b e^b = e^l. The step then
 * is a post-processing of what stands on the grid (whoever knows a or b can draw l), so every bound
 * for the grid holds for the step (Doroshenko et al. 2022, "Connect the dots"; as a dominating
 * pair, Zhu et al. 2022, Prop. 8). Rounding all losses up is valid too, but its bias of h/2 adds up
 * over T steps to Th/2; here the mean under both laws is kept and the only cost is a variance of at
 * most Th^2/4.
 *
 * With y(x) = rate e^{(2x-1)/2 sigma^2}, e^L = 1 - rate + y. Of a cell between y_a and y_b:
 *     weight on b = int p (y - y_a) / (y_b - y_a),   weight on a = int p (y_b - y) / (y_b - y_a).
 * Both integrands are positive: Gauss-Legendre panels give each weight to a small relative error,
 * far into the tails, and a relative error is what survives T-fold composition: the result is off
 * by the exponential of T times its average.
 *
 * Cost: about 100 ns a point.
 */
#include <float.h>
#include <math.h>

#include "account/pld.h"

enum { NODES = 4, MAX_POINTS = 1 << 23 };

// Gauss-Legendre on [0, 1]
static const double NODE[NODES] = {0.069431844202973713, 0.33000947820757187, 0.66999052179242813,
                                   0.93056815579702629};
static const double SHARE[NODES] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307,
                                    0.17392742256872693};

static const double PANEL =
    0.3; // change of the integrand's logarithm over a panel: the rule's error is then below 4e-14
static const double WIDEST = 38; // in sigmas: nothing of a normal lies beyond, in double
static const double BASE_ERROR = 1e-13;

static double upper_tail(double x) { return 0.5 * erfc(x * M_SQRT1_2); }

/* Where a normal of unit spread exceeds x with the given probability at most: Q(x) <= e^{-x^2/2}
 * / 2. */
static double reach(double probability) {
    return probability < 0.5 ? fmin(sqrt(2 * log(0.5 / probability)), WIDEST) : 0;
}

void dpl_loss_range(const struct dpl_part *part, double rare, double *x_low, double *x_high) {
    const double rate = part->kind == DPL_PART_POISSON ? part->rate : 1, sigma = part->sigma;
    *x_low = -reach(rare) * sigma;
    *x_high = fmax(1 + reach(rare / 2 / rate) * sigma, reach(rare / 2) * sigma);
}

static double loss_at(const struct dpl_part *part, double x) {
    const double ratio = (2 * x - 1) / (2 * part->sigma * part->sigma);
    if (part->kind == DPL_PART_GAUSSIAN) return ratio;
    return ratio < 600 ? log1p(part->rate * expm1(ratio)) : ratio + log(part->rate);
}

double dpl_loss_width(const struct dpl_part *part, double rare) {
    double x_low, x_high;
    if (part->kind == DPL_PART_PURE) return 2 / part->sigma;
    dpl_loss_range(part, rare, &x_low, &x_high);
    return loss_at(part, x_high) - loss_at(part, x_low);
}

/* An edge of a cell: the loss there, the noise x that gives it, and g = y e^{-loss} = 1 - (1-rate)
 * e^{-loss}, which stays finite however large the loss; below the least loss g <= 0 and x is
 * -infinity. */
struct edge {
    double loss, x, g;
};

static struct edge edge_at(const struct dpl_part *part, double loss) {
    const double variance = part->sigma * part->sigma;
    if (part->kind == DPL_PART_GAUSSIAN) return (struct edge){loss, 0.5 + variance * loss, 1};
    const double g = part->rate * exp(-loss) - expm1(-loss);
    return (struct edge){loss, g > 0 ? 0.5 + variance * (loss + log(g / part->rate)) : -INFINITY,
                         g};
}

/* The weights of one cell on its ends. Like all weights, they count under P at losses below 0,
 * under Q above. Places within the cell are measured from a (from b in the first cell, which may
 * begin at -infinity), and what does not go to one end goes to the other. */
static void integrate_cell(const struct dpl_part *part, double h, struct edge a, struct edge b,
                           double *to_a, double *to_b) {
    const double sigma = part->sigma, variance = sigma * sigma, lift = fmax(a.loss, 0);
    const bool first = !(a.g > 0);
    const double origin = first ? b.x : a.x, left = first ? fmin(-WIDEST * sigma - origin, 0) : 0;
    const double width = first ? -left : variance * log1p(expm1(h) / a.g);
    const double ratio =
        first ? b.g / expm1(-h)
              : a.g / expm1(h); // y at the origin over y_b - y_a; negative in the first cell
    const double steepness =
        (fmax(fabs(origin + left), fabs(origin + left + width)) + 1 + sigma) / variance;
    const double panels = ceil(width * steepness / PANEL), panel = width / panels;
    double near = 0, all = 0; // of the end that is not the origin; of both
    for (double p = 0; p < panels; p++)
        for (int i = 0; i < NODES; i++) {
            const double u = left + (p + NODE[i]) * panel, x = origin + u;
            const double mass = exp(lift - x * x / (2 * variance)) * SHARE[i];
            near += mass * expm1(u / variance) * ratio;
            all += mass;
        }
    const double norm = panels > 0 ? panel / (sigma * sqrt(2 * M_PI)) : 0,
                 up = exp(fmax(b.loss, 0) - lift);
    *to_a = (first ? near : all - near) * norm;
    *to_b = (first ? all - near : near) * norm * up;
}

/* What lies beyond the grid's ends: above, it counts as infinite when removing and as the top loss
 * (up to the sign) when adding; below, the other way round. */
static void add_tails(const struct dpl_part *part, struct dpl_loss_grid *grid) {
    const double rate = part->kind == DPL_PART_GAUSSIAN ? 1 : part->rate, sigma = part->sigma;
    const struct edge bottom = edge_at(part, (double)grid->first * grid->h);
    const struct edge top = edge_at(part, (double)(grid->first + (int64_t)grid->n - 1) * grid->h);
    grid->remove_infinite =
        (1 - rate) * upper_tail(top.x / sigma) + rate * upper_tail((top.x - 1) / sigma);
    grid->weight[grid->n - 1] += grid->remove_infinite;
    if (bottom.x == -INFINITY)
        return; // the first cell reached down to the least loss, log(1 - rate)
    grid->add_infinite = upper_tail(-bottom.x / sigma);
    grid->weight[0] += grid->add_infinite;
}

static enum dpl_status allocate(struct dpl_run *run, double low, double high, double h,
                                struct dpl_loss_grid *grid) {
    double first = floor(low / h), last = fmax(ceil(high / h), first + 1);
    if (last - first > MAX_POINTS - 1) last = first + MAX_POINTS - 1; // the rest counts as infinite
    *grid = (struct dpl_loss_grid){
        .h = h, .first = (int64_t)first, .n = (size_t)(last - first) + 1, .error = BASE_ERROR};
    grid->weight = dpl_alloc(run, grid->n, sizeof *grid->weight);
    return grid->weight ? DPL_OK : DPL_SYSTEM;
}

/* +-1/sigma with randomised response's probabilities. */
static enum dpl_status pure_grid(struct dpl_run *run, const struct dpl_part *part, double h,
                                 struct dpl_loss_grid *grid) {
    const double e = 1 / part->sigma,
                 likely = 1 / (1 + exp(-e)); // of -e under P, and of +e under Q
    DPL_TRY(allocate(run, -e, e, h, grid));
    grid->edge_error = 4 * DBL_EPSILON / h;
    for (int sign = -1; sign <= 1; sign += 2) {
        size_t k =
            (size_t)fmin(fmax(floor(sign * e / h) - (double)grid->first, 0), (double)(grid->n - 1));
        if (k + 1 == grid->n) k--;
        const double low = (double)(grid->first + (int64_t)k) * h;
        const double up = fmin(fmax(expm1(sign * e - low) / expm1(h), 0), 1); // its part under P
        grid->weight[k] += likely * (1 - up) * (sign > 0 ? exp(low - e) : 1);
        grid->weight[k + 1] += likely * up * (sign > 0 ? exp(low + h - e) : 1);
    }
    return DPL_OK;
}

enum dpl_status dpl_loss_grid_make(struct dpl_run *run, const struct dpl_part *part, double h,
                                   double rare, struct dpl_loss_grid *grid) {
    if (part->kind == DPL_PART_PURE) return pure_grid(run, part, h, grid);
    double x_low, x_high, to_a, to_b;
    dpl_loss_range(part, rare, &x_low, &x_high);
    DPL_TRY(allocate(run, loss_at(part, x_low), loss_at(part, x_high), h, grid));
    // An edge x carries a rounding of its own size. Against the cell's width, variance h / g with g
    // < rate + |loss|:
    grid->edge_error = 4 * DBL_EPSILON * fmax(-x_low, x_high) / (part->sigma * part->sigma) / h;
    grid->edge_rate = part->kind == DPL_PART_POISSON ? part->rate : 1;
    struct edge a = edge_at(part, (double)grid->first * h);
    for (size_t k = 0; k + 1 < grid->n; k++) {
        const struct edge b = edge_at(part, (double)(grid->first + (int64_t)k + 1) * h);
        integrate_cell(part, h, a, b, &to_a, &to_b);
        grid->weight[k] += to_a;
        grid->weight[k + 1] += to_b;
        a = b;
    }
    add_tails(part, grid);
    return DPL_OK;
}
