#include "cli.h"
static int inspect_main(struct cli *cli, int argc, char **argv) {
    int ended = cli_start(cli, argc, argv, NULL, 0);
    return ended >= 0 ? ended : cli_finish(cli, DPL_OK);
}
const struct command command_inspect = {"inspect", "what a data file holds", "usage: dploc inspect FILE\n", inspect_main};
