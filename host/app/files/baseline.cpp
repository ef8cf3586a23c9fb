#include "app/files/baseline.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "app/files/outputs.hpp"
#include "app/screen/streams.hpp"
#include "core/error.hpp"
#include "core/hash.hpp"
#include "core/kernel_text.hpp"
#include "core/reading.hpp"
#include "inspect/tools/tool.hpp"
#include "report/records/json.hpp"
#include "run/kernel_source.hpp"

namespace cllab::app {
namespace {

namespace fs = std::filesystem;

fs::path text_path(const fs::path& folder, const std::string& sha256) { return folder / "text" / (sha256 + ".cl"); }

/// Only a hash may name a file; any other text could name any file.
bool is_hash(const std::string& text) {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

fs::path records_of_baseline(const fs::path& folder) { return folder / "records.jsonl"; }

void make_baseline_folder(const fs::path& folder) {
    std::error_code code;
    fs::create_directories(folder / "text", code);
    if (code)
        throw Error(Blame::environment,
                    "folder '" + folder.string() + "' (--baseline) cannot be created: " + code.message());
}

void BaselineWriter::take(const model::Record& record, const model::Cell* cell) {
    if (!records_) return;
    const auto& hash = record.build.source_sha256;
    if (!hash.empty() && cell) {
        const auto text = run::kernel_source(*cell->experiment, *cell->variant, cl_dir_).text;
        if (sha256_hex(text) != hash) {
            say("the text of " + record.id + " has changed since it was built, so the baseline omits its record");
            return;
        }
        cllab::write_file(text_path(folder_, hash), inspect::as_bytes(text));
        for (const auto& header : record.build.elsewhere)
            if (said_.insert(header).second)
                say("the baseline does not contain " + header + ", which " + record.id +
                    " includes and only the driver finds; regress cannot see a change in it");
    }
    records_->line(report::to_json_line(record));
}

std::string Baseline::text_of(const model::Record& record) const {
    const auto& hash = record.build.source_sha256;
    if (!is_hash(hash)) throw Error(Blame::usage, "the baseline's record lacks a valid hash of its kernel source");
    const auto path = text_path(folder, hash);
    if (const auto fault = reading_fault(path); !fault.empty())
        throw Error(Blame::usage, "kernel source '" + path.string() + "' of the baseline cannot be read: " + fault);
    const auto text = cllab::read_file(path).value_or("");
    if (sha256_hex(text) != hash)
        throw Error(Blame::usage, "kernel source '" + path.string() +
                                      "' of the baseline has changed: its hash differs; create the baseline again");
    for (const auto& header : includes_of(text))
        if (std::ranges::find(record.build.elsewhere, header) == record.build.elsewhere.end())
            throw Error(Blame::usage, "kernel source '" + path.string() + "' of the baseline includes " + header +
                                          ", which the baseline does not contain; create it again");
    return text;
}

std::string read_record_file(report::Joined& out, const std::string& path) {
    auto fault = reading_fault(path);
    if (!fault.empty()) return fault;
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    out.read(in, path);
    if (!in.eof() || in.bad()) fault = std::strerror(errno);
    return fault;
}

Baseline read_baseline(const fs::path& folder) {
    const auto path = records_of_baseline(folder);
    const auto refuse = [&](const std::string& fault) {
        throw Error(Blame::usage, "'" + folder.string() + "' is not a baseline: '" + path.string() +
                                      "' cannot be read: " + fault + "; `cllab run PATTERN --baseline DIR` writes one");
    };
    report::Joined joined;
    if (const auto fault = read_record_file(joined, path); !fault.empty()) refuse(fault);
    if (joined.trouble_count() > 0)
        throw Error(Blame::usage, "the baseline '" + folder.string() + "' is damaged: " + joined.troubles().front());
    if (joined.records().empty())
        throw Error(Blame::usage, "the baseline '", folder.string(), "' has no records; create it again");
    return {folder, joined.records()};
}

}  // namespace cllab::app
