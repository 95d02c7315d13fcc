/* Manual pages, in the man macros: dploc(1) and one page for each subcommand. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "manual.h"

/* `length` characters of text for troff. A hyphen becomes a minus, so that options can be copied
 * from the page, and a line never begins with a control character. */
static void print_roff(const char *text, size_t length) {
    if (length && (*text == '.' || *text == '\'')) fputs("\\&", stdout);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '-')
            fputs("\\-", stdout);
        else if (text[i] == '\\')
            fputs("\\e", stdout);
        else
            putchar(text[i]);
}

static void print_text(const char *text) { print_roff(text, strlen(text)); }

static void print_title(const char *name) {
    printf(".TH %s 1 \"\" \"dploc %s\" \"User commands\"\n", name, dpl_version());
}

/* Paragraphs apart by blank lines. */
static void print_paragraphs(const char *text) {
    for (const char *end; text; text = end ? end + 2 : NULL) {
        end = strstr(text, "\n\n");
        print_roff(text, end ? (size_t)(end - text) : strlen(text));
        printf("\n%s", end ? ".PP\n" : "");
    }
}

/* Lines as they are, each after `before`. */
static void print_verbatim(const char *before, const char *text) {
    puts(".nf");
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        print_text(before);
        print_roff(text, (size_t)(end - text));
        putchar('\n');
    }
    puts(".fi");
}

static void print_option(void *user, const struct option_row *row, const struct option *option) {
    int *group = user;
    char value[128];
    if (*group != (int)row->group) printf(".SS %s\n", manual_group_title(row->group));
    *group = (int)row->group;
    printf(".TP\n");
    if (option->letter) printf("\\fB\\-%c\\fR, ", option->letter);
    printf("\\fB\\-\\-");
    print_text(row->name);
    printf("\\fR");
    if (row->argument) {
        printf(" \\fI");
        print_text(row->argument);
        printf("\\fR");
    }
    putchar('\n');
    print_text(row->sentence);
    if (manual_default(row, option, value, sizeof value)) {
        printf(" (default: ");
        print_text(value);
        putchar(')');
    }
    putchar('\n');
}

void man_command(const struct cli *cli, const struct option_tables *tables) {
    const struct command *command = cli->command;
    char title[64], before[64];
    int group = -1;
    snprintf(title, sizeof title, "DPLOC-%s", command->name);
    for (char *at = title; *at; at++) *at = (char)toupper((unsigned char)*at);
    snprintf(before, sizeof before, "dploc %s ", command->name);
    print_title(title);
    printf(".SH NAME\ndploc\\-%s \\- ", command->name);
    print_text(command->summary);
    printf("\n.SH SYNOPSIS\n");
    print_verbatim(before, command->usage);
    printf(".SH DESCRIPTION\n");
    print_paragraphs(command->about);
    printf(".SH OPTIONS\n");
    manual_each(command, tables, print_option, &group);
    if (command->notes) {
        printf(".SH NOTES\n");
        print_paragraphs(command->notes);
    }
    printf(".SH EXAMPLES\n");
    print_verbatim("", command->examples);
    printf(".SH SEE ALSO\n.BR dploc (1)\n");
}

/* ---- dploc(1) ---- */

struct entry {
    const char *head, *text;
};

static const char ABOUT[] =
    "dploc turns private GPS trajectories into synthetic trips with differential privacy. Data "
    "goes to standard output or to the file after -o, words go to standard error.\n\n"
    "'dploc help COMMAND' shows the everyday options of a command, 'dploc help COMMAND --all' all "
    "of them, as its own page dploc-COMMAND(1) does.";

static const char PROGRESS[] =
    "A long phase shows a bar, a rate and the time left on a terminal, and nothing elsewhere. "
    "--progress plain writes lines of words, --progress json one JSON object a line to standard "
    "error, --progress none and --quiet nothing. The members of the object:";

static const struct entry PROGRESS_MEMBERS[] = {
    {"phase", "what is being done, in words"},
    {"unit", "what is counted: trips, rows, steps and so on"},
    {"done, total", "so many of so many; a total of 0 is not known yet"},
    {"seconds", "since the phase began"},
    {"rate", "units a second"},
    {"epsilon", "what the training has spent so far; 0: nothing to tell"},
    {"finished", "true in the last line of a phase"},
};

static const char STOPPING[] =
    "Ctrl-C (SIGINT, SIGTERM) ends a command with exit 130. fit and synth keep a checkpoint: the "
    "same command with --resume goes on, and nothing is paid twice. All other commands leave no "
    "file behind. A second Ctrl-C ends the program at once.";

static const struct entry EXITS[] = {
    {"0", "done"},
    {"1", "the data is bad, or what was verified is not valid"},
    {"2", "the command line is wrong"},
    {"3", "the system failed: disk, memory, permissions"},
    {"4", "refused for privacy"},
    {"130", "interrupted"},
};

static const struct entry ENVIRONMENT[] = {
    {"XDG_STATE_HOME", "below it lie the ledgers, in dploc/ledgers, and temporary files, in "
                       "dploc/tmp (default: ~/.local/state)"},
    {"TMPDIR", "where temporary files with raw points go instead"},
    {"ZONEINFO", "where time zones are read from, if not from the system's place"},
    {"OMP_WAIT_POLICY", "'passive' makes training kinder to a busy machine"},
};

static void print_entries(const struct entry *entry, size_t n) {
    for (size_t i = 0; i < n; i++) {
        printf(".TP\n.B ");
        print_text(entry[i].head);
        putchar('\n');
        print_text(entry[i].text);
        putchar('\n');
    }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

void man_program(void) {
    const struct command *command;
    print_title("DPLOC");
    printf(".SH NAME\ndploc \\- publish synthetic trips instead of private ones, with a true "
           "epsilon\n.SH SYNOPSIS\n.B dploc\n.I COMMAND\n.RI [ ARGUMENTS ...]\n.br\n"
           ".B dploc help\n.RI [ COMMAND ]\n.RB [ \\-\\-all ]\n.br\n.B dploc version\n.br\n"
           ".B dploc \\-\\-list\n.RB regions | methods | formats | measures\n.RB [ \\-\\-json ]\n"
           ".SH DESCRIPTION\n");
    print_paragraphs(ABOUT);
    printf(".SH COMMANDS\n");
    for (size_t i = 0; (command = manual_command(i)); i++) {
        printf(".TP\n.BR dploc\\-%s (1)\n", command->name);
        print_text(command->summary);
        putchar('\n');
    }
    printf(".SH PROGRESS\n");
    print_paragraphs(PROGRESS);
    print_entries(PROGRESS_MEMBERS, COUNT(PROGRESS_MEMBERS));
    printf(".SH STOPPING\n");
    print_paragraphs(STOPPING);
    printf(".SH EXIT STATUS\n");
    print_entries(EXITS, COUNT(EXITS));
    printf(".SH ENVIRONMENT\n");
    print_entries(ENVIRONMENT, COUNT(ENVIRONMENT));
}
