"""The documents: README.md keeps its size and shows what the program does; links, citations and lists hold."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import unittest

import messages
from lab import CLLAB, OCLGRIND_LIBRARY, SOURCE, LabTest, main

README = (SOURCE / "README.md").read_text()
TOPICS = {"axes", "columns", "data", "json", "kernel-file", "method", "proof", "sequences", "statuses", "terms"}
# Words between which a command of a README's block ends.
ENDS = {"&&", "|", ";"}


def documents():
    ours = (p for p in SOURCE.rglob("*.md") if not any(part.startswith(("build", ".")) for part in p.relative_to(SOURCE).parts[:-1]))
    return sorted(p for p in ours if "node_modules" not in p.parts)


def blocks(text):
    """The code of a document: fenced blocks, and lines indented by four."""
    fenced = re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)
    rest = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.M | re.S)
    return [line.strip() for block in fenced for line in block.splitlines()] + re.findall(r"^ {4}(\S.*)$", rest, re.M)


def commands(text):
    """Each `cllab …` of a document's code, as words."""
    for line in blocks(text):
        # What a command does stands behind two blanks.
        line = re.split(r" {2,}", re.sub(r"^(\$|- run:) ", "", line))[0]
        words = shlex.split(line) if re.match(r"(tools/|build/)?cllab ", line) else []
        while words:
            end = next((i for i, word in enumerate(words) if word in ENDS), len(words))
            if words[0].split("/")[-1] == "cllab":
                yield words[1:end]
            words = words[end + 1:]


def without_tables(text):
    return "\n".join(line for line in text.splitlines() if not line.startswith("|"))


def anchors(text):
    """The names that GitHub gives the headings of a document."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


class Readme(LabTest):
    def test_readme_is_short_and_fits_a_window(self):
        lines = README.splitlines()
        self.assertLessEqual(len(lines), 200)
        self.assertEqual([line for line in lines if len(line) > 100], [])

    def test_dates_appear_only_in_the_table_of_figures(self):
        self.assertEqual(re.findall(r"\b20\d\d-\d\d\b.*", without_tables(README)), [])
        tables = re.findall(r"(?:^\|.*\n)+", README, re.M)
        dated = [table for table in tables if re.search(r"\b20\d\d-\d\d", table)]
        self.assertEqual(len(dated), 1)
        rows = dated[0].splitlines()[2:]
        self.assertLessEqual(len(rows), 10)
        for row in rows:
            self.assertRegex(row, r"\| 20\d\d-\d\d-\d\d \|$")

    def test_the_options_of_every_command_exist(self):
        found = [words for words in commands(README)]
        self.assertGreater(len(found), 20)
        for words in found:
            with self.subTest(" ".join(words)):
                # The placeholders in the list of commands are no words of a command line.
                words = [word for word in words if not re.match(r"\[?[A-Z]+\b|--$", word)]
                self.assertIn("Usage: cllab", self.lab(*words, "--help")[0])

    def test_every_command_and_topic_is_mentioned(self):
        for name in self.help_names():
            self.assertRegex(README, rf"\bcllab (help )?{name}\b")

    def example(self):
        (self.folder / "tr.cl").write_text(re.search(r"^```c\n(/\*cllab.*?)^```$", README, re.M | re.S)[1])

    def shown(self, command):
        """The output that stands behind a command in the README."""
        return re.search(r"^ {4}\$ " + re.escape(command) + r".*\n((?: {4,}.*\n|\n(?= {4}))+)", README, re.M)[1]

    def columns_shown(self, command):
        """The titles of the table behind a command."""
        return re.findall(r"\S+(?: \S+)*", next(line for line in self.shown(command).splitlines() if re.match(r" +kernel ", line)))

    def test_example_kernel_runs_with_the_documented_columns(self):
        self.example()
        command = "cllab run tr.cl --device cpu"
        out, _ = self.lab(*shlex.split(command)[1:], "--max-time", "0.05", "--columns", "all", "--no-dumps")
        header = next(line for line in out.splitlines() if re.match(r" +kernel ", line))
        for column in self.columns_shown(command):
            if column != "vs best":  # rows that lacked cores while they were measured are not ranked
                self.assertIn(re.sub(r" \[.*", "", column), header)
        for name in re.findall(r"^ +(tr_\w+)", self.shown(command), re.M):
            self.assertRegex(out, rf"{name} +ok +agreement of 2 ")

    def test_first_output_has_the_documented_shape(self):
        command = "cllab --device cpu --kernel pitch_short8"
        out, _ = self.lab(*shlex.split(command)[1:], "--max-time", "0.05", "--axis", "width=512", "--axis", "height=512")
        more, _ = self.lab(*shlex.split(command)[1:], "--max-time", "0.05", "--axis", "width=512", "--axis", "height=512", "--columns", "all")
        for column in self.columns_shown(command):
            self.assertIn(re.sub(r" \[.*", "", column), more)
        self.assertRegex(out, r"pitch_short8 +ok ")
        for line in "dumps in dumps/", "columns left out: ":
            self.assertIn(line, self.shown(command))
            self.assertIn(line, out)

    def test_code_for_absent_devices_has_the_documented_columns(self):
        self.example()
        command = "cllab isa tr.cl:cols -t gfx900 -t sm_90 --summary"
        made = re.findall(r"^ *(gfx900|sm_90) +[^- ]", self.lab("isa", "--targets")[0], re.M)
        if len(made) < 2:
            self.skipTest("nothing here compiles for gfx900 and sm_90 (libamd-comgr2, clang-15, libclc-15)")
        out, _ = self.lab(*shlex.split(command)[1:])
        for column in self.columns_shown(command):
            self.assertIn(column, out.splitlines()[0])
        self.assertEqual(re.findall(r"^ +(tr_cols +\w+)", self.shown(command), re.M), re.findall(r"^ +(tr_cols +\w+)", out, re.M))

    def test_records_are_read_as_documented(self):
        self.example()
        self.lab("run", "tr.cl", "--device", "cpu", "--max-time", "0.02", "--no-yardstick", "--no-dumps", "--json", "r.jsonl")
        self.lab("report", "r.jsonl", "--long", "long.csv")
        columns = (self.folder / "long.csv").read_text().splitlines()[0].split(",")
        for name in re.search(r"groupby\(\[(.*?)\]\)\.(\w+)\.", README).groups():
            for column in re.findall(r"\w+", name):
                self.assertIn(column, columns)


    def test_ci_example_finds_a_slowdown_and_fails_the_job(self):
        def shell(line, folder=self.folder):
            env = self.environment(PATH=f"{pathlib.Path(CLLAB).parent}:{os.environ['PATH']}", GIT_CONFIG_GLOBAL="/dev/null")
            return subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True)

        def commit(message):
            for line in ("git add tr.cl", f"git -c user.name=x -c user.email=x@x commit -q -m {message}"):
                self.assertEqual(shell(line).returncode, 0)

        self.example()
        shell("git init -q -b main")
        commit("before")
        shell("git checkout -q -b change")
        text, more = (self.folder / "tr.cl").read_text(), "float v = 0; for (int i = 0; i < 64; ++i) v += src[(x * n + i) % n]; dst[x * n + y] = 0 * v + "
        (self.folder / "tr.cl").write_text(more.join(text.rsplit("dst[x * n + y] = ", 1)))
        commit("after")
        # As actions/checkout has it: one commit of one branch, unless it is told otherwise, and no branch checked out.
        depth = "" if "with: {fetch-depth: 0}" in README else "--depth 1"
        self.assertEqual(shell(f"git clone -q {depth} --branch change file://$PWD job && git -C job checkout -q --detach").returncode, 0)
        job = self.folder / "job"
        done = [shell(line, job) for line in re.findall(r"^ *- run: (.*)$", README, re.M)]
        self.assertEqual([step.returncode for step in done], [0, 0, 0, 4], done)
        self.assertRegex(done[-1].stdout, r"tr_cols +slower ")
        self.assertRegex(done[-1].stdout, r"tr_rows +same code ")
        self.assertIn("<failure", (job / "regress.xml").read_text())


class Agents(LabTest):
    def test_agents_file_alone_suffices_for_a_program(self):
        text = (SOURCE / "tools" / "AGENTS.md").read_text()
        self.assertLessEqual(len(text.splitlines()), 60)
        (self.folder / "sum.cl").write_text(re.search(r"^```c\n(.*?)^```$", text, re.M | re.S)[1])
        lines = [shlex.split(line)[1:] for line in re.findall(r"^ {4,}(cllab .*)$", text, re.M)]
        self.assertEqual(len(lines), 9)
        made = re.search(r"^gfx900 +[^- ]", self.lab("isa", "--targets")[0], re.M)
        for words in lines:
            if words[0] == "count" and not OCLGRIND_LIBRARY or words[0] == "isa" and not made:
                continue
            with self.subTest(" ".join(words)):
                out, _ = self.lab(*words)
                self.assertNotEqual(out, "")
        records = {path.name: [json.loads(line) for line in path.read_text().splitlines()] for path in self.folder.glob("*.jsonl")}
        self.assertEqual({record["checked_by"] for record in records["proof.jsonl"]}, {"reference each", "is the reference"})
        self.assertTrue(all(r["time"]["low"] <= r["time"]["median"] <= r["time"]["high"] for r in records["time.jsonl"]))
        verdict, = (r for r in records["compare.jsonl"] if r.get("record") == "comparison")
        self.assertTrue(verdict["verdict"] and verdict["ratio"])
        if made:
            self.assertEqual({r["kernel"] for r in records["code.jsonl"]}, {"sum_each", "sum_pairs"})


class Capture(LabTest):
    def test_every_command_of_the_capture_example_runs(self):
        if subprocess.run(["/usr/bin/python3", "-c", "import pyopencl"], capture_output=True).returncode:
            self.skipTest("python3-pyopencl is not installed")
        text = (SOURCE / "host" / "capture" / "README.md").read_text().split("\n## ")[1]
        (self.folder / "cubes.py").write_text(re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)[1])
        env = self.environment(PATH=f"{pathlib.Path(CLLAB).parent}:/usr/bin:{os.environ['PATH']}", PYOPENCL_CTX="Portable")
        # Who asks where the time goes has run the program before.
        subprocess.run(["/usr/bin/python3", "cubes.py"], cwd=self.folder, env=env, check=True, capture_output=True)
        lines = re.findall(r"^ {4}\$ (.*)$", text, re.M)
        self.assertEqual(len(lines), 3)
        done = [subprocess.run(["bash", "-c", line], cwd=self.folder, env=env, capture_output=True, text=True) for line in lines]
        self.assertEqual([step.returncode for step in done], [0, 0, 0], done)
        self.assertRegex(done[0].stderr, r"20 launches of 1 kernel .*\n +kernel +launches .*\n +pow_method +20 ")
        self.assertIn("cllab run kept/pow_method.cl", done[0].stderr)
        self.assertRegex(" ".join(done[2].stdout.split()), "cube_pow_method is faster; pow_method_pow_method takes")


# Words of a sentence that is longer than 30, each with its reason.
LONG_SENTENCES = {
    "mimax": "the known benchmark prints this page as it is",
}


def literals(text):
    """The string literals of C++ text, adjacent ones joined, with what stands between quotes only."""
    tokens = re.compile(r'R"(\w*)\((.*?)\)\1"|//[^\n]*|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'|(\s+)|[\w.]+|.', re.S)
    joined = None
    for token in tokens.finditer(text):
        if token[3] is not None:
            joined = (joined or "") + token[3].replace("\\n", "\n").replace('\\"', '"')
        elif token[4] is None and not token[0].startswith("//"):
            if joined is not None:
                yield joined
            joined = None


def sentences(text):
    """Of prose: lines that are indented or set as a table are none."""
    for paragraph in re.split(r"\n\n|\n(?=\s)|^\s.*$", text, flags=re.M):
        yield from re.split(r"(?<=[.?!:])(?<!e\.g\.)\s+", " ".join(paragraph.split()))


def too_long(text):
    return [s for s in sentences(text) if len(re.findall(r"[A-Za-z][\w'-]*", s)) > 30 and not any(word in s for word in LONG_SENTENCES)]


def is_prose(text):
    """Not kernel text, nor lists of instructions, nor markup."""
    return re.search(r"\b(the|a|an|is|are|of|to|for|with|no)\b", text) and not re.search(r"kernel void|[;{}]\n|\* \w+\*|class=", text)


class Errors(LabTest):
    def test_list_of_all_errors_matches_the_golden_file(self):
        self.assert_golden("errors.txt", messages.listing(SOURCE / "host"))

    def test_message_is_found_with_outcome_and_literals(self):
        text = 'void refuse(int x);\n throw Error(Blame::usage, "no file \'", path, "\'; there " "is none");  // throw Error("not this")\n if (x) refuse(place, concat("bad ", n));'
        self.assertEqual(list(messages.messages(text)), [("2", "no file '…'; there is none"), ("-", "…bad …")])


class Help(LabTest):
    def test_command_help_fits_a_screen_and_everything_fits_its_width(self):
        for name in ["", *self.help_names()]:
            page = self.lab(*filter(None, [name]), "--help")[0] if name not in TOPICS else ""
            everything = self.lab("help", *filter(None, [name]), "all")[0]
            with self.subTest(name):
                self.assertLessEqual(len(page.splitlines()), 50)
                self.assertEqual([line for line in (page + everything).splitlines() if len(line) > 100 or line != line.rstrip()], [])

    def test_page_respects_the_columns_given_to_a_pipe(self):
        page = self.lab("why", "--help", "all", env=self.environment(COLUMNS="60"))[0]
        self.assertEqual([line for line in page.splitlines() if len(line) > 60 and "  " not in line.strip()], [])
        self.assertEqual(page.split(), self.lab("why", "--help", "all")[0].split())

    def test_no_help_sentence_is_longer_than_30_words(self):
        # An option's text stands beside its name: as prose again.
        page = re.sub(r"(?m)^ {2}-.*?(?:  +|$)", "\n\n", self.lab("--help", "all")[0])
        page = re.sub(r"(?m)^ {26}", "", page)
        self.assertEqual(too_long(page), [])

    def test_no_message_sentence_is_longer_than_30_words(self):
        for path in sorted((SOURCE / "host").rglob("*.?pp")):
            for text in literals(path.read_text()):
                if is_prose(text):
                    self.assertEqual(too_long(text), [], path)

    def test_sentence_of_31_words_is_detected(self):
        self.assertEqual(too_long("word " * 30 + "end."), ["word " * 30 + "end."])
        self.assertEqual(too_long("word " * 20 + "end. " + "word " * 20), [])
        self.assertEqual(list(literals('f("one " // two\n  "three", x, "four")')), ["one three", "four"])

    def test_each_topic_fits_a_screen(self):
        for name in sorted(TOPICS):
            with self.subTest(name):
                page = self.lab("help", name)[0].splitlines()
                self.assertEqual([line for line in page if len(line) > 100], [])
                self.assertLessEqual(len(page), {"kernel-file": 78, "sequences": 60, "data": 51}.get(name, 40))

    def test_topics_match_the_golden_files(self):
        for name in sorted(TOPICS - {"kernel-file"}):
            self.assert_golden(f"help_{name}.txt", self.lab("help", name)[0])

    def test_name_of_command_and_topic_shows_both_on_one_page(self):
        page = self.lab("help", "devices")[0]
        self.assertIn("Usage: cllab devices", page)
        self.assertIn("--device 0:0", page)
        self.assertEqual(page, self.lab("devices", "--help")[0])

    def test_every_column_has_a_description(self):
        page = self.lab("help", "columns")[0]
        listed = re.search(r"The columns: ([^.]*)\.", " ".join(self.lab("run", "--help", "all")[0].split()))[1].split(", ")
        for name in set(listed) - {"options"}:
            self.assertRegex(page, rf"(?m)^  {name} +\S")


class Documents(unittest.TestCase):
    def test_relative_links_lead_to_files_and_headings(self):
        for path in documents():
            text = path.read_text()
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
                if re.match(r"\w+:", target):
                    continue
                with self.subTest(f"{path.relative_to(SOURCE)}: {target}"):
                    file, _, anchor = target.partition("#")
                    to = (path.parent / file).resolve() if file else path
                    self.assertTrue(to.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(to.read_text()))

    def test_each_family_is_in_the_table_of_kernels(self):
        text = (SOURCE / "cl" / "README.md").read_text()
        for path in (SOURCE / "cl").glob("*.cl"):
            self.assertIn(f"`{path.stem}`", text)

    def test_each_trial_is_listed_with_its_command(self):
        text = (SOURCE / "tests" / "README.md").read_text()
        for path in (SOURCE / "tests" / "trial").glob("*.py"):
            self.assertIn(f"**`trial/{path.name}`**", text)
            self.assertRegex(text, rf"(?m)^    tests/trial/{path.name} ")

    def test_each_folder_of_the_host_is_described(self):
        text = (SOURCE / "host" / "README.md").read_text()
        for path in (SOURCE / "host").iterdir():
            if path.is_dir():
                self.assertIn(f"| `{path.name}/` |", text)
        for path in (SOURCE / "host" / "app").iterdir():
            if path.is_dir():
                self.assertIn(f"| `app/{path.name}/` |", text)

    def test_files_named_in_the_host_walkthrough_exist(self):
        text = (SOURCE / "host" / "README.md").read_text()
        walk = text[text.index("## From main"):text.index("## The method")]
        for name in re.findall(r"`([\w/]+\.[ch]pp)`", walk):
            self.assertTrue((SOURCE / "host" / name).exists(), name)

    def test_documented_include_rules_match_the_enforced_ones(self):
        enforced = re.search(r"may_include\{(.*?)\n\};", (SOURCE / "tests/unit/includes_test.cpp").read_text(), re.S)[1]
        rules = {module: set(re.findall(r'"(\w+)"', names)) for module, names in re.findall(r'\{"(\w+)",\s*\{(.*?)\}\}', enforced, re.S)}
        text = (SOURCE / "host" / "README.md").read_text()
        for row in re.findall(r"^\| ([\w, ]+) \| ([\w, -]+) \| [^|]+ \| [^|]+ \|$", text, re.M):
            for module in row[0].split(", "):
                if module in rules and row[1] != "all":
                    self.assertEqual(set(re.findall(r"\w+", row[1])), rules[module], module)
                    del rules[module]
        self.assertEqual(set(rules), {"app"})

    def test_each_rule_cited_in_the_code_is_in_the_method(self):
        method = (SOURCE / "host" / "README.md").read_text().split("## The method")[1]
        rules = {int(n) for n in re.findall(r"^(\d+)\. ", method, re.M)}
        self.assertEqual(rules, set(range(1, max(rules) + 1)))
        cited = 0
        for folder in "host", "tests", "cl":
            for path in (SOURCE / folder).rglob("*.[ch]*"):
                if path.suffix not in (".cpp", ".hpp", ".cl", ".h") or not path.is_file():
                    continue
                text = re.sub(r"\n\s*//+ ?", " ", path.read_text())
                self.assertNotRegex(text, r"[Mm]ethod rule|design\.md", path)
                for numbers in re.findall(r"host/README\.md, rules? (\d+(?: (?:to|and) \d+)?)|rules? (\d+(?: (?:to|and) \d+)?) \(host/README\.md\)", text):
                    for n in re.findall(r"\d+", "".join(numbers)):
                        self.assertIn(int(n), rules, path)
                        cited += 1
        self.assertGreater(cited, 5)

    def test_changelog_begins_with_the_built_version(self):
        version = re.search(r"project\(cllab VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual(re.search(r"^## (\S+)$", (SOURCE / "tools/CHANGELOG.md").read_text(), re.M)[1], version)

    def test_page_screenshot_is_small(self):
        picture = (SOURCE / "dumps/reference/page.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertLess(len(picture), 300 << 10)


if __name__ == "__main__":
    main()
