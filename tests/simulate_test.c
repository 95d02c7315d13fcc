/* The made-up city: is it like a city, is it the same every time, do all layouts hold it, and what
 * happens when something is wrong. Parsers and measures here are the test's own. */
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/date.h"
#include "base/zone.h"

struct point {
    int64_t utc_s;
    int32_t lat_e5, lon_e5;
};

struct one {
    int64_t trip, user;
    size_t first, n; /* points */
};

struct data {
    struct point *point;
    struct one *one;
    size_t n_points, n_trips, point_room, trip_room;
};

/* ---- reading ---- */

static void *larger(void *array, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) return array;
    *capacity = need * 2;
    array = realloc(array, *capacity * size);
    assert_non_null(array);
    return array;
}

static void begin_trip(struct data *data, int64_t trip, int64_t user) {
    data->one = larger(data->one, &data->trip_room, data->n_trips + 1, sizeof *data->one);
    data->one[data->n_trips++] = (struct one){trip, user, data->n_points, 0};
}

static void add_point(struct data *data, struct point point) {
    data->point = larger(data->point, &data->point_room, data->n_points + 1, sizeof *data->point);
    data->point[data->n_points++] = point;
    data->one[data->n_trips - 1].n++;
}

static void free_data(struct data *data) {
    free(data->point);
    free(data->one);
    *data = (struct data){0};
}

static char *slurp(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)length, file), length);
    fclose(file);
    bytes[length] = '\0';
    if (size) *size = (size_t)length;
    return bytes;
}

/* Moves on over the expected text, or fails the test. */
static void eat(const char **at, const char *text) {
    if (strncmp(*at, text, strlen(text))) fail_msg("expected '%s' at '%.40s'", text, *at);
    *at += strlen(text);
}

static int64_t eat_whole(const char **at) {
    char *end;
    long long value = strtoll(*at, &end, 10);
    if (end == *at) fail_msg("expected a number at '%.40s'", *at);
    *at = end;
    return value;
}

/* A number with exactly five decimals. */
static int32_t eat_e5(const char **at) {
    int64_t value = eat_whole(at);
    eat(at, ".");
    for (int i = 0; i < 5; i++, ++*at) {
        assert_in_range(**at, '0', '9');
        value = value * 10 + (**at - '0');
    }
    return (int32_t)value;
}

static void read_csv(const char *path, struct data *data) {
    char *text = slurp(path, NULL);
    const char *at = text;
    eat(&at, "trip_id,user_id,timestamp,lat,lon\n");
    while (*at) {
        int64_t trip = eat_whole(&at);
        eat(&at, ",");
        int64_t user = eat_whole(&at);
        eat(&at, ",");
        struct point point = {.utc_s = eat_whole(&at)};
        eat(&at, ",");
        point.lat_e5 = eat_e5(&at);
        eat(&at, ",");
        point.lon_e5 = eat_e5(&at);
        eat(&at, "\n");
        if (!data->n_trips || data->one[data->n_trips - 1].trip != trip)
            begin_trip(data, trip, user);
        add_point(data, point);
    }
    free(text);
}

static void read_porto(const char *path, struct data *data) {
    char *text = slurp(path, NULL);
    const char *at = text;
    eat(&at, "\"TRIP_ID\",\"CALL_TYPE\",\"ORIGIN_CALL\",\"ORIGIN_STAND\",\"TAXI_ID\",\"TIMESTAMP\","
             "\"DAY_TYPE\",\"MISSING_DATA\",\"POLYLINE\"\n");
    while (*at) {
        char id[64], column[3][16];
        long long taxi, utc_s;
        int length = 0;
        assert_int_equal(sscanf(at,
                                "\"%63[0-9]\",\"%1[ABC]\",%15[\"0-9],%15[\"0-9],\"%lld\",\"%lld\","
                                "\"A\",\"False\",\"[%n",
                                id, column[0], column[1], column[2], &taxi, &utc_s, &length),
                         6);
        assert_true(length > 0);
        at += length;
        begin_trip(data, (int64_t)data->n_trips + 1, taxi - 20000000);
        for (int64_t k = 0; *at == '['; k++) {
            struct point point = {.utc_s = utc_s + 15 * k};
            eat(&at, "[");
            point.lon_e5 = eat_e5(&at);
            eat(&at, ",");
            point.lat_e5 = eat_e5(&at);
            eat(&at, "]");
            if (*at == ',') at++;
            add_point(data, point);
        }
        eat(&at, "]\"\n");
    }
    free(text);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory, sorted; each and the list are the caller's. */
static char **list(const char *path, size_t *count) {
    DIR *folder = opendir(path);
    if (!folder) fail_msg("cannot open %s", path);
    char **names = NULL;
    size_t capacity = 0;
    *count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        names = larger(names, &capacity, *count + 1, sizeof *names);
        names[(*count)++] = strdup(entry->d_name);
    }
    closedir(folder);
    if (*count) qsort(names, *count, sizeof *names, by_name);
    return names;
}

static void free_list(char **names, size_t count) {
    for (size_t i = 0; i < count; i++) free(names[i]);
    free(names);
}

static void read_cab(const char *path, int64_t user, struct data *data) {
    struct row {
        struct point point;
        bool occupied;
    } *rows = NULL;
    size_t n = 0, capacity = 0;
    char *text = slurp(path, NULL);
    for (const char *at = text; *at; n++) {
        rows = larger(rows, &capacity, n + 1, sizeof *rows);
        rows[n].point.lat_e5 = eat_e5(&at);
        eat(&at, " ");
        rows[n].point.lon_e5 = eat_e5(&at);
        eat(&at, " ");
        rows[n].occupied = eat_whole(&at) == 1;
        eat(&at, " ");
        rows[n].point.utc_s = eat_whole(&at);
        eat(&at, "\n");
        if (n) assert_true(rows[n].point.utc_s < rows[n - 1].point.utc_s); // newest first
    }
    bool before = false;
    for (size_t i = n; i-- > 0; before = rows[i].occupied) {
        if (!rows[i].occupied) continue;
        if (!before) begin_trip(data, (int64_t)data->n_trips + 1, user);
        add_point(data, rows[i].point);
    }
    free(rows);
    free(text);
}

static void read_cabspotting(const char *path, struct data *data) {
    size_t count;
    char **names = list(path, &count);
    for (size_t i = 0; i < count; i++) {
        char letters[16];
        assert_int_equal(sscanf(names[i], "new_%15[a-z].txt", letters), 1);
        read_cab(test_path(path, names[i]), (int64_t)i + 1, data);
    }
    free_list(names, count);
}

static void read_plt(const char *path, const char *name, int64_t user, struct data *data) {
    char *text = slurp(path, NULL);
    const char *at = text;
    eat(&at, "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My "
             "Track,0,0,2,8421376\r\n0\r\n");
    begin_trip(data, (int64_t)data->n_trips + 1, user);
    for (bool first = true; *at; first = false) {
        struct point point;
        double altitude, days;
        int year, month, day, hour, minute, second, length = 0;
        point.lat_e5 = eat_e5(&at);
        eat(&at, ",");
        point.lon_e5 = eat_e5(&at);
        assert_int_equal(sscanf(at, ",0,%lf,%lf,%4d-%2d-%2d,%2d:%2d:%2d%n", &altitude, &days, &year,
                                &month, &day, &hour, &minute, &second, &length),
                         8);
        at += length;
        eat(&at, "\r\n");
        point.utc_s =
            dpl_days_from_date(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
        assert_true(fabs((days - 25569) * 86400 - (double)point.utc_s) < 0.01);
        char expected[32];
        snprintf(expected, sizeof expected, "%04d%02d%02d%02d%02d%02d.plt", year, month, day, hour,
                 minute, second);
        if (first) assert_string_equal(name, expected);
        add_point(data, point);
    }
    free(text);
}

static void read_geolife(const char *path, struct data *data) {
    char root[512], folder[600];
    size_t users, files;
    snprintf(root, sizeof root, "%s/Data", path);
    char **user = list(root, &users);
    for (size_t u = 0; u < users; u++) {
        snprintf(folder, sizeof folder, "%s/%s/Trajectory", root, user[u]);
        char **file = list(folder, &files);
        for (size_t f = 0; f < files; f++)
            read_plt(test_path(folder, file[f]), file[f], strtoll(user[u], NULL, 10) + 1, data);
        free_list(file, files);
    }
    free_list(user, users);
}

static void make_csv(const struct dpl_simulate_options *options, int threads, struct data *data) {
    struct dpl_run *run = test_run(threads);
    char *directory = test_directory();
    const char *path = test_path(directory, "city.csv");
    assert_ok(run, dpl_simulate(run, options, path));
    read_csv(path, data);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static size_t count_entries(const char *directory) {
    size_t count;
    char **names = list(directory, &count);
    free_list(names, count);
    return count;
}

/* ---- measures ---- */

static struct dpl_grid grid_of(double cell_m) {
    struct dpl_run *run = test_run(1);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    area.cell_m = cell_m;
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    dpl_run_free(run);
    return grid;
}

static struct dpl_zone *berlin(void) {
    struct dpl_run *run = test_run(1);
    struct dpl_zone *zone;
    assert_ok(run, dpl_zone_open(run, "Europe/Berlin", &zone));
    dpl_run_free(run);
    return zone;
}

static int32_t cell_of(const struct dpl_grid *grid, const struct point *p) {
    return dpl_grid_cell_at(grid, p->lat_e5 * 1e-5, p->lon_e5 * 1e-5);
}

static double step_m(const struct dpl_grid *grid, const struct point *a, const struct point *b) {
    double dx = (b->lon_e5 - a->lon_e5) * 1e-5 * grid->m_per_deg_lon,
           dy = (b->lat_e5 - a->lat_e5) * 1e-5 * grid->m_per_deg_lat;
    return sqrt(dx * dx + dy * dy);
}

enum { MAX_VISITS = 1440 };

/* One cell per minute: the most frequent, the first on a tie; empty ones between their neighbours.
 */
static size_t visits_of(const struct dpl_grid *grid, const struct point *p, size_t n,
                        int32_t *visit) {
    size_t slots = (size_t)((p[n - 1].utc_s - p[0].utc_s) / 60) + 1;
    assert_true(slots <= MAX_VISITS);
    for (size_t s = 0, at = 0; s < slots; s++) {
        size_t first = at, best = 0;
        while (at < n && (size_t)((p[at].utc_s - p[0].utc_s) / 60) == s) at++;
        for (size_t i = first; i < at; i++) {
            size_t same = 0;
            for (size_t j = first; j < at; j++)
                same += cell_of(grid, &p[j]) == cell_of(grid, &p[i]);
            if (same > best) best = same, visit[s] = cell_of(grid, &p[i]);
        }
        if (best) continue;
        double part = (double)(p[0].utc_s + 60 * (int64_t)s + 30 - p[at - 1].utc_s) /
                      (double)(p[at].utc_s - p[at - 1].utc_s);
        struct point middle = {
            .lat_e5 = p[at - 1].lat_e5 + (int32_t)(part * (p[at].lat_e5 - p[at - 1].lat_e5)),
            .lon_e5 = p[at - 1].lon_e5 + (int32_t)(part * (p[at].lon_e5 - p[at - 1].lon_e5))};
        visit[s] = cell_of(grid, &middle);
    }
    return slots;
}

static double entropy_bits(const double *count, size_t n) {
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++) total += count[i];
    for (size_t i = 0; i < n; i++)
        if (count[i] > 0) sum -= count[i] / total * log2(count[i] / total);
    return sum;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Entropy of a list of keys. */
static double entropy_of_keys(int64_t *key, size_t n) {
    double *count = calloc(n, sizeof *count);
    size_t distinct = 0;
    qsort(key, n, sizeof *key, by_value);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || key[i] != key[i - 1]) distinct++;
        count[distinct - 1]++;
    }
    double bits = entropy_bits(count, distinct);
    free(count);
    return bits;
}

struct figures {
    double hour_bits, length_bits, density_bits, od_bits, visits_mean;
    int visits_mode;
};

static struct figures measure(const struct data *data) {
    struct dpl_grid grid = grid_of(500);
    struct dpl_zone *zone = berlin();
    double hours[24] = {0}, lengths[MAX_VISITS + 1] = {0},
           *density = calloc((size_t)dpl_grid_cells(&grid), sizeof *density), visits = 0;
    int64_t *od = calloc(data->n_trips, sizeof *od);
    for (size_t t = 0; t < data->n_trips; t++) {
        int32_t visit[MAX_VISITS];
        const struct point *p = data->point + data->one[t].first;
        size_t n = visits_of(&grid, p, data->one[t].n, visit);
        int64_t middle_s = p[0].utc_s + 30 * (int64_t)n;
        hours[(middle_s + dpl_zone_offset_s(zone, middle_s)) / 3600 % 24]++;
        lengths[n]++;
        visits += (double)n;
        for (size_t v = 0; v < n; v++) density[visit[v]]++;
        od[t] = (int64_t)visit[0] << 32 | visit[n - 1];
    }
    struct figures f = {.hour_bits = entropy_bits(hours, 24),
                        .length_bits = entropy_bits(lengths, MAX_VISITS + 1)};
    f.density_bits = entropy_bits(density, (size_t)dpl_grid_cells(&grid));
    f.od_bits = entropy_of_keys(od, data->n_trips);
    f.visits_mean = visits / (double)data->n_trips;
    for (int i = 1; i <= MAX_VISITS; i++)
        if (lengths[i] > lengths[f.visits_mode]) f.visits_mode = i;
    free(od);
    free(density);
    dpl_zone_free(zone);
    return f;
}

/* ---- like a city ---- */

/* Entropies in bits of two data sets outside the project, cleaned by the rules of the method, 500 m
 * cells, 60 s slots, local hours: a German town simulated by others (low) and taxis of San
 * Francisco (high). The one of origin and destination grows with the number of trips, so it is
 * given for random samples of two sizes. */
static const struct range {
    double low, high;
} HOUR = {3.91, 4.47}, LENGTH = {3.09, 4.37}, DENSITY = {5.73, 7.42}, OD_20000 = {11.40, 12.67},
  OD_100000 = {11.62, 13.35};

static void assert_within(const char *name, double value, struct range range) {
    if (!(value >= range.low && value <= range.high))
        fail_msg("%s is %.3f, not between %.2f and %.2f", name, value, range.low, range.high);
}

static struct figures assert_like_a_city(const struct data *data, struct range od) {
    struct figures f = measure(data);
    assert_within("the entropy of hours", f.hour_bits, HOUR);
    assert_within("the entropy of lengths", f.length_bits, LENGTH);
    assert_within("the entropy of density", f.density_bits, DENSITY);
    assert_within("the entropy of origin and destination", f.od_bits, od);
    return f;
}

static struct data big, even; /* 100,000 trips as by default; 40,000 sampled every 15 s */

static int make_data(void **state) {
    (void)state;
    struct dpl_simulate_options options = dpl_simulate_defaults();
    make_csv(&options, 2, &big);
    options.trips = 40000;
    options.sampling = DPL_SAMPLING_REGULAR;
    make_csv(&options, 2, &even);
    return 0;
}

static int drop_data(void **state) {
    (void)state;
    free_data(&big);
    free_data(&even);
    return 0;
}

static void entropies_are_those_of_real_cities(void **state) {
    (void)state;
    assert_int_equal(big.n_trips, 100000);
    struct figures f = assert_like_a_city(&big, OD_100000);
    assert_within("the mean number of visits", f.visits_mean, (struct range){9, 14});
    assert_within("the most frequent number of visits", f.visits_mode, (struct range){6, 8});
}

static void other_cities_and_seeds_are_cities_too(void **state) {
    (void)state;
    for (uint64_t other = 2; other <= 4; other++) {
        struct dpl_simulate_options options = dpl_simulate_defaults();
        struct data data = {0};
        options.trips = 20000;
        options.city = other;
        options.seed = 100 + other;
        make_csv(&options, 2, &data);
        assert_like_a_city(&data, OD_20000);
        free_data(&data);
    }
}

static void assert_clean(const struct data *data, double cell_m) {
    struct dpl_grid grid = grid_of(cell_m);
    for (size_t t = 0; t < data->n_trips; t++) {
        const struct point *p = data->point + data->one[t].first, *end = p + data->one[t].n,
                           *entered = p;
        assert_true(end[-1].utc_s - p->utc_s >= 60); // two slots
        for (; p < end; p++) {
            int32_t cell = cell_of(&grid, p);
            assert_true(cell >= 0);
            if (cell != cell_of(&grid, entered)) entered = p;
            assert_true(p->utc_s - entered->utc_s < 900);
            if (p + 1 == end) break;
            int64_t gap_s = p[1].utc_s - p->utc_s;
            assert_in_range(gap_s, 1, 299);
            assert_true(step_m(&grid, p, p + 1) / (double)gap_s < 150 / 3.6);
        }
    }
}

static void every_trip_passes_the_cleaning_rules(void **state) {
    (void)state;
    assert_clean(&big, 500);
    assert_clean(&even, 500);
}

static void a_users_trips_never_overlap(void **state) {
    (void)state;
    for (size_t t = 1; t < big.n_trips; t++) {
        const struct one *before = &big.one[t - 1], *now = &big.one[t];
        assert_int_equal(now->trip, before->trip + 1);
        assert_true(now->user >= before->user);
        if (now->user == before->user)
            assert_true(big.point[now->first].utc_s >
                        big.point[before->first + before->n - 1].utc_s + 60);
    }
    assert_int_equal(big.one[big.n_trips - 1].user, 2500);
}

static int hour_of(const struct dpl_zone *zone, const struct point *p, bool *weekday) {
    int64_t local_s = p->utc_s + dpl_zone_offset_s(zone, p->utc_s);
    *weekday = (local_s / 86400 + 3) % 7 < 5;
    return (int)(local_s / 3600 % 24);
}

static void the_peak_is_slower_than_the_night(void **state) {
    (void)state;
    struct dpl_grid grid = grid_of(500);
    struct dpl_zone *zone = berlin();
    double way_m[3] = {0}, time_s[3] = {0}; // night, morning, evening
    for (size_t t = 0; t < even.n_trips; t++) {
        const struct point *p = even.point + even.one[t].first;
        bool weekday;
        int hour = hour_of(zone, p, &weekday), part = hour < 5                                ? 0
                                                      : weekday && (hour == 7 || hour == 8)   ? 1
                                                      : weekday && (hour == 16 || hour == 17) ? 2
                                                                                              : -1;
        if (part < 0) continue;
        for (size_t i = 1; i < even.one[t].n; i++) way_m[part] += step_m(&grid, &p[i - 1], &p[i]);
        time_s[part] += (double)(p[even.one[t].n - 1].utc_s - p->utc_s);
    }
    double night_mps = way_m[0] / time_s[0];
    assert_true(way_m[1] / time_s[1] <= 0.8 * night_mps);
    assert_true(way_m[2] / time_s[2] <= 0.8 * night_mps);
    assert_within("the speed at night", night_mps * 3.6, (struct range){25, 60});
    dpl_zone_free(zone);
}

/* Cells that gain people in the morning lose them in the evening. */
static void rush_hours_reverse(void **state) {
    (void)state;
    struct dpl_grid grid = grid_of(500);
    struct dpl_zone *zone = berlin();
    size_t cells = (size_t)dpl_grid_cells(&grid);
    double *morning = calloc(cells, sizeof *morning), *evening = calloc(cells, sizeof *evening),
           xy = 0, xx = 0, yy = 0;
    for (size_t t = 0; t < big.n_trips; t++) {
        const struct point *p = big.point + big.one[t].first;
        bool weekday;
        int hour = hour_of(zone, p, &weekday);
        double *gain = hour >= 7 && hour < 9 ? morning : hour >= 16 && hour < 19 ? evening : NULL;
        if (!weekday || !gain) continue;
        gain[cell_of(&grid, p)]--;
        gain[cell_of(&grid, &p[big.one[t].n - 1])]++;
    }
    for (size_t c = 0; c < cells; c++)
        xy += morning[c] * evening[c], xx += morning[c] * morning[c], yy += evening[c] * evening[c];
    assert_true(xy / sqrt(xx * yy) < -0.7);
    free(morning);
    free(evening);
    dpl_zone_free(zone);
}

/* After the clocks change, people leave at the same time by the clock. */
static void habits_follow_the_clock_through_daylight_saving(void **state) {
    (void)state;
    struct dpl_zone *zone = berlin();
    struct data data = {0};
    struct dpl_simulate_options options = dpl_simulate_defaults();
    options.trips = 10000;
    options.days = 14;
    options.date = "2025-03-24"; // the clocks go forward on Sunday the 30th
    make_csv(&options, 2, &data);
    double sum_s[2] = {0}, count[2] = {0};
    int64_t change_s = dpl_days_from_date(2025, 3, 30) * 86400 + 3600;
    for (size_t t = 0; t < data.n_trips; t++) {
        const struct point *p = data.point + data.one[t].first;
        bool weekday;
        int hour = hour_of(zone, p, &weekday), week = p->utc_s >= change_s;
        if (!weekday || hour < 4 || hour >= 11) continue;
        sum_s[week] += (double)((p->utc_s + dpl_zone_offset_s(zone, p->utc_s)) % 86400);
        count[week]++;
    }
    assert_true(count[0] > 500 && count[1] > 500);
    assert_true(fabs(sum_s[0] / count[0] - sum_s[1] / count[1]) < 600);
    free_data(&data);
    dpl_zone_free(zone);
}

/* Residents come and go at home: the cell at most ends of a user's trips is at half of the trips.
 */
static void users_have_habits(void **state) {
    (void)state;
    struct dpl_grid grid = grid_of(500);
    int32_t *seen = calloc((size_t)dpl_grid_cells(&grid), sizeof *seen);
    size_t users = 0, settled = 0;
    for (size_t t = 0, next; t < big.n_trips; t = next) {
        int32_t most = 0;
        for (next = t; next < big.n_trips && big.one[next].user == big.one[t].user; next++) {
            const struct point *p = big.point + big.one[next].first;
            int32_t from = cell_of(&grid, p), to = cell_of(&grid, &p[big.one[next].n - 1]);
            if (++seen[from] > most) most = seen[from];
            if (to != from && ++seen[to] > most) most = seen[to];
        }
        users++;
        settled += (size_t)most * 2 > next - t;
        memset(seen, 0, (size_t)dpl_grid_cells(&grid) * sizeof *seen);
    }
    assert_true(settled * 10 > users * 7 && settled * 10 < users * 9); // the rest are cabs
    free(seen);
}

static void sampling_is_irregular_unless_asked(void **state) {
    (void)state;
    size_t exact = 0, slow = 0, missed = 0, steps = 0;
    for (size_t t = 0; t < big.n_trips; t++)
        for (size_t i = 1; i < big.one[t].n; i++) {
            int64_t gap_s =
                big.point[big.one[t].first + i].utc_s - big.point[big.one[t].first + i - 1].utc_s;
            steps++, exact += gap_s == 15, slow += gap_s >= 45 && gap_s <= 75, missed += gap_s > 80;
        }
    assert_true(exact * 4 < steps && slow * 20 > steps && missed * 200 > steps);
    for (size_t t = 0; t < even.n_trips; t++)
        for (size_t i = 1; i < even.one[t].n; i++)
            assert_int_equal(even.point[even.one[t].first + i].utc_s -
                                 even.point[even.one[t].first + i - 1].utc_s,
                             15);
}

/* ---- several routes ---- */

enum { PAIRS = 100, TAKEN = 40, MAX_CELLS_OF_ROUTE = 400 };

struct route {
    int32_t cell[MAX_CELLS_OF_ROUTE];
    size_t n;
};

/* The distinct cells that the straight lines between the points touch. */
static void route_of(const struct dpl_grid *grid, const struct point *p, size_t n,
                     struct route *route) {
    route->n = 0;
    for (size_t i = 0; i + 1 < n; i++)
        for (int k = 0; k < 8; k++) {
            struct point q = {.lat_e5 = p[i].lat_e5 + (p[i + 1].lat_e5 - p[i].lat_e5) * k / 8,
                              .lon_e5 = p[i].lon_e5 + (p[i + 1].lon_e5 - p[i].lon_e5) * k / 8};
            int32_t cell = cell_of(grid, &q);
            size_t at = 0;
            while (at < route->n && route->cell[at] != cell) at++;
            if (at == route->n && at < MAX_CELLS_OF_ROUTE) route->cell[route->n++] = cell;
        }
}

/* Cells in common over cells in all. */
static double overlap(const struct route *a, const struct route *b) {
    size_t common = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < b->n; j++) common += a->cell[i] == b->cell[j];
    return (double)common / (double)(a->n + b->n - common);
}

/* Whether at least a tenth of the trips share less than 60 % of their cells with the most typical
 * one. */
static bool two_routes(const struct route *route, size_t n) {
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        size_t alike = 0;
        for (size_t j = 0; j < n; j++) alike += overlap(&route[i], &route[j]) >= 0.6;
        if (alike > best) best = alike;
    }
    return (n - best) * 10 >= n;
}

struct pair {
    int64_t key;
    size_t trip;
};

static int by_key(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->trip > y->trip) - (x->trip < y->trip);
}

static int by_count(const void *a, const void *b) {
    const struct pair *x = a, *y = b;
    return (x->key < y->key) - (x->key > y->key);
}

static void busy_pairs_have_several_routes(void **state) {
    (void)state;
    struct dpl_grid coarse = grid_of(500), fine = grid_of(250);
    struct pair *pair = calloc(even.n_trips, sizeof *pair),
                *group = calloc(even.n_trips, sizeof *group);
    size_t groups = 0, several = 0;
    for (size_t t = 0; t < even.n_trips; t++) {
        const struct point *p = even.point + even.one[t].first;
        pair[t] = (struct pair){
            (int64_t)cell_of(&coarse, p) << 32 | cell_of(&coarse, &p[even.one[t].n - 1]), t};
    }
    qsort(pair, even.n_trips, sizeof *pair, by_key);
    for (size_t i = 0; i < even.n_trips; i++) {
        if (i == 0 || pair[i].key != pair[i - 1].key) group[groups++].trip = i;
        group[groups - 1].key++; // how many trips; `trip` is where they begin
    }
    qsort(group, groups, sizeof *group, by_count);
    static struct route route[TAKEN];
    for (size_t g = 0; g < PAIRS; g++) {
        size_t n = group[g].key < TAKEN ? (size_t)group[g].key : TAKEN;
        assert_true(n >= 20);
        for (size_t i = 0; i < n; i++) {
            const struct one *one = &even.one[pair[group[g].trip + i].trip];
            route_of(&fine, even.point + one->first, one->n, &route[i]);
        }
        several += two_routes(route, n);
    }
    if (several < 80) fail_msg("only %zu of the %d busiest pairs have two routes", several, PAIRS);
    free(group);
    free(pair);
}

/* ---- the same every time, in every layout ---- */

static char *bytes_of(const struct dpl_simulate_options *options, int threads, size_t *size) {
    struct dpl_run *run = test_run(threads);
    char *directory = test_directory();
    const char *path = test_path(directory, "city");
    assert_ok(run, dpl_simulate(run, options, path));
    char *bytes = slurp(path, size);
    test_directory_remove(directory);
    dpl_run_free(run);
    return bytes;
}

static bool same_bytes(const struct dpl_simulate_options *a, int threads_a,
                       const struct dpl_simulate_options *b, int threads_b) {
    size_t size_a, size_b;
    char *one = bytes_of(a, threads_a, &size_a), *other = bytes_of(b, threads_b, &size_b);
    bool same = size_a == size_b && !memcmp(one, other, size_a);
    free(one);
    free(other);
    return same;
}

static void threads_do_not_change_a_byte(void **state) {
    (void)state;
    struct dpl_simulate_options options = dpl_simulate_defaults();
    options.trips = 7000; // several blocks
    assert_true(same_bytes(&options, 1, &options, 2));
    options.layout = DPL_LAYOUT_PORTO;
    assert_true(same_bytes(&options, 3, &options, 5));
}

/* Another compiler, another machine: still the same bytes. Changes when the city is changed on
 * purpose. */
static void the_default_city_is_this_one(void **state) {
    (void)state;
    struct dpl_simulate_options options = dpl_simulate_defaults();
    options.trips = 500;
    size_t size;
    char *bytes = bytes_of(&options, 2, &size);
    struct dpl_key key = dpl_hash(bytes, size, 0);
    free(bytes);
    if (key.hi != 0x6ca0bba99449ddf0u)
        fail_msg("the hash of the default city is 0x%016llx now", (unsigned long long)key.hi);
}

static void seed_city_and_pace_matter(void **state) {
    (void)state;
    struct dpl_simulate_options options = dpl_simulate_defaults(), other;
    options.trips = 500;
    other = options, other.seed = 2;
    assert_false(same_bytes(&options, 1, &other, 1));
    other = options, other.city = 2;
    assert_false(same_bytes(&options, 1, &other, 1));
    other = options, other.pace = DPL_PACE_WALK;
    assert_false(same_bytes(&options, 1, &other, 1));
}

static void assert_same_points(const struct data *a, const struct data *b) {
    assert_int_equal(a->n_trips, b->n_trips);
    assert_int_equal(a->n_points, b->n_points);
    for (size_t t = 0; t < a->n_trips; t++) {
        assert_int_equal(a->one[t].user, b->one[t].user);
        assert_int_equal(a->one[t].first, b->one[t].first);
    }
    for (size_t i = 0; i < a->n_points; i++) {
        assert_int_equal(a->point[i].utc_s, b->point[i].utc_s);
        assert_int_equal(a->point[i].lat_e5, b->point[i].lat_e5);
        assert_int_equal(a->point[i].lon_e5, b->point[i].lon_e5);
    }
}

static void all_layouts_hold_the_same_points(void **state) {
    (void)state;
    void (*const read[])(const char *, struct data *) = {read_csv, read_porto, read_cabspotting,
                                                         read_geolife};
    struct data data[4] = {{0}};
    struct dpl_run *run = test_run(2);
    char *directory = test_directory(), path[64];
    struct dpl_simulate_options options = dpl_simulate_defaults();
    options.trips = 1000;
    options.sampling = DPL_SAMPLING_REGULAR;
    for (int layout = 0; layout < 4; layout++) {
        options.layout = (enum dpl_layout)layout;
        snprintf(path, sizeof path, "%s/layout%d", directory, layout);
        assert_ok(run, dpl_simulate(run, &options, path));
        read[layout](path, &data[layout]);
    }
    for (int layout = 1; layout < 4; layout++) assert_same_points(&data[0], &data[layout]);
    assert_int_equal(data[0].n_trips, 1000);
    assert_int_equal(count_entries(directory), 4);
    for (int layout = 0; layout < 4; layout++) free_data(&data[layout]);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void walkers_are_slow_and_clean(void **state) {
    (void)state;
    struct data data = {0};
    struct dpl_simulate_options options = dpl_simulate_defaults();
    options.trips = 3000;
    options.pace = DPL_PACE_WALK;
    make_csv(&options, 2, &data);
    assert_clean(&data, 250);
    struct dpl_grid grid = grid_of(500);
    double way_m = 0, time_s = 0;
    for (size_t t = 0; t < data.n_trips; t++) {
        const struct point *p = data.point + data.one[t].first;
        for (size_t i = 1; i < data.one[t].n; i++) way_m += step_m(&grid, &p[i - 1], &p[i]);
        time_s += (double)(p[data.one[t].n - 1].utc_s - p->utc_s);
    }
    assert_within("the speed of walkers in km/h", 3.6 * way_m / time_s, (struct range){3.5, 6});
    assert_true(time_s / (double)data.n_trips > 1500);
    free_data(&data);
}

/* ---- when something is wrong ---- */

static void assert_refused(struct dpl_simulate_options options, const char *path,
                           enum dpl_status status, const char *words) {
    struct dpl_run *run = test_run(2);
    assert_int_equal(dpl_simulate(run, &options, path), status);
    if (!strstr(dpl_run_message(run), words))
        fail_msg("'%s' does not say '%s'", dpl_run_message(run), words);
    dpl_run_free(run);
}

static void nonsense_is_refused_with_a_sentence(void **state) {
    (void)state;
    char *directory = test_directory();
    const char *path = test_path(directory, "city");
    const struct dpl_simulate_options good = dpl_simulate_defaults();
    struct dpl_simulate_options o;
    o = good, o.trips = 0, assert_refused(o, path, DPL_USAGE, "0 trips");
    o = good, o.trips = INT64_MAX, assert_refused(o, path, DPL_USAGE, "trips");
    o = good, o.days = 0, assert_refused(o, path, DPL_USAGE, "0 days");
    o = good, o.users = -1, assert_refused(o, path, DPL_USAGE, "-1 users");
    o = good, o.users = 3, assert_refused(o, path, DPL_USAGE, "give more users or days");
    o = good, o.layout = (enum dpl_layout)9, assert_refused(o, path, DPL_USAGE, "layout");
    o = good, o.dirty = true, o.layout = DPL_LAYOUT_GEOLIFE,
    assert_refused(o, path, DPL_USAGE, "csv layout only");
    const char *const bad_dates[] = {"",         "2025-02-29",  "2025-13-01", "2025-00-10",
                                     "2025-3-3", "2025-03-03x", "1970-01-01", "tomorrow"};
    for (size_t i = 0; i < sizeof bad_dates / sizeof *bad_dates; i++)
        o = good, o.date = bad_dates[i], assert_refused(o, path, DPL_USAGE, "is not a date");
    o = good, o.layout = DPL_LAYOUT_CABSPOTTING, assert_refused(o, "-", DPL_USAGE, "directory");
    for (int layout = 0; layout < 4; layout++)
        o = good, o.layout = (enum dpl_layout)layout,
        assert_refused(o, test_path(directory, "no/such/place"), DPL_SYSTEM, "No such file");
    assert_int_equal(count_entries(directory), 0);
    test_directory_remove(directory);
}

static void what_is_there_is_kept_unless_forced(void **state) {
    (void)state;
    char *directory = test_directory();
    struct dpl_run *run = test_run(1);
    struct dpl_simulate_options options = dpl_simulate_defaults();
    options.trips = 20;
    for (int layout = 0; layout < 4; layout++) {
        options.layout = (enum dpl_layout)layout;
        const char *path = test_path(directory, "city");
        options.overwrite = false;
        assert_ok(run, dpl_simulate(run, &options, path));
        assert_int_equal(dpl_simulate(run, &options, path), DPL_USAGE);
        assert_non_null(strstr(dpl_run_message(run), "`overwrite`"));
        options.overwrite = true;
        assert_ok(run, dpl_simulate(run, &options, path));
        assert_int_equal(count_entries(directory), 1);
        if (layout >= 2) { // a stranger in the directory: never removed, not even by force
            test_file(path, "letter.txt", "dear", 4);
            assert_int_equal(dpl_simulate(run, &options, path), DPL_USAGE);
            assert_non_null(strstr(dpl_run_message(run), "other files"));
            free(slurp(test_path(path, "letter.txt"), NULL));
        }
        char gone[64];
        snprintf(gone, sizeof gone, "%s/gone%d", directory, layout);
        assert_int_equal(rename(path, gone), 0);
        test_directory_remove(directory);
        directory = test_directory();
    }
    options.layout = DPL_LAYOUT_GEOLIFE;
    assert_refused(options, test_file(directory, "plain", "x", 1), DPL_USAGE, "not a directory");
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char *directory = test_directory();
    for (int layout = 0; layout < 4; layout++) {
        struct dpl_simulate_options options = dpl_simulate_defaults();
        options.trips = 6;
        options.users = 2;
        options.layout = (enum dpl_layout)layout;
        options.sampling = DPL_SAMPLING_REGULAR;
        long n = 1;
        for (enum dpl_status status = DPL_SYSTEM; status != DPL_OK; n++) {
            struct dpl_run *run = test_run(1);
            dpl_run_fail_allocation(run, n);
            status = dpl_simulate(run, &options, test_path(directory, "city"));
            if (status != DPL_OK) {
                assert_int_equal(status, DPL_SYSTEM);
                assert_non_null(strstr(dpl_run_message(run), "out of memory"));
                assert_int_equal(count_entries(directory), 0);
            }
            dpl_run_free(run);
        }
        assert_true(n > 40);
        test_directory_remove(directory);
        directory = test_directory();
    }
    test_directory_remove(directory);
}

static void an_interrupt_leaves_nothing(void **state) {
    (void)state;
    char *directory = test_directory();
    for (int layout = 0; layout < 4; layout++) {
        struct dpl_run *run = test_run(2);
        struct dpl_simulate_options options = dpl_simulate_defaults();
        options.layout = (enum dpl_layout)layout;
        options.sampling = DPL_SAMPLING_REGULAR;
        dpl_run_interrupt(run);
        assert_int_equal(dpl_simulate(run, &options, test_path(directory, "city")),
                         DPL_INTERRUPTED);
        assert_int_equal(count_entries(directory), 0);
        dpl_run_free(run);
    }
    test_directory_remove(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entropies_are_those_of_real_cities),
        cmocka_unit_test(other_cities_and_seeds_are_cities_too),
        cmocka_unit_test(every_trip_passes_the_cleaning_rules),
        cmocka_unit_test(a_users_trips_never_overlap),
        cmocka_unit_test(the_peak_is_slower_than_the_night),
        cmocka_unit_test(rush_hours_reverse),
        cmocka_unit_test(habits_follow_the_clock_through_daylight_saving),
        cmocka_unit_test(users_have_habits),
        cmocka_unit_test(sampling_is_irregular_unless_asked),
        cmocka_unit_test(busy_pairs_have_several_routes),
        cmocka_unit_test(threads_do_not_change_a_byte),
        cmocka_unit_test(the_default_city_is_this_one),
        cmocka_unit_test(seed_city_and_pace_matter),
        cmocka_unit_test(all_layouts_hold_the_same_points),
        cmocka_unit_test(walkers_are_slow_and_clean),
        cmocka_unit_test(nonsense_is_refused_with_a_sentence),
        cmocka_unit_test(what_is_there_is_kept_unless_forced),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(an_interrupt_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, make_data, drop_data);
}
