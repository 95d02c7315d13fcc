#!/usr/bin/env python3
"""Much of everything, and places that are not as they should be: load_test.py DPLOC CLOCK_SHIM

Many runs on one ledger, many files, much data through a pipe, one user with all trips, very many
columns; a clock that jumps, no home, a home that cannot be written, a full disk for temporary
files, a umask of 0, folders that others can write to. Every run ends well, or with the right code
and a sentence. The quick form (QUICK) takes seconds; with DPLOC_SOAK the numbers are those of LONG.
"""

import itertools
import json
import os
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

DPLOC, CLOCK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
AREA = ["--region", "simulated", "--cell", "4000", "--epsilon", "20"]
QUICK = {"fits": 6, "files": 300, "pipe_mb": 8, "users": 3000, "trips": 3000}
LONG = {"fits": 24, "files": 4096, "pipe_mb": int(os.environ.get("DPLOC_PIPE_MB", 30000)),
        "users": 10 ** 7, "trips": 10 ** 7}
SIZE = LONG if os.environ.get("DPLOC_SOAK") else QUICK
ROWS_A_TRIP = 4
HEADER = "trip_id,user_id,time,lat,lon\n"
MEMORY_MB = 700  # whatever the size of the input, without one number a trip


def rows(trip, user=None):
    """A trip in the simulated city, as lines of CSV."""
    start = 1740826800 + trip % 86400
    lat, lon = 47.92 + trip % 97 * 1.5e-3, 11.38 + trip % 89 * 2.5e-3
    who = f"{trip}," if user is None else f"{trip},{user},"
    return "".join(f"{who}{start + 60 * i},{lat + i * 4e-3:.5f},{lon + i * 4e-3:.5f}\n"
                   for i in range(ROWS_A_TRIP))


class Load(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="dploc-load-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def start(self, *command, env=None, **how):
        settings = dict(os.environ, XDG_STATE_HOME=self.path("state"), OMP_WAIT_POLICY="passive",
                        ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")
        settings.update(env or {})
        settings = {name: value for name, value in settings.items() if value is not None}
        return subprocess.Popen([DPLOC, *command, "-q"], cwd=self.folder, env=settings,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how)

    def run_(self, *command, expect=0, **how):
        """Runs, and demands the exit code, and a sentence if it is not 0."""
        child = self.start(*command, **how)
        words = child.communicate()[1]
        self.assertEqual(child.returncode, expect, f"{command}: {words}")
        if expect:
            self.assertTrue(words.startswith("dploc "), words)
        return words

    def city(self, trips=300):
        self.run_("simulate", "--trips", str(trips), "-o", "in.csv")

    def ledger(self, name="book"):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    # ---- much ----

    def test_fits_at_once(self):
        """Of runs at the same time on one ledger, each is charged or refused."""
        self.city()
        children = [self.start("fit", "in.csv", *AREA, "--ledger", "book", "-o", f"{i}.dploc")
                    for i in range(SIZE["fits"])]
        made = 0
        for child in children:
            words = child.communicate()[1]
            self.assertIn(child.returncode, (0, 4), words)
            if child.returncode == 4:
                self.assertIn("another run is using this ledger", words)
            made += child.returncode == 0
        releases = {line["release"] for line in self.ledger() if line["type"] == "reserve"}
        self.assertEqual(len(releases), made)
        self.assertGreater(made, 0)
        self.run_("inspect", "book")

    def test_many_files(self):
        """With fewer descriptors than files."""
        os.mkdir(self.path("in"))
        for i in range(SIZE["files"]):
            with open(self.path("in", f"{i}.csv"), "w", encoding="ascii") as file:
                file.write("trip_id,time,lat,lon\n" + rows(i))
        self.run_("fit", "in", *AREA, "--ledger", "none", "-o", "out.dploc", "--threads", "2",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))

    def feed(self, lines, *command, memory_mb=MEMORY_MB):
        """Runs on what comes through a pipe; the most memory it took, in MB."""
        child = self.start(*command, stdin=subprocess.PIPE)
        for line in lines:
            child.stdin.write(line)
        child.stdin.close()
        with child.stderr:
            words = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(child.returncode, 0, words)
        self.assertLess(usage.ru_maxrss / 1024, memory_mb)

    def test_pipe(self):
        """A file that grows while it is read, and is larger than memory in the long form."""
        one = rows(7)
        trips = SIZE["pipe_mb"] * 10 ** 6 // len(one)
        batch = 1000

        def lines():
            yield "trip_id,time,lat,lon\n"
            for first in range(0, trips, batch):
                yield "".join(rows(i) for i in range(first, first + batch))
        self.feed(lines(), "fit", "-", *AREA, "--ledger", "none", "-o", "out.dploc",
                  memory_mb=MEMORY_MB + trips * 100 / 10 ** 6)

    def test_one_user_with_all_trips(self):
        lines = (rows(i, 1) for i in range(SIZE["trips"]))
        self.feed(itertools.chain([HEADER], lines), "fit", "-", *AREA, "--epsilon", "inf", "--unit",
                  "user", "--trips-max", "20", "--ledger", "none", "-o", "out.dploc",
                  memory_mb=MEMORY_MB + SIZE["trips"] * 200 / 10 ** 6)

    def test_many_users_with_one_trip(self):
        lines = (rows(i, i) for i in range(SIZE["users"]))
        self.feed(itertools.chain([HEADER], lines), "fit", "-", *AREA, "--unit", "user",
                  "--ledger", "none", "-o", "out.dploc",
                  memory_mb=MEMORY_MB + SIZE["users"] * 300 / 10 ** 6)

    def test_million_columns(self):
        """A header of 10^6 columns is longer than any line may be; one of 10^5 is read."""
        for n, expect in ((10 ** 6, 1), (10 ** 5, 0)):
            names = [f"c{i}" for i in range(n)]
            names[:4] = ["trip_id", "time", "lat", "lon"]
            with open(self.path("wide.csv"), "w", encoding="ascii") as file:
                file.write(",".join(names) + "\n")
                for line in (rows(1) + rows(2)).splitlines():
                    file.write(line + "," * (n - 4) + "\n")
            self.run_("inspect", "wide.csv", "--region", "simulated", expect=expect)

    # ---- places ----

    def test_clock_that_jumps(self):
        """The clock decides nothing: the same bytes."""
        self.city()
        for name, shim in (("a", {}), ("b", {"LD_PRELOAD": CLOCK})):
            self.run_("fit", "in.csv", *AREA, "--ledger", "none", "--insecure-seed", "1", "-o",
                      name + ".dploc", env=shim)
            self.run_("sample", name + ".dploc", "-n", "100", "--seed", "1", "-o", name + ".csv",
                      env=shim)
        for ending in (".dploc", ".csv"):
            with open(self.path("a" + ending), "rb") as a, open(self.path("b" + ending), "rb") as b:
                self.assertEqual(a.read(), b.read())

    def test_no_home(self):
        self.city()
        nowhere = {"XDG_STATE_HOME": None, "HOME": None, "TMPDIR": None}
        words = self.run_("fit", "in.csv", *AREA, "-o", "out.dploc", expect=3, env=nowhere)
        self.assertIn("--ledger", words)
        self.run_("fit", "in.csv", *AREA, "--ledger", "book", "-o", "out.dploc", env=nowhere)

    def test_home_that_cannot_be_written(self):
        """/proc takes no new folder, not even from root."""
        self.city()
        home = {"XDG_STATE_HOME": None, "HOME": "/proc", "TMPDIR": None}
        words = self.run_("fit", "in.csv", *AREA, "-o", "out.dploc", expect=3, env=home)
        self.assertIn("cannot make this directory", words)
        self.assertFalse(os.path.exists(self.path("out.dploc")))

    def test_full_temporary_folder(self):
        """A file may have 64 KB: the copy of standard input does not get whole."""
        self.city()
        with open(self.path("in.csv"), encoding="ascii") as file:
            words = self.run_(
                "fit", "-", *AREA, "--ledger", "none", "-o", "out.dploc", stdin=file, expect=3,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
        self.assertIn("TMPDIR", words)
        self.assertFalse(os.path.exists(self.path("out.dploc")))

    def test_umask_of_nothing(self):
        """What must stay private has its own mode."""
        self.city()
        self.run_("synth", "in.csv", *AREA, "-n", "100", "-o", "out.csv", "--model", "out.dploc",
                  preexec_fn=lambda: os.umask(0))
        private = [self.path(name) for name in os.listdir(self.folder)
                   if name.endswith("PRIVATE.json")]
        for base, folders, files in os.walk(self.path("state")):
            private += [os.path.join(base, name) for name in folders + files]
        self.assertGreater(len(private), 4)
        for path in private:
            self.assertEqual(os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO), 0, path)

    def test_folder_of_everybody(self):
        self.city()
        os.mkdir(self.path("open"))
        os.chmod(self.path("open"), 0o777)
        for place in (["--ledger", "open/book"],
                      ["--ledger", "none", "--checkpoint", "open/checkpoint"]):
            words = self.run_("fit", "in.csv", *AREA, *place, "-o", "out.dploc", expect=4)
            self.assertIn("other users can write", words)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
