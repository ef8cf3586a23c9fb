#!/usr/bin/env python3
"""Holds what `cllab count` counts by simulation against what Nsight Compute counted of the same launches on a GPU. Needs no device; no part of the
regression.

    tests/trial/why_files.py --device gpu … --records records.jsonl      on a machine with an NVIDIA GPU
    tests/trial/counts.py records.jsonl --out counts.jsonl               anywhere

l1: bytes in whole sectors that waves ask the first level for (l1tex__t_bytes, which counts atomics too: kernels with atomics on global memory are left
out). local: passes through the banks of local memory (l1tex__data_pipe_lsu_wavefronts_mem_shared; kernels with atomics on it are left out).

within: no more than 10 % apart. kept: the GPU moved less, as its compiler keeps in registers what the text asks for again. more: the GPU moved more than the
text asks for, which a count must explain. Exit status: 0 when at most one in ten of each is more, 1 when more are, 2 without a row.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FILES = pathlib.Path(__file__).resolve().parent / "why_files"
CLLAB = os.environ.get("CLLAB", pathlib.Path(__file__).resolve().parents[2] / "build" / "cllab")
COUNTED = {"l1": "l1tex__t_bytes.sum", "local": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}
SECTOR, CLOSE, MOST_MORE = 32, 0.1, 0.1


def file_and_kernel(identifier):
    for path in FILES.glob("*.cl"):
        # A file of the name of one of the lab's families says that it is one.
        for stem in (path.stem + "_cl_", path.stem + "_"):
            if identifier.startswith(stem):
                return path, identifier[len(stem):]
    return None, None


def counts_of(path, kernel, point, budget):
    axes = [word for name, value in point.items() for word in ("--axis", f"{name}={value}")]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "counts.jsonl"
        subprocess.run([CLLAB, "count", f"{path}:{kernel}", *axes, "--count-budget", str(budget), "--json", out],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return next((line for line in lines if line.get("record") == "counts" and "items" in line), None)


def amounts(counts):
    """What the GPU would count."""
    def mean(name, what):
        return counts.get(name, {}).get(what, {}).get("mean", 0)
    def adds(name):
        return counts.get(name, {}).get("number", {}).get("mean", 0) > 0
    asked = SECTOR * counts["items"] * (mean("reads", "sectors") + mean("writes", "sectors"))
    passes = counts["items"] * (mean("local_reads", "ways") + mean("local_writes", "ways"))
    return ({"l1": asked} if asked and not adds("global_atomics") else {}) | ({"local": passes} if passes and not adds("local_atomics") else {})


def rows_of(records, budget):
    seen = set()
    for record in records:
        counters = {name: c["value"] for name, c in record.get("counters", {}).items()}
        path, kernel = file_and_kernel(record.get("id", ""))
        if not counters or not path or record["id"] in seen:
            continue
        seen.add(record["id"])
        counts = counts_of(path, kernel, record["point"], budget)
        if not counts:
            print(f"{record['id']:40} cannot be counted by simulation")
            continue
        for what, simulated in amounts(counts).items():
            counted = counters.get(COUNTED[what], 0)
            if counted > 0:
                ratio = counted / simulated
                verdict = "within" if abs(ratio - 1) <= CLOSE else "kept" if ratio < 1 else "more"
                yield {"kernel": record["id"], "what": what, "simulated": simulated, "counted": counted, "ratio": ratio, "verdict": verdict}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+")
    parser.add_argument("--count-budget", type=float, default=2)
    parser.add_argument("--out", default="counts.jsonl")
    arguments = parser.parse_args()
    records = [json.loads(line) for name in arguments.records for line in pathlib.Path(name).read_text().splitlines()]
    found = collections.defaultdict(collections.Counter)
    with open(arguments.out, "w") as out:
        for row in rows_of(records, arguments.count_budget):
            out.write(json.dumps(row) + "\n")
            print(f"{row['verdict']:7}{row['kernel']:40} {row['what']:6} simulated {row['simulated']:12.4g} counted {row['counted']:12.4g} {row['ratio']:7.3f}", flush=True)
            found[row["what"]][row["verdict"]] += 1
    for what, verdicts in found.items():
        print(f"{what}: " + ", ".join(f"{verdicts[v]} {v}" for v in ("within", "kept", "more")))
    return 2 if not found else 0 if all(v["more"] <= MOST_MORE * sum(v.values()) for v in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
