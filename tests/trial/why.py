#!/usr/bin/env python3
"""Tries to make `cllab why` name a wrong limiter, and counts how often it does. Takes some minutes; no part of the regression.

    tests/trial/why.py --device cpu --dumps trial-dumps --out why.jsonl

Makes a profile below --dumps unless there is one. CLLAB names the program, build/cllab unless set.

Probes: kernels that are made to wait for one thing, so that it is known what limits them: streams through memory, one region read again and
again in each level of the caches, chains of loads in each level, chains and many independent ones of multiply-adds, atomics, barriers, empty
launches, empty groups. Kernel files: a chain of loads and a row of barriers that no probe of the profile has. Crossovers: kernel files that read and write arrays in each level and do 1 to 512 multiply-adds for each element. What limits
those is not known beforehand but found: with twice the multiply-adds a cell that arithmetic limits takes nearly twice as long, and one that
it does not limit takes nearly as long as before; one that instruction issue limits takes longer by as much as its instructions are more.

Where half the multiply-adds say another thing of it than twice do, as at a kink of the time, either is true; where twice say that it is between
two limiters and half say nothing, as these are disturbed, the cell is left out.
A cell is right when the limiter named is one that is true of it, wrong when another one is named, and open when none is. Where the launch and
something behind it are named together, the larger must be true. A cell is set aside whose time is not known within 10 %, because the machine has
other work, or whose registers spill: what is true of it is not known. For the same reason arithmetic is left out that twice as many chains do 15 %
faster, and a crossover of which twice the multiply-adds take more than 2.3 times as long. `--out` gets one JSON line per cell. Exit status: 0 when at most 2 % of the cells are wrong, 1 when more, 2 when there is no cell.
"""
import argparse
import array
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
MOST_WRONG = 0.02

CROSSOVER = """
/*cllab
axis items = 1024
axis steps = 1
arg x = rand:items
arg y = out:items
global items
local 256
options -DSTEPS={steps}
work bytes=8*items flops=4*steps*items
*/
// A long row of two would wait for itself and not for the units; each one more costs two additions that are not counted.
#define CHAINS (STEPS < 16 ? 2 : STEPS < 64 ? 4 : 8)
kernel void crossover(global const float* restrict x, global float* restrict y) {
    const size_t i = get_global_id(0);
    float v[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) v[c] = x[i] + c;
#pragma unroll
    for (int k = 0; k < 2 * STEPS / CHAINS; ++k) {
#pragma unroll
        for (int c = 0; c < CHAINS; ++c) v[c] = fma(v[c], 0.999f, 0.001f);
    }
    float sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; ++c) sum += v[c];
    y[i] = sum;
}
"""
# One work-item goes from line to line in random order; each load needs the one before, as 'chain' says.
CHASE = """
/*cllab
arg x = file:RING
arg y = out:1
arg steps = STEPS
global 1
local 1
work bytes=4 chain=steps
*/
kernel void chase(global const uint* restrict x, global uint* restrict y, uint steps) {
    uint at = 0;
    for (uint k = 0; k < steps; ++k) at = x[at];
    y[0] = at;
}
"""
LINE = 32  # words from one visit to the next at the least
# One group, whose work-items do next to nothing between barriers.
WAITS = """
/*cllab
axis size = 256
arg y = out:size
arg steps = 4096
global size
local size
work barriers=steps
*/
kernel void waits(global uint* y, uint steps) {
    uint v = get_local_id(0);
    for (uint k = 0; k < steps; ++k) {
        v = v * 5u + 7u;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    y[get_global_id(0)] = v;
}
"""
STEPS = [1, 2, 4, 8, 16, 32, 64, 128, 256]


def lab(arguments, *args):
    command = [arguments.cllab, *map(str, args), "--device", arguments.device, "--dumps", arguments.dumps]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def explained(arguments, *args):
    """(record, explanation) of each cell that ran."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "why.jsonl"
        done = lab(arguments, "why", *args, "--max-time", arguments.max_time, "--json", out)
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        if done.returncode not in (0, 1) or not lines:
            print(f"{' '.join(map(str, args))}: exit status {done.returncode}: {done.stderr.strip()}", flush=True)
    # A cell that was measured a second time has two records, and what is said of it is of the second one.
    records = {(line["id"], json.dumps(line["point"])): line for line in lines if "record" not in line}
    pairs = [(records[why["id"], json.dumps(why["point"])], why) for why in lines if why.get("record") == "why"]
    return [pair for pair in pairs if pair[0]["status"] == "ok"]


def measured(arguments, *args):
    """Records of the cells that ran, without a word on what limits them."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.jsonl"
        lab(arguments, "run", *args, "--max-time", arguments.max_time, "--json", out)
        records = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return [r for r in records if r["status"] == "ok"]


def is_disturbed(record):
    time = record["time"]
    return not all(abs(time.get(end, 0) - time["median"]) <= 0.1 * time["median"] for end in ("low", "high"))


def profile_of(arguments):
    """Of the device asked for, not of another one that was tried with the same --dumps."""
    def found():
        profiles = [json.loads(path.read_text()) for path in pathlib.Path(arguments.dumps).glob("*/profile.json")]
        asked = arguments.device.lower()
        return next((p for p in profiles if asked in (p["device"]["type"], p["device"]["selector"]) or asked in p["device"]["name"].lower()), None)

    if not found():
        done = lab(arguments, "profile")
        print(done.stdout, done.stderr, flush=True)
    return found()


def of_the_system():
    """Bytes of each level of the first core's caches for data, as the system says them."""
    sizes = {}
    for cache in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if (cache / "type").read_text().strip() != "Instruction":
            sizes[int((cache / "level").read_text())] = int((cache / "size").read_text().strip().rstrip("K")) * 1024
    return [sizes[level] for level in sorted(sizes)]


def levels_of(profile, caches):
    """A footprint well inside of each level of the caches, by the profile or by the operating system."""
    sizes = []
    for family in ("latency", "bandwidth"):
        by_level = {f["id"].split(".")[1]: f["value"] for f in profile["figures"] if f["id"].startswith(family + ".l") and f["id"].endswith(".size")}
        if len(by_level) > len(sizes):
            sizes = [by_level[level] for level in sorted(by_level)]
    sizes = caches or (of_the_system() if profile["device"]["type"] == "cpu" else []) or sizes
    out, below = [], 4096
    for size in sizes:
        if 6 * below < size:
            out.append(int(min(0.6 * size, max(6 * below, size / 4), 96 << 20)) // 4096 * 4096)
        below = size
    return out


def probes(profile, levels):
    """What is run, and of each cell the limiters that are true of it; none where they are not known. As few commands as may be: a GPU's driver
    takes longer to start than most cells."""
    gpu = profile["device"]["type"] == "gpu"
    block = 16384 if gpu else 4096  # that a region of bandwidth_reread is made of
    regions = {size // block * block: f"l{number + 1}" for number, size in enumerate(levels)}
    regions |= {size // (2 * block) * block + block: f"l{number + 1}" for number, size in enumerate(levels)}
    if levels:
        yield ["bandwidth_reread", "--axis", "size=" + ",".join(map(str, regions))], lambda r: {regions[r["point"]["size"]]}
        yield ["latency_global", "--axis", "footprint=" + ",".join(map(str, levels)), "--axis", "order=random,paged"], lambda r: {"latency"}
    yield ["fma_latency", "--axis", "type=float,double,uint"], lambda r: {"latency"}
    # Few chains do not fill a CPU, and what they wait for is not the peak of its arithmetic.
    fma = ["--axis", "ilp=4,8", "--axis", "width=4,16"] if gpu else ["--axis", "ilp=8,16", "--axis", "width=4,8,16"]
    yield ["fma_peak", "--axis", "type=float,double,uint", *fma], lambda r: {"arithmetic"}
    true = {"atomic_chain": {"latency"}, "atomic_global": {"atomics"}, "launch_item": {"launch"}}
    if gpu:
        true |= {"atomic_local": {"local_atomics"}, "barrier_plain": {"barriers"}, "latency_local": {"latency"}}
    # A group of one wave has no barrier.
    yield list(true), lambda r: true[r["id"]] if r["id"] != "barrier_plain" or r["point"]["group"] > 64 else set()
    if gpu:
        yield ["banks_rate", "--axis", "stride=1,3"], lambda r: {"local"}
    yield ["muladd_fma", "--axis", "items=16,64"], lambda r: {"launch"}
    yield ["dispatch_1d", "--axis", "side=1"], lambda r: {"groups", "launch"}
    streamed = next((f["value"] for f in profile["figures"] if f["id"] == "bandwidth.streamed"), 512 << 20)
    # Elements of 64 bytes leave gaps between the work-items of a warp, and then it is not memory that a GPU waits for.
    width = "width=16" if gpu else "width=16,64"
    for variants, buffers in ((["copy"], 2), (["read", "write"], 1), (["triad"], 3)):
        size = int(streamed / buffers + (1 << 20)) // (1 << 20) * (1 << 20)
        yield [*(f"bandwidth_{v}" for v in variants), "--axis", f"size={size}", "--axis", width], lambda r: {"memory"}


def files(profile, levels):
    """The same of kernel files, which say what they do."""
    for size in levels:
        lines = min(size, 16 << 20) // 4 // LINE
        # Laps enough that the first, for which a GPU's first level is empty, is a small part.
        yield CHASE.replace("STEPS", str(max(lines, min(64 * lines, 1 << 17)))), "chase", ring_of(lines), [], {"latency"}
    if profile["device"]["type"] == "gpu":
        yield WAITS, "waits", b"", ["--axis", "size=128,1024"], {"barriers"}


def ring_of(lines):
    """Words of which the first of each line is the place of another line's, all lines in one ring."""
    order = list(range(1, lines))
    random.Random(1).shuffle(order)
    words = array.array("I", bytes(4 * LINE * lines))
    at = 0
    for line in order:
        words[at] = LINE * line
        at = LINE * line
    return words.tobytes()  # the last one leads to the first, at 0


def truth_of(ratio):
    """What limits a cell that takes so many times as long with twice the arithmetic; nothing of what may be other code."""
    if ratio > 2.3 or ratio < 0.9:
        return None
    return ("arithmetic", "units") if ratio > 1.7 else () if ratio > 1.3 else ("memory", "l1", "l2", "l3", "l4", "launch", "groups")


def crossovers(arguments, levels):
    """(record, explanation, true limiters) of each; none where no level is known that they could lie in."""
    if not levels:
        print("no crossovers: the profile has no level of the caches, --cache says where they end", flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "crossover.cl"
        # Where the driver chose the groups, nobody would know how many there are.
        path.write_text(CROSSOVER.replace("local 256\n", "" if arguments.cpu else "local 256\n"))
        footprints = [min(level, 16 << 20) for level in levels]  # a check of more takes longer than all else
        axes = ["--axis", "items=" + ",".join(str(size // 8 // 256 * 256) for size in footprints),
                "--axis", "steps=" + ",".join(map(str, [*STEPS, 2 * STEPS[-1]]))]
        cells = explained(arguments, path, *axes)
        again = measured(arguments, path, *axes)
    # An interval knows nothing of what makes a whole cell of a microsecond take twice as long as the next time, so two runs must say the same.
    runs = [{(r["point"]["items"], r["point"]["steps"]): r["time"] for r in records if not is_disturbed(r)} for records in ([r for r, _ in cells], again)]

    # By the bound that is printed: the peak in it is the same for all.
    executed = {(r["point"]["items"], r["point"]["steps"]): b["seconds"] for r, why in cells for b in why["bounds"] if b["id"] == "issue"}

    def truth_between(items, steps):
        """By the times of so many steps and of twice as many; nothing where these are not known or disturbed."""
        if any((items, n) not in times for times in runs for n in (steps, 2 * steps)):
            return None
        ratios = {which: [times[items, 2 * steps][which] / times[items, steps][which] for times in runs] for which in ("median", "q1")}
        # What others take of the machine makes one time longer and the next not: what a median says, the faster quarter must say too.
        truths = {truth_of(ratio) for both in ratios.values() for ratio in both}
        if len(truths) > 1:
            return None
        truth = truths.pop()
        # Where more instructions take as much longer, it may be these; where there are hardly more, nothing is known of them.
        more = executed.get((items, 2 * steps), 0) / executed[items, steps] if executed.get((items, steps)) else 0
        return (*truth, "issue") if truth and more > 1.1 and all(abs(ratio / more - 1) < 0.1 for ratio in ratios["median"]) else truth
    for record, why in cells:
        items, steps = record["point"]["items"], record["point"]["steps"]
        truth, below = truth_between(items, steps), truth_between(items, steps // 2) if steps > 1 else None
        # Between two limiters by twice of them, and half of them not known: it may be such a kink.
        if truth is not None and not (truth == () and steps > 1 and below is None):
            yield record, why, [set(t) for t in ([truth] if below in (None, truth) else [truth, below])]


def waits_for_its_chains(record, cells):
    """Whether the same arithmetic is done much faster in twice as many chains: then it is not known to be the peak that this cell waits for."""
    def rate(r):
        return r["work"].get("flops", 0) / r["time"]["median"]
    if record["family"] != "fma" or "ilp" not in record["point"]:
        return False
    more = record["point"] | {"ilp": 2 * record["point"]["ilp"]}
    return any(r["id"] == record["id"] and r["point"] == more and rate(r) > 1.15 * rate(record) for r, _ in cells)


ARITHMETIC = {"arithmetic", "units"}


def is_true(both, said, true):
    """Of two that follow each other the larger one must be true; of a crossover's middle, one of two must be arithmetic and the other not."""
    return said in true if true else bool(both & ARITHMETIC) and bool(both - ARITHMETIC - {None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dumps", default="trial-dumps", help="where the profile is, or will be")
    parser.add_argument("--cache", action="append", type=int, default=[], help="bytes of a level of the caches, first level first, where the profile does not say")
    parser.add_argument("--max-time", type=float, default=0.4, help="seconds of sampling of a cell")
    parser.add_argument("--out", default="why.jsonl")
    arguments = parser.parse_args()
    arguments.cllab = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
    profile = profile_of(arguments)
    if not profile:
        return 2
    levels = levels_of(profile, arguments.cache)
    arguments.cpu = profile["device"]["type"] == "cpu"
    counts, matrix = collections.Counter(), collections.Counter()
    with open(arguments.out, "w") as out:
        def take(record, why, true, *or_true):
            said = why.get("limiter")
            both = {said, why.get("follower")}
            verdict = "aside" if is_disturbed(record) or record["code"].get("spills") else "open" if not said else "right" if any(is_true(both, said, t) for t in (true, *or_true)) else "wrong"
            said = said and "+".join(filter(None, (said, why.get("follower"))))
            counts[verdict] += 1
            if verdict != "aside":
                matrix["/".join(sorted(true)) or "between", said or why["limit"]] += 1
            share = max([b["seconds"] / why["seconds"] for b in why["bounds"]], default=0)
            out.write(json.dumps({"id": record["id"], "point": record["point"], "options": record["build"]["options"], "true": sorted(true), "or_true": [sorted(t) for t in or_true], "said": said,
                                  "limit": why["limit"], "share": round(share, 3), "verdict": verdict, "seconds": why["seconds"], "cores": record["time"].get("cores"), "waited": record["time"].get("waited"),
                                  "bounds": {b["id"]: round(b["seconds"] / why["seconds"], 3) for b in why["bounds"]}}) + "\n")
            out.flush()
            print(f"{verdict:6} {record['id']} {record['point']} {said or why['limit']} {share:.2f}", flush=True)
        for text, name, ring, args, true in files(profile, levels):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / f"{name}.cl"
                (path.parent / "ring").write_bytes(ring)
                path.write_text(text.replace("RING", str(path.parent / "ring")))
                for record, why in explained(arguments, path, *args):
                    take(record, why, true)
        for record, why, truths in crossovers(arguments, levels):
            take(record, why, *truths)
        for args, true_of in probes(profile, levels):
            cells = explained(arguments, *args)
            for record, why in cells:
                if true := set() if waits_for_its_chains(record, cells) else true_of(record):
                    take(record, why, true)
    cells = counts["right"] + counts["open"] + counts["wrong"]
    if not cells:
        return 2
    print(f"\n{cells} cells and {counts['aside']} set aside: {counts['right']} right, {counts['open']} open, {counts['wrong']} wrong ({100 * counts['wrong'] / cells:.1f} %)\n")
    for (true, said), n in sorted(matrix.items()):
        print(f"{true:40} {said:16} {n:4}")
    return 0 if counts["wrong"] <= MOST_WRONG * cells else 1


if __name__ == "__main__":
    sys.exit(main())
