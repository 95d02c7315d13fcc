/* Notes and progress on stderr: one moving line on a terminal, plain or JSON lines elsewhere. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

enum { BAR_WIDTH = 24 };

void cli_note(void *user, const char *sentence) {
    const struct cli *cli = user;
    if (!cli->quiet) fprintf(stderr, "%s\n", sentence);
}

bool cli_confirm(const struct cli *cli) {
    char answer[16] = "";
    if (cli->json || !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) return false;
    fprintf(stderr, "%s\nIs it so? [y/N] ", dpl_run_message(cli->run));
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

static void format_left(const struct dpl_progress *p, char *text, size_t size) {
    text[0] = '\0';
    if (p->finished)
        snprintf(text, size, ", %.1f s", p->seconds);
    else if (p->seconds_left >= 90)
        snprintf(text, size, ", %.0f min left", ceil(p->seconds_left / 60));
    else if (p->seconds_left >= 0)
        snprintf(text, size, ", %.0f s left", ceil(p->seconds_left));
}

static void print_line(const struct dpl_progress *p, bool bar) {
    char left[48], spent[32] = "", picture[BAR_WIDTH + 4] = "";
    format_left(p, left, sizeof left);
    if (p->epsilon > 0) snprintf(spent, sizeof spent, ", epsilon %.3g so far", p->epsilon);
    if (bar && p->total > 0) {
        int full = (int)(fmin(1, p->done / p->total) * BAR_WIDTH);
        picture[0] = '[';
        for (int i = 0; i < BAR_WIDTH; i++) picture[1 + i] = i < full ? '=' : ' ';
        memcpy(picture + 1 + BAR_WIDTH, "] ", 3);
    }
    fprintf(stderr, "%s%s %s%.0f %s, %.3g %s/s%s%s%s", bar ? "\r" : "", p->phase, picture, p->done,
            p->unit, p->rate, p->unit, spent, left, bar ? "\033[K" : "\n");
    if (bar && p->finished) fputc('\n', stderr);
}

void cli_progress(void *user, const struct dpl_progress *progress) {
    const char *how = style(user);
    if (!strcmp(how, "none")) return;
    if (!strcmp(how, "json"))
        print_json(progress);
    else
        print_line(progress, !strcmp(how, "bar"));
}
