#include "app/processes/prepared.hpp"

#include <algorithm>

#include "core/clock.hpp"

namespace cllab::app {
namespace {

using State = Waiting::State;

/// Of those that wait so many have a warm compiler: one asks about the arguments, one builds what was saved, one
/// rehearses.
constexpr std::size_t compilers = 3;

}  // namespace

Prepared::Prepared(double timeout_seconds, std::size_t waiting, Rebuild rebuild)
    : ChildRunner(timeout_seconds), wanted_(waiting), rebuild_(std::move(rebuild)) {}

bool Prepared::is_used() const {
    return devices_.size() == 1 && devices_.front().is_cpu() &&
           devices_.front().implementation != model::Implementation::oclgrind;
}

void Prepared::tend() {
    if (!is_used()) return;
    if (starting_) {
        const auto state = starting_->look();
        if (state == State::busy) return;
        // A driver that does not start here, or not so often, is not asked again.
        if (state == State::gone)
            wanted_ = 0;
        else if (starting_->compiles())
            ready_.push_front(std::move(starting_));
        else
            ready_.push_back(std::move(starting_));
        starting_.reset();
    }
    if (rehearsing_ && rehearsing_->look() == State::busy) return;
    rehearsing_.reset();
    for (auto one = ready_.begin(); one != ready_.end();) {
        const auto state = (*one)->look();
        if (state == State::busy) return;
        one = state == State::gone ? ready_.erase(one) : one + 1;
    }
    if (!rehearsals_.empty() && rehearsed_ != number_) {
        const auto one = std::find_if(ready_.begin(), ready_.end(), [](const auto& w) { return w->compiles(); });
        if (one != ready_.end()) {
            rehearsing_ = std::move(*one);
            ready_.erase(one);
            rehearsed_ = number_;
            return rehearsing_->rehearse(rehearsals_);
        }
    } else if (!rehearsals_.empty()) {
        const auto one =
            std::find_if(ready_.begin(), ready_.end(), [&](const auto& w) { return w->built() != number_; });
        if (one != ready_.end()) return (*one)->build(recipes_of_rehearsals(), false, number_);
    }
    if (ready_.size() >= wanted_) return;
    const auto can_compile = static_cast<std::size_t>(
        std::count_if(ready_.begin(), ready_.end(), [](const auto& w) { return w->compiles(); }));
    starting_ = std::make_unique<Waiting>(devices_.front().selector, rebuild_, can_compile < compilers);
}

std::unique_ptr<Waiting> Prepared::take() {
    starting_.reset();  // what goes on now would disturb what is measured
    rehearsing_.reset();
    while (!ready_.empty()) {
        auto one = std::find_if(ready_.begin(), ready_.end(), [](const auto& w) { return w->look() == State::idle; });
        if (one == ready_.end()) one = ready_.begin();
        auto out = std::move(*one);
        ready_.erase(one);
        if (out->settle(patience)) return out;
    }
    return nullptr;
}

std::vector<Message> Prepared::recipes_of_rehearsals() const {
    std::vector<Message> out;
    for (const auto& one : rehearsals_) out.push_back(one.at("recipe"));
    return out;
}

void Prepared::rehearse(std::vector<Message> requests) {
    rehearsals_ = std::move(requests);
    ++number_;
}

void Prepared::begin_building(const std::vector<Message>& recipes) {
    if (recipes.empty()) return;
    starting_.reset();
    rehearsing_.reset();
    if (!builder_) {
        const auto compiles = [](const auto& w) { return w->compiles() && w->look() == State::idle; };
        if (std::count_if(ready_.begin(), ready_.end(), compiles) < 2) return;  // the one is for the question
        const auto last = std::find_if(ready_.rbegin(), ready_.rend(), compiles);
        builder_ = std::move(*last);
        ready_.erase(std::next(last).base());
    }
    if (builder_->settle(patience))
        builder_->build(recipes, true);
    else
        builder_.reset();
}

void Prepared::build_everywhere() {
    if (recipe_.is_null()) return;
    for (const auto& one : ready_)
        if (one->look() == State::idle) one->build({recipe_}, true, one->built());
    std::erase_if(ready_, [](const auto& one) { return !one->settle(patience); });
}

std::vector<model::Introspection> Prepared::ask(const std::vector<AskedBuild>& builds) {
    const auto waiting = take();
    const auto found = waiting ? waiting->ask(builds, std::max(timeout_seconds(), patience)) : std::nullopt;
    return found ? *found : std::vector<model::Introspection>{};
}

std::vector<model::Device> Prepared::devices(const std::vector<std::string>& selectors,
                                             std::vector<std::string>* troubles) {
    if (devices_.empty()) devices_ = ChildRunner::devices(selectors, troubles);
    return devices_;
}

void Prepared::run(const run::RunRequest& request, const std::string& selector, const Events& events,
                   const std::set<run::CellNumber>& already) {
    const bool can = already.empty() && !request.yardstick && !recipe_.is_null();
    auto waiting = can ? std::move(builder_) : nullptr;
    if (can && !(waiting && waiting->settle(patience))) waiting = take();
    // The device is as warm as the process before has left it (host/README.md, rule 4).
    auto first = waiting ? waiting->run(recipe_, difference(request), last_use_) : nullptr;
    ChildRunner::run(request, selector, events, already, std::move(first));
    last_use_ = Clock::now();
}

}  // namespace cllab::app
