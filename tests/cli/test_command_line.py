"""The command line as a contract: help pages, lists, exit statuses, and the sentence for each mistake."""
import json
import math
import re
import unittest

from lab import LabTest, SOURCE, against_noise, words

COMMANDS = ["run", "devices", "list", "describe", "dump", "isa", "why", "count", "tune", "regress", "profile", "behaviour", "ncu", "capture", "report"]

# (arguments, what the one sentence on stderr must hold)
MISTAKES = [
    (["--devcie", "cpu", "muladd_fma"], ["'--devcie'", "did you mean --device"]),
    (["run", "--dev", "cpu", "muladd_fma"], ["'--dev'"]),  # no guessing from a prefix
    (["run", "muladd_fmaa"], ["'muladd_fmaa'", "did you mean muladd_fma, "]),
    (["reprot", "r.jsonl"], ["'reprot'", "did you mean report?"]),
    (["help", "reprot"], ["'reprot'", "did you mean report?"]),
    (["run", "pitch_wide", "--axis", "weights=linaer"], ["'linaer'", "linear, published", "did you mean linear?"]),
    (["run", "muladd_fma", "--cache", "colld"], ["'colld'", "expected hot, cold or rotate", "did you mean cold?"]),
    (["isa", "pitch_wide", "--target", "gfx90"], ["'gfx90'", "did you mean gfx900"]),
    (["run", "nothing_*"], ["nothing_*"]),
    (["run"], ["PATTERN"]),
    (["run", "muladd_fma", "--axis", "itmes=4"], ["itmes", "items"]),
    (["run", "muladd_fma", "--axis", "items=four"], ["items", "four"]),
    (["completion", "bash"], ["'completion'", "build/completions/cllab.bash"]),
    (["run", "muladd_fma", "--axis", "items=0"], ["items", "0"]),
    (["run", "muladd_fma", "--axis", "items"], ["NAME=VALUE", "'items'"]),
    (["run", "muladd_fma", "--timeout", "0"], ["--timeout"]),
    (["run", "muladd_fma", "--timeout", "soon"], ["soon", "--timeout"]),
    (["run", "muladd_fma", "--json"], ["--json"]),
    (["run", "pitch_wide", "--vs", "pitch_*"], ["--vs", "one variant", "PATTERN matches 'pitch_wide', --vs matches "]),
    (["run", "pitch_wide", "--vs", "pitch_wide"], ["--vs", "--vs matches 'pitch_wide'"]),
    (["run", "pitch_wide", "--vs", "best"], ["--vs best", "two or more variants, but PATTERN matches only 'pitch_wide'"]),
    (["run", "bandwidth_copy", "--vs", "muladd_fma", "--axis", "size=1Mi,2Mi"], ["--vs", "'bandwidth_copy' has 2", "'muladd_fma' has 1"]),
    (["run", "muladd_fma", "--cache", "warm"], ["--cache", "'warm'", "expected hot, cold or rotate"]),
    (["describe", "pich"], ["pich", "pitch"]),
    (["describe"], ["FAMILY"]),
    (["devices", "cpu"], ["takes no argument", "'cpu'"]),
    (["help", "dance"], ["dance", "describe"]),
    (["run", "muladd_fma", "--input", "src=a.png"], ["src"]),
    (["run", "pitch_wide", "--input", "src=absent.png"], ["absent.png"]),
    (["run", "pitch_wide", "--input", "src=text.png"], ["text.png", "PNG"]),
    (["run", "pitch_wide", "--input", "src=empty.png"], ["empty.png", "empty"]),
    (["run", "pitch_*", "--output", "dst=map.png"], ["--output", "one cell"]),
    (["run", "pitch_wide", "--output", "dst=map.gif", "--axis", "width=64", "--axis", "height=4", "--device", "cpu"],
     ["map.gif", ".png or .pgm"]),
    (["run", "pitch_wide", "--device", "cpu", "--axis", "width=20"], ["20"]),
    (["run", "muladd_fma", "--device", "cpu", "--columns", "time,regz"], ["column 'regz' (--columns)", "vs_best", "offset", "did you mean regs?"]),
    (["run", "muladd_fma", "--device", "cpu", "--columns", "time,,regs"], ["--columns", "'time,,regs'"]),
]


class CommandLine(LabTest):
    def test_help_pages_match_the_golden_files(self):
        self.assert_golden("help.txt", self.lab("--help")[0])
        for command in COMMANDS:
            out, err = self.lab(command, "--help")
            self.assertEqual(err, "")
            self.assert_golden(f"help_{command}.txt", out)

    def test_help_all_shows_everything(self):
        for command in COMMANDS:
            everything = self.lab(command, "--help", "all")[0]
            self.assertEqual(self.lab("help", command, "all")[0], everything)
            if command != "devices":  # whose page has the topic too
                self.assertIn(everything, self.lab("--help", "all")[0])

    def test_no_arguments_print_three_calls_and_the_devices(self):
        page = self.lab()[0]
        self.assertLessEqual(len(page.splitlines()), 20)
        self.assertEqual(len(re.findall(r"^  cllab ", page, re.M)), 3)
        here = [device["selector"] for device in json.loads(self.lab("devices", "--json")[0])]
        self.assertEqual(re.findall(r"^  (\d+:\d+)", page, re.M), here)
        self.assertIn("\n  none: ", self.lab(env={"OCL_ICD_VENDORS": "/nowhere"})[0])
        self.assertEqual(self.lab("help", "--help"), self.lab("--help"))

    def test_option_of_another_tool_is_answered_with_ours(self):
        for option, instead in (("-n", "--max-time"), ("--runs", "--max-time"), ("--warmup", "warmed up"), ("-v", "--columns all"),
                                ("-q", "--json FILE"), ("--list", "cllab list"), ("-o", "--csv FILE"), ("--platform", "--device")):
            said = self.lab("run", "muladd_fma", option, status=2)[1]
            self.assertRegex(said, rf"option '{option}' is unknown to `cllab run`: .*{instead}")
        self.assertIn("option '-d' is unknown to `cllab count`: it counts in a simulator", words(self.lab("count", "muladd_fma", "-d", "cpu", status=2)[1]))
        # What the command has not got is not offered.
        self.assertNotIn("--max-time", self.lab("list", "-n", status=2)[1])

    def test_describe_of_a_variant_omits_other_variants(self):
        page = self.lab("describe", "gemm_naive")[0]
        self.assertIn("\n  gemm_naive\n", page)
        self.assertNotIn("gemm_tile8", page)
        family = self.lab("describe", "gemm")[0]
        self.assertIn("\n  schedule = ", family + self.lab("describe", "gemm_pipelined")[0])
        self.assertNotIn("\n  schedule = ", page)

    def test_list_and_describe_match_the_golden_files(self):
        self.assert_golden("list_muladd.txt", self.lab("list", "muladd")[0])
        self.assert_golden("describe_muladd.txt", self.lab("describe", "muladd")[0])

    def test_list_needs_no_platform(self):
        out, err = self.lab("list", env=self.environment(OCL_ICD_VENDORS=str(self.folder)))
        self.assertIn("pitch_short8", out)
        self.assertEqual(err, "")

    def test_list_as_json_has_every_variant_once(self):
        listed = json.loads(self.lab("list", "--json")[0])
        ids = [entry["id"] for entry in listed]
        self.assertEqual(len(ids), len(set(ids)))
        for entry in listed:
            self.assertEqual(entry["id"], f"{entry['family']}_{entry['variant']}")
            self.assertTrue(entry["question"].endswith("?"), entry["question"])

    def test_devices_as_json_has_pocl_and_its_timer(self):
        devices = json.loads(self.lab("devices", "--json")[0])
        self.assertEqual([d["platform"] for d in devices], ["Portable Computing Language"])
        self.assertIs(type(devices[0]["timer"]["trusted"]), bool)

    def test_each_mistake_exits_2_with_its_sentence(self):
        (self.folder / "text.png").write_text("not a picture\n")
        (self.folder / "empty.png").write_text("")
        for args, parts in MISTAKES:
            with self.subTest(args=" ".join(args)):
                out, err = self.lab(*args, "--no-dumps" if "muladd_fma" in args else "--", status=2)
                self.assertEqual(out, "")
                self.assert_one_sentence(err, *parts)

    def test_only_results_go_to_stdout(self):
        out, err = self.lab("--device", "cpu", "--kernel", "muladd_fma", "--axis", "items=64", "--verify", "--no-dumps",
                            "--json", "-")
        self.assertEqual([json.loads(line)["status"] for line in out.splitlines()], ["ok"])
        self.assertEqual(err, "")

    def test_example_command_line_prints_a_table_and_dumps(self):
        out, err = self.lab("--device", "cpu", "--kernel", "pitch_short8", "--json", "r.jsonl", "--csv", "r.csv",
                            "--axis", "width=256", "--axis", "height=64")
        self.assertIn("pitch_short8", out)
        self.assertEqual(err, "")
        record = self.records()[-1]
        self.assertEqual((record["id"], record["status"], record["schema"]), ("pitch_short8", "ok", 2))
        self.assertGreater(record["time"]["median"], 0)
        self.assertEqual(record["time"]["n"], len(record["samples"]))
        self.assertLessEqual(record["time"]["low"], record["time"]["median"])
        self.assertGreaterEqual(record["time"]["high"], record["time"]["median"])
        for name in ("source.cl", "options.txt", "build.log", "program.poclbin", "isa.txt", "stats.json", "timing.json"):
            self.assertTrue((self.folder / record["dump"] / name).exists(), f"{name} is not in the dump")
        self.assertEqual(len((self.folder / "r.csv").read_text().splitlines()), 1 + len(self.records()))

    def compared(self, seconds, *more):
        """The page and the comparison of a `--vs` of two pitch variants at a small size."""
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        out, err = self.lab("run", "pitch_short8", "--vs", "pitch_vload8", "--device", "cpu", "--json", "r.jsonl", "--no-yardstick",
                            "--axis", "width=512", "--axis", "height=64", "--max-time", seconds, *more)
        self.assertEqual(err, "")
        *records, comparison = self.records()
        self.assertEqual([r["id"] for r in records], ["pitch_short8", "pitch_vload8"])
        self.assertEqual((comparison["record"], comparison["left"], comparison["right"]), ("comparison", "pitch_short8", "pitch_vload8"))
        return out, comparison

    def test_comparison_with_too_few_replicates_is_undecided(self):
        out, comparison = self.compared("0.01")
        self.assertEqual(comparison["verdict"], "undecided")
        self.assertNotIn("low", comparison["ratio"])
        self.assertIn("replicates are too few for an interval; a larger --max-time gives more ", words(out))

    def test_equal_text_under_two_names_is_same_code_without_a_winner(self):
        text = (SOURCE / "cl" / "pitch.cl").read_text()
        cl = self.kernels(pitch="#ifdef PITCH_SHORT8\n#undef PITCH_SHORT8\n#define PITCH_VLOAD8\n#define pitch_vload8 pitch_short8\n"
                                "#endif\n" + text)
        out, comparison = self.compared("0.01", "--cl-dir", cl, "--axis", "layout=rows")
        self.assertEqual(comparison["verdict"], "same code")
        self.assertNotRegex(out, r"(?m)^ *instructions +\d")
        self.assertIn("pitch_short8 against pitch_vload8: same code, so there is no winner; ", words(out))

    @against_noise
    def test_two_variants_are_compared_by_replicates_and_loops(self):
        out, comparison = self.compared("20")
        # The verdict is below the code, which has no line where neither side says anything.
        self.assertGreater(out.index("pitch_short8 against pitch_vload8: "), re.search(r"(?m)^ *instructions +\d", out).start())
        self.assertNotRegex(out, r"(?m)^ *(registers|spills|private bytes|local bytes|code bytes) +- +-$")
        arrangements = comparison["arrangements"]
        self.assertGreaterEqual(len(arrangements), 8)
        self.assertEqual(len({a["seed"] for a in arrangements}), len(arrangements))
        self.assertTrue(all(a["same_memory"] and a["rounds"] >= 2 for a in arrangements))
        ratio = comparison["ratio"]
        logs = [a["log_ratio"] for a in arrangements]
        self.assertLessEqual(math.exp(min(logs)), ratio["low"])
        self.assertLessEqual(ratio["low"], ratio["ratio"])
        self.assertLessEqual(ratio["ratio"], ratio["high"])
        self.assertLessEqual(ratio["high"], math.exp(max(logs)))
        self.assertIn(f"% interval over {len(arrangements)} replicates (fresh process, buffers and order)", words(out))
        self.assertIn("; both took turns on the same memory control: each against itself ", words(out))
        # The byte stores that vstore8 becomes on PoCL stand in one loop only.
        self.assertRegex(out, r"\nstore_8 +- +\d+\n")
        self.assertRegex(out, r"\n[<>~] ")

    def test_no_escape_codes_when_piped(self):
        out, err = self.lab("run", "muladd", "--device", "cpu", "--axis", "items=64", "--no-dumps", "--no-yardstick",
                            "--max-time", "0.05")
        self.assertNotIn("\033", out + err)


class Status3(LabTest):
    def test_no_platform_says_how_to_get_one(self):
        out, err = self.lab("--device", "cpu", "--kernel", "pitch_short8", status=3,
                            env=self.environment(OCL_ICD_VENDORS=str(self.folder)))
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "pocl-opencl-icd")

    def test_unavailable_target_reports_the_command_that_installs_it(self):
        _, err = self.lab("isa", "pitch_short8", "--target", "sm_80", status=3, env=self.environment(PATH=str(self.folder)))
        self.assert_one_sentence(err, "sm_80", "apt-get install clang-15 libclc-15")
        _, err = self.lab("isa", "pitch_short8", "--target", "gfx1201", status=3, env=self.environment(PATH=str(self.folder)))
        self.assert_one_sentence(err, "gfx1201 needs clang 19 or later with lld, llvm-objdump and libclc: ", "apt-get install clang-19 lld-19 llvm-19")

    def test_unknown_device_lists_the_available_ones(self):
        _, err = self.lab("--device", "H100", "--kernel", "muladd_fma", status=3)
        self.assertRegex(err, r"\Acllab: no device matches 'H100'; there is 1: ")
        self.assertNotIn("did you mean", err)
        _, err = self.lab("run", "muladd_fma", "--device", "cpuu", status=3)
        self.assertRegex(err, r"\Acllab: no device matches 'cpuu'; there is 1: [^\n]*; did you mean cpu\?\n\Z")

    def test_selector_past_the_last_device_is_reported(self):
        _, err = self.lab("--device", "7:0", "--kernel", "muladd_fma", status=3)
        self.assertIn("7:0", err)

    def test_output_files_are_opened_before_the_first_build(self):
        for option in ("--json", "--csv"):
            out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--no-dumps", option, "absent/r", status=3)
            self.assertEqual(out, "")
            self.assert_one_sentence(err, "absent/r", option, "No such file")


if __name__ == "__main__":
    unittest.main()
