#!/usr/bin/env python3
"""Holds the lines of `cllab profile` against the families they stand for, each at its best point. Takes minutes; no part of the regression.

    tests/trial/portrait.py --device gpu [--profile profile.json] [--within 3] [--sizes 256Mi,1Gi,4Gi]

CLLAB names the program, build/cllab unless set; `--profile` takes a page that is there (what `cllab profile --json` prints), else one is made.
Each memory stream is run over `--sizes`, and its best rate may differ from the line by `--within` per cent; a line that names its size
("largest size, …") is held against that size alone. The clock is held against what NVML says of the maximum, where nvidia-smi is there.
Exit status 0: every line agrees.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))


def lab(*arguments, fine=(0,)):
    done = subprocess.run([CLLAB, *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in fine:
        sys.exit(f"cllab {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def rates(stream, arguments, size):
    """The stream's rate by the size of a buffer, of the widths that the portrait tries."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "r.jsonl"
        lab("run", f"bandwidth_{stream}", "--device", arguments.device, "--axis", f"size={size}", "--axis", f"width={arguments.widths}",
            "--no-dumps", "--no-yardstick", "--max-time", "1", "--json", out, fine=(0, 1))
        found = {}
        for line in out.read_text().splitlines():
            record = json.loads(line)
            if record["status"] == "ok" and "bandwidth" in record["metrics"]:
                at = record["point"]["size"]
                found[at] = max(found.get(at, 0), record["metrics"]["bandwidth"]["value"])
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--profile", type=pathlib.Path)
    parser.add_argument("--within", type=float, default=3)
    parser.add_argument("--sizes", default="256Mi,1Gi,4Gi")
    parser.add_argument("--widths", default="4,16")
    arguments = parser.parse_args()
    text = arguments.profile.read_text() if arguments.profile else lab("profile", "--device", arguments.device, "--json", "--no-dumps", fine=(0, 1))
    figures = {figure["id"]: figure for figure in json.loads(text)["figures"]}
    fine = True

    def compare(name, value, other, what):
        nonlocal fine
        off = 100 * (value / other - 1)
        agrees = abs(off) <= arguments.within
        fine = fine and agrees
        print(f"{'   ' if agrees else '!! '}{name}: {value:.4g}, {what} {other:.4g}, {off:+.1f} %", flush=True)

    for stream in ("copy", "batch", "read", "write", "triad"):
        figure = figures.get(f"bandwidth.{stream}")
        if not figure:
            continue
        named = re.match(r"largest size, ([\d.]+) (MiB|GiB)", figure["how"])
        found = rates(stream, arguments, f"{named.group(1)}{named.group(2)[:2]}" if named else arguments.sizes)
        if found:
            size, best = max(found.items(), key=lambda f: f[1])
            compare(f"{stream} ({figure['how']})", figure["value"], best, f"the family at {int(size) >> 20} MiB")
    if "fma.clock" in figures and shutil.which("nvidia-smi"):
        most = subprocess.run(["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"], text=True, capture_output=True).stdout
        compare("clock", figures["fma.clock"]["value"], 1e6 * float(most.splitlines()[0]), "NVML's maximum")
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
