"""Files, streams and arguments: nothing of the user's is destroyed, nothing finished is lost, nothing odd passes."""
import fcntl
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import unittest

from lab import CLLAB, SOURCE, LabTest, words

MAKE_PANEL = os.environ["CLLAB_MAKE_PANEL"]
SMALL = ["muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify"]
RUN = ["run", *SMALL, "--no-dumps"]
PICTURE = ["run", "pitch_wide", "--device", "cpu", "--verify", "--no-dumps"]


def record(**changes):
    """A line of `cllab run --json` for commands that only read records."""
    device = {"platform": "P", "name": "N", "vendor": "V", "driver": "1", "type": "gpu", "selector": "0:0", "identity": "UUID 1"}
    return json.dumps({"schema": 1, "id": "muladd_fma", "family": "muladd", "variant": "fma", "point": {"items": 64}, "status": "ok",
                       "reason": "", "device": device, "metrics": {}, "samples": [], "warnings": [], "host": {"name": "h"},
                       "utc": "2026-01-01T00:00:00Z"} | changes) + "\n"


class FilesTest(LabTest):
    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def panel(self, name="panel.pgm", *more):
        self.lab(name, "--width", 64, "--height", 32, "--defects", 0, *more, program=MAKE_PANEL)

    def refused(self, args, *parts, status=2, **more):
        """One sentence with the parts, the status, nothing on stdout, and no file made, changed or lost."""
        before = self.contents()
        out, err = self.lab(*args, status=status, **more)
        self.assertEqual(out, "")
        self.assertRegex(err, r"\A(cllab|make-panel): [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, err)
        self.assertEqual(self.contents(), before)

    def contents(self):
        return {str(p.relative_to(self.folder)): os.readlink(p) if p.is_symlink() else p.read_bytes()
                for p in self.folder.rglob("*") if p.is_symlink() or p.is_file()}


class Outputs(FilesTest):
    def test_an_input_is_never_an_output_by_whatever_name(self):
        self.panel()
        cl = self.kernels()
        (self.folder / "soft.pgm").symlink_to("panel.pgm")
        os.link(self.folder / "panel.pgm", self.folder / "hard.pgm")
        self.put("a.jsonl", record())
        (self.folder / "soft.jsonl").symlink_to("a.jsonl")
        for name in ("panel.pgm", "./panel.pgm", "soft.pgm", "hard.pgm"):
            for option in (["--output", f"dst={name}"], ["--json", name], ["--csv", name]):
                self.refused([*PICTURE, "--input", "src=panel.pgm", *option, "--force"], "is also read", "panel.pgm")
        for name in (cl / "muladd.cl", cl / "include" / "lab.h", cl / "pitch.cl"):
            self.refused([*RUN, "--cl-dir", cl, "--json", name, "--force"], "is also read", name.name)
            self.refused(["tune", "gemm_tile8", "--cl-dir", cl, "--csv", name, "--force"], "is also read", name.name)
        for name in ("a.jsonl", "soft.jsonl", "./a.jsonl"):
            self.refused(["report", "a.jsonl", "--csv", name, "--force"], "is also read")
            self.refused(["merge", "a.jsonl", "--json", name, "--append"], "is also read")
        with open(self.folder / "a.jsonl", "a") as out:
            done = subprocess.run([CLLAB, "merge", "a.jsonl"], cwd=self.folder, stdout=out, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("standard output (--json) is also read", done.stderr)

    def test_two_outputs_are_two_files(self):
        self.put("there", "")
        (self.folder / "link").symlink_to("there")
        (self.folder / "dangling").symlink_to("s")
        (self.folder / "d").mkdir()
        for pair in (("s", "s"), ("s", "./s"), ("s", "d/../s"), ("-", "-"), ("-", "/dev/stdout"), ("there", "link"), ("s", "dangling")):
            self.refused([*RUN, "--json", pair[0], "--csv", pair[1]], "one file", "--json", "--csv")
        self.refused([*PICTURE, "--output", "dst=x.png", "--json", "x.png"], "one file", "--output dst")
        self.refused([*PICTURE, "--output", "dst=x.png", "--output", "dst=y.png"], "'dst' twice")

    def test_a_file_that_exists_is_kept_and_the_two_ways_out_are_named(self):
        self.panel()
        self.put("old", "old\n")
        self.put("old.pgm", "old\n")
        self.put("a.jsonl", record())
        for args in ([*RUN, "--json", "old"], [*RUN, "--csv", "old"], ["dump", "muladd_fma", "--json", "old"],
                     ["tune", "gemm_tile8", "--json", "old"], ["merge", "a.jsonl", "--json", "old"], ["report", "a.jsonl", "--csv", "old"]):
            self.refused(args, "'old'", "exists and is kept", "--force", "--append")
        self.refused([*PICTURE, "--input", "src=panel.pgm", "--output", "dst=old.pgm"], "exists and is kept", "--force")
        self.refused([*PICTURE, "--input", "src=panel.pgm", "--output", "dst=old.pgm", "--append"], "exists and is kept", "--force")
        before = self.contents()
        _, err = self.lab("panel.pgm", "--width", 32, "--height", 32, "--defects", 0, program=MAKE_PANEL, status=2)
        self.assertRegex(err, r"\Amake-panel: file 'panel.pgm' [^\n]*exists and is kept; --force[^\n]*\n\Z")
        self.assertEqual(self.contents(), before)
        self.panel("panel.pgm", "--force")

    def test_a_run_that_cannot_start_leaves_the_outputs_as_they_were(self):
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
        self.lab("merge", "r.jsonl", "--json", "all.jsonl")
        self.lab("merge", "r.jsonl", "--json", "all.jsonl", "--append")
        self.assertEqual(len(self.records("all.jsonl")), 4)
        for _ in range(4):
            self.lab("report", "r.jsonl", "--csv", "all.csv", "--append")
        self.assertEqual([row.split(",")[0] for row in (self.folder / "all.csv").read_text().splitlines()], ["id"] + 4 * ["muladd_fma", "muladd_mad"])

    def test_records_are_not_appended_to_something_else(self):
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

    def test_a_picture_goes_through_a_symbolic_link_and_a_failed_one_leaves_the_old(self):
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

    def test_a_dump_that_cannot_be_written_costs_a_warning_and_no_cell(self):
        cell = self.folder / self.dump()[0][0]["dump"]
        (cell / "isa.txt").unlink()
        (cell / "isa.txt" / "mine").mkdir(parents=True)
        for way in ([], ["--isolate"]):
            records, out = self.dump(*way)
            self.assertEqual((records[0]["status"], records[0]["dump"]), ("ok", ""))
            self.assertRegex(records[0]["warnings"][0], r"\Ano-dump: '[^\n]*isa\.txt' is not the lab's and kept")
            self.assertIn("no-dump: ", words(out))
        self.refused(["isa", "muladd_fma", "--device", "cpu", "--dumps", "dumps", "--axis", "items=64"], "isa.txt", status=3)
        (self.folder / "file").write_text("")
        for args in (["isa", "muladd_fma", "--target", "sm_80"], ["isa", "muladd_fma", "--device", "cpu"], ["profile"]):
            self.refused([*args, "--dumps", "file/below"], "file/below", status=3)

    def test_only_what_the_lab_wrote_is_replaced(self):
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

    def test_two_devices_of_one_name_have_a_folder_each(self):
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

    def test_several_devices_work_at_once_only_where_neither_slows_the_other(self):
        # Two devices with one thread each, on a machine of which nothing is known: either is right, but what is done must be what is said.
        _, said = self.lab("run", "muladd_fma", "--axis", "items=1024,4096,16384,65536,262144", "--device", "0:0", "--device", "0:1", "--parallel", "all",
                          "--max-time", "0.05", "--dumps", "d", "--json", "r.jsonl", env=self.environment(POCL_DEVICES="pthread pthread", POCL_MAX_PTHREAD_COUNT="1"))
        records = self.records()
        self.assertEqual(sorted((r["device"]["selector"], r["point"]["items"]) for r in records),
                         sorted((d, n) for d in ("0:0", "0:1") for n in (1024, 4096, 16384, 65536, 262144)))
        self.assertEqual({r["status"] for r in records}, {"ok"})
        beside = [r for r in records if any(w.startswith("side-by-side: ") for w in r["warnings"])]
        refused = "cllab: the devices work one after the other: " in said
        self.assertEqual(len(beside), 0 if refused else 8, "all but the comparison that was measured alone")
        for record in beside:
            self.assertIn("side-by-side: ", (self.folder / record["dump"] / "timing.json").read_text())
        for device in ("0:0", "0:1"):  # the table is in the plan's order, whatever was measured first
            self.assertEqual([r["run"]["order"]["comparison"] for r in records if r["device"]["selector"] == device].count(4), 1)
        self.lab("run", "muladd_fma", "--parallel", "al", status=2)

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
    def test_a_cell_cut_short_says_so_in_its_record_and_below_the_table(self):
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
        self.assertIn("interrupted: the run was ended while this cell was sampled", out)
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
        self.assertEqual([row.split(",")[11:13] for row in (self.folder / "a.csv").read_text().splitlines()[1:]], [["", ""], ["0.002", "0.002"]])
        second = {"platform": "Q", "name": "M", "vendor": "V", "driver": "1", "type": "gpu", "selector": "1:0", "identity": "UUID 2"}
        self.put("b.jsonl", timed("fma", few, device=second) + timed("mad", few, device=second))
        out, _ = self.lab("report", "a.jsonl", "b.jsonl")
        self.assertNotRegex(out.split("\nmuladd: items=64\n")[-1], r"wins|fastest|\dx")


class Streams(FilesTest):
    """Standard output full or closed, descriptors that are not open, terminals without escape codes."""

    def commands(self):
        self.put("a.jsonl", record())
        return [["list"], ["list", "--json"], ["describe", "muladd"], ["--help"], ["help", "run"], ["--version"], ["devices"],
                ["report", "a.jsonl"], ["report", "a.jsonl", "--csv", "-"], ["merge", "a.jsonl"], RUN, [*RUN, "--json", "-"],
                ["isa", "--targets"], ["isa", "muladd_fma", "--target", "sm_80"]]

    def through_shell(self, redirection, *args, program=CLLAB):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", program, *map(str, args)], cwd=self.folder,
                              env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60)

    def test_output_that_cannot_be_written_is_status_3_with_a_sentence(self):
        for redirection, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            for args in self.commands():
                with self.subTest(args=args, redirection=redirection):
                    done = self.through_shell(redirection, *args)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertRegex(done.stderr, r"(\A|\n)cllab: standard output [^\n]*cannot be written[^\n]*\n\Z")
                    if args != ["list"]:  # what is longer than a buffer fails before its end
                        self.assertIn(reason, done.stderr)
            for args in (["--help"], ["--list"]):
                done = self.through_shell(redirection, *args, program=MAKE_PANEL)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, r"\Amake-panel: standard output cannot be written")

    def test_no_file_gets_the_place_of_a_closed_stream(self):
        for closed in ("<&-", "<&- >&-", "<&- >&- 2>&-", ">&- 2>&-", "2>&-"):
            done = self.through_shell(closed, *RUN, "--json", "r.jsonl", "--csv", "r.csv", "--force")
            self.assertEqual(done.returncode, 3 if ">&-" in closed.replace("2>&-", "") else 0, closed)
            self.assertEqual([r["status"] for r in self.records()], ["ok"], closed)
            self.assertEqual(len((self.folder / "r.csv").read_text().splitlines()), 2, closed)

    def test_a_dumb_terminal_gets_no_escape_codes(self):
        self.put("a.jsonl", record(status="wrong_result", reason="it is wrong"))
        for terminal, coloured in (("dumb", False), ("xterm", True)):
            leader, follower = os.openpty()
            environment = self.environment(TERM=terminal)
            environment.pop("NO_COLOR", None)
            process = subprocess.Popen([CLLAB, "report", "a.jsonl"], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=follower, stderr=follower)
            os.close(follower)
            self.addCleanup(os.close, leader)
            self.assertEqual(process.wait(60), 0)
            self.assertEqual(b"\033[" in os.read(leader, 65536), coloured, terminal)


class Arguments(FilesTest):
    def test_an_empty_argument_is_refused_whatever_it_belongs_to(self):
        for command in ("run", "dump", "isa", "tune", "profile", "merge", "report", "describe", "list", "devices"):
            text = self.lab(command, "--help")[0]
            for option in re.findall(r"--[a-z-]+(?= \]? ?[A-Z])", text):
                self.refused([command, option, ""], f"the argument after '{option}' is empty")
            self.refused([command, ""], f"the argument after '{command}' is empty")
        self.refused([""], "the first argument is empty")
        self.refused(["help", ""], "the argument after 'help' is empty")
        _, err = self.lab("", program=MAKE_PANEL, status=2)
        self.assertRegex(err, r"\Amake-panel: the first argument is empty\n\Z")

    def test_two_dashes_end_the_options(self):
        out, _ = self.lab("run", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps", "--", "muladd_fma")
        self.assertIn("muladd_fma  ok", out)
        for args in (["run", "--", "--verify"], ["list", "--", "-x"], ["--", "--help"], ["run", "--verify", "--", "--json", "x"]):
            self.refused(args, "no kernel matches '-")
        self.put("--json", record())
        self.assertEqual(self.lab("merge", "--", "--json")[0], record())

    def test_what_has_one_value_is_given_once(self):
        for args, part in ((["--seed", "1", "--seed", "1"], "--seed"), (["--json", "a", "--json", "b"], "--json"), (["--verify"], "--verify"),
                           (["--timeout", "9", "--timeout", "8"], "--timeout"), (["--dumps", "a", "--dumps", "b"], "--dumps"),
                           (["--axis", "items=65"], "'items' twice"), (["--input", "a=x", "--input", "a=y"], "'a' twice")):
            self.refused([*RUN, *args], part)
        for command in ("isa", "tune", "dump"):
            self.refused([command, "gemm_tile8", "--axis", "m=8", "--axis", "m=9"], "'m' twice")
        self.refused(["--width", "9", "--width", "8", "x.pgm"], "--width", program=MAKE_PANEL)
        self.refused(["--version", "now"], "takes no argument")

    def test_a_seed_is_a_whole_number_from_0(self):
        for seed in ("-1", "1.5", "x", "0x10", "18446744073709551616", " 1"):
            self.refused([*RUN, "--seed", seed], f"'{seed}'", "from 0 to 18446744073709551615")
            self.refused(["profile", "--seed", seed], f"'{seed}'")
            self.refused(["x.pgm", "--seed", seed], f"'{seed}'", program=MAKE_PANEL)
        for option in ("-d", "--device", "-k"):
            self.refused(["run", option, "--verify"], f"option '{option}' needs a value")
            self.refused(["run", option, "-a"], f"option '{option}' needs a value")


# In front of the C library: no thread can be started.
NO_THREADS = "int pthread_create(void* t, const void* a, void* (*f)(void*), void* x) { return 11; }\n"


class Trouble(FilesTest):
    """What the system refuses is said in a sentence with its status."""

    def test_a_folder_or_an_endless_device_in_the_place_of_a_file(self):
        cl = self.kernels()
        (cl / "muladd.cl").unlink()
        (cl / "muladd.cl").mkdir()
        (self.folder / "folder").mkdir()
        self.refused([*RUN, "--cl-dir", cl], "muladd.cl' (--cl-dir) cannot be read: Is a directory")
        self.refused([*RUN, "--cl-dir", cl, "--isolate"], "muladd.cl' (--cl-dir) cannot be read: Is a directory")
        self.refused([*RUN, "--cl-dir", "absent"], "muladd.cl' (--cl-dir) cannot be read: No such file")
        (cl / "muladd.cl").rmdir()
        (cl / "muladd.cl").symlink_to("/dev/zero")
        self.refused([*RUN, "--cl-dir", cl], "larger than 16 MiB")
        self.refused(["isa", "muladd_fma", "--target", "sm_80", "--cl-dir", cl], "larger than 16 MiB")
        self.refused([*PICTURE, "--input", "src=folder"], "is a folder")
        self.refused([*PICTURE, "--input", "src=/dev/zero"], "begins like none of them")
        for option in ("--json", "--csv"):
            self.refused([*RUN, option, "folder"], "'folder'", "Is a directory", status=3)
        profile = self.folder / self.lab("run", *SMALL, "--json", "-")[0].split('"dump":"')[1].split("/muladd")[0] / "profile.json"
        profile.mkdir()
        _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--max-time", "0.02", "--no-yardstick")
        self.assert_one_sentence(err, "profile.json", "it is ignored")

    def test_a_path_cannot_write_into_the_kernels_text(self):
        for name in ("a\\x", 'quote" 1', "line\n#error from the path\n", "tab\t??/"):
            folder = self.folder / name
            shutil.copytree(self.kernels(), folder)
            shutil.rmtree(self.folder / "cl")
            out, _ = self.lab(*RUN, "--cl-dir", folder)
            self.assertIn("muladd_fma  ok", out)

    def test_no_threads_and_no_memory_are_status_3(self):
        (self.folder / "none.c").write_text(NO_THREADS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "none.so", "none.c"], cwd=self.folder, check=True)
        env = self.environment(LD_PRELOAD=str(self.folder / "none.so"), ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
        out, err = self.lab(*RUN, "--isolate", env=env, status=3)
        self.assertEqual(out, "")
        self.assertRegex(err, r"(\A|\n)cllab: [^\n]*(thread|driver)[^\n]*\n\Z")
        little = 300 << 20
        _, err = self.lab("x.pgm", "--width", 20000, "--height", 20000, program=MAKE_PANEL, status=3,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (little, little)))
        self.assertRegex(err, r"\Amake-panel: there is not enough memory[^\n]*\n\Z")
        self.assertFalse((self.folder / "x.pgm").exists())

    def test_on_gpu_does_not_pack_its_results_over_its_archive(self):
        self.put("notes.txt", "no archive\n")
        same = subprocess.run([SOURCE / "tools" / "on-gpu", "notes.txt", "--out", "./notes.txt"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(same.returncode, 2)
        self.assertEqual((self.folder / "notes.txt").read_text(), "no archive\n")


if __name__ == "__main__":
    unittest.main()
