/* dploc fit: private trips to a model that may be published. */
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "manual.h"
#include "paths.h"
#include "privacy_options.h"
#include "roads.h"
#include "rounds.h"
#include "summary.h"

/* What the budget bought. */
static enum dpl_status show(struct cli *cli, const struct data_options *data,
                            const struct dpl_fit *fit, const char *path) {
    char *text = NULL;
    summary_print(cli, fit, &(struct summary){.area = &data->area, .model = path});
    enum dpl_status status = cli->json ? dpl_model_summary(cli->run, path, true, &text) : DPL_OK;
    if (text) puts(text);
    dpl_text_free(text);
    return status;
}

/* Before anything is read or spent. */
static enum dpl_status check_paths(struct cli *cli, const struct privacy_options *privacy,
                                   const char *out, bool overwrite) {
    static struct paths paths;
    paths_begin(&paths, cli);
    paths_input(&paths, privacy->fit.roads);
    paths_output_set(&paths, out);
    paths_output_state(&paths, &privacy->fit);
    enum dpl_status status = paths_check(cli, &paths, NULL);
    return status == DPL_OK ? dpl_fit_check_path(cli->run, out, overwrite) : status;
}

static enum dpl_status fit_to(struct cli *cli, const struct data_options *data,
                              const struct privacy_options *privacy, const char *out) {
    struct dpl_fit *fit = NULL;
    // What is there when a fit is resumed is of its own making: it would not have begun otherwise.
    const bool overwrite = privacy->force || privacy->fit.resume;
    enum dpl_status status = check_paths(cli, privacy, out, overwrite);
    if (status == DPL_OK) status = privacy_options_fit(cli, privacy, data, &fit);
    if (status == DPL_OK) status = dpl_fit_write(cli->run, fit, out, overwrite);
    if (status == DPL_OK) status = show(cli, data, fit, out);
    dpl_fit_free(fit);
    return status;
}

static enum dpl_status set_travel(struct cli *cli, void *into, const char *value) {
    enum dpl_travel *travel = into;
    return roads_travel(cli, value, travel);
}

static int fit_main(struct cli *cli, int argc, char **argv) {
    static struct data_options data;
    static struct privacy_options privacy;
    static struct rounds_options rounds;
    const char *out = NULL;
    bool given;
    data_options_init(&data);
    privacy_options_init(&privacy);
    rounds_options_init(&rounds);
    const struct option own[] = {{"output", 'o', OPTION_TEXT, &out, NULL},
                                 {"dates", 0, OPTION_TEXT, &data.read.dates, NULL},
                                 {"roads", 0, OPTION_TEXT, &privacy.fit.roads, NULL},
                                 {"travel", 0, OPTION_CALL, &privacy.fit.travel, set_travel},
                                 {0}};
    int ended =
        cli_start(cli, argc, argv,
                  (const struct option *const[]){data.table, privacy.table, rounds.table, own}, 4);
    if (ended >= 0) return ended;
    if (rounds_asked(&rounds))
        return cli_finish(cli, rounds_fit(cli, &rounds, &data, &privacy, out));
    if (!cli->n_inputs && !(privacy.dry_run && privacy.fit.size > 0))
        return cli_finish(cli, cli_usage(cli, "name a file, a directory or - to fit"));
    if (!out && !privacy.dry_run)
        return cli_finish(cli, cli_usage(cli, "say where the model goes: -o MODEL"));
    enum dpl_status status = data_options_area(cli, &data, true, &given);
    if (status == DPL_OK) status = privacy_options_settle(cli, &privacy, out);
    if (status != DPL_OK) return cli_finish(cli, status);
    return cli_finish(cli, privacy.dry_run ? privacy_options_preview(cli, &privacy, &data)
                                           : fit_to(cli, &data, &privacy, out));
}

const struct command command_fit = {
    .bit = IN_FIT,
    .name = "fit",
    .summary = "train a model that may be published",
    .usage = "INPUT... -o MODEL --region NAME\n"
             "INPUT... -o MODEL --bbox S,W,N,E --tz ZONE\n"
             "--plan-only -o PLAN --region NAME\n"
             "--from-counts SUMS --plan PLAN -o PLAN2",
    .arguments = VALUE_FILE,
    .about = "Trains a model that may be published, to draw trips from with 'dploc sample'. "
             "INPUT is a file, a directory, an archive or - for standard input. Beside MODEL "
             "are written MODEL.certificate.json and MODEL.manifest.json, which may be "
             "published, and MODEL.PRIVATE.json, which is for you alone.",
    .notes = "Ctrl-C stops at a point that --resume goes on from; nothing is paid twice.\n"
             "\n"
             "Exit 4: refused. A ledger's limit, a checkpoint that does not fit, and data that"
             " overlaps data with a ledger of its own (docs/LEDGER.md) are found before any "
             "noise of this run; what an unfinished run has drawn stays charged.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc fit city.csv --region simulated -o "
                "city.dploc\n"
                "dploc fit city.csv --region simulated --size 100000 -o city.dploc --dry-run\n",
    .main = fit_main,
};
