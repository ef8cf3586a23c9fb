"""What tools/new-family writes, in a program that has this family and the yardstick only: right at its sizes, wrong when the
kernel is, and explained truly in host/experiments/README.md.

    test_new_family.py TREE     the folder in which tools/new-family has made the family `affine`
"""
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import unittest

from lab import SOURCE, LabTest, words

TREE = pathlib.Path(sys.argv.pop())


class NewFamily(LabTest):
    def run_with(self, *args, status=0, text=None):
        """Records of a run that only verifies; with `text` in the place of the kernels'."""
        more = []
        if text is not None:
            shutil.copytree(TREE / "cl", self.folder / "cl", dirs_exist_ok=True)
            (self.folder / "cl" / "affine.cl").write_text(text)
            more = ["--cl-dir", "cl"]
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        self.lab("run", "affine", "--device", "cpu", "--verify", "--no-dumps", "--json", "r.jsonl", *more, *args, status=status)
        return self.records()

    def changed(self, old, new):
        text = (TREE / "cl" / "affine.cl").read_text()
        self.assertIn(old, text)
        return text.replace(old, new, 1)

    def test_new_family_is_right_at_its_own_sizes(self):
        sizes = runpy.run_path(str(TREE / "tests/device/sizes.py"))["SIZES"]["affine_*"]
        self.assertEqual(set(sizes), {"tiny", "small"})
        for axes in sizes["tiny"] + sizes["small"]:
            records = self.run_with(*(word for axis in axes for word in ("--axis", axis)))
            self.assertEqual({r["id"] for r in records}, {"affine_scalar", "affine_vector4"})
            self.assertEqual([r["reason"] for r in records if r["status"] != "ok"], [])

    def test_line_of_sizes_is_in_alphabetical_order(self):
        sizes = runpy.run_path(str(TREE / "tests/device/sizes.py"))["SIZES"]
        self.assertEqual(list(sizes), ["address_*", "affine_*", "bandwidth_*"])

    def test_documented_exercise_is_configured_in_a_fresh_tree(self):
        tree, build = self.folder / "tree", self.folder / "build"
        shutil.copytree(SOURCE, tree, ignore=shutil.ignore_patterns("build*", ".git"))
        if not (tree / "cl/affine.cl").exists():  # whoever runs this may have done the exercise
            subprocess.run([tree / "tools/new-family", "affine"], check=True, capture_output=True, timeout=20)
        configured = subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja"], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(configured.returncode, 0, configured.stdout + configured.stderr)
        # What is built then is built and run above; here it is part of the program.
        self.assertIn("affine_family::describe()", (build / "generated" / "registry.cpp").read_text())
        self.assertTrue(any("/tree/host/experiments/affine.cpp" in path.read_text() for path in build.glob("CMakeFiles/cllab_experiments.dir/Unity/*.cxx")))

    def test_point_of_a_record_makes_the_same_cell(self):
        first = self.run_with("--axis", "n=1000")[0]
        again = self.run_with(*(w for axis, value in first["point"].items() for w in ("--axis", f"{axis}={value}")))[0]
        self.assertEqual((again["point"], again["build"]["options"]), (first["point"], first["build"]["options"]))

    def test_a_wrong_kernel_is_a_wrong_result_with_the_first_difference(self):
        records = self.run_with("--axis", "n=64", status=1, text=self.changed("dst[i] = 3 * src[i] + 1;", "dst[i] = 3 * src[i] + 2;"))
        scalar, vector = sorted(records, key=lambda r: r["id"])
        self.assertEqual((scalar["status"], vector["status"]), ("wrong_result", "ok"))
        self.assertRegex(scalar["reason"], r"dst\[0\] is \d+, expected \d+")

    def test_a_kernel_that_does_not_compile_fails_alone(self):
        records = self.run_with("--axis", "n=64", status=1, text=self.changed("if (i < n) dst[i]", "if (i < m) dst[i]"))
        self.assertEqual({r["id"]: r["status"] for r in records}, {"affine_scalar": "build_failed", "affine_vector4": "ok"})

    def test_describe_shows_the_text_of_the_host_file(self):
        out, _ = self.lab("describe", "affine")
        for part in ("affine: What do wide accesses gain", " n = auto [element] ", " auto, or whole numbers from 1 to 1073741824 ", " affine_vector4 "):
            self.assertIn(part, words(out))

    def test_invalid_or_used_name_is_refused(self):
        before = sorted(TREE.rglob("*"))
        for name, said in (("affine", "there is a family 'affine' already"), ("Fft", "cannot be called 'Fft'"), ("a_b", "'a_b'"),
                           ("../x", "'../x'"), ("", "''")):
            done = subprocess.run([TREE / "tools/new-family", name], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Anew-family: [^\n]+\n\Z")
            self.assertIn(said, done.stderr)
        self.assertEqual(subprocess.run([TREE / "tools/new-family"], capture_output=True, timeout=20).returncode, 2)
        self.assertEqual(sorted(p for p in TREE.rglob("*") if p in before), before)

    def test_help_lists_written_files_and_writes_nothing(self):
        before = sorted(TREE.rglob("*"))
        for option in ("--help", "-h"):
            done = subprocess.run([TREE / "tools/new-family", option], capture_output=True, text=True, timeout=20)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("  tools/new-family transpose\n", done.stdout)
            self.assertIn("tests/device/sizes.py", done.stdout)
            self.assertNotIn("set -euo", done.stdout)
        self.assertEqual(sorted(TREE.rglob("*")), before)

    def test_readme_matches_the_written_fields_and_its_example_fails(self):
        readme = (SOURCE / "host/experiments/README.md").read_text()
        self.assertIn("\n    tools/new-family affine\n", readme)
        written = (TREE / "host/experiments/affine.cpp").read_text()
        for field in ("out.args", "out.global", "out.local", "out.work", "out.check"):
            self.assertIn(f"`{field}`", readme)
            self.assertIn(field, written)
        for call in ("family(", "shape_of"):
            self.assertIn(f"`{call}", readme)
            self.assertIn(call, written)
        described = (TREE / "cl/affine.cl").read_text().partition("/* family")[2]
        for word in ("question:", "whole:", "unit:", "tune:", "defines:"):
            self.assertIn(f"`{word}", readme)
            self.assertIn(word, described)
        family = (SOURCE / "host/model/experiment.hpp").read_text() + (SOURCE / "host/model/axes.hpp").read_text()
        for field in re.findall(r"^\| `(?:out)?\.(\w+)`", readme, re.M):
            self.assertRegex(family, rf"\b{field}\b")
        shown = re.search(r"(dst\[0\] is )\d+(, expected )\d+", readme)
        reason = self.run_with("--axis", "n=1000", status=1, text=self.changed("dst[i] = 3 * src[i] + 1;", "dst[i] = 3 * src[i] + 2;"))[0]["reason"]
        self.assertRegex(reason, re.escape(shown[1]) + r"\d+" + shown[2] + r"\d+")


if __name__ == "__main__":
    unittest.main()
