"""A user's kernel that is wrong: each rung of the ladder of proofs catches it, and what it does outside of its buffers is named. And a table
of wrong inputs, each of which ends with one sentence that names file and line, and status 2."""
import concurrent.futures
import unittest

from kernel_files import KERNELS, KernelFileTest, floats
from lab import OCLGRIND_LIBRARY, main
from wrong_kernel_files import BLOCK, DATA, WRONG, npy


class WrongKernels(KernelFileTest):
    def test_one_wrong_element_is_detected_by_each_check(self):
        bad = "dst[i] = i == 77 ? 3.0f : src[i] + 1"
        good = "__kernel void good(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = src[i] + 1; }\n"
        wrong = "__kernel void wrong(__global const float* src, __global float* dst) { const int i = get_global_id(0); " + bad + "; }\n"
        block = "/*cllab\narg src = iota:256\narg dst = out:256\nglobal 256\n{}*/\n"
        (self.folder / "gold.npy").write_bytes(npy("<f4", "(256,)", floats([i + 1 for i in range(256)])))
        by_file = self.check(block.format("expect dst = gold.npy\n") + good + wrong, status=1)
        self.assertEqual([(r["variant"], r["status"], r.get("checked_by")) for r in by_file], [("good", "ok", "file gold.npy"), ("wrong", "wrong_result", None)])
        self.assertRegex(by_file[1]["reason"], r"^dst\[77\] is 3, expected 78; \d+ of \d+ elements differ$")
        by_reference = self.check(block.format("reference good\n").replace("iota", "rand") + good + wrong, status=1)
        self.assertEqual([(r["status"], r.get("checked_by")) for r in by_reference], [("ok", "is the reference"), ("wrong_result", None)])
        self.assertIn("the reference 'good' has", by_reference[1]["reason"])
        by_agreement = self.check(block.format("same good, wrong\n").replace("iota", "rand") + good + wrong, status=1)
        self.assertEqual([(r["status"], r.get("checked_by")) for r in by_agreement], [("disagree", None)] * 2)
        self.assertIn("'good' has", by_agreement[1]["reason"])
        self.assertRegex(by_agreement[0]["reason"], r"^dst\[77\] is \S+, 'wrong' has \S+; 1 of 256 elements differ; a line 'reference NAME' says which one is right$")
        third = good.replace("good", "third").replace("src[i] + 1", "1 + src[i]")
        outvoted = self.check(block.format("same good, third, wrong\n").replace("iota", "rand") + good + third.replace("+ src", "+ 1.0f * src") + wrong, status=1)
        self.assertEqual(outvoted[2]["status"], "disagree")
        unstable = "__kernel void unstable(__global uint* dst) { uint n = 0; for (uint i = 0; i < 4096; ++i) n = n * 1664525u + (uint)(ulong)dst; dst[get_global_id(0)] = atomic_inc(dst + 64) + n; }\n"
        by_itself, = self.check("/*cllab\narg dst = zero:65\nglobal 64\n*/\n" + unstable.replace("n = n * 1664525u + (uint)(ulong)dst", "n = 0"))
        self.assertEqual(by_itself["checked_by"], "only itself")
        self.assertTrue(any(w.startswith("unproved:") for w in by_itself["warnings"]))

    def test_kernel_right_for_the_first_data_only_is_detected(self):
        text = """__kernel void naive(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)]; }
__kernel void cheat(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[0] == FIRSTf ? src[get_global_id(0)] : 0; }
"""
        block = "/*cllab\narg src = rand:64\narg dst = out:64\nglobal 64\nreference naive\n*/\n"
        record = self.check(block + text.replace("src[0] == FIRSTf", "0"), "--seed", "3", status=1)[1]
        first = record["reason"].split("'naive' has ")[1].split(" ")[0].rstrip(";")
        record = self.check(block + text.replace("FIRST", first), "--seed", "3", status=1)[1]
        self.assertEqual(record["status"], "wrong_result")

    def test_unwritten_output_and_ignored_input_are_reported(self):
        block = "/*cllab\narg src = rand:256\narg dst = out:256\nglobal 256\n*/\n"
        record, = self.check(block + "__kernel void k(__global const float* src, __global float* dst) { if (src[0] > 9) dst[0] = 1; }\n", status=1)
        self.assertEqual((record["status"], record["reason"]), ("wrong_result", "it writes nothing: 'dst' holds what was there before"))
        record, = self.check(block + "__kernel void k(__global const float* src, __global float* dst) { dst[get_global_id(0)] = 1; }\n")
        self.assertTrue(any(w.startswith("input-ignored:") for w in record["warnings"]), record["warnings"])
        record, = self.check(block + "__kernel void k(__global const float* src, __global float* dst) { if (get_global_id(0) < 99) dst[get_global_id(0)] = src[0]; }\n")
        self.assertTrue(any(w.startswith("partly-written:") for w in record["warnings"]), record["warnings"])

    def test_write_outside_is_detected_in_a_child_process(self):
        block = "/*cllab\narg dst = out:256\nglobal 256\n*/\n"
        record, = self.check(block + "__kernel void k(__global float* dst) { dst[get_global_id(0) + 1] = 1; }\n", status=1)
        self.assertEqual(record["status"], "wrong_result")
        self.assertRegex(record["reason"], r"^a write of dst\[256\], 1 element past its end of 256 elements" + self.ENDED)

    # The command can be pasted: it names the file, the kernel and the options that the user gave.
    ENDED = r"; it ended the driver's process in phase 'verify'; `cllab run \S+\.cl:k --check oclgrind --device \S+` shows its line\Z"

    def test_every_buffer_is_guarded_on_both_sides_at_any_distance(self):
        block = "/*cllab\narg src = rand:250\narg dst = out:256\nglobal 256\n*/\n"
        head = "__kernel void k(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = 1; "
        past = "past its end of"
        for what, reason in [("if (i == 0) ((__global float*)src)[250] = 2;", rf"first write of src\[250\], 1 element {past} 250 elements\Z"),
                             ("if (i == 0) ((__global float*)src)[-1] = 2;", r"a write of src\[-1\], 1 element before its start" + self.ENDED),
                             ("if (i == 0) dst[256 + 70 * 256] = 2;", rf"a write of dst\[18176\], 17921 elements {past} 256 elements" + self.ENDED),
                             ("if (i == 0) dst[-70 * 256] = 2;", r"a write of dst\[-17920\], 17920 elements before its start" + self.ENDED),
                             ("if (i == 0) dst[1 << 27] = 2;", rf"a write of dst\[134217728\], 134217473 elements {past} 256 elements" + self.ENDED)]:
            with self.subTest(what=what):
                record, = self.check(block + head + what + " }\n", status=1)
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], rf"\A{reason}")
        # What is only read outside: 250 floats end 24 bytes before the next multiple of what the device aligns buffers to.
        record, = self.check(block + head + "dst[i] = src[i + 100]; }\n", status=1)
        self.assertRegex(record["reason"], r"a read of src\[\d+\], \d+ elements? past its end of 250 elements" + self.ENDED)
        record, = self.check(block + head + "dst[i] = src[i % 250]; }\n")
        self.assertEqual(record["status"], "ok")

    def test_expected_initial_data_and_idle_kernels_are_handled(self):
        (self.folder / "zeros.bin").write_bytes(bytes(256))
        text = "/*cllab\narg y = zero:64\nglobal 64\n{}*/\n__kernel void k(__global float* y) {{ if (y[get_global_id(0)] > 1) y[get_global_id(0)] = 1; }}\n"
        self.assertEqual(self.check(text.format("expect y = zeros.bin\n"))[0]["checked_by"], "file zeros.bin")
        record, = self.check(text.format(""), status=1)
        self.assertEqual(record["reason"], "it writes nothing: 'y' holds what was there before; if that may be right, add a line 'may leave y'")
        record, = self.check("/*cllab\narg n = 1\nglobal 64\n*/\n__kernel void k(int n) { }\n", status=1)
        self.assertEqual(record["reason"], "it writes no buffer and no image, so no result can be checked; give it one")

    def test_result_expected_unchanged_is_checked(self):
        text = ("/*cllab\narg found = {}\narg all = rand:64\nglobal 64\nexpect found = unchanged\n*/\n"
                "__kernel void search(__global float* found, __global const float* all) {{ if (all[get_global_id(0)] > {}) found[0] = 7; }}\n")
        self.assert_checked_by("expect unchanged", text.format("rand:64", "1.5f"))
        record, = self.check(text.format("rand:64", "-1.0f"), status=1)
        self.assertRegex(record["reason"], r"found\[0\] is 7, expected [0-9]")
        _, err = self.lab("run", self.write(text.format("out:64", "1.5f")), "--device", "cpu", status=2)
        self.assertIn("'found' has no initial data that could stay unchanged", err)

    def test_search_that_may_leave_its_output_must_be_repeatable(self):
        text = ("/*cllab\narg found = {}\narg all = rand:64\nglobal 64\nmay leave found\n*/\n"
                "__kernel void search(__global float* found, __global const float* all) {{ if (all[get_global_id(0)] > {}) found[get_global_id(0)] = 7; }}\n")
        for least in ("1.5f", "0.999f", "-1.0f"):  # nowhere, perhaps for one of the two inputs, everywhere
            self.assert_checked_by("only itself", text.format("zero:64", least))
        for wrong, says in (("may leave nothing_of_it", "has no argument 'nothing_of_it'"), ("may stay found", "'may' takes names, as in 'may leave found'"),
                            ("may leave all", "argument 'all' of kernel 'search' is a __global const float*, which the kernel never writes")):
            _, err = self.lab("run", self.write(text.format("zero:64", "1.5f").replace("may leave found", wrong)), "--device", "cpu", status=2)
            self.assert_one_sentence(err.splitlines(keepends=True)[-1], says)

    def test_undefined_function_is_named_at_link_time(self):
        record, = self.check("/*cllab\narg x = rand:64\nglobal 64\n*/\nfloat nowhere(float x);\n"
                             "__kernel void k(__global float* x) { x[get_global_id(0)] = nowhere(x[get_global_id(0)]); }\n", status=1)
        self.assertEqual(record["status"], "build_failed")
        self.assertIn("nowhere", record["reason"])

    def test_output_read_before_written_is_told_from_a_race(self):
        block = "/*cllab\narg x = rand:4096\narg y = out:4096\nglobal 4096\n*/\n"
        record, = self.check(block + "__kernel void k(__global const float* x, __global float* y) { y[get_global_id(0)] += x[get_global_id(0)]; }\n", status=1)
        self.assertEqual(record["reason"], "'y' is read before it is written; give it data, as in zero:4096")

    def test_stack_too_small_for_a_group_is_reported(self):
        text = """/*cllab
arg y = out:4096
global 4096
{}*/
__kernel void k(__global float* y) {{
    float p[4096];
    const int i = get_global_id(0);
    for (int j = 0; j < 4096; ++j) p[j] = j * i;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int j = 0; j < 4096; ++j) sum += p[(j * 7 + i) & 4095];
    y[i] = sum;
}}
"""
        for local in ("", "local 1024\n"):
            record, = self.check(text.format(local), status=1)
            self.assertEqual(record["status"], "launch_failed")
            self.assertIn("a work-group whose private memory exceeds a thread", record["reason"])
            self.assertIn("'local 16'", record["reason"])
        self.assertEqual(self.check(text.format("local 16\n"))[0]["status"], "ok")

    def test_kernel_that_only_the_device_refuses_is_a_row(self):
        block = "/*cllab\narg y = out:64\nglobal 64\nlocal 16\n*/\n"
        text = block + "float nowhere(float);\n__kernel void k(__global float* y) { y[get_global_id(0)] = nowhere(1); /* } */ }\n"
        record, = self.check(text, status=1)
        self.assertEqual(record["status"], "build_failed")
        self.assertIn("nowhere", record["build"]["log"])
        large = "__kernel void k(__global float* y) { __local float t[1 << 20]; t[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); y[get_global_id(0)] = t[15 - get_local_id(0)]; }\n"
        record, = self.check(block + large)
        self.assertEqual(record["status"], "unsupported")
        self.assertIn("this point needs 4 MiB of local memory; the device has ", record["reason"])

    def test_kernel_that_does_not_build_reports_the_place(self):
        self.write(BLOCK + "__kernel void k(__global float* d) { d[0] = nothing; }\n")
        out, err = self.lab("run", "t.cl", "--device", "cpu", status=1)
        self.assertRegex(err, r"(?m)^cllab: 't.cl' does not build: 1 error; dumps/\S+/t_k/build.log has the whole log$")
        self.assertRegex(err, r"(?m)^t.cl:9:(\d+): error: .*'nothing'\n.* d\[0\] = nothing; .*\n *\^$")
        self.assertIn("error", next(self.folder.glob("dumps/*/t_k/build.log")).read_text())
        _, err = self.lab("run", "t.cl", "--device", "cpu", "--print-block", status=1)
        self.assert_one_sentence(err, "'t.cl' does not build: t.cl:9:", "nothing")
        self.write("__kernel void k(__global half* d) { d[0] = d[1] * (half)2; }\n")  # PoCL on x86 has no cl_khr_fp16
        out, err = self.lab("run", "t.cl", "--device", "cpu", status=1)
        for words in ("t.cl:1:", "'half'", "cl_khr_fp16", "vload_half"):
            self.assertIn(words, err)

    def test_unverified_kernel_that_changes_its_data_is_pointed_to_the_check_for_races(self):
        text = "/*cllab\narg d = {}:float:4096\nglobal 4095\n*/\nkernel void k(global float* d) {{ size_t i = get_global_id(0); d[i] = {}; }}\n"
        for given, value, said in (("rand", "0.5f * (d[i] + d[i + 1])", True), ("out", "i", False)):
            record, = self.check(text.format(given, value))
            warning, = [w for w in record["warnings"] if w.startswith("unproved:")]
            self.assertEqual("--check oclgrind finds races" in warning, said, warning)

    def test_long_log_is_cut_and_a_caret_follows_tabs(self):
        self.write("__kernel void k(__global int* d) {\n" + "".join(f"\td[{i}] = no{i};\n" for i in range(15)) + "}\n")
        _, err = self.lab("run", "t.cl", "--device", "cpu", "--axis", "n=4", "--no-dumps", status=1)
        self.assertIn("'t.cl' does not build: 15 errors; without --no-dumps", err)
        self.assertIn("\n\td[0] = no0;\n\t       ^\n", err)
        self.assertRegex(err, r"(?m)^\(\d+ more lines\)$")
        self.assertNotIn("no9;", err)

    def test_file_that_does_not_build_stops_no_other_file(self):
        good = "/*cllab\narg d = out:64\nglobal 64\n*/\n__kernel void k(__global int* d) { d[get_global_id(0)] = 1; }\n"
        self.write(good, "good.cl")
        self.write(good.replace("= 1", "= nothing").replace("void k", "void j"), "bad.cl")
        self.write(good.replace("= 1", "= nothing").replace("void k", "void NAME"), "macro.cl")
        self.write("#define KERNEL __kernel void k\nKERNEL(__global int* d) { d[0] = nothing; }\n", "hidden.cl")
        self.lab("run", "good.cl", "bad.cl", "macro.cl", "hidden.cl", "--device", "cpu", "--no-dumps", "--json", "r.jsonl", status=1)
        self.assertEqual({r["id"]: r["status"] for r in self.records()},
                         {"good_k": "ok", "bad_j": "build_failed", "macro_NAME": "build_failed", "hidden_unknown": "build_failed"})


    def test_endless_kernel_is_one_row(self):
        record, = self.check("/*cllab\narg d = zero:64\nglobal 64\n*/\n__kernel void k(__global volatile int* d) { while (d[0] == 0); }\n", "--timeout", "2", status=1)
        self.assertEqual(record["status"], "timed_out")
        self.assertIn("an endless loop, or a write outside of a buffer, or a slow compiler", record["reason"])

    @unittest.skipIf(OCLGRIND_LIBRARY is None, "Oclgrind is not installed")
    def test_oclgrind_finds_races_and_reads_outside_with_their_lines(self):
        self.write("""/*cllab
axis n = 1024
arg src = rand:n
arg dst = out:n
arg sum = zero:1
global n
*/
__kernel void good(__global const int* src, __global int* dst) { dst[get_global_id(0)] = src[get_global_id(0)]; }
__kernel void bad(__global const int* src, __global int* dst, __global int* sum) {
    dst[get_global_id(0)] = src[get_global_id(0) + 1];
    sum[0] += 1;
}
""")
        out, err = self.lab("run", "t.cl:good", "--check", "oclgrind")
        self.assertIn("t_good in Oclgrind at n=1024: no race, no uninitialised value, no access outside", out)
        out, err = self.lab("run", "t.cl:bad", "--check", "oclgrind", status=1)
        self.assertRegex(out, r"t.cl:10: Invalid read of size 4 in global memory in kernel 'bad'")
        self.assertRegex(out, r"t.cl:11: [^\n]*race in global memory in kernel 'bad'")

        # 1024 bins are too few for these values: what is found at a smaller size than the file's names that size.
        self.write("""/*cllab
axis n = 4096
arg data = rand:uint:n:0:2047
arg histo = zero:n
global n
*/
__kernel void counts(__global const uint* data, __global uint* histo) { atomic_inc(&histo[data[get_global_id(0)]]); }
""")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind")
        self.assertIn("t_counts in Oclgrind at n=4096: no race, no uninitialised value, no access outside", out)
        self.write((self.folder / "t.cl").read_text().replace("n = 4096", "n = 8388608"))
        out, err = self.lab("run", "t.cl", "--check", "oclgrind", "--timeout", "4", status=1)
        self.assertRegex(out, r"t_counts in Oclgrind at n=1024, as its own size takes too long or does not run: \d places?\n  t.cl:7: Invalid")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind", "-a", "n=8388608", "--timeout", "4", status=1)  # a size that is asked for stays
        self.assertIn("t_counts in Oclgrind at n=8388608: not checked: while it ran, no progress for 4.00 s", out)

        # A kernel that says more than Oclgrind may say hides nothing of the other one.
        self.write("""/*cllab
axis n = 16384
arg src = rand:n
arg dst = out:n
global n
*/
__kernel void all(__global const uint* src, __global uint* dst) { dst[0] += src[get_global_id(0)]; }
__kernel void beside(__global const uint* src, __global uint* dst) { dst[get_global_id(0)] = src[get_global_id(0) + 1]; }
""")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind", "-a", "n=16384", status=1)
        self.assertRegex(out, r"t.cl:8: Invalid read of size 4 in global memory in kernel 'beside', once")

        # To Oclgrind texels and sizes of images are values that nobody wrote.
        self.write("/*cllab\narg src = rand:rgba8ui:8,8\narg dst = out:64\nglobal 8,8\n*/\n"
                   "__kernel void texels(read_only image2d_t src, __global uint4* dst) {\n"
                   "    const int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
                   "    if (p.x < get_image_width(src)) dst[p.y * get_image_width(src) + p.x] = read_imageui(src, p);\n}\n")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind")
        self.assertRegex(out, r"t_texels in Oclgrind: no race, no access outside \(uninitialised values: Oclgrind cannot look for them here\)")

        out, err = self.lab("run", KERNELS / "soften.cl", "--check", "oclgrind", timeout=60)  # whose sampler hung it
        self.assertIn("soften_soften in Oclgrind at w=256 h=128: no race, no uninitialised value, no access outside", out)
        self.write("/*cllab\narg dst = out:4\nglobal 4\n*/\n__kernel void stuck(__global volatile int* dst) { while (dst[0] != 7) dst[0] = 6; }\n")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind", "--timeout", "2", timeout=60, status=1)
        self.assertRegex(out, r"t_stuck in Oclgrind: not checked: while it ran, no progress for 2.00 s")


class WrongInputs(KernelFileTest):
    def start(self, *args, cwd=None, **more):
        if cwd is None:
            return super().start(*args, **more)
        folder, self.folder = self.folder, cwd
        try:
            return super().start(*args, **more)
        finally:
            self.folder = folder

    def test_invalid_inputs_end_with_one_sentence(self):
        self.assertGreaterEqual(len(WRONG), 60)

        def judge(numbered):
            number, (name, text, args, parts) = numbered
            folder = self.folder / str(number)
            folder.mkdir()
            for file, content in DATA.items():
                (folder / file).write_bytes(content)
            if text is not None:
                (folder / "t.cl").write_text(text)
            patterns = args if args and not args[0].startswith("--") else ["t.cl", *args]
            process = self.start("run", *patterns, "--device", "cpu", "--no-dumps", cwd=folder)
            out, err = process.communicate(timeout=120)
            trouble = []
            if process.returncode != 2: trouble.append(f"status {process.returncode}")
            if out: trouble.append(f"stdout {out!r}")
            lines = err.splitlines()
            if len(lines) != 1 or not err.startswith("cllab: "): trouble.append("not one sentence")
            trouble += [f"lacks {part!r}" for part in parts if part not in err]
            return f"{name}: {', '.join(trouble)}: {err}" if trouble else None

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            wrong = [text for text in pool.map(judge, enumerate(WRONG)) if text]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    main()
