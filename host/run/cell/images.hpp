// Images and samplers of a device.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "device/session.hpp"
#include "model/operation.hpp"

namespace cllab::run {

class DeviceImage {
public:
    /// Throws Unsupported if the device has no images of this size or format.
    DeviceImage(device::Session& session, const model::Image& image);

    const cl::Image2D& image() const { return image_; }
    /// Copies all pixels and waits for the copy.
    void put(std::span<const std::byte> pixels);
    void get(std::span<std::byte> pixels);

private:
    device::Session& session_;
    std::array<std::size_t, 3> size_;
    /// The buffer of an image created from a buffer; never a sub-buffer, because PoCL 3.1 rejects those.
    cl::Buffer pixels_;
    cl::Image2D image_;  ///< the handle of an image of any dimensions; CLHPP's base class cannot be a member
};

cl::Sampler make_sampler(const device::Session& session, const model::Sampler& sampler);

}  // namespace cllab::run
