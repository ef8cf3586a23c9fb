"""--native: a hand-written C++ loop as rows beside the kernels of a CPU device, right by the same reference and timed in the same rounds."""
import subprocess

from lab import OCLGRIND_LIBRARY, LabTest, main, words

SMALL = [word for axis in ("width=97", "height=9", "pitch=5.2") for word in ("--axis", axis)]


# Makes PoCL's device one of type GPU.
GPU = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
typedef int Info(void*, unsigned, unsigned long, void*, unsigned long*);
int clGetDeviceInfo(void* device, unsigned what, unsigned long room, void* to, unsigned long* size) {
    const int status = ((Info*)dlsym(RTLD_NEXT, "clGetDeviceInfo"))(device, what, room, to, size);
    if (what == 0x1000 && to && status == 0) *(unsigned long*)to = 4;
    return status;
}
"""


def all_rounds(record):
    """Those that counted and those set aside: which of them are is decided cell by cell."""
    return sorted(record["rounds"] + record.get("aside_rounds", []))


class Native(LabTest):
    def run_native(self, *patterns, status=0, device="cpu", **more):
        return self.lab("run", *patterns, "--device", device, "--native", "--no-dumps", "--max-time", "0.02", "--json", "r.jsonl", "--force",
                        status=status, **more)

    def test_native_loop_is_right_and_alternates_with_the_kernels(self):
        kernel = "pitch_implicit"
        out, _ = self.run_native(kernel, *SMALL)
        records = {r["id"]: r for r in self.records()}
        self.assertEqual(list(records), [kernel, "pitch_native", "pitch_native_all"])
        for r in records.values():
            self.assertEqual((r["status"], r["checked_by"]), ("ok", "host code"), r["reason"])
            self.assertEqual(r["run"]["order"]["comparison"], records[kernel]["run"]["order"]["comparison"])
            self.assertEqual(r["time"]["batch"], records[kernel]["time"]["batch"])
            self.assertEqual(all_rounds(r)[:5], all_rounds(records[kernel])[:5])
            self.assertGreater(r["time"]["median"], 0)
            self.assertEqual("native" in r, r["id"] != kernel)
        one, every = records["pitch_native"], records["pitch_native_all"]
        self.assertEqual(one["native"]["threads"], 1)
        self.assertGreaterEqual(every["native"]["threads"], 1)
        for r in (one, every):
            self.assertEqual((r["time"]["clock"], r["build"]["source"], r["dump"]), ("host", "native", ""))
            self.assertTrue(r["native"]["compiler"] and r["native"]["instruction_set"])
            self.assertEqual([w.split(":")[0] for w in r["warnings"] if w.startswith(("native", "host-clock"))], ["native"])
        self.assertIn("hand-written C++", words(out))
        self.assertIn(one["native"]["instruction_set"], words(out))
        self.assertRegex(out, r"pitch_native_all +ok .* host")

    def test_describe_lists_the_native_loops_of_a_family(self):
        for family, loops in (("pitch", ["pitch_native", "pitch_native_all"]), ("saxpy", [])):
            listed = self.lab("describe", family)[0].partition("Loops in C++ (--native")[2]
            self.assertEqual([line.strip() for line in listed.splitlines() if line.startswith(f"  {family}")], loops)

    def test_native_loop_works_isolated_and_with_verify(self):
        for more in (["--isolate"], ["--verify"]):
            self.run_native("pitch_wide", *SMALL, "--no-yardstick", *more)
            for r in self.records():
                self.assertEqual(r["status"], "ok", r["reason"])

    def test_dumps_contain_only_kernels(self):
        self.lab("run", "pitch_wide", "--device", "cpu", "--native", "--no-yardstick", "--max-time", "0.02", *SMALL)
        self.assertEqual([p.name for p in sorted((self.folder / "dumps").rglob("pitch_*"))], ["pitch_wide"])

    def test_without_the_option_there_are_no_native_loops(self):
        self.lab("run", "pitch", "--device", "cpu", "--verify", "--no-dumps", *SMALL, "--json", "r.jsonl")
        self.assertFalse([r["id"] for r in self.records() if "native" in r["id"]])

    def test_family_without_native_loops_is_refused(self):
        _, err = self.run_native("pitch_wide", "pad", status=2)
        self.assert_one_sentence(err, "'pad' has no native loop (--native); families with one: pitch")
        (self.folder / "k.cl").write_text("kernel void k(global float* y) { y[get_global_id(0)] = 1; }\n")
        _, err = self.run_native("k.cl", "--global", "64", "--arg", "y=zero:64", status=2)
        self.assertIn("has no native loop", err)
        for more in (["--vs", "pitch_short8"], ["--baseline", "base"]):
            _, err = self.run_native("pitch_wide", *more, status=2)
            self.assert_one_sentence(err, "--native cannot be combined with ")

    def test_device_other_than_a_cpu_is_refused(self):
        (self.folder / "gpu.c").write_text(GPU)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "gpu.so", "gpu.c", "-ldl"], cwd=self.folder, check=True)
        _, err = self.run_native("pitch_wide", status=2, device="gpu", env=self.environment(LD_PRELOAD=str(self.folder / "gpu.so")))
        self.assert_one_sentence(err, "option '--native' applies to CPU devices only; '", "' is of type gpu")

    def test_simulator_is_refused(self):
        self.assertIsNotNone(OCLGRIND_LIBRARY, "Oclgrind's library is not there; apt-get install oclgrind")
        icd = self.folder / "oclgrind.icd"
        icd.write_text(f"{OCLGRIND_LIBRARY}\n")
        _, err = self.run_native("pitch_wide", status=2, device="oclgrind", env=self.environment(OCL_ICD_VENDORS=str(icd)))
        self.assert_one_sentence(err, "option '--native' applies to CPU devices only; '", "' is a simulator")


if __name__ == "__main__":
    main()
