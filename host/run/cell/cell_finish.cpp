// What follows the sampling of a cell: its code and the dump, its metrics and warnings, the last checks.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/hash.hpp"
#include "core/phases.hpp"
#include "core/stats.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "inspect/binary/pocl_code.hpp"
#include "inspect/code/work.hpp"
#include "inspect/tools/core_models.hpp"
#include "inspect/tools/dump.hpp"
#include "model/hot_region.hpp"
#include "model/work.hpp"
#include "run/cell/cell_sampling.hpp"
#include "run/executor.hpp"

namespace cllab::run {
namespace {

using namespace model;

/// Where the code of each kernel that an operation launches is read, by name and launch size. None where it has no
/// steps: it is the cell's.
std::map<std::string, inspect::DumpRequest> requests_of_launches(const CellState& state,
                                                                 const inspect::DumpRequest& own) {
    std::map<std::string, inspect::DumpRequest> requests;
    for (const auto& step : state.setup.steps) {
        const auto* launch = std::get_if<Launch>(&step);
        if (!launch) continue;
        auto request = own;
        if (!launch->entry.empty() && launch->entry != own.entry) {
            request.entry = launch->entry;
            request.ran.clear();
        }
        request.launch = {launch->local, launch->global};
        requests.emplace(request.entry + " " + launch->local.text() + " of " + launch->global.text(), request);
    }
    return requests;
}

/// One hash for the code of every kernel that an operation launches: a change in any of them is a change. Empty where
/// one of them could not be read.
std::string fingerprint_of_launches(CellState& state, const inspect::DumpRequest& own) {
    const auto requests = requests_of_launches(state, own);
    if (requests.empty()) return state.code.get().info.fingerprint;
    std::vector<std::string> all;
    for (const auto& [name, request] : requests) {
        const auto code = state.instruments.code().read(request, false);
        all.push_back(code.get().info.fingerprint);
        if (all.back().empty()) return {};
    }
    return all.size() == 1 ? all.front() : sha256_hex(join(all, "\n"));
}

/// The work must be there: by the code where it can be counted. Returns whether it could.
bool judge_code(CellState& state, const inspect::Analysis& analysis) {
    if (state.record.status != Status::ok) return false;  // what is wrong already needs no second reason
    const auto work = inspect::check_work(analysis, state.setup.declared, state.setup.slope.has_value());
    if (!work.collapsed.empty()) state.fail(Status::wrong_result, "collapsed: " + work.collapsed);
    if (!work.doubtful.empty())
        state.warn("collapsed-sass: " + work.doubtful +
                   "; ptxas of this machine made it, the driver's own code may have more");
    return work.counted;
}

/// The same by the time, where no code could be counted.
void check_line(CellState& state, unsigned operations) {
    // A simulator's trip counts 1 and 2 have no middle.
    if (!state.setup.slope) return;
    const auto& slope = *state.setup.slope;
    if (slope.high - slope.low < 2) return;
    const InPhase phase(Phase::verify);
    const std::int32_t low = slope.low, high = slope.high - (slope.high - slope.low) % 2;
    auto& subject = *state.subject;
    std::vector<double> times[3];
    subject.timed(operations);  // the device has rested while the code was read
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(state.settings.sampling_seconds);
    // Seven rounds have an interval of their own; three will do where a launch takes very long.
    for (unsigned round = 0; round < 7 && (round < 3 || std::chrono::steady_clock::now() < end); ++round) {
        for (const int k : {0, 1, 2}) {
            subject.set_trips(low + (high - low) / 2 * k);
            times[k].push_back(subject.timed(operations));
        }
    }
    if (const auto wrong = not_linear(times[0], times[1], times[2], slope.may_be_free))
        state.warn("not-linear: " + *wrong +
                   "; the compiler may have dropped the work, and the code cannot be counted here");
}

void fill_metrics(CellState& state, Sampling& sampling) {
    sampling.conclude();
    if (!state.record.time) {
        state.fail(Status::timed_out, "interrupted before its first sample");
        return;
    }
    const auto& timing = *state.record.time;
    const auto& audit = state.session.timer();
    const double t = timing.median;
    switch (plausible(timing, state.setup.slope && state.setup.slope->may_be_free)) {
        case Plausible::no:
            state.fail(Status::wrong_result,
                       implausible_step + format_significant(t, 3) +
                           " s, which cannot be: the work is not in the code or the clock is wrong");
            return;
        case Plausible::nothing:
            state.warn("no-cost: between " + format_significant(timing.low, 2) + " and " +
                       format_significant(timing.high, 2) + " s per step, which cannot be told from nothing");
            return;
        case Plausible::yes:
            break;
    }
    const auto add = [&](const std::string& metric, double value, const std::string& unit, Better better) {
        if (std::isfinite(value)) state.record.metrics.push_back({metric, {value, unit, better}});
    };
    state.record.work = work_of(state.setup);
    if (state.subject) inspect::learn_groups(state.record.work, state.ran, state.subject->first().global());
    const auto& work = state.setup.work;
    if (state.setup.slope) {
        add("step_time", t, "s", Better::lower);
    } else {
        if (work.bytes > 0) add("bandwidth", work.bytes / t, "B/s", Better::higher);
        if (state.record.yardstick)
            add("of_copy", 100 * work.bytes / t / state.record.yardstick->bandwidth, "%", Better::higher);
        if (work.flops > 0) add("flops", work.flops / t, "FLOP/s", Better::higher);
        if (work.steps > 0) add("step_time", t / work.steps, "s", Better::lower);
        if (state.subject->event_clock() && t < 3 * audit.empty_seconds)
            state.warn("below-floor: shorter than three empty launches (" + format_seconds(audit.empty_seconds) +
                       " each); make the work larger");
    }
    if (const auto huge = state.subject->first().huge_share()) add("huge_pages", 100 * *huge, "%", Better::neither);
    for (const auto& metric : state.cell.experiment->metrics)
        add(metric.name, metric.compute(state.setup, t), metric.unit, metric.better);
    if (state.subject->event_clock() && state.settings.cache == Cache::cold &&
        t < 200e-9 * static_cast<double>(audit.step_ns))
        state.warn("coarse: a cold sample is one operation, which here is shorter than 200 steps of the timer (" +
                   std::to_string(audit.step_ns) + " ns each); make the work larger");
    if (state.subject->is_row() && state.settings.cache == Cache::cold && t < 200 * audit.event_seconds)
        state.warn(
            "coarse: a cold sample is one operation, with an event at its first and at its last command, and here "
            "shorter than 200 times what an "
            "event costs (" +
            format_seconds(audit.event_seconds) + "); make the work larger");
    if (state.instruments.limits() && state.settings.judge) {
        const bool one_launch =
            state.subject->event_clock() && !state.setup.slope && state.subject->first().single_launch();
        if (const auto warning = state.settings.judge(state.record, *state.instruments.limits(), one_launch))
            state.warn(*warning);
    }
    if (state.instruments.limits() && state.settings.name_limit)
        state.record.limit = state.settings.name_limit(state.record, *state.instruments.limits());
    if (const auto& clocks = state.record.clocks; clocks && !clocks->limits.empty()) {
        std::string limits;
        for (const auto& limit : clocks->limits) limits += (limits.empty() ? "" : ", ") + limit;
        state.warn("clock-limited: the clock was held down while the samples were taken (" + limits + "; " +
                   format_significant(clocks->core_mhz_low, 4) + " to " + format_significant(clocks->core_mhz_high, 4) +
                   " MHz by " + clocks->source + ")");
    }
    if (sampling.interrupted())
        state.warn(
            "interrupted: the run was ended while this cell was sampled, so it has fewer samples than it would have");
    if (sampling.throttled())
        state.warn("throttled: the reference kernel between the samples varied by " +
                   format_significant(100 * sampling.reference_spread(), 2) +
                   " %, and most samples are next to a run of it that is more than 10 % off, so none was dropped; the "
                   "clock drifts or the "
                   "device has other work");
    if (state.subject->events_exceeded_host())
        state.warn("event-exceeds-host: an event interval was longer than the host clock around it; distrust this row");
    if (const auto& native = state.record.native)
        state.warn("native: hand-written C++ (" + native->compiler + ", " + native->instruction_set +
                   "), timed by the host clock with the waking of its "
                   "threads; a kernel's time by the event clock has no launch in it");
    else if (!state.subject->event_clock())
        state.warn("host-clock: " + audit.verdict + "; timed by the host clock, launch cost included");
    if (device::has_quirk(state.session.facts(), "oclgrind-timer"))
        state.warn("simulated: Oclgrind's times are of a simulation; use it for races and bounds");
    if (!timing.settled)
        state.warn(
            "not-settled: the warm-up of the device ended before two windows agreed within 1 %; the device or the host "
            "is busy");
    if (timing.stop_reason == "noise-floor")
        state.warn("noise-floor: more samples no longer narrow the interval; look for other load on the device");
}

/// What the parts of an operation take, what lies between them, and the whole with an event for each.
void fill_parts(CellState& state, const Sampling& sampling) {
    if (sampling.parts().empty()) {
        if (state.settings.steps && !state.record.native && !state.subject->event_clock() &&
            !state.subject->first().single_launch())
            state.warn("no-steps: only events time the parts of an operation, and this device's cannot be trusted");
        return;
    }
    for (const auto& [name, seconds] : sampling.parts())
        state.record.metrics.push_back({"step_" + name, {summarise(seconds).median, "s", Better::lower}});
}

void transfers(CellState& state) {
    if (!state.setup.time_transfers) return;
    const InPhase phase(Phase::transfers, InPhase::Inner::included);
    std::vector<double> up, down;
    for (int i = 0; i < 5; ++i) {
        up.push_back(state.subject->first().time_upload(state.setup));
        down.push_back(state.subject->first().time_download());
    }
    // Images have no upload of this kind; no figure beats a zero.
    const double in = summarise(up).median, back = summarise(down).median;
    if (in > 0) state.record.metrics.push_back({"upload", {in, "s", Better::lower}});
    if (back > 0) state.record.metrics.push_back({"download", {back, "s", Better::lower}});
}

void observe(CellState& state) {
    if (!state.setup.observe) return;
    if (!state.proved(state.subject->read_back())) return;
    for (const auto& [name, value] :
         state.setup.observe(state.subject->buffers(), state.subject->buffers().operations)) {
        if (std::isfinite(value)) state.record.metrics.push_back({name, {value, "", Better::neither}});
    }
}

/// The bright pixels of the picture, as it was last read back and found right.
void count_above(CellState& state) {
    const auto level = state.settings.count_above;
    for (const auto& [name, picture] : state.setup.pictures) {
        const auto data = state.subject->buffers().data.find(name);
        if (!level || data == state.subject->buffers().data.end()) continue;
        auto& above = state.record.above.emplace();
        above.level = *level;
        const auto grey = picture.grey(data->second);
        for (std::size_t i = 0; i < grey.size(); ++i) {
            const auto value = std::to_integer<unsigned>(grey[i]);
            if (value <= *level) continue;
            if (++above.pixels <= Above::most_listed)
                above.first.push_back(
                    {static_cast<unsigned>(i % picture.width), static_cast<unsigned>(i / picture.width), value});
        }
        state.record.metrics.push_back(
            {"above_" + std::to_string(*level), {static_cast<double>(above.pixels), "", Better::neither}});
    }
}

/// What a tolerance let pass: as far from the expected result as any was, at any time.
void say_errors(CellState& state) {
    const auto* errors = state.setup.errors.get();
    if (!errors) return;
    const auto add = [&](const char* metric, double value, const char* unit) {
        if (std::isfinite(value)) state.record.metrics.push_back({metric, {value, unit, Better::lower}});
    };
    add("error_absolute", errors->absolute(), "");
    add("error_relative", errors->relative(), "");
    if (errors->of_floating_point()) add("error_ulp", errors->ulp(), "ulp");
}

/// What the checks amount to, which only the whole comparison knows where its variants are held against each other.
void say_proof(CellState& state) {
    const auto proof = state.setup.proof ? state.setup.proof() : Proof{"host code"};
    state.record.checked_by = proof.checked_by;
    for (const auto& warning : proof.warnings) state.warn(warning);
}

/// Method rule 1: once more after timing. First what the timed operations have left, then whether each does its work.
bool proved_after(CellState& state) {
    if (state.setup.slope) state.subject->set_trips(state.setup.slope->high);
    if (!state.proved(state.subject->check_left())) return false;
    // What a long chain of operations has left cannot be checked, but a chain of another length than before can.
    if (state.setup.accumulates) return state.proved(state.subject->verify_one_more(state.settings.seed + 1));
    if (state.session.facts().implementation == Implementation::oclgrind) return true;  // its times are of a simulation
    return state.proved(state.subject->check_haste(state.settings.sampling_seconds));
}

/// Where it was seen which code runs, the loop of the record is that one, whatever its shape, or none.
void prefer_what_runs(model::CodeInfo& code, const model::Hot& hot) {
    const auto regions = model::hot_regions(hot);
    if (regions.empty() || hot.evidence != model::Hot::sampled) return;
    code.loop.clear();
    code.origin.erase("loop");
    if (!regions.front().is_loop()) return;
    code.loop["instructions"] = regions.front().instructions;
    code.origin["loop"] = "sampled, one iteration of the " + model::place(regions.front());
}

/// Asked only whether the result is right, and nothing is declared to stand in the code: then nobody looks at it.
bool is_code_wanted(const CellState& state) {
    if (state.record.native) return false;  // it is in no program of the device
    if (!state.settings.read_code) return false;
    return state.settings.measure || state.settings.dumps || !state.setup.declared.empty();
}

/// The kernel whose code is the cell's: its own, or, where an operation launches only others, the one that was seen
/// running most; the first of them where nobody looked.
void name_entry(const CellState& state, inspect::DumpRequest& request) {
    const auto ran = [&](const std::string& entry) {
        return state.addresses ? inspect::sampled_pocl_code(request.binary, entry, *state.addresses)
                               : inspect::SampledObject{};
    };
    std::vector<const Launch*> others;
    for (const auto& step : state.setup.steps)
        if (const auto* launch = std::get_if<Launch>(&step)) {
            if (launch->entry.empty() || launch->entry == request.entry) {
                others.clear();
                break;
            }
            others.push_back(launch);
        }
    auto best = ran(request.entry);
    for (const auto* launch : others) {
        const auto seen = ran(launch->entry);
        if (launch != others.front() && seen.samples <= best.samples) continue;
        best = seen;
        request.entry = launch->entry;
        request.launch = {launch->local, launch->global};
    }
    request.ran = best.path;
}

inspect::DumpRequest dump_request(CellState& state) {
    inspect::DumpRequest request{
        {},
        device::kernel_name(state.session, state.built, state.cell.experiment->entry(*state.cell.variant)),
        state.source,
        state.record.build.options,
        state.built.log,
        binary_of(state),
        state.session.facts(),
        state.subject ? inspect::LaunchSize{state.subject->first().local(), state.subject->first().global()}
                      : inspect::LaunchSize{}};
    request.tool_budget = std::chrono::milliseconds(static_cast<long>(1000 * state.settings.tool_seconds));
    name_entry(state, request);
    return request;
}

}  // namespace

std::span<const std::byte> binary_of(CellState& state) {
    if (state.binary.empty()) {
        try {
            state.binary = device::program_binary(state.built);
        } catch (const cl::Error& e) {
            state.warn("no-binary: " + std::string(e.what()) + " gives " + device::error_name(e.err()));
        }
    }
    return state.binary;
}

void begin_reading_code(CellState& state) {
    const InPhase phase(Phase::disassembly);
    if (!is_code_wanted(state)) return;
    const auto request = dump_request(state);
    state.code = state.instruments.code().read(request, true);
    for (const auto& [name, other] : requests_of_launches(state, request)) state.instruments.code().read(other, true);
}

void read_code(CellState& state) {
    if (!is_code_wanted(state)) return;
    const InPhase phase(Phase::disassembly);
    auto request = dump_request(state);
    // What was seen running may be another function than the one that was expected when reading began.
    if (!state.code.valid() || !request.ran.empty()) state.code = state.instruments.code().read(request, false);
    const auto& analysis = state.code.get();
    state.record.code = analysis.info;
    state.ran = request.ran;
    if (state.addresses)
        state.record.hot = inspect::hot_code(analysis, *state.addresses);
    else if (!state.record.hot && state.subject && (state.settings.measure || state.settings.hot_seconds > 0))
        state.record.hot = hot_by_account(state, analysis);
    if (state.record.hot) prefer_what_runs(state.record.code, *state.record.hot);
    if (state.record.hot && state.settings.core_models)
        state.record.hot->models = inspect::core_models(analysis, *state.record.hot);
    request.hot = state.record.hot;
    if (state.settings.dumps) {
        const InPhase writing(Phase::dump);
        try {
            request.folder = dump_folder(*state.settings.dumps, state.session.facts(), state.cell);
            state.dumped.emplace(inspect::write_sidecars(request, analysis));
            state.record.dump = request.folder.string();
        } catch (const Error& e) {  // what was measured is worth more
            state.warn(std::string("no-dump: ") + e.what());
        }
    }
    if (!state.subject) return;
    state.work_counted = judge_code(state, analysis);
    state.record.code.fingerprint = fingerprint_of_launches(state, request);
    cl_ulong local = 0;
    if (!state.record.code.local_bytes &&
        clGetKernelWorkGroupInfo(state.subject->first().kernel()(), state.session.device()(), CL_KERNEL_LOCAL_MEM_SIZE,
                                 sizeof local, &local, nullptr) == CL_SUCCESS) {
        state.record.code.local_bytes = static_cast<std::int64_t>(local);
        state.record.code.origin["local_bytes"] = "CL_KERNEL_LOCAL_MEM_SIZE";
    }
}

void finish(CellState& state, Sampling* sampling) {
    state.guarded([&] { sample_hot_code(state); });
    state.announce("dump");
    state.guarded([&] { read_code(state); });
    if (sampling && state.record.status == Status::ok) {
        state.announce("verify again");
        state.guarded([&] {
            fill_metrics(state, *sampling);
            if (state.record.status != Status::ok) return;
            count_per_unit(state);
            fill_parts(state, *sampling);
            observe(state);
            if (state.record.status != Status::ok || !proved_after(state)) return;
            if (!state.work_counted && !sampling->interrupted()) check_line(state, sampling->operations());
            transfers(state);
        });
    }
    if (state.record.status != Status::ok) return;
    say_errors(state);
    count_above(state);
    say_proof(state);
}

void finish_arrangement(CellState& state, Sampling& sampling) {
    if (state.record.status != Status::ok || !state.subject) return;
    state.guarded([&] {
        if (!state.proved(state.subject->guard_damage())) return;
        say_proof(state);
        sampling.keep_all();
        sampling.conclude();
        if (!state.record.time) return;
        state.record.time->shared_memory = state.subject->shares_memory();
        // That it is a difference, of which single samples may be negative.
        if (state.setup.slope)
            state.record.metrics.push_back({"step_time", {state.record.time->median, "s", Better::lower}});
    });
}

}  // namespace cllab::run
