#!/usr/bin/env python3
"""The search of `cllab tune` as a user meets it: what a line `where` leaves out, what a budget leaves untried, and what a file of records saves."""
import json
import re
import signal
import time
import unittest

from kernel_files import KernelFileTest
from lab import main, words

# With 3 elements per work-item it does not build: that point breaks the line `where`.
SCALE = """/*cllab
axis n = 4096
axis l tune = 16, 32, 64
axis per tune = 1, 2, 3, 4, 8
options -DPER={per}
where n % (l * per) == 0
arg src = rand:n
arg dst = out:n
global n / per
local l
*/
#if PER == 3
#error PER is 3
#endif
__kernel void scale(__global const float* src, __global float* dst) {
    const int i = get_global_id(0) * PER;
    for (int j = 0; j < PER; ++j) dst[i + j] = 2 * src[i + j];
}
"""
# 4 * 800 * 4 points, of four texts: what differs else is a scalar argument.
MANY = SCALE.replace("axis per tune = 1, 2, 3, 4, 8", "axis per tune = 1, 2, 4, 8\naxis a tune = 1:800:+1\naxis b tune = 1:4:+1").replace(
    "axis l tune = 16, 32, 64", "axis l = 16").replace("arg dst", "arg a = a\narg b = b\narg dst").replace("float* dst)", "float* dst, int a, int b)")
QUICK = ("--device", "cpu", "--max-time", "0.01")


def cells(records):
    return [r for r in records if "record" not in r]


def points(records):
    return {tuple(sorted(r["point"].items())) for r in cells(records)}


class Where(KernelFileTest):
    def test_run_skips_points_excluded_by_where_and_counts_them_once(self):
        self.write(SCALE)
        _, err = self.lab("run", "t.cl", *QUICK, "--no-dumps", "--axis", "per=1,2,3", "--axis", "l=16,32", "--json", "r.jsonl")
        self.assertEqual(sorted((r["point"]["l"], r["point"]["per"], r["status"]) for r in self.records()), [(l, per, "ok") for l in (16, 32) for per in (1, 2)])
        self.assertEqual(err.count("2 cell(s) skipped by 'where' lines"), 1)

    def test_tune_skips_points_excluded_by_where(self):
        self.write(SCALE)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--json", "r.jsonl")
        self.assertRegex(words(out), r"15 points of l, per, 3 left out by 'where' all 12 tried; 12 have a time")
        self.assertEqual({r["status"] for r in cells(self.records())}, {"ok"})
        self.assertEqual(len(points(self.records())), 12)

    def test_the_command_line_adds_conditions(self):
        self.write(SCALE)
        for more, left in ((["--where", "l < 64 && per != 8"], 6), (["--where", "l < 64", "--where", "per >= 4 || l == 16"], 6), (["--where", "max(l, 32) <= 32 && (per == 1 || per == 2)"], 4)):
            out, _ = self.lab("tune", "t.cl", *QUICK, *more, "--json", "r.jsonl", "--force")
            self.assertIn(f"all {left} tried", words(out))
            self.assertEqual(len(points(self.records())), left)

    def test_condition_may_name_a_scalar_argument_and_one_kernel(self):
        other = "__kernel void other(__global const float* src, __global float* dst, int size) { const int i = get_global_id(0); if (PER * i < size) dst[i] = src[i]; }\n"
        self.write(SCALE.replace("*/", "kernel other\narg dst = out:n/per\narg size = 2 * per\nwhere size > 4\n*/", 1) + other)
        self.lab("run", "t.cl", *QUICK, "--no-dumps", "--axis", "per=1,2,4", "--json", "r.jsonl")
        self.assertEqual(sorted((r["variant"], r["point"]["per"]) for r in self.records()), [("other", 4), ("scale", 1), ("scale", 2), ("scale", 4)])

    def test_condition_that_excludes_all_points_is_one_sentence(self):
        self.write(SCALE)
        for command in ("run", "tune"):
            _, err = self.lab(command, "t.cl", *QUICK, "--where", "per > 8", status=2)
            self.assert_one_sentence(err, "no points left: ", "t.cl:6:", "where n % (l * per) == 0", "--where 'per > 8'", "exclude all 15 points" if command == "tune" else "exclude the only point")

    def test_condition_with_an_unknown_name_is_one_sentence(self):
        self.write(SCALE)
        for command in ("run", "tune"):
            _, err = self.lab(command, "t.cl", *QUICK, "--where", "tile > 8", status=2)
            self.assert_one_sentence(err, "--where", "'tile' is not defined; known names are", "per")
        _, err = self.lab("run", "saxpy", "--where", "size > 8", status=2)
        self.assert_one_sentence(err, "option '--where' applies to kernel files")

    def test_default_that_violates_a_condition_is_replaced(self):
        self.write(SCALE.replace("1, 2, 3, 4, 8", "3, 4, 8"))
        out, _ = self.lab("tune", "t.cl", *QUICK)
        self.assertIn("the default breaks a line 'where'; l=16 per=4 stands for it", words(out))
        _, err = self.lab("run", "t.cl", *QUICK, status=2)
        self.assert_one_sentence(err, "no points left", "excludes the only point")

    def test_large_space_with_few_valid_points_is_listed_completely(self):
        self.write(SCALE.replace("axis per tune = 1, 2, 3, 4, 8", "axis per tune = 1, 2, 4, 8\n" + "".join(f"axis {x} tune = 1:30:+1\n" for x in "abcd") + "where a == b\nwhere b == c\nwhere d == 1\nwhere a < 3"))
        out, _ = self.lab("tune", "t.cl", *QUICK)
        self.assertIn("9720000 points of l, per, a, b, c, d, 9719976 left out by 'where' all 24 tried", words(out))


class Budget(KernelFileTest):
    def test_budget_ends_the_search_and_untried_points_are_counted(self):
        self.write(MANY)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--budget", "4", "--json", "r.jsonl")
        found = re.search(r"12800 points of per, a, b (\d+) tried in 4 s \(--budget\): some at random, then those that a model of the times picks; the other (\d+) were not; (\d+) have a time", words(out))
        self.assertIsNotNone(found, out)
        tried, others, timed = map(int, found.groups())
        self.assertEqual(tried + others, 12800)
        self.assertEqual(timed, tried)
        self.assertEqual(len(points(self.records())), tried)
        self.assertIn("cllab run t.cl:scale", out)

    def test_points_limits_the_search_of_this_run(self):
        self.write(MANY)
        for strategy in ("auto", "random"):
            out, _ = self.lab("tune", "t.cl", *QUICK, "--points", "20", "--strategy", strategy, "--json", f"{strategy}.jsonl")
            self.assertRegex(words(out), r"12800 points of per, a, b 20 tried: .* the other 12780 were not; 20 have a time")
            self.assertEqual(len(points(self.records(f"{strategy}.jsonl"))), 20)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--points", "5", "--resume", "auto.jsonl")
        self.assertIn("25 tried", words(out))
        self.assertIn("20 of them earlier", words(out))
        self.assertEqual(len(points(self.records("auto.jsonl"))), 25)

    def test_search_ends_at_the_first_of_points_and_budget(self):
        self.write(MANY)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--points", "10", "--budget", "120")
        self.assertIn("10 tried in 120 s (--budget)", words(out))
        out, _ = self.lab("tune", "t.cl", *QUICK, "--points", "10000", "--budget", "1")
        self.assertLess(int(re.search(r"(\d+) tried in 1 s", words(out))[1]), 300)
        self.write(SCALE)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--points", "12", "--budget", "120")
        self.assertIn("all 12 tried", words(out))
        _, err = self.lab("tune", "t.cl", *QUICK, "--points", "0", status=2)
        self.assert_one_sentence(err, "--points", "whole numbers from 1 to 100000")

    def test_all_points_are_tried_if_they_fit_the_budget(self):
        self.write(SCALE)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--budget", "120")
        self.assertIn("all 12 tried", words(out))

    def test_strategy_is_an_option_and_printed_on_the_page(self):
        self.write(MANY)
        for strategy, said in (("all", "at random"), ("random", "at random"), ("model", "some at random, then those that a model of the times picks")):
            out, _ = self.lab("tune", "t.cl", *QUICK, "--budget", "2", "--strategy", strategy)
            self.assertRegex(words(out), rf"\d+ tried in 2 s \(--budget\): {said}")
        _, err = self.lab("tune", "t.cl", *QUICK, "--strategy", "grid", status=2)
        self.assert_one_sentence(err, "option '--strategy': expected auto, all, random or model, found 'grid'")

    def test_an_interrupt_prints_the_fastest_so_far_and_keeps_the_records(self):
        self.write(MANY)
        process = self.start("tune", "t.cl", *QUICK, "--strategy", "all", "--json", "r.jsonl")
        until = time.monotonic() + 120
        while time.monotonic() < until and not ((self.folder / "r.jsonl").exists() and len(self.records()) >= 70):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertRegex(words(out), r"12800 points of per, a, b interrupted; \d+ have a time the fastest so far, not yet held against any other: per=")
        timed = int(re.search(r"(\d+) have a time", out)[1])
        self.assertEqual(len(points(self.records())), timed)
        table = re.findall(r"(?m)^ +[\d.]+ [num]?s  (per=\d+ a=\d+ b=\d)$", out)
        self.assertEqual((len(table), table[0]), (20, re.search("any other: (.*)", out)[1]))
        self.assertIn(f"and {timed - 20} slower ones", out)
        self.assertIn("goes on from the points in the file: cllab tune t.cl --device cpu --max-time 0.01 --strategy all --resume r.jsonl", words(err))

    def test_interrupt_after_the_search_prints_the_measured_points(self):
        self.write(SCALE)
        process = self.start("tune", "t.cl", "--device", "cpu", "--max-time", "20", "--json", "-")
        for _ in range(12):  # a record comes when its point is done
            self.assertIn('"point"', process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertTrue(all(line.startswith("{") for line in out.splitlines()), out)
        self.assertEqual(len(re.findall(r"(?m)^ +[\d.]+ [num]?s  l=\d+ per=\d$", err)), 12, out + err)
        self.assertIn("no file keeps the points; this would, and goes on from them: cllab tune t.cl --device cpu --max-time 20 --resume FILE", words(err))


class Search(KernelFileTest):
    def test_search_uses_one_input_and_stops_slow_points_early(self):
        self.write(SCALE.replace("axis per tune = 1, 2, 3, 4, 8", "axis per = 1\naxis slow tune = 1, 400").replace("-DPER={per}", "-DPER={per} -DSLOW={slow}").replace(
            "dst[i + j] = 2 * src[i + j];", "{ float x = src[i + j]; for (int k = 0; k < SLOW; ++k) x = sqrt(x + 1); dst[i + j] = SLOW > 1 ? 2 * src[i + j] + (x > 100) : 2 * src[i + j]; }").replace(
            "local l", "local l\nkernel scale\nreference plain") + "__kernel void plain(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = 2 * src[i]; }\n")
        out, _ = self.lab("tune", "t.cl:scale", *QUICK, "--axis", "l=64", "--json", "r.jsonl")
        records = cells(self.records())
        search, finals = records[:2], records[2:]
        for r in search:
            self.assertEqual((r["status"], r["checked_by"]), ("ok", "reference plain, one input"), r)
            cut = [w for w in r["warnings"] if w.startswith("cut: its first samples took at least ")]
            self.assertEqual((len(cut), r["time"]["stop_reason"] == "cut"), (1, True) if r["point"]["slow"] > 1 else (0, False), r)
        self.assertEqual({r["checked_by"] for r in finals}, {"reference plain"})
        self.assertRegex(out, "all tried; 2 have a time")
        self.assertNotIn("--axis slow=400", out)

    def test_points_share_memory_and_a_bad_write_harms_no_other(self):
        self.write(SCALE.replace("axis per tune = 1, 2, 3, 4, 8", "axis per = 1\naxis bad tune = 0, 1, 2, 3").replace("-DPER={per}", "-DPER={per} -DBAD={bad}").replace(
            "local l", "local l\nkernel scale\nreference plain").replace("dst[i + j] = 2 * src[i + j];", """{
        dst[i + j] = 2 * src[i + j] + (BAD == 1);
        if (BAD == 2) ((__global float*)src)[i + j] = 7;
        if (BAD == 3 && i == 0) dst[-1] = 7;
    }""") + "__kernel void plain(__global const float* src, __global float* dst) { const int i = get_global_id(0); dst[i] = 2 * src[i]; }\n")
        out, _ = self.lab("tune", "t.cl:scale", *QUICK, "--json", "r.jsonl", status=1)
        statuses = {}
        for r in cells(self.records()):
            statuses.setdefault(r["point"]["bad"], []).append(r["status"])
        self.assertEqual(set(statuses[0]), {"ok"})
        for bad in (1, 3):
            self.assertEqual(set(statuses[bad]), {"wrong_result"})
        # Its first launch is right, and those of the others are: the finals see what it does to itself.
        self.assertEqual((statuses[2][:3], set(statuses[2][3:])), (["ok"] * 3, {"wrong_result"}))
        self.assertEqual(set(re.findall(r"failed at (?:\d+ points, such as )?\S+ bad=(\d)", words(out))), {"1", "2", "3"})

    def test_each_reason_is_printed_once_with_the_number_of_its_points(self):
        self.write(SCALE.replace("dst[i + j] = 2 * src[i + j];", """
#if PER > 2
        nowhere = PER;
#elif PER == 2
        missing = PER;
#else
        dst[i + j] = 2 * src[i + j];
#endif
"""))
        out, _ = self.lab("tune", "t.cl", *QUICK, "--axis", "per=1,2,4,8", "--axis", "l=16,32", status=1)
        self.assertEqual(re.findall(r"failed at (\d+) points, such as l=\d+ per=(\d): .*?'(\w+)'", words(out)), [("4", "4", "nowhere"), ("2", "2", "missing")])
        self.assertEqual(out.count("failed at"), 2)


class Resume(KernelFileTest):
    def tune(self, *more):
        out, _ = self.lab("tune", "t.cl", *QUICK, "--resume", "r.jsonl", *more)
        found = re.search(r"(\d+) of them earlier \(r.jsonl\)", words(out))
        return out, int(found[1]) if found else 0

    def test_known_points_are_not_measured_again(self):
        self.write(SCALE)
        _, known = self.tune("--axis", "per=1,2")
        self.assertEqual(known, 0)
        before = self.records()
        out, known = self.tune()
        self.assertEqual(known, 6)
        self.assertIn("all 12 tried", words(out))
        new = self.records()[len(before):]
        self.assertEqual(self.records()[:len(before)], before)
        # Those of the search, with the fastest that was known beside them; then the finals.
        measured = [(r["point"]["l"], r["point"]["per"]) for r in cells(new)]
        self.assertEqual({p for p in measured[:6] if p[1] in (1, 2)}, set())
        self.assertEqual(len(measured), 6 + 1 + 6)

    def test_resume_continues_after_a_kill_within_a_record(self):
        self.write(MANY)
        few = ("--axis", "a=1:20:+1", "--axis", "b=1", "--axis", "per=1,2,4")
        process = self.start("tune", "t.cl", *QUICK, *few, "--strategy", "all", "--json", "r.jsonl")
        until = time.monotonic() + 120
        while time.monotonic() < until and not ((self.folder / "r.jsonl").exists() and len((self.folder / "r.jsonl").read_text().splitlines()) >= 5):
            time.sleep(0.02)
        process.kill()
        process.communicate(timeout=120)
        text = (self.folder / "r.jsonl").read_text()
        (self.folder / "r.jsonl").write_text(text[:-40])
        kept = text[:-40].count("\n")
        out, known = self.tune(*few, "--strategy", "all")
        self.assertTrue(0 < known <= kept, out)
        self.assertRegex(words(out), r"60 points of per, a all tried; \d+ of them earlier")
        lines = (self.folder / "r.jsonl").read_text().splitlines()
        measured = [tuple(sorted(r["point"].items())) for r in cells([json.loads(line) for n, line in enumerate(lines) if n != kept])]
        self.assertEqual(len(set(measured)), 60)

    def test_changed_text_options_or_arguments_are_measured_again(self):
        self.write(SCALE)
        few = ("--axis", "per=1", "--axis", "l=16,32")
        self.tune(*few)
        for more in (["--build-options", "-DOTHER"], ["--arg", "src=rand:n:0:2"], ["--axis", "n=2048"]):
            self.assertEqual(self.tune(*few, *more)[1], 0, more)
        self.write(SCALE.replace("2 *", "3 *"))
        self.assertEqual(self.tune(*few)[1], 0)

    def test_failed_point_fails_the_resumed_tuning(self):
        self.write(SCALE.replace("where n % (l * per) == 0\n", "").replace("global n / per", "global n - n % 192"))
        failed = []
        for again in (False, True):
            out, err = self.lab("tune", "t.cl", *QUICK, "--resume", "r.jsonl", "--axis", "n=192", status=1)
            self.assertEqual("of them earlier" in words(out), again, out)
            failed.append(re.findall("failed at (.*?):", out))
        self.assertIn(" per=3", " ".join(failed[0]))
        self.assertEqual(*failed)

    def test_resume_file_holds_the_records(self):
        self.write(SCALE)
        _, err = self.lab("tune", "t.cl", *QUICK, "--resume", "r.jsonl", "--json", "q.jsonl", status=2)
        self.assert_one_sentence(err, "--resume FILE writes the records to FILE, so it cannot be combined with --json")


class Winner(KernelFileTest):
    def test_winner_is_compared_with_default_and_second_in_new_processes(self):
        # Four values of `add` that cost the same: at least one stays close to the fastest on a machine that is disturbed.
        self.write(SCALE.replace("axis n = 4096", "axis n = 4096\naxis slow tune = 64, 1, 2\naxis add tune = 1, 2, 3, 4").replace(
            "-DPER={per}", "-DPER={per} -DSLOW={slow} -DADD={add}").replace(
            "dst[i + j] = 2 * src[i + j];", "{ float x = src[i + j]; for (int k = 0; k < SLOW; ++k) x = sqrt(x + ADD); dst[i + j] = x; }").replace("2 * src", "src").replace(
            "arg dst", "tolerance absolute=10\narg dst"))
        out, _ = self.lab("tune", "t.cl", "--device", "cpu", "--max-time", "0.05", "--axis", "per=1", "--axis", "l=64", "--json", "r.jsonl")
        compared = [(c["left"], c["right"]) for c in self.records() if c.get("record") == "comparison"]
        fastest = out.split("measured again:\n")[1].split("  ")[2].strip()
        # A default that takes four times as long needs no fresh process.
        if "more than any placement explains" not in words(out):
            self.assertEqual(compared.pop(0), (fastest, "the default"))
        self.assertGreater(len(compared), 0, out)
        for left, right in compared:
            self.assertEqual(left, fastest)
            self.assertNotIn("slow=64", right)
        seeds = [[a["seed"] for a in c["arrangements"]] for c in self.records() if c.get("record") == "comparison"]
        self.assertEqual(seeds, [seeds[0]] * len(seeds))
        self.assertRegex(out, r"cllab run t.cl:scale --device \S+ .*--axis slow=[12]( --axis add=\d)?( --axis l=\d+)?\n")

    def test_build_options_are_a_tuned_axis(self):
        self.write(SCALE)
        out, _ = self.lab("tune", "t.cl", *QUICK, "--axis", "options=,-cl-mad-enable", "--axis", "per=1", "--axis", "l=16")
        self.assertIn("2 points of options all tried", words(out))
        self.assertIn("options=-cl-mad-enable", out)


if __name__ == "__main__":
    main()
