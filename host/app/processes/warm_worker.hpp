// A process that has opened a device and waits for a job, and what it was told to build meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/choose/introspection.hpp"
#include "app/processes/pool.hpp"
#include "core/clock.hpp"

namespace cllab::app {

/// In the child: makes the request again of what the parent says; a child has no other way to a request that is younger
/// than itself.
using Rebuild = std::function<run::RunRequest(const Message& recipe, const model::Device& device)>;

/// The request with what differs from the one that the recipe makes again: its cells and how they are measured.
Message difference(const run::RunRequest& request);
/// The reverse: the `base` made again, changed accordingly. Throws Error(usage) for a cell that it has not.
run::RunRequest apply(run::RunRequest base, const Message& difference);

class WarmWorker {
public:
    /// `compiles`: its driver's compiler is warm, which costs a second.
    WarmWorker(const std::string& selector, const Rebuild& rebuild, bool compiles);
    /// It opens the device, builds what the cells of `builds` need, and lets the device do nothing. `known`: as
    /// LocalDevices::inherit.
    WarmWorker(const std::string& selector, const Rebuild& rebuild, const device::DeviceState& known,
               const run::RunRequest& builds);
    WarmWorker(const WarmWorker&) = delete;
    WarmWorker& operator=(const WarmWorker&) = delete;

    enum class State { busy, idle, gone };
    /// Without waiting. Busy: it starts, or does what it was told last.
    State poll();
    /// Waits until it is idle; false: it is gone, or has not answered for `seconds`.
    bool wait_until_idle(double seconds);
    bool compiles() const { return compiles_; }
    bool was_ready() const { return was_ready_; }
    bool rehearses() const { return rehearses_; }

    // What follows is for one that is idle.

    /// Builds what the comparisons of the recipes will need: of the version before and its control, or of the `saved`
    /// one. What it cannot build it leaves. `number`: for built().
    void build(const std::vector<Message>& recipes, bool saved, unsigned number = 0);
    unsigned built() const { return built_; }  ///< the last number
    /// Runs the requests, each {"recipe", "difference"}, and says nothing of them; then it ends. What a driver keeps of
    /// it is wanted.
    void rehearse(const std::vector<Message>& requests);
    /// What the device says of the builds, nothing where it says nothing; then it ends.
    std::optional<std::vector<model::Introspection>> ask(const std::vector<AskedBuild>& builds, double seconds);
    /// Gives it its last job. `difference`: null where the recipe says all. `last_use`: of the device, by whatever
    /// process. Nothing: nobody took it.
    std::unique_ptr<Worker> run(const Message& recipe, const Message& difference, Clock::time_point last_use);

private:
    using Open = std::function<device::Session&(LocalDevices&)>;
    WarmWorker(const std::string& selector, const Rebuild& rebuild, bool compiles, const Open& open);
    static void work(LocalDevices& devices, device::Session& session, const std::string& selector,
                     const Rebuild& rebuild, Link& parent, Position& position);
    void tell(const Message& job);
    State after(Worker::Event event);

    bool compiles_, busy_ = true, gone_ = false, was_ready_ = false, rehearses_ = false;
    unsigned built_ = 0;
    std::string line_;  ///< the last one
    std::unique_ptr<Worker> worker_;
};

}  // namespace cllab::app
