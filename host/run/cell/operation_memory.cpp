#include <algorithm>

#include "core/overloaded.hpp"
#include "core/parallel.hpp"
#include "core/phases.hpp"
#include "core/units.hpp"
#include "model/work.hpp"
#include "run/cell/operation.hpp"

// The memory of an operation: made, filled, poisoned, guarded and read back. Its steps are in operation.cpp.
namespace cllab::run {
namespace {

using namespace model;

cl::ImageFormat image_format(Image::Format format) {
    switch (format) {
        case Image::Format::r8_unsigned:
            return {CL_R, CL_UNSIGNED_INT8};
        case Image::Format::r8_normalised:
            return {CL_R, CL_UNORM_INT8};
        case Image::Format::r32_float:
            return {CL_R, CL_FLOAT};
        case Image::Format::rgba8_unsigned:
            return {CL_RGBA, CL_UNSIGNED_INT8};
        case Image::Format::rgba8_normalised:
            return {CL_RGBA, CL_UNORM_INT8};
        case Image::Format::rgba32_float:
            return {CL_RGBA, CL_FLOAT};
    }
    return {CL_R, CL_UNSIGNED_INT8};
}

cl_addressing_mode address_mode(Sampler::Outside outside) {
    switch (outside) {
        case Sampler::Outside::undefined:
            return CL_ADDRESS_NONE;
        case Sampler::Outside::edge:
            return CL_ADDRESS_CLAMP_TO_EDGE;
        case Sampler::Outside::zero:
            return CL_ADDRESS_CLAMP;
        case Sampler::Outside::repeat:
            return CL_ADDRESS_REPEAT;
        case Sampler::Outside::mirror:
            return CL_ADDRESS_MIRRORED_REPEAT;
    }
    return CL_ADDRESS_NONE;
}

/// By the call of OpenCL 1.0, which every driver has: quirk oclgrind-sampler-properties.
cl::Sampler make_sampler(const device::Session& session, const Sampler& a) {
    cl_int code = CL_SUCCESS;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    const auto made = clCreateSampler(session.context()(), a.normalised, address_mode(a.outside),
                                      a.linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
#pragma GCC diagnostic pop
    if (code != CL_SUCCESS) throw cl::Error(code, "clCreateSampler");
    return cl::Sampler(made);
}

/// CLHPP's base class cannot be held: the handle of Image2D does for images of any dimensions.
cl::Image2D make_image(const device::Session& session, const Image& a) {
    const cl_mem_flags flags = a.data ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY;
    const auto format = image_format(a.format);
    if (a.dims == 1) return cl::Image2D(cl::Image1D(session.context(), flags, format, a.width)(), true);
    if (a.dims == 3)
        return cl::Image2D(cl::Image3D(session.context(), flags, format, a.width, a.height, a.depth)(), true);
    return cl::Image2D(session.context(), flags, format, a.width, a.height);
}

std::size_t guard_of(std::size_t row_bytes) { return std::max(device::least_guard_bytes, row_bytes); }

/// Bytes of one of the guards beside an argument's buffer.
double guard_bytes(const Argument& argument) {
    const auto of = [](const auto& a) { return static_cast<double>(guard_of(a.row_bytes)); };
    return std::visit(Overloaded{[](const Input&) { return static_cast<double>(device::least_guard_bytes); },
                                 [&](const Output& a) { return of(a); }, [&](const InOut& a) { return of(a); },
                                 [&](const Scratch& a) { return of(a); }, [](const auto&) { return 0.0; }},
                      argument);
}

}  // namespace

double data_bytes(const Setup& setup) {
    double out = 0;
    for (const auto& argument : setup.args) out += bytes_of(argument);
    return out;
}

double device_bytes(const Setup& setup) {
    double out = 0;
    for (const auto& argument : setup.args) out += bytes_of(argument) + 2 * guard_bytes(argument);
    return out;
}

bool Operation::is_alike(const Setup& setup) const {
    return std::all_of(setup.args.begin(), setup.args.end(), [&](const Argument& argument) {
        const auto own = memories_.find(model::name_of(argument));
        const auto bytes = bytes_of(argument);
        if (bytes <= 0) return true;  // in no memory
        if (own == memories_.end() || static_cast<double>(own->second.size_bytes) != bytes) return false;
        const auto* input = std::get_if<Input>(&argument);
        return !input || own->second.data == input->data || (own->second.data && *own->second.data == *input->data);
    });
}

device::GuardedBuffer Operation::make_buffer(const Setup& setup, const std::string& name, std::size_t bytes,
                                             std::size_t guard, device::Fence fence) {
    if (fence != device::Fence::none) return device::GuardedBuffer(session_, bytes, fence, name);
    // A family asks for room by its data alone; what just fits may not fit between its guards.
    if (const auto most = session_.facts().max_alloc_bytes; most > 0 && guard > 0 && bytes + 2 * guard > most)
        throw Unsupported("buffer '" + name + "' needs " + format_bytes(bytes) + " and guards of " +
                          format_bytes(guard) + " on both sides; the device allocates at most " + format_bytes(most) +
                          " at once");
    return device::GuardedBuffer(session_, bytes, guard, transfer_, setup.pages);
}

void Operation::make_memory(const Setup& setup, const Operation* beside, device::Fence fence) {
    std::size_t shared = 0;
    const bool all_alike = beside && beside->is_alike(setup);
    // `input`: what no kernel may write must be the same for both; anything else is written by each. `keeps`: what an
    // operation leaves there may be what the next one begins with, as a chase's place in its chain, and means nothing
    // beside other data.
    const auto buffer = [&](const std::string& name, std::size_t bytes, std::size_t guard, bool read_back,
                            bool poisoned, bool keeps, const SharedBytes& input = nullptr,
                            ByStep by_step = ByStep::none) {
        if (bytes == 0) throw Error(Blame::result, "argument '" + name + "' has size 0");
        Memory m;
        m.name = name;
        m.size_bytes = bytes;
        m.read_back = read_back;
        m.poisoned = poisoned;
        m.by_step = by_step;
        const auto other = beside ? beside->memories_.find(name) : memories_.end();
        if (beside && (all_alike || !keeps) && other != beside->memories_.end() && !other->second.is_image &&
            other->second.size_bytes == bytes && other->second.read_back == read_back &&
            other->second.poisoned == poisoned && beside->transfer_ == transfer_ &&
            (!input || (other->second.data && *other->second.data == *input))) {
            m.buffer = other->second.buffer;
            ++shared;
        } else {
            m.buffer = make_buffer(setup, name, bytes, guard, fence);
        }
        if (by_step != ByStep::none && transfer_ == Transfer::pinned) pin(m);
        memories_[name] = std::move(m);
        alias_[name] = name;
    };
    for (const auto& argument : setup.args) {
        std::visit(
            Overloaded{
                [&](const Input& a) {
                    // A simulator sees what is read outside; beside a guard it would not.
                    const bool simulated = session_.facts().implementation == Implementation::oclgrind;
                    buffer(a.name, a.data.size(), simulated ? 0 : guard_of(0), false, false, false, a.data);
                },
                [&](const Output& a) {
                    buffer(a.name, a.size_bytes, guard_of(a.row_bytes), true, true, false, nullptr, a.by_step);
                },
                [&](const InOut& a) {
                    buffer(a.name, a.data.size(), guard_of(a.row_bytes), true, a.by_step == ByStep::up, true, nullptr,
                           a.by_step);
                },
                [&](const Scratch& a) { buffer(a.name, a.size_bytes, guard_of(a.row_bytes), false, true, true); },
                [&](const Local&) {}, [&](const Value&) {},
                [&](const Sampler& a) { samplers_.emplace(a.name, make_sampler(session_, a)); },
                [&](const Image& a) {
                    const auto& facts = session_.facts();
                    if (a.dims == 2 && (a.width > facts.image2d_max_width || a.height > facts.image2d_max_height))
                        throw Unsupported("an image of " + std::to_string(a.width) + "x" + std::to_string(a.height) +
                                          " is larger than the device's " + std::to_string(facts.image2d_max_width) +
                                          "x" + std::to_string(facts.image2d_max_height));
                    Memory m;
                    m.name = a.name;
                    m.is_image = true;
                    m.width = a.width;
                    m.height = a.height;
                    m.depth = a.depth;
                    m.size_bytes = a.width * a.height * a.depth * pixel_bytes(a.format);
                    m.read_back = m.poisoned = a.data == nullptr;
                    try {
                        m.image = make_image(session_, a);
                    } catch (const cl::Error& e) {
                        if (e.err() != CL_IMAGE_FORMAT_NOT_SUPPORTED && e.err() != CL_INVALID_OPERATION) throw;
                        throw Unsupported("the device has no image of this format: " + device::error_name(e.err()));
                    }
                    memories_[a.name] = std::move(m);
                    alias_[a.name] = a.name;
                }},
            argument);
    }
    shares_memory_ = shared > 0 && shared == memories_.size();
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

void Operation::prepare_host(Memory& m) {
    if (m.by_step == ByStep::down) model::poison(host_side(m), seed_);
    if (m.by_step == ByStep::up && m.pinned_at) std::copy(m.data->begin(), m.data->end(), m.pinned_at);
}

Operation::~Operation() {
    try {
        release();
        for (const auto& [name, m] : memories_)
            if (m.pinned_at) session_.queue().enqueueUnmapMemObject(m.pinned, m.pinned_at);
    } catch (const cl::Error&) {  // of a device that is lost nothing more is wanted
    }
}

void Operation::hold() {
    if (!held_.empty()) return;
    for (const auto& [name, m] : memories_) {
        if (m.is_image) throw Error(Blame::result, "a native loop cannot have the image '" + name + "'");
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

std::optional<double> Operation::huge_share() const {
    const Memory* largest = nullptr;
    for (const auto& [name, m] : memories_) {
        if (!m.is_image && (!largest || m.size_bytes > largest->size_bytes)) largest = &m;
    }
    return largest ? largest->buffer.huge_share() : std::nullopt;
}

void Operation::load(const Setup& setup, std::uint64_t seed) {
    const InPhase phase(Phase::buffers);
    release();
    seed_ = seed;
    operations_ = 0;
    rewritten_ = false;
    args_ = setup.args;
    if (swaps_) {
        for (auto& [name, target] : alias_) target = name;
    }
    for (const auto& argument : setup.args) {
        const auto found = memories_.find(name_of(argument));
        if (found == memories_.end()) continue;
        auto& m = found->second;
        m.arrival = {};
        if (const auto* input = std::get_if<Input>(&argument)) m.data = input->data;
        if (const auto* inout = std::get_if<InOut>(&argument)) m.data = inout->data;
        if (const auto* image = std::get_if<Image>(&argument)) m.data = image->data;
        // What no kernel may write is on the device already when the same data is verified once more.
        if (std::holds_alternative<Input>(argument) && m.loaded == m.data) continue;
        if (!m.poisoned && m.data->size() != m.size_bytes)
            throw Error(Blame::result, "argument '" + m.name + "' has " + std::to_string(m.data->size()) +
                                           " bytes, expected " + std::to_string(m.size_bytes));
        if (m.poisoned)
            fill_with_poison(m);
        else
            fill(m);
        if (m.is_image) continue;
        prepare_host(m);
        m.buffer.arm(seed);
        m.loaded = m.data;
    }
    for (const auto& step : steps_) bind(step);
}

void Operation::fill(Memory& m, std::span<const std::byte> from) {
    if (m.is_image)
        session_.queue().enqueueWriteImage(m.image, CL_TRUE, {0, 0, 0}, {m.width, m.height, m.depth}, 0, 0,
                                           from.data());
    else if (is_in_place(transfer_))
        device::upload(session_, m.buffer.buffer(), from, transfer_);
    else
        session_.put(m.buffer.buffer(), from);
}

void Operation::fill(Memory& m) {
    if (m.is_image || is_in_place(transfer_))
        fill(m, *m.data);
    else
        session_.put(m.buffer.buffer(), m.data);
}

void Operation::fill_with_poison(Memory& m) {
    if (!m.is_image && session_.poison(m.buffer.buffer(), m.size_bytes, seed_)) return;
    m.host.resize(m.size_bytes);
    model::poison(m.host, seed_);
    fill(m, m.host);
}

void Operation::poison() {
    const InPhase phase(Phase::buffers);
    release();
    for (auto& [name, m] : memories_) {
        if (!m.read_back) continue;
        if (m.poisoned)
            fill_with_poison(m);
        else
            fill(m);
        prepare_host(m);
    }
    rewritten_ = false;
}

Operation::Contents Operation::poison_contents() const {
    const InPhase phase(Phase::buffers);
    Contents out;
    for (const auto& [name, m] : memories_) {
        if (!m.read_back) continue;
        auto& bytes = out[name];
        if (m.poisoned) {
            bytes.resize(m.size_bytes);
            model::poison(bytes, seed_);
        } else {
            bytes.resize(m.size_bytes);
            copy_bytes(bytes, *m.data);
        }
    }
    return out;
}

void Operation::overwrite(const Contents& contents) {
    const InPhase phase(Phase::buffers);
    release();
    for (const auto& [name, bytes] : contents) {
        auto& m = memories_.at(name);
        fill(m, bytes);
        if (m.by_step != ByStep::none) prepare_host(m);
    }
    rewritten_ = false;
}

std::optional<std::string> Operation::guard_damage() {
    release();
    for (auto& [name, m] : memories_) {
        if (m.is_image) continue;
        if (auto damage = m.buffer.guard_damage(name)) return damage;
    }
    return std::nullopt;
}

bool Operation::lies_in_place() const {
    return std::all_of(memories_.begin(), memories_.end(), [](const auto& named) {
        const auto& m = named.second;
        return m.is_image || !m.read_back || m.by_step != ByStep::none || m.buffer.lies_in_place(m.host);
    });
}

std::optional<std::string> Operation::read_back(Buffers& buffers) {
    const InPhase phase(Phase::download);
    buffers.data.clear();
    buffers.operations = operations_;
    buffers.trips = slope_ ? trips_ : 0;
    buffers.poison_seed = seed_;
    const auto& queue = session_.queue();
    session_.wait();
    if (auto damage = guard_damage()) return damage;
    for (const auto& [argument, target] : alias_) {
        if (!memories_.at(argument).read_back) continue;
        auto& m = memories_.at(target);  // a Swap may have put a scratch buffer where the output was
        if (m.by_step == ByStep::down) {
            buffers.data.emplace(argument, host_side(m));
            continue;
        }
        m.host.resize(m.size_bytes);
        if (m.is_image)
            queue.enqueueReadImage(m.image, CL_TRUE, {0, 0, 0}, {m.width, m.height, m.depth}, 0, 0, m.host.data());
        else if (is_in_place(transfer_))
            device::download(session_, m.buffer.buffer(), m.host, transfer_);
        else
            session_.get(m.buffer.buffer(), m.host);
        buffers.data.emplace(argument, m.host);
    }
    return std::nullopt;
}

double Operation::time_upload(const Setup& setup) {
    release();
    double seconds = 0;
    for (const auto& argument : setup.args) {
        const auto found = memories_.find(name_of(argument));
        if (found == memories_.end() || found->second.is_image || !found->second.data) continue;
        auto& m = found->second;
        const auto from =
            m.pinned_at ? std::span<const std::byte>(m.pinned_at, m.size_bytes) : std::span<const std::byte>(*m.data);
        seconds += device::upload(session_, m.buffer.buffer(), from, transfer_);
    }
    return seconds;
}

double Operation::time_download() {
    release();
    double seconds = 0;
    for (auto& [name, m] : memories_) {
        if (!m.read_back || m.is_image || m.by_step == ByStep::up) continue;
        seconds += device::download(session_, m.buffer.buffer(), host_side(m), transfer_);
    }
    return seconds;
}

}  // namespace cllab::run
