// A measured curve as text: one line per point with a bar, the knees marked on it, and the conclusions below.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/experiment.hpp"
#include "report/table/table.hpp"

namespace cllab::report {

/// The time per step if there is one, else the time of one operation.
inline double value_of(const model::Curve::Sample& s) { return s.per_step > 0 ? s.per_step : s.seconds; }

/// The probe's findings in the unit of the curve's axis, from `first` to `last`. Every page marks these.
std::vector<model::Finding> knees(const std::vector<model::Finding>& findings, const std::string& x_unit, double first,
                                  double last);

/// `id`: the variant whose axis is swept. Prints per point x, the value (time per step if there is one, else time of
/// one operation) with its interval, and a bar. Bars are logarithmic if the values span more than a factor of 8. A
/// finding in the unit of x is marked on the last point at or below its value. At most 100 columns. Skips points that
/// are not finite or not positive, with a note.
void print_curve(std::ostream& out, const model::Curve& curve, const std::string& id, const model::Axis& axis,
                 const std::vector<model::Finding>& findings, const TableStyle& style);

/// One finding per line: name, value with unit, its interval, and how it was obtained. At most 100 columns.
void print_findings(std::ostream& out, const std::vector<model::Finding>& findings, const TableStyle& style);

}  // namespace cllab::report
