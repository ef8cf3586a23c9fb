// `cllab help kernel-file`: the whole grammar on one page.
#include "app/commandline/topics.hpp"

namespace cllab::app {
namespace {

constexpr const char* page = R"(Your own kernel

  cllab run my.cl                           each kernel is a variant; my.cl:kernel is one
  cllab run my.spv                          SPIR-V, or .ptx, .poclbin …, where the driver takes it
  cllab run a.cl:one b.cl:two --vs b.cl:two

The file is compiled as it is, in a child process. `tune`, `dump`, `isa`, `why` and `--vs` work as
for cllab's own families. The driver tells the arguments' types; without names they are arg0, arg1 …
Values come from lines in a comment of the file, my.cllab beside it, and options. The later wins.

  /*cllab
  axis n = 256, 1024            # a run for each value; -a n=512 gives others
  arg src = rand:n*n            # by name, as in the kernel's parameter list
  arg dst = out:n*n
  arg n = n
  global n,n
  */

Lines (options: --arg src=rand:n*n, --global n,n, --variant fast=-DTILE=32 …); # begins a comment
  axis NAME = VALUES            integers, ranges 1Ki:1Mi:*2 or 1:9:+2, fractions, or words
  axis NAME tune = VALUES       `run` takes the first, `tune` tries all; the result must not change
  where CONDITION               leaves out points that break it: where tile % local == 0 && tile < n
  arg NAME = VALUE              see below
  global, local, offset X[,Y[,Z]]
                                local: default the driver's choice, or reqd_work_group_size
  options -DTILE={tile}         build options; {…} is the value of an axis or expression
  variant NAME = OPTIONS        one more variant, by its build options
  extends FOLDER, include FILE  looks for #include files there too (-I); #includes FILE in front
  work bytes=EXPR flops=EXPR    what a launch must do, for the rates; default: every buffer once
       atomics=EXPR local_bytes=EXPR barriers=EXPR chain=EXPR
                                for `why`; per work-item: barriers, and loads that wait in turn
  expect NAME = FILE            the argument equals FILE (.npy, raw, picture), or stays `unchanged`
  may leave NAME                it may come out as it was given: a search without a hit
  reference KERNEL              results must equal those of this kernel, also FILE.cl:KERNEL
  same NAME, NAME               these must leave the same, as variants of one kernel always must
  differ NAME, NAME             these may leave something else each. Other kernels of the file that
                                do, with the same buffers and data and no proof, are `disagree`
  relation RELATION             results must hold it; see below
  tolerance absolute=X relative=X ulp=X
                                how far results may differ; default: not at all. Whole numbers
                                beside floating-point ones are exact but for absolute=1 and more
  only KERNEL                   the one that FILE.cl alone means; FILE.cl:NAME is any
  kernel NAME                   the lines behind it are about that kernel only (--arg NAME:src=…)
  sequence NAME = KERNEL, …     several kernels as one operation: `cllab help sequences`

Values
  rand:LENGTH[:LOW:HIGH]        random data; 0 to 1, integers 0 to 255. Also sorted, normal, perm …
  zero:LENGTH  iota:LENGTH  const:VALUE:LENGTH     zeros; 0, 1, 2 …; one value
  file:PATH  npy:PATH  image:PATH[:FORMAT]
                                raw bytes, NumPy, a picture as grey levels
  out:LENGTH  same:ARGUMENT     a buffer that the kernel writes; the buffer of another argument
  TYPE or FORMAT before the length where the kernel does not say it: out:uchar:w*h, rand:rgba8:w,h
  images: W[,H[,D]] for the length; formats r8, rg32f, rgba8ui …: `cllab help data`
  sampler:linear,edge,normalized
  local:LENGTH                  a __local pointer, in its elements
  3, n*n/2, 1/64, 1,2,3,4       scalars and vectors: expressions, one value per lane
  {int:w, float:0.5}            a struct by its fields, laid out as in C; else bytes:0100a0ff
Lengths count elements of the kernel's type. Expressions: numbers (4Ki, 0.5), axes, scalar
arguments, + - * / % << >> ( ), min, max, ceil(a / b), len(ARGUMENT). They are evaluated in floating
point for floating-point arguments and data, else in whole numbers, where / rounds down. A buffer
that has data and is not const is given anew at each verification and checked too.

What a file leaves out is guessed, by small launches in Oclgrind, names and text, and printed as a
block. --write-block keeps it in my.cllab. What you say wins. Data with a meaning is asked for:
starts of rows, positions, counts.

What a result is checked by, from the surest; the table and the record say it (`cllab help proof`):
  file NAME           equal to the expected file
  reference NAME      equal to the reference kernel, of other code, for two random inputs
  reference command   equal to what --reference-command leaves, for two random inputs
  agreement of N      N variants or kernels with different code leave the same, for two inputs
  agrees with DEVICE  the same text and data leave the same there (--check), for two inputs
  relation RELATION   it holds, for two inputs
  only itself         every launch leaves the same; nothing says that it is right. Behind others
                      `only itself (z)`: of result z nothing does. one input: of the first alone
)";

constexpr const char* proof = R"(Proof of your own kernels, by something other than themselves

Without any, a warning says so. A row that has several names the surest first.

  expect NAME = FILE, reference KERNEL    lines of the file, see `cllab help kernel-file`

  cllab run my.cl --reference-command 'python3 ref.py'
sh runs the command in the current folder, for at most --timeout. It finds what goes in as NAME.npy
in the folder $CLLAB_REFERENCE_DIR, which is also $1. Buffers have one dimension, images (height,
width), scalars none. The lanes of a vector and the bytes of a struct are one more. It leaves each
result as NAME.npy there, with elements of the kernel's type. What goes in and comes out is written
anew.
A file cannot name a command: no file may run programs.

  import os, numpy as np
  os.chdir(os.environ["CLLAB_REFERENCE_DIR"])
  np.save("dst.npy", np.load("src.npy") + 1)

  cllab run my.cl --check device=1:0
Runs the same text with the same data there too. --check alone takes Oclgrind, else another CPU
device. Where the size takes Oclgrind more than 10 s, it gets about 1024 work-items. Where results
differ, nothing says which device is right unless a reference does. `--check oclgrind` looks for
races and accesses outside.

Lines of the file, or --relation:
  relation same under permute x     the results stay the same when the elements of x change places:
                                    sums, histograms, sorts; `permute x, y`: both in the same way
  relation linear in x              k(2a + b) = 2 k(a) + k(b), with small whole a and b in x:
                                    filters, transposes, matrix products, FFTs; of these a sequence
                                    with the inverse and `expect x = unchanged` proves more. What is
                                    nan or inf breaks it, and zeros alone prove nothing
  relation sum of y preserved from x
                                    the elements of y add up to those of x: scatters, transposes
  relation sum of y is EXPRESSION   they add up to it: `sum of bins is n` for a histogram
  relation any order of y           no proof: sorts y, as an atomic counter may pick the slots;
                                    `keys, values`: rows of both; `points / 3`: rows of 3 arrays
A relation proves less than a result does: many wrong kernels hold it too. Beside a `reference`,
only sums are tried. Floating-point results that differ by rounding get the tolerance that would do.
)";

constexpr const char* sequences = R"(Sequences: several kernels of a file as one operation

  /*cllab
  axis n = 4Ki
  arg keys = rand:n:0:255        # one buffer for all kernels that have an argument of this name
  arg bins = zero:256
  arg sorted = out:n
  global n
  kernel scan
  global 1                       # each kernel has its own sizes and scalars
  sequence sort = count, scan, scatter
  reset bins
  */

  cllab run my.cl                sequences, and kernels that stand in none
  cllab run my.cl:sort           one of them
  cllab run my.cl:sort --steps   also the time of each kernel
  cllab isa my.cl:sort -t sm_80  the code of each kernel

A sequence is a variant like a kernel: it is proved, timed and compared as a whole. It runs in one
queue, each kernel after the one before. Its time is from the start of the first kernel to the end
of the last. Its code is the same when that of each kernel is.

Lines (in the file or my.cllab)
  sequence NAME = KERNEL, KERNEL …
                                 in this order; a kernel may stand there more than once. The lines
                                 behind it are about the sequence and win over those of its kernels:
                                 arg, expect, reference (a kernel or a sequence), relation, work …
  repeat N                       runs the list N times in one operation. `rep` is the number of the
                                 repetition, from 0, in sizes and scalars: arg distance = 1 << rep
  swap A B                       two buffers change places after each repetition
  reset A, B                     they hold their data again when an operation begins, outside of its
                                 time
  reset each A, B                the same before each repetition, by a copy on the device within the
                                 time; `--steps` has a row for it
  kernel NAME = KERNEL           the kernel under another name in the list, with lines of its own
  arg PARAMETER = BUFFER         the parameter of this kernel is that buffer

  kernel last = reduce           # the second pass of a reduction
  arg src = partial
  arg dst = total
  global n / 256
  sequence sum = reduce, last

Every buffer and image has an `arg` line. One that goes in and is written holds after an operation
what the kernels left, and the next operation goes on from there, unless `reset` names it. Scalars
are not written for --reference-command. `work` is that of the whole sequence; default: every buffer
of each launch once. `count` and `why` say what one launch of each kernel executes; `ncu` takes one
kernel.
)";

constexpr const char* data = R"(Data: what an argument of a kernel file is given

  arg x = rand:4096:-1:1         each element anew for each seed; two seeds prove a kernel

Random data (TYPE or FORMAT before the length where the kernel does not say it)
  rand:LENGTH[:LOW:HIGH]         uniform: floating point LOW <= x < HIGH, else LOW <= x <= HIGH;
                                 default 0 to 1, integers 0 to 255
  sorted:LENGTH[:LOW:HIGH]       the same in ascending order: searches, merges
  normal:LENGTH[:MEAN:DEVIATION] Gaussian; default 0 and 1
  perm:LENGTH                    0 to LENGTH - 1, each once: gathers, linked lists
  rand:LENGTH:0:len(ARGUMENT)-1  positions within another buffer, perhaps the same twice
  powers:LENGTH                  1, 2, 4 or 8 of either sign: 2Mi floats sum exactly in any order
  onehot:LENGTH:WIDTH            in each row of WIDTH elements one 1
  offsets:LENGTH:LAST            0, rising to LAST: where the rows of a sparse matrix begin
  csr:ROWS:COLUMNS:NONZEROS      sparse matrix, `arg row, column, value = csr:…`: row gets offsets,
                                 column positions below COLUMNS, value random numbers
  text:LENGTH                    words of small letters, in bytes

Packed data: a type before the length, of inputs and of outputs
  rand:bf16:LENGTH               bfloat16 in ushort; `tolerance ulp=X` counts its own steps
  rand:nibble:LENGTH             numbers of 4 bits, two per byte, the first in its lower half

Arrays of structs: a rule for each field, as above but without the length
  arg p = fields:n:{position:rand:-1:1, mass:1, id:iota}
                                 by the names in the text; a field without a rule is random. Where
                                 the struct has macros or structs in it, with all of their types:
                                 fields:n:{float3 position:rand:-1:1, float mass:1, int id:iota},
                                 or without names {float3:rand:-1:1, float, int:iota}:n
  Results are compared field by field: floats with the tolerance, integers exactly, padding never.

Where buffers lie
  arg dst = same:src             where src does, as when a host passes a buffer twice; src says the
                                 length and the data. Results call it dst, which the kernel writes.
  arg y = part:x:64Ki:4Ki        a sub-buffer: 4Ki elements of x from its element 64Ki on. x is an
                                 argument too, or only has a line, as arg x = zero:float:1Mi
  svm:rand:n  svm:out:n          in shared virtual memory: the kernel gets a pointer of clSVMAlloc
Other data: `cllab help kernel-file`. Pictures are PNG, PGM or PPM; ImageMagick converts others.

Images: W, or W,H or W,H,D for the length; the last of an array's counts its layers.
  rand:rgba16f:640,480           a format is the channels r, rg, rgba or bgra, the bits of each
                                 (8, 16, 32), and what a kernel reads them as:
                                   nothing    0 to 1         r8 rg16 bgra8
                                   s          -1 to 1        rgba8s
                                   i, ui      whole numbers  r32i rgba8ui
                                   f          floats         r32f rgba16f
  file:rgba8:640,480:FILE        raw pixels, row by row, or .npy
                                 Default: rgba8; rgba8ui where the text has read_imageui or
                                 write_imageui, rgba32i where it has read_imagei or write_imagei.
  Depth images have the formats depth16 and depth32f, an image1d_buffer_t one length. A read_write
  image is given data and is checked afterwards, as a buffer that is not const. What a device lacks
  is `unsupported`, with the list of what it has.
)";

}  // namespace

std::string data_help() { return data; }

std::string kernel_file_help() { return page; }

std::string sequences_help() { return sequences; }

std::string proof_help() { return proof; }

}  // namespace cllab::app
