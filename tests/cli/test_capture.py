"""`cllab capture`: counts and times of a program that knows its own, and its launches as kernel files that prove themselves."""
import collections
import json
import os
import signal
import subprocess

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
        return done, {"program": lines[0], "kernel": [one for one in lines if "sizes" in one], "file": [one for one in lines if "file" in one]}

    @staticmethod
    def own_counts(output):
        """Launches and seconds that the program itself counted, by kernel."""
        rows = [line.split() for line in output.splitlines() if len(line.split()) == 3]
        return {kernel: (int(count), int(ns) * 1e-9) for kernel, count, ns in rows}

    def test_counts_are_exact_and_times_are_those_of_the_programs_own_events(self):
        done, lines = self.lines()
        own = self.own_counts(done.stdout)
        self.assertEqual(set(own), {"scale", "add"})
        for line in lines["kernel"]:
            count, seconds = own[line["kernel"]]
            self.assertEqual(line["launches"], count)
            self.assertLess(abs(line["seconds"] - seconds), 0.01 * seconds)
        scale = next(line for line in lines["kernel"] if line["kernel"] == "scale")
        self.assertEqual(sorted((one["global"], one["local"], one["launches"]) for one in scale["sizes"]),
                         [([2048], [], 10), ([4096], [64], 10)])
        self.assertEqual(lines["program"]["copies"]["read"]["bytes"], 4000)
        self.assertIn("libOpenCL", lines["program"]["loader"])
        self.assertIn("25 launches of 2 kernels", words(done.stderr))

    def test_the_programs_output_and_status_are_its_own(self):
        plain = subprocess.run([PROGRAM, "structs", "9"], env=self.environment(), capture_output=True, text=True)
        done = self.capture(mode="structs", more=["9"], status=9)
        self.assertEqual(done.stdout.split()[:2], plain.stdout.split()[:2])
        self.assertEqual(len(done.stdout.splitlines()), len(plain.stdout.splitlines()))

    def test_without_times_it_counts(self):
        _, lines = self.lines("--no-times")
        self.assertEqual({line["kernel"]: (line["launches"], line["seconds"]) for line in lines["kernel"]},
                         {"scale": (20, 0), "add": (5, 0)})

    def test_threads_and_queues_lose_no_launch(self):
        _, lines = self.lines(mode="threads")
        self.assertEqual([line["launches"] for line in lines["kernel"]], [1000])
        self.assertEqual(sum(one["timed"] for one in lines["kernel"][0]["sizes"]), 1000)
        self.assertEqual(lines["program"]["profiling_added"], 4)

    def test_a_program_that_calls_no_opencl_or_is_none_is_told(self):
        done = self.capture(mode="nothing", status=5)
        self.assertIn("called no OpenCL", done.stderr)
        self.assertIn("cannot be started", self.lab("capture", "--", "no-such-program", status=2)[1])

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

    def test_a_launch_is_kept_with_its_arguments_and_proved_by_what_the_program_got(self):
        self.proved("counts", "scale", "add")
        self.assertIn("arg times = 4000", self.block("scale"), "the longest launch")
        self.assertIn("expect x = scale.8.x.after.bin", self.block("scale"))
        self.assertIn("options -DUNUSED=1", self.block("scale"))

    def test_an_edit_that_changes_the_results_is_found(self):
        self.capture("-k", "add", "-o", "kept")
        file = self.folder / "kept" / "add.cl"
        file.write_text(file.read_text().replace("+ b[get", "- b[get"))
        self.assertIn("wrong_result", words(self.lab("run", file, "--max-time", "5", "--no-dumps", status=1)[0]))

    def test_which_launch(self):
        for which, times in (("1", 10), ("8", 4000), ("3", 10)):
            self.capture("-k", "scale", "-o", "kept", "--launch", which, "--force")
            self.assertIn(f"arg times = {times}\n", self.block("scale"))

    def test_structs_local_memory_and_parts_of_buffers(self):
        self.proved("structs", "with_struct")
        self.assertIn("arg room = local:64", self.block("with_struct"))
        self.proved("parts", "add")
        self.assertIn("arg b = part:whole_of_a:1024:1000", self.block("add"))

    def test_images_and_samplers(self):
        self.proved("images", "blur")
        self.assertIn("sampler:nearest,edge,pixel", self.block("blur"))

    def test_what_cannot_be_kept_is_told_with_its_reason(self):
        done = self.proved("shared")
        self.assertIn("not kept: argument 'x' is shared virtual memory", words(done.stderr))
        self.assertIn("no launch of a kernel * was kept", words(done.stderr))

    def test_a_launch_that_changes_nothing_is_told(self):
        done = self.proved("idle", "idle")
        self.assertIn("expect x = unchanged", self.block("idle"))
        self.assertIn("it left all that it was given as it was", words(done.stderr))

    def test_programs_released_before_kernels_clones_and_kernels_made_at_once(self):
        self.proved("released", "scale")

    def test_a_launch_that_waits_for_what_the_program_does_later_holds_nothing_up(self):
        self.proved("user_event", "scale")

    def test_out_of_order_queues_are_read_between_two_launches(self):
        self.proved("out_of_order", "scale")

    def test_binaries_are_run_and_proved_and_linked_programs_are_told(self):
        done = self.proved("binaries")
        self.assertIn("a binary: it runs on this device and driver only", words(done.stderr))
        self.assertIn("its program is of no text, SPIR-V or binary", words(done.stderr))
        self.lab("run", self.folder / "kept" / "scale.bin", "--max-time", "5", "--no-dumps")

    def test_what_a_crash_or_an_interrupt_left_is_there(self):
        done, lines = self.lines("-k", "*", "-o", "kept", mode="crash", status=128 + signal.SIGKILL)
        self.assertIn("ended by signal 9", done.stderr)
        self.assertEqual({line["kernel"]: line["launches"] for line in lines["kernel"]}, {"scale": 20, "add": 5})
        self.assertTrue((self.folder / "kept" / "scale.cl").exists())
        running = self.start("capture", "--json", "hang.json", "--", PROGRAM, "hang")
        while running.stdout.readline().split()[:1] != ["scale"]:
            pass
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=60)
        self.assertEqual(running.returncode, 128 + signal.SIGTERM)
        lines = [json.loads(line) for line in (self.folder / "hang.json").read_text().splitlines()]
        self.assertEqual({line["kernel"]: line["launches"] for line in lines if "sizes" in line}, {"scale": 20, "add": 5})

    def test_a_full_disk_keeps_the_table_and_says_what_is_missing(self):
        done = self.proved("full", "scale", "add")
        self.assertIn("26 launches of 2 kernels", words(done.stderr))
        self.assertIn("a launch of scale is not kept", words(done.stderr))
        self.assertIn("arg times = 4000\n", self.block("scale"), "what was kept before")

    def test_a_layer_in_another_command_is_a_warning_of_the_record(self):
        file = self.folder / "one.cl"
        file.write_text("/*cllab\nglobal 64\narg x = out:64\n*/\nkernel void one(global int* x) { x[get_global_id(0)] = 1; }\n")
        self.lab("run", file, "--max-time", "5", "--json", "run.jsonl", "--no-dumps",
                 env=self.environment(OPENCL_LAYERS="/nowhere/layer.so"))
        record = json.loads((self.folder / "run.jsonl").read_text().splitlines()[0])
        self.assertTrue(any(text.startswith("layers: OPENCL_LAYERS") for text in record["warnings"]), record["warnings"])

    def test_what_does_not_go_together_is_refused(self):
        for options, why in (((), "takes a program behind --"), (("-k", "x"), "go together"),
                             (("--launch", "last"), "not a number from 1"), (("file.cl",), "the program stands behind --")):
            program = ("--", PROGRAM) if options else ()
            self.assertIn(why, words(self.lab("capture", *options, *program, status=2)[1]))

    def test_a_python_program_with_pyopencl(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import pyopencl"], capture_output=True).returncode:
            self.skipTest("python3-pyopencl is not installed")
        script = self.folder / "app.py"
        script.write_text("import numpy, pyopencl as cl, pyopencl.array as ca\n"
                          "q = cl.CommandQueue(cl.create_some_context(interactive=False))\n"
                          "a = ca.arange(q, 1000, dtype=numpy.float32)\nprint((2 * a + a).get().sum())\n")
        out, err = self.lab("capture", "-k", "*", "-o", "kept", "--", "/usr/bin/python3", script, env=self.environment(PYOPENCL_NO_CACHE="1", PYOPENCL_CTX="0"))
        self.assertEqual(out, "1498500.0\n")
        files = sorted((self.folder / "kept").glob("*.cl"))
        self.assertTrue(files, err)
        for file in files:
            self.lab("run", file, "--max-time", "5", "--no-dumps")


if __name__ == "__main__":
    lab.main()
