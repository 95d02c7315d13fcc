/* Model files: any bytes as they are, and once more with their hashes made right, so that what
 * stands behind the hashes is reached too. */
#include "fuzz.h"

#include <string.h>

#include "model/model.h"
#include "base/digest.h"
#include "sample/generator.h"

enum { LENGTH_BYTES = 8 };

static void put_hash(struct dpl_run *run, char *header, size_t header_length, const char *mark,
                     const void *bytes, size_t length) {
    char *at = memmem(header, header_length, mark, strlen(mark)), hex[DPL_DIGEST_HEX];
    uint8_t digest[DPL_DIGEST];
    if (!at || (size_t)(header + header_length - at) < strlen(mark) + 2 * DPL_DIGEST) return;
    at += strlen(mark);
    memset(at, '0', 2 * DPL_DIGEST);
    if (dpl_sha256(run, bytes, length, digest) != DPL_OK) abort();
    dpl_hex(digest, sizeof digest, hex);
    memcpy(at, hex, 2 * DPL_DIGEST);
}

/* A copy with both hashes right, if it has a header at all. */
static uint8_t *repaired(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    uint8_t *copy = malloc(length + 1);
    uint64_t header = 0;
    if (!copy) abort();
    memcpy(copy, bytes, length);
    for (int i = 0; length >= LENGTH_BYTES && i < LENGTH_BYTES; i++)
        header |= (uint64_t)bytes[i] << (8 * i);
    if (length < LENGTH_BYTES || header > length - LENGTH_BYTES) return copy;
    char *text = (char *)copy + LENGTH_BYTES;
    put_hash(run, text, header, "\"sha256\":\"", copy + LENGTH_BYTES + header,
             length - LENGTH_BYTES - header);
    put_hash(run, text, header, "\"header_sha256\":\"", text, header);
    return copy;
}

static void check(const struct dpl_model *model) {
    for (int32_t i = 0; i < model->n_cells; i++)
        if (model->cell[i] < 0 || model->cell[i] >= dpl_grid_cells(&model->grid)) abort();
    if (model->length_max < 2 || model->trips_estimated < 1) abort();
}

/* A generator refuses the model with a sentence, or draws trips within bounds. Small models alone:
 * tables grow with cells and lengths. */
static void draw_some(struct dpl_run *run, const struct dpl_model *model) {
    enum { TRIPS = 10, CELLS_MOST = 1000, LENGTH_MOST = 200 };
    const struct dpl_draw_options options = {.seed = 1};
    struct dpl_generator *generator = NULL;
    struct dpl_round *round = NULL;
    if (dpl_grid_cells(&model->grid) > CELLS_MOST || model->length_max > LENGTH_MOST) return;
    dpl_run_begin(run);
    if (dpl_generator_open(run, model, &options, &generator) != DPL_OK) {
        if (generator || !dpl_run_message(run)[0]) abort();
        return;
    }
    size_t places = generator->place ? generator->n_places : (size_t)model->n_cells;
    int threads = dpl_run_threads(run);
    if (dpl_round_new(run, TRIPS, threads, TRIPS * LENGTH_MOST * 4, &round) != DPL_OK) abort();
    dpl_round_begin(round, 0, TRIPS);
    if (generator->draw(run, generator, round) != DPL_OK) abort();
    for (size_t i = 0; i < TRIPS; i++) {
        size_t n;
        const struct dpl_stay *stay = dpl_round_get(round, i, &n);
        for (size_t s = 0; s < n; s++)
            if (stay[s].cell >= places) abort();
    }
    dpl_round_free(round);
    generator->free(generator);
}

/* What was read can be written, and is read again. */
static void write_again(struct dpl_run *run, const struct dpl_model *model) {
    char path[64];
    struct dpl_model *again = NULL;
    snprintf(path, sizeof path, "%s/dploc-fuzz-%d.dploc", fuzz_folder(), (int)getpid());
    if (dpl_model_write(run, model, path, true) != DPL_OK) abort();
    if (dpl_model_read(run, path, &again) != DPL_OK) abort();
    if (again->n_tensors != model->n_tensors || again->n_cells != model->n_cells) abort();
    dpl_model_free(again);
    unlink(path);
}

static void read_bytes(struct dpl_run *run, const uint8_t *bytes, size_t length) {
    const char *path = fuzz_file(bytes, length);
    char *text = NULL;
    struct dpl_model *model = NULL;
    struct dpl_verdict verdict;
    dpl_run_begin(run);
    enum dpl_status status = dpl_model_read(run, path, &model);
    if ((status == DPL_OK) != (model != NULL) || (status != DPL_OK && !dpl_run_message(run)[0]))
        abort();
    if (model) {
        check(model);
        if (dpl_model_summary(run, path, false, &text) == DPL_OK) dpl_text_free(text);
        if (length % 16 == 0) (void)dpl_model_verify(run, path, &verdict); // certificate_fuzz does
        write_again(run, model);
        draw_some(run, model);
    }
    dpl_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct dpl_run *run = fuzz_run();
    uint8_t *copy = repaired(run, bytes, length);
    read_bytes(run, copy, length);
    if (memcmp(bytes, copy, length) != 0) read_bytes(run, bytes, length);
    free(copy);
    dpl_run_free(run);
    return 0;
}
