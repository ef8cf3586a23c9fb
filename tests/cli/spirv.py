"""A SPIR-V module by hand, for tests where nothing that makes one is installed."""
import struct


def text(name):
    data = name.encode() + b"\0"
    return struct.unpack(f"<{(len(data) + 3) // 4}I", data.ljust((len(data) + 3) // 4 * 4, b"\0"))


def module(*instructions, bound=64):
    """Each instruction is its number and its words."""
    words = [0x07230203, 0x10000, 0, bound, 0]
    for number, *operands in instructions:
        words += [(len(operands) + 1) << 16 | number, *operands]
    return struct.pack(f"<{len(words)}I", *words)


GLOBAL, INPUT, KERNEL = 5, 1, 6


def scale(named=True, model=KERNEL):
    """kernel void scale(global float* out, global const float* in, float s) { out[get_global_id(0)] = s * in[get_global_id(0)]; }"""
    names = [(5, 20, *text("out")), (5, 21, *text("in")), (5, 22, *text("s"))] if named else []
    return module(
        (17, 4), (17, 5), (17, 6), (17, 11), (14, 2, 2), (15, model, 10, *text("scale"), 5), *names,
        (71, 5, 11, 28), (71, 5, 22), (71, 5, 41, *text("__spirv_BuiltInGlobalInvocationId"), 1), (71, 21, 38, 6),
        (21, 1, 64, 0), (23, 2, 1, 3), (32, 3, INPUT, 2), (19, 4), (22, 6, 32), (32, 7, GLOBAL, 6), (33, 8, 4, 7, 7, 6), (59, 3, 5, INPUT),
        (54, 4, 10, 0, 8), (55, 7, 20), (55, 7, 21), (55, 6, 22), (248, 30),
        (61, 2, 31, 5, 2, 16), (81, 1, 32, 31, 0), (70, 7, 33, 21, 32), (61, 6, 34, 33, 2, 4), (133, 6, 35, 34, 22), (70, 7, 36, 20, 32), (62, 36, 35, 2, 4),
        (253,), (56,))
