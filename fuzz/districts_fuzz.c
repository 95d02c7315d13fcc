/* Maps of districts: any text. What is found can be asked for any place. */
#include "fuzz.h"

#include "grid/districts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = fuzz_run();
    struct dpl_districts *districts = NULL;
    enum dpl_status status = dpl_districts_read(run, fuzz_file(bytes, length), &districts);
    if ((status == DPL_OK) != (districts != NULL)) abort();
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    for (int i = 0; districts && i < 9; i++) {
        int32_t at = dpl_districts_at(districts, 47.9 + 0.05 * (i / 3), 11.4 + 0.1 * (i % 3));
        if (at < -1 || at >= (int32_t)dpl_districts_count(districts)) abort();
        if (at >= 0 && !dpl_districts_name(districts, (size_t)at)) abort();
    }
    dpl_districts_free(districts);
    dpl_run_free(run);
    return 0;
}
