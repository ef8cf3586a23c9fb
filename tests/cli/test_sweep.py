"""tools/slurm-sweep, with stand-ins for Slurm's commands that run each job here, as two nodes one after the other."""
import os
import subprocess
import unittest

from lab import SOURCE, LabTest, words

STAND_INS = {
    # --array=0-N: runs the script given last for each index, its output to --output; ends with the worst status.
    "sbatch": r'''
printf '%s\n' "$@" >"$STATE/sbatch"
for word; do case $word in --array=0-*) last=${word#--array=0-} ;; --output=*) log=${word#*=} ;; esac; done
echo 42
worst=0
for i in $(seq 0 "$last"); do
    SLURM_ARRAY_TASK_ID=$i bash "$word" >"${log//%a/$i}" 2>&1 || worst=$?
done
exit $worst''',
    "srun": r'''
while [ "${1#--}" != "$1" ]; do shift; done
for node in n1 n2; do SLURMD_NODENAME=$node "$@" || status=$?; done
exit ${status:-0}''',
}


class Sweep(LabTest):
    def setUp(self):
        super().setUp()
        (self.folder / "bin").mkdir()
        for name, body in STAND_INS.items():
            path = self.folder / "bin" / name
            path.write_text(f"#!/usr/bin/env bash\n{body}\n")
            path.chmod(0o755)

    def sweep(self, *args, status=0):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        return self.lab(*args, program=str(SOURCE / "tools" / "slurm-sweep"), status=status,
                        env=self.environment(STATE=str(self.folder), PATH=path))

    def test_each_family_runs_on_each_node_into_one_report(self):
        out, err = self.sweep("--nodes", "2", "--out", "new/a b", "--sbatch", "--partition=gpu", "muladd_f*", "muladd_mad",
                              "--", "--device", "cpu", "--axis", "items=64", "--max-time", "0.05", "--no-yardstick")
        self.assertRegex(words(out), r" A [^$]* on n1 B [^$]* on n2 muladd: ")
        self.assertRegex(out, r"\n  muladd_fma +\S+ [nu]s .*\n  muladd_mad +\S+ [nu]s ")
        folder = self.folder / "new" / "a b"
        self.assertEqual(sorted(p.name for p in folder.glob("*-*.jsonl")),
                         ["0-muladd_f-.n1.jsonl", "0-muladd_f-.n2.jsonl", "1-muladd_mad.n1.jsonl", "1-muladd_mad.n2.jsonl"])
        self.assertEqual(len(self.records("new/a b/all.jsonl")), 4)
        self.assertEqual((folder / "report.txt").read_text(), out)
        asked = (self.folder / "sbatch").read_text().splitlines()
        for option in ("--array=0-1", "--nodes=2", "--ntasks-per-node=1", "--exclusive", "--partition=gpu"):
            self.assertIn(option, asked)

    def test_failing_family_keeps_the_report_of_the_others(self):
        out, err = self.sweep("--out", "o", "muladd_fma", "pitch_wide", "--", "--device", "cpu", "--axis", "width=64",
                              "--max-time", "0.05", "--no-yardstick", status=1)
        self.assertRegex(out, r"\n  pitch_wide +ok ")
        self.assertIn("a job ended with status 2", err)
        self.assertIn("width", (self.folder / "o" / "0.log").read_text())  # an axis that muladd has not

    def test_mistakes_are_reported_before_submission(self):
        (self.folder / "there").mkdir()
        for args, status, part in ((["--nodes", "0", "--out", "o", "muladd"], 2, "'--nodes' is '0'"),
                                   (["muladd"], 2, "'--out' is missing"),
                                   (["--out", "o"], 2, "no family"),
                                   (["--out", "o", "--frob", "muladd"], 2, "'--frob' is unknown"),
                                   (["--out", "o", "mulad"], 2, "no kernel matches 'mulad'"),
                                   (["--out", "o", "muladd", "--", "--json", "r"], 2, "'--json' is set by this script"),
                                   (["--out", "there", "muladd"], 3, "'there' cannot be made")):
            with self.subTest(args=" ".join(args)):
                out, err = self.sweep(*args, status=status)
                self.assertEqual(out, "")
                self.assertIn(part, err)
                self.assertFalse((self.folder / "sbatch").exists())


if __name__ == "__main__":
    unittest.main()
