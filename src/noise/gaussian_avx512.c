/* The Gaussian kernel for AVX-512 (F and DQ); this file alone is compiled with -mavx512f -mavx512dq
 * and runs only where the processor has both. */
#include "noise/gaussian_inner.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>

#define LANES 8
#define KERNEL dpl_gaussian_avx512
#define VECTOR_SQRT(x) ((vector_f64)_mm512_sqrt_pd((__m512d)(x)))
#define VECTOR_MASK(mask) ((unsigned)_mm512_movepi64_mask((__m512i)(mask)))
#define VECTOR_DOUBLE(x) ((vector_f64)_mm512_cvtepi64_pd((__m512i)(x)))

#include "noise/gaussian_vector.h"

bool dpl_gaussian_has_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}
#else
bool dpl_gaussian_has_avx512(void) { return false; }

size_t dpl_gaussian_avx512(const struct dpl_gaussian_job *job, const uint64_t *words,
                           size_t n_pairs, int64_t *noise, uint16_t *doubt) {
    return dpl_gaussian_plain(job, words, n_pairs, noise, doubt);
}
#endif
