// Arguments that are one buffer, as where a host passes one cl_mem twice to work in place.
#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/bound.hpp"

namespace cllab::kernelfile {

using model::Parameter;
using Kind = ArgumentSpec::Kind;

const std::string& Bound::called(const std::string& name) const {
    const auto found = same_.find(name);
    return found == same_.end() ? name : found->second;
}

/// The buffer that a line says this one is, and that has data of its own; nothing where no line does.
std::optional<std::string> Bound::same_as(const Parameter& parameter) const {
    const auto is_same = [&](const Parameter& p) {
        const auto said = said_.arguments.find(p.name);
        return p.is_buffer() && said != said_.arguments.end() && said->second.kind == Kind::same;
    };
    if (!is_same(parameter)) return std::nullopt;
    const auto& spec = said_.arguments.at(parameter.name);
    std::vector<std::string> possible;
    for (const auto& p : signature_.parameters)
        if (p.is_buffer() && !is_same(p)) possible.push_back(p.name);
    if (std::ranges::count(possible, spec.words.front()) == 0)
        refuse(spec.place, named(parameter), " is ", cllab::quoted(spec.text), "; ",
               possible.empty() ? "no other buffer of the kernel has data" : "possible are " + join(possible, ", "));
    return spec.words.front();
}

/// One parameter for those that are one buffer: the kernel may do with it what it may do with any of them. A buffer is
/// called by the last argument that the kernel writes it through, as results are.
std::vector<Parameter> Bound::join_same() {
    std::vector<Parameter> out;
    for (const auto& p : signature_.parameters) {
        if (const auto other = same_as(p))
            same_[p.name] = *other;
        else
            out.push_back(p);
    }
    std::map<std::string, std::string> written;
    for (const auto& p : signature_.parameters) {
        if (!same_.count(p.name) || !p.is_written()) continue;
        auto& own = *std::ranges::find(out, same_.at(p.name), &Parameter::name);
        own.is_const = false;
        own.kind = p.kind;
        written[own.name] = p.name;
    }
    for (auto& [name, other] : same_)
        if (written.count(other)) other = written.at(other);
    same_.insert(written.begin(), written.end());
    return out;
}

}  // namespace cllab::kernelfile
