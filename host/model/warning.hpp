// The warnings of a record. A record has each as text, "code: sentence with advice", so that a reader of the JSON can
// show warnings that it does not know. The program tests for a warning by its enumerator.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "model/result.hpp"

namespace cllab::model {

enum class Warning {
    below_floor,
    beyond_memory,
    beyond_peak,
    clock_limited,
    coarse,
    collapsed_sass,
    cut,
    disputed,
    driver_group,
    elsewhere,
    event_exceeds_host,
    few_cores,
    fresh_data,
    host_clock,
    input_ignored,
    interrupted,
    layers,
    native,
    no_binary,
    no_cost,
    no_dump,
    no_energy,
    no_steps,
    no_yardstick,
    noise_floor,
    not_in_turns,
    not_linear,
    not_settled,
    other_results,
    partly_written,
    simulated,
    throttled,
    unlike,
    unlike_sizes,
    unproved,
    unwritten,
};

/// The codes in records, in the order of Warning.
// clang-format off
inline constexpr std::array<std::string_view, 36> warning_codes{
    "below-floor", "beyond-memory", "beyond-peak", "clock-limited", "coarse", "collapsed-sass", "cut", "disputed",
    "driver-group", "elsewhere", "event-exceeds-host", "few-cores", "fresh-data", "host-clock", "input-ignored",
    "interrupted", "layers", "native", "no-binary", "no-cost", "no-dump", "no-energy", "no-steps", "no-yardstick",
    "noise-floor", "not-in-turns", "not-linear", "not-settled", "other-results", "partly-written", "simulated",
    "throttled", "unlike", "unlike-sizes", "unproved", "unwritten"};
// clang-format on
static_assert(warning_codes.size() == static_cast<std::size_t>(Warning::unwritten) + 1);

constexpr std::string_view code_of(Warning warning) { return warning_codes[static_cast<std::size_t>(warning)]; }

inline std::string warning(Warning code, std::string_view sentence) {
    return std::string(code_of(code)) + ": " + std::string(sentence);
}

/// The text after the code.
inline std::string_view sentence_of(std::string_view warning) { return warning.substr(warning.find(": ") + 2); }

inline bool is(const std::string& text, Warning code) {
    const auto name = code_of(code);
    return text.starts_with(name) && text.substr(name.size()).starts_with(":");
}

/// The sentence of the record's warning; empty if it has none.
inline std::string text_of(const Record& record, Warning code) {
    const auto found = std::ranges::find_if(record.warnings, [&](const auto& text) { return is(text, code); });
    return found == record.warnings.end() ? "" : std::string(sentence_of(*found));
}

inline bool warns(const Record& record, Warning code) { return !text_of(record, code).empty(); }

}  // namespace cllab::model
