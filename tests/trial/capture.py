#!/usr/bin/env python3
"""Kernels of real packages, captured, proved, and compiled for other devices. Takes an hour; no part of the regression.

    tests/trial/capture.py --out FOLDER [--only NAME]... [--no-isa]     # CLLAB names the program; build/cllab unless set

Makes a virtual environment with the packages below, in the versions that stand there, and runs a program of each: by itself, and under
`cllab capture -k '*'`. Then each kernel file that was written is run, and must be proved by what the program itself got. When all programs
are through, `cllab isa` must find the registers of each file with text or SPIR-V for three targets; --no-isa leaves that out. Programs of Debian (clpeak, CLBlast's tests, darktable) take part
where they are installed. OCL_ICD_VENDORS chooses the driver.

The table has, per program: kernels that it launched; those with a file; those whose launch changed something; those proved at the first
run; files with text or SPIR-V; those with registers on each target. Each miss stands below with its reason. FOLDER/results.jsonl gets
a line when a program is through, with the load of the machine. What has a line there is not run again.

`own-times`: a program that sums its launches' times by its own events, with and without the layer in turns: the counts, the sum of times
over the program's own, and wall time over that without the layer.
Exit status: 0 when at least 95 % of the kernels whose launch changed something were proved, and 95 % of the files have registers on each
target, else 1.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
CLLAB = os.environ.get("CLLAB", SOURCE / "build" / "cllab")
PACKAGES = ["pyopencl==2026.1.4", "mako==1.4.3", "loopy==2025.2", "tinygrad==0.14.0", "pyvkfft==2025.1.1", "silx==3.1.3", "pyrqa==8.1.0",
            "pyclesperanto-prototype==0.24.6", "opencv-python-headless==4.10.0.84", "tifffile==2026.3.3"]
TARGETS = ["gfx900", "gfx1100", "sm_90"]

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
GenericScanKernel(ctx, np.int32, arguments="__global int *ary", input_expr="ary[i]", scan_expr="a+b", neutral="0", output_statement="ary[i] = item;")(a.copy())
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
print(MedianFilter2D((48, 48), ctx=ctx).medfilt2d(image[:48, :48].copy(), (5, 5)).mean())
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
    "opencv-python-headless": """
import cv2, numpy as np
cv2.ocl.setUseOpenCL(True)
assert cv2.ocl.useOpenCL()
rng = np.random.default_rng(1)
image = cv2.UMat(rng.integers(0, 256, (480, 640, 3), dtype=np.uint8))
grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
soft = cv2.GaussianBlur(grey, (5, 5), 1.2)
f = cv2.UMat(rng.random((256, 256), np.float32))
for result in (cv2.Canny(soft, 40, 120), cv2.bilateralFilter(grey, 7, 30, 30), cv2.resize(image, (320, 240)), cv2.medianBlur(grey, 5), cv2.equalizeHist(grey),
               cv2.cornerHarris(soft, 2, 3, 0.04), cv2.warpAffine(image, np.float32([[0.9, 0.1, 5], [-0.1, 0.9, 3]]), (640, 480)), cv2.integral(grey),
               cv2.matchTemplate(grey, cv2.UMat(grey.get()[100:116, 100:116].copy()), cv2.TM_CCOEFF_NORMED), cv2.dilate(grey, np.ones((3, 3), np.uint8)),
               cv2.Laplacian(grey, cv2.CV_32F), cv2.dft(f), cv2.gemm(f, f, 1.0, None, 0.0), cv2.threshold(grey, 100, 255, cv2.THRESH_BINARY)[1],
               cv2.calcOpticalFlowFarneback(soft, cv2.UMat(np.roll(soft.get(), 2, 1)), None, 0.5, 2, 9, 2, 5, 1.1, 0)):
    print(result.get().mean())
print(cv2.sumElems(f)[0], cv2.norm(f), cv2.minMaxLoc(f)[0])
""",
}
OWN_TIMES = HEAD + """
import sys, time
q = cl.CommandQueue(ctx, properties=cl.command_queue_properties.PROFILING_ENABLE)
knl = cl.Program(ctx, "kernel void spin(global float* x, int n) { float y = x[get_global_id(0)]; for (int i = 0; i < n; ++i) y = y * 0.5f + 1.0f; x[get_global_id(0)] = y; }").build().spin
x = ca.to_device(q, np.ones(1 << 14, np.float32))
knl(q, x.shape, None, x.data, np.int32(1)).wait()  # compiles
ns, begin = 0, time.monotonic()
for i in range(int(sys.argv[1])):
    e = knl(q, x.shape, None, x.data, np.int32(int(sys.argv[2]))); e.wait(); ns += e.profile.end - e.profile.start
print("own", int(sys.argv[1]), ns, time.monotonic() - begin)
"""
# These bring two OpenCL loaders, of which the one that launches is never asked to load layers: both get the system's.
ONE_LOADER = {"pyvkfft": {"LD_PRELOAD": "libOpenCL.so.1"}, "clblast gemm": {"LD_PRELOAD": "libOpenCL.so.1"}}
# clpeak fills a part of the device's memory; of 1 GiB that is small enough to be kept.
DEBIANS = {"clpeak": ["env", "POCL_MEMORY_LIMIT=1", "clpeak", "--global-bandwidth", "--kernel-latency"]}
DEBIANS |= {"clblast " + name: ["clblast_test_" + name] for name in ("xaxpy", "xdot", "xgemv", "xger", "xomatcopy", "xim2col")}
# The test of this one launches it 2000 times and more, for each precision.
GEMM = HEAD + """
import ctypes
library = ctypes.CDLL("libclblast.so.1")
pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_float
for m, n, k in ((640, 640, 640), (48, 40, 56)):  # by blocks, and directly
    a, b, c = (ca.to_device(q, rng.random(s).astype(np.float32)) for s in ((m, k), (k, n), (m, n)))
    queue = pointer(q.int_ptr)
    print(library.CLBlastSgemm(101, 111, 111, size(m), size(n), size(k), number(1), pointer(a.data.int_ptr), size(0), size(k), pointer(b.data.int_ptr), size(0), size(n),
                               number(0.5), pointer(c.data.int_ptr), size(0), size(n), ctypes.byref(queue), None), c.get().sum())
"""
# A raw image of a camera that there is not. PoCL 3.1 takes the folder in darktable's options with its quotes, but has "-I." too.
RAW = """
import sys
import numpy as np
import tifffile
raw = np.random.default_rng(1).integers(2000, 60000, (256, 256), dtype=np.uint16)
matrix = sum(((int(10000 * v), 10000) for v in (1, 0, 0, 0, 1, 0, 0, 0, 1)), ())
tags = [(33421, 3, 2, (2, 2)), (33422, 1, 4, bytes((0, 1, 1, 2))), (50706, 1, 4, bytes((1, 4, 0, 0))), (50708, 2, 0, "Trial"), (271, 2, 0, "Trial"), (272, 2, 0, "Trial"),
        (50717, 4, 1, 65535), (50721, 10, 9, matrix), (50728, 5, 3, (1, 1, 1, 1, 1, 1)), (50778, 3, 1, 21)]
tifffile.imwrite(sys.argv[1], raw, photometric=32803, extratags=[(*tag, True) for tag in tags], metadata=None)
"""
DARKTABLE = """cd /usr/share/darktable/kernels && rm -rf "$0/cache" "$0/out.png" &&
exec darktable-cli "$0/raw.dng" "$0/out.png" --core --configdir "$0/config" --cachedir "$0/cache" --conf opencl=TRUE"""

ENVIRONMENT = os.environ | {"PYOPENCL_NO_CACHE": "1", "PYOPENCL_CTX": "0", "OPENCV_OPENCL_CACHE_ENABLE": "0", "OPENCV_OPENCL_DEVICE": "::0"}


def darktable(out, python):
    """Its command. It leaves devices that are CPUs alone until its configuration says otherwise, which it writes at the first run."""
    folder = out / "darktable-files"
    folder.mkdir(exist_ok=True)
    (folder / "raw.py").write_text(RAW)
    subprocess.run([python, folder / "raw.py", folder / "raw.dng"], check=True)
    command = ["sh", "-c", DARKTABLE, folder]
    settings = folder / "config" / "darktablerc"
    if not settings.exists():
        run(command)
    settings.write_text(re.sub(r"^(cldevice_v4_\w+=(?:\S+ ){7})1", r"\g<1>0", settings.read_text(), flags=re.M))
    return command


def run(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)


def install(out, only):
    """The packages of these programs, or all, in a virtual environment; its Python."""
    python = out / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", out / "venv"], check=True)
    for package in PACKAGES:
        if not only or package.split("==")[0] in [*only, "pyopencl", "mako", "tifffile"]:
            subprocess.run([python, "-m", "pip", "-q", "install", "--prefer-binary", package], check=True,
                           env=os.environ | {"VKFFT_BACKEND": "opencl"})
    return python


def programs(out, python, only):
    for name, text in PROGRAMS.items():
        if only and name not in only:
            continue
        script = out / ("trial_" + name + ".py")  # not the name of the package
        script.write_text(text)
        yield name, [python, script]
    for name, command in DEBIANS.items():
        if all(map(shutil.which, (word for word in command if word.startswith("cl")))) and (not only or name in only):
            yield name, command
    if not only or "clblast gemm" in only:
        (out / "trial_gemm.py").write_text(GEMM)
        yield "clblast gemm", [python, out / "trial_gemm.py"]
    if shutil.which("darktable-cli") and (not only or "darktable" in only):
        yield "darktable", darktable(out, python)


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def proved(file, out, seconds):
    """Empty, or why the file was not proved."""
    record = out / "record.jsonl"
    record.unlink(missing_ok=True)
    try:
        done = run([CLLAB, "run", file, "--max-time", 0.05, "--timeout", 300, "--no-dumps", "--no-yardstick", "--json", record], timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"no result in {seconds} s"
    records = lines_of(record)
    if not records:
        return done.stderr.strip().splitlines()[-1][:200] if done.stderr.strip() else f"exit status {done.returncode}"
    return "" if records[0]["status"] == "ok" else f"{records[0]['status']}: {records[0].get('reason', '')}"[:200]


def registers(file, out):
    """The registers of the file's kernel by target, or why there are none."""
    record = out / "isa.jsonl"
    record.unlink(missing_ok=True)
    done = run([CLLAB, "isa", file, *(word for target in TARGETS for word in ("--target", target)), "--json", record])
    found = dict.fromkeys(TARGETS, done.stderr.strip()[-200:])
    for line in lines_of(record):
        figure = line.get("figures", {}).get("registers", {})
        found[line["target"]] = figure.get("value", line.get("reason", figure.get("enough", line["status"]))[:200])
    return found


def kernel_files(name, out):
    folder = out / name.replace(" ", "-")
    return [file for ending in (".cl", ".spv", ".bin") for file in sorted(folder.glob("*" + ending)) if file.name.count(".") == 1]


def proofs(name, command, out, seconds):
    """Columns and misses of one program: what was captured and proved."""
    folder = out / name.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    environment = ENVIRONMENT | ONE_LOADER.get(name, {})
    plain = run(command, env=environment)
    seen = out / (name + ".jsonl")
    done = run([CLLAB, "capture", "-k", "*", "-o", folder, "--json", seen, "--force", "--", *command], env=environment)
    (out / (name + ".txt")).write_text(done.stderr)
    row = collections.Counter(kernels=len({(line["kernel"], line["program"]) for line in lines_of(seen) if "global" in line}))
    misses = []
    if done.returncode != plain.returncode:
        misses.append(("(program)", f"status {done.returncode}, without the layer {plain.returncode}: {plain.stderr.strip()[-150:]}"))
    for line in done.stderr.splitlines():
        if "is not kept" in line:
            misses.append(("(no file)", line))
    unchanged = {line["file"] for line in lines_of(seen) if line.get("changed") is False}
    for file in kernel_files(name, out):
        changed = file.name not in unchanged
        why = proved(file, out, seconds)
        row += collections.Counter(files=1, changed=changed, proved=changed and not why)
        if why:
            misses.append((file.name, why))
    return row, misses


def isa(name, out):
    """Columns and misses of one program: registers for devices that are not there."""
    row, misses = collections.Counter(), []
    for file in kernel_files(name, out):
        if file.suffix == ".bin":
            continue
        row["text"] += 1
        for target, found in registers(file, out).items():
            row[target] += isinstance(found, int)
            if not isinstance(found, int):
                misses.append((file.name, target, found))
    return row, misses


def own_times(python, out, launches, iterations, rounds=21):
    """A line about counts and times, and one about wall time."""
    script = out / "trial_own_times.py"
    script.write_text(OWN_TIMES)
    command, seen = [python, script, launches, iterations], out / "own_times.jsonl"
    ratios = []
    for i in range(rounds):
        walls = {}
        for with_layer in ((False, True), (True, False))[i % 2]:
            layer = [CLLAB, "capture", "--json", seen, "--force", "--"] if with_layer else []
            done = run([*layer, *command], env=ENVIRONMENT)
            count, ns, walls[with_layer] = map(float, re.search(r"^own (\S+) (\S+) (\S+)", done.stdout, re.M).groups())
            if with_layer:
                rows = [line for line in lines_of(seen) if line.get("kernel") == "spin"]
                counted, seconds = (sum(row[key] for row in rows) for key in ("count", "seconds"))
        ratios.append(walls[True] / walls[False])
    yield f"own times: {launches + 1} launches, counted {counted}; times {seconds / (ns * 1e-9):.4f} of the program's own, mean {ns / count * 1e-3:.0f} us"
    low, median, high = (sorted(ratios)[i] for i in (rounds // 4, rounds // 2, rounds * 3 // 4))
    yield f"wall time of the launches: {median:.3f} of that without the layer (quartiles {low:.3f} and {high:.3f}, {rounds} rounds in turns, load {os.getloadavg()[1]:.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="for the environment, the scripts, what was captured, and the results")
    parser.add_argument("--only", action="append", help="a program; repeats")
    parser.add_argument("--no-isa", action="store_true", help="leaves out the registers")
    parser.add_argument("--seconds", type=float, default=120, help="for the run of a kernel file; default 120")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    results = out / "results.jsonl"
    python = install(out, arguments.only)
    commands = dict(programs(out, python, arguments.only))

    def once(part, name, act):
        if any((line["part"], line["program"]) == (part, name) for line in lines_of(results)):
            return
        begin = time.monotonic()
        row, misses = act()
        with results.open("a") as to:
            print(json.dumps({"part": part, "program": name, "row": row, "misses": misses, "seconds": round(time.monotonic() - begin),
                              "load": os.getloadavg()[2]}), file=to)
    for name, command in commands.items():
        once("proofs", name, lambda: proofs(name, command, out, arguments.seconds))
    for name in () if arguments.no_isa else commands:
        once("isa", name, lambda: isa(name, out))

    total, all_misses = collections.Counter(), []
    columns = ["kernels", "files", "changed", "proved", *([] if arguments.no_isa else ["text", *TARGETS])]
    print(f"{'program':24}", *(f"{column:>8}" for column in columns))
    for name in commands:
        lines = [line for line in lines_of(results) if line["program"] == name]
        row = sum((collections.Counter(line["row"]) for line in lines), collections.Counter())
        total += row
        all_misses += [(name, *miss) for line in lines for miss in line["misses"]]
        print(f"{name:24}", *(f"{row[column]:8}" for column in columns))
    print(f"{'all':24}", *(f"{total[column]:8}" for column in columns))
    for miss in all_misses:
        print("  " + "  ".join(miss))
    for launches, iterations in ((500, 300), (5000, 5)) if not arguments.only or "own-times" in arguments.only else ():
        for line in own_times(python, out, launches, iterations):
            print(line, flush=True)
    columns_that_count = {"proved": "changed"} | ({} if arguments.no_isa else dict.fromkeys(TARGETS, "text"))
    return 0 if all(total[column] >= 0.95 * total[of] for column, of in columns_that_count.items()) else 1


if __name__ == "__main__":
    sys.exit(main())
