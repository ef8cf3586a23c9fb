"""Outputs and dumps: nothing of the user's is destroyed, nothing finished is lost."""
import csv
import fcntl
import json
import os
import pathlib
import signal
import subprocess
import unittest

from files import PICTURE, RUN, SMALL, FilesTest, record
from lab import CLLAB, words


class Outputs(FilesTest):
    def test_input_is_never_an_output_under_any_name(self):
        self.panel()
        cl = self.kernels()
        (self.folder / "soft.pgm").symlink_to("panel.pgm")
        os.link(self.folder / "panel.pgm", self.folder / "hard.pgm")
        self.put("a.jsonl", record())
        (self.folder / "soft.jsonl").symlink_to("a.jsonl")
        for name in ("panel.pgm", "./panel.pgm", "soft.pgm", "hard.pgm"):
            for option in (["--output", f"dst={name}"], ["--json", name], ["--csv", name]):
                self.refused([*PICTURE, "--input", "src=panel.pgm", *option, "--force"], "is also the input", "panel.pgm")
        for name in (cl / "muladd.cl", cl / "include" / "lab.h", cl / "pitch.cl"):
            self.refused([*RUN, "--cl-dir", cl, "--json", name, "--force"], "is also the input", name.name)
            self.refused(["tune", "gemm_tile8", "--cl-dir", cl, "--csv", name, "--force"], "is also the input", name.name)
        for name in ("a.jsonl", "soft.jsonl", "./a.jsonl"):
            self.refused(["report", "a.jsonl", "--csv", name, "--force"], "is also the input")
            self.refused(["report", "a.jsonl", "--csv", name, "--append"], "has other columns")
        with open(self.folder / "a.jsonl", "a") as out:
            done = subprocess.run([CLLAB, "report", "a.jsonl", "--csv", "-"], cwd=self.folder, stdout=out, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("standard output (--csv) is also the input", done.stderr)

    def test_endless_or_unwritten_files_are_refused_without_waiting(self):
        self.put("includes.cl", '#include "f.h"\n__kernel void k(__global int* a) { a[0] = 1; }\n')
        self.put("beside.cl", "__kernel void k(__global int* a) { a[0] = 1; }\n")
        for name in ("f.h", "beside.cllab", "f.jsonl", "f.cl", "f.pgm", "base/records.jsonl", "capture/kernel.cl", "cl/muladd.cl"):
            (self.folder / name).parent.mkdir(exist_ok=True)
            os.mkfifo(self.folder / name)
        pipe = "is a named pipe"
        self.refused_lines(["report", "f.jsonl"], pipe, "no file can be read")
        self.refused_lines(["report", "/dev/zero"], "is a device", "no file can be read")
        for args in (["why", "f.jsonl"], ["isa", "f.jsonl"], ["regress", "base"], ["run", "f.cl"], ["run", "includes.cl"], ["run", "beside.cl"],
                     ["run", "--replay", "capture"], [*PICTURE, "--input", "src=f.pgm"], ["isa", "muladd_fma", "--target", "gfx900", "--cl-dir", "cl"],
                     ["run", "f.cl", "--arg", "a=file:f.pgm"]):
            self.refused_lines(args, pipe)

    def refused_lines(self, args, *parts):
        with self.subTest(" ".join(args)):
            _, err = self.lab(*args, status=2, timeout=30)
            for part in parts:
                self.assertIn(part, err)

    def test_pipe_with_a_writer_is_read(self):
        self.put("a.jsonl", record())
        done = subprocess.run(["bash", "-c", f"'{CLLAB}' report <(cat a.jsonl)"], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, self.lab("report", "a.jsonl")[0]), done.stderr)

    def test_file_at_its_size_limit_gives_an_error_sentence(self):
        done = subprocess.run(["bash", "-c", f"ulimit -f 1; '{CLLAB}' {' '.join(RUN)} --json r.jsonl"], cwd=self.folder, env=self.environment(),
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("'r.jsonl' (--json): writing failed: File too large", done.stderr)

    def test_image_output_of_an_unknown_buffer_is_refused_before_building(self):
        self.panel()
        self.refused([*PICTURE, "--input", "src=panel.pgm", "--output", "dts=new.pgm", "--json", "new"], "'dts'", "possible buffers: dst")
        self.refused([*RUN, "--output", "dst=new.pgm"], "'muladd_fma' has no buffer 'dst'")
    def test_files_read_by_a_kernel_file_are_never_outputs(self):
        self.panel()
        self.put("h.h", "#define ONE 1\n")
        self.put("front.h", "typedef uchar value;\n")
        self.put("t.cllab", "global 64\n")
        self.put("ref.sh", "exit 1\n")
        (self.folder / "in.bin").write_bytes(bytes(64))
        (self.folder / "hard.bin").hardlink_to(self.folder / "in.bin")
        self.put("t.cl", """#include "h.h"
/*cllab
arg src = file:in.bin
arg pixels = image:panel.pgm
arg dst = out:64
local 64
include front.h
work bytes=192
*/
__kernel void k(__global const value* src, __global const uchar* pixels, __global uchar* dst) { dst[get_global_id(0)] = src[get_global_id(0)] + pixels[0] + ONE; }
""")
        before = self.contents()
        for name in ("h.h", "front.h", "t.cllab", "in.bin", "hard.bin", "panel.pgm", "t.cl"):
            for option in ("--json", "--csv", "--html"):
                with self.subTest(name=name, option=option):
                    self.refused(["run", "t.cl", "--device", "cpu", "--no-dumps", option, name, "--force"], "is also the input", name)
        self.refused(["run", "t.cl", "--device", "cpu", "--no-dumps", "--reference-command", "sh ref.sh", "--json", "ref.sh", "--force"], "is also the input")
        self.assertEqual(self.contents(), before)

    def test_replacing_a_file_keeps_its_other_hard_links(self):
        self.put("old.jsonl", "old\n")
        (self.folder / "kept").hardlink_to(self.folder / "old.jsonl")
        self.lab(*RUN, "--json", "old.jsonl", "--html", "page.html", "--force")
        self.assertEqual((self.folder / "kept").read_text(), "old\n")
        self.assertEqual(len(self.records("old.jsonl")), 1)
        self.assertEqual({p.name for p in self.folder.iterdir()} - {"dumps"}, {"kept", "old.jsonl", "page.html"})

    def test_two_outputs_must_be_two_files(self):
        self.put("there", "")
        (self.folder / "link").symlink_to("there")
        (self.folder / "dangling").symlink_to("s")
        (self.folder / "d").mkdir()
        for pair in (("s", "s"), ("s", "./s"), ("s", "d/../s"), ("-", "-"), ("-", "/dev/stdout"), ("there", "link"), ("s", "dangling")):
            self.refused([*RUN, "--json", pair[0], "--csv", pair[1]], "the same file", "--json", "--csv")
        self.refused([*PICTURE, "--output", "dst=x.png", "--json", "x.png"], "the same file", "--output dst")
        self.refused([*PICTURE, "--output", "dst=x.png", "--output", "dst=y.png"], "'dst' twice")

    def test_existing_file_is_kept_and_both_options_are_suggested(self):
        self.panel()
        self.put("old", "old\n")
        self.put("old.pgm", "old\n")
        self.put("a.jsonl", record())
        for args in ([*RUN, "--json", "old"], [*RUN, "--csv", "old"], ["dump", "muladd_fma", "--json", "old"],
                     ["tune", "gemm_tile8", "--json", "old"], ["report", "a.jsonl", "--csv", "old"]):
            self.refused(args, "'old'", "already exists", "--force", "--append")
        self.refused([*PICTURE, "--input", "src=panel.pgm", "--output", "dst=old.pgm"], "already exists", "--force")
        self.refused([*PICTURE, "--input", "src=panel.pgm", "--output", "dst=old.pgm", "--append"], "already exists", "--force")

    def test_run_that_cannot_start_leaves_the_outputs_unchanged(self):
        self.put("old", "old\n")
        for bad in (["--device", "nosuch"], ["--csv", "absent/r"], ["--csv", "/"]):
            self.refused([*RUN, "--json", "old", "--force", *bad], status=3)
            self.refused([*RUN, "--json", "new", *bad], status=3)
        for bad in (["--axis", "itmes=1"], ["--input", "src=absent.png"]):
            self.refused([*RUN, "--json", "old", "--force", *bad])
        self.refused([*PICTURE, "--axis", "width=20", "--json", "old", "--force"])
        self.refused([*PICTURE, "--axis", "width=20", "--json", "new", "--output", "dst=new.png"])

    def test_force_replaces_and_append_adds_with_one_header(self):
        self.put("r.jsonl", "x\n" * 1000)
        self.lab(*RUN, "--json", "r.jsonl", "--csv", "r.csv", "--force")
        self.assertEqual(len(self.records()), 1)
        text = (self.folder / "r.jsonl").read_text()
        (self.folder / "r.jsonl").write_text(text + text[:40])  # the last line was cut when a run was killed
        self.lab(*[part.replace("fma", "mad") for part in RUN], "--json", "r.jsonl", "--csv", "r.csv", "--append")
        first, cut, last = (self.folder / "r.jsonl").read_text().splitlines()
        self.assertEqual((first + "\n", cut), (text, text[:40]))
        self.assertEqual(json.loads(last)["status"], "ok")
        rows = (self.folder / "r.csv").read_text().splitlines()
        self.assertEqual([row.split(",")[0] for row in rows], ["id", "muladd_fma", "muladd_mad"])
        for _ in range(4):
            self.lab("report", "r.jsonl", "--csv", "all.csv", "--append")
        self.assertEqual([row.split(",")[0] for row in (self.folder / "all.csv").read_text().splitlines()], ["id"] + 4 * ["muladd_fma", "muladd_mad"])

    def test_records_are_not_appended_to_other_files(self):
        self.put("notes.txt", "my notes\n")
        self.put("other.csv", "id,family\n")
        self.refused([*RUN, "--append", "--json", "notes.txt"], "does not begin with a record")
        self.refused([*RUN, "--append", "--csv", "other.csv"], "columns")

    def test_a_second_run_does_not_write_into_the_file_of_the_first(self):
        path = self.put("r.jsonl", "")
        with open(path) as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for more in ([], ["--force"], ["--append"]):
                self.refused([*RUN, "--json", "r.jsonl", *more], "being written by another run", status=3)

    def test_image_output_follows_symlinks_and_failure_keeps_the_old_file(self):
        self.panel()
        real = self.put("real/map.pgm", "old\n")
        real.chmod(0o600)
        (self.folder / "map.pgm").symlink_to("real/map.pgm")
        picture = [*PICTURE, "--input", "src=panel.pgm", "--output", "dst=map.pgm"]
        wrong = self.kernels(pitch="kernel void KERNEL(void) {}\n")
        self.lab(*picture, "--force", "--cl-dir", wrong, status=None)
        self.assertEqual(real.read_text(), "old\n")
        self.lab(*picture, "--force")
        self.assertTrue((self.folder / "map.pgm").is_symlink())
        self.assertTrue(real.read_bytes().startswith(b"P5\n64 32\n"))
        self.assertEqual(real.stat().st_mode & 0o777, 0o600)
        self.assertEqual([p.name for p in real.parent.iterdir()], ["map.pgm"])


class Dumps(FilesTest):
    def dump(self, *more, **named):
        out, _ = self.lab("run", *SMALL, "--json", "r.jsonl", "--force", *more, **named)
        return self.records(), out

    def test_unwritable_dump_costs_a_warning_and_no_cell(self):
        cell = self.folder / self.dump()[0][0]["dump"]
        (cell / "isa.txt").unlink()
        (cell / "isa.txt" / "mine").mkdir(parents=True)
        for way in ([], ["--isolate"]):
            records, out = self.dump(*way)
            self.assertEqual((records[0]["status"], records[0]["dump"]), ("ok", ""))
            self.assertRegex(records[0]["warnings"][0], r"\Ano-dump: '[^\n]*isa\.txt' was not written by cllab and is kept")
            self.assertIn("no-dump: ", words(out))
        self.refused(["isa", "muladd_fma", "--device", "cpu", "--dumps", "dumps", "--axis", "items=64"], "isa.txt", status=3)
        (self.folder / "file").write_text("")
        for args in (["isa", "muladd_fma", "--target", "sm_80"], ["isa", "muladd_fma", "--device", "cpu"], ["profile"]):
            self.refused([*args, "--dumps", "file/below"], "file/below", status=3)

    def test_only_files_written_by_cllab_are_replaced(self):
        cell = self.folder / self.dump()[0][0]["dump"]
        own = {cell / "program.own": "mine", cell / "notes.md": "mine", cell.parent / "mine.txt": "mine"}
        for path, text in own.items():
            path.write_text(text)
        (cell / "options.txt").write_text("stale")
        records, _ = self.dump()
        self.assertEqual(records[0]["warnings"], [])
        self.assertNotEqual((cell / "options.txt").read_text(), "stale")
        self.assertEqual({path: path.read_text() for path in own}, own)
        listed = (cell / "files.txt").read_text().splitlines()[1:]
        self.assertEqual(sorted([*listed, "files.txt", "notes.md", "program.own"]), sorted(p.name for p in cell.iterdir()))

    def test_two_devices_of_one_name_have_separate_folders(self):
        twins = self.environment(POCL_DEVICES="pthread pthread")
        for _ in range(2):
            self.lab("run", "muladd_fma", "--axis", "items=64", "--verify", "--device", "0:0", "--device", "0:1", "--json", "r.jsonl",
                     "--force", env=twins)
            records = self.records()
            first, second = (record["dump"] for record in records)
            self.assertEqual(second.replace("-2/", "/"), first)
            for record in records:
                timing = json.loads((self.folder / record["dump"] / "timing.json").read_text())
                self.assertEqual(timing["device"]["selector"], record["device"]["selector"])
        # The profile of one is not the other's.
        path = self.folder / pathlib.Path(second).parent / "profile.json"
        figure = {"id": "fma.peak.float", "name": "float peak", "unit": "FLOP/s", "value": 1, "low": 1, "high": 1}
        path.write_text(json.dumps({"schema": 2, "device": records[1]["device"], "utc": "2026-01-01T00:00:00Z", "figures": [figure]}))
        for device, hits in (("0:0", 0), ("0:1", 1)):
            self.lab("run", "muladd_fma", "--axis", "items=4096", "--device", device, "--no-dumps", "--no-yardstick", "--max-time", "0.02",
                     "--json", "r.jsonl", "--force", env=twins)
            self.assertEqual(len([w for w in self.records()[0]["warnings"] if w.startswith("beyond-peak")]), hits, device)

    def test_two_runs_into_one_dumps_folder_do_not_mix(self):
        # Held as a second run holds it: the cell stays, its dump is left out once the patience ends.
        cell = self.folder / self.dump()[0][0]["dump"]
        before = (cell / "timing.json").read_text()
        with open(cell / "files.txt") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            records, _ = self.dump()
        self.assertEqual(records[0]["status"], "ok")
        self.assertIn("is being written by another run", records[0]["warnings"][0])
        self.assertEqual((cell / "timing.json").read_text(), before)


class FewSamples(FilesTest):
    def test_truncated_cell_says_so_in_record_and_table(self):
        # Twenty samples of this kernel take a second or more; the terminal shows when they are taken.
        leader, follower = os.openpty()
        process = subprocess.Popen([CLLAB, "run", "muladd_fma", "--device", "cpu", "--axis", "items=64Mi", "--json", "r.jsonl", "--max-time",
                                    "60", "--no-dumps", "--no-yardstick"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   env=self.environment(TERM="xterm"), stdout=subprocess.PIPE, stderr=follower, text=True)
        os.close(follower)
        self.addCleanup(os.close, leader)
        self.addCleanup(process.kill)
        shown = b""
        while shown.count(b": sample") < 2:
            shown += os.read(leader, 4096)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out)
        cell = self.records()[0]
        self.assertEqual((cell["status"], cell["time"]["stop_reason"]), ("ok", "interrupted"))
        self.assertEqual([w.split(":")[0] for w in cell["warnings"]].count("interrupted"), 1, cell["warnings"])
        self.assertIn("interrupted: the run ended during the sampling of this cell", out)
        self.assertEqual("low" in cell["time"], cell["time"]["n"] >= 6)

    def test_fewer_than_six_samples_have_no_interval_and_no_rank(self):
        def timed(variant, samples, **changes):
            middle = sorted(samples)[len(samples) // 2]
            time = {"unit": "s", "median": middle, "min": min(samples), "q1": min(samples), "q3": max(samples), "mad": 0, "n": len(samples),
                    "clock": "event"}
            if len(samples) >= 6:
                time |= {"low": min(samples), "high": max(samples)}
            return record(id=f"muladd_{variant}", variant=variant, time=time, samples=samples, **changes)

        few, many = [1e-3, 1.1e-3, 1.2e-3], [2e-3] * 6
        self.put("a.jsonl", timed("fma", few) + timed("mad", many))
        out, _ = self.lab("report", "a.jsonl", "--csv", "a.csv")
        self.assertRegex(out, r"muladd_fma +ok +\S+ +n = 3")
        self.assertNotIn("vs best", out)
        self.assertNotIn("fastest", out)
        with open(self.folder / "a.csv", newline="") as rows:
            self.assertEqual([(row["low_s"], row["high_s"]) for row in csv.DictReader(rows)], [("", ""), ("0.002", "0.002")])
        second = {"platform": "Q", "name": "M", "vendor": "V", "driver": "1", "type": "gpu", "selector": "1:0", "identity": "UUID 2"}
        self.put("b.jsonl", timed("fma", few, device=second) + timed("mad", few, device=second))
        out, _ = self.lab("report", "a.jsonl", "b.jsonl")
        self.assertNotRegex(out.split("\nmuladd: items=64\n")[-1], r"wins|fastest|\dx")


if __name__ == "__main__":
    unittest.main()
