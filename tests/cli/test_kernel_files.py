"""A user's own kernel: the files of tests/kernels, what a file and the command line say of its arguments, and who checks whom."""
import shutil
import struct

from kernel_files import KERNELS, KernelFileTest, floats
from lab import against_noise, main, words
from wrong_kernel_files import BLOCK, SCALE, npy


class KernelFiles(KernelFileTest):
    def test_every_kind_of_argument_is_guessed(self):
        kernel = ("__kernel void k(__read_only image1d_t a, __read_only image2d_t b, __read_only image3d_t c, sampler_t s, __local float* part, __global float* out) {\n"
                  "    const int i = get_global_id(0);\n    part[get_local_id(0)] = read_imagef(a, i % 64).x + read_imagef(b, s, (float2)(0.5f, i % 64)).x;\n"
                  "    out[i] = part[get_local_id(0)] + read_imagef(c, s, (float4)(1.5f, 2.5f, i % 16, 0)).x;\n}\n")
        self.assertEqual([r["status"] for r in self.check(kernel)], ["ok"])

    def test_example_files_run_with_one_command(self):
        proofs = {"transpose.cl": "agreement of 3", "conv3x3.cl": "agreement of 2", "reduce_local.cl": "reference sum_serial", "soften.cl": "only itself", "affine.cl": "only itself", "in_place.cl": "reference apart", "particles.cl": "agreement of 2"}
        self.assertEqual(set(proofs), {path.name for path in KERNELS.glob("*.cl")})
        for name, proof in proofs.items():
            with self.subTest(name=name):
                text = (KERNELS / name).read_text()
                self.assertLess(text.split("*/")[0].count("\n"), 16)
                out, err = self.lab("run", KERNELS / name, "--device", "cpu", "--max-time", "0.02", "--no-yardstick", "--json", "r.jsonl", "--force", "--dumps", "d")
                records = self.records()
                self.assertEqual({r["status"] for r in records}, {"ok"})
                self.assertIn(proof, [r["checked_by"] for r in records])
                self.assertIn("checked by" if proof != "only itself" else "unproved", out)
                for record in records:
                    self.assertGreater(record["time"]["median"], 0)
                    self.assertTrue((self.folder / record["dump"] / "isa.txt").read_text())
                    self.assertEqual(record["build"]["source"], str(KERNELS / name))

    def test_pocl_builds_a_file_once_for_arguments_and_run(self):
        cache = self.folder / "cache"
        self.write(BLOCK + SCALE)
        for options, builds in ([], 1), (["--variant", "two=-DTWO"], 2):  # what the file is without its variants is asked too
            with self.subTest(options=options):
                shutil.rmtree(cache, ignore_errors=True)
                self.lab("run", "t.cl", "--device", "cpu", "--verify", "--no-dumps", *options, env=self.environment(POCL_CACHE_DIR=str(cache)))
                self.assertEqual(len(list(cache.rglob("program.bc"))), builds)

    def test_example_of_the_manual_runs_unchanged(self):
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

    def test_command_line_can_replace_the_whole_block(self):
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
        self.assertEqual((record["status"], record["reason"]), ("wrong_result", "dst[0] is 255, expected 0; 2041 of 2048 elements differ"))

    def test_names_of_built_in_functions_are_ordinary_names(self):
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

    def test_numpy_booleans_are_bytes_of_either_sign(self):
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
        self.assertIn("has uchar elements", self.lab("run", "t.cl", "--device", "cpu", status=2)[1])

    def test_integers_of_64_bits_are_compared_as_integers(self):
        block = "/*cllab\narg src = rand:ulong:64:1:3\narg dst = out:64\nglobal 64\n{}*/\n"
        good = "__kernel void good(__global const ulong* src, __global ulong* dst) { dst[get_global_id(0)] = 1UL << 62; }\n"
        more = good.replace("good", "more").replace("1UL << 62", "(1UL << 62) + src[get_global_id(0)]")
        records = self.check(block.format("reference good\n") + good + more, status=1)
        self.assertEqual([r["status"] for r in records], ["ok", "wrong_result"])
        (self.folder / "gold.bin").write_bytes(struct.pack("<64Q", *[2**53] * 64))
        text = "__kernel void k(__global ulong* dst) { dst[get_global_id(0)] = (1UL << 53) + 1; }\n"
        record, = self.check(block.replace("arg src = rand:ulong:64:1:3\n", "").format("expect dst = gold.bin\n") + text, status=1)
        self.assertRegex(record["reason"], r"^dst\[0\] is 9007199254740993, expected 9007199254740992; \d+ of \d+ elements differ$")

    def test_option_with_a_kernel_name_applies_only_to_it(self):
        text = ("/*cllab\narg x = zero:64\narg by = 1\nglobal 64\n*/\n__kernel void add(__global int* x, int by) { x[get_global_id(0)] += by; }\n"
                "__kernel void set(__global int* x, int by) { x[get_global_id(0) + 64] = x[get_global_id(0)] = by; }\n")
        of_set = ("--arg", "set:x=out:128", "--expect", "add:x=unchanged")
        records = self.check(text, *of_set, "--arg", "add:by=0")
        self.assertEqual([(r["variant"], r["status"], r["checked_by"]) for r in records], [("add", "ok", "expect unchanged"), ("set", "ok", "only itself")])
        for option, value, says in (("--arg", "sett:x=out:1", "'t.cl' has no kernel 'sett'; its kernels are add, set"),
                                    ("--arg", "set:y=1", "kernel 'set' has no argument 'y'"), ("--global", "set:0", "must be at least 1")):
            _, err = self.lab("run", "t.cl", "--device", "cpu", option, value, status=2)
            self.assertIn(says, err)

    def test_different_results_of_one_file_disagree_unless_declared(self):
        text = """/*cllab
arg x = rand:64
arg y = out:64
global 64
{}*/
__kernel void first(__global const float* x, __global float* y) {{ y[get_global_id(0)] = x[0]; }}
__kernel void second(__global const float* x, __global float* y) {{ y[get_global_id(0)] = x[1]; }}
"""
        for verify in ((), ("--verify",)):
            records = self.check(text.format(""), *verify, status=1)
            self.assertEqual([(r["status"], "time" in r, r.get("checked_by")) for r in records], [("disagree", False, None)] * 2)
            self.assertEqual({w.split(":")[0] for r in records for w in r["warnings"]}, set(), "without a time, none about its conditions or its proof")
            self.assertRegex(records[0]["reason"], r"'second' takes the same arguments and gives other results: \w+\[\d+\] is \S+, 'second' has \S+; \d+ of \d+ elements differ; if they compute different things, add the line 'differ first, second' to \S*t.cllab; else 'reference KERNEL' or 'expect NAME = FILE' tells which is right")
        records = self.check(text.format("differ first, second\n"))
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "only itself")] * 2)
        self.assertEqual([r["problem"] for r in records], ["first", "second"])
        out, _ = self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", "--max-time", "0.02")
        self.assertIn("None of 2 variants is ranked, because their results differ, as a line 'differ' allows; `cllab run ", words(out))
        records = self.check(text.format("relation sum of y is 64 * 0.5\n").replace("x[0]", "0.5f").replace("x[1]", "get_global_id(0) & 1"))
        self.assertEqual([r["checked_by"] for r in records], ["relation sum of y is 64 * 0.5"] * 2)
        self.assertEqual([r["status"] for r in self.check(text.format("kernel second\narg x = iota:64\n"))], ["ok"] * 2)
        self.write(text.format("differ first, third\n"))
        self.assert_one_sentence(self.lab("run", "t.cl", "--device", "cpu", status=2)[1], "t.cl:5:", "'differ' names 'third', which is not a kernel or variant", "first, second")
        self.assertEqual([r["status"] for r in self.check(text.format("same first, second\n"), status=1)], ["disagree"] * 2)
        self.write(text.format("same first, third\n"))
        self.assert_one_sentence(self.lab("run", "t.cl", "--device", "cpu", status=2)[1], "t.cl:5:", "'third'", "first, second")
        self.write(text.format(""))
        self.lab("run", "t.cl:first", "--vs", "second", "--device", "cpu", "--no-dumps", "--max-time", "0.02", status=1)

    def test_condition_with_axes_named_like_functions_prunes(self):
        text = "/*cllab\naxis len = 1,2,3,4\naxis max = 1:100:+1\naxis min = 1:100:+1\naxis ceil = 1:100:+1\naxis n = 1:100:+1\nwhere len >= 4\nwhere max == 7 && min == 1 + 1\nwhere ceil == 3\nwhere n == 64\narg x = out:n\nglobal n\noptions -DC={len+max+min+ceil}\n*/\nkernel void k(global int* x) { x[get_global_id(0)] = C; }\n"
        record, = self.check(text)  # 4 * 10^8 points would be refused
        self.assertEqual((record["status"], record["point"]), ("ok", {"len": 4, "max": 7, "min": 2, "ceil": 3, "n": 64}))

    def test_work_and_options_parse_axis_names_and_quoted_number_signs(self):
        text = "/*cllab\naxis bytes_each = 4\narg x = out:64\nglobal 64\nwork flops=64 * bytes_each bytes=64 * bytes_each + 1 - 1\noptions -DT=\"a # b\" -DN=1 # a comment\n*/\nkernel void k(global int* x) { x[get_global_id(0)] = N; }\n"
        self.assertEqual(self.check(text)[0]["status"], "ok")

    def test_prime_size_with_driver_chosen_group_is_reported(self):
        text = "/*cllab\naxis n = 1021, 1024, 2053\narg x = out:n\nglobal n\n*/\nkernel void k(global int* x) { x[get_global_id(0)] = 1; }\n"
        told = [[w for w in r["warnings"] if w.startswith("driver-group")] for r in self.check(text)]
        self.assertEqual([len(t) for t in told], [0, 0, 1], told)
        self.assertIn("the largest one that divides 'global' has 1 work-item;", told[2][0])

    def test_float_arguments_may_be_fractions(self):
        (self.folder / "gold.bin").write_bytes(floats([0.015625] * 64))
        text = "/*cllab\narg dst = out:64\nglobal 64\nexpect dst = gold.bin\n*/\n__kernel void k(__global float* dst, float s) { dst[get_global_id(0)] = s; }\n"
        for value in ("1/64", "1.0/64", "0.25 / 16"):
            self.assertEqual(self.check(text, "--arg", f"s={value}")[0]["checked_by"], "file gold.bin")

    def test_three_kinds_of_tolerance_are_supported(self):
        text = """/*cllab
arg src = rand:256:1:2
arg dst = out:256
global 256
same a, b
*/
__kernel void a(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)] * 3; }
__kernel void b(__global const float* src, __global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)] * 3.000001f; }
"""
        self.assertEqual([r["status"] for r in self.check(text, status=1)], ["disagree"] * 2)
        for tolerance in ("absolute=1e-4", "relative=1e-5", "ulp=40"):
            self.assertEqual([r["status"] for r in self.check(text, "--tolerance", tolerance)], ["ok", "ok"])
        self.assertEqual([r["status"] for r in self.check(text, "--tolerance", "ulp=1", status=1)], ["disagree"] * 2)

    def test_variants_by_options_and_kernels_of_two_files_run(self):
        one = "/*cllab\narg src = rand:1024\narg dst = out:1024\nglobal 1024\n*/\n__kernel void mm(__global const float* src, __global float* dst) { dst[get_global_id(0)] = K * src[get_global_id(0)]; }\n"
        records = self.check(one, "--variant", "three=-DK=3", "--variant", "also=-DK=(2+1)", "--variant", "other=-DK=1.5f*2.0f*(float)get_work_dim()")
        self.assertEqual([(r["variant"], r["checked_by"]) for r in records], [("three", "agreement of 2"), ("also", "agreement of 2"), ("other", "agreement of 2")])
        records = self.check(one, "--variant", "three=-DK=3", "--variant", "also=-DK=(2+1)")
        self.assertEqual({r["checked_by"] for r in records}, {"only itself"})
        self.assertTrue(all(any("the same code" in w for w in r["warnings"]) for r in records))
        wrong = self.check(one, "--variant", "three=-DK=3", "--variant", "four=-DK=4", status=1)
        self.assertEqual([(r["status"], r.get("checked_by")) for r in wrong], [("disagree", None)] * 2)
        self.write(one.replace("K *", "3 *"), "a.cl")
        self.write(one.replace("K *", "3.0f *"), "b.cl")
        out, err = self.lab("run", "a.cl", "b.cl:mm", "--vs", "b.cl:mm", "--device", "cpu", "--max-time", "1", "--no-yardstick", "--json", "r.jsonl", "--force", "--dumps", "d")
        left, right, comparison = self.records()
        self.assertEqual((left["id"], right["id"]), ("a_mm", "b_mm"))
        self.assertEqual((comparison["left"], comparison["right"]), ("a_mm", "b_mm"))
        self.assertIn("a_mm", out)
        for folder in ("one", "two"):
            (self.folder / folder).mkdir()
            (self.folder / folder / "c.cl").write_text(one.replace("K *", "3 *"))
        self.lab("run", "one/c.cl:mm", "--vs", "two/c.cl:mm", "--device", "cpu", "--max-time", "0.1", "--no-yardstick", "--json", "r.jsonl", "--force", "--no-dumps")
        self.assertEqual([r["id"] for r in self.records()[:2]], ["one_c_mm", "two_c_mm"])

    def test_each_of_several_files_is_a_family_with_its_names_and_axes(self):
        line = "/*cllab\naxis {0} = {1}\narg y = out:{0}\nglobal {0}\n*/\nkernel void aa_x(global int* y) {{ y[get_global_id(0)] = {2}; }}\n"
        folders = [self.folder / "one", self.folder / "two"]
        for folder in folders:
            folder.mkdir()
        files = {"aa.cl": ("n", "64, 128", 1), "bb.cl": ("m", "256", 2), "one/c.cl": ("n", "8", 3), "two/c.cl": ("n", "16", 4)}
        for name, values in files.items():
            (self.folder / name).write_text(line.format(*values))
        run = ["run", *files, "--verify", "--device", "cpu", "--json", "r.jsonl", "--force"]
        self.lab(*run)
        points = lambda: sorted((r["id"], *r["point"].items()) for r in self.records())  # noqa: E731
        self.assertEqual(points(), [("aa_x", ("n", 64)), ("aa_x", ("n", 128)), ("bb_aa_x", ("m", 256)), ("c_aa_x", ("n", 8)), ("c_cl_aa_x", ("n", 16))])
        # --axis sets the axis of the files that have it, and leaves the others as they are.
        self.lab(*run, "--axis", "m=512")
        self.assertEqual(points()[2], ("bb_aa_x", ("m", 512)))
        _, err = self.lab(*run, "--axis", "o=1", status=2)
        self.assertIn("uses an axis 'o'", err)

    def test_reference_has_the_same_variant_as_the_kernel(self):
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
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void other(__global number* x) { size_t i = get_global_id(0); x[i] = (number)(1 + (int)(i >> 40)) / 3; }
""")
        self.assertEqual({r["variant"]: r["checked_by"] for r in records},
                         {"plain_single": "is the reference", "other_single": "reference plain_single", "plain_double": "is the reference", "other_double": "reference plain_double"})

    def test_command_line_overrides_side_file_and_side_file_the_block(self):
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

    def tune(self, block, *more, kernel=SCALE, status=0):
        self.write("/*cllab\naxis n = 4096\narg src = rand:n\narg dst = out:n\narg f = 2\narg n = n\nglobal n\n" + block + "*/\n" + kernel)
        return self.lab("tune", "t.cl", "--device", "cpu", "--max-time", "0.01", "--json", "r.jsonl", "--force", *more, status=status)

    def test_tune_without_tune_axes_tries_fitting_work_groups(self):
        out, _ = self.tune("", "--axis", "n=128")
        self.assertIn("points of local, 4 distinct and possible", words(out))
        records = [r for r in self.records() if "record" not in r]
        self.assertEqual({(r["point"]["local"], r["status"]) for r in records}, {(local, "ok") for local in ("auto", 32, 64, 128)})
        chosen = next(line for line in out.splitlines() if line.startswith("  cllab run t.cl:scale"))
        self.lab(*chosen.split()[1:], "--verify", "--no-dumps")

    def test_given_or_required_work_group_is_tuned_only_on_request(self):
        _, err = self.tune("local 16\n", status=2)
        self.assert_one_sentence(err, "no launch parameter to tune", "'local' is given", "--axis local=VALUES")
        out, _ = self.tune("local 16\n", "--axis", "local=16,64")
        self.assertIn("2 points of local", words(out))
        required = SCALE.replace("__kernel", "__kernel __attribute__((reqd_work_group_size(16, 1, 1)))")
        for more in ([], ["--axis", "local=16"]):
            _, err = self.tune("", *more, kernel=required, status=2)
            self.assert_one_sentence(err, "local" if more else "no launch parameter to tune")

    def test_any_kernel_of_a_file_accepts_work_groups_as_an_axis(self):
        records = self.check(BLOCK + SCALE, "-a", "local=32,48,256,512")
        found = {r["point"]["local"]: (r["status"], r["reason"]) for r in records}
        self.assertEqual([found[local][0] for local in (32, 256, 512)], ["ok", "ok", "unsupported"])
        self.assertEqual(found[48], ("unsupported", "global 256 is not a multiple of local 48"))
        self.assertNotIn("local", self.check(BLOCK + SCALE)[0]["point"])
        # The name is the file's where something of it uses it.
        own = self.check(BLOCK.replace("global n", "global n\nlocal 2*local") + SCALE, "-a", "local=8")
        self.assertEqual((own[0]["status"], own[0]["point"]["local"]), ("ok", 8))

    def test_kernel_named_after_its_file_accepts_any_spelling(self):
        kernel = "__kernel void {}(__global int* x) {{ x[get_global_id(0)] = {}; }}\n"
        block = "/*cllab\narg x = out:64\nglobal 64\n*/\n"
        self.assertEqual([r["id"] for r in self.check(block + kernel.format("hist_near", 3), name="hist.cl")], ["hist_near"])
        for spelling in ("hist_near", "hist_hist_near"):
            out, _ = self.lab("run", f"hist.cl:{spelling}", "--device", "cpu", "--verify", "--no-dumps")
            self.assertIn("hist_near", out)
            self.assertNotIn("hist_hist", out)
        # Where another kernel has what would be left, the longer name stays, whichever of them is run.
        both = block + kernel.format("hist_near", 3) + kernel.format("near", "1 + 2")
        self.assertEqual({r["id"] for r in self.check(both, name="hist.cl")}, {"hist_hist_near", "hist_near"})
        for kernel, name in (("hist_near", "hist_hist_near"), ("near", "hist_near")):
            self.assertEqual([r["id"] for r in self.check(both, "--verify", name="hist.cl", pattern=f"hist.cl:{kernel}")], [name])
        _, err = self.lab("run", "hist.cl:far", "--device", "cpu", status=2)
        self.assert_one_sentence(err, "no kernel matches 'hist.cl:far'", "the kernels of 'hist.cl' are hist_near, near")

    def test_group_sized_local_memory_with_driver_chosen_group_is_warned(self):
        text = "/*cllab\narg x = out:64\narg t = local:100\nglobal 64\n{}*/\n__kernel {} void k(__global int* x, __local int* t) {{ const int l = get_local_id(0); t[l] = 1; x[get_global_id(0)] = t[l]; }}\n"
        for line, attribute in (("", ""), ("local 32\n", ""), ("", "__attribute__((reqd_work_group_size(32, 1, 1)))")):
            record, = self.check(text.format(line, attribute))
            said = [w for w in record["warnings"] if w.startswith("driver-group: the work-group is the driver's choice and may be larger than __local 't' is made for")]
            self.assertEqual((record["status"], len(said)), ("ok", not line + attribute))

    def test_only_itself_is_noted_once_per_run(self):
        self.write("/*cllab\narg x0 = out:64\narg x1 = out:64\nglobal 64\n*/\n" + "".join(
            f"__kernel void k{i}(__global int* x{i}) {{ x{i}[get_global_id(0)] = {i}; }}\n" for i in range(2)))
        alone = ["run", "t.cl", "--device", "cpu", "--no-dumps", "--verify"]
        out = words(self.lab(*alone)[0])
        self.assertNotIn("checked by", out)
        self.assertEqual(out.count("unproved: "), 1)
        self.assertIn("(all 2 cells)", out)
        self.assertIn("kernel status checked by", words(self.lab(*alone, "--columns", "all")[0]))

    def test_several_kernels_are_compared_with_one_or_the_fastest(self):
        work = "__kernel void {}(__global float* x) {{ float v = x[get_global_id(0)]; for (int i = 0; i < {}; ++i) v = v * 0.5f + 1.0f; x[get_global_id(0)] = v; }}\n"
        self.write("/*cllab\narg x = rand:4096\nglobal 4096\ntolerance absolute=10\n*/\n" + "".join(
            work.format(name, 8 * times) for name, times in (("slow", 40), ("quick", 1), ("slower", 160))))
        run = ["run", "t.cl", "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.2"]
        for versus, right in (("best", "t_quick"), ("slow", "t_slow")):
            out, _ = self.lab(*run, "--vs", versus, "--json", "r.jsonl", "--force")
            verdicts = [r for r in self.records() if r.get("record") == "comparison"]
            self.assertEqual({(v["left"], v["right"]) for v in verdicts},
                             {(left, right) for left in ("t_slow", "t_quick", "t_slower") if left != right})
            self.assertEqual(len([r for r in self.records() if "record" not in r]), 3, "each kernel is measured once")
            for verdict in verdicts:  # few arrangements may leave it undecided; the ratio is of left over right
                self.assertEqual(verdict["ratio"]["ratio"] > 3, verdict["left"] != "t_quick", verdict)
                self.assertIn(f"{verdict['left']} against {right}: ", words(out))

    def test_files_are_included_from_their_own_folder_and_others(self):
        (self.folder / "sub").mkdir()
        (self.folder / "sub" / "far.h").write_text("#define FAR 3\n")
        (self.folder / "near.h").write_text("#define NEAR 2\n")
        text = '#include "near.h"\n#include "far.h"\n/*cllab\narg dst = out:64\nglobal 64\nextends sub\n*/\n__kernel void k(__global int* dst) { dst[get_global_id(0)] = NEAR * FAR; }\n'
        self.assertEqual(self.check(text)[0]["status"], "ok")
        lab_h = '#include "lab.h"\n/*cllab\narg dst = out:64\nglobal 64\n*/\n__kernel void k(__global int* dst) { dst[get_global_id(0)] = LAB_POCL + LAB_H_IS_HERE; }\n'
        self.assertEqual(self.check(lab_h.replace("LAB_H_IS_HERE", "LAB_UNALIGNED"))[0]["status"], "ok")

    def test_file_included_in_front_belongs_to_the_text(self):
        (self.folder / "types.h").write_text("typedef int value;\n#define TWICE(x) (2 * (x))\n")
        text = "/*cllab\narg dst = out:64\nglobal 64\n*/\n__kernel void k(__global value* dst) { dst[get_global_id(0)] = TWICE(3); }\n"
        self.assertEqual(self.check(text, "--include", "types.h")[0]["status"], "ok")
        self.assertEqual(self.check(text.replace("global 64", "global 64\ninclude types.h"))[0]["status"], "ok")
        _, err = self.lab("run", self.write(text.replace("TWICE(3)", "unknown")), "--include", "types.h", status=None)
        self.assertIn("t.cl:5:", err)  # lines are those of the file
        _, err = self.lab("run", self.write(text), "--include", "gone.h", status=2)
        self.assertIn("include file 'gone.h' not found", err)

    @against_noise
    def test_loop_until_a_value_is_reached_is_timed_on_input_data(self):
        until = ("__kernel void {name}(__global const float* from, __global float* {to}) {{\n    const int i = get_global_id(0);\n    float v = {read}[i];\n"
                 "    while (v < 300.0f) v += 0.01f;\n    {to}[i] = v;\n}}\n")
        inside, outside = (self.check(until.format(name="until", to="x", read=read), "--arg", "from=zero:1024", "--arg", f"x={data}:1024", "--global", "1024",
                                      name=f"{read}.cl")[0] for read, data in (("x", "zero"), ("from", "out")))
        self.assertEqual((inside["status"], outside["status"]), ("ok", "ok"))
        self.assertGreater(inside["time"]["median"], 0.5 * outside["time"]["min"])
        self.assertTrue(any(w.startswith("fresh-data: an operation took ") for w in inside["warnings"]), inside["warnings"])
        self.assertFalse(any(w.startswith("fresh-data:") for w in outside["warnings"]), outside["warnings"])

    def test_rate_beyond_any_memory_is_reported(self):
        self.write("__kernel void few(__global const float* a, __global float* b) {\n    const int i = get_global_id(0);\n    b[i] = a[i] + 1.0f;\n}\n")
        for size, named in ((4096, True), (8 << 20, False)):
            self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", "--max-time", "0.02", "--json", "r.jsonl", "--force", "--arg", f"a=zero:{8 << 20}",
                     "--arg", f"b=zero:{8 << 20}", "--global", size)
            warnings = self.records()[0]["warnings"]
            self.assertEqual(any(w.startswith("beyond-memory: ") and "work bytes" in w for w in warnings), named, warnings)

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

    def test_grammar_page_matches_the_golden_file(self):
        out, err = self.lab("help", "kernel-file")
        self.assert_golden("help_kernel-file.txt", out)
        self.assertLess(len(out.splitlines()), 78)


if __name__ == "__main__":
    main()
