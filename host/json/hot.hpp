// Hot code as JSON, for records and for stats.json alike.
#pragma once

#include "model/hot.hpp"

namespace cllab {

/// Addresses are numbers, as in "begin": 4448.
template <typename Json>
Json hot_json(const model::Hot& hot) {
    Json out = {{"evidence", hot.evidence}};
    if (!hot.reason.empty()) out["reason"] = hot.reason;
    if (!hot.method.empty()) out["method"] = hot.method;
    if (hot.executed > 0) {
        out["executed"] = hot.executed;
    } else if (!hot.method.empty()) {
        out["samples"] = hot.samples;
        out["in_kernel"] = hot.in_kernel;
        if (!hot.elsewhere.empty()) out["elsewhere"] = hot.elsewhere;
    }
    if (!hot.code.empty()) out["code"] = hot.code;
    for (const auto& block : hot.blocks) {
        Json j = {{"function", block.function}, {"begin", block.begin}, {"end", block.end},
                  {"samples", block.samples},   {"share", block.share}, {"instructions", block.instructions},
                  {"classes", block.classes}};
        if (block.executed > 0) j["executed"] = block.executed;
        if (!block.memory.empty()) j["memory"] = block.memory;
        if (!block.loops.empty()) j["loops"] = block.loops;
        out["blocks"].push_back(std::move(j));
    }
    for (const auto& loop : hot.loops)
        out["loops"].push_back({{"function", loop.function},
                                {"header", loop.header},
                                {"depth", loop.depth},
                                {"own", loop.own},
                                {"share", loop.share},
                                {"instructions", loop.instructions}});
    if (hot.models) {
        Json models = Json::object();
        if (!hot.models->by.empty()) models["by"] = hot.models->by;
        if (!hot.models->reason.empty()) models["reason"] = hot.models->reason;
        for (const auto& m : hot.models->processors)
            models["processors"].push_back({{"processor", m.processor}, {"ports", m.ports}, {"cycles", m.cycles}});
        out["models"] = std::move(models);
    }
    return out;
}

}  // namespace cllab
