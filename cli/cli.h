/* The command line: options, words and exit codes around the public library. Nothing private is
 * included here; what a subcommand computes, the library computes. */
#ifndef DPLOC_CLI_H
#define DPLOC_CLI_H

#include <dploc.h>
#include <dploc_data.h>
#include <dploc_privacy.h>
#include <dploc_rounds.h>

struct cli;

/* ---- options ---- */

enum option_kind {
    OPTION_FLAG,  /* bool *: true when given */
    OPTION_TEXT,  /* const char **: borrowed from the command line or the config file */
    OPTION_REAL,  /* double *; "inf" is a number here */
    OPTION_WHOLE, /* int64_t *, at least 0 */
    OPTION_CALL /* enum dpl_status (*)(struct cli *, void *into, const char *value): for repeated or
                   structured values */
};

struct option {
    const char *name; /* without dashes; NULL ends a table */
    char letter;      /* short form, 0: none */
    enum option_kind kind;
    void *into;
    enum dpl_status (*call)(struct cli *cli, void *into, const char *value); /* OPTION_CALL only */
};

enum { CLI_MAX_TABLES = 6, CLI_MAX_INPUTS = 4096 };

/* All options of one subcommand. */
struct option_tables {
    const struct option *list[CLI_MAX_TABLES + 1];
    size_t count;
};

struct cli {
    const struct command *command;
    struct dpl_run *run;
    /* If set, cli_start calls it and ends the subcommand: help in one of its forms (manual.h). */
    void (*show)(const struct cli *cli, const struct option_tables *tables);

    /* options that every subcommand takes */
    bool quiet, json, help, help_all;
    const char *progress; /* auto, plain, json, none */
    const char *config;
    int64_t threads;

    const char *inputs[CLI_MAX_INPUTS]; /* the arguments that are not options */
    size_t n_inputs;
    char message[1024]; /* the usage error, if any */
    void *config_json;  /* keeps borrowed texts alive */
};

/* Sets of subcommands. */
enum command_bit {
    IN_SYNTH = 1 << 0,
    IN_FIT = 1 << 1,
    IN_SAMPLE = 1 << 2,
    IN_EVAL = 1 << 3,
    IN_REPORT = 1 << 4,
    IN_ATTACK = 1 << 5,
    IN_INSPECT = 1 << 6,
    IN_ACCOUNT = 1 << 7,
    IN_VERIFY = 1 << 8,
    IN_SIMULATE = 1 << 9,
    IN_REGION = 1 << 10,
    IN_COUNT = 1 << 11,
    IN_MERGE = 1 << 12,
    IN_TABLES = 1 << 13,
    IN_ALL = (1 << 14) - 1
};

/* One subcommand and what its manual says besides options (manual.h). Texts are paragraphs apart by
 * blank lines; they are wrapped when they are shown. */
struct command {
    enum command_bit bit;
    const char *name, *summary;
    const char *usage;     /* what follows "dploc NAME", one line for each form */
    const char *arguments; /* what a shell completes arguments to, as option_row.values */
    const char *about;
    const char *notes;    /* after the options, may be NULL */
    const char *examples; /* lines that work on the output of 'dploc simulate' */
    int (*main)(struct cli *cli, int argc, char **argv);
};

extern const struct command command_inspect, command_simulate;
extern const struct command command_account;
extern const struct command command_verify;
extern const struct command command_fit;
extern const struct command command_sample, command_synth;
extern const struct command command_eval, command_report, command_attack;
extern const struct command command_region;
extern const struct command command_tables;
extern const struct command command_count, command_merge;

/* Reads options from the config file, then from the command line, into the tables' targets (the
 * common table is added by itself), then makes the run. Arguments land in cli->inputs. Returns -1
 * to go on, otherwise the exit code to end with (help shown, or a usage error reported). */
int cli_start(struct cli *cli, int argc, char **argv, const struct option *const tables[],
              size_t n_tables);
/* Ends the subcommand: reports the run's message if the status is not DPL_OK, frees the run and
 * returns the exit code. */
int cli_finish(struct cli *cli, enum dpl_status status);
/* Reports a mistake in the command line; returns DPL_USAGE. */
enum dpl_status cli_usage(struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports any other failure found by the command line itself. */
enum dpl_status cli_fail(struct cli *cli, enum dpl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "3/10" as the value of an option: *index from 0 on. */
enum dpl_status cli_fraction(struct cli *cli, const char *option, const char *value,
                             uint32_t *index, uint32_t *of);
/* dploc --list THING [--json]; returns the exit code. */
int cli_list(int argc, char **argv);
/* How many letters must be added, removed or changed to make `a` into `b`. */
size_t cli_edit_distance(const char *a, const char *b);

/* ---- words on stderr ---- */

enum { CLI_TEXT = 2048 };
/* The library's words with the options in place of the fields that it names (`area.cell_m` is
 * --cell here), in room[size]; returns `room`. */
const char *cli_fields(const char *text, char *room, size_t size);

/* On a terminal: shows the run's message, which asks something, and waits for a yes. False without
 * a terminal, where the option that the message names answers. */
bool cli_confirm(const struct cli *cli);

void cli_note(void *user, const char *sentence);
/* Ends a progress bar that stands open, so that what follows begins on a line of its own. */
void cli_close_bar(void);
void cli_progress(void *user, const struct dpl_progress *progress);

#endif
