/* Checkpoints: what a stopped fit needs to go on with the very same bits.
 *
 * PRIVACY: a checkpoint holds the key of all noise: whoever has it and the model can take the noise
 * off. It is readable by its owner only, and overwritten and deleted when the model is written. The
 * same key on other data, or with other options, would make two releases whose difference is free
 * of noise; so it is bound to options, build, matrix product and a keyed fingerprint of the cleaned
 * trips, and any mismatch is refused. Replay costs nothing only because it is bit-identical. */
#ifndef DPL_FIT_CHECKPOINT_H
#define DPL_FIT_CHECKPOINT_H

#include "base/digest.h"
#include "base/frame.h" // defines: struct dpl_view
#include "base/random.h"
#include "method/paper/net/train_dpsgd.h"

enum { DPL_CHECKPOINT_NETS = 4, DPL_RELEASE_NAME = 32 };

struct dpl_checkpoint;

/* A fresh one for a new key; nothing is on the disk yet. `options`: everything that shapes the
 * result, as text. `path` NULL: never on the disk, so that an interrupted fit cannot be resumed.
 * `trips` NULL: of a fit in rounds, whose driver never sees trips; it is bound to sums instead.
 * `ordered`: their order shapes the result, and is bound, too. Caller frees. */
enum dpl_status dpl_checkpoint_new(struct dpl_run *run, const char *path, const char *options,
                                   const struct dpl_secret *secret, const struct dpl_cleaned *trips,
                                   bool ordered, struct dpl_checkpoint **checkpoint);
/* Reads one back: *secret is its key. DPL_REFUSED when anything it is bound to differs. `options`
 * NULL: as the checkpoint has them. */
enum dpl_status dpl_checkpoint_resume(struct dpl_run *run, const char *path, const char *options,
                                      const struct dpl_cleaned *trips, bool ordered,
                                      struct dpl_secret *secret,
                                      struct dpl_checkpoint **checkpoint);
const char *dpl_checkpoint_options(const struct dpl_checkpoint *checkpoint);

/* ---- fits in rounds ----
 * PRIVACY: the same noise on two different sums would give away their difference. So the checkpoint
 * remembers, of every round from 1 on, the plan that asked and an HMAC of the sums that were
 * noised; and of all rounds, which data they were counted from. */
enum { DPL_CHECKPOINT_ROUNDS = 64 };
/* Notes the plan of round `round`, or refuses another than the one noted. `plan`: its SHA-256. */
enum dpl_status dpl_checkpoint_bind_plan(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                         int round, const char plan[DPL_DIGEST_HEX]);
/* The same for the sums that are noised in it, and for the data of all rounds. */
enum dpl_status dpl_checkpoint_bind_sums(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                         int round, const struct dpl_view *pieces, size_t n);
enum dpl_status dpl_checkpoint_bind_data(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                         struct dpl_view identity);

/* Wipes and frees; the file stays. */
void dpl_checkpoint_free(struct dpl_checkpoint *checkpoint);
bool dpl_checkpoint_exists(const char *path);

/* The release in the ledger that this fit pays for; "" while there is none. */
const char *dpl_checkpoint_release(const struct dpl_checkpoint *checkpoint);
void dpl_checkpoint_set_release(struct dpl_checkpoint *checkpoint, const char *release);
/* The training state of net `slot`; *fresh says that it is new and all zero. Borrowed from the
 * checkpoint. */
enum dpl_status dpl_checkpoint_state(struct dpl_run *run, struct dpl_checkpoint *checkpoint,
                                     size_t slot, size_t n_parameters, struct dpl_sgd_state **state,
                                     bool *fresh);
/* Writes it all, whole or not at all. */
enum dpl_status dpl_checkpoint_save(struct dpl_run *run, struct dpl_checkpoint *checkpoint);
/* Refuses a path at which something else than a checkpoint stands (NULL: none is to be written). */
enum dpl_status dpl_checkpoint_check(struct dpl_run *run, const char *path);
/* The file overwritten with zeros and deleted, and what a crash may have left of its making. */
enum dpl_status dpl_checkpoint_remove(struct dpl_run *run, const char *path);

/* Which machine code this is: the SHA-256 of its text segment, in hexadecimal (65 bytes). */
enum dpl_status dpl_build_id(struct dpl_run *run, char *hex);

#endif
