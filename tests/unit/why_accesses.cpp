// Loads and stores of a CPU's cell, named by what else does not take its time.
#include "explain/peaks.hpp"
#include "unit/why_counted.hpp"

namespace cllab::test {
namespace {

using namespace why;

/// A launch whose core works on several work-items at once, and that touches 64 MiB behind caches of 1 MiB, each byte
/// once. Its instructions take 0.3 of a second.
struct Cell {
    Counts counts = launch(32768);
    model::Record record = on_cpu(counts, {{.share = 0.95,
                                            .instructions = 10,
                                            .classes = {{"scalar_integer", 4}},
                                            .memory = {{"load_32", 1}, {"store_32", 1}}}});
    model::Limits limits = with(profile(), {figure("issue.rate", "instruction rate", "instr/s", 10e9),
                                            figure("fma.latency.uint", "uint latency", "s", 1.2e-9)});

    Cell() {
        counts.path = {1, 0, 2, 0};
        counts.footprint = {};
        for (double n = 1; n <= 4; ++n) counts.footprint.push_back({n, n * 64, n * 32, n * 32, n * 16});
        record.work.bytes = record.work.footprint = 64 * MiB;
        record.work.read = 32 * MiB;
        record.work.instructions = 3e9;
    }
    std::optional<model::Bound> found() {
        record.counts = std::make_shared<const Counts>(counts);
        const auto e = explanation(record, limits);
        return explain::accesses_as_limiter(record, limits, e);
    }
    std::string limiter() {
        const auto accesses = found();
        return accesses ? accesses->id : "";
    }
};

/// A machine on which instructions have this rate now, and the cell takes so long.
struct Now : explain::Measure {
    double rate, seconds;
    Now(double r, double s) : rate(r), seconds(s) {}

    const model::Device& device() const override { throw Error(Blame::environment, "nobody asks"); }
    model::Setup set_up(const model::Cell&) const override { throw Error(Blame::environment, "nobody asks"); }
    model::StoredBuild built_from(const model::Cell&, const model::Setup&) const override { return {}; }
    model::Record run(const model::Cell&, double, bool) override { return why::record(seconds, {}); }
    std::vector<model::Figure> peak(const std::string& id, double) override {
        if (id != "issue.rate") return {};
        return {figure(id, "instruction rate", "instr/s", rate)};
    }
    model::Comparison compare(const model::Cell&, const model::Cell&, const model::Record&, const std::string&,
                              const explain::Enough&) override {
        return {};
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(why_accesses)

BOOST_AUTO_TEST_CASE(accesses_are_named_where_the_samples_lie_in_them_and_nothing_takes_half_of_the_time) {
    Cell cell;
    const auto accesses = cell.found();
    BOOST_REQUIRE(accesses);
    BOOST_TEST(accesses->id == "memory");
    BOOST_TEST(accesses->name == "memory accesses");
    BOOST_TEST(accesses->seconds == 0.95 * accesses->high, is_close);
    BOOST_TEST(accesses->seconds - accesses->low >= 0.3);  // its instructions may run before them
    BOOST_TEST(says(accesses->how, "95 % of the samples lie where it loads and stores"));
    BOOST_TEST(says(accesses->how, "instructions take 30 % of the time"));
    cell.limits.caches.push_back(256 << 20);
    BOOST_TEST(cell.limiter() == "l3");
    BOOST_TEST(cell.found()->name == "accesses beyond L2");
}

BOOST_AUTO_TEST_CASE(accesses_are_not_named_where_something_else_may_take_the_time) {
    BOOST_TEST(Cell().limiter() == "memory");
    const auto none = [](const char* why, auto change) {
        Cell cell;
        change(cell);
        BOOST_TEST(cell.limiter() == "", why);
    };
    none("half of it is instructions", [](Cell& c) { c.record.work.instructions = 5.1e9; });
    none("nobody knows how many", [](Cell& c) { c.record.work.instructions = 0; });
    none("a fifth of the samples is elsewhere", [](Cell& c) { c.record.hot->blocks.front().share = 0.8; });
    none("they are of code without accesses", [](Cell& c) { c.record.hot->blocks.front().memory.clear(); });
    none("of its stack", [](Cell& c) { c.record.hot->blocks.front().memory = {{"stack_load_32", 2}}; });
    none("it divides", [](Cell& c) { c.record.hot->blocks.front().elements["division"] = 1; });
    none("it calls", [](Cell& c) { c.record.hot->blocks.front().classes["call"] = 1; });
    none("nothing was sampled", [](Cell& c) { c.record.hot->evidence = model::Hot::unknown; });
    none("branches", [](Cell& c) { c.counts.lanes_active = 0.8; });
    none("local memory", [](Cell& c) { c.counts.local = {each(1), each(0), each(4), each(0)}; });
    none("it fits the second level", [](Cell& c) {
        c.record.work.bytes = c.record.work.footprint = 500e3;
        c.limits.caches.push_back(256 << 20);
    });
    none("a chain", [](Cell& c) {
        // Of 357 instructions a work-item a core may look no farther ahead than into the same one's.
        compute(c.counts, Operation::float_fma, 100);
        c.counts.path.arithmetic = 100;
    });
    none("the profile has no latency",
         [](Cell& c) { std::erase_if(c.limits.figures, [](const auto& f) { return f.id == "fma.latency.uint"; }); });
    none("a private array", [](Cell& c) { c.counts.private_memory = {each(1), each(1), each(4), each(4)}; });
    none("a function", [](Cell& c) { compute(c.counts, Operation::float_function, 1, 32, "exp"); });
    none("no fewer instructions than operations", [](Cell& c) { compute(c.counts, Operation::integer_add, 620); });
    none("a GPU", [](Cell& c) { c.record.device.type = "gpu"; });
}

BOOST_AUTO_TEST_CASE(instructions_are_not_named_where_the_bytes_would_take_as_long_from_memory) {
    Cell cell;
    cell.limits.caches.push_back(256 << 20);
    cell.record.work.instructions = 9e9;
    cell.found();
    const auto limiter = [&] { return why::limiter(explanation(cell.record, cell.limits)); };
    BOOST_TEST(limiter() == "issue");  // 64 MiB at 10 GB/s take 7 ms of a second
    for (auto& f : cell.limits.figures)
        if (f.id.starts_with("bandwidth.")) f.value = f.low = f.high = 64 * MiB / 0.7;
    BOOST_TEST(limiter() == "");
}

BOOST_AUTO_TEST_CASE(accesses_are_named_only_where_instructions_are_as_fast_now_as_in_the_profile) {
    const auto explained = [](double rate, double seconds) {
        Cell cell;
        cell.found();
        Now now(rate, seconds);
        return explain::Peaks(now, cell.limits).explain(test::first_cell("muladd_fma"), cell.record);
    };
    const auto e = explained(10e9, 1);
    BOOST_TEST(limiter(e) == "memory");
    BOOST_TEST(e.by_elimination);
    BOOST_TEST(std::ranges::count(e.bounds, "memory", &model::Bound::id) == 1);
    // Now they take 60 % of a time that has not changed.
    BOOST_TEST(limiter(explained(5e9, 1)) == "issue");
    // Of a cell that is faster now something else had the cores, when its time was taken or when the rate was.
    BOOST_TEST(limiter(explained(5e9, 0.5)) == "memory");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace cllab::test
