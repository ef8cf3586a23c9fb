#include "report/table.hpp"
#include "report/json.hpp"
#include <ostream>
namespace cllab::report { void print_table(std::ostream& o, const std::vector<model::Record>& r, const TableStyle&) { for (auto& x : r) { o << x.id << " " << model::name(x.status) << " " << x.reason; if (x.time) o << " median " << x.time->median << " [" << x.time->low << "," << x.time->high << "] n=" << x.time->n << " k=" << x.time->per_sample << " " << x.time->stop_reason << " " << x.time->clock; for (auto& m : x.metrics) o << " " << m.first << "=" << m.second.value; for (auto& w : x.warnings) o << "\n  ! " << w; o << "\n"; } } }
