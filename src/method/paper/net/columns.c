/* Column operations. Plain C that the compiler turns into vector code (see vector.h). */
#include "method/paper/net/columns.h"

#include <math.h>

#include "method/paper/net/vector.h"

enum { LANES = 8 };

DPL_CLONES void dpl_columns_relu(const float *base, float shift, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) {
        float value = base[i] + shift;
        out[i] = value < 0 ? 0 : value;
    }
}

DPL_CLONES static void take_max(const float *row, size_t n, float *max) {
    for (size_t i = 0; i < n; i++) max[i] = row[i] > max[i] ? row[i] : max[i];
}

/* The exponent is kept from -87 up, which is as good as nothing in a sum of at least 1, and NaN
 * goes there too. */
DPL_CLONES static void below_max(const float *row, const float *max, size_t n, float *out) {
    for (size_t i = 0; i < n; i++) {
        float value = row[i] - max[i];
        out[i] = value > -87.0f ? value : -87.0f;
    }
}

DPL_CLONES static void add_to(const float *row, size_t n, float *sum) {
    for (size_t i = 0; i < n; i++) sum[i] += row[i];
}

void dpl_columns_log_sum_exp(const float *z, size_t rows, size_t n, float *norm, float *scratch) {
    float *max = scratch, *power = scratch + n;
    for (size_t i = 0; i < n; i++) max[i] = -INFINITY, norm[i] = 0;
    for (size_t y = 0; y < rows; y++) take_max(z + y * n, n, max);
    for (size_t y = 0; y < rows; y++) {
        below_max(z + y * n, max, n, power);
        dpl_vector_exp(power, n);
        add_to(power, n, norm);
    }
    for (size_t i = 0; i < n; i++) norm[i] = max[i] + logf(norm[i]);
}

/* Written so that a comparison with NaN is false. */
static inline float edge_cost(float norm, float z) {
    float cost = norm - z;
    return cost < 0 ? 0 : cost; // rounding may leave a log probability just above 0
}

DPL_CLONES size_t dpl_columns_relax(const float *z, const float *norm, size_t n, int32_t y,
                                    float distance_y, const float *closed, float *distance,
                                    int32_t *next) {
    float least[LANES];
    int32_t at[LANES];
    for (int32_t j = 0; j < LANES; j++) least[j] = INFINITY, at[j] = (int32_t)n;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++) {
            float through = distance_y + edge_cost(norm[i + j], z[i + j]), before = distance[i + j];
            float now = through < before ? through : before, open = now + closed[i + j];
            next[i + j] = through < before ? y : next[i + j];
            distance[i + j] = now;
            at[j] = open < least[j] ? (int32_t)(i + j) : at[j];
            least[j] = open < least[j] ? open : least[j];
        }
    for (; i < n; i++) {
        float through = distance_y + edge_cost(norm[i], z[i]);
        if (through < distance[i]) distance[i] = through, next[i] = y;
        if (distance[i] + closed[i] < least[0])
            least[0] = distance[i] + closed[i], at[0] = (int32_t)i;
    }
    for (size_t j = 1; j < LANES; j++)
        if (least[j] < least[0] || (!(least[0] < least[j]) && at[j] < at[0]))
            least[0] = least[j], at[0] = at[j];
    return (size_t)at[0];
}
