/* Lines of a GeoJSON file, or the roads of an .osm.pbf map, cut to the box and thinned.
 *
 * Every road, every LineString and every ring of a Polygon is cut at the box's edge (Liang and
 * Barsky's test of one segment against four half-planes), then thinned by Douglas and Peucker's
 * rule: a point stays when it is further than the tolerance from the line between its neighbours
 * that stay. The tolerance begins below what a screen shows and doubles until POINTS_MAX points are
 * left, so a file of any detail costs the page at most a few hundred kilobytes. Properties are not
 * read: nothing but coordinates gets into the page. */
#include "report/basemap.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "roads/clip.h"
#include "roads/map.h"

enum { POINTS_MAX = 30000, DEPTH_MAX = 16, PLACE_TEXT = 160 };
static const double FILE_BYTES_MAX = 64e6, SCREEN_PIXELS = 4000;

/* What is being read, and where in the file it is. */
struct reading {
    struct dpl_run *run;
    const char *path;
    const struct dpl_grid *grid;
    struct basemap *map;
    char place[PLACE_TEXT];
    size_t lines_seen;
};

static enum dpl_status wrong(struct reading *r, const char *what) {
    return dpl_fail(
        r->run, DPL_BAD_DATA,
        "%s: %s%s%s (`report.basemap` takes GeoJSON with lines or polygons in degrees of "
        "longitude, latitude)",
        r->path, r->place, r->place[0] ? ": " : "", what);
}

/* Adds ".name" or "[i]" to the place; returns its length before, to go back to. */
static size_t enter(struct reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static size_t enter(struct reading *r, const char *format, ...) {
    size_t length = strlen(r->place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->place + length, sizeof r->place - length, format, arguments);
    va_end(arguments);
    return length;
}

static void leave(struct reading *r, size_t length) { r->place[length] = '\0'; }

/* ---- cutting ---- */

static enum dpl_status add_point(struct reading *r, struct clip_point p) {
    struct basemap *map = r->map;
    DPL_TRY(
        dpl_grow(r->run, &map->xy_m, &map->xy_capacity, 2 * map->n_points + 2, sizeof *map->xy_m));
    map->xy_m[2 * map->n_points] = p.x, map->xy_m[2 * map->n_points + 1] = p.y;
    map->n_points++;
    return DPL_OK;
}

static enum dpl_status begin_line(struct reading *r) {
    struct basemap *map = r->map;
    if (map->n_lines && map->start[map->n_lines - 1] == map->n_points)
        return DPL_OK; // an empty one is there
    DPL_TRY(
        dpl_grow(r->run, &map->start, &map->start_capacity, map->n_lines + 2, sizeof *map->start));
    map->start[map->n_lines++] = map->n_points;
    return DPL_OK;
}

static struct clip_point box_size(const struct dpl_grid *grid) {
    const struct dpl_area *area = &grid->area;
    return (struct clip_point){(area->east_deg - area->west_deg) * grid->m_per_deg_lon,
                               (area->north_deg - area->south_deg) * grid->m_per_deg_lat};
}

static enum dpl_status add_segment(struct reading *r, struct clip_point a, struct clip_point b) {
    double from, to;
    if (!clip_line(a, b, box_size(r->grid), &from, &to) || from >= to) return begin_line(r);
    if (from > 0) DPL_TRY(begin_line(r));
    if (r->map->start[r->map->n_lines - 1] == r->map->n_points)
        DPL_TRY(add_point(r, clip_between(a, b, from)));
    DPL_TRY(add_point(r, clip_between(a, b, to)));
    return to < 1 ? begin_line(r) : DPL_OK;
}

/* ---- reading ---- */

static struct clip_point place_of(const struct dpl_grid *grid, double lon_deg, double lat_deg) {
    return (struct clip_point){(lon_deg - grid->area.west_deg) * grid->m_per_deg_lon,
                               (lat_deg - grid->area.south_deg) * grid->m_per_deg_lat};
}

static enum dpl_status read_point(struct reading *r, const json_t *position,
                                  struct clip_point *point) {
    const json_t *lon = json_array_get(position, 0), *lat = json_array_get(position, 1);
    if (!json_is_number(lon) || !json_is_number(lat))
        return wrong(r, "a position is not [longitude, latitude]");
    double lon_deg = json_number_value(lon), lat_deg = json_number_value(lat);
    if (!(fabs(lon_deg) <= 180 && fabs(lat_deg) <= 90))
        return wrong(r, "a position is not in degrees");
    *point = place_of(r->grid, lon_deg, lat_deg);
    return DPL_OK;
}

static enum dpl_status read_line(struct reading *r, const json_t *line) {
    struct clip_point before = {0, 0}, point = {0, 0};
    if (!json_is_array(line) || json_array_size(line) < 2)
        return wrong(r, "a line is not an array of two or more positions");
    r->lines_seen++;
    DPL_TRY(begin_line(r));
    for (size_t i = 0; i < json_array_size(line); i++) {
        size_t back = enter(r, "[%zu]", i);
        DPL_TRY(read_point(r, json_array_get(line, i), &point));
        leave(r, back);
        if (i) DPL_TRY(add_segment(r, before, point));
        before = point;
    }
    return DPL_OK;
}

/* Lines at `depth` arrays below: 0 is the line itself. */
static enum dpl_status read_lines(struct reading *r, const json_t *value, int depth) {
    if (depth == 0) return read_line(r, value);
    if (!json_is_array(value)) return wrong(r, "the coordinates are not as deep as the type says");
    for (size_t i = 0; i < json_array_size(value); i++) {
        size_t back = enter(r, "[%zu]", i);
        DPL_TRY(read_lines(r, json_array_get(value, i), depth - 1));
        leave(r, back);
    }
    return DPL_OK;
}

static enum dpl_status read_object(struct reading *r, const json_t *object, int depth);

static enum dpl_status read_members(struct reading *r, const json_t *object, const char *name,
                                    int depth) {
    const json_t *list = json_object_get(object, name);
    size_t before = enter(r, "%s%s", r->place[0] ? "." : "", name);
    if (!json_is_array(list)) return wrong(r, "there is no such array");
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t back = enter(r, "[%zu]", i);
        DPL_TRY(read_object(r, json_array_get(list, i), depth + 1));
        leave(r, back);
    }
    leave(r, before);
    return DPL_OK;
}

static enum dpl_status read_geometry(struct reading *r, const json_t *object, const char *type) {
    static const struct {
        const char *name;
        int depth; /* of its lines; -1: has none, and is passed over */
    } TYPES[] = {{"LineString", 0},   {"MultiLineString", 1}, {"Polygon", 1},
                 {"MultiPolygon", 2}, {"Point", -1},          {"MultiPoint", -1}};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(type, TYPES[i].name)) continue;
        if (TYPES[i].depth < 0) return DPL_OK;
        size_t back = enter(r, "%scoordinates", r->place[0] ? "." : "");
        DPL_TRY(read_lines(r, json_object_get(object, "coordinates"), TYPES[i].depth));
        leave(r, back);
        return DPL_OK;
    }
    return wrong(r, "the \"type\" is none of GeoJSON's");
}

static enum dpl_status read_object(struct reading *r, const json_t *object, int depth) {
    const char *type = json_string_value(json_object_get(object, "type"));
    if (!type) return wrong(r, "not an object with a \"type\"");
    if (depth > DEPTH_MAX) return wrong(r, "collections inside collections, too deep");
    if (!strcmp(type, "FeatureCollection")) return read_members(r, object, "features", depth);
    if (!strcmp(type, "GeometryCollection")) return read_members(r, object, "geometries", depth);
    if (strcmp(type, "Feature")) return read_geometry(r, object, type);
    const json_t *geometry = json_object_get(object, "geometry");
    if (json_is_null(geometry)) return DPL_OK; // allowed: a feature without a place
    size_t back = enter(r, "%sgeometry", r->place[0] ? "." : "");
    DPL_TRY(read_object(r, geometry, depth + 1));
    leave(r, back);
    return DPL_OK;
}

/* ---- thinning ---- */

static double distance_to_chord(const double *p, const double *a, const double *b) {
    double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy);
    if (length < 1e-9) return hypot(p[0] - a[0], p[1] - a[1]);
    return fabs(dx * (p[1] - a[1]) - dy * (p[0] - a[0])) / length;
}

/* Marks the points of first ... last that stay; the ends do. `todo` is a stack, as long as the
 * line. */
static void thin_line(const double *xy, size_t first, size_t last, double tolerance_m, bool *stays,
                      size_t *todo) {
    size_t n_todo = 0;
    stays[first] = stays[last] = true;
    todo[n_todo++] = last;
    while (n_todo) {
        size_t end = todo[n_todo - 1], furthest = first;
        double most = tolerance_m;
        for (size_t i = first + 1; i < end; i++) {
            double distance = distance_to_chord(xy + 2 * i, xy + 2 * first, xy + 2 * end);
            if (distance > most) most = distance, furthest = i;
        }
        if (furthest == first)
            first = end, n_todo--;
        else
            stays[todo[n_todo++] = furthest] = true;
    }
}

static void keep_marked(struct basemap *map, const bool *stays) {
    size_t used = 0, lines = 0;
    for (size_t l = 0; l < map->n_lines; l++) {
        size_t begin = used;
        for (size_t i = map->start[l]; i < map->start[l + 1]; i++) {
            if (!stays[i]) continue;
            memmove(map->xy_m + 2 * used++, map->xy_m + 2 * i, 2 * sizeof *map->xy_m);
        }
        if (used > begin) map->start[lines++] = begin;
    }
    map->start[lines] = used;
    map->n_lines = lines;
    map->n_points = used;
}

/* Lines shorter than the tolerance go altogether, so that a file of a million crumbs becomes small,
 * too. */
static void thin(struct basemap *map, double tolerance_m, bool *stays, size_t *todo) {
    memset(stays, 0, map->n_points * sizeof *stays);
    for (size_t l = 0; l < map->n_lines; l++) {
        size_t first = map->start[l], last = map->start[l + 1] - 1;
        double reach = 0;
        for (size_t i = first + 1; i <= last; i++)
            reach = fmax(reach, hypot(map->xy_m[2 * i] - map->xy_m[2 * first],
                                      map->xy_m[2 * i + 1] - map->xy_m[2 * first + 1]));
        if (reach >= tolerance_m) thin_line(map->xy_m, first, last, tolerance_m, stays, todo);
    }
    keep_marked(map, stays);
}

static enum dpl_status make_small(struct reading *r) {
    struct basemap *map = r->map;
    struct clip_point size = box_size(r->grid);
    bool *stays = dpl_alloc(r->run, map->n_points, sizeof *stays);
    size_t *todo = dpl_alloc(r->run, map->n_points, sizeof *todo);
    enum dpl_status status = stays && todo ? DPL_OK : DPL_SYSTEM;
    double tolerance_m = hypot(size.x, size.y) / SCREEN_PIXELS;
    while (status == DPL_OK && map->n_lines) {
        thin(map, tolerance_m, stays, todo);
        if (map->n_points <= POINTS_MAX) break;
        tolerance_m *= 2;
    }
    dpl_free(stays);
    dpl_free(todo);
    return status;
}

/* ---- the calls ---- */

static enum dpl_status load(struct reading *r, json_t **file) {
    struct stat info;
    json_error_t error;
    if (stat(r->path, &info) != 0) return dpl_fail_errno(r->run, DPL_BAD_DATA, "%s", r->path);
    if ((double)info.st_size > FILE_BYTES_MAX)
        return dpl_fail(
            r->run, DPL_BAD_DATA,
            "%s: %.0f MB are too much for a backdrop; cut it to the region first (at most 64 MB)",
            r->path, (double)info.st_size / 1e6);
    *file = json_load_file(r->path, 0, &error);
    if (*file) return DPL_OK;
    return dpl_fail(r->run, DPL_BAD_DATA,
                    "%s:%d: not JSON: %s (`report.basemap` takes a GeoJSON file, or a map that "
                    "ends in .osm.pbf or .osm)",
                    r->path, error.line, error.text);
}

/* ---- roads of a map ---- */

static bool is_map(const char *path) {
    size_t length = strlen(path);
    return length >= 4 &&
           (!strcmp(path + length - 4, ".pbf") || !strcmp(path + length - 4, ".osm"));
}

/* Places whose node is not in the file end a line. */
static enum dpl_status add_way(struct reading *r, const struct map *map, size_t way) {
    bool drawing = false;
    struct clip_point before = {0, 0};
    for (size_t i = map->way[way].first; i < map->way[way + 1].first; i++) {
        int32_t node = map->place[i];
        struct clip_point point = {
            (map->lon_deg[node] - r->grid->area.west_deg) * r->grid->m_per_deg_lon,
            (map->lat_deg[node] - r->grid->area.south_deg) * r->grid->m_per_deg_lat};
        bool known = !isnan(point.x);
        if (!drawing) DPL_TRY(begin_line(r));
        if (drawing && known) DPL_TRY(add_segment(r, before, point));
        drawing = known;
        before = point;
    }
    r->lines_seen++;
    return DPL_OK;
}

/* The roads of an .osm.pbf file that cars may use. */
static enum dpl_status read_map(struct reading *r) {
    struct blob_file file = {0};
    struct map map = {0};
    enum dpl_status status;
    DPL_GO(dpl_blob_open(r->run, r->path, &file));
    DPL_GO(dpl_map_read(&file, DPL_TRAVEL_DRIVE, &map));
    for (size_t way = 0; way < map.n_ways; way++) DPL_GO(add_way(r, &map, way));
done:
    dpl_map_free(&map);
    dpl_blob_close(&file);
    return status;
}

static enum dpl_status read_geojson(struct reading *r) {
    json_t *file = NULL;
    DPL_TRY(load(r, &file));
    enum dpl_status status = read_object(r, file, 0);
    json_decref(file);
    return status;
}

static enum dpl_status end_lines(struct reading *r) {
    DPL_TRY(begin_line(r)); // so that start[] ends with the number of points
    r->map->n_lines--;
    return make_small(r);
}

enum dpl_status dpl_basemap_read(struct dpl_run *run, const char *path, const struct dpl_grid *grid,
                                 struct basemap *map) {
    struct basemap made = {.openstreetmap = is_map(path)};
    struct reading r = {.run = run, .path = path, .grid = grid, .map = &made};
    enum dpl_status status;
    DPL_GO(made.openstreetmap ? read_map(&r) : read_geojson(&r));
    DPL_GO(end_lines(&r));
    if (made.n_lines == 0) {
        status =
            r.lines_seen
                ? dpl_fail(run, DPL_BAD_DATA, "%s: none of its %zu lines crosses the region's box",
                           path, r.lines_seen)
                : dpl_fail(run, DPL_BAD_DATA, "%s: there are no lines or polygons in it", path);
        goto done;
    }
    *map = made;
    made = (struct basemap){0};
done:
    dpl_basemap_free(&made);
    return status;
}

static enum dpl_status add_ring(struct reading *r, const struct dpl_corner *corner, size_t n) {
    DPL_TRY(begin_line(r));
    for (size_t i = 1; i < n; i++)
        DPL_TRY(add_segment(r, place_of(r->grid, corner[i - 1].x_deg, corner[i - 1].y_deg),
                            place_of(r->grid, corner[i].x_deg, corner[i].y_deg)));
    return DPL_OK;
}

enum dpl_status dpl_basemap_outline(struct dpl_run *run, const struct dpl_districts *districts,
                                    const struct dpl_grid *grid, struct basemap *map) {
    struct basemap made = {0};
    struct reading r = {.run = run, .grid = grid, .map = &made};
    enum dpl_status status = DPL_OK;
    for (size_t i = 0, n; i < dpl_districts_rings(districts); i++) {
        const struct dpl_corner *corner = dpl_districts_ring(districts, i, &n);
        DPL_GO(add_ring(&r, corner, n));
    }
    DPL_GO(end_lines(&r));
    *map = made;
    made = (struct basemap){0};
done:
    dpl_basemap_free(&made);
    return status;
}

void dpl_basemap_free(struct basemap *map) {
    dpl_free(map->xy_m);
    dpl_free(map->start);
    *map = (struct basemap){0};
}

void dpl_basemap_lines(const struct basemap *map, struct island *island) {
    dpl_island_open(island, '[');
    for (size_t l = 0; l < map->n_lines; l++) {
        int64_t x = 0, y = 0;
        dpl_island_open(island, '[');
        for (size_t i = map->start[l]; i < map->start[l + 1]; i++) {
            int64_t next_x = llround(map->xy_m[2 * i]), next_y = llround(map->xy_m[2 * i + 1]);
            dpl_island_whole(island, next_x - x), dpl_island_whole(island, next_y - y);
            x = next_x, y = next_y;
        }
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
}

void dpl_basemap_write(const struct basemap *map, struct island *island) {
    dpl_island_key(island, "basemap");
    dpl_basemap_lines(map, island);
    dpl_island_key(island, "openstreetmap"), dpl_island_bool(island, map->openstreetmap);
}
