"""Cases that another change keeps. `test_hostile.py --pending OWNER…` runs those of the owners named; when a change is in, its
cases move to the table they belong to."""
from .case import Case, cases, distinct_options
from .options import COMMANDS


def table(program):
    out = []

    def add(owner, status, says, *lines, **more):
        out.extend(Case(c.args, c.status, c.says, c.lines, c.device, owner) for c in cases(status, says, *lines, **more))

    # An empty text for an option, and for an argument.
    for command, options in distinct_options(program, COMMANDS).items():
        for option in options:
            if not option.value:
                continue
            line = [command, *COMMANDS[command], option.name]
            add("files", 2, option.name, [*line, ""], [*line[:-1], f"{option.name}="])
            if not option.repeats:
                value = {"SECONDS": "1", "N": "1", "STATE": "hot", "T": "gfx900"}.get(option.value, "new")
                add("files", 2, option.name, [*line, value, option.name, value])
    add("files", 2, "", [""], ["run", ""], ["list", ""], ["describe", ""], ["report", ""], ["help", ""])
    add("files", 2, "--seed", *[[c, *COMMANDS[c], "--seed", "-1"] for c in ("run", "dump", "tune", "profile")])
    add("files", 2, "1000000", ["run", "muladd_fma", "--timeout", "1000000.0000001"])

    # `--` ends the options.
    add("files", 2, "no kernel matches '--json'", ["run", "--no-dumps", "--", "--json"], ["list", "--", "--json"])
    add("files", 2, "^cllab: no file can be read$", ["report", "--", "--json"], lines=2)

    # What is read is not written, two outputs are not one file, and what is there is kept.
    add("files", 2, "good.jsonl", ["report", "good.jsonl", "--csv", "good.jsonl"],
        ["run", "muladd_fma", "--no-dumps", "--json", "good.jsonl"], ["run", "muladd_fma", "--no-dumps", "--csv", "good.jsonl"])
    add("files", 2, "", ["run", "muladd_fma", "--no-dumps", "--json", "new", "--csv", "new"], ["run", "muladd_fma", "--no-dumps", "--json", "-", "--csv", "-"],
        ["run", "muladd_fma", "--no-dumps", "--json", "new", "--csv", "./new"], ["run", "muladd_fma", "--no-dumps", "--json", "new", "--csv", "dir/../new"])
    add("files", 2, "--force", ["run", "muladd_fma", "--no-dumps", "--json", "file"], ["tune", "himeno_wide", "--json", "file"], ["report", "good.jsonl", "--csv", "file"])

    # A disk that is full.
    add("files", 3, "/dev/full", ["report", "good.jsonl", "--csv", "/dev/full"])

    # An axis given twice, and more points than a plan holds.
    for command in ("run", "dump", "tune", "isa"):
        add("points", 2, "axis", [command, COMMANDS[command][0], "--axis", "size=1" if command == "tune" else "items=1", "--axis", "size=2" if command == "tune" else "items=2"])
    add("points", 2, "", ["run", "muladd_fma", "--no-dumps", "--axis", "items=1:268435456:+1"],
        ["run", "pitch_wide", "--no-dumps", "--axis", "width=64:64000:+64", "--axis", "height=1:1000:+1"],
        ["run", "muladd_fma", "--no-dumps", *[word for i in range(20_000) for word in ("--axis", f"a{i}=1")]])
    return out
