/* Options about drawing trips. */
#include "sample_options.h"

#include <string.h>

#include "roads.h"

static enum dpl_status set_points(struct cli *cli, void *into, const char *value) {
    static const struct {
        const char *name;
        enum dpl_points_kind points;
    } KNOWN[] = {{"drawn", DPL_POINTS_DRAWN},
                 {"uniform", DPL_POINTS_UNIFORM},
                 {"centre", DPL_POINTS_CENTRE},
                 {"center", DPL_POINTS_CENTRE}};
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (!strcmp(value, KNOWN[i].name)) {
            *(enum dpl_points_kind *)into = KNOWN[i].points;
            return DPL_OK;
        }
    return cli_usage(cli, "--points takes drawn, uniform or centre, not '%s'", value);
}

static enum dpl_status set_travel(struct cli *cli, void *into, const char *value) {
    enum dpl_travel *travel = into;
    return roads_travel(cli, value, travel);
}

static enum dpl_status set_times(struct cli *cli, void *into, const char *value) {
    for (size_t i = 0; dpl_choice_name("sample.times", (int)i); i++)
        if (!strcmp(value, dpl_choice_name("sample.times", (int)i))) {
            *(enum dpl_times *)into = (enum dpl_times)i;
            return DPL_OK;
        }
    return cli_usage(cli, "--times takes local, utc, naive or epoch, not '%s'", value);
}

/* "3/10" */
static enum dpl_status set_block(struct cli *cli, void *into, const char *value) {
    struct dpl_sample_options *sample = into;
    uint32_t index, of;
    enum dpl_status status = cli_fraction(cli, "--block", value, &index, &of);
    sample->block = index, sample->blocks = of;
    return status;
}

void sample_options_init(struct sample_options *options, bool alone) {
    *options = (struct sample_options){.sample = dpl_sample_defaults()};
    struct dpl_sample_options *sample = &options->sample;
    const struct option table[] = {
        {"output", 'o', OPTION_TEXT, &options->out, NULL},
        {"trips", 'n', OPTION_WHOLE, &sample->trips, NULL},
        {"seed", 0, OPTION_WHOLE, &sample->seed, NULL},
        {"to", 0, OPTION_TEXT, &sample->to, NULL},
        {"columns-out", 0, OPTION_TEXT, &sample->columns_out, NULL},
        {"dates", 0, OPTION_TEXT, &sample->date, NULL},
        {"date", 0, OPTION_TEXT, &sample->date, NULL},
        {"points", 0, OPTION_CALL, &sample->points, set_points},
        {"times", 0, OPTION_CALL, &sample->times, set_times},
        {"interval", 0, OPTION_WHOLE, &sample->interval_s, NULL},
        {"gps-error", 0, OPTION_REAL, &sample->gps_error_m, NULL},
        {"roads", 0, OPTION_TEXT, &sample->roads, NULL},
        {"travel", 0, OPTION_CALL, &sample->travel, set_travel},
        {"mh-steps", 0, OPTION_WHOLE, &sample->mh_steps, NULL},
        {"no-looping", 0, OPTION_FLAG, &sample->no_looping, NULL},
        {"release", 0, OPTION_TEXT, &sample->release, NULL},
        {"license", 0, OPTION_TEXT, &sample->license, NULL},
        // What 'sample' alone takes: a table ends at the first row without a name.
        {alone ? "force" : NULL, 0, OPTION_FLAG, &sample->overwrite, NULL},
        {"block", 0, OPTION_CALL, sample, set_block},
        {0},
    };
    _Static_assert(sizeof table <= sizeof options->table, "room for all options");
    memcpy(options->table, table, sizeof table);
}
