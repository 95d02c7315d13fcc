/* From LDPTrace's counts to chances. Everything here is post-processing of what units reported. */
#include <math.h>

#include "method/ldptrace/ldptrace.h"

static const double NINE_OF_TEN = 0.9;

size_t dpl_ldptrace_to(size_t side, size_t cell, size_t way) {
    size_t move = way < 4 ? way : way + 1; // of nine, without staying
    size_t row = cell / side + move / 3, column = cell % side + move % 3; // one too many each
    return row >= 1 && row <= side && column >= 1 && column <= side ? (row - 1) * side + column - 1
                                                                    : SIZE_MAX;
}

size_t dpl_ldptrace_way(size_t side, size_t from, size_t to) {
    size_t move = (to / side + 1 - from / side) * 3 + to % side + 1 - from % side;
    return move < 4 ? move : move - 1;
}

size_t dpl_ldptrace_longest(double *counts, size_t n) {
    double sum = 0, so_far = 0;
    for (size_t i = 0; i < n; i++) sum += counts[i] = fmax(counts[i], 0);
    for (size_t i = 0; i < n; i++) {
        so_far += counts[i];
        if (so_far >= NINE_OF_TEN * sum) return i + 1 > 2 ? i + 1 : 2;
    }
    return n;
}

bool dpl_ldptrace_chances(const double *noised, size_t n, float *chance) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fmax(noised[i], 0);
    for (size_t i = 0; i < n; i++) chance[i] = sum > 0 ? (float)(fmax(noised[i], 0) / sum) : 0;
    return sum > 0;
}

void dpl_ldptrace_moves(const double *routes, size_t side, float *moves) {
    size_t cells = side * side;
    for (size_t c = 0; c < cells; c++) {
        double row[DPL_LDPTRACE_WAYS + 1];
        for (size_t w = 0; w < DPL_LDPTRACE_WAYS; w++)
            row[w] = dpl_ldptrace_to(side, c, w) == SIZE_MAX
                         ? 0
                         : routes[cells + c * DPL_LDPTRACE_WAYS + w];
        row[DPL_LDPTRACE_WAYS] = routes[cells + cells * DPL_LDPTRACE_WAYS + c];
        dpl_ldptrace_chances(row, DPL_LDPTRACE_WAYS + 1, moves + c * (DPL_LDPTRACE_WAYS + 1));
    }
}
