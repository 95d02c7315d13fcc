/* Certificates: any text. A verdict never says valid without a finite epsilon of its own. */
#include "fuzz.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_verdict verdict = {0};
    const char *text = (const char *)bytes;
    char *summary = NULL;
    enum dpl_status status = dpl_certificate_verify(run, text, length, &verdict);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    if (status == DPL_OK && verdict.valid && !(isfinite(verdict.epsilon) && verdict.epsilon >= 0))
        abort();
    if (status == DPL_OK && !verdict.valid && verdict.n_reasons == 0) abort();
    for (int json = 0; json < 2; json++) {
        status = dpl_certificate_summary(run, text, length, json, &summary);
        if (status == DPL_OK)
            dpl_text_free(summary);
        else if (!dpl_run_message(run)[0])
            abort();
    }
    dpl_run_free(run);
    return 0;
}
