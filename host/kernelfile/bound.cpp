#include "kernelfile/bound.hpp"

#include <algorithm>

#include "core/random.hpp"
#include "core/text.hpp"
#include "kernelfile/data.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using model::Image;
using model::Parameter;
using Kind = ArgumentSpec::Kind;

bool is_data(Kind kind) { return kind == Kind::drawn || kind == Kind::file || kind == Kind::picture; }

std::string kind_words(const Parameter& p) {
    switch (p.kind) {
        case Parameter::Kind::global:
            return "a __global " + std::string(p.is_const ? "const " : "") + p.type.name + "*";
        case Parameter::Kind::constant:
            return "a __constant " + p.type.name + "*";
        case Parameter::Kind::local:
            return "a __local " + p.type.name + "*";
        case Parameter::Kind::image:
            return p.is_array ? "an image" + std::to_string(p.dims - 1) + "d_array_t"
                              : "an image" + std::to_string(p.dims) + "d_t";
        case Parameter::Kind::sampler:
            return "a sampler_t";
        default:
            return "of type " + p.type.name;
    }
}

/// What a user may write for the parameter.
std::string example(const Parameter& p) {
    switch (p.kind) {
        case Parameter::Kind::global:
        case Parameter::Kind::constant:
            return p.is_const ? "rand:1024" : "out:1024";
        case Parameter::Kind::local:
            return "local:256";
        case Parameter::Kind::image:
            return (p.writes ? "out:" : "rand:") + std::string(p.dims == 3   ? "16,16,16"
                                                               : p.dims == 1 ? "1024"
                                                                             : "64,64");
        case Parameter::Kind::sampler:
            return "sampler:linear,edge";
        default:
            break;
    }
    if (p.type.kind == ElementType::Kind::opaque) return "{int:1, float:0.5}";
    return p.type.kind == ElementType::Kind::floating ? "0.5" : "1024";
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
      tolerance_(description.tolerance) {
    const auto own = description.kernels.find(signature_.name);
    const std::vector<const Scope*> scopes = own == description.kernels.end()
                                                 ? std::vector<const Scope*>{&description.all}
                                                 : std::vector<const Scope*>{&own->second.second, &description.all};
    for (const auto* scope : scopes) {
        for (const auto& [name, spec] : scope->arguments) given_.emplace(name, spec);
        if (!global_) global_ = scope->global;
        if (!local_) local_ = scope->local;
        if (!offset_) offset_ = scope->offset;
        work_.insert(scope->work.begin(), scope->work.end());
        if (!reference_ && !code_only_) reference_ = scope->reference;
    }
    for (const auto& parameter : signature_.parameters)
        if (parameter.kind == Parameter::Kind::value && parameter.type.kind == ElementType::Kind::floating)
            real_.insert(parameter.name);
    if (code_only_) {
        bind_local_memory();
        return;
    }
    bind_all(load, notes);
    for (const auto* scope : scopes)
        for (const auto& [name, file] : scope->expected)
            if (!expected_.count(name)) expect(name, file.first, file.second, load);
    for (const auto* scope : scopes)
        for (const auto& line : scope->relations) {
            check_relation(line);
            relations_.push_back(line);
        }
}

/// Takes what is given and what may be left out, which `notes` then say.
void Bound::bind_all(const LoadPicture& load, std::vector<std::string>& notes) {
    std::vector<std::string> missing;
    for (const auto& parameter : signature_.parameters) {
        if (parameter.kind == Parameter::Kind::refused)
            refuse({where_, 0, 0}, "argument '" + parameter.name + "' of kernel '" + signature_.name + "' is " +
                                       parameter.refusal + ", which this lab cannot give");
        auto spec = spec_of(parameter, notes);
        if (!spec) {
            missing.push_back(parameter.name);
            continue;
        }
        auto& argument = arguments_.emplace_back(Argument{parameter, std::move(*spec), parameter.type});
        bind(argument, load);
        if (has_extent(parameter) && argument.spec.extent.empty() && !argument.file)
            notes.push_back(parameter.name + " = " + argument.spec.text + ", as large as global");
    }
    require_all(missing);
    if (!local_ && signature_.required_group[0] > 0) {
        std::vector<Expression> sizes;
        for (std::size_t d = 0; d < global_->second.size(); ++d)
            sizes.push_back(Expression::parse(std::to_string(signature_.required_group[d]), {where_, 0, 0}));
        local_.emplace(Place{where_, 0, 0}, std::move(sizes));
    }
    if (!local_) notes.push_back("local = the driver's choice");
    if (!work_.count("bytes")) notes.push_back("work bytes = every buffer once");
}

/// Of the arguments, code has only the size of local memory to be judged by.
void Bound::bind_local_memory() {
    for (const auto& parameter : signature_.parameters) {
        const auto given = given_.find(parameter.name);
        if (parameter.kind != Parameter::Kind::local || parameter.type.bytes == 0 || given == given_.end()) continue;
        bind(arguments_.emplace_back(Argument{parameter, given->second, parameter.type}), {});
    }
}

/// What is given for the parameter, else a default, which `notes` then says; nothing where neither is to be had.
std::optional<ArgumentSpec> Bound::spec_of(const Parameter& parameter, std::vector<std::string>& notes) const {
    const Place nowhere{where_, 0, 0};
    if (const auto found = given_.find(parameter.name); found != given_.end()) return found->second;
    if (parameter.kind == Parameter::Kind::sampler) {
        ArgumentSpec out{nowhere, "sampler:nearest,edge,pixel", Kind::sampler};
        out.words = {"nearest", "edge", "pixel"};
        notes.push_back(parameter.name + " = " + out.text);
        return out;
    }
    if (global_ && has_extent(parameter)) {
        const bool writes = parameter.kind == Parameter::Kind::image ? parameter.writes : !parameter.is_const;
        return ArgumentSpec{nowhere, writes ? "out" : "rand", writes ? Kind::output : Kind::drawn};
    }
    return std::nullopt;
}

/// Refuses a kernel of which something is missing, where nobody guesses it.
void Bound::require_all(std::vector<std::string> missing) const {
    if (!global_) missing.push_back("global");
    if (missing.empty()) return;
    refuse({where_, 0, 0}, "kernel '" + signature_.name + "' lacks values for " + join(missing, ", ") +
                               "; `cllab run FILE.cl --write-block` writes what can be guessed into FILE.cllab");
}

void Bound::bind(Argument& a, const LoadPicture& load) {
    const auto kind = a.spec.kind;
    const auto unfit = [&] {
        refuse(a.spec.place, "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "' is " +
                                 kind_words(a.parameter) + ", which " + cllab::quoted(a.spec.text) +
                                 " does not fit; write e.g. " + example(a.parameter));
    };
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
            if (a.parameter.type.bytes == 0)
                refuse(a.spec.place, "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "' is " +
                                         kind_words(a.parameter) + ", and the size of that type is unknown");
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
        refuse(place, named + " is " + kind_words(a.parameter) +
                          ", but the kernel declares it const; give it data, e.g. rand:1024");
    if (!a.spec.type.empty()) {
        const auto type = model::builtin_type(a.spec.type);
        if (!type)
            refuse(place,
                   cllab::quoted(a.spec.type) + " is a format of images; " + named + " is " + kind_words(a.parameter));
        const auto& own = a.parameter.type;
        if (own.kind != ElementType::Kind::opaque && (own.kind != type->kind || own.lane_bytes != type->lane_bytes))
            refuse(place,
                   named + " is " + kind_words(a.parameter) + "; elements of type " + a.spec.type + " do not fit");
        a.element = *type;
    }
    if (a.element.bytes == 0)
        refuse(place, named + " is " + kind_words(a.parameter) +
                          ", and the size of that type is unknown; name one, as in " +
                          (a.spec.kind == Kind::output ? "out" : "rand") + ":float:1024");
    if (a.spec.extent.size() > 1)
        refuse(place, named + " is a buffer with one length, found " + std::to_string(a.spec.extent.size()));
    if (a.spec.kind == Kind::drawn && !a.spec.numbers.empty() && a.element.kind == ElementType::Kind::opaque)
        refuse(place, named + " has elements of type " + a.element.name +
                          ", which are not numbers; write rand:1024 or zero:1024");
    if (a.spec.kind == Kind::file) {
        const auto path = resolved(a.spec.path, place);
        const bool is_npy = lower(path.extension().string()) == ".npy" || a.spec.text.starts_with("npy:");
        auto bytes = read_elements(path, place, is_npy, a.element, named + " is " + kind_words(a.parameter));
        if (bytes.size() % a.element.bytes != 0)
            refuse(place, "'" + path.string() + "' has " + std::to_string(bytes.size()) +
                              " bytes, no whole number of elements of " + std::to_string(a.element.bytes) + " bytes (" +
                              a.element.name + ")");
        a.file = std::make_shared<const model::Bytes>(std::move(bytes));
    }
    if (a.spec.kind == Kind::picture) {
        if (a.element.kind == ElementType::Kind::opaque || (a.element.lanes != 1 && a.element.lanes != 4))
            refuse(place,
                   named + " is " + kind_words(a.parameter) + "; a picture fits buffers of numbers with 1 or 4 lanes");
        a.file = read_picture(load, resolved(a.spec.path, place), place, a.element).pixels;
    }
}

void Bound::bind_image(Argument& a, const LoadPicture& load) {
    const auto& place = a.spec.place;
    const auto named = "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "'";
    a.format = a.spec.type.empty() ? usual_format_ : image_format(a.spec.type, place);
    a.element = a.format.type();
    if (!a.spec.extent.empty() && a.spec.extent.size() != a.parameter.dims)
        refuse(place, named + " is " + kind_words(a.parameter) + " with " + std::to_string(a.parameter.dims) +
                          " sizes, found " + std::to_string(a.spec.extent.size()));
    if (a.spec.kind == Kind::file) refuse(place, named + " is an image; write image:FILE for a picture");
    if (a.spec.kind != Kind::picture) return;
    if (a.parameter.dims != 2 || a.parameter.is_array)
        refuse(place, named + " is " + kind_words(a.parameter) + "; a picture has 2 dimensions");
    const auto picture = read_picture(load, resolved(a.spec.path, place), place, a.element, a.format.white());
    a.width = picture.width;
    a.height = picture.height;
    a.file = picture.pixels;
}

void Bound::bind_value(Argument& a) {
    const auto& type = a.parameter.type;
    const auto& place = a.spec.place;
    const auto named = "argument '" + a.parameter.name + "' of kernel '" + signature_.name + "'";
    if (a.spec.kind == Kind::numbers) {
        if (type.kind == ElementType::Kind::opaque)
            refuse(place, named + " is of type " + type.name +
                              "; give its fields, as in {int:1, float:0.5}, or bytes:01000000");
        if (a.spec.numbers.size() != 1 && a.spec.numbers.size() != type.lanes)
            refuse(place, named + " is of type " + type.name + ", which takes " +
                              (type.lanes == 1 ? "one value" : "1 or " + std::to_string(type.lanes) + " values") +
                              "; found " + std::to_string(a.spec.numbers.size()));
        for (const auto& number : a.spec.numbers)
            if (!number.is_whole() && type.kind != ElementType::Kind::floating)
                refuse(place,
                       named + " is of type " + type.name + ", which " + cllab::quoted(a.spec.text) + " does not fit");
        return;
    }
    std::size_t bytes = a.spec.raw.size();
    if (a.spec.kind == Kind::fields) {
        std::size_t align = 1;
        bytes = 0;
        for (const auto& [name, values] : a.spec.fields) {
            const auto field = *model::builtin_type(name);
            for (const auto& number : values)
                if (!number.is_whole() && field.kind != ElementType::Kind::floating)
                    refuse(place, "a field of type " + name + " takes whole numbers; found a fraction in " +
                                      cllab::quoted(a.spec.text));
            align = std::max(align, field.bytes);
            bytes = (bytes + field.bytes - 1) / field.bytes * field.bytes + field.bytes;
        }
        bytes = (bytes + align - 1) / align * align;
    }
    if (type.bytes > 0 && bytes != type.bytes)
        refuse(place, named + " is of type " + type.name + " with " + std::to_string(type.bytes) +
                          " bytes on the device; " + cllab::quoted(a.spec.text) + " makes " + std::to_string(bytes) +
                          (type.bytes > bytes ? "; a vector of 3 lanes takes the room of 4; a field begins at a "
                                                "multiple of its size; padding is a field too (int:0 is 4 bytes)"
                                              : ""));
}

void Bound::expect(const std::string& name, const Place& place, const std::string& path, const LoadPicture& load) {
    const auto found = std::ranges::find_if(arguments_, [&](const auto& a) { return a.parameter.name == name; });
    if (found == arguments_.end()) {
        refuse(place, "kernel '" + signature_.name + "' has no argument '" + name + "'; its arguments are " +
                          join(arguments_, ", ", [](const auto& a) { return a.parameter.name; }));
    }
    const auto& p = found->parameter;
    const bool written = p.kind == Parameter::Kind::image ? p.writes : p.kind == Parameter::Kind::global && !p.is_const;
    if (!written)
        refuse(place, "argument '" + name + "' of kernel '" + signature_.name + "' is " + kind_words(p) +
                          ", which is never written");
    for (const auto& a : arguments_)
        if (a.spec.is_random())
            refuse(place, "argument '" + a.parameter.name +
                              "' is random, so no file can hold the expected result; give it a file, iota or const");
    const auto file = resolved(path, place);
    const auto extension = lower(file.extension().string());
    const auto& type = found->element;
    Expected out{file.filename().string(), {}, place};
    if (extension == ".png" || extension == ".pgm" || extension == ".jpg" || extension == ".jpeg" ||
        extension == ".bmp" || extension == ".ppm") {
        out.data = read_picture(load, file, place, type).pixels;
    } else {
        out.data = std::make_shared<const model::Bytes>(
            read_elements(file, place, extension == ".npy", type, "argument '" + name + "' is " + kind_words(p)));
    }
    expected_.emplace(name, std::move(out));
}

}  // namespace cllab::kernelfile
