/* dploc synth: fit and sample in one go. */
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "manual.h"
#include "paths.h"
#include "privacy_options.h"
#include "report.h"
#include "sample_options.h"
#include "summary.h"

struct synth {
    struct data_options data;
    struct privacy_options privacy;
    struct sample_options sample;
    const char *model, *report, *basemap, *zones;
};

/* What is there when a fit is resumed is of its own making. */
static bool overwrite(const struct synth *synth) {
    return synth->privacy.force || synth->privacy.fit.resume;
}

static struct dpl_report_options report_options(const struct synth *synth) {
    struct dpl_report_options options = dpl_report_defaults();
    options.basemap = synth->basemap ? synth->basemap : synth->sample.sample.roads;
    options.zones = synth->zones;
    options.overwrite = overwrite(synth);
    return options;
}

static enum dpl_status check_paths(struct cli *cli, const struct synth *synth) {
    static struct paths paths;
    paths_begin(&paths, cli);
    paths_input(&paths, synth->basemap);
    paths_input(&paths, synth->zones);
    paths_input(&paths, synth->sample.sample.roads);
    paths_output_set(&paths, synth->sample.out);
    paths_output_set(&paths, synth->model);
    paths_output(&paths, synth->report);
    paths_output_state(&paths, &synth->privacy.fit);
    return paths_check(cli, &paths, synth->sample.sample.release);
}

/* What the command line adds to the checks of dpl_synth; nothing has been spent yet. */
static enum dpl_status check(struct cli *cli, struct synth *synth) {
    bool given;
    const char *out = synth->sample.out;
    enum dpl_status status = data_options_area(cli, &synth->data, true, &given);
    if (status == DPL_OK) status = privacy_options_settle(cli, &synth->privacy, out);
    if (status != DPL_OK || synth->privacy.dry_run) return status;
    if (!strcmp(out, "-"))
        return cli_usage(cli, "synthetic trips come with a certificate beside them: name a file "
                              "with -o (for a pipe: fit, then sample -o -)");
    status = check_paths(cli, synth);
    if (status != DPL_OK || !synth->report) return status;
    for (size_t i = 0; i < cli->n_inputs; i++)
        if (!strcmp(cli->inputs[i], "-"))
            return cli_usage(
                cli,
                "--report reads the input a second time: name a file instead of standard input");
    struct dpl_report_options look = report_options(synth);
    return dpl_report_check(cli->run, &synth->data.area, &look, synth->report);
}

/* Reads the private trips once more, for their holder's eyes; nothing of it enters other files. */
static enum dpl_status report(struct cli *cli, const struct synth *synth) {
    return report_make(cli, &(struct report_job){.data = &synth->data,
                                                 .real = cli->inputs,
                                                 .n_real = cli->n_inputs,
                                                 .synthetic = &synth->sample.out,
                                                 .n = 1,
                                                 .options = report_options(synth),
                                                 .out = synth->report});
}

static enum dpl_status print_json(struct cli *cli, const char *certificate) {
    char *text = NULL;
    enum dpl_status status =
        dpl_certificate_summary(cli->run, certificate, strlen(certificate), true, &text);
    if (status != DPL_OK) return status;
    puts(text);
    dpl_text_free(text);
    return DPL_OK;
}

/* What came out, in words or as JSON. */
static enum dpl_status show(struct cli *cli, const struct synth *synth, const struct dpl_fit *fit) {
    if (cli->json) return print_json(cli, dpl_fit_certificate(fit));
    summary_print(cli, fit,
                  &(struct summary){.area = &synth->data.area,
                                    .model = synth->model,
                                    .trips = synth->sample.out,
                                    .release = synth->sample.sample.release,
                                    .report = synth->report});
    return DPL_OK;
}

static enum dpl_status synthesise(struct cli *cli, const struct synth *synth) {
    struct dpl_fit_options options = synth->privacy.fit;
    struct dpl_synth_options job = dpl_synth_defaults();
    struct dpl_trips *trips = NULL;
    struct dpl_fit *fit = NULL;
    job.fit = &options, job.sample = &synth->sample.sample;
    job.model = synth->model, job.overwrite = synth->privacy.force;
    enum dpl_status status =
        dpl_trips_open(cli->run, cli->inputs, cli->n_inputs, &synth->data.read, &trips);
    if (status == DPL_OK)
        status = dpl_synth(cli->run, trips, &synth->data.area, &job, synth->sample.out, &fit);
    if (privacy_options_asked(cli, status)) {
        options.new_data = true;
        status = dpl_synth(cli->run, trips, &synth->data.area, &job, synth->sample.out, &fit);
    }
    if (status == DPL_OK && synth->report) status = report(cli, synth);
    if (status == DPL_OK) status = show(cli, synth, fit);
    dpl_fit_free(fit);
    dpl_trips_free(trips);
    return status;
}

static int synth_main(struct cli *cli, int argc, char **argv) {
    static struct synth synth;
    data_options_init(&synth.data);
    privacy_options_init(&synth.privacy);
    sample_options_init(&synth.sample, false);
    const struct option own[] = {
        {"model", 0, OPTION_TEXT, &synth.model, NULL},
        {"report", 0, OPTION_TEXT, &synth.report, NULL},
        {"basemap", 0, OPTION_TEXT, &synth.basemap, NULL},
        {"zones", 0, OPTION_TEXT, &synth.zones, NULL},
        {0},
    };
    int ended = cli_start(cli, argc, argv,
                          (const struct option *const[]){synth.data.table, synth.privacy.table,
                                                         synth.sample.table, own},
                          4);
    if (ended >= 0) return ended;
    synth.data.read.dates = synth.sample.sample.date; // the period of the data and of the trips
    if (!cli->n_inputs && !(synth.privacy.dry_run && synth.privacy.fit.size > 0))
        return cli_finish(
            cli,
            cli_usage(
                cli, "name the file, directory or archive of private trips (- is standard input)"));
    if (!synth.sample.out && !synth.privacy.dry_run)
        return cli_finish(cli, cli_usage(cli, "say where the synthetic trips go: -o OUT.csv"));
    enum dpl_status status = check(cli, &synth);
    if (status != DPL_OK) return cli_finish(cli, status);
    status = synth.privacy.dry_run ? privacy_options_preview(cli, &synth.privacy, &synth.data)
                                   : synthesise(cli, &synth);
    return cli_finish(cli, status);
}

const struct command command_synth = {
    .bit = IN_SYNTH,
    .name = "synth",
    .summary = "private trips in, synthetic trips out: the main job",
    .usage = "INPUT... -o OUT.csv --region NAME\n"
             "INPUT... -o OUT.csv --bbox S,W,N,E --tz ZONE",
    .arguments = VALUE_FILE,
    .about = "Private trips in, synthetic trips out. INPUT is a file, a directory, an archive "
             "or - for standard input. Beside OUT are written OUT.certificate.json and "
             "OUT.manifest.json, which may be published, and OUT.PRIVATE.json, which is for "
             "you alone.",
    .notes =
        "Ctrl-C stops at a point that --resume goes on from; nothing is paid twice. --epsilon inf "
        "adds no noise and is NOT PRIVATE.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc synth city.csv --region simulated -o syn.csv\n"
                "dploc synth city.csv --region simulated --release public -o syn2.csv.gz\n",
    .main = synth_main,
};
