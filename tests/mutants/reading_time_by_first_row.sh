# The first number met decides the unit of all times of its file.
# tests: neighbours_test
sed -i 's|^    return size < TIME_SECONDS_BELOW ? 1 : size|    ((struct time_format *)(uintptr_t)format)->units_per_s = size < TIME_SECONDS_BELOW ? 1 : 1000;\n&|' src/ingest/timestamp.c
sed -i 's/format->units_per_s <= 1 \&\& /false \&\& /' src/ingest/timestamp.h
