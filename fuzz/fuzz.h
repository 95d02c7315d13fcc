/* A fuzz target: gets any bytes, must come back, whatever they are. */
#ifndef DPL_FUZZ_H
#define DPL_FUZZ_H

#include <dploc.h>
#include <dploc_data.h>
#include <dploc_privacy.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Reads the bytes as a file with these options, strictly or not, with times needed or not, as a
 * byte in their middle says; aborts on anything but a clean success or a failure with a message. */
static inline void fuzz_read_with(const uint8_t *bytes, size_t length,
                                  struct dpl_read_options options) {
    char path[64];
    int fd = memfd_create("fuzz", 0), mode = length ? bytes[length / 2] : 0;
    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const char *inputs[] = {path};
    struct dpl_run_options run_options = dpl_run_defaults();
    run_options.threads = 1;
    struct dpl_run *run = dpl_run_new(&run_options);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_cleaned *trips = NULL;
    options.strict = mode & 1;
    options.time_optional = mode & 2;
    options.memory_bytes = 4096;
    if (dpl_area_preset(run, "simulated", &area) != DPL_OK) abort();
    enum dpl_status status = dpl_cleaned_read(run, inputs, 1, &options, &area, &trips, NULL);
    if ((status == DPL_OK) != (trips != NULL)) abort();
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    for (size_t i = 0; trips && i < trips->n_visits; i++)
        if (trips->cell[i] < 0 || trips->cell[i] >= dpl_grid_cells(&trips->grid)) abort();
    dpl_cleaned_free(trips);
    dpl_run_free(run);
    close(fd);
}

static inline void fuzz_read(const uint8_t *bytes, size_t length, const char *format) {
    struct dpl_read_options options = dpl_read_defaults();
    options.format = format;
    fuzz_read_with(bytes, length, options);
}

#endif
