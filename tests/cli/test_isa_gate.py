"""`cllab isa` as a gate without a device: figures are saved, compared, and asked for; any compiler beside any other; and
what says this to other programs."""
import json
import os
import pathlib
import re
import shutil
import stat
import xml.etree.ElementTree

from lab import SOURCE, LabTest, main

NO_DEVICE = {"OCL_ICD_VENDORS": "/nonexistent"}
KERNELS = SOURCE / "tests" / "kernels"
SUM = """__kernel void sum(__global float* restrict y, __global const float* restrict x, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += x[i * 7] * y[0];
    y[get_global_id(0)] = s;
}
"""
# Conditions that are none; each was once, or may be, read as something that holds.
WRONG = ["registers <=", "registers", "registers=4", "registers=4 && spills==0", "registers =< 64", "registers => 1", "0 <= registers <= 1", "1 < registers < 2 < 3",
         "64 >= 32", "1 == 1 || 0 == 1", "registers <= 64B", "registers <= 64 registers", "local <= 16KB", "occupancy >= 50%", "registers <= 64, spills == 0",
         "registers <= 64 and spills == 0", "spills == 0 & registers <= 1", "registers <= 64; spills == 0", "!spills", "registers \u2264 64", "registers <= 1e999", "", " ", "y=gold.npy"]


class Gate(LabTest):
    def setUp(self):
        super().setUp()
        (self.folder / "k.cl").write_text("\n\n" + SUM)

    listed = None

    def targets_here(self):
        """The page of --targets, made once."""
        Gate.listed = Gate.listed or self.isa("--targets")[0]
        return Gate.listed

    @property
    def made(self):
        """Targets of three vendors that something here makes registers for."""
        out = re.findall(r"^(gfx900|sm_80|tgllp) +[^\n]*(?:registers|metadata) ", self.targets_here(), re.M)
        if not out:
            self.skipTest("nothing here makes registers for gfx900, sm_80 or tgllp")
        return out

    @property
    def targets(self):
        return [word for target in self.made for word in ("--target", target)]

    def isa(self, *args, status=0, **environment):
        return self.lab("isa", *args, status=status, env=self.environment(**NO_DEVICE | environment))

    def save(self, *more):
        self.isa("k.cl", *self.targets, "--save", "code.json", *more)
        return json.loads((self.folder / "code.json").read_text())

    def change(self, text, status, *more):
        """The lines of JSON after the text was changed."""
        (self.folder / "k.cl").write_text(text)
        out, _ = self.isa("k.cl", "--against", "code.json", "--json", "-", *more, status=status)
        return [line for line in map(json.loads, out.splitlines()) if line["record"] == "code change"]

    def test_each_figure_has_value_unit_and_origin_or_a_remedy(self):
        saved = self.save("--local", "64")
        self.assertEqual({kernel["target"] for kernel in saved["kernels"]}, set(self.made))
        for kernel in saved["kernels"]:
            self.assertEqual((kernel["file"], kernel["line"], kernel["status"]), ("k.cl", 3, "ok"))
            self.assertRegex(kernel["compiler"], r"\d\.\d")
            self.assertEqual(kernel["group"], [64, 1, 1])
            for name, figure in kernel["figures"].items():
                self.assertTrue("value" in figure and figure["from"] or figure["enough"], (kernel["target"], name))
            self.assertGreater(kernel["figures"]["registers"]["value"], 0)
            self.assertRegex(kernel["figures"]["private"]["unit"], "bytes per (work-item|hardware thread)")
            self.assertGreaterEqual(len(kernel["counts"]["loops"]), 1)
            self.assertEqual(kernel["figures"]["loop"]["value"] > 0, True)

    def test_equal_text_has_equal_figures_in_any_folder_or_cache(self):
        self.save()
        self.assertEqual(self.change("\n\n" + SUM, 0), [])
        other = self.folder / "other"
        other.mkdir()
        shutil.copy(self.folder / "k.cl", other)
        out, _ = self.isa("other/k.cl", "--against", "code.json", XDG_CACHE_HOME=str(self.folder / "fresh"))
        self.assertEqual(out, f"{len(self.made)} with the same code\n")

    def test_renamed_file_and_added_kernel_change_no_kernel(self):
        self.save()
        (self.folder / "k.cl").rename(self.folder / "renamed.cl")
        out, _ = self.isa("renamed.cl", "--against", "code.json")
        self.assertIn(f"{len(self.made)} with the same code", out)
        (self.folder / "renamed.cl").write_text(SUM.replace("s += x[i * 7]", "s += sin(x[i * 7])"))
        self.assertIn(" worse", self.isa("renamed.cl", "--against", "code.json", status=4)[0])
        changes = self.change("float helper(float a) { return a * 7; }\n" + SUM + SUM.replace("sum(", "more("), 0)
        self.assertEqual({(c["kernel"], c["verdict"]) for c in changes}, {("k_more", "new")})

    def test_worse_figures_end_with_4_and_better_ones_with_0(self):
        self.save()
        spilled = SUM.replace("float s = 0;", "float s = 0, v[64]; for (int i = 0; i < 64; ++i) v[i] = x[i]; s = v[n & 63] + v[y[1] > 0];")
        private = [change for change in self.change(spilled, 4) if change.get("figure") == "private"]
        self.assertTrue(private)
        self.assertEqual({change["verdict"] for change in private}, {"worse"})
        (self.folder / "k.cl").write_text(SUM.replace("= s;", "= s * s * s + x[n] / s;"))
        self.save("--force")
        (self.folder / "k.cl").write_text(SUM)
        out, _ = self.isa("k.cl", "--against", "code.json", "--allow", "loops=2")
        for target in self.made:
            self.assertRegex(out, rf"(?m)^ *k_sum +{target} +code +\d+ +\d+ +better$")

    def test_loop_that_is_no_longer_unrolled_is_worse_though_shorter(self):
        for target in self.made:
            with self.subTest(target):
                (self.folder / "k.cl").write_text(SUM.replace("for", "#pragma unroll 8\n    for"))
                self.isa("k.cl", "--target", target, "--save", "code.json", "--force")
                changes = self.change(SUM.replace("for", "#pragma unroll 1\n    for"), 4)
                self.assertTrue([c for c in changes if c["verdict"] == "worse" and "loop" in c.get("figure", "")], changes)

    def test_a_loop_without_its_private_array_does_no_less(self):
        plain = SUM.replace("s += x[i * 7] * y[0];", "y[i] = x[i * 7];")
        self.assertNotEqual(plain, SUM)
        (self.folder / "k.cl").write_text(plain.replace("float s = 0;", "float s = 0; volatile float v[64];")
                                          .replace("y[i] = x[i * 7];", "{ v[i & 63] = s; v[i + 1 & 63] = s; v[i + 2 & 63] = s; y[i] = x[i * 7] * v[n & 63]; }"))
        self.save()
        loops = [c for c in self.change(plain, None) if "loop" in c.get("figure", "") and c["target"] != "tgllp"]  # whose scratch has messages as global memory
        self.assertTrue(loops)
        self.assertNotIn("unrolled less", json.dumps(loops))

    def test_removed_restrict_is_reported(self):
        self.save()
        for change in self.change(SUM.replace("restrict ", "").replace("y[get_global_id(0)] = s", "y[get_global_id(0)] = s")
                                  .replace("s += x[i * 7] * y[0];", "y[i] += x[i * 7] * y[0];"), None):
            self.assertIn(change["verdict"], ("worse", "better", "changed", "allowed", "unknown"))
        (self.folder / "k.cl").write_text(SUM.replace("s += x[i * 7] * y[0];", "y[i] = x[0] + s;"))
        self.save("--force")
        changes = self.change(SUM.replace("restrict ", "").replace("s += x[i * 7] * y[0];", "y[i] = x[0] + s;"), 4)
        self.assertEqual({change["target"] for change in changes if change["verdict"] == "worse"}, set(self.made))

    def test_allow_lets_a_figure_grow(self):
        self.save()
        longer = SUM.replace("= s;", "= s * s * s + x[n];")
        self.change(longer, 4)
        every = "code=900%,instructions=900,registers=900,loops=900%,private=1,spills=0,local=0,occupancy=99"
        self.assertLessEqual({c["verdict"] for c in self.change(longer, 0, "--allow", every)}, {"allowed", "changed", "better"})
        for wrong in ("code", "code=", "cod=3", "loop=1", "code=-1%", "code=nan", "code=1%%", ","):
            self.assert_one_sentence(self.isa("k.cl", "--against", "code.json", "--allow", wrong, status=2)[1], "'--allow': expected FIGURE=N")

    def test_kernel_missing_here_is_status_5_and_never_a_pass(self):
        saved = self.save()
        out, _ = self.isa("k.cl", "--target", self.made[0], "--against", "code.json", status=5 if len(self.made) > 1 else 0)
        self.assertEqual(out.count(": missing;"), len(self.made) - 1)
        self.assertEqual({c["verdict"] for c in self.change(SUM.replace("sum(", "total("), 5)}, {"missing", "new"})
        self.assertEqual({c["verdict"] for c in self.change(SUM.replace("float s", "flot s"), 1)}, {"failed"})
        (self.folder / "k.cl").write_text(SUM)
        saved["kernels"][0]["target"] = "gfx9999"
        (self.folder / "code.json").write_text(json.dumps(saved))
        self.assertIn("unknown target 'gfx9999'", self.isa("k.cl", "--against", "code.json", status=5)[1].replace("\n", " "))
        saved["kernels"][0]["target"] = self.made[0]
        saved["kernels"][0]["figures"]["tensors"] = {"value": 3, "unit": "", "from": "another cllab"}
        (self.folder / "code.json").write_text(json.dumps(saved))
        self.assertEqual([c["figure"] for c in self.change(SUM, 5) if c["verdict"] == "unknown"], ["tensors"])

    def test_other_compiler_version_is_reported(self):
        saved = self.save()
        saved["kernels"][0]["compiler"] = "abc 1.2"
        (self.folder / "code.json").write_text(json.dumps(saved))
        out, _ = self.isa("k.cl", "--against", "code.json")
        self.assertRegex(out.replace("\n", " "), r'\w+: compiler was "abc 1.2", and is "\S+ [^"]*\d\.\d[^"]*" now')

    def test_invalid_saved_file_is_refused(self):
        saved = self.save()
        good = (self.folder / "code.json").read_text()

        def broken(change):
            copy = json.loads(good)
            change(copy["kernels"][0], copy)
            return json.dumps(copy)

        wrong = ["", "{", "[]", "3", '{"kernels": 3}', "[" * 100000, good[:len(good) // 2],
                 broken(lambda k, all: all.update(schema=2)), broken(lambda k, all: all.update(kernels=[])),
                 broken(lambda k, all: all.update(record="code")), broken(lambda k, all: k.pop("target")),
                 broken(lambda k, all: k.update(figures=[3])), broken(lambda k, all: k["figures"].update(code=4)),
                 broken(lambda k, all: k["counts"].update(loops=[7])),
                 broken(lambda k, all: k.update(status=7)), broken(lambda k, all: k.update(kernel=None)), broken(lambda k, all: k.pop("fingerprint")),
                 broken(lambda k, all: all["kernels"].append(k | {"fingerprint": "f"}))]
        for text in wrong:
            (self.folder / "code.json").write_text(text)
            _, err = self.isa("k.cl", *self.targets, "--against", "code.json", status=2)
            self.assert_one_sentence(err, "file 'code.json' (--against) was not written by `cllab isa --save`")
        self.assert_one_sentence(self.isa("k.cl", "--against", "none.json", status=2)[1], "'none.json' (--against) cannot be read")
        self.assertEqual(len(saved["kernels"]), len(self.made))

    def test_failed_expectation_is_status_4_and_unknown_figure_2(self):
        self.assertEqual(self.isa("k.cl", *self.targets, "--expect", "spills == 0 && registers <= 255")[0], "every kernel is as expected\n")
        out, _ = self.isa("k.cl", *self.targets, "--expect", "spills == 0 && registers < 1", status=4)
        self.assertRegex(out.replace("\n", " "), r"k_sum for \w+: not as expected; spills == 0 && registers < 1 does not hold, registers is \d+, spills is 0")
        _, err = self.isa("k.cl", *self.targets, "--expect", "regs > 0 || spills == 0", status=2)
        self.assert_one_sentence(err, "unknown figure 'regs'; figures are: registers, spills, ")
        for wrong in WRONG:
            with self.subTest(wrong):
                self.assert_one_sentence(self.isa("k.cl", *self.targets, "--expect", wrong, status=2)[1], "--expect")
        self.assertIn("(== compares)", self.isa("k.cl", *self.targets, "--expect", "registers=4", status=2)[1])
        # Without ptxas NVIDIA's registers are not known.
        if "sm_80" in self.made:
            tools = self.folder / "bin"
            tools.mkdir()
            for name in os.listdir("/usr/bin"):
                if re.match(r"(clang|llvm|ld)", name):
                    (tools / name).symlink_to(f"/usr/bin/{name}")
            if not pathlib.Path("/usr/local/cuda/bin/ptxas").exists():
                out, _ = self.isa("k.cl", "--target", "sm_80", "--expect", "registers < 256", status=5, PATH=str(tools))
                self.assertIn("registers is not known", out.replace("\n", " "))

    def test_one_failing_kernel_fails_and_a_missing_target_is_5(self):
        (self.folder / "k.cl").write_text(SUM + "__kernel void bad(__global float* x) { x[0] = nowhere; }\n")
        self.isa("k.cl", *self.targets, "--expect", "spills == 0", status=1)
        (self.folder / "k.cl").write_text(SUM)
        self.isa("k.cl", *self.targets, "--target", "gfx9999", "--expect", "spills == 0", status=5)

    def test_ci_formats_are_written(self):
        self.save()
        (self.folder / "k.cl").write_text("// a\n// line more\n\n\n" + SUM.replace("s += x[i * 7]", "s += sin(x[i * 7])"))
        files = ("--sarif", "s.sarif", "--junit", "j.xml", "--markdown", "m.md", "--json", "c.jsonl")
        self.isa("k.cl", "--against", "code.json", *files, status=4)
        sarif = json.loads((self.folder / "s.sarif").read_text())
        self.assertEqual(sarif["version"], "2.1.0")
        run, = sarif["runs"]
        rules = {rule["id"] for rule in run["tool"]["driver"]["rules"]}
        self.assertTrue(run["results"])
        for result in run["results"]:
            self.assertIn(result["ruleId"], rules)
            place = result["locations"][0]["physicalLocation"]
            self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("k.cl", 5))
            self.assertIn(result["level"], ("error", "note"))
            self.assertIn("k_sum for ", result["message"]["text"])
        suite = xml.etree.ElementTree.parse(self.folder / "j.xml").getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), (str(len(self.made)), str(len(suite.findall(".//failure")))))
        self.assertGreater(int(suite.get("failures")), 0)
        self.assertNotIn("; -", (self.folder / "j.xml").read_text())
        self.assertRegex((self.folder / "m.md").read_text(), r"\| k_sum \| \w+ \| code \| \d+ \| \d+ \| worse \|")
        self.assert_one_sentence(self.isa("k.cl", "--against", "code.json", *files[:2], status=2)[1], "s.sarif", "--force")

    def test_compilers_are_side_by_side_with_differences_marked(self):
        here = [name for name in ("clang-15", "clang-16", "clang-19") if shutil.which(name)]
        if len(here) < 2 or "gfx90a" not in self.targets_here() or not any(map(shutil.which, ("ld.lld-19", "ld.lld-16", "ld.lld"))):
            self.skipTest("two of clang-15, clang-16 and clang-19 are not here with lld")
        shutil.copy(KERNELS / "code" / "packed_floats.cl", self.folder)
        out, _ = self.isa("packed_floats.cl", "--target", "gfx90a", "--compiler", ",".join(here), "--save", "c.json")
        self.assertEqual(out.split("\n")[0].split(), ["kernel", "target", "figure", *here])
        registers = [kernel["figures"]["registers"]["value"] for kernel in json.loads((self.folder / "c.json").read_text())["kernels"]]
        row = re.search(r"registers +(.*)", out)[1].replace("* ", "*").split()
        self.assertEqual([cell.strip("*") for cell in row], [str(value) for value in registers])
        self.assertEqual([cell.startswith("*") for cell in row], [False, *(a != b for a, b in zip(registers, registers[1:]))])
        if {"clang-15", "clang-19"} <= set(here):  # which pair the floats differently
            self.assertNotEqual(registers[0], registers[-1])
        for name in here:
            self.assertRegex(out, rf"(?m)^{name}: clang {name[6:]}\.\d+\.\d+ and libclc$")
        # Also by path; and the file has the columns.
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "clang").symlink_to(shutil.which(here[0]))
        self.isa("packed_floats.cl", "--target", "gfx90a", "--compiler", "bin/clang", "--expect", f"registers == {registers[0]}")
        self.isa("packed_floats.cl", "--against", "c.json", "--compiler", ",".join(here))
        self.isa("packed_floats.cl", "--against", "c.json", "--compiler", here[0], status=5)
        # `all` may stand beside others.
        (self.folder / "bin" / "mine").symlink_to(shutil.which(here[0]))
        out, _ = self.isa("packed_floats.cl", "--target", "gfx90a", "--compiler", "all,bin/mine", status=None)  # some cannot read what is installed for another
        self.assertEqual(set(out.split("\n")[0].split()) - {"kernel", "target", "figure", "mine"} >= set(here), True)

    def test_missing_compiler_is_reported(self):
        self.assert_one_sentence(self.isa("k.cl", *self.targets, "--compiler", "clang-7", status=3)[1], "'clang-7' not found on PATH; the compilers there are ")
        self.assert_one_sentence(self.isa("k.cl", *self.targets, "--compiler", "gcc", status=2)[1], "unknown compiler 'gcc'")
        self.assert_one_sentence(self.isa("k.cl", *self.targets, "--compiler", ".", status=2)[1], "has no ziglang/zig")

    def test_text_is_recompiled_only_if_text_options_or_compiler_differ(self):
        clang = next((path for path in map(shutil.which, [f"clang-{n}" for n in range(29, 12, -1)]) if path), None)
        if "sm_80" not in self.made or not clang:
            self.skipTest("nothing here makes code for sm_80")
        tool, calls = self.folder / "bin" / "clang-29", self.folder / "calls"
        tool.parent.mkdir()

        def script(more=""):
            tool.write_text(f'#!/bin/sh\n[ "$1" = --version ] || echo call >> {calls}\nexec {clang} "$@"\n{more}')
            tool.chmod(tool.stat().st_mode | stat.S_IXUSR)

        def made(*args):
            calls.write_text("")
            self.isa("k.cl", "--target", "sm_80", "--summary", *args, PATH=f"{tool.parent}:{os.environ['PATH']}")
            return calls.read_text().count("call")

        script()
        self.assertEqual([made(), made()], [1, 0])
        self.assertEqual([made("--build-options=-DX=1"), made("--build-options=-DX=1")], [1, 0])
        (self.folder / "k.cl").write_text(SUM.replace("7", "9"))
        self.assertEqual([made(), made()], [1, 0])
        script("# another version\n")
        self.assertEqual([made(), made()], [1, 0])
        # Damaged, it is made again; what reads other files always.
        for path in (self.folder / "cache" / "cllab" / "code").iterdir():
            path.write_bytes(path.read_bytes()[:-9])
        self.assertEqual([made(), made()], [1, 0])
        (self.folder / "own.h").write_text("#define N 3\n")
        (self.folder / "k.cl").write_text('#include "own.h"\n' + SUM.replace("7", "N"))
        self.assertEqual([made(), made()], [1, 0])
        (self.folder / "own.h").write_text("#define N 4\n")
        self.assertEqual(made(), 1)
        (self.folder / "k.cl").write_text('#if __has_include("own.h")\n#define N 3\n#endif\n' + SUM.replace("7", "N"))
        self.assertEqual([made("--build-options=-I."), made("--build-options=-I.")], [1, 1])

    def test_promised_targets_are_delivered(self):
        listed = re.findall(r"^(\w+) +(\S[^\n]*?)(?:  |\n)", self.targets_here(), re.M)[1:]
        names = [name for name, _ in listed]
        for name in ("sm_88", "sm_103", "sm_107", "sm_110", "sm_121", "gfx950", "gfx1250", "gfx1251"):
            self.assertIn(name, names)
        for name in set(self.made) | {"sm_60", "gfx600"} & set(names):
            gives = dict(listed)[name]
            if gives == "-":
                continue
            out, _ = self.isa("k.cl", "--target", name, "--json", "-", status=None)
            figures = json.loads(out.splitlines()[0])["figures"]
            self.assertEqual("value" in figures["registers"], "registers" in gives or "metadata" in gives, name)


class Json(LabTest):
    def test_list_describe_and_devices_also_write_json_to_a_file(self):
        for args in (["list"], ["list", "pitch*"], ["describe", "pitch"], ["devices"]):
            with self.subTest(" ".join(args)):
                printed = json.loads(self.lab(*args, "--json")[0])
                self.lab(*args, "--json=f.json", "--force")
                written = json.loads((self.folder / "f.json").read_text())
                if args != ["devices"]:
                    self.assertEqual(printed, written)
                self.assertEqual(type(printed), type(written))
                self.lab(*args, "--json=f.json", status=2)
        described = json.loads(self.lab("describe", "pitch_short8", "--json")[0])
        self.assertEqual([v["id"] for v in described["variants"]], ["pitch_short8"])
        self.assertTrue(all(axis["values"] and axis["meaning"] and axis["legal"] for axis in described["axes"]))


if __name__ == "__main__":
    main()
