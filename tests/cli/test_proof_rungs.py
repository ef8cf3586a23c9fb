"""What a result is proved by beside the file itself: a command of the user's, another device, relations. Each rung is given kernels that are
wrong where it must see it, kernels that are right and must not be accused, and witnesses that misbehave."""
import os
import textwrap
import unittest

from kernel_files import KERNELS, KernelFileTest
from lab import OCLGRIND_LIBRARY, main
from wrong_kernel_files import npy

PROOF = KERNELS / "proof"

# NumPy's files without NumPy: load() gives (type, shape, values), save() takes them.
ARRAYS = r'''
import ast, math, os, struct, sys
CODES = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q", "f4": "f", "f8": "d"}
folder = os.environ["CLLAB_REFERENCE_DIR"]
assert folder == (sys.argv[1:] or [folder])[0]
def load(name):
    data = open(f"{folder}/{name}.npy", "rb").read()
    length = struct.unpack_from("<H", data, 8)[0]
    assert data[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0
    header = ast.literal_eval(data[10:10 + length].decode())
    return header["descr"], header["shape"], list(struct.unpack_from(f"<{math.prod(header['shape'])}{CODES[header['descr'][1:]]}", data, 10 + length))
def save(name, kind, shape, values):
    header = repr({"descr": kind, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    open(f"{folder}/{name}.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}{CODES[kind[1:]]}", *values))
'''

ADD = """/*cllab
axis n = 256
arg src = rand:int:n:0:1000
arg dst = out:int:n
arg more = 5
global n
*/
__kernel void add(__global const int* src, __global int* dst, int more) { const int i = get_global_id(0); dst[i] = src[i] + moreWRONG; }
"""


def add(wrong=""):
    """A kernel that adds 5, and what is wrong with it."""
    return ADD.replace("WRONG", wrong)


class ReferenceCommand(KernelFileTest):
    def reference(self, text, name="ref.py"):
        (self.folder / name).write_text(ARRAYS + textwrap.dedent(text))
        return f"python3 {name}"

    def right(self):
        return self.reference("""
            kind, shape, values = load("src")
            assert (kind, shape) == ("<i4", (len(values),))
            assert load("more")[1] == ()
            save("dst", "<i4", shape, [v + load("more")[2][0] for v in values])
            open("asked", "a").write("x")
            """)

    def test_right_kernel_is_verified_for_two_inputs_at_each_point(self):
        records = self.check(add(""), "--reference-command", self.right(), "-a", "n=64,256")
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "reference command")] * 2)
        self.assertFalse(any(w.startswith("unproved") for r in records for w in r["warnings"]))
        self.assertEqual((self.folder / "asked").read_text(), "xxxx")

    def test_error_at_the_border_or_for_the_second_input_is_detected(self):
        for wrong in (" + (i == 255)", " + (src[0] == {})"):
            with self.subTest(wrong=wrong):
                if "src" in wrong:  # the first element of the second input
                    self.reference("open('seen', 'a').write(f'{load(\"src\")[2][0]} '); save('dst', '<i4', (256,), [0] * 256)", "look.py")
                    self.check(add(""), "--seed", "7", "--reference-command", "python3 look.py", status=1)
                    first, second = (self.folder / "seen").read_text().split()
                    self.assertNotEqual(first, second)
                    wrong = wrong.format(second)
                record, = self.check(add(wrong), "--seed", "7", "--reference-command", self.right(), status=1)
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], r"^dst\[\d+\] is \d+, the reference command has \d+; \d+ of \d+ elements differ$")

    def test_rounding_error_suggests_the_covering_tolerance(self):
        text = (PROOF / "scale.cl").read_text()
        command = self.reference("""
            kind, shape, values = load("src")
            save("dst", kind, shape, [(v * v + 3.0 * v) for v in values])
            """)
        record, = self.check(text, "--reference-command", command, status=1)
        self.assertRegex(record["reason"], r"the reference command has .*largest errors are .* absolute and .* relative, which 'tolerance relative=\S+' takes")
        tolerance = record["reason"].split("'tolerance ")[1].split("'")[0]
        self.assertLess(float(tolerance.split("=")[1]), 1e-5)
        self.assert_checked_by("reference command", text, "--reference-command", command, "--tolerance", tolerance)

    def test_misbehaving_command_gives_one_sentence_and_no_proof(self):
        save = "save('dst', '<i4', (256,), [v + 5 for v in load('src')[2]])\n"
        cases = [("", "the reference command left no 'dst.npy' in $CLLAB_REFERENCE_DIR"),
                 ("print('no idea', file=sys.stderr)", "left no 'dst.npy' in $CLLAB_REFERENCE_DIR; it says: no idea"),
                 (save + "print('first\\nlast', file=sys.stderr); sys.exit(3)", "the reference command exited with status 3: last"),
                 ("save('dst', '<f8', (256,), [0.0] * 256)", "the reference command: 'dst.npy' has float64 elements; the kernel's 'dst' has int32; save it with .astype('int32')"),
                 ("save('dst', '<i4', (255,), [0] * 255)", "the reference command: 'dst.npy' has shape (255,); the kernel's 'dst' has (256,)"),
                 ("open(folder + '/dst.npy', 'w').write('no array')", "the reference command: 'dst.npy' is not a valid .npy file: it does not begin with \\x93NUMPY"),
                 ("os.mkfifo(folder + '/dst.npy')", "dst.npy' cannot be read: it is a named pipe"),
                 ("os.kill(os.getpid(), 9)", "the reference command was ended by signal 9"),
                 (save + "import time; time.sleep(60)", "the reference command did not end within 2 s (--timeout)")]
        for text, sentence in cases:
            with self.subTest(sentence=sentence):
                record, = self.check(add(""), "--timeout", "2" if "sleep" in text else "60", "--reference-command", self.reference(text), status=1)
                self.assertIn(record["status"], ("launch_failed",))
                self.assertIn(sentence, record["reason"])
                self.assertNotIn("\n", record["reason"])
                self.assertNotIn("checked_by", record)

    def test_output_leftovers_and_input_changes_of_a_command_are_harmless(self):
        command = self.reference("""
            kind, shape, values = load("src")
            save("dst", kind, shape, [v + 5 for v in values])
            save("src", kind, shape, [0 for v in values])
            sys.stdout.write("x" * 3000000); sys.stderr.write("y" * 3000000)
            import subprocess
            subprocess.Popen(["sleep", "50"])
            """)
        self.assert_checked_by("reference command", add(""), "--reference-command", command)

    def test_results_of_an_earlier_input_are_reported(self):
        command = self.reference("""
            kind, shape, values = load("src")
            if os.path.exists("stale"): values = eval(open("stale").read())
            open("stale", "w").write(repr(values))
            save("dst", kind, shape, [v + 5 for v in values])
            """)
        record, = self.check(add(""), "--reference-command", command, status=1)
        self.assertIn("the command left the same for two random inputs", record["reason"])

    def test_in_place_buffer_must_be_rewritten_by_the_command(self):
        text = "/*cllab\narg y = rand:int:64:0:9\nglobal 64\n*/\n__kernel void twice(__global int* y) { y[get_global_id(0)] *= 2; }\n"
        record, = self.check(text, "--reference-command", self.reference("load('y')"), status=1)
        self.assertIn("the reference command did not write 'y.npy'", record["reason"])
        self.assert_checked_by("reference command", text, "--reference-command", self.reference("kind, shape, y = load('y'); save('y', kind, shape, [2 * v for v in y])"))

    def test_images_vectors_and_structs_have_a_dimension_for_their_parts(self):
        text = """/*cllab
arg image = rand:rgba8ui:8,4
arg v = rand:float2:16
arg at = 1,2,3,4
arg s = {int:7, float:0.5}
arg dst = out:float2:16
global 16
*/
typedef struct { int a; float b; } pair;
__kernel void k(__read_only image2d_t image, __global const float2* v, int4 at, pair s, __global float2* dst) {
    dst[get_global_id(0)] = v[get_global_id(0)] + at.w + s.a + (read_imageui(image, (int2)(0, 0)).x > 255);
}
"""
        command = self.reference("""
            shapes = {name: load(name)[:2] for name in ("image", "v", "at", "s")}
            assert shapes == {"image": ("|u1", (4, 8, 4)), "v": ("<f4", (16, 2)), "at": ("<i4", (4,)), "s": ("|u1", (8,))}, shapes
            exact = lambda x: struct.unpack("f", struct.pack("f", x))[0]
            save("dst", "<f4", (32,), [exact(exact(v + 4) + 7) for v in load("v")[2]])
            """)
        self.assert_checked_by("reference command", text, "--reference-command", command)

    def test_reference_command_works_with_vs_and_tune_but_not_in_a_file(self):
        text = add("") + "__kernel void also(__global const int* src, __global int* dst, int more) { dst[get_global_id(0)] = more + src[get_global_id(0)]; }\n"
        self.write(text)
        self.lab("run", "t.cl:add", "--vs", "t.cl:also", "--device", "cpu", "--no-dumps", "--max-time", "0.2", "--json", "r.jsonl", "--reference-command", self.right())
        cells = [r for r in self.records() if "checked_by" in r]
        self.assertEqual({r["checked_by"] for r in cells}, {"reference command"})
        tuned = add("").replace("global n", "axis tile tune = 1,2,4\noptions -DTILE={tile}\nglobal n")
        self.write(tuned)
        self.lab("tune", "t.cl", "--device", "cpu", "--max-time", "0.02", "--json", "r.jsonl", "--force", "--reference-command", self.right())
        proofs = {r.get("checked_by", "reference command") for r in self.records()}  # the search takes one input
        self.assertLessEqual(proofs, {"reference command", "reference command, one input"})
        self.assertIn("reference command", proofs)
        self.write("/*cllab\nreference-command python3 ref.py\n*/\n" + add(""))
        self.assert_one_sentence(self.lab("run", "t.cl", "--device", "cpu", status=2)[1], "t.cl:2:1: a file may not run programs", "--reference-command")
        self.assert_one_sentence(self.lab("run", "pitch_short8", "--device", "cpu", "--reference-command", "true", status=2)[1], "--reference-command")

    def test_strongest_proof_is_named_first(self):
        text = add("").replace("global n", "global n\nreference add\nrelation sum of dst is n * 0 + 1")
        self.assert_checked_by("reference command", text.replace("\nrelation sum of dst is n * 0 + 1", ""), "--reference-command", self.right())
        both = add("").replace("global n", "global n\nreference slow") + "__kernel void slow(__global const int* src, __global int* dst, int more) { dst[get_global_id(0)] = more + src[get_global_id(0)]; }\n"
        first = next(r for r in self.check(both, "--reference-command", self.right()) if r["variant"] == "add")
        self.assertEqual(first["checked_by"], "reference slow, reference command")


class Holes(KernelFileTest):
    """What looked like a proof and was none."""
    PAIR = """/*cllab
axis n = 256
arg x = rand:n
arg p = out:n
global n
tolerance {}
kernel fast
reference slow
*/
typedef struct {{ int id; float f; long at; }} P;
kernel void slow(global const float* x, global P* p) {{ const int i = get_global_id(0); p[i].id = 1000 * i; p[i].f = x[i]; p[i].at = i; }}
kernel void fast(global const float* x, global P* p) {{ const int i = get_global_id(0); p[i].id = 1000 * i; p[i].f = x[i]; p[i].at = i; {} }}
"""
    LINE = "/*cllab\naxis n = 256\narg x = rand:n\narg y = out:n\nglobal n\n{}\n*/\nkernel void k(global const float* x, global float* y) {{ const int i = get_global_id(0); y[i] = {}; }}\n"

    def test_integers_of_structs_are_exact_despite_float_tolerances(self):
        for wrong in ("p[i].id += i == 200;", "p[i].at ^= 1;"):
            for tolerance in ("relative=1e-2", "absolute=2"):
                record, = [r for r in self.check(self.PAIR.format(tolerance, wrong), status=1) if r["variant"] == "fast"]
                self.assertEqual(record["status"], "wrong_result")
                self.assertIn("p[200].id" if "id" in wrong else "p[0].at", record["reason"])
        self.assertEqual([r["status"] for r in self.check(self.PAIR.format("relative=1e-3", "p[i].f *= 1.00001f;"))], ["ok", "ok"])

    def test_relation_rejects_nan_and_zeros_prove_nothing(self):
        for relation in ("linear in x", "same under permute x", "sum of y preserved from x"):
            for value in ("x[i] * NAN", "x[i] + INFINITY", "i == 77 ? NAN : 0"):
                record, = self.check(self.LINE.format("relation " + relation, value), status=1)
                self.assertEqual(record["status"], "wrong_result")
                self.assertIn(f"the relation '{relation}' does not hold", record["reason"])
        record, = self.check(self.LINE.format("relation linear in x", "x[i] * 0"))  # -0 where x is negative
        self.assertEqual(record["checked_by"], "only itself")
        self.assertTrue(any(w.startswith("unproved") and "results that are all 0" in w for w in record["warnings"]), record["warnings"])
        self.assert_checked_by("relation linear in x", self.LINE.format("relation linear in x", "2 * x[i]"))

    def test_verify_uses_two_inputs_and_equal_code_is_no_agreement(self):
        text = self.LINE.format("same k, other", "x[i]") + "kernel void other(global const float* x, global float* y) { const int i = get_global_id(0); y[i] = VALUE; }\n"
        records = self.check(text.replace("VALUE", "x[i]"), "--verify")
        self.assertEqual([r["checked_by"] for r in records], ["only itself"] * 2)
        records = self.check(text.replace("VALUE", "x[i] * 2 - x[i]"), "--verify")
        self.assertEqual([r["checked_by"] for r in records], ["agreement of 2"] * 2)
        reference = self.LINE.format("reference k", "x[i]")
        record = self.check(reference + "kernel void seen(global const float* x, global float* y) { const int i = get_global_id(0); y[i] = 9; }\n", "--verify", status=1)
        first = next(r for r in record if r["variant"] == "seen")["reason"].split(" has ")[1].split(" ")[0].rstrip(";")
        once = f"kernel void once(global const float* x, global float* y) {{ const int i = get_global_id(0); y[i] = fabs(x[0] - {first}f) < 1e-5f ? x[i] : 7; }}\n"
        self.assertEqual({r["variant"]: r["status"] for r in self.check(reference + once, "--verify", status=1)}, {"k": "ok", "once": "wrong_result"})

    def test_kernel_or_equal_code_is_no_reference_of_itself(self):
        self.assert_checked_by("only itself", self.LINE.format("reference k", "x[i]"))
        twin = "kernel void twin(global const float* x, global float* y) { const int i = get_global_id(0); y[i] = x[i]; }\n"
        circle = self.LINE.format("kernel k\nreference twin\nkernel twin\nreference k", "x[i]") + twin
        self.assertEqual([record["checked_by"] for record in self.check(circle)], ["only itself"] * 2)

    def test_a_copy_of_the_kernel_in_another_file_is_no_reference(self):
        line = self.LINE.format("reference other.cl:k", "x[i]")
        (self.folder / "other.cl").write_text(self.LINE.format("", "x[i]") + "// the same\n")
        self.assert_checked_by("only itself", line)
        (self.folder / "other.cl").write_text(self.LINE.format("", "x[i] + 0"))
        self.assert_checked_by("reference other_k", line)

    def test_permutation_of_unused_inputs_proves_nothing(self):
        self.assert_checked_by("only itself", self.LINE.format("relation same under permute x", "7"))

    def test_unverified_outputs_are_named(self):
        (self.folder / "gold.raw").write_bytes(bytes(256))
        text = "/*cllab\narg y = out:64\narg z = out:64\nglobal 64\nexpect y = gold.raw\n{}\n*/\nkernel void k(global float* y, global float* z) {{ const int i = get_global_id(0); y[i] = 0; z[i] = i; }}\n"
        record, = self.check(text.format(""))
        self.assertEqual(record["checked_by"], "file gold.raw, only itself (z)")
        self.assertTrue(any(w.startswith("unproved: the results of z are unverified") for w in record["warnings"]))
        self.assert_checked_by("file gold.raw, relation sum of z is 64 * 63 / 2", text.format("relation sum of z is 64 * 63 / 2"))

    def test_self_inverse_kernels_in_place_are_right(self):
        for kind, body in (("float", "d[i] = -d[i];"), ("float", "d[i] = 1 - d[i];"), ("uint", "d[i] = ~d[i];"),
                           ("float", "if (i < 2048) { const float a = d[i]; d[i] = d[4095 - i]; d[4095 - i] = a; }")):
            for verify in ((), ("--verify",)):
                record, = self.check(f"/*cllab\narg d = rand:4096\nglobal 4096\n*/\nkernel void k(global {kind}* d) {{ const int i = get_global_id(0); {body} }}\n", *verify)
                self.assertEqual(record["status"], "ok", record)


# Few work-items are simulated, and more only where that takes little time, which it does not beside other work.
AGREES = r"^agrees with Oclgrind at n=\d+$"


@unittest.skipIf(OCLGRIND_LIBRARY is None, "Oclgrind is not installed")
class AnotherDevice(KernelFileTest):
    def devices(self, kernel, *args, **more):
        return self.check((PROOF / "devices.cl").read_text(), "--arg", f"dst=out:{'float' if kernel in ('fused', 'turn') else 'uint'}:n", "--build-options", f"-D{kernel.upper()}", *args, pattern=f"t.cl:{kernel}", **more)

    def test_kernel_with_equal_results_on_both_devices_agrees(self):
        for option in (["--check"], ["--check", "device=oclgrind"]):
            record, = self.devices("good", *option)
            self.assertEqual((record["status"], record["point"]["n"]), ("ok", 16384))
            self.assertEqual(record["checked_by"], "agrees with Oclgrind at n=16384")
            self.assertFalse(any(w.startswith(("unproved", "elsewhere")) for w in record["warnings"]))

    def test_finding_of_the_other_device_names_the_command_with_file_and_options(self):
        text = "/*cllab\narg y = out:64\narg v = 1\nglobal 64\n*/\nkernel void race(global uint* y, uint v) { local uint last; last = get_local_id(0); y[get_global_id(0)] = v + last * 0; }\n"
        record, = self.check(text, "--arg", "v=2", "--check")
        said, = [w for w in record["warnings"] if w.startswith("elsewhere: ")]
        self.assertRegex(said, r"Oclgrind finds in it '.*' and 1 more; `cllab run t\.cl:race --check oclgrind --arg v=2 --device \S+` shows where")

    def test_too_long_simulation_is_compared_at_a_smaller_size(self):
        record, = self.devices("good", "--check", "-a", "n=8388608", "--timeout", "5")
        self.assertEqual((record["status"], record["point"]["n"], record["checked_by"]), ("ok", 8388608, "agrees with Oclgrind at n=1024"), record)

    def test_difference_states_both_devices_the_element_and_both_values(self):
        record, = self.devices("border", "--check", "-a", "n=2048", status=1)
        self.assertEqual(record["status"], "wrong_result")
        self.assertRegex(record["reason"], r"^'[^']+' and 'Oclgrind' give different results at n=2048: dst\[2047\] is \d+, on 'Oclgrind' 7777; "
                                           r"only a reference can tell which of the two is right$")

    def test_difference_for_the_second_input_only_is_detected(self):
        (self.folder / "look.py").write_text(ARRAYS + "kind, shape, values = load('src'); open('seen', 'a').write(f'{values[0]} '); save('dst', kind, shape, values)")
        text = (PROOF / "devices.cl").read_text()
        same = ("--arg", "dst=out:uint:n", "--seed", "7", "-a", "n=64")
        self.check(text, *same, "--build-options", "-DSECOND=256", "--reference-command", "python3 look.py", pattern="t.cl:second")
        first, second = (self.folder / "seen").read_text().split()
        self.assertNotEqual(first, second)
        record, = self.check(text, *same, "--build-options", f"-DSECOND={second}", "--check", pattern="t.cl:second", status=1)
        self.assertEqual(record["status"], "wrong_result")
        record, = self.check(text, *same, "--build-options", "-DSECOND=256", "--check", pattern="t.cl:second")
        self.assertTrue(record["checked_by"].startswith("agrees with Oclgrind"), record)

    def test_reference_shows_that_the_other_device_is_wrong(self):
        text = (PROOF / "devices.cl").read_text().replace("global n", "global n\nreference good")
        records = self.check(text, "--build-options", "-DBORDER", "--check", "-a", "n=1024", pattern="t.cl:border")
        border = next(r for r in records if r["variant"] == "border")
        self.assertEqual((border["status"], border["checked_by"]), ("ok", "reference good"))
        self.assertTrue(any(w.startswith("elsewhere: ") and "give different results" in w for w in border["warnings"]), border["warnings"])

    def test_crash_or_hang_on_the_other_device_leaves_it_unverified(self):
        for kernel, says, seconds in (("crash", "the simulator cannot create kernel 'crash', which may call a function that it lacks", 60), ("hang", "not checked by Oclgrind at n=64: while it ran, no progress for 6.00 s", 6)):
            with self.subTest(kernel=kernel):
                record, = self.devices(kernel, "--check", "-a", "n=64", "--timeout", seconds)
                self.assertEqual((record["status"], record["checked_by"]), ("ok", "only itself"))
                said, = [w for w in record["warnings"] if w.startswith("elsewhere: ")]
                self.assertIn(says, said)

    def test_oclgrind_without_uninitialised_checks_still_compares(self):
        record, = self.devices("turn", "--check", "-a", "n=256", "--tolerance", "relative=1e-5")
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "agrees with Oclgrind at n=256"), record)
        self.assertFalse(any(w.startswith("elsewhere") for w in record["warnings"]), record)
        out, _ = self.lab("run", "t.cl:turn", "--device", "cpu", "--check", "oclgrind", "-a", "n=256", "--arg", "dst=out:float:n", "--build-options", "-DTURN",
                          "--tolerance", "relative=1e-5")
        self.assertRegex(out, r"t_turn in Oclgrind at n=256: no race, no access outside \(uninitialised values: Oclgrind cannot look for them here\); the results are those of '")

    def test_limits_of_oclgrind_are_no_wrong_result(self):
        record, = self.devices("fence", "--check", "-a", "n=64")
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "only itself"), record)
        said, = [w for w in record["warnings"] if w.startswith("elsewhere: ")]
        self.assertIn("not checked by Oclgrind at n=64: it cannot do what the kernel does, in its words 'Unsupported instruction: fence'", said)

    def test_float_texels_may_differ_as_much_as_opencl_allows(self):
        text = """/*cllab
axis n = 64
arg src = rand:{format}:n,16
arg dst = out:float4:n*16
global n,16
*/
#if defined(__SPIR__) || defined(__SPIR64__)
#define FACTOR {there}
#else
#define FACTOR {here}
#endif
__kernel void k(__read_only image2d_t src, __global float4* dst) {{
    const int x = get_global_id(0), y = get_global_id(1);
    dst[y * get_global_size(0) + x] = read_imagef(src, (int2)(x, y)) * FACTOR;
}}
"""
        for name in ("rgba8", "rgba16", "rgba8s"):
            for factor in ("1", "255"):
                record, = self.check(text.format(format=name, here=factor, there=factor), "--check")
                self.assertRegex(record["checked_by"], "^agrees with Oclgrind", record["reason"])
        record, = self.check(text.format(format="rgba8", here="1", there="1.000001f"), "--check", status=1)
        self.assertIn("give different results", record["reason"])

    def test_functions_may_differ_as_much_as_the_language_allows(self):
        text = """/*cllab
axis n = 2048
arg src = rand:n:-3:3
arg dst = out:n
global n
*/
#if defined(__SPIR__) || defined(__SPIR64__)
#define FACTOR {there}
#else
#define FACTOR 1
#endif
__kernel void k(__global const float* src, __global float* dst) {{
    const int i = get_global_id(0);
    dst[i] = {what} * FACTOR;  // no sin()
}}
"""
        record, = self.check(text.format(what="sin(src[i])", there="(1 + 0x1p-23f)"), "--check")
        self.assertRegex(record["checked_by"], r"^agrees with Oclgrind.* within 8 ulp: OpenCL allows sin\(\) 4 on each")
        for what, there in ("sin(src[i])", "(1 + 0x1p-19f)"), ("fabs(src[i])", "(1 + 0x1p-23f)"):
            record, = self.check(text.format(what=what, there=there), "--check", status=1)
            self.assertIn("give different results", record["reason"])

    def test_fused_multiply_add_gets_the_covering_tolerance(self):
        record, = self.devices("fused", "--check", status=1)
        self.assertRegex(record["reason"], r"which 'tolerance relative=\S+' takes")
        tolerance = record["reason"].split("'tolerance ")[1].split("'")[0]
        record, = self.devices("fused", "--check", "--tolerance", tolerance)
        self.assertRegex(record["checked_by"], AGREES)

    def test_races_and_unset_values_are_reported_with_the_agreement(self):
        for kernel, says in (("race", "race"), ("unset", "ninitialized")):
            with self.subTest(kernel=kernel):
                record, = self.devices(kernel, "--check", "-a", "n=64", status=None)
                told = [w for w in record["warnings"] if w.startswith("elsewhere: ")] + [record.get("reason", "")]
                self.assertTrue(any(says in w for w in told), record)

    def test_too_small_size_blames_no_kernel(self):
        text = """/*cllab
axis n = 4096
axis bins = 256
arg data = rand:uint:n:0:255
arg sums = zero:bins
global n
*/
__kernel void counts(__global const uint* data, __global uint* sums) { atomic_inc(&sums[data[get_global_id(0)]]); }
"""
        record, = self.check(text, "--check")
        self.assertRegex(record["checked_by"], AGREES[:-1] + " bins=256$")

    def test_real_device_checks_the_whole_of_each_point(self):
        self.write((PROOF / "devices.cl").read_text())
        self.lab("run", "t.cl:good", "--device", "0:0", "--no-dumps", "--max-time", "0.02", "--json", "r.jsonl", "--check", "device=0:1", "-a", "n=64,8192",
                 env=self.environment(POCL_DEVICES="pthread basic"))
        for record in self.records():
            self.assertRegex(record["checked_by"], rf"^agrees with .+ at n={record['point']['n']}$")

    def test_option_without_another_device_is_refused(self):
        self.write((PROOF / "devices.cl").read_text())
        for option, says in ((["--check", "device=cpu"], "the device under test itself"), (["--check", "device=nosuch"], "nosuch"),
                             (["--check=valgrind"], "oclgrind"), (["--check", "device=cpu", "--watch"], "--watch")):
            with self.subTest(option=option):
                self.assertIn(says, self.lab("run", "t.cl:good", "--device", "cpu", "--no-dumps", *option, status=None)[1])
        self.assertIn("kernel files", self.lab("run", "pitch_short8", "--device", "cpu", "--no-dumps", "--check", status=2)[1])

    def test_check_oclgrind_reports_results(self):
        self.write((PROOF / "devices.cl").read_text())
        out, _ = self.lab("run", "t.cl:good", "--device", "cpu", "--check", "oclgrind")
        self.assertRegex(out, r"t_good in Oclgrind at n=16384: no race, no uninitialised value, no access outside; the results are those of '[^']+'")
        out, _ = self.lab("run", "t.cl:border", "--device", "cpu", "--check", "oclgrind", "--build-options", "-DBORDER", status=1)
        self.assertRegex(out, r"other results than on '[^']+': dst\[\d+\] is \d+, on 'Oclgrind' 7777")


class Relations(KernelFileTest):
    def kernels(self, name, *args, **more):
        return {r["variant"]: r for r in self.check((PROOF / name).read_text(), *args, **more)}

    def test_right_kernels_satisfy_their_relations(self):
        for name, kernel, proof in (("histogram.cl", "counts", "relation same under permute data, relation sum of bins is n"),
                                    ("filter.cl", "blur", "relation linear in src"),
                                    ("transpose.cl", "turned", "relation linear in src, relation sum of dst preserved from src")):
            with self.subTest(name=name):
                record = self.kernels(name)[kernel]
                self.assertEqual((record["status"], record["checked_by"]), ("ok", proof))

    def test_wrong_kernels_violate_their_relations(self):
        for name, option, kernel, reason in (
                ("histogram.cl", "LOSES_ONE", "loses_one", r"the relation 'sum of bins is n' does not hold: the sum of bins is 4095, it must be 4096"),
                ("filter.cl", "NOT_LINEAR", "clipped", r"the relation 'linear in src' does not hold: of k\(2a \+ b\) dst\[\d+\] is \S+, 2 k\(a\) \+ k\(b\) has"),
                ("transpose.cl", "TWICE", "twice", r"the relation 'sum of dst preserved from src' does not hold: the sum of dst is \d+, that of src \d+")):
            with self.subTest(name=name):
                text = (PROOF / name).read_text().replace("relation same under permute data\n", "")
                record = next(r for r in self.check(text, "--build-options", f"-D{option}", status=None) if r["variant"] == kernel)
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], reason)

    def test_fft_is_linear_and_its_inverse_restores_the_input(self):
        text = (PROOF / "fft.cl").read_text()
        record, = self.check(text, pattern="t.cl:fft")
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "relation linear in x"), record["reason"])
        record, = self.check(text)
        self.assertEqual((record["variant"], record["checked_by"]), ("there_and_back", "expect unchanged, relation linear in x"), record["reason"])
        for right, wrong, pattern, reason in (("a - turned", "fabs(a - turned)", "t.cl:fft", "the relation 'linear in x' does not hold"),
                                              ("sign * M_PI_F * k / p", "sign * M_PI_F * k / 256", None, r"x\[\d+\].s. is \S+, expected ")):
            with self.subTest(wrong=wrong):
                record, = self.check(text.replace(right, wrong), pattern=pattern, status=1)
                self.assertRegex(record["reason"], reason)

    def test_sum_in_another_order_is_reported_with_its_tolerance(self):
        text = """/*cllab
axis n = 4096
arg src = rand:n
arg sum = out:1
arg n = n
global 1
relation same under permute src
*/
__kernel void total(__global const float* src, __global float* sum, int n) { float s = 0; for (int i = 0; i < n; ++i) s += src[i]; sum[0] = s; }
"""
        record, = self.check(text, "--seed", "3", status=1)
        self.assertRegex(record["reason"], r"does not hold: sum\[0\] is .*, with src permuted it has .*'tolerance relative=\S+' takes")
        self.assert_checked_by("relation same under permute src", text, "--seed", "3", "--tolerance", "relative=1e-5")
        record, = self.check(text.replace("s += src[i]", "s += src[i] * (i < 9)"), "--tolerance", "relative=1e-5", status=1)
        self.assertEqual(record["status"], "wrong_result")

    def test_partly_unwritten_output_may_still_be_linear(self):
        text = (PROOF / "filter.cl").read_text().replace("dst[i] =", "if (i > 0 && i < n - 1) dst[i] =")
        self.assertEqual(self.check(text)[0]["checked_by"], "relation linear in src")

    def test_sort_in_place_is_permutation_invariant(self):
        text = """/*cllab
arg x = rand:int:64:0:999
global 1
relation same under permute x
*/
__kernel void sort(__global int* x) {
    for (int i = 1; i < 64; ++i) for (int j = i; j > 0 && x[j - 1] > x[j]; --j) { const int t = x[j]; x[j] = x[j - 1]; x[j - 1] = t; }
}
"""
        self.assertEqual(self.check(text)[0]["checked_by"], "relation same under permute x")
        record, = self.check(text.replace("x[j - 1] > x[j]", "x[j - 1] > x[j] && j > 3"), status=1)
        self.assertIn("the relation 'same under permute x' does not hold", record["reason"])

    def test_impossible_relation_is_refused_with_its_place(self):
        for line, says in (("relation", "'relation' is empty"), ("relation odd in src", "'relation' takes"), ("relation linear in", "'relation' takes"),
                           ("relation linear in n", "needs a buffer that kernel 'blur' reads data from; found 'n'"), ("relation sum of src preserved from dst", "needs a buffer that kernel 'blur' reads data from; found 'dst'"),
                           ("relation sum of src is 3", "needs a buffer that kernel 'blur' writes; found 'src'"), ("relation sum of dst is 3 +", "expected"),
                           ("relation any order of src", "needs a buffer that kernel 'blur' writes; found 'src'"), ("relation any order of", "'relation' takes"),
                           ("relation any order of dst / 0", "'any order of points / 3' for 3 arrays in one buffer; found 'dst / 0'")):
            with self.subTest(line=line):
                self.write((PROOF / "filter.cl").read_text().replace("relation linear in src", line))
                self.assert_one_sentence(self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", status=2)[1], "t.cl:7:", says)

    def test_unordered_rows_need_equal_lengths_and_complete_expectations(self):
        text = (PROOF / "appended.cl").read_text().replace("reference backwards", "expect key = key.npy").replace("rand:n:0:1000", "iota:n")
        (self.folder / "key.npy").write_bytes(npy("<i4", "(4096,)", bytes(4 * 4096)))
        for old, new, says in (("points / 2", "points / 3", "arrays in one order must have the same length; 'points' has 2730 elements, but 'points' has 8192 / 3"),
                               ("of key, value", "of key, points", "'key' has 4096 elements, but 'points' has 8192 / 1"),
                               ("of key, value", "of key, value", "has 2 results, but lines 'expect' cover only 1; add them for all or for none")):
            with self.subTest(new=new):
                changed = text.replace(old, new) if "expect" in says else text.replace(old, new).replace("expect key = key.npy\n", "")
                self.write(changed)
                self.assertIn(says, self.lab("run", "t.cl:forwards", "--device", "cpu", "--no-dumps", status=2)[1])

    def test_axis_used_only_in_a_relation_is_accepted(self):
        text = (PROOF / "filter.cl").read_text().replace("relation linear in src", "relation sum of dst is total")
        self.assertIn("it must be 1000000000000", self.check(text, "-a", "total=1000000000000", status=1)[0]["reason"])

    def test_unordered_results_are_compared_row_by_row(self):
        text = (PROOF / "appended.cl").read_text()
        self.assertEqual(self.kernels("appended.cl")["forwards"]["checked_by"], "reference backwards")
        record = self.check(text, "--check", pattern="t.cl:forwards")[0]
        self.assertRegex(record["checked_by"], "^reference backwards, " + AGREES[1:])
        for option, reason in (("MIXES", "value"), ("MIXES_POINTS", "points"), ("LOSES", "value")):
            with self.subTest(option=option):
                record = self.kernels("appended.cl", "--build-options", f"-D{option}", status=1)["forwards"]
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], rf"^{reason}\[\d+\] is \S+, the reference 'backwards' has")

    def test_order_matters_without_the_any_order_line(self):
        text = (PROOF / "appended.cl").read_text().replace("relation any order of key, value\n", "")
        record = next(r for r in self.check(text, status=1) if r["variant"] == "forwards")
        self.assertIn("key[0] is 0, the reference 'backwards' has 4095", record["reason"])
        # One column for itself may be in order while the rows are not.
        records = self.check(text, "--relation", "any order of key", "--relation", "forwards:any order of value", "--build-options", "-DMIXES")
        self.assertEqual({r["status"] for r in records}, {"ok"})

    def test_devices_that_append_in_another_order_agree(self):
        text = """/*cllab
axis n = 1024
arg src = rand:n
arg dst = out:n
arg count = zero:1
global n
local 64
*/
__kernel void append(__global const float* src, __global float* dst, __global int* count) {
    int i = get_global_id(0);
#if defined(__SPIR__) || defined(__SPIR64__)
    i = get_global_size(0) - 1 - i;
#endif
    const int slot = atomic_inc(count);
    if (slot < get_global_size(0)) dst[slot] = src[i];
}
"""
        record, = self.check(text, "--check", status=1)
        self.assertIn("give different results", record["reason"])
        record, = self.check(text, "--check", "--relation", "any order of dst")
        self.assertRegex(record["checked_by"], AGREES)
        record, = self.check(text.replace("= src[i]", "= src[i + (i == 3)]"), "--check", "--relation", "any order of dst")
        record, = self.check(text.replace("i = get_global_size(0) - 1 - i;", "i += i == 3;"), "--check", "--relation", "any order of dst", status=1)
        self.assertIn("give different results", record["reason"])

    def test_relations_are_accepted_on_the_command_line(self):
        text = (PROOF / "filter.cl").read_text().replace("relation linear in src\n", "")
        self.assertEqual(self.check(text)[0]["checked_by"], "only itself")
        self.assertEqual(self.check(text, "--relation", "linear in src")[0]["checked_by"], "relation linear in src")


if __name__ == "__main__":
    main()
