/* What tests share: cmocka in the order it wants, a quiet run, soak-scaled counts, temporary files.
 */
#ifndef DPL_TEST_SUPPORT_H
#define DPL_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

/* A run without callbacks; fails the test when memory is short. */
struct dpl_run *test_run(int threads);
/* Fails the test with the run's message unless status is DPL_OK. */
#define assert_ok(run, call)                                                                       \
    do {                                                                                           \
        enum dpl_status status_ = (call);                                                          \
        if (status_ != DPL_OK)                                                                     \
            fail_msg("%s: status %d: %s", #call, (int)status_, dpl_run_message(run));              \
    } while (0)
/* In double, where cmocka compares floats; NaN is near nothing. */
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double a_ = (double)(a), b_ = (double)(b), tolerance_ = (double)(tolerance);               \
        if (!(a_ - b_ <= tolerance_ && b_ - a_ <= tolerance_))                                     \
            fail_msg("%s = %.9g, %s = %.9g: more than %g apart", #a, a_, #b, b_, tolerance_);      \
    } while (0)
/* `count` times DPLOC_SOAK (an environment variable, default 1). */
size_t test_soak(size_t count);
/* Reproducible random numbers for tests: advances *state. */
uint64_t test_random(uint64_t *state);
/* A uniform double in [0, 1). */
double test_uniform(uint64_t *state);
/* About a standard normal: the sum of twelve uniforms. */
double test_gauss(uint64_t *state);
/* Pearson's statistic of `count` (cells) against n * chance (NULL: all alike), as a standard normal
 * by Wilson and Hilferty: above 4.75 with probability 1e-6. Cells expected below 5 are pooled. */
double test_chi2(const double *count, const double *chance, size_t cells, double n);
/* A directory of its own under the working directory; removed with test_directory_remove. */
char *test_directory(void);
void test_directory_remove(char *directory);
/* Writes a file; the path is `directory/name`, returned in a buffer that lives until the next four
 * calls. */
const char *test_file(const char *directory, const char *name, const void *content, size_t length);
const char *test_path(const char *directory, const char *name);

/* Cleaned trips of a file in the region "simulated", and what was read. */
struct dpl_cleaned *test_read_city(struct dpl_run *run, const char *path,
                                   struct dpl_read_facts *facts);
/* Fails unless both hold the same trips in the same order. */
void assert_same_trips(const struct dpl_cleaned *a, const struct dpl_cleaned *b);
/* dpl_fit of one file. */
enum dpl_status test_fit(struct dpl_run *run, const char *path, const struct dpl_read_options *read,
                         const struct dpl_area *area, const struct dpl_fit_options *options,
                         struct dpl_fit **fit);
/* dpl_sample_write from a model's file. */
enum dpl_status test_sample(struct dpl_run *run, const char *model_path,
                            const struct dpl_sample_options *options, const char *path);

#endif
