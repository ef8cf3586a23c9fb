"""The command line as a contract: help pages, lists, exit statuses, and the sentence for each mistake."""
import fcntl
import json
import math
import os
import re
import struct
import subprocess
import termios
import unittest

from lab import CLLAB, LabTest, SOURCE, against_noise, words

COMMANDS = ["run", "devices", "list", "describe", "dump", "isa", "why", "count", "tune", "regress", "profile", "ncu", "merge", "report"]

# (arguments, what the one sentence on stderr must hold)
MISTAKES = [
    (["--devcie", "cpu", "muladd_fma"], ["'--devcie'", "did you mean --device"]),
    (["run", "--dev", "cpu", "muladd_fma"], ["'--dev'"]),  # no guessing from a prefix
    (["run", "muladd_fmaa"], ["'muladd_fmaa'", "did you mean muladd_fma, "]),
    (["reprot", "r.jsonl"], ["'reprot'", "did you mean report?"]),
    (["help", "reprot"], ["'reprot'", "did you mean report?"]),
    (["run", "pitch_wide", "--axis", "weights=linaer"], ["'linaer'", "linear, published", "did you mean linear?"]),
    (["run", "muladd_fma", "--cache", "colld"], ["'colld'", "hot, cold and rotate", "did you mean cold?"]),
    (["isa", "pitch_wide", "--target", "gfx90"], ["'gfx90'", "did you mean gfx900"]),
    (["run", "nothing_*"], ["nothing_*"]),
    (["run"], ["PATTERN"]),
    (["run", "muladd_fma", "--axis", "itmes=4"], ["itmes", "items"]),
    (["run", "muladd_fma", "--axis", "items=four"], ["items", "four"]),
    (["run", "muladd_fma", "--axis", "items=0"], ["items", "0"]),
    (["run", "muladd_fma", "--axis", "items"], ["NAME=VALUE", "'items'"]),
    (["run", "muladd_fma", "--timeout", "0"], ["--timeout"]),
    (["run", "muladd_fma", "--timeout", "soon"], ["soon", "--timeout"]),
    (["run", "muladd_fma", "--json"], ["--json"]),
    (["run", "pitch_wide", "--vs", "pitch_*"], ["--vs", "one variant", "1 and "]),
    (["run", "pitch_wide", "--vs", "pitch_wide"], ["--vs", "the same"]),
    (["run", "bandwidth_copy", "--vs", "muladd_fma", "--axis", "size=1Mi,2Mi"], ["--vs", "'bandwidth_copy' has 2", "'muladd_fma' 1"]),
    (["run", "muladd_fma", "--cache", "warm"], ["--cache", "'warm'", "hot, cold and rotate"]),
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


# A figure of a profile: a peak that every kernel exceeds.
EXCEEDED = {"id": "fma.peak.float", "name": "float peak", "unit": "FLOP/s", "value": 1, "low": 1, "high": 1}


class CommandLine(LabTest):
    def test_help_pages_are_as_recorded(self):
        self.assert_golden("help.txt", self.lab("--help")[0])
        for command in COMMANDS:
            out, err = self.lab(command, "--help")
            self.assertEqual(err, "")
            self.assert_golden(f"help_{command}.txt", out)
            if f"cllab {command} --help all" in out:
                self.assert_golden(f"help_{command}_all.txt", self.lab(command, "--help", "all")[0])

    def test_everything_is_asked_for_by_a_word_behind_help(self):
        for command in COMMANDS:
            everything = self.lab(command, "--help", "all")[0]
            self.assertEqual(self.lab("help", command, "all")[0], everything)
            if command != "devices":  # whose page has the topic too
                self.assertIn(everything, self.lab("--help", "all")[0])

    def test_no_arguments_print_three_calls_and_the_devices_that_are_here(self):
        page = self.lab()[0]
        self.assertLessEqual(len(page.splitlines()), 20)
        self.assertEqual(len(re.findall(r"^  cllab ", page, re.M)), 3)
        here = [device["selector"] for device in json.loads(self.lab("devices", "--json")[0])]
        self.assertEqual(re.findall(r"^  (\d+:\d+)", page, re.M), here)
        self.assertIn("\n  none: ", self.lab(env={"OCL_ICD_VENDORS": "/nowhere"})[0])
        self.assertEqual(self.lab("help", "--help"), self.lab("--help"))

    def test_an_option_of_another_tool_is_answered_with_what_is_here_instead(self):
        for option, instead in (("-n", "--max-time"), ("--runs", "--max-time"), ("--warmup", "steady"), ("-v", "--columns all"),
                                ("-q", "--json FILE"), ("--list", "cllab list"), ("-o", "--csv FILE"), ("--platform", "--device")):
            said = self.lab("run", "muladd_fma", option, status=2)[1]
            self.assertRegex(said, rf"option '{option}' is unknown to `cllab run`: .*{instead}")

    def test_describe_of_a_variant_leaves_out_what_is_of_others(self):
        page = self.lab("describe", "gemm_naive")[0]
        self.assertIn("\n  gemm_naive\n", page)
        self.assertNotIn("gemm_tile8", page)
        family = self.lab("describe", "gemm")[0]
        self.assertIn("\n  schedule = ", family + self.lab("describe", "gemm_pipelined")[0])
        self.assertNotIn("\n  schedule = ", page)

    def test_list_and_describe_are_as_recorded(self):
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

    def test_devices_as_json_names_pocl_and_its_timer(self):
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

    def test_results_go_to_stdout_and_nothing_else_does(self):
        out, err = self.lab("--device", "cpu", "--kernel", "muladd_fma", "--axis", "items=64", "--verify", "--no-dumps",
                            "--json", "-")
        self.assertEqual([json.loads(line)["status"] for line in out.splitlines()], ["ok"])
        self.assertEqual(err, "")

    def test_the_users_own_line_answers_and_dumps(self):
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

    def test_a_comparison_without_the_time_for_enough_arrangements_decides_nothing(self):
        out, comparison = self.compared("0.01")
        self.assertEqual(comparison["verdict"], "undecided")
        self.assertNotIn("low", comparison["ratio"])
        self.assertIn("arrangements are too few for an interval; a larger --max-time gives more ", words(out))

    def test_one_text_under_two_names_is_the_same_code_and_has_no_winner(self):
        text = (SOURCE / "cl" / "pitch.cl").read_text()
        cl = self.kernels(pitch="#ifdef PITCH_SHORT8\n#undef PITCH_SHORT8\n#define PITCH_VLOAD8\n#define pitch_vload8 pitch_short8\n"
                                "#endif\n" + text)
        out, comparison = self.compared("0.01", "--cl-dir", cl, "--no-dumps", "--axis", "layout=rows")
        self.assertEqual(comparison["verdict"], "same code")
        self.assertIn("pitch_short8 against pitch_vload8: same code, so there is no winner; ", words(out))

    @against_noise
    def test_two_variants_are_compared_over_arrangements_and_by_their_loops(self):
        out, comparison = self.compared("20")
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
        self.assertIn(f"% interval over {len(arrangements)} arrangements (fresh process, buffers and order)", words(out))
        self.assertIn("; both took turns on the same memory control: each against itself ", words(out))
        # The byte stores that vstore8 becomes on PoCL stand in one loop only.
        self.assertRegex(out, r"\nstore_8 +- +\d+\n")
        self.assertRegex(out, r"\n[<>~] ")

    def profile(self, figures, **changes):
        """A profile of the device here with these figures, where a run looks for it: beside its dumps."""
        out, _ = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--json", "-")
        record = json.loads(out)
        path = (self.folder / record["dump"]).parent / "profile.json"
        path.write_text(json.dumps({"schema": 2, "device": record["device"] | changes, "utc": "2026-01-01T00:00:00Z", "figures": figures}))
        return path

    def profile_of_last_level(self, size):
        """A profile that has found the last level to be `size` bytes, whatever the processor here has."""
        self.profile([{"id": "latency.l3.size", "name": "L3 capacity", "unit": "byte", "value": size, "low": size, "high": size},
                      {"id": "latency.memory.latency", "name": "memory latency", "unit": "s", "value": 1e-7, "low": 1e-7, "high": 1e-7}])

    def run_muladd(self, *more):
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=4096", "--no-dumps", "--no-yardstick",
                       "--max-time", "0.05", "--json", "r.jsonl", "--force", *more)[1]
        return self.records()[0], err

    def beyond_peak(self, record):
        return [w for w in record["warnings"] if w.startswith("beyond-peak: ")]

    def test_a_rate_beyond_the_peak_of_the_profile_is_named_with_its_date(self):
        self.profile([EXCEEDED])
        record, err = self.run_muladd()
        self.assertEqual(err, "")
        self.assertEqual(len(self.beyond_peak(record)), 1, record["warnings"])
        self.assertIn("2026-01-01T00:00:00Z", self.beyond_peak(record)[0])
        self.assertEqual(len(self.beyond_peak(self.run_muladd("--isolate")[0])), 1)
        self.assertEqual(self.beyond_peak(self.run_muladd("--dumps", "elsewhere")[0]), [])

    def test_a_profile_of_another_driver_and_a_damaged_one_are_named_and_ignored(self):
        path = self.profile([EXCEEDED], driver="0.1")
        record, err = self.run_muladd()
        self.assert_one_sentence(err, "profile.json'", "'0.1'", "it is ignored")
        self.assertEqual(self.beyond_peak(record), [])
        path.write_text(path.read_text()[:-9])
        self.assert_one_sentence(self.run_muladd("--isolate")[1], "profile.json'", "is damaged at byte", "it is ignored")

    def test_a_profile_has_a_figure_or_a_reason_for_each_line_and_no_interval_wider_than_its_value(self):
        out, _ = self.lab("profile", "--device", "cpu", "--budget", "3", "--json", "--no-dumps")
        profile = json.loads(out)
        self.assertGreater(len(profile["figures"]), 0)
        self.assertGreater(len(profile["figures"] + profile["absent"]), 30)
        identifiers = [line["id"] for line in profile["figures"] + profile["absent"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        for figure in profile["figures"]:
            self.assertRegex(figure["id"], r"^[a-z]+\.[a-z0-9_.]+$")
            self.assertLessEqual(figure["high"] - figure["low"], abs(figure["value"]), figure)
        for line in profile["absent"]:
            self.assertGreater(len(line["reason"]), 10, line)
            self.assertNotIn("budget was spent", line["reason"])

    def test_each_device_says_what_is_read_of_its_clock_or_why_nothing_is(self):
        out, _ = self.lab("devices", "--json")
        for device in json.loads(out):
            self.assertRegex(device["clock"], r"^(none: |NVML: |sysfs )", device["name"])

    def saxpy(self, state):
        """The record and the page, on one line, of 2 MiB in that state of the caches."""
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        out, err = self.lab("run", "saxpy_w128", "--device", "cpu", "--axis", "size=1Mi", "--no-dumps", "--no-yardstick",
                            "--cache", state, "--max-time", "0.1", "--json", "r.jsonl")
        self.assertEqual(err, "")
        return self.records()[0], words(out)

    def test_the_cache_state_is_in_the_record_and_above_the_table(self):
        self.profile_of_last_level(8 << 20)
        for state, sets in (("cold", 1), ("rotate", 16)):
            record, page = self.saxpy(state)
            self.assertIn(f" cache={state} (4 times the last level, 8 MiB measured, ", page)
            self.assertEqual((record["time"]["cache"], record["time"]["sets"]), (state, sets))
            if state == "cold":
                self.assertEqual(record["time"]["per_sample"], 1)

    def test_a_last_level_of_any_size_rotates_or_says_why_not(self):
        for size, sets in ((512 << 10, 1), (64 << 20, 128), (16 << 30, None)):
            with self.subTest(last_level=size):
                self.profile_of_last_level(size)
                record, page = self.saxpy("rotate")
                if sets:
                    self.assertEqual((record["status"], record["time"]["sets"]), ("ok", sets))
                else:
                    self.assertEqual(record["status"], "unsupported")
                    self.assertIn(f"'rotate' needs {4 * size >> 21} sets of 2 MiB", page)

    def test_of_copy_is_against_a_copy_of_the_cells_own_footprint_whatever_the_last_level(self):
        for last_level in (512 << 10, 1 << 30):
            with self.subTest(last_level=last_level):
                self.profile_of_last_level(last_level)
                self.lab("run", "saxpy_w32", "saxpy_w64", "--device", "cpu", "--axis", "size=512Ki,1Mi", "--no-dumps", "--max-time", "0.05",
                         "--json", "r.jsonl")
                records = self.records()
                self.assertEqual(len(records), 4)  # the copy has no record of its own
                for record in records:
                    copy = record["yardstick"]
                    self.assertEqual(record["device"]["last_level_bytes"], last_level)
                    self.assertEqual(copy["bytes"], 2 * record["point"]["size"])
                    self.assertEqual(copy["cache"], "hot")
                    share = record["metrics"]["bandwidth"]["value"] / copy["bandwidth"]
                    self.assertAlmostEqual(record["metrics"]["of_copy"]["value"] / (100 * share), 1, delta=1e-6)
                (self.folder / "r.jsonl").unlink()
        self.lab("run", "saxpy_w32", "--device", "cpu", "--axis", "size=512Ki", "--no-dumps", "--max-time", "0.05", "--json", "r.jsonl",
                 "--no-yardstick")
        self.assertNotIn("yardstick", self.records()[0])
        self.assertNotIn("of_copy", self.records()[0]["metrics"])

    def test_a_kernel_that_cannot_rotate_is_unsupported_with_its_reason(self):
        self.lab("run", "bandwidth_reread", "--device", "cpu", "--no-dumps", "--no-yardstick", "--cache", "rotate",
                 "--json", "r.jsonl")
        self.assertEqual(self.records()[0]["status"], "unsupported")
        self.assertIn("trip counts", self.records()[0]["reason"])

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

    def test_a_target_that_nothing_here_compiles_for_names_the_command_that_adds_it(self):
        _, err = self.lab("isa", "pitch_short8", "--target", "sm_80", status=3, env=self.environment(PATH=str(self.folder)))
        self.assert_one_sentence(err, "sm_80", "apt-get install clang-15 libclc-15")

    def test_an_unknown_device_lists_those_there_are(self):
        _, err = self.lab("--device", "H100", "--kernel", "muladd_fma", status=3)
        self.assertRegex(err, r"\Acllab: no device matches 'H100'; there is 1: ")
        self.assertNotIn("did you mean", err)
        _, err = self.lab("run", "muladd_fma", "--device", "cpuu", status=3)
        self.assertRegex(err, r"\Acllab: no device matches 'cpuu'; there is 1: [^\n]*; did you mean cpu\?\n\Z")

    def test_a_selector_past_the_last_device_is_named(self):
        _, err = self.lab("--device", "7:0", "--kernel", "muladd_fma", status=3)
        self.assertIn("7:0", err)

    def test_output_files_are_opened_before_the_first_build(self):
        for option in ("--json", "--csv"):
            out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--no-dumps", option, "absent/r", status=3)
            self.assertEqual(out, "")
            self.assert_one_sentence(err, "absent/r", option, "No such file")


class Terminal(LabTest):
    def shown(self, *args, rows=24, columns=80, **changes):
        """What a command prints on a terminal of that size."""
        leader, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        process = subprocess.Popen([CLLAB, *args], cwd=self.folder, env=self.environment(TERM="xterm", **changes), stdin=subprocess.DEVNULL,
                                   stdout=follower, stderr=subprocess.PIPE)
        os.close(follower)
        out = b""
        while True:
            try:
                more = os.read(leader, 65536)
            except OSError:  # the last to hold the other end is gone
                break
            if not more:
                break
            out += more
        os.close(leader)
        err = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, err)
        return out.decode().replace("\r\n", "\n")

    def test_what_is_longer_than_the_screen_goes_through_the_pager(self):
        whole = self.lab("list")[0]
        lines = whole.count("\n")
        pager = {"PAGER": "sed 's/^/paged: /'"}
        self.assertEqual(self.shown("list", columns=80, **pager), "".join(f"paged: {line}\n" for line in whole.splitlines()))
        self.assertEqual(self.shown("list", rows=lines + 1, columns=80, **pager), whole)
        self.assertTrue(self.shown("list", rows=lines, columns=80, **pager).startswith("paged: "))
        self.assertTrue(self.shown("list", rows=lines + 1, columns=20, **pager).startswith("paged: "), "wrapped lines take more")
        self.assertEqual(self.shown("list", "--no-pager", columns=80, **pager), whole)
        self.assertEqual(self.shown("list", columns=80, PAGER=""), whole)
        self.assertIn("paged: Usage", self.shown("run", "--help", **pager))
        # One that is not there costs nothing, one that ends early is no error.
        self.assertTrue(self.shown("list", columns=80, PAGER="/absent/pager").endswith(whole))
        self.assertEqual(self.shown("list", columns=80, PAGER="head -n 1"), whole.splitlines(keepends=True)[0])

    def widths(self, page):
        """Lines that are wider than they need to be are named by their width; a word alone, such as a path, is as wide as it is."""
        return [len(line) for line in page.splitlines() if " " in line.strip()]

    def test_every_page_fits_a_pipe_of_80_columns_and_any_terminal(self):
        families = sorted({variant["family"] for variant in json.loads(self.lab("list", "--json")[0])})
        pages = [["list"], ["devices"], ["isa", "--targets"], ["isa", "pitch_struct", "--target", "gfx900", "--target", "sm_80"]] + [["describe", family] for family in families]
        for page in pages:
            status = None if page[0] == "isa" else 0  # a compiler for a target may not be here
            out = self.lab(*page, status=status)[0]
            self.assertLessEqual(max(self.widths(out), default=0), 80, page)
        for columns in (50, 120):
            for page in pages[:2] + pages[4:6]:
                self.assertLessEqual(max(self.widths(self.shown(*page, rows=2000, columns=columns))), columns, (page, columns))
        # What is told is the same in any width.
        narrow, wide = (self.shown("describe", "pitch", rows=2000, columns=columns).split() for columns in (50, 300))
        self.assertEqual("".join(narrow), "".join(wide))

    def test_a_tables_columns_are_asked_for_and_a_mistyped_one_is_refused_before_anything_runs(self):
        for command in (["profile"], ["regress", "absent"], ["isa", "pitch_wide"]):
            err = self.lab(*command, "--columns", "targt", status=2)[1]
            self.assert_one_sentence(err, "no table has a column 'targt' (--columns)")
        self.assertIn("did you mean target?", self.lab("isa", "pitch_wide", "--columns", "targt", status=2)[1])
        self.assertEqual(self.lab("complete", "--", "profile", "--columns", "driv")[0], "driver_says\n")

    def test_the_table_fits_eighty_columns_in_a_pipe_and_names_what_was_left_out(self):
        long = "a_kernel_whose_name_takes_more_than_the_eighty_columns_that_a_line_of_the_table_may_take"
        (self.folder / "own.cl").write_text("/*cllab\naxis number_of_elements = 256, 512\narg x = rand:number_of_elements\narg y = out:number_of_elements\n"
                                            "global number_of_elements\n*/\n" + "".join(
            f"__kernel void {name}(__global const float* x, __global float* y) {{ y[get_global_id(0)] = x[get_global_id(0)]; }}\n" for name in ("c", long)))
        for what in (["pitch_short8", "pitch_struct_constant", "pitch_loop", "--axis", "width=256", "--axis", "height=128"], ["saxpy", "--axis", "size=64Ki,128Ki"], ["himeno_wide", "himeno_region", "himeno_schedule", "--axis", "size=XXS"],
                     ["latency_global", "--axis", "footprint=4Ki,8Ki", "--axis", "order=paged,random"], ["own.cl"]):
            with self.subTest(what=what):
                out, _ = self.lab("run", *what, "--device", "cpu", "--max-time", "0.005", "--no-yardstick", "--dumps", "d", "--hot", "0")
                table = out.split("\n\nhimeno_")[0]  # what the known benchmark prints is as it prints it
                self.assertEqual([line for line in table.splitlines() if len(line) > 80 and "/" not in line], [])
                # The first has only as many as fit where the system does not tell what pages it gave; the other has few, of the width of their times.
                if what[0] not in ("latency_global", "own.cl"):
                    self.assertRegex(words(out), r"columns left out: \w[^;]*; --columns all")
                self.assertRegex(out, r"time \[\w+\]|per step \[\w+\]")
        self.assertIn(long, out.replace("\n  ", ""))

    def test_columns_are_shown_on_request_however_wide(self):
        run = ["run", "muladd", "--axis", "items=64,128", "--device", "cpu", "--max-time", "0.005", "--no-yardstick", "--json", "r.jsonl", "--no-dumps"]
        shown = lambda *args: next(line for line in self.lab(*args)[0].splitlines() if line.startswith("  kernel")).split()
        self.assertEqual(shown(*run, "--columns", "inner-loop,offset,spills")[:4], ["kernel", "items", "offset", "status"])
        self.assertEqual(shown("report", "r.jsonl", "--columns", "time")[:4], ["kernel", "items", "status", "time"])
        every = self.lab("report", "r.jsonl", "--columns", "all")[0]
        for column in ("items", "checked by", "clock", "cache", "GB/s", "local"):
            self.assertIn(column, every)
        self.assertTrue(any(len(line) > 80 for line in every.splitlines()))
        self.assertNotIn("left out", every)
        self.assertIn("no row has: download", self.lab("report", "r.jsonl", "--columns", "download")[0])
        self.assertEqual(self.shown("report", "r.jsonl", "--no-pager", columns=300).count("columns left out"), 0)

    def test_a_runs_table_is_paged_too_and_a_pipe_is_not(self):
        run = ["run", "muladd", "--device", "cpu", "--axis", "items=64,128,256,512", "--verify", "--no-dumps"]
        self.assertIn("paged: ", self.shown(*run, rows=8, PAGER="sed 's/^/paged: /'"))
        self.assertNotIn("paged: ", self.lab(*run, env=self.environment(PAGER="sed 's/^/paged: /'"))[0])


if __name__ == "__main__":
    unittest.main()
