/* Attackers against members, beside the bound that the promise gives and beside controls.
 *
 *     members ──────────────────────> scored
 *     others  ──by unit──> reference │ set thresholds │ scored
 *
 * Thresholds are set on other units than they are counted on, so that the counts are binomial and
 * their limits exact. Beyond the bound means: the lower limit of the TPR exceeds e^epsilon times
 * the upper limit of the FPR, plus delta, each limit at (1 - 99.9 %) / 2 divided by the number of
 * attacks and thresholds tried.
 *
 * PRIVACY: everything here reads raw trips and knows who is a member. */
#include "evaluate/attack.h"
#include "base/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evaluate/boost.h"
#include "evaluate/limits.h"
#include "evaluate/ready.h" // defines: dpl_shuffle
#include "model/model.h"

enum { SCORED_MAX = 20000, LINKED_MAX = 4000 };
static const double FPR[DPL_ATTACK_POINTS] = {0.01, 0.001};

static const struct {
    const char *name, *meaning;
    dpl_attacker *score;
    size_t trips_max; /* scored a side */
    bool sanity_only, users_only, informed;
} ATTACKS[] = {
    {"density_ratio",
     "Is the trip likelier among the synthetic trips than among real trips of others? (DOMIAS)",
     dpl_attack_density, SCORED_MAX, false, false, false},
    {"classifier", "Does a classifier that tells synthetic from other real trips take it for one?",
     dpl_attack_classifier, SCORED_MAX, false, false, false},
    {"linkage", "How near is the nearest synthetic trip? A sanity check only.", dpl_attack_linkage,
     LINKED_MAX, true, false, false},
    {"knock_knock", "Are the person's cells and hours visited more often than others' are?",
     dpl_attack_presence, SCORED_MAX, false, true, false},
    {"informed",
     "Likelihood ratio of the noised tables, by one who knows all trips but the target's.",
     dpl_attack_informed, SCORED_MAX, false, false, true},
};
enum { ATTACKS_ALL = sizeof ATTACKS / sizeof *ATTACKS };
_Static_assert(sizeof ATTACKS / sizeof *ATTACKS <= DPL_ATTACKS_MAX, "room for all attacks");

/* ---- units ---- */

/* The unit of a trip: itself, or its user. */
static uint64_t unit_of(const struct dpl_cleaned *trips, size_t trip, enum dpl_unit unit) {
    int32_t user = trips->user[trip];
    return unit == DPL_UNIT_USER && user >= 0 ? (uint64_t)user : ((uint64_t)1 << 40) + trip;
}

struct unit_score {
    uint64_t unit;
    double score;
};

static int by_unit(const void *a, const void *b) {
    const struct unit_score *x = a, *y = b;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* One score a unit, the mean of its trips'; in random order, so that each part is like the rest. */
static enum dpl_status score_units(struct dpl_run *run, const struct dpl_pick *pick,
                                   enum dpl_unit unit, double *score, size_t *n_units) {
    struct unit_score *list = dpl_alloc(run, pick->n, sizeof *list);
    if (!list) return DPL_SYSTEM;
    size_t n = 0;
    for (size_t i = 0; i < pick->n; i++)
        list[i] =
            (struct unit_score){dpl_mix64(unit_of(pick->trips, pick->trip[i], unit)), score[i]};
    qsort(list, pick->n, sizeof *list, by_unit);
    for (size_t i = 0, end; i < pick->n; i = end, n++) {
        double sum = 0;
        for (end = i; end < pick->n && list[end].unit == list[i].unit; end++)
            sum += list[end].score;
        score[n] = sum / (double)(end - i);
    }
    *n_units = n;
    dpl_free(list);
    return DPL_OK;
}

/* ---- what scores tell ---- */

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static size_t above(const double *score, size_t n, double threshold) {
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) hits += score[i] > threshold;
    return hits;
}

static double bound_at(double fpr, const struct dpl_attack_options *options) {
    return fmin(1, exp(options->epsilon) * fpr + options->delta);
}

/* Counts beyond a threshold that was set elsewhere. `others` are (n) to count. */
struct counted {
    size_t true_hits, members, false_hits, others;
};

static bool beyond_bound(const struct counted *c, const struct dpl_attack_options *options,
                         size_t tried) {
    double alpha = DPL_ATTACK_DOUBT / 2 / (double)tried;
    double tpr = dpl_share_lower(c->true_hits, c->members, alpha),
           fpr = dpl_share_upper(c->false_hits, c->others, alpha);
    return tpr > exp(options->epsilon) * fpr + options->delta;
}

/* `others` is in random order: its first half sets thresholds, the second is counted. */
static void judge_points(double *others, size_t n_others, const double *members, size_t n_members,
                         const struct dpl_attack_options *options, size_t tried,
                         struct dpl_attack *attack) {
    size_t half = n_others / 2;
    qsort(others, half, sizeof *others, descending);
    for (size_t p = 0; p < DPL_ATTACK_POINTS; p++) {
        size_t allowed = (size_t)(FPR[p] * (double)half);
        attack->bound[p] = bound_at(FPR[p], options);
        attack->tpr[p] = NAN;
        if (allowed == 0) continue;
        struct counted c = {.true_hits = above(members, n_members, others[allowed]),
                            .members = n_members,
                            .false_hits = above(others + half, n_others - half, others[allowed]),
                            .others = n_others - half};
        attack->tpr[p] = (double)c.true_hits / (double)n_members;
        attack->exceeds |= beyond_bound(&c, options, tried);
    }
}

/* Thresholds are known, the noise being known; hits are not independent, and are counted as so many
 * fewer. */
static void judge_calibrated(double *const score[2], const size_t n[2],
                             const struct dpl_calibration *calibration,
                             const struct dpl_attack_options *options, size_t tried,
                             struct dpl_attack *attack) {
    for (size_t p = 0; p < DPL_ATTACK_POINTS; p++) {
        size_t hits[2], all[2];
        for (size_t t = 0; t < 2; t++) {
            hits[t] = above(score[t], n[t], -FPR[p]);
            all[t] = (size_t)((double)n[t] / calibration->design[t]);
        }
        attack->bound[p] = bound_at(FPR[p], options);
        attack->tpr[p] = (double)hits[1] / (double)n[1];
        struct counted c = {.true_hits = (size_t)((double)hits[1] / calibration->design[1]),
                            .members = all[1],
                            .false_hits = (size_t)fmin(
                                ceil((double)hits[0] / calibration->design[0]), (double)all[0]),
                            .others = all[0]};
        if (all[0] && all[1]) attack->exceeds |= beyond_bound(&c, options, tried);
    }
    attack->exceeds |= calibration->quiet;
}

/* What calibrated scores of others are in expectation. Members and others of one release meet the
 * same noise: measured against each other, what is common to them would cancel, and the attacker
 * seem to know more than anybody can. */
static void expect_scores(double *others, size_t n) {
    for (size_t i = 0; i < n; i++) others[i] = -((double)i + 0.5) / (double)n;
}

/* ---- the whole curve ---- */

/* Shares of false hits from 1 in n to 1, evenly in their logarithm, and 0. */
static size_t roc_hits(size_t point, size_t n) {
    double share = (double)point / (DPL_ROC_POINTS - 1);
    return point == 0 ? 0 : (size_t)rint(pow((double)n, share));
}

static enum dpl_status find_roc(struct dpl_run *run, double *const score[2], const size_t n[2],
                                const struct dpl_attack_options *options,
                                struct dpl_attack *attack) {
    double *sorted = dpl_alloc(run, n[0] + n[1], sizeof *sorted);
    if (!sorted) return DPL_SYSTEM;
    double *members = sorted + n[0];
    memcpy(sorted, score[0], n[0] * sizeof *sorted);
    memcpy(members, score[1], n[1] * sizeof *sorted);
    qsort(sorted, n[0], sizeof *sorted, descending);
    qsort(members, n[1], sizeof *members, descending);
    for (size_t point = 0, true_hits = 0, last = 0; point < DPL_ROC_POINTS; point++) {
        size_t hits = roc_hits(point, n[0]);
        if (point && hits == last) continue;
        while (true_hits < n[1] && (hits == n[0] || members[true_hits] > sorted[hits])) true_hits++;
        double fpr = (double)hits / (double)n[0];
        attack->roc[attack->n_roc++] =
            (struct dpl_roc_point){fpr, (double)true_hits / (double)n[1], bound_at(fpr, options)};
        last = hits;
    }
    dpl_free(sorted);
    return DPL_OK;
}

static enum dpl_status auc_of(struct dpl_run *run, const double *others, size_t n_others,
                              const double *members, size_t n_members, double *auc) {
    size_t n = n_others + n_members;
    double *score = dpl_alloc(run, n, sizeof *score);
    uint8_t *label = dpl_alloc(run, n, sizeof *label);
    enum dpl_status status = score && label ? DPL_OK : DPL_SYSTEM;
    if (status == DPL_OK) {
        memcpy(score, others, n_others * sizeof *score);
        memcpy(score + n_others, members, n_members * sizeof *score);
        memset(label + n_others, 1, n_members);
        status = dpl_auc(run, score, label, n, auc);
    }
    dpl_free(score);
    dpl_free(label);
    return status;
}

/* ---- who is asked about ---- */

struct field {
    const struct dpl_attack_input *input;
    const struct dpl_attack_options *options;
    uint32_t *reference, *target[2]; /* trips of others, others, members; in random order */
    size_t n_reference, n_target[2];
    double *score[2];
};

static void field_free(struct field *f) {
    dpl_free(f->reference);
    for (size_t t = 0; t < 2; t++) {
        dpl_free(f->target[t]);
        dpl_free(f->score[t]);
    }
}

/* Units in random order, all trips of a unit behind each other. */
static int by_score(const void *a, const void *b) {
    const struct unit_score *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? 1 : -1;
    return by_unit(a, b);
}

static enum dpl_status random_units(struct dpl_run *run, const struct dpl_cleaned *trips,
                                    const struct dpl_attack_options *options, uint32_t *order) {
    struct unit_score *list = dpl_alloc(run, trips->n_trips, sizeof *list);
    if (!list) return DPL_SYSTEM;
    for (size_t i = 0; i < trips->n_trips; i++) {
        uint64_t unit = unit_of(trips, i, options->unit);
        uint64_t place = dpl_mix64(dpl_mix64(options->seed) + unit) >> 11;
        list[i] = (struct unit_score){i, (double)place}; // equal for the trips of one unit
    }
    qsort(list, trips->n_trips, sizeof *list, by_score);
    for (size_t i = 0; i < trips->n_trips; i++) order[i] = (uint32_t)list[i].unit;
    dpl_free(list);
    return DPL_OK;
}

static enum dpl_status field_make(struct dpl_run *run, struct field *f) {
    const struct dpl_cleaned *others = f->input->others, *members = f->input->members;
    size_t half = others->n_trips / 2;
    f->reference = dpl_alloc(run, others->n_trips, sizeof *f->reference);
    f->target[0] = dpl_alloc(run, others->n_trips, sizeof *f->target[0]);
    f->target[1] = dpl_alloc(run, members->n_trips, sizeof *f->target[1]);
    if (!f->reference || !f->target[0] || !f->target[1]) return DPL_SYSTEM;
    DPL_TRY(random_units(run, others, f->options, f->reference));
    DPL_TRY(random_units(run, members, f->options, f->target[1]));
    // No unit is on both sides of the cut.
    while (half > 0 && half < others->n_trips &&
           unit_of(others, f->reference[half], f->options->unit) ==
               unit_of(others, f->reference[half - 1], f->options->unit))
        half++;
    f->n_reference = half;
    f->n_target[0] = others->n_trips - half;
    f->n_target[1] = members->n_trips;
    memcpy(f->target[0], f->reference + half, f->n_target[0] * sizeof *f->target[0]);
    for (size_t t = 0; t < 2; t++) {
        f->score[t] = dpl_alloc(run, f->n_target[t], sizeof *f->score[t]);
        if (!f->score[t]) return DPL_SYSTEM;
    }
    return DPL_OK;
}

/* ---- one attack ---- */

/* What is attacked. */
struct released {
    const struct dpl_cleaned *synthetic;
    const struct dpl_model *model;
    bool bare;
};

/* Scores units against what was released; *n gets how many there are of each kind. */
static enum dpl_status run_attack(struct dpl_run *run, struct field *f, size_t a,
                                  const struct released *released, size_t n[2],
                                  struct dpl_calibration *calibration, double *auc) {
    size_t most = f->options->unit == DPL_UNIT_USER ? SIZE_MAX : ATTACKS[a].trips_max;
    const struct dpl_cleaned *set[2] = {f->input->others, f->input->members};
    struct dpl_attack_view view = {.synthetic = released->synthetic,
                                   .model = released->model,
                                   .bare = released->bare,
                                   .calibration = calibration,
                                   .reference = {set[0], f->reference, f->n_reference},
                                   .seed = f->options->seed};
    for (size_t t = 0; t < 2; t++)
        view.target[t] =
            (struct dpl_pick){set[t], f->target[t], f->n_target[t] < most ? f->n_target[t] : most};
    DPL_TRY(dpl_check_interrupt(run));
    DPL_TRY(ATTACKS[a].score(run, &view, f->score));
    for (size_t t = 0; t < 2; t++)
        DPL_TRY(score_units(run, &view.target[t], f->options->unit, f->score[t], &n[t]));
    return auc_of(run, f->score[0], n[0], f->score[1], n[1], auc);
}

static enum dpl_status try_attack(struct dpl_run *run, struct field *f, size_t a, size_t tried,
                                  struct dpl_attack *attack) {
    size_t n[2];
    *attack = (struct dpl_attack){.name = ATTACKS[a].name,
                                  .meaning = ATTACKS[a].meaning,
                                  .sanity_only = ATTACKS[a].sanity_only,
                                  .control_inf_auc = NAN};
    const struct dpl_attack_input *input = f->input;
    const struct released copied = {input->members, input->model, true},
                          noiseless = {input->control, input->control_model, false},
                          attacked = {input->synthetic, input->model, false};
    struct dpl_calibration calibration = {.design = {1, 1}};
    DPL_TRY(run_attack(run, f, a, &copied, n, &calibration, &attack->control_auc));
    if (ATTACKS[a].informed ? !!noiseless.model : !!noiseless.synthetic)
        DPL_TRY(run_attack(run, f, a, &noiseless, n, &calibration, &attack->control_inf_auc));
    DPL_TRY(run_attack(run, f, a, &attacked, n, &calibration, &attack->auc));
    attack->others = n[0], attack->members = n[1];
    if (ATTACKS[a].informed) {
        judge_calibrated(f->score, n, &calibration, f->options, tried, attack);
        expect_scores(f->score[0], n[0]);
        DPL_TRY(auc_of(run, f->score[0], n[0], f->score[1], n[1], &attack->auc));
    }
    DPL_TRY(find_roc(run, f->score, n, f->options, attack));
    if (!ATTACKS[a].informed)
        judge_points(f->score[0], n[0], f->score[1], n[1], f->options, tried, attack);
    dpl_progress_add(run, 1);
    return DPL_OK;
}

/* ---- the call ---- */

static bool applies(size_t a, const struct field *f) {
    if (ATTACKS[a].informed) return f->input->model != NULL;
    return !ATTACKS[a].users_only || f->options->unit == DPL_UNIT_USER;
}

static enum dpl_status try_all(struct dpl_run *run, struct field *f,
                               struct dpl_attack_report *report) {
    size_t n = 0;
    for (size_t a = 0; a < ATTACKS_ALL; a++) n += applies(a, f);
    dpl_progress_begin(run, "attacking", "attacks", (double)n);
    enum dpl_status status = DPL_OK;
    for (size_t a = 0; status == DPL_OK && a < ATTACKS_ALL; a++) {
        if (!applies(a, f)) continue;
        struct dpl_attack *attack = &report->attack[report->n];
        status = try_attack(run, f, a, n * DPL_ATTACK_POINTS, attack);
        report->exceeds |= status == DPL_OK && attack->exceeds && !attack->sanity_only;
        report->n += status == DPL_OK;
    }
    dpl_progress_end(run);
    return status;
}

static enum dpl_status find_unicity(struct dpl_run *run, const struct field *f,
                                    struct dpl_attack_report *report) {
    for (size_t i = 0; i < 2; i++) {
        DPL_TRY(dpl_unicity(run, f->input->members, 2 + 2 * i, f->options->seed,
                            &report->unicity_real[i]));
        DPL_TRY(dpl_unicity(run, f->input->synthetic, 2 + 2 * i, f->options->seed,
                            &report->unicity_synthetic[i]));
    }
    return DPL_OK;
}

static enum dpl_status check(struct dpl_run *run, const struct dpl_attack_input *input,
                             const struct dpl_attack_options *options) {
    const struct dpl_cleaned *set[3] = {input->members, input->others, input->synthetic};
    static const char *const WORD[3] = {"members", "non-members", "synthetic trips"};
    if (!(options->epsilon >= 0) || !(options->delta >= 0 && options->delta < 1))
        return dpl_fail(run, DPL_USAGE, "epsilon %g, delta %g: no promise to attack",
                        options->epsilon, options->delta);
    for (size_t i = 0; i < 3; i++) {
        if (set[i]->n_trips < 20)
            return dpl_fail(run, DPL_BAD_DATA, "%zu %s are too few to attack (20 at least)",
                            set[i]->n_trips, WORD[i]);
        if (set[i]->grid.columns != set[0]->grid.columns || set[i]->grid.rows != set[0]->grid.rows)
            return dpl_fail(run, DPL_USAGE, "the %s are on another grid than the members", WORD[i]);
    }
    const struct dpl_model *model[2] = {input->model, input->control_model};
    for (size_t i = 0; i < 2; i++)
        if (model[i] && model[i]->per_user != (options->unit == DPL_UNIT_USER))
            return dpl_fail(run, DPL_USAGE, "the model protects each %s: set `attack.unit` to %s",
                            model[i]->per_user ? "user" : "trip",
                            model[i]->per_user ? "user" : "trip");
    if (options->unit == DPL_UNIT_USER && (!input->members->n_users || !input->others->n_users))
        return dpl_fail(run, DPL_BAD_DATA,
                        "the real data names no users: the unit cannot be the user");
    return DPL_OK;
}

struct dpl_attack_options dpl_attack_defaults(void) {
    return (struct dpl_attack_options){
        .struct_size = sizeof(struct dpl_attack_options), .epsilon = 1, .delta = 1e-8, .seed = 1};
}

enum dpl_status dpl_attack(struct dpl_run *run, const struct dpl_attack_input *input,
                           const struct dpl_attack_options *given,
                           struct dpl_attack_report *report) {
    struct dpl_attack_options options = dpl_attack_defaults();
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "attack", given, &options));
    struct dpl_attack_report made = {0};
    struct field f = {.input = input, .options = &options};
    enum dpl_status status = check(run, input, &options);
    if (status == DPL_OK) status = field_make(run, &f);
    if (status == DPL_OK) status = try_all(run, &f, &made);
    if (status == DPL_OK) status = find_unicity(run, &f, &made);
    if (status == DPL_OK) *report = made;
    field_free(&f);
    return status;
}
