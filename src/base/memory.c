/* Allocation, the one place that calls malloc. Every request is counted so that a test can make
 * the n-th one fail, and every size is checked for overflow. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/run.h"

enum { ALIGNMENT = 64, ARENA_FIRST = 2 * 1024, ARENA_BLOCK = 64 * 1024 };

void dpl_run_fail_allocation(struct dpl_run *run, long n) {
    atomic_store(&run->fail_at, n > 0 ? atomic_load(&run->allocations) + n : 0);
}

long dpl_run_allocations(const struct dpl_run *run) { return atomic_load(&run->allocations); }

/* Counts the request; true when it must fail, for the test's sake or because count*size overflows.
 */
static bool refuse(struct dpl_run *run, size_t count, size_t size) {
    long number = atomic_fetch_add(&run->allocations, 1) + 1;
    if (number == atomic_load(&run->fail_at)) return true;
    return size && count > (SIZE_MAX - ALIGNMENT) / size;
}

static enum dpl_status out_of_memory(struct dpl_run *run, size_t count, size_t size) {
    return dpl_fail(run, DPL_SYSTEM, "out of memory (%.1f MB were asked for)",
                    (double)count * (double)size / 1e6);
}

/* Large arrays on large pages, where the system has any: fewer pages to look up, and memory that is
 * contiguous does not push itself out of the second cache. A wish: without it all is the same. */
static void prefer_large_pages(char *pointer, size_t bytes) {
#ifdef MADV_HUGEPAGE
    static const size_t LARGE = (size_t)4 << 20;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const size_t skip = (size_t)(-(uintptr_t)pointer & (page - 1));
    if (bytes >= LARGE) madvise(pointer + skip, (bytes - skip) & ~(page - 1), MADV_HUGEPAGE);
#else
    (void)pointer, (void)bytes;
#endif
}

void *dpl_alloc(struct dpl_run *run, size_t count, size_t size) {
    size_t bytes = (count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    void *pointer = refuse(run, count, size) ? NULL : aligned_alloc(ALIGNMENT, bytes);
    if (!pointer) {
        out_of_memory(run, count, size);
        return NULL;
    }
    prefer_large_pages(pointer, bytes);
    return memset(pointer, 0, bytes);
}

/* Bytes of a piece with what aligns the next; SIZE_MAX: too many. */
static size_t piece_bytes(const struct dpl_piece *piece) {
    size_t bytes;
    if (__builtin_mul_overflow(piece->count, piece->size, &bytes) || bytes > SIZE_MAX - ALIGNMENT)
        return SIZE_MAX;
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *dpl_alloc_pieces(struct dpl_run *run, const struct dpl_piece *piece, size_t n) {
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(total, piece_bytes(&piece[i]), &total)) total = SIZE_MAX;
    char *block = dpl_alloc(run, total, 1), *at = block;
    for (size_t i = 0; block && i < n; at += piece_bytes(&piece[i++]))
        memcpy(piece[i].pointer, &at, sizeof at);
    return block;
}

void dpl_free(void *pointer) { free(pointer); }

enum dpl_status dpl_grow(struct dpl_run *run, void *array_pointer, size_t *capacity, size_t need,
                         size_t size) {
    if (need <= *capacity) return DPL_OK;
    size_t room = *capacity ? *capacity : 16;
    while (room < need) room = room > SIZE_MAX / 2 ? need : room * 2;
    void *old;
    memcpy(&old, array_pointer, sizeof old);
    // realloc moves large arrays by remapping pages on Linux: growing costs no second copy.
    void *grown = refuse(run, room, size) ? NULL : realloc(old, room * size);
    if (!grown) return out_of_memory(run, room, size);
    memcpy(array_pointer, &grown, sizeof grown);
    *capacity = room;
    return DPL_OK;
}

enum dpl_status dpl_text_copy(struct dpl_run *run, const char *text, char **copy) {
    *copy = NULL;
    if (!text) return DPL_OK;
    size_t size = strlen(text) + 1;
    char *made = dpl_alloc(run, size, 1);
    if (!made) return DPL_SYSTEM;
    *copy = memcpy(made, text, size);
    return DPL_OK;
}

void dpl_text_free(char *text) { dpl_free(text); }

void dpl_wipe(void *pointer, size_t size) { explicit_bzero(pointer, size); }

/* PRIVACY: whoever knows the key can take the noise off. Pages of their own, so that nothing else
 * is locked or left out of core dumps. A system that does not allow locking (RLIMIT_MEMLOCK) is no
 * reason to stop: SECURITY.md says what is left then. */
void *dpl_secret_alloc(struct dpl_run *run, size_t size) {
    void *pages = refuse(run, 1, size) ? MAP_FAILED
                                       : mmap(NULL, size, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        out_of_memory(run, 1, size);
        return NULL;
    }
    (void)madvise(pages, size, MADV_DONTDUMP);
    (void)mlock(pages, size);
    return pages;
}

void dpl_secret_free(void *pointer, size_t size) {
    if (!pointer) return;
    dpl_wipe(pointer, size);
    munmap(pointer, size);
}

/* ---- arena: blocks in a list, the first ones small, bytes taken from the newest ---- */

struct dpl_arena_block {
    struct dpl_arena_block *before;
    size_t reserved; // keeps the payload at a multiple of 16
};

void *dpl_arena_take(struct dpl_run *run, struct dpl_arena *arena, size_t size) {
    size_t bytes = (size + 15) / 16 * 16;
    if (bytes < size) {
        out_of_memory(run, 1, size);
        return NULL;
    }
    if (bytes > arena->room - arena->used) {
        size_t room = arena->room < ARENA_BLOCK / 2 ? arena->room * 2 : ARENA_BLOCK;
        if (room < ARENA_FIRST) room = ARENA_FIRST;
        if (room < bytes) room = bytes;
        struct dpl_arena_block *block = dpl_alloc(run, 1, sizeof *block + room);
        if (!block) return NULL;
        block->before = arena->last;
        arena->last = block;
        arena->room = room;
        arena->used = 0;
    }
    char *piece = (char *)(arena->last + 1) + arena->used;
    arena->used += bytes;
    return piece;
}

char *dpl_arena_copy(struct dpl_run *run, struct dpl_arena *arena, const char *text,
                     size_t length) {
    char *copy = dpl_arena_take(run, arena, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void dpl_arena_free(struct dpl_arena *arena) {
    while (arena->last) {
        struct dpl_arena_block *before = arena->last->before;
        dpl_free(arena->last);
        arena->last = before;
    }
    *arena = (struct dpl_arena){0};
}
