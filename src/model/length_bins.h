/* Bins for the lengths of trips: public, the same for all data. */
#ifndef DPL_MODEL_LENGTH_BINS_H
#define DPL_MODEL_LENGTH_BINS_H

#include <stddef.h>
#include <stdint.h>

enum { DPL_LENGTH_SINGLE = 32, DPL_LENGTH_MOST = 1440, DPL_LENGTH_BINS = 48 };

/* 2 ... 32 visits singly, then geometric to 1440; the last is open. */
size_t dpl_length_bin(size_t visits);
/* The longest trip of a bin; 1440 for the open one. */
int32_t dpl_length_bin_top(size_t bin);

#endif
