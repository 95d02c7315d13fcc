"""Looking at data, and at synthetic trips beside real ones. All of it is NOT PRIVATE."""

from __future__ import annotations

import ctypes
import html
import json
import math
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _abi
from .certificates import table_of
from .errors import RefusedError, UsageError
from .frames import paths_of, recall
from .library import Owned, Run, bytes_of, lib, text_of
from .options import (AttackOptions, EvalOptions, InspectOptions, Keywords, ReportOptions,
                      area_options, choice, number_or_none, read_options, takes, with_query)
from .reading import Facts, clean, open_trips

if TYPE_CHECKING:
    from typing_extensions import Unpack

NOT_PRIVATE = "NOT PRIVATE: computed from private data, for its holder alone"


class Figures(dict):
    """A result as `--json` of the command line has it, which also shows itself."""

    head: tuple[str, ...] = ("", "")

    def rows(self) -> list[tuple[str, ...]]:
        return [(name, shown(value)) for name, value in self.items()
                if not isinstance(value, (list, dict))]

    def __repr__(self) -> str:
        lines = ["  ".join(cell.ljust(24) for cell in row).rstrip() for row in [self.head,
                                                                               *self.rows()]]
        return "\n".join([NOT_PRIVATE, *lines])

    def _repr_html_(self) -> str:
        return (f"<div><p><b>{html.escape(NOT_PRIVATE)}</b></p>"
                + table_of(self.head, self.rows()) + "</div>")


def shown(value: Any) -> str:
    """A figure for people.

    >>> shown(0.123456), shown(None), shown(12), shown("trip")
    ('0.1235', '-', '12', 'trip')
    """
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# ---- inspect ----

class Inspection(Figures):
    """What data, a model, a ledger or a certificate holds."""

    head = ("what", "value")


@takes(InspectOptions)
def inspect(data: Any = None, **options: Unpack[InspectOptions]) -> Inspection:
    """What data holds, before and (with a region) after cleaning; or what a model, a ledger or a
    certificate holds. NOT PRIVATE.

    >>> import dploc
    >>> facts = dploc.inspect(dploc.simulate(trips=50, seed=1), region="simulated")
    >>> facts["trips_read"], facts["users"] > 0
    (50, True)
    """
    keywords = Keywords("inspect", options, inspect)
    with keywords.run() as run:
        data = with_query(data, keywords)
        own = inspect_own(run, data)
        if own is not None:
            return Inspection(own)
        read, area = read_options(keywords), area_options(run, keywords, required=False)
        roads = keywords.take("roads"), keywords.take("travel", "drive")
        read.dates = keywords.text(keywords.take("dates"))
        keywords.end()
        read.guess, read.time_optional = True, True
        trips = open_trips(run, data, read)
        cleaned, facts = clean(run, trips, area)
        made = facts_dict(facts)
        if cleaned is not None:
            made |= cleaned_dict(cleaned, facts)
        if roads[0] is not None:
            made |= on_roads(run, data, read, area, *roads)
        return Inspection(made)


def inspect_own(run: Run, data: Any) -> dict[str, Any] | None:
    """The summary of a file of ours, or None."""
    if not isinstance(data, (str, os.PathLike)) or not os.path.isfile(data):
        return None
    with open(data, "rb") as file:
        head = file.read(64)
    if lib.dpl_model_recognise(head, len(head)):
        return dict(json.loads(run.text("dpl_model_summary", bytes_of(data), True)))
    if lib.dpl_ledger_recognise(head, len(head)):
        return dict(json.loads(run.text("dpl_ledger_summary", bytes_of(data), True)))
    if lib.dpl_certificate_recognise(head, len(head)):
        text = Path(data).read_bytes()
        return dict(json.loads(run.text("dpl_certificate_summary", text, len(text), True)))
    return None


def counts(values: Any, name: str) -> dict[str, int]:
    return {text_of(getattr(lib, name)(i)): count for i, count in enumerate(values) if count}


def facts_dict(facts: Facts) -> dict[str, Any]:
    read = facts.read
    return {"not_private": True, "format": text_of(read.format), "columns": text_of(read.columns),
            "time_format": text_of(read.time_format), "scattered": read.scattered,
            "files": read.files, "rows": read.rows, "trips_read": read.trips_read,
            "points": read.points, "users": read.users,
            "hints": [text_of(read.hint[i].value) for i in range(read.n_hints)],
            "extent_not_private": [read.south_deg, read.west_deg, read.north_deg, read.east_deg],
            "rows_rejected": counts(read.rows_rejected, "dpl_reject_name")}


def cleaned_dict(cleaned: Owned, facts: Facts) -> dict[str, Any]:
    trips = _abi.dpl_cleaned.from_address(cleaned.pointer)
    start = trips.start[:trips.n_trips + 1]
    lengths = Counter(end - begin for begin, end in zip(start, start[1:]))
    most = max(lengths.values())
    return {"trips_kept": trips.n_trips, "visits": trips.n_visits,
            "visits_mean": trips.n_visits / trips.n_trips,
            "visits_mode": min(length for length, count in lengths.items() if count == most),
            "dropped": counts(facts.read.trips_dropped, "dpl_drop_name")}


def on_roads(run: Run, data: Any, read: Any, area: Any, roads: Any, travel: str) -> dict[str, Any]:
    """Shares of points near a road of a public map."""
    paths = paths_of(data)
    if paths is None or area is None:
        raise UsageError("`roads` needs a region and data in files")
    grid, share = _abi.dpl_grid(), _abi.dpl_roads_share()
    run.call("dpl_grid_make", ctypes.byref(area), ctypes.byref(grid))
    network = read_roads(run, grid, roads, travel)
    names = (ctypes.c_char_p * len(paths))(*(path.encode() for path in paths))
    run.call("dpl_roads_fit", names, len(paths), ctypes.byref(read), ctypes.byref(area),
             network.pointer, ctypes.byref(share))
    return {"road_share_15m": share.within_15m, "road_share_30m": share.within_30m}


def read_roads(run: Run, grid: Any, path: Any, travel: str) -> Owned:
    return Owned.made(run, "dpl_roads_free", "dpl_roads_read", bytes_of(path), ctypes.byref(grid),
                      choice("travel", travel))


# ---- sets on one grid ----

class Sets:
    """Real and synthetic trips, each cleaned onto the area's grid."""

    def __init__(self, run: Run, read: Any, area: Any, as_is: bool, own_phase: bool = True):
        self.run, self.area, self.as_is = run, area, as_is
        self.read = copied(read)
        self.read.own_phase = own_phase
        self.keep: list[Any] = []

    def real(self, data: Any, hold_out: Any = None, any_day: bool = False) -> tuple[Owned, Facts]:
        read = copied(self.read)
        if any_day:
            read.dates = None
        read.positions = read.time_optional = True
        read.position_phase_s = self.area.slot_s / 2
        if hold_out is not None:
            read.hold_out = hold_out
        return self.cleaned(data, read)

    def synthetic(self, data: Any) -> tuple[Owned, Facts]:
        """What dploc made is judged as it is; anything else is cleaned like the real trips."""
        read = lib.dpl_read_defaults()
        read.zone = self.read.zone
        read.time_optional = read.positions = True
        read.own_phase = self.read.own_phase
        read.keep_too_fast = self.as_is or is_ours(data)
        read.gap_limit_s = self.read.gap_limit_s
        read.drop_points = self.read.drop_points and not read.keep_too_fast
        return self.cleaned(data, read)

    def cleaned(self, data: Any, read: Any) -> tuple[Owned, Facts]:
        trips = open_trips(self.run, data, read)
        made, facts = clean(self.run, trips, self.area)
        self.keep += [made, facts]
        assert made is not None
        return made, facts


def copied(struct: Any) -> Any:
    made = type(struct)()
    ctypes.pointer(made)[0] = struct
    return made


def is_ours(data: Any) -> bool:
    paths = paths_of(data)
    if paths is None:
        return recall(data) is not None
    return all(os.path.exists(path + ".manifest.json") for path in paths)


def name_of(data: Any, number: int) -> str:
    paths = paths_of(data)
    return os.path.basename(paths[0]) if paths else f"synthetic {number + 1}"


def area_of(run: Run, keywords: Keywords, synthetic: Any) -> Any:
    """The area that was given, or that of the first synthetic set's certificate or manifest."""
    if not keywords.has("region") and not keywords.has("bbox"):
        for name, value in public_options(synthetic).items():
            if name in ("region", "bbox", "tz", "cell", "slot", "periods", "max-speed"):
                keywords.given.setdefault(name.replace("-", "_"), value)
        if keywords.has("region"):
            keywords.given.pop("bbox", None)
    return area_options(run, keywords)


def reading_of(keywords: Keywords, synthetic: Any) -> Any:
    """How real trips are read: of the days that were given, or that the synthetic set was fitted
    on. These are in its certificate: the manifest has the days of the synthetic trips."""
    read, dates = read_options(keywords), keywords.take("dates")
    text = certificate_text(synthetic, 0, None) if dates is None else None
    if text:
        dates = json.loads(text).get("options", {}).get("dates")
    read.dates = keywords.text(dates)
    return read


def public_options(data: Any) -> dict[str, Any]:
    paths = paths_of(data)
    if paths is None:
        text = recall(data)
        return dict(json.loads(text).get("options", {})) if text else {}
    manifest = Path(paths[0] + ".manifest.json")
    return dict(json.loads(manifest.read_text()).get("options", {})) if manifest.exists() else {}


# ---- evaluate ----

class Evaluation(Figures):
    """Measures of synthetic sets, each beside its floor."""

    head: tuple[str, ...] = ("set", "measure", "value", "floor", "ratio")

    def rows(self) -> list[tuple[str, ...]]:
        return [(one["name"], measure["name"], *(shown(measure[part])
                                                 for part in ("value", "floor", "ratio")))
                for one in self["synthetic"] for measure in one["measures"]
                if measure["scope"] == "pooled"]

    def measure(self, name: str, scope: Any = "pooled", synthetic: int = 0) -> dict[str, Any]:
        """One measure of one set."""
        for one in self["synthetic"][synthetic]["measures"]:
            if one["name"] == name and one["scope"] == scope:
                return dict(one)
        raise KeyError(name)


class Stages(Evaluation):
    """Where the error of a model comes from, stage by stage."""

    head = ("stage", "density_m", "density_parts_m", "od_m", "length_jsd", "step_jsd")

    def rows(self) -> list[tuple[str, ...]]:
        return [tuple(shown(one[name]) for name in self.head) for one in self["stages"]]


def eval_options(keywords: Keywords) -> Any:
    wanted = lib.dpl_eval_defaults()
    only = keywords.take("only")
    if only is not None:
        wanted.only = keywords.text(only if isinstance(only, str) else ",".join(only))
    keywords.into(wanted, "eval", ("splits", "seed", "blur", "peer_measures", "paper_measures"))
    return wanted


@takes(EvalOptions)
def evaluate(real: Any, *synthetic: Any, **options: Unpack[EvalOptions]) -> Evaluation:
    """How close synthetic trips are to the real ones, in the measures of docs/EVALUATION.md, each
    beside its floor: what one half of the real trips scores against the other. NOT PRIVATE.

    `stages` names a model, or its file: then where its error comes from, stage by stage.

    >>> import dploc
    >>> a, b = dploc.simulate(trips=300, seed=1), dploc.simulate(trips=300, seed=2)
    >>> figures = dploc.evaluate(a, b, region="simulated", only="density_emd_m")
    >>> figures.measure("density_emd_m")["value"] > 0
    True
    """
    keywords = Keywords("evaluate", options, evaluate)
    if not synthetic:
        raise UsageError("name the real trips and at least one synthetic set")
    with keywords.run() as run:
        wanted, real = eval_options(keywords), with_query(real, keywords)
        test, roads = keywords.take("test"), keywords.take("roads")
        travel, as_is = keywords.take("travel", "drive"), keywords.take("as_is", False)
        stages, frequent = keywords.take("stages"), keywords.take("frequent_cells", False)
        read, area = reading_of(keywords, synthetic[0]), area_of(run, keywords, synthetic[0])
        keywords.end()
        own_phase = stages is not None or not (frequent or wanted.paper_measures)
        sets = Sets(run, read, area, as_is, own_phase)
        trips, facts = sets.real(real)
        if stages is not None:
            return staged(run, sets, trips, synthetic[0], model_in(stages), int(wanted.seed))
        wanted.real_facts = facts.pointer
        if test is not None:
            wanted.test = sets.real(test, any_day=True)[0].pointer
        if roads is not None:
            grid = _abi.dpl_cleaned.from_address(trips.pointer).grid
            sets.keep.append(read_roads(run, grid, roads, travel))
            wanted.roads = sets.keep[-1].pointer
        return evaluated(run, sets, trips, synthetic, wanted)


def evaluated(run: Run, sets: Sets, real: Owned, synthetic: tuple[Any, ...],
              wanted: Any) -> Evaluation:
    list_of = (_abi.dpl_eval_synthetic * len(synthetic))()
    for i, data in enumerate(synthetic):
        trips, facts = sets.synthetic(data)
        list_of[i].name = name_of(data, i).encode()
        list_of[i].trips, list_of[i].facts = trips.pointer, facts.pointer
    made = Owned.made(run, "dpl_evaluation_free", "dpl_evaluate", real.pointer, list_of,
                      len(synthetic), ctypes.byref(wanted))
    found = _abi.dpl_evaluation.from_address(made.pointer)
    results = (_abi.dpl_eval_result * found.n_synthetic).from_address(found.synthetic)
    return Evaluation({"not_private": True, "real": {"trips": found.n_trips,
                                                     "visits": found.n_visits},
                       "synthetic": [result_dict(result) for result in results]})


def drawn_trips(run: Run, model: int, sample: Any, area: Any) -> Owned:
    """Trips of a model, on the area's grid."""
    drawn = Owned.made(run, "dpl_trips_free", "dpl_sample", model, ctypes.byref(sample))
    cleaned, _ = clean(run, drawn, area)
    assert cleaned is not None
    return cleaned


def staged(run: Run, sets: Sets, real: Owned, synthetic: Any, model: Any, seed: int) -> Stages:
    """The same trips as tables, walked from cell to cell, and with their points."""
    sample, list_of = lib.dpl_sample_defaults(), (_abi.dpl_stage * _abi.DPL_STAGES)()
    sample.points, sample.seed = choice("sample.points", "centre"), seed
    drawn = drawn_trips(run, model._pointer, sample, sets.area)
    run.call("dpl_evaluate_stages", real.pointer, model._pointer, drawn.pointer,
             sets.synthetic(synthetic)[0].pointer, list_of)
    return Stages({"not_private": True, "stages": [
        {"stage": text_of(one.name), **{name: number_or_none(getattr(one, name))
                                        for name in Stages.head[1:]}} for one in list_of]})


def result_dict(result: Any) -> dict[str, Any]:
    measures = (_abi.dpl_measure * result.n_measures).from_address(result.measures)
    scopes = {_abi.DPL_SCOPE_POOLED: "pooled", _abi.DPL_SCOPE_HOURS: "hours"}
    return {"name": text_of(result.name), "trips": result.n_trips, "measures": [
        {"name": text_of(one.name), "scope": scopes.get(one.scope, one.scope),
         "value": number_or_none(one.value), "floor": number_or_none(one.floor),
         "ratio": number_or_none(one.ratio)} for one in measures]}


# ---- report ----

@takes(ReportOptions)
def report(real: Any, *synthetic: Any, **options: Unpack[ReportOptions]) -> str:
    """Writes one HTML file to look at before releasing, and gives its path. NOT PRIVATE, unless
    public=True: then only the synthetic sets and their certificates are used, and `real` is not
    looked at (it may be None)."""
    keywords = Keywords("report", options, report)
    output = keywords.take("output")
    if output is None:
        raise UsageError("say where the report goes: `output`='report.html'")
    if not synthetic:
        raise UsageError("name the real trips and at least one synthetic set")
    with keywords.run() as run:
        wanted, looks = lib.dpl_report_defaults(), eval_options(keywords)
        real = with_query(real, keywords)
        public, as_is = keywords.take("public", False), keywords.take("as_is", False)
        given, trips = keywords.take("certificate"), keywords.take("trips")
        attacks, ledger = keywords.take("attack"), keywords.take("ledger")
        keywords.into(wanted, "report", ("basemap", "real_trips", "zones", "force"))
        read, area = reading_of(keywords, synthetic[0]), area_of(run, keywords, synthetic[0])
        keywords.end()
        wanted.eval = ctypes.cast(ctypes.pointer(looks), ctypes.c_void_p)
        if trips is not None:
            wanted.trips_shown = trips
        if not public:
            wanted.attack = keywords.text(attack_text(attacks))
            wanted.ledger = keywords.text(ledger_text(run, ledger, synthetic[0]))
        run.call("dpl_report_check", ctypes.byref(area), ctypes.byref(wanted), bytes_of(output))
        sets = Sets(run, read, area, as_is, own_phase=not looks.paper_measures)
        pages = (_abi.dpl_report_set * len(synthetic))()
        for i, data in enumerate(synthetic):
            fill_page(pages[i], sets.synthetic(data), name_of(data, i),
                      keywords.text(certificate_text(data, i, given)))
        first = _abi.dpl_report_set()
        if not public:
            fill_page(first, sets.real(real), name_of(real, 0) if paths_of(real) else "real", None)
        run.call("dpl_report", None if public else ctypes.byref(first), pages, len(synthetic),
                 ctypes.byref(wanted), bytes_of(output))
    return os.fspath(output)


def check_report(run: Run, area: Any, files: dict[str, Any], overwrite: bool) -> None:
    """Whether a report can be made with these maps, and written where it is wanted."""
    wanted, keep = lib.dpl_report_defaults(), [bytes_of(files[name]) for name in ("basemap",
                                                                                  "zones")]
    wanted.basemap, wanted.zones, wanted.overwrite = *keep, overwrite
    run.call("dpl_report_check", ctypes.byref(area), ctypes.byref(wanted),
             bytes_of(files["report"]))


def fill_page(page: Any, cleaned: tuple[Owned, Facts], name: str, certificate: Any) -> None:
    page.name, page.certificate = name.encode(), certificate
    page.trips, page.facts = cleaned[0].pointer, cleaned[1].pointer


def certificate_text(data: Any, i: int, given: Any) -> str | None:
    """The certificate of the i-th set: given (a text, a file or a Certificate), or its own."""
    if given is not None:
        one = given[i] if isinstance(given, (list, tuple)) else given
        if hasattr(one, "text"):
            return str(one.text)
        return Path(one).read_text() if os.path.exists(one) else str(one)
    paths = paths_of(data)
    if paths is None:
        return recall(data)
    beside = Path(paths[0] + ".certificate.json")
    return beside.read_text() if beside.exists() else None


def attack_text(attacks: Any) -> str | None:
    """What `attack` gave, or a file of `dploc attack --json`."""
    if attacks is None:
        return None
    return json.dumps(attacks) if isinstance(attacks, dict) else Path(attacks).read_text()


def ledger_text(run: Run, ledger: Any, synthetic: Any) -> str | None:
    if ledger is not None:
        return run.text("dpl_ledger_summary", bytes_of(ledger), True)
    private = private_notes(synthetic)
    fingerprint = private.get("fingerprint")
    if not fingerprint:
        return None
    place = ctypes.create_string_buffer(4096)
    run.call("dpl_ledger_place", fingerprint.encode(), place, len(place))
    if not os.path.exists(place.value):
        return None
    return run.text("dpl_ledger_summary", place.value, True)


def private_notes(data: Any) -> dict[str, Any]:
    """PATH.PRIVATE.json of trips or of a model in a file."""
    paths = paths_of(data) if not hasattr(data, "path") else [data.path] if data.path else None
    notes = Path(paths[0] + ".PRIVATE.json") if paths else None
    return dict(json.loads(notes.read_text())) if notes and notes.exists() else {}


# ---- attack ----

class Attack(Figures):
    """How well attackers find out who was in the data, against what the promise allows."""

    head = ("attack", "AUC", "TPR at 1 %", "allowed", "copying")

    def rows(self) -> list[tuple[str, ...]]:
        return [(one["name"], *(shown(one[part]) for part in (
            "auc", "tpr_at_fpr_1e2", "bound_at_1e2", "control_auc"))) for one in self["attacks"]]


class Side:
    """Members, or non-members: data, and which part of it."""

    def __init__(self, data: Any, hold_out: Any = None, any_day: bool = False):
        self.data, self.hold_out, self.any_day = data, hold_out, any_day


def choose_sides(real: Any, synthetic: Any, model: Any, unit: str, seed: int,
                 given: tuple[Any, Any]) -> tuple[list[Side], bool, str]:
    """Who was in: as given, as the fit recorded it, or by a model of half of the data."""
    if given[0] is not None:
        return [Side(given[0]), Side(given[1], any_day=True)], False, "data given"
    split = _abi.dpl_hold_out(share=0.5, by_user=unit == "user")
    recorded = dict(private_notes(synthetic).get("hold_out") or {})
    if not recorded and model is not None:
        recorded = dict(private_notes(model).get("hold_out") or {})
    shadow = not (recorded.get("key") and recorded.get("share"))
    if shadow:
        key = seed.to_bytes(8, "little") + bytes(24)
    else:
        key = bytes.fromhex(recorded["key"])
        split.share, split.by_user = recorded["share"], recorded["by_user"]
    split.key = (ctypes.c_uint8 * 32)(*key)
    rest = copied(split)
    rest.only = True
    words = ("a shadow model, fitted on half of the real trips; what follows is about it, not "
             "about the synthetic trips") if shadow else \
        "the split that the fit recorded in PRIVATE.json"
    return [Side(real, split), Side(real, rest)], shadow, words


@takes(AttackOptions)
def attack(real: Any, *synthetic: Any, **options: Unpack[AttackOptions]) -> Attack:
    """How well attackers find out who was in the data. NOT PRIVATE. Raises RefusedError, which has
    the result in `.result`, when one does better than the promise allows."""
    keywords = Keywords("attack", options, attack)
    if not synthetic:
        raise UsageError("name the real trips and the synthetic ones")
    with keywords.run() as run:
        real = with_query(real, keywords)
        read, area = reading_of(keywords, synthetic[0]), area_of(run, keywords, synthetic[0])
        job = Attacking(run, read, area, keywords, synthetic)
        given = keywords.take("members"), keywords.take("non_members")
        if (given[0] is None) != (given[1] is None):
            raise UsageError("`members` and non_members go together")
        model, control = keywords.take("model"), not keywords.take("no_control", False)
        keywords.end()
        sides, job.shadow, words = choose_sides(real, synthetic[0], model, job.unit, job.seed,
                                                given)
        return job.attacked(sides, words, model, control, synthetic)


class Attacking:
    """The promise that is attacked, and what attackers need."""

    def __init__(self, run: Run, read: Any, area: Any, keywords: Keywords, synthetic: Any):
        promise = promise_of(synthetic[0])
        self.run, self.area, self.read = run, area, read
        self.shadow = False
        self.seed = keywords.take("seed", 1)
        self.unit = str(keywords.take("unit", promise.get("unit", "trip")))
        self.epsilon = float(keywords.take("epsilon", promise.get("epsilon", math.nan)))
        self.delta = float(keywords.take("delta", promise.get("delta", 0)))
        self.public = public_options(synthetic[0])
        method = bytes_of(self.public.get("method"))
        self.sets = Sets(run, read, area, as_is=True,
                         own_phase=method is None or lib.dpl_method_own_phase(method))
        if math.isnan(self.epsilon):
            raise UsageError("the synthetic trips have no certificate: say what they promise with "
                             "`epsilon` and delta")

    def attacked(self, sides: list[Side], words: str, model: Any, control: bool,
                 synthetic: tuple[Any, ...]) -> Attack:
        members, others = (self.sets.real(side.data, side.hold_out, side.any_day)[0]
                           for side in sides)
        shown = _abi.dpl_attack_input(members=members.pointer, others=others.pointer)
        keep: list[Any] = []
        if control:
            keep.append(self.model_of(sides[0], math.inf))
            shown.control_model, shown.control = keep[-1][1], keep[-1][2].pointer
        if self.shadow:
            keep.append(self.model_of(sides[0], self.epsilon))
            shown.model, shown.synthetic = keep[-1][1], keep[-1][2].pointer
        elif model is not None:
            keep.append((model_in(model), 0, None))
            shown.model = keep[-1][0]._pointer
        made = Attack({"not_private": True, "split": words, "shadow": self.shadow,
                       "unit": self.unit, "epsilon": self.epsilon, "delta": self.delta,
                       "attacks": []})
        exceeds = False
        for i, data in enumerate(synthetic[:1] if self.shadow else synthetic):
            if not self.shadow:
                shown.synthetic = self.sets.synthetic(data)[0].pointer
            exceeds |= self.one(shown, "shadow" if self.shadow else name_of(data, i), made)
        if exceeds:
            raise RefusedError("an attack does better than the promise allows: do not release "
                               "this", made)
        return made

    def one(self, shown: Any, name: str, into: Attack) -> bool:
        wanted, found = lib.dpl_attack_defaults(), _abi.dpl_attack_report()
        wanted.epsilon, wanted.delta, wanted.seed = self.epsilon, self.delta, self.seed
        wanted.unit = choice("budget.unit", self.unit)
        self.run.call("dpl_attack", ctypes.byref(shown), ctypes.byref(wanted), ctypes.byref(found))
        into["attacks"] += [attack_dict(name, found.attack[i]) for i in range(found.n)]
        return bool(found.exceeds)

    def model_of(self, side: Side, epsilon: float) -> tuple[Owned, int, Owned]:
        """A fit on the members, its model, and as many trips as it estimates; nothing of it is
        released, so that no ledger is charged."""
        fit, read = lib.dpl_fit_defaults(), copied(self.read)
        fit.ledger, fit.accept_weak = b"none", True
        fit.budget.epsilon = epsilon
        fit.budget.delta = self.delta or fit.budget.delta
        fit.budget.unit = choice("budget.unit", self.unit)
        fit.budget.trips_max = int(self.public.get("trips-max", 0))
        method = bytes_of(self.public.get("method"))
        fit.method = method or fit.method
        if side.hold_out is not None:
            read.hold_out = side.hold_out
        trips = open_trips(self.run, side.data, read)
        made = Owned.made(self.run, "dpl_fit_free", "dpl_fit", trips.pointer,
                          ctypes.byref(self.area), ctypes.byref(fit))
        model = lib.dpl_fit_model(made.pointer)
        sample = lib.dpl_sample_defaults()
        sample.seed = self.seed
        return made, model, drawn_trips(self.run, model, sample, self.area)


def model_in(model: Any) -> Any:
    from .core import Model
    return model if isinstance(model, Model) else Model(model)


def promise_of(data: Any) -> dict[str, Any]:
    text = certificate_text(data, 0, None)
    promise = dict(json.loads(text)) if text else {}
    return {name: promise[name] for name in ("epsilon", "delta", "unit") if name in promise}


def attack_dict(name: str, one: Any) -> dict[str, Any]:
    return {"name": text_of(one.name), "synthetic": name, "auc": number_or_none(one.auc),
            "tpr_at_fpr_1e2": number_or_none(one.tpr[0]),
            "tpr_at_fpr_1e3": number_or_none(one.tpr[1]),
            "bound_at_1e2": number_or_none(one.bound[0]),
            "bound_at_1e3": number_or_none(one.bound[1]),
            "control_auc": number_or_none(one.control_auc),
            "control_inf_auc": number_or_none(one.control_inf_auc),
            "sanity_only": one.sanity_only, "exceeds": one.exceeds, "members": one.members,
            "non_members": one.others,
            "roc": [[one.roc[i].fpr, one.roc[i].tpr] for i in range(one.n_roc)],
            "roc_bound": [[one.roc[i].fpr, one.roc[i].bound] for i in range(one.n_roc)]}
