// The plugin that Oclgrind loads to count what a launch executes. It runs in a child process, which sets
// CLLAB_COUNT_FILE just before the launch to count. count/simulated.hpp explains the variables. The same library can
// record touched bytes instead: count/plugin/oclgrind.hpp.
#include <llvm/IR/Function.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "count/plugin/launch_count.hpp"
#include "count/plugin/oclgrind.hpp"
#include "count/wave/requests.hpp"
#include "json/read.hpp"

namespace cllab::count {
namespace {

// Oclgrind's quick mode runs the first and last group, and a plugin cannot change that. Its list of groups is private,
// but an explicit instantiation may name private members.
std::vector<oclgrind::Size3>& groups_of(oclgrind::KernelInvocation& invocation);
template <auto Member>
struct Reach {
    friend std::vector<oclgrind::Size3>& groups_of(oclgrind::KernelInvocation& invocation) {
        return invocation.*Member;
    }
};
template struct Reach<&oclgrind::KernelInvocation::m_workGroups>;

constexpr unsigned most_launches = 64;  ///< counted per operation

double variable(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtod(text, nullptr) : otherwise;
}

std::uint64_t product(const oclgrind::Size3& s) { return std::uint64_t{s.x} * s.y * s.z; }

// One JSON file per launch. Numbers of one kind are an array; the reader (count/simulated.cpp) names them.
using Json = nlohmann::json;

Json of(const RequestSums& a) { return {a.requests, a.units, a.least, a.worst}; }
Json of(const Amounts& a) { return {a.loads, a.stores, a.load_bytes, a.store_bytes}; }

constexpr auto far = static_cast<std::size_t>(Space::global), near = static_cast<std::size_t>(Space::local);

Json group_json(const CountedGroup& g) {
    const auto& t = g.tally;
    return {{"items", g.items},
            {"whole", g.whole},
            {"instructions", g.instructions},
            {"issued", g.issued},
            {"barriers", g.barriers},
            {"images", g.image_accesses},
            {"private", of(t.spaces[0])},
            {"global", of(t.spaces[1])},
            {"constant", of(t.spaces[2])},
            {"local", of(t.spaces[3])},
            {"reads", of(t.reads)},
            {"writes", of(t.writes)},
            {"local_reads", of(t.local_reads)},
            {"local_writes", of(t.local_writes)},
            {"global_atomics", of(t.global_atomics)},
            {"local_atomics", of(t.local_atomics)},
            {"atomics", {t.atomics[far], t.atomics[near]}},
            {"footprint",
             {g.so_far.sectors, g.so_far.read_sectors, g.so_far.written_sectors, g.so_far.lines, g.so_far.bytes}},
            {"operations", g.operations}};
}

struct LaunchFacts {
    std::string kernel;
    std::uint64_t items = 0, groups = 0, group_items = 0;
    double seconds = 0;  ///< CPU seconds since the launch began
    bool ended = false;  ///< false: a group may have begun that is not among the counted ones
};

struct OfLine {
    std::uint64_t issued = 0;
    OfInstruction memory;
};

Json lines_json(const LaunchCount& count) {
    std::map<std::pair<std::string, std::uint32_t>, OfLine> lines;
    const auto& code = count.code();
    const auto line_of = [&](std::uint32_t number) -> OfLine& {
        return lines[{code[number].file ? *code[number].file : "", code[number].line}];
    };
    for (std::uint32_t s = 0; s < code.segments().size(); ++s)
        for (const auto number : code.segments()[s].instructions)
            line_of(number).issued += count.executions(s) * code[number].weight;
    const auto& memory = count.requests().instructions;
    for (std::uint32_t number = 0; number < memory.size(); ++number) {
        auto& line = line_of(number).memory;
        const auto& one = memory[number];
        line.bytes += one.bytes;
        line.sectors += one.sectors;
        line.least_sectors += one.least_sectors;
        line.ways += one.ways;
        line.least_ways += one.least_ways;
        line.turns += one.turns;
    }
    auto out = Json::array();
    for (const auto& [place, line] : lines) {
        const auto& m = line.memory;
        if (place.second > 0)
            out.push_back(
                {place.first,
                 {place.second, line.issued, m.bytes, m.sectors, m.least_sectors, m.ways, m.least_ways, m.turns}});
    }
    return out;
}

/// What these segments of the code contain.
Json code_json(const LaunchCount& count, const std::set<std::uint32_t>& segments) {
    const auto& code = count.code();
    bool weighs = false, barrier = false, image = false;
    unsigned touches = 0, atomics = 0, line = 0;
    std::set<std::uint32_t> operations;
    for (const auto number : segments) {
        const auto& segment = code.segments()[number];
        weighs = weighs || segment.weight > 0;
        barrier = barrier || segment.ends_at_barrier;
        for (const auto one : segment.instructions) {
            const auto& instruction = code[one];
            image = image || instruction.image;
            (instruction.atomic ? atomics : touches) |= instruction.touches;
            for (const auto& does : instruction.does) operations.insert(does.operation);
            if (line == 0 && instruction.weight > 0) line = instruction.line;
        }
    }
    return {{"weighs", weighs},   {"barrier", barrier}, {"image", image},          {"touches", touches},
            {"atomics", atomics}, {"line", line},       {"operations", operations}};
}

Json launch_json(const LaunchFacts& facts, const LaunchCount& count, const std::vector<CountedGroup>& groups) {
    const auto& launch = groups.back().so_far;
    const auto addresses = [&](std::size_t space) -> Json {
        return {launch.addresses[space], launch.most_in_wave[space], launch.most_in_group[space],
                launch.most_on_address[space]};
    };
    Json out{{"kernel", facts.kernel},
             {"items", facts.items},
             {"groups", facts.groups},
             {"group_items", facts.group_items},
             {"wave", count.wave()},
             {"seconds", facts.seconds},
             {"ended", facts.ended},
             {"by_place", count.by_place()},
             {"by_data", count.by_data()},
             {"never", code_json(count, count.never_run())},
             {"uneven", code_json(count, count.of_uneven_loops())},
             {"odd_bits", count.code().odd_bits()},
             {"operations", Json::array()},
             {"counted", Json::array()},
             {"global_addresses", addresses(far)},
             {"local_addresses", addresses(near)},
             {"longest", count.longest().longest},
             {"path", count.longest().path},
             {"lines", lines_json(count)}};
    for (const auto& o : count.code().operations())
        out["operations"].push_back(Json::array({name(o.kind), o.bits, o.function}));
    for (const auto& group : groups) out["counted"].push_back(group_json(group));
    return out;
}

void write_text(const std::filesystem::path& path, const Json& json) {
    const std::filesystem::path new_file = path.string() + ".new";
    std::ofstream out(new_file, std::ios::binary);
    out << json_text(json) << '\n';
    out.close();
    std::error_code ignored;  // the reader reports a missing file
    if (out) std::filesystem::rename(new_file, path, ignored);
}

/// Writes the file of a launch that repeats launch number `as`.
void write_same(const std::filesystem::path& path, unsigned as) { write_text(path, {{"same_as", as}}); }

/// Replaces the file. Errors are ignored.
void write(const std::filesystem::path& path, const LaunchFacts& facts, const LaunchCount& count,
           const std::vector<CountedGroup>& groups) {
    if (groups.empty()) return;
    write_text(path, launch_json(facts, count, groups));
}

class Counter : public AccessPlugin {
public:
    using AccessPlugin::AccessPlugin;

    void kernelBegin(const oclgrind::KernelInvocation* invocation) override {
        widen_odd_integers(*invocation);
        const char* file = std::getenv("CLLAB_COUNT_FILE");
        if (!file) return;
        invocation_ = const_cast<oclgrind::KernelInvocation*>(invocation);
        auto& groups = groups_of(*invocation_);
        groups.clear();
        const auto launch = ++launches_;
        path_ = std::string(file) + "." + std::to_string(launch);
        const auto same = launches_like(*invocation);
        const auto known = like_.find(same);
        if (known != like_.end()) {
            write_same(path_, known->second);
            return;
        }
        start_ = now();
        if (launch == 1) first_ = start_, allowed_ = variable("CLLAB_COUNT_SECONDS", 5);
        const double left = allowed_ - (start_ - first_), to_come = variable("CLLAB_COUNT_LAUNCHES", 1) - launch + 1;
        seconds_ = left / std::max(1.0, to_come);
        if (launch > most_launches || left <= 0) return;
        facts_ = {};
        facts_.kernel = invocation->getKernel()->getName();
        facts_.items = product(invocation->getGlobalSize());
        facts_.groups = product(invocation->getNumGroups());
        facts_.group_items = product(invocation->getLocalSize());
        written_after_ = longest_ = writing_ = 0;
        sample_.begin(facts_.groups, static_cast<std::size_t>(variable("CLLAB_COUNT_GROUPS", 2003)));
        for (const auto group : sample_.next()) groups.push_back(group_number(group));
        count_ = std::make_unique<LaunchCount>(static_cast<unsigned>(variable("CLLAB_COUNT_WAVE", 32)));
        same_ = same;
    }
    void kernelEnd(const oclgrind::KernelInvocation*) override {
        if (!count_) return;
        facts_.ended = true;
        write_now(count_->groups());
        // If no loaded data decides what a kernel does, a repeated launch does the same.
        if (!count_->by_data()) like_.emplace(same_, launches_);
        count_.reset();
    }
    void workGroupBegin(const oclgrind::WorkGroup* group) override {
        if (!count_) return;
        group_size_ = group->getGroupSize();
        group_start_ = spent();
        item_ = nullptr;
        count_->begin_group(product(group_size_));
    }
    void workGroupBarrier(const oclgrind::WorkGroup*, uint32_t) override {
        if (!count_) return;
        count_->barrier();
        item_ = nullptr;
    }
    void workGroupComplete(const oclgrind::WorkGroup*) override {
        if (!count_) return;
        count_->end_group();
        choose_next();
    }
    void workItemBegin(const oclgrind::WorkItem* item) override {
        if (!count_) return;
        if (count_->groups().empty()) checkpoint();
        count_->begin_item(number_of(item));
    }
    void workItemComplete(const oclgrind::WorkItem*) override {
        if (count_) count_->end_item();
    }
    void instructionExecuted(const oclgrind::WorkItem* item, const llvm::Instruction* instruction,
                             const oclgrind::TypedValue&) override {
        if (!count_) return;
        if (item != item_) {
            item_ = item;
            number_ = number_of(item);
        }
        count_->executed(number_, instruction, item->getPreviousBlock());
    }

private:
    std::uint32_t number_of(const oclgrind::WorkItem* item) const {
        const auto id = item->getLocalID();
        return static_cast<std::uint32_t>(id.x + group_size_.x * (id.y + group_size_.y * id.z));
    }
    void access(const oclgrind::Memory* memory, const oclgrind::WorkItem* item, size_t address, size_t size,
                What what) override {
        if (!count_) return;
        const Seen seen{address, static_cast<std::uint32_t>(size), static_cast<Space>(memory->getAddressSpace()), what};
        item ? count_->access(seen) : count_->copied(seen);
    }
    /// CPU time, because other processes run too.
    static double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
    double spent() const { return now() - start_; }

    /// Drops groups that exceed the time, or draws more. A pair is counted as a whole or not at all.
    void choose_next() {
        auto& groups = groups_of(*invocation_);
        const auto done = count_->groups().size();
        const auto& last = count_->groups().back();
        const auto units = [](const RequestSums& asked) { return static_cast<double>(asked.units); };
        const auto& t = last.tally;
        sample_.counted({static_cast<double>(last.instructions), static_cast<double>(last.issued),
                         units(t.reads) + units(t.writes), units(t.local_reads) + units(t.local_writes),
                         units(t.global_atomics) + units(t.local_atomics)});
        // The next groups may take as long as the longest. If the process is killed within a group, no mean is known.
        longest_ = std::max(longest_, spent() - group_start_);
        const auto has_time_for = [&](std::size_t more) {
            return spent() + 1.2 * longest_ * static_cast<double>(more) + 2 * writing_ < seconds_;
        };
        if (done < sample_.certain()) {
            if (!has_time_for(1)) groups.resize(done);
        } else if (done == groups.size()) {
            const bool shows_all = count_->of_uneven_loops().empty() || spent() > seconds_ / 4;
            const auto next = sample_.is_enough(shows_all && count_->never_run().empty()) ? std::vector<std::uint64_t>{}
                                                                                          : sample_.next();
            if (has_time_for(next.size()))
                for (const auto group : next) groups.push_back(group_number(group));
        }
        if (done == 1 || spent() > written_after_ + often) write_now(count_->groups());
    }
    oclgrind::Size3 group_number(std::uint64_t number) const {
        const auto all = invocation_->getNumGroups();
        return {number % all.x, number / all.x % all.y, number / all.x / all.y};
    }
    /// What decides the work of a kernel that loaded data does not influence: its sizes and its arguments by value.
    static std::string launches_like(const oclgrind::KernelInvocation& invocation) {
        const auto& kernel = *invocation.getKernel();
        std::string out = kernel.getName();
        for (const auto& size : {invocation.getGlobalSize(), invocation.getLocalSize(), invocation.getGlobalOffset()})
            out += " " + std::to_string(size.x) + "," + std::to_string(size.y) + "," + std::to_string(size.z);
        for (auto one = kernel.values_begin(); one != kernel.values_end(); ++one) {
            const auto* argument = llvm::dyn_cast<llvm::Argument>(one->first);
            if (!argument || (argument->getType()->isPointerTy() && !argument->hasByValAttr())) continue;
            out += " " + std::to_string(argument->getArgNo()) + ":" +
                   std::string(reinterpret_cast<const char*>(one->second.data), one->second.size * one->second.num);
        }
        return out;
    }
    /// Writes the counts so far while the first group runs, in case the process runs out of time.
    void checkpoint() {
        if (spent() < written_after_ + often || !count_->has_whole_waves()) return;
        count_->flush();
        auto group = count_->group_so_far();
        group.whole = false;
        write_now({std::move(group)});
    }
    void write_now(const std::vector<CountedGroup>& groups) {
        written_after_ = facts_.seconds = spent();
        write(path_, facts_, *count_, groups);
        writing_ = spent() - written_after_;
    }

    static constexpr double often = 0.25;  ///< seconds between two files
    std::unique_ptr<LaunchCount> count_;
    GroupSample sample_;
    LaunchFacts facts_;
    unsigned launches_ = 0;  ///< since the count began
    std::map<std::string, unsigned> like_;
    std::string path_, same_;
    double first_ = 0, allowed_ = 0;  ///< CPU seconds: when the first launch began, and the limit of all launches
    double start_ = 0, seconds_ = 5, written_after_ = 0;
    double group_start_ = 0, longest_ = 0;  ///< seconds: when the group began, and the longest group so far
    double writing_ = 0;                    ///< seconds for one file
    oclgrind::KernelInvocation* invocation_ = nullptr;
    const oclgrind::WorkItem* item_ = nullptr;
    std::uint32_t number_ = 0;
    oclgrind::Size3 group_size_;
};

std::unique_ptr<oclgrind::Plugin> loaded;

}  // namespace
}  // namespace cllab::count

extern "C" [[gnu::visibility("default")]] void initializePlugins(oclgrind::Context* context) {
    using namespace cllab::count;
    teach_intrinsics();
    if (const char* file = std::getenv("CLLAB_TOUCHED_FILE"))
        loaded = make_touch_recorder(context, file);
    else if (std::getenv("CLLAB_COUNT_WAVE"))
        loaded = std::make_unique<Counter>(context);
    if (loaded) context->registerPlugin(loaded.get());
}

extern "C" [[gnu::visibility("default")]] void releasePlugins(oclgrind::Context* context) {
    using namespace cllab::count;
    if (loaded) context->unregisterPlugin(loaded.get());
    loaded.reset();
}
