/* dploc count: the units of one shard, counted for a plan. */
#include <stdio.h>

#include "manual.h"
#include "paths.h"

struct count_options {
    const char *plan, *shard, *out, *cleaned;
    bool force;
    uint32_t index, of; /* from 0 on */
};

static enum dpl_status check(struct cli *cli, struct count_options *options) {
    static struct paths paths;
    if (!cli->n_inputs) return cli_usage(cli, "name a file, a directory or - to count");
    if (!options->plan)
        return cli_usage(cli, "say what to count: --plan PLAN, made by 'dploc fit --plan-only'");
    if (!options->out) return cli_usage(cli, "say where the counts go: -o PART");
    paths_begin(&paths, cli);
    paths_input(&paths, options->plan);
    paths_output(&paths, options->out);
    paths_output(&paths, options->cleaned);
    enum dpl_status status =
        cli_fraction(cli, "--shard", options->shard, &options->index, &options->of);
    if (status == DPL_OK) status = paths_check(cli, &paths, NULL);
    return status == DPL_OK ? dpl_part_check(cli->run, options->out, options->force) : status;
}

static enum dpl_status count(struct cli *cli, const struct count_options *options) {
    struct dpl_task *task = NULL;
    struct dpl_trips *trips = NULL;
    struct dpl_bytes part = {0};
    enum dpl_status status = dpl_task_read(cli->run, options->plan, &task);
    if (status == DPL_OK)
        status =
            dpl_trips_open(cli->run, cli->inputs, cli->n_inputs, dpl_task_reading(task), &trips);
    if (status == DPL_OK && options->cleaned)
        status = dpl_task_part_kept(cli->run, task, trips, options->index, options->of,
                                    options->cleaned, &part);
    else if (status == DPL_OK)
        status = dpl_task_part(cli->run, task, trips, options->index, options->of, &part);
    if (status == DPL_OK)
        status = dpl_part_write(cli->run, (struct dpl_view){part.data, part.n}, options->out,
                                options->force);
    dpl_bytes_free(&part);
    dpl_trips_free(trips);
    dpl_task_free(task);
    return status;
}

static int count_main(struct cli *cli, int argc, char **argv) {
    static struct count_options options;
    options = (struct count_options){.shard = "1/1"};
    const struct option own[] = {{"output", 'o', OPTION_TEXT, &options.out, NULL},
                                 {"plan", 0, OPTION_TEXT, &options.plan, NULL},
                                 {"shard", 0, OPTION_TEXT, &options.shard, NULL},
                                 {"cleaned", 0, OPTION_TEXT, &options.cleaned, NULL},
                                 {"force", 0, OPTION_FLAG, &options.force, NULL},
                                 {0}};
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){own}, 1);
    if (ended >= 0) return ended;
    enum dpl_status status = check(cli, &options);
    return cli_finish(cli, status == DPL_OK ? count(cli, &options) : status);
}

const struct command command_count = {
    .bit = IN_COUNT,
    .name = "count",
    .summary = "count one shard of private trips for a fit on many machines",
    .usage = "INPUT... --plan PLAN --shard I/S -o PART",
    .arguments = VALUE_FILE,
    .about = "Counts what PLAN asks for, of the trips (users) whose hash falls into shard I of S. "
             "INPUT may hold all units, and those of other shards are left to their workers; or "
             "those of this shard alone. PART holds exact counts: it is for you alone (mode 0600). "
             "Nothing that is said shows a value of the data.",
    .notes = "How data is read, and all else that shapes the result, is in PLAN. The same data and "
             "plan give the same PART, however often it is counted.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc fit --plan-only --region simulated -o round1.plan\n"
                "dploc count city.csv --plan round1.plan --shard 1/1 -o part\n"
                "dploc merge part -o sums\n"
                "dploc fit --from-counts sums --plan round1.plan -o round2.plan\n",
    .main = count_main,
};
