// fma: latency, throughput, loop and fetch cost of the fused multiply-add, and two things it gives away: the clock (by
// its latency) and the number of compute units (by a staircase over saturating work-groups).
#include <map>
#include <optional>

#include "core/units.hpp"
#include "experiments/lib/chain.hpp"
#include "experiments/lib/compare.hpp"
#include "experiments/lib/findings.hpp"
#include "experiments/lib/sizes.hpp"
#include "model/fit.hpp"

namespace cllab::model {
namespace {

using namespace lib;

/// One cell's sizes, all resolved.
struct Shape {
    std::string type;
    std::size_t width = 1, ilp = 1, unroll = 1, ahead = 0, items = 1, groups = 1;
    std::int64_t steps = 0;  ///< links of each chain in the shorter run, about
};

std::size_t groups_for(double load_percent, const Device& device) {
    return static_cast<std::size_t>(std::max(1.0, std::round(load_percent * device.compute_units / 100)));
}

Shape shape_of(const Request& request, Params& params) {
    const auto& device = request.device;
    const auto& variant = request.variant.name;
    const bool gpu = device.is_gpu();
    Shape s;
    if (variant == "clock") return s;
    s.type = params.text("type");
    s.width = params.count("width");

    // Four chains fill a GPU, which has waves beside them, and a CPU at 16 elements (eight 32-byte vectors); where a
    // CPU's vectors are wider, ilp=8 shows it.
    const std::size_t chains = variant == "latency" ? 1 : variant == "peak" || variant == "units" ? 4 : 2;
    s.ilp = params.count("ilp", chains);
    if (variant == "code")
        s.unroll = std::max<std::size_t>(1, params.count("code", 1024) / s.ilp);
    else
        s.unroll = params.count("unroll", variant == "peak" || variant == "align" ? 16 : 64);
    if (variant == "align") s.ahead = params.count("ahead");

    if (variant != "latency") {
        const std::size_t wave = wave_width(device);
        const std::size_t waves = !gpu ? 1 : variant == "units" ? 1024 / wave : variant == "peak" ? 256 / wave : 16;
        s.items = wave * params.count("waves", std::max<std::size_t>(1, std::min(waves, device.max_group_promised / wave)));
    }
    require_group(device, s.items);
    const double one_group = std::round(1e8 / device.compute_units) / 1e6;
    s.groups = groups_for(params.real("load", variant == "peak" ? (gpu ? 800 : 400) : one_group), device);

    // Links of each chain, so that a run takes some 50 us to 1 ms on anything from one core to a large GPU.
    s.steps = 32768;
    if (variant == "peak") s.steps = 4096;
    if (variant == "ilp")
        s.steps = std::clamp<std::int64_t>((1 << 22) / static_cast<std::int64_t>(s.items * s.ilp), 4096, 32768);
    if (variant == "units") s.steps = gpu ? 4096 : 131072;  // a CPU's threads must wake up in much less than a step
    return s;
}

template <typename T>
std::vector<T> ends_of(const std::vector<T>& starts, T c, std::int64_t steps) {
    std::vector<T> out;
    for (const T x : starts) out.push_back(run_chain(x, c, steps));
    return out;
}

/// The output of every work-item: element e is the sum, in order, of the chains' element e.
template <typename T>
Check check_of(const Shape& s, std::vector<T> starts, T c) {
    return [=, starts = std::move(starts)](const Buffers& buffers) {
        const auto ends =
            ends_of(starts, c, static_cast<std::int64_t>(buffers.trips) * static_cast<std::int64_t>(s.unroll) + static_cast<std::int64_t>(s.ahead));
        std::vector<T> sums;  // work-items repeat with period 4
        for (std::size_t i = 0; i < 4; ++i) {
            for (std::size_t e = 0; e < s.width; ++e) {
                T sum{};
                for (std::size_t j = 0; j < s.ilp; ++j) sum = sum + ends[i + j * s.width + e];
                sums.push_back(sum);
            }
        }
        return first_difference<T>(buffers, "out", [&](std::size_t at) { return sums[at % sums.size()]; });
    };
}

template <typename T>
void fill(Setup& out, const Shape& s, std::uint64_t seed, T c, std::vector<T> starts) {
    starts.resize(4 + s.ilp * s.width);
    if constexpr (std::is_same_v<T, std::uint32_t>) {
        Random random(seed);
        for (auto& x : starts) x = static_cast<std::uint32_t>(random());
    }
    out.args = {Input{"start", share(starts)}, Output{"out", s.items * s.groups * s.width * sizeof(T)},
                value("constant_c", c), value("trips", std::int32_t{0})};
    out.check = check_of<T>(s, std::move(starts), c);
}

Setup setup_clock(const Request& request) {
    Setup out;
    constexpr std::int32_t most = 1 << 24;
    // cl_khr_kernel_clock begins with OpenCL C 2; NVIDIA's and AMD's counters need no extension.
    const auto implementation = request.device.implementation;
    if (implementation != Implementation::nvidia && implementation != Implementation::amd)
        out.defines.push_back("-cl-std=CL3.0");
    out.args = {Output{"out", 8}, value("most", most), value("trips", std::int32_t{0})};
    out.global = out.local = Extent(1);
    out.slope = slope(request.device, 64, 3 * 64, 1024);
    out.check = [](const Buffers& buffers) -> std::optional<std::string> {
        const auto waited = buffers.as<std::uint64_t>("out")[0];
        const auto wanted = static_cast<std::uint64_t>(buffers.trips) * 1024;
        if (waited >= wanted && waited < wanted + (1u << 20)) return std::nullopt;
        return "the counter advanced by " + std::to_string(waited) + ", expected " + std::to_string(wanted) +
               " and little more";
    };
    return out;
}

Setup setup(const Request& request, Params& params) {
    if (request.variant.name == "clock") return setup_clock(request);
    const auto s = shape_of(request, params);
    const auto& device = request.device;
    if (s.type == "double" && !device.fp64) throw Unsupported("the device has no double precision");
    if (s.type == "half" && !device.fp16) throw Unsupported("the device has no half precision arithmetic");

    Setup out;
    const std::size_t count = 4 + s.ilp * s.width;
    if (s.type == "double")
        fill<double>(out, s, request.seed, chain_constant, chain_starts<double>(count, request.seed));
    else if (s.type == "half")
        fill<Half>(out, s, request.seed, to_half(chain_constant), half_starts(count, request.seed));
    else if (s.type == "uint")
        fill<std::uint32_t>(out, s, request.seed, 0x2545F491u, {});
    else
        fill<float>(out, s, request.seed, static_cast<float>(chain_constant), chain_starts<float>(count, request.seed));
    out.global = Extent(s.items * s.groups);
    out.local = Extent(s.items);
    const auto trips = std::max<std::int64_t>(1, s.steps / static_cast<std::int64_t>(s.unroll));
    // A step is one link of every chain.
    out.slope = slope(device, trips, 3 * trips, static_cast<double>(s.unroll));
    const auto links = static_cast<double>(s.ilp * s.width) * (request.variant.name == "nested" || request.variant.name == "unrolled" ? 1.0 : static_cast<double>(s.unroll));
    if (s.type == "uint")
        out.declared = {{Declared::What::integer_multiply, links, 32}};
    else
        out.declared = {{Declared::What::multiply_add, links, s.type == "double" ? 64u : s.type == "half" ? 16u : 32u}};
    out.chained = request.variant.name == "latency";
    out.work.flops = 2.0 * static_cast<double>(s.items * s.groups * s.ilp * s.width);
    out.defines = {"TYPE=" + s.type, "TYPE_" + s.type, "WIDTH=" + std::to_string(s.width),
                   "ILP=" + std::to_string(s.ilp), "UNROLL=" + std::to_string(s.unroll)};
    for (unsigned digit = 0; digit < 4; ++digit)
        out.defines.push_back("UNROLL_" + std::to_string(digit) + "=" + std::to_string(s.unroll >> (4 * digit) & 15));
    if (request.variant.name == "align") out.defines.push_back("AHEAD=" + std::to_string(s.ahead));
    return out;
}

bool is_integer(const Setup& setup) {
    return std::find(setup.defines.begin(), setup.defines.end(), "TYPE=uint") != setup.defines.end();
}

double flops(const Setup& setup, double seconds) { return is_integer(setup) ? NAN : setup.work.flops / seconds; }
double integer_ops(const Setup& setup, double seconds) { return is_integer(setup) ? setup.work.flops / seconds : NAN; }

double rate_of_sample(const Curve::Sample& s) { return metric(s, "flops").value_or(metric(s, "ops").value_or(0)); }

/// Every sample of a variant with the whole point it was taken at.
struct Row {
    const Curve* curve;
    const Curve::Sample* sample;
};

std::vector<Row> rows_of(const std::vector<Curve>& curves, const std::string& variant) {
    std::vector<Row> out;
    for (const auto& curve : curves) {
        if (curve.variant != variant) continue;
        for (const auto& sample : curve.samples) out.push_back({&curve, &sample});
    }
    return out;
}

/// A GPU's driver knows the highest clock: one above it says that ticks and time were not taken together.
std::optional<std::string> too_fast(const Finding& clock, const Device& device) {
    const double most = 1e6 * device.clock_mhz;
    if (!device.is_gpu() || most <= 0 || clock.low <= most) return std::nullopt;
    return "the ticks make " + format_rate(clock.value, "Hz") + ", and the driver knows no clock above " + format_rate(most, "Hz");
}

void conclude_latency(const std::vector<Curve>& curves, const Device& device, std::vector<Finding>& out) {
    const auto clock = rows_of(curves, "clock");
    double period = 0;
    if (!clock.empty()) {
        const auto found = rate_finding("clock", "clock", "Hz", *clock.front().sample, 1, "ticks of the counter that kernels read, by the event timer");
        if (const auto reason = too_fast(found, device)) {
            out.push_back(withheld("clock", "clock", *reason));
            period = -1;
        } else {
            out.push_back(found);
            period = clock.front().sample->per_step;
        }
    }
    for (const auto& row : rows_of(curves, "latency")) {
        const auto type = row.curve->fixed.text("type");
        out.push_back(
            step_finding("latency." + type, type + " latency", *row.sample, "slope of one dependent chain in one work-item over its length"));
        if (period > 0)
            out.push_back({"cycles." + type, type + " latency in cycles", "cycle", row.sample->per_step / period,
                           row.sample->low / period, row.sample->high / period, "the same over the counter's period"});
        else if (period == 0 && type == "float")
            out.push_back(rate_finding("clock", "clock", "Hz", *row.sample, 4, "assuming that a dependent float FMA takes 4 cycles"));
    }
}

void conclude_rates(const std::vector<Curve>& curves, std::vector<Finding>& out) {
    std::map<std::string, Row> best;
    for (const auto& row : rows_of(curves, "peak")) {
        const auto [known, fresh] = best.emplace(row.curve->fixed.text("type"), row);
        if (!fresh && rate_of_sample(*row.sample) > rate_of_sample(*known->second.sample)) known->second = row;
    }
    for (const auto& [type, row] : best) {
        const double rate = rate_of_sample(*row.sample);
        if (rate > 0)
            out.push_back(
                rate_finding("peak." + type, type + " peak", type == "uint" ? "op/s" : "FLOP/s", *row.sample, rate * row.sample->per_step,
                        "best of the vector widths, here " + text_of(row.sample->x) + "; a multiply-add counts two"));
    }
    // One work-group: the rate of one unit, and the parallelism that it needs.
    double most = 0;
    const auto grid = rows_of(curves, "ilp");
    for (const auto& row : grid) most = std::max(most, rate_of_sample(*row.sample));
    if (most <= 0) return;
    double least_parallel = 0;
    std::string where;
    for (const auto& row : grid) {
        if (rate_of_sample(*row.sample) < 0.95 * most) continue;
        const double parallel =
            row.sample->x * (row.curve->fixed.is_auto("waves") ? 1 : row.curve->fixed.real("waves"));
        if (least_parallel > 0 && parallel >= least_parallel) continue;
        least_parallel = parallel;
        where = text_of(row.sample->x) + " chains x " + row.curve->fixed.text("waves") + " waves";
    }
    out.push_back(
        {"group.rate", "rate of one group", "FLOP/s", most, most, most, "best of the grid of chains and waves, one work-group"});
    out.push_back({"parallelism", "parallelism for full rate", "chain", least_parallel, least_parallel, least_parallel,
                   "least chains times waves within 5 % of that rate: " + where});
}

void conclude_code(const std::vector<Curve>& curves, std::vector<Finding>& out) {
    std::vector<double> unroll, trip;
    double at_64 = 0;
    for (const auto& row : rows_of(curves, "loop")) {
        unroll.push_back(row.sample->x);
        trip.push_back(row.sample->per_step * row.sample->x);
        if (row.sample->x == 64) at_64 = row.sample->per_step;
    }
    if (const auto line = fit_line(unroll, trip)) {
        out.push_back({"loop.cost", "loop cost", "s", line->intercept.value, line->intercept.low, line->intercept.high,
                       "intercept of the time of a trip over the steps in it"});
    }
    const auto nested = rows_of(curves, "nested");
    if (at_64 > 0 && !nested.empty())
        out.push_back({"loop.rolled", "rolled loop penalty", "x", nested.front().sample->per_step / at_64,
                       nested.front().sample->low / at_64, nested.front().sample->high / at_64,
                       "a step in a rolled inner loop over one in 64 of straight line"});
    std::vector<double> size, time;
    for (const auto& row : rows_of(curves, "code")) {
        size.push_back(row.sample->x);
        time.push_back(row.sample->per_step);
    }
    if (const auto step = fit_step(size, time); step && step->after > step->before)
        out.push_back({"code.knee", "code knee", "FMA", step->position.value, step->position.low, step->position.high,
                       "longest straight line at full speed; beyond it a step takes " +
                           text_of(step->after / step->before) + " times as long"});
    else if (size.size() >= 3)
        out.push_back(withheld("code.knee", "code knee", "a straight line of " + text_of(size.back()) + " FMA is no slower per step than one of " +
                                                             text_of(size.front()) + ": what holds instructions is larger"));
}

void conclude_units(const std::vector<Curve>& curves, const Device& device, std::vector<Finding>& out) {
    const auto rows = rows_of(curves, "units");
    if (rows.empty()) return;
    std::vector<double> groups, seconds;
    double agreement = 1;
    for (const auto& row : rows) {
        groups.push_back(static_cast<double>(groups_for(row.sample->x, device)));
        // Where the host is shared, most launches may be disturbed; those that were not agree.
        seconds.push_back(metric(*row.sample, "mode").value_or(row.sample->per_step));
        agreement = std::min(agreement, metric(*row.sample, "mode_share").value_or(1));
    }
    const auto refuse = [&](const std::string& why) { out.push_back(withheld("units", "compute units", why)); };
    const auto stairs = fit_staircase(groups, seconds);
    if (!stairs) return refuse("the time over the number of work-groups shows no steps");
    const auto percent = [](double part) { return text_of(std::round(1000 * part) / 10) + " %"; };
    // Other work on some of the units makes steps of its own, which fit worse, or samples that do not agree.
    if (stairs->residual > 0.04)
        return refuse("the steps of the time over the number of work-groups are uneven (residual " + percent(stairs->residual) + "): the device has other work");
    if (agreement < 0.25)
        return refuse("only " + percent(agreement) + " of the samples of a point agree within 3 %: the device has other work");
    if (stairs->period.high - stairs->period.low > stairs->period.value)
        return refuse("between " + text_of(stairs->period.low) + " and " + text_of(stairs->period.high) + " units explain the steps equally well");
    if (stairs->period.value < device.compute_units)
        return refuse("the steps show " + text_of(stairs->period.value) + ", and the driver reports " + std::to_string(device.compute_units) +
                      ": the others had other work, or this process may not use them");
    out.push_back({"units", "compute units", "", stairs->period.value, stairs->period.low, stairs->period.high,
                   "period of the staircase over saturating work-groups, residual " + percent(stairs->residual) + ", at least " +
                       percent(agreement) + " of the samples agree"});
}

/// Every sample of `align` differs in nothing but the place of its loop.
void conclude_alignment(const std::vector<Curve>& curves, std::vector<Finding>& out) {
    const auto rows = rows_of(curves, "align");
    if (rows.size() < 4) return;
    const auto slower = [](const Row& a, const Row& b) { return a.sample->per_step < b.sample->per_step; };
    const auto [best, worst] = std::minmax_element(rows.begin(), rows.end(), slower);
    const auto scale = [](const Row& r) { return r.sample->per_step / r.sample->seconds; };
    const double low = worst->sample->low * scale(*worst) / (best->sample->high * scale(*best));
    const double high = worst->sample->high * scale(*worst) / (best->sample->low * scale(*best));
    // The shortest period that every pair of samples keeps to within 2 %.
    std::size_t period = 0;
    for (std::size_t p = 2; p <= rows.size() / 2 && period == 0 && low > 1.02; ++p) {
        bool kept = true;
        for (std::size_t i = 0; i + p < rows.size(); ++i)
            kept = kept && std::abs(rows[i + p].sample->per_step / rows[i].sample->per_step - 1) <= 0.02;
        if (kept) period = p;
    }
    out.push_back({"loop.place", "worst place of a loop", "x", worst->sample->per_step / best->sample->per_step, low, high,
                   "slowest over fastest of one loop behind " + std::to_string(rows.size()) + " lengths of straight line" +
                       (period > 0 ? ", repeating every " + std::to_string(period) : std::string())});
}

std::vector<Finding> conclude(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    conclude_alignment(curves, out);
    conclude_latency(curves, device, out);
    conclude_rates(curves, out);
    conclude_code(curves, out);
    conclude_units(curves, device, out);
    return out;
}

}  // namespace

Experiment describe_fma() {
    Experiment out;
    out.family = "fma";
    out.question = "What does a fused multiply-add cost in latency, throughput and code, and how many units execute it?";
    const std::vector<std::string> chains{"latency", "ilp", "loop", "nested", "unrolled", "align", "code", "peak", "units"};
    const std::vector<std::string> unrolled{"latency", "ilp", "loop", "nested", "unrolled", "align", "peak", "units"};
    const std::vector<std::string> wide{"ilp", "loop", "nested", "unrolled", "align", "code", "peak", "units"};
    out.axes = {
        {.name = "type",
         .meaning = "element type",
         .kind = Axis::Kind::choice,
         .values = {"float"},
         .choices = {"float", "double", "half", "uint"},
         .only = chains},
        {.name = "width",
         .meaning = "elements per vector",
         .values = {"1"},
         .least = 1,
         .most = 16,
         .only = chains,
         .power_of_two = true},
        {.name = "ilp",
         .meaning = "independent chains per work-item; auto is 1 for latency, 4 for peak and units, else 2",
         .values = {"auto"},
         .least = 1,
         .most = 16,
         .may_be_auto = true,
         .only = chains,
         .power_of_two = true},
        {.name = "unroll",
         .meaning = "steps of a chain between two branches; auto is 16 for peak and align, else 64",
         .values = {"auto"},
         .least = 1,
         .most = 16384,
         .may_be_auto = true,
         .only = unrolled},
        {.name = "ahead",
         .unit = "FMA",
         .meaning = "steps of each chain before the loop, which move the loop in the lines that instructions are fetched in",
         .values = {"0"},
         .least = 0,
         .most = 15,
         .only = {"align"}},
        {.name = "code",
         .unit = "FMA",
         .meaning = "multiply-adds in one straight line",
         .values = {"auto"},
         .least = 16,
         .most = 16384,
         .may_be_auto = true,
         .only = {"code"},
         .power_of_two = true},
        {.name = "waves",
         .meaning = "waves per work-group (work-items on a CPU); auto fills the group of units and peak, else 16, on a CPU 1",
         .values = {"auto"},
         .least = 1,
         .most = 1024,
         .may_be_auto = true,
         .only = wide},
        {.name = "load",
         .unit = "%",
         .meaning = "work-groups as a percentage of the compute units the driver reports; auto is 800 for peak, on a CPU 400, "
                    "else one group",
         .kind = Axis::Kind::real,
         .values = {"auto"},
         .least = 0.01,
         .most = 100000,
         .may_be_auto = true,
         .only = chains},
    };
    out.variants = {
        {.name = "latency",
         .meaning = "One chain in one work-item: each step waits for the one before.",
         .axes = {{"type", "float,double,uint"}},
         .curve_over = "load"},
        {.name = "clock",
         .meaning = "Waits on the counter that kernels can read; the timer then gives its frequency.",
         .needs = {"clock"},
         .curve_over = "load"},
        {.name = "ilp",
         .meaning = "One work-group with 1 to 8 chains per work-item and 1 to 16 waves: what fills one unit.",
         .axes = {{"ilp", "1,2,4,8"}, {"waves", "1,4,16"}},
         .curve_over = "ilp"},
        {.name = "loop",
         .meaning = "The same steps with 1 to 100 of them between two branches.",
         .axes = {{"unroll", "1,2,4,8,16,32,40,64,100"}},
         .curve_over = "unroll"},
        {.name = "nested",
         .meaning = "64 steps in a rolled inner loop.",
         .axes = {{"unroll", "64"}},
         .curve_over = "unroll"},
        {.name = "unrolled",
         .meaning = "100 steps in an inner loop that the compiler is asked to unroll, as in the tutorial's double loop.",
         .axes = {{"unroll", "100"}},
         .curve_over = "unroll"},
        {.name = "align",
         .meaning = "A loop of 16 steps behind 0 to 15 others: where its code begins, and nothing else, changes.",
         .axes = {{"ahead", "0:15:+1"}},
         .curve_over = "ahead"},
        {.name = "code",
         .meaning = "A straight line of growing length, until it no longer fits the instruction caches.",
         .axes = {{"code", "256:8192:*2"}},
         .curve_over = "code"},
        {.name = "peak",
         .meaning = "All units at once, with enough chains to hide every latency.",
         .axes = {{"type", "float,double,half,uint"}, {"width", "1,4,16"}},
         .curve_over = "width"},
        {.name = "units",
         .meaning = "Work-groups that each fill one unit: the time rises by a step with every full round of units.",
         .axes = {{"load", "50,99,100,101,150,200,201,250,300"}},
         .curve_over = "load"},
    };
    out.setup = setup;
    out.resolve = [](const Request& request, Params& params) { shape_of(request, params); };
    out.metrics = {{"flops", "FLOP/s", Better::higher, flops}, {"ops", "op/s", Better::higher, integer_ops}};
    out.curve_over = "load";
    out.conclude = conclude;
    return out;
}

}  // namespace cllab::model
