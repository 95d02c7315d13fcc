#!/usr/bin/env python3
"""What the system refuses, and runs that are killed: fault_test.py DPLOC SHIM

fit, sample, synth, count, merge and report meet, at the n-th call of each kind (tests/shim/disk.c),
a full or broken disk, a signal, a call that does half of what it was asked for, no memory, no
random numbers; and they are killed at random moments. Afterwards, always:

- a run that cannot go on ends with 3 and a sentence; where a signal or half a read or write came in
  between, it ends well;
- what was read is byte by byte as it was; outputs are whole or absent (crash_test.py);
- every mechanism of a certificate stands in the ledger, and the ledger takes the next fit.

The quick form looks at POINTS calls of each kind and kills each command KILLS times (about a minute
of processor time); with DPLOC_SOAK, at every call, and 500 times.
"""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

import crash_test
from crash_test import PRIVATE, SIDES, SOAK, run, sanitized, sha256

POINTS = 3
KILLS = 500 if SOAK else 4
CALLS_MOST = 2000  # of one kind, in the long form: memory is asked for more often than that
HALF = 0  # the number for half a read or write
FAULTS = {"disk": (errno.ENOSPC, errno.EIO, errno.EINTR, HALF),
          "open": (errno.EIO, errno.EINTR, errno.EMFILE),
          "read": (errno.EIO, errno.EINTR, HALF),
          "random": (errno.EIO, errno.EINTR, HALF),
          "memory": (errno.ENOMEM,)}
GOES_ON = ("write", "pwrite", "read", "pread", "getrandom")  # after EINTR, or half of it
FIT = ["fit", "in.csv", *PRIVATE, "--ledger", "book", "-o", "out.dploc"]
COMMANDS = {
    "fit": FIT,
    "sample": ["sample", "private.dploc", "-n", "150", "--seed", "1", "-o", "out.csv"],
    "synth": ["synth", "in.csv", *PRIVATE, "--ledger", "book", "-n", "150", "-o", "out.csv",
              "--model", "out.dploc"],
    "count": ["count", "in.csv", "--plan", "1.plan", "--shard", "1/2", "-o", "part.again"],
    "merge": ["merge", "part.1.1", "part.1.2", "-o", "sums.again"],
    "report": ["report", "in.csv", "private.csv", "--splits", "1", "-o", "out.html"],
}


def spread(n, points, offset):
    """`points` of the numbers 1 ... n, evenly, beginning elsewhere for each offset."""
    if SOAK:
        points = min(n, CALLS_MOST)
    step = max(1, n // max(1, points))
    return range(1 + offset % step, n + 1, step)


class Faults(crash_test.Whole):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begun = None

    def fresh(self, name):
        """A folder in which the command can be run."""
        if name not in ("count", "merge"):
            return self.base.copy(None)
        if not self.begun:
            type(self).begun = self.rounds_folder(1)
        return self.twin(self.begun)

    # ---- what must hold ----

    def check_ledger(self, folder, path, where):
        """What a certificate says was spent is in the ledger."""
        certificate, book = (os.path.join(folder, name) for name in (path + SIDES[0], "book"))
        if not os.path.exists(certificate) or not os.path.exists(os.path.join(folder, path)):
            return
        with open(book, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        reserved = {line["name"] for line in lines if line["type"] == "reserve"}
        with open(certificate, encoding="utf-8") as file:
            for mechanism in json.load(file)["mechanisms"]:
                self.assertIn(mechanism["name"], reserved, where)

    def check_after(self, name, folder, inputs, where):
        self.check(folder, inputs, where)
        if name in ("fit", "synth"):
            self.check_ledger(folder, "out.dploc", where)
            again = [word for word in FIT if word != "out.dploc"] + ["next.dploc"]
            status, words = run(folder, again)
            self.assertEqual(status, 0, f"the next fit: {words} after {where}")
            self.check_ledger(folder, "next.dploc", where)
        for made, whole in (("part.again", "part.1.1"), ("sums.again", "sums.1")):
            if os.path.exists(os.path.join(folder, made)):
                self.assertEqual(*(sha256(os.path.join(folder, path)) for path in (made, whole)),
                                 where)

    def inputs_of(self, folder):
        kept = self.inputs(folder, ())
        for name in ("1.plan", "part.1.1", "part.1.2", "sums.1"):
            if os.path.exists(os.path.join(folder, name)):
                kept[name] = sha256(os.path.join(folder, name))
        return kept

    # ---- faults ----

    def calls(self, name, kind):
        """The calls of a kind, by name, in a run that nothing happens to."""
        folder = self.fresh(name)
        log = os.path.join(folder, "calls")
        status, words = run(folder, COMMANDS[name], kind=kind, log=log)
        self.assertEqual(status, 0, words)
        calls = self.logged(log)
        shutil.rmtree(folder)
        return calls

    def logged(self, log):
        if not os.path.exists(log):
            return []
        with open(log, encoding="utf-8") as file:
            return [line.split(" ", 1)[0] for line in file]

    def one(self, name, kind, n, number):
        folder = self.fresh(name)
        inputs = self.inputs_of(folder)
        log = os.path.join(folder, "calls")
        status, words = run(folder, COMMANDS[name], kind=kind, fail=n, errno=number, log=log)
        call = (self.logged(log) + [""] * n)[n - 1]  # noise is new in each run, and so is the order
        where = f"{name}: {kind} call {n} ({call}), errno {number}: {status} {words}"
        goes_on = call in GOES_ON and number in (errno.EINTR, HALF)
        self.assertIn(status, (0,) if goes_on else (0, 3), where)
        self.assertTrue(status == 0 or words.startswith("dploc "), where)
        if status == 0:
            self.assertTrue(os.path.exists(os.path.join(folder, COMMANDS[name][-1])), where)
        self.check_after(name, folder, inputs, where)
        shutil.rmtree(folder)

    def sweep(self, name):
        for offset, (kind, numbers) in enumerate(FAULTS.items()):
            calls = self.calls(name, kind)
            if kind == "memory" and sanitized():
                continue  # the sanitizer has its own
            self.assertTrue(calls or kind == "random", f"{name}: no {kind} calls")
            for number in numbers:
                for n in spread(len(calls), POINTS, 7 * offset + number):
                    with self.subTest(kind=kind, n=n, number=number):
                        self.one(name, kind, n, number)

    # ---- killed ----

    def kill(self, name, after_s):
        folder = self.fresh(name)
        inputs = self.inputs_of(folder)
        env = dict(os.environ, XDG_STATE_HOME=os.path.join(folder, "state"))
        child = subprocess.Popen([crash_test.DPLOC, *COMMANDS[name], "--threads", "1", "-q"],
                                 cwd=folder, env=env, stderr=subprocess.DEVNULL)
        time.sleep(after_s)
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.check_after(name, folder, inputs, f"{name}, killed after {after_s} s")
        shutil.rmtree(folder)

    def kills(self, name):
        draw = random.Random(name)
        folder = self.fresh(name)
        begin = time.monotonic()
        self.assertEqual(run(folder, COMMANDS[name], preload=False)[0], 0)
        whole_s = time.monotonic() - begin
        shutil.rmtree(folder)
        for _ in range(KILLS):
            self.kill(name, draw.uniform(0, whole_s))


def add_tests():
    for name in COMMANDS:
        setattr(Faults, f"test_faults_{name}", lambda self, name=name: self.sweep(name))
        setattr(Faults, f"test_killed_{name}", lambda self, name=name: self.kills(name))


add_tests()
if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
