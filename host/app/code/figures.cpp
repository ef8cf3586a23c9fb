#include "app/code/figures.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/reading.hpp"
#include "core/units.hpp"
#include "core/version.hpp"
#include "inspect/isa/isa.hpp"
#include "json/read.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

using nlohmann::ordered_json;

constexpr int schema = 1;

/// What a target's tools lack for figures that this code has none of.
std::string enough_for(const CellCode& code) {
    for (const auto& target : inspect::offline_targets())
        if (target.name == code.where && !target.missing.empty()) return target.missing;
    return "this kind of code does not say";
}

void add(KernelFigures& to, const CellCode& code, const char* name, std::optional<double> value,
         const std::string& unit, const std::string& origin) {
    Figure out{name, value, unit, origin, {}};
    if (!value) out.enough = enough_for(code), out.origin.clear();
    to.figures.push_back(std::move(out));
}

void add_facts(KernelFigures& out, const CellCode& code) {
    inspect::Words words;
    for (const auto* set : inspect::isa::all())
        if (std::ranges::any_of(set->kinds, [&](auto kind) { return inspect::name(kind) == code.info.kind; }))
            words = set->words;
    const auto fact = [&](const char* name, const char* key, const std::optional<std::int64_t>& value,
                          const std::string& unit) {
        const auto origin = code.info.origin.find(key);
        add(out, code, name, value ? std::optional(static_cast<double>(*value)) : std::nullopt, unit,
            origin == code.info.origin.end() ? "" : origin->second);
    };
    fact("registers", "registers", code.info.registers, words.registers);
    fact("spills", "spills", code.info.spills, concat(*words.spill_unit ? "byte of " : "", words.spills));
    fact("private", "private_bytes", code.info.private_bytes, concat("byte per ", words.private_per));
    fact("local", "local_bytes", code.info.local_bytes, "byte per work-group");
    fact("code", "code_bytes", code.info.code_bytes, "byte");
}

void add_occupancy(KernelFigures& out, const CellCode& code) {
    const auto stats = nlohmann::json::parse(code.stats, nullptr, false);
    const auto found = stats.is_object() ? stats.find("occupancy") : stats.end();
    if (found == stats.end()) return add(out, code, "occupancy", {}, "", "");
    add(out, code, "occupancy", found->value("waves", 0.0), found->value("unit", ""), found->value("formula", ""));
}

void add_counts(KernelFigures& out, const CellCode& code) {
    const auto& counts = code.counts;
    const bool counted = !counts.code.instructions.empty();
    const std::string unit = counted && counts.isa->virtual_machine ? "PTX instructions" : "instructions",
                      origin = counted ? std::string(counts.isa->name) + " listing" : "";
    const auto number = [&](std::size_t n) { return counted ? std::optional(static_cast<double>(n)) : std::nullopt; };
    add(out, code, "instructions", number(counts.total.instructions), unit, origin);
    add(out, code, "loops", number(counts.loops.size()), "loops", origin);
    const auto in_loop =
        counts.shown >= 0 ? counts.loops[static_cast<std::size_t>(counts.shown)].own.instructions : 0;
    add(out, code, "loop", number(in_loop), unit + " per iteration", counts.shown >= 0 ? origin : "there is no loop");
    out.classes = counts.total.classes;
    out.shown = counts.shown;
    for (const auto& loop : counts.loops)
        out.loops.push_back({loop.depth, loop.own.instructions, loop.own.classes, loop.own.memory});
}

template <class T>
void put_unless_empty(ordered_json& to, const char* key, const T& value) {
    if (!value.empty()) to[key] = value;
}

ordered_json number_json(double value) {
    return std::trunc(value) == value && std::abs(value) < 1e15 ? ordered_json(static_cast<std::int64_t>(value))
                                                                : ordered_json(value);
}

KernelFigures from_json(const nlohmann::json& from) {
    KernelFigures out;
    out.kernel = from.at("kernel");
    out.target = from.at("target");
    out.column = from.value("column", "");
    out.compiler = from.value("compiler", "");
    out.file = from.value("file", "");
    out.line = from.value("line", std::uint64_t{0});
    out.options = from.value("options", "");
    out.fingerprint = from.value("fingerprint", "");
    out.group = from.value("group", out.group);
    out.status = from.at("status");
    out.reason = from.value("reason", "");
    if (out.status != "ok") return out;
    for (const auto& [name, figure] : from.at("figures").items()) {
        Figure one{name, {}, figure.value("unit", ""), figure.value("from", ""), figure.value("enough", "")};
        if (figure.contains("value")) one.value = figure["value"].get<double>();
        out.figures.push_back(std::move(one));
    }
    out.classes = from.value("classes", out.classes);
    for (const auto& loop : from.value("loops", nlohmann::json::array()))
        out.loops.push_back({loop.at("depth"), loop.at("instructions"), loop.at("classes"), loop.at("memory")});
    out.shown = from.value("shown_loop", -1);
    return out;
}

}  // namespace

const Figure* KernelFigures::figure(std::string_view name) const {
    const auto found = std::ranges::find(figures, name, &Figure::name);
    return found == figures.end() ? nullptr : &*found;
}

KernelFigures figures_of(const CellCode& code) {
    KernelFigures out;
    out.kernel = code.id;
    out.target = code.where;
    out.column = code.column;
    out.compiler = code.compiler;
    out.file = code.file;
    out.line = code.line;
    out.options = code.options;
    out.fingerprint = code.info.fingerprint;
    out.group = code.group;
    out.status = model::name(code.status);
    if (code.status != model::Status::ok) {
        out.reason = run::first_error(code.reason);
        out.enough = code.enough;
        return out;
    }
    add_facts(out, code);
    add_occupancy(out, code);
    add_counts(out, code);
    return out;
}

ordered_json to_json(const KernelFigures& f) {
    ordered_json out{{"schema", schema}, {"record", "code"}, {"kernel", f.kernel}, {"target", f.target}};
    put_unless_empty(out, "column", f.column);
    put_unless_empty(out, "compiler", f.compiler);
    put_unless_empty(out, "file", f.file);
    if (f.line > 0) out["line"] = f.line;
    put_unless_empty(out, "options", f.options);
    put_unless_empty(out, "group", f.group);
    out["status"] = f.status;
    if (f.status != "ok") {
        out["reason"] = f.reason;
        put_unless_empty(out, "enough", f.enough);
        return out;
    }
    put_unless_empty(out, "fingerprint", f.fingerprint);
    out["figures"] = ordered_json::object();
    for (const auto& figure : f.figures) {
        auto& to = out["figures"][figure.name] = ordered_json::object();
        if (figure.value) to["value"] = number_json(*figure.value);
        put_unless_empty(to, "unit", figure.unit);
        put_unless_empty(to, "from", figure.origin);
        put_unless_empty(to, "enough", figure.enough);
    }
    out["classes"] = f.classes;
    out["loops"] = ordered_json::array();
    for (const auto& loop : f.loops)
        out["loops"].push_back({{"depth", loop.depth},
                                {"instructions", loop.instructions},
                                {"classes", loop.classes},
                                {"memory", loop.memory}});
    if (f.shown >= 0) out["shown_loop"] = f.shown;
    return out;
}

std::string saved_text(const std::vector<KernelFigures>& all) {
    ordered_json out{{"schema", schema}, {"record", "code file"}, {"cllab", version()}};
    out["kernels"] = ordered_json::array();
    for (const auto& figures : all) {
        auto one = to_json(figures);
        one.erase("schema");
        one.erase("record");
        out["kernels"].push_back(std::move(one));
    }
    return out.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::vector<KernelFigures> read_figures(const std::string& path) {
    const auto refuse = [&](const std::string& why) -> Error {
        return {Blame::usage, "file '", path, "' (--against) ", why};
    };
    if (const auto fault = reading_fault(path); !fault.empty()) throw refuse("cannot be read: " + fault);
    const auto text = read_file(path);
    if (!text) throw refuse("cannot be read");
    std::vector<KernelFigures> out;
    try {
        const auto json = parse_json<nlohmann::json>(*text);
        if (!json.is_object() || json.value("record", "") != "code file")
            throw refuse("is none that `cllab isa --save` wrote");
        if (json.value("schema", 0) != schema)
            throw refuse("has another schema than " + std::to_string(schema) + ", which this cllab reads");
        for (const auto& kernel : json.at("kernels")) {
            out.push_back(from_json(kernel));
            if (out.back().shown < -1 || out.back().shown >= static_cast<int>(out.back().loops.size()))
                throw refuse("has a 'shown_loop' of " + out.back().place() + " that is none of its loops");
            if (std::ranges::any_of(out.begin(), out.end() - 1, [&](const auto& o) { return o.is_same(out.back()); }))
                throw refuse("has " + out.back().place() + " twice");
        }
    } catch (const JsonRefused& e) {
        throw refuse(std::string("is ") + e.what());
    } catch (const nlohmann::json::exception& e) {
        throw refuse(std::string("is none that `cllab isa --save` wrote: ") + e.what());
    }
    if (out.empty()) throw refuse("has no kernels");
    return out;
}

}  // namespace cllab::app
