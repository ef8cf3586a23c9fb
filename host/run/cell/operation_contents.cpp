#include <algorithm>

#include "core/parallel.hpp"
#include "core/phases.hpp"
#include "model/work.hpp"
#include "run/cell/operation.hpp"

// The contents of an operation's memory: fill, poison, restore, check the guards and read back. The memory is made in
// operation_memory.cpp.
namespace cllab::run {

using namespace model;

void Operation::load(const Setup& setup, std::uint64_t seed) {
    const InPhase phase(Phase::buffers);
    release();
    seed_ = seed;
    operations_ = 0;
    rewritten_ = false;
    args_ = setup.args;
    *on_data_ = 0;
    forget_swaps();
    for (const auto& argument : setup.args) {
        const auto found = memories_.find(name_of(argument));
        if (found == memories_.end()) continue;
        auto& m = found->second;
        if (const auto* input = std::get_if<Input>(&argument)) m.data = input->data;
        if (const auto* inout = std::get_if<InOut>(&argument)) m.data = inout->data;
        if (const auto* image = std::get_if<Image>(&argument)) m.data = image->data;
        // Inputs are already on the device when the same data is verified once more.
        if (std::holds_alternative<Input>(argument) && m.loaded == m.data && !lends_memory_) continue;
        if (!m.poisoned && m.data->size() != m.size_bytes)
            throw Error(Blame::result, "argument '" + m.name + "' has " + std::to_string(m.data->size()) +
                                           " bytes, expected " + std::to_string(m.size_bytes));
        refill(m);
        if (m.is_image) continue;
        if (m.original()) session_.put(m.original, *m.data);
        m.buffer.arm(seed, lends_memory_);
        m.loaded = m.data;
    }
    for (const auto& step : steps_) bind(step);
}

void Operation::fill(Memory& m, std::span<const std::byte> from) {
    if (m.pixels())
        session_.put(m.pixels, from);
    else if (m.is_image)
        session_.queue().enqueueWriteImage(m.image, CL_TRUE, {0, 0, 0}, {m.width, m.height, m.depth}, 0, 0,
                                           from.data());
    else if (is_in_place(transfer_))
        device::upload(session_, m.buffer.buffer(), from, transfer_);
    else
        session_.put(m.buffer.buffer(), from);
}

void Operation::fill(Memory& m, const SharedBytes& data) {
    if (m.is_image || is_in_place(transfer_))
        fill(m, std::span<const std::byte>(*data));
    else
        session_.put(m.buffer.buffer(), data);
}

void Operation::fill_with_poison(Memory& m) {
    if (!m.is_image && session_.poison(m.buffer.buffer(), m.size_bytes, seed_)) return;
    make_host(m);
    model::poison(m.host, seed_);
    fill(m, m.host);
}

void Operation::refill(Memory& m) {
    m.arrival = {};
    if (m.poisoned)
        fill_with_poison(m);
    else
        fill(m, m.data);
    if (!m.is_image) prepare_host(m);
}

void Operation::put_back() {
    if (reset_.empty()) return;
    release();
    for (const auto& name : reset_) fill(memory(name), memories_.at(name).data);  // a Swap may have changed the memory
}

void Operation::forget_swaps() {
    if (!swaps_) return;
    for (auto& [name, target] : alias_) target = name;
    for (const auto& step : steps_) bind(step);
}

void Operation::poison() {
    const InPhase phase(Phase::buffers);
    release();
    forget_swaps();
    for (auto& [name, m] : memories_)
        if (m.read_back) refill(m);
    rewritten_ = false;
}

void Operation::restore() {
    const InPhase phase(Phase::buffers);
    release();
    forget_swaps();
    for (const auto& argument : args_) {
        const auto found = memories_.find(name_of(argument));
        const auto* image = std::get_if<Image>(&argument);
        if (found == memories_.end() || std::holds_alternative<Input>(argument) || (image && !image->comes_out()))
            continue;
        refill(found->second);
    }
    operations_ = *on_data_ = 0;
    rewritten_ = false;
    if (native_) hold();
}

bool Operation::works_in_place() const { return std::ranges::any_of(args_, goes_in_and_out); }

bool Operation::goes_in(std::string_view argument) const {
    return std::ranges::any_of(args_, [&](const auto& a) { return name_of(a) == argument && goes_in_and_out(a); });
}

Operation::Contents Operation::contents() {
    const InPhase phase(Phase::buffers);
    release();
    session_.wait();
    Contents out;
    for (const auto& argument : args_) {
        const bool may_be_written = std::holds_alternative<InOut>(argument) ||
                                    std::holds_alternative<Output>(argument) ||
                                    std::holds_alternative<Scratch>(argument) || goes_in_and_out(argument);
        if (!may_be_written) continue;
        auto& m = memory(name_of(argument));
        auto& bytes = out[name_of(argument)];
        bytes.resize(m.size_bytes);
        get(m, bytes);
    }
    return out;
}

void Operation::get(Memory& m, std::span<std::byte> to) {
    if (m.pixels())
        session_.get(m.pixels, to);
    else if (m.is_image)
        session_.queue().enqueueReadImage(m.image, CL_TRUE, {0, 0, 0}, {m.width, m.height, m.depth}, 0, 0, to.data());
    else if (is_in_place(transfer_))
        device::download(session_, m.buffer.buffer(), to, transfer_);
    else
        session_.get(m.buffer.buffer(), to);
}

Bytes Operation::first_contents(const Memory& m) const {
    Bytes out(m.size_bytes);
    if (m.poisoned)
        model::poison(out, seed_);
    else
        copy_bytes(out, *m.data);
    return out;
}

Operation::Contents Operation::poison_contents() const {
    const InPhase phase(Phase::buffers);
    Contents out;
    for (const auto& [name, m] : memories_)
        if (m.read_back) out.emplace(name, first_contents(m));
    return out;
}

void Operation::overwrite(const Views& contents) {
    const InPhase phase(Phase::buffers);
    release();
    forget_swaps();
    for (const auto& [name, bytes] : contents) {
        auto& m = memories_.at(name);
        fill(m, bytes);
        if (m.by_step != ByStep::none) prepare_host(m);
    }
    *on_data_ = 0;
    rewritten_ = false;
    if (native_) hold();
}

std::optional<std::string> Operation::guard_damage() {
    release();
    for (auto& [name, m] : memories_) {
        if (m.is_image) continue;
        if (auto damage = m.buffer.guard_damage(name)) return damage;
    }
    return std::nullopt;
}

std::optional<std::string> Operation::written_beside_parts(const Memory& m) const {
    const auto is_whole = [&](const BoundStep& step) { return std::ranges::count(step.arg_names, m.name) > 0; };
    if (std::ranges::count(parts_, m.name, &model::Part::of) == 0 || std::ranges::any_of(steps_, is_whole))
        return std::nullopt;
    auto before = first_contents(m);
    for (const auto& part : parts_)
        if (part.of == m.name)
            std::copy_n(m.host.begin() + static_cast<std::ptrdiff_t>(part.origin_bytes), part.size_bytes,
                        before.begin() + static_cast<std::ptrdiff_t>(part.origin_bytes));
    if (equal_bytes(before, m.host)) return std::nullopt;
    const auto first = std::ranges::mismatch(before, m.host).in1;
    return concat("byte ", first - before.begin(), " of '", m.name, "' was written, which is in none of its parts");
}

std::optional<std::string> Operation::read_back(Buffers& buffers) {
    const InPhase phase(Phase::download);
    buffers.data.clear();
    buffers.operations = operations_;
    buffers.trips = slope_ ? trips_ : 0;
    buffers.poison_seed = seed_;
    session_.wait();
    if (auto damage = guard_damage()) return damage;
    for (const auto& [argument, target] : alias_) {
        if (!memories_.at(argument).read_back) continue;
        auto& m = memories_.at(target);  // after a Swap this may be a scratch buffer's memory
        if (m.by_step == ByStep::down) {
            buffers.data.emplace(argument, host_side(m));
            continue;
        }
        make_host(m);
        get(m, m.host);
        if (auto damage = written_beside_parts(m)) return damage;
        buffers.data.emplace(argument, m.host);
    }
    return std::nullopt;
}

double Operation::time_upload(const Setup& setup) {
    release();
    double seconds = 0;
    for (const auto& argument : setup.args) {
        const auto found = memories_.find(name_of(argument));
        if (found == memories_.end() || found->second.is_image || !found->second.data) continue;
        auto& m = found->second;
        const auto from =
            m.pinned_at ? std::span<const std::byte>(m.pinned_at, m.size_bytes) : std::span<const std::byte>(*m.data);
        seconds += device::upload(session_, m.buffer.buffer(), from, transfer_);
    }
    return seconds;
}

double Operation::time_download() {
    release();
    double seconds = 0;
    for (auto& [name, m] : memories_) {
        if (!m.read_back || m.is_image || m.by_step == ByStep::up) continue;
        seconds += device::download(session_, m.buffer.buffer(), host_side(m), transfer_);
    }
    return seconds;
}

}  // namespace cllab::run
