#include "model/result.hpp"

#include <array>

#include "core/text.hpp"
#include "model/comparison.hpp"
#include "model/regression.hpp"

namespace cllab::model {
namespace {

constexpr std::array<Status, 6> statuses{Status::ok,           Status::unsupported,
                                         Status::build_failed, Status::launch_failed,
                                         Status::wrong_result, Status::timed_out};

}  // namespace

const char* name(Status status) {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::unsupported:
            return "unsupported";
        case Status::build_failed:
            return "build_failed";
        case Status::launch_failed:
            return "launch_failed";
        case Status::wrong_result:
            return "wrong_result";
        case Status::timed_out:
            break;
    }
    return "timed_out";
}

std::optional<Status> status_from(std::string_view text) {
    for (const auto status : statuses)
        if (text == name(status)) return status;
    return std::nullopt;
}

bool is_failure(Status status) { return status != Status::ok && status != Status::unsupported; }

const char* name(Better better) {
    switch (better) {
        case Better::lower:
            return "lower";
        case Better::higher:
            return "higher";
        case Better::neither:
            break;
    }
    return "neither";
}

const char* name(Verdict verdict) {
    switch (verdict) {
        case Verdict::faster:
            return "faster";
        case Verdict::slower:
            return "slower";
        case Verdict::same:
            return "same";
        case Verdict::same_code:
            return "same code";
        case Verdict::undecided:
            break;
    }
    return "undecided";
}

const char* name(CellChange change) {
    switch (change) {
        case CellChange::newly_wrong:
            return "newly wrong";
        case CellChange::newly_failing:
            return "newly failing";
        case CellChange::other_results:
            return "other results";
        case CellChange::slower:
            return "slower";
        case CellChange::still_failing:
            return "still failing";
        case CellChange::undecided:
            return "undecided";
        case CellChange::incomparable:
            return "incomparable";
        case CellChange::vanished:
            return "vanished";
        case CellChange::added:
            return "new";
        case CellChange::fixed:
            return "fixed";
        case CellChange::faster:
            return "faster";
        case CellChange::same:
            return "same";
        case CellChange::same_code:
            return "same code";
        case CellChange::unsupported:
            break;
    }
    return "unsupported";
}

std::string device_key(const Record& record) {
    const auto& d = record.device;
    std::vector<std::string> parts{d.platform, d.name, d.driver, d.identity};
    // A CPU's UUID is made up by its driver, often the same on every machine of a kind.
    const bool named_anywhere = d.type == "gpu" && d.identity.rfind("UUID ", 0) == 0;
    if (!named_anywhere) parts.push_back(record.host.name);
    if (d.identity.empty()) parts.push_back(d.selector.substr(d.selector.find(':') + 1));
    return join(parts, "\n");
}

}  // namespace cllab::model
