"""tools/cllab's set-up, on a small project of its own and with stand-ins for the package tools, so that nothing on the
machine is touched: what is installed, what is rebuilt, what is said, and where."""
import gzip
import os
import shutil
import subprocess
import sys
import unittest

from lab import CLLAB, SOURCE, LabTest, main

STAND_INS = {
    # Everything asked for is installed, but for the packages named in the file `missing`.
    "dpkg-query": 'shift 2; for p; do grep -qx "$p" "$STATE/missing" || echo "$p installed"; done',
    "apt-get": 'echo "apt-get $*" >>"$STATE/log"; echo "apt-get speaks"; case "$*" in *install*) [ ! -e "$STATE/broken" ] ;; esac',
    "apt-cache": '[ -e "$STATE/unknown" ] && echo "  Candidate: (none)" || echo "  Candidate: 1.0"',
    "sudo": 'echo "sudo $*" >>"$STATE/log"; "$@"',
    "id": 'cat "$STATE/uid"',
}


class Setup(LabTest):
    def setUp(self):
        super().setUp()
        self.tree = self.folder / "a tree with spaces"
        self.state = self.folder / "state"
        for folder in (self.tree, self.state, self.folder / "bin"):
            folder.mkdir()
        shutil.copytree(SOURCE / "tools", self.tree / "tools")
        (self.tree / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.22)\nproject(small CXX)\nadd_executable(cllab main.cpp)\n")
        self.write_program("first")
        for name, body in STAND_INS.items():
            path = self.folder / "bin" / name
            path.write_text(f"#!/bin/sh\n{body}\n")
            path.chmod(0o755)
        (self.state / "missing").write_text("")
        (self.state / "log").write_text("")
        (self.state / "uid").write_text("0\n")

    def write_program(self, word):
        (self.tree / "main.cpp").write_text(
            f'#include <cstdio>\nint main(int n, char** a) {{ std::puts("{word}"); for (int i = 1; i < n; ++i) std::puts(a[i]);'
            " return n - 1; }\n")

    def run_cllab(self, *args):
        env = dict(os.environ, STATE=str(self.state), PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
        return subprocess.run([self.tree / "tools" / "cllab", *args], cwd="/", env=env, capture_output=True, text=True, timeout=300)

    def log(self):
        return (self.state / "log").read_text()

    def test_builds_then_runs_with_the_arguments_and_the_exit_status(self):
        done = self.run_cllab("one", "two words")
        self.assertEqual((done.returncode, done.stdout), (2, "first\none\ntwo words\n"), done.stderr)
        self.assertEqual(self.log(), "")

    def test_a_program_found_since_is_looked_for_again_after_an_installation(self):
        self.run_cllab()
        self.assertNotIn("configuring", self.run_cllab().stderr)
        (self.state / "missing").write_text("libamd-comgr-dev\n")
        self.assertIn("configuring", self.run_cllab().stderr)

    def test_the_first_command_installs_what_makes_code_of_amds_gpus_and_nothing_of_the_regression(self):
        packages = subprocess.run(["bash", "-c", '. tools/setup.sh; echo "${packages[*]}"; echo "${test_packages[*]}"'], cwd=self.tree,
                                  capture_output=True, text=True, check=True).stdout.splitlines()
        needed, tested = (set(line.split()) for line in packages)
        self.assertIn("libamd-comgr-dev", needed)
        self.assertEqual(needed & tested, set())
        for package in ("oclgrind", "mesa-opencl-icd", "python3-pip", "clang-15", "libclang-rt-16-dev"):
            self.assertIn(package, tested)

    def test_a_second_run_says_nothing_and_a_changed_source_is_rebuilt(self):
        self.run_cllab()
        again = self.run_cllab()
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "first\n", ""))
        self.write_program("second")
        self.assertEqual(self.run_cllab().stdout, "second\n")

    def test_a_tree_that_was_moved_is_configured_afresh(self):
        self.run_cllab()
        moved = self.folder / "moved"
        self.tree.rename(moved)
        self.tree = moved
        self.write_program("moved")
        done = self.run_cllab()
        self.assertEqual((done.returncode, done.stdout), (0, "moved\n"), done.stderr)

    def test_only_what_is_missing_is_installed_and_nothing_is_removed(self):
        (self.state / "missing").write_text("libfmt-dev\nninja-build\n")
        done = self.run_cllab()
        self.assertEqual(done.stdout, "first\n")
        update, install = self.log().splitlines()
        self.assertTrue(update.endswith(" update"))
        self.assertTrue(install.endswith(" ninja-build libfmt-dev"), install)
        self.assertIn("--no-remove", install)
        self.assertIn("apt-get speaks", done.stderr)

    def test_sudo_is_used_only_when_not_root(self):
        (self.state / "missing").write_text("libfmt-dev\n")
        self.run_cllab()
        self.assertNotIn("sudo", self.log())
        (self.state / "uid").write_text("1000\n")
        self.run_cllab()
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get", self.log())

    def test_a_package_that_cannot_be_had_is_named_in_one_sentence(self):
        (self.state / "missing").write_text("libfmt-dev\n")
        (self.state / "broken").write_text("")
        for unknown, sentence in ((False, "cllab: apt-get could not install libfmt-dev (its message is above)"),
                                  (True, "cllab: apt-get knows no package libfmt-dev; Debian 12's main archive has it")):
            if unknown:
                (self.state / "unknown").write_text("")
            done = self.run_cllab()
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertEqual(done.stderr.splitlines()[-1], sentence)

    def test_where_sudo_refuses_no_package_is_called_unknown(self):
        (self.state / "missing").write_text("libfmt-dev\n")
        (self.state / "uid").write_text("1000\n")
        (self.folder / "bin" / "sudo").write_text("#!/bin/sh\necho 'sudo: a password is required' >&2\nexit 1\n")
        # More than a pipe holds, so that a reader that stops at the first match would end apt-cache by SIGPIPE.
        (self.folder / "bin" / "apt-cache").write_text("#!/bin/sh\necho '  Candidate: 1.0'\nyes version | head -n 100000\n")
        done = self.run_cllab()
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertEqual(done.stderr.splitlines()[-1], "cllab: sudo apt-get could not install libfmt-dev (its message is above)")

    def test_a_program_that_does_not_compile_is_status_3_and_not_run(self):
        self.run_cllab()
        (self.tree / "main.cpp").write_text("int main() { return missing; }\n")
        done = self.run_cllab()
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("main.cpp:1", done.stderr)
        self.assertEqual(done.stderr.splitlines()[-1], "cllab: the build failed (the message is above)")


class OnGpu(LabTest):
    def test_an_archive_that_is_not_there_or_is_none_is_one_sentence(self):
        shutil.copytree(SOURCE / "tools", self.folder / "tools")
        (self.folder / "text.tar.gz").write_text("not an archive\n")
        subprocess.run(["tar", "-czf", "other.tar.gz", "text.tar.gz"], cwd=self.folder, check=True)
        for archive, status, sentence in (
                ("absent.tar.gz", 2, "there is no archive 'absent.tar.gz'; on a Debian machine, tools/on-gpu --pack FILE.tar.xz makes one"),
                ("text.tar.gz", 3, "archive 'text.tar.gz' cannot be unpacked (the message is above)"),
                ("other.tar.gz", 3, "archive 'other.tar.gz' holds no Boost; tools/on-gpu --pack makes one that does")):
            done = subprocess.run([self.folder / "tools" / "on-gpu", archive, "--", "true"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout, done.stderr.splitlines()[-1]), (status, "", f"on-gpu: {sentence}"))
            self.assertEqual(len(done.stderr.splitlines()) > 1, archive == "text.tar.gz")  # where tar speaks too


class Regression(LabTest):
    """tools/test on a small project, with stand-ins for ctest and for Intel's runtime."""

    CTEST = """
case "$*" in *" -N"*) echo "  Test #1: device_intel"; exit 0 ;; esac
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

    def test_a_skipped_test_is_named_and_fails_only_where_all_are_required(self):
        self.assertRegex(self.run_test().stdout, r"^tools/test: every test passed on \d+ cores of .*\n$")
        self.assertEqual(self.run_test("--require-all").returncode, 0)
        for args, status in (((), 0), (("--require-all",), 1)):
            done = self.run_test(*args, given=["skip"])
            self.assertEqual(done.returncode, status)
            self.assertRegex(done.stdout, r"^skipped: it is not here\n"
                             r"tools/test: every test passed on \d+ cores of .* but 1 that were skipped; what they need is above\n$")

    def test_a_script_in_which_something_was_skipped_says_what_and_is_not_green(self):
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

    def test_intels_runtime_that_cannot_be_had_costs_its_test_unless_all_are_required(self):
        done = self.run_test(given=["offline"])
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]),
                         (0, "cllab: without Intel's CPU runtime the test device_intel is skipped"))
        done = self.run_test("--require-all")
        self.assertEqual((done.returncode, done.stdout), (3, ""))


class IntelRuntime(LabTest):
    """tools/intel-cpu-runtime with a stand-in for pip, which writes wheels of two files instead of 256 MB."""

    PIP = """
import os, pathlib, sys, zipfile
pathlib.Path(os.environ["STATE"], "log").open("a").write(" ".join(sys.argv[1:]) + "\\n")
if os.environ.get("OFFLINE"):
    sys.exit("pip speaks")
folder = pathlib.Path(sys.argv[sys.argv.index("-d") + 1])
for name, files in {"intel_opencl_rt": ["libintelocl.so", "libintelocl.so-gdb.py", "cl.cfg"], "tbb": ["libtbb.so.12"]}.items():
    with zipfile.ZipFile(folder / (name + "-1-py3-none-any.whl"), "w") as wheel:
        for file in files:
            wheel.writestr(name + ".data/data/lib/" + file, file)
        wheel.writestr(name + ".dist-info/LICENSE.txt", name)
"""

    def setUp(self):
        super().setUp()
        (self.folder / "pip").mkdir()
        (self.folder / "pip" / "__init__.py").write_text("")  # or the real one is found first
        (self.folder / "pip" / "__main__.py").write_text(self.PIP)
        (self.folder / "log").write_text("")
        self.target = self.folder / "its own folder"

    def install(self, *args, **environment):
        env = dict(os.environ, STATE=str(self.folder), PYTHONPATH=str(self.folder), **environment)
        return subprocess.run([sys.executable, "-B", SOURCE / "tools" / "intel-cpu-runtime", *args], env=env, capture_output=True,
                              text=True, timeout=60)

    def test_the_libraries_lie_in_one_folder_and_the_one_line_uses_them(self):
        done = self.install(self.target)
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"OCL_ICD_VENDORS='{self.target}/vendors' tools/cllab devices\n"), done.stderr)
        self.assertEqual(sorted(p.name for p in (self.target / "lib").iterdir()),
                         ["cl.cfg", "intel_opencl_rt-LICENSE.txt", "libintelocl.so", "libtbb.so.12", "tbb-LICENSE.txt"])
        self.assertEqual((self.target / "vendors" / "intel-cpu.icd").read_text(), f"{self.target}/lib/libintelocl.so\n")
        self.assertEqual(sorted(p.name for p in self.target.iterdir()), ["lib", "vendors"])

    def test_what_is_downloaded_is_pinned_by_its_sum(self):
        self.install(self.target)
        self.assertIn("--require-hashes", (self.folder / "log").read_text())

    def test_a_second_time_downloads_nothing_and_a_moved_folder_is_installed_afresh(self):
        first = self.install(self.target)
        self.assertEqual(self.install(self.target).stdout, first.stdout)
        self.assertEqual(len((self.folder / "log").read_text().splitlines()), 1)
        moved = self.target.rename(self.folder / "moved")
        self.assertEqual(self.install(moved).returncode, 0)
        self.assertEqual((moved / "vendors" / "intel-cpu.icd").read_text(), f"{moved}/lib/libintelocl.so\n")

    def test_without_pypi_nothing_is_registered(self):
        done = self.install(self.target, OFFLINE="1")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("pip speaks", done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], r"\Aintel-cpu-runtime: pip could not download")
        self.assertEqual(list(self.target.glob("vendors/*")), [])

    def test_without_pip_the_package_that_has_it_is_named(self):
        done = subprocess.run([sys.executable, "-S", "-B", SOURCE / "tools" / "intel-cpu-runtime", self.target], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, "", "intel-cpu-runtime: Python's pip is not here; on Debian: apt-get install python3-pip\n"))

    def test_a_folder_that_cannot_be_written_and_an_unknown_option_are_said(self):
        (self.folder / "file").write_text("")
        done = self.install(self.folder / "file" / "below")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Aintel-cpu-runtime: cannot write below [^\n]+\n\Z")
        self.assertEqual(self.install("--version").returncode, 2)


PACKAGERS = [tool for tool in ("help2man", "cpack", "dpkg-shlibdeps", "file", "lintian", "git") if not shutil.which(tool)]


class Package(LabTest):
    """tools/package's steps on the program that is tested: what it refuses, what the package holds, and that it runs without a checkout."""

    def test_edited_files_are_no_package(self):
        tree = self.folder / "tree"
        shutil.copytree(SOURCE / "tools", tree / "tools")
        git = ["git", "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e@example.org"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *command], check=True, capture_output=True)
        with (tree / "tools" / "setup.sh").open("a") as script:
            script.write('install_packages() { :; }\nconfigure_build() { fail "went on"; }\n')
        package = [tree / "tools" / "package"]
        done = subprocess.run(package, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("files are edited since the last commit", done.stderr)
        subprocess.run([*git, "commit", "-q", "-a", "-m", "second"], check=True, capture_output=True)
        self.assertIn("went on", subprocess.run(package, capture_output=True, text=True, timeout=60).stderr)

    @unittest.skipIf(PACKAGERS, f"the package is not made, for {', '.join(PACKAGERS)} is not installed (tools/test installs it)")
    def test_the_package_is_the_same_bytes_twice_passes_lintian_and_runs_anywhere(self):
        build = os.path.dirname(CLLAB)
        packages = []
        for attempt, more in (("first", {}), ("second", {"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8"})):
            folder = self.folder / attempt
            env = dict(os.environ, SOURCE_DATE_EPOCH="1700000000") | more
            subprocess.run([SOURCE / "tools" / "package-docs", build], check=True, env=env, capture_output=True, timeout=120)
            done = subprocess.run(["cpack", "-G", "DEB", "-B", folder], cwd=build, env=env, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            packages += folder.glob("cllab_*.deb")
        first, second = packages
        self.assertEqual(first.read_bytes(), second.read_bytes())
        checked = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", first], capture_output=True, text=True, timeout=120)
        self.assertEqual(checked.returncode, 0, checked.stdout)

        root = self.folder / "root"
        subprocess.run(["dpkg-deb", "-x", first, root], check=True, timeout=60)
        program = str(root / "usr" / "bin" / "cllab")
        out, _ = self.lab("--device", "cpu", "--kernel", "pitch_short8", "--axis", "width=512", "--axis", "height=256", program=program)
        self.assertRegex(out, r"pitch_short8 +ok")
        out, _ = self.lab("run", root / "usr/share/doc/cllab/examples/affine.cl", "--device", "cpu", "--no-dumps", program=program)
        self.assertIn("ok", out)
        file = root / "usr/share/doc/cllab/examples" / "cllab_check.py"
        self.assertEqual(file.read_bytes(), (SOURCE / "tools" / "reframe" / "cllab_check.py").read_bytes())
        out, _ = self.lab("--version", program=program)
        self.assertRegex(out, r"\Acllab \d+\.\d+\.\d+ \(commit [0-9a-f]{12}\)\n\Z")
        manual = root / "usr" / "share" / "man" / "man1"
        commands = self.lab("complete", "--", "help", "", program=program)[0].split()
        self.assertEqual({page.name for page in manual.iterdir()},
                         {f"cllab-{command}.1.gz" for command in commands} | {f"{name}.1.gz" for name in ("cllab", "make-panel", "slurm-sweep", "slurm-here")})
        page = gzip.decompress((manual / "cllab-report.1.gz").read_bytes()).decode()
        self.assertIn("cllab-report \\-", page)
        self.assertIn("google", page)
        # An example stays a line a line.
        page = gzip.decompress((manual / "cllab-kernel-file.1.gz").read_bytes()).decode()
        self.assertIn("\n  arg src = rand:n*n", page)
        self.assertIn("\n  axis n = 256, 1024", page)


class Completion(LabTest):
    def completed(self, *words):
        return self.lab("complete", "--", *words)[0].splitlines()

    def test_the_program_says_what_a_word_may_become(self):
        for words, expected in ((["descr"], ["describe"]), (["help", "kernel"], ["kernel-file"]), (["describe", "mula"], ["muladd"]),
                                (["run", "muladd_f"], ["muladd_fma"]), (["muladd_f"], ["muladd_fma"]), (["-k", "muladd_f"], ["muladd_fma"]),
                                (["run", "--no-y"], ["--no-yardstick"]), (["report", "--html", "x"], []),
                                (["run", "muladd", "--axis", ""], ["items=", "local=", "offset="]), (["run", "pitch", "-a", "weights=l"], ["weights=linear"]),
                                (["isa", "x", "--target", "sm_9"], ["sm_90"]), (["run", "x", "--cache", ""], ["hot", "cold", "rotate"]),
                                (["run", "muladd", "--columns", "time,it"], ["time,items"]), (["report", "--columns", "al"], ["all"]),
                                (["run", "x", "--device", "a"], ["accelerator", "all"]), (["devices", "--j"], ["--json"])):
            with self.subTest(words=words):
                self.assertEqual(self.completed(*words), expected)
        self.assertIn("0:0", self.completed("--device", ""))
        self.assertLessEqual({"devices", "run", "pitch", "pitch_wide", "--version"}, set(self.completed("")))

    def test_bash_completes_words_that_it_takes_apart(self):
        script = SOURCE / "tools" / "completions" / "cllab.bash"
        for words, expected in (([CLLAB, "descr"], ["describe"]), ([CLLAB, "run", "muladd", "--axis", "it"], ["items="]),
                                ([CLLAB, "run", "pitch", "--axis", "weights", "=", "l"], ["linear"]),
                                ([CLLAB, "run", "pitch", "--axis", "weights", "="], ["linear", "published"]),
                                ([CLLAB, "run", "x", "--device", "0", ":"], ["0"])):
            done = subprocess.run(["bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cllab; printf "%s\\n" "${COMPREPLY[@]}"', script, *words],
                                  env=self.environment(), capture_output=True, text=True, timeout=60)
            with self.subTest(words=words):
                self.assertEqual(done.stdout.split(), expected, done.stderr)


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

    def test_only_its_own_failure_behind_tests_that_passed_is_tried_again(self):
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
