/* See calendar.h.
 *
 * The model's shares by weekday and period are of the fit's whole period; over the number of such
 * weekdays in it they are rates of one day. Without a declared period every weekday counts once. */
#include "sample/calendar.h"

#include <math.h>

static enum dpl_status model_days(struct dpl_run *run, const struct dpl_model *model,
                                  struct dpl_days *days) {
    json_t *declared = json_object_get(model->options, "dates");
    *days = (struct dpl_days){0};
    if (!declared) return DPL_OK;
    if (json_is_string(declared) &&
        dpl_days_parse(run, "read.dates", json_string_value(declared), days) == DPL_OK)
        return DPL_OK;
    return dpl_fail(run, DPL_BAD_DATA, "the model's option \"dates\" is no period of days");
}

/* Shares (DPL_WEEKDAYS, periods) of the model; NULL: it has none. */
static enum dpl_status model_shares(struct dpl_run *run, const struct dpl_model *model,
                                    size_t periods, const float **shares) {
    *shares = NULL;
    if (!dpl_model_has(model, DPL_MODEL_WEEKDAYS)) return DPL_OK;
    DPL_TRY(dpl_model_get(run, model, DPL_MODEL_WEEKDAYS, DPL_TENSOR_F32, 2,
                          (size_t[]){DPL_WEEKDAYS, periods}, shares));
    for (size_t i = 0; i < DPL_WEEKDAYS * periods; i++)
        if (!((*shares)[i] >= 0 && (*shares)[i] < 1e30f))
            return dpl_fail(run, DPL_BAD_DATA,
                            "the model's tensor \"" DPL_MODEL_WEEKDAYS
                            "\" holds a number that is negative or not finite");
    return DPL_OK;
}

/* Trips of one day of that weekday, as a part of those of the fit's period (n 0: a week). */
static double rate(const float *shares, struct dpl_days fitted, int weekday, size_t period,
                   size_t periods) {
    int64_t n = fitted.n ? dpl_days_of(fitted, weekday) : 1;
    double all = fitted.n ? (double)fitted.n : DPL_WEEKDAYS;
    if (!shares) return 1 / (all * (double)periods);
    return n ? (double)shares[(size_t)weekday * periods + period] / (double)n : 0;
}

/* The chances of weekdays at one period, summed up; and what they add to the volume. */
static double sum_up(struct dpl_calendar *calendar, const float *shares, struct dpl_days fitted,
                     size_t period) {
    double *upto = calendar->upto + period * DPL_WEEKDAYS, sum = 0, even = 0;
    for (int w = 0; w < DPL_WEEKDAYS; w++) {
        double n = (double)dpl_days_of(calendar->days, w);
        upto[w] = sum += n * rate(shares, fitted, w, period, calendar->periods);
    }
    for (int w = 0; w < DPL_WEEKDAYS; w++)
        // No trip on any of these days at that period: then on any of them.
        upto[w] = sum > 0
                      ? upto[w] / sum
                      : (even += (double)dpl_days_of(calendar->days, w)) / (double)calendar->days.n;
    return sum;
}

enum dpl_status dpl_calendar_new(struct dpl_run *run, const struct dpl_model *model,
                                 const char *dates, struct dpl_calendar *made) {
    struct dpl_calendar calendar = {.periods = (size_t)model->grid.area.periods};
    struct dpl_days fitted;
    const float *shares;
    double here = 0, there = 0;
    DPL_TRY(model_days(run, model, &fitted));
    DPL_TRY(model_shares(run, model, calendar.periods, &shares));
    calendar.typical = !dates && !fitted.n;
    calendar.days = fitted;
    if (dates || calendar.typical)
        DPL_TRY(
            dpl_days_parse(run, "sample.date", dates ? dates : DPL_TYPICAL_WEEK, &calendar.days));
    calendar.upto = dpl_alloc(run, calendar.periods * DPL_WEEKDAYS, sizeof *calendar.upto);
    if (!calendar.upto) return DPL_SYSTEM;
    for (size_t p = 0; p < calendar.periods; p++) {
        here += sum_up(&calendar, shares, fitted, p);
        for (int w = 0; w < DPL_WEEKDAYS; w++)
            there += (double)(fitted.n ? dpl_days_of(fitted, w) : 1) *
                     rate(shares, fitted, w, p, calendar.periods);
    }
    // A period that the fit did not know of is taken for the data's own.
    calendar.volume = fitted.n && there > 0 ? here / there : 1;
    *made = calendar;
    return DPL_OK;
}

void dpl_calendar_free(struct dpl_calendar *calendar) {
    dpl_free(calendar->upto);
    *calendar = (struct dpl_calendar){0};
}

int64_t dpl_calendar_draw(const struct dpl_calendar *calendar, struct dpl_stream *stream,
                          size_t period) {
    const double *upto = calendar->upto + period * DPL_WEEKDAYS;
    double u = dpl_stream_uniform(stream);
    int weekday = 0;
    // The last weekday that occurs takes what rounding leaves over.
    for (int w = 0; w < DPL_WEEKDAYS; w++)
        if (upto[w] > (w ? upto[w - 1] : 0)) {
            weekday = w;
            if (u < upto[w]) break;
        }
    int64_t wait = (weekday - dpl_weekday(calendar->days.first) + DPL_WEEKDAYS) % DPL_WEEKDAYS,
            n = dpl_days_of(calendar->days, weekday);
    return calendar->days.first + wait +
           DPL_WEEKDAYS * (int64_t)dpl_stream_below(stream, (uint64_t)n);
}
