/* Ledgers: any bytes as the file, and once more with the chain and the tip made right, so that what
 * stands behind the hashes is reached too. Shown only: no ledger is ever repaired by a reader.
 * Then a ledger of one release, in which the bytes change a few others: it is refused, or all that
 * was spent is still there, and it can be charged again. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

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
    snprintf(folder, sizeof folder, "%s/dploc-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
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

/* Each line's `prev` as the digest of the line before; a tip that agrees. */
static void repair(struct dpl_run *run, char *text, size_t length) {
    char prev[DPL_DIGEST_HEX], tip[1024], check[DPL_DIGEST_HEX];
    size_t lines = 0, end = 0;
    memset(prev, '0', sizeof prev - 1), prev[sizeof prev - 1] = '\0';
    for (char *at = text, *next; (next = memchr(at, '\n', length - (size_t)(at - text)));
         at = next + 1, lines++) {
        size_t size = (size_t)(next + 1 - at);
        put_hex(at, size, "\"prev\":\"", prev);
        hash_text(run, at, size, prev);
        end = (size_t)(next + 1 - text);
    }
    int size = snprintf(tip, sizeof tip,
                        "{\"tip\":1,\"lines\":%zu,\"length\":%zu,\"hash\":\"%s\",\"pending\":null}",
                        lines, end, prev);
    hash_text(run, tip, (size_t)size, check);
    size--; // the bracket
    size += snprintf(tip + size, sizeof tip - (size_t)size, ",\"check\":\"%s\"}", check);
    put("a.ledger", text, end);
    put("a.ledger.tip", tip, (size_t)size);
}

static void show(struct dpl_run *run) {
    char path[2 * PATH_ROOM], *text;
    path_of("a.ledger", path);
    for (int json = 0; json < 2; json++) {
        enum dpl_status status = dpl_ledger_summary(run, path, json, &text);
        if (status == DPL_OK)
            dpl_text_free(text);
        else if (!dpl_run_message(run)[0])
            abort();
    }
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

static size_t get(const char *name, uint8_t *bytes, size_t room) {
    char path[2 * PATH_ROOM];
    path_of(name, path);
    int fd = open(path, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, room);
    if (got < 0 || close(fd) != 0) abort();
    return (size_t)got;
}

/* Four bytes an edit: what is done to which file, where (two), and the new byte. */
static void change(const char *name, const uint8_t *edit, size_t n, unsigned file) {
    static uint8_t content[LINE_ROOM];
    size_t length = get(name, content, sizeof content);
    for (size_t i = 0; i + 3 < n && i < 64; i += 4) {
        if ((edit[i] & 1) != file || length == 0) continue;
        size_t at = ((size_t)edit[i + 1] << 8 | edit[i + 2]) % length;
        if (edit[i] & 2)
            length = at;
        else
            content[at] = edit[i + 3];
    }
    put(name, content, length);
}

static void damage(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    struct dpl_ledger *ledger = NULL;
    char path[2 * PATH_ROOM];
    path_of("a.ledger", path), unlink(path);
    path_of("a.ledger.tip", path), unlink(path);
    if (open_ledger(run, &ledger) != DPL_OK) abort();
    spend(run, ledger);
    change("a.ledger", bytes, length, 0);
    change("a.ledger.tip", bytes, length, 1);
    if (open_ledger(run, &ledger) != DPL_OK) {
        if (!dpl_run_message(run)[0]) abort();
        return;
    }
    if (!(dpl_ledger_totals(ledger).epsilon >= 1)) abort();
    spend(run, ledger);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = dpl_run_new(NULL);
    char *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, bytes, length);
    make_folder();
    put("a.ledger", bytes, length);
    put("a.ledger.tip", bytes, length < LINE_ROOM ? length : LINE_ROOM);
    show(run);
    repair(run, copy, length);
    show(run);
    free(copy);
    damage(run, bytes, length);
    dpl_run_free(run);
    return 0;
}
