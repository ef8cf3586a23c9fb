#!/usr/bin/env python3
"""Tries to make two runs of `cllab run --energy` contradict each other. Takes minutes, on a quiet machine; no part of the regression.

    tests/trial/energy.py --device gpu --rounds 5 --out energy.jsonl

CLLAB names the program, build/cllab unless set. Each kernel runs in a process of its own in each round, so that a card warms up and cools down between
its runs. spread: its largest energy over its smallest, less 1. apart: two runs of one kernel have intervals that do not meet, of all pairs of its runs.
twice: a copy of twice the bytes over the copy, which draws twice as much. A kernel without an energy is named with the reason.
Rows are written to --out as they are found. Exit status: 0 when no spread is above a tenth and the copies are within 5 % of twice, 1 when not, 2 without
a row.
"""
import argparse
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY, TWICE = "bandwidth_copy size=256Mi", "bandwidth_copy size=512Mi"
KERNELS = (COPY, TWICE, "gemm_serpentine", "hgemm_wgmma", "pitch_wide", "fma_latency", "muladd_fma")


def record_of(device, kernel):
    name, *axes = kernel.split()
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as lines:
        words = [word for axis in axes for word in ("--axis", axis)]
        ran = subprocess.run([os.environ.get("CLLAB", ROOT / "build/cllab"), "run", name, "--device", device, *words, "--points", "first", "--energy",
                              "--no-dumps", "--json", lines.name, "--force"], capture_output=True, text=True)
        return next((json.loads(line) for line in open(lines.name)), {"status": "crashed", "reason": ran.stderr})


def row_of(device, kernel, number):
    record = record_of(device, kernel)
    missing = [warning for warning in record.get("warnings", []) if warning.startswith("no-energy")]
    row = {"kernel": kernel, "round": number, "status": record["status"]}
    if "energy" not in record:
        return row | {"why": " ".join(missing) or record.get("reason", "")}
    return row | {"seconds": record["time"]["median"]} | record["energy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", default="energy.jsonl")
    arguments = parser.parse_args()
    rows = []
    with open(arguments.out, "w") as out:
        for number, kernel in itertools.product(range(arguments.rounds), KERNELS):
            rows.append(row_of(arguments.device, kernel, number))
            out.write(json.dumps(rows[-1]) + "\n")
            out.flush()
    known = {kernel: [row for row in rows if row["kernel"] == kernel and "joules" in row] for kernel in KERNELS}
    apart = pairs = widest = 0
    for kernel, runs in known.items():
        if not runs:
            print(f"{kernel:28} {next(row for row in rows if row['kernel'] == kernel)['why']}")
            continue
        own = [a["low"] > b["high"] or b["low"] > a["high"] for a, b in itertools.combinations(runs, 2)]
        apart, pairs = apart + sum(own), pairs + len(own)
        joules = [row["joules"] for row in runs]
        widest = max(widest, max(joules) / min(joules) - 1)
        print(f"{kernel:28} {1e3 * statistics.median(joules):9.3g} mJ, {statistics.median(row['watts'] for row in runs):4.0f} W, "
              f"{min(row['windows'] for row in runs)} windows, spread {100 * (max(joules) / min(joules) - 1):.1f} %, apart {sum(own)} of {len(own)}")
    if not pairs:
        return 2
    middle = {kernel: statistics.median(row["joules"] for row in runs) for kernel, runs in known.items() if runs}
    twice = middle[TWICE] / middle[COPY] if {COPY, TWICE} <= set(middle) else 2
    print(f"apart {apart} of {pairs}; a copy of twice the bytes draws {twice:.3f} times as much")
    return 0 if widest <= 0.1 and abs(twice - 2) <= 0.1 else 1


if __name__ == "__main__":
    sys.exit(main())
