/* Delimited text with one point a row, in any column order.
 *
 * Detection looks at the first lines only: delimiter, header, which column is what, how times are
 * written. It never guesses in silence: what it took for what is said, and where two columns could
 * be meant it stops and names the option that decides.
 *
 * Parsing has two paths. The fast one scans each byte once and gives up at the first surprise (a
 * quote, a blank, an exponent, an odd time); the careful one then reads the row again, and either
 * finds it good or says what is wrong with it. They agree wherever the fast one succeeds. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "ingest/format.h"
#include "ingest/number.h"

enum { SAMPLE_ROWS = 50 };

static const char *const ROLE_NAMES[ROLES] = {"", "trip", "user", "time", "lat", "lon"};

/* Names that a column may have, letters and digits only, lower case; the first that occurs wins
 * within a line, and lines of a role are tried in turn. */
static const struct {
    enum role role;
    const char *names;
} KNOWN_NAMES[] = {
    {ROLE_TRIP, " tid trip tripid traj trajid trajectory trajectoryid journey journeyid order "
                "orderid track trackid ride rideid tripno "},
    {ROLE_USER, " uid user userid taxi taxiid driver driverid vehicle vehicleid vehid cab cabid "
                "person personid device deviceid agent agentid "},
    {ROLE_TIME, " datetime timestamp time unixtime epoch utc t ts gpstime gpsdatetime timestamputc "
                "recordedat "},
    {ROLE_LAT, " lat latitude latdeg gpslat "},
    {ROLE_LON, " lng lon long longitude londeg lngdeg gpslon gpslng "},
    {ROLE_LAT, " y "},
    {ROLE_LON, " x "},
};
enum { N_KNOWN_NAMES = sizeof KNOWN_NAMES / sizeof *KNOWN_NAMES };

/* ---- detection ---- */

static bool looks_like_text(const struct sample *sample) {
    size_t look = sample->length < 4096 ? sample->length : 4096, odd = 0;
    for (size_t i = 0; i < look; i++) {
        unsigned char c = (unsigned char)sample->text[i];
        odd += c < 32 && c != '\n' && c != '\r' && c != '\t';
    }
    return odd * 20 <= look;
}

/* The separator that occurs most often in the line, 0 if none does. */
static char find_delimiter(struct field line) {
    static const char CANDIDATES[] = ",;\t|";
    char best = 0;
    int most = 0;
    for (const char *candidate = CANDIDATES; *candidate; candidate++) {
        int count = 0;
        bool quoted = false;
        for (size_t i = 0; i < line.length; i++) {
            if (line.text[i] == '"') quoted = !quoted;
            count += !quoted && line.text[i] == *candidate;
        }
        if (count > most) most = count, best = *candidate;
    }
    return best;
}

static bool matches(const struct sample *sample) {
    const char *next;
    return looks_like_text(sample) && find_delimiter(take_line(sample->text, &next));
}

/* "Trip_ID" -> "tripid" */
static void normalise(struct field field, char *name, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < field.length && length + 1 < size; i++)
        if (isalnum((unsigned char)field.text[i]))
            name[length++] = (char)tolower((unsigned char)field.text[i]);
    name[length] = '\0';
}

static bool field_is(struct field field, const char *name) {
    return strlen(name) == field.length && !strncasecmp(field.text, name, field.length);
}

static bool is_value(struct field field) {
    double number;
    int64_t units;
    bool offset;
    return parse_number(field.text, field.length, &number) ||
           time_guess(field.text, field.length, &units, &offset) != TIME_UNKNOWN;
}

static bool is_header(const struct field *fields, int count) {
    for (int i = 0; i < count; i++)
        if (is_value(fields[i])) return false;
    return true;
}

/* All column names in one line of text, for messages. */
static void list_columns(const struct columns *columns, int count, char *text, size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < count && length + 1 < size; i++) {
        int written =
            snprintf(text + length, size - length, "%s%.40s", i ? ", " : "", columns->name[i]);
        length += written > 0 ? (size_t)written : 0;
    }
}

static const char *option_of(const struct dpl_read_options *options, enum role role) {
    switch (role) {
    case ROLE_TRIP: return options->trip_column;
    case ROLE_USER: return options->user_column;
    case ROLE_TIME: return options->time_column;
    case ROLE_LAT: return options->lat_column;
    case ROLE_LON: return options->lon_column;
    default: return NULL;
    }
}

/* A column the user named. */
static enum dpl_status assign_named(const struct sample *sample, struct columns *columns, int count,
                                    enum role role, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcasecmp(columns->name[i], name)) {
            columns->column_of[role] = i;
            return DPL_OK;
        }
    char all[512];
    list_columns(columns, count, all, sizeof all);
    return dpl_fail(sample->run, DPL_USAGE,
                    "%s:1: there is no column '%.64s' (--%s-column); the columns are %s",
                    sample->name, name, ROLE_NAMES[role], all);
}

/* A role found by name, for all names of one line of the table; two that fit are an error. */
static enum dpl_status assign_known(const struct sample *sample, struct columns *columns,
                                    const struct field *fields, int count, size_t line) {
    enum role role = KNOWN_NAMES[line].role;
    if (columns->column_of[role] >= 0) return DPL_OK;
    for (int i = 0; i < count; i++) {
        char plain[64], spaced[68];
        normalise(fields[i], plain, sizeof plain);
        snprintf(spaced, sizeof spaced, " %s ", plain);
        if (!plain[0] || !strstr(KNOWN_NAMES[line].names, spaced)) continue;
        int taken = columns->column_of[role];
        if (taken >= 0)
            return dpl_fail(
                sample->run, DPL_USAGE,
                "%s:1: both '%.64s' and '%.64s' may be the %s column; say which with --%s-column",
                sample->name, columns->name[taken], columns->name[i], ROLE_NAMES[role],
                ROLE_NAMES[role]);
        columns->column_of[role] = i;
    }
    return DPL_OK;
}

static enum dpl_status missing_column(const struct sample *sample, const struct columns *columns,
                                      int count, enum role role) {
    char all[512];
    list_columns(columns, count, all, sizeof all);
    return dpl_fail(sample->run, DPL_BAD_DATA,
                    "%s:1: no %s column among %s (name it with --%s-column)", sample->name,
                    role == ROLE_LAT   ? "latitude"
                    : role == ROLE_LON ? "longitude"
                                       : ROLE_NAMES[role],
                    all, ROLE_NAMES[role]);
}

/* An "id" alone could be either's: that is for the user to say. */
static enum dpl_status check_bare_id(const struct sample *sample, const struct columns *columns,
                                     const struct field *fields, int count) {
    if (columns->column_of[ROLE_TRIP] >= 0 || columns->column_of[ROLE_USER] >= 0) return DPL_OK;
    for (int i = 0; i < count; i++)
        if (field_is(fields[i], "id"))
            return dpl_fail(
                sample->run, DPL_USAGE,
                "%s:1: is '%.*s' a trip or a user? Say --trip-column %.*s or --user-column %.*s",
                sample->name, (int)fields[i].length, fields[i].text, (int)fields[i].length,
                fields[i].text, (int)fields[i].length, fields[i].text);
    return DPL_OK;
}

static enum dpl_status columns_by_header(const struct sample *sample, struct columns *columns,
                                         const struct field *fields, int count) {
    for (enum role role = ROLE_TRIP; role < ROLES; role++) {
        const char *name = option_of(sample->options, role);
        if (name) DPL_TRY(assign_named(sample, columns, count, role, name));
    }
    for (size_t line = 0; line < N_KNOWN_NAMES; line++)
        DPL_TRY(assign_known(sample, columns, fields, count, line));
    for (enum role role = ROLE_TIME; role < ROLES; role++)
        if (columns->column_of[role] < 0 && !(role == ROLE_TIME && sample->options->time_optional))
            return missing_column(sample, columns, count, role);
    return check_bare_id(sample, columns, fields, count);
}

/* --columns user,time,lon,lat,- */
static enum dpl_status columns_by_option(const struct sample *sample, struct columns *columns) {
    struct field words[MAX_COLUMNS];
    const char *list = sample->options->columns;
    int count = split_line(list, strlen(list), ',', words);
    for (int i = 0; i < count; i++) {
        if (field_is(words[i], "-")) continue;
        enum role role = ROLE_TRIP;
        while (role < ROLES && !field_is(words[i], ROLE_NAMES[role])) role++;
        if (role == ROLES)
            return dpl_fail(sample->run, DPL_USAGE,
                            "--columns: '%.*s' is not one of trip, user, time, lat, lon, -",
                            (int)words[i].length, words[i].text);
        columns->column_of[role] = i;
    }
    for (enum role role = ROLE_TIME; role < ROLES; role++)
        if (columns->column_of[role] < 0 && !(role == ROLE_TIME && sample->options->time_optional))
            return dpl_fail(sample->run, DPL_USAGE, "--columns %s lacks '%s'", list,
                            ROLE_NAMES[role]);
    return DPL_OK;
}

static bool has_point(struct field field) { return memchr(field.text, '.', field.length) != NULL; }

/* One row without names: the time is what looks like one, coordinates are the two decimal numbers,
 * and which of them is which only a value beyond 90 tells. False when it does not tell. */
static bool guess_columns(const struct field *fields, int count, int column_of[8]) {
    int decimal[2] = {-1, -1}, n_decimals = 0, time = -1, id = -1;
    double value[2] = {0, 0}, number;
    for (int i = 0; i < count; i++) {
        int64_t units;
        bool offset, numeric = parse_number(fields[i].text, fields[i].length, &number);
        enum time_kind kind = time_guess(fields[i].text, fields[i].length, &units, &offset);
        bool is_time = kind == TIME_ISO || (kind == TIME_EPOCH && !has_point(fields[i]) &&
                                            time_in_range((int64_t)(number / (double)units)));
        if (is_time && time < 0)
            time = i;
        else if (numeric && has_point(fields[i])) {
            if (n_decimals < 2) decimal[n_decimals] = i, value[n_decimals] = number;
            n_decimals++;
        } else if (id < 0)
            id = i;
    }
    int lon_at = value[0] > 90 || value[0] < -90 ? 0 : 1;
    if (n_decimals != 2 || time < 0 || (value[lon_at] <= 90 && value[lon_at] >= -90)) return false;
    column_of[ROLE_TIME] = time;
    column_of[ROLE_LON] = decimal[lon_at];
    column_of[ROLE_LAT] = decimal[1 - lon_at];
    column_of[ROLE_USER] = id;
    return true;
}

/* The first rows may be broken (0,0 is common): any of them that tells will do. */
static enum dpl_status columns_by_content(const struct sample *sample, struct columns *columns) {
    const char *next = sample->text;
    for (int row = 0; row < SAMPLE_ROWS && *next; row++) {
        struct field fields[MAX_COLUMNS], line = take_line(next, &next);
        int count = split_line(line.text, line.length, columns->delimiter, fields);
        if (guess_columns(fields, count, columns->column_of)) return DPL_OK;
    }
    return dpl_fail(sample->run, DPL_USAGE,
                    "%s:1: no header, and the columns do not tell latitude from longitude; name "
                    "them in order: --columns user,time,lon,lat ('-' for others)",
                    sample->name);
}

/* How times are written: the first row whose time can be read decides. */
static enum dpl_status detect_time(const struct sample *sample, struct columns *columns,
                                   const char *data) {
    int column = columns->column_of[ROLE_TIME];
    const char *unit = sample->options->time_unit, *next = data;
    columns->time =
        (struct time_format){.kind = TIME_EPOCH, .units_per_s = 1, .zone = sample->zone};
    if (column < 0) return DPL_OK;
    struct field seen = {"", 0};
    int rows = 0;
    for (; rows < SAMPLE_ROWS && *next; rows++) {
        struct field fields[MAX_COLUMNS], line = take_line(next, &next);
        if (split_line(line.text, line.length, columns->delimiter, fields) <= column) continue;
        int64_t units;
        bool has_offset;
        enum time_kind kind =
            time_guess(fields[column].text, fields[column].length, &units, &has_offset);
        if (!seen.length) seen = fields[column];
        if (kind == TIME_UNKNOWN) continue;
        columns->time.kind = kind;
        columns->time.units_per_s = !strcmp(unit, "s") ? 1 : !strcmp(unit, "ms") ? 1000 : units;
        columns->iso_without_offset = kind == TIME_ISO && !has_offset;
        return DPL_OK;
    }
    if (!seen.length) {
        if (rows && sample->options->time_optional)
            columns->column_of[ROLE_TIME] = -1; // a method that releases no time leaves it empty
        return DPL_OK;
    }
    return dpl_fail(sample->run, DPL_BAD_DATA,
                    "%s:2: column '%s': \"%.*s\" is not a time (epoch seconds or milliseconds, or "
                    "ISO 8601; use --time-column)",
                    sample->name, columns->name[column], (int)(seen.length < 40 ? seen.length : 40),
                    seen.text);
}

static enum dpl_status name_columns(const struct sample *sample, struct columns *columns,
                                    const struct field *fields, int count) {
    for (int i = 0; i < count; i++) {
        char numbered[16];
        struct field name = fields[i];
        if (!columns->has_header)
            name =
                (struct field){numbered, (size_t)snprintf(numbered, sizeof numbered, "%d", i + 1)};
        columns->name[i] = dpl_arena_copy(sample->run, sample->arena, name.text,
                                          name.length < 64 ? name.length : 64);
        if (!columns->name[i]) return DPL_SYSTEM;
    }
    return DPL_OK;
}

static enum dpl_status open_layout(const struct sample *sample, struct layout *layout) {
    struct columns *columns = dpl_arena_take(sample->run, sample->arena, sizeof *columns);
    if (!columns) return DPL_SYSTEM;
    struct field fields[MAX_COLUMNS];
    const char *second;
    struct field first = take_line(sample->text, &second);
    columns->delimiter = find_delimiter(first);
    if (!columns->delimiter) columns->delimiter = ',';
    int count = split_line(first.text, first.length, columns->delimiter, fields);
    if (count < 0)
        return dpl_fail(sample->run, DPL_BAD_DATA, "%s:1: a quote is opened and not closed",
                        sample->name);
    for (int role = 0; role < 8; role++) columns->column_of[role] = -1;
    columns->has_header = !sample->options->columns && is_header(fields, count);
    DPL_TRY(name_columns(sample, columns, fields, count));
    if (sample->options->columns)
        DPL_TRY(columns_by_option(sample, columns));
    else if (columns->has_header)
        DPL_TRY(columns_by_header(sample, columns, fields, count));
    else
        DPL_TRY(columns_by_content(sample, columns));
    DPL_TRY(detect_time(sample, columns, columns->has_header ? second : sample->text));
    for (int role = ROLE_TRIP; role < ROLES; role++) {
        int column = columns->column_of[role];
        if (column < 0) continue;
        if (column >= count && !columns->has_header)
            return dpl_fail(sample->run, DPL_BAD_DATA, "%s:1: has %d fields, --columns names more",
                            sample->name, count);
        columns->role_at[column] = (uint8_t)role;
        if (column + 1 > columns->count) columns->count = column + 1;
    }
    layout->columns = columns;
    layout->timed = columns->column_of[ROLE_TIME] >= 0;
    layout->split = columns->column_of[ROLE_TRIP] >= 0 ? SPLIT_NONE : SPLIT_GAPS_AND_STAYS;
    layout->no_users = columns->column_of[ROLE_USER] < 0;
    return DPL_OK;
}

/* ---- parsing ---- */

struct row {
    struct field trip, user;
    struct point point;
};

/* Whole epoch seconds or milliseconds, and ISO times without fraction, with no offset or a 'Z'. */
static const char *scan_time(const struct time_format *format, const char *text, int64_t *utc_s) {
    if (format->kind == TIME_EPOCH) {
        text = scan_whole(text, utc_s);
        if (format->units_per_s != 1) *utc_s /= format->units_per_s;
        return text;
    }
    int64_t local_s = 0;
    text = scan_iso(text, &local_s);
    if (!text) return NULL;
    if (*text == 'Z') {
        *utc_s = local_s;
        return text + 1;
    }
    *utc_s = format->zone ? dpl_zone_utc_s(format->zone, local_s) : local_s;
    return text; // an offset or a fraction stands here: not the delimiter, so the careful path
                 // takes over
}

static bool same_field(struct field a, struct field b) {
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

/* Whether what the fast path read may be used as it is. */
static bool plausible(const struct columns *columns, const struct row *row) {
    return check_position(row->point.lat_deg, row->point.lon_deg) == DPL_REJECTS &&
           time_in_range(row->point.utc_s) &&
           (columns->column_of[ROLE_TRIP] < 0 || row->trip.length) &&
           (columns->column_of[ROLE_USER] < 0 || row->user.length);
}

/* The id at text; when it is the one of the row before, which is the rule, one comparison finds
 * that out. */
static inline const char *scan_id(const char *text, char delimiter, struct field *id, bool *same) {
    size_t alike = 0; // a loop, because most ids are too short for a call of memcmp to pay
    while (alike < id->length && text[alike] == id->text[alike]) alike++;
    if (alike && alike == id->length && text[alike] == delimiter) return text + alike;
    const char *begin = text;
    while (*text != delimiter && *text != '\n' && *text != '\r' && *text != ' ' && *text) text++;
    struct field found = {begin, (size_t)(text - begin)};
    if (!same_field(found, *id)) *same = false;
    *id = found;
    return text;
}

/* True when the whole line was read by the quick scanners and all values make sense; *next is then
 * the following line. `row` holds the ids of the row before; *same is cleared when they changed. */
static bool read_fast(const struct columns *columns, const char *text, struct row *row,
                      const char **next, bool *same) {
    const char delimiter = columns->delimiter;
    bool user_same = true;
    for (int column = 0;; column++) {
        if (*text == '"' || *text == ' ') return false;
        switch (column < columns->count ? columns->role_at[column] : ROLE_NONE) {
        case ROLE_LAT: text = scan_decimal(text, &row->point.lat_deg); break;
        case ROLE_LON: text = scan_decimal(text, &row->point.lon_deg); break;
        case ROLE_TIME: text = scan_time(&columns->time, text, &row->point.utc_s); break;
        case ROLE_TRIP: text = scan_id(text, delimiter, &row->trip, same); break;
        case ROLE_USER: text = scan_id(text, delimiter, &row->user, &user_same); break;
        default:
            while (*text != delimiter && *text != '\n' && *text != '\r' && *text) text++;
        }
        if (!text) return false;
        if (*text == delimiter) {
            text++;
            continue;
        }
        if (*text == '\r') text++;
        if (*text != '\n' || column + 1 < columns->count) return false;
        *next = text + 1;
        *same &= user_same || columns->column_of[ROLE_TRIP] >= 0;
        return plausible(columns, row);
    }
}

static enum dpl_reject time_reject(enum time_result result) {
    return result == TIME_OK          ? DPL_REJECTS
           : result == TIME_MALFORMED ? DPL_REJECT_BAD_TIME
                                      : DPL_REJECT_TIME_OUT_OF_RANGE;
}

/* One field into its place in the row; the reason when it does not fit. */
static enum dpl_reject read_field(const struct columns *columns, enum role role, struct field field,
                                  struct row *row) {
    switch (role) {
    case ROLE_TRIP: row->trip = field; return field.length ? DPL_REJECTS : DPL_REJECT_NO_ID;
    case ROLE_USER: row->user = field; return field.length ? DPL_REJECTS : DPL_REJECT_NO_ID;
    case ROLE_TIME:
        return time_reject(time_parse(&columns->time, field.text, field.length, &row->point.utc_s));
    case ROLE_LAT:
        if (!parse_number(field.text, field.length, &row->point.lat_deg))
            return DPL_REJECT_BAD_NUMBER;
        return row->point.lat_deg >= -90 && row->point.lat_deg <= 90 ? DPL_REJECTS
                                                                     : DPL_REJECT_BAD_LATITUDE;
    case ROLE_LON:
        if (!parse_number(field.text, field.length, &row->point.lon_deg))
            return DPL_REJECT_BAD_NUMBER;
        return row->point.lon_deg >= -180 && row->point.lon_deg <= 180 ? DPL_REJECTS
                                                                       : DPL_REJECT_BAD_LONGITUDE;
    default: return DPL_REJECTS;
    }
}

/* The careful path: any quoting, any number, and a reason with column and value for what is bad. */
static bool read_carefully(struct block *block, struct field line, struct row *row) {
    const struct columns *columns = block->layout->columns;
    struct field fields[MAX_COLUMNS];
    if (memchr(line.text, '\0', line.length)) {
        block_reject(block, DPL_REJECT_NUL_BYTE, block->lines, NULL, line);
        return false;
    }
    int count = split_line(line.text, line.length, columns->delimiter, fields);
    if (count < columns->count) {
        block_reject(block, count < 0 ? DPL_REJECT_BAD_QUOTES : DPL_REJECT_MISSING_FIELD,
                     block->lines, NULL, line);
        return false;
    }
    for (int i = 0; i < columns->count; i++) {
        enum dpl_reject reason = read_field(columns, columns->role_at[i], fields[i], row);
        if (reason == DPL_REJECTS) continue;
        block_reject(block, reason, block->lines, columns->name[i], fields[i]);
        return false;
    }
    if (row->point.lat_deg == 0 && row->point.lon_deg == 0) {
        block_reject(block, DPL_REJECT_ZERO_COORDINATES, block->lines,
                     columns->name[columns->column_of[ROLE_LAT]], line);
        return false;
    }
    return true;
}

/* The key of a trip: its member and trip id; of a track, where there are no trip ids, its member
 * and user.
 * PRIVACY: users are no part of a trip's key: rows of one trip id that name twenty users are one
 * trip and one unit, not twenty. */
static struct dpl_key row_key(const struct layout *layout, const struct row *row,
                              struct dpl_key user) {
    bool has_trips = layout->columns->column_of[ROLE_TRIP] >= 0;
    struct {
        struct dpl_key id;
        uint64_t member;
    } parts = {has_trips ? dpl_hash(row->trip.text, row->trip.length, SEED_TRIP) : user,
               layout->number};
    return dpl_hash(&parts, sizeof parts, SEED_TRIP);
}

/* Whether two rows that follow each other are of one trip, or of one track. */
static bool same_trip(const struct columns *columns, const struct row *a, const struct row *b) {
    return columns->column_of[ROLE_TRIP] >= 0 ? same_field(a->trip, b->trip)
                                              : same_field(a->user, b->user);
}

static enum dpl_status begin_group(struct block *block, const struct row *row) {
    struct dpl_key user = {0, 0};
    if (block->layout->columns->column_of[ROLE_USER] >= 0)
        user = dpl_hash(row->user.text, row->user.length, SEED_USER);
    DPL_TRY(block_add_group(block, row_key(block->layout, row, user), user));
    if (block->layout->columns->column_of[ROLE_TRIP] >= 0)
        block_name_rows(block, dpl_hash(row->trip.text, row->trip.length, SEED_TRIP), user);
    return DPL_OK;
}

/* Adds the row to the group it belongs to. `text` is its line, for a message. */
static enum dpl_status add_row(struct block *block, const struct row *row, bool same,
                               struct field line) {
    if (!same) {
        DPL_TRY(begin_group(block, row));
    } else if (block->strict && row->point.utc_s < block->points[block->n_points - 1].utc_s) {
        int column = block->layout->columns->column_of[ROLE_TIME];
        block_reject(block, DPL_REJECT_BACKWARDS, block->lines,
                     column >= 0 ? block->layout->columns->name[column] : NULL, line);
    }
    return block_add_point(block, row->point);
}

static enum dpl_status parse(struct block *block) {
    const struct columns *columns = block->layout->columns;
    const bool fast = block->layout->timed;
    const char *text = block->text, *end = block->text + block->length, *next;
    struct row row = {{"", 0}, {"", 0}, {0, 0, 0}},
               good = row; // the last good row's ids decide what "same" means
    bool skip = block->opens_member && columns->has_header;
    for (; text < end; text = next, block->lines++) {
        bool same = block->n_groups > 0;
        row = good;
        if (skip || !fast || !read_fast(columns, text, &row, &next, &same)) {
            next = (const char *)memchr(text, '\n', (size_t)(end - text)) + 1;
            struct field line = {text, (size_t)(next - 1 - text)};
            if (line.length && line.text[line.length - 1] == '\r') line.length--;
            if (skip || !line.length) {
                skip = false;
                continue;
            }
            block->rows++;
            if (!read_carefully(block, line, &row)) continue;
            same = block->n_groups && same_trip(columns, &row, &good);
        } else {
            block->rows++;
        }
        DPL_TRY(add_row(block, &row, same, (struct field){text, (size_t)(next - 1 - text)}));
        good = row;
    }
    return DPL_OK;
}

const struct format FORMAT_CSV = {"csv", false, matches, open_layout, parse};
