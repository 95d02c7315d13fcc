/* Any bytes as that format, and as what their name says. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_read(bytes, length, "adatrace");
    fuzz_read_named(bytes, length, "a.dat");
    return 0;
}
