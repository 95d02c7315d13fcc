/* Members to blocks of whole lines, about 1 MB each, so that several can be parsed at once.
 *
 * PRIVACY: what a line is cut out for depends on that line alone. A line longer than a block is
 * counted and dropped to its end, and the block behind it is filled up again before it is cut, so
 * that the line after it is read as always. A member's last line without a line end may be cut off
 * in the middle of a number: it is a bad row of its own kind. Memory stays bounded whatever the
 * input. */
#include "ingest/feeder.h"

#include <string.h>

#include "ingest/number.h"

enum { BEHIND = 1 + NUMBER_PADDING, FIRST_BYTES = 1 << 13, NOTES_MAX = 3 }; // scanners may touch
/* PRIVACY: files with a schema are parts of one table, cut by size and not by trip: the rows of a
 * trip id are one trip, whichever of them they are in. */
static const uint32_t TABLE_NUMBER = UINT32_MAX;

const struct ingest_limits DPL_INGEST_LIMITS = {.line_bytes = (size_t)1 << 20,
                                                .member_bytes = (size_t)1 << 30};

/* ---- filling ---- */

static enum dpl_status refuse_bomb(const struct feeder *feeder) {
    return dpl_fail(feeder->run, DPL_BAD_DATA,
                    "%s: %.1f MB unpack to more than 250 times as much; that is no GPS data but a "
                    "bomb (unpack it yourself if you trust it)",
                    feeder->layout->member, dpl_source_file_mb(feeder->source));
}

/* Where lines may end in CR alone, a CR that no LF follows becomes the line end that all others
 * look for. A CR that is the last byte so far waits for the next, unless the member has ended. */
static void end_lines(const struct feeder *feeder, struct block *block, size_t from, bool ended) {
    if (!feeder->cr_lines || !block->length) return;
    char *end = block->text + block->length, *at = block->text + from;
    while ((at = memchr(at, '\r', (size_t)(end - at))) != NULL) {
        bool last = at + 1 == end;
        if (last ? ended : at[1] != '\n') *at = '\n';
        if (last) return;
        at++;
    }
}

static enum dpl_status refuse_document(const struct feeder *feeder, const char *why) {
    return dpl_fail(feeder->run, DPL_BAD_DATA,
                    "%s: not a GeoJSON FeatureCollection: %s (one Feature a line is another "
                    "format: `read.format`)",
                    feeder->name, why);
}

/* The next lines of a document; *got is 0 only at its end. A last line that has no end was cut off
 * with the document. */
static enum dpl_status read_folded(struct feeder *feeder, char *buffer, size_t room, size_t *got) {
    struct unfold *unfold = &feeder->unfold;
    DPL_TRY(dpl_grow(feeder->run, &feeder->folded, &feeder->folded_capacity, room, 1));
    for (*got = 0; *got == 0;) {
        size_t raw;
        DPL_TRY(dpl_source_read(feeder->source, feeder->folded, room, &raw));
        if (raw == 0) break;
        if (!dpl_unfold(unfold, feeder->folded, raw, buffer, got))
            return refuse_document(feeder, "its brackets do not match");
        DPL_TRY(dpl_check_interrupt(feeder->run));
    }
    return *got || unfold->seen ? DPL_OK : refuse_document(feeder, "it has no \"features\"");
}

static enum dpl_status read_bytes(struct feeder *feeder, char *buffer, size_t room, size_t *got) {
    return feeder->document ? read_folded(feeder, buffer, room, got)
                            : dpl_source_read(feeder->source, buffer, room, got);
}

/* How many bytes can be read into the block, which shall hold `want`. It grows with what was read,
 * so that thousands of small files do not cost a large block each. */
static enum dpl_status make_room(const struct feeder *feeder, struct block *block, size_t want,
                                 size_t *room) {
    size_t step = block->length + FIRST_BYTES < want / 2 ? 2 * block->length + FIRST_BYTES : want;
    if (block->capacity < block->length + FIRST_BYTES + BEHIND)
        DPL_TRY(dpl_grow(feeder->run, &block->text, &block->capacity, step + BEHIND, 1));
    size_t end = block->capacity - BEHIND < want ? block->capacity - BEHIND : want;
    *room = end > block->length ? end - block->length : 0;
    return DPL_OK;
}

/* Reads until the block holds `want` bytes or the member ends. */
static enum dpl_status fill(struct feeder *feeder, struct block *block, size_t want, bool *ended) {
    *ended = false;
    while (block->length < want) {
        size_t got, room;
        DPL_TRY(make_room(feeder, block, want, &room));
        DPL_TRY(read_bytes(feeder, block->text + block->length, room, &got));
        size_t from = block->length ? block->length - 1 : 0;
        block->length += got;
        end_lines(feeder, block, from, got == 0);
        feeder->facts->bytes += (int64_t)got;
        if (got == 0) {
            *ended = true;
            break;
        }
    }
    // PRIVACY: how well an archive is packed is no property of one person's file in it; that has a
    // limit of its own, which drops it alone.
    bool table = feeder->layout && !feeder->layout->format->one_person;
    return table && dpl_source_is_bomb(feeder->source) ? refuse_bomb(feeder) : DPL_OK;
}

/* The whole of one person's file; *too_large when it is over the limit. */
static enum dpl_status fill_whole(struct feeder *feeder, struct block *block, bool *too_large) {
    const struct ingest_limits *limits = feeder->limits;
    for (bool ended = false; !ended && block->length <= limits->member_bytes;)
        DPL_TRY(fill(feeder, block, block->length * 2 + limits->line_bytes, &ended));
    *too_large = block->length > limits->member_bytes;
    return DPL_OK;
}

static enum dpl_status carry_over(struct feeder *feeder, const char *text, size_t length) {
    DPL_TRY(dpl_grow(feeder->run, &feeder->carry, &feeder->carry_capacity, length + 1, 1));
    memcpy(feeder->carry, text, length);
    feeder->carry_length = length;
    return DPL_OK;
}

/* A line fills the block and goes on: drops it to its end and keeps what follows. */
static enum dpl_status skip_line(struct feeder *feeder, struct block *block) {
    bool ended = false;
    const char *stop = NULL;
    while (!stop && !ended) {
        DPL_TRY(dpl_check_interrupt(feeder->run));
        // The last byte may be the line's end, which only the next one shows.
        bool waits = feeder->cr_lines && block->text[block->length - 1] == '\r';
        block->text[0] = '\r';
        block->length = waits;
        DPL_TRY(fill(feeder, block, feeder->limits->line_bytes, &ended));
        stop = memchr(block->text, '\n', block->length);
    }
    block->line_too_long = true;
    const char *end = block->text + block->length;
    block->length = 0;
    return carry_over(feeder, stop ? stop + 1 : end, stop ? (size_t)(end - stop - 1) : 0);
}

/* Keeps what follows the last line end for the next block. */
static enum dpl_status cut_at_line_end(struct feeder *feeder, struct block *block) {
    const char *last = memrchr(block->text, '\n', block->length);
    if (!last) return skip_line(feeder, block);
    size_t keep = (size_t)(last + 1 - block->text);
    DPL_TRY(carry_over(feeder, last + 1, block->length - keep));
    block->length = keep;
    return DPL_OK;
}

/* The member ends with this block, perhaps in the middle of a line. */
static void end_member(struct feeder *feeder, struct block *block) {
    const char *last = block->length ? memrchr(block->text, '\n', block->length) : NULL;
    size_t keep = last ? (size_t)(last + 1 - block->text) : 0;
    block->cut_length = block->length - keep;
    block->length = keep;
    feeder->layout = NULL;
}

/* ---- saying what was settled ---- */

void dpl_columns_list(const struct columns *columns, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (enum role role = ROLE_TRIP; role < ROLES; role++)
        if (columns->column_of[role] >= 0 && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s=%s", length ? ", " : "",
                                 DPL_ROLE_NAMES[role], columns->name[columns->column_of[role]]);
}

const char *dpl_cut_words(const struct dpl_read_options *options, char text[CUT_WORDS]) {
    snprintf(text, CUT_WORDS,
             "; no trip column: points are cut into trips at gaps of %g minutes and stays of 15",
             options->gap_limit_s / 60.0);
    return text;
}

static void describe(const struct feeder *feeder, const struct layout *layout, char *text,
                     size_t size) {
    struct dpl_read_facts *facts = feeder->facts;
    char word[8], cut[CUT_WORDS] = "";
    if (layout->split == SPLIT_GAPS_AND_STAYS) dpl_cut_words(feeder->options, cut);
    if (!layout->format->table) {
        snprintf(text, size, "%s", layout->format->name);
        return;
    }
    dpl_columns_list(layout->columns, facts->columns, sizeof facts->columns);
    if (layout->format->schema) {
        snprintf(text, size, "%s, columns %s%s", layout->format->name, facts->columns, cut);
        return;
    }
    snprintf(text, size, "csv, separator '%s', %s header; columns %s%s",
             dpl_separator_word(layout->columns->delimiter, word),
             layout->header_lines ? "with" : "no", facts->columns, cut);
}

static void note_format(struct dpl_read_facts *facts, const char *name) {
    if (strstr(facts->format, name)) return;
    size_t length = strlen(facts->format);
    snprintf(facts->format + length, sizeof facts->format - length, "%s%s", length ? "+" : "",
             name);
}

/* PRIVACY: what may be published about how the input was read. One table's name and header line
 * are public; of several files, each may be one person's. A file with a
 * schema is no such stream: nothing has to be settled, and a model of its rows is that of the same
 * rows in memory, to the byte. */
static void settle_reading(struct feeder *feeder) {
    struct dpl_reading *reading = &feeder->facts->reading;
    const struct layout *layout = feeder->layout;
    const struct columns *columns = layout->columns;
    char word[8];
    if (!dpl_source_is_one_stream(feeder->source) || layout->format->one_person) return;
    *reading = (struct dpl_reading){.settled = true};
    snprintf(reading->format, sizeof reading->format, "%s", layout->format->name);
    if (layout->format != &DPL_FORMAT_CSV) return;
    snprintf(reading->separator, sizeof reading->separator, "%s",
             dpl_separator_word(columns->delimiter, word));
    for (enum role role = ROLE_TRIP; layout->header_lines && role < ROLES; role++)
        if (columns->column_of[role] >= 0)
            snprintf(reading->column[role - ROLE_TRIP], sizeof reading->column[0], "%s",
                     columns->name[columns->column_of[role]]);
}

static void say_layout(struct feeder *feeder) {
    char text[DPL_FACT_TEXT + 256];
    describe(feeder, feeder->layout, text, sizeof text);
    note_format(feeder->facts, feeder->layout->format->name);
    settle_reading(feeder);
    if (feeder->layout->split == SPLIT_GAPS_AND_STAYS) feeder->facts->trips_cut = true;
    if (feeder->silent || !strncmp(feeder->said, text, sizeof feeder->said - 1)) return;
    snprintf(feeder->said, sizeof feeder->said, "%.*s", (int)sizeof feeder->said - 1, text);
    dpl_note(feeder->run, "%s: %s", feeder->layout->member, text);
}

/* ---- opening a member ---- */

/* PRIVACY: a member that cannot be used may be one person's file: it is dropped, counted and said,
 * and never ends the run. Only when none can be used is it an error. */
static enum dpl_status pass_over(struct feeder *feeder, const char *name, enum dpl_status status) {
    const char *problem = dpl_run_message(feeder->run);
    feeder->facts->files_skipped++;
    if (!feeder->first_problem[0]) {
        snprintf(feeder->first_problem, sizeof feeder->first_problem, "%s", problem);
        feeder->first_status = status;
    }
    if (!feeder->silent && feeder->facts->files_skipped <= NOTES_MAX)
        dpl_note(feeder->run, "skipped %s: %s", name, problem);
    dpl_run_begin(feeder->run);
    return DPL_OK;
}

/* Where a header of that many lines ends in the text; SIZE_MAX when it is not all there. */
static size_t header_length(const struct block *block, int lines) {
    size_t length = 0;
    for (; lines > 0; lines--) {
        const char *stop = memchr(block->text + length, '\n', block->length - length);
        if (!stop) return SIZE_MAX;
        length = (size_t)(stop + 1 - block->text);
    }
    return length;
}

static struct field first_line(const struct block *block) {
    struct field rest;
    return dpl_take_line((struct field){block->text, block->length}, &rest);
}

/* Whether the member's header line ends in CR, with LF behind it or not: then CR alone ends a line,
 * too.
 * PRIVACY: only a header decides how lines end, and not the byte behind its CR, which may be a
 * row's; where the first line may be a row, LF ends it. */
static bool ends_in_cr(const struct feeder *feeder, const struct block *block, const char *name) {
    const struct dpl_read_options *options = feeder->options;
    const char *cr = block->length ? memchr(block->text, '\r', block->length) : NULL;
    if (!cr || memchr(block->text, '\n', (size_t)(cr - block->text))) return false;
    struct field header = {block->text, (size_t)(cr - block->text)};
    const struct format *format =
        dpl_format_choose(options, name, header, dpl_source_has_schema(feeder->source));
    return dpl_format_header_lines(format, options) > 0;
}

/* Opens the member as the options say. The header lines stay in front of the block's rows. */
static enum dpl_status open_layout(struct feeder *feeder, const struct dpl_read_options *options,
                                   const struct block *block, const char *name,
                                   struct layout **made) {
    const bool schema = dpl_source_has_schema(feeder->source);
    const struct format *format = dpl_format_choose(options, name, first_line(block), schema);
    int lines = dpl_format_header_lines(format, options);
    size_t length = header_length(block, lines);
    if (length == SIZE_MAX)
        return dpl_fail(feeder->run, DPL_BAD_DATA, "%s: %s", name,
                        block->length ? "the header is cut off, or longer than 1 MB"
                                      : "the file is empty");
    struct layout *layout = dpl_arena_take(feeder->run, &feeder->arena, sizeof *layout);
    char *kept = dpl_arena_copy(feeder->run, &feeder->arena, name, strlen(name));
    if (!layout || !kept) return DPL_SYSTEM;
    const struct opening opening = {feeder->run, &feeder->arena,        options, feeder->zone,
                                    name,        {block->text, length}, schema};
    *layout = (struct layout){.format = format,
                              .member = kept,
                              .number = schema ? TABLE_NUMBER : feeder->n_members,
                              .header_lines = lines,
                              .timed = true};
    DPL_TRY(format->open(&opening, layout));
    *made = layout;
    return DPL_OK;
}

/* A second try with options that the first rows suggest; fails like the first where they do not. */
static enum dpl_status open_by_guess(struct feeder *feeder, const struct block *block,
                                     const char *name, enum dpl_status status,
                                     struct layout **made) {
    struct dpl_read_options guessed;
    const struct opening opening = {
        .run = feeder->run, .arena = &feeder->arena, .options = feeder->options, .name = name};
    char advice[GUESS_ADVICE];
    bool found = false;
    DPL_TRY(dpl_guess_options(&opening, (struct field){block->text, block->length}, &guessed,
                              advice, &found));
    if (!found) return status;
    dpl_run_begin(feeder->run);
    DPL_TRY(open_layout(feeder, &guessed, block, name, made));
    snprintf(feeder->facts->options_needed, sizeof feeder->facts->options_needed, "%s", advice);
    return DPL_OK;
}

/* Opens a member whose beginning is in the block, and takes the header away from its rows. The
 * layout stays NULL when the member cannot be used. */
static enum dpl_status open_rows(struct feeder *feeder, struct block *block, const char *name) {
    const struct dpl_read_options *options = feeder->options;
    struct layout *layout = NULL;
    enum dpl_status status = open_layout(feeder, options, block, name, &layout);
    bool unusable = status == DPL_BAD_DATA || status == DPL_USAGE;
    bool told = options->columns || options->trip_column || options->user_column ||
                options->time_column || options->lat_column || options->lon_column ||
                options->date_column;
    bool may_guess = options->guess && !strcmp(options->format, "auto") && !told;
    if (unusable && may_guess) status = open_by_guess(feeder, block, name, status, &layout);
    unusable = status == DPL_BAD_DATA || status == DPL_USAGE;
    if (unusable && !options->strict) return pass_over(feeder, name, status);
    DPL_TRY(status);
    size_t header = header_length(block, layout->header_lines);
    block->length -= header;
    memmove(block->text, block->text + header, block->length);
    feeder->layout = layout;
    return DPL_OK;
}

/* The rest of what the first block of the open member holds. */
static enum dpl_status fill_first(struct feeder *feeder, struct block *block, const char *name,
                                  bool *ended) {
    bool too_large = false;
    if (!feeder->layout->format->one_person)
        return *ended ? DPL_OK : fill(feeder, block, feeder->limits->line_bytes, ended);
    if (!*ended) DPL_TRY(fill_whole(feeder, block, &too_large));
    *ended = true;
    if (!too_large) return DPL_OK;
    enum dpl_status status =
        dpl_fail(feeder->run, DPL_BAD_DATA, "%s: one person's file of more than %.0f MB", name,
                 (double)feeder->limits->member_bytes / 0x1p20);
    feeder->layout = NULL;
    return feeder->options->strict ? status : pass_over(feeder, name, status);
}

/* PRIVACY: what a unit is must be settled by the holder where the data does not settle it. Asked of
 * names, headers and options alone, before any row is read and before any noise. */
enum dpl_status dpl_units_check(struct dpl_run *run, const struct dpl_read_options *options,
                                const struct layout *layout) {
    const bool tracks = layout->split == SPLIT_STAYS || layout->split == SPLIT_GAPS_AND_STAYS;
    if (options->need_trips && tracks)
        return dpl_fail(
            run, DPL_REFUSED,
            "%.800s: has no trips, only tracks (%s), which would be cut into trips at gaps and "
            "stays; `budget.unit` trip would then protect such a stretch and no trip that somebody "
            "made. "
            "Accept that with `fit.trips_as_cut`, or protect persons with `budget.unit` user",
            layout->member,
            layout->columns ? "no column of trip ids: `read.trip_column` names it"
                            : layout->format->name);
    if (options->need_users && layout->no_users)
        return dpl_fail(
            run, DPL_REFUSED,
            "%.800s: has no column of users, so that `budget.unit` user cannot protect them "
            "(name the column with `read.user_column`, or use `budget.unit` trip)",
            layout->member);
    return DPL_OK;
}

/* The member's first bytes; not usable when it is a document that is none. */
static enum dpl_status begin_member(struct feeder *feeder, struct block *block, const char *name,
                                    bool *ended, bool *usable) {
    block->length = 0;
    feeder->cr_lines = false;
    feeder->name = name;
    feeder->document = dpl_format_is_document(feeder->options, name);
    feeder->unfold = (struct unfold){0};
    enum dpl_status status = fill(feeder, block, feeder->limits->line_bytes, ended);
    *usable = status == DPL_OK;
    bool none = feeder->document && status == DPL_BAD_DATA && !feeder->options->strict;
    return none ? pass_over(feeder, name, status) : status;
}

/* Goes to the next usable member and leaves its beginning in the block; *more is false at the end.
 */
static enum dpl_status open_member(struct feeder *feeder, struct block *block, bool *more,
                                   bool *ended) {
    const char *name;
    do {
        DPL_TRY(dpl_source_next(feeder->source, &name));
        *more = name != NULL;
        if (!name) return DPL_OK;
        bool usable;
        DPL_TRY(begin_member(feeder, block, name, ended, &usable));
        if (!usable) continue;
        feeder->cr_lines = ends_in_cr(feeder, block, name);
        end_lines(feeder, block, 0, *ended);
        DPL_TRY(open_rows(feeder, block, name));
        if (feeder->layout) DPL_TRY(dpl_units_check(feeder->run, feeder->options, feeder->layout));
        if (feeder->layout) DPL_TRY(fill_first(feeder, block, name, ended));
    } while (!feeder->layout);
    feeder->n_members++;
    feeder->facts->files++;
    say_layout(feeder);
    return DPL_OK;
}

static enum dpl_status go_on(struct feeder *feeder, struct block *block, bool *ended) {
    const size_t need = feeder->carry_length + BEHIND;
    DPL_TRY(dpl_grow(feeder->run, &block->text, &block->capacity, need, 1));
    if (feeder->carry_length) memcpy(block->text, feeder->carry, feeder->carry_length);
    block->length = feeder->carry_length;
    feeder->carry_length = 0;
    return fill(feeder, block, feeder->limits->line_bytes, ended);
}

enum dpl_status dpl_feeder_next(struct feeder *feeder, struct block *block, bool *more) {
    bool ended = false;
    *more = true;
    block->length = block->cut_length = 0;
    block->line_too_long = false;
    block->opens_member = !feeder->layout;
    DPL_TRY(feeder->layout ? go_on(feeder, block, &ended)
                           : open_member(feeder, block, more, &ended));
    block->layout = feeder->layout;
    if (!*more) return DPL_OK;
    if (!ended) return cut_at_line_end(feeder, block);
    end_member(feeder, block);
    return DPL_OK;
}

enum dpl_status dpl_feeder_finish(struct feeder *feeder) {
    if (feeder->facts->files) return DPL_OK;
    if (feeder->facts->files_skipped > 1)
        return dpl_fail(feeder->run, feeder->first_status,
                        "none of the %zu files is trajectory data; the first: %.900s",
                        feeder->facts->files_skipped, feeder->first_problem);
    if (feeder->first_problem[0])
        return dpl_fail(feeder->run, feeder->first_status, "%.1000s", feeder->first_problem);
    return dpl_fail(feeder->run, DPL_BAD_DATA, "the input holds no files (an empty archive?)");
}

void dpl_feeder_rewind(struct feeder *feeder) {
    dpl_source_rewind(feeder->source);
    feeder->layout = NULL;
    feeder->n_members = 0;
    feeder->carry_length = 0;
    feeder->silent = true;
}

void dpl_feeder_free(struct feeder *feeder) {
    dpl_arena_free(&feeder->arena);
    dpl_free(feeder->folded);
    dpl_free(feeder->carry);
}
