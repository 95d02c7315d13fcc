/* dploc inspect: what is in a data file, before and after cleaning (all of it NOT PRIVATE), or in a
 * file of ours. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data.h"
#include "kind.h"
#include "manual.h"
#include "roads.h"

enum { BAR = 40, HISTOGRAM_MAX = 4096 };

/* What cleaning left, summed up. */
struct summary {
    double mean, deviation;
    size_t mode, longest, users;
    size_t by_length[HISTOGRAM_MAX]; /* the last bin is open */
    size_t by_period[DPL_MAX_PERIODS];
};

static void summarise(const struct dpl_cleaned *trips, struct summary *s) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < trips->n_trips; i++) {
        size_t length = trips->start[i + 1] - trips->start[i];
        sum += (double)length;
        squares += (double)length * (double)length;
        if (length > s->longest) s->longest = length;
        s->by_length[length < HISTOGRAM_MAX ? length : HISTOGRAM_MAX - 1]++;
        s->by_period[trips->period[i]]++;
    }
    s->mean = sum / (double)trips->n_trips;
    s->deviation = sqrt(fmax(0, squares / (double)trips->n_trips - s->mean * s->mean));
    s->users = trips->n_users;
    for (size_t i = 0; i < HISTOGRAM_MAX; i++)
        if (s->by_length[i] > s->by_length[s->mode]) s->mode = i;
}

/* The interval that half of all steps do not exceed, in seconds. */
static int median_interval_s(const struct dpl_read_facts *facts) {
    int64_t total = 0, below = 0;
    for (int i = 0; i < DPL_INTERVALS; i++) total += facts->interval_s[i];
    for (int i = 0; i < DPL_INTERVALS; i++) {
        below += facts->interval_s[i];
        if (total && 2 * below >= total) return i;
    }
    return 0;
}

static void format_utc(int64_t utc_s, char text[32]) {
    time_t moment = (time_t)utc_s;
    struct tm parts;
    gmtime_r(&moment, &parts);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* ---- text ---- */

static void print_bar(const char *label, size_t count, size_t most) {
    int width = most ? (int)((double)count / (double)most * BAR + 0.5) : 0;
    printf("  %6s %9zu ", label, count);
    for (int i = 0; i < width; i++) putchar('#');
    putchar('\n');
}

/* Lengths up to 20 singly, then in bins that grow by half. */
static void print_lengths(const struct summary *s) {
    printf("\nvisits a trip: mean %.2f, deviation %.2f, mode %zu, longest %zu\n", s->mean,
           s->deviation, s->mode, s->longest);
    for (size_t begin = 2, width = 1; begin <= s->longest && begin < HISTOGRAM_MAX;
         begin += width) {
        size_t count = 0;
        if (begin > 20) width = begin / 2;
        for (size_t i = begin; i < begin + width && i < HISTOGRAM_MAX; i++)
            count += s->by_length[i];
        char label[32];
        if (width == 1)
            snprintf(label, sizeof label, "%zu", begin);
        else
            snprintf(label, sizeof label, "%zu-%zu", begin, begin + width - 1);
        print_bar(label, count, s->by_length[s->mode]);
    }
}

static void print_hours(const struct summary *s, int periods) {
    size_t most = 0;
    for (int i = 0; i < periods; i++)
        if (s->by_period[i] > most) most = s->by_period[i];
    printf("\ntrips by %s (local time)\n", periods == 24 ? "hour" : "period of the day");
    for (int i = 0; i < periods; i++) {
        char label[16];
        snprintf(label, sizeof label, "%d", i);
        print_bar(label, s->by_period[i], most);
    }
}

static void print_facts(const struct dpl_read_facts *f) {
    char text[CLI_TEXT];
    printf("NOT PRIVATE: these facts come straight from the data\n\n");
    printf("format    %s%s\n", f->format,
           f->scattered ? " (rows of a trip were scattered: sorted)" : "");
    if (f->columns[0]) printf("columns   %s\n", f->columns);
    printf("times     %s\n", cli_fields(f->time_format, text, sizeof text));
    if (f->options_needed[0])
        printf("options   guessed from the rows; fit, synth, eval and report need %s\n",
               cli_fields(f->options_needed, text, sizeof text));
    for (size_t i = 0; i < f->n_hints; i++)
        printf("hint      %s\n", cli_fields(f->hint[i], text, sizeof text));
    printf("files     %zu%s", f->files, f->files_skipped ? "" : "\n");
    if (f->files_skipped) printf(" (%zu more are no data files)\n", f->files_skipped);
    printf("rows      %" PRId64 "\n", f->rows);
    printf("trips     %" PRId64, f->trips_read);
    if (f->trips_cut)
        printf(" (cut from users' points at gaps of %g minutes and stays of 15)",
               f->gap_limit_s / 60.0);
    putchar('\n');
    if (f->users)
        printf("users     %zu\n", f->users);
    else
        printf("users     not named\n");
    bool timed = f->first_utc_s <= f->last_utc_s;
    printf("points    %" PRId64, f->points);
    if (timed) printf(", every %d s (median)", median_interval_s(f));
    putchar('\n');
    if (timed) {
        char first[32], last[32];
        format_utc(f->first_utc_s, first), format_utc(f->last_utc_s, last);
        printf("from      %s to %s\n", first, last);
    }
    printf(
        "extent    %.5f to %.5f north, %.5f to %.5f east (NOT PRIVATE: never use it as --bbox)\n",
        f->south_deg, f->north_deg, f->west_deg, f->east_deg);
    for (int i = 0; i < DPL_REJECTS; i++)
        if (f->rows_rejected[i])
            printf("rejected  %" PRId64 " rows: %s, first %s\n", f->rows_rejected[i],
                   dpl_reject_name((enum dpl_reject)i), f->example[i]);
    if (f->rows_rejected[DPL_REJECT_CUT_OFF])
        printf(
            "warning   a last line has no line end: the file may be cut off; if it is whole, end "
            "that line\n");
}

static void print_cleaned(const struct dpl_read_facts *f, const struct dpl_cleaned *trips,
                          const struct summary *s) {
    printf("\nafter cleaning (%d x %d cells of %g m, zone %s)\n", trips->grid.columns,
           trips->grid.rows, trips->grid.area.cell_m, trips->grid.area.zone);
    printf("kept      %zu of %" PRId64 " trips, %zu visits, %zu users\n", trips->n_trips,
           f->trips_read, trips->n_visits, s->users);
    for (int i = 0; i < DPL_DROPS; i++)
        if (f->trips_dropped[i])
            printf("dropped   %" PRId64 " trips: %s\n", f->trips_dropped[i],
                   dpl_drop_name((enum dpl_drop)i));
    if (f->points_dropped)
        printf("dropped   %" PRId64 " points: outside_box, or too_fast to reach\n",
               f->points_dropped);
    print_lengths(s);
    if (trips->has_time) print_hours(s, trips->grid.area.periods);
}

/* ---- JSON ---- */

static json_t *counts_json(const int64_t *count, int n, bool rejects) {
    json_t *object = json_object();
    for (int i = 0; i < n; i++)
        if (count[i])
            json_object_set_new(object,
                                rejects ? dpl_reject_name((enum dpl_reject)i)
                                        : dpl_drop_name((enum dpl_drop)i),
                                json_integer(count[i]));
    return object;
}

static json_t *histogram_json(const size_t *count, size_t first, size_t last) {
    json_t *array = json_array();
    for (size_t i = first; i <= last; i++)
        json_array_append_new(array, json_integer((json_int_t)count[i]));
    return array;
}

static json_t *hints_json(const struct dpl_read_facts *f) {
    json_t *list = json_array();
    char text[CLI_TEXT];
    for (size_t i = 0; list && i < f->n_hints; i++)
        json_array_append_new(list, json_string(cli_fields(f->hint[i], text, sizeof text)));
    return list;
}

static json_t *facts_json(const struct dpl_read_facts *f) {
    char first[32] = "", last[32] = "", times[CLI_TEXT], needed[CLI_TEXT];
    if (f->first_utc_s <= f->last_utc_s)
        format_utc(f->first_utc_s, first), format_utc(f->last_utc_s, last);
    return json_pack(
        "{s:o, s:b, s:s, s:s, s:s, s:s, s:b, s:i, s:i, s:I, s:I, s:I, s:i, s:i, s:s, s:s, "
        "s:[f,f,f,f], s:o}",
        "hints", hints_json(f), "not_private", 1, "format", f->format, "columns", f->columns,
        "time_format", cli_fields(f->time_format, times, sizeof times), "options_needed",
        cli_fields(f->options_needed, needed, sizeof needed), "scattered", f->scattered, "files",
        (int)f->files, "files_skipped", (int)f->files_skipped, "rows", (json_int_t)f->rows,
        "trips_read", (json_int_t)f->trips_read, "points", (json_int_t)f->points, "users",
        (int)f->users, "interval_median_s", median_interval_s(f), "first", first, "last", last,
        "extent_not_private", f->south_deg, f->west_deg, f->north_deg, f->east_deg, "rows_rejected",
        counts_json(f->rows_rejected, DPL_REJECTS, true));
}

static enum dpl_status print_json(struct cli *cli, const struct dpl_read_facts *f,
                                  const struct dpl_cleaned *trips, const struct summary *s,
                                  const struct on_roads *on) {
    json_t *object = facts_json(f);
    if (object && trips) {
        json_t *more = json_pack(
            "{s:I, s:I, s:I, s:f, s:f, s:i, s:i, s:o, s:o, s:o}", "points_dropped",
            (json_int_t)f->points_dropped, "trips_kept", (json_int_t)trips->n_trips, "visits",
            (json_int_t)trips->n_visits, "visits_mean", s->mean, "visits_deviation", s->deviation,
            "visits_mode", (int)s->mode, "visits_longest", (int)s->longest, "dropped",
            counts_json(f->trips_dropped, DPL_DROPS, false), "length_histogram",
            histogram_json(s->by_length, 0,
                           s->longest < HISTOGRAM_MAX ? s->longest : HISTOGRAM_MAX - 1),
            "hour_histogram",
            histogram_json(s->by_period, 0, (size_t)trips->grid.area.periods - 1));
        json_object_update(object, more);
        json_decref(more);
    }
    if (object && on->roads) {
        json_t *more = on_roads_json(on);
        json_object_update(object, more);
        json_decref(more);
    }
    int failed = object ? json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10)) : -1;
    json_decref(object);
    if (failed)
        return cli_fail(cli, DPL_SYSTEM,
                        "the result cannot be written as JSON (names that are not UTF-8?)");
    putchar('\n');
    return DPL_OK;
}

static enum dpl_status inspect_data(struct cli *cli, struct data_options *data,
                                    struct on_roads *on) {
    bool has_area;
    enum dpl_status status = data_options_area(cli, data, false, &has_area);
    if (status != DPL_OK) return status;
    data->read.guess = true; // what inspect shows is NOT PRIVATE anyway
    struct dpl_cleaned *trips = NULL;
    struct dpl_read_facts *facts = NULL;
    static struct summary summary; // 33 kB, too much for a small stack
    status = dpl_cleaned_read(cli->run, cli->inputs, cli->n_inputs, &data->read,
                              has_area ? &data->area : NULL, &trips, &facts);
    if (status == DPL_OK && on->path) status = on_roads_read(cli, data, has_area, on);
    if (status == DPL_OK) {
        if (trips) summarise(trips, &summary);
        if (cli->json)
            status = print_json(cli, facts, trips, &summary, on);
        else {
            print_facts(facts);
            if (trips)
                print_cleaned(facts, trips, &summary);
            else
                printf("\nno region given: nothing was cleaned (--region NAME, or --bbox S,W,N,E "
                       "--tz ZONE from a public map)\n");
            if (on->roads) on_roads_print(on);
        }
    }
    dpl_roads_free(on->roads);
    dpl_cleaned_free(trips);
    dpl_read_facts_free(facts);
    return status;
}

/* ---- models, ledgers, certificates ---- */

enum { CERTIFICATE_MAX = 1 << 20 };

static enum dpl_status certificate_summary(struct cli *cli, const char *path, char **text) {
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(CERTIFICATE_MAX + 1);
    size_t length = file && bytes ? fread(bytes, 1, CERTIFICATE_MAX + 1, file) : 0;
    enum dpl_status status = length
                                 ? dpl_certificate_summary(cli->run, bytes, length, cli->json, text)
                                 : cli_fail(cli, DPL_SYSTEM, "%s: cannot read", path);
    free(bytes);
    if (file) fclose(file);
    return status;
}

/* What our own files hold; *done says whether it was one. */
static enum dpl_status inspect_own(struct cli *cli, bool *done) {
    const char *path = cli->inputs[0];
    char *text = NULL;
    enum dpl_status status = DPL_OK;
    const enum file_kind kind = cli->n_inputs == 1 ? file_kind(path) : FILE_OTHER;
    *done = true;
    if (kind == FILE_MODEL)
        status = dpl_model_summary(cli->run, path, cli->json, &text);
    else if (kind == FILE_CERTIFICATE)
        status = certificate_summary(cli, path, &text);
    else if (kind == FILE_LEDGER)
        status = dpl_ledger_summary(cli->run, path, cli->json, &text);
    else if (kind == FILE_ROUND)
        status = dpl_task_summary(cli->run, path, cli->json, &text);
    else
        *done = false;
    if (text) puts(text);
    dpl_text_free(text);
    return status;
}

static int inspect_main(struct cli *cli, int argc, char **argv) {
    static struct data_options data;
    struct on_roads on = {.travel = "drive"};
    const struct option table[] = {{"dates", 0, OPTION_TEXT, &data.read.dates, NULL},
                                   {"roads", 0, OPTION_TEXT, &on.path, NULL},
                                   {"travel", 0, OPTION_TEXT, &on.travel, NULL},
                                   {0}};
    data_options_init(&data);
    data.read.time_optional = true; // another program's output may have none
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){data.table, table}, 2);
    if (ended >= 0) return ended;
    if (!cli->n_inputs)
        return cli_finish(cli, cli_usage(cli, "name a file, a directory or - to inspect"));
    bool done;
    enum dpl_status status = inspect_own(cli, &done);
    return cli_finish(cli, done ? status : inspect_data(cli, &data, &on));
}

const struct command command_inspect = {
    .bit = IN_INSPECT,
    .name = "inspect",
    .summary = "what a data file, model, ledger or certificate holds",
    .usage = "FILE... [--region NAME | --bbox S,W,N,E --tz ZONE]",
    .arguments = VALUE_FILE,
    .about = "Says what a data file holds: format, columns, trips, users, times; and, with a "
             "region, what is left after cleaning: trips kept, drops by reason, visits, "
             "lengths and hours. FILE may be a file, a directory, an archive (.gz .xz .zst "
             ".zip .tar.*) or - for standard input. All of this is computed from private data "
             "and NOT PRIVATE.\n"
             "\n"
             "Of a model, ledger or certificate it shows what is in it: cells, budget, "
             "mechanisms. Of a plan of a fit on many machines it shows the round and what it asks "
             "for; of a part, which shard it is.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc inspect city.csv\n"
                "dploc inspect city.csv --region simulated --cell 250 --json\n",
    .main = inspect_main,
};
