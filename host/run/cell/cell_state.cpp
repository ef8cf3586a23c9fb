#include "run/cell/cell_state.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "core/text.hpp"
#include "core/units.hpp"
#include "run/executor.hpp"

namespace cllab::run {

using namespace model;

CellState::CellState(device::Session& session_, Instruments& instruments_, const Cell& cell_, const Order& order,
                     const Settings& settings_, Announce announce)
    : session(session_), instruments(instruments_), cell(cell_), settings(settings_), announce_(std::move(announce)) {
    const auto& facts = session.facts();
    record.id = cell.id;
    record.family = cell.experiment->family;
    record.variant = cell.variant->name;
    record.point = cell.point.values();
    record.device = device_info(facts);
    record.device.last_level_bytes = instruments.last_level().bytes;
    record.device.last_level_from = instruments.last_level().from;
    if (const auto& native = cell.variant->native)
        record.native = {native->threads(facts), native->compiler, native->instruction_set};
    record.host = this_host();
    record.run = settings.run;
    record.run.seed = settings.seed;
    record.run.order = order;
    record.utc = utc_now();
    record.argv = settings.argv;
}

bool CellState::fail(Status status, const std::string& reason) {
    record.status = status;
    record.reason = one_line(reason);
    // A wrong kernel has no time.
    record.time.reset();
    record.energy.reset();
    record.samples.clear();
    record.aside.clear();
    record.rounds.clear();
    record.aside_rounds.clear();
    record.metrics.clear();
    return false;
}

void CellState::warn(const std::string& warning) {
    if (std::ranges::find(record.warnings, warning) == record.warnings.end()) record.warnings.push_back(warning);
}

bool CellState::proved(const Subject::Wrong& wrong) { return !wrong || fail(Status::wrong_result, *wrong); }

bool CellState::guarded(const std::function<void()>& work) {
    const ChargedTo account(record.phases);
    try {
        work();
        return record.status == Status::ok;
    } catch (const Unsupported& e) {
        return fail(Status::unsupported, e.what());
    } catch (const cl::Error& e) {
        return fail(Status::launch_failed, std::string(e.what()) + " gives " + device::error_name(e.err()));
    } catch (const Error& e) {
        if (e.blame() != Blame::result) throw;
        return fail(Status::launch_failed, e.what());
    } catch (const std::length_error&) {
        return fail(Status::launch_failed, "this point needs more memory than a process can have");
    } catch (const std::bad_alloc&) {
        return fail(Status::launch_failed, "the host has no memory left for this point");
    }
}

void CellState::clocks(const device::Clocks& read) {
    if (!read.core_mhz) return;
    if (!record.clocks) record.clocks = model::ClockInfo{*read.core_mhz, *read.core_mhz, {}, read.source};
    auto& known = *record.clocks;
    known.core_mhz_low = std::min(known.core_mhz_low, *read.core_mhz);
    known.core_mhz_high = std::max(known.core_mhz_high, *read.core_mhz);
    for (const auto& limit : read.limits)
        if (std::ranges::find(known.limits, limit) == known.limits.end()) known.limits.push_back(limit);
}

}  // namespace cllab::run
