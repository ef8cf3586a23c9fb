#!/usr/bin/env python3
"""Tries to make `cllab run --vs` say something false, and counts how often it does. Not part of the regression: it takes minutes.

    tests/trial/verdicts.py --device cpu --repeats 4 --load 1     # CLLAB names the program; build/cllab unless set

Equal code: in a copy of cl/ the second variant of a pair is given the text of the first under its own name, so that every winner is
false. The verdict `same code` is left out of account: what counts is what the times alone would have said. Each pair runs at three
sizes and with the sides exchanged. Slowdowns: of 200 bands of rows of pitch_loop every 50th (2 %) or 20th (5 %) is done twice.
Prints one line per comparison and a summary; `--json FILE` keeps all comparisons. `--load N` keeps N processes busy meanwhile.
"""
import argparse
import json
import math
import multiprocessing
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# (left, right given left's text, three sizes: in a core's cache, in a shared one, in memory)
PAIRS = [
    ("pitch_loop", "pitch_short8", [["width=512", "height=512"], ["width=2048", "height=2048"], ["width=8192", "height=8192"]]),
    ("batchnorm_channel_three", "batchnorm_channel_two", [["images=2"], ["images=8"], ["images=32"]]),
    ("address_index", "address_pointer", [["items=512"], ["items=8192"], ["items=131072"]]),
    ("batchnorm_pixel_three", "batchnorm_pixel_two", [["images=2"], ["images=8"], ["images=32"]]),
    ("gemm_tile8", "gemm_buffered", [["m=128"], ["m=256"], ["m=512"]]),
]

WRAPPER = """
#ifdef WRAPPED
kernel void pitch_short8(global const uchar* src, global uchar* dst, int width, int left, int top, int right, int bottom, int n,
                         short f, short c) {
    pitch_loop_once(src, dst, width, left, top, right, bottom, n, f, c);
    if (get_global_id(0) %% %d == 0) pitch_loop_once(src, dst, width, left, top, right, bottom, n, f, c);
}
#endif
"""


def family_of(kernel):
    return kernel.split("_")[0]


def same_text(folder, left, right):
    """A copy of cl/ where building `right` compiles the text of `left` under the name `right`."""
    shutil.copytree(SOURCE / "cl", folder)
    path = folder / f"{family_of(left)}.cl"
    path.write_text(f"#ifdef {right.upper()}\n#undef {right.upper()}\n#define {left.upper()}\n#define {left} {right}\n#endif\n" + path.read_text())


def slower(folder, every):
    """A copy of cl/ where pitch_short8 is pitch_loop that does one band in `every` twice."""
    shutil.copytree(SOURCE / "cl", folder)
    path = folder / "pitch.cl"
    path.write_text("#ifdef PITCH_SHORT8\n#undef PITCH_SHORT8\n#define PITCH_LOOP\n#define WRAPPED\n#define pitch_loop pitch_loop_once\n#endif\n" +
                    path.read_text() + WRAPPER % every)


def compare(arguments, cl, left, right, axes):
    """The comparison that one run of --vs wrote, with the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "r.jsonl"
        command = [arguments.cllab, "run", left, "--vs", right, "--cl-dir", cl, "--device", arguments.device, "--no-dumps", "--no-yardstick",
                   "--json", out, *(part for axis in axes for part in ("--axis", axis))]
        if arguments.max_time:
            command += ["--max-time", str(arguments.max_time)]
        start = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        took = time.monotonic() - start
        last = json.loads(out.read_text().splitlines()[-1]) if out.exists() and out.read_text() else {}
        if last.get("record") != "comparison":
            print(f"{left} --vs {right}: no comparison, exit status {done.returncode}\n{done.stdout[-600:]}", flush=True)
            return None
        return last | {"took": took}


def said(comparison):
    """What the times say, whatever the code is: faster, slower or nothing."""
    ratio, floor = comparison["ratio"], math.log1p(comparison["floor"])
    if "low" not in ratio:
        return "nothing"
    return "faster" if math.log(ratio["high"]) < -floor else "slower" if math.log(ratio["low"]) > floor else "nothing"


def busy():
    while True:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=1, help="of every comparison")
    parser.add_argument("--seconds", type=float, default=math.inf, help="no comparison is begun later than this")
    parser.add_argument("--max-time", type=float, default=0, help="of one comparison; 0: the program's default")
    parser.add_argument("--load", type=int, default=0, help="processes that keep a core busy meanwhile")
    parser.add_argument("--pairs", default="", help="only pairs whose left name contains this")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.cllab = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
    load = [multiprocessing.Process(target=busy, daemon=True) for _ in range(arguments.load)]
    for process in load:
        process.start()
    start, kept = time.monotonic(), []

    def one(kind, cl, left, right, axes, expected):
        if time.monotonic() - start > arguments.seconds:
            return
        c = compare(arguments, cl, left, right, axes)
        if not c:
            return
        verdict = said(c)
        kept.append(c | {"kind": kind, "said": verdict, "right_verdict": verdict == expected})
        ratio = c["ratio"]
        interval = f"[{ratio['low']:.4f}, {ratio['high']:.4f}]" if "low" in ratio else "no interval"
        print(f"{kind:10} {left} {right} {' '.join(axes)}: {ratio['ratio']:.4f} {interval} n {ratio['n']}, {c['took']:.1f} s, {verdict}, "
              f"printed {c['verdict']}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number in range(arguments.repeats):
            for left, right, sizes in PAIRS:
                if arguments.pairs not in left:
                    continue
                cl = folder / left
                if not cl.exists():
                    same_text(cl, left, right)
                for axes in sizes:
                    for a, b in ((left, right), (right, left)):
                        one("equal", cl, a, b, axes, "nothing")
            for share, every in (("2 %", 50), ("5 %", 20)):
                if arguments.pairs not in "pitch_loop":
                    continue
                cl = folder / f"slower{every}"
                if not cl.exists():
                    slower(cl, every)
                one(share, cl, "pitch_loop", "pitch_short8", ["items=200", "width=2048", "height=2048"], "faster")
                one(share, cl, "pitch_short8", "pitch_loop", ["items=200", "width=2048", "height=2048"], "slower")

    for process in load:
        process.kill()
    if arguments.json:
        arguments.json.write_text("".join(json.dumps(c) + "\n" for c in kept))
    for kind in ("equal", "2 %", "5 %"):
        of_kind = [c for c in kept if c["kind"] == kind]
        if of_kind:
            right = sum(c["right_verdict"] for c in of_kind)
            named = sum(c["said"] != "nothing" for c in of_kind)
            print(f"{kind}: {len(of_kind)} comparisons, {named} named a winner, {right} were right; median "
                  f"{statistics.median(c['took'] for c in of_kind):.1f} s each")


if __name__ == "__main__":
    main()
