#!/usr/bin/env python3
"""Kernel files that try to be proved though they are wrong, and right ones that must not be accused. No part of the regression.

    tests/trial/proofs.py [--only NAME] [--cllab PROGRAM]

Each case says what must come of it:
  ok     every kernel is `ok`, proved or not
  bad    some kernel is not `ok`, and the exit status is 1
  open   `ok`, and the row says that nothing proves it, or not all of it
  asked  exit status 2, and what cannot be guessed is asked for
Exit status: 0 when each case came out as it must, else 1.
"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

CLLAB = os.environ.get("CLLAB", pathlib.Path(__file__).resolve().parents[2] / "build" / "cllab")
I = "const int i = get_global_id(0);"


def block(*lines):
    return "/*cllab\n" + "\n".join(lines) + "\n*/\n"


def in_place(body, kind="float", data="rand:4096", size="4096", *lines):
    return block(f"arg d = {data}", f"global {size}", *lines) + f"kernel void k(global {kind}* d) {{ {I} {body} }}\n"


def pair(struct_fields, wrong, *lines):
    """Two kernels that fill structs, the second held against the first."""
    body = "p[i].f = x[i] * 0.1f; p[i].id = 1000 * i;"
    return (block("axis n = 256", "arg x = rand:n", "arg p = out:n", "global n", *lines, "kernel fast", "reference slow") +
            f"typedef struct {{ {struct_fields} }} P;\n"
            f"kernel void slow(global const float* x, global P* p) {{ {I} {body} }}\n"
            f"kernel void fast(global const float* x, global P* p) {{ {I} {body} {wrong} }}\n")


def linear(value, *lines, kind="float"):
    return (block("axis n = 256", "arg x = rand:n", "arg y = out:n", "global n", *lines) +
            f"kernel void k(global const {kind}* x, global {kind}* y) {{ {I} y[i] = {value}; }}\n")


def two(first, second, *lines, arguments="global const float* x, global float* y"):
    return (block("axis n = 256", "arg x = rand:n", "arg y = out:n", "global n", *lines) +
            f"kernel void a({arguments}) {{ {I} {first} }}\nkernel void b({arguments}) {{ {I} {second} }}\n")


def outputs(*lines, more=""):
    return (block("axis n = 64", "arg x = iota:n", "arg y = out:n", "arg z = out:n", "global n", *lines) +
            f"kernel void k(global const float* x, global float* y, global float* z) {{ {I} y[i] = x[i]; z[i] = 3 * x[i]; }}\n" + more)


RELATION = "relation linear in x"
VERIFY = ("--verify",)
CASES = [
    # 4: proofs with holes
    ("id_off_by_one_relative", "4", "bad", pair("int id; float f;", "p[i].id += (i == 200);", "tolerance relative=1e-3"), ()),
    ("id_off_by_one_absolute", "4", "bad", pair("int id; float f;", "p[i].id += (i == 7);", "tolerance absolute=2"), ()),
    ("long_id_off", "4", "bad", pair("long id; float f;", "p[i].id ^= 1;", "tolerance relative=0.1"), ()),
    ("id_behind_the_float", "4", "bad", pair("float f; uint id;", "p[i].id += 1;", "tolerance absolute=1"), ()),
    ("id_right_float_rounded", "4", "ok", pair("int id; float f;", "p[i].f *= 1.000001f;", "tolerance relative=1e-4"), ()),
    ("float_too_far", "4", "bad", pair("int id; float f;", "p[i].f *= 1.01f;", "tolerance relative=1e-4"), ()),
    ("index_beside_floats", "4", "bad", block("arg y = out:64", "arg at = out:64", "global 64", "tolerance relative=1e-2", "kernel fast", "reference slow") +
     f"kernel void slow(global float* y, global int* at) {{ {I} y[i] = i; at[i] = 1000 + i; }}\n"
     f"kernel void fast(global float* y, global int* at) {{ {I} y[i] = i; at[i] = 1001 + i; }}\n", ()),
    ("whole_numbers_with_their_tolerance", "4", "ok", block("arg y = out:64", "global 64", "tolerance absolute=1", "kernel fast", "reference slow") +
     f"kernel void slow(global int* y) {{ {I} y[i] = 10 * i; }}\nkernel void fast(global int* y) {{ {I} y[i] = 10 * i + (i & 1); }}\n", ()),
    ("nan_is_linear", "4", "bad", linear("x[i] * NAN", RELATION), ()),
    ("inf_is_linear", "4", "bad", linear("x[i] + INFINITY", RELATION), ()),
    ("one_nan_is_linear", "4", "bad", linear("i == 77 ? NAN : 2 * x[i]", RELATION), ()),
    ("zero_is_linear", "4", "open", linear("0 * x[i]", RELATION), ()),
    ("twice_is_linear", "4", "ok", linear("2 * x[i]", RELATION), ()),
    ("twice_in_double_is_linear", "4", "ok", linear("2 * x[i]", RELATION, kind="double"), ()),
    ("square_is_not_linear", "4", "bad", linear("x[i] * x[i]", RELATION), ()),
    ("nan_is_permuted", "4", "bad", linear("NAN", "relation same under permute x"), ()),
    ("nan_in_a_sum", "4", "bad", linear("x[i] * NAN", "relation sum of y preserved from x"), ()),
    ("part_is_written_and_permuted", "4", "ok", block("arg x = rand:64", "arg y = out:64", "global 64", "relation same under permute x") +
     f"kernel void k(global const float* x, global float* y) {{ {I} float m = 0; for (int j = 0; j < 64; ++j) m = max(m, x[j]); if (i < 32) y[i] = m; }}\n", ()),
    ("verify_takes_two_inputs", "4", "bad", block("axis n = 64", "arg x = rand:n:0:1000000", "arg y = out:n", "global n", "kernel b", "reference a") +
     f"kernel void a(global const int* x, global int* y) {{ {I} y[i] = x[i]; }}\n"
     f"kernel void b(global const int* x, global int* y) {{ {I} y[i] = x[0] == FIRST ? x[i] : x[i] + 1; }}\n", VERIFY),
    ("own_reference", "4", "open", linear("x[i]", "reference k"), ()),
    ("own_reference_by_kernel", "4", "open", linear("x[i]", "kernel k", "reference k"), ()),
    ("references_in_a_circle", "4", "open", two("y[i] = 2 * x[i];", "y[i] = 2 * x[i];", "kernel a", "reference b", "kernel b", "reference a"), ()),
    ("reference_of_the_same_code", "4", "open", two("y[i] = x[i];", "y[i] = x[i];", "kernel b", "reference a"), VERIFY),
    ("same_code_agrees", "4", "open", two("y[i] = x[i] + 1;", "y[i] = x[i] + 1;"), VERIFY),
    ("same_code_agrees_when_timed", "4", "open", two("y[i] = x[i] + 1;", "y[i] = x[i] + 1;"), ()),
    ("second_output_is_unproved", "4", "open", outputs("expect y = gold.raw"), ()),
    ("second_output_is_proved", "4", "ok", outputs("expect y = gold.raw", "relation sum of z preserved from x").replace("z[i] = 3 * x[i]", "z[i] = x[63 - i]"), ()),
    ("relation_of_one_output", "4", "open", outputs("relation sum of y preserved from x"), ()),
    # 5: right kernels
    ("negate", "5", "ok", in_place("d[i] = -d[i];"), ()),
    ("negate_verified", "5", "ok", in_place("d[i] = -d[i];"), VERIFY),
    ("one_minus", "5", "ok", in_place("d[i] = 1 - d[i];", "float", "iota:4096"), ()),
    ("not_of_bits", "5", "ok", in_place("d[i] = ~d[i];", "uint"), ()),
    ("reverse", "5", "ok", in_place("const float a = d[i], b = d[4095 - i]; d[i] = b; d[4095 - i] = a;", "float", "rand:4096", "2048"), ()),
    ("transpose", "5", "ok", in_place("const int r = i / 64, c = i % 64; if (r < c) { const float a = d[i]; d[i] = d[c * 64 + r]; d[c * 64 + r] = a; }"), ()),
    ("swap_two", "5", "ok", block("arg a = rand:256", "arg b = rand:256", "global 256") +
     f"kernel void k(global float* a, global float* b) {{ {I} const float t = a[i]; a[i] = b[i]; b[i] = t; }}\n", ()),
    ("conjugate", "5", "ok", in_place("d[i].y = -d[i].y;", "float2"), ()),
    ("bytes_swapped", "5", "ok", in_place("d[i] = d[i].wzyx;", "uchar4"), ()),
    ("does_nothing_in_place", "5", "bad", in_place("if (d[i] > 5) d[i] = 0;"), ()),
    ("writes_nothing", "5", "bad", block("arg y = out:64", "global 64") + f"kernel void k(global float* y) {{ {I} if (i < 0) y[i] = 1; }}\n", ()),
    ("guessed_flag", "5", "ok", "kernel void k(global int* found, global const float* x, int n) { const int i = get_global_id(0); if (i < n && x[i] >= 0) found[i] = 1; }\n", ()),
    ("guessed_particles", "5", "ok", "typedef struct { float x, v; int alive; } P;\nkernel void k(global P* p, float dt, int n) { const int i = get_global_id(0); if (i < n) p[i].x += p[i].v * dt; }\n", ()),
    ("guessed_counter_of_none", "5", "ok", "kernel void k(global const float* x, global int* count, int n) { const int i = get_global_id(0); if (i < n && x[i] > 2) atomic_inc(count); }\n", ()),
    ("guessed_relu_in_place", "5", "ok", "kernel void k(global float* x, int n) { const int i = get_global_id(0); if (i < n) x[i] = max(x[i], 0.0f); }\n", ()),
    ("guessed_group_of_12", "5", "ok", "kernel __attribute__((reqd_work_group_size(12, 1, 1))) void k(global float* x) { x[get_global_id(0)] += 1; }\n", ()),
    ("guessed_group_of_7_by_3", "5", "ok", "kernel __attribute__((reqd_work_group_size(7, 3, 1))) void k(global float* x, int w) { x[get_global_id(1) * w + get_global_id(0)] += 1; }\n", ()),
    ("guessed_rows", "5", "asked", "kernel void k(global const int* row, global const int* col, global const float* v, global const float* x, global float* y, int n) {\n"
     "  const int i = get_global_id(0); if (i >= n) return; float s = 0; for (int j = row[i]; j < row[i + 1]; ++j) s += v[j] * x[col[j]]; y[i] = s; }\n", ()),
    ("guessed_count", "5", "asked", "kernel void k(global const float* x, global float* y, int zork) { const int i = get_global_id(0); float s = 0; for (int k = 0; k < zork; ++k) s += x[i] * k; y[i] = s; }\n", ()),
    # 7: kernels of one file
    ("disagree", "7", "bad", two("y[i] = x[i] + 1;", "y[i] = x[i] + 2;"), ()),
    ("disagree_at_the_end", "7", "bad", two("y[i] = x[i];", "y[i] = i == 255 ? 0 : x[i];"), ()),
    ("disagree_verified", "7", "bad", two("y[i] = x[i];", "y[i] = 2 * x[i];"), VERIFY),
    ("differ", "7", "ok", two("y[i] = x[i] + 1;", "y[i] = x[i] + 2;", "differ a, b"), ()),
    ("same_and_agree", "7", "ok", two("y[i] = x[i] + x[i];", "y[i] = 2 * x[i];", "same a, b"), ()),
    ("same_and_disagree", "7", "bad", two("y[i] = x[i] + 1;", "y[i] = 2 * x[i];", "same a, b"), ()),
    ("both_proved", "7", "ok", two("y[i] = 3 * x[i];", "y[i] = 2 * x[i];", RELATION), ()),
    ("within_tolerance", "7", "ok", two("y[i] = x[i] * 1.000001f;", "y[i] = x[i];", "tolerance relative=1e-4"), ()),
    ("other_data", "7", "ok", two("y[i] = x[i];", "y[i] = x[i];", "kernel b", "arg x = zero:n"), ()),
    ("disagree_in_place", "7", "bad", block("arg d = rand:256", "global 256") + f"kernel void a(global float* d) {{ {I} d[i] += 1; }}\nkernel void b(global float* d) {{ {I} d[i] += 2; }}\n", ()),
    ("differ_of_three", "7", "bad", two("y[i] = x[i] + 1;", "y[i] = x[i] + 2;", "differ a, b") + f"kernel void c(global const float* x, global float* y) {{ {I} y[i] = x[i] + 3; }}\n", ()),
]


def records_of(cllab, folder, text, args):
    (folder / "t.cl").write_text(text)
    (folder / "r.jsonl").unlink(missing_ok=True)
    ran = subprocess.run([cllab, "run", "t.cl", "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl", *args],
                         cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    lines = (folder / "r.jsonl").read_text().splitlines() if (folder / "r.jsonl").exists() else []
    return ran, [r for r in map(json.loads, lines) if "status" in r]


def came_out(ran, records):
    if ran.returncode == 2 and "cannot be guessed" in ran.stderr:
        return "asked"
    if not records or any(r["status"] != "ok" for r in records):
        return "bad" if ran.returncode == 1 else f"exit status {ran.returncode}"
    if ran.returncode:
        return f"exit status {ran.returncode}"
    return "open" if any("only itself" in r["checked_by"] and any(w.startswith("unproved") for w in r["warnings"]) for r in records) else "ok"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--cllab", default=CLLAB)
    options = parser.parse_args()
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "gold.raw").write_bytes(struct.pack("<64f", *range(64)))
        for case, item, wanted, text, args in CASES:
            if options.only not in case:
                continue
            if "FIRST" in text:  # the first element of the first input
                _, records = records_of(options.cllab, folder, text.replace("FIRST", "-1").replace("x[i] + 1", "x[0]").replace("{ " + I + " y[i] = x[i]; }", "{ " + I + " y[i] = 0; }"), args)
                wrong_result = next(r["reason"] for r in records if r["status"] == "wrong_result")  # "y[0] is 330004, …"
                text = text.replace("FIRST", wrong_result.split(" is ")[1].split(",")[0])
            ran, records = records_of(options.cllab, folder, text, args)
            found = came_out(ran, records)
            right = found == wanted or (wanted == "ok" and found == "open")
            counts.setdefault((item, wanted), []).append(right)
            if not right:
                wrong.append(case)
                why = records[0].get("reason") or records[0].get("checked_by") if records else (ran.stderr.strip().splitlines() or [""])[-1]
                print(f"{case}: wanted {wanted}, found {found}: {why}", flush=True)
    for (item, wanted), all_of in sorted(counts.items()):
        print(f"item {item}, {wanted}: {sum(all_of)} of {len(all_of)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
