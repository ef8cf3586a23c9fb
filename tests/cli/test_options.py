"""Each option that `cllab run --help all` names, once on a small kernel file: status 0, or one sentence, and never a crash."""
import unittest

from hostile.case import options_of
from kernel_files import KernelFileTest
from lab import CLLAB

TEXT = """/*cllab
axis n = 64
arg x = rand:n
arg y = out:n
global n
*/
kernel void twice(global const float* x, global float* y) { y[get_global_id(0)] = 2 * x[get_global_id(0)]; }
kernel void added(global const float* x, global float* y) { y[get_global_id(0)] = x[get_global_id(0)] + x[get_global_id(0)]; }
"""
# Values that make sense for this file. An option that is not here gets one by what the page calls it, and may be refused.
VALUES = {"--device": "0:0", "--axis": "n=64,128", "--points": "first", "--cache": "rotate", "--seed": "1", "--vs": "t.cl:added", "--baseline": "base",
          "--hot": "0.05", "--json": "r.jsonl", "--html": "r.html", "--csv": "r.csv", "--markdown": "r.md", "--svg": "r.svg", "--columns": "all", "--dumps": "d",
          "--label": "a b", "--build-options": "-cl-mad-enable", "--check": "device=0:0", "--arg": "x=zero:n", "--global": "n", "--local": "8", "--offset": "0",
          "--variant": "fast=-DTILE=2", "--extends": ".", "--include": "head.h", "--work": "bytes=8*n flops=n", "--reference": "added",
          "--relation": "linear in x", "--where": "n > 0", "--tolerance": "ulp=2", "--timeout": "30", "--max-time": "0.05"}
GUESSES = {"FILE": "new", "OUT": "new", "DIR": "folder", "FOLDER": "folder", "N": "2", "SECONDS": "0.05", "LEVEL": "3", "NAME=FILE": "y=y.png",
           "COMMAND": "true", "WHICH": "never", "PATTERN": "t.cl:added"}
WAITS = {"--watch"}  # for Ctrl-C: test_watch.py


class Options(KernelFileTest):
    def test_each_option_on_a_kernel_file_ends_with_0_or_a_sentence(self):
        options = options_of(CLLAB, "run")
        self.assertGreater(len(options), 40)
        self.assertLessEqual(set(VALUES), {option.name for option in options})
        accepted = []
        for option in options:
            if option.name in WAITS:
                continue
            with self.subTest(option.name):
                self.setUp()
                self.write(TEXT)
                self.write("// nothing\n", "head.h")
                words = [option.name]
                if option.name in VALUES or option.value and not option.value.startswith("["):
                    words = [f"{option.name}={VALUES.get(option.name, GUESSES.get(option.value, 'x'))}"]
                usual = {"--device": "cpu", "--max-time": "0.02"}
                words += [word for name, value in usual.items() if name != option.name for word in (name, value)]
                words += [name for name in ("--no-yardstick", "--no-dumps") if name != option.name and not (name == "--no-dumps" and option.name in ("--dumps", "--hot"))]
                process = self.start("run", "t.cl:twice", *words)
                out, err = process.communicate(timeout=120)
                self.assertIn(process.returncode, range(5), f"{out}\n{err}")
                self.assertNotRegex(err, "this program failed|internal|terminate|Assertion")
                if process.returncode == 0:
                    accepted.append(option.name)
                else:
                    self.assertRegex(err, r"(?m)^cllab: [^\n]+$")
        self.assertGreater(len(accepted), 25, accepted)


if __name__ == "__main__":
    unittest.main()
