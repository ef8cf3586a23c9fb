// Arguments that share one buffer, for example to work in place, and arguments that are part of a buffer.
#include <algorithm>

#include "core/text.hpp"
#include "kernelfile/bound.hpp"

namespace cllab::kernelfile {
namespace {

using model::Parameter;
using Kind = ArgumentSpec::Kind;

}  // namespace

const std::string& Bound::called(const std::string& name) const {
    const auto found = same_.find(name);
    return found == same_.end() ? name : found->second;
}

/// The buffer that the argument's `same:` line names. It must have data of its own. nullopt without such a line.
std::optional<std::string> Bound::same_as(const Parameter& parameter) const {
    if (!is_said(parameter, Kind::same)) return std::nullopt;
    const auto& spec = said_.arguments.at(parameter.name);
    std::vector<std::string> possible;
    for (const auto& p : signature_.parameters)
        if (p.is_buffer() && !is_said(p, Kind::same) && !is_said(p, Kind::part) && !is_said(p, Kind::null))
            possible.push_back(p.name);
    if (std::ranges::count(possible, spec.words.front()) == 0)
        refuse(spec.place, named(parameter), " is ", cllab::quoted(spec.text), "; ",
               possible.empty() ? "no other buffer has data" : "expected one of " + join(possible, ", "));
    return spec.words.front();
}

/// Merges the parameters that share a buffer into one, which allows the kernel all that any of them allows. The buffer,
/// like its result, has the name of the last argument that the kernel writes it through.
std::vector<Parameter> Bound::join_same() {
    std::vector<Parameter> out;
    for (const auto& p : signature_.parameters) {
        if (const auto other = same_as(p))
            same_[p.name] = *other;
        else if (!is_said(p, Kind::part))
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
    for (const auto& p : signature_.parameters)
        if (is_said(p, Kind::part)) join_part(p, out);
    return out;
}

bool Bound::is_said(const Parameter& buffer, Kind kind) const {
    const auto said = said_.arguments.find(buffer.name);
    return buffer.is_buffer() && said != said_.arguments.end() && said->second.kind == kind;
}

/// Records a part of a buffer. The buffer is another argument, or it has only an `arg` line of its own. In the latter
/// case it is added to the arguments.
void Bound::join_part(const Parameter& part, std::vector<Parameter>& to) {
    const auto& spec = said_.arguments.at(part.name);
    const auto& of = spec.words.front();
    auto whole = std::ranges::find(to, of, &Parameter::name);
    if (whole == to.end() || !whole->is_buffer() || is_said(*whole, Kind::null)) {
        const auto own = said_.arguments.find(of);
        if (own == said_.arguments.end() || std::ranges::count(signature_.parameters, of, &Parameter::name) > 0)
            refuse(spec.place, named(part), " is ", cllab::quoted(spec.text), ", but '", of,
                   "' is not a buffer with data; add a line, e.g. 'arg ", of, " = zero:float:1Mi'");
        whole = to.insert(to.end(), {of, Parameter::Kind::global, part.type, true});
        if (const auto type = model::data_type(own->second.type)) whole->type = *type;
    }
    if (part.is_written()) whole->is_const = false, whole->kind = part.kind;
    parts_.push_back(part);
}

/// Adds the part to the shape. Its origin and length count elements of the part's type, or of the type that its line
/// names.
void Bound::add_part(const model::Point& point, const model::Device& device, const Parameter& part, Shape& to) const {
    const auto& spec = said_.arguments.at(part.name);
    const auto& whole = *find(spec.words.front());
    const auto& of = whole.parameter.name;
    const auto one = std::max<std::size_t>(1, model::data_type(spec.type).value_or(part.type).bytes);
    const auto most = static_cast<std::int64_t>(whole.element.bytes_of(to.counts.at(of)) / one);
    const auto origin = value(point, spec.numbers[0]), length = value(point, spec.extent[0]);
    if (origin < 0 || length < 1 || origin > most || length > most - origin)
        refuse(spec.place, "'", part.name, "' takes ", length, " elements of '", of, "' from element ", origin, "; '",
               of, "' has ", most);
    const auto begin = static_cast<std::size_t>(origin) * one;
    // A part of shared virtual memory is a pointer, which needs no such alignment.
    if (const auto align = device.base_align_bytes; !whole.spec.svm && align > 0 && begin % align != 0)
        throw Unsupported("'", part.name, "' begins at byte ", begin, " of '", of,
                          "'; on this device a part must begin at a multiple of ", align,
                          " bytes (CL_DEVICE_MEM_BASE_ADDR_ALIGN is ", 8 * align, " bits)");
    to.parts.push_back({part.name, of, begin, static_cast<std::size_t>(length) * one});
    to.counts[part.name] = static_cast<std::size_t>(length);
    if (!is_parameter(of)) to.work.bytes += static_cast<double>(to.parts.back().size_bytes);
}

/// Whether the kernel takes the whole argument, and not only parts of it.
bool Bound::is_parameter(const std::string& name) const {
    return std::ranges::any_of(signature_.parameters, [&](const auto& p) { return called(p.name) == name; });
}

}  // namespace cllab::kernelfile
