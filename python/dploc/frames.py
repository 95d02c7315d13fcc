"""Other packages' tables: in as streams of Arrow's, out as what the caller came with.

None of the packages is needed, and none is imported that was not there before: a frame is known by
the module of its class.

How a value is read depends on that value alone, never on the type that a package inferred for its
column: 7, 7.0 and "7" are one id, and a column of objects is read value by value. Where a package
has lost something while it inferred a type (ids beyond 2^53 as floats), nothing can bring it back:
declare the types when you load data, or load it as text (docs/PYTHON.md, "Types").
"""

from __future__ import annotations

import importlib.util
import os
import weakref
from typing import Any

from .arrow import Columns, Result, stream_of
from .errors import UsageError

KINDS = ("pandas", "polars", "pyarrow", "duckdb", "geopandas", "movingpandas", "skmob")
PLACE_COLUMNS = ("lat", "lng")
CERTIFICATE = "dploc_certificate"
EXACT_FLOAT = 2 ** 53


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def paths_of(data: Any) -> list[str] | None:
    """The names of files, or None where the data is in memory."""
    if is_path(data):
        return [os.fspath(data)]
    if isinstance(data, (list, tuple)) and data and all(is_path(one) for one in data):
        return [os.fspath(one) for one in data]
    return None


def kind_of(data: Any) -> str:
    """The package that a frame comes from; "pandas" of files."""
    for base in type(data).__mro__:
        package = base.__module__.partition(".")[0].lstrip("_")
        if package in KINDS and package != "pandas":
            return package
    return "pandas" if paths_of(data) is not None or is_pandas(data) else "pyarrow"


def is_pandas(data: Any) -> bool:
    return any(base.__module__.partition(".")[0] == "pandas" for base in type(data).__mro__)


# ---- in ----

def open_stream(data: Any, roles: Any) -> tuple[Any, Any]:
    """A stream of the frame's rows, and what must live as long as the stream is read. `roles` says
    which columns are looked at."""
    kind = kind_of(data)
    if kind == "movingpandas":
        data = points_of_collection(data)
    if hasattr(data, "geometry") and is_pandas(data):
        data = places_of_points(data)
    if is_pandas(data):
        return stream_of_pandas(data, roles)
    if not hasattr(data, "__arrow_c_stream__") and hasattr(data, "arrow"):
        data = data.arrow()  # a relation of an older DuckDB
    if not hasattr(data, "__arrow_c_stream__"):
        raise UsageError(f"dploc cannot read a {type(data).__module__}.{type(data).__qualname__}: "
                         "give a path, a frame of pandas, Polars, GeoPandas, MovingPandas or "
                         "scikit-mobility, an Arrow table, or a relation of DuckDB")
    capsule = data.__arrow_c_stream__()
    return stream_of(capsule), (data, capsule)


def points_of_collection(data: Any) -> Any:
    """All points of MovingPandas' trajectories, with their ids and times as columns."""
    import pandas
    parts = []
    for trajectory in getattr(data, "trajectories", [data]):
        part = trajectory.df.copy()
        part["tid"] = trajectory.id
        part["datetime"] = part.index
        parts.append(part.reset_index(drop=True)[["tid", "datetime", part.geometry.name]])
    made = pandas.concat(parts, ignore_index=True)
    return made.set_geometry(parts[0].geometry.name, crs=parts[0].crs)


def places_of_points(data: Any) -> Any:
    """A plain frame with lat and lng in place of the geometry, in degrees. A row whose geometry is
    no point has none, and is rejected alone."""
    import numpy
    import pandas
    points = data.geometry
    if points.crs is not None and points.crs.to_epsg() != 4326:
        points = points.to_crs(4326)
    known = (points.geom_type == "Point").to_numpy()
    if len(points) and not known.any():
        raise UsageError("the geometry must be points, one a row (MovingPandas makes points of "
                         "lines)")
    # The geometry is where the points are; other columns of such names would compete with it.
    others = [name for name in data.columns if name != points.name and name not in PLACE_COLUMNS]
    made = pandas.DataFrame(data[others])
    for name, values in (("lat", points[known].y), ("lng", points[known].x)):
        made[name] = numpy.nan
        made.loc[known, name] = values.to_numpy()
    return made


def stream_of_pandas(frame: Any, roles: Any) -> tuple[Any, Any]:
    """Columns of numpy, without a copy where the layout allows it. Where pandas keeps a column in
    pyarrow's memory, pyarrow makes the stream."""
    by_name = {str(name): name for name in frame.columns}
    columns = {name: column_of(frame[by_name[name]]) for name in roles.of(list(by_name))}
    if all(isinstance(column, tuple) for column in columns.values()):
        table = Columns(columns, len(frame))
        roles.warn_of_floats({name: column[0] for name, column in columns.items()})
        return table.stream(), (table, frame)
    import pyarrow
    arrays = {name: arrow_of(column, len(frame)) if isinstance(column, tuple) else column
              for name, column in columns.items()}
    table = pyarrow.table(arrays)
    capsule = table.__arrow_c_stream__()
    return stream_of(capsule), (table, capsule, frame)


def arrow_of(column: tuple[str, list[Any]], length: int) -> Any:
    """A column of numpy as an array of pyarrow's, without a copy."""
    import pyarrow
    kind, buffers = column
    types = {"U": pyarrow.large_string(), "f": pyarrow.float32(), "g": pyarrow.float64()}
    for name, letter in NUMBERS.items():
        types.setdefault(letter, getattr(pyarrow, name, pyarrow.float64)())
    for unit, start in STAMPS.items():
        types[start], types[start + "UTC"] = pyarrow.timestamp(unit), pyarrow.timestamp(unit, "UTC")
    return pyarrow.Array.from_buffers(types[kind], length, [
        None if one is None else pyarrow.py_buffer(one) for one in buffers])


NUMBERS = {"int8": "c", "uint8": "C", "int16": "s", "uint16": "S", "int32": "i", "uint32": "I",
           "int64": "l", "uint64": "L", "float32": "f", "float64": "g"}
STAMPS = {"s": "tss:", "ms": "tsm:", "us": "tsu:", "ns": "tsn:"}


def column_of(series: Any) -> Any:
    """The format and the buffers of one column, or pyarrow's array where pandas has one."""
    import numpy
    import pandas
    dtype = series.dtype
    if type(dtype).__name__ == "ArrowDtype" or getattr(dtype, "storage", "") == "pyarrow":
        import pyarrow
        return pyarrow.chunked_array(series.array.__arrow_array__())
    if isinstance(dtype, pandas.DatetimeTZDtype):
        moments = series.dt.tz_convert("UTC").dt.tz_localize(None)
        kind, buffers = stamps_of(moments.to_numpy())
        return kind + "UTC", buffers
    if isinstance(dtype, pandas.CategoricalDtype):
        texts = [text_of(value) for value in series.cat.categories] + [None]
        return joined([texts[code] for code in series.cat.codes])
    values, mask = (getattr(series.array, name, None) for name in ("_data", "_mask"))
    if isinstance(values, numpy.ndarray) and isinstance(mask, numpy.ndarray):  # Int64 and its like
        return number_of(values, bits_of(~mask) if mask.any() else None)
    plain = series.to_numpy()
    if plain.dtype.kind == "M":
        return stamps_of(plain)
    if plain.dtype.kind in "iufb" and plain.dtype.name != "float16":
        return number_of(plain, None)
    return texts_of(series.astype(object).to_numpy())


def bits_of(known: Any) -> Any:
    import numpy
    return numpy.packbits(known, bitorder="little")


def number_of(values: Any, known: Any) -> tuple[str, list[Any]]:
    import numpy
    if values.dtype.kind == "b":
        values = values.astype("uint8")
    return NUMBERS[values.dtype.name], [known, numpy.ascontiguousarray(values)]


def stamps_of(values: Any) -> tuple[str, list[Any]]:
    import numpy
    unit = numpy.datetime_data(values.dtype)[0]
    missing = numpy.isnat(values)
    known = bits_of(~missing) if missing.any() else None
    return STAMPS[unit], [known, numpy.ascontiguousarray(values).view("int64")]


def texts_of(values: Any) -> tuple[str, list[Any]]:
    """Objects, each by itself: a number by its digits, a time in ISO 8601."""
    return joined([text_of(value) for value in values])


def joined(texts: list[bytes | None]) -> tuple[str, list[Any]]:
    import numpy
    known = numpy.fromiter((text is not None for text in texts), bool, len(texts))
    lengths = numpy.fromiter((len(text or b"") for text in texts), "int64", len(texts))
    offsets = numpy.concatenate([numpy.zeros(1, "int64"), numpy.cumsum(lengths)])
    joined = numpy.frombuffer(b"".join(text or b"" for text in texts) or b"-", "uint8")
    return "U", [None if known.all() else bits_of(known), offsets, joined]


def text_of(value: Any) -> bytes | None:
    """One value as the text that a CSV would hold; None: it is missing.

    >>> text_of(7.0), text_of(7), text_of("7"), text_of(float("nan")), text_of(0.5)
    (b'7', b'7', b'7', None, b'0.5')
    """
    try:
        return text_of_one(value)
    except Exception:  # whatever it is, it ends no run: its row is rejected
        return None


def text_of_one(value: Any) -> bytes | None:
    if isinstance(value, str):
        return bytes_of(value)
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "isoformat"):
        return value.isoformat().encode()
    if isinstance(value, bytes):
        return value
    try:
        number = float(value)
        if number.is_integer() and abs(number) < EXACT_FLOAT and not isinstance(value, int):
            return str(int(number)).encode()
    except (TypeError, ValueError, OverflowError):
        pass
    return bytes_of(str(value.item() if hasattr(value, "item") else value))


def bytes_of(text: str) -> bytes:
    """Bytes that a package has kept as halves of pairs as they were, other halves as they are."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


# ---- out ----

def frame_of(result: Result, kind: str, certificate: str) -> Any:
    """Synthetic trips as a frame of the package, with their certificate. Without pandas they stay
    a stream, which any package that speaks Arrow reads (`__arrow_c_stream__`)."""
    if kind == "pandas" and importlib.util.find_spec("pandas") is None:
        made: Any = result
    else:
        made = MAKERS[kind](result)
    remember(made, certificate)
    return made


def pandas_of(result: Result) -> Any:
    import pandas
    read = result.columns()
    columns, formats = read["columns"], read["formats"]
    kind = formats["datetime"]
    if kind != "l":
        times = columns["datetime"]
        if int(pandas.__version__.partition(".")[0]) < 2:
            from numpy import iinfo, where
            missing = iinfo("int64").min
            stamps = where(times == missing, missing, times * 1000).view("datetime64[ns]")
        else:
            stamps = times.view("datetime64[us]")
        moments = pandas.Series(stamps)
        zone = kind.partition(":")[2]
        columns["datetime"] = moments.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else moments
    return pandas.DataFrame(columns)


def polars_of(result: Result) -> Any:
    import polars
    return polars.DataFrame(result)


def pyarrow_of(result: Result) -> Any:
    import pyarrow
    return pyarrow.RecordBatchReader.from_stream(result).read_all()


def duckdb_of(result: Result) -> Any:
    import duckdb
    return duckdb.from_arrow(pyarrow_of(result))


def geopandas_of(result: Result) -> Any:
    import geopandas
    frame = pandas_of(result)
    points = geopandas.points_from_xy(frame.pop("lng"), frame.pop("lat"), crs=4326)
    return geopandas.GeoDataFrame(frame, geometry=points)


def movingpandas_of(result: Result) -> Any:
    import movingpandas
    frame = geopandas_of(result)
    # Its trajectories have plain times: what local clocks show.
    if getattr(frame["datetime"].dtype, "tz", None) is not None:
        frame["datetime"] = frame["datetime"].dt.tz_localize(None)
    return movingpandas.TrajectoryCollection(frame, traj_id_col="tid", t="datetime")


def skmob_of(result: Result) -> Any:
    import skmob
    frame = pandas_of(result)
    if getattr(frame["datetime"].dtype, "tz", None) is not None:
        frame["datetime"] = frame["datetime"].dt.tz_localize(None)
    return skmob.TrajDataFrame(frame)


MAKERS = {"pandas": pandas_of, "polars": polars_of, "pyarrow": pyarrow_of, "duckdb": duckdb_of,
          "geopandas": geopandas_of, "movingpandas": movingpandas_of, "skmob": skmob_of}


# ---- certificates of frames ----

# Of frames that have no place for it, by their identity.
remembered: dict[int, str] = {}


def remember(frame: Any, certificate: str) -> None:
    if isinstance(getattr(frame, "attrs", None), dict):
        frame.attrs[CERTIFICATE] = certificate
        return
    remembered[id(frame)] = certificate
    try:
        weakref.finalize(frame, remembered.pop, id(frame), None)
    except TypeError:
        pass  # such an object lives on here, and another may get its place only after it


def recall(frame: Any) -> str | None:
    attributes = getattr(frame, "attrs", None)
    if isinstance(attributes, dict) and CERTIFICATE in attributes:
        return str(attributes[CERTIFICATE])
    return remembered.get(id(frame))
