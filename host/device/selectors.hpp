// --device: cpu, gpu, accelerator, all, P, P:D or part of a name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/device.hpp"

namespace cllab::device {

/// Indices into `devices`, each once, in the order asked. `trusted(i)` is asked only where a type selector has more
/// than one candidate. An empty `selectors` means the first GPU, else the first CPU, else the first device.
/// Throws Error(environment) when nothing matches and Error(usage) when a name is ambiguous; both list the candidates.
std::vector<std::size_t> resolve(const std::vector<model::Device>& devices, const std::vector<std::string>& selectors,
                                 const std::function<bool(std::size_t)>& trusted);

}  // namespace cllab::device
