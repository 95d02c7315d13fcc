"""The parts of experiments/experiment that compute: keys, figures, verdicts, goals, tables, the
clock, and the keeping of results."""

import io
import json
import math
import re
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "experiments"))

from experiment import (
    datasets,
    front_table,
    goals,
    goals_report,
    measures,
    paper_plan,
    paper_report,
    published,
    ratio_goals,
    rivals_report,
    runner,
    settings,
    sheet,
    table,
)  # noqa: E402


def result(wall_s=1.0, commit="abc", **figures):
    """A result with the given figures: name=(value, floor), pooled, or name__hours=..."""
    rows = []
    for key, (value, floor) in figures.items():
        name, _, scope = key.partition("__")
        rows.append(
            {
                "name": name,
                "scope": scope or "pooled",
                "value": value,
                "floor": floor,
                "ratio": value / floor if floor else None,
            }
        )
    step = {"command": "", "wall_s": 1.0, "cpu_s": 1.5, "peak_mb": 10.0}
    return {
        "variants": [
            {
                "name": "default",
                "sample": step,
                "eval": step,
                "evaluations": {"own": {"synthetic": [{"measures": rows}]}},
            }
        ],
        "wall_s": wall_s,
        "fit": step,
        "program": {"commit": commit, "threads": 1},
        "machine": {"processor": "p", "cores": 2, "memory_gb": 1},
        "certificate": {"numbers": {"cells": 7}},
        "verify": {"valid": True},
    }


FULL = {
    "fp_20": (0.9, 0.95),
    "fp_50": (0.9, 0.95),
    "fp_100": (0.9, 0.95),
    "fp_200": (0.9, 0.95),
    "length_jsd_distance": (0.03, 0.022),
    "density_emd_m": (87.0, 23.0),
    "density_emd_m__hours": (170.0, 130.0),
    "od_emd_m__hours": (1000.0, 900.0),
    "route_emd_m": (300.0, 200.0),
}


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.file = Path(self.directory.name) / "data.csv"
        self.file.write_text("a\n")
        self.data = settings.DataSet("sf", "San Francisco", self.file, ("--region", "sf"), 5e-6)

    def setting(self, **changes):
        return settings.Setting(
            **{"data": self.data, "cell_m": 500, "epsilon": 1.0, "method": "bridge", **changes}
        )


class SettingsTest(Case):
    def test_every_choice_changes_the_key(self):
        base = self.setting()
        others = [
            self.setting(cell_m=250),
            self.setting(epsilon=2.0),
            self.setting(method="paper"),
            self.setting(mechanism="laplace"),
            self.setting(fit=("--coverage", "0.8")),
            self.setting(repetition=1),
            self.setting(variants=(settings.Variant("mh", ("--mh-steps", "0")),)),
            self.setting(judges=(settings.Judge(options=("--hours",)),)),
        ]
        self.assertEqual(len({s.key() for s in [base, *others]}), len(others) + 1)
        self.assertEqual(base.key(), self.setting().key())

    def test_other_bytes_in_the_data_are_another_key_and_another_place_is_not(self):
        first = self.setting().key()
        elsewhere = Path(self.directory.name) / "moved.csv"
        elsewhere.write_text("a\n")
        self.assertEqual(
            first,
            self.setting(
                data=settings.DataSet("sf", "", elsewhere, ("--region", "sf"), 5e-6)
            ).key(),
        )
        elsewhere.write_text("changed\n")
        self.assertNotEqual(
            first,
            self.setting(
                data=settings.DataSet("sf", "", elsewhere, ("--region", "sf"), 5e-6)
            ).key(),
        )

    def test_the_unit_of_a_data_set_goes_into_the_fit_alone(self):
        tracks = settings.DataSet("t", "", self.file, ("--region", "sf"), 5e-6, ("--trips-as-cut",))
        self.assertIn("--trips-as-cut", self.setting(data=tracks).fit_command())
        self.assertNotIn("--trips-as-cut", self.setting(data=tracks).eval_command(settings.Judge()))
        self.assertNotEqual(self.setting().key(), self.setting(data=tracks).key())

    def test_infinite_epsilon_is_not_private(self):
        self.assertTrue(self.setting().private)
        self.assertFalse(self.setting(epsilon=math.inf).private)
        self.assertIn("inf", self.setting(epsilon=math.inf).fit_command())


class MeasuresTest(unittest.TestCase):
    def test_tables_have_every_measure_of_the_evaluator(self):
        """But for roads, rows as coded, of users, and what another row says already."""
        source = (Path(__file__).resolve().parent.parent / "src/evaluate/table.c").read_text()
        said = {"length_jsd_divergence", "length_mode"}
        words = {"LOWER": measures.LOWER, "HIGHER": measures.HIGHER, "NEAR": measures.NEAR}
        rows = re.findall(r'\{"(\w+)",\s*DPL_FAMILY_(\w+),\s*(LOWER|HIGHER|NEAR),', source)
        offered = {
            name: words[better]
            for name, family, better in rows
            if family != "ROADS"
            and not re.search("_coded$|^dpmr_(user|gyration|entropy|days|weekdays|hours)", name)
        }
        shown = {m.name: m.better for m in measures.ALL_MEASURES}
        self.assertGreater(len(offered), 60)
        self.assertEqual({n: b for n, b in offered.items() if n not in said}, shown)

    def test_fp_gap_is_floor_less_value(self):
        self.assertAlmostEqual(measures.fp_gap(result(**FULL)), 0.05)

    def test_direction(self):
        density = measures.Measure("density_emd_m", "pooled", "")
        patterns = measures.Measure("fp_10", "pooled", "", measures.HIGHER)
        mean = measures.Measure("length_mean", "pooled", "", measures.NEAR)
        for measure, good, bad in ((density, 50.0, 90.0), (patterns, 0.9, 0.5), (mean, 9.5, 12.0)):
            a, b = ([result(**{measure.name: (v, 10.0)})] for v in (good, bad))
            self.assertEqual(
                [
                    measures.verdict(measure, a, b),
                    measures.verdict(measure, b, a),
                    measures.verdict(measure, a, a),
                ],
                ["better", "worse", "equal"],
            )

    def test_by_ratio_where_floors_differ(self):
        density = measures.Measure("density_emd_m", "pooled", "")
        small, large = [result(density_emd_m=(100.0, 80.0))], [result(density_emd_m=(90.0, 20.0))]
        self.assertEqual(measures.verdict(density, small, large), "better")

    def test_mean_of_runs_decides_and_missing_figures_do_not(self):
        density = measures.Measure("density_emd_m", "pooled", "")
        self.assertEqual(
            measures.verdict(
                density,
                [result(density_emd_m=(v, 10.0)) for v in (10.0, 90.0)],
                [result(density_emd_m=(51.0, 10.0))],
            ),
            "better",
        )
        self.assertEqual(
            measures.verdict(density, [result()], [result(density_emd_m=(51.0, 10.0))]), ""
        )

    def test_spread(self):
        self.assertEqual(
            measures.spread([1.0, 3.0, math.nan]), measures.Spread(2.0, 1.0, 3.0, 2, 1.0)
        )
        self.assertEqual(measures.spread([1.0]), measures.Spread(1.0, 1.0, 1.0, 1, 0.0))
        self.assertIsNone(measures.spread([math.nan]))


class GoalsTest(Case):
    def test_each_goal_reads_its_own_figure(self):
        got = [goal.of_run(result(**FULL)) for goal in goals.GOALS]
        for value, wanted in zip(got, (0.05, 0.03, 87.0, 170.0, 1000 / 900, 1.5)):
            self.assertAlmostEqual(value, wanted)

    def test_missed_goals_are_listed_and_met_ones_not(self):
        missed = goals_report.missed_goals({self.setting(): result(**FULL)})
        self.assertEqual(
            [line.split(": ")[1] for line in missed],
            [
                "FP-20/50/100/200, mean, below the floor by",
                "length JS distance, pooled",
                "density EMD, pooled",
            ],
        )

    def test_a_missing_figure_is_a_missed_goal(self):
        self.assertFalse(goals.GOALS[2].met(1.0, [result()]))

    def test_report_lists_losses_and_failures(self):
        worse = dict(FULL, density_emd_m=(99.0, 23.0))
        everything = {
            self.setting(): result(**worse),
            self.setting(method="paper"): result(**FULL),
            self.setting(repetition=1): {"failed": "K = 0"},
            self.setting(method="paper", repetition=1): {"failed": "K = 1"},
        }
        report = goals_report.make(everything)
        self.assertEqual(sum("not better than `paper`" in line for line in report.missed), 1)
        self.assertEqual(sum("no model" in line for line in report.missed), 1)
        self.assertIn("**87**", report.markdown)
        self.assertEqual(len(report.data["failed"]), 2)

    def test_goals_by_city_are_ratios_of_means(self):
        """Two runs, densities 20 and 30 over floors of 20: 1.25, where .5 and 2 allow 1.4 and 1."""
        own = dict(
            od_emd_m__hours=(11.0, 10.0),
            fp_50=(0.90, 0.92),
            next_hit1=(0.285, 0.3),
            destination_hit5=(0.28, 0.3),
        )
        runs = {
            ("sf", 500, epsilon): [result(density_emd_m=(d, 20.0), **own) for d in (20.0, 30.0)]
            for epsilon in (0.5, 2.0)
        }
        rows = ratio_goals.ratio_table(runs, ratio_goals.LAST_MILE).split("\n")
        self.assertIn("| sf, 500 m | 0.5 | 2 | 1.25; 1.40: met | – | 1.10; 1.22: met |", rows[2])
        self.assertIn("| .020; .015: **missed** | .95; .90: met | .93; .90: met |", rows[2])
        self.assertIn("| sf, 500 m | 2 | 2 | 1.25; 1.00: **missed** |", rows[3])
        lines = ratio_goals.missed(runs, ratio_goals.LAST_MILE, "the last mile")
        self.assertEqual(
            lines,
            [
                "sf, 500 m, ε = 0.5: FP-50 below floor .020, goal .015 (the last mile)",
                "sf, 500 m, ε = 2: density 1.25, goal 1.00 (the last mile)",
                "sf, 500 m, ε = 2: FP-50 below floor .020, goal .010 (the last mile)",
                "sf, 500 m, ε = 2: next cell .95, goal .97 (the last mile)",
                "sf, 500 m, ε = 2: destination .93, goal .97 (the last mile)",
            ],
        )
        self.assertEqual(ratio_goals.ratio_table(runs, ratio_goals.RESOLUTION), "")  # at 1 alone

    def test_first_is_beyond_the_spread_of_runs(self):
        """Two standard errors of the difference are 2 * sqrt(1 / 3 + 1 / 3) = 1.63 here."""
        density = measures.Measure("density_emd_m", "pooled", "")

        def runs(middle):
            return [result(density_emd_m=(middle + off, 1.0)) for off in (-1.0, 0.0, 1.0)]

        cases = (1.7, "ahead"), (1.6, "within"), (-1.6, "within"), (-1.7, "behind")
        for gap, word in cases:
            self.assertEqual(measures.beyond_spread(density, runs(30.0), runs(30.0 + gap)), word)
        self.assertEqual(measures.beyond_spread(density, runs(30.0), [result()]), "")
        both = {
            self.setting(): result(
                density_emd_m=(30.0, 10.0), fp_50=(0.9, 0.9), hour_jsd=(0.1, 0.1)
            ),
            self.setting(method="paper"): result(
                density_emd_m=(20.0, 10.0), fp_50=(0.9, 0.9), hour_jsd=(0.3, 0.1)
            ),
        }
        text = "\n".join(goals_report.places_section(both))
        self.assertIn("sf, 500 m, ε = 1, 1 run: first on 1 of 3 measures.", text)
        self.assertIn("Not ahead beyond the spread on 1: FP-50, pooled (`paper`).", text)
        self.assertIn("Behind on 1: density EMD, pooled (`paper`).", text)
        row = "| sf, 500 m, ε = 1 | 1 | 1 | 1 | 0 | 1 | density EMD, pooled (`paper`) |"
        self.assertIn(row, text)

    def test_an_epsilon_without_goals_is_shown_and_not_judged(self):
        setting = self.setting(epsilon=5.0)
        self.assertEqual(goals_report.missed_goals({setting: result(**FULL)}), [])
        table = goals_report.goal_table({setting: result(**FULL)}, "sf", 500, True)
        self.assertNotIn("goal", table.split("ε = 5")[1])

    def test_trips_on_roads_stand_beside_those_without(self):
        variants = (settings.Variant(), settings.Variant("roads", ("--roads", "{roads}")))
        setting = self.setting(variants=variants)
        both = result(road_share_15m=(0.5, 0.8), **FULL)
        on_roads = result(road_share_15m=(0.9, 0.8), **FULL)
        both["variants"].append(dict(on_roads["variants"][0], name="roads"))
        self.assertIn(".500 → .900, real .800", goals_report.make({setting: both}).markdown)
        self.assertNotIn("On roads", goals_report.make({self.setting(): result(**FULL)}).markdown)

    def test_a_lost_route_says_over_how_many_pairs(self):
        ours, theirs = (
            dict(FULL, route_emd_m=(v, 250.0), route_share=(share, 1.0))
            for v, share in ((500.0, 0.5), (400.0, 0.25))
        )
        lost, _ = goals_report.losses(
            {self.setting(): result(**ours), self.setting(method="paper"): result(**theirs)}
        )
        self.assertEqual(
            [line.endswith("(over the pairs of .50 and .25 of the trips)") for line in lost], [True]
        )

    def test_how_many_runs_stand_behind_a_table(self):
        three = {self.setting(repetition=i): result(**FULL) for i in range(3)}
        self.assertIn(" 3 settings, 3 runs each,", goals_report.provenance(three))
        self.assertIn(
            " 4 settings, 1 to 3 runs each,",
            goals_report.provenance(three | {self.setting(epsilon=2.0): result(**FULL)}),
        )


class RivalsReportTest(Case):
    """`bridge` with densities of 29, 30 and 31 m, and rivals beside it."""

    def runs(self, **middles):
        return {
            method: [
                result(density_emd_m=(middle + off, 10.0), fp_50=(0.8, 0.9))
                for off in (-1.0, 0.0, 1.0)
            ]
            for method, middle in middles.items()
        }

    def test_behind_within_and_beyond_the_spread_look_different(self):
        (density,) = rivals_report.pooled(["density_emd_m"])
        row = rivals_report.measure_row(density, self.runs(bridge=30, paper=40, dpt=29, ngram=20))
        self.assertEqual(row, ["density EMD, m", "10", "30", "40", "*29*", "**20**"])

    def test_a_method_that_brought_no_model_has_dashes(self):
        runs = self.runs(bridge=30) | {"paper": []}
        (density,) = rivals_report.pooled(["density_emd_m"])
        self.assertEqual(rivals_report.measure_row(density, runs)[2:], ["30", "–"])
        self.assertEqual(rivals_report.standing(runs).measures, 0)

    def test_every_measure_stands_in_one_list(self):
        runs = self.runs(bridge=30, paper=40, dpt=29)
        stand = rivals_report.standing(runs)
        self.assertEqual((stand.first, stand.beyond, stand.measures), ([], [], 2))
        self.assertEqual(stand.within, ["density EMD, pooled (`dpt`)"])
        self.assertEqual(stand.level, ["FP-50, pooled (`paper`, `dpt`)"])
        stand = rivals_report.standing(self.runs(bridge=30, paper=40))
        self.assertEqual(stand.first, ["density EMD, pooled"])
        stand = rivals_report.standing(self.runs(bridge=30, paper=20, dpt=29))
        self.assertEqual(stand.beyond, ["density EMD, pooled (`paper`)"])

    def test_cost_is_the_mean_of_runs_and_the_largest_peak(self):
        of = self.runs(bridge=30)["bridge"]
        for run, seconds, peak in zip(of, (1.0, 2.0, 3.0), (10.0, 50.0, 20.0)):
            run["fit"] = {"cpu_s": seconds, "peak_mb": peak}
            run["variants"][0]["sample"] = {"cpu_s": 2 * seconds, "peak_mb": 5.0}
        row = rivals_report.cost_row({"bridge": of, "paper": []})
        self.assertEqual(row[2:], ["2.0 + 4.0 (50)", "–"])

    def test_sections_of_what_ran(self):
        def ran(**more):
            return {
                self.setting(method=m, **more): result(**FULL) for m in ("bridge", "paper")
            }

        titles = lambda results: re.findall(  # noqa: E731
            r"#### (.*)", goals_report.make(results).markdown
        )
        self.assertEqual(
            titles(ran()), ["San Francisco, 500 m, ε = 1", "San Francisco, 500 m, by ε"]
        )
        self.assertEqual(titles(ran(cell_m=250)), ["San Francisco, 250 m, ε = 1"])
        self.assertEqual(titles(ran(epsilon=2.0)), ["San Francisco, 500 m, by ε"])


class FrontTableTest(Case):
    def test_a_row_a_method_below_the_floor(self):
        runs = {
            "bridge": [result(fp_50=(0.8, 0.9), route_emd_m=(300.0, 200.0))] * 2,
            "paper": [result(too_fast_share=(0.39, 0.0))],
            "dpt": [],
        }
        rows = [row.split(" | ") for row in front_table.front_table(runs).split("\n")]
        self.assertEqual(rows[2][3:5], ["1", ".90"])  # the floor: of routes by definition
        self.assertEqual(rows[3][0], "| **`bridge`**")
        self.assertEqual(rows[3][3:5], ["1.5", ".80"])
        self.assertEqual((rows[4][0], rows[4][1], rows[4][7]), ("| `paper`", "–", "39 |"))
        self.assertEqual(len(rows), 5)

    def test_the_report_has_it_where_its_setting_ran(self):
        there = goals_report.make({self.setting(): result(**FULL)}).markdown
        self.assertIn("At a glance: sf, 500 m, ε = 1", there)
        elsewhere = goals_report.make({self.setting(epsilon=2.0): result(**FULL)}).markdown
        self.assertNotIn("At a glance", elsewhere)

    def test_the_readme_has_its_head_and_every_method(self):
        root = Path(__file__).resolve().parent.parent
        readme = (root / "README.md").read_text()
        made = front_table.front_table({"bridge": [result(**FULL)]})
        self.assertIn(made.split("\n")[0], readme)
        methods = re.findall(r"\bROW\((\w+)\)", (root / "src/method/list.h").read_text())
        self.assertGreater(len(methods), 7)
        for method in methods:
            self.assertRegex(readme, rf"(?m)^\| \*?\*?`{method}`\*?\*? \| [\d.,]+ \|")


class TableTest(unittest.TestCase):
    def test_numbers(self):
        self.assertEqual(
            [
                table.number(v, d)
                for v, d in (
                    (0.0421, 3),
                    (1040.2, 0),
                    (-0.004, 3),
                    (-0.0001, 3),
                    (math.nan, 3),
                    (None, 3),
                )
            ],
            [".042", "1,040", "−.004", ".000", "–", "–"],
        )
        self.assertEqual(
            table.with_spread(measures.Spread(2.0, 1.0, 3.0, 3), 0, "m"), "2 (1 … 3) m"
        )

    def test_rows_must_fit_the_head(self):
        self.assertEqual(table.table(["a", "b"], [["1", "2"]]), "| a | b |\n|---|---|\n| 1 | 2 |")
        self.assertRaises(ValueError, table.table, ["a", "b"], [["1"]])


class ClockTest(Case):
    def test_learns_from_like_settings_and_scales_the_rest(self):
        a, b, c = self.setting(), self.setting(epsilon=2.0), self.setting(method="paper")
        clock = runner.Clock([a, b, c], {}, lambda s: 10.0, 2)
        self.assertEqual(clock.left([a, b, c]), 15)
        clock.learn(a, 30.0)
        self.assertEqual([clock.guess(b), clock.guess(c)], [30.0, 30.0])

    def test_words(self):
        self.assertEqual(
            [runner.duration(s) for s in (12, 200, 3900)], ["12 s", "3 min 20 s", "1 h 05 min"]
        )


class RunnerTest(Case):
    """With a program of a few lines that plays dploc."""

    PLAY = """#!/bin/sh
case "$1" in
fit) [ -n "$BAD" ] && { echo "K = 0: too few" >&2; exit 1; }
     while [ "$1" != -o ]; do shift; done; echo m >"$2"; echo x >>"$COUNT"
     echo '{"numbers": {"cells": 3}}' >"$2.certificate.json";;
sample) ;;
verify) [ -z "$FORGED" ] && echo '{"valid": true}' && exit
     echo '{"valid": false, "reasons": ["forged"]}'; exit 1;;
eval) echo '{"synthetic": [{"measures": []}]}';;
esac
"""

    def setUp(self):
        super().setUp()
        self.home = Path(self.directory.name)
        program = self.home / "dploc"
        program.write_text(self.PLAY)
        program.chmod(0o755)
        self.program = runner.Program(program, self.home)
        self.environment = unittest.mock.patch.dict(
            "os.environ", {"COUNT": str(self.home / "count")}
        )
        self.environment.start()
        self.addCleanup(self.environment.stop)

    def fits(self):
        return len((self.home / "count").read_text().split())

    def run_all(self, wanted, **options):
        return runner.Runner(self.program, self.home / "out", quiet=True, **options).run_all(
            wanted, lambda s: 1.0
        )

    def test_finished_settings_are_kept_for_this_program(self):
        wanted = [self.setting(repetition=i) for i in range(3)]
        self.run_all(wanted[:2])
        found = self.run_all(wanted, jobs=2)
        self.assertEqual((len(found), self.fits()), (3, 3))
        self.program.path.write_text(self.PLAY + "# another\n")
        self.run_all(wanted, keep=["bridge"])
        self.assertEqual(self.fits(), 3)
        self.run_all(wanted, keep=["paper"])
        self.assertEqual(self.fits(), 6)
        self.assertEqual([p for p in (self.home / "out" / "work").iterdir() if p.is_dir()], [])

    def test_a_certificate_that_does_not_verify_is_fatal_and_leaves_no_result(self):
        with unittest.mock.patch.dict("os.environ", {"FORGED": "1"}):
            self.assertRaises(runner.Failure, self.run_all, [self.setting()])
            self.assertEqual(list((self.home / "out").glob("settings/*")), [])
            self.run_all([self.setting(epsilon=math.inf)])

    def test_a_fit_without_a_model_is_a_finding(self):
        with unittest.mock.patch.dict("os.environ", {"BAD": "1"}):
            found = self.run_all([self.setting()])
        self.assertEqual([r["failed"] for r in found.values()], ["K = 0: too few"])
        self.assertEqual(
            json.loads(next((self.home / "out" / "settings").iterdir()).read_text())["failed"],
            "K = 0: too few",
        )

    def test_what_a_killed_run_left_is_removed_and_what_runs_stays(self):
        work = self.home / "out" / "work"
        for name in (f"{2**22 + 1}-sf-500", "1-sf-500"):
            (work / name).mkdir(parents=True)
        runner.Runner(self.program, self.home / "out", quiet=True)
        self.assertEqual([p.name for p in work.iterdir() if p.is_dir()], ["1-sf-500"])


class SheetTest(unittest.TestCase):
    def test_text_json_and_published_figures(self):
        page = sheet.Sheet("x", "A title", ["a", "b", "c"])
        page.add("row", sheet.Num(0.25, "share", 0.5), sheet.Num(None, "metres"))
        self.assertIn("| row | .250 [.500] | – |", page.markdown())
        self.assertEqual(page.data()["rows"], [["row", {"value": 0.25, "published": 0.5}, None]])
        self.assertEqual(page.faults(), [])

    def test_faults(self):
        page = sheet.Sheet("x", "A title", ["a", "b"])
        self.assertEqual(len(page.faults()), 1)
        page.add("too large", sheet.Num(1.5, "share"))
        page.add("nothing", sheet.Num(None, "share"))
        page.add("not a number", sheet.Num(math.nan, "metres"))
        page.add("good", sheet.Num(1.0, "share"))
        self.assertEqual(len(page.faults()), 3)


class PaperTest(Case):
    def plan(self, methods=("ngram", "adatrace", "paper", "bridge"), downtown=True):
        return paper_plan.make(
            self.data,
            paper_plan.systems(list(methods), True),
            paper_plan.Scale(),
            (
                settings.DataSet(
                    "sf-downtown", "", self.file, ("--region", "sf", "--tz", "x"), 5e-6
                )
                if downtown
                else None
            ),
        )

    def test_the_product_of_settings(self):
        plan = self.plan()
        self.assertEqual(
            [f"{s.method} {s.mechanism}".strip() for s in plan.systems],
            [
                "ngram gaussian",
                "ngram laplace",
                "adatrace gaussian",
                "adatrace laplace",
                "paper",
                "bridge",
            ],
        )
        self.assertEqual(
            [
                len(g)
                for g in (
                    plan.summary,
                    plan.sizes,
                    plan.ablations,
                    plan.coverage,
                    plan.not_private,
                    plan.downtown,
                    plan.walk,
                )
            ],
            [48, 8, 3, 2, 4, 6, 5],
        )
        self.assertEqual(len({s.key() for s in plan.settings()}), len(plan.settings()))
        self.assertEqual(
            [v.name for v in plan.walk[0].variants], ["0", "1", "5", "10", "25", "50", "100", "150"]
        )
        self.assertEqual(
            plan.walk[0].fit, ("--sigma-topk", "3.8", "--sigma-ti", "1.5", "--sigma-tpg", "1.6")
        )
        self.assertEqual(
            len(self.plan(("paper", "bridge"), False).settings()), 16 + 8 + 3 + 2 + 4 + 5
        )

    def test_published_figures_stand_where_the_paper_has_them(self):
        known = published.summary
        self.assertEqual(
            [
                known("sf", 500, "paper", "length", 1.0),
                known("sf", 250, "ngram", "density", 0.5),
                known("porto", 500, "paper", "source–destination", 1.0),
                known("geolife", 250, "adatrace", "FP-200", 5.0),
                known("geolife", 500, "paper", "FP-10", 0.5),
            ],
            [0.36, 199, 1259, 0.35, 0.7],
        )
        self.assertEqual(
            [
                known("town", 500, "paper", "length", 1.0),
                known("sf", 500, "bridge", "length", 1.0),
                known("sf", 500, "paper", "length", 8.0),
            ],
            [None] * 3,
        )

    def test_every_table_has_its_rows_and_failures_are_listed(self):
        plan = self.plan()
        failing = plan.coverage[0]
        rows = [
            {"name": name, "scope": scope, "value": 0.5, "floor": 0.4, "ratio": 1.25}
            for scope in ("pooled", "hours", 7)
            for name in {n for _, _, own, theirs in paper_report.ROWS for n in (own, theirs)}
            | {"route_emd_plain_m", "length_mean", "length_sd", "length_mode"}
        ]
        step = {"cpu_s": 1.0, "wall_s": 1.0, "peak_mb": 9.0}
        evaluation = {"real": {"trips": 100}, "synthetic": [{"trips": 90, "measures": rows}]}
        results = {
            s: {
                "fit": step,
                "eval": {"own": step},
                "certificate": {"epsilon": 1.2, "numbers": {"cells": 9, "length_max": 5}},
                "variants": [
                    {
                        "name": v.name,
                        "sample": step,
                        "evaluations": {"own": evaluation, "paper": evaluation},
                    }
                    for v in s.variants
                ],
            }
            for s in plan.settings()
        }
        results[failing] = {"failed": "K = 0"}
        report = paper_report.Report(plan, results)
        found = {page.name: page for page in report.sheets()}
        self.assertEqual(
            {name: len(page.rows) for name, page in found.items()},
            {
                "data": 2,
                "summary": 72,
                "summary_paper": 72,
                "faithfulness": 5,
                "walk": 3,
                "ablations": 12,
                "not_private": 8,
                "coverage": 8,
                "downtown": 12,
                "lengths": 48,
                "times": 12,
                "generation": 16 + 4 + 1 + 2,
                "hours_own": 144,
                "hours_paper": 144,
            },
        )
        self.assertEqual(report.failed, [f"{failing.slug}: K = 0"])
        self.assertEqual(
            [fault.split(":")[0] for page in found.values() for fault in page.faults()],
            ["coverage"] * 2,
        )
        self.assertIn(".500 [.360]", found["summary_paper"].markdown())
        self.assertEqual(
            [row[-1] for row in found["faithfulness"].rows],
            ["met", "met", "met", "met", "**missed**"],
        )


class DataTest(unittest.TestCase):
    def test_cabs_by_parity(self):
        target = io.StringIO()
        datasets.keep_rows(
            io.StringIO("trip_id,taxi_id,lat\n1,10,1.5\n2,11,2.5\n3,12,3.5\n"),
            target,
            "taxi_id",
            lambda cab: int(cab) % 2 == 0,
        )
        self.assertEqual(target.getvalue(), "trip_id,taxi_id,lat\n1,10,1.5\n3,12,3.5\n")


if __name__ == "__main__":
    unittest.main()
