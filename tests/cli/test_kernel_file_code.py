"""The code of a user's kernel file, and of binaries of any program: `cllab isa`."""
import re
import shutil

from kernel_files import KernelFileTest
from lab import main, words
from wrong_kernel_files import BLOCK, SCALE


class Code(KernelFileTest):
    def test_several_targets_make_one_table(self):
        self.write(SCALE)  # without any values: the code does not depend on them
        out, err = self.lab("isa", "t.cl:scale", "--target", "gfx900", "--target", "gfx1030", "--require-all", "--summary")
        rows = [line.split() for line in out.splitlines() if not line.strip().startswith("columns left out:")]
        self.assertEqual(rows[0][:3], ["kernel", "target", "registers"])
        self.assertEqual([row[:2] for row in rows[1:]], [["t_scale", "gfx900"], ["t_scale", "gfx1030"]])
        for row in rows[1:]:
            self.assertGreater(int(row[2]), 0)
        # What --help and the completions offer is what the table has.
        out, _ = self.lab("isa", "t.cl:scale", "--target", "gfx900", "--target", "gfx1030", "--columns", "all")
        offered = re.search(r"however wide: ([^.]*)\.", " ".join(self.lab("isa", "--help", "all")[0].split()))[1].split(", ")
        self.assertEqual([title.replace(" ", "_") for title in re.split("  +", out.splitlines()[0].strip())], offered)

    LOCAL = ("__kernel void k(__global float* x, __local float* t) {\n    const int l = get_local_id(0);\n    t[l] = x[get_global_id(0)];\n"
             "    barrier(CLK_LOCAL_MEM_FENCE);\n    x[get_global_id(0)] = t[get_local_size(0) - 1 - l];\n}\n")

    def test_a_bad_target_loses_only_its_own_rows(self):
        self.write(BLOCK + SCALE)
        good = ["isa", "t.cl:scale", "--target", "gfx900", "--target", "gfx1030"]
        out, err = self.lab(*good, "--target", "gfx9000", status=2)
        self.assertEqual(out, self.lab(*good)[0])
        self.assert_one_sentence(err, "unknown target 'gfx9000'")
        out, err = self.lab("isa", "t.cl:scale", "--target", "gfx9000", "--target", "gfx900", status=2)
        self.assertRegex(out, r"t_scale +gfx900 ")  # a table still
        out, err = self.lab("isa", "t.cl:scale", "--target", "gfx9000", "--target", "sm_", status=2)
        self.assertEqual(out, "")
        self.assert_one_sentence(err, "unknown target 'gfx9000'")

    def test_local_memory_argument_counts_for_the_occupancy(self):
        self.write(self.LOCAL)

        def occupancy(target, elements, *args):
            out, _ = self.lab("isa", "t.cl", "--target", target, "--summary", "--arg", "x=zero:4096", "--arg", f"t=local:{elements}", *args)
            return int(re.search(r"occupancy .*\) = (\d+) ", out).group(1))

        given = dict(re.findall(r"(?m)^(\w+) +(.*?)(?:  |$)", self.lab("isa", "--targets")[0]))
        for target, few in (("gfx900", 2), ("sm_80", 8)):
            with self.subTest(target=target):
                if "registers" not in given[target] and "metadata" not in given[target]:
                    continue  # no skip, which fails CI: ptxas is in no free package of Debian
                self.assertEqual(occupancy(target, 8192, "--global", "4096", "--local", "64" if target == "sm_80" else "256"), few)
                self.assertGreater(occupancy(target, 64, "--global", "4096", "--local", "64"), few)
        # The largest group that the driver may choose has four wavefronts.
        self.assertEqual(occupancy("gfx900", 8192), 2)

    def test_text_sees_the_macros_of_its_amd_processor(self):
        for target, family, wave in (("gfx1030", 10, 32), ("gfx90a", 9, 64), ("gfx1100", 11, 32)):
            self.write(f"#if !defined(__{target}__) || !defined(__GFX{family}__) || __AMDGCN_WAVEFRONT_SIZE != {wave}\n"
                       "#error told otherwise\n#endif\n"
                       "__kernel void k(__global int* x) { x[get_global_id(0)] = 1; }\n")
            self.lab("isa", "t.cl", "--target", target, "--summary")

    LOOP_AND_NONE = ("kernel void looped(global float* x, int n) { float s = 0; for (int i = 0; i < n; ++i) s += sqrt(x[i]); x[get_global_id(0)] = s; }\n"
                     "kernel void plain(global float* x, int n) { x[get_global_id(0)] = n; }\n")

    def test_a_loop_is_not_compared_with_a_whole_kernel(self):
        self.write(self.LOOP_AND_NONE)
        for target in ("gfx900", "sm_80"):
            if not re.search(rf"^{target} +[^- ]", self.lab("isa", "--targets")[0], re.M):
                continue
            for one, other in (("looped", "plain"), ("plain", "looped")):
                out, _ = self.lab("isa", f"t.cl:{one}", "--vs", f"t.cl:{other}", "--target", target)
                self.assertRegex(out, r"\ncounts of .*whole kernel")
                self.assertNotIn("innermost loop", out)
                counts = {name: max(map(int, both)) for name, *both in re.findall(r"^(loops|instructions) +(\d+) +(\d+)$", out, re.M)}
                whole, _ = self.lab("isa", "t.cl:looped", "--target", target, "--summary")
                self.assertEqual((counts["loops"], counts["instructions"]), (1, int(re.search(r"looped, .*?(\d+) instructions", whole)[1])))

    def test_the_page_of_a_kernel_lists_no_other_kernel_of_its_file(self):
        self.write(self.LOOP_AND_NONE)
        for target in ("gfx900", "sm_80", "tgllp"):
            if re.search(rf"^{target} +[^- ]", self.lab("isa", "--targets")[0], re.M):
                out, _ = self.lab("isa", "t.cl:plain", "--target", target)
                self.assertIn("plain", out)
                self.assertNotIn("looped", out)

    def test_code_of_wrong_and_of_disagreeing_kernels_is_shown(self):
        two = "".join("kernel void %s(global const float* src, global float* dst) { dst[get_global_id(0)] = src[get_global_id(0)] * %d; }\n" % kernel
                      for kernel in (("twice", 2), ("thrice", 3)))
        block = "/*cllab\naxis n = 65536\narg src = rand:n\narg dst = out:n\nglobal n\n%s*/\n"
        for more, status in (("reference twice\n", "wrong_result"), ("", "disagree")):
            self.write(block % more + two)
            out, err = self.lab("isa", "t.cl", "--device", "cpu", status=1)
            self.assertIn(f": {status}: ", err)
            for kernel in "twice", "thrice":
                self.assertIn(f"_pocl_kernel_{kernel}_workgroup, ", out)
            self.assertRegex(out, rf"t_thrice for .*\nnote: its status is {status}; ")
            hot, _ = self.lab("isa", "t.cl", "--device", "cpu", "--hot", status=1)
            self.assertRegex(hot, r"t_thrice for .*\nnote: .*\nhot: sampled, ")
            figures, _ = self.lab("isa", "t.cl", "--device", "cpu", "--json", "-", "--expect", "instructions > 0", status=1)
            self.assertNotIn('"unknown"', figures)

    def test_damaged_or_unassemblable_binary_is_a_failure(self):
        self.lab("isa", "saxpy_w32", "--target", "gfx900", "--dumps", "d", "--summary")
        code = next(self.folder.rglob("program.co")).read_bytes()
        (self.folder / "short.co").write_bytes(code[:len(code) // 2])
        self.lab("dump", "saxpy_w32", "--device", "cpu", "--dumps", "p", "--axis", "size=4096")
        for name in ("program.so", "program.poclbin"):
            whole = next(self.folder.rglob(name)).read_bytes()
            (self.folder / f"short-{name}").write_bytes(whole[:len(whole) // 2])
        (self.folder / "bad.ptx").write_text(".version 7.8\n.target sm_80\n.address_size 64\n.entry k() { addx.s64 %r1, %r2; ret; }\n")
        for name in ("short.co", "short-program.so", "short-program.poclbin"):
            with self.subTest(name=name):
                self.assertIn("it is damaged: ", self.lab("isa", name, status=1)[1])
        if shutil.which("ptxas"):
            self.assertIn("ptxas exited with status", self.lab("isa", "bad.ptx", status=1)[1])

    def test_missing_files_and_kernels_are_reported(self):
        (self.folder / "DIR.ptx").mkdir()
        (self.folder / "notes.txt").write_text("x")
        for command in ("isa", "run", "dump", "why"):
            for pattern, said in (("nosuch.ptx", "'nosuch.ptx' cannot be read: No such file"), ("DIR.ptx", "'DIR.ptx' cannot be read: Is a directory"),
                                  ("nosuch.txt", "file 'nosuch.txt' not found")):
                with self.subTest(command=command, pattern=pattern):
                    self.assertIn(said, self.lab(command, pattern, status=2)[1])
        self.assertIn("file 'notes.txt' is not a kernel file; expected a name ending in .cl", words(self.lab("run", "notes.txt", status=2)[1]))

    def test_binary_without_a_known_extension_is_recognised(self):
        self.write(BLOCK + SCALE)
        self.lab("dump", "t.cl", "--device", "cpu", "--dumps", "d")
        program, = (self.folder / "d").glob("*/t_scale/program.poclbin")
        shutil.copy(program, self.folder / "some.bin")
        out, err = self.lab("isa", "some.bin")
        self.assertIn("some.bin:scale for PoCL", out)
        self.assertIn("instructions", out)
        self.write(".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry one()\n{\n    ret;\n}\n.visible .entry two()\n{\n    ret;\n}\n", "some.ptx")
        out, err = self.lab("isa", "some.ptx", "--summary")
        self.assertIn("some.ptx:one for PTX", out)
        self.assertIn("some.ptx:two for PTX", out)
        out, err = self.lab("isa", "some.ptx:three", status=2)
        self.assert_one_sentence(err, "'three'", "one, two")
        self.write("no program", "some.txt")
        out, err = self.lab("isa", "some.txt", status=2)
        self.assert_one_sentence(err, "some.txt", "PTX")


if __name__ == "__main__":
    main()
