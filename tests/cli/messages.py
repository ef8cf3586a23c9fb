"""The error messages of the program, as its source has them: golden/cli/errors.txt. A message says the thing, the value found, the
value expected, and the next step. Its patterns: "file 'X' cannot be read: REASON"; "option '--x': expected A or B, found 'C'"; "THING takes Y;
found 'Z'"; "--a cannot be combined with --b"; "--a needs --b"; "--a applies to kernel files only"; "...; use --c"."""
import re

TOKEN = re.compile(r'R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|//[^\n]*|"(?P<text>(?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'|(?P<blank>\s+)|[\w.:]+|.', re.S)
# Functions that throw the message they are given.
THROWERS = {"refuse", "refuse_here", "refuse_format", "cannot_write", "unusable", "no_match", "no_profile", "fail", "damaged", "too_many", "nothing_matched", "refuse_patterns", "need_pattern"}
OUTCOME = {"usage": "2", "environment": "3", "result": "1"}


def tokens(text):
    """(kind, text) of C++ text without blanks and comments; the kind is "text" for a string literal."""
    for token in TOKEN.finditer(text):
        if token["text"] is not None:
            yield "text", token["text"].replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
        elif token["raw"] is not None:
            yield "text", token["raw"]
        elif token["blank"] is None and not token[0].startswith("//"):
            yield "code", token[0]


def arguments(rest):
    """The tokens up to the bracket that closes the first one of `rest`."""
    depth, out = 0, []
    for kind, text in rest:
        if kind == "code" and text in "([{":
            depth += 1
            if depth == 1:
                continue
        elif kind == "code" and text in ")]}":
            depth -= 1
            if depth == 0:
                break
        out.append((kind, text))
    return out


def sentence(parts):
    """The literals of a message, with … for what is known only at run time."""
    out, between = "", []
    for kind, text in [*parts, ("text", "")]:
        if kind == "code" or text in (", ", "; "):  # what joins a list
            between.append(text if kind == "code" else "…")
            continue
        joined = set(between) <= {"+", ",", "(", ")", "concat", "std::string"}
        out += ("" if joined else " / " if between == [":"] else "…") + text
        between = []
    return re.sub(r"…+", "…", " ".join(out.split()))


def messages(text):
    """(outcome, message) of each place of C++ text that throws one; the outcome is an exit status, or a cell's status."""
    found = list(tokens(text))
    for i, (kind, name) in enumerate(found[:-2]):
        before = found[i - 1][1] if i else ""
        is_thrower = name.split("::")[-1] in THROWERS and before not in ("void", ".", "->")
        if kind != "code" or found[i + 1][1] not in ("(", "{") or not (before == "throw" or is_thrower):
            continue
        parts = arguments(found[i + 1:])
        blame = next((OUTCOME[t.split("::")[-1]] for k, t in parts if k == "code" and t.startswith("Blame::")), None)
        said = sentence([part for part in parts if not part[1].startswith("Blame::")])
        if re.search(r"[a-z]{3} ", said):
            yield blame or ("unsupported" if name == "Unsupported" else "-"), said


def listing(folder):
    """All messages by file."""
    out = ""
    for path in sorted(folder.rglob("*.?pp")):
        lines = sorted(set(messages(path.read_text())), key=lambda one: one[1].lower())
        if lines:
            out += f"\n{path.relative_to(folder)}\n" + "".join(f"  {outcome:<11}  {said}\n" for outcome, said in lines)
    return "The errors that host/ throws, by file: exit status or status of the cell, and message; …: known at run time.\n" + out
