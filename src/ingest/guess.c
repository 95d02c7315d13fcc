/* What a member that says nothing about itself may be, by its first rows.
 *
 * PRIVACY: this is the one place where rows decide how rows are read. Only `dploc inspect` asks for
 * it (`guess` among the read options), because what it prints is NOT PRIVATE anyway; it then says
 * which options make the private commands read the member in the same way. */
#include <string.h>

#include "ingest/format.h"
#include "ingest/number.h"

enum { SAMPLE_ROWS = 50 };

static bool has_point(struct field field) {
    return memchr(field.text, '.', field.length) || memchr(field.text, ',', field.length);
}

static bool is_number(struct field field, double *number) {
    return dpl_parse_decimal(field.text, field.length, number);
}

static bool is_time(struct field field) {
    static const struct time_format AUTO = {0, NULL, NULL};
    int64_t utc_s;
    enum time_notation notation;
    if (dpl_time_parse(&AUTO, field.text, field.length, &utc_s, &notation) != TIME_OK) return false;
    return notation >= TIME_ISO_OFFSET || !has_point(field);
}

/* A date alone: with a time of day behind it, it is a time. */
static bool is_date(struct field field) {
    char both[32];
    if (field.length < 8 || field.length > 10) return false;
    int length = snprintf(both, sizeof both, "%.*s 12:00:00", (int)field.length, field.text);
    return is_time((struct field){both, (size_t)length});
}

static bool is_point(struct field field) {
    double x, y;
    return dpl_parse_point(field.text, field.length, &x, &y);
}

/* ---- CSV without a header ---- */

/* What the columns of one row look like. */
struct looks {
    enum role role_at[MAX_COLUMNS];
    int decimal[2], n_decimals; /* the first two decimal numbers, and how many there are */
    double value[2];
    bool has[ROLE_POINT + 1];
};

static enum role look_at(struct field field, struct looks *looks) {
    double number;
    bool *has = looks->has;
    if (!has[ROLE_TIME] && is_time(field)) return ROLE_TIME;
    if (!has[ROLE_TIME] && has[ROLE_DATE] && dpl_time_is_clock(field.text, field.length))
        return ROLE_TIME;
    if (!has[ROLE_DATE] && is_date(field)) return ROLE_DATE;
    if (is_point(field)) return ROLE_POINT;
    if (is_number(field, &number) && has_point(field)) {
        if (looks->n_decimals < 2) looks->value[looks->n_decimals] = number;
        return ROLE_LAT; // or longitude: both columns decide
    }
    return has[ROLE_USER] ? ROLE_NONE : ROLE_USER;
}

/* The roles of one row's columns: the time is what looks like one, coordinates are a point or the
 * two decimal numbers, and which of them is which only a value beyond 90 tells. False when it does
 * not tell. */
static bool guess_roles(const struct field *fields, int count, struct looks *looks) {
    *looks = (struct looks){.decimal = {-1, -1}};
    for (int i = 0; i < count; i++) {
        enum role role = look_at(fields[i], looks);
        looks->role_at[i] = role == ROLE_LAT ? ROLE_NONE : role;
        if (role == ROLE_LAT && looks->n_decimals++ < 2) looks->decimal[looks->n_decimals - 1] = i;
        looks->has[role] = true;
    }
    if (!looks->has[ROLE_TIME]) return false;
    if (looks->has[ROLE_POINT]) return true;
    const double *value = looks->value;
    int lon_at = value[0] > 90 || value[0] < -90 ? 0 : 1;
    if (looks->n_decimals != 2 || (value[lon_at] <= 90 && value[lon_at] >= -90)) return false;
    looks->role_at[looks->decimal[lon_at]] = ROLE_LON;
    looks->role_at[looks->decimal[1 - lon_at]] = ROLE_LAT;
    return true;
}

static void list_roles(const enum role *role_at, int count, char *list, size_t size) {
    size_t length = 0;
    for (int i = 0; i < count && length < size; i++)
        length += (size_t)snprintf(list + length, size - length, "%s%s", i ? "," : "",
                                   role_at[i] == ROLE_POINT ? "point"
                                   : role_at[i]             ? DPL_ROLE_NAMES[role_at[i]]
                                                            : "-");
}

/* The first rows may be broken (0,0 is common): any of them that tells will do. */
static bool guess_columns(struct field sample, char delimiter, char *list, size_t size) {
    for (int row = 0; row < SAMPLE_ROWS && sample.length; row++) {
        struct field fields[MAX_COLUMNS], line = dpl_take_line(sample, &sample);
        struct looks looks;
        int count = dpl_split_line(line.text, line.length, delimiter, fields);
        if (!guess_roles(fields, count, &looks)) continue;
        list_roles(looks.role_at, count, list, size);
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
