"""What the site's recipe for Spark tells a reader to type, on a session of Spark in this process.

usage: recipe_test.py
"""

import os
import sys
import tempfile
import unittest

TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(TREE, "scripts"))
from blocks import blocks  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="dploc-recipe-")
os.environ["XDG_STATE_HOME"] = os.path.join(FOLDER.name, "state")
os.chdir(FOLDER.name)  # before Spark starts: its names of files begin here, too

import dploc  # noqa: E402


class Recipe(unittest.TestCase):
    def test_recipe(self):
        from pyspark.sql import SparkSession
        session = (SparkSession.builder.master("local[1]").appName("recipe")
                   .config("spark.ui.enabled", "false")
                   .config("spark.ui.showConsoleProgress", "false")
                   .config("spark.driver.bindAddress", "127.0.0.1")
                   .config("spark.driver.host", "127.0.0.1").getOrCreate())
        self.addCleanup(session.stop)
        session.createDataFrame(dploc.simulate(trips=3000, seed=1)).write.parquet("trips")
        with open(os.path.join(TREE, "site/pages/recipes.md"), encoding="utf-8") as file:
            code, = [code for name, code in blocks(file.read(), "python") if name == "Spark"]
        known = {"spark": session}
        exec(code, known)  # pylint: disable=exec-used
        self.assertEqual(known["many"].columns, ["tid", "datetime", "lat", "lng"])
        self.assertEqual(len(known["many"].take(5)), 5)
        self.assertTrue(dploc.certificate("city.dploc").verify()["valid"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
