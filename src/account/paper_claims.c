/* The settings of the DP-Loc paper, what it claims for them, and what holds.
 *
 * Its theorem (section "Privacy Analysis") is the moments accountant: for every lambda > 0,
 *     epsilon = (alpha_K(lambda) + n alpha_TI(lambda) + n alpha_TPG(lambda) - log delta) / lambda,
 * alpha the log moments, n the number of steps.
 * PAPER: printed are n = epochs |B|/|D| and alpha_K = lambda (lambda+1) / 4 sigma^2. There are
 * |D|/|B| steps in an epoch, and the Gaussian's log moment is lambda (lambda+1) / 2 sigma^2:
 * `corrected` is the theorem with these.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "account/loss.h"

enum { BATCH = 200, EPOCHS = 15 };

static const struct {
    const char *name;
    int64_t trips;
} DATA[] = {{"porto", 450000}, {"sf", 431222}, {"geolife", 59907}};

static const struct {
    double epsilon, topk, ti, tpg; /* claimed; sigmas */
} CLAIM[DPL_PAPER_ROWS] = {{1, 3.8, 1.5, 1.6}, {2, 1.9, 1, 1}, {5, 1.6, 0.7, 0.6}};

static struct dpl_event training(const char *name, double sigma, double rate, int64_t steps) {
    struct dpl_event event = {
        .kind = DPL_EVENT_POISSON, .sigma = sigma, .sensitivity = 1, .rate = rate, .steps = steps};
    memcpy(event.name, name, strlen(name));
    return event;
}

struct theorem {
    const struct dpl_event *events; /* (3) */
    double steps;                   /* of each training */
    double k;                       /* alpha_K = lambda (lambda+1) / (k sigma^2) */
    double delta;
};

static double theorem_at(void *user, double lambda) {
    const struct theorem *t = user;
    double sum =
        lambda * (lambda + 1) / (t->k * t->events[0].sigma * t->events[0].sigma) - log(t->delta);
    for (int i = 1; i < 3; i++)
        sum += t->steps * dpl_part_moment(&(struct dpl_part){DPL_PART_POISSON, t->events[i].rate,
                                                             t->events[i].sigma, 1},
                                          lambda + 1)
                              .log;
    return isnan(sum) ? INFINITY : sum / lambda;
}

static double theorem(const struct dpl_event events[3], double steps, double k, double delta) {
    struct theorem t = {events, steps, k, delta};
    double lambda;
    return dpl_minimise(theorem_at, &t, 4, 1e-6, &lambda);
}

enum dpl_status dpl_account_paper(struct dpl_run *run, const char *data, int64_t *trips,
                                  struct dpl_paper_row rows[DPL_PAPER_ROWS]) {
    dpl_run_begin(run);
    size_t d = 0;
    while (d < sizeof DATA / sizeof *DATA && strcmp(DATA[d].name, data)) d++;
    if (d == sizeof DATA / sizeof *DATA)
        return dpl_fail(run, DPL_USAGE,
                        "the paper has no data set '%s'; it has porto, sf and geolife", data);
    const double n = (double)DATA[d].trips, rate = BATCH / n;
    const int64_t steps = EPOCHS * ((DATA[d].trips + BATCH - 1) / BATCH);
    struct dpl_paper_row found[DPL_PAPER_ROWS] = {0};
    for (int r = 0; r < DPL_PAPER_ROWS; r++) {
        struct dpl_paper_row *row = &found[r];
        row->claimed = CLAIM[r].epsilon;
        row->delta = 1 / n;
        row->events[0] = (struct dpl_event){
            .name = "topk", .kind = DPL_EVENT_GAUSSIAN, .sigma = CLAIM[r].topk, .sensitivity = 1};
        row->events[1] = training("ti", CLAIM[r].ti, rate, steps);
        row->events[2] = training("tpg", CLAIM[r].tpg, rate, steps);
        row->printed = theorem(row->events, EPOCHS * rate, 4, row->delta);
        row->corrected = theorem(row->events, (double)steps, 2, row->delta);
        DPL_TRY(dpl_account(run, row->events, 3, row->delta, &row->bound));
    }
    *trips = DATA[d].trips;
    memcpy(rows, found, sizeof found);
    return DPL_OK;
}
