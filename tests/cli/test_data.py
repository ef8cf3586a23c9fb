#!/usr/bin/env python3
"""What arguments of kernel files are given: images of each format and of layers, random data of many kinds."""
import struct

from kernel_files import KernelFileTest, floats
from lab import OCLGRIND_LIBRARY, main

# A pixel of an image of 8 x 4 holds its number, which each of these formats has exactly or as a fraction of its largest.
PIXELS = 32
SAMPLED = """/*cllab
arg src = iota:{format}:8,4
arg dst = out:32
global 8,4
tolerance absolute={tolerance}
expect dst = expected.bin
*/
__kernel void k(read_only image2d_t src, __global {type}* dst) {{
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
    dst[get_global_id(1) * 8 + get_global_id(0)] = {read}(src, s, (int2)(get_global_id(0), get_global_id(1))).{lanes};
}}
"""
WRITTEN = """/*cllab
arg src = out:{format}:8,4
global 8,4
expect src = expected.bin
*/
__kernel void k(write_only image2d_t src) {{
    const int i = get_global_id(1) * 8 + get_global_id(0);
    {write}(src, (int2)(get_global_id(0), get_global_id(1)), ({type}4)(i, i + 1, i + 2, i + 3));
}}
"""
LAYERS = """/*cllab
arg src = iota:r32i:8,{sizes}
arg dst = out:8*4*3
global 8,{sizes}
expect dst = expected.bin
*/
__kernel void k(read_only {type} src, __global int* dst) {{
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    dst[{place}] = read_imagei(src, s, {at}).x;
}}
"""


def packed(letter, values):
    return struct.pack(f"<{len(values)}{letter}", *values)


class Images(KernelFileTest):
    def one(self, text, expected):
        """The record of a kernel whose format the device may lack, which it then says with what it has."""
        (self.folder / "expected.bin").write_bytes(expected)
        self.write(text)
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", "--no-yardstick", "--verify", "--json", "r.jsonl", status=None)
        record, = self.records()
        if record["status"] == "unsupported":
            self.assertRegex(record["reason"], r"does not support format \w+ for (read_write )?images of this type; it supports \w+(, \w+)*( \(CL_|$)|lists the image format r16f")
        else:
            self.assertEqual((record["status"], record.get("checked_by")), ("ok", "file expected.bin"), record["reason"])
        return record["status"]

    def test_kernel_reads_image_data_in_each_format(self):
        ok = []
        for name in ("r8ui", "rg8ui", "rgba16ui", "r32i", "rgba16f", "r16f", "r32f", "rg32f", "r8", "rg16"):
            channels = {"r": 1, "rg": 2, "rgba": 4}[name.rstrip("uif0123456789")]
            whole = "i" in name
            letter, kind, read = ("i", "int", "read_imagei") if whole and "ui" not in name else ("I", "uint", "read_imageui") if whole else ("f", "float", "read_imagef")
            scale = 1 if whole or "f" in name else 2 ** int(name.strip("rgba")) - 1
            # OpenCL says what is read of other channels, too; PoCL 3.1 reads 0 for 1 there. PoCL 3.1 lists r16f and does not convert it.
            values = [i if whole else i / scale for i in range(PIXELS) for _ in range(channels)]
            # A driver may divide, or multiply by the inverse.
            text = SAMPLED.format(format=name, type=kind + str(channels) * (channels > 1), read=read, lanes="xyzw"[:channels], tolerance=0 if scale == 1 else 1e-6)
            with self.subTest(format=name):
                ok += [name] * (self.one(text, packed(letter, values)) == "ok")
        self.assertGreaterEqual(len(ok), 6, ok)

    def test_kernel_writes_to_an_image_in_each_format_are_checked(self):
        ok = []
        for name, letter, kind in (("rg8ui", "B", "uint"), ("rgba16i", "h", "int"), ("r32f", "f", "float"), ("rgba16f", "e", "float"), ("r16f", "e", "float")):
            channels = {"r": 1, "rg": 2, "rgba": 4}[name.rstrip("uif0123456789")]
            values = [i + lane for i in range(PIXELS) for lane in range(channels)]
            write = {"uint": "write_imageui", "int": "write_imagei", "float": "write_imagef"}[kind]
            with self.subTest(format=name):
                ok += [name] * (self.one(WRITTEN.format(format=name, write=write, type=kind), packed(letter, values)) == "ok")
        self.assertGreaterEqual(len(ok), 2, ok)

    def test_the_last_size_of_an_array_counts_its_layers(self):
        for kind, sizes, place, at in (("image2d_array_t", "4,3", "(z * 4 + y) * 8 + x", "(int4)(x, y, z, 0)"), ("image1d_array_t", "12", "y * 8 + x", "(int2)(x, y)")):
            with self.subTest(kind):
                status = self.one(LAYERS.format(type=kind, sizes=sizes, place=place, at=at), packed("i", range(96)))
                self.assertEqual(status, "ok")

    def test_image_may_be_made_from_a_buffer(self):
        read = ("/*cllab\narg src = iota:r32i:4096\narg dst = out:4096\nglobal 4096\nexpect dst = expected.bin\n*/\n"
                "__kernel void k(read_only image1d_buffer_t src, __global int* dst) { const int i = get_global_id(0); dst[i] = read_imagei(src, i).x + 1; }\n")
        write = ("/*cllab\narg dst = out:r32i:4096\nglobal 4096\nexpect dst = expected.bin\n*/\n"
                 "__kernel void k(write_only image1d_buffer_t dst) { const int i = get_global_id(0); write_imagei(dst, i, (int4)(i + 1)); }\n")
        self.assertEqual(self.one(read, packed("i", range(1, 4097))), "ok")
        # PoCL 3.1 ends with SIGSEGV in a kernel that writes one.
        if OCLGRIND_LIBRARY:
            (self.folder / "oclgrind.icd").write_text(str(OCLGRIND_LIBRARY))
            self.write(write)
            self.lab("run", "t.cl", "--verify", "--no-dumps", "--json", "w.jsonl", env=self.environment(OCL_ICD_VENDORS=str(self.folder)))
            self.assertEqual([r["checked_by"] for r in self.records("w.jsonl")], ["file expected.bin"])

    def test_read_write_image_is_input_and_output(self):
        text = """/*cllab
arg io = iota:r32i:8,4
global 8,4
options -cl-std=CL2.0
expect io = expected.bin
*/
__kernel void k(read_write image2d_t io) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagei(io, at, read_imagei(io, at) + ADD);
}
"""
        status = self.one(text.replace("ADD", "1"), packed("i", range(1, PIXELS + 1)))
        record, = self.check(text.replace("ADD", "2"), status=status == "ok")
        if status == "ok":
            self.assertRegex(record["reason"], r"^io\[0\] is 2, expected 1; \d+ of \d+ elements differ$")

    def test_write_only_image_may_keep_some_initial_data(self):
        text = """/*cllab
arg to = iota:r32i:8,4
global 8,2
expect to = expected.bin
*/
__kernel void k(write_only image2d_t to) { write_imagei(to, (int2)(get_global_id(0), get_global_id(1)), (int4)(-1)); }
"""
        self.assertEqual(self.one(text, packed("i", [-1] * 16 + list(range(16, 32)))), "ok")
        record, = self.check(text.replace("global 8,2", "global 8,3"), status=1)
        self.assertRegex(record["reason"], r"^to\[16\] is -1, expected 16; \d+ of \d+ elements differ$")

    def test_depth_images_have_their_own_formats(self):
        text = """/*cllab
arg src = iota:{format}:8,4
arg dst = out:32
global 8,4
options -cl-std=CL2.0
expect dst = expected.bin
*/
__kernel void k(read_only image2d_depth_t src, __global float* dst) {{
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_FILTER_NEAREST | CLK_ADDRESS_CLAMP_TO_EDGE;
    const int x = get_global_id(0), y = get_global_id(1);
    dst[y * 8 + x] = read_imagef(src, s, (int2)(x, y));
}}
"""
        (self.folder / "expected.bin").write_bytes(floats(range(PIXELS)))
        self.write(text.format(format="depth32f"))
        self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", "--verify", "--json", "r.jsonl", status=None)
        record, = self.records()
        # PoCL 3.1 has no read_imagef of them, and so does not link the kernel.
        self.assertIn((record["status"], record.get("checked_by")), (("ok", "file expected.bin"), ("unsupported", None), ("build_failed", None)), record["reason"])
        for wrong, sentence in (("r32f", "is an image2d_depth_t; format r32f does not fit it; write e.g. rand:depth32f"), ("depth8", "'depth8'")):
            self.write(text.format(format=wrong))
            self.assert_one_sentence(self.lab("run", "t.cl", "--device", "cpu", status=2)[1], "t.cl:2:", sentence)

    def test_integer_coordinates_with_an_unsuitable_sampler_are_reported(self):
        text = """/*cllab
arg src = iota:rgba32f:8,4
arg dst = out:32
arg s = sampler:{sampler}
global 8,4
*/
__kernel void k(read_only image2d_t src, __global float* dst, sampler_t s) {{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    dst[at.y * 8 + at.x] = read_imagef(src, s, {at}).x;
}}
"""
        for sampler, at, told in (("linear,edge,pixel", "at", True), ("nearest,edge,pixel", "at", False), ("nearest,edge,normalized", "at", True),
                                  ("linear,edge,pixel", "convert_float2(at)", False)):
            with self.subTest(sampler=sampler, at=at):
                self.write(text.format(sampler=sampler, at=at))
                err = " ".join(self.lab("run", "t.cl", "--device", "cpu", "--no-dumps", "--verify", status=None)[1].split())
                self.assertEqual(f"'k' reads through 's' = sampler:{sampler} at whole coordinates" in err, told, err)

    def test_random_pixels_cover_every_brightness(self):
        ok = []
        signature = "(read_only image2d_t src, __global int* right)"
        for name, least in (("r16", 0), ("rgba8s", -1), ("rgba16f", 0)):
            with self.subTest(format=name):
                text = f"""/*cllab
arg src = rand:{name}:64,64
arg right = out:1
global 1
reference always
*/
__kernel void always{signature} {{ right[0] = 1; }}
__kernel void k{signature} {{
    float least = 2, most = -2;
    for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 64; ++x) {{
            const float v = read_imagef(src, (int2)(x, y)).x;
            least = fmin(least, v), most = fmax(most, v);
        }}
    right[0] = least < {least} + 0.1f && least >= {least} && most > 0.9f && most <= 1;
}}
"""
                record = next(r for r in self.check(text) if r["variant"] == "k")
                if record["status"] != "unsupported":
                    self.assertEqual((record["status"], record.get("checked_by")), ("ok", "reference always"), record["reason"])
                    ok.append(name)
        self.assertGreaterEqual(len(ok), 2, ok)

    def test_image_is_equally_bright_in_every_format(self):
        (self.folder / "p.pgm").write_bytes(b"P5 2 1 255\n\x00\xff")
        ok = []
        for name in ("r8", "r32f", "rgba16f", "rgba8s"):
            text = f"/*cllab\narg src = image:p.pgm:{name}\narg dst = out:2\nglobal 2\nexpect dst = expected.bin\n*/\n" \
                   "__kernel void k(read_only image2d_t src, __global float* dst) { dst[get_global_id(0)] = read_imagef(src, (int2)(get_global_id(0), 0)).x; }\n"
            with self.subTest(format=name):
                ok += [name] * (self.one(text, floats([0, 1])) == "ok")
        self.assertGreaterEqual(len(ok), 2, ok)


class RandomData(KernelFileTest):
    def test_sparse_matrix_is_described_by_one_or_three_lines(self):
        text = """/*cllab
axis rows = 64, 500
arg row = offsets:rows+1:8*rows
arg column = rand:8*rows:0:rows-1
arg value = powers:8*rows
arg x = powers:rows
arg y = out:rows
arg rows = rows
global rows
reference slow
*/
__kernel void k(__global const int* row, __global const int* column, __global const float* value, __global const float* x, __global float* y, int rows) {
    const int r = get_global_id(0);
    float sum = 0;
    for (int i = row[r]; i < row[r + 1]; ++i) sum += value[i] * x[column[i]];
    y[r] = sum;
}
__kernel void slow(__global const int* row, __global const int* column, __global const float* value, __global const float* x, __global float* y, int rows) {
    const int r = get_global_id(0);
    float sum = 0;
    for (int i = row[r + 1] - 1; i >= row[r]; --i) sum += value[i] * x[column[i]];  // from the last: exact all the same
    y[r] = row[0] == 0 && row[rows] == 8 * rows ? sum : NAN;
}
"""
        three = text[text.index("arg row ="):text.index("arg x =")]
        for lines in (three, "arg row, column, value = csr:rows:rows:8*rows\n"):
            records = [r for r in self.check(text.replace(three, lines), "--tolerance", "absolute=1e-4") if r["variant"] == "k"]
            self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "reference slow")] * 2)
        for line in ("row, column = csr:4:4:8", "row, column, value = rand:8", "row, column, value", "row = csr:4:4:8"):
            _, err = self.lab("run", self.write(text.replace(three, f"arg {line}\n")), status=2)
            self.assertIn("'arg row, column, value = csr:rows:columns:nonzeros'", err)

    def test_bounds_may_use_the_length_of_another_argument(self):
        text = """/*cllab
axis n = 64, 500
arg index = rand:uint:4*n:0:len(table)-1
arg table = iota:n+3
arg picture = zero:r8:n,5
arg out = out:len(index)
arg end = len(table)
arg texels = len(picture)
global len(index)
reference checked
*/
#define ARGUMENTS __global const uint* index, __global const uint* table, read_only image2d_t picture, __global uint* out, uint end, uint texels
__kernel void gather(ARGUMENTS) { out[get_global_id(0)] = table[index[get_global_id(0)]]; }
__kernel void checked(ARGUMENTS) {
    const uint i = index[get_global_id(0)];
    out[get_global_id(0)] = i < end && texels == (end - 3) * 5 && get_global_size(0) == 4 * (end - 3) ? i : 12345;
}
"""
        records = [r for r in self.check(text) if r["variant"] == "gather"]
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "reference checked")] * 2)
        for line, says in (("rand:64:0:len(nothing)-1", "the length of 'nothing' is not known; add a line 'arg nothing = rand:1024'"),
                           ("rand:len(x)", "the value of 'len(x)' depends on itself"), ("rand:64:0:len(64)", "len takes one argument's name, as in len(x) - 1")):
            _, err = self.lab("run", self.write(f"/*cllab\narg x = {line}\nglobal 64\n*/\n__kernel void k(__global int* x) {{ x[get_global_id(0)]++; }}\n"), status=2)
            self.assertIn(says, err)

    def test_kinds_of_random_data_match_their_names(self):
        text = """/*cllab
arg up = sorted:float:1024:-1:1
arg all = perm:uint:1024
arg words = text:1024
arg hot = onehot:uchar:1024:32
arg bell = normal:1024:100:1
arg right = out:1024
global 1024
reference always
*/
__kernel void always(__global const float* up, __global const uint* all, __global const char* words, __global const uchar* hot, __global const float* bell, __global int* right) { right[get_global_id(0)] = 1; }
__kernel void k(__global const float* up, __global const uint* all, __global const char* words, __global const uchar* hot, __global const float* bell, __global int* right) {
    const int i = get_global_id(0);
    int times = 0, ones = 0;
    for (int j = 0; j < 1024; ++j) times += all[j] == (uint)i;
    for (int j = 0; j < 32; ++j) ones += hot[i / 32 * 32 + j];
    right[i] = (i == 0 || up[i] >= up[i - 1]) && up[i] >= -1 && up[i] < 1 && times == 1 && ones == 1 && fabs(bell[i] - 100) < 10 &&
               ((words[i] >= 'a' && words[i] <= 'z') || words[i] == ' ' || words[i] == '\\n');
}
"""
        record = next(r for r in self.check(text) if r["variant"] == "k")
        self.assertEqual((record["status"], record["checked_by"]), ("ok", "reference always"), record["reason"])


if __name__ == "__main__":
    main()
