/* Delimited text with one point a row, in any column order.
 *
 * The separator and what each column is come from the header line, or from --separator and
 * --columns; where two columns could be meant it stops and names the option that decides. With
 * --columns every line is a row, without it the first line is the header: nothing looks at a line
 * to find out which of the two it is.
 *
 * Parsing has two paths. The fast one scans each byte once and gives up at the first surprise (a
 * quote, a blank, an exponent, an odd time); the careful one then reads the row again, and either
 * finds it good or says what is wrong with it. They agree wherever the fast one succeeds. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "ingest/csv.h"
#include "ingest/number.h"

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
    {ROLE_LAT, " latitudee7 late7 "},
    {ROLE_LON, " longitudee7 lone7 lnge7 "},
    {ROLE_DATE, " date gpsdate utcdate "},
};
enum { N_KNOWN_NAMES = sizeof KNOWN_NAMES / sizeof *KNOWN_NAMES };
/* Of a column that is latitude and longitude in one, where there are no others. */
static const char POINT_NAMES[] = " wkt geometry geom thegeom point ";

/* ---- the header line ---- */

static const struct {
    char delimiter;
    const char *word;
} SEPARATOR_WORDS[] = {{'\t', "tab"}, {' ', "space"}};
enum { N_SEPARATOR_WORDS = sizeof SEPARATOR_WORDS / sizeof *SEPARATOR_WORDS };

const char *dpl_separator_word(char delimiter, char text[8]) {
    snprintf(text, 8, "%c", delimiter);
    for (size_t i = 0; i < N_SEPARATOR_WORDS; i++)
        if (SEPARATOR_WORDS[i].delimiter == delimiter) return SEPARATOR_WORDS[i].word;
    return text;
}

/* The separator that the option names, 0 if it names none that could be one. */
static char separator_given(const char *word) {
    for (size_t i = 0; i < N_SEPARATOR_WORDS; i++)
        if (!strcmp(word, SEPARATOR_WORDS[i].word)) return SEPARATOR_WORDS[i].delimiter;
    bool part_of_values = isalnum((unsigned char)word[0]) || strchr("\"+-.:\n\r", word[0]);
    return word[0] && !word[1] && !part_of_values ? word[0] : 0;
}

char dpl_separator_given(const struct dpl_read_options *options, struct field header) {
    return options->separator ? separator_given(options->separator) : dpl_find_delimiter(header);
}

bool dpl_separator_known(const char *word) { return separator_given(word) != 0; }

/* Whether a character that also stands within names sets at least three columns apart. */
static bool separates_columns(struct field line, char delimiter) {
    struct field fields[MAX_COLUMNS];
    return dpl_split_line(line.text, line.length, delimiter, fields) >= 3;
}

char dpl_find_delimiter(struct field line) {
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
    return best || !separates_columns(line, ' ') ? best : ' ';
}

/* "Trip_ID" -> "tripid" */
static void normalise(struct field field, char *name, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < field.length && length + 1 < size; i++)
        if (isalnum((unsigned char)field.text[i]))
            name[length++] = (char)tolower((unsigned char)field.text[i]);
    name[length] = '\0';
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
    case ROLE_DATE: return options->date_column;
    default: return NULL;
    }
}

/* What follows the name in messages about the header: a table in memory has no lines. */
static const char *header_line(const struct opening *opening) {
    return opening->header.length ? ":1" : "";
}

/* A column the user named. */
static enum dpl_status assign_named(const struct opening *opening, struct columns *columns,
                                    int count, enum role role, const char *name) {
    for (int i = 0; i < count; i++)
        if (!strcasecmp(columns->name[i], name)) {
            columns->column_of[role] = i;
            return DPL_OK;
        }
    char all[512];
    list_columns(columns, count, all, sizeof all);
    return dpl_fail(opening->run, DPL_USAGE,
                    "%s%s: there is no column '%.64s' (`read.%s_column`); the columns are %s",
                    opening->name, header_line(opening), name, DPL_ROLE_NAMES[role], all);
}

/* Whether a header's field is one of the names, which stand between blanks. */
static bool is_named(struct field field, const char *names) {
    char plain[64], spaced[68];
    normalise(field, plain, sizeof plain);
    snprintf(spaced, sizeof spaced, " %s ", plain);
    return plain[0] && strstr(names, spaced);
}

bool dpl_csv_time_name(const char *name) {
    const struct field field = {name, strlen(name)};
    for (size_t line = 0; line < N_KNOWN_NAMES; line++)
        if (KNOWN_NAMES[line].role == ROLE_TIME && is_named(field, KNOWN_NAMES[line].names))
            return true;
    return false;
}

/* A role found by name, for all names of one line of the table; two that fit are an error. */
static enum dpl_status assign_known(const struct opening *opening, struct columns *columns,
                                    const struct field *fields, int count, size_t line) {
    enum role role = KNOWN_NAMES[line].role;
    if (columns->column_of[role] >= 0) return DPL_OK;
    for (int i = 0; i < count; i++) {
        if (!is_named(fields[i], KNOWN_NAMES[line].names)) continue;
        int taken = columns->column_of[role];
        if (taken >= 0)
            return dpl_fail(opening->run, DPL_USAGE,
                            "%s%s: both '%.64s' and '%.64s' may be the %s column; say which with "
                            "`read.%s_column`",
                            opening->name, header_line(opening), columns->name[taken],
                            columns->name[i], DPL_ROLE_NAMES[role], DPL_ROLE_NAMES[role]);
        columns->column_of[role] = i;
    }
    return DPL_OK;
}

static enum dpl_status missing_column(const struct opening *opening, const struct columns *columns,
                                      int count, enum role role) {
    char all[512];
    list_columns(columns, count, all, sizeof all);
    return dpl_fail(
        opening->run, DPL_USAGE, "%s%s: no %s column among %s (name it with `read.%s_column`%s)",
        opening->name, header_line(opening),
        role == ROLE_LAT   ? "latitude"
        : role == ROLE_LON ? "longitude"
                           : DPL_ROLE_NAMES[role],
        all, DPL_ROLE_NAMES[role],
        opening->header.length ? "; if the file has no header, name its columns in order: "
                                 "`read.columns` user,time,lon,lat, '-' for others"
                               : "");
}

/* An "id" alone could be either's: that is for the user to say. */
static enum dpl_status check_bare_id(const struct opening *opening, const struct columns *columns,
                                     const struct field *fields, int count) {
    if (columns->column_of[ROLE_TRIP] >= 0 || columns->column_of[ROLE_USER] >= 0) return DPL_OK;
    for (int i = 0; i < count; i++)
        if (dpl_field_is(fields[i], "id"))
            return dpl_fail(opening->run, DPL_USAGE,
                            "%s%s: is '%.*s' a trip or a user? Say `read.trip_column` %.*s or "
                            "`read.user_column` %.*s",
                            opening->name, header_line(opening), (int)fields[i].length,
                            fields[i].text, (int)fields[i].length, fields[i].text,
                            (int)fields[i].length, fields[i].text);
    return DPL_OK;
}

static bool needed(const struct dpl_read_options *options, enum role role) {
    return role == ROLE_LAT || role == ROLE_LON || (role == ROLE_TIME && !options->time_optional);
}

/* POINT(11.5 48.1) in a column that is called so. */
static void assign_point(struct columns *columns, const struct field *fields, int count) {
    if (columns->column_of[ROLE_LAT] >= 0 || columns->column_of[ROLE_LON] >= 0) return;
    for (int i = 0; i < count; i++)
        if (is_named(fields[i], POINT_NAMES))
            columns->column_of[ROLE_LAT] = columns->column_of[ROLE_LON] = i;
}

static enum dpl_status columns_by_header(const struct opening *opening, struct columns *columns,
                                         const struct field *fields, int count) {
    for (enum role role = ROLE_TRIP; role < ROLES; role++) {
        const char *name = option_of(opening->options, role);
        if (name) DPL_TRY(assign_named(opening, columns, count, role, name));
    }
    for (size_t line = 0; line < N_KNOWN_NAMES; line++)
        DPL_TRY(assign_known(opening, columns, fields, count, line));
    assign_point(columns, fields, count);
    for (enum role role = ROLE_TIME; role < ROLES; role++)
        if (columns->column_of[role] < 0 && needed(opening->options, role))
            return missing_column(opening, columns, count, role);
    return check_bare_id(opening, columns, fields, count);
}

/* The role that a word of the option names; ROLE_NONE for "-"; false when it names none. */
static bool role_called(struct field word, enum role *role) {
    for (*role = ROLE_TRIP; *role < ROLES; (*role)++)
        if (dpl_field_is(word, DPL_ROLE_NAMES[*role])) return true;
    if (dpl_field_is(word, "point")) return true; // ROLE_POINT is where the loop ends
    *role = ROLE_NONE;
    return dpl_field_is(word, "-");
}

/* --columns user,time,lon,lat,- */
static enum dpl_status columns_by_option(struct dpl_run *run,
                                         const struct dpl_read_options *options,
                                         struct columns *columns) {
    struct field words[MAX_COLUMNS];
    const char *list = options->columns;
    int count = dpl_split_line(list, strlen(list), ',', words);
    for (int i = 0; i < count; i++) {
        enum role role;
        if (!role_called(words[i], &role))
            return dpl_fail(run, DPL_USAGE,
                            "`read.columns`: '%.*s' is not one of trip, user, date, time, lat, "
                            "lon, point, -",
                            (int)words[i].length, words[i].text);
        int *first = &columns->column_of[role == ROLE_POINT ? ROLE_LAT : role],
            *second = &columns->column_of[role == ROLE_POINT ? ROLE_LON : role];
        if (role == ROLE_NONE) continue;
        if (*first >= 0 || *second >= 0)
            return dpl_fail(run, DPL_USAGE, "`read.columns` %s names '%.*s' twice", list,
                            (int)words[i].length, words[i].text);
        *first = *second = i;
    }
    for (enum role role = ROLE_TIME; role < ROLES; role++)
        if (columns->column_of[role] < 0 && needed(options, role))
            return dpl_fail(run, DPL_USAGE, "`read.columns` %s lacks '%s'", list,
                            DPL_ROLE_NAMES[role]);
    return DPL_OK;
}

static void clear_columns(struct columns *columns) {
    *columns = (struct columns){0};
    for (int role = 0; role < 8; role++) columns->column_of[role] = -1;
}

static enum dpl_status check_columns(struct dpl_run *run, const struct dpl_read_options *options) {
    struct columns columns;
    clear_columns(&columns);
    for (enum role role = ROLE_TRIP; role < ROLES; role++)
        if (option_of(options, role))
            return dpl_fail(
                run, DPL_USAGE,
                "`read.columns` and `read.%s_column` exclude each other: with `read.columns` every "
                "line is a row, and no header names a column",
                DPL_ROLE_NAMES[role]);
    return columns_by_option(run, options, &columns);
}

static enum dpl_status name_column(const struct opening *opening, struct columns *columns, int i,
                                   struct field name) {
    columns->name[i] = dpl_arena_copy(opening->run, opening->arena, name.text,
                                      name.length < 64 ? name.length : 64);
    return columns->name[i] ? DPL_OK : DPL_SYSTEM;
}

static enum dpl_status open_by_option(const struct opening *opening, struct columns *columns) {
    const char *separator = opening->options->separator;
    columns->delimiter = separator ? separator_given(separator) : ',';
    for (int i = 0; i < MAX_COLUMNS; i++) {
        char number[16];
        size_t length = (size_t)snprintf(number, sizeof number, "%d", i + 1);
        DPL_TRY(name_column(opening, columns, i, (struct field){number, length}));
    }
    return columns_by_option(opening->run, opening->options, columns);
}

static enum dpl_status columns_by_names(const struct opening *opening, struct columns *columns,
                                        const struct field *names, int count) {
    for (int i = 0; i < count; i++) DPL_TRY(name_column(opening, columns, i, names[i]));
    columns->header_count = count;
    return columns_by_header(opening, columns, names, count);
}

static bool has_control_bytes(struct field line) {
    for (size_t i = 0; i < line.length; i++)
        if ((unsigned char)line.text[i] < 32 && line.text[i] != '\t') return true;
    return false;
}

static enum dpl_status unknown_format(const struct opening *opening, const char *why) {
    char names[FORMAT_NAMES];
    return dpl_fail(
        opening->run, DPL_USAGE,
        "%s: not in a known format: its name does not tell, and its first line, which "
        "would be the header of a CSV, %s (`read.format` takes %s; for CSV without a header "
        "`read.columns`; plain or in .gz .xz .zst .zip .tar)",
        opening->name, why, dpl_format_names(names));
}

static enum dpl_status open_by_header(const struct opening *opening, struct columns *columns) {
    struct field fields[MAX_COLUMNS], next, header = dpl_take_line(opening->header, &next);
    if (has_control_bytes(header))
        return unknown_format(opening,
                              "has control bytes: binary, UTF-16, or lines that end in CR alone?");
    columns->delimiter = dpl_separator_given(opening->options, header);
    if (!columns->delimiter) return unknown_format(opening, "has no separator , ; | tab or blank");
    int count = dpl_split_line(header.text, header.length, columns->delimiter, fields);
    if (count < 0)
        return dpl_fail(opening->run, DPL_BAD_DATA, "%s:1: a quote is opened and not closed",
                        opening->name);
    return columns_by_names(opening, columns, fields, count);
}

/* Whether the header calls both coordinates by names that end in E7, as Google's takeouts do. */
static bool named_e7(const struct columns *columns) {
    for (enum role role = ROLE_LAT; role <= ROLE_LON; role++) {
        const char *name = columns->name[columns->column_of[role]];
        if (!columns->header_count || !dpl_name_ends(name, "E7")) return false;
    }
    return true;
}

/* How values are written, by options and header. */
static void settle_notation(const struct opening *opening, struct columns *columns) {
    const struct dpl_read_options *options = opening->options;
    columns->time = (struct time_format){dpl_time_units(options->time_unit), opening->zone,
                                         options->time_format};
    columns->time_optional = options->time_optional;
    columns->date_always = options->date_column || options->columns || options->time_format;
    if (!dpl_coordinates_parse(options->coordinates, &columns->coordinates)) // "auto"
        columns->coordinates = (struct coordinates){
            named_e7(columns) ? COORDINATES_E7 : COORDINATES_DEGREES, 0, false};
    bool point = columns->column_of[ROLE_LAT] == columns->column_of[ROLE_LON];
    int date = columns->column_of[ROLE_DATE], time = columns->column_of[ROLE_TIME];
    columns->time_at = date > time ? date : time;
    columns->careful = point || columns->column_of[ROLE_DATE] >= 0 || options->time_format ||
                       columns->coordinates.kind != COORDINATES_DEGREES;
}

/* What follows from the columns once each is known. */
static void settle_layout(const struct opening *opening, struct columns *columns,
                          struct layout *layout) {
    if (columns->column_of[ROLE_TIME] < 0) columns->column_of[ROLE_DATE] = -1;
    settle_notation(opening, columns);
    for (int role = ROLE_TRIP; role < ROLES; role++) {
        int column = columns->column_of[role];
        if (column < 0) continue;
        columns->role_at[column] = (uint8_t)(columns->role_at[column] ? ROLE_POINT : role);
        if (column + 1 > columns->count) columns->count = column + 1;
    }
    layout->columns = columns;
    layout->timed = columns->column_of[ROLE_TIME] >= 0;
    layout->split = columns->column_of[ROLE_TRIP] >= 0 ? SPLIT_NONE : SPLIT_GAPS_AND_STAYS;
    layout->no_users = columns->column_of[ROLE_USER] < 0;
    layout->by_user = opening->options->need_users;
}

static enum dpl_status new_columns(const struct opening *opening, struct columns **made) {
    struct columns *columns = dpl_arena_take(opening->run, opening->arena, sizeof *columns);
    if (!columns) return DPL_SYSTEM;
    clear_columns(columns);
    *made = columns;
    return DPL_OK;
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    struct columns *columns;
    DPL_TRY(new_columns(opening, &columns));
    DPL_TRY(opening->options->columns ? open_by_option(opening, columns)
                                      : open_by_header(opening, columns));
    settle_layout(opening, columns, layout);
    return DPL_OK;
}

enum dpl_status dpl_csv_open_names(const struct opening *opening, const struct field *names,
                                   int count, struct layout *layout) {
    struct columns *columns;
    DPL_TRY(new_columns(opening, &columns));
    DPL_TRY(columns_by_names(opening, columns, names, count));
    settle_layout(opening, columns, layout);
    return DPL_OK;
}

/* ---- parsing ---- */

/* Whether what the fast path read may be used as it is. */
static bool plausible(const struct columns *columns, const struct row *row) {
    return check_position(row->point.lat_deg, row->point.lon_deg) == DPL_REJECTS &&
           dpl_time_in_range(row->point.utc_s) &&
           (columns->column_of[ROLE_TRIP] < 0 || row->trip.length) &&
           (columns->column_of[ROLE_USER] < 0 || row->user.length);
}

/* Whether the quick scanner would read the id as it is when it stood there without quotes. */
static bool is_plain(struct field id, char delimiter) {
    return !memchr(id.text, delimiter, id.length) && !memchr(id.text, ' ', id.length) &&
           !memchr(id.text, '\t', id.length);
}

/* The id at text; when it is the one of the row before, which is the rule, one comparison finds
 * that out. PRIVACY: only for a plain id. A quoted "7,a" in the row before would otherwise swallow
 * the first two fields of a row that starts with 7,a. */
static inline const char *scan_id(const char *text, char delimiter, bool plain, struct field *id,
                                  bool *same) {
    size_t alike = 0; // a loop, because most ids are too short for a call of memcmp to pay
    while (plain && alike < id->length && text[alike] == id->text[alike]) alike++;
    if (alike && alike == id->length && text[alike] == delimiter) return text + alike;
    const char *begin = text;
    while (*text != delimiter && *text != '\n' && *text != '\r' && *text != ' ' && *text != '\t' &&
           *text)
        text++;
    struct field found = {begin, (size_t)(text - begin)};
    if (!same_field(found, *id)) *same = false;
    *id = found;
    return text;
}

enum { BYTE_ORDER_MARK = (char)0xEF }; /* its first byte */

/* True when the whole line was read by the quick scanners and all values make sense; *next is then
 * the following line, *n_fields how many fields it has. `row` holds the ids of the row before;
 * *same is cleared when they changed. */
static bool read_fast(const struct columns *columns, const char *text, struct row *row,
                      const char **next, bool *same, int *n_fields) {
    const char delimiter = columns->delimiter;
    const bool plain = row->plain_ids;
    row->plain_ids = true;
    if (*text == BYTE_ORDER_MARK) return false;
    for (int column = 0;; column++) {
        if (*text == '"' || *text == ' ') return false;
        switch (column < columns->count ? columns->role_at[column] : ROLE_NONE) {
        case ROLE_LAT: text = scan_decimal(text, &row->point.lat_deg); break;
        case ROLE_LON: text = scan_decimal(text, &row->point.lon_deg); break;
        case ROLE_TIME:
            text = scan_time(&columns->time, text, &row->point.utc_s, &row->notation);
            break;
        case ROLE_TRIP: text = scan_id(text, delimiter, plain, &row->trip, same); break;
        case ROLE_USER: text = scan_id(text, delimiter, plain, &row->user, same); break;
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
        *n_fields = column + 1;
        return plausible(columns, row);
    }
}

enum dpl_reject dpl_csv_time_reject(enum time_result result) {
    return result == TIME_OK          ? DPL_REJECTS
           : result == TIME_MALFORMED ? DPL_REJECT_BAD_TIME
                                      : DPL_REJECT_TIME_OUT_OF_RANGE;
}

/* More fields than the header has names are a sign of decimal commas. */
static void note_width(struct block *block, int n_fields) {
    int expected = block->layout->columns->header_count;
    if (expected && n_fields > expected) block->signs.wide_rows++;
}

enum dpl_reject dpl_csv_read_time(struct block *block, struct row *row) {
    const struct columns *columns = block->layout->columns;
    struct field value = row->time;
    char both[96];
    row->point.utc_s = UNTIMED_S;
    if (!value.length && columns->time_optional) return DPL_REJECTS;
    bool joined = columns->column_of[ROLE_DATE] >= 0 &&
                  (columns->date_always || dpl_time_is_clock(value.text, value.length));
    if (joined) {
        if (row->date.length + value.length + 2 > sizeof both) return DPL_REJECT_BAD_TIME;
        int length = snprintf(both, sizeof both, "%.*s %.*s", (int)row->date.length, row->date.text,
                              (int)value.length, value.text);
        value = (struct field){both, (size_t)length};
    }
    enum dpl_reject reason = dpl_csv_time_reject(dpl_time_parse(
        &columns->time, value.text, value.length, &row->point.utc_s, &row->notation));
    struct dpl_read_signs *signs = &block->signs;
    if (reason == DPL_REJECT_BAD_TIME && !signs->odd_times++)
        snprintf(signs->odd_time, sizeof signs->odd_time, "%.*s", (int)value.length, value.text);
    return reason;
}

enum dpl_reject dpl_csv_read_field(enum role role, struct field field, struct row *row) {
    struct point *point = &row->point;
    bool number = true;
    switch (role) {
    case ROLE_TRIP: row->trip = field; return field.length ? DPL_REJECTS : DPL_REJECT_NO_ID;
    case ROLE_USER: row->user = field; return field.length ? DPL_REJECTS : DPL_REJECT_NO_ID;
    case ROLE_TIME: row->time = field; break;
    case ROLE_DATE: row->date = field; break;
    case ROLE_LAT: number = dpl_parse_decimal(field.text, field.length, &point->lat_deg); break;
    case ROLE_LON: number = dpl_parse_decimal(field.text, field.length, &point->lon_deg); break;
    case ROLE_POINT:
        number = dpl_parse_point(field.text, field.length, &point->lon_deg, &point->lat_deg);
        break;
    default: break;
    }
    return number ? DPL_REJECTS : DPL_REJECT_BAD_NUMBER;
}

/* The careful path: any quoting, any number, and a reason with column and value for what is bad. */
static bool read_carefully(struct block *block, struct field line, struct row *row) {
    const struct columns *columns = block->layout->columns;
    struct field fields[MAX_COLUMNS];
    int count = dpl_split_line(line.text, line.length, columns->delimiter, fields);
    if (count < columns->count) {
        dpl_block_reject(block, count < 0 ? DPL_REJECT_BAD_QUOTES : DPL_REJECT_MISSING_FIELD, NULL,
                         line);
        return false;
    }
    for (int i = 0; i < columns->count; i++) {
        enum dpl_reject reason = dpl_csv_read_field(columns->role_at[i], fields[i], row);
        if (reason == DPL_REJECTS && i == columns->time_at) reason = dpl_csv_read_time(block, row);
        if (reason == DPL_REJECTS) continue;
        dpl_block_reject(block, reason, columns->name[i], fields[i]);
        return false;
    }
    note_width(block, count);
    enum dpl_reject reason = dpl_block_settle(block, &columns->coordinates, &row->point);
    if (reason == DPL_REJECTS) return true;
    int column = columns->column_of[reason == DPL_REJECT_BAD_LONGITUDE ? ROLE_LON : ROLE_LAT];
    dpl_block_reject(block, reason, columns->name[column],
                     reason == DPL_REJECT_ZERO_COORDINATES ? line : fields[column]);
    return false;
}

static bool has_trips(const struct block *block) {
    return block->layout->columns->column_of[ROLE_TRIP] >= 0;
}

static struct dpl_key trip_of(const struct row *row) {
    return dpl_hash(row->trip.text, row->trip.length, SEED_TRIP);
}

static struct dpl_key user_of(const struct block *block, const struct row *row) {
    if (block->layout->columns->column_of[ROLE_USER] < 0) return (struct dpl_key){0, 0};
    return dpl_hash(row->user.text, row->user.length, SEED_USER);
}

/* The key of a trip: its member and trip id; of a track, where there are no trip ids, its member
 * and user.
 * PRIVACY: users are no part of a trip's key: rows of one trip id that name twenty users are one
 * trip and one unit, not twenty. Where the unit is the user they are twenty trips of twenty units:
 * a row is its own user's, so that it follows from the row alone which unit, and which shard of
 * many machines, it belongs to. */
static struct dpl_key row_key(const struct block *block, const struct row *row) {
    struct {
        struct dpl_key id, user;
        uint64_t member;
    } parts = {.id = has_trips(block) ? trip_of(row) : user_of(block, row),
               .member = block->layout->number};
    if (block->layout->by_user) parts.user = user_of(block, row);
    return dpl_hash(&parts, sizeof parts, SEED_TRIP);
}

static void name_rows(struct block *block, const struct row *row) {
    if (has_trips(block)) dpl_block_name_rows(block, trip_of(row), user_of(block, row));
}

static enum dpl_status begin_group(struct block *block, const struct row *row) {
    DPL_TRY(dpl_block_add_group(block, row_key(block, row), user_of(block, row)));
    name_rows(block, row);
    return DPL_OK;
}

/* Whether a row with other ids than the one before is of the same trip: only its user differs. */
static bool continues_trip(const struct block *block, const struct row *row,
                           const struct row *before) {
    if (block->layout->by_user) return false;
    return block->n_groups > 0 && has_trips(block) && same_field(row->trip, before->trip);
}

enum dpl_status dpl_csv_add_row(struct block *block, const struct row *row,
                                const struct row *before, bool same, struct field line) {
    bool goes_on = same || continues_trip(block, row, before);
    if (goes_on && !same) name_rows(block, row);
    if (!goes_on) {
        DPL_TRY(begin_group(block, row));
    } else if (block->strict && row->point.utc_s < block->points[block->n_points - 1].utc_s) {
        int column = block->layout->columns->column_of[ROLE_TIME];
        dpl_block_reject(block, DPL_REJECT_BACKWARDS,
                         column >= 0 ? block->layout->columns->name[column] : NULL, line);
    }
    if (row->point.utc_s != UNTIMED_S) block_note_time(block, row->notation);
    return dpl_block_add_point(block, row->point);
}

/* The next row the careful way, at *text; `good` is the last good row, whose ids *same refers
 * to. False when it was rejected, or there is none. */
static __attribute__((noinline)) bool next_carefully(struct block *block, const char **text,
                                                     const struct row *good, struct row *row,
                                                     struct field *line, bool *same) {
    const char delimiter = block->layout->columns->delimiter;
    *row = *good;
    if (!dpl_block_next_row(block, text, line) || !read_carefully(block, *line, row)) return false;
    *same =
        block->n_groups && same_field(row->trip, good->trip) && same_field(row->user, good->user);
    row->plain_ids = is_plain(row->trip, delimiter) && is_plain(row->user, delimiter);
    return true;
}

static enum dpl_status parse(struct block *block) {
    const struct columns *columns = block->layout->columns;
    const bool fast = block->layout->timed && !columns->careful;
    const char *text = block->text, *end = block->text + block->length, *next;
    int n_fields;
    struct row row, good = {.trip = {"", 0}, .user = {"", 0}, .time = {"", 0}, .plain_ids = true};
    while (text < end) {
        bool same = block->n_groups > 0;
        struct field line;
        row = good;
        if (fast && read_fast(columns, text, &row, &next, &same, &n_fields)) {
            note_width(block, n_fields);
            line = (struct field){text, (size_t)(next - 1 - text)};
            text = next;
            block->line = block->lines++;
            block->rows++;
        } else if (!next_carefully(block, &text, &good, &row, &line, &same)) {
            continue;
        }
        DPL_TRY(dpl_csv_add_row(block, &row, &good, same, line));
        good = row;
    }
    return DPL_OK;
}

const struct format DPL_FORMAT_CSV = {.name = "csv",
                                      .about = "delimited text, a point a row, in any column order",
                                      .table = true,
                                      .header_lines = 1,
                                      .check_columns = check_columns,
                                      .open = open_layout,
                                      .parse = parse};
