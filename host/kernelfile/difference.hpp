// Where results differ, and by how much, in words.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "model/kernel_signature.hpp"
#include "model/tolerance.hpp"

namespace cllab::kernelfile {

/// The first element of `found` that differs from `expected` by more than `errors` takes: "dst[17] is 3, expected 4".
/// Of differences as rounding makes them it says which tolerance takes them all.
std::optional<std::string> first_difference(const std::string& name, std::span<const std::byte> found,
                                            std::span<const std::byte> expected, const model::ElementType& type,
                                            model::Errors& errors, const std::string& whose);

/// The same, for results of another's arithmetic: of every difference in floating point it has the largest errors.
std::optional<std::string> difference(const std::string& name, std::span<const std::byte> found,
                                      std::span<const std::byte> expected, const model::ElementType& type,
                                      model::Errors& errors, const std::string& whose);

}  // namespace cllab::kernelfile
