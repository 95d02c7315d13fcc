"""What the program writes as Parquet and GeoParquet, opened by pyarrow, GeoPandas and DuckDB; and
what they write, read by the program. It needs DuckDB's C library: the file that DPLOC_DUCKDB names,
or the one in the build directory of the program."""

import json
import os
import subprocess
import tempfile
import unittest

from support import DPLOC

import duckdb
import geopandas
import pandas
import pyarrow.parquet

BUILT = "duckdb/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so"
LIBRARY = os.environ.get("DPLOC_DUCKDB") or os.path.join(os.path.dirname(DPLOC), BUILT)


def dploc(*arguments):
    done = subprocess.run([DPLOC, *arguments, "-q"], capture_output=True, text=True, check=False,
                          env={**os.environ, "DPLOC_DUCKDB": LIBRARY})
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.chdir(cls.folder.name)
        area = ["--region", "simulated", "--cell", "1500"]
        dploc("simulate", "--trips", "500", "-o", "city.csv")
        dploc("fit", "city.csv", "-o", "m.dploc", *area, "--epsilon", "inf", "--unit", "user",
              "--ledger", "none")
        for name in ("s.csv", "s.parquet", "s.geoparquet", "s.geojson"):
            dploc("sample", "m.dploc", "-n", "200", "--seed", "1", "-o", name)
        cls.rows = pandas.read_csv("s.csv")
        cls.rows["datetime"] = pandas.to_datetime(cls.rows.datetime, utc=True)

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.folder.cleanup()

    def assert_rows(self, frame):
        frame = frame.reset_index(drop=True)
        self.assertEqual(list(frame.columns), ["uid", "tid", "datetime", "lat", "lng"])
        for column in frame.columns:
            self.assertTrue((frame[column] == self.rows[column]).all(), column)

    def test_pyarrow(self):
        file = pyarrow.parquet.ParquetFile("s.parquet")
        kinds = {field.name: str(field.type) for field in file.schema_arrow}
        self.assertEqual(kinds, {"uid": "int64", "tid": "int64", "lat": "double", "lng": "double",
                                 "datetime": "timestamp[us, tz=UTC]"})
        self.assertEqual(file.metadata.row_group(0).column(0).compression, "ZSTD")
        self.assert_rows(file.read().to_pandas())

    def test_duckdb(self):
        self.assert_rows(duckdb.sql("SELECT uid, tid, epoch(datetime) AS datetime, lat, lng "
                                    "FROM 's.parquet'").df().assign(
            datetime=lambda f: pandas.to_datetime(f.datetime, unit="s", utc=True)))
        trips = duckdb.sql("SELECT count(*), sum(len(datetime)) "
                           "FROM read_parquet('s.geoparquet')").fetchall()
        self.assertEqual(trips, [(200, len(self.rows))])

    def test_geopandas(self):
        trips = geopandas.read_parquet("s.geoparquet")
        self.assertEqual(trips.crs, "OGC:CRS84")
        self.assertEqual(set(trips.geom_type), {"LineString"})
        self.assertFalse(trips.geometry.has_z.any())
        for one, (tid, rows) in zip(trips.itertuples(), self.rows.groupby("tid")):
            self.assertEqual(one.tid, tid)
            self.assertEqual(list(one.geometry.coords), list(zip(rows.lng, rows.lat)))
            self.assertEqual([pandas.Timestamp(time).value for time in one.datetime],
                             [time.value for time in rows.datetime])
        about = json.loads(pyarrow.parquet.read_schema("s.geoparquet").metadata[b"geo"])
        self.assertEqual(about["version"], "1.1.0")
        self.assertEqual(about["columns"]["geometry"]["encoding"], "WKB")

    def test_geojson(self):
        trips = geopandas.read_file("s.geojson")
        self.assertEqual(len(trips), 200)
        self.assertEqual(set(trips.geom_type), {"LineString"})

    def test_tables(self):
        """The noised tables of a model: the same numbers as CSV and as Parquet."""
        dploc("fit", "city.csv", "-o", "p.dploc", "--region", "simulated", "--cell", "1500",
              "--epsilon", "9", "--ledger", "none")
        dploc("tables", "p.dploc", "-o", "tables")
        names = [name[:-len(".csv")] for name in os.listdir("tables") if name.endswith(".csv")]
        self.assertLessEqual({"zones", "visits", "lengths", "speeds", "cells"}, set(names))
        for name in names:
            texts = pandas.read_csv(f"tables/{name}.csv")
            table = pyarrow.parquet.read_table(f"tables/{name}.parquet").to_pandas()
            self.assertEqual(list(table.columns), list(texts.columns), name)
            pandas.testing.assert_frame_equal(table.astype(float), texts.astype(float))

    def facts(self, *arguments):
        found = json.loads(dploc("inspect", *arguments, "--region", "simulated", "--cell", "1500",
                                 "--json"))
        return {name: found[name] for name in ("trips_read", "trips_kept", "users", "visits")}

    def test_theirs_are_read(self):
        """The same facts of a frame of rows, of points, of several row groups and encodings."""
        points = geopandas.points_from_xy(self.rows.lng, self.rows.lat)
        self.rows.to_parquet("rows.parquet", row_group_size=100)
        geopandas.GeoDataFrame(self.rows[["uid", "tid", "datetime"]], geometry=points,
                               crs=4326).to_parquet("points.parquet")
        texts = self.rows.assign(tid=self.rows.tid.astype("category"),
                                 uid=self.rows.uid.astype(float),
                                 datetime=self.rows.datetime.astype("datetime64[ns, UTC]"))
        texts.to_parquet("texts.parquet", compression="gzip")
        duckdb.sql("COPY (SELECT * FROM 's.parquet') TO 'duck.parquet' (COMPRESSION snappy)")
        expected = self.facts("s.csv")
        geopandas.read_parquet("s.geoparquet").to_parquet("trips.parquet")
        for name in ("s.parquet", "rows.parquet", "points.parquet", "texts.parquet",
                     "duck.parquet", "s.geoparquet", "trips.parquet", "s.geojson"):
            self.assertEqual(self.facts(name), expected, name)
        self.assertEqual(self.facts("--sql", "select * from 'rows.parquet'"), expected)


if __name__ == "__main__":
    unittest.main()
