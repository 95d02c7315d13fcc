/* What is too small for a normal number becomes 0 at once.
 *
 * Processors take a hundred times as long for a product that ends between 0 and the smallest normal
 * number. Where such products are many and do not matter:
 *
 *     uint64_t before = dpl_underflow_to_zero();
 *     ...
 *     dpl_underflow_as(before);
 *
 * Of the calling thread alone. Elsewhere than on x86-64 and ARM64 nothing changes. */
#ifndef DPL_BASE_UNDERFLOW_H
#define DPL_BASE_UNDERFLOW_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
static inline uint64_t dpl_underflow_state(void) { return _mm_getcsr(); }
static inline void dpl_underflow_as(uint64_t state) { _mm_setcsr((unsigned)state); }
enum { DPL_UNDERFLOW_ZERO = 0x8040 }; // results and operands
#elif defined(__aarch64__)
static inline uint64_t dpl_underflow_state(void) {
    uint64_t state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    return state;
}
static inline void dpl_underflow_as(uint64_t state) {
    __asm__ volatile("msr fpcr, %0" : : "r"(state));
}
enum { DPL_UNDERFLOW_ZERO = 1 << 24 };
#else
static inline uint64_t dpl_underflow_state(void) { return 0; }
static inline void dpl_underflow_as(uint64_t state) { (void)state; }
enum { DPL_UNDERFLOW_ZERO = 0 };
#endif

/* Returns what to go back to. */
static inline uint64_t dpl_underflow_to_zero(void) {
    uint64_t before = dpl_underflow_state();
    dpl_underflow_as(before | DPL_UNDERFLOW_ZERO);
    return before;
}

#endif
