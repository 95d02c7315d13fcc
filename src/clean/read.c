/* See read.h. */
#include "clean/read.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/trips.h"
#include "clean/clean.h"
#include "ingest/hint.h"

void dpl_read_facts_free(struct dpl_read_facts *facts) { dpl_free(facts); }

/* Data that yields nothing is an error with the likeliest reason, not an empty success.
 * PRIVACY: an exact predicate of the data, so that no fit asks it: dpl_fit runs on an empty set. */
static enum dpl_status check_yield(struct dpl_run *run, const struct dpl_trips *source,
                                   const struct dpl_read_facts *facts,
                                   const struct dpl_cleaned *trips) {
    if (facts->points == 0) {
        for (int reason = 0; reason < DPL_REJECTS; reason++)
            if (facts->rows_rejected[reason])
                return dpl_fail(run, DPL_BAD_DATA,
                                "none of the %lld rows can be used; the first: %s%s%s",
                                (long long)facts->rows, facts->example[reason],
                                facts->n_hints ? "; hint: " : "", facts->hint[0]);
        if (!source->in_files) return dpl_fail(run, DPL_BAD_DATA, "there are no points");
        return dpl_fail(run, DPL_BAD_DATA, "%s%s: no rows, only a header or nothing at all",
                        strcmp(source->inputs[0], "-") ? source->inputs[0] : "standard input",
                        source->n_inputs > 1 ? " and the others" : "");
    }
    if (!trips || trips->n_trips) return DPL_OK;
    const int64_t *dropped = facts->trips_dropped;
    char other_days[64] = "";
    if (dropped[DPL_DROP_OTHER_DAYS])
        snprintf(other_days, sizeof other_days, ", %lld are of other days than declared",
                 (long long)dropped[DPL_DROP_OTHER_DAYS]);
    return dpl_fail(run, DPL_BAD_DATA,
                    "none of the %lld trips is left after cleaning: %lld leave the box, %lld are "
                    "too fast, %lld have a gap of %g minutes, %lld have fewer than 2 visits%s "
                    "(is the region right? `area`)%s%s",
                    (long long)facts->trips_read, (long long)dropped[DPL_DROP_OUTSIDE_BOX],
                    (long long)dropped[DPL_DROP_TOO_FAST], (long long)dropped[DPL_DROP_GAP],
                    facts->gap_limit_s / 60.0, (long long)dropped[DPL_DROP_TOO_SHORT], other_days,
                    facts->n_hints ? "; hint: " : "", facts->hint[0]);
}

static enum dpl_status clean_onto(struct dpl_run *run, struct dpl_trips *trips,
                                  const struct dpl_read_options *options,
                                  const struct dpl_area *area, struct dpl_room room,
                                  struct ingest_identity *identity, struct dpl_cleaned **cleaned,
                                  struct dpl_read_facts *facts) {
    enum dpl_status status;
    struct cleaner *cleaner = NULL;
    struct dpl_grid grid;
    DPL_GO(dpl_grid_make(run, area, &grid));
    DPL_GO(dpl_cleaner_new(run, &grid, options, facts, &cleaner));
    dpl_cleaner_limit(cleaner, room.memory_bytes, room.by_user);
    DPL_GO(dpl_ingest_trips(run, trips, options, grid.area.zone, dpl_cleaner_sink(cleaner),
                            identity, facts));
    *cleaned = dpl_cleaner_take_trips(cleaner);
    DPL_GO(dpl_cleaned_relieve(run, *cleaned, true));
    facts->cleaned = true;
    facts->trips_read = facts->trips_cut_into;
done:
    dpl_cleaner_free(cleaner);
    return status;
}

/* Facts are given on failure, too. */
enum dpl_status dpl_clean_rows(struct dpl_run *run, struct dpl_trips *trips,
                               const struct dpl_read_options *options, const struct dpl_area *area,
                               struct dpl_room room, struct ingest_identity *identity,
                               struct dpl_cleaned **cleaned, struct dpl_read_facts **facts) {
    struct dpl_read_facts *found = *facts = dpl_alloc(run, 1, sizeof *found);
    if (!found) return DPL_SYSTEM;
    enum dpl_status status =
        area ? clean_onto(run, trips, options, area, room, identity, cleaned, found)
             : dpl_ingest_trips(run, trips, options, options->zone, &DPL_SINK_NOTHING, identity,
                                found);
    if (status != DPL_OK) return status;
    dpl_hints_find(options, area, found);
    // Who guesses shows the facts, and the hints among them.
    for (size_t i = 0; i < found->n_hints && !options->guess; i++)
        dpl_note(run, "hint: %s", found->hint[i]);
    return DPL_OK;
}

enum dpl_status dpl_clean_with(struct dpl_run *run, struct dpl_trips *trips,
                               const struct dpl_read_options *options, const struct dpl_area *area,
                               struct dpl_cleaned **made, struct dpl_read_facts **facts) {
    struct dpl_cleaned *cleaned = NULL;
    struct dpl_read_facts *found = NULL;
    dpl_run_begin(run);
    enum dpl_status status =
        dpl_clean_rows(run, trips, options, area, (struct dpl_room){0}, NULL, &cleaned, &found);
    if (status == DPL_OK) status = check_yield(run, trips, found, cleaned);
    if (status == DPL_OK && made && area) {
        *made = cleaned;
        cleaned = NULL;
    }
    dpl_cleaned_free(cleaned);
    if (facts)
        *facts = found;
    else
        dpl_free(found);
    return status;
}

enum dpl_status dpl_clean(struct dpl_run *run, struct dpl_trips *trips, const struct dpl_area *area,
                          struct dpl_cleaned **cleaned, struct dpl_read_facts **facts) {
    return dpl_clean_with(run, trips, &trips->read, area, cleaned, facts);
}

enum dpl_status dpl_cleaned_read(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                 const struct dpl_read_options *options,
                                 const struct dpl_area *area, struct dpl_cleaned **cleaned,
                                 struct dpl_read_facts **facts) {
    struct dpl_trips *trips = NULL;
    if (facts) *facts = NULL;
    DPL_TRY(dpl_trips_open(run, inputs, n_inputs, options, &trips));
    enum dpl_status status = dpl_clean(run, trips, area, cleaned, facts);
    dpl_trips_free(trips);
    return status;
}
