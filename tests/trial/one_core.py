#!/usr/bin/env python3
"""Tries to make `cllab why` split a CPU kernel's time wrongly between execution in the cores and access to its data.

The judge runs the same code with another argument: each work-group passes 64 times over one piece of its buffers instead of once over 64
pieces, so that the data is in the nearest caches of its core. Its time is measured on all cores, without repeated pages and without
confining anything to one core. Its share of the kernel's time is the share of execution. Kernels whose judge changes by more than a fifth
between two runs are set aside.

False is: `execution` is named alone and the judge's share is below 0.6; or `access` is named alone and the judge's share is above 0.7; or
both are named and their parts differ from the judge's by more than 0.25. The judge's data also repeats, so `values` counts as access.

    tests/trial/one_core.py --out one_core.jsonl
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

GROUP, ROUNDS = 256, 64
BODIES = {
    "copy": "y[i] = a;",
    "scale": "y[i] = 2 * a + 1;",
    "poly4": "float r = a; for (int k = 0; k < 4; ++k) r = r * a + 0.5f; y[i] = r;",
    "poly16": "float r = a; for (int k = 0; k < 16; ++k) r = r * a + 0.5f; y[i] = r;",
    "poly64": "float r = a; for (int k = 0; k < 64; ++k) r = r * a + 0.5f; y[i] = r;",
    "root": "y[i] = sqrt(a) / (a + 1);",
    "exponential": "y[i] = exp(a);",
    "hash": "uint h = as_uint(a); for (int k = 0; k < 6; ++k) { h ^= h >> 13; h *= 0x5bd1e995u; h = (h << 7) | (h >> 25); } y[i] = (float)h;",
    "shifts": "int v = as_int(a); v = abs((v << 3) - (v >> 5)); y[i] = (float)(v & 255);",
    "sum3": "y[i] = a + x[i + 1] + x[i + 2];",
    "branches": "y[i] = a > 0.5f ? (a > 0.75f ? a * 3 : a * 5) : (a > 0.25f ? a - 7 : a + 9);",
    "chain": "float r = a; for (int k = 0; k < 24; ++k) r = sin(r); y[i] = r;"}


def text(name, groups, near):
    size = groups * GROUP * ROUNDS
    base, step = (GROUP, 0) if near else (GROUP * ROUNDS, GROUP)
    return (f"/*cllab\narg x = rand:{size + 2}\narg y = out:{size}\narg base = {base}\narg step = {step}\nglobal {groups * GROUP}\nlocal {GROUP}\n*/\n"
            f"kernel void {name}(global const float* x, global float* y, int base, int step) {{\n"
            f"    for (int round = 0; round < {ROUNDS}; ++round) {{\n"
            f"        int i = (int)get_group_id(0) * base + round * step + (int)get_local_id(0);\n        float a = x[i];\n        {BODIES[name]}\n    }}\n}}\n")


def lines(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def one(arguments, folder, name, groups):
    (folder / "own.cl").write_text(text(name, groups, False))
    (folder / "near.cl").write_text(text(name, groups, True))
    near = [arguments.cllab, "run", "near.cl", "--device", "cpu", "--no-dumps", "--no-yardstick", "--json", "-"]
    before = lines(near, folder)[0][0].get("time")
    told, errors = lines([arguments.cllab, "why", "own.cl", "--device", "cpu", "--json", "-", "--count-budget", "0"], folder)
    after = lines(near, folder)[0][0].get("time")
    why = next((line for line in told if "bounds" in line), None)
    if not (before and after and why):
        return {"body": name, "groups": groups, "error": errors[-300:]}
    seconds, parts = why["seconds"], {b["id"]: b["seconds"] for b in why["bounds"]}
    share = min(before["median"], after["median"]) / seconds
    execution, access = parts.get("execution", 0) / seconds, parts.get("access", 0) / seconds
    limiter, follower = why.get("limiter"), why.get("follower")
    far = ("access", "values", "shared")
    both = "execution" in (limiter, follower) and (limiter in far or follower in far)
    false = abs(execution - share) > 0.25 if both else share < 0.6 if limiter == "execution" else limiter in far and share > 0.7
    return {"body": name, "groups": groups, "seconds": seconds, "judge": share, "judge_apart": before["median"] / after["median"],
            "execution": execution, "access": access, "values": parts.get("values", 0) / seconds, "limiter": limiter, "follower": follower, "limit": why["limit"], "false": false,
            "left_out": [u["why"] for u in why["unbounded"] if u["what"].startswith("execution")]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cllab", default="cllab")
    parser.add_argument("--groups", default="256,2048")
    parser.add_argument("--bodies", default=",".join(BODIES))
    parser.add_argument("--out", default="one_core.jsonl")
    arguments = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder, open(arguments.out, "w") as out:
        for groups in map(int, arguments.groups.split(",")):
            for name in arguments.bodies.split(","):
                found.append(one(arguments, pathlib.Path(folder), name, groups))
                print(json.dumps(found[-1]), file=out, flush=True)
                print({k: round(v, 3) if isinstance(v, float) else v for k, v in found[-1].items()}, flush=True)
    steady = [f for f in found if 0.8 < f.get("judge_apart", 0) < 1.25]
    named = [f for f in steady if f.get("limiter") in ("execution", "access", "values", "shared")]
    print(f"{len(found)} kernels, {len(steady)} with a steady judge: {len(named)} split, {sum(f['false'] for f in named)} of them false, "
          f"{sum(f.get('limit') == 'named' for f in steady) - len(named)} named by another bound, "
          f"{sum(f.get('limit') == 'not explained' for f in steady)} not explained")


if __name__ == "__main__":
    main()
