// What the files and the command line say of each kernel.
#include <algorithm>

#include "core/units.hpp"
#include "kernelfile/experiment.hpp"

namespace cllab::kernelfile {
namespace {

using model::Parameter;

/// Whether Bound would ask for something: what it has no default for.
bool lacks(const SaidOfKernel& said) {
    if (said.global.empty()) return true;
    return std::ranges::any_of(said.signature.parameters, [&](const auto& p) {
        const bool has_default = has_extent(p) || p.kind == Parameter::Kind::sampler;
        return !has_default && said.given.count(p.name) == 0;
    });
}

std::vector<std::string> texts_of(const std::optional<Sizes>& sizes) {
    std::vector<std::string> out;
    if (sizes)
        for (const auto& one : sizes->second) out.push_back(one.text());
    return out;
}

SaidOfKernel said_of(const Description& description, const model::KernelSignature& signature) {
    const auto said = scope_of(description, signature.name);
    return {signature, said.arguments, texts_of(said.global), texts_of(said.local), said.offset.has_value()};
}

}  // namespace

std::vector<Stated> KernelFiles::stated(const std::vector<Wanted>& wanted) {
    make_candidates();
    std::vector<Stated> out;
    std::vector<std::pair<std::size_t, std::string>> known;  // variants of a kernel are guessed once
    for (const auto& one : wanted) {
        for (const auto* c : matching(one)) {
            if (c->is_sequence()) continue;  // nobody guesses what kernels are to each other
            const auto file = builds_[c->build].file;
            if (std::ranges::find(known, std::pair(file, c->entry)) != known.end()) continue;
            known.emplace_back(file, c->entry);
            auto said = said_of(described_[file], *c->signature);
            for (const auto& axis : axes_)
                if (const auto value = parse_integer(axis.values.front())) said.axes.emplace_back(axis.name, *value);
            const bool is_enough = !lacks(said);
            out.push_back({c->build, std::move(said), is_enough});
        }
    }
    return out;
}

}  // namespace cllab::kernelfile
