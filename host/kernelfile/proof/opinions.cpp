#include "kernelfile/proof/opinions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>

#include "core/hash.hpp"
#include "core/reading.hpp"
#include "core/table.hpp"
#include "core/text.hpp"
#include "kernelfile/data/data.hpp"

namespace cllab::kernelfile {
namespace {

namespace fs = std::filesystem;
using model::ElementType;

constexpr const char *trouble_file = "trouble", *remark_file = "remark";
constexpr const char* result_prefix = "result.";  // no argument's name has a dot

std::string read(const fs::path& path) { return cllab::read_file(path).value_or(std::string()); }

void write(const fs::path& path, std::string_view text) { cllab::write_file(path, std::as_bytes(std::span(text))); }

std::string_view text_of(const model::Bytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whole when it is there, as other processes look for it.
void publish(const fs::path& folder, const std::function<void(const fs::path& part)>& fill) {
    auto part = folder;
    part += ".part";
    fs::create_directories(part);
    fill(part);
    fs::rename(part, folder);
}

/// As numpy calls them, in the order of the enumeration: what is no number there is bits.
constexpr std::array kind_names{"int", "uint", "float", "uint", "uint", "uint"};
const char* kind_name(const ElementType& type) { return name_in(kind_names, type.kind); }

std::size_t bytes_of_one(const ElementType& type) { return type.is_opaque() ? 1 : type.lane_bytes; }

/// '<f4'
std::string descr_of(const ElementType& type) {
    const auto bytes = bytes_of_one(type);
    const char order = bytes == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return concat(order, *kind_name(type), bytes);
}

std::string type_name(const ElementType& type) { return concat(kind_name(type), 8 * bytes_of_one(type)); }

std::size_t elements(const std::vector<std::size_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

}  // namespace

bool Opinions::has_answers() const {
    std::error_code ignored;
    return !folder_.empty() && fs::exists(folder_ / "answers", ignored);
}

std::optional<Answer> Opinions::answer(const std::string& key) const {
    const auto folder = folder_ / "answers" / key;
    std::error_code ignored;
    if (folder_.empty() || !fs::exists(folder, ignored)) return std::nullopt;
    Answer out{{}, read(folder / trouble_file), read(folder / remark_file)};
    for (const auto& entry : fs::directory_iterator(folder)) {
        const auto name = entry.path().filename().string();
        if (!name.starts_with(result_prefix)) continue;
        const auto text = read(entry.path());
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        out.contents.emplace(name.substr(std::strlen(result_prefix)), model::Bytes(bytes, bytes + text.size()));
    }
    return out;
}

void Opinions::keep(const std::string& key, const Answer& answer) const {
    publish(folder_ / "answers" / key, [&](const fs::path& part) {
        if (!answer.trouble.empty()) write(part / trouble_file, answer.trouble);
        if (!answer.remark.empty()) write(part / remark_file, answer.remark);
        for (const auto& [name, bytes] : answer.contents) write(part / (result_prefix + name), text_of(bytes));
    });
}

std::optional<Agreement> Opinions::agreement(const std::string& key) const {
    const auto file = folder_ / "agreements" / sha256_hex(key) / "said";
    std::error_code ignored;
    if (folder_.empty() || !fs::exists(file, ignored)) return std::nullopt;
    const auto lines = split(read(file), '\n');
    return Agreement{static_cast<Agreement::Kind>(lines.at(0).at(0) - '0'), lines.at(1), lines.at(2)};
}

void Opinions::keep(const std::string& key, const Agreement& agreement) const {
    publish(folder_ / "agreements" / sha256_hex(key), [&](const fs::path& part) {
        write(part / "said", std::to_string(static_cast<int>(agreement.kind)) + "\n" + one_line(agreement.device) +
                                 "\n" + one_line(agreement.sentence));
    });
}

std::string key_of(const std::vector<ArgumentArray>& arguments) {
    std::string all;
    for (const auto& a : arguments) {
        all += a.name + " " + descr_of(a.element) + shape_text(a.shape) + (a.comes_out ? "out " : " ");
        if (a.data) all += sha256_hex(text_of(*a.data));
        all += "\n";
    }
    return sha256_hex(all);
}

model::Bytes npy_of(const ArgumentArray& argument, const model::Bytes& data) {
    std::string header = "{'descr': '" + descr_of(argument.element) +
                         "', 'fortran_order': False, 'shape': " + shape_text(argument.shape) + ", }";
    constexpr std::size_t before = 10, align = 64;  // the header's end is where the data begins, aligned
    header.resize((before + header.size() + 1 + align - 1) / align * align - before - 1, ' ');
    header += '\n';
    std::string out("\x93NUMPY\x01\x00", 8);
    out += static_cast<char>(header.size() & 0xff);
    out += static_cast<char>(header.size() >> 8);
    out += header;
    model::Bytes file(out.size() + data.size());
    std::memcpy(file.data(), out.data(), out.size());
    std::ranges::copy(data, file.begin() + static_cast<std::ptrdiff_t>(out.size()));
    return file;
}

model::Bytes read_result(const fs::path& path, const ArgumentArray& like, const std::string& whose) {
    const auto name = path.filename().string();
    const Place place{whose, 0, 0};
    auto array = read_npy(read_bytes(path, place), name, place);
    const bool fit =
        like.element.is_opaque() ? array.type == "uchar" || array.type == "char" : fits(array, like.element);
    if (!fit)
        refuse(place, "'", name, "' holds ", type_name(*model::builtin_type(array.type)), ", the kernel's '", like.name,
               "' ", type_name(like.element), "; save it with .astype('", type_name(like.element), "')");
    if (elements(array.shape) != elements(like.shape))
        refuse(place, "'", name, "' has the shape ", shape_text(array.shape), ", the kernel's '", like.name, "' ",
               shape_text(like.shape));
    return std::move(array.data);
}

}  // namespace cllab::kernelfile
