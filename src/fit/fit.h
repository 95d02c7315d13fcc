/* The parts of dpl_fit that pipeline.c calls in order, and what a finished fit holds. */
#ifndef DPL_FIT_FIT_H
#define DPL_FIT_FIT_H

#include "clean/read.h" // defines: struct dpl_room
#include "method/method.h"

struct dpl_fit {
    struct dpl_fit_options options;
    char *checkpoint; /* a copy of options.checkpoint */
    const struct dpl_method *method;
    struct dpl_mechanism ask[DPL_METHOD_MECHANISMS];
    size_t n_ask;
    json_t *public;               /* the options that the manifest and the certificate state */
    struct dpl_roads *map;        /* that the method has as a prior; NULL: none */
    json_t *roads;                /* what is said of it; NULL: there is none */
    json_t *reading;              /* how the input was read, which the manifest states, too */
    char *binding;                /* all options that shape the result, as text (binding.h) */
    struct dpl_read_facts *facts; /* NOT PRIVATE */
    char **input;                 /* (n_inputs) names. NOT PRIVATE */
    size_t n_inputs, n_units;
    bool selected;           /* some rows are the result of a query, which the certificate says */
    char ledger_release[65]; /* the release's id there, once the ledger is closed */
    char fingerprint[65];    /* of the raw rows, "" without a ledger. NOT PRIVATE */
    struct dpl_release release;
    struct dpl_model *model;
    char *certificate;
    struct dpl_hold_out hold_out; /* NOT PRIVATE: its key says who was in */
};

/* The caller's options (NULL: defaults), complete. */
enum dpl_status dpl_fit_settle(struct dpl_run *run, const struct dpl_fit_options *given,
                               struct dpl_fit_options *options);
/* Whether what is asked for protects nobody: no epsilon, no secret noise, or the published form. */
bool dpl_fit_not_private(const struct dpl_fit_options *options);
/* Checks the options and settles what will be asked for: public numbers only. trips NULL: not
 * known, for a preview. */
enum dpl_status dpl_fit_begin(struct dpl_run *run, const struct dpl_trips *trips,
                              const struct dpl_area *area, const struct dpl_fit_options *options,
                              struct dpl_fit **fit);
/* How the fit's data is to be read: the unit says what it must have. */
struct dpl_read_options dpl_fit_reading(const struct dpl_read_options *read,
                                        const struct dpl_fit_options *options);
/* Draws the key of the units that are set aside, if some are to be, and tells the reader. */
enum dpl_status dpl_fit_hold_out(struct dpl_run *run, struct dpl_fit *fit,
                                 struct dpl_read_options *read);
/* Notes how the input was read and cleaned. */
enum dpl_status dpl_fit_note_reading(struct dpl_run *run, const struct dpl_read_options *read,
                                     const struct dpl_reading *reading, struct dpl_fit *fit);
/* How many cleaned trips the fit keeps in memory, the tables aside: a third of what is left of
 * `memory_mb`, and of a quarter of the machine, since counting has two copies of some columns. */
struct dpl_room dpl_fit_room(struct dpl_run *run, const struct dpl_fit *fit);
/* The same by the machine alone, for workers. */
size_t dpl_machine_room_bytes(void);
/* No file that is written is one that is read, or another one that is written: the synthetic trips
 * at `path`, the model (NULL: none), what belongs beside both, the state of the fit. */
enum dpl_status dpl_fit_check_files(struct dpl_run *run, const struct dpl_trips *trips,
                                    const struct dpl_fit_options *options, const char *model,
                                    const char *path, const char *release);
/* PATH.PRIVATE.json (mode 0600) alone, beside other outputs than the model; whether it may be
 * written is asked before the fit. */
enum dpl_status dpl_fit_check_private(struct dpl_run *run, const char *path, bool overwrite);
enum dpl_status dpl_fit_write_private(struct dpl_run *run, const struct dpl_fit *fit,
                                      const char *path, bool overwrite);
/* Overwrites and deletes the checkpoint. */
enum dpl_status dpl_fit_forget(struct dpl_run *run, struct dpl_fit *fit);
/* The model's public members, and the certificate, once the method is done. */
enum dpl_status dpl_fit_certify(struct dpl_run *run, struct dpl_fit *fit);

#endif
