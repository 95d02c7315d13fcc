/* Side files and the release directory. */
#include "sample/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char CERTIFICATE[] = ".certificate.json", MANIFEST[] = ".manifest.json",
                  STAMP[] = ".NOT-PRIVATE.txt";
static const char NOT_PRIVATE[] =
    "NOT PRIVATE: made without noise, or with noise that a seed gives away";

enum { SIDES = 3 };

struct dpl_sides {
    struct dpl_run *run;
    struct dpl_file *file[SIDES]; /* NULL: none */
    char *stale; /* a warning of an older release under this name; NULL: nothing to remove */
};

static enum dpl_status no_memory(struct dpl_run *run) {
    return dpl_fail(run, DPL_SYSTEM, "out of memory");
}

/* path + suffix; caller frees with dpl_free. */
static char *beside(struct dpl_run *run, const char *path, const char *suffix) {
    size_t size = strlen(path) + strlen(suffix) + 1;
    char *name = dpl_alloc(run, size, 1);
    if (name != NULL) snprintf(name, size, "%s%s", path, suffix);
    return name;
}

/* ---- the manifest ---- */

/* PRIVACY: a name that is on neither list does not get into a manifest, whatever the model says. */
static bool public_name(const char *name) {
    static const char *const MORE[] = {"no-destination", "no-looping", "to", "interval",
                                       "gps-error"};
    for (size_t i = 0; i < sizeof MORE / sizeof *MORE; i++)
        if (!strcmp(name, MORE[i])) return true;
    return dpl_certificate_option_public(name);
}

static void add_public(json_t *into, json_t *options) {
    const char *name;
    json_t *value;
    json_object_foreach(options, name, value) {
        if (public_name(name) && !json_is_object(value)) json_object_set(into, name, value);
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

static void add_area(json_t *into, const struct dpl_area *area) {
    char south[32], west[32], north[32], east[32];
    if (!json_object_get(into, "region")) { // a region implies its box
        exact_text(area->south_deg, south), exact_text(area->west_deg, west),
            exact_text(area->north_deg, north), exact_text(area->east_deg, east);
        json_object_set_new(into, "bbox", json_sprintf("%s,%s,%s,%s", south, west, north, east));
    } else {
        json_object_del(into, "bbox");
    }
    bool whole = !(area->cell_m < floor(area->cell_m)) && !(area->cell_m > floor(area->cell_m));
    json_object_set_new(into, "cell",
                        whole ? json_integer((json_int_t)area->cell_m) : json_real(area->cell_m));
    json_object_set_new(into, "tz", json_string(area->zone));
    json_object_set_new(into, "slot", json_integer(area->slot_s));
    json_object_set_new(into, "periods", json_integer(area->periods));
}

json_t *dpl_manifest(const struct dpl_model *model, json_t *options) {
    static const char *const PROMISE[] = {"epsilon", "delta", "unit"};
    json_t *all = json_object();
    json_t *root = json_pack("{s:i, s:s, s:s, s:b}", "dploc_manifest", 1, "version", dpl_version(),
                             "method", model->method, "private", !model->not_private);
    if (all == NULL || root == NULL) {
        json_decref(all);
        json_decref(root);
        return NULL;
    }
    if (model->not_private) json_object_set_new(root, "warning", json_string(NOT_PRIVATE));
    if (json_object_get(options, "seed"))
        json_object_set(root, "seed", json_object_get(options, "seed"));
    for (size_t i = 0; i < sizeof PROMISE / sizeof *PROMISE; i++) {
        json_t *value = json_object_get(model->certificate, PROMISE[i]);
        if (value != NULL) json_object_set(all, PROMISE[i], value);
    }
    json_object_set_new(all, "method", json_string(model->method));
    add_public(all, model->options);
    add_area(all, &model->grid.area);
    add_public(all, options);
    json_object_set_new(root, "options", all);
    return root;
}

/* ---- side files ---- */

static enum dpl_status write_json(struct dpl_run *run, struct dpl_file *file, json_t *object) {
    char *text = object != NULL ? json_dumps(object, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    if (text == NULL) return no_memory(run);
    enum dpl_status status = dpl_file_write(file, text, strlen(text));
    free(text);
    return status == DPL_OK ? dpl_file_write(file, "\n", 1) : status;
}

static enum dpl_status create_side(struct dpl_run *run, const char *path, const char *suffix,
                                   bool overwrite, struct dpl_file **file) {
    char *name = beside(run, path, suffix);
    if (name == NULL) return DPL_SYSTEM;
    enum dpl_status status =
        dpl_file_create(run, name, &(struct dpl_file_options){.overwrite = overwrite}, file);
    dpl_free(name);
    return status;
}

enum dpl_status dpl_sides_create(struct dpl_run *run, const struct dpl_model *model,
                                 json_t *manifest, const char *path, bool overwrite,
                                 struct dpl_sides **made) {
    enum dpl_status status;
    struct dpl_sides *sides = dpl_alloc(run, 1, sizeof *sides);
    if (sides == NULL) return DPL_SYSTEM;
    sides->run = run;
    DPL_GO(create_side(run, path, CERTIFICATE, overwrite, &sides->file[0]));
    DPL_GO(write_json(run, sides->file[0], model->certificate));
    DPL_GO(create_side(run, path, MANIFEST, overwrite, &sides->file[1]));
    DPL_GO(write_json(run, sides->file[1], manifest));
    if (model->not_private) {
        DPL_GO(create_side(run, path, STAMP, overwrite, &sides->file[2]));
        DPL_GO(dpl_file_print(
            sides->file[2],
            "%s\nDo not publish the trips of this name, nor anything made of them.\n",
            NOT_PRIVATE));
        dpl_note(run, "%s; %s%s says so", NOT_PRIVATE, path, STAMP);
    } else if (overwrite && (sides->stale = beside(run, path, STAMP)) == NULL) {
        status = DPL_SYSTEM;
        goto done;
    }
    *made = sides;
    sides = NULL;
done:
    dpl_sides_abort(sides);
    return status;
}

enum dpl_status dpl_sides_commit(struct dpl_sides *sides) {
    enum dpl_status status = DPL_OK;
    for (size_t i = SIDES; i-- > 0 && status == DPL_OK;) { // the warning first
        struct dpl_file *file = sides->file[i];
        sides->file[i] = NULL;
        if (file != NULL) status = dpl_file_commit(file);
    }
    if (status == DPL_OK && sides->stale != NULL && unlink(sides->stale) != 0 && errno != ENOENT)
        status = dpl_fail_errno(sides->run, DPL_SYSTEM,
                                "%s: cannot remove this warning of an older release", sides->stale);
    dpl_sides_abort(sides);
    return status;
}

void dpl_sides_abort(struct dpl_sides *sides) {
    if (sides == NULL) return;
    for (size_t i = 0; i < SIDES; i++) dpl_file_abort(sides->file[i]);
    dpl_free(sides->stale);
    dpl_free(sides);
}

/* ---- the release directory ---- */

static enum dpl_status refuse_existing(struct dpl_run *run, const char *path) {
    return dpl_fail(run, DPL_USAGE, "%s exists already (use --force to overwrite it)", path);
}

enum dpl_status dpl_sides_check(struct dpl_run *run, const char *path, bool overwrite) {
    const char *const suffix[] = {"", CERTIFICATE, MANIFEST};
    for (size_t i = 0; !overwrite && i < sizeof suffix / sizeof *suffix; i++) {
        char *name = beside(run, path, suffix[i]);
        if (name == NULL) return DPL_SYSTEM;
        enum dpl_status status = access(name, F_OK) == 0 ? refuse_existing(run, name) : DPL_OK;
        dpl_free(name);
        DPL_TRY(status);
    }
    return DPL_OK;
}

enum dpl_status dpl_publish_directory(struct dpl_run *run, const char *directory, bool overwrite) {
    return !overwrite && access(directory, F_OK) == 0 ? refuse_existing(run, directory) : DPL_OK;
}

enum dpl_status dpl_publish_check(struct dpl_run *run, const struct dpl_model *model) {
    // PRIVACY: the directory is for the public; nothing without noise gets there by mistake.
    if (!model->not_private) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED,
                    "this model is NOT PRIVATE (no noise, or noise from a seed), and --release is "
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
    while (status == DPL_OK && (got = read(in, bytes, sizeof bytes)) > 0)
        for (ssize_t done = 0, put; done < got && status == DPL_OK; done += put) {
            put = write(out, bytes + done, (size_t)(got - done));
            if (put < 0) status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot write", to);
        }
    if (status == DPL_OK && (got < 0 || fsync(out) != 0))
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be copied to %s", from, to);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return status;
}

/* One file into the directory, by a second name of the same file where that is possible. */
static enum dpl_status collect(struct dpl_run *run, const char *path, const char *suffix,
                               const char *directory) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char *from = beside(run, path, suffix), *to = NULL;
    size_t size = strlen(directory) + strlen(name) + strlen(suffix) + 2;
    enum dpl_status status = DPL_SYSTEM;
    if (from == NULL || (to = dpl_alloc(run, size, 1)) == NULL) goto done;
    snprintf(to, size, "%s/%s%s", directory, name, suffix);
    status = link(from, to) == 0 ? DPL_OK : copy_bytes(run, from, to);
done:
    dpl_free(to);
    dpl_free(from);
    return status;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where) {
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static void remove_directory(const char *path) { nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

/* The directory made aside takes the name; an older one is moved away first and removed afterwards.
 */
static enum dpl_status take_name(struct dpl_run *run, const char *aside, const char *directory,
                                 bool overwrite) {
    char *old = NULL;
    if (overwrite && access(directory, F_OK) == 0) {
        old = beside(run, aside, "-old");
        if (old == NULL) return DPL_SYSTEM;
        if (rename(directory, old) != 0) {
            dpl_free(old);
            return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot be replaced", directory);
        }
    }
    enum dpl_status status = DPL_OK;
    if (rename(aside, directory) != 0)
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot rename to it", directory);
    if (old != NULL && status == DPL_OK) remove_directory(old);
    dpl_free(old);
    return status;
}

enum dpl_status dpl_publish(struct dpl_run *run, const char *path, const char *model_path,
                            const char *directory, bool overwrite) {
    enum dpl_status status;
    char suffix[32];
    size_t length = strlen(directory);
    while (length > 1 && directory[length - 1] == '/') length--; // DIR/ is DIR
    char *name = dpl_alloc(run, length + 1, 1), *aside = NULL;
    if (name == NULL) return DPL_SYSTEM;
    memcpy(name, directory, length);
    snprintf(suffix, sizeof suffix, ".part-%ld", (long)getpid());
    if ((aside = beside(run, name, suffix)) == NULL) {
        dpl_free(name);
        return DPL_SYSTEM;
    }
    if (mkdir(aside, 0777) != 0) {
        status = dpl_fail_errno(
            run, DPL_SYSTEM,
            "%s: cannot make this directory (the release is put together aside first)", aside);
        goto done;
    }
    status = collect(run, path, "", aside);
    if (status == DPL_OK) status = collect(run, path, CERTIFICATE, aside);
    if (status == DPL_OK) status = collect(run, path, MANIFEST, aside);
    if (status == DPL_OK && model_path != NULL) status = collect(run, model_path, "", aside);
    if (status == DPL_OK) status = take_name(run, aside, name, overwrite);
    if (status != DPL_OK) remove_directory(aside);
done:
    dpl_free(aside);
    dpl_free(name);
    return status;
}
