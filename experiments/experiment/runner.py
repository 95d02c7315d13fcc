"""Runs settings as processes and keeps what is finished: one JSON file a setting, written whole or not at all.

A file's name ends in the key of its setting and a hash of the program. A second start finds the finished ones and runs the
rest; another program starts anew, except for methods that `keep` names.
"""
from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Iterable

from .settings import Judge, Setting, file_sha256

Result = dict[str, Any]
SOURCES = ("src", "cli", "include", "web", "CMakeLists.txt", "CMakePresets.json", "cmake")  # what the program is made of
BAD_DATA = 1  # dploc's exit code when it cannot do it with this data


class Failure(Exception):
    """A sentence for the reader: what failed, where, what to do."""


class NoModel(Failure):
    """A fit that ended with a sentence about the data: too few trips for this method and epsilon, say. It is a finding, not an accident."""


@dataclass(frozen=True)
class Program:
    """The dploc that is measured."""

    path: Path
    root: Path

    @property
    def sha256(self) -> str:
        return file_sha256(self.path)

    @property
    def commit(self) -> str:
        """The last that changed what the program is made of; with a plus when files differ from it, so that nobody takes it for exact."""
        last = self._git("log", "-1", "--format=%h", "--abbrev=12", "--", *SOURCES)
        changed = self._git("status", "--porcelain", "--untracked-files=no", "--", *SOURCES)
        return (last + "+" if changed else last) or "unknown"

    def _git(self, *words: str) -> str:
        if not shutil.which("git"):
            return ""  # of a source tarball
        done = subprocess.run(["git", "-C", str(self.root), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def methods(self) -> list[str]:
        """Asks the program by naming a method that cannot exist: its refusal lists those that do."""
        words = ["fit", os.devnull, "--region", "sf", "--method", "?", "--ledger", "none", "--dry-run", "-o", os.devnull]
        refusal = subprocess.run([str(self.path), *words], capture_output=True, text=True, check=False).stderr
        found = re.search(r"takes ([a-z0-9_, ]+)\)", refusal)
        if not found:
            raise Failure(f"{self.path} does not say which methods it has; it said: {refusal.strip()}")
        return [name.strip() for name in found.group(1).split(",")]

    def knows(self, option: str) -> bool:
        """Whether `dploc fit` has an option, by its help."""
        text = subprocess.run([str(self.path), "fit", "--help"], capture_output=True, text=True, check=False).stdout
        return option in text


def machine() -> dict[str, Any]:
    """Where figures were taken."""
    model = platform.processor()
    try:
        names = [
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    except OSError:
        pass
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": model, "cores": os.cpu_count(), "memory_gb": round(memory / 2**30, 1), "system": platform.system()}


def write_whole(path: Path, text: str) -> None:
    """A reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".part-", delete=False, encoding="utf-8") as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def run_process(command: list[str]) -> tuple[int, str, str, dict[str, float]]:
    """Exit code, standard output and error, and what it cost: wall and processor seconds, peak memory."""
    environment = dict(os.environ, OMP_WAIT_POLICY="passive")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=environment)
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        cost = {"wall_s": time.monotonic() - start, "cpu_s": usage.ru_utime + usage.ru_stime, "peak_mb": usage.ru_maxrss / 1024}
        out.seek(0), err.seek(0)
        return process.returncode, out.read().decode(), err.read().decode(), cost


class Runner:
    """Runs settings with `jobs` at a time, and remembers them in `directory`."""

    def __init__(
        self, program: Program, directory: Path, *, jobs: int = 1, keep: Iterable[str] = (), quiet: bool = False
    ) -> None:
        self.program, self.directory, self.jobs, self.quiet = program, directory, max(1, jobs), quiet
        self.keep = frozenset(keep)
        self.threads = max(1, (os.cpu_count() or 1) // self.jobs)
        self.sha256, self.commit = program.sha256, program.commit
        self.binary = self._copy_of_program()
        self._sweep()

    def _sweep(self) -> None:
        """Removes what a killed run left: a checkpoint among it holds the key of its noise."""
        for left in (self.directory / "work").iterdir():
            owner = left.name.partition("-")[0]
            if left.is_dir() and owner.isdigit() and not Path("/proc", owner).exists():
                shutil.rmtree(left, ignore_errors=True)

    def _copy_of_program(self) -> Path:
        """Runs take hours: a build in the meantime must not change what is measured."""
        copy = self.directory / "work" / f"dploc-{self.sha256[:12]}"
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            part = copy.with_suffix(f".{os.getpid()}")
            shutil.copy2(self.program.path, part)
            os.replace(part, copy)
        return copy

    # ---- finished settings ----

    def path_of(self, setting: Setting) -> Path:
        return self.directory / "settings" / f"{setting.slug}-{setting.key()}-{self.sha256[:12]}.json"

    def find(self, setting: Setting) -> Result | None:
        """The finished result, or None. Of a kept method the newest of any program will do."""
        path = self.path_of(setting)
        if not path.exists() and setting.method in self.keep:
            older = sorted(path.parent.glob(f"{setting.slug}-{setting.key()}-*.json"), key=lambda p: p.stat().st_mtime)
            path = older[-1] if older else path
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    # ---- one setting ----

    def step(self, command: list[str], places: dict[str, list[str]], *extra: str) -> tuple[str, dict[str, Any]]:
        """One dploc process that must succeed: its output and its cost."""
        words = [
            str(self.binary),
            *[part for word in command for part in places.get(word, [word])],
            *extra,
            "--threads",
            str(self.threads),
            "--quiet",
        ]
        code, out, err, cost = run_process(words)
        if code == BAD_DATA and command[0] == "fit":
            raise NoModel(err.strip())
        if code != 0:
            raise Failure(f"'{' '.join(words)}' ended with {code}: {err.strip() or out.strip()}")
        return out, {"command": "dploc " + " ".join(command), **cost}

    def verify(self, setting: Setting, certificate: Path) -> dict[str, Any]:
        """A certificate that does not hold ends everything: figures of a release without its promise are worth nothing."""
        code, out, err, _ = run_process([str(self.binary), "verify", "--json", str(certificate)])
        verdict = json.loads(out) if out.strip() else {"valid": False, "reasons": [err.strip()]}
        if setting.private and (code != 0 or not verdict.get("valid")):
            raise Failure(f"{setting.slug}: the certificate does not verify: {verdict.get('reasons')}")
        return verdict

    def draw(self, setting: Setting, model: Path, work: Path) -> list[dict[str, Any]]:
        """Samples all variants: one record each, still without evaluations."""
        records = []
        for number, variant in enumerate(setting.variants):
            output = work / f"syn{number}.csv"
            places = {"{model}": [str(model)], "{output}": [str(output)], "{roads}": [str(setting.data.roads)]}
            _, cost = self.step(setting.sample_command(variant), places, "--force")
            records.append({"name": variant.name, "sample": cost, "evaluations": {}})
        return records

    def judge(self, setting: Setting, judge: Judge, work: Path, records: list[dict[str, Any]]) -> dict[str, Any]:
        """One evaluation of all samples; each record gets its own part. Returns the cost."""
        places = {"{input}": [str(setting.data.path)], "{outputs}": [str(work / f"syn{i}.csv") for i in range(len(records))]}
        places["{roads}"] = [str(setting.data.roads)]
        text, cost = self.step(setting.eval_command(judge), places)
        whole = json.loads(text)
        for record, part in zip(records, whole["synthetic"], strict=True):
            record["evaluations"][judge.name] = {**whole, "synthetic": [part]}
        return cost

    def fit_and_judge(self, setting: Setting, work: Path) -> dict[str, Any]:
        """What the processes of one setting bring: costs, certificate, verdict, evaluations; or why there is no model."""
        model, certificate = work / "model.dploc", work / "model.dploc.certificate.json"
        try:
            _, fitted = self.step(
                setting.fit_command(), {"{input}": [str(setting.data.path)], "{model}": [str(model)]}, "--force"
            )
        except NoModel as reason:
            return {"failed": str(reason)}
        verdict = self.verify(setting, certificate)
        records = self.draw(setting, model, work)
        costs = {judge.name: self.judge(setting, judge, work, records) for judge in setting.judges if records}
        return {
            "fit": fitted,
            "verify": verdict,
            "certificate": json.loads(certificate.read_text(encoding="utf-8")),
            "variants": records,
            "eval": costs,
        }

    def run_one(self, setting: Setting) -> Result:
        """Runs a setting in a directory of its own, which is removed whatever happens, and writes the result."""
        started = time.monotonic()
        (self.directory / "work").mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-{setting.slug}-", dir=self.directory / "work"))
        try:
            found = self.fit_and_judge(setting, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        result: Result = {
            "setting": {
                "data": setting.data.name,
                "cell_m": setting.cell_m,
                "epsilon": f"{setting.epsilon:g}",
                "delta": setting.data.delta,
                "method": setting.method,
                "mechanism": setting.mechanism,
                "label": setting.label,
                "repetition": setting.repetition,
            },
            "program": {"commit": self.commit, "sha256": self.sha256, "threads": self.threads},
            "machine": machine(),
            "finished": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "wall_s": time.monotonic() - started,
            **found,
        }
        write_whole(self.path_of(setting), json.dumps(result, indent=1))
        return result

    # ---- all settings ----

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def print_plan(self, settings: list[Setting], estimate: Callable[[Setting], float]) -> None:
        """What would be run, and for how long, by what was measured so far."""
        done = {s: r for s in settings if (r := self.find(s)) is not None}
        clock = Clock(settings, done, estimate, self.jobs)
        for setting in settings:
            print(f"{'finished' if setting in done else duration(clock.guess(setting)):>12}  {setting.slug}")
        print(
            f"{len(settings)} settings, {len(done)} finished; "
            f"the others take about {duration(clock.left(s for s in settings if s not in done))}"
        )

    def run_all(self, settings: list[Setting], estimate: Callable[[Setting], float]) -> dict[Setting, Result]:
        """Results of all settings, finished ones from their files. Shows the time that is left by what was measured so far."""
        done = {s: r for s in settings if (r := self.find(s)) is not None}
        clock = Clock(settings, done, estimate, self.jobs)
        open_settings = [s for s in settings if s not in done]
        self.say(f"{len(settings)} settings, {len(done)} finished before; about {duration(clock.left(open_settings))} to go")
        with ThreadPoolExecutor(self.jobs) as pool:
            running: dict[Future[Result], Setting] = {}
            try:
                while open_settings or running:
                    while open_settings and len(running) < self.jobs:
                        setting = open_settings.pop(0)
                        running[pool.submit(self.run_one, setting)] = setting
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        setting = running.pop(future)
                        done[setting] = result = future.result()
                        clock.learn(setting, result["wall_s"])
                        rest = open_settings + list(running.values())
                        self.say(
                            f"[{len(done)}/{len(settings)}] {setting.slug}: {duration(result['wall_s'])}, "
                            f"about {duration(clock.left(rest))} to go"
                        )
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        return {setting: done[setting] for setting in settings}


class Clock:
    """Estimates of time: what a like setting took (same data, cells, method), else the rough figure, scaled by how wrong those were."""

    def __init__(
        self, settings: list[Setting], done: dict[Setting, Result], rough: Callable[[Setting], float], jobs: int
    ) -> None:
        self.rough, self.jobs = rough, jobs
        self.seen: dict[tuple[Any, ...], list[float]] = {}
        self.pairs: list[tuple[float, float]] = []
        for setting, result in done.items():
            self.learn(setting, result["wall_s"])

    @staticmethod
    def kind(setting: Setting) -> tuple[Any, ...]:
        return setting.data.name, setting.cell_m, setting.system, setting.fit, setting.variants

    def learn(self, setting: Setting, wall_s: float) -> None:
        self.seen.setdefault(self.kind(setting), []).append(wall_s)
        self.pairs.append((self.rough(setting), wall_s))

    def guess(self, setting: Setting) -> float:
        like = self.seen.get(self.kind(setting))
        if like:
            return sum(like) / len(like)
        expected, taken = sum(p[0] for p in self.pairs), sum(p[1] for p in self.pairs)
        return self.rough(setting) * (taken / expected if expected > 0 else 1)

    def left(self, settings: Iterable[Setting]) -> float:
        return sum(self.guess(setting) for setting in settings) / self.jobs


def duration(seconds: float) -> str:
    """1 h 05 min, 3 min 20 s, 12 s."""
    whole = int(round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60} min {whole % 60:02d} s" if whole >= 60 else f"{whole} s"
