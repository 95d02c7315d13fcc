/* Diaries: whose trip each trip of a round is.
 *
 *     dpl_habits_read(run, model, &habits)                  once: what the model says of people
 *     dpl_diary_make(run, &habits, errand, n, ...)          for each round of trips
 *
 * Trips are given out in the order of time, each to somebody who is done with the last trip and, as
 * often as the model says, is where the next one begins; preferably on the way home with the last
 * trip of the day. So nobody is in two places at once, days begin and end at home where they can,
 * and the trips themselves stay as they were drawn: where and when they are, no diary changes.
 *
 * PRIVACY: sees the released model and drawn trips. */
#ifndef DPL_SAMPLE_DIARY_H
#define DPL_SAMPLE_DIARY_H

#include "base/random.h"
#include "model/model.h"
#include "model/people.h"

/* Shares; where the model says nothing, its default. */
struct dpl_habits {
    double users[DPL_USER_BINS];   /* by number of trips; all 0: all alike */
    double gaps[DPL_GAPS];         /* of transitions, if ... */
    bool knows_gaps;               /* ... this */
    double near;                   /* of transitions, those to where the last trip ended; 1 */
    double a_day[DPL_DAY_BINS];    /* of days with trips, by how many; all 0: as many as come */
    double mean_trips, mean_a_day; /* of a user, of such a day; 0: not known */
};
enum dpl_status dpl_habits_read(struct dpl_run *run, const struct dpl_model *model,
                                struct dpl_habits *habits);

/* The mean of a user's trips, counting at most that many of each; 0: not known. */
double dpl_habits_kept(const struct dpl_habits *habits, double most);

/* A drawn trip: where and when it begins and ends. */
struct dpl_errand {
    struct dpl_position from, to; /* metres from the box's corner, within it */
    int64_t begin_s, end_s;
    int64_t day; /* local, of the beginning */
};

/* Who makes each trip, and all trips by person and time. Arrays are owned. */
struct dpl_diary {
    size_t n_people;
    uint32_t *person; /* (n) 0 ... n_people - 1 */
    uint32_t *order;  /* (n) trips by person, each person's in the order of time */
};
/* The n errands of about `people` persons in a box of that size. A function of its arguments alone.
 * Caller frees with dpl_diary_free. Cost: n log n; about 60 bytes a trip. */
enum dpl_status dpl_diary_make(struct dpl_run *run, const struct dpl_habits *habits,
                               const struct dpl_errand *errand, size_t n, size_t people,
                               double width_m, double height_m, struct dpl_stream *stream,
                               struct dpl_diary *diary);
void dpl_diary_free(struct dpl_diary *diary);

#endif
