#include "run/cell/device_memory.hpp"

#include <algorithm>
#include <set>

#include "core/parallel.hpp"
#include "core/phases.hpp"
#include "core/units.hpp"
#include "model/work.hpp"

namespace cllab::run {
namespace {

using namespace model;

template <typename... T>
bool is(const Argument& argument) {
    return (std::holds_alternative<T>(argument) || ...);
}

MemoryForm form_of(const Argument& argument) {
    MemoryForm out{.name = name_of(argument), .size_bytes = static_cast<std::size_t>(bytes_of(argument))};
    const auto* image = std::get_if<Image>(&argument);
    std::size_t row_bytes = 0;
    std::visit(
        [&](const auto& a) {
            if constexpr (requires { a.row_bytes; }) row_bytes = a.row_bytes;
            if constexpr (requires { a.element_bytes; }) out.element_bytes = a.element_bytes;
            if constexpr (requires { a.by_step; }) out.by_step = a.by_step;
        },
        argument);
    if (is<Input, Output, InOut, Scratch>(argument)) out.guard_bytes = std::max(device::least_guard_bytes, row_bytes);
    out.read_back = is<Output, InOut>(argument) || (image && image->comes_out());
    out.poisoned = is<Output, Scratch>(argument) || (image && !image->data) || out.by_step == ByStep::up;
    out.keeps = is<InOut, Scratch>(argument);
    return out;
}

auto* find(auto& memories, const Argument& argument) {
    const auto found = memories.find(name_of(argument));
    return found == memories.end() ? nullptr : &found->second;
}

SharedBytes data_of(const Argument& argument) {
    if (const auto* input = std::get_if<Input>(&argument)) return input->data;
    if (const auto* inout = std::get_if<InOut>(&argument)) return inout->data;
    if (const auto* image = std::get_if<Image>(&argument)) return image->data;
    return {};
}

device::GuardedBuffer make_buffer(device::Session& session, const MemoryForm& form, Pages pages, device::Fence fence) {
    if (form.size_bytes == 0) throw Error(Blame::result, "argument '" + form.name + "' has size 0");
    if (fence != device::Fence::none)
        return device::GuardedBuffer(session, form.size_bytes, fence, form.name, form.element_bytes);
    // A family checks the room for its data only. The data may fit, but not together with the guards.
    if (const auto most = session.facts().max_alloc_bytes;
        most > 0 && form.guard_bytes > 0 && form.size_bytes + 2 * form.guard_bytes > most)
        throw Unsupported("buffer '" + form.name + "' needs " + format_bytes(form.size_bytes) + " and guards of " +
                          format_bytes(form.guard_bytes) + " on both sides; the device allocates at most " +
                          format_bytes(most) + " at once");
    return device::GuardedBuffer(session, form.size_bytes, form.guard_bytes, form.transfer, pages, form.svm);
}

}  // namespace

double data_bytes(const Setup& setup) {
    double out = 0;
    for (const auto& argument : setup.args) out += bytes_of(argument);
    return out;
}

double device_bytes(const Setup& setup) {
    double out = 0;
    std::set<std::string> reset;  // these have a copy on the device
    for (const auto& step : setup.steps)
        if (const auto* one = std::get_if<Reset>(&step)) reset.insert(one->data);
    for (const auto& argument : setup.args) {
        const auto form = form_of(argument);
        out += bytes_of(argument) * (reset.count(form.name) > 0 ? 2 : 1) + 2 * static_cast<double>(form.guard_bytes);
    }
    return out;
}

ArgumentMemory::ArgumentMemory(device::Session& session, MemoryForm form, SharedBytes data,
                               device::GuardedBuffer buffer)
    : session_(session), form_(std::move(form)), data_(std::move(data)), buffer_(std::move(buffer)) {
    if (form_.by_step == ByStep::none || form_.transfer != Transfer::pinned) return;
    const auto& queue = session_.queue();
    const cl::Buffer pinned(session_.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, form_.size_bytes);
    void* at = queue.enqueueMapBuffer(pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, form_.size_bytes);
    host_.pinned = {static_cast<std::byte*>(at), [queue, pinned](std::byte* mapped) {
                        clEnqueueUnmapMemObject(queue(), pinned(), mapped, 0, nullptr, nullptr);
                    }};
}

ArgumentMemory::ArgumentMemory(device::Session& session, MemoryForm form, const Image& image)
    : session_(session), form_(std::move(form)), image_(std::in_place, session, image) {}

const cl::Buffer& ArgumentMemory::part(const Part& part) {
    auto& out = parts_[part.name];
    if (!out()) out = buffer_.part(part.origin_bytes, part.size_bytes);
    return out;
}

bool ArgumentMemory::suits(const MemoryForm& form, const SharedBytes& data) const {
    return !image_ && form_.size_bytes == form.size_bytes && form_.read_back == form.read_back &&
           form_.poisoned == form.poisoned && form_.svm == form.svm && form_.transfer == form.transfer &&
           (form.is_written() || holds(data));
}

void ArgumentMemory::load(const SharedBytes& data, std::uint64_t seed, bool anew) {
    data_ = data;
    seed_ = seed;
    if (!form_.is_written() && loaded_ == data_ && !anew) return;
    if (!form_.poisoned && data_.size() != form_.size_bytes)
        throw Error(Blame::result, "argument '" + form_.name + "' has " + std::to_string(data_.size()) +
                                       " bytes, expected " + std::to_string(form_.size_bytes));
    refill();
    if (image_) return;
    if (original_()) session_.put(original_, *data_);
    buffer_.arm(seed, anew);
    loaded_ = data_;
}

void ArgumentMemory::refill() {
    if (host_.arrival) host_.arrival = cl::Event();
    if (!form_.poisoned) {
        fill(data_);
    } else if (image_ || !session_.poison(buffer_.buffer(), form_.size_bytes, seed_)) {
        make_host();
        model::poison(host_.bytes, seed_);
        fill(std::span<const std::byte>(host_.bytes));
    }
    prepare_host();
}

void ArgumentMemory::overwrite(std::span<const std::byte> bytes) {
    fill(bytes);
    prepare_host();
}

void ArgumentMemory::fill(std::span<const std::byte> from) {
    if (image_)
        image_->put(from);
    else if (is_in_place(form_.transfer))
        device::upload(session_, buffer_.buffer(), from, form_.transfer);
    else
        session_.put(buffer_.buffer(), from);
}

void ArgumentMemory::fill(const SharedBytes& data) {
    if (image_ || is_in_place(form_.transfer))
        fill(std::span<const std::byte>(*data));
    else
        session_.put(buffer_.buffer(), data);
}

void ArgumentMemory::get(std::span<std::byte> to) {
    if (image_)
        image_->get(to);
    else if (is_in_place(form_.transfer))
        device::download(session_, buffer_.buffer(), to, form_.transfer);
    else
        session_.get(buffer_.buffer(), to);
}

Bytes ArgumentMemory::first_contents() const {
    Bytes out(form_.size_bytes);
    if (form_.poisoned)
        model::poison(out, seed_);
    else
        copy_bytes(out, *data_);
    return out;
}

void ArgumentMemory::prepare_host() {
    if (form_.by_step == ByStep::down) model::poison(download_target(), seed_);
    if (form_.by_step == ByStep::up && host_.pinned) std::ranges::copy(*data_, host_.pinned.get());
}

void ArgumentMemory::make_host() {
    if (host_.bytes.size() != form_.size_bytes) host_.bytes = session_.host_memory(form_.size_bytes);
}

std::span<const std::byte> ArgumentMemory::read_back() {
    if (form_.by_step == ByStep::down) return download_target();
    make_host();
    get(host_.bytes);
    return host_.bytes;
}

void ArgumentMemory::forget_read_back() {
    if (form_.by_step == ByStep::none && !host_.arrival) session_.reuse(std::move(host_.bytes));
}

bool ArgumentMemory::lies_in_place() const {
    return image_ || !form_.read_back || form_.by_step != ByStep::none || buffer_.lies_in_place(host_.bytes);
}

bool ArgumentMemory::is_filled() const {
    return buffer_.is_filled() || (data_ && std::ranges::all_of(*data_, [](std::byte b) { return b == std::byte{}; }));
}

std::span<const std::byte> ArgumentMemory::upload_source() {
    const bool comes_back = host_.arrival && (*host_.arrival)();
    // Wait on an in-order queue, too. NVIDIA's driver (580.159 on an H200) copies small host memory when the write is
    // enqueued, before the earlier read has filled it.
    if (comes_back) host_.arrival->wait();
    if (host_.bytes.size() != form_.size_bytes && !data_) {  // the device wrote its poison itself
        host_.bytes.resize(form_.size_bytes);
        model::poison(host_.bytes, seed_);
    }
    if (host_.pinned) return {host_.pinned.get(), form_.size_bytes};
    return data_ && !comes_back ? *data_ : host_.bytes;
}

std::span<std::byte> ArgumentMemory::download_target() {
    if (host_.pinned) return {host_.pinned.get(), form_.size_bytes};
    host_.bytes.resize(form_.size_bytes);
    return host_.bytes;
}

void ArgumentMemory::keep_original() {
    if (!original_()) original_ = cl::Buffer(session_.context(), CL_MEM_READ_WRITE, form_.size_bytes);
}

double ArgumentMemory::time_upload() {
    if (image_ || !data_) return 0;
    const auto* from = host_.pinned ? host_.pinned.get() : data_->data();
    return device::upload(session_, buffer_.buffer(), {from, form_.size_bytes}, form_.transfer);
}

double ArgumentMemory::time_download() {
    if (!form_.read_back || image_ || form_.by_step == ByStep::up) return 0;
    return device::download(session_, buffer_.buffer(), download_target(), form_.transfer);
}

DeviceMemory::DeviceMemory(device::Session& session, const Setup& setup, const DeviceMemory* donor, device::Fence fence)
    : session_(session) {
    const InPhase phase(Phase::buffers);
    const bool all_alike = donor && donor->is_alike(setup);
    const bool simulated = session_.facts().implementation == Implementation::oclgrind;
    std::size_t shared = 0;
    for (const auto& argument : setup.args) {
        if (is<Local, Value, Sampler>(argument)) continue;
        auto form = form_of(argument);
        form.svm = std::ranges::count(setup.svm, form.name) > 0;
        form.transfer = setup.transfer;
        // A simulator reports reads outside a buffer, but guards would hide them.
        if (simulated && is<Input>(argument)) form.guard_bytes = 0;
        if (const auto* image = std::get_if<Image>(&argument)) {
            arguments_.try_emplace(form.name, session_, form, *image);
            continue;
        }
        const auto data = is<Input>(argument) ? data_of(argument) : SharedBytes();
        const auto* other = donor && (all_alike || !form.keeps) ? find(donor->arguments_, argument) : nullptr;
        const bool suits = other && other->suits(form, data);
        shared += suits ? 1 : 0;
        arguments_.try_emplace(form.name, session_, form, data,
                               suits ? other->buffer() : make_buffer(session_, form, setup.pages, fence));
    }
    for (const auto& step : setup.steps)
        if (const auto* reset = std::get_if<Reset>(&step)) arguments_.at(reset->data).keep_original();
    shared_ = shared > 0 && shared == arguments_.size();
    // Operations that share all memory share one count. Memory that carries data between operations is shared only
    // then.
    on_data_ = all_alike ? donor->on_data_ : std::make_shared<std::uint64_t>(0);
}

DeviceMemory::~DeviceMemory() {
    try {
        release();
        forget_read_back();
    } catch (const cl::Error&) {  // the device is lost, and its memory with it
    }
}

bool DeviceMemory::is_alike(const Setup& setup) const {
    return std::ranges::all_of(setup.args, [&](const Argument& argument) {
        const auto bytes = bytes_of(argument);
        const auto* own = find(arguments_, argument);
        return bytes <= 0 || (own && static_cast<double>(own->form().size_bytes) == bytes &&
                              (!is<Input>(argument) || own->holds(data_of(argument))));
    });
}

void DeviceMemory::load(const std::vector<Argument>& arguments, std::uint64_t seed) {
    release();
    *on_data_ = 0;
    for (const auto& argument : arguments)
        if (auto* m = find(arguments_, argument)) m->load(data_of(argument), seed, lent_);
}

void DeviceMemory::poison() {
    release();
    for (auto& [name, m] : arguments_)
        if (m.form().read_back) m.refill();
}

void DeviceMemory::restore(const std::vector<Argument>& arguments) {
    release();
    for (const auto& argument : arguments)
        if (auto* m = find(arguments_, argument); m && m->form().is_written()) m->refill();
    *on_data_ = 0;
}

void DeviceMemory::overwrite(const Views& contents) {
    release();
    for (const auto& [name, bytes] : contents) arguments_.at(name).overwrite(bytes);
    *on_data_ = 0;
}

std::optional<std::string> DeviceMemory::guard_damage() {
    release();
    for (auto& [name, m] : arguments_)
        if (auto damage = m.guard_damage()) return damage;
    return std::nullopt;
}

double DeviceMemory::time_upload(const std::vector<Argument>& arguments) {
    release();
    double seconds = 0;
    for (const auto& argument : arguments)
        if (auto* m = find(arguments_, argument)) seconds += m->time_upload();
    return seconds;
}

double DeviceMemory::time_download() {
    release();
    double seconds = 0;
    for (auto& [name, m] : arguments_) seconds += m.time_download();
    return seconds;
}

DeviceMemory::Contents DeviceMemory::poison_contents() const {
    const InPhase phase(Phase::buffers);
    Contents out;
    for (const auto& [name, m] : arguments_)
        if (m.form().read_back) out.emplace(name, m.first_contents());
    return out;
}

void DeviceMemory::forget_read_back() {
    for (auto& [name, m] : arguments_) m.forget_read_back();
}

bool DeviceMemory::lies_in_place() const {
    return std::ranges::all_of(arguments_, [](const auto& named) { return named.second.lies_in_place(); });
}

bool DeviceMemory::is_filled() const {
    return std::ranges::all_of(arguments_, [](const auto& named) { return named.second.is_filled(); }) &&
           std::ranges::any_of(arguments_, [](const auto& named) { return named.second.buffer().is_filled(); });
}

void DeviceMemory::repeat_contents() {
    for (auto& [name, m] : arguments_) m.repeat_contents();
}

std::optional<double> DeviceMemory::huge_share() const {
    const ArgumentMemory* largest = nullptr;
    for (const auto& [name, m] : arguments_)
        if (!m.image() && (!largest || m.form().size_bytes > largest->form().size_bytes)) largest = &m;
    return largest ? largest->buffer().huge_share() : std::nullopt;
}

bool DeviceMemory::hold() {
    if (!held_.empty()) return false;
    for (auto& [name, m] : arguments_) {
        if (m.image()) throw Error(Blame::result, "a native loop cannot use the image '" + name + "'");
        void* at = session_.queue().enqueueMapBuffer(m.buffer().buffer(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                                     m.form().size_bytes);
        held_[name] = {static_cast<std::byte*>(at), m.form().size_bytes};
    }
    return true;
}

void DeviceMemory::release() {
    if (held_.empty()) return;
    for (auto& [name, at] : held_)
        session_.queue().enqueueUnmapMemObject(arguments_.at(name).buffer().buffer(), at.data());
    held_.clear();
    session_.queue().finish();
}

}  // namespace cllab::run
