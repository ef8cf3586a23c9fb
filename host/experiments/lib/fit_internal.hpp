// Shared by the fitters only.
#pragma once

#include <span>
#include <utility>
#include <vector>

namespace cllab::model::fit {

/// An effect below 1 % is not told from nothing, however small the residual happens to be.
inline constexpr double least_effect = 0.01;
/// Residuals below 0.1 % are the timer's, not the model's: they decide between no two models.
inline constexpr double residual_floor = 0.001;

/// The finite pairs (also positive, if asked), sorted by x.
std::pair<std::vector<double>, std::vector<double>> clean(std::span<const double> x, std::span<const double> y,
                                                          bool positive);

/// y = base + slope * k with base >= 0 and slope >= 0.
struct Affine {
    double base = 0, slope = 0;
    double residual = 0;  ///< mean |1 - model / y|
};
/// Least absolute relative error, by iteratively re-weighted least squares (weights 1 / |error|). y positive, not
/// empty.
Affine fit_affine(std::span<const double> k, std::span<const double> y);

/// True when a model of this residual is as likely as the best: Laplace noise of unknown width gives
/// log L = -n * log(residual), which may fall by `margin`. The default is half of chi-squared's 3.84, a 95 % interval
/// of one parameter.
bool as_likely(double residual, double best, std::size_t points, double margin = 1.92);

}  // namespace cllab::model::fit
