"""Runs OpenCL kernels on NumPy arrays with cllab: each is verified and timed.

    import cllab, numpy
    x = numpy.arange(1024, dtype=numpy.float32)
    cell = cllab.run("saxpy.cl", args={"x": x, "y": "out:1024", "a": 0.5}, global_size=1024, expect={"y": 0.5 * x})
    print(cell.seconds, cell.interval, cell.checked_by)

An array's type must be that of the kernel's argument: numpy.float32 for `global float*`. Needs NumPy and the program
`cllab`, on PATH or named by CLLAB.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy

__all__ = ["Cell", "Cells", "CllabError", "Verdict", "compare", "records", "run"]


class CllabError(Exception):
    """What cllab refused to do, in its own words; `status` is its exit status."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Cell:
    """One kernel at one point of its axes. `record` is all that cllab knows of it (tools/record.schema.json)."""

    record: dict

    @property
    def name(self):
        """The kernel's name behind that of its file: "saxpy_scale"."""
        return self.record["id"]

    @property
    def point(self):
        """The values of the axes."""
        return self.record["point"]

    @property
    def status(self):
        """"ok", "wrong_result", "build_failed" …: `cllab help statuses`."""
        return self.record["status"]

    @property
    def ok(self):
        return self.status == "ok"

    @property
    def reason(self):
        """Why it is not ok, in a sentence; else empty."""
        return self.record.get("reason", "")

    @property
    def checked_by(self):
        """What the result was compared with: "file x.npy", "reference NAME", "only itself" …"""
        return self.record.get("checked_by", "")

    @property
    def seconds(self):
        """The median time of a launch, or None where none was measured: a wrong kernel has no time."""
        return self.record["time"]["median"] if "time" in self.record else None

    @property
    def interval(self):
        """The 95 % interval of the median in seconds. None without a time, and with fewer than six samples."""
        time = self.record.get("time", {})
        return (time["low"], time["high"]) if "low" in time else None

    @property
    def samples(self):
        """Seconds a launch, sample by sample."""
        return numpy.array(self.record.get("samples", []))

    @property
    def warnings(self):
        """What makes the time less than it seems: "not-settled", "below-floor" …"""
        return self.record.get("warnings", [])

    def __repr__(self):
        time = f", {self.seconds:.3g} s" if self.seconds is not None else ""
        return f"<{self.name} {self.point or ''} {self.status}{time}{': ' + self.reason if self.reason else ''}>"


class Cells(list):
    """The cells of a run, in the order in which they were done."""

    @property
    def ok(self):
        return bool(self) and all(cell.ok for cell in self)

    def __getattr__(self, name):
        if hasattr(Cell, name):
            raise AttributeError(f"the run has {len(self)} cells; take `{name}` of one of them: [cell.{name} for cell in cells]")
        raise AttributeError(f"'Cells' has no attribute '{name}'")

    def require_ok(self):
        """Itself, or AssertionError with the reason of each cell that is not ok."""
        bad = [f"{cell.name}: {cell.status}: {cell.reason}" for cell in self if not cell.ok]
        assert self and not bad, "\n".join(bad) or "no cell was run"
        return self


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What `--vs` found of a pair; `record` is all of it."""

    record: dict
    cells: Cells

    @property
    def kind(self):
        """Of the first: "faster", "slower", "same", "same code" or "undecided"."""
        return self.record["verdict"]

    @property
    def ratio(self):
        """The first one's time over the second one's."""
        return self.record["ratio"]["ratio"]

    @property
    def interval(self):
        """The interval of that ratio which the verdict goes by."""
        return self.record["ratio"]["low"], self.record["ratio"]["high"]

    @property
    def reason(self):
        """Why there is no verdict; else empty."""
        return self.record.get("trouble", "")

    def __repr__(self):
        low, high = self.interval
        return f"<{self.record['left']} against {self.record['right']}: {self.kind}, {self.ratio:.4g} [{low:.4g}, {high:.4g}]>"


def records(path):
    """The records of a JSON lines file that cllab wrote, as dicts."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def run(source, *, kernel=None, args=None, global_size=None, local_size=None, axes=None, expect=None, tolerance=None,
        reference=None, build_options="", variants=None, device=None, verify=False, options=(), program=None):
    """Runs the kernels of `source` and returns a Cell if there is one cell, else Cells, a list of them.

    source          the file's path, or kernel text (anything with a line break or a brace)
    kernel          one of its kernels; default: all
    args            by the kernel's parameter names: an array (input data, and checked if the kernel may write it), a
                    number, a tuple (a vector's lanes), or words as in a kernel file: "out:n*n", "rand:n", "local:64";
                    what is left out is guessed, as on the command line
    global_size, local_size
                    work-items: a number, up to three of them, or expressions over axes: "n,n"
    axes            {"n": [256, 1024]}: a cell for each value; expressions may name them
    expect          {"y": array}: what must come out
    tolerance       {"absolute": x, "relative": x, "ulp": x}: how far results may differ; default: not at all
    reference       a kernel that leaves the right result: "naive", "other.cl:naive"
    variants        {"fast": "-DTILE=32"}: the kernels once more with these build options
    device          "cpu", "gpu", "0:0", part of a name; default: the first GPU, else the first CPU
    verify          proves only, measures no time
    options         more of `cllab run --help all`, e.g. ("--max-time", "0.1")

    Cells that are wrong, or do not build or launch, come back with their status. Raises CllabError if nothing ran: a
    wrong value or name, no such device, a text that does not compile so that its arguments cannot be guessed.
    """
    with tempfile.TemporaryDirectory(prefix="cllab-python-") as folder:
        files = _Files(folder)
        command = ["run", *files.patterns(source, kernel, variants)]
        command += _words(files, args, global_size, local_size, axes, expect, tolerance, build_options, variants, device)
        command += ["--reference", reference] if reference else []
        command += ["--verify"] if verify else []
        cells = Cells(Cell(r) for r in _lines(files, command + [str(word) for word in options], program) if "record" not in r)
    return cells[0] if len(cells) == 1 else cells


def compare(first, second, *, args=None, global_size=None, local_size=None, axes=None, expect=None, tolerance=None,
            build_options="", device=None, options=(), program=None):
    """Which of two kernels is faster, by `cllab run FIRST --vs SECOND`: fresh processes, each with its own order, buffer
    placement and inputs. Returns a Verdict. `first` and `second` are "file.cl:kernel"; `second` may be build options
    ("-cl-mad-enable"). The other arguments are those of `run`."""
    with tempfile.TemporaryDirectory(prefix="cllab-python-") as folder:
        files = _Files(folder)
        command = ["run", str(first), f"--vs={second}"]
        command += _words(files, args, global_size, local_size, axes, expect, tolerance, build_options, None, device)
        lines = _lines(files, command + [str(word) for word in options], program)
    verdicts = [r for r in lines if r.get("record") == "comparison"]
    cells = Cells(Cell(r) for r in lines if "record" not in r)
    if len(verdicts) != 1:
        cells.require_ok()
        raise CllabError(f"one pair was to be compared, and {len(verdicts)} were", 2)
    return Verdict(verdicts[0], cells)


class _Files:
    """The folder in which a call leaves what the program reads and writes."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def patterns(self, source, kernel, variants):
        if isinstance(source, str) and ("\n" in source or "{" in source):
            path = self.folder / "kernel.cl"
            path.write_text(source, encoding="utf-8")
        else:
            path = source
        named = [kernel, *(f"{kernel}_{variant}" for variant in variants or ())] if kernel else []
        return [f"{path}:{name}" for name in named] or [str(path)]

    def array(self, kind, name, value):
        path = self.folder / f"{kind}-{name}.npy"
        numpy.save(path, numpy.ascontiguousarray(value))
        return path


def _value(files, name, value):
    """An argument in the words of a kernel file."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ",".join(_number(name, lane) for lane in value)
    if isinstance(value, (bool, int, float, numpy.generic)):
        return _number(name, value)
    if isinstance(value, (numpy.ndarray, list)):
        return f"npy:{files.array('argument', name, value)}"
    raise TypeError(f"argument '{name}' is a {type(value).__name__}; it can be an array, a number, a tuple of numbers or a string")


def _number(name, value):
    """Exact: 0.1 as a float is 0.1, and a float32 is read back as the same float32."""
    value = value.item() if isinstance(value, numpy.generic) else value
    if isinstance(value, (bool, int)):
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    raise TypeError(f"argument '{name}' has the value {value!r}, which is no number")


def _sizes(value):
    return value if isinstance(value, str) else ",".join(str(v) for v in ([value] if isinstance(value, int) else value))


def _words(files, args, global_size, local_size, axes, expect, tolerance, build_options, variants, device):
    """The options that say all this."""
    words = []
    for name, value in (args or {}).items():
        words += ["--arg", f"{name}={_value(files, name, value)}"]
    for option, value in (("--global", global_size), ("--local", local_size)):
        words += [option, _sizes(value)] if value is not None else []
    for name, values in (axes or {}).items():
        words += ["--axis", f"{name}={values if isinstance(values, str) else _sizes(values)}"]
    for name, value in (expect or {}).items():
        words += ["--expect", f"{name}={files.array('expect', name, value)}"]
    for kind, most in (tolerance or {}).items():
        words += ["--tolerance", f"{kind}={most!r}"]
    for name, text in (variants or {}).items():
        words += ["--variant", f"{name}={text}"]
    words += [f"--build-options={build_options}"] if build_options else []
    return words + (["--device", device] if device else [])


def _program(program):
    built = pathlib.Path(__file__).resolve().parents[2] / "build" / "cllab"
    found = program or os.environ.get("CLLAB") or shutil.which("cllab") or (str(built) if built.exists() else None)
    if not found:
        raise CllabError("the program cllab is not on PATH; CLLAB=/path/to/cllab names it", 3)
    return str(found)


def _lines(files, command, program):
    """What the program wrote as JSON. Cells that are not ok are found in it; without one its sentence is raised."""
    out = files.folder / "records.jsonl"
    dumps = [] if "--dumps" in command else ["--no-dumps"]
    done = subprocess.run([_program(program), *command, *dumps, "--json", str(out)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    lines = records(out) if out.exists() else []
    if done.returncode in (0, 1) and lines:
        return lines
    said = [line for line in done.stderr.splitlines() if line.strip()]
    raise CllabError("\n".join(said) or f"cllab ended with status {done.returncode} and no word", done.returncode)
