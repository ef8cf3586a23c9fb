#include "experiments/lib/family.hpp"
#include "model/work.hpp"

namespace cllab::model::lib {
namespace {

double rate_of_sample(const Curve::Sample& s) { return metric(s, "flops").value_or(metric(s, "ops").value_or(0)); }

double rate_of_all_cores(const Curve::Sample& s, const Device& device) {
    return lib::rate_of_all_cores(rate_of_sample(s), s, device);
}

bool is_faster(const Curve::Sample& s, const Curve::Sample& than, const Device& device) {
    return sure_rate_of_all_cores(rate_of_sample(s), s, device) >
           sure_rate_of_all_cores(rate_of_sample(than), than, device);
}

/// A GPU's driver knows the highest clock. A higher clock means that ticks and time were not taken together. The two
/// clocks need not agree better than within 2 %, the spread of a GPU's times.
std::optional<std::string> too_fast(const Finding& clock, const Device& device) {
    constexpr double tolerated = 1.02;
    const double most = 1e6 * device.clock_mhz;
    if (!device.is_gpu() || most <= 0 || clock.low <= tolerated * most) return std::nullopt;
    return "the ticks make " + format_rate(clock.value, "Hz") + ", and the driver knows no clock above " +
           format_rate(most, "Hz");
}

/// cl_khr_kernel_clock does not say what it counts. On a CPU it counts the time-stamp counter at a constant rate.
bool counts_cycles(const Device& device) {
    return device.implementation == Implementation::nvidia || device.implementation == Implementation::amd;
}

void conclude_latency(const std::vector<Curve>& curves, const Device& device, std::vector<Finding>& out) {
    auto clock = rows_of(curves, "clock");
    double period = 0;  // of the counter; 0: unknown
    if (!clock.empty() && !counts_cycles(device)) {
        out.push_back(withheld("cycles.float", "float latency in cycles",
                               "the counter that kernels read, " +
                                   format_rate(1 / clock.front().sample->per_step, "Hz") +
                                   ", need not be the clock of the cores"));
        clock.clear();
    }
    if (!clock.empty()) {
        const auto found = rate_finding("clock", "clock", "Hz", *clock.front().sample, 1,
                                        "ticks of the kernel-readable counter, by the event timer");
        const auto reason = too_fast(found, device);
        if (!reason) period = clock.front().sample->per_step;
        out.push_back(reason ? withheld("clock", "clock", *reason) : found);
    }
    for (const std::string kind : {"latency", "add", "multiply"})
        for (const auto& row : rows_of(curves, kind)) {
            const auto type = row.curve->fixed.text("type");
            const bool fused = kind == "latency";
            out.push_back(step_finding(kind + "." + type, type + (fused ? "" : " " + kind) + " latency", *row.sample,
                                       "slope of one dependent chain in one work-item over its length"));
            if (fused && period > 0)
                out.push_back({"cycles." + type, type + " latency in cycles", "cycle", row.sample->per_step / period,
                               row.sample->low / period, row.sample->high / period,
                               "the same over the counter's period"});
            else if (clock.empty() && fused && type == "float")
                out.push_back(rate_finding("clock", "clock (if a float FMA takes 4 cycles)", "Hz", *row.sample, 4,
                                           "assuming that a dependent float FMA takes 4 cycles"));
        }
}

/// The peak rates of a CPU in vectors of 128 and 256 bits, from kernels whose code has no wider vectors.
void conclude_widths(const std::vector<Curve>& curves, const Device& device, std::vector<Finding>& out) {
    std::map<std::pair<std::string, unsigned>, Row> best;  // by type and bits
    for (const auto& row : rows_of(curves, "peak")) {
        const auto type = row.curve->fixed.text("type");
        const auto bits = static_cast<unsigned>(row.sample->x) * (type == "double"                     ? 64
                                                                  : type == "half" || type == "ushort" ? 16
                                                                                                       : 32);
        if (bits != 128 && bits != 256) continue;
        const auto [known, inserted] = best.emplace(std::pair(type, bits), row);
        if (!inserted && is_faster(*row.sample, *known->second.sample, device)) known->second = row;
    }
    for (const auto& [key, row] : best) {
        const auto& [type, bits] = key;
        const double rate = rate_of_all_cores(*row.sample, device);
        const auto width = std::to_string(bits);
        if (rate > 0)
            out.push_back(rate_finding("peak." + type + "." + width, type + " peak in vectors of " + width + " bits",
                                       is_whole_type(type) ? "op/s" : "FLOP/s", *row.sample,
                                       rate * row.sample->per_step,
                                       "best of the chains, here " + row.curve->fixed.text("ilp")));
    }
}

/// A type that the device only emulates takes far more instructions than float. Double takes twice as many vectors.
std::string emulated(const std::vector<Row>& peaks, const Row& row) {
    const auto instructions = [](const Row& r) { return metric(*r.sample, "loop_instructions").value_or(0); };
    const auto links = [](const Row& r) { return r.curve->fixed.real("ilp") * r.curve->fixed.real("unroll"); };
    for (const auto& other : peaks)
        if (other.curve->fixed.text("type") == "float" && other.sample->x == row.sample->x && instructions(other) > 0 &&
            instructions(row) > 2.5 * instructions(other) && links(other) == links(row))
            return through(*row.sample, links(row));
    return "";
}

void conclude_rates(const std::vector<Curve>& curves, const Device& device, std::vector<Finding>& out) {
    std::map<std::string, Row> best;
    const auto peaks = rows_of(curves, "peak");
    for (const auto& row : peaks) {
        const auto [known, inserted] = best.emplace(row.curve->fixed.text("type"), row);
        if (!inserted && is_faster(*row.sample, *known->second.sample, device)) known->second = row;
    }
    for (const auto& [type, row] : best) {
        const double rate = rate_of_all_cores(*row.sample, device);
        if (rate > 0)
            out.push_back(rate_finding("peak." + type, type + " peak", is_whole_type(type) ? "op/s" : "FLOP/s",
                                       *row.sample, rate * row.sample->per_step,
                                       "best of the vector widths and chains, here " + text_of(row.sample->x) +
                                           " and " + row.curve->fixed.text("ilp") + emulated(peaks, row) +
                                           "; a multiply-add counts two"));
    }
    // One work-group: the rate of one unit, and the parallelism that it needs for this rate.
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
    out.push_back(figure("group.rate", "rate of one work-group", "FLOP/s", most,
                         "best of the grid of chains and waves, one work-group"));
    out.push_back(figure("parallelism", "chains in flight for full rate", "chain", least_parallel,
                         "smallest chains times waves within 5 % of that rate: " + where));
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
        out.push_back(figure("loop.cost", "loop overhead per trip", "s", line->intercept,
                             "intercept of the time of a trip over the steps in it"));
    }
    const auto nested = rows_of(curves, "nested");
    if (at_64 > 0 && !nested.empty())
        out.push_back({"loop.rolled", "rolled loop against unrolled", "x", nested.front().sample->per_step / at_64,
                       nested.front().sample->low / at_64, nested.front().sample->high / at_64,
                       "a step in a rolled inner loop over one in 64 of straight line"});
    std::vector<double> size, time;
    for (const auto& row : rows_of(curves, "code")) {
        size.push_back(row.sample->x);
        time.push_back(row.sample->per_step);
    }
    if (const auto step = fit_step(size, time); step && step->after > step->before)
        out.push_back(figure("code.knee", "instruction cache, straight-line code at full speed", "FMA", step->position,
                             "longest straight line at full speed; beyond it a step takes " +
                                 text_of(step->after / step->before) + " times as long"));
    else if (size.size() >= 3)
        out.push_back(withheld("code.knee", "instruction cache, straight-line code at full speed",
                               "a straight line of " + text_of(size.back()) +
                                   " FMA is no slower per step than one of " + text_of(size.front()) +
                                   ", so the instruction cache holds more"));
}

void conclude_units(const std::vector<Curve>& curves, const Device& device, std::vector<Finding>& out) {
    const auto rows = rows_of(curves, "units");
    if (rows.empty()) return;
    std::vector<double> groups, seconds;
    double agreement = 1;
    for (const auto& row : rows) {
        groups.push_back(static_cast<double>(groups_for(row.sample->x, device)));
        // If the host is shared, most launches may be disturbed. The undisturbed ones agree.
        seconds.push_back(metric(*row.sample, "mode").value_or(row.sample->per_step));
        agreement = std::min(agreement, metric(*row.sample, "mode_share").value_or(1));
    }
    const auto refuse = [&](const std::string& why) { out.push_back(withheld("units", "compute units", why)); };
    const auto stairs = fit_staircase(groups, seconds);
    if (!stairs) return refuse("the time over the number of work-groups shows no steps");
    // Other work on some units causes other steps, which fit worse, or samples that disagree.
    if (stairs->residual > 0.04)
        return refuse("the staircase of time over work-groups is uneven (residual " + percent(stairs->residual) +
                      "): the device has other work");
    if (agreement < 0.25)
        return refuse("only " + percent(agreement) +
                      " of the samples of a point agree within 3 %: the device has other work");
    if (stairs->period.high - stairs->period.low > stairs->period.value)
        return refuse("between " + text_of(stairs->period.low) + " and " + text_of(stairs->period.high) +
                      " units explain the steps equally well");
    if (stairs->period.value < device.compute_units)
        return refuse(concat("the steps show ", text_of(stairs->period.value), ", but the driver reports ",
                             device.compute_units, ": the others were busy, or this process may not use them"));
    out.push_back(figure("units", "compute units", "", stairs->period,
                         "period of the staircase over saturating work-groups, residual " + percent(stairs->residual) +
                             ", at least " + percent(agreement) + " of the samples agree"));
}

/// The samples of `align` differ only in the position of the loop.
void conclude_alignment(const std::vector<Curve>& curves, std::vector<Finding>& out) {
    const auto rows = rows_of(curves, "align");
    if (rows.size() < 4) return;
    const auto slower = [](const Row& a, const Row& b) { return a.sample->per_step < b.sample->per_step; };
    const auto [best, worst] = std::ranges::minmax_element(rows, slower);
    auto found =
        ratio_finding("loop.place", "worst place of a loop", *worst->sample, *best->sample,
                      concat("slowest over fastest of one loop behind ", rows.size(), " lengths of straight line"));
    // The shortest period that holds for every pair of samples within 2 %.
    std::size_t period = 0;
    for (std::size_t p = 2; p <= rows.size() / 2 && period == 0 && found.low > 1.02; ++p) {
        bool repeats = true;
        for (std::size_t i = 0; i + p < rows.size(); ++i)
            repeats = repeats && std::abs(rows[i + p].sample->per_step / rows[i].sample->per_step - 1) <= 0.02;
        if (repeats) period = p;
    }
    if (period > 0) found.how += concat(", repeating every ", period);
    out.push_back(found);
}

}  // namespace

std::size_t groups_for(double load_percent, const Device& device) {
    return static_cast<std::size_t>(std::max(1.0, std::round(load_percent * device.compute_units / 100)));
}

std::vector<Finding> fma_findings(const std::vector<Curve>& curves, const Device& device) {
    std::vector<Finding> out;
    conclude_alignment(curves, out);
    conclude_latency(curves, device, out);
    conclude_rates(curves, device, out);
    if (device.is_cpu()) conclude_widths(curves, device, out);
    conclude_code(curves, out);
    conclude_units(curves, device, out);
    return out;
}

}  // namespace cllab::model::lib
