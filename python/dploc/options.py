"""Keywords: the options of the command line, with underscores.

Each class lists keywords of one kind with their types; `dploc synth --help-all` says what they do.
Most have the name of a member of the library's structs and go there as they are; the others have a
row in MEMBERS or are settled by hand.
"""

from __future__ import annotations

import ctypes
import inspect
import json
import math
import os
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Sequence, Tuple, TypedDict, TypeVar,
                    Union)

from . import _abi
from .errors import UsageError
from .library import Run, bytes_of, lib

Path = Union[str, "os.PathLike[str]"]
if TYPE_CHECKING:
    from collections.abc import Mapping


class RunOptions(TypedDict, total=False):
    """How a call is made."""

    config: Path
    threads: int
    progress: str
    quiet: bool


class AreaOptions(TypedDict, total=False):
    """Where and how finely to look: public choices, never taken from the data."""

    region: str
    regions: Path
    bbox: Tuple[float, float, float, float]
    tz: str
    cell: float
    slot: int
    periods: int
    max_speed: float


class ReadOptions(TypedDict, total=False):
    """How data is read and cleaned."""

    format: str
    trip_column: str
    user_column: str
    time_column: str
    date_column: str
    time_format: str
    lat_column: str
    lon_column: str
    coordinates: str
    columns: str
    separator: str
    time_unit: str
    max_gap: float
    drop: str
    strict: bool
    od: bool
    sql: str


class PrivacyOptions(TypedDict, total=False):
    """What may be spent, on what, and who keeps the sum."""

    epsilon: float
    delta: float
    unit: str
    trips_max: int
    trips_as_cut: bool
    accept_weak: bool
    size: int
    hold_out: float
    ledger: Union[Path, None]
    dataset: str
    new_data: bool
    total_epsilon: float
    total_delta: float
    method: str
    mechanism: str
    memory: float
    coverage: float
    share: "Union[str, Mapping[str, float]]"
    shares: "Union[str, Mapping[str, float]]"
    sigma_lengths: float
    sigma_topk: float
    sigma_ti: float
    sigma_tpg: float
    kl_weight: float
    no_destination: bool
    as_published: bool
    sglt_form: str
    keep: str
    resume: bool
    restart: bool
    checkpoint: Path
    checkpoint_every: float
    show_private_loss: bool
    insecure_seed: int


class DrawOptions(TypedDict, total=False):
    """Which synthetic trips."""

    trips: int
    dates: str
    date: str
    seed: int
    points: str
    times: str
    interval: int
    gps_error: float
    mh_steps: int
    no_looping: bool
    roads: Path
    travel: str


class FileOptions(TypedDict, total=False):
    """Files to write."""

    output: Path
    to: str
    columns_out: str
    license: str
    release: Path
    force: bool


class FitOptions(RunOptions, AreaOptions, ReadOptions, PrivacyOptions, total=False):
    """Keywords of `fit`."""

    output: Path
    force: bool
    dry_run: bool
    dates: str
    roads: Path
    travel: str


class SampleOptions(RunOptions, DrawOptions, FileOptions, total=False):
    """Keywords of `Model.sample`."""

    block: Union[str, Tuple[int, int]]
    frame: str


class SynthOptions(RunOptions, AreaOptions, ReadOptions, PrivacyOptions, DrawOptions, FileOptions,
                   total=False):
    """Keywords of `synth`."""

    model: Path
    report: Path
    basemap: Path
    zones: Path
    dry_run: bool
    frame: str


class InspectOptions(RunOptions, AreaOptions, ReadOptions, total=False):
    """Keywords of `inspect`."""

    dates: str
    roads: Path
    travel: str


class EvalOptions(RunOptions, AreaOptions, ReadOptions, total=False):
    """Keywords of `evaluate`."""

    dates: str
    only: Union[str, Sequence[str]]
    test: Any
    stages: Any
    blur: float
    peer_measures: bool
    paper_measures: bool
    frequent_cells: bool
    as_is: bool
    splits: int
    seed: int
    roads: Path
    travel: str


class ReportOptions(RunOptions, AreaOptions, ReadOptions, total=False):
    """Keywords of `report`."""

    dates: str
    output: Path
    public: bool
    certificate: Any
    basemap: Path
    zones: Path
    trips: int
    real_trips: int
    attack: Any
    ledger: Path
    as_is: bool
    splits: int
    seed: int
    paper_measures: bool
    force: bool


class AttackOptions(RunOptions, AreaOptions, ReadOptions, total=False):
    """Keywords of `attack`."""

    dates: str
    members: Any
    non_members: Any
    epsilon: float
    delta: float
    unit: str
    model: Any
    no_control: bool
    seed: int


class SimulateOptions(RunOptions, total=False):
    """Keywords of `simulate`."""

    output: Path
    layout: str
    trips: int
    users: int
    days: int
    date: str
    seed: int
    city: int
    sampling: str
    pace: str
    dirty: bool
    roads_out: Path
    force: bool
    frame: str


class AccountOptions(RunOptions, total=False):
    """Keywords of `account`."""

    gaussian: Any
    poisson: Any
    laplace: Any
    delta: float
    n: int
    batch: int
    epochs: float
    sigma: float
    target_epsilon: float
    shares: Sequence[float]
    curve: bool
    paper: str


Function = TypeVar("Function", bound=Callable[..., Any])


def takes(options: Any) -> Callable[[Function], Function]:
    """Gives a function with **options its keywords, for help() and for editors."""

    def dress(function: Function) -> Function:
        given = [parameter for parameter in inspect.signature(function).parameters.values()
                 if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        known = {parameter.name for parameter in given}
        kinds = options.__annotations__
        more = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=...,
                                  annotation=kind)
                for name, kind in kinds.items() if name not in known]
        setattr(function, "__signature__", inspect.Signature(given + more))
        setattr(function, "keywords", known | set(kinds))
        return function

    return dress


def keywords_of(function: Any) -> set[str]:
    """The names that a function takes.

    >>> import dploc
    >>> "epsilon" in keywords_of(dploc.fit)
    True
    """
    return set(function.keywords)


# Keywords that are called otherwise in the library.
MEMBERS = {
    "cell": "cell_m", "slot": "slot_s", "max_speed": "speed_limit_kmh", "dates": "date",
    "interval": "interval_s", "gps_error": "gps_error_m", "checkpoint_every": "checkpoint_s",
    "force": "overwrite", "blur": "blur_m", "real_trips": "real_trips_shown", "memory": "memory_mb",
}


class Keywords:
    """The keywords of one call; each is taken once, and none may be left over."""

    def __init__(self, call: str, given: Mapping[str, object], function: Any):
        self.call, self.known = call, keywords_of(function)
        self.given: dict[str, Any] = dict(given)
        self.keep: list[Any] = []
        for name in given:
            if name not in self.known:
                near = [word for word in sorted(self.known) if word.startswith(name[:4])]
                raise UsageError(f"dploc.{call} has no keyword `{name}`"
                                 + (f" (there is {', '.join(near)})" if near else ""))
        for name, value in config_options(self.given.pop("config", None)).items():
            if name in self.known:  # a manifest has the options of all that was done
                self.given.setdefault(name, value)

    def take(self, name: str, otherwise: Any = None) -> Any:
        return self.given.pop(name, otherwise)

    def has(self, name: str) -> bool:
        return name in self.given

    def run(self) -> Run:
        threads, progress = self.take("threads", 0), self.take("progress", "auto")
        return Run(threads, progress, self.take("quiet", False))

    def into(self, struct: ctypes.Structure, field: str, names: Iterable[str]) -> None:
        """Puts keywords into members of the struct; `field` is what messages call it."""
        kinds: dict[str, Any] = {field[0]: field[1] for field in struct._fields_}
        for name in list(names):
            member = MEMBERS.get(name, name)
            if name in self.given and member in kinds:
                setattr(struct, member, self.convert(f"{field}.{member}", kinds[member],
                                                     self.given.pop(name)))

    def convert(self, field: str, kind: Any, value: Any) -> Any:
        if kind is ctypes.c_char_p:
            return self.text(value)
        if kind is ctypes.c_int and isinstance(value, str):
            return choice(field, value)
        try:
            if kind is ctypes.c_double:
                return float(value)  # also "inf", as certificates and manifests have it
            return kind(value).value
        except (TypeError, ValueError):
            raise UsageError(f"`{field}` cannot be {value!r}") from None

    def text(self, value: Any) -> bytes | None:
        """Kept as long as the call: structs hold addresses."""
        made = bytes_of(value)
        self.keep.append(made)
        return made

    def end(self) -> None:
        if self.given:
            raise UsageError(f"dploc.{self.call} does not use `{next(iter(self.given))}` here")


def config_options(path: Any) -> dict[str, Any]:
    """The options in a file, a JSON object or the manifest of an earlier run, as keywords."""
    if path is None:
        return {}
    wanted = "it takes a JSON object of options, or the manifest of an earlier run"
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(f"`config`: {path}: {error} ({wanted})") from None
    options = content.get("options", content) if isinstance(content, dict) else None
    if not isinstance(options, dict):
        raise UsageError(f"`config`: {path}: not a JSON object of options ({wanted})")
    made = {name.replace("-", "_"): value for name, value in options.items()}
    for name in made:
        if not any(name in kinds.__annotations__ for kinds in EVERY):
            raise UsageError(f"`config`: {path}: there is no option '{name}'")
    return made


EVERY = (FitOptions, SampleOptions, SynthOptions, InspectOptions, EvalOptions, ReportOptions,
         AttackOptions, SimulateOptions, AccountOptions)


def choice(field: str, name: str) -> int:
    """The value of a name: "trip" of budget.unit.

    >>> choice("budget.unit", "user"), choice("sample.travel", "bike")
    (1, 1)
    """
    run = lib.dpl_run_new(None)
    if not lib.dpl_choice_name(field.encode(), 0):
        field = field.rpartition(".")[2]  # one that several structs share
    try:
        value = ctypes.c_int()
        if lib.dpl_choice(run, field.encode(), bytes_of(name), ctypes.byref(value)) != _abi.DPL_OK:
            raise UsageError(lib.dpl_run_message(run).decode())
        return value.value
    finally:
        lib.dpl_run_free(run)


def read_options(keywords: Keywords) -> Any:
    read = lib.dpl_read_defaults()
    gap = keywords.take("max_gap")
    if gap is not None:
        read.gap_limit_s = round(gap * 60)
    drop = keywords.take("drop", "trips")
    if drop not in ("trips", "points"):
        raise UsageError(f"`drop` takes trips or points, not '{drop}'")
    read.drop_points = drop == "points"
    if keywords.take("od", False):
        keywords.given.setdefault("format", "od")
    if keywords.has("tz"):
        read.zone = keywords.text(keywords.given["tz"])
    keywords.into(read, "read", ReadOptions.__annotations__)
    return read


def with_query(data: Any, keywords: Keywords) -> Any:
    """The data, behind what a query of Parquet files selects, if there is one."""
    query = keywords.take("sql")
    if query is None:
        return data
    first = "sql:" + query
    if data is None:
        return first
    return [first, data] if isinstance(data, (str, os.PathLike)) else [first, *data]


def no_area() -> UsageError:
    names: list[str] = []
    while name := lib.dpl_area_preset_name(len(names)):
        names.append(name.decode())
    return UsageError(f"no area given: use `region` ({', '.join(names)}) or `bbox`=(S, W, N, E) "
                      "with `tz`; take the box from a public map, never from the data: its extent "
                      "is private")


def area_options(run: Run, keywords: Keywords, required: bool = True) -> Any:
    """The area, checked; None where none is given and none is needed."""
    area = lib.dpl_area_defaults()
    region, bbox, regions = (keywords.take(name) for name in ("region", "bbox", "regions"))
    zone = keywords.take("tz")
    keywords.into(area, "area", ("cell", "slot", "periods", "max_speed"))
    if region is not None and bbox is not None:
        raise UsageError("`region` and `bbox` exclude each other")
    if region is None and bbox is None:
        if required:
            raise no_area()
        return None
    if regions is not None and region is not None:
        run.call("dpl_area_from_file", bytes_of(regions), bytes_of(region), ctypes.byref(area))
    elif region is not None:
        run.call("dpl_area_preset", bytes_of(region), ctypes.byref(area))
    else:
        area.south_deg, area.west_deg, area.north_deg, area.east_deg = box_of(bbox)
    if zone is not None:
        area.zone = os.fsencode(zone)[:_abi.DPL_ZONE_NAME - 1]
    run.call("dpl_grid_make", ctypes.byref(area), ctypes.byref(_abi.dpl_grid()))
    return area


def box_of(bbox: Any) -> tuple[float, ...]:
    """(S, W, N, E), also as the command line's text.

    >>> box_of("48, 11, 48.2, 11.5")
    (48.0, 11.0, 48.2, 11.5)
    """
    try:
        box = tuple(float(side) for side in (bbox.split(",") if isinstance(bbox, str) else bbox))
    except (TypeError, ValueError):
        box = ()
    if len(box) != 4:
        raise UsageError(f"`bbox` takes (south, west, north, east) in degrees, not {bbox!r}")
    return box


def list_of(parts: Any) -> str:
    """{"ti": 0.3} as the library's "ti=0.3"."""
    if isinstance(parts, str):
        return parts
    return ",".join(f"{name}={value!r}" for name, value in parts.items())


def fit_options(keywords: Keywords) -> Any:
    fit = lib.dpl_fit_defaults()
    if keywords.has("ledger"):  # left out: the data set's own
        ledger = keywords.take("ledger")
        fit.ledger = keywords.text("none" if ledger is None else ledger)
    seed = keywords.take("insecure_seed")
    if seed is not None:
        fit.budget.insecure_seed, fit.insecure_seed = True, seed
    shares = [list_of(keywords.take(name)) for name in ("share", "shares") if keywords.has(name)]
    if shares:
        fit.shares = keywords.text(",".join(shares))
    sigmas = {name: keywords.take("sigma_" + name) for name in ("lengths", "topk", "ti", "tpg")}
    given = {name: sigma for name, sigma in sigmas.items() if sigma is not None}
    if given:
        fit.sigmas = keywords.text(list_of(given))
    keywords.into(fit.budget, "budget", PrivacyOptions.__annotations__)
    keywords.into(fit, "fit", keywords.known - set(SHARED))
    if fit.budget.unit == _abi.DPL_UNIT_TRIP and fit.budget.trips_max > 1:
        raise UsageError("`trips_max` belongs to unit='user'")
    return fit


# Names that are members of several structs: a fit leaves them to the others.
SHARED = ("seed", "trips", "format", "model", "report", "points", "times", "to", "release", "force",
          "date", "dates", "roads", "travel")


def sample_options(keywords: Keywords) -> Any:
    sample = lib.dpl_sample_defaults()
    block = keywords.take("block")
    if block is not None:
        sample.block, sample.blocks = part_of(block)
    keywords.into(sample, "sample", DrawOptions.__annotations__)
    keywords.into(sample, "sample", FileOptions.__annotations__)
    return sample


def part_of(block: Any) -> tuple[int, int]:
    """Block I of S, from 1 on, also as the command line's text; the library counts from 0.

    >>> part_of("1/4"), part_of((4, 4))
    ((0, 4), (3, 4))
    """
    try:
        index, of = (int(one) for one in (block.split("/") if isinstance(block, str) else block))
    except (TypeError, ValueError):
        index, of = 0, 0
    if not 1 <= index <= of:
        raise UsageError(f"`block` takes (I, S) or 'I/S' with I from 1 to S, not {block!r}")
    return index - 1, of


def number_or_none(value: float) -> float | None:
    """NaN, "not defined", as None."""
    return None if math.isnan(value) else value
