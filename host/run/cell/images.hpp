// Images and samplers as a setup asks for them.
#pragma once

#include "device/session.hpp"
#include "model/experiment.hpp"

namespace cllab::run {

cl::Sampler make_sampler(const device::Session& session, const model::Sampler& sampler);

/// The handle of Image2D does for images of any dimensions, as CLHPP's base class cannot be held. Throws Unsupported
/// where the device has no image of that size or format.
cl::Image2D make_image(const device::Session& session, const model::Image& image);

}  // namespace cllab::run
