/* The one matrix product of the program: f32, row-major, single-threaded, wrapped so that a call
 * gives the same bits whatever the number of threads around it. */
#ifndef DPL_METHOD_PAPER_NET_PRODUCT_H
#define DPL_METHOD_PAPER_NET_PRODUCT_H

#include "base/base.h"

/* Rows of a product that must be a function of that row alone come in multiples of this (see
 * dpl_product_rows_alike): a multiple of the 4, 6, 8 and 12 rows that kernels take at a time, and
 * more than the 16 below which oneDNN 2.6 on AVX-512 takes another kernel. */
enum { DPL_PRODUCT_ROWS = 24 };

/* C (m, n) = alpha * op(A) (m, k) * op(B) (k, n) + beta * C; op is 'N' or 'T'; lda, ldb, ldc are
 * the strides of the rows as stored. With beta = 0 the old C is not read (it may be NaN). May be
 * called in and outside of parallel regions; never starts threads. */
void dpl_product(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha, const float *a,
                 size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc);
/* The same in plain C, every element summed in the order of k: the reference, and the fallback. */
void dpl_product_plain(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha,
                       const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                       size_t ldc);

/* Whether every row of op(A) op(B), A not transposed, has the same bits wherever it stands, for all
 * m that are multiples of DPL_PRODUCT_ROWS up to max_m: identical random rows go in, identical rows
 * must come out. PRIVACY: with a product that fails this, removing one unit would move the last
 * bits of the gradients of others. (oneDNN 2.6 on AVX2 fails it when m leaves a rest of 1, 2 or 3
 * by 6.) *alike is the answer. */
enum dpl_status dpl_product_rows_alike(struct dpl_run *run, char op_b, size_t max_m, size_t n,
                                       size_t k, bool *alike);

/* "oneDNN 2.6.3 avx2": library, version and the kernel it chose on this CPU. Checkpoints are bound
 * to it, since another kernel gives other bits. Returns `buffer`. */
const char *dpl_product_name(char *buffer, size_t size);
/* Notes it to the run when the library chose a kernel below what the CPU can do. */
void dpl_product_warn(struct dpl_run *run);

#endif
