/* dploc SUBCOMMAND ...: finds the subcommand and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct command *const COMMANDS[] = {
    &command_synth,  &command_fit,     &command_sample,  &command_eval,   &command_report,
    &command_attack, &command_inspect, &command_account, &command_verify, &command_simulate,
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static void print_overview(FILE *out) {
    fprintf(out,
            "dploc %s: publish synthetic trips instead of private ones, with a true "
            "epsilon\n\nusage: dploc COMMAND ...\n\n",
            dpl_version());
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    fprintf(out, "\n'dploc COMMAND --help' explains one of them.\n");
}

int main(int argc, char **argv) {
    static struct cli cli;
    // A reader that went away (`dploc ... | head`) is an error to report, not a signal to die of.
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        print_overview(stderr);
        return DPL_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_overview(stdout);
        return DPL_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("dploc %s\n", dpl_version());
        return DPL_OK;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], COMMANDS[i]->name)) continue;
        cli.command = COMMANDS[i];
        return COMMANDS[i]->main(&cli, argc - 2, argv + 2);
    }
    fprintf(stderr, "dploc: there is no command '%s'; 'dploc --help' lists them\n", argv[1]);
    return DPL_USAGE;
}
