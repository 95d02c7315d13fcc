/* What fit and synth say at their end. See summary.h. */
#include "summary.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "manual.h"

enum { TEXT = 1024, INDENT = 12 };

struct text {
    char words[TEXT];
    size_t used;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->words + text->used, TEXT - text->used, format, arguments);
    va_end(arguments);
    text->used += length > 0 ? (size_t)length : 0;
    if (text->used >= TEXT) text->used = TEXT - 1;
}

/* 418,793 */
static void add_count(struct text *text, int64_t count) {
    char digits[32];
    int n = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < n; i++) add(text, "%s%c", i > 0 && (n - i) % 3 == 0 ? "," : "", digits[i]);
}

static void say(const char *label, const struct text *text) {
    fprintf(stderr, "  %-*s", INDENT - 2, label);
    help_wrap(stderr, text->words, INDENT, INDENT);
}

static void add_file(struct text *text, const char *path, const char *ending) {
    if (path) add(text, "%s%s%s", text->used ? ", " : "", path, ending);
}

/* ---- for the holder's eyes ---- */

static void say_read(const struct dpl_read_facts *facts) {
    struct text text = {0};
    int64_t rejected = 0;
    for (int i = 0; i < DPL_REJECTS; i++) rejected += facts->rows_rejected[i];
    add_count(&text, facts->rows);
    add(&text, " rows, ");
    add_count(&text, facts->trips_read);
    add(&text, " trips%s", facts->trips_cut ? " cut from tracks" : "");
    if (facts->users) {
        add(&text, " of ");
        add_count(&text, (int64_t)facts->users);
        add(&text, " users");
    }
    if (rejected) {
        add(&text, "; ");
        add_count(&text, rejected);
        add(&text, " rows cannot be read");
    }
    say("read", &text);
}

static void say_dropped(const struct dpl_read_facts *facts) {
    static const char *const WHY[DPL_DROPS] = {
        [DPL_DROP_OUTSIDE_BOX] = "leave the box",
        [DPL_DROP_TOO_FAST] = "are too fast",
        [DPL_DROP_GAP] = "have a gap",
        [DPL_DROP_TOO_SHORT] = "have fewer than two visits",
        [DPL_DROP_NO_USER] = "name no user",
        [DPL_DROP_OTHER_DAYS] = "are of other days",
    };
    struct text text = {0};
    int64_t dropped = 0;
    for (int i = 0; i < DPL_DROPS; i++) dropped += facts->trips_dropped[i];
    if (dropped) {
        add_count(&text, dropped);
        add(&text, " trips (%.1f %%):", 100 * (double)dropped / fmax(1, (double)facts->trips_read));
    } else
        add(&text, "no trip");
    for (int i = 0, n = 0; i < DPL_DROPS; i++)
        if (facts->trips_dropped[i]) {
            add(&text, n++ ? ", " : " ");
            add_count(&text, facts->trips_dropped[i]);
            add(&text, " %s", WHY[i]);
        }
    say("dropped", &text);
}

/* ---- what may be published ---- */

static double number_in(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    return json_is_string(value) ? INFINITY : json_number_value(value);
}

static void say_places(const struct cli *cli, const struct dpl_area *area, json_t *numbers) {
    struct text text = {0};
    struct dpl_grid grid;
    if (dpl_grid_make(cli->run, area, &grid) != DPL_OK) return;
    add_count(&text, (int64_t)number_in(numbers, "cells"));
    add(&text, " of the ");
    add_count(&text, dpl_grid_cells(&grid));
    add(&text, " cells of %g m", area->cell_m);
    say("places", &text);
}

/* The number of trips and their days are in the manifest. */
static void say_trips(const char *path, json_t *numbers) {
    struct text text = {0};
    char name[4096];
    json_error_t error;
    snprintf(name, sizeof name, "%s.manifest.json", path ? path : "");
    json_t *manifest = path ? json_load_file(name, 0, &error) : NULL,
           *options = json_object_get(manifest, "options");
    const char *date = json_string_value(json_object_get(options, "dates"));
    add(&text, path ? "" : "about ");
    add_count(&text, (int64_t)(path ? number_in(options, "trips")
                                    : number_in(numbers, "trips_estimated")));
    if (date) add(&text, ", on %s", date);
    say("trips", &text);
    json_decref(manifest);
}

static void say_promise(json_t *certificate) {
    struct text text = {0};
    json_t *ledger = json_object_get(certificate, "ledger");
    const char *unit = json_string_value(json_object_get(certificate, "unit"));
    add(&text, "epsilon %.6g, delta %.3g, for one %s", number_in(certificate, "epsilon"),
        number_in(certificate, "delta"), unit ? unit : "unit");
    if (json_is_true(json_object_get(ledger, "composed")))
        add(&text, "; all releases of this data so far: epsilon %.6g, delta %.3g",
            number_in(ledger, "epsilon"), number_in(ledger, "delta"));
    else
        add(&text, "; not added up with other releases (--ledger none)");
    say("promise", &text);
}

static void say_public(const struct cli *cli, const struct summary *summary, json_t *certificate) {
    json_t *numbers = json_object_get(certificate, "numbers");
    const bool private = json_is_true(json_object_get(certificate, "private"));
    struct text files = {0};
    fprintf(stderr, private ? "may be published\n" : "NOT PRIVATE, not to be published\n");
    say_places(cli, summary->area, numbers);
    say_trips(summary->trips, numbers);
    say_promise(certificate);
    const char *const path[] = {summary->trips, summary->model};
    for (size_t i = 0; i < 2; i++) {
        add_file(&files, path[i], "");
        add_file(&files, path[i], ".certificate.json");
        add_file(&files, path[i], ".manifest.json");
    }
    say("files", &files);
    if (summary->release && private) {
        struct text release = {0};
        add(&release, "%s holds all that may be published, and nothing else", summary->release);
        say("release", &release);
    }
}

/* ---- what to do next ---- */

static void say_next(const struct cli *cli, const struct summary *summary) {
    const char *out = summary->trips ? summary->trips : summary->model;
    bool again = summary->trips && !summary->report; // what can be read can be read again
    for (size_t i = 0; i < cli->n_inputs; i++) again = again && strcmp(cli->inputs[i], "-");
    fprintf(stderr, "next\n");
    if (!summary->trips) fprintf(stderr, "  dploc sample %s -o trips.csv\n", summary->model);
    if (again && cli->n_inputs == 1)
        fprintf(stderr, "  dploc report %s %s -o report.html\n", cli->inputs[0], out);
    fprintf(stderr, "  dploc verify %s\n", out);
}

void summary_print(const struct cli *cli, const struct dpl_fit *fit,
                   const struct summary *summary) {
    const struct dpl_read_facts *facts = dpl_fit_facts(fit);
    struct text files = {0};
    if (cli->quiet || cli->json) return;
    json_t *certificate = json_loads(dpl_fit_certificate(fit), 0, NULL);
    cli_close_bar();
    fprintf(stderr, "for your eyes: exact numbers of the data\n");
    say_read(facts);
    say_dropped(facts);
    add_file(&files, summary->trips, ".PRIVATE.json");
    add_file(&files, summary->model, ".PRIVATE.json");
    add_file(&files, summary->report, "");
    say("files", &files);
    say_public(cli, summary, certificate);
    say_next(cli, summary);
    json_decref(certificate);
}
