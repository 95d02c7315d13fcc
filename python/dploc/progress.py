"""How far a call is: a line on a terminal, a line in a notebook, or nothing."""

from __future__ import annotations

import json
import sys
from typing import Any


def in_notebook() -> bool:
    """Whether this is a notebook's kernel, whose output is HTML."""
    shell = sys.modules.get("IPython")
    made = shell.get_ipython() if shell else None
    return made is not None and made.__class__.__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows nothing."""

    @staticmethod
    def of(kind: str, quiet: bool) -> Progress:
        """auto, plain, json or none, as the option of the command line.

        >>> Progress.of("auto", quiet=True).__class__.__name__
        'Progress'
        """
        from .errors import UsageError
        if kind not in ("auto", "plain", "json", "none"):
            raise UsageError(f"`progress` takes auto, plain, json or none, not '{kind}'")
        if quiet or kind == "none":
            return Progress()
        if kind == "json":
            return Lines(as_json=True)
        if kind == "plain":
            return Lines(as_json=False)
        if in_notebook():
            return Notebook()
        return Bar() if sys.stderr is not None and sys.stderr.isatty() else Progress()

    def show(self, progress: Any) -> None:
        """A report of the library's."""

    def note(self, sentence: str) -> None:
        """A choice that was made, or a thing to know."""

    def close(self) -> None:
        """The call is over."""


def words_of(progress: Any) -> str:
    """"reading 120 of 500 thousand rows, 3 s left"."""
    text = f"{progress.phase.decode()} {progress.done:.0f}"
    if progress.total > 0:
        text += f" of {progress.total:.0f}"
    text += f" {progress.unit.decode()}"
    if progress.seconds_left >= 1:
        text += f", {progress.seconds_left:.0f} s left"
    if progress.epsilon > 0:
        text += f", epsilon {progress.epsilon:.3g} spent"
    return text


class Bar(Progress):
    """One line on a terminal, which is written over."""

    WIDTH = 78

    def __init__(self) -> None:
        self.shown = False

    def show(self, progress: Any) -> None:
        sys.stderr.write("\r" + words_of(progress)[:self.WIDTH].ljust(self.WIDTH))
        sys.stderr.flush()
        self.shown = True

    def note(self, sentence: str) -> None:
        self.close()
        sys.stderr.write(sentence + "\n")

    def close(self) -> None:
        if self.shown:
            sys.stderr.write("\r" + " " * self.WIDTH + "\r")
            self.shown = False


class Lines(Progress):
    """One line a report, for logs and programs."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def show(self, progress: Any) -> None:
        line = words_of(progress)
        if self.as_json:
            line = json.dumps({"phase": progress.phase.decode(), "done": progress.done,
                               "total": progress.total, "unit": progress.unit.decode(),
                               "epsilon": progress.epsilon})
        sys.stderr.write(line + "\n")

    def note(self, sentence: str) -> None:
        sys.stderr.write((json.dumps({"note": sentence}) if self.as_json else sentence) + "\n")


class Notebook(Progress):
    """One line under the cell, which is written over and is gone at the end."""

    def __init__(self) -> None:
        from IPython.display import display
        self.handle = display({"text/plain": ""}, raw=True, display_id=True)

    def show(self, progress: Any) -> None:
        self.handle.update({"text/plain": words_of(progress)}, raw=True)

    def close(self) -> None:
        self.handle.update({"text/plain": ""}, raw=True)
