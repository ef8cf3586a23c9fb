#include "count/plugin/launch_count.hpp"

#include <algorithm>

namespace cllab::count {
namespace {

Access access_of(const Seen& seen, std::uint32_t instruction, bool first) {
    Access out;
    out.address = seen.address;
    out.bytes = seen.bytes;
    out.instruction = instruction & ((1u << Access::instruction_bits) - 1);
    out.space = seen.space;
    out.what = seen.what;
    out.first = first;
    return out;
}

void widen(Access& access, const Seen& by) {
    const auto end = std::max(access.address + access.bytes, by.address + by.bytes);
    access.address = std::min(access.address, by.address);
    access.bytes = static_cast<std::uint32_t>(end - access.address);
}

}  // namespace

void LaunchCount::begin_group(std::uint64_t items) {
    if (items_.size() < items) items_.resize(items);
    number_ = expected_ = no_number;
    item_ = nullptr;
    finished_ = 0;
    barriers_ = 0;
    local_.clear();
    global_.clear();
    by_waves_.resize(counts_.by_waves.size());
    for (std::size_t s = 0; s < by_waves_.size(); ++s) by_waves_[s] += counts_.by_waves[s];
    std::fill(counts_.by_lanes.begin(), counts_.by_lanes.end(), 0);
    std::fill(counts_.by_waves.begin(), counts_.by_waves.end(), 0);
}

void LaunchCount::begin_item(std::uint32_t item) {
    auto& one = items_[item];
    one.lane.depth = 0;
    one.decided = false;
    one.stored.clear();
    one.calls.clear();
    std::fill(one.values.begin(), one.values.end(), Depth{});  // arguments depend on nothing
}

void LaunchCount::enter(std::uint32_t item) {
    if (number_ != no_number && item / wave_ != number_ / wave_) flush();
    number_ = item;
    item_ = &items_[item];
    expected_ = no_number;
}

void LaunchCount::flush() {
    if (number_ == no_number) return;
    const auto first = number_ / wave_ * wave_;
    const auto count = std::min<std::uint64_t>(wave_, items_.size() - first);
    std::vector<Lane> lanes;
    for (std::uint64_t i = 0; i < count; ++i) lanes.push_back(std::move(items_[first + i].lane));
    requests_.instructions.resize(code_.size());
    replay(lanes, code_.segments(), counts_, requests_);
    for (std::uint64_t i = 0; i < count; ++i) items_[first + i].lane = std::move(lanes[i]);
}

void LaunchCount::executed(std::uint32_t item, const llvm::Instruction* instruction, const llvm::BasicBlock* previous) {
    if (item != number_) enter(item);
    const auto number = code_.find(instruction, expected_);
    expected_ = number + 1;
    const auto& of = code_[number];
    if (of.segment != no_number) item_->lane.trace.push_back(of.segment);
    follow(of, number, previous);
    pending_.clear();
}

Depth LaunchCount::operands_of(const Instruction& of) const {
    Depth out;
    const auto* operands = code_.operands(of);
    for (std::uint32_t i = 0; i < of.count; ++i)
        if (operands[i] != no_number) out.join(item_->values[operands[i]]);
    return out;
}

void LaunchCount::follow(const Instruction& of, std::uint32_t number, const llvm::BasicBlock* previous) {
    auto& values = item_->values;
    if (values.size() < code_.size()) values.resize(code_.size());
    if (of.is == Instruction::Is::phi) {  // all phis of a block read the values before any of them changes
        const auto from = code_.incoming(of, previous);
        auto& [_, depth] = phis_.emplace_back(number, from == no_number ? Depth{} : values[from]);
        depth.any = depth.any || (of.merges && item_->decided);
        return;
    }
    for (const auto& [phi, depth] : phis_) values[phi] = depth;
    phis_.clear();
    if (of.is == Instruction::Is::call) return call(of, number);
    auto depth = operands_of(of);
    if (of.decides) decide(depth, number);
    if (of.decides || (of.memory && of.address == no_number)) by_data_ = by_data_ || depth.by_data();
    if (of.address != no_number) by_data_ = by_data_ || values[of.address].by_data();
    depth.by_place = depth.by_place || of.of_place;
    depth.any = depth.any || of.atomic || (depth.by_place && !of.grows && !of.of_place);
    depth.add(of.link);
    if (of.is == Instruction::Is::returns && !item_->calls.empty()) {
        values[item_->calls.back()] = depth;
        item_->calls.pop_back();
        return;
    }
    if (!pending_.empty()) touch_memory(depth, of, number);
    values[number] = depth;
    longest_.join(depth);
}

void LaunchCount::decide(const Depth& by, std::uint32_t branch) {
    by_place_ = by_place_ || by.by_place;
    item_->decided = item_->decided || by.by_place || by.any;
    const bool even = !by.any && !(by.by_place && by.by_data());
    if (even || !uneven_branches_.insert(branch).second) return;
    const auto segments = code_.of_loop_left_by(branch);
    of_uneven_loops_.insert(segments.begin(), segments.end());
}

void LaunchCount::call(const Instruction& of, std::uint32_t number) {
    item_->calls.push_back(number);
    const auto* operands = code_.operands(of);
    for (std::uint32_t i = 0; i < of.count; ++i)
        item_->values[of.first_argument + i] = operands[i] == no_number ? Depth{} : item_->values[operands[i]];
}

void LaunchCount::touch_memory(Depth& depth, const Instruction& of, std::uint32_t number) {
    if (!of.memory && !of.continues_access) return;
    bool first = true;
    const auto before = depth;
    for (auto seen : pending_) {
        if (of.constant && seen.space == Space::global && seen.what == What::load) seen.space = Space::constant;
        auto& stored = seen.space == Space::private_memory ? item_->stored
                       : seen.space == Space::local        ? local_
                                                           : global_;
        if (seen.what == What::store) {
            depth.any = depth.any || item_->decided;
            stored.store(seen.address, seen.bytes, depth, number_, barriers_);  // for a copy: what it loaded
        } else {
            auto loaded = before;
            if (seen.what == What::load) stored.load(seen.address, seen.bytes, loaded, number_, barriers_);
            loaded.add(seen.what == What::atomic             ? Link::atomic
                       : seen.space == Space::private_memory ? Link::none
                       : seen.space == Space::local          ? Link::local_load
                                                             : Link::load);
            depth.join(loaded);
        }
        auto& accesses = item_->lane.accesses;
        if (of.continues_access && !accesses.empty())
            widen(accesses.back(), seen);
        else if (of.memory)
            accesses.push_back(access_of(seen, number, first));
        first = false;
    }
}

void LaunchCount::flush_copies() {
    constexpr std::uint32_t no_instruction = 0;
    requests_.instructions.resize(code_.size());
    std::vector<Access> together;
    Depth loaded;
    loaded.add(Link::load);
    for (const auto what : {What::load, What::store})
        for (const auto space : {Space::global, Space::local}) {
            const auto ask = [&] {
                if (!together.empty()) requests_.request(together);
                together.clear();
            };
            for (const auto& seen : copied_) {
                if (seen.what != what || seen.space != space) continue;
                together.push_back(access_of(seen, no_instruction, true));
                if (what == What::store && space == Space::local)
                    local_.store(seen.address, seen.bytes, loaded, no_number, barriers_);
                if (together.size() == wave_) ask();
            }
            ask();
        }
    copied_.clear();
}

void LaunchCount::barrier() {
    flush();
    number_ = no_number;
    flush_copies();
    ++barriers_;
}

CountedGroup LaunchCount::group_so_far() const {
    CountedGroup out;
    out.items = finished_;
    out.tally = requests_.group;
    out.operations.resize(code_.operations().size());
    const auto& segments = code_.segments();
    for (std::size_t s = 0; s < counts_.by_lanes.size(); ++s) {
        const auto lanes = counts_.by_lanes[s];
        if (lanes == 0) continue;
        out.instructions += lanes * segments[s].weight;
        out.issued += counts_.by_waves[s] * segments[s].weight;
        if (segments[s].ends_at_barrier) out.barriers += lanes;
        for (const auto number : segments[s].instructions) {
            const auto& instruction = code_[number];
            if (instruction.image) out.image_accesses += lanes;
            for (const auto& does : instruction.does) out.operations[does.operation] += lanes * does.elements;
        }
    }
    out.so_far = requests_.launch;
    return out;
}

void LaunchCount::end_group() {
    flush();
    flush_copies();
    groups_.push_back(group_so_far());
    requests_.end_group();
    groups_.back().so_far = requests_.launch;
    number_ = no_number;
    item_ = nullptr;
}

std::uint64_t LaunchCount::executions(std::uint32_t segment) const {
    const auto in = [&](const auto& groups) { return segment < groups.size() ? groups[segment] : 0; };
    return in(by_waves_) + in(counts_.by_waves);
}

std::set<std::uint32_t> LaunchCount::never_run() const {
    std::set<std::uint32_t> out;
    for (std::uint32_t s = 0; s < code_.segments().size(); ++s)
        if (executions(s) == 0) out.insert(s);
    return out;
}

}  // namespace cllab::count
