#!/usr/bin/env python3
"""How long `cllab run FILE.cl --watch` takes from a save to what it prints of it. Takes minutes on a quiet machine; no part of the regression.

    tests/trial/watch.py [--saves 10] [--pause 6] [--device cpu] [FILE.cl...]

CLLAB names the program, build/cllab unless set. Files: those named, or the kernels of tests/kernels whose first kernel is the only one.

Each save changes the machine code and not the result: the first kernel begins with `if (get_global_id(0) == K) return;`, with a K of its
own. No two saves have the same text, and the cache of compiled kernels starts empty, so nothing that was compiled before helps. From the second
save on both sides do equal work by different code: whoever is named faster there is a false winner, and there may be one in a hundred.
`--pause` seconds pass between what is printed of one save and the next one: the time of an editor.

For each file one line: the median and the largest of the seconds from the save to the first row of the table, to the verdict, and to the
end of what is printed, the processor time of the program and its children from the save to that end, which a busy machine changes
less, how many saves had which verdict, and how many winners were false. The machine's load over the last minute stands beside them. Exit
status 1: so many false winners come less than once in a thousand trials where one comparison in a hundred has one.
"""
import argparse
import collections
import math
import os
import pathlib
import queue
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", str(SOURCE / "build" / "cllab"))


def changed(text, number):
    """The text with another first statement in its first kernel."""
    at = text.index("{", re.search(r"^\s*(__)?kernel\b", text, re.M).end()) + 1
    return text[:at] + f" if (get_global_id(0) == {4000000000 + number}u) return; " + text[at:]


class Watching:
    def __init__(self, path, device, folder):
        process_lines = self.lines = queue.Queue()
        self.process = subprocess.Popen([CLLAB, "run", path, "--watch", "--device", device, "--dumps", folder / "dumps"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=os.environ | {"POCL_CACHE_DIR": str(folder / "cache"), "LC_ALL": "C.UTF-8"})
        threading.Thread(target=lambda: [process_lines.put((time.monotonic(), line)) for line in self.process.stdout], daemon=True).start()

    def until(self, part):
        """What is printed up to a line with `part`: (time, line) each."""
        seen = []
        while not seen or part not in seen[-1][1]:
            seen.append(self.lines.get(timeout=120))
        return seen

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def processor_seconds(pid):
    """Of the process and its children, those that ended included."""
    ticks = 0
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if str(pid) in (stat.parent.name, fields[1]):
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def as_many(events, of, chance):
    """How probable so many events or more are."""
    return sum(math.comb(of, k) * chance**k * (1 - chance) ** (of - k) for k in range(events, of + 1))


def verdict_of(line):
    return next((word for word in ("undecided", "the same within", "same code", "no verdict", "is faster") if word in line), line.strip())


def one_file(source, arguments, folder):
    text = source.read_text()
    path = folder / source.name
    path.write_text(text)
    watching = Watching(path, arguments.device, folder)
    waiting = "cllab: watching "
    watching.until(waiting)
    rows, verdicts, ends, processor, said, false = [], [], [], [], collections.Counter(), 0
    for number in range(arguments.saves):
        time.sleep(arguments.pause)
        before = processor_seconds(watching.process.pid)
        path.write_text(changed(text, number))
        saved = time.monotonic()
        printed = watching.until(waiting)
        row = next((at for at, line in printed if re.search(r"\b(ok|wrong_result|build_failed)\b", line)), None)
        verdict = next(((at, line) for at, line in printed if " against " in line), None)
        if row is None or verdict is None:
            raise SystemExit(f"watch.py: no row or no verdict for {source.name}:\n" + "".join(line for _, line in printed))
        rows.append(row - saved)
        verdicts.append(verdict[0] - saved)
        ends.append(printed[-1][0] - saved)
        processor.append(processor_seconds(watching.process.pid) - before)
        said[verdict_of(verdict[1])] += 1
        if number > 0 and "is faster" in verdict[1]:
            false += 1
            print(f"  false winner: {verdict[1].strip()}", flush=True)
    watching.end()
    figures = "  ".join(f"{name} {statistics.median(of):.2f} (most {max(of):.2f})" for name, of in (("row", rows), ("verdict", verdicts), ("end", ends), ("processor", processor)))
    print(f"{source.name:<18} {figures}  {dict(said)}  false winners {false}  load {os.getloadavg()[0]:.1f}", flush=True)
    return false, arguments.saves - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saves", type=int, default=10)
    parser.add_argument("--pause", type=float, default=6)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    files = arguments.files or [SOURCE / "tests" / "kernels" / name for name in ("affine.cl", "conv3x3.cl", "soften.cl")]
    print("seconds from the save, median of", arguments.saves)
    false = comparisons = 0
    for source in files:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="cllab-watch-"))
        try:
            found = one_file(source, arguments, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        false, comparisons = false + found[0], comparisons + found[1]
    print(f"{false} false winners in {comparisons} comparisons of equal work")
    sys.exit(1 if as_many(false, comparisons, 0.01) < 0.001 else 0)


if __name__ == "__main__":
    main()
