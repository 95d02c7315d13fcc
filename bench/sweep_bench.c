/* The sweeps that the calibration of `bridge` spends its time in, against what the machine's
 * arithmetic could do at best.
 *
 * A town of SIDE x SIDE cells, steps to all cells within two. The ideal counts one multiplication
 * and one addition of eight floats wherever a sweep has them, and divides by the rate of just that
 * on registers; reading and writing, divisions and scaling are what is above it. One thread,
 * processor time, the fastest of ROUNDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "base/clones.h"
#include "method/bridge/walk.h"

enum {
    SIDE = 20,
    K = SIDE * SIDE,
    REACH = 2,
    LENGTH_MAX = 60,
    ROUNDS = 15,
    M = DPL_MOVES,
    Q = DPL_HEADINGS
};
typedef float lanes __attribute__((vector_size(DPL_LANES * sizeof(float))));

/* Multiplications and additions on ten registers; eight of them hide each other's latency. */
DPL_CLONES static double multiply_add(size_t n) {
    lanes sum[10], a = {0.999f, 0.998f, 0.997f, 0.996f, 0.995f, 0.994f, 0.993f, 0.992f};
    for (int i = 0; i < 10; i++) sum[i] = a * (float)(i + 1);
    for (size_t i = 0; i < n; i++) {
        sum[0] = sum[0] * a + a, sum[1] = sum[1] * a + a, sum[2] = sum[2] * a + a,
        sum[3] = sum[3] * a + a, sum[4] = sum[4] * a + a;
        sum[5] = sum[5] * a + a, sum[6] = sum[6] * a + a, sum[7] = sum[7] * a + a,
        sum[8] = sum[8] * a + a, sum[9] = sum[9] * a + a;
    }
    for (int i = 1; i < 10; i++) sum[0] += sum[i];
    return (double)sum[0][0];
}

static double best_multiply_add_s(void) {
    enum { N = 2000000 };
    double best = 1e9;
    volatile double sink;
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_s();
        sink = multiply_add(N);
        double took = cpu_s() - start;
        best = took < best ? took : best;
    }
    (void)sink;
    return best / N / 10;
}

struct town {
    int32_t start[K * M + 1], to[K * 24];
    float weight[K * 24], stay[K], turn[Q * DPL_NEXT], speed[DPL_MOTION_SPEEDS], potential[K],
        lengths[LENGTH_MAX + 1], counts[LENGTH_MAX + 1];
    uint8_t band[K * 24];
    int32_t target[K];
    size_t n;
};

/* Two cells away is fast. */
static size_t move_of(int dy, int dx) {
    size_t sector = dx == 0   ? (dy > 0 ? 2 : 6)
                    : dy == 0 ? (dx > 0 ? 0 : 4)
                    : dy > 0  ? (dx > 0 ? 1 : 3)
                              : (dx > 0 ? 7 : 5);
    return sector + (abs(dx) > 1 || abs(dy) > 1 ? DPL_SECTORS : 0);
}

static void build(struct town *town) {
    for (size_t row = 0; row < K * M; row++) {
        for (int dy = -REACH; dy <= REACH; dy++)
            for (int dx = -REACH; dx <= REACH; dx++) {
                int y = (int)(row / M) / SIDE + dy, x = (int)(row / M) % SIDE + dx;
                if ((dy == 0 && dx == 0) || y < 0 || x < 0 || y >= SIDE || x >= SIDE ||
                    move_of(dy, dx) != row % M)
                    continue;
                town->weight[town->n] = 0.04f, town->to[town->n++] = y * SIDE + x;
            }
        town->start[row + 1] = (int32_t)town->n;
    }
    for (size_t k = 0; k < K; k++)
        town->stay[k] = 0.2f, town->potential[k] = 1, town->target[k] = (int32_t)k;
    for (size_t i = 0; i < Q * DPL_NEXT; i++) town->turn[i] = 1;
    for (size_t i = 0; i < DPL_MOTION_SPEEDS; i++) town->speed[i] = 1;
    for (size_t l = 2; l <= LENGTH_MAX; l++)
        town->lengths[l] = 1.0f / LENGTH_MAX, town->counts[l] = 1;
}

struct times {
    double backward, forward, visits; // the last: forward without turns
};

static double forward_s(const struct town *town, struct dpl_sweep *sweep, struct dpl_tally *tally) {
    sweep->n_demand = 0;
    for (size_t s = 0; s < K; s++)
        dpl_sweep_demand(sweep, s, 0, (float[DPL_LANES]){1, 1, 1, 1, 1, 1, 1, 1});
    double start = cpu_s();
    dpl_sweep_forward(sweep, town->lengths, town->counts, tally);
    return cpu_s() - start;
}

static double least(double a, double b) { return a < b ? a : b; }

static struct times time_sweeps(const struct town *town, struct dpl_sweep *sweep,
                                struct dpl_tally *tally) {
    struct times best = {1e9, 1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_s();
        dpl_sweep_backward(sweep, 0, K / 2);
        double backward = cpu_s() - start, forward = forward_s(town, sweep, tally);
        float *turns = tally->turns;
        tally->turns = NULL;
        double visits = forward_s(town, sweep, tally);
        tally->turns = turns;
        best = (struct times){least(best.backward, backward), least(best.forward, forward),
                              least(best.visits, visits)};
    }
    return best;
}

int main(void) {
    static struct town town;
    const struct dpl_run_options options = dpl_run_defaults();
    struct dpl_run *run = dpl_run_new(&options);
    struct dpl_sweep *sweep;
    struct dpl_targets targets;
    build(&town);
    if (!run || dpl_targets_make(run, town.target, K, &targets) != DPL_OK) return 1;
    const struct dpl_walk walk = {.K = K,
                                  .P = 1,
                                  .n_edges = town.n,
                                  .length_max = LENGTH_MAX,
                                  .start = town.start,
                                  .to = town.to,
                                  .band = town.band,
                                  .weight = town.weight,
                                  .stay = town.stay,
                                  .turn = town.turn,
                                  .speed = town.speed,
                                  .potential = town.potential,
                                  .targets = &targets,
                                  .terminal = town.potential};
    struct dpl_tally tally = {.visits = calloc(K * DPL_LANES, 4),
                              .arrivals = calloc(K, 4),
                              .steps = calloc(town.n * DPL_LANES, 4),
                              .stays = calloc(DPL_LANES, 4),
                              .turns = calloc(Q * DPL_NEXT * DPL_LANES, 4),
                              .lengths = calloc((LENGTH_MAX + 1) * DPL_LANES, 4)};
    if (dpl_sweep_new(run, &walk, true, &sweep) != DPL_OK) return 1;
    struct times took = time_sweeps(&town, sweep, &tally);
    double one = best_multiply_add_s(), cells = (double)K * Q, edges = (double)town.n,
           turns = (double)K * Q * M, steps = LENGTH_MAX - 1;
    report("multiply_add_of_eight", one * 1e9, "ns");
    report("sweep_backward", took.backward * 1e3, "ms");
    report("sweep_forward", took.forward * 1e3, "ms");
    report_at_most("sweep_backward_over_ideal",
                   took.backward / (one * steps * (edges + turns + cells)), "x", 4);
    report_at_most("sweep_forward_over_ideal",
                   took.forward / (one * steps * (2 * edges + 2 * turns + cells)), "x", 5);
    report_at_most("sweep_visits_over_ideal", took.visits / (one * steps * (edges + turns + cells)),
                   "x", 6);
    free(tally.visits), free(tally.steps), free(tally.stays), free(tally.turns),
        free(tally.lengths), free(tally.arrivals);
    dpl_sweep_free(sweep);
    dpl_targets_free(&targets);
    dpl_run_free(run);
    return 0;
}
