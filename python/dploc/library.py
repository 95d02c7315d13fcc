"""The shared library: loading it, calling it, progress, and stopping."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from pathlib import Path
from typing import Any, Callable

from . import _abi
from .errors import BadDataError, DplocError, Interrupted, RefusedError, SystemFailure, UsageError
from .progress import Progress

ERRORS = {_abi.DPL_BAD_DATA: BadDataError, _abi.DPL_USAGE: UsageError,
          _abi.DPL_SYSTEM: SystemFailure, _abi.DPL_REFUSED: RefusedError}
ON_PROGRESS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(_abi.dpl_progress))
ON_NOTE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


def load() -> ctypes.CDLL:
    """The library that DPLOC_LIBRARY names, or the one beside this file, or the system's: a Debian
    package has it in a package of its own."""
    beside = Path(__file__).with_name("libdploc.so.0")
    found = str(beside) if beside.exists() else beside.name
    library = ctypes.CDLL(os.environ.get("DPLOC_LIBRARY") or found)
    for name, (result, arguments) in _abi.FUNCTIONS.items():
        call = getattr(library, name)
        call.restype, call.argtypes = result, arguments
    return library


lib = load()


def text_of(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


def bytes_of(value: Any) -> bytes | None:
    """A text or a path for the library; None stays None."""
    return None if value is None else os.fsencode(value)


class Run:
    """The context of one call, with its progress, and the way to stop it."""

    def __init__(self, threads: int = 0, progress: str = "auto", quiet: bool = False):
        self.bar = Progress.of(progress, quiet)
        self._keep = (ON_PROGRESS(self._on_progress), ON_NOTE(self._on_note))
        options = lib.dpl_run_defaults()
        options.threads = threads
        options.on_progress = ctypes.cast(self._keep[0], ctypes.c_void_p)
        options.on_note = ctypes.cast(self._keep[1], ctypes.c_void_p)
        self.pointer = lib.dpl_run_new(ctypes.byref(options))
        if not self.pointer:
            raise MemoryError("dploc: no memory for a run")

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.close()
        lib.dpl_run_free(self.pointer)

    def _on_progress(self, _: object, progress: Any) -> None:
        self.bar.show(progress.contents)

    def _on_note(self, _: object, sentence: bytes) -> None:
        self.bar.note(DplocError(text_of(sentence)).args[0])

    def call(self, name: str, *arguments: Any) -> None:
        """Calls the library and raises what it reports. The interpreter goes on meanwhile."""
        self.check(self.waited(getattr(lib, name), self.pointer, *arguments))

    def waited(self, call: Callable[..., int], *arguments: Any) -> int:
        """On the main thread, which gets Ctrl-C, the work is done by another one."""
        if threading.current_thread() is not threading.main_thread():
            return call(*arguments)
        status: list[int] = []
        done = threading.Event()

        def work() -> None:
            try:
                status.append(call(*arguments))
            finally:
                done.set()

        worker = threading.Thread(target=work, name="dploc", daemon=True)
        worker.start()
        while not done.is_set():
            try:
                done.wait()
            except KeyboardInterrupt:
                lib.dpl_run_interrupt(self.pointer)  # it stops at the next safe point
        worker.join()
        if not status:
            raise DplocError("a call into the library could not be made")
        return status[0]

    def check(self, status: int) -> None:
        if status == _abi.DPL_OK:
            return
        message = text_of(lib.dpl_run_message(self.pointer))
        if status == _abi.DPL_INTERRUPTED:
            raise Interrupted(message or "stopped")
        raise ERRORS.get(status, DplocError)(message)

    def text(self, name: str, *arguments: Any) -> str:
        """The text that a call gives through its last pointer."""
        made = ctypes.c_void_p()
        self.call(name, *arguments, ctypes.byref(made))
        try:
            return text_of(ctypes.cast(made, ctypes.c_char_p).value)
        finally:
            lib.dpl_text_free(made)


class Owned:
    """Something of the library's that is freed with this object."""

    def __init__(self, pointer: int, free: str):
        self.pointer, self._free = pointer, getattr(lib, free)

    @classmethod
    def made(cls, run: Run, free: str, call: str, *arguments: Any) -> Owned:
        """What a call gives through its last pointer."""
        pointer = ctypes.c_void_p()
        run.call(call, *arguments, ctypes.byref(pointer))
        return cls(pointer.value or 0, free)

    def give_away(self) -> int:
        """The pointer, for a call that frees it."""
        pointer, self.pointer = self.pointer, 0
        return pointer

    def __del__(self) -> None:
        if self.pointer and not sys.is_finalizing():
            self._free(self.pointer)
            self.pointer = 0
