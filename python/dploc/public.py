"""Calls that look at no private data: accounting, made-up cities, lists."""

from __future__ import annotations

import ctypes
import math
import os
import tempfile
from typing import TYPE_CHECKING, Any

from . import _abi
from .arrow import Result
from .errors import UsageError
from .library import Owned, Run, bytes_of, lib, text_of
from .options import AccountOptions, Keywords, SimulateOptions, takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

KINDS = {"gaussian": _abi.DPL_EVENT_GAUSSIAN, "poisson": _abi.DPL_EVENT_POISSON,
         "laplace": _abi.DPL_EVENT_LAPLACE}
CURVE_DELTAS = [10.0 ** -exponent for exponent in range(3, 15)]


# ---- lists ----

def names(call: str) -> list[str]:
    made: list[str] = []
    while name := getattr(lib, call)(len(made)):
        made.append(text_of(name))
    return made


def regions() -> list[str]:
    """Names of regions that everybody may know.

    >>> "simulated" in regions()
    True
    """
    return names("dpl_area_preset_name")


def methods() -> list[str]:
    """Names of the methods.

    >>> methods()[0]
    'bridge'
    """
    return names("dpl_method_name")


def measures() -> dict[str, str]:
    """The measures of `evaluate`, each with what it is.

    >>> "density_emd_m" in measures()
    True
    """
    made: dict[str, str] = {}
    about = _abi.dpl_measure_about()
    while lib.dpl_measure_about(len(made), ctypes.byref(about)):
        made[text_of(about.name)] = text_of(about.meaning)
    return made


# ---- accounting ----

class Mechanism:
    """One event, and its share of the budget where its noise is to be found."""

    def __init__(self, kind: str, given: Any):
        self.event = _abi.dpl_event(name=kind.encode(), kind=KINDS[kind], sensitivity=1)
        self.share, noise = 0.0, given
        if kind == "poisson":
            rate, noise, steps = given
            self.event.rate, self.event.steps = rate, steps
        if isinstance(noise, str) and noise.strip() == "?":
            self.share = math.nan  # an equal part
        elif isinstance(noise, str) and noise.startswith("share="):
            self.share = float(noise[len("share="):])
        else:
            self.event.sigma = float(noise)


def listed(kind: str, given: Any) -> list[Any]:
    """One mechanism or several.

    >>> listed("gaussian", 3.8), listed("poisson", (0.1, 2, 5)), listed("gaussian", [1, 2])
    ([3.8], [(0.1, 2, 5)], [1, 2])
    """
    if given is None:
        return []
    if kind == "poisson":
        return list(given) if isinstance(given[0], (list, tuple)) else [tuple(given)]
    return list(given) if isinstance(given, (list, tuple)) else [given]


def training(keywords: Keywords) -> list[Mechanism]:
    """n, batch, epochs and sigma: DP-SGD in other words."""
    n, batch, epochs, sigma = (keywords.take(name) for name in ("n", "batch", "epochs", "sigma"))
    if batch is None and epochs is None and sigma is None:
        return []
    if None in (n, batch, epochs, sigma):
        raise UsageError("`n`, batch, epochs and sigma belong together")
    return [Mechanism("poisson", (batch / n, sigma, math.ceil(epochs * n / batch)))]


def settle_shares(mechanisms: list[Mechanism], given: Any, target: Any) -> Any:
    """Shares of all events; None where no noise is to be found."""
    if given is not None and len(given) != len(mechanisms):
        raise UsageError(f"`shares` has not as many numbers as there are mechanisms "
                         f"({len(mechanisms)})")
    shares = list(given) if given is not None else [one.share for one in mechanisms]
    wanted = [share for share in shares if not share == 0]
    if target is None:
        if wanted:
            raise UsageError("noise to be found ('?' or share=S) needs `target_epsilon`")
        return None
    if not wanted:
        raise UsageError("`target_epsilon`: there is no noise to find; write '?' or 'share=S' in "
                         "place of a sigma, or give shares")
    return (ctypes.c_double * len(shares))(*(1.0 if math.isnan(share) else share
                                             for share in shares))


@takes(AccountOptions)
def account(**options: Unpack[AccountOptions]) -> dict[str, Any]:
    """What releases cost together: epsilon from noise, or the noise for an epsilon.

    Noise is given over the sensitivity: gaussian=SIGMA, laplace=SCALE, poisson=(RATE, SIGMA,
    STEPS), or lists of them. With target_epsilon the noise is found: '?' in place of a sigma.

    >>> cost = account(gaussian=3.8, poisson=(0.00044, 1.5, 33750), delta=1e-6)
    >>> round(cost["epsilon"], 2), cost["bound"]
    (1.15, 'pld')
    >>> found = account(gaussian=["?", "?"], target_epsilon=1, delta=1e-8)
    >>> found["epsilon"] <= 1
    True
    """
    keywords = Keywords("account", options, account)
    with keywords.run() as run:
        delta, target = keywords.take("delta", 1e-8), keywords.take("target_epsilon")
        if not 0 < delta < 1:
            raise UsageError(f"`delta` is {delta}, but must lie between 0 and 1")
        paper = keywords.take("paper")
        if paper is not None:
            keywords.end()
            return account_paper(run, paper)
        mechanisms = [Mechanism(kind, one) for kind in KINDS
                      for one in listed(kind, keywords.take(kind))] + training(keywords)
        if not mechanisms:
            raise UsageError("no mechanism given: use `gaussian`, poisson or laplace")
        curve = keywords.take("curve", False)
        shares = settle_shares(mechanisms, keywords.take("shares"), target)
        keywords.end()
        return accounted(run, mechanisms, shares, target, delta, curve)


def accounted(run: Run, mechanisms: list[Mechanism], shares: Any, target: Any, delta: float,
              curve: bool) -> dict[str, Any]:
    n = len(mechanisms)
    events = (_abi.dpl_event * n)(*(one.event for one in mechanisms))
    if shares is not None:
        run.call("dpl_account_solve", events, shares, n, target, delta)
    made = bound_of(run, events, n, delta)
    made["mechanisms"] = []
    for event in events:
        alone = bound_of(run, ctypes.byref(event), 1, delta)["epsilon"]
        one = {"name": text_of(event.name), "sigma": event.sigma, "epsilon_alone": alone}
        if event.kind == _abi.DPL_EVENT_POISSON:
            one |= {"rate": event.rate, "steps": event.steps}
        made["mechanisms"].append(one)
    if curve:
        deltas = (ctypes.c_double * len(CURVE_DELTAS))(*CURVE_DELTAS)
        epsilons = (ctypes.c_double * len(CURVE_DELTAS))()
        run.call("dpl_account_profile", events, n, deltas, len(CURVE_DELTAS), epsilons)
        made["curve"] = [{"delta": d, "epsilon": e} for d, e in zip(deltas, epsilons)]
    return made


def bound_of(run: Run, events: Any, n: int, delta: float) -> dict[str, Any]:
    bound = _abi.dpl_bound()
    run.call("dpl_account", events, n, delta, ctypes.byref(bound))
    return bound_dict(bound)


def bound_dict(bound: Any) -> dict[str, Any]:
    return {"epsilon": bound.epsilon, "delta": bound.delta,
            "bound": text_of(lib.dpl_bound_name(bound.kind)), "epsilon_rdp": bound.epsilon_rdp,
            "epsilon_pld": bound.epsilon_pld,
            "sure_percent": 100 / (1 + math.exp(-min(bound.epsilon, 700)))}


def account_paper(run: Run, data: str) -> dict[str, Any]:
    """What the DP-Loc paper claims and what its settings give."""
    rows, trips = (_abi.dpl_paper_row * _abi.DPL_PAPER_ROWS)(), ctypes.c_int64()
    run.call("dpl_account_paper", bytes_of(data), ctypes.byref(trips), rows)
    return {"paper": data, "trips": trips.value, "settings": [
        {**bound_dict(row.bound), "claimed": row.claimed, "formula_printed": row.printed,
         "formula_corrected": row.corrected} for row in rows]}


# ---- made-up cities ----

@takes(SimulateOptions)
def simulate(**options: Unpack[SimulateOptions]) -> Any:
    """Trips of a made-up city, public data without limit: a frame with uid, tid, datetime, lat and
    lng. With `output` they go to a file instead, in any layout, and its path comes back.

    >>> city = simulate(trips=20, seed=1)
    >>> list(city.columns), city.tid.nunique()
    (['uid', 'tid', 'datetime', 'lat', 'lng'], 20)
    """
    from .core import frame_kind
    keywords = Keywords("simulate", options, simulate)
    kind = frame_kind(keywords, "pandas")
    with keywords.run() as run:
        wanted = lib.dpl_simulate_defaults()
        output = keywords.take("output")
        keywords.into(wanted, "simulate", SimulateOptions.__annotations__)
        keywords.end()
        if output is not None:
            run.call("dpl_simulate", ctypes.byref(wanted), bytes_of(output))
            return os.fspath(output)
        if wanted.layout != _abi.DPL_LAYOUT_CSV or wanted.dirty:
            raise UsageError("`layout` and dirty are for files: give output")
        return simulated(run, wanted, kind)


def simulated(run: Run, wanted: Any, kind: str) -> Any:
    """The library writes cities to files; this one is public, so that it may go through one."""
    import numpy

    from .frames import MAKERS
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "city.csv")
        run.call("dpl_simulate", ctypes.byref(wanted), bytes_of(path))
        rows = numpy.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    trip, user, time = (numpy.ascontiguousarray(rows[:, i]).astype("int64") for i in range(3))
    lat, lon = (numpy.ascontiguousarray(rows[:, i]) for i in (3, 4))
    points = lib.dpl_points_defaults()
    points.n = len(rows)
    int64, double = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_double)
    points.trip.number, points.user.number = trip.ctypes.data_as(int64), user.ctypes.data_as(int64)
    points.time = time.ctypes.data_as(int64)
    points.lat_deg, points.lon_deg = lat.ctypes.data_as(double), lon.ctypes.data_as(double)
    trips = Owned.made(run, "dpl_trips_free", "dpl_trips_new", None)
    run.call("dpl_trips_append", trips.pointer, ctypes.byref(points))
    stream = _abi.ArrowArrayStream()
    run.call("dpl_trips_to_arrow", trips.give_away(), _abi.DPL_TIMES_UTC, ctypes.byref(stream))
    return MAKERS[kind](Result(stream))
