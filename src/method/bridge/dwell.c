/* Slow movers: two clocks, one of moves and one of stays.
 *
 * A walker is in a cell for six slots and needs about six to cross it. A walk that tosses a coin at
 * every slot, to stay or to go on, is there for one slot as often as for two, and for twenty now
 * and then: it hurries through one cell and wanders about in the next. So where stays are long, the
 * walk tells which cells a trip passes and how many visits it has, and the visits are dealt out
 * anew:
 *
 *     visits of a stay = 1 + what is left, in proportion to pace of the place * way through it
 *     way of a stay    = half the way from the centre before and to the centre after
 *
 * Trips keep their length. So that places keep their visits, their paces are calibrated on drawn
 * trips: each is multiplied by visits before over visits after the dealing, to a power, some times.
 * Where stays are short, as by car, there is little to deal out, and real ones rest here and there:
 * paces are 0, and the walk is left as it is.
 *
 * PRIVACY: what is made of tables alone. */
#include "method/bridge/dwell.h"

#include <math.h>
#include <string.h>

#include "method/bridge/constants.h"

bool dpl_dwell_is_slow(const struct dpl_places *places, const double *visits,
                       const struct dpl_edges *edges) {
    double all = 0, moves = 0;
    for (size_t k = 0; k < places->K; k++) all += visits[k];
    for (size_t e = 0; e < edges->n; e++) moves += edges->steps[e];
    return all > SLOW_VISITS * moves;
}

/* Metres of stay i, as its place's pace weighs them. */
static double weigh(const struct dpl_places *places, const float *pace, const struct dpl_stay *stay,
                    size_t n, size_t i) {
    double in_m = i > 0 ? dpl_places_distance_m(places, stay[i - 1].cell, stay[i].cell) : 0,
           out_m = i + 1 < n ? dpl_places_distance_m(places, stay[i].cell, stay[i + 1].cell) : 0;
    return (double)pace[stay[i].cell] * (in_m + out_m);
}

void dpl_dwell_deal(const struct dpl_places *places, const float *pace, double u,
                    struct dpl_stay *stay, size_t n) {
    double all = 0, sum = 0;
    size_t visits = 0, dealt = 0;
    for (size_t i = 0; i < n; i++) visits += stay[i].visits, all += weigh(places, pace, stay, n, i);
    if (!(all > 0)) return;
    size_t spare = visits - n;
    for (size_t i = 0; i < n; i++) {
        sum += weigh(places, pace, stay, n, i);
        size_t upto = (size_t)(sum / all * (double)spare + u); // u: so that no stay is favoured
        if (upto > spare || i + 1 == n) upto = spare;
        stay[i].visits = (uint16_t)(1 + upto - dealt);
        dealt = upto;
    }
}

/* The stays of some trips, side by side. */
struct trips {
    size_t n, n_stays;
    size_t *start;          /* (n + 1) */
    struct dpl_stay *stays; /* (n_stays) */
};

static enum dpl_status copy_trips(struct dpl_run *run, const struct dpl_round *round,
                                  struct trips *trips) {
    size_t n_stays;
    trips->n = round->n_trips;
    for (size_t i = 0; i < trips->n; i++)
        dpl_round_get(round, i, &n_stays), trips->n_stays += n_stays;
    trips->start = dpl_alloc(run, trips->n + 1, sizeof *trips->start);
    trips->stays = dpl_alloc(run, trips->n_stays + 1, sizeof *trips->stays);
    if (!trips->start || !trips->stays) return DPL_SYSTEM;
    for (size_t i = 0; i < trips->n; i++) {
        const struct dpl_stay *stay = dpl_round_get(round, i, &n_stays);
        memcpy(trips->stays + trips->start[i], stay, n_stays * sizeof *stay);
        trips->start[i + 1] = trips->start[i] + n_stays;
    }
    return DPL_OK;
}

/* Visits of each place, weighted as the tables are: out (K). */
static void count_visits(const struct dpl_places *places, const struct trips *trips, double *out) {
    memset(out, 0, places->K * sizeof *out);
    for (size_t i = 0; i < trips->n; i++) {
        size_t visits = 0;
        for (size_t s = trips->start[i]; s < trips->start[i + 1]; s++)
            visits += trips->stays[s].visits;
        const double weight = dpl_visit_weight(places->full_visits, visits);
        for (size_t s = trips->start[i]; s < trips->start[i + 1]; s++)
            out[trips->stays[s].cell] += trips->stays[s].visits * weight;
    }
}

enum dpl_status dpl_dwell_fit(struct dpl_run *run, const struct dpl_places *places,
                              const struct dpl_round *round, float *pace) {
    size_t K = places->K;
    struct trips trips = {0};
    double *wanted, *got;
    enum dpl_status status = DPL_SYSTEM;
    void *block = DPL_BLOCK(run, DPL_PIECE(wanted, K), DPL_PIECE(got, K));
    if (!block) goto done;
    DPL_GO(copy_trips(run, round, &trips));
    count_visits(places, &trips, wanted);
    for (size_t k = 0; k < K; k++) pace[k] = 1;
    for (int r = 0; r < PACE_ROUNDS; r++) {
        for (size_t i = 0; i < trips.n; i++)
            dpl_dwell_deal(places, pace, 0.5, trips.stays + trips.start[i],
                           trips.start[i + 1] - trips.start[i]);
        count_visits(places, &trips, got);
        for (size_t k = 0; k < K; k++) {
            double ratio = (wanted[k] + PACE_DAMP) / (got[k] + PACE_DAMP),
                   next = (double)pace[k] * pow(ratio, PACE_POWER);
            pace[k] = (float)fmin(fmax(next, 1 / PACE_MOST), PACE_MOST);
        }
    }
done:
    dpl_free(trips.start), dpl_free(trips.stays);
    dpl_free(block);
    return status;
}
