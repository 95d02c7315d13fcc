"""Fits in rounds from Python: the model of one machine, byte for byte; refusals as exceptions."""

import os
import unittest

import support
from support import SEEDED, Case, city_frame

import dploc
from dploc import rounds, spark


def fit_in_rounds(folder, frame, shards, **options):
    """The model's path."""
    plan, key = rounds.begin(folder, **options)
    cleaned = [rounds.Task(plan, key).clean(frame, i, shards) for i in range(shards)]
    number = 1
    while plan is not None:
        task = rounds.Task(plan, key)
        assert task.round == number
        plan = rounds.proceed(folder, number, rounds.merge(map(task.count, cleaned)))
        number += 1
    return rounds.plan_path(folder, number)


class Rounds(Case):
    def test_the_model_of_one_machine(self):
        frame = city_frame()
        whole = os.path.join(self.directory, "whole.dploc")
        for options in ({}, {"unit": "user", "epsilon": 90, "cell": 4000}, {"method": "adatrace"}):
            options = {**SEEDED, **options}
            dploc.fit(frame, output=whole, force=True, **options)
            for shards in (1, 3):
                name = f"{options.get('method')}{len(options)}{shards}"
                folder = os.path.join(self.directory, name)
                os.mkdir(folder, 0o700)
                path = fit_in_rounds(folder, frame, shards, **options)
                self.assertEqual(path.read_bytes(), open(whole, "rb").read())
                rounds.remove(folder)
                self.assertEqual(os.listdir(folder), [])

    def test_a_model_outlives_its_folder(self):
        made = os.path.join(self.directory, "round3.plan")
        dploc.fit(city_frame(), output=made, **SEEDED)
        content = open(made, "rb").read()
        model = spark.finished(made, None, stays=False)
        os.unlink(made)
        self.assertEqual(spark.model_bytes(model), content)

    def test_what_does_not_fit_is_an_exception(self):
        frame = city_frame()
        plan, key = rounds.begin(self.directory, **SEEDED)
        task = rounds.Task(plan, key)
        parts = [task.count(task.clean(frame, i, 2)) for i in range(2)]
        self.assertEqual(rounds.shards_of(rounds.merge(parts)), {0, 1})
        with self.assertRaisesRegex(dploc.RefusedError, "shard 1/2 is there twice"):
            rounds.merge([parts[0], parts[0]])
        with self.assertRaisesRegex(dploc.RefusedError, "1 of 2 shards are missing"):
            rounds.proceed(self.directory, 1, parts[0])
        with self.assertRaisesRegex(dploc.BadDataError, "damaged"):
            rounds.merge([parts[0][:-1]])
        with self.assertRaisesRegex(dploc.UsageError, "one machine"):
            rounds.begin(self.directory, **{**SEEDED, "method": "paper"})
        rounds.proceed(self.directory, 1, rounds.merge(parts))
        more = task.clean(frame[frame.index > 50], 0, 1)
        with self.assertRaisesRegex(dploc.RefusedError, "other data"):
            rounds.proceed(self.directory, 1, task.count(more))


if __name__ == "__main__":
    unittest.main()
