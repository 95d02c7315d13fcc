/* Ingest: bytes to recordings.
 *
 *   inputs --source--> members --feeder--> blocks of lines --format--> rows --group--> recordings
 * --> sink file, directory,     1 MB, cut   csv, porto,     points of one key       (clean)
 *            archive, stdin       at line ends  cab, plt
 *
 * Blocks are parsed and cleaned in parallel and committed in input order, so the result does not
 * depend on the number of threads. A recording is all points that share a key: a trip, or a user's
 * whole track when the data has no trips. */
#ifndef DPL_INGEST_INGEST_H
#define DPL_INGEST_INGEST_H

#include "base/base.h"
#include "base/identity.h"
#include "base/zone.h"

/* A point of a row that has no time: never a real one, which is from 1990 or later. */
enum { UNTIMED_S = 0 };

struct point {
    int64_t utc_s;
    double lat_deg, lon_deg;
};

/* How a recording becomes trips. */
enum split {
    SPLIT_NONE,           /* it is one trip */
    SPLIT_STAYS,          /* cut where the person stays in one cell (GeoLife) */
    SPLIT_GAPS_AND_STAYS, /* no trip column: cut at gaps, too */
    SPLIT_ENDS,           /* it is one trip of which the ends alone are known: no gap drops it */
};

struct recording {
    struct dpl_key user;  /* all zero: unknown */
    struct point *points; /* (n) in file order; the sink may reorder them */
    size_t n;
    enum split split;
    bool timed; /* false: utc_s counts rows, not seconds */
};

/* Where recordings go. `take` runs in parallel, each thread with a batch of its own; `commit` runs
 * alone, batch by batch in input order, and leaves the batch empty. */
struct sink {
    void *state;
    enum dpl_status (*batch_new)(void *state, void **batch);
    void (*batch_free)(void *batch);
    enum dpl_status (*take)(void *state, void *batch, const struct recording *recording);
    enum dpl_status (*commit)(void *state, void *batch);
    void (*reset)(void *state); /* forget all commits: reading starts over */
};

/* Which units are read, where several readers share the work: those whose hash falls into part
 * `index` of `count`. PRIVACY: a function of the unit's own id, so that a unit is whole in one part
 * whoever reads it. */
struct ingest_shard {
    uint32_t index, count; /* 0 ... count-1; count 0: all units */
    bool by_user;          /* the unit is the user, not the trip */
    uint64_t seed;
};

/* Which data set the rows are, under the ledger's key (identity.h). */
struct ingest_identity {
    uint8_t key[32];
    struct ingest_shard shard;
    struct dpl_identity found; /* of the shard's rows */
};

/* What breaks a limit is dropped and counted. Tests make them small. */
struct ingest_limits {
    size_t line_bytes;   /* of a line with its end, and so of a block, 1 MB */
    size_t member_bytes; /* of one person's file, 1 GB */
};
extern const struct ingest_limits DPL_INGEST_LIMITS;

/* Reads all inputs into the sink and gathers facts. `identity` is taken from the very rows that go
 * to the sink; NULL: not wanted. */
enum dpl_status dpl_ingest_read(struct dpl_run *run, const char *const *inputs, size_t n_inputs,
                                const struct dpl_read_options *options,
                                const struct ingest_limits *limits, const char *zone_name,
                                const struct sink *sink, struct ingest_identity *identity,
                                struct dpl_read_facts *facts);

/* Whether the options about rows make sense. */
enum dpl_status dpl_ingest_check_options(struct dpl_run *run,
                                         const struct dpl_read_options *options);

/* The same of trips in memory or in files, whichever they are. */
enum dpl_status dpl_ingest_trips(struct dpl_run *run, struct dpl_trips *trips,
                                 const struct dpl_read_options *options, const char *zone_name,
                                 const struct sink *sink, struct ingest_identity *identity,
                                 struct dpl_read_facts *facts);

#endif
