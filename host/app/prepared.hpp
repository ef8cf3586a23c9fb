// Processes that have opened a device and wait for work, so that somebody who waits for an answer does not wait for a driver's start.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/introspection.hpp"
#include "app/supervision.hpp"

namespace cllab::app {

/// A Runner whose processes are made in advance where that is known to be harmless: on a CPU, whose drivers share it with as many processes
/// as there are. Each does one job, in buffers of its own, and ends: what an arrangement is held to be (method rule 15) stays true. What is
/// waited for in vain, and every other device, is done by a process made at once.
class Prepared : public Runner {
public:
    /// `rebuild`: in the child, makes the request again of what recipe() said last in the parent; a child has no other way to a request that
    /// is younger than itself. `waiting`: so many processes, which are there when tend() had the time.
    using Rebuild = std::function<run::RunRequest(const Message& recipe, const model::Device& device)>;
    Prepared(double timeout_seconds, std::size_t waiting, Rebuild rebuild);
    ~Prepared() override;

    void recipe(Message recipe) { recipe_ = std::move(recipe); }
    /// Brings one more process on its way, when the one before is ready. For whoever has time.
    void tend();
    /// What the device says of the builds; nothing where no process waits for the question, or it has no answer.
    std::vector<model::Introspection> ask(const std::vector<AskedBuild>& builds);

    /// Asked once.
    std::vector<model::Device> devices(const std::vector<std::string>& selectors, std::vector<std::string>* troubles) override;
    void run(const run::RunRequest& request, const std::string& selector, const Events& events, const std::set<run::CellNumber>& already) override;

private:
    struct Waiting;
    std::unique_ptr<Waiting> take();

    double timeout_seconds_;
    std::size_t wanted_;
    Rebuild rebuild_;
    std::unique_ptr<Runner> at_once_;
    std::vector<model::Device> devices_;
    Message recipe_;
    std::deque<std::unique_ptr<Waiting>> ready_;
    std::unique_ptr<Waiting> starting_;
    std::chrono::steady_clock::time_point last_use_{};
};

/// The request with what differs from the one that the recipe makes again: its cells and how they are measured.
Message difference(const run::RunRequest& request);
/// The reverse: the `base` made again, changed accordingly. Throws Error(usage) for a cell that it has not.
run::RunRequest apply(run::RunRequest base, const Message& difference);

}  // namespace cllab::app
