/* See spill.h. A segment is the columns of its trips, one behind the other. */
#include "base/spill.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

struct segment {
    off_t at;
    size_t part, n_trips, n_visits;
};

struct dpl_spill {
    int fd;
    off_t end;
    bool by_user, positions, ends, has_time;
    struct segment *segment; /* (n) */
    size_t n, capacity;
};

enum dpl_status dpl_spill_new(struct dpl_run *run, bool by_user, struct dpl_spill **made) {
    struct dpl_spill *spill = dpl_alloc(run, 1, sizeof *spill);
    if (!spill) return DPL_SYSTEM;
    spill->by_user = by_user;
    enum dpl_status status = dpl_file_temporary(run, &spill->fd);
    if (status == DPL_OK)
        *made = spill;
    else
        dpl_free(spill);
    return status;
}

void dpl_spill_free(struct dpl_spill *spill) {
    if (!spill) return;
    close(spill->fd);
    dpl_free(spill->segment);
    dpl_free(spill);
}

static size_t part_of(const struct dpl_spill *spill, const struct dpl_cleaned *trips, size_t i) {
    const uint64_t number = spill->by_user ? (uint64_t)trips->user[i] : i;
    return dpl_mix64(number) % DPL_SPILL_PARTS;
}

/* ---- writing ---- */

static enum dpl_status write_at(struct dpl_run *run, struct dpl_spill *spill, const void *data,
                                size_t bytes) {
    const char *from = data;
    while (bytes > 0) {
        ssize_t put = pwrite(spill->fd, from, bytes, spill->end);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0)
            return dpl_fail_errno(run, DPL_SYSTEM,
                                  "cannot write the temporary file of trips (TMPDIR names its "
                                  "folder; `fit.memory_mb` is what is kept in memory)");
        from += put, bytes -= (size_t)put, spill->end += put;
    }
    return DPL_OK;
}

static enum dpl_status write_segment(struct dpl_run *run, struct dpl_spill *spill, size_t part,
                                     const struct dpl_cleaned *trips) {
    struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS];
    if (trips->n_trips == 0) return DPL_OK;
    DPL_TRY(dpl_grow(run, &spill->segment, &spill->capacity, spill->n + 1, sizeof *spill->segment));
    spill->segment[spill->n++] =
        (struct segment){spill->end, part, trips->n_trips, trips->n_visits};
    dpl_cleaned_columns(trips, column);
    for (int i = 0; i < DPL_CLEANED_COLUMNS; i++)
        DPL_TRY(write_at(run, spill, column[i].data, column[i].bytes));
    return DPL_OK;
}

static enum dpl_status copy_trip(struct dpl_run *run, const struct dpl_cleaned *from, size_t i,
                                 struct dpl_cleaned *to) {
    const size_t begin = from->start[i];
    const struct dpl_cleaned_trip trip = {
        from->cell + begin, from->start[i + 1] - begin,
        from->utc_s[i],     from->user[i],
        from->period[i],    from->position ? from->position + begin : NULL};
    DPL_TRY(dpl_cleaned_append(run, to, &trip));
    return from->ends ? dpl_cleaned_append_ends(run, to, from->ends[i]) : DPL_OK;
}

/* Numbers of trips, sorted by part: order (n_trips), first (parts + 1). */
static void sort_by_part(const struct dpl_spill *spill, const struct dpl_cleaned *trips,
                         size_t *order, size_t first[DPL_SPILL_PARTS + 1]) {
    memset(first, 0, (DPL_SPILL_PARTS + 1) * sizeof *first);
    for (size_t i = 0; i < trips->n_trips; i++) first[part_of(spill, trips, i) + 1]++;
    for (size_t p = 0; p < DPL_SPILL_PARTS; p++) first[p + 1] += first[p];
    for (size_t i = trips->n_trips; i-- > 0;) order[--first[part_of(spill, trips, i) + 1]] = i;
    for (size_t p = 0; p < DPL_SPILL_PARTS; p++) first[p] = first[p + 1];
    first[DPL_SPILL_PARTS] = trips->n_trips;
}

enum dpl_status dpl_spill_put(struct dpl_run *run, struct dpl_spill *spill,
                              const struct dpl_cleaned *trips) {
    size_t first[DPL_SPILL_PARTS + 1];
    size_t *order = dpl_alloc(run, trips->n_trips, sizeof *order);
    struct dpl_cleaned *some = NULL;
    enum dpl_status status = order ? DPL_OK : DPL_SYSTEM;
    spill->positions = trips->position != NULL, spill->ends = trips->ends != NULL;
    spill->has_time = trips->has_time;
    if (status == DPL_OK) sort_by_part(spill, trips, order, first);
    for (size_t p = 0; status == DPL_OK && p < DPL_SPILL_PARTS; p++) {
        status = dpl_cleaned_new(run, &trips->grid, &some);
        for (size_t k = first[p]; status == DPL_OK && k < first[p + 1]; k++)
            status = copy_trip(run, trips, order[k], some);
        if (status == DPL_OK) status = write_segment(run, spill, p, some);
        dpl_cleaned_free(some);
        some = NULL;
    }
    dpl_free(order);
    return status;
}

/* ---- reading ---- */

static enum dpl_status read_at(struct dpl_run *run, const struct dpl_spill *spill, off_t at,
                               void *data, size_t bytes) {
    char *into = data;
    while (bytes > 0) {
        ssize_t got = pread(spill->fd, into, bytes, at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return dpl_fail_errno(run, DPL_SYSTEM, "cannot read the temporary file");
        into += got, bytes -= (size_t)got, at += got;
    }
    return DPL_OK;
}

/* Appends a segment to the trips, which have room for it. */
static enum dpl_status read_segment(struct dpl_run *run, const struct dpl_spill *spill,
                                    const struct segment *segment, struct dpl_cleaned *trips) {
    const size_t T = trips->n_trips, V = trips->n_visits;
    struct dpl_cleaned_column column[DPL_CLEANED_COLUMNS];
    off_t at = segment->at;
    struct dpl_cleaned tail = {.n_trips = segment->n_trips,
                               .n_visits = segment->n_visits,
                               .start = trips->start + T,
                               .utc_s = trips->utc_s + T,
                               .position = trips->position ? trips->position + V : NULL,
                               .cell = trips->cell + V,
                               .user = trips->user + T,
                               .period = trips->period + T,
                               .ends = trips->ends ? trips->ends + T : NULL};
    dpl_cleaned_columns(&tail, column);
    for (int i = 0; i < DPL_CLEANED_COLUMNS; at += (off_t)column[i++].bytes)
        DPL_TRY(read_at(run, spill, at, column[i].data, column[i].bytes));
    for (size_t i = 0; i <= segment->n_trips; i++) tail.start[i] += V;
    trips->n_trips += segment->n_trips, trips->n_visits += segment->n_visits;
    return DPL_OK;
}

enum dpl_status dpl_spill_load(struct dpl_run *run, const struct dpl_spill *spill, size_t part,
                               const struct dpl_cleaned *like, struct dpl_cleaned **made) {
    struct dpl_cleaned *trips = NULL;
    size_t n_trips = 0, n_visits = 0;
    enum dpl_status status;
    for (size_t i = 0; i < spill->n; i++)
        if (spill->segment[i].part == part)
            n_trips += spill->segment[i].n_trips, n_visits += spill->segment[i].n_visits;
    DPL_GO(dpl_cleaned_new(run, &like->grid, &trips));
    DPL_GO(dpl_cleaned_reserve(run, trips, n_trips, n_visits, spill->positions));
    if (spill->ends) DPL_GO(dpl_cleaned_reserve_ends(run, trips, n_trips));
    trips->n_users = like->n_users, trips->has_time = spill->has_time;
    for (size_t i = 0; status == DPL_OK && i < spill->n; i++)
        if (spill->segment[i].part == part)
            status = read_segment(run, spill, &spill->segment[i], trips);
    if (status != DPL_OK) goto done;
    *made = trips;
    trips = NULL;
done:
    dpl_cleaned_free(trips);
    return status;
}
