/* The discrete Laplace in integers, without a logarithm (Canonne, Kamath, Steinke 2020, algorithm
 * 2).
 *
 * A geometric magnitude with ratio exp(-den/num) and a fair sign; "minus zero" is drawn again,
 * since zero would otherwise come twice as often. Coordinates go in groups of 64, one stream a
 * group, drawn in order: a call that begins inside a group draws the group's start again and drops
 * it. Cost: about 20 words, 100 ns a draw. */
#include "noise/laplace.h"

#include <math.h>

enum { GROUP = 64 };
static const uint64_t MOST = (uint64_t)1 << 40;

static int64_t draw(struct dpl_stream *stream, uint64_t num, uint64_t den) {
    for (;;) {
        uint64_t magnitude = dpl_stream_geometric(stream, den, num);
        bool negative = dpl_stream_u64(stream) >> 63;
        if (magnitude == 0 && negative && !stream->broken) continue;
        return negative ? -(int64_t)magnitude : (int64_t)magnitude;
    }
}

enum dpl_status dpl_laplace_add(struct dpl_run *run, struct dpl_random *random,
                                struct dpl_stream_id id, uint64_t first, int64_t *vector, size_t n,
                                uint64_t num, uint64_t den) {
    if (num < 1 || den < 1 || num > MOST || den > MOST)
        return dpl_fail(run, DPL_USAGE,
                        "Laplace noise of scale %llu/%llu cannot be made (both from 1 to 2^40)",
                        (unsigned long long)num, (unsigned long long)den);
    if (id.b != 0 || first > MOST || n > MOST - first)
        return dpl_fail(run, DPL_USAGE,
                        "a stream of Laplace noise has b = 0 and at most 2^40 coordinates");
    for (size_t done = 0; done < n;) {
        struct dpl_stream stream;
        id.b = (first + done) / GROUP;
        size_t skip = (first + done) % GROUP,
               take = n - done < GROUP - skip ? n - done : GROUP - skip;
        dpl_stream_open(&stream, random, id);
        for (size_t i = 0; i < skip; i++) draw(&stream, num, den);
        for (size_t i = 0; i < take; i++, done++)
            vector[done] = (int64_t)((uint64_t)vector[done] + (uint64_t)draw(&stream, num, den));
        DPL_TRY(dpl_stream_close(run, &stream));
    }
    return DPL_OK;
}

bool dpl_laplace_ratio(double scale_steps, uint64_t *num, uint64_t *den) {
    int places;
    frexp(scale_steps, &places);
    int shift = places >= 39 ? 0 : places < 0 ? 39 : 39 - places;
    if (!(scale_steps >= 0x1p-20 && scale_steps <= 0x1p39)) return false;
    *num = (uint64_t)ceil(ldexp(scale_steps, shift));
    *den = (uint64_t)1 << shift;
    return true;
}
