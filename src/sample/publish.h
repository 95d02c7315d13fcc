/* What stands beside a file of synthetic trips: certificate, manifest, and a warning when it is not
 * private; and the directory of what may be published. CLI.md says what each holds. PRIVACY: all of
 * it follows from the released model and from public options on a closed list. */
#ifndef DPL_SAMPLE_PUBLISH_H
#define DPL_SAMPLE_PUBLISH_H

#include "base/file.h"
#include "model/model.h"

/* The manifest: version, method, seed and public options under the names of the command line, so
 * that it is a --config for another run. `options` are the sampling's own and win over the model's.
 * NULL when memory is short. */
json_t *dpl_manifest(const struct dpl_model *model, json_t *options);

struct dpl_sides;
/* Writes certificate, manifest and, for a model that is not private, the warning, all aside;
 * "PATH.certificate.json" and so on. They appear with dpl_sides_commit, or not at all after
 * dpl_sides_abort. Both free. */
enum dpl_status dpl_sides_create(struct dpl_run *run, const struct dpl_model *model,
                                 json_t *manifest, const char *path, bool overwrite,
                                 struct dpl_sides **sides);
enum dpl_status dpl_sides_commit(struct dpl_sides *sides);
void dpl_sides_abort(struct dpl_sides *sides);

/* Refuses (without `overwrite`) when PATH or one of its side files is there already. */
enum dpl_status dpl_sides_check(struct dpl_run *run, const char *path, bool overwrite);

/* Refuses (without `overwrite`) a directory that is there already. */
enum dpl_status dpl_publish_directory(struct dpl_run *run, const char *directory, bool overwrite);
/* Refuses a model that is not private. */
enum dpl_status dpl_publish_check(struct dpl_run *run, const struct dpl_model *model);
/* Puts what may be published into a new directory: the trips, their certificate and manifest, and
 * the model when there is a file of it (NULL: there is none). Appears whole or not at all. */
enum dpl_status dpl_publish(struct dpl_run *run, const char *path, const char *model_path,
                            const char *directory, bool overwrite);

#endif
