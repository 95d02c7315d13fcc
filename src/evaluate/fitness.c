/* From figures to words: what synthetic trips are fit for.
 *
 * Each question has rules, a measure and two limits each; the worst rule decides, and its sentence
 * is the reason. "Yes" means that one would hardly notice the difference, "roughly" that trends
 * hold and single figures do not, "no" that the file must not be used for it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

/* How a figure is held against its limits. */
enum rule_kind {
    RATIO_AT_MOST,  /* value / floor */
    RATIO_AT_LEAST, /* value / floor, more is better */
    CHANGE,         /* |value / floor - 1| */
    EXCESS          /* value - floor, in the figure's own unit */
};

struct rule {
    const char *measure;
    int scope;
    enum rule_kind kind;
    double yes, roughly;  /* limits */
    double scale;         /* of value and floor in the sentence */
    const char *sentence; /* printf of value and floor */
};

enum { RULES = 3 };

static const struct {
    const char *question;
    struct rule rule[RULES];
} QUESTIONS[] = {
    {"where",
     {{"density_emd_m", DPL_SCOPE_POOLED, RATIO_AT_MOST, 1.5, 2.5, 1,
       "visits lie %.0f m off; two halves of the real trips %.0f m"}}},
    {"when",
     {{"hour_jsd", DPL_SCOPE_POOLED, RATIO_AT_MOST, 1.5, 3, 1,
       "hours of the day differ by %.3f; two halves of the real trips by %.3f"},
      {"density_emd_m", DPL_SCOPE_HOURS, RATIO_AT_MOST, 1.5, 2.5, 1,
       "hour by hour visits lie %.0f m off; two halves of the real trips %.0f m"}}},
    {"weekday",
     {{"weekday_tv", DPL_SCOPE_POOLED, EXCESS, 0.03, 0.1, 100,
       "%.0f %% of the trips are on another weekday than real ones (halves: %.1f %%)"}}},
    {"from-to",
     {{"od_emd_m", DPL_SCOPE_POOLED, RATIO_AT_MOST, 1.5, 2.5, 1,
       "first and last cells lie %.0f m off; two halves of the real trips %.0f m"},
      {"od_cpc", DPL_SCOPE_POOLED, RATIO_AT_LEAST, 0.9, 0.75, 100,
       "%.0f %% of the flows are common to both; halves of the real trips have %.0f %%"}}},
    {"routes",
     {{"route_emd_m", DPL_SCOPE_POOLED, RATIO_AT_MOST, 1.5, 2.5, 1,
       "ways between the same ends lie %.0f m off; two halves of the real trips %.0f m"},
      {"fp_100", DPL_SCOPE_POOLED, RATIO_AT_LEAST, 0.9, 0.75, 100,
       "%.0f of the 100 most frequent runs of cells are right; halves of the real trips have "
       "%.0f"}}},
    {"speeds and km",
     {{"path_km_mean", DPL_SCOPE_POOLED, CHANGE, 0.05, 0.15, 1,
       "a trip is %.2f km long; a real one %.2f km"},
      {"speed_q50_kmh", DPL_SCOPE_POOLED, CHANGE, 0.1, 0.25, 1,
       "half of all steps are faster than %.0f km/h; real ones %.0f km/h"},
      {"too_fast_share", DPL_SCOPE_POOLED, EXCESS, 0.005, 0.02, 100,
       "%.1f %% of the trips have a step over the speed limit; of the real ones %.1f %%"}}},
    {"single trips on a map",
     {{"shape_auc_phase", DPL_SCOPE_POOLED, EXCESS, 0.05, 0.15, 1,
       "a classifier tells them from real ones with an AUC of %.2f; real ones read otherwise %.2f"},
      {"turn_sharp_share", DPL_SCOPE_POOLED, EXCESS, 0.03, 0.1, 100,
       "%.0f %% of turns are sharper than 90 degrees; of real ones %.0f %%"},
      {"off_track_share", DPL_SCOPE_POOLED, EXCESS, 0.02, 0.1, 100, // near 0 a ratio says nothing
       "%.1f %% of points are 50 m off every real one; of the other half %.1f %%"}}},
    {"training on it",
     {{"next_hit1", DPL_SCOPE_POOLED, RATIO_AT_LEAST, 0.95, 0.85, 100,
       "the next cell is guessed %.0f %% of the time; trained on real trips %.0f %%"},
      {"destination_hit5", DPL_SCOPE_POOLED, RATIO_AT_LEAST, 0.95, 0.8, 100,
       "the destination is among five guesses %.0f %% of the time; trained on real trips %.0f %%"},
      {"travel_time_mae_s", DPL_SCOPE_POOLED, RATIO_AT_MOST, 1.1, 1.3, 1,
       "travel times are off by %.0f s; trained on real trips by %.0f s"}}},
};
enum { QUESTIONS_ALL = sizeof QUESTIONS / sizeof *QUESTIONS };
_Static_assert(sizeof QUESTIONS / sizeof *QUESTIONS <= DPL_FITNESS_MAX, "room for all questions");

const char *dpl_fit_word_name(enum dpl_fit_word word) {
    static const char *const NAMES[] = {"yes", "roughly", "no", "not measured"};
    return NAMES[word <= DPL_FIT_UNKNOWN ? word : DPL_FIT_UNKNOWN];
}

/* How far beyond the limit of "yes" a figure is, on a scale where the limit of "roughly" is 1 and
 * the limit of "yes" is 0. */
static double badness(const struct rule *rule, const struct dpl_measure *m) {
    double figure = m->ratio;
    if (rule->kind == CHANGE) figure = fabs(m->ratio - 1);
    if (rule->kind == EXCESS) figure = m->value - m->floor;
    return (figure - rule->yes) / (rule->roughly - rule->yes); // both limits may descend
}

static enum dpl_fit_word word_of(double badness) {
    if (badness <= 0) return DPL_FIT_YES;
    return badness <= 1 ? DPL_FIT_ROUGHLY : DPL_FIT_NO;
}

static void answer(const struct dpl_evaluation *e, size_t k, const struct rule rule[RULES],
                   struct dpl_fitness *made) {
    double worst = -INFINITY;
    made->word = DPL_FIT_UNKNOWN;
    for (size_t r = 0; r < RULES && rule[r].measure; r++) {
        const struct dpl_measure *m = dpl_evaluation_find(e, k, rule[r].measure, rule[r].scope);
        double bad = m ? badness(&rule[r], m) : NAN;
        if (isnan(bad) || bad <= worst) continue;
        worst = bad;
        made->word = word_of(bad);
        snprintf(made->reason, sizeof made->reason, rule[r].sentence, m->value * rule[r].scale,
                 m->floor * rule[r].scale);
    }
}

size_t dpl_evaluation_fitness(const struct dpl_evaluation *evaluation, size_t synthetic,
                              struct dpl_fitness list[DPL_FITNESS_MAX]) {
    for (size_t q = 0; q < QUESTIONS_ALL; q++) {
        list[q] = (struct dpl_fitness){.question = QUESTIONS[q].question};
        answer(evaluation, synthetic, QUESTIONS[q].rule, &list[q]);
    }
    return QUESTIONS_ALL;
}
