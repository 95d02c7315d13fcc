/* Operations on the rows of a matrix whose columns belong together: softmax down the columns, and
 * the inner loop of a dense shortest-path search. All are elementwise over a row, in vector code.
 */
#ifndef DPL_METHOD_PAPER_NET_COLUMNS_H
#define DPL_METHOD_PAPER_NET_COLUMNS_H

#include "base/base.h"

/* base (n) + shift, nothing below 0: one row of hidden values. */
void dpl_columns_relu(const float *base, float shift, size_t n, float *out);

/* norm (n) = log of the sum of exp down each column of z (rows, n). What is not finite counts as
 * zero probability. scratch (2 n). */
void dpl_columns_log_sum_exp(const float *z, size_t rows, size_t n, float *norm, float *scratch);

/* One round of Dijkstra: node `y` is settled at `distance_y`, and may be reached from x at the
 * further cost of norm[x] - z[x], at least 0; NaN is no edge. closed (n) is 0 for open nodes and
 * infinity for settled ones. Returns the open node that is nearest now, the first of equals; n when
 * none can be reached. */
size_t dpl_columns_relax(const float *z, const float *norm, size_t n, int32_t y, float distance_y,
                         const float *closed, float *distance, int32_t *next);

#endif
