// A model of the times of points. It learns from measured points and chooses the points that `tune` measures next.
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

/// Maps points to coordinates, so that points with similar values are near each other. A number maps to its logarithm,
/// a shape to the logarithm of each extent, a word to its rank among the words of its axis.
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
    using Timed = std::pair<Place, std::optional<double>>;  ///< seconds; nullopt for a point that failed

    /// Replaces the learnt points. The weights move one step towards the weights that explain these times best. At
    /// least one point must have a time. The slowest fifth counts as equally slow. A failed point counts as slow.
    void learn(std::vector<Timed> timed);
    /// Up to `count` indices of candidates with the largest expected improvement over the fastest point. Each choice
    /// treats the earlier ones as measured.
    std::vector<std::size_t> promising(const std::vector<Place>& candidates, std::size_t count) const;

private:
    double correlation(const Place& a, const Place& b) const;
    std::vector<std::vector<double>> solved(const std::vector<Place>& candidates) const;
    double misfit() const;

    std::vector<Place> places_;
    std::vector<double> values_;  ///< logarithms of seconds minus their mean
    std::vector<double> weights_;
};

}  // namespace cllab::model
