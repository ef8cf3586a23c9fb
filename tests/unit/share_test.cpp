// Several processes that share work which measures nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <set>
#include <string>

#include "app/processes/share_out.hpp"
#include "app/processes/shared_work.hpp"
#include "experiments/lib/compare.hpp"

BOOST_AUTO_TEST_SUITE(share_test)

using namespace cllab;

namespace {

run::RunRequest comparisons(const std::vector<std::size_t>& cells) {
    run::RunRequest out;
    out.settings.measure = false;
    for (const auto count : cells) out.comparisons.emplace_back(count);
    return out;
}

model::Record named(const std::string& id) {
    model::Record out;
    out.id = id;
    return out;
}

/// What a process gets done that dies before it gives anything back.
void in_a_process_that_dies(const std::function<void()>& work) {
    const auto child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    BOOST_TEST_REQUIRE(child > 0);
    BOOST_TEST_REQUIRE(waitpid(child, nullptr, 0) == child);
}

}  // namespace

BOOST_AUTO_TEST_CASE(parts_cover_every_cell_once_and_none_is_larger_than_asked) {
    const auto parts = run::parts_of(comparisons({3, 0, 20, 8}), 8);
    BOOST_TEST((parts == std::vector<run::Part>{{0, 0, 3}, {2, 0, 8}, {2, 8, 16}, {2, 16, 20}, {3, 0, 8}}));
}

BOOST_AUTO_TEST_CASE(two_processes_share_the_parts_and_one_that_follows_a_dead_one_begins_with_its_parts) {
    app::SharedWork work(run::parts_of(comparisons({1, 1, 1, 1, 1}), 8), {});
    in_a_process_that_dies([&] {
        const auto share = work.of_lane(0);
        if (share->next()->comparison != 0 || share->next()->comparison != 1) _exit(1);
    });
    const auto other = work.of_lane(1), again = work.of_lane(0);
    BOOST_TEST(other->next()->comparison == 2u);
    BOOST_TEST(again->next()->comparison == 0u);
    BOOST_TEST(again->next()->comparison == 1u);
    BOOST_TEST(again->next()->comparison == 3u);
    BOOST_TEST(other->next()->comparison == 4u);
    BOOST_TEST(!again->next());
    BOOST_TEST(!other->next());
}

BOOST_AUTO_TEST_CASE(memory_is_given_out_once_and_the_largest_cell_waits_until_nobody_holds_any) {
    app::SharedWork work({}, {100, 1000});
    const auto left = work.of_lane(0), right = work.of_lane(1);
    BOOST_TEST(left->take({60, 0}));
    BOOST_TEST(!right->take({60, 0}));
    BOOST_TEST(right->take({40, 900}));
    BOOST_TEST(!left->take({0, 200}));
    BOOST_TEST(!left->take({1, 0}));
    right->give_back({40, 900});
    BOOST_TEST(left->take({0, 200}));
    BOOST_TEST(!right->take({500, 0}));
    left->give_back({60, 0});
    left->give_back({0, 200});
    BOOST_TEST(right->take({500, 5000}));
    BOOST_TEST(!left->take({1, 1}));
}

BOOST_AUTO_TEST_CASE(what_a_dead_process_held_is_free_again) {
    app::SharedWork work({}, {100, 100});
    in_a_process_that_dies([&] { work.of_lane(0)->take({100, 100}); });
    const auto other = work.of_lane(1);
    BOOST_TEST(!other->take({1, 1}));
    work.release(0);
    BOOST_TEST(other->take({1, 1}));
}

BOOST_AUTO_TEST_CASE(cells_are_told_in_the_order_of_the_request_whoever_is_done_first) {
    std::string told;
    const app::Events events{{}, [&](std::size_t, std::size_t, const model::Record& record) { told += record.id; }};
    app::InOrder in_order(comparisons({2, 1, 2}), events);
    in_order.done({0, 1}, named("b"));
    in_order.done({2, 0}, named("d"));
    BOOST_TEST(told == "");
    in_order.done({0, 0}, named("a"));
    BOOST_TEST(told == "ab");
    BOOST_TEST(!in_order.complete());
    in_order.hand_on_all();
    BOOST_TEST(told == "abd");
    BOOST_TEST((in_order.cells() == std::set<run::CellNumber>{{0, 0}, {0, 1}, {2, 0}}));
}

BOOST_AUTO_TEST_CASE(a_process_for_four_cores_and_sixteen_cells_and_one_where_times_are_taken) {
    auto request = comparisons(std::vector<std::size_t>(20, 10));
    BOOST_TEST(app::processes_for(request, 0, 16) == 4u);
    BOOST_TEST(app::processes_for(request, 0, 128) == 4u);
    BOOST_TEST(app::processes_for(request, 0, 8) == 2u);
    BOOST_TEST(app::processes_for(request, 0, 2) == 1u);
    BOOST_TEST(app::processes_for(request, 7, 2) == 7u);
    BOOST_TEST(app::processes_for(comparisons({40}), 0, 16) == 2u);
    request.settings.measure = true;
    BOOST_TEST(app::processes_for(request, 0, 16) == 1u);
}

BOOST_AUTO_TEST_CASE(of_pieces_looked_at_by_several_threads_the_first_that_is_wrong_counts) {
    const auto look = [](std::size_t wrong_from) {
        return model::lib::first_of_pieces(1 << 20, 1,
                                           [=](std::size_t begin, std::size_t end) -> std::optional<std::string> {
                                               for (auto i = begin; i < end; ++i)
                                                   if (i >= wrong_from) return std::to_string(i);
                                               return std::nullopt;
                                           });
    };
    constexpr std::size_t half = 1 << 19;
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}, half + 7, 2 * half - 1})
        BOOST_TEST(look(at).value_or("none") == std::to_string(at));
    BOOST_TEST(!look(1 << 20));
}

BOOST_AUTO_TEST_SUITE_END()
