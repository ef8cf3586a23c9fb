"""Streams, arguments and what the system refuses: nothing odd passes, and what fails says so with its status."""
import os
import re
import shutil
import subprocess
import unittest

from files import PICTURE, RUN, SMALL, FilesTest, record
from lab import CLLAB, SOURCE


class Streams(FilesTest):
    """Standard output full or closed, descriptors that are not open, terminals without escape codes."""

    def commands(self):
        self.put("a.jsonl", record())
        return [["list"], ["list", "--json"], ["describe", "muladd"], ["--help"], ["help", "run"], ["--version"], ["devices"],
                ["report", "a.jsonl"], ["report", "a.jsonl", "--csv", "-"], RUN, [*RUN, "--json", "-"],
                ["isa", "--targets"], ["isa", "muladd_fma", "--target", "sm_80"]]

    def through_shell(self, redirection, *args):
        return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", CLLAB, *map(str, args)], cwd=self.folder,
                              env=self.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=60)

    def test_unwritable_output_is_status_3_with_a_sentence(self):
        for redirection, reason in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            for args in self.commands():
                with self.subTest(args=args, redirection=redirection):
                    done = self.through_shell(redirection, *args)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertRegex(done.stderr, r"(\A|\n)cllab: standard output [^\n]*(cannot be written|writing failed)[^\n]*\n\Z")
                    if args != ["list"]:  # what is longer than a buffer fails before its end
                        self.assertIn(reason, done.stderr)

    def test_no_file_takes_the_descriptor_of_a_closed_stream(self):
        for closed in ("<&-", "<&- >&-", "<&- >&- 2>&-", ">&- 2>&-", "2>&-"):
            done = self.through_shell(closed, *RUN, "--json", "r.jsonl", "--csv", "r.csv", "--force")
            self.assertEqual(done.returncode, 3 if ">&-" in closed.replace("2>&-", "") else 0, closed)
            self.assertEqual([r["status"] for r in self.records()], ["ok"], closed)
            self.assertEqual(len((self.folder / "r.csv").read_text().splitlines()), 2, closed)

    def test_a_dumb_terminal_gets_no_escape_codes(self):
        self.put("a.jsonl", record(status="wrong_result", reason="it is wrong"))
        for terminal, coloured in (("dumb", False), ("xterm", True)):
            leader, follower = os.openpty()
            environment = self.environment(TERM=terminal)
            environment.pop("NO_COLOR", None)
            process = subprocess.Popen([CLLAB, "report", "a.jsonl"], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=follower, stderr=follower)
            os.close(follower)
            self.addCleanup(os.close, leader)
            self.assertEqual(process.wait(60), 0)
            self.assertEqual(b"\033[" in os.read(leader, 65536), coloured, terminal)


class Arguments(FilesTest):
    def test_empty_argument_is_refused_everywhere(self):
        for command in ("run", "dump", "isa", "tune", "profile", "report", "describe", "list", "devices"):
            text = self.lab(command, "--help", "all")[0]
            for option in re.findall(r"--[a-z-]+(?= [A-Z])", text):
                self.refused([command, option, ""], f"the argument after '{option}' is empty")
            self.refused([command, ""], f"the argument after '{command}' is empty")
        self.refused([""], "the first argument is empty")
        self.refused(["help", ""], "the argument after 'help' is empty")

    def test_two_dashes_end_the_options(self):
        out, _ = self.lab("run", "--device", "cpu", "--axis", "items=64", "--verify", "--no-dumps", "--", "muladd_fma")
        self.assertIn("muladd_fma  ok", out)
        for args in (["run", "--", "--verify"], ["list", "--", "-x"], ["--", "--help"], ["run", "--verify", "--", "--json", "x"]):
            self.refused(args, "no kernel matches '-")
        self.put("--json", record())
        self.assertIn("muladd_fma", self.lab("report", "--", "--json")[0])

    def test_single_valued_option_is_given_once(self):
        for args, part in ((["--seed", "1", "--seed", "1"], "--seed"), (["--json", "a", "--json", "b"], "--json"), (["--verify"], "--verify"),
                           (["--timeout", "9", "--timeout", "8"], "--timeout"), (["--dumps", "a", "--dumps", "b"], "--dumps"),
                           (["--axis", "items=65"], "'items' twice"), (["--input", "a=x", "--input", "a=y"], "'a' twice")):
            self.refused([*RUN, *args], part)
        for command in ("isa", "tune", "dump"):
            self.refused([command, "gemm_tile8", "--axis", "m=8", "--axis", "m=9"], "'m' twice")
        self.refused(["--version", "now"], "takes no argument")

    def test_a_seed_is_a_whole_number_from_0(self):
        for seed in ("-1", "1.5", "x", "0x10", "18446744073709551616", " 1"):
            self.refused([*RUN, "--seed", seed], f"'{seed}'", "from 0 to 18446744073709551615")
            self.refused(["profile", "--seed", seed], f"'{seed}'")
        for option in ("-d", "--device", "-k"):
            self.refused(["run", option, "--verify"], f"option '{option}' needs a value")
            self.refused(["run", option, "-a"], f"option '{option}' needs a value")


# In front of the C library: no thread can be started.
NO_THREADS = "int pthread_create(void* t, const void* a, void* (*f)(void*), void* x) { return 11; }\n"


class Trouble(FilesTest):
    """What the system refuses is said in a sentence with its status."""

    def test_folder_or_endless_device_instead_of_a_file_is_refused(self):
        cl = self.kernels()
        (cl / "muladd.cl").unlink()
        (cl / "muladd.cl").mkdir()
        (self.folder / "folder").mkdir()
        self.refused([*RUN, "--cl-dir", cl], "muladd.cl' (--cl-dir) cannot be read: Is a directory")
        self.refused([*RUN, "--cl-dir", cl, "--isolate"], "muladd.cl' (--cl-dir) cannot be read: Is a directory")
        self.refused([*RUN, "--cl-dir", "absent"], "muladd.cl' (--cl-dir) cannot be read: No such file")
        (cl / "muladd.cl").rmdir()
        (cl / "muladd.cl").symlink_to("/dev/zero")
        self.refused([*RUN, "--cl-dir", cl], "is a device, not a file")
        self.refused(["isa", "muladd_fma", "--target", "sm_80", "--cl-dir", cl], "is a device, not a file")
        self.refused([*PICTURE, "--input", "src=folder"], "is a folder")
        self.refused([*PICTURE, "--input", "src=/dev/zero"], "is a device, not a file")
        for option in ("--json", "--csv"):
            self.refused([*RUN, option, "folder"], "'folder'", "Is a directory", status=3)
        profile = self.folder / self.lab("run", *SMALL, "--json", "-")[0].split('"dump":"')[1].split("/muladd")[0] / "profile.json"
        profile.mkdir()
        _, err = self.lab("run", "muladd_fma", "--device", "cpu", "--axis", "items=64", "--max-time", "0.02", "--no-yardstick")
        self.assert_one_sentence(err, "profile.json", "it is ignored")

    def test_path_cannot_inject_kernel_text(self):
        for name in ("a\\x", 'quote" 1', "line\n#error from the path\n", "tab\t??/"):
            folder = self.folder / name
            shutil.copytree(self.kernels(), folder)
            shutil.rmtree(self.folder / "cl")
            out, _ = self.lab(*RUN, "--cl-dir", folder)
            self.assertIn("muladd_fma  ok", out)

    def test_missing_threads_and_memory_are_status_3(self):
        (self.folder / "none.c").write_text(NO_THREADS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "none.so", "none.c"], cwd=self.folder, check=True)
        env = self.environment(LD_PRELOAD=str(self.folder / "none.so"), ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0")
        out, err = self.lab(*RUN, "--isolate", env=env, status=3)
        self.assertEqual(out, "")
        self.assertRegex(err, r"(\A|\n)cllab: [^\n]*(thread|driver)[^\n]*\n\Z")

    def test_on_gpu_does_not_overwrite_its_archive(self):
        self.put("notes.txt", "no archive\n")
        same = subprocess.run([SOURCE / "tools" / "on-gpu", "notes.txt", "--out", "./notes.txt"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(same.returncode, 2)
        self.assertEqual((self.folder / "notes.txt").read_text(), "no archive\n")


if __name__ == "__main__":
    unittest.main()
