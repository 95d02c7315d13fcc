/* Tables of regions: any text; what is found can be made into a grid or is refused with a reason.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    char path[64];
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum dpl_status status = dpl_area_from_file(run, path, "town", &area);
    if (status == DPL_OK) status = dpl_grid_make(run, &area, &grid);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    if (status == DPL_OK && dpl_grid_cells(&grid) < 1) abort();
    dpl_run_free(run);
    close(fd);
    return 0;
}
