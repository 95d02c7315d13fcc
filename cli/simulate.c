#include "cli.h"
static int simulate_main(struct cli *cli, int argc, char **argv) {
    int ended = cli_start(cli, argc, argv, NULL, 0);
    return ended >= 0 ? ended : cli_finish(cli, DPL_OK);
}
const struct command command_simulate = {"simulate", "a made-up city", "usage: dploc simulate\n", simulate_main};
