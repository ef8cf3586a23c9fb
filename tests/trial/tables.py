#!/usr/bin/env python3
"""Tries to make the table of a run name a fastest among kernels of equal code.

Each run has three kernels of one body and a fourth that does 5 % more of it (20 trips of 400, 3 of 64, but 1 of 8), at a size and a length drawn at random: from launches shorter than
their own cost to such that fill the device. False is: one of the three that is called slower (a ratio without ~), and one that is called the
fastest. Found is: the fourth is called slower.

    tests/trial/tables.py --device gpu --runs 100 --out tables.jsonl
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EQUAL, MORE = ("first", "second", "third"), "more"


def text(size, trips):
    lines = [f"/*cllab\narg x = rand:{size}\narg y = out:{size}\nglobal {size}\nsame {', '.join(EQUAL)}\n*/"]
    for name in (*EQUAL, MORE):
        count = trips + (max(1, trips // 20) if name == MORE else 0)
        lines.append(f"kernel void {name}(global const float* x, global float* y) {{ size_t i = get_global_id(0); float a = x[i]; "
                     f"for (int k = 0; k < {count}; ++k) a = a * 1.0000001f + 0.5f; y[i] = a; }}")
    return "\n".join(lines) + "\n"


def ranks(page):
    """By kernel, in the order of the rows: 'fastest', '1.05x', '~1.05x' as printed."""
    return dict(re.findall(rf"(?m)^ +t_({'|'.join((*EQUAL, MORE))}) +ok\b.*? (fastest|~?\d[\d.]*x)(?: |$)", page))


def one_run(arguments, folder):
    size, trips = random.choice([1 << 14, 1 << 18, 1 << 20, 1 << 22]), random.choice([8, 64, 400])
    (folder / "t.cl").write_text(text(size, trips))
    done = subprocess.run([arguments.cllab, "run", "t.cl", "--device", arguments.device, "--no-dumps", "--no-yardstick", "--max-time",
                           str(arguments.max_time)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "COLUMNS": "120"})
    found = ranks(done.stdout)
    equal = [found[name] for name in EQUAL if name in found]
    return {"size": size, "trips": trips, "ranks": found, "ranked": len(found) == 4, "fastest": "fastest" in equal,
            "slower": any(rank != "fastest" and not rank.startswith("~") for rank in equal),
            "more": not found.get(MORE, "~").startswith("~") and found.get(MORE) != "fastest"}


def summary(found):
    whole = [one for one in found if one["ranked"]]
    return (f"{len(whole)} tables of {len(found)} are ranked: {sum(one['slower'] for one in whole)} call an equal kernel slower, "
            f"{sum(one['fastest'] for one in whole)} name a fastest among equal ones, {sum(one['more'] for one in whole)} find 5 % more work")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3600, help="ends then, with what there is")
    parser.add_argument("--max-time", type=float, default=0.3, help="seconds of sampling of a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("tables.jsonl"))
    arguments = parser.parse_args()
    arguments.cllab = os.environ.get("CLLAB") or str(SOURCE / "build" / "cllab")
    random.seed(arguments.seed)
    ends, found = time.monotonic() + arguments.seconds, []
    with tempfile.TemporaryDirectory() as folder, arguments.out.open("w") as out:
        while len(found) < arguments.runs and time.monotonic() < ends:
            found.append(one_run(arguments, pathlib.Path(folder)))
            print(json.dumps(found[-1]), file=out, flush=True)
    print(summary(found))


if __name__ == "__main__":
    main()
