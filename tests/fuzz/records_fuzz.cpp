// libFuzzer target: the readers of records and profiles, and what `report` prints of them. The first byte
// chooses: 'p' a profile, else a file of records. Build and run with tests/fuzz/run.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "app/files/profile_file.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "report/records/csv.hpp"
#include "report/records/joined.hpp"
#include "report/records/json.hpp"
#include "report/table/device_grid.hpp"
#include "report/table/table.hpp"

using namespace cllab;

namespace {

/// Ends the process, so that libFuzzer reports it.
void require(bool condition) {
    if (!condition) std::abort();
}

void records(const std::string& text) {
    report::Joined joined;
    std::istringstream in(text);
    joined.read(in, "file");
    for (const auto& trouble : joined.troubles()) require(sentence(trouble).size() < 1000);
    std::ostringstream page;
    for (const auto& record : joined.records()) {
        page << report::to_csv_line(record) << '\n';
        require(!report::impossible(record, false));
        // What is written of it is a record too, and stays what it is.
        auto today = record;
        today.schema = model::schema_version;
        if (!today.run.seed) today.run.seed = 1;
        const auto line = report::to_json_line(today);
        require(report::to_json_line(report::from_json(line)) == line);
    }
    report::print_table(page, model::rows_of(joined.records()), {});
    report::print_by_device(page, joined.records(), {}, {}, {});
    require(printable(page.str(), "\n") == page.str());
}

void profile(const std::string& text) {
    model::Device device;
    device.platform = "P";
    device.name = "N";
    device.driver = "D";
    try {
        const auto limits = app::limits_from(text, device);
        require(limits.last_level_bytes < 2'000'000'000'000'000);
    } catch (const Error& e) {
        require(sentence(e.what()).size() < 1000);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] == 'p')
        profile(text);
    else
        records(text);
    return 0;
}
