// Writes a launch as a kernel file: its text with a block, and data files next to it.
#include <bit>
#include <cmath>
#include <regex>
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

/// Writes a file and adds its name to `files`.
void put(std::vector<std::string>& files, const std::string& name, const std::string& bytes) {
    files.push_back(name);
    write_file(path_of(name), std::as_bytes(std::span(bytes)));
}

std::string sizes_text(const Sizes& sizes) {
    return join(sizes, ",", [](auto size) { return std::to_string(size); });
}

/// The unit of lengths and its size in bytes: the type that a pointer points to, or bytes if that type is unknown.
std::pair<const char*, std::size_t> unit_of(const std::string& type_name) {
    const auto type = model::builtin_type(trim(type_name.substr(0, type_name.find('*'))));
    return type && type->bytes > 0 ? std::pair("", type->bytes) : std::pair("uchar:", std::size_t{1});
}

/// Empty for buffers and images. A decimal number if that gives the same bytes, else "bytes:" and hexadecimal digits.
std::string value_text(const Argument& argument, const ParameterInfo& parameter) {
    if (argument.resource) return argument.resource->sampler;
    if (parameter.is_pointer) return "null";
    const auto [unit, one] = unit_of(parameter.type);
    if (!argument.value) return concat("local:", unit, argument.size / one);
    const auto& bytes = *argument.value;
    const auto type = model::builtin_type(parameter.type);
    if (type && type->lanes == 1 && type->bytes == bytes.size()) {
        const auto unused = 64 - 8 * static_cast<int>(bytes.size());
        std::int64_t whole = 0;
        std::memcpy(&whole, bytes.data(), bytes.size());
        if (type->kind == model::ElementType::Kind::signed_integer) whole = whole << unused >> unused;
        const bool is_exact = type->is_integer() && std::abs(whole) < std::int64_t{1} << 52;
        if (is_exact || whole == 0) return std::to_string(whole);
        const double real = type->name == "float"    ? std::bit_cast<float>(static_cast<std::int32_t>(whole))
                            : type->name == "double" ? std::bit_cast<double>(whole)
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
        throw std::runtime_error(concat("kernel files do not support an image's format: channel order ",
                                        image.format->image_channel_order, ", data type CL_SNORM_INT8 + ", channel));
    return concat(order->second, from_snorm_int8[channel], ":", sizes_text(image.sizes), ":");
}

/// Writes the data files and returns the lines of the block that name them.
std::string block_of(Launch& launch, const std::string& stem, std::vector<std::string>& files) {
    std::string lines;
    const auto line = [&](const auto&... parts) { lines += concat("  ", parts..., "\n"); };
    const auto data_file = [&](const std::string& name, const char* when, const std::string& bytes) {
        put(files, concat(stem, ".", launch.index, ".", name, ".", when, ".bin"), bytes);
        return files.back();
    };
    line("only ", launch.kernel);
    line("global ", sizes_text(launch.global));
    if (!launch.local.empty()) line("local ", sizes_text(launch.local));
    if (!launch.offset.empty()) line("offset ", sizes_text(launch.offset));
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
        const auto& argument = launch.arguments[i];
        const auto& [name, type, is_written, is_pointer] = launch.parameters[i];
        if (const auto value = value_text(argument, launch.parameters[i]); !value.empty()) {
            line("arg ", name, " = ", value);
            continue;
        }
        const auto& resource = *argument.resource;
        auto& [whole, before, after, first, written] =
            *std::ranges::find(launch.held, resource.parent ? resource.parent : argument.resource, &Held::memory);
        const bool is_part = resource.parent || first.starts_with("whole_of_");
        if (!first.empty() && !is_part) line("arg ", name, " = same:", first);
        if (first.empty()) {
            first = (is_part ? "whole_of_" : "") + name;
            const auto format = whole->shared ? "svm:file:" : whole->format ? "file:" + format_of(*whole) : "file:";
            line("arg ", first, " = ", format, data_file(first, "before", before));
        }
        const auto [unit, one] = unit_of(type);
        if (is_part) line("arg ", name, " = part:", first, ":", unit, resource.origin / one, ":", resource.bytes / one);
        if (is_written && written.empty()) written = is_part ? first : name;
    }
    // The program's own results.
    for (const auto& [memory, before, after, first, name] : launch.held)
        if (!name.empty())
            line("expect ", name, " = ", before == after ? "unchanged" : data_file(name, "after", after));
    return lines;
}

/// Buffers whose elements have no fixed order: the kernel gets the index from an atomic counter.
std::string appended(const std::string& text, const Launch& launch) {
    static const std::string count = R"(atom(?:ic)?_(?:inc|add|fetch_add\w*)\s*\()";
    static const std::regex counter(R"((\w+)\s*=\s*)" + count);
    auto slots = count;
    std::vector<std::string> out;
    const auto kernels = kernels_in(text);
    const auto own = std::ranges::find(kernels, launch.kernel, &KernelText::name);
    const auto body = own == kernels.end() ? "" : text.substr(own->body, own->end - own->body);
    for (std::sregex_iterator one(body.begin(), body.end(), counter), end; one != end; ++one)
        slots += "|" + (*one)[1].str() + "\\b";
    for (const auto& parameter : launch.parameters)
        if (const std::regex store("\\b" + parameter.name + R"(\s*\[[^=;]*\b(?:)" + slots +
                                   R"()[^=;]*\][\w.\s]*=(?!=))");
            parameter.is_written && std::regex_search(body, store))
            out.push_back(parameter.name);
    return join(out, ", ");
}

/// Removes -I from the options and returns the folders. The kernel file contains the included text.
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
    if (!is_text) write_file(path_of(stem + ".cllab"), std::as_bytes(std::span(lines)));
    put(files, stem + ".part", is_text ? "/*cllab\n" + lines + "*/\n" + text : text);
    fs::rename(path_of(files.back()), path_of(stem + program.ending));
    files.back() = stem + program.ending;
}

}  // namespace cllab::capture
