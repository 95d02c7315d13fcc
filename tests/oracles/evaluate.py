#!/usr/bin/env python3
"""Writes tests/golden/evaluate.csv: what numpy, scipy and scikit-learn find for the measures of
points, cells, flows, tasks and for the classifier, on the made-up trips of city.py. Calls no dploc.

    python3 -m venv venv && venv/bin/pip install numpy scipy scikit-learn
    venv/bin/python tests/oracles/evaluate.py >tests/golden/evaluate.csv
"""
from collections import Counter, defaultdict
from datetime import datetime, timezone
from itertools import combinations
from math import ceil, hypot, log
from zoneinfo import ZoneInfo

import numpy as np
from city import BOX_M, CELL_M, MASK, SLOT_S, make_city
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree
from scipy.spatial.distance import jensenshannon, pdist
from scipy.stats import kendalltau
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

ZONE = ZoneInfo("Europe/Berlin")
BINS = 64


# ---- one trip ----


def steps(trip):
    return np.hypot(*np.diff(trip.xy.astype(float), axis=0).T)


def turns(trip):
    moves, lengths = np.diff(trip.xy.astype(float), axis=0), steps(trip)
    angle = np.degrees(np.arctan2(moves[:, 1], moves[:, 0]))
    turned = np.abs((np.diff(angle) + 180) % 360 - 180)
    return turned[(lengths[:-1] > 30) & (lengths[1:] > 30)]


def straight(trip):
    return float(np.hypot(*(trip.xy[-1].astype(float) - trip.xy[0].astype(float))))


def gyration(trip):
    xy = trip.xy.astype(float)
    return float(np.sqrt(((xy - xy.mean(axis=0)) ** 2).sum(axis=1).mean()))


def stops(trip):
    """Lengths in seconds."""
    xy, found, i = trip.xy.astype(float), [], 0
    while i < len(xy):
        near = np.hypot(*(xy[i:] - xy[i]).T) <= 100
        run = len(near) if near.all() else int(np.argmin(near))
        if (run - 1) * SLOT_S >= 120:
            found.append((run - 1) * SLOT_S)
            i += run
        else:
            i += 1
    return found


def collapsed(cells):
    return [c for i, c in enumerate(cells) if i == 0 or c != cells[i - 1]]


def comes_back(trip):
    cells = collapsed(trip.cells)
    return len(set(cells)) < len(cells)


def local(trip):
    return datetime.fromtimestamp(trip.utc_s, timezone.utc).astimezone(ZONE)


# ---- a set, and two ----


def figures(city):
    speed = np.concatenate([steps(t) for t in city]) / SLOT_S * 3.6
    turn = np.concatenate([turns(t) for t in city])
    accel = np.concatenate([np.abs(np.diff(steps(t))) for t in city]) / SLOT_S**2
    stopped = [s for t in city for s in stops(t)]
    return {
        "speed_q50_kmh": np.quantile(speed, 0.5),
        "speed_q90_kmh": np.quantile(speed, 0.9),
        "speed_q99_kmh": np.quantile(speed, 0.99),
        "path_km_mean": np.mean([steps(t).sum() for t in city]) / 1000,
        "path_over_straight": sum(steps(t).sum() for t in city) / sum(map(straight, city)),
        "turn_sharp_share": np.mean(turn > 90),
        "turn_median_deg": np.median(turn),
        "accel_q90_mps2": np.quantile(accel, 0.9),
        "stops_per_trip": len(stopped) / len(city),
        "stop_min_mean": np.mean(stopped) / 60,
        "duration_min_mean": np.mean([(len(t.xy) - 1) * SLOT_S / 60 for t in city]),
        "gyration_km_mean": np.mean([gyration(t) for t in city]) / 1000,
        "first_step_m": np.mean([steps(t)[0] for t in city]),
        "last_step_m": np.mean([steps(t)[-1] for t in city]),
        "return_share": np.mean([comes_back(t) for t in city]),
        "trips_per_day": len(city) / len({local(t).date() for t in city}),
    }


def distance(a, b, width):
    def histogram(values):
        return np.bincount(
            np.minimum(np.floor(np.asarray(values) / width), BINS - 1).astype(int), minlength=BINS
        )

    return jensenshannon(histogram(a), histogram(b), base=2)


def variation(a, b):
    a, b = Counter(a), Counter(b)
    return sum(abs(a[k] / a.total() - b[k] / b.total()) for k in a | b) / 2


def common(a, b):
    a, b = Counter(a), Counter(b)
    return sum(min(a[k] / a.total(), b[k] / b.total()) for k in a | b)


def pairs(a, b):
    def all_of(function, city):
        return np.concatenate([np.atleast_1d(function(t)) for t in city])

    def both(function, width):
        return distance(all_of(function, a), all_of(function, b), width)

    def moves(city):
        return [m for t in city for m in zip(collapsed(t.cells), collapsed(t.cells)[1:])]

    tree = cKDTree(np.concatenate([t.xy for t in a]).astype(float))
    away = tree.query(np.concatenate([t.xy for t in b]).astype(float))[0]
    return {
        "speed_jsd": both(lambda t: steps(t) / SLOT_S * 3.6, 2.5),
        "turn_jsd": both(turns, 5),
        "accel_jsd": both(lambda t: np.abs(np.diff(steps(t))) / SLOT_S**2, 0.01),
        "path_jsd": both(lambda t: steps(t).sum(), 500),
        "duration_jsd": both(lambda t: (len(t.xy) - 1) * SLOT_S, 60),
        "gyration_jsd": both(gyration, 250),
        "first_step_jsd": both(lambda t: steps(t)[0], 50),
        "last_step_jsd": both(lambda t: steps(t)[-1], 50),
        "off_track_share": np.mean(away > 50),
        "minute_tv": variation([local(t).minute for t in a], [local(t).minute for t in b]),
        "weekday_tv": variation([local(t).weekday() for t in a], [local(t).weekday() for t in b]),
        "od_cpc": common(
            [(t.cells[0], t.cells[-1]) for t in a], [(t.cells[0], t.cells[-1]) for t in b]
        ),
        "steps_cpc": common(moves(a), moves(b)),
    }


# ---- cells ----


def moved(supply, demand, cost):
    """Least work between two histograms (shares, by point), as a linear programme."""
    left, right = sorted(supply), sorted(demand)
    a = np.array([supply[k] for k in left], dtype=float)
    b = np.array([demand[k] for k in right], dtype=float)
    n, m = len(left), len(right)
    every = np.arange(n * m)
    rows = np.concatenate([every // m, n + every % m])
    flows = csr_matrix(
        (np.ones(2 * n * m), (rows, np.concatenate([every, every]))), shape=(n + m, n * m)
    )
    price = np.array([cost(x, y) for x in left for y in right])
    total = np.concatenate([a / a.sum(), b / b.sum()])
    return linprog(price, A_eq=flows, b_eq=total, method="highs").fun


def metres(a, b):
    return CELL_M * hypot(a[0] - b[0], a[1] - b[1])


def frequent_pairs(city):
    """The most frequent up to 80 % of the trips, at most 2000."""
    count = Counter((t.cells[0], t.cells[-1]) for t in city)
    kept, held = {}, 0
    for pair in sorted(count, key=lambda p: (-count[p], p)):
        if held >= 0.8 * len(city) or len(kept) == 2000:
            break
        kept[pair] = count[pair]
        held += count[pair]
    return kept


def between_ends(city, pair):
    inner = Counter(c for t in city if (t.cells[0], t.cells[-1]) == pair for c in t.cells[1:-1])
    return inner or Counter(pair)


def routes(a, b):
    asked, held = frequent_pairs(a), {(t.cells[0], t.cells[-1]) for t in b}
    both = {p: n for p, n in asked.items() if p in held}
    away = {p: moved(between_ends(a, p), between_ends(b, p), metres) for p in both}
    return {
        "route_emd_m": sum(away[p] * n for p, n in both.items()) / sum(both.values()),
        "route_emd_plain_m": np.mean(list(away.values())),
        "route_share": sum(both.values()) / sum(asked.values()),
    }


def frequent_runs(city):
    """Runs of 2 to 5 cells by the trips that hold them; shorter and lower ones first on a tie."""
    support = Counter()
    for t in city:
        c = collapsed(t.cells)
        support.update({tuple(c[i : i + n]) for n in range(2, 6) for i in range(len(c) - n + 1)})
    return sorted(support, key=lambda run: (-support[run], len(run), run))


def frequent_sets(city):
    support = Counter()
    single = Counter(c for t in city for c in set(t.cells))
    for t in city:
        held = sorted(c for c in set(t.cells) if single[c] >= 0.05 * len(city))
        support.update(s for n in range(1, 8) for s in combinations(held, n))
    support = {s: n for s, n in support.items() if n >= 0.05 * len(city)}
    return sorted(support, key=lambda s: (-support[s], len(s), s))


def lengths_of(city):
    return np.bincount([len(t.xy) for t in city], minlength=20)


def on_cells(a, b):
    hours = [np.bincount([t.period for t in city], minlength=24) for city in (a, b)]
    visits = [Counter(c for t in city for c in t.cells) for city in (a, b)]
    whole = [[tuple(t.cells) for t in city] for city in (a, b)]
    length = jensenshannon(lengths_of(a), lengths_of(b), base=2)
    found = {
        "length_jsd_distance": length,
        "length_jsd_divergence": length**2,
        "hour_jsd": jensenshannon(*hours, base=2),
        "density_emd_m": moved(*visits, metres),
        "od_emd_m": moved(
            frequent_pairs(a),
            frequent_pairs(b),
            lambda p, q: metres(p[0], q[0]) + metres(p[1], q[1]),
        ),
        "verbatim_share": np.mean([t in set(whole[1]) for t in whole[0]]),
        "distinct_share": len(set(whole[1])) / len(b),
    }
    for kind, ranked in (("fp", frequent_runs), ("fpset", frequent_sets)):
        tops = [ranked(city) for city in (a, b)]
        found |= {
            f"{kind}_{n}": len(set(tops[0][:n]) & set(tops[1][:n])) / n
            for n in (10, 20, 50, 100, 200)
        }
    return found | routes(a, b)


def sizes(city):
    visits = [len(t.xy) for t in city]
    far = [
        metres(p, q) > 150 / 3.6 * SLOT_S + CELL_M * 2**0.5
        for t in city
        for p, q in zip(t.cells, t.cells[1:])
    ]
    count = np.bincount(visits)
    return {
        "length_mean": np.mean(visits),
        "length_sd": np.std(visits),
        "length_mode": np.argmax(count),
        "jump_share": np.mean(far),
    }


def ends_by_window(city, window):
    """The last cells of trips that end in a window of four hours, on weekdays or weekends."""

    def window_of(when):
        return (when.hour - 2) % 24 // 4 + 6 * (when.weekday() > 4)

    end_s = [t.utc_s + (len(t.xy) - 1) * SLOT_S for t in city]
    ends = [datetime.fromtimestamp(s, timezone.utc).astimezone(ZONE) for s in end_s]
    ended = list(zip(city, ends))
    return Counter(t.cells[-1] for t, when in ended if window_of(when) == window)


def ends_moved(a, b):
    """What dp_mobility_report would find if it did not round."""
    ends = [Counter(c for t in city for c in (t.cells[0], t.cells[-1])) for city in (a, b)]
    windows = [[ends_by_window(city, w) for city in (a, b)] for w in range(12)]
    away = [moved(*pair, metres) for pair in windows if all(pair)]
    return {"dpmr_visits_emd_m": moved(*ends, metres), "dpmr_windows_emd_m": np.mean(away)}


# ---- what the peers report ----


def boxed(part, side):
    return min(max(int(np.floor(part * side)), 0), side - 1)


def square(xy, box, side):
    return boxed(float(xy[1]) / box[1], side) * side + boxed(float(xy[0]) / box[0], side)


def nats(a, b, bins):
    count = [np.bincount(np.asarray(values, dtype=int), minlength=bins) for values in (a, b)]
    return jensenshannon(*count) ** 2


def mixed(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53


def meets(trip, centre, radius):
    xy = trip.xy.astype(float)
    way, off = np.diff(xy, axis=0), centre - xy[:-1]
    square_length = (way**2).sum(axis=1)
    part = np.clip(
        np.divide(
            (way * off).sum(axis=1), square_length, out=np.zeros(len(way)), where=square_length > 0
        ),
        0,
        1,
    )
    return (np.hypot(*(off - part[:, None] * way).T) <= radius).any()


def queries(a, b, box):
    radius, half, counts = max(box) / 3, np.array(box) / 6, []
    for q in range(200):
        centre = np.array(
            [box[0] * mixed(2 * q + 1), box[1] * mixed(2 * q + 2)], dtype=np.float32
        ).astype(float)
        met = [np.array([meets(t, centre, radius) for t in city]) for city in (a, b)]
        still = [np.array([(steps(t) == 0).any() for t in city]) for city in (a, b)]
        inside = [
            sum((np.abs(t.xy.astype(float) - centre) <= half).all(axis=1).sum() for t in city)
            for city in (a, b)
        ]
        counts.append(
            [
                met[0].sum(),
                met[1].sum(),
                (met[0] | still[0]).sum(),
                (met[1] | still[1]).sum(),
                *inside,
            ]
        )
    c, n, points = np.array(counts, dtype=float).T, len(a), sum(len(t.xy) for t in a)

    def error(real, other, scale, least):
        return np.mean(np.abs(other * scale - real) / np.maximum(real, least))

    return {
        "peer_query_avre": error(c[0], c[1], n / len(b), 0.01 * n),
        "peer_query_avre_coded": error(c[2], c[3], 1, 0.01 * n),
        "peer_query_points_avre": error(
            c[4], c[5], points / sum(len(t.xy) for t in b), 0.01 * points
        ),
    }


def tau_coded(a, b):
    score = 0
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            if a[i] != a[j]:
                score += 1 if (a[i] > a[j]) == (b[i] > b[j]) else -1
    return score / (len(a) * (len(a) - 1) / 2)


def runs(city, box):
    found = Counter()
    for trip in city:
        cells = collapsed([square(p, box, 6) for p in trip.xy])
        for length in range(2, 9):
            found.update(tuple(cells[i : i + length]) for i in range(len(cells) - length + 1))
    return found


def packed(run):
    number = 0
    for cell in run:
        number = number * 37 + cell + 1
    return number


def top_runs(found):
    return sorted(found, key=lambda run: (-found[run], packed(run)))[:100]


def ndcg(a, b, k):
    def top(cells):
        count = np.bincount(cells, minlength=256)
        return sorted(range(256), key=lambda i: (-count[i], i))[:k]

    right, got = top(a), top(b)
    gain = sum(1 / (right.index(c) + 1) / np.log2(r + 2) for r, c in enumerate(got) if c in right)
    return gain / sum(1 / (r + 1) / np.log2(r + 2) for r in range(k))


def twenty_bins(a, b):
    width = (max(a) - min(a)) / 20
    open_ended = [
        [min(max(int((v - min(a)) / width / 20 * 20), 0), 19) for v in side] for side in (a, b)
    ]
    coded = [[int(v / width) for v in side if v / width < 20] for side in (a, b)]
    return nats(*open_ended, 20), nats(*coded, 20)


def peers(a, b):
    def points(city, side):
        return [square(p, box, side) for t in city for p in t.xy]

    def passed(city):
        return np.bincount(
            [c for t in city for c in {square(p, box, 15) for p in t.xy}], minlength=225
        )

    def ends(city):
        return [square(t.xy[0], box, 6) * 36 + square(t.xy[-1], box, 6) for t in city]

    def moves(city):
        cells = [collapsed([square(p, box, 6) for p in t.xy]) for t in city]
        return [x * 36 + y for c in cells for x, y in zip(c, c[1:])]

    def diameters(city):
        return [pdist(t.xy.astype(float)).max() for t in city]

    def ways(city):
        return [steps(t).sum() for t in city]

    box = BOX_M
    runs_a, runs_b = runs(a, box), runs(b, box)
    top_a, top_b = top_runs(runs_a), top_runs(runs_b)
    diameter, way = twenty_bins(diameters(a), diameters(b)), twenty_bins(ways(a), ways(b))
    return queries(a, b, box) | {
        "peer_tau_coded": tau_coded(passed(a), passed(b)),
        "peer_tau_b": kendalltau(passed(a), passed(b)).statistic,
        "peer_fp_f1": len(set(top_a) & set(top_b)) / 100,
        "peer_fp_avre": np.mean(
            [abs(runs_b[r] * len(a) / len(b) - runs_a[r]) / runs_a[r] for r in top_a]
        ),
        "peer_trip_jsd": nats(ends(a), ends(b), 36**2),
        "peer_diameter_jsd": diameter[0],
        "peer_diameter_jsd_coded": diameter[1],
        "peer_length_jsd": way[0],
        "peer_length_jsd_coded": way[1],
        "peer_density_jsd": nats(points(a, 6), points(b, 6), 36),
        "peer_density16_jsd": nats(points(a, 16), points(b, 16), 256),
        "peer_transition_jsd": nats(moves(a), moves(b), 36**2),
        "peer_ndcg_5": ndcg(points(a, 16), points(b, 16), 5),
        "peer_ndcg_10": ndcg(points(a, 16), points(b, 16), 10),
    }


# ---- tasks ----


def zone(cell):
    side = ceil(2000 / CELL_M)
    return cell[0] // side, cell[1] // side


def moves_of(trip):
    cells = collapsed(trip.cells)
    for i in range(1, len(cells)):
        yield (cells[i - 2] if i > 1 else None), cells[i - 1], cells[i], zone(cells[-1])


def contexts(before, here, to_zone):
    return [("zone", to_zone, here), ("two", before, here), ("one", here), ("none",)]


def guesses(model, keys, here):
    listed = []
    for key in keys:
        for cell, _ in sorted(model[key].items(), key=lambda item: (-item[1], item[0])):
            if cell != here and cell not in listed:
                listed.append(cell)
    return listed


def place(listed, cell):
    return listed.index(cell) + 1 if cell in listed else 0


def task_next(train, tested):
    model = defaultdict(Counter)
    for trip in train:
        for before, here, to, to_zone in moves_of(trip):
            for key in contexts(before, here, to_zone):
                model[key][to] += 1
    plain, told = [], []
    for trip in tested:
        for before, here, to, to_zone in moves_of(trip):
            keys = contexts(before, here, to_zone)
            plain.append(place(guesses(model, keys[1:], here), to))
            told.append(place(guesses(model, keys, here), to))
    return {
        "next_hit1": np.mean([p == 1 for p in plain]),
        "next_hit5": np.mean([1 <= p <= 5 for p in plain]),
        "next_mrr": np.mean([1 / p if p else 0 for p in plain]),
        "next_to_hit1": np.mean([p == 1 for p in told]),
    }


def first_third(trip):
    return sorted(set(trip.cells[: (len(trip.cells) + 2) // 3]))


def task_destination(train, tested, cells):
    weight, n, k = 10, len(train), len(cells)
    ends, sources = Counter(t.cells[-1] for t in train), Counter(t.cells[0] for t in train)
    by_source = Counter((t.cells[0], t.cells[-1]) for t in train)
    passed = Counter(c for t in train for c in first_third(t))
    by_passed = Counter((c, t.cells[-1]) for t in train for c in first_third(t))
    hits = []
    for trip in tested:
        score = {}
        for d in cells:
            prior = weight * (ends[d] + 1 / k) / (n + 1) + by_source[trip.cells[0], d]
            score[d] = log(prior / (sources[trip.cells[0]] + weight))
            for c in first_third(trip):
                usual = weight * (passed[c] + 1) / (n + k)
                score[d] += log((usual + by_passed[c, d]) / (ends[d] + weight))
        best = sorted(cells, key=lambda d: (-score[d], d))[:5]
        hits.append(trip.cells[-1] in best)
    return {"destination_hit5": np.mean(hits)}


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


def task_travel(train, tested):
    times = defaultdict(list)

    def keys(trip):
        ends = zone(trip.cells[0]), zone(trip.cells[-1])
        return [(*ends, trip.period * 4 // 24), ends, ()]

    for trip in train:
        for key in keys(trip):
            times[key].append(len(trip.xy) - 1)
    error, relative = [], []
    for trip in tested:
        right = len(trip.xy) - 1
        guess = next(lower_median(times[key]) for key in keys(trip) if key in times)
        error.append(abs(guess - right) * SLOT_S)
        relative.append(abs(guess - right) / right)
    return {"travel_time_mae_s": np.mean(error), "travel_time_mape": np.mean(relative)}


def task_demand(train, tested):
    def starts(city):
        return Counter((t.period, zone(t.cells[0])) for t in city)

    a, b = starts(train), starts(tested)
    wrong = sum(abs(a[k] * len(tested) / len(train) - b[k]) for k in a | b)
    return {"demand_wape": wrong / len(tested)}


def tasks(train, tested, cells):
    found = task_next(train, tested) | task_destination(train, tested, cells)
    return found | task_travel(train, tested) | task_demand(train, tested)


# ---- shapes ----


def features(trip):
    length, turn = steps(trip), turns(trip)
    speed, change = length / SLOT_S * 3.6, np.abs(np.diff(length))
    return [
        length.sum() / 1000,
        straight(trip) / 1000,
        length.sum() / max(straight(trip), 100),
        *np.quantile(speed, [0.1, 0.5, 0.9, 1]),
        turn.mean() if len(turn) else 0,
        np.mean(turn > 90) if len(turn) else 0,
        np.quantile(turn, 0.9) if len(turn) else 0,
        np.mean(length < 50),
        change.mean(),
        change.max(),
        gyration(trip),
        length[0],
        length[-1],
    ]


def shapes():
    """The first half of each side trains; 3 positions at least."""
    sides = [
        [t for t in make_city(seed, 2500, restless) if len(t.xy) >= 3][:2000]
        for seed, restless in ((11, 600), (12, 750))
    ]
    x = [np.array([features(t) for t in side], dtype=np.float32) for side in sides]
    train = np.concatenate([x[0][:1000], x[1][:1000]])
    test = np.concatenate([x[0][1000:], x[1][1000:]])
    label = np.repeat([0, 1], 1000)
    model = HistGradientBoostingClassifier(
        max_iter=100, max_depth=5, max_leaf_nodes=None, early_stopping=False
    )
    score = model.fit(train, label).decision_function(test)
    means = {f"feature_{i}": m for i, m in enumerate(np.concatenate(x).astype(float).mean(axis=0))}
    return {"boost_auc": roc_auc_score(label, score)} | means


def main():
    a, b, c = make_city(1, 400, 600), make_city(2, 400, 800), make_city(3, 300, 600)
    cells = sorted({cell for city in (a, b, c) for t in city for cell in t.cells})
    rows = {f"a.{k}": v for k, v in figures(a).items()}
    rows |= {f"ab.{k}": v for k, v in pairs(a, b).items()}
    rows |= {f"ab.{k}": v for k, v in peers(a, b).items()}
    rows |= {f"ab.{k}": v for k, v in ends_moved(a, b).items()}
    rows |= {f"ab.{k}": v for k, v in on_cells(a, b).items()}
    rows |= {f"aa.{k}": v for k, v in on_cells(a[:300], a[100:]).items()}
    rows |= {f"a.{k}": v for k, v in sizes(a).items()}
    rows |= {f"b_on_c.{k}": v for k, v in tasks(b, c, cells).items()}
    rows |= {f"a_on_c.{k}": v for k, v in tasks(a, c, cells).items()}
    rows |= {f"shape.{k}": v for k, v in shapes().items()}
    print("name,value")
    for name, value in rows.items():
        print(f"{name},{float(value):.12g}")


if __name__ == "__main__":
    main()
