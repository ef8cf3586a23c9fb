"""Commands, patterns, axes and targets that are not: all of it is refused before any driver is asked."""
from .case import NASTY, cases

BAD_PATTERNS = ["nosuch", "nosuch_*", "*_nosuch", "[", "MULADD", "muladd_fma ", "muladd/fma", "../muladd", "muladd_fmaa", "muladd,pitch", "-", "0"]
BAD_WHOLE = ["0", "-1", "1.5", "four", "1:", "1::", "1:2", "1:2:3", "1:2:*1", "1:2:*0", "1:2:+0", "1:2:*-2", "2:1:*2", "1:2:/2", "1,,2", ",", "1,",
             ",1", "9" * 400, "nan", "inf", "0x10", "1;2", "1..2", "*", "1Xi", "1:2:*nan", "1:2:+inf", "auto"]
BAD_SHAPE = ["0x0", "64y4", "x", "64x", "x4", "1x-1", "1x1x1x1", "64x4.5", "nan", "9999999999999999999999x1"]


def table():
    out = []
    for command in ("run", "dump", "tune", "isa", "list"):
        out += cases(2, "^cllab: (no kernel matches '|file '.*' not found)", *[[command, p] for p in BAD_PATTERNS + NASTY])
    out += cases(2, "^cllab: unknown family or variant '", *[["describe", p] for p in BAD_PATTERNS + NASTY])
    out += cases(2, "takes one FAMILY or VARIANT; found ", ["describe"], ["describe", "muladd", "pitch"])
    out += cases(2, "^cllab: (no kernel matches|unknown command or kernel) '", *[[word] for word in ["dance", "RUN", "runs", "devices ", *NASTY]])
    out += cases(2, "^cllab: unknown command or topic '", *[["help", word] for word in ["dance", *NASTY]])
    out += cases(2, "needs a PATTERN", ["run"], ["dump"], ["tune"], ["isa"], ["--verify"], ["run", "--no-dumps"])
    out += cases(2, "needs a FILE", ["report"], ["report", "--csv", "new.csv"])
    out += cases(2, "takes no argument; found '", *[["devices", word] for word in ["cpu", *NASTY]])
    out += cases(2, "takes no PATTERN; found '", *[["profile", word] for word in ["fma", *NASTY]])
    for command in ("run", "dump", "tune", "isa"):
        family = "himeno_wide" if command == "tune" else "muladd_fma"
        axis = "size" if command == "tune" else "items"
        out += cases(2, "axis", *[[command, family, "--axis", f"{name}={value}"] for name, value in
                                  [("nosuch", "1"), (axis.upper(), "1"), (axis + " ", "1"), (" " + axis, "1"), ("\x1b[2J", "1"), ("x" * 5000, "1")]])
    out += cases(2, "axis 'items'", *[["run", "muladd_fma", "--axis", f"items={value}"] for value in [*BAD_WHOLE, *[n for n in NASTY if isinstance(n, str)]]])
    out += cases(2, "axis 'local'", *[["run", "pitch_wide", "--axis", f"local={value}"] for value in BAD_SHAPE])
    out += cases(2, "axis 'weights'", *[["run", "pitch_wide", "--axis", f"weights={value}"] for value in ["cubic", "LINEAR", "0", "\u202ex"]])
    out += cases(2, "^cllab: unknown target '", *[["isa", "muladd_fma", "--target", t] for t in ["nosuch", "gfx", "gfx9000", "sm_", "sm_999", "gfx900 ", "../gfx900", "GFX900", *NASTY]])
    out += cases(2, "--target or --device, not both", ["isa", "muladd_fma", "--target", "gfx900", "--device", "cpu"])
    out += cases(2, "'--cache': expected hot, cold or rotate, found '", *[["run", "muladd_fma", "--cache", c] for c in ["warm", "HOT", "hot ", *NASTY]])
    out += cases(2, "--vs compares one variant", ["isa", "--target", "gfx900", "pitch_*", "--vs", "pitch_wide"])
    for command, refusal in ((["run"], "--vs must match exactly one variant"), (["isa", "--target", "gfx900"], "--vs compares one variant")):
        out += cases(2, refusal, [*command, "pitch_wide", "--vs", "pitch_*"])
        out += cases(2, "no kernel matches '", *[[*command, "pitch_wide", "--vs", p] for p in ["nosuch", *NASTY]])
    out += cases(2, "PATTERN matches 'pitch_wide', --vs matches 'pitch_wide'", ["run", "pitch_wide", "--vs", "pitch_wide"])
    out += cases(2, "no axis that|no launch parameter", ["tune", "muladd_fma"])
    # No device is like that; with PoCL there, its name is in the sentence.
    out += cases(3, "^cllab: no device matches '.*; there is 1: 0:0 '", *[["run", "muladd_fma", "--verify", "--no-dumps", "--device", d]
                 for d in ["nosuch", "7", "7:0", "0:7", "0:0:0", ":", "0:", "-1", "99999999999999999999:0", "gpu", *NASTY]], device=True)
    out += cases(3, "no OpenCL platform is registered", ["run", "muladd_fma", "--no-dumps"], ["dump", "muladd_fma", "--no-dumps"], ["isa", "muladd_fma"],
                 ["tune", "himeno_wide"], ["profile", "--no-dumps"], ["run", "muladd_fma", "--no-dumps", "--isolate"],
                 ["run", "muladd_fma", "--no-dumps", "--device", "all"], ["devices"], ["devices", "--json"])
    return out
