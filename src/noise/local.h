/* Noise that units put on their own reports. See local.c; for mechanism.c and tests. */
#ifndef DPL_NOISE_LOCAL_H
#define DPL_NOISE_LOCAL_H

#include "account/event.h"
#include "noise/lattice_inner.h"

/* q in steps of 2^-32, for reports of that epsilon. */
uint32_t dpl_local_threshold(double epsilon);
/* The unbiased count of a coordinate that is true in `trues` of all reports, in lattice steps. */
int64_t dpl_local_draw(struct dpl_stream *stream, uint64_t trues, uint64_t reports,
                       uint32_t threshold, int places);
/* Replaces the vector's sums by the counts. *deviation: of the noisiest section. */
enum dpl_status dpl_local_noise(struct dpl_run *run, const struct dpl_secret *secret,
                                const struct dpl_event *event, struct dpl_stream_id id,
                                const struct dpl_local_section *section, size_t n_sections,
                                struct dpl_exact *exact, double *deviation);

#endif
