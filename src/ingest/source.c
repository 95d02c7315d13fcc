/* Files, directories, archives and standard input as one sequence of byte streams.
 *
 * What is named as an archive or as compressed goes through libarchive, with the one filter and
 * format that the name says; anything else is read as it is. A name that does not tell (a pipe's)
 * leaves it to the first line, unless that may be a row.
 *
 * PRIVACY: libarchive's own guessing is off. It looks at 512 bytes and more, so that one row could
 * make a table pass for an archive. */
#include "ingest/source.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pattern.h"
#include "ingest/format.h" // defines: dpl_format_by_file_name, dpl_format_called
#include "ingest/parquet_lines.h"

/* GPS text shrinks at most about thirty-fold. */
static const int64_t BOMB_FLOOR_BYTES = 64 << 20;
enum { BOMB_RATIO = 250, PEEK = 512, UNPACK_CHUNK = 1 << 18 };

enum container { STREAM, TAR, ZIP, PARQUET };

/* How a file is packed. */
struct packing {
    int filter; /* ARCHIVE_FILTER_... */
    enum container container;
};

struct input_file {
    char *path; /* or "-" */
    bool given; /* by the caller; otherwise it was found in a directory */
};

struct source {
    struct dpl_run *run;
    struct dpl_arena arena;
    struct input_file *files; /* (n_files) */
    size_t n_files, files_capacity, next_file;
    int64_t total_bytes, before_bytes; /* of all files; of those finished */
    int spool_fd;                      /* standard input, copied; -1: none */
    bool may_peek;                     /* a first line is a header */
    bool one_file;                     /* one input, and no directory */

    int fd; /* the file being read, -1: none */
    int64_t file_bytes, read_bytes;
    struct packing packing;
    int64_t member_bytes;        /* of the member, unpacked */
    struct archive *archive;     /* NULL: plain */
    struct parquet_lines *table; /* NULL: no Parquet */
    bool member_open;
    char name[4096];
};

/* ---- finding files ---- */

static enum dpl_status add_file(struct source *source, const char *path, bool given) {
    DPL_TRY(dpl_grow(source->run, &source->files, &source->files_capacity, source->n_files + 1,
                     sizeof *source->files));
    char *copy = dpl_arena_copy(source->run, &source->arena, path, strlen(path));
    if (!copy) return DPL_SYSTEM;
    source->files[source->n_files++] = (struct input_file){copy, given};
    return DPL_OK;
}

static bool hidden(const char *name) {
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    return base[0] == '.' || strstr(name, "__MACOSX/") != NULL;
}

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static enum dpl_status add_directory(struct source *source, const char *path) {
    char *const roots[] = {(char *)(uintptr_t)path, NULL}; // fts wants char *, but does not write
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    if (!walk)
        return dpl_fail_errno(source->run, DPL_SYSTEM, "%s: cannot list the directory", path);
    enum dpl_status status = DPL_OK;
    for (FTSENT *entry; status == DPL_OK && (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_F && !hidden(entry->fts_path)) {
            source->total_bytes += entry->fts_statp->st_size;
            status = add_file(source, entry->fts_path, false);
        } else if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR) {
            errno = entry->fts_errno;
            status = dpl_fail_errno(source->run, DPL_SYSTEM, "%s: cannot list the directory",
                                    entry->fts_path);
        } else if (entry->fts_info == FTS_D && entry->fts_level > 0 && hidden(entry->fts_path)) {
            fts_set(walk, entry, FTS_SKIP);
        }
    }
    fts_close(walk);
    return status;
}

/* Copies standard input into a file without a name. Then it can be read twice and has a size. */
static enum dpl_status spool_standard_input(struct source *source) {
    struct dpl_run *run = source->run;
    DPL_TRY(dpl_file_temporary(run, &source->spool_fd));
    char *buffer = dpl_alloc(run, UNPACK_CHUNK, 1);
    if (!buffer) return DPL_SYSTEM;
    enum dpl_status status = DPL_OK;
    for (;;) {
        ssize_t got = read(STDIN_FILENO, buffer, UNPACK_CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) status = dpl_fail_errno(run, DPL_SYSTEM, "standard input: cannot read");
        if (got > 0 && !dpl_write_whole(source->spool_fd, buffer, (size_t)got))
            status = dpl_fail_errno(
                run, DPL_SYSTEM,
                "cannot write the copy of standard input (set TMPDIR to a larger disk)");
        if (got <= 0 || status != DPL_OK) break;
        source->total_bytes += got;
    }
    dpl_free(buffer);
    return status;
}

static enum dpl_status add_input(void *state, const char *input) {
    struct source *source = state;
    struct stat info;
    if (!strcmp(input, "-")) {
        if (source->spool_fd >= 0)
            return dpl_fail(source->run, DPL_USAGE, "standard input is named twice");
        DPL_TRY(spool_standard_input(source));
        return add_file(source, "-", true);
    }
    if (dpl_input_is_query(input)) return add_file(source, input, true);
    if (stat(input, &info) != 0) return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s", input);
    if (S_ISDIR(info.st_mode)) return add_directory(source, input);
    source->total_bytes += info.st_size;
    return add_file(source, input, true);
}

/* Whether a member whose name does not tell begins with a header line. */
static bool first_line_is_header(const struct dpl_read_options *options) {
    const struct format *format = dpl_format_called(options->format);
    return format ? dpl_format_header_lines(format, options) > 0 : !options->columns;
}

enum dpl_status dpl_source_open(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                const struct dpl_read_options *options, struct source **made) {
    struct source *source = dpl_alloc(run, 1, sizeof *source);
    if (!source) return DPL_SYSTEM;
    source->run = run;
    source->fd = source->spool_fd = -1;
    source->may_peek = options->guess || first_line_is_header(options);
    enum dpl_status status = DPL_OK;
    for (size_t i = 0; i < n_inputs && status == DPL_OK; i++) {
        status = dpl_pattern_each(run, inputs[i], add_input, source);
        if (status == DPL_OK && source->n_files == 0)
            status = dpl_fail(run, DPL_BAD_DATA, "%s: the directory holds no files", inputs[i]);
    }
    source->one_file = n_inputs == 1 && source->n_files == 1 && source->files[0].given;
    if (status == DPL_OK)
        *made = source;
    else
        dpl_source_close(source);
    return status;
}

/* ---- one file ---- */

static void close_file(struct source *source) {
    if (source->archive) archive_read_free(source->archive);
    dpl_parquet_lines_close(source->table);
    source->table = NULL;
    if (source->fd >= 0 && source->fd != source->spool_fd) close(source->fd);
    if (source->fd >= 0) source->before_bytes += source->file_bytes;
    source->archive = NULL;
    source->fd = -1;
    source->member_open = false;
}

void dpl_source_close(struct source *source) {
    if (!source) return;
    close_file(source);
    if (source->spool_fd >= 0) close(source->spool_fd);
    dpl_free(source->files);
    dpl_arena_free(&source->arena);
    dpl_free(source);
}

void dpl_source_rewind(struct source *source) {
    close_file(source);
    source->next_file = 0;
    source->before_bytes = 0;
}

/* ---- how a file is packed ---- */

static bool is_plain(struct packing packing) {
    return packing.filter == ARCHIVE_FILTER_NONE && packing.container == STREAM;
}

static bool ends_in(const char *name, size_t length, const char *ending) {
    size_t n = strlen(ending);
    return length >= n && !strncasecmp(name + length - n, ending, n);
}

static struct packing packing_by_name(const char *name) {
    static const struct {
        const char *ending;
        struct packing packing;
    } ENDINGS[] = {
        {".zip", {ARCHIVE_FILTER_NONE, ZIP}},        {".tar", {ARCHIVE_FILTER_NONE, TAR}},
        {".tgz", {ARCHIVE_FILTER_GZIP, TAR}},        {".txz", {ARCHIVE_FILTER_XZ, TAR}},
        {".tzst", {ARCHIVE_FILTER_ZSTD, TAR}},       {".tbz2", {ARCHIVE_FILTER_BZIP2, TAR}},
        {".gz", {ARCHIVE_FILTER_GZIP, STREAM}},      {".xz", {ARCHIVE_FILTER_XZ, STREAM}},
        {".zst", {ARCHIVE_FILTER_ZSTD, STREAM}},     {".bz2", {ARCHIVE_FILTER_BZIP2, STREAM}},
        {"parquet", {ARCHIVE_FILTER_NONE, PARQUET}}, {".pq", {ARCHIVE_FILTER_NONE, PARQUET}},
    };
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        struct packing packing = ENDINGS[i].packing;
        if (!ends_in(name, length, ENDINGS[i].ending)) continue;
        if (ends_in(name, length - strlen(ENDINGS[i].ending), ".tar")) packing.container = TAR;
        return packing;
    }
    return (struct packing){ARCHIVE_FILTER_NONE, STREAM};
}

static bool begins_with(const char *bytes, size_t length, const char *magic, size_t n) {
    return length >= n && !memcmp(bytes, magic, n);
}

/* A tar's first 512 bytes hold no line end: the mark must stand in the first line. */
static bool is_tar(const char *bytes, size_t length) {
    enum { MARK_AT = 257, MARK = 5 };
    return length >= MARK_AT + MARK && !memcmp(bytes + MARK_AT, "ustar", MARK) &&
           !memchr(bytes, '\n', MARK_AT + MARK);
}

static struct packing packing_by_first_line(const char *bytes, size_t length) {
    static const struct {
        size_t length;
        const char *magic;
        struct packing packing;
    } KNOWN[] = {
        {2, "\x1f\x8b", {ARCHIVE_FILTER_GZIP, STREAM}},
        {6, "\xfd\x37zXZ\0", {ARCHIVE_FILTER_XZ, STREAM}},
        {4, "\x28\xb5\x2f\xfd", {ARCHIVE_FILTER_ZSTD, STREAM}},
        {3, "BZh", {ARCHIVE_FILTER_BZIP2, STREAM}},
        {4, "PK\3\4", {ARCHIVE_FILTER_NONE, ZIP}},
        {4, "PK\5\6", {ARCHIVE_FILTER_NONE, ZIP}},
        {4, "PAR1", {ARCHIVE_FILTER_NONE, PARQUET}},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (begins_with(bytes, length, KNOWN[i].magic, KNOWN[i].length)) return KNOWN[i].packing;
    return (struct packing){ARCHIVE_FILTER_NONE, is_tar(bytes, length) ? TAR : STREAM};
}

static enum dpl_status archive_failed(struct source *source) {
    const char *reason = archive_error_string(source->archive);
    return dpl_fail(source->run, DPL_BAD_DATA,
                    "%s: cannot be unpacked: %s (is the download complete?)", source->name,
                    reason ? reason : "damaged");
}

static enum dpl_status open_archive(struct source *source) {
    struct archive *a = source->archive = archive_read_new();
    if (!a) return dpl_fail(source->run, DPL_SYSTEM, "out of memory");
    if (source->packing.filter != ARCHIVE_FILTER_NONE)
        archive_read_append_filter(a, source->packing.filter);
    switch (source->packing.container) {
    case TAR: archive_read_support_format_tar(a); break;
    case ZIP: archive_read_support_format_zip(a); break;
    case PARQUET:
    case STREAM: archive_read_support_format_raw(a); break;
    }
    archive_read_support_format_empty(a);
    // A stream that fails at its first byte passes for an empty one, but leaves an error behind.
    if (archive_read_open_fd(a, source->fd, UNPACK_CHUNK) != ARCHIVE_OK || archive_errno(a))
        return archive_failed(source);
    return DPL_OK;
}

/* What a compressed stream begins with, to see whether a tar is in it; then back to its start. */
static enum dpl_status peek_unpacked(struct source *source, char *bytes, size_t room, size_t *got) {
    struct archive_entry *entry;
    DPL_TRY(open_archive(source));
    la_ssize_t length = 0;
    if (archive_read_next_header(source->archive, &entry) == ARCHIVE_OK)
        length = archive_read_data(source->archive, bytes, room);
    archive_read_free(source->archive);
    source->archive = NULL;
    *got = length > 0 ? (size_t)length : 0; // what cannot be unpacked fails again, and is then said
    if (lseek(source->fd, 0, SEEK_SET) != 0)
        return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s: cannot read", source->name);
    return DPL_OK;
}

/* For names that do not tell. */
static enum dpl_status peek(struct source *source) {
    char bytes[PEEK];
    size_t unpacked = 0;
    ssize_t got = dpl_read_whole(source->fd, bytes, sizeof bytes);
    if (got < 0 || lseek(source->fd, 0, SEEK_SET) != 0)
        return dpl_fail_errno(source->run, DPL_SYSTEM, "%s: cannot read", source->name);
    source->packing = packing_by_first_line(bytes, (size_t)got);
    if (source->packing.filter == ARCHIVE_FILTER_NONE) return DPL_OK;
    DPL_TRY(peek_unpacked(source, bytes, sizeof bytes, &unpacked));
    if (is_tar(bytes, unpacked)) source->packing.container = TAR;
    return DPL_OK;
}

/* The rows that a query selects. No file is open; that something is, /dev/null stands for. */
static enum dpl_status open_query(struct source *source, const char *query) {
    snprintf(source->name, sizeof source->name, "the selection");
    source->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    source->file_bytes = source->read_bytes = 0;
    source->packing = (struct packing){ARCHIVE_FILTER_NONE, PARQUET};
    if (source->fd < 0) return dpl_fail_errno(source->run, DPL_SYSTEM, "/dev/null");
    return dpl_parquet_lines_select(source->run, query, source->name, &source->table);
}

static enum dpl_status open_file(struct source *source, const struct input_file *file) {
    const char *path = file->path;
    if (dpl_input_is_query(path)) return open_query(source, path + sizeof DPL_QUERY - 1);
    bool standard = !strcmp(path, "-");
    snprintf(source->name, sizeof source->name, "%s", standard ? "standard input" : path);
    source->fd = standard ? source->spool_fd : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0)
        return dpl_fail_errno(source->run, dpl_system_fault(errno) ? DPL_SYSTEM : DPL_BAD_DATA,
                              "%s", path);
    struct stat info;
    if (fstat(source->fd, &info) != 0)
        return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s", source->name);
    if (!S_ISREG(info.st_mode))
        return dpl_fail(source->run, DPL_BAD_DATA,
                        "%s: not a file or directory (pipe it in: '... | dploc ... -')",
                        source->name);
    source->file_bytes = info.st_size;
    source->read_bytes = 0;
    if (lseek(source->fd, 0, SEEK_SET) != 0)
        return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s: cannot read", source->name);
    posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    source->packing = packing_by_name(path);
    // Of files found in a directory one may be one person's: what is in it must not end the run.
    bool may_peek = source->may_peek && file->given && !dpl_format_by_file_name(path);
    if (is_plain(source->packing) && may_peek) DPL_TRY(peek(source));
    if (source->packing.container == PARQUET)
        return dpl_parquet_lines_open(source->run, source->fd, source->name, &source->table);
    return is_plain(source->packing) ? DPL_OK : open_archive(source);
}

/* The next regular member of the open archive; *found is false at its end. */
static enum dpl_status next_archive_member(struct source *source, bool *found) {
    struct archive_entry *entry;
    for (;;) {
        int result = archive_read_next_header(source->archive, &entry);
        *found = result != ARCHIVE_EOF;
        if (result == ARCHIVE_EOF) return DPL_OK;
        if (result < ARCHIVE_WARN) return archive_failed(source);
        const char *inner = archive_entry_pathname(entry);
        const char *outer = source->files[source->next_file - 1].path;
        bool raw = archive_format(source->archive) == ARCHIVE_FORMAT_RAW;
        if (archive_entry_filetype(entry) == AE_IFDIR || (!raw && inner && hidden(inner))) continue;
        if (raw || !inner)
            snprintf(source->name, sizeof source->name, "%s",
                     strcmp(outer, "-") ? outer : "standard input");
        else
            snprintf(source->name, sizeof source->name, "%s:%s", outer, inner);
        return DPL_OK;
    }
}

enum dpl_status dpl_source_next(struct source *source, const char **name) {
    for (;;) {
        if (source->archive) {
            bool found;
            DPL_TRY(next_archive_member(source, &found));
            if (found) break;
        } else if (source->fd >= 0 && !source->member_open) {
            break; // a plain file is its own only member
        }
        close_file(source);
        if (source->next_file == source->n_files) {
            *name = NULL;
            return DPL_OK;
        }
        DPL_TRY(open_file(source, &source->files[source->next_file++]));
    }
    source->member_open = true;
    source->member_bytes = 0;
    *name = source->name;
    return DPL_OK;
}

static enum dpl_status read_archive(struct source *source, char *buffer, size_t room, size_t *got) {
    la_ssize_t length = archive_read_data(source->archive, buffer, room);
    if (length < 0) return archive_failed(source);
    source->member_bytes += length;
    source->read_bytes = archive_filter_bytes(source->archive, -1);
    *got = (size_t)length;
    return DPL_OK;
}

static enum dpl_status read_table(struct source *source, char *buffer, size_t room, size_t *got) {
    DPL_TRY(dpl_parquet_lines_read(source->table, buffer, room, got));
    source->member_bytes += (int64_t)*got;
    source->read_bytes =
        (int64_t)((double)source->file_bytes * dpl_parquet_lines_share(source->table));
    return DPL_OK;
}

enum dpl_status dpl_source_read(struct source *source, char *buffer, size_t room, size_t *got) {
    if (source->archive) return read_archive(source, buffer, room, got);
    if (source->table) return read_table(source, buffer, room, got);
    ssize_t length;
    do length = read(source->fd, buffer, room);
    while (length < 0 && errno == EINTR);
    if (length < 0) return dpl_fail_errno(source->run, DPL_SYSTEM, "%s: cannot read", source->name);
    source->read_bytes += length;
    *got = (size_t)length;
    return DPL_OK;
}

bool dpl_source_has_schema(const struct source *source) { return source->table != NULL; }

bool dpl_source_is_one_stream(const struct source *source) {
    return source->one_file && source->packing.container == STREAM;
}

bool dpl_source_is_bomb(const struct source *source) {
    return source->member_bytes > BOMB_FLOOR_BYTES &&
           source->member_bytes / BOMB_RATIO > source->file_bytes;
}

double dpl_source_file_mb(const struct source *source) { return (double)source->file_bytes / 1e6; }

int64_t dpl_source_total_bytes(const struct source *source) { return source->total_bytes; }

int64_t dpl_source_done_bytes(const struct source *source) {
    return source->before_bytes + (source->fd >= 0 ? source->read_bytes : 0);
}
