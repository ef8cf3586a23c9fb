#include "report/records/explained.hpp"

#include <nlohmann/json.hpp>

#include "core/text.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"

namespace cllab::report {
namespace {

using Json = nlohmann::ordered_json;
using model::Explanation;
using model::Limit;

/// Equal for a record and for the line that explains it: of a cell that was measured twice, one is explained.
std::string key_of(Json line, const std::string& run, double seconds) {
    return line_text(line) + run + format_exact(seconds);
}

std::string key_of(const model::Record& r) {
    return key_of(line_of("why", r.id, r.point, r.device), r.run.id, r.time->median);
}

std::string key_of(const Json& line) {
    Json head;
    for (const char* key : {"schema", "record", "id", "point", "device"}) head[key] = line.at(key);
    return key_of(head, line.at("run").get<std::string>(), line.at("seconds").get<double>());
}

Explanation explanation_from(const Json& line) {
    Explanation out;
    const auto limit = line.at("limit").get<std::string>();
    for (int i = 0; i <= static_cast<int>(Limit::unsteady); ++i)
        if (limit == model::name(static_cast<Limit>(i))) out.limit = static_cast<Limit>(i);
    const auto then = line.value("follower", "");
    for (const auto& b : line.at("bounds")) {
        const auto name = b.at("name").get<std::string>();
        if (!then.empty() && b.at("id") == then) out.second = out.bounds.size();
        out.bounds.push_back({b.at("id").get<std::string>(), name, b.value("brief", name),
                              b.at("seconds").get<double>(), b.at("low").get<double>(), b.at("high").get<double>(),
                              b.at("how").get<std::string>(), b.at("figure").get<std::string>()});
    }
    if (out.limit == Limit::named && out.bounds.empty()) out.limit = Limit::unexplained;
    for (const auto& u : line.at("unbounded"))
        out.leave_out(u.at("what").get<std::string>(), u.at("why").get<std::string>());
    out.advice = line.value("advice", "");
    if (const auto why = line.find("contradictions"); why != line.end())
        out.contradictions = why->get<std::vector<std::string>>();
    return out;
}

}  // namespace

std::map<std::size_t, Explanation> explanations_of(const std::vector<model::Record>& records,
                                                   const std::vector<std::string>& lines) {
    std::map<std::string, Explanation> known;
    for (const auto& line : lines) try {
            const auto j = parse_json<Json>(line);
            if (j.value("record", "") == "why" && j.contains("limit")) known[key_of(j)] = explanation_from(j);
        } catch (const JsonRefused&) {  // a damaged line explains nothing
        } catch (const nlohmann::json::exception&) {
        }
    std::map<std::size_t, Explanation> out;
    for (std::size_t i = 0; i < records.size() && !known.empty(); ++i)
        if (records[i].time)
            if (const auto found = known.find(key_of(records[i])); found != known.end()) out[i] = found->second;
    return out;
}

}  // namespace cllab::report
