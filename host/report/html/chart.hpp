// A chart of lines and points over two axes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "report/html/markup.hpp"

namespace cllab::report::html {

struct ChartMark {
    double x = 0, y = 0, low = 0, high = 0;  ///< low..high: the interval of y; equal: none
    long cell = -1;                          ///< the record it shows; -1: none
};
struct ChartLine {
    std::string name;              ///< in the legend; empty: only the label names it
    std::vector<ChartMark> marks;  ///< by ascending x
    bool joined = true, dots = true;
    std::string style{};  ///< class of the line; empty: the next color
    std::string label{};  ///< near the mark `labelled` if there is room; empty: none
    std::size_t labelled = 0;
};
/// A vertical line across the chart at a value of x, with its label.
struct ChartGuide {
    double at = 0;
    std::string label;
};
struct ChartText {
    std::string title, x_name, x_unit, y_name, y_unit;
};

void write_chart(std::ostream& out, const ChartText& text, const std::vector<ChartLine>& lines,
                 const std::vector<ChartGuide>& guides);

}  // namespace cllab::report::html
