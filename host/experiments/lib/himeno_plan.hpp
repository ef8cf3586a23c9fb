// How a variant of Himeno's sweep is laid out in memory and launched.
#pragma once

#include <cstddef>
#include <string>

#include "experiments/lib/himeno_problem.hpp"
#include "model/experiment.hpp"
#include "model/params.hpp"

namespace cllab::model::himeno {

enum class Body { point, interleaved, local, march, rows };
enum class Transfers { none, every_iteration, around_loop, residual_only };

/// A variant as it will be launched, every "auto" resolved.
struct Plan {
    std::string size;
    Grid grid;
    Body body = Body::point;
    Transfers transfers = Transfers::none;
    bool copy = false;    // p = q by a kernel instead of a swap
    unsigned sweeps = 1;  // iterations of one operation
    std::size_t piece_bytes = 0;
    std::size_t row = 0;  // words from a row to the next
    Extent local;
    std::size_t planes = 1, lanes = 1;
    std::size_t start = 0;      // words in front of each array
    std::string order = "kji";  // which axis of the grid lies along x, y and z of the NDRange
    bool sections = false;      // coefficients without their boundary
    std::size_t first_k = 0;    // k of the first work-item of a row
    Extent global;
    std::size_t groups = 0, gosa_items = 1;
    double gosa_tolerance = 0;  // relative
    bool contract = false, prescribed = false;

    std::size_t field_bytes() const { return (start + grid.i * grid.j * row) * sizeof(float); }
};

/// Reads the axes and records what is auto. Throws Unsupported where the device has no room for it or for its
/// work-group, and Error(usage) for a size that is none.
Plan plan_of(const Request& request, Params& params);

}  // namespace cllab::model::himeno
