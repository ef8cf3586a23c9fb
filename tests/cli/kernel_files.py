"""What the tests of users' kernel files share."""
import struct

from lab import SOURCE, LabTest

KERNELS = SOURCE / "tests" / "kernels"


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


class KernelFileTest(LabTest):
    def write(self, text, name="t.cl"):
        (self.folder / name).write_text(text)
        return name

    def check(self, text, *args, status=0, name="t.cl", pattern=None):
        """Runs the file, or the pattern in it, small and quick; its records."""
        self.write(text, name)
        self.lab("run", pattern or name, "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl", "--force", *args, status=status)
        # In the order of the plan; those that fail are done first.
        return sorted(self.records(), key=lambda r: (r["run"]["order"]["comparison"], r["run"]["order"]["position"]))

    def assert_checked_by(self, proof, text, *args):
        """The file's one kernel is right, as `proof` says."""
        record, = self.check(text, *args)
        self.assertEqual((record["status"], record["checked_by"]), ("ok", proof))
