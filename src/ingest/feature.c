/* Features as src/write makes them and kepler.gl animates them: a LineString whose positions are
 * [longitude, latitude, altitude, unix time]; "uid" among the properties names the user. One
 * Feature is one trip. A time is in seconds or milliseconds, which its size tells. Where times are
 * optional a position may have none. */
#include <jansson.h>
#include <string.h>

#include "ingest/feature.h"
#include "base/json.h"

enum { PLAIN_POSITION = 2, TIMED_POSITION = 4 };
static const double FIRST_S = 631152000, END_S = 4102444800; // 1990 to 2099, as everywhere

struct field dpl_feature_text(struct field line) {
    while (line.length && (*line.text == '\x1e' || *line.text == ' ')) line.text++, line.length--;
    return line;
}

enum dpl_status dpl_features_open(const struct opening *opening, struct layout *layout) {
    layout->split = SPLIT_NONE;
    layout->time_optional = opening->options->time_optional;
    return DPL_OK;
}

static enum dpl_reject read_position(json_t *position, bool time_optional, struct point *point,
                                     enum time_notation *notation) {
    size_t n = json_array_size(position);
    bool timed = n >= TIMED_POSITION || !time_optional;
    if (n < (timed ? TIMED_POSITION : PLAIN_POSITION)) return DPL_REJECT_MISSING_FIELD;
    for (size_t i = 0; i < n && i < TIMED_POSITION; i++)
        if (!json_is_number(json_array_get(position, i)))
            return i == 3 ? DPL_REJECT_BAD_TIME : DPL_REJECT_BAD_NUMBER;
    double time_s = json_number_value(json_array_get(position, 3));
    *notation = time_s < TIME_SECONDS_BELOW ? TIME_S : TIME_MS;
    if (*notation == TIME_MS) time_s /= 1000;
    point->lon_deg = json_number_value(json_array_get(position, 0));
    point->lat_deg = json_number_value(json_array_get(position, 1));
    if (timed && !(time_s >= FIRST_S && time_s < END_S)) return DPL_REJECT_TIME_OUT_OF_RANGE;
    point->utc_s = timed ? (int64_t)time_s : UNTIMED_S;
    return check_position(point->lat_deg, point->lon_deg);
}

/* Zero when there is no user. */
static struct dpl_key user_of(json_t *feature) {
    json_t *uid = json_object_get(json_object_get(feature, "properties"), "uid");
    char text[32];
    if (json_is_string(uid) && json_string_length(uid))
        return dpl_hash(json_string_value(uid), json_string_length(uid), SEED_USER);
    if (!json_is_integer(uid)) return (struct dpl_key){0, 0};
    int length = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(uid));
    return dpl_hash(text, (size_t)length, SEED_USER);
}

static enum dpl_status read_feature(struct block *block, struct field line) {
    json_t *feature;
    DPL_TRY(dpl_json_parse(block->run, line.text, line.length, 0, NULL, &feature));
    json_t *places = json_object_get(json_object_get(feature, "geometry"), "coordinates");
    enum dpl_reject reason =
        !feature || !json_is_array(places) ? DPL_REJECT_BAD_POLYLINE : DPL_REJECTS;
    enum dpl_status status = dpl_block_add_group(block, (struct dpl_key){0, 0}, user_of(feature));
    bool added = status == DPL_OK;
    for (size_t i = 0; status == DPL_OK && reason == DPL_REJECTS && i < json_array_size(places);
         i++) {
        struct point point = {0};
        enum time_notation notation;
        reason = read_position(json_array_get(places, i), block->layout->time_optional, &point,
                               &notation);
        if (reason == DPL_REJECTS && point.utc_s != UNTIMED_S) block_note_time(block, notation);
        if (reason == DPL_REJECTS) status = dpl_block_add_point(block, point);
    }
    if (added && reason != DPL_REJECTS) { // a bad position is the whole trip's
        dpl_block_reject(block, reason, "coordinates", line);
        dpl_block_drop_group(block);
    }
    json_decref(feature);
    return status;
}

enum dpl_status dpl_features_parse(struct block *block) {
    const char *text = block->text;
    struct field line;
    while (dpl_block_next_row(block, &text, &line))
        DPL_TRY(read_feature(block, dpl_feature_text(line)));
    return DPL_OK;
}
