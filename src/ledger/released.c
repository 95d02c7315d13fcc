/* Are trips, manifest and certificate of one making?
 *
 *     PATH.manifest.json   sha256 --------------> PATH
 *                          certificate_sha256 --> PATH.certificate.json
 *
 * A certificate alone proves nothing about the file beside it. Whoever can write all three can make
 * them fit: this is against mix-ups and crashes, not against forgers. */
#include <string.h>

#include "base/bundle.h"

static void reason(struct dpl_verdict *verdict, const char *path, const char *why) {
    verdict->valid = false;
    if (verdict->n_reasons == DPL_REASONS) return;
    snprintf(verdict->reasons[verdict->n_reasons++], DPL_REASON_SIZE, "%.100s: %s", path, why);
}

static enum dpl_status check_digest(struct dpl_run *run, const char *path, json_t *digest,
                                    struct dpl_verdict *verdict) {
    bool matches = false;
    DPL_TRY(dpl_file_matches(run, path, digest, &matches));
    if (!json_is_string(digest))
        reason(verdict, path, "its manifest has no digest of it; it is older, or was edited");
    else if (!matches)
        reason(verdict, path,
               "it is not the file that its manifest names: it was changed, or is of another run");
    return DPL_OK;
}

enum dpl_status dpl_released_verify(struct dpl_run *run, const char *path, const char *certificate,
                                    struct dpl_verdict *verdict) {
    json_t *manifest = NULL;
    char *beside = NULL;
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_GO(dpl_manifest_read(run, path, &manifest));
    if (!manifest) {
        reason(verdict, path, "there is no manifest beside it that could name its digest");
        goto done;
    }
    if (!certificate) {
        status = DPL_SYSTEM;
        certificate = beside = dpl_side_path(run, path, DPL_SIDE_CERTIFICATE);
        if (!beside) goto done;
    }
    DPL_GO(check_digest(run, path, json_object_get(manifest, "sha256"), verdict));
    DPL_GO(
        check_digest(run, certificate, json_object_get(manifest, "certificate_sha256"), verdict));
done:
    dpl_free(beside);
    json_decref(manifest);
    return status;
}
