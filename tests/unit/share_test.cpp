// Several processes that share work which measures nothing.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "app/processes/concurrent.hpp"
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

}  // namespace

BOOST_AUTO_TEST_CASE(parts_cover_every_cell_once_and_none_is_larger_than_asked) {
    const auto parts = app::parts_of(comparisons({3, 0, 20, 8}), 8);
    BOOST_TEST((parts == std::vector<run::Part>{{0, 0, 3}, {2, 0, 8}, {2, 8, 16}, {2, 16, 20}, {3, 0, 8}}));
}

BOOST_AUTO_TEST_CASE(two_processes_share_the_parts_and_one_that_follows_a_dead_one_begins_with_its_parts) {
    app::SharedWork work(app::parts_of(comparisons({1, 1, 1, 1, 1}), 8), {}, 2);
    BOOST_TEST(work.next(0)->comparison == 0u);
    BOOST_TEST(work.next(0)->comparison == 1u);
    work.ended(0);
    BOOST_TEST(work.next(1)->comparison == 2u);
    for (const std::size_t comparison : {0u, 1u, 3u}) BOOST_TEST(work.next(0)->comparison == comparison);
    BOOST_TEST(work.next(1)->comparison == 4u);
    BOOST_TEST(!work.next(0));
    BOOST_TEST(!work.next(1));
}

BOOST_AUTO_TEST_CASE(memory_is_given_out_once_and_the_largest_cell_waits_until_nobody_holds_any) {
    app::SharedWork work({}, {100, 1000}, 2);
    const std::size_t left = 0, right = 1;
    BOOST_TEST(work.take(left, {60, 0}));
    BOOST_TEST(!work.take(right, {60, 0}));
    BOOST_TEST(work.take(right, {40, 900}));
    BOOST_TEST(!work.take(left, {0, 200}));
    BOOST_TEST(!work.take(left, {1, 0}));
    work.give_back(right, {40, 900});
    BOOST_TEST(work.take(left, {0, 200}));
    BOOST_TEST(!work.take(right, {500, 0}));
    work.give_back(left, {60, 0});
    work.give_back(left, {0, 200});
    BOOST_TEST(work.take(right, {500, 5000}));
    BOOST_TEST(!work.take(left, {1, 1}));
}

BOOST_AUTO_TEST_CASE(what_a_dead_process_held_is_free_again) {
    app::SharedWork work({}, {100, 100}, 2);
    BOOST_TEST(work.take(0, {100, 100}));
    BOOST_TEST(!work.take(1, {1, 1}));
    work.ended(0);
    BOOST_TEST(work.take(1, {1, 1}));
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
