#!/usr/bin/env python3
"""Vendor-library peers of the studies, on a CUDA device: times by CUDA events, random data, medians of 20.

Prints one JSON object: cuBLAS saxpy at 1 GiB an array, cuBLAS FP32 matrix products without TF32 from 1024^3 to
8192^3, and PyTorch's batch norm in training (forward) at 128x256x56x56. Needs torch and cupy; run it right before or after the same families
of cllab on the same device.
"""
import json
import statistics

import cupy
import torch
from cupy_backends.cuda.libs import cublas


def seconds(work, repeats=20, warm=5):
    for _ in range(warm):
        work()
    times = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def saxpy(n):
    x, y = cupy.random.random(n, dtype=cupy.float32), cupy.random.random(n, dtype=cupy.float32)
    alpha = cupy.array(1.5, dtype=cupy.float32).get()
    handle = cupy.cuda.device.get_cublas_handle()

    def work():
        # The event pair is on torch's current stream, the legacy default one; cuBLAS is put on the same.
        cublas.setStream(handle, 0)
        cublas.saxpy(handle, n, alpha.ctypes.data, x.data.ptr, 1, y.data.ptr, 1)

    t = seconds(work)
    return {"seconds": t, "bytes_per_second": 12 * n / t}


def sgemm(n):
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = torch.rand(n, n, device="cuda"), torch.rand(n, n, device="cuda")
    out = torch.empty(n, n, device="cuda")
    t = seconds(lambda: torch.matmul(a, b, out=out))
    return {"seconds": t, "flops_per_second": 2 * n**3 / t}


def batchnorm(shape):
    x = torch.rand(shape, device="cuda")
    norm = torch.nn.BatchNorm2d(shape[1]).cuda().train()
    with torch.no_grad():
        t = seconds(lambda: norm(x))
    return {"seconds": t}


if __name__ == "__main__":
    print(json.dumps({"device": torch.cuda.get_device_name(), "saxpy_1GiB": saxpy(1 << 28), **{f"sgemm_{n}": sgemm(n) for n in (1024, 2048, 4096, 8192)},
                      "batchnorm_128x256x56x56": batchnorm((128, 256, 56, 56))}, indent=2))
