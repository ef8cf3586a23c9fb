#!/usr/bin/env python3
"""The best kernels of a CPU against the hand-written C++ of --native, round by round: how much longer a kernel may take.

    native_speed.py    all of them, on the first CPU; label `speed`, because times mean nothing while other tests run

Prints a line for each. Waiting for a core counts as time, so nothing else should run.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from lab import LabTest, main  # noqa: E402

# kernel, axes, and how many times as long as the loop on every core it may take
BOUNDS = [("pitch_wide", ["width=8192", "height=8192"], 1.1), ("himeno_wide", ["size=S"], 1.5), ("himeno_wide", ["size=M"], 1.5),
          ("saxpy_w512", ["size=67108864"], 1.5), ("reduce_onepass", ["size=67108864"], 1.5), ("gemm_vector", ["m=512"], 1.5)]


class Speed(LabTest):
    def medians(self, *kernels, axes, more=()):
        args = ["run", *kernels, "--device", "cpu", "--no-dumps", "--no-yardstick", "--json", "r.jsonl", "--force", *more]
        self.lab(*args, *(word for axis in axes for word in ("--axis", axis)))
        return {r["id"]: r["time"]["median"] for r in self.records()}

    def test_kernels_keep_up_with_the_hand_written_loops(self):
        for kernel, axes, bound in BOUNDS:
            with self.subTest(kernel, axes=axes):
                times = self.medians(kernel, axes=axes, more=["--native"])
                ratio = times[kernel] / times[kernel.split("_")[0] + "_native_all"]
                print(kernel, *axes, f"{times[kernel]:.3g} s, {ratio:.2f} of the C++ loop's", flush=True)
                self.assertLessEqual(ratio, bound)

    def test_short8_is_three_times_as_fast_as_the_published_order(self):
        times = self.medians("pitch_short8", "pitch_vload8", axes=["width=8192", "height=8192"])
        self.assertGreaterEqual(times["pitch_vload8"], 3 * times["pitch_short8"])


if __name__ == "__main__":
    main()
