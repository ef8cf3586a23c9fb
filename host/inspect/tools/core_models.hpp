// The hot block by llvm-mca: what models of processors take for a pass through it.
//
// They are models of processors that may not be the one here, and none knows of caches. So what they say is a range
// beside the bounds that rest on the device's own measured peaks, and never a limiter.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "inspect/code/analysis.hpp"
#include "model/result.hpp"

namespace cllab::inspect {

/// By every model that knows the instructions of the block with the most samples; the reason where there is none.
model::CoreModels core_models(const Analysis& analysis, const model::Hot& hot);

/// The block as a loop of its own in the assembler's words: without padding, and each jump to its begin. Nothing where
/// it calls functions or moves a string, which takes as long as others say.
std::optional<std::string> assembly_of(std::span<const Instruction> block);

/// What llvm-mca printed with --json of one processor, and the names of that processor's resources: some have the model
/// of another. Nothing where that is no such text.
struct ModelSaid {
    model::CoreModel model;
    std::string resources;
};
std::optional<ModelSaid> read_model(const std::string& processor, const std::string& json);

}  // namespace cllab::inspect
