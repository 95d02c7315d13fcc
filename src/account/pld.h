/* A privacy loss distribution on a grid: both distributions of a pair at once.
 *
 * Point k of the grid is the loss L = kh. Its probability under Q (upper) is e^{kh} times that
 * under P (lower), so remove and add are two readings of the same numbers. weight[k - first] is the
 * larger of the two, P's below 0 and Q's above: it never underflows where it matters.
 */
#ifndef DPL_ACCOUNT_PLD_H
#define DPL_ACCOUNT_PLD_H

#include "base/base.h"
#include "account/loss.h"

struct dpl_loss_grid {
    double h;
    int64_t first;
    size_t n;
    double *weight; /* (n) */
    double
        remove_infinite; /* bounds on the probability, under Q, of a loss beyond the grid's top */
    double add_infinite; /* ... and, under P, of one below its bottom */
    double error;        /* the relative error of the weight at loss l is at most */
    double edge_error, edge_rate; /* error + edge_error (edge_rate + |l|) */
};

/* One step of a part on a grid of width h; losses rarer than `rare` are cut off. The pair on the
 * grid dominates the part's (a mechanism with it could imitate the part). Caller frees grid->weight
 * with dpl_free. */
enum dpl_status dpl_loss_grid_make(struct dpl_run *run, const struct dpl_part *part, double h,
                                   double rare, struct dpl_loss_grid *grid);
/* Where the noise of a part is cut for `rare`: x_low < 0 < 1 < x_high. */
void dpl_loss_range(const struct dpl_part *part, double rare, double *x_low, double *x_high);
/* Between the losses there. */
double dpl_loss_width(const struct dpl_part *part, double rare);

#endif
