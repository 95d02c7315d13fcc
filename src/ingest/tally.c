/* What reading adds up for its facts: counts, extent, intervals. See reader.h. */
#include <math.h>
#include <string.h>

#include "ingest/reader.h"

void dpl_tally_clear(struct tally *tally) {
    memset(tally, 0, sizeof *tally);
    tally->first_utc_s = INT64_MAX, tally->last_utc_s = INT64_MIN;
    tally->south_deg = tally->west_deg = INFINITY, tally->north_deg = tally->east_deg = -INFINITY;
}

void dpl_tally_recording(struct tally *tally, const struct recording *r) {
    tally->trips++;
    tally->points += (int64_t)r->n;
    for (size_t i = 0; i < r->n; i++) {
        const struct point *p = &r->points[i];
        if (p->lat_deg < tally->south_deg) tally->south_deg = p->lat_deg;
        if (p->lat_deg > tally->north_deg) tally->north_deg = p->lat_deg;
        if (p->lon_deg < tally->west_deg) tally->west_deg = p->lon_deg;
        if (p->lon_deg > tally->east_deg) tally->east_deg = p->lon_deg;
    }
    if (!r->n || !r->timed) return;
    if (r->points[0].utc_s < tally->first_utc_s) tally->first_utc_s = r->points[0].utc_s;
    if (r->points[r->n - 1].utc_s > tally->last_utc_s)
        tally->last_utc_s = r->points[r->n - 1].utc_s;
    for (size_t i = 1; i < r->n; i++) {
        int64_t gap_s = r->points[i].utc_s - r->points[i - 1].utc_s;
        tally->interval_s[gap_s < DPL_INTERVALS - 1 ? gap_s : DPL_INTERVALS - 1]++;
    }
}

void dpl_tally_commit(struct dpl_read_facts *facts, struct tally *tally) {
    facts->trips_read += tally->trips;
    facts->recordings += tally->trips;
    facts->elsewhere += tally->elsewhere;
    facts->points += tally->points;
    if (tally->points) {
        facts->south_deg = fmin(facts->south_deg, tally->south_deg),
        facts->north_deg = fmax(facts->north_deg, tally->north_deg);
        facts->west_deg = fmin(facts->west_deg, tally->west_deg),
        facts->east_deg = fmax(facts->east_deg, tally->east_deg);
        if (tally->first_utc_s < facts->first_utc_s) facts->first_utc_s = tally->first_utc_s;
        if (tally->last_utc_s > facts->last_utc_s) facts->last_utc_s = tally->last_utc_s;
        for (int i = 0; i < DPL_INTERVALS; i++) facts->interval_s[i] += tally->interval_s[i];
    }
    dpl_tally_clear(tally);
}

void dpl_facts_clear(struct dpl_read_facts *facts) {
    *facts = (struct dpl_read_facts){0};
    facts->first_utc_s = INT64_MAX, facts->last_utc_s = INT64_MIN;
    facts->south_deg = facts->west_deg = INFINITY, facts->north_deg = facts->east_deg = -INFINITY;
}
