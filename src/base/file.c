/* Whole files or none. The bytes go to "PATH.part-PID-N" in the same directory; commit flushes them
 * to the disk, renames, and flushes the directory, so that a crash at any point leaves either the
 * old file or the new one. Compression is libarchive's raw writer.
 *
 * PRIVACY: private originals cannot be had again. What stands under the name is replaced only if
 * this program wrote it, and only if it is still the same file when the new one is complete. */
#include "base/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 16 };

struct dpl_file {
    struct dpl_run *run;
    char *path, *part; /* part is NULL for standard output */
    int fd;
    bool overwrite, sealed, shown;
    struct stat old;            /* what stands under the name; st_ino is 0: nothing */
    struct archive *packer;     /* NULL: plain */
    struct dpl_sha256_sum *sum; /* NULL: not asked for */
    size_t used;
    char buffer[BUFFER];
};

/* ---- bytes through a descriptor ---- */

bool dpl_write_whole(int fd, const void *bytes, size_t length) {
    for (const char *next = bytes; length > 0;) {
        ssize_t done = write(fd, next, length);
        if (done < 0 && errno == EINTR) continue;
        if (done == 0) errno = ENOSPC;
        if (done <= 0) return false;
        next += done;
        length -= (size_t)done;
    }
    return true;
}

ssize_t dpl_read_whole(int fd, void *bytes, size_t size) {
    size_t have = 0;
    while (have < size) {
        ssize_t got = read(fd, (char *)bytes + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

bool dpl_system_fault(int number) {
    static const int FAULTS[] = {EIO, EINTR, EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, ESTALE};
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++)
        if (number == FAULTS[i]) return true;
    return false;
}

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && !strcmp(text + a - b, end);
}

static enum dpl_status write_all(struct dpl_file *file, const char *bytes, size_t length) {
    if (file->sum) DPL_TRY(dpl_sha256_add(file->sum, bytes, length));
    if (dpl_write_whole(file->fd, bytes, length)) return DPL_OK;
    return dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot write", file->path);
}

/* The packer's way out; the message is set by write_all. */
static la_ssize_t pack_out(struct archive *packer, void *user, const void *bytes, size_t length) {
    (void)packer;
    return write_all(user, bytes, length) == DPL_OK ? (la_ssize_t)length : -1;
}

static enum dpl_status packer_failed(struct dpl_file *file) {
    const char *reason = archive_error_string(file->packer);
    return dpl_fail(file->run, DPL_SYSTEM, "%s: cannot write: %s", file->path,
                    reason ? reason : "unknown reason");
}

static enum dpl_status open_packer(struct dpl_file *file, const char *path) {
    bool gzip = ends_with(path, ".gz"), zstd = ends_with(path, ".zst");
    if (!gzip && !zstd) return DPL_OK;
    file->packer = archive_write_new();
    struct archive_entry *entry = archive_entry_new();
    bool ok = file->packer && entry && archive_write_set_format_raw(file->packer) == ARCHIVE_OK &&
              (gzip ? archive_write_add_filter_gzip(file->packer)
                    : archive_write_add_filter_zstd(file->packer)) == ARCHIVE_OK;
    // The time stamp of a gzip header would make the same content differ from run to run.
    if (ok && gzip)
        ok = archive_write_set_filter_option(file->packer, "gzip", "timestamp", NULL) == ARCHIVE_OK;
    if (ok) {
        archive_write_set_bytes_in_last_block(file->packer, 1);
        archive_entry_set_filetype(entry, AE_IFREG);
        ok = archive_write_open(file->packer, file, NULL, pack_out, NULL) == ARCHIVE_OK &&
             archive_write_header(file->packer, entry) == ARCHIVE_OK;
    }
    archive_entry_free(entry);
    if (ok) return DPL_OK;
    return file->packer ? packer_failed(file) : dpl_fail(file->run, DPL_SYSTEM, "out of memory");
}

static enum dpl_status open_part(struct dpl_file *file, const struct dpl_file_options *options) {
    static _Atomic unsigned counter;
    size_t size = strlen(file->path) + 48;
    file->part = dpl_alloc(file->run, size, 1);
    if (!file->part) return DPL_SYSTEM;
    // A name that a killed run left behind (process numbers come again in containers) is passed
    // over.
    for (int attempt = 0; attempt < 1000; attempt++) {
        snprintf(file->part, size, "%s.part-%ld-%u", file->path, (long)getpid(), counter++);
        file->fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        options->only_owner ? 0600 : 0666);
        if (file->fd >= 0 || errno != EEXIST) break;
    }
    if (file->fd < 0)
        return dpl_fail_errno(file->run, DPL_SYSTEM,
                              "%s: cannot create (the file is written aside first)", file->part);
    return DPL_OK;
}

/* ---- what stands under the name ---- */

static enum dpl_status refuse_existing(struct dpl_run *run, const char *path) {
    return dpl_fail(run, DPL_USAGE, "%s exists already (use `overwrite` to overwrite it)", path);
}

static enum dpl_status begins_with(struct dpl_run *run, const char *path, const char *mark,
                                   bool *so) {
    char head[DPL_FILE_MARK];
    size_t n;
    *so = false;
    if (!mark) return DPL_OK;
    DPL_TRY(dpl_file_head(run, path, head, sizeof head, &n));
    *so = memmem(head, n, mark, strlen(mark)) != NULL;
    return DPL_OK;
}

static enum dpl_status look(struct dpl_run *run, const char *path,
                            const struct dpl_file_options *options, struct stat *old) {
    // A link that leads nowhere is there, too: lstat.
    if (lstat(path, old) != 0) {
        *old = (struct stat){0};
        return DPL_OK;
    }
    if (!options->overwrite) return refuse_existing(run, path);
    if (S_ISLNK(old->st_mode))
        return dpl_fail(run, DPL_USAGE,
                        "%s is a symbolic link, and links are not replaced: name the file itself, "
                        "or remove the link",
                        path);
    if (!S_ISREG(old->st_mode))
        return dpl_fail(run, DPL_USAGE, "%s is not a regular file; choose another name", path);
    bool ours = old->st_size == 0; // nothing is lost
    if (!ours) DPL_TRY(begins_with(run, path, options->mark, &ours));
    if (!ours && options->ours) DPL_TRY(options->ours(run, path, &ours));
    if (ours) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "%s is not a file that this program wrote there (or it was changed since), so "
                    "`overwrite` does not replace it; move it away, or choose another name",
                    path);
}

enum dpl_status dpl_file_check(struct dpl_run *run, const char *path,
                               const struct dpl_file_options *options) {
    struct stat old;
    return strcmp(path, "-") ? look(run, path, options, &old) : DPL_OK;
}

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool unchanged(const struct dpl_file *file) {
    struct stat now;
    const struct stat *old = &file->old;
    if (lstat(file->path, &now) != 0) now = (struct stat){0};
    return now.st_ino == old->st_ino && now.st_dev == old->st_dev && now.st_size == old->st_size &&
           same_time(now.st_mtim, old->st_mtim);
}

/* PRIVACY: minutes may lie between the check and the replacing. */
static enum dpl_status check_unchanged(const struct dpl_file *file) {
    if (unchanged(file)) return DPL_OK;
    return dpl_fail(file->run, DPL_USAGE,
                    "%s was changed by somebody else while this run was at work, and is not "
                    "replaced; start again",
                    file->path);
}

enum dpl_status dpl_file_create(struct dpl_run *run, const char *path,
                                const struct dpl_file_options *options, struct dpl_file **made) {
    enum dpl_status status = DPL_SYSTEM;
    bool standard = !strcmp(path, "-");
    struct dpl_file *file = dpl_alloc(run, 1, sizeof *file);
    if (!file) return DPL_SYSTEM;
    file->run = run;
    file->fd = -1;
    file->overwrite = options->overwrite;
    const char *shown = standard ? "standard output" : path;
    DPL_GO(dpl_text_copy(run, shown, &file->path));
    if (standard) {
        file->fd = STDOUT_FILENO;
    } else {
        DPL_GO(look(run, path, options, &file->old));
        DPL_GO(open_part(file, options));
    }
    if (options->digest) DPL_GO(dpl_sha256_new(run, &file->sum));
    DPL_GO(open_packer(file, path));
    *made = file;
    file = NULL;
done:
    dpl_file_abort(file);
    return status;
}

static enum dpl_status flush(struct dpl_file *file) {
    size_t length = file->used;
    file->used = 0;
    if (!file->packer) return write_all(file, file->buffer, length);
    if (length && archive_write_data(file->packer, file->buffer, length) < 0)
        return packer_failed(file);
    return DPL_OK;
}

enum dpl_status dpl_file_write(struct dpl_file *file, const void *bytes, size_t length) {
    const char *next = bytes;
    while (length > 0) {
        if (file->used == BUFFER) DPL_TRY(flush(file));
        size_t take = BUFFER - file->used < length ? BUFFER - file->used : length;
        memcpy(file->buffer + file->used, next, take);
        file->used += take;
        next += take;
        length -= take;
    }
    return DPL_OK;
}

int dpl_file_descriptor(const struct dpl_file *file) { return file->fd; }

enum dpl_status dpl_file_adopt(struct dpl_file *file) {
    ssize_t got = 0;
    int fd = file->sum ? open(file->part, O_RDONLY | O_CLOEXEC) : -1;
    if (!file->sum) return DPL_OK;
    enum dpl_status status = DPL_OK;
    while (fd >= 0 && status == DPL_OK && (got = dpl_read_whole(fd, file->buffer, BUFFER)) > 0)
        status = dpl_sha256_add(file->sum, file->buffer, (size_t)got);
    if (fd < 0 || got < 0)
        status = dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot be read back", file->part);
    if (fd >= 0) close(fd);
    return status;
}

enum dpl_status dpl_file_print(struct dpl_file *file, const char *format, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        return dpl_fail(file->run, DPL_SYSTEM, "%s: a line longer than %zu bytes", file->path,
                        sizeof text);
    return dpl_file_write(file, text, (size_t)length);
}

/* ---- on the disk, under its name ---- */

static void folder_of(const char *path, char folder[DPL_PATH_ROOM]) {
    snprintf(folder, DPL_PATH_ROOM, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        folder[1] = '\0';
    else if (slash)
        *slash = '\0';
    else
        strcpy(folder, ".");
}

/* A group of the user's own, as many systems give everybody, is the user. */
static bool others_write(const struct stat *info) {
    bool own_group = info->st_gid == getegid() && getegid() == geteuid();
    return (info->st_mode & S_IWOTH) || ((info->st_mode & S_IWGRP) && !own_group);
}

enum dpl_status dpl_file_guarded(struct dpl_run *run, const char *path) {
    char folder[DPL_PATH_ROOM];
    struct stat info;
    folder_of(path, folder);
    if (stat(folder, &info) == 0 && others_write(&info) && !(info.st_mode & S_ISVTX))
        return dpl_fail(run, DPL_REFUSED,
                        "%s: other users can write to the folder %s, and could replace this file; "
                        "take that right away (chmod go-w) or choose another folder",
                        path, folder);
    if (lstat(path, &info) == 0 && info.st_uid != geteuid() && info.st_uid != 0)
        return dpl_fail(run, DPL_REFUSED, "%s belongs to another user; choose another name", path);
    return DPL_OK;
}

enum dpl_status dpl_sync_directory(struct dpl_run *run, const char *path) {
    char folder[DPL_PATH_ROOM];
    folder_of(path, folder);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return DPL_OK; // a directory that may be written but not read
    // EINVAL: a file system whose directories need no flushing.
    bool failed = fsync(fd) != 0 && errno != EINVAL && errno != ENOTSUP;
    enum dpl_status status =
        failed ? dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be flushed to the disk", folder)
               : DPL_OK;
    close(fd);
    return status;
}

enum dpl_status dpl_file_seal(struct dpl_file *file, char hex[DPL_DIGEST_HEX]) {
    if (file->sealed) return DPL_OK;
    DPL_TRY(flush(file));
    if (file->packer && archive_write_close(file->packer) != ARCHIVE_OK) return packer_failed(file);
    if (file->part && fsync(file->fd) != 0)
        return dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot write", file->path);
    file->sealed = true;
    return hex ? dpl_sha256_end(file->sum, hex) : DPL_OK;
}

bool dpl_file_replaces(const struct dpl_file *file) { return file->old.st_ino != 0; }

enum dpl_status dpl_file_clear(struct dpl_file *file) {
    if (file->old.st_ino == 0) return DPL_OK;
    DPL_TRY(check_unchanged(file));
    if (unlink(file->path) != 0)
        return dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot be replaced", file->path);
    file->old = (struct stat){0};
    return dpl_sync_directory(file->run, file->path);
}

/* Without something to replace, link(2) fails where rename(2) would replace what has appeared. */
enum dpl_status dpl_file_show(struct dpl_file *file) {
    DPL_TRY(check_unchanged(file));
    if (file->old.st_ino == 0 && link(file->part, file->path) == 0) {
        // Under two names: whoever publishes the folder would publish both.
        if (unlink(file->part) != 0) {
            dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot be removed", file->part);
            unlink(file->path);
            return DPL_SYSTEM;
        }
    } else if (file->old.st_ino == 0 && errno == EEXIST) {
        return refuse_existing(file->run, file->path);
    } else if (rename(file->part, file->path) != 0) { // also where there are no hard links
        return dpl_fail_errno(file->run, DPL_SYSTEM, "%s: cannot rename to it", file->path);
    }
    file->shown = true;
    return DPL_OK;
}

void dpl_file_retract(struct dpl_file *file) {
    if (file->shown || (file->old.st_ino && unchanged(file))) unlink(file->path);
}

enum dpl_status dpl_file_commit(struct dpl_file *file) {
    enum dpl_status status = dpl_file_seal(file, NULL);
    if (status == DPL_OK && file->part) {
        status = dpl_file_show(file);
        if (status == DPL_OK) status = dpl_sync_directory(file->run, file->path);
    }
    dpl_file_abort(file);
    return status;
}

void dpl_file_abort(struct dpl_file *file) {
    if (!file) return;
    if (file->packer) archive_write_free(file->packer);
    if (file->part && file->fd >= 0) {
        close(file->fd);
        if (!file->shown) unlink(file->part);
    }
    dpl_sha256_free(file->sum);
    dpl_free(file->part);
    dpl_free(file->path);
    dpl_free(file);
}

/* ---- places ---- */

static enum dpl_status make_directories(struct dpl_run *run, char *path, const char *advice) {
    for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash) *slash = '\0';
        bool made = mkdir(path, 0700) == 0;
        if (!made && errno != EEXIST)
            return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot make this directory (%s)", path,
                                  advice);
        // PRIVACY: a ledger is on the disk only if every folder above it is.
        if (made) DPL_TRY(dpl_sync_directory(run, path));
        if (!slash) return DPL_OK;
        *slash = '/';
    }
}

enum dpl_status dpl_state_directory(struct dpl_run *run, const char *part, const char *advice,
                                    char folder[DPL_PATH_ROOM]) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (state && state[0] == '/')
        length = snprintf(folder, DPL_PATH_ROOM, "%s/dploc/%s", state, part);
    else if (home && home[0] == '/')
        length = snprintf(folder, DPL_PATH_ROOM, "%s/.local/state/dploc/%s", home, part);
    if (length < 0 || length >= DPL_PATH_ROOM - 128)
        return dpl_fail(run, DPL_SYSTEM,
                        "no place for %s: neither XDG_STATE_HOME nor HOME names a directory (%s)",
                        part, advice);
    return make_directories(run, folder, advice);
}

/* ---- reading ---- */

static enum dpl_status add_all(struct dpl_run *run, const char *path, int fd,
                               struct dpl_sha256_sum *sum) {
    char bytes[BUFFER];
    for (;;) {
        ssize_t got = dpl_read_whole(fd, bytes, sizeof bytes);
        if (got < 0) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path);
        if (got == 0) return DPL_OK;
        DPL_TRY(dpl_sha256_add(sum, bytes, (size_t)got));
    }
}

enum dpl_status dpl_file_sha256(struct dpl_run *run, const char *path, char hex[DPL_DIGEST_HEX]) {
    struct dpl_sha256_sum *sum = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum dpl_status status;
    if (fd < 0) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot open", path);
    DPL_GO(dpl_sha256_new(run, &sum));
    DPL_GO(add_all(run, path, fd, sum));
    DPL_GO(dpl_sha256_end(sum, hex));
done:
    dpl_sha256_free(sum);
    close(fd);
    return status;
}

enum dpl_status dpl_file_head(struct dpl_run *run, const char *path, void *bytes, size_t size,
                              size_t *n) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : dpl_read_whole(fd, bytes, size);
    *n = got > 0 ? (size_t)got : 0;
    enum dpl_status status = DPL_OK;
    if (got < 0 && dpl_system_fault(errno))
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path);
    if (fd >= 0) close(fd);
    return status;
}

enum dpl_status dpl_file_temporary(struct dpl_run *run, int *fd) {
    const char *chosen = getenv("TMPDIR");
    char folder[DPL_PATH_ROOM], path[DPL_PATH_ROOM + 16];
    if (!chosen || !*chosen) DPL_TRY(dpl_state_directory(run, "tmp", "set TMPDIR", folder));
    snprintf(path, sizeof path, "%s/dploc-XXXXXX", chosen && *chosen ? chosen : folder);
    *fd = mkostemp(path, O_CLOEXEC);
    if (*fd < 0)
        return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot create a temporary file (set TMPDIR)",
                              path);
    unlink(path);
    return DPL_OK;
}
