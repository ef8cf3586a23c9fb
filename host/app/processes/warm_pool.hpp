// Processes that have opened a device and wait for work, so that somebody who waits for an answer does not wait for a
// driver's start, nor for builds that could be made before there was a question.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "app/processes/child_runner.hpp"
#include "app/processes/warm_worker.hpp"

namespace cllab::app {

/// A Runner whose processes are made in advance where that is known to be harmless: on a CPU, whose drivers share it
/// with as many processes as there are. Each does one job, in buffers of its own, and ends: what an arrangement is held
/// to be (host/README.md, rule 15) stays true. Only programs are built before it: their order is not drawn, that
/// of everything else is. What is waited for in vain, and every other device, is done by a process made at once.
class WarmPool : public ChildRunner {
public:
    /// `rebuild`: in the child, makes the request again of what recipe() said last in the parent. `waiting`: so many
    /// processes, which are there when refill() had the time.
    WarmPool(double timeout_seconds, std::size_t waiting, Rebuild rebuild);

    void recipe(Message recipe) { recipe_ = std::move(recipe); }
    /// Requests, each {"recipe", "difference"}, which are alike to those that the next save will make: what they build
    /// is built by every process that waits, and one runs them, so that the driver's cache has what it compiles at a
    /// launch.
    void rehearse(std::vector<Message> requests);
    /// Brings one more process, or what the next one has to build, on its way when the one before is ready. For whoever
    /// has time.
    void refill();
    /// A process that will run the recipes' cells begins to build what was saved.
    void begin_building(const std::vector<Message>& recipes);
    /// All that wait build what was saved, at once, and this waits for them.
    void build_everywhere();
    /// What the device says of the builds; nothing where no process waits for the question, or it has no answer.
    std::vector<model::Introspection> ask(const std::vector<AskedBuild>& builds);

    /// Asked once.
    std::vector<model::Device> devices(const std::vector<std::string>& selectors,
                                       std::vector<std::string>* troubles) override;
    void run(const run::RunRequest& request, const std::string& selector, const Events& events,
             const std::set<run::CellNumber>& already) override;
    /// There are processes already.
    void expect(const run::RunRequest&, const std::string&, bool) override {}

private:
    /// Seconds: --timeout is for kernels that never end, and may be shorter than a compiler takes.
    static constexpr double patience = 60;

    bool is_used() const;
    std::unique_ptr<WarmWorker> take();
    void end_preparations();

    std::size_t wanted_;
    Rebuild rebuild_;
    Message recipe_;
    std::vector<Message> rehearsals_;
    unsigned number_ = 0, rehearsed_ = 0;              ///< of the rehearsals
    std::deque<std::unique_ptr<WarmWorker>> waiting_;  ///< those with a warm compiler first
    std::unique_ptr<WarmWorker> builder_;              ///< builds what was saved, and runs it
    std::chrono::steady_clock::time_point last_use_{};
};

}  // namespace cllab::app
