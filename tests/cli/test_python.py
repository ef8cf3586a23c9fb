"""tools/python: kernels on NumPy arrays (cllab.py), the example there, then what the module promises; records for other programs (cllab_export.py)."""
import json
import os
import statistics
import subprocess
import sys

import made
from lab import SOURCE, LabTest, jsonschema, main, not_json, use_debians_python

try:
    import numpy
except ImportError:
    use_debians_python()
    raise
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools" / "python"))
import cllab  # noqa: E402

SAXPY = """kernel void saxpy(global const float* x, global float* y, float a) { size_t i = get_global_id(0); y[i] = a * x[i]; }
kernel void shifted(global const float* x, global float* y, float a) { size_t i = get_global_id(0); y[i] = a * x[i] + 1; }
"""
QUICK = ["--max-time", 0.02]


class Python(LabTest):
    def setUp(self):
        super().setUp()
        os.environ["OCL_ICD_VENDORS"] = self.environment()["OCL_ICD_VENDORS"]
        self.x = numpy.random.default_rng().random(512, dtype=numpy.float32)

    def run_saxpy(self, **more):
        words = {"kernel": "saxpy", "args": {"x": self.x, "y": "out:512", "a": 0.5}, "global_size": 512, "device": "cpu", "options": QUICK} | more
        return cllab.run(words.pop("source", SAXPY), **words)

    def test_the_example_passes_under_pytest(self):
        done = subprocess.run(["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", SOURCE / "tools" / "python"], env=self.environment(),
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if "No module named pytest" in done.stdout:
            self.skipTest("python3-pytest is not installed")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("3 passed", done.stdout)

    def test_kernel_is_right_only_if_it_matches_numpy(self):
        cell = self.run_saxpy(expect={"y": numpy.float32(0.5) * self.x})
        self.assertTrue(cell.ok, cell.reason)
        self.assertTrue(cell.interval[0] <= cell.seconds <= cell.interval[1])
        self.assertGreaterEqual(len(cell.samples), 6)
        self.assertTrue(cell.checked_by.startswith("file"), cell.checked_by)
        wrong = numpy.float32(0.5) * self.x
        wrong[511] += 1
        cell = self.run_saxpy(expect={"y": wrong})
        self.assertEqual((cell.ok, cell.status, cell.seconds, cell.interval), (False, "wrong_result", None, None))
        self.assertIn("y[511]", cell.reason)
        with self.assertRaisesRegex(AssertionError, r"saxpy: wrong_result: y\[511\]"):
            cllab.Cells([cell]).require_ok()

    def test_numbers_are_passed_exactly(self):
        text = "kernel void k(global double* y, double a, ulong b, int c, float4 d) { y[0] = a; y[1] = b >> 1; y[2] = c; y[3] = d.w; }"
        a, b = 0.1 + 0.2, 2**62 + 2
        cell = cllab.run(text, args={"y": "out:4", "a": a, "b": b, "c": numpy.int32(-7), "d": (1, 2, 3, 0.25)}, global_size=1, local_size=(1,),
                         expect={"y": numpy.array([a, 2**61 + 1, -7, 0.25])}, device="cpu", verify=True)
        self.assertTrue(cell.ok, cell.reason)

    def test_arrays_of_any_layout_are_read_in_c_order(self):
        text = "kernel void k(global const int* x, global int* y) { size_t i = get_global_id(0); y[i] = x[i]; }"
        x = numpy.arange(24, dtype=numpy.int32).reshape(4, 6)
        for view in (x.T, x[::2, ::-1], numpy.asfortranarray(x)):
            cell = cllab.run(text, args={"x": view, "y": f"out:{view.size}"}, global_size=view.size, expect={"y": view}, device="cpu", verify=True)
            self.assertTrue(cell.ok, cell.reason)

    def test_axes_variants_and_a_file_give_several_cells(self):
        path = self.folder / "k.cl"
        path.write_text(SAXPY)
        cells = cllab.run(path, kernel="saxpy", args={"x": "rand:n", "y": "out:n", "a": 2}, global_size="n", axes={"n": [64, 128]},
                          variants={"fast": "-cl-fast-relaxed-math"}, device="cpu", options=QUICK)
        self.assertEqual(sorted((c.name, c.point["n"]) for c in cells),
                         [("k_saxpy", 64), ("k_saxpy", 128), ("k_saxpy_fast", 64), ("k_saxpy_fast", 128)])
        self.assertTrue(cells.ok)
        with self.assertRaisesRegex(AttributeError, "the run has 4 cells; take `seconds` of one of them"):
            cells.seconds  # pylint: disable=pointless-statement
        with self.assertRaisesRegex(AttributeError, "'Cells' has no attribute 'second'"):
            cells.second  # pylint: disable=pointless-statement

    def test_a_few_samples_have_a_time_and_no_interval(self):
        cell = cllab.Cell({"time": {"median": 0.5, "n": 3}, "samples": [0.5, 0.4, 0.6]})
        self.assertEqual((cell.seconds, cell.interval), (0.5, None))

    def test_omitted_arguments_are_guessed(self):
        cell = cllab.run(SAXPY, kernel="saxpy", args={"a": 3.0}, expect=None, device="cpu", verify=True)
        self.assertTrue(cell.ok, cell.reason)

    def test_refusals_of_cllab_are_raised_with_its_words(self):
        for message, more in ((r"no device|matches", {"device": "nosuch"}), (r"'nosuch'", {"args": {"x": self.x, "y": "out:512", "a": 1, "nosuch": 1}}),
                              (r"float64|double", {"args": {"x": self.x.astype(float), "y": "out:512", "a": 1}})):
            with self.assertRaisesRegex(cllab.CllabError, message) as caught:
                self.run_saxpy(**more)
            self.assertIn(caught.exception.status, (2, 3))
        with self.assertRaisesRegex(TypeError, "argument 'a' is a dict"):
            self.run_saxpy(args={"x": self.x, "y": "out:512", "a": {}})

    def test_a_pair_has_a_verdict(self):
        path = self.folder / "k.cl"
        body = "float v = x[get_global_id(0)]; for (int i = 0; i < {0}; ++i) v = fma(v, 0.5f, 1.0f); y[get_global_id(0)] = v; "
        path.write_text("".join(f"kernel void {name}(global const float* x, global float* y) {{ {body.replace('{0}', str(trips))} }}\n"
                                for name, trips in (("few", 4000), ("many", 12000))))
        verdict = cllab.compare(f"{path}:many", f"{path}:few", args={"x": self.x, "y": "out:512"}, global_size=512,
                                tolerance={"absolute": 1}, device="cpu", options=["--max-time", 4])
        self.assertTrue(verdict.interval[0] <= verdict.ratio <= verdict.interval[1])
        self.assertIn(verdict.kind, ("slower", "undecided"), verdict)
        self.assertRegex(repr(verdict), r"\A<k_many against k_few: \w+, [\d.]{1,6} \[[\d.]{1,6}, [\d.]{1,6}\]>\Z")
        self.assertEqual({c.status for c in verdict.cells}, {"ok"})
        with self.assertRaisesRegex(cllab.CllabError, "nosuch"):
            cllab.compare(f"{path}:many", f"{path}:nosuch", args={"x": self.x, "y": "out:512"}, global_size=512, device="cpu")


class Exports(LabTest):
    """tools/python/cllab_export.py: records in the formats of other programs."""

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

    def export(self, form, *files, status=0):
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools" / "python" / "cllab_export.py", form, *(files or ["r.jsonl"])], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        return done.stdout

    def test_a_reader_that_leaves_early_gets_no_traceback(self):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools" / "python" / "cllab_export.py", "google-benchmark", "r.jsonl"], cwd=self.folder,
                              stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (1, ""))

    def name_of(self, cell):
        return f"{cell['id']}/width:{cell['point']['width']}/left:-1/weights:linear"

    def test_t4_follows_its_schema_and_has_kernel_tuner_keys(self):
        whole = json.loads(self.export("t4"), parse_constant=not_json)
        if jsonschema:
            # As in Kernel Tuner 1.5.0, kernel_tuner/schema/T4/1.0.0/results-schema.json.
            jsonschema.validate(whole, json.loads((SOURCE / "tests" / "golden" / "t4-results-schema.json").read_text()))
        self.assertEqual((whole["schema_version"], whole["metadata"]), ("1.0.0", {"timeunit": "milliseconds"}))
        self.assertEqual([r["invalidity"] for r in whole["results"]],
                         4 * ["correct"] + ["compile", "runtime", "correctness", "timeout", "correctness", "constraints"])
        self.assertEqual([r["correctness"] for r in whole["results"]], [1, 1, 1, 1, 1, 1, 0, 1, 0, 1])
        cell, result = self.cells[0], whole["results"][0]
        self.assertEqual(result["configuration"], {"kernel": "pitch_wide", "width": 1024, "left": -1, "weights": "linear"})
        self.assertEqual(result["objectives"], ["time"])
        self.assertEqual([round(ms / 1e3, 15) for ms in result["times"]["runtimes"]], [round(sample, 15) for sample in cell["samples"]])
        self.assertEqual({key: result["times"][key] for key in ("benchmark", "validation", "framework", "search_algorithm")},
                         {"benchmark": 250, "validation": 125, "framework": 125, "search_algorithm": 0})
        self.assertEqual(result["times"]["compilation"], result["times"]["compilation_time"])
        time, bandwidth = result["measurements"]
        self.assertEqual((time["name"], time["unit"]), ("time", "ms"))
        self.assertAlmostEqual(time["value"], cell["time"]["median"] * 1e3)
        self.assertEqual((bandwidth["name"], bandwidth["unit"]), ("bandwidth", "B/s"))

    def test_google_benchmark_has_samples_as_repetitions_and_aggregates(self):
        whole = json.loads(self.export("google-benchmark"), parse_constant=not_json)
        self.assertEqual(whole["context"]["num_cpus"], self.cells[0]["host"]["threads"])
        entries = whole["benchmarks"]
        for entry in entries:
            self.assertLessEqual({"name", "run_name", "run_type", "repetitions", "threads", "iterations", "real_time", "cpu_time", "time_unit",
                                  "family_index", "per_family_instance_index"}, entry.keys())
        for index, cell in enumerate(self.cells):
            name = self.name_of(cell)
            own = [e for e in entries if e["run_name"] == name]
            repetitions = [e for e in own if e["run_type"] == "iteration"]
            self.assertEqual([(e["name"], e["repetition_index"], e["repetitions"], e["iterations"], e["time_unit"]) for e in repetitions],
                             [(name, i, 20, 1, "ns") for i in range(20)])
            self.assertEqual([round(e["real_time"], 4) for e in repetitions], [round(sample * 1e9, 4) for sample in cell["samples"]])
            self.assertEqual({(e["family_index"], e["per_family_instance_index"]) for e in own}, {(index // 2, index % 2)})
            aggregates = {e["aggregate_name"]: e for e in own if e["run_type"] == "aggregate"}
            expected = {"mean": statistics.mean(cell["samples"]) * 1e9, "median": cell["time"]["median"] * 1e9,
                        "stddev": statistics.stdev(cell["samples"]) * 1e9, "cv": statistics.stdev(cell["samples"]) / statistics.mean(cell["samples"])}
            self.assertEqual(list(aggregates), list(expected))
            for kind, value in expected.items():
                self.assertEqual((aggregates[kind]["name"], aggregates[kind]["iterations"]), (f"{name}_{kind}", 20))
                self.assertAlmostEqual(aggregates[kind]["real_time"] / value, 1, places=9)
            self.assertEqual(aggregates["cv"]["aggregate_unit"], "percentage")
            self.assertAlmostEqual(aggregates["median"]["bytes_per_second"], cell["metrics"]["bandwidth"]["value"])
        self.assertEqual([(e.get("error_occurred", False), e.get("skipped", False)) for e in entries if e["run_name"].startswith("muladd")],
                         5 * [(True, False)] + [(False, True)])

    def test_records_of_several_devices_are_separated(self):
        made.write(self.folder / "r.jsonl", [self.cells[0], self.cells[0] | {"device": made.GPU}])
        devices = [r["configuration"]["device"] for r in json.loads(self.export("t4"))["results"]]
        self.assertEqual(len(set(devices)), 2, devices)
        self.assertIn("NVIDIA H200", devices[1])
        names = {e["run_name"] for e in json.loads(self.export("google-benchmark"))["benchmarks"]}
        self.assertEqual(len(names), 2, names)

    def test_invalid_record_is_reported_and_skipped(self):
        text = (self.folder / "r.jsonl").read_text()
        (self.folder / "mixed.jsonl").write_text(text + '{"record":"comparison"}\n{"schema":9}\n' + text[:50] + "\n" + text)
        self.assertEqual(self.export("t4", "mixed.jsonl"), self.export("t4"))
        self.export("t4", "mixed.jsonl")
        self.assertRegex(self.said, r"\Acllab_export: mixed.jsonl:12: [^\n]*schema 9[^\n]*skipped\ncllab_export: mixed.jsonl:13: [^\n]*skipped\n\Z")
        (self.folder / "none.jsonl").write_text("")
        self.assertEqual(self.export("bencher", "none.jsonl", status=2), "")

    def test_services_get_one_median_in_ns_per_cell_with_its_interval(self):
        later = self.cells[0] | {"time": made.timing([3e-3] * 20), "samples": [3e-3] * 20, "utc": "2030-01-01T00:00:00Z"}
        made.write(self.folder / "r.jsonl", [later, *self.cells])
        expected = {self.name_of(cell): cell["time"] for cell in [later, *self.cells[1:]]}
        action = json.loads(self.export("github-action-benchmark"), parse_constant=not_json)
        self.assertEqual([entry["name"] for entry in action], list(expected))
        for entry in action:
            time = expected[entry["name"]]
            self.assertLessEqual(entry.keys(), {"name", "unit", "value", "range", "extra"})
            self.assertEqual(entry["unit"], "ns")
            self.assertAlmostEqual(entry["value"] / (time["median"] * 1e9), 1, places=9)
            wider = max(time["high"] - time["median"], time["median"] - time["low"]) * 1e9
            self.assertAlmostEqual(float(entry["range"].removeprefix("± ")), wider, delta=0.001 * wider)
        bencher = json.loads(self.export("bencher"), parse_constant=not_json)
        self.assertEqual(list(bencher), list(expected))
        for name, measures in bencher.items():
            self.assertEqual(list(measures), ["latency"])
            for key, ours in (("value", "median"), ("lower_value", "low"), ("upper_value", "high")):
                self.assertAlmostEqual(measures["latency"][key] / (expected[name][ours] * 1e9), 1, places=9)
        for service in ("github-action-benchmark", "bencher"):
            self.assertNotRegex(self.export(service), r'_?(value|time)":\s*[\d.]{15}', "a time with digits that nobody measured")

    def test_untimed_cells_are_omitted_and_cache_states_separated(self):
        cold = made.Maker(2).record("pitch", "wide", 9e-3, point=self.cells[0]["point"], device=made.CPU, run=self.cells[0]["run"] | {"id": f"{7:032x}"})
        cold["time"]["cache"] = "cold"
        made.write(self.folder / "r.jsonl", [self.cells[0], cold])
        self.assertEqual(list(json.loads(self.export("bencher"))), [self.name_of(cold), self.name_of(cold) + "/cache:cold"])
        for cell in self.cells:
            cell.update(status="unsupported", reason="no", samples=[], metrics={})
            del cell["time"]
        made.write(self.folder / "r.jsonl", self.cells)
        self.assertEqual([json.loads(self.export(option)) for option in ("bencher", "github-action-benchmark")], [{}, []])


if __name__ == "__main__":
    main()
