#include "model/explanation.hpp"

#include "core/table.hpp"

namespace cllab::model {
namespace {

constexpr Entry<Limit, const char*> limit_names[] = {
    {Limit::named, "named"},         {Limit::close, "close"},       {Limit::unexplained, "not explained"},
    {Limit::withdrawn, "withdrawn"}, {Limit::unsteady, "unsteady"}, {Limit::impossible, "impossible"}};
constexpr Entry<Outcome, const char*> outcome_names[] = {
    {Outcome::as_predicted, "as predicted"}, {Outcome::otherwise, "otherwise"}, {Outcome::undecided, "undecided"}};

}  // namespace

const char* name(Limit limit) { return value_of(limit_names, limit); }
const char* name(Outcome outcome) { return value_of(outcome_names, outcome); }

}  // namespace cllab::model
