"""Kernels and machines that misbehave: what is finished is kept, what failed is named, the run goes on."""
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from lab import LabTest

SIGNATURE = "__kernel void KERNEL(__global float* restrict out, float a, float b, float c) {\n"
RIGHT = """
#ifdef MULADD_FMA
    out[get_global_id(0)] = fma(a, b, c);
#else
    out[get_global_id(0)] = a * b + c;
#endif
}
"""


def muladd(fault):
    """muladd.cl whose variant fma has `fault` in front of its work; mad is sound, so it shows whether the run goes on."""
    return f"#ifdef MULADD_FMA\n#define FAULT {fault}\n#else\n#define FAULT\n#endif\n{SIGNATURE}    FAULT;{RIGHT}"


class Faults(LabTest):
    def run_muladd(self, text, *more, status=1, timeout=120, **named):
        cl = self.kernels(muladd=text)
        out, err = self.lab("run", "muladd", "--device", "cpu", "--axis", "items=64", "--cl-dir", cl, "--json", "r.jsonl", "--force",
                            "--max-time", "0.05", "--no-yardstick", *more, status=status, timeout=timeout, **named)
        return {r["variant"]: r for r in self.records()}, out, err

    def test_without_a_fault_both_variants_are_ok(self):
        records, _, _ = self.run_muladd(muladd(""), status=0)
        self.assertEqual([records[v]["status"] for v in ("fma", "mad")], ["ok", "ok"])

    def test_a_build_error_shows_the_drivers_log_with_file_and_line(self):
        text = muladd("").replace("out[get_global_id(0)] = fma(a, b, c);", "out[get_global_id(0)] = fma(a, b, d);")
        line = 1 + text[:text.index("fma(a, b, d)")].count("\n")
        records, out, _ = self.run_muladd(text)
        bad = records["fma"]
        self.assertEqual(bad["status"], "build_failed")
        self.assertIn(f"muladd.cl:{line}:", bad["build"]["log"])
        self.assertIn("undeclared identifier 'd'", bad["reason"])
        self.assertIn(f"muladd.cl:{line}:", out)
        self.assertIn(f"muladd.cl:{line}:", (self.folder / bad["dump"] / "build.log").read_text())
        self.assertEqual(records["mad"]["status"], "ok")

    def test_one_byte_outside_is_a_wrong_result_without_a_time(self):
        for where, index in (("behind", "(long)(get_global_size(0) * 4)"), ("before", "-1l")):
            with self.subTest(where):
                fault = f"if (get_global_id(0) == 0) ((__global uchar*)out)[{index}] ^= 1"
                records, _, _ = self.run_muladd(muladd(fault))
                self.assertEqual(records["fma"]["status"], "wrong_result")
                self.assertRegex(records["fma"]["reason"], "outside|" + where)
                self.assertFalse(records["fma"].get("time"))
                self.assertEqual(records["mad"]["status"], "ok")
                shutil.rmtree(self.folder / "cl")

    def test_a_hole_is_a_wrong_result(self):
        records, _, _ = self.run_muladd(muladd("if (get_global_id(0) == 17) return"))
        self.assertEqual(records["fma"]["status"], "wrong_result")
        self.assertIn("17", records["fma"]["reason"])

    def test_a_kernel_that_never_ends_costs_one_cell_when_isolated(self):
        began = time.monotonic()
        records, out, _ = self.run_muladd(muladd("for (volatile int i = 1; i;) {}"), "--isolate", "--timeout", "5")
        self.assertEqual(records["fma"]["status"], "timed_out")
        self.assertEqual(records["mad"]["status"], "ok")
        self.assertIn("timed_out", out)
        self.assertLess(time.monotonic() - began, 60)

    def test_a_kernel_that_never_ends_ends_the_program_when_not_isolated(self):
        records, out, err = self.run_muladd(muladd("for (volatile int i = 1; i;) {}"), "--timeout", "5")
        self.assertEqual(records["fma"]["status"], "timed_out")
        self.assertNotIn("mad", records)
        self.assertIn("timed_out", out)
        self.assertIn("--isolate", err)

    def test_a_kernel_that_crashes_costs_one_cell_when_isolated(self):
        records, out, _ = self.run_muladd(muladd("*(volatile __global int*)(size_t)8 = 1"), "--isolate")
        self.assertEqual(records["fma"]["status"], "launch_failed")
        self.assertIn("SIGSEGV", records["fma"]["reason"])
        self.assertEqual(records["mad"]["status"], "ok")
        self.assertIn("SIGSEGV", out)

    def test_a_crash_without_isolation_keeps_what_is_finished(self):
        cl = self.kernels(muladd=muladd("if (get_global_size(0) == 128) *(volatile __global int*)(size_t)8 = 1"))
        process = self.start("run", "muladd", "--device", "cpu", "--axis", "items=64,128", "--cl-dir", cl, "--json", "r.jsonl",
                             "--verify", "--no-dumps")
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, -signal.SIGSEGV)
        self.assertEqual([(r["id"], r["point"]["items"], r["status"]) for r in self.records()],
                         [("muladd_fma", 64, "ok"), ("muladd_mad", 64, "ok")])
        self.assertIn("crashed in muladd_fma", err)

    def test_an_unwritable_dumps_folder_is_said_before_the_first_build(self):
        (self.folder / "file").write_text("")
        out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--dumps", "file/below", status=3)
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "file/below", "--no-dumps")

    def test_a_full_disk_under_the_records_is_said(self):
        for option in ("--json", "--csv"):
            _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps", option,
                              "/dev/full", status=3)
            self.assertIn("No space left on device", err)

    def test_a_full_disk_under_the_dumps_costs_a_warning_and_no_cell(self):
        small = self.folder / "small"
        small.mkdir()
        # A file system of 48 KiB in a mount namespace of our own; a container may forbid that.
        wrap = ["unshare", "--mount", "--map-root-user", "sh", "-c",
                f"mount -t tmpfs -o size=48k cllab '{small}' && exec \"$@\"", "sh"]
        if subprocess.run([*wrap, "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine lets nobody mount a tmpfs in a namespace")
        process = subprocess.run([*wrap, os.environ["CLLAB"], "run", "muladd", "--device", "cpu", "--axis", "items=64",
                                  "--verify", "--dumps", small / "dumps", "--json", "r.jsonl"], cwd=self.folder,
                                 env=self.environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertEqual([r["status"] for r in self.records()], ["ok", "ok"])
        self.assertRegex("\n".join(self.records()[-1]["warnings"]), r"no-dump: .*small/dumps.*No space left on device")
        self.assertIn("no-dump", process.stdout)


class Ends(LabTest):
    """A run ended from outside while it works."""

    def begin(self, items="1Ki:1Mi:*2", more=()):
        """A long run, returned when its first record is on disk."""
        path = pathlib.Path(self.folder / "r.jsonl")
        path.unlink(missing_ok=True)
        process = self.start("run", "muladd", "--device", "cpu", "--axis", f"items={items}", "--json", "r.jsonl",
                             "--max-time", "2", "--no-dumps", *more)
        self.addCleanup(process.kill)
        for _ in range(600):
            if path.exists() and path.stat().st_size:
                return process
            self.assertIsNone(process.poll(), "the run ended before it was to be ended")
            time.sleep(0.1)
        self.fail("no record after 60 s")

    def test_kill_9_leaves_whole_records(self):
        process = self.begin()
        process.kill()
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertGreaterEqual(len(self.records()), 1)

    def test_sigint_and_sigterm_finish_the_line_print_the_table_and_exit_130(self):
        for asked in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=asked):
                process = self.begin()
                process.send_signal(asked)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, out + err)
                self.assertIn("interrupted", err)
                self.assertIn(self.records()[0]["id"], out)

    def test_a_child_that_hangs_does_not_outlive_a_parent_that_was_killed(self):
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
