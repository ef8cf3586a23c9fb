#include "model/hot.hpp"

#include <algorithm>
#include <cstdio>

#include "core/text.hpp"

namespace cllab::model {

Hot unknown(Hot hot, std::string reason) {
    hot.evidence = Hot::unknown;
    hot.reason = std::move(reason);
    return hot;
}

std::string statement(const Hot& hot) {
    if (hot.evidence == Hot::unknown) return hot.evidence + ": " + hot.reason;
    if (hot.evidence == Hot::counted) return concat(hot.evidence, ", ", hot.executed, " instructions of warps");
    if (hot.evidence != Hot::sampled) return hot.evidence;
    return concat(hot.evidence, ", ", hot.in_kernel, " samples in the kernel of ", hot.samples);
}

const char* what_is_shared(const Hot& hot) {
    return hot.evidence == Hot::counted ? "the executed instructions" : "the samples";
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

std::string place(const HotRegion& region) {
    char text[96];
    std::snprintf(text, sizeof text, "%s 0x%llx", region.is_loop() ? "loop at" : "straight-line code from",
                  static_cast<unsigned long long>(region.is_loop() ? region.header() : region.blocks.front()->begin));
    std::string out = text;
    if (region.share > 0) {  // accounted code has no samples
        std::snprintf(text, sizeof text, ", %.1f %% of %s", 100 * region.share, region.of);
        out += text;
    }
    return out;
}

}  // namespace cllab::model
