"""The program on a terminal: the progress line at three widths, Ctrl-C, resume."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

DPLOC = ""
FIT = "fit city.csv --region simulated --epsilon 8 --ledger none -o m.dploc".split()
KEPT = "stopping; what was paid for is kept, --resume goes on (Ctrl-C again: at once)"


class Terminal:
    """Runs a command on a pseudo-terminal of a given width and keeps what it shows."""

    def __init__(self, arguments: list[str], columns: int, folder: Path):
        self.shown = b""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        changes = {"XDG_STATE_HOME": str(folder / "state"), "OMP_WAIT_POLICY": "passive"}
        self.process = subprocess.Popen(
            [DPLOC, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=os.environ | changes,
        )
        os.close(slave)
        self.master = master

    def read_until(self, pattern: bytes) -> bool:
        """Reads until the pattern is shown, or to the end."""
        while not re.search(pattern, self.shown):
            try:
                piece = os.read(self.master, 4096)
            except OSError:  # the other side is closed
                return bool(re.search(pattern, self.shown))
            if not piece:
                return False
            self.shown += piece
        return True

    def finish(self) -> int:
        self.read_until(rb"(?!)")
        os.close(self.master)
        return self.process.wait()

    def lines(self) -> list[str]:
        """What stood on the screen at any time, without control sequences."""
        text = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", self.shown).decode()
        return [line for line in re.split(r"[\r\n]+", text) if line]


class TerminalTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def simulate(self, trips: int) -> None:
        subprocess.run(
            [DPLOC, "simulate", "--trips", str(trips), "--quiet", "-o", "city.csv"],
            cwd=self.path,
            check=True,
        )

    def test_the_progress_line_fits_any_width(self):
        for columns in (40, 75, 200):
            command = f"simulate --trips 60000 -o {columns}.csv"
            terminal = Terminal(command.split(), columns, self.path)
            self.assertEqual(terminal.finish(), 0, terminal.shown)
            lines = [line for line in terminal.lines() if "Made" not in line]
            bars = [line for line in lines if re.search(r"\d( [kM])? trips", line)]
            self.assertTrue(bars, terminal.shown)
            self.assertEqual([line for line in bars if len(line) >= columns], [])
            if columns > 40:
                self.assertTrue(any(re.search(r"\d( [kM])? trips/s", line) for line in bars), bars)

    def test_errors_begin_on_a_line_of_their_own(self):
        self.simulate(20000)
        (self.path / "taken").mkdir()
        terminal = Terminal(
            "fit city.csv --region simulated --ledger none -o taken/nowhere/m.dploc".split(),
            75,
            self.path,
        )
        self.assertNotEqual(terminal.finish(), 0)
        errors = [line for line in terminal.lines() if "dploc fit:" in line]
        begins = [line.startswith("dploc fit:") for line in errors]
        self.assertTrue(errors and all(begins), terminal.shown)

    def test_ctrl_c_in_fit_and_resume(self):
        self.simulate(3000)
        command = "fit city.csv --region simulated --cell 1000 --method paper --epsilon 8"
        fit = [*command.split(), "--size", "3000", "-o", "m.dploc"]
        terminal = Terminal(fit, 75, self.path)
        self.assertTrue(terminal.read_until(rb"training"), terminal.shown)
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.finish(), 130, terminal.shown)
        self.assertIn(KEPT, terminal.lines())
        last = "dploc fit: interrupted; the same command with --resume"
        self.assertTrue(terminal.lines()[-1].startswith(last))
        self.assertFalse((self.path / "m.dploc").exists())
        terminal = Terminal([*fit, "--resume"], 75, self.path)
        self.assertEqual(terminal.finish(), 0, terminal.shown)
        self.assertTrue((self.path / "m.dploc").exists())

    def test_ctrl_c_in_sample_leaves_nothing_behind(self):
        self.simulate(3000)
        subprocess.run(
            [DPLOC, *FIT, "--cell", "1000", "--size", "3000", "--quiet"],
            cwd=self.path,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        command = "sample m.dploc -n 20000000 -o many.csv"
        terminal = Terminal(command.split(), 75, self.path)
        self.assertTrue(terminal.read_until(rb"trips"), terminal.shown)
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.finish(), 130, terminal.shown)
        self.assertIn(
            "stopping; nothing half done is left (Ctrl-C again: at once)", terminal.lines()
        )
        self.assertEqual([name for name in os.listdir(self.path) if name.startswith("many")], [])

    def test_ctrl_c_in_the_long_estimate(self):
        """A fit of many cells is stopped within a round of its calibration, not at its end."""
        self.simulate(100000)
        terminal = Terminal([*FIT, "--cell", "250", "--size", "100000"], 75, self.path)
        self.assertTrue(terminal.read_until(rb"calibrating"), terminal.shown)
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.finish(), 130, terminal.shown)
        self.assertIn(KEPT, terminal.lines())


if __name__ == "__main__":
    DPLOC = os.path.abspath(sys.argv.pop(1))
    unittest.main()
