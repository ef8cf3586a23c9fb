// What the axes of a pitch cell say.
#pragma once

#include <cstddef>
#include <string>

#include "experiments/lib/pitch_geometry.hpp"
#include "experiments/lib/pitch_reference.hpp"
#include "model/experiment.hpp"
#include "model/params.hpp"

namespace cllab::model::pitch {

/// One cell's axes, all resolved.
struct Choice {
    Geometry g;
    double pitch = 1;
    Weights weights = Weights::linear;
    Transfer transfer = Transfer::copied;
    Extent local;                   ///< dims == 0: left to the driver
    std::size_t items = 0;          ///< of the variants with a work-item per band or strip; 0: the image decides
    std::string element = "short";  ///< what a pixel is computed in
    bool columns = false;           ///< strips of columns, not bands of rows

    bool is_float(const std::string& variant) const;
};

/// The image given by --input src=FILE, or nothing.
const Loaded* loaded(const Request& request);

/// Sixteen-byte blocks of the buffer that a row of the ROI can touch, wherever in a block it begins.
std::size_t blocks_of(const Geometry& g);

/// Local memory of the variant `local`: a work-group's pixels and their neighbors to both sides, in bytes.
std::size_t tile_bytes(const Geometry& g, const Extent& local);

/// Reads the axes and records what is auto. Throws Unsupported where the device has no room, Error(usage) for a region
/// that is none.
Choice choice_of(const Request& request, Params& params);

}  // namespace cllab::model::pitch
