/* The list of option members. See binding.h.
 *
 * PRIVACY: two runs from one copied checkpoint draw the same noise. Where any option differs that
 * shapes a released number, their difference is free of noise: so whatever shapes the result, or
 * what the certificate says of it, is bound. tests/resume_test.c compares the list with the structs
 * in dploc.h and changes each member in turn. */
#include "fit/binding.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind {
    KIND_REAL,
    KIND_FLAG,
    KIND_INT,
    KIND_ENUM,
    KIND_WHOLE,
    KIND_COUNT,
    KIND_TEXT,
    KIND_NAME
};
enum owner { OWNER_READ, OWNER_AREA, OWNER_FIT, OWNER_BUDGET, OWNERS };

struct row {
    struct dpl_option_member member;
    bool drivers; /* bound, but not for workers to know */
    enum owner owner;
    enum kind kind;
    size_t offset;
};

#define OF(owner, name) (((const struct owner *)0)->name)
/* KIND_NAME: an array of characters inside the struct. */
#define KIND(owner, name)                                                                          \
    _Generic(OF(owner, name), double                                                               \
             : KIND_REAL, bool                                                                     \
             : KIND_FLAG, int                                                                      \
             : KIND_INT, unsigned                                                                  \
             : KIND_ENUM, int64_t                                                                  \
             : KIND_WHOLE, uint64_t                                                                \
             : KIND_COUNT, const char *                                                            \
             : _Generic(&OF(owner, name), const char *const *                                      \
                        : KIND_TEXT, default                                                       \
                        : KIND_NAME))
#define BOUND(owner, which, name)                                                                  \
    { {#owner, #name, NULL}, false, which, KIND(owner, name), offsetof(struct owner, name) }
#define FREE(owner, which, name, why)                                                              \
    { {#owner, #name, why}, false, which, KIND(owner, name), offsetof(struct owner, name) }
#define FIT(name) BOUND(dpl_fit_options, OWNER_FIT, name)
#define DRIVER(name)                                                                               \
    {                                                                                              \
        {"dpl_fit_options", #name, NULL}, true, OWNER_FIT, KIND(dpl_fit_options, name),            \
            offsetof(struct dpl_fit_options, name)                                                 \
    }
#define BUDGET(name) BOUND(dpl_budget, OWNER_BUDGET, name)
#define AREA(name) BOUND(dpl_area, OWNER_AREA, name)
#define READ(name) BOUND(dpl_read_options, OWNER_READ, name)
#define SIZE_WHY "how much of the struct the caller knows; what it does not know has its default"
#define FREE_FIT(name, why) FREE(dpl_fit_options, OWNER_FIT, name, why)

static const struct row ROWS[] = {
    FREE_FIT(struct_size, SIZE_WHY),
    FREE(dpl_area, OWNER_AREA, struct_size, SIZE_WHY),
    FREE(dpl_read_options, OWNER_READ, struct_size, SIZE_WHY),
    FIT(method),
    FIT(mechanism),
    // The budget's members follow below; the struct itself has no value of its own.
    {{"dpl_fit_options", "budget", "a struct: its members are listed one by one"},
     false,
     OWNER_FIT,
     KIND_NAME,
     offsetof(struct dpl_fit_options, budget)},
    FIT(trips_as_cut), // the certificate says what a unit is
    FIT(accept_weak),  // the certificate says so
    FIT(size),
    FIT(coverage),
    FIT(kl_weight),
    FIT(no_destination),
    FIT(shares),
    FIT(sigmas),
    FIT(as_published),
    FIT(sglt_form),
    FIT(keep),
    FIT(hold_out),
    DRIVER(roads), // by name; the map's digest is bound, too (fit.c)
    DRIVER(travel),
    DRIVER(insecure_seed),
    DRIVER(ledger), // the certificate says whether, and with what, the release was composed
    DRIVER(dataset),
    FREE_FIT(new_data, "the ledger keeps the answer, and the certificate takes it from there"),
    FREE_FIT(total_epsilon, "a limit decides whether the release may go on, not what it is"),
    FREE_FIT(total_delta, "a limit decides whether the release may go on, not what it is"),
    FREE_FIT(checkpoint, "where the checkpoint lies"),
    FREE_FIT(checkpoint_s, "how often it is written"),
    FREE_FIT(resume, "differs by nature between the stopped run and the one that goes on"),
    FREE_FIT(restart, "excluded by resume"),
    FREE_FIT(memory_mb, "a limit decides whether the fit may start, not what it is"),
    FREE_FIT(show_private_loss, "notes for the holder; training does not depend on them"),

    BUDGET(epsilon),
    BUDGET(delta),
    BUDGET(size_share),
    BUDGET(unit),
    BUDGET(trips_max),
    BUDGET(insecure_seed), // PRIVACY: seeded noise must never pass for secret noise

    AREA(south_deg),
    AREA(west_deg),
    AREA(north_deg),
    AREA(east_deg),
    AREA(cell_m),
    AREA(speed_limit_kmh),
    AREA(slot_s),
    AREA(periods),
    AREA(zone),

    READ(format),
    READ(trip_column),
    READ(user_column),
    READ(time_column),
    READ(lat_column),
    READ(lon_column),
    READ(date_column),
    READ(columns),
    READ(separator),
    READ(time_unit),
    READ(time_format),
    READ(coordinates),
    READ(zone),
    READ(positions),
    READ(position_phase_s),
    FREE(dpl_read_options, OWNER_READ, own_phase, "a fit sets it"),
    READ(keep_too_fast),
    READ(gap_limit_s),
    READ(drop_points),
    READ(strict),
    READ(dates),
    FREE(dpl_read_options, OWNER_READ, time_optional, "a fit refuses it before anything is read"),
    FREE(dpl_read_options, OWNER_READ, guess, "a fit refuses it before anything is read"),
    FREE(dpl_read_options, OWNER_READ, need_trips, "a fit sets it by the unit, which is bound"),
    FREE(dpl_read_options, OWNER_READ, need_users, "a fit sets it by the unit, which is bound"),
    // Its key is random: what it sets aside shows in the fingerprint of the trips.
    {{"dpl_read_options", "hold_out", "a struct; the trips that it leaves are bound"},
     false,
     OWNER_READ,
     KIND_NAME,
     offsetof(struct dpl_read_options, hold_out)},
    FREE(dpl_read_options, OWNER_READ, memory_bytes,
         "how much sorting keeps in memory; the "
         "trips come out the same"),
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

const struct dpl_option_member *dpl_option_member(size_t i) {
    return i < N_ROWS ? &ROWS[i].member : NULL;
}

/* In quotes and plain ASCII whatever the bytes, so that no value can look like another member, and
 * NULL is not "". */
static void write_text(FILE *out, const char *text) {
    if (!text) {
        fputs("none", out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, isalnum((unsigned char)*text) ? "%c" : "%%%02x", (unsigned char)*text);
    fputc('"', out);
}

static void write_value(FILE *out, enum kind kind, const void *value) {
    switch (kind) {
    case KIND_REAL: fprintf(out, "%a", *(const double *)value); break; // every bit
    case KIND_FLAG: fputs(*(const bool *)value ? "yes" : "no", out); break;
    case KIND_INT: fprintf(out, "%d", *(const int *)value); break;
    case KIND_ENUM: fprintf(out, "%u", *(const unsigned *)value); break;
    case KIND_WHOLE: fprintf(out, "%" PRId64, *(const int64_t *)value); break;
    case KIND_COUNT: fprintf(out, "%" PRIu64, *(const uint64_t *)value); break;
    case KIND_TEXT: write_text(out, *(const char *const *)value); break;
    case KIND_NAME: write_text(out, value); break;
    }
}

static enum dpl_status write_all(struct dpl_run *run, const struct dpl_read_options *read,
                                 const struct dpl_area *area, const struct dpl_fit_options *options,
                                 bool shared, char **text) {
    const void *const owners[OWNERS] = {[OWNER_READ] = read,
                                        [OWNER_AREA] = area,
                                        [OWNER_FIT] = options,
                                        [OWNER_BUDGET] = &options->budget};
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    for (size_t i = 0; out && i < N_ROWS; i++) {
        const struct row *row = &ROWS[i];
        if (row->member.free || (shared && row->drivers)) continue;
        fprintf(out, "%s.%s=", row->member.owner, row->member.name);
        write_value(out, row->kind, (const char *)owners[row->owner] + row->offset);
        fputc('\n', out);
    }
    bool whole = out && fclose(out) == 0;
    char *copy = whole ? dpl_alloc(run, length + 1, 1) : NULL;
    if (copy) *text = memcpy(copy, made, length);
    free(made);
    return copy ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
}

enum dpl_status dpl_option_binding(struct dpl_run *run, const struct dpl_read_options *read,
                                   const struct dpl_area *area,
                                   const struct dpl_fit_options *options, char **text) {
    return write_all(run, read, area, options, false, text);
}

enum dpl_status dpl_option_shared(struct dpl_run *run, const struct dpl_read_options *read,
                                  const struct dpl_area *area,
                                  const struct dpl_fit_options *options, char **text) {
    return write_all(run, read, area, options, true, text);
}

/* ---- reading back ---- */

static const struct row *find_row(const char *name, size_t length) {
    char full[128];
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct dpl_option_member *member = &ROWS[i].member;
        int n = snprintf(full, sizeof full, "%s.%s", member->owner, member->name);
        if (!member->free && (size_t)n == length && !memcmp(full, name, length)) return &ROWS[i];
    }
    return NULL;
}

static int digit_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What write_text wrote, without its quotes, into room; false: it wrote something else. */
static bool read_text(const char *from, size_t length, char *room, size_t size) {
    size_t at = 0;
    if (length < 2 || from[0] != '"' || from[length - 1] != '"') return false;
    for (size_t i = 1; i + 1 < length; i++) {
        int c = (unsigned char)from[i];
        if (c == '%') {
            int high = i + 3 < length ? digit_of(from[i + 1]) : -1,
                low = i + 3 < length ? digit_of(from[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = high * 16 + low, i += 2;
        } else if (!isalnum(c)) {
            return false;
        }
        if (c == 0 || at + 1 >= size) return false;
        room[at++] = (char)c;
    }
    room[at] = '\0';
    return true;
}

enum { TEXT_MOST = 4096 };

static bool read_name(const struct row *row, const char *text, char *into) {
    // Of the members that are arrays, dpl_area.zone is the only one that is bound.
    size_t size = sizeof((struct dpl_area *)0)->zone;
    char room[TEXT_MOST];
    if (row->owner != OWNER_AREA || row->offset != offsetof(struct dpl_area, zone)) return false;
    if (!read_text(text, strlen(text), room, sizeof room) || strlen(room) >= size) return false;
    strcpy(into, room);
    return true;
}

static bool read_pointer(struct dpl_run *run, struct dpl_arena *texts, const char *text,
                         const char **into) {
    char room[TEXT_MOST];
    *into = NULL;
    if (!strcmp(text, "none")) return true;
    if (!read_text(text, strlen(text), room, sizeof room)) return false;
    return (*into = dpl_arena_copy(run, texts, room, strlen(room))) != NULL;
}

static bool read_value(struct dpl_run *run, const struct row *row, const char *text, void *into,
                       struct dpl_arena *texts) {
    char *end = "";
    bool yes = !strcmp(text, "yes");
    switch (row->kind) {
    case KIND_REAL: *(double *)into = strtod(text, &end); break;
    case KIND_FLAG: *(bool *)into = yes; return yes || !strcmp(text, "no");
    case KIND_INT: *(int *)into = (int)strtol(text, &end, 10); break;
    case KIND_ENUM: *(unsigned *)into = (unsigned)strtoul(text, &end, 10); break;
    case KIND_WHOLE: *(int64_t *)into = strtoll(text, &end, 10); break;
    case KIND_COUNT: *(uint64_t *)into = strtoull(text, &end, 10); break;
    case KIND_TEXT: return read_pointer(run, texts, text, into);
    case KIND_NAME: return read_name(row, text, into);
    }
    return *text && !*end;
}

static bool read_line(struct dpl_run *run, char *line, struct dpl_option_set *set) {
    void *const owners[OWNERS] = {[OWNER_READ] = &set->read,
                                  [OWNER_AREA] = &set->area,
                                  [OWNER_FIT] = &set->fit,
                                  [OWNER_BUDGET] = &set->fit.budget};
    char *equals = strchr(line, '=');
    const struct row *row = equals ? find_row(line, (size_t)(equals - line)) : NULL;
    return row &&
           read_value(run, row, equals + 1, (char *)owners[row->owner] + row->offset, &set->texts);
}

enum dpl_status dpl_option_read(struct dpl_run *run, const char *where, const char *text,
                                struct dpl_option_set *set) {
    *set = (struct dpl_option_set){
        .read = dpl_read_defaults(), .area = dpl_area_defaults(), .fit = dpl_fit_defaults()};
    char *copy = NULL, *rest;
    DPL_TRY(dpl_text_copy(run, text, &copy));
    enum dpl_status status = DPL_OK;
    for (char *line = strtok_r(copy, "\n", &rest); line && status == DPL_OK;
         line = strtok_r(NULL, "\n", &rest))
        if (!read_line(run, line, set))
            status =
                dpl_fail(run, DPL_BAD_DATA, "%s: its options are not those of this version (%s)",
                         where, dpl_version());
    dpl_text_free(copy);
    return status;
}

void dpl_option_set_free(struct dpl_option_set *set) { dpl_arena_free(&set->texts); }
