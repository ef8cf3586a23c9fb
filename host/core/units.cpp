#include "core/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <utility>

namespace cllab {
namespace {

std::string fixed(double value, int decimals) {
    std::array<char, 400> buffer;  // the longest double in fixed notation has 309 digits before the point
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    return {buffer.data(), end.ptr};
}

/// Decimal exponent of value when rounded to `digits` significant ones: 9.996 at three digits is 1 (10.0).
int rounded_exponent(double value, int digits) {
    std::array<char, 64> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                   std::chars_format::scientific, digits - 1);
    const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
    auto exponent = text.substr(text.find('e') + 1);
    if (exponent.front() == '+') exponent.remove_prefix(1);
    int result = 0;
    std::from_chars(exponent.data(), exponent.data() + exponent.size(), result);
    return result;
}

struct Prefix {
    const char* text;
    double factor;
};

constexpr std::array<Prefix, 5> small_prefixes{{{"p", 1e-12}, {"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"", 1}}};

/// Uses the prefix that leaves 1 to 3 digits before the point. `prefixes` ascend. A space precedes a unit of
/// several words: "662 k cache lines".
template <std::size_t N>
std::string with_prefix(double value, const std::array<Prefix, N>& prefixes, std::string_view unit, int digits = 3) {
    if (value == 0 || !std::isfinite(value)) return format_significant(value, digits) + " " + std::string(unit);
    const int exponent = rounded_exponent(value, digits);
    const Prefix* chosen = &prefixes.front();
    for (const auto& prefix : prefixes)
        if (exponent >= std::lround(std::log10(prefix.factor))) chosen = &prefix;
    const char* apart = *chosen->text && unit.find(' ') != unit.npos ? " " : "";
    return format_significant(value / chosen->factor, digits) + " " + chosen->text + apart + std::string(unit);
}

}  // namespace

std::string format_significant(double value, int digits) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    if (value == 0) return "0";
    const int exponent = rounded_exponent(value, digits);
    // Fixed notation from 0.00001 to a million billions. Beyond, an exponent is easier to read than the zeros are to
    // count.
    if (exponent < -5 || exponent >= 15) {
        const double mantissa = value / std::pow(10.0, exponent);
        return fixed(mantissa, digits - 1) + "e" + std::to_string(exponent);
    }
    return fixed(value, exponent >= digits - 1 ? 0 : digits - 1 - exponent);
}

std::string format_general(double value, int digits) {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits);
    return {buffer, end.ptr};
}

std::string format_exact(double value) {
    if (value == 0) return "0";  // also -0
    char buffer[64];
    const double size = std::abs(value);
    const auto end = size >= 1e-5 && size < 1e15
                         ? std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed)
                         : std::to_chars(buffer, buffer + sizeof buffer, value);
    return {buffer, end.ptr};
}

std::string format_seconds(double seconds) { return with_prefix(seconds, small_prefixes, "s"); }

std::string format_joules(double joules) { return with_prefix(joules, small_prefixes, "J", 2); }

std::string format_rate(double value, std::string_view unit) {
    static constexpr std::array<Prefix, 7> prefixes{
        {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}}};
    return with_prefix(value, prefixes, unit);
}

std::string format_bytes(std::uint64_t bytes) {
    static constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    // 1023.7 KiB would round to four digits, so it becomes 1 MiB.
    while (unit + 1 < units.size() && value >= (unit == 0 ? 1024 : 1023.5)) value /= 1024, ++unit;
    auto number = format_significant(value, 3);
    if (number.find('.') != std::string::npos) {
        number.erase(number.find_last_not_of('0') + 1);
        if (number.back() == '.') number.pop_back();
    }
    return number + " " + units[unit];
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::int64_t>, 9> suffixes{{{"Ki", std::int64_t{1} << 10},
                                                                                        {"Mi", std::int64_t{1} << 20},
                                                                                        {"Gi", std::int64_t{1} << 30},
                                                                                        {"Ti", std::int64_t{1} << 40},
                                                                                        {"k", 1'000},
                                                                                        {"K", 1'000},
                                                                                        {"M", 1'000'000},
                                                                                        {"G", 1'000'000'000},
                                                                                        {"T", 1'000'000'000'000}}};
    std::int64_t value = 0;
    const char* last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, value);
    if (fault != std::errc{}) return std::nullopt;
    const std::string_view rest(end, static_cast<std::size_t>(last - end));
    if (rest.empty()) return value;
    for (const auto& [suffix, factor] : suffixes) {
        std::int64_t scaled = 0;
        if (rest == suffix) {
            if (__builtin_mul_overflow(value, factor, &scaled)) return std::nullopt;
            return scaled;
        }
    }
    return std::nullopt;
}

std::string format_integer(std::int64_t value) {
    constexpr std::int64_t five_digits = 10000, kibi = 1 << 10, mebi = 1 << 20;
    if (value < five_digits || value % kibi != 0) return std::to_string(value);
    return value % mebi == 0 ? std::to_string(value / mebi) + "Mi" : std::to_string(value / kibi) + "Ki";
}

std::optional<double> parse_real(std::string_view text) {
    double value = 0;
    const char* last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data(), last, value);
    if (fault != std::errc{} || end != last || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string quantity(double value, const std::string& unit) {
    if (unit == "s") return format_seconds(value);
    if (unit == "J") return format_joules(value);
    if (unit == "byte" && value >= 0 && value < 1e18)
        return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
    if (unit == "Hz" || unit.find("/s") != std::string::npos) return format_rate(value, unit);
    const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
    const std::string digits = whole ? std::to_string(static_cast<long long>(value)) : format_significant(value, 3);
    return unit.empty() ? digits : digits + " " + unit;
}

std::string value_text(double value, const std::string& unit) {
    if (unit == "s" && value < 0) return "-" + quantity(-value, unit);
    return unit == "%" ? quantity(value, "") + unit : quantity(value, unit);
}

std::string utc_now() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char out[32];
    std::strftime(out, sizeof out, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}

std::string format_interval(double value, double low, double high) {
    if (!(value > 0) || !(low <= value) || !(high >= value) || !std::isfinite(high)) return {};
    const double below = 100 * (value - low) / value, above = 100 * (high - value) / value;
    const auto text = [](double x) {
        std::array<char, 32> out{};
        std::snprintf(out.data(), out.size(), "%.*f", x < 0.0995 ? 2 : x < 9.95 ? 1 : 0, x);
        return std::string(out.data());
    };
    const auto wide = text(std::max(below, above));
    if (std::max(below, above) <= 2 * std::min(below, above)) return "±" + wide;
    return below > above ? "-" + wide + "/+" + text(above) : "-" + text(below) + "/+" + wide;
}

}  // namespace cllab
