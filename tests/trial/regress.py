#!/usr/bin/env python3
"""A regression found end to end, on a machine whose neighbor is noisy. Takes minutes; no part of the regression.

    tests/trial/regress.py --device cpu --load 1     # CLLAB names the program; build/cllab unless set

A baseline of twelve kernels, three of which do their whole work 33 times. Then one of those does it 34 times (3 % more, another machine
code): `cllab regress` must end with 4 and name that one alone. A comment in the file must end with 0 and twelve times `same code`. One that is
missed is `undecided`; one that is named wrongly is false, and counted apart.

Then a kernel file of the user's own, --repeats times each: its header makes one kernel slower, a constant of a table is changed, a race
shows in one process of ten, a text of the baseline is deleted, and one is damaged. Each must end with its own status and name what changed; a
race may be missed by a run that has too few processes, which is counted.
Exit status: 0 when each was found and nothing else named, 1 when one was missed, 2 when something was false.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SLOWABLE = ["pitch_loop", "pitch_short8", "pitch_vload8"]
OTHERS = ["pitch_wide", "pitch_swar", "pitch_implicit", "address_index", "address_pointer", "saxpy_w32", "saxpy_w128",
          "gemm_tile8", "gemm_buffered"]

REPEATED = """
#ifdef TIMES
#undef %(name)s
kernel void %(name)s(global const uchar* src, global uchar* dst, int width, int left, int top, int right, int bottom, int n, short f, short c) {
    for (int again = 0; again < TIMES; ++again) %(name)s_once(src, dst, width, left, top, right, bottom, n, f, c);
}
#undef TIMES
#endif
"""


def write_text(path, slower=None, comment=""):
    """cl/pitch.cl where each kernel of SLOWABLE does its work 33 times, that named `slower` 34 times."""
    before = "".join(f"#ifdef {k.upper()}\n#define TIMES {34 if k == slower else 33}\n#define {k} {k}_once\n#endif\n" for k in SLOWABLE)
    after = "".join(f"#ifdef {k.upper()}\n{REPEATED % {'name': k}}#endif\n" for k in SLOWABLE)
    path.write_text(comment + before + (SOURCE / "cl" / "pitch.cl").read_text() + after)


OWN = """#include "own.h"
/*cllab
arg src = rand:int:65536:0:1000
arg dst = out:65536
arg n = 1
arg from = rand:int:65536
arg to = out:65536
global 65536
local 64
*/
__constant int table[2] = {3, 5};
__kernel void mixed(__global const int* src, __global int* dst, int n) {
    int v = src[get_global_id(0)];
    for (int t = 0; t < TRIPS; ++t) v = t < 3000 ? v * 7 + table[t & 1] : v + (n > 1);
    dst[get_global_id(0)] = v + RACE;
}
__kernel void other(__global const int* from, __global int* to) { to[get_global_id(0)] = from[get_global_id(0)] + 1; }
"""
# The address of a buffer is drawn anew in each process (not on every device): of some it has a digit that makes the result wrong, in that
# process only. Both texts do the same work.
HEADER = "#define TRIPS 3000 * n\n#define DIGIT 102 + n\n#define RACE (get_global_id(0) == 7 && ((ulong)dst >> 12) % 10 == DIGIT)\n"
OWN_CASES = {  # files to write, expected exit status, what the cell own_mixed must be called
    "an included file makes it slower": ({"own.h": HEADER.replace("3000", "3200")}, 4, "slower"),
    "a constant of a table is changed": ({"own.cl": OWN.replace("{3, 5}", "{3, 6}")}, 4, "other results"),
    "a race in one process of ten": ({"own.h": HEADER.replace("102", "2")}, 1, "newly wrong"),  # or, of a pair in that process, other results
}


def own_cases(folder, lab, cells, arguments):
    """Kernel files of the user's own; how often each case was found, missed and false."""
    counts = {name: {"found": 0, "missed": 0, "false": 0} for name in [*OWN_CASES, "a deleted text", "a damaged text"]}
    write = lambda files: [(folder / name).write_text(text) for name, text in ({"own.cl": OWN, "own.h": HEADER} | files).items()]
    regress = ["regress", "own", "--device", arguments.device, "--json", "cells.jsonl", "--force", "--max-time", str(arguments.max_time)]
    write({})
    lab("run", "own.cl", "--device", arguments.device, "--no-dumps", "--no-yardstick", "--baseline", "own")
    text, = (folder / "own" / "text").iterdir()
    content = text.read_text()
    for _ in range(arguments.repeats):
        for name, (files, expected, change) in OWN_CASES.items():
            write(files)
            status = lab(*regress)
            found = cells()
            alone = found["own_other"] == "same code"
            right = alone and ((status, found["own_mixed"]) == (expected, change) or
                               name.startswith("a race") and (status, found["own_mixed"]) == (4, "other results"))
            missed = alone and status == 0 and found["own_mixed"] in ("undecided", "same", "same code")
            counts[name]["found" if right else "missed" if missed else "false"] += 1
        write({})
        for name, damage in (("a deleted text", text.unlink), ("a damaged text", lambda: text.write_text(content.replace("7", "8")))):
            damage()
            counts[name]["found" if lab(*regress) == 2 else "false"] += 1
            text.write_text(content)
    for name, count in counts.items():
        print(f"{name}: {', '.join(f'{what} {n}' for what, n in count.items())}", flush=True)
    return counts.values()


def busy():
    while True:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--load", type=int, default=1, help="processes that keep a core busy meanwhile")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--max-time", type=float, default=10)
    arguments = parser.parse_args()
    cllab = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
    load = [multiprocessing.Process(target=busy, daemon=True) for _ in range(arguments.load)]
    for process in load:
        process.start()
    counts = {"found": 0, "missed": 0, "false": 0, "same code": 0, "changed by a comment": 0}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(SOURCE / "cl", folder / "cl")

        def lab(*args):
            start = time.monotonic()
            done = subprocess.run([cllab, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            print(f"$ cllab {' '.join(map(str, args))}   ({time.monotonic() - start:.0f} s, exit status {done.returncode})\n{done.stdout}", flush=True)
            return done.returncode

        def cells():
            return {line["id"]: line["change"] for line in map(json.loads, (folder / "cells.jsonl").read_text().splitlines()) if "id" in line}

        regress = ["regress", "base", "--device", arguments.device, "--json", "cells.jsonl", "--force", "--max-time", str(arguments.max_time)]
        text = folder / "cl" / "pitch.cl"
        write_text(text)
        lab("run", *SLOWABLE, *OTHERS, "--axis", "width=512", "--axis", "height=512", "--axis", "size=1Mi", "--device", arguments.device,
            "--cl-dir", "cl", "--no-dumps", "--no-yardstick", "--baseline", "base")
        for number in range(arguments.repeats):
            slower = SLOWABLE[number % len(SLOWABLE)]
            write_text(text, slower)
            status = lab(*regress)
            slow = [cell for cell, change in cells().items() if change in ("slower", "faster")]
            found = "found" if status == 4 and slow == [slower] else "missed" if status == 0 and not slow else "false"
            write_text(text, comment="// a comment only\n")
            status = lab(*regress)
            same = "same code" if status == 0 and list(cells().values()) == ["same code"] * 12 else "changed by a comment"
            counts[found] += 1
            counts[same] += 1
            print(f"{number + 1}: {slower} slowed by 3 %: {found}{f', named {slow}' if found == 'false' else ''}; comment only: {same}", flush=True)
        print(", ".join(f"{name} {count}" for name, count in counts.items()), flush=True)
        own = own_cases(folder, lab, cells, arguments)
    for process in load:
        process.kill()
    false = counts["false"] or counts["changed by a comment"] or any(count["false"] for count in own)
    missed = counts["missed"] or any(count["missed"] for count in own)
    sys.exit(2 if false else 1 if missed else 0)


if __name__ == "__main__":
    main()
