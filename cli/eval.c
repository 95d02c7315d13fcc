/* dploc eval: how close synthetic trips are to real ones. Everything shown is NOT PRIVATE. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manual.h"
#include "draw.h"
#include "roads.h"
#include "sets.h"

struct settings {
    struct data_options data;
    struct dpl_eval_options eval;
    bool hours, csv, explain, frequent_cells;
    const char *test; /* more real data, for the tasks; NULL: none */
    const char *roads, *travel;
    const char *stages; /* a model, to show where its error comes from; NULL: not asked */
    int64_t splits, seed;
    bool as_is;
    struct sets_area area;
};

/* ---- what the measures mean ---- */

static const char *meaning_of(const char *name) {
    struct dpl_measure_about about;
    for (size_t i = 0; dpl_measure_about(i, &about); i++)
        if (!strcmp(about.name, name)) return about.meaning;
    return "";
}

static enum dpl_status explain_all(void) {
    struct dpl_measure_about about;
    for (size_t i = 0; dpl_measure_about(i, &about); i++)
        printf("%-21s  %s\n", about.name, about.meaning);
    return DPL_OK;
}

/* ---- text ---- */

/* How far from ideal: by ratio, since sets of different sizes have different floors; by value when
 * there is no ratio. */
static double badness(const struct dpl_measure *m) {
    double score = isnan(m->ratio) ? m->value : m->ratio;
    if (m->better == DPL_BETTER_LOWER) return score;
    return m->better == DPL_BETTER_HIGHER ? -score : fabs(m->value - m->floor);
}

/* The best of a row, to be marked; n_synthetic when there is nothing to choose. */
static size_t best_of_row(const struct dpl_evaluation *e, const struct dpl_measure *first) {
    size_t best = e->n_synthetic, rivals = 0;
    double least = INFINITY;
    for (size_t k = 0; k < e->n_synthetic; k++) {
        const struct dpl_measure *m = dpl_evaluation_find(e, k, first->name, first->scope);
        if (!m || isnan(m->value)) continue;
        rivals++;
        if (badness(m) < least) least = badness(m), best = k;
    }
    return rivals > 1 ? best : e->n_synthetic;
}

static void scope_name(int scope, char text[16]) {
    if (scope == DPL_SCOPE_POOLED)
        snprintf(text, 16, "pooled");
    else if (scope == DPL_SCOPE_HOURS)
        snprintf(text, 16, "hours");
    else
        snprintf(text, 16, "%d", scope);
}

static void print_number(double value, int width) {
    if (isnan(value))
        printf("%*s", width, "-");
    else if (fabs(value) >= 100)
        printf("%*.0f", width, value);
    else if (fabs(value) >= 10)
        printf("%*.1f", width, value);
    else
        printf("%*.*f", width, fabs(value) < 0.01 && value != 0 ? 5 : 3, value);
}

static void print_row(const struct dpl_evaluation *e, const struct dpl_measure *first,
                      bool explain) {
    char scope[16];
    scope_name(first->scope, scope);
    printf("%-21s %-6s", first->name, scope);
    size_t best = best_of_row(e, first);
    for (size_t k = 0; k < e->n_synthetic; k++) {
        const struct dpl_measure *m = dpl_evaluation_find(e, k, first->name, first->scope);
        printf("  ");
        print_number(m ? m->value : NAN, 9);
        putchar(k == best ? '*' : ' ');
        print_number(m ? m->floor : NAN, 8);
        print_number(m ? m->ratio : NAN, 8);
    }
    putchar('\n');
    if (explain) printf("    %s\n", meaning_of(first->name));
}

/* Rows of the set that has the most: one without times lacks the hourly ones. */
static size_t fullest(const struct dpl_evaluation *e) {
    size_t best = 0;
    for (size_t k = 1; k < e->n_synthetic; k++)
        if (e->synthetic[k].n_measures > e->synthetic[best].n_measures) best = k;
    return best;
}

static void print_drops(const struct dpl_read_facts *facts) {
    for (int i = 0; i < DPL_DROPS; i++)
        if (facts->trips_dropped[i])
            printf("          dropped from it: %lld trips, %s\n",
                   (long long)facts->trips_dropped[i], dpl_drop_name((enum dpl_drop)i));
}

static void print_head(const struct cli *cli, const struct settings *settings,
                       const struct sets *sets, const struct dpl_evaluation *e) {
    printf(
        "How far synthetic trips are from the real ones; value, floor (half of the real trips "
        "against the other half) and ratio.\n"
        "Ratio 1 is as good as real data; the floor of a quantity is the real trips' own figure.\n"
        "For fp, fpset, cpc, hits and kept_share higher is better, for distances lower.\n"
        "NOT PRIVATE: computed from private data. Do not publish; choosing between runs by it is "
        "outside any epsilon.\n\n");
    const char *dates = settings->data.read.dates;
    printf("real      %s: %zu trips%s%s, %zu visits, area %s; steps beyond the speed limit: "
           "%.4g %%\n",
           sets_base_name(cli->inputs[0]), e->n_trips, dates ? " of " : "", dates ? dates : "",
           e->n_visits, settings->area.source, 100 * e->jump_share);
    if (!e->options.paper_measures)
        printf("cells     %d, the most visited, hold %g %% of the real visits; all other visits "
               "move to the nearest\n",
               e->n_cells, 100 * e->options.cell_share);
    else
        printf("cells     each synthetic set's own (%d for the first); 2000 trips a side and hour; "
               "source-destination from the trips\n",
               e->n_cells);
    for (size_t k = 0; k < e->n_synthetic; k++) {
        const struct dpl_eval_result *s = &e->synthetic[k];
        printf("synthetic %s: %zu trips (%s), compared on %zu a side%s; %.3g %% of the real visits "
               "are in cells it does not know\n",
               sets_base_name(s->name), s->n_trips,
               sets->as_is[k] ? "as written" : "cleaned like the real ones", s->n_compared,
               s->has_hours ? "" : ", no times: pooled only", 100 * s->outside_share);
        print_drops(sets->facts[k]);
    }
    printf("od_emd_m and route: each side's most frequent source-destination pairs, 80 %% of its "
           "trips, at most 2000\n\n%-28s",
           "");
    for (size_t k = 0; k < e->n_synthetic; k++)
        printf("  %26.26s", sets_base_name(e->synthetic[k].name));
    printf("\n%-21s %-6s", "measure", "scope");
    for (size_t k = 0; k < e->n_synthetic; k++) printf("  %9s %8s%8s", "value", "floor", "ratio");
    putchar('\n');
}

/* What the file is fit for, in words, before any number. */
static void print_fitness(const struct dpl_evaluation *e) {
    for (size_t k = 0; k < e->n_synthetic; k++) {
        struct dpl_fitness list[DPL_FITNESS_MAX];
        size_t n = dpl_evaluation_fitness(e, k, list);
        bool any = false;
        for (size_t i = 0; i < n; i++) any |= list[i].word != DPL_FIT_UNKNOWN;
        if (any) printf("fit for use: %s\n", sets_base_name(e->synthetic[k].name));
        for (size_t i = 0; i < n; i++)
            if (list[i].word != DPL_FIT_UNKNOWN)
                printf("  %-24s %-8s %s\n", list[i].question, dpl_fit_word_name(list[i].word),
                       list[i].reason);
    }
    putchar('\n');
}

static void print_text(const struct cli *cli, const struct settings *settings,
                       const struct sets *sets, const struct dpl_evaluation *e) {
    const struct dpl_eval_result *rows = &e->synthetic[fullest(e)];
    print_fitness(e);
    print_head(cli, settings, sets, e);
    for (size_t i = 0; i < rows->n_measures; i++)
        if (rows->measures[i].scope < 0 || settings->hours)
            print_row(e, &rows->measures[i], settings->explain);
    if (e->n_synthetic > 1) printf("\n* the best of the row\n");
}

/* ---- CSV and JSON ---- */

/* RFC 4180: quotes around, and doubled inside. */
static void print_quoted(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"') putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void print_csv_number(double value) {
    putchar(',');
    if (!isnan(value)) printf("%.10g", value);
}

static void print_csv(const struct dpl_evaluation *e) {
    printf("synthetic,measure,scope,value,floor,ratio\n");
    for (size_t k = 0; k < e->n_synthetic; k++)
        for (size_t i = 0; i < e->synthetic[k].n_measures; i++) {
            const struct dpl_measure *m = &e->synthetic[k].measures[i];
            char scope[16];
            scope_name(m->scope, scope);
            print_quoted(e->synthetic[k].name);
            printf(",%s,%s", m->name, scope);
            print_csv_number(m->value);
            print_csv_number(m->floor);
            print_csv_number(m->ratio);
            putchar('\n');
        }
}

static json_t *number_json(double value) { return isnan(value) ? json_null() : json_real(value); }

static json_t *measure_json(const struct dpl_measure *m) {
    char scope[16];
    scope_name(m->scope, scope);
    json_t *where = m->scope < 0 ? json_string(scope) : json_integer(m->scope);
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "name", m->name, "scope", where, "value",
                     number_json(m->value), "floor", number_json(m->floor), "ratio",
                     number_json(m->ratio));
}

static json_t *fitness_json(const struct dpl_evaluation *e, size_t k) {
    struct dpl_fitness list[DPL_FITNESS_MAX];
    size_t n = dpl_evaluation_fitness(e, k, list);
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s}", "question", list[i].question, "word",
                                        dpl_fit_word_name(list[i].word), "reason", list[i].reason));
    return array;
}

static json_t *result_json(const struct dpl_eval_result *s, const struct dpl_read_facts *facts,
                           bool as_is) {
    json_t *measures = json_array(), *dropped = json_object();
    for (int i = 0; i < DPL_DROPS; i++)
        if (facts->trips_dropped[i])
            json_object_set_new(dropped, dpl_drop_name((enum dpl_drop)i),
                                json_integer(facts->trips_dropped[i]));
    for (size_t i = 0; i < s->n_measures; i++)
        json_array_append_new(measures, measure_json(&s->measures[i]));
    return json_pack("{s:s, s:b, s:o, s:I, s:I, s:I, s:b, s:f, s:o}", "name", s->name, "as_written",
                     as_is, "dropped", dropped, "trips", (json_int_t)s->n_trips, "visits",
                     (json_int_t)s->n_visits, "compared", (json_int_t)s->n_compared, "has_hours",
                     s->has_hours, "outside_share", s->outside_share, "measures", measures);
}

static enum dpl_status print_json(struct cli *cli, const struct settings *settings,
                                  const struct sets *sets, const struct dpl_evaluation *e) {
    json_t *synthetic = json_array();
    for (size_t k = 0; k < e->n_synthetic; k++) {
        json_t *result = result_json(&e->synthetic[k], sets->facts[k], sets->as_is[k]);
        json_object_set_new(result, "fitness", fitness_json(e, k));
        json_array_append_new(synthetic, result);
    }
    json_t *object =
        json_pack("{s:b, s:{s:s, s:I, s:I, s:i, s:f, s:s?}, s:s, s:b, s:i, s:I, s:o}",
                  "not_private", 1, "real", "name", cli->inputs[0], "trips", (json_int_t)e->n_trips,
                  "visits", (json_int_t)e->n_visits, "cells", (int)e->n_cells, "jump_share",
                  e->jump_share, "dates", settings->data.read.dates, "area", settings->area.source,
                  "paper_measures", e->options.paper_measures, "splits", e->options.splits, "seed",
                  (json_int_t)e->options.seed, "synthetic", synthetic);
    int failed = object ? json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) : -1;
    json_decref(object);
    if (failed)
        return cli_fail(cli, DPL_SYSTEM,
                        "the result cannot be written as JSON (names that are not UTF-8?)");
    putchar('\n');
    return DPL_OK;
}

/* ---- stages ---- */

static enum dpl_status find_stages(struct cli *cli, const struct settings *settings,
                                   const struct sets *sets, struct dpl_stage list[DPL_STAGES]) {
    struct dpl_model *model = NULL;
    struct dpl_cleaned *drawn = NULL;
    struct dpl_sample_options sample = dpl_sample_defaults();
    sample.points = DPL_POINTS_CENTRE;
    sample.seed = settings->seed;
    enum dpl_status status = dpl_model_read(cli->run, settings->stages, &model);
    if (status == DPL_OK) status = draw_trips(cli, &settings->data, model, &sample, &drawn);
    if (status == DPL_OK)
        status =
            dpl_evaluate_stages(cli->run, sets->real, model, drawn, sets->synthetic[0].trips, list);
    dpl_cleaned_free(drawn);
    dpl_model_free(model);
    return status;
}

static void print_stages(const struct dpl_stage list[DPL_STAGES]) {
    printf("where the error comes from, by stage, against all real trips (NOT PRIVATE)\n"
           "%-10s %12s %12s %12s %12s %12s\n",
           "stage", "density_m", "by daypart", "od_m", "length_jsd", "step_jsd");
    for (size_t i = 0; i < DPL_STAGES; i++)
        printf("%-10s %12.1f %12.1f %12.1f %12.4f %12.4f\n", list[i].name, list[i].density_m,
               list[i].density_parts_m, list[i].od_m, list[i].length_jsd, list[i].step_jsd);
    putchar('\n');
}

static json_t *stages_json(const struct dpl_stage list[DPL_STAGES]) {
    json_t *array = json_array();
    for (size_t i = 0; i < DPL_STAGES; i++)
        json_array_append_new(array,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "stage", list[i].name,
                                        "density_m", number_json(list[i].density_m),
                                        "density_parts_m", number_json(list[i].density_parts_m),
                                        "od_m", number_json(list[i].od_m), "length_jsd",
                                        number_json(list[i].length_jsd), "step_jsd",
                                        number_json(list[i].step_jsd)));
    return array;
}

static enum dpl_status show_stages(struct cli *cli, const struct settings *settings,
                                   const struct sets *sets) {
    struct dpl_stage list[DPL_STAGES];
    enum dpl_status status = find_stages(cli, settings, sets, list);
    if (status != DPL_OK) return status;
    if (!cli->json) {
        print_stages(list);
        return DPL_OK;
    }
    json_t *object = json_pack("{s:b, s:o}", "not_private", 1, "stages", stages_json(list));
    json_dumpf(object, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(object);
    return DPL_OK;
}

/* ---- running ---- */

/* Real trips to test models of the tasks on: of any days, as they are often of later ones. */
static enum dpl_status read_test(struct cli *cli, const struct settings *settings,
                                 struct dpl_cleaned **test) {
    struct dpl_read_options read = settings->data.read;
    read.dates = NULL;
    if (!settings->test) return DPL_OK;
    return dpl_cleaned_read(cli->run, &settings->test, 1, &read, &settings->data.area, test, NULL);
}

static enum dpl_status compare(struct cli *cli, struct settings *settings) {
    size_t n = cli->n_inputs - 1;
    struct sets sets = {0};
    struct dpl_evaluation *evaluation = NULL;
    struct dpl_cleaned *test = NULL;
    struct dpl_roads *roads = NULL;
    const struct sets_how how = {settings->as_is, settings->data.read.own_phase};
    enum dpl_status status =
        sets_read(cli, &settings->data, how, cli->inputs, 1, cli->inputs + 1, n, &sets);
    if (status == DPL_OK) status = read_test(cli, settings, &test);
    if (status == DPL_OK && settings->stages) {
        status = show_stages(cli, settings, &sets);
        goto done;
    }
    if (status == DPL_OK && settings->roads)
        status = roads_read(cli, settings->roads, settings->travel, &settings->data.area, &roads);
    settings->eval.real_facts = sets.real_facts;
    settings->eval.roads = roads;
    settings->eval.test = test;
    if (status == DPL_OK)
        status = dpl_evaluate(cli->run, sets.real, sets.synthetic, n, &settings->eval, &evaluation);
    if (status == DPL_OK && cli->json)
        status = print_json(cli, settings, &sets, evaluation);
    else if (status == DPL_OK && settings->csv)
        print_csv(evaluation);
    else if (status == DPL_OK)
        print_text(cli, settings, &sets, evaluation);
done:
    dpl_evaluation_free(evaluation);
    dpl_roads_free(roads);
    dpl_cleaned_free(test);
    sets_free(&sets);
    return status;
}

static enum dpl_status run_eval(struct cli *cli, struct settings *settings) {
    if (settings->explain && cli->n_inputs == 0) return explain_all();
    if (cli->n_inputs < 2)
        return cli_usage(
            cli, "name the real data and at least one synthetic file: dploc eval REAL SYNTH...");
    if (settings->splits < 1 || settings->splits > 1000)
        return cli_usage(cli, "--splits takes 1 to 1000");
    settings->eval.splits = (int)settings->splits;
    settings->eval.seed = (uint64_t)settings->seed;
    settings->data.read.own_phase =
        settings->stages || !(settings->frequent_cells || settings->eval.paper_measures);
    enum dpl_status status =
        sets_area_find(cli, &settings->data, cli->inputs + 1, cli->n_inputs - 1, &settings->area);
    return status == DPL_OK ? compare(cli, settings) : status;
}

static int eval_main(struct cli *cli, int argc, char **argv) {
    static struct settings settings;
    settings.eval = dpl_eval_defaults();
    settings.travel = "drive";
    settings.splits = settings.eval.splits;
    settings.seed = (int64_t)settings.eval.seed;
    data_options_init(&settings.data);
    sets_leave_area_open(&settings.data);
    const struct option table[] = {
        {"dates", 0, OPTION_TEXT, &settings.data.read.dates, NULL},
        {"hours", 0, OPTION_FLAG, &settings.hours, NULL},
        {"csv", 0, OPTION_FLAG, &settings.csv, NULL},
        {"as-is", 0, OPTION_FLAG, &settings.as_is, NULL},
        {"frequent-cells", 0, OPTION_FLAG, &settings.frequent_cells, NULL},
        {"splits", 0, OPTION_WHOLE, &settings.splits, NULL},
        {"seed", 0, OPTION_WHOLE, &settings.seed, NULL},
        {"paper-measures", 0, OPTION_FLAG, &settings.eval.paper_measures, NULL},
        {"peer-measures", 0, OPTION_FLAG, &settings.eval.peer_measures, NULL},
        {"only", 0, OPTION_TEXT, &settings.eval.only, NULL},
        {"explain", 0, OPTION_FLAG, &settings.explain, NULL},
        {"test", 0, OPTION_TEXT, &settings.test, NULL},
        {"roads", 0, OPTION_TEXT, &settings.roads, NULL},
        {"stages", 0, OPTION_TEXT, &settings.stages, NULL},
        {"travel", 0, OPTION_TEXT, &settings.travel, NULL},
        {"blur", 0, OPTION_REAL, &settings.eval.blur_m, NULL},
        {0},
    };
    int ended =
        cli_start(cli, argc, argv, (const struct option *const[]){settings.data.table, table}, 2);
    if (ended >= 0) return ended;
    enum dpl_status status = run_eval(cli, &settings);
    sets_area_free(&settings.area);
    return cli_finish(cli, status);
}

const struct command command_eval = {
    .bit = IN_EVAL,
    .name = "eval",
    .summary = "how close synthetic trips are to the real ones, with floors",
    .usage = "REAL SYNTH... [--region NAME | --bbox S,W,N,E --tz ZONE]",
    .arguments = VALUE_FILE,
    .about = "Compares synthetic trips with the real ones: lengths, frequent patterns, "
             "density, flows, routes (docs/EVALUATION.md). Each value stands beside its floor,"
             " which is what one random half of REAL scores against the other, and their "
             "ratio: 1 is as good as real data.\n"
             "\n"
             "REAL is cleaned as it was for fitting. A SYNTH with a manifest is taken as "
             "written; other files are cleaned like REAL, or with --as-is taken as written "
             "too. They may come from another program, also without times: then there are no "
             "hourly figures. The area is that of SYNTH's manifest, if no other is given.",
    .notes = "All of this is computed from private data and NOT PRIVATE: do not publish it, "
             "and mind that choosing between runs by it is outside any epsilon (choose on data"
             " of 'dploc simulate').",
    .examples = "dploc simulate -o a.csv --seed 1\n"
                "dploc simulate -o b.csv --seed 2\n"
                "dploc eval a.csv b.csv --region simulated --json\n",
    .main = eval_main,
};
