/* Model files: what was written is read back; whatever else is refused with a sentence. */
#include "support.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/model.h"
#include "base/digest.h"

enum { K = 5, N_WEIGHTS = 7, MAX_FILE = 1 << 16 };

static struct dpl_grid test_grid(struct dpl_run *run) {
    struct dpl_area area = dpl_area_defaults();
    struct dpl_grid grid;
    assert_ok(run, dpl_area_preset(run, "simulated", &area));
    assert_ok(run, dpl_grid_make(run, &area, &grid));
    return grid;
}

static struct dpl_model *small_model(struct dpl_run *run) {
    static const int32_t CELLS[K] = {3, 17, 18, 400, 1500};
    struct dpl_grid grid = test_grid(run);
    struct dpl_model *model;
    int32_t *cells;
    float *weights;
    assert_ok(run, dpl_model_new(run, "paper", &grid, &model));
    assert_ok(run, dpl_model_add(run, model, "cells", DPL_TENSOR_I32, 1, (size_t[]){K}, &cells));
    memcpy(cells, CELLS, sizeof CELLS);
    assert_ok(run,
              dpl_model_add(run, model, "vae", DPL_TENSOR_F32, 1, (size_t[]){N_WEIGHTS}, &weights));
    for (int i = 0; i < N_WEIGHTS; i++) weights[i] = (float)i * 0.37f - 1;
    model->length_max = 20;
    model->trips_estimated = 12345;
    json_object_set_new(model->options, "vae_hidden", json_integer(100));
    json_object_set_new(model->certificate, "epsilon", json_real(0.1));
    return model;
}

static size_t read_bytes(const char *path, uint8_t *bytes) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, MAX_FILE, file);
    fclose(file);
    assert_true(length > 0 && length < MAX_FILE);
    return length;
}

static void assert_refused(struct dpl_run *run, const char *path, const char *part) {
    struct dpl_model *model = NULL;
    dpl_run_begin(run);
    enum dpl_status status = dpl_model_read(run, path, &model);
    if (status != DPL_BAD_DATA)
        fail_msg("%s: status %d instead of a refusal (%s)", part, (int)status,
                 dpl_run_message(run));
    assert_null(model);
    if (!strstr(dpl_run_message(run), part))
        fail_msg("\"%s\" does not say \"%s\"", dpl_run_message(run), part);
}

/* On any machine: what another one wrote is read there. */
static void numbers_are_little_endian(void **state) {
    (void)state;
    static const uint8_t CELLS[] = {3, 0, 0, 0, 17, 0, 0, 0, 18, 0, 0, 0, 0x90, 1, 0, 0, 0xDC, 5},
                         FIRST_WEIGHT[] = {0, 0, 0x80, 0xBF}; // -1 as a float
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct dpl_model *model = small_model(run);
    const char *path = test_path(directory, "m.dploc");
    static uint8_t bytes[MAX_FILE];
    assert_ok(run, dpl_model_write(run, model, path, false));
    size_t numbers = read_bytes(path, bytes) - sizeof(int32_t) * K - sizeof(float) * N_WEIGHTS;
    assert_memory_equal(bytes + numbers, CELLS, sizeof CELLS);
    assert_memory_equal(bytes + numbers + sizeof(int32_t) * K, FIRST_WEIGHT, sizeof FIRST_WEIGHT);
    dpl_model_free(model);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void reads_what_was_written(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct dpl_model *model = small_model(run), *read = NULL;
    const char *path = test_path(directory, "m.dploc");
    const int32_t *cells;
    const float *weights;
    model->per_user = model->not_private = true;
    assert_ok(run, dpl_model_write(run, model, path, false));
    assert_int_equal(dpl_model_write(run, model, path, false),
                     DPL_USAGE); // never overwrites by itself
    dpl_run_begin(run);
    assert_ok(run, dpl_model_read(run, path, &read));
    assert_string_equal(read->method, "paper");
    assert_int_equal(read->n_cells, K);
    assert_int_equal(read->cell[4], 1500);
    assert_int_equal(read->length_max, 20);
    assert_int_equal(read->trips_estimated, 12345);
    assert_true(read->per_user && read->not_private && read->has_time);
    assert_memory_equal(&read->grid, &model->grid, sizeof read->grid);
    assert_true(json_equal(read->options, model->options) &&
                json_equal(read->certificate, model->certificate));
    assert_ok(run, dpl_model_get(run, read, "cells", DPL_TENSOR_I32, 1, (size_t[]){K}, &cells));
    assert_ptr_equal(cells, read->cell);
    assert_ok(run,
              dpl_model_get(run, read, "vae", DPL_TENSOR_F32, 1, (size_t[]){N_WEIGHTS}, &weights));
    assert_memory_equal(weights, model->tensor[1].data, N_WEIGHTS * sizeof *weights);
    assert_int_equal(
        dpl_model_get(run, read, "vae", DPL_TENSOR_F32, 1, (size_t[]){N_WEIGHTS + 1}, &weights),
        DPL_BAD_DATA);
    assert_int_equal(
        dpl_model_get(run, read, "vae", DPL_TENSOR_I32, 1, (size_t[]){N_WEIGHTS}, &weights),
        DPL_BAD_DATA);
    assert_int_equal(
        dpl_model_get(run, read, "nexthop", DPL_TENSOR_F32, 1, (size_t[]){N_WEIGHTS}, &weights),
        DPL_BAD_DATA);
    dpl_model_free(read);
    dpl_model_free(model);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* Numbers of eight bytes go first in the file: each number lies at a multiple of its size. */
static void keeps_noised_tables(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct dpl_model *model = small_model(run), *read = NULL;
    const char *path = test_path(directory, "m.dploc");
    double *into;
    const double *values;
    const float *weights;
    assert_ok(run, dpl_model_add_noised(run, model, "visits", 2, (size_t[]){2, 3},
                                        json_pack("{s:f}", "sigma", 2.5), &into));
    for (int i = 0; i < 6; i++) into[i] = i - 0x1p-16;
    assert_ok(run, dpl_model_write(run, model, path, false));
    assert_ok(run, dpl_model_read(run, path, &read));
    assert_string_equal(read->tensor[0].name, "noised.visits");
    assert_ok(run, dpl_model_get(run, read, "noised.visits", DPL_TENSOR_F64, 2, (size_t[]){2, 3},
                                 &values));
    for (int i = 0; i < 6; i++) assert_near(values[i], i - 0x1p-16, 0);
    assert_near(json_real_value(json_object_get(json_object_get(read->noised, "visits"), "sigma")),
                2.5, 0);
    assert_ok(run,
              dpl_model_get(run, read, "vae", DPL_TENSOR_F32, 1, (size_t[]){N_WEIGHTS}, &weights));
    into[3] = NAN;
    dpl_model_free(read);
    read = NULL;
    assert_ok(run, dpl_model_write(run, model, path, true));
    assert_int_equal(dpl_model_read(run, path, &read), DPL_BAD_DATA);
    dpl_model_free(model);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void refuses_any_cut_and_any_flipped_bit(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    struct dpl_model *model = small_model(run), *read = NULL;
    static uint8_t bytes[MAX_FILE];
    char path[512];
    snprintf(path, sizeof path, "%s", test_path(directory, "m.dploc"));
    assert_ok(run, dpl_model_write(run, model, path, false));
    size_t length = read_bytes(path, bytes);
    for (size_t cut = 0; cut < length; cut++) {
        assert_int_equal(truncate(test_file(directory, "some", bytes, length), (off_t)cut), 0);
        assert_refused(run, test_path(directory, "some"), "cut");
    }
    bytes[length] = 0;
    assert_refused(run, test_file(directory, "longer", bytes, length + 1),
                   "behind its last tensor");
    for (size_t i = 0; i < length; i++)
        for (size_t round = 0; round < (test_soak(1) > 1 ? 8 : 1); round++) {
            const size_t bit = (i + round) % 8;
            bytes[i] ^= (uint8_t)(1 << bit);
            dpl_run_begin(run);
            if (dpl_model_read(run, test_file(directory, "flipped", bytes, length), &read) !=
                DPL_BAD_DATA)
                fail_msg("bit %zu of byte %zu", bit, i);
            if (strlen(dpl_run_message(run)) < 20) fail_msg("byte %zu: no sentence", i);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    dpl_model_free(model);
    test_directory_remove(directory);
    dpl_run_free(run);
}

/* Writes a file whose header is the good one with `from` replaced by `to`, its hash made right
 * again: what an attacker, or a careless program, would write. */
static const char *forge(struct dpl_run *run, const char *directory, const char *good,
                         const char *from, const char *to, size_t extra) {
    static uint8_t bytes[MAX_FILE], forged[2 * MAX_FILE];
    static const char MARK[] = "\"header_sha256\":\"";
    size_t length = read_bytes(good, bytes), header = 0;
    for (int i = 0; i < 8; i++) header |= (size_t)bytes[i] << (8 * i);
    char *text = (char *)bytes + 8, *at = memmem(text, header, from, strlen(from)),
         *out = (char *)forged + 8;
    assert_non_null(at);
    size_t before = (size_t)(at - text), after = header - before - strlen(from),
           made = before + strlen(to) + after;
    memcpy(out, text, before);
    memcpy(out + before, to, strlen(to));
    memcpy(out + before + strlen(to), at + strlen(from), after);
    memcpy(out + made, text + header, length - 8 - header);
    memset(out + made + length - 8 - header, 0, extra);
    for (int i = 0; i < 8; i++) forged[i] = (uint8_t)(made >> (8 * i));
    char *mark = memmem(out, made, MARK, sizeof MARK - 1), hex[DPL_DIGEST_HEX];
    uint8_t digest[DPL_DIGEST];
    if (mark) {
        memset(mark + sizeof MARK - 1, '0', 64);
        assert_ok(run, dpl_sha256(run, out, made, digest));
        dpl_hex(digest, sizeof digest, hex);
        memcpy(mark + sizeof MARK - 1, hex, 64);
    }
    return test_file(directory, "forged", forged, made + length - header + extra);
}

static void refuses_lies_with_right_hashes(void **state) {
    (void)state;
    static const struct {
        const char *from, *to, *says;
        size_t extra;
    } LIES[] = {
        {"\"version\":\"2\"", "\"version\":\"3\"", "version 3", 0},
        {"\"version\":\"2\"", "\"version\":\"one\"", "\"version\"", 0},
        {"\"dploc model\"", "\"other model\"", "not a dploc model", 0},
        {"\"header_sha256\"", "\"header_sha512\"", "no hash of its own", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]",
         "\"shape\":[2500000000],\"data_offsets\":[20,10000000020]", "no room", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]",
         "\"shape\":[7],\"data_offsets\":[20,10000000020]", "beyond the end", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[8],\"data_offsets\":[16,48]",
         "overlaps", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[7],\"data_offsets\":[24,52]", "gap",
         4},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[6],\"data_offsets\":[20,48]",
         "another size", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[7],\"data_offsets\":[48,20]",
         "beyond", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[7],\"data_offsets\":[-1,48]",
         "beyond", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[-7],\"data_offsets\":[20,48]",
         "no room", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[],\"data_offsets\":[20,48]",
         "no shape", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[1,1,1,1,7],\"data_offsets\":[20,48]",
         "no shape", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[7]", "no data_offsets", 0},
        {"\"shape\":[7],\"data_offsets\":[20,48]", "\"shape\":[6],\"data_offsets\":[20,44]",
         "behind its last tensor", 0},
        {"\"F32\"", "\"F16\"", "type", 0},
        {"\"cells\":", "\"sells\":", "no cells", 0},
        {"\"length_max\":\"20\"", "\"length_max\":\"1\"", "length_max", 0},
        {"\"trips_estimated\":\"12345\"", "\"trips_estimated\":\"99999999999999999999\"",
         "trips_estimated", 0},
        {"\"method\":\"paper\"", "\"method\":\"a method with a long name\"", "method", 0},
        {"\\\"columns\\\":39", "\\\"columns\\\":38", "another number of cells", 0},
        {"\\\"cell_m\\\":500.0", "\\\"cell_m\\\":0.001", "", 0},
        {"\\\"zone\\\":\\\"Europe/Berlin\\\"", "\\\"zone\\\":\\\"Mars/Base\\\"", "Mars/Base", 0},
        {"\\\"periods\\\":24", "\\\"periods\\\":4000000000", "periods", 0},
        {"\"per_user\":\"false\"", "\"per_user\":\"maybe\"", "neither true nor false", 0},
        {"\"options\":\"{", "\"options\":\"[", "options", 0},
        {"\"noised\":\"{", "\"noised\":\"[", "noised", 0},
        {"{\"__metadata__\"", "{\"__metadata_\"", "without metadata", 0},
    };
    struct dpl_run *run = test_run(1);
    char *directory = test_directory(), good[512];
    struct dpl_model *model = small_model(run), *read = NULL;
    snprintf(good, sizeof good, "%s", test_path(directory, "m.dploc"));
    assert_ok(run, dpl_model_write(run, model, good, false));
    for (size_t i = 0; i < sizeof LIES / sizeof *LIES; i++)
        assert_refused(run, forge(run, directory, good, LIES[i].from, LIES[i].to, LIES[i].extra),
                       LIES[i].says);
    assert_ok(run, dpl_model_read(run, forge(run, directory, good, "\"F32\"", "\"F32\" ", 0),
                                  &read)); // the forger itself makes good files
    dpl_model_free(read);
    uint8_t huge[64] = {0, 0, 0, 0x54, 2}; // a header of 10 GB
    assert_refused(run, test_file(directory, "huge", huge, sizeof huge), "header would be");
    assert_refused(run, directory, "not a file");
    dpl_model_free(model);
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void refuses_tensors_that_make_no_sense(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory();
    for (int what = 0; what < 4; what++) {
        struct dpl_model *model = small_model(run);
        const char *path = test_path(directory, "odd");
        float *weights = model->tensor[1].data;
        if (what == 0) model->cell[2] = model->cell[1];
        if (what == 1) model->cell[4] = dpl_grid_cells(&model->grid);
        if (what == 2) model->cell[0] = -1;
        if (what == 3) weights[3] = 0.0f / (weights[0] + 1); // NaN
        assert_ok(run, dpl_model_write(run, model, path, true));
        assert_refused(run, path, what == 3 ? "not finite" : "cells");
        dpl_model_free(model);
    }
    test_directory_remove(directory);
    dpl_run_free(run);
}

static void keeps_the_old_file_when_the_disk_is_full(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory(), path[512];
    struct dpl_model *model = small_model(run), *read = NULL;
    struct rlimit old, tiny;
    snprintf(path, sizeof path, "%s", test_path(directory, "m.dploc"));
    assert_ok(run, dpl_model_write(run, model, path, false));
    model->length_max = 30;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tiny = old;
    tiny.rlim_cur = 100;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    enum dpl_status status = dpl_model_write(run, model, path, true);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, DPL_SYSTEM);
    assert_non_null(strstr(dpl_run_message(run), "m.dploc"));
    dpl_run_begin(run);
    assert_ok(run, dpl_model_read(run, path, &read));
    assert_int_equal(read->length_max, 20);
    dpl_model_free(read);
    dpl_model_free(model);
    assert_int_equal(rmdir(directory), -1);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(directory), 0); // nothing else was left behind
    free(directory);
    dpl_run_free(run);
}

static void survives_every_failing_allocation(void **state) {
    (void)state;
    struct dpl_run *run = test_run(1);
    char *directory = test_directory(), path[512];
    struct dpl_model *model = small_model(run), *read = NULL;
    snprintf(path, sizeof path, "%s", test_path(directory, "m.dploc"));
    enum dpl_status status = DPL_SYSTEM;
    for (long n = 1; status != DPL_OK; n++) {
        dpl_run_begin(run);
        dpl_run_fail_allocation(run, n);
        status = dpl_model_write(run, model, path, true);
        if (status == DPL_OK) status = dpl_model_read(run, path, &read);
        dpl_run_fail_allocation(run, 0);
        assert_true(status == DPL_OK || (status == DPL_SYSTEM && dpl_run_message(run)[0]));
        assert_true(n < 1000);
    }
    dpl_model_free(read);
    dpl_model_free(model);
    test_directory_remove(directory);
    dpl_run_free(run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(keeps_noised_tables),
        cmocka_unit_test(refuses_any_cut_and_any_flipped_bit),
        cmocka_unit_test(refuses_lies_with_right_hashes),
        cmocka_unit_test(refuses_tensors_that_make_no_sense),
        cmocka_unit_test(keeps_the_old_file_when_the_disk_is_full),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
