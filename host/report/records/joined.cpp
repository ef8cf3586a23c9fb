#include "report/records/joined.hpp"

#include <algorithm>
#include <charconv>
#include <istream>

#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "json/read.hpp"
#include "report/records/json.hpp"
#include "report/table/comparison.hpp"

namespace cllab::report {
namespace {

/// Leaves what tables, curves and CSV show.
void slim(model::Record& r) {
    // Assigned, not cleared: that would keep their memory.
    r.samples = std::vector<double>();
    r.aside = std::vector<double>();
    r.rounds = std::vector<unsigned>();
    r.aside_rounds = std::vector<unsigned>();
    r.phases.clear();
    r.argv = std::vector<std::string>();
    r.build = model::BuildInfo();
    r.code.origin.clear();
    r.run.driver_caches.clear();
    r.hot.reset();
    r.point.shrink_to_fit();
    r.metrics.shrink_to_fit();
    r.warnings.shrink_to_fit();
}

/// The next line without its end; of one that is too long its first part. False at the end of the input.
bool next_line(std::istream& in, std::string& line) {
    line.clear();
    char part[65536];
    while (in.getline(part, sizeof part), in.gcount() > 0) {
        const bool whole = !in.fail();  // the end of the line or of the input came before the end of `part`
        line.append(part, static_cast<std::size_t>(in.gcount()) - (whole && !in.eof() ? 1 : 0));
        if (whole || line.size() > most_json_bytes) return true;
        in.clear(in.rdstate() & ~std::ios::failbit);
    }
    return !line.empty();
}

}  // namespace

/// 16 bytes of it: of a million records no two different ones are taken for one.
Joined::Digest Joined::digest_of(std::string_view text) {
    const auto hex = sha256_hex(text);
    Digest out;
    for (std::size_t i = 0; i < out.size(); ++i)
        std::from_chars(hex.data() + 16 * i, hex.data() + 16 * (i + 1), out[i], 16);
    return out;
}

Joined::Digest Joined::digest_of(const model::Record& r) {
    std::string text = device_key(r) + "\n" + r.id + "\n" + r.utc + "\n" + model::name(r.status) + "\n" + r.run.id;
    for (const auto place : {r.run.order.comparison, r.run.order.position, r.run.order.prepared})
        text += "\n" + std::to_string(place);
    for (const auto& [axis, value] : r.point) text += "\n" + axis + "=" + value;
    text += "\n";
    text.append(reinterpret_cast<const char*>(r.samples.data()), r.samples.size() * sizeof(double));
    return digest_of(text);
}

void Joined::read(std::istream& in, const std::string& name) {
    std::size_t number = 0;
    for (std::string line; next_line(in, line);) {
        ++number;
        const auto where = name + ":" + std::to_string(number) + ": ";
        if (line.size() > most_json_bytes) {
            trouble(where + "the line is longer than " + std::to_string(most_json_bytes >> 20) +
                    " MiB; it and the rest of the file are left out");
            in.setstate(std::ios::eofbit);
            return;
        }
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (trim(line).empty()) continue;
        if (records_.size() == most_records)
            throw Error(Blame::usage, "the files hold more than " + std::to_string(most_records) +
                                          " records, the most that are read at once");
        try {
            take(line);
        } catch (const Error& e) {
            trouble(where + e.what() + "; the line is left out");
        }
    }
}

void Joined::take(const std::string& line) {
    if (is_comparison(line)) {
        if (seen_.insert(digest_of(line)).second) comparisons_.push_back(line);
        return;
    }
    auto record = from_json(line);
    require_known_names(record);
    if (!seen_.insert(digest_of(record)).second) return;
    if (keep_ == Keep::page) slim(record);
    if (records_.empty())
        records_.reserve(std::min<std::uint64_t>(most_records, expected_bytes_ / (line.size() + 1) * 17 / 16 + 1));
    records_.push_back(std::move(record));
}

void Joined::require_known_names(const model::Record& record) {
    auto& [axes, metrics] = names_[record.family];
    const auto require = [&](const char* what, Names& known, const auto& found) {
        for (const auto& [name, value] : found) {
            if (known.count(name)) continue;
            if (known.size() == most_names)
                throw Error(Blame::usage, "its " + std::string(what) + " '" + excerpt(name) +
                                              "' would be one more than the " + std::to_string(most_names) +
                                              " that a family can have");
            known.insert(name);
        }
    };
    require("axis", axes, record.point);
    require("metric", metrics, record.metrics);
}

void Joined::trouble(const std::string& sentence) {
    constexpr std::size_t most = 20;  // a file of something else altogether would fill the screen
    if (trouble_count_++ < most) troubles_.push_back(sentence);
}

}  // namespace cllab::report
