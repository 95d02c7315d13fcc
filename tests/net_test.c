/* net: the product against the plain loop, every layer against finite differences, vector
 * operations. */
#include "support.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "method/paper/net/train_arrange.h"
#include "method/paper/net/layers.h"
#include "method/paper/net/product.h"
#include "method/paper/net/vector.h"

static void fill(uint64_t *random, float *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(2 * test_uniform(random) - 1);
}

/* ---- product ---- */

static void product_agrees_with_the_plain_loop(void **state) {
    (void)state;
    uint64_t random = 3;
    enum { MOST = 40 };
    float a[MOST * MOST], b[MOST * MOST], c[MOST * MOST], d[MOST * MOST];
    for (size_t round = 0; round < test_soak(200); round++) {
        size_t m = 1 + test_random(&random) % MOST, n = 1 + test_random(&random) % MOST,
               k = 1 + test_random(&random) % MOST;
        char op_a = test_random(&random) % 2 ? 'N' : 'T',
             op_b = test_random(&random) % 2 ? 'N' : 'T';
        float beta = test_random(&random) % 2 ? 0 : 0.5f;
        fill(&random, a, MOST * MOST);
        fill(&random, b, MOST * MOST);
        fill(&random, c, MOST * MOST);
        if (beta == 0)
            for (size_t i = 0; i < MOST * MOST; i++) c[i] = NAN; // must not be read
        memcpy(d, c, sizeof c);
        dpl_product(op_a, op_b, m, n, k, 2, a, MOST, b, MOST, beta, c, MOST);
        dpl_product_plain(op_a, op_b, m, n, k, 2, a, MOST, b, MOST, beta, d, MOST);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) assert_near(c[i * MOST + j], d[i * MOST + j], 1e-4);
    }
}

static void product_has_the_same_bits_in_any_team(void **state) {
    (void)state;
    uint64_t random = 4;
    enum { M = 96, N = 238, K = 201 };
    float *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b),
          *c = malloc(4 * M * N * sizeof *c);
    fill(&random, a, M * K);
    fill(&random, b, K * N);
    dpl_product('N', 'N', M, N, K, 1, a, K, b, N, 0, c, N); // alone
#pragma omp parallel num_threads(1)
    dpl_product('N', 'N', M, N, K, 1, a, K, b, N, 0, c + M * N, N);
#pragma omp parallel num_threads(2)
    dpl_product('N', 'N', M, N, K, 1, a, K, b, N, 0, c + (2 + (size_t)omp_get_thread_num()) * M * N,
                N);
    for (size_t i = 1; i < 4; i++) assert_memory_equal(c, c + i * M * N, M * N * sizeof *c);
    free(a);
    free(b);
    free(c);
}

static void product_treats_rows_alike(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    const size_t shape[][2] = {{238, 201}, {200, 102}, {550, 201}, {500, 101},
                               {100, 51},  {100, 101}, {7, 5},     {1, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (size_t op = 0; op < 2; op++) {
            bool alike = false;
            assert_ok(run, dpl_product_rows_alike(run, op ? 'T' : 'N', 144, shape[i][0],
                                                  shape[i][1], &alike));
            assert_true(alike);
        }
    char name[64];
    assert_true(strlen(dpl_product_name(name, sizeof name)) > 0);
    dpl_run_free(run);
}

/* ---- layers: f(x) = sum of weight * output; its derivative by differences against backward ----
 */

enum { ROWS = 12, IN = 7, OUT = 5, EPSILON_INVERSE = 128 };

/* Compares the derivative of loss(x) with `backward` at every one of n coordinates. */
static void check_differences(double (*loss)(const void *context), const void *context, float *x,
                              const float *backward, size_t n, double tolerance) {
    const float epsilon = 1.0f / EPSILON_INVERSE;
    for (size_t i = 0; i < n; i++) {
        float kept = x[i];
        x[i] = kept + epsilon;
        double above = loss(context);
        x[i] = kept - epsilon;
        double below = loss(context);
        x[i] = kept;
        assert_near((above - below) * EPSILON_INVERSE / 2, backward[i], tolerance);
    }
}

static double weighted(const float *weight, const float *out, size_t rows, size_t columns,
                       size_t stride) {
    double sum = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            sum += (double)weight[i * dpl_stride(columns) + j] * (double)out[i * stride + j];
    return sum;
}

struct dense_case {
    struct dpl_dense layer;
    const float *a, *weight;
    float *z;
};

static double dense_loss(const void *context) {
    const struct dense_case *c = context;
    dpl_dense_forward(&c->layer, ROWS, c->a, c->z, OUT + 1);
    return weighted(c->weight, c->z, ROWS, OUT, dpl_stride(OUT + 1));
}

static void dense_backward_is_the_derivative(void **state) {
    (void)state;
    uint64_t random = 5;
    float w[(IN + 1) * OUT], a[ROWS * 16] = {0}, z[ROWS * 16], dz[ROWS * 16] = {0},
                                      da[ROWS * 16] = {0}, weight[ROWS * 16];
    fill(&random, w, (IN + 1) * OUT);
    fill(&random, a, ROWS * 16);
    fill(&random, weight, ROWS * 16);
    for (size_t i = 0; i < ROWS; i++) a[i * 16 + IN] = 1;
    struct dense_case c = {{IN, OUT, w, dpl_product}, a, weight, z};
    for (size_t i = 0; i < ROWS; i++)
        memcpy(dz + i * dpl_stride(OUT + 1), weight + i * dpl_stride(OUT), OUT * sizeof *dz);
    dpl_dense_backward(&c.layer, ROWS, da, dz, OUT + 1);
    for (size_t i = 0; i < ROWS; i++)
        check_differences(dense_loss, &c, a + i * dpl_stride(IN + 1), da + i * dpl_stride(IN), IN,
                          1e-3);
    // dw = [a 1]^T dz, as dpsgd forms it.
    float dw[(IN + 1) * OUT];
    dpl_product('T', 'N', IN + 1, OUT, ROWS, 1, a, dpl_stride(IN + 1), dz, dpl_stride(OUT + 1), 0,
                dw, OUT);
    check_differences(dense_loss, &c, w, dw, (IN + 1) * OUT, 2e-3);
}

static void relu_backward_is_the_derivative(void **state) {
    (void)state;
    float a[ROWS * 16] = {0}, da[ROWS * 16];
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < IN; j++) {
            a[i * 16 + j] = (float)((i + j) % 3) - 1;
            da[i * 16 + j] = (float)(j + 1);
        }
    a[3] = NAN; // must survive, to be found later
    dpl_relu_forward(ROWS, IN, a);
    assert_true(isnan(a[3]));
    dpl_relu_backward(ROWS, IN, a, da);
    for (size_t i = 0; i < ROWS; i++) {
        assert_near(a[i * 16 + IN], 1, 0);
        for (size_t j = 0; j < IN; j++) {
            if (i == 0 && j == 3) continue;
            float before = (float)((i + j) % 3) - 1;
            assert_near(a[i * 16 + j], before > 0 ? before : 0, 0);
            assert_near(da[i * 16 + j], before > 0 ? (float)(j + 1) : 0, 0);
        }
    }
}

struct lookup_case {
    struct dpl_lookup layer;
    const int32_t *index;
    const float *weight;
    float *out;
};

static double lookup_loss(const void *context) {
    const struct lookup_case *c = context;
    dpl_lookup_forward(&c->layer, ROWS, c->index, c->out, 2 * OUT);
    return weighted(c->weight, c->out, ROWS, c->layer.offset[1] + OUT, dpl_stride(2 * OUT));
}

static void lookup_backward_is_the_derivative(void **state) {
    (void)state;
    uint64_t random = 6;
    for (size_t apart = 0; apart < 2; apart++) { // slots added up, slots side by side
        const size_t offset[2] = {0, apart * OUT};
        float table[4 * OUT], dtable[4 * OUT] = {0}, out[ROWS * 16], weight[ROWS * 16];
        int32_t index[ROWS * 2];
        fill(&random, table, 4 * OUT);
        fill(&random, weight, ROWS * 16);
        for (size_t i = 0; i < ROWS * 2; i++)
            index[i] = (int32_t)(test_random(&random) % 4); // both slots may be equal
        struct lookup_case c = {{4, OUT, 2, table, offset}, index, weight, out};
        dpl_lookup_backward(&c.layer, ROWS, index, weight, 2 * OUT, dtable);
        check_differences(lookup_loss, &c, table, dtable, 4 * OUT, 1e-3);
    }
}

struct softmax_case {
    struct dpl_softmax layer;
    const int32_t *target;
    const float *z;
};

static double softmax_loss(const void *context) {
    const struct softmax_case *c = context;
    float z[ROWS * 16], loss[ROWS] = {0};
    memcpy(z, c->z, sizeof z);
    dpl_softmax_forward(&c->layer, ROWS, c->target, z, loss);
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++) sum += (double)loss[i];
    return sum;
}

static void softmax_backward_is_the_derivative(void **state) {
    (void)state;
    uint64_t random = 7;
    float z[ROWS * 16], p[ROWS * 16];
    int32_t target[ROWS * 2];
    fill(&random, z, ROWS * 16);
    for (size_t i = 0; i < ROWS * 2; i++) target[i] = (int32_t)(test_random(&random) % 9);
    struct softmax_case c = {
        {.columns = 13, .first = 2, .n = 9, .target_step = 2, .weight = 0.5f}, target, z};
    memcpy(p, z, sizeof z);
    dpl_softmax_forward(&c.layer, ROWS, target, p, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (size_t j = 0; j < 9; j++) sum += (double)p[i * 16 + 2 + j];
        assert_near(sum, 1, 1e-6);
    }
    dpl_softmax_backward(&c.layer, ROWS, target, p);
    for (size_t i = 0; i < ROWS; i++)
        check_differences(softmax_loss, &c, z + i * 16 + 2, p + i * 16 + 2, 9, 2e-3);
}

static void softmax_bears_large_logits(void **state) {
    (void)state;
    float z[ROWS * 16] = {0}, loss[ROWS] = {0};
    int32_t target[ROWS] = {0};
    z[0] = -1e30f, z[1] = 1e30f, z[16] = 500, z[17] = 400;
    dpl_softmax_forward(&(struct dpl_softmax){.columns = 4, .n = 4, .target_step = 1, .weight = 1},
                        ROWS, target, z, loss);
    assert_near(z[1], 1, 1e-6);
    assert_near(loss[0], 2e30f, 1e24f);
    assert_near(z[16], 1, 1e-6);
    assert_near(loss[1], 0, 1e-6);
}

enum { LATENT = 6 };
struct latent_case {
    struct dpl_latent layer;
    const float *m, *noise, *weight;
};

static double latent_loss(const void *context) {
    const struct latent_case *c = context;
    float z[ROWS * 16], loss[ROWS] = {0};
    dpl_latent_forward(&c->layer, ROWS, c->m, c->noise, z, loss);
    double sum = weighted(c->weight, z, ROWS, LATENT, dpl_stride(LATENT + 1));
    for (size_t i = 0; i < ROWS; i++) sum += (double)loss[i];
    return sum;
}

static void latent_backward_is_the_derivative(void **state) {
    (void)state;
    uint64_t random = 8;
    float m[ROWS * 16], noise[ROWS * 16], weight[ROWS * 16], dm[ROWS * 16] = {0};
    fill(&random, m, ROWS * 16);
    fill(&random, noise, ROWS * 16);
    fill(&random, weight, ROWS * 16);
    struct latent_case c = {{LATENT, 3}, m, noise, weight};
    dpl_latent_backward(&c.layer, ROWS, m, noise, weight, dm);
    for (size_t i = 0; i < ROWS; i++)
        check_differences(latent_loss, &c, m + i * 16, dm + i * 16, 2 * LATENT, 3e-3);
}

/* ---- vectors ---- */

static void vector_functions_are_what_they_say(void **state) {
    (void)state;
    enum { N = 1003 };
    float x[N], y[N];
    for (size_t i = 0; i < N; i++) x[i] = y[i] = (float)i * 0.17f - 86;
    dpl_vector_exp(y, N);
    for (size_t i = 0; i < N; i++)
        assert_true(fabs((double)y[i] / exp((double)x[i]) - 1) < 3e-7 || x[i] > 88);
    float odd[3] = {NAN, INFINITY, -1000};
    dpl_vector_exp(odd, 3);
    assert_true(isnan(odd[0]) && isnan(odd[1]) && odd[2] >= 0 && odd[2] < 1e-30f);
    double dot = 0;
    for (size_t i = 0; i < N; i++) dot += (double)x[i] * (double)x[i];
    assert_true(fabs(dpl_vector_dot(x, x, N) / dot - 1) < 1e-13);
    assert_near(dpl_vector_max(x, N), x[N - 1], 0);
    x[500] = -1e9f;
    assert_near(dpl_vector_reach(x, N), 1e9, 0);
    x[501] = NAN;
    assert_true(isinf(dpl_vector_reach(x, N)));
}

static void lattice_rounds_to_the_nearest_step(void **state) {
    (void)state;
    uint64_t random = 9;
    enum { N = 1001 };
    float x[N], back[N];
    int64_t sum[N];
    for (size_t i = 0; i < N; i++) x[i] = (float)((2 * test_uniform(&random) - 1) * 300);
    dpl_lattice_set(x, N, 0x1p26, sum);
    for (size_t i = 0; i < N; i++) assert_int_equal(sum[i], llrint((double)x[i] * 0x1p26));
    dpl_lattice_add(x, N, 0x1p3, sum);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(sum[i], llrint((double)x[i] * 0x1p26) + llrint((double)x[i] * 8));
    dpl_lattice_read(sum, N, 0.25, back);
    for (size_t i = 0; i < N; i++) assert_true(back[i] == (float)((double)sum[i] * 0.25));
}

static void normals_are_normal(void **state) {
    (void)state;
    size_t n = 1000000;
    float *x = malloc(n * sizeof *x);
    dpl_vector_normals(42, x, n);
    double moment[5] = {0}, neighbour = 0;
    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i];
        for (int p = 1; p <= 4; p++) moment[p] += pow(v, p) / (double)n;
        if (i > 0) neighbour += v * (double)x[i - 1] / (double)n;
    }
    // Five standard deviations of each mean.
    assert_near(moment[1], 0, 5e-3);
    assert_near(moment[2], 1, 7.1e-3);
    assert_near(moment[3], 0, 1.95e-2);
    assert_near(moment[4], 3, 4.9e-2);
    assert_near(neighbour, 0, 5e-3);
    free(x);
}

/* ---- arranging ---- */

static const struct dpl_cutting LAYOUT = {
    .n_blocks = 2, .capacity = 480, .weight = 1, .root_d = 400, .step = 0x1p-28};

/* PRIVACY: the constants of docs/TRAINING.md: twice a block's error stays below the slack of
 * clipping, C (1 - 1/(1 + 2^-8)), however full the block. */
static void errors_of_a_block_stay_below_the_slack(void **state) {
    (void)state;
    double slack = 1 - 1 / (1 + 0x1p-8);
    for (double weight = 1; weight <= 8; weight += 7) {
        struct dpl_cutting layout = LAYOUT;
        layout.weight = weight;
        for (size_t n = 1; n < 1200; n++) {
            size_t rows_of_a_unit = weight > 1 ? 4 : 1, rows = dpl_chunk_rows(&layout, n);
            if (rows == 0) continue;
            size_t chunks = (n * rows_of_a_unit + rows - 1) / rows + 1;
            if ((double)n <= 500 / weight)
                assert_true(2 * dpl_block_error(&layout, n, rows, chunks) < 0.9 * slack);
        }
    }
    assert_int_equal(dpl_block_count(200, 1, 1), 2);
    assert_true(dpl_chunk_rows(&LAYOUT, 100) >=
                150); // so a batch of 200 is two chunks, five sigma wide
    assert_true(dpl_block_count(8192, 4, 8) > 300);
}

static void arranging_keeps_every_row_once(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_arrangement batch = {0};
    uint64_t random = 10;
    for (size_t round = 0; round < test_soak(100); round++) {
        size_t n = test_random(&random) % 900, total = 0;
        struct dpl_cutting layout = LAYOUT;
        layout.n_blocks = 1 + n / 50;
        layout.most_together = dpl_most_together(&layout);
        assert_ok(run, dpl_arrangement_reserve(run, &batch, n));
        for (size_t i = 0; i < n; i++) {
            batch.member[i] = (struct dpl_member){
                .word = test_random(&random), .unit = i, .n_rows = test_random(&random) % 4};
            total += batch.member[i].n_rows;
        }
        assert_ok(run, dpl_arrange(run, &batch, &layout));
        size_t rows = 0, in_chunks = 0, members = 0;
        for (size_t w = 0; w < batch.n_waves; w++) {
            const struct dpl_wave *wave = &batch.wave[w];
            assert_true(wave->rows <= layout.capacity);
            assert_int_equal(wave->member_begin, members);
            size_t next = 0, next_row = 0;
            for (size_t i = wave->member_begin; i < wave->member_end; i++) {
                assert_int_equal(batch.member[i].first_row, next);
                next += batch.member[i].n_rows;
            }
            for (size_t c = wave->chunk_begin; c < wave->chunk_end; c++) {
                assert_int_equal(batch.chunk[c].first_row, next_row);
                next_row += batch.chunk[c].rows;
            }
            assert_int_equal(next, wave->rows);
            assert_int_equal(next_row, wave->rows);
            members = wave->member_end;
            rows += wave->rows;
            in_chunks += next_row;
        }
        assert_int_equal(members, n);
        assert_int_equal(rows, total);
        assert_int_equal(in_chunks, total);
    }
    dpl_arrangement_free(&batch);
    dpl_run_free(run);
}

/* Thirty thousand units in one block: no chunk is small enough, so each unit is one by itself. */
static void units_of_a_crowded_block_are_summed_one_by_one(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_arrangement batch = {0};
    struct dpl_cutting layout = LAYOUT;
    layout.most_together = dpl_most_together(&layout);
    assert_int_equal(dpl_chunk_rows(&layout, 30000), 0);
    assert_ok(run, dpl_arrangement_reserve(run, &batch, 30000));
    for (size_t i = 0; i < 30000; i++)
        batch.member[i] = (struct dpl_member){.word = 5, .unit = i, .n_rows = 1};
    assert_ok(run, dpl_arrange(run, &batch, &layout));
    assert_int_equal(batch.n_chunks, 30000);
    for (size_t i = 0; i < batch.n_chunks; i++) assert_int_equal(batch.chunk[i].rows, 1);
    dpl_arrangement_free(&batch);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_agrees_with_the_plain_loop),
        cmocka_unit_test(product_has_the_same_bits_in_any_team),
        cmocka_unit_test(product_treats_rows_alike),
        cmocka_unit_test(dense_backward_is_the_derivative),
        cmocka_unit_test(relu_backward_is_the_derivative),
        cmocka_unit_test(lookup_backward_is_the_derivative),
        cmocka_unit_test(softmax_backward_is_the_derivative),
        cmocka_unit_test(softmax_bears_large_logits),
        cmocka_unit_test(latent_backward_is_the_derivative),
        cmocka_unit_test(vector_functions_are_what_they_say),
        cmocka_unit_test(lattice_rounds_to_the_nearest_step),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(errors_of_a_block_stay_below_the_slack),
        cmocka_unit_test(arranging_keeps_every_row_once),
        cmocka_unit_test(units_of_a_crowded_block_are_summed_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
