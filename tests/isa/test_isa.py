"""What the compilers made of the kernels, for devices that need not be here.

Each *.check beside this file is one expectation: `run:` the arguments of `cllab isa`, then in order `check:` regular
expressions that must follow one another, and `not:` ones that must not appear between the checks around them (FileCheck's
rules). A line that begins with # says what the expectation proves.

    test_isa.py Isa         these, and what else `isa` promises of code for targets
    test_isa.py Variants    every variant compiles for every target below
"""
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).parent.parent / folder) for folder in ("cli", "device")]
import sizes  # noqa: E402
from lab import LabTest, main  # noqa: E402

HERE = pathlib.Path(__file__).parent

# Variants a target cannot have, or whose refusal by the compiler is the answer they look for.
CPU_ONLY = set(sizes.CPU_ONLY)
# No matrix units, or kernels written for NVIDIA's.
NO_WGMMA = {"hgemm_wgmma", "matrix_wgmma"}
NO_MATRIX = NO_WGMMA | {"hgemm_async", "hgemm_buffered", "hgemm_mma", "matrix_latency", "matrix_rate"}
NO_AMD = CPU_ONLY | NO_MATRIX | {"latency_bypass", "registers_v256"}
NO_NVIDIA = CPU_ONLY | NO_WGMMA | {"latency_scalar", "registers_v255", "registers_v256", "registers_s101", "registers_s102"}
NO_XE = CPU_ONLY | NO_MATRIX | {"fma_clock", "latency_bypass", "latency_scalar", "math_latency_double", "math_rate_double", "registers_s101",
                    "registers_s102", "registers_v255", "registers_v256"}
TARGETS = {"tgllp": NO_XE, "gfx900": NO_AMD | {"registers_s102"}, "gfx1030": NO_AMD, "sm_80": NO_NVIDIA}
# gfx90a has gfx900's compiler and a larger register file. Only kernels with many registers can show a difference.
LIKE_GFX900 = {"gfx90a": ["fma", "gemm", "himeno", "occupancy", "registers"]}


def mismatch(text, rules):
    """None when text satisfies rules [(kind, pattern)], else the sentence that says which one it breaks."""
    begin, forbidden = 0, []
    for kind, pattern in [*rules, ("end", "")]:
        if kind == "not":
            forbidden.append(pattern)
            continue
        found = re.compile(pattern, re.M).search(text, begin) if kind == "check" else None
        if kind == "check" and not found:
            return f"no `{pattern}` after `{text[:begin].splitlines()[-1] if begin else 'the start'}`"
        between = text[begin:found.start() if found else len(text)]
        for bad in forbidden:
            if re.search(bad, between, re.M):
                return f"`{bad}` stands where it must not"
        begin, forbidden = found.end() if found else len(text), []
    return None


class IsaTest(LabTest):
    def listed(self, target, known={}):
        """What is made for the target here, and what would have to be installed for more."""
        listed = known.get("targets") or known.setdefault("targets", self.lab("isa", "--targets")[0])
        made, note = re.search(rf"^{target} +(.*?)  +(.*)$", listed, re.M).groups()
        return made, "" if note == "-" else " ".join(re.search(rf"^{re.escape(note)}  (.*?)(?=^\[|\Z)", listed, re.M | re.S)[1].split())

    def given(self, target):
        return self.listed(target)[0]

    def missing(self, target):
        """What would have to be installed to make code for the target; None when it can be made here."""
        made, why = self.listed(target)
        return why if made == "-" else None

    def isa(self, *args, **more):
        if "--target" in args:
            target = args[args.index("--target") + 1]
            if (why := self.missing(target)) is not None:
                self.skipTest(f"cannot compile for {target}: {why}")
        return self.lab("isa", *args, timeout=600, **more)


class Isa(IsaTest):
    def test_every_expectation_is_met(self):
        checks = sorted(HERE.glob("*.check"))
        self.assertTrue(checks)
        for path in checks:
            with self.subTest(path.name):
                lines = [line.split(": ", 1) for line in path.read_text().splitlines() if line and not line.startswith("#")]
                # `needs`: what the target must give here, as `isa --targets` lists it. No skip, which fails CI: ptxas is in no free package of Debian.
                needs = lines.pop(0)[1] if lines[0][0] == "needs" else ""
                self.assertEqual(lines[0][0], "run")
                words = lines[0][1].split()
                if needs and needs not in self.given(words[words.index("--target") + 1]):
                    continue
                out, _ = self.isa(*words)
                self.assertIsNone(mismatch(out, lines[1:]), out[:4000])

    def test_the_matcher_can_fail(self):
        text = "one\ntwo\nthree\n"
        self.assertIsNone(mismatch(text, [("check", "one"), ("not", "four"), ("check", "three")]))
        self.assertIn("no `four`", mismatch(text, [("check", "four")]))
        self.assertIn("no `one` after", mismatch(text, [("check", "two"), ("check", "one")]))
        self.assertIn("must not", mismatch(text, [("check", "one"), ("not", "two"), ("check", "three")]))
        self.assertIn("must not", mismatch(text, [("not", "three")]))

    def test_gcn_address_forms_rank_as_in_the_article(self):
        vector = {}
        for form in ("inside", "hoisted", "bytes"):
            out, _ = self.isa(f"address_masked_{form}", "--target", "gfx900", "--summary")
            vector[form] = int(re.search(r"\(shown\).*? v (\d+),", out)[1])
        self.assertEqual((vector["inside"], vector["bytes"], vector["hoisted"]), (5, 4, 3))

    def test_only_16_bit_products_of_plain_text_use_vnni(self):
        if not shutil.which("clang-15"):
            self.skipTest("clang-15 is not installed")

        def products(kernel, cpu, *words):
            folder = pathlib.Path(os.environ["CLLAB_SOURCE_DIR"]) / "cl"
            made = subprocess.run(["clang-15", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "--target=x86_64-linux-gnu",
                                   f"-march={cpu}", "-O3", "-S", "-o-", f"-I{folder}/include", "-include", "lab.h", *words, folder / f"{kernel}.cl"],
                                  capture_output=True, text=True, check=True).stdout
            return set(re.findall(r"\b(?:vpmadd|vpdp|tdp)\w+", made))

        for product in ("DOT", "PAIR"):
            chains = ("-DKERNEL=k", "-DTYPE=uint", "-DCHAINS=4", "-DREPEAT=2", f"-D{product}")
            self.assertEqual(products("integer", "haswell", *chains), {"vpmaddwd"})
            self.assertEqual(products("integer", "sapphirerapids", *chains), {"vpdpwssd"})
        self.assertEqual(products("hgemm", "sapphirerapids", "-DTYPE_s8", "-DHGEMM_NAIVE", "-include", "hgemm.h"), {"vpmaddwd"})

    def test_code_only_command_makes_no_data(self):
        little = 1 << 30  # the arrays of each have more
        for variant, *axes in (("himeno_swap", "size=L", "data=random"), ("batchnorm_channel_two", "images=128", "channels=256", "height=112", "width=112")):
            with self.subTest(variant):
                self.isa(variant, "--target", "gfx900", *(word for axis in axes for word in ("--axis", axis)), "--summary",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (little, little)))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core compiles one variant at a time")
    def test_variants_are_compiled_in_parallel(self):
        tools = self.folder / "tools"
        tools.mkdir()
        # Each waits until another one has begun, and fails without a word after ten seconds alone.
        (tools / "clang-22").write_text(f"""#!/bin/sh
            echo begun >>{self.folder}/begun
            for turn in $(seq 100); do
                [ $(wc -l <{self.folder}/begun) -ge 2 ] && echo together >&2 && exit 1
                sleep 0.1
            done
            exit 1
            """)
        (tools / "clang-22").chmod(0o755)
        _, err = self.isa("muladd_mad", "muladd_fma", "--target", "sm_80", status=1, env=self.environment(PATH=f"{tools}:/usr/bin:/bin"))
        self.assertEqual(re.findall(r"(?m)^(\w+) for sm_80: build_failed: (.*)", err), [("muladd_fma", "together"), ("muladd_mad", "together")])

    def test_hanging_disassembler_costs_only_the_listing(self):
        tools, temporary = self.folder / "tools", self.folder / "tmp"
        for folder in (tools, temporary):
            folder.mkdir()
        # A child of its own holds the pipe open, and a second tool is there: it hangs as well.
        for name in ("llvm-objdump-22", "objdump"):
            tool = tools / name
            tool.write_text(f"#!/bin/sh\necho $$ >>{self.folder}/started\nsleep 600 &\necho $! >>{self.folder}/started\nsleep 600\n")
            tool.chmod(0o755)
        began = time.monotonic()
        env = self.environment(PATH=f"{tools}:/usr/bin:/bin", TMPDIR=str(temporary))
        self.lab("run", "muladd_mad", "--device", "cpu", "--no-yardstick", "--timeout", "6", "--max-time", "0.1",
                 "--json", "r.jsonl", env=env)
        self.assertLess(time.monotonic() - began, 60)
        record, = self.records()
        self.assertEqual(record["status"], "ok")
        self.assertGreater(record["time"]["median"], 0)
        isa = (self.folder / record["dump"] / "isa.txt").read_text()
        self.assertIn("llvm-objdump-22 did not end within its time limit", isa)
        self.assertEqual(list(temporary.iterdir()), [])
        started = (self.folder / "started").read_text().split()
        self.assertEqual(len(started), 4)
        for pid in started:
            status = pathlib.Path(f"/proc/{pid}/status")
            self.assertTrue(not status.exists() or "sleep" not in status.read_text().splitlines()[0] or "zombie" in status.read_text(),
                            f"process {pid} lives on")

    def test_executed_function_in_the_pocl_cache_is_shown(self):
        env = self.environment(POCL_CACHE_DIR=str(self.folder / "cache"))
        titles = []
        for items in (61440, 131072, 61440):
            out, _ = self.lab("isa", "muladd_mad", "--device", "cpu", "--summary", "--axis", f"items={items}", env=env)
            titles.append(re.search(r"(?m)^(work-group function specialised .*?)(;|, by )", out)[1])
        self.assertEqual(titles[0], titles[2])
        self.assertNotIn("may have run", "".join(titles))
        self.assertNotEqual(titles[0], titles[1])

    def test_build_options_without_code_fail_with_a_sentence(self):
        for target in ("gfx900", "sm_80"):
            for option in ("-E", "-M", "-emit-llvm"):
                with self.subTest(f"{target} {option}"):
                    out, err = self.isa("muladd_mad", "--target", target, f"--build-options={option}", status=1)
                    self.assertEqual(out, "")
                    self.assertRegex(err, rf"muladd_mad for {target}: build_failed: .")

    def test_missing_temporary_folder_gives_one_sentence(self):
        for target in ("gfx900", "sm_80"):
            with self.subTest(target):
                _, err = self.isa("muladd_mad", "--target", target, status=3, env=self.environment(TMPDIR=str(self.folder / "absent")))
                self.assert_one_sentence(err, "temporary files cannot be written to TMPDIR=", "absent: No such file or directory")

    def test_target_missing_a_package_names_the_install_command(self):
        _, err = self.lab("isa", "muladd_mad", "--target", "sm_80", status=3, env=self.environment(PATH="/nowhere"))
        self.assert_one_sentence(err, "cannot compile for sm_80 here: ", "apt-get install clang-15 libclc-15")


def live_registers_fit(self, out, target, least):
    """Live registers of AMD's code against what the compiler allocated, and against what a kernel finds set when it begins: its work-item in v0 to
    v2. A rule that forgets what an instruction writes shows there; half of an undefined pair does too, rarely."""
    if not target.startswith("gfx"):
        return
    cells = [cell for cell in re.split(rf"(?m)^(?=\w+ for {target}$)", out) if "\n" in cell]
    odd, unknown = [], 0
    for cell in cells:
        line = cell.splitlines()[1]
        if line.startswith("live registers: unknown: "):
            unknown += 1
            continue
        name, (most, _, begin) = cell.split()[0], line.removeprefix("live registers at most: ").partition("; set before it begins: ")
        live = {kind: int(number) for kind, number in re.findall(r"(\w+) (\d+)", most)}
        allocated = re.search(r"(?m)^VGPRs (\d+), SGPRs (\d+)", cell)
        if allocated:  # not of a second kernel of a variant
            self.assertLessEqual(live.get("v", 0), int(allocated[1]), name)
            self.assertLessEqual(live.get("s", 0), int(allocated[2]), name)
        if any(register[0] in "va" and register not in ("v0", "v1", "v2") for register in begin.split()):
            odd.append(name)
    self.assertGreater(len(cells), least)
    self.assertLessEqual(unknown, 0.05 * len(cells))
    self.assertLessEqual(len(odd), 0.1 * len(cells), odd)


def compiles_for(target, impossible, patterns):
    def test(self):
        out, err = self.isa(*patterns, "--target", target, "--summary", "--live", "--require-all", status=None)
        live_registers_fit(self, out, target, 100 if patterns == ["*"] else 20)
        failed = set(re.findall(rf"(?m)^(\w+) for {target}: (?:build_failed|unsupported)", err))
        self.assertEqual(failed, impossible, err)
    return test


class Variants(IsaTest):
    """The product of every variant and target: a lane of its own."""


for name, cannot in TARGETS.items():
    setattr(Variants, f"test_every_variant_compiles_for_{name}", compiles_for(name, cannot, ["*"]))
for name, some in LIKE_GFX900.items():
    cannot = {variant for variant in TARGETS["gfx900"] if variant.split("_")[0] in some}
    setattr(Variants, f"test_variants_with_many_registers_compile_for_{name}", compiles_for(name, cannot, some))

if __name__ == "__main__":
    main()
