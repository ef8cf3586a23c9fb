#include "model/result.hpp"

#include <algorithm>
#include <cstdio>

#include "core/table.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "model/comparison.hpp"
#include "model/device.hpp"
#include "model/explanation.hpp"

namespace cllab::model {

bool is_failure(Status status) { return status != Status::ok && status != Status::unsupported; }

std::string device_key(const Record& record) {
    const auto& d = record.device;
    std::string out = concat(d.platform, "\n", d.name, "\n", d.driver, "\n", d.identity);
    // A CPU's UUID is invented by its driver and is often equal on similar machines.
    const bool named_anywhere = d.type == "gpu" && d.identity.starts_with("UUID ");
    if (!named_anywhere) out += "\n" + record.host.name;
    if (d.identity.empty()) out += "\n" + d.selector.substr(d.selector.find(':') + 1);
    return out;
}

double usable_cores(const Timing& time, double groups, unsigned of_host) {
    double out = time.cores > 0 ? time.cores + std::max(0.0, time.waited) : 0;
    if (of_host > 0) out = std::min<double>(out, of_host);
    return groups > 0 ? std::min(out, groups) : out;
}

double cores_share(const Record& record) {
    if (!record.time) return 1;
    return record.time->share_of(usable_cores(*record.time, record.work.groups, record.host.threads));
}

std::optional<Turns> turns_of(const Record& record) {
    if (record.schema < 2 || !record.time) return std::nullopt;
    return Turns{record.run.id, record.run.order.comparison, record.time->batch};
}

// Names of enumerators in records and on pages. Each list has the order of its enumeration.

namespace {

constexpr std::array status_names{"ok",           "unsupported", "build_failed", "launch_failed",
                                  "wrong_result", "timed_out",   "disagree"};
constexpr std::array device_names{"cpu", "gpu", "accelerator", "other"};
constexpr std::array implementation_names{"pocl",    "nvidia", "amd",      "intel-cpu", "intel-gpu",
                                          "rusticl", "clover", "oclgrind", "other"};
constexpr std::array better_names{"lower", "higher", "neither"};
constexpr std::array verdict_names{"faster", "slower", "same", "undecided", "same code"};
constexpr std::array change_names{"newly wrong",   "newly failing", "other results", "slower",    "other code",
                                  "still failing", "undecided",     "incomparable",  "vanished",  "new",
                                  "fixed",         "faster",        "same",          "same code", "unsupported"};
constexpr std::array limit_names{"named", "close", "not explained", "impossible", "unsteady"};

static_assert(name_in(status_names, Status::disagree) && name_in(device_names, DeviceType::other) &&
              name_in(implementation_names, Implementation::other) && name_in(better_names, Better::neither) &&
              name_in(verdict_names, Verdict::same_code) && name_in(change_names, CellChange::unsupported) &&
              name_in(limit_names, Limit::unsteady));

}  // namespace

const char* name(Status status) { return name_in(status_names, status); }
const char* name(DeviceType type) { return name_in(device_names, type); }
const char* name(Implementation implementation) { return name_in(implementation_names, implementation); }
const char* name(Better better) { return name_in(better_names, better); }
const char* name(Verdict verdict) { return name_in(verdict_names, verdict); }
const char* name(CellChange change) { return name_in(change_names, change); }
const char* name(Limit limit) { return name_in(limit_names, limit); }

std::optional<Status> status_from(std::string_view text) { return named<Status>(status_names, text); }

unsigned HotBlock::of_class(const char* name) const {
    const auto found = classes.find(name);
    return found == classes.end() ? 0 : found->second;
}

unsigned HotBlock::widest_vector() const {
    unsigned out = 0;
    for (const auto& [name, count] : classes)
        if (name.starts_with("vector_"))
            out = std::max(out, static_cast<unsigned>(parse_integer(name.substr(7)).value_or(0)));
    return out;
}

std::optional<unsigned> HotBlock::vector_bits() const {
    const auto counted = elements.find(vector);
    if (counted == elements.end() || of_class("gather") + of_class("scatter") > counted->second) return std::nullopt;
    const auto widest = widest_vector();
    const auto scalar = of_class("scalar_float") + of_class("scalar_integer");
    if (counted->second > 0) return counted->second >= scalar ? std::optional(widest) : std::nullopt;
    // Scalar floating-point code also moves and compares values in vector registers.
    return widest == 0 || of_class("scalar_float") > 0 ? std::optional(0u) : std::nullopt;
}

std::optional<double> HotBlock::per_stored_byte() const {
    const auto stored = bytes_of(memory, "store");
    if (!stored || *stored <= 0 || elements.contains(uncounted)) return std::nullopt;
    return instructions / *stored;
}

std::optional<double> bytes_of(const std::map<std::string, unsigned>& memory, std::string_view kind) {
    double sum = 0;
    for (const auto& [name, count] : memory) {
        if (!name.starts_with(kind) || name.size() <= kind.size() || name[kind.size()] != '_') continue;
        const auto bits = parse_integer(std::string_view(name).substr(kind.size() + 1)).value_or(0);
        if (bits == 0) return std::nullopt;
        sum += count * (static_cast<double>(bits) / 8);
    }
    return sum;
}

Hot unknown(Hot hot, std::string reason) {
    hot.evidence = Hot::unknown;
    hot.reason = std::move(reason);
    return hot;
}

std::string statement(const Hot& hot) {
    if (hot.evidence == Hot::unknown) return hot.evidence + ": " + hot.reason;
    if (hot.evidence == Hot::counted) return concat(hot.evidence, ", ", hot.executed, " instructions of warps");
    if (hot.evidence != Hot::sampled) return hot.evidence;
    auto out = concat(hot.evidence, ", ", hot.in_kernel, " samples in the kernel of ", hot.samples);
    const auto most = std::ranges::max_element(hot.elsewhere, {}, [](const auto& one) { return one.second; });
    if (most != hot.elsewhere.end() && most->second >= hot.in_kernel / 10 && most->second > 0)
        out += concat(", ", most->second, " in ", most->first);
    return out;
}

const char* what_is_shared(const Hot& hot) {
    return hot.evidence == Hot::counted ? "the executed instructions" : "the kernel's samples";
}

std::vector<HotRegion> hot_regions(const Hot& hot) {
    std::vector<HotRegion> out;
    if (!hot.known()) return out;
    for (const auto& block : hot.blocks) {
        auto found = std::ranges::find_if(out, [&](const auto& region) {
            const auto& first = *region.blocks.front();
            return first.function == block.function && first.loops == block.loops;
        });
        if (found == out.end()) {
            found = out.insert(out.end(), HotRegion{});
            found->of = what_is_shared(hot);
        }
        found->blocks.push_back(&block);
        found->share += block.share;
        found->instructions += block.instructions;
    }
    for (auto& region : out) std::ranges::sort(region.blocks, [](auto a, auto b) { return a->begin < b->begin; });
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.share > b.share; });
    return out;
}

std::string and_like(std::size_t others) { return others > 0 ? concat(" and ", others, " like it") : ""; }

std::string place(const HotRegion& region) {
    char text[96];
    std::snprintf(text, sizeof text, "%s 0x%llx", region.is_loop() ? "loop at" : "straight-line code from",
                  static_cast<unsigned long long>(region.is_loop() ? region.header() : region.blocks.front()->begin));
    std::string out = text;
    out += and_like(region.like.size());
    if (region.share > 0) {  // accounted code has no samples
        std::snprintf(text, sizeof text, ", %.1f %% of %s", 100 * region.share, region.of);
        out += text;
    }
    return out;
}

}  // namespace cllab::model
