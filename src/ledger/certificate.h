/* The certificate, written and read back. Of what is read nothing is believed: the parser checks
 * presence, type and range of every member, and what does not belong is an error. */
#ifndef DPL_LEDGER_CERTIFICATE_H
#define DPL_LEDGER_CERTIFICATE_H

#include <jansson.h>

#include "ledger/plan.h"

/* ---- writing ---- */

/* A public option or a released number: a text, or a number when `text` is NULL. */
struct dpl_public_value {
    const char *name, *text;
    double number;
};

struct dpl_certificate {
    const struct dpl_plan *plan;
    const struct dpl_ledger *ledger; /* NULL: "not composed with other runs" */
    bool
        insecure; /* the key of the noise follows from a seed: NOT PRIVATE, whatever the budget says
                   */
    const char *method;
    bool no_time;      /* the release has no times */
    bool trips_as_cut; /* of a trip as unit: it may be cut from a track */
    bool accept_weak;  /* the holder accepted that the promise is weak */
    bool selected;     /* the rows are the result of a query */
    bool deniable;     /* NOT PRIVATE: plausible deniability is what it has, not an epsilon */
    const struct dpl_public_value *options; /* only names that dpl_option_public knows */
    size_t n_options;
    const struct dpl_public_value
        *numbers; /* numbers the release contains anyway: length_max, cells, trips_estimated, and
                     trips_max where the budget leaves it open */
    size_t n_numbers;
    json_t *roads;     /* the public map that trips follow, {sha256, travel, license}; NULL: none */
    json_t *fit_roads; /* likewise, the one that was a prior of the model */
};

/* The certificate as JSON text; free with dpl_text_free. */
enum dpl_status dpl_certificate_text(struct dpl_run *run, const struct dpl_certificate *certificate,
                                     char **text);

/* ---- reading ---- */

struct dpl_claim_mechanism {
    struct dpl_event event;
    struct dpl_mechanism request;
    double epsilon_alone;
};

/* What a certificate claims. Texts and objects are borrowed from `root`. */
struct dpl_claim {
    json_t *root;
    double epsilon, delta, epsilon_size;
    enum dpl_unit unit;
    bool local;        /* its adjacency is that of the local model */
    bool meaning_fits; /* its sentence on the unit is one for that unit */
    int64_t trips_max, units;
    bool declared;    /* the size is declared, not measured */
    bool accept_weak; /* the holder accepted that the promise is weak */
    bool selected;    /* the rows are the result of a query */
    bool deniable;    /* it promises plausible deniability, not differential privacy */
    bool given;       /* the sigmas were given, not solved for */
    bool insecure_seed;
    double bound_epsilon;
    struct dpl_event size_event; /* when measured */
    size_t n;
    struct dpl_claim_mechanism *mechanisms; /* (n), without the size */
    json_t *options, *numbers;
    bool composed;
    bool new_data; /* it overlaps another data set, and was declared new */
    double ledger_epsilon, ledger_delta;
};

/* Caller frees with dpl_claim_free, also after a failure. */
enum dpl_status dpl_claim_parse(struct dpl_run *run, const char *text, size_t length,
                                struct dpl_claim *claim);
void dpl_claim_free(struct dpl_claim *claim);

#endif
