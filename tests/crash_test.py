#!/usr/bin/env python3
"""What stands on the disk when a run ends half-way: crash_test.py DPLOC SHIM

fit, sample, synth and report run over nothing, over private and over NOT PRIVATE earlier outputs,
and end (or meet a full or broken disk) at the n-th thing they do to a file. Afterwards, always:

- what was read is byte by byte as it was;
- what stands under an output's name is whole: the old file or a new one, with the manifest and the
  certificate that it was made with beside it;
- a certificate that `dploc verify` calls valid is never beside trips it was not made with; trips
  made without noise never have a certificate that says private;
- a run that meets a broken disk ends with 3 and a sentence.

The quick form ends at every call from the first on that touches an output's name, and at POINTS
evenly spread ones before, over some of the earlier outputs (about 20 s of processor time); with
DPLOC_SOAK at every call, over all. Under the sanitizers disks break, but no run ends.
"""

import errno
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

POINTS = 6
SOAK = bool(os.environ.get("DPLOC_SOAK"))
DPLOC, SHIM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SIDES = (".certificate.json", ".manifest.json", ".NOT-PRIVATE.txt", ".PRIVATE.json")
AREA = ["--region", "simulated", "--cell", "4000", "--slot", "240"]  # few visits: fits are quick
PRIVATE = AREA + ["--epsilon", "20"]
BARE = AREA + ["--epsilon", "inf"]


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def snapshot(folder):
    return {name: sha256(os.path.join(folder, name)) for name in sorted(os.listdir(folder))
            if os.path.isfile(os.path.join(folder, name))}


def run(folder, command, preload=True, **settings):
    """The exit status and what was said."""
    env = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"), OMP_WAIT_POLICY="passive")
    env["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"
    for name, value in settings.items():
        env["DPLOC_SHIM_" + name.upper()] = str(value)
    if preload:
        env["LD_PRELOAD"] = SHIM
    done = subprocess.run([DPLOC] + command + ["--threads", "1", "-q"], cwd=folder, env=env,
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


@functools.cache
def sanitized():
    with open(DPLOC, "rb") as program:
        return b"__asan_init" in program.read()


class Base:
    """Inputs, models and earlier outputs, made once."""

    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix="dploc-crash-")
        self.folder = tempfile.mkdtemp(dir=self.scratch)
        self.make("simulate", "--trips", "300", "-o", "in.csv")
        self.make("synth", "in.csv", *PRIVATE, "--ledger", "none", "-n", "200", "--seed", "1",
                  "-o", "private.csv", "--model", "private.dploc")
        self.make("synth", "in.csv", *BARE, "--ledger", "none", "-n", "200", "--seed", "1",
                  "-o", "bare.csv", "--model", "bare.dploc")
        self.make("sample", "private.dploc", "-n", "150", "-o", "r.csv", "--release", "public")
        self.make("report", "in.csv", "private.csv", "-o", "report.html", "--splits", "1")
        self.bare = {sha256(self.path("bare.csv")), sha256(self.path("bare.dploc"))}

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, *command):
        status, words = run(self.folder, list(command))
        if status:
            raise RuntimeError(f"{command}: {status}: {words}")

    def copy(self, earlier):
        """A folder with the inputs, and `earlier` outputs under the names out.csv and out.dploc."""
        folder = tempfile.mkdtemp(dir=self.scratch)
        for name in ("in.csv", "private.dploc", "bare.dploc", "private.csv",
                     "private.csv.certificate.json", "private.csv.manifest.json"):
            shutil.copy(self.path(name), folder)
        for kind in (".csv", ".dploc"):
            for side in ("",) + SIDES:
                if earlier and os.path.exists(self.path(earlier + kind + side)):
                    shutil.copy(self.path(earlier + kind + side),
                                os.path.join(folder, "out" + kind + side))
        if earlier:
            shutil.copytree(self.path("public"), os.path.join(folder, "public"))
            shutil.copy(self.path("report.html"), os.path.join(folder, "out.html"))
        return folder


class Whole(unittest.TestCase):
    """What must hold of a folder after a run, however that ended."""

    @classmethod
    def setUpClass(cls):
        cls.base = Base()
        cls.judged = {}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.base.scratch)

    # ---- what must hold ----

    def judge(self, folder, path):
        """`dploc verify`, once for each distinct state."""
        state = (path,) + tuple(sha256(os.path.join(folder, path + side))
                                if os.path.exists(os.path.join(folder, path + side)) else None
                                for side in ("",) + SIDES[:2])
        if state not in self.judged:
            self.judged[state] = run(folder, ["verify", path + SIDES[0]], preload=False)[0]
        return self.judged[state]

    def check_set(self, folder, path, where):
        whole = os.path.join(folder, path)
        if not os.path.exists(whole):
            return
        with open(whole + SIDES[1], encoding="ascii") as file:
            manifest = json.load(file)
        with open(whole + SIDES[0], encoding="ascii") as file:
            certificate = json.load(file)
        self.assertEqual(manifest["sha256"], sha256(whole), where)
        self.assertEqual(manifest["certificate_sha256"], sha256(whole + SIDES[0]), where)
        self.assertEqual(manifest["private"], certificate["private"], where)
        bare = sha256(whole) in self.base.bare
        if bare:
            self.assertFalse(certificate["private"], where)
        if path.endswith(".csv") and not certificate["private"]:
            self.assertTrue(os.path.exists(whole + SIDES[2]), where)
        if certificate["private"]:
            self.assertEqual(self.judge(folder, path), 0, where)

    def check_nothing_left(self, folder, outputs, where):
        """Of a run that failed: no certificate and no manifest without what they speak of."""
        for path in outputs:
            if path.endswith((".csv", ".gz", ".dploc")) and not os.path.exists(
                    os.path.join(folder, path)):
                for side in SIDES[:2]:
                    self.assertFalse(os.path.exists(os.path.join(folder, path + side)), where)

    def check(self, folder, inputs, where):
        for name, digest in inputs.items():
            self.assertEqual(sha256(os.path.join(folder, name)), digest, f"{name}: {where}")
        for path in ("out.csv", "out.dploc", "r.csv"):
            self.check_set(folder, path, f"{path}: {where}")
        public = os.path.join(folder, "public")
        if os.path.isdir(public):
            names = os.listdir(public)
            self.assertEqual(len(names), 5, where)
            self.check_set(folder, "public/" + min(name for name in names if name.endswith("csv")),
                           where)
        page = os.path.join(folder, "out.html")
        if os.path.exists(page):
            with open(page, encoding="utf-8") as file:
                self.assertTrue(file.read().rstrip().endswith("</html>"), where)

    def inputs(self, folder, outputs):
        keep = ("in.csv", "private.dploc", "bare.dploc", "private.csv")
        return {name: digest for name, digest in snapshot(folder).items()
                if name in keep and name not in outputs}

    def rounds_folder(self, rounds):
        """A folder with a fit that has come to the sums of round `rounds`."""
        folder = self.base.copy(None)
        steps = [["fit", "--plan-only", *PRIVATE, "--ledger", "book", "-o", "1.plan"]]
        for r in range(1, rounds + 1):
            steps += [["count", "in.csv", "--plan", f"{r}.plan", "--shard", f"{i}/2", "-o",
                       f"part.{r}.{i}"] for i in (1, 2)]
            steps += [["merge", f"part.{r}.1", f"part.{r}.2", "-o", f"sums.{r}"]]
            if r < rounds:
                steps += [["fit", "--from-counts", f"sums.{r}", "--plan", f"{r}.plan", "-o",
                           f"{r + 1}.plan"]]
        for step in steps:
            status, words = run(folder, step, preload=False)
            self.assertEqual(status, 0, words)
        return folder

    def twin(self, folder):
        other = tempfile.mkdtemp(dir=self.base.scratch)
        shutil.copytree(folder, other, dirs_exist_ok=True)
        return other


class Crash(Whole):
    # ---- where to end ----

    def points(self, earlier, command, outputs):
        """The numbers of the calls to end at, and of all calls."""
        folder = self.base.copy(earlier)
        log = os.path.join(folder, "calls")
        status, words = run(folder, command, log=log)
        self.assertEqual(status, 0, words)
        with open(log, encoding="utf-8") as file:
            calls = [line.split(" ", 1) for line in file.read().splitlines()]
        inputs = self.inputs(folder, outputs)
        self.check(folder, inputs, "no crash")
        shutil.rmtree(folder)
        first = next(i for i, (call, path) in enumerate(calls) if os.path.basename(path) in outputs
                     and call in ("rename", "link", "unlink"))
        step = 1 if SOAK else -(-first // POINTS)
        return sorted(set(range(1, first + 1, step)) | set(range(first + 1, len(calls) + 2)))

    def sweep(self, command, outputs, earlier):
        command = command + (["--force"] if earlier else [])
        outputs = {path + side for path in outputs for side in ("",) + SIDES}
        for n in self.points(earlier, command, outputs):
            for how in ({"end": n}, {"fail": n, "errno": (errno.ENOSPC, errno.EIO)[n % 2]}):
                if "end" in how and sanitized():
                    continue  # nothing of the program runs after it; the disk is as without
                folder = self.base.copy(earlier)
                inputs = self.inputs(folder, outputs)
                status, words = run(folder, command, **how)
                where = f"{' '.join(command)} over {earlier}, {how}: {status} {words}"
                if "end" in how:
                    self.assertIn(status, (0, 86), where)
                else:  # what is only tidying up may fail: then everything is in place
                    self.assertIn(status, (0, 3), where)
                    self.assertTrue(status == 0 or words.startswith("dploc "), where)
                    if status == 3:
                        self.check_nothing_left(folder, outputs, where)
                    else:
                        for path in command[command.index("-o") + 1:]:
                            if path in outputs:
                                self.assertTrue(os.path.exists(os.path.join(folder, path)), where)
                self.check(folder, inputs, where)
                shutil.rmtree(folder)

    def everywhere(self, command, outputs, quick=(None, "private", "bare")):
        for earlier in (None, "private", "bare") if SOAK else quick:
            with self.subTest(earlier=earlier):
                self.sweep(command, outputs, earlier)

    # ---- the commands ----

    def test_sample(self):
        self.everywhere(["sample", "private.dploc", "-n", "150", "-o", "out.csv"], ["out.csv"])

    def test_sample_without_noise(self):
        self.everywhere(["sample", "bare.dploc", "-n", "150", "-o", "out.csv.gz"], ["out.csv.gz"],
                        quick=(None,))
        self.sweep(["sample", "bare.dploc", "-n", "150", "-o", "out.csv"], ["out.csv"], "private")

    def test_release(self):
        for earlier in (None, "private"):
            self.sweep(["sample", "private.dploc", "-n", "150", "-o", "out.csv", "--release",
                        "public"], ["out.csv", "public"], earlier)

    def test_fit(self):
        self.everywhere(["fit", "in.csv", *PRIVATE, "--ledger", "none", "-o", "out.dploc"],
                        ["out.dploc"])

    def test_fit_with_ledger_without_noise(self):
        self.sweep(["fit", "in.csv", *PRIVATE, "--ledger", "book", "-o", "out.dploc"],
                   ["out.dploc"], "bare")
        self.sweep(["fit", "in.csv", *BARE, "--ledger", "none", "-o", "out.dploc"],
                   ["out.dploc"], "private")

    def test_synth(self):
        self.everywhere(["synth", "in.csv", *PRIVATE, "--ledger", "none", "-n", "150", "-o",
                         "out.csv", "--model", "out.dploc"], ["out.csv", "out.dploc"],
                        quick=("bare",))

    def test_report(self):
        for earlier in (None, "private"):
            self.sweep(["report", "in.csv", "private.csv", "--splits", "1", "-o", "out.html"],
                       ["out.html"], earlier)

    # ---- fits in rounds ----

    def test_rounds(self):
        """The driver ends anywhere in a round; the same command makes the same plan, or model, and
        the ledger has one release."""
        for rounds in (1, 4) if not SOAK else (1, 2, 3, 4):
            begun = self.rounds_folder(rounds)
            out = f"{rounds + 1}.plan"
            command = ["fit", "--from-counts", f"sums.{rounds}", "--plan", f"{rounds}.plan", "-o",
                       out, "--force"]
            whole = self.twin(begun)
            log = os.path.join(whole, "calls")
            self.assertEqual(run(whole, command, log=log)[0], 0)
            expected = sha256(os.path.join(whole, out))
            with open(log, encoding="utf-8") as file:
                calls = len(file.readlines())
            for n in range(1, calls + 1, 1 if SOAK else -(-calls // (2 * POINTS))):
                folder = self.twin(begun)
                status, words = run(folder, command, end=n)
                where = f"round {rounds}, ended at {n}: {status} {words}"
                self.assertIn(status, (0, 86), where)
                if os.path.exists(os.path.join(folder, "1.plan.checkpoint")):
                    status, words = run(folder, command, preload=False)
                    self.assertEqual(status, 0, f"{where}: {words}")
                self.assertEqual(sha256(os.path.join(folder, out)), expected, where)
                with open(os.path.join(folder, "book"), encoding="utf-8") as file:
                    releases = {json.loads(line).get("release") for line in file} - {None}
                self.assertEqual(len(releases), 1, where)
                shutil.rmtree(folder)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
