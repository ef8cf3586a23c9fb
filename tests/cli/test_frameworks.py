#!/usr/bin/env python3
"""tools/reframe: a framework that drives benchmarks on clusters runs kernels by cllab and reads its records."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from lab import CLLAB, SOURCE, LabTest, main

OWN = pathlib.Path(CLLAB).parent / "reframe"  # where tools/test installs it
REFRAME = shutil.which("reframe") or (str(OWN / "bin" / "reframe") if (OWN / "bin" / "reframe").exists() else None)
OPTIONS = "--axis items=65536 --max-time 0.02 --no-yardstick"


class Frameworks(LabTest):
    def framework(self, *args, **environment):
        """Runs it with cllab on its path, and all that it leaves in the test's folder."""
        env = self.environment(HOME=str(self.folder), TMPDIR=str(self.folder), PATH=f"{pathlib.Path(CLLAB).parent}:{os.environ['PATH']}",
                               **({"PYTHONPATH": str(OWN)} if REFRAME and OWN in pathlib.Path(REFRAME).parents else {}), **environment)
        return subprocess.run([str(a) for a in args], cwd=self.folder, env=env, capture_output=True, text=True, timeout=120)

    def wrong(self):
        text = (SOURCE / "cl" / "muladd.cl").read_text()
        return self.kernels(muladd=text.replace("out[PLACE] = a;", "out[PLACE] = a + 1;"))

    @unittest.skipUnless(REFRAME, "ReFrame is not installed (reframe-hpc of PyPI; tools/test installs it into build/reframe)")
    def test_reframe_gets_times_as_variables_and_fails_wrong_kernels(self):
        def reframe(kernels, options):
            done = self.framework(sys.executable if OWN in pathlib.Path(REFRAME).parents else "env", REFRAME, "--prefix", self.folder / "rf", "-c", SOURCE / "tools" / "reframe" / "cllab_check.py",
                                  "-r", "--performance-report", "-S", f"kernels={kernels}", "-S", "device=cpu", "-S", f"options={options}")
            return done.returncode, done.stdout + done.stderr
        status, said = reframe("muladd_fma,muladd_mad", OPTIONS)
        self.assertEqual(status, 0, said)
        kept, = (self.folder / "rf" / "output").rglob("records.jsonl")
        for record in map(json.loads, kept.read_text().splitlines()):
            for what, value, unit in (("time", 1e6 * record["time"]["median"], "us"), ("bandwidth", record["metrics"]["bandwidth"]["value"] / 1e9, "GB/s")):
                found = re.search(rf"{record['id']} {what}: ([\d.]+) {unit}", said)
                self.assertIsNotNone(found, said)
                self.assertAlmostEqual(float(found[1]), value, delta=1e-6 * value)
        status, said = reframe("muladd_fma", f"{OPTIONS} --cl-dir {self.wrong()}")
        self.assertNotEqual(status, 0)
        self.assertIn("FAILED", said)


if __name__ == "__main__":
    main()
