/* dploc report: one HTML file to look at before releasing. NOT PRIVATE, unless --public. */
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "manual.h"
#include "paths.h"

enum { MAX_SETS = 8, JSON_BYTES = 1 << 20 };

struct settings {
    struct data_options data;
    struct sets_area area;
    struct dpl_report_options report;
    struct dpl_eval_options eval;
    const char *out, *certificate[MAX_SETS], *attack, *ledger;
    size_t n_certificates;
    int64_t splits, seed, trips, real_trips;
    bool as_is, public_only, force;
};

/* ---- certificates ---- */

static void beside(const char *synthetic, char *path, size_t size) {
    snprintf(path, size, "%s.certificate.json", synthetic);
}

static bool has_certificate(const char *synthetic) {
    char path[4096];
    beside(synthetic, path, sizeof path);
    return access(path, R_OK) == 0;
}

/* The whole of a small text file; NULL when it cannot be read or is too large. Free with free. */
static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *bytes = file ? calloc(JSON_BYTES + 1, 1) : NULL;
    size_t n = bytes ? fread(bytes, 1, JSON_BYTES, file) : 0;
    bool whole = bytes && feof(file) && !ferror(file) && strlen(bytes) == n;
    if (file) fclose(file);
    if (whole) return bytes;
    free(bytes);
    return NULL;
}

/* The text of a certificate's file; caller frees with free. *text stays NULL when there is none
 * beside the trips. */
static enum dpl_status read_certificate(struct cli *cli, const char *synthetic, const char *given,
                                        char **text) {
    char path[4096];
    beside(synthetic, path, sizeof path);
    if (given && access(given, R_OK) != 0)
        return cli_fail(cli, DPL_BAD_DATA, "%s: the certificate cannot be read", given);
    if (!given && access(path, R_OK) != 0) return DPL_OK;
    errno = 0;
    char *bytes = read_text(given ? given : path);
    if (!bytes && errno)
        return cli_fail(cli, DPL_SYSTEM, "%s: cannot read: %s", given ? given : path,
                        strerror(errno));
    if (bytes && dpl_certificate_recognise(bytes, strlen(bytes))) {
        *text = bytes;
        return DPL_OK;
    }
    free(bytes);
    return cli_fail(cli, DPL_BAD_DATA, "%s: this is not a certificate of dploc",
                    given ? given : path);
}

/* PRIVACY: a certificate speaks for the trips it was made with. Whether these are they, only the
 * digests in their manifest tell; a public report is not made of trips that it cannot tell of. */
static enum dpl_status check_trips(struct cli *cli, const char *synthetic, const char *given,
                                   bool public_only) {
    char manifest[4096];
    struct dpl_verdict verdict = {.valid = true};
    snprintf(manifest, sizeof manifest, "%s.manifest.json", synthetic);
    if (!public_only && access(manifest, R_OK) != 0) return DPL_OK;
    enum dpl_status status = dpl_released_verify(cli->run, synthetic, given, &verdict);
    if (status != DPL_OK || verdict.valid) return status;
    return cli_fail(cli, public_only ? DPL_REFUSED : DPL_BAD_DATA,
                    "%s; a report would show a promise that was not made for these trips",
                    verdict.reasons[0]);
}

/* ---- what only the holder sees ---- */

/* The default ledger of the data that SYNTH was fitted on; false: there is none. */
static bool find_ledger(struct cli *cli, const char *synthetic, char *path, size_t size) {
    char private[4096];
    snprintf(private, sizeof private, "%s.PRIVATE.json", synthetic);
    json_error_t error;
    json_t *file = json_load_file(private, 0, &error);
    const char *fingerprint = json_string_value(json_object_get(file, "fingerprint"));
    bool found = fingerprint && dpl_ledger_place(cli->run, fingerprint, path, size) == DPL_OK &&
                 access(path, R_OK) == 0;
    json_decref(file);
    return found;
}

static enum dpl_status read_ledger(struct cli *cli, const struct report_job *job, char **text) {
    char path[4096];
    if (job->ledger) return dpl_ledger_summary(cli->run, job->ledger, true, text);
    if (!find_ledger(cli, job->synthetic[0], path, sizeof path)) return DPL_OK;
    return dpl_ledger_summary(cli->run, path, true, text);
}

static enum dpl_status read_attack(struct cli *cli, const char *path, char **text) {
    *text = read_text(path);
    if (*text) return DPL_OK;
    return cli_fail(cli, DPL_BAD_DATA,
                    "%s: the result of the attacks cannot be read (write it with 'dploc attack "
                    "REAL SYNTH --json')",
                    path);
}

/* ---- making it ---- */

static enum dpl_status write_report(struct cli *cli, const struct report_job *job,
                                    const struct sets *sets, char *const *certificate,
                                    const struct dpl_report_options *options) {
    struct dpl_report_set real = {0}, synthetic[MAX_SETS] = {{0}};
    if (job->n_real)
        real = (struct dpl_report_set){
            .name = sets_base_name(job->real[0]), .trips = sets->real, .facts = sets->real_facts};
    for (size_t k = 0; k < job->n; k++)
        synthetic[k] = (struct dpl_report_set){.name = sets_base_name(job->synthetic[k]),
                                               .trips = sets->synthetic[k].trips,
                                               .facts = sets->facts[k],
                                               .certificate = certificate[k]};
    return dpl_report(cli->run, job->n_real ? &real : NULL, synthetic, job->n, options, job->out);
}

static enum dpl_status read_certificates(struct cli *cli, const struct report_job *job,
                                         char **certificate) {
    enum dpl_status status = DPL_OK;
    for (size_t k = 0; k < job->n && status == DPL_OK; k++) {
        const char *given = job->certificate ? job->certificate[k] : NULL;
        status = read_certificate(cli, job->synthetic[k], given, &certificate[k]);
        if (status == DPL_OK && certificate[k])
            status = check_trips(cli, job->synthetic[k], given, job->n_real == 0);
    }
    return status;
}

enum dpl_status report_make(struct cli *cli, const struct report_job *job) {
    struct sets sets = {0};
    struct dpl_report_options options = job->options;
    const struct sets_how how = {job->as_is, !options.eval || !options.eval->paper_measures};
    char *certificate[MAX_SETS] = {NULL}, *ledger = NULL, *attack = NULL;
    enum dpl_status status = read_certificates(cli, job, certificate);
    // PRIVACY: what only the holder may see is not opened for a public report.
    if (status == DPL_OK && job->n_real) status = read_ledger(cli, job, &ledger);
    if (status == DPL_OK && job->n_real && job->attack)
        status = read_attack(cli, job->attack, &attack);
    options.ledger = ledger, options.attack = attack;
    if (!job->n_real) options.real_trips_shown = 0;
    if (status == DPL_OK)
        status =
            sets_read(cli, job->data, how, job->real, job->n_real, job->synthetic, job->n, &sets);
    if (status == DPL_OK) status = write_report(cli, job, &sets, certificate, &options);
    if (status == DPL_OK && !cli->quiet && strcmp(job->out, "-"))
        fprintf(stderr, "report: %s (%s)\n", job->out,
                job->n_real ? "NOT PRIVATE, for you alone" : "public");
    for (size_t k = 0; k < job->n; k++) free(certificate[k]);
    dpl_text_free(ledger);
    free(attack);
    sets_free(&sets);
    return status;
}

/* ---- the command ---- */

static enum dpl_status add_certificate(struct cli *cli, void *into, const char *value) {
    struct settings *settings = into;
    if (settings->n_certificates == MAX_SETS)
        return cli_usage(cli, "--certificate: a report shows at most %d synthetic sets", MAX_SETS);
    settings->certificate[settings->n_certificates++] = value;
    return DPL_OK;
}

/* How many of the inputs are real. PRIVACY: under --public a first input without a certificate is
 * taken for REAL and stays unopened, so that the option may be added to a command line as it is;
 * any other input without one is refused by the library. */
static size_t count_real(const struct cli *cli, const struct settings *settings) {
    if (!settings->public_only) return 1;
    bool certified = settings->n_certificates ? settings->n_certificates == cli->n_inputs
                                              : has_certificate(cli->inputs[0]);
    return certified || cli->n_inputs == 1 ? 0 : 1;
}

static enum dpl_status check_counts(struct cli *cli, const struct settings *settings,
                                    size_t n_real) {
    size_t n = cli->n_inputs - n_real;
    if (n < 1)
        return cli_usage(cli, "name the real data and at least one synthetic file: dploc report "
                              "REAL SYNTH... -o REPORT.html");
    if (n > MAX_SETS)
        return cli_usage(cli, "a report shows at most %d synthetic sets side by side, not %zu",
                         MAX_SETS, n);
    if (settings->n_certificates && settings->n_certificates != n)
        return cli_usage(
            cli,
            "--certificate was given %zu times for %zu synthetic files: once for each, in order",
            settings->n_certificates, n);
    if (settings->splits < 1 || settings->splits > 1000)
        return cli_usage(cli, "--splits takes 1 to 1000");
    if (settings->trips > 100 || settings->real_trips > 100)
        return cli_usage(cli, "--trips and --real-trips take 0 to 100");
    return DPL_OK;
}

static enum dpl_status check_paths(struct cli *cli, const struct settings *settings) {
    static struct paths paths;
    paths_begin(&paths, cli);
    paths_input(&paths, settings->report.basemap);
    paths_input(&paths, settings->report.zones);
    paths_input(&paths, settings->attack);
    paths_input(&paths, settings->ledger);
    for (size_t i = 0; i < settings->n_certificates; i++)
        paths_input(&paths, settings->certificate[i]);
    paths_output(&paths, settings->out);
    return paths_check(cli, &paths, NULL);
}

static enum dpl_status run_report(struct cli *cli, struct settings *settings) {
    if (!settings->out) return cli_usage(cli, "say where the report goes: -o REPORT.html");
    if (cli->n_inputs == 0)
        return cli_usage(cli, "name the real data and at least one synthetic file: dploc report "
                              "REAL SYNTH... -o REPORT.html");
    size_t n_real = count_real(cli, settings);
    enum dpl_status status = check_counts(cli, settings, n_real);
    if (status != DPL_OK) return status;
    settings->eval.splits = (int)settings->splits;
    settings->eval.seed = (uint64_t)settings->seed;
    settings->report.eval = &settings->eval;
    settings->report.trips_shown = (int)settings->trips;
    settings->report.real_trips_shown = (int)settings->real_trips;
    settings->report.overwrite = settings->force;
    const char *const *synthetic = cli->inputs + n_real;
    size_t n = cli->n_inputs - n_real;
    status = check_paths(cli, settings);
    if (status == DPL_OK)
        status = sets_area_find(cli, &settings->data, synthetic, n, &settings->area);
    if (status == DPL_OK)
        status = dpl_report_check(cli->run, &settings->data.area, &settings->report,
                                  settings->out); // before minutes of reading
    if (status != DPL_OK) return status;
    if (settings->public_only && n_real && !cli->quiet)
        fprintf(stderr, "%s is not opened: --public\n", cli->inputs[0]);
    return report_make(
        cli,
        &(struct report_job){.data = &settings->data,
                             .as_is = settings->as_is,
                             .real = cli->inputs,
                             .n_real = settings->public_only ? 0 : n_real,
                             .synthetic = synthetic,
                             .certificate = settings->n_certificates ? settings->certificate : NULL,
                             .n = n,
                             .attack = settings->attack,
                             .ledger = settings->ledger,
                             .options = settings->report,
                             .out = settings->out});
}

static int report_main(struct cli *cli, int argc, char **argv) {
    static struct settings settings;
    settings.report = dpl_report_defaults();
    settings.eval = dpl_eval_defaults();
    settings.splits = settings.eval.splits;
    settings.seed = (int64_t)settings.eval.seed;
    settings.trips = settings.report.trips_shown;
    data_options_init(&settings.data);
    sets_leave_area_open(&settings.data);
    const struct option table[] = {
        {"output", 'o', OPTION_TEXT, &settings.out, NULL},
        {"dates", 0, OPTION_TEXT, &settings.data.read.dates, NULL},
        {"public", 0, OPTION_FLAG, &settings.public_only, NULL},
        {"certificate", 0, OPTION_CALL, &settings, add_certificate},
        {"basemap", 0, OPTION_TEXT, &settings.report.basemap, NULL},
        {"zones", 0, OPTION_TEXT, &settings.report.zones, NULL},
        {"trips", 0, OPTION_WHOLE, &settings.trips, NULL},
        {"real-trips", 0, OPTION_WHOLE, &settings.real_trips, NULL},
        {"attack", 0, OPTION_TEXT, &settings.attack, NULL},
        {"ledger", 0, OPTION_TEXT, &settings.ledger, NULL},
        {"as-is", 0, OPTION_FLAG, &settings.as_is, NULL},
        {"splits", 0, OPTION_WHOLE, &settings.splits, NULL},
        {"seed", 0, OPTION_WHOLE, &settings.seed, NULL},
        {"paper-measures", 0, OPTION_FLAG, &settings.eval.paper_measures, NULL},
        {"force", 0, OPTION_FLAG, &settings.force, NULL},
        {0},
    };
    int ended =
        cli_start(cli, argc, argv, (const struct option *const[]){settings.data.table, table}, 2);
    if (ended >= 0) return ended;
    enum dpl_status status = run_report(cli, &settings);
    sets_area_free(&settings.area);
    return cli_finish(cli, status);
}

const struct command command_report = {
    .bit = IN_REPORT,
    .name = "report",
    .summary = "the same to look at: one HTML file before releasing",
    .usage = "REAL SYNTH... -o REPORT.html\n"
             "--public SYNTH... -o REPORT.html",
    .arguments = VALUE_FILE,
    .about =
        "Writes one HTML file that opens offline in any browser: a verdict (fit for what use, "
        "safe to release or not), maps by hour, trips point by point, speeds, kilometres, "
        "turns, stops, days, flows, patterns, tasks, attacks, and the measures of 'dploc eval' "
        "with floors (docs/REPORT.md). It holds sums over real trips, and a point of one only "
        "with --real-trips; the sums are NOT PRIVATE all the same, so it is for you alone "
        "(mode 0600).\n"
        "\n"
        "With --public, REAL is not opened and may be left out: everything comes from "
        "SYNTH and its certificate. The area is that of SYNTH's manifest, if no other is "
        "given.",
    .examples = "dploc simulate -o a.csv --seed 1\n"
                "dploc simulate -o b.csv --seed 2\n"
                "dploc report a.csv b.csv --region simulated -o report.html\n",
    .main = report_main,
};
