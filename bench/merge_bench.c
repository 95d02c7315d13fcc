/* Merging parts: 1,000 vectors of 10^6 numbers as they come from files, against the bandwidth of
 * memory in the same run; and 10,000 parts of a small round. Processor time, since the machine may
 * be shared. `name value unit goal ok|MISSED`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "fit/counts.h"

enum { N = 1000000, VECTORS = 1000, BUFFERS = 24, PARTS = 10000, SMALL = 2000 };

/* Bytes a second of copying one large buffer to another, each byte read and written once. */
static double bandwidth(void) {
    const size_t bytes = (size_t)256 << 20;
    char *a = malloc(bytes), *b = malloc(bytes);
    double best = INFINITY;
    if (!a || !b) exit(1);
    memset(a, 1, bytes), memset(b, 2, bytes);
    for (int i = 0; i < 5; i++) {
        double begin = cpu_s();
        memcpy(i % 2 ? a : b, i % 2 ? b : a, bytes);
        best = fmin(best, cpu_s() - begin);
    }
    free(a), free(b);
    return (double)bytes / best;
}

/* A part of one shard with a table of n numbers. */
static struct dpl_bytes part_of(struct dpl_run *run, uint32_t index, uint32_t shards, size_t n) {
    static struct dpl_shard_facts facts;
    static const char PLAN[DPL_DIGEST_HEX] =
        "0000000000000000000000000000000000000000000000000000000000000000";
    struct dpl_sums *sums;
    struct dpl_exact *counts = NULL;
    struct dpl_bytes bytes = {0};
    const struct dpl_exact_options about = {n, DPL_NORM_L2, 1, 16};
    const struct dpl_entry one = {index % n, 1};
    must(run, dpl_sums_of_shard(run, PLAN, 1, index, shards, &facts, &sums));
    must(run, dpl_exact_new(run, &about, &counts));
    must(run, dpl_exact_add(run, counts, &one, 1));
    must(run, dpl_sums_put(run, sums, "table", &counts));
    must(run, dpl_sums_make(run, sums, &bytes));
    dpl_sums_free(sums);
    return bytes;
}

/* Vectors alone: what merging is beside reading files. */
static double merge_vectors(struct dpl_run *run) {
    const struct dpl_exact_options about = {N, DPL_NORM_L2, 1, 16};
    struct dpl_exact *sum = NULL;
    int64_t *vector[BUFFERS];
    must(run, dpl_exact_new(run, &about, &sum));
    for (int i = 0; i < BUFFERS; i++) vector[i] = calloc(N, sizeof **vector);
    double begin = cpu_s();
    for (int i = 0; i < VECTORS; i++)
        must(run, dpl_exact_merge_bytes(run, sum, 1, vector[i % BUFFERS]));
    double rate = (double)VECTORS * N * sizeof(int64_t) / (cpu_s() - begin);
    for (int i = 0; i < BUFFERS; i++) free(vector[i]);
    dpl_exact_free(sum);
    return rate;
}

/* Parts as `dploc merge` gets them, the hash checked. */
static double merge_parts(struct dpl_run *run, uint32_t shards, size_t n, double *seconds) {
    struct dpl_sums *sums;
    double spent = 0, bytes = 0;
    must(run, dpl_sums_new(run, &sums));
    for (uint32_t i = 0; i < shards; i++) {
        struct dpl_bytes part = part_of(run, i, shards, n);
        double begin = cpu_s();
        must(run, dpl_sums_add(run, sums, "part", (struct dpl_view){part.data, part.n}));
        spent += cpu_s() - begin;
        bytes += (double)part.n;
        dpl_bytes_free(&part);
    }
    must(run, dpl_sums_check_whole(run, sums));
    dpl_sums_free(sums);
    *seconds = spent;
    return bytes / spent;
}

int main(void) {
    struct dpl_run *run = dpl_run_new(NULL);
    const double memory = bandwidth();
    double seconds;
    report("memory_bandwidth", memory / 1e9, "GB/s");
    report_at_least("merge_1000_vectors_over_bandwidth", merge_vectors(run) / memory, "times",
                    1.0 / 3);
    report_at_least("merge_parts_with_hash", merge_parts(run, 100, N, &seconds) / 1e9, "GB/s", 0.5);
    merge_parts(run, PARTS, SMALL, &seconds);
    report_at_most("merge_10000_parts_of_2000", seconds, "s", 60);
    dpl_run_free(run);
    return 0;
}
