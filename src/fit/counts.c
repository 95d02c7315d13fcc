/* See counts.h.
 *
 * A file is a frame (base/frame.h); its payload is the tables' sums, one behind the other, 8 bytes
 * a number. Cost of adding a part: one pass of hashing and two of adding over its numbers. */
#include "fit/counts.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "ingest/identity.h" // defines: dpl_identity_merge
#include "ledger/datasets.h" // defines: dpl_data_to_json, dpl_data_from_json

const struct dpl_frame_kind dpl_part_kind = {"dploc part\n\n\n\n\n\n", "a part of a count"};

/* ---- in memory ---- */

enum dpl_status dpl_sums_new(struct dpl_run *run, struct dpl_sums **sums) {
    dpl_run_begin(run);
    struct dpl_sums *made = dpl_alloc(run, 1, sizeof *made);
    if (!made) return DPL_SYSTEM;
    *sums = made;
    return DPL_OK;
}

void dpl_sums_free(struct dpl_sums *sums) {
    if (!sums) return;
    for (size_t i = 0; i < sums->n_tables; i++) dpl_exact_free(sums->table[i].sum);
    dpl_free(sums->have);
    dpl_free(sums);
}

enum dpl_status dpl_sums_of_shard(struct dpl_run *run, const char plan[DPL_DIGEST_HEX], int round,
                                  uint32_t index, uint32_t shards,
                                  const struct dpl_shard_facts *facts, struct dpl_sums **made) {
    struct dpl_sums *sums = NULL;
    DPL_TRY(dpl_sums_new(run, &sums));
    sums->have = dpl_alloc(run, shards, 1);
    if (!sums->have) {
        dpl_sums_free(sums);
        return DPL_SYSTEM;
    }
    memcpy(sums->plan, plan, DPL_DIGEST_HEX);
    sums->round = round, sums->shards = shards, sums->facts = *facts;
    sums->have[index] = 1;
    *made = sums;
    return DPL_OK;
}

enum dpl_status dpl_sums_put(struct dpl_run *run, struct dpl_sums *sums, const char *name,
                             struct dpl_exact **counts) {
    if (sums->n_tables == DPL_COUNTS_TABLES)
        return dpl_fail(run, DPL_USAGE, "a round asks for at most %d tables", DPL_COUNTS_TABLES);
    snprintf(sums->table[sums->n_tables].name, DPL_EVENT_NAME, "%s", name);
    sums->table[sums->n_tables++].sum = *counts;
    *counts = NULL;
    return DPL_OK;
}

struct dpl_exact *dpl_sums_take(struct dpl_sums *sums, const char *name) {
    for (size_t i = 0; i < sums->n_tables; i++) {
        if (strcmp(sums->table[i].name, name) != 0) continue;
        struct dpl_exact *sum = sums->table[i].sum;
        sums->table[i].sum = NULL;
        return sum;
    }
    return NULL;
}

enum dpl_status dpl_sums_check_whole(struct dpl_run *run, const struct dpl_sums *sums) {
    uint32_t missing = 0, first = 0;
    for (uint32_t i = 0; i < sums->shards; i++)
        if (!sums->have[i] && missing++ == 0) first = i;
    if (!sums->plan[0]) return dpl_fail(run, DPL_USAGE, "there are no parts");
    if (!missing) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED,
                    "%" PRIu32 " of %" PRIu32 " shards are missing, the first is %" PRIu32
                    "/%" PRIu32 ": count them, and merge all parts",
                    missing, sums->shards, first + 1, sums->shards);
}

uint64_t dpl_sums_lost(const struct dpl_sums *sums) {
    const uint64_t elsewhere = sums->facts.elsewhere;
    return elsewhere == sums->facts.recordings * (sums->shards - 1) ? 0 : elsewhere;
}

/* ---- facts ---- */

static json_t *reading_to_json(const struct dpl_reading *reading) {
    json_t *columns = json_array();
    for (size_t i = 0; columns && i < sizeof reading->column / sizeof *reading->column; i++)
        dpl_json_append(&columns, json_string(reading->column[i]));
    return json_pack("{s:s, s:s, s:o}", "format", reading->format, "separator", reading->separator,
                     "columns", columns);
}

static bool take_text(json_t *from, char *into, size_t size) {
    const char *text = json_string_value(from);
    return text && (size_t)snprintf(into, size, "%s", text) < size;
}

static bool take_reading(json_t *object, struct dpl_reading *reading) {
    json_t *columns = json_object_get(object, "columns");
    *reading = (struct dpl_reading){.settled = false};
    if (!json_is_object(object)) return json_is_null(object);
    bool good =
        take_text(json_object_get(object, "format"), reading->format, sizeof reading->format) &&
        take_text(json_object_get(object, "separator"), reading->separator,
                  sizeof reading->separator);
    for (size_t i = 0; good && i < sizeof reading->column / sizeof *reading->column; i++)
        good = take_text(json_array_get(columns, i), reading->column[i], sizeof reading->column[i]);
    reading->settled = true;
    return good;
}

/* "sum": the four words of the identity's sums, as hexadecimal digits. */
static json_t *identity_to_json(const struct dpl_identity *identity) {
    char hex[4 * 16 + 1];
    json_t *object = dpl_data_to_json("", identity, false);
    for (int i = 0; i < 4; i++) snprintf(hex + 16 * i, 17, "%016" PRIx64, identity->sum[i]);
    dpl_json_set(&object, "sum", json_string(hex));
    return object;
}

static enum dpl_status take_identity(struct dpl_run *run, const char *where, json_t *object,
                                     struct dpl_identity *identity) {
    uint8_t bytes[32];
    const char *hex = json_string_value(json_object_get(object, "sum"));
    DPL_TRY(dpl_data_from_json(run, where, object, identity));
    if (!hex || !dpl_unhex(hex, bytes, sizeof bytes))
        return dpl_fail(run, DPL_BAD_DATA, "%s: its sum over the rows is damaged", where);
    for (int i = 0; i < 32; i++) identity->sum[i / 8] = identity->sum[i / 8] << 8 | bytes[i];
    return DPL_OK;
}

json_t *dpl_shard_facts_to_json(const struct dpl_shard_facts *facts) {
    json_t *dropped = json_array();
    for (int i = 0; dropped && i < DPL_DROPS; i++)
        dpl_json_append(&dropped, json_integer(facts->trips_dropped[i]));
    return json_pack("{s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:o}", "units", (json_int_t)facts->units,
                     "recordings", (json_int_t)facts->recordings, "elsewhere",
                     (json_int_t)facts->elsewhere, "trips_read", (json_int_t)facts->trips_read,
                     "selected", facts->selected, "dropped", dropped, "reading",
                     facts->reading.settled ? reading_to_json(&facts->reading) : json_null(),
                     "data", identity_to_json(&facts->identity));
}

enum dpl_status dpl_shard_facts_from_json(struct dpl_run *run, const char *where, json_t *object,
                                          struct dpl_shard_facts *facts) {
    static const int64_t MOST = (int64_t)1 << 42; // times the most shards below 2^63
    enum { UNITS, RECORDINGS, ELSEWHERE, TRIPS, N };
    static const char *const NAMES[N] = {"units", "recordings", "elsewhere", "trips_read"};
    int64_t count[N];
    json_t *dropped = json_object_get(object, "dropped");
    bool good = json_array_size(dropped) == DPL_DROPS;
    for (int i = 0; i < N; i++) {
        DPL_TRY(dpl_whole_from_json(run, where, object, NAMES[i], &count[i]));
        good = good && count[i] >= 0 && count[i] < MOST;
    }
    good = good && take_reading(json_object_get(object, "reading"), &facts->reading);
    facts->units = (uint64_t)count[UNITS], facts->recordings = (uint64_t)count[RECORDINGS];
    facts->elsewhere = (uint64_t)count[ELSEWHERE], facts->trips_read = count[TRIPS];
    facts->selected = json_is_true(json_object_get(object, "selected"));
    for (size_t i = 0; i < DPL_DROPS; i++) {
        facts->trips_dropped[i] = json_integer_value(json_array_get(dropped, i));
        good = good && facts->trips_dropped[i] >= 0 && facts->trips_dropped[i] < MOST;
    }
    if (!good) return dpl_fail(run, DPL_BAD_DATA, "%s: its facts are damaged", where);
    return take_identity(run, where, json_object_get(object, "data"), &facts->identity);
}

static bool same_reading(const struct dpl_reading *a, const struct dpl_reading *b) {
    return a->settled && b->settled && !strcmp(a->format, b->format) &&
           !strcmp(a->separator, b->separator) && !memcmp(a->column, b->column, sizeof a->column);
}

static void merge_facts(struct dpl_shard_facts *into, const struct dpl_shard_facts *from) {
    into->units += from->units, into->elsewhere += from->elsewhere;
    into->recordings += from->recordings;
    into->selected |= from->selected;
    into->trips_read += from->trips_read;
    for (int i = 0; i < DPL_DROPS; i++) into->trips_dropped[i] += from->trips_dropped[i];
    into->reading.settled = same_reading(&into->reading, &from->reading);
    dpl_identity_merge(&into->identity, &from->identity);
}

/* ---- as bytes ---- */

/* The shards as ranges, [[first, last], ...]. */
static json_t *have_to_json(const struct dpl_sums *sums) {
    json_t *list = json_array();
    for (uint32_t i = 0, end; list && i < sums->shards; i = end + 1) {
        for (end = i; end < sums->shards && sums->have[end]; end++) continue;
        if (end > i)
            dpl_json_append(&list, json_pack("[I, I]", (json_int_t)i, (json_int_t)end - 1));
    }
    return list;
}

static json_t *tables_to_json(const struct dpl_sums *sums) {
    json_t *list = json_array();
    for (size_t i = 0; list && i < sums->n_tables; i++) {
        const struct dpl_exact_options *about = dpl_exact_about(sums->table[i].sum);
        dpl_json_append(&list,
                        json_pack("{s:s, s:I, s:b, s:f, s:i, s:I}", "name", sums->table[i].name,
                                  "n", (json_int_t)about->n, "l1", about->norm == DPL_NORM_L1,
                                  "sensitivity", about->sensitivity, "places", about->places,
                                  "units", (json_int_t)dpl_exact_units(sums->table[i].sum)));
    }
    return list;
}

enum dpl_status dpl_sums_make(struct dpl_run *run, const struct dpl_sums *sums,
                              struct dpl_bytes *bytes) {
    struct dpl_view piece[DPL_COUNTS_TABLES];
    dpl_run_begin(run);
    if (!sums->plan[0]) return dpl_fail(run, DPL_USAGE, "there are no parts to merge");
    json_t *header = json_pack(
        "{s:b, s:s, s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "not_private", 1, "version", dpl_version(),
        "note", "exact counts of private data: for their owner alone", "plan", sums->plan, "round",
        (json_int_t)sums->round, "shards", (json_int_t)sums->shards, "have", have_to_json(sums),
        "facts", dpl_shard_facts_to_json(&sums->facts), "tables", tables_to_json(sums));
    for (size_t i = 0; i < sums->n_tables; i++)
        piece[i] = (struct dpl_view){dpl_exact_bytes(sums->table[i].sum),
                                     8 * dpl_exact_about(sums->table[i].sum)->n};
    enum dpl_status status =
        dpl_frame_make(run, &dpl_part_kind, header, piece, sums->n_tables, bytes);
    json_decref(header);
    return status;
}

/* ---- adding ---- */

/* A part as its header has it. */
struct head {
    const char *where, *version, *plan;
    int64_t round, shards;
    struct dpl_shard_facts facts;
    json_t *have, *tables;
};

static enum dpl_status read_head(struct dpl_run *run, const char *where, json_t *header,
                                 struct head *head) {
    head->where = where;
    DPL_TRY(dpl_text_from_json(run, where, header, "version", &head->version));
    // PRIVACY: another version may count otherwise; its sums would be no neighbours of ours.
    if (strcmp(head->version, dpl_version()) != 0)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: it was counted by dploc %.32s, and this is %s: all machines of one "
                        "fit need the same version",
                        where, head->version, dpl_version());
    DPL_TRY(dpl_text_from_json(run, where, header, "plan", &head->plan));
    DPL_TRY(dpl_whole_from_json(run, where, header, "round", &head->round));
    DPL_TRY(dpl_whole_from_json(run, where, header, "shards", &head->shards));
    DPL_TRY(dpl_shard_facts_from_json(run, where, json_object_get(header, "facts"), &head->facts));
    head->have = json_object_get(header, "have");
    head->tables = json_object_get(header, "tables");
    if (head->shards < 1 || head->shards > DPL_SHARDS_MOST || !json_is_array(head->tables) ||
        strlen(head->plan) != DPL_DIGEST_HEX - 1)
        return dpl_fail(run, DPL_BAD_DATA, "%s: its header is damaged", where);
    return DPL_OK;
}

static enum dpl_status check_same(struct dpl_run *run, const struct dpl_sums *sums,
                                  const struct head *head) {
    if (head->round != sums->round)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: it is of round %" PRId64 ", and the parts before it are of round "
                        "%" PRId64,
                        head->where, head->round, sums->round);
    if (strcmp(head->plan, sums->plan) != 0)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: it was counted for another plan than the parts before it",
                        head->where);
    if (head->shards != sums->shards)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: it is one of %" PRId64
                        " shards, and the parts before it are of %" PRIu32
                        ": all workers of a round take the same number",
                        head->where, head->shards, sums->shards);
    return DPL_OK;
}

/* PRIVACY: a shard that is counted twice would let its units move the sums by twice their
 * sensitivity. */
static enum dpl_status take_shards(struct dpl_run *run, struct dpl_sums *sums,
                                   const struct head *head) {
    size_t i;
    json_t *range;
    bool any = false;
    json_array_foreach(head->have, i, range) {
        json_int_t first = json_integer_value(json_array_get(range, 0)),
                   last = json_integer_value(json_array_get(range, 1));
        if (json_array_size(range) != 2 || first < 0 || last < first || last >= head->shards)
            return dpl_fail(run, DPL_BAD_DATA, "%s: its header is damaged", head->where);
        for (json_int_t s = first; s <= last; s++) {
            if (sums->have[s])
                return dpl_fail(run, DPL_REFUSED,
                                "%s: shard %lld/%" PRIu32 " is there twice; of a task that was "
                                "tried again, one part counts",
                                head->where, (long long)s + 1, sums->shards);
            sums->have[s] = 1, any = true;
        }
    }
    return any ? DPL_OK : dpl_fail(run, DPL_BAD_DATA, "%s: it is of no shard", head->where);
}

static enum dpl_status read_table(struct dpl_run *run, const char *where, json_t *object,
                                  const char **name, struct dpl_exact_options *about,
                                  uint64_t *units) {
    int64_t n, places, whole;
    DPL_TRY(dpl_text_from_json(run, where, object, "name", name));
    DPL_TRY(dpl_whole_from_json(run, where, object, "n", &n));
    DPL_TRY(dpl_whole_from_json(run, where, object, "places", &places));
    DPL_TRY(dpl_whole_from_json(run, where, object, "units", &whole));
    DPL_TRY(dpl_number_from_json(run, where, object, "sensitivity", &about->sensitivity));
    if (n < 0 || n > INT32_MAX || places < 0 || places > 30 || whole < 0 ||
        strlen(*name) >= DPL_EVENT_NAME)
        return dpl_fail(run, DPL_BAD_DATA, "%s: its tables are damaged", where);
    about->n = (size_t)n, about->places = (int)places, *units = (uint64_t)whole;
    about->norm = json_is_true(json_object_get(object, "l1")) ? DPL_NORM_L1 : DPL_NORM_L2;
    return DPL_OK;
}

/* The i-th table of the sums, made if this is the first part. */
static enum dpl_status find_table(struct dpl_run *run, struct dpl_sums *sums, const char *where,
                                  bool first, size_t i, const char *name,
                                  const struct dpl_exact_options *about) {
    if (first) {
        struct dpl_exact *sum = NULL;
        DPL_TRY(dpl_exact_new(run, about, &sum));
        enum dpl_status status = dpl_sums_put(run, sums, name, &sum);
        dpl_exact_free(sum);
        return status;
    }
    const struct dpl_exact_options *ours =
        i < sums->n_tables ? dpl_exact_about(sums->table[i].sum) : NULL;
    if (!ours || strcmp(sums->table[i].name, name) != 0 || !dpl_exact_options_same(ours, about))
        return dpl_fail(run, DPL_REFUSED, "%s: its table '%s' is not that of the parts before it",
                        where, name);
    return DPL_OK;
}

static enum dpl_status merge_tables(struct dpl_run *run, struct dpl_sums *sums,
                                    const struct head *head, bool first,
                                    const struct dpl_frame *frame) {
    size_t at = 0, i;
    json_t *object;
    json_array_foreach(head->tables, i, object) {
        const char *name;
        struct dpl_exact_options about = {.n = 0};
        uint64_t units = 0;
        DPL_TRY(read_table(run, head->where, object, &name, &about, &units));
        if (8 * about.n > frame->n_payload - at)
            return dpl_fail(run, DPL_BAD_DATA, "%s: its tables are damaged", head->where);
        DPL_TRY(find_table(run, sums, head->where, first, i, name, &about));
        DPL_TRY(dpl_exact_merge_bytes(run, sums->table[i].sum, units, frame->payload + at));
        at += 8 * about.n;
    }
    if (at != frame->n_payload || json_array_size(head->tables) != sums->n_tables)
        return dpl_fail(run, DPL_BAD_DATA, "%s: its tables are damaged", head->where);
    return DPL_OK;
}

static enum dpl_status add_frame(struct dpl_run *run, struct dpl_sums *sums, const char *where,
                                 const struct dpl_frame *frame) {
    struct head head = {.where = where};
    const bool first = !sums->plan[0];
    DPL_TRY(read_head(run, where, frame->header, &head));
    if (first) {
        strcpy(sums->plan, head.plan);
        sums->round = head.round, sums->shards = (uint32_t)head.shards;
        sums->have = dpl_alloc(run, sums->shards, 1);
        if (!sums->have) return DPL_SYSTEM;
    }
    DPL_TRY(check_same(run, sums, &head));
    DPL_TRY(take_shards(run, sums, &head));
    DPL_TRY(merge_tables(run, sums, &head, first, frame));
    if (first)
        sums->facts = head.facts;
    else
        merge_facts(&sums->facts, &head.facts);
    return DPL_OK;
}

enum dpl_status dpl_sums_add(struct dpl_run *run, struct dpl_sums *sums, const char *where,
                             struct dpl_view part) {
    struct dpl_frame frame = {0};
    dpl_run_begin(run);
    DPL_TRY(dpl_frame_open(run, &dpl_part_kind, where, part, &frame));
    enum dpl_status status = add_frame(run, sums, where, &frame);
    dpl_frame_close(&frame);
    return status;
}

enum dpl_status dpl_part_read(struct dpl_run *run, const char *path, struct dpl_bytes *bytes) {
    dpl_run_begin(run);
    return dpl_bytes_read(run, path, bytes);
}

enum dpl_status dpl_part_check(struct dpl_run *run, const char *path, bool overwrite) {
    dpl_run_begin(run);
    return dpl_file_check(
        run, path, &(struct dpl_file_options){.overwrite = overwrite, .mark = dpl_part_kind.magic});
}

enum dpl_status dpl_part_write(struct dpl_run *run, struct dpl_view part, const char *path,
                               bool overwrite) {
    dpl_run_begin(run);
    return dpl_bytes_write(run, path, dpl_part_kind.magic, true, overwrite, part);
}
