/* See weak.h. */
#include "fit/weak.h"

#include "base/cleaned.h"

#include <math.h>
#include <stdio.h>

/* From here on a promise is told to be weak: e^10 is odds of 22026 to 1. */
static const double TOLD_EPSILON = 10;
/* A share of dropped trips that is told. */
static const double TOLD_DROPPED = 0.1;

enum dpl_status dpl_weak_check(struct dpl_run *run, const struct dpl_fit_options *options,
                               double epsilon) {
    const struct dpl_budget *budget = &options->budget;
    // What is NOT PRIVATE says so by itself.
    if (options->accept_weak || isinf(epsilon) || budget->insecure_seed) return DPL_OK;
    if (epsilon > DPL_WEAK_EPSILON)
        return dpl_fail(run, DPL_REFUSED,
                        "epsilon %.6g protects nobody: whoever takes it for 50:50 that someone is "
                        "in the data may be certain afterwards. Ask for at most %g "
                        "(`budget.epsilon`; 1 is common), or accept it with `fit.accept_weak`, "
                        "which the certificate then says",
                        epsilon, DPL_WEAK_EPSILON);
    if (budget->delta >= DPL_WEAK_DELTA)
        return dpl_fail(run, DPL_REFUSED,
                        "delta %.3g protects nobody: with that chance anyone's trips may be "
                        "published as they are. Ask for less than %g (`budget.delta`; below one in "
                        "a hundred times the number of trips is advised), or accept it with "
                        "`fit.accept_weak`, which the certificate then says",
                        budget->delta, DPL_WEAK_DELTA);
    return DPL_OK;
}

/* The reasons that there are, with their counts. */
static void list_drops(const int64_t *dropped, char *text, size_t size) {
    static const char *const WHY[DPL_DROPS] = {"leave the box", "are too fast",
                                               "have a gap",    "have fewer than two visits",
                                               "name no user",  "are of other days"};
    size_t used = 0;
    for (int i = 0; i < DPL_DROPS; i++)
        if (dropped[i] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%lld %s", used ? ", " : "",
                                     (long long)dropped[i], WHY[i]);
}

void dpl_weak_tell_dropped(struct dpl_run *run, const struct dpl_read_facts *facts) {
    int64_t dropped = 0;
    char reasons[256] = "";
    for (int i = 0; i < DPL_DROPS; i++) dropped += facts->trips_dropped[i];
    if (facts->trips_read == 0)
        dpl_note(run, "warning, for your eyes: there is not one trip in the data");
    if ((double)dropped <= TOLD_DROPPED * (double)facts->trips_read) return;
    list_drops(facts->trips_dropped, reasons, sizeof reasons);
    dpl_note(run,
             "warning, for your eyes: %lld of %lld trips are dropped: %s. See that the box is "
             "right (`area`); `area.speed_limit_kmh`, `read.gap_limit_s` and `read.drop_points` "
             "set the limits",
             (long long)dropped, (long long)facts->trips_read, reasons);
}

/* Trips of each user, and of the one who has most. */
struct by_user {
    int64_t *count; /* (n_users) */
    int64_t most;
};

static enum dpl_status add_trips(struct dpl_run *run, void *context,
                                 const struct dpl_cleaned *trips) {
    struct by_user *by_user = context;
    (void)run;
    for (size_t i = 0; i < trips->n_trips; i++)
        if (trips->user[i] >= 0 && ++by_user->count[trips->user[i]] > by_user->most)
            by_user->most = by_user->count[trips->user[i]];
    return DPL_OK;
}

static enum dpl_status most_trips(struct dpl_run *run, const struct dpl_cleaned *trips,
                                  int64_t *most) {
    struct by_user by_user = {.count = dpl_alloc(run, trips->n_users, sizeof *by_user.count)};
    if (!by_user.count) return DPL_SYSTEM;
    enum dpl_status status = dpl_cleaned_each(run, trips, add_trips, &by_user);
    *most = by_user.most;
    dpl_free(by_user.count);
    return status;
}

enum dpl_status dpl_weak_tell_users(struct dpl_run *run, const struct dpl_cleaned *trips,
                                    const struct dpl_budget *budget) {
    int64_t most;
    if (budget->unit != DPL_UNIT_TRIP || isinf(budget->epsilon) || trips->n_users == 0)
        return DPL_OK;
    DPL_TRY(most_trips(run, trips, &most));
    if (most < 2 || (double)most * budget->epsilon <= TOLD_EPSILON) return DPL_OK;
    // Group privacy: adding or removing k units changes odds by at most e^(k epsilon).
    dpl_note(run,
             "warning, for your eyes: one user has %lld trips, and the promise is for one trip. "
             "For all trips of that user together it is epsilon %.6g, which protects little; "
             "`budget.unit` user protects persons",
             (long long)most, (double)most * budget->epsilon);
    return DPL_OK;
}
