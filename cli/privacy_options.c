/* Options about the budget, the method and the ledger. */
#include "privacy_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --share ti=0.3, repeated, or --shares ti=0.3,tpg=0.6: all into one list. */
static enum dpl_status add_share(struct cli *cli, void *into, const char *value) {
    struct privacy_options *privacy = into;
    size_t used = strlen(privacy->shares), room = sizeof privacy->shares - used;
    if ((size_t)snprintf(privacy->shares + used, room, "%s%s", used ? "," : "", value) >= room)
        return cli_usage(cli, "--share: the list is too long");
    return DPL_OK;
}

void privacy_options_init(struct privacy_options *privacy) {
    *privacy = (struct privacy_options){.fit = dpl_fit_defaults(), .unit = "trip"};
    struct dpl_fit_options *fit = &privacy->fit;
    const struct option table[] = {
        {"epsilon", 0, OPTION_REAL, &fit->budget.epsilon, NULL},
        {"delta", 0, OPTION_REAL, &fit->budget.delta, NULL},
        {"unit", 0, OPTION_TEXT, &privacy->unit, NULL},
        {"trips-as-cut", 0, OPTION_FLAG, &fit->trips_as_cut, NULL},
        {"accept-weak", 0, OPTION_FLAG, &fit->accept_weak, NULL},
        {"trips-max", 0, OPTION_WHOLE, &fit->budget.trips_max, NULL},
        {"method", 0, OPTION_TEXT, &fit->method, NULL},
        {"mechanism", 0, OPTION_TEXT, &fit->mechanism, NULL},
        {"size", 0, OPTION_WHOLE, &fit->size, NULL},
        {"coverage", 0, OPTION_REAL, &fit->coverage, NULL},
        {"kl-weight", 0, OPTION_REAL, &fit->kl_weight, NULL},
        {"no-destination", 0, OPTION_FLAG, &fit->no_destination, NULL},
        {"as-published", 0, OPTION_FLAG, &fit->as_published, NULL},
        {"sglt-form", 0, OPTION_TEXT, &fit->sglt_form, NULL},
        {"keep", 0, OPTION_TEXT, &fit->keep, NULL},
        {"share", 0, OPTION_CALL, privacy, add_share},
        {"shares", 0, OPTION_CALL, privacy, add_share},
        {"sigma-lengths", 0, OPTION_REAL, &privacy->sigma_lengths, NULL},
        {"sigma-topk", 0, OPTION_REAL, &privacy->sigma_topk, NULL},
        {"sigma-ti", 0, OPTION_REAL, &privacy->sigma_ti, NULL},
        {"sigma-tpg", 0, OPTION_REAL, &privacy->sigma_tpg, NULL},
        {"ledger", 0, OPTION_TEXT, &fit->ledger, NULL},
        {"dataset", 0, OPTION_TEXT, &fit->dataset, NULL},
        {"new-data", 0, OPTION_FLAG, &fit->new_data, NULL},
        {"total-epsilon", 0, OPTION_REAL, &fit->total_epsilon, NULL},
        {"total-delta", 0, OPTION_REAL, &fit->total_delta, NULL},
        {"checkpoint", 0, OPTION_TEXT, &fit->checkpoint, NULL},
        {"checkpoint-every", 0, OPTION_REAL, &fit->checkpoint_s, NULL},
        {"resume", 0, OPTION_FLAG, &fit->resume, NULL},
        {"restart", 0, OPTION_FLAG, &fit->restart, NULL},
        {"show-private-loss", 0, OPTION_FLAG, &fit->show_private_loss, NULL},
        {"insecure-seed", 0, OPTION_TEXT, &privacy->seed, NULL},
        {"hold-out", 0, OPTION_REAL, &fit->hold_out, NULL},
        {"memory", 0, OPTION_REAL, &fit->memory_mb, NULL},
        {"dry-run", 0, OPTION_FLAG, &privacy->dry_run, NULL},
        {"force", 0, OPTION_FLAG, &privacy->force, NULL},
        {0},
    };
    _Static_assert(sizeof table <= sizeof privacy->table, "room for all options");
    memcpy(privacy->table, table, sizeof table);
}

static enum dpl_status settle_unit(struct cli *cli, struct privacy_options *privacy) {
    struct dpl_budget *budget = &privacy->fit.budget;
    int unit = 0;
    enum dpl_status status = dpl_choice(cli->run, "budget.unit", privacy->unit, &unit);
    if (status != DPL_OK) return status;
    budget->unit = (enum dpl_unit)unit;
    if (budget->unit == DPL_UNIT_TRIP && budget->trips_max > 1)
        return cli_usage(cli, "--trips-max belongs to --unit user");
    return DPL_OK;
}

static enum dpl_status settle_seed(struct cli *cli, struct privacy_options *privacy) {
    if (!privacy->seed) return DPL_OK;
    char *end;
    errno = 0;
    privacy->fit.insecure_seed = strtoull(privacy->seed, &end, 10);
    if (end == privacy->seed || *end || errno || privacy->seed[0] == '-')
        return cli_usage(cli, "--insecure-seed takes a whole number from 0 up, not '%s'",
                         privacy->seed);
    privacy->fit.budget.insecure_seed = true;
    return DPL_OK;
}

static enum dpl_status settle_sigmas(struct cli *cli, struct privacy_options *privacy) {
    const struct {
        const char *name;
        double sigma;
    } given[] = {{"lengths", privacy->sigma_lengths},
                 {"topk", privacy->sigma_topk},
                 {"ti", privacy->sigma_ti},
                 {"tpg", privacy->sigma_tpg}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (given[i].sigma < 0)
            return cli_usage(cli, "--sigma-%s takes a number above 0", given[i].name);
        if (given[i].sigma > 0)
            used += (size_t)snprintf(privacy->sigmas + used, sizeof privacy->sigmas - used,
                                     "%s%s=%.17g", used ? "," : "", given[i].name, given[i].sigma);
    }
    if (used) privacy->fit.sigmas = privacy->sigmas;
    return DPL_OK;
}

enum dpl_status privacy_options_settle(struct cli *cli, struct privacy_options *privacy,
                                       const char *out) {
    enum dpl_status status = settle_unit(cli, privacy);
    if (status == DPL_OK) status = settle_seed(cli, privacy);
    if (status == DPL_OK) status = settle_sigmas(cli, privacy);
    if (status != DPL_OK) return status;
    if (privacy->shares[0]) privacy->fit.shares = privacy->shares;
    if (!privacy->fit.checkpoint && out) {
        if ((size_t)snprintf(privacy->checkpoint, sizeof privacy->checkpoint, "%s.checkpoint",
                             out) >= sizeof privacy->checkpoint)
            return cli_usage(cli, "-o: the name is too long");
        privacy->fit.checkpoint = privacy->checkpoint;
    }
    return DPL_OK;
}

bool privacy_options_asked(const struct cli *cli, enum dpl_status status) {
    return status == DPL_REFUSED && strstr(dpl_run_message(cli->run), "`fit.new_data`") &&
           cli_confirm(cli);
}

enum dpl_status privacy_options_fit(struct cli *cli, const struct privacy_options *privacy,
                                    const struct data_options *data, struct dpl_fit **fit) {
    struct dpl_fit_options options = privacy->fit;
    struct dpl_trips *trips = NULL;
    enum dpl_status status =
        dpl_trips_open(cli->run, cli->inputs, cli->n_inputs, &data->read, &trips);
    if (status == DPL_OK) status = dpl_fit(cli->run, trips, &data->area, &options, fit);
    if (privacy_options_asked(cli, status)) {
        options.new_data = true;
        status = dpl_fit(cli->run, trips, &data->area, &options, fit);
    }
    dpl_trips_free(trips);
    return status;
}

enum dpl_status privacy_options_preview(struct cli *cli, const struct privacy_options *privacy,
                                        const struct data_options *data) {
    char *text = NULL;
    struct dpl_trips *trips = NULL;
    enum dpl_status status =
        dpl_trips_open(cli->run, cli->inputs, cli->n_inputs, &data->read, &trips);
    if (status == DPL_OK)
        status = dpl_fit_preview(cli->run, trips, &data->area, &privacy->fit, cli->json, &text);
    if (status == DPL_OK) puts(text);
    dpl_text_free(text);
    dpl_trips_free(trips);
    return status;
}
