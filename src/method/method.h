/* A method: what it asks the budget for, and how it makes a model of trips. One folder
 * and one row in list.h each.
 *
 * PRIVACY: `plan` sees public options alone; `fit` sees data, and can get numbers out of it only
 * through the release, which reserves and noises. */
#ifndef DPL_METHOD_METHOD_H
#define DPL_METHOD_METHOD_H

#include "fit/release.h"
#include "method/list.h"
#include "model/model.h"

enum { DPL_METHOD_MECHANISMS = 32 };

struct dpl_method {
    const char *name;
    bool has_time;          /* trips drawn from its models have times */
    bool positions;         /* it asks where trips are, not only in which cells */
    bool frequent_cells;    /* a visit is the most frequent cell of its slot, not where the trip is
                               at its own phase of it */
    bool has_laplace;       /* it can be fitted with Laplace noise, too */
    bool local;             /* units noise what they report: DPL_EVENT_LOCAL */
    bool bounds_users;      /* it chooses how many trips a user counts as (fit/bound.h) */
    bool one_machine;       /* it trains on all trips at once: no fit in rounds */
    bool has_ablations;     /* it knows `no_destination` */
    bool has_roads;         /* it knows `roads` and `travel` */
    bool has_forms;         /* it knows `sglt_form` and `keep` */
    const char *const *raw; /* what its published program takes from the data as it is, by name,
                               ended by NULL: mechanisms without noise with `as_published` */
    double coverage;        /* part of all visits that the chosen cells hold, unless the options say
                               otherwise */
    double seconds_per_cell; /* of a fit on two cores, over the number of its cells, for forecasts;
                                 0: not measured */
    /* The most memory that its tables may take, in millions of bytes, by public numbers; NULL:
     * little beside the trips. */
    double (*table_mb)(const struct dpl_grid *grid, int threads);
    /* Fills in what it asks for: ask (DPL_METHOD_MECHANISMS), *n of them. Shares and sigmas of the
     * options are put in afterwards by dpl_method_requests. */
    enum dpl_status (*plan)(struct dpl_run *run, const struct dpl_fit_options *options,
                            struct dpl_mechanism *ask, size_t *n);
    /* For previews: about how much one coordinate of mechanism `name` holds, in the units of its
     * noise, for that many units; NAN: no idea. Public guesses only. */
    double (*expect)(const char *name, const struct dpl_grid *grid,
                     const struct dpl_fit_options *options, double units);
    /* Fills in cells, length_max, trips_estimated, its own options and tensors. */
    enum dpl_status (*fit)(struct dpl_run *run, struct dpl_parts *parts,
                           struct dpl_release *release, struct dpl_model *model);
};

/* Whether a fit with these options is for one machine alone. */
bool dpl_method_one_machine(const struct dpl_method *method, const struct dpl_fit_options *options);
enum dpl_status dpl_method_find(struct dpl_run *run, const char *name,
                                const struct dpl_method **method);
/* What the method asks for, with the shares and sigmas that the options give. */
enum dpl_status dpl_method_requests(struct dpl_run *run, const struct dpl_method *method,
                                    const struct dpl_fit_options *options,
                                    struct dpl_mechanism *ask, size_t *n);

/* Whether the options ask for the published notion of `sglt` in place of differential privacy. */
bool dpl_method_deniable(const struct dpl_fit_options *options);
/* Whether the options ask for Laplace noise. */
bool dpl_mechanism_laplace(const struct dpl_fit_options *options);

/* What a method with both kinds of noise asks for: its part of the squared budget with Gaussian
 * noise, of epsilon with Laplace noise, and the norm of a trip in each. A clip of 0: "length_max".
 */
struct dpl_asked {
    const char *name;
    double of_rho, of_epsilon, clip_l2, clip_l1;
};
/* Of a user's m trips the norm is sqrt(m) times that of one with Gaussian noise, m times with
 * Laplace noise. */
struct dpl_mechanism dpl_method_ask(const struct dpl_fit_options *options,
                                    const struct dpl_asked *asked);
/* All rows of `asked` (n_asked), and where the unit is the user also "trips", the number of trips,
 * with the options' kind of noise: ask (*n). */
void dpl_method_ask_all(const struct dpl_fit_options *options, const struct dpl_asked *asked,
                        size_t n_asked, struct dpl_mechanism *ask, size_t *n);

/* One per row of list.h: dpl_method_bridge ... */
#define DPL_DECLARE_METHOD(name) extern const struct dpl_method dpl_method_##name;
DPL_METHODS(DPL_DECLARE_METHOD)

#endif
