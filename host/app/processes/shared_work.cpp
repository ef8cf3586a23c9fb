#include "app/processes/shared_work.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace cllab::app {

static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<std::int32_t>::is_always_lock_free);

SharedWork::Writing::Writing(Ledger& ledger) : ledger_(ledger) {
    const pid_t me = getpid();
    for (pid_t holder = 0; !ledger_.writer.compare_exchange_weak(holder, me);) {
        const bool died = holder != 0 && kill(holder, 0) != 0 && errno == ESRCH;
        if (!died) holder = 0;
        sched_yield();
    }
}

SharedWork::Owners::Owners(std::size_t count) : SharedMemory(std::max<std::size_t>(1, count) * sizeof(Owner)) {
    for (std::size_t i = 0; i < count; ++i) new (static_cast<Owner*>(page_) + i) Owner(nobody);
}

SharedWork::SharedWork(std::vector<run::Part> parts, const run::Room& memory)
    : parts_(std::move(parts)), memory_(memory), owners_(parts_.size()) {}

class SharedWork::Lane : public run::Share {
public:
    Lane(SharedWork& work, std::size_t number) : work_(work), number_(number) {}

    std::optional<run::Part> next() override {
        for (; at_ < work_.parts_.size(); ++at_) {
            auto owner = nobody;
            const auto me = static_cast<std::int32_t>(number_);
            if (work_.owners_[at_].compare_exchange_strong(owner, me) || owner == me) return work_.parts_[at_++];
        }
        return std::nullopt;
    }
    bool take(const run::Room& room) override {
        const Writing writing(*work_.ledger_);
        run::Room all;
        for (const auto& held : work_.ledger_->held) {
            all.device += held.device;
            all.host += held.host;
        }
        const bool fits =
            all.device + room.device <= work_.memory_.device && all.host + room.host <= work_.memory_.host;
        if (!fits && (all.device > 0 || all.host > 0)) return false;
        add(room, 1);
        return true;
    }
    void give_back(const run::Room& room) override {
        const Writing writing(*work_.ledger_);
        add(room, -1);
    }

private:
    void add(const run::Room& room, double sign) {
        auto& held = work_.ledger_->held.at(number_);
        held.device += sign * room.device;
        held.host += sign * room.host;
    }

    SharedWork& work_;
    std::size_t number_, at_ = 0;
};

std::unique_ptr<run::Share> SharedWork::of_lane(std::size_t number) { return std::make_unique<Lane>(*this, number); }

void SharedWork::release(std::size_t lane) {
    const Writing writing(*ledger_);
    ledger_->held.at(lane) = {};
}

}  // namespace cllab::app
