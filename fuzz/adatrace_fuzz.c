/* Any bytes as that format, as what their name says, as what their first lines look like, or with
 * the order of columns told; which of these, is in a byte a third of the way. */
#include "fuzz.h"

static void read_columns(const uint8_t *bytes, size_t length, int which) {
    static const char *const COLUMNS[] = {"lon,lat", "lat,lon", "lat,time"};
    struct dpl_read_options options = dpl_read_defaults();
    options.format = "adatrace";
    options.columns = COLUMNS[which];
    fuzz_read_with(bytes, length, options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const int way = length ? bytes[length / 3] % 8 : 0;
    if (way < 2) fuzz_read(bytes, length, "adatrace");
    if (way == 2 || way == 3) fuzz_read_named(bytes, length, "a.dat");
    if (way == 4) fuzz_read_guessed(bytes, length);
    if (way > 4) read_columns(bytes, length, way - 5);
    return 0;
}
