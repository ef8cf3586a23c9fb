// Today against a baseline, without a device: what each failure, change and missing piece of it becomes.
#include "app/comparing/regress.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/hash.hpp"
#include "report/records/json.hpp"
#include "unit/fake_runner.hpp"

BOOST_AUTO_TEST_SUITE(regress)

using namespace cllab;
using model::CellChange;
using model::Record;

namespace {

namespace fs = std::filesystem;

model::Device device_named(const std::string& name) {
    model::Device out;
    out.platform = "P";
    out.name = name;
    out.selector = "0:0";
    out.type = model::DeviceType::cpu;
    return out;
}

/// A baseline of muladd_fma that was built from another text than today's, and today's cell.
class Baseline {
public:
    Baseline() {
        std::string name = (fs::temp_directory_path() / "cllab-unit-XXXXXX").string();
        folder = mkdtemp(name.data());
        fs::create_directories(folder / "text");
        std::ofstream(text()) << before;
        invocation.command = "regress";
        invocation.patterns = {folder.string()};
        invocation.comparison_seconds = 60;
        const auto cell = model::make_plan(model::select(model::registry(), {"muladd_fma"}), {}).front().front();
        test::FakeRunner maker(std::vector<double>{});
        maker.here = {device_named("D")};
        record = maker.record_of(cell, "0:0");
        record.run.id = "then";
        record.run.seed = 1;
        record.argv = {"cllab", "run", "muladd_fma"};
        record.build.source_sha256 = sha256_hex(before);
        record.build.source = "embedded";
        record.launch = "launch";
    }
    ~Baseline() { fs::remove_all(folder); }
    fs::path text() const { return folder / "text" / (sha256_hex(before) + ".cl"); }

    /// What becomes of the only cell. `answer`: of each record, the stored text's side included.
    model::RegressionCell run(const test::FakeRunner::Answer& answer) {
        std::ofstream out(folder / "records.jsonl");
        for (unsigned n = 0; n < runs; ++n) {
            record.run.id = "run" + std::to_string(n);
            out << report::to_json_line(record) << '\n';
        }
        out.close();
        processes = 0;
        test::FakeRunner runner([&](Record& today, const model::Cell& cell, std::size_t index) {
            processes += index == 0;
            today.build.source_sha256 = cell.stored ? record.build.source_sha256 : "today's";
            today.code.fingerprint = cell.stored ? "before" : "now";
            today.launch = "launch";
            answer(today, cell, index);
        });
        runner.here = {device_named("D")};
        const auto found = app::regress(
                               invocation, runner, [] {}, [](const std::string&) {})
                               .regression;
        BOOST_REQUIRE(found.cells.size() == 1u);
        return found.cells.front();
    }

    const std::string before = "kernel void before() {}\n";
    fs::path folder;
    app::RegressOptions invocation;
    Record record;
    unsigned runs = 1;
    std::size_t processes = 0;
};

using test::make_wrong;

const test::FakeRunner::Answer fine = [](Record&, const model::Cell&, std::size_t) {};

}  // namespace

BOOST_AUTO_TEST_CASE(cell_wrong_in_one_replicate_is_newly_wrong) {
    Baseline base;
    const auto cell = base.run([&](Record& record, const model::Cell& one, std::size_t index) {
        if (base.processes >= 6 && index == 0 && !one.stored) make_wrong(record);
    });
    BOOST_TEST((cell.change == CellChange::newly_wrong), model::name(cell.change));
    BOOST_TEST(cell.reason.find("out[1] is 2") != std::string::npos, cell.reason);
}

BOOST_AUTO_TEST_CASE(cell_that_crashes_in_one_replicate_is_newly_failing) {
    Baseline base;
    const auto cell = base.run([&](Record& record, const model::Cell& one, std::size_t index) {
        if (base.processes < 6 || index != 2 || one.stored) return;
        record.status = model::Status::launch_failed;
        record.reason = "SIGSEGV";
    });
    BOOST_TEST((cell.change == CellChange::newly_failing), model::name(cell.change));
}

BOOST_AUTO_TEST_CASE(baseline_that_is_now_wrong_is_incomparable) {
    Baseline base;
    const auto cell = base.run([&](Record& record, const model::Cell& one, std::size_t) {
        if (base.processes >= 5 && one.stored) make_wrong(record);
    });
    BOOST_TEST((cell.change == CellChange::incomparable), model::name(cell.change));
}

BOOST_AUTO_TEST_CASE(recorded_times_fail_a_cell_that_fails_in_any_process) {
    Baseline base;
    base.runs = 6;
    base.invocation.recorded = true;
    const auto cell = base.run([&](Record& record, const model::Cell&, std::size_t) {
        if (base.processes == 3) make_wrong(record);
    });
    BOOST_TEST(base.processes > 3u);
    BOOST_TEST((cell.change == CellChange::newly_wrong), model::name(cell.change));
}

BOOST_AUTO_TEST_CASE(recorded_times_ignore_runs_that_lacked_cores) {
    Baseline base;
    base.runs = 6;
    base.invocation.recorded = true;
    const auto disturbed = [](Record& record, double share) {
        record.host.threads = 2;
        record.time->cores = 2 * share;
        record.time->waited = 2 - 2 * share;
    };
    const auto twice = [&](double share) {
        return base.run([&, share](Record& record, const model::Cell&, std::size_t) {
            record.time->median *= 2;
            disturbed(record, share);
        });
    };
    BOOST_TEST((twice(1).change == CellChange::slower));
    const auto today = twice(0.5);
    BOOST_TEST((today.change == CellChange::undecided), model::name(today.change));
    BOOST_TEST(today.reason == "in every run of today other processes had its cores");
    disturbed(base.record, 0.5);
    const auto before = twice(1);
    BOOST_TEST((before.change == CellChange::undecided), model::name(before.change));
    BOOST_TEST(before.reason == "in every run of the baseline other processes had its cores");
}

BOOST_AUTO_TEST_CASE(different_results_are_reported_unless_allowed) {
    Baseline base;
    const auto answer = [](Record& record, const model::Cell& cell, std::size_t) {
        if (cell.stored) record.warnings = {"other-results: of the baseline's text y[1] is 0.5, of k.cl 0.4"};
    };
    const auto cell = base.run(answer);
    BOOST_TEST((cell.change == CellChange::other_results), model::name(cell.change));
    BOOST_TEST(cell.reason ==
               "today's text gives other results than the baseline's: of the baseline's text y[1] is 0.5, of k.cl 0.4; "
               "--results-may-change compares the times all the same");
    BOOST_TEST(!cell.test.has_value());
    base.invocation.results_may_change = true;
    const auto timed = base.run(answer);
    BOOST_TEST((timed.change == CellChange::same), model::name(timed.change));
}

BOOST_AUTO_TEST_CASE(equal_text_is_same_code_only_with_equal_arguments) {
    Baseline base;
    const auto same_text = [&](Record& record, const model::Cell&, std::size_t) {
        record.build.source_sha256 = base.record.build.source_sha256;
    };
    BOOST_TEST((base.run(same_text).change == CellChange::same_code));
    BOOST_TEST(base.processes == 1u);  // today's, and no arrangement
    const auto cell = base.run([&](Record& record, const model::Cell& one, std::size_t index) {
        same_text(record, one, index);
        record.launch = "another";
    });
    BOOST_TEST((cell.change == CellChange::incomparable), model::name(cell.change));
    BOOST_TEST(cell.reason.find("arguments, sizes, groups or data") != std::string::npos, cell.reason);
}

BOOST_AUTO_TEST_CASE(damaged_missing_or_partial_text_is_refused_before_running) {
    Baseline base;
    const auto refused = [&](const std::string& part) {
        try {
            base.run(fine);
        } catch (const Error& e) {
            BOOST_TEST((e.blame() == Blame::usage));
            BOOST_TEST(std::string(e.what()).find(part) != std::string::npos, e.what());
            BOOST_TEST(base.processes == 0u);
            return;
        }
        BOOST_ERROR("it is believed: " + part);
    };
    std::ofstream(base.text()) << "kernel void other() {}\n";
    refused("its hash differs");
    fs::remove(base.text());
    refused("cannot be read");
    const std::string open = "#include \"h.h\"\n";
    base.record.build.source_sha256 = sha256_hex(open);
    std::ofstream(base.folder / "text" / (sha256_hex(open) + ".cl")) << open;
    refused("includes \"h.h\", which the baseline does not contain");
    base.record.build.elsewhere = {"\"h.h\""};
    base.run(fine);
}

BOOST_AUTO_TEST_CASE(damaged_baseline_record_is_refused) {
    Baseline base;
    base.run(fine);
    std::ofstream(base.folder / "records.jsonl", std::ios::app) << "{\"schema\":2,\"id\":\"mul";
    test::FakeRunner runner(fine);
    BOOST_CHECK_THROW(app::regress(
                          base.invocation, runner, [] {}, [](const std::string&) {}),
                      Error);
}

BOOST_AUTO_TEST_CASE(cell_that_can_no_longer_run_is_incomparable) {
    Baseline base;
    base.record.argv = {"cllab", "run", "no_such_family"};
    const auto cell = base.run(fine);
    BOOST_TEST((cell.change == CellChange::incomparable), model::name(cell.change));
    BOOST_TEST(cell.reason.find("no_such_family") != std::string::npos, cell.reason);
}

BOOST_AUTO_TEST_SUITE_END()
