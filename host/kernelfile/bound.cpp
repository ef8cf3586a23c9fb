#include "kernelfile/bound.hpp"

#include <algorithm>
#include <cstring>

#include "core/grouped.hpp"
#include "core/text.hpp"
#include "kernelfile/data/structs.hpp"

namespace cllab::kernelfile {
namespace {

using model::Parameter;
using Kind = ArgumentSpec::Kind;

bool is_data(Kind kind) {
    return kind == Kind::drawn || kind == Kind::rules || kind == Kind::file || kind == Kind::picture;
}

std::string kind_words(const Parameter& p) {
    switch (p.kind) {
        case Parameter::Kind::global:
            return "a __global " + std::string(p.is_const ? "const " : "") + p.type.name + "*";
        case Parameter::Kind::constant:
            return "a __constant " + p.type.name + "*";
        case Parameter::Kind::local:
            return "a __local " + p.type.name + "*";
        case Parameter::Kind::image:
            return (p.reads_too ? "a read_write " : "an ") + p.type.name;
        case Parameter::Kind::sampler:
            return "a sampler_t";
        default:
            return "of type " + p.type.name;
    }
}

/// Whether a buffer that the kernel declares with elements of type `own` may hold elements of `type`.
bool holds(const model::ElementType& own, const model::ElementType& type) {
    using TypeKind = model::ElementType::Kind;
    if (own.is_opaque()) return true;
    if (type.is_packed()) return own.is_integer();
    if (type.kind == TypeKind::bfloat16) return own.is_integer() && own.lane_bytes == 2;
    return own.kind == type.kind && own.lane_bytes == type.lane_bytes;
}

/// An example of a value for the parameter, for messages.
std::string example(const Parameter& p) {
    switch (p.kind) {
        case Parameter::Kind::global:
        case Parameter::Kind::constant:
            return p.is_const ? "rand:1024" : "out:1024";
        case Parameter::Kind::local:
            return "local:256";
        case Parameter::Kind::image:
            return (p.writes && !p.reads_too ? "out:" : "rand:") + std::string(p.dims == 3   ? "16,16,16"
                                                                               : p.dims == 1 ? "1024"
                                                                                             : "64,64");
        case Parameter::Kind::sampler:
            return "sampler:linear,edge";
        default:
            break;
    }
    if (p.type.is_opaque()) return "{int:1, float:0.5}";
    return p.type.is_floating() ? "0.5" : "1024";
}

}  // namespace

model::PixelFormat usual_format(const std::string& text) {
    const auto has = [&](const char* name) { return text.find(name) != std::string::npos; };
    if (has("read_imageui") || has("write_imageui")) return model::rgba8_unsigned;
    return has("read_imagei") || has("write_imagei") ? model::rgba32_integer : model::PixelFormat{};
}

Bound::Bound(std::string where, const Description& description, model::KernelSignature signature,
             std::vector<std::string> options, const model::PixelFormat& usual_format, const LoadPicture& load,
             Wants wants, std::vector<std::string>& notes)
    : where_(std::move(where)),
      signature_(std::move(signature)),
      options_(std::move(options)),
      usual_format_(usual_format),
      code_only_(wants == Wants::code),
      takes_group_(description.takes_group),
      said_(scope_of(description, signature_.name)),
      tolerance_(description.tolerance) {
    for (const auto& parameter : signature_.parameters)
        if (parameter.kind == Parameter::Kind::value && parameter.type.is_floating()) real_.insert(parameter.name);
    if (code_only_) {
        said_.reference.reset();
        said_.relations.clear();
        bind_local_memory();
        return;
    }
    bind_all(load, notes);
    for (const auto& [name, file] : said_.expected) expect(name, file.first, file.second, load);
    for (auto& line : said_.relations) {
        line.of = called(line.of);
        for (auto& name : line.from) name = called(name);
        check_relation(line);
    }
}

std::string Bound::named(const Parameter& parameter) const {
    return "argument '" + parameter.name + "' of kernel '" + signature_.name + "'";
}

std::string Bound::described(const Parameter& parameter) const {
    return named(parameter) + " is " + kind_words(parameter);
}

const Bound::Argument* Bound::find(const std::string& name) const {
    const auto& own = called(name);
    const auto found = std::ranges::find_if(arguments_, [&](const auto& a) { return a.parameter.name == own; });
    return found == arguments_.end() ? nullptr : &*found;
}

/// Binds the given values, and defaults for missing ones. Adds the defaults to `notes`.
void Bound::bind_all(const LoadPicture& load, std::vector<std::string>& notes) {
    std::vector<std::string> missing;
    declare_structs();
    for (auto& parameter : join_same()) {
        if (parameter.kind == Parameter::Kind::refused)
            refuse({where_, 0, 0}, named(parameter), " has a type that cllab does not support: ", parameter.refusal);
        auto spec = spec_of(parameter, notes);
        if (!spec) {
            missing.push_back(parameter.name);
            continue;
        }
        if (spec->kind == Kind::null && has_extent(parameter)) pass_null(parameter, *spec);
        auto& argument = arguments_.emplace_back(Argument{parameter, std::move(*spec), parameter.type});
        argument.drawn_as = parameter.name;
        bind(argument, load);
        argument.parameter.name = called(parameter.name);
        if (has_extent(parameter) && argument.spec.extent.empty() && !argument.file)
            add_once(notes, parameter.name + " = " + argument.spec.text + ", as large as global");
    }
    require_all(missing);
    if (!said_.local && signature_.required_group[0] > 0) {
        auto& [place, sizes] = said_.local.emplace(Place{where_, 0, 0}, std::vector<Expression>{});
        for (std::size_t d = 0; d < said_.global->second.size(); ++d)
            sizes.push_back(Expression::parse(std::to_string(signature_.required_group[d]), place));
    }
    if (!said_.local) add_once(notes, "local size chosen by the driver");
    if (!said_.work.count("bytes")) add_once(notes, "work bytes = total size of all buffers");
}

/// NULL is passed by value, as a handle of zeros.
void Bound::pass_null(Parameter& parameter, ArgumentSpec& spec) {
    parameter.kind = Parameter::Kind::value;
    parameter.type = *model::builtin_type("ulong");
    spec.kind = Kind::bytes;
    spec.raw.assign(parameter.type.bytes, '\0');
}

/// For machine code, only the sizes of local memory matter.
void Bound::bind_local_memory() {
    for (const auto& parameter : signature_.parameters) {
        const auto given = said_.arguments.find(parameter.name);
        if (parameter.kind != Parameter::Kind::local || parameter.type.bytes == 0 || given == said_.arguments.end())
            continue;
        bind(arguments_.emplace_back(Argument{parameter, given->second, parameter.type}), {});
    }
}

/// The value given for the parameter, else its default. Adds a default sampler to `notes`. nullopt if it has neither.
std::optional<ArgumentSpec> Bound::spec_of(const Parameter& parameter, std::vector<std::string>& notes) const {
    const Place nowhere{where_, 0, 0};
    if (const auto found = said_.arguments.find(parameter.name); found != said_.arguments.end()) return found->second;
    if (parameter.kind == Parameter::Kind::sampler) {
        ArgumentSpec out{nowhere, "sampler:nearest,edge,pixel", Kind::sampler};
        out.words = {"nearest", "edge", "pixel"};
        add_once(notes, parameter.name + " = " + out.text);
        return out;
    }
    if (said_.global && has_extent(parameter)) {
        const bool writes = parameter.is_written() && !parameter.reads_too;
        return ArgumentSpec{nowhere, writes ? "out" : "rand", writes ? Kind::output : Kind::drawn};
    }
    return std::nullopt;
}

/// Throws Error(usage) if `missing` is not empty or the kernel has no `global`.
void Bound::require_all(std::vector<std::string> missing) const {
    if (!said_.global) missing.push_back("global");
    if (missing.empty()) return;
    refuse({where_, 0, 0}, "kernel '", signature_.name, "' lacks values for ", join(missing, ", "),
           "; `cllab run FILE.cl --write-block` writes guesses into FILE.cllab");
}

void Bound::bind(Argument& a, const LoadPicture& load) {
    const auto kind = a.spec.kind;
    const auto unfit = [&] {
        refuse(a.spec.place, described(a.parameter), "; ", cllab::quoted(a.spec.text), " does not fit it; write e.g. ",
               example(a.parameter));
    };
    if (a.spec.svm && a.parameter.kind != Parameter::Kind::global) unfit();
    switch (a.parameter.kind) {
        case Parameter::Kind::global:
        case Parameter::Kind::constant:
            if (!is_data(kind) && kind != Kind::output) unfit();
            return bind_pointer(a, load);
        case Parameter::Kind::local:
            if (kind == Kind::numbers && a.spec.numbers.size() == 1) {
                a.spec.kind = Kind::local;
                a.spec.extent = a.spec.numbers;
            }
            if (a.spec.kind != Kind::local || a.spec.extent.size() != 1) unfit();
            if (const auto type = model::data_type(a.spec.type)) a.element = *type;
            if (a.element.bytes == 0) refuse(a.spec.place, described(a.parameter), ", whose element size is unknown");
            return;
        case Parameter::Kind::image:
            if (kind == Kind::output ? !a.parameter.writes : !is_data(kind) || kind == Kind::rules) unfit();
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
    if (a.spec.kind == Kind::output && a.parameter.is_const)
        refuse(place, described(a.parameter), "; 'out' does not fit it, because it is const; write e.g. rand:1024");
    if (!a.spec.type.empty()) {
        const auto type = model::data_type(a.spec.type);
        if (!type) refuse(place, cllab::quoted(a.spec.type), " is an image format, but ", described(a.parameter));
        if (!holds(a.parameter.type, *type))
            refuse(place, described(a.parameter), "; elements of type ", a.spec.type, " do not fit");
        a.element = *type;
    }
    // A type with unknown fields may be a typedef of a vector, and programs pass any number of bytes for it. If the
    // file's size does not fit the type, the elements are bytes.
    if (std::error_code trouble;
        a.spec.kind == Kind::file && a.element.is_opaque() && a.element.members.empty() &&
        (a.element.bytes == 0 || file_size(resolved(a.spec.path, place), trouble) % a.element.bytes != 0))
        a.element = *model::builtin_type("uchar");
    if (a.element.bytes == 0)
        refuse(place, described(a.parameter), ", whose element size is unknown; give an element type, as in ",
               a.spec.kind == Kind::output ? "out" : "rand", ":float:1024");
    if (a.spec.extent.size() > 1)
        refuse(place, named(a.parameter), " is a buffer, which takes one length; found ", a.spec.extent.size());
    if (a.spec.kind == Kind::drawn && !a.spec.numbers.empty() && a.element.is_opaque())
        refuse(place, named(a.parameter), " has elements of type ", a.element.name,
               ", which are not numbers; write rand:1024 or zero:1024, or fields:1024:{x:rand:0:1} for each field");
    bind_members(a);
    if (a.spec.kind == Kind::file)
        a.file = read_elements(resolved(a.spec.path, place), place, a.element, described(a.parameter),
                               a.spec.text.starts_with("npy:"));
    if (a.spec.kind == Kind::picture) {
        if (a.element.is_opaque() || (a.element.lanes != 1 && a.element.lanes != 4))
            refuse(place, described(a.parameter), "; a picture fits buffers of numbers with 1 or 4 lanes");
        a.file = read_picture(load, resolved(a.spec.path, place), place, a.element).pixels;
    }
}

void Bound::bind_image(Argument& a, const LoadPicture& load) {
    const auto& place = a.spec.place;
    const bool is_depth = a.parameter.is_depth_image();
    a.format = !a.spec.type.empty() ? image_format(a.spec.type, place)
               : is_depth           ? model::depth32_float
                                    : usual_format_;
    if (is_depth != (a.format.order == model::PixelFormat::Order::depth))
        refuse(place, described(a.parameter), "; format ", a.format.name(), " does not fit it; write e.g. ",
               is_depth ? "rand:depth32f or rand:depth16" : "rand:r32f");
    a.element = a.format.type();
    if (!a.spec.extent.empty() && a.spec.extent.size() != a.parameter.dims)
        refuse(place, described(a.parameter), ", which takes ", a.parameter.dims,
               a.parameter.dims == 1 ? " size" : " sizes", "; found ", a.spec.extent.size());
    if (a.spec.kind == Kind::file && a.spec.extent.empty())
        refuse(place, named(a.parameter), " is an image; write image:FILE, or file:rgba8:640,480:FILE for raw pixels");
    if (a.spec.kind == Kind::file)
        a.file = read_elements(resolved(a.spec.path, place), place, a.element, described(a.parameter));
    if (a.spec.kind != Kind::picture) return;
    if (a.parameter.dims != 2 || a.parameter.is_array)
        refuse(place, described(a.parameter), "; a picture fits images of 2 dimensions only");
    const auto picture = read_picture(load, resolved(a.spec.path, place), place, a.element, a.format.white());
    a.width = picture.width;
    a.height = picture.height;
    a.file = picture.pixels;
}

void Bound::bind_value(Argument& a) {
    const auto& type = a.parameter.type;
    const auto& place = a.spec.place;
    const auto is_fraction = [](const Expression& number) { return !number.is_whole(); };
    if (a.spec.kind == Kind::numbers) {
        const auto& numbers = a.spec.numbers;
        if (type.is_opaque())
            refuse(place, described(a.parameter), "; give its fields, as in {int:1, float:0.5}, or bytes:01000000");
        if (numbers.size() != 1 && numbers.size() != type.lanes)
            refuse(place, described(a.parameter), ", which takes ",
                   type.lanes == 1 ? "one value" : concat("1 or ", type.lanes, " values"), "; found ", numbers.size());
        if (!type.is_floating() && std::ranges::any_of(numbers, is_fraction))
            refuse(place, described(a.parameter), "; found a fraction in ", cllab::quoted(a.spec.text));
        a.fields = {{0, type, numbers}};
        a.value_bytes = type.bytes;
        return;
    }
    Layout layout;
    for (const auto& [field, numbers] : a.spec.fields) {
        if (!field.is_floating() && std::ranges::any_of(numbers, is_fraction))
            refuse(place, "a field of type ", field.name, " takes whole numbers; found a fraction in ",
                   cllab::quoted(a.spec.text));
        a.fields.push_back({layout.add(field), field, numbers});
    }
    const auto bytes = a.value_bytes = a.spec.kind == Kind::bytes ? a.spec.raw.size() : layout.bytes();
    if (type.bytes > 0 && bytes != type.bytes)
        refuse(place, described(a.parameter), ", which has ", type.bytes, " bytes on the device; ",
               cllab::quoted(a.spec.text), " has ", bytes,
               type.bytes > bytes
                   ? "; a vector of 3 lanes is as large as one of 4; a field begins at a multiple of its "
                     "size; write padding as a field (int:0 is 4 bytes)"
                   : "");
}

void Bound::expect(const std::string& name, const Place& place, const std::string& path, const LoadPicture& load) {
    const auto* const found = find(name);
    if (!found)
        refuse(place, "kernel '", signature_.name, "' has no argument '", name, "'; its arguments are ",
               join(arguments_, ", ", [](const auto& a) { return a.parameter.name; }));
    const auto& p = found->parameter;
    if (!p.is_written()) refuse(place, described(p), ", which the kernel never writes");
    if (path == unchanged || path == may_leave) {
        if (!is_data(found->spec.kind))
            refuse(place, "'", name, "' has no initial data that could stay unchanged; give it data, e.g. zero:1024");
        expected_.emplace(name, Expected{path == unchanged ? "expect unchanged" : "", {}, place});
        return;
    }
    for (const auto& a : arguments_)
        if (is_random(a))
            refuse(place, "argument '", a.parameter.name,
                   "' is random, so a file cannot contain the expected result; use file, iota or const data");
    const auto file = resolved(path, place);
    const auto extension = lower(file.extension().string());
    const auto& type = found->element;
    Expected out{"file " + file.filename().string(), {}, place};
    if (extension == ".png" || extension == ".pgm" || extension == ".ppm")
        out.data = read_picture(load, file, place, type).pixels;
    else
        out.data = read_elements(file, place, type, "argument '" + name + "' is " + kind_words(p));
    expected_.emplace(called(name), std::move(out));
}

// --- Arrays of structs with one rule per field.

/// If an argument's line declares the fields of its struct, every argument of that struct type gets them.
void Bound::declare_structs() {
    for (const auto& parameter : signature_.parameters) {
        const auto said = said_.arguments.find(parameter.name);
        if (said == said_.arguments.end() || said->second.kind != Kind::rules) continue;
        std::vector<model::Member> members;
        for (const auto& rule : said->second.rules)
            for (auto& member : members_in(rule.declaration)) members.push_back(std::move(member));
        const auto type = parameter.type;
        if (members.empty() || !type.is_opaque() || type.bytes == 0) continue;
        lay_out(members);
        if (bytes_of(members) != type.bytes)
            refuse(said->second.place, described(parameter), ", which has ", type.bytes, " bytes on the device; ",
                   cllab::quoted(said->second.text), " has ", bytes_of(members),
                   "; name every field of the struct, in order");
        for (auto& other : signature_.parameters)
            if (other.type.name == type.name) other.type.members = members;
    }
}

/// Binds each field as a separate argument.
void Bound::bind_members(Argument& a) const {
    const bool uniform = a.spec.kind == Kind::drawn && a.spec.draw == Draw::uniform;
    if (a.spec.kind != Kind::rules && !uniform) return;
    const auto& members = a.element.members;
    const auto& rules = a.spec.rules;
    if (members.empty() && uniform) return;
    if (members.empty())
        refuse(a.spec.place, described(a.parameter),
               a.element.is_opaque() ? "; its fields are not in the source; give their types, as in "
                                       "fields:n:{float3 position:rand, int id:iota}"
                                     : ", which has no fields; write e.g. rand:1024");
    const auto name_of = [](const model::Member& m) { return m.name.substr(0, m.name.find('[')); };
    for (const auto& rule : rules)
        if (std::ranges::find(members, rule.name, name_of) == members.end())
            refuse(a.spec.place, named(a.parameter), " has no field '", rule.name, "'; its fields are ",
                   join(members, ", ", [](const auto& m) { return m.name; }));
    for (const auto& member : members) {
        const auto rule = std::ranges::find(rules, name_of(member), &FieldRule::name);
        Argument one{a.parameter, rule == rules.end() ? ArgumentSpec{a.spec.place, "rand", Kind::drawn} : rule->drawn,
                     member.type};
        one.parameter.name += "." + member.name;
        one.drawn_as = a.drawn_as + "." + member.name;
        one.begin = member.begin;
        a.members.push_back(std::move(one));
    }
}

model::SharedBytes Bound::structs(const model::Point& point, const Argument& a, std::size_t count,
                                  std::uint64_t seed) const {
    struct Column {
        std::size_t begin, width;
        model::SharedBytes data;
    };
    std::vector<Column> columns;
    for (const auto& member : a.members)
        columns.push_back({member.begin, member.element.bytes, data(point, member, count, seed)});
    const auto stride = a.element.bytes;
    return {count * stride, [columns, count, stride] {
                model::Bytes out(count * stride);
                for (const auto& [begin, width, data] : columns)
                    for (std::size_t i = 0; i < count; ++i)
                        std::memcpy(out.data() + i * stride + begin, data->data() + i * width, width);
                return out;
            }};
}

}  // namespace cllab::kernelfile
