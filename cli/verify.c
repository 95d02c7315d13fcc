/* dploc verify FILE: recomputes epsilon from a certificate, or a model's, and says whether it
 * agrees with itself. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MAX_CERTIFICATE = 1 << 20 };

static const char LIMITS[] = "This is consistency, not proof: it shows that the promise follows "
                             "from the stated mechanisms, not that they were run.";

/* The first MAX_CERTIFICATE + 1 bytes of the file: one more than any certificate has. */
static enum dpl_status read_file(struct cli *cli, const char *path, char *text, size_t *length) {
    bool standard = !strcmp(path, "-");
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (!file) return cli_fail(cli, DPL_SYSTEM, "%s: cannot open: %s", path, strerror(errno));
    *length = fread(text, 1, MAX_CERTIFICATE + 1, file);
    bool failed = ferror(file) != 0;
    if (!standard) fclose(file);
    if (failed) return cli_fail(cli, DPL_SYSTEM, "%s: cannot read: %s", path, strerror(errno));
    return DPL_OK;
}

static void print_json(const struct dpl_verdict *verdict) {
    json_t *reasons = json_array();
    for (size_t i = 0; i < verdict->n_reasons; i++)
        json_array_append_new(reasons, json_string(verdict->reasons[i]));
    json_t *object = json_pack("{s:b, s:o, s:f, s:o, s:s}", "valid", verdict->valid, "epsilon",
                               isinf(verdict->epsilon) ? json_null() : json_real(verdict->epsilon),
                               "delta", verdict->delta, "reasons", reasons, "note", LIMITS);
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(object);
}

static void print_words(const struct dpl_verdict *verdict) {
    puts(verdict->valid ? "valid" : "NOT valid");
    if (isfinite(verdict->epsilon))
        printf("epsilon %.6g at delta %.3g, recomputed from its mechanisms\n", verdict->epsilon,
               verdict->delta);
    for (size_t i = 0; i < verdict->n_reasons; i++) printf("- %s\n", verdict->reasons[i]);
    puts(LIMITS);
}

static int verify_main(struct cli *cli, int argc, char **argv) {
    int ended = cli_start(cli, argc, argv, NULL, 0);
    if (ended >= 0) return ended;
    if (cli->n_inputs != 1)
        return cli_finish(
            cli, cli_usage(cli, "give one certificate or model to verify ('dploc verify --help')"));
    struct dpl_verdict verdict;
    size_t length = 0;
    char *text = malloc(MAX_CERTIFICATE + 1);
    enum dpl_status status = text ? read_file(cli, cli->inputs[0], text, &length)
                                  : cli_fail(cli, DPL_SYSTEM, "out of memory");
    if (status == DPL_OK && dpl_model_recognise(text, length)) {
        status = dpl_model_verify(cli->run, cli->inputs[0], &verdict);
    } else if (status == DPL_OK) {
        status = dpl_certificate_verify(cli->run, text, length, &verdict);
        if (status != DPL_OK)
            cli_fail(cli, status, "%s: %s", cli->inputs[0], dpl_run_message(cli->run));
    }
    free(text);
    if (status == DPL_OK) (cli->json ? print_json : print_words)(&verdict);
    int code = cli_finish(cli, status);
    return code == DPL_OK && !verdict.valid ? DPL_BAD_DATA : code;
}

const struct command command_verify = {
    "verify", "recompute epsilon from a certificate or model",
    "usage: dploc verify FILE [--json]\n"
    "\n"
    "Reads a certificate (OUT.certificate.json; - is standard input) or a model, whose tensors "
    "must\n"
    "match their hash, and checks that the certificate agrees with itself: that its options imply "
    "every mechanism (rate, steps, sensitivity, share of the budget),\n"
    "and that epsilon, recomputed from the mechanisms, is not above the one it claims.\n"
    "This is consistency, not proof: a certificate cannot show what program made the release.\n"
    "\n"
    "  --json        one object: valid, epsilon, delta, reasons\n"
    "\n"
    "Exit 0: valid. Exit 1: not valid (the reasons are listed), or neither of the two.\n"
    "\n"
    "examples:\n"
    "  dploc verify out.csv.certificate.json\n"
    "  dploc verify --json out.csv.certificate.json | grep valid\n",
    verify_main};
