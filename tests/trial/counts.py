#!/usr/bin/env python3
"""Holds what `cllab count` counts by simulation against what Nsight Compute counted of the same launches on a GPU. No part of the regression.

    tests/trial/counts.py --collect gpu --records records.jsonl          on a machine with an NVIDIA GPU and ncu
    tests/trial/counts.py records.jsonl --out counts.jsonl               anywhere: needs no device

l1: bytes in whole sectors that waves ask the first level for (l1tex__t_bytes, which counts atomics too: kernels with atomics on global memory are left
out). loads, stores: requests of waves for global memory (l1tex__t_requests; local memory and atomics have others). local: passes through the banks of
local memory (l1tex__data_pipe_lsu_wavefronts_mem_shared; kernels with atomics on it are left out). flop32, flop64: additions, multiplications and twice
the fused ones by work-items that executed them (smsp__sass_thread_inst_executed_op_…); kernels with divisions and other functions, which are sequences of
such instructions, are left out.

within: no more than 10 % apart, of FLOP and requests 5 %. kept: the GPU did less, e.g. as its compiler keeps in registers what the text asks for
again, or moves out of a loop what does not change in it. more: the GPU did more than the text asks for, which a count must explain. Exit status: 0 when at most one in ten of each is
more, 1 when more are, 2 without a row.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FILES = pathlib.Path(__file__).resolve().parent / "why_files"
CLLAB = os.environ.get("CLLAB", pathlib.Path(__file__).resolve().parents[2] / "build" / "cllab")
EXECUTED = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
# What each amount is the sum of, and how often each counts.
COUNTED = {"l1": {"l1tex__t_bytes.sum": 1},
           "local": {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 1},
           "loads": {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1},
           "stores": {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 1}}
COUNTED |= {f"flop{bits}": {EXECUTED.format(letter + kind): times for kind, times in (("add", 1), ("mul", 1), ("fma", 2))}
            for bits, letter in ((32, "f"), (64, "d"))}
SECTOR, MOST_MORE = 32, 0.1
CLOSE = {"l1": 0.1, "local": 0.1}  # of the others 0.05


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
    def executed(kinds, bits):
        return sum(times * line["per_item"]["mean"] for line in counts.get("operations", []) for kind, times in kinds.items()
                   if line["kind"] == kind and line["bits"] == bits)
    arithmetic = {"float_add": 1, "float_multiply": 1, "float_fma": 2}
    plain = all(not line["kind"].startswith("float_") or line["kind"] in arithmetic or not line["per_item"]["mean"] for line in counts.get("operations", []))
    flop = {f"flop{bits}": counts["items"] * executed(arithmetic, bits) for bits in (32, 64)} if plain else {}
    requests = {what: counts["items"] * mean(name, "requests") for what, name in (("loads", "reads"), ("stores", "writes"))}
    asked = SECTOR * counts["items"] * (mean("reads", "sectors") + mean("writes", "sectors"))
    passes = counts["items"] * (mean("local_reads", "ways") + mean("local_writes", "ways"))
    all_of_them = flop | ({} if adds("global_atomics") else {"l1": asked} | requests) | ({} if adds("local_atomics") else {"local": passes})
    return {what: amount for what, amount in all_of_them.items() if amount > 0}


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
            if all(name in counters for name in COUNTED[what]):
                counted = sum(times * counters[name] for name, times in COUNTED[what].items())
                ratio = counted / simulated
                verdict = "within" if abs(ratio - 1) <= CLOSE.get(what, 0.05) else "kept" if ratio < 1 else "more"
                yield {"kernel": record["id"], "what": what, "simulated": simulated, "counted": counted, "ratio": ratio, "verdict": verdict}


def collect(device, only, out):
    """One line for each kernel of the files: what ncu counts of its first point."""
    names = sorted({name for parts in COUNTED.values() for name in parts})
    for path in sorted(FILES.glob(f"{only}.cl")):
        for kernel in re.findall(r"^kernel void (\w+)", path.read_text(), re.MULTILINE):
            page = subprocess.run([CLLAB, "ncu", f"{path}:{kernel}", "--device", device, "--", "--metrics", ",".join(names)],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
            counters = {name: float(value.replace(",", "")) * {"K": 1e3, "M": 1e6, "G": 1e9}.get(unit[:1] if unit.endswith("byte") else "", 1)
                        for name, unit, value in re.findall(r"^ *([a-z0-9_]+\.sum) +(\S*) +([\d,.]+) *$", page, re.MULTILINE)}
            print(f"{path.stem}:{kernel} {len(counters)} of {len(names)} counters" + ("" if counters else ": " + page[-300:]), flush=True)
            if counters:
                line = {"id": f"{path.stem}_{kernel}", "point": {}, "counters": {name: {"value": value} for name, value in counters.items()}}
                out.write(json.dumps(line) + "\n")
                out.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="*", metavar="RECORDS")
    parser.add_argument("--collect", metavar="DEVICE", help="counts on DEVICE, and compares nothing")
    parser.add_argument("--only", metavar="FILE", default="*", help="of --collect: kernels of these files, without .cl")
    parser.add_argument("--records", dest="collected", default="records.jsonl", help="where --collect writes")
    parser.add_argument("--count-budget", type=float, default=2)
    parser.add_argument("--out", default="counts.jsonl")
    arguments = parser.parse_args()
    if arguments.collect:
        with open(arguments.collected, "w") as out:
            collect(arguments.collect, arguments.only, out)
        return 0
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
