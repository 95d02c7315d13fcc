/* Options from the config file and the command line, by table. Later values win, so the command
 * line overrides the file. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "manual.h"

// The only globals: a signal handler has no argument.
static struct dpl_run *interrupt_target;

static const char *interrupt_answer; // to be written at once, NULL: nothing

static void on_signal(int number) {
    (void)number;
    // NOLINTNEXTLINE(bugprone-signal-handler): it stores one number, as its header promises
    if (interrupt_target) dpl_run_interrupt(interrupt_target);
    // At once, on a line of its own: the end may take a moment, and silence looks like a hang.
    if (interrupt_answer && write(STDERR_FILENO, interrupt_answer, strlen(interrupt_answer)) < 0)
        interrupt_answer = NULL;
    signal(SIGINT, SIG_DFL); // a second Ctrl-C ends the program at once
}

/* ---- errors ---- */

static void report_error(const struct cli *cli, int code, const char *words) {
    char room[CLI_TEXT];
    const char *message = cli_fields(words, room, sizeof room);
    if (cli->json) {
        json_t *error = json_pack("{s:s, s:i}", "error", message, "exit_code", code);
        char *text = error ? json_dumps(error, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
        puts(text ? text : "{\"error\": \"a message that is not UTF-8\"}");
        free(text);
        json_decref(error);
    }
    cli_close_bar();
    fprintf(stderr, "dploc %s: %s\n", cli->command->name, message);
}

static enum dpl_status fail_with(struct cli *cli, enum dpl_status status, const char *format,
                                 va_list arguments) {
    vsnprintf(cli->message, sizeof cli->message, format, arguments);
    return status;
}

enum dpl_status cli_usage(struct cli *cli, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_with(cli, DPL_USAGE, format, arguments);
    va_end(arguments);
    return DPL_USAGE;
}

enum dpl_status cli_fail(struct cli *cli, enum dpl_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_with(cli, status, format, arguments);
    va_end(arguments);
    return status;
}

/* A reader that went away (`dploc ... | head`) has seen all that it wanted. */
static bool reader_is_gone(void) {
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR);
}

/* Whether what failed is writing to standard output, and not a file or the memory. */
static bool output_failed(const struct cli *cli, enum dpl_status status) {
    return status == DPL_SYSTEM && !cli->message[0] && cli->run &&
           !strncmp(dpl_run_message(cli->run), "standard output", 15);
}

int cli_finish(struct cli *cli, enum dpl_status status) {
    if (output_failed(cli, status) && reader_is_gone()) status = DPL_OK;
    if (status != DPL_OK) {
        const char *message = cli->message[0] ? cli->message : dpl_run_message(cli->run);
        report_error(cli, (int)status,
                     message[0] ? message : "failed without a message (please report this)");
    } else if ((fflush(stdout) != 0 || ferror(stdout)) && !reader_is_gone()) {
        status = DPL_SYSTEM;
        report_error(cli, (int)status, "standard output could not be written");
    }
    interrupt_target = NULL;
    dpl_run_free(cli->run);
    json_decref(cli->config_json);
    return (int)status;
}

/* ---- one option ---- */

/* An option that the subcommand takes, by name or by letter. Shared tables hold more. */
static const struct option *find_option(const struct cli *cli, const struct option_tables *tables,
                                        const char *name, size_t length, char letter) {
    for (size_t t = 0; t < tables->count; t++)
        for (const struct option *option = tables->list[t]; option->name; option++) {
            bool same =
                letter ? option->letter == letter
                       : strlen(option->name) == length && !strncmp(option->name, name, length);
            if (same && manual_find(cli->command, option->name, strlen(option->name)))
                return option;
        }
    return NULL;
}

size_t cli_edit_distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1], n = strlen(b);
    if (n > LONGEST) return LONGEST;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[n];
}

/* The name nearest to a misspelt one among the options of some subcommands; NULL: none is near. */
static const char *nearest_option(unsigned commands, const char *name) {
    const char *nearest = NULL;
    size_t best = 4;
    const struct option_row *row;
    for (size_t i = 0; (row = manual_row(i)); i++) {
        size_t distance = row->in & commands ? cli_edit_distance(name, row->name) : best;
        if (distance < best) best = distance, nearest = row->name;
    }
    return nearest;
}

/* The subcommands that take an option, as a list; false: there are none. */
static bool takers(const char *name, char *text, size_t size) {
    const struct command *command;
    size_t used = 0;
    for (size_t i = 0; (command = manual_command(i)); i++)
        if (manual_find(command, name, strlen(name)) && used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", command->name);
    return used > 0;
}

static enum dpl_status unknown_option(struct cli *cli, const char *name) {
    char others[128];
    const char *command = cli->command->name, *nearest = nearest_option(cli->command->bit, name);
    if (takers(name, others, sizeof others))
        return cli_usage(cli, "%s takes no --%s; it is an option of %s", command, name, others);
    if (nearest)
        return cli_usage(cli, "there is no option --%s; did you mean --%s?", name, nearest);
    return cli_usage(cli, "there is no option --%s ('dploc help %s --all' lists them)", name,
                     command);
}

static enum dpl_status parse_real(struct cli *cli, const struct option *option, const char *value) {
    char *end;
    errno = 0;
    double number = strtod(value, &end);
    if (end == value || *end || isnan(number))
        return cli_usage(cli, "--%s takes a number, not '%s'", option->name, value);
    *(double *)option->into = number;
    return DPL_OK;
}

static enum dpl_status parse_whole(struct cli *cli, const struct option *option,
                                   const char *value) {
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < 0)
        return cli_usage(cli, "--%s takes a whole number from 0 up, not '%s'", option->name, value);
    *(int64_t *)option->into = number;
    return DPL_OK;
}

static enum dpl_status set_option(struct cli *cli, const struct option *option, const char *value) {
    switch (option->kind) {
    case OPTION_FLAG: *(bool *)option->into = true; return DPL_OK;
    case OPTION_TEXT: *(const char **)option->into = value; return DPL_OK;
    case OPTION_REAL: return parse_real(cli, option, value);
    case OPTION_WHOLE: return parse_whole(cli, option, value);
    case OPTION_CALL: return option->call(cli, option->into, value);
    }
    return DPL_OK;
}

/* ---- the config file ---- */

/* A manifest holds options of other subcommands too; a name that none has is a slip. */
static enum dpl_status unknown_member(struct cli *cli, const char *name) {
    char others[128];
    const char *nearest = nearest_option(IN_ALL, name);
    if (takers(name, others, sizeof others)) return DPL_OK;
    if (nearest)
        return cli_usage(cli, "%s: there is no option \"%s\"; did you mean \"%s\"?", cli->config,
                         name, nearest);
    return cli_usage(cli, "%s: there is no option \"%s\"", cli->config, name);
}

static enum dpl_status set_from_json(struct cli *cli, const struct option_tables *tables,
                                     const char *name, json_t *value) {
    const struct option *option = find_option(cli, tables, name, strlen(name), 0);
    if (!option) return unknown_member(cli, name);
    if (option->kind == OPTION_FLAG) {
        *(bool *)option->into = json_is_true(value);
        return DPL_OK;
    }
    if (json_is_array(value)) {
        size_t i;
        json_t *item;
        json_array_foreach(value, i, item) {
            enum dpl_status status = set_from_json(cli, tables, name, item);
            if (status != DPL_OK) return status;
        }
        return DPL_OK;
    }
    if (json_is_string(value)) return set_option(cli, option, json_string_value(value));
    if (!json_is_number(value))
        return cli_usage(cli, "%s: \"%s\" is neither a text nor a number", cli->config, name);
    char text[64];
    if (json_is_integer(value))
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(text, sizeof text, "%.17g", json_real_value(value));
    json_t *keep = json_string(text); // texts are borrowed: this one lives in the config object
    if (!keep || json_object_set_new(cli->config_json, name, keep))
        return cli_usage(cli, "%s: out of memory", cli->config);
    return set_option(cli, option, json_string_value(json_object_get(cli->config_json, name)));
}

/* Why a file cannot be read, as errno; 0: it can. */
static int file_problem(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    return access(path, R_OK) != 0 ? errno : 0;
}

static enum dpl_status read_config(struct cli *cli, const struct option_tables *tables) {
    json_error_t error;
    int problem = file_problem(cli->config);
    if (problem)
        return cli_usage(cli,
                         "--config %s: %s (it takes a JSON object of options, or the manifest of "
                         "an earlier run)",
                         cli->config, strerror(problem));
    json_t *file = json_load_file(cli->config, 0, &error);
    if (!file)
        return cli_usage(cli, "%s:%d: %s (--config takes a JSON object of options)", cli->config,
                         error.line, error.text);
    json_t *inner = json_object_get(file, "options"),
           *options = json_is_object(inner) ? inner : file;
    if (!json_is_object(options)) {
        json_decref(file);
        return cli_usage(cli, "%s: not a JSON object of options", cli->config);
    }
    json_t *kept = json_copy(options);
    cli->config_json = kept;
    enum dpl_status status = DPL_OK;
    const char *name;
    json_t *value;
    json_object_foreach(options, name, value) {
        status = set_from_json(cli, tables, name, value);
        if (status != DPL_OK) break;
    }
    json_decref(file);
    return status;
}

/* ---- the command line ---- */

/* One argument that starts with '-': sets it, with its value from '=' or from the next argument. */
static enum dpl_status parse_option(struct cli *cli, const struct option_tables *tables, int argc,
                                    char **argv, int *at) {
    const char *text = argv[*at], *equals = NULL, *value = NULL;
    const struct option *option;
    if (text[1] == '-') {
        equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
        option = find_option(cli, tables, text + 2, length, 0);
        if (!option) {
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), text + 2);
            return unknown_option(cli, name);
        }
        if (equals) value = equals + 1;
    } else {
        option = find_option(cli, tables, NULL, 0, text[1]);
        if (!option) return cli_usage(cli, "there is no option -%c", text[1]);
        if (text[2]) value = text + 2;
    }
    if (option->kind == OPTION_FLAG) {
        if (value) return cli_usage(cli, "--%s takes no value", option->name);
    } else if (!value) {
        if (*at + 1 >= argc) return cli_usage(cli, "--%s needs a value", option->name);
        value = argv[++*at];
    }
    return set_option(cli, option, value);
}

static enum dpl_status parse_arguments(struct cli *cli, const struct option_tables *tables,
                                       int argc, char **argv) {
    bool options_over = false;
    cli->n_inputs = 0;
    for (int at = 0; at < argc; at++) {
        if (!options_over && !strcmp(argv[at], "--")) {
            options_over = true;
        } else if (!options_over && argv[at][0] == '-' && argv[at][1]) {
            enum dpl_status status = parse_option(cli, tables, argc, argv, &at);
            if (status != DPL_OK) return status;
        } else {
            if (cli->n_inputs == CLI_MAX_INPUTS)
                return cli_usage(cli, "more than %d inputs; name a directory instead",
                                 CLI_MAX_INPUTS);
            cli->inputs[cli->n_inputs++] = argv[at];
        }
    }
    return DPL_OK;
}

static enum dpl_status read_all_options(struct cli *cli, const struct option_tables *tables,
                                        int argc, char **argv) {
    for (int at = 0; at < argc;
         at++) { // --config first, wherever it stands: the command line overrides it
        if (!strcmp(argv[at], "--json")) cli->json = true; // so that errors in options are JSON too
        if (!strcmp(argv[at], "--config") && at + 1 < argc) cli->config = argv[at + 1];
        if (!strncmp(argv[at], "--config=", 9)) cli->config = argv[at] + 9;
    }
    if (cli->config) {
        enum dpl_status status = read_config(cli, tables);
        if (status != DPL_OK) return status;
    }
    return parse_arguments(cli, tables, argc, argv);
}

static enum dpl_status make_run(struct cli *cli) {
    if (strcmp(cli->progress, "auto") && strcmp(cli->progress, "plain") &&
        strcmp(cli->progress, "json") && strcmp(cli->progress, "none"))
        return cli_usage(cli, "--progress takes auto, plain, json or none, not '%s'",
                         cli->progress);
    if (cli->threads > 1024) return cli_usage(cli, "--threads takes at most 1024");
    struct dpl_run_options options = dpl_run_defaults();
    options.threads = (int)cli->threads;
    options.user = cli;
    options.on_note = cli_note;
    options.on_progress = cli_progress;
    cli->run = dpl_run_new(&options);
    if (!cli->run) return cli_fail(cli, DPL_SYSTEM, "out of memory");
    interrupt_target = cli->run;
    if (isatty(STDERR_FILENO) && !cli->quiet)
        interrupt_answer = cli->command->bit & (IN_FIT | IN_SYNTH)
                               ? "\nstopping; what was paid for is kept, --resume goes on "
                                 "(Ctrl-C again: at once)\n"
                               : "\nstopping; nothing half done is left (Ctrl-C again: at once)\n";
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    return DPL_OK;
}

static enum dpl_status check_described(struct cli *cli, const struct option_tables *tables) {
    char others[128];
    for (size_t t = 0; t < tables->count; t++)
        for (const struct option *option = tables->list[t]; option->name; option++)
            if (!takers(option->name, others, sizeof others))
                return cli_fail(cli, DPL_SYSTEM,
                                "--%s has no row in the manual (please report "
                                "this)",
                                option->name);
    return DPL_OK;
}

/* Every option that is described is taken, with or without a value as described, and every option
 * of a table is described for some subcommand. */
static enum dpl_status check_tables(struct cli *cli, const struct option_tables *tables) {
    const struct option_row *row;
    for (size_t i = 0; (row = manual_row(i)); i++) {
        if (!(row->in & cli->command->bit)) continue;
        const struct option *option = find_option(cli, tables, row->name, strlen(row->name), 0);
        if (!option || (option->kind == OPTION_FLAG) != !row->argument)
            return cli_fail(cli, DPL_SYSTEM,
                            "--%s is not what its manual says (please report "
                            "this)",
                            row->name);
    }
    return check_described(cli, tables);
}

/* What --help asks for, before any value of this command line got into the tables. */
static bool show_manual(const struct cli *cli, const struct option_tables *tables) {
    if (cli->show)
        cli->show(cli, tables);
    else if (cli->help || cli->help_all)
        manual_show(cli->command, cli->help_all ? help_all : help_everyday);
    else
        return false;
    return true;
}

int cli_start(struct cli *cli, int argc, char **argv, const struct option *const tables[],
              size_t n_tables) {
    const struct option common[] = {
        {"help", 'h', OPTION_FLAG, &cli->help, NULL},
        {"help-all", 0, OPTION_FLAG, &cli->help_all, NULL},
        {"quiet", 'q', OPTION_FLAG, &cli->quiet, NULL},
        {"json", 0, OPTION_FLAG, &cli->json, NULL},
        {"progress", 0, OPTION_TEXT, &cli->progress, NULL},
        {"config", 0, OPTION_TEXT, &cli->config, NULL},
        {"threads", 0, OPTION_WHOLE, &cli->threads, NULL},
        {0},
    };
    struct option_tables all = {.list = {common}, .count = 1};
    for (size_t t = 0; t < n_tables && t < CLI_MAX_TABLES; t++) all.list[all.count++] = tables[t];
    cli->progress = "auto";
    enum dpl_status status = check_tables(cli, &all);
    if (status == DPL_OK) status = read_all_options(cli, &all, argc, argv);
    if (status == DPL_OK && show_manual(cli, &all)) return DPL_OK;
    if (status == DPL_OK) status = make_run(cli);
    return status == DPL_OK ? -1 : cli_finish(cli, status);
}

enum dpl_status cli_fraction(struct cli *cli, const char *option, const char *value,
                             uint32_t *index, uint32_t *of) {
    char *end = NULL;
    unsigned long i = strtoul(value, &end, 10), n = 0;
    bool good = value[0] >= '0' && value[0] <= '9' && *end == '/' && end[1] >= '0' && end[1] <= '9';
    if (good) n = strtoul(end + 1, &end, 10);
    if (!good || *end || i < 1 || i > n || n > UINT32_MAX)
        return cli_usage(cli, "%s takes I/S with I from 1 to S, as 3/10, not '%.40s'", option,
                         value);
    *index = (uint32_t)i - 1, *of = (uint32_t)n;
    return DPL_OK;
}
