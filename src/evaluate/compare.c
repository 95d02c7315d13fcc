/* One synthetic set against the real trips, from points to figures: cleaning and measuring in one
 * call. */
#include "base/options.h"
#include "base/trips.h"
#include "clean/read.h"

/* Real trips with their positions, also half a slot later: what the measures of points need. */
static enum dpl_status clean_real(struct dpl_run *run, struct dpl_trips *trips,
                                  const struct dpl_area *area, bool own_phase,
                                  struct dpl_cleaned **cleaned, struct dpl_read_facts **facts) {
    struct dpl_read_options options = trips->read;
    options.positions = options.time_optional = true;
    options.own_phase = own_phase;
    options.position_phase_s = area->slot_s / 2.0;
    return dpl_clean_with(run, trips, &options, area, cleaned, facts);
}

/* Synthetic trips are judged as they are: cleaning would drop those that are too fast and so hide
 * them. */
static enum dpl_status clean_synthetic(struct dpl_run *run, struct dpl_trips *trips,
                                       const struct dpl_area *area, bool own_phase,
                                       struct dpl_cleaned **cleaned,
                                       struct dpl_read_facts **facts) {
    struct dpl_read_options options = trips->read;
    options.positions = options.time_optional = options.keep_too_fast = true;
    options.own_phase = own_phase;
    return dpl_clean_with(run, trips, &options, area, cleaned, facts);
}

enum dpl_status dpl_compare(struct dpl_run *run, struct dpl_trips *real,
                            struct dpl_trips *synthetic, const struct dpl_area *area,
                            const struct dpl_eval_options *given,
                            struct dpl_evaluation **evaluation) {
    struct dpl_grid grid;
    struct dpl_cleaned *cleaned[2] = {NULL, NULL};
    struct dpl_read_facts *facts[2] = {NULL, NULL};
    struct dpl_eval_options options = dpl_eval_defaults();
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_GO(dpl_options_take(run, "eval", given, &options));
    DPL_GO(dpl_grid_make(run, area, &grid));
    const bool own_phase = !options.paper_measures;
    DPL_GO(clean_real(run, real, &grid.area, own_phase, &cleaned[0], &facts[0]));
    DPL_GO(clean_synthetic(run, synthetic, &grid.area, own_phase, &cleaned[1], &facts[1]));
    options.real_facts = facts[0];
    const struct dpl_eval_synthetic set = {
        .name = "synthetic", .trips = cleaned[1], .facts = facts[1]};
    DPL_GO(dpl_evaluate(run, cleaned[0], &set, 1, &options, evaluation));
    (*evaluation)->options.real_facts = NULL; // freed below
done:
    for (int i = 0; i < 2; i++) {
        dpl_cleaned_free(cleaned[i]);
        dpl_read_facts_free(facts[i]);
    }
    return status;
}
