/* The GCJ-02 transform as it is publicly known: a sum of sines, in metres on the Krasovsky
 * ellipsoid, some 300 to 700 m. See gcj.h. */
#include "roads/gcj.h"

#include <math.h>
#include <stdbool.h>

static const double PI = 3.14159265358979323846, AXIS_M = 6378245.0, E2 = 0.00669342162296594323;

static double waves(double v, double a, double b, double c) {
    return (20 * sin(v * PI) + 40 * sin(v / 3 * PI) + a * sin(v / 12 * PI) + b * sin(v / c * PI)) *
           2 / 3;
}

static double ripple(double x) { return (20 * sin(6 * x * PI) + 20 * sin(2 * x * PI)) * 2 / 3; }

static double north_m(double x, double y) {
    return -100 + 2 * x + 3 * y + 0.2 * y * y + 0.1 * x * y + 0.2 * sqrt(fabs(x)) + ripple(x) +
           waves(y, 160, 320, 30);
}

static double east_m(double x, double y) {
    return 300 + x + 2 * y + 0.1 * x * x + 0.1 * x * y + 0.1 * sqrt(fabs(x)) + ripple(x) +
           waves(x, 150, 300, 30);
}

static bool in_china(double lat_deg, double lon_deg) {
    return lat_deg >= 0.8293 && lat_deg <= 55.8271 && lon_deg >= 72.004 && lon_deg <= 137.8347;
}

void dpl_gcj_shift(double *lat_deg, double *lon_deg) {
    if (!in_china(*lat_deg, *lon_deg)) return;
    double x = *lon_deg - 105, y = *lat_deg - 35, lat = *lat_deg * PI / 180;
    double flat = 1 - E2 * sin(lat) * sin(lat), root = sqrt(flat);
    *lat_deg += north_m(x, y) * 180 / (AXIS_M * (1 - E2) / (flat * root) * PI);
    *lon_deg += east_m(x, y) * 180 / (AXIS_M / root * cos(lat) * PI);
}

/* The shift changes by less than a thousandth over its own length: four steps are plenty. */
void dpl_gcj_unshift(double *lat_deg, double *lon_deg) {
    double lat = *lat_deg, lon = *lon_deg;
    for (int i = 0; i < 4; i++) {
        double back_lat = lat, back_lon = lon;
        dpl_gcj_shift(&back_lat, &back_lon);
        lat += *lat_deg - back_lat, lon += *lon_deg - back_lon;
    }
    *lat_deg = lat, *lon_deg = lon;
}
