"""Arrow's C interface by ctypes: streams in and out, and columns of numpy as a stream.

No package is needed for it: where pyarrow is missing, numpy's columns are wrapped here into the
same structs.
"""

from __future__ import annotations

import ctypes
from typing import Any, Iterator

from . import _abi
from .library import text_of

STREAM = b"arrow_array_stream"
Stream, Schema, Array = _abi.ArrowArrayStream, _abi.ArrowSchema, _abi.ArrowArray
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def release(struct: Any) -> None:
    if struct.release:
        RELEASE(struct.release)(ctypes.addressof(struct))


def stream_of(capsule: Any) -> Any:
    """The stream in another package's capsule, which goes on owning the struct."""
    return Stream.from_address(python.PyCapsule_GetPointer(capsule, STREAM))


class Result:
    """A stream of the library's, for any package that speaks Arrow."""

    def __init__(self, stream: Any):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """A capsule without a destructor: the struct is kept here until its content was taken."""
        Result.given[:] = [one for one in Result.given if one.stream.release] + [self]
        return python.PyCapsule_New(ctypes.addressof(self.stream), STREAM, None)

    given: list[Result] = []

    def columns(self) -> dict[str, Any]:
        """All of it as columns of numpy, by name; times are numbers of microseconds."""
        import numpy
        schema = Schema()
        self.check(GET_SCHEMA(self.stream.get_schema)(ctypes.byref(self.stream),
                                                      ctypes.byref(schema)))
        children = ctypes.cast(schema.children, ctypes.POINTER(ctypes.POINTER(Schema)))
        names = [text_of(children[i].contents.name) for i in range(schema.n_children)]
        formats = [text_of(children[i].contents.format) for i in range(schema.n_children)]
        parts: list[list[Any]] = [[] for _ in names]
        for chunk in self.chunks():
            for i, values in enumerate(chunk_columns(chunk, formats)):
                parts[i].append(values)
        release(schema)
        release(self.stream)
        made = {name: numpy.concatenate(part) if part else numpy.zeros(0, dtype_of(kind))
                for name, part, kind in zip(names, parts, formats)}
        return {"columns": made, "formats": dict(zip(names, formats))}

    def chunks(self) -> Iterator[Any]:
        while True:
            chunk = Array()
            self.check(GET_NEXT(self.stream.get_next)(ctypes.byref(self.stream),
                                                      ctypes.byref(chunk)))
            if not chunk.release:
                return
            yield chunk
            release(chunk)

    def check(self, error: int) -> None:
        if error:
            raise MemoryError("dploc: the synthetic trips do not fit into memory")

    def __del__(self) -> None:
        release(self.stream)


def dtype_of(kind: str) -> str:
    return "float64" if kind == "g" else "int64"


def chunk_columns(chunk: Any, formats: list[str]) -> list[Any]:
    """Copies of a chunk's columns; a time that is missing is the least number, numpy's NaT."""
    import numpy
    children = ctypes.cast(chunk.children, ctypes.POINTER(ctypes.POINTER(Array)))
    made = []
    for i, kind in enumerate(formats):
        array = children[i].contents
        buffers = ctypes.cast(array.buffers, ctypes.POINTER(ctypes.c_void_p))
        memory = (ctypes.c_char * (8 * array.length)).from_address(buffers[1] or 0)
        values = numpy.frombuffer(memory, dtype_of(kind)).copy()
        if array.null_count > 0:
            bits = numpy.frombuffer((ctypes.c_uint8 * ((array.length + 7) // 8)).from_address(
                buffers[0]), "uint8")
            known = numpy.unpackbits(bits, bitorder="little")[:array.length].astype(bool)
            values[~known] = numpy.iinfo("int64").min
        made.append(values)
    return made


# ---- columns of numpy, as a stream ----

class Columns:
    """A table of numpy columns: by name, a format of Arrow's and the buffers (None: no such)."""

    def __init__(self, columns: dict[str, tuple[str, list[Any]]], length: int):
        self.columns, self.length = columns, length

    def stream(self) -> Any:
        return Source(self).stream


class Source:
    """The stream of a Columns. It lives until the last struct that it gave away is released."""

    alive: dict[int, Source] = {}

    def __init__(self, table: Columns):
        self.table, self.given = table, False
        self.keep: list[Any] = []
        self.structs = 1
        self.callbacks = (GET_SCHEMA(self.get_schema), GET_NEXT(self.get_next),
                          GET_ERROR(lambda _: b""))
        self.stream = Stream(*(address(callback) for callback in self.callbacks),
                             RELEASES[Stream][0], id(self))
        Source.alive[id(self)] = self

    def get_schema(self, _: Any, schema: Any) -> int:
        children = [Schema(format=self.kept(kind.encode()), name=self.kept(name.encode()), flags=2,
                           release=NO_RELEASE)
                    for name, (kind, _buffers) in self.table.columns.items()]
        self.give(Schema, schema, children, format=self.kept(b"+s"), name=self.kept(b""))
        return 0

    def get_next(self, _: Any, chunk: Any) -> int:
        chunk.contents.release = None
        if not self.given:
            self.given = True
            children = [self.array(buffers) for _kind, buffers in self.table.columns.values()]
            self.give(Array, chunk, children, length=self.table.length, n_buffers=1,
                      buffers=self.places([None]))
        return 0

    def array(self, buffers: list[Any]) -> Any:
        return Array(length=self.table.length, null_count=0 if buffers[0] is None else -1,
                     n_buffers=len(buffers), buffers=self.places(buffers), release=NO_RELEASE)

    def places(self, buffers: list[Any]) -> Any:
        made = (ctypes.c_void_p * len(buffers))(
            *(None if one is None else one.ctypes.data for one in buffers))
        self.keep.append(made)
        return ctypes.cast(made, ctypes.c_void_p)

    def give(self, kind: Any, into: Any, children: list[Any], **members: Any) -> None:
        pointers = (ctypes.c_void_p * max(1, len(children)))(
            *(ctypes.addressof(child) for child in children))
        self.keep += [pointers, children]
        into[0] = kind(n_children=len(children), children=ctypes.cast(pointers, ctypes.c_void_p),
                       release=RELEASES[kind][0], private_data=id(self), **members)
        self.structs += 1

    def kept(self, text: bytes) -> bytes:
        self.keep.append(text)
        return text


def released(kind: Any) -> tuple[int, Any]:
    """The release of a struct that a Source gave away, which may have been moved since."""

    @RELEASE
    def call(place: int) -> None:
        struct = kind.from_address(place)
        source = Source.alive.get(struct.private_data)
        struct.release = None
        if source is not None:
            source.structs -= 1
            if source.structs == 0:
                del Source.alive[id(source)]

    return address(call), call


@RELEASE
def no_release(place: int) -> None:
    """Children are held by their parent."""


NO_RELEASE = address(no_release)
RELEASES = {kind: released(kind) for kind in (Stream, Schema, Array)}
