/* datapackage.json: what the files of a released directory are, for programs (Data Package, v2):
 * each file with its size and SHA-256, the columns of tables, the licence, the promise and the
 * digest of the certificate.
 * PRIVACY: made from the released model, the files beside it and public options. */
#ifndef DPL_SAMPLE_DATAPACKAGE_H
#define DPL_SAMPLE_DATAPACKAGE_H

#include "model/model.h"
#include "write/writer.h"

#define DPL_DATAPACKAGE "datapackage.json"

/* A package without files yet; NULL: no memory. `license` may be NULL: none is given. */
json_t *dpl_package_new(const struct dpl_model *model, const char *name, const char *title,
                        const char *license);
/* A file of the directory. `fields`, which is stolen, are the columns of a table; NULL: no table.
 */
enum dpl_status dpl_package_add(struct dpl_run *run, json_t *package, const char *directory,
                                const char *file, const char *name, const char *media,
                                json_t *fields);
/* One column; `format` may be NULL. */
json_t *dpl_package_field(const char *name, const char *type, const char *format,
                          const char *about);
/* The columns of trips as that layout writes them; NULL: it is no table. */
json_t *dpl_package_trips(const struct dpl_writer *writer, const struct dpl_sheet *sheet);
/* Writes it into the directory. */
enum dpl_status dpl_package_write(struct dpl_run *run, json_t *package, const char *directory);
/* Whether the directory may be made, or (with `overwrite`) replaced: every file in it must be one
 * that its package names, unchanged. */
enum dpl_status dpl_package_check_directory(struct dpl_run *run, const char *directory,
                                            bool overwrite, bool *there);
/* Removes the directory's files, and then it: those that its package names, unchanged, or `all`. */
void dpl_package_remove(struct dpl_run *run, const char *directory, bool all);
/* Whether such a file is one that this program wrote, unchanged. */
enum dpl_status dpl_package_ours(struct dpl_run *run, const char *path, bool *ours);

#endif
