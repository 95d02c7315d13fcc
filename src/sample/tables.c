/* The noised tables of a model as files. Each is written with what it is counted by (the model's
 * own description of its axes), the noised number and the deviation of its noise:
 *
 *     visits.csv               hour,cell,value,deviation
 *     visits_by_district.csv   hour,district,value,deviation      sums over the cells of a district
 *
 * A sum over n cells has noise of sqrt(n) times the deviation: noise is independent from number to
 * number.
 * PRIVACY: the released model and public polygons; nothing else is in reach. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"
#include "base/duckdb.h"
#include "base/json.h"
#include "base/options.h"
#include "grid/districts.h"
#include "model/length_bins.h"
#include "sample/datapackage.h"
#include "sample/decode.h"
#include "sample/publish.h"

enum { AXIS_NAME = 48, PATH_ROOM = 4096, QUERY_ROOM = 3 * PATH_ROOM };
static const char CSV_TYPE[] = "text/csv", PARQUET_TYPE[] = "application/vnd.apache.parquet";

/* What one index of a table means. */
struct axis {
    char name[AXIS_NAME];
    size_t n;
    bool cells;    /* it counts the model's cells */
    bool district; /* it counts districts; the last: outside of all */
    bool of_cell;  /* it counts parts of a cell: what is summed over cells has none */
    json_t *from;  /* where its bins begin; NULL: they are numbered. Borrowed */
};

struct sheet {
    const char *name; /* of the table */
    int rank;
    struct axis axis[DPL_TENSOR_RANK];
    const double *value;  /* (product of the axes) */
    const double *summed; /* (likewise) how many numbers each is the sum of; NULL: one */
    double deviation;     /* of the noise on a single number */
};

struct job {
    struct dpl_run *run;
    const struct dpl_model *model;
    const struct dpl_districts *districts; /* NULL: none */
    int32_t *district_of;                  /* (cells) -1 becomes the last */
    const char *directory;                 /* aside */
    json_t *package;
    struct duck *duck; /* NULL: no Parquet */
};

struct dpl_tables_options dpl_tables_defaults(void) {
    return (struct dpl_tables_options){.struct_size = sizeof(struct dpl_tables_options)};
}

/* ---- what tables are counted by ---- */

/* Tables that all methods share, which do not describe themselves. */
static void name_shared(const char *table, int rank, size_t i, struct axis *axis) {
    static const char *const GRID[] = {"row", "column"};
    snprintf(axis->name, AXIS_NAME, "number_%zu", i + 1);
    bool grid = !strcmp(table, "topk") || !strncmp(table, "squares", strlen("squares"));
    if (grid && rank == 2) snprintf(axis->name, AXIS_NAME, "%s", GRID[i]);
    if (!strcmp(table, "lengths") && axis->n == DPL_LENGTH_BINS)
        snprintf(axis->name, AXIS_NAME, "visits_from");
}

/* Of two axes of one name the first is where a trip begins, the second where it ends. */
static void tell_apart(struct sheet *sheet) {
    for (int i = 0; i + 1 < sheet->rank; i++) {
        char name[AXIS_NAME];
        snprintf(name, sizeof name, "%s", sheet->axis[i].name);
        if (strcmp(name, sheet->axis[i + 1].name) != 0) continue;
        snprintf(sheet->axis[i].name, AXIS_NAME, "origin_%.30s", name);
        snprintf(sheet->axis[i + 1].name, AXIS_NAME, "destination_%.30s", name);
    }
}

static void find_axes(const struct job *job, const struct dpl_tensor *tensor, json_t *about,
                      struct sheet *sheet) {
    json_t *axes = json_object_get(about, "axes");
    sheet->rank = tensor->rank;
    for (int i = 0; i < tensor->rank; i++) {
        struct axis *axis = &sheet->axis[i];
        json_t *told = json_array_get(axes, (size_t)i), *from = json_object_get(told, "from");
        const char *name = json_string_value(json_object_get(told, "name"));
        axis->n = tensor->shape[i];
        name_shared(sheet->name, tensor->rank, (size_t)i, axis);
        if (name) snprintf(axis->name, AXIS_NAME, "%s", name);
        axis->cells = !strcmp(axis->name, "cell") && axis->n == (size_t)job->model->n_cells;
        axis->of_cell = json_is_true(json_object_get(told, "of_cell"));
        axis->from = json_array_size(from) == axis->n ? from : NULL;
    }
    tell_apart(sheet);
}

/* ---- CSV ---- */

/* What stands in the column of an axis for its i-th value. */
static enum dpl_status put_label(const struct job *job, struct dpl_file *file,
                                 const struct axis *axis, size_t i) {
    if (axis->district) {
        bool outside = i + 1 == axis->n;
        return dpl_file_print(file, "\"%s\",",
                              outside ? "" : dpl_districts_name(job->districts, i));
    }
    if (axis->cells) return dpl_file_print(file, "%d,", job->model->cell[i]);
    if (axis->from)
        return dpl_file_print(file, "%.10g,", json_number_value(json_array_get(axis->from, i)));
    bool lengths = !strcmp(axis->name, "visits_from");
    if (!lengths) return dpl_file_print(file, "%zu,", i);
    return dpl_file_print(file, "%d,", i ? dpl_length_bin_top(i - 1) + 1 : dpl_length_bin_top(0));
}

static enum dpl_status put_rows(const struct job *job, const struct sheet *sheet,
                                struct dpl_file *file) {
    size_t n = 1;
    for (int a = 0; a < sheet->rank; a++) {
        n *= sheet->axis[a].n;
        DPL_TRY(dpl_file_print(file, "%s,", sheet->axis[a].name));
    }
    DPL_TRY(dpl_file_print(file, "value,deviation\n"));
    for (size_t i = 0; i < n; i++) {
        size_t below = n, rest = i;
        for (int a = 0; a < sheet->rank; a++) {
            below /= sheet->axis[a].n;
            DPL_TRY(put_label(job, file, &sheet->axis[a], rest / below));
            rest %= below;
        }
        double parts = sheet->summed ? sheet->summed[i] : 1;
        DPL_TRY(
            dpl_file_print(file, "%.10g,%.6g\n", sheet->value[i], sheet->deviation * sqrt(parts)));
    }
    return DPL_OK;
}

static json_t *fields_of(const struct sheet *sheet) {
    json_t *fields = json_array();
    for (int a = 0; a < sheet->rank; a++) {
        const struct axis *axis = &sheet->axis[a];
        const char *about = axis->district ? "a district of the public map; empty: in none of them"
                            : axis->cells  ? "a cell, as in cells.csv"
                            : axis->from   ? "where the bin begins"
                                           : "which one";
        dpl_json_append(&fields, dpl_package_field(axis->name, axis->district ? "string" : "number",
                                                   NULL, about));
    }
    dpl_json_append(&fields, dpl_package_field("value", "number", NULL,
                                               "a count with noise; it may be negative"));
    dpl_json_append(&fields, dpl_package_field("deviation", "number", NULL,
                                               "standard deviation of the noise on it"));
    return fields;
}

/* ---- files ---- */

/* The same table as Parquet, by the types that the package tells. */
static enum dpl_status add_parquet(const struct job *job, const char *stem, json_t *fields) {
    char query[QUERY_ROOM], file[256], columns[1024] = "";
    size_t i, used = 0;
    json_t *field;
    if (!job->duck || strchr(job->directory, '\'')) return DPL_OK;
    json_array_foreach(fields, i, field) {
        const char *type = json_string_value(json_object_get(field, "type"));
        used += (size_t)snprintf(columns + used, sizeof columns - used, "%s'%s': '%s'",
                                 i ? ", " : "", json_string_value(json_object_get(field, "name")),
                                 strcmp(type, "string") ? "DOUBLE" : "VARCHAR");
    }
    snprintf(query, sizeof query,
             "COPY (SELECT * FROM read_csv('%s/%s.csv', header = true, columns = {%s})) TO "
             "'%s/%s.parquet' (FORMAT parquet, COMPRESSION zstd)",
             job->directory, stem, columns, job->directory, stem);
    snprintf(file, sizeof file, "%s.parquet", stem);
    DPL_TRY(dpl_duck_do(job->run, job->duck, file, query));
    return dpl_package_add(job->run, job->package, job->directory, file, file, PARQUET_TYPE,
                           json_incref(fields));
}

/* Describes the file that was written, and adds the other form of it. */
static enum dpl_status add_table(const struct job *job, const char *stem, json_t *fields) {
    char file[256];
    snprintf(file, sizeof file, "%s.csv", stem);
    enum dpl_status status = dpl_package_add(job->run, job->package, job->directory, file, stem,
                                             CSV_TYPE, json_incref(fields));
    if (status == DPL_OK) status = add_parquet(job, stem, fields);
    json_decref(fields);
    return status;
}

static enum dpl_status create(const struct job *job, const char *stem, struct dpl_file **file) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.csv", job->directory, stem);
    return dpl_file_create(job->run, path, &(struct dpl_file_options){0}, file);
}

static enum dpl_status write_sheet(const struct job *job, const struct sheet *sheet,
                                   const char *ending) {
    char stem[128];
    struct dpl_file *file;
    snprintf(stem, sizeof stem, "%.64s%s", sheet->name, ending);
    DPL_TRY(create(job, stem, &file));
    enum dpl_status status = put_rows(job, sheet, file);
    if (status != DPL_OK) {
        dpl_file_abort(file);
        return status;
    }
    DPL_TRY(dpl_file_commit(file));
    return add_table(job, stem, fields_of(sheet));
}

/* ---- by district ---- */

/* Where number i of the table goes in the sums. */
static size_t sum_of(const struct job *job, const struct sheet *sheet, const struct sheet *sums,
                     size_t n, size_t i) {
    size_t at = 0, below = n, rest = i;
    for (int a = 0; a < sheet->rank; a++) {
        below /= sheet->axis[a].n;
        size_t index = rest / below;
        rest %= below;
        if (sheet->axis[a].cells) index = (size_t)job->district_of[index];
        at = at * sums->axis[a].n + index;
    }
    return at;
}

static enum dpl_status write_sums(const struct job *job, const struct sheet *sheet) {
    struct sheet sums = *sheet;
    size_t n = 1, n_sums = 1;
    bool cells = false;
    for (int a = 0; a < sheet->rank; a++) {
        struct axis *axis = &sums.axis[a];
        n *= axis->n;
        if (axis->cells) {
            const char *cell = strstr(axis->name, "cell");
            snprintf(axis->name + (cell - axis->name), 9, "district");
            axis->n = dpl_districts_count(job->districts) + 1;
            axis->district = cells = true, axis->cells = false;
        }
        if (axis->of_cell) return DPL_OK;
        n_sums *= axis->n;
    }
    if (!cells) return DPL_OK;
    double *value, *summed;
    void *block = DPL_BLOCK(job->run, DPL_PIECE(value, n_sums), DPL_PIECE(summed, n_sums));
    if (!block) return DPL_SYSTEM;
    memset(value, 0, n_sums * sizeof *value), memset(summed, 0, n_sums * sizeof *summed);
    for (size_t i = 0; i < n; i++) {
        size_t at = sum_of(job, sheet, &sums, n, i);
        value[at] += sheet->value[i];
        summed[at]++;
    }
    sums.value = value, sums.summed = summed;
    enum dpl_status status = write_sheet(job, &sums, "_by_district");
    dpl_free(block);
    return status;
}

/* How wide the i-th cell is, in cells of the grid: `bridge` counts by squares of several. */
static int32_t side_of(const struct dpl_model *model, int32_t i) {
    return model->side ? model->side[i] : 1;
}

static void centre_of(const struct dpl_model *model, int32_t i, double *lat_deg, double *lon_deg) {
    struct dpl_place place = dpl_square_place(&model->grid, model->cell[i], side_of(model, i));
    *lat_deg = place.lat / 1e6, *lon_deg = place.lng / 1e6;
}

static enum dpl_status find_districts(struct job *job, const char *path,
                                      struct dpl_districts **made) {
    const struct dpl_model *model = job->model;
    if (!path) return DPL_OK;
    DPL_TRY(dpl_districts_read(job->run, path, made));
    job->districts = *made;
    job->district_of = dpl_alloc(job->run, (size_t)model->n_cells, sizeof *job->district_of);
    if (!job->district_of) return DPL_SYSTEM;
    for (int32_t i = 0; i < model->n_cells; i++) {
        double lat_deg, lon_deg;
        centre_of(model, i, &lat_deg, &lon_deg);
        int32_t centre = dpl_grid_cell_at(&model->grid, lat_deg, lon_deg),
                at = dpl_districts_of_cell(*made, &model->grid, centre);
        job->district_of[i] = at < 0 ? (int32_t)dpl_districts_count(*made) : at;
    }
    return DPL_OK;
}

/* ---- cells ---- */

static enum dpl_status put_cell(const struct job *job, const int32_t *zone, int32_t i,
                                struct dpl_file *file) {
    const struct dpl_grid *grid = &job->model->grid;
    const int32_t cell = job->model->cell[i];
    double lat_deg, lon_deg;
    centre_of(job->model, i, &lat_deg, &lon_deg);
    DPL_TRY(dpl_file_print(file, "%d,%d,%d,%.6f,%.6f,%g", cell, cell / grid->columns,
                           cell % grid->columns, lat_deg, lon_deg,
                           side_of(job->model, i) * grid->area.cell_m));
    if (zone) DPL_TRY(dpl_file_print(file, ",%d", zone[i]));
    if (job->districts) {
        bool outside = (size_t)job->district_of[i] == dpl_districts_count(job->districts);
        const char *name =
            outside ? "" : dpl_districts_name(job->districts, (size_t)job->district_of[i]);
        DPL_TRY(dpl_file_print(file, ",\"%s\"", name));
    }
    return dpl_file_print(file, "\n");
}

static json_t *cell_fields(bool zones, bool districts) {
    json_t *fields = json_array();
    dpl_json_append(&fields, dpl_package_field("cell", "number", NULL, "number of the cell"));
    dpl_json_append(&fields, dpl_package_field("row", "number", NULL, "from the south"));
    dpl_json_append(&fields, dpl_package_field("column", "number", NULL, "from the west"));
    dpl_json_append(&fields,
                    dpl_package_field("lat", "number", NULL, "latitude of its centre, WGS 84"));
    dpl_json_append(&fields,
                    dpl_package_field("lng", "number", NULL, "longitude of its centre, WGS 84"));
    dpl_json_append(
        &fields, dpl_package_field("side_m", "number", NULL,
                                   "its side in metres, north and east from that row and column"));
    if (zones) dpl_json_append(&fields, dpl_package_field("zone", "number", NULL, "its zone"));
    if (districts)
        dpl_json_append(&fields, dpl_package_field("district", "string", NULL,
                                                   "the district that its centre is in"));
    return fields;
}

static enum dpl_status write_cells(const struct job *job) {
    const struct dpl_model *model = job->model;
    const size_t n = (size_t)model->n_cells;
    int32_t *zone = NULL;
    struct dpl_file *file = NULL;
    enum dpl_status status;
    if (dpl_model_has(model, DPL_MODEL_ZONES))
        DPL_TRY(dpl_model_get(job->run, model, DPL_MODEL_ZONES, DPL_TENSOR_I32, 1, &n, &zone));
    DPL_TRY(create(job, "cells", &file));
    DPL_GO(dpl_file_print(file, "cell,row,column,lat,lng,side_m%s%s\n", zone ? ",zone" : "",
                          job->districts ? ",district" : ""));
    for (int32_t i = 0; i < model->n_cells; i++) DPL_GO(put_cell(job, zone, i, file));
    status = dpl_file_commit(file);
    file = NULL;
    if (status == DPL_OK)
        status = add_table(job, "cells", cell_fields(zone != NULL, job->districts != NULL));
done:
    dpl_file_abort(file);
    return status;
}

/* ---- the directory ---- */

static enum dpl_status write_certificate(const struct job *job) {
    static const char NAME[] = "certificate.json";
    char path[PATH_ROOM];
    struct dpl_file *file = NULL;
    char *text = dpl_json_dump(job->model->certificate, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    if (!text) return dpl_fail(job->run, DPL_SYSTEM, "out of memory");
    snprintf(path, sizeof path, "%s/%s", job->directory, NAME);
    enum dpl_status status;
    DPL_GO(dpl_file_create(job->run, path, &(struct dpl_file_options){0}, &file));
    DPL_GO(dpl_file_write(file, text, strlen(text)));
    DPL_GO(dpl_file_write(file, "\n", 1));
    status = dpl_file_commit(file);
    file = NULL;
    if (status == DPL_OK)
        status = dpl_package_add(job->run, job->package, job->directory, NAME, "certificate",
                                 "application/json", NULL);
done:
    dpl_file_abort(file);
    free(text);
    return status;
}

static enum dpl_status write_tables(const struct job *job) {
    static const char PREFIX[] = "noised.";
    const struct dpl_model *model = job->model;
    for (size_t i = 0; i < model->n_tensors; i++) {
        const struct dpl_tensor *tensor = &model->tensor[i];
        if (strncmp(tensor->name, PREFIX, sizeof PREFIX - 1) != 0) continue;
        struct sheet sheet = {.name = tensor->name + sizeof PREFIX - 1, .value = tensor->data};
        json_t *about = json_object_get(model->noised, sheet.name);
        sheet.deviation = json_number_value(json_object_get(about, "deviation"));
        if (tensor->type != DPL_TENSOR_F64 || !json_is_object(about)) continue;
        find_axes(job, tensor, about, &sheet);
        DPL_TRY(write_sheet(job, &sheet, ""));
        if (job->districts) DPL_TRY(write_sums(job, &sheet));
    }
    return DPL_OK;
}

static enum dpl_status fill(struct job *job, const struct dpl_tables_options *options) {
    struct dpl_districts *districts = NULL;
    enum dpl_status status;
    job->package =
        dpl_package_new(job->model, "noised-tables", "Noised tables of trips", options->license);
    if (!job->package) return dpl_fail(job->run, DPL_SYSTEM, "out of memory");
    DPL_GO(find_districts(job, options->zones, &districts));
    if (dpl_duck_find(job->run) == DPL_OK)
        DPL_GO(dpl_duck_open(job->run, dpl_run_threads(job->run), &job->duck));
    dpl_run_begin(job->run); // that there is no library is no failure
    DPL_GO(write_tables(job));
    DPL_GO(write_cells(job));
    DPL_GO(write_certificate(job));
    DPL_GO(dpl_package_write(job->run, job->package, job->directory));
done:
    dpl_duck_close(job->duck);
    dpl_free(job->district_of);
    dpl_districts_free(districts);
    json_decref(job->package);
    return status;
}

enum dpl_status dpl_tables_write(struct dpl_run *run, const struct dpl_model *model,
                                 const struct dpl_tables_options *given, const char *directory) {
    struct dpl_tables_options options = dpl_tables_defaults();
    char aside[PATH_ROOM];
    bool there = false;
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "tables", given, &options));
    DPL_TRY(dpl_publish_check(run, model->not_private));
    DPL_TRY(dpl_package_check_directory(run, directory, options.overwrite, &there));
    snprintf(aside, sizeof aside, "%.4000s.part-%ld", directory, (long)getpid());
    if (mkdir(aside, 0777) != 0)
        return dpl_fail_errno(run, DPL_SYSTEM,
                              "%s: cannot make this directory (tables are put together aside)",
                              aside);
    struct job job = {.run = run, .model = model, .directory = aside};
    enum dpl_status status = fill(&job, &options);
    if (status == DPL_OK) status = dpl_directory_show(run, aside, directory, there);
    // What stands aside now is the older set, or what could not be completed.
    if (status != DPL_OK || there) dpl_package_remove(run, aside, status != DPL_OK);
    return status;
}
