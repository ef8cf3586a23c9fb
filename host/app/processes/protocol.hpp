// What a worker that carries out a request and its parent tell each other, in types; a line of the socket each.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "app/processes/worker.hpp"
#include "device/session.hpp"
#include "run/executor.hpp"

namespace cllab::app {

/// A cell begins, or is done.
struct CellTold {
    bool done = false;
    run::CellNumber cell;
    model::Record record;
};
/// The request is carried out.
struct EndTold {
    std::optional<device::DeviceState> device_state;  ///< what other workers need not find out again
};
using Told = std::variant<CellTold, EndTold>;

void tell_cell(Link& parent, bool done, run::CellNumber cell, const model::Record& record);
void tell_end(Link& parent, const std::optional<device::DeviceState>& device_state);
/// Throws what the worker threw, as rethrow().
Told told_of(const std::string& line);

/// Whether a field of the settings goes to a process that was begun before them: numbers, switches and choices do.
/// Texts, files and functions stay what the process began with, since it has built from them.
template <typename Field>
inline constexpr bool is_sent = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;
template <typename Field>
inline constexpr bool is_sent<std::optional<Field>> = is_sent<Field>;

/// The fields of the settings that are sent.
Message sent_fields(const run::Settings& settings);
/// The reverse: leaves the other fields as they are.
void take_fields(run::Settings& settings, const Message& sent);

}  // namespace cllab::app
