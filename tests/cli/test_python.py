"""tools/python/cllab.py: kernels on NumPy arrays. The example there, then what the module promises."""
import os
import subprocess
import sys

from lab import SOURCE, LabTest, main, use_debians_python

try:
    import numpy
except ImportError:
    use_debians_python()
    raise
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools" / "python"))
import cllab  # noqa: E402

SAXPY = """kernel void saxpy(global const float* x, global float* y, float a) { size_t i = get_global_id(0); y[i] = a * x[i]; }
kernel void shifted(global const float* x, global float* y, float a) { size_t i = get_global_id(0); y[i] = a * x[i] + 1; }
"""
QUICK = ["--max-time", 0.02]


class Python(LabTest):
    def setUp(self):
        super().setUp()
        os.environ["OCL_ICD_VENDORS"] = self.environment()["OCL_ICD_VENDORS"]
        self.x = numpy.random.default_rng().random(512, dtype=numpy.float32)

    def run_saxpy(self, **more):
        words = {"kernel": "saxpy", "args": {"x": self.x, "y": "out:512", "a": 0.5}, "global_size": 512, "device": "cpu", "options": QUICK} | more
        return cllab.run(words.pop("source", SAXPY), **words)

    def test_the_example_passes_under_pytest(self):
        done = subprocess.run(["/usr/bin/python3", "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", SOURCE / "tools" / "python"], env=self.environment(),
                              cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if "No module named pytest" in done.stdout:
            self.skipTest("python3-pytest is not installed")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("3 passed", done.stdout)

    def test_a_kernel_is_right_only_when_it_leaves_what_numpy_says(self):
        cell = self.run_saxpy(expect={"y": numpy.float32(0.5) * self.x})
        self.assertTrue(cell.ok, cell.reason)
        self.assertTrue(cell.interval[0] <= cell.seconds <= cell.interval[1])
        self.assertGreaterEqual(len(cell.samples), 6)
        self.assertTrue(cell.checked_by.startswith("file"), cell.checked_by)
        wrong = numpy.float32(0.5) * self.x
        wrong[511] += 1
        cell = self.run_saxpy(expect={"y": wrong})
        self.assertEqual((cell.ok, cell.status, cell.seconds, cell.interval), (False, "wrong_result", None, None))
        self.assertIn("y[511]", cell.reason)
        with self.assertRaisesRegex(AssertionError, r"saxpy: wrong_result: y\[511\]"):
            cllab.Cells([cell]).require_ok()

    def test_numbers_arrive_as_they_are(self):
        text = "kernel void k(global double* y, double a, ulong b, int c, float4 d) { y[0] = a; y[1] = b >> 1; y[2] = c; y[3] = d.w; }"
        a, b = 0.1 + 0.2, 2**62 + 2
        cell = cllab.run(text, args={"y": "out:4", "a": a, "b": b, "c": numpy.int32(-7), "d": (1, 2, 3, 0.25)}, global_size=1, local_size=(1,),
                         expect={"y": numpy.array([a, 2**61 + 1, -7, 0.25])}, device="cpu", verify=True)
        self.assertTrue(cell.ok, cell.reason)

    def test_arrays_of_any_layout_are_read_in_the_order_of_c(self):
        text = "kernel void k(global const int* x, global int* y) { size_t i = get_global_id(0); y[i] = x[i]; }"
        x = numpy.arange(24, dtype=numpy.int32).reshape(4, 6)
        for view in (x.T, x[::2, ::-1], numpy.asfortranarray(x)):
            cell = cllab.run(text, args={"x": view, "y": f"out:{view.size}"}, global_size=view.size, expect={"y": view}, device="cpu", verify=True)
            self.assertTrue(cell.ok, cell.reason)

    def test_axes_variants_and_a_file_give_several_cells(self):
        path = self.folder / "k.cl"
        path.write_text(SAXPY)
        cells = cllab.run(path, kernel="saxpy", args={"x": "rand:n", "y": "out:n", "a": 2}, global_size="n", axes={"n": [64, 128]},
                          variants={"fast": "-cl-fast-relaxed-math"}, device="cpu", options=QUICK)
        self.assertEqual(sorted((c.name, c.point["n"]) for c in cells),
                         [("k_saxpy", 64), ("k_saxpy", 128), ("k_saxpy_fast", 64), ("k_saxpy_fast", 128)])
        self.assertTrue(cells.ok)

    def test_what_is_left_out_is_guessed(self):
        cell = cllab.run(SAXPY, kernel="saxpy", args={"a": 3.0}, expect=None, device="cpu", verify=True)
        self.assertTrue(cell.ok, cell.reason)

    def test_what_cllab_refuses_is_raised_in_its_own_words(self):
        for message, more in ((r"no device|matches", {"device": "nosuch"}), (r"'nosuch'", {"args": {"x": self.x, "y": "out:512", "a": 1, "nosuch": 1}}),
                              (r"float64|double", {"args": {"x": self.x.astype(float), "y": "out:512", "a": 1}})):
            with self.assertRaisesRegex(cllab.CllabError, message) as caught:
                self.run_saxpy(**more)
            self.assertIn(caught.exception.status, (2, 3))
        with self.assertRaisesRegex(TypeError, "argument 'a' is a dict"):
            self.run_saxpy(args={"x": self.x, "y": "out:512", "a": {}})

    def test_a_pair_has_a_verdict(self):
        path = self.folder / "k.cl"
        body = "float v = x[get_global_id(0)]; for (int i = 0; i < {0}; ++i) v = fma(v, 0.5f, 1.0f); y[get_global_id(0)] = v; "
        path.write_text("".join(f"kernel void {name}(global const float* x, global float* y) {{ {body.replace('{0}', str(trips))} }}\n"
                                for name, trips in (("few", 4000), ("many", 12000))))
        verdict = cllab.compare(f"{path}:many", f"{path}:few", args={"x": self.x, "y": "out:512"}, global_size=512,
                                tolerance={"absolute": 1}, device="cpu", options=["--max-time", 4])
        self.assertTrue(verdict.interval[0] <= verdict.ratio <= verdict.interval[1])
        self.assertIn(verdict.kind, ("slower", "undecided"), verdict)
        self.assertRegex(repr(verdict), r"\A<k_many against k_few: \w+, [\d.]{1,6} \[[\d.]{1,6}, [\d.]{1,6}\]>\Z")
        self.assertEqual({c.status for c in verdict.cells}, {"ok"})
        with self.assertRaisesRegex(cllab.CllabError, "nosuch"):
            cllab.compare(f"{path}:many", f"{path}:nosuch", args={"x": self.x, "y": "out:512"}, global_size=512, device="cpu")


if __name__ == "__main__":
    main()
