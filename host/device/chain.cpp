#include "device/chain.hpp"

#include "core/error.hpp"
#include "device/program.hpp"
#include "device/session.hpp"

namespace cllab::device {
namespace {

const char* const source =
    "kernel void lab_chain(global uint* out, int trips, uint seed) {\n"
    "    uint x = seed;\n"
    "    for (int i = 0; i < trips; ++i) x = (x ^ (x >> 7)) * 1664525u + 1013904223u;\n"
    "    if (get_global_id(0) == 0) out[0] = x;\n"
    "}\n";

}  // namespace

Chain::Chain(Session& session) : queue_(session.queue()) {
    const auto built = build(session, source, "");
    if (!built.ok)
        throw Error(Blame::result, "the chain of integer steps does not build (" + error_name(built.code) + ")");
    kernel_ = cl::Kernel(built.program, "lab_chain");
    out_ = cl::Buffer(session.context(), CL_MEM_READ_WRITE, 64);
    kernel_.setArg(0, out_);
    kernel_.setArg(2, cl_uint{12345});
}

void Chain::launch(int trips, cl::Event* event) {
    kernel_.setArg(1, cl_int{trips});
    queue_.enqueueNDRangeKernel(kernel_, cl::NullRange, cl::NDRange(1), cl::NDRange(1), nullptr, event);
}

}  // namespace cllab::device
