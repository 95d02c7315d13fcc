"""The package with numpy and pandas alone: the same trips in any form, keywords, errors, Ctrl-C."""

import decimal
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import threading
import time
import unittest

from support import DPLOC, SEEDED, Case, city_frame, program

import dploc
import numpy
import pandas
from dploc.options import keywords_of


def representations(frame):
    """The same rows under other types."""
    seconds = frame.datetime.map(lambda one: int(one.timestamp())).to_numpy()
    yield "as they are", frame
    yield "counts of seconds", frame.assign(datetime=seconds)
    yield "floats", frame.assign(tid=frame.tid.astype(float), uid=frame.uid.astype(float),
                                 datetime=seconds.astype(float))
    yield "nullable", frame.assign(tid=frame.tid.astype("Int64"), uid=frame.uid.astype("UInt16"))
    yield "texts", frame.assign(tid=frame.tid.astype(str), uid=frame.uid.astype(str),
                                lat=frame.lat.astype(str), lng=frame.lng.map(repr),
                                datetime=frame.datetime.map(lambda one: one.isoformat()))
    yield "objects", frame.assign(tid=frame.tid.astype(object), lat=frame.lat.astype(object),
                                  datetime=frame.datetime.astype(object))
    mixed = frame.tid.astype(object)
    mixed[::2] = [str(one) for one in mixed[::2]]
    mixed[::3] = [float(one) for one in mixed[::3]]
    yield "mixed objects", frame.assign(tid=mixed)
    yield "categories", frame.assign(tid=frame.tid.astype("category"),
                                     uid=frame.uid.astype(str).astype("category"))
    local = frame.datetime.dt.tz_convert("Europe/Berlin")
    yield "another zone", frame.assign(datetime=local)
    yield "local clocks", frame.assign(datetime=local.dt.tz_localize(None))
    yield "narrow", frame.assign(tid=frame.tid.astype("int16"), uid=frame.uid.astype("uint8"))
    yield "another order of columns", frame[["lng", "lat", "datetime", "tid", "uid"]]
    yield "more columns", frame.assign(speed=1.5, note="x", other=None)
    yield "strided", pandas.DataFrame(frame.to_dict("series")).iloc[::1].copy()


class Same(Case):
    """One data set in any form is one model."""

    def test_representations(self):
        frame = city_frame()
        path = self.path("city.csv")
        frame.to_csv(path, index=False)
        expected = self.model_bytes(path)
        for name, other in representations(frame):
            with self.subTest(name), self.quiet():
                self.assertEqual(self.model_bytes(other), expected)

    def quiet(self):
        import warnings
        caught = warnings.catch_warnings()
        caught.__enter__()
        warnings.simplefilter("ignore")
        self.addCleanup(caught.__exit__, None, None, None)
        return self.subTest()

    def test_scattered_rows(self):
        frame = city_frame()
        expected = self.model_bytes(frame)
        self.assertEqual(self.model_bytes(frame.sort_values("datetime", kind="stable")
                                          .sort_values("tid", kind="stable")), expected)
        by_time = frame.assign(step=frame.groupby("tid").cumcount())
        by_time = by_time.sort_values(["step", "tid"], kind="stable")
        self.assertEqual(self.model_bytes(by_time), expected)

    def test_missing_values_are_rows_alone(self):
        frame = city_frame()
        expected = self.model_bytes(frame)
        bad = pandas.DataFrame({"uid": [1, None, 2, 3], "tid": [None, 9999, 9998, 9997],
                                "lat": [48.0, 48.0, None, 48.0], "lng": [11.5] * 4,
                                "datetime": pandas.to_datetime(
                                    ["2025-03-03T10:00:00Z"] * 3 + [None], utc=True)})
        both = pandas.concat([frame, bad], ignore_index=True)
        with self.assertWarnsRegex(UserWarning, "numbers with a fraction"):
            self.assertEqual(self.model_bytes(both), expected)
        facts = dploc.inspect(both)  # which takes rows without a time
        self.assertEqual(facts["rows_rejected"], {"no_id": 2, "missing_field": 1})

    def test_odd_objects_are_rows_alone(self):
        frame = city_frame()
        expected = self.model_bytes(frame)
        odd = [numpy.zeros(3), decimal.Decimal("sNaN"), "\ud800", object(), [1, 2], b"\xff"]
        for name in ("tid", "lat", "datetime"):
            bad = frame[:len(odd)].astype(object)
            bad["tid"], bad["uid"] = [f"odd {i}" for i in range(len(odd))], 1
            bad[name] = pandas.Series(odd, dtype=object)
            both = pandas.concat([frame.astype(object), bad], ignore_index=True)
            self.assertEqual(self.model_bytes(both), expected, name)

    def test_files_and_the_program(self):
        path, model = self.path("city.csv"), self.path("program.dploc")
        dploc.simulate(trips=300, seed=1, output=path)
        program("fit", path, "--region", "simulated", "--epsilon", 20, "--ledger", "none",
                "--insecure-seed", 11, "-o", model, "--quiet")
        with open(model, "rb") as file:
            self.assertEqual(self.model_bytes(path), file.read())


class Out(Case):
    """Synthetic trips as frames."""

    def test_the_frame_is_the_file(self):
        model = dploc.fit(city_frame(), **SEEDED)
        path = self.path("drawn.csv")
        frame = model.sample(trips=40, seed=5, output=path, times="utc", quiet=True)
        file = pandas.read_csv(path, parse_dates=["datetime"])
        self.assertEqual(list(frame.columns), ["tid", "datetime", "lat", "lng"])
        self.assertTrue((frame.datetime == file.datetime).all())
        self.assertTrue(frame[["tid", "lat", "lng"]].equals(file[["tid", "lat", "lng"]]))

    def test_times(self):
        model = dploc.fit(city_frame(), **SEEDED)
        local, naive, utc, epoch = (model.sample(trips=3, seed=5, times=times).datetime
                                    for times in ("local", "naive", "utc", "epoch"))
        self.assertEqual(str(local.dt.tz), "Europe/Berlin")
        self.assertTrue((local == utc).all())
        self.assertTrue((local.dt.tz_localize(None) == naive).all())
        self.assertEqual(epoch.dtype, numpy.int64)
        self.assertTrue((epoch == utc.map(lambda one: int(one.timestamp()))).all())

    def test_blocks(self):
        model = dploc.fit(city_frame(), **SEEDED)
        parts = [model.sample(trips=30, seed=5, block=(i + 1, 3)) for i in range(3)]
        whole = model.sample(trips=30, seed=5)
        self.assertTrue(pandas.concat(parts, ignore_index=True).equals(whole))

    def test_on_roads(self):
        roads = self.path("city.osm.pbf")
        dploc.simulate(trips=10, output=self.path("city.csv"), roads_out=roads)
        model = dploc.fit(city_frame(), **SEEDED)
        shares = [dploc.evaluate(city_frame(), model.sample(trips=100, seed=5, **options),
                                 roads=roads, only="road_share_30m").measure("road_share_30m")
                  for options in ({}, {"roads": roads, "travel": "drive"})]
        self.assertGreater(shares[1]["value"], shares[0]["value"])

    def test_users_and_no_times(self):
        options = {**SEEDED, "epsilon": 90}
        users = dploc.synth(city_frame(), unit="user", trips=5, **options)
        self.assertEqual(list(users.columns), ["uid", "tid", "datetime", "lat", "lng"])
        plain = dploc.synth(city_frame(), method="ngram", trips=5, **options)
        self.assertTrue(plain.datetime.isna().all())

    def test_certificates(self):
        frame = dploc.synth(city_frame(), trips=5, **SEEDED)
        promise = dploc.certificate(frame)
        self.assertLessEqual(promise.epsilon, 20)
        self.assertIn("NOT PRIVATE", promise["warning"])  # its seed is known
        self.assertIn("dploc_certificate", frame.attrs)
        self.assertEqual(dploc.certificate(frame.head(2)), promise)
        page = promise._repr_html_()
        self.assertIn("50:50", page)
        self.assertIn("<td>", page)

    def test_files_of_synth(self):
        out, model = self.path("syn.csv"), self.path("syn.dploc")
        frame = dploc.synth(city_frame(), output=out, model=model, trips=20, seed=4, **SEEDED)
        for name in (out, out + ".certificate.json", out + ".manifest.json", out + ".PRIVATE.json",
                     model):
            self.assertTrue(os.path.exists(name), name)
        self.assertFalse(os.path.exists(out + ".checkpoint"))
        self.assertEqual(frame.tid.nunique(), 20)
        again = dploc.Model(model).sample(trips=20, seed=4)
        self.assertTrue(again.equals(frame))
        self.assertEqual(dploc.certificate(model), dploc.certificate(out))

    def test_a_model_is_saved(self):
        model = dploc.fit(city_frame(), **SEEDED)
        path = self.path("saved.dploc")
        model.save(path)
        with self.assertRaises(dploc.UsageError) as caught:
            model.save(path)
        self.assertEqual(caught.exception.field, "force")
        self.assertEqual(dploc.inspect(path)["method"], "bridge")
        self.assertEqual(oct(os.stat(path + ".PRIVATE.json").st_mode)[-3:], "600")


class Judged(Case):
    """What looks at real and synthetic trips."""

    def test_the_figures_are_the_programs(self):
        real, drawn = self.path("real.csv"), self.path("syn.csv")
        dploc.simulate(trips=300, seed=1, output=real)
        frame = dploc.synth(real, output=drawn, trips=200, seed=4, **SEEDED)
        import json
        names = "density_emd_m,length_jsd_distance,speed_q50_kmh"
        expected = json.loads(program("eval", real, drawn, "--only", names, "--json", "--quiet"))
        expected = expected["synthetic"][0]["measures"]
        for synthetic in (drawn, frame):
            measures = dploc.evaluate(real, synthetic, only=names)["synthetic"][0]["measures"]
            self.assertEqual(len(measures), len(expected))
            for mine, theirs in zip(measures, expected):
                self.assertEqual(mine["name"], theirs["name"])
                if theirs["value"] is not None:
                    self.assertAlmostEqual(mine["value"], theirs["value"], 5)
        page = dploc.evaluate(real, frame, only=names)._repr_html_()
        self.assertIn("NOT PRIVATE", page)

    def test_stages(self):
        import json
        real, drawn, model = self.path("real.csv"), self.path("syn.csv"), self.path("m.dploc")
        dploc.simulate(trips=300, seed=1, output=real)
        dploc.synth(real, output=drawn, model=model, trips=200, seed=4, **SEEDED)
        expected = json.loads(program("eval", real, drawn, "--stages", model, "--json", "--quiet"))
        figures = dploc.evaluate(real, drawn, stages=model)
        self.assertGreater(len(figures["stages"]), 3)
        for mine, theirs in zip(figures["stages"], expected["stages"]):
            self.assertEqual(mine["stage"], theirs["stage"])
            for name in ("density_m", "od_m", "length_jsd", "step_jsd"):
                self.assertAlmostEqual(mine[name] or 0, theirs[name] or 0, 5)
        self.assertIn(figures["stages"][0]["stage"], figures._repr_html_())

    def test_report_and_attack(self):
        frame = city_frame()
        options = {**SEEDED, "epsilon": 40}
        drawn = dploc.synth(frame, trips=150, seed=4, **options)
        found = dploc.attack(frame, drawn, quiet=True)
        self.assertTrue(found["shadow"])
        self.assertGreater(len(found["attacks"]), 1)
        out = dploc.report(frame, drawn, output=self.path("report.html"), attack=found)
        with open(out, encoding="utf-8") as file:
            self.assertIn("NOT PRIVATE", file.read())
        self.assertEqual(oct(os.stat(out).st_mode)[-3:], "600")

    def test_a_public_report_needs_a_certificate(self):
        drawn = dploc.synth(city_frame(), region="simulated", epsilon=20, ledger=None, trips=100)
        out = dploc.report(None, drawn, public=True, output=self.path("public.html"))
        self.assertTrue(os.path.getsize(out) > 10000)
        drawn.attrs.clear()
        with self.assertRaises(dploc.RefusedError):
            dploc.report(None, drawn, public=True, output=self.path("other.html"),
                         region="simulated")

    def test_days_that_were_fitted_on(self):
        frame = dploc.simulate(trips=600, seed=1, days=2, date="2025-03-03")
        options, day = {**SEEDED, "epsilon": 60}, "2025-03-03"
        drawn = dploc.synth(frame, dates=day, trips=100, seed=4, **options)
        model = dploc.fit(frame, dates=day, **options)
        other = model.sample(trips=100, dates="2025-06-01..2025-06-30")
        kept = dploc.inspect(frame, region="simulated", dates=day)["trips_kept"]
        self.assertLess(kept, 500)
        for synthetic in (drawn, other):
            figures = dploc.evaluate(frame, synthetic, only="length_mean")
            self.assertEqual(figures["real"]["trips"], kept)
        figures = dploc.evaluate(frame, drawn, only="length_mean", dates="2025-03-03..2025-03-04")
        self.assertGreater(figures["real"]["trips"], 500)
        with self.assertRaises(dploc.UsageError) as caught:
            dploc.attack(frame, drawn, dates="someday", quiet=True)
        self.assertEqual(caught.exception.field, "dates")

    def test_flows_between_districts(self):
        import json
        square = [[11.0, 47.0], [11.5, 47.0], [11.5, 49.0], [11.0, 49.0], [11.0, 47.0]]
        zones, frame = self.path("zones.geojson"), city_frame()
        with open(zones, "w", encoding="utf-8") as file:
            json.dump({"type": "FeatureCollection", "features": [
                {"type": "Feature", "properties": {"name": "The west"},
                 "geometry": {"type": "Polygon", "coordinates": [square]}}]}, file)
        out, ledger = self.path("report.html"), self.path("ledger")
        dploc.synth(frame, trips=100, report=out, zones=zones, **SEEDED)
        with open(out, encoding="utf-8") as file:
            self.assertIn('"districts":[["The west",', file.read())
        with self.assertRaises(dploc.BadDataError):  # before anything is spent
            dploc.synth(frame, region="simulated", epsilon=20, ledger=ledger, quiet=True,
                        report=self.path("other.html"), zones=out)
        self.assertFalse(os.path.exists(ledger))

    def test_recorded_split(self):
        frame, out = city_frame(), self.path("syn.csv")
        dploc.synth(frame, output=out, hold_out=0.5, trips=100, **{**SEEDED, "epsilon": 60})
        found = dploc.attack(frame, out, no_control=True, quiet=True)
        self.assertFalse(found["shadow"])
        self.assertIn("PRIVATE.json", found["split"])

    def test_account(self):
        import json
        mine = dploc.account(gaussian=[3.8, 2], laplace=1.5, poisson=(0.001, 1.2, 1000),
                             delta=1e-7, curve=True)
        theirs = json.loads(program("account", "--gaussian", 3.8, "--gaussian", 2, "--laplace", 1.5,
                                    "--poisson", "0.001,1.2,1000", "--delta", 1e-7, "--curve",
                                    "--json"))
        self.assertAlmostEqual(mine["epsilon"], theirs["epsilon"], 9)
        self.assertEqual(len(mine["curve"]), len(theirs["curve"]))
        self.assertEqual(len(dploc.account(paper="sf")["settings"]), 3)


class Ledger(Case):
    """The sum over releases."""

    def test_a_limit_holds_for_all_forms(self):
        frame, path = city_frame(), self.path("city.csv")
        frame.to_csv(path, index=False)
        ledger = self.path("ledger")
        options = {"region": "simulated", "epsilon": 20, "ledger": ledger, "quiet": True}
        dploc.fit(frame, total_epsilon=30, **options)
        with self.assertRaises(dploc.RefusedError) as caught:
            dploc.fit(path, **options)
        self.assertEqual(caught.exception.field, "total_epsilon")

    def test_left_out_is_the_default(self):
        frame = city_frame()
        dploc.fit(frame, region="simulated", epsilon=20, total_epsilon=30, quiet=True)
        with self.assertRaises(dploc.RefusedError):
            dploc.fit(frame, region="simulated", epsilon=20, quiet=True)
        dploc.fit(frame, region="simulated", epsilon=20, ledger=None, quiet=True)


class Errors(Case):
    """Exceptions name the keyword."""

    def field(self, kind, call, *data, **options):
        with self.assertRaises(kind) as caught:
            call(*data, **options)
        self.assertNotIn("`", str(caught.exception))
        return caught.exception.field

    def test_fields(self):
        frame = city_frame()
        usage = dploc.UsageError
        self.assertEqual(self.field(usage, dploc.fit, frame), "region")
        self.assertEqual(self.field(usage, dploc.fit, frame, region="simulated", cell=-1), "cell")
        self.assertEqual(self.field(usage, dploc.fit, frame, region="nowhere"), "region")
        self.assertEqual(self.field(usage, dploc.fit, frame, bbox=(1, 2, 3)), "bbox")
        self.assertEqual(self.field(usage, dploc.fit, frame, region="simulated", epsilon=-1,
                                    ledger=None), "epsilon")
        self.assertEqual(self.field(usage, dploc.fit, frame, region="simulated", unit="car"),
                         "unit")
        self.assertEqual(self.field(usage, dploc.fit, frame, region="simulated", epsilo=1),
                         "epsilo")
        self.assertEqual(self.field(usage, dploc.fit, frame.drop(columns="lat"),
                                    region="simulated"), "lat_column")
        self.assertEqual(self.field(dploc.RefusedError, dploc.fit, frame.drop(columns="tid"),
                                    region="simulated", ledger=None), "trip_column")
        self.assertIsNone(self.field(usage, dploc.fit, object(), region="simulated"))
        self.assertEqual(self.field(dploc.BadDataError, dploc.inspect, frame.head(0)), None)

    def test_columns_are_named(self):
        frame = city_frame().rename(columns={"tid": "fahrt", "datetime": "wann"})
        expected = self.model_bytes(city_frame())
        self.assertEqual(self.model_bytes(frame, trip_column="fahrt", time_column="wann"), expected)

    def test_every_option_is_a_keyword(self):
        left_out = {"help", "help_all", "json", "csv", "hours", "explain",  # how to print
                    "plan_only", "plan", "from_counts"}  # rounds on many machines: dploc.spark
        calls = {"synth": dploc.synth, "fit": dploc.fit, "sample": dploc.Model.sample,
                 "eval": dploc.evaluate, "report": dploc.report, "attack": dploc.attack,
                 "inspect": dploc.inspect, "account": dploc.account, "simulate": dploc.simulate}
        for command, call in calls.items():
            text = program(command, "--help-all")
            found = re.findall(r"(?m)^\s+(?:-\w, )?--([a-z-]+)", text)
            options = {name.replace("-", "_") for name in found}
            self.assertGreater(len(options), 10, command)
            self.assertEqual(options - left_out - keywords_of(call), set(), command)


    def test_options_in_a_file(self):
        frame, path, own = city_frame(), self.path("one.dploc"), self.path("own.json")
        options = {**SEEDED, "cell": 1500}
        expected = self.model_bytes(frame, cell=1500)
        dploc.fit(frame, output=path, **options)
        again = {"insecure_seed": 11, "ledger": None, "quiet": True, "output": path, "force": True}
        dploc.fit(frame, config=path + ".manifest.json", **again)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), expected)
        with open(own, "w", encoding="utf-8") as file:
            file.write('{"epsilon": "inf", "max-gap": 4, "region": "simulated"}')
        frame = dploc.synth(frame, config=own, ledger=None, trips=5, quiet=True)
        self.assertEqual(dploc.certificate(frame).epsilon, float("inf"))
        with open(own, "w", encoding="utf-8") as file:
            file.write('{"epsilo": 1}')
        for name in (own, self.path("nowhere.json")):
            self.assertEqual(self.field(dploc.UsageError, dploc.fit, frame, config=name), "config")


class Shown(Case):
    """Progress, on a terminal."""

    def test_a_terminal(self):
        import pty
        script = ("import dploc\n"
                  "city = dploc.simulate(trips=300, seed=1, quiet=True)\n"
                  "dploc.fit(city, region='simulated', epsilon=50, ledger=None, method='paper')\n")
        here, there = pty.openpty()
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL,
                                 stderr=there)
        os.close(there)
        shown = b""
        while True:
            try:
                shown += os.read(here, 4096)
            except OSError:  # the other side is closed
                break
        os.close(here)
        self.assertEqual(child.wait(), 0, shown)
        self.assertRegex(shown, rb"\rtraining [a-z ]+ [0-9]+ of [0-9]+ steps")
        self.assertRegex(shown, rb"\r +\r$")  # the line is empty at the end

    def test_words_and_silence(self):
        from dploc.progress import Progress, words_of
        from dploc import _abi
        report = _abi.dpl_progress(phase=b"training", unit=b"steps", done=3, total=7,
                                   seconds_left=12, epsilon=0.5)
        self.assertEqual(words_of(report), "training 3 of 7 steps, 12 s left, epsilon 0.5 spent")
        self.assertIs(type(Progress.of("auto", quiet=True)), Progress)
        self.assertEqual(self.field_of("progress"), "progress")

    def field_of(self, name):
        with self.assertRaises(dploc.UsageError) as caught:
            dploc.inspect(city_frame(), **{name: "loud"})
        return caught.exception.field


class Threads(Case):
    """Other Python code goes on meanwhile, and Ctrl-C stops."""

    def test_two_fits_in_two_threads(self):
        frame = city_frame()
        expected, made = self.model_bytes(frame), [None, None]

        def work(i):
            path = self.path(f"{i}.dploc")
            dploc.fit(frame, output=path, **SEEDED)
            with open(path, "rb") as file:
                made[i] = file.read()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(made, [expected, expected])

    def test_the_interpreter_goes_on(self):
        frame, ticks = city_frame(), []
        done = threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        began = time.monotonic()
        dploc.fit(frame, **SEEDED)
        ended = time.monotonic()
        done.set()
        ticker.join()
        during = [one for one in ticks if began < one < ended]
        self.assertGreater(len(during), 3)

    def test_interrupt_and_resume(self):
        path = self.path("city.csv")
        dploc.simulate(trips=300, seed=1, output=path)
        options = {**SEEDED, "method": "paper", "epsilon": 50}
        options.pop("quiet")
        script = (
            "import dploc, os, signal, sys, threading\n"
            "from dploc import library, progress\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background\n"
            "told, interrupt = threading.Event(), library.lib.dpl_run_interrupt\n"
            "def tell(run):\n"
            "    interrupt(run)\n"
            "    told.set()\n"
            "library.lib.dpl_run_interrupt = tell\n"
            "class Stop(progress.Progress):\n"
            "    def show(self, report):\n"
            "        if b'train' in report.phase and not told.is_set():\n"
            "            os.kill(os.getpid(), signal.SIGINT)\n"
            "            told.wait()  # a training this short may be over before\n"
            "progress.Progress.of = staticmethod(lambda kind, quiet: Stop())\n"
            f"options = {options!r}\n"
            "try:\n"
            f"    dploc.fit({path!r}, checkpoint_every=0.01, **options)\n"
            "except dploc.Interrupted as stop:\n"
            "    print(stop.checkpoint)\n"
            "else:\n"
            "    sys.exit('it was not stopped')\n")
        told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              env={**os.environ}, timeout=120)
        self.assertEqual(told.returncode, 0, told.stderr)
        checkpoint = told.stdout.strip()
        self.assertTrue(os.path.exists(checkpoint), told.stderr)
        expected = self.model_bytes(path, method="paper", epsilon=50)
        resumed = self.path("resumed.dploc")
        dploc.fit(path, output=resumed, resume=True, checkpoint=checkpoint,
                  **{**SEEDED, "method": "paper", "epsilon": 50})
        with open(resumed, "rb") as file:
            self.assertEqual(file.read(), expected)
        self.assertFalse(os.path.exists(checkpoint))


class Documented(unittest.TestCase):
    """Docstrings, signatures and types."""

    def test_docstrings(self):
        for module in pkgutil.iter_modules(dploc.__path__):
            with self.subTest(module.name):
                result = doctest.testmod(importlib.import_module(f"dploc.{module.name}"),
                                         optionflags=doctest.ELLIPSIS)
                self.assertEqual(result.failed, 0)

    def test_everything_public_has_words(self):
        for name in dploc.__all__:
            self.assertTrue(getattr(dploc, name).__doc__, name)

    def test_the_oldest_python(self):
        """One wheel is for every CPython from 3.9 on: no grammar of later ones."""
        import ast
        for module in pkgutil.iter_modules(dploc.__path__):
            path = os.path.join(dploc.__path__[0], module.name + ".py")
            with open(path, encoding="utf-8") as file:
                ast.parse(file.read(), path, feature_version=(3, 9))

    def test_signatures(self):
        import inspect
        self.assertIn("epsilon", inspect.signature(dploc.synth).parameters)
        self.assertNotIn("options", inspect.signature(dploc.synth).parameters)
        self.assertTrue(os.path.exists(os.path.join(dploc.__path__[0], "py.typed")))


if __name__ == "__main__":
    unittest.main()
