/* Every tuned number of `bridge`, and where it was tuned. The shares and clips of the tables are in
 * dpl_bridge_specs (measure.c).
 *
 * "even cabs": the even-numbered cabs of the sf sample; the odd ones were never tuned on, but
 * where it says "all cabs". "cities": made-up cities of `dploc simulate`. docs/NOTEBOOK.md has the
 * figures. A number without a place was chosen by hand and hardly matters: it bounds work, or
 * guards a division.
 *
 * PRIVACY: constants of the program, the same for all data. */
#ifndef DPL_METHOD_BRIDGE_CONSTANTS_H
#define DPL_METHOD_BRIDGE_CONSTANTS_H

#include <stdint.h>

/* ---- resolution (places.c): even cabs and tenths of them, cities ---- */
static const double ZONE_M = 2000, ZONE_MOST_M = 8000; // side of a zone: finest, coarsest
static const double ZONE_CELLS = 3;                    // side of a zone at least, in cells
static const double RICH_TRIPS = 200000; // trips times epsilon at which zones are finest
enum { DAYPARTS_RICH = 8, DAYPARTS_MIDDLE = 4, DAYPARTS_FEW = 2 };
static const double RICH_FROM = 0.7, MIDDLE_FROM = 0.1, FEW_FROM = 0.02; // of RICH_TRIPS
/* Watches, in one trip of eleven of all cabs, Porto, Chengdu: by hour the distances of the first
 * are 10 % less with 6 than with 24, those of the small ones 4 to 8 %; all cabs are best off with
 * hours. */
enum { WATCHES_MOST = 8, WATCHES = 6, WATCHES_FEW = 4 };
static const double HOURS_FROM = 0.3, WATCHES_MOST_FROM = 0.14, WATCHES_FROM = 0.06; // likewise
static const double FINE_TRIPS = 50000; // trips times epsilon above which motions have fine bins
static const double DISTANCE_BIN_M = 750, DISTANCE_BIN_CELLS = 1.5; // width of a bin: the larger
/* Places at most: the tables of pairs have the square of it. */
static const double PLACES_MOST = 4000;
static const double PLACE_M = 1000;    // side of a place at most, where anybody is
static const double TREE_TOP_M = 8000; // side of the squares that are estimated first, at least
/* Visits of a square that is cut in four, over the noise of a cell and as a share of all; of one
 * wider than PLACE_M, so much of it. With more places than are cheap it is raised up to a share. */
static const double CUT_NOISES = 4, CUT_SHARE_LEAST = 1e-6, CUT_WIDE = 0.125;
static const double PLACES_CHEAP = 400, CUT_SHARE = 1e-3, CUT_RAISED = 1.25;
/* With a map: metres of road times the weight of their class, to this power; what a square without
 * any has of the mean; how many noises a count without a road must stand out by; what it is of its
 * even prior otherwise. One trip in eleven of all cabs, Porto: docs/NOTEBOOK.md. */
static const double ROAD_POWER = 1.5, ROAD_LEAST = 1e-3, ROADLESS_NOISES = 4.5,
                    ROADLESS_SHARE = 0.01;
/* With a map: slots beyond which no step is looked for by road; powers of the seconds by road that
 * steps get fewer with, of which the noisy table takes the likeliest; by how much (twice the
 * logarithm of the likelihood) it must be likelier than none. */
static const double ROAD_SLOTS_MOST = 3, ROAD_STEP_POWERS[] = {0, 0.5, 1, 1.5, 2, 3},
                    ROAD_STEP_CLEAR = 6;
static const double LIMIT_SHARE = 0.99; // of the speed limit: points are rounded when written
/* A move is fast when its centres are farther apart than this share of the reach: of all, the share
 * that tells most of the next step, with cells of 500 and of 250 m. */
static const double FAST_SHARE = 0.42;

/* ---- measuring (measure.c, places.c): even cabs ---- */
/* Visits up to which a trip counts in full: all cabs, one trip in eleven of them, Chengdu, walkers
 * (docs/NOTEBOOK.md). Where trips have more than LONG_VISITS on the average, fewer. */
static const double FULL_VISITS = 40, LONG_VISITS = 20;
static const double WEALTH_FROM = 0.1;   // of RICH_TRIPS
static const double SQUARES_SCALE = 0.7; // what a visit counts in squares of rich data; of thin: 1
static const double MATCH_MOST = 1.5;    // what visits by watch are multiplied by
static const double VISITS_NOISES = 3;   // all visits exceed their noise, or there is no model
static const double LENGTH_NOISES = 2.5, LENGTH_NOISES_CLEAR = 3.5; // a bin exceeds its noise
static const double LENGTH_QUANTILE_MOST = 0.999; // of trips are no longer than the longest walk
static const double SCALE_MOST = 50;              // of a table whose units were clipped

/* ---- shrinkage (estimate.c): even cabs ---- */
static const double ERROR_POWERS[] = {1, 1.5, 2};                 // of the prior's error
static const double LOG_SPREAD_LEAST = -12, LOG_SPREAD_MOST = 12; // of the prior's error
static const double PRIOR_SHARE_LEAST = 0.05; // an estimate is at least that much of its prior
enum { LIKELIHOOD_COUNTS = 20000 };           // from which two numbers are told apart well
static const double BEYOND_NOISES = 1.5, BEYOND_LEAST = 0.01; // dpl_beyond_noise
/* dpl_shrink_sparse: logarithms of shapes, chances of being empty, counts that tell them. */
static const double SPARSE_SHAPE_LEAST = -2, SPARSE_SHAPE_MOST = 2.5, SPARSE_SHAPE_STEP = 0.75;
static const double SPARSE_EMPTY_MOST = 0.8, SPARSE_EMPTY_STEP = 0.2;
enum { SPARSE_COUNTS = 4000 };
/* dpl_shrink_mixed: chances that a map says nothing about a square; step of logarithms of shapes.
 */
static const double MAP_DOUBTS[] = {0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1};
static const double MIXED_SHAPE_STEP = 0.5;
enum { LEVEL_REACH = 2 }; // rows before and after that a level is first estimated with

static const double VISITS_OF_PLACE_LEAST = 0.1; // estimate_visits.c

/* ---- weekdays (estimate_days.c): cities ---- */
static const double CLEAR_NOISES = 3.5; // a weekday's total exceeds its noise beyond doubt

/* ---- flows (estimate_flows.c): even cabs ---- */
enum { GRAVITY_ROUNDS = 30, MARGIN_ROUNDS = 10, DISTANCE_ROUNDS = 2, HOUR_ROUNDS = 20 };
static const double FACTOR_MOST = 1e6;
static const double HOURS_STILL = 1e-6; // of all trips: what another round would not change
static const double MODULATION_STEP = 0.125, MODULATION_MOST = 1.5; // powers that are tried

/* ---- lengths (estimate_lengths.c): even cabs, cities ---- */
enum { LENGTH_RAKE_ROUNDS = 30 };
/* Powers of length by which the number of longer trips falls. */
static const double TAIL_POWER_LEAST = 1.5, TAIL_POWER_MOST = 12, TAIL_POWER_STEP = 0.1;
static const double TAIL_MOST = 0.02; // of all trips: length_max leaves out a thousandth, and
                                      // what noise hides
static const double TAIL_DOUBT = 2;   // standard deviations of the tail's bins together
static const double TAIL_FROM = 0.6;  // of length_max: longer lengths follow the tail's power

/* ---- steps (estimate_edges.c): even cabs ---- */
enum { OFFSET_ROUNDS = 30 };
static const double STEP_SHARE_LEAST = 0.002; // of the steps out of a cell: others are dropped
static const double STAY_LEAST = 0.02;

/* ---- the walk (calibrate.c, mixing.c): even and all cabs, cities ---- */
enum {
    DAY_ROUNDS = 30,
    DAY_FINE_ROUNDS = 8, // of these, with all targets
    WALK_ROUNDS = 13,
    STEP_ROUNDS = 5, // of these, in which steps are adjusted
    WALK_ROUNDS_LEAST = 6,
    MIXING_WINDOW = 8,
    PART_TURN_ROUNDS = 2
};
static const double WALK_WORK = 6e11; // multiplications of all rounds, unless the fewest are more
/* Powers of wanted over expected, below 1 because steps, turns and visits overlap. */
static const double STEP_POWER = 0.3, TURN_POWER = 0.5, VISIT_POWER = 0.4, LENGTH_POWER = 0.7,
                    PART_LENGTH_POWER = 1, TERMINAL_POWER = 0.7;
/* Targets of the rounds, and of drawing: with one a cell guesses of a trip's end by its beginning
 * are as good as from real trips (docs/NOTEBOOK.md), at a sweep backward each. */
enum { TARGETS_MOST = 96, DRAWN_TARGETS_MOST = 1024 };
enum { FEWER_TARGETS = 3 };                // one in so many, while steps are far from right
static const float TERMINAL_LEAST = 1e-6f; // of the largest weight in a target
static const double SWING = 1.02;          // times the best gap so far: worse is gone back from
static const double STEP_GAP = 0.5;        // what steps count in the gap, where visits count 1
static const double PACE_LEAST = 0.2;      // of turning: slower is not worth a round
/* A cell that is next to empty tells little, and a large potential on one is a place where every
 * long trip would rest: ratios of visits are damped by the noise, or by so much of all visits, and
 * potentials stay within bounds. The lower bound is far below: along a motorway little time is
 * spent in a cell, and walks held at an eighth there spent too much, 15 m of the pooled density. */
static const double VISITS_LEAST = 1e-5, POTENTIAL_MOST = 8, POTENTIAL_LEAST = 0.01;
static const double SPEED_MOST = 1e3, SPEED_LEAST = 1e-3;
static const double SPEED_WEIGHT = 0.25; // of a step's speed in the mixing, where a visit has 1
/* Metres from the centre of all visits at which a cell's residual counts twice in the mixing: the
 * earth mover's distance grows with how far off mass is. */
static const double MIXING_DISTANCE_M = 3000;
static const double MIXING_RIDGE = 1e-6; // of the diagonal

/* ---- slow movers (dwell.c): walkers of a city ---- */
static const double SLOW_VISITS = 3; // of a stay, on the average
enum { PACE_ROUNDS = 12 };
static const double PACE_POWER = 0.7, PACE_DAMP = 10; // visits
static const double PACE_MOST = 20; // of a place, over the usual one, and below it

/* ---- flows that visits contradict (tilt.c): one trip in eleven of all cabs, Porto ---- */
static const double TILT_NOISES = 4, TILT_MOST = 1.5;   // of a zone's ends; a logarithm
static const double TILT_POWER = 0.7, TILT_DAMP = 1e-4; // of all visits
static const double TILT_LEAST = 1e-3; // of all trips: less is not worth beginning anew
enum { TILT_FIRST = 4, TILT_EVERY = 3, TILT_LAST = 20 }; // rounds of the day

/* ---- motions (estimate_motion.c): cities, even cabs ---- */
enum { MOTION_ROUNDS = 10, MOTION_TRIPS_MOST = 5000, MOTION_TRIPS_LEAST = 250 };
static const double MOTION_POWER = 0.7, MOTION_SETTLING = 0.4, MOTION_DAMP = 2,
                    MOTION_WEIGHT_MOST = 300;
static const double WITHIN_LEAST = 1e-4;    // of a place's visits, before a sixteenth's are seen
static const double SIXTEENTH_LEAST = 0.02; // of a cell's mean

/* ---- stops (estimate_stops.c): all cabs, by how near 600 noisy tables of them come ---- */
static const double STOP_POWER = 2.2, STOP_POWER_DOUBT = 0.3; // by which runs get rarer
static const double STOP_POWER_LEAST = 1.2, STOP_POWER_MOST = 4, STOP_POWER_STEP = 0.1;
static const double STOP_LAW_DOUBT = 0.3; // of a bin, as a part of what the law says

/* ---- drawing (generate.c): a city, by how little two samples of one model differ ---- */
static const uint64_t END_STRIDE = 0x9E3779B97F4A7C15u;    // of 2^64: the golden ratio
static const uint64_t LENGTH_STRIDE = 0xBB67AE8584CAA73Bu; // of 2^64: the square root of 3

#endif
