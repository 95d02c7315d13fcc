/* dploc, privacy: what a release costs, what was spent on a data set, what a certificate says.
 *
 * Conventions as in dploc.h. The examples follow each other: together they are a program, which a
 * test runs.
 */
#ifndef DPLOC_PRIVACY_H
#define DPLOC_PRIVACY_H

#include "dploc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------
 * Privacy accounting
 *
 * What a release costs. An event is one mechanism as the accountant sees it; a list of events is
 * composed into one epsilon at a given delta, under add/remove of one unit.
 *
 *     struct dpl_run *run = dpl_run_new(NULL);
 *     struct dpl_event events[] = {
 *         {.kind = DPL_EVENT_GAUSSIAN, .sigma = 3.8},
 *         {.kind = DPL_EVENT_POISSON, .sigma = 1.5, .rate = 0.00044, .steps = 33750}};
 *     struct dpl_bound bound;
 *     if (dpl_account(run, events, 2, 1e-6, &bound) == DPL_OK)
 *         printf("epsilon %g by %s\n", bound.epsilon, dpl_bound_name(bound.kind));
 */

enum dpl_event_kind {
    DPL_EVENT_GAUSSIAN, /* one release with Gaussian noise */
    DPL_EVENT_POISSON,  /* `steps` releases, each on a Poisson sample of rate `rate`, Gaussian noise
                         */
    DPL_EVENT_LAPLACE,  /* one release with (discrete) Laplace noise: pure epsilon = 1 / sigma */
    DPL_EVENT_LOCAL,    /* reports that each unit noises itself: pure epsilon = 1 / sigma for one
                           unit replaced by another */
    DPL_EVENT_THRESHOLD /* counts of keys that nobody could list, Gaussian noise; a key that one
                           unit alone has is shown with a chance of `rate`, which delta pays for */
};

enum { DPL_EVENT_NAME = 32 };

struct dpl_event {
    char name[DPL_EVENT_NAME]; /* "topk", "length", "train", ... */
    enum dpl_event_kind kind;
    double sigma; /* noise over sensitivity: standard deviation (Gaussian) or scale (Laplace) */
    double sensitivity; /* L2 (Gaussian) or L1 (Laplace) in units of the released vector; for the
                           record */
    double rate;        /* DPL_EVENT_POISSON: chance of a unit to be in a step's sample, in (0, 1];
                           DPL_EVENT_THRESHOLD: its part of delta */
    int64_t steps;      /* DPL_EVENT_POISSON: number of steps */
};

/* Which of the bounds is the least: the exact formula for Gaussians alone, that for one pure event
 * alone, the privacy loss distribution, or Renyi differential privacy. */
enum dpl_bound_kind {
    DPL_BOUND_NONE,
    DPL_BOUND_GAUSSIAN,
    DPL_BOUND_PURE,
    DPL_BOUND_PLD,
    DPL_BOUND_RDP
};

struct dpl_bound {
    double epsilon, delta;
    enum dpl_bound_kind kind;        /* DPL_BOUND_NONE: nothing was released, or without noise */
    double epsilon_pld, epsilon_rdp; /* INFINITY where not available */
};

/* "none", "gaussian", "pure", "pld", "rdp". */
DPL_API const char *dpl_bound_name(enum dpl_bound_kind kind);

/* The least valid bound on epsilon for the composition of n events at delta, rounded up. The order
 * of events does not matter. No events, or no steps: 0; sigma = 0: INFINITY. */
DPL_API enum dpl_status dpl_account(struct dpl_run *run, const struct dpl_event *events, size_t n,
                                    double delta, struct dpl_bound *bound);

/* The inverse: fills events[i].sigma so that the composition is (epsilon, delta)-DP, from below and
 * within 0.1 %. Event i gets the part share[i] / (sum of shares) of one squared budget, in which a
 * Gaussian counts 1/sigma^2, a Poisson event rate^2 steps (e^{1/sigma^2} - 1), a Laplace event
 * 1/scale^2. A share of 0 leaves that event's sigma as it is. DPL_USAGE when no noise meets the
 * target. */
DPL_API enum dpl_status dpl_account_solve(struct dpl_run *run, struct dpl_event *events,
                                          const double *share, size_t n, double epsilon,
                                          double delta);

/* The privacy profile: epsilon[i] at delta[i], for plots. */
DPL_API enum dpl_status dpl_account_profile(struct dpl_run *run, const struct dpl_event *events,
                                            size_t n, const double *delta, size_t n_delta,
                                            double *epsilon);

/* What the DP-Loc paper claims and what its settings give: one row per claimed epsilon. */
enum { DPL_PAPER_ROWS = 3 };

struct dpl_paper_row {
    double claimed;             /* epsilon in the paper */
    struct dpl_event events[3]; /* topk, ti, tpg, as its options say */
    double delta;               /* 1 / trips */
    double printed;             /* its formula as printed: |B|/|D| steps an epoch, 4 sigma^2 */
    double corrected;           /* its formula with |D|/|B| steps and 2 sigma^2 */
    struct dpl_bound bound;     /* what holds */
};

/* data: "porto", "sf" or "geolife"; *trips gets its |D|. */
DPL_API enum dpl_status dpl_account_paper(struct dpl_run *run, const char *data, int64_t *trips,
                                          struct dpl_paper_row rows[DPL_PAPER_ROWS]);

/* --------------------------------------------------------------------------------------------
 * Ledger
 *
 * What was spent on one raw data set, over all runs. dpl_fit finds out which data set it reads,
 * opens the ledger itself and refuses what would exceed the limits, before any noise. It guards
 * against mistakes, not against its owner (docs/LEDGER.md).
 */

/* Where the ledger of the data set with this fingerprint (of OUT.PRIVATE.json) is by default. */
DPL_API enum dpl_status dpl_ledger_place(struct dpl_run *run, const char *fingerprint, char *path,
                                         size_t size);
/* What a ledger holds, as text or as one JSON object; changes nothing. Free with dpl_text_free. */
DPL_API enum dpl_status dpl_ledger_summary(struct dpl_run *run, const char *path, bool json,
                                           char **text);
/* True when a file's first bytes look like a ledger's. */
DPL_API bool dpl_ledger_recognise(const char *bytes, size_t length);

/* --------------------------------------------------------------------------------------------
 * Certificate
 *
 * What a release promises, beside it as JSON (docs/certificate.schema.json): epsilon and delta,
 * every mechanism, and the public choices they follow from. Verifying recomputes epsilon and checks
 * that the choices imply the mechanisms: consistency, not proof that the program ran that way.
 *
 *     struct dpl_verdict verdict;
 *     if (dpl_certificate_verify(run, "{}", 2, &verdict) == DPL_BAD_DATA)
 *         printf("%s\n", dpl_run_message(run)); // not a certificate
 *     dpl_run_free(run);
 */

enum { DPL_REASONS = 16, DPL_REASON_SIZE = 256 };

struct dpl_verdict {
    bool valid;
    bool local;            /* each unit's reports were noised by itself: a local epsilon */
    bool not_private;      /* by its own words: not valid, whatever else it says */
    double epsilon, delta; /* recomputed epsilon (INFINITY without noise); delta as claimed */
    size_t n_reasons;      /* why it is not valid */
    char reasons[DPL_REASONS][DPL_REASON_SIZE];
};

/* Checks a certificate's text. DPL_BAD_DATA when it is not a certificate; DPL_OK otherwise,
 * whatever the verdict. */
DPL_API enum dpl_status dpl_certificate_verify(struct dpl_run *run, const char *text, size_t length,
                                               struct dpl_verdict *verdict);
/* Whether the trips or the model at `path`, its manifest and its certificate are of one making: the
 * manifest beside `path` has the digests of both. `certificate` is a file; NULL: the one beside
 * `path`. What does not fit is added to the verdict, which is not valid then. */
DPL_API enum dpl_status dpl_released_verify(struct dpl_run *run, const char *path,
                                            const char *certificate, struct dpl_verdict *verdict);
/* What a certificate says, as words or as one JSON object; free with dpl_text_free. */
DPL_API enum dpl_status dpl_certificate_summary(struct dpl_run *run, const char *text,
                                                size_t length, bool json, char **summary);
/* True when a file's first bytes look like a certificate's. */
DPL_API bool dpl_certificate_recognise(const char *bytes, size_t length);
/* True when a file's first bytes look like a model's. */
DPL_API bool dpl_model_recognise(const char *bytes, size_t length);
/* Checks a model's hashes, and its certificate as dpl_certificate_verify does. */
DPL_API enum dpl_status dpl_model_verify(struct dpl_run *run, const char *path,
                                         struct dpl_verdict *verdict);

#ifdef __cplusplus
}
#endif
#endif
