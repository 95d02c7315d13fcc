/* Inputs and outputs of one run, compared as files and not as names: by device and inode, with
 * links resolved. What is not there yet is compared by the directory it will be in, and its name.
 *
 * Directories that are read are walked as the reader does, but hidden files included. Cost: one
 * stat per file of the inputs, when there is something that could be replaced. */
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pattern.h"

/* Where a path leads. */
struct place {
    const char *path;
    bool there, in_folder; /* whether the next lines are known */
    struct stat file;      /* links followed */
    struct stat folder;
    const char *name; /* in the folder */
};

static bool same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static struct place find_place(const char *path) {
    struct place place = {.path = path};
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    place.name = slash ? slash + 1 : path;
    if (slash && (size_t)(slash - path) < sizeof folder)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    place.there = stat(path, &place.file) == 0;
    place.in_folder = stat(folder, &place.folder) == 0;
    return place;
}

static bool same_place(const struct place *a, const struct place *b) {
    if (a->there && b->there && same_inode(&a->file, &b->file)) return true;
    if (a->in_folder && b->in_folder)
        return same_inode(&a->folder, &b->folder) && !strcmp(a->name, b->name);
    return !strcmp(a->path, b->path);
}

/* ---- what is read ---- */

struct targets {
    struct place *place; /* (n) files to be written */
    size_t n;
    char directory[PATH_MAX]; /* to be replaced, links resolved; "": none */
    const char *directory_path;
};

static bool below(const char *path, const char *directory) {
    size_t n = strlen(directory);
    return n && !strncmp(path, directory, n) && (path[n] == '/' || path[n] == '\0');
}

/* PRIVACY: a private original that is replaced is lost; and an input that changes under a run makes
 * its certificate speak of other data. */
static enum dpl_status check_input_file(struct dpl_run *run, const struct targets *targets,
                                        const char *path, const struct stat *info) {
    char resolved[PATH_MAX];
    for (size_t i = 0; i < targets->n; i++)
        if (targets->place[i].there && same_inode(info, &targets->place[i].file))
            return dpl_fail(run, DPL_USAGE,
                            "%s would be written, but it is the same file as %s, which this run "
                            "reads; choose another name",
                            targets->place[i].path, path);
    if (targets->directory[0] && realpath(path, resolved) && below(resolved, targets->directory))
        return dpl_fail(run, DPL_USAGE,
                        "%s would be replaced, but %s, which this run reads, is in it; choose "
                        "another directory",
                        targets->directory_path, path);
    return DPL_OK;
}

static enum dpl_status check_input_tree(struct dpl_run *run, const struct targets *targets,
                                        const char *path) {
    char *const roots[] = {(char *)(uintptr_t)path, NULL}; // fts wants char *, but does not write
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (!walk) return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot list the directory", path);
    enum dpl_status status = DPL_OK;
    // What cannot be listed or read is the reader's to complain about.
    for (FTSENT *entry; status == DPL_OK && (entry = fts_read(walk));)
        if (entry->fts_info == FTS_F || entry->fts_info == FTS_D)
            status = check_input_file(run, targets, entry->fts_path, entry->fts_statp);
    fts_close(walk);
    return status;
}

struct checking {
    struct dpl_run *run;
    const struct targets *targets;
};

static enum dpl_status check_input(void *state, const char *path) {
    const struct checking *checking = state;
    struct dpl_run *run = checking->run;
    const struct targets *targets = checking->targets;
    struct stat info;
    if (!strcmp(path, "-"))
        return fstat(STDIN_FILENO, &info) == 0 && S_ISREG(info.st_mode)
                   ? check_input_file(run, targets, "standard input", &info)
                   : DPL_OK;
    if (stat(path, &info) != 0) return DPL_OK;
    return S_ISDIR(info.st_mode) ? check_input_tree(run, targets, path)
                                 : check_input_file(run, targets, path, &info);
}

/* ---- what is written ---- */

/* Found here, before hours of work, and not when the file is written aside. */
static enum dpl_status check_folder(struct dpl_run *run, const struct place *place) {
    const int length = place->name > place->path ? (int)(place->name - place->path) - 1 : 0;
    if (!place->in_folder)
        return dpl_fail(run, DPL_SYSTEM,
                        "%.*s: there is no such directory, and %s is to go there (make it first)",
                        length, place->path, place->path);
    if (!S_ISDIR(place->folder.st_mode))
        return dpl_fail(run, DPL_SYSTEM, "%.*s is not a directory, and %s is to go there", length,
                        place->path, place->path);
    return DPL_OK;
}

static enum dpl_status check_outputs(struct dpl_run *run, const struct targets *targets) {
    char folder[PATH_MAX];
    for (size_t i = 0; i < targets->n; i++) {
        const struct place *one = &targets->place[i];
        DPL_TRY(check_folder(run, one));
        for (size_t k = 0; k < i; k++)
            if (same_place(one, &targets->place[k]))
                return dpl_fail(run, DPL_USAGE,
                                "%s and %s would be one file; give this run's outputs names of "
                                "their own",
                                targets->place[k].path, one->path);
        snprintf(folder, sizeof folder, "%.*s", (int)(one->name - one->path), one->path);
        char *resolved = realpath(folder[0] ? folder : ".", NULL);
        bool inside = resolved && below(resolved, targets->directory);
        free(resolved);
        if (inside)
            return dpl_fail(run, DPL_USAGE,
                            "%s lies in %s, which is replaced as a whole; choose another name",
                            one->path, targets->directory_path);
    }
    return DPL_OK;
}

enum dpl_status dpl_paths_check(struct dpl_run *run, const struct dpl_paths *paths) {
    struct targets targets = {.directory_path = paths->directory};
    enum dpl_status status;
    dpl_run_begin(run);
    targets.place = dpl_alloc(run, paths->n_outputs, sizeof *targets.place);
    if (!targets.place) return DPL_SYSTEM;
    for (; targets.n < paths->n_outputs; targets.n++)
        targets.place[targets.n] = find_place(paths->outputs[targets.n]);
    if (paths->directory && !realpath(paths->directory, targets.directory))
        targets.directory[0] = '\0'; // not there yet: nothing is in it
    DPL_GO(check_outputs(run, &targets));
    struct checking checking = {run, &targets};
    for (size_t i = 0; i < paths->n_inputs; i++)
        DPL_GO(dpl_pattern_each(run, paths->inputs[i], check_input, &checking));
done:
    dpl_free(targets.place);
    return status;
}
