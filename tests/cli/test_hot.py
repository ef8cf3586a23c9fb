"""Which code runs: --hot of `cllab run` and `cllab isa`, --source and --width, as a user has them."""
import json
import re

import lab
from lab import LabTest, against_noise, words


class Hot(LabTest):
    SOURCE = r"(?m)^// pitch\.cl:\d+  \S"
    SMALL = ["--device", "cpu", "--axis", "width=512", "--axis", "height=512"]

    @against_noise
    def test_run_with_dumps_reports_hot_blocks_in_all_outputs(self):
        self.lab("run", "pitch_loop", *self.SMALL, "--json", "r.jsonl", "--hot", "0.3", "--no-yardstick")
        record = self.records()[0]
        hot = record["hot"]
        self.assertEqual(hot["evidence"], "sampled", hot)
        self.assertEqual(hot["in_kernel"] + sum(hot["elsewhere"].values()), hot["samples"])
        # What is named of the kernel's blocks is most of it, however much of a small kernel's time is elsewhere.
        self.assertGreater(2 * sum(b["samples"] for b in hot["blocks"]), hot["in_kernel"])
        self.assertIn("specialised for local size", hot["code"])
        self.assertEqual(hot["blocks"][0]["function"], "_pocl_kernel_pitch_loop_workgroup")
        self.assertEqual([b["samples"] for b in hot["blocks"]], sorted((b["samples"] for b in hot["blocks"]), reverse=True))
        self.assertTrue(hot["blocks"][0]["loops"])
        self.assertRegex(record["code"]["origin"]["loop"], r"^sampled, one iteration of the loop at 0x")
        dump = self.folder / record["dump"]
        self.assertEqual(json.loads((dump / "stats.json").read_text())["hot"]["blocks"], hot["blocks"])
        marks = re.findall(r"^// hot: ([\d.]+) % of the kernel's samples, 0x([0-9a-f]+)\.\..*\n +([0-9a-f]+):", (dump / "isa.txt").read_text(), re.MULTILINE)
        self.assertEqual(len(marks), len(hot["blocks"]))
        for _, begin, instruction in marks:
            self.assertEqual(begin, instruction)

    @against_noise
    def test_groups_chosen_by_pocl_are_those_of_the_sampled_function(self):
        # Both sizes have one program, and the driver chooses another local size for the second.
        (self.folder / "k.cl").write_text("/*cllab\naxis items = 512\narg x = rand:items\narg y = out:items\nglobal items\n*/\n"
                                          "kernel void k(global const float* x, global float* y) {\n    const size_t i = get_global_id(0);\n"
                                          "    float a = x[i];\n    for (int j = 0; j < 500; ++j) a = a * 0.5f + 1.0f;\n    y[i] = a;\n}\n")
        self.lab("run", "k.cl", "--device", "cpu", "--axis", "items=8191,8400", "--json", "r.jsonl", "--force", "--hot", "0.3", "--no-yardstick")
        groups = []
        for record in self.records():
            self.assertEqual(record["hot"]["evidence"], "sampled", record["hot"])
            work = record["work"]
            groups.append(work["group"])
            self.assertEqual(work["groups"] * work["group"], record["point"]["items"])
            self.assertIn("specialised for local size %dx1x1 " % work["group"], record["hot"]["code"])
        self.assertNotEqual(*groups)

    @against_noise
    def test_kernels_without_ids_are_separated_and_sampled_in_pocl(self):
        loop = "    uint v = x[0];\n    for (uint k = 0; k < 1000000; ++k) v = %s;\n    y[0] = v;\n}\n"
        text = "/*cllab\narg x = rand:1\narg y = out:1\nglobal 1\nlocal 1\n*/\n"
        for name, step in ("one", "v * 3u + (v >> 3)"), ("two", "(v ^ (v >> 9)) * 5u + (v >> 3)"):
            text += f"kernel void {name}(global const uint* restrict x, global uint* restrict y) {{\n" + loop % step
        (self.folder / "k.cl").write_text(text)
        prints = []
        for name in "one", "two":
            self.lab("run", f"k.cl:{name}", "--device", "cpu", "--json", "r.jsonl", "--force", "--hot", "0.3", "--no-yardstick")
            record, = self.records()
            prints.append(record["code"]["fingerprint"])
            self.assertEqual(record["hot"]["evidence"], "sampled", record["hot"])
            self.assertTrue(record["hot"]["blocks"][0]["function"].startswith(f"_pocl_kernel_{name}"), record["hot"])
            self.assertTrue(record["hot"]["blocks"][0]["loops"])
        self.assertNotEqual(*prints)

    def test_nothing_is_sampled_without_dumps_or_with_zero_or_verify(self):
        for how in ["--no-dumps"], ["--hot", "0"], ["--verify"]:
            self.lab("run", "pitch_loop", *self.SMALL, "--json", "r.jsonl", "--force", "--no-yardstick", *how)
            self.assertNotIn("hot", self.records()[0], how)

    @against_noise
    def test_isa_shows_only_hot_code_with_its_share_and_source(self):
        out, _ = self.lab("isa", "pitch_loop", *self.SMALL, "--hot", "--source", "--width", "72")
        self.assertRegex(out, r"hot: sampled, \d+ samples in the kernel of \d+")
        self.assertRegex(out, r"(loop at|straight-line code from) 0x[0-9a-f]+, [\d.]+ % of the kernel's samples")
        self.assertRegex(out, self.SOURCE)
        self.assertLessEqual(max(len(line) for line in out.splitlines()[1:]), 72)
        whole, _ = self.lab("isa", "pitch_loop", *self.SMALL, "--source")
        self.assertGreater(len(whole.splitlines()), len(out.splitlines()))
        self.assertRegex(whole, self.SOURCE)

    @against_noise
    def test_two_variants_are_compared_in_their_hot_code(self):
        out, _ = self.lab("isa", "pitch_loop", "--vs", "pitch_swar", *self.SMALL, "--hot")
        self.assertRegex(out, r"(?m)^hot +(loop at|straight-line code from) 0x\S+ [\d.]+ % of the kernel's samples +(loop at|straight-line code from)")
        shape, _ = self.lab("isa", "pitch_loop", "--vs", "pitch_swar", *self.SMALL)
        self.assertIn("one iteration of", shape)
        self.assertIn("Another loop may take the time", words(shape))
        self.assertNotIn("Another loop", words(out))

    def test_isa_shows_live_registers_per_instruction_and_their_maximum(self):
        target = ("--target", "gfx900")
        out, _ = self.lab("isa", "pitch_loop", *target, "--live")
        lines = out.splitlines()
        most, at = map(lambda text: int(text, 0), re.match(r"live registers at most: v (\d+) at (0x[0-9a-f]+)", lines[1]).groups())
        self.assertRegex(lines[2], r"^ +v( +\w+)* +live, while the instruction executes$")
        seen = {int(m[2], 16): int(m[1]) for m in re.finditer(r"(?m)^ +(\d+)(?: +\d+)* +([0-9a-f]+):  \S", "\n".join(lines[3:]))}
        self.assertEqual(seen[at], most)
        self.assertEqual(max(seen.values()), most)
        # The same numbers stand beside the code that runs, and the sentence without the instructions.
        hot, _ = self.lab("isa", "pitch_loop", *target, "--live", "--hot")
        for m in re.finditer(r"(?m)^ +(\d+)(?: +\d+)* +([0-9a-f]+):  \S", hot):
            self.assertEqual(seen[int(m[2], 16)], int(m[1]))
        self.assertIn(lines[1], hot)
        summary, _ = self.lab("isa", "pitch_loop", *target, "--live", "--summary")
        self.assertEqual(summary.splitlines()[1], lines[1])
        self.assertNotIn("while the instruction executes", summary)

    def test_impossible_options_are_refused_by_name(self):
        for args, sentence in ((["run", "pitch_loop", "--hot", "-1"], "option '--hot': expected seconds from 0 to 3600, found -1"),
                               (["isa", "pitch_loop", "--width", "39"], "option '--width': expected whole numbers from 40, found 39"),
                               (["isa", "pitch_loop", "--hot", "--summary"], "`cllab isa` takes --hot or --summary, not both"),
                               (["isa", "pitch_loop", "--live", "--vs", "pitch_swar"],
                                "`cllab isa`: --live cannot be combined with --vs or with several --target"),
                               (["isa", "pitch_loop", "--source", "--vs", "pitch_swar"], "`cllab isa`: --source cannot be combined with --target, --summary or --vs")):
            _, err = self.lab(*args, status=2)
            self.assertIn(sentence, lab.words(err))


if __name__ == "__main__":
    lab.main()
