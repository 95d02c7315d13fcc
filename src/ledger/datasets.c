/* See datasets.h. */
#include "ledger/datasets.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "account/event.h"
#include "base/json.h"

enum { HASH_HEX = 16, PATH_ROOM = 4096 + 256 };

/* ---- one data set ---- */

static void put_word(uint8_t *bytes, uint64_t word) {
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(word >> (56 - 8 * i));
}

static uint64_t get_word(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | bytes[i];
    return word;
}

enum dpl_status dpl_identity_hex(struct dpl_run *run, const struct dpl_identity *identity,
                                 char hex[DPL_DIGEST_HEX]) {
    enum { WORDS = 5 };
    uint8_t bytes[8 * WORDS];
    put_word(bytes, identity->rows);
    for (int i = 0; i < WORDS - 1; i++) put_word(bytes + 8 + 8 * i, identity->sum[i]);
    return dpl_sha256_hex(run, bytes, sizeof bytes, hex);
}

/* Up to where a sketch holds every value of its data set. */
static uint64_t complete_to(const struct dpl_identity *identity) {
    return identity->n_sketch < DPL_SKETCH ? UINT64_MAX : identity->sketch[DPL_SKETCH - 1];
}

double dpl_identity_overlap(const struct dpl_identity *a, const struct dpl_identity *b) {
    uint64_t end = complete_to(a) < complete_to(b) ? complete_to(a) : complete_to(b);
    size_t i = 0, j = 0, shared = 0;
    while (i < a->n_sketch && j < b->n_sketch && a->sketch[i] <= end && b->sketch[j] <= end) {
        uint64_t x = a->sketch[i], y = b->sketch[j];
        shared += x == y;
        i += x <= y, j += y <= x;
    }
    while (i < a->n_sketch && a->sketch[i] <= end) i++;
    while (j < b->n_sketch && b->sketch[j] <= end) j++;
    size_t smaller = i < j ? i : j;
    return smaller ? (double)shared / (double)smaller : 0;
}

json_t *dpl_data_to_json(const char *fingerprint, const struct dpl_identity *identity,
                         bool new_data) {
    char hex[DPL_SKETCH * HASH_HEX + 1] = "";
    for (size_t i = 0; i < identity->n_sketch; i++) {
        uint8_t bytes[8];
        put_word(bytes, identity->sketch[i]);
        dpl_hex(bytes, sizeof bytes, hex + i * HASH_HEX);
    }
    return json_pack("{s:s, s:s, s:I, s:b, s:s}", "type", "data", "fingerprint", fingerprint,
                     "rows", (json_int_t)identity->rows, "new_data", new_data, "sketch", hex);
}

enum dpl_status dpl_data_from_json(struct dpl_run *run, const char *where, json_t *line,
                                   struct dpl_identity *identity) {
    const char *hex;
    int64_t rows;
    uint8_t bytes[8];
    char digits[HASH_HEX + 1] = "";
    *identity = (struct dpl_identity){0};
    DPL_TRY(dpl_whole_from_json(run, where, line, "rows", &rows));
    DPL_TRY(dpl_text_from_json(run, where, line, "sketch", &hex));
    size_t n = strlen(hex) / HASH_HEX;
    bool good = rows >= 0 && strlen(hex) % HASH_HEX == 0 && n <= DPL_SKETCH;
    identity->rows = (uint64_t)rows;
    for (size_t i = 0; good && i < n; i++) {
        memcpy(digits, hex + i * HASH_HEX, HASH_HEX);
        good = dpl_unhex(digits, bytes, sizeof bytes);
        identity->sketch[i] = get_word(bytes);
        good = good && (i == 0 || identity->sketch[i - 1] < identity->sketch[i]);
    }
    identity->n_sketch = n;
    return good ? DPL_OK
                : dpl_fail(run, DPL_BAD_DATA, "%s: its sketch of the data is damaged", where);
}

/* ---- all known ones ---- */

/* What the search has come to. */
struct search {
    struct dpl_run *run;
    const struct dpl_identity *identity;
    char fingerprint[DPL_DIGEST_HEX];
    bool recognised;             /* it is in the ledger that will be used */
    double overlap;              /* the largest with any other */
    char path[PATH_ROOM];        /* that one's ledger */
    char name[DPL_DATASET_NAME]; /* and its name, "" if it has none */
    char unclear[PATH_ROOM];     /* a ledger that does not say what data it is of */
};

static void compare(struct search *search, const char *path, bool own, const char *name,
                    json_t *line) {
    static const double ENOUGH = 0.5;
    struct dpl_identity known;
    const char *fingerprint = json_string_value(json_object_get(line, "fingerprint"));
    if (!fingerprint || dpl_data_from_json(search->run, path, line, &known) != DPL_OK) {
        dpl_run_begin(search->run); // the question says it
        snprintf(search->unclear, sizeof search->unclear, "%s", path);
        return;
    }
    bool same = !strcmp(fingerprint, search->fingerprint);
    if (own && same) search->recognised = true;
    double overlap = same ? 1 : dpl_identity_overlap(search->identity, &known);
    if (own || !(overlap > ENOUGH) || overlap <= search->overlap) return;
    search->overlap = overlap;
    snprintf(search->path, sizeof search->path, "%s", path);
    snprintf(search->name, sizeof search->name, "%s", name);
}

/* Reads a ledger without locking it, since another run may be at work on it: what was written stays
 * as it is, and a last line that is still being written is none yet. */
static enum dpl_status look_into(struct search *search, const char *path, bool own) {
    FILE *file = fopen(path, "re");
    char *text = NULL, name[DPL_DATASET_NAME] = "";
    size_t room = 0;
    if (!file) return dpl_fail_errno(search->run, DPL_SYSTEM, "%s: cannot read", path);
    enum dpl_status status = DPL_OK;
    for (ssize_t length; status == DPL_OK && (length = getline(&text, &room, file)) > 0 &&
                         text[length - 1] == '\n';) {
        json_t *line = NULL;
        status = dpl_json_parse(search->run, text, (size_t)length, 0, NULL, &line);
        const char *type = json_string_value(json_object_get(line, "type"));
        const char *named = json_string_value(json_object_get(line, "name"));
        bool header = type && !strcmp(type, "ledger");
        if (header && named) snprintf(name, sizeof name, "%s", named);
        bool old = header && json_integer_value(json_object_get(line, "format")) == 1;
        if (!type || old) snprintf(search->unclear, sizeof search->unclear, "%s", path);
        if (type && !strcmp(type, "data")) compare(search, path, own, name, line);
        json_decref(line);
    }
    // PRIVACY: what could not be read may be this very data.
    if (status == DPL_OK && !feof(file) && (ferror(file) || !text))
        status = dpl_fail_errno(search->run, DPL_SYSTEM, "%s: cannot read", path);
    free(text);
    fclose(file);
    return status;
}

static enum dpl_status look_around(struct search *search, const char *folder, const char *own) {
    static const char ENDING[] = ".ledger";
    char path[PATH_ROOM];
    enum dpl_status status = DPL_OK;
    DIR *directory = opendir(folder);
    if (!directory) return dpl_fail_errno(search->run, DPL_SYSTEM, "%s: cannot read", folder);
    errno = 0;
    for (struct dirent *entry; status == DPL_OK && (entry = readdir(directory)); errno = 0) {
        size_t length = strlen(entry->d_name);
        if (length < sizeof ENDING || strcmp(entry->d_name + length - sizeof ENDING + 1, ENDING))
            continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= PATH_ROOM)
            status = dpl_fail(search->run, DPL_SYSTEM, "%.60s...: the name is too long", folder);
        else
            status = look_into(search, path, !strcmp(path, own));
    }
    if (status == DPL_OK && errno)
        status = dpl_fail_errno(search->run, DPL_SYSTEM, "%s: cannot read", folder);
    closedir(directory);
    return status;
}

/* PRIVACY: a person in both data sets pays for the releases of both, and no sum would say so. */
static void ask(const struct search *search, char question[DPL_QUESTION]) {
    question[0] = '\0';
    if (search->recognised) return;
    if (search->overlap > 0)
        snprintf(question, DPL_QUESTION,
                 "about %.0f %% of the smaller of this data and of a data set that has a ledger "
                 "already are the same rows; what was spent on the one would not be added to the "
                 "other. The ledger is %.300s%s%.100s%s",
                 100 * search->overlap, search->path,
                 search->name[0] ? ", to be used with `fit.dataset` '" : "", search->name,
                 search->name[0] ? "'" : "");
    else if (search->unclear[0])
        snprintf(
            question, DPL_QUESTION,
            "it cannot be told whether this data has a ledger already: %.300s is of an earlier "
            "version, which knew data by its bytes, or is damaged ('dploc inspect' shows what "
            "was spent; moved to another folder, it is not asked about again)",
            search->unclear);
}

enum dpl_status dpl_datasets_search(struct dpl_run *run, const char *folder, const char *own,
                                    const struct dpl_identity *identity,
                                    char question[DPL_QUESTION]) {
    struct search search = {.run = run, .identity = identity};
    DPL_TRY(dpl_identity_hex(run, identity, search.fingerprint));
    DPL_TRY(look_around(&search, folder, own));
    ask(&search, question);
    return DPL_OK;
}
