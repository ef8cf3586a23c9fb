#!/usr/bin/env python3
"""Kernels of real packages, captured and proved. Takes an hour; no part of the regression.

    tests/trial/capture.py --out FOLDER [--only NAME]...     # CLLAB names the program; build/cllab unless set

Makes a virtual environment with the packages below, in the versions that stand there, and runs a program of each: by itself, under
`cllab capture`, and under `cllab capture -k '*'`. Then each kernel file that was written is run, and must be proved by what the program
itself got. Programs of Debian (clpeak, CLBlast's tests, darktable) take part where they are installed. OCL_ICD_VENDORS chooses the driver.

The table has, per program: kernels that it launched; those with a file; those whose launch changed something; those proved at the first
run. Each miss stands below with its reason.

`own times`: a program that sums its launches' times by its own events, with and without the layer in turns: the counts, the sum of times
over the program's own, and wall time over that without the layer.
Exit status: 0 when at least 95 % of the kernels whose launch changed something were proved, else 1.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
PACKAGES = ["pyopencl==2026.1.4", "mako==1.4.3", "loopy==2025.2", "tinygrad==0.14.0", "pyvkfft==2025.1.1", "silx==3.1.3", "pyrqa==8.1.0",
            "pyclesperanto-prototype==0.24.6"]

HEAD = "import numpy as np\nimport pyopencl as cl\nimport pyopencl.array as ca\nctx = cl.create_some_context(interactive=False)\nq = cl.CommandQueue(ctx)\n" \
       "rng = np.random.default_rng(1)\n"
PROGRAMS = {
    "pyopencl": HEAD + """
from pyopencl.scan import GenericScanKernel
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.algorithm import RadixSort, copy_if, unique
import pyopencl.clrandom as clr
n = 100000
a = ca.to_device(q, rng.integers(0, 1000, n).astype(np.int32))
f = ca.to_device(q, rng.random(n).astype(np.float32))
GenericScanKernel(ctx, np.int32, arguments="__global int *ary", input_expr="ary[i]", scan_expr="a+b", neutral="0", output_statement="ary[i+1] = item;")(a[:-1].copy())
ElementwiseKernel(ctx, "float a, float *x, float *y", "y[i] = a*x[i] + y[i]", "axpy")(2.0, f, f.copy())
print(ReductionKernel(ctx, np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i]", arguments="__global float *x")(f).get())
RadixSort(ctx, "int *ary", key_expr="ary[i]", sort_arg_names=["ary"], key_dtype=np.int32)(a, queue=q)
copy_if(a, "ary[i] > 500", queue=q)
unique(a, queue=q)
g = clr.PhiloxGenerator(ctx)
print(g.uniform(q, n, np.float32).get().mean(), g.normal(q, n, np.float32).get().mean())
b = 2 * f + f * f - 1 / (f + 1)
print(ca.sum(b).get(), ca.max(b).get(), ca.dot(b, f).get(), ca.cumsum(a).get()[-1] if hasattr(ca, "cumsum") else 0)
c = ca.arange(q, 0, n, 1, dtype=np.int32); print(ca.take(f, c[:1000]).get().sum(), (f > 0.5).get().sum(), ca.if_positive(f - 0.5, f, b).get().sum())
from pyopencl.bitonic_sort import BitonicSort
print(BitonicSort(ctx)(ca.to_device(q, rng.random(1 << 12).astype(np.float32)))[0].get()[:3])
""",
    "silx": HEAD + """
from silx.opencl.medfilt import MedianFilter2D
from silx.opencl.convolution import Convolution
from silx.opencl.backprojection import Backprojection
from silx.opencl.projection import Projection
from silx.opencl.statistics import Statistics
from silx.opencl import sift
image = rng.random((256, 256)).astype(np.float32)
print(MedianFilter2D(image.shape, ctx=ctx).medfilt2d(image, (5, 5)).mean())
print(Convolution(image.shape, rng.random(9).astype(np.float32), ctx=ctx)(image).mean())
sino = Projection(image.shape, angles=60, ctx=ctx)(image)
print(Backprojection(sino.shape, ctx=ctx)(sino).mean())
print(Statistics(image.size, ctx=ctx)(image))
print(len(sift.SiftPlan(template=image, ctx=ctx)(image)))
""",
    "tinygrad": """
import os
os.environ.update(DEV="CL", CL="1", CACHELEVEL="0")
from tinygrad import Tensor
Tensor.manual_seed(1)
a, b = Tensor.rand(64, 64), Tensor.rand(64, 64)
print((a @ b).relu().sum().item(), a.softmax().max().item(), a.reshape(1, 1, 64, 64).max_pool2d().mean().item(), (a.sin() + b.exp()).std().item())
""",
    "loopy": HEAD + """
import loopy as lp
n = 64
knl = lp.make_kernel("{[i,j,k]: 0<=i,j,k<n}", "c[i,j] = sum(k, a[i,k]*b[k,j])", lang_version=(2018, 2))
knl = lp.add_and_infer_dtypes(knl, {"a": np.float32, "b": np.float32})
knl = lp.split_iname(lp.split_iname(knl, "i", 16, outer_tag="g.0", inner_tag="l.1"), "j", 16, outer_tag="g.1", inner_tag="l.0")
x = ca.to_device(q, rng.random((n, n)).astype(np.float32))
print(knl(q, a=x, b=x, n=n)[1][0].get().sum())
print(lp.make_kernel("{[i]: 0<=i<n}", "out[i] = 2*a[i]", lang_version=(2018, 2))(q, a=x.reshape(-1))[1][0].get().sum())
""",
    "pyvkfft": HEAD + """
from pyvkfft.opencl import VkFFTApp
for shape, kind in (((64, 64), np.complex64), ((4096,), np.complex64), ((32, 48), np.complex64), ((17, 30), np.complex64)):
    d = ca.to_device(q, (rng.random(shape) + 1j * rng.random(shape)).astype(kind))
    app = VkFFTApp(d.shape, d.dtype, queue=q, ndim=len(shape)); app.fft(d); app.ifft(d); print(abs(d.get()).sum())
""",
    "pyrqa": """
import numpy as np
from pyrqa.time_series import TimeSeries
from pyrqa.settings import Settings
from pyrqa.analysis_type import Classic
from pyrqa.neighbourhood import FixedRadius
from pyrqa.metric import EuclideanMetric
from pyrqa.computation import RQAComputation
series = TimeSeries(np.sin(np.arange(600) * 0.1), embedding_dimension=2, time_delay=2)
print(RQAComputation.create(Settings(series, analysis_type=Classic, neighbourhood=FixedRadius(0.65), similarity_measure=EuclideanMetric, theiler_corrector=1)).run().recurrence_rate)
""",
    "pyclesperanto-prototype": """
import numpy as np
import pyclesperanto_prototype as cle
image = cle.push(np.random.default_rng(1).random((128, 128)).astype(np.float32))
labels = cle.voronoi_otsu_labeling(image, spot_sigma=3, outline_sigma=1)
print(cle.pull(labels).max(), cle.sum_of_all_pixels(cle.gaussian_blur(image, sigma_x=2, sigma_y=2)), cle.pull(cle.top_hat_box(image, radius_x=3, radius_y=3)).mean(), cle.pull(cle.rotate(image, angle_around_z_in_degrees=30)).mean())
""",
}
OWN_TIMES = HEAD + """
import sys
q = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
knl = cl.Program(ctx, "kernel void spin(global float* x, int n) { float y = x[get_global_id(0)]; for (int i = 0; i < n; ++i) y = y * 0.5f + 1.0f; x[get_global_id(0)] = y; }").build().spin
x = ca.to_device(q, np.ones(1 << 14, np.float32))
ns = 0
for i in range(int(sys.argv[1])):
    e = knl(q, x.shape, None, x.data, np.int32(2000)); e.wait(); ns += e.profile.end - e.profile.start
print("own", int(sys.argv[1]), ns)
"""
# These bring two OpenCL loaders, of which the one that launches is never asked to load layers: both get the system's.
ONE_LOADER = {"pyvkfft": {"LD_PRELOAD": "libOpenCL.so.1"}}
DEBIANS = {"clpeak": ["clpeak", "--global-bandwidth", "--kernel-latency"], "clblast": ["clblast_test_xaxpy", "-n", "64"]}


ENVIRONMENT = os.environ | {"PYOPENCL_NO_CACHE": "1", "PYOPENCL_CTX": "0"}


def run(command, **more):
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    return done, time.monotonic() - begin


def programs(out, only):
    python = out / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", out / "venv"], check=True)
    for name, text in PROGRAMS.items():
        if only and name not in only:
            continue
        for package in PACKAGES:
            if package.split("==")[0] in (name, "pyopencl", "mako") and (name != "tinygrad" or package.startswith("tinygrad")):
                subprocess.run([python, "-m", "pip", "-q", "install", "--prefer-binary", package], check=False,
                               env=os.environ | {"VKFFT_BACKEND": "opencl"})
        script = out / ("trial_" + name + ".py")  # not the name of the package
        script.write_text(text)
        yield name, [python, script]
    for name, command in DEBIANS.items():
        if shutil.which(command[0]) and (not only or name in only):
            yield name, command


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def proved(file, out, seconds):
    """Empty, or why the file was not proved."""
    record = out / "record.jsonl"
    record.unlink(missing_ok=True)
    try:
        done, _ = run([CLLAB, "run", file, "--max-time", 0.05, "--timeout", 300, "--no-dumps", "--no-yardstick", "--json", record], timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"no result in {seconds} s"
    records = lines_of(record)
    if not records:
        return done.stderr.strip().splitlines()[-1][:200] if done.stderr.strip() else f"exit status {done.returncode}"
    return "" if records[0]["status"] == "ok" else f"{records[0]['status']}: {records[0].get('reason', '')}"[:200]


def trial(name, command, out, seconds):
    """Row and misses of one program."""
    folder = out / name
    shutil.rmtree(folder, ignore_errors=True)
    environment = ENVIRONMENT | ONE_LOADER.get(name, {})
    plain, _ = run(command, env=environment)
    seen = out / (name + ".jsonl")
    done, _ = run([CLLAB, "capture", "-k", "*", "-o", folder, "--json", seen, "--force", "--", *command], env=environment)
    (out / (name + ".txt")).write_text(done.stderr)
    row = collections.Counter(kernels=len({(line["kernel"], line["program"]) for line in lines_of(seen) if "global" in line}))
    misses = []
    if done.returncode != plain.returncode:
        misses.append(("(program)", f"status {done.returncode}, without the layer {plain.returncode}: {plain.stderr.strip()[-150:]}"))
    for line in done.stderr.splitlines():
        if "is not kept" in line:
            misses.append(("(no file)", line))
    unchanged = {line["file"] for line in lines_of(seen) if line.get("changed") is False}
    for file in sorted(folder.glob("*.cl")) + sorted(folder.glob("*.spv")) + sorted(folder.glob("*.bin")):
        if file.name.count(".") > 1:
            continue
        changed = file.name not in unchanged
        row["files"] += 1
        row["changed"] += changed
        why = proved(file, out, seconds)
        row["proved"] += changed and not why
        if why:
            misses.append((file.name, why))
    return row, misses


def own_times(python, out, rounds=8, launches=2000):
    """A line about counts and times, and one about wall time."""
    script = out / "trial_own_times.py"
    script.write_text(OWN_TIMES)
    command, seen = [python, script, launches], out / "own_times.jsonl"
    run(command, env=ENVIRONMENT)  # compiles
    walls = {False: [], True: []}
    for i in range(rounds):
        for with_layer in ((False, True), (True, False))[i % 2]:
            layer = [CLLAB, "capture", "--json", seen, "--force", "--"] if with_layer else []
            done, seconds = run([*layer, *command], env=ENVIRONMENT)
            walls[with_layer].append(seconds)
            if with_layer:
                count, ns = map(int, re.search(r"^own (\d+) (\d+)", done.stdout, re.M).groups())
                rows = [line for line in lines_of(seen) if line.get("kernel") == "spin"]
    yield f"own times: {count} launches, counted {sum(row['count'] for row in rows)}; times {sum(row['seconds'] for row in rows) / (ns * 1e-9):.4f} of the program's own, mean {ns / count * 1e-3:.0f} us"
    ratios = [b / a for a, b in zip(walls[False], walls[True])]
    yield f"wall time: {statistics.median(ratios):.3f} of that without the layer ({min(ratios):.3f} to {max(ratios):.3f} in {rounds} rounds in turns)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="for the environment, the scripts and what was captured")
    parser.add_argument("--only", action="append", help="a program; repeats")
    parser.add_argument("--seconds", type=float, default=120, help="for the run of a kernel file; default 120")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    total, all_misses = collections.Counter(), []
    print(f"{'program':24} {'kernels':>8} {'files':>6} {'changed':>8} {'proved':>7}")
    for name, command in programs(out, arguments.only):
        row, misses = trial(name, command, out, arguments.seconds)
        total += row
        all_misses += [(name, *miss) for miss in misses]
        print(f"{name:24} {row['kernels']:8} {row['files']:6} {row['changed']:8} {row['proved']:7}", flush=True)
    print(f"{'all':24} {total['kernels']:8} {total['files']:6} {total['changed']:8} {total['proved']:7}")
    for miss in all_misses:
        print("  " + "  ".join(miss))
    for line in own_times(out / "venv" / "bin" / "python", out) if not arguments.only or "own-times" in arguments.only else ():
        print(line)
    return 0 if total["proved"] >= 0.95 * total["changed"] else 1


if __name__ == "__main__":
    sys.exit(main())
