#include "device/originals.hpp"

#include <algorithm>

#include "device/session.hpp"

namespace cllab::device {

const Originals::Kept* Originals::find(const model::SharedBytes& data) const {
    const auto wanted = data.identity();
    const auto same = [&](const Kept& kept) {
        return !kept.whose.owner_before(wanted) && !wanted.owner_before(kept.whose);
    };
    const auto found = std::ranges::find_if(kept_, same);
    return found == kept_.end() ? nullptr : &*found;
}

bool Originals::make_room(std::size_t bytes) {
    std::erase_if(kept_, [](const Kept& kept) { return kept.whose.expired(); });
    const auto all = [&] {
        double sum = static_cast<double>(bytes);
        for (const auto& kept : kept_) sum += static_cast<double>(kept.bytes);
        return sum;
    };
    if (static_cast<double>(bytes) > most_bytes_) return false;
    while (all() > most_bytes_) kept_.pop_front();
    return true;
}

bool Originals::put(const cl::Buffer& to, const model::SharedBytes& data, const Upload& upload) {
    const auto* kept = find(data);
    if (!kept) {
        if (!make_room(data.size())) return false;
        try {
            Kept made{data.identity(), cl::Buffer(session_.context(), CL_MEM_READ_WRITE, data.size()), data.size()};
            upload(made.buffer);
            kept_.push_back(std::move(made));
        } catch (const cl::Error& e) {
            // Drivers that allocate late have no room only now.
            if (e.err() != CL_MEM_OBJECT_ALLOCATION_FAILURE && e.err() != CL_OUT_OF_RESOURCES) throw;
            kept_.clear();
            return false;
        }
        kept = &kept_.back();
    }
    session_.queue().enqueueCopyBuffer(kept->buffer, to, 0, 0, kept->bytes);
    return true;
}

}  // namespace cllab::device
