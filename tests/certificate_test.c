/* Certificates: written to the published schema, read back without trust, verified.
 *
 * The schema is checked with a checker of this file that knows the keywords the schema uses and
 * fails on any other, so that a certificate cannot pass by a rule that nobody applies. */
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/ledger.h"
#include "ledger/plan.h"
#include "ledger/certificate.h"
#include "base/public_options.h"

/* ---- a small JSON Schema ---- */

static json_t *schema;

static bool has_type(json_t *value, const char *type) {
    if (!strcmp(type, "object")) return json_is_object(value);
    if (!strcmp(type, "array")) return json_is_array(value);
    if (!strcmp(type, "string")) return json_is_string(value);
    if (!strcmp(type, "boolean")) return json_is_boolean(value);
    if (!strcmp(type, "integer")) return json_is_integer(value);
    if (!strcmp(type, "number")) return json_is_number(value);
    fail_msg("the schema has a type '%s' that the checker does not know", type);
    return false;
}

static bool matches(json_t *rule, json_t *value);

static bool any_of(json_t *rules, json_t *value) {
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule) if (matches(rule, value)) return true;
    return false;
}

static bool one_of_types(json_t *types, json_t *value) {
    if (json_is_string(types)) return has_type(value, json_string_value(types));
    size_t i;
    json_t *type;
    json_array_foreach(types, i, type) if (has_type(value, json_string_value(type))) return true;
    return false;
}

static bool in_list(json_t *list, json_t *value) {
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) if (json_equal(item, value)) return true;
    return false;
}

static bool has_all(json_t *names, json_t *value) {
    size_t i;
    json_t *name;
    json_array_foreach(names, i,
                       name) if (!json_object_get(value, json_string_value(name))) return false;
    return true;
}

static bool members_match(json_t *rule, json_t *value) {
    json_t *properties = json_object_get(rule, "properties"),
           *others = json_object_get(rule, "additionalProperties"), *member;
    json_t *names = json_object_get(json_object_get(rule, "propertyNames"), "enum");
    const char *name;
    json_object_foreach(value, name, member) {
        json_t *known = json_object_get(properties, name), *text = json_string(name);
        bool listed = !names || in_list(names, text);
        json_decref(text);
        if (!listed) return false;
        if (known && !matches(known, member)) return false;
        if (!known && json_is_false(others)) return false;
        if (!known && json_is_object(others) && !matches(others, member)) return false;
    }
    return true;
}

static bool items_match(json_t *rule, json_t *value) {
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item) if (!matches(rule, item)) return false;
    return true;
}

static bool keyword_holds(const char *keyword, json_t *argument, json_t *rule, json_t *value) {
    double number = json_number_value(value), limit = json_number_value(argument);
    bool is_number = json_is_number(value);
    if (!strcmp(keyword, "type")) return one_of_types(argument, value);
    if (!strcmp(keyword, "const")) return json_equal(argument, value);
    if (!strcmp(keyword, "enum")) return in_list(argument, value);
    if (!strcmp(keyword, "anyOf")) return any_of(argument, value);
    if (!strcmp(keyword, "minimum")) return !is_number || number >= limit;
    if (!strcmp(keyword, "maximum")) return !is_number || number <= limit;
    if (!strcmp(keyword, "exclusiveMinimum")) return !is_number || number > limit;
    if (!strcmp(keyword, "exclusiveMaximum")) return !is_number || number < limit;
    if (!strcmp(keyword, "minItems"))
        return !json_is_array(value) || (double)json_array_size(value) >= limit;
    if (!strcmp(keyword, "maxItems"))
        return !json_is_array(value) || (double)json_array_size(value) <= limit;
    if (!strcmp(keyword, "required")) return !json_is_object(value) || has_all(argument, value);
    if (!strcmp(keyword, "properties")) return !json_is_object(value) || members_match(rule, value);
    if (!strcmp(keyword, "additionalProperties") || !strcmp(keyword, "propertyNames"))
        return !json_is_object(value) || members_match(rule, value);
    if (!strcmp(keyword, "items")) return !json_is_array(value) || items_match(argument, value);
    if (!strcmp(keyword, "$ref")) {
        assert_true(!strncmp(json_string_value(argument), "#/$defs/", 8));
        json_t *target =
            json_object_get(json_object_get(schema, "$defs"), json_string_value(argument) + 8);
        assert_non_null(target);
        return matches(target, value);
    }
    if (!strcmp(keyword, "description") || !strcmp(keyword, "title") ||
        !strcmp(keyword, "$schema") || !strcmp(keyword, "$defs"))
        return true;
    fail_msg("the schema has a keyword '%s' that the checker does not know", keyword);
    return false;
}

static bool matches(json_t *rule, json_t *value) {
    const char *keyword;
    json_t *argument;
    json_object_foreach(rule, keyword,
                        argument) if (!keyword_holds(keyword, argument, rule, value)) return false;
    return true;
}

/* A file of the repository; `name` begins with the folder. */
static void path_of(const char *name, char path[1024]) {
    const char *slash = strrchr(__FILE__, '/');
    assert_non_null(slash);
    snprintf(path, 1024, "%.*s/../%s", (int)(slash - __FILE__), __FILE__, name);
}

static int load_schema(void **state) {
    (void)state;
    char path[1024];
    path_of("docs/certificate.schema.json", path);
    schema = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    return schema ? 0 : -1;
}

static int unload_schema(void **state) {
    (void)state;
    json_decref(schema);
    return 0;
}

/* ---- certificates to look at ---- */

static const struct dpl_mechanism ASK[] = {
    {.name = "length",
     .kind = DPL_EVENT_GAUSSIAN,
     .share = 0.1,
     .clip = 1,
     .growth = DPL_GROWTH_ROOT},
    {.name = "topk",
     .kind = DPL_EVENT_GAUSSIAN,
     .share = 0.2,
     .clip_from = "length_max",
     .growth = DPL_GROWTH_LINEAR},
    {.name = "train",
     .kind = DPL_EVENT_POISSON,
     .share = 0.7,
     .clip = 3,
     .batch = 4096,
     .steps = 300},
};
enum { ASKED = sizeof ASK / sizeof *ASK, CHOSEN = 8 };
/* What the number of trips that a user counts as is chosen from. */
static const struct dpl_mechanism USERS = {
    .name = "users", .kind = DPL_EVENT_GAUSSIAN, .share = 0.01, .clip = 1};

static const struct dpl_public_value OPTIONS[] = {{.name = "epsilon", .number = 1},
                                                  {.name = "region", .text = "sf"},
                                                  {.name = "unit", .text = "trip"}};
static const struct dpl_public_value OF_USERS[] = {{.name = "epsilon", .number = 1},
                                                   {.name = "unit", .text = "user"}};
static const struct dpl_public_value NUMBERS[] = {{.name = "length_max", .number = 37},
                                                  {.name = "trips_max", .number = CHOSEN}};

struct made {
    struct dpl_run *run;
    struct dpl_plan *plan;
    struct dpl_ledger *ledger;
    char *directory;
};

/* A plan that has been spent to a ledger; how: 'm'easured size, 'd'eclared, 'g'iven noise,
 * 'i'nsecure, 'n'oiseless, 'c'hosen number of trips that a user counts as. */
static struct made make_plan(char how) {
    static const struct dpl_identity DATA_SET = {.rows = 5};
    struct made made = {.run = test_run(1), .directory = test_directory()};
    struct dpl_budget budget = dpl_budget_defaults();
    struct dpl_ledger_options options = dpl_ledger_defaults();
    struct dpl_secret secret;
    struct dpl_size *size;
    struct dpl_event event;
    struct dpl_mechanism ask[ASKED + 1];
    const size_t n = ASKED + (how == 'c');
    memcpy(ask, ASK, sizeof ASK);
    ask[ASKED] = USERS;
    if (how == 'c') budget.unit = DPL_UNIT_USER, budget.trips_max = 0;
    for (size_t i = 0; how == 'g' && i < ASKED; i++) ask[i].sigma = 20;
    if (how == 'n') budget.epsilon = INFINITY;
    budget.insecure_seed = how == 'i';
    assert_ok(made.run, how == 'i' ? dpl_secret_from_seed(made.run, 1, &secret)
                                   : dpl_secret_new(made.run, &secret));
    assert_ok(made.run, dpl_ledger_open(made.run, test_path(made.directory, "l"), &DATA_SET,
                                        &options, &made.ledger));
    if (how == 'd')
        assert_ok(made.run, dpl_size_declare(made.run, 200000, &size));
    else
        assert_ok(made.run,
                  dpl_size_measure(made.run, &budget, 200000, &secret, made.ledger, &size));
    assert_ok(made.run, dpl_plan_make(made.run, &budget, size, ask, n, &made.plan));
    assert_ok(made.run, dpl_plan_charge(made.run, made.plan, made.ledger));
    for (size_t i = 0; i < n; i++)
        assert_ok(made.run,
                  dpl_plan_reserve(made.run, made.plan, i, 37, CHOSEN, made.ledger, &event));
    dpl_size_free(size);
    dpl_secret_wipe(&secret);
    return made;
}

static void unmake(struct made *made) {
    dpl_ledger_close(made->ledger);
    dpl_plan_free(made->plan);
    test_directory_remove(made->directory);
    dpl_run_free(made->run);
}

static struct dpl_certificate certificate_of(const struct made *made) {
    return (struct dpl_certificate){.plan = made->plan,
                                    .ledger = made->ledger,
                                    .method = "bridge",
                                    .options = OPTIONS,
                                    .n_options = sizeof OPTIONS / sizeof *OPTIONS,
                                    .numbers = NUMBERS,
                                    .n_numbers = 1};
}

static json_t *certificate_json(char how) {
    struct made made = make_plan(how);
    struct dpl_certificate certificate = certificate_of(&made);
    if (how == 'n' || how == 'g') certificate.n_options = 0; // its epsilon is not 1
    if (how == 'c') certificate.options = OF_USERS, certificate.n_options = 2;
    if (how == 'c') certificate.n_numbers = 2;
    json_t *digest = json_pack("s+++", "0123456789abcdef", "0123456789abcdef", "0123456789abcdef",
                               "0123456789abcdef");
    if (how == 'd')
        certificate.roads = json_pack("{s:O, s:s, s:s}", "sha256", digest, "travel", "bike",
                                      "license", DPL_ROADS_LICENSE);
    char *text;
    assert_ok(made.run, dpl_certificate_text(made.run, &certificate, &text));
    json_decref(certificate.roads), json_decref(digest);
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    dpl_text_free(text);
    unmake(&made);
    return json;
}

static enum dpl_status verify(struct dpl_run *run, json_t *json, struct dpl_verdict *verdict) {
    char *text = json_dumps(json, 0);
    assert_non_null(text);
    enum dpl_status status = dpl_certificate_verify(run, text, strlen(text), verdict);
    free(text);
    return status;
}

/* ---- writing ---- */

static void certificates_follow_the_schema_and_verify(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (const char *how = "mdc"; *how; how++) {
        json_t *json = certificate_json(*how);
        struct dpl_verdict verdict;
        assert_true(matches(schema, json));
        assert_ok(run, verify(run, json, &verdict));
        if (!verdict.valid) fail_msg("not valid: %s", verdict.reasons[0]);
        assert_true(verdict.epsilon <= 1 && verdict.epsilon > 0.98);
        assert_true(json_number_value(json_object_get(json_object_get(json, "ledger"), "epsilon")) >
                    0.999);
        assert_true(json_is_true(json_object_get(json, "private")));
        assert_int_equal(json_array_size(json_object_get(json, "mechanisms")),
                         ASKED + (*how == 'm') + 2 * (*how == 'c'));
        json_decref(json);
    }
    dpl_run_free(run);
}

static void what_is_not_private_says_so(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    for (const char *how = "in"; *how; how++) {
        json_t *json = certificate_json(*how);
        struct dpl_verdict verdict;
        assert_true(matches(schema, json));
        const char *warning = json_string_value(json_object_get(json, "warning"));
        assert_non_null(strstr(warning, "NOT PRIVATE"));
        assert_non_null(strstr(warning, *how == 'i' ? "given seed" : "epsilon is infinite"));
        assert_true(json_is_false(json_object_get(json, "private")));
        assert_ok(run, verify(run, json, &verdict));
        assert_false(verdict.valid);
        assert_true(verdict.not_private);
        assert_int_equal(verdict.n_reasons, 1);
        assert_non_null(strstr(verdict.reasons[0], "NOT PRIVATE"));
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(json, "ledger"), "epsilon")),
            "infinity");
        // Taking the warning away does not make it private.
        json_object_del(json, "warning");
        json_object_set_new(json, "private", json_true());
        assert_int_equal(verify(run, json, &verdict), DPL_BAD_DATA);
        json_decref(json);
    }
    dpl_run_free(run);
}

/* Whether fit, sample or synth have an option of that name. */
static bool is_an_option(const char *name) {
    static const char *const FILES[] = {"cli/data.c", "cli/privacy_options.c",
                                        "cli/sample_options.c"};
    char path[1024], line[512], entry[64];
    bool found = false;
    snprintf(entry, sizeof entry, "{\"%s\",", name);
    for (size_t i = 0; i < 3; i++) {
        path_of(FILES[i], path);
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) found |= strstr(line, entry) != NULL;
        fclose(file);
    }
    return found;
}

static void given_noise_says_where_epsilon_comes_from(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    json_t *json = certificate_json('d'), *given = certificate_json('g');
    const char *follows = json_string_value(json_object_get(given, "epsilon_from"));
    struct dpl_verdict verdict;
    assert_true(json_is_true(json_object_get(given, "sigma_given")) && matches(schema, given));
    assert_non_null(strstr(follows, "another number would have given another epsilon"));
    assert_ok(run, verify(run, given, &verdict));
    assert_true(verdict.valid);
    json_object_set_new(json, "epsilon_from", json_string(follows)); // it was chosen
    assert_int_equal(verify(run, json, &verdict), DPL_BAD_DATA);
    assert_non_null(strstr(dpl_run_message(run), "contradict"));
    json_decref(json);
    json_decref(given);
    dpl_run_free(run);
}

/* A finite number is not near an infinite one, on either side. */
static void infinities_are_compared_as_infinities(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    json_t *json = certificate_json('n');
    static const struct {
        const char *options;
        size_t reasons;
    } CASES[] = {{"{\"epsilon\":\"inf\"}", 1}, {"{\"epsilon\":1}", 2}};
    for (size_t i = 0; i < 2; i++) {
        struct dpl_verdict verdict;
        json_object_set_new(json, "options", json_loads(CASES[i].options, 0, NULL));
        assert_ok(run, verify(run, json, &verdict));
        assert_false(verdict.valid);
        assert_int_equal(verdict.n_reasons, CASES[i].reasons);
    }
    json_decref(json);
    dpl_run_free(run);
}

/* The key decides, whatever budget the plan was made for. */
static void the_watermark_follows_from_the_key(void **state) {
    (void)state;
    struct made made = make_plan('d');
    struct dpl_certificate certificate = certificate_of(&made);
    struct dpl_verdict verdict;
    char *text;
    certificate.insecure = true;
    assert_ok(made.run, dpl_certificate_text(made.run, &certificate, &text));
    assert_non_null(strstr(text, "NOT PRIVATE"));
    assert_ok(made.run, dpl_certificate_verify(made.run, text, strlen(text), &verdict));
    assert_false(verdict.valid);
    dpl_text_free(text);
    unmake(&made);
}

static void only_public_options_are_written(void **state) {
    (void)state;
    struct made made = make_plan('d');
    struct dpl_certificate certificate = certificate_of(&made);
    char *text = NULL;
    struct dpl_public_value option = {.name = "input", .text = "secret.csv"};
    certificate.options = &option;
    certificate.n_options = 1;
    assert_int_equal(dpl_certificate_text(made.run, &certificate, &text), DPL_REFUSED);
    assert_null(text);
    certificate.n_options = 0;
    option.name = "trips_read";
    certificate.numbers = &option;
    assert_int_equal(dpl_certificate_text(made.run, &certificate, &text), DPL_REFUSED);
    assert_null(text);
    certificate.n_numbers = 0; // the sensitivity of topk is then unknown
    assert_int_equal(dpl_certificate_text(made.run, &certificate, &text), DPL_BAD_DATA);
    assert_null(text);
    size_t i;
    json_t *name,
        *names = json_object_get(
            json_object_get(json_object_get(json_object_get(schema, "properties"), "options"),
                            "propertyNames"),
            "enum");
    json_array_foreach(names, i, name) {
        assert_true(dpl_option_public(json_string_value(name)));
        assert_true(is_an_option(json_string_value(name)));
    }
    assert_true(i > 10);
    unmake(&made);
}

static void without_a_ledger_it_is_not_composed(void **state) {
    (void)state;
    struct made made = make_plan('d');
    struct dpl_certificate certificate = certificate_of(&made);
    char *text, *summary;
    certificate.ledger = NULL;
    certificate.no_time = true;
    assert_ok(made.run, dpl_certificate_text(made.run, &certificate, &text));
    assert_non_null(strstr(text, "\"not composed with other runs\""));
    assert_non_null(strstr(text, "\"time\": \"none\""));
    assert_true(dpl_certificate_recognise(text, strlen(text)));
    json_t *json = json_loads(text, 0, NULL);
    assert_true(matches(schema, json));
    json_decref(json);
    assert_ok(made.run, dpl_certificate_summary(made.run, text, strlen(text), false, &summary));
    assert_non_null(strstr(summary, "not composed with other runs"));
    assert_non_null(strstr(summary, "300 steps"));
    dpl_text_free(summary);
    assert_ok(made.run, dpl_certificate_summary(made.run, text, strlen(text), true, &summary));
    assert_non_null(strstr(summary, "\"epsilon_alone\""));
    dpl_text_free(summary);
    dpl_text_free(text);
    unmake(&made);
}

/* ---- reading back what was tampered with ---- */

static json_t *member_of(json_t *json, size_t mechanism, const char *name) {
    json_t *object = json_array_get(json_object_get(json, "mechanisms"), mechanism);
    return strcmp(name, "request") ? object : json_object_get(object, "request");
}

enum { SIZE, LENGTH, TOPK, TRAIN }; // in a certificate with a measured size

static void each_lie_is_found(void **state) {
    (void)state;
    static const struct {
        int mechanism; // -1: the certificate itself
        bool request;
        const char *name, *value, *reason;
    } LIES[] = {
        {-1, false, "epsilon", "0.9", "more than the"},
        {-1, false, "delta", "1e-12", "more than the"},
        {-1, false, "epsilon_size", "0.01", "size: scale"},
        {-1, false, "unit", "\"user\"", "the option unit"},
        {-1, false, "unit_meaning",
         "\"a person: all rows and trips that name that user, in all files of the run\"",
         "another unit"},
        {-1, false, "trips_max", "4", "sensitivity"},
        {-1, false, "size", "{\"source\":\"measured\",\"units\":300000}", "rate is"},
        {-1, false, "size", "{\"source\":\"declared\",\"units\":200000}",
         "yet a mechanism measures it"},
        {-1, false, "numbers", "{}", "does not state"},
        {-1, false, "numbers", "{\"length_max\":38}", "topk: sensitivity"},
        {-1, false, "options", "{\"epsilon\":0.5}", "the option epsilon"},
        {-1, false, "options", "{\"epsilon\":\"inf\"}", "the option epsilon"},
        {-1, false, "epsilon_size", "\"infinity\"", "size: scale"},
        {-1, false, "options", "{\"size\":200000}", "yet it was measured"},
        {-1, false, "ledger",
         "{\"composed\":true,\"statement\":\"the sum over all releases of these very rows in the "
         "holder's ledger; releases of other data about the same people are not in it\","
         "\"epsilon\":0.5,\"delta\":1e-8,\"releases\":1}",
         "cannot cost less"},
        {-1, false, "sigma_given", "false", NULL}, // the truth
        {LENGTH, false, "sigma", "3", "its share"},
        {TRAIN, false, "sigma", "100", "its share"},
        {TRAIN, false, "steps", "150", "150 steps"},
        {TRAIN, false, "rate", "0.001", "rate is"},
        {TRAIN, false, "sensitivity", "1", "train: sensitivity"},
        {TRAIN, false, "epsilon_alone", "0.01", "alone it costs"},
        {TRAIN, true, "batch", "100", "rate is"},
        {TRAIN, true, "steps", "150", "300 steps"},
        {TRAIN, true, "epochs", "1", "either steps or epochs"},
        {TRAIN, true, "clip", "1", "train: sensitivity"},
        {TRAIN, true, "share", "0.1", "its share"},
        {SIZE, false, "sigma", "1000", "size: scale"},
        {SIZE, false, "sensitivity", "0.1", "by 1, not by"},
    };
    struct dpl_run *run = test_run(1);
    json_t *truth = certificate_json('m');
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) {
        json_t *json = json_deep_copy(truth), *object = json;
        if (LIES[i].mechanism >= 0)
            object = member_of(json, (size_t)LIES[i].mechanism, LIES[i].request ? "request" : "");
        assert_non_null(json_object_get(object, LIES[i].name));
        json_object_set_new(object, LIES[i].name, json_loads(LIES[i].value, JSON_DECODE_ANY, NULL));
        struct dpl_verdict verdict;
        assert_ok(run, verify(run, json, &verdict));
        bool found = verdict.valid && !LIES[i].reason;
        for (size_t r = 0; r < verdict.n_reasons; r++)
            found |= LIES[i].reason && strstr(verdict.reasons[r], LIES[i].reason) != NULL;
        if (!found)
            fail_msg("%s = %s: %s", LIES[i].name, LIES[i].value,
                     verdict.n_reasons ? verdict.reasons[0] : "held valid");
        assert_int_equal(verdict.valid, !LIES[i].reason);
        json_decref(json);
    }
    // A mechanism left out: what remains costs less than is claimed, but no longer what the
    // accountant said.
    json_array_remove(json_object_get(truth, "mechanisms"), TRAIN);
    struct dpl_verdict verdict;
    assert_ok(run, verify(run, truth, &verdict));
    assert_false(verdict.valid);
    json_decref(truth);
    dpl_run_free(run);
}

/* Where how many trips a user counts as was chosen, it is one released number, and sensitivities
 * follow from it. */
static void a_bound_that_is_not_the_chosen_one_is_found(void **state) {
    (void)state;
    enum { LENGTH_OF_USERS = 1, USERS_TABLE = 4 };
    static const struct {
        int mechanism; // -1: the certificate itself
        bool request;
        const char *name, *value, *reason;
    } LIES[] = {
        {-1, false, "trips_max", "4", "was found to count as 8 trips"},
        {-1, false, "trips_max", "4", "length: sensitivity"},
        {-1, false, "numbers", "{\"length_max\":37,\"trips_max\":4}", "as 4 trips"},
        {-1, false, "numbers", "{\"length_max\":37}", "nobody says"},
        {-1, false, "options", "{\"unit\":\"user\",\"trips-max\":8}", "at once"},
        {LENGTH_OF_USERS, false, "sensitivity", "2", "length: sensitivity"},
        {LENGTH_OF_USERS, true, "growth", "\"none\"", "length: sensitivity"},
        {USERS_TABLE, true, "growth", "\"root\"", "no mechanism released"},
        {USERS_TABLE, false, "sensitivity", "0.5", "no mechanism released"},
        {USERS_TABLE, false, "name", "\"others\"", "no mechanism released"},
    };
    struct dpl_run *run = test_run(1);
    json_t *truth = certificate_json('c');
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++) {
        json_t *json = json_deep_copy(truth), *object = json;
        struct dpl_verdict verdict;
        bool found = false;
        if (LIES[i].mechanism >= 0)
            object = member_of(json, (size_t)LIES[i].mechanism, LIES[i].request ? "request" : "");
        assert_non_null(json_object_get(object, LIES[i].name));
        json_object_set_new(object, LIES[i].name, json_loads(LIES[i].value, JSON_DECODE_ANY, NULL));
        assert_ok(run, verify(run, json, &verdict));
        for (size_t r = 0; r < verdict.n_reasons; r++)
            found |= strstr(verdict.reasons[r], LIES[i].reason) != NULL;
        if (!found)
            fail_msg("%s = %s: %s", LIES[i].name, LIES[i].value,
                     verdict.n_reasons ? verdict.reasons[0] : "held valid");
        assert_false(verdict.valid);
        json_decref(json);
    }
    // A number that is none of those to choose from, all that follows from it included.
    json_t *odd = json_deep_copy(truth), *length = member_of(odd, LENGTH_OF_USERS, "");
    struct dpl_verdict verdict;
    json_object_set_new(odd, "trips_max", json_integer(9));
    json_object_set_new(json_object_get(odd, "numbers"), "trips_max", json_integer(9));
    json_object_set_new(length, "sensitivity", json_real(3));
    json_object_set_new(member_of(odd, 2, ""), "sensitivity", json_real(9 * 37));
    assert_ok(run, verify(run, odd, &verdict));
    assert_int_equal(verdict.n_reasons, 1);
    assert_non_null(strstr(verdict.reasons[0], "none of those"));
    json_decref(odd);
    json_decref(truth);
    dpl_run_free(run);
}

/* Forms that no fit writes are refused, each number and sentence by itself. */
static void each_wrong_form_is_refused(void **state) {
    (void)state;
    static const struct {
        char how;
        const char *object, *name, *value; // object: a member, "request": that of a mechanism
    } FORMS[] = {
        {'m', "request", "share", "-0.1"},
        {'m', "request", "share", "\"infinity\""},
        {'m', "request", "clip", "-1"},
        {'m', "request", "batch", "-1"},
        {'m', "request", "epochs", "-1"},
        {'m', "request", "steps", "-1"},
        {'m', "request", "chance", "0.1"},
        {'m', "ledger", "new_data", "\"the holder says nothing of other data\""},
        {'m', "ledger", "releases", "0"},
        {'d', "roads", "sha256", "5"},
        {'d', "roads", "sha256", "\"0123\""},
        {'d', "roads", "travel", "\"fly\""},
        {'d', "roads", "license", "\"mine\""},
    };
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        json_t *json = certificate_json(FORMS[i].how), *object = json_object_get(json, "ledger");
        struct dpl_verdict verdict;
        assert_ok(run, verify(run, json, &verdict));
        if (!strcmp(FORMS[i].object, "request")) object = member_of(json, TRAIN, "request");
        if (!strcmp(FORMS[i].object, "roads")) object = json_object_get(json, "roads");
        json_object_set_new(object, FORMS[i].name,
                            json_loads(FORMS[i].value, JSON_DECODE_ANY, NULL));
        if (verify(run, json, &verdict) != DPL_BAD_DATA)
            fail_msg("%s.%s = %s was read", FORMS[i].object, FORMS[i].name, FORMS[i].value);
        json_decref(json);
    }
    dpl_run_free(run);
}

/* Visits every member of every object below `json`, in `whole`, and does something nasty to each.
 */
static size_t cases;
static void spoil(struct dpl_run *run, json_t *whole, json_t *json) {
    static const char *const NASTY[] = {
        NULL,           "null", "true",  "\"x\"", "[]", "{}", "-1", "1e308", "12345678901234567",
        "\"infinity\"", "0",    "1e-320"};
    size_t i;
    json_t *item;
    json_array_foreach(json, i, item) spoil(run, whole, item);
    if (!json_is_object(json)) return;
    json_t *copy = json_copy(json);
    const char *name;
    json_object_foreach(copy, name, item) {
        spoil(run, whole, item);
        for (size_t n = 0; n < sizeof NASTY / sizeof *NASTY; n++) {
            json_t *nasty = NASTY[n] ? json_loads(NASTY[n], JSON_DECODE_ANY, NULL) : NULL;
            if (nasty && json_equal(nasty, item)) {
                json_decref(nasty);
                continue;
            }
            if (nasty)
                json_object_set_new(json, name, nasty);
            else
                json_object_del(json, name);
            struct dpl_verdict verdict = {.epsilon = -7};
            enum dpl_status status = verify(run, whole, &verdict);
            bool regular = matches(schema, whole);
            if (status != DPL_OK && status != DPL_BAD_DATA)
                fail_msg("%s = %s: status %d: %s", name, NASTY[n] ? NASTY[n] : "missing",
                         (int)status, dpl_run_message(run));
            if (status == DPL_BAD_DATA)
                assert_true(strlen(dpl_run_message(run)) > 10 &&
                            verdict.epsilon < -6); // a sentence, never a number
            if (status == DPL_OK && verdict.valid && !regular)
                fail_msg("%s = %s: valid against the schema", name,
                         NASTY[n] ? NASTY[n] : "missing");
            if (status == DPL_OK) assert_true(verdict.epsilon >= 0);
            if (!NASTY[n] && json != json_object_get(whole, "options") &&
                json != json_object_get(whole, "numbers")) {
                assert_int_equal(status, DPL_BAD_DATA); // no member is optional
                if (strcmp(name, "request")) assert_false(regular);
            }
            cases++;
            json_object_set(json, name, item);
        }
    }
    json_decref(copy);
}

static void missing_and_nasty_members_give_sentences(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    json_t *json = certificate_json('m');
    spoil(run, json, json);
    assert_true(cases > 400);
    json_decref(json);
    dpl_run_free(run);
}

static void junk_gives_sentences(void **state) {
    (void)state;
    static const char *const JUNK[] = {"",
                                       "{",
                                       "[]",
                                       "null",
                                       "{}",
                                       "{\"dploc_certificate\": 2}",
                                       "{\"dploc_certificate\": NaN}",
                                       "{\"epsilon\": 1e999}",
                                       "{\"dploc_certificate\": 1, \"dploc_certificate\": 1}",
                                       "{\"dploc_certificate\": 99999999999999999999}",
                                       "\xff\xfe{}"};
    struct dpl_run *run = test_run(1);
    struct dpl_verdict verdict;
    char *summary = NULL, bytes[2000];
    for (size_t i = 0; i < sizeof JUNK / sizeof *JUNK; i++) {
        assert_int_equal(dpl_certificate_verify(run, JUNK[i], strlen(JUNK[i]), &verdict),
                         DPL_BAD_DATA);
        assert_true(strlen(dpl_run_message(run)) > 10);
        assert_int_equal(dpl_certificate_summary(run, JUNK[i], strlen(JUNK[i]), i % 2, &summary),
                         DPL_BAD_DATA);
    }
    uint64_t random = 11;
    json_t *json = certificate_json('d');
    char *text = json_dumps(json, 0);
    size_t length = strlen(text);
    for (size_t round = 0; round < test_soak(300); round++) { // random bytes, and cuts
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)test_random(&random);
        assert_int_equal(
            dpl_certificate_verify(run, bytes, test_random(&random) % sizeof bytes, &verdict),
            DPL_BAD_DATA);
        assert_int_equal(dpl_certificate_verify(run, text, test_random(&random) % length, &verdict),
                         DPL_BAD_DATA);
    }
    for (size_t depth = 10; depth < 1000000; depth *= 10) {
        char *deep = malloc(depth);
        assert_non_null(deep);
        memset(deep, '[', depth);
        assert_int_equal(dpl_certificate_verify(run, deep, depth, &verdict), DPL_BAD_DATA);
        free(deep);
    }
    free(text);
    json_decref(json);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certificates_follow_the_schema_and_verify),
        cmocka_unit_test(what_is_not_private_says_so),
        cmocka_unit_test(given_noise_says_where_epsilon_comes_from),
        cmocka_unit_test(infinities_are_compared_as_infinities),
        cmocka_unit_test(the_watermark_follows_from_the_key),
        cmocka_unit_test(only_public_options_are_written),
        cmocka_unit_test(without_a_ledger_it_is_not_composed),
        cmocka_unit_test(each_lie_is_found),
        cmocka_unit_test(a_bound_that_is_not_the_chosen_one_is_found),
        cmocka_unit_test(each_wrong_form_is_refused),
        cmocka_unit_test(missing_and_nasty_members_give_sentences),
        cmocka_unit_test(junk_gives_sentences),
    };
    return cmocka_run_group_tests(tests, load_schema, unload_schema);
}
