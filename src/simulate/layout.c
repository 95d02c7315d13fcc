/* The four layouts of a simulated city, each as the original data set has it.
 *
 *     csv          trip_id,user_id,timestamp,lat,lon                        one file
 *     porto        nine quoted columns, POLYLINE of one point per 15 s      one file
 *     cabspotting  new_NAME.txt: lat lon occupied unixtime, newest first    a file per user
 *     geolife      Data/NNN/Trajectory/YYYYMMDDhhmmss.plt, GMT, CRLF        a file per trip
 *
 * Coordinates were rounded to 1e-5 degrees before they come here, so all layouts hold the same
 * points. User numbers are padded in names: sorted by name, files are in the order of the csv. A
 * directory is filled under a name aside and renamed at the end. Numbers are formatted by hand:
 * that is half the time of writing a gigabyte. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/file.h"
#include "simulate/simulate.h"
#include "base/date.h"

enum {
    MAX_ROW = 96,
    MAX_HEAD = 256,
    LONGEST_PATH = 3900,
    PATH_ROOM = 4096,
    MARK_ROOM = PATH_ROOM + 32,
    NAME_LETTERS = 6,
    DAY_S = 86400
};

struct dpl_sim_output {
    struct dpl_run *run;
    enum dpl_layout layout;
    bool dirty, overwrite;
    struct dpl_file *file; /* csv, porto */
    char path[PATH_ROOM];  /* "": standard output */
    char aside[PATH_ROOM]; /* cabspotting, geolife; "": nothing to remove */
    int user_digits;
};

/* ---- numbers ---- */

static char *put_text(char *to, const char *text) {
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

static char *put_digits(char *to, uint64_t value, int digits) {
    for (int i = digits - 1; i >= 0; i--, value /= 10) to[i] = (char)('0' + value % 10);
    return to + digits;
}

static int count_digits(uint64_t value) {
    int digits = 1;
    for (; value >= 10; value /= 10) digits++;
    return digits;
}

static char *put_whole(char *to, int64_t value) {
    if (value < 0) *to++ = '-';
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return put_digits(to, size, count_digits(size));
}

static char *put_e5(char *to, int32_t value) {
    uint32_t size = (uint32_t)(value < 0 ? -value : value);
    if (value < 0) *to++ = '-';
    to = put_digits(to, size / 100000, count_digits(size / 100000));
    *to++ = '.';
    return put_digits(to, size % 100000, 5);
}

/* Room for `more` bytes; *at becomes where they go. */
static enum dpl_status room(struct dpl_run *run, struct dpl_sim_text *text, size_t more,
                            char **at) {
    DPL_TRY(dpl_grow(run, &text->bytes, &text->capacity, text->used + more, 1));
    *at = text->bytes + text->used;
    return DPL_OK;
}

static void used_up_to(struct dpl_sim_text *text, const char *end) {
    text->used = (size_t)(end - text->bytes);
}

/* ---- csv ---- */

static char *put_csv_row(char *to, const char *head, size_t head_length,
                         const struct dpl_sim_fix *fix) {
    memcpy(to, head, head_length);
    to = put_whole(to + head_length, fix->utc_s);
    *to++ = ',';
    to = put_e5(to, fix->lat_e5);
    *to++ = ',';
    to = put_e5(to, fix->lon_e5);
    *to++ = '\n';
    return to;
}

/* Rows as broken files have them: some to reject, outliers that spoil their trip, the last row
 * twice. */
static char *put_dirt(char *to, const char *head, size_t head_length, int64_t trip,
                      const struct dpl_sim_fix *last) {
    static const char *const ENDS[] = {"12:30,48.0,11.5\n",    "1741000000,47.9x,11.5\n",
                                       "1741000000,95,11.5\n", "1741000000,nan,11.5\n",
                                       "1741000000,48.0\n",    "1741000000,0,0\n",
                                       "0,48.0,11.5\n",        ",,\n"};
    enum { N_ENDS = sizeof ENDS / sizeof *ENDS };
    uint64_t chance = dpl_sim_key(0xD127, (uint64_t)trip), kind = chance / 16 % (N_ENDS + 2);
    if (chance % 16) return to;
    if (kind >= N_ENDS) return put_csv_row(to, head, head_length, last);
    memcpy(to, head, head_length);
    return put_text(to + head_length, ENDS[kind]);
}

static enum dpl_status add_csv(const struct dpl_sim_output *output, const struct dpl_sim_log *log,
                               struct dpl_sim_text *text) {
    for (size_t t = 0; t < log->n_trips; t++) {
        char *to, head[MAX_ROW], *head_end = head;
        size_t n = log->start[t + 1] - log->start[t];
        int64_t trip = log->first_trip + (int64_t)t;
        head_end = put_whole(head_end, trip);
        *head_end++ = ',';
        head_end = put_whole(head_end, log->user);
        *head_end++ = ',';
        size_t head_length = (size_t)(head_end - head);
        DPL_TRY(room(output->run, text, (n + 1) * MAX_ROW, &to));
        for (const struct dpl_sim_fix *fix = log->fix + log->start[t], *end = fix + n; fix < end;
             fix++)
            to = put_csv_row(to, head, head_length, fix);
        if (output->dirty)
            to = put_dirt(to, head, head_length, trip, &log->fix[log->start[t + 1] - 1]);
        used_up_to(text, to);
    }
    return DPL_OK;
}

/* ---- porto ---- */

static const char PORTO_HEADER[] =
    "\"TRIP_ID\",\"CALL_TYPE\",\"ORIGIN_CALL\",\"ORIGIN_STAND\",\"TAXI_ID\",\"TIMESTAMP\",\"DAY_"
    "TYPE\",\"MISSING_DATA\",\"POLYLINE\"\n";
static const char CSV_HEADER[] = "trip_id,user_id,timestamp,lat,lon\n";

/* All columns up to the points. A call by phone (A), from a stand (B) or from the street (C). */
static char *put_porto_head(char *to, int64_t user, int64_t trip, int64_t utc_s) {
    uint64_t chance = dpl_sim_key((uint64_t)user, (uint64_t)trip);
    char type = "ABC"[chance % 3];
    *to++ = '"';
    to = put_whole(to, utc_s);
    *to++ = '6';
    to = put_whole(to, 20000000 + user);
    to = put_text(to, "\",\"");
    *to++ = type;
    to = put_text(to, "\",\"");
    if (type == 'A') to = put_whole(to, 2002 + (int64_t)(chance / 3 % 60000));
    to = put_text(to, "\",\"");
    if (type == 'B') to = put_whole(to, 1 + (int64_t)(chance / 3 % 63));
    to = put_text(to, "\",\"");
    to = put_whole(to, 20000000 + user);
    to = put_text(to, "\",\"");
    to = put_whole(to, utc_s);
    return put_text(to, "\",\"A\",\"False\",\"[");
}

static enum dpl_status add_porto(const struct dpl_sim_output *output, const struct dpl_sim_log *log,
                                 struct dpl_sim_text *text) {
    for (size_t t = 0; t < log->n_trips; t++) {
        char *to;
        size_t n = log->start[t + 1] - log->start[t];
        const struct dpl_sim_fix *fix = log->fix + log->start[t];
        DPL_TRY(room(output->run, text, MAX_HEAD + n * MAX_ROW, &to));
        to = put_porto_head(to, log->user, log->first_trip + (int64_t)t, fix->utc_s);
        for (size_t i = 0; i < n; i++) {
            to = put_text(to, i ? ",[" : "[");
            to = put_e5(to, fix[i].lon_e5);
            *to++ = ',';
            to = put_e5(to, fix[i].lat_e5);
            *to++ = ']';
        }
        used_up_to(text, put_text(to, "]\"\n"));
    }
    return DPL_OK;
}

/* ---- files of a directory ---- */

static enum dpl_status write_file(struct dpl_run *run, const char *path,
                                  const struct dpl_sim_text *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot create", path);
    enum dpl_status status = DPL_OK;
    if (!dpl_write_whole(fd, text->bytes, text->used))
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot write", path);
    if (close(fd) != 0 && status == DPL_OK)
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot write", path);
    return status;
}

static enum dpl_status make_directory(struct dpl_run *run, const char *path) {
    if (mkdir(path, 0777) == 0) return DPL_OK;
    return dpl_fail_errno(run, DPL_SYSTEM,
                          "%s: cannot make this directory (the result is written aside first)",
                          path);
}

/* ---- cabspotting ---- */

static char *put_cab_row(char *to, const struct dpl_sim_fix *fix, char occupied) {
    to = put_e5(to, fix->lat_e5);
    *to++ = ' ';
    to = put_e5(to, fix->lon_e5);
    *to++ = ' ';
    *to++ = occupied;
    *to++ = ' ';
    to = put_whole(to, fix->utc_s);
    *to++ = '\n';
    return to;
}

/* A free cab somewhere on the way from its last passenger to the next. */
static struct dpl_sim_fix on_the_way(const struct dpl_sim_fix *last, const struct dpl_sim_fix *next,
                                     int part, int parts) {
    return (struct dpl_sim_fix){
        .utc_s = last->utc_s + (next->utc_s - last->utc_s) * part / parts,
        .lat_e5 = last->lat_e5 + (next->lat_e5 - last->lat_e5) * part / parts,
        .lon_e5 = last->lon_e5 + (next->lon_e5 - last->lon_e5) * part / parts,
    };
}

static enum dpl_status add_cabspotting(const struct dpl_sim_output *output,
                                       const struct dpl_sim_log *log, struct dpl_sim_text *text) {
    char *to, path[MARK_ROOM], name[NAME_LETTERS + 1] = "";
    int64_t rest = log->user - 1;
    for (int i = NAME_LETTERS - 1; i >= 0; i--, rest /= 26) name[i] = (char)('a' + rest % 26);
    text->used = 0;
    DPL_TRY(room(output->run, text, (log->n_fixes + 2 * log->n_trips + 2) * MAX_ROW, &to));
    for (size_t t = log->n_trips; t-- > 0;) {
        const struct dpl_sim_fix *first = log->fix + log->start[t],
                                 *last = log->fix + log->start[t + 1] - 1;
        for (int part = 2; part >= 1; part--) { // two rows without a passenger after each trip
            struct dpl_sim_fix before = *last, after = t + 1 < log->n_trips ? last[1] : *last;
            if (t + 1 == log->n_trips) after.utc_s += 180;
            struct dpl_sim_fix idle = on_the_way(&before, &after, part, 3);
            to = put_cab_row(to, &idle, '0');
        }
        for (const struct dpl_sim_fix *fix = last; fix >= first; fix--)
            to = put_cab_row(to, fix, '1');
    }
    used_up_to(text, to);
    snprintf(path, sizeof path, "%s/new_%s.txt", output->aside, name);
    return write_file(output->run, path, text);
}

/* ---- geolife ---- */

static const char PLT_HEADER[] = "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved "
                                 "3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n";

/* Days since 1899-12-30 with ten decimals, then the date and the time of the day. */
static char *put_plt_time(char *to, int64_t utc_s) {
    int64_t days = utc_s / DAY_S, second = utc_s % DAY_S, year;
    int month, day;
    dpl_date_from_days(days, &year, &month, &day);
    to = put_whole(to, days + 25569);
    *to++ = '.';
    to = put_digits(to, ((uint64_t)second * 10000000000u + DAY_S / 2) / DAY_S, 10);
    *to++ = ',';
    to = put_digits(to, (uint64_t)year, 4);
    *to++ = '-';
    to = put_digits(to, (uint64_t)month, 2);
    *to++ = '-';
    to = put_digits(to, (uint64_t)day, 2);
    *to++ = ',';
    to = put_digits(to, (uint64_t)(second / 3600), 2);
    *to++ = ':';
    to = put_digits(to, (uint64_t)(second / 60 % 60), 2);
    *to++ = ':';
    return put_digits(to, (uint64_t)(second % 60), 2);
}

static enum dpl_status add_plt(const struct dpl_sim_output *output, const struct dpl_sim_log *log,
                               size_t trip, const char *folder, struct dpl_sim_text *text) {
    const struct dpl_sim_fix *fix = log->fix + log->start[trip],
                             *end = log->fix + log->start[trip + 1];
    char *to, path[PATH_ROOM + 128];
    int64_t year, second = fix->utc_s % DAY_S;
    int month, day;
    dpl_date_from_days(fix->utc_s / DAY_S, &year, &month, &day);
    snprintf(path, sizeof path, "%s/%04d%02d%02d%02d%02d%02d.plt", folder, (int)year, month, day,
             (int)(second / 3600), (int)(second / 60 % 60), (int)(second % 60));
    text->used = 0;
    DPL_TRY(room(output->run, text, sizeof PLT_HEADER + (size_t)(end - fix) * MAX_ROW, &to));
    to = put_text(to, PLT_HEADER);
    for (; fix < end; fix++) {
        to = put_e5(to, fix->lat_e5);
        *to++ = ',';
        to = put_e5(to, fix->lon_e5);
        to = put_text(to, ",0,1706,"); // the city is as flat as a table, 520 m above the sea
        to = put_plt_time(to, fix->utc_s);
        to = put_text(to, "\r\n");
    }
    used_up_to(text, to);
    return write_file(output->run, path, text);
}

static enum dpl_status add_geolife(const struct dpl_sim_output *output,
                                   const struct dpl_sim_log *log, struct dpl_sim_text *text) {
    char folder[PATH_ROOM + 64];
    int length = snprintf(folder, sizeof folder, "%s/Data/%0*lld", output->aside,
                          output->user_digits, (long long)(log->user - 1));
    DPL_TRY(make_directory(output->run, folder));
    snprintf(folder + length, sizeof folder - (size_t)length, "/Trajectory");
    DPL_TRY(make_directory(output->run, folder));
    for (size_t t = 0; t < log->n_trips; t++) DPL_TRY(add_plt(output, log, t, folder, text));
    return DPL_OK;
}

/* ---- files and directories that appear whole ---- */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS); }

/* ---- what an earlier simulation made ----
 *
 * A made-up city looks like a real one, so that nothing about its rows tells whose it is. A hidden
 * file, which readers of directories pass over, keeps a digest: DIRECTORY/.simulated of all names
 * and bytes below, .NAME.simulated of the file NAME beside it. */

static const char MARK[] = ".simulated";
static const char MARK_TEXT[] = "made by dploc simulate, sha256 ";

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Names and contents of all that is below `path`, but for the mark itself. Anything but files and
 * directories counts as a change. */
static enum dpl_status digest_tree(struct dpl_run *run, const char *path,
                                   char hex[DPL_DIGEST_HEX]) {
    char *const roots[] = {(char *)(uintptr_t)path, NULL}; // fts wants char *, but does not write
    struct dpl_sha256_sum *sum = NULL;
    char file[DPL_DIGEST_HEX] = "";
    FTS *walk = NULL;
    enum dpl_status status = dpl_sha256_new(run, &sum);
    if (status != DPL_OK) return status;
    // Opened last: glibc loses the memory of a walk that is closed before its first step.
    walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (!walk) {
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot list the directory", path);
        goto done;
    }
    for (FTSENT *entry; (entry = fts_read(walk));) {
        if (entry->fts_level == 0 || entry->fts_info == FTS_DP ||
            (entry->fts_level == 1 && !strcmp(entry->fts_name, MARK)))
            continue;
        const char *name = entry->fts_path + strlen(path);
        const char kind = entry->fts_info == FTS_F ? 'f' : entry->fts_info == FTS_D ? 'd' : '?';
        DPL_GO(dpl_sha256_add(sum, name, strlen(name) + 1));
        DPL_GO(dpl_sha256_add(sum, &kind, 1));
        if (kind != 'f') continue;
        DPL_GO(dpl_file_sha256(run, entry->fts_path, file));
        DPL_GO(dpl_sha256_add(sum, file, sizeof file));
    }
    DPL_GO(dpl_sha256_end(sum, hex));
done:
    dpl_sha256_free(sum);
    if (walk) fts_close(walk);
    return status;
}

/* The mark of a directory is in it, that of a file beside it. */
static bool mark_path(const char *path, bool directory, char mark[MARK_ROOM]) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int n = directory
                ? snprintf(mark, MARK_ROOM, "%s/%s", path, MARK)
                : snprintf(mark, MARK_ROOM, "%.*s.%s%s", (int)(name - path), path, name, MARK);
    return n < MARK_ROOM;
}

static enum dpl_status write_mark(struct dpl_run *run, const char *path, bool directory,
                                  const char digest[DPL_DIGEST_HEX]) {
    char mark[MARK_ROOM];
    struct dpl_file *file = NULL;
    const struct dpl_file_options options = {.overwrite = true, .mark = MARK_TEXT};
    if (!mark_path(path, directory, mark)) return dpl_fail(run, DPL_USAGE, "too long a name");
    DPL_TRY(dpl_file_create(run, mark, &options, &file));
    enum dpl_status status = dpl_file_print(file, "%s%s\n", MARK_TEXT, digest);
    if (status == DPL_OK) return dpl_file_commit(file);
    dpl_file_abort(file);
    return status;
}

/* Whether the mark of `path` has this digest. */
static enum dpl_status marked(struct dpl_run *run, const char *path, bool directory,
                              const char digest[DPL_DIGEST_HEX], bool *has) {
    char mark[MARK_ROOM], text[sizeof MARK_TEXT + DPL_DIGEST_HEX] = "";
    size_t n;
    *has = false;
    if (!mark_path(path, directory, mark)) return DPL_OK;
    DPL_TRY(dpl_file_head(run, mark, text, sizeof text - 1, &n));
    *has = n == sizeof MARK_TEXT - 1 + DPL_DIGEST_HEX &&
           !memcmp(text, MARK_TEXT, sizeof MARK_TEXT - 1) &&
           !memcmp(text + sizeof MARK_TEXT - 1, digest, DPL_DIGEST_HEX - 1);
    return DPL_OK;
}

static enum dpl_status file_ours(struct dpl_run *run, const char *path, bool *ours) {
    char digest[DPL_DIGEST_HEX];
    DPL_TRY(dpl_file_sha256(run, path, digest));
    return marked(run, path, false, digest, ours);
}

/* PRIVACY: real cab files and GeoLife's tree have the same names; only what is as an earlier
 * simulation left it is replaced. */
static enum dpl_status check_target(const struct dpl_sim_output *output, bool *there) {
    char digest[DPL_DIGEST_HEX];
    bool own;
    DPL_TRY(dpl_directory_check(output->run, output->path, output->overwrite, there));
    if (!*there) return DPL_OK;
    DPL_TRY(digest_tree(output->run, output->path, digest));
    DPL_TRY(marked(output->run, output->path, true, digest, &own));
    if (own) return DPL_OK;
    return dpl_fail(output->run, DPL_USAGE,
                    "%s holds other files than a simulated city, or some that were changed since; "
                    "remove it yourself or choose another name",
                    output->path);
}

static enum dpl_status open_directory(struct dpl_sim_output *output, const char *path) {
    static _Atomic unsigned counter;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    if (!strcmp(path, "-"))
        return dpl_fail(
            output->run, DPL_USAGE,
            "this layout is a directory and cannot go to standard output: name a directory");
    if (length > LONGEST_PATH)
        return dpl_fail(output->run, DPL_USAGE, "the output path is longer than %d bytes",
                        LONGEST_PATH);
    snprintf(output->path, sizeof output->path, "%.*s", (int)length, path);
    bool there = false;
    DPL_TRY(check_target(output, &there));
    char aside[PATH_ROOM];
    snprintf(aside, sizeof aside, "%.*s.part-%ld-%u", LONGEST_PATH, output->path, (long)getpid(),
             counter++);
    DPL_TRY(make_directory(output->run, aside));
    memcpy(output->aside, aside, sizeof aside);
    if (output->layout != DPL_LAYOUT_GEOLIFE) return DPL_OK;
    char data[PATH_ROOM + 8];
    snprintf(data, sizeof data, "%s/Data", aside);
    return make_directory(output->run, data);
}

static enum dpl_status flush_directory(const struct dpl_sim_output *output) {
    int fd = open(output->aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool synced = fd >= 0 && syncfs(fd) == 0;
    enum dpl_status status = synced ? DPL_OK
                                    : dpl_fail_errno(output->run, DPL_SYSTEM,
                                                     "%s: cannot flush to the disk", output->aside);
    if (fd >= 0) close(fd);
    return status;
}

/* Marks, flushes to the disk, then renames. An older city changes places with the new one, so that
 * dpl_sim_output_abort removes it. */
static enum dpl_status publish_directory(struct dpl_sim_output *output) {
    char digest[DPL_DIGEST_HEX];
    bool there = false;
    DPL_TRY(digest_tree(output->run, output->aside, digest));
    DPL_TRY(write_mark(output->run, output->aside, true, digest));
    DPL_TRY(flush_directory(output));
    DPL_TRY(check_target(output, &there)); // it may have changed meanwhile
    DPL_TRY(dpl_directory_show(output->run, output->aside, output->path, there));
    if (!there) output->aside[0] = '\0';
    return DPL_OK;
}

/* The mark first: it means nothing without its file, or with another. */
static enum dpl_status publish_file(struct dpl_sim_output *output) {
    char digest[DPL_DIGEST_HEX] = "", mark[MARK_ROOM];
    bool named = output->path[0];
    DPL_TRY(dpl_file_seal(output->file, digest));
    if (named) DPL_TRY(write_mark(output->run, output->path, false, digest));
    enum dpl_status status = dpl_file_commit(output->file);
    output->file = NULL;
    if (status != DPL_OK && named && mark_path(output->path, false, mark)) unlink(mark);
    return status;
}

/* ---- the interface ---- */

enum dpl_status dpl_sim_output_open(struct dpl_run *run, const struct dpl_simulate_options *options,
                                    const char *path, int64_t users,
                                    struct dpl_sim_output **output) {
    enum dpl_status status = DPL_SYSTEM;
    struct dpl_sim_output *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    made->run = run;
    made->layout = options->layout;
    made->dirty = options->dirty;
    made->overwrite = options->overwrite;
    made->user_digits = count_digits((uint64_t)users) < 3 ? 3 : count_digits((uint64_t)users);
    bool one_file = made->layout == DPL_LAYOUT_CSV || made->layout == DPL_LAYOUT_PORTO;
    if (one_file) {
        const char *header = made->layout == DPL_LAYOUT_CSV ? CSV_HEADER : PORTO_HEADER;
        struct dpl_file_options file = {
            .overwrite = options->overwrite, .digest = true, .ours = file_ours};
        if (strcmp(path, "-")) snprintf(made->path, sizeof made->path, "%s", path);
        DPL_GO(dpl_file_create(run, path, &file, &made->file));
        DPL_GO(dpl_file_write(made->file, header, strlen(header)));
    } else {
        DPL_GO(open_directory(made, path));
    }
    *output = made;
    made = NULL;
done:
    dpl_sim_output_abort(made);
    return status;
}

enum dpl_status dpl_sim_output_add(const struct dpl_sim_output *output,
                                   const struct dpl_sim_log *log, struct dpl_sim_text *text) {
    if (log->n_trips == 0) return DPL_OK;
    switch (output->layout) {
    case DPL_LAYOUT_CSV: return add_csv(output, log, text);
    case DPL_LAYOUT_PORTO: return add_porto(output, log, text);
    case DPL_LAYOUT_CABSPOTTING: return add_cabspotting(output, log, text);
    case DPL_LAYOUT_GEOLIFE: return add_geolife(output, log, text);
    }
    return DPL_OK;
}

enum dpl_status dpl_sim_output_write(struct dpl_sim_output *output, struct dpl_sim_text *text) {
    size_t length = text->used;
    text->used = 0;
    return output->file ? dpl_file_write(output->file, text->bytes, length) : DPL_OK;
}

enum dpl_status dpl_sim_output_commit(struct dpl_sim_output *output) {
    enum dpl_status status = output->file ? publish_file(output) : publish_directory(output);
    dpl_sim_output_abort(output);
    return status;
}

void dpl_sim_output_abort(struct dpl_sim_output *output) {
    if (!output) return;
    dpl_file_abort(output->file);
    if (output->aside[0]) remove_tree(output->aside);
    dpl_free(output);
}
