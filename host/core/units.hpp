// Numbers with units for people: three significant digits, SI prefixes for rates and times, binary prefixes for sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cllab {

std::string format_seconds(double seconds);                    ///< "12.3 us", "1.05 ms"
std::string format_joules(double joules);                      ///< "12 mJ": two digits, because runs differ by percents
std::string format_bytes(std::uint64_t bytes);                 ///< "64 KiB", "1.5 GiB", "137 B"
std::string format_rate(double value, std::string_view unit);  ///< 1.25e9, "B/s" -> "1.25 GB/s"
std::string format_significant(double value, int digits);      ///< "0.00123", "12.3", "123"

/// A value with its unit in a sentence or a cell. Seconds, bytes and rates have prefixes, whole numbers no decimals.
std::string quantity(double value, const std::string& unit);

/// The same in a column of text: "12%", "-3 ns".
std::string value_text(double value, const std::string& unit);

std::string format_general(double value, int digits);  ///< as printf's %g with `digits` digits
/// Shortest text that reads back as the same number. In fixed notation from 1e-5 to below 1e15.
std::string format_exact(double value);

/// Whole number with an optional binary or decimal suffix: 4096, 4Ki, 1Mi, 1Gi, 4K, 1M, 1G. nullopt if malformed or
/// beyond 63 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);
/// The inverse for people: "64Ki", "1Mi"; numbers below 10000 have no suffix.
std::string format_integer(std::int64_t value);
/// A finite real number. The whole text must match, independent of the locale.
std::optional<double> parse_real(std::string_view text);
std::string utc_now();  ///< ISO 8601, to the second, "…T23:59:59Z"

/// The interval in percent of the value: "±1.2", or "-5.0/+82" if one side exceeds twice the other. Empty if there is
/// no interval.
std::string format_interval(double value, double low, double high);

}  // namespace cllab
