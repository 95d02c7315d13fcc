/* What a checkpoint is bound to among the options: every member of every option struct that a fit
 * takes stands in one list, bound, or free with the reason why it may change between a stop and
 * --resume. */
#ifndef DPL_FIT_BINDING_H
#define DPL_FIT_BINDING_H

#include "base/base.h"

struct dpl_option_member {
    const char *owner, *name; /* struct and member */
    const char *free;         /* why it does not shape the result; NULL: bound */
};

/* Member i of the list; NULL past the last. */
const struct dpl_option_member *dpl_option_member(size_t i);
/* All bound members with their values to the last bit, as text. Free with dpl_text_free. */
enum dpl_status dpl_option_binding(struct dpl_run *run, const struct dpl_read_options *read,
                                   const struct dpl_area *area,
                                   const struct dpl_fit_options *options, char **text);

/* The same without what is the driver's own business (ledger, name of the data, seed): what workers
 * of a fit in rounds are told. Public. */
enum dpl_status dpl_option_shared(struct dpl_run *run, const struct dpl_read_options *read,
                                  const struct dpl_area *area,
                                  const struct dpl_fit_options *options, char **text);

/* Options read back from either text; members that it does not have keep their defaults. */
struct dpl_option_set {
    struct dpl_read_options read;
    struct dpl_area area;
    struct dpl_fit_options fit;
    struct dpl_arena texts; /* that members point to */
};
/* DPL_BAD_DATA, with `where` in front, for a text that is not all known members. Free with
 * dpl_option_set_free, also after a failure. */
enum dpl_status dpl_option_read(struct dpl_run *run, const char *where, const char *text,
                                struct dpl_option_set *set);
void dpl_option_set_free(struct dpl_option_set *set);

#endif
