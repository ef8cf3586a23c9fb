"""--timings: the phases of a command add up to its time, whoever carries it out."""
import re
import time
import unittest

from lab import LabTest

LINE = re.compile(r"^  (\w[\w ]*?) +(-?[\d.]+) +(-?[\d.]+)%", re.MULTILINE)


class Timings(LabTest):
    def timed(self, *args):
        start = time.monotonic()
        _, err = self.lab("run", "muladd_*", "--device", "cpu", "--axis", "items=64Ki,128Ki", "--no-dumps", "--json", "r.jsonl", "--force",
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
        # A device is warmed up once, so one cell has most of it.
        warm = sorted(r["phases"]["warm_up"] for r in records)
        self.assertGreater(warm[-1], sum(warm[:-1]))

    def test_without_it_nothing_is_said(self):
        _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps")
        self.assertEqual(err, "")


if __name__ == "__main__":
    unittest.main()
