/* What writing and reading a certificate share: its sentences, each of which is said like this or
 * not at all, and the numbers it may hold. */
#ifndef DPL_LEDGER_CERTIFICATE_FORM_H
#define DPL_LEDGER_CERTIFICATE_FORM_H

#include <jansson.h>

#include "base/base.h"

enum { DPL_CERTIFICATE_FORMAT = 1 };

static const char ADJACENCY[] = "add/remove one unit";
static const char LOCAL_ADJACENCY[] =
    "replace one unit by another: the local model, each unit noises what it reports";
static const char SAMPLER[] = "Poisson: each unit on its own in each step";
static const char SECURE[] = "AES-256-CTR keyed by getrandom(2)";
static const char INSECURE[] = "AES-256-CTR keyed by a given seed";
/* PRIVACY: a unit in the words of the data (docs/PRIVACY.md, "The unit"). A function of options. */
static const char TRIP[] = "a trip: all rows of one trip id in one file or table, or one row or "
                           "line that holds a trip, or one run "
                           "of occupied records of a cab";
static const char TRIP_AS_CUT[] =
    "a stretch cut from a person's track by the public rule, at gaps as long as the option max-gap "
    "says and at stays of more than 15 minutes in one cell; where the data has trips of its own, "
    "such a trip";
static const char PERSON[] =
    "a person: all rows and trips that name that user, in all files of the run";
/* PRIVACY: a query may join, limit or drop rows across units: what is protected is in its result.
 */
static const char SELECTED[] =
    "as selected by the holder's SQL; the unit is a unit of that selection";
/* What the published form of SGLT has in place of an epsilon; the numbers are
 * sglt/fit_deniable.h's. */
static const char DENIABLE[] =
    "plausible deniability (k = 10, delta = 0.1), NOT differential privacy";
static const char ALONE[] = "not composed with other runs";
/* Where epsilon comes from. */
static const char CHOSEN[] = "chosen before the data was seen";
static const char RESULTS[] =
    "what the given sigmas cost for the number of units in 'size': another "
    "number would have given another epsilon";
/* PRIVACY: no more than the ledger knows: it counts for the data it was opened for. */
static const char BY_ROWS[] =
    "the sum over all releases of these very rows in the holder's ledger; "
    "releases of other data about the same people are not in it";
static const char BY_NAME[] = "the sum over all releases under one name in the holder's ledger; "
                              "releases of other data about the same people are not in it";
static const char DECLARED_NEW[] =
    "the data overlaps, or may overlap, a data set that has a ledger of "
    "its own; the holder declared it to be new, and the two are not "
    "added up";

/* Whether a certificate may hold a number of that name. */
bool dpl_number_public(const char *name);

/* An object as the text of a file; takes it over. NULL: there was no memory for it. */
enum dpl_status dpl_certificate_dump(struct dpl_run *run, json_t *root, char **text);

#endif
