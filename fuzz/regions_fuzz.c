/* Tables of regions: any text; what is found can be made into a grid or is refused with a reason.
 * Likewise names of regions that the program knows: the text's first bytes. */
#include "fuzz.h"

#include <string.h>

#include "base/base.h"

static void ask_for(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    struct dpl_area area = dpl_area_defaults();
    char name[80];
    snprintf(name, sizeof name, "%.*s", (int)(length < 70 ? length : 70), (const char *)bytes);
    name[strcspn(name, "\n")] = '\0';
    enum dpl_status status = dpl_area_preset(run, name, &area);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    dpl_run_begin(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = fuzz_run();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    ask_for(run, bytes, length);
    enum dpl_status status = dpl_area_from_file(run, fuzz_file(bytes, length), "town", &area);
    if (status == DPL_OK) status = dpl_grid_make(run, &area, &grid);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    if (status == DPL_OK && dpl_grid_cells(&grid) < 1) abort();
    dpl_run_free(run);
    return 0;
}
