/* What stands beside a file of synthetic trips: certificate, manifest, and a warning when it is not
 * private; and the directory of what may be published. docs/SAMPLING.md says what each holds.
 * PRIVACY: all of it follows from the released model and from public options on a closed list. */
#ifndef DPL_SAMPLE_PUBLISH_H
#define DPL_SAMPLE_PUBLISH_H

#include "base/bundle.h"
#include "model/model.h"
#include "write/writer.h"

/* The manifest: version, method, seed and public options under the names of the command line, so
 * that it is a --config for another run. `options` are the sampling's own and win over the model's.
 * NULL when memory is short. */
json_t *dpl_manifest(const struct dpl_model *model, json_t *options);

/* What a manifest of a release says of it: {"model": NAME, "model_sha256": DIGEST}, or {} without a
 * model. NULL when memory is short or the model cannot be read (the run has the message). */
json_t *dpl_publish_names(struct dpl_run *run, const char *model_path);

/* What stands beside the trips: certificate, manifest (which gets the digests) and, for a model
 * that is not private, the warning. Both name the map that trips follow (NULL: none). For a bundle
 * whose trips are written. */
enum dpl_status dpl_sides_add(struct dpl_run *run, const struct dpl_model *model,
                              const struct dpl_roads *roads, json_t *manifest, const char *path,
                              struct dpl_bundle *bundle);
/* Whether PATH and its side files may be written. */
enum dpl_status dpl_sides_check(struct dpl_run *run, const char *path, bool overwrite);

/* Whether the directory may be made, or (with `overwrite`) replaced: every file in it must be one
 * that an earlier release put there, unchanged. */
enum dpl_status dpl_publish_directory(struct dpl_run *run, const char *directory, bool overwrite);
/* Refuses a model that is not private. */
enum dpl_status dpl_publish_check(struct dpl_run *run, bool not_private);
/* What is put into a release: a file of trips that stands with its side files, in which layout, and
 * the file of the model that they were drawn from (NULL: it is not put there). */
struct dpl_publication {
    const char *path, *model_path;
    const struct dpl_model *model;
    const struct dpl_writer *writer;
    const struct dpl_sheet *sheet;
    const char *license; /* NULL: none is given */
};
/* Puts what may be published into a new directory: the trips, their certificate and manifest, the
 * model, and a datapackage.json about them. Appears whole or not at all. */
enum dpl_status dpl_publish(struct dpl_run *run, const struct dpl_publication *publication,
                            const char *directory, bool overwrite);

#endif
