#!/usr/bin/env python3
"""Tries to make the time of kernels that work in place false. Takes minutes; no part of the regression.

    tests/trial/in_place.py [--device cpu] [--rounds 5] [--factors 1 1.1 2 500]

Each kernel takes a number of trips for an element that is raw, another for one that it has processed already, and marks it as processed. Beside
each stands a twin that takes the first number for all elements, and so has the time that the kernel must have on the data that goes in. They
run apart, so that neither is treated as the other is, with caches hot and cold.

A row of a factor above 1.05 is false where it lies outside of 0.85 to 1.15 times its twin. A row of factor 1 is false likewise, and odd where
the data was put back. Exit status: 0 when no row is false and at most one of ten of factor 1 is odd, 1 when not.
CLLAB names the program, build/cllab unless set.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))
NEAR = 0.15


def kernel(raw, processed):
    return f"""__kernel void k(__global uint* x, int never) {{
    const int i = get_global_id(0);
    const uint old = x[i];
    const int trips = old == 0 ? {raw} : {processed};
    uint v = old + 1;
    for (int t = 0; t < trips; ++t) {{ v ^= v << 13; v ^= v >> 17; v ^= v << 5; }}
    x[i] = never ? v : 1;
}}
"""


def run(folder, text, device, cache, items):
    (folder / "k.cl").write_text(text)
    command = [CLLAB, "run", "k.cl", "--device", device, "--no-dumps", "--no-yardstick", "--json", "r.jsonl", "--force", "--cache", cache,
               "--arg", f"x=zero:{items}", "--arg", "never=0", "--global", str(items)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    records = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()] if (folder / "r.jsonl").exists() else []
    if not records or records[0]["status"] != "ok":
        reason = records[0]["reason"] if records else done.stderr
        return None, False, reason.strip()
    return records[0]["time"]["median"], any(w.startswith("fresh-data:") for w in records[0]["warnings"]), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--factors", type=float, nargs="+", default=[1, 1.1, 2, 500])
    parser.add_argument("--items", type=int, default=16384)
    asked = parser.parse_args()
    false = odd = same = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for number in range(asked.rounds):
            for factor in asked.factors:
                processed = 40 if factor > 10 else 2000
                raw = round(factor * processed)
                for cache in ("hot", "cold"):
                    time, put_back, why = run(folder, kernel(raw, processed), asked.device, cache, asked.items)
                    twin, _, also = run(folder, kernel(raw, raw), asked.device, cache, asked.items)
                    if time is None or twin is None:
                        print(f"{number} x{factor:g} {cache}: {why or also}")
                        false += 1
                        continue
                    ratio = time / twin
                    wrong = abs(ratio - 1) > NEAR
                    false += wrong
                    if factor == 1:
                        same, odd = same + 1, odd + put_back
                    print(f"{number} x{factor:g} {cache}: {time:.4g} s, {ratio:.3f} of its twin, {'put back' if put_back else 'in rows'}"
                          f"{', FALSE' if wrong else ''}", flush=True)
    print(f"{false} false; of factor 1 the data was put back in {odd} of {same}")
    return 0 if not false and odd <= max(1, same // 10) else 1


if __name__ == "__main__":
    sys.exit(main())
