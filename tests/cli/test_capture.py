"""`cllab capture`: counts and times of a program that knows its own, and its launches as kernel files that prove themselves."""
import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import lab
from lab import words

PROGRAM = os.environ["CLLAB_CAPTURED_PROGRAM"]
Done = collections.namedtuple("Done", "stdout stderr")


class Capture(lab.LabTest):
    def capture(self, *options, mode="counts", status=0, more=(), **environment):
        return Done(*self.lab("capture", *options, "--", PROGRAM, mode, *more, status=status,
                              env=self.environment(**environment)))

    def lines(self, *options, **more):
        """What it prints and its JSON lines by their kind."""
        done = self.capture("--json", "out.json", "--force", *options, **more)
        lines = [json.loads(line) for line in (self.folder / "out.json").read_text().splitlines()]
        return done, {"program": lines[0], "kernel": [one for one in lines if "global" in one], "file": [one for one in lines if "file" in one],
                      "loader": [one["loader"] for one in lines if "loader" in one], "what": {one["what"]: one for one in lines if "what" in one}}

    @staticmethod
    def launches(lines):
        out = collections.Counter()
        for line in lines:
            out[line["kernel"]] += line["count"]
        return out

    @staticmethod
    def own_counts(output):
        """Launches and seconds that the program itself counted, by kernel."""
        rows = [line.split() for line in output.splitlines() if len(line.split()) == 3]
        return {kernel: (int(count), int(ns) * 1e-9) for kernel, count, ns in rows}

    def test_counts_are_exact_and_times_match_the_events_of_the_program(self):
        done, lines = self.lines()
        own = self.own_counts(done.stdout)
        self.assertEqual(set(own), {"scale", "add"})
        for kernel, (count, seconds) in own.items():
            rows = [line for line in lines["kernel"] if line["kernel"] == kernel]
            self.assertEqual(sum(row["count"] for row in rows), count)
            self.assertLess(abs(sum(row["seconds"] for row in rows) - seconds), 0.01 * seconds)
        self.assertEqual(sorted((one["global"], one["local"], one["count"]) for one in lines["kernel"] if one["kernel"] == "scale"),
                         [([2048], [], 10), ([4096], [64], 10)])
        self.assertEqual((lines["what"]["read"]["count"], lines["what"]["read"]["bytes"]), (1, 4000))
        self.assertEqual(lines["what"]["build"]["count"], 1)
        self.assertGreater(lines["what"]["gap"]["count"], 10, "the program waits for most launches")
        self.assertIn("libOpenCL", lines["loader"][0])
        self.assertIn("25 launches of 2 kernels", words(done.stderr))

    def test_cells_in_turns_fill_the_caches_before_each_sample(self):
        """Launches beyond one per sample: warm-up and verification, and as many as samples if another cell ran in between."""
        for kernels in (["muladd_fma"], ["muladd_fma", "muladd_mad"]):
            self.lab("capture", "--json", "out.json", "--force", "--", lab.CLLAB, "run", *kernels, "--device", "cpu", "--axis", "items=4Mi",
                     "--max-time", "1", "--no-dumps", "--no-yardstick", "--json", "run.jsonl", "--force")
            record = next(r for r in self.records("run.jsonl") if r["id"] == "muladd_fma")
            self.assertEqual(record["time"]["per_sample"], 1)
            samples = len(record["samples"]) + len(record.get("aside", []))
            launched = [line for line in self.records("out.json") if line.get("kernel") == "muladd_fma" and "global" in line]
            more = self.launches(launched)["muladd_fma"] - samples
            (self.assertLess if len(kernels) == 1 else self.assertGreater)(more, 20 + samples / 2)

    def test_program_keeps_its_output_and_status(self):
        plain = subprocess.run([PROGRAM, "structs", "9"], env=self.environment(), capture_output=True, text=True)
        done = self.capture(mode="structs", more=["9"], status=9)
        self.assertEqual(done.stdout.split()[:2], plain.stdout.split()[:2])
        self.assertEqual(len(done.stdout.splitlines()), len(plain.stdout.splitlines()))

    def test_program_keeps_its_environment(self):
        environment = self.environment()
        for name in ("CUDA_CACHE_PATH", "POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT"):  # other commands set the first two
            environment.pop(name, None)
        show = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
        own, captured = (json.loads(text) for text in (subprocess.run(show, env=environment, capture_output=True).stdout,
                                                       self.lab("capture", "--", *show, env=environment, status=3)[0]))
        self.assertEqual({name for name in own | captured if own.get(name) != captured.get(name)}, {"OPENCL_LAYERS", "CLLAB_CAPTURE_BOARD"})

    def test_no_times_still_counts(self):
        _, lines = self.lines("--no-times")
        self.assertEqual(self.launches(lines["kernel"]), {"scale": 20, "add": 5})
        self.assertEqual({line["seconds"] for line in lines["kernel"]}, {0})
        self.assertNotIn("profiled queue", lines["what"])

    def test_no_launch_is_lost_with_threads_and_queues(self):
        _, lines = self.lines(mode="threads")
        self.assertEqual([(line["count"], line["timed"]) for line in lines["kernel"]], [(1000, 1000)])
        self.assertEqual(lines["what"]["profiled queue"]["count"], 4)

    def test_program_without_opencl_and_missing_program_are_reported(self):
        done = self.capture(mode="nothing", status=5)
        self.assertIn("called no OpenCL", done.stderr)
        self.assertIn("cannot be started", self.lab("capture", "--", "no-such-program", status=2)[1])

    def test_layerless_and_static_loaders_are_reported(self):
        registered = pathlib.Path("/etc/OpenCL/vendors/pocl.icd").read_text().strip()
        driver = next((path for folder in ("", "/usr/lib/x86_64-linux-gnu") if (path := pathlib.Path(folder, registered)).is_file()), None)
        if not driver:
            self.skipTest(f"{registered} is in no folder known here")
        own = self.folder / "libOpenCL.so.1"  # what the name promises it is not
        shutil.copy(driver, own)
        loads = "import ctypes, sys, time; ctypes.CDLL(sys.argv[1]); time.sleep(1)"
        for library, why in ((own, f"OpenCL loader {own} did not load the layer"), (driver, "an OpenCL loader linked into it statically")):
            err = self.lab("capture", "--", sys.executable, "-c", loads, library, status=3)[1]
            self.assertIn(why, words(err))
            self.assertIn(library.name, err)

    def proved(self, mode, *kernels, **more):
        """Keeps the launches of a mode, runs their files, and returns the files by kernel with what was said."""
        done = self.capture("-k", "*", "-o", "kept", "--force", mode=mode, **more)
        for kernel in kernels:
            with self.subTest(mode=mode, kernel=kernel):
                file = self.folder / "kept" / (kernel + ".cl")
                self.assertTrue(file.exists(), done.stderr)
                self.lab("run", file, "--max-time", "5", "--json", "run.jsonl", "--force", "--no-dumps")
                record = json.loads((self.folder / "run.jsonl").read_text().splitlines()[0])
                self.assertEqual(record["status"], "ok", record.get("reason"))
        return done

    def block(self, kernel):
        return (self.folder / "kept" / (kernel + ".cl")).read_text().split("*/")[0]

    def test_kept_launch_is_verified_by_the_results_of_the_program(self):
        self.proved("counts", "scale", "add")
        self.assertIn("arg times = 4000", self.block("scale"), "the longest launch")
        self.assertIn("expect x = scale.8.x.after.bin", self.block("scale"))
        self.assertIn("options -DUNUSED=1", self.block("scale"))

    def test_edit_that_changes_the_results_is_detected(self):
        self.capture("-k", "add", "-o", "kept")
        file = self.folder / "kept" / "add.cl"
        file.write_text(file.read_text().replace("+ b[get", "- b[get"))
        self.assertIn("wrong_result", words(self.lab("run", file, "--max-time", "5", "--no-dumps", status=1)[0]))

    def test_launch_option_selects_the_kept_launch(self):
        for which, times in (("1", 10), ("8", 4000), ("3", 10)):
            self.capture("-k", "scale", "-o", "kept", "--launch", which, "--force")
            self.assertIn(f"arg times = {times}\n", self.block("scale"))

    def test_structs_local_memory_and_sub_buffers_are_captured(self):
        self.proved("structs", "with_struct")
        self.assertIn("arg room = local:64", self.block("with_struct"))
        self.proved("parts", "add")
        self.assertIn("arg b = part:whole_of_a:1024:1000", self.block("add"))
        self.proved("parts_of_structs", "reversed")
        self.assertIn("arg room = local:uchar:256", self.block("reversed"))
        self.assertIn("arg from = part:whole_of_from:uchar:8192:4096", self.block("reversed"))
        self.proved("part_and_whole", "add")

    def test_images_and_samplers_are_captured(self):
        self.proved("images", "blur")
        self.assertIn("sampler:nearest,edge,pixel", self.block("blur"))

    def test_null_pointers_are_captured(self):
        self.proved("null", "maybe")
        self.assertIn("arg b = null\n", self.block("maybe"))

    def test_svm_and_pointers_into_it_are_captured(self):
        self.proved("shared", "scale", "add", "address")
        self.assertIn("arg x = svm:file:scale.1.x.before.bin", self.block("scale"))
        self.assertIn("arg sum = part:a:1003:3093", self.block("add"))

    def test_repeated_and_appended_buffers_are_captured(self):
        self.proved("appended", "positive", "picked")
        for kernel in ("positive", "picked"):
            self.assertIn("relation any order of found", self.block(kernel))
        self.proved("twice", "add")
        self.assertIn("arg b = same:a", self.block("add"))

    def test_a_buffer_may_end_within_a_vector(self):
        self.proved("vectors", "quads")

    def test_a_timeline_has_every_command(self):
        self.lines("--trace", "trace.json")
        events = json.loads((self.folder / "trace.json").read_text())
        self.assertEqual(collections.Counter(event["name"] for event in events), {"scale": 20, "add": 5, "read": 1})
        self.assertTrue(all(event["ph"] == "X" and event["dur"] >= 0 for event in events))

    def test_launch_that_changes_nothing_is_reported(self):
        done = self.proved("idle", "idle")
        self.assertIn("expect x = unchanged", self.block("idle"))
        self.assertIn("it changed none of its buffers", words(done.stderr))

    def test_released_programs_and_cloned_kernels_are_captured(self):
        self.proved("released", "scale")

    def test_launch_waiting_for_a_user_event_blocks_nothing(self):
        self.proved("user_event", "scale")
        done = self.proved("failed_event")
        self.assertIn("a launch of add is not kept: it failed", words(done.stderr))

    def test_out_of_order_queues_are_read_between_two_launches(self):
        self.proved("out_of_order", "scale")

    def test_binaries_and_linked_programs_with_headers_are_captured(self):
        self.proved("binaries", "scale", "twice")
        self.assertIn("options -DUNUSED=1", self.block("scale"))
        subprocess.run([PROGRAM, "save"], env=self.environment(), cwd=self.folder, check=True)
        done = self.proved("load")
        self.assertRegex(words(done.stderr), r"scale\.bin # launch \d+.*; a binary .*a binary runs on this device and driver only; if it is from a cache")
        self.lab("run", self.folder / "kept" / "scale.bin", "--max-time", "5", "--no-dumps")

    def test_files_survive_a_crash_or_an_interrupt(self):
        done, lines = self.lines("-k", "*", "-o", "kept", mode="crash", status=128 + signal.SIGKILL)
        self.assertIn("ended by signal 9", done.stderr)
        self.assertEqual(self.launches(lines["kernel"]), {"scale": 20, "add": 5})
        self.assertTrue((self.folder / "kept" / "scale.cl").exists())
        running = self.start("capture", "--json", "hang.json", "--", PROGRAM, "hang")
        while running.stdout.readline().split()[:1] != ["scale"]:
            pass
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGTERM)
        lines = [json.loads(line) for line in (self.folder / "hang.json").read_text().splitlines()]
        self.assertEqual(self.launches(line for line in lines if "global" in line), {"scale": 20, "add": 5})

    def test_full_disk_keeps_the_table_and_reports_missing_launches(self):
        done = self.proved("full", "scale", "add")
        self.assertIn("26 launches of 2 kernels", words(done.stderr))
        self.assertIn("a launch of scale is not kept", words(done.stderr))
        self.assertIn("arg times = 4000\n", self.block("scale"), "what was kept before")

    def test_layer_in_another_command_is_a_warning_in_the_record(self):
        file = self.folder / "one.cl"
        file.write_text("/*cllab\nglobal 64\narg x = out:64\n*/\nkernel void one(global int* x) { x[get_global_id(0)] = 1; }\n")
        self.lab("run", file, "--max-time", "5", "--json", "run.jsonl", "--no-dumps",
                 env=self.environment(OPENCL_LAYERS="/nowhere/layer.so"))
        record = json.loads((self.folder / "run.jsonl").read_text().splitlines()[0])
        self.assertTrue(any(text.startswith("layers: OPENCL_LAYERS") for text in record["warnings"]), record["warnings"])

    def test_conflicting_options_are_refused(self):
        for options, why in (((), "needs a program after --"), (("-k", "x"), "need each other"),
                             (("--launch", "last"), "expected whole numbers from 1"), (("file.cl",), "takes the program after --")):
            program = ("--", PROGRAM) if options else ()
            self.assertIn(why, words(self.lab("capture", *options, *program, status=2)[1]))

    def test_python_program_with_pyopencl_is_captured(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import pyopencl"], capture_output=True).returncode:
            self.skipTest("python3-pyopencl is not installed")
        script = self.folder / "app.py"
        script.write_text("import numpy, pyopencl as cl, pyopencl.array as ca\n"
                          "q = cl.CommandQueue(cl.create_some_context(interactive=False))\n"
                          "a = ca.arange(q, 1000, dtype=numpy.float32)\nprint((2 * a + a).get().sum())\n")
        environment = self.environment(PYOPENCL_CTX="0")
        # Its binaries are in PyOpenCL's cache then.
        subprocess.run(["/usr/bin/python3", script], env=environment, capture_output=True, check=True)
        out, err = self.lab("capture", "-k", "*", "-o", "kept", "--", "/usr/bin/python3", script, env=environment)
        self.assertEqual(out, "1498500.0\n")
        files = sorted((self.folder / "kept").glob("*.cl"))
        self.assertTrue(files, err)
        for file in files:
            self.lab("run", file, "--max-time", "5", "--no-dumps")


if __name__ == "__main__":
    lab.main()
