// The plugin that Oclgrind loads to count what a launch executes. It runs in a child process of the program, which sets
// CLLAB_COUNT_FILE just before the launch that it wants counted; see count/simulated.hpp for the variables, and
// count/plugin/oclgrind.hpp for the other thing that it does.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "count/plugin/launch_count.hpp"
#include "count/plugin/oclgrind.hpp"

namespace cllab::count {
namespace {

// Oclgrind's quick mode runs the first and the last group, and a plugin has no say in it. Its list of groups is
// private; an explicit instantiation may name it.
std::vector<oclgrind::Size3>& groups_of(oclgrind::KernelInvocation& invocation);
template <auto Member>
struct Reach {
    friend std::vector<oclgrind::Size3>& groups_of(oclgrind::KernelInvocation& invocation) {
        return invocation.*Member;
    }
};
template struct Reach<&oclgrind::KernelInvocation::m_workGroups>;

double variable(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtod(text, nullptr) : otherwise;
}

std::uint64_t product(const oclgrind::Size3& s) { return std::uint64_t{s.x} * s.y * s.z; }

class Counter : public AccessPlugin {
public:
    using AccessPlugin::AccessPlugin;

    void kernelBegin(const oclgrind::KernelInvocation* invocation) override {
        const char* file = std::getenv("CLLAB_COUNT_FILE");
        if (!file) return;
        start_ = now();
        invocation_ = const_cast<oclgrind::KernelInvocation*>(invocation);
        facts_.kernel = invocation->getKernel()->getName();
        facts_.items = product(invocation->getGlobalSize());
        facts_.groups = product(invocation->getNumGroups());
        facts_.group_items = product(invocation->getLocalSize());
        path_ = std::string(file) + "." + std::to_string(++launches_);
        seconds_ = variable("CLLAB_COUNT_SECONDS", 5);
        most_groups_ = static_cast<std::size_t>(variable("CLLAB_COUNT_GROUPS", 17));
        between_ = pair_end_ = 0;
        // A kernel that an operation launches again and again is counted once.
        if (!known_.insert(facts_.kernel).second) {
            groups_of(*invocation_).clear();
            return;
        }
        count_ = std::make_unique<LaunchCount>(static_cast<unsigned>(variable("CLLAB_COUNT_WAVE", 32)));
    }
    void kernelEnd(const oclgrind::KernelInvocation*) override {
        if (!count_) return;
        write_now(count_->groups());
        count_.reset();
    }
    void workGroupBegin(const oclgrind::WorkGroup* group) override {
        if (!count_) return;
        group_size_ = group->getGroupSize();
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
    /// Of the processor: what else runs on the machine is not this launch's.
    static double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
    double spent() const { return now() - start_; }

    /// Drops groups for which there is no time, or adds some between the first and the last. A pair of them is counted
    /// whole or not at all.
    void choose_next() {
        auto& groups = groups_of(*invocation_);
        const auto done = count_->groups().size();
        if (done < pair_end_) return;
        const double each = spent() / static_cast<double>(done);
        const auto next = done < groups.size() ? std::vector<oclgrind::Size3>{groups[done]} : next_groups();
        const bool has_time = spent() + 1.2 * each * static_cast<double>(next.size()) < seconds_;
        if (!has_time) {
            groups.resize(done);
        } else if (done == groups.size()) {
            groups.insert(groups.end(), next.begin(), next.end());
            pair_end_ = groups.size();
        }
        write_now(count_->groups());
    }
    /// Those to be counted next, none if that were too many: the group in the middle, then pairs spread by steps of no
    /// common measure. The two of a pair lie as far from one end of the launch as from the other: where work grows
    /// from group to group, each pair is as much as the mean. One by one, the first was 31 % low.
    std::vector<oclgrind::Size3> next_groups() {
        constexpr double steps[] = {0.6180339887, 0.7320508076, 0.6710436067};
        const auto all = invocation_->getNumGroups();
        std::vector<oclgrind::Size3> out;
        const auto& known = groups_of(*invocation_);
        if (known.size() >= most_groups_) return out;
        while (out.empty() && known.size() < facts_.groups) {
            oclgrind::Size3 group, mirror;
            for (unsigned i = 0; i < 3; ++i) {
                double whole = 0;
                const double at = std::modf(0.5 + steps[i] * static_cast<double>(between_), &whole);
                group[i] = static_cast<size_t>(at * static_cast<double>(all[i]));
                mirror[i] = all[i] - 1 - group[i];
            }
            const auto add = [&](const oclgrind::Size3& one) {
                if (std::find(known.begin(), known.end(), one) == known.end()) out.push_back(one);
            };
            add(group);
            if (between_++ > 0 && !(mirror == group)) add(mirror);
        }
        return out;
    }
    /// While the first group runs: what there is by now, for a process that has no more time.
    void checkpoint() {
        if (spent() < written_after_ + 0.25 || !count_->has_whole_waves()) return;
        count_->flush();
        auto group = count_->group_so_far();
        group.whole = false;
        write_now({std::move(group)});
    }
    void write_now(const std::vector<CountedGroup>& groups) {
        written_after_ = facts_.seconds = spent();
        write(path_, facts_, *count_, groups);
    }

    std::unique_ptr<LaunchCount> count_;
    LaunchFacts facts_;
    unsigned launches_ = 0;  ///< since the count began
    std::set<std::string> known_;
    std::string path_;
    double start_ = 0;
    double seconds_ = 5, written_after_ = 0;
    std::size_t most_groups_ = 17, between_ = 0, pair_end_ = 0;
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
