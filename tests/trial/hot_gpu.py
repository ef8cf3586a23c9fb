#!/usr/bin/env python3
"""Holds the code that cllab calls hot on an NVIDIA device by accounting against how often each instruction was executed. Takes minutes; no part
of the regression.

    tests/trial/hot_gpu.py --out hot-gpu.jsonl [--counted-only] [FAMILY...]

CLLAB names the program, build/cllab unless set. Needs Nsight Compute's ncu on PATH.

Every variant is verified and timed for a moment at its first point (`cllab run`), and accounted for by its declared work alone. Where that names a loop or path,
`cllab ncu` counts what each instruction of the same launch was executed. The two listings are of different compilers, so places are compared by what
one pass through them does: agreement is the same accesses to memory and instructions within a fifth. It is a tie where the counts give another place
less than 3 points more. `cllab isa --hot` then says of all other variants whether executions can be counted, and why not (--counted-only leaves that out).

Exit status: 0 when at least 95 % of the accounted ones agree, 1 when not.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
NEAR = 0.03
# Which code runs does not depend on these sizes, and what a launch is given goes through files: as they are, a cell took 22 s (H200).
AXES = {"access": ["size=16Mi"], "bandwidth": ["size=16Mi"], "batchnorm": ["channels=16"], "nchw": ["images=64"], "pad": ["images=32"]}


def axes_of(family):
    return [word for axis in AXES.get(family, []) for word in ("--axis", axis)]


def lab(*args):
    return subprocess.run([CLLAB, *map(str, args)], capture_output=True, text=True)


def regions(hot):
    """Blocks with the same loops around them, largest share first: (share, instructions, accesses)."""
    by_loops = {}
    for block in hot.get("blocks", []):
        region = by_loops.setdefault((block["function"], tuple(block.get("loops", []))), [0.0, 0, collections.Counter()])
        region[0] += block["share"]
        region[1] += block["instructions"]
        region[2].update({what: n for what, n in block.get("memory", {}).items() if not what.startswith("constant")})
    return sorted(by_loops.values(), key=lambda region: -region[0])


def judge(variant, axes, accounted, folder):
    out = folder / f"{variant}.jsonl"
    done = lab("ncu", variant, "--device", "gpu", *axes, "--json", out)
    lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    counted = next((line["hot"] for line in lines if line.get("hot", {}).get("evidence") == "counted"), None)
    row = {"id": variant, "evidence": "accounted"}
    if not counted:
        return row | {"verdict": "not counted", "reason": (done.stderr or done.stdout).strip()[-300:]}
    mine, theirs = regions(accounted), regions(counted)
    _, instructions, accesses = mine[0]
    matches = [region for region in theirs if region[2] == accesses and abs(region[1] - instructions) <= 0.2 * instructions]
    share = matches[0][0] if matches else 0.0
    verdict = "agrees" if matches and matches[0] is theirs[0] else "tie" if matches and theirs[0][0] - share <= NEAR else "disagrees"
    return row | {"verdict": verdict, "share": share, "share_of_hottest": theirs[0][0], "instructions": instructions, "of_hottest": theirs[0][1],
                  "accesses": accesses, "of_hottest_accesses": theirs[0][2], "executed": counted["executed"]}


def counting(variant, axes):
    done = lab("isa", variant, "--device", "gpu", *axes, "--hot")
    said = re.search(r"^hot: (\w+)", done.stdout, re.M)
    why = re.search(r"^no executions are counted: (.*)$", done.stdout, re.M)
    share = re.search(r", ([0-9.]+) % of the executed instructions", done.stdout)
    return {"id": variant, "evidence": said.group(1) if said else "none", "verdict": "of no account", "share_of_hottest": float(share.group(1)) / 100 if share else None,
            "reason": why.group(1) if why else "" if said else (done.stderr or done.stdout).strip()[-300:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", help="all without one")
    parser.add_argument("--out", required=True)
    parser.add_argument("--counted-only", action="store_true")
    arguments = parser.parse_args()
    verdicts, evidence = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="cllab-hot-") as name, open(arguments.out, "w") as out:
        folder = pathlib.Path(name)
        listed = json.loads(lab("list", "--json").stdout)
        family = {variant["id"]: variant["family"] for variant in listed}
        for one in arguments.families or sorted(set(family.values())):
            lab("run", one, "--device", "gpu", "--points", "first", *axes_of(one), "--max-time", 0.01, "--no-yardstick", "--dumps", folder / "dumps")
        found = {stats.parent.name: json.loads(stats.read_text()).get("hot", {"evidence": "none"}) for stats in folder.glob("dumps/*/*/stats.json")}
        axes = {variant: axes_of(family[variant]) for variant in found}

        def take(row):
            verdicts[row["verdict"]] += 1
            evidence[row["evidence"]] += 1
            out.write(json.dumps(row) + "\n")
            out.flush()
            print(row["id"], row["verdict"], row["evidence"], row.get("reason", ""), flush=True)
        for variant, hot in sorted(found.items()):
            if hot["evidence"] == "accounted":
                take(judge(variant, axes[variant], hot, folder))
        if not arguments.counted_only:
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                others = sorted(v for v, hot in found.items() if hot["evidence"] != "accounted")
                for row in pool.map(counting, others, [axes[variant] for variant in others]):
                    take(row)
    compared = verdicts["agrees"] + verdicts["tie"] + verdicts["disagrees"]
    print(f"\n{len(found)} variants: {compared} accounted and counted, {verdicts['agrees']} agree, {verdicts['tie']} ties, {verdicts['disagrees']} disagree; "
          f"{verdicts['not counted']} accounted and not counted; of the others {evidence['counted']} counted")
    return 0 if compared and verdicts["disagrees"] <= 0.05 * compared else 1


if __name__ == "__main__":
    sys.exit(main())
