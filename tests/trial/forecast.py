#!/usr/bin/env python3
"""Tries to make a forecast of `cllab why FILE --on PROFILE.json` exceed the time that the same kernel takes. Takes minutes; no part of the regression.

    tests/trial/forecast.py --device cpu --dumps trial-dumps --out forecast.jsonl

Makes a profile of the device below --dumps unless there is one. CLLAB names the program, build/cllab unless set. The kernels are in why_files/*.cl: none
declares its work. Each is forecast by the profile, without the device, and then measured on it.

above: the sure time is more than the whole interval of the measured one. as written: the largest bound, of what the text computes, is above; a compiler may
have removed some of it, which is counted and no fault. near: the measured time is at most 1.5 times the forecast. Other work on the machine makes times
longer, and a profile worse: of measured times the shortest sample counts for `near`. aside: the kernel did not run, or there is no forecast.
Rows are written to --out as they are found. Exit status: 0 when no sure time is above, 1 when one is, 2 without a row.
"""
import collections
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from why import profile_of  # noqa: E402
from why_files import kernels, lines_of, parser_of, read_arguments  # noqa: E402

NEAR = 1.5


def rows_of(arguments, path, names, axes):
    """A row of --out for each kernel of the file."""
    words = [word for axis in axes for word in ("--axis", axis)]
    patterns = [f"{path}:{name}" for name in names]
    forecasts, said = lines_of(arguments, "why", *patterns, *words, "--on", arguments.profile, "--count-budget", arguments.count_budget, device=False)
    records, trouble = lines_of(arguments, "run", *patterns, *words, "--no-dumps", "--no-yardstick", "--max-time", arguments.max_time)
    by_id = {line["id"]: line for line in forecasts}
    for record in records:
        row = {"kernel": f"{path.stem}:{record['variant']}"}
        line = by_id.get(record["id"])
        if record.get("status") != "ok" or not record.get("time") or not line or "seconds" not in line:
            yield row | {"verdict": "aside", "note": record.get("reason") or said or trouble}
            continue
        measured, sure, written = record["time"], line["seconds"], line["seconds_as_written"]
        verdict = "above" if sure > measured["high"] else "near" if measured["min"] <= NEAR * written else "below"
        yield row | {"verdict": verdict, "sure": sure, "as_written": written, "limiters": line["limiters"],
                     "measured": {w: measured[w] for w in ("min", "median", "high")},
                     "written_above": written > measured["high"], "sure_near": measured["min"] <= NEAR * sure}


def text_of(row):
    if row["verdict"] == "aside":
        return f"aside  {row['kernel']:38} {row['note']}"
    took = row["measured"]["min"]
    return (f"{row['verdict']:6} {row['kernel']:38} {1e6 * took:10.1f} us: sure {row['sure'] / took:5.2f} of it, as written {row['as_written'] / took:5.2f} "
            f"{'(above) ' if row['written_above'] else ''}{'/'.join(row['limiters'])}")


def main():
    arguments = read_arguments(parser_of(__doc__, "forecast.jsonl"))
    profile = profile_of(arguments)
    if not profile:
        return 2
    arguments.profile = next(path for path in pathlib.Path(arguments.dumps).glob("*/profile.json") if json.loads(path.read_text()) == profile)
    files, rows = collections.defaultdict(list), []
    for path, name, _, small in kernels(arguments.only):
        files[path, small].append(name)
    with open(arguments.out, "w") as out:
        for (path, small), names in files.items():
            if time.monotonic() > arguments.end:
                print(f"ended after {arguments.seconds:g} s", flush=True)
                break
            axes = [small] if small and profile["device"]["type"] == "cpu" else []
            for row in rows_of(arguments, path, names, axes):
                rows.append(row)
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(text_of(row), flush=True)
    known = [row for row in rows if row["verdict"] != "aside"]
    if not known:
        return 2
    above, near = (sum(row["verdict"] == verdict for row in known) for verdict in ("above", "near"))
    written, sure_near = (sum(row[key] for row in known) for key in ("written_above", "sure_near"))
    print(f"\n{len(rows)} kernels, {len(known)} forecast and measured: {above} above the measured time, {written} above as written; "
          f"near as written {near}, near by the sure time {sure_near}; "
          f"median of the shares {statistics.median(row['as_written'] / row['measured']['min'] for row in known):.2f}")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
