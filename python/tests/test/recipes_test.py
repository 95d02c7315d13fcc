"""What the site's page of recipes tells a reader to type, where scripts/release/80-site-commands.sh
cannot, because Debian does not have the tool: DuckDB, and the file for kepler.gl."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from support import DPLOC

import duckdb
import pandas

TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
sys.path.insert(0, os.path.join(TREE, "scripts"))
from blocks import blocks  # noqa: E402


def typed(language, heading):
    """The code of that language under a heading of the page."""
    with open(os.path.join(TREE, "site/pages/recipes.md"), encoding="utf-8") as file:
        found = [code for name, code in blocks(file.read(), language) if name == heading]
    if not found:
        raise AssertionError(f"no {language} under {heading}")
    return "".join(found)


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        cls.run_shell("Recipes")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    @staticmethod
    def run_shell(heading):
        """`dploc` is the program under test."""
        path = f"{os.path.dirname(DPLOC)}:{os.environ['PATH']}"
        subprocess.run(["bash", "-e"], input=typed("sh", heading), text=True, check=True,
                       capture_output=True, env={**os.environ, "PATH": path})

    def test_duckdb(self):
        connection = duckdb.connect()
        for statement in typed("sql", "DuckDB").split(";"):
            if statement.strip():
                relation = connection.sql(statement)
        rows = pandas.read_csv("synthetic.csv")
        times = pandas.to_datetime(rows.datetime, utc=True).dt.tz_convert("Europe/Berlin")
        expected = rows.tid.groupby(times.dt.hour).nunique()
        self.assertEqual(relation.fetchall(), list(expected.items()))
        self.assertEqual(len(expected), 24)

    def test_kepler(self):
        """Its trip layer asks for lines whose points have four numbers, the last one the time."""
        self.run_shell("kepler.gl")
        with open("trips.geojson", encoding="utf-8") as file:
            city = json.load(file)
        self.assertEqual((city["type"], len(city["features"])), ("FeatureCollection", 5000))
        for feature in city["features"]:
            line = feature["geometry"]
            times = [seconds for _, _, _, seconds in line["coordinates"]]
            self.assertEqual(line["type"], "LineString")
            self.assertTrue(all(first < last for first, last in zip(times, times[1:])))
            self.assertTrue(all(point[2] == 0 for point in line["coordinates"]))


if __name__ == "__main__":
    unittest.main()
