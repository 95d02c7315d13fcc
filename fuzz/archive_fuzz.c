/* Archives and detection: any bytes as a file of unknown format. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_read(bytes, length, "auto");
    return 0;
}
