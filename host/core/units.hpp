// Numbers with units, for people: three significant digits, SI prefixes for rates and times, binary ones for sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cllab {

std::string format_seconds(double seconds);                    ///< "12.3 us", "1.05 ms"
std::string format_joules(double joules);                      ///< "12 mJ": runs differ by percents
std::string format_bytes(std::uint64_t bytes);                 ///< "64 KiB", "1.5 GiB", "137 B"
std::string format_rate(double value, std::string_view unit);  ///< 1.25e9, "B/s" -> "1.25 GB/s"
std::string format_significant(double value, int digits);      ///< "0.00123", "12.3", "123"

std::string format_general(double value, int digits);  ///< as printf's %g, with so many digits
/// Shortest text that reads back as the same number; fixed notation where a person would write it.
std::string format_exact(double value);

/// Whole number with optional binary or decimal suffix: 4096, 4Ki, 1Mi, 1Gi, 4K, 1M, 1G. Nothing when malformed or
/// past 63 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// The same for people: "64Ki", "1Mi"; 4096, of four digits, stays.
std::string format_integer(std::int64_t value);
/// A finite real number, whole text consumed, independent of the locale.
std::optional<double> parse_real(std::string_view text);
std::string utc_now();  ///< ISO 8601, to the second, "…T23:59:59Z"

/// In percent of the value: "±1.2", or "-5.0/+82" where one side is more than twice the other. Empty where there is
/// none.
std::string format_interval(double value, double low, double high);

}  // namespace cllab
