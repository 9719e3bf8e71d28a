"""`python3 benches/report/tests.py`; `cargo test -p xtask` runs it, too."""

import json
import math
import pathlib
import tempfile
import unittest

import bench
import check
import pages
import record
from record import Measure, Run

CASE = "cumsum/flex/f32/1x1024/dim1"
# Unchanged code gave such ratios: most are within a quarter, and some are far away.
NOISE = [1.26, 0.98, 0.74, 1.03, 0.41, 1.01, 0.97, 1.05, 0.93, 2.1, 0.99, 1.02]


def measured(*contenders):
    return [Measure(CASE, name, ns, ns, ns, 8192, answer) for name, ns, answer in contenders]


def rounds(slowdown, noise):
    """A machine that is twice as slow in every second round."""
    before = [400.0, 800.0] * (len(noise) // 2)
    return before, [time * slowdown * factor for time, factor in zip(before, noise)]


class Tests(unittest.TestCase):
    def test_intervals_are_those_of_the_sign_test(self):
        # Tables of the sign test at one percent: as many of n values lie outside on either side.
        for n, outside in [(8, 1), (12, 2), (20, 4), (30, 8), (50, 16)]:
            low, _, high = check.interval(range(1, n + 1))
            self.assertEqual((low, high), (outside, n + 1 - outside), n)
        self.assertEqual(check.interval([3, 1, 2]), (-math.inf, 2, math.inf))

    def test_a_slowdown_of_more_than_15_percent_is_caught(self):
        for slowdown, verdict in [(0.5, "not slower"), (1.08, "not slower"), (1.2, "slower"), (3.0, "slower")]:
            self.assertEqual(check.verdict(*rounds(slowdown, [1.0] * 8)), verdict, slowdown)
        self.assertEqual(check.verdict(*rounds(1.0, NOISE)), "open")
        self.assertEqual(check.verdict(*rounds(1.0, NOISE * 3)), "not slower")
        self.assertEqual(check.verdict(*rounds(1.2, NOISE * 3)), "slower")
        self.assertTrue(check.is_slower(*rounds(1.2, [0.6, 1.4])), "the median judges what stays open")
        self.assertFalse(check.is_slower(*rounds(1.0, [0.6, 1.4])))
        self.assertTrue(check.is_slower([400.0], []), "no longer measured")
        self.assertFalse(check.is_slower([], [400.0]), "new")

    def test_a_line_of_standard_error_becomes_a_fact(self):
        wrong = f"WRONG ANSWER of {CASE}/burn, measured all the same: element 3\n"
        self.assertEqual(bench.meaning(wrong), [("wrong", f"{CASE}/burn")])
        self.assertEqual(bench.meaning("cube: llvmpipe (LLVM 15)\n"), [("adapter", "llvmpipe (LLVM 15)")])
        self.assertEqual(bench.meaning("Benchmarking x: Warming up\n"), [])
        self.assertEqual(bench.contenders(["a.b"], "burn-scan"), r"^(a\.b)/(burn-scan)$")

    def test_a_run_is_figures_facts_and_peers(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for contender, ns in [("burn-scan", 5.0), ("burn", 6.0)]:
                new = folder / "x" / contender / "new"
                new.mkdir(parents=True)
                named = {"group_id": CASE, "function_id": contender, "throughput": {"Bytes": 8192}}
                (new / "benchmark.json").write_text(json.dumps(named))
                interval = {"lower_bound": 1.0, "upper_bound": 9.0}
                median = {"median": {"point_estimate": ns, "confidence_interval": interval}}
                (new / "estimates.json").write_text(json.dumps(median))
            (folder / record.MACHINE).write_text(f"cores: 2\nwrong: {CASE}/burn\n")
            row = {"case": CASE.replace("/flex", ""), "peer": "numpy", "median_s": 7e-9}
            peers = {"versions": {"numpy": "2.0"}, "left_out": {"jax": "not importable"}, "results": [row]}
            (folder / "peers-cpu.json").write_text(json.dumps(peers))
            run = Run.of_criterion(folder)
            self.assertEqual(run.name, "flex-2-cores")
            self.assertEqual([(m.contender, m.answer) for m in run.measures], [("burn", "wrong"), ("burn-scan", ""), ("numpy", "")])
            self.assertEqual(run.facts, [("cores", "2"), ("peers", "numpy 2.0"), ("left out", "jax: not importable")])
            run.write(folder / "run.csv")
            self.assertEqual(Run.read(folder / "run.csv"), run._replace(name="run"))

    def test_a_page_says_where_a_peer_is_faster(self):
        ours, burn, numpy = ("burn-scan", 400.0, ""), ("burn", 200.0, "wrong"), ("numpy", 800.0, "")
        page = pages.page(Run("r", [("cores", "2")], measured(ours, burn, numpy, ("copy-by-add", 200.0, ""))))
        for part in ["| cores | 2 |", "1 of 1 lines", "**2.00× slower** than burn", "burn 200 ns †", "| 50 % |", "f32 1 × 2^10 dim1"]:
            self.assertIn(part, page)
        limits = pages.page(Run("r", [], measured(ours, ("limit-4-sum", 50.0, ""), ("limit-9-copy", 50.0, ""))))
        for part in ["1 of 2 limits hold", "| sum 50.0 ns | **8.00** | 4 |", "| copy 50.0 ns | 8.00 | 9 |", "0 of 0 lines."]:
            self.assertIn(part, limits)
        alone = pages.page(Run("r", [], measured(ours)))
        self.assertIn("| not measured |", alone)
        self.assertIn("0 of 0 lines.", alone)


if __name__ == "__main__":
    unittest.main()
