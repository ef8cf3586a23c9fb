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

    def check(self, text, *args, status=0, name="t.cl"):
        """Runs the file small and quick; its records."""
        self.write(text, name)
        (self.folder / "r.jsonl").unlink(missing_ok=True)
        self.lab("run", name, "--device", "cpu", "--no-dumps", "--no-yardstick", "--max-time", "0.02", "--json", "r.jsonl", *args, status=status)
        # In the order of the plan; those that fail are done first.
        return sorted(self.records(), key=lambda r: (r["run"]["order"]["comparison"], r["run"]["order"]["position"]))
