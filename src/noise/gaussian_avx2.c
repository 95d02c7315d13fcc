/* The Gaussian kernel for AVX2; this file alone is compiled with -mavx2 and runs only where the
 * processor has it. 3.2 ns a normal on a server core of 2021, 4.8 ns with the keystream and all. */
#include "noise/gaussian_inner.h"

#ifdef __AVX2__
#include <immintrin.h>

#define LANES 4
#define KERNEL dpl_gaussian_avx2
#define VECTOR_SQRT(x) ((vector_f64)_mm256_sqrt_pd((__m256d)(x)))
#define VECTOR_MASK(mask) ((unsigned)_mm256_movemask_pd((__m256d)(mask)))
#define VECTOR_DOUBLE(x) from_integer((__m256i)(x))

/* The nearest double of a signed 64-bit integer, for which AVX2 has no instruction. Each half
 * becomes the low digits of a double with a known head, 2^84 and 2^52; the heads are taken off
 * exactly and the one rounding is in the last sum. */
static inline __m256d from_integer(__m256i x) {
    __m256i high =
        _mm256_xor_si256(_mm256_srli_epi64(x, 32), _mm256_set1_epi64x(0x4530000080000000));
    __m256i low = _mm256_blend_epi32(x, _mm256_set1_epi64x(0x4330000000000000), 0xAA);
    __m256d head =
        _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_set1_pd(0x1p84 + 0x1p63 + 0x1p52));
    return _mm256_add_pd(head, _mm256_castsi256_pd(low));
}

#include "noise/gaussian_vector.h"

bool dpl_gaussian_has_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
bool dpl_gaussian_has_avx2(void) { return false; }

size_t dpl_gaussian_avx2(const struct dpl_gaussian_job *job, const uint64_t *words, size_t n_pairs,
                         int64_t *noise, uint16_t *doubt) {
    return dpl_gaussian_plain(job, words, n_pairs, noise, doubt);
}
#endif
