// Which sequences a file has, and what their lines may name.
#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/experiment.hpp"
#include "kernelfile/piece.hpp"

namespace cllab::kernelfile {
namespace {

bool lists(const Description& description, const SequenceLine& line, const std::string& kernel) {
    return std::ranges::any_of(line.kernels,
                               [&](const auto& item) { return description.kernel_of(item.first) == kernel; });
}

}  // namespace

void check_sequences(const Description& description, const std::string& path, const std::set<std::string>& kernels) {
    const auto all = [&] { return join({kernels.begin(), kernels.end()}, ", "); };
    for (const auto& [name, kernel] : description.aliases) {
        const auto& place = description.kernels.at(name).first;
        if (kernels.count(name))
            refuse(place, "'", name, "' is a kernel of '", path, "'; an alias has a name of its own");
        if (!kernels.count(kernel))
            refuse(place, "there is no kernel '", kernel, "' in '", path, "'; there are ", all());
        const bool listed = std::ranges::any_of(description.sequences, [&, &n = name](const auto& line) {
            return std::ranges::any_of(line.kernels, [&](const auto& item) { return item.first == n; });
        });
        if (!listed) refuse(place, "no sequence lists '", name, "', and an alias of a kernel runs in sequences only");
    }
    for (const auto& axis : description.axes)
        if (axis.name == repetition && !description.sequences.empty())
            refuse(axis.place,
                   "an axis of a file with sequences may not be called 'rep', the number of the repetition");
    for (const auto& line : description.sequences) {
        if (kernels.count(line.name))
            refuse(line.place, "'", line.name, "' is a kernel of '", path, "'; a sequence has a name of its own");
        for (const auto& [item, place] : line.kernels)
            if (!kernels.count(description.kernel_of(item)))
                refuse(place, "sequence '", line.name, "' lists '", item, "', which is no kernel of '", path,
                       "'; there are ", all());
    }
}

std::set<std::string> buffers_of_sequences(const Description& description) {
    std::set<std::string> out;
    if (description.sequences.empty()) return out;
    const auto add = [&](const Scope& scope) {
        for (const auto& [name, spec] : scope.arguments)
            if (const auto buffer = buffer_named(spec)) out.insert(*buffer);
    };
    add(description.all);
    for (const auto& [name, kernel] : description.kernels) add(kernel.second);
    for (const auto& line : description.sequences) add(line.scope);
    return out;
}

std::optional<std::string> buffer_named(const ArgumentSpec& spec) {
    if (spec.kind != ArgumentSpec::Kind::numbers || spec.numbers.size() != 1) return std::nullopt;
    const auto& text = spec.numbers.front().text();
    return is_name(text) ? std::optional(text) : std::nullopt;
}

void KernelFiles::add_sequences(std::size_t build, const std::vector<model::KernelSignature>& kernels) {
    const auto& of = builds_[build];
    for (const auto& line : described_[of.file].sequences) {
        const auto name = of.variant.empty() ? line.name : line.name + "_" + of.variant;
        candidates_.push_back(
            {build, is_earlier(of.file) ? name + "_before" : name, line.name, name, nullptr, &kernels});
    }
}

bool KernelFiles::is_part_of_sequence(const Candidate& c) const {
    const auto& described = described_[builds_[c.build].file];
    return !c.is_sequence() &&
           std::ranges::any_of(described.sequences, [&](const auto& line) { return lists(described, line, c.entry); });
}

bool KernelFiles::is_meant(const Candidate& c, const std::string& glob) const {
    if (glob.empty()) return code_only_ || !is_part_of_sequence(c);
    if (glob_match(glob, c.name) || glob_match(glob, c.plain)) return true;
    const auto& described = described_[builds_[c.build].file];
    return code_only_ && std::ranges::any_of(described.sequences, [&](const auto& line) {
               return glob_match(glob, line.name) && lists(described, line, c.entry);
           });
}

}  // namespace cllab::kernelfile
