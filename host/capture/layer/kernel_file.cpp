// A launch as a kernel file: its text with a block, and its data beside it.
#include <cmath>
#include <regex>
#include <set>
#include <span>

#include "capture/layer/objects.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/units.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::capture {
namespace {

namespace fs = std::filesystem;

fs::path path_of(const std::string& name) { return fs::path(asked_for.folder) / name; }

void put(const std::string& name, const std::string& bytes) {
    write_file(path_of(name), std::as_bytes(std::span(bytes)));
}

std::string sizes_text(const Sizes& sizes) {
    return join(sizes, ",", [](auto size) { return std::to_string(size); });
}

template <class Number>
Number number_of(const std::string& bytes) {
    Number out{};
    std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof out));
    return out;
}

/// Bytes of the type that a pointer points to; 1 if the type is unknown.
std::size_t element_bytes(const std::string& type_name) {
    const auto type = model::builtin_type(trim(type_name.substr(0, type_name.find('*'))));
    return type && type->bytes > 0 ? type->bytes : 1;
}

/// Empty for buffers and images. A decimal number if that gives the same bytes, else "bytes:" and hexadecimal digits.
std::string value_text(const Argument& argument, const std::string& type_name) {
    if (argument.resource) return argument.resource->sampler;
    if (!argument.value) return concat("local:", argument.size / element_bytes(type_name));
    const auto& bytes = *argument.value;
    const auto type = model::builtin_type(type_name);
    if (type && type->lanes == 1 && type->bytes == bytes.size()) {
        const auto unused = 64 - 8 * static_cast<int>(bytes.size());
        auto whole = number_of<std::int64_t>(bytes);
        if (type->kind == model::ElementType::Kind::signed_integer) whole = whole << unused >> unused;
        const bool is_exact = type->is_integer() && std::abs(whole) < std::int64_t{1} << 52;
        if (is_exact || whole == 0) return std::to_string(whole);
        const double real = type->name == "float"    ? number_of<float>(bytes)
                            : type->name == "double" ? number_of<double>(bytes)
                                                     : 0;
        if (real != 0 && std::isfinite(real)) return format_exact(real);
    }
    std::string out = "bytes:";
    for (const unsigned char byte : bytes) out += "0123456789abcdef"[byte >> 4], out += "0123456789abcdef"[byte & 15];
    return out;
}

/// The format and sizes of an image in the syntax of kernel files: "rgba32f:640,480:".
std::string format_of(const Resource& image) {
    static const std::map<cl_channel_order, const char*> orders{
        {CL_R, "r"}, {CL_INTENSITY, "r"}, {CL_RG, "rg"}, {CL_RGBA, "rgba"}, {CL_BGRA, "bgra"}, {CL_DEPTH, "depth"}};
    static constexpr const char* from_snorm_int8[]{"8s",  "16s", "8",   "16",   "",     "",    "",   "8i",
                                                   "16i", "32i", "8ui", "16ui", "32ui", "16f", "32f"};
    const auto order = orders.find(image.format->image_channel_order);
    const auto channel = image.format->image_channel_data_type - CL_SNORM_INT8;
    if (order == orders.end() || channel >= std::size(from_snorm_int8) || !*from_snorm_int8[channel])
        throw std::runtime_error("an image has a format that kernel files lack");
    return concat(order->second, from_snorm_int8[channel], ":", sizes_text(image.sizes), ":");
}

/// Writes the data files and returns the lines of the block that name them.
std::string block_of(Launch& launch, const std::string& stem, std::vector<std::string>& files) {
    std::string lines;
    const auto line = [&](const auto&... parts) { lines += concat("  ", parts..., "\n"); };
    const auto data_file = [&](const std::string& name, const char* when, const std::string& bytes) {
        files.push_back(concat(stem, ".", launch.index, ".", name, ".", when, ".bin"));
        put(files.back(), bytes);
        return files.back();
    };
    line("only ", launch.kernel);
    line("global ", sizes_text(launch.global));
    if (!launch.local.empty()) line("local ", sizes_text(launch.local));
    if (!launch.offset.empty()) line("offset ", sizes_text(launch.offset));
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const auto& argument = launch.arguments[i];
        const auto& [name, type, is_read, is_written, is_global] = launch.parameters[i];
        if (const auto value = value_text(argument, type); !value.empty()) {
            line("arg ", name, " = ", value);
            continue;
        }
        const auto& resource = *argument.resource;
        auto& [whole, before, after, first, written] =
            *std::ranges::find(launch.held, resource.parent ? resource.parent : argument.resource, &Held::memory);
        const auto format = whole->format ? format_of(*whole) : "";
        if (!first.empty() && !resource.parent) line("arg ", name, " = same:", first);
        if (first.empty()) {
            first = (resource.parent ? "whole_of_" : "") + name;
            line("arg ", first, " = ",
                 is_read ? "file:" + format + data_file(first, "before", before)
                         : "out:" + format.substr(0, format.rfind(':')));
        }
        const auto one = element_bytes(type);
        if (resource.parent)
            line("arg ", name, " = part:", first, ":", resource.origin / one, ":", resource.bytes / one);
        if (is_written && written.empty()) written = resource.parent ? first : name;
    }
    // The program's own results.
    for (const auto& [memory, before, after, first, name] : launch.held)
        if (!name.empty())
            line("expect ", name, " = ",
                 before == after && !memory->format ? "unchanged" : data_file(name, "after", after));
    return lines;
}

/// Buffers whose elements have no fixed order: the kernel picks the slot by an atomic counter.
std::string appended(const std::string& text, const Launch& launch) {
    static const std::regex counter(R"((\w+)\s*=\s*atom(?:ic)?_(?:inc|add)\s*\()");
    std::set<std::string> out;
    const auto kernels = kernels_in(text);
    const auto own = std::ranges::find(kernels, launch.kernel, &KernelText::name);
    const auto body = own == kernels.end() ? "" : text.substr(own->body, own->end - own->body);
    for (std::sregex_iterator one(body.begin(), body.end(), counter), end; one != end; ++one)
        for (const auto& parameter : launch.parameters)
            if (const std::regex store("\\b" + parameter.name + R"(\s*\[[^\]=]*\b)" + (*one)[1].str() +
                                       R"(\b[^\]=]*\][\w.\s]*=)");
                parameter.is_written && std::regex_search(body, store))
                out.insert(parameter.name);
    return join({out.begin(), out.end()}, ", ");
}

/// Removes -I from the options and returns the folders. The kernel file has the included text in place.
std::vector<fs::path> take_folders(std::string& options) {
    static const std::regex folder(R"re((?:^|\s)-I\s*("[^"]*"|'[^']*'|\S+))re");
    std::vector<fs::path> out{""};
    for (std::sregex_iterator one(options.begin(), options.end(), folder), end; one != end; ++one) {
        auto path = (*one)[1].str();
        std::erase_if(path, [](char c) { return c == '"' || c == '\''; });
        out.emplace_back(path);
    }
    options = trim(std::regex_replace(options, folder, ""));
    return out;
}

std::string whole_text(const Program& program, const std::vector<fs::path>& folders) {
    const auto find = [&](const std::string& name, const std::string& includer) -> std::optional<IncludedFile> {
        if (const auto header = program.headers.find(name); header != program.headers.end())
            return IncludedFile{name, header->second};
        auto places = folders;
        places.insert(places.begin(), fs::path(includer).parent_path());
        for (const auto& folder : places)
            if (auto read = cllab::read_file(folder / name)) return IncludedFile{(folder / name).string(), *read};
        return std::nullopt;
    };
    return closure_of("", program.bytes, find).text;
}

}  // namespace

void remove_files(const std::vector<std::string>& names) {
    std::error_code ignored;
    for (const auto& name : names) fs::remove(path_of(name), ignored);
}

void write_kernel_file(Launch& launch, const std::string& stem, std::vector<std::string>& files) {
    const auto& program = *launch.program;
    const bool is_text = program.ending == ".cl";
    auto options = program.options;
    const auto folders = take_folders(options);
    auto lines = block_of(launch, stem, files);
    if (!options.empty()) lines += "  options " + options + "\n";
    const auto text = is_text ? whole_text(program, folders) : program.bytes;
    if (const auto names = is_text ? appended(text, launch) : ""; !names.empty())
        lines += "  relation any order of " + names + "\n";
    if (!is_text) put(stem + ".cllab", lines);
    files.push_back(stem + ".part");
    put(files.back(), is_text ? "/*cllab\n" + lines + "*/\n" + text : text);
    fs::rename(path_of(files.back()), path_of(stem + program.ending));
    files.back() = stem + program.ending;
}

}  // namespace cllab::capture
