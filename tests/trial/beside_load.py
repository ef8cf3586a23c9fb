#!/usr/bin/env python3
"""How far apart do the times of equal kernels lie in one table, beside busy processes?

Each run has three kernels of one body at four sizes and two lengths, in groups of a size drawn at random, beside one to three busy
processes, some of which pause. Of each table in which a row lacked cores it keeps the largest ratio of two medians whose samples do not overlap: what a table
would call "slower" if it allowed for nothing. It prints how often that is beyond each factor. `beside_load` of
host/report/table/ranking.cpp must be a factor beyond which no more than 1 of 100 tables are, and is what this trial supports.

    tests/trial/beside_load.py --tables 400 --out beside_load.jsonl
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import subprocess
import tempfile
import time

from disturbed import share

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FACTORS = (1.15, 1.5, 2, 3, 4, 6, 8)


def busy(pause):
    while True:
        ends = time.monotonic() + random.uniform(0.01, 0.3)
        while time.monotonic() < ends:
            pass
        time.sleep(random.uniform(0, pause))


def text(group):
    lines = [f"/*cllab\naxis n = 1024, 8192, 65536, 262144\naxis trips = 4, 40\narg x = rand:n\narg y = out:n\narg trips = trips\nglobal n\n"
             f"local {group}\nsame first, second, third\n*/"]
    lines += [f"kernel void {name}(global const float* x, global float* y, int trips) {{ size_t i = get_global_id(0); float a = x[i]; "
              f"for (int k = 0; k < trips; ++k) a = a * 1.0000001f + 0.5f; y[i] = a; }}" for name in ("first", "second", "third")]
    return "\n".join(lines) + "\n"


def largest(records):
    """The largest ratio of two medians of which intervals and middle halves are apart; 1: there is none."""
    times, out = [r["time"] for r in records if r.get("time") and r["time"].get("low")], 1
    for a in times:
        for b in times:
            if max(a["high"], a["q3"]) < min(b["low"], b["q1"]):
                out = max(out, b["median"] / a["median"])
    return out


def one_run(arguments, folder):
    """A table for each point."""
    group, seconds = random.choice([1, 16, 64, 256, 1024]), random.choice([0.05, 0.2])
    (folder / "t.cl").write_text(text(group))
    (folder / "r.jsonl").unlink(missing_ok=True)
    pauses = [random.choice([0, 0, 0.1, 0.5]) for _ in range(random.randint(1, 3))]
    others = [multiprocessing.Process(target=busy, args=(pause,), daemon=True) for pause in pauses]
    for other in others:
        other.start()
    subprocess.run([arguments.cllab, "run", "t.cl", "--no-dumps", "--no-yardstick", "--max-time", str(seconds), "--json", "r.jsonl"],
                   cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    for other in others:
        other.terminate()
        other.join()
    tables = {}
    for record in map(json.loads, (folder / "r.jsonl").read_text().splitlines()):
        if record.get("time"):
            tables.setdefault(json.dumps(record["point"]), []).append(record)
    return [{"point": json.loads(point), "group": group, "pauses": pauses, "share": [round(share(r), 3) for r in records],
             "medians": [r["time"]["median"] for r in records], "ratio": largest(records)} for point, records in tables.items()]


def unexplained(found):
    """Of each row that lacked cores: its time on the cores that it had, over the least time that the same launch took in any table."""
    least = {}
    for one in found:
        key = (*one["point"].values(), one["group"])
        least[key] = min(least.get(key, 1e9), *one["medians"])
    return [median * had / least[(*one["point"].values(), one["group"])]
            for one in found for median, had in zip(one["medians"], one["share"]) if had < 0.9]


def summary(found):
    lacking = [one["ratio"] for one in found if one["share"] and min(one["share"]) < 0.9]
    rows = unexplained(found)
    if not lacking:
        return "no table lacked cores"

    def part(values, factor):
        return f"{sum(v > factor for v in values)} ({100 * sum(v > factor for v in values) / len(values):.1f} %)"
    return "\n".join([f"| | of {len(lacking)} tables with rows that lacked cores, the largest ratio | of {len(rows)} such rows, time on the cores had over the least |",
                      "|---|---|---|", *(f"| beyond {f:g} | {part(lacking, f)} | {part(rows, f)} |" for f in FACTORS),
                      f"| largest | {max(lacking):.2f} | {max(rows):.2f} |"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=3600, help="ends then, with what there is")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("beside_load.jsonl"))
    arguments = parser.parse_args()
    arguments.cllab = os.environ.get("CLLAB") or str(SOURCE / "build" / "cllab")
    random.seed(arguments.seed)
    ends, found = time.monotonic() + arguments.seconds, []
    with tempfile.TemporaryDirectory() as folder, arguments.out.open("w") as out:
        while len(found) < arguments.tables and time.monotonic() < ends:
            for one in one_run(arguments, pathlib.Path(folder)):
                found.append(one)
                print(json.dumps(one), file=out, flush=True)
    print(summary(found))


if __name__ == "__main__":
    main()
