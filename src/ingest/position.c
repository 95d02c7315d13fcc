/* Positions in other notations than degrees. See position.h. */
#include "ingest/position.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ingest/number.h"

static const double PI = 3.14159265358979323846, EARTH_M = 6378137, FLATTENING = 1 / 298.257223563;
enum { ZONES = 60, NORTHERN = 32600, SOUTHERN = 32700, TERMS = 3 };

/* ---- what the numbers are ---- */

/* "EPSG:32633" */
static bool parse_utm(const char *word, struct coordinates *coordinates) {
    char *end;
    if (strncasecmp(word, "EPSG:", 5) != 0 || strlen(word) != 10) return false;
    long code = strtol(word + 5, &end, 10), zone = code % 100, hemisphere = code - zone;
    if (*end || (hemisphere != NORTHERN && hemisphere != SOUTHERN)) return false;
    if (zone < 1 || zone > ZONES) return false;
    *coordinates = (struct coordinates){COORDINATES_UTM, (int)zone, hemisphere == SOUTHERN};
    return true;
}

bool dpl_coordinates_parse(const char *word, struct coordinates *coordinates) {
    static const struct {
        const char *word;
        enum coordinates_kind kind;
    } WORDS[] = {{"degrees", COORDINATES_DEGREES},
                 {"EPSG:4326", COORDINATES_DEGREES},
                 {"e7", COORDINATES_E7},
                 {"EPSG:3857", COORDINATES_MERCATOR}};
    *coordinates = (struct coordinates){COORDINATES_DEGREES, 0, false};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcasecmp(word, WORDS[i].word)) {
            coordinates->kind = WORDS[i].kind;
            return true;
        }
    return parse_utm(word, coordinates);
}

/* EPSG:3857, the projection of web maps: a sphere. */
static void from_mercator(double *lat, double *lon) {
    *lon = *lon / EARTH_M * 180 / PI;
    *lat = (2 * atan(exp(*lat / EARTH_M)) - PI / 2) * 180 / PI;
}

/* The inverse of transverse Mercator by Krueger's series to the third power of the flattening: less
 * than a millimetre within a zone. */
static void from_utm(int zone, bool south, double *lat, double *lon) {
    const double n = FLATTENING / (2 - FLATTENING), n2 = n * n, n3 = n2 * n,
                 radius_m = EARTH_M / (1 + n) * (1 + n2 / 4 + n2 * n2 / 64);
    const double beta[TERMS] = {n / 2 - 2 * n2 / 3 + 37 * n3 / 96, n2 / 48 + n3 / 15,
                                17 * n3 / 480},
                 delta[TERMS] = {2 * n - 2 * n2 / 3 - 2 * n3, 7 * n2 / 3 - 8 * n3 / 5,
                                 56 * n3 / 15};
    const double scale_m = 0.9996 * radius_m, north = (*lat - (south ? 1e7 : 0)) / scale_m,
                 east = (*lon - 5e5) / scale_m;
    double xi = north, eta = east;
    for (int j = 0; j < TERMS; j++) {
        xi -= beta[j] * sin(2 * (j + 1) * north) * cosh(2 * (j + 1) * east);
        eta -= beta[j] * cos(2 * (j + 1) * north) * sinh(2 * (j + 1) * east);
    }
    double conformal = asin(sin(xi) / cosh(eta)), latitude = conformal;
    for (int j = 0; j < TERMS; j++) latitude += delta[j] * sin(2 * (j + 1) * conformal);
    *lat = latitude * 180 / PI;
    *lon = 6 * zone - 183 + atan2(sinh(eta), cos(xi)) * 180 / PI;
}

void dpl_to_degrees(const struct coordinates *coordinates, double *lat, double *lon) {
    switch (coordinates->kind) {
    case COORDINATES_DEGREES: break;
    case COORDINATES_E7: *lat /= 1e7, *lon /= 1e7; break;
    case COORDINATES_MERCATOR: from_mercator(lat, lon); break;
    case COORDINATES_UTM: from_utm(coordinates->zone, coordinates->south, lat, lon); break;
    }
    if (*lon > 180 && *lon <= 360) *lon -= 360;
}

/* ---- numbers and points ---- */

bool dpl_parse_decimal(const char *text, size_t length, double *value) {
    char copy[64];
    if (dpl_parse_number(text, length, value)) return true;
    const char *comma = length ? memchr(text, ',', length) : NULL;
    if (!comma || length >= sizeof copy || memchr(text, '.', length)) return false;
    memcpy(copy, text, length);
    copy[comma - text] = '.';
    return dpl_parse_number(copy, length, value);
}

/* What stands behind the word, in any case, and blanks; NULL when it does not begin so. */
static const char *skip_word(const char *text, const char *word) {
    size_t length = strlen(word);
    if (strncasecmp(text, word, length) != 0) return NULL;
    text += length;
    while (*text == ' ') text++;
    return text;
}

static const char *take_number(const char *text, double *value) {
    size_t length = strcspn(text, " )");
    return dpl_parse_number(text, length, value) ? text + length + strspn(text + length, " ")
                                                 : NULL;
}

bool dpl_parse_point(const char *text, size_t length, double *x, double *y) {
    char copy[128];
    if (length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    const char *at = copy, *behind = strchr(copy, ';');
    if (behind && skip_word(copy, "SRID=")) at = behind + 1;
    at = skip_word(at, "POINT");
    if (!at) return false;
    at += strspn(at, "ZMzm ");
    if (*at != '(') return false;
    at = take_number(at + 1 + strspn(at + 1, " "), x);
    if (at) at = take_number(at, y);
    for (double more; at && *at != ')';) at = take_number(at, &more);
    return at && !at[1];
}
