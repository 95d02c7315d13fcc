/* Ledgers: any bytes as the file; or with the chain and the tip made right, so that what stands
 * behind the hashes is reached too. Shown only: no ledger is ever repaired by a reader.
 * Or a ledger of one release, in which the bytes change a few others: it is refused, or all that
 * was spent is still there, and it can be charged again. Or its last line was being written when
 * all ended: then nothing is refused. Or something else stands in its place. Which of these, is in
 * a byte a third of the way. */
#include "fuzz.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "ledger/ledger.h"

enum { LINE_ROOM = 1 << 16, PATH_ROOM = 128 };

static char folder[PATH_ROOM];

static void path_of(const char *name, char path[2 * PATH_ROOM]) {
    snprintf(path, 2 * PATH_ROOM, "%s/%s", folder, name);
}

static void remove_folder(void) {
    char path[2 * PATH_ROOM];
    path_of("a.ledger", path), unlink(path);
    path_of("a.ledger.tip", path), unlink(path);
    path_of("dploc/key", path), unlink(path);
    path_of("dploc", path), rmdir(path);
    rmdir(folder);
}

static void make_folder(void) {
    if (folder[0]) return;
    snprintf(folder, sizeof folder, "%s/dploc-fuzz-XXXXXX", fuzz_folder());
    if (!mkdtemp(folder)) abort();
    atexit(remove_folder);
    setenv("XDG_STATE_HOME", folder, 1);
}

static void put(const char *name, const void *bytes, size_t length) {
    char path[2 * PATH_ROOM];
    path_of(name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || close(fd) != 0) abort();
}

static void hash_text(struct dpl_run *run, const void *bytes, size_t length,
                      char hex[DPL_DIGEST_HEX]) {
    uint8_t digest[DPL_DIGEST];
    if (dpl_sha256(run, bytes, length, digest) != DPL_OK) abort();
    dpl_hex(digest, sizeof digest, hex);
}

/* Overwrites the 64 digits behind `mark`, if they are there. */
static void put_hex(char *line, size_t length, const char *mark, const char *hex) {
    char *at = memmem(line, length, mark, strlen(mark));
    if (!at || (size_t)(line + length - at) < strlen(mark) + 2 * DPL_DIGEST) return;
    memcpy(at + strlen(mark), hex, 2 * DPL_DIGEST);
}

struct tip {
    size_t lines, length;
    char hash[DPL_DIGEST_HEX];
};

/* The tip of a chain behind which a line may just be written: as much of it as `size` says. */
static void put_tip(struct dpl_run *run, const struct tip *tip, const char *line, size_t size) {
    char check[DPL_DIGEST_HEX];
    json_t *pending = line ? json_stringn(line, size) : json_null(); // NULL: no UTF-8
    json_t *object = json_pack("{s:i, s:I, s:I, s:s, s:o}", "tip", 1, "lines",
                               (json_int_t)tip->lines, "length", (json_int_t)tip->length, "hash",
                               tip->hash, "pending", pending ? pending : json_null());
    char *text = json_dumps(object, JSON_COMPACT);
    if (!text) abort();
    hash_text(run, text, strlen(text), check);
    free(text);
    json_object_set_new(object, "check", json_string(check));
    text = json_dumps(object, JSON_COMPACT);
    if (!text) abort();
    put("a.ledger.tip", text, strlen(text));
    free(text);
    json_decref(object);
}

/* Each line's `prev` as the digest of the line before; a tip that agrees. `pending`: the last line
 * is still being written, and has come to `written`. */
static void repair(struct dpl_run *run, char *text, size_t length, bool pending, size_t written) {
    struct tip tip = {0}, before = {0};
    const char *last = text;
    memset(tip.hash, '0', sizeof tip.hash - 1);
    for (char *at = text, *next; (next = memchr(at, '\n', length - (size_t)(at - text)));
         at = next + 1) {
        size_t size = (size_t)(next + 1 - at);
        before = tip;
        put_hex(at, size, "\"prev\":\"", tip.hash);
        hash_text(run, at, size, tip.hash);
        tip.lines++, tip.length += size;
        last = at;
    }
    const size_t line = tip.length - before.length;
    if (pending && tip.lines) {
        put_tip(run, &before, last, line);
        put("a.ledger", text, before.length + written % (line + 1));
        return;
    }
    put_tip(run, &tip, NULL, 0);
    put("a.ledger", text, tip.length);
}

static void show(struct dpl_run *run, bool json) {
    char path[2 * PATH_ROOM], *text;
    path_of("a.ledger", path);
    enum dpl_status status = dpl_ledger_summary(run, path, json, &text);
    if (status == DPL_OK)
        dpl_text_free(text);
    else if (!dpl_run_message(run)[0])
        abort();
}

/* ---- a ledger that was changed ---- */

static const struct dpl_event EVENT = {"topk", DPL_EVENT_GAUSSIAN, 4, 12.5, 1, 1};

static enum dpl_status open_ledger(struct dpl_run *run, struct dpl_ledger **ledger) {
    static const struct dpl_identity DATA = {.rows = 3, .sum = {1, 2, 3}};
    const struct dpl_ledger_options options = dpl_ledger_defaults();
    char path[2 * PATH_ROOM];
    path_of("a.ledger", path);
    dpl_run_begin(run);
    return dpl_ledger_open(run, path, &DATA, &options, ledger);
}

static void spend(struct dpl_run *run, struct dpl_ledger *ledger) {
    if (dpl_ledger_charge(ledger, "plan", 1, 1e-8, &EVENT, 1) != DPL_OK ||
        dpl_ledger_reserve(ledger, "plan", &EVENT) != DPL_OK)
        abort();
    dpl_ledger_close(ledger);
    dpl_run_begin(run);
}

struct content {
    uint8_t bytes[LINE_ROOM];
    size_t length;
};

static void get(const char *name, struct content *into) {
    char path[2 * PATH_ROOM];
    path_of(name, path);
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, into->bytes, sizeof into->bytes);
    if (got < 0 || close(fd) != 0) abort();
    into->length = (size_t)got;
}

/* Four bytes an edit: what is done to which file, where (two), and the new byte. */
static void change(const char *name, const struct content *as_it_was, const uint8_t *edit, size_t n,
                   unsigned file) {
    static struct content now;
    now.length = as_it_was->length;
    memcpy(now.bytes, as_it_was->bytes, now.length);
    for (size_t i = 0; i + 3 < n && i < 64; i += 4) {
        if ((edit[i] & 1) != file || now.length == 0) continue;
        size_t at = ((size_t)edit[i + 1] << 8 | edit[i + 2]) % now.length;
        if (edit[i] & 2)
            now.length = at;
        else
            now.bytes[at] = edit[i + 3];
    }
    put(name, now.bytes, now.length);
}

/* A ledger with one release and its tip: made once. */
static void make_ledger(struct dpl_run *run, struct content *ledger, struct content *tip) {
    struct dpl_ledger *opened = NULL;
    char path[2 * PATH_ROOM];
    if (ledger->length) return;
    path_of("a.ledger", path), unlink(path);
    path_of("a.ledger.tip", path), unlink(path);
    if (open_ledger(run, &opened) != DPL_OK) abort();
    spend(run, opened);
    get("a.ledger", ledger);
    get("a.ledger.tip", tip);
}

/* Refused, with a reason; or all that was spent is there. */
static enum dpl_status charge_again(struct dpl_run *run) {
    struct dpl_ledger *ledger = NULL;
    enum dpl_status status = open_ledger(run, &ledger);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    if (status != DPL_OK) return status;
    if (!(dpl_ledger_totals(ledger).epsilon >= 1)) abort();
    spend(run, ledger);
    return DPL_OK;
}

/* PRIVACY: a crash while a line is written loses nothing, and nobody has to repair anything. */
static void crash(struct dpl_run *run, const struct content *whole, size_t written) {
    static struct content now;
    now = *whole;
    repair(run, (char *)now.bytes, now.length, true, written);
    if (charge_again(run) != DPL_OK) abort();
}

/* A folder where a file should be, in use, not there: nothing of it is a ledger. */
static void stand_in_the_way(struct dpl_run *run, const struct content *whole,
                             const struct content *tip, int what) {
    char path[2 * PATH_ROOM];
    int held = -1;
    path_of("a.ledger.tip", path), unlink(path);
    if (what == 0 && mkdir(path, 0700) != 0) abort();
    if (what != 0) put("a.ledger.tip", tip->bytes, tip->length);
    path_of("a.ledger", path), unlink(path);
    if (what == 1 && mkdir(path, 0700) != 0) abort();
    if (what != 1 && what != 2) put("a.ledger", whole->bytes, whole->length);
    if (what == 3) held = open(path, O_RDONLY);
    if (what == 3 && flock(held, LOCK_EX) != 0) abort();
    show(run, false);
    dpl_run_begin(run);
    if (charge_again(run) == DPL_OK) abort();
    if (held >= 0) close(held);
    if (what == 1) rmdir(path);
    path_of("a.ledger.tip", path);
    if (what == 0) rmdir(path);
}

/* PRIVACY: after a line that could not be written, nothing more is spent. */
static void cannot_write(struct dpl_run *run, const struct content *whole,
                         const struct content *tip) {
    struct dpl_ledger *ledger = NULL;
    char path[2 * PATH_ROOM];
    put("a.ledger", whole->bytes, whole->length);
    put("a.ledger.tip", tip->bytes, tip->length);
    path_of("a.ledger.tip.new", path); // where the next tip is written first
    if (open_ledger(run, &ledger) != DPL_OK || mkdir(path, 0700) != 0) abort();
    for (int i = 0; i < 2; i++) {
        if (dpl_ledger_charge(ledger, "plan", 1, 1e-8, &EVENT, 1) == DPL_OK) abort();
        if (!dpl_run_message(run)[0]) abort();
        rmdir(path); // the disk is good again
        dpl_run_begin(run);
    }
    dpl_ledger_close(ledger);
}

static void damage(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    enum { CRASH, CANNOT_WRITE, IN_THE_WAY, KINDS = 4 };
    static struct content whole, tip;
    const int way = length ? bytes[length / 3] / 4 % 32 : CRASH;
    make_ledger(run, &whole, &tip);
    if (way == CRASH) {
        crash(run, &whole, length);
    } else if (way == CANNOT_WRITE) {
        cannot_write(run, &whole, &tip);
    } else if (way >= IN_THE_WAY && way < IN_THE_WAY + KINDS) {
        stand_in_the_way(run, &whole, &tip, way - IN_THE_WAY);
    } else {
        change("a.ledger", &whole, bytes, length, 0);
        change("a.ledger.tip", &tip, bytes, length, 1);
        charge_again(run);
    }
}

static void show_repaired(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    char *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, bytes, length);
    repair(run, copy, length, length & 1, length / 2);
    show(run, length & 2);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = fuzz_run();
    const int way = length ? bytes[length / 3] % 4 : 0;
    make_folder();
    if (way == 0) {
        damage(run, bytes, length);
    } else if (way == 1) {
        put("a.ledger", bytes, length);
        put("a.ledger.tip", bytes, length < LINE_ROOM ? length : LINE_ROOM);
        show(run, length & 2);
    } else {
        show_repaired(run, bytes, length);
    }
    dpl_run_free(run);
    return 0;
}
