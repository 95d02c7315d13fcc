/* dploc simulate: a made-up city, written in one of four layouts. */
#include <string.h>

#include "manual.h"
#include "paths.h"

static const char *const LAYOUTS[] = {"csv", "porto", "cabspotting", "geolife", NULL};
static const char *const SAMPLINGS[] = {"irregular", "regular", NULL};
static const char *const PACES[] = {"drive", "walk", NULL};

static enum dpl_status pick(struct cli *cli, const char *option, const char *const names[],
                            const char *value, int *index) {
    char known[128] = "";
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], value)) {
            *index = i;
            return DPL_OK;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", names[i]);
    }
    return cli_usage(cli, "--%s takes one of %s, not '%s'", option, known, value);
}

static enum dpl_status set_layout(struct cli *cli, void *into, const char *value) {
    int index = 0;
    enum dpl_status status = pick(cli, "layout", LAYOUTS, value, &index);
    if (status == DPL_OK) *(enum dpl_layout *)into = (enum dpl_layout)index;
    return status;
}

static enum dpl_status set_sampling(struct cli *cli, void *into, const char *value) {
    int index = 0;
    enum dpl_status status = pick(cli, "sampling", SAMPLINGS, value, &index);
    if (status == DPL_OK) *(enum dpl_sampling *)into = (enum dpl_sampling)index;
    return status;
}

static enum dpl_status set_pace(struct cli *cli, void *into, const char *value) {
    int index = 0;
    enum dpl_status status = pick(cli, "pace", PACES, value, &index);
    if (status == DPL_OK) *(enum dpl_pace *)into = (enum dpl_pace)index;
    return status;
}

static enum dpl_status simulate(struct cli *cli, const struct dpl_simulate_options *options,
                                const char *output) {
    static struct paths paths;
    bool directory =
        options->layout == DPL_LAYOUT_CABSPOTTING || options->layout == DPL_LAYOUT_GEOLIFE;
    paths_begin(&paths, cli);
    if (!directory) paths_output(&paths, output);
    enum dpl_status status = paths_check(cli, &paths, directory ? output : NULL);
    return status == DPL_OK ? dpl_simulate(cli->run, options, output) : status;
}

static int simulate_main(struct cli *cli, int argc, char **argv) {
    struct dpl_simulate_options options = dpl_simulate_defaults();
    const char *output = NULL;
    int64_t seed = (int64_t)options.seed, city = (int64_t)options.city;
    const struct option table[] = {
        {"output", 'o', OPTION_TEXT, &output, NULL},
        {"layout", 0, OPTION_CALL, &options.layout, set_layout},
        {"trips", 0, OPTION_WHOLE, &options.trips, NULL},
        {"users", 0, OPTION_WHOLE, &options.users, NULL},
        {"days", 0, OPTION_WHOLE, &options.days, NULL},
        {"date", 0, OPTION_TEXT, &options.date, NULL},
        {"seed", 0, OPTION_WHOLE, &seed, NULL},
        {"city", 0, OPTION_WHOLE, &city, NULL},
        {"sampling", 0, OPTION_CALL, &options.sampling, set_sampling},
        {"pace", 0, OPTION_CALL, &options.pace, set_pace},
        {"dirty", 0, OPTION_FLAG, &options.dirty, NULL},
        {"roads-out", 0, OPTION_TEXT, &options.roads_out, NULL},
        {"force", 0, OPTION_FLAG, &options.overwrite, NULL},
        {0},
    };
    const struct option *const tables[] = {table};
    int ended = cli_start(cli, argc, argv, tables, 1);
    if (ended >= 0) return ended;
    if (cli->n_inputs > 0)
        return cli_finish(
            cli,
            cli_usage(cli, "simulate reads no input, but '%s' was given (the output goes after -o)",
                      cli->inputs[0]));
    if (!output)
        return cli_finish(cli,
                          cli_usage(cli, "where to? give -o CITY.csv ('-' for standard output)"));
    options.seed = (uint64_t)seed;
    options.city = (uint64_t)city;
    return cli_finish(cli, simulate(cli, &options, output));
}

const struct command command_simulate = {
    .bit = IN_SIMULATE,
    .name = "simulate",
    .summary = "a made-up city: public data without limit",
    .usage = "-o CITY.csv [options]",
    .arguments = NULL,
    .about = "Writes the trips of a made-up city with streets, rush hours, habits and GPS "
             "error: public data without limit, for demos, tests and tuning. It lies in the "
             "region 'simulated'. The same options give the same bytes, whatever the number of"
             " threads.",
    .examples = "dploc simulate --trips 20000 -o city.csv\n"
                "dploc inspect city.csv --region "
                "simulated\n"
                "dploc simulate --layout cabspotting --trips 5000 -o cabs\n"
                "dploc inspect cabs\n",
    .main = simulate_main,
};
