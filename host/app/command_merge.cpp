// `cllab merge` and `cllab report`: the records of many runs and machines as one file, and as the page that a run prints.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "app/commands.hpp"
#include "app/results.hpp"
#include "app/sink.hpp"
#include "core/error.hpp"
#include "report/csv.hpp"
#include "report/device_key.hpp"
#include "report/joined.hpp"

namespace cllab::app {
namespace {

constexpr std::size_t most_troubles = 20;  // a file of something else altogether would fill the screen

/// What was left out goes to stderr. Throws Error(usage) when no record is left, so that an empty page cannot pass for a result.
report::Joined read(const std::vector<std::string>& paths) {
    report::Joined out;
    std::size_t unread = 0;
    for (const auto& path : paths) {
        errno = 0;
        std::ifstream in(path, std::ios::binary);
        if (in) out.read(in, path);
        if (!in.eof() || in.bad()) {
            ++unread;
            std::fprintf(stderr, "cllab: file '%s' cannot be read: %s\n", path.c_str(), std::strerror(errno));
        }
    }
    const auto& troubles = out.troubles();
    for (std::size_t i = 0; i < std::min(most_troubles, troubles.size()); ++i) std::fprintf(stderr, "cllab: %s\n", troubles[i].c_str());
    if (troubles.size() > most_troubles) std::fprintf(stderr, "cllab: %zu more lines are left out\n", troubles.size() - most_troubles);
    if (unread == paths.size()) throw Error(Blame::usage, "no file can be read");
    if (out.records().empty())
        throw Error(Blame::usage, "no record is in " + (paths.size() == 1 ? "'" + paths.front() + "'" : "any of the " + std::to_string(paths.size()) + " files"));
    return out;
}

/// Records of one device each, in order of first appearance.
std::vector<std::vector<model::Record>> by_device(const std::vector<model::Record>& records) {
    std::vector<std::vector<model::Record>> out;
    std::map<std::string, std::size_t> at;
    for (const auto& record : records) {
        const auto [found, is_new] = at.insert({model::device_key(record), out.size()});
        if (is_new) out.emplace_back();
        out[found->second].push_back(record);
    }
    return out;
}

}  // namespace

int command_merge(const Invocation& invocation) {
    for (const auto& path : invocation.patterns) {
        std::error_code code;
        if (std::filesystem::equivalent(path, invocation.json, code))
            throw Error(Blame::usage, "file '" + invocation.json + "' (--json) is also read; name another one to write");
    }
    const auto joined = read(invocation.patterns);
    LineFile out(invocation.json, "--json");
    for (const auto& line : joined.lines()) out.line(line);
    std::fprintf(stderr, "cllab: %zu records of %zu devices, %zu duplicates left out\n", joined.records().size(),
                 by_device(joined.records()).size(), joined.duplicates());
    return 0;
}

int command_report(const Invocation& invocation) {
    const auto joined = read(invocation.patterns);
    const bool hosts = report::several_hosts(joined.records());
    std::vector<Conclusion> curves;
    for (const auto& records : by_device(joined.records())) {
        const auto& first = records.front();
        const auto name = first.device.name + " (" + first.device.selector + ")" + (hosts ? " on " + first.host.name : "");
        for (auto& conclusion : curves_of_device(records, name)) curves.push_back(std::move(conclusion));
    }
    if (!invocation.csv.empty()) {
        LineFile csv(invocation.csv, "--csv");
        csv.line(report::csv_header());
        for (const auto& record : joined.records()) csv.line(report::to_csv_line(record));
    }
    if (invocation.csv != "-") print_page(joined.records(), curves, {}, true);
    return 0;
}

}  // namespace cllab::app
