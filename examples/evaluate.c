/* How close synthetic trips are to the real ones: the whole job on a made-up city, then its
 * measures beside their floors. NOT PRIVATE: such figures are for the holder of the data.
 *
 *     cc evaluate.c $(pkg-config --cflags --libs dploc) && ./a.out
 */
#include <dploc.h>
#include <dploc_data.h>

static enum dpl_status evaluate(struct dpl_run *run, struct dpl_trips *real,
                                const struct dpl_area *area) {
    static const char *const DRAWN[] = {"example_synthetic.csv"};
    struct dpl_fit_options fit = dpl_fit_defaults();
    struct dpl_synth_options job = dpl_synth_defaults();
    struct dpl_trips *synthetic = NULL;
    struct dpl_evaluation *evaluation = NULL;
    fit.ledger = "none"; // made-up data; for real data leave this out
    job.fit = &fit, job.overwrite = true;
    enum dpl_status status = dpl_synth(run, real, area, &job, DRAWN[0], NULL);
    if (status == DPL_OK) status = dpl_trips_open(run, DRAWN, 1, NULL, &synthetic);
    if (status == DPL_OK) status = dpl_compare(run, real, synthetic, area, NULL, &evaluation);
    const struct dpl_eval_result *result = evaluation ? &evaluation->synthetic[0] : NULL;
    for (size_t i = 0; result && i < result->n_measures; i++)
        if (result->measures[i].scope == DPL_SCOPE_POOLED)
            printf("%-24s %10.4g, at best %10.4g\n", result->measures[i].name,
                   result->measures[i].value, result->measures[i].floor);
    dpl_evaluation_free(evaluation);
    dpl_trips_free(synthetic);
    return status;
}

int main(void) {
    static const char *const CITY[] = {"example_city.csv"};
    struct dpl_run *run = dpl_run_new(NULL);
    struct dpl_area area = dpl_area_defaults();
    struct dpl_simulate_options city = dpl_simulate_defaults();
    struct dpl_trips *real = NULL;
    city.trips = 2000, city.overwrite = true;
    if (!run) return 1;
    enum dpl_status status = dpl_area_preset(run, "simulated", &area);
    area.cell_m = 1000;
    if (status == DPL_OK) status = dpl_simulate(run, &city, CITY[0]);
    if (status == DPL_OK) status = dpl_trips_open(run, CITY, 1, NULL, &real);
    if (status == DPL_OK) status = evaluate(run, real, &area);
    if (status != DPL_OK) fprintf(stderr, "%s\n", dpl_run_message(run));
    dpl_trips_free(real);
    dpl_run_free(run);
    return (int)status;
}
