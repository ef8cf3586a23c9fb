#!/usr/bin/env python3
"""140 kernels that try to make cllab say something false, 20 to 40 for each of five kinds. Takes half an hour; no part of the regression.

    tests/trial/nothing_false.py [--only TEXT] [--cllab PROGRAM]     # CLLAB names the program, too; build/cllab unless set

Items: 1 `regress` must not pass what is slower or gone. 2 Another compiler, or other code, is told. 3 `count` is right, or says what it does not know.
4 A wrong kernel is not proved. 5 A right kernel is not called wrong.
CLLAB_OTHER_ICD is a value of OCL_ICD_VENDORS with which a newer PoCL is the only platform, CLLAB_OTHER_LIBRARIES its LD_LIBRARY_PATH, where needed;
CLLAB_OTHER_MAKER the same for the CPU runtime of another maker. Cases that need them are left out without them.

One line for each case: its name, its item, what had to come of it, and what did. Exit status: 0 when each came out as it had to, else 1.
"""
import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

CLLAB = os.environ.get("CLLAB", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "cllab"))
I = "const int i = get_global_id(0);"
DEVICE = ("--device", "cpu")
QUICK = ("--no-dumps", "--no-yardstick", "--max-time", "0.02")


def block(*lines):
    return "/*cllab\n" + "\n".join(lines) + "\n*/\n"


def npy(kind, shape, data, fortran=False):
    header = repr({"descr": kind, "fortran_order": fortran, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


class Lab:
    """A folder, and the program in it."""
    def __init__(self, folder, cllab):
        self.folder, self.cllab, self.said = pathlib.Path(folder), cllab, ""

    def write(self, files):
        for name, content in files.items():
            (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def __call__(self, *args, env=None):
        ran = subprocess.run([self.cllab, *args], cwd=self.folder, capture_output=True, text=True, timeout=400, check=False, env={**os.environ, **(env or {})})
        self.said = ran.stdout + ran.stderr
        return ran.returncode

    def records(self, name="out.jsonl"):
        path = self.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def reset(self):
        (self.folder / "out.jsonl").unlink(missing_ok=True)


# ---- items 4 and 5: one run of a kernel file -------------------------------------------------------------------------------------------

def outcome(lab, text, args=(), files=None):
    """What a run says: proved, open (ok, with a note that something is unproved), bad, asked, refused, or an exit status."""
    lab.reset()
    lab.write({"t.cl": text, **(files or {})})
    status = lab("run", "t.cl", *DEVICE, *QUICK, "--json", "out.jsonl", *args)
    rows = [r for r in lab.records() if "status" in r]
    why = next((r["reason"] for r in rows if r["reason"]), "") or ", ".join(sorted({r.get("checked_by", "") for r in rows}))
    if status == 2:
        last = (lab.said.strip().splitlines() or [""])[-1]
        return ("asked" if "cannot be guessed" in lab.said else "refused"), last
    if status == 1 and any(r["status"] != "ok" for r in rows):
        return "bad", why
    if status or not rows:
        return f"exit status {status}", why
    unproved = any("only itself" in r["checked_by"] for r in rows)
    told = any(w.startswith("unproved") for r in rows for w in r["warnings"])
    return ("open" if unproved and told else "only itself without a note" if unproved else "proved"), why


def held_against(fields, right, wrong, *lines, before="", kind="P", given="float"):
    """A kernel held against a reference; `right` is what both do, `wrong` what the first does besides."""
    return (block("axis n = 256", f"arg x = rand:n", "arg y = out:n", "global n", *lines, "kernel fast", "reference slow") + before +
            (f"typedef struct {{ {fields} }} P;\n" if fields else "") +
            f"kernel void slow(global const {given}* x, global {kind}* y) {{ {I} {right} }}\n"
            f"kernel void fast(global const {given}* x, global {kind}* y) {{ {I} {right} {wrong} }}\n")


def expected(value, kind="float"):
    """y against gold; x is 0, 1, 2 …"""
    return (block("arg x = iota:64", "arg y = out:64", "global 64", "expect y = gold.npy") +
            f"kernel void k(global const {kind}* x, global {kind}* y) {{ {I} y[i] = {value}; }}\n")


def two(first, second, *lines, kind="float", data="rand:n", before=""):
    return (block("axis n = 256", f"arg x = {data}", "arg y = out:n", "global n", *lines) + before +
            f"kernel void a(global const {kind}* x, global {kind}* y) {{ {I} {first} }}\nkernel void b(global const {kind}* x, global {kind}* y) {{ {I} "
            f"{second} }}\n")


def one(body, *lines, kind="float", data="rand:n", before=""):
    return (block("axis n = 256", f"arg x = {data}", "arg y = out:n", "global n", *lines) + before +
            f"kernel void k(global const {kind}* x, global {kind}* y) {{ {I} {body} }}\n")


def python(code):
    return ("--reference-command", "python3 ref.py"), {"ref.py": "import os, sys, struct\nos.chdir(sys.argv[1] if len(sys.argv) > 1 else "
     "os.environ['CLLAB_REFERENCE_DIR'])\n"
        "x = open('x.npy', 'rb').read()\nn = 10 + struct.unpack('<H', x[8:10])[0]\nhead, x = x[:n], x[n:]\nv = struct.unpack(f'<{len(x) // 4}f', x)\n" + code +
         "\n"}


F64 = lambda scale=1, n=64, kind="f": struct.pack(f"<{n}{kind}", *(scale * j for j in range(n)))
GOLD = {"gold.npy": npy("<f4", (64,), F64())}
WRITE_Y = ("def put(values, kind='f'): open('y.npy', 'wb').write((head if kind == 'f' else head.replace(b'<f4', b'<f8'))"
           " + struct.pack(f'<{len(values)}{kind}', *values))\n")
TOLERANT = "tolerance relative=1e-3"

# Name, wanted (any of), text, options, files.
PROOFS = [
    ("expect_shorter_than_the_buffer", "bad refused", expected("x[i]"), (), {"gold.npy": npy("<f4", (32,), F64(n=32))}),
    ("expect_longer_than_the_buffer", "bad refused", expected("x[i]"), (), {"gold.npy": npy("<f4", (128,), F64(n=128))}),
    ("expect_of_another_type_same_bytes", "bad refused", expected("x[i]"), (), {"gold.npy": npy("<i4", (64,), F64())}),
    ("expect_big_endian_same_bytes", "bad refused", expected("x[i]"), (), {"gold.npy": npy(">f4", (64,), F64())}),
    ("expect_fortran_order_same_bytes", "bad refused", expected("x[i]"), (), {"gold.npy": npy("<f4", (8, 8), F64(), True)}),
    ("expect_double_for_float_wrong", "bad refused", expected("x[i]"), (), {"gold.npy": npy("<f8", (32,), F64())}),
    ("expect_right_but_kernel_wrong_at_the_end", "bad", expected("i == 63 ? 64 : x[i]"), (), GOLD),
    ("any_finite_number_is_near_inf", "bad", held_against("", "y[i] = INFINITY;", "y[i] = i;", TOLERANT, kind="float"), (), {}),
    ("inf_is_near_a_number", "bad", held_against("", "y[i] = 3;", "y[i] = INFINITY;", "tolerance relative=2", kind="float"), (), {}),
    ("minus_inf_for_inf", "bad", held_against("", "y[i] = INFINITY;", "y[i] = -INFINITY;", "tolerance relative=3 ulp=1e12", kind="float"), (), {}),
    ("nan_is_near_a_number", "bad", held_against("", "y[i] = 3;", "if (i == 9) y[i] = NAN;", "tolerance ulp=1e12", kind="float"), (), {}),
    ("number_for_a_nan", "bad", held_against("", "y[i] = NAN;", "if (i == 9) y[i] = 0;", "tolerance absolute=1e30", kind="float"), (), {}),
    ("array_of_ids_in_a_struct", "bad", held_against("float f; int a[3];", "y[i].f = x[i]; y[i].a[0] = y[i].a[1] = y[i].a[2] = 5000 + i;", "y[i].a[2] += 1;",
     TOLERANT), (), {}),
    ("id_in_a_struct_in_a_struct", "bad", held_against("float f; Q q;", "y[i].f = x[i]; y[i].q.w = x[i]; y[i].q.id = 5000 + i;", "y[i].q.id += 1;", TOLERANT,
                                                       before="typedef struct { int id; float w; } Q;\n"), (), {}),
    ("typedef_of_an_id", "bad", held_against("float f; ID id;", "y[i].f = x[i]; y[i].id = 5000 + i;", "y[i].id += 1;", TOLERANT,
     before="typedef unsigned int ID;\n"), (), {}),
    ("macro_of_an_id", "bad", held_against("float f; INDEX id;", "y[i].f = x[i]; y[i].id = 5000 + i;", "y[i].id += 1;", TOLERANT, before="#define INDEX int\n"),
     (), {}),
    ("enum_in_a_struct", "bad", held_against("float f; enum kind id;", "y[i].f = x[i]; y[i].id = i & 1 ? RED : BLUE;", "y[i].id = RED;",
     "tolerance relative=1e-1",
                                             before="enum kind { RED = 5000, BLUE = 5001 };\n"), (), {}),
    ("vector_of_ids_in_a_struct", "bad", held_against("float4 f; uint4 id;", "y[i].f = x[i]; y[i].id = 5000 + i;", "y[i].id.w += 1;", TOLERANT), (), {}),
    ("union_of_float_and_id", "bad refused", held_against("float f; union { int id; float g; } u;", "y[i].f = x[i]; y[i].u.id = 0x4b000000 + i;",
     "y[i].u.id += 1;", TOLERANT), (), {}),
    ("short_id_behind_a_double", "bad", held_against("double f; ushort id; uchar b;", "y[i].f = x[i]; y[i].id = 5000 + i; y[i].b = 200;", "y[i].b -= 1;",
     "tolerance absolute=0.5"), (), {}),
    ("reference_writes_half", "bad", two("if (i < 128) y[i] = x[i];", "y[i] = x[i];", "kernel b", "reference a"), (), {}),
    ("kernel_writes_half", "bad", two("y[i] = x[i];", "if (i & 1) y[i] = x[i];", "kernel b", "reference a"), (), {}),
    ("differ_does_not_excuse_a_reference", "bad refused", two("y[i] = x[i];", "y[i] = x[i] + 1;", "differ a, b", "kernel b", "reference a"), (), {}),
    ("reference_of_another_file_same_code", "open", one("y[i] = 2 * x[i];", "reference other.cl:k"), (), {"other.cl": one("/* the truth */ y[i] = 2 * x[i];")}),
    ("alias_as_reference", "open refused", one("y[i] = 2 * x[i];", "kernel truth = k", "sequence two = truth", "sequence one = k", "reference two"), (), {}),
    ("variant_of_the_same_code", "open", one("y[i] = 2 * x[i];", "variant fast = -DUNUSED=1"), ("--verify",), {}),
    ("may_leave_and_does_nothing", "open bad", one("if (x[i] > 5) y[i] = 1;", "may leave y").replace("out:n", "zero:n"), (), {}),
    ("rows_mixed_under_any_order", "bad", block("arg x = rand:int:256:0:100000", "arg key = out:256", "arg val = out:256", "global 256",
     "relation any order of key, val",
     "kernel fast", "reference slow") + f"kernel void slow(global const int* x, global int* key, global int* val) {{ {I} key[i] = x[i]; val[i] = i; }}\n"
     f"kernel void fast(global const int* x, global int* key, global int* val) {{ {I} key[i] = x[i]; val[i] = (i + 1) & 255; }}\n", (), {}),
    ("any_order_loses_one", "bad", two("y[i] = x[i];", "y[i] = x[i == 7 ? 8 : i];", "relation any order of y", "kernel b", "reference a"), (), {}),
    ("sum_wraps", "bad", one("y[i] = x[i] + (i < 2 ? 0x80000000u : 0);", "relation sum of y preserved from x", kind="uint", data="rand:n:0:1000"), (), {}),
    ("inf_in_a_sum", "bad", one("y[i] = i == 0 ? INFINITY : x[i];", "relation sum of y preserved from x"), (), {}),
    ("constant_under_permute", "open", one("y[i] = 7;", "relation same under permute x"), (), {}),
    ("reference_command_of_one_output", "open bad", block("arg x = rand:64", "arg y = out:64", "arg z = out:64", "global 64") +
     f"kernel void k(global const float* x, global float* y, global float* z) {{ {I} y[i] = x[i]; z[i] = 9 * x[i]; }}\n", *python(WRITE_Y + "put(v)")),
    ("reference_command_fails", "bad refused", one("y[i] = x[i];"), *python(WRITE_Y + "put(v)\nsys.exit(3)")),
    ("reference_command_too_short", "bad refused", one("y[i] = x[i];"), *python("open('y.npy', 'wb').write(head.replace(b'256', b'128') + x[:512])")),
    ("reference_command_leaves_nothing", "bad refused open", one("y[i] = x[i];"), *python("pass")),
    ("reference_command_of_double", "bad refused", one("y[i] = x[i];"), *python(WRITE_Y + "put([a + 1 for a in v], 'd')")),
    ("wrong_by_the_second_input", "bad", one("y[i] = x[0] < 500000 ? x[i] : x[i] + (i == 255);", kind="int", data="rand:n:0:1000000"),
     ("--seed", "3", "--reference-command", "python3 ref.py"), {"ref.py": "import os\nos.chdir(os.environ['CLLAB_REFERENCE_DIR'])\nd = bytearray(open('x.npy', 'rb').read())\nd[-4:] = "
      "(int.from_bytes(d[-4:], 'little') + 1).to_bytes(4, 'little')\nopen('y.npy', 'wb').write(d)\n"}),
    ("wrong_in_one_padding_neighbour", "bad", held_against("char c; float f;", "y[i].c = i; y[i].f = x[i];", "y[i].c = i + 1;", TOLERANT), (), {}),
    ("half_too_far", "bad", held_against("", "vstore_half(x[i], i, y);", "vstore_half(x[i] * 1.01f, i, y);", TOLERANT, kind="half"), (), {}),
]

RIGHT = "proved open"
IN_PLACE = lambda body, kind="float", data="rand:4096", size="4096", *lines: block(f"arg d = {data}", f"global {size}",
 *lines) + f"kernel void k(global {kind}* d) {{ {I} {body} }}\n"
RIGHTS = [
    ("xor_with_a_key", RIGHT, IN_PLACE("d[i] ^= 0x5a5a1234u;", "uint"), (), {}),
    ("halves_change_places", RIGHT, IN_PLACE("const float a = d[i]; d[i] = d[i + 2048]; d[i + 2048] = a;", "float", "rand:4096", "2048"), (), {}),
    ("bit_reversal", RIGHT, IN_PLACE("uint j = 0; for (int b = 0; b < 12; ++b) j |= (i >> b & 1) << (11 - b); if (j > i) { const float2 a = d[i]; d[i] = d[j]; "
     "d[j] = a; }", "float2"), (), {}),
    ("inverse_of_each", RIGHT, IN_PLACE("d[i] = 1 / d[i];", "float", "rand:4096:1:2"), (), {}),
    ("flags_toggled", RIGHT, IN_PLACE("d[i] = 3 - d[i];", "int", "rand:4096:1:2"), (), {}),
    ("toggle_by_atomic", RIGHT, IN_PLACE("atomic_xor(&d[i & 1023], 1 << (i >> 10));", "int"), (), {}),
    ("hadamard_in_a_group", RIGHT, block("arg d = rand:int:4096:-100:100", "global 64", "local 64") +
     "kernel void k(global int* d) { const int i = get_local_id(0); local int t[64]; t[i] = d[i]; barrier(CLK_LOCAL_MEM_FENCE); int s = 0;"
     " for (int j = 0; j < 64; ++j) s += popcount(i & j) & 1 ? -t[j] : t[j]; d[i] = s; }\n", (), {}),
    ("field_of_a_struct_negated", RIGHT, block("arg d = fields:512:{x:rand:-1:1, id:iota}", "global 512") +
     f"typedef struct {{ float x; int id; }} P;\nkernel void k(global P* d) {{ {I} d[i].x = -d[i].x; }}\n", (), {}),
    ("forth_and_back", RIGHT, block("arg d = rand:int:512:0:99", "global 512", "sequence both = forth, back", "expect d = unchanged") +
     f"kernel void forth(global int* d) {{ {I} d[i] = d[i] * 3 + 1; }}\nkernel void back(global int* d) {{ {I} d[i] = (d[i] - 1) / 3; }}\n", (), {}),
    ("ticket_put_back", RIGHT, block("arg t = zero:1", "arg y = out:1024", "global 1024") +
     f"kernel void k(global int* t, global int* y) {{ {I} y[i] = i; if (atomic_inc(t) == 1023) *t = 0; }}\n", (), {}),
    ("result_is_nan", RIGHT, one("y[i] = log(-1 - x[i]);"), (), {}),
    ("nan_equals_nan", "proved", two("y[i] = i & 1 ? NAN : x[i] + x[i];", "y[i] = i & 1 ? as_float(0x7fc00123) : 2 * x[i];", "kernel b", "reference a"), (),
     {}),
    ("padding_differs", "proved", held_against("char c; float f;", "y[i].c = i; y[i].f = x[i];", "((global char*)(y + i))[2] = i;"), (), {}),
    ("one_item_writes_the_sum", RIGHT, block("arg x = rand:int:4096:0:9", "arg y = out:1", "global 4096") +
     f"kernel void k(global const int* x, global int* y) {{ {I} if (i) return; int s = 0; for (int j = 0; j < 4096; ++j) s += x[j]; *y = s; }}\n", (), {}),
    ("clears_a_guessed_buffer", RIGHT, f"kernel void clear(global int* y, int n) {{ {I} if (i < n) y[i] = 0; }}\n", (), {}),
    ("clears_a_buffer_of_zeros", RIGHT + " asked refused", block("arg y = zero:256", "global 256",
     "may leave y") + f"kernel void clear(global int* y) {{ {I} y[i] = 0; }}\n", (), {}),
    ("clamp_that_has_nothing_to_do", RIGHT, IN_PLACE("d[i] = clamp(d[i], 0.0f, 1.0f);", "float", "rand:4096", "4096", "may leave d"), (), {}),
    ("guessed_gather", RIGHT + " asked", f"kernel void gather(global const float* x, global const int* idx, global float* y, int n) {{ {I} if (i < n) y[i] = "
     f"x[idx[i]]; }}\n", (), {}),
    ("guessed_stride", RIGHT + " asked", f"kernel void rows(global const float* x, global float* y, int rows, int stride) {{ {I} if (i < rows) y[i] = x[i * "
     f"stride]; }}\n", (), {}),
    ("guessed_batch", RIGHT + " asked", "kernel void scale(global float* x, int n, int batch) { const int i = get_global_id(0), b = get_global_id(1);"
     " if (i < n && b < batch) x[b * n + i] *= 2; }\n", (), {}),
    ("guessed_group_of_3_by_5_by_7", RIGHT, "kernel __attribute__((reqd_work_group_size(3, 5, 7))) void k(global float* x, int w, int h) {\n"
     " x[(get_global_id(2) * h + get_global_id(1)) * w + get_global_id(0)] += 1; }\n", (), {}),
    ("guessed_group_of_96_and_a_tile", RIGHT, "#define T 96\nkernel __attribute__((reqd_work_group_size(T, 1, 1))) void k(global const float* x, global float* "
     "y, int n) {\n"
     " local float t[T]; int l = get_local_id(0), i = get_global_id(0); t[l] = i < n ? x[i] : 0; barrier(CLK_LOCAL_MEM_FENCE); if (i < n) y[i] = t[T - 1 - l]; "
      "}\n", (), {}),
    ("slots_in_any_order", RIGHT, block("arg x = rand:int:4096:0:99", "arg y = out:4096", "arg c = zero:1", "global 4096", "relation any order of y") +
     f"kernel void k(global const int* x, global int* y, global int* c) {{ {I} y[atomic_inc(c)] = x[i]; }}\n", (), {}),
    ("read_write_image_inverted", RIGHT, block("arg im = rand:r32f:64,64", "global 64,64", "options -cl-std=CL3.0") +
     "kernel void k(read_write image2d_t im) { int2 c = (int2)(get_global_id(0), get_global_id(1)); float4 v = read_imagef(im, c); write_imagef(im, c, 1 - v); "
      "}\n", (), {}),
    ("part_of_a_buffer_swapped", RIGHT, block("arg d = rand:int:1024", "arg e = part:d:512:512", "global 512") +
     f"kernel void k(global int* d, global int* e) {{ {I} const int a = d[i]; d[i] = e[i]; e[i] = a; }}\n", (), {}),
]


def run_case(lab, case):
    name, wanted, text, args, files = case
    found, why = outcome(lab, text, args, files)
    return wanted.replace(" ", " or "), found, found in wanted.split(), why

# ---- item 3: count against figures worked out by hand --------------------------------------------------------------------------------

def counted(size, group, body, more=(), before="", arguments="global int* a, global int* b, int n"):
    return (block("arg a = iota:65536", "arg b = zero:65536", f"arg n = {size}", f"global {size}", f"local {group}", *more) + before +
            "kernel void k(" + arguments + ") { const int i = get_global_id(0), l = get_local_id(0); " + body + " }\n")


def pixels(sizes, group, body, more=()):
    return (block("arg b = zero:65536", f"global {sizes}", f"local {group}", *more) +
            "kernel void k(global int* b) { const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2); " + body + " }\n")


ROOTS = lambda trips: f"float v = i; for (int k = 0; k < ({trips}); ++k) v = sqrt(v); b[i] = v;"
MANY = 16384 * 64
RARE = lambda trips: f"float v = i; for (int k = 0; k < ({trips}); ++k) v = sqrt(v); b[i & 65535] = v;"
COUNTS = [
    ("trips_from_data", counted(1024, 64, ROOTS("a[i] & 15")), {"sqrt": 7.5}),
    ("search_with_a_break", counted(256, 64, "float v = 1; int j = 0; for (; j < 256; ++j) { v = sqrt(v + j); if (a[j] == i) break; } b[i] = v;"),
     {"sqrt": 257 / 2, "load": 4 * 257 / 2}),
    ("triangle_in_a_triangle", counted(128, 32, "float v = i; for (int j = 0; j <= (i & 7); ++j) for (int m = 0; m <= j; ++m) v = sqrt(v); b[i] = v;"),
     {"sqrt": 15}),
    ("early_return", counted(1200, 60, "if (i % 3 == 1) return; b[i] = sqrt((float)a[i]);"), {"sqrt": 2 / 3, "store": 8 / 3, "load": 8 / 3}),
    ("last_group_is_short", counted(1024, 64, "if (i < n) b[i] = a[i];", ("kernel k", "arg n = 1000")), {"load": 4 * 1000 / 1024, "store": 4 * 1000 / 1024,
     "different": 8000}),
    ("of_opencl_3", counted(1000, 50, "b[i] = a[i];", ("options -cl-std=CL3.0",)), {"load": 4, "store": 4, "different": 8000}),
    ("rare_by_bits_of_the_group", counted(MANY, 64, RARE("(get_group_id(0) & 1023) == 513 ? 5000 : 2")), {"sqrt": 2 + 4998 / 1024}),
    ("rare_by_a_remainder", counted(MANY, 64, RARE("get_group_id(0) % 1000 == 37 ? 5000 : 2")), {"sqrt": 2 + 4998 * 17 / 16384}),
    ("rare_by_data", counted(MANY, 64, RARE("a[get_group_id(0)] == 9173 ? 200000 : 2")), {"sqrt": 2 + 199998 / 16384}),
    ("rare_by_a_scalar", counted(MANY, 64, RARE("get_group_id(0) == n / 113 ? 100000 : 2")), {"sqrt": 2 + 99998 / 16384}),
    ("rare_by_the_item", counted(MANY, 64, RARE("(i & 65535) == 40000 ? 100000 : 2")), {"sqrt": 2 + 99998 / 65536}),
    ("rare_on_a_diagonal", pixels("1024,1024", "8,8", "float v = x; for (int k = 0; k < ((x / 8 ^ y / 8) == 77 ? 3000 : 2); ++k) v = sqrt(v); b[x] = v;"),
     {"sqrt": 2 + 2998 / 128}),
    ("groups_of_3_by_5", pixels("6,10", "3,5", "b[y * 6 + x] = x;"), {"store": 4, "different": 240}),
    ("groups_in_3_dimensions", pixels("4,6,10", "2,3,5", "float v = x; for (int k = 0; k < y + z; ++k) v = sqrt(v); b[(z * 6 + y) * 4 + x] = v;"),
     {"sqrt": 2.5 + 4.5, "store": 4}),
    ("an_offset", counted(512, 64, ROOTS("i / 1024"), ("offset 4096",)), {"sqrt": 4}),
    ("vector_of_16", counted(512, 64, "float16 v = vload16(i, (global float*)a); vstore16(v + 1, i, (global float*)b);"), {"load": 64, "store": 64,
     "add32": 16}),
    ("vector_of_3", counted(512, 64, "int3 v = vload3(i, a); vstore3(v, i, b);"), {"load": 12, "store": 12, "different": 2 * 512 * 12}),
    ("half_stored", counted(512, 64, "vstore_half((float)i, i, (global half*)b);"), {"store": 2}),
    ("chain_of_calls", counted(512, 64, "b[i] = h(i);", before="float f(float x) { return sqrt(x); }\nfloat g(float x) { return f(x) + f(x + 1); }\n"
                               "float h(float x) { float s = 0; for (int j = 0; j < 5; ++j) s += g(x + j); return s; }\n"), {"sqrt": 10}),
    ("struct_copied", counted(256, 64, "((global S*)b)[i] = ((global S*)a)[i];", before="typedef struct { int a, b, c, d, e; } S;\n"), {"load": 20,
     "store": 20}),
    ("field_of_a_struct", counted(256, 64, "((global S*)b)[i].c = 1;", before="typedef struct { int a, b, c, d, e; } S;\n"), {"store": 4, "different": 1024}),
    ("local_atomics_in_a_loop", counted(640, 64, "local int t[16]; if (l < 16) t[l] = 0; barrier(CLK_LOCAL_MEM_FENCE); for (int j = 0; j < l; ++j) "
     "atomic_add(&t[j & 15], 1);"
                                        " barrier(CLK_LOCAL_MEM_FENCE); b[i] = t[l & 15];"), {"local atomic": 31.5, "barrier": 2, "local store": 1}),
    ("barriers_of_a_tree", counted(512, 64, "local int t[64]; t[l] = a[i]; for (int s = 32; s; s >>= 1) { barrier(CLK_LOCAL_MEM_FENCE); if (l < s) t[l] += t[l "
     "+ s]; }"
                                   " if (l == 0) b[i / 64] = t[0];"), {"barrier": 6, "local load": 4 * (2 * 63 + 1) / 64, "local store": 4 * (64 + 63) / 64,
                                   "store": 4 / 64}),
    ("global_exchange", counted(512, 64, "if (i & 1) atomic_cmpxchg(&b[i & 6], 0, i); else atomic_xchg(&b[0], i);"), {"atomic": 1}),
    ("switch_that_falls_through", counted(512, 64, "float v = i; switch (i & 3) { case 3: v = sqrt(v); case 2: v = sqrt(v); case 1: v = sqrt(v); } b[i] = v;"),
     {"sqrt": 1.5}),
    ("trip_count_of_the_group", counted(65536, 64, ROOTS("get_group_id(0) % 32")), {"sqrt": 15.5}),
    ("double_roots", counted(512, 64, "double v = i; for (int k = 0; k < 3 + (i & 1); ++k) v = sqrt(v); b[i] = v;"), {"sqrt64": 3.5}),
    ("only_one_group_of_a_dimension", pixels("64,64", "8,8", "float v = x; if (y / 8 == 3) for (int k = 0; k < 40; ++k) v = sqrt(v); b[y * 64 + x] = v;"),
     {"sqrt": 5}),
    ("collatz", counted(512, 64, "float v = 1; for (int c = i + 1; c != 1; c = c & 1 ? 3 * c + 1 : c / 2) v = sqrt(v + 1); b[i] = v;"), {"sqrt": "collatz"}),
    ("async_copy", counted(512, 64, "local int t[64]; event_t e = async_work_group_copy(t, a + get_group_id(0) * 64, 64, 0); wait_group_events(1, &e); b[i] = "
     "t[63 - l];"), {"load": 4, "store": 4}),
    ("repeated_with_growing_work", block("arg a = iota:4096", "arg b = zero:4096", "arg n = 4 << rep", "global 64 << rep", "local 64", "sequence s = k",
     "repeat 5") +
     f"kernel void k(global int* a, global int* b, int n) {{ {I} float v = a[i]; for (int k = 0; k < n; ++k) v = sqrt(v); b[i] = v; }}\n",
      {"sqrt of all": sum((64 << r) * (4 << r) for r in range(5))}),
]


def truth(value):
    if value != "collatz":
        return value
    steps = 0
    for c in range(1, 513):
        while c != 1:
            c, steps = (3 * c + 1 if c & 1 else c // 2), steps + 1
    return steps / 512


def figure(counts, what):
    """(mean, or None where it is not known; half of its interval; whether that has no upper end)"""
    if what == "different":
        return (counts["footprint"][-1]["bytes"] if counts["counted_groups"] == counts["groups"] else None), 0, False
    places = {"load": ("global", "load_bytes"), "store": ("global", "store_bytes"), "local load": ("local", "load_bytes"),
              "local store": ("local", "store_bytes"), "atomic": ("global_atomics", "number"), "local atomic": ("local_atomics", "number")}
    kinds = {"sqrt": ("float_function", 32), "sqrt64": ("float_function", 64), "add32": ("float_add", 32)}
    if what in kinds:
        amount = next((o["per_item"] for o in counts["operations"] if (o["kind"], o["bits"]) == kinds[what]), {"mean": 0})
    else:
        amount = counts["barriers"] if what == "barrier" else counts[places[what][0]][places[what][1]]
    return amount.get("mean"), amount.get("margin", 0), amount.get("open", False)


def count_case(lab, case):
    name, text, truths = case
    lab.write({"t.cl": text})
    status = lab("count", "t.cl", "--count-budget", "3", "--json", "out.jsonl")
    rows = lab.records()
    wanted = ", ".join(f"{what} {truth(value):g}" for what, value in truths.items())
    if status or not rows:
        return wanted, f"exit status {status}", False, (lab.said.strip().splitlines() or [""])[-1]
    found, right = [], True
    for what, value in truths.items():
        if what == "sqrt of all":
            mean, margin, is_open = sum(figure(r, "sqrt")[0] * r["items"] * r.get("launches", 1) for r in rows), 0, False
        else:
            mean, margin, is_open = figure(rows[0], what)
        more = 0 if mean is None else truth(value) - mean
        right &= (is_open and more > 0) or abs(more) <= margin + 1e-6 * truth(value)
        found.append(f"{what} not known" if mean is None else f"{what} {mean:g}" + (f" ± {margin:g}" if margin else "") + " or more" * is_open)
    missing = [n["what"] for n in rows[0].get("not_counted", [])]
    return wanted, ", ".join(found), right, f"{rows[0]['counted_groups']:g} of {rows[0]['groups']:g} groups; {'; '.join(missing)}"


# ---- items 1 and 2: a baseline, something that changes, and regress ------------------------------------------------------------------

def loop(name, trips, more="", extra=""):
    return (f"kernel void {name}(global const int* x, global int* y, int never, int m) {{ {I} {extra} int s = x[i]; for (int t = 0; t < {trips}; ++t) s = s * "
     f"3 ^ t; "
            f"y[i] = never ? s : x[i] + 1; {more} }}\n")


def cells(*kernels, n="8192", head=(), local="64"):
    return block(f"axis n = {n}", "arg x = iota:n", "arg y = out:n", "arg never = 0", "arg m = 300", "global n", f"local {local}", *head) + "".join(kernels)


K, SLOW = loop("k", 300), loop("k", 3000)
REDONE = {"t.cl": cells(SLOW)}
OTHER = {"OCL_ICD_VENDORS": "CLLAB_OTHER_ICD", "LD_LIBRARY_PATH": "CLLAB_OTHER_LIBRARIES"}
MAKER = {"OCL_ICD_VENDORS": "CLLAB_OTHER_MAKER"}
# Name, item, exit statuses that are right, what must be said of a cell, files before, files after (None: deleted), options of regress, environment of regress.
REGRESS = [
    ("ten_times_slower", "1", "4", "slower", {"t.cl": cells(K)}, REDONE, (), {}),
    ("one_of_16_cells", "1", "4", "t_j7 slower", {"t.cl": cells(*(loop(f"j{j}", 300 + j) for j in range(16)))}, {"t.cl": cells(*(loop(f"j{j}",
     3000 if j == 7 else 300 + j) for j in range(16)))}, (), {}),
    ("one_point_of_an_axis", "1", "4", "slower", {"t.cl": cells(loop("k", "m"), n="1024, 2048, 8192")}, {"t.cl": cells(loop("k",
     "(get_global_size(0) == 8192 ? 10 * m : m)"), n="1024, 2048, 8192")}, (), {}),
    ("kernel_is_gone", "1", "5 1 2", "", {"t.cl": cells(K, loop("l", 200))}, {"t.cl": cells(K)}, (), {}),
    ("kernel_is_renamed", "1", "5 1 2", "", {"t.cl": cells(K, loop("l", 200))}, {"t.cl": cells(K, loop("l2", 2000))}, (), {}),
    ("point_is_gone", "1", "5 4 1 2", "", {"t.cl": cells(loop("k", "m"), n="1024, 8192")}, {"t.cl": cells(loop("k", "m"), n="1024")}, (), {}),
    ("file_is_gone", "1", "5 1 2", "", {"t.cl": cells(K)}, {"t.cl": None}, (), {}),
    ("does_not_build", "1", "1", "", {"t.cl": cells(K, loop("l", 200))}, {"t.cl": cells(K, loop("l", "UNKNOWN"))}, (), {}),
    ("local_size_of_1", "1", "4 5", "", {"t.cl": cells(K)}, {"t.cl": cells(K, local="1")}, (), {}),
    ("scalar_is_10_times_larger", "1", "4 5", "", {"t.cl": cells(loop("k", "m"))}, {"t.cl": cells(loop("k", "m"), head=("kernel k", "arg m = 6000"))}, (), {}),
    ("global_size_is_larger", "1", "4 5", "", {"t.cl": cells(loop("k", "m"))}, {"t.cl": cells(loop("k", "m"), head=("kernel k", "arg x = iota:16*n",
     "arg y = out:16*n", "global 16*n"))}, (), {}),
    ("data_makes_it_slower", "1", "4 5", "", {"t.cl": cells(loop("k", "x[i]", extra="if (i >= 4096) return;"), head=("kernel k", "arg x = const:100:n"))},
     {"t.cl": cells(loop("k", "x[i]", extra="if (i >= 4096) return;"), head=("kernel k", "arg x = const:9000:n"))}, (), {}),
    ("sequence_repeats_more", "1", "4 5", "", {"t.cl": cells(K, head=("sequence s = k", "repeat 2"))}, {"t.cl": cells(K, head=("sequence s = k", "repeat 20"))},
     (), {}),
    ("sequence_has_a_kernel_more", "1", "4 5", "", {"t.cl": cells(K, loop("l", 3000), head=("sequence s = k",)).replace("sequence s = k",
     "sequence s = k\nsequence o = l")},
     {"t.cl": cells(K, loop("l", 3000), head=("sequence s = k, l",)).replace("sequence s = k, l", "sequence s = k, l\nsequence o = l")}, (), {}),
    ("option_in_the_block", "1", "4", "slower", {"t.cl": cells(loop("k", "T"), head=("options -DT=300",))}, {"t.cl": cells(loop("k", "T"),
     head=("options -DT=3000",))}, (), {}),
    ("option_in_a_cllab_file", "1", "4", "slower", {"t.cl": cells(loop("k", "T")), "t.cllab": "options -DT=300\n"}, {"t.cllab": "options -DT=3000\n"}, (), {}),
    ("option_of_a_variant", "1", "4", "slower", {"t.cl": cells(loop("k", "T"), head=("options -DT=300", "variant v = -DU=1")).replace("T;",
     "T + U;").replace("/*cllab", "#ifndef U\n#define U 0\n#endif\n/*cllab")},
     {"t.cl": cells(loop("k", "T"), head=("options -DT=300", "variant v = -DU=3000")).replace("T;", "T + U;").replace("/*cllab",
      "#ifndef U\n#define U 0\n#endif\n/*cllab")}, (), {}),
    ("options_of_the_command", "1", "4", "slower", {"t.cl": "#ifndef T\n#define T 300\n#endif\n" + cells(loop("k", "T"))}, {}, ("--build-options", "-DT=3000"),
     {}),
    ("wide_threshold", "1", "4", "slower", {"t.cl": cells(K)}, REDONE, ("--threshold", "100"), {}),
    ("tolerance_widened", "1", "4 1 5", "", {"t.cl": cells(loop("k", 300))}, {"t.cl": cells(loop("k", 300, "if (i == 7) y[i] += 1;"),
     head=("tolerance absolute=5",))}, (), {}),
    ("slower_and_other_results", "1", "4", "slower", {"t.cl": cells(K)}, {"t.cl": cells(loop("k", 3000, "y[i] += 1;"))}, ("--results-may-change",), {}),
    ("guess_changes_with_the_text", "1", "4 5 1 2", "", {"t.cl": f"kernel void k(global const float* x, global float* y, int n) {{ {I} if (i < n) y[i] = x[i]; "
     f"}}\n"},
     {"t.cl": f"kernel void k(global const float* x, global float* y, int n) {{ {I} if (i < n) {{ float s = x[i]; for (int t = 0; t < 900; ++t) s = sqrt(s + "
      f"t); y[i] = s < 0 ? s : x[i]; }} }}\n"}, (), {}),
    ("comment_only", "2", "0", "same code", {"t.cl": cells(K)}, {"t.cl": "// changed\n" + cells(K)}, (), {}),
    ("other_work_group_method", "2", "0 4 5", "", {"t.cl": cells(loop("k", 300, extra="local int q[64]; q[get_local_id(0)] = i; barrier(CLK_LOCAL_MEM_FENCE); "
     "if (q[0] < 0) return;"))}, {}, (),
     {"POCL_WORK_GROUP_METHOD": "=loops"}),
    ("other_compiler", "2", "4 5", "other code", {"t.cl": cells(K, loop("l", 500))}, {}, (), OTHER),
    ("other_compiler_allowed", "2", "0", "", {"t.cl": cells(K)}, {}, ("--allow-new-compiler",), OTHER),
    ("other_compiler_and_slower", "2", "4", "", {"t.cl": cells(K)}, REDONE, ("--allow-new-compiler",), OTHER),
    ("other_compiler_and_a_kernel_gone", "2", "5 1 2 4", "", {"t.cl": cells(K, loop("l", 200))}, {"t.cl": cells(K)}, ("--allow-new-compiler",), OTHER),
    ("other_compiler_and_other_results", "2", "4", "", {"t.cl": cells(K)}, {"t.cl": cells(loop("k", 300, "y[i] += 1;"))}, ("--allow-new-compiler",), OTHER),
    ("other_compiler_and_a_failure", "2", "1", "", {"t.cl": cells(K)}, {"t.cl": cells(loop("k", "UNKNOWN"))}, ("--allow-new-compiler",), OTHER),
    ("other_compiler_recorded", "2", "4 5", "", {"t.cl": cells(K)}, {}, ("--recorded",), OTHER),
    ("other_compiler_comment_only", "2", "4 5", "", {"t.cl": cells(K)}, {"t.cl": "// changed\n" + cells(K)}, (), OTHER),
    ("other_compiler_one_cell_chosen", "2", "4 5", "", {"t.cl": cells(K, loop("l", 500))}, {}, ("t_k",), OTHER),
    ("other_compiler_strict", "2", "4 5", "", {"t.cl": cells(K)}, {}, ("--strict",), OTHER),
    ("other_compiler_wide_threshold", "2", "4 5", "", {"t.cl": cells(K)}, {}, ("--threshold", "100"), OTHER),
    ("other_compiler_another_kernel_edited", "2", "4 5", "", {"t.cl": cells(K, loop("l", 200))}, {"t.cl": cells(K, loop("l", 201))}, ("t_k",), OTHER),
    ("other_compiler_two_axes", "2", "4 5", "", {"t.cl": cells(K, n="1024, 4096")}, {}, (), OTHER),
    ("other_compiler_sequence", "2", "4 5", "", {"t.cl": cells(K, loop("l", 500), head=("sequence s = k, l",))}, {}, (), OTHER),
    ("other_maker", "2", "2 3 5", "", {"t.cl": cells(K)}, {}, (), MAKER),
    ("other_maker_allowed", "2", "2 3 5", "", {"t.cl": cells(K)}, {}, ("--allow-new-compiler",), MAKER),
    ("other_compiler_results_may_change", "2", "4 5", "", {"t.cl": cells(K)}, {}, ("--results-may-change",), OTHER),
    ("driver_named_otherwise_in_the_record", "2", "0 2 5", "", {"t.cl": cells(K)}, {"base/records.jsonl": ("3.1+debian", "2.0")}, (), {}),
    ("hash_of_the_code_changed_in_the_record", "2", "2 4 5", "", {"t.cl": cells(K)}, {"base/records.jsonl": ('"fingerprint":"', '"fingerprint":"0')}, (), {}),
]


def regress_case(lab, case):
    name, item, statuses, change, before, after, args, environment = case
    env = {key: value[1:] if value.startswith("=") else os.environ.get(value) for key, value in environment.items()}
    wanted = "exit status " + statuses.replace(" ", " or ") + (f", {change}" if change else "")
    if None in env.values():
        return wanted, "nothing: " + " and ".join(v for k, v in environment.items() if env[k] is None) + " unset", None, ""
    lab.write(before)
    if lab("run", "t.cl", *DEVICE, *QUICK, "--baseline", "base"):
        return wanted, "no baseline", False, lab.said.strip().splitlines()[-1]
    for path, content in after.items():
        file = lab.folder / path
        if content is None:
            file.unlink()
        elif isinstance(content, tuple):
            file.write_text(file.read_text().replace(*content))
        else:
            file.write_text(content)
    status = lab("regress", "base", *(() if "t_k" not in args else args), *(() if "t_k" in args else args), *DEVICE, "--max-time", "0.3", "--json", "out.jsonl",
     env=env)
    rows = [r for r in lab.records() if "change" in r]
    found = f"exit status {status}, " + ", ".join(sorted({r["change"] for r in rows}))
    right = str(status) in statuses.split()
    if change.startswith("t_"):
        right &= [r["id"] for r in rows if r["change"] == "slower"] == [change.split()[0]]
    elif change:
        right &= any(r["change"] == change for r in rows)
    why = next((r["reason"] for r in rows if r.get("reason")), "") or (lab.said.strip().splitlines() or [""])[-1]
    return wanted, found, right, why


def versus_case(lab, case):
    first, second, wrong = case
    lab.write({"a.cl": first, "b.cl": second})
    lab("count", "a.cl", "--vs", "b.cl")
    last = re.search(r"(Counted:|In the counted groups:|The known amounts) .*?\. |$", " ".join(lab.said.split()))[0] or "no sentence"
    return f"not '{wrong}'", last, not re.search(wrong, last), ""


# 4 roots in each item against 2 or, in one group of 1024, 5000: 6.88 in the mean.
AGAINST = (counted(MANY, 64, RARE("(get_group_id(0) & 1023) == 513 ? 5000 : 2")), counted(MANY, 64, RARE("4")), "the floating-point operations in b_k")
CASES = [*((c[1], c[0], regress_case, c) for c in REGRESS), *(("3", c[0], count_case, c) for c in COUNTS), ("3", "rare_against_even", versus_case, AGAINST),
         *(("4", c[0], run_case, c) for c in PROOFS), *(("5", c[0], run_case, c) for c in RIGHTS)]


def main(about=__doc__, cases=CASES):
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--cllab", default=CLLAB)
    options = parser.parse_args()
    by_item, false = {}, 0
    for item, name, function, case in cases:
        if options.only and options.only not in name and options.only != item:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                wanted, found, right, why = function(Lab(folder, str(pathlib.Path(options.cllab).resolve())), case)
            except subprocess.TimeoutExpired:
                wanted, found, right, why = "an end", "none", False, ""
        false += right is False
        by_item.setdefault(item, []).append(right)
        verdict = "" if right else "left out: " if right is None else "FALSE: "
        print(f"{verdict}{name}, item {item}: wanted {wanted}, found {found}{'' if right else ': ' + why}", flush=True)
    for item, rights in sorted(by_item.items()):
        print(f"item {item}: {rights.count(True)} of {len(rights) - rights.count(None)} right, {rights.count(False)} false, {rights.count(None)} left out")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
