"""Every reader on every kind of file, and every writer where it cannot write."""
import gzip
import json
import pathlib

from .case import NASTY, cases

GOOD = None  # a record; test_hostile.py sets it


def make(folder, reference):
    """The files that the table names, in `folder`; `reference` is a record of schema 1."""
    global GOOD
    GOOD = reference | {"schema": 2, "run": {"id": "0" * 32, "label": "", "seed": 1, "order": {"comparison": 1, "position": 0, "prepared": 0}, "driver_caches": {}}}
    line = json.dumps(GOOD)
    deep = 100_000
    texts = {
        "empty": "", "blank": "\n \r\n\t\n", "text": "not a record\n", "truncated": line[:500] + "\n", "cut": line[:-1], "nested": "[" * deep + "]" * deep,
        "objects": '{"a":' * deep + "1" + "}" * deep, "inside": line[:-1] + ',"x":' + "[" * deep + "]" * deep + "}\n",
        "schema": '{"schema":' + "[" * deep + "]" * deep + "}\n", "unclosed": "[" * deep, "keys": line[:-1] + "".join(f',"k{i}":0' for i in range(100_000)) + "}",
        "axes": line.replace('"point": {', '"point": {' + "".join(f'"a{i}":0,' for i in range(100_000))), "long": "x" * 1_300_000,
        "array": "[1,2]\n", "number": "7\n", "null": "null\n", "string": '"x"\n', "comment": "// x\n" + line[:9], "comma": line[:-1] + ",}\n",
        "single": line.replace('"', "'"), "nan": line.replace('"seconds": ', '"seconds": NaN, "x": ', 1), "infinity": line[:-1] + ',"x":Infinity}',
        "large": line[:-1] + ',"x":1e999}', "minus": line[:-1] + ',"x":-1e999}', "twice": line[:-1] + ',"id":"x"}', "surrogate": line[:-1] + ',"x":"\\ud800"}',
        "escape": line[:-1] + ',"x":"\\q"}', "utf16": line.encode("utf-16"), "control": line[:-1] + ',"x":"\x1b[2J"}', "two": line + line,
        "nul": line[:40] + "\0" + line[40:], "gzip": gzip.compress(line.encode()), "random": bytes(range(256)) * 40, "latin1": line[:-1].encode() + b',"x":"\xff"}',
        "png": b"\x89PNG\r\n\x1a\n" + bytes(100), "bits": b"\x80" * 5000,
    }
    for name, text in texts.items():
        (folder / f"{name}.jsonl").write_bytes(text if isinstance(text, bytes) else text.encode())
    (folder / "good.jsonl").write_text(line + "\n")
    (folder / "file").write_text("a file\n")
    (folder / "dir").mkdir()
    (folder / "dir.png").mkdir()
    (folder / "dir.cl").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "broken").symlink_to("nowhere")
    (folder / "text.png").write_text("not a picture\n")
    (folder / "empty.png").write_bytes(b"")
    (folder / "head.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "huge.pgm").write_bytes(b"P5 99999999 99999999 255\n")
    (folder / "zero.pgm").write_bytes(b"P5 0 0 255\n")
    (folder / "max.pgm").write_bytes(b"P5 1 1 99999\n1")
    (folder / "short.pgm").write_bytes(b"P5 64 64 255\n123")
    (folder / "nohead.pgm").write_bytes(b"P5")
    (folder / "minus.pgm").write_bytes(b"P5 -1 4 255\n1234")
    (folder / "bad.bmp").write_bytes(b"BM" + bytes(60))
    (folder / "bad.jpg").write_bytes(b"\xff\xd8\xff" + bytes(60))
    kernels = folder / "cl"
    kernels.mkdir()
    (kernels / "muladd.cl").mkdir()
    return sorted(texts)


def changed(**keys):
    return json.dumps(GOOD | keys)


def without(key):
    return json.dumps({k: v for k, v in GOOD.items() if k != key})


def records():
    """(a line that is no record, why)."""
    time, run, device = GOOD["time"], GOOD["run"], GOOD["device"]
    out = [(without(key), f"it has no '{key}'") for key in ("schema", "id", "family", "variant", "point", "status", "device", "run")]
    out += [(changed(run={k: v for k, v in run.items() if k != key}), f"it has no 'run.{key}'") for key in ("id", "seed", "order")]
    out += [(changed(schema=v), "schema .*; this build reads schemas 1 and 2") for v in (0, 3, -1, 99, "2", None, True, [2], 1.5, "x" * 5000)]
    for key in ("id", "family", "variant", "status", "reason", "dump", "utc"):
        out += [(changed(**{key: v}), f"'{key}' is not a string") for v in (1, None, [], {})]
    for key in ("point", "device", "metrics", "time", "build", "code", "host", "run"):
        out += [(changed(**{key: v}), f"'{key}' is not an object") for v in (1, None, [], "x")]
    out += [(changed(**{key: v}), f"'{key}' is not an array of") for key in ("samples", "aside", "warnings", "argv") for v in (1, None, {}, "x", [None], [[]])]
    out += [(changed(device=device | {"name": v}), "'device.name' is not a string") for v in (1, None)]
    out += [(changed(point={"items": v}), "'point.items' is neither") for v in (None, [], {}, True)]
    out += [(changed(status=v), "the status '.*' is unknown; expected ok, ") for v in ("fine", "OK", "", "ok ", "x" * 5000, "\x1b[2J", "\u202e")]
    out += [(changed(status=v), f"its status is {v}, but it has times") for v in ("unsupported", "build_failed", "launch_failed", "wrong_result", "timed_out")]
    out += [(changed(time=time | {"median": v}), "its time is ") for v in (0, -1, -1e-300)]
    out += [(changed(time={k: v for k, v in time.items() if k != "median"}), "it has no 'time.median'")]
    out += [(changed(time={k: v for k, v in time.items() if k != "n"}), "it has no 'time.n'")]
    out += [(changed(time=time | {key: v}), f"'time.{key}' is not ") for key in ("median", "low", "n", "clock") for v in (None, [], {}, True)]
    out += [(changed(time=time | {"n": v}), "'time.n' is ") for v in (1, time["n"] + 1, 4294967295, -1, 4294967296, 1.5)]
    out += [(changed(time=time | {"n": 0}), "it has a time, but 'time.n' is 0")]
    out += [(changed(time=time | {"low": time["median"] * 2}), "excludes its median"), (changed(time=time | {"high": 0}), "excludes its median"),
            (changed(time=time | {"low": -1}), "'time.low' is -1"), (changed(time=time | {"min": time["median"] * 2}), "is above its median"),
            (changed(time=time | {"min": -1}), "'time.min' is -1"), (changed(time=time | {"mad": -1}), "'time.mad' is -1"),
            (changed(time=time | {"q1": 1}), "quartiles"), (changed(time=time | {"q3": 0}), "quartiles")]
    out += [(changed(samples=[]), "and it has 0 samples"), (changed(samples=[1.0] * time["n"]), "is outside its samples"), (without("time"), "it has samples and no time")]
    metric = {"value": -1, "unit": "B/s", "better": "higher"}
    out += [(changed(metrics={name: metric}), f"its {name} is -1") for name in ("bandwidth", "flops", "of_copy", "upload", "download")]
    out += [(changed(metrics={"bandwidth": v}), "'metrics.bandwidth") for v in (1, {}, {"value": None}, {"value": 1, "better": "best"})]
    out += [(changed(code=GOOD["code"] | {"registers": v}), "'code.registers' is not a whole number") for v in (1.5, "1", None)]
    out += [(changed(run=run | {"seed": v}), "'run.seed' is not a whole number") for v in (-1, 1.5, "1", 18446744073709551616)]
    out += [(changed(run=run | {"order": {}}), "it has no 'run.order.comparison'"), (changed(run=run | {"driver_caches": {"A": 1}}), "'run.driver_caches.A' is not a string")]
    return out


def table(bad_records):
    out = []
    none = r"^cllab: no records found in '.*'; expected a FILE that `cllab run --json` wrote$"
    several = ("comment", "gzip", "png", "random")  # lines that are none
    out += cases(2, none, *[["report", f"{name}.jsonl"] for name in bad_records if name not in ("empty", "blank", *several)], lines=2)
    out += cases(2, none, *[["report", f"{name}.jsonl"] for name in several], lines=0)
    out += cases(2, none, ["report", "empty.jsonl"], ["report", "blank.jsonl"])
    out += cases(2, "^cllab: no file can be read$", *[["report", f] for f in ["absent", "dir", "loop", "broken", "file/below", "/proc/self/mem", "/dev/null", "/dev/zero", *NASTY]], lines=2)
    out += cases(2, "no records found in 2 files; ", ["report", "empty.jsonl", "absent"], lines=2)
    out += cases(2, r"'\./good\.jsonl'", ["report", "good.jsonl", "--csv", "./good.jsonl"])

    # Pictures are read before a device is asked for.
    picture = ["run", "pitch_wide", "--no-dumps", "--axis", "width=64", "--axis", "height=4"]
    out += cases(2, "^cllab: input file '", *[[*picture, "--input", f"src={f}"] for f in
                 ["absent.png", "dir", "loop", "broken", "file/below", "text.png", "empty.png", "head.png", "dir.png", "huge.pgm", "zero.pgm", "max.pgm",
                  "short.pgm", "nohead.pgm", "minus.pgm", "bad.bmp", "bad.jpg", "/dev/null", "/proc/self/mem", "random.jsonl", "gzip.jsonl", *[n for n in NASTY if isinstance(n, str)]]])
    out += cases(2, "takes an input file '.*'; possible inputs: src$", *[[*picture, "--input", f"{name}=text.png"] for name in ["nosuch", "SRC", "dst", *[n for n in NASTY if isinstance(n, str)]]])
    out += cases(2, r"needs one cell \(one variant at one point\), found ", ["run", "pitch_*", "--no-dumps", "--output", "dst=map.png"], ["run", "pitch_wide", "--no-dumps", "--axis", "width=64,128", "--output", "dst=map.png"])
    out += cases(2, r"\.png or \.pgm", *[[*picture, "--output", f"dst={f}"] for f in ["map.gif", "map", "map.PNG.x", "png"]])

    # Kernel text for a target that needs no device.
    for where in ("absent", "file", "dir", "loop", "cl", *NASTY):
        out += cases(2, "^cllab: kernel file '.*muladd.cl' .*cannot be read: ", ["isa", "muladd_fma", "--target", "gfx900", "--cl-dir", where])

    # Where nothing can be written.
    unwritable = ["absent/r", "dir", "file/below", "loop", "x" * 300, "dir/"]
    out += cases(3, r"^cllab: file '.*' \(--json\) cannot be written: ", *[["run", "muladd_fma", "--no-dumps", "--json", f] for f in unwritable])
    out += cases(3, r"^cllab: file '.*' \(--csv\) cannot be written: ", *[["run", "muladd_fma", "--no-dumps", "--csv", f] for f in unwritable])
    out += cases(3, r"^cllab: file '.*' \(--csv\) cannot be written: ", *[["report", "good.jsonl", "--csv", f] for f in unwritable])
    out += cases(3, "^cllab: dumps folder '.*, or --no-dumps$", *[["run", "muladd_fma", "--dumps", f] for f in ("file", "file/below", "/proc/r", "x" * 300, "loop")])
    return out
