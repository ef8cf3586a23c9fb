"""`cllab profile`, what its figures say of a rate, and the state of the caches that a row was taken in."""
import json
import re
import time
import unittest

from lab import LabTest, against_noise, words

# A figure of a profile: a peak that every kernel exceeds.
EXCEEDED = {"id": "fma.peak.float", "name": "float peak", "unit": "FLOP/s", "value": 1, "low": 1, "high": 1}


class Profile(LabTest):
    def profile(self, figures, **changes):
        """A profile of the device here with these figures, where a run looks for it: beside its dumps."""
        out, _ = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--json", "-")
        record = json.loads(out)
        path = (self.folder / record["dump"]).parent / "profile.json"
        path.write_text(json.dumps({"schema": 2, "device": record["device"] | changes, "utc": "2026-01-01T00:00:00Z", "figures": figures}))
        return path

    def profile_of_last_level(self, size):
        """A profile that has found the last level to be `size` bytes, whatever the processor here has."""
        self.profile([{"id": "latency.l3.size", "name": "L3 capacity", "unit": "byte", "value": size, "low": size, "high": size},
                      {"id": "latency.memory.latency", "name": "memory latency", "unit": "s", "value": 1e-7, "low": 1e-7, "high": 1e-7}])

    def run_muladd(self, *more):
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=4096", "--no-dumps", "--no-yardstick",
                       "--max-time", "0.05", "--json", "r.jsonl", "--force", *more)[1]
        return self.records()[0], err

    def beyond_peak(self, record):
        return [w for w in record["warnings"] if w.startswith("beyond-peak: ")]

    def test_rate_beyond_the_profile_peak_is_reported_with_its_date(self):
        self.profile([EXCEEDED])
        record, err = self.run_muladd()
        self.assertEqual(err, "")
        self.assertEqual(len(self.beyond_peak(record)), 1, record["warnings"])
        self.assertIn("2026-01-01T00:00:00Z", self.beyond_peak(record)[0])
        self.assertEqual(len(self.beyond_peak(self.run_muladd("--isolate")[0])), 1)
        self.assertEqual(self.beyond_peak(self.run_muladd("--dumps", "elsewhere")[0]), [])

    def test_foreign_or_damaged_profile_is_reported_and_ignored(self):
        path = self.profile([EXCEEDED], driver="0.1")
        record, err = self.run_muladd()
        self.assert_one_sentence(err, "profile.json'", "'0.1'", "it is ignored")
        self.assertEqual(self.beyond_peak(record), [])
        path.write_text(path.read_text()[:-9])
        self.assert_one_sentence(self.run_muladd("--isolate")[1], "profile.json'", "is damaged at byte", "it is ignored")

    def test_saved_profile_is_printed_without_measuring(self):
        self.assert_one_sentence(self.lab("profile", "--device", "cpu", "--saved", status=2)[1], "profile '", "`cllab profile` measures it")
        path = self.profile([EXCEEDED | {"section": "Arithmetic", "how": "by hand"}])
        profile = json.loads(path.read_text()) | {"disturbed": 0.25, "absent": [{"section": "Compute", "id": "fma.clock", "name": "clock", "reason": "no time"}]}
        path.write_text(json.dumps(profile))
        start = time.monotonic()
        out, err = self.lab("profile", "--device", "cpu", "--saved")
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(err, "")
        self.assertIn(profile["device"]["name"], words(out))
        self.assertIn("measured at 2026-01-01T00:00:00Z; memory", words(out))
        busy = "The profile was measured on a busy machine, where 25 % of its cells lacked cores; `cllab profile --device 0:0{}` measures it again."
        self.assertIn(busy.format(""), words(out))
        self.assertIn(busy.format(" --dumps 'dumps'"), words(self.lab("why", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--max-time", "0.02", "--dumps", "dumps")[0]))
        self.assertRegex(out, r"\n +peaks +float 1.00 FLOP/s\n")
        self.assertRegex(out, r"\n +clock +none; no time")
        out, _ = self.lab("profile", "--device", "cpu", "--saved", "--all")
        self.assertRegex(words(out), "float peak 1.00 FLOP/s .*by hand.*Not found clock: no time")
        self.assertEqual(json.loads(self.lab("profile", "--device", "cpu", "--saved", "--json")[0]), profile)
        self.assert_one_sentence(self.lab("profile", "--saved", "--quick", status=2)[1], "--saved cannot be combined with --quick")
        path.write_text(path.read_text()[:-9])
        self.assert_one_sentence(self.lab("profile", "--device", "cpu", "--saved", status=2)[1], "profile.json' is damaged at byte")

    @against_noise
    def test_each_profile_line_has_a_figure_or_a_reason(self):
        start = time.monotonic()
        out, err = self.lab("profile", "--device", "cpu", "--quick", "--json", "--no-dumps", "--timings")
        outside = time.monotonic() - start
        wall = float(re.search(r"^where ([\d.]+) s went$", err, re.MULTILINE)[1])
        phases = {name: float(seconds) for name, seconds, _ in re.findall(r"^  (\w[\w ]*?) +(-?[\d.]+) +(-?[\d.]+)%", err, re.MULTILINE)}
        self.assertLess(wall, outside)
        self.assertAlmostEqual(sum(phases.values()), wall, delta=0.002 * len(phases))
        self.assertLess(phases["other"], 0.15 * wall, phases)
        profile = json.loads(out)
        self.assertLess(profile["seconds"], 45, "of 20 and the comparison that was begun, which takes longer beside other work")
        self.assertGreater(len(profile["figures"]), 0)
        self.assertGreater(len(profile["figures"] + profile["absent"]), 30)
        identifiers = [line["id"] for line in profile["figures"] + profile["absent"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        for figure in profile["figures"]:
            self.assertRegex(figure["id"], r"^[a-z]+\.[a-z0-9_.]+$")
            self.assertLessEqual(figure["high"] - figure["low"], abs(figure["value"]), figure)
        for line in profile["absent"]:
            self.assertGreater(len(line["reason"]), 10, line)

    def test_each_device_states_its_clock_source_or_a_reason(self):
        out, _ = self.lab("devices", "--json")
        for device in json.loads(out):
            self.assertRegex(device["clock"], r"^(none: |NVML: |sysfs )", device["name"])

    def saxpy(self, state):
        """The record and the page, on one line, of 2 MiB in that state of the caches."""
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        out, err = self.lab("run", "saxpy_w128", "--device", "cpu", "--axis", "size=1Mi", "--no-dumps", "--no-yardstick",
                            "--cache", state, "--max-time", "0.1", "--json", "r.jsonl")
        self.assertEqual(err, "")
        return self.records()[0], words(out)

    def test_the_cache_state_is_in_the_record_and_above_the_table(self):
        self.profile_of_last_level(8 << 20)
        for state, sets in (("cold", 1), ("rotate", 16)):
            record, page = self.saxpy(state)
            self.assertIn(f" cache={state} (4 times the last level, 8 MiB measured, ", page)
            self.assertEqual((record["time"]["cache"], record["time"]["sets"]), (state, sets))
            if state == "cold":
                self.assertEqual(record["time"]["per_sample"], 1)

    def test_last_level_of_any_size_rotates_or_has_a_reason(self):
        for size, sets in ((512 << 10, 1), (64 << 20, 128), (16 << 30, None)):
            with self.subTest(last_level=size):
                self.profile_of_last_level(size)
                record, page = self.saxpy("rotate")
                if sets:
                    self.assertEqual((record["status"], record["time"]["sets"]), ("ok", sets))
                else:
                    self.assertEqual(record["status"], "unsupported")
                    self.assertIn(f"'rotate' needs {4 * size >> 21} copies of 2 MiB", page)

    def test_of_copy_refers_to_a_copy_of_the_cell_footprint(self):
        for last_level in (512 << 10, 1 << 30):
            with self.subTest(last_level=last_level):
                self.profile_of_last_level(last_level)
                self.lab("run", "saxpy_w32", "saxpy_w64", "--device", "cpu", "--axis", "size=512Ki,1Mi", "--no-dumps", "--max-time", "0.05",
                         "--json", "r.jsonl")
                records = self.records()
                self.assertEqual(len(records), 4)  # the copy has no record of its own
                for record in records:
                    copy = record["yardstick"]
                    self.assertEqual(record["device"]["last_level_bytes"], last_level)
                    self.assertEqual(copy["bytes"], 2 * record["point"]["size"])
                    self.assertEqual(copy["cache"], "hot")
                    share = record["metrics"]["bandwidth"]["value"] / copy["bandwidth"]
                    self.assertAlmostEqual(record["metrics"]["of_copy"]["value"] / (100 * share), 1, delta=1e-6)
                (self.folder / "r.jsonl").unlink()
        self.lab("run", "saxpy_w32", "--device", "cpu", "--axis", "size=512Ki", "--no-dumps", "--max-time", "0.05", "--json", "r.jsonl",
                 "--no-yardstick")
        self.assertNotIn("yardstick", self.records()[0])
        self.assertNotIn("of_copy", self.records()[0]["metrics"])

    def test_a_kernel_that_cannot_rotate_is_unsupported_with_its_reason(self):
        self.lab("run", "bandwidth_reread", "--device", "cpu", "--no-dumps", "--no-yardstick", "--cache", "rotate",
                 "--json", "r.jsonl")
        self.assertEqual(self.records()[0]["status"], "unsupported")
        self.assertIn("trip counts", self.records()[0]["reason"])


if __name__ == "__main__":
    unittest.main()
