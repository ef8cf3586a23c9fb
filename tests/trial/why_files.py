#!/usr/bin/env python3
"""Tries to make `cllab why` name a wrong limiter of kernels in users' files, and counts how often it names one at all. Takes minutes; no part of
the regression.

    tests/trial/why_files.py --device cpu --dumps trial-dumps --out why-files.jsonl

Makes a profile below --dumps unless there is one. CLLAB names the program, build/cllab unless set. The kernels are in why_files/*.cl: none declares
its work. --only takes shell patterns of kernels (`copy`, `stream:*`).

What is true of a kernel is found without `why`. On NVIDIA by Nsight Compute (`cllab ncu`): its share of the peak of each level, pipe and issue slot, and
what waves wait for. Elsewhere, and with --judge doubling, by experiment: each file has axes that double one thing (`memory=2` twice the bytes, `float=2`
twice the arithmetic, `chain=2` a chain twice as long, `beside=2` twice the work in as long a chain; `spread=2` spreads uneven work evenly, and what
takes at most 0.6 of the time then is limited by idle cores). What costs time when it is doubled limits. Twice
the bytes are twice the instructions too: there more arithmetic tells whether each instruction takes its time, and where it does not tell, issue is
`mixed`. Where twice the size takes no longer it is the launch or a latency; where the size costs and no work does, it is the start of groups.

right: the limiter named is true. open: none is named. wrong: another is named. mixed: nothing is clearly true; such a kernel counts as wrong where what
is named costs nothing when doubled, and else for nothing. aside: the time is not known within 10 %, the kernel did not run, or the judge says nothing.
Rows are written to --out as they are found. Ends after --seconds with what it has. Exit status: 0 when at most 2 % are wrong, 1 when more, 2 without a row.
"""
import argparse
import collections
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from why import SOURCE, is_disturbed, levels_of, profile_of  # noqa: E402

FILES = pathlib.Path(__file__).resolve().parent / "why_files"
MOST_WRONG = 0.02
# Times of the same kernel with one thing doubled over its own.
COSTS, COSTS_NOTHING = 1.55, 1.2
# A CPU's time is split on one core: bytes cost access, values or what cores share; all else that is doubled costs execution. Cores share contended atomics.
LEVELS = {"memory", "l1", "l2", "l3", "l4", "access", "values", "shared"}
ISSUE = {"issue", "execution"}
# What is named where doubling this costs time. Instructions are doubled with any arithmetic.
TRUE_OF = {"memory": LEVELS, "float": {"arithmetic", "units", "pipe", "functions"} | ISSUE, "integer": {"integer", "arithmetic", "pipe"} | ISSUE,
           "division": {"division", "functions", "integer", "arithmetic", "pipe"} | ISSUE, "functions": {"functions", "arithmetic", "pipe"} | ISSUE,
           "local": {"local", "l1"} | ISSUE, "atomics": {"atomics", "shared", "execution"}, "local_atomics": {"local_atomics", "atomics"} | ISSUE,
           "barriers": {"barriers", "execution"}, "beside": {"arithmetic", "units", "functions", "integer", "pipe"} | ISSUE | LEVELS,
           "work": {"arithmetic", "integer"} | ISSUE}
# Chains of loads wait for data beyond the nearest cache; other chains for the core.
LOADS = {"one_walk", "walk_of_64", "walk_of_groups"}


def kernels(only):
    """(file, kernel, what can be doubled, size for a CPU) of each."""
    for path in sorted(FILES.glob("*.cl")):
        text = path.read_text()
        small = re.search(r"^// cpu: (n=\S+)$", text, re.M)
        for doubled, name in re.findall(r"^// twice:(.*)\nkernel void (\w+)\(", text, re.M):
            if not only or any(fnmatch.fnmatch(name, p) or fnmatch.fnmatch(f"{path.stem}:{name}", p) for p in only):
                yield path, name, doubled.split(), small.group(1) if small else None


def lab(arguments, *args, device=True):
    command = [arguments.cllab, *map(str, args)] + (["--device", arguments.device] if device else [])
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=max(10.0, arguments.end - time.monotonic()))
    except subprocess.TimeoutExpired as e:
        return subprocess.CompletedProcess(command, 124, "", f"{e}")


def lines_of(arguments, *args, device=True):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "lines.jsonl"
        done = lab(arguments, *args, "--json", out, device=device)
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    return lines, " ".join(done.stderr.split())[-300:]


def runs_of(arguments, path, name, axes, doubled):
    """Records by the value of the axis that is doubled, less first; None unless both ran."""
    words = [word for axis in [*axes, doubled] for word in ("--axis", axis)]
    lines, _ = lines_of(arguments, "run", f"{path}:{name}", *words, "--no-dumps", "--no-yardstick", "--hot", "0.05", "--max-time", arguments.max_time)
    by_value = {int(r["point"][doubled.split("=")[0]]): r for r in lines if r.get("status") == "ok" and r.get("time")}
    return [by_value[value] for value in sorted(by_value)] if len(by_value) == 2 else None


def ratio_of(runs):
    """Time with one thing doubled over the time without; None where medians and shortest times say different things of it."""
    if not runs:
        return None
    less, more = runs
    ratios = [more["time"][which] / less["time"][which] for which in ("median", "min")]
    # What takes less time with more work is other code.
    if min(ratios) < 0.9:
        return None
    kinds = {(ratio >= COSTS) - (ratio <= COSTS_NOTHING) for ratio in ratios}
    return ratios[0] if len(kinds) == 1 else None


def part_of_instructions(runs):
    """By how much the time grows with more arithmetic, over how much the instructions of the block do that has the samples: 1 where each of them
    takes its time, 0 where they run beside what else takes it. None where that is not known: the block must make the same accesses in both."""
    if not runs:
        return None
    hottest = [(r.get("hot") or {}).get("blocks", [{}])[0] for r in runs]
    if any(b.get("share", 0) < 0.8 or not b.get("memory") for b in hottest) or hottest[0]["memory"] != hottest[1]["memory"]:
        return None
    grown = hottest[1]["instructions"] / hottest[0]["instructions"] - 1
    longer = [runs[1]["time"][which] / runs[0]["time"][which] - 1 for which in ("median", "min")]
    parts = [each / grown for each in longer] if grown >= 0.1 else []
    return parts[0] if parts and abs(parts[0] - parts[1]) < 0.3 else None


AXIS_OF = {"local": "local_work", "local_atomics": "atomics"}


def true_by_doubling(arguments, path, name, doubled, axes, record, profile):
    """(ids that are true, ids that are surely not, ratios); no ids where nothing is known."""
    n = int(record["point"]["n"])
    runs = {"n": runs_of(arguments, path, name, [], f"n={n},{2 * n}")}
    for what in doubled:
        runs[what] = runs_of(arguments, path, name, axes, f"{AXIS_OF.get(what, what)}=1,2")
    even = runs.pop("spread", None)
    known = {what: ratio for what, ratio in ((what, ratio_of(r)) for what, r in runs.items()) if ratio}
    if even:  # the time of the same work, spread evenly, over the time
        known["spread"] = even[1]["time"]["median"] / even[0]["time"]["median"]
    costly = {what for what in known if what not in ("n", "chain", "work", "spread") and known[what] >= COSTS}
    free = {what for what in known if what not in ("n", "chain", "work", "spread") and known[what] <= COSTS_NOTHING}
    # Twice the size takes twice as long or less; more is another level of the caches, or another program.
    if known.get("n", 2) > 2.6:
        return set(), set(), {what: round(r, 2) for what, r in known.items()}
    empty = next((f["value"] for f in profile["figures"] if f["id"] == "launch.empty.item"), 0)
    is_launch = record["time"]["median"] <= 2 * max(empty, 1e-9)
    true = set()
    waits = "chain" in known and known["chain"] >= COSTS and known.get("beside", 9) <= 1.35
    if waits:
        true |= {"latency", "access" if name in LOADS else "execution"}
    elif is_launch and known.get("work", 9) <= COSTS_NOTHING:
        true |= {"launch"}
    elif known.get("n", 9) <= 1.25 and not costly:
        true |= {"launch"} if is_launch else {"latency"} if "chain" in known and known["chain"] >= COSTS else {"launch", "latency"}
    elif known.get("n", 0) >= COSTS and "work" in known and known["work"] <= COSTS_NOTHING:
        true |= {"groups"}
    if known.get("spread", 1) <= 0.6:
        true |= {"shared"}  # idle cores
        costly = costly if known["spread"] > 0.4 else set()  # what takes less than two fifths limits nothing
    for what in costly if not waits else ():
        true |= TRUE_OF[what]
    # What costs nothing when doubled limits nothing; what another doubling has in common with it may.
    false = set().union(*(TRUE_OF[what] for what in free)) - true - ISSUE if free else set()
    # What could not be doubled may be true as well as not: nothing is held against it.
    unknown = set().union(*(TRUE_OF[what] for what in doubled if what in TRUE_OF and what not in known), set())
    if unknown:
        true, false = true and (true | unknown), false - unknown
    # Twice the bytes are twice the instructions as well: which of them cost the time is told by more arithmetic beside the bytes.
    part = part_of_instructions(runs.get("float")) if "memory" in costly and not waits else None
    if part is not None:
        true = true | ISSUE if part >= 0.5 else true - ISSUE
        true = true - LEVELS if part >= 0.8 else true
        false = (false - ISSUE) | (ISSUE if part < 0.5 else LEVELS if part >= 0.8 else set())
    told = {what: round(r, 2) for what, r in known.items()}
    if part is not None:
        told["instructions"] = round(part, 2)
    elif "memory" in costly and not waits and not ISSUE & true:
        told["doubtful"] = sorted(ISSUE)
    return true, false, told


def true_by_ncu(record, profile):
    """The same by Nsight Compute's shares of peaks and by what waves wait for, as `why` had them counted."""
    counters = {name: c["value"] for name, c in record.get("counters", {}).items()}
    if not counters:
        return set(), set(), {}

    def get(*wanted):
        return max((v for k, v in counters.items() for w in wanted if k.startswith(w) and ".pct_of_peak_sustained" in k and ".avg" in k), default=0)
    memory, level2 = get("gpu__dram_throughput", "dram__throughput"), get("lts__t_sectors", "lts__throughput", "l1tex__m_xbar2l1tex")
    shared = counters.get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 0)
    level1 = get("l1tex__data_pipe_lsu_wavefronts", "l1tex__lsuin_requests", "l1tex__data_bank", "l1tex__throughput")
    pipes = {k[len("sm__inst_executed_pipe_"):].split(".")[0]: v for k, v in counters.items()
             if k.startswith("sm__inst_executed_pipe_") and ".avg.pct_of_peak_sustained_active" in k}
    pipe = max(pipes, key=pipes.get, default="")
    issue = get("sm__inst_issued", "smsp__issue_active")
    seconds = counters.get("gpu__time_duration.sum", 0) * 1e-9
    stalls = {re.sub(r".*issue_stalled_(\w+?)_per_issue.*", r"\1", k): v for k, v in counters.items() if "issue_stalled_" in k and "_per_issue_active" in k}
    why_waits = max((s for s in stalls if s not in ("selected", "not_selected")), key=stalls.get, default="")
    kind = {"fp64": {"arithmetic", "units"}, "fma": {"arithmetic", "integer", "units"}, "fmaheavy": {"arithmetic", "integer"}, "xu": {"functions", "division", "issue", "integer"},
            "alu": {"integer", "arithmetic", "division", "functions"}, "lsu": {"local", "l1", "local_atomics"}, "adu": {"barriers"}}
    shares = {"memory": (memory, {"memory"}), "l2": (level2, {"l2"}), "l1": (level1, {"local", "l1", "local_atomics"} if shared else {"l1"}),
              "pipe " + pipe: (pipes.get(pipe, 0), kind.get(pipe, set()) | {"pipe"}), "issue": (issue, {"issue", "division", "functions", "integer", "arithmetic"})}
    said = {k: round(v) for k, (v, _) in shares.items()} | {"waits": why_waits, "ratios": {k: round(v, 2) for k, v in stalls.items() if v > 0}}
    most = max(v for v, _ in shares.values())
    true = set()
    empty = next((f["value"] for f in profile["figures"] if f["id"] == "launch.empty.item"), 0)
    threads = counters.get("launch__grid_size", 0)
    rate = next((f["value"] for f in profile["figures"] if f["id"] == "dispatch.group.rate"), 0)
    if seconds and seconds <= 1.3 * empty:
        true |= {"launch"}
    if rate and seconds and threads / rate >= 0.6 * seconds:
        true |= {"groups"}
    for v, ids in shares.values():
        if v >= 60 or (v >= 50 and v > 0.9 * most):
            true |= ids
    if most < 50:
        true |= {"long_scoreboard": {"latency", "atomics"}, "short_scoreboard": {"latency", "local_atomics"}, "barrier": {"barriers"}, "wait": {"latency"},
                 "lg_throttle": {"atomics", "l1"}, "mio_throttle": {"local_atomics", "local"}, "membar": {"atomics"}, "drain": {"memory", "groups", "atomics"},
                 "no_instruction": {"latency", "launch"}, "imc_miss": {"launch", "latency"}, "branch_resolving": {"latency", "issue"},
                 "math_pipe_throttle": {"pipe", "arithmetic", "integer", "division", "functions"}}.get(why_waits, set())
    # A pipe takes an instruction every second cycle or less: half of its peak, and warps that wait for it most of all.
    if why_waits == "math_pipe_throttle" and pipes.get(pipe, 0) >= 50:
        true |= kind.get(pipe, set()) | {"pipe"}
    sure = {"memory": memory, "l2": level2, "arithmetic": max(max(pipes.values(), default=0), issue), "local": level1}
    return true, {name for name, v in sure.items() if v < 30} - true, said


def judged(said, true, false):
    if said is None:
        return "open" if true else "mixed"
    if said in true:
        return "right"
    return "wrong" if true or said in false else "mixed"


def counting(arguments):
    """An older program counts nothing and has no such option."""
    return [] if arguments.count_budget < 0 else ["--count-budget", arguments.count_budget]


def explained(arguments, path, names, axes):
    """(record, what `why` says) of each kernel, and what was printed beside."""
    words = [word for axis in axes for word in ("--axis", axis)]
    patterns = [f"{path}:{name}" for name in names]
    lines, said = lines_of(arguments, "why", *patterns, *words, "--dumps", arguments.dumps, "--max-time", arguments.max_time, *counting(arguments))
    if arguments.records:
        with open(arguments.records, "a") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
    # A cell that was measured a second time has two records, and what is said of it is of the second one.
    # A kernel `groups_of_1` of groups.cl has the id groups_of_1 and is the variant `of_1`, so ids are told by their ends.
    ids = {line["id"]: max((n for n in names if f"_{line['id']}".endswith(f"_{n}")), key=len, default=line["variant"]) for line in lines if "record" not in line}
    records = {ids[line["id"]]: line for line in lines if "record" not in line}
    return {ids[line["id"]]: (records[ids[line["id"]]], line) for line in lines if line.get("record") == "why" and line["id"] in ids}, said


def judge(arguments, profile, path, name, doubled, axes, record, why):
    """A row of --out."""
    row = {"kernel": f"{path.stem}:{name}"}
    if record.get("status") != "ok":
        return row | {"verdict": "aside", "note": record.get("reason")}
    said = why.get("limiter")
    row |= {"said": said, "with": why.get("follower"), "limit": why["limit"], "seconds": why.get("seconds"), "advice": why.get("advice"),
            "bounds": {b["id"]: round(b["seconds"] / why["seconds"], 3) for b in why.get("bounds", [])},
            "unbounded": {u["what"]: u["why"] for u in why.get("unbounded", [])}}
    if is_disturbed(record) or why["limit"] == "unsteady":
        return row | {"verdict": "aside", "note": "the time is not known"}
    if arguments.judge == "ncu":
        true, false, how = true_by_ncu(record, profile)
    else:
        true, false, how = true_by_doubling(arguments, path, name, doubled, axes, record, profile)
    if not true and not false:
        return row | {"verdict": "aside", "note": "the judge says nothing", "how": how}
    verdict = "mixed" if said in how.get("doubtful", ()) else judged(said, true, false)
    # "Not told apart: A and B" is right where both are true.
    if why["limit"] == "close" and len(why["bounds"]) > 1 and {b["id"] for b in why["bounds"][:2]} <= true:
        verdict = "right"
    # Two that follow each other: the larger is named; where only the other is true, the sum still is.
    if verdict == "wrong" and row["with"] in true:
        verdict = "right"
    return row | {"verdict": verdict, "true": sorted(true), "how": how}


def text_of(row):
    bounds = ", ".join(f"{k} {v:.2f}" for k, v in list(row.get("bounds", {}).items())[:3])
    said = "+".join(filter(None, (row.get("said"), row.get("with")))) or row.get("limit", "-")
    return f"{row['verdict']:6} {row['kernel']:38} {said:22} true: {'/'.join(row.get('true', [])) or '-':32.32} [{bounds}] {row.get('how') or row.get('note', '')}"


def parser_of(text, out):
    """What the trials of these files are asked for."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dumps", default="trial-dumps", help="where the profile is, or will be")
    parser.add_argument("--only", action="append", default=[], help="a shell pattern of kernels; repeats")
    parser.add_argument("--max-time", type=float, default=0.2, help="seconds of sampling of a cell")
    parser.add_argument("--seconds", type=float, default=3600, help="ends then, with what there is")
    parser.add_argument("--count-budget", type=float, default=2, help="seconds of the processor in which a kernel is counted; -1: the program has no such option")
    parser.add_argument("--out", default=out)
    return parser


def read_arguments(parser):
    arguments = parser.parse_args()
    arguments.end = time.monotonic() + arguments.seconds
    arguments.cllab = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
    return arguments


def main():
    parser = parser_of(__doc__, "why-files.jsonl")
    parser.add_argument("--judge", choices=["ncu", "doubling"], help="ncu where there is one, unless said")
    parser.add_argument("--records", help="appends what `why` wrote, for trial/counts.py")
    arguments = read_arguments(parser)
    profile = profile_of(arguments)
    if not profile:
        return 2
    nvidia = "NVIDIA" in profile["device"]["platform"]
    arguments.judge = arguments.judge or ("ncu" if nvidia else "doubling")
    counts, matrix, rows = collections.Counter(), collections.Counter(), []
    with open(arguments.out, "w") as out:
        files = collections.defaultdict(dict)
        for path, name, doubled, small in kernels(arguments.only):
            files[path, small][name] = doubled
        for (path, small), names in files.items():
            if time.monotonic() > arguments.end:
                print(f"ended after {arguments.seconds:g} s", flush=True)
                break
            # All of a file at once: a GPU's driver takes longer to start than most kernels.
            axes = [small] if small and profile["device"]["type"] == "cpu" else []
            found, trouble = explained(arguments, path, names, axes)
            for name, doubled in names.items():
                if name in found:
                    row = judge(arguments, profile, path, name, doubled, axes, *found[name])
                else:
                    row = {"kernel": f"{path.stem}:{name}", "verdict": "aside", "note": trouble}
                rows.append(row)
                counts[row["verdict"]] += 1
                matrix[path.stem, row["verdict"]] += 1
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(text_of(row), flush=True)
    known = counts["right"] + counts["open"] + counts["wrong"]
    print(f"\n{len(rows)} kernels, judged by {arguments.judge}: {counts['right']} right, {counts['open']} open, {counts['wrong']} wrong; "
          f"{counts['mixed']} mixed, {counts['aside']} aside; right {100 * counts['right'] / max(1, known):.0f} %, wrong {100 * counts['wrong'] / max(1, known):.1f} %\n")
    verdicts = ("right", "open", "wrong", "mixed", "aside")
    print(f"{'file':16}" + "".join(f"{v:>8}" for v in verdicts))
    for stem in sorted({stem for stem, _ in matrix}):
        print(f"{stem:16}" + "".join(f"{matrix[stem, v] or '':>8}" for v in verdicts))
    return 2 if not known else 0 if counts["wrong"] <= MOST_WRONG * known else 1


if __name__ == "__main__":
    sys.exit(main())
