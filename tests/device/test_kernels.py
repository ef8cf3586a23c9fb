"""Every kernel right at small and awkward sizes, a lane for each OpenCL implementation that any x86 machine can have.

    test_kernels.py pocl                    PoCL
    test_kernels.py product                 PoCL: the family pitch at every size of a GPU's lane, of which pocl has pairs of axes
    test_kernels.py opt-disable             PoCL without optimisation: the kernels that Oclgrind does not run so
    test_kernels.py tiny                    the smallest sizes on PoCL only; for a program built with sanitizers
    test_kernels.py oclgrind                the simulator, watching for races, uninitialised values and accesses outside
    test_kernels.py rusticl                 Mesa's rusticl on llvmpipe
    test_kernels.py intel VENDORS           Intel's CPU runtime, by the folder that tools/intel-cpu-runtime made
    test_kernels.py gpu | gpu-opt-disable   the first GPU, or the device that CLLAB_TEST_DEVICE selects
    test_kernels.py cpu                     the first CPU, whatever implementation it has; smallest sizes only
                                            tools/on-gpu runs these, a process for each family (CLLAB_TEST_ONLY)

The others than PoCL and Oclgrind are skipped (exit status 77) where the implementation is not installed, and fail where it is broken. A kernel
without sizes in sizes.py fails the lane: choose some when you add one. Known failures are in expected_failures.py.
"""
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
from lab import CLLAB, OCLGRIND_LIBRARY, SKIPPED, SOURCE, LabTest, against_noise  # noqa: E402
from expected_failures import complaints  # noqa: E402
from sizes import CPU_ONLY, INSTEAD, LEFT_OUT, SHAPES, SIZES, WATCHED  # noqa: E402

LANE = "pocl"
GPU = os.environ.get("CLLAB_TEST_DEVICE", "gpu")
DEVICES = {"oclgrind": "oclgrind", "rusticl": "llvmpipe", "gpu": GPU, "gpu-opt-disable": GPU}  # the others: cpu
RUSTICL_ICD = pathlib.Path("/etc/OpenCL/vendors/rusticl.icd")
ALL_ICDS = {"OCL_ICD_VENDORS": os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")}
OTHERS = {"rusticl": {"OCL_ICD_VENDORS": str(RUSTICL_ICD), "RUSTICL_ENABLE": "llvmpipe"},  # intel: from the command line
          "gpu": ALL_ICDS, "gpu-opt-disable": ALL_ICDS, "cpu": ALL_ICDS}
ONLY = [name for name in os.environ.get("CLLAB_TEST_ONLY", "").split(",") if name]  # families
PRODUCT = ["pitch"]  # the families of the lane `product`
UNOPTIMISED = "--build-options=-cl-opt-disable"


def fits(kernel, patterns):
    return any(fnmatch.fnmatchcase(kernel, pattern) for pattern in patterns)


def together(runs, axes_of):
    """Runs (ids, axes) as fewer with the same cells: two are one where neither sets an axis that the other has and sets otherwise, or not. PoCL
    reads its library of built-in functions once per process, which takes as long as several kernels."""
    out = []
    for ids, axes in ((ids, axes) for ids, axes in runs if ids):
        run = {"ids": ids, "settings": dict(axis.split("=", 1) for axis in axes), "has": set().union(*(axes_of[i.split("_")[0]] for i in ids))}
        for other in out:
            settings = other["settings"] | run["settings"]
            if not set(other["ids"]) & set(ids) and all({n: v for n, v in settings.items() if n in r["has"]} == r["settings"] for r in (other, run)):
                other.update(ids=other["ids"] + ids, settings=settings, has=other["has"] | run["has"])
                break
        else:
            out.append(run)
    return [(run["ids"], [f"{name}={values}" for name, values in run["settings"].items()]) for run in out]


class Lane(LabTest):
    def run_lane(self, ids, axes, more=(), **environment):
        # fma_code without optimisation compiles for half a minute, and longer on a machine that does other things.
        args = ["run", *ids, *more, "--verify", "--no-dumps", "--json", "r.jsonl", "--force", "--timeout", "600"]
        args += ["--device", DEVICES.get(LANE, "cpu")]
        for axis in axes:
            args += ["--axis", axis]
        if LANE.endswith("opt-disable"):
            args.append(UNOPTIMISED)
        if LANE in OTHERS:
            args.append("--isolate")  # a crash there costs one cell
        out, err = self.lab(*args, timeout=900, env=self.environment(**OTHERS.get(LANE, {}), **environment), status=None)
        # PoCL counts clang's warnings there: on processors without AVX-512 one for each call that passes a float16, about an
        # ABI that inlined functions do not have. Mesa warns of a kernel argument read in a branch.
        self.assertEqual(re.sub(r"(?m)^(\d+ warnings? generated\.|MESA: warning: .*|)\n", "", err), "")
        records = self.records()
        self.assertEqual({r["id"] for r in records}, set(ids), out)
        return records

    def sized(self):
        """pattern of SIZES -> its kernels' ids; None -> those without sizes"""
        kernels = {}
        for entry in json.loads(self.lab("list", "--json")[0]):
            if ONLY and entry["family"] not in ONLY:
                continue
            found = next((pattern for pattern in SIZES if fits(entry["id"], [pattern])), None)
            kernels.setdefault(found, []).append(entry["id"])
        return kernels

    def axes_by_family(self, families):
        """The names of the axes that a family has."""
        return {family: set(re.findall(r"(?m)^  (\w+) = ", self.lab("describe", family)[0])) for family in families}

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
        records, families, runs = [], set(), []
        left_out = self.left_out()
        for pattern, ids in self.sized().items():
            here = [i for i in ids if not fits(i, left_out)]
            families |= {i.split("_")[0] for i in (here if LANE == "opt-disable" else ids)}
            runs += [(here, axes) for axes in self.axes_of(pattern)]
        axes_of = self.axes_by_family(families)
        watched = [([i for i in ids if LANE == "oclgrind" and fits(i, WATCHED)], axes) for ids, axes in runs]
        others = [([i for i in ids if i not in apart], axes) for (ids, axes), (apart, _) in zip(runs, watched)]
        for run, kind in ((self.simulate_watched, watched), (self.simulate if LANE == "oclgrind" else self.run_lane, others)):
            for ids, axes in together(kind, axes_of):
                with self.subTest(kernels=" ".join(ids), axes=" ".join(axes)):
                    records += run(ids, axes)
        if "CLLAB_RECORDS" in os.environ:
            pathlib.Path(os.environ["CLLAB_RECORDS"]).write_text("".join(json.dumps(r) + "\n" for r in records))
        if LANE != "tiny":  # himeno has no tiny sizes
            self.assertEqual({r["family"] for r in records}, families)
        self.assertEqual("\n".join(complaints(records)), "")
        if LANE == "rusticl":  # quirk rusticl-group-32: its answer would leave out half of the cells
            self.assertEqual([r["id"] for r in records if "this kernel can have" in r["reason"]], [])

    def test_broken_extension_macro_costs_no_family(self):
        """PoCL 7.2 and Intel's runtime 2026.2 define cl_khr_kernel_clock and have no clock_read_sub_group."""
        if LANE != "pocl":
            return
        for pattern, ids in self.sized().items():
            if pattern in ("bandwidth_*", "saxpy_*", "launch_*", "latency_*", "fma_*"):
                with self.subTest(kernels=" ".join(ids)):
                    records = self.run_lane(ids, (SIZES[pattern]["tiny"] or SIZES[pattern]["small"])[0], ("--build-options=-Dcl_khr_kernel_clock=1",))
                    self.assertEqual({r["id"]: r["reason"] for r in records if r["status"] not in ("ok", "unsupported")}, {})

    def axes_of(self, pattern):
        sizes = SIZES.get(pattern, {"tiny": [], "small": []})
        if pattern in INSTEAD.get(LANE, {}):
            return INSTEAD[LANE][pattern]
        if LANE in ("gpu", "product") or LANE == "pocl" and pattern in SHAPES or not sizes["small"]:
            return sizes["tiny"] + sizes["small"]
        if LANE == "pocl":
            return sizes["small"]
        # Code without optimisation is the same for all sizes; on the CPU beside a GPU it is the implementation that is asked.
        if LANE.endswith("opt-disable") or LANE == "cpu":
            return sizes["tiny"] or sizes["small"]
        return sizes["tiny"]

    def left_out(self):
        if LANE != "opt-disable":
            return LEFT_OUT.get(LANE, [])
        # The simulator runs the others without optimisation.
        return [i for ids in self.sized().values() for i in ids if not fits(i, WATCHED + LEFT_OUT["oclgrind"] + CPU_ONLY)]

    def simulate(self, ids, axes, more=(UNOPTIMISED,), uninitialised=False):
        log, environment = self.simulator(uninitialised)
        records = self.run_lane(ids, axes, more, **environment)
        self.assertEqual(log.read_text(), "")
        return records

    def simulate_watched(self, ids, axes):
        return self.simulate(ids, axes, (), uninitialised=True)


class KernelFiles(Lane):
    """The files of tests/kernels, as a user's own."""

    SMALL = {"transpose.cl": ["n=32"], "conv3x3.cl": ["w=32", "h=16"], "reduce_local.cl": ["n=1024"], "soften.cl": ["w=16", "h=8"], "affine.cl": ["n=256"], "in_place.cl": ["rows=16"], "particles.cl": ["n=64"]}

    def test_every_kernel_file_is_right(self):
        environment = OTHERS.get(LANE, {})
        if LANE == "oclgrind":
            log, environment = self.simulator()
        for path in sorted((SOURCE / "tests" / "kernels").glob("*.cl")):
            with self.subTest(file=path.name):
                args = ["run", path, "--verify", "--no-dumps", "--json", "r.jsonl", "--force", "--device", DEVICES.get(LANE, "cpu")]
                for axis in self.SMALL[path.name]:
                    args += ["--axis", axis]
                if LANE.endswith("opt-disable"):
                    args.append(UNOPTIMISED)
                self.lab(*args, env=self.environment(**environment), status=0)
                for record in self.records():
                    self.assertIn(record["status"], ("ok", "unsupported"), record["reason"])
                    self.assertTrue(record["status"] == "unsupported" or record["checked_by"], record)
        if LANE == "oclgrind":
            self.assertEqual(log.read_text(), "")

    def test_printing_kernel_and_one_far_from_0_are_right_or_unsupported(self):
        """Both ended as launch_failed on an NVIDIA GPU once: its driver prints by itself, and has 32 bits for a global offset."""
        if LANE not in ("pocl", "gpu"):
            return
        (self.folder / "t.cl").write_text("/*cllab\narg y = out:16\nglobal 16\ndiffer prints, far\nkernel far\noffset 4294967296\n*/\n"
                   'kernel void prints(global uint* y) { y[get_global_id(0)] = 3; if (get_global_id(0) == 5) printf("five %d\\n", 5); }\n'
                   "kernel void far(global uint* y) { y[get_global_id(0) - 4294967296UL] = (uint)get_global_id(0) + 3; }\n")
        self.lab("run", "t.cl", "--verify", "--no-dumps", "--json", "r.jsonl", "--device", DEVICES.get(LANE, "cpu"), env=self.environment(**OTHERS.get(LANE, {})))
        found = {r["variant"]: r["status"] for r in self.records()}
        self.assertEqual(found["prints"], "ok")
        self.assertIn(found["far"], ("ok", "unsupported"))

    # Where the kernel's code is: as machine code in isa.txt; llvmpipe keeps what it makes at the launch, and a simulator makes none.
    CODE = {"pocl": ("isa.txt", rb"\bret"), "opt-disable": ("isa.txt", rb"\bret"), "intel": ("isa.txt", rb"\bret"),
            "rusticl": ("program.spv", rb"^\x03\x02\x23\x07(?s:.*)KERNEL\0"), "oclgrind": ("isa.txt", rb"(?s)define .*@KERNEL\(.*\bret void")}

    def test_every_kernel_file_shows_its_code_next_to_the_result(self):
        if LANE not in self.CODE:
            return
        environment = self.simulator()[1] if LANE == "oclgrind" else OTHERS.get(LANE, {})
        for path in sorted((SOURCE / "tests" / "kernels").glob("*.cl")):
            with self.subTest(file=path.name):
                axes = [word for axis in self.SMALL[path.name] for word in ("--axis", axis)]
                self.lab("dump", path, "--json", "r.jsonl", "--force", "--device", DEVICES.get(LANE, "cpu"), *axes, env=self.environment(**environment), status=0)
                ran = [r for r in self.records() if r["status"] == "ok"]
                self.assertTrue(ran or path.name == "soften.cl", "only images may be missing")
                for record in ran:
                    file, pattern = self.CODE[LANE]
                    content = (self.folder / record["dump"] / file).read_bytes()
                    entry = json.loads((self.folder / record["dump"] / "stats.json").read_text())["entry"]
                    self.assertTrue(re.search(pattern.replace(b"KERNEL", entry.encode()), content), content[:500])
                    if LANE in ("pocl", "opt-disable", "intel"):
                        self.assertGreater(record["code"]["code_bytes"], 50)

    @against_noise
    def test_executed_loop_is_found_in_the_code_of_a_kernel_file(self):
        if LANE not in ("pocl", "intel"):
            return
        path = SOURCE / "tests" / "kernels" / "reduce_local.cl"
        out, _ = self.lab("isa", f"{path}:sum_serial", "--hot", "--device", "cpu", env=self.environment(**OTHERS.get(LANE, {})))
        self.assertRegex(out, r"hot: sampled, \d+ samples in the kernel of \d+")
        self.assertRegex(out, r"loop at 0x[0-9a-f]+, [\d.]+ % of the kernel's samples")


class Expectations(unittest.TestCase):
    """That the lane above can fail."""

    ENTRY = {"platform": "P", "driver": "22.3", "cells": "f_v n=4*", "status": "wrong_result"}

    def cell(self, status, n=4, driver="22.3.6", reason="why"):
        return {"id": "f_v", "point": {"n": n}, "status": status, "reason": reason, "device": {"platform": "P", "driver": driver}}

    def said(self, *cells):
        return complaints(cells, [self.ENTRY])

    def test_expected_failure_is_accepted_and_unexpected_success_reported(self):
        self.assertEqual(self.said(self.cell("wrong_result"), self.cell("ok", n=1), self.cell("unsupported", n=2)), [])
        self.assertEqual(self.said(self.cell("ok")), ["f_v n=4 is ok, expected wrong_result: why"])

    def test_other_failures_cells_and_versions_are_unexpected(self):
        self.assertEqual(len(self.said(self.cell("launch_failed"))), 1)
        self.assertEqual(len(self.said(self.cell("wrong_result"), self.cell("wrong_result", n=5))), 1)
        self.assertEqual(len(self.said(self.cell("wrong_result", driver="23.1"))), 1)

    def test_unused_entries_and_missing_reasons_are_reported(self):
        self.assertEqual(self.said(self.cell("ok", n=1)), ["the expected failure f_v n=4* of P fits no cell of this lane"])
        self.assertEqual(self.said(self.cell("wrong_result"), self.cell("unsupported", n=1, reason="")),
                         ["f_v n=1 is unsupported without a reason"])


class Together(unittest.TestCase):
    """Which runs may share a process."""

    AXES = {"a": {"n", "m"}, "b": {"n"}, "c": {"k"}}

    def joined(self, *runs):
        return together([([name], axes) for name, *axes in runs], self.AXES)

    def test_runs_share_a_process_if_each_kernel_keeps_its_axes(self):
        self.assertEqual(self.joined(("a_v", "n=1"), ("b_v", "n=1"), ("c_v", "k=2")), [(["a_v", "b_v", "c_v"], ["n=1", "k=2"])])
        self.assertEqual(len(self.joined(("b_v", "n=1"), ("a_v", "n=1", "m=2"))), 1)

    def test_extra_or_conflicting_axes_keep_runs_apart(self):
        for runs in ((("a_v", "n=1"), ("b_v", "n=2")), (("a_v", "n=1"), ("b_v",)), (("b_v",), ("a_v", "n=1")), (("b_v", "n=1"), ("a_v", "m=2"))):
            with self.subTest(runs=runs):
                self.assertEqual(len(self.joined(*runs)), 2)

    def test_no_run_has_a_kernel_twice(self):
        self.assertEqual(len(self.joined(("a_v", "n=1"), ("a_v", "n=1"))), 2)


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

    def test_race_is_detected(self):
        self.assertIn("data race", self.said_of("out[0] = (float)get_global_id(0);"))

    def test_uninitialised_value_is_detected(self):
        self.assertIn("uninitialized", self.said_of("float x[2]; if (x[get_global_id(0) & 1] > 1) out[1] = 1;"))

    def test_read_outside_is_detected(self):
        self.assertIn("Invalid read", self.said_of("volatile float x = out[100000000];"))


def skip_where_absent():
    """Ends, counted as skipped, where the lane's implementation is not installed."""
    if LANE == "intel":
        vendors = pathlib.Path(sys.argv.pop(1))
        OTHERS["intel"] = {"OCL_ICD_VENDORS": str(vendors)}
        if not list(vendors.glob("*.icd")):
            sys.exit(skipped("Intel's CPU runtime is not installed; tools/intel-cpu-runtime does it"))
    elif LANE in ("gpu", "gpu-opt-disable", "cpu"):
        wanted = DEVICES.get(LANE, "cpu")
        if subprocess.run([CLLAB, "run", "muladd_fma", "--verify", "--no-dumps", "--device", wanted],
                          env=os.environ | ALL_ICDS, capture_output=True).returncode == 3:
            sys.exit(skipped(f"no device '{wanted}' is here"))
    elif LANE == "rusticl" and not RUSTICL_ICD.exists():
        sys.exit(skipped(f"{RUSTICL_ICD} is not there; apt-get install mesa-opencl-icd"))


def skipped(sentence):
    print(f"skipped: {sentence}")
    return SKIPPED


if __name__ == "__main__":
    LANE = sys.argv.pop(1)
    skip_where_absent()
    if LANE == "product":
        ONLY = PRODUCT
        unittest.main(defaultTest=["Kernels"])
    unittest.main(defaultTest=["Kernels", "KernelFiles", "Expectations", "Together", *(["Simulator"] if LANE == "oclgrind" else [])])
