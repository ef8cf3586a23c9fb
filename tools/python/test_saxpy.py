"""An example for pytest: `pytest tools/python`. The kernel's result is compared with NumPy's."""

import sys
import pathlib

import numpy
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cllab  # noqa: E402  (installed with the package; here it lies beside this file)

SAXPY = """
kernel void saxpy(global const float* x, global const float* y, global float* z, float a, int n) {
    int i = get_global_id(0);
    if (i < n) z[i] = fma(a, x[i], y[i]);
}
"""


@pytest.mark.parametrize("n", [1, 1000, 65536])
def test_saxpy_is_what_numpy_says(n):
    random = numpy.random.default_rng()
    x, y = (random.random(n, dtype=numpy.float32) for _ in range(2))
    exact = 0.5 * x.astype(numpy.float64) + y
    cell = cllab.run(SAXPY, args={"x": x, "y": y, "z": f"out:{n}", "a": 0.5, "n": n}, global_size=n,
                     expect={"z": exact.astype(numpy.float32)}, tolerance={"ulp": 1}, device="cpu",
                     options=["--max-time", 0.05])
    assert cell.ok, cell.reason
    assert cell.interval[0] <= cell.seconds <= cell.interval[1]
