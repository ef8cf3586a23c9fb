#include "app/commandline/topics.hpp"

#include "core/text.hpp"
#include "report/table/columns.hpp"
#include "report/table/layout.hpp"

namespace cllab::app {

const std::vector<ExitStatus> exit_statuses{
    {0, "every cell is ok or unsupported; report: there is a record"},
    {1, "a cell is wrong, or did not build, launch or end"},
    {2, "the command line or an input file is wrong, or nothing matched"},
    {3, "no platform, no such device, a lost device, or a file that cannot be written"},
    {4, "regress: something is slower than the threshold allows, or gives other results; isa: code is worse"},
    {5, "regress, isa: something cannot be compared; regress: leans beyond the threshold, --strict: undecided"},
    {130, "interrupted; finished cells are kept and printed"}};

namespace {

std::string beside(const std::string& name, std::size_t room, const std::string& meaning) {
    return report::wrap_beside("  " + name + std::string(room - name.size() + 2, ' '), meaning, help_width);
}

std::string axes_page() {
    return R"(Axes: what a kernel is run with

`cllab describe FAMILY` lists the axes of a family with their defaults and legal values.
--axis NAME=VALUES (-a) replaces the values of one axis. Every combination of values is a point;
each variant at each point is a cell, one row of the table.

  --axis width=4096               one value
  --axis width=1024,2048,4096     a list
  --axis size=1Ki:64Mi:*2         geometric: 1Ki, 2Ki, 4Ki ... 64Mi
  --axis items=1:9:+2             stepped: 1, 3, 5, 7, 9
  --axis local=64x4,16x16         shapes, in work-items
  --axis pitch=20.2               fractions, where the axis takes them
  --axis element=short,float      words, where the axis takes them
  --axis local=auto               the family's own choice for the device; the record has the result

Ki, Mi, Gi are powers of 1024. A range always ends on its last value.

Every family has the axis `options`: --axis options=,-cl-fast-relaxed-math builds each kernel
without and with that build option. With --tolerance absolute=X the table has the largest error.

A record's point, given back by --axis, makes the same cell. --points first takes the first value
of each axis that no --axis names. `cllab tune` tries the axes that do not affect the result.
At most 100000 points make one run.

Example: cllab run saxpy_w128 --axis size=1Ki:64Mi:*4 --axis local=64,256
)";
}

std::string devices_page() {
    return R"(Devices: how to select them

  --device cpu, gpu, accelerator   the first of that type whose timer can be trusted
  --device 0:0                     platform and device, the indices of `cllab devices` and clinfo
  --device 0                       all devices of a platform
  --device H200                    part of the name of a device or platform, or pocl, nvidia, amd ...
  --device all                     every device

--device (-d) repeats. Default: the first GPU, else the first CPU. Several devices run one after
the other, each in a child process; a last table has a column for each device.

The timer of a device is audited before use. Times of a device that fails are taken by the host's
clock, launch cost included, and the row says so (`host-clock`). `cllab devices` shows the audit
and the driver's quirks.

`cllab isa --target` needs no device: gfx900, sm_90, pvc and others are compiled for offline.
`cllab isa --targets` lists them.

OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd restricts the loader to one driver.
POCL_AFFINITY: without it PoCL's threads are pinned when the machine is idle at the start.
)";
}

std::string columns_page() {
    std::string out = R"(Columns of the table

The table shows the columns that fit the terminal (80 columns without one) and names those left out.
--columns time,regs,dump chooses; --columns all shows every one. Axes and metrics are columns too.

)";
    for (const auto& [name, meaning] : report::column_meanings()) out += beside(name, 10, meaning);
    return out + R"(
`cllab isa`, `cllab profile` and `cllab regress` have columns of their own: see their --help.
)";
}

std::string statuses_page() {
    std::string out =
        R"(Statuses of a cell, and exit statuses

  ok             verified before and after timing
  unsupported    the device cannot run it; a failure only with --require-all
  build_failed   the driver's compiler refused it; dumps/.../build.log is the whole log
  launch_failed  a launch returned an error, or the process ended by a signal
  wrong_result   the result differs, a guard was overwritten, or the work was optimized away
  timed_out      no progress for --timeout seconds
  disagree       kernels of one file leave different results, and no line says which one is right
                 or that they may (`differ`, `cllab help kernel-file`)

A cell that is not ok has no time and a reason of one line.

Exit status
)";
    for (const auto& [status, meaning] : exit_statuses) out += beside(std::to_string(status), 3, meaning);
    return out + R"(
A failure (1) goes before a slowdown (4), and a slowdown before an undecided cell (5).
Results go to standard output; progress, warnings and errors go to standard error.
)";
}

std::string method_page() {
    return R"(Method: where a number comes from

  Verify    Outputs are poisoned and guarded on both sides. Each variant is checked against
            independent host code for two inputs, at random moments between samples, and at the end.
            A wrong kernel has no time.
  Clock     The device's event timer is audited; one that fails is replaced by the host's clock.
  Warm up   The device is warmed up by time, each cell by two launches.
  Sample    A sample is as many launches as take 100 us, 20 empty launches and 200 timer steps.
            All variants of a point take turns, so drift reaches each of them.
  Stop      From 20 samples on, when the 95 % interval of the median is within 1 %, or no longer
            shrinks (`noise-floor`), or at --max-time.
  Report    The median with its 95 % interval. Below six samples there is none: the row says n = 3
            and is not ranked. The record has every sample.
  Drift     A reference kernel runs between samples. Samples beside one that is 10 % off do not
            count; a row that would lose most of its samples says `throttled`.
  Caches    hot by default; --cache cold flushes them, --cache rotate cycles through copies.
  Yardstick `of copy` compares with a plain copy of as many bytes, in the same cache state.
  Energy    --energy: power by NVML's counter (NVIDIA) over a row of operations, times the seconds
            of one, with what the device draws at rest. It is the whole device's, and differs by
            percents from run to run: a warm device draws more.
  Rank      Within 15 % (4 % on a GPU) a table writes ~ and names no winner, because the placement
            of buffers alone can make that difference.
  Compare   --vs, tune and regress use arrangements: fresh processes with other orders, placements
            and inputs. Each gives one ratio. A winner must exceed the interval, 0.5 % and the
            control, which is each side compared with itself.

Why a loop of your own gives another number: it may time the launch too, warm caches that this
state does not have, take the mean or the minimum, or time a kernel that skips its work.
)";
}

std::string terms_page() {
    return R"(Terms

  accounted    hot code found by arithmetic: the only loop or path that can do the declared work
  arrangement  a fresh process with its own order, buffer placement and inputs; --vs counts these
  below floor  shorter than three empty launches: the launch is most of the time
  cell         one variant at one point on one device: one row, one record
  control      each side of a comparison against itself: the difference that the machine shows for
               equal code
  counted      hot code found by counting executed instructions (Nsight Compute)
  family       a question with its kernels: cl/pitch.cl and host/experiments/pitch.cpp
  hot          caches as the previous operation left them (--cache hot); hot code: the code that ran
               most
  of copy      the kernel's bandwidth as a share of a plain copy of as many bytes
  point        one value for each axis
  profile      a device's figures from all probes: the page of `cllab profile`, and the file
               DIR/<device>/profile.json, which run, tune and why read
  same code    both sides have equal machine code, so there is no winner
  settled      warm-up ended because two windows of the reference kernel agreed within 1 %;
               otherwise the row says `not-settled`
  slope        a time per step: the difference of two trip counts, so the launch cancels out
  undecided    the interval is too wide for faster, slower or same (within 2 %)
  unproved     no expected result is given; launches only agree with each other
  variant      one kernel of a family, pitch_short8; its name is <family>_<variant> everywhere
  yardstick    the plain copy behind `of copy`
  ~            too close to call in one table; --vs decides
)";
}

}  // namespace

const std::vector<Topic>& topics() {
    static const std::vector<Topic> all{
        {"kernel-file", "your own kernels: the whole grammar", kernel_file_help},
        {"data", "what its arguments are given: random data of many kinds, files, images", data_help},
        {"sequences", "several of your own kernels as one operation", sequences_help},
        {"proof", "what your own kernel's results are held against", proof_help},
        {"axes", "what a kernel is run with, and ranges of it", axes_page},
        {"devices", "how to select one, and whether its timer is trusted", devices_page},
        {"columns", "what each column of the table means", columns_page},
        {"statuses", "of cells, and exit statuses", statuses_page},
        {"method", "where a number comes from", method_page},
        {"terms", "a glossary", terms_page}};
    return all;
}

}  // namespace cllab::app
