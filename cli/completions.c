/* Completions of bash, zsh and fish, from the table of options. */
#include <stdio.h>
#include <string.h>

#include "manual.h"

/* The words of option_row.values, each after `before`; lists of --list are written out. */
static void print_words(const char *values, const char *before) {
    while (*values) {
        char word[64];
        size_t length = strcspn(values, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, values);
        if (word[0] != '=')
            printf("%s%s", before, word);
        else
            for (size_t i = 0; list_name(word + 1, i); i++)
                printf("%s%s", before, list_name(word + 1, i));
        values += length + (values[length] == '|');
    }
}

static bool is_path(const char *values) {
    return values && (!strcmp(values, VALUE_FILE) || !strcmp(values, VALUE_DIRECTORY));
}

static bool is_directory(const char *values) { return !strcmp(values, VALUE_DIRECTORY); }

/* Without the characters of `special`, which would end the place that the sentence stands in. */
static void print_without(const char *text, const char *special) {
    for (; *text; text++)
        if (!strchr(special, *text)) putchar(*text);
}

/* ---- bash ---- */

static void bash_flag(void *user, const struct option_row *row, const struct option *option) {
    (void)user;
    printf(" --%s", row->name);
    if (option->letter) printf(" -%c", option->letter);
}

static void bash_value(void *user, const struct option_row *row, const struct option *option) {
    const char *command = user;
    if (!row->argument) return;
    printf("        %s,--%s", command, row->name);
    if (option->letter) printf(" | %s,-%c", command, option->letter);
    printf(") ");
    if (is_path(row->values))
        printf("%s=1", is_directory(row->values) ? "directories" : "files");
    else if (row->values) {
        printf("words=\"");
        print_words(row->values, " ");
        putchar('"');
    } else
        putchar(':');
    puts(" ;;");
}

/* The values of options first, then arguments and the options themselves. */
static void bash_command(const struct cli *cli, const struct option_tables *tables) {
    const struct command *command = cli->command;
    manual_each(command, tables, bash_value, (void *)command->name);
    printf("        %s,*) options=\"", command->name);
    manual_each(command, tables, bash_flag, NULL);
    putchar('"');
    if (is_path(command->arguments))
        printf(" files=1");
    else if (command->arguments) {
        printf(" words=\"");
        print_words(command->arguments, " ");
        putchar('"');
    }
    puts(" ;;");
}

static void each_command(void (*show)(const struct cli *, const struct option_tables *)) {
    const struct command *command;
    for (size_t i = 0; (command = manual_command(i)); i++) manual_show(command, show);
}

static void print_bash(void) {
    puts("# bash completion for dploc, made by 'dploc --list completions bash'\n"
         "_dploc() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local words= options= files= directories=\n"
         "    # readline takes --name=value for three words\n"
         "    if [ \"$current\" = = ]; then\n"
         "        current=\n"
         "    elif [ \"$previous\" = = ]; then\n"
         "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    fi\n"
         "    COMPREPLY=()\n"
         "    [ \"$COMP_CWORD\" -gt 1 ] || previous=\n"
         "    case \"$([ \"$COMP_CWORD\" -eq 1 ] || echo \"${COMP_WORDS[1]}\"),$previous\" in");
    printf("        ,) words=\"");
    print_words("=commands|help|version|--help|--version|--list", " ");
    printf("\" ;;\n        help,*) options=--all words=\"");
    print_words("=commands", " ");
    puts("\" ;;\n"
         "        --list,--list) words=\"methods formats regions measures commands man "
         "completions\" ;;\n"
         "        --list,completions) words=\"bash zsh fish\" ;;");
    each_command(bash_command);
    puts("    esac\n"
         "    case $current in\n"
         "        -*) [ -z \"$options\" ] || words=$options files= ;;\n"
         "    esac\n"
         "    if [ -n \"$files\" ]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
         "    elif [ -n \"$directories\" ]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -d -- \"$current\")\n"
         "    else\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "    fi\n"
         "}\n"
         "complete -o filenames -F _dploc dploc");
}

/* ---- zsh ---- */

/* :NAME:ACTION of _arguments. */
static void zsh_action(const char *name, const char *values) {
    putchar(':');
    print_without(name, ":'[]");
    putchar(':');
    if (is_path(values))
        printf(is_directory(values) ? "_files -/" : "_files");
    else if (values) {
        putchar('(');
        print_words(values, " ");
        putchar(')');
    }
}

static void zsh_option(void *user, const struct option_row *row, const struct option *option) {
    (void)user;
    printf(" \\\n                '*'");
    if (option->letter)
        printf("{-%c,--%s%s}", option->letter, row->name, row->argument ? "=" : "");
    else
        printf("--%s%s", row->name, row->argument ? "=" : "");
    printf("'[");
    print_without(row->sentence, "'[]");
    putchar(']');
    if (row->argument) zsh_action(row->argument, row->values);
    putchar('\'');
}

static void zsh_command(const struct cli *cli, const struct option_tables *tables) {
    const struct command *command = cli->command;
    printf("        %s)\n            _arguments -S", command->name);
    manual_each(command, tables, zsh_option, NULL);
    if (command->arguments) {
        printf(" \\\n                '*");
        zsh_action("argument", command->arguments);
        putchar('\'');
    }
    puts(" ;;");
}

static void print_zsh(void) {
    const struct command *command;
    puts("#compdef dploc\n"
         "# zsh completion for dploc, made by 'dploc --list completions zsh'\n"
         "_dploc() {\n"
         "    local -a commands=(");
    for (size_t i = 0; (command = manual_command(i)); i++) {
        printf("        '%s:", command->name);
        print_without(command->summary, "'");
        puts("'");
    }
    puts("        'help:explains a command'\n"
         "        'version:which dploc this is'\n"
         "    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe command commands\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $words[1] in");
    each_command(zsh_command);
    puts("        help) _describe command commands ;;\n"
         "        --list) _values thing methods formats regions measures commands man completions "
         ";;\n"
         "    esac\n"
         "}\n"
         "# loaded by itself when it stands in fpath; sourced, it has to be named\n"
         "if [[ $funcstack[1] = _dploc ]]; then _dploc \"$@\"; else compdef _dploc dploc; fi");
}

/* ---- fish ---- */

static void fish_value(const char *values) {
    if (is_path(values)) {
        printf(is_directory(values) ? " -x -a '(__fish_complete_directories)'" : " -r -F");
        return;
    }
    printf(" -x");
    if (!values) return;
    printf(" -a '");
    print_words(values, " ");
    putchar('\'');
}

static void fish_option(void *user, const struct option_row *row, const struct option *option) {
    printf("complete -c dploc -n '__fish_seen_subcommand_from %s' -l %s", (const char *)user,
           row->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (row->argument) fish_value(row->values);
    printf(" -d '");
    print_without(row->sentence, "'\\");
    puts("'");
}

static void fish_command(const struct cli *cli, const struct option_tables *tables) {
    const struct command *command = cli->command;
    printf("complete -c dploc -n __fish_use_subcommand -f -a %s -d '", command->name);
    print_without(command->summary, "'\\");
    puts("'");
    if (!is_path(command->arguments)) {
        printf("complete -c dploc -n '__fish_seen_subcommand_from %s' -f", command->name);
        if (command->arguments) {
            printf(" -a '");
            print_words(command->arguments, " ");
            putchar('\'');
        }
        putchar('\n');
    }
    manual_each(command, tables, fish_option, (void *)command->name);
}

static void print_fish(void) {
    puts("# fish completion for dploc, made by 'dploc --list completions fish'\n"
         "complete -c dploc -n __fish_use_subcommand -f -a help -d 'explains a command'\n"
         "complete -c dploc -n __fish_use_subcommand -f -a version -d 'which dploc this is'");
    printf("complete -c dploc -n '__fish_seen_subcommand_from help' -f -l all -a '");
    print_words("=commands", " ");
    puts("'");
    each_command(fish_command);
}

static const struct {
    const char *name;
    void (*print)(void);
} SHELLS[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
enum { N_SHELLS = sizeof SHELLS / sizeof *SHELLS };

const char *completions_shell(size_t i) { return i < N_SHELLS ? SHELLS[i].name : NULL; }

void completions_print(size_t shell) { SHELLS[shell].print(); }
