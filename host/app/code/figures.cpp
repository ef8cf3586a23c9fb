#include "app/code/figures.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "inspect/isa/isa.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

inspect::Words words_of(const std::string& kind) {
    for (const auto* set : inspect::isa::all())
        if (std::ranges::any_of(set->kinds, [&](auto k) { return inspect::name(k) == kind; })) return set->words;
    return {};
}

Json table_of(const CellCode& code) {
    auto out = Json::object();
    const auto put = [&](std::string_view name, const Json& value, const std::string& unit, const std::string& from) {
        auto& figure = out[std::string(name)] = Json::object();
        if (!value.is_null()) figure["value"] = value;
        if (!unit.empty()) figure["unit"] = unit;
        figure[value.is_null() ? "enough" : "from"] = value.is_null() ? code.enough : from;
    };
    const auto words = words_of(code.info.kind);
    const std::string units[]{words.registers, concat(*words.spill_unit ? "bytes of " : "", words.spills),
                              concat("bytes per ", words.private_per), "bytes per work-group", "bytes"};
    const char* keys[]{"registers", "spills", "private_bytes", "local_bytes", "code_bytes"};
    for (std::size_t i = 0; i < std::size(keys); ++i) {
        const auto* fact = std::ranges::find(inspect::fact_names, std::string_view(keys[i]), &inspect::FactName::name);
        const auto& value = code.info.*fact->number;
        const auto from = code.info.origin.find(keys[i]);
        put(figure_names[i], value ? Json(*value) : Json(), units[i],
            from == code.info.origin.end() ? "" : from->second);
    }
    const auto stats = Json::parse(code.stats, nullptr, false);
    const auto occupancy = stats.is_object() ? stats.value("occupancy", Json::object()) : Json::object();
    put("occupancy", occupancy.value("waves", Json()), occupancy.value("unit", ""), occupancy.value("formula", ""));
    const auto& counts = code.counts;
    const bool counted = !counts.code.instructions.empty();
    const auto number = [&](std::size_t n) { return counted ? Json(n) : Json(); };
    const std::string unit = counted && counts.isa->virtual_machine ? "PTX instructions" : "instructions",
                      from = counted ? std::string(counts.isa->name) + " listing" : "";
    put("instructions", number(counts.total.instructions), unit, from);
    put("loops", number(counts.loops.size()), "loops", from);
    put("loop", number(counts.shown < 0 ? 0 : counts.loops[static_cast<std::size_t>(counts.shown)].own.instructions),
        unit + " per iteration", from);
    return out;
}

}  // namespace

Json figures_of(const CellCode& code) {
    Json out{{"kernel", code.id}, {"target", code.where}};
    for (const auto& [key, text] : {std::pair("column", code.column), {"compiler", code.compiler}, {"file", code.file},
                                    {"options", code.options}})
        if (!text.empty()) out[key] = text;
    if (code.line > 0) out["line"] = code.line;
    if (!code.group.empty()) out["group"] = code.group;
    out["status"] = model::name(code.status);
    if (code.status == model::Status::ok) {
        out["fingerprint"] = code.info.fingerprint;
        out["figures"] = table_of(code);
        if (!code.counts.code.instructions.empty()) out["counts"] = inspect::to_json(code.counts);
    } else {
        out["reason"] = run::first_error(code.reason);
        if (!code.enough.empty()) out["enough"] = code.enough;
    }
    return out;
}

}  // namespace cllab::app
