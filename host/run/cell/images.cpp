#include "run/cell/images.hpp"

#include "core/table.hpp"
#include "core/text.hpp"
#include "device/quirks.hpp"

namespace cllab::run {
namespace {

using namespace model;

using Channel = PixelFormat::Channel;
constexpr Entry<PixelFormat::Order, cl_channel_order> orders[] = {{PixelFormat::Order::r, CL_R},
                                                                  {PixelFormat::Order::rg, CL_RG},
                                                                  {PixelFormat::Order::rgba, CL_RGBA},
                                                                  {PixelFormat::Order::bgra, CL_BGRA},
                                                                  {PixelFormat::Order::depth, CL_DEPTH}};
constexpr Entry<std::pair<Channel, std::size_t>, cl_channel_type> channels[] = {
    {{Channel::normalised, 1}, CL_UNORM_INT8},
    {{Channel::normalised, 2}, CL_UNORM_INT16},
    {{Channel::signed_normalised, 1}, CL_SNORM_INT8},
    {{Channel::signed_normalised, 2}, CL_SNORM_INT16},
    {{Channel::integer, 1}, CL_SIGNED_INT8},
    {{Channel::integer, 2}, CL_SIGNED_INT16},
    {{Channel::integer, 4}, CL_SIGNED_INT32},
    {{Channel::unsigned_integer, 1}, CL_UNSIGNED_INT8},
    {{Channel::unsigned_integer, 2}, CL_UNSIGNED_INT16},
    {{Channel::unsigned_integer, 4}, CL_UNSIGNED_INT32},
    {{Channel::floating, 2}, CL_HALF_FLOAT},
    {{Channel::floating, 4}, CL_FLOAT}};

/// Names of the formats that the device supports for images of this type, as far as a kernel file can name them.
std::vector<std::string> supported(const device::Session& session, cl_mem_flags flags, cl_mem_object_type type) {
    std::vector<cl::ImageFormat> all;
    std::vector<std::string> names;
    cl_uint count = 0;
    const auto& context = session.context()();
    if (clGetSupportedImageFormats(context, flags, type, 0, nullptr, &count) != CL_SUCCESS) return names;
    all.resize(count);
    clGetSupportedImageFormats(context, flags, type, count, all.data(), nullptr);
    for (const auto& [order, cl_order] : orders)
        for (const auto& [channel, cl_channel] : channels)
            if (std::ranges::any_of(all, [&, &o = cl_order, &c = cl_channel](const cl::ImageFormat& has) {
                    return has.image_channel_order == o && has.image_channel_data_type == c;
                }))
                names.push_back(PixelFormat{order, channel.first, channel.second}.name());
    return names;
}

[[noreturn]] void refuse_format(const Image& a, const std::string& kind, const std::vector<std::string>& has,
                                const std::string& why) {
    throw Unsupported("the device does not support format " + a.format.name() + " for " + kind +
                      "images of this type; it supports " + (has.empty() ? "none" : join(has, ", ")) + why);
}

cl_mem_object_type type_of(const Image& a) {
    if (a.of_buffer) return CL_MEM_OBJECT_IMAGE1D_BUFFER;
    if (a.dims == 1) return CL_MEM_OBJECT_IMAGE1D;
    if (a.dims == 2) return a.is_array ? CL_MEM_OBJECT_IMAGE1D_ARRAY : CL_MEM_OBJECT_IMAGE2D;
    return a.is_array ? CL_MEM_OBJECT_IMAGE2D_ARRAY : CL_MEM_OBJECT_IMAGE3D;
}

constexpr Entry<Sampler::Outside, cl_addressing_mode> address_modes[] = {
    {Sampler::Outside::undefined, CL_ADDRESS_NONE},
    {Sampler::Outside::edge, CL_ADDRESS_CLAMP_TO_EDGE},
    {Sampler::Outside::zero, CL_ADDRESS_CLAMP},
    {Sampler::Outside::repeat, CL_ADDRESS_REPEAT},
    {Sampler::Outside::mirror, CL_ADDRESS_MIRRORED_REPEAT}};

cl::Image2D make_image(const device::Session& session, const Image& a, const cl::Buffer& pixels) {
    const auto& facts = session.facts();
    if (a.dims == 2 && (a.width > facts.image2d_max_width || a.height > facts.image2d_max_height))
        throw Unsupported("an image of " + std::to_string(a.width) + "x" + std::to_string(a.height) +
                          " is too large; the device takes at most " + std::to_string(facts.image2d_max_width) + "x" +
                          std::to_string(facts.image2d_max_height));
    const cl_mem_flags flags = a.read_write ? CL_MEM_READ_WRITE : a.comes_out() ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
    const auto channel = value_of(channels, std::pair(a.format.channel, a.format.channel_bytes));
    const cl::ImageFormat format(value_of(orders, a.format.order), channel);
    const auto& context = session.context();
    const auto type = type_of(a);
    if (a.read_write)
        if (const auto has = supported(session, CL_MEM_KERNEL_READ_AND_WRITE, type);
            std::ranges::count(has, a.format.name()) == 0)
            refuse_format(a, "read_write ", has, "");
    if (a.format.name() == "r16f" && device::has_quirk(facts, "pocl-r16f-images"))
        throw Unsupported("this driver lists the image format r16f but does not convert its pixels; rgba16f works");
    const auto held = [](const cl::Image& made) { return cl::Image2D(made(), true); };
    try {
        switch (type) {
            case CL_MEM_OBJECT_IMAGE1D_BUFFER:
                return held(cl::Image1DBuffer(context, flags, format, a.width, pixels));
            case CL_MEM_OBJECT_IMAGE1D:
                return held(cl::Image1D(context, flags, format, a.width));
            case CL_MEM_OBJECT_IMAGE1D_ARRAY:
                return held(cl::Image1DArray(context, flags, format, a.height, a.width, 0));
            case CL_MEM_OBJECT_IMAGE2D_ARRAY:
                return held(cl::Image2DArray(context, flags, format, a.depth, a.width, a.height, 0, 0));
            case CL_MEM_OBJECT_IMAGE3D:
                return held(cl::Image3D(context, flags, format, a.width, a.height, a.depth));
            default:
                return cl::Image2D(context, flags, format, a.width, a.height);
        }
    } catch (const cl::Error& e) {
        // Oclgrind 21.10 does not know depth images.
        const bool unknown = a.format.order == PixelFormat::Order::depth && e.err() == CL_INVALID_VALUE;
        if (!unknown && e.err() != CL_IMAGE_FORMAT_NOT_SUPPORTED && e.err() != CL_INVALID_OPERATION &&
            e.err() != CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
            throw;
        refuse_format(a, "", supported(session, flags, type), " (" + device::error_name(e.err()) + ")");
    }
}

}  // namespace

DeviceImage::DeviceImage(device::Session& session, const Image& image)
    : session_(session),
      size_{image.width, image.height, image.depth},
      pixels_(image.of_buffer ? cl::Buffer(session.context(), CL_MEM_READ_WRITE,
                                           image.width * image.height * image.depth * image.format.bytes())
                              : cl::Buffer()),
      image_(make_image(session, image, pixels_)) {}

void DeviceImage::put(std::span<const std::byte> pixels) {
    if (pixels_())
        session_.put(pixels_, pixels);
    else
        session_.queue().enqueueWriteImage(image_, CL_TRUE, {0, 0, 0}, size_, 0, 0, pixels.data());
}

void DeviceImage::get(std::span<std::byte> pixels) {
    if (pixels_())
        session_.get(pixels_, pixels);
    else
        session_.queue().enqueueReadImage(image_, CL_TRUE, {0, 0, 0}, size_, 0, 0, pixels.data());
}

// Uses the call of OpenCL 1.0, which every driver has: quirk oclgrind-sampler-properties.
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

}  // namespace cllab::run
