"""What records hold: their schema, the phases of --timings, and what `report` makes of them for other programs."""
import copy
import csv
import json
import os
import pathlib
import re
import subprocess
import time
import unittest

import counting
import lab
import made
import test_why
from lab import LabTest, against_noise, words

LINE = re.compile(r"^  (\w[\w ]*?) +(-?[\d.]+) +(-?[\d.]+)%", re.MULTILINE)


class Timings(LabTest):
    def timed(self, *args):
        start = time.monotonic()
        _, err = self.lab("run", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=64Ki,128Ki", "--no-dumps", "--json", "r.jsonl", "--force",
                          "--timings", *args)
        outside = time.monotonic() - start
        wall = float(re.search(r"^where ([\d.]+) s went$", err, re.MULTILINE)[1])
        return outside, wall, {name: float(seconds) for name, seconds, _ in LINE.findall(err)}

    @against_noise
    def test_phases_add_up_to_the_command_time_with_little_other(self):
        for how in [], ["--isolate"]:
            outside, wall, phases = self.timed(*how)
            self.assertAlmostEqual(sum(phases.values()), wall, delta=0.002 * len(phases))
            self.assertLess(phases["other"], 0.15 * wall, f"{how} {phases}")
            self.assertLess(wall, outside)
            self.assertGreater(wall, 0.5 * outside, how)
            for name in "driver start", "build", "verify", "host reference", "warm up", "yardstick", "sampling":
                self.assertGreater(phases.get(name, 0), 0, f"{name} of {how}")

    @unittest.skipUnless(pathlib.Path("/proc/self/schedstat").exists(), "the system does not count what a thread ran")
    def test_cpu_record_states_how_many_cores_its_threads_had(self):
        self.lab("run", "fma_peak", "--device", "cpu", "--points", "first", "--no-dumps", "--no-yardstick", "--json", "r.jsonl")
        record = self.records()[0]
        self.assertGreater(record["time"]["cores"], 0.1)
        # Nobody has more of them than there are; a thread that begins or ends in a sample adds little.
        self.assertLess(record["time"]["cores"], 1.1 * os.cpu_count() + 1)
        self.assertGreaterEqual(record["time"]["waited"], 0)

    def test_each_comparison_has_its_own_copy(self):
        self.lab("run", "saxpy_w32", "--device", "cpu", "--axis", "size=1Mi", "--axis", "local=1,2,4", "--max-time", "0.02", "--no-dumps",
                 "--json", "r.jsonl")
        copies = [(r["run"]["order"]["comparison"], r["yardstick"]["bytes"], r["yardstick"]["bandwidth"]) for r in self.records()]
        self.assertEqual([(comparison, size) for comparison, size, _ in copies], [(n, 2 << 20) for n in range(3)])
        self.assertEqual(len({rate for _, _, rate in copies}), 3, copies)

    @against_noise
    def test_each_record_has_its_own_phases_and_sample_rounds(self):
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

    @against_noise
    def test_tune_why_and_regress_also_account_for_their_time(self):
        small = ["--device", "cpu", "--axis", "size=64Ki"]
        self.lab("run", "saxpy_w32", *small, "--no-dumps", "--no-yardstick", "--max-time", "0.05", "--baseline", "base")
        device = self.lab("run", "saxpy_w32", *small, "--no-yardstick", "--verify", "--json", "-")[0]
        profile = (self.folder / json.loads(device)["dump"]).with_name("profile.json")
        profile.write_text(json.dumps({"schema": 2, "device": json.loads(device)["device"], "utc": "2026-01-01T00:00:00Z", "figures": []}))
        for args, phase in ((["tune", "saxpy_w32", *small, "--axis", "local=32,64", "--max-time", "0.02"], "arrangements"),
                            (["why", "saxpy_w32", *small, "--max-time", "0.05"], "sampling"), (["regress", "base", "--max-time", "0.5"], "sampling")):
            with self.subTest(args[0]):
                out, err = self.lab(*args, "--timings")
                if "more than any placement explains" in out:  # one point is left, so none is compared
                    phase = "sampling"
                wall = float(re.search(r"^where ([\d.]+) s went$", err, re.MULTILINE)[1])
                phases = {name: float(seconds) for name, seconds, _ in LINE.findall(err)}
                self.assertAlmostEqual(sum(phases.values()), wall, delta=0.002 * len(phases))
                self.assertGreater(phases.get(phase, 0), 0)

    def test_without_timings_nothing_is_printed(self):
        _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps")
        self.assertEqual(err, "")


@unittest.skipUnless(lab.jsonschema, "python3-jsonschema is not installed, so no record is checked against tools/record.schema.json")
class Energy(LabTest):
    RUN = ("run", "muladd_fma", "--device", "cpu", "--axis", "items=4096", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl")

    def test_energy_is_measured_on_request_or_has_a_reason(self):
        for asked in ((), ("--energy",), ("--columns", "time,energy")):
            out = words(self.lab(*self.RUN, *asked, "--force")[0])
            (record,) = self.records()
            missing = [w for w in record["warnings"] if w.startswith("no-energy: the energy is not known: ")]
            with self.subTest(asked=asked):
                self.assertEqual(len(missing) + ("energy" in record), 1 if asked else 0)
                if "energy" in record:
                    self.assertLessEqual(record["energy"]["low"], record["energy"]["joules"])
                    self.assertRegex(out, r"\d J .*% idle")
                elif asked:
                    self.assertIn("through NVML", missing[0])
                    self.assertIn("the energy is not known", out)

    def test_energy_is_a_column_of_the_table_the_page_and_csv(self):
        record = made.Maker().record("pitch", "wide", 1e-3)
        record["energy"] = {"joules": 0.35, "low": 0.343, "high": 0.357, "idle": 0.105, "watts": 350,
                            "windows": 6, "updates": 5, "source": "NVML"}
        made.write(self.folder / "r.jsonl", [record])
        out = self.lab("report", "r.jsonl", "--html", "page.html", "--csv", "r.csv", "--columns", "time,energy")[0]
        self.assertIn("350 mJ, 30% idle", out)
        self.assertIn(">350 mJ<", (self.folder / "page.html").read_text())
        with open(self.folder / "r.csv", newline="") as lines:
            (row,) = csv.DictReader(lines)
        self.assertEqual((float(row["energy_J"]), float(row["idle_J"])), (0.35, 0.105))


@unittest.skipUnless(lab.jsonschema, "python3-jsonschema is not installed, so no record is checked against tools/record.schema.json")
class ForPrograms(LabTest):
    """`cllab help json`: figures with value, unit and origin, refusals with code, what was seen and what would be enough, of every command alike."""
    record = None
    profile = test_why.Why.profile
    SMALL = ["--device", "cpu", "--axis", "items=4096", "--max-time", "0.05"]

    def objects(self, *args, status=0):
        """Those of --json FILE, which lab() holds against the schema; - and, where there is one, the bare flag write the same kinds."""
        self.lab(*args, "--json", "f.json", "--force", status=status)
        out = lab.objects_in((self.folder / "f.json").read_text())
        for way in [["--json", "-"], *[["--json"]] * (args[0] in lab.BARE_JSON)]:
            printed = lab.objects_in(self.lab(*args, *way, status=status)[0])
            # What tune compares is decided by the times of the run.
            kinds = [[o.get("record") for o in some if o.get("record") != "comparison"] for some in (printed, out)]
            self.assertEqual(*kinds)
        return [o for o in out if "record" in o]

    def assert_broken_is_refused(self, good):
        def spoiled(of):
            for key in of:
                yield {k: v for k, v in of.items() if k != key}
                yield {"other_" * (k == key) + k: v for k, v in of.items()}

        name, figure = next(iter(good["figures"].items())) if "figures" in good else (None, {})
        broken = [good | {"figures": {name: bad}} for bad in spoiled(figure)] + [good | {"more": 1}, good | {"schema": 3}, good | {"record": "noise"}]
        broken += [{k: v for k, v in good.items() if k != key} for key in ("refused", "reason", "enough") if "refused" in good]
        for one in broken:
            with self.assertRaises(AssertionError, msg=json.dumps(one)):
                self.assert_record(one)

    def told(self, kind, *args, refused=(None,), status=0):
        """The last object of the kind, which has figures, or is refused by one of these codes."""
        out = [o for o in self.objects(*args, status=status) if o["record"] == kind][-1]
        self.assertIn(out.get("refused"), refused, out)
        self.assert_broken_is_refused(out)
        return out

    def test_list_describe_and_devices_have_figures(self):
        self.assertEqual({o["record"] for o in self.objects("list", "pitch_*")}, {"variant"})
        self.told("variant", "list", "saxpy_w32")
        self.told("family", "describe", "pitch_short8")
        figures = self.told("device", "devices")["figures"]
        self.assertGreater(figures["compute_units"]["value"], 0)
        for command in lab.BARE_JSON:
            self.lab(command, "--json", *["pitch"] * (command == "describe"))
        self.lab("list", "--json", "./new")
        self.assertTrue((self.folder / "new").exists())

    def test_isa_has_figures_and_refusals(self):
        figures = self.told("code", "isa", "muladd_fma", "--device", "cpu")["figures"]
        self.assertEqual(figures["registers"].keys(), {"refused", "reason", "enough"})
        self.assertGreater(figures["code"]["value"], 0)
        self.lab("isa", "muladd_fma", "--device", "cpu", "--save", "code.json")
        change = self.told("code change", "isa", "muladd_fma", "--device", "cpu", "--against", "code.json", "--expect", "registers < 9", refused=["unknown"], status=5)
        self.assertIn("registers is not known", change["reason"])
        missing = [o for o in self.objects("isa", "muladd_mad", "--device", "cpu", "--against", "code.json", status=5) if "refused" in o]
        self.assertEqual([o["refused"] for o in missing], ["missing"])

    @unittest.skipUnless(lab.OCLGRIND_LIBRARY and os.path.exists(counting.PLUGIN), "this build has no plugin that counts")
    def test_count_has_figures(self):
        (self.folder / "k.cl").write_text("kernel void k(global float* x) { x[get_global_id(0)] *= 3; }\n")
        figures = self.told("counts", "count", "k.cl", "--global", "64", "--local", "64", "--arg", "x=zero:64")["figures"]
        self.assertEqual(figures["flop"], {"value": 1, "unit": "per work-item", "from": "1 of 1 groups, simulated"})
        (self.folder / "k.cl").write_text("kernel void k(global float* x) { for (volatile int i = 0; i < 1000000000; ++i) x[get_global_id(0)] *= 3; }\n")
        self.told("counts", "count", "k.cl", "--global", "64", "--local", "64", "--arg", "x=zero:64", "--count-budget", "0.3", refused=["timed_out"], status=1)

    def test_why_and_tune_have_figures(self):
        self.profile(test_why.FAST)
        # Beside other work a time may not be known well enough.
        line = self.told("why", "why", "muladd_fma", *self.SMALL, refused=["not explained", "unsteady"])
        self.assertEqual(line["figures"]["time"]["unit"], "s")
        self.assertIn("refused", line["figures"]["memory traffic"])
        self.profile(test_why.VAGUE)
        line = self.told("why", "why", "muladd_fma", *self.SMALL, refused=[None, "not explained", "unsteady", "close"])
        for bound in line.get("bounds", []):
            self.assertEqual(line["figures"][bound["name"]]["unit"], "s")
        self.assertRegex(self.told("tune", "tune", "saxpy_w32", "--device", "cpu", "--axis", "size=4096", "--axis", "local=32,64", "--max-time", "0.05")["command"], "^cllab run saxpy_w32 ")

    def test_regress_has_figures(self):
        self.lab("run", "muladd_fma", "muladd_mad", *self.SMALL, "--no-dumps", "--no-yardstick", "--baseline", "base")
        cells = self.objects("regress", "base", "--max-time", "1")
        self.assertEqual([c.get("change") for c in cells], ["same code", "same code", None])
        text = (self.folder / "base" / "records.jsonl").read_text()
        (self.folder / "base" / "records.jsonl").write_text(text.replace('"items":4096', '"items":4100'))
        gone = [o for o in self.objects("regress", "base", "--max-time", "1", status=5) if "id" in o]
        self.assertEqual({o.get("refused") for o in gone} - {None}, {"vanished"})
        gone = [o for o in gone if "refused" in o]
        for one in gone:
            self.assert_broken_is_refused(one)


class Schema(LabTest):
    """Every lab() of every test checks its records; here are the kinds of line that others may not make, and what is refused."""

    def refused(self, record):
        with self.assertRaises(AssertionError):
            self.assert_record(record)

    def test_cells_comparisons_and_regressions_follow_the_schema(self):
        small = ["--device", "cpu", "--axis", "items=1024", "--no-dumps", "--no-yardstick", "--max-time", "0.5"]
        self.lab("run", "muladd_fma", "--vs", "muladd_mad", *small, "--json", "r.jsonl", "--baseline", "base")
        self.lab("run", "muladd_fma", *small, "--json", "r.jsonl", "--append", "--label", "again")
        self.lab("regress", "base", "--json", "regress.jsonl", "--max-time", "1")
        kinds = {line.get("record", "cell") for name in ("r", "regress") for line in self.records(f"{name}.jsonl")}
        self.assertEqual(kinds, {"cell", "comparison", "regression"})
        # Axes are joined by value: a number in one kind of line is a number in the others.
        points = [line["point"] for name in ("r", "regress") for line in self.records(f"{name}.jsonl") if "point" in line]
        self.assertEqual({repr(point["items"]) for point in points}, {"1024"})

    def test_invalid_records_are_refused(self):
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


class Table(LabTest):
    def test_repeated_unsupported_points_share_one_line(self):
        maker = made.Maker()
        records = [maker.record("pitch", "wide", 1e-3, point={"width": 64 << k}) for k in range(2)]
        for variant, reason in (("image", "the device has no images"), ("roi", "{} MiB is too large")):
            for k in range(6):
                record = maker.record("pitch", variant, 1, point={"width": 64 << k}) | {"status": "unsupported", "reason": reason.format(k), "samples": [], "metrics": {}}
                del record["time"]
                records.append(record)
        made.write(self.folder / "r.jsonl", records)
        out, _ = self.lab("report", "r.jsonl")
        self.assertIn("pitch_image is unsupported at 6 points: the device has no images\n", out)
        self.assertIn("pitch_roi is unsupported at 6 points: 0 MiB is too large, and the like\n", out)
        self.assertEqual(len([line for line in out.splitlines() if line.startswith("  pitch_") and " is " not in line]), 2)
        self.assertIn("14 cells: 2 ok, 12 unsupported", out)
        made.write(self.folder / "other.jsonl", [r | {"reason": f"the device lacks cl_khr_fp{16 + 48 * (k % 2)}"} for k, r in enumerate(records[2:])])
        out, _ = self.lab("report", "other.jsonl")
        self.assertNotIn("and the like", words(out))
        made.write(self.folder / "r.jsonl", records[2:])
        out, _ = self.lab("report", "r.jsonl", "--columns", "time")
        self.assertRegex(out, r"\npitch\n  pitch_image is unsupported at 6 points: ")


class Exports(LabTest):
    def setUp(self):
        super().setUp()
        maker = made.Maker()
        self.cells = [maker.record("pitch", variant, seconds, point={"width": width, "left": -1, "weights": "linear"}, device=made.CPU,
                                   phases={"build": 0.5, "sampling": 0.25, "verify": 0.125, "dump": 0.125})
                      for variant, seconds in (("wide", 1e-3), ("roi", 2e-3)) for width in (1024, 2048)]
        self.failed = [maker.record("muladd", "fma", 1, point={"items": 64}, device=made.CPU) | {"status": status, "reason": f"it is {status}", "samples": []}
                       for status in ("build_failed", "launch_failed", "wrong_result", "timed_out", "disagree", "unsupported")]
        for cell in self.failed:
            del cell["time"]
            cell["metrics"] = {}
        made.write(self.folder / "r.jsonl", self.cells + self.failed)

    def export(self, option, *more):
        out, _ = self.lab("report", "r.jsonl", *more, f"--{option}", "-")
        return out

    def test_long_has_a_row_per_sample_and_a_column_per_axis(self):
        # A text that a spreadsheet would compute is quoted, a number with a sign is not.
        made.write(self.folder / "r.jsonl", [self.cells[0] | {"run": self.cells[0]["run"] | {"label": "=1+1, \"two\""}}, *self.cells[1:], *self.failed])
        rows = list(csv.DictReader(self.export("long").splitlines()))
        self.assertEqual(len(rows), sum(len(cell["samples"]) for cell in self.cells))
        self.assertEqual([float(row["time_s"]) for row in rows], [sample for cell in self.cells for sample in cell["samples"]])
        first = rows[0]
        self.assertEqual([first[name] for name in ("id", "variant", "point_width", "point_left", "point_weights", "sample", "per_sample")],
                         ["pitch_wide", "wide", "1024", "-1", "linear", "0", "1"])
        self.assertEqual((first["label"], first["device"], first["run"]), ("'=1+1, \"two\"", made.CPU["name"], self.cells[0]["run"]["id"]))

    def test_long_opens_in_pandas_in_one_line(self):
        (self.folder / "long.csv").write_text(self.export("long"))
        line = "import pandas; print(pandas.read_csv('long.csv').groupby(['id', 'point_width']).time_s.median().to_json())"
        python = "/usr/bin/python3"
        if not pathlib.Path(python).exists() or subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode:
            self.skipTest("python3-pandas is not installed, so --long is not read by pandas")
        medians = json.loads(subprocess.run([python, "-c", line], cwd=self.folder, capture_output=True, text=True, check=True).stdout)
        self.assertEqual(medians.keys(), {f"('{cell['id']}', {cell['point']['width']})" for cell in self.cells})
        for cell in self.cells:
            self.assertAlmostEqual(medians[f"('{cell['id']}', {cell['point']['width']})"] / cell["time"]["median"], 1, places=6)

    def test_a_page_names_the_program_that_made_it(self):
        self.assertIn(f"Made by {self.lab('--version')[0].strip()} on ", self.export("html"))

    def test_export_follows_the_rules_for_outputs(self):
        (self.folder / "there").write_text("mine")
        for more in ([], ["--append"]):
            out, err = self.lab("report", "r.jsonl", "--long", "there", *more, status=2)
            self.assertEqual(out, "")
            self.assert_one_sentence(err, "there", "already exists", "--force")
        self.assertEqual((self.folder / "there").read_text(), "mine")
        self.lab("report", "r.jsonl", "--long", "r.jsonl", "--force", status=2)
        out, _ = self.lab("report", "r.jsonl", "--long", "there", "--force")
        self.assertIn("pitch_wide", out, "the table is printed too")
        self.assertEqual((self.folder / "there").read_text(), self.export("long"))


if __name__ == "__main__":
    lab.main()
