#!/usr/bin/env python3
"""A kernel file of which nothing is said: what is guessed, that it runs, and what is asked for. tests/kernels/guess are such files."""
import os
import re
import unittest

from kernel_files import KERNELS, KernelFileTest
from lab import OCLGRIND_LIBRARY, SOURCE, main

GUESSED = sorted((KERNELS / "guess").glob("*.cl"))
# What the counter of compact holds after many launches is outside of any buffer; positions and starts of rows have a meaning.
ASKED = {"compact", "scatter", "spmv"}
BLOCKS = SOURCE / "tests" / "golden" / "guessed_blocks.txt"
QUICK = ("--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.02")

SAXPY = """__kernel void saxpy(const float a, __global const float* x, __global float* y, const int n) {
    const int i = get_global_id(0);
    if (i < n) y[i] += a * x[i];
}
"""

COPY = """__kernel void {0}(__global const {1}* a, __global {1}* b, int {2}) {{
    int i = get_global_id(0);
    if (i < {2}) b[i] = a[i];
}}
"""
TRANSPOSE = """__kernel void turn(__global const float* in, __global float* out, int n) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n) out[x * n + y] = in[y * n + x];
}
"""
DOT = """__kernel {0}void dot1(__global const float* a, __global const float* b, __global float* out, int n) {{
    float s = 0;
    for (int i = 0; i < n; ++i) s += a[i] * b[i];
    out[0] = s;
}}
"""


class Guesses(KernelFileTest):
    def block(self, text, *args, **more):
        return self.lab("run", self.write(text), "--device", "cpu", "--print-block", *args, **more)[0]

    def test_guessed_block_equals_the_handwritten_one(self):
        found = ""
        for path in GUESSED:
            out, _ = self.lab("run", path, "--device", "cpu", "--print-block", status=None)
            found += f"{path.stem}\n{out}\n"
        if os.environ.get("CLLAB_UPDATE_GOLDEN") == "1":
            BLOCKS.write_text(found)
        self.assertEqual(found, BLOCKS.read_text())

    def test_kernels_without_a_block_run_and_are_right(self):
        files = [path for path in GUESSED if path.stem not in ASKED]
        self.lab("run", *files, "--verify", "--points", "first", *QUICK, "--json", "r.jsonl")
        records = self.records()
        self.assertGreaterEqual(len(records), len(files))
        self.assertEqual([r["id"] for r in records if r["status"] != "ok"], [])

    def test_guess_is_printed_once_before_the_table_with_its_assumptions(self):
        out, err = self.lab("run", self.write(SAXPY), *QUICK)
        self.assertEqual(err.count("guessed (by Oclgrind at n="), 1, err)
        self.assertIn("arg y = rand:n\n", err)
        self.assertNotIn("defaults are used", err)
        self.assertIn(" ok ", out)

    def test_kernels_are_compared_only_on_equal_data(self):
        text = SAXPY + SAXPY.replace("saxpy", "scaled").replace("+=", "=")
        name = self.write(text)
        _, err = self.lab("run", f"{name}:saxpy", "--vs", f"{name}:scaled", *QUICK, status=2)
        self.assertIn("the guesses for 'saxpy' and 'scaled' differ: 'arg y = rand:n' and 'arg y = out:n'", err)
        # Said for both, they are compared, and found to leave different results.
        out, err = self.lab("run", f"{name}:saxpy", "--vs", f"{name}:scaled", *QUICK, "--arg", "y=rand:n", status=1)
        self.assertIn("2 cells: 2 disagree", out)

    def test_kernels_of_the_same_data_get_one_size(self):
        loop = COPY.format("loop", "float", "n").replace("b[i] = a[i]", "{ float s = 0; for (int k = 0; k < n; ++k) s += a[k]; b[i] = s; }")
        name = self.write(COPY.format("copy", "float", "n") + loop)
        block = self.lab("run", name, "--device", "cpu", "--print-block")[0]
        self.assertEqual(re.findall(r"(?m)^axis .*", block), ["axis n = 4096"])
        self.lab("run", f"{name}:loop", "--vs", f"{name}:copy", *QUICK, status=1)  # --vs does not refuse them either
        # The parameters have different names, so the buffers have the same bytes.
        block = self.block(COPY.format("ones", "float", "n") + COPY.format("fours", "float4", "n4"))
        self.assertEqual(re.findall(r"(?m)^axis .*", block), ["axis n = 1Mi", "axis n4 = 256Ki"])

    def test_kernels_of_different_guessed_sizes_are_not_ranked(self):
        name = self.write(COPY.format("copy", "float", "n") + TRANSPOSE)
        out, _ = self.lab("run", name, *QUICK)
        out = " ".join(out.split())
        self.assertIn("None of 2 variants is ranked, because their guessed sizes differ; --axis n=1024 sets one size for all.", out)
        self.assertIn("the guessed sizes differ between the kernels (here n_turn=1024), so only rows of one size are ranked", out)
        self.assertNotIn("fastest", out)
        block = self.block(COPY.format("copy", "float", "n") + TRANSPOSE, "--axis", "n=1024")
        self.assertEqual(re.findall(r"(?m)^global .*", block), ["global n", "global n,n"])
        out, _ = self.lab("run", name, *QUICK, "--axis", "n=1024")
        self.assertNotIn("guessed sizes differ", " ".join(out.split()))

    def test_kernels_with_other_buffers_are_not_ranked(self):
        fill = "__kernel void fill(__global float* b, int n) { if (get_global_id(0) < n) b[get_global_id(0)] = 1; }\n"
        name = self.write(COPY.format("copy", "float", "n") + fill)
        out = " ".join(self.lab("run", name, *QUICK)[0].split())
        self.assertRegex(out, r"None of 2 variants is ranked, because they may do unlike work: the buffers of \w+_fill have 4.19 MB, those of \w+_copy 8.39 MB")
        self.assertNotIn("vs best", out)
        # As the sentence says, a reference shows that they solve one problem.
        same = COPY.format("twice", "float", "n").replace("__global float* b", "__global float* b, __global const float* more") + COPY.format("copy", "float", "n")
        out = " ".join(self.lab("run", self.write(same, "same.cl"), *QUICK, "--arg", "twice:more=rand:n")[0].split())
        self.assertIn("None of 2 variants is ranked", out)
        (self.folder / "same.cllab").write_text("kernel twice\nreference copy\n")
        out = " ".join(self.lab("run", "same.cl", *QUICK, "--arg", "twice:more=rand:n")[0].split())
        self.assertIn("vs best", out)
        self.assertNotIn("None of 2", out)

    def test_loop_of_a_single_work_item_takes_measurable_time(self):
        for attribute, args in (("", ()), ("__attribute__((reqd_work_group_size(1, 1, 1))) ", ()), ("", ("--global", "1"))):
            with self.subTest(attribute=attribute, args=args):
                block = self.block(DOT.format(attribute), *args)
                self.assertIn("axis n = 64Ki\n", block)
                self.assertIn("arg a = rand:n\n", block)
                self.assertNotIn("global n", block)

    def test_access_too_far_away_is_named(self):
        for index, why in (("i * 100000000L", r"dst\[6300000000\] at n=64"), ("i - 10", "memory before the start of dst")):
            _, err = self.lab("run", self.write(COPY.format("far", "float", "n").replace("* b", "* dst").replace("b[i]", f"dst[{index}]")), *QUICK, status=2)
            self.assertRegex(err, f"dst cannot be guessed, because the kernel accesses {why}; add lines such as 'arg dst = ")

    def test_each_file_has_its_own_block(self):
        names = [self.write(SAXPY, "new.cl"), self.write(SAXPY.replace("y[i] += a * x[i]", "y[i] = y[i] + a * x[i]"), "old.cl")]
        out, _ = self.lab("run", f"{names[0]}:saxpy", "--vs", f"{names[1]}:saxpy", "--device", "cpu", "--print-block")
        blocks = re.findall(r"/\*cllab\n(.*?)\*/", out, re.S)
        self.assertEqual(len(blocks), 2, out)
        for name, block in zip(names, blocks):
            self.assertRegex(block, r"(?m)^axis n = ")
            (self.folder / name).with_suffix(".cllab").write_text(block)
            self.lab("run", f"{name}:saxpy", *QUICK)

    def test_guess_for_one_side_must_match_the_block_of_the_other(self):
        said = self.write("/*cllab\narg a = 0.5\narg x = rand:n\narg y = zero:n\narg n = n\naxis n = 4096\nglobal n\n*/\n" + SAXPY, "said.cl")
        name = self.write(SAXPY.replace("saxpy", "other"), "guessed.cl")
        _, err = self.lab("run", f"{name}:other", "--vs", f"{said}:saxpy", *QUICK, status=2)
        self.assertRegex(err, r"differ: 'arg y = (rand:n' and 'arg y = zero:n|zero:n' and 'arg y = rand:n)'")

    def test_fully_described_kernel_is_not_called_guessed(self):
        said = self.write("/*cllab\nkernel never\narg y = out:64\narg n = 1\nglobal 64\n*/\n" + SAXPY +
                          "kernel void never(global float* y, int n) { if (n < 0) y[get_global_id(0)] = n; }\n")
        self.lab("run", said, *QUICK, "--json", "r.jsonl", status=1)
        records = {r["variant"]: r for r in self.records()}
        self.assertEqual({v: r["status"] for v, r in records.items()}, {"saxpy": "ok", "never": "wrong_result"})
        self.assertNotIn("guessed", records["never"]["reason"])

    def test_failing_row_says_that_its_values_were_guessed(self):
        name = self.write("kernel void never(global float* y, int n) { if (n < 0) y[get_global_id(0)] = n; }")
        self.lab("run", name, *QUICK, "--json", "r.jsonl", "--arg", "y=out:64", status=1)
        (record,) = self.records()
        self.assertEqual(record["status"], "launch_failed")
        self.assertIn("; sizes and values were guessed, which may be the cause", record["reason"])

    def test_right_kernel_that_keeps_guessed_data_is_not_wrong(self):
        for kernel in ("kernel void k(global int* found, global const float* x, int n) { const int i = get_global_id(0); if (i < n && x[i] >= 0) found[i] = 1; }",
                       "kernel void k(global float* x, int n) { const int i = get_global_id(0); if (i < n) x[i] = max(x[i], 0.0f); }"):
            record, = self.check(kernel + "\n")
            self.assertEqual(record["status"], "ok", record["reason"] if "reason" in record else record)
        self.assertTrue(any(w.startswith("unwritten: 'x'") for w in record["warnings"]), record["warnings"])

    def test_meaningful_values_are_asked_for(self):
        rows = ("kernel void k(global const int* row, global const float* v, global float* y, int n) { const int i = get_global_id(0); if (i >= n) return;"
                " float s = 0; for (int j = row[i]; j < row[i + 1]; ++j) s += v[j]; y[i] = s; }\n")
        scatter = "kernel void k(global const int* to, global const float* x, global float* y, int n) { const int i = get_global_id(0); if (i < n) y[to[i]] = x[i]; }\n"
        count = "kernel void k(global const float* x, global float* y, int zork) { const int i = get_global_id(0); float s = 0; for (int k = 0; k < zork; ++k) s += x[i] * k; y[i] = s; }\n"
        for text, name in ((rows, "row"), (scatter, "to"), (count, "zork")):
            _, err = self.lab("run", self.write(text), *QUICK, status=2)
            self.assertRegex(err, rf": {name}\b.* cannot be guessed")

    def test_block_of_guesses_and_suggestions_runs(self):
        head = "const int i = get_global_id(0); if (i >= {}) return; "
        asked = {
            "segmented sum": "global const int* start, global const float* v, global float* y, int segments) {" + head.format("segments") +
                             "float a = 0; for (int j = start[i]; j < start[i + 1]; ++j) a += v[j]; y[i] = a; }",
            "product with a sparse matrix": "global const float* v, global const int* column, global const int* row, global const float* x, global float* y, int rows, int nonzeros) {" +
                                            head.format("rows") + "float a = 0; for (int j = row[i]; j < row[i + 1] && j < nonzeros; ++j) a += v[j] * x[column[j]]; y[i] = a; }",
            "longest edge of each node": "global const uint* first, global const uint* to, global const float2* place, global float* y, uint nodes) {" + head.format("nodes") +
                                         "float a = 0; for (uint e = first[i]; e < first[i + 1]; ++e) a = fmax(a, distance(place[i], place[to[e]])); y[i] = a; }",
            "chain of pointers": "global const int* next, global int* y, int n) {" + head.format("n") + "int p = i; for (int k = 0; k < 20; ++k) p = next[p]; y[i] = p; }",
            "scatter": "global const int* to, global const float* x, global float* y, int n) {" + head.format("n") + "y[to[i]] = x[i]; }",
            "compaction": "global const float* x, global float* y, global int* passed, int n) {" + head.format("n") + "if (x[i] > 0.5f) y[atomic_inc(passed)] = x[i]; }",
            "steps": "global const float* x, global float* y, int zork, int n) {" + head.format("n") + "float a = 0; for (int j = 0; j < zork; ++j) a += x[i * zork + j]; y[i] = a; }"}
        guessed = {"gather": "global const int* from, global const float* x, global float* y, int n) {" + head.format("n") + "y[i] = x[from[i]]; }",
                   "histogram of numbers": "global const float* x, global int* count, int n, int nbins) {" + head.format("n") + "atomic_inc(&count[min((int)(x[i] * nbins), nbins - 1)]); }",
                   "histogram": "global const uint* data, global uint* count, uint bins, int n) {" + head.format("n") + "atomic_inc(&count[data[i] % bins]); }",
                   "histogram of hashes": "global const uint* data, global uint* count, int n) {" + head.format("n") + "atomic_inc(&count[(data[i] * 2654435761u) >> 24]); }",
                   "histogram with a last bin": "global const uint* data, global uint* count, int n) {" + head.format("n") + "atomic_inc(&count[min(data[i], 255u)]); }",
                   "gather within the border": "global const int* from, global const float* x, global float* y, int n) {" + head.format("n") + "y[i] = x[clamp(from[i], 0, n - 1)]; }"}
        for name, text in asked.items():
            with self.subTest(kernel=name):
                (self.folder / "t.cllab").unlink(missing_ok=True)
                self.write("kernel void k(" + text)
                _, err = self.lab("run", "t.cl", *QUICK, status=2)
                block = err.split("t.cllab:\n")[1].split("cllab: ")[0]
                advised = re.findall("'((?:arg|relation) [^']*)'", err)
                self.assertGreater(len(advised), 0, err)
                (self.folder / "t.cllab").write_text(block + "\n".join(advised) + "\n")
                self.lab("run", "t.cl", *QUICK, "--json", "r.jsonl", "--force")
                self.assertEqual([r["status"] for r in self.records()], ["ok"])
        for name, text in guessed.items():
            with self.subTest(kernel=name):
                (self.folder / "t.cllab").unlink(missing_ok=True)
                self.assertEqual([r["status"] for r in self.check("kernel void k(" + text)], ["ok"])

    def test_size_is_rounded_to_the_required_group(self):
        for group in ("12, 1, 1", "7, 1, 1"):
            record, = self.check(f"kernel __attribute__((reqd_work_group_size({group}))) void k(global float* x) {{ x[get_global_id(0)] += 1; }}\n")
            self.assertEqual((record["status"], record["point"]["n"] % int(group.split(",", maxsplit=1)[0])), ("ok", 0))

    def test_named_kernel_is_never_skipped(self):
        name = self.write((KERNELS / "guess" / "compact.cl").read_text() + SAXPY)
        self.lab("run", name, *QUICK)
        _, err = self.lab("run", name, f"{name}:compact", *QUICK, status=2)
        self.assertIn(": out cannot be guessed", err)

    def test_arguments_of_a_reference_are_guessed(self):
        plain = SAXPY.replace("saxpy", "plain").replace("[i]", "[n - 1 - i]")  # other machine code
        name = self.write(SAXPY + plain)
        self.write(plain, "other.cl")
        for reference in ("plain", "other.cl:plain"):
            out, err = self.lab("run", f"{name}:saxpy", "--reference", reference, *QUICK, "--json", "r.jsonl", "--force")
            record, = self.records()
            self.assertEqual((record["status"], record["checked_by"]), ("ok", "reference " + reference.replace(".cl:", "_")), err)

    def test_user_values_win_and_the_rest_is_guessed(self):
        self.assertNotIn("arg n", self.block(SAXPY, "--arg", "n=5000"))
        self.assertIn("arg x = rand:n", self.block(SAXPY, "--arg", "n=5000"))
        self.assertNotIn("global", self.block(SAXPY, "--global", "4096"))
        self.assertIn("arg n = 4096", self.block(SAXPY, "--global", "4096"))
        record, = self.check(SAXPY, "--axis", "n=3000", "--arg", "a=2")
        self.assertEqual((record["status"], record["point"]["n"]), ("ok", 3000))

    def test_a_guessed_size_fits_the_data_that_the_user_gives(self):
        scale = "kernel void scale(global const float* src, global float* dst) { size_t i = get_global_id(0); dst[i] = src[i] + src[i + 2]; }\n"
        for given, size in ((5000, 4096), (4098, 4096), (4097, 2048)):
            record, = self.check(scale, "--arg", f"src=rand:{given}")
            self.assertEqual((record["status"], record["point"]["n"]), ("ok", size), record)

    def test_guessed_size_is_not_limited_by_given_data_that_grows_with_it(self):
        segsum = """kernel void segsum(global const int* start, global const float* values, global float* sums, int segments) {
            int i = get_global_id(0);
            float s = 0;
            if (i < segments) for (int j = start[i]; j < start[i + 1]; ++j) s += values[j];
            if (i < segments) sums[i] = s;
        }
        """
        block = self.block(segsum, "--arg", "start=offsets:segments+1:4*segments", "--arg", "values=rand:4*segments")
        self.assertIn("axis segments = 1Mi\n", block)

    def test_axis_used_by_neither_file_nor_guess_is_refused(self):
        _, err = self.lab("run", self.write(SAXPY), "--axis", "rows=5", *QUICK, status=2)
        self.assertIn("uses an axis 'rows'", err)

    def test_without_the_simulator_values_are_guessed_from_the_text(self):
        out, err = self.lab("run", self.write(SAXPY), *QUICK, env=self.environment(CLLAB_COUNT_PLUGIN="/nowhere"))
        self.assertIn("guessed (by the text", err)
        self.assertIn(" ok ", out)

    def test_block_is_written_next_to_the_file_and_never_overwritten(self):
        name = self.write(SAXPY)
        self.lab("run", name, "--device", "cpu", "--write-block")
        written = (self.folder / "t.cllab").read_text()
        self.assertIn("global n\n", written)
        _, err = self.lab("run", name, *QUICK)
        self.assertNotIn("guessed", err)
        (self.folder / "t.cllab").write_text("arg a = 3\n")
        _, err = self.lab("run", name, "--device", "cpu", "--write-block", status=2)
        self.assertIn("never overwrites a file", err)
        self.assertEqual((self.folder / "t.cllab").read_text(), "arg a = 3\n")

    def test_unguessable_value_gets_one_question_and_other_kernels_run(self):
        path = KERNELS / "guess" / "compact.cl"
        _, err = self.lab("run", path, *QUICK, status=2)
        self.assertIn("'compact'", err)
        self.assertIn(": out cannot be guessed", err)
        text = path.read_text() + "__kernel void twice(__global float* x) { x[get_global_id(0)] *= 2.0f; }\n"
        records = self.check(text)
        self.assertEqual([(r["variant"], r["status"]) for r in records], [("twice", "ok")])

    def test_empty_kernel_is_skipped_and_refused_if_alone(self):
        empty = "__kernel void reserved(__global float* x) {\n    // nothing yet\n}\n"
        self.assertEqual([(r["variant"], r["status"]) for r in self.check(SAXPY + empty)], [("saxpy", "ok")])
        _, err = self.lab("run", self.write(empty, "alone.cl"), *QUICK, status=2)
        self.assertIn("kernel 'reserved' of 'alone.cl' has an empty body", err)

    def test_struct_gets_no_random_bytes_if_only_the_launch_is_given(self):
        text = ("typedef struct { uint length; uint letters[7]; } Word;\n"
                "__kernel void sums(__global const Word* words, __global uint* out) {\n"
                "    uint sum = 1;\n    for (uint i = 0; i < words[get_global_id(0)].length; ++i) sum += words[get_global_id(0)].letters[i];\n"
                "    out[get_global_id(0)] = sum;\n}\n")
        self.assertIn("arg words = zero:", self.block(text, "--global", "64"))
        record, = self.check(text, "--global", "64")
        self.assertEqual(record["status"], "ok")

    def test_endless_kernel_is_guessed_from_the_text_quickly(self):
        out = self.block("__kernel void k(__global volatile float* go, __global int* y) {\n"
                         "    while (go[0] == 0) {}\n    y[get_global_id(0)] = 1;\n}\n", timeout=60)
        self.assertIn("arg y = out:n", out)

    def test_other_commands_guess_too(self):
        name = self.write(SAXPY)
        out, err = self.lab("count", name)
        self.assertIn("float32 fma", out)
        # Only `run` prints the whole block.
        self.assertRegex(err, rf"guessed n=1Mi \(by Oclgrind at [^)]*\); `cllab run {name} --print-block` prints the guessed block")
        self.assertNotIn("arg x", err)
        self.lab("dump", name, "--device", "cpu", "--no-dumps")
        two = SAXPY + SAXPY.replace("saxpy", "other").replace("a * x[i]", "x[i] * a + 0.0f")
        out, _ = self.lab("run", f"{self.write(two, 'two.cl')}:saxpy", "--vs", "other", *QUICK[:-1], "0.3")
        self.assertIn("other", out)


if __name__ == "__main__":
    if not OCLGRIND_LIBRARY:
        print("skipped: Oclgrind is not installed")
        raise SystemExit(77)
    main()
