// `cllab merge` and `cllab report`: the records of many runs and machines as one file, and as the page that a run prints.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include "app/commands.hpp"
#include "app/results.hpp"
#include "app/say.hpp"
#include "app/sink.hpp"
#include "core/error.hpp"
#include "report/device_key.hpp"
#include "report/joined.hpp"

namespace cllab::app {
namespace {

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
            say("file '" + path + "' cannot be read: " + std::strerror(errno));
        }
    }
    for (const auto& trouble : out.troubles()) say(trouble);
    if (const auto more = out.trouble_count() - out.troubles().size(); more > 0) say(std::to_string(more) + " more lines are left out");
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
    Outputs outputs(invocation);
    const auto joined = read(invocation.patterns);
    outputs.open();
    for (const auto& line : joined.lines()) outputs.json()->line(line);
    for (const auto& line : joined.comparisons()) outputs.json()->line(line);
    say(std::to_string(joined.records().size()) + " records of " + std::to_string(by_device(joined.records()).size()) + " devices, " +
        std::to_string(joined.duplicates()) + " duplicates left out");
    return 0;
}

int command_report(const Invocation& invocation) {
    Outputs outputs(invocation);
    const auto joined = read(invocation.patterns);
    const bool hosts = report::several_hosts(joined.records());
    std::vector<portrait::Conclusion> curves;
    for (const auto& records : by_device(joined.records())) {
        const auto& first = records.front();
        const auto name = first.device.name + " (" + first.device.selector + ")" + (hosts ? " on " + first.host.name : "");
        for (auto& conclusion : portrait::curves_of_device(records, name)) curves.push_back(std::move(conclusion));
    }
    outputs.open();
    Sink sink(nullptr, outputs.csv());
    for (const auto& record : joined.records()) sink.take(record);
    if (!sink.uses_stdout()) print_page(sink.records(), curves, {}, true);
    return 0;
}

}  // namespace cllab::app
