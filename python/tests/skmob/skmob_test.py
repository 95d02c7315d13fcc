"""The package with scikit-mobility: a TrajDataFrame goes in, and one comes out."""

import unittest

from support import SEEDED, Case, city_frame

import dploc
import skmob


class Trajectories(Case):
    def test_in_and_out(self):
        frame = city_frame()
        naive = frame.assign(datetime=frame.datetime.dt.tz_convert("Europe/Berlin")
                             .dt.tz_localize(None))
        data = skmob.TrajDataFrame(naive)
        self.assertEqual(self.model_bytes(data), self.model_bytes(frame))
        drawn = dploc.synth(data, trips=9, **SEEDED)
        self.assertIsInstance(drawn, skmob.TrajDataFrame)
        self.assertEqual(drawn.tid.nunique(), 9)
        self.assertLessEqual(dploc.certificate(drawn).epsilon, 20)

    def test_the_notebook(self):
        self.run_notebook("skmob.ipynb")


if __name__ == "__main__":
    unittest.main(warnings="ignore")
