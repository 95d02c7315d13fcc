/* See datapackage.h. A package tells its own digest, of itself without that digest: so that a file
 * which was changed since is known, and not replaced. */
#include "sample/datapackage.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/json.h"

enum { PACKAGE_BYTES = 1 << 20, NAME_ROOM = 4096, HASH_PREFIX = 7 }; // "sha256:"
static const char OWN[] = "dploc", SUM[] = "package_sha256";

json_t *dpl_package_new(const struct dpl_model *model, const char *name, const char *title,
                        const char *license) {
    json_t *certificate = model->certificate;
    json_t *package = json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:s, s:s, s:O?, s:O?, s:O?, s:O?}, s:[]}", "$schema",
        "https://datapackage.org/profiles/2.0/datapackage.json", "name", name, "title", title,
        "description",
        "Synthetic data about trips, drawn from noised tables: differentially private, as the "
        "certificate states. No row is about a person.",
        OWN, "version", dpl_version(), "method", model->method, "epsilon",
        json_object_get(certificate, "epsilon"), "delta", json_object_get(certificate, "delta"),
        "unit", json_object_get(certificate, "unit"), "unit_meaning",
        json_object_get(certificate, "unit_meaning"), "resources");
    json_t *named = license ? json_object() : NULL;
    if (license) dpl_json_set_text(&named, "name", license);
    if (license) dpl_json_set(&package, "licenses", json_pack("[o]", named));
    return package;
}

json_t *dpl_package_field(const char *name, const char *type, const char *format,
                          const char *about) {
    return json_pack("{s:s, s:s, s:s*, s:s}", "name", name, "type", type, "format", format,
                     "description", about);
}

/* ---- files ---- */

static enum dpl_status no_memory(struct dpl_run *run) {
    return dpl_fail(run, DPL_SYSTEM, "out of memory");
}

static enum dpl_status set_own(struct dpl_run *run, json_t *package, const char *name,
                               const char *digest) {
    json_t *own = json_object_get(package, OWN);
    return json_object_set_new(own, name, json_string(digest)) == 0 ? DPL_OK : no_memory(run);
}

enum dpl_status dpl_package_add(struct dpl_run *run, json_t *package, const char *directory,
                                const char *file, const char *name, const char *media,
                                json_t *fields) {
    char path[NAME_ROOM], digest[DPL_DIGEST_HEX];
    struct stat info = {0};
    snprintf(path, sizeof path, "%s/%s", directory, file);
    enum dpl_status status = dpl_file_sha256(run, path, digest);
    json_t *resource = NULL;
    if (status == DPL_OK && stat(path, &info) == 0)
        resource = json_pack("{s:s, s:s, s:s, s:I, s:s+}", "name", name, "path", file, "mediatype",
                             media, "bytes", (json_int_t)info.st_size, "hash", "sha256:", digest);
    if (fields) {
        dpl_json_set(&resource, "type", json_string("table"));
        dpl_json_set(&resource, "schema", json_pack("{s:O}", "fields", fields));
    }
    json_decref(fields);
    if (status == DPL_OK && !strcmp(name, "certificate"))
        status = set_own(run, package, "certificate_sha256", digest);
    if (status == DPL_OK && json_array_append(json_object_get(package, "resources"), resource) != 0)
        status = no_memory(run);
    json_decref(resource);
    return status;
}

static json_t *time_field(const struct dpl_sheet *sheet, bool typed) {
    const char *name = dpl_column_name(sheet->names, DPL_COLUMN_DATETIME);
    switch (sheet->times) {
    case DPL_TIMES_EPOCH:
        return dpl_package_field(name, "integer", NULL, "seconds since 1970, UTC");
    case DPL_TIMES_NAIVE:
        return dpl_package_field(name, "datetime", typed ? NULL : "%Y-%m-%dT%H:%M:%S",
                                 "what local clocks show");
    default:
        return dpl_package_field(name, "datetime", typed ? NULL : "%Y-%m-%dT%H:%M:%S%z",
                                 "when, with its offset from UTC");
    }
}

json_t *dpl_package_trips(const struct dpl_writer *writer, const struct dpl_sheet *sheet) {
    const struct dpl_names *names = sheet->names;
    if (!writer->tabular) return NULL;
    json_t *fields = json_array();
    if (sheet->users)
        dpl_json_append(&fields, dpl_package_field(dpl_column_name(names, DPL_COLUMN_UID),
                                                   "integer", NULL, "a synthetic user"));
    dpl_json_append(&fields, dpl_package_field(dpl_column_name(names, DPL_COLUMN_TID), "integer",
                                               NULL, "a synthetic trip"));
    dpl_json_append(&fields, time_field(sheet, writer->table != NULL));
    dpl_json_append(&fields, dpl_package_field(dpl_column_name(names, DPL_COLUMN_LAT), "number",
                                               NULL, "latitude in degrees, WGS 84"));
    dpl_json_append(&fields, dpl_package_field(dpl_column_name(names, DPL_COLUMN_LNG), "number",
                                               NULL, "longitude in degrees, WGS 84"));
    return fields;
}

/* ---- the package itself ---- */

/* The digest of the package without its digest, in a text that no layout changes. */
static enum dpl_status own_digest(struct dpl_run *run, json_t *package, char hex[DPL_DIGEST_HEX]) {
    char *text = dpl_json_dump(package, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII |
                                            JSON_REAL_PRECISION(15));
    if (!text) return no_memory(run);
    enum dpl_status status = dpl_sha256_hex(run, text, strlen(text), hex);
    free(text);
    return status;
}

enum dpl_status dpl_package_write(struct dpl_run *run, json_t *package, const char *directory) {
    char path[NAME_ROOM], digest[DPL_DIGEST_HEX];
    struct dpl_file *file = NULL;
    enum dpl_status status;
    snprintf(path, sizeof path, "%s/%s", directory, DPL_DATAPACKAGE);
    DPL_TRY(own_digest(run, package, digest));
    DPL_TRY(set_own(run, package, SUM, digest));
    char *text =
        dpl_json_dump(package, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    if (!text) return no_memory(run);
    DPL_GO(dpl_file_create(run, path, &(struct dpl_file_options){0}, &file));
    DPL_GO(dpl_file_write(file, text, strlen(text)));
    DPL_GO(dpl_file_write(file, "\n", 1));
    status = dpl_file_commit(file);
    file = NULL;
done:
    dpl_file_abort(file);
    free(text);
    return status;
}

/* *package is NULL where there is none. */
static enum dpl_status load(struct dpl_run *run, const char *path, json_t **package) {
    char *text = dpl_alloc(run, PACKAGE_BYTES, 1);
    size_t length = 0;
    *package = NULL;
    if (!text) return DPL_SYSTEM;
    enum dpl_status status = dpl_file_head(run, path, text, PACKAGE_BYTES, &length);
    if (status == DPL_OK) status = dpl_json_parse(run, text, length, 0, NULL, package);
    dpl_free(text);
    return status;
}

enum dpl_status dpl_package_ours(struct dpl_run *run, const char *path, bool *ours) {
    char digest[DPL_DIGEST_HEX];
    json_t *package;
    *ours = false;
    enum dpl_status status = load(run, path, &package);
    json_t *own = json_object_get(package, OWN), *told = json_object_get(own, SUM);
    json_incref(told);
    if (json_is_string(told)) {
        json_object_del(own, SUM);
        status = own_digest(run, package, digest);
        *ours = status == DPL_OK && !strcmp(digest, json_string_value(told));
    }
    json_decref(told);
    json_decref(package);
    return status;
}

/* ---- a directory that a package describes ---- */

/* Whether the package vouches for that file, or is it. */
static enum dpl_status vouches(struct dpl_run *run, json_t *package, const char *path,
                               const char *file, bool *known) {
    json_t *resources = json_object_get(package, "resources"), *one;
    char digest[DPL_DIGEST_HEX];
    size_t i;
    *known = false;
    if (!strcmp(file, DPL_DATAPACKAGE)) return dpl_package_ours(run, path, known);
    json_array_foreach(resources, i, one) {
        const char *name = json_string_value(json_object_get(one, "path")),
                   *hash = json_string_value(json_object_get(one, "hash"));
        if (!name || !hash || strcmp(name, file) != 0 || strlen(hash) < HASH_PREFIX) continue;
        DPL_TRY(dpl_file_sha256(run, path, digest));
        *known = !strcmp(hash + HASH_PREFIX, digest);
    }
    return DPL_OK;
}

/* Calls for every file of the directory, with whether it is known; stops at a failure. */
typedef enum dpl_status file_visitor(struct dpl_run *run, const char *path, bool known);

static enum dpl_status each_file(struct dpl_run *run, const char *directory, file_visitor *visit) {
    char path[NAME_ROOM];
    enum dpl_status status = DPL_OK;
    DIR *folder = opendir(directory);
    if (!folder) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be listed", directory);
    snprintf(path, sizeof path, "%s/%s", directory, DPL_DATAPACKAGE);
    json_t *package;
    status = load(run, path, &package);
    for (struct dirent *entry; status == DPL_OK && (entry = readdir(folder));) {
        bool known = false;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        status = vouches(run, package, path, entry->d_name, &known);
        if (status == DPL_OK) status = visit(run, path, known);
    }
    json_decref(package);
    closedir(folder);
    return status;
}

/* PRIVACY: what is in the directory may be somebody's only copy. */
static enum dpl_status check_known(struct dpl_run *run, const char *path, bool known) {
    if (known) return DPL_OK;
    return dpl_fail(run, DPL_USAGE,
                    "%s is not a file that this program wrote there (or it was changed since), so "
                    "`overwrite` does not replace it; move it away, or choose another directory",
                    path);
}

static enum dpl_status remove_known(struct dpl_run *run, const char *path, bool known) {
    (void)run;
    if (known) (void)unlink(path);
    return DPL_OK;
}

static enum dpl_status remove_any(struct dpl_run *run, const char *path, bool known) {
    (void)run, (void)known;
    (void)unlink(path);
    return DPL_OK;
}

enum dpl_status dpl_package_check_directory(struct dpl_run *run, const char *directory,
                                            bool overwrite, bool *there) {
    DPL_TRY(dpl_directory_check(run, directory, overwrite, there));
    return *there ? each_file(run, directory, check_known) : DPL_OK;
}

void dpl_package_remove(struct dpl_run *run, const char *directory, bool all) {
    (void)each_file(run, directory, all ? remove_any : remove_known);
    (void)rmdir(directory);
}
