/* Tables: any bytes, as the header line says, or with options that say more; which ones, is in a
 * byte a third of the way. */
#include "fuzz.h"

enum { MIXES = 14 };

static struct dpl_read_options mix(unsigned number) {
    struct dpl_read_options options = dpl_read_defaults();
    options.format = "csv";
    switch (number % MIXES) {
    case 0: options.columns = "user,time,lon,lat"; break;
    case 1: options.columns = "trip,time,lat,lon,-", options.separator = "tab"; break;
    case 2: options.time_format = "%d/%m/%Y %H:%M:%S"; break;
    case 3: options.time_format = "%Y-%j %I.%M.%S %p %z"; break;
    case 4: options.time_unit = "ms", options.positions = true; break;
    case 5: options.time_unit = "ns", options.drop_points = true; break;
    case 6: options.coordinates = "e7", options.keep_too_fast = true; break;
    case 7: options.coordinates = "EPSG:3857"; break;
    case 8: options.coordinates = "EPSG:32632", options.need_users = true; break;
    case 9: options.date_column = "date", options.time_column = "time"; break;
    case 10: options.lat_column = options.lon_column = "point"; break;
    case 11: options.guess = true, options.dates = "2025-03-03..2025-03-16"; break;
    default: break;
    }
    return options;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    fuzz_read_with(bytes, length, mix(length ? bytes[length / 3] : 0));
    return 0;
}
