#include "kernelfile/data/data.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "kernelfile/data/lane_type.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using ElementKind = ElementType::Kind;

/// The address of the `bytes` low-order bytes of the word.
std::byte* low_end(std::uint64_t& word, std::size_t bytes) {
    const bool last = std::endian::native == std::endian::big;
    return reinterpret_cast<std::byte*>(&word) + (last ? sizeof word - bytes : 0);
}

/// The value of 'key' in the header's Python literal, from its colon to the next comma outside parentheses.
std::string header_value(const std::string& header, const std::string& key) {
    auto at = header.find("'" + key + "'");
    if (at == std::string::npos) return {};
    at = header.find(':', at);
    if (at == std::string::npos) return {};
    std::string out;
    int open = 0;
    for (++at; at < header.size(); ++at) {
        const char c = header[at];
        if (c == '(') ++open;
        if (c == ')') --open;
        if ((c == ',' || c == '}') && open == 0) break;
        out += c;
    }
    return trim(out);
}

model::Bytes as_pixels(const model::Loaded& picture, const ElementType& type, std::int64_t white) {
    const auto pixels = picture.width * picture.height;
    model::Bytes out(pixels * type.bytes);
    for (std::size_t i = 0; i < pixels; ++i)
        for (std::size_t lane = 0; lane < type.lanes; ++lane) {
            auto* to = out.data() + i * type.bytes + lane * type.lane_bytes;
            const int level = lane == 3 ? 255 : std::to_integer<int>((*picture.grey)[i]);
            if (type.is_floating())
                put_real(to, type, level / 255.0);
            else
                put_integer(to, type, level * white / 255);
        }
    return out;
}

}  // namespace

std::uint64_t unsigned_lane(const std::byte* from, std::size_t bytes) {
    std::uint64_t out = 0;
    std::memcpy(low_end(out, bytes), from, bytes);
    return out;
}

std::int64_t signed_lane(const std::byte* from, std::size_t bytes) {
    const auto shift = 64 - 8 * static_cast<int>(bytes);
    return static_cast<std::int64_t>(unsigned_lane(from, bytes) << shift) >> shift;
}

bool fits(const ElementType& type, std::int64_t value) {
    if (type.is_floating()) return true;
    if (type.is_packed()) return value >= 0 && value < 16;
    const auto bits = 8 * type.lane_bytes;
    if (type.kind == ElementKind::unsigned_integer)
        return value >= 0 && (bits >= 63 || value < std::int64_t{1} << bits);
    return bits >= 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1));
}

void put_integer(std::byte* to, const ElementType& type, std::int64_t value) {
    if (type.is_floating()) return put_real(to, type, static_cast<double>(value));
    auto bits = static_cast<std::uint64_t>(value);
    std::memcpy(to, low_end(bits, type.lane_bytes), type.lane_bytes);
}

void put_real(std::byte* to, const ElementType& type, double value) {
    if (!type.is_floating()) return put_integer(to, type, static_cast<std::int64_t>(value));
    with_lane_type(type, [&]<typename T>(T) {
        const auto lane = to_lane<T>(value);
        std::memcpy(to, &lane, sizeof lane);
    });
}

double lane_value(const std::byte* from, const ElementType& type) {
    return with_lane_type(type, [&]<typename T>(T) { return static_cast<double>(load<T>(from)); });
}

std::string lane_text(const std::byte* from, const ElementType& type) {
    if (type.kind == ElementKind::unsigned_integer) return std::to_string(unsigned_lane(from, type.lane_bytes));
    if (type.kind == ElementKind::signed_integer) return std::to_string(signed_lane(from, type.lane_bytes));
    const int digits = type.lane_bytes == 8 ? 17 : type.lane_bytes == 4 ? 9 : 5;
    return format_general(lane_value(from, type), digits);
}

model::Bytes read_bytes(const std::filesystem::path& path, const Place& place) {
    if (const auto fault = reading_fault(path); !fault.empty())
        refuse(place, "'", path.string(), "' cannot be read: ", fault);
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    constexpr std::size_t most = std::size_t{4} << 30;
    model::Bytes out;
    std::vector<char> chunk(1 << 20);
    while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || in.gcount() > 0) {
        const auto had = out.size(), more = static_cast<std::size_t>(in.gcount());
        out.resize(had + more);
        std::memcpy(out.data() + had, chunk.data(), more);
        if (out.size() > most) refuse(place, "'", path.string(), "' is larger than 4 GiB");
    }
    if (in.bad()) refuse(place, "'", path.string(), "' cannot be read: ", std::strerror(errno));
    if (out.empty()) refuse(place, "'", path.string(), "' is empty");
    return out;
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    return "(" + join(shape, ", ", [](const auto n) { return std::to_string(n); }) + (shape.size() == 1 ? ",)" : ")");
}

Array read_npy(const model::Bytes& file, const std::string& name, const Place& place) {
    const auto damaged = [&](const std::string& why) { refuse(place, "'", name, "' is not a valid .npy file: ", why); };
    const auto byte = [&](std::size_t i) { return i < file.size() ? std::to_integer<std::size_t>(file[i]) : 0; };
    if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0) damaged("it does not begin with \\x93NUMPY");
    const auto version = byte(6);
    if (version < 1 || version > 3) damaged("its version is " + std::to_string(version) + "; expected 1, 2 or 3");
    const std::size_t start = version == 1 ? 10 : 12;
    const std::size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
    if (start + length > file.size()) damaged("it ends inside its header");
    const std::string header(reinterpret_cast<const char*>(file.data()) + start, length);
    const auto order = header_value(header, "fortran_order");
    auto descr = header_value(header, "descr");
    const auto shape = header_value(header, "shape");
    if (descr.size() < 4 || order.empty() || shape.size() < 2 || shape.front() != '(')
        damaged("its header lacks descr, fortran_order or shape");
    descr = descr.substr(1, descr.size() - 2);
    static const std::pair<const char*, const char*> types[] = {
        {"i1", "char"}, {"u1", "uchar"}, {"i2", "short"}, {"u2", "ushort"}, {"i4", "int"},    {"u4", "uint"},
        {"i8", "long"}, {"u8", "ulong"}, {"f2", "half"},  {"f4", "float"},  {"f8", "double"}, {"b1", "uchar"}};
    Array out;
    for (const auto& [suffix, type] : types)
        if (descr.substr(1) == suffix) out.type = type;
    out.truth = descr.substr(1) == "b1";
    const bool one_byte = descr.size() == 3 && descr[2] == '1';
    const bool here = descr[0] == '=' || (descr[0] == '|' && one_byte) ||
                      descr[0] == (std::endian::native == std::endian::little ? '<' : '>');
    if (out.type.empty() || !here)
        refuse(place, "'", name, "' has elements of type ", cllab::quoted(descr),
               "; expected integers of 1 to 8 bytes or floats of 2, 4 or 8 bytes, in this machine's byte order");
    std::size_t count = 1;
    for (const auto& part : split(shape.substr(1, shape.size() - 2), ',')) {
        const auto text = trim(part);
        if (text.empty()) continue;
        const auto size = parse_integer(text);
        if (!size || *size < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(*size), &count))
            damaged("its shape is invalid: " + cllab::quoted(shape));
        out.shape.push_back(static_cast<std::size_t>(*size));
    }
    if (order != "False" && out.shape.size() > 1)
        refuse(place, "'", name, "' is in Fortran order; save it with numpy.ascontiguousarray");
    const auto bytes = model::builtin_type(out.type)->bytes;
    const auto have = file.size() - start - length;
    if (have / bytes != count || have % bytes != 0)
        damaged("it has " + std::to_string(have) + " bytes of data, but its shape " + shape_text(out.shape) +
                " needs " + std::to_string(count) + " elements of " + std::to_string(bytes) + " bytes");
    out.data = model::Bytes(file.begin() + start + length, file.end());
    return out;
}

bool fits(const Array& array, const model::ElementType& element) {
    if (element.is_opaque()) return true;
    const auto held = *model::builtin_type(array.type);
    if (element.kind == ElementKind::bfloat16) return held.is_integer() && held.lane_bytes == 2;
    if (element.is_packed()) return held.is_integer() && held.lane_bytes == 1;
    if (array.truth && !element.is_floating() && element.lane_bytes == 1) return true;
    return held.kind == element.kind && held.lane_bytes == element.lane_bytes;
}

std::filesystem::path resolved(const std::string& path, const Place& place) {
    const std::filesystem::path plain(path);
    if (place.line == 0 || plain.is_absolute()) return plain;
    return std::filesystem::path(place.file).parent_path() / plain;
}

std::optional<std::pair<std::string, std::string>> file_of_reference(const Placed& reference) {
    const auto& [place, text] = reference;
    const auto at = text.rfind(".cl:");
    if (at == std::string::npos) return std::nullopt;
    return std::pair(resolved(text.substr(0, at + 3), place).string(), text.substr(at + 4));
}

model::PixelFormat image_format(const std::string& name, const Place& place) {
    if (const auto found = model::pixel_format(name)) return *found;
    refuse(place, cllab::quoted(name), " is not an image format; expected ", model::pixel_formats);
}

Picture read_picture(const LoadPicture& load, const std::filesystem::path& path, const Place& place,
                     const ElementType& type, std::int64_t white) {
    try {
        const auto picture = load(path.string());
        return {picture.width, picture.height, std::make_shared<const model::Bytes>(as_pixels(picture, type, white))};
    } catch (const Error& e) {
        refuse(place, e.what());
    }
}

model::SharedBytes read_elements(const std::filesystem::path& path, const Place& place, const ElementType& element,
                                 const std::string& whose, bool is_npy) {
    auto bytes = read_bytes(path, place);
    if (is_npy || lower(path.extension().string()) == ".npy") {
        auto array = read_npy(bytes, path.string(), place);
        if (!fits(array, element)) refuse(place, "'", path.string(), "' has ", array.type, " elements; ", whose);
        bytes = std::move(array.data);
    }
    // A captured buffer may end inside a vector, because its length counts scalars. No kernel touches that vector.
    if (element.lanes > 1 && bytes.size() % element.lane_bytes == 0)
        bytes.resize((bytes.size() + element.bytes - 1) / element.bytes * element.bytes);
    if (bytes.size() % element.bytes != 0)
        refuse(place, "'", path.string(), "' has ", bytes.size(),
               " bytes, which is not a multiple of the element size, ", element.bytes, " bytes (", element.name, ")");
    return std::make_shared<const model::Bytes>(std::move(bytes));
}

}  // namespace cllab::kernelfile
