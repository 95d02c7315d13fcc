/* Road maps: any bytes as they are, and once more as the content of a block, so that what stands
 * behind zlib and lengths is reached too. */
#include "fuzz.h"

#include <math.h>
#include <string.h>

enum { BLOCK_MAX = 1 << 20 };

static void read_map(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = fuzz_run();
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    struct dpl_roads *roads = NULL;
    const char *path = fuzz_file(bytes, length);
    area.south_deg = 47.995, area.north_deg = 48.01, area.west_deg = 11.49, area.east_deg = 11.51;
    strcpy(area.zone, "UTC");
    if (dpl_grid_make(run, &area, &grid) != DPL_OK) abort();
    enum dpl_status status = dpl_roads_read(run, path, &grid, DPL_TRAVEL_DRIVE, &roads);
    if ((status == DPL_OK) != (roads != NULL)) abort();
    if (status != DPL_OK && status != DPL_BAD_DATA) abort();
    if (status != DPL_OK && !dpl_run_message(run)[0]) abort();
    if (roads && !(dpl_roads_distance_m(roads, 48, 11.5) >= 0)) abort();
    dpl_roads_free(roads);
    dpl_run_free(run);
}

static size_t put_length(uint8_t *at, size_t value) { // always three bytes
    at[0] = (uint8_t)(value | 0x80), at[1] = (uint8_t)(value >> 7 | 0x80);
    at[2] = (uint8_t)(value >> 14);
    return 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    // An empty OSMHeader, raw; then OSMData with the bytes, raw.
    static const uint8_t BEGIN[] =
        "\0\0\0\x0D\n\x09OSMHeader\x18\x02\x0A\x00\0\0\0\x0D\n\x07OSMData\x18";
    read_map(bytes, length);
    if (length > BLOCK_MAX) return 0;
    uint8_t *block = malloc(length + 64);
    size_t at = sizeof BEGIN - 1;
    if (!block) abort();
    memcpy(block, BEGIN, at);
    at += put_length(block + at, length + 4);
    block[at++] = 0x0A; // field 1: raw
    at += put_length(block + at, length);
    memcpy(block + at, bytes, length);
    read_map(block, at + length);
    free(block);
    return 0;
}
