/* Help on the terminal: options in groups, at most 80 columns wide. */
#include <stdio.h>
#include <string.h>

#include "manual.h"

enum { WIDTH = 80, OPTION_COLUMN = 27 };

void help_wrap(FILE *out, const char *text, size_t column, size_t indent) {
    bool first = true;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (!first && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", (int)length, text);
        column += length + !first;
        first = false;
        text += length;
        while (*text == ' ') text++;
    }
    fputc('\n', out);
}

/* Paragraphs apart by blank lines. */
static void print_paragraphs(const char *text) {
    for (const char *end; text; text = end ? end + 2 : NULL) {
        char paragraph[2048];
        end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        help_wrap(stdout, paragraph, 0, 0);
        putchar('\n');
    }
}

/* Lines of `text` after `first`, and those that follow after `next`. */
static void print_lines(const char *first, const char *next, const char *text) {
    for (const char *end; *text; text = *end ? end + 1 : end, first = next) {
        end = text + strcspn(text, "\n");
        printf("%s%.*s\n", first, (int)(end - text), text);
    }
}

struct view {
    const struct command *command;
    bool all;
    int group; /* whose title was printed last */
    size_t hidden;
};

static void print_option(const struct option_row *row, const struct option *option) {
    char head[64], letter[] = "    ", text[512], value[128];
    if (option->letter) snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(head, sizeof head, "  %.4s--%s%s%s", letter, row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    snprintf(text, sizeof text, "%s", row->sentence);
    if (manual_default(row, option, value, sizeof value)) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, " [%s]", value);
    }
    size_t column = strlen(head);
    printf("%s", head);
    if (column + 2 > OPTION_COLUMN) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", (int)(OPTION_COLUMN - column), "");
    help_wrap(stdout, text, OPTION_COLUMN, OPTION_COLUMN);
}

static void show_option(void *user, const struct option_row *row, const struct option *option) {
    struct view *view = user;
    if (!view->all && !(row->everyday & view->command->bit)) {
        view->hidden++;
        return;
    }
    if (view->group != (int)row->group)
        printf("%s%s\n", view->group < 0 ? "" : "\n", manual_group_title(row->group));
    view->group = (int)row->group;
    print_option(row, option);
}

static void print_help(const struct cli *cli, const struct option_tables *tables, bool all) {
    const struct command *command = cli->command;
    struct view view = {.command = command, .all = all, .group = -1};
    char usage[64], or [64];
    snprintf(usage, sizeof usage, "usage: dploc %s ", command->name);
    snprintf(or, sizeof or, "   or: dploc %s ", command->name);
    print_lines(usage, or, command->usage);
    putchar('\n');
    print_paragraphs(command->about);
    manual_each(command, tables, show_option, &view);
    putchar('\n');
    if (command->notes) print_paragraphs(command->notes);
    puts("Examples");
    print_lines("  ", "  ", command->examples);
    puts("\nDefaults stand in [brackets].");
    if (view.hidden)
        printf("%zu more options: dploc help %s --all, or man dploc-%s\n", view.hidden,
               command->name, command->name);
}

void help_everyday(const struct cli *cli, const struct option_tables *tables) {
    print_help(cli, tables, false);
}

void help_all(const struct cli *cli, const struct option_tables *tables) {
    print_help(cli, tables, true);
}
