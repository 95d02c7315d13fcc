"""examples/scale/dask_fit.py on a local Dask cluster: the model of one machine, byte for byte."""

import os
import sys
import tempfile
import unittest

FOLDER = tempfile.TemporaryDirectory(prefix="dploc-dask-")
os.environ["XDG_STATE_HOME"] = os.path.join(FOLDER.name, "state")
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/scale"))
OPTIONS = {"region": "simulated", "cell": 4000, "epsilon": 8, "ledger": None, "insecure_seed": 5,
           "quiet": True}

import dask_fit  # noqa: E402
import dploc  # noqa: E402


class Case(unittest.TestCase):
    def test_the_model_of_one_machine(self):
        from dask.distributed import Client, LocalCluster
        data, models = f"{FOLDER.name}/city.csv", []
        dploc.simulate(trips=400, seed=1).to_csv(data, index=False)
        dploc.fit(data, output=f"{FOLDER.name}/one.dploc", **OPTIONS)
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                dask_fit.fit(client, data, f"{FOLDER.name}/dask.dploc", 5, **OPTIONS)
        for name in ("one", "dask"):
            with open(f"{FOLDER.name}/{name}.dploc", "rb") as file:
                models.append(file.read())
        self.assertEqual(*models)


if __name__ == "__main__":
    unittest.main(verbosity=2)
