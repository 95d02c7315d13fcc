/* What a member without a name or header to tell may be, by its first rows.
 *
 * PRIVACY: this is the one place where rows decide how rows are read. Only `dploc inspect` asks for
 * it (`guess` among the read options), because what it prints is NOT PRIVATE anyway; it then says
 * which options make the private commands read the member in the same way. */
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"

enum { SAMPLE_ROWS = 50 };

static bool has_point(struct field field) { return memchr(field.text, '.', field.length) != NULL; }

static bool is_number(struct field field, double *number) {
    return dpl_parse_number(field.text, field.length, number);
}

static bool is_time(struct field field) {
    static const struct time_format AUTO = {0, NULL};
    int64_t utc_s;
    enum time_notation notation;
    if (dpl_time_parse(&AUTO, field.text, field.length, &utc_s, &notation) != TIME_OK) return false;
    return notation >= TIME_ISO_OFFSET || !has_point(field);
}

/* ---- CSV without a header ---- */

/* The roles of one row's columns: the time is what looks like one, coordinates are the two decimal
 * numbers, and which of them is which only a value beyond 90 tells. False when it does not tell. */
static bool guess_roles(const struct field *fields, int count, enum role role_at[MAX_COLUMNS]) {
    int decimal[2] = {-1, -1}, n_decimals = 0;
    double value[2] = {0, 0}, number;
    bool has_time = false, has_id = false;
    for (int i = 0; i < count; i++) {
        role_at[i] = ROLE_NONE;
        if (!has_time && is_time(fields[i])) {
            has_time = true;
            role_at[i] = ROLE_TIME;
        } else if (is_number(fields[i], &number) && has_point(fields[i])) {
            if (n_decimals < 2) decimal[n_decimals] = i, value[n_decimals] = number;
            n_decimals++;
        } else if (!has_id) {
            has_id = true;
            role_at[i] = ROLE_USER;
        }
    }
    int lon_at = value[0] > 90 || value[0] < -90 ? 0 : 1;
    if (n_decimals != 2 || !has_time || (value[lon_at] <= 90 && value[lon_at] >= -90)) return false;
    role_at[decimal[lon_at]] = ROLE_LON;
    role_at[decimal[1 - lon_at]] = ROLE_LAT;
    return true;
}

static void list_roles(const enum role *role_at, int count, char *list, size_t size) {
    size_t length = 0;
    for (int i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? "," : "",
                                   role_at[i] ? DPL_ROLE_NAMES[role_at[i]] : "-");
}

/* The first rows may be broken (0,0 is common): any of them that tells will do. */
static bool guess_columns(struct field sample, char delimiter, char *list, size_t size) {
    for (int row = 0; row < SAMPLE_ROWS && sample.length; row++) {
        struct field fields[MAX_COLUMNS], line = dpl_take_line(sample, &sample);
        enum role role_at[MAX_COLUMNS];
        int count = dpl_split_line(line.text, line.length, delimiter, fields);
        if (!guess_roles(fields, count, role_at)) continue;
        list_roles(role_at, count, list, size);
        return true;
    }
    return false;
}

static enum dpl_status guess_csv(const struct opening *opening, struct field sample,
                                 struct dpl_read_options *guessed, char advice[GUESS_ADVICE],
                                 bool *found) {
    struct field rest, first = dpl_take_line(sample, &rest);
    char list[GUESS_ADVICE / 2], word[8];
    char delimiter = dpl_find_delimiter(first);
    *found = delimiter && guess_columns(sample, delimiter, list, sizeof list);
    if (!*found) return DPL_OK;
    const char *separator = dpl_separator_word(delimiter, word);
    snprintf(advice, GUESS_ADVICE, "`read.columns` %s `read.separator` '%s'", list, separator);
    guessed->columns = dpl_arena_copy(opening->run, opening->arena, list, strlen(list));
    guessed->separator = dpl_arena_copy(opening->run, opening->arena, separator, strlen(separator));
    return guessed->columns && guessed->separator ? DPL_OK : DPL_SYSTEM;
}

enum dpl_status dpl_guess_options(const struct opening *opening, struct field sample,
                                  struct dpl_read_options *guessed, char advice[GUESS_ADVICE],
                                  bool *found) {
    *guessed = *opening->options;
    struct field rest, first = dpl_take_line(sample, &rest), second = dpl_take_line(rest, &rest);
    const struct format *format = dpl_format_guess(first, second);
    if (!format) return guess_csv(opening, sample, guessed, advice, found);
    *found = true;
    guessed->format = format->name;
    snprintf(advice, GUESS_ADVICE, "`read.format` %s", format->name);
    return DPL_OK;
}
