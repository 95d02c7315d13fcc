/* Rules for the tags of ways. See rules.h.
 *
 * Speeds are for comparing routes: free flow in a town. A usable `maxspeed` replaces the default of
 * driving; people on bikes and on foot do not care. */
#include "roads/rules.h"

#include <math.h>
#include <string.h>

/* km/h by travel mode, 0: not usable unless a tag allows it. Weights are public: simulated cities
 * have 4 to 5 times as many points on a metre of expressway as on one of side street; the classes
 * between step down by judgement. No real trips went into them. */
static const struct class {
    const char *name;
    double kmh[3]; /* by enum dpl_travel */
    double weight;
} CLASSES[] = {
    {"motorway", {100, 0, 0}, 5},     {"motorway_link", {60, 0, 0}, 3},
    {"trunk", {80, 0, 0}, 5},         {"trunk_link", {50, 0, 0}, 3},
    {"primary", {60, 18, 5}, 4},      {"primary_link", {45, 18, 5}, 3},
    {"secondary", {50, 18, 5}, 3},    {"secondary_link", {40, 18, 5}, 2},
    {"tertiary", {45, 18, 5}, 2},     {"tertiary_link", {35, 18, 5}, 1.5},
    {"unclassified", {40, 18, 5}, 1}, {"residential", {30, 18, 5}, 1},
    {"road", {30, 16, 5}, 1},         {"living_street", {12, 12, 5}, 0.7},
    {"service", {15, 14, 5}, 0.3},    {"track", {0, 12, 5}, 0.2},
    {"cycleway", {0, 18, 5}, 0.7},    {"pedestrian", {0, 8, 5}, 0.7},
    {"path", {0, 12, 5}, 0.3},        {"footway", {0, 0, 5}, 0.3},
    {"bridleway", {0, 0, 5}, 0.2},    {"steps", {0, 0, 3}, 0.2},
};
enum { N_CLASSES = sizeof CLASSES / sizeof *CLASSES };

double dpl_roads_class_weight(uint8_t class) { return CLASSES[class].weight; }

static bool one_of(const struct pbf_text *text, const char *const words[]) {
    for (size_t i = 0; words[i]; i++)
        if (dpl_pbf_is(text, words[i])) return true;
    return false;
}

/* ---- access ---- */

static const char *const YES[] = {"yes",         "designated", "permissive",
                                  "destination", "official",   NULL};
static const char *const NO[] = {"no", "private", "agricultural", "forestry", "use_sidepath", NULL};

/* 1: said to be open, -1: closed, 0: unknown. */
static int opens(const struct pbf_way *way, const char *key) {
    struct pbf_text value = dpl_pbf_tag_of(way, key);
    return one_of(&value, YES) ? 1 : one_of(&value, NO) ? -1 : 0;
}

/* The most special tag that says something decides. */
static int access_of(const struct pbf_way *way, enum dpl_travel travel) {
    static const char *const KEYS[3][4] = {{"motorcar", "motor_vehicle", "vehicle", "access"},
                                           {"bicycle", "vehicle", "access", NULL},
                                           {"foot", "access", NULL, NULL}};
    for (size_t i = 0; i < 4 && KEYS[travel][i]; i++) {
        int said = opens(way, KEYS[travel][i]);
        if (said) return said;
    }
    return 0;
}

/* ---- direction ---- */

static uint8_t directions_of(const struct pbf_way *way, enum dpl_travel travel, bool motorway) {
    static const char *const ALONG[] = {"yes", "true", "1", NULL};
    static const char *const AGAINST[] = {"-1", "reverse", NULL};
    static const char *const RINGS[] = {"roundabout", "circular", NULL};
    static const char *const OWN[3] = {"oneway:motorcar", "oneway:bicycle", "oneway:foot"};
    struct pbf_text own = dpl_pbf_tag_of(way, OWN[travel]), oneway = dpl_pbf_tag_of(way, "oneway");
    struct pbf_text junction = dpl_pbf_tag_of(way, "junction"),
                    lane = dpl_pbf_tag_of(way, "cycleway");
    if (own.length) oneway = own;
    if (travel == DPL_TRAVEL_WALK && !own.length) return ROADS_BOTH;
    if (travel == DPL_TRAVEL_BIKE && lane.length >= 8 && !memcmp(lane.bytes, "opposite", 8))
        return ROADS_BOTH;
    if (one_of(&oneway, ALONG)) return ROADS_ALONG;
    if (one_of(&oneway, AGAINST)) return ROADS_AGAINST;
    if (dpl_pbf_is(&oneway, "no")) return ROADS_BOTH;
    return one_of(&junction, RINGS) || motorway ? ROADS_ALONG : ROADS_BOTH;
}

/* ---- speed ---- */

/* "50", "30 mph", "50 km/h"; 0 for words and for what no road has. */
static double maxspeed_kmh(const struct pbf_way *way) {
    struct pbf_text text = dpl_pbf_tag_of(way, "maxspeed");
    double value = 0;
    size_t i = 0;
    for (; i < text.length && i < 4 && text.bytes[i] >= '0' && text.bytes[i] <= '9'; i++)
        value = 10 * value + (text.bytes[i] - '0');
    struct pbf_text unit = {text.bytes + i, text.length - i};
    while (unit.length && unit.bytes[0] == ' ') unit.bytes++, unit.length--;
    if (dpl_pbf_is(&unit, "mph")) value *= 1.609344;
    bool known = !unit.length || dpl_pbf_is(&unit, "mph") || dpl_pbf_is(&unit, "km/h");
    return known && value >= 5 && value <= 150 ? value : 0;
}

struct roads_use dpl_roads_rule(const struct pbf_way *way, enum dpl_travel travel) {
    struct pbf_text highway = dpl_pbf_tag_of(way, "highway"), area = dpl_pbf_tag_of(way, "area");
    struct roads_use use = {0};
    while (use.class < N_CLASSES && !dpl_pbf_is(&highway, CLASSES[use.class].name)) use.class ++;
    if (use.class == N_CLASSES || dpl_pbf_is(&area, "yes")) return (struct roads_use){0};
    const struct class *class = &CLASSES[use.class];
    int access = access_of(way, travel);
    double kmh = class->kmh[travel], posted = maxspeed_kmh(way);
    // A tag may open a way to bikes or feet that its class does not; a car wants a road.
    if (kmh <= 0 && access > 0 && travel == DPL_TRAVEL_BIKE) kmh = 10;
    if (kmh <= 0 && access > 0 && travel == DPL_TRAVEL_WALK) kmh = 5;
    if (kmh <= 0 || access < 0) return (struct roads_use){0};
    if (travel == DPL_TRAVEL_DRIVE && posted > 0) kmh = posted;
    use.speed_mps = kmh / 3.6;
    use.directions = directions_of(way, travel, !strncmp(class->name, "motorway", 8));
    return use;
}
