// A chain of dependent integer steps in one work-item: its time grows with the trips on every device, no compiler can
// shorten it, and no memory takes part. The timer audit is made with it, and the drift of the clock seen by it.
#pragma once

#include "device/cl.hpp"

namespace cllab::device {

class Session;

class Chain {
public:
    /// Throws Error(result) when the kernel does not build, cl::Error when the driver refuses.
    explicit Chain(Session& session);
    /// Enqueues one launch of `trips` steps >= 0; does not wait.
    void launch(int trips, cl::Event* event);

private:
    cl::CommandQueue queue_;
    cl::Kernel kernel_;
    cl::Buffer out_;
};

}  // namespace cllab::device
