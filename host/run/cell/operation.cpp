#include "run/cell/operation.hpp"

#include <algorithm>

#include "core/parallel.hpp"
#include "core/phases.hpp"
#include "model/work.hpp"

namespace cllab::run {

using namespace model;

Operation::Operation(device::Session& session, const device::Built& built, const Setup& setup, const std::string& entry,
                     const Operation* donor, device::Fence fence)
    : session_(session),
      commands_(session, built, setup, entry),
      memory_(session, setup, donor ? &donor->memory_ : nullptr, fence),
      arguments_(session, memory_, setup),
      reset_(setup.reset) {
    commands_.prepare(arguments_);
}

void Operation::load(const Setup& setup, std::uint64_t seed) {
    const InPhase phase(Phase::buffers);
    start_over();
    seed_ = seed;
    operations_ = 0;
    memory_.load(setup.args, seed);
    arguments_.replace(setup.args);
    commands_.bind(arguments_);
}

void Operation::enqueue(std::vector<cl::Event>* events, Marked marked) {
    if (rewritten_) put_back();
    ++operations_;
    memory_.count_operation();
    // The first queue filled the buffers, and the others do not wait for it.
    if (queues() > 1 && !rewritten_) session_.queue().finish();
    rewritten_ = true;
    commands_.enqueue(arguments_, events, marked);
}

void Operation::put_back() {
    if (reset_.empty()) return;
    memory_.release();
    for (const auto& name : reset_) arguments_.memory(name).copy_data_of(arguments_.own_memory(name));
}

void Operation::set_trips(std::int32_t trips) {
    if (arguments_.set_trips(trips)) commands_.bind(arguments_);
}

void Operation::start_over() {
    if (arguments_.forget_swaps()) commands_.bind(arguments_);
    rewritten_ = false;
}

void Operation::poison() {
    const InPhase phase(Phase::buffers);
    start_over();
    memory_.poison();
}

void Operation::restore() {
    const InPhase phase(Phase::buffers);
    start_over();
    memory_.restore(arguments_.values());
    operations_ = 0;
    if (is_native()) arguments_.hold();
}

void Operation::overwrite(const Views& contents) {
    const InPhase phase(Phase::buffers);
    start_over();
    memory_.overwrite(contents);
    if (is_native()) arguments_.hold();
}

Operation::Contents Operation::contents() {
    const InPhase phase(Phase::buffers);
    memory_.release();
    session_.wait();
    Contents out;
    for (const auto& argument : arguments_.values()) {
        const bool may_be_written = std::holds_alternative<InOut>(argument) ||
                                    std::holds_alternative<Output>(argument) ||
                                    std::holds_alternative<Scratch>(argument) || goes_in_and_out(argument);
        if (!may_be_written) continue;
        auto& memory = arguments_.memory(name_of(argument));
        memory.get(out.emplace(name_of(argument), Bytes(memory.form().size_bytes)).first->second);
    }
    return out;
}

std::optional<std::string> Operation::written_beside_parts(const ArgumentMemory& memory,
                                                           std::span<const std::byte> left) const {
    const auto& name = memory.form().name;
    const auto& parts = arguments_.parts();
    if (std::ranges::count(parts, name, &Part::of) == 0 || commands_.takes(name)) return std::nullopt;
    auto expected = memory.first_contents();
    for (const auto& part : parts)
        if (part.of == name)
            std::ranges::copy(left.subspan(part.origin_bytes, part.size_bytes),
                              expected.begin() + static_cast<std::ptrdiff_t>(part.origin_bytes));
    if (equal_bytes(expected, left)) return std::nullopt;
    const auto first = std::ranges::mismatch(expected, left).in1;
    return concat("byte ", first - expected.begin(), " of '", name, "' was written, which is in none of its parts");
}

std::optional<std::string> Operation::read_back(Buffers& buffers) {
    const InPhase phase(Phase::download);
    buffers.data.clear();
    buffers.operations = operations_;
    buffers.trips = arguments_.trips();
    buffers.poison_seed = seed_;
    session_.wait();
    if (auto damage = guard_damage()) return damage;
    for (const auto& [name, memory] : arguments_.memories()) {
        if (!arguments_.own_memory(name).form().read_back) continue;
        const auto left = memory->read_back();
        if (memory->form().by_step != ByStep::down)
            if (auto damage = written_beside_parts(*memory, left)) return damage;
        buffers.data.emplace(name, left);
    }
    return std::nullopt;
}

}  // namespace cllab::run
