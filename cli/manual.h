/* What is said about options: one row for each, from which come the list of options that a
 * subcommand takes, --help, the manual pages and the completions of shells.
 *
 * A row says what people read; where the value goes, its type and its default are in the
 * subcommand's table (struct option), found by name. cli_start checks that the two agree. */
#ifndef DPLOC_CLI_MANUAL_H
#define DPLOC_CLI_MANUAL_H

#include <stdio.h>

#include "cli.h"

/* In the order in which they are shown. */
enum option_group {
    GROUP_OUTPUT,
    GROUP_INPUT,
    GROUP_AREA,
    GROUP_PRIVACY,
    GROUP_LEDGER,
    GROUP_METHOD,
    GROUP_TRIPS,
    GROUP_CITY,
    GROUP_MECHANISMS,
    GROUP_COMPARISON,
    GROUP_STOPPING,
    GROUP_ROUNDS,
    GROUP_EXPERIMENTS,
    GROUP_GENERAL,
    N_GROUPS,
    GROUP_ALIAS /* another name of an option, kept for scripts: taken, but not shown */
};

/* What a shell completes a value to; anything else is words apart by '|', or a name of --list with
 * a '=' before it. */
#define VALUE_FILE "<file>"
#define VALUE_DIRECTORY "<directory>"

struct option_row {
    const char *name;
    const char *argument;  /* how its value is called, NULL: a flag */
    const char *values;    /* what a shell offers, NULL: nothing */
    const char *otherwise; /* the default in words; NULL: the value of the subcommand's table, if it
                              says something; "": there is none */
    enum option_group group;
    unsigned in;       /* the subcommands that take it, by enum command_bit */
    unsigned everyday; /* those whose short help shows it */
    const char *sentence;
};

/* The subcommands, in the order in which they are shown; NULL past the last. */
const struct command *manual_command(size_t i);
const char *manual_group_title(enum option_group group);
/* The i-th row, NULL past the last. */
const struct option_row *manual_row(size_t i);
/* The row of an option that the subcommand takes, by the first `length` letters of `name`; NULL:
 * there is none. */
const struct option_row *manual_find(const struct command *command, const char *name,
                                     size_t length);
/* The default of an option as it is shown; false: nothing is to be shown. */
bool manual_default(const struct option_row *row, const struct option *option, char *text,
                    size_t size);

/* Calls `visit` with every row of the subcommand and its option, group by group. */
typedef void manual_visit(void *user, const struct option_row *row, const struct option *option);
void manual_each(const struct command *command, const struct option_tables *tables,
                 manual_visit *visit, void *user);

/* Functions to show a subcommand's options with (cli->show). */
void help_everyday(const struct cli *cli, const struct option_tables *tables);
void help_all(const struct cli *cli, const struct option_tables *tables);
void man_command(const struct cli *cli, const struct option_tables *tables);
/* Calls a function of this kind with the tables of a subcommand. */
void manual_show(const struct command *command,
                 void (*show)(const struct cli *, const struct option_tables *));

/* dploc(1). */
void man_program(void);
/* The completions of a shell, and the i-th shell's name (NULL past the last). */
void completions_print(size_t shell);
const char *completions_shell(size_t i);
/* The i-th name of a list of --list, NULL past the last or if there is no such list. */
const char *list_name(const char *list, size_t i);

/* Prints words from `column` on; lines break before WIDTH and go on at `indent`. Ends the line. */
void help_wrap(FILE *out, const char *text, size_t column, size_t indent);

#endif
