"""No raw point leaves memory: system calls are traced while a frame becomes synthetic trips."""

import os
import re
import struct
import subprocess
import sys
import textwrap
import unittest

from support import Case

CHILD = """
    import sys
    import dploc, numpy
    frame = dploc.simulate(trips=300, seed=1)
    frame["lat"] += numpy.arange(len(frame)) * 1e-9   # values that are found nowhere else
    frame = frame.assign(step=frame.groupby("tid").cumcount()).sort_values(["step", "tid"])
    sys.stdout.write("BEGIN " + " ".join(map(repr, frame.lat[::50])) + "\\n")
    sys.stdout.flush()
    dploc.synth(frame, region="simulated", epsilon=20, ledger={ledger!r}, quiet=True)
    dploc.inspect(frame, region="simulated", quiet=True)
    sys.stdout.write("END\\n")
    sys.stdout.flush()
"""


def unescaped(text):
    return bytes(int(pair, 16) for pair in re.findall(r"\\x([0-9a-f]{2})", text))


class Traced(Case):
    def trace(self):
        """The bytes of all writes between BEGIN and END, and the points to look for."""
        log = self.path("trace")
        ledger = self.path("ledger")
        subprocess.run(["strace", "-f", "-xx", "-s", "1000000", "-e",
                        "trace=write,pwrite64,writev,pwritev,sendto,sendmsg", "-o", log,
                        sys.executable, "-c", textwrap.dedent(CHILD.format(ledger=ledger))],
                       check=True, stdout=subprocess.DEVNULL, timeout=280)
        writes, points, inside = [], [], False
        with open(log, encoding="ascii", errors="replace") as file:
            for line in file:
                data = unescaped(line)
                if data.startswith(b"BEGIN "):
                    points, inside = [float(one) for one in data.split()[1:]], True
                elif data.startswith(b"END"):
                    inside = False
                elif inside:
                    writes.append(data)
        return writes, points

    def test_nothing_is_written(self):
        writes, points = self.trace()
        self.assertGreater(len(points), 100)
        self.assertGreater(len(writes), 0)  # of the ledger, at least
        everything = b"\n".join(writes)
        for point in points:
            self.assertNotIn(struct.pack("<d", point), everything)
            self.assertNotIn(repr(point).encode(), everything)
            self.assertNotIn(f"{point:.6f}".encode(), everything)


if __name__ == "__main__":
    unittest.main()
