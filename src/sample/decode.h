/* From stays in cells to places and times. METHOD.md, section 5. */
#ifndef DPL_SAMPLE_DECODE_H
#define DPL_SAMPLE_DECODE_H

#include "base/zone.h"
#include "sample/generator.h"
#include "write/writer.h"

struct dpl_decoder {
    struct dpl_area area;
    bool timed, centre;
    int64_t first_day, days; /* since 1970; how many to draw from */
    struct dpl_zone *zone;
    struct dpl_place *place; /* (K) what a cell covers: every such point lies in the box and in that
                                cell; or the generator's places */
};

/* "2025-03-03", or "2025-03-03..2025-03-09", both ends included: the first day since 1970, and how
 * many. */
enum dpl_status dpl_days_parse(struct dpl_run *run, const char *text, int64_t *first_day,
                               int64_t *days);
/* For stays of that generator (NULL: in the model's cells). date: as above. Free with
 * dpl_decoder_free. */
enum dpl_status dpl_decoder_new(struct dpl_run *run, const struct dpl_model *model,
                                const struct dpl_generator *generator, const char *date,
                                bool centre, struct dpl_decoder **decoder);
void dpl_decoder_free(struct dpl_decoder *decoder);

/* Latest second of a period of period_s at which a trip of n visits may begin so that most of it
 * lies there: more than half of its visits, or as many as the period can hold. */
int64_t dpl_latest_start_s(int64_t period_s, int slot_s, size_t n);

/* Fills visits (but for tid and uid) and the places lat, lng (as many as there are visits), which
 * it borrows. */
void dpl_decode(const struct dpl_decoder *decoder, struct dpl_stream *stream, size_t period,
                const struct dpl_stay *stay, size_t n_stays, int32_t *lat_udeg, int32_t *lng_udeg,
                struct dpl_visits *visits);

#endif
