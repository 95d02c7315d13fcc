/* The matrix product: oneDNN, a CBLAS or plain C, chosen when the program is built (DPLOC_BLAS).
 *
 * oneDNN threads itself when it believes to be alone, and is then both slower on matrices as small
 * as ours (4 instead of 80 GFLOP/s) and free to split sums by the number of threads. Inside an
 * active parallel region it runs in the calling thread. A region of one thread is not "active" in
 * the sense of OpenMP, so there the calling task is told that it may have one thread only; this
 * setting belongs to the region's implicit task and ends with it.
 *
 * Some kernels of oneDNN use their work space on the heap as their stack. A signal that arrives
 * then would have its frame written below that space, over whatever lies there: signals wait
 * outside.
 */
#include "method/paper/net/product.h"

#include <omp.h>
#include <signal.h>
#include <string.h>

#if defined(DPL_BLAS_ONEDNN)
#include <dnnl.h>
#elif defined(DPL_BLAS_CBLAS)
#include <cblas.h>
#endif

void dpl_product_plain(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha,
                       const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                       size_t ldc) {
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            float sum = 0;
            for (size_t l = 0; l < k; l++)
                sum += (op_a == 'N' ? a[i * lda + l] : a[l * lda + i]) *
                       (op_b == 'N' ? b[l * ldb + j] : b[j * ldb + l]);
            c[i * ldc + j] = beta == 0 ? alpha * sum : alpha * sum + beta * c[i * ldc + j];
        }
}

#if defined(DPL_BLAS_ONEDNN)
/* Signals of this thread wait until `before` is set again; those of a fault cannot wait. */
static void hold_signals(sigset_t *before) {
    static const int fault[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) sigdelset(&held, fault[i]);
    pthread_sigmask(SIG_SETMASK, &held, before);
}

static void call_library(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha,
                         const float *a, size_t lda, const float *b, size_t ldb, float beta,
                         float *c, size_t ldc) {
    if (omp_get_max_threads() > 1 && !omp_in_parallel())
        omp_set_num_threads(1); // of this implicit task alone
    sigset_t before;
    hold_signals(&before);
    dnnl_status_t status =
        dnnl_sgemm(op_a, op_b, (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, alpha, a,
                   (dnnl_dim_t)lda, b, (dnnl_dim_t)ldb, beta, c, (dnnl_dim_t)ldc);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    // The library fails only for arguments that make no sense or when it is out of memory.
    if (status != dnnl_success)
        dpl_product_plain(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
#elif defined(DPL_BLAS_CBLAS)
static void call_library(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha,
                         const float *a, size_t lda, const float *b, size_t ldb, float beta,
                         float *c, size_t ldc) {
    cblas_sgemm(CblasRowMajor, op_a == 'N' ? CblasNoTrans : CblasTrans,
                op_b == 'N' ? CblasNoTrans : CblasTrans, (int)m, (int)n, (int)k, alpha, a, (int)lda,
                b, (int)ldb, beta, c, (int)ldc);
}
#else
#define call_library dpl_product_plain
#endif

void dpl_product(char op_a, char op_b, size_t m, size_t n, size_t k, float alpha, const float *a,
                 size_t lda, const float *b, size_t ldb, float beta, float *c, size_t ldc) {
    if (m == 0 || n == 0) return;
    if (omp_get_level() > 0) {
        call_library(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
        return;
    }
#pragma omp parallel num_threads(1)
    call_library(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/* Rows of C (m, n) that differ from `reference` (n). */
static bool rows_equal(const float *c, size_t m, size_t n, const float *reference) {
    for (size_t i = 0; i < m; i++)
        if (memcmp(c + i * n, reference, n * sizeof *c) != 0) return false;
    return true;
}

static void fill_random(float *x, size_t n, uint64_t seed) {
    for (size_t i = 0; i < n; i++)
        x[i] = (float)((double)(dpl_mix64(seed + i) >> 11) * 0x1p-52 - 1.0);
}

enum dpl_status dpl_product_rows_alike(struct dpl_run *run, char op_b, size_t max_m, size_t n,
                                       size_t k, bool *alike) {
    enum dpl_status status = DPL_SYSTEM;
    // Strides as dpsgd has them, so that the library's choice of a kernel meets the same arguments.
    size_t lda = (k + 15) / 16 * 16;
    float *a = dpl_alloc(run, max_m * lda, sizeof *a), *b = dpl_alloc(run, k * n, sizeof *b);
    float *c = dpl_alloc(run, max_m * n, sizeof *c),
          *reference = dpl_alloc(run, n, sizeof *reference);
    if (a == NULL || b == NULL || c == NULL || reference == NULL) goto done;
    fill_random(b, k * n, 0x5eed);
    fill_random(a, k, 0xa);
    for (size_t i = 1; i < max_m; i++) memcpy(a + i * lda, a, k * sizeof *a);
    bool same = true;
    for (size_t m = DPL_PRODUCT_ROWS; m <= max_m && same; m += DPL_PRODUCT_ROWS) {
        dpl_product('N', op_b, m, n, k, 1, a, lda, b, op_b == 'N' ? n : k, 0, c, n);
        if (m == DPL_PRODUCT_ROWS) memcpy(reference, c, n * sizeof *c);
        same = rows_equal(c, m, n, reference);
    }
    *alike = same;
    status = DPL_OK;
done:
    dpl_free(reference);
    dpl_free(c);
    dpl_free(b);
    dpl_free(a);
    return status;
}

#if defined(DPL_BLAS_ONEDNN)
static const char *isa_name(dnnl_cpu_isa_t isa) {
    switch ((unsigned)isa) {
    case 0: return "all"; // dnnl_cpu_isa_all; since version 3, dnnl_cpu_isa_default
    case dnnl_cpu_isa_sse41: return "sse41";
    case dnnl_cpu_isa_avx: return "avx";
    case dnnl_cpu_isa_avx2: return "avx2";
    case dnnl_cpu_isa_avx2_vnni: return "avx2-vnni";
    default: return isa > dnnl_cpu_isa_avx2 ? "avx512" : "unknown";
    }
}

const char *dpl_product_name(char *buffer, size_t size) {
    const dnnl_version_t *version = dnnl_version();
    snprintf(buffer, size, "oneDNN %d.%d.%d %s", version->major, version->minor, version->patch,
             isa_name(dnnl_get_effective_cpu_isa()));
    return buffer;
}
#elif defined(DPL_BLAS_CBLAS)
const char *dpl_product_name(char *buffer, size_t size) {
    snprintf(buffer, size, "CBLAS");
    return buffer;
}
#else
const char *dpl_product_name(char *buffer, size_t size) {
    snprintf(buffer, size, "plain C");
    return buffer;
}
#endif

/* What the CPU has, as the name that dpl_product_name would show; "" when it is nothing to speak
 * of. */
static const char *cpu_name(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return "avx512";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
    return "";
}

void dpl_product_warn(struct dpl_run *run) {
    char name[64];
    dpl_product_name(name, sizeof name);
    const char *cpu = cpu_name();
    if (cpu[0] == '\0' || strstr(name, cpu) != NULL) return;
    if (strcmp(cpu, "avx2") == 0 && strstr(name, "avx512") != NULL) return;
#if defined(DPL_BLAS_ONEDNN)
    dpl_note(run,
             "The matrix product runs on %s although the CPU has %s: training is slower than it "
             "need be (is DNNL_MAX_CPU_ISA set?).",
             name, cpu);
#else
    dpl_note(run,
             "The matrix product is %s, which does not say what kernel it chose; the CPU has %s. "
             "If training is slow, build with -DDPLOC_BLAS=onednn.",
             name, cpu);
#endif
}
