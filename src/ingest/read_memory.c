/* What is in memory, read: a table of another program, through the loop of read.c; and points,
 * which are trips already. See reader.h. */
#include <stdlib.h>
#include <string.h>

#include "base/arrow.h"
#include "base/trips.h"
#include "ingest/identity.h"
#include "ingest/reader.h"

/* ---- a table in memory ---- */

static void say_table(const struct reader *reader, const struct dpl_read_options *options) {
    const struct dpl_read_facts *facts = reader->facts;
    dpl_note(reader->run, "%s: columns %s%s", reader->table.layout->member, facts->columns,
             facts->trips_cut ? dpl_cut_words(options, (char[CUT_WORDS]){0}) : "");
}

/* PRIVACY: what is in memory stays there: scattered rows are sorted in memory, however many they
 * are, and never through a temporary file. */
static enum dpl_status ingest_table(struct dpl_run *run, const struct dpl_arrow *table,
                                    const struct dpl_read_options *options, const char *zone_name,
                                    const struct sink *sink, struct ingest_identity *identity,
                                    struct dpl_read_facts *facts) {
    enum dpl_status status = DPL_OK;
    struct reader reader = {.run = run,
                            .of_table = true,
                            .sink = sink,
                            .identity = identity,
                            .facts = facts,
                            .strict = options->strict};
    struct dpl_zone *zone = NULL;
    dpl_facts_clear(facts);
    if (zone_name && *zone_name) DPL_GO(dpl_zone_open(run, zone_name, &zone));
    DPL_GO(dpl_table_feeder_open(run, table, options, zone, &reader.table));
    dpl_table_feeder_describe(&reader.table, facts);
    say_table(&reader, options);
    DPL_GO(dpl_reader_slots(&reader));
    dpl_progress_begin(run, "reading", "thousand rows", (double)table->rows / 1e3);
    status = dpl_reader_all(&reader, dpl_sorter_bytes((size_t)table->rows));
    dpl_progress_end(run);
    dpl_reader_times(reader.notations, zone_name, facts);
    facts->gap_limit_s = options->gap_limit_s;
done:
    dpl_reader_free(&reader);
    dpl_zone_free(zone);
    return status;
}

/* ---- trips in memory ---- */

enum { SLOT_TRIPS = 1024 };

/* Stretches of one trip. */
struct stretches {
    const struct dpl_stretch **at; /* (n) */
    size_t n, capacity;
};

static int by_user(const void *a, const void *b) {
    const struct dpl_stretch *x = *(const struct dpl_stretch *const *)a,
                             *y = *(const struct dpl_stretch *const *)b;
    if (x->user_key.hi != y->user_key.hi) return x->user_key.hi < y->user_key.hi ? -1 : 1;
    if (x->user_key.lo != y->user_key.lo) return x->user_key.lo < y->user_key.lo ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* All stretches of a trip; where the unit is the user, those of a user side by side. */
static enum dpl_status list_stretches(struct dpl_run *run, const struct dpl_trips *trips, size_t i,
                                      bool users, struct stretches *list) {
    list->n = trips->first_stretch[i + 1] - trips->first_stretch[i];
    DPL_TRY(dpl_grow(run, &list->at, &list->capacity, list->n, sizeof *list->at));
    for (size_t s = 0; s < list->n; s++) list->at[s] = &trips->stretch[trips->first_stretch[i] + s];
    if (users && list->n > 1) qsort(list->at, list->n, sizeof *list->at, by_user);
    return DPL_OK;
}

/* The points to the slot's block, and as rows of the data set to its identifier. */
static void copy_stretch(const struct dpl_trips *trips, const struct dpl_stretch *stretch, size_t k,
                         struct block *block) {
    if (block->identifier)
        dpl_identifier_name(block->identifier, stretch->trip_key, stretch->user_key);
    for (size_t p = stretch->first; p < stretch->first + stretch->n; p++, k++) {
        block->points[k] = (struct point){trips->utc_s[p], trips->lat_deg[p], trips->lon_deg[p]};
        if (block->identifier) dpl_identifier_add(block->identifier, &block->points[k]);
    }
}

/* Stretches begin ... end-1 as one recording. */
static enum dpl_status take_recording(const struct reader *reader, const struct dpl_trips *trips,
                                      const struct stretches *list, size_t begin, size_t end,
                                      struct slot *slot) {
    const struct layout layout = {.split = trips->named ? SPLIT_NONE : SPLIT_GAPS_AND_STAYS,
                                  .timed = true};
    struct block *block = &slot->block;
    struct group group = {.user = list->at[begin]->user_key, .trip = list->at[begin]->trip_key};
    size_t n = 0;
    for (size_t s = begin; s < end; s++) group.n += list->at[s]->n;
    DPL_TRY(dpl_grow(reader->run, &block->points, &block->points_capacity, group.n,
                     sizeof *block->points));
    for (size_t s = begin; s < end; n += list->at[s++]->n)
        copy_stretch(trips, list->at[s], n, block);
    return dpl_reader_deliver(reader, slot, &layout, &group, block->points);
}

static enum dpl_status take_trips(const struct reader *reader, const struct dpl_trips *trips,
                                  size_t first, size_t last, struct slot *slot) {
    struct stretches list = {0};
    enum dpl_status status = DPL_OK;
    for (size_t i = first; i < last; i++) {
        DPL_GO(list_stretches(reader->run, trips, i, reader->by_user, &list));
        for (size_t begin = 0, end; begin < list.n; begin = end) {
            for (end = begin + 1; end < list.n; end++)
                if (reader->by_user &&
                    !keys_equal(list.at[end]->user_key, list.at[begin]->user_key))
                    break;
            DPL_GO(take_recording(reader, trips, &list, begin, end, slot));
        }
    }
done:
    dpl_free(list.at);
    return status;
}

/* As many trips as the slots hold, from `first` on: taken in parallel, committed in order. */
static enum dpl_status take_round(struct reader *reader, const struct dpl_trips *trips,
                                  size_t first) {
    enum dpl_status failed = DPL_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(dpl_run_threads(reader->run))
    for (size_t i = 0; i < reader->n_slots; i++) {
        size_t begin = first + i * SLOT_TRIPS, end = begin + SLOT_TRIPS;
        if (end > trips->n_trips) end = trips->n_trips;
        enum dpl_status status = take_trips(reader, trips, begin, end, &reader->slots[i]);
        if (status != DPL_OK) {
#pragma omp critical(dpl_ingest_feed)
            if (failed == DPL_OK) failed = status;
        }
    }
    DPL_TRY(failed);
    for (size_t i = 0; i < reader->n_slots; i++)
        DPL_TRY(dpl_reader_commit(reader, &reader->slots[i]));
    return dpl_check_interrupt(reader->run);
}

/* PRIVACY: as for files: what a unit is must be settled by the holder where the data does not
 * settle it. */
static enum dpl_status check_memory_units(struct dpl_run *run, const struct dpl_trips *trips,
                                          const struct dpl_read_options *options) {
    if (options->need_trips && !trips->named && trips->rows)
        return dpl_fail(run, DPL_REFUSED,
                        "`points.trip` is missing: tracks would be cut into trips at gaps and "
                        "stays, and `budget.unit` trip would protect such a stretch and no trip "
                        "that somebody made. Accept that with `fit.trips_as_cut`, or protect "
                        "persons with `budget.unit` user");
    if (options->need_users && trips->lacks_users)
        return dpl_fail(run, DPL_REFUSED,
                        "`points.user` is missing, so that `budget.unit` user cannot protect "
                        "users");
    return DPL_OK;
}

enum dpl_status dpl_ingest_trips(struct dpl_run *run, struct dpl_trips *trips,
                                 const struct dpl_read_options *options, const char *zone_name,
                                 const struct sink *sink, struct ingest_identity *identity,
                                 struct dpl_read_facts *facts) {
    if (trips->in_files)
        return dpl_ingest_read(run, trips->inputs, trips->n_inputs, options, &DPL_INGEST_LIMITS,
                               zone_name, sink, identity, facts);
    if (trips->table)
        return ingest_table(run, trips->table, options, zone_name, sink, identity, facts);
    struct reader reader = {.run = run,
                            .sink = sink,
                            .identity = identity,
                            .facts = facts,
                            .by_user = options->need_users};
    enum dpl_status status;
    dpl_facts_clear(facts);
    snprintf(facts->format, sizeof facts->format, "memory");
    facts->gap_limit_s = options->gap_limit_s;
    facts->rows = trips->rows;
    facts->users = trips->users.count;
    facts->trips_cut = !trips->named;
    for (int reason = 0; reason < DPL_REJECTS; reason++)
        if ((facts->rows_rejected[reason] = trips->rejected[reason]) > 0)
            snprintf(facts->example[reason], DPL_EXAMPLE_TEXT, "%s",
                     dpl_reject_name((enum dpl_reject)reason));
    DPL_GO(check_memory_units(run, trips, options));
    DPL_GO(dpl_trips_settle(run, trips));
    DPL_GO(dpl_reader_slots(&reader));
    dpl_progress_begin(run, "reading", "trips", (double)trips->n_trips);
    for (size_t at = 0; at < trips->n_trips; at += reader.n_slots * SLOT_TRIPS) {
        DPL_GO(take_round(&reader, trips, at));
        size_t left = trips->n_trips - at, most = reader.n_slots * SLOT_TRIPS;
        dpl_progress_add(run, (double)(left < most ? left : most));
    }
    DPL_GO(dpl_reader_identify(&reader));
    dpl_progress_end(run);
done:
    dpl_reader_free(&reader);
    return status;
}
