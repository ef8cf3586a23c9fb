// Relations: properties of right results, whatever their values. Some are checked by more launches of the kernel, with
// other data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernelfile/description.hpp"
#include "model/experiment.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::kernelfile {

struct Result;

/// Parses the text after `relation`. Throws Error(usage).
RelationLine parse_relation(const std::string& text, const Place& place);

/// A relation of a kernel at a point.
struct Relation {
    RelationLine line;
    std::vector<std::string> launches{};  ///< per launch: suffix of the names of its results
    long double sum = 0;                  ///< the required sum
    long double rounding = 0;             ///< bound of the rounding error in `sum`
};

struct Related {
    std::vector<Relation> relations;
    /// The launches for all relations; null if there are none.
    std::shared_ptr<const model::Setup> launches;
};

/// Sorts the rows of results that may come in any order, if `contents` has all of them. `suffix`: that of the names in
/// `contents`.
void put_in_order(const std::vector<RelationLine>& lines, const std::map<std::string, model::ElementType>& elements,
                  const std::string& suffix, std::map<std::string, model::Bytes, std::less<>>& contents);

/// The relations of a setup. `elements`: element types by buffer. `value`: evaluates an expression. `may_launch`: if
/// false, omits relations that need launches. Throws Error(usage).
Related relate(const std::vector<RelationLine>& lines, const model::Setup& setup,
               const std::map<std::string, model::ElementType>& elements,
               const std::function<double(const Expression&)>& value, std::uint64_t seed, bool may_launch);

/// How the results violate the relation, as a sentence; nullopt if they do not.
std::optional<std::string> broken(const Relation& relation, const std::vector<Result>& results,
                                  const model::Buffers& buffers, model::Errors& errors);
/// Whether a linear relation holds only because all results of its launches are 0.
bool tells_nothing(const Relation& relation, const std::vector<Result>& results, const model::Buffers& buffers);

}  // namespace cllab::kernelfile
