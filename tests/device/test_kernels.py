"""Every kernel right at small and awkward sizes, on three lanes: PoCL, PoCL without optimisation, and the simulator
Oclgrind watching for races, uninitialised values and accesses outside.

    test_kernels.py pocl | opt-disable | oclgrind
    test_kernels.py tiny      the smallest sizes on PoCL only; for a program built with sanitizers

A kernel without sizes in sizes.py fails the lane: choose some when you add one.
"""
import fnmatch
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from lab import OCLGRIND_LIBRARY, LabTest  # noqa: E402
from sizes import NOT_SIMULATED, SIZES, WATCHED  # noqa: E402

LANE = "pocl"
UNOPTIMISED = "--build-options=-cl-opt-disable"


def fits(kernel, patterns):
    return any(fnmatch.fnmatchcase(kernel, pattern) for pattern in patterns)


class Lane(LabTest):
    def run_lane(self, ids, axes, more=(), **environment):
        args = ["run", *ids, *more, "--verify", "--no-dumps", "--json", "r.jsonl"]
        args += ["--device", "oclgrind" if LANE == "oclgrind" else "cpu"]
        for axis in axes:
            args += ["--axis", axis]
        if LANE == "opt-disable":
            args.append(UNOPTIMISED)
        out, err = self.lab(*args, timeout=900, env=self.environment(**environment))
        # PoCL counts clang's warnings there: on processors without AVX-512 one for each call that passes a float16, about an
        # ABI that inlined functions do not have.
        self.assertEqual(re.sub(r"(?m)^\d+ warnings? generated\.\n", "", err), "")
        return self.records()

    def sized(self):
        """pattern of SIZES -> its kernels' ids; None -> those without sizes"""
        kernels = {}
        for entry in json.loads(self.lab("list", "--json")[0]):
            found = next((pattern for pattern in SIZES if fits(entry["id"], [pattern])), None)
            kernels.setdefault(found, []).append(entry["id"])
        return kernels

    def simulator(self, uninitialised=True):
        self.assertIsNotNone(OCLGRIND_LIBRARY, "Oclgrind's library is not there; apt-get install oclgrind")
        (self.folder / "oclgrind.icd").write_text(f"{OCLGRIND_LIBRARY}\n")
        log = self.folder / "oclgrind.log"
        log.unlink(missing_ok=True)
        return log, {"OCL_ICD_VENDORS": str(self.folder / "oclgrind.icd"), "OCLGRIND_LOG": str(log), "OCLGRIND_DATA_RACES": "1",
                     **({"OCLGRIND_UNINITIALIZED": "1"} if uninitialised else {})}


class Kernels(Lane):
    def test_every_kernel_has_sizes(self):
        self.assertEqual(self.sized().get(None, []), [])

    def test_every_kernel_is_right_at_every_size(self):
        for pattern, ids in self.sized().items():
            sizes = SIZES.get(pattern, {"tiny": [], "small": []})
            for axes in sizes["tiny"] + (sizes["small"] if LANE in ("pocl", "opt-disable") else []):
                with self.subTest(kernels=pattern, axes=" ".join(axes)):
                    if LANE == "oclgrind":
                        self.simulate(ids, axes)
                    else:
                        self.assert_right(self.run_lane(ids, axes))

    def simulate(self, ids, axes):
        ids = [i for i in ids if not fits(i, NOT_SIMULATED)]
        for watched in (True, False):
            some = [i for i in ids if fits(i, WATCHED) == watched]
            if some:
                log, environment = self.simulator(uninitialised=watched)
                self.assert_right(self.run_lane(some, axes, [] if watched else [UNOPTIMISED], **environment))
                self.assertEqual(log.read_text(), "")

    def assert_right(self, records):
        for record in records:
            # A probe may need what a CPU lacks; it says so in its reason.
            self.assertIn(record["status"], ("ok", "unsupported"), f"{record['id']} {record['point']}: {record['reason']}")


class Simulator(Lane):
    """That the lane above can fail: Oclgrind must speak of each fault planted here."""

    def said_of(self, fault):
        source = (f"__kernel void KERNEL(__global float* restrict out, float a, float b, float c) {{\n"
                  f"    {fault}\n    out[get_global_id(0)] = fma(a, b, c);\n}}\n")
        log, environment = self.simulator()
        self.lab("run", "muladd_fma", "--verify", "--no-dumps", "--device", "oclgrind", "--axis", "items=64", "--cl-dir",
                 # The optimiser would take the fault away.
                 self.kernels(muladd=source), UNOPTIMISED, env=self.environment(**environment), status=None)
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
