/* See table.h. */
#include "ingest/table.h"

#include <math.h>

#include "base/options.h"
#include "base/trips.h"
#include "ingest/cell.h"
#include "ingest/csv.h"
#include "ingest/feeder.h"

enum { BLOCK_ROWS = 1 << 14 };
static const char NAME[] = "the table";

/* What a layout knows of a table beyond its columns' names. */
struct table {
    const struct dpl_arrow *data;
    struct column_type type[ROLES], values[ROLES]; /* by role; values: of dictionaries */
};

/* ---- opening ---- */

static enum dpl_status check_options(struct dpl_run *run, const struct dpl_read_options *options) {
    if (strcmp(options->format, "auto") != 0)
        return dpl_fail(run, DPL_USAGE, "`read.format` %.32s is for files; a table needs none",
                        options->format);
    if (options->columns || options->separator)
        return dpl_fail(run, DPL_USAGE,
                        "`read.%s` is for files; the columns of a table have names, which "
                        "`read.trip_column` and its like choose from",
                        options->columns ? "columns" : "separator");
    return dpl_ingest_check_options(run, options);
}

/* The schema is one struct of named columns. */
static enum dpl_status check_schema(struct dpl_run *run, const struct ArrowSchema *schema) {
    if (!schema->format || strcmp(schema->format, "+s") != 0)
        return dpl_fail(run, DPL_BAD_DATA, "what was given is not a table with named columns");
    if (schema->n_children < 0 || (schema->n_children > 0 && !schema->children))
        return dpl_fail(run, DPL_BAD_DATA, "the table's schema is damaged");
    if (schema->n_children > MAX_COLUMNS)
        return dpl_fail(run, DPL_USAGE,
                        "the table has %lld columns; select the few that are needed (at most %d)",
                        (long long)schema->n_children, MAX_COLUMNS);
    return DPL_OK;
}

static enum dpl_status unread_type(struct dpl_run *run, const struct ArrowSchema *column) {
    return dpl_fail(run, DPL_USAGE,
                    "the table's column '%.64s' has a type that is not read here (Arrow's "
                    "'%.32s'); make it text, a number or a timestamp",
                    column->name, column->format ? column->format : "");
}

/* What a column of the role may not be: a stamp is no id, a point is a text. */
static bool fits_role(const struct columns *columns, enum role role,
                      const struct column_type *type) {
    enum column_kind kind = type->values ? type->values->kind : type->kind;
    bool point = columns->role_at[columns->column_of[role]] == ROLE_POINT;
    if (point || role == ROLE_DATE) return dpl_column_is_text(type);
    return role == ROLE_TIME || kind != COLUMN_STAMP;
}

static enum dpl_status find_types(const struct opening *opening, struct layout *layout,
                                  struct table *table) {
    struct columns *columns = layout->columns;
    const struct ArrowSchema *schema = &table->data->schema;
    for (enum role role = ROLE_TRIP; role < ROLES; role++) {
        if (columns->column_of[role] < 0) continue;
        const struct ArrowSchema *column = schema->children[columns->column_of[role]];
        bool known = dpl_column_type(column, &table->type[role], &table->values[role]);
        if (known && fits_role(columns, role, &table->type[role])) continue;
        if (role != ROLE_DATE || opening->options->date_column)
            return unread_type(opening->run, column);
        columns->column_of[role] = -1; // only text needs a date from elsewhere
    }
    return DPL_OK;
}

static enum dpl_status find_columns(const struct opening *opening, const struct dpl_arrow *data,
                                    struct layout *layout) {
    struct field names[MAX_COLUMNS];
    for (int64_t i = 0; i < data->schema.n_children; i++) {
        const char *name = data->schema.children[i] ? data->schema.children[i]->name : NULL;
        if (!data->schema.children[i])
            return dpl_fail(opening->run, DPL_BAD_DATA, "the table's schema is damaged");
        names[i] = (struct field){name ? name : "", name ? strlen(name) : 0};
    }
    struct table *table = dpl_arena_take(opening->run, opening->arena, sizeof *table);
    if (!table) return DPL_SYSTEM;
    table->data = data;
    layout->table = table;
    DPL_TRY(dpl_csv_open_names(opening, names, (int)data->schema.n_children, layout));
    return find_types(opening, layout, table);
}

/* Views of all columns that have a role, for some rows of a chunk. */
static enum dpl_status make_views(struct dpl_run *run, const struct layout *layout,
                                  const struct table_rows *rows, struct column_view view[ROLES]) {
    const struct table *table = layout->table;
    const struct ArrowArray *chunk = &table->data->chunk[rows->chunk];
    for (enum role role = ROLE_TRIP; role < ROLES; role++) {
        int column = layout->columns->column_of[role];
        if (column < 0) continue;
        DPL_TRY(dpl_column_view(run, layout->columns->name[column], &table->type[role],
                                chunk->children[column], chunk->offset + rows->first, rows->n,
                                &view[role]));
    }
    return DPL_OK;
}

static enum dpl_status check_chunk(struct dpl_run *run, const struct layout *layout, size_t i) {
    const struct dpl_arrow *data = layout->table->data;
    const struct ArrowArray *chunk = &data->chunk[i];
    struct column_view view[ROLES];
    bool damaged = chunk->n_children != data->schema.n_children || chunk->offset < 0 ||
                   chunk->offset > INT64_MAX - chunk->length || chunk->n_buffers != 1 ||
                   (chunk->n_children && !chunk->children) ||
                   (chunk->null_count > 0 && (!chunk->buffers || !chunk->buffers[0]));
    if (damaged)
        return dpl_fail(run, DPL_BAD_DATA, "chunk %zu of the table does not fit its schema", i);
    return make_views(run, layout, &(struct table_rows){i, 0, chunk->length}, view);
}

static enum dpl_status parse(struct block *block);

static const struct format FORMAT = {.name = "table", .parse = parse};

enum dpl_status dpl_table_feeder_open(struct dpl_run *run, const struct dpl_arrow *table,
                                      const struct dpl_read_options *options,
                                      const struct dpl_zone *zone, struct table_feeder *feeder) {
    *feeder = (struct table_feeder){.run = run, .table = table};
    DPL_TRY(check_options(run, options));
    DPL_TRY(check_schema(run, &table->schema));
    const struct opening opening = {
        .run = run, .arena = &feeder->arena, .options = options, .zone = zone, .name = NAME};
    feeder->layout = dpl_arena_take(run, &feeder->arena, sizeof *feeder->layout);
    if (!feeder->layout) return DPL_SYSTEM;
    *feeder->layout = (struct layout){.format = &FORMAT, .member = NAME};
    DPL_TRY(find_columns(&opening, table, feeder->layout));
    DPL_TRY(dpl_units_check(run, options, feeder->layout));
    for (size_t i = 0; i < table->n_chunks; i++) DPL_TRY(check_chunk(run, feeder->layout, i));
    return DPL_OK;
}

void dpl_table_feeder_describe(const struct table_feeder *feeder, struct dpl_read_facts *facts) {
    const struct columns *columns = feeder->layout->columns;
    struct dpl_reading *reading = &facts->reading;
    facts->files = 1;
    facts->trips_cut = feeder->layout->split == SPLIT_GAPS_AND_STAYS;
    snprintf(facts->format, sizeof facts->format, "%s", FORMAT.name);
    *reading = (struct dpl_reading){.settled = true};
    for (enum role role = ROLE_TRIP; role < ROLES; role++)
        if (columns->column_of[role] >= 0)
            snprintf(reading->column[role - ROLE_TRIP], sizeof reading->column[0], "%s",
                     columns->name[columns->column_of[role]]);
    dpl_columns_list(columns, facts->columns, sizeof facts->columns);
}

/* ---- feeding ---- */

enum dpl_status dpl_table_feeder_next(struct table_feeder *feeder, struct block *block,
                                      bool *more) {
    const struct dpl_arrow *table = feeder->table;
    block->opens_member = feeder->chunk == 0 && feeder->row == 0;
    while (feeder->chunk < table->n_chunks && feeder->row == table->chunk[feeder->chunk].length)
        feeder->chunk++, feeder->row = 0;
    *more = feeder->chunk < table->n_chunks;
    if (!*more) return DPL_OK;
    int64_t left = table->chunk[feeder->chunk].length - feeder->row;
    block->table =
        (struct table_rows){feeder->chunk, feeder->row, left < BLOCK_ROWS ? left : BLOCK_ROWS};
    block->layout = feeder->layout;
    feeder->row += block->table.n;
    feeder->done_rows += (double)block->table.n;
    return DPL_OK;
}

void dpl_table_feeder_rewind(struct table_feeder *feeder) {
    feeder->chunk = 0;
    feeder->row = 0;
    feeder->done_rows = 0;
}

void dpl_table_feeder_free(struct table_feeder *feeder) { dpl_arena_free(&feeder->arena); }

/* ---- rows ---- */

/* An id that is a number, as text. Two places: the last good row's, which the next one is compared
 * with, must not be written over. */
struct id_text {
    char digits[2][CELL_ROOM];
    int spare;
    bool known; /* the good row's id is this number: */
    int64_t whole;
    struct field text;
};

/* What reading the rows of one block needs. */
struct table_reading {
    struct block *block;
    struct column_view view[ROLES];
    struct id_text id[ROLES];
};

static struct field id_of(struct id_text *id, const struct cell *cell) {
    if (cell->kind == CELL_WHOLE && id->known && id->whole == cell->whole) return id->text;
    return dpl_cell_text(cell, id->digits[id->spare]);
}

/* The row was good: its id is what the next rows are compared with. */
static void keep_id(struct id_text *id, const struct cell *cell, struct field text) {
    if (text.text == id->digits[id->spare]) id->spare = !id->spare;
    id->known = cell->kind == CELL_WHOLE;
    id->whole = cell->whole;
    id->text = text;
}

static enum dpl_reject read_time(struct table_reading *reading, const struct cell *cell,
                                 const struct cell *date, struct row *row) {
    struct block *block = reading->block;
    const struct columns *columns = block->layout->columns;
    const struct time_format *format = &columns->time;
    char room[CELL_ROOM], date_room[CELL_ROOM];
    int64_t *utc_s = &row->point.utc_s;
    *utc_s = UNTIMED_S;
    if (cell->kind == CELL_NONE) return columns->time_optional ? DPL_REJECTS : DPL_REJECT_BAD_TIME;
    if (cell->kind == CELL_MOMENT) {
        row->notation = TIME_ISO_OFFSET, *utc_s = cell->whole;
        return dpl_time_in_range(*utc_s) ? DPL_REJECTS : DPL_REJECT_TIME_OUT_OF_RANGE;
    }
    if (cell->kind == CELL_LOCAL) {
        row->notation = TIME_ISO_LOCAL;
        return dpl_csv_time_reject(dpl_time_in_zone(format, cell->whole, utc_s));
    }
    if (cell->kind == CELL_WHOLE && dpl_time_is_count(format, cell->whole))
        return dpl_csv_time_reject(dpl_time_of_count(format, cell->whole, utc_s, &row->notation));
    row->time = dpl_cell_text(cell, room);
    row->date = dpl_cell_text(date, date_room);
    return dpl_csv_read_time(block, row);
}

/* A latitude or a longitude, or both in one text. */
static enum dpl_reject read_position(enum role role, const struct cell *cell, struct row *row) {
    double *into = role == ROLE_LAT ? &row->point.lat_deg : &row->point.lon_deg;
    if (cell->kind == CELL_NONE) return DPL_REJECT_MISSING_FIELD;
    if (cell->kind == CELL_TEXT) return dpl_csv_read_field(role, cell->text, row);
    *into = cell->real;
    return DPL_REJECTS;
}

/* PRIVACY: from 2^53 on a number with a fraction stands for several whole ones: ids that a program
 * has made such numbers of, because one was missing, would join trips that are none. */
static enum dpl_reject read_id(struct table_reading *reading, enum role role,
                               const struct cell *cell, struct row *row) {
    static const double EXACT_BELOW = 9007199254740992;
    if (cell->kind == CELL_REAL && !(fabs(cell->real) < EXACT_BELOW)) return DPL_REJECT_BAD_NUMBER;
    return dpl_csv_read_field(role, id_of(&reading->id[role], cell), row);
}

/* One value into its place in the row. */
static enum dpl_reject read_cell(struct table_reading *reading, enum role role,
                                 const struct cell cell[ROLES], struct row *row) {
    const struct columns *columns = reading->block->layout->columns;
    enum role kind = columns->role_at[columns->column_of[role]];
    switch (role) {
    case ROLE_TRIP:
    case ROLE_USER: return read_id(reading, role, &cell[role], row);
    case ROLE_TIME: return read_time(reading, &cell[ROLE_TIME], &cell[ROLE_DATE], row);
    case ROLE_LAT:
    case ROLE_LON: return read_position(kind == ROLE_POINT ? kind : role, &cell[role], row);
    default: return DPL_REJECTS; // the date is read with the time
    }
}

static void reject(struct table_reading *reading, enum dpl_reject reason, enum role role,
                   const struct cell *cell) {
    const struct columns *columns = reading->block->layout->columns;
    char room[CELL_ROOM];
    dpl_block_reject(reading->block, reason, columns->name[columns->column_of[role]],
                     dpl_cell_text(cell, room));
}

/* Row i of the block; false when it was rejected. */
static bool read_row(struct table_reading *reading, int64_t i, struct cell cell[ROLES],
                     struct row *row) {
    const struct columns *columns = reading->block->layout->columns;
    enum dpl_reject reason;
    for (enum role role = ROLE_TRIP; role < ROLES; role++)
        if (columns->column_of[role] >= 0) dpl_cell_read(&reading->view[role], i, &cell[role]);
    for (enum role role = ROLE_TRIP; role < ROLES; role++) {
        if (columns->column_of[role] < 0) continue;
        reason = read_cell(reading, role, cell, row);
        if (reason == DPL_REJECTS) continue;
        reject(reading, reason, role, &cell[role]);
        return false;
    }
    reason = dpl_block_settle(reading->block, &columns->coordinates, &row->point);
    if (reason == DPL_REJECTS) return true;
    enum role role = reason == DPL_REJECT_BAD_LONGITUDE ? ROLE_LON : ROLE_LAT;
    reject(reading, reason, role, &cell[role]);
    return false;
}

/* Whether the chunk itself says that it has no such row. */
static bool is_missing(const struct block *block, int64_t i) {
    const struct ArrowArray *chunk = &block->layout->table->data->chunk[block->table.chunk];
    const uint8_t *bits = chunk->buffers ? chunk->buffers[0] : NULL;
    int64_t at = chunk->offset + block->table.first + i;
    return bits && !(bits[at >> 3] >> (at & 7) & 1);
}

static enum dpl_status parse(struct block *block) {
    struct table_reading reading = {.block = block};
    struct row row, good = {.trip = {"", 0}, .user = {"", 0}, .time = {"", 0}};
    struct cell cell[ROLES] = {{.kind = CELL_NONE}};
    DPL_TRY(make_views(block->run, block->layout, &block->table, reading.view));
    for (int64_t i = 0; i < block->table.n; i++) {
        block->line = block->lines++;
        block->rows++;
        row = good;
        if (is_missing(block, i)) {
            dpl_block_reject(block, DPL_REJECT_MISSING_FIELD, NULL, (struct field){"", 0});
            continue;
        }
        if (!read_row(&reading, i, cell, &row)) continue;
        bool same =
            block->n_groups && same_field(row.trip, good.trip) && same_field(row.user, good.user);
        DPL_TRY(dpl_csv_add_row(block, &row, &good, same, row.time));
        keep_id(&reading.id[ROLE_TRIP], &cell[ROLE_TRIP], row.trip);
        keep_id(&reading.id[ROLE_USER], &cell[ROLE_USER], row.user);
        good = row;
    }
    return DPL_OK;
}

/* ---- the public call ---- */

/* Finds out now, and not in the middle of a fit, whether the table can be read. */
static enum dpl_status try_table(struct dpl_run *run, const struct dpl_trips *trips) {
    struct table_feeder feeder;
    enum dpl_status status = dpl_table_feeder_open(run, trips->table, &trips->read, NULL, &feeder);
    dpl_table_feeder_free(&feeder);
    return status;
}

enum dpl_status dpl_trips_from_arrow(struct dpl_run *run, struct ArrowArrayStream *stream,
                                     const struct dpl_read_options *options,
                                     struct dpl_trips **made) {
    struct dpl_trips *trips = NULL;
    struct dpl_arrow *table = NULL;
    enum dpl_status status = dpl_trips_new(run, options, &trips);
    enum dpl_status taken = dpl_arrow_take(run, stream, &table); // released in any case
    if (status == DPL_OK) status = taken;
    if (status == DPL_OK) {
        trips->table = table, table = NULL;
        status = try_table(run, trips);
    }
    dpl_arrow_free(table);
    if (status == DPL_OK)
        *made = trips;
    else
        dpl_trips_free(trips);
    return status;
}
