#include "model/result.hpp"

#include "model/comparison.hpp"

#include <array>

namespace cllab::model {
namespace {

constexpr std::array<Status, 6> statuses{Status::ok,            Status::unsupported,  Status::build_failed,
                                         Status::launch_failed, Status::wrong_result, Status::timed_out};

}  // namespace

const char* name(Status status) {
    switch (status) {
        case Status::ok: return "ok";
        case Status::unsupported: return "unsupported";
        case Status::build_failed: return "build_failed";
        case Status::launch_failed: return "launch_failed";
        case Status::wrong_result: return "wrong_result";
        case Status::timed_out: break;
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
        case Better::lower: return "lower";
        case Better::higher: return "higher";
        case Better::neither: break;
    }
    return "neither";
}

const char* name(Verdict verdict) {
    switch (verdict) {
        case Verdict::faster: return "faster";
        case Verdict::slower: return "slower";
        case Verdict::same: return "same";
        case Verdict::same_code: return "same code";
        case Verdict::undecided: break;
    }
    return "undecided";
}

}  // namespace cllab::model
