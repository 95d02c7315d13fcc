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
#include <string.h>

#include "ingest/order.h"
#include "ingest/reader.h"
#include "ingest/shard.h"

enum { SLOTS_PER_THREAD = 4, SORTED_BATCH_POINTS = 1 << 16 };

/* ---- facts ---- */

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

enum dpl_status dpl_reader_deliver(const struct reader *reader, struct slot *slot,
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
    dpl_tally_recording(&slot->tally, &recording);
    return reader->sink->take(reader->sink->state, slot->batch, &recording);
}

static enum dpl_status note_user(struct reader *reader, struct dpl_key user) {
    uint32_t number;
    return key_is_zero(user) ? DPL_OK
                             : dpl_index_put(reader->run, &reader->users, user, &number, NULL);
}

enum dpl_status dpl_reader_commit(struct reader *reader, struct slot *slot) {
    dpl_tally_commit(reader->facts, &slot->tally);
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
        if (!may_go_on) DPL_TRY(dpl_reader_deliver(reader, slot, block->layout, group, points));
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
    DPL_TRY(dpl_reader_deliver(reader, &reader->seam, layout, &reader->pending,
                               reader->seam.block.points));
    return dpl_reader_commit(reader, &reader->seam);
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
    DPL_TRY(dpl_reader_commit(reader, slot));
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
            DPL_TRY(dpl_reader_deliver(reader, &reader->seam, reader->sorted_layouts[number],
                                       &group, points));
            pending_points += n;
        }
        if (!n || pending_points >= SORTED_BATCH_POINTS) {
            DPL_TRY(dpl_reader_commit(reader, &reader->seam));
            DPL_TRY(dpl_check_interrupt(reader->run));
            pending_points = 0;
        }
        if (!n) return DPL_OK;
    }
}

/* PRIVACY: what the first pass took but did not commit would otherwise be committed a second time
 * by the next batch of the slot. */
static enum dpl_status forget_batch(const struct sink *sink, struct slot *slot) {
    dpl_tally_clear(&slot->tally);
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
    dpl_facts_clear(reader->facts);
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
    return dpl_reader_commit(reader, slot);
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

enum dpl_status dpl_reader_identify(struct reader *reader) {
    if (!reader->identity) return DPL_OK;
    memset(&reader->identity->found, 0, sizeof reader->identity->found);
    for (size_t i = 0; i < reader->n_slots; i++)
        DPL_TRY(dpl_identifier_end(reader->run, reader->slots[i].block.identifier,
                                   &reader->identity->found));
    return DPL_OK;
}

enum dpl_status dpl_reader_all(struct reader *reader, size_t memory_bytes) {
    DPL_TRY(read_rounds(reader));
    if (reader->scattered) {
        DPL_TRY(start_over(reader, memory_bytes));
        DPL_TRY(read_rounds(reader));
        DPL_TRY(deliver_sorted(reader));
    }
    DPL_TRY(flush_pending(reader));
    reader->facts->users = reader->users.count;
    DPL_TRY(dpl_reader_identify(reader));
    return reader->of_table ? DPL_OK : dpl_feeder_finish(&reader->feeder);
}

enum dpl_status dpl_reader_slots(struct reader *reader) {
    reader->n_slots = (size_t)dpl_run_threads(reader->run) * SLOTS_PER_THREAD;
    reader->slots = dpl_alloc(reader->run, reader->n_slots, sizeof *reader->slots);
    if (!reader->slots) {
        reader->n_slots = 0;
        return DPL_SYSTEM;
    }
    for (size_t i = 0; i < reader->n_slots; i++) {
        dpl_tally_clear(&reader->slots[i].tally);
        DPL_TRY(reader->sink->batch_new(reader->sink->state, &reader->slots[i].batch));
        if (reader->identity)
            DPL_TRY(dpl_identifier_new(reader->run, reader->identity,
                                       &reader->slots[i].block.identifier));
    }
    dpl_tally_clear(&reader->seam.tally);
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

void dpl_reader_free(struct reader *reader) {
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

void dpl_reader_times(unsigned notations, const char *zone_name, struct dpl_read_facts *facts) {
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

enum dpl_status dpl_ingest_read(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                const struct dpl_read_options *options,
                                const struct ingest_limits *limits, const char *zone_name,
                                const struct sink *sink, struct ingest_identity *identity,
                                struct dpl_read_facts *facts) {
    enum dpl_status status;
    struct reader reader = {
        .run = run, .sink = sink, .identity = identity, .facts = facts, .strict = options->strict};
    struct dpl_zone *zone = NULL;
    dpl_facts_clear(facts);
    reader.feeder =
        (struct feeder){.run = run, .options = options, .limits = limits, .facts = facts};
    DPL_GO(dpl_ingest_check_options(run, options));
    if (zone_name && *zone_name) DPL_GO(dpl_zone_open(run, zone_name, &zone));
    reader.feeder.zone = zone;
    DPL_GO(dpl_source_open(run, inputs, n_inputs, options, &reader.feeder.source));
    DPL_GO(dpl_reader_slots(&reader));
    dpl_progress_begin(run, "reading", "MB",
                       (double)dpl_source_total_bytes(reader.feeder.source) / 1e6);
    status = dpl_reader_all(&reader, options->memory_bytes);
    dpl_progress_end(run);
    dpl_reader_times(reader.notations, zone_name, facts);
    facts->gap_limit_s = options->gap_limit_s;
done:
    dpl_reader_free(&reader);
    dpl_zone_free(zone);
    return status;
}
