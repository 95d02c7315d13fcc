# The first number met decides the unit of all times.
# tests: neighbours_test
sed -i 's|^    if (format->units_per_s) return format->units_per_s;|    static int64_t first;\n    if (format->units_per_s \|\| first) return first ? first : format->units_per_s;\n    return first = size < TIME_SECONDS_BELOW ? 1 : 1000;|' src/ingest/timestamp.c
sed -i 's/format->units_per_s <= 1 \&\& /false \&\& /' src/ingest/timestamp.h
