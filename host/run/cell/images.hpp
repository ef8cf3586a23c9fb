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
    /// Throws Unsupported when the device has no image of that size or format.
    DeviceImage(device::Session& session, const model::Image& image);

    const cl::Image2D& image() const { return image_; }
    /// Copies all pixels and waits for the copy.
    void put(std::span<const std::byte> pixels);
    void get(std::span<std::byte> pixels);

private:
    device::Session& session_;
    std::array<std::size_t, 3> size_;
    cl::Buffer pixels_;  ///< of an image made of a buffer; never a sub-buffer, because PoCL 3.1 refuses those
    cl::Image2D image_;  ///< the handle of an image of any dimensions; CLHPP's base class cannot be a member
};

cl::Sampler make_sampler(const device::Session& session, const model::Sampler& sampler);

}  // namespace cllab::run
