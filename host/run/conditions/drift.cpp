#include "run/conditions/drift.hpp"

#include <algorithm>
#include <cmath>

#include "core/stats.hpp"

namespace cllab::run {
namespace {

constexpr double steady_within = 0.10;
constexpr std::size_t most_aside = 3;  // times the samples that remain

}  // namespace

bool DriftFilter::is_off(double reference) const { return std::abs(reference - median_) > steady_within * median_; }

double DriftFilter::spread() const {
    double least = median_, most = median_;
    for (const double reference : references_) {
        if (!throttled_ && is_off(reference)) continue;
        least = std::min(least, reference);
        most = std::max(most, reference);
    }
    return median_ > 0 ? (most - least) / median_ : 0;
}

bool DriftFilter::steady(std::size_t block) const {
    const auto off = [&](std::size_t i) { return i < references_.size() && is_off(references_[i]); };
    return !(block > 0 && off(block - 1)) && !off(block);
}

void DriftFilter::put(const Sample& sample, bool fine) {
    (fine ? kept_ : aside_).push_back(sample.seconds);
    (fine ? kept_rounds_ : aside_rounds_).push_back(sample.round);
}

void DriftFilter::sort_out() {
    kept_.clear();
    aside_.clear();
    kept_rounds_.clear();
    aside_rounds_.clear();
    // Samples of a block stand together: it is judged once.
    std::size_t judged = references_.size() + 1;
    bool fine = true;
    for (const auto& s : all_) {
        if (s.block != judged) fine = throttled_ || references_.empty() || steady(judged = s.block);
        put(s, fine);
    }
}

void DriftFilter::reference(double seconds) {
    references_.push_back(seconds);
    median_ = median_of(references_);
    sort_out();
    if (aside_.size() > most_aside * std::max<std::size_t>(kept_.size(), wanted_)) give_up();
}

void DriftFilter::sample(double seconds, unsigned round) {
    const auto block = references_.size();
    all_.push_back({seconds, round, block});
    put(all_.back(), throttled_ || references_.empty() || steady(block));
}

void DriftFilter::give_up() {
    if (aside_.empty()) return;
    throttled_ = true;
    sort_out();
}

void DriftFilter::conclude() {
    if (aside_.size() > most_aside * kept_.size()) give_up();
}

}  // namespace cllab::run
