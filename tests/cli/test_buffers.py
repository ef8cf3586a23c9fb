#!/usr/bin/env python3
"""What buffers of kernel files hold and where they lie: packed data, structs, one buffer for two arguments, parts of one, shared virtual memory."""
import struct
import unittest

from kernel_files import KernelFileTest, floats
from lab import OCLGRIND_LIBRARY, main


class PackedData(KernelFileTest):
    def reasons(self, text, status):
        return {r["variant"]: r["reason"] for r in self.check(text, status=status) if r["status"] != "ok"}

    def test_bfloat16_buffers_have_their_own_tolerance(self):
        text = """/*cllab
arg x = rand:bf16:256:1:2
arg y = out:bf16:256
global 256
reference rounds
%s*/
float wide(ushort x) { return as_float((uint)x << 16); }
__kernel void rounds(__global const ushort* x, __global ushort* y) {
    const int i = get_global_id(0);
    const uint bits = as_uint(wide(x[i]) * 0.7f);
    y[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
__kernel void cuts(__global const ushort* x, __global ushort* y) { y[get_global_id(0)] = as_uint(wide(x[get_global_id(0)]) * 0.7f) >> 16; }
__kernel void within(__global const ushort* x, __global ushort* y) {
    const int i = get_global_id(0);
    const uint bits = as_uint(wide(x[i]) * 0.7f);
    y[i] = wide(x[i]) >= 1 && wide(x[i]) <= 2 ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16 : 0;
}
"""
        reasons = self.reasons(text % "", 1)
        self.assertEqual(list(reasons), ["cuts"])
        self.assertRegex(reasons["cuts"], r"^y\[\d+\] is [01]\S*, the reference 'rounds' has [01]")
        self.assertEqual(self.reasons(text % "tolerance ulp=1\n", 0), {})

    def test_nibbles_are_two_per_byte(self):
        text = """/*cllab
arg x = rand:nibble:512:1:9
arg y = out:nibble:512
global 256
reference good
*/
__kernel void good(__global const uchar* x, __global uchar* y) {
    const int i = get_global_id(0), low = x[i] & 15, high = x[i] >> 4;
    y[i] = low >= 1 && low <= 9 && high >= 1 && high <= 9 ? low + 1 | (high + 1) << 4 : 0;
}
__kernel void more(__global const uchar* x, __global uchar* y) { y[get_global_id(0)] = x[get_global_id(0)] + 0x11; }
__kernel void wrong(__global const uchar* x, __global uchar* y) { y[get_global_id(0)] = x[get_global_id(0)] + (get_global_id(0) == 77 ? 0x01 : 0x11); }
"""
        reasons = self.reasons(text, 1)
        self.assertEqual(list(reasons), ["wrong"])
        self.assertRegex(reasons["wrong"], r"^y\[155\] is \d, the reference 'good' has \d+; \d+ of \d+ elements differ$")


class Structs(KernelFileTest):
    TEXT = """/*cllab
arg p = fields:256:{position:rand:-1:1, mass:const:2, id:iota}
arg q = out:256
global 256
%s*/
typedef struct { float3 position; float mass; int id; } Particle;  // 8 bytes of padding at the end, 4 in position
__kernel void whole(__global const Particle* p, __global Particle* q) {
    Particle one = p[get_global_id(0)];
    one.position *= one.mass;
    q[get_global_id(0)] = one;
}
__kernel void fields(__global const Particle* p, __global Particle* q) {
    const int i = get_global_id(0);
    vstore3(vload3(0, (__global const float*)&p[i].position) * %s, 0, (__global float*)&q[i].position);
    q[i].mass = p[i].mass;
    q[i].id = p[i].id + %s;
}
"""

    def test_results_that_differ_only_in_padding_are_equal(self):
        record = next(r for r in self.check(self.TEXT % ("reference whole\n", "2.0f", 0)) if r["variant"] == "fields")
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "reference whole"), record["reason"])
        self.assertFalse([w for w in record["warnings"] if w.startswith("partly-written")])

    def test_floats_use_the_tolerance_and_integers_compare_exactly(self):
        for more, factor, add, reason in (("", "2.00001f", 0, r"q\[0\]\.position\.s0 is \S+, the reference 'whole' has \S+ \("),
                                          ("tolerance relative=1e-4\n", "2.00001f", 0, ""),
                                          ("tolerance relative=1e-4\n", "2.00001f", "(i == 77)", r"q\[77\]\.id is 78, the reference 'whole' has 77; \d+ of \d+ elements differ$")):
            text = self.TEXT % ("reference whole\n" + more, factor, add)
            record = next(r for r in self.check(text, status=bool(reason)) if r["variant"] == "fields")
            self.assertEqual(record["status"], "wrong_result" if reason else "ok", record["reason"])
            self.assertRegex(record["reason"], reason or "^$")

    def test_kernel_sees_the_data_of_the_field_rules(self):
        text = """/*cllab
arg p = fields:256:{%s position:rand:-1:1, %s mass:const:2, %s id:iota}
arg right = out:256
global 256
reference always
*/
#define REAL3 float3
typedef struct { %s position; float mass; int id; } Particle;
__kernel void always(__global const Particle* p, __global int* right) { right[get_global_id(0)] = 1; }
__kernel void k(__global const Particle* p, __global int* right) {
    const int i = get_global_id(0);
    const float3 x = p[i].position;
    right[i] = p[i].mass == 2 && p[i].id == i && x.x >= -1 && x.x < 1 && x.z >= -1 && x.z < 1 && x.x != x.y && x.x != 0;
}
"""
        # The lab reads the struct of the text, and what it cannot read there is given with its types.
        short = text.replace("fields:256:{%s position:rand:-1:1, %s mass:const:2, %s id:iota}", "{float3:rand:-1:1, float:const:2, int:iota}:256")
        for block in (text % ("", "", "", "float3"), text % ("float3", "float", "int", "REAL3"), short % "float3", short % "REAL3"):
            record = next(r for r in self.check(block) if r["variant"] == "k")
            self.assertEqual((record["status"], record["checked_by"]), ("ok", "reference always"), record["reason"])


class OneBuffer(KernelFileTest):
    """The host's buffer for both arguments of a kernel."""
    TEXT = """/*cllab
arg src = {src}
arg dst = {dst}
global 256
{more}*/
__kernel void k(__global const float* src, __global float* dst) {{ const int i = get_global_id(0); dst[i] = {value}; }}
"""

    def one(self, status=0, args=(), src="rand:256", dst="same:src", more="", value="2 * src[i]"):
        record, = self.check(self.TEXT.format(src=src, dst=dst, more=more, value=value), *args, status=status)
        return record

    def test_shared_buffer_holds_the_in_place_result_of_a_host(self):
        (self.folder / "twice.bin").write_bytes(floats([2.0 * i for i in range(256)]))
        for name in ("dst", "src"):  # either is its name
            self.assertEqual(self.one(src="iota:256", more=f"expect {name} = twice.bin\n")["checked_by"], "file twice.bin")
        record = self.one(src="iota:256", more="expect dst = twice.bin\n", value="3 * src[i]", status=1)
        self.assertRegex(record["reason"], r"^dst\[1\] is 3, expected 2; \d+ of \d+ elements differ$")
        self.assertEqual(self.one(more="relation linear in src\n")["checked_by"], "relation linear in src")

    def test_kernel_right_separately_but_wrong_in_place_is_wrong(self):
        block, kernel = "kernel apart\narg dst = out:256\nkernel inside\narg dst = same:src\nreference apart\n", self.TEXT.split("*/\n")[1]
        text = "/*cllab\narg src = rand:256\nglobal 256\n" + block + "*/\n" + "".join(kernel.replace(" k(", f" {name}(").format(value="{value}") for name in ("apart", "inside"))
        for value, status in (("2 * src[i]", "ok"), ("src[(i + 1) % 256] - src[i]", "wrong_result")):
            record = next(r for r in self.check(text.replace("{value}", value), status=status != "ok") if r["variant"] == "inside")
            self.assertEqual(record["status"], status, record["reason"])
            if status == "ok":
                self.assertEqual(record["checked_by"], "reference apart")
            else:
                self.assertRegex(record["reason"], r"dst\[\d+\] is \S+, the reference 'apart' has ")

    def test_write_outside_the_shared_buffer_is_reported(self):
        record = self.one(value="src[i]; dst[i + 1] = 1", status=1)
        self.assertRegex(record["reason"], r"write of dst\[256\], 1 element past its end of 256 elements")

    def test_command_finds_the_shared_input_by_its_name(self):
        (self.folder / "twice.py").write_text("""import array, os
folder = os.environ["CLLAB_REFERENCE_DIR"]
data = open(f"{folder}/src.npy", "rb").read()
head = 10 + data[8] + 256 * data[9]
open(f"{folder}/dst.npy", "wb").write(data[:head] + array.array("f", (2 * v for v in array.array("f", data[head:]))).tobytes())
""")
        self.assertEqual(self.one(args=["--reference-command", "python3 twice.py"])["checked_by"], "reference command")


class NoBuffer(KernelFileTest):
    """A host may pass NULL for a pointer."""
    TEXT = """/*cllab
arg from = null
arg by = null
arg to = out:256
global 256
*/
__kernel void k(__global const int* from, __constant int* by, __global int* to) {
    const int i = get_global_id(0);
    to[i] = from ? from[i] : by ? by[0] : 7 * i;
}
"""

    def test_the_kernel_gets_null(self):
        (self.folder / "gold.bin").write_bytes(struct.pack("<256i", *range(0, 7 * 256, 7)))
        record, = self.check(self.TEXT.replace("global 256", "global 256\nexpect to = gold.bin"))
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "file gold.bin"))
        record, = self.check(self.TEXT.replace("arg by = null", "arg by = const:9:1").replace("global 256", "global 256\nexpect to = gold.bin"), status=1)
        self.assertRegex(record["reason"], r"^to\[0\] is 9, expected 0; \d+ of \d+ elements differ$")

    def test_other_commands_work_with_null_buffers(self):
        self.write(self.TEXT)
        (self.folder / "edited.cl").write_text(self.TEXT.replace("7 * i", "6 * i + i"))
        common = ["--device", "cpu", "--max-time", "2"]
        self.assertRegex(self.lab("run", "t.cl", "--vs", "edited.cl", "--no-dumps", *common)[0], "same|too close|faster")
        self.lab("tune", "t.cl", "--json", "tuned.jsonl", *common)
        self.assertEqual({record["status"] for record in self.records("tuned.jsonl") if "status" in record}, {"ok"})
        self.assertIn("VGPRs", self.lab("isa", "t.cl", "--target", "gfx900")[0])
        # The rest of it is guessed.
        self.write(self.TEXT.replace("arg to = out:256\nglobal 256\n", ""))
        _, err = self.lab("run", "t.cl", "--verify", "--no-dumps", *common)
        self.assertIn("arg to = out:", err)
        self.assertNotIn("arg from", err)

    def test_null_buffer_has_no_elements(self):
        for old, new, why in (("arg to = out:256", "arg to = out:len(from)", "the length of 'from' is not known"),
                              ("arg by = null", "arg by = same:from", "argument 'by' of kernel 'k' is 'same:from'; expected one of to"),
                              ("arg by = null", "arg by = part:from:0:1", "'from' is not a buffer with data"),
                              ("global 256", "global 256\nexpect from = unchanged", "which the kernel never writes")):
            self.assertIn(why, self.lab("run", self.write(self.TEXT.replace(old, new)), status=2)[1])


class PartsOfABuffer(KernelFileTest):
    """Sub-buffers, as of a host that allocates once."""
    TEXT = """/*cllab
arg pool = iota:float:8192
arg a = part:pool:{first}:1024
arg b = part:pool:4096:{length}
global 1024
{more}*/
__kernel void k(__global const float* a, __global float* b) {{ const int i = get_global_id(0); {body} }}
"""
    RIGHT = "b[i] = 2 * a[i]"

    def part(self, status=0, first="0", length="1024", more="expect pool = gold.bin\n", body=RIGHT + ";", args=()):
        gold = [float(i) for i in range(8192)]
        gold[4096:5120] = [2.0 * i for i in range(1024)]
        (self.folder / "gold.bin").write_bytes(floats(gold))
        return self.check(self.TEXT.format(first=first, length=length, more=more, body=body), *args, status=status)

    def test_kernels_get_parts_of_a_declared_pool(self):
        record, = self.part()
        self.assertEqual((record["status"], record["checked_by"], record["work"]["bytes"]), ("ok", "file gold.bin", 8192))
        self.assertEqual(self.part(body=f"if (b - a == 4096) {self.RIGHT};")[0]["status"], "ok")  # where they lie
        record, = self.part(body="b[i] = 3 * a[i];", status=1)
        self.assertRegex(record["reason"], r"^pool\[4097\] is 3, expected 2; \d+ of \d+ elements differ$")
        self.assertEqual(self.part(more="relation linear in pool\n")[0]["checked_by"], "relation linear in pool")

    def test_command_line_sets_the_pool_and_the_rest_is_guessed(self):
        text = self.TEXT.format(first="0", length="1024", more="", body=self.RIGHT + ";")
        self.assertEqual(self.check(text, "--arg", "pool=rand:float:6Ki", "--arg", "b=part:pool:5Ki:1Ki")[0]["status"], "ok")
        self.write(text.replace("float* b)", "float* b, __global float* c, int n)").replace("2 * a[i]", "c[i] = n * a[i]"))
        _, err = self.lab("run", "t.cl", "--device", "cpu", "--verify", "--no-dumps")
        self.assertIn("guessed (by Oclgrind", err)

    def test_part_is_measured_in_bytes_if_its_type_says_so(self):
        text = self.TEXT.replace("arg b = part:pool:4096:{length}", "arg b = part:pool:uchar:16384:{length}")
        (self.folder / "gold.bin").write_bytes(floats([float(i) for i in range(4096)] + [2.0 * i for i in range(1024)] + [float(i) for i in range(5120, 8192)]))
        record, = self.check(text.format(first="0", length="4096", more="expect pool = gold.bin\n", body=self.RIGHT + ";"))
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "file gold.bin"))

    def test_whole_pool_may_also_be_an_argument(self):
        text = self.TEXT.format(first="0", length="1024", more="expect pool = gold.bin\n", body=self.RIGHT + ";").replace("arg a = part:pool:0:1024\n", "")
        self.part()
        self.assertEqual(self.check(text.replace("float* a,", "float* pool,").replace("a[i]", "pool[i]"))[0]["checked_by"], "file gold.bin")
        _, err = self.lab("run", self.write(text.replace("float* a,", "float* a, __global float* pool,").replace("arg pool = iota:float:8192", "arg pool = part:a:0:64")), status=2)
        self.assertIn("argument 'b' of kernel 'k' is 'part:pool:4096:1024', but 'pool' is not a buffer with data; add a line", err)

    def test_write_next_to_the_parts_is_reported(self):
        for body, more, reason in ((self.RIGHT + "; if (i == 1023) b[i + 1] = 9;", "", "byte 2048[0-3] of 'pool' was written, which is in none of its parts"),
                                   (self.RIGHT + "; if (i == 1023) b[4096] = 9;", "", "write of pool\[8192\], 1 element past its end of 8192 elements"),
                                   (self.RIGHT + "; if (i == 0) b[-4097] = 9;", "", "write of pool\[-1\], 1 element before its start")):
            with self.subTest(body=body):
                record, = self.part(body=body, more=more, status=1)
                self.assertEqual(record["status"], "wrong_result")
                self.assertRegex(record["reason"], reason)

    def test_misaligned_part_is_unsupported(self):
        record, = self.part(first="1")
        self.assertEqual(record["status"], "unsupported")
        self.assertRegex(record["reason"], r"'a' begins at byte 4 of 'pool'; on this device a part must begin at a multiple of (\d+) bytes \(CL_DEVICE_MEM_BASE_ADDR_ALIGN is \d+ bits\)")

    def test_invalid_part_is_refused(self):
        for options, says in (({"length": "5000"}, "'b' takes 5000 elements of 'pool' from element 4096; 'pool' has 8192"), ({"first": "-32"}, "'a' takes 1024 elements of 'pool' from element -32; 'pool'"),
                              ({"length": "64:0"}, "'part' takes a buffer, the first element and a length, as in part:x:64Ki:4Ki; found 'part:pool:4096:64:0'"),
                              ({"more": "arg a = part:none:0:64\n"}, "'a' is given twice")):
            self.write(self.TEXT.format(**{"first": "0", "length": "1024", "more": "", "body": "b[i] = a[i];"} | options))
            _, err = self.lab("run", "t.cl", status=2)
            self.assertIn(says, err)

    def test_kernels_of_a_sequence_share_the_parts(self):
        text = self.TEXT.format(first="0", length="1024", more="sequence both = k, back\nexpect pool = gold.bin\nreset b\n", body=self.RIGHT + ";")
        text += "__kernel void back(__global float* a, __global const float* b) { a[get_global_id(0)] = b[get_global_id(0)] / 2; }\n"
        _, err = self.lab("run", self.write(text), status=2)
        self.assertIn("'reset' names 'b', which is not a buffer of sequence 'both'", err)
        self.part()
        record, = self.check(text.replace("reset b\n", ""))
        self.assertEqual((record["checked_by"], record["work"]["bytes"]), ("file gold.bin", 16384))


class SharedVirtualMemory(KernelFileTest):
    TEXT = """/*cllab
arg src = svm:iota:256
arg dst = svm:out:256
global 256
expect dst = twice.bin
*/
__kernel void k(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = 2 * src[i]; }
"""

    def setUp(self):
        super().setUp()
        (self.folder / "twice.bin").write_bytes(floats([2.0 * i for i in range(256)]))

    def test_kernel_gets_svm_pointers_if_the_device_has_svm(self):
        self.assertEqual([r["checked_by"] for r in self.check(self.TEXT)], ["file twice.bin"])
        record, = self.check(self.TEXT.replace("2 * src[i]", "src[i]"), status=1)
        self.assertRegex(record["reason"], r"^dst\[1\] is 1, expected 2; \d+ of \d+ elements differ$")

    def test_svm_is_guarded_on_both_sides(self):
        record, = self.check(self.TEXT.replace("dst[i] = 2 * src[i]", "dst[i] = 2 * src[i]; if (i == 255) dst[i + 1] = 3"), status=1)
        self.assertRegex(record["reason"], r"write of dst\[256\], 1 element past its end of 256 elements")

    @unittest.skipUnless(OCLGRIND_LIBRARY, "Oclgrind is not installed")
    def test_device_without_svm_is_unsupported(self):
        (self.folder / "oclgrind.icd").write_text(str(OCLGRIND_LIBRARY))
        self.write(self.TEXT)
        self.lab("run", "t.cl", "--verify", "--no-dumps", "--json", "r.jsonl", env=self.environment(OCL_ICD_VENDORS=str(self.folder)), status=None)
        record, = self.records()
        self.assertEqual((record["status"], record["reason"]), ("unsupported", "the device has no shared virtual memory (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER)"))


if __name__ == "__main__":
    main()
