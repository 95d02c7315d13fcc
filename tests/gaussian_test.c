/* The exactly rounded Gaussian: the error bound, the exact redo against numbers computed elsewhere,
 * the same bits on every path, and the distribution. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/gaussian.h"
#include "noise/gaussian_inner.h"

/* The kernel of the AVX-512 path, eight lanes, in whatever instructions this build has: its logic
 * is tested on processors that lack AVX-512. */
dpl_gaussian_kernel eight_lanes;
#define LANES 8
#define KERNEL eight_lanes
#define VECTOR_SQRT(x) each_sqrt(x)
#define VECTOR_MASK(mask) each_sign(mask)
#define VECTOR_DOUBLE(x) __builtin_convertvector(x, vector_f64)
typedef double eight_f64 __attribute__((vector_size(64)));
typedef int64_t eight_i64 __attribute__((vector_size(64)));

static eight_f64 each_sqrt(eight_f64 x) {
    for (int i = 0; i < 8; i++) x[i] = sqrt(x[i]);
    return x;
}

static unsigned each_sign(eight_i64 mask) {
    unsigned bits = 0;
    for (int i = 0; i < 8; i++) bits |= (unsigned)(mask[i] < 0) << i;
    return bits;
}

#include "noise/gaussian_vector.h"

static const double PI = 3.14159265358979323846;
static const long double LONG_PI = 3.14159265358979323846264338327950288L;

static struct dpl_random *seeded(struct dpl_run *run, uint64_t seed) {
    struct dpl_secret secret;
    struct dpl_random *random;
    assert_ok(run, dpl_secret_from_seed(run, seed, &secret));
    assert_ok(run, dpl_random_new(run, &secret, &random));
    return random;
}

static struct dpl_gaussian_job job_of(double sigma) {
    return (struct dpl_gaussian_job){sigma, DPL_GAUSSIAN_RELATIVE, sigma * DPL_GAUSSIAN_ABSOLUTE};
}

/* ---- the bound ---- */

/* The coefficients are the nearest doubles of the series'. */
static void coefficients_are_the_series(void **state) {
    (void)state;
    const double sines[] = DPL_SIN_TERMS, cosines[] = DPL_COS_TERMS, logs[] = DPL_LOG_TERMS;
    long double term = 1;
    for (int i = 0; i < 2 * DPL_TRIG_DEGREE; i++) {
        double have = i % 2 ? sines[i / 2] : cosines[i / 2];
        long double want = i / 2 % 2 ? -term : term;
        assert_true(fabsl(have - want) <= fabsl(want) * 0x1p-53L * 1.01L);
        term *= 2 * LONG_PI / (i + 1);
    }
    for (int i = 0; i < DPL_LOG_DEGREE; i++) assert_true(logs[i] == 1.0 / (2 * i + 3));
    assert_true(fabsl(DPL_LN2 - logl(2)) <= 0x1p-54L);
}

/* sqrt(-2 ln U) for U = w * 2^-64, U below 1, in 64-bit mantissas. */
static long double oracle_radius(uint64_t w) {
    if (w >> 63) return sqrtl(-2 * log1pl(-(long double)(0 - w) * 0x1p-64L));
    return sqrtl(-2 * logl((long double)w * 0x1p-64L));
}

/* The error of both numbers over their bound, for both ends of what the words leave open. */
static double worst_share(const struct dpl_gaussian_job *job, uint64_t w0, uint64_t w1) {
    double value[2], bound, worst = 0;
    if (!dpl_gaussian_pair(job, w0, w1, value, &bound)) return 0;
    for (uint64_t end = 0; end < 2; end++) {
        long double radius = oracle_radius(w0 + end),
                    angle = 2 * LONG_PI * ((long double)(int64_t)w1 + (long double)end) * 0x1p-64L;
        long double off = fmaxl(fabsl(job->sigma * radius * cosl(angle) - value[0]),
                                fabsl(job->sigma * radius * sinl(angle) - value[1]));
        worst = fmax(worst, (double)(off / bound));
    }
    return worst;
}

/* docs/PRIVACY.md derives 17 of the 32 units that the bound allows; the worst seen is about 11,
 * where the digits of U end. */
static void the_bound_holds(void **state) {
    (void)state;
    struct dpl_gaussian_job job = job_of(1000);
    uint64_t seed = 11, edge = (uint64_t)1 << 47, root = 0xB504F333F9DE6484u;
    double worst = 0;
    for (size_t i = 0; i < test_soak(300000); i++) {
        uint64_t w0 = test_random(&seed), w1 = test_random(&seed),
                 small = test_random(&seed) % 4096;
        worst = fmax(worst, worst_share(&job, w0, w1));
        worst = fmax(worst, worst_share(&job, edge + small, w1));         // far tail
        worst = fmax(worst, worst_share(&job, 0 - edge - 1 - small, w1)); // near the middle
        worst = fmax(worst, worst_share(&job, (root >> (small % 16)) - 2048 + small,
                                        w1)); // where exponents change
        worst = fmax(worst, worst_share(&job, w0 >> (small % 17), w1));
        worst = fmax(
            worst,
            worst_share(&job, w0, (test_random(&seed) << 61) - 2048 + small)); // eighths of a turn
    }
    print_message("    worst error: %.1f of 32 units\n", 32 * worst);
    assert_true(worst > 2.0 / 32); // the oracle does see errors
    assert_true(worst <= 17.0 / 32);
}

static void edges_are_in_doubt(void **state) {
    (void)state;
    struct dpl_gaussian_job job = job_of(1000);
    const uint64_t edge = (uint64_t)1 << 47,
                   in_doubt[] = {0, 1, edge - 1, 0 - edge + 1, UINT64_MAX},
                   fine[] = {edge, 0 - edge};
    double value[2], bound;
    for (size_t i = 0; i < 5; i++)
        assert_false(dpl_gaussian_pair(&job, in_doubt[i], 5, value, &bound));
    for (size_t i = 0; i < 2; i++) assert_true(dpl_gaussian_pair(&job, fine[i], 5, value, &bound));
}

/* ---- the exact redo ---- */

/* Computed with 2000 binary digits by another program (mpmath). */
static const struct {
    size_t n_words;
    uint64_t u[6], v[6];
    double sigma;
    long long x, y;
} GOLDEN[] = {
    {3,
     {0x4164D8399F767C45u, 0x5BC8FBBCBDE5C099u, 0xB0C11FDECB91CE37u},
     {0xD76D4330F1446BEAu, 0xA6EB8C9EBD69FE29u, 0x87B0B125EC1D7DA0u},
     0x1.0000000000000p+46,
     63222964520072LL,
     -97563657141530LL},
    {3,
     {0xD7210DFF076CE2EFu, 0xC6A5387777330BDBu, 0x3FC1EA36F17FD374u},
     {0x0D464138A6233255u, 0x2827688DE6A16A3Bu, 0x5F2DD97F1CFB10F6u},
     1000000.0,
     558784LL,
     188781LL},
    {3,
     {0xDE5271007814E8A2u, 0x617959CE3F1F65A8u, 0x1A1AFE878B33E968u},
     {0x3FD4235992EDCF45u, 0xBB2EDB20035B7399u, 0x687C966C377B9AA2u},
     0x1.0000000000000p+0,
     0LL,
     1LL},
    {3,
     {0x2E9C82B1478C281Du, 0xDE11CC9DEA959C21u, 0x63B229F1C4069545u},
     {0xC30D8B7628DBD25Eu, 0x126A1E48CC11D357u, 0x9E30691C238642EAu},
     0x1.3333333333333p-2,
     0LL,
     -1LL},
    {3,
     {0x71E0C07E9E115E4Bu, 0x21DA8978206F5C66u, 0xF8EB18B900745130u},
     {0x015C33B2DF1461AAu, 0xC60A3CAB359EEEFBu, 0xF5CAE3BF3729C619u},
     1000000000.0,
     1272122531LL,
     42483614LL},
    {3,
     {0x2A759159FB7FF337u, 0x2A9EBA0CDF561D80u, 0x504B74BA4A0FE75Du},
     {0x32EA6928F6236BF2u, 0xE049548E8A0A8C96u, 0xA02FDAA1AD864C44u},
     0x1.0000000000000p+46,
     42104192144474LL,
     126571028169136LL},
    {3,
     {0x2E81D66D346C6E2Bu, 0xF7F35634F0E3CD97u, 0x3266AA3BB0CDE917u},
     {0xF7108E96F770C226u, 0x621AEF57E4CC4132u, 0x0585A01C4C7D6DF0u},
     1000000.0,
     1802691LL,
     -401803LL},
    {3,
     {0x6A3753915C76F18Au, 0xEF901B932A7C1880u, 0x43892DFC254CB864u},
     {0x54F46A6910ACFF00u, 0xD14125844D25DEB3u, 0x960D5A8F9A656AAFu},
     0x1.0000000000000p+0,
     -1LL,
     1LL},
    {3,
     {0x9892139600DDB74Du, 0xB52A43ABAD8D194Au, 0x10E6D8E6568068B9u},
     {0x5AF84E6B4F596727u, 0x4E5A3A26D18A669Au, 0xB24891917B121DC5u},
     0x1.3333333333333p-2,
     0LL,
     0LL},
    {3,
     {0x2F4D4C8650D7D13Fu, 0x78F845F57B3120DFu, 0x2D1634B4B4653252u},
     {0x419521FE0E979CF3u, 0xF06313FFF9A01FE8u, 0xF3001CEE05DA8467u},
     1000000000.0,
     -71362465LL,
     1836344001LL},
    {3,
     {0x5B8E8FB2BFF29101u, 0x677FD139D84A1D3Au, 0x8C8F95EF04A012E8u},
     {0x6B384309C9A937A6u, 0x60597BDC5DBE4409u, 0xD75B1E249419CF4Du},
     0x1.0000000000000p+46,
     -88068096084012LL,
     49264374948885LL},
    {3,
     {0x73EC28D00252F615u, 0xB52FA53C0BF64EF7u, 0x9FABA8272E50BD4Eu},
     {0xF453324EF486AB73u, 0x1E782196324F3E81u, 0x3EFF8B3FC177F113u},
     1000000.0,
     1207448LL,
     -355783LL},
    {3,
     {0xD1CA4DC4EDFDE416u, 0x76531737F129C8C6u, 0x8332F05A58296818u},
     {0xE488B6C85AD3BA32u, 0x403A960A8652DBD0u, 0x767D5274C68DEB5Du},
     0x1.0000000000000p+0,
     0LL,
     0LL},
    {3,
     {0x96FABB7B1BA95A54u, 0xC7EEC61BBF9703C0u, 0x5E0730B3CC170C31u},
     {0x4BBDBB01DC14ED57u, 0x6ED78F5D0960AFE9u, 0xFA749692F21FF5EBu},
     0x1.3333333333333p-2,
     0LL,
     0LL},
    {3,
     {0x355F2AF41757905Eu, 0x834C1B69573AC59Au, 0x5CD5061C9C5F319Eu},
     {0x25F02628EB07C30Du, 0x4692BA0357079670u, 0xB3DE08F9EC983704u},
     1000000000.0,
     1057034559LL,
     1420728581LL},
    {3,
     {0x17921E6C8B8E8F4Eu, 0xAF9B74F84FFCBF42u, 0x4E613A365119CDCCu},
     {0xCC7C6D812D6F2EFCu, 0xA07657D61404AB1Eu, 0xB89C4E56261C374Bu},
     0x1.0000000000000p+46,
     46366056295705LL,
     -146532474663177LL},
    {3,
     {0x4F2E84FCB06DBEE0u, 0x7BD9E8A1FF297D0Eu, 0xB85A5CD22959FEA3u},
     {0x14B9ADB50C6DEA3Du, 0x99C4258BFC985000u, 0xEC717F158895787Fu},
     1000000.0,
     1337988LL,
     746091LL},
    {3,
     {0x0825C7CC67E84707u, 0xBD953DC23CC21779u, 0x58056ED0980DC6FFu},
     {0x400DB00DD3881A50u, 0xA6A5BC9974A677C6u, 0x2547F19C6BF84914u},
     0x1.0000000000000p+0,
     0LL,
     3LL},
    {3,
     {0xFAA30FAC0E42D43Cu, 0xA36939EFEA83854Au, 0xCD39E15808606AF8u},
     {0x558D2ADB7E5A3930u, 0x3501E088D6A34D3Eu, 0xFB368220216D27A2u},
     0x1.3333333333333p-2,
     0LL,
     0LL},
    {3,
     {0x90656C8FBB4E5C11u, 0x21FDAC3AF325FFBEu, 0xE580C35EA161D909u},
     {0x69F0441EC9BAFE62u, 0x2B37D8171B4C24C2u, 0x5F7CC5D86F3F0240u},
     1000000000.0,
     -917072209LL,
     551553988LL},
    {3,
     {0xFFFFFFFFFFFFFFFFu, 0xFFFFFFFFFFFFFFFFu, 0xFFFFFFFFFFFFFFFAu},
     {0x0F0B97522634F16Fu, 0x6BAF71D7D8407B1Au, 0x2425D75A4B78DC3Du},
     0x1.0000000000000p+46,
     0LL,
     0LL},
    {3,
     {0xFFFFFFFFFFFFFFFFu, 0xEC08693C7401F5CEu, 0x9ED2AA0CFFD21F09u},
     {0x2000000000000000u, 0x2B56955DDA2D3B3Du, 0x85AE8770F9DBA1DBu},
     0x1.0000000000000p+46,
     4576LL,
     4576LL},
    {3,
     {0x0000000000000001u, 0xF5CB2AFC741B324Du, 0xB057C1627CF7FCF6u},
     {0x4000000000000000u, 0x5154EF5FBAC0D757u, 0x462731417AA286ACu},
     0x1.0000000000000p+46,
     0LL,
     657775825668391LL},
    {3,
     {0x0000785737974A80u, 0xE6E053F7675EBE3Bu, 0x1CD0C151258170F9u},
     {0x1FFFFFFFFFFFFFFFu, 0xD272324860831EF2u, 0x8820E3BDFD06F9F6u},
     0x1.0000000000000p+46,
     242187152247626LL,
     242187152247626LL},
    {3,
     {0x8000000000000000u, 0x0000000000000000u, 0x0000000000000001u},
     {0x8000000000000000u, 0x0000000000000000u, 0x0000000000000001u},
     0x1.0000000000000p+46,
     -82852864666609LL,
     0LL},
    {3,
     {0x7FFFFFFFFFFFFFFFu, 0xFFFFFFFFFFFFFFFFu, 0xFFFFFFFFFFFFFFFFu},
     {0x6000000000000000u, 0x0000000000000007u, 0x0000000000000001u},
     0x1.0000000000000p+46,
     -58585822446491LL,
     58585822446491LL},
    {6,
     {0x0000000000000000u, 0x0000000000000009u, 0x2DECE95AF5B67E6Eu, 0xEFE8B3B5A080C6A5u,
      0xDE28123C7FD39898u, 0x2E1C5D3A56A68B41u},
     {0x7DEAAB6416D1B5ACu, 0x83E2C32845B61DF2u, 0x8C5050EAC832652Eu, 0x80B91B2EDE0D0FC5u,
      0x1027E5D35C7FE058u, 0xCB8F1137C938C68Du},
     0x1.0000000000000p+46,
     -924378045974334LL,
     47306923589699LL},
    {6,
     {0x0000000000000000u, 0x0000000000000000u, 0x0000000000000000u, 0x0000000000000001u,
      0x5B0F13B0C65FB8A2u, 0x96655F23B1D117B7u},
     {0x08C9196DA9FD1CE9u, 0x4E424B92C277AF32u, 0x8F2F39495D09DD29u, 0xAB163406B4581E37u,
      0xD5D1CBD047E5EB8Du, 0x43CDC3567C55DDE1u},
     0x1.0000000000000p+46,
     1293835453131616LL,
     283395287803536LL},
};

static void redo_matches_another_program(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof GOLDEN / sizeof *GOLDEN; i++) {
        int64_t noise[2] = {1, 1};
        assert_true(dpl_gaussian_settle(GOLDEN[i].u, GOLDEN[i].v, GOLDEN[i].n_words,
                                        GOLDEN[i].sigma, noise));
        assert_int_equal(noise[0], GOLDEN[i].x);
        assert_int_equal(noise[1], GOLDEN[i].y);
    }
}

/* Each precision is a refinement of the one before: no contradiction, whatever the digits. */
static void precisions_agree(void **state) {
    (void)state;
    uint64_t seed = 4, u[24], v[24];
    for (size_t i = 0; i < test_soak(60); i++) {
        for (size_t j = 0; j < 24; j++) u[j] = test_random(&seed), v[j] = test_random(&seed);
        if (i % 3 == 0) u[0] >>= 40;
        if (i % 3 == 1) u[0] |= UINT64_MAX << 20;
        int64_t first[2], again[2];
        assert_true(dpl_gaussian_settle(u, v, 3, 0x1p46, first));
        for (size_t n = 6; n <= 24; n *= 2) {
            assert_true(dpl_gaussian_settle(u, v, n, 0x1p46, again));
            assert_memory_equal(first, again, sizeof first);
        }
    }
}

/* Every pair has digits of its own beyond the 64th: blocks 32*pair ... of the far stream. At sigma
 * 2^60 (beyond what callers may ask for) they show in the results. */
static void far_digits_belong_to_one_pair(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 2);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 1, 1},
                         far_id = {DPL_PURPOSE_TEST + DPL_PURPOSE_FAR, 1, 1};
    size_t moved = 0;
    for (uint64_t pair = 0; pair < 400; pair++) {
        int64_t noise[3][2];
        for (uint64_t other = 0; other < 2; other++) {
            uint64_t near[2], beyond[4];
            assert_ok(run, dpl_random_words(run, random, id, pair, 1, near));
            assert_ok(run, dpl_random_words(run, random, far_id, 32 * (pair + other), 2, beyond));
            const uint64_t u[3] = {near[0], beyond[0], beyond[2]},
                           v[3] = {near[1], beyond[1], beyond[3]};
            assert_true(dpl_gaussian_settle(u, v, 3, 0x1p60, noise[other]));
        }
        assert_ok(run, dpl_gaussian_exact(run, random, id, pair, 0x1p60, noise[2]));
        assert_memory_equal(noise[0], noise[2], sizeof noise[0]);
        moved += memcmp(noise[1], noise[2], sizeof noise[1]) != 0;
    }
    assert_true(moved > 20);
    dpl_random_free(random);
    dpl_run_free(run);
}

/* Too few digits are not guessed at: a tiny U, and a value on the boundary as far as the digits go.
 */
static void undecided_is_said(void **state) {
    (void)state;
    uint64_t tiny[6] = {0, 1, 5, 5, 5, 5}, v[6] = {3, 1, 4, 1, 5, 9};
    int64_t noise[2];
    assert_false(dpl_gaussian_settle(tiny, v, 3, 1, noise));
    assert_true(dpl_gaussian_settle(tiny, v, 6, 1, noise));
    // sigma * sqrt(-2 ln U) within the interval's width of 1/2: bisect U for it, digit by digit.
    uint64_t u[3] = {0}, zero[3] = {0, 0, 0};
    bool undecided = false;
    for (size_t bit = 0; bit < 192 && !undecided; bit++) {
        u[bit / 64] |= (uint64_t)1 << (63 - bit % 64);
        bool settled = dpl_gaussian_settle(u, zero, 3, 0.25, noise);
        undecided = !settled && bit > 64;
        if (settled && noise[0] == 0)
            u[bit / 64] ^= (uint64_t)1 << (63 - bit % 64); // r too small: U is smaller
    }
    assert_true(undecided);
}

/* ---- the same bits everywhere ---- */

enum { N = 4096 };

static void noise_with(struct dpl_run *run, struct dpl_random *random, enum dpl_gaussian_path path,
                       double inflation, double sigma, int64_t *noise, size_t *redone) {
    memset(noise, 0, N * sizeof *noise);
    struct dpl_gaussian_how how = {path, inflation, redone};
    assert_ok(run, dpl_gaussian_add_with(run, random, &how,
                                         (struct dpl_stream_id){DPL_PURPOSE_TEST, 1, 1}, 0, noise,
                                         N, sigma));
}

static void every_path_and_bound_gives_the_same_bits(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 2);
    static int64_t reference[N], noise[N];
    const double sigmas[] = {0.3, 1, 10, 1e3, 1e6, 1e9, 0x1p46};
    for (size_t i = 0; i < sizeof sigmas / sizeof *sigmas; i++) {
        // Every pair the exact way, then with a bound of 1/20 step, then as it is.
        size_t all = 0, many = 0, few = 0;
        noise_with(run, random, DPL_GAUSSIAN_PLAIN, 0x1p120, sigmas[i], reference, &all);
        assert_int_equal(all, N / 2);
        for (enum dpl_gaussian_path path = 0; path < DPL_GAUSSIAN_PATHS; path++) {
            if (!dpl_gaussian_path_exists(path)) continue;
            noise_with(run, random, path, fmax(1, 0x1p48 / 20 / sigmas[i]), sigmas[i], noise,
                       &many);
            assert_memory_equal(noise, reference, sizeof noise);
            noise_with(run, random, path, 1, sigmas[i], noise, &few);
            assert_memory_equal(noise, reference, sizeof noise);
        }
        assert_true(few <= many);
        if (sigmas[i] <= 1e9) assert_true(many > 20 && few < 20);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

static void eight_lanes_agree(void **state) {
    (void)state;
    static uint64_t words[2 * DPL_GAUSSIAN_CHUNK];
    static int64_t want[2 * DPL_GAUSSIAN_CHUNK], have[2 * DPL_GAUSSIAN_CHUNK];
    static bool plain_doubt[DPL_GAUSSIAN_CHUNK], vector_doubt[DPL_GAUSSIAN_CHUNK];
    uint16_t doubt[DPL_GAUSSIAN_CHUNK];
    struct dpl_gaussian_job job = job_of(1e6);
    job.relative *= 0x1p20; // about one pair in a hundred in doubt
    uint64_t seed = 8;
    size_t doubtful = 0;
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < 2 * DPL_GAUSSIAN_CHUNK; i++)
            words[i] = test_random(&seed) >> (i % 61 == 0 ? 20 : 0);
        memset(plain_doubt, 0, sizeof plain_doubt);
        memset(vector_doubt, 0, sizeof vector_doubt);
        size_t n = dpl_gaussian_plain(&job, words, DPL_GAUSSIAN_CHUNK, want, doubt);
        for (size_t i = 0; i < n; i++) plain_doubt[doubt[i]] = true;
        doubtful += n;
        n = eight_lanes(&job, words, DPL_GAUSSIAN_CHUNK, have, doubt);
        for (size_t i = 0; i < n; i++) vector_doubt[doubt[i]] = true;
        assert_memory_equal(plain_doubt, vector_doubt, sizeof plain_doubt);
        for (size_t i = 0; i < 2 * DPL_GAUSSIAN_CHUNK; i++)
            if (!plain_doubt[i / 2]) assert_int_equal(want[i], have[i]);
    }
    assert_true(doubtful > 20);
}

static void any_cut_gives_the_same_bits(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 2);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 7, 1};
    static int64_t whole[N], cut[N];
    memset(whole, 0, sizeof whole);
    assert_ok(run, dpl_gaussian_add(run, random, id, 1001, whole, N, 77));
    uint64_t seed = 5;
    for (size_t round = 0; round < test_soak(20); round++) {
        memset(cut, 0, sizeof cut);
        for (size_t at = 0, n; at < N; at += n) {
            n = 1 + test_random(&seed) % (round % 2 ? 7 : 1500);
            if (n > N - at) n = N - at;
            assert_ok(run, dpl_gaussian_add(run, random, id, 1001 + at, cut + at, n, 77));
        }
        assert_memory_equal(whole, cut, sizeof whole);
    }
    // Threads with a cipher each, and noise that is added to what is there.
    struct dpl_secret secret;
    assert_ok(run, dpl_secret_from_seed(run, 2, &secret));
    for (size_t i = 0; i < N; i++) cut[i] = (int64_t)i;
#pragma omp parallel for num_threads(2)
    for (size_t part = 0; part < 8; part++) {
        struct dpl_random *own = NULL;
        bool ok = dpl_random_new(run, &secret, &own) == DPL_OK;
        ok = ok && dpl_gaussian_add(run, own, id, 1001 + part * (N / 8), cut + part * (N / 8),
                                    N / 8, 77) == DPL_OK;
        if (!ok) cut[0] = INT64_MIN;
        dpl_random_free(own);
    }
    for (size_t i = 0; i < N; i++) assert_int_equal(cut[i], whole[i] + (int64_t)i);
    dpl_random_free(random);
    dpl_run_free(run);
}

static void senseless_noise_is_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 2);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 7, 1},
                         far_id = {DPL_PURPOSE_TEST + DPL_PURPOSE_FAR, 7, 1};
    int64_t x = 5;
    const double bad[] = {0, -1, NAN, INFINITY, 0x1p47, 0x1p-31};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(dpl_gaussian_add(run, random, id, 0, &x, 1, bad[i]), DPL_USAGE);
    assert_int_equal(dpl_gaussian_add(run, random, far_id, 0, &x, 1, 1), DPL_USAGE);
    far_id.purpose = DPL_PURPOSE_LIMIT;
    assert_int_equal(dpl_gaussian_add(run, random, far_id, 0, &x, 1, 1), DPL_USAGE);
    assert_int_equal(dpl_gaussian_add(run, random, id, DPL_GAUSSIAN_COORDINATES, &x, 1, 1),
                     DPL_USAGE);
    assert_int_equal(x, 5);
    assert_ok(run, dpl_gaussian_add(run, random, id, DPL_GAUSSIAN_COORDINATES - 1, &x, 1, 1e6));
    assert_true(x != 5);
    dpl_random_free(random);
    dpl_run_free(run);
}

/* ---- the distribution ---- */

static double normal_below(double x) { return erfc(-x / sqrt(2)) / 2; }

enum { SAMPLE = 400000 };

/* Chance of each value of round(sigma Z) in -cells/2 ... cells/2, tails in the last ones. */
static double pmf_z(const int64_t *noise, size_t n, double sigma) {
    enum { CELLS = 121 };
    double count[CELLS] = {0}, chance[CELLS];
    for (size_t i = 0; i < n; i++) {
        int64_t cell = noise[i] + CELLS / 2;
        count[cell < 0 ? 0 : cell >= CELLS ? CELLS - 1 : cell]++;
    }
    for (int i = 0; i < CELLS; i++) {
        double low = i == 0 ? 0 : normal_below((i - CELLS / 2 - 0.5) / sigma);
        chance[i] = (i == CELLS - 1 ? 1 : normal_below((i - CELLS / 2 + 0.5) / sigma)) - low;
    }
    return test_chi2(count, chance, CELLS, (double)n);
}

static int compare_i64(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* sqrt(n) times Kolmogorov's distance to the rounded normal; above 2.69 with probability 1e-6.
 * Sorts. */
static double kolmogorov(int64_t *noise, size_t n, double sigma) {
    qsort(noise, n, sizeof *noise, compare_i64);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && noise[i + 1] == noise[i]) continue;
        double want = normal_below(((double)noise[i] + 0.5) / sigma);
        worst = fmax(worst, fabs((double)(i + 1) / (double)n - want));
    }
    return worst * sqrt((double)n);
}

/* The last eight binary digits of wide noise are uniform. */
static double low_digits_z(const int64_t *noise, size_t n) {
    double count[256] = {0};
    for (size_t i = 0; i < n; i++) count[(uint64_t)noise[i] & 255]++;
    return test_chi2(count, NULL, 256, (double)n);
}

static void distribution(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 6);
    const double sigmas[] = {0.3, 1, 10, 1e3, 1e6, 1e9};
    size_t n = test_soak(SAMPLE);
    int64_t *noise = dpl_alloc(run, n, sizeof *noise);
    assert_non_null(noise);
    for (size_t s = 0; s < 6; s++) {
        memset(noise, 0, n * sizeof *noise);
        assert_ok(run, dpl_gaussian_add(run, random,
                                        (struct dpl_stream_id){DPL_PURPOSE_TEST, 100 + s, 0}, 0,
                                        noise, n, sigmas[s]));
        double sum = 0, square = 0, product = 0;
        for (size_t i = 0; i < n; i++) {
            double z = (double)noise[i] / sigmas[s];
            sum += z;
            square += z * z;
            if (i % 2) product += z * (double)noise[i - 1] / sigmas[s];
        }
        double variance =
            1 + 1 / (12 * sigmas[s] * sigmas[s]); // rounding adds a twelfth of a step squared
        assert_true(fabs(sum) <= 5 * sqrt((double)n * variance));
        if (s > 1)
            assert_true(fabs(square - (double)n * variance) <= 5 * sqrt(2 * (double)n) * variance);
        assert_true(fabs(product) <= 5 * sqrt((double)n / 2) * variance);
        if (sigmas[s] <= 10) assert_true(pmf_z(noise, n, sigmas[s]) < 4.75);
        if (sigmas[s] >= 1e3) assert_true(low_digits_z(noise, n) < 4.75);
        assert_true(kolmogorov(noise, n, sigmas[s]) < 2.69);
    }
    dpl_free(noise);
    dpl_random_free(random);
    dpl_run_free(run);
}

/* 5 million draws (100 million under soak): the tail is neither cut nor heavy. */
static void tails(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 7);
    static int64_t noise[SAMPLE];
    double beyond[3] = {0}, n = 0;
    for (size_t round = 0; round < test_soak(13); round++, n += SAMPLE) {
        memset(noise, 0, sizeof noise);
        assert_ok(run, dpl_gaussian_add(run, random,
                                        (struct dpl_stream_id){DPL_PURPOSE_TEST, 200, round}, 0,
                                        noise, SAMPLE, 1e6));
        for (size_t i = 0; i < SAMPLE; i++)
            for (int k = 0; k < 3; k++) beyond[k] += fabs((double)noise[i]) > (3 + k) * 1e6 + 0.5;
    }
    for (int k = 0; k < 3; k++) {
        double expected = n * erfc((3 + k) / sqrt(2));
        assert_true(fabs(beyond[k] - expected) <= 5 * sqrt(expected) + 5);
    }
    dpl_random_free(random);
    dpl_run_free(run);
}

/* ---- mutants: what the tests above are for ---- */

/* Box-Muller as it is usually written, 32-bit uniforms in float. */
static int64_t float_mutant(uint64_t w0, uint64_t w1, double sigma) {
    float u = ((float)(w0 >> 32) + 0.5f) * 0x1p-32f, v = (float)(w1 >> 32) * 0x1p-32f;
    return (int64_t)rint(sigma * (double)(sqrtf(-2 * logf(u)) * cosf(2 * (float)PI * v)));
}

/* The same in double with 64-bit uniforms, without Ziv's test. */
static int64_t double_mutant(uint64_t w0, uint64_t w1, double sigma) {
    return (int64_t)rint(sigma * sqrt(-2 * log((double)w0 * 0x1p-64)) *
                         cos(2 * PI * ((double)w1 * 0x1p-64)));
}

static void mutants_are_caught(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_random *random = seeded(run, 2);
    struct dpl_stream_id id = {DPL_PURPOSE_TEST, 1, 1};
    enum { PAIRS = 20000 };
    static uint64_t words[2 * PAIRS];
    static int64_t noise[2 * PAIRS], mutant[PAIRS];
    assert_ok(run, dpl_random_words(run, random, id, 0, PAIRS, words));
    memset(noise, 0, sizeof noise);
    assert_ok(run, dpl_gaussian_add(run, random, id, 0, noise, 2 * (size_t)PAIRS, 0x1p46));
    size_t float_off = 0, double_off = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        mutant[i] = float_mutant(words[2 * i], words[2 * i + 1], 0x1p46);
        float_off += mutant[i] != noise[2 * i];
        double_off += double_mutant(words[2 * i], words[2 * i + 1], 0x1p46) != noise[2 * i];
    }
    assert_true(float_off > PAIRS / 2);
    assert_true(double_off > 100 && double_off < PAIRS / 2);
    // The float mutant leaves holes in the lattice, which is what gives secrets away.
    assert_true(low_digits_z(mutant, PAIRS) > 100);
    assert_true(low_digits_z(noise, 2 * (size_t)PAIRS) < 4.75);
    dpl_random_free(random);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_the_series),
        cmocka_unit_test(the_bound_holds),
        cmocka_unit_test(edges_are_in_doubt),
        cmocka_unit_test(redo_matches_another_program),
        cmocka_unit_test(precisions_agree),
        cmocka_unit_test(far_digits_belong_to_one_pair),
        cmocka_unit_test(undecided_is_said),
        cmocka_unit_test(every_path_and_bound_gives_the_same_bits),
        cmocka_unit_test(eight_lanes_agree),
        cmocka_unit_test(any_cut_gives_the_same_bits),
        cmocka_unit_test(senseless_noise_is_refused),
        cmocka_unit_test(distribution),
        cmocka_unit_test(tails),
        cmocka_unit_test(mutants_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
