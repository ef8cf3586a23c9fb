"""Every option: without its value, with one it does not take, misspelt, and numbers that are none."""
from .case import NASTY, cases, distinct_options, options_of

# What makes the rest of the line right, so that the option is what is wrong.
COMMANDS = {"run": ["muladd_fma"], "dump": ["muladd_fma"], "tune": ["himeno_wide"], "isa": ["muladd_fma"], "profile": [], "behaviour": [], "devices": [],
            "list": [], "describe": ["muladd"], "report": ["good.jsonl"], "why": ["muladd_fma"], "count": ["muladd_fma"], "ncu": ["muladd_fma"]}
BAD_SECONDS = ["0", "-1", "-0", "nan", "inf", "-inf", "1e7", "1e999", "soon", "5s", "0x10", " 5", "5 ", "1,5", "1_000", "++1", *NASTY]
MAY_BE_0 = {"why": ["--hot", "--count-budget"]}
BAD_COUNT = ["1.5", "1e3", "99999999999999999999", "0x10", "five", " 5", "5 ", "5s", *NASTY]


def table(program):
    out = []
    distinct = distinct_options(program, COMMANDS)
    for command, rest in COMMANDS.items():
        known = options_of(program, command)
        line = [command, *rest]
        names = {o.name for o in known}
        out += cases(2, "is unknown to `cllab " + command + "`", *[[*line, wrong] for wrong in
                     ["--nosuch", "-Z", "--HELP", "--nosuch=1", *["--" + n for n in NASTY if isinstance(n, str) and "=" not in n]]])
        for option in distinct[command]:
            prefix, longer = option.name[:-1], option.name + "s"
            out += cases(2, "is unknown to `cllab " + command + "`", *[[*line, wrong] for wrong in (prefix, longer) if wrong not in names])
            if option.value == "[FILE]":
                pass  # any word is a file's name
            elif option.value.startswith("["):
                out += cases(2, f"option '{option.name}': expected ", *[[*line, f"{option.name}={v}"] for v in ("yes", "0")])
            elif option.value:
                out += cases(2, f"'{option.name}'.* is missing", [*line, option.name])
                out += cases(2, f"'{option.name}' needs a value; found '--help'", [*line, option.name, "--help"])
                if option.short:
                    out += cases(2, f"'{option.name}'.* is missing", [*line, option.short])
            else:
                out += cases(2, f"'{option.name}' does not take any arg", *[[*line, f"{option.name}={v}"] for v in ("yes", "0")])
            if option.value == "SECONDS":
                out += cases(2, option.name, *[[*line, option.name, value] for value in BAD_SECONDS if option.name not in MAY_BE_0.get(command, ["--hot"]) or value not in ("0", "-0")])
            if option.value == "N":
                out += cases(2, option.name, *[[*line, option.name, value] for value in BAD_COUNT])
            if option.value.startswith("NAME="):
                out += cases(2, f"'{option.name}' applies to kernel files only" if option.of_file else f"'{option.name}': expected NAME=VALUE, found '", *[[*line, option.name, v] for v in ("=", "x", "=x", "x=", *[n for n in NASTY if b"=" not in (n if isinstance(n, bytes) else n.encode())])])
    out += cases(2, "'--label': expected at most 200 bytes, found ", *[[c, *COMMANDS[c], "--label", "x" * n] for c in ("run", "dump", "tune") for n in (201, 5000)])
    return out
