"""The package with the packages that people have: pandas 3, pyarrow, Polars, DuckDB, GeoPandas,
MovingPandas. One data set in any of them is one model, and synthetic trips come back in kind."""

import os
import unittest

from support import SEEDED, Case, city_frame

import dploc
import duckdb
import geopandas
import movingpandas
import pandas
import polars
import pyarrow
import pyarrow.parquet


def kinds(frame):
    """The city in every package, under several types."""
    table = pyarrow.table({name: pyarrow.array(frame[name]) for name in frame.columns})
    yield "pyarrow", table
    yield "a stream", table.to_reader(max_chunksize=1000)
    yield "dictionaries", table.set_column(1, "tid", table["tid"].cast("string")
                                           .dictionary_encode())
    yield "chunks", pyarrow.concat_tables([table.slice(0, 777), table.slice(777)])
    yield "seconds", table.set_column(2, "datetime", table["datetime"].cast(
        pyarrow.timestamp("s", "UTC"), safe=False))
    yield "polars", polars.from_arrow(table)
    yield "polars texts", polars.from_arrow(table).with_columns(
        polars.col("tid").cast(polars.String), polars.col("lat").cast(polars.String),
        polars.col("uid").cast(polars.String).cast(polars.Categorical))
    yield "pandas", frame
    yield "pandas on arrow", frame.convert_dtypes(dtype_backend="pyarrow")
    yield "pandas texts", frame.assign(tid=frame.tid.astype("str"), uid=frame.uid.astype("string"))
    duckdb.register("city", table)
    yield "duckdb", duckdb.sql("select * from city")
    yield "duckdb texts", duckdb.sql("select uid::varchar uid, tid::varchar tid, datetime, "
                                     "lat::decimal(12, 8) lat, lng::varchar lng from city")
    points = geopandas.points_from_xy(frame.lng, frame.lat, crs=4326)
    yield "geopandas", geopandas.GeoDataFrame(frame.drop(columns=["lat", "lng"]), geometry=points)


class Same(Case):
    def test_one_model(self):
        frame, path = city_frame(), self.path("city.csv")
        frame.to_csv(path, index=False)
        expected = self.model_bytes(path)
        for name, data in kinds(frame):
            with self.subTest(name):
                self.assertEqual(self.model_bytes(data), expected)

    def test_parquet_through_pyarrow(self):
        frame, path = city_frame(), self.path("city.parquet")
        frame.to_parquet(path, index=False)
        expected = self.model_bytes(frame)
        self.assertEqual(self.model_bytes(pyarrow.parquet.read_table(path)), expected)
        self.assertEqual(self.model_bytes(duckdb.sql(f"select * from '{path}'")), expected)
        # By the library itself, with DuckDB's.
        self.assertEqual(self.model_bytes(path), expected)
        selected = dploc.inspect(sql=f"select * from '{path}'")  # a release of it would say so
        self.assertEqual(selected["points"], len(frame))

    def test_other_crs(self):
        frame = city_frame()
        points = geopandas.points_from_xy(frame.lng, frame.lat, crs=4326)
        projected = geopandas.GeoDataFrame(frame.drop(columns=["lat", "lng"]),
                                           geometry=points).to_crs(32632)
        facts = dploc.inspect(projected, region="simulated")
        self.assertEqual(facts["trips_kept"],
                         dploc.inspect(frame, region="simulated")["trips_kept"])

    def test_trajectories(self):
        frame = city_frame()
        points = geopandas.points_from_xy(frame.lng, frame.lat, crs=4326)
        data = geopandas.GeoDataFrame(frame.assign(datetime=frame.datetime.dt.tz_localize(None)),
                                      geometry=points)
        collection = movingpandas.TrajectoryCollection(data, "tid", t="datetime")
        self.assertIsInstance(dploc.synth(collection, trips=3, tz="UTC", **SEEDED),
                              movingpandas.TrajectoryCollection)
        facts = dploc.inspect(collection, region="simulated", tz="UTC")
        self.assertEqual(facts["trips_read"], frame.tid.nunique())
        self.assertEqual(facts["points"], len(frame.drop_duplicates(["tid", "datetime"])))

    def test_one_line_is_one_bad_row(self):
        frame = dict(kinds(city_frame()))["geopandas"]
        expected = self.model_bytes(frame)
        bad = frame[:3].copy()
        bad["tid"] = 9999
        bad.geometry = geopandas.GeoSeries.from_wkt(
            ["LINESTRING (0 0, 1 1)", "POINT EMPTY", "POLYGON ((0 0, 1 1, 1 0, 0 0))"], crs=4326,
            index=bad.index)
        both = pandas.concat([frame, bad], ignore_index=True)
        self.assertEqual(self.model_bytes(both), expected)

    def test_lines_are_refused(self):
        lines = geopandas.GeoDataFrame(
            {"tid": [1]}, crs=4326,
            geometry=geopandas.GeoSeries.from_wkt(["LINESTRING (0 0, 1 1)"]))
        with self.assertRaisesRegex(dploc.UsageError, "points, one a row"):
            dploc.inspect(lines)


class Out(Case):
    def test_in_kind(self):
        frame = city_frame()
        expected = {"pyarrow": pyarrow.Table, "polars": polars.DataFrame,
                    "pandas": pandas.DataFrame, "duckdb": duckdb.DuckDBPyRelation,
                    "geopandas": geopandas.GeoDataFrame,
                    "movingpandas": movingpandas.TrajectoryCollection}
        model = dploc.fit(frame, **SEEDED)
        plain = model.sample(trips=7, seed=2)
        for kind, made in expected.items():
            with self.subTest(kind):
                drawn = model.sample(trips=7, seed=2, frame=kind)
                self.assertIsInstance(drawn, made)
                self.assertEqual(dploc.certificate(drawn), model.certificate)
                self.assertEqual(number_of_rows(drawn), len(plain))
        drawn = {}
        for name, data in kinds(frame):
            drawn.setdefault(dploc.frames.kind_of(data), (name, data))
        self.assertEqual(set(drawn), set(expected) - {"movingpandas"})
        for kind, (name, data) in drawn.items():
            with self.subTest(name):
                self.assertIsInstance(dploc.synth(data, trips=3, **SEEDED), expected[kind])

    def test_values(self):
        model = dploc.fit(city_frame(), **SEEDED)
        plain = model.sample(trips=20, seed=2)
        other = model.sample(trips=20, seed=2, frame="polars")
        self.assertEqual(other.columns, list(plain.columns))
        self.assertEqual(str(other.schema["datetime"]),
                         "Datetime(time_unit='us', time_zone='Europe/Berlin')")
        self.assertTrue((other["datetime"].to_pandas() == plain.datetime).all())
        self.assertTrue((other["lat"].to_numpy() == plain.lat.to_numpy()).all())
        table = model.sample(trips=20, seed=2, frame="pyarrow")
        self.assertTrue(table.to_pandas().astype(plain.dtypes).equals(plain))

    def test_back_again(self):
        drawn = dploc.synth(city_frame(), trips=200, **SEEDED)
        for kind in ("pyarrow", "polars", "duckdb", "geopandas"):
            with self.subTest(kind):
                model = dploc.fit(city_frame(), **SEEDED)
                again = dploc.inspect(model.sample(trips=50, seed=1, frame=kind),
                                      region="simulated")
                self.assertEqual(again["trips_read"], 50)
        self.assertEqual(dploc.inspect(drawn, region="simulated")["trips_read"], 200)


def number_of_rows(frame):
    if hasattr(frame, "trajectories"):
        return sum(len(one.df) for one in frame.trajectories)
    return len(frame.project("tid").fetchall()) if hasattr(frame, "fetchall") else len(frame)


class Typed(Case):
    def test_types(self):
        """mypy, on the package and on a caller of it."""
        from mypy import api
        caller = self.path("caller.py")
        with open(caller, "w", encoding="utf-8") as file:
            file.write("import dploc\n"
                       "model = dploc.fit('x.csv', region='sf', epsilon=1, ledger=None)\n"
                       "cost: float = dploc.account(gaussian=3.8)['epsilon']\n")
        os.environ["MYPYPATH"] = os.path.dirname(dploc.__path__[0])
        quiet = ["--cache-dir=/dev/null", "--disable-error-code=import-untyped",
                 "--disable-error-code=import-not-found"]  # of packages without types
        out, err, status = api.run([*quiet, caller, dploc.__path__[0]])
        self.assertEqual(status, 0, out + err)
        with open(caller, "a", encoding="utf-8") as file:
            file.write("dploc.fit('x.csv', epsilon='one')\n")
        out, _, status = api.run([*quiet, caller])
        self.assertIn('Argument "epsilon" to "fit" has incompatible type', out)


class Notebook(Case):
    def test_it_runs(self):
        self.run_notebook("geopandas.ipynb")

    def test_progress(self):
        """One line under the cell, which is written over and empty at the end."""
        import nbformat
        from nbclient import NotebookClient
        code = ("import dploc\n"
                "from dploc import progress\n"
                "city = dploc.simulate(trips=300, seed=1, quiet=True)\n"
                "lines, show = [], progress.Notebook.show\n"
                "def watched(self, report):\n"
                "    lines.append(progress.words_of(report))\n"
                "    show(self, report)\n"
                "progress.Notebook.show = watched\n"
                "dploc.fit(city, region='simulated', epsilon=50, ledger=None, method='paper')\n"
                "assert any(' of ' in line for line in lines), lines\n")
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
        NotebookClient(notebook, timeout=300).execute()
        shown = [one for one in notebook.cells[0].outputs if one.output_type == "display_data"]
        self.assertGreater(len(shown), 0)
        self.assertEqual({one.data["text/plain"] for one in shown}, {""})


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # of the packages, about each other
