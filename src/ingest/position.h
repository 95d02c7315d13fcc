/* Positions as they stand in files, to degrees: decimal commas, points as text (WKT), degrees times
 * 10^7, metres of two projections, longitudes from 0 to 360. Each is a function of the value itself
 * and of options. */
#ifndef DPL_INGEST_POSITION_H
#define DPL_INGEST_POSITION_H

#include <stdbool.h>
#include <stddef.h>

/* What the two numbers of a position are. */
enum coordinates_kind {
    COORDINATES_DEGREES,
    COORDINATES_E7,
    COORDINATES_MERCATOR,
    COORDINATES_UTM
};

struct coordinates {
    enum coordinates_kind kind;
    int zone; /* of UTM, 1 to 60 */
    bool south;
};

/* "degrees" or "EPSG:4326", "e7", "EPSG:3857", "EPSG:326NN", "EPSG:327NN". False, and degrees: none
 * of them. */
bool dpl_coordinates_parse(const char *word, struct coordinates *coordinates);
/* y and x (northing and easting, latitude and longitude) to degrees, in place; NAN for what is not
 * on the map. A longitude above 180 and up to 360 becomes the one that is meant. */
void dpl_to_degrees(const struct coordinates *coordinates, double *lat, double *lon);

/* A number with a decimal point or, if it has no point, one decimal comma. */
bool dpl_parse_decimal(const char *text, size_t length, double *value);
/* "POINT(11.5 48.1)", also with "SRID=4326;" in front, "Z" or "M", and more numbers behind. */
bool dpl_parse_point(const char *text, size_t length, double *x, double *y);

#endif
