#include "model/result.hpp"

#include "core/table.hpp"
#include "core/text.hpp"
#include "model/comparison.hpp"
#include "model/regression.hpp"

namespace cllab::model {
namespace {

constexpr Entry<Status, const char*> status_names[] = {{Status::ok, "ok"},
                                                       {Status::unsupported, "unsupported"},
                                                       {Status::build_failed, "build_failed"},
                                                       {Status::launch_failed, "launch_failed"},
                                                       {Status::wrong_result, "wrong_result"},
                                                       {Status::timed_out, "timed_out"}};
constexpr Entry<Better, const char*> better_names[] = {
    {Better::lower, "lower"}, {Better::higher, "higher"}, {Better::neither, "neither"}};
constexpr Entry<Verdict, const char*> verdict_names[] = {{Verdict::faster, "faster"},
                                                         {Verdict::slower, "slower"},
                                                         {Verdict::same, "same"},
                                                         {Verdict::same_code, "same code"},
                                                         {Verdict::undecided, "undecided"}};
constexpr Entry<CellChange, const char*> change_names[] = {{CellChange::newly_wrong, "newly wrong"},
                                                           {CellChange::newly_failing, "newly failing"},
                                                           {CellChange::other_results, "other results"},
                                                           {CellChange::slower, "slower"},
                                                           {CellChange::still_failing, "still failing"},
                                                           {CellChange::undecided, "undecided"},
                                                           {CellChange::incomparable, "incomparable"},
                                                           {CellChange::vanished, "vanished"},
                                                           {CellChange::added, "new"},
                                                           {CellChange::fixed, "fixed"},
                                                           {CellChange::faster, "faster"},
                                                           {CellChange::same, "same"},
                                                           {CellChange::same_code, "same code"},
                                                           {CellChange::unsupported, "unsupported"}};

}  // namespace

const char* name(Status status) { return value_of(status_names, status); }
const char* name(Better better) { return value_of(better_names, better); }
const char* name(Verdict verdict) { return value_of(verdict_names, verdict); }
const char* name(CellChange change) { return value_of(change_names, change); }

std::optional<Status> status_from(std::string_view text) { return key_of(status_names, text); }

bool is_failure(Status status) { return status != Status::ok && status != Status::unsupported; }

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
