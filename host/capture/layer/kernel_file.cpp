
// A launch as a kernel file: its text with a block, and its data beside it.
#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <span>

#include "capture/layer/snapshot.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/kernel_signature.hpp"

namespace cllab::capture {
namespace {

namespace fs = std::filesystem;

fs::path path_of(const std::string& name) { return fs::path(settings.folder) / name; }

void put(const std::string& name, const std::string& bytes) {
    write_file(path_of(name), std::as_bytes(std::span(bytes)));
}

std::string sizes_text(const std::vector<std::size_t>& sizes) {
    return join(sizes, ",", [](auto size) { return std::to_string(size); });
}

std::string hexadecimal(const std::string& bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    for (const unsigned char byte : bytes) out += digits[byte >> 4], out += digits[byte & 15];
    return out;
}

/// As a number where people would write one and it comes out the same, else by its bytes.
std::string value_text(const std::string& bytes, const std::string& type_name) {
    const auto type = model::builtin_type(type_name);
    const auto otherwise = "bytes:" + hexadecimal(bytes);
    if (!type || type->lanes != 1 || type->bytes != bytes.size()) return otherwise;
    if (type->is_integer()) {
        std::int64_t number = 0;
        std::memcpy(&number, bytes.data(), bytes.size());
        const auto unused = 64 - 8 * bytes.size();
        if (type->kind == model::ElementType::Kind::signed_integer) number = number << unused >> unused;
        return std::abs(number) < std::int64_t{1} << 52 ? std::to_string(number) : otherwise;
    }
    float single = 0;
    double number = 0;
    if (type->name == "float") std::memcpy(&single, bytes.data(), sizeof single), number = single;
    if (type->name == "double") std::memcpy(&number, bytes.data(), sizeof number);
    return number > 0 && std::isfinite(number) ? format_exact(number) : otherwise;
}

/// Of an element of what a pointer points to; 1 where that is unknown.
std::size_t element_bytes(const std::string& type_name) {
    const auto type = model::builtin_type(trim(type_name.substr(0, type_name.find('*'))));
    return type && type->bytes > 0 ? type->bytes : 1;
}

/// As kernel files name it, "rgba32f".
std::string format_of(const cl_image_format& format) {
    static const std::map<cl_channel_order, const char*> orders{
        {CL_R, "r"}, {CL_INTENSITY, "r"}, {CL_RG, "rg"}, {CL_RGBA, "rgba"}, {CL_BGRA, "bgra"}, {CL_DEPTH, "depth"}};
    static const std::map<cl_channel_type, const char*> channels{
        {CL_UNORM_INT8, "8"},        {CL_UNORM_INT16, "16"},      {CL_SNORM_INT8, "8s"},    {CL_SNORM_INT16, "16s"},
        {CL_SIGNED_INT8, "8i"},      {CL_SIGNED_INT16, "16i"},    {CL_SIGNED_INT32, "32i"}, {CL_UNSIGNED_INT8, "8ui"},
        {CL_UNSIGNED_INT16, "16ui"}, {CL_UNSIGNED_INT32, "32ui"}, {CL_HALF_FLOAT, "16f"},   {CL_FLOAT, "32f"}};
    const auto order = orders.find(format.image_channel_order);
    const auto channel = channels.find(format.image_channel_data_type);
    if (order == orders.end() || channel == channels.end())
        throw std::runtime_error("an image has a format that kernel files lack");
    return std::string(order->second) + channel->second;
}

std::string sampler_text(const Sampler& sampler) {
    static const std::map<cl_addressing_mode, const char*> outside{{CL_ADDRESS_CLAMP_TO_EDGE, "edge"},
                                                                   {CL_ADDRESS_CLAMP, "zero"},
                                                                   {CL_ADDRESS_REPEAT, "repeat"},
                                                                   {CL_ADDRESS_MIRRORED_REPEAT, "mirror"}};
    const auto found = outside.find(sampler.addressing);
    return concat("sampler:", sampler.filter == CL_FILTER_LINEAR ? "linear," : "nearest,",
                  found == outside.end() ? "none" : found->second, sampler.normalized ? ",normalized" : ",pixel");
}

/// The lines of the block, and the data files that they name, which it writes.
class Block {
public:
    Block(const Launch& launch, std::string stem, std::vector<std::string>& files)
        : launch_(launch), stem_(std::move(stem)), files_(files), names_(launch.held.size()) {
        line("only " + launch.kernel);
        line("global " + sizes_text(launch.global));
        if (!launch.local.empty()) line("local " + sizes_text(launch.local));
        if (!launch.offset.empty()) line("offset " + sizes_text(launch.offset));
        for (std::size_t i = 0; i < launch.arguments.size(); ++i) add(launch.arguments[i], launch.parameters[i]);
        for (std::size_t i = 0; i < launch.held.size(); ++i) expect(launch.held[i], names_[i].written);
    }
    std::string lines;

private:
    /// What a buffer is called: as its first argument, and as the first that may write. A whole, whose parts are
    /// arguments, has a name of its own.
    struct Names {
        std::string first, written;
    };

    void line(const std::string& text) { lines += "  " + text + "\n"; }

    std::string data_file(const std::string& name, const char* when, const std::string& bytes) {
        files_.push_back(concat(stem_, name, ".", when, ".bin"));
        put(files_.back(), bytes);
        return files_.back();
    }

    void add(const Argument& argument, const ParameterInfo& parameter) {
        const auto begin = "arg " + parameter.name + " = ";
        if (argument.memory)
            add_memory(*argument.memory, parameter);
        else if (argument.sampler)
            line(begin + sampler_text(*argument.sampler));
        else if (argument.value)
            line(begin + value_text(*argument.value, parameter.type));
        else
            line(begin + "local:" + std::to_string(argument.size / element_bytes(parameter.type)));
    }

    void add_memory(const Memory& memory, const ParameterInfo& parameter) {
        const auto& whole = memory.parent ? *memory.parent : memory;
        std::size_t at = 0;
        while (launch_.held[at].memory.get() != &whole) ++at;
        const auto& before = launch_.held[at].before;
        auto& names = names_[at];
        const auto begin = "arg " + parameter.name + " = ";
        const bool is_first = names.first.empty();
        if (is_first) names.first = (memory.parent ? "whole_of_" : "") + parameter.name;
        const auto image = memory.is_image() ? format_of(memory.format) + ":" + sizes_text(memory.sizes) : "";
        if (is_first && parameter.access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY)
            line(begin + "out:" + image);
        else if (is_first)
            line("arg " + names.first + " = file:" + image + (image.empty() ? "" : ":") +
                 data_file(names.first, "before", before));
        else if (!memory.parent)
            line(begin + "same:" + names.first);
        const auto one = element_bytes(parameter.type);
        if (memory.parent) line(concat(begin, "part:", names.first, ":", memory.origin / one, ":", memory.bytes / one));
        const bool writes = memory.is_image() ? parameter.access >= CL_KERNEL_ARG_ACCESS_WRITE_ONLY &&
                                                    parameter.access <= CL_KERNEL_ARG_ACCESS_READ_WRITE
                                              : !(parameter.qualifier & CL_KERNEL_ARG_TYPE_CONST) &&
                                                    parameter.space == CL_KERNEL_ARG_ADDRESS_GLOBAL;
        if (writes && names.written.empty()) names.written = memory.parent ? names.first : parameter.name;
    }

    /// What the program itself got.
    void expect(const Held& held, const std::string& name) {
        if (!name.empty())
            line("expect " + name + " = " +
                 (held.before == held.after && !held.memory->is_image() ? "unchanged"
                                                                        : data_file(name, "after", held.after)));
    }

    const Launch& launch_;
    std::string stem_;
    std::vector<std::string>& files_;
    std::vector<Names> names_;
};

/// The program's folders of includes are no part of the file: its text has what they hold in their place.
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

std::string whole_text(const std::string& text, const std::vector<fs::path>& folders) {
    const auto find = [&](const std::string& name, const std::string& includer) -> std::optional<IncludedFile> {
        auto places = folders;
        places.insert(places.begin(), fs::path(includer).parent_path());
        for (const auto& folder : places)
            if (auto read = cllab::read_file(folder / name)) return IncludedFile{(folder / name).string(), *read};
        return std::nullopt;
    };
    return closure_of("", text, find).text;
}

}  // namespace

void remove_files(const std::vector<std::string>& names) {
    std::error_code ignored;
    for (const auto& name : names) fs::remove(path_of(name), ignored);
}

std::vector<std::string> write_kernel_file(const Launch& launch, const std::string& stem) {
    const auto& program = *launch.program;
    const bool is_text = program.form == Program::Form::text;
    auto options = program.options;
    const auto folders = take_folders(options);
    const auto part = stem + ".part";
    std::vector<std::string> files{stem + (is_text ? ".cl" : program.form == Program::Form::spirv ? ".spv" : ".bin")};
    try {
        auto lines = Block(launch, concat(stem, ".", launch.index, "."), files).lines;
        if (!options.empty()) lines += "  options " + options + "\n";
        if (!is_text) put(stem + ".cllab", lines);
        put(part, is_text ? "/*cllab\n" + lines + "*/\n" + whole_text(program.bytes, folders) : program.bytes);
        fs::rename(path_of(part), path_of(files.front()));
    } catch (...) {
        remove_files({files.begin() + 1, files.end()});
        remove_files({part});
        throw;
    }
    return files;
}

}  // namespace cllab::capture
