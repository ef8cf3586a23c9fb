#include "kernelfile/data.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/reading.hpp"
#include "core/text.hpp"
#include "core/units.hpp"

namespace cllab::kernelfile {
namespace {

using model::ElementType;
using ElementKind = ElementType::Kind;

float half_to_float(std::uint16_t h) {
    const int exponent = h >> 10 & 31, fraction = h & 1023;
    const float magnitude =
        exponent == 0    ? std::ldexp(static_cast<float>(fraction), -24)
        : exponent == 31 ? (fraction ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
                         : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return h & 0x8000 ? -magnitude : magnitude;
}

std::uint16_t float_to_half(double value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double m = std::fabs(value);
    if (std::isnan(value)) return 0x7e00;
    if (m >= 65520) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(m, &exponent);
    exponent = std::max(exponent - 1, -14);
    // 1024..2048, fewer for subnormals.
    const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(m, 10 - exponent)));
    const unsigned biased = units >= 1024 ? static_cast<unsigned>(exponent + 15) : 0;
    return static_cast<std::uint16_t>(sign | (biased == 0 ? units : (biased << 10) + (units - 1024)));
}

template <typename T>
T load(const std::byte* from) {
    T out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

template <typename T>
void store(std::byte* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

/// The value of 'key' in the header's Python literal, from behind its colon to the next comma outside parentheses.
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

}  // namespace

std::uint64_t unsigned_lane(const std::byte* from, std::size_t bytes) {
    switch (bytes) {
        case 1:
            return load<std::uint8_t>(from);
        case 2:
            return load<std::uint16_t>(from);
        case 4:
            return load<std::uint32_t>(from);
        default:
            return load<std::uint64_t>(from);
    }
}

std::int64_t signed_lane(const std::byte* from, std::size_t bytes) {
    const auto shift = 64 - 8 * static_cast<int>(bytes);
    return static_cast<std::int64_t>(unsigned_lane(from, bytes) << shift) >> shift;
}

bool fits(const ElementType& type, std::int64_t value) {
    if (type.kind == ElementKind::floating) return true;
    const auto bits = 8 * type.lane_bytes;
    if (type.kind == ElementKind::unsigned_integer)
        return value >= 0 && (bits >= 63 || value < std::int64_t{1} << bits);
    return bits >= 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1));
}

void put_integer(std::byte* to, const ElementType& type, std::int64_t value) {
    if (type.kind == ElementKind::floating) return put_real(to, type, static_cast<double>(value));
    switch (type.lane_bytes) {
        case 1:
            return store(to, static_cast<std::uint8_t>(value));
        case 2:
            return store(to, static_cast<std::uint16_t>(value));
        case 4:
            return store(to, static_cast<std::uint32_t>(value));
        default:
            return store(to, static_cast<std::uint64_t>(value));
    }
}

void put_real(std::byte* to, const ElementType& type, double value) {
    if (type.kind != ElementKind::floating) return put_integer(to, type, static_cast<std::int64_t>(value));
    if (type.lane_bytes == 8)
        store(to, value);
    else if (type.lane_bytes == 4)
        store(to, static_cast<float>(value));
    else
        store(to, float_to_half(value));
}

double lane_value(const std::byte* from, const ElementType& type) {
    return type.lane_bytes == 8   ? load<double>(from)
           : type.lane_bytes == 4 ? load<float>(from)
                                  : half_to_float(load<std::uint16_t>(from));
}

std::string lane_text(const std::byte* from, const ElementType& type) {
    if (type.kind == ElementKind::unsigned_integer) return std::to_string(unsigned_lane(from, type.lane_bytes));
    if (type.kind == ElementKind::signed_integer) return std::to_string(signed_lane(from, type.lane_bytes));
    char out[40];
    std::snprintf(out, sizeof out,
                  type.lane_bytes == 8   ? "%.17g"
                  : type.lane_bytes == 4 ? "%.9g"
                                         : "%.5g",
                  lane_value(from, type));
    return out;
}

namespace {

/// Floating bits as integers in the order of the values.
std::int64_t ordered(const std::byte* from, std::size_t bytes) {
    const auto bits = unsigned_lane(from, bytes);
    const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
    return bits & sign ? -static_cast<std::int64_t>(bits & (sign - 1)) : static_cast<std::int64_t>(bits);
}

}  // namespace

double ulps_between(const std::byte* a, const std::byte* b, const ElementType& type) {
    return model::distance(ordered(a, type.lane_bytes), ordered(b, type.lane_bytes));
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
    if (file.size() < 10 || std::memcmp(file.data(), "\x93NUMPY", 6) != 0) damaged("it does not begin like one");
    const auto version = byte(6);
    if (version < 1 || version > 3) damaged("its version is " + std::to_string(version) + "; 1, 2 and 3 are known");
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
        refuse(place, "'", name, "' holds elements of type ", cllab::quoted(descr),
               "; possible are integers of 1 to 8 bytes and floats of 2, 4 and 8 in this machine's byte order");
    std::size_t count = 1;
    for (const auto& part : split(shape.substr(1, shape.size() - 2), ',')) {
        const auto text = trim(part);
        if (text.empty()) continue;
        const auto size = parse_integer(text);
        if (!size || *size < 0 || __builtin_mul_overflow(count, static_cast<std::size_t>(*size), &count))
            damaged("its shape is " + cllab::quoted(shape));
        out.shape.push_back(static_cast<std::size_t>(*size));
    }
    if (order != "False" && out.shape.size() > 1)
        refuse(place, "'", name, "' is in Fortran order; save it by numpy.ascontiguousarray");
    const auto bytes = model::builtin_type(out.type)->bytes;
    const auto have = file.size() - start - length;
    if (have / bytes != count || have % bytes != 0)
        damaged("it holds " + std::to_string(have) + " bytes of data, its shape " + shape_text(out.shape) + " of " +
                out.type + " needs another number");
    out.data = model::Bytes(file.begin() + start + length, file.end());
    return out;
}

bool fits(const Array& array, const model::ElementType& element) {
    if (element.kind == ElementKind::opaque) return true;
    const auto held = *model::builtin_type(array.type);
    if (array.truth && element.kind != ElementKind::floating && element.lane_bytes == 1) return true;
    return held.kind == element.kind && held.lane_bytes == element.lane_bytes;
}

}  // namespace cllab::kernelfile
