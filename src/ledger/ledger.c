/* The ledger: what the lines of a chain (chain.h) mean.
 *
 *     ledger   id of the data set, unit, name if it has one     the first line, once
 *     data     fingerprint, number of rows and sketch           before the first use of those rows
 *     limit    total epsilon and delta                          the last one rules
 *     charge   release, part, epsilon, delta, its events        what the part may cost
 *     reserve  release, part, one event                         before that event's first noise
 *
 * A charge counts from the moment one of its mechanisms is reserved; one without reservations cost
 * nothing, since noise is drawn after a reservation only. Once one is reserved the whole charge
 * counts, whether or not the rest followed: a prefix of a fixed plan is post-processing of the
 * plan.
 *
 * PRIVACY: charges add up: total epsilon = sum of epsilons, total delta = sum of deltas. Whoever
 * starts the second run has seen the first one's output, so its parameters may depend on it; basic
 * composition holds for such adaptively chosen (epsilon, delta) (Rogers, Roth, Ullman, Vadhan
 * 2016), whereas privacy loss distributions may be convolved only for parameters fixed beforehand,
 * as within one plan.
 *
 * Every line, whether read or just written, goes through apply(): memory never knows more than the
 * file. */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/chain.h"
#include "ledger/datasets.h"
#include "base/digest.h"
#include "base/file.h" // defines: dpl_state_directory
#include "base/json.h"
#include "account/event.h"

enum {
    OLD_FORMAT = 1,
    FORMAT = 2,
    RELEASE_BYTES = 8,
    RELEASE_HEX = 2 * RELEASE_BYTES + 1,
    PATH_ROOM = DPL_PATH_ROOM
};

static const double ROUNDING = 1e-9; // relative: sums of decimal fractions may pass a limit by this

struct charge {
    char release[RELEASE_HEX], part[DPL_EVENT_NAME];
    double epsilon, delta;
    json_t *events;  // borrowed from the chain's line
    size_t reserved; // mechanisms of it
    bool now;        // charged, or confirmed, in this opening
};

struct reservation {
    size_t charge;
    struct dpl_event event;
    bool now;
};

struct dpl_ledger {
    struct dpl_run *run;
    char path[PATH_ROOM];
    struct dpl_chain *chain;
    int64_t format;
    char id[DPL_DIGEST_HEX], name[DPL_DATASET_NAME], release[RELEASE_HEX];
    enum dpl_unit unit;
    json_t **data; // (n_data) its "data" lines, borrowed from the chain
    size_t n_data, data_room;
    double limit_epsilon, limit_delta;
    struct charge *charges;
    size_t n_charges, charges_room;
    struct reservation *reservations;
    size_t n_reservations, reservations_room;
};

struct dpl_ledger_options dpl_ledger_defaults(void) {
    return (struct dpl_ledger_options){0};
}

static const char *const UNITS[] = {[DPL_UNIT_TRIP] = "trip", [DPL_UNIT_USER] = "user"};

const char *dpl_unit_name(enum dpl_unit unit) { return UNITS[unit]; }

/* ---- what a line means ---- */

static enum dpl_status apply_header(struct dpl_ledger *ledger, json_t *line) {
    const char *id, *unit, *name = "";
    uint8_t digest[DPL_DIGEST];
    DPL_TRY(dpl_whole_from_json(ledger->run, ledger->path, line, "format", &ledger->format));
    bool old = ledger->format == OLD_FORMAT;
    DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, old ? "fingerprint" : "id", &id));
    DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, "unit", &unit));
    if (json_object_get(line, "name"))
        DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, "name", &name));
    bool user = !strcmp(unit, "user");
    if ((!old && ledger->format != FORMAT) || !dpl_unhex(id, digest, sizeof digest) ||
        (!user && strcmp(unit, "trip")) || strlen(name) >= sizeof ledger->name)
        return dpl_fail(ledger->run, DPL_BAD_DATA, "%s: not a ledger this version can read",
                        ledger->path);
    strcpy(ledger->id, id);
    strcpy(ledger->name, name);
    ledger->unit = user ? DPL_UNIT_USER : DPL_UNIT_TRIP;
    return DPL_OK;
}

static enum dpl_status apply_data(struct dpl_ledger *ledger, json_t *line) {
    const char *fingerprint;
    struct dpl_identity identity;
    DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, "fingerprint", &fingerprint));
    DPL_TRY(dpl_data_from_json(ledger->run, ledger->path, line, &identity));
    DPL_TRY(dpl_grow(ledger->run, &ledger->data, &ledger->data_room, ledger->n_data + 1,
                     sizeof *ledger->data));
    ledger->data[ledger->n_data++] = line;
    return DPL_OK;
}

static enum dpl_status read_cost(struct dpl_ledger *ledger, json_t *line, double *epsilon,
                                 double *delta) {
    DPL_TRY(dpl_number_from_json(ledger->run, ledger->path, line, "epsilon", epsilon));
    DPL_TRY(dpl_number_from_json(ledger->run, ledger->path, line, "delta", delta));
    if (!(*epsilon >= 0) || !(*delta >= 0))
        return dpl_fail(ledger->run, DPL_BAD_DATA, "%s: a negative cost", ledger->path);
    return DPL_OK;
}

static enum dpl_status read_part(struct dpl_ledger *ledger, json_t *line, const char **release,
                                 const char **part) {
    DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, "release", release));
    DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, "part", part));
    if (strlen(*release) >= RELEASE_HEX || strlen(*part) >= DPL_EVENT_NAME)
        return dpl_fail(ledger->run, DPL_BAD_DATA, "%s: a name is too long", ledger->path);
    return DPL_OK;
}

static struct charge *find_charge(const struct dpl_ledger *ledger, const char *release,
                                  const char *part) {
    for (size_t i = 0; i < ledger->n_charges; i++)
        if (!strcmp(ledger->charges[i].release, release) && !strcmp(ledger->charges[i].part, part))
            return &ledger->charges[i];
    return NULL;
}

static unsigned leave_of(const struct charge *charge) {
    return isinf(charge->epsilon) ? DPL_EVENT_NOISELESS : DPL_EVENT_STRICT;
}

static enum dpl_status apply_charge(struct dpl_ledger *ledger, json_t *line) {
    const char *release, *part;
    struct charge charge = {.events = json_object_get(line, "events")};
    DPL_TRY(read_part(ledger, line, &release, &part));
    DPL_TRY(read_cost(ledger, line, &charge.epsilon, &charge.delta));
    if (!json_is_array(charge.events) || find_charge(ledger, release, part))
        return dpl_fail(ledger->run, DPL_BAD_DATA,
                        "%s: a charge without events, or a second one of the same part",
                        ledger->path);
    strcpy(charge.release, release);
    strcpy(charge.part, part);
    size_t i;
    json_t *item;
    struct dpl_event event;
    json_array_foreach(charge.events, i, item) DPL_TRY(dpl_event_from_json(
        ledger->run, ledger->path, item, leave_of(&charge) | DPL_EVENT_OPEN, &event));
    DPL_TRY(dpl_grow(ledger->run, &ledger->charges, &ledger->charges_room, ledger->n_charges + 1,
                     sizeof charge));
    ledger->charges[ledger->n_charges++] = charge;
    return DPL_OK;
}

static enum dpl_status apply_reserve(struct dpl_ledger *ledger, json_t *line) {
    const char *release, *part;
    struct reservation reservation = {0};
    DPL_TRY(read_part(ledger, line, &release, &part));
    struct charge *charge = find_charge(ledger, release, part);
    if (!charge)
        return dpl_fail(ledger->run, DPL_BAD_DATA, "%s: a reservation without its charge",
                        ledger->path);
    DPL_TRY(
        dpl_event_from_json(ledger->run, ledger->path, line, leave_of(charge), &reservation.event));
    reservation.charge = (size_t)(charge - ledger->charges);
    DPL_TRY(dpl_grow(ledger->run, &ledger->reservations, &ledger->reservations_room,
                     ledger->n_reservations + 1, sizeof reservation));
    ledger->reservations[ledger->n_reservations++] = reservation;
    charge->reserved++;
    return DPL_OK;
}

static enum dpl_status apply(struct dpl_ledger *ledger, json_t *line, bool first) {
    const char *type;
    DPL_TRY(dpl_text_from_json(ledger->run, ledger->path, line, "type", &type));
    if (first != !strcmp(type, "ledger"))
        return dpl_fail(ledger->run, DPL_BAD_DATA, "%s: not a ledger", ledger->path);
    if (first) return apply_header(ledger, line);
    if (!strcmp(type, "limit"))
        return read_cost(ledger, line, &ledger->limit_epsilon, &ledger->limit_delta);
    if (!strcmp(type, "data")) return apply_data(ledger, line);
    if (!strcmp(type, "charge")) return apply_charge(ledger, line);
    if (!strcmp(type, "reserve")) return apply_reserve(ledger, line);
    return dpl_fail(ledger->run, DPL_BAD_DATA,
                    "%s: a line of type '%.40s', which this version does not know", ledger->path,
                    type);
}

/* Takes the object; makes the line durable, then lets it count. */
static enum dpl_status append(struct dpl_ledger *ledger, json_t *object) {
    size_t before = dpl_chain_lines(ledger->chain);
    DPL_TRY(dpl_chain_append(ledger->chain, object));
    return apply(ledger, dpl_chain_line(ledger->chain, before), before == 0);
}

/* ---- totals and limits ---- */

struct dpl_ledger_totals dpl_ledger_totals(const struct dpl_ledger *ledger) {
    struct dpl_ledger_totals totals = {.limit_epsilon = ledger->limit_epsilon,
                                       .limit_delta = ledger->limit_delta,
                                       .named = ledger->name[0] != '\0'};
    for (size_t i = 0; i < ledger->n_data; i++)
        totals.new_data |= json_is_true(json_object_get(ledger->data[i], "new_data"));
    for (size_t i = 0; i < ledger->n_charges; i++) {
        const struct charge *charge = &ledger->charges[i];
        if (!charge->reserved) continue;
        totals.epsilon += charge->epsilon;
        totals.delta += charge->delta;
        totals.mechanisms += charge->reserved;
        bool counted = false; // by an earlier part of the same release
        for (size_t j = 0; j < i && !counted; j++)
            counted =
                ledger->charges[j].reserved && !strcmp(ledger->charges[j].release, charge->release);
        totals.releases += !counted;
    }
    return totals;
}

const char *dpl_ledger_release(const struct dpl_ledger *ledger) { return ledger->release; }

/* Refuses when (epsilon, delta) on top of what counts now (but for the charge `but`) exceeds a
 * limit. */
static enum dpl_status within_limits(struct dpl_ledger *ledger, double epsilon, double delta,
                                     const struct charge *but) {
    double total_epsilon = epsilon, total_delta = delta;
    bool begun = false; // this release has drawn noise already
    for (size_t i = 0; i < ledger->n_charges; i++) {
        const struct charge *charge = &ledger->charges[i];
        begun |= charge->reserved && !strcmp(charge->release, ledger->release);
        if (charge == but || !(charge->reserved || charge->now)) continue;
        total_epsilon += charge->epsilon;
        total_delta += charge->delta;
    }
    if (total_epsilon <= ledger->limit_epsilon * (1 + ROUNDING) &&
        total_delta <= ledger->limit_delta * (1 + ROUNDING))
        return DPL_OK;
    return dpl_fail(
        ledger->run, DPL_REFUSED,
        "%s: this would bring the data set to epsilon %.6g, delta %.3g, above its limit of %.6g, "
        "%.3g; %s "
        "(ask for less, or raise `fit.total_epsilon` or `fit.total_delta` if that is what you "
        "promised)",
        ledger->path, total_epsilon, total_delta, ledger->limit_epsilon, ledger->limit_delta,
        begun ? "what this release has charged so far stays spent" : "nothing was spent");
}

enum dpl_status dpl_ledger_afford(struct dpl_ledger *ledger, double epsilon, double delta) {
    if (!ledger) return DPL_OK;
    // A resumed release has its charges in the ledger already: what it asks for includes them.
    for (size_t i = 0; i < ledger->n_charges; i++) {
        const struct charge *charge = &ledger->charges[i];
        if (strcmp(charge->release, ledger->release) || !charge->reserved || isinf(charge->epsilon))
            continue;
        epsilon = fmax(0, epsilon - charge->epsilon);
        delta = fmax(0, delta - charge->delta);
    }
    return within_limits(ledger, epsilon, delta, NULL);
}

/* ---- charge and reserve ---- */

static json_t *events_to_json(const struct dpl_event *events, size_t n) {
    json_t *array = json_array();
    for (size_t i = 0; array && i < n; i++)
        if (json_array_append_new(array, dpl_event_to_json(&events[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* A resumed release charges the same part again: it must be the same, to the last event. */
static enum dpl_status confirm_charge(struct dpl_ledger *ledger, struct charge *charge,
                                      double epsilon, double delta, json_t *events) {
    bool same = events && dpl_near(epsilon, charge->epsilon, ROUNDING) &&
                dpl_near(delta, charge->delta, ROUNDING) && json_equal(events, charge->events);
    json_decref(events);
    if (charge->now)
        return dpl_fail(ledger->run, DPL_REFUSED, "%s: '%s' was charged already in this release",
                        ledger->path, charge->part);
    if (!same)
        return dpl_fail(ledger->run, DPL_REFUSED,
                        "%s: release %s had charged something else for '%s'; going on with other "
                        "options is a new release",
                        ledger->path, charge->release, charge->part);
    if (!charge->reserved) DPL_TRY(within_limits(ledger, epsilon, delta, charge));
    charge->now = true;
    return DPL_OK;
}

enum dpl_status dpl_ledger_charge(struct dpl_ledger *ledger, const char *part, double epsilon,
                                  double delta, const struct dpl_event *events, size_t n) {
    if (!ledger) return DPL_OK;
    if (!(epsilon >= 0) || !(delta >= 0 && delta < 1))
        return dpl_fail(ledger->run, DPL_USAGE, "a charge needs epsilon >= 0 and delta in [0, 1)");
    unsigned leave = DPL_EVENT_OPEN | (isinf(epsilon) ? DPL_EVENT_NOISELESS : 0);
    for (size_t i = 0; i < n; i++)
        DPL_TRY(dpl_event_check(ledger->run, ledger->path, &events[i], leave));
    json_t *list = events_to_json(events, n);
    struct charge *known = find_charge(ledger, ledger->release, part);
    if (known) return confirm_charge(ledger, known, epsilon, delta, list);
    enum dpl_status status = within_limits(ledger, epsilon, delta, NULL);
    if (status != DPL_OK) {
        json_decref(list);
        return status;
    }
    DPL_TRY(append(ledger, json_pack("{s:s, s:s, s:s, s:o, s:f, s:o}", "type", "charge", "release",
                                     ledger->release, "part", part, "epsilon",
                                     dpl_number_to_json(epsilon), "delta", delta, "events", list)));
    ledger->charges[ledger->n_charges - 1].now = true;
    return DPL_OK;
}

/* The event must be one that was charged; a sensitivity left open there may be any. */
static bool was_charged(const struct charge *charge, const struct dpl_event *event,
                        struct dpl_run *run) {
    size_t i;
    json_t *item;
    json_array_foreach(charge->events, i, item) {
        struct dpl_event charged;
        if (dpl_event_from_json(run, "charge", item, leave_of(charge) | DPL_EVENT_OPEN, &charged) !=
            DPL_OK)
            return false;
        if (!(charged.sensitivity > 0)) charged.sensitivity = event->sensitivity;
        if (dpl_event_same(&charged, event)) return true;
    }
    return false;
}

static struct reservation *find_reservation(const struct dpl_ledger *ledger,
                                            const struct charge *charge, const char *name) {
    for (size_t i = 0; i < ledger->n_reservations; i++) {
        struct reservation *reservation = &ledger->reservations[i];
        if (&ledger->charges[reservation->charge] == charge &&
            !strcmp(reservation->event.name, name))
            return reservation;
    }
    return NULL;
}

enum dpl_status dpl_ledger_reserve(struct dpl_ledger *ledger, const char *part,
                                   const struct dpl_event *event) {
    if (!ledger) return DPL_OK;
    struct charge *charge = find_charge(ledger, ledger->release, part);
    if (!charge || !charge->now)
        return dpl_fail(ledger->run, DPL_REFUSED, "%s: '%s' was not charged", ledger->path, part);
    DPL_TRY(dpl_event_check(ledger->run, ledger->path, event, leave_of(charge)));
    if (!was_charged(charge, event, ledger->run))
        return dpl_fail(ledger->run, DPL_REFUSED,
                        "%s: mechanism '%s' is not one of those charged for '%s'", ledger->path,
                        event->name, part);
    struct reservation *earlier = find_reservation(ledger, charge, event->name);
    if (earlier) {
        if (earlier->now || !dpl_event_same(&earlier->event, event))
            return dpl_fail(ledger->run, DPL_REFUSED,
                            "%s: mechanism '%s' was reserved already; its noise may be drawn once",
                            ledger->path, event->name);
        earlier->now =
            true; // a resumed release replays the same noise, bit for bit: nothing new is spent
        return DPL_OK;
    }
    json_t *line = json_pack("{s:s, s:s, s:s}", "type", "reserve", "release", ledger->release,
                             "part", part),
           *members = dpl_event_to_json(event);
    if (!line || !members || json_object_update(line, members) != 0) {
        json_decref(line);
        json_decref(members);
        return dpl_fail(ledger->run, DPL_SYSTEM, "out of memory");
    }
    json_decref(members);
    DPL_TRY(append(ledger, line));
    ledger->reservations[ledger->n_reservations - 1].now = true;
    return DPL_OK;
}

bool dpl_ledger_knows(const struct dpl_ledger *ledger, const char *release) {
    for (size_t i = 0; i < ledger->n_charges; i++)
        if (!strcmp(ledger->charges[i].release, release)) return true;
    return false;
}

bool dpl_ledger_covers(const struct dpl_ledger *ledger, const char *release,
                       const struct dpl_event *event) {
    for (size_t i = 0; i < ledger->n_reservations; i++) {
        const struct reservation *reservation = &ledger->reservations[i];
        if (!strcmp(ledger->charges[reservation->charge].release, release) &&
            dpl_event_same(&reservation->event, event))
            return true;
    }
    return false;
}

/* ---- places ---- */

static enum dpl_status state_directory(struct dpl_run *run, char folder[PATH_ROOM]) {
    return dpl_state_directory(run, "ledgers", "use `fit.ledger` FILE", folder);
}

/* Made whole under another name and then linked, so that two first runs end up with the same key.
 */
static enum dpl_status make_key(struct dpl_run *run, const char *path) {
    uint8_t key[DPL_DIGEST], tag[RELEASE_BYTES];
    char aside[PATH_ROOM + 32], hex[RELEASE_HEX];
    enum dpl_status status;
    int fd = -1;
    DPL_TRY(dpl_secret_bytes(run, tag, sizeof tag));
    dpl_hex(tag, sizeof tag, hex);
    snprintf(aside, sizeof aside, "%s.%s", path, hex);
    DPL_GO(dpl_secret_bytes(run, key, sizeof key));
    fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || !dpl_write_whole(fd, key, sizeof key) || fsync(fd) != 0 ||
        (link(aside, path) != 0 && errno != EEXIST))
        status = dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot make the key of the ledgers", path);
done:
    if (fd >= 0) close(fd);
    unlink(aside);
    dpl_wipe(key, sizeof key);
    return status;
}

enum dpl_status dpl_ledger_key(struct dpl_run *run, const char *ledger_path, uint8_t key[32]) {
    char folder[PATH_ROOM], path[PATH_ROOM + 8];
    dpl_run_begin(run);
    if (!ledger_path) DPL_TRY(state_directory(run, folder));
    if (ledger_path && strlen(ledger_path) >= PATH_ROOM - 32)
        return dpl_fail(run, DPL_USAGE, "the name of the ledger is too long");
    if (ledger_path)
        snprintf(path, sizeof path, "%s.key", ledger_path);
    else
        snprintf(path, sizeof path, "%s/key", folder);
    DPL_TRY(dpl_file_guarded(run, path));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        DPL_TRY(make_key(run, path));
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    if (fd < 0)
        return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read the key of the ledgers", path);
    uint8_t bytes[DPL_DIGEST + 1];
    ssize_t got = dpl_read_whole(fd, bytes, sizeof bytes);
    close(fd);
    if (got < 0)
        return dpl_fail_errno(run, DPL_SYSTEM, "%s: cannot read the key of the ledgers", path);
    if (got != DPL_DIGEST)
        return dpl_fail(run, DPL_REFUSED,
                        "%s: not a key of 32 bytes; restore it from a backup, or the ledgers made "
                        "with it cannot be told apart",
                        path);
    memcpy(key, bytes, DPL_DIGEST);
    dpl_wipe(bytes, sizeof bytes);
    return DPL_OK;
}

/* ---- open, close ---- */

static enum dpl_status load(struct dpl_ledger *ledger) {
    for (size_t i = 0; i < dpl_chain_lines(ledger->chain); i++) {
        enum dpl_status status = apply(ledger, dpl_chain_line(ledger->chain, i), i == 0);
        if (status == DPL_BAD_DATA)
            return DPL_REFUSED; // the chain holds, but it does not say what was spent
        if (status != DPL_OK) return status;
    }
    return DPL_OK;
}

static enum dpl_status open_chain(struct dpl_run *run, const char *path, bool read_only,
                                  struct dpl_ledger **made) {
    struct dpl_ledger *ledger = dpl_alloc(run, 1, sizeof *ledger);
    if (!ledger) return DPL_SYSTEM;
    enum dpl_status status;
    ledger->run = run;
    ledger->limit_epsilon = ledger->limit_delta = INFINITY;
    snprintf(ledger->path, sizeof ledger->path, "%s", path);
    DPL_GO(dpl_chain_open(run, path, read_only, &ledger->chain));
    DPL_GO(load(ledger));
    *made = ledger;
    ledger = NULL;
done:
    dpl_ledger_close(ledger);
    return status;
}

/* The data set as this run sees it. */
struct subject {
    const struct dpl_identity *identity;
    char fingerprint[DPL_DIGEST_HEX], id[DPL_DIGEST_HEX]; // id: of the rows, or of the name
    const char *name;                                     // NULL: none
    bool new_data; // it overlaps another, and is said to be new
};

static enum dpl_status refuse_other(struct dpl_ledger *ledger, const struct subject *subject) {
    if (ledger->name[0])
        return dpl_fail(
            ledger->run, DPL_REFUSED,
            "%s: the ledger of the data set named '%s'; give `fit.dataset` '%s' to use it",
            ledger->path, ledger->name, ledger->name);
    return dpl_fail(ledger->run, DPL_REFUSED,
                    "%s: the ledger of another data set%s; leave out `fit.ledger` to use the data "
                    "set's own, or keep data that grows under one name (`fit.dataset`)",
                    ledger->path,
                    subject->name ? ", which has no name"
                                  : " (or of the same one with rows changed, or made with another "
                                    "key)");
}

/* Whether the noise of the charge was put on units' own reports. */
static bool is_local(const struct charge *charge) {
    const char *kind =
        json_string_value(json_object_get(json_array_get(charge->events, 0), "kind"));
    return kind && !strcmp(kind, dpl_event_kind_name(DPL_EVENT_LOCAL));
}

/* PRIVACY: who knows the number of reports knows who was added: in the sum of both, epsilon would
 * hold for neither kind of neighbours. The number of units is drawn in either model. */
static enum dpl_status check_model(struct dpl_ledger *ledger, bool local) {
    for (size_t i = 0; i < ledger->n_charges; i++) {
        const struct charge *charge = &ledger->charges[i];
        if (!charge->reserved || !strcmp(charge->part, "size") || is_local(charge) == local)
            continue;
        return dpl_fail(ledger->run, DPL_REFUSED,
                        "%s: this ledger counts releases that protect one unit %s; releases that "
                        "protect one unit %s cannot be added to them. Use a `fit.ledger` FILE of "
                        "its own, and state both guarantees beside both releases",
                        ledger->path, local ? "added or removed" : "replaced (the local model)",
                        local ? "replaced (the local model)" : "added or removed");
    }
    return DPL_OK;
}

/* First line of a new ledger; of an old one, the data set and unit must be the same. */
static enum dpl_status claim(struct dpl_ledger *ledger, const struct subject *subject,
                             enum dpl_unit unit) {
    if (dpl_chain_lines(ledger->chain) == 0)
        return append(ledger, json_pack("{s:s, s:i, s:s, s:s, s:s*}", "type", "ledger", "format",
                                        FORMAT, "id", subject->id, "unit", dpl_unit_name(unit),
                                        "name", subject->name));
    if (ledger->format == OLD_FORMAT)
        return dpl_fail(
            ledger->run, DPL_REFUSED,
            "%s: a ledger of an earlier version, which knew a data set by its bytes, so "
            "that it cannot be told whether this data is it. 'dploc inspect' shows what "
            "was spent; begin a new ledger and set its limits (`fit.total_epsilon`) to what "
            "is left",
            ledger->path);
    if (strcmp(subject->id, ledger->id)) return refuse_other(ledger, subject);
    if (unit != ledger->unit)
        return dpl_fail(ledger->run, DPL_REFUSED,
                        "%s: this ledger counts releases that protect a %s; releases that protect "
                        "a %s cannot be added to them. Use a `fit.ledger` FILE of "
                        "its own, and state both guarantees beside both releases",
                        ledger->path, dpl_unit_name(ledger->unit), dpl_unit_name(unit));
    return DPL_OK;
}

/* PRIVACY: before the first noise on these rows, so that data which overlaps them finds them. */
static enum dpl_status record_data(struct dpl_ledger *ledger, const struct subject *subject) {
    for (size_t i = 0; i < ledger->n_data; i++)
        if (!strcmp(json_string_value(json_object_get(ledger->data[i], "fingerprint")),
                    subject->fingerprint))
            return DPL_OK;
    return append(ledger,
                  dpl_data_to_json(subject->fingerprint, subject->identity, subject->new_data));
}

static enum dpl_status set_limits(struct dpl_ledger *ledger,
                                  const struct dpl_ledger_options *options) {
    double epsilon = options->total_epsilon > 0 ? options->total_epsilon : ledger->limit_epsilon;
    double delta = options->total_delta > 0 ? options->total_delta : ledger->limit_delta;
    bool same_epsilon = !(epsilon < ledger->limit_epsilon) && !(epsilon > ledger->limit_epsilon);
    bool same_delta = !(delta < ledger->limit_delta) && !(delta > ledger->limit_delta);
    if (same_epsilon && same_delta) return DPL_OK;
    return append(ledger,
                  json_pack("{s:s, s:o, s:o}", "type", "limit", "epsilon",
                            dpl_number_to_json(epsilon), "delta", dpl_number_to_json(delta)));
}

static enum dpl_status set_release(struct dpl_ledger *ledger, const char *resume) {
    if (!resume) {
        uint8_t bytes[RELEASE_BYTES];
        DPL_TRY(dpl_secret_bytes(ledger->run, bytes, sizeof bytes));
        dpl_hex(bytes, sizeof bytes, ledger->release);
        return DPL_OK;
    }
    for (size_t i = 0; i < ledger->n_charges; i++) {
        if (strcmp(ledger->charges[i].release, resume)) continue;
        strcpy(ledger->release, ledger->charges[i].release);
        return DPL_OK;
    }
    return dpl_fail(ledger->run, DPL_REFUSED, "%s: holds no release '%.40s' to go on with",
                    ledger->path, resume);
}

static enum dpl_status name_subject(struct dpl_run *run, struct subject *subject) {
    static const char PURPOSE[] = "dploc data set named ";
    char text[sizeof PURPOSE + DPL_DATASET_NAME];
    DPL_TRY(dpl_identity_hex(run, subject->identity, subject->fingerprint));
    strcpy(subject->id, subject->fingerprint);
    if (!subject->name) return DPL_OK;
    json_t *utf8 = json_string(subject->name);
    json_decref(utf8);
    if (!utf8 || !subject->name[0] || strlen(subject->name) >= DPL_DATASET_NAME)
        return dpl_fail(run, DPL_USAGE, "`fit.dataset` takes a name of 1 to %d bytes of UTF-8 text",
                        DPL_DATASET_NAME - 1);
    int length = snprintf(text, sizeof text, "%s%s", PURPOSE, subject->name);
    return dpl_sha256_hex(run, text, (size_t)length, subject->id);
}

static enum dpl_status place_in(struct dpl_run *run, const char *folder, const char *id, char *path,
                                size_t size) {
    if (snprintf(path, size, "%s/%.32s.ledger", folder, id) < (int)size) return DPL_OK;
    return dpl_fail(run, DPL_SYSTEM, "%.60s...: the name is too long", folder);
}

enum dpl_status dpl_ledger_place(struct dpl_run *run, const char *fingerprint, char *path,
                                 size_t size) {
    char folder[PATH_ROOM];
    dpl_run_begin(run);
    DPL_TRY(state_directory(run, folder));
    return place_in(run, folder, fingerprint, path, size);
}

/* The ledger in the state directory; other data sets there are asked about, before it is made. */
static enum dpl_status find_place(struct dpl_run *run, struct subject *subject, bool new_data,
                                  char place[PATH_ROOM]) {
    char folder[PATH_ROOM], question[DPL_QUESTION];
    DPL_TRY(state_directory(run, folder));
    DPL_TRY(place_in(run, folder, subject->id, place, PATH_ROOM));
    DPL_TRY(dpl_datasets_search(run, folder, place, subject->identity, question));
    subject->new_data = question[0] != '\0';
    if (!subject->new_data || new_data) return DPL_OK;
    return dpl_fail(run, DPL_REFUSED,
                    "%s. If this is other data, or a new version that is to be counted apart, say "
                    "so with `fit.new_data`; the certificate will say so, too. Nothing was spent",
                    question);
}

static enum dpl_status check_limits(struct dpl_run *run, const struct dpl_ledger_options *options) {
    if (!(options->total_epsilon >= 0))
        return dpl_fail(run, DPL_USAGE, "`fit.total_epsilon` takes a number above 0");
    if (!(options->total_delta >= 0 && options->total_delta < 1))
        return dpl_fail(run, DPL_USAGE, "`fit.total_delta` takes a number between 0 and 1");
    return DPL_OK;
}

enum dpl_status dpl_ledger_open(struct dpl_run *run, const char *path,
                                const struct dpl_identity *identity,
                                const struct dpl_ledger_options *options,
                                struct dpl_ledger **made) {
    struct dpl_ledger *ledger = NULL;
    struct subject subject = {.identity = identity, .name = options->dataset};
    char place[PATH_ROOM];
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(check_limits(run, options));
    DPL_TRY(name_subject(run, &subject));
    if (!path) DPL_TRY(find_place(run, &subject, options->new_data, place));
    DPL_TRY(open_chain(run, path ? path : place, false, &ledger));
    DPL_GO(claim(ledger, &subject, options->unit));
    DPL_GO(check_model(ledger, options->local));
    DPL_GO(record_data(ledger, &subject));
    DPL_GO(set_limits(ledger, options));
    DPL_GO(set_release(ledger, options->resume));
    *made = ledger;
    ledger = NULL;
done:
    dpl_ledger_close(ledger);
    return status;
}

void dpl_ledger_close(struct dpl_ledger *ledger) {
    if (!ledger) return;
    dpl_chain_close(ledger->chain);
    dpl_free(ledger->data);
    dpl_free(ledger->charges);
    dpl_free(ledger->reservations);
    dpl_free(ledger);
}

/* ---- what it holds, for people and programs ---- */

bool dpl_ledger_recognise(const char *bytes, size_t length) {
    static const char START[] = "{\"n\":1,\"prev\":\"0000000000000000";
    return length >= sizeof START - 1 && !memcmp(bytes, START, sizeof START - 1);
}

static json_t *reservation_to_json(const struct dpl_ledger *ledger,
                                   const struct reservation *reservation) {
    json_t *object = dpl_event_to_json(&reservation->event);
    const struct charge *charge = &ledger->charges[reservation->charge];
    dpl_json_set(&object, "release", json_string(charge->release));
    return object;
}

static json_t *summary_json(const struct dpl_ledger *ledger) {
    struct dpl_ledger_totals totals = dpl_ledger_totals(ledger);
    json_t *list = json_array();
    for (size_t i = 0; list && i < ledger->n_reservations; i++)
        dpl_json_append(&list, reservation_to_json(ledger, &ledger->reservations[i]));
    return json_pack(
        "{s:s, s:s, s:s*, s:I, s:b, s:o, s:o, s:I, s:o, s:o, s:o}", "format", "ledger", "unit",
        dpl_unit_name(ledger->unit), "dataset", ledger->name[0] ? ledger->name : NULL, "versions",
        (json_int_t)ledger->n_data, "new_data", totals.new_data, "epsilon",
        dpl_number_to_json(totals.epsilon), "delta", dpl_number_to_json(totals.delta), "releases",
        (json_int_t)totals.releases, "total_epsilon",
        isinf(totals.limit_epsilon) ? json_null() : json_real(totals.limit_epsilon), "total_delta",
        isinf(totals.limit_delta) ? json_null() : json_real(totals.limit_delta), "mechanisms",
        list);
}

static void summary_words(const struct dpl_ledger *ledger, FILE *out) {
    struct dpl_ledger_totals totals = dpl_ledger_totals(ledger);
    fprintf(out, "A ledger (its chain of hashes holds). It protects a %s.\n",
            dpl_unit_name(ledger->unit));
    if (ledger->name[0])
        fprintf(out,
                "It counts all that was used under the name '%s': %zu version%s of the data.\n",
                ledger->name, ledger->n_data, ledger->n_data == 1 ? "" : "s");
    if (totals.new_data)
        fprintf(out, "Its data overlapped another data set and was declared new.\n");
    fprintf(out, "Spent by %zu release%s: epsilon %.6g, delta %.3g (sums).\n", totals.releases,
            totals.releases == 1 ? "" : "s", totals.epsilon, totals.delta);
    if (isfinite(totals.limit_epsilon))
        fprintf(out, "Limit of epsilon: %.6g.\n", totals.limit_epsilon);
    if (isfinite(totals.limit_delta)) fprintf(out, "Limit of delta: %.3g.\n", totals.limit_delta);
    for (size_t i = 0; i < ledger->n_charges; i++) {
        const struct charge *charge = &ledger->charges[i];
        fprintf(out, "  release %s, %s: epsilon %.6g, delta %.3g%s\n", charge->release,
                charge->part, charge->epsilon, charge->delta,
                charge->reserved ? "" : " (nothing drawn, not counted)");
        for (size_t j = 0; j < ledger->n_reservations; j++) {
            const struct dpl_event *event = &ledger->reservations[j].event;
            if (ledger->reservations[j].charge != i) continue;
            fprintf(out, "    %-17s %-8s sigma %.6g, sensitivity %.6g", event->name,
                    dpl_event_kind_name(event->kind), event->sigma, event->sensitivity);
            if (event->kind == DPL_EVENT_POISSON)
                fprintf(out, ", rate %.6g, %lld steps", event->rate, (long long)event->steps);
            fputc('\n', out);
        }
    }
}

enum dpl_status dpl_ledger_summary(struct dpl_run *run, const char *path, bool json, char **text) {
    struct dpl_ledger *ledger = NULL;
    char *made = NULL;
    size_t length = 0;
    enum dpl_status status;
    dpl_run_begin(run);
    DPL_TRY(open_chain(run, path, true, &ledger));
    if (dpl_chain_lines(ledger->chain) == 0) {
        dpl_ledger_close(ledger);
        return dpl_fail(run, DPL_BAD_DATA, "%s: an empty file, not a ledger", path);
    }
    if (json) {
        json_t *object = summary_json(ledger);
        made = object ? dpl_json_dump(object, JSON_INDENT(2)) : NULL;
        json_decref(object);
        length = made ? strlen(made) : 0;
    } else {
        FILE *out = open_memstream(&made, &length);
        if (out) {
            summary_words(ledger, out);
            if (fclose(out) != 0) length = 0;
        }
    }
    char *copy = length ? dpl_alloc(run, length + 1, 1) : NULL;
    status = copy ? DPL_OK : dpl_fail(run, DPL_SYSTEM, "out of memory");
    if (copy) *text = memcpy(copy, made, length);
    free(made);
    dpl_ledger_close(ledger);
    return status;
}
