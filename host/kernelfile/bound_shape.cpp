// How large everything of a bound kernel is at one point.
#include <algorithm>

#include "core/error.hpp"
#include "core/units.hpp"
#include "kernelfile/bound.hpp"

namespace cllab::kernelfile {

using model::Parameter;

static constexpr std::size_t most_elements = std::size_t{1} << 40;

model::Extent Bound::extent(const model::Point& point, const Sizes& list, std::int64_t least, const char* what) const {
    model::Extent out;
    out.dims = static_cast<unsigned>(list.second.size());
    std::size_t count = 1;
    for (std::size_t d = 0; d < list.second.size(); ++d) {
        const auto size = value(point, list.second[d]);
        if (size < least)
            refuse(list.second[d].place(), what, " size ", d, " is ", size, " ('", list.second[d].text(),
                   "'); it is at least ", least);
        out.size[d] = static_cast<std::size_t>(size);
        if (least > 0 && (__builtin_mul_overflow(count, out.size[d], &count) || count > most_elements))
            refuse(list.first, what, " is ", out.text(), ", more work-items than can be");
    }
    return out;
}

void Bound::add_local(const model::Point& point, const model::Device& device, Shape& out) const {
    const bool asked = takes_group_ && point.has(group_axis) && point.text(group_axis) != "auto";
    if (!asked && !said_.local) return;
    out.local = asked ? point.shape(group_axis) : extent(point, *said_.local, 1, "local");
    if (code_only_) return;
    // One of several that are tried is no mistake of its user's.
    const auto wrong = [&](const std::string& sentence, const std::string& help = "") {
        if (asked) throw Unsupported(sentence);
        refuse(said_.local->first, sentence, help);
    };
    if (out.local.dims != out.global.dims)
        wrong(concat("local has ", out.local.dims, " dimensions, global ", out.global.dims));
    for (unsigned d = 0; d < out.local.dims; ++d) {
        const auto l = std::to_string(out.local.size[d]);
        if (out.global.size[d] % out.local.size[d] != 0)
            wrong("global " + out.global.text() + " is not a multiple of local " + out.local.text(),
                  "; write global e.g. as ceil(" + said_.global->second[d].text() + " / " + l + ") * " + l);
        const auto& promised = signature_.required_group;
        if (promised[0] > 0 && out.local.size[d] != promised[d])
            wrong(concat("local is ", out.local.text(), ", but kernel '", signature_.name, "' requires ", promised[0],
                         "x", promised[1], "x", promised[2]));
    }
    if (asked && out.local.count() > device.max_group_promised)
        throw Unsupported("a work-group of ", out.local.text(), " is larger than the device's ",
                          device.max_group_promised, " work-items");
}

std::optional<std::vector<std::string>> Bound::groups() const {
    if (signature_.required_group[0] > 0) return std::nullopt;
    std::vector<std::string> out;
    if (said_.local || !said_.global) return out;
    const auto dims = said_.global->second.size();
    constexpr std::size_t least = 32, most = 4096;
    const std::array<std::size_t, 3> sides{dims == 1 ? most : 1024, dims > 1 ? 32U : 1U, dims > 2 ? 16U : 1U};
    out.emplace_back("auto");
    for (std::size_t z = 1; z <= sides[2]; z *= 2)
        for (std::size_t y = 1; y <= sides[1]; y *= 2)
            for (std::size_t x = 1; x <= sides[0]; x *= 2) {
                model::Extent group(x, y, z);
                group.dims = static_cast<unsigned>(dims);
                if (group.count() >= least && group.count() <= most) out.push_back(group.text());
            }
    return out;
}

/// Adds the image's size; its bytes.
double Bound::add_image(const model::Point& point, const Argument& a, Shape& out) const {
    std::array<std::size_t, 3> size{1, 1, 1};
    for (unsigned d = 0; d < a.parameter.dims; ++d) {
        auto n = static_cast<std::int64_t>(out.global.size[d]);
        if (!a.spec.extent.empty())
            n = value(point, a.spec.extent[d]);
        else if (a.file)
            n = static_cast<std::int64_t>(d == 0 ? a.width : a.height);
        const std::int64_t most = a.parameter.is_buffer_image() ? 1 << 30 : 1 << 20;
        if (n < 1 || n > most)
            refuse(a.spec.place, "size ", d, " of image '", a.parameter.name, "' is ", n, "; possible are 1 to ", most);
        size[d] = static_cast<std::size_t>(n);
    }
    out.images[a.parameter.name] = size;
    return static_cast<double>(size[0]) * static_cast<double>(size[1] * size[2] * a.element.bytes);
}

/// Adds the length of a buffer or of local memory; the bytes that a buffer may move.
double Bound::add_buffer(const model::Point& point, const model::Device& device, const Argument& a, Shape& out) const {
    const auto& name = a.parameter.name;
    auto count = static_cast<std::int64_t>(out.global.count());
    if (!a.spec.extent.empty())
        count = value(point, a.spec.extent[0]);
    else if (a.file)
        count = static_cast<std::int64_t>(a.element.count_in(a.file.size()));
    if (count < 1 || static_cast<std::size_t>(count) > most_elements)
        refuse(a.spec.place, "the length of '", name, "' is ", count, "; possible are 1 to ", most_elements);
    const auto bytes = a.element.bytes_of(static_cast<std::size_t>(count));
    if (const auto own = std::max<std::size_t>(1, a.parameter.type.bytes);
        a.element.is_packed() && static_cast<std::size_t>(count) % (2 * own) != 0)
        refuse(a.spec.place, "the length of '", name, "' is ", count, " nibbles, no multiple of the ", 2 * own,
               " in an element of the kernel's");
    out.counts[name] = static_cast<std::size_t>(count);
    if (a.parameter.kind == Parameter::Kind::local) return 0;
    if (a.file && !a.spec.extent.empty() && bytes != a.file.size())
        refuse(a.spec.place, "'", a.spec.path, "' has ", a.element.count_in(a.file.size()), " elements, '", name, "' ",
               count);
    if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
        throw Unsupported("'", name, "' needs ", format_bytes(bytes), "; the device allocates ",
                          format_bytes(device.max_alloc_bytes), " at once");
    return static_cast<double>(bytes);
}

std::size_t Shape::elements_of(const std::string& argument) const {
    const auto image = images.find(argument);
    if (image != images.end()) return image->second[0] * image->second[1] * image->second[2];
    const auto count = counts.find(argument);
    return count == counts.end() ? 0 : count->second;
}

/// Whether the files of expected results have as many bytes as the results.
void Bound::check_expected(const Shape& shape) const {
    for (const auto& [name, expected] : expected_) {
        const auto bytes = find(name)->element.bytes_of(shape.elements_of(name));
        if (expected.data && expected.data.size() != bytes)
            refuse(expected.place, "the ", expected.by, " has ", expected.data.size(), " bytes, '", name, "' ", bytes);
    }
}

std::vector<model::Constraint> Bound::constraints() const {
    std::vector<model::Constraint> out;
    for (const auto& line : said_.where)
        out.push_back({line.place().line == 0 ? "--where '" + line.text() + "'"
                                              : "'where " + line.text() + "' (" + line.place().text() + ")",
                       line.names(), [this, line](const model::Point& point) { return value(point, line) != 0; }});
    return out;
}

Shape Bound::shape(const model::Point& point, const model::Device& device) const {
    Shape out;
    for (const auto& line : said_.where)
        if (value(point, line) == 0) throw Unsupported("it breaks 'where ", line.text(), "'");
    if (said_.global) out.global = extent(point, *said_.global, 1, "global");
    add_local(point, device, out);
    if (said_.offset && !code_only_) {
        out.offset = extent(point, *said_.offset, 0, "offset");
        if (out.offset.dims != out.global.dims)
            refuse(said_.offset->first, "offset has ", out.offset.dims, " dimensions, global ", out.global.dims);
    }
    for (const auto& a : arguments_) {
        if (a.parameter.kind == Parameter::Kind::image)
            out.work.bytes += add_image(point, a, out);
        else if (a.parameter.is_buffer() || a.parameter.kind == Parameter::Kind::local)
            out.work.bytes += add_buffer(point, device, a, out) * (is_parameter(a.parameter.name) ? 1 : 0);
        else
            value_bytes(point, a);  // refuses what does not fit
        check_data(point, a, out.elements_of(a.parameter.name));
    }
    for (const auto& part : parts_) add_part(point, device, part, out);
    check_expected(out);
    out.work.assumed = !said_.work.count("bytes");
    for (const auto& [name, to] : works) {
        const auto amount = said_.work.find(std::string(name));
        if (amount == said_.work.end()) continue;
        out.work.*to = static_cast<double>(value(point, amount->second));
        if (out.work.*to < 0) refuse(amount->second.place(), "the work is negative");
    }
    for (const auto& options : options_) out.options.push_back(substituted(point, options));
    return out;
}

}  // namespace cllab::kernelfile
