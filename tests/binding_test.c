/* Options as text and back: every value to the last bit, and nothing else is taken for one. Which
 * members are bound, resume_test says; here it is how they are written and read. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fit/binding.h"

static const char WEIRD[] = "a=\"1\"\nb%41 \t\xC3\xA9\x7F";

/* Every kind of value, at values that a careless writer or reader would lose. */
struct options {
    struct dpl_read_options read;
    struct dpl_area area;
    struct dpl_fit_options fit;
};

static struct options odd_options(void) {
    struct options odd = {dpl_read_defaults(), dpl_area_defaults(), dpl_fit_defaults()};
    odd.read.columns = WEIRD;
    odd.read.trip_column = "";
    odd.read.separator = NULL;
    odd.read.strict = true;
    odd.read.gap_limit_s = -1;
    odd.area.south_deg = -0x1.fffffffffffffp-2;
    odd.area.west_deg = 1e-310;
    odd.area.cell_m = INFINITY;
    odd.area.slot_s = -7;
    strcpy(odd.area.zone, "Etc/GMT+5");
    odd.fit.method = "none"; // a word that also says that there is none
    odd.fit.size = INT64_MIN;
    odd.fit.no_destination = true;
    odd.fit.insecure_seed = UINT64_MAX;
    odd.fit.ledger = "secret.ledger";
    odd.fit.travel = DPL_TRAVEL_WALK;
    odd.fit.budget.unit = DPL_UNIT_USER;
    odd.fit.budget.trips_max = INT64_MAX;
    odd.fit.budget.delta = 5e-324;
    return odd;
}

static char *text_of(struct dpl_run *run, const struct options *options, bool shared) {
    char *text = NULL;
    assert_ok(run, (shared ? dpl_option_shared : dpl_option_binding)(
                       run, &options->read, &options->area, &options->fit, &text));
    return text;
}

static void assert_text(const char *is, const char *expected) {
    if (expected)
        assert_string_equal(is, expected);
    else
        assert_null(is);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct options odd = odd_options();
    struct dpl_option_set set;
    char *text = text_of(run, &odd, false);
    assert_ok(run, dpl_option_read(run, "here", text, &set));
    assert_text(set.read.columns, WEIRD);
    assert_text(set.read.trip_column, "");
    assert_text(set.read.separator, NULL);
    assert_true(set.read.strict && !set.read.drop_points);
    assert_int_equal(set.read.gap_limit_s, -1);
    assert_true(set.area.south_deg == odd.area.south_deg);
    assert_true(set.area.west_deg == odd.area.west_deg && isinf(set.area.cell_m));
    assert_int_equal(set.area.slot_s, -7);
    assert_text(set.area.zone, "Etc/GMT+5");
    assert_text(set.fit.method, "none");
    assert_true(set.fit.size == INT64_MIN && set.fit.insecure_seed == UINT64_MAX);
    assert_true(set.fit.no_destination);
    assert_text(set.fit.ledger, "secret.ledger");
    assert_int_equal(set.fit.travel, DPL_TRAVEL_WALK);
    assert_int_equal(set.fit.budget.unit, DPL_UNIT_USER);
    assert_true(set.fit.budget.trips_max == INT64_MAX && set.fit.budget.delta == 5e-324);
    const struct options again = {set.read, set.area, set.fit};
    char *second = text_of(run, &again, false);
    assert_string_equal(second, text);
    dpl_text_free(second), dpl_text_free(text);
    dpl_option_set_free(&set);
    dpl_run_free(run);
}

/* PRIVACY: a plan is public, and workers need none of what the driver alone decides. */
static void workers_are_not_told_all(void **state) {
    (void)state;
    static const char *const DRIVERS[] = {"roads", "travel", "insecure_seed", "ledger", "dataset"};
    struct dpl_run *run = test_run(1);
    const struct options odd = odd_options();
    char *all = text_of(run, &odd, false), *shared = text_of(run, &odd, true), name[64];
    for (size_t i = 0; i < sizeof DRIVERS / sizeof *DRIVERS; i++) {
        snprintf(name, sizeof name, "dpl_fit_options.%s=", DRIVERS[i]);
        assert_non_null(strstr(all, name));
        assert_null(strstr(shared, name));
    }
    for (size_t i = 0; dpl_option_member(i); i++) {
        const struct dpl_option_member *member = dpl_option_member(i);
        assert_true(member->owner && !strncmp(member->owner, "dpl_", 4));
        snprintf(name, sizeof name, "%s.%s=", member->owner, member->name);
        assert_int_equal(strstr(all, name) != NULL, member->free == NULL);
    }
    assert_null(strstr(shared, "secret"));
    dpl_text_free(all), dpl_text_free(shared);
    dpl_run_free(run);
}

static void members_that_are_missing_have_their_defaults(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const struct options plain = {dpl_read_defaults(), dpl_area_defaults(), dpl_fit_defaults()};
    struct dpl_option_set set;
    assert_ok(run, dpl_option_read(run, "here", "\n\ndpl_area.slot_s=30\n\n", &set));
    assert_int_equal(set.area.slot_s, 30);
    struct options read = {set.read, set.area, set.fit};
    read.area.slot_s = plain.area.slot_s;
    char *a = text_of(run, &plain, false), *b = text_of(run, &read, false);
    assert_string_equal(a, b);
    dpl_text_free(a), dpl_text_free(b);
    dpl_option_set_free(&set);
    dpl_run_free(run);
}

static void refused(struct dpl_run *run, const char *text) {
    struct dpl_option_set set;
    dpl_run_begin(run);
    if (dpl_option_read(run, "the plan", text, &set) != DPL_BAD_DATA) fail_msg("taken: %s", text);
    assert_non_null(strstr(dpl_run_message(run), "the plan: its options are not those of this"));
    dpl_option_set_free(&set);
}

static void what_nobody_wrote_is_refused(void **state) {
    (void)state;
    static const char *const TEXTS[] = {
        "dpl_area.slot_s", "=", "dpl_area.slot_s=", "dpl_area.slot_s=30s", "dpl_area.slot_s =30",
        "dpl_area.slots=30", "area.slot_s=30", "dpl_area.slot_=30", "dpl_area.slot_s_=30",
        "dpl_area.slot_s=30\nrubbish", "dpl_area.cell_m=1,5",
        "dpl_area.cell_m=", "dpl_budget.insecure_seed=true",
        "dpl_budget.insecure_seed=", "dpl_budget.unit=trip",
        // What may change between a stop and what goes on is no option of a plan.
        "dpl_fit_options.checkpoint=none", "dpl_fit_options.resume=yes",
        "dpl_fit_options.budget=none", "dpl_read_options.hold_out=none",
        // Texts are in quotes, and of letters, digits and %xx.
        "dpl_fit_options.method=bridge", "dpl_fit_options.method=\"bridge",
        "dpl_fit_options.method=bridge\"", "dpl_fit_options.method=\"",
        "dpl_fit_options.method=\"a-b\"", "dpl_fit_options.method=\"%4\"",
        "dpl_fit_options.method=\"%\"", "dpl_fit_options.method=\"%4g\"",
        "dpl_fit_options.method=\"%g4\"", "dpl_fit_options.method=\"%4A\"",
        "dpl_fit_options.method=\"%00\"", "dpl_fit_options.method=None", "dpl_area.zone=none",
        "dpl_area.zone=\"a b\""};
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) refused(run, TEXTS[i]);
    dpl_run_free(run);
}

/* Texts of 4,095 bytes, and a zone that fills its array; one more is refused. */
static void texts_have_a_limit(void **state) {
    (void)state;
    enum { MOST = 4095, ZONE_MOST = DPL_ZONE_NAME - 1 };
    static char text[MOST + 64];
    struct dpl_run *run = test_run(1);
    struct dpl_option_set set;
    for (int over = 0; over < 2; over++) {
        snprintf(text, sizeof text, "dpl_fit_options.method=\"%0*d\"", MOST + over, 1);
        if (over)
            refused(run, text);
        else
            assert_ok(run, dpl_option_read(run, "here", text, &set));
        if (!over) assert_int_equal(strlen(set.fit.method), MOST);
        if (!over) dpl_option_set_free(&set);
        snprintf(text, sizeof text, "dpl_area.zone=\"%0*d\"", ZONE_MOST + over, 1);
        if (over)
            refused(run, text);
        else
            assert_ok(run, dpl_option_read(run, "here", text, &set));
        if (!over) assert_int_equal(strlen(set.area.zone), ZONE_MOST);
        if (!over) dpl_option_set_free(&set);
    }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(workers_are_not_told_all),
        cmocka_unit_test(members_that_are_missing_have_their_defaults),
        cmocka_unit_test(what_nobody_wrote_is_refused),
        cmocka_unit_test(texts_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
