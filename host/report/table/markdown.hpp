// The table as GitHub shows it, for an issue or the summary of a pull request.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model/result.hpp"
#include "report/table/ranking.hpp"

namespace cllab::report {

/// Verdicts first, then a picture where `picture` names one, then a table per device and family, with the reasons of
/// failures and the warnings below. Of the columns those that a line of 110 characters has room for.
void print_markdown(std::ostream& out, const Rows& rows, const std::vector<std::string>& verdicts,
                    const std::string& picture, const MayBeAuto& may_be_auto = {});

}  // namespace cllab::report
