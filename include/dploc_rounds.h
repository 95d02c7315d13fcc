/* dploc, many machines: a fit in rounds, where trips stay with workers and only sums travel.
 *
 *   driver    plan of round 1                  public
 *   workers   their units, cleaned and counted: parts                   PRIVATE
 *   anyone    parts merged into sums                                    PRIVATE
 *   driver    sums noised, after the ledger was charged: the plan of the next round, or the model
 *
 * A part is a function of its plan and its units: a task that is tried again, or done twice,
 * changes nothing. The same key gives the same model as dpl_fit on one machine, byte for byte.
 * docs/SCALE.md has the commands, limits and figures.
 *
 * Conventions as in dploc.h. The examples follow each other: together they are a program, which a
 * test runs.
 */
#ifndef DPLOC_ROUNDS_H
#define DPLOC_ROUNDS_H

#include "dploc.h"
#include "dploc_data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the library gives away; free with dpl_bytes_free. */
struct dpl_bytes {
    void *data;
    size_t n;
};
/* Bytes that the caller has. */
struct dpl_view {
    const void *data;
    size_t n;
};
DPL_API void dpl_bytes_free(struct dpl_bytes *bytes);

/* --------------------------------------------------------------------------------------------
 * The driver begins
 *
 * Settles everything that is public, draws the key of the noise, and spends nothing. What workers
 * need is in two files: the plan, which may be published, and PATH.key (mode 0600), under which the
 * ledger knows data sets. The checkpoint (`fit.checkpoint`; PATH.checkpoint) stays with the driver.
 *
 *     struct dpl_run *run = dpl_run_new(NULL);
 *     struct dpl_simulate_options city = dpl_simulate_defaults();
 *     struct dpl_area area = dpl_area_defaults();
 *     city.trips = 3000;
 *     dpl_simulate(run, &city, "city.csv");
 *     dpl_area_preset(run, "simulated", &area);
 *     struct dpl_fit_options options = dpl_fit_defaults();
 *     options.ledger = "none", options.method = "adatrace";
 *     if (dpl_rounds_begin(run, NULL, &area, &options, "round1.plan", false) != DPL_OK)
 *         printf("%s\n", dpl_run_message(run));
 */

/* `read` says how workers read (NULL: defaults). Not for methods that train nets, hold-outs, and
 * `read.strict`, which shows a bad row. */
DPL_API enum dpl_status dpl_rounds_begin(struct dpl_run *run, const struct dpl_read_options *read,
                                         const struct dpl_area *area,
                                         const struct dpl_fit_options *options, const char *path,
                                         bool overwrite);

/* --------------------------------------------------------------------------------------------
 * Workers count
 *
 * A worker reads the plan and its trips, and gives a part. Which units are its own follows from a
 * hash of each unit's id: it may be given all trips, and leaves the others out, or trips that were
 * set apart before (dpl_task_shard). Nothing that it says shows a value or a name.
 *
 *     bool done = false;
 *     for (int number = 1; !done; number++) {
 *         char plan[32], next[32];
 *         snprintf(plan, sizeof plan, "round%d.plan", number);
 *         snprintf(next, sizeof next, "round%d.plan", number + 1);
 *         struct dpl_task *task = NULL;
 *         struct dpl_bytes part[2], sums;
 *         const char *files[] = {"city.csv"};
 *         struct dpl_trips *trips;
 *         struct dpl_sums *merged;
 *         if (dpl_task_read(run, plan, &task) != DPL_OK) break;
 *         dpl_trips_open(run, files, 1, dpl_task_reading(task), &trips);
 *         dpl_task_part(run, task, trips, 0, 2, &part[0]); // one worker
 *         dpl_task_free(task);
 *
 *         struct dpl_bytes file, key, cleaned; // another, which gets the files as bytes
 *         dpl_part_read(run, plan, &file), dpl_part_read(run, "round1.plan.key", &key);
 *         struct dpl_view views[] = {{file.data, file.n}, {key.data, key.n}};
 *         if (dpl_task_open(run, views[0], views[1], &task) != DPL_OK) break;
 *         printf("round %d: %s 17 is of shard %u\n", dpl_task_round(task),
 *                dpl_task_by_user(task) ? "user" : "trip",
 *                (unsigned)dpl_task_shard(task, "17", 2, 2));
 *         int64_t offset[] = {0, 2, 4}; // "17" and "18"
 *         uint32_t shard[2];
 *         dpl_task_shards(task, "1718", offset, 2, 2, shard);
 *         dpl_task_clean(run, task, trips, 1, 2, &cleaned); // good for the rounds to come, too
 *         struct dpl_view mine = {cleaned.data, cleaned.n};
 *         dpl_task_count(run, task, mine, &part[1]);
 *         dpl_bytes_free(&file), dpl_bytes_free(&key), dpl_bytes_free(&cleaned);
 */

/* A plan that was read. */
struct dpl_task;

/* With the key that stands beside it. Caller frees with dpl_task_free. */
DPL_API enum dpl_status dpl_task_read(struct dpl_run *run, const char *path,
                                      struct dpl_task **task);
/* The same from bytes; `key` is PATH.key's. */
DPL_API enum dpl_status dpl_task_open(struct dpl_run *run, struct dpl_view plan,
                                      struct dpl_view key, struct dpl_task **task);
DPL_API void dpl_task_free(struct dpl_task *task);
/* Rounds count from 1. */
DPL_API int dpl_task_round(const struct dpl_task *task);
/* How trips are to be opened or made (dpl_trips_open, dpl_trips_new); borrowed. */
DPL_API const struct dpl_read_options *dpl_task_reading(const struct dpl_task *task);
/* Which of `of` shards, from 0 on, the unit with this id belongs to: of its user, or of its trip,
 * as dpl_task_by_user says; the id as its text is written in a file. */
DPL_API uint32_t dpl_task_shard(const struct dpl_task *task, const char *id, size_t length,
                                uint32_t of);
DPL_API bool dpl_task_by_user(const struct dpl_task *task);
/* The same for n ids at once, as Arrow has texts: id i is text[offset[i]] ... text[offset[i+1]-1].
 * shard (n). */
DPL_API void dpl_task_shards(const struct dpl_task *task, const char *text, const int64_t *offset,
                             size_t n, uint32_t of, uint32_t *shard);
/* Cleans and counts the units of shard `index` of `of`, from 0 on. PRIVATE. */
DPL_API enum dpl_status dpl_task_part(struct dpl_run *run, const struct dpl_task *task,
                                      struct dpl_trips *trips, uint32_t index, uint32_t of,
                                      struct dpl_bytes *part);
/* The same with the shard's cleaned trips kept in a file (mode 0600) from round to round: the first
 * round reads `trips` and writes `path`, the others read that file alone. Delete it after the fit.
 * The shard is in memory as a whole. PRIVATE. */
DPL_API enum dpl_status dpl_task_part_kept(struct dpl_run *run, const struct dpl_task *task,
                                           struct dpl_trips *trips, uint32_t index, uint32_t of,
                                           const char *path, struct dpl_bytes *part);
/* In two steps, where cleaned trips are kept from round to round: they are good for all rounds of
 * one fit. PRIVATE. */
DPL_API enum dpl_status dpl_task_clean(struct dpl_run *run, const struct dpl_task *task,
                                       struct dpl_trips *trips, uint32_t index, uint32_t of,
                                       struct dpl_bytes *cleaned);
DPL_API enum dpl_status dpl_task_count(struct dpl_run *run, const struct dpl_task *task,
                                       struct dpl_view cleaned, struct dpl_bytes *part);

/* --------------------------------------------------------------------------------------------
 * Merging
 *
 * Parts, and sums of some of them, in any order. What does not belong together is refused.
 *
 *         dpl_sums_new(run, &merged);
 *         for (int i = 0; i < 2; i++) {
 *             struct dpl_view view = {part[i].data, part[i].n};
 *             if (dpl_sums_add(run, merged, "a part", view) != DPL_OK) done = true;
 *             dpl_bytes_free(&part[i]);
 *         }
 *         dpl_sums_make(run, merged, &sums);
 *         dpl_sums_free(merged), dpl_trips_free(trips), dpl_task_free(task);
 */

struct dpl_sums;

DPL_API enum dpl_status dpl_sums_new(struct dpl_run *run, struct dpl_sums **sums);
/* `where` is what messages call it. After a failure the sums are of no use. */
DPL_API enum dpl_status dpl_sums_add(struct dpl_run *run, struct dpl_sums *sums, const char *where,
                                     struct dpl_view part);
/* As bytes, to be added elsewhere or given to the driver. PRIVATE. */
DPL_API enum dpl_status dpl_sums_make(struct dpl_run *run, const struct dpl_sums *sums,
                                      struct dpl_bytes *bytes);
DPL_API void dpl_sums_free(struct dpl_sums *sums);
/* Files of parts and sums: whole or not at all, mode 0600. Whether one may be written is asked
 * before counting. */
DPL_API enum dpl_status dpl_part_check(struct dpl_run *run, const char *path, bool overwrite);
DPL_API enum dpl_status dpl_part_read(struct dpl_run *run, const char *path,
                                      struct dpl_bytes *bytes);
DPL_API enum dpl_status dpl_part_write(struct dpl_run *run, struct dpl_view part, const char *path,
                                       bool overwrite);
/* Whether a file that begins with these bytes (64 are enough) is a plan or a part. */
DPL_API bool dpl_task_recognise(const char *bytes, size_t length);
/* What a plan is, or a part as far as it may be said, as words or JSON. Free with dpl_text_free. */
DPL_API enum dpl_status dpl_task_summary(struct dpl_run *run, const char *path, bool json,
                                         char **text);

/* --------------------------------------------------------------------------------------------
 * The driver goes on
 *
 * Charges the ledger before the first noise, noises the sums, and writes the next plan to `path`;
 * or, after the last round, the model with all that belongs beside it. The checkpoint binds every
 * sum that was noised: the same call may be made again after a crash, with the same sums, and
 * costs nothing; with others it is refused.
 *
 *         struct dpl_view view = {sums.data, sums.n};
 *         if (done || dpl_rounds_continue(run, plan, view, NULL, next, &done) != DPL_OK) {
 *             printf("%s\n", dpl_run_message(run));
 *             break;
 *         }
 *         dpl_bytes_free(&sums);
 *         printf(done ? "a model after %d rounds\n" : "round %d is done\n", number);
 *     }
 *     dpl_run_free(run);
 */

struct dpl_rounds_options {
    size_t struct_size;
    const char *checkpoint; /* NULL: beside the plan, under the name that it says */
    bool new_data;          /* as fit.new_data: asked for when the first sums are noised */
    double total_epsilon, total_delta; /* as fit's: limits over all releases */
    bool overwrite;
};
DPL_API struct dpl_rounds_options dpl_rounds_defaults(void);
/* *done: `path` is the model. */
DPL_API enum dpl_status dpl_rounds_continue(struct dpl_run *run, const char *plan,
                                            struct dpl_view sums,
                                            const struct dpl_rounds_options *options,
                                            const char *path, bool *done);

#ifdef __cplusplus
}
#endif
#endif
