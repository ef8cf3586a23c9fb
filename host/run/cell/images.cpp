#include "run/cell/images.hpp"

#include "core/table.hpp"

namespace cllab::run {
namespace {

using namespace model;

constexpr Entry<Image::Format, std::pair<cl_channel_order, cl_channel_type>> image_formats[] = {
    {Image::Format::r8_unsigned, {CL_R, CL_UNSIGNED_INT8}},
    {Image::Format::r8_normalised, {CL_R, CL_UNORM_INT8}},
    {Image::Format::r32_float, {CL_R, CL_FLOAT}},
    {Image::Format::rgba8_unsigned, {CL_RGBA, CL_UNSIGNED_INT8}},
    {Image::Format::rgba8_normalised, {CL_RGBA, CL_UNORM_INT8}},
    {Image::Format::rgba32_float, {CL_RGBA, CL_FLOAT}}};

constexpr Entry<Sampler::Outside, cl_addressing_mode> address_modes[] = {
    {Sampler::Outside::undefined, CL_ADDRESS_NONE},
    {Sampler::Outside::edge, CL_ADDRESS_CLAMP_TO_EDGE},
    {Sampler::Outside::zero, CL_ADDRESS_CLAMP},
    {Sampler::Outside::repeat, CL_ADDRESS_REPEAT},
    {Sampler::Outside::mirror, CL_ADDRESS_MIRRORED_REPEAT}};

}  // namespace

// By the call of OpenCL 1.0, which every driver has: quirk oclgrind-sampler-properties.
cl::Sampler make_sampler(const device::Session& session, const Sampler& a) {
    cl_int code = CL_SUCCESS;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const auto made = clCreateSampler(session.context()(), a.normalised, value_of(address_modes, a.outside),
                                      a.linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
#pragma GCC diagnostic pop
    if (code != CL_SUCCESS) throw cl::Error(code, "clCreateSampler");
    return cl::Sampler(made);
}

cl::Image2D make_image(const device::Session& session, const Image& a) {
    const auto& facts = session.facts();
    if (a.dims == 2 && (a.width > facts.image2d_max_width || a.height > facts.image2d_max_height))
        throw Unsupported("an image of " + std::to_string(a.width) + "x" + std::to_string(a.height) +
                          " is larger than the device's " + std::to_string(facts.image2d_max_width) + "x" +
                          std::to_string(facts.image2d_max_height));
    const cl_mem_flags flags = a.data ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
    const auto [order, type] = value_of(image_formats, a.format);
    const cl::ImageFormat format(order, type);
    try {
        if (a.dims == 1) return cl::Image2D(cl::Image1D(session.context(), flags, format, a.width)(), true);
        if (a.dims == 3)
            return cl::Image2D(cl::Image3D(session.context(), flags, format, a.width, a.height, a.depth)(), true);
        return cl::Image2D(session.context(), flags, format, a.width, a.height);
    } catch (const cl::Error& e) {
        if (e.err() != CL_IMAGE_FORMAT_NOT_SUPPORTED && e.err() != CL_INVALID_OPERATION) throw;
        throw Unsupported("the device has no image of this format: " + device::error_name(e.err()));
    }
}

}  // namespace cllab::run
