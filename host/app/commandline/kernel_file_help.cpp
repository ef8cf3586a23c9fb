// `cllab help kernel-file`: the whole grammar on one page.
#include "app/commandline/command.hpp"

namespace cllab::app {

std::string kernel_file_help() {
    return R"(Your own kernel: `cllab run my.cl`, `cllab run my.cl:kernel`, `cllab run a.cl:one b.cl:two --vs b.cl:two`

The file is compiled as it is; each of its kernels is a variant. `tune`, `dump`, `isa` and `--vs` work as
for cllab's own families. The driver tells the arguments' types. Lines in a comment of the file, lines of
my.cllab beside it, and options set their values; the later of these win. The kernel runs in a child process.

  /*cllab
  axis n = 256, 1024            # a run for each value; -a n=512 gives others
  arg src = rand:n*n            # by name, as in the kernel's parameter list
  arg dst = out:n*n
  arg n = n
  global n,n
  */

Lines (options: --arg src=rand:n*n, --global n,n, --variant fast=-DTILE=32 …); # begins a comment
  axis NAME = VALUES            integers, ranges 1Ki:1Mi:*2 or 1:9:+2, fractions, or words
  axis NAME tune = VALUES       `cllab run` takes the first, `cllab tune` tries all: they must not change the result
  arg NAME = VALUE              see below
  global, local, offset X[,Y[,Z]]   local: default the driver's choice, or the kernel's reqd_work_group_size
  options -DTILE={tile}         build options; {…} is the value of an axis or expression
  variant NAME = OPTIONS        one more variant, by its build options
  extends FOLDER                looks for #include files there too (-I); the file's own folder is always looked in
  work bytes=EXPR flops=EXPR    what a launch must do, for the rates; default: every buffer once
       atomics=EXPR local_bytes=EXPR   for `cllab why`: atomics on global memory, bytes of local memory
       barriers=EXPR chain=EXPR        per work-item: barriers, and global loads that wait for each other
  expect NAME = FILE            the argument must come out equal to FILE: .npy, raw, or a picture
  reference KERNEL              results must equal those of this kernel or variant, also FILE.cl:KERNEL
  tolerance absolute=X relative=X ulp=X   how far results may differ; default: not at all
  kernel NAME                   the lines behind it are about that kernel only

Values
  rand:LENGTH[:LOW:HIGH]  zero:LENGTH  iota:LENGTH  const:VALUE:LENGTH   buffers with data;
                                                                         rand is 0 to 1, integers 0 to 255
  file:PATH  npy:PATH  image:PATH[:FORMAT]                               raw bytes, NumPy, a picture as grey levels
  out:LENGTH                                                             a buffer that the kernel writes
  TYPE or FORMAT before the length where the kernel does not say it: out:uchar:w*h, rand:rgba8:w,h
  images: W[,H[,D]] for the length; formats r8 r8ui r32f rgba8 rgba8ui rgba32f; sampler:linear,edge,normalized
  local:LENGTH             a __local pointer, in its elements
  3, n*n/2, 0.5, 1,2,3,4   scalars and vectors: expressions, fractions, one value per lane
  {int:w, float:0.5}       a struct by its fields, laid out as in C; bytes:0100a0ff for any other
  Lengths count elements of the kernel's type. Expressions: whole numbers (4Ki), axes, scalar arguments, + - * / % ( ),
  min, max, and ceil(a / b). A buffer that has data and is not const is given anew at each verification and checked too.

What a result is checked by, from the surest to the least, stands in the table and in the record:
  file NAME        equal to the expected file
  reference NAME   equal to the reference kernel, for two random inputs
  agreement of N   N variants leave the same, for two random inputs
  only itself      every launch leaves the same; nothing says that it is right
)";
}

}  // namespace cllab::app
