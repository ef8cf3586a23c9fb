#include "run/cell/cell_state.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <utility>

#include "core/hash.hpp"
#include "core/kernel_text.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "device/cuda.hpp"
#include "model/params.hpp"
#include "model/work.hpp"
#include "run/executor.hpp"
#include "run/kernel_source.hpp"

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
        return fail(Status::launch_failed, std::string(e.what()) + " returned " + device::error_name(e.err()));
    } catch (const Error& e) {
        if (e.blame() != Blame::result) throw;
        return fail(Status::launch_failed, e.what());
    } catch (const std::length_error&) {
        return fail(Status::launch_failed, "this point needs more memory than a process can allocate");
    } catch (const std::bad_alloc&) {
        return fail(Status::launch_failed, "the host ran out of memory for this point");
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

namespace {

using namespace model;

void build_reference(CellState& state) {
    const auto from = reference_text(state.cell, state.setup, state.session.facts(), state.settings);
    state.reference_known_by = sha256_hex(from.options + "\n" + from.text);
    state.reference = state.instruments.programs().build(from.text, from.options).get();
    if (!state.reference.ok)
        state.fail(Status::build_failed, "the reference '" + state.setup.reference->variant->name +
                                             "' does not build: " + device::error_name(state.reference.code));
}

/// Throws Unsupported if the text cannot be compiled as CUDA C++ for this device and launched through OpenCL.
void require_cuda_can(const CellState& state) {
    if (state.session.facts().implementation != Implementation::nvidia)
        throw Unsupported("the build option -x cuda needs a device with NVIDIA's driver");
    for (const auto& argument : state.setup.args) {
        const bool image = std::holds_alternative<Image>(argument) || std::holds_alternative<Sampler>(argument);
        if (image) throw Unsupported("the build option -x cuda does not support images and samplers");
        if (std::holds_alternative<Local>(argument))
            throw Unsupported("the build option -x cuda does not support __local arguments");
    }
    const auto displaced = [](const Extent& offset) {
        return std::any_of(offset.size.begin(), offset.size.begin() + offset.dims, [](auto n) { return n > 0; });
    };
    bool any = displaced(state.setup.offset);
    for (const auto* launch : model::launches_of(state.setup)) any = any || displaced(launch->offset);
    if (any) throw Unsupported("the build option -x cuda does not support a global offset");
}

/// Each text with its options is built once, in the background if the driver can. A native loop is already built.
void begin_build(CellState& state) {
    if (state.record.native) {
        state.record.build.source = "native";
        return;
    }
    const InPhase phase(Phase::build);
    auto& build = state.record.build;
    auto from = build_text(state.cell, state.setup, state.session.facts(), state.settings);
    state.source = std::move(from.text);
    build.options = std::move(from.options);
    build.source = std::move(from.origin);
    build.source_sha256 = sha256_hex(state.source);
    build.elsewhere = includes_of(state.source);
    if (device::asks_for_cuda(build.options)) require_cuda_can(state);
    state.building = state.instruments.programs().build(state.source, build.options);
}

void end_build(CellState& state) {
    if (state.record.native) return;
    const InPhase phase(Phase::build);
    auto& build = state.record.build;
    auto& built = state.built = state.building.get();
    built.log = name_lines(built.log, state.source);
    build.seconds = built.seconds;
    build.log = built.log;
    // The fastest compilation from text observed took 20 ms. A build below 5 ms came from the driver's own cache.
    build.cached = built.ok && built.seconds < 5e-3;
    if (built.ok) {
        if (state.setup.reference) build_reference(state);
        return;
    }
    for (const auto& extension : state.setup.extensions) {
        if (!state.session.facts().has(extension) || device::keeps_promise(state.session, extension)) continue;
        state.fail(Status::unsupported,
                   "the device lists " + extension + ", but its compiler does not build a kernel that uses it");
        return;
    }
    const auto first = first_error(built.log);
    state.fail(Status::build_failed, device::error_name(built.code) + (first.empty() ? "" : ": " + first));
}

/// Makes the data to upload here, so that its time is charged to this phase.
void make_data(const Setup& setup) {
    const InPhase phase(Phase::data);
    for (const auto& argument : setup.args) {
        if (const auto* input = std::get_if<Input>(&argument)) *input->data;
        if (const auto* inout = std::get_if<InOut>(&argument)) *inout->data;
        if (const auto* image = std::get_if<Image>(&argument); image && image->data) *image->data;
    }
}

/// The cell's setup with the data of the first (0) or second (1) verification.
Setup set_up(const CellState& state, unsigned verification) {
    const InPhase phase(Phase::data);
    const auto& settings = state.settings;
    auto out = model::set_up(*state.cell.experiment,
                             {*state.cell.variant, state.cell.point, state.session.facts(),
                              settings.seed + verification, settings.files, verification, &state.instruments.data()});
    if (!out.errors && settings.tolerance) out.errors = std::make_shared<Errors>(*settings.tolerance);
    if (state.setup.errors) out.errors = state.setup.errors;  // the largest of both verifications
    if (settings.one_core)
        out.pages = std::array{Pages::any, Pages::separate, Pages::repeated}.at(state.record.run.order.position);
    if (settings.small_groups) {
        out.local = {};
        out.local.dims = out.global.dims;
    }
    return out;
}

/// Hash seed 1's launch so that runs compare. File contents count, random data does not.
void identify_launch(CellState& state) {
    constexpr std::uint64_t seed = 1;
    const auto& settings = state.settings;
    if (settings.arrangement) return;
    const bool may_hold_files = state.cell.variant->own || !settings.files.empty();
    if (!may_hold_files || settings.seed == seed) {
        state.record.launch = launch_identity(state.setup, may_hold_files ? Contents::taken : Contents::left_out);
        return;
    }
    const InPhase phase(Phase::data);
    const auto setup = model::set_up(*state.cell.experiment, {*state.cell.variant, state.cell.point,
                                                              state.session.facts(), seed, settings.files, 0});
    state.record.launch = launch_identity(setup, Contents::taken);
}

/// Why the cell cannot be measured on one core with repeated pages; nullopt if it can.
std::optional<std::string> refuses_one_core(const CellState& state) {
    const auto& setup = state.setup;
    const auto& facts = state.session.facts();
    if (!facts.is_cpu() || facts.implementation == Implementation::oclgrind || state.record.native)
        return "only kernels of a CPU device are confined to one core";
    const auto is_image = [](const Argument& a) { return std::holds_alternative<Image>(a); };
    const auto is_launch = [](const Step& s) { return std::holds_alternative<Launch>(s); };
    if (!setup.svm.empty() || std::ranges::any_of(setup.args, is_image))
        return "the time of a kernel with images or shared virtual memory cannot be split into execution and access "
               "to its data, so either of them may limit it";
    if (!std::ranges::all_of(setup.steps, is_launch)) return "its operation consists of more than launches";
    return std::nullopt;
}

/// Sets the cell up and starts its build, if the device has what the cell needs and room for it.
void begin_making(CellState& state) {
    const auto& facts = state.session.facts();
    if (const auto reason = missing_need(*state.cell.variant, facts)) {
        state.fail(Status::unsupported, *reason);
        return;
    }
    state.setup = set_up(state, 0);
    state.record.point = state.setup.point.values();
    if (const auto why = state.settings.one_core ? refuses_one_core(state) : std::nullopt) throw Unsupported(*why);
    state.device_bytes = device_bytes(state.setup);
    const auto room = static_cast<double>(facts.global_bytes);
    if (room > 0 && state.device_bytes > room)
        throw Unsupported("this point needs " + format_bytes(static_cast<std::uint64_t>(state.device_bytes)) +
                          " of global memory; the device has " + format_bytes(facts.global_bytes));
    if (state.settings.measure) {
        state.sets = sets_for(state.settings.cache, facts, state.setup, state.instruments.last_level().bytes,
                              memory_budget(facts));
        state.device_bytes *= static_cast<double>(state.sets);
        if (state.settings.cache == Cache::cold) state.instruments.flush();
    }
    begin_build(state);
}

void make(CellState& state, const CellState* donor) {
    make_data(state.setup);
    identify_launch(state);
    end_build(state);
    if (state.record.status != Status::ok) return;
    state.session.keep_originals(state.device_bytes <= memory_budget(state.session.facts()));
    state.subject = std::make_unique<Subject>(state.session, state.built, state.setup,
                                              state.cell.experiment->entry(*state.cell.variant),
                                              donor ? donor->subject.get() : nullptr);
    state.subject->keep_answers_in(state.instruments.answer());
    if (state.settings.screening) {
        state.subject->lends_memory();
        if (state.subject->shares_memory()) state.device_bytes = 0;
    }
    if (state.setup.reference)
        state.subject->set_reference(state.reference, state.reference_known_by, state.instruments.data());
}

void prove(CellState& state) {
    const auto seed = state.settings.seed;
    auto& subject = *state.subject;
    if (state.settings.one_core) {
        if (!subject.run_without_proof(state.setup, seed))
            state.fail(Status::unsupported, "the device does not work in the host's memory");
        return;
    }
    const bool once = state.settings.arrangement || state.settings.screening;
    const bool twice = state.settings.measure && !once;
    const auto operations = state.setup.verify_operations;
    const auto fence = state.settings.arrangement ? device::Fence::none : device::Fence::end;
    if (!state.proved(subject.verify(state.setup, seed, operations, twice, fence))) return;
    if (!state.settings.measure) {
        // A simulator takes as long for the second verification as for the first.
        if (once || state.session.facts().implementation == Implementation::oclgrind) return;
        if (!state.proved(subject.verify_one_more(seed))) return;
        state.setup = set_up(state, 1);
        make_data(state.setup);
        state.proved(subject.verify(state.setup, seed + 1, operations, false, device::Fence::start));
        return;
    }
    subject.make_sets(state.sets);
    if (once) {  // both seeds are verified when the cell is measured alone
        if (state.sets > 1) state.proved(subject.verify(state.setup, seed, operations));
        subject.forget_read_back();
        return;
    }
    state.setup = set_up(state, 1);
    make_data(state.setup);
    state.proved(subject.verify(state.setup, seed + 1, operations, false, device::Fence::start));
}

}  // namespace

void build_in_advance(device::Session& session, const Settings& settings, const Cell& cell, Kept& results) {
    if (!std::exchange(results.in_advance, true)) results.programs.emplace(session, false);
    const auto& facts = session.facts();
    const auto setup = model::set_up(
        *cell.experiment, {*cell.variant, cell.point, facts, settings.seed, settings.files, 0, &results.data});
    const auto build = [&](const BuildText& from) { results.programs->build(from.text, from.options).get(); };
    build(build_text(cell, setup, facts, settings));
    if (setup.reference) build(reference_text(cell, setup, facts, settings));
}

void begin(CellState& state) {
    if (std::exchange(state.begun, true)) return;
    state.announce("build");
    state.guarded([&] { begin_making(state); });
}

bool prepare(CellState& state, const CellState* donor, const CellState* proved) {
    begin(state);
    if (state.record.status != Status::ok) return false;
    state.announce("build");
    if (!state.guarded([&] { make(state, donor); })) {
        if (state.record.status == Status::build_failed) state.guarded([&] { read_code(state); });
        return false;
    }
    state.announce("verify");
    if (proved) state.subject->share_answer(*proved->subject);
    const bool right = state.guarded([&] { prove(state); });
    if (right && state.session.works_beside_host()) state.guarded([&] { begin_reading_code(state); });
    if (right) return true;
    // The author of a wrong kernel wants to see its code, and `cllab isa --hot` the code that runs.
    if (!state.settings.measure) state.guarded([&] { sample_hot_code(state); });
    state.guarded([&] { read_code(state); });
    return false;
}

std::uint64_t yardstick_bytes(const CellState& state) {
    if (state.setup.slope || state.setup.work.bytes <= 0) return 0;
    return yardstick_bytes(state.setup.work.bytes, data_bytes(state.setup));
}

void set_yardstick(CellState& state, const Yardsticks::Outcome& known) {
    state.record.yardstick = known.info;
    if (!known.info) state.warn(Warning::no_yardstick, known.why_not + "; the column 'of copy' is omitted");
}

}  // namespace cllab::run
