#!/usr/bin/env python3
"""Runs kernel files of public projects as a new user would, and shows their code for processors that are not here. Takes an hour; no part of the
regression.

    tests/trial/public_kernels.py ~/checkouts > table.md

FOLDER holds a checkout of each project under the name that the table of public_kernels.md gives it. That table is also the list: project, file, the
words behind the file's name, and the number of attempts that it took to find them (1: no word). They are passed to `cllab run FILE` and
`cllab isa FILE --target T`; of those only, what a compiler needs (-I, --build-options). Each row is printed with what was found:

run: kernels that ended ok, of those that were run (not those left out as something cannot be guessed); proved: of these, the ones checked by something else than themselves; a target: kernels with code, of
those of the file. `why` has the reason of the first that failed. --only takes shell patterns of PROJECT/FILE; --run and --isa do one half, and leave the
other as the table has it. CLLAB names the program, build/cllab unless set.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
TABLE = pathlib.Path(__file__).resolve().parent / "public_kernels.md"
TARGETS = ("gfx900", "gfx1100", "sm_80", "tgllp")
COLUMNS = ("project", "file", "words", "attempts", "run", "proved", *TARGETS, "why")
FOR_COMPILERS = ("-I", "--include", "--build-options", "--timeout")


def rows():
    for line in TABLE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("|") and len(cells) == len(COLUMNS) and cells[1].strip("`").endswith(".cl"):
            yield dict(zip(COLUMNS, [cell.strip("`") if i < 3 else cell for i, cell in enumerate(cells)]))


def lab(arguments, row, *args):
    waits = () if any(a.startswith("--timeout") for a in args) else ("--timeout", f"{arguments.limit:.0f}")  # a loaded machine is no fault
    command = [arguments.cllab, *args, *waits]
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=arguments.limit,
                              cwd=arguments.folder / row["project"])
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"cllab: no end within {arguments.limit} s")


def reason_of(text):
    """The sentence that says why, fit for a cell of a table."""
    return re.sub(r"\s+", " ", re.sub(r"^cllab: |(?<![\w.-])/\S*/", "", text.strip())).replace("|", "/")[:150]


def complaint(err):
    lines = [line for line in err.splitlines() if re.match(r"cllab: (?!guessed|note)|\S+ for \S+: ", line)]
    return reason_of(lines[-1] if lines else err[-300:])


def run(arguments, row):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "records.jsonl"
        done = lab(arguments, row, "run", row["file"], *shlex.split(row["words"]), "--check", "--points", "first", "--no-dumps", "--no-yardstick",
                   "--max-time", "0.05", "--device", arguments.device, "--json", str(out))
        records = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    ok = [r for r in records if r["status"] == "ok"]
    bad = [r for r in records if r["status"] != "ok"]
    row["run"] = f"{len(ok)}/{len(records)}" if records else "0"
    row["proved"] = str(sum(r.get("checked_by", "only itself") != "only itself" for r in ok))
    return f"{bad[0]['variant']}: {reason_of(bad[0]['reason'])}" if bad else "" if records else complaint(done.stderr)


def words_for_compilers(words):
    words = shlex.split(words)
    kept = [[word] if word.startswith("--") else words[i:i + 2] for i, word in enumerate(words) if word.startswith(FOR_COMPILERS)]
    return [word for pair in kept for word in pair]


def code(arguments, row, target):
    done = lab(arguments, row, "isa", row["file"], *words_for_compilers(row["words"]), "--target", target, "--summary", "--columns", "kernel,target")
    made = sum(line.endswith(f" for {target}") for line in done.stdout.splitlines())
    lines = [line for line in done.stderr.splitlines() if re.search(rf" for {target}: (build_failed|unsupported)\b", line)]
    lost = sum(line.partition(f" for {target}: ")[0].count(", ") + 1 for line in lines)
    row[target] = f"{made}/{made + lost}" if made + lost else "0"
    return "" if made and not lost else f"{target}: {reason_of(lines[0].partition(': ')[2]) if lines else complaint(done.stderr)}"


def line_of(row):
    return "| " + " | ".join(f"`{row[c]}`" if c in ("file", "words") and row[c] else row[c] for c in COLUMNS) + " |"


def share(found, column):
    """Files whose kernels all ended so, of those tried."""
    tried = [row for row in found if row[column]]
    whole = sum(len(set(row[column].split("/"))) == 1 and row[column] != "0" for row in tried)
    return f"{column} {whole} of {len(tried)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--isa", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=float, default=120, help="seconds of a command, and of what it waits for")
    arguments = parser.parse_args()
    arguments.cllab = os.environ.get("CLLAB") or str(SOURCE / "build" / "cllab")
    both = arguments.run == arguments.isa
    found = []
    for row in rows():
        if arguments.only and not any(fnmatch.fnmatch(f"{row['project']}/{row['file']}", p) for p in arguments.only):
            continue
        why = [run(arguments, row)] if both or arguments.run else []
        why += [code(arguments, row, target) for target in TARGETS] if both or arguments.isa else []
        row["why"] = "; ".join(filter(None, why))[:300]
        found.append(row)
        print(line_of(row), flush=True)
    print("; ".join(share(found, c) for c in ("run", *TARGETS)), file=sys.stderr)


if __name__ == "__main__":
    main()
