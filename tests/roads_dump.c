/* Prints every node and way of an .osm.pbf file as the library reads it, for roads_reader_test.py:
 *
 *     n ID LAT LON
 *     w ID REF,REF,... KEY=VALUE ...
 *
 * Exits with the status; a message goes to standard error. */
#include <stdio.h>

#include "roads/pbf.h"

static enum dpl_status print_node(void *user, int64_t id, double lat_deg, double lon_deg) {
    (void)user;
    printf("n %lld %.8f %.8f\n", (long long)id, lat_deg, lon_deg);
    return DPL_OK;
}

static enum dpl_status print_way(void *user, const struct pbf_way *way) {
    (void)user;
    printf("w %lld ", (long long)way->id);
    for (size_t i = 0; i < way->n_refs; i++) printf("%s%lld", i ? "," : "", (long long)way->ref[i]);
    for (size_t i = 0; i < way->n_tags; i++) {
        const struct pbf_tag *tag = &way->tag[i];
        printf(" %.*s=%.*s", (int)tag->key.length, tag->key.bytes, (int)tag->value.length,
               tag->value.bytes);
    }
    putchar('\n');
    return DPL_OK;
}

int main(int argc, char **argv) {
    struct dpl_run *run = dpl_run_new(NULL);
    struct blob_file file = {0};
    const struct pbf_sink sink = {NULL, print_node, print_way};
    if (argc != 2 || !run) return DPL_USAGE;
    enum dpl_status status = dpl_blob_open(run, argv[1], &file);
    if (status == DPL_OK) status = dpl_pbf_read(&file, &sink);
    if (status != DPL_OK) fprintf(stderr, "%s\n", dpl_run_message(run));
    dpl_blob_close(&file);
    dpl_run_free(run);
    return (int)status;
}
