/* Time zones from the system's zoneinfo, without touching the process's TZ. */
#ifndef DPL_BASE_ZONE_H
#define DPL_BASE_ZONE_H

#include "base/base.h"

struct dpl_zone;

/* Reads the zone `name` ("Europe/Lisbon", "UTC"). Caller frees with dpl_zone_free. */
enum dpl_status dpl_zone_open(struct dpl_run *run, const char *name, struct dpl_zone **zone);
void dpl_zone_free(struct dpl_zone *zone);
/* What to add to UTC for local time at that moment. Thread-safe. */
int32_t dpl_zone_offset_s(const struct dpl_zone *zone, int64_t utc_s);
/* The moment at which the zone's clocks show local_s (seconds since 1970 as if it were UTC). Of two
 * such moments (autumn) the first; of none (spring) as if the clocks had not been changed yet. */
int64_t dpl_zone_utc_s(const struct dpl_zone *zone, int64_t local_s);

/* The local day of that moment, since 1970. */
int64_t dpl_zone_day(const struct dpl_zone *zone, int64_t utc_s);
/* The local period (hour, by default) that holds most of n_visits visits, the first at utc_s; the
 * earliest on a tie. */
uint8_t dpl_zone_period(const struct dpl_zone *zone, const struct dpl_area *area, int64_t utc_s,
                        size_t n_visits);

#endif
