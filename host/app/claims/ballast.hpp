// A cell with fewer groups resident at a time and nothing else changed: each group asks for local memory that it does
// not use.
//
// Nobody's text has a parameter for that, so one is added to the kernel in the text that is built, behind its own. What
// shows that the machine code stayed as it was is that the compiler gives it the same registers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/claims/kernel_text.hpp"
#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::app {

/// The parameter that a kernel gets for it.
std::string ballast_parameter();

/// How many waves one unit holds without a ballast and with it, and the bytes of it.
struct Residency {
    unsigned before = 0, after = 0;
    std::size_t bytes = 0;
};

/// The least ballast with which a unit holds at most three quarters of the waves, where so many groups wait that this
/// matters; else why there is none. `arguments`: bytes of local memory that the kernel's own arguments ask for.
std::variant<Residency, std::string> plan_ballast(const model::Record& record, const model::Device& device,
                                                  std::size_t arguments);

/// Waves of the record's kernel that a unit holds; 0: not known. `arguments` as above.
unsigned waves_of(const model::Record& record, const model::Device& device, std::size_t arguments,
                  std::size_t ballast = 0);

/// The cell with so many bytes more. Nothing where a group cannot have them, and as with_changed_text.
std::optional<ChangedCell> with_ballast(const model::Cell& cell, const model::Setup& setup,
                                        const run::Settings& settings, const model::Device& device, std::size_t bytes);

/// Bytes of local memory among the arguments of a set-up.
std::size_t local_arguments(const model::Setup& setup);

}  // namespace cllab::app
