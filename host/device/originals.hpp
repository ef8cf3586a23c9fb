// Copies of uploaded data in device memory that no kernel sees. The variants of a point share their inputs, and a copy
// on the device is many times faster than an upload.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "device/cl.hpp"
#include "model/shared_bytes.hpp"

namespace cllab::device {

class Session;

class Originals {
public:
    using Upload = std::function<void(const cl::Buffer&)>;

    /// `most_bytes`: of device memory that they may take together.
    Originals(const Session& session, double most_bytes) : session_(session), most_bytes_(most_bytes) {}

    /// Puts `data` into a buffer of its size; `upload` fills another one with it where that is not done already. The
    /// queue has yet to do the last copy. False, and nothing done: there is no room.
    bool put(const cl::Buffer& to, const model::SharedBytes& data, const Upload& upload);
    void drop() { kept_.clear(); }

private:
    struct Kept {
        std::weak_ptr<const void> whose;  ///< the host's memory is not held: when that goes this goes
        cl::Buffer buffer;
        std::size_t bytes = 0;
    };
    const Kept* find(const model::SharedBytes& data) const;
    bool make_room(std::size_t bytes);

    const Session& session_;
    double most_bytes_;
    std::deque<Kept> kept_;  ///< the oldest first
};

}  // namespace cllab::device
