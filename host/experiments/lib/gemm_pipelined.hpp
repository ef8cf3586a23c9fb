// gemm_pipelined: its tiles by the size of C, copies of A and B, and streams.
#pragma once

#include "experiments/lib/gemm_tiles.hpp"
#include "model/params.hpp"

namespace cllab::model::gemm {

/// Reads the axes that only `pipelined` has. Throws Unsupported for tiles that the device cannot hold.
void choose_tiles(Sizes& sizes, const Device& device, Params& params);

/// Launches, macros and copies of the chosen tiles, behind the arguments a, b, c, m, n and k.
void launch_pipelined(Setup& out, const Sizes& sizes, const Device& device);

}  // namespace cllab::model::gemm
