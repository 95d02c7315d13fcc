/* dploc tables: the noised tables of a model. */
#include <string.h>

#include "manual.h"
#include "paths.h"

static enum dpl_status write_tables(struct cli *cli, const struct dpl_tables_options *options,
                                    const char *directory) {
    static struct paths paths;
    struct dpl_model *model = NULL;
    paths_begin(&paths, cli);
    if (options->zones) paths_input(&paths, options->zones);
    enum dpl_status status = paths_check(cli, &paths, directory);
    if (status == DPL_OK) status = dpl_model_read(cli->run, cli->inputs[0], &model);
    if (status == DPL_OK) status = dpl_tables_write(cli->run, model, options, directory);
    dpl_model_free(model);
    return status;
}

static int tables_main(struct cli *cli, int argc, char **argv) {
    struct dpl_tables_options options = dpl_tables_defaults();
    const char *directory = NULL;
    const struct option table[] = {{"output", 'o', OPTION_TEXT, &directory, NULL},
                                   {"zones", 0, OPTION_TEXT, &options.zones, NULL},
                                   {"license", 0, OPTION_TEXT, &options.license, NULL},
                                   {"force", 0, OPTION_FLAG, &options.overwrite, NULL},
                                   {0}};
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){table}, 1);
    if (ended >= 0) return ended;
    if (cli->n_inputs != 1)
        return cli_finish(cli, cli_usage(cli, "name one model file, made by 'dploc fit'"));
    if (!directory) return cli_finish(cli, cli_usage(cli, "say where the tables go: -o DIR"));
    return cli_finish(cli, write_tables(cli, &options, directory));
}

const struct command command_tables = {
    .bit = IN_TABLES,
    .name = "tables",
    .summary = "the noised tables that a model was made from; no private data needed",
    .usage = "MODEL -o DIR [--zones DISTRICTS.geojson]",
    .arguments = VALUE_FILE,
    .about =
        "Writes the noised tables that a fit paid for, before anything was estimated from "
        "them: origins and destinations by zone and daypart, visits by hour and cell, lengths, "
        "speeds; each number with the deviation of its noise. It costs no privacy, however "
        "often it is done.",
    .notes = "A CSV file for each table, and a Parquet file where DuckDB's library is; cells.csv "
             "says where cells are, datapackage.json what columns mean. Numbers may be negative, "
             "and do not add up exactly: they have noise.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc fit city.csv --region simulated -o city.dploc\n"
                "dploc tables city.dploc -o tables\n",
    .main = tables_main,
};
