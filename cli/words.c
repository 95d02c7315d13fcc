/* Notes and progress on stderr: one moving line on a terminal, plain or JSON lines elsewhere. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

enum { BAR_WIDTH = 24, DEFAULT_COLUMNS = 80 };

static bool bar_is_open; // a line on the terminal that has not ended yet

void cli_close_bar(void) {
    if (bar_is_open) fputc('\n', stderr);
    bar_is_open = false;
}

void cli_note(void *user, const char *sentence) {
    const struct cli *cli = user;
    char text[CLI_TEXT];
    if (cli->quiet) return;
    cli_close_bar();
    fprintf(stderr, "%s\n", cli_fields(sentence, text, sizeof text));
}

bool cli_confirm(const struct cli *cli) {
    char answer[16] = "", text[CLI_TEXT];
    if (cli->json || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return false;
    fprintf(stderr, "%s\nIs it so? [y/N] ",
            cli_fields(dpl_run_message(cli->run), text, sizeof text));
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static const char *style(const struct cli *cli) {
    if (cli->quiet) return "none";
    if (!strcmp(cli->progress, "auto")) return isatty(STDERR_FILENO) ? "bar" : "none";
    return cli->progress;
}

static void print_json(const struct dpl_progress *p) {
    fprintf(stderr,
            "{\"phase\": \"%s\", \"unit\": \"%s\", \"done\": %.6g, \"total\": %.6g, \"seconds\": "
            "%.3f, \"rate\": %.6g, \"epsilon\": %.6g, \"finished\": %s}\n",
            p->phase, p->unit, p->done, p->total, p->seconds, p->rate, p->epsilon,
            p->finished ? "true" : "false");
}

/* 950, 12.3 k, 4.56 M: three digits, as people write them. */
static void format_count(double count, char *text, size_t size) {
    static const char *const SUFFIX[] = {"", " k", " M", " G"};
    size_t i = 0;
    while (fabs(count) >= 999.5 && i + 1 < sizeof SUFFIX / sizeof *SUFFIX) count /= 1000, i++;
    snprintf(text, size, "%.*f%s",
             i == 0 || count >= 99.95 ? 0
             : count >= 9.995         ? 1
                                      : 2,
             count, SUFFIX[i]);
}

static void format_left(const struct dpl_progress *p, char *text, size_t size) {
    text[0] = '\0';
    if (p->finished)
        snprintf(text, size, ", %.1f s", p->seconds);
    else if (p->seconds_left >= 90)
        snprintf(text, size, ", %.0f min left", ceil(p->seconds_left / 60));
    else if (p->seconds_left >= 0)
        snprintf(text, size, ", %.0f s left", ceil(p->seconds_left));
}

static size_t terminal_columns(void) {
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return DEFAULT_COLUMNS;
    return size.ws_col;
}

static void draw_bar(const struct dpl_progress *p, char picture[BAR_WIDTH + 4]) {
    int full = (int)(fmin(1, p->done / p->total) * BAR_WIDTH);
    picture[0] = '[';
    for (int i = 0; i < BAR_WIDTH; i++) picture[1 + i] = i < full ? '=' : ' ';
    memcpy(picture + 1 + BAR_WIDTH, "] ", 3);
}

/* The parts of a line in the order in which they are left out where there is no room: the bar, the
 * rate, what was spent, the count. The phase and the time left stay. */
static void print_line(const struct dpl_progress *p, bool bar) {
    char left[48], spent[40] = "", rate[40], count[40], picture[BAR_WIDTH + 4] = "", number[16];
    size_t room = bar ? terminal_columns() - 1 : SIZE_MAX;
    if (!p->phase) return; // between two phases
    format_left(p, left, sizeof left);
    format_count(p->done, number, sizeof number);
    snprintf(count, sizeof count, ": %s %s", number, p->unit);
    format_count(p->rate, number, sizeof number);
    snprintf(rate, sizeof rate, ", %s %s/s", number, p->unit);
    if (p->epsilon > 0) snprintf(spent, sizeof spent, ", epsilon %.3g so far", p->epsilon);
    if (bar && p->total > 0) draw_bar(p, picture);
    size_t all = strlen(p->phase) + 1 + strlen(picture) + strlen(count) + strlen(rate) +
                 strlen(spent) + strlen(left);
    char *const part[] = {picture, rate, spent, count};
    for (size_t i = 0; i < sizeof part / sizeof *part && all > room; i++) {
        all -= strlen(part[i]);
        part[i][0] = '\0';
    }
    fprintf(stderr, "%s%s%s%s%s%s%s%s%s", bar ? "\r" : "", picture, p->phase, count, rate, spent,
            left, bar ? "\033[K" : "", bar ? "" : "\n");
    bar_is_open = bar;
    if (bar && p->finished) cli_close_bar();
}

void cli_progress(void *user, const struct dpl_progress *progress) {
    const char *how = style(user);
    if (!strcmp(how, "none")) return;
    if (!strcmp(how, "json"))
        print_json(progress);
    else
        print_line(progress, !strcmp(how, "bar"));
}
