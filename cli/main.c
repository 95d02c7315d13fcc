/* dploc SUBCOMMAND ...: finds the subcommand and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct command *const COMMANDS[] = {
    &command_synth,  &command_fit,      &command_sample,  &command_eval,
    &command_report, &command_attack,   &command_inspect, &command_account,
    &command_verify, &command_simulate, &command_region,
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static void print_overview(FILE *out) {
    fprintf(out,
            "dploc %s: publish synthetic trips instead of private ones, with a true "
            "epsilon\n\nusage: dploc COMMAND ...\n\n",
            dpl_version());
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    fprintf(out, "\n'dploc help COMMAND' explains one of them; 'dploc --list "
                 "methods|formats|regions|measures' lists names.\n");
}

static const struct command *find_command(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, COMMANDS[i]->name)) return COMMANDS[i];
    return NULL;
}

/* Says that there is no such command, and which one may be meant. */
static int unknown_command(const char *name) {
    const char *nearest = NULL;
    size_t best = 4;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        size_t distance = cli_edit_distance(name, COMMANDS[i]->name);
        if (distance < best) best = distance, nearest = COMMANDS[i]->name;
    }
    if (nearest)
        fprintf(stderr, "dploc: there is no command '%s'; did you mean '%s'?\n", name, nearest);
    else
        fprintf(stderr, "dploc: there is no command '%s'; 'dploc --help' lists them\n", name);
    return DPL_USAGE;
}

static int help(const char *name) {
    if (!name) {
        print_overview(stdout);
        return DPL_OK;
    }
    const struct command *command = find_command(name);
    if (!command) return unknown_command(name);
    fputs(command->help, stdout);
    return DPL_OK;
}

static bool is_any(const char *text, const char *a, const char *b, const char *c) {
    return !strcmp(text, a) || !strcmp(text, b) || !strcmp(text, c);
}

int main(int argc, char **argv) {
    static struct cli cli;
    // A reader that went away (`dploc ... | head`) is seen when writing fails, not by a signal.
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        print_overview(stderr);
        return DPL_USAGE;
    }
    if (is_any(argv[1], "--help", "-h", "help")) return help(argc > 2 ? argv[2] : NULL);
    if (is_any(argv[1], "--version", "-V", "version")) {
        printf("dploc %s\n", dpl_version());
        return DPL_OK;
    }
    if (!strcmp(argv[1], "--list")) return cli_list(argc - 2, argv + 2);
    cli.command = find_command(argv[1]);
    return cli.command ? cli.command->main(&cli, argc - 2, argv + 2) : unknown_command(argv[1]);
}
