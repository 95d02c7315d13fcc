/* A fuzz target: gets any bytes, must come back, whatever they are. */
#ifndef DPL_FUZZ_H
#define DPL_FUZZ_H

#include <dploc.h>
#include <dploc_data.h>
#include <dploc_privacy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* One thread: others would start and end with every execution. */
static inline struct dpl_run *fuzz_run(void) {
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = 1;
    struct dpl_run *run = dpl_run_new(&options);
    if (!run) abort();
    return run;
}

/* Where files that need a name go: memory, if there is any. */
static inline const char *fuzz_folder(void) {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* The name of a file in memory that holds the bytes: the same file every time. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t length) {
    static char path[64];
    static int fd = -1;
    if (fd < 0) fd = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || pwrite(fd, bytes, length, 0) != (ssize_t)length) abort();
    if (ftruncate(fd, (off_t)length) != 0) abort();
    return path;
}

/* ---- names ---- */

enum { FUZZ_NAMES = 24, FUZZ_PATH = 96 };

/* A folder of other names for that file, and how many it holds. */
static struct {
    char folder[FUZZ_PATH];
    char path[FUZZ_NAMES][FUZZ_PATH];
    size_t n;
} fuzz_names;

static inline void fuzz_forget(void) {
    while (fuzz_names.n > 0) unlink(fuzz_names.path[--fuzz_names.n]);
    rmdir(fuzz_names.folder);
}

/* The file of fuzz_file under a name of its own, which may say what it is. */
static inline const char *fuzz_named(const uint8_t *bytes, size_t length, const char *name) {
    const char *file = fuzz_file(bytes, length);
    char path[2 * FUZZ_PATH];
    if (!fuzz_names.folder[0]) {
        snprintf(path, sizeof path, "%s/dploc-fuzz-XXXXXX", fuzz_folder());
        if (!mkdtemp(path)) abort();
        snprintf(fuzz_names.folder, FUZZ_PATH, "%.90s", path);
        atexit(fuzz_forget);
    }
    snprintf(path, sizeof path, "%s/%s", fuzz_names.folder, name);
    for (size_t i = 0; i < fuzz_names.n; i++)
        if (!strcmp(fuzz_names.path[i], path)) return fuzz_names.path[i];
    if (fuzz_names.n == FUZZ_NAMES || symlink(file, path) != 0) abort();
    snprintf(fuzz_names.path[fuzz_names.n], FUZZ_PATH, "%.90s", path);
    return fuzz_names.path[fuzz_names.n++];
}

/* ---- reading ---- */

/* Reads an input with these options, strictly or not, with times needed or not, as the mode says;
 * aborts on anything but a clean success or a failure with a message. */
static inline void fuzz_read_input(const char *input, int mode, struct dpl_read_options options) {
    struct dpl_run *run = fuzz_run();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_cleaned *trips = NULL;
    options.strict = mode & 1;
    options.time_optional = mode & 2;
    options.memory_bytes = 4096;
    if (dpl_area_preset(run, "simulated", &area) != DPL_OK) abort();
    enum dpl_status status = dpl_cleaned_read(run, &input, 1, &options, &area, &trips, NULL);
    if ((status == DPL_OK) != (trips != NULL)) abort();
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    for (size_t i = 0; trips && i < trips->n_visits; i++)
        if (trips->cell[i] < 0 || trips->cell[i] >= dpl_grid_cells(&trips->grid)) abort();
    dpl_cleaned_free(trips);
    dpl_run_free(run);
}

/* The bytes as a file; the mode is a byte in their middle. */
static inline void fuzz_read_with(const uint8_t *bytes, size_t length,
                                  struct dpl_read_options options) {
    fuzz_read_input(fuzz_file(bytes, length), length ? bytes[length / 2] : 0, options);
}

/* ... under that name. */
static inline void fuzz_read_named(const uint8_t *bytes, size_t length, const char *name) {
    struct dpl_read_options options = dpl_read_defaults();
    fuzz_read_input(fuzz_named(bytes, length, name), length ? bytes[length / 2] : 0, options);
}

/* ... as what its first lines look like. */
static inline void fuzz_read_guessed(const uint8_t *bytes, size_t length) {
    struct dpl_read_options options = dpl_read_defaults();
    options.guess = true;
    fuzz_read_with(bytes, length, options);
}

static inline void fuzz_read(const uint8_t *bytes, size_t length, const char *format) {
    struct dpl_read_options options = dpl_read_defaults();
    options.format = format;
    fuzz_read_with(bytes, length, options);
}

#endif
