// What follows the sampling of a cell: its metrics and warnings, the dump, the last checks.
#include <cmath>

#include "core/stats.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "inspect/dump.hpp"
#include "run/cell_run.hpp"

namespace cllab::run {

using namespace model;

void CellRun::fill_metrics() {
    drift_.conclude();
    record_.samples = drift_.kept();
    record_.aside = drift_.aside();
    if (record_.samples.empty()) {
        fail(Status::timed_out, "interrupted before its first sample");
        return;
    }
    auto timing = to_timing(record_.samples);
    timing.per_sample = per_sample_;
    timing.stop_reason = interrupted_ ? "interrupted" : stop_.reason();
    timing.clock = subject_->event_clock() ? "event" : "host";
    timing.cache = name(settings_.cache);
    timing.sets = static_cast<unsigned>(sets_);
    timing.batch = batch_;
    timing.references = static_cast<unsigned>(drift_.references());
    timing.reference_spread = drift_.spread();
    timing.settled = settled_;
    record_.time = timing;
    const auto& audit = session_.timer();
    const double t = timing.median;
    switch (plausible(timing, setup_.slope && setup_.slope->may_be_free)) {
        case Plausible::no:
            fail(Status::wrong_result, "the time of a step is " + format_significant(t, 3) +
                                           " s, which cannot be: the work is not in the code or the clock is wrong");
            return;
        case Plausible::nothing:
            warn("no-cost: between " + format_significant(timing.low, 2) + " and " + format_significant(timing.high, 2) +
                 " s a step, which cannot be told from nothing");
            return;
        case Plausible::yes: break;
    }
    const auto add = [&](const std::string& metric, double value, const std::string& unit, Better better) {
        if (std::isfinite(value)) record_.metrics.push_back({metric, {value, unit, better}});
    };
    const auto& work = setup_.work;
    if (setup_.slope) {
        add("step_time", t, "s", Better::lower);
    } else {
        if (work.bytes > 0) add("bandwidth", work.bytes / t, "B/s", Better::higher);
        if (record_.yardstick) add("of_copy", 100 * work.bytes / t / record_.yardstick->bandwidth, "%", Better::higher);
        if (work.flops > 0) add("flops", work.flops / t, "FLOP/s", Better::higher);
        if (work.steps > 0) add("step_time", t / work.steps, "s", Better::lower);
        if (subject_->event_clock() && t < 3 * audit.empty_seconds)
            warn("below-floor: shorter than three empty launches (" + format_seconds(audit.empty_seconds) +
                 " each); make the work larger");
    }
    for (const auto& metric : cell_.experiment->metrics) add(metric.name, metric.compute(setup_, t), metric.unit, metric.better);
    if (subject_->event_clock() && settings_.cache == Cache::cold && t < 200e-9 * static_cast<double>(audit.step_ns))
        warn("coarse: a cold sample is one operation, and this one is shorter than 200 steps of the timer (" +
             std::to_string(audit.step_ns) + " ns each); make the work larger");
    if (instruments_.limits()) {
        const bool one_launch = subject_->event_clock() && !setup_.slope && subject_->first().single_launch();
        if (const auto beyond = beyond_peak(record_, *instruments_.limits(), one_launch)) warn(*beyond);
    }
    if (interrupted_) warn("interrupted: the run was ended while this cell was sampled, so it has fewer samples than it would have");
    if (drift_.throttled())
        warn("throttled: the reference kernel between the samples varied by " + format_significant(100 * drift_.spread(), 2) +
             " % and most samples lie beside one that is more than 10 % off, so all are kept; the clock drifts or the device has "
             "other work");
    if (subject_->events_exceeded_host())
        warn("event-exceeds-host: an event interval was longer than the host clock around it; distrust this row");
    if (!subject_->event_clock()) warn("host-clock: " + audit.verdict + "; timed by the host clock, launch cost included");
    if (device::has_quirk(session_.facts(), "oclgrind-timer"))
        warn("simulated: Oclgrind's times are of a simulation; use it for races and bounds");
    if (!settled_)
        warn("not-settled: the warm-up ended before two windows agreed within 1 %; the device or the host is busy");
    if (timing.stop_reason == "noise-floor")
        warn("noise-floor: more samples no longer narrow the interval; look for other load on the device");
}

bool CellRun::idle_sample() {
    return guarded([&] { one_sample(per_sample_); });
}

bool CellRun::round_sample() {
    return guarded([&] { drift_.sample(one_sample(per_sample_)); });
}

const Record& CellRun::finish_arrangement() {
    if (record_.status != Status::ok || !subject_) return record_;
    guarded([&] {
        if (!proved(subject_->guard_damage())) return;
        drift_.conclude();
        record_.samples = drift_.kept();
        record_.aside = drift_.aside();
        if (record_.samples.empty()) return;
        record_.time = to_timing(record_.samples);
        record_.time->shared_memory = subject_->shares_memory();
    });
    return record_;
}

void CellRun::transfers() {
    if (!setup_.time_transfers) return;
    std::vector<double> up, down;
    for (int i = 0; i < 5; ++i) {
        up.push_back(subject_->first().time_upload(setup_));
        down.push_back(subject_->first().time_download());
    }
    // Images have no upload of this kind; no figure beats a zero.
    const double in = summarise(up).median, back = summarise(down).median;
    if (in > 0) record_.metrics.push_back({"upload", {in, "s", Better::lower}});
    if (back > 0) record_.metrics.push_back({"download", {back, "s", Better::lower}});
}

void CellRun::observe() {
    if (!setup_.observe) return;
    if (!proved(subject_->read_back())) return;
    for (const auto& [name, value] : setup_.observe(subject_->buffers(), subject_->buffers().operations)) {
        if (std::isfinite(value)) record_.metrics.push_back({name, {value, "", Better::neither}});
    }
}

void CellRun::dump() {
    // Asked only whether the result is right, and nothing is declared to stand in the code: disassembling it is for nobody.
    if (!settings_.measure && !settings_.dumps && setup_.declared.empty()) return;
    std::vector<std::byte> binary;
    try {
        binary = device::program_binary(built_);
    } catch (const cl::Error& e) {
        warn("no-binary: " + std::string(e.what()) + " gives " + device::error_name(e.err()));
    }
    inspect::DumpRequest request{
        {}, cell_.experiment->entry(*cell_.variant), source_, record_.build.options, built_.log, binary, session_.facts(),
        subject_ ? inspect::LaunchSize{subject_->first().local(), subject_->first().global()} : inspect::LaunchSize{}};
    request.tool_budget = std::chrono::milliseconds(static_cast<long>(1000 * settings_.tool_seconds));
    const auto& analysis = instruments_.code().read(request);
    record_.code = analysis.info;
    if (settings_.dumps) {
        try {
            request.folder = dump_folder(*settings_.dumps, session_.facts(), cell_);
            dumped_.emplace(inspect::write_sidecars(request, analysis));
            record_.dump = request.folder.string();
        } catch (const Error& e) {  // what was measured is worth more
            warn(std::string("no-dump: ") + e.what());
        }
    }
    if (!subject_) return;
    judge_code(analysis);
    cl_ulong local = 0;
    if (!record_.code.local_bytes &&
        clGetKernelWorkGroupInfo(subject_->first().kernel()(), session_.device()(), CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local,
                                 nullptr) == CL_SUCCESS) {
        record_.code.local_bytes = static_cast<std::int64_t>(local);
        record_.code.origin["local_bytes"] = "CL_KERNEL_LOCAL_MEM_SIZE";
    }
}

/// Method rule 1: once more after timing. First what the timed operations have left, then whether each does its work.
bool CellRun::proved_after() {
    if (setup_.slope) subject_->set_trips(setup_.slope->high);
    if (!proved(subject_->check_left())) return false;
    // What a long chain of operations has left cannot be checked, but a chain of another length than before can.
    if (setup_.accumulates) return proved(subject_->verify_one_more(settings_.seed + 1));
    if (session_.facts().implementation == Implementation::oclgrind) return true;  // its times are of a simulation
    return proved(subject_->check_haste(settings_.sampling_seconds));
}

void CellRun::set_yardstick(const Yardsticks::Known& known) {
    record_.yardstick = known.info;
    if (!known.info) warn("no-yardstick: " + known.why_not + "; the column 'of copy' is left out");
}

void CellRun::set_batch(unsigned number, const std::string& apart) {
    batch_ = number;
    if (!apart.empty())
        warn("not-in-turns: " + apart + ", so the cells of this comparison were measured in batches, one after the other; a "
             "difference between two batches may be the machine's");
}

void CellRun::say_proof() {
    const auto proof = setup_.proof ? setup_.proof() : Proof{"host code"};
    record_.checked_by = proof.checked_by;
    for (const auto& warning : proof.warnings) warn(warning);
}

const Record& CellRun::finish() {
    phase_("dump");
    guarded([&] { dump(); });
    if (settings_.measure && record_.status == Status::ok) {
        phase_("verify again");
        guarded([&] {
            fill_metrics();
            if (record_.status != Status::ok) return;
            observe();
            if (record_.status != Status::ok || !proved_after()) return;
            check_line();
            transfers();
        });
    }
    if (record_.status == Status::ok) say_proof();
    return record_;
}

}  // namespace cllab::run
