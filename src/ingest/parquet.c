/* Parquet: one point a row, columns by their names as in csv. What is parsed here is what
 * ingest/parquet_lines.c makes of the file: lines of text. */
#include "ingest/format.h"

static bool named(const char *base) {
    return dpl_name_ends(base, ".parquet") || dpl_name_ends(base, ".pq") ||
           dpl_name_ends(base, ".geoparquet");
}

static enum dpl_status open_layout(const struct opening *opening, struct layout *layout) {
    if (!opening->schema)
        return dpl_fail(opening->run, DPL_BAD_DATA,
                        "%s: is not a Parquet file, or lies in an archive (unpack it first)",
                        opening->name);
    if (opening->options->columns)
        return dpl_fail(opening->run, DPL_USAGE,
                        "%s: `read.columns` is for tables without a header, and Parquet's columns "
                        "have names (use `read.trip_column` and its like)",
                        opening->name);
    return DPL_FORMAT_CSV.open(opening, layout);
}

static enum dpl_status parse(struct block *block) { return DPL_FORMAT_CSV.parse(block); }

const struct format DPL_FORMAT_PARQUET = {.name = "parquet",
                                          .about = "Parquet, a point a row, by DuckDB's library",
                                          .table = true,
                                          .schema = true,
                                          .header_lines = 1,
                                          .named = named,
                                          .open = open_layout,
                                          .parse = parse};
