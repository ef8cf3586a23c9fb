// The page of a portrait as text and as JSON.
#pragma once

#include <iosfwd>
#include <string>

#include "portrait/page.hpp"
#include "report/table/table.hpp"

namespace cllab::app {

void print_profile(std::ostream& out, const portrait::Profile& profile, const report::TableStyle& style);
/// The same with every curve, indented.
std::string profile_json(const portrait::Profile& profile);

}  // namespace cllab::app
