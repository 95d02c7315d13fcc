/* dploc fit in rounds. */
#include "rounds.h"

#include <stdio.h>
#include <string.h>

#include "paths.h"

void rounds_options_init(struct rounds_options *rounds) {
    const struct option table[] = {{"plan-only", 0, OPTION_FLAG, &rounds->plan_only, NULL},
                                   {"plan", 0, OPTION_TEXT, &rounds->plan, NULL},
                                   {"from-counts", 0, OPTION_TEXT, &rounds->from_counts, NULL},
                                   {0}};
    *rounds = (struct rounds_options){.plan_only = false};
    memcpy(rounds->table, table, sizeof table);
}

bool rounds_asked(const struct rounds_options *rounds) {
    return rounds->plan_only || rounds->plan || rounds->from_counts;
}

static enum dpl_status check(struct cli *cli, const struct rounds_options *rounds,
                             const struct privacy_options *privacy, const char *out) {
    if (rounds->plan_only && (rounds->plan || rounds->from_counts))
        return cli_usage(cli, "--plan-only begins a fit; --plan and --from-counts go on with one");
    if (!rounds->plan_only && (!rounds->plan || !rounds->from_counts))
        return cli_usage(cli, "--from-counts SUMS and --plan PLAN belong together");
    if (cli->n_inputs)
        return cli_usage(cli, "a fit in rounds reads no data: 'dploc count %s --plan PLAN' does",
                         cli->inputs[0]);
    if (privacy->fit.roads)
        return cli_usage(cli, "--roads is for a fit on one machine: a plan does not carry the map");
    if (privacy->dry_run) return cli_usage(cli, "--dry-run is for a fit on one machine");
    if (!out) return cli_usage(cli, "say where the plan goes: -o PLAN");
    return DPL_OK;
}

/* What stands at `out` now. */
static enum dpl_status show_plan(struct cli *cli, const char *out) {
    char *text = NULL;
    enum dpl_status status = dpl_task_summary(cli->run, out, cli->json, &text);
    if (text) (cli->json ? puts(text) : (cli->quiet ? 0 : fprintf(stderr, "%s\n", text)));
    dpl_text_free(text);
    return status;
}

static enum dpl_status show_model(struct cli *cli, const char *out) {
    char *text = NULL;
    enum dpl_status status = dpl_model_summary(cli->run, out, cli->json, &text);
    if (text) (cli->json ? puts(text) : (cli->quiet ? 0 : fprintf(stderr, "%s\n", text)));
    dpl_text_free(text);
    return status;
}

static enum dpl_status begin(struct cli *cli, struct data_options *data,
                             struct privacy_options *privacy, const char *out) {
    bool given;
    enum dpl_status status = data_options_area(cli, data, true, &given);
    if (status == DPL_OK) status = privacy_options_settle(cli, privacy, out);
    if (status == DPL_OK)
        status = dpl_rounds_begin(cli->run, &data->read, &data->area, &privacy->fit, out,
                                  privacy->force);
    return status == DPL_OK ? show_plan(cli, out) : status;
}

static enum dpl_status check_paths(struct cli *cli, const struct rounds_options *rounds,
                                   const char *out) {
    static struct paths paths;
    paths_begin(&paths, cli);
    paths_input(&paths, rounds->plan);
    paths_input(&paths, rounds->from_counts);
    paths_output_set(&paths, out);
    return paths_check(cli, &paths, NULL);
}

/* What the ledger asks the holder is asked on a terminal, and a yes starts it again. */
static enum dpl_status go_on(struct cli *cli, const struct rounds_options *rounds,
                             const struct privacy_options *privacy, const char *out) {
    struct dpl_rounds_options options = dpl_rounds_defaults();
    struct dpl_bytes sums = {0};
    bool done = false;
    options.checkpoint = privacy->fit.checkpoint;
    options.new_data = privacy->fit.new_data;
    options.total_epsilon = privacy->fit.total_epsilon;
    options.total_delta = privacy->fit.total_delta;
    options.overwrite = privacy->force || privacy->fit.resume;
    enum dpl_status status = check_paths(cli, rounds, out);
    if (status == DPL_OK) status = dpl_part_read(cli->run, rounds->from_counts, &sums);
    if (status != DPL_OK) return status;
    const struct dpl_view view = {sums.data, sums.n};
    status = dpl_rounds_continue(cli->run, rounds->plan, view, &options, out, &done);
    if (privacy_options_asked(cli, status)) {
        options.new_data = true;
        status = dpl_rounds_continue(cli->run, rounds->plan, view, &options, out, &done);
    }
    dpl_bytes_free(&sums);
    if (status != DPL_OK) return status;
    return done ? show_model(cli, out) : show_plan(cli, out);
}

enum dpl_status rounds_fit(struct cli *cli, const struct rounds_options *rounds,
                           struct data_options *data, struct privacy_options *privacy,
                           const char *out) {
    enum dpl_status status = check(cli, rounds, privacy, out);
    if (status != DPL_OK) return status;
    return rounds->plan_only ? begin(cli, data, privacy, out) : go_on(cli, rounds, privacy, out);
}
