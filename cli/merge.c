/* dploc merge: parts into sums. */
#include <stdio.h>

#include "manual.h"
#include "paths.h"

struct merge_options {
    const char *out;
    bool force;
};

static enum dpl_status add_file(struct cli *cli, struct dpl_sums *sums, const char *path) {
    struct dpl_bytes part = {0};
    enum dpl_status status = dpl_part_read(cli->run, path, &part);
    if (status == DPL_OK)
        status = dpl_sums_add(cli->run, sums, path, (struct dpl_view){part.data, part.n});
    dpl_bytes_free(&part);
    return status;
}

/* One part in memory at a time. */
static enum dpl_status merge(struct cli *cli, const struct merge_options *options) {
    struct dpl_sums *sums = NULL;
    struct dpl_bytes bytes = {0};
    enum dpl_status status = dpl_sums_new(cli->run, &sums);
    for (size_t i = 0; status == DPL_OK && i < cli->n_inputs; i++)
        status = add_file(cli, sums, cli->inputs[i]);
    if (status == DPL_OK) status = dpl_sums_make(cli->run, sums, &bytes);
    if (status == DPL_OK)
        status = dpl_part_write(cli->run, (struct dpl_view){bytes.data, bytes.n}, options->out,
                                options->force);
    dpl_bytes_free(&bytes);
    dpl_sums_free(sums);
    return status;
}

static enum dpl_status check(struct cli *cli, const struct merge_options *options) {
    static struct paths paths;
    if (!cli->n_inputs) return cli_usage(cli, "name the parts that 'dploc count' wrote");
    if (!options->out) return cli_usage(cli, "say where the sums go: -o SUMS");
    paths_begin(&paths, cli);
    paths_output(&paths, options->out);
    enum dpl_status status = paths_check(cli, &paths, NULL);
    return status == DPL_OK ? dpl_part_check(cli->run, options->out, options->force) : status;
}

static int merge_main(struct cli *cli, int argc, char **argv) {
    static struct merge_options options;
    const struct option own[] = {{"output", 'o', OPTION_TEXT, &options.out, NULL},
                                 {"force", 0, OPTION_FLAG, &options.force, NULL},
                                 {0}};
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){own}, 1);
    if (ended >= 0) return ended;
    enum dpl_status status = check(cli, &options);
    return cli_finish(cli, status == DPL_OK ? merge(cli, &options) : status);
}

const struct command command_merge = {
    .bit = IN_MERGE,
    .name = "merge",
    .summary = "add up what 'dploc count' wrote on many machines",
    .usage = "PART... -o SUMS",
    .arguments = VALUE_FILE,
    .about = "Adds up parts of one round, in any order, all at once or some first: SUMS may be "
             "merged with others again. Parts of other plans, rounds or versions are refused, and "
             "shards that are there twice. SUMS holds exact counts: it is for you alone (mode "
             "0600).",
    .notes = "Whether all shards are there is asked by 'dploc fit --from-counts'.",
    .examples = "dploc simulate -o city.csv\n"
                "dploc fit --plan-only --region simulated -o round1.plan\n"
                "dploc count city.csv --plan round1.plan --shard 1/2 -o part.1\n"
                "dploc count city.csv --plan round1.plan --shard 2/2 -o part.2\n"
                "dploc merge part.1 part.2 -o sums\n",
    .main = merge_main,
};
