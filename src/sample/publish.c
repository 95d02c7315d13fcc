/* Side files and the release directory. */
#include "sample/publish.h"
#include "base/public_options.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/json.h"
#include "roads/roads.h"
#include "sample/datapackage.h"

static const char MANIFEST[] = ".manifest.json", CERTIFICATE[] = ".certificate.json";

/* path + suffix; caller frees with dpl_free. */
static char *beside(struct dpl_run *run, const char *path, const char *suffix) {
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = dpl_alloc(run, size, 1);
    if (name != NULL) snprintf(name, size, "%s%s", path, suffix);
    return name;
}

/* directory/file; caller frees with dpl_free. */
static char *within(struct dpl_run *run, const char *directory, const char *file) {
    size_t size = strlen(directory) + strlen(file) + 2;
    char *path = dpl_alloc(run, size, 1);
    if (path != NULL) snprintf(path, size, "%s/%s", directory, file);
    return path;
}

/* ---- the manifest ---- */

/* PRIVACY: a name that is on neither list does not get into a manifest, whatever the model says. */
static bool public_name(const char *name) {
    static const char *const MORE[] = {"no-destination", "no-looping",  "to",   "interval",
                                       "gps-error",      "columns-out", "block"};
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++)
        if (!strcmp(name, MORE[i])) return true;
    return dpl_option_public(name);
}

static void add_public(json_t **into, json_t *options) {
    const char *name;
    json_t *value;
    json_object_foreach(options, name, value) {
        if (public_name(name) && !json_is_object(value)) dpl_json_share(into, name, value);
    }
}

/* The shortest decimals that give the same number back. */
static void exact_text(double number, char text[32]) {
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, number);
        double back = strtod(text, NULL);
        if (!(back < number) && !(back > number)) return;
    }
}

static void add_area(json_t **into, const struct dpl_area *area) {
    char south[32], west[32], north[32], east[32];
    if (!json_object_get(*into, "region")) { // a region implies its box
        exact_text(area->south_deg, south), exact_text(area->west_deg, west),
            exact_text(area->north_deg, north), exact_text(area->east_deg, east);
        dpl_json_set(into, "bbox", json_sprintf("%s,%s,%s,%s", south, west, north, east));
    } else {
        json_object_del(*into, "bbox");
    }
    bool whole = !(area->cell_m < floor(area->cell_m)) && !(area->cell_m > floor(area->cell_m));
    dpl_json_set(into, "cell",
                 whole ? json_integer((json_int_t)area->cell_m) : json_real(area->cell_m));
    dpl_json_set(into, "tz", json_string(area->zone));
    dpl_json_set(into, "slot", json_integer(area->slot_s));
    dpl_json_set(into, "periods", json_integer(area->periods));
}

json_t *dpl_manifest(const struct dpl_model *model, json_t *options) {
    static const char *const PROMISE[] = {"epsilon", "delta", "unit"};
    json_t *all = json_object();
    json_t *root = json_pack("{s:i, s:s, s:s, s:b}", "dploc_manifest", 1, "version", dpl_version(),
                             "method", model->method, "private", !model->not_private);
    if (model->not_private) dpl_json_set(&root, "warning", json_string(DPL_NOT_PRIVATE));
    dpl_json_share(&root, "seed", json_object_get(options, "seed"));
    for (size_t i = 0; i < sizeof PROMISE / sizeof *PROMISE; i++)
        dpl_json_share(&all, PROMISE[i], json_object_get(model->certificate, PROMISE[i]));
    dpl_json_set(&all, "method", json_string(model->method));
    add_public(&all, model->options);
    add_area(&all, &model->grid.area);
    add_public(&all, options);
    dpl_json_set(&root, "options", all);
    return root;
}

/* ---- side files ---- */

static const enum dpl_side BESIDE[] = {DPL_SIDE_NOT_PRIVATE, DPL_SIDE_MANIFEST,
                                       DPL_SIDE_CERTIFICATE};

enum dpl_status dpl_sides_check(struct dpl_run *run, const char *path, bool overwrite) {
    return dpl_bundle_check(run, path, overwrite, NULL, BESIDE, sizeof BESIDE / sizeof *BESIDE);
}

/* The model's certificate, and on whose roads its trips go. */
static enum dpl_status add_certificate(struct dpl_run *run, const struct dpl_model *model,
                                       const struct dpl_roads *roads, struct dpl_bundle *bundle) {
    json_t *certificate = json_copy(model->certificate);
    if (roads != NULL) dpl_json_set(&certificate, "roads", dpl_roads_json(roads));
    char *text =
        certificate != NULL ? dpl_json_dump(certificate, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    enum dpl_status status = text != NULL ? dpl_bundle_add(bundle, DPL_SIDE_CERTIFICATE, text)
                                          : dpl_fail(run, DPL_SYSTEM, "out of memory");
    free(text);
    json_decref(certificate);
    return status;
}

enum dpl_status dpl_sides_add(struct dpl_run *run, const struct dpl_model *model,
                              const struct dpl_roads *roads, json_t *manifest, const char *path,
                              struct dpl_bundle *bundle) {
    if (roads != NULL && json_object_set_new(manifest, "roads", dpl_roads_json(roads)) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    json_t *prior = json_object_get(model->certificate, "fit_roads");
    if (prior != NULL && json_object_set(manifest, "fit_roads", prior) != 0)
        return dpl_fail(run, DPL_SYSTEM, "out of memory");
    enum dpl_status status = add_certificate(run, model, roads, bundle);
    if (status == DPL_OK) status = dpl_bundle_add_manifest(bundle, manifest);
    if (status != DPL_OK) return status;
    if (!model->not_private) {
        dpl_bundle_drop(bundle, DPL_SIDE_NOT_PRIVATE); // of an older release under this name
        return DPL_OK;
    }
    dpl_note(run, "%s; %s.NOT-PRIVATE.txt says so", DPL_NOT_PRIVATE, path);
    return dpl_bundle_add(bundle, DPL_SIDE_NOT_PRIVATE,
                          DPL_NOT_PRIVATE
                          "\nDo not publish the trips of this name, nor anything made of them.\n");
}

/* ---- the release directory ---- */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

json_t *dpl_publish_names(struct dpl_run *run, const char *model_path) {
    char digest[DPL_DIGEST_HEX];
    if (model_path == NULL) return json_object();
    if (dpl_file_sha256(run, model_path, digest) != DPL_OK) return NULL;
    return json_pack("{s:s, s:s}", "model", base_name(model_path), "model_sha256", digest);
}

/* The digest that a release's manifest, NAME.manifest.json, has for a file beside it; NULL: it does
 * not name the file. */
static json_t *digest_of(json_t *manifest, const char *stem, const char *file) {
    json_t *release = json_object_get(manifest, "release");
    const char *model = json_string_value(json_object_get(release, "model"));
    size_t length = strlen(stem);
    if (!json_is_object(release)) return NULL;
    if (model != NULL && !strcmp(model, file)) return json_object_get(release, "model_sha256");
    if (strncmp(file, stem, length) != 0) return NULL;
    if (file[length] == '\0') return json_object_get(manifest, "sha256");
    return strcmp(file + length, CERTIFICATE) ? NULL
                                              : json_object_get(manifest, "certificate_sha256");
}

/* Whether the manifest `name` in the directory is a release's and vouches for `file`, itself
 * included. */
static enum dpl_status vouches(struct dpl_run *run, const char *directory, const char *name,
                               const char *file, bool *known) {
    char stem[NAME_MAX + 1], *path = NULL, *target = NULL;
    json_t *manifest = NULL;
    enum dpl_status status = DPL_SYSTEM;
    snprintf(stem, sizeof stem, "%.*s", (int)(strlen(name) - strlen(MANIFEST)), name);
    if ((path = within(run, directory, stem)) == NULL) goto done;
    if ((target = within(run, directory, file)) == NULL) goto done;
    DPL_GO(dpl_manifest_read(run, path, &manifest));
    if (!strcmp(name, file))
        *known = json_is_object(json_object_get(manifest, "release"));
    else
        DPL_GO(dpl_file_matches(run, target, digest_of(manifest, stem, file), known));
done:
    json_decref(manifest);
    dpl_free(target);
    dpl_free(path);
    return status;
}

static bool is_manifest(const char *name) {
    size_t length = strlen(name), end = strlen(MANIFEST);
    return length > end && !strcmp(name + length - end, MANIFEST);
}

/* Whether an earlier release put this file into the directory, and it is still the same. */
static enum dpl_status released_here(struct dpl_run *run, const char *directory, const char *file,
                                     bool *known) {
    enum dpl_status status = DPL_OK;
    *known = false;
    if (!strcmp(file, DPL_DATAPACKAGE)) {
        char *path = within(run, directory, file);
        status = path != NULL ? dpl_package_ours(run, path, known) : DPL_SYSTEM;
        dpl_free(path);
        return status;
    }
    DIR *folder = opendir(directory);
    if (folder == NULL) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be listed", directory);
    for (struct dirent *entry; status == DPL_OK && !*known && (entry = readdir(folder)) != NULL;)
        if (is_manifest(entry->d_name))
            status = vouches(run, directory, entry->d_name, file, known);
    closedir(folder);
    return status;
}

static int manifests_last(const struct dirent **a, const struct dirent **b) {
    int order = is_manifest((*a)->d_name) - is_manifest((*b)->d_name);
    return order ? order : strcmp((*a)->d_name, (*b)->d_name);
}

/* One file of an older release; `visit` below calls it for each. */
typedef enum dpl_status visitor(struct dpl_run *run, const char *directory, const char *file);

static enum dpl_status visit(struct dpl_run *run, const char *directory, visitor *call) {
    struct dirent **entry = NULL;
    enum dpl_status status = DPL_OK;
    // A list made first: the manifests that vouch for the others come last.
    int n = scandir(directory, &entry, NULL, manifests_last);
    if (n < 0) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be listed", directory);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;
        if (status == DPL_OK && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            status = call(run, directory, name);
        free(entry[i]);
    }
    free(entry);
    return status;
}

/* PRIVACY: what is in the directory may be somebody's only copy; it is replaced only if a release
 * put it there. */
static enum dpl_status check_released(struct dpl_run *run, const char *directory,
                                      const char *file) {
    bool known = false;
    DPL_TRY(released_here(run, directory, file, &known));
    if (known) return DPL_OK;
    return dpl_fail(
        run, DPL_USAGE,
        "%s holds '%s', which no release put there (or which was changed since); "
        "`overwrite` replaces the files of a release only: move it away, or choose another "
        "directory",
        directory, file);
}

enum dpl_status dpl_publish_directory(struct dpl_run *run, const char *directory, bool overwrite) {
    bool there = false;
    DPL_TRY(dpl_directory_check(run, directory, overwrite, &there));
    return there ? visit(run, directory, check_released) : DPL_OK;
}

enum dpl_status dpl_publish_check(struct dpl_run *run, bool not_private) {
    // PRIVACY: the directory is for the public; nothing without noise gets there by mistake.
    if (!not_private) return DPL_OK;
    return dpl_fail(
        run, DPL_REFUSED,
        "this model is NOT PRIVATE (no noise, or noise from a seed), and `sample.release` is "
        "for what may be published: leave it out");
}

static enum dpl_status copy_bytes(struct dpl_run *run, const char *from, const char *to) {
    char bytes[1 << 14];
    ssize_t got = 0;
    enum dpl_status status = DPL_OK;
    int in = open(from, O_RDONLY | O_CLOEXEC),
        out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (in < 0 || out < 0)
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be copied to %s", from, to);
    while (status == DPL_OK && (got = dpl_read_whole(in, bytes, sizeof bytes)) > 0)
        if (!dpl_write_whole(out, bytes, (size_t)got))
            status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot write", to);
    if (status == DPL_OK && (got < 0 || fsync(out) != 0))
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be copied to %s", from, to);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return status;
}

/* One file into the directory, by a second name of the same file where that is possible. */
static enum dpl_status collect(struct dpl_run *run, const char *path, const char *suffix,
                               const char *directory) {
    char *from = beside(run, path, suffix), *to = NULL;
    enum dpl_status status = DPL_SYSTEM;
    if (from == NULL || (to = within(run, directory, base_name(from))) == NULL) goto done;
    status = link(from, to) == 0 ? DPL_OK : copy_bytes(run, from, to);
done:
    dpl_free(to);
    dpl_free(from);
    return status;
}

static enum dpl_status remove_file(struct dpl_run *run, const char *directory, const char *file) {
    char *path = within(run, directory, file);
    if (path == NULL) return DPL_SYSTEM;
    enum dpl_status status =
        unlink(path) == 0 ? DPL_OK : dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be removed", path);
    dpl_free(path);
    return status;
}

static enum dpl_status remove_released(struct dpl_run *run, const char *directory,
                                       const char *file) {
    DPL_TRY(check_released(run, directory, file));
    return remove_file(run, directory, file);
}

/* The release before this one, file by file; whatever else has come into it stays where it is. */
static enum dpl_status remove_old(struct dpl_run *run, const char *directory) {
    DPL_TRY(visit(run, directory, remove_released));
    if (rmdir(directory) == 0) return DPL_OK;
    return dpl_fail_errno(run, DPL_SYSTEM, "%s, the release before this one, cannot be removed",
                          directory);
}

/* One of the files beside the trips, in the package. */
static enum dpl_status describe_side(struct dpl_run *run, json_t *package, const char *aside,
                                     const char *path, const char *suffix, const char *name) {
    char *file = beside(run, base_name(path), suffix);
    if (file == NULL) return DPL_SYSTEM;
    enum dpl_status status =
        dpl_package_add(run, package, aside, file, name, "application/json", NULL);
    dpl_free(file);
    return status;
}

static const char *media_of(const struct dpl_publication *publication) {
    size_t length = strlen(publication->path);
    if (length > 3 && !strcmp(publication->path + length - 3, ".gz")) return "application/gzip";
    if (length > 4 && !strcmp(publication->path + length - 4, ".zst")) return "application/zstd";
    return publication->writer->media;
}

/* What the files are, once they are there. */
static enum dpl_status describe(struct dpl_run *run, const struct dpl_publication *publication,
                                const char *aside) {
    const char *path = publication->path, *model_path = publication->model_path;
    json_t *package = dpl_package_new(publication->model, "synthetic-trips", "Synthetic trips",
                                      publication->license);
    if (package == NULL) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    enum dpl_status status;
    DPL_GO(dpl_package_add(run, package, aside, base_name(path), "trips", media_of(publication),
                           dpl_package_trips(publication->writer, publication->sheet)));
    DPL_GO(describe_side(run, package, aside, path, CERTIFICATE, "certificate"));
    DPL_GO(describe_side(run, package, aside, path, MANIFEST, "manifest"));
    if (model_path != NULL)
        DPL_GO(dpl_package_add(run, package, aside, base_name(model_path), "model",
                               "application/octet-stream", NULL));
    DPL_GO(dpl_package_write(run, package, aside));
done:
    json_decref(package);
    return status;
}

static enum dpl_status fill(struct dpl_run *run, const struct dpl_publication *publication,
                            const char *aside) {
    const char *path = publication->path;
    DPL_TRY(collect(run, path, "", aside));
    DPL_TRY(collect(run, path, CERTIFICATE, aside));
    DPL_TRY(collect(run, path, MANIFEST, aside));
    if (publication->model_path != NULL) DPL_TRY(collect(run, publication->model_path, "", aside));
    DPL_TRY(describe(run, publication, aside));
    char *inside = within(run, aside, "");
    if (inside == NULL) return DPL_SYSTEM;
    enum dpl_status status = dpl_sync_directory(run, inside);
    dpl_free(inside);
    return status;
}

/* Made aside, then given its name in one step; an older release is checked once more and goes
 * last. */
static enum dpl_status publish_as(struct dpl_run *run, const struct dpl_publication *publication,
                                  const char *directory, const char *aside, bool overwrite) {
    bool there = false;
    DPL_TRY(dpl_publish_directory(run, directory, overwrite));
    DPL_TRY(dpl_directory_check(run, directory, overwrite, &there));
    if (mkdir(aside, 0777) != 0)
        return dpl_fail_errno(
            run, DPL_SYSTEM,
            "%s: cannot make this directory (the release is put together aside first)", aside);
    enum dpl_status status = fill(run, publication, aside);
    if (status == DPL_OK) status = dpl_directory_show(run, aside, directory, there);
    if (status == DPL_OK) return there ? remove_old(run, aside) : DPL_OK;
    (void)visit(run, aside, remove_file); // it was made a moment ago, and holds copies
    (void)rmdir(aside);
    return status;
}

enum dpl_status dpl_publish(struct dpl_run *run, const struct dpl_publication *publication,
                            const char *directory, bool overwrite) {
    char suffix[32];
    enum dpl_status status = DPL_SYSTEM;
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') length--; // DIR/ is DIR
    char *name = dpl_alloc(run, length + 1, 1), *aside = NULL;
    if (name == NULL) return DPL_SYSTEM;
    memcpy(name, directory, length);
    snprintf(suffix, sizeof suffix, ".part-%ld", (long)getpid());
    if ((aside = beside(run, name, suffix)) != NULL)
        status = publish_as(run, publication, name, aside, overwrite);
    dpl_free(aside);
    dpl_free(name);
    return status;
}
