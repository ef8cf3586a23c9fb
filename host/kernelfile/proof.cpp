#include "kernelfile/proof.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/data.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;

/// Elements of eight bytes at least that hold their poison, so that chance plays no part.
std::size_t untouched_bytes(const model::Buffers& buffers, std::span<const std::byte> data) {
    std::vector<std::byte> poison(data.size());
    model::poison(poison, buffers.poison_seed);
    if (std::memcmp(poison.data(), data.data(), data.size()) == 0) return data.size();
    std::size_t out = 0;
    for (std::size_t i = 0; i + 8 <= data.size(); i += 8)
        if (std::memcmp(poison.data() + i, data.data() + i, 8) == 0) out += 8;
    return out;
}

bool near_enough(const std::byte* found, const std::byte* expected, const ElementType& type, model::Errors& errors) {
    if (std::memcmp(found, expected, type.lane_bytes) == 0) return true;
    const double a = lane_value(found, type), e = lane_value(expected, type);
    if (type.kind != ElementType::Kind::floating) return errors.takes_distance(std::fabs(a - e), e);
    return errors.takes_floating(a, e, [&] { return ulps_between(found, expected, type); });
}

}  // namespace

std::optional<std::string> first_difference(const std::string& name, std::span<const std::byte> found,
                                            std::span<const std::byte> expected, const ElementType& type,
                                            model::Errors& errors, const std::string& whose) {
    if (found.size() != expected.size())
        return name + " has " + std::to_string(found.size()) + " bytes, " + whose + " " +
               std::to_string(expected.size());
    if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return std::nullopt;
    if (type.kind == ElementType::Kind::opaque || type.lane_bytes == 0) {
        const auto i =
            static_cast<std::size_t>(std::mismatch(found.begin(), found.end(), expected.begin()).first - found.begin());
        return "byte " + std::to_string(i) + " of " + name + " is " +
               std::to_string(std::to_integer<unsigned>(found[i])) + ", " + whose + " " +
               std::to_string(std::to_integer<unsigned>(expected[i]));
    }
    for (std::size_t i = 0; i + type.lane_bytes <= found.size(); i += type.lane_bytes) {
        // Of a 3-vector the fourth lane is padding.
        if (type.lanes == 3 && i / type.lane_bytes % 4 == 3) continue;
        const auto *a = found.data() + i, *e = expected.data() + i;
        if (near_enough(a, e, type, errors)) continue;
        const auto lane = i / type.lane_bytes, width = type.lanes == 3 ? 4 : type.lanes;
        std::string where = name + "[" + std::to_string(lane / width) + "]";
        if (width > 1) where += ".s" + std::string(1, "0123456789abcdef"[lane % width]);
        std::string out = where + " is " + lane_text(a, type) + ", " + whose + " " + lane_text(e, type);
        const double is = lane_value(a, type), should = lane_value(e, type);
        if (type.kind == ElementType::Kind::floating && std::fabs(is - should) < 1e-3 * std::fabs(should))
            out += " (where rounding may differ: 'tolerance relative=1e-5')";
        return out;
    }
    return std::nullopt;
}

std::optional<std::string> Ledger::check(const Question& q, const model::Buffers& buffers) {
    // Comparisons follow each other: what earlier ones left is not asked for again.
    if (!firsts_.count(q.comparison)) {
        constexpr std::size_t kept = 64;
        recent_.push_back(q.comparison);
        if (recent_.size() > kept) {
            firsts_.erase(recent_.front());
            recent_.pop_front();
        }
    }
    auto& seen = seen_[q.comparison][q.variant + "\n" + q.point];
    model::Errors unreported(q.tolerance);
    auto& errors = buffers.errors ? *buffers.errors : unreported;
    const auto operations = q.accumulates ? buffers.operations : 1;
    std::size_t written = 0;
    std::string all;
    for (const auto& result : q.results) {
        const auto data = buffers.data.at(result.name);
        all += sha256_hex({reinterpret_cast<const char*>(data.data()), data.size()});
        if (result.given) {
            if (!std::equal(data.begin(), data.end(), result.given->begin(), result.given->end()))
                ++written, seen.changes_given = true;
            continue;
        }
        const auto untouched = untouched_bytes(buffers, data);
        if (untouched == data.size())
            seen.untouched.insert(result.name);
        else
            ++written, seen.untouched.erase(result.name);
        if (untouched > 0 && untouched < data.size()) seen.partly.insert(result.name);
    }
    if (written == 0) {
        std::vector<std::string> names;
        for (const auto& result : q.results) names.push_back("'" + result.name + "'");
        return "it writes nothing: " + join(names, ", ") + (names.size() == 1 ? " holds" : " hold") +
               " what was there before";
    }
    if (operations == 1) seen.hashes[q.seed] = all;
    std::vector<Result> unproved;  // what neither a file nor a reference says
    for (const auto& result : q.results) {
        const auto data = buffers.data.at(result.name);
        const bool by_file = result.expected && operations == 1;
        if (by_file)
            if (auto wrong = first_difference(result.name, data, *result.expected, result.type, errors, "expected"))
                return wrong;
        const auto* reference = buffers.expected ? &*buffers.expected : nullptr;
        const bool by_reference = reference && reference->count(result.name);
        if (by_reference)
            if (auto wrong = first_difference(result.name, data, reference->find(result.name)->second, result.type,
                                              errors, "the reference '" + q.reference + "' has"))
                return wrong;
        if (!by_file && !by_reference) unproved.push_back(result);
    }
    seen.seeds.insert(q.seed);
    if (unproved.empty()) return std::nullopt;
    auto& first = firsts_[q.comparison][std::to_string(q.seed) + " " + std::to_string(operations)];
    if (first.variant.empty()) {
        first.variant = q.variant;
        first.point = q.point;
        first.text = q.text;
        for (const auto& result : unproved) {
            const auto data = buffers.data.at(result.name);
            first.contents.emplace(result.name, model::Bytes(data.begin(), data.end()));
        }
    } else {
        const bool one_cell = first.variant == q.variant && first.point == q.point;
        const bool itself = one_cell && first.text == q.text;
        const std::string whose =
            itself     ? "an earlier launch on the same data had"
            : one_cell ? "of " + first.text
                       : "'" + first.variant + "' " + (first.variant == q.variant ? "at " + first.point : "") + "has";
        for (const auto& result : unproved) {
            const auto wrong = first_difference(result.name, buffers.data.at(result.name), first.contents[result.name],
                                                result.type, errors, whose);
            if (!wrong) continue;
            if (one_cell && !itself) {  // each is right for itself
                seen.other_results = "of " + q.text + " " + *wrong;
                break;
            }
            seen.seeds.erase(q.seed);
            if (itself) return "it is not deterministic: " + *wrong;
            for (auto& [other, what] : seen_[q.comparison])
                if (other.substr(0, other.find('\n')) == first.variant) what.disputed_by = q.variant;
            return *wrong + "; nothing says which of the two is right: a line 'reference NAME' names one";
        }
    }
    return std::nullopt;
}

bool Ledger::changes_given_data(const Question& q) const {
    const auto comparison = seen_.find(q.comparison);
    if (comparison == seen_.end()) return true;
    const auto found = comparison->second.find(q.variant + "\n" + q.point);
    return found == comparison->second.end() || found->second.hashes.empty() || found->second.changes_given;
}

model::Proof Ledger::proof(const Question& q) const {
    model::Proof out;
    const auto comparison = seen_.find(q.comparison);
    if (comparison == seen_.end()) return {"nothing"};
    const auto found = comparison->second.find(q.variant + "\n" + q.point);
    if (found == comparison->second.end()) return {"nothing"};
    const auto& seen = found->second;
    std::set<std::string> agreeing;
    for (const auto& [other, what] : comparison->second)
        if (std::includes(what.seeds.begin(), what.seeds.end(), seen.seeds.begin(), seen.seeds.end()))
            agreeing.insert(other.substr(0, other.find('\n')));
    std::string file;
    for (const auto& result : q.results)
        if (result.expected) file = result.file;
    if (!file.empty()) {
        out.checked_by = "file " + file;
    } else if (!q.reference.empty() && q.reference != q.variant) {
        out.checked_by = "reference " + q.reference;
    } else if (q.is_reference) {
        out.checked_by = "is the reference";
    } else if (!seen.disputed_by.empty()) {
        out.checked_by = "disputed by " + seen.disputed_by;
        out.warnings.push_back("disputed: '" + q.variant + "' and '" + seen.disputed_by +
                               "' leave different results; a line 'reference NAME' says which is right");
    } else if (agreeing.size() > 1) {
        out.checked_by = "agreement of " + std::to_string(agreeing.size());
        if (q.random_inputs && seen.seeds.size() < 2) out.checked_by += ", one input";
    } else {
        out.checked_by = "only itself";
    }
    if (out.checked_by == "only itself")
        out.warnings.push_back(
            "unproved: nothing says what is right, only that every launch leaves the same; 'expect NAME = FILE' or "
            "'reference KERNEL' does");
    if (!seen.other_results.empty()) out.warnings.push_back("other-results: " + seen.other_results);
    for (const auto& name : seen.untouched)
        out.warnings.push_back("unwritten: '" + name + "' holds what was there before the kernel ran");
    for (const auto& name : seen.partly)
        out.warnings.push_back("partly-written: some of '" + name + "' holds what was there before the kernel ran");
    if (q.random_inputs && seen.hashes.size() > 1 &&
        std::all_of(seen.hashes.begin(), seen.hashes.end(),
                    [&](const auto& h) { return h.second == seen.hashes.begin()->second; }))
        out.warnings.push_back(
            "input-ignored: the results are the same for two random inputs, so they do not depend on them");
    return out;
}

}  // namespace cllab::kernelfile
