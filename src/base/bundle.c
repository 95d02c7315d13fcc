/* Files that belong together. See bundle.h. */
#include "base/bundle.h"
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIDE_BYTES = 1 << 20 };

struct dpl_bundle {
    struct dpl_run *run;
    char *path;
    bool overwrite, drop[DPL_SIDES];
    struct dpl_file *file, *side[DPL_SIDES]; /* a side that is NULL: none */
    char certificate[DPL_DIGEST_HEX];
};

/* ---- sides ---- */

static const struct {
    const char *ending;
    const char *mark; /* among the first bytes of every file of this kind */
} SIDE[DPL_SIDES] = {
    [DPL_SIDE_NOT_PRIVATE] = {".NOT-PRIVATE.txt", DPL_NOT_PRIVATE},
    [DPL_SIDE_PRIVATE] = {".PRIVATE.json", "\"not_private\": true"},
    [DPL_SIDE_MANIFEST] = {".manifest.json", "\"dploc_manifest\""},
    [DPL_SIDE_CERTIFICATE] = {".certificate.json", "\"dploc_certificate\""},
};

char *dpl_side_path(struct dpl_run *run, const char *path, enum dpl_side side) {
    size_t size = strlen(path) + strlen(SIDE[side].ending) + 1;
    char *name = dpl_alloc(run, size, 1);
    if (name) snprintf(name, size, "%s%s", path, SIDE[side].ending);
    return name;
}

static struct dpl_file_options side_options(enum dpl_side side, bool overwrite) {
    return (struct dpl_file_options){.overwrite = overwrite,
                                     .only_owner = side == DPL_SIDE_PRIVATE,
                                     .digest = side == DPL_SIDE_CERTIFICATE,
                                     .mark = SIDE[side].mark};
}

enum dpl_status dpl_side_check(struct dpl_run *run, const char *path, enum dpl_side side,
                               bool overwrite) {
    char *name = dpl_side_path(run, path, side);
    if (!name) return DPL_SYSTEM;
    const struct dpl_file_options options = side_options(side, overwrite);
    enum dpl_status status = dpl_file_check(run, name, &options);
    dpl_free(name);
    return status;
}

/* Trips are known by their manifest; a model, by `mark`. */
static struct dpl_file_options main_options(bool overwrite, const char *mark) {
    return (struct dpl_file_options){.overwrite = overwrite,
                                     .digest = true,
                                     .mark = mark,
                                     .ours = mark ? NULL : dpl_bundle_ours};
}

enum dpl_status dpl_bundle_check(struct dpl_run *run, const char *path, bool overwrite,
                                 const char *mark, const enum dpl_side *side, size_t n) {
    const struct dpl_file_options options = main_options(overwrite, mark);
    DPL_TRY(dpl_file_check(run, path, &options));
    for (size_t i = 0; i < n; i++) DPL_TRY(dpl_side_check(run, path, side[i], overwrite));
    return DPL_OK;
}

/* A side with its whole text, aside. */
static enum dpl_status create_side(struct dpl_run *run, const char *path, enum dpl_side side,
                                   bool overwrite, const char *text, struct dpl_file **made) {
    struct dpl_file_options options = side_options(side, overwrite);
    struct dpl_file *file = NULL;
    size_t length = strlen(text);
    char *name = dpl_side_path(run, path, side);
    if (!name) return DPL_SYSTEM;
    enum dpl_status status;
    DPL_GO(dpl_file_create(run, name, &options, &file));
    DPL_GO(dpl_file_write(file, text, length));
    if (length == 0 || text[length - 1] != '\n') DPL_GO(dpl_file_write(file, "\n", 1));
    *made = file;
    file = NULL;
done:
    dpl_file_abort(file);
    dpl_free(name);
    return status;
}

enum dpl_status dpl_side_write(struct dpl_run *run, const char *path, enum dpl_side side,
                               bool overwrite, const char *text) {
    struct dpl_file *file = NULL;
    DPL_TRY(create_side(run, path, side, overwrite, text, &file));
    return dpl_file_commit(file);
}

/* ---- the set ---- */

enum dpl_status dpl_bundle_open(struct dpl_run *run, const char *path, bool overwrite,
                                const char *mark, struct dpl_bundle **made) {
    enum dpl_status status = DPL_SYSTEM;
    const struct dpl_file_options options = main_options(overwrite, mark);
    struct dpl_bundle *bundle = dpl_alloc(run, 1, sizeof *bundle);
    if (!bundle) return DPL_SYSTEM;
    bundle->run = run;
    bundle->overwrite = overwrite;
    DPL_GO(dpl_text_copy(run, path, &bundle->path));
    DPL_GO(dpl_file_create(run, path, &options, &bundle->file));
    *made = bundle;
    bundle = NULL;
done:
    dpl_bundle_abort(bundle);
    return status;
}

struct dpl_file *dpl_bundle_file(struct dpl_bundle *bundle) {
    return bundle->file;
}

enum dpl_status dpl_bundle_add(struct dpl_bundle *bundle, enum dpl_side side, const char *text) {
    DPL_TRY(
        create_side(bundle->run, bundle->path, side, bundle->overwrite, text, &bundle->side[side]));
    return dpl_file_seal(bundle->side[side],
                         side == DPL_SIDE_CERTIFICATE ? bundle->certificate : NULL);
}

enum dpl_status dpl_bundle_add_manifest(struct dpl_bundle *bundle, json_t *manifest) {
    char digest[DPL_DIGEST_HEX];
    DPL_TRY(dpl_file_seal(bundle->file, digest));
    bool ok =
        json_object_set_new(manifest, "sha256", json_string(digest)) == 0 &&
        json_object_set_new(manifest, "certificate_sha256", json_string(bundle->certificate)) == 0;
    char *text =
        ok ? dpl_json_dump(manifest, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15))
           : NULL;
    if (!text) return dpl_fail(bundle->run, DPL_SYSTEM, "out of memory");
    enum dpl_status status = dpl_bundle_add(bundle, DPL_SIDE_MANIFEST, text);
    free(text);
    return status;
}

void dpl_bundle_drop(struct dpl_bundle *bundle, enum dpl_side side) {
    bundle->drop[side] = bundle->overwrite;
}

static enum dpl_status remove_side(struct dpl_bundle *bundle, enum dpl_side side) {
    DPL_TRY(dpl_side_check(bundle->run, bundle->path, side, true));
    char *name = dpl_side_path(bundle->run, bundle->path, side);
    if (!name) return DPL_SYSTEM;
    enum dpl_status status = DPL_OK;
    if (unlink(name) != 0 && errno != ENOENT)
        status = dpl_fail_errno(bundle->run, DPL_SYSTEM, "%s: cannot be removed", name);
    dpl_free(name);
    return status;
}

/* PRIVACY: nothing stands under PATH here, so nothing is described wrongly by what stands beside
 * it, whichever part of this has happened. */
static enum dpl_status show_sides(struct dpl_bundle *bundle) {
    for (enum dpl_side i = 0; i < DPL_SIDES; i++) {
        if (bundle->side[i]) DPL_TRY(dpl_file_show(bundle->side[i]));
        if (bundle->drop[i]) DPL_TRY(remove_side(bundle, i));
    }
    return dpl_sync_directory(bundle->run, bundle->path);
}

/* PRIVACY: the order that bundle.h promises. The old PATH goes before its own companions do: until
 * then they are right about it. */
enum dpl_status dpl_bundle_commit(struct dpl_bundle *bundle) {
    bool shown = false;
    enum dpl_status status = dpl_file_seal(bundle->file, NULL);
    if (status == DPL_OK) status = dpl_file_clear(bundle->file);
    if (status == DPL_OK) status = show_sides(bundle);
    if (status == DPL_OK) {
        status = dpl_file_show(bundle->file);
        shown = status == DPL_OK;
    }
    if (shown) status = dpl_sync_directory(bundle->run, bundle->path);
    // A run that fails leaves no certificate and no manifest, unless the old PATH is still there.
    for (enum dpl_side i = 0; !shown && !dpl_file_replaces(bundle->file) && i < DPL_SIDES; i++)
        if (bundle->side[i]) dpl_file_retract(bundle->side[i]);
    dpl_bundle_abort(bundle);
    return status;
}

void dpl_bundle_abort(struct dpl_bundle *bundle) {
    if (!bundle) return;
    dpl_file_abort(bundle->file);
    for (enum dpl_side i = 0; i < DPL_SIDES; i++) dpl_file_abort(bundle->side[i]);
    dpl_free(bundle->path);
    dpl_free(bundle);
}

/* ---- whose a file is ---- */

enum dpl_status dpl_manifest_read(struct dpl_run *run, const char *path, json_t **manifest) {
    char *name = dpl_side_path(run, path, DPL_SIDE_MANIFEST), *text = NULL;
    *manifest = NULL;
    if (name) text = dpl_alloc(run, SIDE_BYTES, 1);
    size_t n = 0;
    json_t *object = NULL;
    enum dpl_status status = text ? dpl_file_head(run, name, text, SIDE_BYTES, &n) : DPL_SYSTEM;
    if (status == DPL_OK) status = dpl_json_parse(run, text, n, 0, NULL, &object);
    if (json_is_integer(json_object_get(object, "dploc_manifest")))
        *manifest = object;
    else
        json_decref(object);
    dpl_free(text);
    dpl_free(name);
    return status;
}

enum dpl_status dpl_file_matches(struct dpl_run *run, const char *path, json_t *digest,
                                 bool *matches) {
    char found[DPL_DIGEST_HEX];
    *matches = false;
    if (!json_is_string(digest)) return DPL_OK;
    DPL_TRY(dpl_file_sha256(run, path, found));
    *matches = !strcmp(found, json_string_value(digest));
    return DPL_OK;
}

enum dpl_status dpl_bundle_ours(struct dpl_run *run, const char *path, bool *ours) {
    json_t *manifest;
    DPL_TRY(dpl_manifest_read(run, path, &manifest));
    enum dpl_status status = dpl_file_matches(run, path, json_object_get(manifest, "sha256"), ours);
    json_decref(manifest);
    return status;
}
