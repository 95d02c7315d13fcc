/* base: messages, memory, arena, hashes, the index, progress. */
#include "support.h"

#include <string.h>
#include <sys/resource.h>

static void message_keeps_the_first_failure(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    assert_string_equal(dpl_run_message(run), "");
    assert_int_equal(dpl_fail(run, DPL_BAD_DATA, "row %d", 7), DPL_BAD_DATA);
    assert_int_equal(dpl_fail(run, DPL_SYSTEM, "echo"), DPL_SYSTEM);
    assert_string_equal(dpl_run_message(run), "row 7");
    dpl_run_begin(run);
    assert_string_equal(dpl_run_message(run), "");
    dpl_run_free(run);
}

static void allocation_overflow_is_refused(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    assert_null(dpl_alloc(run, SIZE_MAX / 2, 4));
    assert_non_null(strstr(dpl_run_message(run), "out of memory"));
    int *array = NULL;
    size_t capacity = 0;
    assert_int_equal(dpl_grow(run, &array, &capacity, SIZE_MAX / 2, sizeof *array), DPL_SYSTEM);
    assert_null(array);
    assert_int_equal(capacity, 0);
    dpl_run_free(run);
}

static void the_nth_allocation_fails(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    dpl_run_fail_allocation(run, 2);
    void *first = dpl_alloc(run, 1, 8);
    assert_non_null(first);
    assert_null(dpl_alloc(run, 1, 8));
    void *third = dpl_alloc(run, 1, 8);
    assert_non_null(third);
    dpl_free(first);
    dpl_free(third);
    dpl_run_free(run);
}

/* The flags that the kernel keeps of the mapping which begins at an address. */
static void flags_of(const void *begin, char flags[512]) {
    FILE *maps = fopen("/proc/self/smaps", "r");
    unsigned long first = 0, at;
    flags[0] = '\0';
    assert_non_null(maps);
    for (char line[512]; fgets(line, sizeof line, maps);) {
        char dash;
        if (sscanf(line, "%lx%c", &at, &dash) == 2 && dash == '-') first = at;
        if (first == (unsigned long)begin && !strncmp(line, "VmFlags:", 8)) strcpy(flags, line + 8);
    }
    fclose(maps);
}

/* dd: not in a core dump; lo: not in swap. Root may lock whatever the limit says. */
static void secrets_stay_out_of_dumps_and_swap(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct rlimit limit;
    char flags[512];
    unsigned char *key = dpl_secret_alloc(run, 3 * 4096 + 7);
    assert_non_null(key);
    for (size_t i = 0; i < 3 * 4096 + 7; i++) assert_int_equal(key[i], 0);
    flags_of(key, flags);
    assert_non_null(strstr(flags, " dd"));
    assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
#ifndef __SANITIZE_ADDRESS__ // which makes mlock do nothing
    if (limit.rlim_cur >= 1 << 20) assert_non_null(strstr(flags, " lo"));
#endif
    dpl_secret_free(key, 3 * 4096 + 7);
    flags_of(key, flags);
    assert_null(strstr(flags, " dd"));
    dpl_run_fail_allocation(run, 1);
    assert_null(dpl_secret_alloc(run, 8));
    assert_non_null(strstr(dpl_run_message(run), "out of memory"));
    dpl_run_free(run);
}

/* Pieces are zero, aligned, and lie one behind the other; sizes that overflow are refused. */
static void blocks_are_cut_into_pieces(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    double *a;
    uint8_t *b;
    int32_t *empty, *c;
    void *block =
        DPL_BLOCK(run, DPL_PIECE(a, 5), DPL_PIECE(b, 65), DPL_PIECE(empty, 0), DPL_PIECE(c, 3));
    assert_non_null(block);
    assert_ptr_equal(a, block);
    assert_true((uint8_t *)(a + 5) <= b && b + 65 <= (uint8_t *)c && (void *)empty <= (void *)c);
    for (size_t i = 0; i < 65; i++) assert_int_equal(b[i], 0);
    assert_int_equal((uintptr_t)b % 64 + (uintptr_t)c % 64, 0);
    memset(b, 1, 65), c[0] = c[2] = 2, a[4] = 3; // within the block, says the sanitizer
    dpl_free(block);
    assert_null(DPL_BLOCK(run, DPL_PIECE(a, SIZE_MAX / 4), DPL_PIECE(c, 1)));
    assert_null(DPL_BLOCK(run, DPL_PIECE(b, SIZE_MAX / 2), DPL_PIECE(c, SIZE_MAX / 8)));
    dpl_run_free(run);
}

/* Values come back as known, and only those; an index finds what was put. */
static void sets_and_indexes_know_what_was_put(void **state) {
    (void)state;
    enum { VALUES = 5000 };
    struct dpl_run *run = test_run(1);
    struct dpl_hash_set set = {0};
    struct dpl_index index = {0};
    uint32_t number;
    bool known;
    assert_false(dpl_index_find(&index, (struct dpl_key){1, 1}, &number));
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 1; i <= VALUES; i++) { // every other value shares its slot with others
            uint64_t value = i % 2 ? i : i << 32;
            assert_ok(run, dpl_hash_set_put(run, &set, value, &known));
            assert_int_equal(known, round);
            assert_ok(run, dpl_index_put(run, &index, (struct dpl_key){1, value}, &number, NULL));
            assert_true(dpl_index_find(&index, (struct dpl_key){1, value}, &number));
            assert_int_equal(number, i - 1);
            assert_false(dpl_index_find(&index, (struct dpl_key){2, value}, &number));
        }
    assert_int_equal(set.count, VALUES);
    dpl_hash_set_free(&set);
    dpl_index_free(&index);
    dpl_run_free(run);
}

static void arena_pieces_do_not_overlap(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_arena arena = {0};
    uint64_t random = 1;
    enum { PIECES = 300 };
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        size[i] = test_random(&random) % (i % 50 == 0 ? 200000 : 900);
        piece[i] = dpl_arena_take(run, &arena, size[i]);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        for (size_t j = 0; j < size[i]; j++) assert_int_equal(piece[i][j], 0);
        memset(piece[i], (int)(i % 251), size[i]);
    }
    for (size_t i = 0; i < PIECES; i++)
        for (size_t j = 0; j < size[i]; j++) assert_int_equal(piece[i][j], i % 251);
    dpl_arena_free(&arena);
    dpl_run_free(run);
}

static void index_numbers_in_order_of_first_appearance(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_index index = {0};
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            uint32_t number;
            bool fresh;
            assert_ok(run, dpl_index_put(run, &index, dpl_hash(&i, sizeof i, 5), &number, &fresh));
            assert_int_equal(number, i);
            assert_int_equal(fresh, round == 0);
        }
    assert_int_equal(index.count, 20000);
    dpl_index_free(&index);
    dpl_run_free(run);
}

static void hash_tells_lengths_and_bytes_apart(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    struct dpl_index index = {0};
    char bytes[64] = {0};
    size_t expected = 0;
    uint32_t number;
    for (size_t length = 0; length <= 24; length++) // all-zero texts differ by length alone
        for (size_t at = 0; at <= length; at++) {   // then one bit somewhere
            if (at < length) bytes[at] = 1;
            assert_ok(run, dpl_index_put(run, &index, dpl_hash(bytes, length, 0), &number, NULL));
            if (at < length) bytes[at] = 0;
            expected++;
        }
    assert_int_equal(index.count, expected);
    dpl_index_free(&index);
    dpl_run_free(run);
}

static struct dpl_progress seen;
static int calls;
static void remember(void *user, const struct dpl_progress *progress) {
    (void)user;
    seen = *progress;
    calls++;
}

static void progress_ends_with_a_finished_call(void **state) {
    (void)state;
    struct dpl_run_options options = dpl_run_defaults();
    options.on_progress = remember;
    struct dpl_run *run = dpl_run_new(&options);
    dpl_progress_begin(run, "counting", "sheep", 10);
    for (int i = 0; i < 10; i++) dpl_progress_add(run, 1);
    dpl_progress_end(run);
    assert_true(calls >= 1);
    assert_true(seen.finished);
    assert_string_equal(seen.phase, "counting");
    assert_float_equal(seen.done, 10, 0);
    dpl_run_free(run);
}

static void interrupt_is_seen(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    assert_ok(run, dpl_check_interrupt(run));
    dpl_run_interrupt(run);
    assert_int_equal(dpl_check_interrupt(run), DPL_INTERRUPTED);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_keeps_the_first_failure),
        cmocka_unit_test(allocation_overflow_is_refused),
        cmocka_unit_test(the_nth_allocation_fails),
        cmocka_unit_test(secrets_stay_out_of_dumps_and_swap),
        cmocka_unit_test(blocks_are_cut_into_pieces),
        cmocka_unit_test(sets_and_indexes_know_what_was_put),
        cmocka_unit_test(arena_pieces_do_not_overlap),
        cmocka_unit_test(index_numbers_in_order_of_first_appearance),
        cmocka_unit_test(hash_tells_lengths_and_bytes_apart),
        cmocka_unit_test(progress_ends_with_a_finished_call),
        cmocka_unit_test(interrupt_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
