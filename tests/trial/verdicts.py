#!/usr/bin/env python3
"""Tries to make `cllab run --vs` say something false, and counts how often it does. Takes minutes to hours; no part of the regression.

    tests/trial/verdicts.py --device cpu --comparisons 240 --load 1 --budget 7200 --out trial.jsonl

The same command again goes on where it stopped; `--budget 0` prints the summary of what is there, of several --out joined too. CLLAB names the program, build/cllab
unless set.

Equal code: in a copy of cl/ the second variant of a pair gets the text of the first under its own name, so that every winner is false.
The verdict `same code` is left out of account: what counts is what the times alone would have said. Five families at three sizes (in a
core's cache, in a shared one, in memory), with either side first, and every other time with `--load` processes that keep cores busy.

Slowdowns: one side does the kernel's whole work 50 times and the other 51 times (2 %), or 20 and 21 times (5 %), on any device; their
machine code is checked to differ. There is one such comparison of either share for each two of equal code.

`--out` gets one JSON line per comparison: what was compared, the verdict, interval, control, arrangements, and the seconds it took.
Exit status: 0 when what was done keeps the limits (false winners at most 1 %, 2 % found in 95 %, 5 % found in 99 %), 1 when not.
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
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# (left, right given left's text, three sizes: in a core's cache, in a shared one, in memory)
PAIRS = [
    ("pitch_loop", "pitch_short8", ["width=512 height=512", "width=2048 height=2048", "width=8192 height=8192"]),
    ("batchnorm_channel_three", "batchnorm_channel_two", ["images=2", "images=8", "images=32"]),
    ("address_index", "address_pointer", ["items=512", "items=8192", "items=131072"]),
    ("batchnorm_pixel_three", "batchnorm_pixel_two", ["images=2", "images=8", "images=32"]),
    ("gemm_tile8", "gemm_buffered", ["m=128", "m=256", "m=512"]),
]
SLOWER = {"2 %": 50, "5 %": 20}  # how often the faster side does the work; the other one does it once more
LIMITS = {"equal": 0.01, "2 %": 0.95, "5 %": 0.99}

REPEATED = """
#ifdef REPEATS
#undef pitch_loop
kernel void REPEATED(global const uchar* src, global uchar* dst, int width, int left, int top, int right, int bottom, int n, short f,
                     short c) {
    for (int again = 0; again < REPEATS; ++again) pitch_loop_once(src, dst, width, left, top, right, bottom, n, f, c);
}
#endif
"""


def same_text(folder, left, right):
    """A copy of cl/ where building `right` compiles the text of `left` under the name `right`."""
    shutil.copytree(SOURCE / "cl", folder)
    path = folder / f"{left.split('_')[0]}.cl"
    path.write_text(f"#ifdef {right.upper()}\n#undef {right.upper()}\n#define {left.upper()}\n#define {left} {right}\n#endif\n" + path.read_text())


def repeated(folder, times):
    """A copy of cl/ where pitch_loop does its work `times` times and pitch_short8 does pitch_loop's work once more than that."""
    shutil.copytree(SOURCE / "cl", folder)
    path = folder / "pitch.cl"
    path.write_text(f"#if defined(PITCH_LOOP)\n#define REPEATS {times}\n#define REPEATED pitch_loop\n#elif defined(PITCH_SHORT8)\n#define REPEATS {times + 1}\n"
                    "#define REPEATED pitch_short8\n#undef PITCH_SHORT8\n#define PITCH_LOOP\n#endif\n"
                    "#ifdef REPEATS\n#define pitch_loop pitch_loop_once\n#endif\n" + path.read_text() + REPEATED)


def jobs(comparisons, load):
    """What is compared, in the order it is done: (kind, left, right, text of, axes, load, number)."""
    equal = [(left, right, axes, side, busy) for busy in ((0, load) if load else (0,)) for axes_at in range(3) for left, right, sizes in PAIRS
             for axes in [sizes[axes_at]] for side in (0, 1)]
    done = {share: 0 for share in SLOWER}
    for number in range(comparisons):
        left, right, axes, side, busy = equal[(number * 7) % len(equal) if math.gcd(7, len(equal)) == 1 else number % len(equal)]
        sides = (left, right) if side == 0 else (right, left)
        yield {"kind": "equal", "left": sides[0], "right": sides[1], "text": left, "other": right, "axes": axes, "load": busy, "number": number}
        if number % 2 == 1:
            for share in SLOWER:
                done[share] += 1
                sides = ("pitch_loop", "pitch_short8") if done[share] % 2 else ("pitch_short8", "pitch_loop")
                yield {"kind": share, "left": sides[0], "right": sides[1], "axes": "width=512 height=512", "load": load if done[share] % 4 > 1 else 0,
                       "number": number}


def compare(arguments, cl, job):
    """The comparison that one run of --vs wrote, with the seconds it took and whether both sides are one code; None: there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "r.jsonl"
        command = [arguments.cllab, "run", job["left"], "--vs", job["right"], "--cl-dir", cl, "--device", arguments.device, "--no-dumps",
                   "--no-yardstick", "--json", out, *(part for axis in job["axes"].split() for part in ("--axis", axis))]
        if arguments.max_time:
            command += ["--max-time", str(arguments.max_time)]
        start = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        took = time.monotonic() - start
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        if not lines or lines[-1].get("record") != "comparison":
            print(f"{job['left']} --vs {job['right']}: no comparison, exit status {done.returncode}\n{done.stdout[-600:]}", flush=True)
            return None
        codes = [line.get("code", {}).get("fingerprint", "") for line in lines[:2]]
        return lines[-1] | {"took": round(took, 2), "codes_known": all(codes), "codes_equal": codes[0] == codes[1]}


def said(comparison):
    """What the times say, whatever the code is: faster, slower or nothing."""
    ratio, floor = comparison["ratio"], math.log1p(comparison["floor"])
    if "low" not in ratio:
        return "nothing"
    return "faster" if math.log(ratio["high"]) < -floor else "slower" if math.log(ratio["low"]) > floor else "nothing"


def expected(job):
    return "nothing" if job["kind"] == "equal" else "faster" if job["left"] == "pitch_loop" else "slower"


def busy():
    while True:
        pass


def key(job):
    return json.dumps([job[k] for k in ("kind", "left", "right", "axes", "load", "number")])


def summary(kept):
    """Prints the table; True when every limit is kept."""
    fine = True
    print(f"\n{'':8} {'load':>4} {'compared':>9} {'named':>6} {'right':>6} {'rate':>7}   {'seconds: median':>15} {'longest':>8} {'half-width':>10}")
    for kind, limit in LIMITS.items():
        of_kind = [c for c in kept if c["kind"] == kind]
        if not of_kind:
            continue
        for load in sorted({c["load"] for c in of_kind}) + ["all"]:
            some = [c for c in of_kind if load in ("all", c["load"])]
            named = sum(c["said"] != "nothing" for c in some)
            right = sum(c["said"] == expected(c) for c in some)
            rate = named / len(some) if kind == "equal" else right / len(some)
            widths = [math.log(c["ratio"]["high"] / c["ratio"]["low"]) / 2 for c in some if "low" in c["ratio"]]
            width = f"{100 * statistics.median(widths):9.2f} %" if widths else "-"
            print(f"{kind:8} {load!s:>4} {len(some):9} {named:6} {right:6} {100 * rate:5.1f} %   {statistics.median(c['took'] for c in some):15.1f} "
                  f"{max(c['took'] for c in some):8.1f} {width:>10}")
        fine = fine and (rate <= limit if kind == "equal" else rate >= limit)
    wrong_way = [c for c in kept if c["kind"] != "equal" and c["said"] not in ("nothing", expected(c))]
    unchecked = [c for c in kept if c["kind"] != "equal" and c["codes_known"] and c["codes_equal"]]
    print(f"equal: the rate is that of false winners, at most 1 %; 2 % and 5 %: of those found, at least 95 % and 99 %. Named the wrong way round: "
          f"{len(wrong_way)}. Slowdowns whose machine code did not differ: {len(unchecked)}.")
    return fine and not wrong_way and not unchecked


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--comparisons", type=int, default=240, help="of equal code; half as many with each slowdown")
    parser.add_argument("--load", type=int, default=1, help="processes that keep a core busy during every other comparison")
    parser.add_argument("--budget", type=float, default=math.inf, help="seconds; no comparison is begun later")
    parser.add_argument("--part", default="0/1", metavar="K/N", help="only every Nth comparison, from the Kth: N devices of one host share the trial")
    parser.add_argument("--max-time", type=float, default=0, help="of one comparison; 0: the program's default")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("trial.jsonl"), help="one JSON line per comparison; what is there is not repeated")
    arguments = parser.parse_args()
    part, parts = (int(number) for number in arguments.part.split("/"))
    arguments.cllab = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
    start = time.monotonic()
    kept = [json.loads(line) for line in arguments.out.read_text().splitlines()] if arguments.out.exists() else []
    known = {key(c) for c in kept}
    failed = 0
    with tempfile.TemporaryDirectory() as folder, arguments.out.open("a") as out:
        for index, job in enumerate(jobs(arguments.comparisons, arguments.load)):
            if key(job) in known or index % parts != part:
                continue
            if time.monotonic() - start >= arguments.budget:
                break
            cl = pathlib.Path(folder) / (job["text"] if job["kind"] == "equal" else f"repeated{SLOWER[job['kind']]}")
            if not cl.exists():
                same_text(cl, job["text"], job["other"]) if job["kind"] == "equal" else repeated(cl, SLOWER[job["kind"]])
            load = [multiprocessing.Process(target=busy, daemon=True) for _ in range(job["load"])]
            for process in load:
                process.start()
            try:
                comparison = compare(arguments, cl, job)
            finally:
                for process in load:
                    process.kill()
            if not comparison:
                failed += 1
                continue
            # The job's names stay: the comparison has left and right too, and they are the same.
            c = comparison | job | {"said": said(comparison)}
            kept.append(c)
            out.write(json.dumps(c) + "\n")
            out.flush()
            ratio = c["ratio"]
            interval = f"[{ratio['low']:.4f}, {ratio['high']:.4f}]" if "low" in ratio else "no interval"
            print(f"{c['kind']:6} load {c['load']} {c['left']} {c['right']} {c['axes']}: {ratio['ratio']:.4f} {interval} n {ratio['n']}, "
                  f"{c['took']:.1f} s, {c['said']}{'' if c['said'] == expected(c) else ' (WRONG)'}, printed {c['verdict']}", flush=True)
    if failed:
        print(f"{failed} comparisons gave none")
    sys.exit(0 if summary(kept) and not failed else 1)


if __name__ == "__main__":
    main()
