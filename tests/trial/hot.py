#!/usr/bin/env python3
"""Holds the hottest block that `cllab isa --hot` names against perf's own sampling. Takes minutes; no part of the regression.

    tests/trial/hot.py --out hot.jsonl [FAMILY...]

The same command again goes on where it stopped, at the variants that are not in `--out`. CLLAB names the program, build/cllab unless set.
Needs perf, objdump and nm; the device is PoCL's.

Each variant runs once, at its first point and in a process of its own, under `perf record -e cpu-clock:u`, which samples the whole process. Of perf's
samples those count that lie in a shared object of the kernel's name. They are laid on basic blocks that this script makes itself, from
objdump's text of that shared object. A variant agrees when its first block is the one in which perf has the most samples. It is a
tie where cllab itself gives that block a share within 3 points of its first one, or perf's counts of the two are within two standard
deviations; ties count as agreement and are shown apart. `unknown` is no disagreement, and is counted.

Exit status: 0 when at least 95 % of the known ones agree, 1 when not, 77 where perf may not sample.
"""
import argparse
import bisect
import collections
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
NEAR = 0.03  # of two shares that are called a tie
# Where an operation of the default size takes seconds.
AXES = {"pitch": ["width=1024", "height=1024"], "himeno": ["size=S"]}


def blocks_of(shared_object, symbol):
    """Addresses at which the basic blocks of a function begin."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", str(shared_object)], capture_output=True, text=True, check=True).stdout
    leaders, addresses, inside, after_jump = set(), set(), False, True
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
        addresses.add(address)
        if after_jump:
            leaders.add(address)
        after_jump = row.group(2).startswith(("j", "ret", "ud2", "hlt"))
        if row.group(2).startswith("j") and re.fullmatch(r"[0-9a-f]+", row.group(3)):
            leaders.add(int(row.group(3), 16))
    return sorted(leaders & addresses)


def symbols_of(shared_object):
    """Address and name of each symbol, by its name and by the demangled one without parameters, which perf prints."""
    out = {}
    names = [subprocess.run(["nm", *how, str(shared_object)], capture_output=True, text=True, check=True).stdout.splitlines() for how in ([], ["-C"])]
    for plain, readable in zip(*names):
        words = plain.split()
        if len(words) == 3:
            out[words[2]] = out[readable.split(maxsplit=2)[2].split("(")[0]] = int(words[0], 16), words[2]
    return out


def sampled_by_perf(data):
    """(shared object, symbol) -> offset in the symbol -> samples."""
    text = subprocess.run(["perf", "script", "-i", str(data), "-F", "ip,sym,symoff,dso"], capture_output=True, text=True).stdout
    out = collections.defaultdict(collections.Counter)
    for line in text.splitlines():
        row = re.match(r"^\s*[0-9a-f]+ (\S+)\+0x([0-9a-f]+) \((.*)\)$", line)
        if row:
            out[row.group(3), row.group(1)][int(row.group(2), 16)] += 1
    return out


def judge(dump, samples):
    """What the dump of a cell says of it, and perf."""
    stats = json.loads((dump / "stats.json").read_text())
    hot, entry = stats["hot"], stats["entry"]
    out = {"id": dump.name, "evidence": hot["evidence"], "reason": hot.get("reason", "")}
    if hot["evidence"] != "sampled":
        return out | {"verdict": "unknown"}
    ours = hot["blocks"][0]
    folder = re.search(r"\((\S+)\)", hot["code"])
    wanted = f"/{entry}/{folder.group(1) if folder else '0-0-0'}/{entry}.so"
    blocks, symbols = collections.Counter(), symbols_of(dump / "program.so")
    for (dso, name), offsets in samples.items():
        if not dso.endswith(wanted):
            continue
        start, symbol = symbols.get(name, (0, name))
        leaders = blocks_of(dump / "program.so", symbol)
        for offset, count in offsets.items():
            blocks[symbol, leaders[bisect.bisect_right(leaders, start + offset) - 1] if leaders else 0] += count
    total = sum(blocks.values())
    if total < 100:
        return out | {"verdict": "perf saw too little", "perf_samples": total}
    (_, top), most = blocks.most_common(1)[0]
    mine = blocks[ours["function"], ours["begin"]]
    # What the tool itself says of perf's block; below 0.5 % it is not named.
    near = ours["share"] - max((b["share"] for b in hot["blocks"] if b["begin"] == top), default=0) <= NEAR
    verdict = "agrees" if top == ours["begin"] else "tie" if near or most - mine <= 2 * math.sqrt(most + mine) else "disagrees"
    return out | {"verdict": verdict, "samples": hot["in_kernel"], "share": ours["share"], "perf_samples": total, "perf_share_of_ours": mine / total,
                  "perf_share_of_its_own": most / total, "ours": ours["begin"], "its_own": top}


def run_variant(variant, family, folder):
    """The verdict on a variant; nothing where the device cannot run it."""
    env = dict(os.environ) | {"OCL_ICD_VENDORS": "/etc/OpenCL/vendors/pocl.icd"}
    data, dumps = folder / "perf.data", folder / "dumps"
    command = [CLLAB, "isa", variant, "--device", "cpu", "--hot", "--dumps", str(dumps)]
    for axis in AXES.get(family, []):
        command += ["--axis", axis]
    subprocess.run(["perf", "record", "-e", "cpu-clock:u", "-c", "200000", "-o", str(data), "--", *command], env=env, capture_output=True, text=True)
    found = [stats.parent for stats in dumps.glob("*/*/stats.json") if "hot" in json.loads(stats.read_text())]
    return judge(found[0], sampled_by_perf(data)) if found else None


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
    arguments = parser.parse_args()
    if not shutil.which("perf") or subprocess.run(["perf", "record", "-e", "cpu-clock:u", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        print("skipped: perf is not here (Debian's linux-perf), or may not sample")
        sys.exit(77)
    listed = json.loads(subprocess.run([CLLAB, "list", "--json"], capture_output=True, text=True, check=True).stdout)
    path = pathlib.Path(arguments.out)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {row["id"] for row in rows}
    for variant in listed:
        if variant["id"] in done or arguments.patterns and variant["family"] not in arguments.patterns:
            continue
        with tempfile.TemporaryDirectory(prefix="cllab-hot-") as folder:
            row = run_variant(variant["id"], variant["family"], pathlib.Path(folder))
        if not row:
            continue
        rows.append(row)
        with path.open("a") as out:
            out.write(json.dumps(row) + "\n")
        print(row["id"], row["verdict"], file=sys.stderr, flush=True)
    sys.exit(0 if summary(rows) else 1)


if __name__ == "__main__":
    main()
