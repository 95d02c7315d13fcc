/* Certificates: any text; or one with members replaced, as the bytes behind a zero byte say, so
 * that what stands behind a right form is reached too. A verdict never says valid without a finite
 * epsilon of its own. */
#include "fuzz.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Of every other one the summary, too: as text or as JSON. */
static void summarise(struct dpl_run *run, const char *text, size_t length) {
    char *summary = NULL;
    if (dpl_certificate_summary(run, text, length, length & 2, &summary) == DPL_OK)
        dpl_text_free(summary);
    else if (!dpl_run_message(run)[0])
        abort();
}

static void look_at(const char *text, size_t length) {
    struct dpl_run *run = fuzz_run();
    struct dpl_verdict verdict = {0};
    (void)dpl_certificate_recognise(text, length);
    enum dpl_status status = dpl_certificate_verify(run, text, length, &verdict);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    if (status == DPL_OK && verdict.valid && !(isfinite(verdict.epsilon) && verdict.epsilon >= 0))
        abort();
    if (status == DPL_OK && !verdict.valid && verdict.n_reasons == 0) abort();
    if (length & 1) summarise(run, text, length);
    dpl_run_free(run);
}

/* ---- members ---- */

static const char *const VALUES[] = {"0",
                                     "-1",
                                     "1",
                                     "2",
                                     "0.5",
                                     "1e-9",
                                     "1e300",
                                     "\"infinity\"",
                                     "true",
                                     "null",
                                     "{}",
                                     "[]",
                                     "\"x\"",
                                     "\"user\"",
                                     "\"trip\"",
                                     "\"laplace\"",
                                     "false",
                                     "37",
                                     "\"declared\"",
                                     "\"local\"",
                                     "\"linear\"",
                                     "\"size\"",
                                     "200000",
                                     "\"gaussian\""};
enum { N_VALUES = sizeof VALUES / sizeof *VALUES };

/* Replaces the member with that number, in the order of all of them; false: there are fewer. */
static bool replace(json_t *json, size_t *left, const char *value) {
    const char *name;
    json_t *member;
    size_t i;
    if (json_is_array(json)) {
        json_array_foreach(json, i, member) if (replace(member, left, value)) return true;
        return false;
    }
    json_object_foreach(json, name, member) {
        if ((*left)-- == 0) {
            json_object_set_new(json, name, json_loads(value, JSON_DECODE_ANY, NULL));
            return true;
        }
        if (replace(member, left, value)) return true;
    }
    return false;
}

/* Two bytes an edit: the member, and its new value. False: there are none. */
static bool change(const uint8_t *bytes, size_t length) {
    const uint8_t *end = memchr(bytes, 0, length);
    json_t *json = end ? json_loadb((const char *)bytes, (size_t)(end - bytes), 0, NULL) : NULL;
    if (!json) return false;
    for (const uint8_t *edit = end + 1; edit + 1 < bytes + length && edit < end + 16; edit += 2) {
        size_t left = edit[0];
        replace(json, &left, VALUES[edit[1] % N_VALUES]);
    }
    char *text = json_dumps(json, 0);
    json_decref(json);
    if (text) look_at(text, strlen(text));
    free(text);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    if (!change(bytes, length)) look_at((const char *)bytes, length);
    return 0;
}
