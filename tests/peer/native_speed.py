#!/usr/bin/env python3
"""The best kernel of pitch on a CPU against the hand-written C++ of --native, round by round: how much longer it may take.

By hand; label `speed`, because times mean nothing while other tests run. Waiting for a core counts as time, so nothing else should run.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from lab import LabTest, main  # noqa: E402


class Speed(LabTest):
    def medians(self, *kernels, axes, more=()):
        args = ["run", *kernels, "--device", "cpu", "--no-dumps", "--no-yardstick", "--json", "r.jsonl", "--force", *more]
        self.lab(*args, *(word for axis in axes for word in ("--axis", axis)))
        return {r["id"]: r["time"]["median"] for r in self.records()}

    def test_the_best_kernel_keeps_up_with_the_hand_written_loop(self):
        times = self.medians("pitch_wide", axes=["width=8192", "height=8192"], more=["--native"])
        ratio = times["pitch_wide"] / times["pitch_native_all"]
        print(f"pitch_wide {times['pitch_wide']:.3g} s, {ratio:.2f} of the C++ loop's", flush=True)
        self.assertLessEqual(ratio, 1.1)

    def test_short8_is_three_times_as_fast_as_the_published_order(self):
        times = self.medians("pitch_short8", "pitch_vload8", axes=["width=8192", "height=8192"])
        self.assertGreaterEqual(times["pitch_vload8"], 3 * times["pitch_short8"])


if __name__ == "__main__":
    main()
