// Relations: properties that results have where the kernel is right, whatever the results are. Some are held against
// more launches of the kernel, with other data.
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

/// What stands behind 'relation'. Throws Error(usage).
RelationLine parse_relation(const std::string& text, const Place& place);

/// A relation of a kernel at a point.
struct Relation {
    RelationLine line;
    std::vector<std::string> launches{};  ///< what stands behind the names of the results of its launches
    long double sum = 0;                  ///< what the sum is
    long double rounding = 0;             ///< how far sums of floating-point numbers may be off by adding them
};

struct Related {
    std::vector<Relation> relations;
    /// The launches of all of them; nothing: there are none.
    std::shared_ptr<const model::Setup> launches;
};

/// Sorts the rows of what may come out in any order, where `contents` has all of it. `suffix`: behind the names there.
void put_in_order(const std::vector<RelationLine>& lines, const std::map<std::string, model::ElementType>& elements,
                  const std::string& suffix, std::map<std::string, model::Bytes, std::less<>>& contents);

/// Relations of the set-up, whose buffers have these elements. `may_launch`: false leaves out those that take launches.
/// `value`: of an expression. Throws Error(usage).
Related relate(const std::vector<RelationLine>& lines, const model::Setup& setup,
               const std::map<std::string, model::ElementType>& elements,
               const std::function<double(const Expression&)>& value, std::uint64_t seed, bool may_launch);

/// How the results break the relation, in a sentence; nothing: they do not.
std::optional<std::string> broken(const Relation& relation, const std::vector<Result>& results,
                                  const model::Buffers& buffers, model::Errors& errors);
/// Whether all results of its launches are 0, which satisfies it whatever the kernel is for.
bool tells_nothing(const Relation& relation, const std::vector<Result>& results, const model::Buffers& buffers);

}  // namespace cllab::kernelfile
