#include "device/spirv.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "core/kernel_text.hpp"
#include "core/text.hpp"

namespace cllab::device {
namespace {

using model::ElementType;
using model::Parameter;
using Words = std::span<const std::uint32_t>;

// Numbers from the SPIR-V specification.
enum Op : std::uint16_t {
    op_name = 5,
    op_string = 7,
    op_entry_point = 15,
    op_execution_mode = 16,
    op_type_int = 21,
    op_type_float = 22,
    op_type_vector = 23,
    op_type_image = 25,
    op_type_sampler = 26,
    op_type_array = 28,
    op_type_struct = 30,
    op_type_pointer = 32,
    op_type_pipe = 38,
    op_constant = 43,
    op_function = 54,
    op_function_parameter = 55,
    op_function_end = 56,
    op_decorate = 71
};
enum : std::uint32_t {
    model_kernel = 6,
    mode_local_size = 17,
    storage_constant = 0,
    storage_workgroup = 4,
    storage_global = 5,
    decoration_parameter = 38,
    attribute_no_write = 6,
    dim_buffer = 5
};
constexpr std::size_t header_words = 5;

/// The text that begins at word `at`.
std::string text_at(Words words, std::size_t at) {
    if (at >= words.size()) return {};
    const auto* begin = reinterpret_cast<const char*>(words.data() + at);
    return {begin, strnlen(begin, (words.size() - at) * sizeof(std::uint32_t))};
}

std::uint32_t word(Words words, std::size_t at) { return at < words.size() ? words[at] : 0; }

/// The type or constant with an id.
struct Definition {
    std::uint16_t op = 0;
    Words operands{};  ///< without the id itself
    ElementType type{"void"};
    std::size_t alignment = 0;
};

bool is_name(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, in_name) && !(text.front() >= '0' && text.front() <= '9');
}

class Reader {
public:
    explicit Reader(std::string_view bytes) : words_(bytes.size() / sizeof(std::uint32_t)) {
        std::memcpy(words_.data(), bytes.data(), words_.size() * sizeof(std::uint32_t));
    }

    SpirvModule read(std::size_t bytes) {
        SpirvModule out;
        const auto trouble = go_through(bytes);
        if (!trouble.empty()) return {trouble, {}};
        for (const auto& [id, name] : entries_) {
            if (!is_name(name))
                return {"has a kernel with the name " + cllab::quoted(name) + ", which is not a name in OpenCL C", {}};
            model::KernelSignature kernel{name, {}, groups_[id]};
            const auto types = written(name, "kernel_arg_type."), qualifiers = written(name, "kernel_arg_type_qual.");
            const auto& parameters = functions_[id];
            for (std::size_t i = 0; i < parameters.size(); ++i)
                kernel.parameters.push_back(parameter(parameters[i], i, i < types.size() ? types[i] : "",
                                                      i < qualifiers.size() ? qualifiers[i] : ""));
            out.kernels.push_back(std::move(kernel));
        }
        if (out.kernels.empty()) out.fault = "has no kernel: no entry point is of the execution model Kernel";
        return out;
    }

private:
    struct Given {
        std::uint32_t type = 0, id = 0;
    };

    std::string go_through(std::size_t bytes) {
        const Words all(words_);
        if (bytes % sizeof(std::uint32_t) != 0 || all.size() < header_words)
            return concat("is cut short: it has ", bytes, " bytes, which are not whole words with a header");
        std::uint32_t function = 0;
        for (std::size_t at = header_words; at < all.size();) {
            const std::size_t count = all[at] >> 16;
            if (count == 0 || count > all.size() - at)
                return concat("is cut short or damaged: the instruction at byte ", at * sizeof(std::uint32_t), " has ",
                              count, " words, and ", all.size() - at, " are left");
            take(static_cast<std::uint16_t>(all[at] & 0xffff), all.subspan(at + 1, count - 1), function);
            at += count;
        }
        if (function != 0) return "is cut short: its last function has no end";
        return {};
    }

    void take(std::uint16_t op, Words operands, std::uint32_t& function) {
        const auto first = word(operands, 0), second = word(operands, 1), third = word(operands, 2);
        if (op == op_name) names_[first] = text_at(operands, 1);
        if (op == op_string) strings_.push_back(text_at(operands, 1));
        if (op == op_entry_point && first == model_kernel) entries_[second] = text_at(operands, 2);
        if (op == op_execution_mode && second == mode_local_size)
            groups_[first] = {third, word(operands, 3), word(operands, 4)};
        if (op == op_decorate && second == decoration_parameter && third == attribute_no_write) no_write_.insert(first);
        if (op == op_constant) said_[second] = {op, operands.subspan(std::min<std::size_t>(2, operands.size()))};
        if (op >= op_type_int && op <= op_type_pipe && !operands.empty())
            said_[first] = type_of(op, operands.subspan(1), names_[first]);
        if (op == op_function) function = second;
        if (op == op_function_end) function = 0;
        if (op == op_function_parameter) functions_[function].push_back({first, second});
    }

    /// "float*", "int" for each argument, as compilers from OpenCL C store it in the module; empty if it is missing.
    std::vector<std::string> written(const std::string& kernel, const std::string& what) const {
        const auto begin = what + kernel + ".";
        const auto found = std::ranges::find_if(strings_, [&](const auto& s) { return s.starts_with(begin); });
        return found == strings_.end() ? std::vector<std::string>{} : split(found->substr(begin.size()), ',');
    }

    Definition said_of(std::uint32_t id) const {
        const auto found = said_.find(id);
        return found == said_.end() ? Definition{} : found->second;
    }

    /// The types that a type consists of precede it. Its size follows C's layout; 0 if that is unknown.
    Definition type_of(std::uint16_t op, Words operands, std::string name) const {
        constexpr std::size_t most_bytes = std::size_t{1} << 40;
        const auto first = word(operands, 0), second = word(operands, 1);
        Definition out{op, operands};
        if (name.starts_with("struct.")) name = name.substr(7);
        if (op == op_type_struct || op == op_type_array) out.type.name = is_name(name) ? name : "struct";
        std::size_t end = 0;
        if (op == op_type_int || op == op_type_float || op == op_type_vector) {
            const auto lanes = op == op_type_vector ? std::to_string(second) : "";
            const std::string scalar = op == op_type_int     ? first == 8    ? "uchar"
                                                               : first == 16 ? "ushort"
                                                               : first == 32 ? "uint"
                                                                             : "ulong"
                                       : op == op_type_float ? first == 16   ? "half"
                                                               : first == 32 ? "float"
                                                                             : "double"
                                                             : said_of(first).type.name;
            out.type = model::builtin_type(scalar + lanes).value_or(out.type);
            out.alignment = out.type.bytes;
        } else if (op == op_type_array) {
            const auto of = said_of(first);
            end = of.type.bytes * word(said_of(second).operands, 0);
            out.alignment = of.alignment;
        } else if (op == op_type_struct) {
            for (const auto member : operands) {
                const auto of = said_of(member);
                if (of.type.bytes == 0) return out;
                end = (end + of.alignment - 1) / of.alignment * of.alignment + of.type.bytes;
                out.alignment = std::max(out.alignment, of.alignment);
            }
            if (out.alignment > 0) end = (end + out.alignment - 1) / out.alignment * out.alignment;
        }
        if (end > 0 && end <= most_bytes) out.type.bytes = out.type.lane_bytes = end;
        return out;
    }

    Parameter image(Parameter out, Words operands) const {
        // Sampled type, dimensions, depth, arrayed, multisampled, sampled, format, access.
        const auto dim = word(operands, 1), access = word(operands, 7);
        const bool depth = word(operands, 2) == 1;
        out.is_array = word(operands, 3) == 1;
        out.kind = Parameter::Kind::image;
        out.dims = (dim == dim_buffer ? 1 : dim + 1) + (out.is_array ? 1 : 0);
        out.type.name = dim == dim_buffer
                            ? "image1d_buffer_t"
                            : concat("image", dim + 1, "d", out.is_array ? "_array" : "", depth ? "_depth" : "", "_t");
        out.writes = access != 0;
        out.reads_too = access == 2;
        if (out.dims > 3 || (dim > 2 && dim != dim_buffer))
            out.kind = Parameter::Kind::refused, out.refusal = "an image of a kind of its own";
        return out;
    }

    Parameter parameter(const Given& given, std::size_t index, const std::string& type,
                        const std::string& qualifiers) const {
        Parameter out;
        const auto name = names_.find(given.id);
        out.name = name != names_.end() && is_name(name->second) ? name->second : "arg" + std::to_string(index);
        const auto [op, operands, own, alignment] = said_of(given.type);
        if (op == op_type_image) return image(out, operands);
        if (op == op_type_sampler) return out.kind = Parameter::Kind::sampler, out;
        const bool is_pointer = op == op_type_pointer;
        if (is_pointer) {
            const auto storage = word(operands, 0);
            out.kind = storage == storage_global      ? Parameter::Kind::global
                       : storage == storage_constant  ? Parameter::Kind::constant
                       : storage == storage_workgroup ? Parameter::Kind::local
                                                      : Parameter::Kind::value;  // a struct
        }
        out.type = is_pointer ? said_of(word(operands, 1)).type : own;
        if (const auto written = model::builtin_type(trim(type.substr(0, type.find('*'))))) out.type = *written;
        out.is_const = out.kind == Parameter::Kind::constant || no_write_.count(given.id) != 0 ||
                       qualifiers.find("const") != std::string::npos;
        if (out.kind == Parameter::Kind::value && out.type.bytes == 0)
            out.kind = Parameter::Kind::refused, out.refusal = "of a type that no buffer and no value has";
        return out;
    }

    std::vector<std::uint32_t> words_;
    std::map<std::uint32_t, std::string> names_, entries_;
    std::map<std::uint32_t, std::array<std::size_t, 3>> groups_;
    std::set<std::uint32_t> no_write_;
    std::map<std::uint32_t, Definition> said_;
    std::map<std::uint32_t, std::vector<Given>> functions_;
    std::vector<std::string> strings_;
};

/// `text`: ".param .u64 .ptr .global .align 4 k_param_0" or ".param .align 8 .b8 k_param_1[16]".
Parameter parameter_of_ptx(const std::string& text, std::size_t index) {
    static const std::map<std::string, std::string, std::less<>> types{
        {".u8", "uchar"},   {".s8", "char"},   {".b8", "uchar"}, {".u16", "ushort"}, {".s16", "short"},
        {".b16", "ushort"}, {".u32", "uint"},  {".s32", "int"},  {".b32", "uint"},   {".u64", "ulong"},
        {".s64", "long"},   {".b64", "ulong"}, {".f16", "half"}, {".f32", "float"},  {".f64", "double"}};
    Parameter out;
    out.name = "arg" + std::to_string(index);
    bool is_pointer = false;
    for (const auto& one : split(text, ' ')) {
        if (const auto known = types.find(one); known != types.end()) out.type = *model::builtin_type(known->second);
        is_pointer = is_pointer || one == ".ptr";
        if (one == ".global") out.kind = Parameter::Kind::global;
        if (one == ".const") out.kind = Parameter::Kind::constant;
        if (one == ".shared") out.kind = Parameter::Kind::local;
    }
    if (is_pointer) out.type = ElementType{"void"};
    if (const auto open = text.find('['); open != std::string::npos) {
        out.type = ElementType{"struct"};
        out.type.bytes = out.type.lane_bytes = std::strtoull(text.c_str() + open + 1, nullptr, 10);
    }
    return out;
}

std::vector<model::KernelSignature> kernels_of_ptx(std::string_view with_comments) {
    std::vector<model::KernelSignature> out;
    constexpr std::string_view word = ".entry ";
    const auto text = without_comments(with_comments);
    for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const auto open = text.find_first_of("({", at);
        if (open == text.npos) break;
        const auto name = trim(text.substr(at + word.size(), open - at - word.size()));
        if (!is_name(name)) continue;
        auto& kernel = out.emplace_back(model::KernelSignature{name, {}});
        if (text[open] == '{') continue;
        std::string inside(text.substr(open + 1, text.find(')', open) - open - 1));
        std::ranges::replace_if(
            inside, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
        if (trim(inside).empty()) continue;
        for (const auto& parameter : split(inside, ','))
            kernel.parameters.push_back(parameter_of_ptx(parameter, kernel.parameters.size()));
    }
    return out;
}

}  // namespace

SpirvModule read_spirv(std::string_view bytes) {
    if (!is_spirv(bytes)) return {"does not begin with the number of SPIR-V, 03 02 23 07", {}};
    return Reader(bytes).read(bytes.size());
}

std::optional<model::Introspection> kernels_of_program(const std::string& text) {
    const auto program = program_of_text(text);
    if (program && is_spirv(*program)) return model::Introspection{true, {}, {}, read_spirv(*program).kernels};
    if (program && is_ptx(*program)) return model::Introspection{true, {}, {}, kernels_of_ptx(*program)};
    return std::nullopt;
}

}  // namespace cllab::device
