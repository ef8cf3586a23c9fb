#!/usr/bin/env python3
"""Does `cllab isa --against` report nothing where nothing changed, and what changed where something did?

    tests/trial/code_gate.py [--out TABLE.md]

Same: 30 kernels (of cl/ and tests/kernels) for six targets, saved once and compared twice, the second time from another
folder and with nothing kept of the compilers' work. Changed: a planted spill, an unrolling lost, a `restrict` removed, each
for the same targets. Speed: 12 kernels for five targets, cold and when nothing changed, beside the page that prints them.
CLLAB names the program (build/cllab). Prints tables of Markdown; exits with 1 where a claim does not hold."""
import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
TARGETS = ["gfx900", "gfx90a", "gfx1030", "sm_80", "sm_90", "tgllp"]
FILES = ["tests/kernels/transpose.cl", "tests/kernels/conv3x3.cl", "tests/kernels/affine.cl", "tests/kernels/reduce_local.cl",
         "tests/kernels/code/packed_floats.cl"]
FAMILIES = ["pitch_*", "saxpy_*", "himeno_*", "reduce_*", "muladd_*"]

SPILL = ("""kernel void k(global float* y, global const float* x, int n) {
    float v[16];
    for (int i = 0; i < 16; ++i) v[i] = x[i * 4];
    float s = 0;
    for (int i = 0; i < 16; ++i) s += v[i] * y[i];
    y[get_global_id(0)] = s;
}
""", ("float v[16]", "float v[600]"), ("s += v[i] * y[i]", "s += v[(i * n) % 600] * y[i]"))
UNROLL = ("""kernel void k(global float* restrict y, global const float* restrict x, int n) {
    float s = 0;
    #pragma unroll 8
    for (int i = 0; i < n; ++i) s = s * x[i] + 1;
    y[get_global_id(0)] = s;
}
""", ("#pragma unroll 8", "#pragma unroll 1"))
RESTRICT = ("""kernel void k(global float* restrict y, global const float* restrict x, int n) {
    const size_t first = get_global_id(0) * n;
    for (int i = 0; i < n; ++i) y[first + i] = x[0] * i;
}
""", ("restrict ", ""))


def isa(*args, cwd, cache, status=(0,)):
    env = os.environ | {"XDG_CACHE_HOME": str(cache), "OCL_ICD_VENDORS": "/nonexistent", "COLUMNS": "100"}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    ran = subprocess.run([CLLAB, "isa", *map(str, args)], cwd=cwd, env=env, capture_output=True, text=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    if ran.returncode not in status:
        sys.exit(f"cllab isa {' '.join(map(str, args))} ended with {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return ran, wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def targets_of(names):
    return [word for name in names for word in ("--target", name)]


def changes(lines):
    return [line for line in map(json.loads, lines.splitlines()) if line["record"] == "code change"]


def same(folder):
    """Rows of the table, whether all holds."""
    first, second = folder / "first", folder / "second"
    kernels, rows, good = [], [], True
    for where in first, second:
        where.mkdir()
        for file in FILES:
            shutil.copy(SOURCE / file, where)
    groups = [[name] for name in FAMILIES] + [[pathlib.Path(file).name] for file in FILES]
    for group in groups:
        if len(kernels) >= 30:
            break
        saved = folder / f"{len(kernels)}.json"
        isa(*group, *targets_of(TARGETS), "--save", saved, cwd=first, cache=folder / "cache")
        have = {k["kernel"] for k in json.loads(saved.read_text())["kernels"] if k["status"] == "ok"}
        told = []
        for where, cache in ((first, "cache"), (second, "fresh")):
            ran, _, _ = isa(*group, "--against", saved, "--json", "-", cwd=where, cache=folder / cache, status=(0, 4, 5))
            told.append(len(changes(ran.stdout)))
        good = good and told == [0, 0]
        kernels += have
        rows.append(f"| {' '.join(group)} | {len(have)} | {told[0]} | {told[1]} |")
    rows.append(f"| all, {len(TARGETS)} targets | {len(kernels)} | | |")
    return rows, good and len(kernels) >= 30


def changed(folder):
    rows, good = [], True
    for name, (text, *edits) in {"planted spill": SPILL, "unrolling lost": UNROLL, "restrict removed": RESTRICT}.items():
        for target in TARGETS:
            (folder / "k.cl").write_text(text)
            isa("k.cl", "--target", target, "--save", "k.json", "--force", cwd=folder, cache=folder / "cache")
            now = text
            for old, new in edits:
                now = now.replace(old, new)
            (folder / "k.cl").write_text(now)
            ran, _, _ = isa("k.cl", "--against", "k.json", "--json", "-", cwd=folder, cache=folder / "cache", status=(0, 4, 5))
            found = changes(ran.stdout)
            worse = [f"{c['figure']} {c['before']} to {c['now']}" for c in found if c["verdict"] == "worse"]
            good = good and bool(found)
            rows.append(f"| {name} | {target} | {len(found)} | {'; '.join(worse) or '-'} | {ran.returncode} |")
    return rows, good


def speed(folder):
    where, names, chosen = folder / "first", TARGETS[:5], ["himeno_*"]
    cache, saved = folder / "speed", folder / "speed.json"
    isa(*chosen, *targets_of(names), "--save", saved, cwd=where, cache=folder / "other")
    count = len({k["kernel"] for k in json.loads(saved.read_text())["kernels"]})
    rows, good = [], True
    for what, args, most in (("--against, cold", ["--against", saved], 20), ("--against, nothing changed", ["--against", saved], 3),
                             ("the table, nothing changed", targets_of(names), None)):
        _, wall, cpu = isa(*chosen, *args, cwd=where, cache=cache)
        rows.append(f"| {what} | {count} x {len(names)} | {wall:.1f} | {cpu:.1f} | {most or '-'} |")
        good = good and (most is None or wall <= most)
    return rows, good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", help="also writes the tables there")
    out = parser.parse_args().out
    text, good = "", True
    with tempfile.TemporaryDirectory() as name:
        for head, part in (("| kernels | number | changes, same folder | changes, another folder, fresh cache |\n|---|---:|---:|---:|", same),
                           ("| change | target | reported | worse | exit status |\n|---|---|---:|---|---:|", changed),
                           ("| command | kernels x targets | seconds | of a processor | at most |\n|---|---|---:|---:|---:|", speed)):
            rows, holds = part(pathlib.Path(name))
            text += head + "\n" + "\n".join(rows) + "\n\n"
            print(text.split("\n\n")[-2] + "\n", flush=True)
            good = good and holds
    if out:
        pathlib.Path(out).write_text(text)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
