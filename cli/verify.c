/* dploc verify FILE: recomputes epsilon from a certificate, or a model's, and says whether it
 * agrees with itself. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kind.h"
#include "manual.h"

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

static void print_json(const struct dpl_verdict *verdict, const char *beside) {
    json_t *reasons = json_array();
    char room[CLI_TEXT];
    for (size_t i = 0; i < verdict->n_reasons; i++)
        json_array_append_new(reasons,
                              json_string(cli_fields(verdict->reasons[i], room, sizeof room)));
    json_t *object = json_pack("{s:b, s:b, s:o, s:f, s:o, s:s}", "valid", verdict->valid, "local",
                               verdict->local, "epsilon",
                               isinf(verdict->epsilon) ? json_null() : json_real(verdict->epsilon),
                               "delta", verdict->delta, "reasons", reasons, "note", LIMITS);
    if (object && beside[0]) json_object_set_new(object, "file", json_string(beside));
    char *text = object ? json_dumps(object, JSON_INDENT(2) | JSON_ENSURE_ASCII) : NULL;
    if (text) puts(text);
    free(text);
    json_decref(object);
}

static void print_words(const struct dpl_verdict *verdict, const char *beside) {
    char text[CLI_TEXT];
    puts(verdict->valid ? "valid" : "NOT valid");
    if (isfinite(verdict->epsilon))
        printf("%sepsilon %.6g at delta %.3g, recomputed from its mechanisms\n",
               verdict->local ? "local " : "", verdict->epsilon, verdict->delta);
    if (verdict->local)
        puts("Local: every unit noised its reports itself; the promise is for one unit replaced by "
             "another, and holds against whoever collects them.");
    for (size_t i = 0; i < verdict->n_reasons; i++)
        printf("- %s\n", cli_fields(verdict->reasons[i], text, sizeof text));
    if (beside[0] && verdict->valid)
        printf("%s is the file that it was made with, by the digest in its manifest\n", beside);
    puts(LIMITS);
}

/* ---- what to look at ---- */

/* FILE may be any of the set: the trips or the model, the manifest, the certificate. */
struct subject {
    char path[4096];        /* the trips or the model; "": none, a certificate on its own */
    char certificate[4096]; /* "": in the model */
};

static bool readable(const char *path) { return access(path, R_OK) == 0; }

static bool cut_ending(const char *path, const char *ending, char *stem, size_t size) {
    size_t length = strlen(path), end = strlen(ending);
    if (length <= end || strcmp(path + length - end, ending) != 0 || length - end >= size)
        return false;
    snprintf(stem, size, "%.*s", (int)(length - end), path);
    return true;
}

static void add_ending(const char *path, const char *ending, char *name, size_t size) {
    snprintf(name, size, "%.*s%s", (int)(size - strlen(ending) - 1), path, ending);
}

static struct subject find_subject(const char *file) {
    struct subject subject = {0};
    char manifest[4096], *path = subject.path, *certificate = subject.certificate;
    snprintf(certificate, sizeof subject.certificate, "%s", file);
    if (cut_ending(file, ".certificate.json", path, sizeof subject.path)) {
        add_ending(path, ".manifest.json", manifest, sizeof manifest);
        if (!readable(path) || !readable(manifest)) path[0] = '\0';
    } else if (cut_ending(file, ".manifest.json", path, sizeof subject.path)) {
        add_ending(path, ".certificate.json", certificate, sizeof subject.certificate);
    } else {
        add_ending(file, ".certificate.json", manifest, sizeof manifest);
        if (!readable(manifest)) return subject;
        memcpy(certificate, manifest, sizeof manifest);
        snprintf(path, sizeof subject.path, "%s", file);
    }
    return subject;
}

/* A certificate that is damaged is still to be told what is wrong with it. */
static bool looks_like_json(const char *path) {
    char first = '\0';
    FILE *file = fopen(path, "rb");
    if (file && fscanf(file, " %c", &first) != 1) first = '{'; // empty
    if (file) fclose(file);
    return first == '{' || first == '[';
}

static enum dpl_status verify_certificate(struct cli *cli, const char *path,
                                          struct dpl_verdict *verdict) {
    size_t length = 0;
    char *text = malloc(MAX_CERTIFICATE + 1);
    enum dpl_status status =
        text ? read_file(cli, path, text, &length) : cli_fail(cli, DPL_SYSTEM, "out of memory");
    if (status == DPL_OK && dpl_model_recognise(text, length)) {
        status = dpl_model_verify(cli->run, path, verdict);
    } else if (status == DPL_OK) {
        status = dpl_certificate_verify(cli->run, text, length, verdict);
        if (status != DPL_OK) cli_fail(cli, status, "%s: %s", path, dpl_run_message(cli->run));
    }
    free(text);
    return status;
}

/* A model has its certificate inside, and hashes of its own: it is read as well. */
static enum dpl_status verify_model(struct cli *cli, const char *path,
                                    struct dpl_verdict *verdict) {
    if (file_kind(path) != FILE_MODEL) return DPL_OK;
    struct dpl_verdict inside;
    enum dpl_status status = dpl_model_verify(cli->run, path, &inside);
    if (status == DPL_OK && !inside.valid) *verdict = inside;
    return status;
}

static enum dpl_status verify(struct cli *cli, const struct subject *subject,
                              struct dpl_verdict *verdict) {
    if (file_kind(subject->certificate) == FILE_OTHER && !looks_like_json(subject->certificate))
        return cli_fail(cli, DPL_BAD_DATA,
                        "%s is data, and %s.certificate.json is not beside it; name the "
                        "certificate that came with it (OUT.certificate.json), or a model",
                        subject->certificate, subject->certificate);
    enum dpl_status status = verify_certificate(cli, subject->certificate, verdict);
    if (status != DPL_OK || !subject->path[0]) return status;
    status = verify_model(cli, subject->path, verdict);
    if (status != DPL_OK) return status;
    return dpl_released_verify(cli->run, subject->path, NULL, verdict);
}

static int verify_main(struct cli *cli, int argc, char **argv) {
    int ended = cli_start(cli, argc, argv, NULL, 0);
    if (ended >= 0) return ended;
    if (cli->n_inputs != 1)
        return cli_finish(
            cli, cli_usage(cli, "give one certificate or model to verify ('dploc verify --help')"));
    struct dpl_verdict verdict = {.valid = false};
    const struct subject subject = find_subject(cli->inputs[0]);
    enum dpl_status status = verify(cli, &subject, &verdict);
    if (status == DPL_OK) (cli->json ? print_json : print_words)(&verdict, subject.path);
    int code = cli_finish(cli, status);
    if (code != DPL_OK || verdict.valid) return code;
    return verdict.not_private ? DPL_REFUSED : DPL_BAD_DATA;
}

const struct command command_verify = {
    .bit = IN_VERIFY,
    .name = "verify",
    .summary = "recompute epsilon from a certificate or model",
    .usage = "FILE [--json]",
    .arguments = VALUE_FILE,
    .about = "Reads a certificate (OUT.certificate.json; - is standard input) or a model, "
             "whose tensors must match their hash, and checks that the certificate agrees with"
             " itself: that its options imply every mechanism (rate, steps, sensitivity, share"
             " of the budget), and that epsilon, recomputed from the mechanisms, is not above "
             "the one it claims.\n"
             "\n"
             "Given OUT, OUT.manifest.json, or a certificate with both beside it, it also "
             "checks that the manifest has the digests of OUT and of the certificate: that "
             "they were made together. This is consistency, not proof: a certificate cannot "
             "show what program made the release.",
    .notes =
        "Exit 0: valid. Exit 1: not valid (the reasons are listed), or neither of the "
        "two. Exit 4: NOT PRIVATE by its own words. With --json: valid, epsilon, delta, reasons.",
    .examples = "dploc verify out.csv\n"
                "dploc verify --json out.csv.certificate.json | grep valid\n",
    .main = verify_main,
};
