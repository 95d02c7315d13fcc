/* Reports that every unit noises itself: optimised unary encoding (Wang et al. 2017).
 *
 * A report over d values is d bits. The bit of the true value is sent as 1 with probability 1/2,
 * any other with q = 1 / (e^eps + 1); a dummy has no true value. Two reports differ in two bits at
 * most, whose likelihoods differ by a factor of (1/2)/q * (1-q)/(1/2) = e^eps; against a dummy by
 * less. Sums of bits, less what the others send, over 1/2 - q are unbiased counts.
 *
 * PRIVACY: q is rounded up to a multiple of 2^-32, which can only lower the factor, and drawn
 * exactly. Only sums of bits are needed, so only they are drawn: of a coordinate, one bit for each
 * report of each unit, whether it is true or not. Units that have nothing to report send dummies,
 * so that how many bits there are depends on their number alone.
 * Cost: half a word of the cipher a bit. */
#include <math.h>
#include <omp.h>

#include "noise/local.h"

uint32_t dpl_local_threshold(double epsilon) {
    double q = ceil(0x1p32 / (exp(epsilon) + 1)) + 1; // one more covers the rounding of exp
    return q < 0x1p31 ? (uint32_t)q : (uint32_t)1 << 31;
}

/* How many of n bits are 1, each with probability threshold / 2^32. */
static uint64_t count_bits(struct dpl_stream *stream, uint64_t n, uint32_t threshold) {
    uint64_t ones = 0;
    for (uint64_t i = 0; i + 1 < n; i += 2) {
        uint64_t word = dpl_stream_u64(stream);
        ones += (uint64_t)((uint32_t)word < threshold) + ((uint32_t)(word >> 32) < threshold);
    }
    if (n % 2) ones += (uint64_t)((uint32_t)dpl_stream_u64(stream) < threshold);
    return ones;
}

int64_t dpl_local_draw(struct dpl_stream *stream, uint64_t trues, uint64_t reports,
                       uint32_t threshold, int places) {
    uint64_t ones = count_bits(stream, trues, (uint32_t)1 << 31) +
                    count_bits(stream, reports - trues, threshold);
    double q = ldexp(threshold, -32);
    return llrint(ldexp(((double)ones - (double)reports * q) / (0.5 - q), places));
}

/* Sections share out the coordinates, and their reports are what the event was charged for. */
static enum dpl_status check_sections(struct dpl_run *run, const struct dpl_event *event,
                                      const struct dpl_exact *exact,
                                      const struct dpl_local_section *section, size_t n) {
    size_t covered = 0;
    double reports = 0;
    for (size_t i = 0; i < n; i++) {
        if (section[i].first != covered) break;
        covered += section[i].n, reports += (double)section[i].reports;
    }
    if (covered == exact->options.n && reports == event->sensitivity) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED,
                    "event '%s' was accounted for with %g reports of a unit, and the sections "
                    "have %g on %zu of %zu coordinates",
                    event->name, event->sensitivity, reports, covered, exact->options.n);
}

static enum dpl_status noise_section(struct dpl_run *run, struct dpl_random *const *random,
                                     struct dpl_stream_id id,
                                     const struct dpl_local_section *section, uint32_t threshold,
                                     struct dpl_exact *exact) {
    uint64_t reports = section->reports * exact->units;
    int places = exact->options.places;
    _Atomic int failed = DPL_OK;
#pragma omp parallel for num_threads(dpl_run_threads(run)) schedule(dynamic)
    for (size_t i = section->first; i < section->first + section->n; i++) {
        struct dpl_stream stream;
        struct dpl_stream_id own = {id.purpose, id.a, i};
        uint64_t trues = exact->sum[i] > 0 ? (uint64_t)exact->sum[i] >> places : 0;
        dpl_stream_open(&stream, random[omp_get_thread_num()], own);
        exact->sum[i] =
            dpl_local_draw(&stream, trues < reports ? trues : reports, reports, threshold, places);
        enum dpl_status status = dpl_stream_close(run, &stream);
        if (status != DPL_OK) failed = (int)status;
    }
    return (enum dpl_status)failed;
}

double dpl_local_deviation(double reports, double epsilon) {
    double q = ldexp(dpl_local_threshold(epsilon), -32);
    return sqrt(reports * q * (1 - q)) / (0.5 - q);
}

enum dpl_status dpl_local_noise(struct dpl_run *run, const struct dpl_secret *secret,
                                const struct dpl_event *event, struct dpl_stream_id id,
                                const struct dpl_local_section *section, size_t n_sections,
                                struct dpl_exact *exact, double *deviation) {
    double epsilon = 1 / event->sigma / event->sensitivity; // of one report
    uint32_t threshold = dpl_local_threshold(epsilon);
    int threads = dpl_run_threads(run);
    struct dpl_random **random = dpl_alloc(run, (size_t)threads, sizeof *random);
    enum dpl_status status = random ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    DPL_GO(check_sections(run, event, exact, section, n_sections));
    for (int i = 0; i < threads; i++) DPL_GO(dpl_random_new(run, secret, &random[i]));
    *deviation = 0;
    for (size_t s = 0; s < n_sections; s++) {
        DPL_GO(noise_section(run, random, id, &section[s], threshold, exact));
        *deviation =
            fmax(*deviation,
                 dpl_local_deviation((double)section[s].reports * (double)exact->units, epsilon));
    }
done:
    for (int i = 0; random && i < threads; i++) dpl_random_free(random[i]);
    dpl_free(random);
    return status;
}
