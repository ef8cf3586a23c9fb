// The messages between a worker and its parent, as types. Each message is one line on the socket.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "app/processes/worker.hpp"
#include "device/session.hpp"
#include "run/executor.hpp"

namespace cllab::app {

/// A cell begins or is done.
struct CellTold {
    bool done = false;
    run::CellNumber cell;
    model::Record record;
};
/// The request is finished.
struct EndTold {
    std::optional<device::DeviceState> device_state;  ///< saves other workers the audit and warm-up
};
using Told = std::variant<CellTold, EndTold>;

void tell_cell(Link& parent, bool done, run::CellNumber cell, const model::Record& record);
void tell_end(Link& parent, const std::optional<device::DeviceState>& device_state);
/// Parses a line. Throws the worker's error, as rethrow().
Told told_of(const std::string& line);

/// Whether a field of the settings is sent to a process that was started earlier: numbers, switches and enumerations
/// are. Texts, files and functions are not, because the process has already built from them.
template <typename Field>
inline constexpr bool is_sent = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;
template <typename Field>
inline constexpr bool is_sent<std::optional<Field>> = is_sent<Field>;

/// The fields of the settings for which is_sent holds, in order.
Message sent_fields(const run::Settings& settings);
/// The reverse of sent_fields(). Leaves the other fields unchanged.
void take_fields(run::Settings& settings, const Message& sent);

}  // namespace cllab::app
