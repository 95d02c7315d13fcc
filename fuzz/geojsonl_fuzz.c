/* Any bytes as that format, and as whatever they look like. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_read(bytes, length, "geojsonl");
    fuzz_read(bytes, length, "auto");
    return 0;
}
