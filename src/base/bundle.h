/* A file of trips or a model, and the files that stand beside it and speak of it: they are replaced
 * in an order that never lets a certificate stand beside what it was not made with.
 *
 *     all complete and flushed, aside | old PATH removed | files beside | PATH
 *
 * A process that ends at a bar leaves: the old set; no PATH; no PATH; the new set. PATH without its
 * old or new companions does not occur, nor PATH with the companions of another. */
#ifndef DPL_BASE_BUNDLE_H
#define DPL_BASE_BUNDLE_H

#include <jansson.h>

#include "base/file.h"

/* What may stand beside PATH, in the order in which it appears there. */
enum dpl_side {
    DPL_SIDE_NOT_PRIVATE, /* PATH.NOT-PRIVATE.txt: a warning */
    DPL_SIDE_PRIVATE,     /* PATH.PRIVATE.json: for the data holder alone, mode 0600 */
    DPL_SIDE_MANIFEST,    /* PATH.manifest.json: public options, and the digests of the set */
    DPL_SIDE_CERTIFICATE, /* PATH.certificate.json */
    DPL_SIDES
};

/* The text that a warning begins with. */
#define DPL_NOT_PRIVATE "NOT PRIVATE: made without noise, or with noise that a seed gives away"

/* PATH with the ending of that side; caller frees with dpl_free. NULL: no memory. */
char *dpl_side_path(struct dpl_run *run, const char *path, enum dpl_side side);
/* Whether PATH and the given sides may be written. A PATH that is there is known by the text `mark`
 * among its first bytes or, when that is NULL, by the digest in the manifest beside it. */
enum dpl_status dpl_bundle_check(struct dpl_run *run, const char *path, bool overwrite,
                                 const char *mark, const enum dpl_side *side, size_t n);
enum dpl_status dpl_side_check(struct dpl_run *run, const char *path, enum dpl_side side,
                               bool overwrite);
/* Writes one side alone. */
enum dpl_status dpl_side_write(struct dpl_run *run, const char *path, enum dpl_side side,
                               bool overwrite, const char *text);

struct dpl_bundle;
/* Opens PATH for writing, aside, with the check above. Ends with dpl_bundle_commit or
 * dpl_bundle_abort. */
enum dpl_status dpl_bundle_open(struct dpl_run *run, const char *path, bool overwrite,
                                const char *mark, struct dpl_bundle **bundle);
/* The file behind PATH; borrowed. */
struct dpl_file *dpl_bundle_file(struct dpl_bundle *bundle);
/* A file to stand beside it, written aside. */
enum dpl_status dpl_bundle_add(struct dpl_bundle *bundle, enum dpl_side side, const char *text);
/* The manifest, once PATH and the certificate are written: adds "sha256" of PATH and
 * "certificate_sha256", both of the bytes as they stand in the files. */
enum dpl_status dpl_bundle_add_manifest(struct dpl_bundle *bundle, json_t *manifest);
/* This side of an older set goes with it. */
void dpl_bundle_drop(struct dpl_bundle *bundle, enum dpl_side side);
/* Everything appears, in order. On failure the old set stays, or nothing of either does. Frees. */
enum dpl_status dpl_bundle_commit(struct dpl_bundle *bundle);
/* NULL is allowed. */
void dpl_bundle_abort(struct dpl_bundle *bundle);

/* The manifest beside PATH. *manifest is NULL when there is none that this program could have
 * written. */
enum dpl_status dpl_manifest_read(struct dpl_run *run, const char *path, json_t **manifest);
/* Whether a file has the SHA-256 that stands as a text in `digest` (anything else: no). */
enum dpl_status dpl_file_matches(struct dpl_run *run, const char *path, json_t *digest,
                                 bool *matches);
/* dpl_file_ours of trips: their manifest stands beside them and has their digest. */
enum dpl_status dpl_bundle_ours(struct dpl_run *run, const char *path, bool *ours);

#endif
