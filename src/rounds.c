/* The program on many machines, on one screen: rounds of count, merge and noise.
 *
 *     begin      options, key, checkpoint, plan of round 1; nothing is spent         driver
 *     part       the units of one shard, cleaned and counted                        workers
 *     sums       parts added up (fit/counts.h)                                      anyone
 *     continue   ledger charged, sums noised, the next plan or the model            driver
 *
 * What makes a kill at any moment harmless: the checkpoint is on the disk with the plan's digest
 * before the plan is, and with the HMAC of the sums before they are noised; the same plan and sums
 * give the same bytes again, and others are refused. pipeline.c is the same on one machine. */
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/trips.h"
#include "fit/fit.h"
#include "fit/rounds.h"
#include "fit/shard.h"
#include "fit/weak.h"
#include "ingest/format.h" // defines: dpl_trim
#include "ingest/shard.h"
#include "ledger/datasets.h"

static const char KEY_MARK[] = "dploc key of data sets\n";

static struct dpl_view view_of(const struct dpl_bytes *bytes) {
    return (struct dpl_view){bytes->data, bytes->n};
}

/* ---- the driver begins ---- */

/* What cannot be done in rounds is said before anything is written. */
static enum dpl_status check_begin(struct dpl_run *run, const struct dpl_read_options *read,
                                   const struct dpl_fit_options *options) {
    const struct dpl_method *method;
    DPL_TRY(dpl_method_find(run, options->method, &method));
    if (dpl_method_one_machine(method, options))
        return dpl_fail(run, DPL_USAGE,
                        "the method %s with these options is fitted on one machine: it needs all "
                        "units at once. Fit it with 'dploc fit', or take `fit.method` bridge",
                        method->name);
    if (options->hold_out > 0)
        return dpl_fail(run, DPL_USAGE,
                        "`fit.hold_out` is for a fit on one machine: its secret split would have "
                        "to be known to all workers");
    if (options->roads)
        return dpl_fail(run, DPL_USAGE,
                        "`fit.roads` is for a fit on one machine: a plan does not carry the map");
    if (options->resume)
        return dpl_fail(run, DPL_USAGE, "a plan has nothing to resume: leave out `fit.resume`");
    if (read->strict)
        return dpl_fail(run, DPL_USAGE,
                        "`read.strict` shows a bad row, and what workers say stands in the logs of "
                        "a cluster");
    if (read->guess || read->time_optional)
        return dpl_fail(run, DPL_USAGE, "guessing from rows is not for what is to be published");
    return DPL_OK;
}

/* The method on what was released so far: to the end, or to questions without an answer. */
static enum dpl_status ask_method(struct dpl_run *run, struct dpl_fit *fit,
                                  struct dpl_rounds *rounds) {
    struct dpl_parts nobody = {0};
    fit->release.rounds = rounds;
    enum dpl_status status = fit->method->fit(run, &nobody, &fit->release, fit->model);
    fit->release.rounds = NULL;
    return status;
}

static void take_asks(const struct dpl_rounds *rounds, struct dpl_task *task) {
    task->n_asks = rounds->n_asks;
    memcpy(task->ask, rounds->ask, sizeof task->ask);
}

/* With a declared size the mechanisms are known at once, and round 1 asks for tables. */
static enum dpl_status first_question(struct dpl_run *run, struct dpl_fit *fit,
                                      struct dpl_task *task) {
    const struct dpl_fit_options *options = &fit->options;
    struct dpl_sums *none = NULL;
    struct dpl_size *size = NULL;
    enum dpl_status status;
    if (options->size == 0) {
        strcpy(task->ask[task->n_asks++], "size");
        return DPL_OK;
    }
    DPL_GO(dpl_size_declare(run, options->size, &size));
    DPL_GO(dpl_plan_make(run, &options->budget, size, fit->ask, fit->n_ask, &fit->release.plan));
    DPL_GO(dpl_weak_check(run, options, dpl_plan_epsilon(fit->release.plan)));
    DPL_GO(dpl_sums_new(run, &none));
    struct dpl_rounds rounds = {.released = task->released, .sums = none};
    fit->release.options = options;
    status = ask_method(run, fit, &rounds);
    if (status != DPL_INTERRUPTED || !rounds.ended) goto done;
    task->budget = dpl_plan_to_json(fit->release.plan);
    take_asks(&rounds, task);
    status = task->budget ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
done:
    dpl_sums_free(none);
    dpl_size_free(size);
    return status;
}

static enum dpl_status name_files(struct dpl_run *run, struct dpl_task *task, const char *path,
                                  const char *checkpoint) {
    const char *slash = strrchr(path, '/'), *other = strrchr(checkpoint, '/');
    size_t key =
               (size_t)snprintf(task->key_name, DPL_TASK_NAME, "%s.key", slash ? slash + 1 : path),
           base = (size_t)snprintf(task->checkpoint_name, DPL_TASK_NAME, "%s",
                                   other ? other + 1 : checkpoint);
    if (key < DPL_TASK_NAME && base < DPL_TASK_NAME) return DPL_OK;
    return dpl_fail(run, DPL_USAGE, "%.60s...: the name is too long", path);
}

/* The key that identities are made with: the ledger's, so that it knows the data set as it would on
 * one machine. */
static enum dpl_status write_key(struct dpl_run *run, const struct dpl_fit_options *options,
                                 struct dpl_task *task, const char *path, bool overwrite) {
    uint8_t key[DPL_TASK_KEY], file[sizeof KEY_MARK - 1 + DPL_TASK_KEY];
    char beside[DPL_PATH_ROOM];
    enum dpl_status status;
    DPL_GO(dpl_task_beside(run, path, task->key_name, beside));
    if (options->ledger && !strcmp(options->ledger, "none"))
        DPL_GO(dpl_secret_bytes(run, key, sizeof key));
    else
        DPL_GO(dpl_ledger_key(run, options->ledger, key));
    memcpy(file, KEY_MARK, sizeof KEY_MARK - 1);
    memcpy(file + sizeof KEY_MARK - 1, key, sizeof key);
    DPL_GO(dpl_sha256_hex(run, file, sizeof file, task->key_digest));
    status = dpl_bytes_write(run, beside, KEY_MARK, true, overwrite,
                             (struct dpl_view){file, sizeof file});
done:
    dpl_wipe(key, sizeof key);
    dpl_wipe(file, sizeof file);
    return status;
}

/* The checkpoint knows the plan before anyone else does. */
static enum dpl_status write_plan(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                  struct dpl_task *task, const char *path, bool overwrite) {
    struct dpl_bytes bytes = {0};
    DPL_TRY(dpl_task_make(run, task, &bytes));
    enum dpl_status status = dpl_checkpoint_bind_plan(run, checkpoint, task->number, task->digest);
    if (status == DPL_OK) status = dpl_checkpoint_save(run, checkpoint);
    if (status == DPL_OK)
        status = dpl_bytes_write(run, path, dpl_plan_kind.magic, false, overwrite, view_of(&bytes));
    dpl_bytes_free(&bytes);
    return status;
}

static enum dpl_status check_plan_path(struct dpl_run *run, const char *path, bool overwrite) {
    if (!strcmp(path, "-"))
        return dpl_fail(run, DPL_USAGE, "a plan is a file with others beside it; name one");
    return dpl_file_check(
        run, path, &(struct dpl_file_options){.overwrite = overwrite, .mark = dpl_plan_kind.magic});
}

/* The plan of round 1, complete but for the names of the files beside it. */
static enum dpl_status new_round(struct dpl_run *run, const struct dpl_trips *none,
                                 const struct dpl_area *area, const struct dpl_fit_options *options,
                                 struct dpl_task **task) {
    uint8_t id[(DPL_TASK_ID - 1) / 2];
    char *text = NULL;
    DPL_TRY(dpl_option_shared(run, &none->read, area, options, &text));
    enum dpl_status status = dpl_task_new(run, "the options", text, task);
    dpl_text_free(text);
    DPL_TRY(status);
    DPL_TRY(dpl_secret_bytes(run, id, sizeof id));
    dpl_hex(id, sizeof id, (*task)->id);
    return DPL_OK;
}

enum dpl_status dpl_rounds_begin(struct dpl_run *run, const struct dpl_read_options *read,
                                 const struct dpl_area *area, const struct dpl_fit_options *given,
                                 const char *path, bool overwrite) {
    struct dpl_trips none = {.read = dpl_read_defaults()};
    struct dpl_fit_options options;
    struct dpl_fit *fit = NULL;
    struct dpl_task *task = NULL;
    char checkpoint[DPL_PATH_ROOM];
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_GO(dpl_options_take(run, "read", read, &none.read));
    DPL_GO(dpl_fit_settle(run, given, &options));
    DPL_GO(check_begin(run, &none.read, &options));
    DPL_GO(check_plan_path(run, path, overwrite));
    snprintf(checkpoint, sizeof checkpoint, "%s.checkpoint", path);
    if (!options.checkpoint) options.checkpoint = checkpoint;
    DPL_GO(dpl_fit_begin(run, &none, area, &options, &fit));
    DPL_GO(new_round(run, &none, &fit->model->grid.area, &options, &task));
    DPL_GO(name_files(run, task, path, options.checkpoint));
    DPL_GO(first_question(run, fit, task));
    dpl_plan_free(fit->release.plan);
    fit->release = (struct dpl_release){0};
    DPL_GO(dpl_release_open(run, &fit->options, fit->binding, NULL, NULL, &fit->release));
    DPL_GO(write_key(run, &options, task, path, overwrite));
    status = write_plan(run, fit->release.checkpoint, task, path, overwrite);
done:
    dpl_task_free(task);
    dpl_fit_free(fit);
    return status;
}

/* ---- workers ---- */

static enum dpl_status take_key(struct dpl_run *run, const char *where, struct dpl_view key,
                                struct dpl_task *task) {
    const size_t mark = sizeof KEY_MARK - 1;
    char digest[DPL_DIGEST_HEX];
    if (key.n != mark + DPL_TASK_KEY || memcmp(key.data, KEY_MARK, mark) != 0)
        return dpl_fail(run, DPL_BAD_DATA, "%s: this is not the key that belongs to a plan", where);
    // PRIVACY: under another key the ledger would not know the data set, and would begin a new sum.
    DPL_TRY(dpl_sha256_hex(run, key.data, key.n, digest));
    if (strcmp(digest, task->key_digest) != 0)
        return dpl_fail(run, DPL_REFUSED, "%s: this is the key of another plan", where);
    memcpy(task->key, (const uint8_t *)key.data + mark, DPL_TASK_KEY);
    return DPL_OK;
}

enum dpl_status dpl_task_open(struct dpl_run *run, struct dpl_view plan, struct dpl_view key,
                              struct dpl_task **made) {
    struct dpl_task *task = NULL;
    dpl_run_begin(run);
    DPL_TRY(dpl_task_load(run, "the plan", plan, &task));
    enum dpl_status status = take_key(run, "the key", key, task);
    if (status == DPL_OK)
        *made = task;
    else
        dpl_task_free(task);
    return status;
}

static enum dpl_status load_plan(struct dpl_run *run, const char *path, struct dpl_task **task) {
    struct dpl_bytes bytes = {0};
    DPL_TRY(dpl_bytes_read(run, path, &bytes));
    enum dpl_status status = dpl_task_load(run, path, view_of(&bytes), task);
    dpl_bytes_free(&bytes);
    return status;
}

static enum dpl_status load_key(struct dpl_run *run, const char *path, struct dpl_task *task) {
    struct dpl_bytes bytes = {0};
    char beside[DPL_PATH_ROOM];
    DPL_TRY(dpl_task_beside(run, path, task->key_name, beside));
    if (access(beside, F_OK) != 0)
        return dpl_fail(run, DPL_USAGE,
                        "%s is not there: the key belongs to the plan, and must lie beside it",
                        beside);
    DPL_TRY(dpl_bytes_read(run, beside, &bytes));
    enum dpl_status status = take_key(run, beside, view_of(&bytes), task);
    dpl_wipe(bytes.data, bytes.n);
    dpl_bytes_free(&bytes);
    return status;
}

enum dpl_status dpl_task_read(struct dpl_run *run, const char *path, struct dpl_task **made) {
    struct dpl_task *task = NULL;
    dpl_run_begin(run);
    DPL_TRY(load_plan(run, path, &task));
    enum dpl_status status = load_key(run, path, task);
    if (status == DPL_OK)
        *made = task;
    else
        dpl_task_free(task);
    return status;
}

bool dpl_task_by_user(const struct dpl_task *task) {
    return task->set.fit.budget.unit == DPL_UNIT_USER;
}

uint32_t dpl_task_shard(const struct dpl_task *task, const char *id, size_t length, uint32_t of) {
    const uint64_t seed = dpl_task_by_user(task) ? DPL_SEED_USER : DPL_SEED_TRIP;
    const struct field text = dpl_trim((struct field){id, length}); // as the reader takes it
    return dpl_shard_of(dpl_task_seed(task), dpl_hash(text.text, text.length, seed), of);
}

void dpl_task_shards(const struct dpl_task *task, const char *text, const int64_t *offset, size_t n,
                     uint32_t of, uint32_t *shard) {
    for (size_t i = 0; i < n; i++)
        shard[i] = dpl_task_shard(task, text + offset[i], (size_t)(offset[i + 1] - offset[i]), of);
}

/* Counts a shard and gives it as bytes. */
static enum dpl_status count_shard(struct dpl_run *run, const struct dpl_task *task,
                                   struct dpl_shard *shard, struct dpl_bytes *part) {
    struct dpl_sums *counts = NULL;
    DPL_TRY(dpl_shard_count(run, task, shard, &counts));
    enum dpl_status status = dpl_sums_make(run, counts, part);
    dpl_sums_free(counts);
    return status;
}

enum dpl_status dpl_task_part(struct dpl_run *run, const struct dpl_task *task,
                              struct dpl_trips *trips, uint32_t index, uint32_t of,
                              struct dpl_bytes *part) {
    struct dpl_shard shard = {0};
    dpl_run_begin(run);
    const struct dpl_shard_use use = {.one_round = true, .memory_bytes = dpl_machine_room_bytes()};
    enum dpl_status status = dpl_shard_read(run, task, trips, index, of, use, &shard);
    if (status == DPL_OK) status = count_shard(run, task, &shard, part);
    dpl_shard_free(&shard);
    return status;
}

/* Reads and cleans the shard's trips for all rounds. */
static enum dpl_status clean_shard(struct dpl_run *run, const struct dpl_task *task,
                                   struct dpl_trips *trips, uint32_t index, uint32_t of,
                                   struct dpl_shard *shard) {
    const struct dpl_shard_use use = {.one_round = false};
    return dpl_shard_read(run, task, trips, index, of, use, shard);
}

enum dpl_status dpl_task_part_kept(struct dpl_run *run, const struct dpl_task *task,
                                   struct dpl_trips *trips, uint32_t index, uint32_t of,
                                   const char *path, struct dpl_bytes *part) {
    struct dpl_shard shard = {0};
    const bool kept = access(path, F_OK) == 0;
    dpl_run_begin(run);
    enum dpl_status status = kept ? dpl_shard_open(run, task, path, index, of, &shard)
                                  : clean_shard(run, task, trips, index, of, &shard);
    if (status == DPL_OK && !kept) status = dpl_shard_save(run, &shard, path);
    if (status == DPL_OK) status = count_shard(run, task, &shard, part);
    dpl_shard_free(&shard);
    return status;
}

enum dpl_status dpl_task_clean(struct dpl_run *run, const struct dpl_task *task,
                               struct dpl_trips *trips, uint32_t index, uint32_t of,
                               struct dpl_bytes *cleaned) {
    struct dpl_shard shard = {0};
    dpl_run_begin(run);
    enum dpl_status status = clean_shard(run, task, trips, index, of, &shard);
    if (status == DPL_OK) status = dpl_shard_make(run, &shard, cleaned);
    dpl_shard_free(&shard);
    return status;
}

enum dpl_status dpl_task_count(struct dpl_run *run, const struct dpl_task *task,
                               struct dpl_view cleaned, struct dpl_bytes *part) {
    struct dpl_shard shard = {0};
    dpl_run_begin(run);
    enum dpl_status status = dpl_shard_load(run, task, cleaned, &shard);
    if (status == DPL_OK) status = count_shard(run, task, &shard, part);
    dpl_shard_free(&shard);
    return status;
}

/* ---- the driver goes on ---- */

struct dpl_rounds_options dpl_rounds_defaults(void) {
    return (struct dpl_rounds_options){.struct_size = sizeof(struct dpl_rounds_options)};
}

/* One call of dpl_rounds_continue. */
struct step {
    const char *plan_path, *path;
    struct dpl_rounds_options options;
    char checkpoint[DPL_PATH_ROOM];
    struct dpl_task *task;
    struct dpl_sums *sums;
    struct dpl_option_set set; /* all options, as the checkpoint has them */
    struct dpl_fit *fit;
};

static enum dpl_status load_sums(struct dpl_run *run, struct step *step, struct dpl_view sums) {
    DPL_TRY(dpl_sums_new(run, &step->sums));
    DPL_TRY(dpl_sums_add(run, step->sums, "the sums", sums));
    if (strcmp(step->sums->plan, step->task->digest) != 0)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: the sums were counted for another plan (they are of round %lld, and "
                        "this is round %d)",
                        step->plan_path, (long long)step->sums->round, step->task->number);
    DPL_TRY(dpl_sums_check_whole(run, step->sums));
    if (dpl_sums_lost(step->sums) > 0)
        dpl_note(run,
                 "NOT PRIVATE: workers left out %llu recordings as those of other shards, and it "
                 "cannot be told that others counted them: were all units given to their shards?",
                 (unsigned long long)dpl_sums_lost(step->sums));
    return DPL_OK;
}

/* The options that the fit began with; only limits and answers may be given now. */
static enum dpl_status load_options(struct dpl_run *run, struct step *step) {
    struct dpl_checkpoint *checkpoint = NULL;
    struct dpl_secret secret = {.insecure = false};
    if (step->options.checkpoint)
        snprintf(step->checkpoint, sizeof step->checkpoint, "%s", step->options.checkpoint);
    else
        DPL_TRY(
            dpl_task_beside(run, step->plan_path, step->task->checkpoint_name, step->checkpoint));
    if (!dpl_checkpoint_exists(step->checkpoint))
        return dpl_fail(run, DPL_USAGE,
                        "%s: the checkpoint of this fit is not there; it lies beside the first "
                        "plan, with the driver (`fit.checkpoint` FILE). After the model it is gone",
                        step->checkpoint);
    DPL_TRY(dpl_checkpoint_resume(run, step->checkpoint, NULL, NULL, false, &secret, &checkpoint));
    enum dpl_status status =
        dpl_option_read(run, step->checkpoint, dpl_checkpoint_options(checkpoint), &step->set);
    dpl_checkpoint_free(checkpoint);
    dpl_secret_wipe(&secret);
    step->set.fit.checkpoint = step->checkpoint;
    step->set.fit.resume = true;
    step->set.fit.new_data = step->options.new_data;
    step->set.fit.total_epsilon = step->options.total_epsilon;
    step->set.fit.total_delta = step->options.total_delta;
    return status;
}

/* What the holder's notes say of all shards. */
static enum dpl_status note_facts(struct dpl_run *run, const struct dpl_shard_facts *facts,
                                  struct dpl_fit *fit) {
    fit->facts = dpl_alloc(run, 1, sizeof *fit->facts);
    if (!fit->facts) return DPL_SYSTEM;
    fit->n_units = facts->units, fit->selected = facts->selected;
    fit->facts->reading = facts->reading;
    fit->facts->rows = (int64_t)facts->identity.rows;
    fit->facts->trips_read = facts->trips_read;
    memcpy(fit->facts->trips_dropped, facts->trips_dropped, sizeof facts->trips_dropped);
    const char *ledger = fit->options.ledger;
    if (ledger && !strcmp(ledger, "none")) return DPL_OK;
    return dpl_identity_hex(run, &facts->identity, fit->fingerprint);
}

/* PRIVACY: all that noise meets, bound before it does: plan, data, units and every sum. */
static enum dpl_status bind(struct dpl_run *run, const struct step *step) {
    struct dpl_checkpoint *checkpoint = step->fit->release.checkpoint;
    const struct dpl_sums *sums = step->sums;
    struct dpl_view piece[DPL_COUNTS_TABLES + 1] = {{&sums->facts.units, sizeof(uint64_t)}};
    for (size_t i = 0; i < sums->n_tables; i++)
        piece[i + 1] = (struct dpl_view){dpl_exact_bytes(sums->table[i].sum),
                                         8 * dpl_exact_about(sums->table[i].sum)->n};
    DPL_TRY(dpl_checkpoint_bind_plan(run, checkpoint, step->task->number, step->task->digest));
    DPL_TRY(dpl_checkpoint_bind_data(
        run, checkpoint, (struct dpl_view){sums->facts.identity.sum, sizeof(uint64_t[4])}));
    DPL_TRY(dpl_checkpoint_bind_sums(run, checkpoint, (int)sums->round, piece, sums->n_tables + 1));
    return dpl_checkpoint_save(run, checkpoint);
}

static enum dpl_status open_fit(struct dpl_run *run, struct step *step) {
    const struct dpl_trips none = {.read = step->set.read};
    struct dpl_fit_options options;
    DPL_TRY(dpl_fit_settle(run, &step->set.fit, &options));
    DPL_TRY(dpl_fit_begin(run, &none, &step->set.area, &options, &step->fit));
    struct dpl_fit *fit = step->fit;
    DPL_TRY(note_facts(run, &step->sums->facts, fit));
    DPL_TRY(dpl_fit_note_reading(run, &step->set.read, &fit->facts->reading, fit));
    DPL_TRY(dpl_release_open(run, &fit->options, fit->binding, &step->sums->facts.identity, NULL,
                             &fit->release));
    fit->release.model = fit->model;
    return bind(run, step);
}

/* The mechanisms: from the noised number of units in the round that counts it, else as they were.
 */
static enum dpl_status settle_plan(struct dpl_run *run, struct step *step) {
    struct dpl_fit *fit = step->fit;
    struct dpl_task *task = step->task;
    if (task->budget) {
        DPL_TRY(dpl_plan_from_json(run, step->plan_path, task->budget, &fit->options.budget,
                                   fit->ask, fit->n_ask, &fit->release.plan));
        return dpl_plan_charge(run, fit->release.plan, fit->release.ledger);
    }
    DPL_TRY(dpl_release_plan(run, &fit->release, fit->ask, fit->n_ask, fit->n_units));
    task->budget = dpl_plan_to_json(fit->release.plan);
    return task->budget ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
}

static enum dpl_status write_next(struct dpl_run *run, struct step *step,
                                  const struct dpl_rounds *rounds) {
    dpl_run_begin(run);
    step->task->number++;
    take_asks(rounds, step->task);
    return write_plan(run, step->fit->release.checkpoint, step->task, step->path,
                      step->options.overwrite);
}

static enum dpl_status go_on(struct dpl_run *run, struct step *step, bool *done) {
    struct dpl_rounds rounds = {.released = step->task->released, .sums = step->sums};
    struct dpl_fit *fit = step->fit;
    enum dpl_status status = settle_plan(run, step);
    if (status == DPL_OK) status = ask_method(run, fit, &rounds);
    if (status == DPL_INTERRUPTED && rounds.ended) return write_next(run, step, &rounds);
    // As in pipeline.c: it follows from noised numbers alone, and there is nothing to resume.
    if (status == DPL_BAD_DATA || status == DPL_USAGE) {
        (void)dpl_fit_finish(run, fit);
        return dpl_release_spent(run, &fit->release, status);
    }
    if (status == DPL_INTERRUPTED) {
        dpl_run_begin(run);
        return dpl_fail(run, status,
                        "interrupted; the same command goes on, and nothing is spent "
                        "twice");
    }
    if (status == DPL_OK) status = dpl_fit_certify(run, fit);
    if (status == DPL_OK) status = dpl_fit_write(run, fit, step->path, step->options.overwrite);
    *done = status == DPL_OK;
    return status;
}

enum dpl_status dpl_rounds_continue(struct dpl_run *run, const char *plan, struct dpl_view sums,
                                    const struct dpl_rounds_options *given, const char *path,
                                    bool *done) {
    struct step step = {.plan_path = plan, .path = path, .options = dpl_rounds_defaults()};
    enum dpl_status status;
    dpl_run_begin(run);
    *done = false;
    DPL_GO(dpl_options_take(run, "rounds", given, &step.options));
    // What may be replaced depends on what it is to be: a plan takes the place of a plan, a model
    // of a model.
    if (!step.options.overwrite) DPL_GO(dpl_fit_check_path(run, path, false));
    DPL_GO(load_plan(run, plan, &step.task));
    DPL_GO(load_sums(run, &step, sums));
    DPL_GO(load_options(run, &step));
    DPL_GO(open_fit(run, &step));
    status = go_on(run, &step, done);
done:
    dpl_fit_free(step.fit);
    dpl_option_set_free(&step.set);
    dpl_sums_free(step.sums);
    dpl_task_free(step.task);
    return status;
}
