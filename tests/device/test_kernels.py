"""Every kernel right at small and awkward sizes, on three lanes: PoCL, PoCL without optimisation, and the simulator
Oclgrind watching for races, uninitialised values and accesses outside.

    test_kernels.py pocl | opt-disable | oclgrind
    test_kernels.py tiny      the smallest sizes on PoCL only; for a program built with sanitizers

A family without sizes here fails the lane: choose some when you add one.
"""
import fnmatch
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from lab import OCLGRIND_LIBRARY, LabTest  # noqa: E402

LANE = "pocl"

# Per family, axis settings of one run each. `tiny` is what Oclgrind can simulate in seconds; PoCL's lanes run both.
PITCH = ["pitch=5.2", "width=96", "height=3", "weights=linear,published"]
SIZES = {
    "atomic": {"tiny": [["counters=1,4"]], "small": [["counters=4096"]]},
    "banks": {"tiny": [["stride=0,1,33"]], "small": [["stride=2,32"]]},
    "barrier": {"tiny": [["group=32"]], "small": [["group=64,256"]]},
    "cacheline": {"tiny": [["distance=0,24", "footprint=4096"]], "small": [["distance=136", "footprint=65536"]]},
    "channels": {"tiny": [["spacing=64,320", "lines=16"]], "small": [["spacing=4160", "lines=256"]]},
    "latency": {"tiny": [["footprint=2048", "line=64"]], "small": [["footprint=65536", "line=auto"]]},
    "scatter": {"tiny": [["spread=1,64"]], "small": [["spread=8"]]},
    "bandwidth": {"tiny": [["size=16,1040"]], "small": [["size=65536"]]},
    "muladd": {"tiny": [["items=1,7,64"]], "small": [["items=1000,4096"]]},
    "pitch": {
        "tiny": [
            # Widths of the region of interest 1, 7, 8, 9, 15, 16, 17 from an odd column, then against both edges.
            [*PITCH, "left=13", "right=13,19,20,21,27,28,29"],
            [*PITCH, "left=6,7", "right=89,88"],
            # The smallest image that has a region at all, and a width that no vector divides.
            ["pitch=5.2", "width=13,37", "height=1,2"],
        ],
        "small": [
            [*PITCH, "left=21", "right=22,38,53,70"],
            ["pitch=1,20.2", "width=64,97,130", "height=5"],
            ["pitch=20.2", "width=300", "height=40", "local=64x4,16x16,1x1,8x2", "top=3", "bottom=30"],
            ["pitch=20.2", "width=300", "height=40", "items=1,3,7", "transfers=mapped"],
        ],
    },
}
# Where Oclgrind 21.10 cannot watch for uninitialised values, so that only races and bounds are watched: it does not know
# that read_image gives any, it forgets a global word that the same work-item has stored since the last barrier (as atomics
# and chases do), and its check crashes in channels_load (memcpy below oclgrind::Uninitialized::instructionExecuted).
UNWATCHED = ("pitch_image", "atomic_*", "cacheline_*", "latency_*", "channels_load")


class Lane(LabTest):
    def run_lane(self, patterns, axes, cl_dir=None, status=0, **environment):
        args = ["run", *patterns, "--verify", "--no-dumps", "--json", "r.jsonl"]
        args += ["--device", "oclgrind" if LANE == "oclgrind" else "cpu"]
        for axis in axes:
            args += ["--axis", axis]
        if cl_dir:
            args += ["--cl-dir", cl_dir]
        if LANE == "opt-disable":
            args.append("--build-options=-cl-opt-disable")
        out, err = self.lab(*args, status=status, timeout=900, env=self.environment(**environment))
        self.assertEqual(err, "")
        return self.records()

    def families(self):
        """family -> its ids"""
        families = {}
        for entry in json.loads(self.lab("list", "--json")[0]):
            families.setdefault(entry["family"], []).append(entry["id"])
        return families

    def simulator(self, uninitialised=True):
        self.assertIsNotNone(OCLGRIND_LIBRARY, "Oclgrind's library is not there; apt-get install oclgrind")
        (self.folder / "oclgrind.icd").write_text(f"{OCLGRIND_LIBRARY}\n")
        log = self.folder / "oclgrind.log"
        log.unlink(missing_ok=True)
        return log, {"OCL_ICD_VENDORS": str(self.folder / "oclgrind.icd"), "OCLGRIND_LOG": str(log), "OCLGRIND_DATA_RACES": "1",
                     **({"OCLGRIND_UNINITIALIZED": "1"} if uninitialised else {})}


class Kernels(Lane):
    def test_every_family_has_sizes(self):
        self.assertEqual(sorted(self.families()), sorted(SIZES))

    def test_every_kernel_is_right_at_every_size(self):
        for family, ids in self.families().items():
            for axes in SIZES[family]["tiny"] + (SIZES[family]["small"] if LANE in ("pocl", "opt-disable") else []):
                groups = [ids]
                if LANE == "oclgrind":
                    unwatched = [i for i in ids if any(fnmatch.fnmatch(i, pattern) for pattern in UNWATCHED)]
                    groups = [[i for i in ids if i not in unwatched], unwatched]
                for i, group in enumerate(groups):
                    if not group:
                        continue
                    with self.subTest(family=family, axes=" ".join(axes)):
                        log, environment = self.simulator(i == 0) if LANE == "oclgrind" else (None, {})
                        for record in self.run_lane(group, axes, **environment):
                            # A probe may need what a CPU lacks; it says so in its reason.
                            self.assertIn(record["status"], ("ok", "unsupported"), f"{record['id']} {record['point']}: {record['reason']}")
                        if log:
                            self.assertEqual(log.read_text(), "")


class Simulator(Lane):
    """That the lane above can fail: Oclgrind must speak of each fault planted here."""

    def said_of(self, fault):
        source = (f"__kernel void KERNEL(__global float* restrict out, float a, float b, float c) {{\n"
                  f"    {fault}\n    out[get_global_id(0)] = fma(a, b, c);\n}}\n")
        log, environment = self.simulator()
        self.lab("run", "muladd_fma", "--verify", "--no-dumps", "--device", "oclgrind", "--axis", "items=64", "--cl-dir",
                 # The optimiser would take the fault away.
                 self.kernels(muladd=source), "--build-options=-cl-opt-disable", env=self.environment(**environment), status=None)
        return log.read_text()

    def test_a_race_is_seen(self):
        self.assertIn("data race", self.said_of("out[0] = (float)get_global_id(0);"))

    def test_an_uninitialised_value_is_seen(self):
        self.assertIn("uninitialized", self.said_of("float x[2]; if (x[get_global_id(0) & 1] > 1) out[1] = 1;"))

    def test_a_read_outside_is_seen(self):
        self.assertIn("Invalid read", self.said_of("volatile float x = out[100000000];"))


if __name__ == "__main__":
    LANE = sys.argv.pop(1)
    unittest.main(defaultTest=["Kernels", "Simulator"] if LANE == "oclgrind" else "Kernels")
