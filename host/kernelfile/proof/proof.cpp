#include "kernelfile/proof/proof.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "core/grouped.hpp"
#include "core/hash.hpp"
#include "core/parallel.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "kernelfile/data/data.hpp"
#include "model/warning.hpp"

namespace cllab::kernelfile {
namespace {

/// The tolerance of one result. If some results are floating-point, the tolerance is for rounding. Integer results then
/// get its absolute part only, rounded down to a whole number.
model::Tolerance tolerance_of(const Ledger::Question& q, const Result& result) {
    const bool rounds = std::ranges::any_of(q.results, [](const auto& other) { return has_floats(other.type); });
    if (!rounds || result.is_rounded || !result.type.is_integer()) return q.tolerance;
    return {std::floor(q.tolerance.absolute), 0, 0};
}

constexpr const char* command_has = "the reference command has";

/// The question and the results, with rows in ascending order if they may come in any.
struct SortedRows {
    Ledger::Question question;
    model::Buffers buffers;
    std::map<std::string, model::Bytes, std::less<>> found, expected;

    SortedRows(const Ledger::Question& q, const model::Buffers& left) : question(q), buffers(left) {
        std::map<std::string, model::ElementType> types;
        std::map<std::string, model::Bytes, std::less<>> of_files;
        for (const auto& result : q.results) {
            const auto data = left.data.at(result.name);
            types.emplace(result.name, result.type);
            found.emplace(result.name, model::Bytes(data.begin(), data.end()));
            if (result.expected) of_files.emplace(result.name, *result.expected);
        }
        put_in_order(q.any_order, types, "", found);
        put_in_order(q.any_order, types, "", of_files);
        for (auto& [name, data] : found) buffers.data[name] = data;
        for (auto& result : question.results)
            if (result.expected) result.expected = std::make_shared<const model::Bytes>(of_files.at(result.name));
        if (question.answer) put_in_order(q.any_order, types, "", question.answer->contents);
        if (!left.expected) return;
        expected = *left.expected;
        put_in_order(q.any_order, types, "", expected);
        for (const auto& relation : q.relations)
            for (const auto& launch : relation.launches) put_in_order(q.any_order, types, launch, expected);
        buffers.expected = &expected;
    }
};

}  // namespace

/// Whether the kernel changed any result. Records in `seen` which ones.
bool Ledger::writes_something(const Question& q, const model::Buffers& buffers, Seen& seen) {
    bool written = false;
    std::vector<std::uint64_t> all;
    for (const auto& result : q.results) {
        const auto data = buffers.data.at(result.name);
        all.push_back(digest(data));
        if (result.given) {
            const bool changed = !equal_bytes(data, *result.given);
            written = written || changed;
            if (changed) seen.changed.insert(result.name);
            continue;
        }
        const auto untouched = untouched_bytes(data, buffers.poison_seed, result.type);
        if (untouched == data.size())
            seen.untouched.insert(result.name);
        else
            written = true, seen.untouched.erase(result.name);
        if (untouched > 0 && untouched < data.size()) seen.partly.insert(result.name);
    }
    if (!q.accumulates || buffers.operations == 1) seen.hashes[q.seed] = all;
    return written;
}

std::optional<std::string> Ledger::check(const Question& q, const model::Buffers& buffers) {
    // Comparisons run one after the other, so the results of the oldest are dropped.
    if (!answers_.count(q.comparison)) {
        constexpr std::size_t most_comparisons = 64;
        recent_.push_back(q.comparison);
        if (recent_.size() > most_comparisons) {
            answers_.erase(recent_.front());
            recent_.pop_front();
        }
    }
    if (q.results.empty()) return "it writes no buffer and no image, so no result can be checked; give it one";
    if (q.answer && !q.answer->trouble.empty()) throw Error(Blame::result, q.answer->trouble);
    auto& seen = seen_[{q.comparison, q.variant, q.point}];
    seen.given = q.given;
    // Given data may be right unchanged. Poison never is.
    const bool may_stay = std::ranges::any_of(q.results, [&](const auto& result) {
        return result.given && (result.may_stay || result.expected || !witnesses(q, result, buffers).empty());
    });
    // An operation that is its own inverse restores the data when it runs twice.
    const bool undone = q.accumulates && buffers.operations > 1 && !seen.changed.empty();
    if (!writes_something(q, buffers, seen) && !undone) {
        if (may_stay) {
            for (const auto& result : q.results)
                if (result.is_guessed) seen.untouched.insert(result.name);
            return judge(q, buffers);
        }
        const auto names = join(q.results, ", ", [](const auto& result) { return "'" + result.name + "'"; });
        const auto given = std::ranges::find_if(q.results, [](const auto& result) { return bool(result.given); });
        return "it writes nothing: " + names + (q.results.size() == 1 ? " holds" : " hold") + " what was there before" +
               (given == q.results.end() ? "" : "; if that may be right, add a line 'may leave " + given->name + "'");
    }
    if (q.any_order.empty()) return judge(q, buffers);
    const SortedRows sorted(q, buffers);
    return judge(sorted.question, sorted.buffers);
}

/// The first error in the results, if any.
std::optional<std::string> Ledger::judge(const Question& q, const model::Buffers& buffers) {
    auto& seen = seen_[{q.comparison, q.variant, q.point}];
    model::Errors unreported(q.tolerance);
    auto& errors = buffers.errors ? *buffers.errors : unreported;
    const bool first = !q.accumulates || buffers.operations == 1;
    const auto fail = [&seen](std::string wrong) {
        seen.wrong = true;
        return std::optional(std::move(wrong));
    };
    std::vector<Result> unproved;
    for (const auto& result : q.results) {
        const auto all = witnesses(q, result, buffers);
        model::Errors own(tolerance_of(q, result));
        for (const auto& [expected, whose] : all) {
            const bool by_command = whose == command_has;
            auto wrong =
                difference(result.name, buffers.data.at(result.name), expected, result.type, own, whose, by_command);
            errors.merge(own);
            if (!wrong) continue;
            const auto count = count_of_differences(buffers.data.at(result.name), expected, result.type, own.allowed());
            return fail(*wrong + count + (by_command ? q.answer->remark : ""));
        }
        if (all.empty()) unproved.push_back(result);
        if (all.empty() && first) seen.unproved.insert(result.name);
    }
    for (const auto& relation : q.relations) {
        if (!first) break;
        if (auto wrong = broken(relation, q.results, buffers, errors)) return fail(*wrong);
        if (tells_nothing(relation, q.results, buffers)) seen.empty_relations.insert(relation.line.text);
    }
    seen.seeds.insert(q.seed);
    if (unproved.empty()) return std::nullopt;
    auto wrong = q.agreement && q.agreement->kind == Agreement::Kind::differs
                     ? std::optional(q.agreement->sentence)
                     : hold_against_others(q, unproved, buffers, errors);
    if (!wrong) return std::nullopt;
    seen.seeds.erase(q.seed);
    return fail(*wrong);
}

std::vector<Ledger::Witness> Ledger::witnesses(const Question& q, const Result& result, const model::Buffers& buffers) {
    std::vector<Witness> out;
    const bool first = !q.accumulates || buffers.operations == 1;
    if (result.expected && first) out.push_back({*result.expected, "expected"});
    // The reference may have separate buffers for its results. It then matches one operation of a kernel that works in
    // place.
    if (buffers.expected && (first || q.reference_accumulates))
        if (const auto found = buffers.expected->find(result.name); found != buffers.expected->end())
            out.push_back({found->second, "the reference '" + q.reference + "' has"});
    if (q.answer && first)
        if (const auto found = q.answer->contents.find(result.name); found != q.answer->contents.end())
            out.push_back({found->second, command_has});
    return out;
}

std::optional<std::string> Ledger::hold_against_others(const Question& q, const std::vector<Result>& unproved,
                                                       const model::Buffers& buffers, model::Errors& errors) {
    const Member self{q.variant, q.point, q.alike, q.text};
    auto& answers = answers_[q.comparison][{q.seed, q.accumulates ? buffers.operations : 1}];
    const auto difference = [&](const SharedResult& answer, const std::string& whose) -> std::optional<std::string> {
        model::Errors all(q.tolerance);  // merged below only if all results are near enough
        for (const auto& result : unproved) {
            model::Errors found(tolerance_of(q, result));
            const auto other = answer.contents.find(result.name);
            if (other == answer.contents.end()) return "'" + result.name + "' is compared with something else";
            if (auto wrong = kernelfile::difference(result.name, buffers.data.at(result.name), other->second,
                                                    result.type, found, whose))
                return wrong;
            all.merge(found);
        }
        errors.merge(all);
        return std::nullopt;
    };
    const auto is_own = [&](const SharedResult& answer) { return answer.by.count(self) != 0; };
    const auto alike = [&](const Member& member) { return member.alike == q.alike; };
    const auto is_of_alike = [&](const SharedResult& answer) { return std::ranges::any_of(answer.by, alike); };
    if (const auto own = std::ranges::find_if(answers, is_own); own != answers.end()) {
        const auto wrong = difference(*own, "an earlier launch on the same data had");
        if (!wrong) return std::nullopt;
        own->by.erase(self);
        return "it is not deterministic: " + *wrong +
               "; work-items race, or it reads outside of a buffer; --check oclgrind looks for both";
    }
    if (const auto theirs = std::ranges::find_if(answers, is_of_alike); theirs != answers.end()) {
        const auto& other = *std::ranges::find_if(theirs->by, alike);
        const auto whose = "'" + other.variant + "' " + (other.variant == q.variant ? "at " + other.point : "") + "has";
        const bool earlier_text = other.variant == q.variant && other.point == q.point;
        const auto wrong = difference(*theirs, earlier_text ? "of " + other.text : whose);
        if (!wrong) {
            theirs->by.insert(self);
            return std::nullopt;
        }
        auto& own = seen_[{q.comparison, q.variant, q.point}];
        if (earlier_text) {
            // Versions of a file may differ: each is right for itself.
            own.other_results = "of " + q.text + " " + *wrong;
        } else {
            for (const auto& member : theirs->by)
                if (alike(member)) seen_[{q.comparison, member.variant, member.point}].disputed_by = q.variant;
            // The first point of a variant, for example its first build options, is the reference of its other points.
            if (other.variant == q.variant) return *wrong + "; a line 'reference NAME' says which one is right";
            own.disputed_by = other.variant;
        }
    }
    for (auto& answer : answers)
        if (!difference(answer, "")) {
            answer.by.insert(self);
            return std::nullopt;
        }
    SharedResult mine{{}, self, {self}};
    for (const auto& result : unproved) {
        const auto data = buffers.data.at(result.name);
        mine.contents.emplace(result.name, model::Bytes(data.begin(), data.end()));
    }
    answers.push_back(std::move(mine));
    return std::nullopt;
}

void Ledger::know_code(const Question& q, const std::string& fingerprint) {
    seen_[{q.comparison, q.variant, q.point}].code = fingerprint;
}

bool Ledger::changes_given_data(const Question& q) const {
    const auto* seen = seen_of(q);
    return !seen || seen->hashes.empty() || !seen->changed.empty();
}

std::pair<std::set<Ledger::Member>, std::set<Ledger::Member>> Ledger::company(const Question& q) const {
    const Member self{q.variant, q.point, q.alike, q.text};
    std::optional<std::set<Member>> agreeing;
    std::set<Member> others;
    const auto answers = answers_.find(q.comparison);
    if (answers == answers_.end()) return {};
    for (const auto& [launched, all] : answers->second) {
        if (launched.second != 1) continue;  // not all cells run as many operations
        const auto own = std::ranges::find_if(all, [&](const auto& a) { return a.by.count(self) != 0; });
        if (own == all.end()) continue;
        for (const auto& answer : all)
            if (&answer != &*own) others.insert(answer.by.begin(), answer.by.end());
        if (!agreeing) agreeing = own->by;
        std::erase_if(*agreeing, [&](const auto& member) { return !own->by.count(member); });
    }
    // Kernels with other data have other results; equal ones are no evidence.
    const auto takes_other_data = [&](const Member& member) {
        const auto* const seen = seen_of_member(q, member);
        return member.alike != q.alike && (!seen || std::ranges::any_of(q.given, [&](const auto& one) {
                   const auto theirs = seen->given.find(one.first);
                   return theirs != seen->given.end() && theirs->second != one.second;
               }));
    };
    if (agreeing) std::erase_if(*agreeing, takes_other_data);
    std::erase_if(others, takes_other_data);
    return {agreeing.value_or(std::set<Member>{}), others};
}

const Ledger::Seen* Ledger::seen_of_member(const Question& q, const Member& member) const {
    const auto found = seen_.find({q.comparison, member.variant, member.point});
    return found == seen_.end() ? nullptr : &found->second;
}

std::vector<std::string> Ledger::proved_by(const Question& q, const Seen& seen) const {
    std::vector<std::string> out;
    for (const auto& result : q.results)
        if (result.expected) out = {result.by};
    // A reference with the same machine code proves nothing.
    const auto* reference = seen_of_member(q, {q.reference, q.point, {}, {}});
    const bool same_code = q.reference_is_copy || (reference && !seen.code.empty() && reference->code == seen.code);
    if (!q.reference.empty() && q.reference != q.variant && !same_code)
        out.push_back("reference " + q.reference);
    else if (q.is_reference && out.empty() && !q.answer && (q.reference.empty() || q.reference == q.variant))
        out.emplace_back("is the reference");
    if (q.answer) out.emplace_back("reference command");
    return out;
}

/// Results that are the same for two random inputs also stay the same under a permutation of the input.
bool Ledger::is_empty(const Question& q, const Seen& seen, const Relation& relation) {
    return seen.empty_relations.count(relation.line.text) > 0 ||
           (q.random_inputs && seen.ignores_input() && relation.line.kind == RelationLine::Kind::permute);
}

std::vector<std::string> Ledger::open_results(const Question& q, const Seen& seen) {
    const auto holds = [&](const Relation& relation, const std::string& name) {
        if (is_empty(q, seen, relation)) return false;
        return relation.line.kind == RelationLine::Kind::sum ? relation.line.of == name
                                                             : relation.line.kind != RelationLine::Kind::any_order;
    };
    std::vector<std::string> out;
    const bool agrees = q.agreement && q.agreement->kind == Agreement::Kind::agrees;
    if (q.is_reference || q.answer || agrees) return out;
    for (const auto& result : q.results) {
        const bool is_input = result.given && !seen.changed.count(result.name);
        const bool is_held =
            std::ranges::any_of(q.relations, [&](const auto& relation) { return holds(relation, result.name); });
        if (seen.unproved.count(result.name) && !is_input && !is_held) out.push_back(result.name);
    }
    return out;
}

std::string Ledger::how_they_differ(const Question& q, const std::string& variant) const {
    const Member self{q.variant, q.point, q.alike, q.text};
    const auto is_by = [&](const Member& member) { return member.variant == variant; };
    const auto answers = answers_.find(q.comparison);
    for (const auto& [launched, all] : answers->second) {
        const auto own = std::ranges::find_if(all, [&](const auto& a) { return a.by.count(self) != 0; });
        const auto other = std::ranges::find_if(
            all, [&](const auto& a) { return a.by.count(self) == 0 && std::ranges::any_of(a.by, is_by); });
        if (own == all.end() || other == all.end()) continue;
        for (const auto& result : q.results) {
            const auto ours = own->contents.find(result.name), theirs = other->contents.find(result.name);
            if (ours == own->contents.end() || theirs == other->contents.end()) continue;
            model::Errors errors(tolerance_of(q, result));
            if (const auto differs = kernelfile::difference(result.name, ours->second, theirs->second, result.type,
                                                            errors, "'" + variant + "' has"))
                return *differs + count_of_differences(ours->second, theirs->second, result.type, errors.allowed());
        }
    }
    return "'" + variant + "' has other results";
}

/// For an unverified cell: reports kernels that give other results for the same data.
void Ledger::say_others(const Question& q, std::set<Member> others, model::Proof& to) const {
    std::erase_if(others,
                  [&](const Member& other) { return other.alike == q.alike || q.differs.count(other.variant); });
    if (others.empty()) return;
    std::vector<std::string> names{q.variant};
    for (const auto& one : others)
        if (one.text == q.text) add_once(names, one.variant);
    const auto& other = *others.begin();
    const auto& name = names.size() > 1 ? names[1] : other.variant;
    const auto how = how_they_differ(q, name);
    const auto sentence = "'" + name + "' takes the same arguments and gives other results: " + how;
    if (names.size() == 1) {
        to.warnings.push_back(
            model::warning(model::Warning::unlike, sentence + "; if both should give the same, add a line 'reference " +
                                                       other.text + ":" + other.variant + "'"));
        return;
    }
    to.disagrees = sentence +
                   (how.find("'tolerance ") != how.npos
                        ? "; if rounding makes the difference, add that line to "
                        : "; if they compute different things, add the line 'differ " + join(names, ", ") + "' to ") +
                   std::filesystem::path(q.text).replace_extension(".cllab").string() +
                   "; else 'reference KERNEL' or 'expect NAME = FILE' tells which is right";
}

model::Proof Ledger::proof(const Question& q) const {
    model::Proof out;
    const auto* const found = seen_of(q);
    if (!found) return {"nothing"};
    const auto& seen = *found;
    const auto warn = [&out](model::Warning code, const std::string& sentence) {
        out.warnings.push_back(model::warning(code, sentence));
    };
    auto [agreeing, others] = company(q);
    // A kernel that is known to be wrong is no evidence about others.
    std::erase_if(others, [&](const Member& member) {
        const auto* theirs = seen_of_member(q, member);
        return theirs && theirs->wrong;
    });
    std::set<std::string> variants, codes;  // codes: the variant's name if its code is unknown
    for (const auto& member : agreeing) {
        const auto* const theirs = seen_of_member(q, member);
        variants.insert(member.variant);
        codes.insert(!theirs || theirs->code.empty() ? member.variant : theirs->code);
    }
    if (q.reference.empty() && !std::ranges::includes(variants, q.differs))
        out.problem = variants.empty() ? q.variant : *variants.begin();
    std::vector<std::string> rungs = proved_by(q, seen);
    const auto open = open_results(q, seen);
    const bool proved = !rungs.empty(), agreed = (!proved || !open.empty()) && codes.size() > 1;
    const bool disputed = !proved && !seen.disputed_by.empty() && !others.empty();
    if (disputed && others.size() >= codes.size()) {
        // Nothing tells which one is right.
        out.disagrees = how_they_differ(q, seen.disputed_by) + "; a line 'reference NAME' says which one is right";
        return out;
    }
    if (disputed) {
        rungs.push_back("disputed by " + seen.disputed_by);
        warn(model::Warning::disputed, "'" + q.variant + "' and '" + seen.disputed_by +
                                           "' give different results; a line 'reference NAME' says which is right");
    } else if (agreed) {
        rungs.push_back(concat("agreement of ", codes.size()));
    }
    if (q.agreement && q.agreement->kind == Agreement::Kind::agrees)
        rungs.push_back("agrees with " + q.agreement->device);
    for (const auto& relation : q.relations)
        if (!is_empty(q, seen, relation)) rungs.push_back("relation " + relation.line.text);
    if (!rungs.empty() && q.random_inputs && seen.seeds.size() < 2) rungs.emplace_back("one input");
    if (q.agreement && !q.agreement->sentence.empty()) warn(model::Warning::elsewhere, q.agreement->sentence);
    const bool changes_data = std::ranges::any_of(q.results, [](const auto& r) { return r.given != nullptr; });
    const std::string proofs = std::string("'expect NAME = FILE' or 'reference KERNEL' verifies them") +
                               (changes_data ? ", and --check oclgrind finds races" : "");
    if (rungs.empty()) {
        rungs.emplace_back("only itself");
        std::string why = "results are repeatable but unverified";
        if (variants.size() > 1 || !q.reference.empty()) why += "; variants with the same code prove nothing";
        if (!seen.empty_relations.empty()) why += "; results that are all 0 satisfy any relation";
        if (std::ranges::any_of(q.relations, [&](const auto& r) { return is_empty(q, seen, r); }) &&
            seen.empty_relations.empty())
            why += "; a permutation proves nothing of inputs that the results do not depend on";
        warn(model::Warning::unproved, why + "; " + proofs);
        say_others(q, others, out);
    } else if (!open.empty() && !agreed && !disputed) {
        const auto names = join(open, ", ");
        rungs.push_back("only itself (" + names + ")");
        warn(model::Warning::unproved, "the results of " + names + " are unverified; " + proofs);
    }
    out.checked_by = join(rungs, ", ");
    if (!seen.other_results.empty()) warn(model::Warning::other_results, seen.other_results);
    for (const auto& name : seen.untouched)
        warn(model::Warning::unwritten, "'" + name + "' still holds its contents from before the kernel ran");
    for (const auto& name : seen.partly)
        warn(model::Warning::partly_written,
             "some of '" + name + "' still holds its contents from before the kernel ran");
    if (q.random_inputs && seen.ignores_input())
        warn(model::Warning::input_ignored,
             "two random inputs give the same results, so the results do not depend on the input");
    return out;
}

namespace {

using model::ElementType;

/// NumPy's names of the kinds, in the order of ElementType::Kind. Kinds that NumPy does not have are unsigned integers.
constexpr std::array kind_names{"int", "uint", "float", "uint", "uint", "uint"};
const char* kind_name(const ElementType& type) { return name_in(kind_names, type.kind); }

std::size_t bytes_of_one(const ElementType& type) { return type.is_opaque() ? 1 : type.lane_bytes; }

std::string type_name(const ElementType& type) { return concat(kind_name(type), 8 * bytes_of_one(type)); }

std::size_t elements(const std::vector<std::size_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

std::string key_of(const std::vector<ArgumentArray>& arguments) {
    std::string all;
    for (const auto& a : arguments) {
        all += a.name + (a.comes_out ? " out" : "") + npy_header(a);
        if (a.data) all += std::to_string(digest(*a.data));
    }
    return sha256_hex(all);
}

std::string npy_header(const ArgumentArray& argument) {
    const auto bytes = bytes_of_one(argument.element);
    const char order = bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    auto text = concat("{'descr': '", order, *kind_name(argument.element), bytes,
                       "', 'fortran_order': False, 'shape': ", shape_text(argument.shape), ", }");
    constexpr std::size_t before = 10, align = 64;  // the data after the header begins at a multiple of 64
    text.resize((before + text.size() + 1 + align - 1) / align * align - before - 1, ' ');
    text += '\n';
    return concat(std::string("\x93NUMPY\x01\x00", 8), static_cast<char>(text.size() & 0xff),
                  static_cast<char>(text.size() >> 8), text);
}

model::Bytes read_result(const std::filesystem::path& path, const ArgumentArray& like, const std::string& whose) {
    const auto name = path.filename().string();
    const Place place{whose, 0, 0};
    auto array = read_npy(read_bytes(path, place), name, place);
    const bool fit =
        like.element.is_opaque() ? array.type == "uchar" || array.type == "char" : fits(array, like.element);
    if (!fit)
        refuse(place, "'", name, "' has ", type_name(*model::builtin_type(array.type)), " elements; the kernel's '",
               like.name, "' has ", type_name(like.element), "; save it with .astype('", type_name(like.element), "')");
    if (elements(array.shape) != elements(like.shape))
        refuse(place, "'", name, "' has shape ", shape_text(array.shape), "; the kernel's '", like.name, "' has ",
               shape_text(like.shape));
    return std::move(array.data);
}

}  // namespace cllab::kernelfile
