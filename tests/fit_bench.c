/* See fit_bench.h. */
#include "fit_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clean/clean.h" // DPL_SINK_NOTHING

enum { MAX_FILE = 1 << 21 };

void place(struct bench *bench, char *path, const char *name) {
    snprintf(path, PATH_ROOM, "%s/%s", bench->directory, name);
}

void set_up(struct bench *bench, int64_t trips) {
    struct dpl_run *run = test_run(1);
    struct dpl_simulate_options city = dpl_simulate_defaults();
    *bench = (struct bench){.directory = test_directory(),
                            .area = dpl_area_defaults(),
                            .read = dpl_read_defaults(),
                            .options = dpl_fit_defaults()};
    place(bench, bench->city, "city.csv");
    place(bench, bench->model, "m.dploc");
    place(bench, bench->checkpoint, "m.dploc.checkpoint");
    place(bench, bench->ledger, "ledger");
    city.trips = trips;
    assert_ok(run, dpl_simulate(run, &city, bench->city));
    assert_ok(run, dpl_area_preset(run, "simulated", &bench->area));
    bench->area.cell_m = 1500;
    bench->options.method = "paper"; // has all there is to checkpoint
    bench->options.sigmas = "topk=0.2,ti=0.8,tpg=0.8";
    bench->options.ledger = "none";
    bench->options.checkpoint = bench->checkpoint;
    bench->options.budget.insecure_seed = true;
    bench->options.insecure_seed = 42;
    bench->options.size = trips;
    dpl_run_free(run);
}

void tear_down(struct bench *bench) { test_directory_remove(bench->directory); }

enum dpl_status fit_with(struct dpl_run *run, const struct bench *bench) {
    struct dpl_fit *fit = NULL;
    enum dpl_status status =
        test_fit(run, bench->city, &bench->read, &bench->area, &bench->options, &fit);
    if (status == DPL_OK) status = dpl_fit_write(run, fit, bench->model, true);
    dpl_fit_free(fit);
    return status;
}

void fit_ok(const struct bench *bench) {
    struct dpl_run *run = test_run(1);
    assert_ok(run, fit_with(run, bench));
    dpl_run_free(run);
}

void assert_fails(const struct bench *bench, enum dpl_status expected, const char *part) {
    struct dpl_run *run = test_run(1);
    enum dpl_status status = fit_with(run, bench);
    if (status != expected || !strstr(dpl_run_message(run), part))
        fail_msg("status %d, \"%s\"; expected %d, \"%s\"", (int)status, dpl_run_message(run),
                 (int)expected, part);
    dpl_run_free(run);
}

struct bytes read_all(const char *path, const char *ending) {
    char name[PATH_ROOM + 32];
    snprintf(name, sizeof name, "%s%s", path, ending);
    struct bytes bytes = {.data = malloc(MAX_FILE)};
    FILE *file = fopen(name, "rb");
    if (!file) fail_msg("%s is not there", name);
    bytes.length = fread(bytes.data, 1, MAX_FILE - 1, file);
    bytes.data[bytes.length] = 0;
    fclose(file);
    return bytes;
}

const char *const RELEASED[RELEASED_FILES] = {"", ".certificate.json", ".manifest.json"};

struct released read_released(const struct bench *bench) {
    struct released released;
    for (int i = 0; i < RELEASED_FILES; i++) released.file[i] = read_all(bench->model, RELEASED[i]);
    return released;
}

void free_released(struct released *released) {
    for (int i = 0; i < RELEASED_FILES; i++) free(released->file[i].data);
}

void assert_same(const struct released *a, const struct released *b) {
    for (int i = 0; i < RELEASED_FILES; i++)
        if (a->file[i].length != b->file[i].length ||
            memcmp(a->file[i].data, b->file[i].data, a->file[i].length))
            fail_msg("'%s' files differ", RELEASED[i]);
}

bool exists(const char *path) { return access(path, F_OK) == 0; }

void append_trip(const struct bench *bench, double lat, double lon, int n) {
    FILE *file = fopen(bench->city, "a");
    assert_non_null(file);
    for (int i = 0; i < n; i++)
        fprintf(file, "999999,777777,%d,%.5f,%.5f\n", 1741000000 + 20 * i, lat + 0.001 * i, lon);
    fclose(file);
}

/* Interrupts its run when the phase named in `user` ends, or when a note has these words. */
struct stopper {
    struct dpl_run *run;
    const char *phase, *checkpoint;
};

static void stop_at(void *user, const struct dpl_progress *progress) {
    struct stopper *stopper = user;
    if (progress->finished && strstr(progress->phase, stopper->phase))
        dpl_run_interrupt(stopper->run);
}

static void stop_at_note(void *user, const char *sentence) {
    struct stopper *stopper = user;
    bool noised = strstr(sentence, "cells stand out of the noise") ||
                  strstr(sentence, "places for the"); // by `bridge`
    if (noised && !exists(stopper->checkpoint))
        fail_msg("noise was drawn, and its key is not on the disk");
    if (strstr(sentence, stopper->phase)) dpl_run_interrupt(stopper->run);
}

void interrupt_at(const struct bench *bench, const char *phase) {
    struct stopper stopper = {.phase = phase, .checkpoint = bench->checkpoint};
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = 1;
    options.on_progress = stop_at;
    options.on_note = stop_at_note;
    options.user = &stopper;
    stopper.run = dpl_run_new(&options);
    enum dpl_status status = fit_with(stopper.run, bench);
    if (status != DPL_INTERRUPTED || !strstr(dpl_run_message(stopper.run), "`fit.resume`"))
        fail_msg("status %d: %s", (int)status, dpl_run_message(stopper.run));
    dpl_run_free(stopper.run);
}

/* ---- rows ---- */

struct rows read_rows(const char *path) {
    struct bytes file = read_all(path, "");
    size_t room = file.length / 20;
    struct rows rows = {.trip = calloc(room, sizeof *rows.trip),
                        .user = calloc(room, sizeof *rows.user),
                        .time = calloc(room, sizeof *rows.time),
                        .lat = calloc(room, sizeof *rows.lat),
                        .lon = calloc(room, sizeof *rows.lon)};
    char *line = strchr((char *)file.data, '\n') + 1;
    for (; *line; line = strchr(line, '\n') + 1, rows.n++) {
        char *at = line;
        rows.trip[rows.n] = strtoll(at, &at, 10), at++;
        rows.user[rows.n] = strtoll(at, &at, 10), at++;
        rows.time[rows.n] = strtoll(at, &at, 10), at++;
        rows.lat[rows.n] = strtod(at, &at), at++;
        rows.lon[rows.n] = strtod(at, &at);
    }
    free(file.data);
    assert_true(rows.n > 0 && rows.n < room);
    return rows;
}

void free_rows(struct rows *rows) {
    free(rows->trip), free(rows->user), free(rows->time), free(rows->lat), free(rows->lon);
}

struct dpl_identity identity_of(struct dpl_run *run, struct dpl_trips *trips) {
    struct ingest_identity identity = {.key = {1, 2, 3}};
    struct dpl_read_facts *facts = calloc(1, sizeof *facts);
    const struct dpl_read_options options = dpl_read_defaults();
    assert_ok(run,
              dpl_ingest_trips(run, trips, &options, NULL, &DPL_SINK_NOTHING, &identity, facts));
    free(facts);
    return identity.found;
}
