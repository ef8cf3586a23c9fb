// The code of a cell: read, compared with the samples and the declared work, and dumped.
#include <algorithm>
#include <map>

#include "core/hash.hpp"
#include "core/phases.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "inspect/binary/cpu_code.hpp"
#include "inspect/code/analysis.hpp"
#include "inspect/tools/dump.hpp"
#include "model/result.hpp"
#include "model/work.hpp"
#include "run/address_sampler.hpp"
#include "run/cell/cell_state.hpp"
#include "run/executor.hpp"

namespace cllab::run {
namespace {

using namespace model;

/// The program's binary, requested from the driver once. Empty if the driver has none.
std::span<const std::byte> binary_of(CellState& state) {
    if (state.binary.empty()) {
        try {
            state.binary = device::program_binary(state.built);
        } catch (const cl::Error& e) {
            state.warn(Warning::no_binary, std::string(e.what()) + " returned " + device::error_name(e.err()));
        }
    }
    return state.binary;
}

inspect::LaunchSize size_of(const CellState& state, const Launch& launch) {
    return {launch.local, launch.global, static_cast<std::int64_t>(local_bytes_of(state.setup, launch.args))};
}

/// Size of the first launch of the cell's own kernel.
inspect::LaunchSize size_of(const CellState& state) {
    if (!state.subject) return {};
    auto& operation = state.subject->first();
    return size_of(state, Launch{{}, operation.global(), operation.local()});
}

/// A request to read the code of each kernel that an operation launches, by name and launch size. Empty if the
/// operation has no steps: then the cell's own request applies.
std::map<std::string, inspect::DumpRequest> requests_of_launches(const CellState& state,
                                                                 const inspect::DumpRequest& own) {
    std::map<std::string, inspect::DumpRequest> requests;
    for (const auto* launch : model::launches_of(state.setup)) {
        auto request = own;
        if (!launch->entry.empty() && launch->entry != own.entry) {
            request.entry = launch->entry;
            request.ran.clear();
        }
        request.launch = size_of(state, *launch);
        requests.emplace(request.entry + " " + launch->local.text() + " of " + launch->global.text(), request);
    }
    return requests;
}

/// One hash for the code of all kernels that an operation launches, so that a change of any kernel changes it. Empty if
/// the code of any kernel could not be read.
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

/// Fails the cell if its code lacks the declared work. Returns whether the work could be counted in the code.
bool judge_code(CellState& state, const inspect::Analysis& analysis) {
    if (state.record.status != Status::ok) return false;  // one reason is enough
    const auto work = inspect::check_work(analysis, state.setup.declared, state.setup.slope.has_value());
    if (!work.collapsed.empty()) state.fail(Status::wrong_result, "collapsed: " + work.collapsed);
    if (!work.doubtful.empty())
        state.warn(Warning::collapsed_sass,
                   work.doubtful + "; this machine's ptxas counted them, and the driver's own code may have more");
    return work.counted;
}

/// If sampling showed which code runs, the record's loop becomes the hottest region. If that region is no loop, the
/// record has none.
void prefer_what_runs(model::CodeInfo& code, const model::Hot& hot) {
    const auto regions = model::hot_regions(hot);
    if (regions.empty() || hot.evidence != model::Hot::sampled) return;
    code.loop.clear();
    code.origin.erase("loop");
    if (!regions.front().is_loop()) return;
    code.loop["instructions"] = regions.front().instructions;
    code.origin["loop"] = "sampled, one iteration of the " + model::place(regions.front());
}

/// False if nothing uses the code: no measurement, no dump, no declared work, and no agreement check, which does not
/// accept equal code as evidence.
bool is_code_wanted(const CellState& state) {
    if (state.record.native) return false;  // its code is not in the device's program
    if (!state.settings.read_code) return false;
    return state.settings.measure || state.settings.dumps || state.setup.know_code || !state.setup.declared.empty();
}

/// Names the kernel whose code counts as the cell's: its own. If an operation launches only other kernels, it is the
/// one with the most samples, or the first one without samples.
void name_entry(const CellState& state, inspect::DumpRequest& request) {
    const auto ran = [&](const std::string& entry) {
        return state.addresses ? inspect::sampled_pocl_code(request.binary, entry, *state.addresses)
                               : inspect::SampledObject{};
    };
    auto others = model::launches_of(state.setup);
    const auto is_own = [&](const Launch* l) { return l->entry.empty() || l->entry == request.entry; };
    if (std::ranges::any_of(others, is_own)) others.clear();
    auto best = ran(request.entry);
    for (const auto* launch : others) {
        const auto seen = ran(launch->entry);
        if (launch != others.front() && seen.samples <= best.samples) continue;
        best = seen;
        request.entry = launch->entry;
        request.launch = size_of(state, *launch);
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
        size_of(state)};
    request.tool_budget = std::chrono::milliseconds(static_cast<long>(1000 * state.settings.tool_seconds));
    name_entry(state, request);
    return request;
}

/// Finds the code that ran, by samples or by the declared work.
void find_hot_code(CellState& state, const inspect::Analysis& analysis) {
    auto& record = state.record;
    if (state.addresses)
        record.hot = inspect::hot_code(analysis, *state.addresses);
    else if (!record.hot && state.subject && (state.settings.measure || state.settings.hot_seconds > 0) &&
             !state.session.facts().is_cpu())
        record.hot = inspect::account(analysis, state.setup);
    if (record.hot) prefer_what_runs(record.code, *record.hot);
}

void write_dump(CellState& state, inspect::DumpRequest& request, const inspect::Analysis& analysis) {
    const InPhase phase(Phase::dump);
    try {
        request.folder = dump_folder(*state.settings.dumps, state.session.facts(), state.cell);
        state.dumped.emplace(inspect::write_sidecars(request, analysis));
        state.record.dump = request.folder.string();
    } catch (const Error& e) {  // the measurement is worth more than the dump
        state.warn(Warning::no_dump, e.what());
    }
}

}  // namespace

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
    // The function that ran may differ from the one that was expected when reading began.
    if (!state.code.valid() || !request.ran.empty()) state.code = state.instruments.code().read(request, false);
    const auto& analysis = state.code.get();
    state.record.code = analysis.info;
    state.ran = request.ran;
    find_hot_code(state, analysis);
    request.hot = state.record.hot;
    if (state.settings.dumps) write_dump(state, request, analysis);
    if (!state.subject) return;
    state.work_counted = judge_code(state, analysis);
    state.record.code.fingerprint = fingerprint_of_launches(state, request);
    if (state.setup.know_code) state.setup.know_code(state.record.code.fingerprint);
    cl_ulong local = 0;
    if (!state.record.code.local_bytes &&
        clGetKernelWorkGroupInfo(state.subject->first().kernel()(), state.session.device()(), CL_KERNEL_LOCAL_MEM_SIZE,
                                 sizeof local, &local, nullptr) == CL_SUCCESS) {
        state.record.code.local_bytes = static_cast<std::int64_t>(local);
        state.record.code.origin["local_bytes"] = "CL_KERNEL_LOCAL_MEM_SIZE";
    }
}

// Finds the running code by sampling addresses in extra launches after the timed ones.

void sample_hot_code(CellState& state) {
    const double seconds = state.settings.hot_seconds;
    const auto status = state.record.status;
    const bool runs = status == model::Status::ok || status == model::Status::wrong_result;
    if (seconds <= 0 || !state.subject || state.record.native || !runs || !state.session.facts().is_cpu()) return;
    if (!inspect::runs_on_the_host(inspect::recognise(binary_of(state)))) return;
    state.announce("hot code");
    const InPhase phase(Phase::hot_code);
    auto& subject = *state.subject;
    if (state.setup.slope) subject.set_trips(state.setup.slope->high);
    if (state.fresh_data) subject.restore();
    const double one = std::max(subject.timed(1), 1e-7);
    if (one > 3 * seconds) {
        state.record.hot = model::Hot{.reason = "an operation takes " + format_seconds(one) + ", and --hot is " +
                                                format_seconds(seconds)};
        return;
    }
    const bool cold = state.settings.cache == Cache::cold;
    constexpr double piece = 0.01;
    const auto operations = cold || state.fresh_data ? 1u : static_cast<unsigned>(std::clamp(piece / one, 1.0, 1000.0));
    const auto work = [&] {
        if (state.fresh_data) subject.restore();
        if (cold) state.instruments.flush().run();
        subject.timed(operations);
    };
    state.addresses = sample_addresses(work, one * operations, seconds);
}

void count_per_unit(CellState& state) {
    const auto& hot = state.record.hot;
    if (state.record.status != model::Status::ok || !hot || !hot->hottest()) return;
    // On an instruction set with one address space, stores to local memory look like any other store.
    if (state.record.code.local_bytes.value_or(0) > 0) return;
    const auto declared = inspect::declared_in_place(state.setup);
    const auto times = declared ? inspect::executions(*hot->hottest(), *declared) : std::nullopt;
    if (declared && !times) state.record.work.instructions = inspect::least_instructions(*hot, *declared).value_or(0);
    if (!times) return;
    const double instructions = *times * hot->hottest()->instructions;
    state.record.work.instructions = instructions;
    if (const auto units = model::units_of(*state.cell.experiment, state.setup))
        state.record.metrics.push_back(
            {"hot_code", {instructions / units->number, "instr/" + units->unit, model::Better::neither}});
    else
        state.record.metrics.push_back(
            {"hot_code", {instructions / declared->moved, "instr/B", model::Better::neither}});
}

}  // namespace cllab::run
