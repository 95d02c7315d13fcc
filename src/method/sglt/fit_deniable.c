/* See fit_deniable.h.
 *
 * After the published program, with its parameters: a seed's cell is replaced by others of a random
 * part of its cluster (four in ten left out); the nearer the next move, the more of them; the true
 * cell is taken out; the most likely path through the sets is the fake. PAPER: at most
 * DPL_SGLT_SET places a slot, so that decoding costs visits * 32^2; the program tries all places.
 * PAPER: the paper's thresholds of the test could not be consulted; k and delta are ours.
 *
 * Neither how many fakes failed the test nor which trip was the seed of which is kept. */
#include "method/sglt/fit_deniable.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { TRIES = 100, CHOSEN_MOST = DPL_SGLT_SET / 2, VISITS_MOST = 1024 };
static const double LEFT_OUT = 0.4, CHOSEN = 0.5; // par_c, par_m of the published program

/* ---- likeness ---- */

static int compare_falling(const void *a, const void *b) {
    float left = *(const float *)a, right = *(const float *)b;
    return left > right ? -1 : left < right;
}

size_t dpl_sglt_shares(const int32_t *cell, size_t n, float *share) {
    size_t places = 0;
    for (size_t v = 0; v < n; v++) {
        size_t visits = 0, before = 0;
        for (size_t u = 0; u < n; u++) {
            visits += cell[u] == cell[v];
            before += u < v && cell[u] == cell[v];
        }
        if (before == 0) share[places++] = (float)visits / (float)n;
    }
    qsort(share, places, sizeof *share, compare_falling);
    return places;
}

double dpl_sglt_likeness(const float *a, size_t n_a, const float *b, size_t n_b) {
    double sum = 0;
    for (size_t i = 0; i < n_a && i < n_b; i++) sum += (double)fminf(a[i], b[i]);
    return sum;
}

/* ---- sets ---- */

/* Of a cluster of few places all stay; else the same part of it for the whole fake. */
static bool in_part(const struct dpl_sglt_decoder *decoder, uint64_t key, int32_t cell) {
    enum { FEW = 4 };
    int32_t cluster = decoder->cluster[cell];
    if (decoder->first[cluster + 1] - decoder->first[cluster] <= FEW) return true;
    return (double)(dpl_mix64(key ^ (uint64_t)cell) >> 11) * 0x1p-53 >= LEFT_OUT;
}

static void put_place(struct dpl_sglt_sets *sets, size_t slot, int32_t cell) {
    int32_t *place = sets->place + slot * DPL_SGLT_SET;
    for (size_t i = 0; i < sets->count[slot]; i++)
        if (place[i] == cell) return;
    if (sets->count[slot] < DPL_SGLT_SET) place[sets->count[slot]++] = cell;
}

/* Some of the cluster of `cell`, the more the nearer the next move, for slots begin ... end-1. */
static void choose(const struct dpl_sglt_decoder *decoder, uint64_t key, int32_t cell,
                   size_t distance, size_t begin, size_t end, struct dpl_sglt_sets *sets,
                   struct dpl_stream *stream) {
    const int32_t *member = decoder->member + decoder->first[decoder->cluster[cell]];
    size_t size =
        decoder->first[decoder->cluster[cell] + 1] - decoder->first[decoder->cluster[cell]];
    double wanted = pow(CHOSEN, (double)(distance * distance)) * (double)size;
    size_t n = wanted < 1 ? 1 : wanted > CHOSEN_MOST ? CHOSEN_MOST : (size_t)wanted;
    for (size_t i = 0; i < n; i++) {
        int32_t drawn = member[dpl_stream_below(stream, size)];
        if (!in_part(decoder, key, drawn)) continue;
        for (size_t t = begin; t < end; t++) put_place(sets, t, drawn);
    }
}

static size_t stay_from(const int32_t *seed, size_t n, size_t t) {
    size_t end = t + 1;
    while (end < n && seed[end] == seed[t]) end++;
    return end - t;
}

/* The true place is taken out; an empty set is any place of the cluster. */
static void settle(const struct dpl_sglt_decoder *decoder, const int32_t *seed, size_t n,
                   struct dpl_sglt_sets *sets, struct dpl_stream *stream) {
    for (size_t t = 0; t < n; t++) {
        int32_t *place = sets->place + t * DPL_SGLT_SET, cluster = decoder->cluster[seed[t]];
        size_t kept = 0, size = decoder->first[cluster + 1] - decoder->first[cluster];
        for (size_t i = 0; i < sets->count[t]; i++)
            if (place[i] != seed[t]) place[kept++] = place[i];
        if (kept == 0)
            place[kept++] =
                decoder->member[decoder->first[cluster] + dpl_stream_below(stream, size)];
        sets->count[t] = (uint8_t)kept;
    }
}

static void make_sets(const struct dpl_sglt_decoder *decoder, const int32_t *seed, size_t n,
                      struct dpl_sglt_sets *sets, struct dpl_stream *stream) {
    uint64_t key = dpl_stream_u64(stream);
    memset(sets->count, 0, n);
    for (size_t t = 0; t < n; t++) {
        size_t distance = stay_from(seed, n, t), next = t + distance;
        size_t stay = next < n ? stay_from(seed, n, next) : 0,
               end = next + (stay < distance ? stay : distance);
        if (end > n) end = n;
        choose(decoder, key, seed[t], distance, t, end, sets, stream);
        if (next < n) choose(decoder, key, seed[next], distance, t, end, sets, stream);
    }
    settle(decoder, seed, n, sets, stream);
}

/* ---- the most likely path ---- */

enum dpl_status dpl_sglt_decoder_logs(struct dpl_run *run, const float *moves,
                                      struct dpl_sglt_decoder *decoder) {
    static const float FAR = 1e-6f, LEAST = 1e-9f;
    const struct dpl_grid *grid = decoder->grid;
    size_t cells = (size_t)dpl_grid_cells(grid), window = dpl_sglt_window(grid),
           squares = (size_t)(grid->rows * grid->rows + grid->columns * grid->columns) + 1;
    int32_t reach = decoder->reach = dpl_sglt_reach(grid), side = 2 * reach + 1;
    decoder->log_move = dpl_alloc(run, cells * window, sizeof *decoder->log_move);
    decoder->log_far = dpl_alloc(run, squares, sizeof *decoder->log_far);
    if (!decoder->log_move || !decoder->log_far) return DPL_SYSTEM;
    for (size_t i = 0; i < squares; i++) decoder->log_far[i] = logf(FAR) - logf(fmaxf((float)i, 1));
    for (size_t i = 0; i < cells * window; i++) {
        int32_t w = (int32_t)(i % window), north = w / side - reach, east = w % side - reach;
        size_t square = (size_t)(north * north + east * east);
        bool reached = dpl_sglt_to(grid, (int32_t)(i / window), (size_t)w) >= 0;
        decoder->log_move[i] = reached            ? logf(moves[i] + LEAST)
                               : square < squares ? decoder->log_far[square]
                                                  : -INFINITY;
    }
    return DPL_OK;
}

void dpl_sglt_decoder_free(struct dpl_sglt_decoder *decoder) {
    dpl_free(decoder->log_move), dpl_free(decoder->log_far);
}

static float log_chance(const struct dpl_sglt_decoder *decoder, int32_t from, int32_t to) {
    int32_t columns = decoder->grid->columns, reach = decoder->reach, side = 2 * reach + 1;
    int32_t north = to / columns - from / columns, east = to % columns - from % columns;
    if (abs(north) > reach || abs(east) > reach)
        return decoder->log_far[north * north + east * east];
    return decoder->log_move[(size_t)from * (size_t)(side * side) +
                             (size_t)((north + reach) * side + east + reach)];
}

void dpl_sglt_fake(const struct dpl_sglt_decoder *decoder, const int32_t *seed, size_t n,
                   struct dpl_sglt_sets *sets, struct dpl_stream *stream, int32_t *fake) {
    float score[DPL_SGLT_SET] = {0}, next[DPL_SGLT_SET];
    size_t best = 0;
    make_sets(decoder, seed, n, sets, stream);
    for (size_t t = 1; t < n; t++) {
        const int32_t *from = sets->place + (t - 1) * DPL_SGLT_SET, *to = from + DPL_SGLT_SET;
        for (size_t i = 0; i < sets->count[t]; i++) {
            next[i] = -INFINITY;
            for (size_t j = 0; j < sets->count[t - 1]; j++) {
                float sum = score[j] + log_chance(decoder, from[j], to[i]);
                if (sum > next[i]) next[i] = sum, sets->back[t * DPL_SGLT_SET + i] = (uint8_t)j;
            }
        }
        memcpy(score, next, sizeof score);
    }
    for (size_t i = 1; i < sets->count[n - 1]; i++)
        if (score[i] > score[best]) best = i;
    for (size_t t = n; t-- > 0;) {
        fake[t] = sets->place[t * DPL_SGLT_SET + best];
        if (t > 0) best = sets->back[t * DPL_SGLT_SET + best];
    }
}

/* ---- seeds ---- */

/* All trips, cut at length_max. */
struct seeds {
    size_t n, visits, n_room, visits_room, length_max;
    size_t *start; /* (n + 1) */
    int32_t *cell; /* (visits) */
};

static enum dpl_status add_seed(struct dpl_run *run, struct seeds *seeds, const int32_t *cell,
                                size_t n) {
    DPL_TRY(dpl_grow(run, &seeds->start, &seeds->n_room, seeds->n + 2, sizeof *seeds->start));
    DPL_TRY(
        dpl_grow(run, &seeds->cell, &seeds->visits_room, seeds->visits + n, sizeof *seeds->cell));
    seeds->start[seeds->n++] = seeds->visits;
    memcpy(seeds->cell + seeds->visits, cell, n * sizeof *cell);
    seeds->start[seeds->n] = seeds->visits += n;
    return DPL_OK;
}

static enum dpl_status gather(struct dpl_run *run, struct dpl_parts *parts, struct seeds *seeds) {
    enum dpl_status status = DPL_OK;
    for (size_t i = 0; status == DPL_OK && i < parts->n; i++) {
        DPL_TRY(dpl_part_open(run, parts, i));
        const struct dpl_part *part = &parts->part[i];
        for (size_t k = 0; status == DPL_OK && k < part->kept.n_trips; k++) {
            size_t trip = dpl_kept_trip(&part->kept, k),
                   n = dpl_trip_visits(part->trips, trip, (int32_t)seeds->length_max);
            if (n >= 2)
                status = add_seed(run, seeds, part->trips->cell + part->trips->start[trip], n);
        }
        dpl_part_close(parts, i);
    }
    return status;
}

static void seeds_free(struct seeds *seeds) { dpl_free(seeds->start), dpl_free(seeds->cell); }

/* ---- the test ---- */

/* Trips with the same shares are alike to everybody: counted together. */
struct shape {
    uint64_t hash;
    size_t trip, trips; /* one of them, and how many */
};

static int by_hash(const void *a, const void *b) {
    const struct shape *left = a, *right = b;
    return left->hash < right->hash ? -1 : left->hash > right->hash;
}

static int by_trips(const void *a, const void *b) {
    const struct shape *left = a, *right = b;
    if (left->trips != right->trips) return left->trips > right->trips ? -1 : 1;
    return by_hash(a, b);
}

static uint64_t hash_shares(const float *share, size_t n) {
    uint64_t hash = n;
    for (size_t i = 0; i < n; i++) hash = dpl_mix64(hash ^ (uint64_t)llrintf(share[i] * (1 << 20)));
    return hash;
}

/* The commonest first: shape (seeds->n). Returns how many there are. */
static size_t find_shapes(const struct seeds *seeds, struct shape *shape) {
    float share[VISITS_MOST];
    size_t n = 0;
    for (size_t i = 0; i < seeds->n; i++) {
        size_t places = dpl_sglt_shares(seeds->cell + seeds->start[i],
                                        seeds->start[i + 1] - seeds->start[i], share);
        shape[i] = (struct shape){hash_shares(share, places), i, 1};
    }
    qsort(shape, seeds->n, sizeof *shape, by_hash);
    for (size_t i = 0; i < seeds->n; i++) {
        if (n > 0 && shape[n - 1].hash == shape[i].hash)
            shape[n - 1].trips++;
        else
            shape[n++] = shape[i];
    }
    qsort(shape, n, sizeof *shape, by_trips);
    return n;
}

struct making {
    const struct seeds *seeds;
    const struct dpl_sglt_decoder *decoder;
    struct shape *shape;
    size_t n_shapes;
    float *share; /* (n_shapes, places at most length_max) */
    size_t *places;
};

static bool deniable(const struct making *making, size_t seed, const int32_t *fake, size_t n) {
    const struct seeds *seeds = making->seeds;
    float of_fake[VISITS_MOST], of_seed[VISITS_MOST];
    size_t places = dpl_sglt_shares(fake, n, of_fake),
           seed_places = dpl_sglt_shares(seeds->cell + seeds->start[seed], n, of_seed), alike = 0;
    double like = dpl_sglt_likeness(of_fake, places, of_seed, seed_places);
    for (size_t s = 0; s < making->n_shapes && alike <= DPL_SGLT_ALIKE; s++) {
        double other = dpl_sglt_likeness(of_fake, places, making->share + s * seeds->length_max,
                                         making->places[s]);
        if (fabs(other - like) <= DPL_SGLT_AS_LIKE) alike += making->shape[s].trips;
    }
    return alike > DPL_SGLT_ALIKE; // the seed itself is among them
}

/* One fake that passes; its length, 0 after too many tries. */
static size_t make_one(const struct making *making, struct dpl_sglt_sets *sets,
                       struct dpl_stream *stream, int32_t *fake) {
    const struct seeds *seeds = making->seeds;
    for (int i = 0; i < TRIES; i++) {
        size_t seed = dpl_stream_below(stream, seeds->n),
               n = seeds->start[seed + 1] - seeds->start[seed];
        dpl_sglt_fake(making->decoder, seeds->cell + seeds->start[seed], n, sets, stream, fake);
        if (deniable(making, seed, fake, n)) return n;
    }
    return 0;
}

static enum dpl_status sets_new(struct dpl_run *run, size_t n, struct dpl_sglt_sets *sets,
                                void **block) {
    *block = DPL_BLOCK(run, DPL_PIECE(sets->place, n * DPL_SGLT_SET), DPL_PIECE(sets->count, n),
                       DPL_PIECE(sets->back, n * DPL_SGLT_SET));
    return *block ? DPL_OK : DPL_SYSTEM;
}

/* A thread's part of the fakes, each from a stream of its own. */
static enum dpl_status make_some(struct dpl_run *run, const struct making *making,
                                 const struct dpl_secret *secret, int thread, int threads,
                                 int32_t *fake, size_t *length) {
    const struct seeds *seeds = making->seeds;
    struct dpl_sglt_sets sets = {0};
    struct dpl_random *random = NULL;
    void *block = NULL;
    enum dpl_status status;
    DPL_GO(sets_new(run, seeds->length_max, &sets, &block));
    DPL_GO(dpl_random_new(run, secret, &random));
    for (size_t i = (size_t)thread; i < seeds->n; i += (size_t)threads) {
        struct dpl_stream stream;
        dpl_stream_open(&stream, random, (struct dpl_stream_id){DPL_PURPOSE_SEEDS, i, 0});
        length[i] = make_one(making, &sets, &stream, fake + i * seeds->length_max);
        DPL_GO(dpl_stream_close(run, &stream));
        if (length[i] > 0) continue;
        status = dpl_fail(run, DPL_BAD_DATA,
                          "no trip is like %d others: too few trips for `fit.sglt_form` deniable",
                          DPL_SGLT_ALIKE);
        break;
    }
done:
    dpl_random_free(random), dpl_free(block);
    return status;
}

static enum dpl_status store(struct dpl_run *run, const struct seeds *seeds, const int32_t *fake,
                             const size_t *length, struct dpl_model *model) {
    size_t visits = 0;
    int32_t *start, *cell;
    for (size_t i = 0; i < seeds->n; i++) visits += length[i];
    DPL_TRY(dpl_model_add(run, model, "sglt.fake_start", DPL_TENSOR_I32, 1,
                          (size_t[]){seeds->n + 1}, &start));
    DPL_TRY(dpl_model_add(run, model, "sglt.fake_cell", DPL_TENSOR_I32, 1, &visits, &cell));
    for (size_t i = 0, at = 0; i < seeds->n; i++) {
        memcpy(cell + at, fake + i * seeds->length_max, length[i] * sizeof *cell);
        start[i] = (int32_t)at, start[i + 1] = (int32_t)(at += length[i]);
    }
    json_t *sizes = json_pack("{s:I, s:I}", "sglt_fakes", (json_int_t)seeds->n, "sglt_fake_visits",
                              (json_int_t)visits);
    int failed = !sizes || json_object_update(model->options, sizes) != 0;
    json_decref(sizes);
    return failed ? dpl_fail(run, DPL_SYSTEM, "out of memory") : DPL_OK;
}

static enum dpl_status make_all(struct dpl_run *run, const struct making *making,
                                const struct dpl_secret *secret, struct dpl_model *model) {
    const struct seeds *seeds = making->seeds;
    int32_t *fake = dpl_alloc(run, seeds->n * seeds->length_max, sizeof *fake);
    size_t *length = dpl_alloc(run, seeds->n, sizeof *length);
    int threads = dpl_run_threads(run);
    _Atomic int failed = fake && length ? DPL_OK : DPL_SYSTEM;
    if (!failed) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int t = 0; t < threads; t++) {
            enum dpl_status status = make_some(run, making, secret, t, threads, fake, length);
            if (status != DPL_OK) failed = (int)status;
        }
    }
    enum dpl_status status = (enum dpl_status)failed;
    if (status == DPL_OK) status = store(run, seeds, fake, length, model);
    dpl_free(fake), dpl_free(length);
    return status;
}

static enum dpl_status prepare_test(struct dpl_run *run, struct making *making) {
    const struct seeds *seeds = making->seeds;
    making->shape = dpl_alloc(run, seeds->n, sizeof *making->shape);
    if (!making->shape) return DPL_SYSTEM;
    making->n_shapes = find_shapes(seeds, making->shape);
    making->share = dpl_alloc(run, making->n_shapes * seeds->length_max, sizeof *making->share);
    making->places = dpl_alloc(run, making->n_shapes, sizeof *making->places);
    if (!making->share || !making->places) return DPL_SYSTEM;
    for (size_t s = 0; s < making->n_shapes; s++) {
        size_t trip = making->shape[s].trip;
        making->places[s] = dpl_sglt_shares(seeds->cell + seeds->start[trip],
                                            seeds->start[trip + 1] - seeds->start[trip],
                                            making->share + s * seeds->length_max);
    }
    return DPL_OK;
}

enum dpl_status dpl_sglt_fit_deniable(struct dpl_run *run, struct dpl_parts *parts,
                                      const struct dpl_secret *secret, struct dpl_model *model) {
    size_t cells = (size_t)dpl_grid_cells(&model->grid), window = dpl_sglt_window(&model->grid),
           first[DPL_SGLT_CLUSTERS + 1];
    struct seeds seeds = {.length_max = (size_t)model->length_max};
    struct dpl_sglt_decoder decoder = {.grid = &model->grid, .first = first};
    struct making making = {.seeds = &seeds, .decoder = &decoder};
    const float *moves;
    int32_t *member = dpl_alloc(run, cells, sizeof *member);
    enum dpl_status status = member ? DPL_OK : DPL_SYSTEM;
    if (status != DPL_OK) goto done;
    if (seeds.length_max > VISITS_MOST) seeds.length_max = VISITS_MOST;
    DPL_GO(dpl_model_get(run, model, "sglt.cluster", DPL_TENSOR_I32, 1, &cells, &decoder.cluster));
    DPL_GO(dpl_model_get(run, model, "sglt.moves", DPL_TENSOR_F32, 2, (size_t[]){cells, window},
                         &moves));
    DPL_GO(dpl_sglt_decoder_logs(run, moves, &decoder));
    dpl_sglt_list_members(decoder.cluster, cells, member, NULL, first);
    decoder.member = member;
    DPL_GO(gather(run, parts, &seeds));
    if (seeds.n == 0) {
        status = dpl_fail(run, DPL_BAD_DATA, "there is no trip to be a seed");
        goto done;
    }
    DPL_GO(prepare_test(run, &making));
    DPL_GO(make_all(run, &making, secret, model));
done:
    dpl_free(making.share), dpl_free(making.places), dpl_free(making.shape);
    seeds_free(&seeds);
    dpl_sglt_decoder_free(&decoder);
    dpl_free(member);
    return status;
}
