#include "app/processes/loss.hpp"

#include <sys/wait.h>

#include <csignal>

#include "app/processes/local_devices.hpp"

namespace cllab::app {

Loss loss_by_silence(double timeout_seconds) {
    return {model::Status::timed_out, no_progress(timeout_seconds), "an endless loop, or a write outside of a buffer"};
}

Loss loss_by_death(int status, const Position& position, const std::function<bool()>& passes_in_small_groups) {
    const auto is = [&](int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; };
    if (const std::string fault = position.fault; !fault.empty())
        return {model::Status::wrong_result, fault + " ended the driver's process"};
    Loss out{model::Status::launch_failed, death(status), "a write or read outside of a buffer"};
    if (is(SIGABRT))
        out.cause = "an assertion of the driver, printed on standard error, or a write outside of a buffer";
    if (is(SIGSEGV) && passes_in_small_groups())
        out.cause =
            "a work-group whose private memory exceeds a thread's stack: the kernel runs with groups of one item, so "
            "write e.g. 'local 16'";
    return out;
}

bool passes_in_small_groups(run::RunRequest request, const model::Cell& cell, const std::string& selector,
                            double timeout_seconds) {
    request.comparisons = {{cell}};
    auto& settings = request.settings;
    settings.measure = settings.arrangement = settings.read_code = false;
    settings.small_groups = true;
    settings.dumps.reset();
    try {
        const auto lines = in_child(
            [&](const HandOver& hand_over) {
                LocalDevices().run(request, selector, {.done = [&](std::size_t, std::size_t, const model::Record& one) {
                                       hand_over(model::name(one.status));
                                   }});
            },
            "in the trial of small work-groups", timeout_seconds, timeout_seconds);
        return lines == std::vector<std::string>{model::name(model::Status::ok)};
    } catch (const DeviceLost&) {
        return false;
    }
}

model::Record lost_record(model::Record record, const Loss& loss, const std::string& phase, bool foreign) {
    record.status = loss.status;
    record.reason = loss.reason + " in phase '" + phase + "'";
    auto cause = foreign && phase != "build" && phase != "yardstick" ? loss.cause : std::string();
    // Some drivers compile at the first launch.
    if (loss.status == model::Status::timed_out && (phase == "build" || phase == "verify"))
        cause += std::string(cause.empty() ? "" : ", or ") + "a slow compiler, for which a larger --timeout waits";
    if (!cause.empty()) record.reason += "; the likely cause is " + cause;
    return record;
}

}  // namespace cllab::app
