/* Any bytes as that format, as what their name says, or as what their first lines look like; which
 * of these, is in a byte a third of the way. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const int way = length ? bytes[length / 3] % 4 : 0;
    if (way < 2) fuzz_read(bytes, length, "cabspotting");
    if (way == 2) fuzz_read_named(bytes, length, "new_abc.txt");
    if (way == 3) fuzz_read_guessed(bytes, length);
    return 0;
}
