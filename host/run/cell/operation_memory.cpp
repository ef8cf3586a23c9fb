#include <algorithm>
#include <set>

#include "core/overloaded.hpp"
#include "core/table.hpp"
#include "core/units.hpp"
#include "device/quirks.hpp"
#include "model/work.hpp"
#include "run/cell/operation.hpp"

// The memory of an operation: made, shared and mapped. Its contents are in operation_contents.cpp.

namespace cllab::run {
namespace {

using namespace model;

std::size_t guard_of(std::size_t row_bytes) { return std::max(device::least_guard_bytes, row_bytes); }

/// Bytes of each of the two guards around an argument's buffer.
double guard_bytes(const Argument& argument) {
    const auto of = [](const auto& a) { return static_cast<double>(guard_of(a.row_bytes)); };
    return std::visit(Overloaded{[](const Input&) { return static_cast<double>(device::least_guard_bytes); },
                                 [&](const Output& a) { return of(a); }, [&](const InOut& a) { return of(a); },
                                 [&](const Scratch& a) { return of(a); }, [](const auto&) { return 0.0; }},
                      argument);
}

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

/// Names of the formats that the device supports for images of this type, among those that a user can name.
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
    throw Unsupported("the device has no image of this type" + kind + " in the format " + a.format.name() +
                      "; it has " + (has.empty() ? "none" : join(has, ", ")) + why);
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

/// Returns an Image2D handle for an image of any dimensions, because CLHPP's base class cannot be stored. Throws
/// Unsupported if the device has no image of that size or format.
cl::Image2D make_image(const device::Session& session, const Image& a, const cl::Buffer& pixels) {
    const auto& facts = session.facts();
    if (a.dims == 2 && (a.width > facts.image2d_max_width || a.height > facts.image2d_max_height))
        throw Unsupported("an image of " + std::to_string(a.width) + "x" + std::to_string(a.height) +
                          " is larger than the device's " + std::to_string(facts.image2d_max_width) + "x" +
                          std::to_string(facts.image2d_max_height));
    const cl_mem_flags flags = a.read_write ? CL_MEM_READ_WRITE : a.comes_out() ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
    const auto channel = value_of(channels, std::pair(a.format.channel, a.format.channel_bytes));
    const cl::ImageFormat format(value_of(orders, a.format.order), channel);
    const auto& context = session.context();
    const auto type = type_of(a);
    if (a.read_write)
        if (const auto has = supported(session, CL_MEM_KERNEL_READ_AND_WRITE, type);
            std::ranges::count(has, a.format.name()) == 0)
            refuse_format(a, " that one kernel reads and writes", has, "");
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

double data_bytes(const Setup& setup) {
    double out = 0;
    for (const auto& argument : setup.args) out += bytes_of(argument);
    return out;
}

double device_bytes(const Setup& setup) {
    double out = 0;
    std::set<std::string> reset;  // buffers with a second copy
    for (const auto& step : setup.steps)
        if (const auto* one = std::get_if<Reset>(&step)) reset.insert(one->data);
    for (const auto& argument : setup.args)
        out += bytes_of(argument) * (reset.count(model::name_of(argument)) > 0 ? 2 : 1) + 2 * guard_bytes(argument);
    return out;
}

bool Operation::is_alike(const Setup& setup) const {
    return std::ranges::all_of(setup.args, [&](const Argument& argument) {
        const auto own = memories_.find(model::name_of(argument));
        const auto bytes = bytes_of(argument);
        if (bytes <= 0) return true;  // needs no memory
        if (own == memories_.end() || static_cast<double>(own->second.size_bytes) != bytes) return false;
        const auto* input = std::get_if<Input>(&argument);
        return !input || own->second.data == input->data || (own->second.data && *own->second.data == *input->data);
    });
}

device::GuardedBuffer Operation::new_buffer(const Memory& m, Pages pages) {
    if (fence_ != device::Fence::none) return device::GuardedBuffer(session_, m.size_bytes, fence_, m.name);
    // A family checks the room for its data alone. Data that just fits may not fit between guards.
    if (const auto most = session_.facts().max_alloc_bytes;
        most > 0 && m.guard > 0 && m.size_bytes + 2 * m.guard > most)
        throw Unsupported("buffer '" + m.name + "' needs " + format_bytes(m.size_bytes) + " and guards of " +
                          format_bytes(m.guard) + " on both sides; the device allocates at most " + format_bytes(most) +
                          " at once");
    return device::GuardedBuffer(session_, m.size_bytes, m.guard, transfer_, pages, m.svm);
}

bool Operation::make_buffer(Memory m, const Operation* beside, bool all_alike, Pages pages) {
    if (m.size_bytes == 0) throw Error(Blame::result, "argument '" + m.name + "' has size 0");
    const auto* other = beside && beside->memories_.count(m.name) ? &beside->memories_.at(m.name) : nullptr;
    const bool shared = other && (all_alike || !m.keeps) && !other->is_image && other->size_bytes == m.size_bytes &&
                        other->read_back == m.read_back && other->poisoned == m.poisoned && other->svm == m.svm &&
                        beside->transfer_ == transfer_ && (!m.data || (other->data && *other->data == *m.data));
    m.buffer = shared ? other->buffer : new_buffer(m, pages);
    if (m.by_step != ByStep::none && transfer_ == Transfer::pinned) pin(m);
    alias_[m.name] = m.name;
    memories_[m.name] = std::move(m);
    return shared;
}

void Operation::make_image_memory(const Image& a) {
    const auto bytes = a.width * a.height * a.depth * a.format.bytes();
    const auto pixels = a.of_buffer ? cl::Buffer(session_.context(), CL_MEM_READ_WRITE, bytes) : cl::Buffer();
    memories_[a.name] = {.name = a.name,
                         .size_bytes = bytes,
                         .is_image = true,
                         .read_back = a.comes_out(),
                         .poisoned = !a.data,
                         .image = make_image(session_, a, pixels),
                         .pixels = pixels,
                         .width = a.width,
                         .height = a.height,
                         .depth = a.depth};
    alias_[a.name] = a.name;
}

void Operation::make_memory(const Setup& setup, const Operation* beside) {
    std::size_t shared = 0;
    const bool all_alike = beside && beside->is_alike(setup);
    // Oclgrind reports reads outside a buffer. Guards are part of the buffer and would hide such reads.
    const bool simulated = session_.facts().implementation == Implementation::oclgrind;
    const auto buffer = [&](Memory m) {
        m.svm = std::ranges::count(setup.svm, m.name) > 0;
        shared += make_buffer(std::move(m), beside, all_alike, setup.pages) ? 1 : 0;
    };
    for (const auto& argument : setup.args) {
        std::visit(Overloaded{[&](const Input& a) {
                                  buffer({.name = a.name,
                                          .size_bytes = a.data.size(),
                                          .guard = simulated ? 0 : guard_of(0),
                                          .data = a.data});
                              },
                              [&](const Output& a) {
                                  buffer({.name = a.name,
                                          .size_bytes = a.size_bytes,
                                          .guard = guard_of(a.row_bytes),
                                          .read_back = true,
                                          .poisoned = true,
                                          .by_step = a.by_step});
                              },
                              [&](const InOut& a) {
                                  buffer({.name = a.name,
                                          .size_bytes = a.data.size(),
                                          .guard = guard_of(a.row_bytes),
                                          .read_back = true,
                                          .poisoned = a.by_step == ByStep::up,
                                          .keeps = true,
                                          .by_step = a.by_step});
                              },
                              [&](const Scratch& a) {
                                  buffer({.name = a.name,
                                          .size_bytes = a.size_bytes,
                                          .guard = guard_of(a.row_bytes),
                                          .poisoned = true,
                                          .keeps = true});
                              },
                              [&](const Local&) {}, [&](const Value&) {},
                              [&](const Sampler& a) { samplers_.emplace(a.name, make_sampler(session_, a)); },
                              [&](const Image& a) { make_image_memory(a); }},
                   argument);
    }
    for (const auto& step : setup.steps)
        if (const auto* reset = std::get_if<Reset>(&step)) {
            auto& m = memories_.at(reset->data);
            if (!m.original()) m.original = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, m.size_bytes);
        }
    shares_memory_ = shared > 0 && shared == memories_.size();
    // Memory that keeps state between operations is shared only if all arguments are alike. Then its count is shared,
    // too.
    on_data_ = all_alike ? beside->on_data_ : std::make_shared<std::uint64_t>(0);
}

void Operation::pin(Memory& m) {
    m.pinned = cl::Buffer(session_.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, m.size_bytes);
    m.pinned_at = static_cast<std::byte*>(
        session_.queue().enqueueMapBuffer(m.pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, m.size_bytes));
}

std::span<std::byte> Operation::host_side(Memory& m) {
    if (m.pinned_at) return {m.pinned_at, m.size_bytes};
    m.host.resize(m.size_bytes);
    return m.host;
}

void Operation::make_host(Memory& m) {
    if (m.host.size() != m.size_bytes) m.host = session_.host_memory(m.size_bytes);
}

void Operation::forget_read_back() {
    for (auto& [name, m] : memories_)
        if (m.by_step == ByStep::none && !m.sent_back) session_.reuse(std::move(m.host));
}

void Operation::prepare_host(Memory& m) {
    if (m.by_step == ByStep::down) model::poison(host_side(m), seed_);
    if (m.by_step == ByStep::up && m.pinned_at) std::copy(m.data->begin(), m.data->end(), m.pinned_at);
}

Operation::~Operation() {
    try {
        release();
        forget_read_back();
        for (const auto& [name, m] : memories_)
            if (m.pinned_at) session_.queue().enqueueUnmapMemObject(m.pinned, m.pinned_at);
    } catch (const cl::Error&) {  // the device is lost; nothing more to do
    }
}

void Operation::hold() {
    if (!held_.empty()) return;
    for (const auto& [name, m] : memories_) {
        if (m.is_image) throw Error(Blame::result, "a native loop cannot use the image '" + name + "'");
        held_[name] =
            session_.queue().enqueueMapBuffer(m.buffer.buffer(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, m.size_bytes);
    }
    name_held();
}

void Operation::name_held() {
    for (auto& argument : args_) {
        const auto& name = name_of(argument);
        if (auto* value = std::get_if<Value>(&argument)) host_memory_.data[name] = value->data;
        const auto alias = alias_.find(name);
        if (alias != alias_.end())
            host_memory_.data[name] = {static_cast<std::byte*>(held_.at(alias->second)),
                                       memories_.at(alias->second).size_bytes};
    }
}

void Operation::release() {
    if (held_.empty()) return;
    for (const auto& [name, at] : held_) session_.queue().enqueueUnmapMemObject(memories_.at(name).buffer.buffer(), at);
    held_.clear();
    host_memory_.data.clear();
    session_.queue().finish();
}

bool Operation::lies_in_place() const {
    return std::ranges::all_of(memories_, [](const auto& named) {
        const auto& m = named.second;
        return m.is_image || !m.read_back || m.by_step != ByStep::none || m.buffer.lies_in_place(m.host);
    });
}

std::optional<double> Operation::huge_share() const {
    const Memory* largest = nullptr;
    for (const auto& [name, m] : memories_) {
        if (!m.is_image && (!largest || m.size_bytes > largest->size_bytes)) largest = &m;
    }
    return largest ? largest->buffer.huge_share() : std::nullopt;
}

}  // namespace cllab::run
