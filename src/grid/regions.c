/* Named regions: boxes and time zones that everybody may know.
 *
 * PRIVACY: a box must never come from the private data. These are drawn on a public map around the
 * cities of open trajectory sets; a holder adds others in a file of the same columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

static const struct dpl_region REGIONS[] = {
    {"sf", 37.6017, -122.5158, 37.8112, -122.3527, "America/Los_Angeles", "Cabspotting"},
    // PAPER: sec. 5.2 prints 41.00456 for the southern edge; its 600 km2 only fit 41.0456.
    {"porto", 41.0456, -8.7368, 41.2728, -8.4412, "Europe/Lisbon", "Porto taxis"},
    {"porto-downtown", 41.11526, -8.71810, 41.18082, -8.56676, "Europe/Lisbon", "Porto taxis"},
    // PAPER: sec. 5.2 prints longitudes West; Beijing lies East.
    {"geolife", 39.75, 116.20, 40.10, 116.55, "Asia/Shanghai", "GeoLife"},
    {"beijing", 39.75, 116.20, 40.10, 116.55, "Asia/Shanghai", "T-Drive, GeoLife"},
    {"chengdu", 30.55, 103.95, 30.80, 104.20, "Asia/Shanghai", "ride hailing"},
    {"xian", 34.15, 108.80, 34.40, 109.10, "Asia/Shanghai", "ride hailing"},
    {"shanghai", 31.00, 121.20, 31.45, 121.75, "Asia/Shanghai", "taxis"},
    {"shenzhen", 22.45, 113.80, 22.80, 114.40, "Asia/Shanghai", "taxis"},
    {"rome", 41.78, 12.35, 42.02, 12.65, "Europe/Rome", "Roma taxis"},
    {"nyc", 40.55, -74.05, 40.92, -73.70, "America/New_York", "yellow taxis"},
    {"chicago", 41.64, -87.95, 42.03, -87.52, "America/Chicago", "taxis, bike share"},
    {"athens", 37.90, 23.60, 38.10, 23.85, "Europe/Athens", "pNEUMA, trucks"},
    {"singapore", 1.22, 103.60, 1.48, 104.05, "Asia/Singapore", "Grab-Posisi"},
    {"jakarta", -6.40, 106.65, -6.05, 107.00, "Asia/Jakarta", "Grab-Posisi"},
    {"simulated", 47.9100, 11.3700, 48.0900, 11.6300, "Europe/Berlin", "'dploc simulate'"},
};
enum { N_REGIONS = sizeof REGIONS / sizeof *REGIONS, CHUNK = 1 << 12, MAX_FILE_BYTES = 1 << 20 };

const struct dpl_region *dpl_region_at(size_t i) { return i < N_REGIONS ? &REGIONS[i] : NULL; }

const char *dpl_area_preset_name(size_t i) { return i < N_REGIONS ? REGIONS[i].name : NULL; }

static void use_region(const struct dpl_region *region, struct dpl_area *area) {
    area->south_deg = region->south_deg, area->west_deg = region->west_deg;
    area->north_deg = region->north_deg, area->east_deg = region->east_deg;
    snprintf(area->zone, sizeof area->zone, "%s", region->zone);
}

enum dpl_status dpl_area_preset(struct dpl_run *run, const char *name, struct dpl_area *area) {
    char names[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < N_REGIONS; i++) {
        if (!strcasecmp(name, REGIONS[i].name)) {
            use_region(&REGIONS[i], area);
            return DPL_OK;
        }
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   REGIONS[i].name);
    }
    return dpl_fail(
        run, DPL_USAGE,
        "there is no region '%.64s'; known are %s (`dpl_area_preset`), or give a box from "
        "a public map (`area.south_deg,west_deg,north_deg,east_deg`)",
        name, names);
}

/* ---- a file of regions: name,south,west,north,east,zone ---- */

/* Takes the next field off *at, without blanks around it; false at the end of the line. */
static bool take_field(char **at, char **field) {
    char *text = *at;
    if (!text) return false;
    char *comma = strchr(text, ',');
    *at = comma ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    while (*text == ' ' || *text == '\t') text++;
    char *end = text + strlen(text);
    while (end > text && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) *--end = '\0';
    *field = text;
    return true;
}

static bool take_degrees(char **at, double *degrees) {
    char *field, *end;
    if (!take_field(at, &field)) return false;
    *degrees = strtod(field, &end);
    return end > field && !*end;
}

/* One line; the name and zone point into it. */
static bool parse_region(char *line, struct dpl_region *region) {
    char *at = line, *name, *zone;
    if (!take_field(&at, &name) || !*name) return false;
    if (!take_degrees(&at, &region->south_deg) || !take_degrees(&at, &region->west_deg) ||
        !take_degrees(&at, &region->north_deg) || !take_degrees(&at, &region->east_deg))
        return false;
    if (!take_field(&at, &zone) || !*zone || at) return false;
    region->name = name, region->zone = zone;
    return true;
}

static enum dpl_status find_in_text(struct dpl_run *run, const char *path, char *text,
                                    const char *name, struct dpl_area *area) {
    int number = 1;
    for (char *line = text, *next; line && *line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        struct dpl_region region = {0};
        if (*line == '#' || *line == '\r' || !*line || !strncasecmp(line, "name,", 5)) continue;
        if (!parse_region(line, &region))
            return dpl_fail(run, DPL_BAD_DATA,
                            "%.300s:%d: a region is name,south,west,north,east,zone (degrees, IANA "
                            "zone), one per line",
                            path, number);
        if (strcasecmp(region.name, name)) continue;
        use_region(&region, area);
        return DPL_OK;
    }
    return dpl_fail(run, DPL_USAGE, "%.300s has no region '%.64s'", path, name);
}

/* The whole file, with a zero behind it. */
static enum dpl_status read_text(struct dpl_run *run, const char *path, FILE *file, char **text) {
    size_t capacity = 0, length = 0, got;
    do {
        DPL_TRY(dpl_grow(run, text, &capacity, length + CHUNK + 1, 1));
        got = fread(*text + length, 1, CHUNK, file);
        length += got;
        if (ferror(file)) return dpl_fail(run, DPL_SYSTEM, "%.300s cannot be read", path);
        if (length >= MAX_FILE_BYTES)
            return dpl_fail(run, DPL_BAD_DATA, "%.300s is no table of regions: over 1 MB", path);
    } while (got == CHUNK);
    (*text)[length] = '\0';
    return DPL_OK;
}

enum dpl_status dpl_area_from_file(struct dpl_run *run, const char *path, const char *name,
                                   struct dpl_area *area) {
    dpl_run_begin(run);
    FILE *file = fopen(path, "r");
    if (!file) return dpl_fail(run, DPL_SYSTEM, "%.300s cannot be read: %s", path, strerror(errno));
    char *text = NULL;
    enum dpl_status status = read_text(run, path, file, &text);
    if (status == DPL_OK) status = find_in_text(run, path, text, name, area);
    dpl_free(text);
    fclose(file);
    return status;
}
