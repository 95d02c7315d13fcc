/* Sampling as a whole: the same bytes for any threads and rounds, every layout read back, side
 * files, failures. */
#include "support.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hand_model.h"
#include "method/paper/vae_sample.h"
#include "sample/sample.h"
#include "sample/publish.h"
#include "base/date.h"

enum { TRIPS = 700 };

/* Small steps on small cells: no trip is too fast to be read back. */
static struct dpl_model *small_model(struct dpl_run *run, bool per_user) {
    struct hand_options options = hand_defaults(60);
    struct dpl_model *model;
    options.vae_hidden = 8, options.vae_latent = 4, options.embedding = 3, options.hidden = 10;
    options.reach_cells = 0.7, options.length_max = 25;
    options.per_user = per_user;
    assert_ok(run, hand_model(run, 250, &options, &model));
    json_object_set_new(model->certificate, "dploc_certificate", json_integer(1));
    return model;
}

static struct dpl_sample_options small_options(void) {
    struct dpl_sample_options options = dpl_sample_defaults();
    options.trips = TRIPS;
    options.seed = 5;
    return options;
}

static char *slurp(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 24);
    assert_non_null(bytes);
    *length = fread(bytes, 1, (1 << 24) - 1, file);
    bytes[*length] = '\0';
    fclose(file);
    return bytes;
}

static void assert_same_file(const char *a, const char *b) {
    size_t n, m;
    char *left = slurp(a, &n), *right = slurp(b, &m);
    assert_int_equal(n, m);
    assert_true(n > 0);
    assert_memory_equal(left, right, n);
    free(left), free(right);
}

/* The trips as the generator draws them, without decoding: what must come back from every layout.
 */
static struct dpl_round *draw_round(struct dpl_run *run, const struct dpl_model *model,
                                    const struct dpl_sample_options *options) {
    struct dpl_draw_options draw = {.seed = (uint64_t)options->seed,
                                    .mh_steps = options->mh_steps,
                                    .looping = !options->no_looping};
    struct dpl_generator *generator;
    struct dpl_round *round;
    assert_ok(run, dpl_generator_open(run, model, &draw, &generator));
    assert_ok(run, dpl_round_new(run, TRIPS, dpl_run_threads(run), 1 << 20, &round));
    dpl_round_begin(round, 0, TRIPS);
    assert_ok(run, generator->draw(run, generator, round));
    assert_false(atomic_load(&round->full));
    generator->free(generator);
    return round;
}

/* ---- the same trips ---- */

static void threads_do_not_show(void **unused) {
    (void)unused;
    char *folder = test_directory();
    const int threads[] = {1, 2, 8};
    const char *const names[] = {"1.csv", "2.csv", "8.csv"};
    for (size_t i = 0; i < 3; i++) {
        struct dpl_run *run = test_run(threads[i]);
        struct dpl_model *model = small_model(run, false);
        struct dpl_sample_options options = small_options();
        assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, names[i])));
        dpl_model_free(model);
        dpl_run_free(run);
    }
    assert_same_file(test_path(folder, "1.csv"), test_path(folder, "2.csv"));
    assert_same_file(test_path(folder, "1.csv"), test_path(folder, "8.csv"));
    test_directory_remove(folder);
}

static void write_in_rounds(struct dpl_run *run, const struct dpl_model *model, size_t round_trips,
                            size_t round_stays, const char *path) {
    struct dpl_sample_options options = small_options();
    struct dpl_draw_options draw = {.seed = 5, .mh_steps = options.mh_steps, .looping = true};
    struct dpl_drawing drawing = {.writer = &dpl_writer_csv,
                                  .seed = 5,
                                  .trips = TRIPS,
                                  .length_max = (uint32_t)model->length_max,
                                  .round_trips = round_trips,
                                  .round_stays = round_stays};
    struct dpl_decoder *decoder;
    struct dpl_file *file;
    assert_ok(run, dpl_generator_open(run, model, &draw, &drawing.generator));
    assert_ok(run, dpl_decoder_new(run, model, NULL,
                                   &(struct dpl_decode_options){.date = options.date}, &decoder));
    drawing.decoder = decoder;
    assert_ok(run, dpl_file_create(run, path, &(struct dpl_file_options){0}, &file));
    assert_ok(run, dpl_drawing_write(run, &drawing, file));
    assert_ok(run, dpl_file_commit(file));
    drawing.generator->free(drawing.generator);
    dpl_decoder_free(decoder);
}

/* However the trips are cut into rounds, and also where a round is too full and has to be halved.
 */
static void rounds_do_not_show(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(2);
    struct dpl_model *model = small_model(run, false);
    char *folder = test_directory();
    write_in_rounds(run, model, 1 << 20, 1 << 20, test_path(folder, "whole.csv"));
    write_in_rounds(run, model, 97, 1 << 20, test_path(folder, "cut.csv"));
    write_in_rounds(run, model, 1 << 20, 60, test_path(folder, "full.csv"));
    assert_same_file(test_path(folder, "whole.csv"), test_path(folder, "cut.csv"));
    assert_same_file(test_path(folder, "whole.csv"), test_path(folder, "full.csv"));
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* Sorting by graph and back mixes nothing up: trip i goes from source i to destination i in period
 * i of the autoencoder. */
static void trips_are_the_ones_drawn(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(2);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    struct dpl_vae_shape shape = dpl_vae_paper((size_t)model->n_cells, 24);
    struct dpl_secret secret;
    struct dpl_random *random;
    struct dpl_stream stream;
    const float *vae;
    int32_t source[TRIPS], destination[TRIPS];
    uint8_t period[TRIPS];
    shape.hidden = 8, shape.latent = 4;
    assert_ok(run, dpl_model_get(run, model, "vae", DPL_TENSOR_F32, 1,
                                 (size_t[]){dpl_vae_parameters(&shape)}, &vae));
    assert_ok(run, dpl_secret_from_seed(run, 5, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    dpl_stream_open(&stream, random,
                    (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, 0, DPL_SYNTHESIS_KEYS});
    assert_ok(run, dpl_vae_sample(run, &shape, vae, dpl_stream_u64(&stream), 0, TRIPS, source,
                                  destination, period));
    struct dpl_round *round = draw_round(run, model, &options);
    for (size_t i = 0; i < TRIPS; i++) {
        size_t n;
        const struct dpl_stay *stay = dpl_round_get(round, i, &n);
        assert_int_equal(stay[0].cell, source[i]);
        assert_int_equal(stay[n - 1].cell, destination[i]);
        assert_int_equal(round->period[i], period[i]);
    }
    dpl_round_free(round);
    dpl_random_free(random);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* ---- layouts ---- */

/* Whether trip i as it was read is trip `drawn` of the round. */
static bool same_trip(const struct dpl_cleaned *trips, size_t i, const struct dpl_model *model,
                      const struct dpl_round *round, size_t drawn) {
    size_t n, visit = trips->start[i], end = trips->start[i + 1];
    const struct dpl_stay *stay = dpl_round_get(round, drawn, &n);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < stay[j].visits; k++, visit++) {
            if (visit == end) return false;
            struct dpl_position at = trips->position[visit];
            if (dpl_grid_cell_of(&model->grid, (double)at.x_m, (double)at.y_m) !=
                model->cell[stay[j].cell])
                return false;
        }
    return visit == end && trips->period[i] == round->period[drawn];
}

/* Trips stand in the order drawn; those of users by user, each of them once. */
static void check_trips(const struct dpl_cleaned *trips, const struct dpl_model *model,
                        const struct dpl_round *round) {
    bool seen[TRIPS] = {false};
    assert_int_equal(trips->n_trips, TRIPS);
    for (size_t i = 0; i < TRIPS; i++) {
        size_t drawn = i;
        if (model->per_user && model->has_time)
            for (drawn = 0; drawn < TRIPS; drawn++)
                if (!seen[drawn] && same_trip(trips, i, model, round, drawn)) break;
        assert_true(drawn < TRIPS && same_trip(trips, i, model, round, drawn));
        seen[drawn] = true;
    }
}

static void layouts_read_back(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(2);
    char *folder = test_directory();
    const struct {
        const char *name, *to, *date;
        bool users;
        enum dpl_points_kind points;
        int64_t interval_s;
        enum dpl_times times;
    } cases[] = {
        {"a.csv", NULL, "2025-03-03", false, DPL_POINTS_UNIFORM, 0, DPL_TIMES_LOCAL},
        {"b.csv.gz", NULL, "2025-03-03..2025-03-09", false, DPL_POINTS_CENTRE, 0, DPL_TIMES_UTC},
        {"c.csv.zst", NULL, "2025-07-01", true, DPL_POINTS_DRAWN, 0, DPL_TIMES_NAIVE},
        {"d.porto.csv", NULL, "2025-03-03", false, DPL_POINTS_DRAWN, 0, DPL_TIMES_LOCAL},
        {"g.geojsonl", NULL, "2025-03-03", true, DPL_POINTS_DRAWN, 20, DPL_TIMES_NAIVE},
        {"h.geojsonl.zst", NULL, "2025-03-03..2025-03-05", false, DPL_POINTS_CENTRE, 0,
         DPL_TIMES_EPOCH},
        {"e.txt", "porto", "2025-03-03", true, DPL_POINTS_CENTRE, 0, DPL_TIMES_LOCAL},
        {"f.txt.gz", "csv", "2024-02-29..2024-02-29", true, DPL_POINTS_UNIFORM, 5, DPL_TIMES_EPOCH},
        // The clocks are put back on the 26th.
        {"i.csv", NULL, "2025-10-25..2025-10-27", false, DPL_POINTS_DRAWN, 0, DPL_TIMES_LOCAL},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct dpl_model *model = small_model(run, cases[c].users);
        struct dpl_sample_options options = small_options();
        struct dpl_read_options read = dpl_read_defaults();
        const char *path = test_path(folder, cases[c].name);
        struct dpl_cleaned *trips;
        options.to = cases[c].to, options.date = cases[c].date, options.points = cases[c].points,
        options.interval_s = cases[c].interval_s, options.times = cases[c].times;
        read.positions = true;
        assert_ok(run, dpl_sample_write(run, model, &options, path));
        struct dpl_round *round = draw_round(run, model, &options);
        assert_ok(run, dpl_cleaned_read(run, &path, 1, &read, &model->grid.area, &trips, NULL));
        check_trips(trips, model, round);
        if (cases[c].users)
            assert_int_equal(trips->n_users, TRIPS); // one trip each: the model says nothing else
        dpl_cleaned_free(trips);
        dpl_round_free(round);
        dpl_model_free(model);
    }
    test_directory_remove(folder);
    dpl_run_free(run);
}

static void geojson_lines_parse(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(2);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    const char *path = test_path(folder, "a.geojsonl");
    assert_ok(run, dpl_sample_write(run, model, &options, path));
    struct dpl_round *round = draw_round(run, model, &options);
    size_t length, i = 0;
    char *text = slurp(path, &length), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line; i++) {
        json_t *feature = json_loads(line, 0, NULL),
               *geometry = json_object_get(feature, "geometry"),
               *place = json_object_get(geometry, "coordinates");
        assert_string_equal(json_string_value(json_object_get(feature, "type")), "Feature");
        assert_string_equal(json_string_value(json_object_get(geometry, "type")), "LineString");
        assert_int_equal(
            json_integer_value(json_object_get(json_object_get(feature, "properties"), "tid")),
            i + 1);
        assert_null(json_object_get(json_object_get(feature, "properties"), "uid"));
        size_t n, visit = 0;
        json_int_t first = json_integer_value(json_array_get(json_array_get(place, 0), 3));
        const struct dpl_stay *stay = dpl_round_get(round, i, &n);
        for (size_t j = 0; j < n; j++)
            for (size_t k = 0; k < stay[j].visits; k++, visit++) {
                json_t *at = json_array_get(place, visit);
                double lng = json_number_value(json_array_get(at, 0)),
                       lat = json_number_value(json_array_get(at, 1));
                assert_int_equal(dpl_grid_cell_at(&model->grid, lat, lng),
                                 model->cell[stay[j].cell]);
                assert_int_equal(json_integer_value(json_array_get(at, 3)),
                                 first + (json_int_t)visit * 60);
            }
        assert_int_equal(json_array_size(place), visit);
        json_decref(feature);
    }
    assert_int_equal(i, TRIPS);
    free(text);
    dpl_round_free(round);
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* What has no times is read back by who does not need them. */
static void assert_reads_back_untimed(struct dpl_run *run, const struct dpl_model *model,
                                      const struct dpl_sample_options *options, const char *path) {
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_cleaned *trips;
    struct dpl_round *round = draw_round(run, model, options);
    read.positions = read.time_optional = true;
    assert_ok(run, dpl_cleaned_read(run, &path, 1, &read, &model->grid.area, &trips, NULL));
    assert_false(trips->has_time);
    memset(round->period, 0, TRIPS * sizeof *round->period); // of trips without times
    check_trips(trips, model, round);
    dpl_round_free(round);
    dpl_cleaned_free(trips);
}

static void no_time_leaves_the_column_empty(void **unused) {
    (void)unused;
    static const struct {
        const char *name, *begins;
    } CASES[] = {
        {"a.csv", "tid,datetime,lat,lng\n1,,4"},
        {"a.geojsonl", "{\"type\":\"Feature\",\"properties\":{\"tid\":1},\"geo"},
        {"a.dat", "#1:\n>0:11."},
    };
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    size_t length;
    model->has_time = false;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *path = test_path(folder, CASES[i].name);
        assert_ok(run, dpl_sample_write(run, model, &options, path));
        char *text = slurp(path, &length);
        assert_memory_equal(text, CASES[i].begins, strlen(CASES[i].begins));
        free(text);
        assert_reads_back_untimed(run, model, &options, path);
    }
    assert_int_equal(dpl_sample_write(run, model, &options, test_path(folder, "a.porto.csv")),
                     DPL_USAGE);
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* ---- decoding ---- */

/* Every place that may be drawn lies in its cell and in the box, for all cells, odd sizes and the
 * cut last row and column. */
static void places_lie_in_their_cells(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    const double sizes_m[] = {500, 250, 333.3, 1000, 77, 30000};
    for (size_t s = 0; s < sizeof sizes_m / sizeof *sizes_m; s++) {
        struct hand_options options = hand_defaults(1 << 16);
        struct dpl_model *model;
        struct dpl_decoder *decoder;
        options.vae_hidden = options.vae_latent = options.embedding = 2, options.hidden = 3;
        options.n_cells = 60000;
        assert_ok(run, hand_model(run, sizes_m[s], &options, &model));
        assert_ok(run,
                  dpl_decoder_new(run, model, NULL,
                                  &(struct dpl_decode_options){.date = "2025-03-03"}, &decoder));
        for (int32_t i = 0; i < model->n_cells; i++) {
            const struct dpl_place *box = &decoder->place[i];
            const int32_t lat[] = {box->south, box->north, box->lat},
                          lng[] = {box->west, box->east, box->lng};
            assert_true(box->south <= box->north && box->west <= box->east);
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    assert_int_equal(dpl_grid_cell_at(&model->grid, lat[a] * 1e-6, lng[b] * 1e-6),
                                     model->cell[i]);
        }
        dpl_decoder_free(decoder);
        dpl_model_free(model);
    }
    dpl_run_free(run);
}

/* Starts are spread over all that is allowed, and days over the range. */
static void starts_and_days_are_spread(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run, false);
    struct dpl_decoder *decoder;
    struct dpl_secret secret;
    struct dpl_random *random;
    enum { DRAWS = 20000, DAYS = 7, PARTS = 10 };
    double days[DAYS] = {0}, parts[PARTS] = {0};
    const struct dpl_stay stay = {3, 9};
    struct dpl_decoded room;
    assert_ok(run, dpl_decoder_new(run, model, NULL,
                                   &(struct dpl_decode_options){.date = "2025-03-03..2025-03-09",
                                                                .points = DPL_POINTS_UNIFORM},
                                   &decoder));
    assert_ok(run, dpl_decoded_new(run, decoder, 9, &room));
    assert_ok(run, dpl_secret_from_seed(run, 8, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    // Of nine visits at most four may lie before the hour, or five in it.
    int64_t earliest = -4 * 60, latest = 3600 - 4 * 60 - 1,
            first = dpl_days_from_date(2025, 3, 3) * 86400;
    for (uint64_t i = 0; i < DRAWS; i++) {
        struct dpl_stream stream;
        struct dpl_visits visits;
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_TEST, i, 0});
        assert_ok(run, dpl_decode(decoder, &stream, 17, &stay, 1, &room, &visits));
        assert_ok(run, dpl_stream_close(run, &stream));
        int64_t local = visits.utc_s + visits.offset_s - first, second = local % 86400 - 17 * 3600;
        assert_true(visits.n == 9 && second >= earliest && second <= latest);
        days[local / 86400]++;
        parts[(second - earliest) * PARTS / (latest + 1 - earliest)]++;
    }
    assert_true(test_chi2(days, NULL, DAYS, DRAWS) < 4.75);
    assert_true(test_chi2(parts, NULL, PARTS, DRAWS) < 4.75);
    dpl_random_free(random);
    dpl_decoded_free(&room);
    dpl_decoder_free(decoder);
    dpl_model_free(model);
    dpl_run_free(run);
}

static void assert_written(struct dpl_run *run, const struct dpl_visits *visits,
                           const char *expected) {
    struct dpl_text text = {0};
    assert_ok(run, dpl_writer_csv.trip(run, visits, &text));
    char *rows = strndup(text.bytes, text.used);
    assert_string_equal(rows, expected);
    free(rows);
    dpl_free(text.bytes);
}

/* A trip through the night on which the clocks are put forward: they show it, and nothing else. */
static void clocks_may_change_under_way(void **unused) {
    (void)unused;
    struct dpl_visits visits = {.tid = 1,
                                .n = 3,
                                .lat_udeg = (int32_t[]){48000000, -5, 48999999},
                                .lng_udeg = (int32_t[]){11500000, -122500001, 7},
                                .timed = true,
                                .utc_s = 1743296280,
                                .slot_s = 60,
                                .times = DPL_TIMES_NAIVE,
                                .offset_s = 3600,
                                .offset_after_s = 7200,
                                .change_at = 2};
    struct dpl_run *run = test_run(1);
    assert_written(run, &visits,
                   "1,2025-03-30T01:58:00,48.000000,11.500000\n"
                   "1,2025-03-30T01:59:00,-0.000005,-122.500001\n"
                   "1,2025-03-30T03:00:00,48.999999,0.000007\n");
    visits.change_at = 3, visits.times = DPL_TIMES_LOCAL;
    assert_written(run, &visits,
                   "1,2025-03-30T01:58:00+01:00,48.000000,11.500000\n"
                   "1,2025-03-30T01:59:00+01:00,-0.000005,-122.500001\n"
                   "1,2025-03-30T02:00:00+01:00,48.999999,0.000007\n");
    visits.n = 1, visits.offset_s = -5 * 3600 - 1800;
    assert_written(run, &visits, "1,2025-03-29T19:28:00-05:30,48.000000,11.500000\n");
    visits.times = DPL_TIMES_UTC;
    assert_written(run, &visits, "1,2025-03-30T00:58:00Z,48.000000,11.500000\n");
    visits.times = DPL_TIMES_EPOCH;
    assert_written(run, &visits, "1,1743296280,48.000000,11.500000\n");
    dpl_run_free(run);
}

/* Whatever days trips are drawn for, their offset is that of the first day's beginning. */
static void a_file_has_one_offset(void **unused) {
    (void)unused;
    static const struct {
        const char *date;
        bool change;
        const char *offset;
    } CASES[] = {{"2025-03-03", false, "+01:00"},
                 {"2025-03-30", true, "+01:00"},
                 {"2025-03-29..2025-03-31", true, "+01:00"},
                 {"2025-03-31", false, "+02:00"},
                 {"2025-10-20..2025-11-20", true, "+02:00"}};
    struct dpl_run *run = test_run(2);
    struct dpl_model *model = small_model(run, false);
    char *folder = test_directory();
    size_t length;
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        struct dpl_sample_options options = small_options();
        struct dpl_decoder *decoder;
        options.date = CASES[c].date, options.overwrite = true;
        assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "a.csv")));
        char *text = slurp(test_path(folder, "a.csv"), &length), *rest = strchr(text, '\n') + 1;
        for (char *line; (line = strsep(&rest, "\n")) != NULL && *line;)
            assert_memory_equal(strchr(line, 'T') + 9, CASES[c].offset, 6);
        free(text);
        assert_ok(run, dpl_decoder_new(run, model, NULL,
                                       &(struct dpl_decode_options){.date = CASES[c].date,
                                                                    .points = DPL_POINTS_CENTRE},
                                       &decoder));
        assert_int_equal(dpl_decoder_clocks_change(decoder), CASES[c].change);
        dpl_decoder_free(decoder);
    }
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

static void days_are_checked(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    const char *const bad[] = {"",
                               "2025-3-03",
                               "2025-02-30",
                               "2025-03-03..",
                               "2025-03-03..2025-03-02",
                               "2025-03-03 ",
                               "1066-10-14",
                               "2025-03-03...2025-03-04",
                               "today"};
    struct dpl_days days;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dpl_run_begin(run);
        assert_int_equal(dpl_days_parse(run, "sample.date", bad[i], &days), DPL_USAGE);
    }
    assert_ok(run, dpl_days_parse(run, "sample.date", "2025-03-03", &days));
    assert_true(days.n == 1 && dpl_weekday(days.first) == 0); // a Monday
    assert_ok(run, dpl_days_parse(run, "sample.date", "2024-02-28..2024-03-01", &days));
    assert_int_equal(days.n, 3);
    dpl_run_free(run);
}

/* ---- side files ---- */

static json_t *load(const char *path) {
    json_t *object = json_load_file(path, 0, NULL);
    assert_non_null(object);
    return object;
}

static void manifests_hold_public_options_only(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    json_object_set_new(model->certificate, "epsilon", json_real(1.5));
    json_object_set_new(model->certificate, "inputs", json_string("secret.csv"));
    options.mh_steps = 3, options.no_looping = true;
    assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "a.csv")));
    json_t *manifest = load(test_path(folder, "a.csv.manifest.json")),
           *all = json_object_get(manifest, "options");
    assert_int_equal(json_integer_value(json_object_get(all, "seed")), 5);
    assert_int_equal(json_integer_value(json_object_get(all, "trips")), TRIPS);
    assert_int_equal(json_integer_value(json_object_get(all, "mh-steps")), 3);
    assert_true(json_is_true(json_object_get(all, "no-looping")));
    assert_near(json_number_value(json_object_get(all, "epsilon")), 1.5, 0);
    assert_string_equal(json_string_value(json_object_get(all, "region")), "simulated");
    assert_null(
        json_object_get(all, "bbox")); // the region implies it, and both together are a usage error
    assert_int_equal(json_integer_value(json_object_get(all, "cell")), 250);
    // The hand-made model's options hold an input's name: it is on no list.
    char *text = json_dumps(manifest, 0);
    assert_null(strstr(text, "secret"));
    assert_null(strstr(text, "NOT PRIVATE"));
    assert_null(strstr(text, "vae_hidden"));
    free(text);
    json_decref(manifest);
    manifest = load(test_path(folder, "a.csv.certificate.json"));
    assert_near(json_number_value(json_object_get(manifest, "epsilon")), 1.5, 0);
    json_decref(manifest);
    assert_int_equal(access(test_path(folder, "a.csv.NOT-PRIVATE.txt"), F_OK), -1);
    json_object_del(model->options, "region");
    assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "b.csv")));
    manifest = load(test_path(folder, "b.csv.manifest.json"));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(manifest, "options"), "bbox")),
        "47.91,11.37,48.09,11.63");
    json_decref(manifest);
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

static size_t count_files(const char *path) {
    size_t n = 0;
    DIR *directory = opendir(path);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) n += entry->d_name[0] != '.';
    closedir(directory);
    return n;
}

static void releases_hold_what_may_be_published(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    char release[512];
    snprintf(release, sizeof release, "%s/public", folder);
    options.release = release;
    assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "a.csv")));
    assert_int_equal(count_files(release), 3);
    assert_same_file(test_path(release, "a.csv"), test_path(folder, "a.csv"));
    assert_same_file(test_path(release, "a.csv.certificate.json"),
                     test_path(folder, "a.csv.certificate.json"));
    assert_same_file(test_path(release, "a.csv.manifest.json"),
                     test_path(folder, "a.csv.manifest.json"));
    assert_int_equal(dpl_sample_write(run, model, &options, test_path(folder, "b.csv")),
                     DPL_USAGE); // it is there already
    assert_int_equal(access(test_path(folder, "b.csv"), F_OK), -1);
    options.overwrite = true;
    const char *stranger = test_file(release, "old.csv", "old", 3);
    assert_int_equal(dpl_sample_write(run, model, &options, test_path(folder, "b.csv")), DPL_USAGE);
    assert_non_null(strstr(dpl_run_message(run), "'old.csv', which no release put there"));
    assert_int_equal(access(test_path(folder, "b.csv"), F_OK), -1);
    assert_int_equal(count_files(release), 4); // not even by force
    assert_int_equal(unlink(stranger), 0);
    assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "b.csv")));
    assert_int_equal(access(test_path(release, "b.csv"), F_OK), 0);
    assert_int_equal(count_files(release), 3); // exactly what may be published: nothing old
    assert_int_equal(dpl_sample_write(run, model, &options, "-"), DPL_USAGE);
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

static void what_is_not_private_says_so(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    size_t length;
    model->not_private = true;
    assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "a.csv")));
    char *text = slurp(test_path(folder, "a.csv.NOT-PRIVATE.txt"), &length);
    assert_non_null(strstr(text, "NOT PRIVATE"));
    free(text);
    json_t *manifest = load(test_path(folder, "a.csv.manifest.json"));
    assert_true(json_is_false(json_object_get(manifest, "private")));
    assert_non_null(strstr(json_string_value(json_object_get(manifest, "warning")), "NOT PRIVATE"));
    json_decref(manifest);
    char release[512];
    snprintf(release, sizeof release, "%s/public", folder);
    options.release = release;
    assert_int_equal(dpl_sample_write(run, model, &options, test_path(folder, "b.csv")),
                     DPL_REFUSED);
    assert_int_equal(access(release, F_OK), -1);
    // A private release under the same name takes the warning away.
    options.release = NULL, options.overwrite = true, model->not_private = false;
    assert_ok(run, dpl_sample_write(run, model, &options, test_path(folder, "a.csv")));
    assert_int_equal(access(test_path(folder, "a.csv.NOT-PRIVATE.txt"), F_OK), -1);
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* ---- failures ---- */

static void models_that_do_not_fit_are_refused(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    const char *path = test_path(folder, "a.csv");
    struct dpl_model *model = small_model(run, false);
    snprintf(model->method, sizeof model->method, "oracle");
    assert_int_equal(dpl_sample_write(run, model, &options, path), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "oracle"));
    snprintf(model->method, sizeof model->method, "paper");
    json_object_set_new(model->options, "vae_hidden", json_integer(9));
    assert_int_equal(dpl_sample_write(run, model, &options, path), DPL_BAD_DATA);
    json_object_set_new(model->options, "vae_hidden", json_integer(-1));
    assert_int_equal(dpl_sample_write(run, model, &options, path), DPL_BAD_DATA);
    json_object_set_new(model->options, "vae_hidden", json_integer(8));
    model->length_max = 1;
    assert_int_equal(dpl_sample_write(run, model, &options, path), DPL_BAD_DATA);
    model->length_max = 25;
    options.to = "shapefile";
    assert_int_equal(dpl_sample_write(run, model, &options, path), DPL_USAGE);
    options.to = NULL;
    assert_int_equal(dpl_sample_write(run, model, &options, "a.shp"), DPL_USAGE);
    assert_int_equal(count_files(folder), 0);
    options.trips = 0;
    assert_ok(run, dpl_sample_write(run, model, &options, path)); // no trips is not wrong
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

/* An interrupt, before or while drawing, leaves nothing behind. */
static void interrupts_leave_nothing(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(2);
    struct dpl_model *model = small_model(run, false);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory();
    dpl_run_interrupt(run);
    assert_int_equal(dpl_sample_write(run, model, &options, test_path(folder, "a.csv")),
                     DPL_INTERRUPTED);
    assert_int_equal(count_files(folder), 0);
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

static void every_allocation_may_fail(void **unused) {
    (void)unused;
    struct dpl_run *run = test_run(1);
    struct dpl_model *model = small_model(run, true);
    struct dpl_sample_options options = small_options();
    char *folder = test_directory(), release[512];
    snprintf(release, sizeof release, "%s/public", folder);
    options.trips = 50;
    options.release = release;
    long n = 1;
    for (;; n++) {
        const char *path = test_path(folder, "a.csv");
        dpl_run_fail_allocation(run, n);
        enum dpl_status status = dpl_sample_write(run, model, &options, path);
        dpl_run_fail_allocation(run, 0);
        if (status == DPL_OK) break;
        assert_int_equal(status, DPL_SYSTEM);
        assert_non_null(strstr(dpl_run_message(run), "memory"));
        assert_int_equal(access(release, F_OK), -1);
        // Only the very last step may fail with the trips in place: their directory is then
        // missing, and said to be.
        if (access(path, F_OK) == 0)
            options.overwrite = true;
        else
            assert_int_equal(count_files(folder), 0);
        assert_true(n < 1000);
    }
    assert_true(n > 40); // the sweep went through all stages
    test_directory_remove(folder);
    dpl_model_free(model);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(rounds_do_not_show),
        cmocka_unit_test(trips_are_the_ones_drawn),
        cmocka_unit_test(layouts_read_back),
        cmocka_unit_test(geojson_lines_parse),
        cmocka_unit_test(no_time_leaves_the_column_empty),
        cmocka_unit_test(places_lie_in_their_cells),
        cmocka_unit_test(starts_and_days_are_spread),
        cmocka_unit_test(clocks_may_change_under_way),
        cmocka_unit_test(a_file_has_one_offset),
        cmocka_unit_test(days_are_checked),
        cmocka_unit_test(manifests_hold_public_options_only),
        cmocka_unit_test(releases_hold_what_may_be_published),
        cmocka_unit_test(what_is_not_private_says_so),
        cmocka_unit_test(models_that_do_not_fit_are_refused),
        cmocka_unit_test(interrupts_leave_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
