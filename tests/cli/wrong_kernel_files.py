"""What is wrong with a kernel file, and the one sentence that each fault ends with: the table that test_kernel_file_faults.py goes through."""
import struct

SCALE = """__kernel void scale(__global const float* src, __global float* dst, float f, int n) {
    const int i = get_global_id(0);
    if (i < n) dst[i] = f * src[i];
}
"""
BLOCK = """/*cllab
axis n = 256
arg src = rand:n
arg dst = out:n
arg f = 0.5
arg n = n
global n
*/
"""
STRUCTS = "typedef struct { int n; float f; } Pair;\n__kernel void k(__global Pair* v) { v[get_global_id(0)].n += 1; }\n"
TYPES = """typedef struct { int n; float f; } Pair;
__kernel void take(__global float4* v, __local int* part, uchar small, float4 four, Pair pair) { v[get_global_id(0)] = four * pair.f; }
"""
PICTURE = """__kernel void look(read_only image2d_t src, write_only image2d_t dst, sampler_t s) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(dst, at, read_imagef(src, s, at));
}
"""


def npy(descr, shape, data, order="False"):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def replaced(old, new):
    """The good block with one line changed; the file is t.cl and the line is what the sentence names."""
    assert old in BLOCK
    text = BLOCK.replace(old, new, 1) + SCALE
    return text, f"t.cl:{1 + BLOCK[:BLOCK.index(old)].count(chr(10)) + new.count(chr(10))}:"


# Files that the faults name.
DATA = {"seven.bin": b"\1\2\3\4\5\6\7", "empty.bin": b"", "ints.npy": npy("<i4", "(4,)", bytes(16)), "cut.npy": npy("<f4", "(64,)", bytes(16)),
        "big_endian.npy": npy(">f4", "(4,)", bytes(16)), "fortran.npy": npy("<f4", "(2, 2)", bytes(16), "True"),
        "complex.npy": npy("<c8", "(2,)", bytes(16)), "small.npy": npy("<f4", "(4,)", bytes(16))}

# What is wrong, the text of t.cl, more arguments, and what the sentence holds.
WRONG = [(f"line {new!r}", *replaced(old, new)[:1], [], [replaced(old, new)[1], *parts]) for old, new, parts in [
    ("axis n = 256", "axs n = 256", ["'axs'", "did you mean axis"]),
    ("axis n = 256", "axis = 256", ["'axis'", "NAME = VALUES"]),
    ("axis n = 256", "axis n 256", ["NAME = VALUES"]),
    ("axis n = 256", "axis n =", ["NAME = VALUES"]),
    ("axis n = 256", "axis n = 256,256", ["256", "twice"]),
    ("axis n = 256", "axis n = 1:9", ["1:9"]),
    ("axis n = 256", "axis n = 9:1:+1", ["ends before it starts"]),
    ("axis n = 256", "axis n = 256;512", ["256;512"]),
    ("global n", "global n\nglobal n", ["'global' is given twice"]),
    ("global n", "global n\nwhere", ["'where' is empty", "where tile % local == 0"]),
    ("global n", "global n\nwhere n % 16", ["'n % 16' is not a comparison"]),
    ("global n", "global n\nwhere n = 256", ["an operator or the end", "'= 256'"]),
    ("global n", "global n\nwhere n == 256 &&", ["a number, a name or '('", "the end"]),
    ("global n", "global n\nwhere tile == 1", ["'tile' is not defined", "known names are"]),
    ("global n", "global n\nwhere n % 0 == 1", ["division by zero"]),
    ("global n", "global n\nwhere n * 0.3 > 1", ["'0.3' is not a whole number"]),
    ("global n", "global n\nwhere n > 256", ["no points left", "excludes the only point"]),
    ("arg src = rand:n", "arg src = rand:n<4", ["an operator or the end", "'<4'"]),
    ("arg src = rand:n", "arg src rand:n", ["NAME = VALUE", "'src rand:n'"]),
    ("arg src = rand:n", "arg srcc = rand:n", ["'srcc'", "did you mean src"]),
    ("arg src = rand:n", "arg src = rnd:n", ["'rnd'", "did you mean rand"]),
    ("arg src = rand:n", "arg src = rand:m", ["'m'", "axis m = 1024"]),
    ("arg src = rand:n", "arg src = rand:n*", ["a number, a name or '('", "the end"]),
    ("arg src = rand:n", "arg src = rand:(n", ["')'"]),
    ("arg src = rand:n", "arg src = rand:n)", ["an operator or the end", "')'"]),
    ("arg src = rand:n", "arg src = rand:n/0", ["division by zero"]),
    ("arg src = rand:n", "arg src = rand:n-256", ["length of 'src' is 0"]),
    ("arg src = rand:n", "arg src = rand:-n", ["length of 'src' is -256"]),
    ("arg src = rand:n", "arg src = rand:n*4Gi*4Gi", ["63 bits"]),
    ("arg src = rand:n", "arg src = rand:1Xi", ["'1Xi'", "4Ki"]),
    ("arg src = rand:n", "arg src = rand:ceil(n)", ["ceil takes one quotient"]),
    ("arg src = rand:n", "arg src = rand:min(n)", ["min takes at least two"]),
    ("arg src = rand:n", "arg src = rand:sqrt(n)", ["unknown function 'sqrt'"]),
    ("arg src = rand:n", "arg src = rand:n,n", ["one length", "2"]),
    ("arg src = rand:n", "arg src = rand:n:0", ["no bounds or two"]),
    ("arg src = rand:n", "arg src = normal:n:0", ["'normal' takes no mean and deviation or both"]),
    ("arg src = rand:n", "arg src = normal:n:0:-1", ["deviation of 'src' is -1; it must be at least 0"]),
    ("arg src = rand:n", "arg src = perm:n:4", ["'perm' takes a length only"]),
    ("arg src = rand:n", "arg src = zero:n:4", ["'zero' takes a length only"]),
    ("arg src = rand:n", "arg src = const", ["'const' takes a value and a length"]),
    ("arg src = rand:n", "arg src = const:1:n:4", ["'const' takes a value and a length"]),
    ("arg src = rand:n", "arg src = offsets:n", ["'offsets' takes a length and the last offset"]),
    ("arg src = rand:n", "arg src = offsets:n:9", ["'offsets:n:9' does not fit 'src', whose elements of type float are not integers"]),
    ("arg src = rand:n", "arg src = onehot:n:7", ["are 256, not a multiple of the row length 7"]),
    ("arg src = rand:n", "arg src = onehot:n:0", ["the last number in 'onehot:n:0' of 'src' is 0; it must be at least 1"]),
    ("arg src = rand:n", "arg src = text:n", ["are not bytes"]),
    ("arg src = rand:n", "arg src = rand:int:n", ["'src'", "const float*", "int"]),
    ("arg src = rand:n", "arg src = rand:rgba8:n", ["'rgba8' is an image format"]),
    ("arg src = rand:n", "arg src = out:n", ["'src'", "because it is const"]),
    ("arg src = rand:n", "arg src = 3", ["'src'", "__global const float*", "'3'"]),
    ("arg src = rand:n", "arg src = local:n", ["'src'", "'local:n'"]),
    ("arg src = rand:n", "arg src = sampler:linear", ["'src'"]),
    ("arg src = rand:n", "arg src = svm:n", ["'svm' takes the value of a buffer, as in svm:rand:1024 or svm:out:1024; found 'n'"]),
    ("arg src = rand:n", "arg src = svm", ["'svm' takes the value of a buffer", "found ''"]),
    ("arg src = rand:n", "arg src = svm:rnd:n", ["'rnd'", "did you mean rand"]),
    ("arg f = 0.5", "arg f = svm:rand:4", ["'f'", "of type float"]),
    ("arg src = rand:n", "arg src = const", ["a value and a length"]),
    ("arg dst = out:n", "arg dst = same:f", ["argument 'dst' of kernel 'scale' is 'same:f'; expected one of src"]),
    ("arg dst = out:n", "arg dst = same:", ["'same' takes the name of another argument, as in same:src; found ''"]),
    ("arg src = rand:n", "arg src = file:absent.bin", ["absent.bin", "No such file"]),
    ("arg src = rand:n", "arg src = file:", ["takes a file"]),
    ("arg src = rand:n", "arg src = file:seven.bin", ["7 bytes", "4 bytes"]),
    ("arg src = rand:n", "arg src = file:empty.bin", ["is empty"]),
    ("arg src = rand:n", "arg src = npy:seven.bin", ["not a valid .npy"]),
    ("arg src = rand:n", "arg src = npy:ints.npy", ["has int elements", "const float*"]),
    ("arg src = rand:n", "arg src = inout:rand:n", ["give a buffer that the kernel reads and writes its initial data, as in zero:n or rand:n"]),
    ("arg src = rand:n", "arg src = npy:cut.npy", ["(64,)"]),
    ("arg src = rand:n", "arg src = npy:big_endian.npy", ["'>f4'"]),
    ("arg src = rand:n", "arg src = npy:fortran.npy", ["Fortran order"]),
    ("arg src = rand:n", "arg src = npy:complex.npy", ["'<c8'"]),
    ("arg src = rand:n", "arg src = image:seven.bin", ["seven.bin", "PNG"]),
    ("arg src = rand:n", "arg src = image:", ["takes a picture"]),
    ("arg src = rand:n", "arg src = rand:n\narg src = rand:n", ["'src' is given twice"]),
    ("arg f = 0.5", "arg f = nan", ["'nan' is not finite"]),
    ("arg f = 0.5", "arg f = 1,2", ["one value", "2"]),
    ("arg f = 0.5", "arg f = rand:4", ["'f'", "of type float"]),
    ("arg n = n", "arg n = 0.5", ["'n'", "of type int", "'0.5'"]),
    ("arg n = n", "arg n = 4Gi", ["4294967296", "int"]),
    ("arg src = rand:n", "arg src = rand:n:0:1e300", ["1e+300", "float"]),
    ("arg src = rand:n", "arg src = const:1e300:n", ["1e+300", "float"]),
    ("arg n = n", "arg n = n\nsame scale", ["two names or more"]),
    ("arg n = n", "arg n = n\nsame scale, other", ["'other'", "scale"]),
    ("arg n = n", "arg n = n\ntolerance relative=nan", ["'nan'", "at least 0"]),
    ("arg n = n", "arg n = n\ntolerance relative=-1", ["'-1'"]),
    ("arg n = n", "arg n = n\ntolerance close=1", ["absolute=X, relative=X or ulp=X"]),
    ("arg n = n", "arg n = n\ntolerance", ["absolute=X"]),
    ("arg n = n", "arg n = n\nwork bytes", ["bytes=EXPRESSION"]),
    ("arg n = n", "arg n = n\nwork joules=3", ["'joules=3'"]),
    ("arg n = n", "arg n = n\nexpect dst = small.npy", ["'src' is random"]),
    ("arg n = n", "arg n = n\nexpect src = small.npy", ["never writes"]),
    ("arg n = n", "arg n = n\nexpect gone = small.npy", ["'gone'", "src, dst, f, n"]),
    ("arg n = n", "arg n = n\nreference nobody", ["'nobody'", "scale"]),
    ("arg n = n", "arg n = n\nkernel other", ["'other'", "scale"]),
    ("arg n = n", "arg n = n\nkernel", ["name of a kernel"]),
    ("arg n = n", "arg n = n\noptions TILE=16", ["must begin with '-'", "'TILE=16'"]),
    ("arg n = n", "arg n = n\nvariant fast", ["NAME = VALUE"]),
    ("arg n = n", "arg n = n\nvariant fast = TILE=3", ["must begin with '-'"]),
    ("arg n = n", "arg n = n\nextends nowhere", ["include folder 'nowhere' not found"]),
    ("arg n = n", "arg n = n\ninclude nowhere.h", ["include file 'nowhere.h' not found"]),
    ("arg n = n", "arg n = n\ninclude", ["include types.h"]),
    ("global n", "global n,n,n,n", ["at most three"]),
    ("global n", "global 0", ["global size 0 is 0", "at least 1"]),
    ("global n", "global n*1Gi*16", ["more than 1099511627776 work-items"]),
    ("global n", "global", ["'global' is empty"]),
    ("global n", "global n\nlocal 100", ["256", "100", "ceil(n / 100) * 100"]),
    ("global n", "global n\nlocal 16,16", ["local has 2 dimensions, but global has 1"]),
    ("global n", "global n\noffset 1,1", ["offset has 2 dimensions"]),
]]
WRONG += [
    ("a word in an expression", BLOCK.replace("axis n = 256", "axis n = big") + SCALE, [], ["t.cl:", "'n' is 'big'"]),
    ("an axis that nothing uses", BLOCK + SCALE, ["t.cl", "-a", "m=4"], ["--axis", "'m'", "its axes are n"]),
    ("open block", "\n/*cllab\naxis n = 4\n" + SCALE, [], ["t.cl:2:", "not closed"]),
    ("no kernel", "int nothing(int a) { return a; }\n", [], ["t.cl", "no function is __kernel"]),
    ("control character", BLOCK.replace("arg f", "arg\x01 f") + SCALE, [], ["t.cl:5:", "control character"]),
    ("absent", None, ["absent.cl"], ["absent.cl", "No such file"]),
    ("no such kernel", BLOCK + SCALE, ["t.cl:skale"], ["t.cl:skale", "scale"]),
    ("beside a family", BLOCK + SCALE, ["t.cl", "muladd_fma"], ["muladd_fma"]),
    ("option without a file", None, ["muladd_fma", "--arg", "n=3"], ["--arg", "kernel file"]),
    ("bad --arg", BLOCK + SCALE, ["t.cl", "--arg", "f=rnd:3"], ["--arg", "did you mean rand"]),
    ("unknown --arg", BLOCK + SCALE, ["t.cl", "--arg", "weight=3"], ["--arg", "'weight'"]),
    ("bad --tolerance", BLOCK + SCALE, ["t.cl", "--tolerance", "nan"], ["--tolerance"]),
    ("--input", BLOCK + SCALE, ["t.cl", "--input", "src=a.png"], ["--arg NAME=image:FILE"]),
    ("vs itself", BLOCK + SCALE, ["t.cl", "--vs", "scale"], ["--vs"]),
    ("cycle", BLOCK.replace("axis n = 256\n", "").replace("arg n = n", "arg n = m\narg m = n") + SCALE.replace("int n)", "int n, int m)"), [], ["depends on itself"]),
    ("a pointer in a struct", "/*cllab\narg p = {float*:0}\nglobal 1\n*/\n" + TYPES, [], ["t.cl:2:", "must not contain a pointer"]),
    ("a struct's size", "/*cllab\narg v = out:64\narg part = 64\narg small = 1\narg four = 1,2,3,4\narg pair = {int:1}\nglobal 64\n*/\n" + TYPES, [],
     ["t.cl:6:", "Pair", "8 bytes", "4"]),
    ("a struct that is larger", "/*cllab\narg v = out:64\narg part = 64\narg small = 1\narg four = 1,2,3,4\narg pair = {int:1}\nglobal 64\n*/\n" + TYPES, [],
     ["t.cl:6:", "write padding as a field (int:0 is 4 bytes)"]),
    ("lanes with commas", "/*cllab\narg pair = {float2:1,2, int:1}\nglobal 1\n*/\n" + TYPES, [], ["t.cl:2:", "{float3:1:2:3, float:2}", "'2'"]),
    ("an axis that changes a type", "/*cllab\naxis T = float, double\noptions -DT={T}\narg x = out:64\nglobal 64\n*/\n__kernel void k(__global T* x) { x[get_global_id(0)] = 1; }\n",
     [], ["t.cl:3:9:", "'x' of kernel 'k' has 8 bytes per element with T=double and 4 otherwise", "'variant double = -DT=double'"]),
    ("a struct as a number", "/*cllab\narg v = out:64\narg part = 64\narg small = 1\narg four = 1,2,3,4\narg pair = 1\nglobal 64\n*/\n" + TYPES, [], ["t.cl:6:", "{int:1, float:0.5}"]),
    ("odd hex", "/*cllab\narg pair = bytes:012\nglobal 1\n*/\n" + TYPES, [], ["t.cl:2:", "hexadecimal"]),
    ("three lanes of four", "/*cllab\narg v = out:64\narg part = 64\narg small = 1\narg four = 1,2,3\narg pair = {int:1,float:1}\nglobal 64\n*/\n" + TYPES, [], ["t.cl:5:", "1 or 4 values", "3"]),
    ("too large for its type", "/*cllab\narg v = out:64\narg part = 64\narg small = 300\narg four = 1\narg pair = {int:1,float:1}\nglobal 64\n*/\n" + TYPES, [], ["t.cl:4:", "300", "uchar"]),
    ("structs that are counted", "/*cllab\narg v = iota:64\nglobal 64\n*/\n" + STRUCTS, [], ["t.cl:2:", "are not numbers"]),
    ("structs between bounds", "/*cllab\narg v = rand:64:0:1\nglobal 64\n*/\n" + STRUCTS, [], ["t.cl:2:", "are not numbers; write rand:1024 or zero:1024"]),
    ("structs that are a constant", "/*cllab\narg v = const:1:64\nglobal 64\n*/\n" + STRUCTS, [], ["t.cl:2:", "are not numbers; write rand:1024 or zero:1024"]),
    ("data too large for its type", "/*cllab\naxis m = 3, 300\narg v = const:m:64\nglobal 64\n*/\n__kernel void k(__global uchar* v) { v[get_global_id(0)] += 1; }\n", [], ["t.cl:3:", "300", "uchar"]),
    ("image sizes", "/*cllab\narg src = rand:4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "an image2d_t, which takes 2 sizes; found 1"]),
    ("image of three channels", "/*cllab\narg src = rand:rgb8:4,4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:16:", "'rgb8' is not an image format; expected r, rg, rgba or bgra"]),
    ("image format", "/*cllab\narg src = rand:float:4,4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "not an image format"]),
    ("read from an output", "/*cllab\narg src = out:4,4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "'src'"]),
    ("sampler word", "/*cllab\narg s = sampler:smooth\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "'smooth'", "linear"]),
    ("sampler repeats pixels", "/*cllab\narg s = sampler:linear,repeat\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "'repeat'", "'normalized'"]),
    ("format without bits", "/*cllab\narg src = rand:rgba:4,4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "'rgba'", "rgba8ui"]),
    ("format of one channel", "/*cllab\narg src = rand:a8:4,4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "'a8'", "rgba8ui"]),
    ("device-side enqueue", "__kernel void k(__global int* d) {\n    enqueue_kernel(get_default_queue(), 0, ndrange_1D(1), ^{ d[0] = 1; });\n}\n", ["--global", "1"], ["t.cl:2:5:", "device-side enqueue"]),
    ("a format of depth images", "/*cllab\narg src = rand:depth32f:4,4\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "is an image2d_t; format depth32f does not fit it"]),
    ("a sampler that is NULL", "/*cllab\narg s = null\nglobal 4,4\n*/\n" + PICTURE, [], ["t.cl:2:", "'s'", "'null' does not fit"]),
]
