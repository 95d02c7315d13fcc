/* External merge sort of (recording, time) with stable order.
 *
 * Entries fill half of the allowed memory, are merge-sorted with the other half as scratch, and the
 * sorted run is appended to a nameless temporary file. In the end all runs are merged through a
 * heap with one read buffer each. Cost: every entry is written and read once; memory is bounded,
 * except that one recording must fit. */
#include "ingest/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

struct entry {
    uint32_t recording, reserved;
    struct point point;
};

struct run {
    off_t next, end;      /* bytes of the file still to be read */
    struct entry *buffer; /* (buffer_size) into sorter->buffers */
    size_t have, at;
};

struct sorter {
    struct dpl_run *run;
    int fd;                          /* -1: everything still fits in memory */
    struct entry *entries, *scratch; /* (room) */
    size_t room, n;
    off_t file_end;
    struct run *runs;
    size_t n_runs, runs_capacity;

    bool merging;
    struct entry *buffers;
    size_t buffer_size;
    size_t *heap; /* (heap_n) runs, the one with the least entry first */
    size_t heap_n;
    struct point *points;
    size_t points_capacity;
};

enum { MIN_ROOM = 64 };

enum dpl_status dpl_sorter_new(struct dpl_run *run, size_t memory_bytes, struct sorter **made) {
    struct sorter *sorter = dpl_alloc(run, 1, sizeof *sorter);
    if (!sorter) return DPL_SYSTEM;
    sorter->run = run;
    sorter->fd = -1;
    sorter->room = memory_bytes / 2 / sizeof(struct entry);
    if (sorter->room < MIN_ROOM) sorter->room = MIN_ROOM;
    sorter->entries = dpl_alloc(run, sorter->room, sizeof *sorter->entries);
    sorter->scratch = dpl_alloc(run, sorter->room, sizeof *sorter->scratch);
    if (!sorter->entries || !sorter->scratch) {
        dpl_sorter_free(sorter);
        return DPL_SYSTEM;
    }
    *made = sorter;
    return DPL_OK;
}

size_t dpl_sorter_bytes(size_t n_points) { return (n_points + 1) * 2 * sizeof(struct entry); }

void dpl_sorter_free(struct sorter *sorter) {
    if (!sorter) return;
    if (sorter->fd >= 0) close(sorter->fd);
    dpl_free(sorter->entries);
    dpl_free(sorter->scratch);
    dpl_free(sorter->runs);
    dpl_free(sorter->buffers);
    dpl_free(sorter->heap);
    dpl_free(sorter->points);
    dpl_free(sorter);
}

static bool comes_before(const struct entry *a, const struct entry *b) {
    return a->recording != b->recording ? a->recording < b->recording
                                        : a->point.utc_s < b->point.utc_s;
}

/* Bottom-up, stable; the result is in sorter->entries. */
static void sort_entries(struct sorter *sorter) {
    for (size_t width = 1; width < sorter->n; width *= 2) {
        for (size_t i = 0; i < sorter->n; i += 2 * width) {
            size_t middle = i + width < sorter->n ? i + width : sorter->n,
                   end = middle + width < sorter->n ? middle + width : sorter->n, a = i, b = middle;
            for (size_t k = i; k < end; k++) {
                bool right = a == middle ||
                             (b < end && comes_before(&sorter->entries[b], &sorter->entries[a]));
                sorter->scratch[k] = sorter->entries[right ? b++ : a++];
            }
        }
        struct entry *swap = sorter->entries;
        sorter->entries = sorter->scratch, sorter->scratch = swap;
    }
}

static enum dpl_status write_run(struct sorter *sorter) {
    if (sorter->fd < 0) DPL_TRY(dpl_file_temporary(sorter->run, &sorter->fd));
    sort_entries(sorter);
    DPL_TRY(dpl_grow(sorter->run, &sorter->runs, &sorter->runs_capacity, sorter->n_runs + 1,
                     sizeof *sorter->runs));
    const char *bytes = (const char *)sorter->entries;
    size_t left = sorter->n * sizeof *sorter->entries;
    sorter->runs[sorter->n_runs] =
        (struct run){.next = sorter->file_end, .end = sorter->file_end + (off_t)left};
    while (left > 0) {
        ssize_t done = pwrite(sorter->fd, bytes, left, sorter->file_end);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0)
            return dpl_fail_errno(
                sorter->run, DPL_SYSTEM,
                "cannot write the temporary file for sorting (set TMPDIR to a larger disk)");
        bytes += done, left -= (size_t)done, sorter->file_end += done;
    }
    sorter->n_runs++;
    sorter->n = 0;
    return DPL_OK;
}

enum dpl_status dpl_sorter_add(struct sorter *sorter, uint32_t recording,
                               const struct point *point) {
    if (sorter->n == sorter->room) DPL_TRY(write_run(sorter));
    sorter->entries[sorter->n++] = (struct entry){recording, 0, *point};
    return DPL_OK;
}

/* ---- merging ---- */

static enum dpl_status refill(struct sorter *sorter, struct run *run) {
    size_t want = sorter->buffer_size * sizeof(struct entry), left = (size_t)(run->end - run->next),
           got = 0;
    if (want > left) want = left;
    while (got < want) {
        ssize_t length =
            pread(sorter->fd, (char *)run->buffer + got, want - got, run->next + (off_t)got);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0)
            return dpl_fail_errno(sorter->run, DPL_SYSTEM,
                                  "cannot read the temporary file for sorting");
        got += (size_t)length;
    }
    run->next += (off_t)want;
    run->have = want / sizeof(struct entry);
    run->at = 0;
    return DPL_OK;
}

static const struct entry *head_of(const struct sorter *sorter, size_t heap_at) {
    const struct run *run = &sorter->runs[sorter->heap[heap_at]];
    return &run->buffer[run->at];
}

/* The earlier run wins ties, which keeps the merge stable. */
static bool heap_before(const struct sorter *sorter, size_t a, size_t b) {
    const struct entry *left = head_of(sorter, a), *right = head_of(sorter, b);
    if (comes_before(left, right)) return true;
    return !comes_before(right, left) && sorter->heap[a] < sorter->heap[b];
}

static void sift_down(struct sorter *sorter, size_t at) {
    for (;;) {
        size_t least = at, left = 2 * at + 1, right = left + 1;
        if (left < sorter->heap_n && heap_before(sorter, left, least)) least = left;
        if (right < sorter->heap_n && heap_before(sorter, right, least)) least = right;
        if (least == at) return;
        size_t swap = sorter->heap[at];
        sorter->heap[at] = sorter->heap[least], sorter->heap[least] = swap;
        at = least;
    }
}

/* The last entries stay in memory as a run of their own when nothing was written yet. */
static enum dpl_status begin_merge(struct sorter *sorter) {
    sorter->merging = true;
    if (sorter->fd < 0) {
        sort_entries(sorter);
        DPL_TRY(
            dpl_grow(sorter->run, &sorter->runs, &sorter->runs_capacity, 1, sizeof *sorter->runs));
        sorter->runs[0] = (struct run){.buffer = sorter->entries, .have = sorter->n};
        sorter->n_runs = sorter->n ? 1 : 0;
    } else {
        if (sorter->n) DPL_TRY(write_run(sorter));
        sorter->buffer_size = sorter->room / sorter->n_runs;
        if (sorter->buffer_size < MIN_ROOM) sorter->buffer_size = MIN_ROOM;
        dpl_free(sorter->scratch);
        sorter->scratch = NULL;
        sorter->buffers =
            dpl_alloc(sorter->run, sorter->n_runs * sorter->buffer_size, sizeof *sorter->buffers);
        if (!sorter->buffers) return DPL_SYSTEM;
        for (size_t i = 0; i < sorter->n_runs; i++) {
            sorter->runs[i].buffer = sorter->buffers + i * sorter->buffer_size;
            DPL_TRY(refill(sorter, &sorter->runs[i]));
        }
    }
    sorter->heap = dpl_alloc(sorter->run, sorter->n_runs, sizeof *sorter->heap);
    if (!sorter->heap) return DPL_SYSTEM;
    for (size_t i = 0; i < sorter->n_runs; i++) sorter->heap[sorter->heap_n++] = i;
    for (size_t i = sorter->heap_n; i-- > 0;) sift_down(sorter, i);
    return DPL_OK;
}

/* Moves the least entry's run on by one. */
static enum dpl_status advance(struct sorter *sorter) {
    struct run *run = &sorter->runs[sorter->heap[0]];
    if (++run->at == run->have) {
        if (run->next < run->end)
            DPL_TRY(refill(sorter, run));
        else
            sorter->heap[0] = sorter->heap[--sorter->heap_n];
    }
    if (sorter->heap_n) sift_down(sorter, 0);
    return DPL_OK;
}

enum dpl_status dpl_sorter_next(struct sorter *sorter, uint32_t *recording, struct point **points,
                                size_t *n) {
    if (!sorter->merging) DPL_TRY(begin_merge(sorter));
    *n = 0;
    if (!sorter->heap_n) return DPL_OK;
    *recording = head_of(sorter, 0)->recording;
    while (sorter->heap_n && head_of(sorter, 0)->recording == *recording) {
        DPL_TRY(dpl_grow(sorter->run, &sorter->points, &sorter->points_capacity, *n + 1,
                         sizeof *sorter->points));
        sorter->points[(*n)++] = head_of(sorter, 0)->point;
        DPL_TRY(advance(sorter));
    }
    *points = sorter->points;
    return DPL_OK;
}
