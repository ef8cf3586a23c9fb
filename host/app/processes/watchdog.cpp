#include "app/processes/watchdog.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "app/processes/crash.hpp"
#include "app/processes/worker.hpp"
#include "app/screen/streams.hpp"
#include "core/own_folder.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::app {

Watchdog::Watchdog(std::string doing, double seconds, const GiveUp& give_up)
    : doing_(std::move(doing)), seconds_(seconds), give_up_(give_up), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

Events Watchdog::watched(const Events& events) {
    return {[this, &events](std::size_t group, std::size_t index, const model::Record& record, const char* phase) {
                {
                    const std::lock_guard lock(mutex_);
                    const auto [known, is_new] = begun_.try_emplace({group, index});
                    if (is_new || std::strcmp(phase, "sample") != 0) known->second = record;
                    current_ = &known->second;
                    phase_ = phase;
                }
                outside([&] { events.begin(group, index, record, phase); });
            },
            [this, &events](std::size_t group, std::size_t index, const model::Record& record) {
                {
                    const std::lock_guard lock(mutex_);
                    begun_.erase({group, index});
                    current_ = nullptr;
                }
                outside([&] { events.done(group, index, record); });
            },
            events.measures};
}

void Watchdog::outside(const std::function<void()>& work) {
    inside_ = false;
    work();
    ++beat_;
    inside_ = true;
}

/// In slices, so that a process that was stopped for a while is not taken for one that hangs.
void Watchdog::watch() {
    constexpr int slices = 8;
    const double slice = seconds_ / slices;
    std::unique_lock lock(mutex_);
    auto beat = beat_.load();
    for (double quiet = 0; quiet < limit();) {
        if (wake_.wait_for(lock, std::chrono::duration<double>(slice), [&] { return over_; })) return;
        const auto now = beat_.load();
        quiet = inside_ && now == beat ? quiet + slice : 0;
        beat = now;
    }
    end_process();
}

/// --timeout is for kernels that never end, and may be shorter than a driver takes to start.
double Watchdog::limit() const {
    constexpr double least_to_start = 10;
    return current_ ? seconds_ : std::max(seconds_, least_to_start);
}

void Watchdog::end_process() {
    int status = 3;
    if (current_) {
        status = 1;
        auto record = *current_;
        record.status = model::Status::timed_out;
        record.reason = no_progress(seconds_) + " in phase '" + phase_ + "'";
        record.samples.clear();
        try {
            if (give_up_) give_up_(record);
        } catch (const std::exception& e) {  // a full disk, say
            say(e.what());
        }
        say(record.id + " on '" + record.device.name + "' shows " + record.reason +
            ", and cllab cannot stop a driver from inside; `cllab run --isolate` continues with the next cell");
    } else {
        say(doing_ + " nothing happened for " + format_significant(limit(), 3) + " s");
    }
    EndWitness::dismiss();
    std::fflush(stderr);
    remove_own_folder();
    _exit(status);
}

}  // namespace cllab::app
