#include "report/records/joined.hpp"

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "core/units.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"
#include "report/table/comparison.hpp"
#include "report/table/verdict.hpp"

namespace cllab::report {
namespace {

/// Removes all that tables, curves and CSV do not show.
void slim(model::Record& r) {
    // Commands in sentences need the kernel's options, and the axes that the command line set to one value. The rows
    // show the other axes.
    auto words = kernel_options(r);
    for (const auto& word : r.argv)
        if (word.find('=') != word.npos && word.find_first_of(",:") == word.npos &&
            std::ranges::any_of(r.point, [&](const auto& axis) { return sets_axis(word, axis.first); }))
            words.push_back(word);
    auto source = std::move(r.build.source);
    if (!source.empty() && std::ranges::any_of(r.argv, [&](const auto& word) { return word.starts_with(source); }))
        words.push_back(source);
    else
        source.clear();
    // Exchanged, because clear() and the assignment of an empty text keep memory.
    const auto drop = [](auto&... parts) { (std::exchange(parts, {}), ...); };
    drop(r.samples, r.aside, r.rounds, r.aside_rounds, r.phases, r.argv, r.build, r.code.origin, r.run.driver_caches,
         r.hot, r.launch, r.host.cpu, r.host.os, r.device.vendor, r.device.last_level_from);
    words.shrink_to_fit();
    r.argv = std::move(words);
    r.build.source = std::move(source);
    r.point.shrink_to_fit();
    r.metrics.shrink_to_fit();
    r.warnings.shrink_to_fit();
}

/// The next line without its end, or the first part of a line that is too long. False at the end of the input.
bool next_line(std::istream& in, std::string& line) {
    line.clear();
    char part[65536];
    while (in.getline(part, sizeof part), in.gcount() > 0) {
        const bool whole = !in.fail();  // `part` was not filled before the end of the line or of the input
        line.append(part, static_cast<std::size_t>(in.gcount()) - (whole && !in.eof() ? 1 : 0));
        if (whole || line.size() > most_json_bytes) return true;
        in.clear(in.rdstate() & ~std::ios::failbit);
    }
    return !line.empty();
}

/// Two of a million different texts have the same hash with a chance of one in 4e7.
std::uint64_t hash_of(std::string_view text) { return digest(std::as_bytes(std::span(text))); }

std::uint64_t hash_of(const model::Record& r) {
    std::string text = device_key(r) + "\n" + r.id + "\n" + r.utc + "\n" + model::name(r.status) + "\n" + r.run.id;
    for (const auto place : {r.run.order.comparison, r.run.order.position, r.run.order.prepared})
        text += "\n" + std::to_string(place);
    for (const auto& [axis, value] : r.point) text += "\n" + axis + "=" + value;
    text += "\n";
    text.append(reinterpret_cast<const char*>(r.samples.data()), r.samples.size() * sizeof(double));
    return hash_of(text);
}

}  // namespace

void Joined::read(std::istream& in, const std::string& name) {
    std::size_t number = 0;
    for (std::string line; next_line(in, line);) {
        ++number;
        read_bytes_ += line.size() + 1;
        const auto skip = [&](const std::string& why) { trouble(concat(name, ":", number, ": ", why)); };
        if (line.size() > most_json_bytes) {
            skip("the line is longer than " + std::to_string(most_json_bytes >> 20) +
                 " MiB; it and the rest of the file are skipped");
            in.setstate(std::ios::eofbit);
            return;
        }
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.find_first_not_of(" \t\v\f\r") == line.npos) continue;
        if (records_.size() == most_records)
            throw Error(Blame::usage, "the files have more than " + std::to_string(most_records) +
                                          " records, the maximum for one report");
        try {
            take(line);
        } catch (const Error& e) {
            skip(std::string(e.what()) + "; the line is skipped");
        }
    }
}

void Joined::take(const std::string& line) {
    if (is_comparison(line)) {
        if (seen_.insert(hash_of(line)).second) comparisons_.push_back(line);
        return;
    }
    auto record = from_json(line);
    require_known_names(record);
    if (!seen_.insert(hash_of(record)).second) return;
    if (keep_ == Keep::page) slim(record);
    if (constexpr std::size_t enough = 1000; records_.size() == enough)
        records_.reserve(std::min<std::uint64_t>(most_records, expected_bytes_ * enough / read_bytes_ * 17 / 16));
    records_.push_back(std::move(record));
}

void Joined::require_known_names(const model::Record& record) {
    auto& [axes, metrics] = names_[record.family];
    const auto require = [&](const char* what, Names& known, const auto& found) {
        for (const auto& [name, value] : found) {
            if (known.count(name)) continue;
            if (known.size() == most_names)
                throw Error(Blame::usage, "its " + std::string(what) + " '" + excerpt(name) +
                                              "' exceeds the limit of " + std::to_string(most_names) + " per family");
            known.insert(name);
        }
    };
    require("axis", axes, record.point);
    require("metric", metrics, record.metrics);
}

void Joined::trouble(const std::string& sentence) {
    constexpr std::size_t most = 20;  // more would fill the screen, if a file has no records at all
    if (trouble_count_++ < most) troubles_.push_back(sentence);
}

namespace {

using Json = nlohmann::ordered_json;
using model::Explanation;
using model::Limit;

/// Equal for a record and for the line that explains it. The time is part of it: a cell may be measured twice.
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
