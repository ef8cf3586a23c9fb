// Where time is charged to, and work spread over cores.
#include "core/phases.hpp"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/bytes.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "experiments/lib/setups.hpp"

BOOST_AUTO_TEST_SUITE(phases_and_threads)

using namespace cllab;

namespace {

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(phases)

BOOST_AUTO_TEST_CASE(clock_of_an_outer_phase_stops_during_an_inner_one) {
    Phases account;
    const auto start = std::chrono::steady_clock::now();
    {
        const ChargedTo charged(account);
        rest();  // in no phase
        const InPhase outer(Phase::verify);
        rest();
        {
            const InPhase inner(Phase::download);
            rest();
            rest();
        }
        rest();
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    BOOST_TEST(account.size() == 2u);
    BOOST_TEST(account[Phase::verify] >= 0.010);
    BOOST_TEST(account[Phase::download] >= 0.010);
    BOOST_TEST(total(account) <= wall - 0.005);
}

BOOST_AUTO_TEST_CASE(phase_may_include_its_inner_phases) {
    Phases account;
    {
        const ChargedTo charged(account);
        const InPhase outer(Phase::yardstick, InPhase::Inner::included);
        const InPhase inner(Phase::verify);
        const InPhase innermost(Phase::download);
        rest();
    }
    BOOST_TEST(account.size() == 1u);
    BOOST_TEST(account[Phase::yardstick] >= 0.005);
}

BOOST_AUTO_TEST_CASE(time_is_charged_to_the_innermost_account_of_its_thread) {
    Phases cell, others;
    {
        const ChargedTo to_others(others);
        const InPhase phase(Phase::sampling);
        rest();
        {
            const ChargedTo to_cell(cell);
            rest();
        }
        std::thread([] {
            const InPhase elsewhere(Phase::build);
            rest();
        }).join();
    }
    BOOST_TEST(cell.size() == 1u);
    BOOST_TEST(others.size() == 1u);
    BOOST_TEST(cell[Phase::sampling] >= 0.005);
    BOOST_TEST(others[Phase::sampling] >= 0.010);
}

BOOST_AUTO_TEST_CASE(every_phase_has_its_own_name) {
    std::set<std::string> names;
    for (const auto phase : all_phases) names.insert(name(phase));
    BOOST_TEST(names.size() == all_phases.size());
    BOOST_TEST(names.count("other") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(parallel)

BOOST_AUTO_TEST_CASE(pieces_cover_everything_once_and_start_at_multiples) {
    for (const std::size_t count : {0, 1, 7, 8, 9, 64, 1001}) {
        std::vector<std::atomic<int>> seen(count);
        std::atomic<bool> aligned{true};
        in_parallel(count, 8, [&](std::size_t begin, std::size_t end) {
            if (begin < end && begin % 8 != 0) aligned = false;
            for (std::size_t i = begin; i < end; ++i) ++seen[i];
        });
        BOOST_TEST(aligned);
        BOOST_TEST(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }), count);
    }
}

BOOST_AUTO_TEST_CASE(exception_in_a_piece_is_rethrown) {
    BOOST_CHECK_THROW(in_parallel(100, 1,
                                  [](std::size_t begin, std::size_t end) {
                                      if (begin <= 99 && 99 < end) throw std::runtime_error("the last");
                                  }),
                      std::runtime_error);
}

BOOST_AUTO_TEST_CASE(each_index_is_processed_once) {
    for (const std::size_t count : {0, 1, 2, 1001}) {
        std::vector<std::atomic<int>> seen(count);
        each_in_parallel(count, [&](std::size_t i) { ++seen[i]; });
        BOOST_TEST(std::all_of(seen.begin(), seen.end(), [](const auto& n) { return n == 1; }), count);
    }
}

BOOST_AUTO_TEST_CASE(exception_at_an_index_is_rethrown_and_stops_the_others) {
    std::atomic<int> begun{0};
    BOOST_CHECK_THROW(each_in_parallel(1'000'000,
                                       [&](std::size_t) {
                                           ++begun;
                                           throw std::runtime_error("the first of each thread");
                                       }),
                      std::runtime_error);
    BOOST_TEST(begun < 1000);
}

BOOST_AUTO_TEST_CASE(data_of_a_seed_does_not_depend_on_the_pieces) {
    const std::size_t size = 3 * 8 * parallel_piece + 5;  // more than one piece, and no whole words
    std::vector<std::byte> made(size), pieces(size);
    fill_random(made, 11);
    Random random(11);
    for (std::size_t i = 0; i < size;) {
        std::uint64_t word = random();
        for (int k = 0; k < 8 && i < size; ++k, ++i, word >>= 8) pieces[i] = static_cast<std::byte>(word & 0xFF);
    }
    BOOST_TEST((made == pieces));
    model::poison(made, 12);
    bool same = true;
    for (std::size_t i = 0; i < size; ++i) same = same && made[i] == model::poison_byte(12, i);
    BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(bytes_are_copied_completely_in_any_number_of_pieces) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3} * 64 * parallel_piece + 5}) {
        model::Bytes from(size), to(size);
        fill_random(from, 13);
        copy_bytes(to, from);
        BOOST_TEST((to == from), size);
    }
}

BOOST_AUTO_TEST_CASE(bytes_without_a_value_are_zero_even_in_reused_memory) {
    const auto zeros = [](const Bytes& bytes, std::size_t from) {
        return std::count(bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.end(), std::byte{});
    };
    for (const std::size_t size :
         {std::size_t{1000}, (std::size_t{4} << 20) - 1, std::size_t{4} << 20, (std::size_t{9} << 20) + 4097}) {
        for (int turn = 0; turn < 3; ++turn) {
            Bytes bytes(size);
            BOOST_TEST(zeros(bytes, 0) == static_cast<std::ptrdiff_t>(size), size);
            std::fill(bytes.begin(), bytes.end(), std::byte{0xA5});
            auto moved = std::move(bytes);
            BOOST_TEST(bytes.empty());
            moved.resize(2 * size);
            BOOST_TEST((moved[size - 1] == std::byte{0xA5} && zeros(moved, size) == static_cast<std::ptrdiff_t>(size)),
                       size);
            moved.resize(size - 10);
            moved.resize(size);
            BOOST_TEST((moved[size - 11] == std::byte{0xA5} && zeros(moved, size - 10) == 10), size);
        }
    }
    BOOST_CHECK_THROW(Bytes(std::size_t{1} << 60), std::bad_alloc);
}

BOOST_AUTO_TEST_CASE(bytes_convert_from_any_values_and_copies_are_independent) {
    const std::vector<std::uint8_t> numbers{1, 2, 3};
    std::vector<std::byte> values;
    for (const auto n : numbers) values.push_back(std::byte{n});
    const Bytes from_values(values.begin(), values.end()), listed{std::byte{1}, std::byte{2}, std::byte{3}}, none,
        same(3, std::byte{7});
    BOOST_TEST((from_values == listed && listed.size() == 3 && listed.front() == std::byte{1} &&
                listed.back() == std::byte{3}));
    BOOST_TEST((none.empty() && none == Bytes(std::size_t{0}) && !(none == listed) && same[2] == std::byte{7}));
    Bytes large(std::size_t{5} << 20);
    fill_random(large, 17);
    auto copy = large;
    BOOST_TEST((copy == large));
    copy.back() ^= std::byte{1};
    BOOST_TEST(!(copy == large));
    copy = large;
    BOOST_TEST((copy == large));
    large = std::move(copy);
    BOOST_TEST(large.size() == std::size_t{5} << 20);
    large.clear();
    BOOST_TEST(large.empty());
}

BOOST_AUTO_TEST_CASE(first_difference_is_found_in_any_piece) {
    const std::size_t count = 4 * parallel_piece;
    std::vector<std::uint32_t> words(count);
    for (std::size_t i = 0; i < count; ++i) words[i] = static_cast<std::uint32_t>(i);
    model::Buffers buffers;
    buffers.data.emplace("dst", std::as_bytes(std::span(words)));
    const auto found = [&] {
        return model::lib::first_difference<std::uint32_t>(buffers, "dst",
                                                           [](std::size_t i) { return static_cast<std::uint32_t>(i); });
    };
    BOOST_TEST(!found().has_value());
    for (const std::size_t at : {count - 1, 2 * parallel_piece + 3, std::size_t{7}}) {
        words[at] = 1u << 30;
        BOOST_TEST(found().value().find("dst[" + std::to_string(at) + "]") == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()
