/* From AdaTrace's noised tables to chances. Everything here is post-processing.
 *
 * PAPER: the published program reads sub-cell weights, the largest extra length and the histogram
 * that picks the family of lengths off the raw data. Here they come from noised tables. */
#include <math.h>

#include "method/adatrace/adatrace.h"

enum { BINS = DPL_ADATRACE_EXTRA + 1 };

/* PAPER: `units` is the noised number. */
size_t dpl_adatrace_split(const double *grid, size_t cells, double units, double epsilon,
                          int32_t *split) {
    size_t total = 0;
    for (size_t c = 0; c < cells; c++) {
        double parts = ceil(5 * fmax(grid[c], 0) / (units * epsilon));
        split[c] = !(parts >= 1)                ? 1
                   : parts < DPL_ADATRACE_SPLIT ? (int32_t)parts
                                                : DPL_ADATRACE_SPLIT;
        total += (size_t)split[c] * (size_t)split[c];
    }
    return total;
}

/* Cuts off what is negative and divides by the sum, which is returned; all alike when there is
 * nothing and `even`. */
static double normalise(const double *noised, size_t n, bool even, float *chance) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fmax(noised[i], 0);
    for (size_t i = 0; i < n; i++)
        chance[i] = sum > 0 ? (float)(fmax(noised[i], 0) / sum) : even ? (float)(1 / (double)n) : 0;
    return sum;
}

/* PAPER: weights of sub-cells from a noised level-2 density, for which half of the grid's share is
 * spent. */
void dpl_adatrace_subgrid(const double *noised, const int32_t *split, size_t cells,
                          float *subgrid) {
    for (size_t c = 0, first = 0; c < cells; c++) {
        size_t n = (size_t)split[c] * (size_t)split[c];
        normalise(noised + first, n, true, subgrid + first);
        first += n;
    }
}

void dpl_adatrace_markov(const double *noised, size_t side, float *markov) {
    size_t cells = side * side;
    double row[DPL_ADATRACE_SIDE_MOST * DPL_ADATRACE_SIDE_MOST];
    for (size_t a = 0; a < cells; a++) {
        for (size_t b = 0; b < cells; b++)
            row[b] = dpl_king_distance(side, a, b) == 1 ? noised[a * cells + b] : 0;
        normalise(row, cells, false, markov + a * cells);
    }
}

bool dpl_adatrace_pairs(const double *noised, size_t side, float *pairs) {
    size_t n = side * side * side * side;
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += rint(fmax(noised[i], 0));
    for (size_t i = 0; i < n; i++) pairs[i] = sum > 0 ? (float)(rint(fmax(noised[i], 0)) / sum) : 0;
    return sum > 0;
}

/* ---- lengths ---- */

/* On 0 ... most, summing to 1. */
static void family(enum dpl_adatrace_family which, double mean, size_t most, double chance[BINS]) {
    double sum = 0, value = 1;
    for (size_t i = 0; i < BINS; i++) {
        if (i > 0 && which == DPL_FAMILY_GEOMETRIC) value *= mean / (1 + mean);
        if (i > 0 && which == DPL_FAMILY_POISSON) value *= mean / (double)i;
        chance[i] = i <= most ? value : 0;
        sum += chance[i];
    }
    for (size_t i = 0; i < BINS; i++) chance[i] /= sum;
}

static double earth_moved(const double a[BINS], const double b[BINS]) {
    double carried = 0, work = 0;
    for (size_t i = 0; i < BINS; i++) {
        carried += a[i] - b[i];
        work += fabs(carried);
    }
    return work;
}

/* PAPER: longest, mean and family all come from one noised histogram, by king's distance instead of
 * by pair. */
enum dpl_adatrace_family dpl_adatrace_steps(const double *noised, double reach, float *chance) {
    double seen[BINS] = {0}, sum = 0, mean = 0, least = INFINITY;
    enum dpl_adatrace_family best = DPL_FAMILY_UNIFORM;
    size_t most = 0;
    for (size_t i = 0; i < BINS; i++)
        if (noised[i] > reach) most = i;
    for (size_t i = 0; i <= most; i++) sum += seen[i] = fmax(noised[i], 0);
    if (!(sum > 0)) sum = seen[0] = 1; // nothing but noise: straight on
    for (size_t i = 0; i <= most; i++) mean += (double)i * (seen[i] /= sum);
    for (int which = DPL_FAMILY_UNIFORM; which <= DPL_FAMILY_POISSON; which++) {
        double candidate[BINS];
        family((enum dpl_adatrace_family)which, mean, most, candidate);
        double work = earth_moved(seen, candidate);
        if (!(work < least)) continue;
        least = work;
        best = (enum dpl_adatrace_family)which;
        for (size_t i = 0; i < BINS; i++) chance[i] = (float)candidate[i];
    }
    return best;
}
