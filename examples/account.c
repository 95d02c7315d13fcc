/* What a release costs, and how much noise a promise needs.
 *
 *     cc account.c $(pkg-config --cflags --libs dploc) && ./a.out
 */
#include <dploc_privacy.h>

int main(void) {
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_event events[] = {
        {.name = "counts", .kind = DPL_EVENT_GAUSSIAN, .sigma = 5},
        {.name = "train", .kind = DPL_EVENT_POISSON, .sigma = 1.2, .rate = 0.001, .steps = 10000}};
    const double share[] = {0.2, 0.8}, delta = 1e-8;
    struct dpl_bound bound;
    if (!run) return 1;
    if (dpl_account(run, events, 2, delta, &bound) != DPL_OK) goto failed;
    printf("these two cost epsilon %.3f at delta %g, by %s\n", bound.epsilon, delta,
           dpl_bound_name(bound.kind));
    if (dpl_account_solve(run, events, share, 2, 1, delta) != DPL_OK) goto failed;
    printf("epsilon 1 needs sigma %.2f for %s and %.2f for %s\n", events[0].sigma, events[0].name,
           events[1].sigma, events[1].name);
    dpl_run_free(run);
    return 0;
failed:
    fprintf(stderr, "%s\n", dpl_run_message(run));
    dpl_run_free(run);
    return 1;
}
