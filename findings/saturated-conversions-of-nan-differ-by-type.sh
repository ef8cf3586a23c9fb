#!/usr/bin/env bash
# Software: intel-opencl-rt 2026.2.0 (PyPI, with intel-cmplr-lib-rt 2026.2.0 and tbb 2023.2.0) on a Xeon with AVX-512; rusticl 22.3.6 on llvmpipe and
#           PoCL 3.1 (Debian 12); pyopencl 2026.1. Run 2026-11-29.
# Question: what do convert_T_sat(NaN) and its forms _rte, _rtz, _rtp, _rtn give? The language asks for 0.
# Guess:    0 in all of them, or, where a runtime forgets NaN, the same wrong value in all.
# Seen:     PoCL: 0 in all 40. Intel: 0, but for convert_uint_sat and convert_uint_sat_rtz, which give 4294967295; convert_uint_sat_rte,
#           _rtp and _rtn give 0. rusticl: 0 for 8 and 16 bits; for int and long the smallest number, for uint and ulong
#           the largest one, in all five forms. All other values, also infinities, are right everywhere.
# So:       a NaN becomes a bright pixel, or index 4294967295, by the type and the rounding in the name. Test for NaN before.
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
python3 -m venv venv && venv/bin/pip install -q pyopencl==2026.1
venv/bin/pip download -q --no-deps --only-binary=:all: -d wheels intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 tbb==2023.2.0
mkdir lib vendors; for wheel in wheels/*.whl; do python3 -m zipfile -e "$wheel" unpacked; done
find unpacked -type f \( -name '*.so*' -o -name '*.rtl' -o -name '*.o' -o -name cl.cfg \) -exec cp -n {} lib/ \;
echo "$work/lib/libintelocl.so" >vendors/intel.icd
apt-get download -q mesa-opencl-icd=22.3.6-1+deb12u2 >/dev/null 2>&1 && dpkg -x mesa-opencl-icd_*.deb mesa &&
    find "$work/mesa" -name 'libRusticlOpenCL.so.1*' | head -1 >vendors/rusticl.icd
cat >nan.py <<'P'
import sys
import numpy as np
import pyopencl as cl
TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16,
         "int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
seen = {}
for platform in cl.get_platforms():
    for device in platform.get_devices():
        context = cl.Context([device])
        queue = cl.CommandQueue(context)
        for name, kind in TYPES.items():
            for mode in ("", "_rte", "_rtz", "_rtp", "_rtn"):
                text = f"kernel void one(global {name}* out, float x) {{ *out = convert_{name}_sat{mode}(x); }}"
                out = np.zeros(1, kind)
                buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
                cl.Program(context, text).build().one(queue, (1,), None, buffer, np.float32(np.nan))
                cl.enqueue_copy(queue, out, buffer)
                if out[0] != 0:
                    seen.setdefault(platform.name, {})[name + mode] = int(out[0])
print(seen)
intel = {"uint": 4294967295, "uint_rtz": 4294967295}
ends = {"int": -2**31, "uint": 2**32 - 1, "long": -2**63, "ulong": 2**64 - 1}
rusticl = {name + mode: value for name, value in ends.items() for mode in ("", "_rte", "_rtz", "_rtp", "_rtn")}
sys.exit(seen.get("Intel(R) OpenCL") != intel or ("rusticl" in [p.name for p in cl.get_platforms()] and seen.get("rusticl") != rusticl))
P
PYOPENCL_NO_CACHE=1 RUSTICL_ENABLE=llvmpipe OCL_ICD_VENDORS=$work/vendors venv/bin/python -W ignore nan.py || exit 1
echo "still so: whether NaN saturates to 0 depends on the type and on the rounding that is named"
