"""tools/cllab's set-up, on a small project of its own and with stand-ins for the package tools, so that nothing on the
machine is touched: what is installed, what is rebuilt, what is said, and where."""
import os
import shutil
import subprocess
import sys

from lab import SOURCE, LabTest, main

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

    def test_tree_is_configured_again_after_an_installation(self):
        self.run_cllab()
        self.assertNotIn("configuring", self.run_cllab().stderr)
        (self.state / "missing").write_text("libamd-comgr-dev\n")
        self.assertIn("configuring", self.run_cllab().stderr)

    def test_first_command_installs_amd_code_tools_and_lists_are_disjoint(self):
        names = ("packages", "test_packages", "all_packages", "package_packages")
        script = ". tools/setup.sh; " + "".join(f'echo "${{{name}[*]}}";' for name in names)
        lines = subprocess.run(["bash", "-c", script], cwd=self.tree, capture_output=True, text=True, check=True).stdout.splitlines()
        needed, tested, everything, packaging = (line.split() for line in lines)
        self.assertLessEqual({"libamd-comgr-dev", "oclgrind", "liboclgrind-dev", "llvm-14-dev"}, set(needed))
        self.assertEqual(len(needed + tested + everything + packaging), len({*needed, *tested, *everything, *packaging}))
        self.assertLessEqual({"clang-15", "clang-19"}, set(tested))
        self.assertLessEqual({"mesa-opencl-icd", "python3-pip", "libclang-rt-16-dev"}, set(everything))

    def test_second_run_is_silent_and_changed_source_is_rebuilt(self):
        self.run_cllab()
        again = self.run_cllab()
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "first\n", ""))
        self.write_program("second")
        self.assertEqual(self.run_cllab().stdout, "second\n")

    def test_moved_tree_is_configured_again(self):
        self.run_cllab()
        moved = self.folder / "moved"
        self.tree.rename(moved)
        self.tree = moved
        self.write_program("moved")
        done = self.run_cllab()
        self.assertEqual((done.returncode, done.stdout), (0, "moved\n"), done.stderr)

    def test_only_missing_packages_are_installed_and_none_removed(self):
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

    def test_unavailable_package_is_reported_in_one_sentence(self):
        (self.state / "missing").write_text("libfmt-dev\n")
        (self.state / "broken").write_text("")
        for unknown, sentence in ((False, "cllab: apt-get could not install libfmt-dev (its message is above)"),
                                  (True, "cllab: apt-get knows no package libfmt-dev; Debian 12's main archive has it")):
            if unknown:
                (self.state / "unknown").write_text("")
            done = self.run_cllab()
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertEqual(done.stderr.splitlines()[-1], sentence)

    def test_refused_sudo_does_not_call_packages_unknown(self):
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
    def test_missing_or_invalid_archive_gives_one_sentence(self):
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

    def test_libraries_are_in_one_folder_used_by_the_printed_line(self):
        done = self.install(self.target)
        self.assertEqual((done.returncode, done.stdout),
                         (0, f"OCL_ICD_VENDORS='{self.target}/vendors' tools/cllab devices\n"), done.stderr)
        self.assertEqual(sorted(p.name for p in (self.target / "lib").iterdir()),
                         ["cl.cfg", "intel_opencl_rt-LICENSE.txt", "libintelocl.so", "libtbb.so.12", "tbb-LICENSE.txt"])
        self.assertEqual((self.target / "vendors" / "intel-cpu.icd").read_text(), f"{self.target}/lib/libintelocl.so\n")
        self.assertEqual(sorted(p.name for p in self.target.iterdir()), ["lib", "vendors"])

    def test_download_is_pinned_by_its_hash(self):
        self.install(self.target)
        self.assertIn("--require-hashes", (self.folder / "log").read_text())

    def test_second_install_downloads_nothing_and_moved_folder_reinstalls(self):
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

    def test_package_of_a_missing_pip_is_named(self):
        done = subprocess.run([sys.executable, "-S", "-B", SOURCE / "tools" / "intel-cpu-runtime", self.target], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (3, "", "intel-cpu-runtime: Python's pip is not here; on Debian: apt-get install python3-pip\n"))

    def test_unwritable_folder_and_unknown_option_are_reported(self):
        (self.folder / "file").write_text("")
        done = self.install(self.folder / "file" / "below")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Aintel-cpu-runtime: cannot write below [^\n]+\n\Z")
        self.assertEqual(self.install("--version").returncode, 2)


if __name__ == "__main__":
    main()
