/* Real and synthetic trips read onto one grid. */
#include "sets.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the area: given, or from a manifest ---- */

/* The public options in one of the files beside a synthetic one; *options is NULL when there are
 * none. Caller frees with json_decref. */
static enum dpl_status load_options(struct cli *cli, const char *synthetic, const char *ending,
                                    char *path, size_t size, json_t **options) {
    json_error_t error = {.text = ""};
    snprintf(path, size, "%s.%s", synthetic, ending);
    *options = NULL;
    json_t *file = NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream && errno != ENOENT && errno != ENOTDIR)
        return cli_fail(cli, DPL_SYSTEM, "%s: cannot read: %s", path, strerror(errno));
    if (stream) file = json_loadf(stream, 0, &error);
    bool failed = stream && !file && (ferror(stream) || !error.text[0]); // no words: no memory
    if (stream) fclose(stream);
    if (failed) return cli_fail(cli, DPL_SYSTEM, "%s: cannot be read, or out of memory", path);
    json_t *found = json_object_get(file, "options");
    if (json_is_object(found)) *options = json_incref(found);
    json_decref(file);
    return DPL_OK;
}

static enum dpl_status load_manifest(struct cli *cli, const char *synthetic, char *path,
                                     size_t size, json_t **options) {
    return load_options(cli, synthetic, "manifest.json", path, size, options);
}

static const char *text_of(json_t *options, const char *name) {
    return json_string_value(json_object_get(options, name));
}

static double number_of(json_t *options, const char *name, double otherwise) {
    json_t *value = json_object_get(options, name);
    if (json_is_string(value)) return strtod(json_string_value(value), NULL);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* A box may be a text or four numbers; here it becomes a text. */
static const char *box_of(json_t *options) {
    json_t *box = json_object_get(options, "bbox");
    if (!json_is_array(box) || json_array_size(box) != 4) return json_string_value(box);
    char text[160];
    snprintf(text, sizeof text, "%.17g,%.17g,%.17g,%.17g",
             json_number_value(json_array_get(box, 0)), json_number_value(json_array_get(box, 1)),
             json_number_value(json_array_get(box, 2)), json_number_value(json_array_get(box, 3)));
    json_object_set_new(options, "bbox", json_string(text));
    return text_of(options, "bbox");
}

/* What the command line left open (negative, NULL) is taken from the manifest, then from the
 * defaults. */
static void fill_from(struct data_options *data, json_t *manifest) {
    struct dpl_area defaults = dpl_area_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    if (!data->region && !data->bbox) {
        data->region = text_of(manifest, "region");
        if (!data->region) data->bbox = box_of(manifest);
    }
    if (!data->zone) data->zone = text_of(manifest, "tz");
    if (data->cell_m < 0) data->cell_m = number_of(manifest, "cell", defaults.cell_m);
    if (data->slot_s < 0) data->slot_s = (int64_t)number_of(manifest, "slot", defaults.slot_s);
    if (data->periods < 0)
        data->periods = (int64_t)number_of(manifest, "periods", defaults.periods);
    if (data->max_speed_kmh < 0)
        data->max_speed_kmh = number_of(manifest, "max-speed", defaults.speed_limit_kmh);
    if (data->max_gap_min < 0)
        data->max_gap_min = number_of(manifest, "max-gap", read.gap_limit_s / 60.0);
    if (!data->drop) data->drop = text_of(manifest, "drop");
    if (!data->drop) data->drop = "trips";
}

/* The days of the real trips that the first synthetic set was fitted on. They are in its
 * certificate: the manifest has the days of the synthetic trips. */
static enum dpl_status find_dates(struct cli *cli, struct data_options *data, const char *synthetic,
                                  struct sets_area *area) {
    char path[4096];
    json_t *certificate = NULL;
    if (data->read.dates) return DPL_OK;
    enum dpl_status status =
        load_options(cli, synthetic, "certificate.json", path, sizeof path, &certificate);
    area->certificate = certificate;
    data->read.dates = text_of(certificate, "dates");
    return status;
}

void sets_leave_area_open(struct data_options *data) {
    data->cell_m = -1; // so that what was given can be told from what was not
    data->slot_s = data->periods = -1;
    data->max_speed_kmh = data->max_gap_min = -1;
    data->drop = NULL;
}

enum dpl_status sets_area_find(struct cli *cli, struct data_options *data,
                               const char *const *synthetic, size_t n, struct sets_area *area) {
    char path[4096] = "";
    bool given = data->region || data->bbox, has_area;
    for (size_t i = 0; i < n; i++)
        if (strcmp(synthetic[i], "-") && access(synthetic[i], F_OK) != 0)
            return cli_fail(cli, DPL_BAD_DATA, "%s: %s", synthetic[i], strerror(errno));
    enum dpl_status status = DPL_OK;
    json_t *manifest = NULL;
    for (size_t i = 0; !given && i < n && !manifest && status == DPL_OK; i++)
        status = load_manifest(cli, synthetic[i], path, sizeof path, &manifest);
    area->manifest = manifest;
    if (status != DPL_OK) return status;
    fill_from(data, area->manifest);
    if (n) status = find_dates(cli, data, synthetic[0], area);
    if (status != DPL_OK) return status;
    snprintf(area->source, sizeof area->source, "%s%.400s", given ? "given" : "from ",
             given ? "" : path);
    return data_options_area(cli, data, true, &has_area);
}

void sets_area_free(struct sets_area *area) {
    json_decref(area->manifest);
    json_decref(area->certificate);
}

/* ---- reading ---- */

const char *sets_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

enum dpl_status sets_manifest(struct cli *cli, const char *synthetic, json_t **options) {
    char path[4096];
    return load_manifest(cli, synthetic, path, sizeof path, options);
}

/* What dploc wrote is judged as it is: cleaning would drop trips that are too fast and so hide
 * them; they are kept and counted. Files of unknown origin may be recordings as raw as REAL, and
 * get its cleaning; what that drops is said. */
static enum dpl_status read_synthetic(struct cli *cli, const struct data_options *data,
                                      struct sets_how how, const char *path, struct sets *sets,
                                      size_t k) {
    struct dpl_read_options read =
        dpl_read_defaults(); // column names given are REAL's; those of SYNTH are found
    struct dpl_cleaned *trips = NULL;
    json_t *manifest = NULL;
    enum dpl_status status = sets_manifest(cli, path, &manifest);
    if (status != DPL_OK) return status;
    read.zone = data->zone;
    read.time_optional = true;
    read.positions = true;
    read.own_phase = how.own_phase;
    read.keep_too_fast = sets->as_is[k] = how.as_is || manifest;
    json_decref(manifest);
    read.gap_limit_s = data->read.gap_limit_s;
    read.drop_points = data->read.drop_points && !read.keep_too_fast;
    status = dpl_cleaned_read(cli->run, &path, 1, &read, &data->area, &trips, &sets->facts[k]);
    sets->synthetic[k] =
        (struct dpl_eval_synthetic){.name = path, .trips = trips, .facts = sets->facts[k]};
    return status;
}

enum dpl_status sets_read_real(struct cli *cli, const struct data_options *data,
                               const struct dpl_read_options *read, const char *const *real,
                               size_t n_real, struct dpl_cleaned **trips,
                               struct dpl_read_facts **facts) {
    struct dpl_read_options used = *read;
    used.positions = true;
    used.time_optional = true;
    used.position_phase_s = data->area.slot_s / 2.0;
    return dpl_cleaned_read(cli->run, real, n_real, &used, &data->area, trips, facts);
}

enum dpl_status sets_read(struct cli *cli, const struct data_options *data, struct sets_how how,
                          const char *const *real, size_t n_real, const char *const *synthetic,
                          size_t n, struct sets *sets) {
    sets->synthetic = calloc(n, sizeof *sets->synthetic);
    sets->facts = calloc(n, sizeof *sets->facts);
    sets->as_is = calloc(n, sizeof *sets->as_is);
    if (!sets->synthetic || !sets->facts || !sets->as_is)
        return cli_fail(cli, DPL_SYSTEM, "out of memory");
    sets->n = n;
    enum dpl_status status = DPL_OK;
    struct dpl_read_options read = data->read;
    read.own_phase = how.own_phase;
    if (n_real)
        status = sets_read_real(cli, data, &read, real, n_real, &sets->real, &sets->real_facts);
    for (size_t k = 0; k < n && status == DPL_OK; k++)
        status = read_synthetic(cli, data, how, synthetic[k], sets, k);
    return status;
}

void sets_free(struct sets *sets) {
    for (size_t k = 0; k < sets->n; k++) {
        dpl_cleaned_free((struct dpl_cleaned *)sets->synthetic[k].trips);
        dpl_read_facts_free(sets->facts[k]);
    }
    dpl_cleaned_free(sets->real);
    dpl_read_facts_free(sets->real_facts);
    free(sets->synthetic);
    free(sets->facts);
    free(sets->as_is);
}
