/* Members to blocks of whole lines, about 1 MB each, so that several can be parsed at once. A line
 * longer than a block is cut out and counted; memory stays bounded whatever the input. */
#include "ingest/feeder.h"

#include <string.h>

#include "ingest/number.h"

enum {
    BLOCK_BYTES = 1 << 20,
    DETECT_BYTES = 1 << 16,
    BEHIND = 2 + NUMBER_PADDING
}; // '\n', '\0', and what scanners may touch
static const size_t WHOLE_MEMBER_LIMIT = (size_t)1 << 30;

/* ---- filling ---- */

/* Reads until the block holds `want` bytes or the member ends. */
static enum dpl_status fill(struct feeder *feeder, struct block *block, size_t want, bool *ended) {
    DPL_TRY(dpl_grow(feeder->run, &block->text, &block->capacity, want + BEHIND, 1));
    *ended = false;
    while (block->length < want) {
        size_t got;
        DPL_TRY(
            source_read(feeder->source, block->text + block->length, want - block->length, &got));
        block->length += got;
        feeder->facts->bytes += (int64_t)got;
        if (got == 0) {
            *ended = true;
            break;
        }
    }
    return DPL_OK;
}

static enum dpl_status fill_whole(struct feeder *feeder, struct block *block) {
    for (bool ended = false; !ended;) {
        if (block->length > WHOLE_MEMBER_LIMIT)
            return dpl_fail(feeder->run, DPL_BAD_DATA,
                            "%s: a %s file of more than 1 GB is not plausible",
                            feeder->layout->member, feeder->layout->format->name);
        DPL_TRY(fill(feeder, block, block->length * 2 + DETECT_BYTES, &ended));
    }
    return DPL_OK;
}

static void terminate(struct block *block) {
    if (block->length && block->text[block->length - 1] != '\n')
        block->text[block->length++] = '\n';
    block->text[block->length] = '\0';
}

/* Keeps what follows the last line end for the next block. */
static enum dpl_status cut_at_line_end(struct feeder *feeder, struct block *block) {
    char *last = memrchr(block->text, '\n', block->length);
    if (!last) { // one line fills the block and goes on: it is counted, and skipped to its end
        block->line_too_long = !feeder->skipping_line;
        feeder->skipping_line = true;
        block->length = 0;
        return DPL_OK;
    }
    size_t keep = (size_t)(last + 1 - block->text), rest = block->length - keep;
    DPL_TRY(dpl_grow(feeder->run, &feeder->carry, &feeder->carry_capacity, rest + 1, 1));
    memcpy(feeder->carry, last + 1, rest);
    feeder->carry_length = rest;
    block->length = keep;
    return DPL_OK;
}

/* Drops the rest of a line that was too long. */
static void drop_line_rest(struct feeder *feeder, struct block *block, bool ended) {
    char *stop = memchr(block->text, '\n', block->length);
    size_t drop = stop ? (size_t)(stop + 1 - block->text) : block->length;
    memmove(block->text, block->text + drop, block->length - drop);
    block->length -= drop;
    if (stop || ended) feeder->skipping_line = false;
}

/* ---- opening a member ---- */

static void describe(const struct feeder *feeder, const struct layout *layout, char *text,
                     size_t size) {
    static const char *const ROLE[] = {"", "trip", "user", "time", "lat", "lon"};
    struct dpl_read_facts *facts = feeder->facts;
    const struct columns *c = layout->columns;
    if (layout->format != &FORMAT_CSV) {
        snprintf(text, size, "%s", layout->format->name);
        snprintf(facts->time_format, sizeof facts->time_format, "%s",
                 layout->format == &FORMAT_GEOLIFE ? "date and time in GMT" : "epoch seconds");
        return;
    }
    size_t length = 0;
    char separator[4] = {c->delimiter};
    if (c->delimiter == '\t') memcpy(separator, "tab", 4);
    facts->columns[0] = '\0';
    for (enum role role = ROLE_TRIP; role < ROLES; role++)
        if (c->column_of[role] >= 0 && length < sizeof facts->columns)
            length +=
                (size_t)snprintf(facts->columns + length, sizeof facts->columns - length, "%s%s=%s",
                                 length ? ", " : "", ROLE[role], c->name[c->column_of[role]]);
    if (!layout->timed)
        snprintf(facts->time_format, sizeof facts->time_format,
                 "none: rows are taken in file order");
    else if (c->time.kind == TIME_EPOCH)
        snprintf(facts->time_format, sizeof facts->time_format, "epoch %s",
                 c->time.units_per_s == 1      ? "seconds"
                 : c->time.units_per_s == 1000 ? "milliseconds"
                                               : "micro- or nanoseconds");
    else if (c->iso_without_offset)
        snprintf(facts->time_format, sizeof facts->time_format,
                 "ISO 8601 without offset, read as %s",
                 feeder->zone ? feeder->zone_name : "UTC (use --tz)");
    else
        snprintf(facts->time_format, sizeof facts->time_format, "ISO 8601 with offset");
    snprintf(
        text, size, "csv, separator '%s', %s header; columns %s; times %s%s", separator,
        c->has_header ? "with" : "no", facts->columns, facts->time_format,
        layout->split == SPLIT_GAPS_AND_STAYS
            ? "; no trip column: points are cut into trips at gaps of 5 minutes and stays of 15"
            : "");
}

static void note_format(struct dpl_read_facts *facts, const char *name) {
    if (strstr(facts->format, name)) return;
    size_t length = strlen(facts->format);
    snprintf(facts->format + length, sizeof facts->format - length, "%s%s", length ? "+" : "",
             name);
}

/* A member that cannot be used is said and passed over; only when none can be used is it an error.
 */
static void pass_over(struct feeder *feeder, const char *name, enum dpl_status status,
                      const char *problem) {
    feeder->facts->files_skipped++;
    if (!feeder->first_problem[0]) {
        snprintf(feeder->first_problem, sizeof feeder->first_problem, "%s", problem);
        feeder->first_status = status;
    }
    if (!feeder->silent && feeder->facts->files_skipped <= 3)
        dpl_note(feeder->run, "skipped %s: not a data file in a known format", name);
}

static enum dpl_status open_layout(struct feeder *feeder, struct block *block, const char *name) {
    struct sample sample = {feeder->run, &feeder->arena, feeder->options, feeder->zone,
                            name,        block->text,    block->length};
    const struct format *format = feeder->forced ? feeder->forced : format_detect(&sample);
    if (!format) {
        char problem[DPL_FACT_TEXT];
        bool empty = block->length == 0;
        snprintf(
            problem, sizeof problem, "%.800s: %s", name,
            empty ? "the file is empty"
                  : "not in a known format (csv, porto, cabspotting, geolife, geojsonl; plain or "
                    "in .gz .xz .zst .zip .tar); binary, UTF-16, or text without separators?");
        pass_over(feeder, name, DPL_BAD_DATA, problem);
        return DPL_OK;
    }
    struct layout *layout = dpl_arena_take(feeder->run, &feeder->arena, sizeof *layout);
    char *kept = dpl_arena_copy(feeder->run, &feeder->arena, name, strlen(name));
    if (!layout || !kept) return DPL_SYSTEM;
    *layout = (struct layout){
        .format = format, .member = kept, .number = feeder->n_members, .timed = true};
    enum dpl_status status = format->open(&sample, layout);
    if (status == DPL_BAD_DATA && !feeder->options->strict && !feeder->forced) {
        pass_over(feeder, name, status, dpl_run_message(feeder->run));
        dpl_run_begin(feeder->run);
        return DPL_OK;
    }
    DPL_TRY(status);
    feeder->layout = layout;
    return DPL_OK;
}

static void strip_byte_order_mark(struct block *block) {
    if (block->length < 3 || memcmp(block->text, "\xEF\xBB\xBF", 3)) return;
    block->length -= 3;
    memmove(block->text, block->text + 3, block->length);
}

static void say_layout(struct feeder *feeder) {
    char text[DPL_FACT_TEXT + 256];
    describe(feeder, feeder->layout, text, sizeof text);
    note_format(feeder->facts, feeder->layout->format->name);
    if (feeder->layout->split == SPLIT_GAPS_AND_STAYS) feeder->facts->trips_cut = true;
    if (feeder->silent || !strncmp(feeder->said, text, sizeof feeder->said - 1)) return;
    snprintf(feeder->said, sizeof feeder->said, "%.*s", (int)sizeof feeder->said - 1, text);
    dpl_note(feeder->run, "%s: %s", feeder->layout->member, text);
}

/* PRIVACY: what a unit is must be settled by the holder where the data does not settle it. Asked of
 * names, headers and options alone, before any row is read and before any noise. */
static enum dpl_status check_units(const struct feeder *feeder) {
    const struct layout *layout = feeder->layout;
    if (feeder->options->need_trips && layout->split != SPLIT_NONE)
        return dpl_fail(
            feeder->run, DPL_REFUSED,
            "%.800s: has no trips, only tracks (%s), which would be cut into trips at gaps and "
            "stays; --unit trip would then protect such a stretch and no trip that somebody made. "
            "Accept that with --trips-as-cut, or protect persons with --unit user",
            layout->member,
            layout->format == &FORMAT_CSV ? "no column of trip ids: --trip-column names it"
                                          : layout->format->name);
    if (feeder->options->need_users && layout->no_users)
        return dpl_fail(feeder->run, DPL_REFUSED,
                        "%.800s: has no column of users, so that --unit user cannot protect them "
                        "(name the column with --user-column, or use --unit trip)",
                        layout->member);
    return DPL_OK;
}

/* Goes to the next usable member and leaves its beginning in the block; *more is false at the end.
 */
static enum dpl_status open_member(struct feeder *feeder, struct block *block, bool *more,
                                   bool *ended) {
    for (;;) {
        const char *name;
        DPL_TRY(source_next(feeder->source, &name));
        *more = name != NULL;
        if (!name) return DPL_OK;
        block->length = 0;
        DPL_TRY(fill(feeder, block, BLOCK_BYTES, ended));
        strip_byte_order_mark(block);
        if (*ended)
            terminate(block);
        else
            block->text[block->length] = '\0';
        DPL_TRY(open_layout(feeder, block, name));
        if (!feeder->layout) continue;
        DPL_TRY(check_units(feeder));
        feeder->n_members++;
        feeder->facts->files++;
        say_layout(feeder);
        if (feeder->layout->format->whole_member && !*ended) {
            DPL_TRY(fill_whole(feeder, block));
            *ended = true;
        }
        return DPL_OK;
    }
}

enum dpl_status feeder_next(struct feeder *feeder, struct block *block, bool *more) {
    bool ended = false;
    *more = true;
    block->length = 0;
    block->line_too_long = false;
    block->opens_member = !feeder->layout;
    if (!feeder->layout) {
        DPL_TRY(open_member(feeder, block, more, &ended));
        if (!*more) return DPL_OK;
    } else {
        DPL_TRY(dpl_grow(feeder->run, &block->text, &block->capacity, BLOCK_BYTES + BEHIND, 1));
        memcpy(block->text, feeder->carry, feeder->carry_length);
        block->length = feeder->carry_length;
        feeder->carry_length = 0;
        DPL_TRY(fill(feeder, block, BLOCK_BYTES, &ended));
        if (feeder->skipping_line) drop_line_rest(feeder, block, ended);
    }
    block->layout = feeder->layout;
    if (!ended) return cut_at_line_end(feeder, block);
    terminate(block);
    feeder->layout = NULL;
    return DPL_OK;
}

enum dpl_status feeder_finish(struct feeder *feeder) {
    if (feeder->facts->files) return DPL_OK;
    if (feeder->facts->files_skipped > 1)
        return dpl_fail(feeder->run, feeder->first_status,
                        "none of the %zu files is trajectory data; the first: %.900s",
                        feeder->facts->files_skipped, feeder->first_problem);
    if (feeder->first_problem[0])
        return dpl_fail(feeder->run, feeder->first_status, "%.1000s", feeder->first_problem);
    return dpl_fail(feeder->run, DPL_BAD_DATA, "the input holds no files (an empty archive?)");
}

void feeder_rewind(struct feeder *feeder) {
    source_rewind(feeder->source);
    feeder->layout = NULL;
    feeder->n_members = 0;
    feeder->carry_length = 0;
    feeder->skipping_line = false;
    feeder->silent = true;
}

void feeder_free(struct feeder *feeder) {
    dpl_arena_free(&feeder->arena);
    dpl_free(feeder->carry);
}
