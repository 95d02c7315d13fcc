"""What the tests of the package share: a small city, a state directory of their own, the program."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

# Fits leave ledgers and checkpoints in the state directory; never in the user's.
STATE = tempfile.mkdtemp(prefix="dploc-test-")
os.environ["XDG_STATE_HOME"] = STATE
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
DPLOC = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) \
    else os.environ.get("DPLOC_PROGRAM", "dploc")

import dploc  # noqa: E402

# Noise that can be repeated, so that models can be compared; no ledger.
SEEDED = {"region": "simulated", "epsilon": 20, "ledger": None, "insecure_seed": 11, "quiet": True}
TRIPS = 300


def city_frame():
    return dploc.simulate(trips=TRIPS, seed=1)


def program(*arguments):
    """What the command line says."""
    return subprocess.run([DPLOC, *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


class Case(unittest.TestCase):
    """A test with a directory of its own."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="dploc-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def run_notebook(self, name):
        """A notebook of the tree: it was executed, and it runs from its first cell to its last."""
        import nbformat
        from nbclient import NotebookClient
        here = os.path.dirname(os.path.abspath(__file__))
        notebook = nbformat.read(os.path.join(here, "../../examples", name), as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                self.assertTrue(cell.execution_count, "it was not executed")
                self.assertFalse(any(one.output_type == "error" for one in cell.outputs))
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": self.directory}}
                       ).execute()

    def model_bytes(self, data, **options):
        """The model's file under one key."""
        path = self.path("model.dploc")
        dploc.fit(data, output=path, force=True, **{**SEEDED, **options})
        with open(path, "rb") as file:
            return file.read()
