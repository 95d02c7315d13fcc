/* The report: one HTML file that shows what was spent and how close the synthetic trips are.
 *
 *     page (built from web/, embedded)  up to the mark
 *     island: one JSON object           area, sets, certificates, counts, motion, flows, patterns,
 *                                       trips, evaluation, attacks, ledger
 *     page                              from the mark on
 *
 * The page draws everything from the island and fetches nothing. The same input gives the same
 * bytes: no clock, no chance.
 *
 * PRIVACY: with a real set the file is for the data holder: it says so at its top, and only its
 * owner may read it (mode 0600). Without one, it is made from synthetic trips and their
 * certificates alone, and a set without a valid certificate of a private release is refused: a file
 * that was meant to be REAL cannot get into a public report by a slip of the hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/attacks.h"
#include "base/options.h"
#include "base/json.h"
#include "report/gather.h"
#include "report/page.h"

static const char MARK[] = "@dploc-island@";
enum { SETS_MAX = 8, TRIPS_SHOWN_MAX = 100 };

struct report {
    const struct dpl_report_set *real; /* NULL: public */
    const struct dpl_report_set *synthetic;
    size_t n;
    const struct dpl_report_options *options;
    struct dpl_eval_options eval;
    const struct dpl_cleaned *trips[SETS_MAX + 1]; /* the real ones first, if any */
    json_t *certificate[SETS_MAX];                 /* NULL: none */
    struct dpl_verdict *verdict;                   /* (n) of the certificates */
    struct dpl_evaluation *evaluation;             /* NULL: public */
    json_t *attacks, *ledger;                      /* NULL: not given */
    struct basemap basemap;
    struct zones zones; /* none, unless options name a map of districts */
};

struct dpl_report_options dpl_report_defaults(void) {
    return (struct dpl_report_options){.struct_size = sizeof(struct dpl_report_options),
                                       .trips_shown = 12};
}

/* ---- certificates ---- */

static enum dpl_status check_certificate(struct dpl_run *run, const struct dpl_report_set *set,
                                         json_t **certificate, struct dpl_verdict *verdict) {
    json_error_t error;
    if (!set->certificate) return DPL_OK;
    enum dpl_status status =
        dpl_certificate_verify(run, set->certificate, strlen(set->certificate), verdict);
    if (status != DPL_OK) return status;
    DPL_TRY(
        dpl_json_parse(run, set->certificate, strlen(set->certificate), 0, &error, certificate));
    return *certificate ? DPL_OK
                        : dpl_fail(run, DPL_BAD_DATA, "%s: its certificate is not JSON: %s",
                                   set->name, error.text);
}

/* PRIVACY: what a public report may show is what a private release promised to be. */
static enum dpl_status check_public(struct dpl_run *run, const struct dpl_report_set *set,
                                    const json_t *certificate, const struct dpl_verdict *verdict) {
    if (!certificate)
        return dpl_fail(run, DPL_REFUSED,
                        "%s has no certificate, so it may be private data: a public report shows "
                        "only what a certificate covers",
                        set->name);
    if (!json_is_true(json_object_get(certificate, "private")))
        return dpl_fail(
            run, DPL_REFUSED,
            "%s: its certificate says NOT PRIVATE, so it has no place in a public report",
            set->name);
    if (!verdict->valid)
        return dpl_fail(
            run, DPL_REFUSED,
            "%s: its certificate does not hold (%s), so it has no place in a public report",
            set->name, verdict->n_reasons ? verdict->reasons[0] : "no reason given");
    return DPL_OK;
}

static enum dpl_status check_certificates(struct dpl_run *run, struct report *r) {
    r->verdict = dpl_alloc(run, r->n, sizeof *r->verdict);
    if (!r->verdict) return DPL_SYSTEM;
    for (size_t k = 0; k < r->n; k++) {
        DPL_TRY(check_certificate(run, &r->synthetic[k], &r->certificate[k], &r->verdict[k]));
        if (!r->real)
            DPL_TRY(check_public(run, &r->synthetic[k], r->certificate[k], &r->verdict[k]));
    }
    return DPL_OK;
}

/* ---- the island ---- */

static void write_area(const struct dpl_grid *grid, struct island *island) {
    const struct dpl_area *area = &grid->area;
    const double box[4] = {area->south_deg, area->west_deg, area->north_deg, area->east_deg};
    dpl_island_key(island, "area");
    dpl_island_open(island, '{');
    dpl_island_key(island, "box_deg");
    dpl_island_open(island, '[');
    for (int i = 0; i < 4; i++) dpl_island_real(island, box[i]);
    dpl_island_close(island, ']');
    dpl_island_key(island, "cell_m"), dpl_island_real(island, area->cell_m);
    dpl_island_key(island, "slot_s"), dpl_island_whole(island, area->slot_s);
    dpl_island_key(island, "periods"), dpl_island_whole(island, area->periods);
    dpl_island_key(island, "zone"), dpl_island_text(island, area->zone);
    dpl_island_key(island, "columns"), dpl_island_whole(island, grid->columns);
    dpl_island_key(island, "rows"), dpl_island_whole(island, grid->rows);
    dpl_island_key(island, "m_per_deg_lat"), dpl_island_real(island, grid->m_per_deg_lat);
    dpl_island_key(island, "m_per_deg_lon"), dpl_island_real(island, grid->m_per_deg_lon);
    dpl_island_close(island, '}');
}

/* Counts and column names as they were found; paths and examples of rows stay out. */
static void write_facts(const struct dpl_read_facts *facts, struct island *island) {
    dpl_island_key(island, "format"), dpl_island_text(island, facts->format);
    dpl_island_key(island, "read_columns"), dpl_island_text(island, facts->columns);
    dpl_island_key(island, "dropped");
    dpl_island_open(island, '{');
    for (int i = 0; i < DPL_DROPS; i++)
        if (facts->trips_dropped[i])
            dpl_island_key(island, dpl_drop_name((enum dpl_drop)i)),
                dpl_island_whole(island, facts->trips_dropped[i]);
    dpl_island_close(island, '}');
}

static void write_verdict(const struct dpl_verdict *verdict, struct island *island) {
    dpl_island_key(island, "verdict");
    dpl_island_open(island, '{');
    dpl_island_key(island, "valid"), dpl_island_bool(island, verdict->valid);
    dpl_island_key(island, "epsilon"), dpl_island_real(island, verdict->epsilon);
    dpl_island_key(island, "reasons");
    dpl_island_open(island, '[');
    for (size_t i = 0; i < verdict->n_reasons; i++) dpl_island_text(island, verdict->reasons[i]);
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
}

static void write_set(const struct dpl_report_set *set, bool real, const json_t *certificate,
                      const struct dpl_verdict *verdict, struct island *island) {
    dpl_island_open(island, '{');
    dpl_island_key(island, "real"), dpl_island_bool(island, real);
    dpl_island_key(island, "name"), dpl_island_text(island, set->name);
    dpl_island_key(island, "trips"), dpl_island_whole(island, (int64_t)set->trips->n_trips);
    dpl_island_key(island, "visits"), dpl_island_whole(island, (int64_t)set->trips->n_visits);
    dpl_island_key(island, "has_time"), dpl_island_bool(island, set->trips->has_time);
    if (set->facts) write_facts(set->facts, island);
    if (certificate) {
        dpl_island_key(island, "certificate"), dpl_island_json(island, certificate);
        write_verdict(verdict, island);
    }
    dpl_island_close(island, '}');
}

static void write_sets(const struct report *r, struct island *island) {
    dpl_island_key(island, "sets");
    dpl_island_open(island, '[');
    if (r->real) write_set(r->real, true, NULL, NULL, island);
    for (size_t k = 0; k < r->n; k++)
        write_set(&r->synthetic[k], false, r->certificate[k], &r->verdict[k], island);
    dpl_island_close(island, ']');
}

/* A measure is an array: name, scope (a period, or a word), what is better, value, floor, ratio. */
static void write_measure(const struct dpl_measure *m, struct island *island) {
    static const char *const BETTER[] = {[DPL_BETTER_LOWER] = "lower",
                                         [DPL_BETTER_HIGHER] = "higher",
                                         [DPL_BETTER_NEAR_FLOOR] = "near"};
    dpl_island_open(island, '[');
    dpl_island_text(island, m->name);
    if (m->scope >= 0)
        dpl_island_whole(island, m->scope);
    else
        dpl_island_text(island, m->scope == DPL_SCOPE_POOLED ? "pooled" : "hours");
    dpl_island_text(island, BETTER[m->better]);
    dpl_island_real(island, m->value), dpl_island_real(island, m->floor),
        dpl_island_real(island, m->ratio);
    dpl_island_close(island, ']');
}

/* What each measure means, by name. */
static void write_meanings(struct island *island) {
    struct dpl_measure_about about;
    dpl_island_key(island, "meanings");
    dpl_island_open(island, '{');
    for (size_t i = 0; dpl_measure_about(i, &about); i++) {
        dpl_island_key(island, about.name);
        dpl_island_text(island, about.meaning);
    }
    dpl_island_close(island, '}');
}

/* Question, word and reason of each answer. */
static void write_fitness(const struct dpl_evaluation *e, size_t k, struct island *island) {
    struct dpl_fitness list[DPL_FITNESS_MAX];
    size_t n = dpl_evaluation_fitness(e, k, list);
    dpl_island_key(island, "fitness");
    dpl_island_open(island, '[');
    for (size_t i = 0; i < n; i++) {
        dpl_island_open(island, '[');
        dpl_island_text(island, list[i].question);
        dpl_island_text(island, dpl_fit_word_name(list[i].word));
        dpl_island_text(island, list[i].reason);
        dpl_island_close(island, ']');
    }
    dpl_island_close(island, ']');
}

static void write_evaluation(const struct dpl_evaluation *e, struct island *island) {
    dpl_island_key(island, "evaluation");
    dpl_island_open(island, '{');
    dpl_island_key(island, "cells"), dpl_island_whole(island, e->n_cells);
    dpl_island_key(island, "cell_share"), dpl_island_real(island, e->options.cell_share);
    dpl_island_key(island, "splits"), dpl_island_whole(island, e->options.splits);
    dpl_island_key(island, "paper_measures"), dpl_island_bool(island, e->options.paper_measures);
    write_meanings(island);
    dpl_island_key(island, "synthetic");
    dpl_island_open(island, '[');
    for (size_t k = 0; k < e->n_synthetic; k++) {
        const struct dpl_eval_result *s = &e->synthetic[k];
        dpl_island_open(island, '{');
        dpl_island_key(island, "compared"), dpl_island_whole(island, (int64_t)s->n_compared);
        dpl_island_key(island, "outside_share"), dpl_island_real(island, s->outside_share);
        write_fitness(e, k, island);
        dpl_island_key(island, "measures");
        dpl_island_open(island, '[');
        for (size_t i = 0; i < s->n_measures; i++) write_measure(&s->measures[i], island);
        dpl_island_close(island, ']');
        dpl_island_close(island, '}');
    }
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
}

static enum dpl_status write_island(struct dpl_run *run, const struct report *r,
                                    struct island *island) {
    struct gather gather = {.run = run,
                            .set = r->trips,
                            .n_sets = r->n + (r->real != NULL),
                            .has_real = r->real != NULL};
    dpl_island_open(island, '{');
    dpl_island_key(island, "dploc_report"), dpl_island_whole(island, 1);
    dpl_island_key(island, "version"), dpl_island_text(island, dpl_version());
    dpl_island_key(island, "not_private"), dpl_island_bool(island, r->real != NULL);
    write_area(&r->trips[0]->grid, island);
    write_sets(r, island);
    DPL_TRY(dpl_gather_map(&gather, island));
    DPL_TRY(dpl_gather_lengths(&gather, island));
    DPL_TRY(dpl_gather_hours(&gather, island));
    DPL_TRY(dpl_gather_flows(&gather, r->zones.n ? &r->zones : NULL, island));
    DPL_TRY(dpl_gather_patterns(&gather, r->eval.cell_share, island));
    DPL_TRY(dpl_gather_motion(&gather, island));
    DPL_TRY(dpl_gather_trips(&gather, (size_t)r->options->trips_shown,
                             (size_t)r->options->real_trips_shown, island));
    if (r->evaluation) write_evaluation(r->evaluation, island);
    if (r->attacks) dpl_attacks_write(r->attacks, island);
    if (r->ledger) dpl_attacks_ledger_write(r->ledger, island);
    if (r->basemap.n_lines) dpl_basemap_write(&r->basemap, island);
    dpl_island_close(island, '}');
    return island->status;
}

/* ---- the file ---- */

/* Every report has these bytes somewhere, and nothing else has them. */
static const char REPORT_MARK[] = "{\"dploc_report\":1,\"version\":\"";

static enum dpl_status report_ours(struct dpl_run *run, const char *path, bool *ours) {
    enum { MOST = 64 << 20 }; // the script and the data of any report are well below
    *ours = false;
    char *bytes = dpl_alloc(run, MOST, 1);
    if (!bytes) return DPL_SYSTEM;
    size_t n = 0;
    enum dpl_status status = dpl_file_head(run, path, bytes, MOST, &n);
    *ours = memmem(bytes, n, REPORT_MARK, sizeof REPORT_MARK - 1) != NULL;
    dpl_free(bytes);
    return status;
}

static struct dpl_file_options file_options(bool overwrite, bool only_owner) {
    return (struct dpl_file_options){
        .overwrite = overwrite, .only_owner = only_owner, .ours = report_ours};
}

static enum dpl_status write_page(struct dpl_run *run, const struct report *r, const char *path) {
    struct dpl_file *file = NULL;
    enum dpl_status status;
    const unsigned char *mark = memmem(dpl_page, dpl_page_size, MARK, sizeof MARK - 1),
                        *rest = mark ? mark + sizeof MARK - 1 : NULL;
    if (!mark)
        return dpl_fail(run, DPL_SYSTEM,
                        "the page inside this program is broken (please build it again)");
    const struct dpl_file_options options = file_options(r->options->overwrite, r->real != NULL);
    DPL_TRY(dpl_file_create(run, path, &options, &file));
    struct island island = {.file = file};
    DPL_GO(dpl_file_write(file, dpl_page, (size_t)(mark - dpl_page)));
    DPL_GO(write_island(run, r, &island));
    DPL_GO(dpl_file_write(file, rest, dpl_page_size - (size_t)(rest - dpl_page)));
    status = dpl_file_commit(file);
    file = NULL;
done:
    dpl_file_abort(file);
    return status;
}

static bool same_grid(const struct dpl_grid *a, const struct dpl_grid *b) {
    return a->columns == b->columns && a->rows == b->rows && a->area.periods == b->area.periods;
}

static enum dpl_status check_options(struct dpl_run *run,
                                     const struct dpl_report_options *options) {
    const int shown[2] = {options->trips_shown, options->real_trips_shown};
    for (int i = 0; i < 2; i++)
        if (shown[i] < 0 || shown[i] > TRIPS_SHOWN_MAX)
            return dpl_fail(run, DPL_USAGE, "a report draws 0 to %d trips, not %d", TRIPS_SHOWN_MAX,
                            shown[i]);
    return DPL_OK;
}

/* PRIVACY: attacks were scored on real trips, and the ledger is its holder's own. */
static enum dpl_status read_private_parts(struct dpl_run *run, struct report *r) {
    const struct dpl_report_options *options = r->options;
    if (!r->real && (options->attack || options->ledger || options->real_trips_shown))
        return dpl_fail(run, DPL_REFUSED,
                        "attacks, the ledger and real trips have no place in a public report");
    if (options->attack) DPL_TRY(dpl_attacks_read(run, options->attack, &r->attacks));
    return options->ledger ? dpl_attacks_ledger_read(run, options->ledger, &r->ledger) : DPL_OK;
}

static enum dpl_status check_sets(struct dpl_run *run, struct report *r) {
    size_t n = 0;
    if (r->n < 1 || r->n > SETS_MAX)
        return dpl_fail(run, DPL_USAGE, "a report shows 1 to %d synthetic sets, not %zu", SETS_MAX,
                        r->n);
    DPL_TRY(check_options(run, r->options));
    if (r->real) r->trips[n++] = r->real->trips;
    for (size_t k = 0; k < r->n; k++) {
        const struct dpl_report_set *set = &r->synthetic[k];
        if (set->trips->n_trips == 0)
            return dpl_fail(run, DPL_BAD_DATA, "%s holds no trips in the region: nothing to show",
                            set->name);
        r->trips[n++] = set->trips;
        if (!same_grid(&r->trips[0]->grid, &set->trips->grid))
            return dpl_fail(run, DPL_USAGE,
                            "%s is on another grid than the others; read all with the same box, "
                            "cell and periods",
                            set->name);
    }
    return DPL_OK;
}

/* The real side is asked for by dpl_evaluate alone, which checks it. */
static enum dpl_status evaluate(struct dpl_run *run, struct report *r) {
    struct dpl_eval_synthetic candidate[SETS_MAX] = {{0}};
    if (!r->real) return DPL_OK;
    for (size_t k = 0; k < r->n; k++)
        candidate[k] = (struct dpl_eval_synthetic){.name = r->synthetic[k].name,
                                                   .trips = r->synthetic[k].trips,
                                                   .facts = r->synthetic[k].facts};
    struct dpl_eval_options options = r->eval;
    options.real_facts = r->real->facts;
    return dpl_evaluate(run, r->real->trips, candidate, r->n, &options, &r->evaluation);
}

/* Public maps: the backdrop, and districts. */
static enum dpl_status read_maps(struct dpl_run *run, const struct dpl_grid *grid,
                                 struct report *r) {
    const struct dpl_report_options *options = r->options;
    if (options->basemap) DPL_TRY(dpl_basemap_read(run, options->basemap, grid, &r->basemap));
    return options->zones ? dpl_zones_read(run, options->zones, grid, &r->zones) : DPL_OK;
}

static void free_maps(struct report *r) {
    dpl_basemap_free(&r->basemap);
    dpl_zones_free(&r->zones);
}

enum dpl_status dpl_report_check(struct dpl_run *run, const struct dpl_area *area,
                                 const struct dpl_report_options *given, const char *path) {
    struct dpl_report_options options = dpl_report_defaults();
    struct report r = {.options = &options};
    struct dpl_grid grid;
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "report", given, &options));
    DPL_TRY(check_options(run, &options));
    const struct dpl_file_options how = file_options(options.overwrite, false);
    DPL_TRY(dpl_file_check(run, path, &how));
    DPL_TRY(dpl_grid_make(run, area, &grid));
    enum dpl_status status = read_maps(run, &grid, &r);
    free_maps(&r);
    return status;
}

enum dpl_status dpl_report(struct dpl_run *run, const struct dpl_report_set *real,
                           const struct dpl_report_set *synthetic, size_t n_synthetic,
                           const struct dpl_report_options *options, const char *path) {
    struct dpl_report_options chosen = dpl_report_defaults();
    struct report r = {.real = real,
                       .synthetic = synthetic,
                       .n = n_synthetic,
                       .options = &chosen,
                       .eval = dpl_eval_defaults()};
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(dpl_options_take(run, "report", options, &chosen));
    DPL_TRY(dpl_options_take(run, "eval", chosen.eval, &r.eval));
    DPL_GO(check_sets(run, &r));
    DPL_GO(check_certificates(run, &r));
    DPL_GO(read_private_parts(run, &r));
    DPL_GO(read_maps(run, &r.trips[0]->grid, &r));
    DPL_GO(evaluate(run, &r));
    DPL_GO(write_page(run, &r, path));
done:
    for (size_t k = 0; k < n_synthetic && k < SETS_MAX; k++) json_decref(r.certificate[k]);
    json_decref(r.attacks);
    json_decref(r.ledger);
    dpl_free(r.verdict);
    dpl_evaluation_free(r.evaluation);
    free_maps(&r);
    return status;
}
