#!/usr/bin/env python3
"""Holds the hottest block that `cllab run --hot` names against perf's own sampling. Takes minutes; no part of the regression.

    tests/trial/hot.py --out hot.jsonl [PATTERN...]

The same command again goes on where it stopped, at the families that are not in `--out`. CLLAB names the program, build/cllab unless set.
Needs perf and objdump; the device is PoCL's.

Each family is run once under `perf record -e cpu-clock:u`, which samples the whole process: verification, timing, and the launches in
which cllab samples. Of its samples those count that lie in a shared object of the kernel's name. They are laid on basic blocks that this
script makes itself, from objdump's text of that shared object. A cell agrees when its first block is the one in which perf has the most
samples. Where two blocks have nearly the same (perf's count of ours is within two standard deviations of its largest) it is a tie, which
counts as agreement and is shown apart. `unknown` is no disagreement, and is counted.

Exit status: 0 when at least 95 % of the known ones agree, 1 when not.
"""
import argparse
import bisect
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
# Kernels whose default size takes a driver minutes, or whose operations are too short to be seen.
AXES = {"himeno": ["size=S"], "ports": ["steps=64"]}


def blocks_of(shared_object, symbol):
    """Addresses at which the basic blocks of a function begin, and the address behind it."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(shared_object)], capture_output=True, text=True, check=True).stdout
    leaders, addresses, inside, after_jump = set(), [], False, True
    for line in text.splitlines():
        header = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if header:
            inside = header.group(1) == symbol
            after_jump = True
            continue
        row = re.match(r"^\s*([0-9a-f]+):\s+(\S+)\s*(\S*)", line)
        if not inside or not row:
            continue
        address = int(row.group(1), 16)
        addresses.append(address)
        if after_jump:
            leaders.add(address)
        after_jump = row.group(2).startswith(("j", "ret", "ud2", "hlt"))
        if row.group(2).startswith("j") and re.fullmatch(r"[0-9a-f]+", row.group(3)):
            leaders.add(int(row.group(3), 16))
    return sorted(a for a in leaders if a in set(addresses)), addresses[-1] + 16 if addresses else 0


def symbol_address(shared_object, symbol):
    for line in subprocess.run(["nm", str(shared_object)], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 3 and words[2] == symbol:
            return int(words[0], 16)
    return None


def sampled_by_perf(data):
    """(shared object, symbol) -> offset in the symbol -> samples."""
    text = subprocess.run(["perf", "script", "-i", str(data), "-F", "ip,sym,symoff,dso"], capture_output=True, text=True).stdout
    out = collections.defaultdict(collections.Counter)
    for line in text.splitlines():
        row = re.match(r"^\s*[0-9a-f]+ (\S+)\+0x([0-9a-f]+) \((.*)\)$", line)
        if row:
            out[row.group(3), row.group(1)][int(row.group(2), 16)] += 1
    return out


def judge(record, samples):
    """What the cell and perf say of it."""
    hot = record["hot"]
    out = {"id": record["id"], "point": record["point"], "evidence": hot["evidence"], "reason": hot.get("reason", "")}
    symbol = f"_pocl_kernel_{record['id']}_workgroup"
    if hot["evidence"] != "sampled":
        return out | {"verdict": "unknown"}
    ours = hot["blocks"][0]
    folder = re.search(r"\((\S+)\)", hot.get("code", ""))
    wanted = f"/{record['id']}/{folder.group(1) if folder else '0-0-0'}/{record['id']}.so"
    theirs = collections.Counter()
    shared_object = pathlib.Path(record["dump"]) / "program.so"
    start = symbol_address(shared_object, symbol)
    for (dso, name), offsets in samples.items():
        if name == symbol and dso.endswith(wanted):
            for offset, count in offsets.items():
                theirs[start + offset] += count
    total = sum(theirs.values())
    if total < 100 or ours["function"] != symbol:
        return out | {"verdict": "perf saw too little", "perf_samples": total}
    leaders, _ = blocks_of(shared_object, symbol)
    blocks = collections.Counter()
    for address, count in theirs.items():
        blocks[leaders[bisect.bisect_right(leaders, address) - 1]] += count
    top, most = blocks.most_common(1)[0]
    mine = blocks[ours["begin"]]
    verdict = "agrees" if top == ours["begin"] else "tie" if most - mine <= 2 * math.sqrt(most + mine) else "disagrees"
    return out | {"verdict": verdict, "samples": hot["in_kernel"], "share": ours["share"], "perf_samples": total, "perf_share_of_ours": mine / total,
                  "perf_share_of_its_own": most / total, "ours": ours["begin"], "its_own": top, "shown_loop": record.get("code", {}).get("origin", {}).get("loop", "")}


def run_family(family, folder, seconds):
    env = dict(os.environ) | {"OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd"}
    data, records = folder / f"{family}.perf", folder / f"{family}.jsonl"
    command = [CLLAB, "run", family, "--device", "cpu", "--dumps", str(folder / "dumps"), "--json", str(records), "--hot", str(seconds),
               "--max-time", "0.1", "--no-yardstick", "--timeout", "120"]
    for axis in AXES.get(family, []):
        command += ["--axis", axis]
    done = subprocess.run(["perf", "record", "-e", "cpu-clock:u", "-c", "200000", "-o", str(data), "--", *command], env=env, capture_output=True, text=True)
    lines = records.read_text().splitlines() if records.exists() else []
    if not lines:
        print(f"{family}: no record; {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    samples = sampled_by_perf(data) if data.exists() else {}
    out, seen = [], set()
    for record in map(json.loads, lines):
        # perf cannot tell the points of a variant apart, but the first stands for its code.
        if record.get("status") != "ok" or "hot" not in record or record["id"] in seen:
            continue
        seen.add(record["id"])
        out.append(judge(record, samples))
    data.unlink(missing_ok=True)
    return out


def summary(rows):
    count = collections.Counter(row["verdict"] for row in rows)
    known = count["agrees"] + count["tie"] + count["disagrees"]
    for row in rows:
        if row["verdict"] == "disagrees":
            print(f"{row['id']}: {row['share']:.0%} at {row['ours']:#x}, perf: {row['perf_share_of_ours']:.0%} there, {row['perf_share_of_its_own']:.0%} at {row['its_own']:#x}")
    for row in rows:
        if row["verdict"] == "unknown":
            print(f"{row['id']}: unknown: {row['reason']}")
    print(f"{len(rows)} variants; known {known}: {count['agrees']} agree, {count['tie']} tie, {count['disagrees']} disagree; "
          f"{count['unknown']} unknown; perf saw too little of {count['perf saw too little']}")
    return known > 0 and count["agrees"] + count["tie"] >= 0.95 * known


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", help="families; all without one")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=0.3, help="of each cell's sampling by cllab")
    arguments = parser.parse_args()
    listed = json.loads(subprocess.run([CLLAB, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    families = [f for f in dict.fromkeys(v["family"] for v in listed) if not arguments.patterns or f in arguments.patterns]
    path = pathlib.Path(arguments.out)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {row["family"] for row in rows}
    for family in families:
        if family in done:
            continue
        with tempfile.TemporaryDirectory(prefix="cllab-hot-") as folder:
            found = [row | {"family": family} for row in run_family(family, pathlib.Path(folder), arguments.seconds)]
        with path.open("a") as out:
            for row in found:
                out.write(json.dumps(row) + "\n")
        rows += found
        print(family, dict(collections.Counter(row["verdict"] for row in found)), file=sys.stderr, flush=True)
    sys.exit(0 if summary(rows) else 1)


if __name__ == "__main__":
    main()
