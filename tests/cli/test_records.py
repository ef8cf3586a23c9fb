"""What records hold: their schema, and the phases of --timings."""
import copy
import re
import time
import unittest

import lab
import made
from lab import LabTest

LINE = re.compile(r"^  (\w[\w ]*?) +(-?[\d.]+) +(-?[\d.]+)%", re.MULTILINE)


class Timings(LabTest):
    def timed(self, *args):
        start = time.monotonic()
        _, err = self.lab("run", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=64Ki,128Ki", "--no-dumps", "--json", "r.jsonl", "--force",
                          "--timings", *args)
        outside = time.monotonic() - start
        wall = float(re.search(r"^where ([\d.]+) s went$", err, re.MULTILINE)[1])
        return outside, wall, {name: float(seconds) for name, seconds, _ in LINE.findall(err)}

    def test_the_phases_add_up_to_the_time_of_the_command_and_little_is_other(self):
        for how in [], ["--isolate"]:
            outside, wall, phases = self.timed(*how)
            self.assertAlmostEqual(sum(phases.values()), wall, delta=0.002 * len(phases))
            self.assertLess(phases["other"], 0.15 * wall, f"{how} {phases}")
            self.assertLess(wall, outside)
            self.assertGreater(wall, 0.5 * outside, how)
            for name in "driver start", "build", "verify", "host reference", "warm up", "yardstick", "sampling":
                self.assertGreater(phases.get(name, 0), 0, f"{name} of {how}")

    def test_each_record_keeps_its_own_phases_and_the_rounds_of_its_samples(self):
        _, _, phases = self.timed()
        records = self.records()
        self.assertEqual(len(records), 4)
        for record in records:
            self.assertEqual(len(record["rounds"]), len(record["samples"]))
            self.assertEqual(record["rounds"], sorted(set(record["rounds"])))
        for name in "sampling", "verify", "warm_up":
            of_cells = sum(r["phases"][name] for r in records)
            self.assertAlmostEqual(of_cells, phases[name.replace("_", " ")], delta=0.002)
        # A device is warmed up once, and again only after a pause: not for each cell.
        warm = sorted(r["phases"]["warm_up"] for r in records)
        self.assertGreater(warm[-1], 2 * warm[0])

    def test_without_it_nothing_is_said(self):
        _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps")
        self.assertEqual(err, "")


@unittest.skipUnless(lab.jsonschema, "python3-jsonschema is not installed, so no record is checked against tools/record.schema.json")
class Schema(LabTest):
    """Every lab() of every test checks its records; here are the kinds of line that others may not make, and what is refused."""

    def refused(self, record):
        with self.assertRaises(AssertionError):
            self.assert_record(record)

    def test_cells_comparisons_regressions_and_histories_follow_it(self):
        small = ["--device", "cpu", "--axis", "items=1024", "--no-dumps", "--no-yardstick", "--max-time", "0.5"]
        self.lab("run", "muladd_fma", "--vs", "muladd_mad", *small, "--json", "r.jsonl", "--baseline", "base")
        self.lab("run", "muladd_fma", *small, "--json", "r.jsonl", "--append", "--label", "again")
        self.lab("regress", "base", "--json", "regress.jsonl", "--max-time", "1")
        self.lab("regress", "r.jsonl", "--history", "--json", "history.jsonl")
        kinds = {line.get("record", "cell") for name in ("r", "regress", "history") for line in self.records(f"{name}.jsonl")}
        self.assertEqual(kinds, {"cell", "comparison", "regression", "history"})
        # Axes are joined by value: a number in one kind of line is a number in the others.
        points = [line["point"] for name in ("r", "regress", "history") for line in self.records(f"{name}.jsonl") if "point" in line]
        self.assertEqual({repr(point["items"]) for point in points}, {"1024"})

    def test_what_says_something_else_is_refused(self):
        good = made.Maker().record("muladd", "fma", 1e-3, point={"items": 64}, phases={"build": 0.1})
        self.assert_record(good)
        for path, value in ((["schema"], 1), (["record"], "noise"), (["status"], "fine"), (["reason"], "none"), (["point", "items"], "64"),
                            (["time", "unit"], "ms"), (["time", "n"], 5), (["samples"], None), (["run", "seed"], None), (["more"], 1),
                            (["status"], "timed_out"), (["metrics", "bandwidth", "value"], None), (["phases", "lunch"], 1), (["utc"], "today")):
            record = copy.deepcopy(good)
            at = record
            for key in path[:-1]:
                at = at[key]
            if value is None:
                at.pop(path[-1])
            else:
                at[path[-1]] = value
            with self.subTest(path=path, value=value):
                self.refused(record)


if __name__ == "__main__":
    lab.main()
