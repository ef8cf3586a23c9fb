#!/usr/bin/env python3
"""Holds what `cllab count` says of kernels against counts that were worked out by hand. No part of the regression, and no device is needed.

    tests/trial/counts_by_hand.py [--only NAME] [--count-budget 3]

true: the figure is the launch's. interval: it is an estimate, and its 95 % interval holds the truth. open: the page says that it is not known. FALSE: it states
another number, or an interval without the truth. Exit status: 0 where at most one in ten of the intervals misses and nothing else is false, else 1.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CLLAB = os.environ.get("CLLAB", pathlib.Path(__file__).resolve().parents[2] / "build" / "cllab")
GROUP = 64


def launch(items, local=GROUP, more=""):
    return f"/*cllab\narg a = zero:{max(items, 4096)}\narg b = zero:{max(items, 4096)}\narg n = {items}\nglobal {items}\nlocal {local}\n{more}*/\n"


def kernel(body):
    return "kernel void k(global int* a, global int* b, int n) {\n    int i = get_global_id(0), g = get_group_id(0), l = get_local_id(0), s = i;\n    " + body + "\n}\n"


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def hashed(g):
    return (g * 2654435761) % 2**32 >> 16


ROOT = "float v = i; for (int k = 0; k < (%s); ++k) v = sqrt(v); b[i] = v;"
DIVIDE = "for (int k = 1; k <= (%s); ++k) s = (s + 70000) / (n + k); b[i] = s;"
BIG = 16384  # groups

# Name, kernel file, and per work-item unless the name says otherwise: what is counted.
CASES = [
    ("switch of 2 bits", launch(4096), kernel("int t = 0; switch (i & 3) { case 1: t = 50; break; case 2: t = 90; break; case 3: t = 200; break; } " + ROOT % "t"), {"sqrt": 85}),
    ("switch of 3 bits", launch(4096), kernel("int t = 7; switch ((i >> 1) & 7) { case 0: t = 1; break; case 3: t = 80; break; case 5: t = 40; break; case 6: t = 9; } " + DIVIDE % "t"), {"divide": (1 + 80 + 40 + 9 + 4 * 7) / 8}),
    ("switch with code", launch(4096), kernel("switch (i & 3) { case 0: s = i * 3; break; case 1: s = i * 5; break; case 2: s = i / 3; break; } b[i] = s;"), {"store": 4, "multiply": 0.75}),
    ("switch of 5 bits", launch(4096), kernel("int t = 0; switch (i & 31) { case 4: t = 320; break; case 17: t = 640; break; case 30: t = 3; } " + ROOT % "t"), {"sqrt": 963 / 32}),
    ("solved loop", launch(4096), kernel("int t = 0; for (int k = 0; k < n; ++k) t += k; " + ROOT % "(t & 3) + 2"), {"sqrt": 2 + (4096 * 4095 // 2 & 3)}),
    ("field of 3 bits", launch(4096), kernel("int f = i << 29 >> 29; " + ROOT % "f < 0 ? 20 : 4"), {"sqrt": 12}),
    ("groups of 32", launch(128, 32), kernel("b[i] = i * 3;"), {"wave items": 32}),
    ("groups of 1", launch(128, 1), kernel("b[i] = i * 3;"), {"wave items": 1, "same per wave": "groups of 32"}),
    ("groups of 5", launch(125, 5), kernel("b[i] = i * 3;"), {"wave items": 5, "same per wave": "groups of 32"}),
    ("groups of 48", launch(480, 48), kernel("b[i] = i * 3;"), {"wave items": 24, "same per wave": "groups of 32"}),
    ("one group of many works", launch(BIG * GROUP), kernel(ROOT % "g == 5000 ? 100000 : 0"), {"sqrt": 100000 / BIG, "store": 4}),
    ("the last group of many works", launch(BIG * GROUP), kernel(ROOT % "g == 16383 ? 1000 : 0"), {"sqrt": 1000 / BIG}),
    ("one of ten works", launch(10 * GROUP), kernel(ROOT % "g == 6 ? 1000 : 0"), {"sqrt": 100}),
    ("a rare atomic", launch(BIG * GROUP), kernel("b[i] = i; if (g == 9001) atomic_inc(a);"), {"atomic": 1 / BIG, "store": 4}),
    ("a rare local access", launch(BIG * GROUP), kernel("local int t[64]; t[l] = i; barrier(CLK_LOCAL_MEM_FENCE); b[i] = g == 77 ? t[63 - l] : i;"), {"local load": 4 / BIG, "store": 4}),
    ("a rare barrier", launch(BIG * GROUP), kernel("if (g == 12345) barrier(CLK_LOCAL_MEM_FENCE); b[i] = i;"), {"barrier": 1 / BIG}),
    ("half of the groups", launch(BIG * GROUP), kernel("b[i] = i; if (g & 1) b[i] = a[i] + 1;"), {"load": 2, "store": 6}),
    ("an eighth of the groups", launch(BIG * GROUP), kernel(ROOT % "g % 8 == 3 ? 200 : 8"), {"sqrt": 32}),
    ("growing work", launch(BIG * GROUP), kernel(ROOT % "g / 64"), {"sqrt": mean(g // 64 for g in range(BIG))}),
    ("uneven work", launch(BIG * GROUP), kernel(ROOT % "(g * 2654435761u >> 16) % 100"), {"sqrt": mean(hashed(g) % 100 for g in range(BIG))}),
    ("skewed work", launch(BIG * GROUP), kernel("int t = (g * 2654435761u >> 16) % 64; t = t * t * t / 1000; " + ROOT % "t"), {"sqrt": mean((hashed(g) % 64)**3 // 1000 for g in range(BIG))}),
    ("quadratic work", launch(2048 * GROUP), kernel(ROOT % "g * g / 8192"), {"sqrt": mean(g * g // 8192 for g in range(2048))}),
    ("a border of a picture", launch(4096 * GROUP), kernel("int x = g % 64, y = g / 64; " + ROOT % "x == 0 || y == 0 || x == 63 || y == 63 ? 2 : 30"), {"sqrt": (252 * 2 + (4096 - 252) * 30) / 4096}),
    ("twelve bytes", launch(4096), kernel("if (a[i % 3] > 5) b[0] = 1;"), {"different": 12}),
    ("bytes apart", launch(4096), kernel("b[i / 16 * 16] = 1;"), {"different": 4 * 256}),
    ("shorts of 37 bytes", launch(4096), kernel("global char* p = (global char*)a; b[0] = p[i % 37];"), {"different": 37 + 4}),
    ("a histogram", launch(4096), kernel("atomic_inc(a + i % 10);"), {"different": 40, "atomic": 1}),
    ("distinct bytes of many groups", launch(BIG * GROUP), kernel("b[i] = a[i];"), {"different": 8 * BIG * GROUP}),
    ("the last of two groups is long", launch(2 * GROUP), kernel(ROOT % "g == 1 ? 1 << 30 : 10"), {"sqrt": (2**30 + 10) / 2}),
    ("the first of two groups is long", launch(2 * GROUP), kernel(ROOT % "g == 0 ? 1 << 22 : 10"), {"sqrt": (2**22 + 10) / 2}),
    ("rows of data", launch(1024 * GROUP, more="kernel k\narg a = iota:65536\n"), kernel(ROOT % "a[g] / 16"), {"sqrt": mean(g // 16 for g in range(1024))}),
    ("a guard", launch(1024 * GROUP, more="kernel k\narg n = 40000\n"), kernel("if (i < n) b[i] = a[i];"), {"load": 4 * 40000 / 65536}),
]


def figure(counts, name):
    """(mean or None, margin)"""
    if name == "wave items":
        return counts["group_items"] / -(-counts["group_items"] // counts["wave"]), 0
    if name == "different":
        whole = counts["counted_groups"] == counts["groups"]
        return counts["footprint"][-1]["bytes"] if whole else None, 0
    kinds = {"sqrt": ("float_function", 32, "sqrt"), "divide": ("integer_divide", 32, ""), "multiply": ("integer_multiply", 32, "")}
    amounts = {"load": ("global", "load_bytes"), "store": ("global", "store_bytes"), "local load": ("local", "load_bytes"), "atomic": ("global_atomics", "number")}
    if name in kinds:
        found = [o["per_item"] for o in counts["operations"] if (o["kind"], o["bits"], o.get("function", "")) == kinds[name]]
        amount = found[0] if found else {"mean": 0}
    elif name == "barrier":
        amount = counts["barriers"]
    else:
        amount = counts[amounts[name][0]][amounts[name][1]]
    return amount.get("mean"), amount.get("margin", 0)


def count(block, text, budget):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "k.cl").write_text(block + text)
        out = pathlib.Path(folder) / "counts.jsonl"
        done = subprocess.run([CLLAB, "count", "k.cl", "--count-budget", str(budget), "--json", out], cwd=folder, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        return (lines[0] if lines else None), done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--count-budget", type=float, default=3)
    arguments = parser.parse_args()
    verdicts, per_wave = {}, {}
    print(f"{'verdict':9}{'kernel':32}{'figure':14}{'truth':>12}{'counted':>12}{'margin':>10}  groups")
    for name, block, text, truths in CASES:
        if arguments.only not in name and not name.startswith("groups of 32"):
            continue
        counts, said = count(block, text, arguments.count_budget)
        if counts is None or "refused" in counts:
            print(f"{'open':9}{name:32}{said.splitlines()[-1] if said else ''}")
            verdicts["open"] = verdicts.get("open", 0) + 1
            continue
        per_wave[name] = counts["issued"].get("mean", 0) * figure(counts, "wave items")[0]
        for what, truth in truths.items():
            if what == "same per wave":
                found, margin, truth = per_wave[name], 0, per_wave.get(truth, per_wave[name])
            else:
                found, margin = figure(counts, what)
            near = found is not None and abs(found - truth) <= 1e-9 * abs(truth)
            verdict = "open" if found is None else "true" if near else "interval" if abs(found - truth) <= margin else "missed" if margin else "FALSE"
            verdicts[verdict] = verdicts.get(verdict, 0) + 1
            shown = "not known" if found is None else f"{found:.6g}"
            print(f"{verdict:9}{name:32}{what:14}{truth:12.6g}{shown:>12}{margin:10.3g}  {counts['counted_groups']:.0f} of {counts['groups']:.0f}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items())))
    estimates = verdicts.get("interval", 0) + verdicts.get("missed", 0)
    return 1 if verdicts.get("FALSE") or verdicts.get("missed", 0) > 0.1 * estimates + 1 else 0


if __name__ == "__main__":
    sys.exit(main())
