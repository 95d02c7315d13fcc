/* The privacy filter: paths never overspend, nodes are noised once, and the noise is what a part
 * pays for. */
#include "support.h"

#include <math.h>
#include <stdlib.h>

#include "noise/filter.h"

enum { BINS = 100 };

static struct dpl_filter *open_filter(struct dpl_run *run, struct dpl_secret *secret,
                                      enum dpl_event_kind kind, double sigma, double sensitivity,
                                      uint64_t release) {
    const struct dpl_event event = {.name = "tree",
                                    .kind = kind,
                                    .sigma = sigma,
                                    .sensitivity = sensitivity,
                                    .rate = 1,
                                    .steps = 1};
    struct dpl_filter *filter;
    assert_ok(run, dpl_filter_open(run, secret, &event,
                                   (struct dpl_stream_id){DPL_PURPOSE_TEST, release, 0},
                                   !(sigma > 0), BINS, &filter));
    return filter;
}

static void paths_never_overspend(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    uint64_t seed = 9;
    for (size_t round = 0; round < test_soak(20); round++) {
        assert_ok(run, dpl_secret_from_seed(run, round, &secret));
        struct dpl_filter *filter = open_filter(run, &secret, DPL_EVENT_GAUSSIAN, 2, 10, 0);
        enum { NODES = 300 };
        uint32_t parent[NODES], node;
        uint64_t part[NODES];
        size_t n = 0, refused = 0;
        for (size_t tries = 0; tries < 4 * NODES && n < NODES; tries++) {
            uint32_t below = n ? (uint32_t)(test_random(&seed) % n) : DPL_FILTER_NO_NODE;
            uint64_t asked = test_random(&seed) % (DPL_FILTER_WHOLE / 6);
            if (n > 20 && test_random(&seed) % 8 == 0)
                asked = dpl_filter_left(filter, below) +
                        test_random(&seed) % 2; // all of it, or one too many
            enum dpl_status status = dpl_filter_grow(run, filter, below, asked, &node);
            dpl_run_begin(run);
            refused += status == DPL_REFUSED;
            if (status != DPL_OK) continue;
            assert_int_equal(node, n);
            parent[n] = below, part[n++] = asked;
        }
        assert_true(n > 20 && refused > 0);
        for (size_t v = 0; v < n; v++) { // by adding up, not by what is left
            uint64_t spent = 0;
            for (uint32_t at = (uint32_t)v; at != DPL_FILTER_NO_NODE; at = parent[at])
                spent += part[at];
            assert_true(part[v] > 0 && spent <= DPL_FILTER_WHOLE);
            assert_true(spent + dpl_filter_left(filter, (uint32_t)v) == DPL_FILTER_WHOLE);
        }
        dpl_filter_close(filter);
    }
    dpl_run_free(run);
}

static void refuses_what_would_cost_twice(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    struct dpl_random *random;
    struct dpl_bins *bins;
    double noised[BINS];
    uint32_t root, other;
    assert_ok(run, dpl_secret_from_seed(run, 2, &secret));
    struct dpl_filter *filter = open_filter(run, &secret, DPL_EVENT_LAPLACE, 1, 5, 0),
                      *again = NULL;
    const struct dpl_event event = {.name = "tree",
                                    .kind = DPL_EVENT_LAPLACE,
                                    .sigma = 1,
                                    .sensitivity = 5,
                                    .rate = 1,
                                    .steps = 1};
    struct dpl_event wrong = event;
    assert_int_equal(dpl_filter_open(run, &secret, &event,
                                     (struct dpl_stream_id){DPL_PURPOSE_TEST, 0, 0}, false, BINS,
                                     &again),
                     DPL_REFUSED); // the same noise
    assert_int_equal(dpl_filter_open(run, &secret, &event,
                                     (struct dpl_stream_id){DPL_PURPOSE_TEST, 1, 0}, true, BINS,
                                     &again),
                     DPL_REFUSED); // without noise
    wrong.sigma = 0;
    assert_int_equal(dpl_filter_open(run, &secret, &wrong,
                                     (struct dpl_stream_id){DPL_PURPOSE_TEST, 2, 0}, false, BINS,
                                     &again),
                     DPL_REFUSED);
    wrong = event, wrong.kind = DPL_EVENT_POISSON;
    assert_int_equal(dpl_filter_open(run, &secret, &wrong,
                                     (struct dpl_stream_id){DPL_PURPOSE_TEST, 3, 0}, false, BINS,
                                     &again),
                     DPL_REFUSED);
    assert_null(again);
    assert_ok(run, dpl_filter_random(run, filter, &random));
    assert_int_equal(dpl_filter_grow(run, filter, 0, 1, &root), DPL_REFUSED); // below nothing
    dpl_run_begin(run);
    assert_ok(run, dpl_filter_grow(run, filter, DPL_FILTER_NO_NODE, DPL_FILTER_WHOLE / 2, &root));
    assert_int_equal(dpl_filter_grow(run, filter, DPL_FILTER_NO_NODE, 1, &other),
                     DPL_REFUSED); // a second root would share the budget unseen
    assert_int_equal(dpl_filter_grow(run, filter, root, 0, &other), DPL_REFUSED);
    dpl_run_begin(run);
    assert_ok(run, dpl_bins_new(run, filter, &bins));
    assert_int_equal(dpl_filter_noise(run, filter, random, 1, bins, noised), DPL_REFUSED);
    dpl_run_begin(run);
    assert_ok(run, dpl_filter_noise(run, filter, random, root, bins, noised));
    assert_int_equal(dpl_filter_noise(run, filter, random, root, bins, noised), DPL_REFUSED);
    dpl_bins_free(bins);
    dpl_random_free(random);
    dpl_filter_close(filter);
    dpl_run_free(run);
}

/* Deviation of the noise of nodes with different parts, and no two nodes alike. */
static void noise_is_what_a_part_pays_for(void **state) {
    (void)state;
    enum { NODES = 400, COUNT = 7 };
    static const double SIGMA = 3, SENSITIVITY = 20;
    struct dpl_run *run = test_run(1);
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 3, &secret));
    for (int laplace = 0; laplace < 2; laplace++)
        for (int divided = 1; divided <= 9; divided += 4) {
            struct dpl_filter *filter =
                open_filter(run, &secret, laplace ? DPL_EVENT_LAPLACE : DPL_EVENT_GAUSSIAN, SIGMA,
                            SENSITIVITY, (uint64_t)(laplace * 10 + divided));
            struct dpl_random *random;
            uint32_t node = 0;
            double squares = 0, sum = 0, scale = 0;
            struct dpl_bins *bins;
            double first = 0;
            assert_ok(run, dpl_filter_random(run, filter, &random));
            assert_ok(run, dpl_bins_new(run, filter, &bins));
            assert_ok(run, dpl_filter_grow(run, filter, DPL_FILTER_NO_NODE, 1, &node));
            for (int i = 0; i < NODES; i++) {
                double noised[BINS];
                for (size_t walk = 0; walk < BINS * COUNT; walk++) dpl_bins_add(bins, walk % BINS);
                assert_ok(run, dpl_filter_grow(
                                   run, filter, 0,
                                   DPL_FILTER_WHOLE / (uint64_t)divided - (divided == 1), &node));
                assert_ok(run, dpl_filter_noise(run, filter, random, node, bins, noised));
                scale = dpl_filter_scale(filter, node);
                if (i == 0)
                    first = noised[0];
                else
                    assert_true(noised[0] < first || noised[0] > first);
                for (int b = 0; b < BINS; b++) {
                    double noise = noised[b] - COUNT;
                    squares += noise * noise, sum += noise;
                }
            }
            double n = NODES * BINS,
                   expected = SIGMA * SENSITIVITY * (laplace ? divided : sqrt(divided));
            assert_true(scale >= expected && scale < expected * (1 + 1e-9));
            double deviation = expected * (laplace ? sqrt(2) : 1);
            // The mean of n squares deviates by sqrt(2/n) of it (Gaussian) or sqrt(5/n) (Laplace):
            // five of these.
            assert_near(squares / n / (deviation * deviation), 1, 5 * sqrt((laplace ? 5 : 2) / n));
            assert_near(sum / n / deviation, 0, 5 / sqrt(n));
            dpl_bins_free(bins);
            dpl_random_free(random);
            dpl_filter_close(filter);
        }
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_never_overspend),
        cmocka_unit_test(refuses_what_would_cost_twice),
        cmocka_unit_test(noise_is_what_a_part_pays_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
