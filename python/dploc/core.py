"""Private trips in, a model or synthetic trips out."""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _abi
from .arrow import Result
from .certificates import Certificate
from .errors import Interrupted, UsageError
from .frames import KINDS, frame_of, kind_of, recall
from .library import Owned, Run, bytes_of, lib, text_of
from .options import (FitOptions, Keywords, SampleOptions, SynthOptions, area_options, fit_options,
                      keywords_of, read_options, sample_options, takes, with_query)
from .reading import open_trips

if TYPE_CHECKING:
    from typing_extensions import Unpack

counter = itertools.count()


class Model:
    """A model that may be published, to draw trips from as often as you like.

    >>> import dploc
    >>> city = dploc.simulate(trips=300, seed=1)
    >>> model = dploc.fit(city, region="simulated", epsilon=20, ledger=None)
    >>> trips = model.sample(trips=10, seed=7)
    >>> list(trips.columns), trips.tid.nunique()
    (['tid', 'datetime', 'lat', 'lng'], 10)
    >>> model.certificate.epsilon <= 20
    True
    """

    def __init__(self, path: str | os.PathLike[str]):
        """Reads a model's file."""
        with Run(progress="none") as run:
            self._owner = Owned.made(run, "dpl_model_free", "dpl_model_read", bytes_of(path))
        self._fit: Owned | None = None
        self._kind = "pandas"
        self.path: str | None = os.fspath(path)
        self.certificate = Certificate(certificate_in(path))

    @classmethod
    def _of_fit(cls, fit: Owned, kind: str) -> Model:
        model = cls.__new__(cls)
        model._owner = model._fit = fit
        model._kind, model.path = kind, None
        model.certificate = Certificate(text_of(lib.dpl_fit_certificate(fit.pointer)))
        return model

    @property
    def _pointer(self) -> int:
        return lib.dpl_fit_model(self._fit.pointer) if self._fit else self._owner.pointer

    @takes(SampleOptions)
    def sample(self, **options: Unpack[SampleOptions]) -> Any:
        """Draws synthetic trips: a frame with uid (where users are protected), tid, datetime, lat
        and lng, of the kind that the model was fitted on, or of `frame`.

        It costs no privacy. The same model, seed and options give the same trips. With `output` the
        trips are also written to a file, with certificate and manifest beside it.
        """
        keywords = Keywords("Model.sample", options, type(self).sample)
        kind = frame_kind(keywords, self._kind)
        output = keywords.take("output")
        with keywords.run() as run:
            sample = sample_options(keywords)
            keywords.end()
            return self._draw(run, sample, output, kind)

    def _draw(self, run: Run, sample: Any, output: Any, kind: str) -> Any:
        if sample.seed < 0:
            sample.seed = secrets.randbits(53)  # one for the frame and the file
        if output is not None:
            run.call("dpl_sample_write", self._pointer, ctypes.byref(sample), bytes_of(output))
        elif sample.to or sample.release:
            raise UsageError("`to` and `release` belong to `output`")
        drawn = Owned.made(run, "dpl_trips_free", "dpl_sample", self._pointer, ctypes.byref(sample))
        stream = _abi.ArrowArrayStream()
        run.call("dpl_trips_to_arrow", drawn.give_away(), sample.times, ctypes.byref(stream))
        return frame_of(Result(stream), kind, self.certificate.text)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes the model's file; after a fit also what belongs beside it: certificate and
        manifest, which may be published, and PATH.PRIVATE.json, which is for you alone."""
        with Run(progress="none") as run:
            if self._fit:
                run.call("dpl_fit_write", self._fit.pointer, bytes_of(path), force)
            else:
                run.call("dpl_model_write", self._pointer, bytes_of(path), force)
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        promise = self.certificate
        return (f"<dploc.Model {promise.get('method', '')}: epsilon {promise.epsilon:.4g}, delta "
                f"{promise.delta:.3g} by {promise.get('unit', 'trip')}>")

    def _repr_html_(self) -> str:
        return self.certificate._repr_html_()


def certificate_in(path: Any) -> str:
    """The certificate that a model's file holds: its metadata are JSON behind eight bytes."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return str(json.loads(file.read(length))["__metadata__"]["certificate"])


def frame_kind(keywords: Keywords, otherwise: str) -> str:
    kind = str(keywords.take("frame", otherwise))
    if kind not in KINDS:
        raise UsageError(f"`frame` takes {', '.join(KINDS)}, not '{kind}'")
    return kind


def default_checkpoint() -> str:
    """A file of its own for every fit, where only the owner can read."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(Path.home(), ".local", "state")
    place = Path(state, "dploc", "python")
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    return str(place / f"{os.getpid()}-{next(counter)}-{secrets.token_hex(4)}.checkpoint")


def settle_checkpoint(fit: Any, keywords: Keywords) -> None:
    if fit.checkpoint:
        return
    if fit.resume:
        raise UsageError("`resume` needs `checkpoint`: the exception that stopped the fit names it")
    fit.checkpoint = keywords.text(default_checkpoint())


def stopped(error: Interrupted, fit: Any) -> Interrupted:
    """Says how to go on, where there is something to go on from."""
    place = os.fsdecode(fit.checkpoint)
    if not os.path.exists(place):
        return Interrupted("stopped before anything was spent")
    return Interrupted(f"stopped; nothing is lost: call again with resume=True, "
                       f"checkpoint={place!r}", place)


@takes(FitOptions)
def fit(data: Any = None, **options: Unpack[FitOptions]) -> Any:
    """Fits a model that may be published to private trips.

    `data`: a path or several, or a frame of pandas, Polars, GeoPandas, MovingPandas or
    scikit-mobility, an Arrow table, or a relation of DuckDB, with one point a row. Every option of
    `dploc fit` is a keyword: region or bbox=(S, W, N, E) with tz, epsilon, delta, unit, method and
    so on. ledger=None keeps no sum over releases; left out, the data set has its own ledger. With
    `output` the model is also written, as Model.save does.

    dry_run=True gives the plan instead, and spends nothing. Ctrl-C stops at a safe point; the
    exception (dploc.Interrupted) names the checkpoint to go on from with resume=True.

    >>> import dploc
    >>> city = dploc.simulate(trips=300, seed=1)
    >>> dploc.fit(city, region="simulated", epsilon=20, ledger=None)
    <dploc.Model bridge: epsilon ..., delta 1e-08 by trip>
    """
    keywords = Keywords("fit", options, fit)
    with keywords.run() as run:
        output, dry_run = keywords.take("output"), keywords.take("dry_run", False)
        overwrite = keywords.take("force", False)
        data = with_query(data, keywords)
        read, area = read_options(keywords), area_options(run, keywords)
        read.dates = keywords.text(keywords.take("dates"))
        wanted = fit_options(keywords)
        keywords.into(wanted, "fit", ("roads", "travel"))
        keywords.end()
        if dry_run:
            return preview(run, data, read, area, wanted)
        overwrite = overwrite or wanted.resume
        if output is not None:
            run.call("dpl_fit_check_path", bytes_of(output), overwrite)
            beside = f"{os.fspath(output)}.checkpoint"
            wanted.checkpoint = wanted.checkpoint or keywords.text(beside)
        settle_checkpoint(wanted, keywords)
        model = Model._of_fit(fitted(run, data, read, area, wanted), kind_of(data))
        finish(run, model, output, overwrite)
        return model


def fitted(run: Run, data: Any, read: Any, area: Any, wanted: Any) -> Owned:
    trips = open_trips(run, data, read)
    try:
        return Owned.made(run, "dpl_fit_free", "dpl_fit", trips.pointer, ctypes.byref(area),
                          ctypes.byref(wanted))
    except Interrupted as error:
        raise stopped(error, wanted) from None


def finish(run: Run, model: Model, output: Any, overwrite: bool) -> None:
    """The model's files, if they are wanted, and the end of the checkpoint."""
    fit = model._owner.pointer
    if output is not None:
        run.call("dpl_fit_write", fit, bytes_of(output), overwrite)
        model.path = os.fspath(output)
    run.call("dpl_fit_finish", fit)


def preview(run: Run, data: Any, read: Any, area: Any, wanted: Any) -> dict[str, Any]:
    trips = open_trips(run, data, read) if data is not None else None
    return dict(json.loads(run.text("dpl_fit_preview", trips.pointer if trips else None,
                                    ctypes.byref(area), ctypes.byref(wanted), True)))


@takes(SynthOptions)
def synth(data: Any = None, **options: Unpack[SynthOptions]) -> Any:
    """Private trips in, synthetic trips out: a frame of the caller's kind (of files: pandas).

    It has the columns uid (where users are protected), tid, datetime, lat and lng. Its certificate
    is dploc.certificate(frame). Every option of `dploc synth` is a keyword; see `fit` for the data,
    the ledger and Ctrl-C. With `output` the trips are also written to a file, with everything that
    belongs beside it; `report` names an HTML file to look at.

    >>> import dploc
    >>> city = dploc.simulate(trips=300, seed=1)
    >>> trips = dploc.synth(city, region="simulated", epsilon=20, ledger=None, trips=5, seed=3)
    >>> trips.tid.nunique(), dploc.certificate(trips).epsilon <= 20
    (5, True)
    """
    from .judge import check_report, report as make_report
    keywords = Keywords("synth", options, synth)
    given = dict(keywords.given)
    kind = frame_kind(keywords, kind_of(data))
    files = {name: keywords.take(name)
             for name in ("output", "model", "report", "basemap", "zones")}
    looks = {name: value for name, value in given.items() if name in keywords_of(make_report)
             and name not in ("output", "report", "trips", "seed", "ledger", "sql")}
    with keywords.run() as run:
        dry_run, force = keywords.take("dry_run", False), keywords.given.get("force", False)
        data = with_query(data, keywords)
        read, area = read_options(keywords), area_options(run, keywords)
        sample = sample_options(keywords)
        read.dates = sample.date  # the period of the data, and of the trips
        wanted = fit_options(keywords)
        if wanted.method == b"bridge":  # as dpl_synth does
            wanted.roads, wanted.travel = sample.roads, sample.travel
        keywords.end()
        if dry_run:
            return preview(run, data, read, area, wanted)
        if files["output"] is not None and not wanted.checkpoint:
            wanted.checkpoint = keywords.text(f"{os.fspath(files['output'])}.checkpoint")
        settle_checkpoint(wanted, keywords)
        if sample.seed < 0:
            sample.seed = secrets.randbits(53)
        overwrite = force or wanted.resume
        if files["report"] is not None:
            check_report(run, area, files, overwrite)  # before anything is spent
        job = Job(run, data, read, area, wanted, sample, files, overwrite)
        frame = job.done(kind)
    if files["report"] is not None:
        make_report(data, frame, **{**looks, "output": files["report"]})  # type: ignore[arg-type]
    return frame


class Job:
    """What synth does, once all options are settled."""

    def __init__(self, *parts: Any):
        (self.run, self.data, self.read, self.area, self.fit, self.sample, self.files,
         self.overwrite) = parts

    def done(self, kind: str) -> Any:
        if self.files["output"] is None:
            model = Model._of_fit(fitted(self.run, self.data, self.read, self.area, self.fit), kind)
            frame = model._draw(self.run, self.sample, None, kind)
            finish(self.run, model, self.files["model"], self.overwrite)
            return frame
        model = Model._of_fit(self.written(), kind)
        self.sample.to = self.sample.release = None
        return model._draw(self.run, self.sample, None, kind)

    def written(self) -> Owned:
        """The whole job of the command line: files beside each other, or none."""
        trips = open_trips(self.run, self.data, self.read)
        synth = lib.dpl_synth_defaults()
        model = bytes_of(self.files["model"])
        synth.fit = ctypes.cast(ctypes.pointer(self.fit), ctypes.c_void_p)
        synth.sample = ctypes.cast(ctypes.pointer(self.sample), ctypes.c_void_p)
        synth.overwrite, synth.model = self.overwrite, model
        try:
            return Owned.made(self.run, "dpl_fit_free", "dpl_synth", trips.pointer,
                              ctypes.byref(self.area), ctypes.byref(synth),
                              bytes_of(self.files["output"]))
        except Interrupted as error:
            raise stopped(error, self.fit) from None


def certificate(source: Any) -> Certificate:
    """The certificate of a frame that synth or sample made, of a Model, or of a file: of synthetic
    trips or a model (the one beside it, or in it), or the certificate itself.

    >>> import dploc
    >>> dploc.certificate({})
    Traceback (most recent call last):
    dploc.errors.UsageError: there is no certificate with this dict
    """
    if isinstance(source, Model):
        return source.certificate
    if isinstance(source, (str, os.PathLike)):
        return Certificate(certificate_of_file(os.fspath(source)))
    text = recall(source)
    if text is None:
        raise UsageError(f"there is no certificate with this {type(source).__name__}")
    return Certificate(text)


def certificate_of_file(path: str) -> str:
    with open(path, "rb") as file:
        head = file.read(64)
    if lib.dpl_certificate_recognise(head, len(head)):
        return Path(path).read_text()
    if lib.dpl_model_recognise(head, len(head)):
        return certificate_in(path)
    beside = Path(path + ".certificate.json")
    if not beside.exists():
        raise UsageError(f"{path} has no certificate beside it")
    return beside.read_text()
