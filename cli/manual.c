/* The table of all options. */
#include "manual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct command *const COMMANDS[] = {
    &command_synth,  &command_fit,     &command_sample,  &command_eval,   &command_report,
    &command_attack, &command_inspect, &command_account, &command_verify, &command_simulate,
    &command_region, &command_count,   &command_merge,   &command_tables,
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

const struct command *manual_command(size_t i) { return i < N_COMMANDS ? COMMANDS[i] : NULL; }

const char *manual_group_title(enum option_group group) {
    static const char *const TITLES[N_GROUPS] = {
        [GROUP_OUTPUT] = "Output",
        [GROUP_INPUT] = "Input",
        [GROUP_AREA] = "Area",
        [GROUP_PRIVACY] = "Privacy",
        [GROUP_LEDGER] = "Ledger of all releases",
        [GROUP_METHOD] = "Method",
        [GROUP_TRIPS] = "Synthetic trips",
        [GROUP_CITY] = "City",
        [GROUP_MECHANISMS] = "Mechanisms",
        [GROUP_COMPARISON] = "Comparison",
        [GROUP_STOPPING] = "Stopping and going on",
        [GROUP_ROUNDS] = "Many machines (docs/SCALE.md)",
        [GROUP_EXPERIMENTS] = "Experiments (NOT PRIVATE)",
        [GROUP_GENERAL] = "General",
    };
    return TITLES[group];
}

enum {
    SPENDS = IN_SYNTH | IN_FIT,
    DRAWS = IN_SYNTH | IN_SAMPLE,
    COMPARES = IN_EVAL | IN_REPORT | IN_ATTACK,
    READS = SPENDS | COMPARES | IN_INSPECT,
    NEVER = 0
};

/* name, argument, values, default, group, commands, commands whose short help shows it, sentence */
static const struct option_row ROWS[] = {
    /* ---- output ---- */
    {"output", "OUT", VALUE_FILE, "", GROUP_OUTPUT, IN_SYNTH, IN_SYNTH,
     "its ending tells the format, as --to; also .gz and .zst"},
    {"output", "OUT", VALUE_FILE, "", GROUP_OUTPUT, IN_SAMPLE, IN_SAMPLE,
     "its ending tells the format, as --to; also .gz and .zst; - is standard output"},
    {"output", "MODEL", VALUE_FILE, "", GROUP_OUTPUT, IN_FIT, IN_FIT, "where the model goes"},
    {"output", "DIR", VALUE_DIRECTORY, "", GROUP_OUTPUT, IN_TABLES, IN_TABLES,
     "a directory for the tables"},
    {"zones", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_TABLES, IN_TABLES,
     "public polygons (GeoJSON): sum tables by cell up by them, too"},
    {"output", "PART", VALUE_FILE, "", GROUP_OUTPUT, IN_COUNT, IN_COUNT,
     "where the counts go: exact, and readable by you alone"},
    {"output", "SUMS", VALUE_FILE, "", GROUP_OUTPUT, IN_MERGE, IN_MERGE,
     "where the sums go: exact, and readable by you alone"},
    {"output", "REPORT", VALUE_FILE, "", GROUP_OUTPUT, IN_REPORT, IN_REPORT,
     "where the report goes, a .html file"},
    {"output", "CITY", VALUE_FILE, "", GROUP_OUTPUT, IN_SIMULATE, IN_SIMULATE,
     "where the trips go: a file, also .gz and .zst, - for standard output; a directory for the "
     "layouts cabspotting and geolife"},
    {"model", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_SYNTH, IN_SYNTH,
     "keep the model too, for more trips later"},
    {"report", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_SYNTH, IN_SYNTH,
     "an HTML file for you to look at, NOT PRIVATE"},
    {"basemap", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_SYNTH | IN_REPORT, IN_REPORT,
     "lines behind the report's maps: GeoJSON or .osm.pbf"},
    {"zones", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_SYNTH | IN_REPORT, IN_REPORT,
     "public polygons (GeoJSON): the report's flows go between them"},
    {"release", "DIR", VALUE_DIRECTORY, "", GROUP_OUTPUT, DRAWS, DRAWS,
     "also put what may be published, and only that, here"},
    {"license", "NAME", NULL, "", GROUP_OUTPUT, DRAWS | IN_TABLES, IN_TABLES,
     "what the release's datapackage.json says of its licence: CC-BY-4.0"},
    {"to", "FORMAT", "=outputs", "by the ending of OUT", GROUP_OUTPUT, DRAWS, NEVER,
     "format of the output: dploc --list outputs"},
    {"columns-out", "LIST", NULL, "", GROUP_OUTPUT, DRAWS, NEVER,
     "other names of the output's columns: tid=trip_id,datetime=time,lng=lon"},
    {"roads-out", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_SIMULATE, IN_SIMULATE,
     "write the city's streets as a map too, .osm.pbf"},
    {"csv", NULL, NULL, NULL, GROUP_OUTPUT, IN_EVAL, IN_EVAL, "one row per measure, for programs"},
    {"hours", NULL, NULL, NULL, GROUP_OUTPUT, IN_EVAL, IN_EVAL,
     "one line per hour of the day too (--csv and --json always hold them)"},
    {"explain", NULL, NULL, NULL, GROUP_OUTPUT, IN_EVAL, IN_EVAL, "one sentence on each measure"},
    {"public", NULL, NULL, NULL, GROUP_OUTPUT, IN_REPORT, IN_REPORT,
     "nothing that was computed from real trips; every SYNTH needs its certificate"},
    {"trips", "N", NULL, NULL, GROUP_OUTPUT, IN_REPORT, IN_REPORT, "synthetic trips to draw"},
    {"real-trips", "N", NULL, NULL, GROUP_OUTPUT, IN_REPORT, IN_REPORT,
     "real trips to draw beside them: their points are in the file then"},
    {"attack", "FILE", VALUE_FILE, "", GROUP_OUTPUT, IN_REPORT, IN_REPORT,
     "what 'dploc attack --json' printed, shown against its bounds"},
    {"ledger", "FILE", VALUE_FILE, "found by SYNTH.PRIVATE.json", GROUP_OUTPUT, IN_REPORT, NEVER,
     "the data set's ledger, for all that its releases have spent"},
    {"force", NULL, NULL, NULL, GROUP_OUTPUT,
     SPENDS | DRAWS | IN_REPORT | IN_SIMULATE | IN_COUNT | IN_MERGE | IN_TABLES,
     SPENDS | DRAWS | IN_REPORT | IN_SIMULATE | IN_COUNT | IN_MERGE | IN_TABLES,
     "overwrite what is there"},

    /* ---- input ---- */
    {"format", "FORMAT", "auto|=formats", NULL, GROUP_INPUT, READS, SPENDS | IN_INSPECT,
     "of the data: dploc --list formats"},
    {"trip-column", "NAME", NULL, "", GROUP_INPUT, READS, SPENDS | IN_INSPECT,
     "column that says which trip a row belongs to"},
    {"user-column", "NAME", NULL, "", GROUP_INPUT, READS, IN_INSPECT, "column of the user"},
    {"time-column", "NAME", NULL, "", GROUP_INPUT, READS, IN_INSPECT, "column of the time"},
    {"date-column", "NAME", NULL, "", GROUP_INPUT, READS, IN_INSPECT,
     "column of the date, if the time has one of its own"},
    {"time-format", "PATTERN", NULL, "", GROUP_INPUT, READS, IN_INSPECT,
     "how times are written: %d/%m/%Y %H:%M:%S"},
    {"lat-column", "NAME", NULL, "", GROUP_INPUT, READS, IN_INSPECT, "column of the latitude"},
    {"lon-column", "NAME", NULL, "", GROUP_INPUT, READS, IN_INSPECT, "column of the longitude"},
    {"coordinates", "HOW", "auto|degrees|e7|EPSG:3857", NULL, GROUP_INPUT, READS, IN_INSPECT,
     "what positions are: degrees, e7, EPSG:3857 or UTM's EPSG:326NN"},
    {"columns", "LIST", NULL, "", GROUP_INPUT, READS, IN_INSPECT,
     "the data has no header line and these columns: user,time,lon,lat ('-' for any other)"},
    {"separator", "CHAR", "tab|space", "as in the header line", GROUP_INPUT, READS, IN_INSPECT,
     "between columns: a character, tab or space"},
    {"time-unit", "UNIT", "auto|s|ms|us|ns", NULL, GROUP_INPUT, READS, IN_INSPECT,
     "of times that are numbers: s, ms, us, ns, auto"},
    {"od", NULL, NULL, NULL, GROUP_INPUT, READS, IN_INSPECT,
     "a row is a trip's origin and destination: start_time,start_lat,start_lng,end_..."},
    {"sql", "QUERY", NULL, "", GROUP_INPUT, READS, NEVER,
     "read what a query of Parquet files selects: \"select ... from 'x.parquet'\""},
    {"max-speed", "KMH", NULL, NULL, GROUP_INPUT, READS, IN_INSPECT,
     "drop what is faster between two points"},
    {"max-gap", "MINUTES", NULL, NULL, GROUP_INPUT, READS, IN_INSPECT,
     "drop (tracks: cut) a trip at a longer silence"},
    {"drop", "WHAT", "trips|points", "trips", GROUP_INPUT, READS, IN_INSPECT,
     "what is too fast: the trip, or its outlier points"},
    {"strict", NULL, NULL, NULL, GROUP_INPUT, READS, IN_INSPECT, "stop at the first bad row"},
    {"dates", "FIRST..LAST", NULL, "all days", GROUP_INPUT, IN_FIT | IN_INSPECT, IN_FIT,
     "the public period of the data: trips of other days are dropped"},
    {"dates", "FIRST..LAST", NULL, "those that the first SYNTH was fitted on", GROUP_INPUT,
     COMPARES, NEVER, "days of the real trips: others are dropped"},
    {"roads", "MAP", VALUE_FILE, "", GROUP_METHOD, IN_FIT, IN_FIT,
     "a public .osm.pbf map: its roads say where visits are likely (method bridge)"},
    {"travel", "HOW", "drive|bike|walk", "drive", GROUP_METHOD, IN_FIT, NEVER,
     "which of its roads: drive, bike or walk"},
    {"roads", "MAP", VALUE_FILE, "", GROUP_INPUT, IN_INSPECT | IN_EVAL, IN_INSPECT | IN_EVAL,
     "how well points lie on the roads of a .osm.pbf map"},
    {"travel", "HOW", "drive|bike|walk", NULL, GROUP_INPUT, IN_INSPECT | IN_EVAL, NEVER,
     "which roads: drive, bike or walk"},

    /* ---- area ---- */
    {"region", "NAME", "=regions", "", GROUP_AREA, READS, READS,
     "a box and time zone: dploc --list regions"},
    {"regions", "FILE", VALUE_FILE, "", GROUP_AREA, READS | IN_REGION, IN_REGION,
     "more regions: lines of name,south,west,north,east,zone"},
    {"bbox", "S,W,N,E", NULL, "", GROUP_AREA, READS, READS,
     "or a box from a public map, never from the data"},
    {"tz", "ZONE", NULL, "", GROUP_AREA, READS | IN_REGION, READS | IN_REGION,
     "its time zone, such as Europe/Berlin"},
    {"cell", "METRES", NULL, NULL, GROUP_AREA, READS, SPENDS | IN_INSPECT, "side of a cell"},
    {"slot", "SECONDS", NULL, NULL, GROUP_AREA, READS, NEVER, "time between two visits of a trip"},
    {"periods", "N", NULL, NULL, GROUP_AREA, READS, NEVER,
     "periods of the day that are told apart; 1 is no time of day"},

    /* ---- privacy ---- */
    {"epsilon", "E", NULL, NULL, GROUP_PRIVACY, SPENDS, SPENDS,
     "the promise: smaller is more private"},
    {"delta", "D", NULL, NULL, GROUP_PRIVACY, SPENDS, SPENDS, "the chance, at most, that it fails"},
    {"unit", "UNIT", "trip|user", NULL, GROUP_PRIVACY, SPENDS, SPENDS,
     "whom it protects: one trip, or one user"},
    {"trips-max", "N", NULL, "chosen", GROUP_PRIVACY, SPENDS, SPENDS,
     "trips kept of a user, with --unit user; chosen from noised counts by the method bridge, 20 "
     "by "
     "the others"},
    {"trips-as-cut", NULL, NULL, NULL, GROUP_PRIVACY, SPENDS, NEVER,
     "the data has tracks and no trips: protect a trip that was cut from one"},
    {"accept-weak", NULL, NULL, NULL, GROUP_PRIVACY, SPENDS, NEVER,
     "allow epsilon above 100 or delta from 0.01 on; the certificate says so"},
    {"size", "N", NULL, "measured", GROUP_PRIVACY, SPENDS, SPENDS,
     "the number of trips (users), if it is public"},
    {"hold-out", "SHARE", NULL, "", GROUP_PRIVACY, SPENDS, NEVER,
     "share of the trips (users) not to fit on, for 'dploc attack'; who, is in PRIVATE.json"},
    {"dry-run", NULL, NULL, NULL, GROUP_PRIVACY, SPENDS, SPENDS,
     "show the plan and a forecast; nothing is spent"},

    {"ledger", "FILE", VALUE_FILE, "the data set's own", GROUP_LEDGER, SPENDS, NEVER,
     "where the sum over all releases is kept; 'none' keeps no sum"},
    {"dataset", "NAME", NULL, "", GROUP_LEDGER, SPENDS, NEVER,
     "one ledger under this name for data that grows"},
    {"new-data", NULL, NULL, NULL, GROUP_LEDGER, SPENDS, NEVER,
     "the data overlaps data with a ledger, and is to have one of its own"},
    {"total-epsilon", "E", NULL, "", GROUP_LEDGER, SPENDS, SPENDS,
     "refuse to go above E over all releases"},
    {"total-delta", "D", NULL, "", GROUP_LEDGER, SPENDS, NEVER, "likewise for delta"},

    /* ---- method ---- */
    {"method", "NAME", "=methods", NULL, GROUP_METHOD, SPENDS, SPENDS,
     "bridge, paper; or, to compare, ngram, adatrace, dpt, privtrace, ldptrace, sglt"},
    {"mechanism", "NOISE", "gaussian|laplace", NULL, GROUP_METHOD, SPENDS, NEVER,
     "of ngram, adatrace, dpt, privtrace, sglt: gaussian or laplace"},
    {"coverage", "SHARE", NULL, "the method's own", GROUP_METHOD, SPENDS, NEVER,
     "share of all visits in the cells that are kept"},
    {"share", "NAME=PART", NULL, "the method's own", GROUP_METHOD, SPENDS, NEVER,
     "part of the squared budget for one measurement (lengths, topk, ti, tpg); may be repeated"},
    {"sigma-lengths", "S", NULL, "", GROUP_METHOD, SPENDS, NEVER,
     "noise given for the lengths; epsilon follows"},
    {"sigma-topk", "S", NULL, "", GROUP_METHOD, SPENDS, NEVER, "likewise for the cells"},
    {"sigma-ti", "S", NULL, "", GROUP_METHOD, SPENDS, NEVER, "likewise for the starts (paper)"},
    {"sigma-tpg", "S", NULL, "", GROUP_METHOD, SPENDS, NEVER, "likewise for the steps (paper)"},
    {"kl-weight", "W", NULL, NULL, GROUP_METHOD, SPENDS, NEVER,
     "weight of the divergence in the loss of starts (paper)"},
    {"no-destination", NULL, NULL, NULL, GROUP_METHOD, SPENDS, NEVER,
     "steps do not depend on where a trip goes (paper)"},
    {"keep", "WHAT", "ends|sequence", "ends", GROUP_METHOD, SPENDS, NEVER,
     "what is kept of a trip (sglt): the meaning of its ends, or of all its places"},
    {"sglt-form", "FORM", "private|deniable", "private", GROUP_METHOD, SPENDS, NEVER,
     "deniable: the published notion of sglt. NOT PRIVATE"},
    {"as-published", NULL, NULL, NULL, GROUP_METHOD, SPENDS, NEVER,
     "of ngram, adatrace, dpt, privtrace: take raw what their programs do. NOT PRIVATE"},

    /* ---- synthetic trips ---- */
    {"trips", "N", NULL, "as many as the model estimates", GROUP_TRIPS, DRAWS, DRAWS, "how many"},
    {"dates", "FIRST..LAST", NULL, "a typical week", GROUP_TRIPS, IN_SYNTH, IN_SYNTH,
     "the public period of the data, and of the trips that are drawn; others are dropped"},
    {"dates", "FIRST..LAST", NULL, "the model's, or a typical week", GROUP_TRIPS, IN_SAMPLE,
     IN_SAMPLE, "days to draw from, by weekday and hour"},
    {"seed", "N", NULL, "a fresh one", GROUP_TRIPS, DRAWS, DRAWS, "to draw the same trips again"},
    {"block", "I/S", NULL, "", GROUP_TRIPS, IN_SAMPLE, NEVER,
     "block I of S of the trips, with --seed; all blocks in a row are the file drawn at once"},
    {"points", "HOW", "drawn|uniform|centre", "drawn", GROUP_TRIPS, DRAWS, NEVER,
     "where in its cell a visit is: drawn (trips move as trips do), uniform or centre"},
    {"roads", "MAP", VALUE_FILE, "", GROUP_TRIPS, DRAWS, DRAWS,
     "trips follow the roads of a public .osm.pbf map"},
    {"travel", "HOW", "drive|bike|walk", "drive", GROUP_TRIPS, DRAWS, NEVER,
     "which of its roads: drive, bike or walk"},
    {"times", "HOW", "local|utc|naive|epoch", "local", GROUP_TRIPS, DRAWS, NEVER,
     "local (with one offset for the whole file), utc, naive or epoch"},
    {"interval", "S", NULL, "a slot", GROUP_TRIPS, DRAWS, DRAWS, "seconds between two points"},
    {"gps-error", "METRES", NULL, "8 with --roads, else 0", GROUP_TRIPS, DRAWS, NEVER,
     "add a receiver's error of this size to every point"},
    {"mh-steps", "N", NULL, NULL, GROUP_TRIPS, DRAWS, NEVER,
     "random changes of each path (method paper)"},
    {"no-looping", NULL, NULL, NULL, GROUP_TRIPS, DRAWS, NEVER,
     "repeat no cell in a trip (method paper)"},

    /* ---- city ---- */
    {"layout", "NAME", "csv|porto|cabspotting|geolife", "csv", GROUP_CITY, IN_SIMULATE, IN_SIMULATE,
     "format of the output: csv, porto, cabspotting or geolife"},
    {"trips", "N", NULL, NULL, GROUP_CITY, IN_SIMULATE, IN_SIMULATE, "number of trips"},
    {"users", "N", NULL, "one per 40 trips, at least 50", GROUP_CITY, IN_SIMULATE, IN_SIMULATE,
     "number of users"},
    {"days", "N", NULL, NULL, GROUP_CITY, IN_SIMULATE, IN_SIMULATE, "number of days"},
    {"date", "DAY", NULL, NULL, GROUP_CITY, IN_SIMULATE, IN_SIMULATE, "the first day"},
    {"seed", "N", NULL, NULL, GROUP_CITY, IN_SIMULATE, IN_SIMULATE, "who makes which trips"},
    {"city", "N", NULL, NULL, GROUP_CITY, IN_SIMULATE, IN_SIMULATE,
     "which city: its streets and land use"},
    {"sampling", "HOW", "irregular|regular", "irregular", GROUP_CITY, IN_SIMULATE, IN_SIMULATE,
     "irregular: by device, with gaps; regular: every 15 s, the same points in all layouts"},
    {"pace", "HOW", "drive|walk", "drive", GROUP_CITY, IN_SIMULATE, IN_SIMULATE, "drive or walk"},
    {"dirty", NULL, NULL, NULL, GROUP_CITY, IN_SIMULATE, IN_SIMULATE,
     "add broken rows, to try a reader on (csv only)"},

    /* ---- mechanisms ---- */
    {"gaussian", "SIGMA", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "one release with Gaussian noise; all mechanisms may be repeated and mixed"},
    {"poisson", "RATE,SIGMA,STEPS", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "DP-SGD: so many steps on Poisson samples"},
    {"laplace", "SCALE", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "one release with (discrete) Laplace noise"},
    {"n", "N", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "with --batch, --epochs and --sigma the same as --poisson B/N,S,E*N/B; also checks delta "
     "against 1/N"},
    {"batch", "B", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT, "see --n"},
    {"epochs", "E", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT, "see --n"},
    {"sigma", "S", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT, "see --n"},
    {"delta", "D", NULL, NULL, GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "the chance that the promise fails; below one over the trips of any city"},
    {"target-epsilon", "E", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "find the noise: write '?' for a sigma, or share=0.35 for its share of the (squared) budget; "
     "a sigma that is a number stays"},
    {"shares", "A,B,...", NULL, "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "all shares at once, in the order of the mechanisms; 0 stays"},
    {"curve", NULL, NULL, NULL, GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "epsilon for delta = 1e-3 ... 1e-14"},
    {"paper", "DATA", "porto|sf|geolife", "", GROUP_MECHANISMS, IN_ACCOUNT, IN_ACCOUNT,
     "the DP-Loc paper's settings, claimed and true epsilon: porto, sf or geolife"},

    /* ---- comparison ---- */
    {"only", "NAME,...", "=measures", "", GROUP_COMPARISON, IN_EVAL, IN_EVAL,
     "these measures alone ('dploc --list measures')"},
    {"test", "REAL2", VALUE_FILE, "half of REAL", GROUP_COMPARISON, IN_EVAL, IN_EVAL,
     "data that the fit never saw, to test tasks on"},
    {"blur", "METRES", NULL, NULL, GROUP_COMPARISON, IN_EVAL, NEVER,
     "Gaussian blur of all positions before shape_auc"},
    {"stages", "MODEL", VALUE_FILE, "", GROUP_COMPARISON, IN_EVAL, IN_EVAL,
     "instead: where the error of MODEL's trips comes from, stage by stage"},
    {"peer-measures", NULL, NULL, NULL, GROUP_COMPARISON, IN_EVAL, IN_EVAL,
     "also what AdaTrace, LDPTrace, dp_mobility_report and others report"},
    {"paper-measures", NULL, NULL, NULL, GROUP_COMPARISON, IN_EVAL | IN_REPORT, IN_EVAL,
     "as the authors measured: 2000 trips a side and hour, on SYNTH's own cells"},
    {"as-is", NULL, NULL, NULL, GROUP_COMPARISON, IN_EVAL | IN_REPORT, IN_EVAL | IN_REPORT,
     "take every SYNTH as written, not cleaned like REAL"},
    {"frequent-cells", NULL, NULL, NULL, GROUP_COMPARISON, IN_EVAL, NEVER,
     "a visit is the most frequent cell of a slot, not where a trip is at its own phase of it"},
    {"splits", "N", NULL, NULL, GROUP_COMPARISON, IN_EVAL | IN_REPORT, NEVER,
     "random halvings of REAL that floors are averaged over"},
    {"certificate", "FILE", VALUE_FILE, "SYNTH.certificate.json", GROUP_COMPARISON, IN_REPORT,
     IN_REPORT, "of SYNTH, once for each in order"},
    {"members", "FILE", VALUE_FILE, "", GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "data that was fitted on (with --non-members)"},
    {"non-members", "FILE", VALUE_FILE, "", GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "data that was not"},
    {"epsilon", "E", NULL, "as in SYNTH's certificate", GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "the promise"},
    {"delta", "D", NULL, "as in SYNTH's certificate", GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "the chance that it fails"},
    {"unit", "UNIT", "trip|user", "as in SYNTH's manifest", GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "whose membership: trip or user"},
    {"model", "MODEL", VALUE_FILE, "", GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "what SYNTH was drawn from: its noised tables are attacked, too"},
    {"no-control", NULL, NULL, NULL, GROUP_COMPARISON, IN_ATTACK, IN_ATTACK,
     "leave out the control without noise, which fits a model"},
    {"seed", "N", NULL, NULL, GROUP_COMPARISON, COMPARES, NEVER, "of all random choices"},

    /* ---- stopping ---- */
    {"resume", NULL, NULL, NULL, GROUP_STOPPING, SPENDS, SPENDS,
     "go on after a stop; nothing is paid twice"},
    {"restart", NULL, NULL, NULL, GROUP_STOPPING, SPENDS, NEVER,
     "start anew after a stop, and pay again"},
    {"checkpoint", "FILE", VALUE_FILE, "OUT.checkpoint", GROUP_STOPPING, SPENDS, NEVER,
     "where the state of an unfinished run is kept"},
    {"checkpoint-every", "SECONDS", NULL, NULL, GROUP_STOPPING, SPENDS, NEVER,
     "time between two checkpoints of a training"},

    /* ---- many machines ---- */
    {"plan-only", NULL, NULL, NULL, GROUP_ROUNDS, IN_FIT, NEVER,
     "write the plan of round 1 for workers to count by; reads no data, spends nothing"},
    {"plan", "PLAN", VALUE_FILE, "", GROUP_ROUNDS, IN_FIT, NEVER,
     "with --from-counts: the plan that was counted"},
    {"from-counts", "SUMS", VALUE_FILE, "", GROUP_ROUNDS, IN_FIT, NEVER,
     "noise what 'dploc merge' wrote: OUT is the next plan, or at last the model"},
    {"plan", "PLAN", VALUE_FILE, "", GROUP_ROUNDS, IN_COUNT, IN_COUNT,
     "what to count; its .key lies beside it"},
    {"shard", "I/S", NULL, "1/1", GROUP_ROUNDS, IN_COUNT, IN_COUNT,
     "which of S shards of the units: 1/S to S/S; units of others are left to them"},
    {"cleaned", "FILE", VALUE_FILE, "", GROUP_ROUNDS, IN_COUNT, NEVER,
     "keep the shard's cleaned trips there (mode 0600): round 1 writes the file, and the others "
     "read "
     "it in place of INPUT, which takes a fraction of the time. Delete it after the fit"},

    /* ---- experiments ---- */
    {"show-private-loss", NULL, NULL, NULL, GROUP_EXPERIMENTS, SPENDS, NEVER,
     "show the training loss, which is not protected"},
    {"insecure-seed", "N", NULL, "", GROUP_EXPERIMENTS, SPENDS, NEVER,
     "noise that can be repeated, and taken off again by anyone"},

    /* ---- general ---- */
    {"json", NULL, NULL, NULL, GROUP_GENERAL, IN_ALL, IN_ALL,
     "one JSON object on standard output, errors too"},
    {"quiet", NULL, NULL, NULL, GROUP_GENERAL, IN_ALL, IN_ALL, "no words but errors"},
    {"progress", "HOW", "auto|plain|json|none", NULL, GROUP_GENERAL, IN_ALL, NEVER,
     "auto (a bar on a terminal), plain, json (lines for programs) or none"},
    {"threads", "N", NULL, "one for each processor", GROUP_GENERAL, IN_ALL, NEVER,
     "processors to use; the result is the same with any number"},
    {"memory", "MB", NULL, NULL, GROUP_GENERAL, SPENDS, NEVER,
     "the most that tables and trips may take; what might need more is refused"},
    {"config", "FILE", VALUE_FILE, "", GROUP_GENERAL, IN_ALL, NEVER,
     "options from a JSON object; the manifest of an earlier run is one"},
    {"help", NULL, NULL, NULL, GROUP_GENERAL, IN_ALL, NEVER, "the everyday options"},
    {"help-all", NULL, NULL, NULL, GROUP_GENERAL, IN_ALL, NEVER, "all options"},

    /* ---- other names ---- */
    {"date", "DAYS", NULL, NULL, GROUP_ALIAS, DRAWS, NEVER, "the same as --dates"},
    {"shares", "NAME=PART,...", NULL, NULL, GROUP_ALIAS, SPENDS, NEVER, "several --share"},
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

const struct option_row *manual_row(size_t i) { return i < N_ROWS ? &ROWS[i] : NULL; }

const struct option_row *manual_find(const struct command *command, const char *name,
                                     size_t length) {
    for (size_t i = 0; i < N_ROWS; i++)
        if ((ROWS[i].in & command->bit) && strlen(ROWS[i].name) == length &&
            !strncmp(ROWS[i].name, name, length))
            return &ROWS[i];
    return NULL;
}

bool manual_default(const struct option_row *row, const struct option *option, char *text,
                    size_t size) {
    text[0] = '\0';
    if (row->otherwise) {
        snprintf(text, size, "%s", row->otherwise);
    } else if (option->kind == OPTION_TEXT) {
        const char *value = *(const char *const *)option->into;
        if (value) snprintf(text, size, "%s", value);
    } else if (option->kind == OPTION_REAL) {
        double value = *(const double *)option->into;
        if (value > 0 && isfinite(value)) snprintf(text, size, "%g", value);
    } else if (option->kind == OPTION_WHOLE) {
        int64_t value = *(const int64_t *)option->into;
        if (value > 0) snprintf(text, size, "%lld", (long long)value);
    }
    char *exponent = strstr(text, "e-0"); // 1e-08 is written 1e-8
    if (option->kind == OPTION_REAL && exponent)
        memmove(exponent + 2, exponent + 3, strlen(exponent + 2));
    return text[0] != '\0';
}

static const struct option *option_of(const struct option_tables *tables, const char *name) {
    for (size_t t = 0; t < tables->count; t++)
        for (const struct option *option = tables->list[t]; option->name; option++)
            if (!strcmp(option->name, name)) return option;
    return NULL;
}

void manual_each(const struct command *command, const struct option_tables *tables,
                 manual_visit *visit, void *user) {
    for (int group = 0; group < N_GROUPS; group++)
        for (size_t i = 0; i < N_ROWS; i++)
            if ((int)ROWS[i].group == group && (ROWS[i].in & command->bit))
                visit(user, &ROWS[i], option_of(tables, ROWS[i].name));
}

void manual_show(const struct command *command,
                 void (*show)(const struct cli *, const struct option_tables *)) {
    static struct cli cli; // 33 kB, too much for a small stack
    cli = (struct cli){.command = command, .show = show};
    command->main(&cli, 0, NULL);
}
