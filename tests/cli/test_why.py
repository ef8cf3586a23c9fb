"""`cllab why` and the column `limit`: what they say of a kernel when the device's profile says this or that."""
import html
import json
import os
import re
import signal
import time
import unittest

from lab import SOURCE, LabTest, against_noise, main, words

CELL = ["muladd_fma", "--device", "cpu", "--axis", "items=65536", "--max-time", "0.05"]


def figure(id, name, unit, value, low=None, high=None):
    return {"id": id, "name": name, "unit": unit, "value": value, "low": value if low is None else low, "high": value if high is None else high}


# Nothing comes near to a microsecond on such a device.
FAST = [figure("launch.empty.item", "empty kernel", "s", 1e-12), figure("fma.peak.float", "float peak", "FLOP/s", 1e21),
        figure("issue.rate", "instruction rate", "instr/s", 1e21)]
# Nothing can be as fast as it is.
SLOW = [figure("launch.empty.item", "empty kernel", "s", 1e3)]
# The launch may be all of it, by a figure that says little: whatever a cell takes, it is named.
VAGUE = [figure("launch.empty.item", "empty kernel", "s", 1e2, low=1e-12)]


class Why(LabTest):
    record = None  # of the device here, once for the class

    def profile(self, figures):
        """A profile of the device here with these figures, where it is looked for."""
        if self.record is None:
            type(self).record = json.loads(self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--json", "-")[0])
        record = self.record
        path = (self.folder / record["dump"]).parent / "profile.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"schema": 2, "device": record["device"] | {"compute_units": 2}, "utc": "2026-01-01T00:00:00Z", "figures": figures}))

    def explained(self):
        """The record that was explained, and its explanation. One that no bound explains may have been measured a second time, and is written once."""
        record, line = self.records("w.jsonl")
        self.assertEqual((line["record"], line.get("seconds")), ("why", record["time"]["median"]))
        return record, line

    def why(self, *more, cell=CELL, **changes):
        """The page on one line, and the line of JSON behind the record. Of a time that others disturb nothing is said: it is asked again."""
        for _ in range(10):
            (self.folder / "w.jsonl").unlink(missing_ok=True)
            out, err = self.lab("why", *cell, "--json", "w.jsonl", *more, **changes)
            self.assertEqual(err, "")
            record, line = self.explained()
            if line["limit"] != "unsteady":
                break
        self.assertEqual((line["record"], line["id"], line["point"]), ("why", record["id"], record["point"]))
        return words(out), line

    def test_interrupt_prints_the_finished_cells(self):
        self.profile(FAST)
        (self.folder / "fine.cl").write_text("kernel void a(global float* x) { x[get_global_id(0)] = 1; }\n")
        (self.folder / "endless.cl").write_text("kernel void b(global volatile float* x) { while (x[0] != 7) x[1] = 2; }\n")
        for seconds in (8, 30, 120):  # until `fine` is finished, on any machine
            process = self.start("why", "fine.cl", "endless.cl", "-d", "cpu", "--arg", "x=zero:1024",
                                 "--global", "1024", "--timeout", "600")
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertIn("interrupted", err)
            if "1 finished" in err:
                break
        self.assertEqual(process.returncode, 130)
        self.assertRegex(out, r"fine_a\n.*explained(.|\n)*empty kernel")

    def test_missing_profile_is_measured_on_request(self):
        _, err = self.lab("why", "saxpy_w32", "--device", "cpu", "--profile", "soon", status=2)
        self.assert_one_sentence(err, "--profile", "soon")
        why = ("why", "saxpy_w32", "--device", "cpu", "--axis", "size=1Mi", "--max-time", "0.05", "--profile", "1")
        out, _ = self.lab(*why)
        found = list((self.folder / "cache" / "cllab" / "profiles").glob("*/profile.json"))
        self.assertEqual(len(found), 1)
        self.assertIn("compared with its profile of", words(out))
        self.assertNotIn("of a budget of", out, "the page of the profile was not asked for")
        before = found[0].read_text()
        self.lab(*why)
        self.assertEqual(found[0].read_text(), before, "one that is there stays")

    def test_missing_profile_names_the_command_that_makes_one(self):
        out, err = self.lab("why", *CELL, status=2)
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "profile.json", "`cllab profile --device ")
        _, err = self.lab("why", *CELL, "--dumps", "elsewhere", status=2)
        self.assert_one_sentence(err, "--dumps 'elsewhere'` measures it")

    def test_mistakes_are_one_sentence_each(self):
        for args, parts in [(["why"], ["PATTERN"]), (["why", "muladd_fmaa"], ["muladd_fmaa", "muladd_fma"]), (["why", "muladd_fma", "--csv", "a"], ["'--csv'"]),
                            (["why", "muladd_fma", "--axis", "itmes=4"], ["itmes", "items"])]:
            with self.subTest(args=args):
                self.assert_one_sentence(self.lab(*args, status=2)[1], *parts)

    def test_unexplained_time_is_reported_without_a_limiter(self):
        self.profile(FAST)
        page, line = self.why()
        self.assertIn("compared with its profile of 2026-01-01T00:00:00Z", page)
        self.assertIn("not explained: 100 %", page)
        self.assertEqual(line["limit"], "not explained")
        self.assertNotIn("limiter", line)
        self.assertEqual({b["id"] for b in line["bounds"]} - {"issue"}, {"launch", "arithmetic"})
        self.assertIn("memory traffic", {u["what"] for u in line["unbounded"]})

    def test_impossible_peak_is_measured_again_with_the_cell(self):
        self.profile(SLOW)
        page, line = self.why()
        peak = line["again"][0]
        self.assertEqual((peak["figure"], peak["before"], peak["used"]), ("launch.empty.item", 1e3, True))
        self.assertLess(peak["now"], 1)
        self.assertIn("measured again: empty kernel: ", page)
        self.assertIn("1000 s in the profile; the new value is faster, so it counts", page)
        self.assertNotEqual(line["limit"], "impossible")
        self.assertEqual(line["bounds"][0]["seconds"], line["again"][-1]["now"])

    def test_bound_above_the_time_is_impossible_if_not_measured_again(self):
        self.profile([figure("bandwidth.memory.rate", "memory read bandwidth", "B/s", 1), figure("bandwidth.streamed", "streamed", "byte", 1)])
        (self.folder / "k.cl").write_text("kernel void k(global const float* x, global float* y) { if (get_local_id(0) == 0) y[get_group_id(0)] = x[get_global_id(0)]; }\n")
        page, line = self.why(cell=["k.cl", "--device", "cpu", "--arg", "x=rand:65536", "--arg", "y=out:1024", "--global", "65536", "--local", "64",
                                    "--work", "bytes=4*65536", "--max-time", "0.05"])
        self.assertIn("cannot be: memory bandwidth alone takes at least 262144 s by bandwidth.memory.rate of the profile", page)
        self.assertIn("the cells that measure it gave no value", words(page))
        self.assertEqual(line["limit"], "impossible")
        self.assertEqual([(peak["figure"], peak["used"]) for peak in line["again"]], [("bandwidth.memory.rate", False)])

    @against_noise
    def test_bound_equal_to_the_time_names_the_limiter(self):
        self.profile(VAGUE)
        page, line = self.why()
        self.assertIn("limited by launch: 100 % of the time", page)
        self.assertEqual(line["limiter"], "launch")

    @against_noise
    def test_withheld_figure_is_measured_if_it_may_explain_the_cell(self):
        self.profile([figure("launch.empty.item", "empty kernel", "s", 1e-12)])
        page, line = self.why(cell=["latency_global", "--device", "cpu", "--axis", "footprint=8192", "--max-time", "0.05"])
        if {"what": "latency", "why": "the profile has no cache sizes"} in line["unbounded"]:
            self.skipTest("the system does not say where this processor's caches end")
        first = line["again"][0]
        self.assertEqual((first["figure"], first["before"], first["used"]), ("latency.l1.latency", 0, True))
        self.assertIn("measured now: L1 latency, page by page: ", page)
        self.assertIn("; the profile has no value for it", page)
        bound = next(b for b in line["bounds"] if b["id"] == "latency")
        self.assertIn("(L1 latency, page by page, measured now)", bound["how"])
        self.assertEqual(line["limiter"], "latency")

    def test_kernel_file_is_explained_by_its_declared_work(self):
        self.profile(FAST)
        (self.folder / "k.cl").write_text("kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }\n")
        (self.folder / "w.jsonl").unlink(missing_ok=True)
        self.lab("why", "k.cl", "--device", "cpu", "--arg", "x=rand:65536", "--global", "65536", "--work", "bytes=8*65536 flops=65536", "--max-time", "0.05",
                 "--json", "w.jsonl")
        record, line = self.explained()
        self.assertEqual((record["work"]["bytes"], record["work"]["flops"]), (8 * 65536, 65536))
        self.assertEqual(line["limit"], "not explained")

    def test_earlier_records_are_explained_by_their_counts(self):
        self.profile([*FAST, figure("bandwidth.copy", "copy bandwidth", "B/s", 1e21)])
        self.lab("run", *CELL, "--no-dumps", "--no-yardstick", "--json", "r.jsonl")
        record, = self.records()
        page, _ = self.lab("why", "r.jsonl", "--json", "w.jsonl")
        self.assertIn("compared with its profile of 2026-01-01T00:00:00Z", words(page))
        line, = self.records("w.jsonl")
        self.assertEqual((line["id"], line["seconds"], line["limit"]), (record["id"], record["time"]["median"], "not explained"))
        self.assertIn("executed instructions are not counted", str(line["unbounded"]))
        median = record["time"]["median"]
        record["time"].update(low=0.99 * median, high=1.01 * median)  # nothing is named of a time that others disturbed
        moved = 0.9e21 * median
        record["counters"] = {"dram__bytes_read.sum": {"value": moved / 1e9, "unit": "Gbyte"}, "dram__bytes_write.sum": {"value": 0, "unit": "byte"}}
        (self.folder / "counted.jsonl").write_text(json.dumps(record) + "\n")
        page, _ = self.lab("why", "counted.jsonl")
        self.assertIn("limited by memory bandwidth: 90 % of the time", words(page))
        self.assertIn("(copy bandwidth), counted by ncu", words(page))

    def test_records_are_neither_measured_again_nor_mixed_with_kernels(self):
        self.profile(FAST)
        self.lab("run", *CELL, "--no-dumps", "--no-yardstick", "--json", "r.jsonl")
        for args, parts in [(["r.jsonl", "muladd_fma"], ["'muladd_fma'", "record file"]),
                            (["none.jsonl"], ["'none.jsonl'"]), (["r.jsonl", "--dumps", "elsewhere"], ["profile.json", "elsewhere"])]:
            with self.subTest(args=args):
                self.assert_one_sentence(self.lab("why", *args, status=2)[1], *parts)

    def test_kernel_file_declares_atomics_barriers_and_chains(self):
        self.profile([*FAST, figure("latency.memory.latency", "memory latency", "s", 1e-12), figure("barrier.item", "barrier a work-item", "s", 1e-15),
                      figure("atomic.global.many", "atomics", "op/s", 1e20)])
        (self.folder / "k.cl").write_text("kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }\n")
        self.lab("why", "k.cl", "--device", "cpu", "--arg", "x=rand:65536", "--global", "65536", "--local", "64",
                 "--work", "bytes=8*65536 atomics=3*100 barriers=7 chain=5", "--max-time", "0.05", "--json", "w.jsonl")
        record, line = self.explained()
        work = record["work"]
        self.assertEqual((work["bytes"], work["atomics"], work["barriers"], work["links"], work["chain"]), (8 * 65536, 300, 7, 5, "load"))
        self.assertEqual((work["groups"], work["group"]), (1024, 64))
        self.assertLessEqual({"atomics", "barriers"}, {b["id"] for b in line["bounds"]})

    def counted(self, *more, text="kernel void twice(global float* x) { x[get_global_id(0)] *= 2; }\n", **changes):
        """The page and the line of a kernel that declares nothing of what is asked about, which is said on stderr."""
        (self.folder / "k.cl").write_text(text)
        (self.folder / "w.jsonl").unlink(missing_ok=True)
        page, _ = self.lab("why", "k.cl", "--device", "cpu", "--arg", "x=rand:65536", "--global", "65536", "--max-time", "0.05", "--json", "w.jsonl",
                           *more, **changes)
        line = self.explained()[1]
        if not changes and any(u["what"] == "what it executes" and "plugin" in u["why"] for u in line["unbounded"]):
            self.skipTest("the plugin for Oclgrind was not built")
        return words(page), line

    def test_undeclared_work_of_a_kernel_file_is_counted(self):
        self.profile([*FAST, figure("barrier.item", "barrier a work-item", "s", 1e-15), figure("atomic.global.many", "atomics", "op/s", 1e20)])
        text = ("kernel void twice(global int* x) { local int y[64]; y[get_local_id(0)] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
                "atomic_add(x + get_global_id(0), y[63 - get_local_id(0)] | 1); }\n")
        page, line = self.counted("--local", "64", text=text)
        bounds = {b["id"]: b for b in line["bounds"]}
        self.assertIn("barriers", bounds)
        self.assertGreater(bounds["atomics"]["seconds"] / (65536 / 1e20), 0.99)
        _, line = self.counted("--local", "64", "--count-budget", "0", text=text)
        self.assertFalse({"barriers", "atomics"} & {b["id"] for b in line["bounds"]})

    def test_a_count_names_its_source(self):
        self.profile(FAST)
        text = "kernel void twice(global float* x) { float v = x[get_global_id(0)]; x[get_global_id(0)] = fma(v, 0.5f, 1.0f) * v; }\n"
        page, line = self.counted("--local", "64", text=text)
        arithmetic = next(b for b in line["bounds"] if b["id"] == "arithmetic")
        self.assertRegex(arithmetic["how"], r"counted by simulation of \d+ of 1024 groups")
        self.assertGreater(arithmetic["seconds"] / (4 * 65536 / 1e21), 0.99)  # longer where others have cores

    def test_advice_is_given_for_groups_of_one_work_item(self):
        self.profile([*FAST, figure("dispatch.group.time", "time per group", "s", 1e2, low=1e-12)])
        page, line = self.counted("--local", "1")
        if line["limit"] == "named":
            self.assertEqual(line["advice"], "The work-group size is 1. With size 256, the launch would have 256 times fewer work-groups.")
            self.assertIn("what costs time: The work-group size is 1", page)

    def test_obvious_causes_are_reported(self):
        self.profile([*FAST, figure("dispatch.group.time", "time per group", "s", 20e-9)])
        for name, sentence in (("chain", r"The longest chain of a work-item has 5\d\d operations, each of which needs the result of the one before\."),
                               ("scattered", r"Loads use only \d+(\.\d+)? of the \d+(\.\d+)? bytes per work-item in the touched sectors, because the accesses are scattered"),
                               ("single", r"The work-group size is 1\. With size 256, the launch would have 256 times fewer work-groups\.")):
            with self.subTest(name=name):
                page, _ = self.why(cell=[str(SOURCE / "tests" / "kernels" / "why" / f"{name}.cl"), "--device", "cpu", "--max-time", "0.05"])
                if "(the plugin" in page:
                    self.skipTest("the plugin for Oclgrind was not built")
                self.assertRegex(page, sentence)

    def hot_code(self, *kernels, size="64Ki"):
        """What is read of the hot code of kernels of code.cl, by their names, and the page on one line."""
        self.profile(FAST)
        (self.folder / "w.jsonl").unlink(missing_ok=True)
        page, _ = self.lab("why", *(f"{SOURCE}/tests/kernels/why/code.cl:{k}" for k in kernels), "--device", "cpu", "--count-budget", "0",
                           "--max-time", "0.05", "--axis", f"n={size}", "--json", "w.jsonl")
        lines = self.records("w.jsonl")
        if not all(r["hot"]["evidence"] == "sampled" for r in lines if "hot" in r):
            self.skipTest("the code that runs cannot be sampled here")
        return {r["id"].removeprefix("code_"): r.get("hot_code", "") for r in lines if r.get("record") == "why"}, words(page)

    def test_hot_code_of_a_cpu_says_vectors_and_instructions(self):
        found, page = self.hot_code("hash", "private_sums", "kept")
        self.assertIn("hot code: loop at 0x", page)
        for name in ("hash", "private_sums", "kept"):
            self.assertRegex(found[name], r"(loop at|straight-line code from) 0x\w+, \d+\.\d % of the kernel's samples: \d+ instructions without vectors")
        # Bytes that are no output's, or the same ones again, give no number of instructions per byte but a least one.
        for name in ("private_sums", "kept"):
            self.assertNotRegex(found[name], r"; \d\S* instructions per stored byte")

    def test_machine_code_difference_precedes_counts(self):
        _, page = self.hot_code("plain", "hash", size="256Ki")  # large enough that most samples are in the kernel
        said = re.search(r"code_hash takes \S+ times as long as code_plain; (code_plain .*?without vectors)\.", page.strip())
        self.assertTrue(said, page)
        self.assertRegex(said[1], r"^code_plain (computes|executes \S+ instructions per \w+( byte)?) in vectors of up to (128|256|512) bits, code_hash .*without vectors$")

    def test_unexplained_time_states_known_facts_and_next_steps(self):
        self.profile(FAST)
        page, _ = self.why()
        self.assertRegex(page, r"not explained: 100 %;( [^;`]+;)* `cllab isa muladd_fma --hot --axis items=65536 --device \d:\d` shows")

    def test_page_of_a_run_without_dumps_says_what_why_says(self):
        self.profile(FAST)
        (self.folder / "k.cl").write_text("/*cllab\narg x = zero:65536\nglobal 65536\n*/\nkernel void a(global float* x) { x[get_global_id(0)] = 1; }\n")
        self.lab("run", "k.cl", "-d", "cpu", "--no-dumps", "--max-time", "0.05", "--json", "r.jsonl", "--html", "p.html")
        self.lab("why", "r.jsonl", "--json", "w.jsonl")
        line, = (j for j in self.records("w.jsonl") if j.get("record") == "why")
        self.assertEqual(line["limit"], "not explained")
        page = html.unescape((self.folder / "p.html").read_text())
        self.assertRegex(page, re.escape(line["sentence"]) + r"; `cllab why k\.cl:a --device \S+` also counts what the kernel executes")

    def test_two_points_of_one_kernel_have_no_difference_of_kernels(self):
        self.profile(FAST)
        page, _ = self.lab("why", "muladd_fma", "--device", "cpu", "--axis", "items=1024,65536", "--max-time", "0.05")
        self.assertIn("muladd_fma items=64Ki", words(page))
        self.assertNotIn("times as long as", words(page))

    def test_two_kernels_end_with_their_differences_in_execution(self):
        self.profile(FAST)
        (self.folder / "k.cl").write_text("/*cllab\ndiffer a, b\n*/\nkernel void a(global float* x) { x[get_global_id(0)] *= 2; }\n"
                                          "kernel void b(global float* x) { x[get_global_id(0)] = 2 * x[get_global_id(0)] * x[get_global_id(0)] * 3; }\n")
        page, _ = self.lab("why", "k.cl", "--device", "cpu", "--arg", "x=rand:65536", "--global", "65536", "--local", "64", "--max-time", "0.05", "--json", "w.jsonl")
        if "(the plugin" in words(page):
            self.skipTest("the plugin for Oclgrind was not built")
        self.assertRegex(words(page), r"k_[ab] takes \d\S* times as long as k_[ab]")
        # Of the times that stand, also where a kernel was measured a second time.
        times = {r["id"]: r["seconds"] for r in self.records("w.jsonl") if r.get("record") == "why"}
        slower, ratio, faster = re.search(r"(k_[ab]) takes (\d\S*) times as long as (k_[ab])", words(page)).groups()
        self.assertAlmostEqual(times[slower] / times[faster] / float(ratio), 1, delta=0.01)
        self.assertRegex(words(page), r"Counted: k_b has [23](\.\d+)? times as many floating-point operations")

    def test_two_times_that_one_run_cannot_rank_end_with_the_command_that_does(self):
        self.profile(FAST)
        page, _ = self.lab("why", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=65536", "--max-time", "0.05", "--count-budget", "0")
        self.assertRegex(words(page), r"These times are not told apart; `cllab run muladd_(fma|mad) --vs muladd_(fma|mad) --axis items=65536 --device \S+` tests the difference\.$")

    def test_two_built_in_cells_end_with_their_differences_in_execution(self):
        self.profile(FAST)
        pair = ("why", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=4096", "--max-time", "0.05")
        page, _ = self.lab(*pair)
        without, _ = self.lab(*pair, env=self.environment(CLLAB_COUNT_PLUGIN=str(self.folder / "none.so")))
        self.assertRegex(words(without), r"What they execute differently was not counted: .*none\.so")
        if "(the plugin" in words(page):
            self.skipTest("the plugin for Oclgrind was not built")
        self.assertRegex(words(page), r"Counted: (muladd_mad has \S+ times as many operations in the longest chain, and )?muladd_mad has 1\.\d+ times as many instructions.*\.")
        # A CPU has a form of its own.
        other, _ = self.lab("why", "pitch_wide", "pitch_implicit", "--device", "cpu", "--axis", "width=256", "--axis", "height=64", "--max-time", "0.05")
        self.assertRegex(words(other), r"What they execute differently was not counted: pitch_\w+: it was counted as a GPU runs it, with \d+ work-items, and has \d+ here\.")
        several, _ = self.lab("why", "himeno_swap", "himeno_schedule", "--device", "cpu", "--axis", "size=XXS", "--max-time", "0.05")
        self.assertRegex(words(several), r"Counted: .*himeno_schedule has ")

    def test_without_the_simulator_declared_work_is_explained(self):
        self.profile(FAST)
        _, line = self.counted("--work", "flops=65536", env=self.environment(CLLAB_COUNT_PLUGIN=str(self.folder / "none.so")))
        self.assertIn("what it executes", {u["what"] for u in line["unbounded"]})
        self.assertIn("arithmetic", {b["id"] for b in line["bounds"]})

    def test_contradicting_declared_and_counted_work_are_both_reported(self):
        self.profile(FAST)
        page, line = self.counted("--work", "bytes=65536 flops=1000000000")
        self.assertEqual(len(line["contradictions"]), 2)
        self.assertIn("contradiction: 65.5 kB are declared", page)

    def test_explained_records_are_reported(self):
        self.profile(FAST)
        self.why()
        out, _ = self.lab("report", "w.jsonl", "--csv", "-")
        self.assertEqual(len(out.splitlines()), 1 + sum("record" not in line for line in self.records("w.jsonl")))

    def test_run_with_a_profile_has_a_limiter_column(self):
        page, _ = self.lab("run", *CELL, "--no-dumps", "--no-yardstick", "--json", "r.jsonl")
        self.assertNotIn("limit", page)
        self.assertNotIn("limit", self.records()[0])
        for figures, limit in ((FAST, "-"), (VAGUE, "launch")):
            self.profile(figures)
            for isolate in ([], ["--isolate"]):
                for _ in range(10):  # nothing is named of a time that others disturb
                    page, _ = self.lab("run", *CELL, "--no-dumps", "--no-yardstick", "--json", "r.jsonl", "--force", *isolate)
                    record, = self.records()
                    time = record["time"]
                    if max(time["high"] - time["median"], time["median"] - time["low"]) <= 0.1 * time["median"]:
                        break
                self.assertEqual(bool(re.search(r" limit\b", page)), limit != "-", page)  # a column that would be empty is none
                self.assertEqual(record["limit"], limit)


if __name__ == "__main__":
    main()
