// Small pieces of HTML and SVG. Coordinates along x are shares of the width, so that charts fit any screen and their
// text keeps its size.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.hpp"
#include "report/records/points.hpp"
#include "report/table/layout.hpp"
#include "report/table/verdict.hpp"

namespace cllab::report::html {

/// Escapes text for the page and for quoted attributes. Makes control characters visible. `allowed`: see printable().
std::string text(std::string_view raw, std::string_view allowed = "");

/// As text(), for text with kernels' names: lines may break after underscores.
std::string breakable(std::string_view raw);

/// A number for an attribute, rounded to four decimals.
std::string number(double value);
/// A share of the width: "43.21%".
std::string percent(double share);

struct Scale {
    double low = 0, high = 1;
    bool logarithmic = false, binary = false;  ///< binary: ticks at powers of two
    /// 0 at `low`, 1 at `high`.
    double at(double value) const;
    /// Some five values in ascending order; one or two if no round numbers are in the range.
    std::vector<double> ticks() const;
};

/// A command as code. Lines do not break after the hyphens of options.
std::string command(std::string_view words);

/// A sentence, with the commands between its backquotes as code.
std::string marked(std::string_view sentence);

/// A heading with a link to itself.
std::string heading(int level, const std::string& id, const std::string& title);

template <class T>
std::span<const T> first_of(const std::vector<T>& all, std::size_t most) {
    return std::span(all).first(std::min(most, all.size()));
}

/// The header of a table with these titles, a cell with text, and a right-aligned cell with a number.
std::string head_of(const std::vector<std::string>& titles);
std::string cell(std::string_view raw);
std::string number_cell(std::string_view raw);
/// "1 KiB to 2 KiB", for a cell; empty if the interval has no width.
std::string range(double low, double high, const std::string& unit);

}  // namespace cllab::report::html
