#include "device/staging.hpp"

#include <algorithm>

#include "core/embedded.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "device/program.hpp"
#include "device/session.hpp"

namespace cllab::device {

Staging::Staging(Session& session) : session_(session) {
    for (auto& piece : pieces_) {
        piece.pinned = cl::Buffer(session.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, piece_bytes);
        piece.at = static_cast<std::byte*>(
            session.queue().enqueueMapBuffer(piece.pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, piece_bytes));
    }
}

Staging::~Staging() {
    try {
        for (auto& piece : pieces_)
            if (piece.at) session_.queue().enqueueUnmapMemObject(piece.pinned, piece.at);
        session_.queue().finish();
    } catch (const cl::Error&) {
        // The context frees it.
    }
}

void Staging::upload(const cl::Buffer& to, std::span<const std::byte> data) {
    std::size_t turn = 0;
    for (std::size_t at = 0; at < data.size(); at += piece_bytes) {
        auto& piece = pieces_[turn++ % pieces_.size()];
        const auto bytes = std::min(piece_bytes, data.size() - at);
        if (piece.busy()) piece.busy.wait();
        copy_bytes({piece.at, bytes}, data.subspan(at, bytes));
        session_.queue().enqueueWriteBuffer(to, CL_FALSE, at, bytes, piece.at, nullptr, &piece.busy);
        session_.queue().flush();
    }
    session_.wait();
}

void Staging::download(const cl::Buffer& from, std::span<std::byte> data) {
    const auto bytes_at = [&](std::size_t at) { return std::min(piece_bytes, data.size() - at); };
    const auto ask = [&](std::size_t at) {
        auto& piece = pieces_[at / piece_bytes % pieces_.size()];
        session_.queue().enqueueReadBuffer(from, CL_FALSE, at, bytes_at(at), piece.at, nullptr, &piece.busy);
        session_.queue().flush();
    };
    if (!data.empty()) ask(0);
    for (std::size_t at = 0; at < data.size(); at += piece_bytes) {
        if (at + piece_bytes < data.size()) ask(at + piece_bytes);
        auto& piece = pieces_[at / piece_bytes % pieces_.size()];
        piece.busy.wait();
        copy_bytes(data.subspan(at, bytes_at(at)), {piece.at, bytes_at(at)});
    }
    session_.wait();
}

PoisonKernel::PoisonKernel(Session& session) : session_(session) {
    const auto built = build(session, std::string(embedded("device/poison.cl")), "");
    if (!built.ok)
        throw Error(Blame::result, "cllab's kernel lab_poison does not build (" + error_name(built.code) + ")");
    kernel_ = cl::Kernel(built.program, "lab_poison");
    constexpr std::size_t bytes = 64 << 10;
    constexpr std::uint64_t seed = 7;
    model::Bytes expected(bytes), found(bytes);
    model::poison(expected, seed);
    const cl::Buffer buffer(session.context(), CL_MEM_READ_WRITE, bytes);
    fill(buffer, bytes, seed);
    session.queue().enqueueReadBuffer(buffer, CL_TRUE, 0, bytes, found.data());
    if (found != expected) throw Error(Blame::result, "cllab's kernel lab_poison gives wrong results here");
}

void PoisonKernel::fill(const cl::Buffer& buffer, std::size_t bytes, std::uint64_t seed) {
    constexpr std::size_t group = 64, most_items = 1 << 20;
    kernel_.setArg(0, buffer);
    kernel_.setArg(1, cl_ulong{mix64(seed)});
    kernel_.setArg(2, cl_ulong{bytes / 8});
    const auto items = std::clamp<std::size_t>((bytes / 8 + group - 1) / group * group, group, most_items);
    session_.queue().enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(items), cl::NDRange(group));
}

const Originals::Kept* Originals::find(const model::SharedBytes& data) const {
    const auto wanted = data.identity();
    const auto same = [&](const Kept& original) {
        return !original.whose.owner_before(wanted) && !wanted.owner_before(original.whose);
    };
    const auto found = std::ranges::find_if(kept_, same);
    return found == kept_.end() ? nullptr : &*found;
}

bool Originals::make_room(std::size_t bytes) {
    std::erase_if(kept_, [](const Kept& original) { return original.whose.expired(); });
    const auto all = [&] {
        double sum = static_cast<double>(bytes);
        for (const auto& original : kept_) sum += static_cast<double>(original.bytes);
        return sum;
    };
    if (static_cast<double>(bytes) > most_bytes_) return false;
    while (all() > most_bytes_) kept_.pop_front();
    return true;
}

bool Originals::put(const cl::Buffer& to, const model::SharedBytes& data, const Upload& upload) {
    const auto* original = find(data);
    if (!original) {
        if (!make_room(data.size())) return false;
        try {
            Kept made{data.identity(), cl::Buffer(session_.context(), CL_MEM_READ_WRITE, data.size()), data.size()};
            upload(made.buffer);
            kept_.push_back(std::move(made));
        } catch (const cl::Error& e) {
            // Drivers that allocate late report only now that memory is full.
            if (e.err() != CL_MEM_OBJECT_ALLOCATION_FAILURE && e.err() != CL_OUT_OF_RESOURCES) throw;
            kept_.clear();
            return false;
        }
        original = &kept_.back();
    }
    session_.queue().enqueueCopyBuffer(original->buffer, to, 0, 0, original->bytes);
    return true;
}

}  // namespace cllab::device
