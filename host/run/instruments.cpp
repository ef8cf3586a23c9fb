#include "run/instruments.hpp"

#include <memory>
#include <vector>

#include "core/text.hpp"
#include "device/session.hpp"

namespace cllab::run {
namespace {

/// The log without lines that differ between builds of one text. ptxas ends with "Compile time = 1.637 ms". With that
/// line in the key, no point of a sweep would find the code that the previous point had read (H200: 0.45 s per point).
std::string lasting(const std::string& log) {
    std::string out;
    for (const auto& line : split(log, '\n'))
        if (line.find("Compile time = ") == std::string::npos) out.append(line).append("\n");
    return out;
}

/// All inputs of read_code.
std::string key_of(const inspect::DumpRequest& request) {
    std::string out = join({request.entry, request.launch.local.text(), std::to_string(request.launch.local_arguments),
                            inspect::code_that_ran(request), lasting(request.build_log), ""},
                           std::string(1, '\0'));
    return out.append(reinterpret_cast<const char*>(request.binary.data()), request.binary.size());
}

}  // namespace

std::shared_future<device::Built> Programs::build(const std::string& source, const std::string& options) {
    const auto when = ahead_ && session_.works_beside_host() ? std::launch::async : std::launch::deferred;
    return recent_.find_or_make(options + std::string(1, '\0') + source, when, [this, source, options] {
        const std::lock_guard alone(one_at_a_time_);
        return device::build(session_, source, options);
    });
}

std::shared_future<inspect::Analysis> CodeMemo::read(const inspect::DumpRequest& request, bool in_thread) {
    auto bytes = std::make_shared<const std::vector<std::byte>>(request.binary.begin(), request.binary.end());
    const auto read = [bytes, own = request]() mutable {
        own.binary = *bytes;
        return inspect::read_code(own);
    };
    return recent_.find_or_make(key_of(request), in_thread ? std::launch::async : std::launch::deferred, read);
}

}  // namespace cllab::run
