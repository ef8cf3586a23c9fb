"""Compiled programs in the place of kernel text: SPIR-V where a driver takes it (Intel's CPU runtime, of those that CI has), a
driver's own binaries, and wrong ones of both."""
import pathlib
import random
import shutil
import struct
import subprocess

import spirv
from kernel_files import KernelFileTest, floats
from lab import CLLAB, main

BLOCK = "arg in = iota:256\narg s = 0.5\narg out = out:256\nglobal 256\nexpect out = gold.bin\n"
SCALE = "kernel void scale(global float* out, global const float* in, float s) { size_t i = get_global_id(0); out[i] = s * in[i]; }\n"
INTEL = pathlib.Path(CLLAB).parent / "intel-cpu-runtime" / "vendors"


class ProgramTest(KernelFileTest):
    def setUp(self):
        super().setUp()
        (self.folder / "gold.bin").write_bytes(floats([i / 2 for i in range(256)]))
        for name in ("k", "scale"):
            (self.folder / f"{name}.cllab").write_text(BLOCK)

    def program(self, content, name="k.spv"):
        (self.folder / name).write_bytes(content)
        return name

    def run_program(self, *args, status=0, intel=False):
        if intel and not INTEL.exists():
            self.skipTest("Intel's CPU runtime is not here (tools/intel-cpu-runtime)")
        environment = self.environment(**({"OCL_ICD_VENDORS": str(INTEL)} if intel else {}))
        _, err = self.lab("run", *args, "--device", "cpu", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl", "--force", env=environment, status=status)
        return self.records(), err


class Programs(ProgramTest):
    def test_driver_without_spirv_makes_the_row_unsupported(self):
        (record,), _ = self.run_program(self.program(spirv.scale()), "--no-dumps")
        self.assertEqual(record["status"], "unsupported")
        self.assertRegex(record["reason"], r"\APortable Computing Language, driver \S+, does not accept SPIR-V; Intel's drivers do\Z")

    def test_driver_binary_runs_like_the_text_it_was_made_from(self):
        self.write(SCALE, "scale.cl")
        self.run_program("scale.cl", "--dumps", "d")
        shutil.copy(next(self.folder.glob("d/*/*/program.poclbin")), self.folder / "k.poclbin")
        records, _ = self.run_program("k.poclbin", "--no-dumps")
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "file gold.bin")])

    def test_incomplete_or_foreign_program_is_refused_in_one_sentence(self):
        self.write(SCALE, "scale.cl")
        self.run_program("scale.cl", "--dumps", "d")
        pocl = next(self.folder.glob("d/*/*/program.poclbin")).read_bytes()
        whole = spirv.scale()
        ptx = b".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry scale(.param .u64 .ptr .global .align 4 p) { ret; }\n"
        for name, content, status, says in [
                ("k.spv", whole[:-8], 2, "it is cut short: its last function has no end"),
                ("k.spv", whole[:-12], 2, r"it is not a SPIR-V module for OpenCL: it is cut short or damaged: the instruction at byte \d+ has 5 words, and 4 are left"),
                ("k.spv", whole[:-3], 2, "it is cut short: it has [0-9]+ bytes"),
                ("k.spv", b"kernel void k() {}\n", 2, "it does not begin with the number of SPIR-V"),
                ("k.spv", b"", 2, "'k.spv' is empty"),
                ("k.spv", spirv.scale(model=5), 2, "it has no kernel: no entry point is of the execution model Kernel"),
                ("k.poclbin", pocl[:len(pocl) // 2], 2, "' is damaged: it does not hold all that its header names"),
                ("k.poclbin", bytes(range(256)) * 9, 1, "the driver accepts only its own binaries"),
                ("k.elf", pathlib.Path("/bin/true").read_bytes()[:5000], 2, "' is damaged: its sections end at byte"),
                ("k.ptx", b"no PTX\n", 2, "it is not PTX"),
                ("k.bin", b"x" * (8 << 20), 2, "is larger than 7 MiB, the limit for a compiled program")]:
            with self.subTest(name=name, says=says):
                _, err = self.run_program(self.program(content, name), "--no-dumps", status=status)
                self.assertRegex(err, rf"\A(cllab: [^\n]*{says}[^\n]*\n)\Z")
        # PTX has no types behind pointers.
        (self.folder / "k.cllab").write_text("arg arg0 = zero:float:64\nglobal 64\n")
        (record,), _ = self.run_program(self.program(ptx, "k.ptx"), "--no-dumps", status=1)
        self.assertEqual(record["status"], "build_failed")
        self.assertIn("the driver accepts only its own binaries", record["reason"])

    def test_spirv_code_is_made_by_a_compiler_that_accepts_it(self):
        if not shutil.which("ocloc"):
            self.skipTest("ocloc is not here")
        self.write("kernel void signs(global float4* y, int a, uint b, local short* t) { y[get_global_id(0)] = a + b + t[0]; }\n", "signs.cl")
        subprocess.run(["ocloc", "compile", "-file", "signs.cl", "-device", "tgllp", "-spv_only", "-output", "signs"], cwd=self.folder, check=True, capture_output=True)
        made, = self.folder.glob("signs*.spv")
        made.rename(self.folder / "signs.spv")
        nowhere = self.environment(OCL_ICD_VENDORS="/nonexistent")
        out, _ = self.lab("isa", "signs.spv", "--target", "tgllp", "--summary", env=nowhere)
        self.assertIn("signs_spv_signs for tgllp", out)
        _, err = self.lab("isa", "signs.spv", "--target", "gfx900", env=nowhere, status=None)
        self.assertIn("the compiler for gfx900 does not accept SPIR-V; only Intel's does", err)
        # The module says what the source called the types, which are unsigned in SPIR-V.
        _, err = self.lab("run", "signs.spv", "--arg", "a=x", "--global", "4", "--arg", "t=4", "--arg", "b=1", "--arg", "y=0.5", status=2)
        self.assertIn("argument 'y' of kernel 'signs' is a __global float4*", err)
        _, err = self.lab("run", "signs.spv", "--arg", "a=0.5", "--global", "4", "--arg", "t=4", "--arg", "b=1", "--arg", "y=out:4", status=2)
        self.assertIn("argument 'a' of kernel 'signs' is of type int", err)


class OnIntel(ProgramTest):
    """What needs a driver that takes SPIR-V; `tools/test --all` installs one."""

    def test_spirv_module_is_run_and_verified_like_a_text(self):
        records, _ = self.run_program(self.program(spirv.scale()), "--dumps", "d", intel=True)
        self.assertEqual([(r["id"], r["status"], r["checked_by"]) for r in records], [("k_spv_scale", "ok", "file gold.bin")])
        self.assertEqual(next(self.folder.glob("d/*/*/source.spv")).read_bytes(), spirv.scale())
        (self.folder / "k.cllab").write_text("global 256\narg s = 0.5\nrelation linear in in\n")
        records, _ = self.run_program("k.spv", intel=True)
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "relation linear in in")])
        (self.folder / "k.cl").write_text(SCALE)
        records, _ = self.run_program("k.spv", "--vs", "k.cl:scale", intel=True)
        self.assertEqual([(r["variant"], r["status"]) for r in records if "variant" in r], [("k_spv_scale", "ok"), ("k_scale", "ok")])

    def test_unnamed_arguments_are_identified_by_position(self):
        (self.folder / "k.cllab").write_text("arg arg1 = iota:256\narg arg2 = 0.5\nglobal 256\nexpect arg0 = gold.bin\n")
        records, _ = self.run_program(self.program(spirv.scale(named=False)), intel=True)
        self.assertEqual([(r["status"], r["checked_by"]) for r in records], [("ok", "file gold.bin")])

    def test_a_damaged_module_costs_its_row_and_not_the_program(self):
        rng = random.Random(5)
        whole = spirv.scale()
        for _ in range(12):
            words = list(struct.unpack(f"<{len(whole) // 4}I", whole))
            words[rng.randrange(len(words) * 3 // 4, len(words))] ^= 1 << rng.randrange(16)
            self.program(struct.pack(f"<{len(words)}I", *words))
            _, err = self.run_program("k.spv", "--no-dumps", "--timeout", "20", intel=True, status=None)
            self.assertNotIn("this program failed", err)
            self.assertNotIn("internal", err)


if __name__ == "__main__":
    main()
