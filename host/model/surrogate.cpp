#include "model/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::model {
namespace {

constexpr double noise = 1e-3;  // variance of the error of a measured value, relative to that of all values
/// Only the fastest points are learnt: the work grows with the cube of their number.
constexpr std::size_t most_learned = 160;
/// Percent of the points. Slower points count as equally slow, so that fast points are told apart better.
constexpr std::size_t slow_from = 80;
Place numbers_of(const std::string& value) {
    Place out;
    for (const auto& part : split(value, 'x')) {
        const auto number = parse_real(part);
        if (!number) return {};
        out.push_back(std::copysign(std::log1p(std::fabs(*number)), *number));
    }
    return out;
}

/// Changes [K | R] to [U | inverse(U^T) R], where K = U^T U. Uses only the upper half of K, which is symmetric.
void eliminate(std::vector<std::vector<double>>& rows) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const double pivot = std::sqrt(rows[k][k]);
        for (auto column = k; column < rows[k].size(); ++column) rows[k][column] /= pivot;
        for (auto i = k + 1; i < rows.size(); ++i) {
            const double factor = rows[k][i];
            for (auto column = i; column < rows[i].size(); ++column) rows[i][column] -= factor * rows[k][column];
        }
    }
}

/// Expected amount by which a normally distributed value is below `best`; a value above `best` counts as 0.
double expected_improvement(double best, double mean, double deviation) {
    const double z = (best - mean) / deviation;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    return deviation * (z * std::erfc(-z / std::numbers::sqrt2) / 2 + density);
}

}  // namespace

Placing::Placing(const std::vector<Axis>& axes) {
    constexpr std::size_t extents = 3;
    for (const auto& axis : axes) {
        std::vector<Place> coordinates(extents + 1);  // a list per coordinate, one entry per value
        for (const auto& value : axis.values) {
            auto place = numbers_of(value);
            const bool is_word = place.empty();
            place.resize(extents, std::log1p(1));  // 64 is 64x1
            place.push_back(is_word ? static_cast<double>(coordinates.back().size() + 1) : 0);
            for (std::size_t i = 0; i < place.size(); ++i) coordinates[i].push_back(place[i]);
        }
        for (const auto& all : coordinates) {
            const auto [least, most] = std::ranges::minmax(all);
            for (std::size_t n = 0; least < most && n < all.size(); ++n)
                axes_[axis.name][axis.values[n]].push_back((all[n] - least) / (most - least));
        }
    }
}

Place Placing::operator()(const Point& point) const {
    Place out;
    for (const auto& [axis, places] : axes_) std::ranges::copy(places.at(point.text(axis)), std::back_inserter(out));
    return out;
}

double Surrogate::correlation(const Place& a, const Place& b) const {
    double distance = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) distance += weights_[i] * std::fabs(a[i] - b[i]);
    return std::exp(-distance);
}

/// One row per learnt point: the factor of the correlations, then the solved value, then the solved candidates.
std::vector<std::vector<double>> Surrogate::solved(const std::vector<Place>& candidates) const {
    std::vector<std::vector<double>> out;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        auto& row =
            out.emplace_back(mapped(places_, [&](const Place& place) { return correlation(places_[i], place); }));
        row[i] += noise;
        row.push_back(values_[i]);
        for (const auto& candidate : candidates) row.push_back(correlation(places_[i], candidate));
    }
    eliminate(out);
    return out;
}

/// The negative logarithm of the likelihood of the values.
double Surrogate::misfit() const {
    const auto rows = solved({});
    double squares = 0, out = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        squares += rows[i].back() * rows[i].back();
        out += std::log(rows[i][i]);
    }
    return out + static_cast<double>(rows.size()) / 2 * std::log(squares);
}

void Surrogate::learn(std::vector<Timed> timed) {
    double slowest = 0;
    for (const auto& [place, seconds] : timed) slowest = std::max(slowest, seconds.value_or(0));
    for (auto& [place, seconds] : timed) seconds = std::log(seconds.value_or(2 * slowest));
    std::ranges::stable_sort(timed, {}, &Timed::second);
    timed.resize(std::min(timed.size(), most_learned));
    const auto slow = timed[(timed.size() - 1) * slow_from / 100].second;
    values_ = mapped(timed, [&](const Timed& one) { return *std::min(one.second, slow); });
    places_ = mapped(timed, &Timed::first);
    const double mean = std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
    for (auto& value : values_) value -= mean;
    weights_.resize(places_.front().size(), 1);
    double least = misfit();
    for (auto& weight : weights_)
        for (const double factor : {0.25, 0.5, 2.0, 4.0}) {
            const double before = weight;
            weight = std::clamp(weight * factor, 0.02, 8.0);
            const double now = misfit();
            if (now >= least) weight = before;
            least = std::min(least, now);
        }
}

std::vector<std::size_t> Surrogate::promising(const std::vector<Place>& candidates, std::size_t count) const {
    auto rows = solved(candidates);
    const auto column = places_.size();  // column of the value; those of the candidates follow
    double scale = 1e-9;
    std::vector<double> mean(candidates.size()), variance(candidates.size(), 1 + noise);
    const auto take = [&](const std::vector<double>& row) {
        scale += row[column] * row[column] / static_cast<double>(places_.size());
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            mean[c] += row[column] * row[column + 1 + c];
            variance[c] = std::max(noise, variance[c] - row[column + 1 + c] * row[column + 1 + c]);
        }
    };
    std::ranges::for_each(rows, take);
    std::vector<std::size_t> out;
    for (count = std::min(count, candidates.size()); out.size() < count;) {
        std::vector<double> gains;
        for (std::size_t c = 0; c < candidates.size(); ++c)
            gains.push_back(expected_improvement(values_.front(), mean[c], std::sqrt(scale * variance[c])));
        for (const auto chosen : out) gains[chosen] = -1;
        const auto chosen = static_cast<std::size_t>(std::ranges::max_element(gains) - gains.begin());
        out.push_back(chosen);
        // Treats the chosen point as measured, with its expected value.
        std::vector<double> row(column + 1);
        for (const auto& candidate : candidates) row.push_back(correlation(candidates[chosen], candidate));
        for (const auto& other : rows)
            for (auto c = column + 1; c < row.size(); ++c) row[c] -= other[column + 1 + chosen] * other[c];
        for (auto& value : row) value /= std::sqrt(variance[chosen]);
        take(rows.emplace_back(std::move(row)));
    }
    return out;
}

}  // namespace cllab::model
