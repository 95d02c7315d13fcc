/* The Gaussian, chunk by chunk: keystream, kernel, the exact way for pairs in doubt, addition.
 *
 * Invariants
 *  - Coordinates 2j and 2j+1 come from block j of the stream, whoever asks for them.
 *  - What a kernel is sure of is the exact result, so all kernels agree and the choice among them,
 *    the bound's inflation and the cut into calls are invisible in the output.
 *
 * Cost on one core: keystream 1.3 ns a normal at 6 GB/s, kernel see there; the exact way takes
 * about 16 us and is gone for 2^-16 of all pairs (the edges of U) plus sigma * 1.8e-14 of them.
 */
#include "noise/gaussian.h"

#include <math.h>

#include "noise/gaussian_inner.h"

const char *dpl_gaussian_path_name(enum dpl_gaussian_path path) {
    static const char *const name[DPL_GAUSSIAN_PATHS] = {"plain", "avx2", "avx512"};
    return name[path];
}

bool dpl_gaussian_path_exists(enum dpl_gaussian_path path) {
    if (path == DPL_GAUSSIAN_AVX512) return dpl_gaussian_has_avx512();
    if (path == DPL_GAUSSIAN_AVX2) return dpl_gaussian_has_avx2();
    return path == DPL_GAUSSIAN_PLAIN;
}

enum dpl_gaussian_path dpl_gaussian_path_best(void) {
    if (dpl_gaussian_has_avx512()) return DPL_GAUSSIAN_AVX512;
    return dpl_gaussian_has_avx2() ? DPL_GAUSSIAN_AVX2 : DPL_GAUSSIAN_PLAIN;
}

/* The noise of up to DPL_GAUSSIAN_CHUNK pairs. */
struct chunk {
    uint64_t words[2 * DPL_GAUSSIAN_CHUNK];
    int64_t noise[2 * DPL_GAUSSIAN_CHUNK];
    uint16_t doubt[DPL_GAUSSIAN_CHUNK];
};

static enum dpl_status make_noise(struct dpl_run *run, struct dpl_random *random,
                                  const struct dpl_gaussian_how *how,
                                  const struct dpl_gaussian_job *job, struct dpl_stream_id id,
                                  uint64_t pair, size_t n_pairs, struct chunk *chunk) {
    static dpl_gaussian_kernel *const kernel[DPL_GAUSSIAN_PATHS] = {
        dpl_gaussian_plain, dpl_gaussian_avx2, dpl_gaussian_avx512};
    // Whole groups for the kernel: the blocks past the end belong to the same stream and are made
    // again when wanted.
    size_t padded = (n_pairs + DPL_GAUSSIAN_GROUP - 1) / DPL_GAUSSIAN_GROUP * DPL_GAUSSIAN_GROUP;
    DPL_TRY(dpl_random_words(run, random, id, pair, padded, chunk->words));
    size_t n_doubt = kernel[how->path](job, chunk->words, padded, chunk->noise, chunk->doubt);
    for (size_t i = 0; i < n_doubt; i++) {
        size_t j = chunk->doubt[i];
        if (j >= n_pairs) continue;
        DPL_TRY(dpl_gaussian_exact(run, random, id, pair + j, job->sigma, chunk->noise + 2 * j));
        if (how->redone) ++*how->redone;
    }
    return DPL_OK;
}

static enum dpl_status check(struct dpl_run *run, struct dpl_stream_id id, uint64_t first, size_t n,
                             double sigma) {
    if (!(sigma >= DPL_GAUSSIAN_MIN && sigma <= DPL_GAUSSIAN_MAX))
        return dpl_fail(run, DPL_USAGE,
                        "Gaussian noise of %g lattice steps cannot be made (from 2^-30 to 2^46; "
                        "choose another step)",
                        sigma);
    if (id.purpose >= DPL_PURPOSE_LIMIT || first > DPL_GAUSSIAN_COORDINATES ||
        n > DPL_GAUSSIAN_COORDINATES - first)
        return dpl_fail(
            run, DPL_USAGE,
            "a stream of Gaussian noise has purposes below %d and at most 2^36 coordinates",
            DPL_PURPOSE_LIMIT);
    return DPL_OK;
}

enum dpl_status dpl_gaussian_add_with(struct dpl_run *run, struct dpl_random *random,
                                      const struct dpl_gaussian_how *how, struct dpl_stream_id id,
                                      uint64_t first, int64_t *vector, size_t n,
                                      double sigma_steps) {
    DPL_TRY(check(run, id, first, n, sigma_steps));
    double caution = how->inflation;
    struct dpl_gaussian_job job = {sigma_steps, DPL_GAUSSIAN_RELATIVE * caution,
                                   sigma_steps * DPL_GAUSSIAN_ABSOLUTE * caution};
    struct chunk chunk;
    enum dpl_status status = DPL_OK;
    for (size_t done = 0; status == DPL_OK && done < n;) {
        // An odd first coordinate takes the second number of its pair.
        size_t skip = (first + done) % 2, take = n - done;
        if (take > 2 * DPL_GAUSSIAN_CHUNK - skip) take = 2 * DPL_GAUSSIAN_CHUNK - skip;
        status = make_noise(run, random, how, &job, id, (first + done) / 2, (skip + take + 1) / 2,
                            &chunk);
        if (status != DPL_OK) break;
        // PRIVACY: a sum that wraps is still a function of (x + noise), so it reveals nothing more.
        for (size_t i = 0; i < take; i++)
            vector[done + i] =
                (int64_t)((uint64_t)vector[done + i] + (uint64_t)chunk.noise[skip + i]);
        done += take;
    }
    dpl_wipe(&chunk, sizeof chunk);
    return status;
}

enum dpl_status dpl_gaussian_add(struct dpl_run *run, struct dpl_random *random,
                                 struct dpl_stream_id id, uint64_t first, int64_t *vector, size_t n,
                                 double sigma_steps) {
    struct dpl_gaussian_how how = {dpl_gaussian_path_best(), 1, NULL};
    return dpl_gaussian_add_with(run, random, &how, id, first, vector, n, sigma_steps);
}
