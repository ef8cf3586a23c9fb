"""The regression itself: what tools/test says of tests that are skipped or fail, what --all adds, and which lane is run a second time."""
import os
import shutil
import subprocess
import sys

from lab import SOURCE, LabTest, main
from test_setup import STAND_INS


class Regression(LabTest):
    """tools/test on a small project, with stand-ins for ctest and for Intel's runtime."""

    CTEST = """
case "$*" in *" -N"*) echo "  Test  #1: device_intel"; exit 0 ;; esac
echo "$*" >>"$STATE/asked"
while [ "$1" != --output-junit ]; do shift; done
[ -e "$STATE/skip" ] && echo '<skipped message="77"/>' >"$2" || echo '<testcase/>' >"$2"
mkdir -p "$BUILD/Testing/Temporary"
printf 'Output:\\nskipped: it is not here\\n' >"$BUILD/Testing/Temporary/LastTest.log"
[ ! -e "$STATE/fail" ]
"""

    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        shutil.copytree(SOURCE / "tools", self.tree / "tools")
        (self.folder / "bin").mkdir()
        self.stand_in("bin/ctest", self.CTEST)
        self.stand_in("bin/cmake", 'mkdir -p "$BUILD/Testing"')
        self.stand_in("bin/dpkg-query", STAND_INS["dpkg-query"])
        self.stand_in("bin/apt-get", 'echo "$*" >>"$STATE/installed"')
        self.stand_in("bin/id", STAND_INS["id"])
        (self.folder / "uid").write_text("0\n")
        self.stand_in("tree/tools/intel-cpu-runtime", '[ ! -e "$STATE/offline" ]')
        (self.folder / "missing").write_text("")

    def stand_in(self, path, body):
        (self.folder / path).write_text(f"#!/bin/sh\n{body}\n")
        (self.folder / path).chmod(0o755)

    def run_test(self, *args, given=()):
        for name in given:
            (self.folder / name).write_text("")
        env = dict(os.environ, STATE=str(self.folder), BUILD=str(self.tree / "build"), PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}")
        return subprocess.run([self.tree / "tools" / "test", *args], env=env, capture_output=True, text=True, timeout=60)

    def test_skipped_test_is_named_and_fails_only_if_all_are_required(self):
        self.assertRegex(self.run_test().stdout, r"^tools/test: every test passed on \d+ cores of .*\n$")
        self.assertEqual(self.run_test("--require-all").returncode, 0)
        for args, status in (((), 0), (("--require-all",), 1)):
            done = self.run_test(*args, given=["skip"])
            self.assertEqual(done.returncode, status)
            self.assertRegex(done.stdout, r"^skipped: it is not here\n"
                             r"tools/test: every test passed on \d+ cores of .* but 1 that were skipped; what they need is above\n$")

    def test_script_with_skipped_tests_lists_them_and_is_not_green(self):
        for body, status, said in (("self.skipTest('no x is here')", 77, "skipped: no x is here\n"), ("pass", 0, ""),
                                   ("self.fail()", 1, "skipped: no x is here\n")):
            script = f"""
import unittest, lab
class T(unittest.TestCase):
    def test_a(self): {body}
    def test_b(self): {"self.skipTest('no x is here')" if status else "pass"}
lab.main()
"""
            done = subprocess.run([sys.executable, "-B", "-c", script], cwd=SOURCE / "tests" / "cli", capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (status, said), done.stderr)

    def test_a_failed_test_is_status_1(self):
        done = self.run_test(given=["fail"])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"^tools/test: some tests failed on \d+ cores of .*; they are named above\n$")

    def test_all_precedes_ctest_arguments_and_excludes_only_speed(self):
        for args, left_out in (((), "-LE ^(speed|trial|all)$"), (("--all",), "-LE ^(speed)$"), (("--all", "--require-all"), "-LE ^(speed)$"),
                               (("--require-all", "--all"), "-LE ^(speed)$"), (("--all", "-R", "isa"), "-R isa"), (("-R", "isa"), "-R isa")):
            with self.subTest(args):
                (self.folder / "asked").unlink(missing_ok=True)
                self.assertEqual(self.run_test(*args).returncode, 0)
                self.assertTrue((self.folder / "asked").read_text().endswith(f"results.xml {left_out}\n"))

    def test_only_all_installs_packages_beyond_a_commit(self):
        for args, installed in (((), ["oclgrind"]), (("-R", "rusticl"), ["oclgrind"]), (("--all",), ["oclgrind", "mesa-opencl-icd", "lintian"])):
            with self.subTest(args):
                (self.folder / "missing").write_text("oclgrind\nmesa-opencl-icd\nlintian\n")
                (self.folder / "installed").unlink(missing_ok=True)
                self.assertEqual(self.run_test(*args).returncode, 0)
                self.assertTrue((self.folder / "installed").read_text().endswith(f" {' '.join(installed)}\n"))

    def test_missing_intel_runtime_only_skips_its_tests_unless_required(self):
        done = self.run_test("--all", given=["offline"])
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]),
                         (0, "cllab: without Intel's CPU runtime its tests are skipped"))
        done = self.run_test("--require-all", "--all")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(self.run_test("--require-all").returncode, 0)


class Sanitized(LabTest):
    """The lane of sanitized unit tests runs again where LeakSanitizer itself failed, and for nothing else."""
    PASSED = 'Test module "unit" has passed with:'
    OWN = "Tracer caught signal 11: addr=0x1 pc=0x2 sp=0x3\n==7==LeakSanitizer has encountered a fatal error."

    def runs(self, *outputs):
        """How often a program is run that prints these one after the other, failing where LeakSanitizer speaks or a test fails, and the lane's status."""
        for i, text in enumerate(outputs):
            (self.folder / f"out{i}").write_text(text + "\n")
        (self.folder / "count").write_text("")
        program = self.folder / "unit"
        program.write_text('#!/bin/sh\ncd "${0%/*}"\ntext=out$(wc -c <count | tr -d " ")\nprintf x >>count\ncat $text\n! grep -q "Sanitizer\\|failed" $text\n')
        program.chmod(0o755)
        done = subprocess.run([sys.executable, "-B", SOURCE / "tests/unit/sanitized.py", program, "--report_level=short"], capture_output=True, text=True, timeout=60)
        return len((self.folder / "count").read_text()), done.returncode

    def test_only_a_sanitizer_failure_after_passed_tests_is_retried(self):
        both = f"{self.PASSED}\n{self.OWN}"
        leak = f"{self.PASSED}\n==7==ERROR: LeakSanitizer: detected memory leaks"
        self.assertEqual(self.runs(self.PASSED), (1, 0))
        self.assertEqual(self.runs(both, self.PASSED), (2, 0))
        self.assertEqual(self.runs(both, both, both), (3, 1))
        self.assertEqual(self.runs(both, leak), (2, 1))
        self.assertEqual(self.runs(leak), (1, 1))
        self.assertEqual(self.runs('Test module "unit" has failed with:\n' + self.OWN), (1, 1))


if __name__ == "__main__":
    main()
