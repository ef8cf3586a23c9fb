#!/usr/bin/env python3
"""34 more cases of the kinds of nothing_false.py, most of them of rare groups with more work. Options, environment and output are the same."""
import math
import sys

from nothing_false import (GOLD, I, IN_PLACE, MANY, OTHER, RARE, RIGHT, TOLERANT, K, block, cells, count_case, counted, expected, held_against, loop, main,
                           one, pixels, regress_case, run_case, two, versus_case)

GROUPS = range(16384)


def mean(of):
    return sum(of) / len(GROUPS)


def body(before, trips):
    """Roots in a loop of so many trips, behind other text."""
    return f"int g = get_group_id(0); {before} float v = i; for (int k = 0; k < ({trips}); ++k) v = sqrt(v); b[i & 65535] = v;"


NOISE = "(get_group_id(0) & 1023) == 513 ? 5000 : 2 + (get_group_id(0) & 1)"
STRIDED = "g % 700 == 3 ? 33 * i : i"
COUNTS = [
    ("rare_above_uneven_groups", counted(MANY, 64, RARE(NOISE)), {"sqrt": mean(5000 if g & 1023 == 513 else 2 + (g & 1) for g in GROUPS)}),
    ("rare_by_a_hash", counted(MANY, 64, body("", "g * 7919 % 4099 == 17 ? 3000 : 1")), {"sqrt": mean(3000 if g * 7919 % 4099 == 17 else 1 for g in GROUPS)}),
    ("rare_in_a_function", counted(MANY, 64, "b[i & 65535] = f(i, i / 64 % 1500 == 8 ? 4000 : 1);",
                                   before="float __attribute__((noinline)) f(float v, int n) { for (int k = 0; k < n; ++k) v = sqrt(v); return v; }\n"),
     {"sqrt": mean(4000 if g % 1500 == 8 else 1 for g in GROUPS)}),
    ("rare_without_the_break", counted(MANY, 64, "float v = i; for (int k = 0; k < 4096; ++k) { v = sqrt(v); if (k >= 2 && i / 64 % 911 != 100) break; } "
                                       "b[i & 65535] = v;"), {"sqrt": mean(4096 if g % 911 == 100 else 3 for g in GROUPS)}),
    ("rare_through_local_memory", counted(MANY, 64, body("local int t; if (l == 0) t = g % 1200 == 7 ? 4000 : 2; barrier(CLK_LOCAL_MEM_FENCE);", "t")),
     {"sqrt": mean(4000 if g % 1200 == 7 else 2 for g in GROUPS)}),
    ("rare_through_a_private_array", counted(MANY, 64, body("volatile int t[4]; t[l & 3] = 2; if (g % 1200 == 7) t[l & 3] = 4000;", "t[l & 3]")),
     {"sqrt": mean(4000 if g % 1200 == 7 else 2 for g in GROUPS)}),
    ("rare_by_a_ticket", counted(MANY, 64, body("int t = atomic_inc(a);", "t > 1000000 ? 3000 : 1")),
     {"sqrt": 1 + 2999 * (MANY - 1000001) / MANY}),
    ("rare_do_while", counted(MANY, 64, "int g = i / 64, k = 0; float v = i; do { v = sqrt(v); ++k; } while (g % 1009 == 44 && k < 4000); b[i & 65535] = v;"),
     {"sqrt": mean(4000 if g % 1009 == 44 else 1 for g in GROUPS)}),
    ("rare_by_a_switch", counted(MANY, 64, body("int n2; switch (g & 1023) { case 700: n2 = 3000; break; case 4: n2 = 3; break; default: n2 = 2; }", "n2")),
     {"sqrt": mean({700: 3000, 4: 3}.get(g & 1023, 2) for g in GROUPS)}),
    ("rare_by_a_sine", counted(MANY, 64, body("", "fabs(sin((float)g)) < 1e-3f ? 4000 : 1")),
     {"sqrt": mean(4000 if abs(math.sin(g)) < 1e-3 else 1 for g in GROUPS)}),
    ("rare_in_two_dimensions", pixels("1024,1024", "8,8", "float v = x; for (int k = 0; k < (x / 8 * 3 + y / 8 * 5 == 701 ? 3000 : 2); ++k) v = sqrt(v); "
                                      "b[x] = v;"), {"sqrt": mean(3000 if g % 128 * 3 + g // 128 * 5 == 701 else 2 for g in GROUPS)}),
    ("rare_by_lanes_apart", counted(MANY, 64, "float v = i; int k = 0; while (k < 3000) { v = sqrt(v); if (i / 64 % 777 == 6 && (l & 1)) { ++k; continue; } "
                                    "k += 3000; } b[i & 65535] = v;"), {"sqrt": mean((3000 + 1) / 2 if g % 777 == 6 else 1 for g in GROUPS)}),
    ("rare_trips_of_a_uniform_loop", counted(MANY, 64, body("int m = 1; for (int j = 0; j < 12; ++j) if (g % 4096 == 31 + j) m += 2000;", "m")),
     {"sqrt": 1 + 2000 * 48 / 16384}),
    ("whole_strides", counted(MANY, 64, "float v = i; for (int j = i; j < 2 * (int)get_global_size(0) + 640; j += get_global_size(0)) v = sqrt(v); b[i & 65535] "
                              "= v;"), {"sqrt": 2 + 640 / MANY}),
    ("a_triangle", counted(MANY, 64, body("", "g / 256")), {"sqrt": mean(g // 256 for g in GROUPS)}),
]
VERSUS = [
    ("noise_against_even", (counted(MANY, 64, RARE(NOISE)), counted(MANY, 64, RARE("4")), "^Counted: .*b_k has .*floating-point operations")),
    ("even_against_rare", (counted(MANY, 64, RARE("4")), counted(MANY, 64, body("", "g % 1000 == 37 ? 5000 : 2")), "the floating-point operations in a_k")),
    ("chain_against_rare", (counted(MANY, 64, RARE("100")), counted(MANY, 64, body("", "g % 1000 == 37 ? 5000 : 20")), "longest chain in a_k")),
    ("rare_division", (counted(MANY, 64, "for (int k = 0; k < (i / 64 % 1300 == 9 ? 9000 : 1); ++k) b[i & 65535] = k / n;"),
                       counted(MANY, 64, "for (int k = 0; k < 4; ++k) b[i & 65535] = k / n;"), "divisions (only )?in b_k")),
]
PROOFS = [
    ("wrong_at_the_second_size", "bad", two("y[i] = x[i];", "y[i] = get_global_size(0) == 257 && i == 256 ? 0 : x[i];", "kernel b", "reference a").replace(
        "axis n = 256", "axis n = 256, 257"), (), {}),
    ("linear_by_zeros", "open bad", one("y[i] = 0 * x[i];", "relation linear in x"), (), {}),
    ("relation_of_one_of_two", "open", block("arg x = rand:64", "arg y = out:64", "arg z = out:64", "global 64", "relation sum of y preserved from x") +
     f"kernel void k(global const float* x, global float* y, global float* z) {{ {I} y[i] = x[i]; z[i] = x[i] * x[i]; }}\n", (), {}),
    ("reference_that_copies_the_result", "bad refused open", two("y[i] = y[i];", "y[i] = 5;", "kernel b", "reference a"), (), {}),
    ("expected_but_one_more_is_written", "bad", expected("x[i]; if (i == 63) y[64] = 1"), (), GOLD),
    ("float_where_ids_are_hidden_in_bits", "bad", held_against("", "y[i] = as_float(0x3f800000 + i);", "y[i] = as_float(0x3f800000 + (i ^ 1));", kind="float"),
     (), {}),
    ("char_field_beside_a_float", "bad", held_against("float f; char4 c;", "y[i].f = x[i]; y[i].c = (char4)(100);", "y[i].c.z = 101;", TOLERANT), (), {}),
]
RIGHTS = [
    ("minus_zero", "proved", two("y[i] = x[i] * -0.0f;", "y[i] = 0;", "kernel b", "reference a"), (), {}),
    ("all_write_one_flag", RIGHT, block("arg x = rand:4096", "arg f = out:1", "global 4096") +
     f"kernel void k(global const float* x, global int* f) {{ {I} if (x[i] < 9) *f = 1; }}\n", (), {}),
    ("quarter_turn_in_place", RIGHT, IN_PLACE("int x = i % 64, y = i / 64; if (x >= 32 || y >= 32) return; const int p[4] = {y * 64 + x, x * 64 + 63 - y, (63 - "
                                              "y) * 64 + 63 - x, (63 - x) * 64 + y}; const float t = d[p[0]]; for (int k = 0; k < 3; ++k) d[p[k]] = d[p[k + "
                                              "1]]; d[p[3]] = t;"), (), {}),
    ("a_byte_of_each", "proved", two("y[i] = x[i] & 255;", "((global char*)(y + i))[0] = x[i]; ((global char*)(y + i))[1] = 0; vstore2((char2)(0), 0, (global "
                                     "char*)(y + i) + 2);", "kernel b", "reference a", kind="int"), (), {}),
]
REGRESS = [
    ("header_is_slower", "1", "4", "slower", {"t.cl": '#include "h.h"\n' + cells(loop("k", "T")), "h.h": "#define T 300\n"}, {"h.h": "#define T 3000\n"}, (), {}),
    ("third_of_a_sequence", "1", "4", "slower", {"t.cl": cells(K, loop("l", 200), loop("j", 200), head=("sequence s = k, l, j",))},
     {"t.cl": cells(K, loop("l", 200), loop("j", 9000), head=("sequence s = k, l, j",))}, (), {}),
    ("input_file_is_longer", "1", "4 5 1 2", "", {"t.cl": cells(loop("k", "x[0]"), head=("kernel k", "arg x = const:100:n"))},
     {"t.cl": cells(loop("k", "x[0]"), head=("kernel k", "arg x = const:9000:n"))}, (), {}),
    ("other_compiler_and_header", "2", "4", "", {"t.cl": '#include "h.h"\n' + cells(loop("k", "T")), "h.h": "#define T 300\n"}, {"h.h": "#define T 3000\n"},
     ("--allow-new-compiler",), OTHER),
]
CASES = [*(("3", c[0], count_case, c) for c in COUNTS), *(("3", c[0], versus_case, c[1]) for c in VERSUS), *(("4", c[0], run_case, c) for c in PROOFS),
         *(("5", c[0], run_case, c) for c in RIGHTS), *((c[1], c[0], regress_case, c) for c in REGRESS)]

if __name__ == "__main__":
    sys.exit(main(__doc__, CASES))
