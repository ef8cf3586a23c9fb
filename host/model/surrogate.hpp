// A model of the times of points. It learns from the measured points and picks those that `tune` measures next.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/axes.hpp"

namespace cllab::model {

using Place = std::vector<double>;  ///< coordinates from 0 to 1

/// Places points so that those with similar values are near each other. A number is placed by its logarithm, a shape by
/// that of each extent, a word by its rank among the words of its axis.
class Placing {
public:
    explicit Placing(const std::vector<Axis>& axes);
    Place operator()(const Point& point) const;

private:
    std::map<std::string, std::map<std::string, Place>> axes_;  ///< by value
};

/// A Gaussian process of the logarithm of the time. The correlation of two points is exp(-sum of the weighted
/// differences of their coordinates), so a coordinate with a small weight matters little.
class Surrogate {
public:
    using Timed = std::pair<Place, std::optional<double>>;  ///< seconds; nothing for a point that failed

    /// Replaces the learnt points. The weights move a step towards those that explain these times best. At least one
    /// point must have a time. The slowest fifth counts as equally slow. A failed point counts as slow.
    void learn(std::vector<Timed> timed);
    /// Up to `count` indices of candidates: those with the largest expected improvement upon the fastest point, each as
    /// if those before it had been measured.
    std::vector<std::size_t> promising(const std::vector<Place>& candidates, std::size_t count) const;

private:
    double correlation(const Place& a, const Place& b) const;
    std::vector<std::vector<double>> solved(const std::vector<Place>& candidates) const;
    double misfit() const;

    std::vector<Place> places_;
    std::vector<double> values_;  ///< logarithms of seconds, less their mean
    std::vector<double> weights_;
};

}  // namespace cllab::model
