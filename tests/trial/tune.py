#!/usr/bin/env python3
"""The fastest point that `cllab tune` finds, against those of Kernel Tuner: of whole spaces and their wall time, in the same time, or with as
many points. Takes a quarter of an hour.

    python3 -m venv ~/kt && ~/kt/bin/pip install kernel_tuner==1.5.0 pyopencl numpy
    tests/trial/tune.py --device cpu --kernel-tuner ~/kt/bin/python --whole --out whole.jsonl
    tests/trial/tune.py --device cpu --kernel-tuner ~/kt/bin/python --budgets 15 30 60 --out tune.jsonl
    tests/trial/tune.py --device cpu --kernel-tuner ~/kt/bin/python --points 100 --seeds 1 2 3 --out points.jsonl

CLLAB names the program, build/cllab unless set. --whole takes spaces of at most 150 points (a transpose, and few values of each axis of the
other two kernels), which both tools measure to the end. The seconds of `tune` are those of the command, data, proofs and comparisons included;
those of Kernel Tuner are of tune_kernel(), which compiles each point, runs it seven times and checks it against an answer; data and answer are
not counted, but in the seconds of processor, which are of the whole processes. Else the kernels of tests/trial/tune/*.cl have 1492 and 5840 points of local sizes, tiles, unrolling and vectors. Both tools get the same text, axes, constraints, data sizes, device, an empty cache of PoCL's and seconds for the search; each measures as it does by default.
Kernel Tuner runs with its strategies random_sample and greedy_mls, and chooses by its own times. Its fastest point is then held against that of
`cllab tune` by `cllab run --vs`: two files in which the axes are constants, in fresh processes that take turns. What either tool says of its
times counts for nothing. --points limits both searches by points instead of seconds; each of --seeds is one search of either tool.

`--out` gets one JSON line per budget or seed, kernel and strategy, and the table is printed. Exit status: 0 when no point of Kernel Tuner's was faster
by the verdict, 1 when one was.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
FOLDER = SOURCE / "tests" / "trial" / "tune"
KERNELS = [FOLDER / "product.cl", FOLDER / "stencil.cl"]
# The values of the axes of a whole space, and the sizes on a GPU.
WHOLE = {
    "transpose": {},
    "product": {"lx": "4, 8, 16, 32", "ly": "4, 8", "tx": "1, 2, 4", "ty": "1, 2, 4", "u": "1, 4", "near": "0, 1"},
    "stencil": {"lx": "16, 32, 64", "ly": "1, 4, 8", "v": "1, 2, 4, 8", "r": "1, 4", "shared": "0, 1"},
}
ON_GPU = {"transpose": {"n": "8192"}, "product": {"n": "1536"}, "stencil": {"w": "8192", "h": "8192"}}
STRATEGIES = ["random_sample", "greedy_mls"]


def axes_of(text):
    """The values of each axis, tuned or not."""
    return {name: [int(v) for v in values.split(",")] for name, values in re.findall(r"^axis (\w+) (?:tune )?= (.+)$", text, re.M)}


def at_point(text, point):
    """The file with its axes as constants, and without its constraints."""
    block, code = text.split("*/", 1)
    lines = []
    for line in block.splitlines():
        if line.startswith(("axis", "where")):
            continue
        if not line.startswith("//"):
            for axis, value in point.items():
                line = re.sub(rf"\{{{axis}\}}", str(value), line) if line.startswith("options") else re.sub(rf"\b{axis}\b(?! =)", str(value), line)
        lines.append(line)
    return "\n".join(lines) + "\n*/" + code


def processor_seconds():
    """Of the processes that have ended: on a machine with other work they say more than the clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def with_axes(text, values):
    """The file with other values of these axes."""
    for axis, new in values.items():
        text = re.sub(rf"^(axis {axis} (?:tune )?= ).+$", rf"\g<1>{new}", text, flags=re.M)
    return text


class Limit:
    """What ends a search: seconds, points, or neither at the end of the space; and its seed."""

    def __init__(self, seconds=0, points=0, seed=1):
        self.seconds, self.points, self.seed = float(seconds), int(points), int(seed)

    def text(self):
        return f"{self.points} points, seed {self.seed}" if self.points else f"{self.seconds:g} s"


def by_cllab(path, device, limit):
    """The chosen point, how many were measured, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        search = ["--points", str(limit.points)] if limit.points else ["--budget", str(limit.seconds)] if limit.seconds else ["--strategy", "all"]
        out = subprocess.run([CLLAB, "tune", path, "--device", device, *search, "--seed", str(limit.seed), "--json", f"{folder}/r.jsonl"], capture_output=True, text=True, check=True,
                             env=os.environ | {"POCL_CACHE_DIR": f"{folder}/cache", "CUDA_CACHE_PATH": f"{folder}/cuda"}).stdout
        took = time.monotonic() - start
        records = [json.loads(line) for line in open(f"{folder}/r.jsonl")]
    point = {axis: values[0] for axis, values in axes_of(path.read_text()).items()}
    command = next(line for line in out.splitlines() if line.startswith("  cllab run"))
    point |= {axis: int(value) for axis, value in re.findall(r"--axis (\w+)=(\d+)", command)}
    return point, len({tuple(r["point"].items()) for r in records if "record" not in r}), took


def run_kernel_tuner(path, limit, strategy, device):
    """In the Python that has it: one JSON line."""
    import random as random_of_python

    import kernel_tuner
    import numpy
    import pyopencl
    kind = {"cpu": pyopencl.device_type.CPU, "gpu": pyopencl.device_type.GPU}[device]
    platform = next(n for n, p in enumerate(pyopencl.get_platforms()) if any(d.type & kind for d in p.get_devices()))
    text = pathlib.Path(path).read_text()
    axes = axes_of(text)
    wheres = re.findall(r"^where (.+)$", text, re.M)
    fixed = {axis: values[0] for axis, values in axes.items() if len(values) == 1}
    tuned = {axis.upper(): values for axis, values in axes.items() if axis not in fixed}
    code = re.sub(r"/\*cllab.*?\*/", "", text, flags=re.S)

    def upper(where):
        for axis, value in fixed.items():
            where = re.sub(rf"\b{axis}\b", str(value), where)
        return re.sub(r"[a-z]+", lambda name: name[0].upper(), where).replace("&&", "and").replace("||", "or")

    random = numpy.random.default_rng(1)
    if "product" in path:
        name, n = "product", fixed["n"]
        arguments = [random.random(n * n, dtype=numpy.float32), random.random(n * n, dtype=numpy.float32), numpy.zeros(n * n, numpy.float32)]
        size, x, y, answer = (n, n), "TX", "TY", (arguments[0].reshape(n, n) @ arguments[1].reshape(n, n)).ravel()
    elif "transpose" in path:
        name, n = "transpose", fixed["n"]
        arguments = [random.random(n * n, dtype=numpy.float32), numpy.zeros(n * n, numpy.float32)]
        size, answer = (n, n), arguments[0].reshape(n, n).T.copy().ravel()
    else:
        name, w, h = "stencil", fixed["w"], fixed["h"]
        plane = random.random((h + 2, w + 2), dtype=numpy.float32)
        arguments = [plane.ravel(), numpy.zeros(w * h, numpy.float32)]
        size, x, y = (w, h), "V", "R"
        answer = sum((2 if dx == 1 else 1) * plane[dy:dy + h, dx:dx + w] for dy in range(3) for dx in range(3)).ravel()
    grid = {"grid_div_x": ["BX"], "grid_div_y": ["BX"], "block_size_names": ["BX", "BY"]} if name == "transpose" else {
        "grid_div_x": ["LX", x], "grid_div_y": ["LY", y], "block_size_names": ["LX", "LY"]}
    random_of_python.seed(limit.seed)  # its strategies draw from both
    numpy.random.seed(limit.seed)
    ends = {"max_fevals": limit.points} if limit.points else {"time_limit": limit.seconds, "max_fevals": 100000}
    search = {"strategy": strategy, "strategy_options": ends} if limit.points or limit.seconds else {}
    start = time.monotonic()
    results, _ = kernel_tuner.tune_kernel(
        name, code, size, arguments, tuned, **grid, **search, restrictions=[upper(w) for w in wheres], platform=platform,
        answer=[None] * (len(arguments) - 1) + [answer], atol=1e-2, lang="OpenCL", compiler_options=[f"-D{axis.upper()}={value}" for axis, value in fixed.items()], quiet=True)
    took = time.monotonic() - start
    timed = [r for r in results if isinstance(r["time"], float)]
    best = min(timed, key=lambda r: r["time"])
    print("RESULT " + json.dumps({"point": fixed | {axis.lower(): int(best[axis]) for axis in tuned}, "points": len(results), "seconds": took}))


def by_kernel_tuner(python, path, limit, strategy, device):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([python, __file__, "--worker", str(path), strategy, device, str(limit.seconds), str(limit.points), str(limit.seed)], capture_output=True, text=True, cwd=folder,
                              env=os.environ | {"POCL_CACHE_DIR": f"{folder}/cache", "CUDA_CACHE_PATH": f"{folder}/cuda"})
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if done.returncode or not line:
        sys.exit(f"Kernel Tuner failed:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
    found = json.loads(line[len("RESULT "):])
    return found["point"], found["points"], found["seconds"]


def held_against(path, theirs, ours, device, seconds):
    """The comparison of two points, theirs over ours; nothing where they are one."""
    if theirs == ours:
        return None
    with tempfile.TemporaryDirectory() as folder:
        for name, point in (("theirs", theirs), ("ours", ours)):
            pathlib.Path(f"{folder}/{name}.cl").write_text(at_point(path.read_text(), point))
        command = [CLLAB, "run", "theirs.cl", "--vs", f"ours.cl:{path.stem}", "--device", device, "--no-dumps", "--no-yardstick", "--max-time", str(seconds), "--json", "r.jsonl"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        lines = [json.loads(line) for line in open(f"{folder}/r.jsonl")]
    comparison = next((line for line in lines if line.get("record") == "comparison"), None)
    if not comparison:
        sys.exit(f"no comparison:\n{done.stdout}\n{done.stderr}")
    return comparison


def verdict(found):
    """How long Kernel Tuner's point takes beside that of `tune`, in words."""
    if not found:
        return "the same point"
    ratio = found["ratio"]
    return f"{ratio['ratio']:.2f} times as long" + (f" ({ratio['low']:.2f} to {ratio['high']:.2f})" if "low" in ratio else "") + f", {found['verdict']}"


def point_text(point, tuned):
    return " ".join(f"{axis}={point[axis]}" for axis in tuned)


def whole_spaces(args):
    """Every point of three spaces by both tools. Whether a point of Kernel Tuner's was faster."""
    print("| space | points of `tune` | seconds (of processor) | its winner | Kernel Tuner's points | seconds (of processor) | its winner | that one takes |\n|---|---|---|---|---|---|---|---|")
    lost = False
    for stem, axes in WHOLE.items():
        if args.only and stem not in args.only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{stem}.cl"
            path.write_text(with_axes((FOLDER / f"{stem}.cl").read_text(), axes | (ON_GPU[stem] if args.device == "gpu" else {})))
            tuned = [axis for axis, values in axes_of(path.read_text()).items() if len(values) > 1]
            used = [processor_seconds()]
            theirs, their_points, their_seconds = by_kernel_tuner(args.kernel_tuner, path, Limit(), "brute_force", args.device)
            used.append(processor_seconds())
            ours, tried, took = by_cllab(path, args.device, Limit())
            used.append(processor_seconds())
            found = held_against(path, theirs, ours, args.device, args.vs)
        lost = lost or bool(found and found["verdict"] == "faster")
        their_used, our_used = used[1] - used[0], used[2] - used[1]
        print(f"| {stem} | {tried} | {took:.1f} ({our_used:.1f}) | {point_text(ours, tuned)} | {their_points} | {their_seconds:.1f} ({their_used:.1f}) | "
              f"{point_text(theirs, tuned)} | {verdict(found)} |", flush=True)
        with args.out.open("a") as out:
            out.write(json.dumps({"space": stem, "ours": ours, "theirs": theirs, "points": tried, "seconds": took, "processor_seconds": our_used,
                                  "their_points": their_points, "their_seconds": their_seconds, "their_processor_seconds": their_used, "comparison": found}) + "\n")
    return lost


def main():
    if sys.argv[1:2] == ["--worker"]:
        return run_kernel_tuner(sys.argv[2], Limit(*sys.argv[5:]), sys.argv[3], sys.argv[4])
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--kernel-tuner", required=True, metavar="PYTHON", help="a Python that has kernel_tuner and pyopencl")
    parser.add_argument("--whole", action="store_true", help="every point of three spaces")
    parser.add_argument("--only", nargs="+", choices=list(WHOLE), help="with --whole: these of them")
    parser.add_argument("--budgets", type=float, nargs="+", default=[15, 30, 60], help="seconds")
    parser.add_argument("--points", type=int, help="points of each search, instead of seconds")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], help="with --points: a search each")
    parser.add_argument("--vs", type=float, default=20, help="seconds of each comparison")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if args.whole:
        sys.exit(whole_spaces(args))
    limits = [Limit(points=args.points, seed=seed) for seed in args.seeds] if args.points else [Limit(seconds) for seconds in args.budgets]
    print("| kernel | budget | points of `tune` | Kernel Tuner's strategy | its points | its fastest point takes |\n|---|---|---|---|---|---|")
    lost = False
    for path in KERNELS:
        for limit in limits:
            ours, tried, took = by_cllab(path, args.device, limit)
            for strategy in STRATEGIES:
                theirs, their_points, their_seconds = by_kernel_tuner(args.kernel_tuner, path, limit, strategy, args.device)
                found = held_against(path, theirs, ours, args.device, args.vs)
                lost = lost or bool(found and found["verdict"] == "faster")
                print(f"| {path.stem} | {limit.text()} | {tried} | {strategy} | {their_points} | {verdict(found)} |", flush=True)
                with args.out.open("a") as out:
                    out.write(json.dumps({"kernel": path.stem, "budget": limit.text(), "strategy": strategy, "ours": ours, "theirs": theirs, "points": tried, "seconds": took,
                                          "their_points": their_points, "their_seconds": their_seconds, "comparison": found}) + "\n")
    sys.exit(lost)


if __name__ == "__main__":
    main()
