/* Archives and detection: any bytes as a file of unknown format, under names that say how it is
 * packed, as one of several in a folder, and through standard input; which of these, is in a byte a
 * third of the way. */
#include "fuzz.h"

#include "clean/clean.h"
#include "ingest/ingest.h"

static const char *const NAMES[] = {"a.zip",     "a.tar",     "a.tgz",     "a.csv.gz",   "a.txz",
                                    "a.csv.zst", "a.csv.bz2", "a.geojson", "new_abc.txt"};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES, FOLDER = N_NAMES, STANDARD_INPUT, AS_IT_IS, WAYS };

/* Lines and files as short as fuzzers have them are long for these limits. */
static void read_in_small(const char *input, struct dpl_read_options options) {
    static const struct ingest_limits LIMITS = {.line_bytes = 200, .member_bytes = 1000};
    struct dpl_run *run = fuzz_run();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_read_facts *facts = calloc(1, sizeof *facts);
    struct cleaner *cleaner = NULL;
    options.memory_bytes = 4096;
    if (!facts || dpl_area_preset(run, "simulated", &area) != DPL_OK ||
        dpl_grid_make(run, &area, &grid) != DPL_OK ||
        dpl_cleaner_new(run, &grid, &options, facts, &cleaner) != DPL_OK)
        abort();
    enum dpl_status status = dpl_ingest_read(run, &input, 1, &options, &LIMITS, area.zone,
                                             dpl_cleaner_sink(cleaner), NULL, facts);
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    dpl_cleaned_free(dpl_cleaner_take_trips(cleaner));
    dpl_cleaner_free(cleaner);
    free(facts);
    dpl_run_free(run);
}

static const char *folder_of(const uint8_t *bytes, size_t length) {
    for (int i = 0; i < N_NAMES; i++) fuzz_named(bytes, length, NAMES[i]);
    fuzz_named(bytes, length, ".hidden");
    return fuzz_names.folder;
}

static const char *standard_input(const uint8_t *bytes, size_t length) {
    if (!freopen(fuzz_file(bytes, length), "r", stdin)) abort();
    return "-";
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const int way = length ? bytes[length / 3] % WAYS : AS_IT_IS,
              mode = length ? bytes[length / 2] : 0;
    struct dpl_read_options options = dpl_read_defaults();
    const char *input = fuzz_file(bytes, length);
    setenv("TMPDIR", fuzz_folder(), 1);
    if (way == FOLDER) input = folder_of(bytes, length);
    if (way == STANDARD_INPUT) input = standard_input(bytes, length);
    if (way < N_NAMES) input = fuzz_named(bytes, length, NAMES[way]);
    options.guess = mode & 4;
    if (mode & 8) {
        fuzz_read_input(input, mode, options);
        return 0;
    }
    options.strict = mode & 1, options.time_optional = mode & 2;
    options.need_trips = mode & 16, options.need_users = mode & 32;
    read_in_small(input, options);
    return 0;
}
