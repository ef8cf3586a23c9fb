"""The Debian package that tools/package makes, and the completions that it brings."""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from lab import CLLAB, SOURCE, LabTest, main

PACKAGERS = [tool for tool in ("help2man", "cpack", "dpkg-shlibdeps", "file", "lintian", "git") if not shutil.which(tool)]


class Package(LabTest):
    """tools/package's steps on the program that is tested: what it refuses, what the package holds, and that it runs without a checkout."""

    def test_edited_files_are_not_packaged(self):
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
    def test_package_is_reproducible_passes_lintian_and_runs_anywhere(self):
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
        module = root / "usr" / "share" / "cllab" / "python" / "cllab.py"
        self.assertEqual(module.read_bytes(), (SOURCE / "tools" / "python" / "cllab.py").read_bytes())
        out, _ = self.lab("--version", program=program)
        self.assertRegex(out, r"\Acllab \d+\.\d+\.\d+ \(commit [0-9a-f]{12}\)\n\Z")
        manual = root / "usr" / "share" / "man" / "man1"
        commands = self.help_names(program)
        self.assertEqual({page.name for page in manual.iterdir()},
                         {f"cllab-{command}.1.gz" for command in commands} | {f"{name}.1.gz" for name in ("cllab", "slurm-sweep", "slurm-here")})
        page = gzip.decompress((manual / "cllab-report.1.gz").read_bytes()).decode()
        self.assertIn("cllab-report \\-", page)
        self.assertIn("pandas", page)
        # An example stays a line a line.
        page = gzip.decompress((manual / "cllab-kernel-file.1.gz").read_bytes()).decode()
        self.assertIn("\n  arg src = rand:n*n", page)
        self.assertIn("\n  axis n = 256, 1024", page)


class Completion(LabTest):
    """The scripts that tools/make-completions has made of the help."""
    FOLDER = pathlib.Path(CLLAB).parent / "completions"

    def completed(self, *words):
        done = subprocess.run(["bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cllab; printf "%s\\n" "${COMPREPLY[@]}"',
                               self.FOLDER / "cllab.bash", "cllab", *words], env=self.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes_commands_topics_kernels_options_and_values(self):
        for words, expected in ((["descr"], ["describe"]), (["help", "kernel"], ["kernel-file"]), (["describe", "muladd_f"], ["muladd_fma"]),
                                (["run", "muladd_fma"], ["muladd_fma"]), (["muladd_m"], ["muladd_mad"]), (["-k", "muladd_m"], ["muladd_mad"]),
                                (["run", "--no-y"], ["--no-yardstick"]), (["report", "--html", "x"], []), (["isa", "x", "--target", "sm_9"], ["sm_90"]),
                                (["run", "x", "--cache", ""], ["hot", "cold", "rotate"]), (["run", "x", "--device", "a"], ["accelerator", "all"]),
                                (["run", "x", "-d", "c"], ["cpu"]), (["devices", "--js"], ["--json"]), (["run", "x", "--axis", "wid"], ["width="]),
                                (["tune", "x", "-a", "left"], ["left="]), (["run", "x", "--axis", "width", "="], []), (["run", "x", "--columns", "band"], ["bandwidth"]),
                                (["report", "x", "--columns", "time,ban"], ["time,bandwidth"]), (["isa", "x", "--columns", "spi"], ["spills"])):
            with self.subTest(words=words):
                self.assertEqual(self.completed(*words), expected)
        commands = set(re.findall(r"(?m)^  cllab ([a-z]+)", self.lab("--help")[0]))
        self.assertIn("tune", commands)
        self.assertEqual(set(self.completed("")), commands | {"help", "--version"})
        self.assertLessEqual({"profile", "pitch", "pitch_wide"}, set(self.completed("p")))

    def test_every_option_of_every_command_is_in_each_script(self):
        scripts = {name: (self.FOLDER / name).read_text() for name in ("cllab.bash", "_cllab", "cllab.fish")}
        for option in set(re.findall(r"(?m)^  (?:-\w, )?--([a-z-]+)", self.lab("--help", "all")[0].split("\nExit status")[1])):
            for name, script in scripts.items():
                self.assertIn(f"-l {option}" if name == "cllab.fish" else f"--{option}", script, name)
        for shell, name in (("zsh", "_cllab"), ("fish", "cllab.fish")):
            if shutil.which(shell):
                subprocess.run([shell, "-n", self.FOLDER / name], check=True)


if __name__ == "__main__":
    main()
