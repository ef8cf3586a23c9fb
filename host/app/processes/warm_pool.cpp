#include "app/processes/warm_pool.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace cllab::app {
namespace {

using State = WarmWorker::State;

/// Of those that wait so many have a warm compiler: one asks about the arguments, one builds what was saved, one
/// rehearses.
constexpr std::ptrdiff_t compilers = 3;

bool compiles(const std::unique_ptr<WarmWorker>& one) { return one->compiles(); }
bool is_idle(const std::unique_ptr<WarmWorker>& one) { return one->poll() == State::idle; }

}  // namespace

WarmPool::WarmPool(double timeout_seconds, std::size_t waiting, Rebuild rebuild)
    : ChildRunner(timeout_seconds), wanted_(waiting), rebuild_(std::move(rebuild)) {}

bool WarmPool::is_used() const {
    const auto& known = known_devices();
    return known.size() == 1 && known.front().is_cpu() &&
           known.front().implementation != model::Implementation::oclgrind;
}

void WarmPool::refill() {
    if (!is_used()) return;
    for (auto one = waiting_.begin(); one != waiting_.end();) {
        const auto state = (*one)->poll();
        if (state == State::busy) return;  // one at a time
        // A driver that does not start here, or not so often, is not asked again.
        if (state == State::gone && !(*one)->was_ready()) wanted_ = 0;
        one = state == State::gone ? waiting_.erase(one) : one + 1;
    }
    if (!rehearsals_.empty() && rehearsed_ != number_) {
        if (const auto one = std::ranges::find_if(waiting_, compiles); one != waiting_.end()) {
            rehearsed_ = number_;
            return (*one)->rehearse(rehearsals_);
        }
    } else if (!rehearsals_.empty()) {
        const auto is_behind = [&](const auto& w) { return w->built() != number_; };
        if (const auto one = std::ranges::find_if(waiting_, is_behind); one != waiting_.end()) {
            std::vector<Message> recipes;
            for (const auto& rehearsal : rehearsals_) recipes.push_back(rehearsal.at("recipe"));
            return (*one)->build(recipes, false, number_);
        }
    }
    if (waiting_.size() >= wanted_) return;
    const bool another = std::ranges::count_if(waiting_, compiles) < compilers;
    waiting_.insert(another ? waiting_.begin() : waiting_.end(),
                    std::make_unique<WarmWorker>(known_devices().front().selector, rebuild_, another));
}

/// What would disturb a measurement, and is of no use to it.
void WarmPool::end_preparations() {
    std::erase_if(waiting_,
                  [](const auto& w) { return !w->was_ready() || (w->rehearses() && w->poll() == State::busy); });
}

std::unique_ptr<WarmWorker> WarmPool::take() {
    end_preparations();
    while (!waiting_.empty()) {
        auto one = std::ranges::find_if(waiting_, is_idle);
        if (one == waiting_.end()) one = waiting_.begin();
        auto out = std::move(*one);
        waiting_.erase(one);
        if (out->wait_until_idle(patience)) return out;
    }
    return nullptr;
}

void WarmPool::rehearse(std::vector<Message> requests) {
    rehearsals_ = std::move(requests);
    ++number_;
}

void WarmPool::begin_building(const std::vector<Message>& recipes) {
    if (recipes.empty()) return;
    end_preparations();
    if (!builder_) {
        const auto may_build = [](const auto& w) { return compiles(w) && is_idle(w); };
        if (std::ranges::count_if(waiting_, may_build) < 2) return;  // the one is for the question
        const auto last = std::find_if(waiting_.rbegin(), waiting_.rend(), may_build);
        builder_ = std::move(*last);
        waiting_.erase(std::next(last).base());
    }
    if (builder_->wait_until_idle(patience))
        builder_->build(recipes, true);
    else
        builder_.reset();
}

void WarmPool::build_everywhere() {
    if (recipe_.is_null()) return;
    for (const auto& one : waiting_)
        if (is_idle(one)) one->build({recipe_}, true, one->built());
    std::erase_if(waiting_, [](const auto& one) { return !one->wait_until_idle(patience); });
}

std::vector<model::Introspection> WarmPool::ask(const std::vector<AskedBuild>& builds) {
    const auto waiting = take();
    const auto found = waiting ? waiting->ask(builds, std::max(timeout_seconds(), patience)) : std::nullopt;
    return found ? *found : std::vector<model::Introspection>{};
}

std::vector<model::Device> WarmPool::devices(const std::vector<std::string>& selectors,
                                             std::vector<std::string>* troubles) {
    return known_devices().empty() ? ChildRunner::devices(selectors, troubles) : known_devices();
}

void WarmPool::run(const run::RunRequest& request, const std::string& selector, const Events& events,
                   const std::set<run::CellNumber>& already) {
    const bool can = already.empty() && !request.yardstick && !recipe_.is_null();
    auto waiting = can ? std::move(builder_) : nullptr;
    if (can && !(waiting && waiting->wait_until_idle(patience))) waiting = take();
    // The device is as warm as the process before has left it (host/README.md, rule 4).
    auto first = waiting ? waiting->run(recipe_, difference(request), last_use_) : nullptr;
    ChildRunner::run(request, selector, events, already, std::move(first));
    last_use_ = Clock::now();
}

}  // namespace cllab::app
