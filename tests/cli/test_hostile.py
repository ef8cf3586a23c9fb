"""The table of hostile command lines and files, below tests/cli/hostile: each ends with its status and one sentence, prints
nothing else, and leaves every file as it was. `--pending OWNER…` adds the cases that a change of that owner will keep."""
import concurrent.futures
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from hostile import files, options, pending, words
from lab import CLLAB, POCL_ICD, SOURCE, LabTest

OWNERS = sys.argv[sys.argv.index("--pending") + 1:] if "--pending" in sys.argv else []
WORKERS = 2
MOST_CHARACTERS = 400
RAW = re.compile(r"std::|basic_|bad_alloc|boost|nlohmann|exception|_M_|vector::|what\(\)|terminate called|lexical|[^ ]*::[^ ]*\(|Assertion|core dumped|Sanitizer|runtime error")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def state_of(folder):
    """Every file below the folder: its kind, size and when its content changed."""
    out = {}
    for path in sorted(folder.rglob("*")):
        seen = path.lstat()
        out[str(path.relative_to(folder))] = (seen.st_mode, seen.st_size, seen.st_mtime_ns)
    return out


def what_is_wrong(case, folder, environment):
    before = state_of(folder)
    try:
        ended = subprocess.run([CLLAB, *case.args], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "it does not end"
    out, err = ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")
    lines = err.splitlines() if err.endswith("\n") else ["(no line)"]
    if ended.returncode != case.status:
        return f"status {ended.returncode}, not {case.status}"
    if out:
        return f"something on stdout: {out[:200]!r}"
    if case.lines not in (0, len(lines)) or not all(line.startswith("cllab: ") for line in lines):
        return f"{len(lines)} lines on stderr, not {case.lines} that begin with `cllab: `"
    if any(len(line) > MOST_CHARACTERS for line in lines):
        return f"a sentence of {max(map(len, lines))} characters"
    if CONTROL.search(err) or "\ufffd" in err:
        return f"a control character, or what is not UTF-8: {err!r}"
    if RAW.search(err):
        return f"raw words of the machine: {RAW.search(err)[0]!r}"
    if not re.search(case.says, lines[-1]):
        return f"not the sentence {case.says!r}"
    if state_of(folder) != before:
        return f"files changed: {set(state_of(folder).items()) ^ set(before.items())}"
    return None


class Hostile(LabTest):
    def setUp(self):
        super().setUp()
        reference = json.loads((SOURCE / "dumps/reference/PoCL-x86/muladd_fma/timing.json").read_text())
        self.folders = queue.Queue()
        (self.folder / "vendors").mkdir()
        for i in range(WORKERS):
            folder = self.folder / str(i)
            folder.mkdir()
            self.bad_records = files.make(folder, reference)
            self.folders.put(folder)

    def run_cases(self, table):
        environments = {False: self.environment(OCL_ICD_VENDORS=str(self.folder / "vendors")), True: self.environment(OCL_ICD_VENDORS=str(POCL_ICD))}

        def judge(case):
            folder = self.folders.get()
            try:
                return what_is_wrong(case, folder, environments[case.device])
            finally:
                self.folders.put(folder)

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            wrong = [f"{case}\n    {why}" for case, why in zip(table, pool.map(judge, table)) if why]
        if wrong:
            self.fail(f"{len(wrong)} of {len(table)} cases:\n" + "\n".join(wrong[:60]))

    def test_each_case_of_the_table_ends_with_its_status_and_sentence(self):
        table = words.table() + options.table(CLLAB) + files.table(self.bad_records)
        table += [case for case in pending.table(CLLAB) if case.owner in OWNERS]
        self.assertGreater(len(table), 600)
        self.run_cases(table)

    def test_each_invalid_record_is_reported_with_file_line_and_reason(self):
        folder = self.folders.get()
        lines = files.records()
        self.assertGreater(len(lines), 150)
        good = (folder / "good.jsonl").read_text()
        # One file of all of them: twenty reasons are named, so in parts. A good record among them is enough for status 0.
        for at in range(0, len(lines), 20):
            part = lines[at:at + 20]
            (folder / "bad.jsonl").write_text("".join(line + "\n" for line, _ in part))
            for name, status in (("bad.jsonl", 2), ("both.jsonl", 0)):
                (folder / "both.jsonl").write_text((folder / "bad.jsonl").read_text() + good)
                ended = subprocess.run([CLLAB, "report", name], cwd=folder, env=self.environment(), capture_output=True, text=True, timeout=60)
                self.assertEqual(ended.returncode, status, ended.stderr)
                said = ended.stderr.splitlines()
                self.assertEqual(len(said), len(part) + (status == 2), ended.stderr)
                self.assertEqual(ended.stdout != "", status == 0)
                for number, ((line, why), sentence) in enumerate(zip(part, said), 1):
                    self.assertRegex(sentence, rf"\Acllab: {re.escape(name)}:{number}: .*{why}.*; the line is skipped\Z", line[:200])
                    self.assertLessEqual(len(sentence), MOST_CHARACTERS)
                    self.assertNotRegex(sentence, CONTROL)

    def test_invalid_profile_is_reported_and_ignored(self):
        line = ["run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--no-yardstick", "--no-dumps", "--max-time", "0.01"]
        _, _ = self.lab(*line, "--json", "r.jsonl")
        device = self.records()[0]["device"]["name"]
        path = self.folder / "dumps" / re.sub(r"[^A-Za-z0-9._]+", "-", device).strip("-") / "profile.json"
        path.parent.mkdir(parents=True)
        for text, why in (("[" * 100_000, "nested more than 64 deep"), ('{"schema":' + "[" * 100_000 + "]" * 100_000 + "}", "nested more than 64 deep"), ("", "damaged at byte 1 of 0"),
                          ('{"schema":2,"device":{"platform":"\x1b"}}', "damaged at byte"), ('{"schema":2,"device":{"platform":"\\u001b[2J"},"figures":[]}', r"'\x1b[2J'"), (None, "Is a directory")):
            path.unlink(missing_ok=True)
            path.mkdir() if text is None else path.write_text(text)
            out, err = self.lab(*line)
            self.assertIn("muladd_fma", out)
            self.assert_one_sentence(err, "profile.json'", why, "it is ignored")
            self.assertNotRegex(err, CONTROL)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:sys.argv.index("--pending")] if "--pending" in sys.argv else sys.argv)
