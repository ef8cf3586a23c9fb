// Asks a device the questions of rows.hpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "behaviour/rows.hpp"
#include "device/session.hpp"

namespace cllab::behaviour {

class Prober {
public:
    explicit Prober(device::Session& session);
    /// Never throws for what the device or its driver does: that is the answer. Throws Error(usage) for a row that
    /// cannot be read.
    Answer ask(const Question& row);

private:
    struct Ready;
    using Sample = std::function<double()>;  ///< seconds of one launch

    std::string lacking(const std::string& needs) const;
    std::string claim(const Question& row);
    std::string queried(const Question& row, const std::string& what);
    void answer(const Question& row, Answer& out);

    const device::Built& built(const Question& row, const std::string& options, const std::string& salt = "");
    Ready ready(const Question& row, const Launch& launch);
    cl::Buffer buffer(const std::string& kind);
    cl::Image2D image();
    cl::CommandQueue& queue(const std::string& kind, unsigned number = 0);
    void enqueue(Ready& ready, cl::CommandQueue& queue, cl::Event* event = nullptr) const;
    double once(Ready& ready, unsigned launches, bool by_host);
    Sample sample(Ready& ready, bool by_host);
    Answer timed(const std::string& unit, double scale, const Sample& of, const Sample& over = {});

    Answer value(const Question& row, const std::vector<Launch>& launches);
    Answer enqueued(const Question& row, const Launch& launch);
    Answer ulp(const Question& row, Launch launch);
    std::string code(const Question& row, const Launch& launch);
    Answer build(const Question& row, const Launch& launch);
    Answer binary(const Question& row, const Launch& launch);

    device::Session& session_;
    Sizes sizes_;
    std::map<std::string, device::Built> built_;  ///< by file, options and what stands in front of the text
    std::map<std::string, cl::Buffer> buffers_;   ///< by kind
    std::map<std::string, cl::CommandQueue> queues_;
    std::uint64_t salt_;
};

}  // namespace cllab::behaviour
