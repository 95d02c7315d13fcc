/* The hash-chained file. See chain.h for format, order of writes and invariants. */
#include "ledger/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/file.h"
#include "base/json.h"

enum { MAX_FILE = 1 << 28, MAX_TIP = 4 * DPL_CHAIN_LINE, PATH_ROOM = 4096 };

struct tip {
    size_t lines, length;
    char hash[DPL_DIGEST_HEX]; // of the last line, newline included; zeros when there is none
    char *pending;             // the line to come, with its newline; NULL: none. Arena memory
};

struct dpl_chain {
    struct dpl_run *run;
    char path[PATH_ROOM], tip_path[PATH_ROOM + 8];
    int fd;
    bool read_only, broken;
    struct tip tip;
    json_t *lines; // array
    struct dpl_arena arena;
};

static enum dpl_status refuse(struct dpl_chain *chain, const char *what) {
    return dpl_fail(chain->run, DPL_REFUSED,
                    "%s: %s. The ledger no longer says what was spent, so nothing more may be "
                    "spent on it; restore both it and %s from a "
                    "backup that holds every run, or count the data set as used up",
                    chain->path, what, chain->tip_path);
}

/* ---- bytes to and from the disk ---- */

static enum dpl_status write_at(struct dpl_chain *chain, int fd, const char *name,
                                const char *bytes, size_t length, size_t offset) {
    while (length > 0) {
        ssize_t done = pwrite(fd, bytes, length, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot write", name);
        bytes += done;
        length -= (size_t)done;
        offset += (size_t)done;
    }
    return DPL_OK;
}

static enum dpl_status sync_file(struct dpl_chain *chain, int fd, const char *name) {
    if (fsync(fd) != 0)
        return dpl_fail_errno(chain->run, DPL_SYSTEM,
                              "%s: cannot be flushed to the disk, so nothing may be spent", name);
    return DPL_OK;
}

/* A new name is on the disk only once its directory is. */
static enum dpl_status sync_directory(struct dpl_chain *chain) {
    char folder[PATH_ROOM];
    memcpy(folder, chain->path, sizeof folder);
    char *slash = strrchr(folder, '/');
    if (!slash)
        strcpy(folder, ".");
    else
        slash[slash == folder] = '\0';
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot open the directory", folder);
    bool failed =
        fsync(fd) != 0 && errno != EINVAL; // EINVAL: a file system whose directories need none
    if (failed) dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot flush the directory", folder);
    close(fd);
    return failed ? DPL_SYSTEM : DPL_OK;
}

/* The whole of an open file into arena memory, with a zero behind it. */
static enum dpl_status read_all(struct dpl_chain *chain, int fd, const char *name, size_t limit,
                                char **text, size_t *length) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot read", name);
    if (!S_ISREG(info.st_mode))
        return dpl_fail(chain->run, DPL_USAGE, "%s is not a regular file; `fit.ledger` takes one",
                        name);
    if ((size_t)info.st_size > limit)
        return dpl_fail(chain->run, DPL_REFUSED, "%s: larger than any ledger (%zu bytes)", name,
                        limit);
    size_t size = (size_t)info.st_size, got = 0;
    char *bytes = dpl_arena_take(chain->run, &chain->arena, size + 1);
    if (!bytes) return DPL_SYSTEM;
    while (got < size) {
        ssize_t done = pread(fd, bytes + got, size - got, (off_t)got);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot read", name);
        if (done == 0) break;
        got += (size_t)done;
    }
    *text = bytes;
    *length = got;
    return DPL_OK;
}

/* ---- the tip ---- */

static json_t *tip_object(const struct tip *tip) {
    return json_pack("{s:i, s:I, s:I, s:s, s:s?}", "tip", 1, "lines", (json_int_t)tip->lines,
                     "length", (json_int_t)tip->length, "hash", tip->hash, "pending", tip->pending);
}

/* The hash over all other members, in their order: an edit anywhere in the tip shows. */
static enum dpl_status tip_check(struct dpl_chain *chain, const struct tip *tip,
                                 char hex[DPL_DIGEST_HEX]) {
    json_t *object = tip_object(tip);
    char *text = object ? dpl_json_dump(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!text) return dpl_fail(chain->run, DPL_SYSTEM, "out of memory");
    enum dpl_status status = dpl_sha256_hex(chain->run, text, strlen(text), hex);
    free(text);
    return status;
}

static enum dpl_status tip_text(struct dpl_chain *chain, const struct tip *tip, char **text) {
    char check[DPL_DIGEST_HEX];
    DPL_TRY(tip_check(chain, tip, check));
    json_t *object = tip_object(tip);
    bool ok = object && json_object_set_new(object, "check", json_string(check)) == 0;
    *text = ok ? dpl_json_dump(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return *text ? DPL_OK : dpl_fail(chain->run, DPL_SYSTEM, "out of memory");
}

/* Replaces the tip: written aside, flushed, renamed, directory flushed. The name aside is fixed,
 * since the lock makes this the only writer; what a crash leaves there is overwritten. */
static enum dpl_status tip_write(struct dpl_chain *chain, const struct tip *tip) {
    char aside[PATH_ROOM + 16];
    snprintf(aside, sizeof aside, "%s.new", chain->tip_path);
    char *text = NULL;
    enum dpl_status status;
    int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot create", aside);
    DPL_GO(tip_text(chain, tip, &text));
    DPL_GO(write_at(chain, fd, aside, text, strlen(text), 0));
    DPL_GO(sync_file(chain, fd, aside));
    if (rename(aside, chain->tip_path) != 0) {
        status = dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot replace it", chain->tip_path);
        goto done;
    }
    status = sync_directory(chain);
done:
    free(text);
    close(fd);
    return status;
}

static enum dpl_status tip_parse(struct dpl_chain *chain, const char *text, size_t length) {
    json_t *object;
    json_int_t format, lines, bytes;
    const char *hash, *pending, *check;
    json_t *line;
    uint8_t digest[DPL_DIGEST];
    char expected[DPL_DIGEST_HEX], *again = NULL;
    enum dpl_status status = DPL_REFUSED;
    DPL_TRY(dpl_json_parse(chain->run, text, length, JSON_REJECT_DUPLICATES, NULL, &object));
    if (!object ||
        json_unpack_ex(object, NULL, JSON_STRICT, "{s:I, s:I, s:I, s:s, s:o, s:s}", "tip", &format,
                       "lines", &lines, "length", &bytes, "hash", &hash, "pending", &line, "check",
                       &check) != 0 ||
        format != 1 || lines < 0 || bytes < 0 || !dpl_unhex(hash, digest, sizeof digest)) {
        refuse(chain, "its .tip file is damaged");
        goto done;
    }
    chain->tip.lines = (size_t)lines;
    chain->tip.length = (size_t)bytes;
    memcpy(chain->tip.hash, hash, DPL_DIGEST_HEX);
    pending = json_string_value(line);
    if (pending) {
        chain->tip.pending = dpl_arena_copy(chain->run, &chain->arena, pending, strlen(pending));
        if (!chain->tip.pending) {
            status = DPL_SYSTEM;
            goto done;
        }
    }
    DPL_GO(tip_check(chain, &chain->tip, expected));
    DPL_GO(
        tip_text(chain, &chain->tip, &again)); // the bytes themselves, too: no blank may come or go
    if (strcmp(check, expected) != 0 || strlen(again) != length ||
        memcmp(again, text, length) != 0) {
        status = refuse(chain, "its .tip file was edited");
        goto done;
    }
done:
    free(again);
    json_decref(object);
    return status;
}

/* *found is false when there is no tip. */
static enum dpl_status tip_read(struct dpl_chain *chain, bool *found) {
    char *text;
    size_t length;
    int fd = open(chain->tip_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    *found = fd >= 0;
    if (fd < 0 && errno == ENOENT) return DPL_OK;
    if (fd < 0) return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot open", chain->tip_path);
    enum dpl_status status = read_all(chain, fd, chain->tip_path, MAX_TIP, &text, &length);
    close(fd);
    return status == DPL_OK ? tip_parse(chain, text, length) : status;
}

/* ---- lines ---- */

static enum dpl_status check_line(struct dpl_chain *chain, const char *text, size_t length,
                                  const char *previous) {
    json_int_t number;
    const char *prev;
    json_t *object;
    DPL_TRY(dpl_json_parse(chain->run, text, length, JSON_REJECT_DUPLICATES, NULL, &object));
    bool ok = object && json_unpack(object, "{s:I, s:s}", "n", &number, "prev", &prev) == 0 &&
              number == (json_int_t)json_array_size(chain->lines) + 1 &&
              strcmp(prev, previous) == 0;
    if (!ok) {
        json_decref(object);
        return refuse(chain, "a line was edited, removed, added or moved");
    }
    if (json_array_append_new(chain->lines, object) != 0)
        return dpl_fail(chain->run, DPL_SYSTEM, "out of memory");
    return DPL_OK;
}

/* Walks the chain through `text` and compares its end with the tip. */
static enum dpl_status check_lines(struct dpl_chain *chain, const char *text, size_t length) {
    char hash[DPL_DIGEST_HEX];
    memset(hash, '0', sizeof hash - 1);
    hash[sizeof hash - 1] = '\0';
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        if (!end) return refuse(chain, "the last line is cut");
        size_t size = (size_t)(end - text) + 1 - at;
        DPL_TRY(check_line(chain, text + at, size - 1, hash));
        DPL_TRY(dpl_sha256_hex(chain->run, text + at, size, hash));
        at += size;
    }
    if (json_array_size(chain->lines) != chain->tip.lines || strcmp(hash, chain->tip.hash) != 0)
        return refuse(chain, "its last line is not the one that its .tip file names");
    return DPL_OK;
}

static enum dpl_status tip_advance(struct dpl_chain *chain) {
    struct tip next = {.lines = chain->tip.lines + 1,
                       .length = chain->tip.length + strlen(chain->tip.pending)};
    DPL_TRY(dpl_sha256_hex(chain->run, chain->tip.pending, strlen(chain->tip.pending), next.hash));
    if (!chain->read_only) DPL_TRY(tip_write(chain, &next));
    chain->tip = next;
    return DPL_OK;
}

/* PRIVACY: a crash between steps 1 and 3 of an append. The line is completed and so counts as
 * spent, whether or not its noise was ever drawn: the only error is to charge too much. */
static enum dpl_status complete_pending(struct dpl_chain *chain, char **text, size_t *length) {
    const char *pending = chain->tip.pending;
    size_t size = strlen(pending), start = chain->tip.length;
    if (*length < start || *length > start + size ||
        memcmp(*text + start, pending, *length - start) != 0)
        return refuse(chain, "it ends neither before nor within the line that was being written");
    char *whole = dpl_arena_take(chain->run, &chain->arena, start + size + 1);
    if (!whole) return DPL_SYSTEM;
    memcpy(whole, *text, start);
    memcpy(whole + start, pending, size);
    if (!chain->read_only) {
        DPL_TRY(write_at(chain, chain->fd, chain->path, pending, size, start));
        DPL_TRY(sync_file(chain, chain->fd, chain->path));
    }
    *text = whole;
    *length = start + size;
    return tip_advance(chain);
}

static enum dpl_status load(struct dpl_chain *chain) {
    char *text;
    size_t length;
    bool has_tip;
    DPL_TRY(read_all(chain, chain->fd, chain->path, MAX_FILE, &text, &length));
    DPL_TRY(tip_read(chain, &has_tip));
    if (!has_tip && length > 0) return refuse(chain, "its .tip file is missing");
    if (chain->tip.pending) DPL_TRY(complete_pending(chain, &text, &length));
    if (length < chain->tip.length) return refuse(chain, "its tail was cut off");
    if (length > chain->tip.length) return refuse(chain, "something was added to it");
    return check_lines(chain, text, length);
}

/* ---- open, append, close ---- */

static enum dpl_status open_and_lock(struct dpl_chain *chain) {
    int flags = chain->read_only ? O_RDONLY : O_RDWR | O_CREAT;
    if (!chain->read_only) DPL_TRY(dpl_file_guarded(chain->run, chain->path));
    chain->fd = open(chain->path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (chain->fd < 0 && errno == ENOENT && chain->read_only)
        return dpl_fail(chain->run, DPL_BAD_DATA, "%s: there is no such ledger", chain->path);
    if (chain->fd < 0)
        return dpl_fail_errno(chain->run, DPL_SYSTEM, "%s: cannot open the ledger", chain->path);
    if (flock(chain->fd, (chain->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) return DPL_OK;
    if (errno == EWOULDBLOCK)
        return dpl_fail(
            chain->run, DPL_REFUSED,
            "%s: another run is using this ledger; wait for it to end, then start again",
            chain->path);
    return dpl_fail_errno(
        chain->run, DPL_SYSTEM,
        "%s: cannot lock the ledger (on a network disk? use `fit.ledger` FILE on a local one)",
        chain->path);
}

enum dpl_status dpl_chain_open(struct dpl_run *run, const char *path, bool read_only,
                               struct dpl_chain **made) {
    if (strlen(path) >= PATH_ROOM - 16)
        return dpl_fail(run, DPL_USAGE, "the name of the ledger is too long");
    struct dpl_chain *chain = dpl_alloc(run, 1, sizeof *chain);
    if (!chain) return DPL_SYSTEM;
    enum dpl_status status;
    chain->run = run;
    chain->fd = -1;
    chain->read_only = read_only;
    strcpy(chain->path, path);
    snprintf(chain->tip_path, sizeof chain->tip_path, "%s.tip", path);
    memset(chain->tip.hash, '0', DPL_DIGEST_HEX - 1);
    chain->lines = json_array();
    if (!chain->lines) {
        status = dpl_fail(run, DPL_SYSTEM, "out of memory");
        goto done;
    }
    DPL_GO(open_and_lock(chain));
    DPL_GO(load(chain));
    *made = chain;
    chain = NULL;
done:
    dpl_chain_close(chain);
    return status;
}

size_t dpl_chain_lines(const struct dpl_chain *chain) { return json_array_size(chain->lines); }

json_t *dpl_chain_line(const struct dpl_chain *chain, size_t i) {
    return json_array_get(chain->lines, i);
}

/* The object with "n" and "prev" in front, as one line. */
static enum dpl_status line_text(struct dpl_chain *chain, json_t *object, char **line,
                                 json_t **whole) {
    enum dpl_status status = DPL_SYSTEM;
    char *text = NULL;
    *whole =
        json_pack("{s:I, s:s}", "n", (json_int_t)chain->tip.lines + 1, "prev", chain->tip.hash);
    if (*whole && object && json_object_update(*whole, object) == 0)
        text = dpl_json_dump(*whole, JSON_COMPACT | JSON_ENSURE_ASCII);
    size_t length = text ? strlen(text) : 0;
    if (!text) {
        dpl_fail(chain->run, DPL_SYSTEM, "out of memory");
    } else if (length + 1 > DPL_CHAIN_LINE) {
        status = dpl_fail(chain->run, DPL_USAGE, "a ledger line of %zu bytes is too long", length);
    } else if ((*line = dpl_arena_take(chain->run, &chain->arena, length + 2)) != NULL) {
        memcpy(*line, text, length);
        (*line)[length] = '\n';
        status = DPL_OK;
    }
    free(text);
    return status;
}

enum dpl_status dpl_chain_append(struct dpl_chain *chain, json_t *object) {
    enum dpl_status status;
    json_t *whole = NULL;
    char *line = NULL;
    if (chain->broken || chain->read_only) {
        status = dpl_fail(
            chain->run, DPL_REFUSED,
            "%s: an earlier write to the ledger failed, so nothing more may be spent in this run",
            chain->path);
        goto done;
    }
    chain->broken = true; // until all three steps are done
    DPL_GO(line_text(chain, object, &line, &whole));
    chain->tip.pending = line;
    DPL_GO(tip_write(chain, &chain->tip));
    DPL_GO(write_at(chain, chain->fd, chain->path, line, strlen(line), chain->tip.length));
    DPL_GO(sync_file(chain, chain->fd, chain->path));
    DPL_GO(tip_advance(chain));
    if (json_array_append(chain->lines, whole) != 0) {
        status = dpl_fail(chain->run, DPL_SYSTEM, "out of memory");
        goto done;
    }
    chain->broken = false;
done:
    json_decref(whole);
    json_decref(object);
    return status;
}

void dpl_chain_close(struct dpl_chain *chain) {
    if (!chain) return;
    if (chain->fd >= 0) close(chain->fd); // gives the lock back
    json_decref(chain->lines);
    dpl_arena_free(&chain->arena);
    dpl_free(chain);
}
