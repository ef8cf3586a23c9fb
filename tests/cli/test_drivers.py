"""Drivers that misbehave, and ends by signals, limits and full disks: what is finished is kept."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

from lab import POCL_ICD, SOURCE, LabTest
from misbehaving import DEAR, LOST, STUCK, muladd


class Drivers(LabTest):
    """Drivers that misbehave while they are loaded, beside PoCL."""

    def beside_pocl(self, *names):
        folder = self.folder / "vendors"
        folder.mkdir()
        shutil.copy(POCL_ICD, folder)
        for name in names:
            library = self.folder / f"{name}.so"
            shutil.copy(os.environ["CLLAB_FAULT_ICD"], library)
            (folder / f"{name}.icd").write_text(f"{library}\n")
        return self.environment(OCL_ICD_VENDORS=str(folder), ASAN_OPTIONS="detect_leaks=0:handle_segv=0:verify_asan_link_order=0")

    def test_devices_names_bad_drivers_and_shows_the_rest(self):
        env = self.beside_pocl("crash", "exit", "hang")
        out, err = self.lab("devices", env=env, status=3)
        self.assertIn("Portable Computing Language", out)
        lines = err.splitlines()
        self.assertEqual(len(lines), 3, err)
        for line, name, fate in zip(lines, ("crash", "exit", "hang"), ("SIGSEGV", "exit status 0", "no progress for 10.0 s")):
            self.assertRegex(line, rf"\Acllab: the driver '[^']*/{name}.icd' \([^)]*/{name}.so\) is skipped: while it was loaded .*{fate}")

    def test_driver_hanging_at_load_ends_every_command_after_its_timeout(self):
        env = self.beside_pocl("hang")
        commands = {name: self.start(name, "gemm_tile8", "--device", "cpu", "--timeout", "2", env=env) for name in ("run", "dump", "why", "ncu", "tune")}
        for name, process in commands.items():
            self.addCleanup(process.kill)
            with self.subTest(name):
                out, err = process.communicate(timeout=120)
                self.assertEqual((process.returncode, out), (3, ""), err)
                self.assert_one_sentence(err, "while the devices were listed (`cllab devices` names the driver) no progress for ")

    def test_driver_hanging_in_a_cell_ends_the_command_after_its_timeout(self):
        device = json.loads(self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--json", "-")[0])
        pathlib.Path(self.folder / device["dump"]).with_name("profile.json").write_text(json.dumps(
            {"schema": 2, "device": device["device"], "utc": "2026-01-01T00:00:00Z",
             "figures": [{"id": "launch.empty.item", "name": "empty kernel", "unit": "s", "value": 1e-6, "low": 1e-6, "high": 1e-6}]}))
        env = self.preloaded(STUCK)
        for command, more in (("run", ["--verify", "--json", "r.jsonl"]), ("why", ["--json", "w.jsonl"])):
            with self.subTest(command):
                _, err = self.lab(command, "muladd_fma", "--device", "cpu", "--axis", "items=64", "--timeout", "2", *more, env=env, status=1, timeout=120)
                self.assert_one_sentence(err, "muladd_fma on '", "shows no progress for 2.00 s (--timeout) in phase 'verify'", "`cllab run --isolate`")
        for name in ("r.jsonl", "w.jsonl"):
            self.assertEqual([r["status"] for r in self.records(name)], ["timed_out"])

    def test_driver_crashing_at_load_gives_one_sentence(self):
        env = self.beside_pocl("overflow")  # of the stack: the handler of the signal needs another one
        out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--no-dumps", env=env, status=-signal.SIGSEGV)
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "the process ended while the OpenCL drivers were loaded. `cllab devices` says which")
        out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--no-dumps", "--isolate", env=env, status=3)
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "SIGSEGV", "`cllab devices` names the driver")

    def test_driver_that_replaces_signal_handlers_and_aborts_is_reported(self):
        # PoCL starts LLVM, and then a thread for each of these.
        limited = lambda: resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--no-dumps", env=self.environment(POCL_MAX_PTHREAD_COUNT="1000"),
                          status=-signal.SIGABRT, preexec_fn=limited)
        self.assertIn("cllab: the process ended while the OpenCL drivers were loaded. `cllab devices` says which", err)

    def test_output_of_a_driver_stays_out_of_the_results(self):
        env = self.beside_pocl("chatter")
        for more in ([], ["--isolate"]):
            out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps", "--json", "-", *more,
                                env=env)
            self.assertEqual([json.loads(line)["status"] for line in out.splitlines()], ["ok"])
            self.assertIn("a driver's chatter on standard output", err)
            self.assertIn("a driver's chatter by the stream of C++", err)
        out, err = self.lab("devices", "--json", env=env)
        self.assertEqual(len(json.loads(out)), 1)

    def test_event_cost_is_measured_and_excluded_from_launch_times(self):
        env = self.preloaded(DEAR)
        out, _ = self.lab("devices", "--json", env=env)
        timer = next(d["timer"] for d in json.loads(out) if "Portable" in d["platform"])
        self.assertGreater(timer["event_seconds"], 50e-6)
        self.lab("run", "launch_item", "--device", "cpu", "--axis", "launches=128", "--no-dumps", "--max-time", "0.05", "--steps", "--json", "r.jsonl", env=env)
        record = self.records()[0]
        launch = record["time"]["median"] / 128
        # With an event for each, a launch could take no less than 100 us.
        self.assertLess(launch, 60e-6, record)
        self.assertGreater(record["metrics"]["step_whole"]["value"] / 128, 90e-6)
        # So long that an event is a 200th of it, by looks that a busy machine may have made ten times too long. An operation alone lasts some 0.3 ms.
        self.assertGreater(record["time"]["median"] * record["time"]["per_sample"], 20 * 100e-6)

    def preloaded(self, source, **environment):
        (self.folder / "between.c").write_text(source)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "between.so", "between.c", "-ldl"], cwd=self.folder, check=True)
        return self.environment(LD_PRELOAD=str(self.folder / "between.so"),
                                ASAN_OPTIONS="detect_leaks=0:handle_segv=0:verify_asan_link_order=0", **environment)

    def test_device_lost_between_probes_ends_the_profile_with_its_page(self):
        env = self.preloaded(LOST, LOST_AFTER=str(self.folder / "contexts"))
        process = self.start("profile", "--device", "cpu", "--no-dumps", "--all", env=env)
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 3, out + err)
        self.assert_one_sentence(err, "SIGABRT", "before its first cell; the page shows the ", " cells that were finished")
        found, absent = out.split("\nNot found\n")
        absent = re.sub(r"\s+", " ", absent)
        # Its figure is withheld where others disturb it.
        self.assertTrue("\n  empty kernel" in found or not re.search(r"empty kernel[^:]*: not measured", absent), out)
        self.assertRegex(absent, r"peak rate[^:]*: not measured")

    def test_forking_process_has_not_called_opencl(self):
        env = self.beside_pocl("loads")
        small = ("muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps")
        for command in (("run", *small, "--isolate"), ("run", *small, "--cl-dir", SOURCE / "cl"), ("devices",),
                        ("profile", "--device", "cpu", "--no-dumps")):
            with self.subTest(command[0]):
                process = self.start(*command, env=env)
                if command[0] == "profile":
                    self.wait_for(process, (self.folder / "loads.txt").exists)
                    process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 130 if command[0] == "profile" else 0, out + err)
                loaded = (self.folder / "loads.txt").read_text().split()
                self.assertGreaterEqual(len(loaded), 1)
                self.assertNotIn(str(process.pid), loaded)
                (self.folder / "loads.txt").unlink()


    def test_run_of_a_kernel_file_loads_the_drivers_twice(self):
        """Once for the kernels' arguments and which devices there are, once to run."""
        env = self.beside_pocl("loads")
        self.lab("run", SOURCE / "tests" / "kernels" / "affine.cl", "--device", "cpu", "--axis", "n=256", "--verify", "--no-dumps", env=env)
        self.assertEqual(len((self.folder / "loads.txt").read_text().split()), 2)


class Ends(LabTest):
    """A run ended from outside while it works."""

    def temporary(self):
        """The folders that stand in a folder for temporary files of this test's own, and the environment that names it."""
        folder = self.folder / "tmp"
        folder.mkdir(exist_ok=True)
        return (lambda: sorted(p.name for p in folder.glob("cllab*"))), self.environment(TMPDIR=str(folder))

    def test_leftovers_of_a_killed_run_are_removed_by_the_next(self):
        there, env = self.temporary()
        (self.folder / "tmp" / "cllab-run-mine").mkdir()  # by somebody else: it has no lock of ours
        for more in ((), ("--isolate",)):
            process = self.begin(more=more, env=env)
            its = [name for name in there() if name != "cllab-run-mine"]
            self.assertEqual(len(its), 1)
            self.lab("list", "muladd", env=env)
            self.assertEqual(there(), sorted([*its, "cllab-run-mine"]))
            process.kill()
            process.communicate(timeout=30)
            self.assertEqual(there(), sorted([*its, "cllab-run-mine"]))
            for _ in range(100):  # its child may take a moment to end with it
                self.lab("list", "muladd", env=env)
                if there() == ["cllab-run-mine"]:
                    break
                time.sleep(0.1)
            self.assertEqual(there(), ["cllab-run-mine"])

    def test_killed_profile_leaves_no_partial_file_and_old_ones_expire(self):
        process = self.start("profile", "--device", "cpu")
        self.addCleanup(process.kill)
        self.wait_for(process, lambda: any((self.folder / "cache" / "cllab" / "profiles").rglob("device.txt")))
        time.sleep(1)
        process.kill()
        process.communicate(timeout=30)
        folder = next((self.folder / "cache" / "cllab" / "profiles").rglob("device.txt")).parent
        self.assertEqual(list(folder.glob("profile.json*")), [])
        for name, days in (("profile.json.1.part", 2), ("profile.json.2.part", 0.5)):
            (folder / name).write_text("")
            os.utime(folder / name, (time.time() - 86400 * days,) * 2)
        process = self.start("profile", "--device", "cpu")
        self.addCleanup(process.kill)
        self.wait_for(process, lambda: not (folder / "profile.json.1.part").exists())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(sorted(p.name for p in folder.glob("profile.json*")), ["profile.json.2.part"])

    def test_aborted_hanging_cell_leaves_no_temporary_folder(self):
        there, env = self.temporary()
        self.lab("run", "gemm_naive", "--device", "cpu", "--axis", "m=2048", "--no-dumps", "--no-yardstick", "--timeout", "0.5", env=env, status=1)
        self.assertEqual(there(), [])

    def begin(self, items="1Ki:256Ki:+1Ki", more=(), **named):
        """A long run, returned when its first record is on disk."""
        path = pathlib.Path(self.folder / "r.jsonl")
        path.unlink(missing_ok=True)
        process = self.start("run", "muladd_[!l]*", "--device", "cpu", "--axis", f"items={items}", "--json", "r.jsonl",
                             "--max-time", "2", "--no-dumps", *more, **named)
        self.addCleanup(process.kill)
        for _ in range(600):
            if path.exists() and path.stat().st_size:
                return process
            self.assertIsNone(process.poll(), "the run ended before it was to be ended")
            time.sleep(0.1)
        self.fail("no record after 60 s")

    def test_kill_9_leaves_complete_records(self):
        process = self.begin()
        process.kill()
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertGreaterEqual(len(self.records()), 1)

    def test_sigint_and_sigterm_finish_the_record_and_exit_130(self):
        for asked in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=asked):
                process = self.begin()
                process.send_signal(asked)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, out + err)
                self.assertIn("interrupted", err)
                self.assertIn(self.records()[0]["id"], out)

    def test_interrupt_ends_isa_with_130(self):
        process = self.start("isa", "himeno", "--device", "cpu", "--axis", "size=S", "--dumps", "d")
        for _ in range(600):
            if any((self.folder / "d").rglob("timing.json")):
                break
            self.assertIsNone(process.poll(), "it ended before it was to be ended")
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("cllab: interrupted", err)

    def test_crash_and_sigquit_report_the_place_and_keep_finished_cells(self):
        for ends, sentence in ((signal.SIGSEGV, "the process crashed"), (signal.SIGQUIT, "ended by SIGQUIT")):
            with self.subTest(signal=ends):
                process = self.begin()
                process.send_signal(ends)
                _, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, -ends)
                self.assertRegex(err, rf"cllab: {sentence} in muladd_\w+ on '.+'\. Finished cells are on disk")
                self.assertGreaterEqual(len(self.records()), 1)

    def test_closed_terminal_ends_the_run_except_under_nohup(self):
        # The tests themselves may run under nohup.
        process = self.begin(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        process.send_signal(signal.SIGHUP)
        self.assertIn("interrupted", process.communicate(timeout=60)[1])
        self.assertEqual(process.returncode, 130)
        process = self.begin(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        time.sleep(1)
        self.assertIsNone(process.poll())

    def test_hanging_child_ends_with_its_killed_parent(self):
        cl = self.kernels(muladd=muladd("for (volatile int i = get_global_size(0) == 128; i;) {}"))
        process = self.begin("64,128", ("--isolate", "--verify", "--cl-dir", cl))
        time.sleep(2)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertTrue(children)
        process.kill()
        process.communicate(timeout=30)
        for _ in range(50):
            if not any(self.works(child) for child in children):
                return
            time.sleep(0.1)
        self.fail(f"child {children} is still there 5 s later")

    def works(self, process):
        try:  # "Z": ended, and nobody has asked how
            return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False


if __name__ == "__main__":
    unittest.main()
