#!/usr/bin/env python3
"""`cllab run --watch`: what is saved is built, verified and compared with the version before; what is wrong is said, and the last right version kept."""
import contextlib
import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

from lab import CLLAB, LabTest, main
from wrong_kernel_files import BLOCK, SCALE

FILE = BLOCK.replace("256", "65536") + SCALE


class Watch(LabTest):
    def watch(self, *args, max_time="0.5"):
        """Starts it; what it prints comes by `until`. Ended by an interrupt, whatever the test does."""
        process = subprocess.Popen([CLLAB, "run", *args, "--watch", "--device", "cpu", "--dumps", "d", "--max-time", max_time], cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # one pipe keeps the order
        self.process = process
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line) for line in process.stdout], daemon=True).start()

        def end():
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(60), 130)
            process.stdout.close()
        self.addCleanup(end)

    def until(self, part):
        seen = ""
        while part not in seen:
            seen += self.lines.get(timeout=60)
        return seen

    def saved(self, path, text):
        """What is printed after a save, up to the next waiting."""
        time.sleep(0.1)
        (self.folder / path).write_text(text)
        return self.until("cllab: watching ")

    def test_each_save_of_a_kernel_file_is_compared_with_the_version_before(self):
        (self.folder / "t.cl").write_text(FILE)
        self.watch("t.cl")
        self.until("watching 't.cl'")
        self.assertIn("same code", self.saved("t.cl", FILE.replace("dst[i] = f * src[i];", "dst[i] = f * src[i]; // no more")))
        self.assertIn("undeclared identifier 'j'", self.saved("t.cl", FILE.replace("dst[i]", "dst[j]")))
        seen = self.saved("t.cl", FILE.replace("f * src[i]", "src[i] * f + 0 * sin(src[i])"))
        self.assertIn("t_scale_before", seen)
        self.assertIn("instructions", seen)

    def test_a_save_of_an_included_file_is_one_of_the_kernel_file(self):
        (self.folder / "h.h").write_text("#define AND_MORE\n")
        (self.folder / "front.h").write_text("\n")
        (self.folder / "t.cl").write_text('#include "h.h"\n' + FILE.replace("f * src[i];", "f * src[i] AND_MORE;"))
        self.watch("t.cl", "--json", "r.jsonl", "--include", "front.h")
        self.until("watching 't.cl'")
        seen = self.saved("h.h", "#define AND_MORE + 0 * sin(src[i])\n")
        self.assertIn("t_scale_before", seen)
        cells = [r for r in self.records()[1:] if "id" in r]
        self.assertEqual([r["status"] for r in cells], ["ok", "ok"])
        self.assertNotEqual(*(r["code"]["fingerprint"] for r in cells))
        self.assertIn("undeclared", self.saved("h.h", "#define AND_MORE + nothing\n"))
        self.assertIn("same code", self.saved("h.h", "#define AND_MORE + 0 * sin(src[i]) // again\n"))
        self.assertIn("same code", self.saved("front.h", "// in front of it\n"))

    def waiting_children(self, least):
        """Process numbers of the children that wait for a save, when there are as many and none of them does anything for a second."""
        end, children = time.monotonic() + 120, {}
        while time.monotonic() < end:
            before, children = children, {}
            for pid in subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True).stdout.split():
                with contextlib.suppress(OSError):
                    children[int(pid)] = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            if len(children) >= least and before == children:
                return list(children)
            time.sleep(1)
        self.fail(f"{len(children)} children wait, or they do not rest")

    def test_a_save_is_run_by_processes_that_have_opened_the_device_before_and_by_others_where_those_died(self):
        (self.folder / "t.cl").write_text(FILE)
        self.watch("t.cl", "--json", "r.jsonl")
        self.until("watching 't.cl'")
        self.assertIn("timer_audit", self.records()[0]["phases"])
        self.waiting_children(12)
        seen = self.saved("t.cl", FILE.replace("f * src[i]", "src[i] * f + 0 * f"))
        self.assertLess(seen.index("agreement of 2"), seen.index(" against "), "the table is printed first")
        self.assertNotIn("warning generated", seen, "the text that warms a compiler up has none")
        cells = [r for r in self.records()[1:] if "id" in r]
        self.assertEqual([r["status"] for r in cells], ["ok", "ok"])
        self.assertEqual([r["id"] for r in cells], ["t_scale", "t_scale_before"])
        for cell in cells:
            self.assertNotIn("timer_audit", cell["phases"])
            # Both were built before there was a request, so that the run did not wait for what the driver took.
            self.assertLess(cell["phases"].get("build", 0), cell["build"]["seconds"], cell["id"])
        verdict = next(r for r in self.records() if r.get("record") == "comparison")
        self.assertEqual([verdict["left"], verdict["right"], verdict["control_of"]], ["t_scale", "t_scale_before", "right"])
        self.assertIn("control: t_scale_before against itself", seen)
        for child in self.waiting_children(12):
            os.kill(child, signal.SIGKILL)
        seen = self.saved("t.cl", FILE)
        self.assertIn(" against ", seen)
        self.assertIn("timer_audit", [r for r in self.records() if "id" in r][3]["phases"])

    def test_a_save_that_comes_while_the_one_before_is_compared_ends_that(self):
        (self.folder / "t.cl").write_text(FILE)
        self.watch("t.cl")
        self.until("watching 't.cl'")
        (self.folder / "t.cl").write_text(FILE.replace("f * src[i]", "src[i] * f + 0 * f"))
        self.until("agreement of 2")
        (self.folder / "t.cl").write_text(FILE.replace("f * src[i]", "src[i] * f + 0 * f + 0 * src[i]"))
        self.until("saved again, so ")
        self.assertIn(" against ", self.until("cllab: watching ") + self.until("cllab: watching "))

    def test_each_save_of_a_familys_file_below_cl_dir_is_compared_with_the_last_right_version(self):
        kernels = self.kernels()
        text = (kernels / "muladd.cl").read_text()
        self.watch("muladd_fma", "--cl-dir", "cl", "--axis", "items=65536", "--json", "r.jsonl", max_time="0.1")
        self.assertIn("muladd_fma", self.until("watching 'cl/muladd.cl'"))
        seen = self.saved("cl/muladd.cl", text + "// no more\n")
        self.assertIn("muladd_fma against muladd_fma_before: same code, so there is no winner\n", seen)
        seen = self.saved("cl/muladd.cl", text.replace("MULADD(a, b, c);", "MULADDS(a, b, c);"))
        self.assertIn("build_failed", seen)
        self.assertNotIn("against", seen)
        seen = self.saved("cl/muladd.cl", text.replace("out[PLACE] = a;", "out[PLACE] = a + 1;"))
        self.assertIn("wrong_result", seen)
        self.assertNotIn("against", seen)
        # Right, slower, and compared with the first text, which was the last right one.
        seen = self.saved("cl/muladd.cl", text.replace("out[PLACE] = a;", "volatile float v = a; for (int i = 0; i < 20; ++i) v = v + 0; out[PLACE] = v;"))
        self.assertIn("muladd_fma against muladd_fma_before: ", seen)
        self.assertRegex(seen, r"muladd_fma_before is faster; muladd_fma takes [\d.]+ \[|too few for an interval|undecided: ")
        self.assertIn("instructions", seen)
        self.assertEqual({r["status"] for r in self.records() if r.get("id") == "muladd_fma_before"}, {"ok"})
        self.assertIn("same code", self.saved("cl/include/muladd.h", "// a header of the family's own\n"))
        self.assertIn("same code", self.saved("cl/include/muladd_fma.h", "// a header of the variant's own\n"))
        # A change of the header is one of every family.
        self.assertIn("same code", self.saved("cl/include/lab.h", (kernels / "include" / "lab.h").read_text() + "// no more\n"))

    def test_what_cannot_be_watched_is_said_in_one_sentence(self):
        for args in (["muladd"], ["a.cl", "b.cl"], ["a.cl", "--vs", "b.cl"], ["muladd_fma", "--vs", "muladd_mad", "--cl-dir", "cl"]):
            with self.subTest(args=args):
                self.assert_one_sentence(self.lab("run", *args, "--watch", "--device", "cpu", status=2)[1], "--watch takes one kernel file", "--cl-dir DIR")


if __name__ == "__main__":
    main()
