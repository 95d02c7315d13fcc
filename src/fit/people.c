/* See people.h. Cost: a pass over the trips for each table. */
#include "fit/people.h"

#include <math.h>
#include <string.h>

#include "fit/life.h"
#include "fit/trips_max.h"

/* ---- counting ---- */

enum subject { USERS, CHAINS, DAYS };

/* What one user adds to one of the tables: means, so that many trips add no more than few. */
static enum dpl_status put_user(struct dpl_run *run, enum subject subject, size_t n_trips,
                                const struct dpl_life *life, struct dpl_entries *list) {
    const double *values = subject == CHAINS ? life->chains : life->days;
    size_t bins = subject == CHAINS ? DPL_GAPS * DPL_REACHES : 2 * DPL_DAY_BINS,
           n = subject == CHAINS ? life->n_transitions : life->n_days;
    list->n = 0;
    if (subject == USERS) return dpl_entries_put(run, list, dpl_user_bin(n_trips), 1);
    for (size_t i = 0; i < bins; i++)
        if (values[i] > 0) DPL_TRY(dpl_entries_put(run, list, i, values[i] / (double)n));
    return DPL_OK;
}

static enum dpl_status count_users(struct dpl_run *run, const struct dpl_part *part,
                                   enum subject subject, struct dpl_exact *exact) {
    const struct dpl_kept *kept = &part->kept;
    struct dpl_entries list = {0};
    struct dpl_zone *zone = NULL;
    struct dpl_life life = {0};
    enum dpl_status status;
    DPL_GO(dpl_zone_open(run, part->trips->grid.area.zone, &zone));
    for (size_t u = 0; u < kept->n_units; u++) {
        size_t begin = kept->all_start[u], n = kept->all_start[u + 1] - begin;
        if (subject != USERS)
            DPL_GO(dpl_life_look(run, part->trips, zone, kept->all + begin, n, &life));
        DPL_GO(put_user(run, subject, n, &life, &list));
        DPL_GO(dpl_exact_add(run, exact, list.entry, list.n)); // PRIVACY: the whole user at once
    }
done:
    dpl_zone_free(zone);
    dpl_free(list.entry);
    return status;
}

enum dpl_status dpl_count_user_trips(struct dpl_run *run, const void *about,
                                     const struct dpl_part *part, struct dpl_exact *exact) {
    (void)about;
    return count_users(run, part, USERS, exact);
}
enum dpl_status dpl_count_chains(struct dpl_run *run, const void *about,
                                 const struct dpl_part *part, struct dpl_exact *exact) {
    (void)about;
    return count_users(run, part, CHAINS, exact);
}
enum dpl_status dpl_count_days(struct dpl_run *run, const void *about, const struct dpl_part *part,
                               struct dpl_exact *exact) {
    (void)about;
    return count_users(run, part, DAYS, exact);
}

/* ---- measuring ---- */

struct table {
    const char *name, *tensor;
    struct dpl_shape shape;
    dpl_counting *count;
};

/* In the order of `subject`. */
static const struct table TABLES[] = {
    {"users", DPL_MODEL_USERS, {1, {DPL_USER_BINS}}, dpl_count_user_trips},
    {"chains", DPL_MODEL_CHAINS, {2, {DPL_GAPS, DPL_REACHES}}, dpl_count_chains},
    {"days", DPL_MODEL_DAYS, {2, {2, DPL_DAY_BINS}}, dpl_count_days},
};
enum { N_TABLES = sizeof TABLES / sizeof *TABLES };
static const double SHARE = 0.005; // of the squared budget, each

void dpl_people_plan(struct dpl_mechanism *ask, size_t *n) {
    for (size_t i = 0; i < N_TABLES; i++) {
        struct dpl_mechanism *mechanism = &ask[(*n)++];
        *mechanism = (struct dpl_mechanism){
            .kind = DPL_EVENT_GAUSSIAN, .share = SHARE, .clip = 1, .growth = DPL_GROWTH_NONE};
        strcpy(mechanism->name, TABLES[i].name);
    }
}

/* Sets to 0 what noise may have made: a bin counts that exceeds it beyond doubt, or that exceeds it
 * and lies side by side with the fullest one and others that do. A false bin of a thousand trips
 * would outweigh all users of ten. */
static void keep_clear(double *value, size_t n, double sigma) {
    static const double NOISES = 2.5, CLEAR = 4.5;
    size_t first = 0, end;
    for (size_t i = 0; i < n; i++)
        if (value[i] > value[first]) first = i;
    for (end = first; end < n && value[end] > NOISES * sigma;) end++;
    while (first > 0 && end > first && value[first - 1] > NOISES * sigma) first--;
    for (size_t i = 0; i < n; i++)
        if (!(i >= first && i < end) && !(value[i] > CLEAR * sigma)) value[i] = 0;
}

/* Shares; all zero where nothing exceeds the noise: sampling goes by its defaults then. */
static void estimate(const struct dpl_noised *noised, bool users, size_t n, double *value,
                     float *shares) {
    double total = 0, sigma = dpl_noised_deviation(noised);
    for (size_t i = 0; i < n; i++) value[i] = dpl_noised_value(noised, i);
    if (users) keep_clear(value, n, sigma);
    dpl_fit_counts(value, n);
    for (size_t i = 0; i < n; i++) total += value[i];
    bool clear = total > (users ? 0 : 3 * sigma * sqrt((double)n));
    for (size_t i = 0; i < n; i++) shares[i] = (float)(clear ? value[i] / total : 0);
}

/* `value`: room for DPL_USER_BINS, where what is estimated goes, too. */
static enum dpl_status measure(struct dpl_run *run, struct dpl_release *release,
                               struct dpl_parts *parts, enum subject subject,
                               struct dpl_model *model, double *value, double *sigma) {
    const struct table *table = &TABLES[subject];
    const struct dpl_question question = {
        .name = table->name, .shape = table->shape, .count = table->count};
    struct dpl_noised *noised = NULL;
    float *shares;
    DPL_TRY(dpl_release_measure(run, release, question, parts, &noised));
    enum dpl_status status = dpl_model_add(run, model, table->tensor, DPL_TENSOR_F32,
                                           table->shape.rank, table->shape.size, &shares);
    if (status == DPL_OK)
        estimate(noised, subject == USERS, dpl_shape_size(table->shape), value, shares);
    *sigma = dpl_noised_deviation(noised);
    dpl_noised_free(noised);
    return status;
}

enum dpl_status dpl_people_users(struct dpl_run *run, struct dpl_release *release,
                                 struct dpl_parts *parts, struct dpl_model *model,
                                 struct dpl_crowd *crowd) {
    DPL_TRY(measure(run, release, parts, USERS, model, crowd->users, &crowd->sigma));
    if (release->options->budget.trips_max > 0) return DPL_OK;
    release->trips_max = dpl_trips_max_choose(crowd);
    if (json_object_set_new(model->options, DPL_MODEL_TRIPS_MAX,
                            json_integer((json_int_t)release->trips_max)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    return DPL_OK;
}

enum dpl_status dpl_people_measure(struct dpl_run *run, struct dpl_release *release,
                                   struct dpl_parts *parts, struct dpl_model *model) {
    double value[DPL_USER_BINS], sigma;
    DPL_TRY(measure(run, release, parts, CHAINS, model, value, &sigma));
    return measure(run, release, parts, DAYS, model, value, &sigma);
}
