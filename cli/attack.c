/* dploc attack: how well attackers find out who was in the data. Everything shown is NOT PRIVATE.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "manual.h"
#include "sets.h"

struct settings {
    struct data_options data;
    struct sets_area area;
    const char *members, *non_members, *unit, *method, *model;
    double epsilon, delta; /* NAN: not given */
    int64_t seed, trips_max;
    bool no_control;
    char source[256]; /* where members and non-members come from, in words */
    bool shadow;      /* SYNTH itself is not attacked */
};

/* ---- the promise ---- */

static json_t *load_beside(const char *synthetic, const char *ending) {
    char path[4096];
    json_error_t error;
    snprintf(path, sizeof path, "%s.%s", synthetic, ending);
    return json_load_file(path, 0, &error);
}

static double number_in(json_t *object, const char *name) {
    json_t *value = json_object_get(object, name);
    if (json_is_string(value) && !strcmp(json_string_value(value), "inf")) return INFINITY;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* What the command line leaves open comes from the first SYNTH's manifest and certificate. */
static enum dpl_status find_promise(struct cli *cli, struct settings *s, json_t **manifest) {
    json_t *certificate = load_beside(cli->inputs[1], "certificate.json");
    enum dpl_status status = sets_manifest(cli, cli->inputs[1], manifest);
    if (status != DPL_OK) {
        json_decref(certificate);
        return status;
    }
    json_t *sources[2] = {certificate, *manifest};
    for (size_t i = 0; i < 2; i++) {
        if (isnan(s->epsilon)) s->epsilon = number_in(sources[i], "epsilon");
        if (isnan(s->delta)) s->delta = number_in(sources[i], "delta");
    }
    json_decref(certificate);
    if (!s->unit) s->unit = json_string_value(json_object_get(*manifest, "unit"));
    if (!s->unit) s->unit = "trip";
    s->method = json_string_value(json_object_get(*manifest, "method"));
    const double trips_max = number_in(*manifest, "trips-max"); // NAN: by the unit
    s->trips_max = trips_max > 0 ? (int64_t)trips_max : 0;
    if (isnan(s->epsilon))
        return cli_usage(cli,
                         "%s has no certificate beside it: say what it promises with --epsilon "
                         "and --delta",
                         cli->inputs[1]);
    if (isnan(s->delta)) s->delta = 0;
    if (strcmp(s->unit, "trip") && strcmp(s->unit, "user"))
        return cli_usage(cli, "--unit takes trip or user, not '%s'", s->unit);
    return DPL_OK;
}

/* ---- who was in ---- */

static bool unhex(const char *text, uint8_t *bytes, size_t size) {
    if (!text || strlen(text) != 2 * size) return false;
    for (size_t i = 0; i < size; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
        bytes[i] = (uint8_t)byte;
    }
    return true;
}

/* The split that the fit recorded; false: there is none. */
static bool recorded_split(const char *synthetic, struct dpl_hold_out *hold_out) {
    json_t *private = load_beside(synthetic, "PRIVATE.json"),
           *split = json_object_get(private, "hold_out");
    bool found = unhex(json_string_value(json_object_get(split, "key")), hold_out->key,
                       sizeof hold_out->key);
    hold_out->share = number_in(split, "share");
    hold_out->by_user = json_is_true(json_object_get(split, "by_user"));
    json_decref(private);
    return found && hold_out->share > 0;
}

/* Members, or non-members, and how to read them. */
struct side {
    const char *const *inputs;
    struct dpl_read_options read;
};

static void choose_sides(struct cli *cli, struct settings *s, struct side side[2]) {
    struct dpl_hold_out split = {.share = 0.5, .by_user = !strcmp(s->unit, "user")};
    for (size_t i = 0; i < 2; i++) side[i] = (struct side){cli->inputs, s->data.read};
    if (s->members) {
        side[0].inputs = &s->members, side[1].inputs = &s->non_members;
        side[1].read.dates = NULL; // who was not in may be of any day
        snprintf(s->source, sizeof s->source, "files given");
        return;
    }
    s->shadow =
        !recorded_split(cli->inputs[1], &split) && !(s->model && recorded_split(s->model, &split));
    if (s->shadow) {
        split = (struct dpl_hold_out){.share = 0.5, .by_user = !strcmp(s->unit, "user")};
        memcpy(split.key, &s->seed, sizeof s->seed);
    }
    side[0].read.hold_out = side[1].read.hold_out = split;
    side[1].read.hold_out.only = true;
    snprintf(s->source, sizeof s->source, "%s",
             s->shadow ? "a shadow model, fitted on half of REAL with SYNTH's public options; what "
                         "follows is about it, not about SYNTH"
                       : "the split that the fit recorded in PRIVATE.json");
}

/* ---- models of the members ---- */

/* A model of the members, and trips drawn from it. */
struct fitted {
    struct dpl_fit *fit;
    struct dpl_cleaned *trips;
};

static void fitted_free(struct fitted *fitted) {
    dpl_fit_free(fitted->fit);
    dpl_cleaned_free(fitted->trips);
}

static enum dpl_status fit_members(struct cli *cli, const struct settings *s,
                                   const struct side *side, double epsilon, struct dpl_fit **fit) {
    struct dpl_fit_options options = dpl_fit_defaults();
    struct dpl_trips *members = NULL;
    options.ledger = "none";
    options.accept_weak = true; // nothing of it is released
    options.budget.epsilon = epsilon;
    options.budget.delta = s->delta > 0 ? s->delta : options.budget.delta;
    options.budget.unit = strcmp(s->unit, "user") ? DPL_UNIT_TRIP : DPL_UNIT_USER;
    options.budget.trips_max = s->trips_max;
    if (s->method) options.method = s->method;
    enum dpl_status status = dpl_trips_open(cli->run, side->inputs, 1, &side->read, &members);
    if (status == DPL_OK) status = dpl_fit(cli->run, members, &s->data.area, &options, fit);
    dpl_trips_free(members);
    return status;
}

/* Fits on the members and draws as many trips as it estimates; no ledger is charged, since nothing
 * of it is released. */
static enum dpl_status model_of(struct cli *cli, const struct settings *s, const struct side *side,
                                double epsilon, struct fitted *made) {
    struct dpl_sample_options sample = dpl_sample_defaults();
    sample.seed = s->seed;
    enum dpl_status status = fit_members(cli, s, side, epsilon, &made->fit);
    if (status != DPL_OK) return status;
    return draw_trips(cli, &s->data, dpl_fit_model(made->fit), &sample, &made->trips);
}

/* ---- words ---- */

static void print_share(double value) {
    if (isnan(value))
        printf("%9s", "-");
    else
        printf("%8.3f%%", 100 * value);
}

static void print_text(const struct settings *s, const char *name,
                       const struct dpl_attack_report *r) {
    printf("NOT PRIVATE: attacks on %s, promise epsilon %g, delta %g by %s\n", name, s->epsilon,
           s->delta, s->unit);
    printf("members and non-members: %s\n\n", s->source);
    printf("%-14s %6s %9s %9s %9s %9s %8s %8s\n", "attack", "AUC", "TPR@1%", "allowed", "TPR@.1%",
           "allowed", "copying", "no noise");
    for (size_t i = 0; i < r->n; i++) {
        const struct dpl_attack *a = &r->attack[i];
        printf("%-14s %6.3f", a->name, a->auc);
        for (size_t p = 0; p < DPL_ATTACK_POINTS; p++) {
            print_share(a->tpr[p]);
            putchar(' ');
            print_share(a->bound[p]);
        }
        printf(" %8.3f", a->control_auc);
        printf(isnan(a->control_inf_auc) ? "        -" : " %8.3f", a->control_inf_auc);
        printf("  %s%s\n", a->sanity_only ? "sanity check only" : "",
               a->exceeds && !a->sanity_only ? "EXCEEDS THE BOUND" : "");
    }
    printf(
        "\nunicity: %.0f %% of the real and %.0f %% of the synthetic trips are the only ones with "
        "two of their cells and the hour, %.0f %% and %.0f %% with four\n",
        100 * r->unicity_real[0], 100 * r->unicity_synthetic[0], 100 * r->unicity_real[1],
        100 * r->unicity_synthetic[1]);
}

static json_t *number_json(double value) { return isnan(value) ? json_null() : json_real(value); }

/* The curve, and what the promise allows at its points. */
static json_t *roc_json(const struct dpl_attack *a, bool bound) {
    json_t *array = json_array();
    for (size_t i = 0; i < a->n_roc; i++)
        json_array_append_new(
            array, json_pack("[f, f]", a->roc[i].fpr, bound ? a->roc[i].bound : a->roc[i].tpr));
    return array;
}

static json_t *attack_json(const char *synthetic, const struct dpl_attack *a) {
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:I, s:I, s:o, s:o}", "name",
        a->name, "synthetic", synthetic, "auc", number_json(a->auc), "tpr_at_fpr_1e2",
        number_json(a->tpr[0]), "tpr_at_fpr_1e3", number_json(a->tpr[1]), "bound_at_1e2",
        number_json(a->bound[0]), "bound_at_1e3", number_json(a->bound[1]), "control_auc",
        number_json(a->control_auc), "control_inf_auc", number_json(a->control_inf_auc),
        "sanity_only", a->sanity_only, "exceeds", a->exceeds, "members", (json_int_t)a->members,
        "non_members", (json_int_t)a->others, "roc", roc_json(a, false), "roc_bound",
        roc_json(a, true));
}

static void add_json(json_t *attacks, json_t *unicity, const char *name,
                     const struct dpl_attack_report *r) {
    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(attacks, attack_json(name, &r->attack[i]));
    json_array_append_new(
        unicity, json_pack("{s:s, s:f, s:f, s:f, s:f}", "synthetic", name, "real_2",
                           r->unicity_real[0], "real_4", r->unicity_real[1], "synthetic_2",
                           r->unicity_synthetic[0], "synthetic_4", r->unicity_synthetic[1]));
}

/* ---- running ---- */

/* Visits are read as the fit read them. */
static bool own_phase(const struct settings *s) {
    return !s->method || dpl_method_own_phase(s->method);
}

/* Attacks one synthetic set. */
static enum dpl_status attack_one(struct cli *cli, const struct settings *s, const char *name,
                                  struct dpl_attack_input *input, struct dpl_attack_report *r) {
    struct dpl_attack_options options = dpl_attack_defaults();
    struct dpl_cleaned *trips = NULL;
    enum dpl_status status =
        s->shadow ? DPL_OK : draw_read(cli, &s->data, own_phase(s), name, &trips);
    options.epsilon = s->epsilon, options.delta = s->delta;
    options.unit = strcmp(s->unit, "user") ? DPL_UNIT_TRIP : DPL_UNIT_USER;
    options.seed = (uint64_t)s->seed;
    if (!s->shadow) input->synthetic = trips;
    if (status == DPL_OK) status = dpl_attack(cli->run, input, &options, r);
    dpl_cleaned_free(trips);
    return status;
}

static enum dpl_status print_json(struct cli *cli, const struct settings *s, json_t *attacks,
                                  json_t *unicity) {
    json_t *object = json_pack("{s:b, s:s, s:b, s:s, s:o, s:f, s:O, s:O}", "not_private", 1,
                               "split", s->source, "shadow", s->shadow, "unit", s->unit, "epsilon",
                               isinf(s->epsilon) ? json_string("inf") : json_real(s->epsilon),
                               "delta", s->delta, "attacks", attacks, "unicity", unicity);
    int failed = object ? json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) : -1;
    json_decref(object);
    if (failed) return cli_fail(cli, DPL_SYSTEM, "the result cannot be written as JSON");
    putchar('\n');
    return DPL_OK;
}

static enum dpl_status attack_all(struct cli *cli, const struct settings *s,
                                  struct dpl_attack_input *input, bool *exceeds) {
    json_t *attacks = json_array(), *unicity = json_array();
    enum dpl_status status = DPL_OK;
    size_t n = s->shadow ? 1 : cli->n_inputs - 1;
    for (size_t k = 0; k < n && status == DPL_OK; k++) {
        const char *name = s->shadow ? "shadow" : cli->inputs[k + 1];
        struct dpl_attack_report report;
        status = attack_one(cli, s, name, input, &report);
        if (status != DPL_OK) break;
        *exceeds |= report.exceeds;
        if (cli->json)
            add_json(attacks, unicity, name, &report);
        else
            print_text(s, name, &report);
    }
    if (status == DPL_OK && cli->json) status = print_json(cli, s, attacks, unicity);
    json_decref(attacks);
    json_decref(unicity);
    return status;
}

/* The model that the informed attacker looks at: the shadow's own, or the one named. */
static enum dpl_status find_model(struct cli *cli, const struct settings *s,
                                  const struct fitted *shadow, struct dpl_model **read,
                                  struct dpl_attack_input *input) {
    enum dpl_status status = DPL_OK;
    if (s->shadow)
        input->model = dpl_fit_model(shadow->fit);
    else if (s->model)
        status = dpl_model_read(cli->run, s->model, read), input->model = *read;
    else
        cli_note(cli, "the informed attacker is left out: name SYNTH's model with --model");
    return status;
}

static enum dpl_status attack(struct cli *cli, struct settings *s) {
    struct side side[2];
    struct dpl_cleaned *trips[2] = {NULL, NULL};
    struct fitted control = {NULL, NULL}, shadow = {NULL, NULL};
    struct dpl_model *model = NULL;
    struct dpl_attack_input input = {.members = NULL};
    bool exceeds = false;
    enum dpl_status status = DPL_OK;
    choose_sides(cli, s, side);
    for (size_t i = 0; i < 2 && status == DPL_OK; i++) {
        side[i].read.own_phase = own_phase(s);
        status = sets_read_real(cli, &s->data, &side[i].read, side[i].inputs, 1, &trips[i], NULL);
    }
    if (status == DPL_OK && s->shadow) status = model_of(cli, s, &side[0], s->epsilon, &shadow);
    if (status == DPL_OK && !s->no_control) status = model_of(cli, s, &side[0], INFINITY, &control);
    if (status == DPL_OK) status = find_model(cli, s, &shadow, &model, &input);
    input.members = trips[0], input.others = trips[1];
    input.synthetic = shadow.trips, input.control = control.trips;
    if (control.fit) input.control_model = dpl_fit_model(control.fit);
    if (status == DPL_OK) status = attack_all(cli, s, &input, &exceeds);
    dpl_cleaned_free(trips[0]);
    dpl_cleaned_free(trips[1]);
    dpl_model_free(model);
    fitted_free(&control);
    fitted_free(&shadow);
    if (status == DPL_OK && exceeds)
        status = cli_fail(cli, DPL_REFUSED,
                          "an attack does better than the promise allows: do not release this");
    return status;
}

static enum dpl_status run_attack(struct cli *cli, struct settings *s) {
    json_t *manifest = NULL;
    if (cli->n_inputs < 2)
        return cli_usage(cli, "name the real data and the synthetic file: dploc attack REAL SYNTH");
    if (!s->members != !s->non_members)
        return cli_usage(cli, "--members and --non-members go together");
    enum dpl_status status =
        sets_area_find(cli, &s->data, cli->inputs + 1, cli->n_inputs - 1, &s->area);
    if (status == DPL_OK) status = find_promise(cli, s, &manifest);
    if (status == DPL_OK) status = attack(cli, s);
    json_decref(manifest);
    return status;
}

static int attack_main(struct cli *cli, int argc, char **argv) {
    static struct settings s = {.epsilon = NAN, .delta = NAN, .seed = 1};
    data_options_init(&s.data);
    sets_leave_area_open(&s.data);
    const struct option table[] = {
        {"dates", 0, OPTION_TEXT, &s.data.read.dates, NULL},
        {"members", 0, OPTION_TEXT, &s.members, NULL},
        {"non-members", 0, OPTION_TEXT, &s.non_members, NULL},
        {"epsilon", 0, OPTION_REAL, &s.epsilon, NULL},
        {"delta", 0, OPTION_REAL, &s.delta, NULL},
        {"unit", 0, OPTION_TEXT, &s.unit, NULL},
        {"seed", 0, OPTION_WHOLE, &s.seed, NULL},
        {"no-control", 0, OPTION_FLAG, &s.no_control, NULL},
        {"model", 0, OPTION_TEXT, &s.model, NULL},
        {0},
    };
    int ended = cli_start(cli, argc, argv, (const struct option *const[]){s.data.table, table}, 2);
    if (ended >= 0) return ended;
    enum dpl_status status = run_attack(cli, &s);
    sets_area_free(&s.area);
    return cli_finish(cli, status);
}

const struct command command_attack = {
    .bit = IN_ATTACK,
    .name = "attack",
    .summary = "how well attackers find out who was in the data",
    .usage = "REAL SYNTH... [--members A --non-members B]",
    .arguments = VALUE_FILE,
    .about = "Attackers see synthetic trips and real trips of others, and guess who was fitted"
             " on. Each is shown with its AUC and true positives at 1 % and 0.1 % false ones, "
             "beside what the promise allows, e^epsilon * FPR + delta, and beside controls "
             "that it must beat: a generator that copies, and one without noise.\n"
             "\n"
             "Who was in: --members and --non-members name files (REAL is not opened then); "
             "otherwise the split in SYNTH.PRIVATE.json that --hold-out of 'dploc fit' and "
             "'dploc synth' records; with neither, a shadow model with SYNTH's public options "
             "is fitted on half of REAL and attacked instead of SYNTH (nothing is charged to a"
             " ledger).",
    .notes = "NOT PRIVATE. Passing proves nothing; exceeding the bound with 99.9 % confidence,"
             " over all attacks, is a defect: exit 4.",
    .examples = "dploc simulate -o a.csv\n"
                "dploc synth a.csv --region simulated --hold-out 0.5 "
                "-o s.csv\n"
                "dploc attack a.csv s.csv --json\n",
    .main = attack_main,
};
