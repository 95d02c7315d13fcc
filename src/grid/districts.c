/* See districts.h. A place is inside where a ray from it crosses the rings of a polygon an odd
 * number of times, so that holes need no care of their own. Cost: the edges of every polygon whose
 * box holds the place. */
#include "grid/districts.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { NAME_ROOM = 128, MOST = 1 << 16 };

struct district {
    char name[NAME_ROOM];
    size_t first_ring, end_ring;
    double west_deg, south_deg, east_deg, north_deg;
};

struct dpl_districts {
    struct dpl_run *run;
    const char *path;
    struct district *district; /* (n) */
    size_t *ring;              /* (n_rings + 1) first corner of each */
    struct dpl_corner *corner; /* (n_corners) */
    size_t n, capacity, n_rings, ring_capacity, n_corners, corner_capacity;
};

/* ---- reading ---- */

static enum dpl_status bad(const struct dpl_districts *districts, size_t feature,
                           const char *what) {
    return dpl_fail(districts->run, DPL_BAD_DATA,
                    "%s: Feature %zu %s (districts are Polygons and MultiPolygons in degrees)",
                    districts->path, feature + 1, what);
}

static bool read_corner(json_t *position, struct dpl_corner *corner) {
    json_t *x = json_array_get(position, 0), *y = json_array_get(position, 1);
    *corner = (struct dpl_corner){json_number_value(x), json_number_value(y)};
    return json_is_number(x) && json_is_number(y) && fabs(corner->x_deg) <= 180 &&
           fabs(corner->y_deg) <= 90;
}

static void widen(struct district *district, struct dpl_corner corner) {
    district->west_deg = fmin(district->west_deg, corner.x_deg);
    district->east_deg = fmax(district->east_deg, corner.x_deg);
    district->south_deg = fmin(district->south_deg, corner.y_deg);
    district->north_deg = fmax(district->north_deg, corner.y_deg);
}

static enum dpl_status add_ring(struct dpl_districts *d, struct district *district,
                                json_t *positions) {
    size_t i, n = json_array_size(positions);
    json_t *position;
    if (n < 4) return bad(d, d->n, "has a ring of fewer than four positions");
    DPL_TRY(dpl_grow(d->run, &d->ring, &d->ring_capacity, d->n_rings + 2, sizeof *d->ring));
    DPL_TRY(dpl_grow(d->run, &d->corner, &d->corner_capacity, d->n_corners + n, sizeof *d->corner));
    json_array_foreach(positions, i, position) {
        struct dpl_corner *corner = &d->corner[d->n_corners + i];
        if (!read_corner(position, corner)) return bad(d, d->n, "has a position that is none");
        widen(district, *corner);
    }
    d->ring[d->n_rings++] = d->n_corners;
    d->n_corners += n;
    d->ring[d->n_rings] = d->n_corners;
    district->end_ring = d->n_rings;
    return DPL_OK;
}

static enum dpl_status add_polygon(struct dpl_districts *d, struct district *district,
                                   json_t *rings) {
    size_t i;
    json_t *ring;
    if (!json_array_size(rings)) return bad(d, d->n, "has a polygon without rings");
    json_array_foreach(rings, i, ring) DPL_TRY(add_ring(d, district, ring));
    return DPL_OK;
}

static void name_district(json_t *feature, size_t place, char name[NAME_ROOM]) {
    json_t *properties = json_object_get(feature, "properties");
    json_t *const candidates[] = {
        json_object_get(properties, "name"), json_object_get(properties, "NAME"),
        json_object_get(properties, "id"), json_object_get(feature, "id")};
    snprintf(name, NAME_ROOM, "%zu", place + 1);
    for (size_t i = sizeof candidates / sizeof *candidates; i-- > 0;) {
        if (json_is_string(candidates[i]) && json_string_length(candidates[i]))
            snprintf(name, NAME_ROOM, "%s", json_string_value(candidates[i]));
        else if (json_is_integer(candidates[i]))
            snprintf(name, NAME_ROOM, "%" JSON_INTEGER_FORMAT, json_integer_value(candidates[i]));
    }
    for (char *at = name; *at; at++) // what CSV would have to quote
        if (*at == '"' || *at == '\n' || *at == '\r') *at = ' ';
}

static enum dpl_status add_feature(struct dpl_districts *d, json_t *feature) {
    json_t *geometry = json_object_get(feature, "geometry"), *polygon,
           *coordinates = json_object_get(geometry, "coordinates");
    const char *type = json_string_value(json_object_get(geometry, "type"));
    struct district district = {.first_ring = d->n_rings,
                                .west_deg = INFINITY,
                                .south_deg = INFINITY,
                                .east_deg = -INFINITY,
                                .north_deg = -INFINITY};
    size_t i;
    if (!type || (strcmp(type, "Polygon") && strcmp(type, "MultiPolygon")))
        return bad(d, d->n, "is none");
    if (!strcmp(type, "Polygon")) {
        DPL_TRY(add_polygon(d, &district, coordinates));
    } else {
        if (!json_array_size(coordinates)) return bad(d, d->n, "has no polygons");
        json_array_foreach(coordinates, i, polygon) DPL_TRY(add_polygon(d, &district, polygon));
    }
    name_district(feature, d->n, district.name);
    DPL_TRY(dpl_grow(d->run, &d->district, &d->capacity, d->n + 1, sizeof *d->district));
    d->district[d->n++] = district;
    return DPL_OK;
}

static enum dpl_status add_features(struct dpl_districts *d, json_t *root) {
    json_t *features = json_object_get(root, "features"), *feature;
    size_t i, n = json_array_size(features);
    if (n == 0 || n > MOST)
        return dpl_fail(d->run, DPL_BAD_DATA,
                        "%s: not a GeoJSON FeatureCollection of 1 to %d districts", d->path, MOST);
    json_array_foreach(features, i, feature) DPL_TRY(add_feature(d, feature));
    return DPL_OK;
}

enum dpl_status dpl_districts_read(struct dpl_run *run, const char *path,
                                   struct dpl_districts **made) {
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root)
        return dpl_fail(run, DPL_BAD_DATA, "%s: cannot be read as GeoJSON: line %d: %.100s", path,
                        error.line, error.text);
    struct dpl_districts *districts = dpl_alloc(run, 1, sizeof *districts);
    enum dpl_status status = DPL_SYSTEM;
    if (districts) {
        districts->run = run, districts->path = path;
        status = add_features(districts, root);
    }
    json_decref(root);
    if (status == DPL_OK)
        *made = districts;
    else
        dpl_districts_free(districts);
    return status;
}

void dpl_districts_free(struct dpl_districts *districts) {
    if (!districts) return;
    dpl_free(districts->district);
    dpl_free(districts->ring);
    dpl_free(districts->corner);
    dpl_free(districts);
}

/* ---- asking ---- */

size_t dpl_districts_count(const struct dpl_districts *districts) { return districts->n; }

const char *dpl_districts_name(const struct dpl_districts *districts, size_t i) {
    return districts->district[i].name;
}

/* Whether the edge is crossed by a ray that goes east from the place. */
static bool crosses(const struct dpl_corner *a, const struct dpl_corner *b, double x_deg,
                    double y_deg) {
    if ((a->y_deg > y_deg) == (b->y_deg > y_deg)) return false;
    return x_deg < a->x_deg + (y_deg - a->y_deg) / (b->y_deg - a->y_deg) * (b->x_deg - a->x_deg);
}

static bool holds(const struct dpl_districts *d, const struct district *district, double x_deg,
                  double y_deg) {
    bool inside = false;
    if (x_deg < district->west_deg || x_deg > district->east_deg || y_deg < district->south_deg ||
        y_deg > district->north_deg)
        return false;
    for (size_t ring = district->first_ring; ring < district->end_ring; ring++)
        for (size_t i = d->ring[ring], last = d->ring[ring + 1] - 1; i < d->ring[ring + 1];
             last = i++)
            inside ^= crosses(&d->corner[last], &d->corner[i], x_deg, y_deg);
    return inside;
}

int32_t dpl_districts_at(const struct dpl_districts *districts, double lat_deg, double lon_deg) {
    for (size_t i = 0; i < districts->n; i++)
        if (holds(districts, &districts->district[i], lon_deg, lat_deg)) return (int32_t)i;
    return -1;
}

int32_t dpl_districts_of_cell(const struct dpl_districts *districts, const struct dpl_grid *grid,
                              int32_t cell) {
    double lat_deg, lon_deg;
    dpl_grid_centre(grid, cell, &lat_deg, &lon_deg);
    return dpl_districts_at(districts, lat_deg, lon_deg);
}

size_t dpl_districts_rings(const struct dpl_districts *districts) { return districts->n_rings; }

const struct dpl_corner *dpl_districts_ring(const struct dpl_districts *districts, size_t i,
                                            size_t *n) {
    *n = districts->ring[i + 1] - districts->ring[i];
    return districts->corner + districts->ring[i];
}
