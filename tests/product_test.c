/* The matrix product amid signals. A program of its own: its small heap lies closely around the
 * work space that a kernel uses as its stack. */
#include "support.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "method/paper/net/product.h"

static volatile sig_atomic_t n_signals;

static void count_signal(int number) {
    (void)number;
    n_signals++;
}

/* Products of a shape whose kernel has its stack on the heap, amid signals. The pieces around it
 * are made anew each time, so that the heap's own checks meet what a signal would have written. */
static void signals_do_not_write_into_a_product(void **state) {
    (void)state;
    enum { M = 12, N = 30, K = 1000, SIGNALS = 4000 };
    static const struct itimerval often = {{0, 30}, {0, 30}}, never;
    signal(SIGALRM, count_signal);
    setitimer(ITIMER_REAL, &often, NULL);
    for (n_signals = 0; n_signals < SIGNALS;) {
        float *a = calloc(M * K, sizeof *a), *b = calloc(K * N, sizeof *b),
              *c = calloc(M * N, sizeof *c);
        for (size_t i = 0; i < 10; i++) dpl_product('N', 'N', M, N, K, 1, a, K, b, N, 0, c, N);
        for (size_t i = 0; i < M * N; i++) assert_true(c[i] == 0);
        free(a);
        free(b);
        free(c);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_do_not_write_into_a_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
