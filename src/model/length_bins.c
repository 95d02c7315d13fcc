#include "model/length_bins.h"

#include <math.h>

static const size_t SINGLE_BINS = DPL_LENGTH_SINGLE - 1; // 2 ... 32
static const size_t GROWING_BINS =
    DPL_LENGTH_BINS - DPL_LENGTH_SINGLE; // the rest but for the open one

int32_t dpl_length_bin_top(size_t bin) {
    if (bin < SINGLE_BINS) return (int32_t)bin + 2;
    if (bin >= SINGLE_BINS + GROWING_BINS - 1) return DPL_LENGTH_MOST;
    double part = (double)(bin - SINGLE_BINS + 1) / (double)GROWING_BINS;
    return (int32_t)(DPL_LENGTH_SINGLE * pow((double)DPL_LENGTH_MOST / DPL_LENGTH_SINGLE, part));
}

size_t dpl_length_bin(size_t visits) {
    if (visits > DPL_LENGTH_MOST) return DPL_LENGTH_BINS - 1;
    size_t bin = visits <= DPL_LENGTH_SINGLE ? (visits < 2 ? 0 : visits - 2) : SINGLE_BINS;
    while ((size_t)dpl_length_bin_top(bin) < visits) bin++;
    return bin;
}
