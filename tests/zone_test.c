/* Time zones: against the C library's own, and the two odd hours of the year. */
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/date.h"
#include "base/zone.h"

static const char *const ZONES[] = {
    "America/Los_Angeles", "Europe/Lisbon", "Asia/Shanghai", "Europe/Berlin",    "Australia/Sydney",
    "Asia/Kathmandu",      "UTC",           "Africa/Cairo",  "America/St_Johns", "Pacific/Chatham"};

static void offsets_agree_with_the_c_library(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    uint64_t random = 7;
    for (size_t z = 0; z < sizeof ZONES / sizeof *ZONES; z++) {
        struct dpl_zone *zone;
        assert_ok(run, dpl_zone_open(run, ZONES[z], &zone));
        setenv("TZ", ZONES[z], 1);
        tzset();
        for (size_t i = 0; i < test_soak(3000); i++) {
            time_t moment =
                (time_t)(test_random(&random) % 4102444800u); // 1970 to 2100: table and rule
            struct tm parts;
            assert_non_null(localtime_r(&moment, &parts));
            if (dpl_zone_offset_s(zone, moment) != parts.tm_gmtoff)
                fail_msg("%s at %lld: %d, not %ld", ZONES[z], (long long)moment,
                         dpl_zone_offset_s(zone, moment), parts.tm_gmtoff);
        }
        dpl_zone_free(zone);
    }
    unsetenv("TZ");
    tzset();
    dpl_run_free(run);
}

static void local_times_come_back(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_zone *zone;
    assert_ok(run, dpl_zone_open(run, "America/Los_Angeles", &zone));
    const int64_t spring_s = 1205056800,
                  autumn_s = 1225616400; // 2008-03-09 10:00Z, 2008-11-02 09:00Z
    assert_int_equal(dpl_zone_offset_s(zone, spring_s - 1), -8 * 3600);
    assert_int_equal(dpl_zone_offset_s(zone, spring_s), -7 * 3600);
    assert_int_equal(dpl_zone_offset_s(zone, autumn_s), -8 * 3600);
    // 01:30 local in the autumn night happens twice: the first one counts.
    assert_int_equal(dpl_zone_utc_s(zone, autumn_s - 8 * 3600 + 1800), autumn_s - 1800);
    // 02:30 in the spring night never happens: read as if the clocks stood still.
    assert_int_equal(dpl_zone_utc_s(zone, spring_s - 8 * 3600 + 1800), spring_s + 1800);
    uint64_t random = 3;
    for (int i = 0; i < 5000; i++) {
        int64_t utc_s = (int64_t)(test_random(&random) % 4102444800u),
                local_s = utc_s + dpl_zone_offset_s(zone, utc_s);
        int64_t back_s = dpl_zone_utc_s(zone, local_s);
        assert_true(back_s == utc_s || back_s == utc_s - 3600); // the hour that comes twice
        assert_int_equal(back_s + dpl_zone_offset_s(zone, back_s), local_s);
    }
    dpl_zone_free(zone);
    dpl_run_free(run);
}

static void dates_count_days(void **state) {
    (void)state;
    assert_int_equal(dpl_days_from_date(1970, 1, 1), 0);
    assert_int_equal(dpl_days_from_date(2000, 3, 1), 11017);
    assert_int_equal(dpl_days_from_date(2024, 2, 29), 19782);
    for (int64_t days = -800000; days < 800000; days += 13) {
        int64_t year;
        int month, day;
        dpl_date_from_days(days, &year, &month, &day);
        assert_int_equal(dpl_days_from_date(year, month, day), days);
    }
}

static void bad_names_are_refused(void **state) {
    (void)state;
    static const char *const BAD[] = {
        "",       "Europe/Atlantis", "../../etc/passwd", "/etc/passwd",
        "Europe", "zone.tab",        "Europe/Lisbon\n"};
    struct dpl_run *run = test_run(1);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct dpl_zone *zone = NULL;
        dpl_run_begin(run);
        assert_int_equal(dpl_zone_open(run, BAD[i], &zone), DPL_USAGE);
        assert_null(zone);
        assert_non_null(strstr(dpl_run_message(run), "zone"));
    }
    dpl_run_free(run);
}

/* Every day of four hundred years, and what is none. */
static void dates_are_parsed(void **state) {
    (void)state;
    static const char *const WRONG[] = {"2025-02-29", "2100-02-29", "2025-00-10", "2025-13-10",
                                        "2025-04-31", "2025-04-00", "2025/04/01", "2025-4-01",
                                        "",           "2",          "2025",       "2025-",
                                        "2025-04-0"};
    int64_t day;
    for (int64_t days = -10000; days < 136097; days++) {
        char text[32];
        int64_t year;
        int month, of_month;
        dpl_date_from_days(days, &year, &month, &of_month);
        snprintf(text, sizeof text, "%04d-%02d-%02d", (int)year, month, of_month);
        assert_true(dpl_date_parse(text, '-', &day));
        assert_int_equal(day, days);
    }
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++)
        assert_false(dpl_date_parse(WRONG[i], '-', &day));
    assert_true(dpl_date_parse("2024/02/29 12:00", '/', &day));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_parsed),      cmocka_unit_test(offsets_agree_with_the_c_library),
        cmocka_unit_test(local_times_come_back), cmocka_unit_test(dates_count_days),
        cmocka_unit_test(bad_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
