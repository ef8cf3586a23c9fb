// The page that `run` ends with and `report` prints again.
#pragma once

#include <string>
#include <vector>

#include "app/conclude.hpp"
#include "report/by_device.hpp"

namespace cllab::app {

/// True when a record's value of the axis may be what the variant or the device chose, or missing.
bool may_be_auto(const std::string& family, const std::string& axis);

/// Tables, curves with conclusions, summaries and, of several devices, the variants by devices: to standard output, with the
/// terminal's width and colours. `several_runs`: an axis may differ because it was asked for, not only because it was auto.
void print_page(const std::vector<model::Record>& records, const std::vector<Conclusion>& conclusions,
                const std::vector<report::LostDevice>& lost, bool several_runs);

}  // namespace cllab::app
