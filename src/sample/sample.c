/* The sampling driver.
 *
 *     round of trips:   draw (by the method, all threads) -> chunks in trip order: decode and write
 * as text (all threads)
 *                                                          -> file, chunk by chunk
 *
 * A trip depends on its number alone (generator.h), so that neither the threads nor the cuts into
 * rounds and chunks show in the result. Where trips are persons', each round has persons of its own
 * (diary.h): its trips are decoded once for their ends, given to persons, and written by person.
 * Memory is bounded by the round (trips and stays) and by one chunk of text per thread, whatever
 * the number of trips is. A round whose stays do not fit is drawn again with half the trips; that
 * needs trips of more than 16 distinct cells on the average.
 */
#include "sample/sample.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/json.h"
#include "base/options.h"
#include "base/trips.h"
#include "model/model.h"
#include "sample/publish.h"
#include "write/table.h"

enum { CHUNK_VISITS = 1 << 14, MAX_MH_STEPS = 1000000 };
static const double GPS_ERROR_MOST_M = 1000;
/* Without it trips on roads would lie on the map's lines, as no receiver's do. Chosen on San
 * Francisco: as many points within 15 and 30 m of a road as real ones (docs/RESULTS.md). */
static const double GPS_ERROR_ON_ROADS_M = 8;
static const int64_t BLOCKS_MOST = 1000000;
static const int64_t MAX_TRIPS = ((int64_t)1 << 40) - 1; // streams are numbered by 40 bits

/* What a thread needs to write a chunk. */
struct scribe {
    size_t begin, end; // trips of the round
    struct dpl_text text;
    struct dpl_random *random;
    struct dpl_decoded room;
    enum dpl_status status;
};

static void free_scribes(struct scribe *scribe, int n) {
    for (int i = 0; scribe != NULL && i < n; i++) {
        dpl_free(scribe[i].text.bytes);
        dpl_decoded_free(&scribe[i].room);
        dpl_random_free(scribe[i].random);
    }
    dpl_free(scribe);
}

static enum dpl_status make_scribes(struct dpl_run *run, const struct dpl_drawing *sampling, int n,
                                    struct scribe **made) {
    struct dpl_secret secret;
    enum dpl_status status;
    struct scribe *scribe = dpl_alloc(run, (size_t)n, sizeof *scribe);
    if (scribe == NULL) return DPL_SYSTEM;
    DPL_GO(dpl_secret_from_seed(run, sampling->seed, &secret));
    for (int i = 0; i < n && status == DPL_OK; i++) {
        status = dpl_decoded_new(run, sampling->decoder, sampling->length_max, &scribe[i].room);
        if (status == DPL_OK) status = dpl_random_new(run, &secret, &scribe[i].random);
    }
    dpl_secret_wipe(&secret);
    if (status != DPL_OK) goto done;
    *made = scribe;
    scribe = NULL;
done:
    free_scribes(scribe, n);
    return status;
}

/* Trip i of the round, which borrows from the scribe's room. */
static enum dpl_status decode(struct dpl_run *run, const struct dpl_drawing *sampling,
                              const struct dpl_round *round, size_t i, struct scribe *scribe,
                              struct dpl_visits *visits) {
    size_t n;
    const struct dpl_stay *stay = dpl_round_get(round, i, &n);
    struct dpl_stream stream;
    dpl_stream_open(
        &stream, scribe->random,
        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first + i, DPL_SYNTHESIS_DECODE});
    DPL_TRY(
        dpl_decode(sampling->decoder, &stream, round->period[i], stay, n, &scribe->room, visits));
    return dpl_stream_close(run, &stream);
}

/* ---- whose trips the round's are ---- */

/* The round's diary, and how many people the rounds before had; without people order is NULL. */
struct book {
    struct dpl_diary diary;
    int64_t people_before;
};

static struct dpl_errand errand_of(const struct dpl_decoder *decoder,
                                   const struct dpl_visits *visits) {
    size_t last = visits->n - 1;
    return (struct dpl_errand){
        .from = dpl_decoder_position(decoder, visits->lat_udeg[0], visits->lng_udeg[0]),
        .to = dpl_decoder_position(decoder, visits->lat_udeg[last], visits->lng_udeg[last]),
        .begin_s = visits->utc_s,
        .end_s = visits->utc_s + (int64_t)last * visits->slot_s,
        .day = dpl_zone_day(decoder->zone, visits->utc_s)};
}

/* Where and when all trips of the round begin and end: errand (n_trips). */
static enum dpl_status list_errands(struct dpl_run *run, const struct dpl_drawing *sampling,
                                    const struct dpl_round *round, struct scribe *scribe, int n,
                                    struct dpl_errand *errand) {
#pragma omp parallel for num_threads(n) schedule(static, 1)
    for (int t = 0; t < n; t++) {
        size_t begin = round->n_trips * (size_t)t / (size_t)n,
               end = round->n_trips * ((size_t)t + 1) / (size_t)n;
        scribe[t].status = DPL_OK;
        for (size_t i = begin; i < end && scribe[t].status == DPL_OK; i++) {
            struct dpl_visits visits;
            scribe[t].status = decode(run, sampling, round, i, &scribe[t], &visits);
            if (scribe[t].status == DPL_OK) errand[i] = errand_of(sampling->decoder, &visits);
        }
    }
    for (int t = 0; t < n; t++) DPL_TRY(scribe[t].status);
    return DPL_OK;
}

/* How many people the first trips are of, in proportion. */
static size_t people_of(const struct dpl_drawing *sampling, uint64_t trips) {
    __extension__ typedef unsigned __int128 wide;
    return (size_t)((wide)trips * (uint64_t)sampling->users / (uint64_t)sampling->trips);
}

static enum dpl_status make_diary(struct dpl_run *run, const struct dpl_drawing *sampling,
                                  const struct dpl_round *round, struct scribe *scribe, int n,
                                  struct dpl_diary *diary) {
    const struct dpl_area *area = &sampling->decoder->area;
    struct dpl_position corner = dpl_decoder_position(
        sampling->decoder, (int32_t)(area->north_deg * 1e6), (int32_t)(area->east_deg * 1e6));
    size_t people =
        people_of(sampling, round->first + round->n_trips) - people_of(sampling, round->first);
    struct dpl_errand *errand = dpl_alloc(run, round->n_trips, sizeof *errand);
    struct dpl_stream stream;
    if (errand == NULL) return DPL_SYSTEM;
    enum dpl_status status = list_errands(run, sampling, round, scribe, n, errand);
    dpl_stream_open(
        &stream, scribe[0].random,
        (struct dpl_stream_id){DPL_PURPOSE_SYNTHESIS, round->first, DPL_SYNTHESIS_DIARY});
    if (status == DPL_OK)
        status =
            dpl_diary_make(run, &sampling->habits, errand, round->n_trips, people > 0 ? people : 1,
                           (double)corner.x_m, (double)corner.y_m, &stream, diary);
    if (status == DPL_OK) status = dpl_stream_close(run, &stream);
    dpl_free(errand);
    return status;
}

/* ---- writing a round ---- */

static enum dpl_status write_chunk(struct dpl_run *run, const struct dpl_drawing *sampling,
                                   const struct dpl_round *round, const struct book *book,
                                   struct scribe *scribe) {
    scribe->text.used = 0;
    for (size_t i = scribe->begin; i < scribe->end; i++) {
        size_t trip = book->diary.order ? book->diary.order[i] : i;
        struct dpl_visits visits;
        DPL_TRY(decode(run, sampling, round, trip, scribe, &visits));
        visits.tid = (int64_t)(round->first + i) + 1;
        if (book->diary.order) visits.uid = book->people_before + book->diary.person[trip] + 1;
        visits.names = sampling->sheet.names;
        DPL_TRY(sampling->writer->trip(run, &visits, &scribe->text));
    }
    return DPL_OK;
}

/* The trips, beginning at `begin`, that make about CHUNK_VISITS visits. */
static size_t chunk_end(const struct dpl_round *round, const uint32_t *order, size_t begin) {
    size_t visits = 0, i = begin;
    for (; i < round->n_trips && visits < CHUNK_VISITS; i++) {
        size_t n;
        const struct dpl_stay *stay = dpl_round_get(round, order ? order[i] : i, &n);
        for (size_t j = 0; j < n; j++) visits += stay[j].visits;
    }
    return i;
}

static enum dpl_status write_round(struct dpl_run *run, const struct dpl_drawing *sampling,
                                   const struct dpl_round *round, const struct book *book,
                                   struct scribe *scribe, int n, const struct dpl_outlet *outlet) {
    for (size_t at = 0; at < round->n_trips;) {
        DPL_TRY(dpl_check_interrupt(run));
        for (int i = 0; i < n; i++) {
            scribe[i].begin = at;
            scribe[i].end = at = chunk_end(round, book->diary.order, at);
        }
#pragma omp parallel for num_threads(n) schedule(static, 1)
        for (int i = 0; i < n; i++)
            scribe[i].status = write_chunk(run, sampling, round, book, &scribe[i]);
        for (int i = 0; i < n; i++) {
            DPL_TRY(scribe[i].status);
            DPL_TRY(outlet->put(outlet->state, scribe[i].text.bytes, scribe[i].text.used));
        }
    }
    return DPL_OK;
}

/* What stands before the first trip, or behind the last. */
static enum dpl_status put_around(struct dpl_run *run, const struct dpl_drawing *sampling,
                                  const struct dpl_outlet *outlet, bool before) {
    const struct dpl_writer *writer = sampling->writer;
    struct dpl_text text = {0};
    enum dpl_status status = DPL_OK;
    if (!before)
        return writer->end ? outlet->put(outlet->state, writer->end, strlen(writer->end)) : DPL_OK;
    if (writer->begin) status = writer->begin(run, &sampling->sheet, &text);
    if (status == DPL_OK && text.used) status = outlet->put(outlet->state, text.bytes, text.used);
    dpl_free(text.bytes);
    return status;
}

/* The first trip of a block: blocks are as even as whole numbers allow. */
static int64_t block_begin(const struct dpl_drawing *sampling, int64_t block) {
    __extension__ typedef unsigned __int128 wide;
    if (sampling->blocks == 0) return block == 0 ? 0 : sampling->trips;
    return (int64_t)((wide)sampling->trips * (uint64_t)block / (uint64_t)sampling->blocks);
}

/* What stands before the first trip is in the first block, and what stands behind the last in the
 * last: all blocks, one behind the other, are the file that is drawn at once. */
enum dpl_status dpl_drawing_put(struct dpl_run *run, const struct dpl_drawing *sampling,
                                const struct dpl_outlet *outlet) {
    int n = dpl_run_threads(run);
    size_t most = sampling->round_trips;
    struct scribe *scribe = NULL;
    struct dpl_round *round = NULL;
    struct book book = {0};
    enum dpl_status status;
    const int64_t first = block_begin(sampling, sampling->block),
                  end = block_begin(sampling, sampling->block + 1);
    if (most > (uint64_t)(end - first)) most = (size_t)(end - first);
    DPL_GO(make_scribes(run, sampling, n, &scribe));
    DPL_GO(dpl_round_new(run, most, n, sampling->round_stays, &round));
    if (sampling->block == 0) DPL_GO(put_around(run, sampling, outlet, true));
    dpl_progress_begin(run, "drawing trips", "trips", (double)(end - first));
    for (int64_t done = first; done < end;) {
        size_t left = (size_t)(end - done), want = left < most ? left : most;
        dpl_round_begin(round, (uint64_t)done, want);
        DPL_GO(sampling->generator->draw(run, sampling->generator, round));
        if (atomic_load(&round->full)) { // cannot happen to a round of one trip: its stays are at
                                         // most length_max
            most = (want + 1) / 2;
            continue;
        }
        if (sampling->users > 0) DPL_GO(make_diary(run, sampling, round, scribe, n, &book.diary));
        DPL_GO(write_round(run, sampling, round, &book, scribe, n, outlet));
        book.people_before += (int64_t)book.diary.n_people;
        dpl_diary_free(&book.diary);
        done += (int64_t)want;
    }
    if (end == sampling->trips && sampling->block + 1 >= sampling->blocks)
        DPL_GO(put_around(run, sampling, outlet, false));
    dpl_progress_end(run);
done:
    dpl_diary_free(&book.diary);
    dpl_round_free(round);
    free_scribes(scribe, n);
    return status;
}

static enum dpl_status put_into_file(void *file, const char *bytes, size_t length) {
    return dpl_file_write(file, bytes, length);
}

enum dpl_status dpl_drawing_write(struct dpl_run *run, const struct dpl_drawing *sampling,
                                  struct dpl_file *file) {
    const struct dpl_table_kind *kind = sampling->writer->table;
    struct dpl_table *table;
    if (!kind) return dpl_drawing_put(run, sampling, &(struct dpl_outlet){file, put_into_file});
    DPL_TRY(dpl_table_begin(run, kind, &sampling->sheet, file, &table));
    return dpl_table_end(
        table, dpl_drawing_put(run, sampling, &(struct dpl_outlet){table, dpl_table_put}));
}

/* ---- the public calls ---- */

struct dpl_sample_options dpl_sample_defaults(void) {
    return (struct dpl_sample_options){.struct_size = sizeof(struct dpl_sample_options),
                                       .trips = -1,
                                       .seed = -1,
                                       .mh_steps = 10,
                                       .gps_error_m = -1};
}

static double gps_error_of(const struct dpl_sample_options *options) {
    if (options->gps_error_m >= 0) return options->gps_error_m;
    return options->roads != NULL ? GPS_ERROR_ON_ROADS_M : 0;
}

static enum dpl_status check_block(struct dpl_run *run, const struct dpl_sample_options *options) {
    if (options->blocks == 0 && options->block == 0) return DPL_OK;
    if (options->blocks < 1 || options->blocks > BLOCKS_MOST || options->block < 0 ||
        options->block >= options->blocks)
        return dpl_fail(run, DPL_USAGE, "`sample.block` is one of 1 to %lld blocks",
                        (long long)BLOCKS_MOST);
    // Each block would draw a seed of its own, and they would not belong together.
    if (options->seed < 0)
        return dpl_fail(run, DPL_USAGE,
                        "`sample.block` needs `sample.seed`: all blocks are drawn with one seed");
    if (options->release != NULL)
        return dpl_fail(run, DPL_USAGE,
                        "`sample.release` is for all trips, not for one block of them");
    return DPL_OK;
}

/* What does not depend on where the trips go. */
static enum dpl_status check_options(struct dpl_run *run,
                                     const struct dpl_sample_options *options) {
    struct dpl_days days;
    if (options->trips < -1 || options->trips > MAX_TRIPS)
        return dpl_fail(run, DPL_USAGE, "%lld trips cannot be drawn (0 to 2^40 - 1)",
                        (long long)options->trips);
    if (options->mh_steps < 0 || options->mh_steps > MAX_MH_STEPS)
        return dpl_fail(run, DPL_USAGE, "`sample.mh_steps` is a number from 0 to %d", MAX_MH_STEPS);
    if (dpl_choice_name("sample.times", (int)options->times) == NULL)
        return dpl_fail(run, DPL_USAGE, "`sample.times` is not one of the named values");
    if (options->interval_s < 0 || options->interval_s > 3600)
        return dpl_fail(run, DPL_USAGE, "`sample.interval_s` takes whole seconds, from 1 to 3600");
    if (!(options->gps_error_m == -1 ||
          (options->gps_error_m >= 0 && options->gps_error_m <= GPS_ERROR_MOST_M)))
        return dpl_fail(run, DPL_USAGE, "`sample.gps_error_m` takes metres, from 0 to %g",
                        GPS_ERROR_MOST_M);
    if (dpl_choice_name("travel", (int)options->travel) == NULL)
        return dpl_fail(run, DPL_USAGE, "`sample.travel` is not one of the named values");
    if (options->roads != NULL && options->points != DPL_POINTS_DRAWN)
        return dpl_fail(
            run, DPL_USAGE,
            "trips follow `sample.roads` only where points are drawn (`sample.points`)");
    DPL_TRY(check_block(run, options));
    return options->date ? dpl_days_parse(run, "sample.date", options->date, &days) : DPL_OK;
}

static enum dpl_status check_writer(struct dpl_run *run, const struct dpl_sample_options *options,
                                    const char *path, const struct dpl_writer *writer) {
    struct dpl_names names;
    DPL_TRY(dpl_names_parse(run, options->columns_out, &names));
    if (options->columns_out != NULL && !writer->renames)
        return dpl_fail(run, DPL_USAGE,
                        "the layout '%s' has columns of its own, so that `sample.columns_out` does "
                        "not belong to it",
                        writer->name);
    return writer->table ? dpl_table_check(run, path) : DPL_OK;
}

enum dpl_status dpl_sample_check(struct dpl_run *run, const struct dpl_sample_options *options,
                                 const char *path) {
    const struct dpl_writer *writer;
    dpl_run_begin(run);
    DPL_TRY(check_options(run, options));
    DPL_TRY(dpl_writer_find(run, options->to, path, &writer));
    DPL_TRY(check_writer(run, options, path, writer));
    if (options->release != NULL && !strcmp(path, "-"))
        return dpl_fail(run, DPL_USAGE,
                        "`sample.release` needs a file of trips, not standard output");
    if (options->release != NULL)
        DPL_TRY(dpl_publish_directory(run, options->release, options->overwrite));
    return strcmp(path, "-") ? dpl_sides_check(run, path, options->overwrite) : DPL_OK;
}

/* A fresh seed, small enough for a number in JSON. */
static enum dpl_status fresh_seed(struct dpl_run *run, uint64_t *seed) {
    struct dpl_secret secret;
    DPL_TRY(dpl_secret_new(run, &secret));
    memcpy(seed, secret.key, sizeof *seed);
    *seed >>= 64 - 53;
    dpl_secret_wipe(&secret);
    return DPL_OK;
}

/* As many as the model estimates for these days. Its number is of the trips that were kept of each
 * user; with those that were not there are as many more as the numbers of users' trips say. */
static int64_t count_trips(const struct dpl_model *model, const struct dpl_decoder *decoder,
                           const struct dpl_habits *habits) {
    double kept = dpl_habits_kept(habits,
                                  json_number_value(json_object_get(model->options, "trips-max"))),
           trips = (double)model->trips_estimated * decoder->calendar.volume;
    if (model->per_user && kept > 0) trips *= habits->mean_trips / kept;
    return (int64_t)fmin(fmax(rint(trips), 0), (double)MAX_TRIPS);
}

/* How many people the trips belong to: as many trips each as the model says of people, or else the
 * certificate's numbers; 0 when the unit is the trip, and without times, which make no diary. */
static int64_t count_users(const struct dpl_model *model, const struct dpl_habits *habits,
                           int64_t trips) {
    json_int_t units =
        json_integer_value(json_object_get(json_object_get(model->certificate, "size"), "units"));
    if (!model->per_user || !model->has_time || trips < 1) return 0;
    double each = habits->mean_trips > 0 ? habits->mean_trips
                  : units > 0 && model->trips_estimated > units
                      ? (double)model->trips_estimated / (double)units
                      : 1;
    int64_t users = (int64_t)((double)trips / each + 0.5);
    return users < 1 ? 1 : users;
}

/* What this sampling was, by the names of the command line. */
static json_t *options_json(const struct dpl_sample_options *options,
                            const struct dpl_drawing *sampling) {
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:s, s:s, s:s}", "trips", (json_int_t)sampling->trips, "seed",
        (json_int_t)sampling->seed, "mh-steps", (json_int_t)options->mh_steps, "points",
        dpl_choice_name("sample.points", (int)options->points), "times",
        dpl_choice_name("sample.times", (int)options->times), "to", sampling->writer->name);
    // Without it the fit's own days, or a typical week, which is no period to declare.
    if (options->date != NULL) dpl_json_set_text(&object, "dates", options->date);
    if (options->interval_s > 0)
        dpl_json_set(&object, "interval", json_integer(options->interval_s));
    if (options->roads != NULL || options->gps_error_m > 0)
        dpl_json_set(&object, "gps-error", json_real(gps_error_of(options)));
    if (options->blocks > 0)
        dpl_json_set(
            &object, "block",
            json_sprintf("%lld/%lld", (long long)options->block + 1, (long long)options->blocks));
    if (options->no_looping) dpl_json_set(&object, "no-looping", json_true());
    if (options->columns_out != NULL)
        dpl_json_set_text(&object, "columns-out", options->columns_out);
    return object;
}

static enum dpl_status find_writer(struct dpl_run *run, const struct dpl_sample_options *options,
                                   const char *path, const char *method, bool has_time,
                                   const struct dpl_writer **writer) {
    DPL_TRY(dpl_writer_find(run, options->to, path, writer));
    if ((*writer)->needs_time && !has_time)
        return dpl_fail(run, DPL_USAGE,
                        "a model of method %s has no times, and the layout '%s' needs them (use "
                        "`sample.to` csv)",
                        method, (*writer)->name);
    return DPL_OK;
}

enum dpl_status dpl_sample_check_times(struct dpl_run *run,
                                       const struct dpl_sample_options *options, const char *path,
                                       const char *method, bool has_time) {
    const struct dpl_writer *writer;
    return find_writer(run, options, path, method, has_time, &writer);
}

/* PRIVACY: a public map, read for what is already released. */
static enum dpl_status open_roads(struct dpl_run *run, const struct dpl_model *model,
                                  const struct dpl_sample_options *options,
                                  struct dpl_roads **roads) {
    if (options->roads == NULL) return DPL_OK;
    return dpl_roads_read(run, options->roads, &model->grid, options->travel, roads);
}

/* Everything but the file; the writer is there (NULL: into memory). */
static enum dpl_status prepare(struct dpl_run *run, const struct dpl_model *model,
                               const struct dpl_sample_options *options,
                               struct dpl_decoder **decoder, struct dpl_drawing *sampling) {
    sampling->seed = (uint64_t)options->seed;
    if (options->seed < 0) DPL_TRY(fresh_seed(run, &sampling->seed));
    DPL_TRY(dpl_names_parse(run, options->columns_out, &sampling->names));
    sampling->length_max = (uint32_t)model->length_max;
    sampling->round_trips = DPL_ROUND_TRIPS;
    sampling->round_stays = DPL_ROUND_STAYS;
    DPL_TRY(open_roads(run, model, options, &sampling->roads));
    struct dpl_draw_options draw = {
        .seed = sampling->seed, .mh_steps = options->mh_steps, .looping = !options->no_looping};
    DPL_TRY(dpl_generator_open(run, model, &draw, &sampling->generator));
    struct dpl_decode_options decode = {.date = options->date,
                                        .points = options->points,
                                        .interval_s = (int)options->interval_s,
                                        .gps_error_m = gps_error_of(options),
                                        .times = options->times,
                                        .roads = sampling->roads};
    if (decode.interval_s == 0 && sampling->writer != NULL)
        decode.interval_s = sampling->writer->interval_s;
    DPL_TRY(dpl_decoder_new(run, model, sampling->generator, &decode, decoder));
    sampling->decoder = *decoder;
    DPL_TRY(dpl_habits_read(run, model, &sampling->habits));
    sampling->trips =
        options->trips >= 0 ? options->trips : count_trips(model, *decoder, &sampling->habits);
    sampling->users = count_users(model, &sampling->habits, sampling->trips);
    sampling->block = options->block, sampling->blocks = options->blocks;
    if (sampling->users > 0 && sampling->blocks > 0)
        return dpl_fail(run, DPL_USAGE,
                        "`sample.block` is for trips without users: whose trip is next depends on "
                        "all trips of a diary, which are drawn together");
    sampling->sheet = (struct dpl_sheet){.names = &sampling->names,
                                         .users = sampling->users > 0,
                                         .timed = model->has_time,
                                         .times = options->times};
    if (model->has_time && (*decoder)->calendar.typical)
        dpl_note(run,
                 "no period was declared (`sample.date`): all trips are on the days of one typical "
                 "week, " DPL_TYPICAL_WEEK);
    if (model->has_time && options->times == DPL_TIMES_LOCAL && dpl_decoder_clocks_change(*decoder))
        dpl_note(run, "clocks change in these days: all times are written with the offset of their "
                      "beginning; `sample.times` naive writes what clocks show");
    return DPL_OK;
}

static json_t *manifest_json(struct dpl_run *run, const struct dpl_model *model,
                             const struct dpl_sample_options *options,
                             const struct dpl_drawing *sampling) {
    json_t *own = options_json(options, sampling),
           *manifest = own != NULL ? dpl_manifest(model, own) : NULL;
    json_decref(own);
    if (manifest == NULL || options->release == NULL) return manifest;
    dpl_json_set(&manifest, "release", dpl_publish_names(run, options->release_model));
    return manifest;
}

/* Where nothing stands beside the trips that could say so. */
static void note_not_private(struct dpl_run *run) {
    dpl_note(run,
             "NOT PRIVATE: these trips were made without noise, or with noise that a seed gives "
             "away");
}

static enum dpl_status write_to_standard_output(struct dpl_run *run, const struct dpl_model *model,
                                                const struct dpl_drawing *sampling) {
    struct dpl_file *file = NULL;
    if (model->not_private) note_not_private(run);
    DPL_TRY(dpl_file_create(run, "-", &(struct dpl_file_options){0}, &file));
    enum dpl_status status = dpl_drawing_write(run, sampling, file);
    if (status == DPL_OK) return dpl_file_commit(file);
    dpl_file_abort(file);
    return status;
}

static enum dpl_status write_with_sides(struct dpl_run *run, const struct dpl_model *model,
                                        const struct dpl_sample_options *options,
                                        const struct dpl_drawing *sampling, const char *path) {
    struct dpl_bundle *bundle = NULL;
    json_t *manifest = manifest_json(run, model, options, sampling);
    if (manifest == NULL) return dpl_fail(run, DPL_SYSTEM, "out of memory");
    enum dpl_status status;
    DPL_GO(dpl_bundle_open(run, path, options->overwrite, NULL, &bundle));
    DPL_GO(dpl_drawing_write(run, sampling, dpl_bundle_file(bundle)));
    DPL_GO(dpl_sides_add(run, model, sampling->roads, manifest, path, bundle));
    status = dpl_bundle_commit(bundle);
    bundle = NULL;
done:
    dpl_bundle_abort(bundle);
    json_decref(manifest);
    return status;
}

static void end_drawing(struct dpl_drawing *sampling, struct dpl_decoder *decoder) {
    dpl_decoder_free(decoder);
    if (sampling->generator != NULL) sampling->generator->free(sampling->generator);
    dpl_roads_free(sampling->roads);
}

/* Where the trips are, and what may be published of them, to the release's directory. */
static enum dpl_status publish(struct dpl_run *run, const struct dpl_model *model,
                               const struct dpl_sample_options *options,
                               const struct dpl_drawing *sampling, const char *path) {
    const struct dpl_publication publication = {.path = path,
                                                .model_path = options->release_model,
                                                .model = model,
                                                .writer = sampling->writer,
                                                .sheet = &sampling->sheet,
                                                .license = options->license};
    return dpl_publish(run, &publication, options->release, options->overwrite);
}

static enum dpl_status sample_to(struct dpl_run *run, const struct dpl_model *model,
                                 const struct dpl_sample_options *options, const char *path) {
    struct dpl_drawing sampling = {0};
    struct dpl_decoder *decoder = NULL;
    enum dpl_status status =
        find_writer(run, options, path, model->method, model->has_time, &sampling.writer);
    if (status == DPL_OK) status = prepare(run, model, options, &decoder, &sampling);
    if (status == DPL_OK)
        status = strcmp(path, "-") ? write_with_sides(run, model, options, &sampling, path)
                                   : write_to_standard_output(run, model, &sampling);
    if (status == DPL_OK && options->release != NULL)
        status = publish(run, model, options, &sampling, path);
    end_drawing(&sampling, decoder);
    return status;
}

enum dpl_status dpl_sample_write(struct dpl_run *run, const struct dpl_model *model,
                                 const struct dpl_sample_options *given, const char *path) {
    struct dpl_sample_options options = dpl_sample_defaults();
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "sample", given, &options));
    DPL_TRY(dpl_sample_check(run, &options, path));
    if (options.release != NULL) DPL_TRY(dpl_publish_check(run, model->not_private));
    return sample_to(run, model, &options, path);
}

enum dpl_status dpl_sample(struct dpl_run *run, const struct dpl_model *model,
                           const struct dpl_sample_options *given, struct dpl_trips **made) {
    struct dpl_sample_options options = dpl_sample_defaults();
    struct dpl_read_options read = dpl_read_defaults();
    struct dpl_drawing sampling = {0};
    struct dpl_decoder *decoder = NULL;
    struct dpl_trips *trips = NULL;
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_GO(dpl_options_take(run, "sample", given, &options));
    DPL_GO(check_options(run, &options));
    options.times = DPL_TIMES_UTC;
    read.time_optional = read.keep_too_fast = read.positions = true; // to be judged as it is
    DPL_GO(dpl_trips_new(run, &read, &trips));
    DPL_GO(prepare(run, model, &options, &decoder, &sampling));
    if (model->not_private) note_not_private(run);
    DPL_GO(dpl_drawing_keep(run, &sampling, trips));
    memcpy(trips->zone, model->grid.area.zone, sizeof trips->zone);
    *made = trips;
    trips = NULL;
done:
    end_drawing(&sampling, decoder);
    dpl_trips_free(trips);
    return status;
}
