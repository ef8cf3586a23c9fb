#include "kernelfile/bound.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/random.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/data.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using model::Image;
using model::Parameter;
using Kind = ArgumentSpec::Kind;

constexpr std::size_t most_elements = std::size_t{1} << 40;

/// A file named in the file's block lies beside it, one named on the command line in the current folder.
std::filesystem::path resolved(const std::string& path, const Place& place) {
    const std::filesystem::path plain(path);
    if (place.line == 0 || plain.is_absolute()) return plain;
    return std::filesystem::path(place.file).parent_path() / plain;
}

Image::Format format_from(const std::string& text) {
    using Format = Image::Format;
    static const std::map<std::string, Format> formats{{"r8", Format::r8_normalised}, {"r8ui", Format::r8_unsigned}, {"r32f", Format::r32_float},
                                                       {"rgba8", Format::rgba8_normalised}, {"rgba8ui", Format::rgba8_unsigned}, {"rgba32f", Format::rgba32_float}};
    return formats.at(text);
}

ElementType pixel_type(Image::Format format) {
    switch (format) {
        case Image::Format::r8_unsigned:
        case Image::Format::r8_normalised: return *model::builtin_type("uchar");
        case Image::Format::r32_float: return *model::builtin_type("float");
        case Image::Format::rgba32_float: return *model::builtin_type("float4");
        default: return *model::builtin_type("uchar4");
    }
}

bool is_pointer(const Parameter& p) { return p.kind == Parameter::Kind::global || p.kind == Parameter::Kind::constant; }

bool is_data(Kind kind) {
    return kind == Kind::random || kind == Kind::counting || kind == Kind::zero || kind == Kind::constant || kind == Kind::file || kind == Kind::picture;
}

std::string kind_words(const Parameter& p) {
    switch (p.kind) {
        case Parameter::Kind::global: return "a __global " + std::string(p.is_const ? "const " : "") + p.type.name + "*";
        case Parameter::Kind::constant: return "a __constant " + p.type.name + "*";
        case Parameter::Kind::local: return "a __local " + p.type.name + "*";
        case Parameter::Kind::image: return "an image" + std::to_string(p.dims) + "d_t";
        case Parameter::Kind::sampler: return "a sampler_t";
        default: return "of type " + p.type.name;
    }
}

/// What a user may write for the parameter.
std::string example(const Parameter& p) {
    switch (p.kind) {
        case Parameter::Kind::global:
        case Parameter::Kind::constant: return p.is_const ? "rand:1024" : "out:1024";
        case Parameter::Kind::local: return "local:256";
        case Parameter::Kind::image: return p.writes ? "out:64,64" : "rand:64,64";
        case Parameter::Kind::sampler: return "sampler:linear,edge";
        default: break;
    }
    if (p.type.kind == ElementType::Kind::opaque) return "{int:1, float:0.5}";
    return p.type.kind == ElementType::Kind::floating ? "0.5" : "1024";
}

/// What a picture's own sentence says, with the place that names it.
model::Loaded picture_at(const LoadPicture& load, const std::string& path, const Place& place) {
    try {
        return load(path);
    } catch (const Error& e) {
        refuse(place, e.what());
    }
}

void put_pixels(const model::Bytes& grey, std::size_t pixels, const ElementType& type, model::Bytes& out) {
    // Floats from 0 to 1, integers from 0 to 255; the fourth lane is opaque.
    const bool floating = type.kind == ElementType::Kind::floating;
    for (std::size_t i = 0; i < pixels; ++i) {
        const auto level = std::to_integer<int>(grey[i]);
        for (std::size_t lane = 0; lane < type.lanes; ++lane) {
            auto* to = out.data() + i * type.bytes + lane * type.lane_bytes;
            const int shown = lane == 3 ? 255 : level;
            if (floating) put_real(to, type, shown / 255.0);
            else put_integer(to, type, shown);
        }
    }
}

}  // namespace

std::string substitute(const std::string& text, const std::function<std::string(const std::string&)>& value) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto open = text.find('{', at), close = open == std::string::npos ? open : text.find('}', open);
        if (close == std::string::npos) return out + text.substr(at);
        out += text.substr(at, open - at) + value(trim(text.substr(open + 1, close - open - 1)));
        at = close + 1;
    }
    return out;
}

Bound::Bound(std::string where, const Description& description, model::KernelSignature signature, std::vector<std::string> options,
             bool uses_integer_pixels, const LoadPicture& load, Missing missing_values, std::vector<std::string>& notes)
    : where_(std::move(where)), signature_(std::move(signature)), options_(std::move(options)), uses_integer_pixels_(uses_integer_pixels),
      code_only_(missing_values == Missing::made_up), tolerance_(description.tolerance) {
    const auto own = description.kernels.find(signature_.name);
    const std::vector<const Scope*> scopes =
        own == description.kernels.end() ? std::vector<const Scope*>{&description.all} : std::vector<const Scope*>{&own->second.second, &description.all};
    for (const auto* scope : scopes) {
        for (const auto& [name, spec] : scope->arguments) given_.emplace(name, spec);
        if (!global_) global_ = scope->global;
        if (!local_) local_ = scope->local;
        if (!offset_) offset_ = scope->offset;
        if (!work_bytes_) work_bytes_ = scope->work_bytes;
        if (!work_flops_) work_flops_ = scope->work_flops;
        if (!reference_) reference_ = scope->reference;
    }
    if (missing_values == Missing::made_up && !global_) global_.emplace(Place{where_, 0, 0}, std::vector{Expression::parse("1", {where_, 0, 0})});
    std::vector<std::string> missing;
    for (const auto& parameter : signature_.parameters) {
        const Place nowhere{where_, 0, 0};
        const auto named = "argument '" + parameter.name + "' of kernel '" + signature_.name + "'";
        if (parameter.kind == Parameter::Kind::refused) refuse(nowhere, named + " is " + parameter.refusal + ", which this lab cannot give");
        Argument argument{parameter, {}, parameter.type};
        const auto found = given_.find(parameter.name);
        if (found != given_.end()) {
            argument.spec = found->second;
        } else if (parameter.kind == Parameter::Kind::sampler) {
            argument.spec = {nowhere, "sampler:nearest,edge,pixel", Kind::sampler};
            argument.spec.words = {"nearest", "edge", "pixel"};
        } else if (global_ && (is_pointer(parameter) || parameter.kind == Parameter::Kind::image)) {
            const bool writes = parameter.kind == Parameter::Kind::image ? parameter.writes : !parameter.is_const;
            argument.spec = {nowhere, writes ? "out" : "rand", writes ? Kind::output : Kind::random};
        } else if (missing_values == Missing::made_up) {
            argument.spec = {nowhere, "", parameter.kind == Parameter::Kind::local ? Kind::local : Kind::bytes};
            argument.spec.extent = {Expression::parse("1", nowhere)};
            argument.spec.raw.assign(std::max<std::size_t>(parameter.type.bytes, 1), '\0');
        } else {
            missing.push_back("arg " + parameter.name + " = " + example(parameter));
            continue;
        }
        if (found == given_.end() && parameter.kind == Parameter::Kind::sampler) notes.push_back(parameter.name + " = " + argument.spec.text);
        bind(argument, load);
        const bool sized = (is_pointer(parameter) || parameter.kind == Parameter::Kind::image) && argument.spec.extent.empty() && !argument.file;
        if (sized) notes.push_back(parameter.name + " = " + argument.spec.text + ", as large as global");
        arguments_.push_back(std::move(argument));
    }
    if (!global_) missing.push_back("global 1024");
    if (!missing.empty()) {
        std::vector<std::string> quoted_lines;
        for (const auto& line : missing) quoted_lines.push_back("'" + line + "'");
        refuse({where_, 0, 0}, "kernel '" + signature_.name + "' lacks values; add lines such as " + join(quoted_lines, ", ") +
                                   " to a comment /*cllab … */ in the file, or options such as " +
                                   (missing.front().starts_with("arg ") ? "--arg '" + missing.front().substr(4) + "'" : "--global 1024"));
    }
    if (!local_ && signature_.required_group[0] > 0) {
        std::vector<Expression> sizes;
        for (std::size_t d = 0; d < global_->second.size(); ++d)
            sizes.push_back(Expression::parse(std::to_string(signature_.required_group[d]), {where_, 0, 0}));
        local_.emplace(Place{where_, 0, 0}, std::move(sizes));
    }
    if (!local_) notes.push_back("local = the driver's choice");
    if (!work_bytes_) notes.push_back("work bytes = every buffer once");
    for (const auto* scope : scopes)
        for (const auto& [name, file] : scope->expected)
            if (!expected_.count(name)) expect(name, file.first, file.second, load);
}

void Bound::bind(Argument& a, const LoadPicture& load) {
    const auto kind = a.spec.kind;
    const auto unfit = [&] {
        refuse(a.spec.place, "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "' is " + kind_words(a.parameter) + ", which " +
                                 cllab::quoted(a.spec.text) + " does not fit; write e.g. " + example(a.parameter));
    };
    switch (a.parameter.kind) {
        case Parameter::Kind::global:
        case Parameter::Kind::constant:
            if (!is_data(kind) && kind != Kind::output) unfit();
            return bind_pointer(a, load);
        case Parameter::Kind::local:
            if (kind == Kind::numbers && a.spec.numbers.size() == 1 && std::holds_alternative<Expression>(a.spec.numbers[0])) {
                a.spec.kind = Kind::local;
                a.spec.extent = {std::get<Expression>(a.spec.numbers[0])};
            }
            if (a.spec.kind != Kind::local || a.spec.extent.size() != 1) unfit();
            if (a.parameter.type.bytes == 0) refuse(a.spec.place, "the size of '" + a.parameter.type.name + "' is unknown");
            return;
        case Parameter::Kind::image:
            if ((!is_data(kind) && kind != Kind::output) || (kind == Kind::output) != a.parameter.writes) unfit();
            return bind_image(a, load);
        case Parameter::Kind::sampler:
            if (kind != Kind::sampler) unfit();
            return;
        default:
            if (kind != Kind::numbers && kind != Kind::bytes && kind != Kind::fields) unfit();
            return bind_value(a);
    }
}

void Bound::bind_pointer(Argument& a, const LoadPicture& load) {
    const auto& place = a.spec.place;
    const auto named = "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "'";
    if (a.spec.kind == Kind::output && a.parameter.is_const)
        refuse(place, named + " is " + kind_words(a.parameter) + ", which the kernel promises not to write; give it data, e.g. rand:1024");
    if (!a.spec.type.empty()) {
        const auto type = model::builtin_type(a.spec.type);
        if (!type) refuse(place, cllab::quoted(a.spec.type) + " is a format of images; " + named + " is " + kind_words(a.parameter));
        const auto& own = a.parameter.type;
        if (own.kind != ElementType::Kind::opaque && (own.kind != type->kind || own.lane_bytes != type->lane_bytes))
            refuse(place, named + " is " + kind_words(a.parameter) + "; elements of type " + a.spec.type + " do not fit");
        a.element = *type;
    }
    if (a.element.bytes == 0) refuse(place, "the size of '" + a.parameter.type.name + "' is unknown; name a type, as in " + (a.spec.kind == Kind::output ? "out" : "rand") + ":float:1024");
    if (a.spec.extent.size() > 1) refuse(place, named + " is a buffer with one length, found " + std::to_string(a.spec.extent.size()));
    if (a.spec.kind == Kind::random && a.spec.numbers.size() == 2 && a.element.kind == ElementType::Kind::opaque)
        refuse(place, named + " has elements of type " + a.element.name + ", which have no bounds");
    if (a.spec.kind == Kind::constant && a.element.kind == ElementType::Kind::opaque)
        refuse(place, named + " has elements of type " + a.element.name + ", which are no numbers; write zero:1024");
    if (a.spec.kind == Kind::file) {
        const auto path = resolved(a.spec.path, place);
        auto bytes = read_bytes(path, place);
        if (lower(path.extension().string()) == ".npy" || a.spec.text.starts_with("npy:")) {
            auto array = read_npy(bytes, path.string(), place);
            const auto type = *model::builtin_type(array.type);
            if (a.element.kind != ElementType::Kind::opaque && (type.kind != a.element.kind || type.lane_bytes != a.element.lane_bytes))
                refuse(place, "'" + path.string() + "' holds " + array.type + ", " + named + " is " + kind_words(a.parameter));
            bytes = std::move(array.data);
        }
        if (bytes.size() % a.element.bytes != 0)
            refuse(place, "'" + path.string() + "' has " + std::to_string(bytes.size()) + " bytes, no whole number of elements of " + std::to_string(a.element.bytes) +
                              " bytes (" + a.element.name + ")");
        a.file = std::make_shared<const model::Bytes>(std::move(bytes));
    }
    if (a.spec.kind == Kind::picture) {
        if (a.element.kind == ElementType::Kind::opaque || (a.element.lanes != 1 && a.element.lanes != 4))
            refuse(place, named + " is " + kind_words(a.parameter) + "; a picture fits buffers of numbers with 1 or 4 lanes");
        const auto picture = picture_at(load, resolved(a.spec.path, place).string(), place);
        auto bytes = std::make_shared<model::Bytes>(picture.width * picture.height * a.element.bytes);
        put_pixels(*picture.grey, picture.width * picture.height, a.element, *bytes);
        a.file = std::move(bytes);
    }
}

void Bound::bind_image(Argument& a, const LoadPicture& load) {
    const auto& place = a.spec.place;
    const auto named = "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "'";
    a.format = uses_integer_pixels_ ? Image::Format::rgba8_unsigned : Image::Format::rgba8_normalised;
    if (!a.spec.type.empty()) {
        if (model::builtin_type(a.spec.type))
            refuse(place, cllab::quoted(a.spec.type) + " is no format of images; possible are r8, r8ui, r32f, rgba8, rgba8ui and rgba32f");
        a.format = format_from(a.spec.type);
    }
    a.element = pixel_type(a.format);
    if (!a.spec.extent.empty() && a.spec.extent.size() != a.parameter.dims)
        refuse(place, named + " is an image of " + std::to_string(a.parameter.dims) + " dimensions, found " + std::to_string(a.spec.extent.size()) + " sizes");
    if (a.spec.kind == Kind::file) refuse(place, named + " is an image; write image:FILE for a picture");
    if (a.spec.kind != Kind::picture) return;
    if (a.parameter.dims != 2) refuse(place, named + " has " + std::to_string(a.parameter.dims) + " dimensions; a picture has 2");
    const auto picture = picture_at(load, resolved(a.spec.path, place).string(), place);
    a.width = picture.width;
    a.height = picture.height;
    auto bytes = std::make_shared<model::Bytes>(a.width * a.height * a.element.bytes);
    put_pixels(*picture.grey, a.width * a.height, a.element, *bytes);
    a.file = std::move(bytes);
}

void Bound::bind_value(Argument& a) {
    const auto& type = a.parameter.type;
    const auto& place = a.spec.place;
    const auto named = "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "'";
    if (a.spec.kind == Kind::numbers) {
        if (type.kind == ElementType::Kind::opaque)
            refuse(place, named + " is of type " + type.name + "; give its fields, as in {int:1, float:0.5}, or bytes:01000000");
        if (a.spec.numbers.size() != 1 && a.spec.numbers.size() != type.lanes)
            refuse(place, named + " is of type " + type.name + ", which takes " + (type.lanes == 1 ? "one value" : "1 or " + std::to_string(type.lanes) + " values") +
                              "; found " + std::to_string(a.spec.numbers.size()));
        for (const auto& number : a.spec.numbers)
            if (std::holds_alternative<double>(number) && type.kind != ElementType::Kind::floating)
                refuse(place, named + " is of type " + type.name + ", which " + cllab::quoted(a.spec.text) + " does not fit");
        return;
    }
    std::size_t bytes = a.spec.raw.size();
    if (a.spec.kind == Kind::fields) {
        std::size_t align = 1;
        bytes = 0;
        for (const auto& [name, values] : a.spec.fields) {
            const auto field = *model::builtin_type(name);
            for (const auto& number : values)
                if (std::holds_alternative<double>(number) && field.kind != ElementType::Kind::floating)
                    refuse(place, "a field of type " + name + " takes whole numbers; found a fraction in " + cllab::quoted(a.spec.text));
            align = std::max(align, field.bytes);
            bytes = (bytes + field.bytes - 1) / field.bytes * field.bytes + field.bytes;
        }
        bytes = (bytes + align - 1) / align * align;
    }
    if (type.bytes > 0 && bytes != type.bytes)
        refuse(place, named + " is of type " + type.name + " with " + std::to_string(type.bytes) + " bytes on the device; " + cllab::quoted(a.spec.text) + " makes " +
                          std::to_string(bytes));
}

void Bound::expect(const std::string& name, const Place& place, const std::string& path, const LoadPicture& load) {
    const auto found = std::find_if(arguments_.begin(), arguments_.end(), [&](const auto& a) { return a.parameter.name == name; });
    if (found == arguments_.end()) {
        std::vector<std::string> names;
        for (const auto& a : arguments_) names.push_back(a.parameter.name);
        refuse(place, "kernel '" + signature_.name + "' has no argument '" + name + "'; its arguments are " + join(names, ", "));
    }
    const auto& p = found->parameter;
    const bool written = p.kind == Parameter::Kind::image ? p.writes : p.kind == Parameter::Kind::global && !p.is_const;
    if (!written) refuse(place, "argument '" + name + "' of kernel '" + signature_.name + "' is " + kind_words(p) + ", which is never written");
    for (const auto& a : arguments_)
        if (a.spec.kind == Kind::random)
            refuse(place, "argument '" + a.parameter.name + "' is random, so no file can say what comes out; give it a file, iota or const");
    const auto file = resolved(path, place);
    const auto extension = lower(file.extension().string());
    const auto& type = found->element;
    Expected out{file.filename().string(), {}, place};
    if (extension == ".png" || extension == ".pgm" || extension == ".jpg" || extension == ".jpeg" || extension == ".bmp" || extension == ".ppm") {
        const auto picture = picture_at(load, file.string(), place);
        auto bytes = std::make_shared<model::Bytes>(picture.width * picture.height * type.bytes);
        put_pixels(*picture.grey, picture.width * picture.height, type, *bytes);
        out.data = std::move(bytes);
    } else {
        auto bytes = read_bytes(file, place);
        if (extension == ".npy") {
            auto array = read_npy(bytes, file.string(), place);
            const auto held = *model::builtin_type(array.type);
            if (type.kind != ElementType::Kind::opaque && (held.kind != type.kind || held.lane_bytes != type.lane_bytes))
                refuse(place, "'" + file.string() + "' holds " + array.type + ", argument '" + name + "' is " + kind_words(p));
            bytes = std::move(array.data);
        }
        out.data = std::make_shared<const model::Bytes>(std::move(bytes));
    }
    expected_.emplace(name, std::move(out));
}

std::int64_t Bound::lookup(const model::Point& point, const std::string& name, const Place& place, std::set<std::string>& open) const {
    if (point.has(name)) {
        const auto value = parse_integer(point.text(name));
        if (!value) refuse(place, "axis '" + name + "' is '" + point.text(name) + "', no whole number that an expression can use");
        return *value;
    }
    const auto found = given_.find(name);
    if (found == given_.end() || found->second.kind != Kind::numbers || found->second.numbers.size() != 1 ||
        !std::holds_alternative<Expression>(found->second.numbers[0])) {
        std::set<std::string> known;
        for (const auto& [axis, value] : point.values()) known.insert(axis);
        for (const auto& [argument, spec] : given_)
            if (spec.kind == Kind::numbers && spec.numbers.size() == 1 && std::holds_alternative<Expression>(spec.numbers[0])) known.insert(argument);
        const auto line = "add a line 'axis " + name + " = 1024'";
        refuse(place, "nothing says what '" + name + "' is; " + (known.empty() ? line : "known are " + join({known.begin(), known.end()}, ", ") + ", or " + line));
    }
    if (!open.insert(name).second) refuse(place, "the value of '" + name + "' depends on itself");
    const auto out = std::get<Expression>(found->second.numbers[0]).evaluate([&](const std::string& other, const Place& at) { return lookup(point, other, at, open); });
    open.erase(name);
    return out;
}

std::int64_t Bound::value(const model::Point& point, const Expression& expression) const {
    std::set<std::string> open;
    return expression.evaluate([&](const std::string& name, const Place& place) { return lookup(point, name, place, open); });
}

std::string Bound::substituted(const model::Point& point, const std::string& options) const {
    return substitute(options, [&](const std::string& inside) {
        if (point.has(inside)) return point.text(inside);
        return std::to_string(value(point, Expression::parse(inside, {where_ + ": options '" + options + "'", 0, 0})));
    });
}

model::Extent Bound::extent(const model::Point& point, const std::pair<Place, std::vector<Expression>>& list, std::int64_t least, const char* what) const {
    model::Extent out;
    out.dims = static_cast<unsigned>(list.second.size());
    std::size_t count = 1;
    for (std::size_t d = 0; d < list.second.size(); ++d) {
        const auto size = value(point, list.second[d]);
        if (size < least)
            refuse(list.second[d].place(), std::string(what) + " size " + std::to_string(d) + " is " + std::to_string(size) + " ('" + list.second[d].text() + "'); it is at least " + std::to_string(least));
        out.size[d] = static_cast<std::size_t>(size);
        if (least > 0 && (__builtin_mul_overflow(count, out.size[d], &count) || count > most_elements))
            refuse(list.first, std::string(what) + " is " + out.text() + ", more work-items than can be");
    }
    return out;
}

Shape Bound::shape(const model::Point& point, const model::Device& device) const {
    Shape out;
    out.global = extent(point, *global_, 1, "global");
    if (local_) {
        out.local = extent(point, *local_, 1, "local");
        if (out.local.dims != out.global.dims)
            refuse(local_->first, "local has " + std::to_string(out.local.dims) + " dimensions, global " + std::to_string(out.global.dims));
        for (unsigned d = 0; d < out.local.dims; ++d) {
            if (out.global.size[d] % out.local.size[d] != 0) {
                const auto l = std::to_string(out.local.size[d]);
                refuse(local_->first, "global " + out.global.text() + " is no multiple of local " + out.local.text() + "; write global e.g. as ceil(" +
                                          global_->second[d].text() + " / " + l + ") * " + l);
            }
            const auto promised = signature_.required_group[d];
            if (signature_.required_group[0] > 0 && out.local.size[d] != promised)
                refuse(local_->first, "local is " + out.local.text() + ", but kernel '" + signature_.name + "' requires " +
                                          std::to_string(signature_.required_group[0]) + "x" + std::to_string(signature_.required_group[1]) + "x" +
                                          std::to_string(signature_.required_group[2]));
        }
    }
    if (offset_) {
        out.offset = extent(point, *offset_, 0, "offset");
        if (out.offset.dims != out.global.dims)
            refuse(offset_->first, "offset has " + std::to_string(out.offset.dims) + " dimensions, global " + std::to_string(out.global.dims));
    }
    double moved = 0;
    for (const auto& a : arguments_) {
        const auto& name = a.parameter.name;
        if (a.parameter.kind == Parameter::Kind::image) {
            std::array<std::size_t, 3> size{1, 1, 1};
            for (unsigned d = 0; d < a.parameter.dims; ++d) {
                std::int64_t n = 0;
                if (code_only_) n = 1;
                else if (!a.spec.extent.empty()) n = value(point, a.spec.extent[d]);
                else if (a.file) n = static_cast<std::int64_t>(d == 0 ? a.width : a.height);
                else n = static_cast<std::int64_t>(out.global.size[d]);
                if (n < 1 || n > 1 << 20) refuse(a.spec.place, "size " + std::to_string(d) + " of image '" + name + "' is " + std::to_string(n) + "; possible are 1 to 1048576");
                size[d] = static_cast<std::size_t>(n);
            }
            out.images[name] = size;
            moved += static_cast<double>(size[0]) * static_cast<double>(size[1] * size[2] * a.element.bytes);
            continue;
        }
        if (!is_pointer(a.parameter) && a.parameter.kind != Parameter::Kind::local) {
            value_bytes(point, a);  // refuses what does not fit
            continue;
        }
        std::int64_t count = static_cast<std::int64_t>(out.global.count());
        if (code_only_ && a.parameter.kind != Parameter::Kind::local) count = 1;
        else if (!a.spec.extent.empty()) count = value(point, a.spec.extent[0]);
        else if (a.file) count = static_cast<std::int64_t>(a.file->size() / a.element.bytes);
        if (count < 1 || static_cast<std::size_t>(count) > most_elements)
            refuse(a.spec.place, "the length of '" + name + "' is " + std::to_string(count) + "; possible are 1 to " + std::to_string(most_elements));
        const auto bytes = static_cast<std::size_t>(count) * a.element.bytes;
        out.counts[name] = static_cast<std::size_t>(count);
        if (a.parameter.kind == Parameter::Kind::local || code_only_) continue;
        if (a.file && a.spec.extent.empty() == false && bytes != a.file->size())
            refuse(a.spec.place, "'" + a.spec.path + "' has " + std::to_string(a.file->size() / a.element.bytes) + " elements, '" + name + "' " + std::to_string(count));
        if (device.max_alloc_bytes > 0 && bytes > device.max_alloc_bytes)
            throw Unsupported("'" + name + "' needs " + format_bytes(bytes) + "; the device allocates " + format_bytes(device.max_alloc_bytes) + " at once");
        moved += static_cast<double>(bytes);
    }
    for (const auto& [name, expected] : expected_) {
        if (code_only_) break;
        const auto found = std::find_if(arguments_.begin(), arguments_.end(), [&n = name](const auto& a) { return a.parameter.name == n; });
        const auto image = out.images.find(name);
        const auto elements = image == out.images.end() ? out.counts.at(name) : image->second[0] * image->second[1] * image->second[2];
        if (expected.data->size() != elements * found->element.bytes)
            refuse(expected.place, "'" + expected.file + "' has " + std::to_string(expected.data->size()) + " bytes, '" + name + "' " +
                                       std::to_string(elements * found->element.bytes));
    }
    out.work.bytes = work_bytes_ ? static_cast<double>(value(point, *work_bytes_)) : moved;
    out.work.assumed = !work_bytes_;
    out.work.flops = work_flops_ ? static_cast<double>(value(point, *work_flops_)) : 0;
    if (out.work.bytes < 0 || out.work.flops < 0) refuse((work_bytes_ ? *work_bytes_ : *work_flops_).place(), "the work is negative");
    for (const auto& options : options_) out.options.push_back(substituted(point, options));
    return out;
}

void Bound::put_number(std::byte* to, const ElementType& type, const model::Point& point, const Number& number) const {
    if (const auto* real = std::get_if<double>(&number)) return put_real(to, type, *real);
    const auto& expression = std::get<Expression>(number);
    // A real axis may be the whole of a floating value.
    if (type.kind == ElementType::Kind::floating && point.has(expression.text()))
        if (const auto real = parse_real(point.text(expression.text()))) return put_real(to, type, *real);
    const auto whole = value(point, expression);
    if (!fits(type, whole)) refuse(expression.place(), "the value " + std::to_string(whole) + " does not fit the type " + type.name);
    put_integer(to, type, whole);
}

model::Bytes Bound::value_bytes(const model::Point& point, const Argument& a) const {
    if (a.parameter.kind != Parameter::Kind::value) return {};
    if (a.spec.kind == Kind::bytes) {
        const auto* first = reinterpret_cast<const std::byte*>(a.spec.raw.data());
        return {first, first + a.spec.raw.size()};
    }
    const auto put = [&](model::Bytes& out, std::size_t at, const ElementType& type, const std::vector<Number>& numbers) {
        for (std::size_t lane = 0; lane < type.lanes; ++lane)
            put_number(out.data() + at + lane * type.lane_bytes, type, point, numbers[numbers.size() == 1 ? 0 : lane]);
    };
    if (a.spec.kind == Kind::numbers) {
        model::Bytes out(a.parameter.type.bytes);
        put(out, 0, a.parameter.type, a.spec.numbers);
        return out;
    }
    model::Bytes out;
    std::size_t align = 1;
    for (const auto& [name, numbers] : a.spec.fields) {
        const auto field = *model::builtin_type(name);
        align = std::max(align, field.bytes);
        const auto at = (out.size() + field.bytes - 1) / field.bytes * field.bytes;
        out.resize(at + field.bytes);
        put(out, at, field, numbers);
    }
    out.resize((out.size() + align - 1) / align * align);
    return out;
}

model::SharedBytes Bound::data(const model::Point& point, const Argument& a, const ElementType& type, std::size_t count, std::uint64_t seed) const {
    if (a.file) return a.file;
    if (a.spec.kind == Kind::random) {
        double low = 0, high = type.kind == ElementType::Kind::floating || type.kind == ElementType::Kind::opaque ? 1 : type.lane_bytes == 1 && type.kind == ElementType::Kind::signed_integer ? 127 : 255;
        const auto bound = [&](const Number& n) { return std::holds_alternative<double>(n) ? std::get<double>(n) : static_cast<double>(value(point, std::get<Expression>(n))); };
        if (a.spec.numbers.size() == 2) low = bound(a.spec.numbers[0]), high = bound(a.spec.numbers[1]);
        if (!(low <= high)) refuse(a.spec.place, "the bounds of '" + a.parameter.name + "' are " + format_exact(low) + " and " + format_exact(high) + ", the wrong way round");
        std::uint64_t name = 0;
        for (const char c : a.parameter.name) name = mix64(name ^ static_cast<unsigned char>(c));
        return random_data(type, count, seed ^ name, low, high);
    }
    auto out = std::make_shared<model::Bytes>(count * type.bytes);
    if (a.spec.kind == Kind::zero || type.kind == ElementType::Kind::opaque) return out;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t lane = 0; lane < type.bytes / type.lane_bytes; ++lane) {
            auto* to = out->data() + i * type.bytes + lane * type.lane_bytes;
            if (a.spec.kind == Kind::counting) put_integer(to, type, static_cast<std::int64_t>(i));
            else if (i == 0) put_number(to, type, point, a.spec.numbers[0]);
            else std::memcpy(to, out->data(), type.lane_bytes);
        }
    }
    return out;
}

model::Setup Bound::setup(const model::Point& point, const Shape& shape, std::uint64_t seed) const {
    model::Setup out;
    for (const auto& a : arguments_) {
        const auto& name = a.parameter.name;
        switch (a.parameter.kind) {
            case Parameter::Kind::local: out.args.push_back(model::Local{name, shape.counts.at(name) * a.element.bytes}); break;
            case Parameter::Kind::sampler: {
                model::Sampler sampler{name};
                for (const auto& word : a.spec.words) {
                    using Outside = model::Sampler::Outside;
                    if (word == "linear") sampler.linear = true;
                    if (word == "normalized") sampler.normalised = true;
                    if (word == "edge") sampler.outside = Outside::edge;
                    if (word == "zero") sampler.outside = Outside::zero;
                    if (word == "repeat") sampler.outside = Outside::repeat;
                    if (word == "mirror") sampler.outside = Outside::mirror;
                    if (word == "none") sampler.outside = Outside::undefined;
                }
                out.args.push_back(sampler);
                break;
            }
            case Parameter::Kind::image: {
                const auto& size = shape.images.at(name);
                model::Image image{name, size[0], size[1], a.format, nullptr, size[2], a.parameter.dims};
                if (!a.parameter.writes) image.data = data(point, a, a.element, size[0] * size[1] * size[2], seed);
                out.args.push_back(std::move(image));
                break;
            }
            case Parameter::Kind::global:
            case Parameter::Kind::constant:
                if (a.spec.kind == Kind::output) out.args.push_back(model::Output{name, shape.counts.at(name) * a.element.bytes});
                else if (auto bytes = data(point, a, a.element, shape.counts.at(name), seed); a.parameter.is_const) out.args.push_back(model::Input{name, std::move(bytes)});
                else out.args.push_back(model::InOut{name, std::move(bytes)});
                break;
            default: out.args.push_back(model::Value{name, value_bytes(point, a)}); break;
        }
    }
    out.global = shape.global;
    out.local = shape.local;
    out.offset = shape.offset;
    out.work = shape.work;
    out.defines = shape.options;
    return out;
}

std::vector<Result> Bound::results(const model::Setup& setup) const {
    std::vector<Result> out;
    for (std::size_t i = 0; i < setup.args.size(); ++i) {
        const auto& a = arguments_[i];
        Result result{a.parameter.name, a.element};
        if (const auto* image = std::get_if<model::Image>(&setup.args[i]); image && !image->data) {
        } else if (std::holds_alternative<model::Output>(setup.args[i])) {
        } else if (const auto* inout = std::get_if<model::InOut>(&setup.args[i])) {
            result.given = inout->data;
        } else {
            continue;
        }
        if (const auto found = expected_.find(result.name); found != expected_.end()) result.expected = found->second.data, result.file = found->second.file;
        out.push_back(std::move(result));
    }
    return out;
}

bool Bound::random_inputs() const {
    return std::any_of(arguments_.begin(), arguments_.end(), [](const auto& a) { return a.spec.kind == Kind::random; });
}

}  // namespace cllab::kernelfile
