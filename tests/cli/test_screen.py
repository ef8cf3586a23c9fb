"""What is shown on a terminal and in a pipe: the width of pages, the columns of a table."""
import fcntl
import json
import os
import re
import struct
import subprocess
import termios
import unittest

import made
from lab import CLLAB, LabTest, words


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

    def test_long_wait_is_shown_with_the_limit_and_its_option(self):
        (self.folder / "end.cl").write_text("/*cllab\narg y = out:64\nglobal 64\n*/\n__kernel void endless(__global int* y) {\n"
                                            "    volatile int k = 0;\n    while (k >= 0) k = k == 5 ? 1 : k + 1;\n    y[get_global_id(0)] = k;\n}\n")
        leader, follower = os.openpty()
        process = subprocess.Popen([CLLAB, "run", "end.cl", "--device", "cpu", "--no-dumps", "--timeout", "11"], cwd=self.folder,
                                   env=self.environment(TERM="xterm"), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        process.wait(timeout=100)
        err = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertIn("end_endless: phase 'verify' has taken 10 s; cllab ends it after 11 s (--timeout)", err)

    def test_help_fills_the_lines_of_a_narrow_terminal(self):
        for width in (60, 80, 100):
            lines = self.shown("tune", "--help", rows=200, columns=width).split("\n\n")[1].splitlines()
            self.assertGreater(len(lines), 3)
            for line, after in zip(lines, lines[1:]):
                self.assertLessEqual(len(line), width)
                self.assertGreater(len(f"{line} {after.split()[0]}"), width - 1, line)

    def test_strict_run_without_certainty_ends_with_5_and_a_reason(self):
        text = "".join(f"kernel void {name}(global float* x) {{ x[get_global_id(0)] *= 2; }}\n" for name in "ab")
        (self.folder / "k.cl").write_text(f"/*cllab\narg x = rand:65536\nglobal 65536\nlocal 64\nsame a, b\n*/\n{text}")
        run = ("run", "k.cl", "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.05")
        self.lab(*run)
        out, err = self.lab(*run, "--strict", status=5)
        self.assertIn("No variant is clearly the fastest", words(out))
        self.assertRegex(words(err), r"--strict: k_[ab] is disturbed|--strict: k has no fastest variant")

    def test_sort_orders_unranked_rows_by_time(self):
        maker = made.Maker()
        made.write(self.folder / "r.jsonl", [maker.record("pitch", name, seconds, samples=3) for name, seconds in (("b", 2e-3), ("c", 3e-3), ("a", 1e-3))])
        for options, order in (((), "bca"), (("--sort",), "abc")):
            out = self.lab("report", "r.jsonl", *options)[0]
            self.assertEqual("".join(re.findall(r"^  pitch_(\w)", out, re.MULTILINE)), order)

    def test_unranked_rows_are_sorted_by_time_with_untimed_ones_last(self):
        maker = made.Maker()
        records = [maker.record("pitch", name, seconds, samples=n) for name, seconds, n in (("e", 5e-3, 3), ("c", 3e-3, 20), ("a", 1e-3, 3), ("f", 6e-3, 3), ("b", 2e-3, 20))]
        records.insert(1, maker.record("pitch", "wrong", 1, status="wrong_result", reason="dst differs at 17") | {"metrics": {}, "samples": []})
        del records[1]["time"]
        made.write(self.folder / "r.jsonl", records)
        out = self.lab("report", "r.jsonl")[0]
        self.assertEqual("".join(re.findall(r"^  pitch_(\w)", out, re.MULTILINE)), "abcefw")

    def test_mistyped_column_is_refused_before_anything_runs(self):
        for command in (["profile"], ["regress", "absent"], ["isa", "pitch_wide"]):
            err = self.lab(*command, "--columns", "targt", status=2)[1]
            self.assert_one_sentence(err, "no table has a column 'targt' (--columns)")
        self.assertIn("did you mean target?", self.lab("isa", "pitch_wide", "--columns", "targt", status=2)[1])

    def test_table_fits_80_columns_in_a_pipe_and_lists_omissions(self):
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

    def test_requested_columns_are_shown_at_any_width(self):
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
        self.assertEqual(self.shown("report", "r.jsonl", columns=300).count("columns left out"), 0)


if __name__ == "__main__":
    unittest.main()
