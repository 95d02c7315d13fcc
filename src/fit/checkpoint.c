/* Checkpoint files. See checkpoint.h.
 *
 *     16 bytes  "dploc checkpoint"
 *     8 bytes   length of the header, little-endian
 *     header    JSON: release, options, build, kernel, fingerprint, key, the states' sizes and
 * steps floats    parameters, two moments and average of every net begun 32 bytes  SHA-256 of all
 * before
 *
 * The fingerprint is an HMAC under a key derived from the noise key, so that the file tells nothing
 * about the trips to anyone without the noise key. Cost: a file of four times the parameters, a few
 * MB, every few seconds; a pass over the trips at the beginning. */
#include "fit/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleaned.h"
#include "base/file.h"
#include "method/paper/net/product.h"
#include "base/digest.h"
#include "base/json.h"

enum {
    VERSION = 2,
    MAGIC_BYTES = 16,
    PREFIX = MAGIC_BYTES + 8,
    HEADER_MAX = 1 << 20,
    KERNEL_NAME = 128
};
static const char MAGIC[MAGIC_BYTES + 1] = "dploc checkpoint";
static const int64_t STATE_MOST = (int64_t)1 << 32;
static const char OF_ROUNDS[] = "rounds"; // in place of the fingerprint of trips

struct dpl_checkpoint {
    char *path; /* NULL: memory only */
    char *options;
    char release[DPL_RELEASE_NAME];
    char build[DPL_DIGEST_HEX], kernel[KERNEL_NAME], fingerprint[DPL_DIGEST_HEX];
    uint8_t key[DPL_SECRET_SIZE];
    bool insecure;
    struct {
        char plan[DPL_DIGEST_HEX], sums[DPL_DIGEST_HEX]; /* "": not known yet */
    } round[DPL_CHECKPOINT_ROUNDS];
    char data[DPL_DIGEST_HEX];
    struct dpl_sgd_state *state[DPL_CHECKPOINT_NETS]; /* NULL: not begun */
};

/* ---- what it is bound to ---- */

/* The executable segment that holds the address `inside`. */
struct segment {
    uintptr_t inside;
    const void *begin;
    size_t length;
};

static int find_segment(struct dl_phdr_info *object, size_t size, void *wanted) {
    struct segment *segment = wanted;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || segment->inside < begin ||
            segment->inside - begin >= part->p_memsz)
            continue;
        segment->begin = (const void *)begin;
        segment->length = part->p_filesz;
        return 1;
    }
    return 0;
}

enum dpl_status dpl_build_id(struct dpl_run *run, char *hex) {
    struct segment segment = {.inside = (uintptr_t)&dpl_build_id};
    if (!dl_iterate_phdr(find_segment, &segment))
        return dpl_fail(run, DPL_SYSTEM, "the program cannot find its own code (for checkpoints)");
    return dpl_sha256_hex(run, segment.begin, segment.length, hex);
}

static enum dpl_status add_column(struct dpl_fingerprint *print, const void *values, size_t n,
                                  size_t size) {
    uint64_t length = n;
    DPL_TRY(dpl_fingerprint_add(print, &length,
                                sizeof length)); // so that no two columns can flow into each other
    return dpl_fingerprint_add(print, values, n * size);
}

/* An HMAC to be fed, under a key that follows from the noise key. */
static enum dpl_status open_print(struct dpl_run *run, const uint8_t key[DPL_SECRET_SIZE],
                                  struct dpl_fingerprint **print) {
    static const char PURPOSE[] = "dploc checkpoint fingerprint";
    uint8_t material[DPL_SECRET_SIZE + sizeof PURPOSE], derived[DPL_DIGEST];
    memcpy(material, key, DPL_SECRET_SIZE);
    memcpy(material + DPL_SECRET_SIZE, PURPOSE, sizeof PURPOSE);
    enum dpl_status status = dpl_sha256(run, material, sizeof material, derived);
    if (status == DPL_OK) status = dpl_fingerprint_new(run, derived, print);
    dpl_wipe(material, sizeof material);
    dpl_wipe(derived, sizeof derived);
    return status;
}

/* A sum over trips of a keyed hash of each: the same whether they are in memory or in a file, and
 * whatever the order, unless that counts. */
struct trip_sum {
    bool ordered;
    uint64_t seed[2];
    uint64_t trips, visits, sum[4]; /* four sums modulo 2^64 */
};

static enum dpl_status sum_trips(struct dpl_run *run, void *context,
                                 const struct dpl_cleaned *trips) {
    struct trip_sum *sum = context;
    (void)run;
    for (size_t i = 0; i < trips->n_trips; i++)
        for (int which = 0; which < 2; which++) {
            const struct dpl_key content = dpl_cleaned_hash(trips, i, sum->seed[which]);
            const uint64_t place = sum->ordered ? sum->trips + i : 0,
                           facts[] = {content.hi, content.lo, (uint64_t)trips->user[i], place};
            const struct dpl_key key = dpl_hash(facts, sizeof facts, sum->seed[which]);
            sum->sum[2 * which] += key.hi, sum->sum[2 * which + 1] += key.lo;
        }
    sum->trips += trips->n_trips, sum->visits += trips->n_visits;
    return DPL_OK;
}

static enum dpl_status fingerprint_trips(struct dpl_run *run, const uint8_t key[DPL_SECRET_SIZE],
                                         const struct dpl_cleaned *trips, bool ordered,
                                         char hex[DPL_DIGEST_HEX]) {
    uint8_t digest[DPL_DIGEST];
    struct trip_sum sum = {.ordered = ordered};
    struct dpl_fingerprint *print = NULL;
    enum dpl_status status;
    DPL_GO(open_print(run, key, &print));
    DPL_GO(dpl_fingerprint_end(print, digest)); // of nothing: what follows from the key alone
    memcpy(sum.seed, digest, sizeof sum.seed);
    DPL_GO(dpl_cleaned_each(run, trips, sum_trips, &sum));
    dpl_fingerprint_free(print);
    print = NULL;
    DPL_GO(open_print(run, key, &print));
    DPL_GO(add_column(print, &sum.trips, 1, sizeof sum - offsetof(struct trip_sum, trips)));
    DPL_GO(dpl_fingerprint_end(print, digest));
    dpl_hex(digest, sizeof digest, hex);
done:
    dpl_fingerprint_free(print);
    dpl_wipe(&sum, sizeof sum);
    return status;
}

/* ---- in memory ---- */

/* Everything but the states. */
static enum dpl_status make(struct dpl_run *run, const char *path, const char *options,
                            const uint8_t key[DPL_SECRET_SIZE], bool insecure,
                            const struct dpl_cleaned *trips, bool ordered,
                            struct dpl_checkpoint **made) {
    enum dpl_status status = DPL_SYSTEM;
    struct dpl_checkpoint *checkpoint = dpl_secret_alloc(run, sizeof *checkpoint);
    if (!checkpoint) return DPL_SYSTEM;
    memcpy(checkpoint->key, key, DPL_SECRET_SIZE);
    checkpoint->insecure = insecure;
    DPL_GO(dpl_text_copy(run, path, &checkpoint->path));
    DPL_GO(dpl_text_copy(run, options, &checkpoint->options));
    dpl_product_name(checkpoint->kernel, sizeof checkpoint->kernel);
    DPL_GO(dpl_build_id(run, checkpoint->build));
    if (trips)
        DPL_GO(fingerprint_trips(run, key, trips, ordered, checkpoint->fingerprint));
    else
        strcpy(checkpoint->fingerprint, OF_ROUNDS);
    *made = checkpoint;
    checkpoint = NULL;
done:
    dpl_checkpoint_free(checkpoint);
    return status;
}

enum dpl_status dpl_checkpoint_new(struct dpl_run *run, const char *path, const char *options,
                                   const struct dpl_secret *secret, const struct dpl_cleaned *trips,
                                   bool ordered, struct dpl_checkpoint **made) {
    return make(run, path, options, secret->key, secret->insecure, trips, ordered, made);
}

void dpl_checkpoint_free(struct dpl_checkpoint *checkpoint) {
    if (!checkpoint) return;
    for (size_t i = 0; i < DPL_CHECKPOINT_NETS; i++) dpl_sgd_state_free(checkpoint->state[i]);
    dpl_free(checkpoint->options);
    dpl_free(checkpoint->path);
    dpl_secret_free(checkpoint, sizeof *checkpoint);
}

const char *dpl_checkpoint_release(const struct dpl_checkpoint *checkpoint) {
    return checkpoint->release;
}

const char *dpl_checkpoint_options(const struct dpl_checkpoint *checkpoint) {
    return checkpoint->options;
}

void dpl_checkpoint_set_release(struct dpl_checkpoint *checkpoint, const char *release) {
    snprintf(checkpoint->release, sizeof checkpoint->release, "%s", release);
}

enum dpl_status dpl_checkpoint_state(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                     size_t slot, size_t n_parameters, struct dpl_sgd_state **state,
                                     bool *fresh) {
    if (slot >= DPL_CHECKPOINT_NETS)
        return dpl_fail(run, DPL_USAGE, "a checkpoint holds at most %d nets", DPL_CHECKPOINT_NETS);
    *fresh = checkpoint->state[slot] == NULL;
    if (*fresh) DPL_TRY(dpl_sgd_state_new(run, n_parameters, &checkpoint->state[slot]));
    if (checkpoint->state[slot]->n_parameters != n_parameters)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: it belongs to a net of another size; start over with `fit.restart`",
                        checkpoint->path);
    *state = checkpoint->state[slot];
    return DPL_OK;
}

/* ---- writing ---- */

static json_t *states_to_json(const struct dpl_checkpoint *checkpoint) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < DPL_CHECKPOINT_NETS; i++) {
        const struct dpl_sgd_state *state = checkpoint->state[i];
        if (state)
            dpl_json_append(&list, json_pack("{s:I, s:I, s:I}", "slot", (json_int_t)i, "parameters",
                                             (json_int_t)state->n_parameters, "step",
                                             (json_int_t)state->step));
    }
    return list;
}

/* ---- rounds ---- */

static enum dpl_status bind_to(struct dpl_run *run, const struct dpl_checkpoint *checkpoint,
                               char known[DPL_DIGEST_HEX], const char now[DPL_DIGEST_HEX],
                               const char *what) {
    if (known[0] && strcmp(known, now) != 0)
        return dpl_fail(
            run, DPL_REFUSED,
            "%s: %s; the noise of this fit was drawn for the others, and the same noise "
            "on both would give away the difference. Nothing was released. Go on with "
            "the others, or start anew with `fit.restart` and pay again",
            checkpoint->path ? checkpoint->path : "the checkpoint", what);
    memcpy(known, now, DPL_DIGEST_HEX);
    return DPL_OK;
}

static enum dpl_status check_round(struct dpl_run *run, int round) {
    if (round >= 1 && round <= DPL_CHECKPOINT_ROUNDS) return DPL_OK;
    return dpl_fail(run, DPL_USAGE, "a fit has at most %d rounds", DPL_CHECKPOINT_ROUNDS);
}

enum dpl_status dpl_checkpoint_bind_plan(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                         int round, const char plan[DPL_DIGEST_HEX]) {
    DPL_TRY(check_round(run, round));
    return bind_to(run, checkpoint, checkpoint->round[round - 1].plan, plan,
                   "this is not the plan that the fit wrote for the round");
}

static enum dpl_status print_pieces(struct dpl_run *run, const struct dpl_checkpoint *checkpoint,
                                    const struct dpl_view *pieces, size_t n,
                                    char hex[DPL_DIGEST_HEX]) {
    struct dpl_fingerprint *print = NULL;
    uint8_t digest[DPL_DIGEST];
    DPL_TRY(open_print(run, checkpoint->key, &print));
    enum dpl_status status = DPL_OK;
    for (size_t i = 0; status == DPL_OK && i < n; i++)
        status = add_column(print, pieces[i].data, pieces[i].n, 1);
    if (status == DPL_OK) status = dpl_fingerprint_end(print, digest);
    if (status == DPL_OK) dpl_hex(digest, sizeof digest, hex);
    dpl_fingerprint_free(print);
    return status;
}

enum dpl_status dpl_checkpoint_bind_sums(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                         int round, const struct dpl_view *pieces, size_t n) {
    char now[DPL_DIGEST_HEX];
    DPL_TRY(check_round(run, round));
    DPL_TRY(print_pieces(run, checkpoint, pieces, n, now));
    return bind_to(run, checkpoint, checkpoint->round[round - 1].sums, now,
                   "other sums than these were noised in this round");
}

enum dpl_status dpl_checkpoint_bind_data(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                         struct dpl_view identity) {
    char now[DPL_DIGEST_HEX];
    DPL_TRY(print_pieces(run, checkpoint, &identity, 1, now));
    return bind_to(run, checkpoint, checkpoint->data, now,
                   "the sums were counted from other data than those of the rounds before");
}

static json_t *rounds_to_json(const struct dpl_checkpoint *checkpoint) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < DPL_CHECKPOINT_ROUNDS && checkpoint->round[i].plan[0]; i++)
        dpl_json_append(&list,
                        json_pack("[s, s]", checkpoint->round[i].plan, checkpoint->round[i].sums));
    return list;
}

static bool take_digest(json_t *text, char into[DPL_DIGEST_HEX]) {
    const char *hex = json_string_value(text);
    if (!hex || (hex[0] && strlen(hex) != DPL_DIGEST_HEX - 1)) return false;
    strcpy(into, hex);
    return true;
}

static bool load_rounds(struct dpl_checkpoint *checkpoint, json_t *list, json_t *data) {
    size_t i;
    json_t *item;
    if (!list) return true; // of one machine
    if (json_array_size(list) > DPL_CHECKPOINT_ROUNDS) return false;
    json_array_foreach(list, i, item) {
        if (!take_digest(json_array_get(item, 0), checkpoint->round[i].plan) ||
            !take_digest(json_array_get(item, 1), checkpoint->round[i].sums))
            return false;
    }
    return take_digest(data, checkpoint->data);
}

static json_t *header_to_json(const struct dpl_checkpoint *checkpoint) {
    char key[2 * DPL_SECRET_SIZE + 1];
    dpl_hex(checkpoint->key, sizeof checkpoint->key, key);
    json_t *header = json_pack(
        "{s:b, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:b, s:o}", "not_private", 1, "version", VERSION,
        "release", checkpoint->release, "options", checkpoint->options, "build", checkpoint->build,
        "kernel", checkpoint->kernel, "fingerprint", checkpoint->fingerprint, "key", key,
        "insecure", checkpoint->insecure, "states", states_to_json(checkpoint));
    dpl_wipe(key, sizeof key);
    if (header && !strcmp(checkpoint->fingerprint, OF_ROUNDS)) {
        dpl_json_set(&header, "rounds", rounds_to_json(checkpoint));
        dpl_json_set(&header, "data", json_string(checkpoint->data));
    }
    return header;
}

static size_t state_bytes(size_t n_parameters) { return n_parameters * sizeof(float); }

/* The whole file but for its digest, in one piece. */
static enum dpl_status compose(struct dpl_run *run, const struct dpl_checkpoint *checkpoint,
                               uint8_t **made, size_t *made_length) {
    json_t *root = header_to_json(checkpoint);
    char *text = root ? dpl_json_dump(root, JSON_COMPACT) : NULL;
    size_t header = text ? strlen(text) : 0, length = PREFIX + header, at = length;
    for (size_t i = 0; i < DPL_CHECKPOINT_NETS; i++)
        length += checkpoint->state[i] ? state_bytes(checkpoint->state[i]->n_parameters) : 0;
    uint8_t *bytes = text ? dpl_alloc(run, length, 1) : NULL;
    enum dpl_status status = bytes ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
    if (bytes) {
        memcpy(bytes, MAGIC, MAGIC_BYTES);
        for (int i = 0; i < 8; i++) bytes[MAGIC_BYTES + i] = (uint8_t)((uint64_t)header >> (8 * i));
        memcpy(bytes + PREFIX, text, header);
        for (size_t i = 0; i < DPL_CHECKPOINT_NETS; i++) {
            const struct dpl_sgd_state *state = checkpoint->state[i];
            if (!state) continue;
            memcpy(bytes + at, state->parameters, state_bytes(state->n_parameters));
            at += state_bytes(state->n_parameters);
        }
        *made = bytes;
        *made_length = length;
    }
    if (text) dpl_wipe(text, header);
    free(text);
    json_decref(root);
    return status;
}

enum dpl_status dpl_checkpoint_save(struct dpl_run *run, struct dpl_checkpoint *checkpoint) {
    enum dpl_status status;
    uint8_t *bytes = NULL, digest[DPL_DIGEST];
    size_t length = 0;
    struct dpl_file *file = NULL;
    if (!checkpoint->path) return DPL_OK;
    DPL_GO(compose(run, checkpoint, &bytes, &length));
    DPL_GO(dpl_sha256(run, bytes, length, digest));
    DPL_GO(dpl_file_create(
        run, checkpoint->path,
        &(struct dpl_file_options){.overwrite = true, .only_owner = true, .mark = MAGIC}, &file));
    DPL_GO(dpl_file_write(file, bytes, length));
    DPL_GO(dpl_file_write(file, digest, sizeof digest));
    struct dpl_file *whole = file;
    file = NULL;
    status = dpl_file_commit(whole);
done:
    dpl_file_abort(file);
    if (bytes) dpl_wipe(bytes, length);
    dpl_free(bytes);
    return status;
}

/* ---- reading ---- */

bool dpl_checkpoint_exists(const char *path) { return path && access(path, F_OK) == 0; }

static enum dpl_status bad(struct dpl_run *run, const char *path, const char *what) {
    return dpl_fail(run, DPL_REFUSED,
                    "%s: %s; it cannot be resumed. Start over with `fit.restart`: a fresh key, and "
                    "everything is charged anew",
                    path, what);
}

static enum dpl_status read_whole(struct dpl_run *run, const char *path, uint8_t **made,
                                  size_t *made_length) {
    struct stat info;
    enum dpl_status status = dpl_file_guarded(run, path);
    if (status != DPL_OK) return status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return dpl_fail(
            run, DPL_USAGE,
            "%s: there is no checkpoint to resume from (leave out `fit.resume` to start)", path);
    if (fd < 0 || fstat(fd, &info) != 0) {
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path);
        if (fd >= 0) close(fd);
        return status;
    }
    size_t length = S_ISREG(info.st_mode) ? (size_t)info.st_size : 0;
    uint8_t *bytes = dpl_alloc(run, length + 1, 1);
    if (!bytes) status = DPL_SYSTEM;
    ssize_t got = bytes ? dpl_read_whole(fd, bytes, length) : 0;
    if (got < 0) status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read", path);
    if (got >= 0) length = (size_t)got;
    close(fd);
    if (status != DPL_OK) {
        dpl_free(bytes);
        return status;
    }
    *made = bytes;
    *made_length = length;
    return DPL_OK;
}

/* Checks frame and digest; *header is the JSON, *floats where the states begin and *room how long
 * they are. */
static enum dpl_status unpack(struct dpl_run *run, const char *path, const uint8_t *bytes,
                              size_t length, json_t **header, const uint8_t **floats,
                              size_t *room) {
    uint8_t digest[DPL_DIGEST];
    uint64_t header_length = 0;
    if (length < PREFIX + DPL_DIGEST || memcmp(bytes, MAGIC, MAGIC_BYTES))
        return bad(run, path, "not a checkpoint");
    length -= DPL_DIGEST;
    DPL_TRY(dpl_sha256(run, bytes, length, digest));
    if (memcmp(digest, bytes + length, DPL_DIGEST))
        return bad(run, path, "the checkpoint is damaged");
    for (int i = 0; i < 8; i++) header_length |= (uint64_t)bytes[MAGIC_BYTES + i] << (8 * i);
    if (header_length > HEADER_MAX || header_length > length - PREFIX)
        return bad(run, path, "the checkpoint is damaged");
    DPL_TRY(dpl_json_parse(run, (const char *)bytes + PREFIX, header_length, 0, NULL, header));
    if (!json_is_object(*header)) return bad(run, path, "the checkpoint is damaged");
    *floats = bytes + PREFIX + header_length;
    *room = length - PREFIX - header_length;
    return DPL_OK;
}

static const char *text_of(json_t *header, const char *name) {
    const char *text = json_string_value(json_object_get(header, name));
    return text ? text : "";
}

static enum dpl_status load_states(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                   json_t *list, const uint8_t *floats, size_t room) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        json_int_t slot = json_integer_value(json_object_get(item, "slot")),
                   n = json_integer_value(json_object_get(item, "parameters"));
        bool fits = slot >= 0 && slot < DPL_CHECKPOINT_NETS && n > 0 && n < STATE_MOST &&
                    state_bytes((size_t)n) <= room && !checkpoint->state[slot];
        if (!fits) return bad(run, checkpoint->path, "the checkpoint is damaged");
        DPL_TRY(dpl_sgd_state_new(run, (size_t)n, &checkpoint->state[slot]));
        checkpoint->state[slot]->step = json_integer_value(json_object_get(item, "step"));
        memcpy(checkpoint->state[slot]->parameters, floats, state_bytes((size_t)n));
        floats += state_bytes((size_t)n);
        room -= state_bytes((size_t)n);
    }
    return room == 0 ? DPL_OK : bad(run, checkpoint->path, "the checkpoint is damaged");
}

/* PRIVACY: each of these would make the same noise meet other numbers. */
static enum dpl_status check_bindings(struct dpl_run *run, const struct dpl_checkpoint *now,
                                      json_t *header) {
    if (json_integer_value(json_object_get(header, "version")) != VERSION)
        return bad(run, now->path, "the checkpoint is of another version of dploc");
    if (strcmp(text_of(header, "options"), now->options))
        return bad(run, now->path, "the checkpoint was made with other options");
    if (strcmp(text_of(header, "fingerprint"), now->fingerprint))
        return bad(run, now->path, "the checkpoint was made from other data");
    if (strcmp(text_of(header, "build"), now->build))
        return bad(run, now->path, "the checkpoint was made by another build of dploc");
    if (strcmp(text_of(header, "kernel"), now->kernel))
        return bad(run, now->path,
                   "the checkpoint was made with another matrix product (another machine?)");
    return DPL_OK;
}

enum dpl_status dpl_checkpoint_resume(struct dpl_run *run, const char *path, const char *options,
                                      const struct dpl_cleaned *trips, bool ordered,
                                      struct dpl_secret *secret, struct dpl_checkpoint **made) {
    enum dpl_status status;
    uint8_t *bytes = NULL, key[DPL_SECRET_SIZE];
    const uint8_t *floats = NULL;
    size_t length = 0, room = 0;
    json_t *header = NULL;
    struct dpl_checkpoint *checkpoint = NULL;
    DPL_GO(read_whole(run, path, &bytes, &length));
    DPL_GO(unpack(run, path, bytes, length, &header, &floats, &room));
    if (!dpl_unhex(text_of(header, "key"), key, sizeof key)) {
        status = bad(run, path, "the checkpoint is damaged");
        goto done;
    }
    DPL_GO(make(run, path, options ? options : text_of(header, "options"), key,
                json_is_true(json_object_get(header, "insecure")), trips, ordered, &checkpoint));
    DPL_GO(check_bindings(run, checkpoint, header));
    if (!load_rounds(checkpoint, json_object_get(header, "rounds"),
                     json_object_get(header, "data"))) {
        status = bad(run, path, "the checkpoint is damaged");
        goto done;
    }
    DPL_GO(load_states(run, checkpoint, json_object_get(header, "states"), floats, room));
    dpl_checkpoint_set_release(checkpoint, text_of(header, "release"));
    *secret = (struct dpl_secret){.insecure = checkpoint->insecure};
    memcpy(secret->key, key, sizeof key);
    *made = checkpoint;
    checkpoint = NULL;
done:
    dpl_checkpoint_free(checkpoint);
    json_decref(header);
    if (bytes) dpl_wipe(bytes, length);
    dpl_free(bytes);
    dpl_wipe(key, sizeof key);
    return status;
}

/* ---- removing ---- */

/* Zeros over the content where it stands. A file system that never overwrites in place, or a disk
 * that remaps blocks, may keep the old ones: nothing a program can do about it. */
static enum dpl_status shred(struct dpl_run *run, const char *path) {
    static const uint8_t ZEROS[4096];
    struct stat info;
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) return DPL_OK;
    bool ok = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    for (off_t left = ok ? info.st_size : 0; ok && left > 0; left -= (off_t)sizeof ZEROS) {
        size_t take = left < (off_t)sizeof ZEROS ? (size_t)left : sizeof ZEROS;
        ok = dpl_write_whole(fd, ZEROS, take);
    }
    ok = ok && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    if (unlink(path) != 0 || !ok)
        return dpl_fail_errno(
            run, DPL_SYSTEM,
            "%s: cannot overwrite and delete it; do so yourself: it holds the key of the noise",
            path);
    return DPL_OK;
}

enum dpl_status dpl_checkpoint_check(struct dpl_run *run, const char *path) {
    if (!path) return DPL_OK;
    DPL_TRY(dpl_file_guarded(run, path));
    return dpl_file_check(run, path, &(struct dpl_file_options){.overwrite = true, .mark = MAGIC});
}

enum dpl_status dpl_checkpoint_remove(struct dpl_run *run, const char *path) {
    DPL_TRY(dpl_checkpoint_check(run, path)); // only a checkpoint is worth overwriting with zeros
    glob_t parts = {0};
    size_t room = 2 * strlen(path) + 32, at = 0;
    char *pattern = dpl_alloc(run, room, 1);
    enum dpl_status status = pattern ? DPL_OK : DPL_SYSTEM;
    // First under another name: a crash half-way through the zeros must not leave a checkpoint that
    // is none.
    if (pattern) {
        snprintf(pattern, room, "%s.part-gone", path);
        bool moved = rename(path, pattern) == 0 || errno == ENOENT;
        status = shred(run, moved ? pattern : path);
    }
    for (const char *next = path; pattern && *next; next++) {
        if (strchr("*?[\\", *next)) pattern[at++] = '\\';
        pattern[at++] = *next;
    }
    if (pattern) strcpy(pattern + at, ".part-[0-9]*-[0-9]*"); // as dpl_file_create names them
    if (status == DPL_OK && glob(pattern, 0, NULL, &parts) == 0)
        for (size_t i = 0; i < parts.gl_pathc && status == DPL_OK; i++)
            status = shred(run, parts.gl_pathv[i]);
    globfree(&parts);
    dpl_free(pattern);
    return status;
}
