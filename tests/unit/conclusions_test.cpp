// What tune, profile and peaks conclude from given times, from a wrong cell, and where nothing is decided.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <sstream>
#include <thread>

#include "app/commands/profile.hpp"
#include "app/commands/tune.hpp"
#include "app/commands/why.hpp"
#include "app/screen/streams.hpp"
#include "explain/peaks.hpp"
#include "portrait/probes.hpp"
#include "unit/fake_runner.hpp"
#include "unit/probe.hpp"

BOOST_AUTO_TEST_SUITE(conclusions)

using namespace cllab;
using model::Record;
using test::FakeRunner;

namespace {

/// What is printed as results while it lives.
class Printed {
public:
    Printed() : before_(app::results().rdbuf(text_.rdbuf())) {}
    ~Printed() { app::results().rdbuf(before_); }
    Printed(const Printed&) = delete;
    Printed& operator=(const Printed&) = delete;
    bool has(const std::string& words) const { return text_.str().find(words) != std::string::npos; }
    std::string text() const { return text_.str(); }

private:
    std::ostringstream text_;
    std::streambuf* before_;
};

model::Device gpu() {
    auto out = test::probe_gpu();
    out.platform = "P";
    out.selector = "0:0";
    return out;
}

FakeRunner runner_of(FakeRunner::Answer answer) {
    FakeRunner out(std::move(answer));
    out.here = {gpu()};
    return out;
}

const auto nobody = [](const std::string&) {};

/// `cllab tune pad_runtime`, whose default is k=4, with k=2 beside it.
struct Tuned {
    explicit Tuned(const FakeRunner::Answer& answer, const std::string& k = "4,2") : runner(runner_of(answer)) {
        app::TuneOptions options;
        options.command = "tune";
        options.patterns = {"pad_runtime"};
        options.axes = {{"k", k}, {"local", "64"}};
        options.comparison_seconds = 60;
        options.dumps = "no such folder";
        status = app::tune(options, runner);
    }
    Printed printed;
    FakeRunner runner;
    int status = -1;
};

bool has_k(const model::Cell& cell, const char* k) { return cell.point.text("k") == k; }

model::Figure launch_figure(double seconds) {
    return {"launch.empty.item", "empty kernel", "s", seconds, 0.99 * seconds, 1.01 * seconds};
}

/// What becomes of a cell of one second that takes a tenth of what the profile says of an empty kernel.
struct Doubted {
    explicit Doubted(const FakeRunner::Answer& answer) : runner(runner_of(answer)) {
        settings.limits[device.selector].figures = {launch_figure(10)};
        app::RunnerMeasure measure(runner, settings, device, nobody);
        explain::Peaks peaks(measure, settings.limits.at(device.selector));
        Record record = runner.record_of(cell, "0:0");
        record.work = {.launches = 1};
        explanation = peaks.explain(cell, record);
        limits = peaks.limits();
    }
    model::Device device = gpu();
    model::Cell cell = test::first_cell("muladd_fma");
    run::Settings settings;
    FakeRunner runner;
    model::Explanation explanation;
    model::Limits limits;
};

}  // namespace

BOOST_AUTO_TEST_CASE(tune_reports_the_point_that_beats_the_default) {
    const Tuned found(
        [](Record& record, const model::Cell& cell, std::size_t) { test::take(record, has_k(cell, "2") ? 1.0 : 1.5); });
    BOOST_TEST(found.status == 0);
    BOOST_TEST(found.printed.has("cllab run pad_runtime --device 0:0 --axis k=2"), found.printed.text());
    BOOST_TEST(found.runner.arrangements > 0u);
    // The search's points take turns on the same memory; finalists have memory of their own, and so are not in turns.
    const auto shape = [](const run::RunRequest& request) {
        return std::pair(request.comparisons.size(), request.comparisons.front().size());
    };
    BOOST_REQUIRE(found.runner.requests.size() > 2);
    BOOST_TEST((shape(found.runner.requests[0]) == std::pair<std::size_t, std::size_t>(1, 2)));
    BOOST_TEST((shape(found.runner.requests[1]) == std::pair<std::size_t, std::size_t>(2, 1)));
}

BOOST_AUTO_TEST_CASE(tune_keeps_the_default_when_no_point_is_clearly_faster) {
    const Tuned found([](Record& record, const model::Cell& cell, std::size_t) {
        // Faster when it is measured alone, and as fast in turns.
        test::take(record, has_k(cell, "2") ? 0.9 : 1);
        record.samples.assign(record.samples.size(), 1);
    });
    BOOST_TEST(!found.printed.has("--axis k=2"), found.printed.text());
    BOOST_TEST(found.printed.has("no point is faster than the default"), found.printed.text());
}

BOOST_AUTO_TEST_CASE(tune_names_points_that_are_not_told_apart_from_its_choice) {
    const auto tuned = [](double seconds_of_2) {
        return Tuned(
            [=](Record& record, const model::Cell& cell, std::size_t) {
                test::take(record, has_k(cell, "4") ? 1.5 : has_k(cell, "2") ? seconds_of_2 : 1.0);
            },
            "4,2,3");
    };
    const Tuned equal = tuned(1.0);
    BOOST_TEST(equal.printed.has("one of the fastest: k="), equal.printed.text());
    BOOST_TEST(equal.printed.has(", not told apart from k="), equal.printed.text());
    const Tuned apart = tuned(1.1);
    BOOST_TEST(apart.printed.has("  fastest: k=3; to run it:"), apart.printed.text());
}

BOOST_AUTO_TEST_CASE(tune_never_recommends_a_wrong_point_and_reports_it) {
    const Tuned found([](Record& record, const model::Cell& cell, std::size_t) {
        if (has_k(cell, "2")) test::make_wrong(record);
    });
    BOOST_TEST(found.status == 1);
    BOOST_TEST(!found.printed.has("--axis k=2"), found.printed.text());
    const auto text = found.printed.text();
    const auto failed = text.find("failed at k=2: out[1] is 2, expected 1");
    BOOST_TEST(failed != std::string::npos, text);
    const auto result = text.find("the default has the least time when measured again");
    BOOST_REQUIRE_MESSAGE(result != std::string::npos, text);
    BOOST_TEST(failed < result, text);  // what the reader acts on is last
    const Tuned none([](Record& record, const model::Cell&, std::size_t) { test::make_wrong(record); });
    BOOST_TEST(none.status == 1);
    BOOST_TEST(none.printed.has("no point has a time, so there is no winner"), none.printed.text());
}

BOOST_AUTO_TEST_CASE(peak_that_is_faster_twice_replaces_that_of_the_profile) {
    const Doubted found([](Record& record, const model::Cell&, std::size_t) { test::take(record, 0.9); });
    BOOST_REQUIRE(found.explanation.again.size() == 1u);
    BOOST_TEST(found.explanation.again.front().used);
    BOOST_TEST(found.limits.find("launch.empty.item")->value == 0.9);
    BOOST_TEST(found.runner.requests.size() == 2u);
}

BOOST_AUTO_TEST_CASE(equal_or_wrong_repeated_peak_keeps_that_of_the_profile) {
    const Doubted same([](Record& record, const model::Cell&, std::size_t) { test::take(record, 10); });
    BOOST_REQUIRE(same.explanation.again.size() == 1u);
    BOOST_TEST(same.explanation.again.front().note == "the peak is no faster now, so this cell still exceeds it");
    const Doubted wrong([](Record& record, const model::Cell&, std::size_t) { test::make_wrong(record); });
    BOOST_REQUIRE(wrong.explanation.again.size() == 1u);
    BOOST_TEST(!wrong.explanation.again.front().used);
    BOOST_TEST(wrong.explanation.again.front().note ==
               "the cells that measure it gave no value, perhaps because of other work");
    for (const auto* one : {&same, &wrong}) BOOST_TEST(one->limits.find("launch.empty.item")->value == 10);
}

BOOST_AUTO_TEST_CASE(shorter_second_time_replaces_an_unexplained_first) {
    const auto second = [](const FakeRunner::Answer& answer, const model::Explanation& first = {}) {
        auto runner = runner_of(answer);
        run::Settings settings;
        const auto device = gpu();
        settings.limits[device.selector] = {};
        const auto cell = test::first_cell("muladd_fma");
        const auto record = runner.record_of(cell, "0:0");
        app::RunnerMeasure measure(runner, settings, device, nobody);
        return explain::Peaks(measure, settings.limits.at(device.selector)).second_time(cell, record, first);
    };
    const auto half = [](Record& record, const model::Cell&, std::size_t) { test::take(record, 0.5); };
    BOOST_TEST(second(half).has_value());
    BOOST_TEST(!second(half, {.limit = model::Limit::named}));
    BOOST_TEST(!second([](Record&, const model::Cell&, std::size_t) {}));
    BOOST_TEST(!second([](Record& record, const model::Cell&, std::size_t) { test::make_wrong(record); }));
}

BOOST_AUTO_TEST_CASE(profile_lists_probes_with_no_time_or_too_little) {
    const auto skipped = [](double seconds, double of_a_cell) {
        auto runner = runner_of([&](Record& record, const model::Cell&, std::size_t) {
            test::take(record, 1);
            std::this_thread::sleep_for(std::chrono::duration<double>(of_a_cell));
        });
        app::ProfileOptions options;
        options.budget_seconds = seconds;
        return app::measure_profile(options, runner, gpu()).profile.skipped;
    };
    BOOST_TEST(skipped(60, 0).empty());
    const auto none = skipped(0, 0);
    for (const auto& probe : portrait::probes_for(gpu())) BOOST_TEST(none.contains(probe.family), probe.family);
    const auto some = skipped(1, 1);  // a busy machine has its first cell begun by then
    BOOST_TEST(some.at("launch").starts_with("not measured: "), some.at("launch"));
    BOOST_TEST(some.at("launch").ends_with(" cells had no time within the 1.00 s of the profile"), some.at("launch"));
    BOOST_TEST(some.at("fma") == "not measured: the 1.00 s of the profile ended before its turn");
}

BOOST_AUTO_TEST_CASE(probe_times_add_up_to_a_whole_profile) {
    for (const auto& device : {test::probe_cpu(), test::probe_gpu()}) {
        double seconds = 0;
        for (const auto& probe : portrait::probes_for(device)) seconds += probe.seconds;
        BOOST_TEST(seconds == app::ProfileOptions::whole_seconds);
    }
}

BOOST_AUTO_TEST_CASE(quick_profile_has_time_for_the_peaks_that_bound_most_kernels) {
    for (const char* family : {"launch", "bandwidth", "issue"}) {
        double seconds = 0;
        for (const auto& probe : portrait::probes_for(test::probe_cpu())) {
            seconds += probe.seconds;
            if (probe.family == family) break;
        }
        BOOST_TEST(seconds <= app::ProfileOptions::quick_seconds, family);
    }
}

BOOST_AUTO_TEST_CASE(profile_omits_figures_of_a_wrong_family_and_continues) {
    auto runner = runner_of([&](Record& record, const model::Cell& cell, std::size_t) {
        if (cell.experiment->family == "launch") test::make_wrong(record);
    });
    const auto found = app::measure_profile({}, runner, gpu());
    BOOST_TEST(found.finished);
    std::size_t wrong = 0, fine = 0;
    for (const auto& record : found.profile.records) (record.status == model::Status::ok ? fine : wrong) += 1;
    BOOST_TEST(wrong > 0u);
    BOOST_TEST(fine > wrong);
    for (const auto& conclusion : found.profile.conclusions)
        if (conclusion.experiment->family == "launch") BOOST_TEST(conclusion.findings.empty());
}

BOOST_AUTO_TEST_CASE(profile_of_a_lost_device_keeps_earlier_measurements) {
    auto runner = runner_of([](Record&, const model::Cell&, std::size_t) {});
    runner.fails_after = 1;
    const auto found = app::measure_profile({}, runner, gpu());
    BOOST_TEST(!found.finished);
    BOOST_TEST(found.lost == "gone");
    BOOST_TEST(!found.profile.records.empty());
}

BOOST_AUTO_TEST_SUITE_END()
