"""A user's own kernel: the files of tests/kernels, each rung of the ladder of proofs, and a table of wrong inputs, each of
which ends with one sentence that names file and line, and status 2."""
import concurrent.futures
import re
import shutil
import struct
import unittest

from lab import CLLAB, OCLGRIND_LIBRARY, SOURCE, LabTest, main, words
from wrong_kernel_files import BLOCK, DATA, SCALE, WRONG, npy

KERNELS = SOURCE / "tests" / "kernels"


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


class KernelFiles(LabTest):
    def write(self, text, name="t.cl"):
        (self.folder / name).write_text(text)
        return name

    def check(self, text, *args, status=0, name="t.cl"):
        """Runs the file small and quick; its records."""
        self.write(text, name)
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        self.lab("run", name, "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl", *args, status=status)
        # In the order of the plan; those that fail are done first.
        return sorted(self.records(), key=lambda r: (r["run"]["order"]["comparison"], r["run"]["order"]["position"]))

    def test_wrong_inputs_end_with_one_sentence(self):
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

    def test_the_lines_that_are_asked_for_make_a_file_that_runs(self):
        kernel = ("__kernel void k(__read_only image1d_t a, __read_only image2d_t b, __read_only image3d_t c, sampler_t s, __local float* part, __global float* out) {\n"
                  "    const int i = get_global_id(0);\n    part[get_local_id(0)] = read_imagef(a, i % 64).x + read_imagef(b, s, (float2)(0.5f, i % 64)).x;\n"
                  "    out[i] = part[get_local_id(0)] + read_imagef(c, s, (float4)(1.5f, 2.5f, i % 16, 0)).x;\n}\n")
        self.write(kernel, "t.cl")
        err = self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", status=2)[1]
        lines = re.findall(r"'((?:arg|global) [^']+)'", err.split(" to a comment ")[0])
        self.assertIn("arg c = rand:16,16,16", lines)
        self.assertEqual([r["status"] for r in self.check("/*cllab\n" + "\n".join(lines) + "\nlocal 64\n*/\n" + kernel)], ["ok"])

    def start(self, *args, cwd=None, **more):
        if cwd is None:
            return super().start(*args, **more)
        folder, self.folder = self.folder, cwd
        try:
            return super().start(*args, **more)
        finally:
            self.folder = folder

    def test_the_files_of_the_tree_run_by_one_command(self):
        proofs = {"transpose.cl": "agreement of 3", "conv3x3.cl": "agreement of 2", "reduce_local.cl": "reference sum_serial", "soften.cl": "only itself", "affine.cl": "only itself"}
        self.assertEqual(set(proofs), {path.name for path in KERNELS.glob("*.cl")})
        for name, proof in proofs.items():
            with self.subTest(name=name):
                text = (KERNELS / name).read_text()
                self.assertLess(text.split("*/")[0].count("\n"), 16)
                (self.folder / "r.jsonl").unlink(missing_ok=True)
                out, err = self.lab("run", KERNELS / name, "--device", "cpu", "--max-time", "0.02", "--no-yardstick", "--json", "r.jsonl", "--dumps", "d")
                records = self.records()
                self.assertEqual({r["status"] for r in records}, {"ok"})
                self.assertIn(proof, [r["checked_by"] for r in records])
                self.assertIn("checked by", out)
                for record in records:
                    self.assertGreater(record["time"]["median"], 0)
                    self.assertTrue((self.folder / record["dump"] / "isa.txt").read_text())
                    self.assertEqual(record["build"]["source"], str(KERNELS / name))

    def test_the_example_of_the_manual_runs_as_it_stands(self):
        example = """/*cllab
axis n = 256, 1024
arg src = rand:n*n
arg dst = out:n*n
arg n = n
global n,n
*/
__kernel void tr_rows(__global const float* src, __global float* dst, int n) { int x = get_global_id(0), y = get_global_id(1); dst[x * n + y] = src[y * n + x]; }
__kernel void tr_cols(__global const float* src, __global float* dst, int n) { int x = get_global_id(1), y = get_global_id(0); dst[x * n + y] = src[y * n + x]; }
"""
        records = self.check(example, "-a", "n=64,96,128", name="transpose.cl")
        self.assertEqual([(r["id"], r["point"]["n"]) for r in records],
                         [(f"transpose_{v}", n) for n in (64, 96, 128) for v in ("tr_rows", "tr_cols")])
        self.assertEqual({r["checked_by"] for r in records}, {"agreement of 2"})

    def test_everything_may_stand_on_the_command_line(self):
        (self.folder / "panel.pgm").write_bytes(b"P5\n64 32\n255\n" + bytes(range(256)) * 8)
        text = """__kernel void invert(read_only image2d_t src, __global uchar* dst, int w, int h) {
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    const int x = get_global_id(0), y = get_global_id(1);
    dst[y * w + x] = 255 - read_imageui(src, s, (int2)(x, y)).x;
}
"""
        (self.folder / "gold.bin").write_bytes(bytes(255 - i for i in range(256)) * 8)
        arguments = ["--arg", "src=image:panel.pgm", "--arg", "dst=out:uchar:w*h", "--arg", "w=64", "--arg", "h=32", "--global", "w,h", "--expect", "dst=gold.bin"]
        self.assertEqual([r["checked_by"] for r in self.check(text, *arguments)], ["file gold.bin"])
        (self.folder / "gold.bin").write_bytes(bytes(2047) + b"\x07")
        record, = self.check(text, *arguments, status=1)
        self.assertEqual(record["status"], "wrong_result")
        self.assertEqual(record["reason"], "dst[0] is 255, expected 0")

    def test_one_wrong_element_is_caught_on_each_rung(self):
        bad = "dst[i] = i == 77 ? 3.0f : src[i] + 1"
        good = "__kernel void good(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = src[i] + 1; }\n"
        wrong = "__kernel void wrong(__global const float* src, __global float* dst) { const int i = get_global_id(0); " + bad + "; }\n"
        block = "/*cllab\narg src = iota:256\narg dst = out:256\nglobal 256\n{}*/\n"
        (self.folder / "gold.npy").write_bytes(npy("<f4", "(256,)", floats([i + 1 for i in range(256)])))
        by_file = self.check(block.format("expect dst = gold.npy\n") + good + wrong, status=1)
        self.assertEqual([(r["variant"], r["status"], r.get("checked_by")) for r in by_file], [("good", "ok", "file gold.npy"), ("wrong", "wrong_result", None)])
        self.assertEqual(by_file[1]["reason"], "dst[77] is 3, expected 78")
        by_reference = self.check(block.format("reference good\n").replace("iota", "rand") + good + wrong, status=1)
        self.assertEqual([(r["status"], r.get("checked_by")) for r in by_reference], [("ok", "is the reference"), ("wrong_result", None)])
        self.assertIn("the reference 'good' has", by_reference[1]["reason"])
        by_agreement = self.check(block.format("same good, wrong\n").replace("iota", "rand") + good + wrong, status=1)
        self.assertEqual([(r["status"], r.get("checked_by")) for r in by_agreement], [("ok", "disputed by wrong"), ("wrong_result", None)])
        self.assertIn("'good' has", by_agreement[1]["reason"])
        unstable = "__kernel void unstable(__global uint* dst) { uint n = 0; for (uint i = 0; i < 4096; ++i) n = n * 1664525u + (uint)(ulong)dst; dst[get_global_id(0)] = atomic_inc(dst + 64) + n; }\n"
        by_itself, = self.check("/*cllab\narg dst = zero:65\nglobal 64\n*/\n" + unstable.replace("n = n * 1664525u + (uint)(ulong)dst", "n = 0"))
        self.assertEqual(by_itself["checked_by"], "only itself")
        self.assertTrue(any(w.startswith("unproved:") for w in by_itself["warnings"]))

    def test_names_of_built_in_functions_are_names_like_any_other(self):
        text = """/*cllab
arg max = rand:64
arg length = out:64
arg sign = 0.5
global 64
*/
kernel void step(global const float* max, global float* length, float sign) { length[get_global_id(0)] = max[get_global_id(0)] * sign; }
"""
        record, = self.check(text)
        self.assertEqual((record["id"], record["status"]), ("t_step", "ok"))
        out, _ = self.lab("dump", "t.cl:step", "--device", "cpu", "--json", "d.jsonl")
        self.assertIn("step_workgroup", (self.folder / self.records("d.jsonl")[0]["dump"] / "isa.txt").read_text())

    def test_truth_values_of_numpy_are_bytes_of_either_sign(self):
        (self.folder / "mask.npy").write_bytes(npy("|b1", "(64,)", bytes(i % 3 == 0 for i in range(64))))
        for type_name in ("char", "uchar"):
            text = f"""/*cllab
arg mask = npy:mask.npy
arg dst = out:64
expect dst = mask.npy
global 64
*/
kernel void keep(global const {type_name}* mask, global {type_name}* dst) {{ dst[get_global_id(0)] = mask[get_global_id(0)]; }}
"""
            self.assertEqual([r["checked_by"] for r in self.check(text)], ["file mask.npy"])
        (self.folder / "t.cl").write_text(text.replace("uchar", "short"))
        self.assertIn("holds uchar", self.lab("run", "t.cl", "--device", "cpu", status=2)[1])

    def test_a_kernel_that_is_right_for_the_first_data_only_is_caught(self):
        text = """__kernel void naive(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)]; }
__kernel void cheat(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[0] == FIRSTf ? src[get_global_id(0)] : 0; }
"""
        block = "/*cllab\narg src = rand:64\narg dst = out:64\nglobal 64\nreference naive\n*/\n"
        record = self.check(block + text.replace("src[0] == FIRSTf", "0"), "--seed", "3", status=1)[1]
        first = record["reason"].split("'naive' has ")[1].split(" ")[0]
        record = self.check(block + text.replace("FIRST", first), "--seed", "3", status=1)[1]
        self.assertEqual(record["status"], "wrong_result")

    def test_what_is_not_written_or_ignores_its_input_is_said(self):
        block = "/*cllab\narg src = rand:256\narg dst = out:256\nglobal 256\n*/\n"
        record, = self.check(block + "__kernel void k(__global const float* src, __global float* dst) { if (src[0] > 9) dst[0] = 1; }\n", status=1)
        self.assertEqual((record["status"], record["reason"]), ("wrong_result", "it writes nothing: 'dst' holds what was there before"))
        record, = self.check(block + "__kernel void k(__global const float* src, __global float* dst) { dst[get_global_id(0)] = 1; }\n")
        self.assertTrue(any(w.startswith("input-ignored:") for w in record["warnings"]), record["warnings"])
        record, = self.check(block + "__kernel void k(__global const float* src, __global float* dst) { if (get_global_id(0) < 99) dst[get_global_id(0)] = src[0]; }\n")
        self.assertTrue(any(w.startswith("partly-written:") for w in record["warnings"]), record["warnings"])

    def test_a_write_outside_is_caught_in_a_child_process(self):
        block = "/*cllab\narg dst = out:256\nglobal 256\n*/\n"
        record, = self.check(block + "__kernel void k(__global float* dst) { dst[get_global_id(0) + 1] = 1; }\n", status=1)
        self.assertEqual((record["status"], record["reason"]), ("wrong_result", "a write 1 byte past the end of 'dst' ended the driver's process in phase 'verify'"))

    def test_every_buffer_is_watched_on_both_sides_and_however_far_outside(self):
        block = "/*cllab\narg src = rand:250\narg dst = out:256\nglobal 256\n*/\n"
        head = "__kernel void k(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = 1; "
        past, before = "past the end of", "before the start of"
        for what, reason in [("if (i == 0) ((__global float*)src)[250] = 2;", rf"first write \d bytes? {past} 'src'"),
                             ("if (i == 0) ((__global float*)src)[-1] = 2;", rf"first write \d bytes? {before} 'src'"),
                             ("if (i == 0) dst[256 + 70 * 256] = 2;", f"a write {70 * 1024 + 1} bytes {past} 'dst' ended the driver's process in phase 'verify'"),
                             ("if (i == 0) dst[-70 * 256] = 2;", f"a write {70 * 1024} bytes {before} 'dst' ended the driver's process in phase 'verify'"),
                             ("if (i == 0) dst[1 << 27] = 2;", f"a write {(1 << 29) - 1023} bytes {past} 'dst' ended the driver's process in phase 'verify'")]:
            with self.subTest(what=what):
                record, = self.check(block + head + what + " }\n", status=1)
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], rf"\A{reason}\Z")
        # What is only read outside: 250 floats end 24 bytes before the next multiple of what the device aligns buffers to.
        record, = self.check(block + head + "dst[i] = src[i + 100]; }\n", status=1)
        self.assertRegex(record["reason"], r"a read \d+ bytes past the end of 'src' ended the driver's process in phase 'verify'")
        record, = self.check(block + head + "dst[i] = src[i % 250]; }\n")
        self.assertEqual(record["status"], "ok")

    def test_integers_of_64_bits_are_compared_as_integers(self):
        block = "/*cllab\narg src = rand:ulong:64:1:3\narg dst = out:64\nglobal 64\n{}*/\n"
        good = "__kernel void good(__global const ulong* src, __global ulong* dst) { dst[get_global_id(0)] = 1UL << 62; }\n"
        more = good.replace("good", "more").replace("1UL << 62", "(1UL << 62) + src[get_global_id(0)]")
        records = self.check(block.format("reference good\n") + good + more, status=1)
        self.assertEqual([r["status"] for r in records], ["ok", "wrong_result"])
        (self.folder / "gold.bin").write_bytes(struct.pack("<64Q", *[2**53] * 64))
        text = "__kernel void k(__global ulong* dst) { dst[get_global_id(0)] = (1UL << 53) + 1; }\n"
        record, = self.check(block.replace("arg src = rand:ulong:64:1:3\n", "").format("expect dst = gold.bin\n") + text, status=1)
        self.assertEqual(record["reason"], "dst[0] is 9007199254740993, expected 9007199254740992")

    def test_kernels_of_one_file_that_do_different_things_do_not_accuse_each_other(self):
        text = """/*cllab
arg x = rand:64
arg y = out:64
global 64
{}*/
__kernel void first(__global const float* x, __global float* y) {{ y[get_global_id(0)] = x[0]; }}
__kernel void second(__global const float* x, __global float* y) {{ y[get_global_id(0)] = x[1]; }}
"""
        records = self.check(text.format(""))
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "only itself")] * 2)
        self.assertTrue(any(w.startswith("unlike: 'second' takes the same arguments") for w in records[0]["warnings"]), records[0]["warnings"])
        self.assertEqual([r["status"] for r in self.check(text.format("same first, second\n"), status=1)], ["ok", "wrong_result"])
        self.write(text.format("same first, third\n"))
        self.assert_one_sentence(self.lab("run", "t.cl", "--device", "cpu", status=2)[1], "t.cl:5:", "'third'", "first, second")
        self.write(text.format(""))
        self.lab("run", "t.cl:first", "--vs", "second", "--device", "cpu", "--no-dumps", "--max-time", "0.02", status=1)

    def test_what_begins_as_it_should_end_and_what_writes_nowhere(self):
        (self.folder / "zeros.bin").write_bytes(bytes(256))
        text = "/*cllab\narg y = zero:64\nglobal 64\n{}*/\n__kernel void k(__global float* y) {{ if (y[get_global_id(0)] > 1) y[get_global_id(0)] = 1; }}\n"
        self.assertEqual(self.check(text.format("expect y = zeros.bin\n"))[0]["checked_by"], "file zeros.bin")
        record, = self.check(text.format(""), status=1)
        self.assertEqual(record["reason"], "it writes nothing: 'y' holds what was there before")
        record, = self.check("/*cllab\narg n = 1\nglobal 64\n*/\n__kernel void k(int n) { }\n", status=1)
        self.assertEqual(record["reason"], "it writes no buffer and no image, so no result can be checked; give it one")

    def test_an_output_that_is_read_first_is_told_apart_from_a_race(self):
        block = "/*cllab\narg x = rand:4096\narg y = out:4096\nglobal 4096\n*/\n"
        record, = self.check(block + "__kernel void k(__global const float* x, __global float* y) { y[get_global_id(0)] += x[get_global_id(0)]; }\n", status=1)
        self.assertEqual(record["reason"], "'y' is read before it is written; give it data, as in zero:4096")

    def test_a_stack_that_is_too_small_for_a_whole_group_is_named(self):
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
        record, = self.check(text.format(""), status=1)
        self.assertEqual(record["status"], "launch_failed")
        self.assertIn("a work-group whose private memory exceeds a thread", record["reason"])
        self.assertIn("'local 16'", record["reason"])
        self.assertEqual(self.check(text.format("local 16\n"))[0]["status"], "ok")

    def test_what_only_the_device_refuses_is_a_row(self):
        block = "/*cllab\narg y = out:64\nglobal 64\nlocal 16\n*/\n"
        text = block + "float nowhere(float);\n__kernel void k(__global float* y) { y[get_global_id(0)] = nowhere(1); /* } */ }\n"
        record, = self.check(text, status=1)
        self.assertEqual(record["status"], "build_failed")
        self.assertIn("nowhere", record["build"]["log"])
        large = "__kernel void k(__global float* y) { __local float t[1 << 20]; t[get_local_id(0)] = 1; barrier(CLK_LOCAL_MEM_FENCE); y[get_global_id(0)] = t[15 - get_local_id(0)]; }\n"
        record, = self.check(block + large)
        self.assertEqual(record["status"], "unsupported")
        self.assertIn("it needs 4 MiB of local memory; the device has ", record["reason"])

    def test_floating_point_arguments_are_fractions(self):
        (self.folder / "gold.bin").write_bytes(floats([0.015625] * 64))
        text = "/*cllab\narg dst = out:64\nglobal 64\nexpect dst = gold.bin\n*/\n__kernel void k(__global float* dst, float s) { dst[get_global_id(0)] = s; }\n"
        for value in ("1/64", "1.0/64", "0.25 / 16"):
            self.assertEqual(self.check(text, "--arg", f"s={value}")[0]["checked_by"], "file gold.bin")

    def test_tolerances_are_of_three_kinds(self):
        text = """/*cllab
arg src = rand:256:1:2
arg dst = out:256
global 256
same a, b
*/
__kernel void a(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)] * 3; }
__kernel void b(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)] * 3.000001f; }
"""
        self.assertEqual([r["status"] for r in self.check(text, status=1)], ["ok", "wrong_result"])
        for tolerance in ("absolute=1e-4", "relative=1e-5", "ulp=40"):
            self.assertEqual([r["status"] for r in self.check(text, "--tolerance", tolerance)], ["ok", "ok"])
        self.assertEqual([r["status"] for r in self.check(text, "--tolerance", "ulp=1", status=1)], ["ok", "wrong_result"])

    def test_a_kernel_that_does_not_build_says_where(self):
        self.write(BLOCK + "__kernel void k(__global float* d) { d[0] = nothing; }\n")
        out, err = self.lab("run", "t.cl", "--device", "cpu", status=1)
        self.assert_one_sentence(err, "t.cl", "t.cl:9:", "nothing")

    def test_a_kernel_that_never_ends_is_one_row(self):
        record, = self.check("/*cllab\narg d = zero:64\nglobal 64\n*/\n__kernel void k(__global volatile int* d) { while (d[0] == 0); }\n", "--timeout", "2", status=1)
        self.assertEqual(record["status"], "timed_out")

    def test_variants_by_options_and_kernels_of_two_files(self):
        one = "/*cllab\narg src = rand:1024\narg dst = out:1024\nglobal 1024\n*/\n__kernel void mm(__global const float* src, __global float* dst) { dst[get_global_id(0)] = K * src[get_global_id(0)]; }\n"
        records = self.check(one, "--variant", "three=-DK=3", "--variant", "also=-DK=(2+1)", "--variant", "other=-DK=1.5f*2.0f*(float)get_work_dim()")
        self.assertEqual([(r["variant"], r["checked_by"]) for r in records], [("three", "agreement of 2"), ("also", "agreement of 2"), ("other", "agreement of 2")])
        records = self.check(one, "--variant", "three=-DK=3", "--variant", "also=-DK=(2+1)")
        self.assertEqual({r["checked_by"] for r in records}, {"only itself"})
        self.assertTrue(all(any("the same code" in w for w in r["warnings"]) for r in records))
        wrong = self.check(one, "--variant", "three=-DK=3", "--variant", "four=-DK=4", status=1)
        self.assertEqual([(r["status"], r.get("checked_by")) for r in wrong], [("ok", "disputed by four"), ("wrong_result", None)])
        self.write(one.replace("K *", "3 *"), "a.cl")
        self.write(one.replace("K *", "3.0f *"), "b.cl")
        (self.folder / "r.jsonl").unlink()
        out, err = self.lab("run", "a.cl", "b.cl:mm", "--vs", "b.cl:mm", "--device", "cpu", "--max-time", "1", "--no-yardstick", "--json", "r.jsonl", "--dumps", "d")
        left, right, comparison = self.records()
        self.assertEqual((left["id"], right["id"]), ("a+b_a_mm", "a+b_b_mm"))
        self.assertEqual((comparison["left"], comparison["right"]), ("a+b_a_mm", "a+b_b_mm"))
        self.assertIn("a+b_a_mm", out)

    def test_the_reference_of_a_file_that_builds_only_by_its_variants_is_the_kernel_of_the_same_variant(self):
        records = self.check("""/*cllab
arg x = out:64
global 64
local 8
variant single = -DT=float
variant double = -DT=double
reference plain
*/
typedef T number;
__kernel void plain(__global number* x) { x[get_global_id(0)] = (T)1 / 3; }
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void other(__global number* x) { number third = 1; x[get_global_id(0)] = third / 3; }
""")
        self.assertEqual({r["variant"]: r["checked_by"] for r in records},
                         {"plain_single": "is the reference", "other_single": "reference plain_single", "plain_double": "is the reference", "other_double": "reference plain_double"})

    def test_the_file_beside_wins_over_the_block_and_the_command_line_over_both(self):
        self.write("axis n = 64\narg f = 2\n", "t.cllab")
        self.assertEqual(self.check(BLOCK + SCALE)[0]["point"]["n"], 64)
        self.assertEqual(self.check(BLOCK + SCALE, "-a", "n=32")[0]["point"]["n"], 32)
        self.write("axis n = sixty 4\n", "t.cllab")
        out, err = self.lab("run", "t.cl", "--device", "cpu", status=2)
        self.assert_one_sentence(err, "t.cllab:1:")

    def test_tune_tries_the_axes_marked_tune(self):
        self.write("/*cllab\naxis n = 4096\naxis l tune = 16, 64\narg src = rand:n\narg dst = out:n\narg f = 2\narg n = n\nglobal n\nlocal l\n*/\n" + SCALE)
        out, err = self.lab("tune", "t.cl", "--device", "cpu", "--max-time", "0.02")
        self.assertIn("2 points of l", words(out))
        self.assertIn("cllab run t.cl:scale", out)

    def test_files_are_included_from_their_own_folder_and_others(self):
        (self.folder / "sub").mkdir()
        (self.folder / "sub" / "far.h").write_text("#define FAR 3\n")
        (self.folder / "near.h").write_text("#define NEAR 2\n")
        text = '#include "near.h"\n#include "far.h"\n/*cllab\narg dst = out:64\nglobal 64\nextends sub\n*/\n__kernel void k(__global int* dst) { dst[get_global_id(0)] = NEAR * FAR; }\n'
        self.assertEqual(self.check(text)[0]["status"], "ok")
        lab_h = '#include "lab.h"\n/*cllab\narg dst = out:64\nglobal 64\n*/\n__kernel void k(__global int* dst) { dst[get_global_id(0)] = LAB_POCL + LAB_H_IS_HERE; }\n'
        self.assertEqual(self.check(lab_h.replace("LAB_H_IS_HERE", "LAB_UNALIGNED"))[0]["status"], "ok")

    def test_several_targets_make_one_table(self):
        self.write(SCALE)  # without any values: the code does not depend on them
        out, err = self.lab("isa", "t.cl:scale", "--target", "gfx900", "--target", "gfx1030", "--require-all")
        rows = [line.split() for line in out.splitlines() if not line.strip().startswith("columns left out:")]
        self.assertEqual(rows[0][:3], ["kernel", "target", "registers"])
        self.assertEqual([row[:2] for row in rows[1:]], [["t_scale", "gfx900"], ["t_scale", "gfx1030"]])
        for row in rows[1:]:
            self.assertGreater(int(row[2]), 0)
        # What --help and the completions offer is what the table has.
        out, _ = self.lab("isa", "t.cl:scale", "--target", "gfx900", "--target", "gfx1030", "--columns", "all")
        offered = re.search(r"however wide: ([^.]*)\.", " ".join(self.lab("isa", "--help", "all")[0].split()))[1].split(", ")
        self.assertEqual([title.replace(" ", "_") for title in re.split("  +", out.splitlines()[0].strip())], offered)

    LOCAL = ("__kernel void k(__global float* x, __local float* t) {\n    const int l = get_local_id(0);\n    t[l] = x[get_global_id(0)];\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n    x[get_global_id(0)] = t[get_local_size(0) - 1 - l];\n}\n")

    def test_local_memory_given_as_an_argument_counts_for_the_occupancy(self):
        self.write(self.LOCAL)

        def occupancy(target, elements, *args):
            out, _ = self.lab("isa", "t.cl", "--target", target, "--summary", "--arg", "x=zero:4096", "--arg", f"t=local:{elements}", *args)
            return int(re.search(r"occupancy .*\) = (\d+) ", out).group(1))

        for target, few in (("gfx900", 2), ("sm_80", 8)):
            with self.subTest(target=target):
                self.assertEqual(occupancy(target, 8192, "--global", "4096", "--local", "64" if target == "sm_80" else "256"), few)
                self.assertGreater(occupancy(target, 64, "--global", "4096", "--local", "64"), few)
        # The largest group that the driver may choose has four wavefronts.
        self.assertEqual(occupancy("gfx900", 8192), 2)

    def test_a_loop_that_runs_until_a_value_is_reached_is_timed_on_the_data_that_goes_in(self):
        until = ("__kernel void {name}(__global const float* from, __global float* {to}) {{\n    const int i = get_global_id(0);\n    float v = {read}[i];\n"
                 "    while (v < 300.0f) v += 0.01f;\n    {to}[i] = v;\n}}\n")
        inside, outside = (self.check(until.format(name="until", to="x", read=read), "--arg", "from=zero:1024", "--arg", f"x={data}:1024", "--global", "1024",
                                      name=f"{read}.cl")[0] for read, data in (("x", "zero"), ("from", "out")))
        self.assertEqual((inside["status"], outside["status"]), ("ok", "ok"))
        self.assertGreater(inside["time"]["median"], 0.5 * outside["time"]["min"])
        self.assertTrue(any(w.startswith("fresh-data: an operation takes ") for w in inside["warnings"]), inside["warnings"])
        self.assertFalse(any(w.startswith("fresh-data:") for w in outside["warnings"]), outside["warnings"])

    def test_a_rate_that_no_memory_has_is_named(self):
        self.write("__kernel void few(__global const float* a, __global float* b) {\n    const int i = get_global_id(0);\n    b[i] = a[i] + 1.0f;\n}\n")
        for size, named in ((4096, True), (8 << 20, False)):
            self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", "--max-time", "0.02", "--json", "r.jsonl", "--force", "--arg", f"a=zero:{8 << 20}",
                     "--arg", f"b=zero:{8 << 20}", "--global", size)
            warnings = self.records()[0]["warnings"]
            self.assertEqual(any(w.startswith("beyond-memory: ") and "work bytes" in w for w in warnings), named, warnings)

    def test_a_binary_that_is_damaged_or_that_no_assembler_takes_is_a_failure(self):
        self.lab("isa", "saxpy_w32", "--target", "gfx900", "--dumps", "d", "--summary")
        code = next(self.folder.rglob("program.co")).read_bytes()
        (self.folder / "short.co").write_bytes(code[:len(code) // 2])
        self.lab("dump", "saxpy_w32", "--device", "cpu", "--dumps", "p", "--axis", "size=4096")
        for name in ("program.so", "program.poclbin"):
            whole = next(self.folder.rglob(name)).read_bytes()
            (self.folder / f"short-{name}").write_bytes(whole[:len(whole) // 2])
        (self.folder / "bad.ptx").write_text(".version 7.8\n.target sm_80\n.address_size 64\n.entry k() { addx.s64 %r1, %r2; ret; }\n")
        for name in ("short.co", "short-program.so", "short-program.poclbin"):
            with self.subTest(name=name):
                self.assertIn("it is damaged: ", self.lab("isa", name, status=1)[1])
        if shutil.which("ptxas"):
            self.assertIn("ptxas exited with status", self.lab("isa", "bad.ptx", status=1)[1])

    def test_what_is_no_file_and_no_kernel_says_so(self):
        (self.folder / "DIR.ptx").mkdir()
        (self.folder / "notes.txt").write_text("x")
        for command in ("isa", "run", "dump", "why"):
            for pattern, said in (("nosuch.ptx", "there is no file 'nosuch.ptx'"), ("DIR.ptx", "'DIR.ptx' is a folder")):
                with self.subTest(command=command, pattern=pattern):
                    self.assertIn(said, self.lab(command, pattern, status=2)[1])
        self.assertIn("file 'notes.txt' is not kernel text", words(self.lab("run", "notes.txt", status=2)[1]))

    def test_a_binary_of_any_program_is_recognised(self):
        self.write(BLOCK + SCALE)
        self.lab("dump", "t.cl", "--device", "cpu", "--dumps", "d")
        program, = (self.folder / "d").glob("*/t_scale/program.poclbin")
        shutil.copy(program, self.folder / "some.bin")
        out, err = self.lab("isa", "some.bin")
        self.assertIn("some.bin:scale for PoCL", out)
        self.assertIn("instructions", out)
        self.write(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry one()\n{\n    ret;\n}\n.visible .entry two()\n{\n    ret;\n}\n", "some.ptx")
        out, err = self.lab("isa", "some.ptx", "--summary")
        self.assertIn("some.ptx:one for PTX", out)
        self.assertIn("some.ptx:two for PTX", out)
        out, err = self.lab("isa", "some.ptx:three", status=2)
        self.assert_one_sentence(err, "'three'", "one, two")
        self.write("no program", "some.txt")
        out, err = self.lab("isa", "some.txt", status=2)
        self.assert_one_sentence(err, "some.txt", "PTX")

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
        self.assertIn("t_good in Oclgrind at n=16: no race, no uninitialised value, no access outside", out)
        out, err = self.lab("run", "t.cl:bad", "--check", "oclgrind", status=1)
        self.assertRegex(out, r"t.cl:10: Invalid read of size 4 in global memory in kernel 'bad'")
        self.assertRegex(out, r"t.cl:11: [^\n]*race in global memory in kernel 'bad'")

        # 16 bins are too few for the values of a byte, and nobody but the check asked for them.
        self.write("""/*cllab
axis n = 64
axis bins = 256
arg data = rand:uchar:n
arg histo = zero:bins
global n
*/
__kernel void counts(__global const uchar* data, __global int* histo) { atomic_inc(&histo[data[get_global_id(0)]]); }
""")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind")
        self.assertIn("something was found at n=16 bins=16, which is smaller than the file says", err)
        self.assertIn("t_counts in Oclgrind at n=64 bins=256: no race, no uninitialised value, no access outside", out)

        out, err = self.lab("run", KERNELS / "soften.cl", "--check", "oclgrind", timeout=60)  # whose sampler hung it
        self.assertIn("soften_soften in Oclgrind at w=16 h=16: no race, no uninitialised value, no access outside", out)
        self.write("/*cllab\narg dst = out:4\nglobal 4\n*/\n__kernel void stuck(__global volatile int* dst) { while (dst[0] != 7) dst[0] = 6; }\n")
        out, err = self.lab("run", "t.cl", "--check", "oclgrind", "--timeout", "2", timeout=60, status=1)
        self.assertRegex(out, r"t_stuck in Oclgrind: timed_out: no progress for 2.00 s \(--timeout\) in phase '\w+'")

    def capture(self, name="capture"):
        """What the OpenCL Intercept Layer leaves of y += a x."""
        folder = self.folder / name
        for part in ("Pre", "Post"):
            (folder / part).mkdir(parents=True)
        (folder / "kernel.cl").write_text("typedef float real;\n__kernel void axpy(real a, __global const float* x, __global float* y) { int i = get_global_id(0); y[i] += a * x[i]; }\n\0")  # with the string's end
        for file, text in {"kernelName.txt": "axpy", "buildOptions.txt": "-cl-std=CL1.2", "worksizes.txt": "64 \n16 \n0 \n", "SVM_Arg_Offset_1.txt": "0\n"}.items():
            (folder / file).write_text(text)
        (folder / "Argument0.bin").write_bytes(floats([2]))
        (folder / "Argument1.bin").write_bytes(bytes(8))
        x, y = list(range(64)), [1] * 64
        for part, after in (("Pre", y), ("Post", [b + 2 * a for a, b in zip(x, y)])):
            (folder / part / "Enqueue_0000_Kernel_axpy_Arg_1_Buffer_0000.bin").write_bytes(floats(x))
            (folder / part / "Enqueue_0000_Kernel_axpy_Arg_2_Buffer_0001.bin").write_bytes(floats(after))
        return folder

    def test_a_capture_of_the_intercept_layer_is_verified_and_timed(self):
        folder = self.capture()
        self.lab("run", "--replay", "capture", "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl")
        record, = self.records()
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "file Enqueue_0000_Kernel_axpy_Arg_2_Buffer_0001.bin"))
        self.assertGreater(record["time"]["median"], 0)
        (folder / "Post" / "Enqueue_0000_Kernel_axpy_Arg_2_Buffer_0001.bin").write_bytes(floats([0] * 64))
        out, err = self.lab("run", "--replay", "capture", "--device", "cpu", "--no-dumps", status=1)
        self.assertIn("y[0] is 1, expected 0", out)
        (folder / "kernel.cl").write_text("__kernel void axpy() {}\n\0__kernel void more() {}\n")
        out, err = self.lab("run", "--replay", "capture", "--device", "cpu", status=2)
        self.assert_one_sentence(err, "kernel.cl", "zero byte at 24")
        (folder / "worksizes.txt").unlink()
        out, err = self.lab("run", "--replay", "capture", "--device", "cpu", status=2)
        self.assert_one_sentence(err, "'capture'", "worksizes.txt")

    def test_the_page_of_the_grammar_is_as_recorded(self):
        out, err = self.lab("help", "kernel-file")
        self.assert_golden("help_kernel-file.txt", out)
        self.assertLess(len(out.splitlines()), 70)


if __name__ == "__main__":
    main()
