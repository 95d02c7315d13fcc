/* What every stage stands on: messages, memory, threads, progress, hashes.
 *
 * Invariants
 *  - malloc appears in this folder only, so that a test can make every single allocation fail.
 *  - dpl_fail keeps the *first* failure of a call: with several threads failing at once, the
 *    message is the first one's and the rest are echoes.
 *  - Nothing here prints.
 */
#ifndef DPL_BASE_BASE_H
#define DPL_BASE_BASE_H

#include "dploc.h"
#include "dploc_data.h"
#include "dploc_privacy.h"

/* ---- status ---- */

/* Records the message (printf) unless one is pending, and returns `status`. Thread-safe. */
enum dpl_status dpl_fail(struct dpl_run *run, enum dpl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, followed by the reason that errno gives. */
enum dpl_status dpl_fail_errno(struct dpl_run *run, enum dpl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef DPL_ANALYSED // by static.sh, lint.sh: what fails is never DPL_OK, which analysers cannot see
#define dpl_fail(run, status, ...) ((void)(dpl_fail)(run, status, __VA_ARGS__), (status))
#define dpl_fail_errno(run, status, ...)                                                           \
    ((void)(dpl_fail_errno)(run, status, __VA_ARGS__), (status))
#endif
/* Every public call that can fail starts with this: forgets the last call's message. */
void dpl_run_begin(struct dpl_run *run);
/* The number of threads the run uses. */
int dpl_run_threads(const struct dpl_run *run);
/* "trip", "user". */
const char *dpl_unit_name(enum dpl_unit unit);
/* Passes one sentence to the run's on_note. */
void dpl_note(struct dpl_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Whether sentences reach on_note. PRIVACY: what reading says shows names and values, and a
 * worker's words stand in the logs of a cluster. */
void dpl_run_hush(struct dpl_run *run, bool hushed);
bool dpl_run_hushed(const struct dpl_run *run);
/* DPL_INTERRUPTED (with its message) once dpl_run_interrupt was called. Cheap: one atomic load. */
enum dpl_status dpl_check_interrupt(struct dpl_run *run);
/* The same as a question, for loops of threads: what they leave undone is not to be used. */
bool dpl_interrupted(struct dpl_run *run);

/* Returns from the calling function when a call did not end well. For functions that own nothing.
 */
#define DPL_TRY(call)                                                                              \
    do {                                                                                           \
        enum dpl_status dpl_try_status_ = (call);                                                  \
        if (dpl_try_status_ != DPL_OK) return dpl_try_status_;                                     \
    } while (0)
/* Goes to `done:` with `status` set. For functions that own something. */
#define DPL_GO(call)                                                                               \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != DPL_OK) goto done;                                                           \
    } while (0)

/* ---- memory ---- */

/* Zeroed memory for count*size bytes, aligned to 64; NULL with the message set when there is none
 * (overflow included). A count of 0 gives a pointer that may be freed. Free with dpl_free. */
void *dpl_alloc(struct dpl_run *run, size_t count, size_t size);
void dpl_free(void *pointer);
/* Several arrays in one block: one allocation, one check, one free. Sets every pointer; NULL with
 * the message set when there is no memory.
 *
 *     void *block = DPL_BLOCK(run, DPL_PIECE(sum, n), DPL_PIECE(seen, n + 1));
 *     if (!block) return DPL_SYSTEM;
 *     ...
 *     dpl_free(block);
 */
struct dpl_piece {
    void *pointer; /* address of a pointer */
    size_t count, size;
};
#define DPL_PIECE(array, n) ((struct dpl_piece){&(array), (n), sizeof *(array)})
#define DPL_BLOCK(run, ...)                                                                        \
    dpl_alloc_pieces((run), (const struct dpl_piece[]){__VA_ARGS__},                               \
                     sizeof((const struct dpl_piece[]){__VA_ARGS__}) / sizeof(struct dpl_piece))
void *dpl_alloc_pieces(struct dpl_run *run, const struct dpl_piece *piece, size_t n);
/* Makes room for `need` elements in a growing array: *array has room for *capacity elements of
 * `size` bytes, keeps its content, grows by doubling. On failure both stay as they were.
 * Arrays grown this way are freed with dpl_free too. */
enum dpl_status dpl_grow(struct dpl_run *run, void *array_pointer, size_t *capacity, size_t need,
                         size_t size);
/* A copy of the text; NULL of NULL. Caller frees with dpl_text_free, as is all text that the
 * library gives away. */
enum dpl_status dpl_text_copy(struct dpl_run *run, const char *text, char **copy);
/* For secrets: overwrites, in a way the compiler keeps. */
void dpl_wipe(void *pointer, size_t size);
/* Zeroed memory for what holds a key: not in core dumps, and not in swap where the system lets
 * memory be locked. NULL with the message set when there is none. Freed with dpl_secret_free, which
 * overwrites it. */
void *dpl_secret_alloc(struct dpl_run *run, size_t size);
void dpl_secret_free(void *pointer, size_t size);
/* Test hook: the n-th allocation after this call fails (0: none). */
void dpl_run_fail_allocation(struct dpl_run *run, long n);
/* Test hook: allocations asked for since dpl_run_new. */
long dpl_run_allocations(const struct dpl_run *run);

/* An arena: many small pieces, one free. Zero-initialise; free with dpl_arena_free. */
struct dpl_arena {
    struct dpl_arena_block *last;
    size_t used, room;
};
/* `size` zeroed bytes, aligned to 16; NULL with the message set when memory is short. */
void *dpl_arena_take(struct dpl_run *run, struct dpl_arena *arena, size_t size);
char *dpl_arena_copy(struct dpl_run *run, struct dpl_arena *arena, const char *text, size_t length);
void dpl_arena_free(struct dpl_arena *arena);

/* ---- progress ---- */

/* Phases do not nest. `unit` and `phase` must outlive the phase (string literals). */
void dpl_progress_begin(struct dpl_run *run, const char *phase, const char *unit, double total);
/* Thread-safe; reports at most every 200 ms. */
void dpl_progress_add(struct dpl_run *run, double done);
/* What the release has spent so far, for all reports that follow. */
void dpl_progress_epsilon(struct dpl_run *run, double epsilon);
void dpl_progress_end(struct dpl_run *run);

/* ---- hashes ---- */

struct dpl_key {
    uint64_t hi, lo;
};
/* A 128-bit hash of some bytes; chance collisions only (not for adversaries): 10^9 keys collide
 * with probability below 10^-20. */
struct dpl_key dpl_hash(const void *bytes, size_t length, uint64_t seed);
/* The splitmix64 finaliser: a bijection that mixes well. */
static inline uint64_t dpl_mix64(uint64_t value) {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

/* A set of 64-bit values other than 0: 11 to 21 bytes each. Zero-initialise; free with
 * dpl_hash_set_free. */
struct dpl_hash_set {
    uint64_t *slot; /* (capacity), power of two; 0 is empty */
    size_t capacity, count;
};
/* *known: whether it was there before. */
enum dpl_status dpl_hash_set_put(struct dpl_run *run, struct dpl_hash_set *set, uint64_t value,
                                 bool *known);
void dpl_hash_set_free(struct dpl_hash_set *set);

/* A map from keys to consecutive numbers 0, 1, 2, ... in order of first appearance. */
struct dpl_index {
    struct dpl_key *slot; /* (capacity), power of two; hi=lo=0 is empty */
    uint32_t *number;     /* (capacity) */
    size_t capacity, count;
};
/* *number gets the key's number; *fresh (may be NULL) whether this was its first appearance. */
enum dpl_status dpl_index_put(struct dpl_run *run, struct dpl_index *index, struct dpl_key key,
                              uint32_t *number, bool *fresh);
/* Whether the key was put, and its number. */
bool dpl_index_find(const struct dpl_index *index, struct dpl_key key, uint32_t *number);
void dpl_index_free(struct dpl_index *index);

#endif
