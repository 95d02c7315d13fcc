/* What `dploc attack --json` found, and what the ledger says.
 *
 * PRIVACY: attacks are scored on real trips, and a ledger is its holder's own: both are NOT PRIVATE
 * and get into a report with real trips only (report.c refuses them for a public one). */
#include "report/attacks.h"

#include <string.h>

static void write_members(const json_t *object, const char *const *names, struct island *island) {
    for (; *names; names++) {
        const json_t *value = json_object_get(object, *names);
        if (value) dpl_island_key(island, *names), dpl_island_json(island, value);
    }
}

static enum dpl_status check_attack(struct dpl_run *run, const json_t *attack, size_t i) {
    static const char *const NUMBERS[] = {"auc", "tpr_at_fpr_1e2", "bound_at_1e2"};
    if (!json_is_string(json_object_get(attack, "name")) ||
        !json_is_string(json_object_get(attack, "synthetic")))
        return dpl_fail(
            run, DPL_BAD_DATA,
            "`report.attack`: attacks[%zu] has no \"name\" and \"synthetic\" (it takes the JSON of "
            "'dploc attack')",
            i);
    for (size_t n = 0; n < sizeof NUMBERS / sizeof *NUMBERS; n++) {
        const json_t *value = json_object_get(attack, NUMBERS[n]);
        if (!json_is_number(value) && !json_is_null(value))
            return dpl_fail(
                run, DPL_BAD_DATA,
                "`report.attack`: attacks[%zu].%s is not a number (it takes the JSON of "
                "'dploc attack')",
                i, NUMBERS[n]);
    }
    return DPL_OK;
}

enum dpl_status dpl_attacks_read(struct dpl_run *run, const char *text, json_t **attacks) {
    json_error_t error;
    size_t i;
    json_t *attack, *made = json_loads(text, 0, &error), *list = json_object_get(made, "attacks");
    enum dpl_status status = DPL_OK;
    if (!made)
        return dpl_fail(
            run, DPL_BAD_DATA,
            "`report.attack`, line %d: not JSON: %s (it takes the JSON of 'dploc attack')",
            error.line, error.text);
    if (!json_is_array(list))
        status =
            dpl_fail(run, DPL_BAD_DATA,
                     "`report.attack` has no \"attacks\" (it takes the JSON of 'dploc attack')");
    json_array_foreach(list, i, attack) {
        if (status == DPL_OK) status = check_attack(run, attack, i);
    }
    if (status == DPL_OK)
        *attacks = made;
    else
        json_decref(made);
    return status;
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void dpl_attacks_write(const json_t *attacks, struct island *island) {
    static const char *const HEAD[] = {"split", "shadow", "unit", "epsilon", "delta", NULL};
    static const char *const EACH[] = {"name",
                                       "meaning",
                                       "auc",
                                       "tpr_at_fpr_1e2",
                                       "tpr_at_fpr_1e3",
                                       "bound_at_1e2",
                                       "bound_at_1e3",
                                       "control_auc",
                                       "control_inf_auc",
                                       "sanity_only",
                                       "exceeds",
                                       "members",
                                       "non_members",
                                       "roc",
                                       NULL};
    size_t i;
    json_t *attack;
    dpl_island_key(island, "attack");
    dpl_island_open(island, '{');
    write_members(attacks, HEAD, island);
    dpl_island_key(island, "attacks");
    dpl_island_open(island, '[');
    json_array_foreach(json_object_get(attacks, "attacks"), i, attack) {
        dpl_island_open(island, '{');
        dpl_island_key(island, "synthetic");
        dpl_island_text(island, name_of(json_string_value(json_object_get(attack, "synthetic"))));
        write_members(attack, EACH, island);
        dpl_island_close(island, '}');
    }
    dpl_island_close(island, ']');
    dpl_island_close(island, '}');
}

enum dpl_status dpl_attacks_ledger_read(struct dpl_run *run, const char *text, json_t **ledger) {
    json_error_t error;
    *ledger = json_loads(text, 0, &error);
    return json_is_number(json_object_get(*ledger, "releases"))
               ? DPL_OK
               : dpl_fail(run, DPL_BAD_DATA,
                          "`report.ledger` is not the JSON of dpl_ledger_summary");
}

void dpl_attacks_ledger_write(const json_t *ledger, struct island *island) {
    static const char *const NAMES[] = {"unit",          "epsilon",     "delta", "releases",
                                        "total_epsilon", "total_delta", NULL};
    dpl_island_key(island, "ledger");
    dpl_island_open(island, '{');
    write_members(ledger, NAMES, island);
    dpl_island_close(island, '}');
}
