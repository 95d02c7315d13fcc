/* A released model: public numbers, the chosen cells, named tensors and the certificate. It is all
 * that sampling ever sees: what includes this header and samples includes nothing that holds
 * private data.
 *
 * On disk it is a safetensors file: an 8-byte little-endian header length, a JSON header (tensor
 * name -> dtype, shape, data_offsets; "__metadata__" of texts), then the tensors' bytes. Readable
 * as it is from Python. The metadata carries the version, method, grid, options, certificate and a
 * SHA-256 of the tensors; loading checks everything and never trusts a length. */
#ifndef DPL_MODEL_MODEL_H
#define DPL_MODEL_MODEL_H

#include <jansson.h>

#include "base/file.h"

#define DPL_MODEL_FORMAT "dploc model"
/* Among the first bytes of every model file. */
#define DPL_MODEL_MARK "\"format\":\"" DPL_MODEL_FORMAT "\""

enum { DPL_MODEL_NAME = 48, DPL_MODEL_TENSORS = 64, DPL_TENSOR_RANK = 4 };

enum dpl_tensor_type { DPL_TENSOR_F32, DPL_TENSOR_I32, DPL_TENSOR_F64 };

struct dpl_tensor {
    char name[DPL_MODEL_NAME]; /* "cells", "ti.encoder.weight", ... */
    enum dpl_tensor_type type;
    int rank;
    size_t shape[DPL_TENSOR_RANK];
    void *data; /* float, int32_t or double, row-major, the product of the shape */
};

struct dpl_model {
    char method[16]; /* "paper", "bridge", ... */
    struct dpl_grid grid;
    int32_t n_cells;         /* K */
    int32_t *cell;           /* (K) grid cells of TOP-K, ascending; also the tensor "cells" */
    int32_t *side;           /* (K) places are squares of that many cells' side, north and east of
                                `cell`; also the tensor "sides"; NULL: each is its cell */
    int32_t length_max;      /* visits of the longest trip */
    int64_t trips_estimated; /* how many trips to draw by default: the noised number */
    bool per_user;           /* the unit is a person */
    bool has_time;           /* false: sampled trips have no times */
    bool not_private;        /* made with epsilon = inf or a fixed noise key: stamped everywhere */
    size_t n_tensors;
    struct dpl_tensor tensor[DPL_MODEL_TENSORS];
    json_t *options; /* public options only */
    json_t *noised;  /* of every noised table: its mechanism, sensitivity and noise, by name */
    json_t *certificate;
};

/* A tensor that any method may have: shares of trips by weekday (Monday first) and period. */
#define DPL_MODEL_WEEKDAYS "weekdays"
/* Likewise: the zone of each cell, by which some noised tables are counted. */
#define DPL_MODEL_ZONES "cells.zone"

/* Likewise, (rows, columns) of the grid: metres of a public map's roads in every cell, weighted by
 * their class, which the fit had as a prior. */
#define DPL_MODEL_ROADS "roads"
/* Likewise, (steps): seconds by that map of every step that the method counts, 0: not known. */
#define DPL_MODEL_ROAD_SECONDS "roads.seconds"

/* An empty model for the grid. Caller frees with dpl_model_free. (Reading: dploc.h.) */
enum dpl_status dpl_model_new(struct dpl_run *run, const char *method, const struct dpl_grid *grid,
                              struct dpl_model **model);
/* A new zeroed tensor; *data points at its values, owned by the model. */
enum dpl_status dpl_model_add(struct dpl_run *run, struct dpl_model *model, const char *name,
                              enum dpl_tensor_type type, int rank, const size_t *shape, void *data);
/* A noised table as it was released, before any estimate: the tensor "noised.NAME" of doubles,
 * whose values the caller fills in, and `about` (stolen) under the same NAME in model->noised.
 * Sampling looks at neither: audits and estimates made later do. */
enum dpl_status dpl_model_add_noised(struct dpl_run *run, struct dpl_model *model, const char *name,
                                     int rank, const size_t *shape, json_t *about, double **values);
/* Takes such a table away again, if there is one. */
void dpl_model_drop_noised(struct dpl_model *model, const char *name);
/* The tensor of that name and exactly that type and shape; DPL_BAD_DATA with a message otherwise.
 * `data`: pointer to a const pointer to its numbers, which is then borrowed from the model. */
enum dpl_status dpl_model_get(struct dpl_run *run, const struct dpl_model *model, const char *name,
                              enum dpl_tensor_type type, int rank, const size_t *shape, void *data);
/* Whether there is a tensor of that name. */
bool dpl_model_has(const struct dpl_model *model, const char *name);
/* Writes the model into an open file. */
enum dpl_status dpl_model_put(struct dpl_run *run, const struct dpl_model *model,
                              struct dpl_file *file);

#endif
