"""One hostile case: a command line that must end with one status and one sentence, and leave everything as it was."""
import dataclasses
import re
import subprocess


@dataclasses.dataclass(frozen=True)
class Case:
    args: tuple                 # of text or bytes, after the program's name
    status: int
    says: str                   # a regular expression that the last line on stderr must match
    lines: int = 1              # on stderr; a reader that leaves lines out says which before it says that none is left. 0: any
    device: bool = False        # PoCL is there; else no driver is, so that a case that gets so far ends with 3
    owner: str = ""             # of a case that is not kept yet: the change that will keep it

    def __str__(self):
        shown = " ".join(ascii(a) if isinstance(a, bytes) else repr(a) for a in self.args)
        return f"cllab {shown if len(shown) < 200 else shown[:200] + '…'}"


def cases(status, says, *lines, **more):
    """One case for each of `lines`, a list of arguments."""
    return [Case(tuple(line), status, says, **more) for line in lines]


# What a name may hold: a terminal's sequences in C0 and C1, a direction mark, a line's end, no UTF-8, and a lot of it.
NASTY = ["\x1b[2J\x07", "a\r\nb", "\u202egnp", b"\xff\xfe", b"\xc2\x9b31m", "x" * 5000, "it's " * 1000, "%s%n", "$(id)"]


@dataclasses.dataclass(frozen=True)
class Option:
    name: str       # "--axis"
    short: str      # "-a" or ""
    value: str      # "NAME=VALUES", "[BY]" or "[FILE]" for one that may be left out, or ""
    repeats: bool
    of_file: bool   # says something of a kernel file, and so is refused where there is none
    about: str      # as the page says it


def options_of(program, command):
    """The options that the program's own help page names: a new one is in the table without anybody's doing."""
    page = subprocess.run([program, command, "--help", "all"], capture_output=True, text=True, check=True).stdout
    out = []
    # "  -a, --axis NAME=VALUES  Sets an axis …" or "  --isolate               Runs each …", and lines that go on.
    for head, text in re.findall(r"^  (-\S.*?(?: (?:\[?[A-Z][A-Z=,\[\]]*|bytes=N flops=N))?(?: \(=\S+\))?)(?: {2,}|\n {8,})((?:[A-Z].*\n?)(?:  {8,}.*\n?)*)", page, re.M):
        name = re.search(r"--[a-z0-9-]+", head)[0]
        short = re.match(r"(-\w),", head)
        value = re.search(r"--[a-z0-9-]+ (\[?[A-Z][A-Z=,\[\]]*|bytes=N flops=N)", head)
        out.append(Option(name, short[1] if short else "", value[1] if value else "", re.search(r"Repeats[.;]", text) is not None or (value is not None and value[1].startswith(("NAME=", "D")) and value[1] != "DIR"),
                          text.startswith("Kernel files: ") and name not in ("--check", "--replay"), " ".join(text.split())))
    return out


def distinct_options(program, commands):
    """command -> its options but those of commands before it: what has the same name, value and text is one row of the program's tables, read by the
    same code. That each command reads each of its options is a unit test (option_groups_test)."""
    seen, out = set(), {}
    for command in commands:
        out[command] = [option for option in options_of(program, command) if (option.name, option.value, option.about) not in seen]
        seen |= {(option.name, option.value, option.about) for option in out[command]}
    return out
