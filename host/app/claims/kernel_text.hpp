// Changes of a kernel's text that leave what it computes as it is, for the tests of a claim.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "run/request.hpp"

namespace cllab::app {

/// `text` with more parameters in each kernel of one of these names, behind its own, and with `statements` in front of
/// its own; nothing where there is no such kernel.
std::optional<std::string> with_parameters(const std::string& text, const std::vector<std::string>& names,
                                           const std::string& parameters, const std::string& statements);

/// `cell` is of `experiment`, which must live as long.
struct ChangedCell {
    std::shared_ptr<const model::Experiment> experiment;
    model::Cell cell;
};

/// The cell with such a text; `add` gives its set-ups the arguments of the parameters, and `setup` is the cell's.
/// Nothing where an operation is more than one launch, or the kernel is not found in its text, or that is CUDA C++.
std::optional<ChangedCell> with_changed_text(const model::Cell& cell, const model::Setup& setup,
                                             const run::Settings& settings, const model::Device& device,
                                             const std::string& parameters, const std::string& statements,
                                             const std::function<void(model::Setup&)>& add);

/// Whether a line that may be compiled has one of these words. Of what stands behind #ifdef NAME it is known where
/// `options` do not define NAME.
bool asks_for(const std::string& text, const std::string& options, const std::vector<std::string>& functions);

}  // namespace cllab::app
