/* The reading loop: blocks are fed one by one, parsed and cleaned in parallel, committed in order.
 *
 *   round:  feed -> parse + take   (threads; rows of a block's first and last trip are kept back,
 *                                   because the trip may go on in the neighbouring block)
 *           commit                 (one thread, in input order: stitches those trips together)
 *
 * The first pass trusts that a trip's rows stand together, and remembers a 64-bit mark of every
 * trip it finished. When a mark comes back, rows are scattered: everything is forgotten and read
 * again, this time through the sorter. So tidy files cost one pass and 8 bytes per trip; the
 * others, two. A false alarm of the marks only costs the second pass; trips are told apart by 128
 * bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrow.h"
#include "ingest/feeder.h"
#include "ingest/order.h"
#include "ingest/shard.h"
#include "ingest/sorter.h"
#include "ingest/table.h"

enum { SLOTS_PER_THREAD = 4, SORTED_BATCH_POINTS = 1 << 16 };

/* What facts a batch of recordings adds. */
struct tally {
    int64_t trips, points, elsewhere, first_utc_s, last_utc_s;
    double south_deg, west_deg, north_deg, east_deg;
    int64_t interval_s[DPL_INTERVALS];
};

struct slot {
    struct block block;
    void *batch;
    struct tally tally;
};

struct reader {
    struct dpl_run *run;
    struct feeder feeder;
    struct table_feeder table; /* in its place, when the rows are a table's */
    bool of_table;
    const struct sink *sink;
    struct ingest_identity *identity; /* NULL: not wanted */
    struct dpl_read_facts *facts;
    bool strict;
    bool by_user;       /* points in memory: the unit is the user */
    struct slot *slots; /* (n_slots) */
    size_t n_slots;
    struct slot seam; /* batch and tally of stitched recordings; its points are the pending trip */
    struct group pending;
    const struct layout *pending_layout; /* NULL: nothing pending */
    int64_t line_base;                   /* lines of the member before the block being committed */
    unsigned notations;                  /* of times, as struct block has them */
    struct dpl_hash_set marks;           /* of finished trips */
    struct dpl_index users;
    bool scattered;        /* a mark came back */
    struct sorter *sorter; /* second pass; else NULL */
    struct dpl_index recordings;
    struct group *sorted_groups; /* (recordings.count) user and split of each */
    const struct layout **sorted_layouts;
    size_t groups_capacity, layouts_capacity;
};

/* ---- facts ---- */

static void tally_clear(struct tally *tally) {
    memset(tally, 0, sizeof *tally);
    tally->first_utc_s = INT64_MAX, tally->last_utc_s = INT64_MIN;
    tally->south_deg = tally->west_deg = INFINITY, tally->north_deg = tally->east_deg = -INFINITY;
}

static void tally_recording(struct tally *tally, const struct recording *r) {
    tally->trips++;
    tally->points += (int64_t)r->n;
    for (size_t i = 0; i < r->n; i++) {
        const struct point *p = &r->points[i];
        if (p->lat_deg < tally->south_deg) tally->south_deg = p->lat_deg;
        if (p->lat_deg > tally->north_deg) tally->north_deg = p->lat_deg;
        if (p->lon_deg < tally->west_deg) tally->west_deg = p->lon_deg;
        if (p->lon_deg > tally->east_deg) tally->east_deg = p->lon_deg;
    }
    if (!r->n || !r->timed) return;
    if (r->points[0].utc_s < tally->first_utc_s) tally->first_utc_s = r->points[0].utc_s;
    if (r->points[r->n - 1].utc_s > tally->last_utc_s)
        tally->last_utc_s = r->points[r->n - 1].utc_s;
    for (size_t i = 1; i < r->n; i++) {
        int64_t gap_s = r->points[i].utc_s - r->points[i - 1].utc_s;
        tally->interval_s[gap_s < DPL_INTERVALS - 1 ? gap_s : DPL_INTERVALS - 1]++;
    }
}

/* Adds the tally to the facts and clears it. */
static void tally_commit(struct dpl_read_facts *facts, struct tally *tally) {
    facts->trips_read += tally->trips;
    facts->recordings += tally->trips;
    facts->elsewhere += tally->elsewhere;
    facts->points += tally->points;
    if (tally->points) {
        facts->south_deg = fmin(facts->south_deg, tally->south_deg),
        facts->north_deg = fmax(facts->north_deg, tally->north_deg);
        facts->west_deg = fmin(facts->west_deg, tally->west_deg),
        facts->east_deg = fmax(facts->east_deg, tally->east_deg);
        if (tally->first_utc_s < facts->first_utc_s) facts->first_utc_s = tally->first_utc_s;
        if (tally->last_utc_s > facts->last_utc_s) facts->last_utc_s = tally->last_utc_s;
        for (int i = 0; i < DPL_INTERVALS; i++) facts->interval_s[i] += tally->interval_s[i];
    }
    tally_clear(tally);
}

static void clear_facts(struct dpl_read_facts *facts) {
    *facts = (struct dpl_read_facts){0};
    facts->first_utc_s = INT64_MAX, facts->last_utc_s = INT64_MIN;
    facts->south_deg = facts->west_deg = INFINITY, facts->north_deg = facts->east_deg = -INFINITY;
}

static void format_example(const struct reader *reader, const struct block *block,
                           enum dpl_reject reason, char *text, size_t size) {
    const struct example *e = &block->example[reason];
    snprintf(text, size, "%.150s:%lld: %s%s%s%s\"%s\" (%s)", block->layout->member,
             (long long)(reader->line_base + e->line + 1), e->column ? "column '" : "",
             e->column ? e->column : "", e->column ? "'" : "row", e->column ? ": " : " ", e->value,
             dpl_reject_name(reason));
}

/* Adds a block's signs to the facts; the first example of each kind stays. */
static void commit_signs(const struct dpl_read_signs *from, struct dpl_read_signs *to) {
    if (!to->odd_positions) to->odd_lat = from->odd_lat, to->odd_lon = from->odd_lon;
    if (!to->odd_times) memcpy(to->odd_time, from->odd_time, sizeof to->odd_time);
    to->odd_positions += from->odd_positions;
    to->odd_times += from->odd_times;
    to->wide_rows += from->wide_rows;
}

static enum dpl_status commit_rows(struct reader *reader, struct block *block) {
    struct dpl_read_facts *facts = reader->facts;
    if (block->opens_member) reader->line_base = block->layout->header_lines;
    facts->rows += block->rows;
    commit_signs(&block->signs, &facts->signs);
    reader->notations |= block->notations;
    int first = -1; // the reason of the block's earliest bad row: `strict` stops there
    for (int reason = 0; reason < DPL_REJECTS; reason++) {
        if (!block->rejected[reason]) continue;
        if (!facts->rows_rejected[reason])
            format_example(reader, block, (enum dpl_reject)reason, facts->example[reason],
                           sizeof facts->example[reason]);
        facts->rows_rejected[reason] += block->rejected[reason];
        if (reason != DPL_REJECT_MISSING_DATA &&
            (first < 0 || block->example[reason].line < block->example[first].line))
            first = reason;
    }
    reader->line_base += block->lines;
    if (reader->strict && first >= 0)
        return dpl_fail(reader->run, DPL_BAD_DATA, "%s; `read.strict` stops at the first bad row",
                        facts->example[first]);
    return DPL_OK;
}

/* ---- recordings on their way to the sink ---- */

/* Whether a recording with ids is of another shard; without any, its points tell. */
static bool is_elsewhere(const struct reader *reader, const struct group *group,
                         const struct point *first) {
    const struct ingest_shard *shard = reader->identity ? &reader->identity->shard : NULL;
    if (!shard || shard->count <= 1) return false;
    const struct dpl_key id = dpl_shard_id(shard, group->trip, group->user);
    if (!key_is_zero(id)) return !dpl_shard_has(shard, id);
    return first && !dpl_shard_has_point(shard, first);
}

static enum dpl_status deliver(const struct reader *reader, struct slot *slot,
                               const struct layout *layout, const struct group *group,
                               struct point *points) {
    struct recording recording = {group->user, points, group->n, layout->split, layout->timed};
    DPL_TRY(dpl_order_points(reader->run, points, group->n));
    if (group->n && is_elsewhere(reader, group, &points[0])) {
        slot->tally.elsewhere++;
        return DPL_OK;
    }
    // A trip of which one row has no time has none: in order of time that row comes first.
    if (group->n && points[0].utc_s == UNTIMED_S) recording.timed = false;
    tally_recording(&slot->tally, &recording);
    return reader->sink->take(reader->sink->state, slot->batch, &recording);
}

static enum dpl_status note_user(struct reader *reader, struct dpl_key user) {
    uint32_t number;
    return key_is_zero(user) ? DPL_OK
                             : dpl_index_put(reader->run, &reader->users, user, &number, NULL);
}

static enum dpl_status commit_batch(struct reader *reader, struct slot *slot) {
    tally_commit(reader->facts, &slot->tally);
    return reader->sink->commit(reader->sink->state, slot->batch);
}

/* A line that is not parsed is a bad row all the same. */
static void reject_line(struct block *block, enum dpl_reject reason, struct field line) {
    block->line = block->lines++;
    block->rows++;
    dpl_block_reject(block, reason, NULL, line);
}

static enum dpl_status parse_slot(const struct reader *reader, struct slot *slot) {
    struct block *block = &slot->block;
    block->run = reader->run;
    block->strict = reader->strict;
    block->n_points = block->n_groups = 0;
    block->lines = block->rows = 0;
    block->notations = 0;
    block->signs = (struct dpl_read_signs){0};
    memset(block->rejected, 0, sizeof block->rejected);
    if (block->line_too_long)
        reject_line(block, DPL_REJECT_LINE_TOO_LONG, (struct field){"", 0});
    else
        DPL_TRY(block->layout->format->parse(block));
    if (block->cut_length)
        reject_line(block, DPL_REJECT_CUT_OFF,
                    (struct field){block->text + block->length, block->cut_length});
    for (size_t g = 0; g < block->n_groups; g++) {
        const struct group *group = &block->groups[g];
        bool may_go_on =
            !key_is_zero(group->key) && (reader->sorter || g == 0 || g + 1 == block->n_groups);
        // A group whose rows were all bad may stand in a block that has no points at all.
        struct point *points = block->points ? block->points + group->first : NULL;
        if (!may_go_on) DPL_TRY(deliver(reader, slot, block->layout, group, points));
    }
    return DPL_OK;
}

/* ---- stitching trips that cross a block's end ---- */

static enum dpl_status append_pending(struct reader *reader, const struct block *block,
                                      const struct group *group) {
    struct block *seam = &reader->seam.block;
    DPL_TRY(dpl_grow(reader->run, &seam->points, &seam->points_capacity, seam->n_points + group->n,
                     sizeof *seam->points));
    if (group->n > 0) // else there may be no points to point at
        memcpy(seam->points + seam->n_points, block->points + group->first,
               group->n * sizeof *seam->points);
    seam->n_points += group->n;
    reader->pending.n = seam->n_points;
    return DPL_OK;
}

static enum dpl_status begin_pending(struct reader *reader, const struct block *block,
                                     const struct group *group) {
    reader->pending = *group;
    reader->pending_layout = block->layout;
    reader->seam.block.n_points = 0;
    return append_pending(reader, block, group);
}

static enum dpl_status flush_pending(struct reader *reader) {
    if (!reader->pending_layout) return DPL_OK;
    const struct layout *layout = reader->pending_layout;
    reader->pending_layout = NULL;
    DPL_TRY(deliver(reader, &reader->seam, layout, &reader->pending, reader->seam.block.points));
    return commit_batch(reader, &reader->seam);
}

static enum dpl_status check_backwards(const struct reader *reader, const struct block *block,
                                       const struct group *head) {
    const struct block *seam = &reader->seam.block;
    if (!reader->strict || !head->n ||
        seam->points[seam->n_points - 1].utc_s <= block->points[head->first].utc_s)
        return DPL_OK;
    return dpl_fail(
        reader->run, DPL_BAD_DATA,
        "%s:%lld: time runs backwards within a trip; `read.strict` stops at the first bad row",
        block->layout->member, (long long)(reader->line_base - block->lines + 1));
}

/* A finished trip; rows are scattered when it was finished before. */
static enum dpl_status mark_trip(struct reader *reader, struct dpl_key key) {
    bool known;
    DPL_TRY(dpl_hash_set_put(reader->run, &reader->marks, key.lo | 1, &known)); // never 0
    if (known) reader->scattered = true;
    return DPL_OK;
}

static enum dpl_status commit_keyed(struct reader *reader, struct slot *slot) {
    struct block *block = &slot->block;
    if (!block->n_groups) return DPL_OK;
    bool goes_on = reader->pending_layout && keys_equal(reader->pending.key, block->groups[0].key);
    for (size_t g = goes_on; g < block->n_groups && !reader->scattered; g++) {
        DPL_TRY(mark_trip(reader, block->groups[g].key));
        DPL_TRY(note_user(reader, block->groups[g].user));
    }
    if (reader->scattered) return DPL_OK;
    if (goes_on) {
        DPL_TRY(check_backwards(reader, block, &block->groups[0]));
        DPL_TRY(append_pending(reader, block, &block->groups[0]));
    } else {
        DPL_TRY(flush_pending(reader));
        DPL_TRY(begin_pending(reader, block, &block->groups[0]));
    }
    if (block->n_groups == 1) return DPL_OK;
    DPL_TRY(flush_pending(reader));
    DPL_TRY(commit_batch(reader, slot));
    return begin_pending(reader, block, &block->groups[block->n_groups - 1]);
}

/* ---- the second pass ---- */

static enum dpl_status commit_to_sorter(struct reader *reader, struct slot *slot) {
    struct block *block = &slot->block;
    for (size_t g = 0; g < block->n_groups; g++) {
        const struct group *group = &block->groups[g];
        uint32_t number;
        bool fresh;
        if (is_elsewhere(reader, group, NULL)) continue;
        DPL_TRY(dpl_index_put(reader->run, &reader->recordings, group->key, &number, &fresh));
        if (fresh) {
            size_t need = (size_t)number + 1;
            DPL_TRY(dpl_grow(reader->run, &reader->sorted_groups, &reader->groups_capacity, need,
                             sizeof *reader->sorted_groups));
            DPL_TRY(dpl_grow(reader->run, &reader->sorted_layouts, &reader->layouts_capacity, need,
                             sizeof *reader->sorted_layouts));
            reader->sorted_groups[number] = *group;
            reader->sorted_layouts[number] = block->layout;
            DPL_TRY(note_user(reader, group->user));
        }
        for (size_t i = 0; i < group->n; i++)
            DPL_TRY(dpl_sorter_add(reader->sorter, number, &block->points[group->first + i]));
    }
    return DPL_OK;
}

static enum dpl_status deliver_sorted(struct reader *reader) {
    size_t pending_points = 0;
    for (;;) {
        uint32_t number;
        struct point *points;
        size_t n;
        DPL_TRY(dpl_sorter_next(reader->sorter, &number, &points, &n));
        if (n) {
            struct group group = reader->sorted_groups[number];
            group.n = n;
            DPL_TRY(deliver(reader, &reader->seam, reader->sorted_layouts[number], &group, points));
            pending_points += n;
        }
        if (!n || pending_points >= SORTED_BATCH_POINTS) {
            DPL_TRY(commit_batch(reader, &reader->seam));
            DPL_TRY(dpl_check_interrupt(reader->run));
            pending_points = 0;
        }
        if (!n) return DPL_OK;
    }
}

/* PRIVACY: what the first pass took but did not commit would otherwise be committed a second time
 * by the next batch of the slot. */
static enum dpl_status forget_batch(const struct sink *sink, struct slot *slot) {
    tally_clear(&slot->tally);
    if (slot->batch) sink->batch_free(slot->batch);
    slot->batch = NULL;
    return sink->batch_new(sink->state, &slot->batch);
}

/* ---- where blocks come from: files, or a table ---- */

static enum dpl_status feed(struct reader *reader, struct block *block, bool *more) {
    return reader->of_table ? dpl_table_feeder_next(&reader->table, block, more)
                            : dpl_feeder_next(&reader->feeder, block, more);
}

static void feed_again(struct reader *reader) {
    if (reader->of_table)
        dpl_table_feeder_rewind(&reader->table);
    else
        dpl_feeder_rewind(&reader->feeder);
}

/* Megabytes of files, or thousands of rows. */
static double fed_so_far(const struct reader *reader) {
    return reader->of_table ? reader->table.done_rows / 1e3
                            : (double)dpl_source_done_bytes(reader->feeder.source) / 1e6;
}

/* Forgets the first pass and makes the sorter. */
static enum dpl_status start_over(struct reader *reader, size_t memory_bytes) {
    dpl_note(reader->run, "rows of a trip do not stand together: reading again, sorted %s",
             reader->of_table ? "in memory" : "through a temporary file");
    reader->sink->reset(reader->sink->state);
    clear_facts(reader->facts);
    if (reader->of_table) dpl_table_feeder_describe(&reader->table, reader->facts);
    reader->facts->scattered = true;
    feed_again(reader);
    reader->pending_layout = NULL;
    DPL_TRY(forget_batch(reader->sink, &reader->seam));
    for (size_t i = 0; i < reader->n_slots; i++) {
        DPL_TRY(forget_batch(reader->sink, &reader->slots[i]));
        if (reader->identity) dpl_identifier_clear(reader->slots[i].block.identifier);
    }
    dpl_hash_set_free(&reader->marks);
    dpl_index_free(&reader->users);
    reader->scattered = false;
    return dpl_sorter_new(reader->run, memory_bytes, &reader->sorter);
}

/* ---- rounds ---- */

static enum dpl_status commit_slot(struct reader *reader, struct slot *slot) {
    struct block *block = &slot->block;
    DPL_TRY(commit_rows(reader, block));
    if (!block->n_groups) return DPL_OK;
    if (!key_is_zero(block->groups[0].key))
        return reader->sorter ? commit_to_sorter(reader, slot) : commit_keyed(reader, slot);
    DPL_TRY(flush_pending(reader));
    for (size_t g = 0; g < block->n_groups; g++) DPL_TRY(note_user(reader, block->groups[g].user));
    return commit_batch(reader, slot);
}

/* Feeds and parses up to n_slots blocks; *n is how many, in slot order. */
static enum dpl_status parse_round(struct reader *reader, size_t *n) {
    enum dpl_status failed = DPL_OK;
    size_t fed = 0;
    bool more = true;
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads(reader->run ? dpl_run_threads(reader->run) : 1)
    for (size_t i = 0; i < reader->n_slots; i++) {
        struct slot *slot = NULL;
        enum dpl_status status = DPL_OK;
#pragma omp critical(dpl_ingest_feed)
        if (more && failed == DPL_OK) {
            slot = &reader->slots[fed];
            status = feed(reader, &slot->block, &more);
            failed = status; // at once: the next thread must not go on behind what failed
            if (status == DPL_OK && more)
                fed++;
            else
                slot = NULL;
        }
        if (slot) status = parse_slot(reader, slot);
        if (status != DPL_OK) {
#pragma omp critical(dpl_ingest_feed)
            if (failed == DPL_OK) failed = status;
        }
    }
    *n = fed;
    return failed;
}

static enum dpl_status read_rounds(struct reader *reader) {
    double done = 0;
    for (;;) {
        size_t n;
        DPL_TRY(parse_round(reader, &n));
        for (size_t i = 0; i < n && !reader->scattered; i++)
            DPL_TRY(commit_slot(reader, &reader->slots[i]));
        double now = fed_so_far(reader);
        dpl_progress_add(reader->run, now - done);
        done = now;
        if (n == 0 || reader->scattered) return DPL_OK;
        DPL_TRY(dpl_check_interrupt(reader->run));
    }
}

/* Sums know no order: what each thread has seen is added up once, at the end of the last pass. */
static enum dpl_status identify(struct reader *reader) {
    if (!reader->identity) return DPL_OK;
    memset(&reader->identity->found, 0, sizeof reader->identity->found);
    for (size_t i = 0; i < reader->n_slots; i++)
        DPL_TRY(dpl_identifier_end(reader->run, reader->slots[i].block.identifier,
                                   &reader->identity->found));
    return DPL_OK;
}

static enum dpl_status read_all(struct reader *reader, size_t memory_bytes) {
    DPL_TRY(read_rounds(reader));
    if (reader->scattered) {
        DPL_TRY(start_over(reader, memory_bytes));
        DPL_TRY(read_rounds(reader));
        DPL_TRY(deliver_sorted(reader));
    }
    DPL_TRY(flush_pending(reader));
    reader->facts->users = reader->users.count;
    DPL_TRY(identify(reader));
    return reader->of_table ? DPL_OK : dpl_feeder_finish(&reader->feeder);
}

static enum dpl_status make_slots(struct reader *reader) {
    reader->n_slots = (size_t)dpl_run_threads(reader->run) * SLOTS_PER_THREAD;
    reader->slots = dpl_alloc(reader->run, reader->n_slots, sizeof *reader->slots);
    if (!reader->slots) {
        reader->n_slots = 0;
        return DPL_SYSTEM;
    }
    for (size_t i = 0; i < reader->n_slots; i++) {
        tally_clear(&reader->slots[i].tally);
        DPL_TRY(reader->sink->batch_new(reader->sink->state, &reader->slots[i].batch));
        if (reader->identity)
            DPL_TRY(dpl_identifier_new(reader->run, reader->identity,
                                       &reader->slots[i].block.identifier));
    }
    tally_clear(&reader->seam.tally);
    return reader->sink->batch_new(reader->sink->state, &reader->seam.batch);
}

static void free_slot(const struct sink *sink, struct slot *slot) {
    if (slot->batch) sink->batch_free(slot->batch);
    dpl_identifier_free(slot->block.identifier);
    dpl_free(slot->block.text);
    dpl_free(slot->block.points);
    dpl_free(slot->block.flags);
    dpl_free(slot->block.groups);
}

static void free_reader(struct reader *reader) {
    for (size_t i = 0; i < reader->n_slots; i++) free_slot(reader->sink, &reader->slots[i]);
    free_slot(reader->sink, &reader->seam);
    dpl_free(reader->slots);
    dpl_hash_set_free(&reader->marks);
    dpl_index_free(&reader->users);
    dpl_index_free(&reader->recordings);
    dpl_free(reader->sorted_groups);
    dpl_free(reader->sorted_layouts);
    dpl_sorter_free(reader->sorter);
    dpl_table_feeder_free(&reader->table);
    dpl_feeder_free(&reader->feeder);
    dpl_source_close(reader->feeder.source);
}

/* How times were written, in words, for the holder of the data. */
static void describe_times(unsigned notations, const char *zone_name,
                           struct dpl_read_facts *facts) {
    static const char *const WORDS[TIME_NOTATIONS] = {"epoch seconds",
                                                      "epoch milliseconds",
                                                      "epoch microseconds",
                                                      "epoch nanoseconds",
                                                      "ISO 8601 with offset",
                                                      "ISO 8601 without offset",
                                                      "date and time in GMT",
                                                      "DD.MM.YYYY",
                                                      "as `read.time_format` says, with offset",
                                                      "as `read.time_format` says"};
    size_t length = 0, size = sizeof facts->time_format;
    if (!notations) snprintf(facts->time_format, size, "none: rows are taken in file order");
    for (int i = 0; i < TIME_NOTATIONS; i++) {
        if (!(notations >> i & 1) || length >= size) continue;
        length += (size_t)snprintf(facts->time_format + length, size - length, "%s%s",
                                   length ? " and " : "", WORDS[i]);
        bool local = i == TIME_ISO_LOCAL || i == TIME_DOTTED || i == TIME_PATTERN_LOCAL;
        if (local && length < size)
            length +=
                (size_t)snprintf(facts->time_format + length, size - length, ", read as %s",
                                 zone_name && *zone_name ? zone_name : "UTC (use `read.zone`)");
    }
}

enum dpl_status dpl_ingest_check_options(struct dpl_run *run,
                                         const struct dpl_read_options *options) {
    if (dpl_time_units(options->time_unit) < 0)
        return dpl_fail(run, DPL_USAGE, "`read.time_unit` takes auto, s, ms, us or ns, not '%.32s'",
                        options->time_unit);
    struct coordinates coordinates;
    if (strcmp(options->coordinates, "auto") != 0 &&
        !dpl_coordinates_parse(options->coordinates, &coordinates))
        return dpl_fail(run, DPL_USAGE,
                        "`read.coordinates` takes auto, degrees, e7, EPSG:3857 or UTM's EPSG:326NN "
                        "and EPSG:327NN, not '%.32s'",
                        options->coordinates);
    if (options->time_format && !dpl_time_pattern_good(options->time_format))
        return dpl_fail(run, DPL_USAGE,
                        "`read.time_format` '%.64s' needs %%Y %%m %%d %%H (or %%s), and knows also "
                        "%%y %%b %%I %%p %%M %%S %%f %%z %%F %%T",
                        options->time_format);
    const struct format *format = dpl_format_called(options->format);
    char names[FORMAT_NAMES];
    if (!format && strcmp(options->format, "auto"))
        return dpl_fail(run, DPL_USAGE, "there is no format '%.32s'; known are auto, %s",
                        options->format, dpl_format_names(names));
    if (options->separator && !dpl_separator_known(options->separator))
        return dpl_fail(
            run, DPL_USAGE,
            "`read.separator` takes one character that is no part of values, or the words "
            "tab and space, not '%.32s'",
            options->separator);
    if (!format) format = &DPL_FORMAT_CSV;
    if (!options->columns) return DPL_OK;
    if (!format->check_columns)
        return dpl_fail(run, DPL_USAGE, "`read.columns` does not belong to `read.format` %s",
                        format->name);
    return format->check_columns(run, options);
}

enum dpl_status dpl_ingest_read(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                const struct dpl_read_options *options,
                                const struct ingest_limits *limits, const char *zone_name,
                                const struct sink *sink, struct ingest_identity *identity,
                                struct dpl_read_facts *facts) {
    enum dpl_status status;
    struct reader reader = {
        .run = run, .sink = sink, .identity = identity, .facts = facts, .strict = options->strict};
    struct dpl_zone *zone = NULL;
    clear_facts(facts);
    reader.feeder =
        (struct feeder){.run = run, .options = options, .limits = limits, .facts = facts};
    DPL_GO(dpl_ingest_check_options(run, options));
    if (zone_name && *zone_name) DPL_GO(dpl_zone_open(run, zone_name, &zone));
    reader.feeder.zone = zone;
    DPL_GO(dpl_source_open(run, inputs, n_inputs, options, &reader.feeder.source));
    DPL_GO(make_slots(&reader));
    dpl_progress_begin(run, "reading", "MB",
                       (double)dpl_source_total_bytes(reader.feeder.source) / 1e6);
    status = read_all(&reader, options->memory_bytes);
    dpl_progress_end(run);
    describe_times(reader.notations, zone_name, facts);
    facts->gap_limit_s = options->gap_limit_s;
done:
    free_reader(&reader);
    dpl_zone_free(zone);
    return status;
}

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
    clear_facts(facts);
    if (zone_name && *zone_name) DPL_GO(dpl_zone_open(run, zone_name, &zone));
    DPL_GO(dpl_table_feeder_open(run, table, options, zone, &reader.table));
    dpl_table_feeder_describe(&reader.table, facts);
    say_table(&reader, options);
    DPL_GO(make_slots(&reader));
    dpl_progress_begin(run, "reading", "thousand rows", (double)table->rows / 1e3);
    status = read_all(&reader, dpl_sorter_bytes((size_t)table->rows));
    dpl_progress_end(run);
    describe_times(reader.notations, zone_name, facts);
    facts->gap_limit_s = options->gap_limit_s;
done:
    free_reader(&reader);
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
    return deliver(reader, slot, &layout, &group, block->points);
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
    for (size_t i = 0; i < reader->n_slots; i++) DPL_TRY(commit_batch(reader, &reader->slots[i]));
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
    clear_facts(facts);
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
    DPL_GO(make_slots(&reader));
    dpl_progress_begin(run, "reading", "trips", (double)trips->n_trips);
    for (size_t at = 0; at < trips->n_trips; at += reader.n_slots * SLOT_TRIPS) {
        DPL_GO(take_round(&reader, trips, at));
        size_t left = trips->n_trips - at, most = reader.n_slots * SLOT_TRIPS;
        dpl_progress_add(run, (double)(left < most ? left : most));
    }
    DPL_GO(identify(&reader));
    dpl_progress_end(run);
done:
    free_reader(&reader);
    return status;
}
