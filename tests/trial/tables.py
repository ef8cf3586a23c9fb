#!/usr/bin/env python3
"""Tries to make the table of one run name a fastest among kernels of equal code.

Each table has three kernels of one body and a fourth that does 5 % more of it, at a size and a length drawn at random: from launches shorter than
their own cost to such that fill the device. False is: an equal kernel that is called slower than another (a ratio without ~), and a fastest that
is named although an equal one stands beside it. Found is: the fourth is called slower than the first row; where memory is the limit, it is not.

    tests/trial/tables.py --device gpu --tables 100 --out tables.jsonl
"""
import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EQUAL, MORE = ("first", "second", "third"), "more"


def text(size, trips):
    lines = [f"/*cllab\narg x = rand:{size}\narg y = out:{size}\nglobal {size}\n*/"]
    for name in (*EQUAL, MORE):
        count = trips + (max(1, trips // 20) if name == MORE else 0)
        lines.append(f"kernel void {name}(global const float* x, global float* y) {{ size_t i = get_global_id(0); float a = x[i]; "
                     f"for (int k = 0; k < {count}; ++k) a = a * 1.0000001f + 0.5f; y[i] = a; }}")
    return "\n".join(lines) + "\n"


def ranks(page):
    """By kernel: 'fastest', '1.05x', '~1.05x' as printed."""
    return dict(re.findall(rf"(?m)^ +t_({'|'.join((*EQUAL, MORE))}) +ok\b.*? (fastest|~?\d[\d.]*x)(?: |$)", page))


def table(arguments, folder):
    size, trips = random.choice([1 << 14, 1 << 18, 1 << 20, 1 << 22]), random.choice([8, 64, 400])
    (folder / "t.cl").write_text(text(size, trips))
    done = subprocess.run([arguments.cllab, "run", "t.cl", "--device", arguments.device, "--no-dumps", "--no-yardstick", "--max-time", str(arguments.max_time)],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "COLUMNS": "120"})
    found = ranks(done.stdout)
    equal = [found[name] for name in EQUAL if name in found]
    return {"size": size, "trips": trips, "ranks": found, "whole": len(found) == 4,
            "called_slower": any(rank != "fastest" and not rank.startswith("~") for rank in equal),
            "fastest_named": "fastest" in equal, "more_found": not found.get(MORE, "~").startswith("~") and found.get(MORE) != "fastest"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--max-time", type=float, default=0.3, help="seconds of sampling of a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.cllab = os.environ.get("CLLAB") or str(SOURCE / "build" / "cllab")
    random.seed(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        found = [table(arguments, pathlib.Path(folder)) for _ in range(arguments.tables)]
    if arguments.out:
        arguments.out.write_text("".join(json.dumps(one) + "\n" for one in found))
    whole = [one for one in found if one["whole"]]
    print(f"{len(whole)} tables of {len(found)}: {sum(one['called_slower'] for one in whole)} call an equal kernel slower, "
          f"{sum(one['fastest_named'] for one in whole)} name a fastest among equal ones, "
          f"{sum(one['more_found'] for one in whole)} find the one with 5 % more work")


if __name__ == "__main__":
    main()
