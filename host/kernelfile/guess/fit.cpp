#include "kernelfile/guess/fit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/text.hpp"

namespace cllab::kernelfile {
namespace {

using Powers = std::vector<unsigned>;  // by axis

struct Term {
    Powers powers;
    std::int64_t numerator = 0, denominator = 1;

    unsigned degree() const { return std::accumulate(powers.begin(), powers.end(), 0u); }
    double at(const std::vector<std::int64_t>& sizes) const {
        double out = static_cast<double>(numerator) / static_cast<double>(denominator);
        for (std::size_t i = 0; i < powers.size(); ++i)
            for (unsigned p = 0; p < powers[i]; ++p) out *= static_cast<double>(sizes[i]);
        return out;
    }
};

using Polynomial = std::vector<Term>;

double value_at(const Polynomial& terms, const std::vector<std::int64_t>& sizes) {
    double out = 0;
    for (const auto& term : terms) out += term.at(sizes);
    return out;
}

/// Products of powers of the axes, the simplest first.
std::vector<Powers> monomials(std::size_t axes) {
    const unsigned most = axes == 1 ? 3 : axes == 2 ? 2 : 1;  // highest power of one axis
    std::vector<Powers> out{Powers(axes)};
    for (std::size_t i = 0; i < axes; ++i)
        for (std::size_t known = out.size(), at = 0; at < known; ++at)
            for (unsigned power = 1; power <= most; ++power) {
                out.push_back(out[at]);
                out.back()[i] = power;
            }
    std::erase_if(out, [](const auto& p) { return std::accumulate(p.begin(), p.end(), 0u) > 3; });
    std::ranges::stable_sort(out, {}, [](const auto& p) { return std::accumulate(p.begin(), p.end(), 0u); });
    return out;
}

/// Solves linear equations by Gaussian elimination with pivots. nullopt if they have no single solution.
std::optional<std::vector<double>> solved(std::vector<std::vector<double>> rows) {
    const auto n = rows.size();
    for (std::size_t i = 0; i < n; ++i) {
        const auto pivot = std::ranges::max_element(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(), {},
                                                    [&](const auto& row) { return std::fabs(row[i]); });
        if (std::fabs((*pivot)[i]) < 1e-9) return std::nullopt;
        std::swap(*pivot, rows[i]);
        for (std::size_t r = 0; r < n; ++r) {
            const double factor = r == i ? 0 : rows[r][i] / rows[i][i];
            for (std::size_t c = i; factor != 0 && c <= n; ++c) rows[r][c] -= factor * rows[i][c];
        }
    }
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(rows[i][n] / rows[i][i]);
    return out;
}

/// Sets the term to a fraction with a power of two as denominator, at most 4096. False for 0, or if none is near.
bool set_fraction(Term& term, double value) {
    for (std::int64_t denominator = 1; denominator <= 4096; denominator *= 2) {
        const double numerator = value * static_cast<double>(denominator);
        if (std::fabs(numerator - std::round(numerator)) > 1e-6 || std::fabs(numerator) > 1e6) continue;
        term.numerator = std::llround(numerator);
        term.denominator = denominator;
        return term.numerator != 0;
    }
    return false;
}

std::optional<Polynomial> solve(const std::vector<Powers>& chosen, const std::vector<LengthSample>& samples) {
    std::vector<std::vector<double>> rows;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        auto& row = rows.emplace_back();
        for (const auto& powers : chosen) row.push_back(Term{powers, 1, 1}.at(samples[i].sizes));
        row.push_back(static_cast<double>(samples[i].length));
    }
    const auto found = solved(std::move(rows));
    if (!found) return std::nullopt;
    Polynomial out;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        out.push_back({chosen[i]});
        if (!set_fraction(out.back(), (*found)[i])) return std::nullopt;
    }
    const bool fits = std::ranges::all_of(samples, [&](const auto& s) {
        return std::fabs(value_at(out, s.sizes) - static_cast<double>(s.length)) < 1e-3;
    });
    return fits ? std::optional(out) : std::nullopt;
}

/// The polynomial with the fewest terms that fits all samples, at most four.
std::optional<Polynomial> find(std::size_t axes, const std::vector<LengthSample>& samples) {
    const auto all = monomials(axes);
    for (std::size_t terms = 1; terms <= std::min<std::size_t>(4, all.size()) && terms < samples.size(); ++terms) {
        std::vector<bool> is_chosen(all.size());
        std::fill_n(is_chosen.begin(), terms, true);
        do {
            std::vector<Powers> chosen;
            for (std::size_t i = 0; i < all.size(); ++i)
                if (is_chosen[i]) chosen.push_back(all[i]);
            if (auto found = solve(chosen, samples)) return found;
        } while (std::prev_permutation(is_chosen.begin(), is_chosen.end()));
    }
    return std::nullopt;
}

/// If a term is negative, keeps only the positive terms of the highest degree: the data has the border that a kernel
/// skips.
Polynomial rounded_up(const Polynomial& terms) {
    const auto is_less = [](const Term& t) { return t.numerator < 0; };
    if (std::ranges::none_of(terms, is_less)) return terms;
    const auto degree = std::ranges::max_element(terms, {}, &Term::degree)->degree();
    Polynomial out;
    for (const auto& term : terms)
        if (!is_less(term) && term.degree() == degree) out.push_back(term);
    return out;
}

std::string text_of(const Term& term, const std::vector<std::string>& axes) {
    std::vector<std::string> factors;
    if (term.numerator != 1 || term.degree() == 0) factors.push_back(std::to_string(term.numerator));
    for (std::size_t i = 0; i < axes.size(); ++i)
        for (unsigned p = 0; p < term.powers[i]; ++p) factors.push_back(axes[i]);
    const auto product = join(factors, "*");
    return term.denominator == 1 ? product : "ceil(" + product + "/" + std::to_string(term.denominator) + ")";
}

std::string plus(const std::string& name, std::int64_t more) {
    return more == 0 ? name : "(" + name + "+" + std::to_string(more) + ")";
}

/// "(n+2)*(n+2)" or "(width+2)*(height+2)" if the terms are such a product.
std::optional<std::string> factored(const Polynomial& terms, const std::vector<std::string>& axes) {
    std::int64_t constant = 0, product = 0;
    std::vector<std::int64_t> linear(axes.size());
    std::vector<std::size_t> of;
    for (const auto& t : terms) {
        if (t.denominator != 1 || t.degree() > 2) return std::nullopt;
        if (t.degree() == 0) constant = t.numerator;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (t.degree() == 1 && t.powers[i] == 1) linear[i] = t.numerator;
            if (t.degree() == 2)
                for (unsigned p = 0; p < t.powers[i]; ++p) of.push_back(i);
        }
        if (t.degree() == 2) product += t.numerator;
    }
    if (of.size() != 2 || product != 1) return std::nullopt;
    const auto a = of[0], b = of[1];
    if (a == b) {
        const auto half = linear[a] / 2;
        if (linear[a] % 2 != 0 || half * half != constant) return std::nullopt;
        return plus(axes[a], half) + "*" + plus(axes[a], half);
    }
    // The kernel may skip the corners.
    const auto whole = linear[a] * linear[b];
    if (linear[a] < 0 || linear[b] < 0 || constant > whole || constant < whole - linear[a] - linear[b])
        return std::nullopt;
    return plus(axes[a], linear[b]) + "*" + plus(axes[b], linear[a]);
}

}  // namespace

std::optional<std::string> fitted_length(const std::vector<std::string>& axes,
                                         const std::vector<LengthSample>& samples) {
    if (samples.empty()) return std::nullopt;
    if (std::ranges::all_of(samples, [&](const auto& s) { return s.length == samples.front().length; }))
        return std::to_string(samples.front().length);
    const auto exact = find(axes.size(), samples);
    if (!exact) return std::nullopt;
    auto terms = rounded_up(*exact);
    const auto is_enough = [&](const LengthSample& s) {
        return value_at(terms, s.sizes) > static_cast<double>(s.length) - 1e-3;
    };
    if (!std::ranges::all_of(samples, is_enough)) return std::nullopt;
    if (const auto product = factored(terms, axes)) return product;
    std::ranges::stable_sort(terms, std::greater<>{}, &Term::degree);
    return join(terms, "+", [&](const auto& term) { return text_of(term, axes); });
}

std::optional<Digit> fitted_digit(const std::vector<std::pair<std::int64_t, std::int64_t>>& selected) {
    for (unsigned shift = 0; shift < 32; ++shift) {
        std::int64_t divisor = 0;
        for (const auto& [value, element] : selected) divisor = std::gcd(divisor, (value >> shift) - element);
        if (divisor == 0 && shift > 0) divisor = (selected.back().first >> shift) + 1;  // all higher bits
        const auto fits = [&](const auto& one) { return (one.first >> shift) % divisor == one.second; };
        if (divisor > 1 && std::ranges::all_of(selected, fits)) return Digit{shift, divisor};
    }
    return std::nullopt;
}

}  // namespace cllab::kernelfile
