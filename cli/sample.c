/* dploc sample: synthetic trips from a model. */
#include <stdio.h>

#include "kind.h"
#include "manual.h"
#include "paths.h"
#include "sample_options.h"

/* What else was named, and what to do with it. */
static enum dpl_status check_model(struct cli *cli, const char *path) {
    switch (file_kind(path)) {
    case FILE_CERTIFICATE:
    case FILE_MANIFEST:
        return cli_fail(cli, DPL_BAD_DATA,
                        "%s only describes a release; name the model itself, made by 'dploc fit'",
                        path);
    case FILE_LEDGER:
        return cli_fail(cli, DPL_BAD_DATA, "%s is a ledger; name a model, made by 'dploc fit'",
                        path);
    case FILE_ROUND:
        return cli_fail(cli, DPL_BAD_DATA,
                        "%s belongs to a fit that is not done; name the model that its last round "
                        "writes",
                        path);
    case FILE_OTHER:
        return cli_fail(cli, DPL_BAD_DATA,
                        "%s is data, not a model: 'dploc fit %s -o MODEL' makes a model of it, "
                        "'dploc synth %s -o OUT.csv' synthetic trips at once",
                        path, path, path);
    default: return DPL_OK; // what cannot be opened is told when it is read
    }
}

static enum dpl_status draw(struct cli *cli, const struct sample_options *options) {
    static struct paths paths;
    enum dpl_status status = check_model(cli, cli->inputs[0]);
    if (status != DPL_OK) return status;
    paths_begin(&paths, cli);
    paths_input(&paths, options->sample.roads);
    paths_output_set(&paths, options->out);
    status = paths_check(cli, &paths, options->sample.release);
    if (status != DPL_OK) return status;
    struct dpl_model *model = NULL;
    status = dpl_model_read(cli->run, cli->inputs[0], &model);
    if (status == DPL_OK)
        status = dpl_sample_write(cli->run, model, &options->sample, options->out);
    dpl_model_free(model);
    return status;
}

static int sample_main(struct cli *cli, int argc, char **argv) {
    static struct sample_options options;
    sample_options_init(&options, true);
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){options.table}, 1);
    if (ended >= 0) return ended;
    if (cli->n_inputs != 1)
        return cli_finish(cli, cli_usage(cli, "name one model file, made by 'dploc fit'"));
    if (!options.out)
        return cli_finish(
            cli, cli_usage(cli, "say where the trips go: -o OUT.csv (- is standard output)"));
    options.sample.release_model = cli->inputs[0];
    return cli_finish(cli, draw(cli, &options));
}

const struct command command_sample = {
    .bit = IN_SAMPLE,
    .name = "sample",
    .summary = "draw synthetic trips from a model; no private data needed",
    .usage = "MODEL -o OUT [-n TRIPS]",
    .arguments = VALUE_FILE,
    .about = "Draws synthetic trips from a model made by 'dploc fit'. No private data is "
             "needed, and it costs no privacy, however often it is done. Beside OUT are "
             "written OUT.certificate.json and OUT.manifest.json.",
    .notes = "The same model, seed and options give the same bytes, whatever the number of "
             "threads.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc fit city.csv --region simulated -o "
                "city.dploc\n"
                "dploc sample city.dploc -n 50000 --dates 2025-03-03..2025-03-09 -o syn.csv.gz\n",
    .main = sample_main,
};
