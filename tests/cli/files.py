"""What the tests of files, streams and arguments share: commands that are small, and a refusal that changes nothing."""
import json
import os

from lab import LabTest

SMALL = ["muladd_fma", "--device", "cpu", "--axis", "items=64", "--verify"]
RUN = ["run", *SMALL, "--no-dumps"]
PICTURE = ["run", "pitch_wide", "--device", "cpu", "--verify", "--no-dumps"]


def record(**changes):
    """A line of `cllab run --json` for commands that only read records."""
    device = {"platform": "P", "name": "N", "vendor": "V", "driver": "1", "type": "gpu", "selector": "0:0", "identity": "UUID 1"}
    return json.dumps({"schema": 1, "id": "muladd_fma", "family": "muladd", "variant": "fma", "point": {"items": 64}, "status": "ok",
                       "reason": "", "device": device, "metrics": {}, "samples": [], "warnings": [], "host": {"name": "h"},
                       "utc": "2026-01-01T00:00:00Z"} | changes) + "\n"


class FilesTest(LabTest):
    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def panel(self, name="panel.pgm"):
        (self.folder / name).write_bytes(b"P5\n64 32\n255\n" + bytes(range(256)) * 8)

    def refused(self, args, *parts, status=2, **more):
        """One sentence with the parts, the status, nothing on stdout, and no file made, changed or lost."""
        before = self.contents()
        out, err = self.lab(*args, status=status, **more)
        self.assertEqual(out, "")
        self.assertRegex(err, r"\Acllab: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, err)
        self.assertEqual(self.contents(), before)

    def contents(self):
        return {str(p.relative_to(self.folder)): os.readlink(p) if p.is_symlink() else p.read_bytes()
                for p in self.folder.rglob("*") if (p.is_symlink() or p.is_file()) and self.folder / "cache" not in p.parents}
