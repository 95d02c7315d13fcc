/* Files, directories, archives and standard input as one sequence of byte streams.
 *
 * What starts with the magic number of an archive or compressor goes through libarchive, anything
 * else is read as it is. Unpacking is bounded: GPS text shrinks at most about thirty-fold, so an
 * archive that grows more than 250-fold (and past 64 MB) is refused as a bomb. */
#include "ingest/source.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const int64_t BOMB_FLOOR_BYTES = 64 << 20;
enum { BOMB_RATIO = 250, PEEK = 512, UNPACK_CHUNK = 1 << 18 };

struct source {
    struct dpl_run *run;
    struct dpl_arena arena;
    char **files; /* (n_files) paths, or "-" */
    size_t n_files, files_capacity, next_file;
    int64_t total_bytes, before_bytes; /* of all files; of those finished */
    int spool_fd;                      /* standard input, copied; -1: none */

    int fd; /* the file being read, -1: none */
    int64_t file_bytes, read_bytes;
    int64_t unpacked_bytes;
    struct archive *archive; /* NULL: plain */
    bool member_open;
    char name[4096];
};

/* ---- finding files ---- */

static enum dpl_status add_file(struct source *source, const char *path) {
    DPL_TRY(dpl_grow(source->run, &source->files, &source->files_capacity, source->n_files + 1,
                     sizeof *source->files));
    char *copy = dpl_arena_copy(source->run, &source->arena, path, strlen(path));
    if (!copy) return DPL_SYSTEM;
    source->files[source->n_files++] = copy;
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
            status = add_file(source, entry->fts_path);
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
        if (got > 0 && write(source->spool_fd, buffer, (size_t)got) != got)
            status = dpl_fail_errno(
                run, DPL_SYSTEM,
                "cannot write the copy of standard input (set TMPDIR to a larger disk)");
        if (got <= 0 || status != DPL_OK) break;
        source->total_bytes += got;
    }
    dpl_free(buffer);
    return status;
}

static enum dpl_status add_input(struct source *source, const char *input) {
    struct stat info;
    if (!strcmp(input, "-")) {
        if (source->spool_fd >= 0)
            return dpl_fail(source->run, DPL_USAGE, "standard input is named twice");
        DPL_TRY(spool_standard_input(source));
        return add_file(source, "-");
    }
    if (stat(input, &info) != 0) return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s", input);
    if (S_ISDIR(info.st_mode)) return add_directory(source, input);
    source->total_bytes += info.st_size;
    return add_file(source, input);
}

enum dpl_status source_open(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                            struct source **made) {
    struct source *source = dpl_alloc(run, 1, sizeof *source);
    if (!source) return DPL_SYSTEM;
    source->run = run;
    source->fd = source->spool_fd = -1;
    enum dpl_status status = DPL_OK;
    for (size_t i = 0; i < n_inputs && status == DPL_OK; i++) {
        status = add_input(source, inputs[i]);
        if (status == DPL_OK && source->n_files == 0)
            status = dpl_fail(run, DPL_BAD_DATA, "%s: the directory holds no files", inputs[i]);
    }
    if (status == DPL_OK)
        *made = source;
    else
        source_close(source);
    return status;
}

/* ---- one file ---- */

static void close_file(struct source *source) {
    if (source->archive) archive_read_free(source->archive);
    if (source->fd >= 0 && source->fd != source->spool_fd) close(source->fd);
    if (source->fd >= 0) source->before_bytes += source->file_bytes;
    source->archive = NULL;
    source->fd = -1;
    source->member_open = false;
}

void source_close(struct source *source) {
    if (!source) return;
    close_file(source);
    if (source->spool_fd >= 0) close(source->spool_fd);
    dpl_free(source->files);
    dpl_arena_free(&source->arena);
    dpl_free(source);
}

void source_rewind(struct source *source) {
    close_file(source);
    source->next_file = 0;
    source->before_bytes = 0;
}

static bool is_packed(const unsigned char *peek, size_t length) {
    static const struct {
        size_t at, length;
        const char *magic;
    } KNOWN[] = {
        {0, 2, "\x1f\x8b"},
        {0, 6,
         "\xfd"
         "7zXZ\0"},
        {0, 4, "\x28\xb5\x2f\xfd"},
        {0, 4, "PK\3\4"},
        {0, 4, "PK\5\6"},
        {0, 3, "BZh"},
        {257, 5, "ustar"},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (length >= KNOWN[i].at + KNOWN[i].length &&
            !memcmp(peek + KNOWN[i].at, KNOWN[i].magic, KNOWN[i].length))
            return true;
    return false;
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
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    archive_read_support_format_raw(a);
    archive_read_support_format_empty(a);
    if (archive_read_open_fd(a, source->fd, UNPACK_CHUNK) != ARCHIVE_OK)
        return archive_failed(source);
    return DPL_OK;
}

static enum dpl_status open_file(struct source *source, const char *path) {
    bool standard = !strcmp(path, "-");
    snprintf(source->name, sizeof source->name, "%s", standard ? "standard input" : path);
    source->fd = standard ? source->spool_fd : open(path, O_RDONLY | O_CLOEXEC);
    if (source->fd < 0) return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s", path);
    struct stat info;
    unsigned char peek[PEEK];
    if (fstat(source->fd, &info) != 0)
        return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s", source->name);
    if (!S_ISREG(info.st_mode))
        return dpl_fail(source->run, DPL_BAD_DATA,
                        "%s: not a file or directory (pipe it in: '... | dploc ... -')",
                        source->name);
    source->file_bytes = info.st_size;
    source->read_bytes = source->unpacked_bytes = 0;
    ssize_t got = pread(source->fd, peek, sizeof peek, 0);
    if (got < 0 || lseek(source->fd, 0, SEEK_SET) != 0)
        return dpl_fail_errno(source->run, DPL_BAD_DATA, "%s: cannot read", source->name);
    posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return is_packed(peek, (size_t)got) ? open_archive(source) : DPL_OK;
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
        const char *outer = source->files[source->next_file - 1];
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

enum dpl_status source_next(struct source *source, const char **name) {
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
        DPL_TRY(open_file(source, source->files[source->next_file++]));
    }
    source->member_open = true;
    *name = source->name;
    return DPL_OK;
}

static enum dpl_status read_archive(struct source *source, char *buffer, size_t room, size_t *got) {
    la_ssize_t length = archive_read_data(source->archive, buffer, room);
    if (length < 0) return archive_failed(source);
    source->unpacked_bytes += length;
    source->read_bytes = archive_filter_bytes(source->archive, -1);
    if (source->unpacked_bytes > BOMB_FLOOR_BYTES &&
        source->unpacked_bytes / BOMB_RATIO > source->file_bytes)
        return dpl_fail(source->run, DPL_BAD_DATA,
                        "%s: %.1f MB unpack to more than %d times as much; that is no GPS data but "
                        "a bomb (unpack it yourself if you trust it)",
                        source->name, (double)source->file_bytes / 1e6, BOMB_RATIO);
    *got = (size_t)length;
    return DPL_OK;
}

enum dpl_status source_read(struct source *source, char *buffer, size_t room, size_t *got) {
    if (source->archive) return read_archive(source, buffer, room, got);
    ssize_t length;
    do length = read(source->fd, buffer, room);
    while (length < 0 && errno == EINTR);
    if (length < 0) return dpl_fail_errno(source->run, DPL_SYSTEM, "%s: cannot read", source->name);
    source->read_bytes += length;
    *got = (size_t)length;
    return DPL_OK;
}

int64_t source_total_bytes(const struct source *source) { return source->total_bytes; }

int64_t source_done_bytes(const struct source *source) {
    return source->before_bytes + (source->fd >= 0 ? source->read_bytes : 0);
}
