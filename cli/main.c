/* dploc SUBCOMMAND ...: finds the subcommand and hands over. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "manual.h"

static void print_overview(FILE *out) {
    const struct command *command;
    fprintf(out,
            "dploc %s: publish synthetic trips instead of private ones, with a true epsilon\n\n"
            "usage: dploc COMMAND ...\n\n",
            dpl_version());
    for (size_t i = 0; (command = manual_command(i)); i++)
        fprintf(out, "  %-10s %s\n", command->name, command->summary);
    fprintf(out, "  %-10s %s\n  %-10s %s\n", "help", "explains one of them: dploc help synth",
            "version", "which dploc this is");
    fprintf(out, "\n'dploc --list regions|methods|formats|measures' lists names that options "
                 "take.\n");
}

static const struct command *find_command(const char *name) {
    const struct command *command;
    for (size_t i = 0; (command = manual_command(i)); i++)
        if (!strcmp(name, command->name)) return command;
    return NULL;
}

/* Says that there is no such command, and which one may be meant. */
static int unknown_command(const char *name) {
    const char *nearest = NULL;
    size_t best = 4;
    const struct command *command;
    for (size_t i = 0; (command = manual_command(i)); i++) {
        size_t distance = cli_edit_distance(name, command->name);
        if (distance < best) best = distance, nearest = command->name;
    }
    if (nearest)
        fprintf(stderr, "dploc: there is no command '%s'; did you mean '%s'?\n", name, nearest);
    else
        fprintf(stderr, "dploc: there is no command '%s'; 'dploc --help' lists them\n", name);
    return DPL_USAGE;
}

/* help [COMMAND] [--all] */
static int help(int argc, char **argv) {
    const char *name = NULL;
    bool all = false;
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "--all"))
            all = true;
        else if (!name)
            name = argv[i];
    if (!name) {
        print_overview(stdout);
        return DPL_OK;
    }
    const struct command *command = find_command(name);
    if (!command) return unknown_command(name);
    manual_show(command, all ? help_all : help_everyday);
    return DPL_OK;
}

static bool is_any(const char *text, const char *a, const char *b, const char *c) {
    return !strcmp(text, a) || !strcmp(text, b) || !strcmp(text, c);
}

/* PRIVACY: keys and trips lie in memory, and a core dump would keep them on the disk. The limit
 * alone does not hold where a program collects the dumps; a process that is not dumpable has none.
 */
static void leave_no_core(void) {
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    (void)prctl(PR_SET_DUMPABLE, 0);
}

int main(int argc, char **argv) {
    static struct cli cli;
    leave_no_core();
    // A reader that went away (`dploc ... | head`) is seen when writing fails, not by a signal.
    // So is a file that must not grow (ulimit -f): it has a sentence.
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (argc < 2) {
        print_overview(stderr);
        return DPL_USAGE;
    }
    if (is_any(argv[1], "--help", "-h", "help")) return help(argc - 2, argv + 2);
    if (is_any(argv[1], "--version", "-V", "version")) {
        printf("dploc %s\n", dpl_version());
        return DPL_OK;
    }
    if (!strcmp(argv[1], "--list")) return cli_list(argc - 2, argv + 2);
    cli.command = find_command(argv[1]);
    return cli.command ? cli.command->main(&cli, argc - 2, argv + 2) : unknown_command(argv[1]);
}
