#!/usr/bin/env python3
"""`cllab run --watch`: what is saved is built, verified and compared with the last right version; what is wrong is said."""
import queue
import signal
import subprocess
import threading
import time

from lab import CLLAB, LabTest, main
from wrong_kernel_files import BLOCK, SCALE

FILE = BLOCK.replace("256", "65536") + SCALE


class Watch(LabTest):
    def watch(self, *args, max_time="0.1"):
        """Starts it; what it prints comes by `until`. Ended by an interrupt, whatever the test does."""
        process = subprocess.Popen([CLLAB, "run", *args, "--watch", "--device", "cpu", "--json", "r.jsonl", "--no-dumps", "--max-time", max_time], cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # one pipe keeps the order
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
        (self.folder / path).write_text(text)
        return self.until("cllab: watching ")

    def test_saved_kernel_or_include_is_compared_with_the_last_right_one(self):
        (self.folder / "h.h").write_text("#define AND_MORE\n")
        text = '#include "h.h"\n' + FILE.replace("f * src[i];", "f * src[i] AND_MORE;")
        (self.folder / "t.cl").write_text(text)
        self.watch("t.cl")
        self.until("watching 't.cl'")
        self.assertIn("undeclared identifier 'j'", self.saved("t.cl", text.replace("dst[i]", "dst[j]")))
        self.saved("t.cl", text + "// as it was\n")
        seen = self.saved("h.h", "#define AND_MORE + 0 * sin(src[i])\n")
        self.assertIn("t_scale against t_scale_before", seen)
        cells = [r for r in self.records() if "id" in r][-2:]
        self.assertEqual([(r["id"], r["status"]) for r in cells], [("t_scale", "ok"), ("t_scale_before", "ok")])
        self.assertNotEqual(*(r["code"]["fingerprint"] for r in cells))
        self.assertEqual(self.records()[-1]["record"], "comparison")
        # Other results: nobody says which version is right, and no side is accused.
        seen = self.saved("h.h", "#define AND_MORE + 1\n")
        before = [r for r in self.records() if "id" in r]
        self.assertEqual({r["status"] for r in before if r["status"] != "ok"}, {"build_failed", "disagree"})
        self.assertNotIn("wrong_result", seen)

    def test_new_save_cancels_the_running_comparison(self):
        (self.folder / "t.cl").write_text(FILE)
        self.watch("t.cl", max_time="60")
        self.until("watching 't.cl'")
        (self.folder / "t.cl").write_text(FILE.replace("f * src[i]", "src[i] * f + 0 * f"))
        while sum("id" in r for r in self.records()) < 3:
            time.sleep(0.05)
        (self.folder / "t.cl").write_text(FILE.replace("dst[i]", "dst[j]"))
        self.until("saved again, so ")
        self.assertIn("undeclared identifier 'j'", self.until("cllab: watching ") + self.until("cllab: watching "))

    def test_saved_family_file_is_compared_with_the_last_right_one(self):
        text = (self.kernels() / "muladd.cl").read_text()
        self.watch("muladd_fma", "--cl-dir", "cl", "--axis", "items=65536")
        self.until("watching 'cl/muladd.cl'")
        seen = self.saved("cl/muladd.cl", text.replace("out[PLACE] = a;", "out[PLACE] = a + 1;"))
        self.assertIn("wrong_result", seen)
        self.assertNotIn(" against muladd_fma", seen)
        # Right, slower, and compared with the first text, which was the last right one.
        seen = self.saved("cl/muladd.cl", text.replace("out[PLACE] = a;", "volatile float v = a; for (int i = 0; i < 20; ++i) v = v + 0; out[PLACE] = v;"))
        self.assertIn("muladd_fma against muladd_fma_before: ", seen)
        self.assertRegex(seen, r"muladd_fma_before is faster; muladd_fma takes [\d.]+ \[|too few for an interval|undecided: ")

    def test_unwatchable_run_is_refused_in_one_sentence(self):
        for args in (["muladd"], ["a.cl", "b.cl"], ["a.cl", "--vs", "b.cl"], ["a.cl", "--device", "0:0"], ["muladd_fma", "--vs", "muladd_mad", "--cl-dir", "cl"]):
            with self.subTest(args=args):
                self.assert_one_sentence(self.lab("run", *args, "--watch", "--device", "cpu", status=2)[1], "--watch takes one kernel file", "--cl-dir DIR")


if __name__ == "__main__":
    main()
