/* Which days trips are on.
 *
 *     the period: as the caller says; else as the fit declared it; else a typical week
 *     a trip's day, given its period of the day: by what the model says of weekdays, and evenly
 *     over the days of one weekday; where the model says nothing, evenly over all days
 *
 * PRIVACY: sees the released model and public options. */
#ifndef DPL_SAMPLE_CALENDAR_H
#define DPL_SAMPLE_CALENDAR_H

#include "base/date.h"
#include "base/random.h"
#include "model/model.h"

/* A week without a change of clocks anywhere: Monday to Sunday. */
#define DPL_TYPICAL_WEEK "2025-03-10..2025-03-16"

struct dpl_calendar {
    struct dpl_days days; /* that trips are drawn for */
    bool typical;         /* nobody said which */
    size_t periods;
    double *upto;  /* (periods, DPL_WEEKDAYS) chance of a weekday or one before it */
    double volume; /* trips of these days, as a part of those of the fit's period */
};
/* dates NULL: not said. Caller frees with dpl_calendar_free. */
enum dpl_status dpl_calendar_new(struct dpl_run *run, const struct dpl_model *model,
                                 const char *dates, struct dpl_calendar *calendar);
void dpl_calendar_free(struct dpl_calendar *calendar);
/* A day since 1970. */
int64_t dpl_calendar_draw(const struct dpl_calendar *calendar, struct dpl_stream *stream,
                          size_t period);

#endif
