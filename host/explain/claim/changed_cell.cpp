#include <algorithm>

#include "core/text.hpp"
#include "explain/claim/claim.hpp"
#include "inspect/code/code.hpp"

namespace cllab::explain {
namespace {

/// Of every amount a part; what each work-item passes or waits for is the same.
WorkInfo part_of(WorkInfo work, double part) {
    for (double* amount : {&work.bytes, &work.flops, &work.atomics, &work.groups, &work.local_bytes,
                           &work.local_atomics, &work.instructions})
        *amount *= part;
    if (!work.shared) work.footprint *= part;
    if (work.read) *work.read *= part;
    return work;
}

/// Whether `word` stands in `text` as a word of its own.
bool has_word(std::string_view text, std::string_view word) {
    for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const auto end = at + word.size();
        if ((at == 0 || !in_name(text[at - 1])) && (end == text.size() || !in_name(text[end]))) return true;
    }
    return false;
}

/// What #if asks of a text that is built with these options.
struct Conditions {
    const std::string &text, &options;

    bool is_defined(std::string_view name) const {
        name = name.substr(0, name.find_first_of(" \t/"));
        // The compiler has names of its own, and the text may define what it asks for.
        return name.starts_with("cl_") || name.starts_with("__") || has_word(text, "#define " + std::string(name)) ||
               has_word(options, "-D" + std::string(name));
    }

    /// defined(A), !defined(A) and what && and || make of them. What is in further parentheses is taken for true rather
    /// more often than it is.
    bool may_hold(const std::string& condition) const {
        if (condition.find("!(") != std::string::npos) return true;
        const auto term_may = [&](const std::string& term) {
            const auto at = term.find("defined("), close = term.find(')', at);
            if (close == std::string::npos) return true;
            const auto around = term.substr(0, at) + term.substr(close + 1);
            if (around.find_first_not_of(" ()!") != std::string::npos) return true;
            return is_defined(term.substr(at + 8, close - at - 8)) != (around.find('!') != std::string::npos);
        };
        // Between the two characters of || and && is an empty part.
        const auto any = split(condition, '|');
        return std::ranges::any_of(any, [&](const auto& part) {
            return !part.empty() && std::ranges::all_of(split(part, '&'), [&](const auto& term) {
                return term.empty() || term_may(term);
            });
        });
    }
};

}  // namespace

std::variant<HalfItems, std::string> half_of_items(const Unchanged& of) {
    if (!of.setup.steps.empty() || of.setup.slope)
        return "an operation has several launches, or the time is per step of a loop";
    if (of.setup.local.dims == 0) return "the groups are the driver's choice";
    if (asks_for(of.built.text, of.built.options, {"get_global_size", "get_num_groups"}))
        return "its text asks how many work-items there are";
    auto global = of.setup.global;
    for (std::size_t d = 3; d-- > 0 && global.count() == of.setup.global.count();) {
        const auto local = std::max<std::size_t>(1, of.setup.local.size[d]), groups = global.size[d] / local;
        if (groups >= 2 && groups % 2 == 0) global.size[d] = groups / 2 * local;
    }
    const auto before = static_cast<double>(of.setup.global.count()), after = static_cast<double>(global.count());
    if (after == before) return "no dimension has an even number of groups";
    // Each of a GPU's units holds some thousand work-items at once, and each core takes some groups one after the
    // other.
    constexpr double items_of_unit = 8192, groups_of_core = 4;
    const double units = std::max(1u, of.device.compute_units);
    if (of.device.is_gpu() ? after < items_of_unit * units
                           : after / static_cast<double>(of.setup.local.count()) < groups_of_core * units)
        return "half of the groups would leave units idle";
    const auto halved = std::make_shared<Experiment>(*of.cell.experiment);
    halved->setup = [base = of.cell.experiment->setup, global](const Request& request, Params& params) {
        auto out = base(request, params);
        out.global = global;
        // Half of the results are not there. That the kernel is right was shown of the cell as it is.
        out.check = [](const Buffers&) { return std::optional<std::string>(); };
        out.reference.reset();
        out.proof = {};
        out.know_code = {};
        return out;
    };
    ChangedCell changed{of.cell, halved};
    changed.cell.experiment = halved.get();
    return HalfItems{std::move(changed), part_of(of.record.work, after / before), before, after};
}

bool asks_for(const std::string& text, const std::string& options, const std::vector<std::string>& functions) {
    const Conditions conditions{text, options};
    std::vector<bool> compiled;  // of each #if around a line; one whose condition is not understood is
    for (const auto line : inspect::lines_of(text)) {
        const auto words = trim(line);
        if (words.starts_with("#if "))
            compiled.push_back(conditions.may_hold(words.substr(4)));
        else if (words.starts_with("#if"))
            compiled.push_back(!words.starts_with("#ifdef ") || conditions.is_defined(trim(words.substr(7))));
        else if (words.starts_with("#el") && !compiled.empty())
            compiled.back() = true;
        else if (words.starts_with("#endif") && !compiled.empty())
            compiled.pop_back();
        else if (std::ranges::find(compiled, false) == compiled.end() &&
                 std::ranges::any_of(functions, [&](const auto& f) { return has_word(line, f); }))
            return true;
    }
    return false;
}

}  // namespace cllab::explain
