/* Functions built twice, for the baseline and for AVX2, and chosen when the program starts.
 *
 * By gcc alone: clang before 18 gives the two versions a name that other files do not find. Not
 * under the sanitizers, which do not get on with ifuncs. Products are never contracted into sums
 * (CMakeLists.txt), so both give the same bits as long as no sum runs across lanes. */
#ifndef DPL_BASE_CLONES_H
#define DPL_BASE_CLONES_H

#if defined(__x86_64__) && defined(__linux__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_ADDRESS__)
#define DPL_CLONES __attribute__((target_clones("default", "avx2")))
#else
#define DPL_CLONES
#endif

#endif
