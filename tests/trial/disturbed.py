#!/usr/bin/env python3
"""Tries to make a table say something false beside other work on the host's cores. Takes minutes; no part of the regression.

    tests/trial/disturbed.py [--device cpu] [--rounds 10] [--loads 0 1 2 4] [--kernels 'pitch_loop' ...]

CLLAB names the program, build/cllab unless set. Each kernel is run in `--rounds` runs beside each number of busy loops; its quiet time is the
least of all of them. Beside them runs a file of two kernels of equal code under two names.

False is: a row that says `precise` and takes more than 10 % over the quiet time; a row whose threads had less than 0.9 of the cores they
could use, by the record's own `cores` and `waited`, that is precise or without a warning; `fastest` of two kernels of equal code, in more
than 1 of 100 tables. Exit status 0: nothing false was said.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
EQUAL = """kernel void first(global const float* src, global float* dst) {
    const size_t i = get_global_id(0);
    dst[i] = 3.0f * src[i] + 1.0f;
}
kernel void second(global const float* src, global float* dst) {
    const size_t i = get_global_id(0);
    dst[i] = 3.0f * src[i] + 1.0f;
}
"""
EQUAL_ARGUMENTS = ["--arg", "src=rand:float:1Mi", "--arg", "dst=out:float:1Mi", "--global", "1Mi", "--local", "64"]


def busy():
    while True:
        pass


def run(*arguments):
    """The records of a run and its table."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "r.jsonl"
        done = subprocess.run([CLLAB, "run", *map(str, arguments), "--no-dumps", "--no-yardstick", "--json", out], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"cllab run {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return [json.loads(line) for line in out.read_text().splitlines()], done.stdout


def share(record):
    """Part of the cores that it could use, and had: as documented of `cores` and `waited`."""
    time = record["time"]
    if not time.get("cores"):
        return 1
    usable = min([time["cores"] + time.get("waited", 0), record["host"]["threads"]] + [n for n in [record.get("work", {}).get("groups")] if n])
    lacked = min(max(usable - time["cores"], 0), time.get("waited", 0))
    return 1 - lacked / usable


def cell(record):
    return record["id"], json.dumps(record["point"])


def rank(record, table):
    """What the table says of the row beside its times: "fastest", "~1.2x", "1.2x" or nothing."""
    row = re.search(rf"^  {record['id']} .*$", table, re.M)
    found = row and re.search(r"fastest|~?[\d.]+x\b", row.group())
    return found.group() if found else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--loads", type=int, nargs="+", default=[0, 1, 2, 4], help="busy loops beside the runs")
    parser.add_argument("--kernels", nargs="+", default=["pitch_loop", "pitch_implicit", "pitch_wide", "pitch_short8"])
    parser.add_argument("--max-time", default="0.4")
    arguments = parser.parse_args()
    rows, tables, false = [], 0, []
    named = 0
    with tempfile.TemporaryDirectory() as folder:
        equal = pathlib.Path(folder) / "equal.cl"
        equal.write_text(EQUAL)
        for number in range(arguments.rounds):
            for load in arguments.loads:
                loops = [multiprocessing.Process(target=busy, daemon=True) for _ in range(load)]
                for loop in loops:
                    loop.start()
                try:
                    common = ["--device", arguments.device, "--max-time", arguments.max_time]
                    records, table = run(*arguments.kernels, *common)
                    rows += [(load, record, rank(record, table)) for record in records if record.get("time")]
                    records, table = run(equal, *EQUAL_ARGUMENTS, *common)
                    tables += 1
                    if "fastest" in table:
                        named += 1
                        print(f"beside {load} loops, of equal code:\n{table}", flush=True)
                finally:
                    for loop in loops:
                        loop.kill()
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr, flush=True)
    quiet = {}
    for _, record, _ in rows:
        quiet[cell(record)] = min(quiet.get(cell(record), 1e9), record["time"]["median"])
    for load in arguments.loads:
        some = [(r, rank_) for l, r, rank_ in rows if l == load]
        print(f"beside {load} loops: {len(some)} rows, {sum(share(r) < 0.9 for r, _ in some)} without their cores, "
              f"{sum(r['time']['stop_reason'] == 'precise' for r, _ in some)} precise, {sum(bool(k) for _, k in some)} ranked, "
              f"longest {max(r['time']['median'] / quiet[cell(r)] for r, _ in some):.2f} times quiet")
        for record, _ in some:
            over = record["time"]["median"] / quiet[cell(record)]
            lacks = share(record) < 0.9
            warned = any(warning.startswith("few-cores:") for warning in record.get("warnings", []))
            precise = record["time"]["stop_reason"] == "precise"
            for wrong, what in ((precise and over > 1.1, f"precise at {over:.2f} times the quiet time"), (lacks and precise, "precise without its cores"),
                                (lacks and not warned, "no warning of its cores")):
                if wrong:
                    false.append(f"beside {load} loops {record['id']}: {what}; it had {record['time'].get('cores', 0):.2f} cores "
                                 f"and waited for {record['time'].get('waited', 0):.2f}")
    print("\n".join(false))
    print(f"{len(false)} of {len(rows)} rows say something false; {named} of {tables} tables of equal code name a fastest")
    sys.exit(0 if not false and named <= 0.01 * max(tables, 100) else 1)


if __name__ == "__main__":
    main()
