/* Anderson mixing: a fixed point in fewer rounds than by following the steps one by one.
 *
 * A round gives, for the values x, the steps f(x) that it proposes. Of the last few rounds' changes
 * of f, weighted least squares finds the combination that cancels most of the present f; the same
 * combination of the changes of x leads to where f would be smallest, were it linear. So directions
 * that converge slowly (mass that has to cross the city) and directions that oscillate are both
 * corrected after a few rounds.
 *
 * Cost: per step MIXING_WINDOW^2 products of n values; 2 MIXING_WINDOW + 2 vectors of memory. */
#include "method/bridge/mixing.h"

#include <math.h>
#include <string.h>

enum { WINDOW = DPL_MIXING_WINDOW };

enum dpl_status dpl_mixing_new(struct dpl_run *run, size_t n, const double *weight,
                               struct dpl_mixing *mixing) {
    *mixing =
        (struct dpl_mixing){.n = n,
                            .weight = weight,
                            .room = dpl_alloc(run, (2 * WINDOW + 2) * n, sizeof *mixing->room)};
    if (!mixing->room) return DPL_SYSTEM;
    for (size_t j = 0; j < WINDOW; j++)
        mixing->dx[j] = mixing->room + j * n, mixing->df[j] = mixing->room + (WINDOW + j) * n;
    mixing->last_x = mixing->room + 2 * WINDOW * n, mixing->last_f = mixing->last_x + n;
    return DPL_OK;
}

void dpl_mixing_free(struct dpl_mixing *mixing) {
    dpl_free(mixing->room);
    *mixing = (struct dpl_mixing){0};
}

void dpl_mixing_forget(struct dpl_mixing *mixing) { mixing->rounds = 0, mixing->seen = false; }

static double product(const struct dpl_mixing *mixing, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < mixing->n; i++) sum += mixing->weight[i] * a[i] * b[i];
    return sum;
}

/* Solves the m equations in place; they are those of least squares with a ridge, so no pivot is
 * zero. */
static void solve(double A[WINDOW][WINDOW], double *b, size_t m) {
    for (size_t i = 0; i < m; i++)
        for (size_t r = i + 1; r < m; r++) {
            double factor = A[r][i] / A[i][i];
            for (size_t c = i; c < m; c++) A[r][c] -= factor * A[i][c];
            b[r] -= factor * b[i];
        }
    for (size_t i = m; i-- > 0;) {
        for (size_t c = i + 1; c < m; c++) b[i] -= A[i][c] * b[c];
        b[i] /= A[i][i];
    }
}

/* How much of each change cancels f best; returns how many changes there are. */
static size_t combine(const struct dpl_mixing *mixing, const double *f, double *share) {
    size_t m = mixing->rounds < WINDOW ? mixing->rounds : WINDOW;
    double A[WINDOW][WINDOW];
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < m; j++) A[i][j] = product(mixing, mixing->df[i], mixing->df[j]);
        share[i] = product(mixing, mixing->df[i], f);
    }
    for (size_t i = 0; i < m; i++) A[i][i] = A[i][i] * (1 + MIXING_RIDGE) + 1e-300;
    solve(A, share, m);
    return m;
}

static void remember(struct dpl_mixing *mixing, const double *x, const double *f) {
    if (mixing->seen) {
        size_t at = mixing->rounds++ % WINDOW;
        for (size_t i = 0; i < mixing->n; i++)
            mixing->dx[at][i] = x[i] - mixing->last_x[i],
            mixing->df[at][i] = f[i] - mixing->last_f[i];
    }
    memcpy(mixing->last_x, x, mixing->n * sizeof *x),
        memcpy(mixing->last_f, f, mixing->n * sizeof *f);
    mixing->seen = true;
}

void dpl_mixing_step(struct dpl_mixing *mixing, const double *f, double pace, double *x) {
    double share[WINDOW];
    remember(mixing, x, f);
    size_t m = combine(mixing, f, share);
    for (size_t i = 0; i < mixing->n; i++) {
        double step = pace * f[i];
        for (size_t j = 0; j < m; j++)
            step -= share[j] * (mixing->dx[j][i] + pace * mixing->df[j][i]);
        x[i] += step;
    }
}
