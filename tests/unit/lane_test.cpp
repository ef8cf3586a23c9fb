// Workers without a device: what a crash, a hang and a lost device become in the parent.
#include "app/processes/lane.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>

#include "app/processes/child_runner.hpp"
#include "app/processes/runner.hpp"
#include "unit/cells.hpp"
#include "unit/report_records.hpp"

BOOST_AUTO_TEST_SUITE(lane)

using namespace cllab;
using run::CellNumber;

namespace {

constexpr double timeout = 0.3;

/// What a worker tells of one cell of the only comparison.
void begin_cell(app::Link& parent, app::Position& position, std::size_t index) {
    app::tell_cell(parent, false, {0, index}, test::cell("muladd", "fma", 1));
    position.index = index;
    position.in_cell = true;
    position.phase = "sample";
    ++position.beat;
}

void end_cell(app::Link& parent, app::Position& position, std::size_t index) {
    app::tell_cell(parent, true, {0, index}, test::cell("muladd", "fma", 1));
    position.in_cell = false;
    ++position.beat;
}

/// Tells of three cells but for those that are finished; `misbehave` does something of its own in the second.
app::Lane::Begin workers(const std::function<void(app::Link&)>& misbehave) {
    return [misbehave](const run::RunRequest&, const std::set<CellNumber>& finished) {
        return std::make_unique<app::Worker>([&](app::Link& parent, app::Position& position) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (finished.contains({0, i})) continue;
                begin_cell(parent, position, i);
                if (i == 1) misbehave(parent);
                end_cell(parent, position, i);
            }
            app::tell_end(parent, std::nullopt);
        });
    };
}

/// One lane over three cells until it is over.
struct Run {
    explicit Run(const app::Lane::Begin& begin, std::unique_ptr<app::Worker> first = nullptr) {
        run::RunRequest request;
        request.comparisons = {{3, test::first_cell("muladd_fma")}};
        app::Lane lane("0:0", request, {}, begin, std::move(first));
        try {
            lane.run(timeout, events);
        } catch (const app::DeviceLost& lost) {
            trouble = lost.what();
        }
        first_failed = lane.first_failed();
    }
    std::vector<std::string> done;  ///< "index status", in the order of their ends
    std::string reason;             ///< of the last one that failed
    const app::Events events{[](std::size_t, std::size_t, const model::Record&, const char*) {},
                             [this](std::size_t, std::size_t index, const model::Record& record) {
                                 done.push_back(std::to_string(index) + " " + model::name(record.status));
                                 if (record.status != model::Status::ok) reason = record.reason;
                             }};
    std::string trouble;
    bool first_failed = false;
};

using Cells = std::vector<std::string>;

std::unique_ptr<app::Worker> worker_that_dies() {
    return std::make_unique<app::Worker>([](app::Link&, app::Position&) { std::raise(SIGKILL); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(crash_costs_one_cell_and_another_worker_continues) {
    const Run crash(workers([](app::Link&) { std::raise(SIGKILL); }));
    BOOST_TEST((crash.done == Cells{"0 ok", "1 launch_failed", "2 ok"}));
    BOOST_TEST(crash.reason == "the driver's process was killed by SIGKILL (Killed) in phase 'sample'");
    BOOST_TEST(crash.trouble == "");
    const Run exit(workers([](app::Link&) { _exit(7); }));
    BOOST_TEST(exit.reason == "the driver ended the process with exit status 7 in phase 'sample'");
}

BOOST_AUTO_TEST_CASE(hang_costs_one_cell_after_the_timeout) {
    const Run hang(workers([](app::Link&) { pause(); }));
    BOOST_TEST((hang.done == Cells{"0 ok", "1 timed_out", "2 ok"}));
    BOOST_TEST(hang.reason == "no progress for 0.300 s (--timeout) in phase 'sample'");
}

BOOST_AUTO_TEST_CASE(worker_dying_before_its_first_cell_loses_the_device) {
    const Run lost([](const run::RunRequest&, const std::set<CellNumber>&) { return worker_that_dies(); });
    BOOST_TEST(lost.done.empty());
    BOOST_TEST(lost.trouble == "device 0:0: the driver's process was killed by SIGKILL (Killed) before its first cell");
}

BOOST_AUTO_TEST_CASE(another_worker_replaces_a_waiting_worker_that_died) {
    const Run run(workers([](app::Link&) {}), worker_that_dies());
    BOOST_TEST((run.done == Cells{"0 ok", "1 ok", "2 ok"}));
    BOOST_TEST(run.first_failed);
}

BOOST_AUTO_TEST_CASE(usage_error_in_a_worker_is_thrown_in_the_parent) {
    const auto begin = workers([](app::Link&) { throw Error(Blame::usage, "no such axis"); });
    BOOST_CHECK_EXCEPTION(Run run(begin), Error,
                          [](const Error& e) { return std::string(e.what()) == "no such axis"; });
    const Run lost(workers([](app::Link&) { throw Error(Blame::environment, "it is gone"); }));
    BOOST_TEST(lost.trouble == "it is gone");
}

BOOST_AUTO_TEST_CASE(devices_listed_by_another_child_are_reused_once_per_selector) {
    // A child that asks finds no driver, and fails.
    const auto* before = std::getenv("OCL_ICD_VENDORS");
    const std::string vendors = before ? before : "";
    ::setenv("OCL_ICD_VENDORS", "/no/drivers", 1);
    const auto runner = app::in_child_processes(30);
    const auto answers_none = [&](const std::string& selector) {
        try {
            return runner->devices({selector}).empty();
        } catch (const Error&) {
            return false;
        }
    };
    app::keep_devices({"90:90"}, {"[]"});
    BOOST_TEST(answers_none("90:90"));
    BOOST_TEST(!answers_none("90:90"));
    app::keep_devices({"90:90"}, {"[]"});
    BOOST_TEST(!answers_none("91:91"));
    before ? ::setenv("OCL_ICD_VENDORS", vendors.c_str(), 1) : ::unsetenv("OCL_ICD_VENDORS");
}

BOOST_AUTO_TEST_CASE(dying_child_loses_only_its_current_part) {
    const auto parts = [](std::size_t dies_at) {
        std::vector<std::string> out(2);
        const auto work = [&](std::size_t first, const app::HandOver& hand_over) {
            hand_over("");
            for (auto part = first; part < 2; ++part) {
                if (part == dies_at) std::raise(SIGKILL);
                hand_over("done");
            }
            if (dies_at == 2) std::raise(SIGKILL);
        };
        app::in_children(
            2, work, "during a test", 10, 10, [&](std::size_t part, const auto& line) { out.at(part) = line; },
            [](const auto&) { return std::string("lost"); });
        return out;
    };
    BOOST_TEST(parts(0) == (std::vector<std::string>{"lost", "done"}), boost::test_tools::per_element());
    BOOST_TEST(parts(1) == (std::vector<std::string>{"done", "lost"}), boost::test_tools::per_element());
    BOOST_TEST(parts(2) == (std::vector<std::string>{"done", "done"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
