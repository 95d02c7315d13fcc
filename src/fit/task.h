/* The plan of one round: what workers must know, in a public file.
 *
 *     options    all that shapes counting, as text (binding.h)
 *     budget     the mechanisms' noise, once the number of units is known
 *     released   every table that was noised in the rounds before
 *     asks       what this round counts; "size": the number of units
 *
 * PRIVACY: options, which were fixed before data was read, and noised numbers that were paid for:
 * nothing else can get in. The method runs on it as on one machine (rounds.h): with the tables that
 * were released it comes to the next question, the same on every machine. */
#ifndef DPL_FIT_TASK_H
#define DPL_FIT_TASK_H

#include <jansson.h>

#include "base/digest.h"
#include "base/frame.h"
#include "fit/binding.h"
#include "fit/counts.h"
#include "model/model.h"

extern const struct dpl_frame_kind dpl_plan_kind;

enum { DPL_TASK_ID = 33, DPL_TASK_NAME = 256, DPL_TASK_KEY = 32 };

struct dpl_task {
    int number;           /* from 1 on */
    char id[DPL_TASK_ID]; /* of the fit, random; shards follow from it */
    char *text;           /* of the options */
    struct dpl_option_set set;
    json_t *budget;             /* dpl_plan_to_json; NULL: the number of units is to be counted */
    struct dpl_model *released; /* of which the noised tables alone are used */
    size_t n_asks;
    char ask[DPL_COUNTS_TABLES][DPL_EVENT_NAME];
    char key_name[DPL_TASK_NAME], checkpoint_name[DPL_TASK_NAME]; /* in the plan's folder */
    char digest[DPL_DIGEST_HEX];     /* of its bytes, once it was read or made */
    uint8_t key[DPL_TASK_KEY];       /* for data sets' identities; not of the plan's file */
    char key_digest[DPL_DIGEST_HEX]; /* of the key's file, which is: no other key will do */
};

/* An empty plan of round 1 for these options' text. Caller frees with dpl_task_free. */
enum dpl_status dpl_task_new(struct dpl_run *run, const char *where, const char *text,
                             struct dpl_task **task);
/* From bytes, without the key. */
enum dpl_status dpl_task_load(struct dpl_run *run, const char *where, struct dpl_view bytes,
                              struct dpl_task **task);
/* As bytes; settles the digest. Free with dpl_bytes_free. */
enum dpl_status dpl_task_make(struct dpl_run *run, struct dpl_task *task, struct dpl_bytes *bytes);
/* NAME in the folder of the plan at `path`. */
enum dpl_status dpl_task_beside(struct dpl_run *run, const char *path, const char *name,
                                char beside[DPL_PATH_ROOM]);
/* The seed of the hash that shards follow from. */
uint64_t dpl_task_seed(const struct dpl_task *task);

#endif
