"""Kernels that misbehave: what is finished is kept, what failed is named, the run goes on."""
import json
import os
import shutil
import subprocess
import time
import unittest

from lab import LabTest
from misbehaving import muladd


class Faults(LabTest):
    def run_muladd(self, text, *more, status=1, timeout=120, **named):
        cl = self.kernels(muladd=text)
        out, err = self.lab("run", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=64", "--cl-dir", cl, "--json", "r.jsonl", "--force",
                            "--max-time", "0.05", "--no-yardstick", *more, status=status, timeout=timeout, **named)
        return {r["variant"]: r for r in self.records()}, out, err

    def test_without_a_fault_both_variants_are_ok(self):
        records, _, _ = self.run_muladd(muladd(""), status=0)
        self.assertEqual([records[v]["status"] for v in ("fma", "mad")], ["ok", "ok"])

    def test_build_error_shows_the_driver_log_with_file_and_line(self):
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

    def test_write_one_byte_outside_is_a_wrong_result_without_a_time(self):
        for where, index in (("1 byte past the end of 'out'", "(long)(get_global_size(0) * 4)"), ("1 byte before the start of 'out'", "-1l")):
            with self.subTest(where):
                fault = f"if (get_global_id(0) == 0) ((__global uchar*)out)[{index}] ^= 1"
                records, _, _ = self.run_muladd(muladd(fault))
                self.assertEqual(records["fma"]["status"], "wrong_result")
                self.assertRegex(records["fma"]["reason"], where)
                self.assertFalse(records["fma"].get("time"))
                self.assertEqual(records["mad"]["status"], "ok")
                shutil.rmtree(self.folder / "cl")

    def test_unwritten_element_is_a_wrong_result(self):
        records, _, _ = self.run_muladd(muladd("if (get_global_id(0) == 17) return"))
        self.assertEqual(records["fma"]["status"], "wrong_result")
        self.assertIn("17", records["fma"]["reason"])

    def test_zeros_at_every_second_launch_are_a_wrong_result(self):
        again = "if (out[get_global_id(0)] == fma(a, b, c)) { out[get_global_id(0)] = 0; return; }"
        records, _, _ = self.run_muladd(muladd(again))
        self.assertEqual(records["fma"]["status"], "wrong_result")
        self.assertFalse(records["fma"].get("time"))
        self.assertEqual(records["mad"]["status"], "ok")

    def test_skipping_work_when_the_output_exists_is_a_wrong_result(self):
        work = "for (volatile int k = 0; k < 5000; ++k) {}"
        for early in (False, True):
            with self.subTest(early=early):
                records, _, _ = self.run_muladd(muladd(("if (out[get_global_id(0)] == fma(a, b, c)) return; " if early else "") + work),
                                                status=int(early))
                self.assertEqual(records["fma"]["status"], "wrong_result" if early else "ok", records["fma"]["reason"])
                if early:
                    self.assertIn("the kernel skips work when its output already holds the answer", records["fma"]["reason"])
                shutil.rmtree(self.folder / "cl")
                (self.folder / "r.jsonl").unlink()

    def test_a_write_64_kib_outside_is_a_wrong_result(self):
        for where, index in (("65536 bytes past the end", "(long)(get_global_size(0) * 4 + 65535)"),
                             ("65536 bytes before the start", "-65536l")):
            with self.subTest(where):
                fault = f"if (get_global_id(0) == 0) ((__global uchar*)out)[{index}] ^= 1"
                records, _, _ = self.run_muladd(muladd(fault), "--verify")
                self.assertEqual(records["fma"]["status"], "wrong_result")
                self.assertIn(f" {where} of 'out'; it ended the driver's process", records["fma"]["reason"])
                shutil.rmtree(self.folder / "cl")
                (self.folder / "r.jsonl").unlink()

    def test_endless_text_of_the_user_costs_one_cell(self):
        cl = muladd("for (volatile int i = 1; i;) {}")
        for seconds in "5", "40":  # a busy machine may take the shorter one to compile
            records, out, _ = self.run_muladd(cl, "--timeout", seconds, timeout=300)
            if "in phase 'build'" not in records["fma"]["reason"]:
                break
            shutil.rmtree(self.folder / "cl")
        self.assertEqual(records["fma"]["status"], "timed_out")
        self.assertIn("an endless loop, or a write outside of a buffer", records["fma"]["reason"])
        self.assertEqual(records["mad"]["status"], "ok")
        self.assertIn("timed_out", out)

    def test_crashing_text_of_the_user_costs_one_cell_and_names_the_cause(self):
        records, out, _ = self.run_muladd(muladd("*(volatile __global int*)(size_t)8 = 1"))
        self.assertEqual(records["fma"]["status"], "launch_failed")
        self.assertIn("SIGSEGV", records["fma"]["reason"])
        self.assertIn("the likely cause is a write or read outside of a buffer", records["fma"]["reason"])
        self.assertEqual(records["mad"]["status"], "ok")
        self.assertIn("SIGSEGV", out)

    def test_stuck_cell_ends_the_program_when_not_isolated(self):
        process = self.start("run", "gemm_naive", "--device", "cpu", "--axis", "m=2048", "--no-dumps", "--no-yardstick", "--timeout", "0.5",
                             "--json", "r.jsonl")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertEqual([(r["id"], r["status"]) for r in self.records()], [("gemm_naive", "timed_out")])
        self.assertIn("timed_out", out)
        self.assertIn("--isolate", err)

    def test_kernel_output_stays_out_of_the_results_and_is_shown_once(self):
        text = muladd("if (get_global_id(0) == 0) printf(\"chatter of a kernel\\n\")")
        out, err = self.lab("run", "muladd_fma", "muladd_mad", "--device", "cpu", "--axis", "items=64", "--cl-dir", self.kernels(muladd=text), "--json", "-",
                            "--max-time", "0.05", "--no-yardstick", "--no-dumps")
        self.assertEqual([json.loads(line)["status"] for line in out.splitlines()], ["ok", "ok"])
        self.assertEqual(err.count("chatter of a kernel\n"), 1)
        self.assertRegex(err, r"cllab: later launches printed \d+ lines again, which are not shown\n")

    def test_child_process_shows_compiler_output_without_warning_counts(self):
        (self.folder / "k.cl").write_text("kernel void k(global float* dst) { dst[get_global_id(0)] = 1; }\n")
        # LLVM 14 refuses PoCL 3.1's debug information, and says so.
        for kernel, said in (["fma_peak", "--axis", "type=float"], ""), (["k.cl", "--build-options=-g"], "distinct !dbg attachment"):
            _, err = self.lab("run", *kernel, "--device", "cpu", "--verify", "--isolate", "--no-dumps",
                              env=self.environment(POCL_CACHE_DIR=str(self.folder)))  # an empty one, or nothing is compiled
            self.assertIn(said, err)
            self.assertNotIn("generated.", err)

    def test_unwritable_dumps_folder_is_reported_before_the_first_build(self):
        (self.folder / "file").write_text("")
        out, err = self.lab("run", "muladd_fma", "--device", "cpu", "--dumps", "file/below", status=3)
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "file/below", "--no-dumps")

    def test_full_disk_for_the_records_is_reported(self):
        for option in ("--json", "--csv"):
            _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps", option,
                              "/dev/full", status=3)
            self.assertIn("No space left on device", err)

    def test_full_disk_for_the_dumps_costs_a_warning_and_no_cell(self):
        small = self.folder / "small"
        small.mkdir()
        # A file system of 48 KiB in a mount namespace of our own; a container may forbid that.
        wrap = ["unshare", "--mount", "--map-root-user", "sh", "-c",
                f"mount -t tmpfs -o size=48k cllab '{small}' && exec \"$@\"", "sh"]
        if subprocess.run([*wrap, "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine lets nobody mount a tmpfs in a namespace")
        process = subprocess.run([*wrap, os.environ["CLLAB"], "run", "muladd_[!l]*", "--device", "cpu", "--axis", "items=64",
                                  "--verify", "--dumps", small / "dumps", "--json", "r.jsonl"], cwd=self.folder,
                                 env=self.environment(), capture_output=True, text=True, timeout=120)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertEqual([r["status"] for r in self.records()], ["ok", "ok"])
        self.assertRegex("\n".join(self.records()[-1]["warnings"]), r"no-dump: .*small/dumps.*No space left on device")
        self.assertIn("no-dump", process.stdout)


if __name__ == "__main__":
    unittest.main()
